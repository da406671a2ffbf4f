/* perfmap dump --trace */
#include "dump.h"

#include "mapping/base/json.h"
#include "format/pm_sled.h"
#include "mapping/run/run_trace.h"

#include <stdlib.h>

#define U64(value) ((unsigned long long)(value))

/* What the events of a thread add up to. */
struct sums {
    uint64_t n_events, n_cut, n_unknown;
    uint64_t *calls, *ticks; /* by context */
};

static bool sums_make(size_t n_nodes, struct sums *ret_sums)
{
    *ret_sums = (struct sums){.calls = pm_alloc_array(n_nodes, sizeof(uint64_t)),
                              .ticks = pm_alloc_array(n_nodes, sizeof(uint64_t))};
    return ret_sums->calls && ret_sums->ticks;
}

static void sums_release(struct sums *sums)
{
    free(sums->calls);
    free(sums->ticks);
}

static void sums_add(struct sums *sums, const struct pm_run_trace_event *event)
{
    bool is_cut = event->flags & PM_RUN_TRACE_CUT,
         is_switched = event->flags & PM_RUN_TRACE_SWITCHED;
    sums->n_events += !is_cut && !is_switched;
    sums->n_cut += is_cut;
    if (event->node == PM_RUN_TRACE_NONE)
        sums->n_unknown++;
    else if (event->is_leave)
        sums->ticks[event->node] += event->spent_tsc;
    else
        sums->calls[event->node] += !is_cut && !is_switched;
}

struct differences {
    uint64_t n_contexts_calls, n_contexts_times; /* that the tree has with other numbers */
    uint64_t n_nouns;     /* whose calls differ over all contexts: some were lost, or made up */
    uint64_t n_elsewhere; /* calls that the tree has in other contexts */
};

static bool sums_compare(const struct sums *sums, const struct pm_run_file *file,
                         const struct pm_run_file_thread *thread, struct differences *ret_found)
{
    struct differences found = {0};
    size_t n_nouns = pm_run_file_n_nouns(file);
    uint64_t *more = pm_alloc_array(n_nouns, sizeof *more); /* modulo 2^64 */
    if (!more)
        return false;
    for (size_t i = 0; i < thread->n_nodes; i++) {
        const struct pm_run_file_node *node = &thread->nodes[i];
        if (node->parent == PM_RUN_FILE_NO_PARENT || node->flags & PM_RUN_NODE_FOLDED)
            continue;
        found.n_contexts_calls += sums->calls[i] != node->n_calls;
        found.n_contexts_times += pm_run_file_to_ns(file, sums->ticks[i]) != node->inclusive_ns;
        found.n_elsewhere += node->n_calls > sums->calls[i] ? node->n_calls - sums->calls[i] : 0;
        more[node->noun] += sums->calls[i] - node->n_calls;
    }
    for (size_t i = 0; i < n_nouns; i++)
        found.n_nouns += more[i] != 0;
    free(more);
    *ret_found = found;
    return true;
}

static const struct pm_run_file_noun *noun_of(const struct pm_run_file *file, uint32_t noun)
{
    return noun == PM_RUN_TRACE_NONE ? NULL : pm_run_file_noun(file, noun);
}

static void print_event(const struct pm_run_file *file, const struct pm_run_trace_event *event)
{
    const struct pm_run_file_noun *noun = noun_of(file, event->noun);
    bool is_cut = event->flags & PM_RUN_TRACE_CUT;
    printf("  %12llu %*s%s", U64(pm_run_trace_ns(file, event->tsc)),
           event->depth < 100 ? 2 * (int)event->depth : 200, "", event->is_leave ? "} " : "{ ");
    if (noun)
        printf("%s %016llx", dump_noun_kind(noun), U64(noun->id));
    else
        fputs("unknown", stdout);
    if (event->is_leave)
        printf(" %llu ns", U64(pm_run_file_to_ns(file, event->spent_tsc)));
    printf("%s%s\n", event->flags & PM_RUN_TRACE_ON_FOREIGN ? ", foreign stack" : "",
           event->flags & PM_RUN_TRACE_MOVED      ? ", moved to another set"
           : event->flags & PM_RUN_TRACE_SWITCHED ? event->is_leave ? ", waits" : ", goes on"
           : !is_cut                              ? ""
           : event->is_leave                      ? ", its end is not known"
                                                  : ", its begin is not known");
}

static void json_event(struct pm_json *json, const struct pm_run_trace_event *event)
{
    pm_json_object(json, NULL);
    pm_json_string(json, "event", event->is_leave ? "leave" : "enter");
    pm_json_u64(json, "tsc", event->tsc);
    if (event->noun != PM_RUN_TRACE_NONE)
        pm_json_u64(json, "noun", event->noun);
    if (event->node != PM_RUN_TRACE_NONE)
        pm_json_u64(json, "context", event->node);
    pm_json_u64(json, "depth", event->depth);
    if (event->is_leave)
        pm_json_u64(json, "spent_tsc", event->spent_tsc);
    if (event->flags & PM_RUN_TRACE_CUT)
        pm_json_bool(json, "is_cut", true);
    if (event->flags & PM_RUN_TRACE_MOVED)
        pm_json_bool(json, "is_moved", true);
    if (event->flags & PM_RUN_TRACE_SWITCHED)
        pm_json_bool(json, "is_switched", true);
    if (event->flags & PM_RUN_TRACE_ON_FOREIGN)
        pm_json_bool(json, "is_foreign", true);
    pm_json_end(json);
}

struct dump {
    const char *path;
    const struct pm_run_file *file;
    struct pm_json *json; /* NULL: text */
    bool summary;
    struct pm_error *err;
};

static enum pm_status each_event(const struct dump *d, size_t thread, struct sums *sums)
{
    struct pm_run_trace_cursor *cursor;
    struct pm_run_trace_event event;
    bool has_event = true;
    enum pm_status status = pm_run_trace_open(d->path, d->file, thread, d->err, &cursor);
    if (status != PM_OK)
        return status;
    while ((status = pm_run_trace_next(cursor, d->err, &event, &has_event)) == PM_OK && has_event) {
        sums_add(sums, &event);
        if (!d->summary && d->json)
            json_event(d->json, &event);
        else if (!d->summary)
            print_event(d->file, &event);
    }
    pm_run_trace_close(cursor);
    return status;
}

static void show_head(const struct dump *d, size_t thread, const struct pm_run_trace_size *size)
{
    const struct pm_run_file_thread *about = pm_run_file_thread(d->file, thread);
    if (!d->json) {
        printf("trace of thread %zu: tid %u, n_parts %zu, n_bytes %llu%s%s\n", thread, about->tid,
               size->n_parts, U64(size->n_bytes), size->has_begin ? "" : ", its begin was dropped",
               size->has_end ? "" : ", its end was dropped");
        return;
    }
    pm_json_object(d->json, NULL);
    pm_json_u64(d->json, "thread", thread);
    pm_json_u64(d->json, "tid", about->tid);
    pm_json_u64(d->json, "n_parts", size->n_parts);
    pm_json_u64(d->json, "n_bytes", size->n_bytes);
    pm_json_bool(d->json, "has_begin", size->has_begin);
    pm_json_bool(d->json, "has_end", size->has_end);
    if (!d->summary)
        pm_json_array(d->json, "events");
}

static void show_sums(const struct dump *d, const struct sums *sums,
                      const struct differences *found)
{
    if (!d->json) {
        printf("  n_events %llu, n_cut %llu, n_unknown %llu, contexts with other calls %llu, with "
               "other times %llu\n",
               U64(sums->n_events), U64(sums->n_cut), U64(sums->n_unknown),
               U64(found->n_contexts_calls), U64(found->n_contexts_times));
        return;
    }
    if (!d->summary)
        pm_json_end(d->json);
    pm_json_u64(d->json, "n_events", sums->n_events);
    pm_json_u64(d->json, "n_cut", sums->n_cut);
    pm_json_u64(d->json, "n_unknown", sums->n_unknown);
    pm_json_u64(d->json, "n_contexts_other_calls", found->n_contexts_calls);
    pm_json_u64(d->json, "n_contexts_other_times", found->n_contexts_times);
    pm_json_u64(d->json, "n_nouns_other_calls", found->n_nouns);
    pm_json_u64(d->json, "n_calls_elsewhere", found->n_elsewhere);
    pm_json_end(d->json);
}

static enum pm_status dump_trace(const struct dump *d, size_t thread)
{
    struct pm_run_trace_size size = pm_run_trace_size(d->file, thread);
    const struct pm_run_file_thread *about = pm_run_file_thread(d->file, thread);
    struct sums sums;
    if (size.n_parts == 0)
        return PM_OK;
    enum pm_status status = sums_make(about->n_nodes, &sums)
                                ? PM_OK
                                : pm_error_set(d->err, PM_ERR_MEMORY, "out of memory");
    show_head(d, thread, &size);
    if (status == PM_OK)
        status = each_event(d, thread, &sums);
    struct differences found = {0};
    if (status == PM_OK && !sums_compare(&sums, d->file, about, &found))
        status = pm_error_set(d->err, PM_ERR_MEMORY, "out of memory");
    if (status == PM_OK)
        show_sums(d, &sums, &found);
    sums_release(&sums);
    return status;
}

enum pm_status dump_traces(const char *path, const struct pm_run_file *file, bool json,
                           bool summary, struct pm_error *err)
{
    struct pm_json out;
    struct dump d = {path, file, json ? &out : NULL, summary, err};
    enum pm_status status = PM_OK;
    if (json) {
        pm_json_init(&out, stdout);
        pm_json_object(&out, NULL);
        pm_json_u64(&out, "start_tsc", pm_run_file_process(file)->start_tsc);
        pm_json_u64(&out, "tsc_hz", pm_run_file_process(file)->tsc_hz);
        pm_json_array(&out, "traces");
    }
    for (size_t i = 0; i < pm_run_file_n_threads(file) && status == PM_OK; i++)
        status = dump_trace(&d, i);
    if (json && status == PM_OK) {
        pm_json_end(&out);
        pm_json_end(&out);
        (void)pm_json_done(&out);
    }
    return status;
}
