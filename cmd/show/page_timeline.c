/* Time lines as chunks (page_timeline.h). */
#include "page_timeline.h"

#include "mapping/base/map.h"
#include "mapping/view/timeline.h"

#include <stdlib.h>

enum {
    EVENTS_PER_STEP = 6,        /* calls are drawn if there are not more than that */
    ROUGH_STEPS = 2048,         /* of traces that are too large for one file */
    MOST_ROUGH_STEPS = 1 << 18, /* of all threads */
    SMALLEST_PART = 100,        /* what has less than that part of a step is added up */
    FEWEST_STEPS = 64,
};

enum list_name {
    EVENT_N,
    EVENT_TIME,
    EVENT_WHAT,
    EVENT_FLAGS,
    STEP_N,
    STEP_NUMBER,
    STEP_SHARES,
    STEP_REST,
    SHARE_WHAT,
    SHARE_TICKS,
    TOTAL_N,
    TOTAL_WHAT,
    TOTAL_TICKS,
    MESSAGE_SEND,
    MESSAGE_RECEIVE,
    N_LISTS,
};

static const struct {
    const char *name;
    enum page_column_kind kind;
} list_kinds[N_LISTS] = {
    [EVENT_N] = {"event_n", PAGE_NUMBERS},
    [EVENT_TIME] = {"event_ns", PAGE_DELTAS},
    [EVENT_WHAT] = {"event_what", PAGE_NUMBERS},
    [EVENT_FLAGS] = {"event_flags", PAGE_NUMBERS},
    [STEP_N] = {"step_n", PAGE_NUMBERS},
    [STEP_NUMBER] = {"step_number", PAGE_DELTAS},
    [STEP_SHARES] = {"step_shares", PAGE_NUMBERS},
    [STEP_REST] = {"step_rest", PAGE_NUMBERS},
    [SHARE_WHAT] = {"share_what", PAGE_NUMBERS},
    [SHARE_TICKS] = {"share_ticks", PAGE_NUMBERS},
    [TOTAL_N] = {"total_n", PAGE_NUMBERS},
    [TOTAL_WHAT] = {"total_what", PAGE_NUMBERS},
    [TOTAL_TICKS] = {"total_ticks", PAGE_NUMBERS},
    [MESSAGE_SEND] = {"message_send", PAGE_DELTAS},
    [MESSAGE_RECEIVE] = {"message_receive", PAGE_DELTAS},
};

struct list {
    int64_t *items;
    uint32_t n, cap;
};

struct show_timeline {
    const struct pm_archive_data *data;
    struct pm_timeline *line;
    struct pm_trace_shares shares;
    struct pm_timeline_events events;
    /* the chunk that is being made */
    struct list lists[N_LISTS];
    struct pm_map by_sentence; /* 1 + number in the chunk */
    struct list sentences;
    struct pm_map by_message; /* 1 + position of the send, or of the receive */
    bool failed;              /* memory ended */
};

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory for a time line");
}

bool show_timeline_may_be(const struct pm_archive_data *data)
{
    for (uint32_t i = 0; i < data->n_executions; i++)
        if (strcmp(data->executions[i].mode, "trace") == 0)
            return true;
    for (uint32_t i = 0; i < data->n_noun_modes; i++)
        if (data->noun_modes[i].mode == PM_RUN_MODE_TRACE)
            return true;
    return false;
}

enum pm_status show_timeline_open(const struct pm_archive_data *data, const char *path,
                                  struct pm_error *err, struct show_timeline **ret_line)
{
    struct show_timeline *line = pm_alloc(sizeof *line);
    if (!line)
        return no_memory(err);
    line->data = data;
    enum pm_status status = pm_timeline_open(path, err, &line->line);
    if (status != PM_OK) {
        show_timeline_close(line);
        return status;
    }
    *ret_line = line;
    return PM_OK;
}

void show_timeline_close(struct show_timeline *line)
{
    if (!line)
        return;
    pm_timeline_close(line->line);
    pm_trace_shares_release(&line->shares);
    free(line->events.items);
    for (int i = 0; i < N_LISTS; i++)
        free(line->lists[i].items);
    free(line->sentences.items);
    pm_map_release(&line->by_sentence);
    pm_map_release(&line->by_message);
    free(line);
}

static struct pm_trace *trace_of(const struct show_timeline *line)
{
    return pm_timeline_trace(line->line);
}

/* --- lists --- */

static void add(struct show_timeline *line, struct list *list, int64_t value)
{
    int64_t *items = pm_grow_array(list->items, list->n, &list->cap, 256, sizeof *items);
    line->failed |= !items;
    if (!items)
        return;
    list->items = items;
    items[list->n++] = value;
}

static void put(struct show_timeline *line, enum list_name name, uint64_t value)
{
    add(line, &line->lists[name], (int64_t)value);
}

static void begin(struct show_timeline *line)
{
    for (int i = 0; i < N_LISTS; i++)
        line->lists[i].n = 0;
    line->sentences.n = 0;
    line->failed = false;
    pm_map_release(&line->by_sentence);
    pm_map_release(&line->by_message);
}

static uint32_t number_of(struct show_timeline *line, uint32_t sentence)
{
    uint32_t *at = pm_map_at(&line->by_sentence, sentence);
    line->failed |= !at;
    if (!at)
        return 0;
    if (*at == 0) {
        add(line, &line->sentences, sentence);
        *at = line->sentences.n;
    }
    return *at - 1;
}

/* --- events --- */

static void put_event(struct show_timeline *line, const struct pm_trace_event *event,
                      uint64_t from_ns)
{
    uint64_t what = event->is_leave ? 0 : 1 + (uint64_t)number_of(line, event->sentence);
    put(line, EVENT_TIME, event->time_ns - from_ns);
    put(line, EVENT_WHAT, what << 1 | (event->flags != 0));
    if (event->flags)
        put(line, EVENT_FLAGS, event->flags);
}

static void put_events(struct show_timeline *line, uint64_t from_ns)
{
    put(line, EVENT_N, line->events.n);
    for (uint32_t i = 0; i < line->events.n; i++)
        put_event(line, &line->events.items[i], from_ns);
}

/* Both ends of a message are known when the second one comes. position: of the event in the
 * chunk. */
static void put_message_end(struct show_timeline *line, const struct pm_trace_message *message,
                            uint32_t position)
{
    uint32_t *other = pm_map_at(&line->by_message, message->id);
    line->failed |= !other;
    if (!other)
        return;
    if (*other == 0) {
        *other = position + 1;
        return;
    }
    put(line, MESSAGE_SEND, message->is_send ? position : *other - 1);
    put(line, MESSAGE_RECEIVE, message->is_send ? *other - 1 : position);
}

/* All of the thread's events are in line->events, the first of them at `first` in the chunk. */
static void put_messages(struct show_timeline *line, size_t thread, uint32_t first)
{
    enum { NO_CALL = PM_TRACE_CUT | PM_TRACE_SWITCHED };
    struct pm_trace_messages *messages = pm_timeline_messages(line->line);
    struct pm_trace_message message;
    for (uint32_t i = 0; i < line->events.n; i++) {
        const struct pm_trace_event *event = &line->events.items[i];
        if (!event->is_leave && !(event->flags & NO_CALL) &&
            pm_trace_message(messages, thread, event->sentence, &message))
            put_message_end(line, &message, first + i);
    }
}

/* --- steps --- */

static uint64_t step_ticks(const struct pm_trace_thread *thread, const struct pm_timeline_steps *of)
{
    const struct pm_trace_clock since_zero = {.tick_hz = thread->tick_hz};
    return pm_trace_tick_at(&since_zero, (uint64_t)1 << of->level);
}

static void put_step(struct show_timeline *line, const struct pm_trace_step *step, uint64_t first,
                     uint64_t least)
{
    uint64_t n = 0, rest = 0;
    for (uint32_t i = 0; i < step->n; i++) {
        const struct pm_trace_share *share = &line->shares.shares[step->first + i];
        if (share->ticks < least) {
            rest += share->ticks;
            continue;
        }
        put(line, SHARE_WHAT, number_of(line, share->sentence));
        put(line, SHARE_TICKS, share->ticks);
        n++;
    }
    put(line, STEP_NUMBER, step->number - first);
    put(line, STEP_SHARES, n);
    put(line, STEP_REST, rest);
}

static int compare_shares(const void *a_pointer, const void *b_pointer)
{
    const struct pm_trace_share *a = a_pointer, *b = b_pointer;
    return (a->sentence > b->sentence) - (a->sentence < b->sentence);
}

/* What the steps have in all; sorts their shares. */
static void put_totals(struct show_timeline *line)
{
    struct pm_trace_share *shares = line->shares.shares;
    uint32_t n = line->shares.n_shares, n_totals = 0;
    if (n)
        qsort(shares, n, sizeof *shares, compare_shares);
    for (uint32_t i = 0; i < n; n_totals++) {
        uint64_t ticks = 0;
        uint32_t first = i;
        for (; i < n && shares[i].sentence == shares[first].sentence; i++)
            ticks += shares[i].ticks;
        put(line, TOTAL_WHAT, number_of(line, shares[first].sentence));
        put(line, TOTAL_TICKS, ticks);
    }
    put(line, TOTAL_N, n_totals);
}

static enum pm_status put_steps(struct show_timeline *line, size_t thread,
                                const struct pm_timeline_steps *steps, struct pm_error *err)
{
    uint64_t least = step_ticks(pm_trace_thread(trace_of(line), thread), steps) / SMALLEST_PART;
    enum pm_status status = pm_timeline_shares(line->line, thread, steps, err, &line->shares);
    if (status != PM_OK)
        return status;
    put(line, STEP_N, line->shares.n_steps);
    for (uint32_t i = 0; i < line->shares.n_steps; i++)
        put_step(line, &line->shares.steps[i], steps->first, least);
    put_totals(line);
    return PM_OK;
}

/* --- a chunk --- */

static void put_steps_of(struct page_chunk *out, const struct pm_timeline_steps *steps)
{
    pm_json_object(&out->json, "steps");
    pm_json_u64(&out->json, "level", steps->level);
    pm_json_u64(&out->json, "first", steps->first);
    pm_json_u64(&out->json, "n", steps->end - steps->first);
    pm_json_end(&out->json);
}

static enum pm_status put_names(struct show_timeline *line, struct pm_error *err,
                                struct page_chunk *out)
{
    static const char *const columns[] = {"name", "name_kind", "name_file", "name_level",
                                          "name_verb"};
    enum { N_TEXTS = sizeof columns / sizeof *columns };
    struct pm_trace *trace = trace_of(line);
    for (int c = 0; c < N_TEXTS; c++) {
        page_column(out, PAGE_NUMBERS, columns[c]);
        for (uint32_t i = 0; i < line->sentences.n; i++) {
            const struct pm_trace_name *name =
                pm_trace_name(trace, (uint32_t)line->sentences.items[i], err);
            if (!name)
                return PM_ERR_FORMAT;
            const char *const texts[N_TEXTS] = {name->name, name->kind, name->file, name->level,
                                                name->verb};
            page_put(out, page_text(out, texts[c]));
        }
    }
    page_column(out, PAGE_NUMBERS, "name_line");
    for (uint32_t i = 0; i < line->sentences.n; i++) {
        const struct pm_trace_name *name =
            pm_trace_name(trace, (uint32_t)line->sentences.items[i], err);
        page_put(out, name && name->line_no > 0 ? (uint64_t)name->line_no : 0);
    }
    return PM_OK;
}

static enum pm_status put_lists(struct show_timeline *line, struct pm_error *err,
                                struct page_chunk *out)
{
    for (int i = 0; i < N_LISTS; i++) {
        page_column(out, list_kinds[i].kind, list_kinds[i].name);
        for (uint32_t k = 0; k < line->lists[i].n; k++)
            if (list_kinds[i].kind == PAGE_DELTAS)
                page_put_delta(out, line->lists[i].items[k]);
            else
                page_put(out, (uint64_t)line->lists[i].items[k]);
    }
    return put_names(line, err, out);
}

/* The thread's position among those of the page, if it is the same one. */
static void put_position(const struct show_timeline *line, const struct pm_trace_thread *thread,
                         struct pm_json *json)
{
    int64_t at = thread->row - 1;
    if (at >= 0 && at < (int64_t)line->data->n_threads &&
        line->data->threads[at].tid == thread->tid)
        pm_json_i64(json, "position", at);
}

static void put_thread(const struct show_timeline *line, size_t index, struct pm_json *json)
{
    const struct pm_trace_thread *thread = pm_trace_thread(trace_of(line), index);
    pm_json_object(json, NULL);
    put_position(line, thread, json);
    pm_json_i64(json, "tid", thread->tid);
    pm_json_string(json, "name", thread->name);
    pm_json_i64(json, "pid", thread->pid);
    pm_json_string(json, "exe", thread->exe);
    pm_json_string(json, "node", thread->node);
    pm_json_i64(json, "rank", thread->rank);
    pm_json_u64(json, "start_ns", thread->start_ns);
    pm_json_u64(json, "end_ns", thread->end_ns);
    pm_json_u64(json, "n_events", thread->n_events);
    pm_json_u64(json, "n_dropped_calls", thread->n_dropped_calls);
    pm_json_u64(json, "tick_hz", thread->tick_hz);
    pm_json_end(json);
}

static void put_threads(struct show_timeline *line, bool is_whole, struct page_chunk *out)
{
    struct pm_json *json = &out->json;
    const char *left_out = pm_trace_messages_left_out(pm_timeline_messages(line->line));
    uint64_t from, to;
    (void)pm_timeline_range(line->line, &from, &to);
    pm_json_u64(json, "from_ns", from);
    pm_json_u64(json, "to_ns", to);
    pm_json_bool(json, "is_whole", is_whole);
    pm_json_u64(json, "most_events", SHOW_TIMELINE_MOST_EVENTS);
    pm_json_u64(json, "events_per_step", EVENTS_PER_STEP);
    if (left_out)
        pm_json_string(json, "messages_left_out", left_out);
    pm_json_array(json, "threads");
    for (size_t i = 0; i < pm_trace_n_threads(trace_of(line)); i++)
        put_thread(line, i, json);
    pm_json_end(json);
}

/* --- all of it --- */

static enum pm_status list_events(struct show_timeline *line, uint64_t from_ns,
                                  struct pm_error *err, bool *ret_fits)
{
    *ret_fits = true;
    for (size_t i = 0; i < pm_trace_n_threads(trace_of(line)) && *ret_fits; i++) {
        uint32_t first = line->lists[EVENT_TIME].n;
        enum pm_status status =
            pm_timeline_events(line->line, i, 0, UINT64_MAX, SHOW_TIMELINE_MOST_EVENTS - first, err,
                               &line->events, ret_fits);
        if (status != PM_OK)
            return status;
        put_events(line, from_ns);
        put_messages(line, i, first);
    }
    return PM_OK;
}

static uint64_t n_events_of(const struct show_timeline *line)
{
    uint64_t n = 0;
    for (size_t i = 0; i < pm_trace_n_threads(trace_of(line)); i++)
        n += pm_trace_thread(trace_of(line), i)->n_events;
    return n;
}

static enum pm_status list_rough_steps(struct show_timeline *line,
                                       const struct pm_timeline_steps *steps, struct pm_error *err)
{
    for (size_t i = 0; i < pm_trace_n_threads(trace_of(line)); i++) {
        enum pm_status status = put_steps(line, i, steps, err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static struct pm_timeline_steps rough_steps(const struct show_timeline *line)
{
    uint64_t from, to;
    size_t n_threads = pm_trace_n_threads(trace_of(line)), n = MOST_ROUGH_STEPS / (n_threads + 1);
    (void)pm_timeline_range(line->line, &from, &to);
    n = n < ROUGH_STEPS ? n : ROUGH_STEPS;
    return pm_timeline_steps_of(from, to, n > FEWEST_STEPS ? (uint32_t)n : FEWEST_STEPS);
}

static enum pm_status write_all(struct show_timeline *line, struct pm_error *err,
                                struct page_chunk *out)
{
    struct pm_timeline_steps steps = rough_steps(line);
    uint64_t from, to;
    bool is_whole = n_events_of(line) <= SHOW_TIMELINE_MOST_EVENTS;
    enum pm_status status = PM_OK;
    if (!pm_timeline_range(line->line, &from, &to))
        return PM_OK;
    if (is_whole)
        status = list_events(line, from, err, &is_whole);
    else
        status = list_rough_steps(line, &steps, err);
    if (status != PM_OK)
        return status;
    put_threads(line, is_whole, out);
    if (!is_whole)
        put_steps_of(out, &steps);
    return put_lists(line, err, out);
}

static enum pm_status end(struct show_timeline *line, enum pm_status status, struct pm_error *err,
                          struct page_chunk *out, struct pm_buf *ret_bytes)
{
    bool good = status != PM_OK || (page_chunk_end(out, NULL, ret_bytes) && !line->failed);
    page_chunk_release(out);
    if (status != PM_OK)
        return status;
    return good ? PM_OK : no_memory(err);
}

enum pm_status show_timeline_all(struct show_timeline *line, struct pm_error *err,
                                 struct pm_buf *ret_bytes)
{
    struct page_chunk out = {0};
    begin(line);
    enum pm_status status = page_chunk_begin(&out) ? write_all(line, err, &out) : no_memory(err);
    return end(line, status, err, &out, ret_bytes);
}

/* --- a window --- */

bool show_timeline_read_window(struct pm_str text, struct show_timeline_window *ret_window)
{
    const uint64_t most[] = {INT64_MAX, INT64_MAX, SHOW_TIMELINE_MOST_STEPS, UINT32_MAX,
                             SHOW_TIMELINE_MOST_ROWS};
    enum { N = sizeof most / sizeof *most };
    uint64_t numbers[N];
    for (int i = 0; i < N; i++) {
        const char *slash = i + 1 < N ? memchr(text.p, '/', text.len) : text.p + text.len;
        if (!slash)
            return false;
        size_t len = (size_t)(slash - text.p);
        if (!pm_str_to_u64((struct pm_str){text.p, len}, most[i], &numbers[i]))
            return false;
        text.p += len + (i + 1 < N);
        text.len -= len + (i + 1 < N);
    }
    *ret_window =
        (struct show_timeline_window){numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
    return numbers[0] <= numbers[1] && numbers[2] >= 2;
}

static enum pm_status put_row(struct show_timeline *line, size_t thread,
                              const struct show_timeline_window *window,
                              const struct pm_timeline_steps *steps, struct pm_error *err)
{
    bool fits = false;
    uint32_t most = (uint32_t)window->n_steps * EVENTS_PER_STEP;
    enum pm_status status = pm_timeline_events(line->line, thread, window->from_ns, window->to_ns,
                                               most, err, &line->events, &fits);
    if (status != PM_OK)
        return status;
    if (!fits) {
        put(line, EVENT_N, 0);
        return put_steps(line, thread, steps, err);
    }
    put_events(line, window->from_ns);
    put(line, STEP_N, 0);
    put(line, TOTAL_N, 0);
    return PM_OK;
}

static enum pm_status write_window(struct show_timeline *line,
                                   const struct show_timeline_window *window, struct pm_error *err,
                                   struct page_chunk *out)
{
    struct pm_timeline_steps steps =
        pm_timeline_steps_of(window->from_ns, window->to_ns, (uint32_t)window->n_steps);
    size_t n_threads = pm_trace_n_threads(trace_of(line));
    for (uint64_t i = window->first; i < n_threads && i < window->first + window->n; i++) {
        enum pm_status status = put_row(line, i, window, &steps, err);
        if (status != PM_OK)
            return status;
    }
    pm_json_u64(&out->json, "from_ns", window->from_ns);
    pm_json_u64(&out->json, "first", window->first);
    put_steps_of(out, &steps);
    return put_lists(line, err, out);
}

enum pm_status show_timeline_window(struct show_timeline *line,
                                    const struct show_timeline_window *window, struct pm_error *err,
                                    struct pm_buf *ret_bytes)
{
    struct page_chunk out = {0};
    begin(line);
    enum pm_status status =
        page_chunk_begin(&out) ? write_window(line, window, err, &out) : no_memory(err);
    return end(line, status, err, &out, ret_bytes);
}
