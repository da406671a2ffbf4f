#include "export_events.h"

#include <inttypes.h>
#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- names --- */

/* Two nouns of one kind: "table", "table 2". NULL: memory. */
static const char *kind_of(struct export_walk *walk, const struct pm_trace_name *source, uint32_t i)
{
    const char *kind = *source->nouns[i].kind ? source->nouns[i].kind : "noun";
    unsigned n = 1;
    for (uint32_t k = 0; k < i; k++)
        n += !strcmp(source->nouns[k].kind, source->nouns[i].kind);
    if (n == 1)
        return pm_text_printable(&walk->arena, kind);
    size_t len = strlen(kind) + 16;
    char *text = pm_arena_alloc(&walk->arena, len);
    if (text)
        snprintf(text, len, "%s %u", kind, n);
    return text ? pm_text_printable(&walk->arena, text) : NULL;
}

static bool fill_name(struct export_walk *walk, const struct pm_trace_name *source,
                      struct export_name *name)
{
    const char *text = source->name;
    if (!strcmp(source->kind, "loop")) {
        size_t len = strlen(text) + sizeof "loop ";
        char *with = pm_arena_alloc(&walk->arena, len);
        if (!with)
            return false;
        snprintf(with, len, "loop %s", text);
        text = with;
    }
    struct export_noun *nouns = pm_arena_alloc(&walk->arena, (source->n_nouns + 1) * sizeof *nouns);
    *name = (struct export_name){.id = ++walk->n_names,
                                 .name = pm_text_printable(&walk->arena, text),
                                 .kind = pm_text_printable(&walk->arena, source->kind),
                                 .level = pm_text_printable(&walk->arena, source->level),
                                 .verb = pm_text_printable(&walk->arena, source->verb),
                                 .file = pm_text_printable(&walk->arena, source->file),
                                 .nouns = nouns,
                                 .n_nouns = source->n_nouns,
                                 .n_others = source->n_others,
                                 .line_no = source->line_no,
                                 .source = source};
    bool ok = name->name && name->kind && name->level && name->verb && name->file && nouns;
    for (uint32_t i = 0; ok && i < source->n_nouns; i++) {
        nouns[i] = (struct export_noun){kind_of(walk, source, i),
                                        pm_text_printable(&walk->arena, source->nouns[i].name)};
        ok = nouns[i].kind && nouns[i].name;
    }
    return ok;
}

static const struct export_name *name_of(struct export_walk *walk, struct pm_trace *trace,
                                         uint32_t sentence, struct pm_error *err)
{
    uint32_t *at = pm_map_at(&walk->by_sentence, sentence);
    if (at && *at)
        return walk->names[*at - 1];
    const struct pm_trace_name *source = at ? pm_trace_name(trace, sentence, err) : NULL;
    struct export_name *name = source ? pm_arena_alloc(&walk->arena, sizeof *name) : NULL;
    uint32_t n = walk->n_names;
    struct export_name **names =
        name ? pm_grow_array(walk->names, n, &walk->cap_names, 64, sizeof *names) : NULL;
    if (names)
        walk->names = names;
    if (!names || !fill_name(walk, source, name)) {
        if (!at || source)
            (void)no_memory(err);
        return NULL;
    }
    walk->names[n] = name;
    *at = n + 1;
    return name;
}

/* --- one thread --- */

/* What is open on each of the two stacks. */
struct open_calls {
    const struct export_name **names;
    uint32_t *sentences;
    uint32_t n, cap, cap_sentences;
};

static bool push(struct open_calls *open, const struct export_name *name, uint32_t sentence)
{
    const struct export_name **names =
        pm_grow_array(open->names, open->n, &open->cap, 64, sizeof *names);
    if (names)
        open->names = names;
    uint32_t *sentences =
        pm_grow_array(open->sentences, open->n, &open->cap_sentences, 64, sizeof *sentences);
    if (sentences)
        open->sentences = sentences;
    if (!names || !sentences)
        return false;
    open->names[open->n] = name;
    open->sentences[open->n++] = sentence;
    return true;
}

struct thread_walk {
    struct export_walk *walk;
    struct pm_trace *trace;
    const struct export_request *request;
    size_t index;
    const struct pm_trace_thread *thread;
    struct open_calls open[2];
    uint64_t last_ns;
    struct pm_error *err;
};

static enum pm_status pass(struct thread_walk *w, const struct pm_trace_event *event)
{
    struct export_event out = {.is_leave = event->is_leave,
                               .is_foreign = event->flags & PM_TRACE_FOREIGN,
                               .flags = event->flags,
                               .sentence = event->sentence,
                               .time_ns = event->time_ns,
                               .name = name_of(w->walk, w->trace, event->sentence, w->err)};
    struct open_calls *open = &w->open[out.is_foreign];
    if (!out.name)
        return w->err->n_causes ? w->err->status : PM_ERR_FORMAT;
    if (event->flags & PM_TRACE_BEFORE && out.time_ns < w->request->from_ns)
        out.time_ns = w->request->from_ns;
    if (out.time_ns < w->last_ns) /* never goes back */
        out.time_ns = w->last_ns;
    w->last_ns = out.time_ns;
    if (!event->is_leave && !push(open, out.name, out.sentence))
        return no_memory(w->err);
    if (event->is_leave && open->n == 0) /* it began where depth left it out */
        return PM_OK;
    open->n -= event->is_leave;
    w->walk->n_events++;
    w->walk->event(w->walk->context, w->index, w->thread, &out);
    return PM_OK;
}

static void close_open(struct thread_walk *w, uint64_t end_ns)
{
    for (unsigned i = 0; i < 2; i++)
        while (w->open[i].n) {
            uint32_t n = --w->open[i].n;
            struct export_event out = {.is_leave = true,
                                       .is_foreign = i,
                                       .flags = (i ? PM_TRACE_FOREIGN : 0) | PM_TRACE_CUT,
                                       .sentence = w->open[i].sentences[n],
                                       .time_ns = end_ns,
                                       .name = w->open[i].names[n]};
            w->walk->n_events++;
            w->walk->event(w->walk->context, w->index, w->thread, &out);
        }
}

static bool goes_on(const struct export_walk *walk)
{
    return !walk->goes_on || walk->goes_on(walk->context);
}

static enum pm_status pass_all(struct thread_walk *w, struct pm_trace_cursor *cursor)
{
    struct pm_trace_event event;
    bool has_event;
    for (;;) {
        enum pm_status status = pm_trace_next(cursor, w->err, &event, &has_event);
        if (status != PM_OK)
            return status;
        if (!has_event || event.time_ns > w->request->to_ns)
            break;
        status = pass(w, &event);
        if (status != PM_OK || !goes_on(w->walk))
            return status;
    }
    bool is_rest = has_event && w->request->to_ns != UINT64_MAX;
    close_open(w, is_rest ? w->request->to_ns : w->last_ns);
    return PM_OK;
}

static enum pm_status walk_thread(struct export_walk *walk, struct pm_trace *trace,
                                  const struct export_request *request, size_t index,
                                  struct pm_error *err)
{
    struct pm_trace_cursor *cursor;
    struct thread_walk w = {.walk = walk,
                            .trace = trace,
                            .request = request,
                            .index = index,
                            .thread = pm_trace_thread(trace, index),
                            .last_ns = request->from_ns,
                            .err = err};
    enum pm_status status = pm_trace_seek(trace, index, request->from_ns, err, &cursor);
    if (status != PM_OK)
        return status;
    if (request->depth < UINT32_MAX)
        pm_trace_leave_out(cursor, (uint32_t)request->depth, request->to_ns);
    if (walk->begin)
        walk->begin(walk->context, index, w.thread);
    status = pass_all(&w, cursor);
    if (walk->end)
        walk->end(walk->context, index, w.thread);
    pm_trace_cursor_free(cursor);
    for (unsigned i = 0; i < 2; i++) {
        free(w.open[i].names);
        free(w.open[i].sentences);
    }
    return status;
}

static enum pm_status walk_threads(struct export_walk *walk, struct pm_trace *trace,
                                   const struct export_request *request, struct pm_error *err)
{
    bool any = false;
    for (size_t i = 0; i < pm_trace_n_threads(trace); i++) {
        if (request->tid && (uint64_t)pm_trace_thread(trace, i)->tid != request->tid)
            continue;
        any = true;
        enum pm_status status = walk_thread(walk, trace, request, i, err);
        if (status != PM_OK || !goes_on(walk))
            return status;
    }
    return any ? PM_OK
               : pm_error_set(err, PM_ERR_NOT_FOUND,
                              "archive '%s' has no trace of a thread %" PRIu64, request->archive,
                              request->tid);
}

enum pm_status export_walk_trace(struct pm_trace *trace, const struct export_request *request,
                                 struct export_walk *walk, struct pm_error *err)
{
    enum pm_status status = walk_threads(walk, trace, request, err);
    pm_map_release(&walk->by_sentence);
    free(walk->names);
    walk->names = NULL;
    pm_arena_release(&walk->arena);
    return status;
}

void export_each_dropped(struct pm_trace *trace, void (*add)(void *context, const char *text),
                         void *context)
{
    static const char *const where_missing[] = {" before its first event", "",
                                                " behind its last event", ""};
    for (size_t i = 0; i < pm_trace_n_threads(trace); i++) {
        const struct pm_trace_thread *t = pm_trace_thread(trace, i);
        char text[256];
        if (!t->n_dropped_calls)
            continue;
        snprintf(text, sizeof text,
                 "thread %" PRId64 " of process %" PRId64 ": %" PRIu64
                 " calls are missing%s%s (--trace-limit)",
                 t->tid, t->pid, t->n_dropped_calls, where_missing[t->has_begin],
                 where_missing[2 + t->has_end]);
        add(context, text);
    }
}
