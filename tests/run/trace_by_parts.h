/* A thread's trace read part by part, each on its own and joined where that can be, must be what a
 * cursor gives that reads all of it. For tests, and for the fuzz target of run files. */
#ifndef PM_TEST_TRACE_BY_PARTS_H
#define PM_TEST_TRACE_BY_PARTS_H

#include "mapping/run/run_trace.h"

#include <stdlib.h>

struct trace_by_parts {
    struct pm_run_trace_cursor *whole; /* what it is compared with */
    struct pm_run_trace_cursor *cursor;
    struct pm_run_trace_reader *reader;
    struct pm_run_trace_part *part;
    struct pm_run_trace_call *calls; /* of the part at hand */
    size_t n, cap;
    size_t n_plain, n_joined;
    bool has_failed; /* memory */
};

static bool trace_by_parts_take(void *context, const struct pm_run_trace_call *calls, size_t n)
{
    struct trace_by_parts *t = context;
    if (t->n + n > t->cap) {
        t->cap = 2 * (t->n + n);
        t->calls = realloc(t->calls, t->cap * sizeof *calls);
    }
    memcpy(t->calls + t->n, calls, n * sizeof *calls);
    t->n += n;
    return true;
}

static void trace_by_parts_same(struct trace_by_parts *t, const struct pm_run_trace_event *event)
{
    struct pm_run_trace_event expected;
    bool has_event;
    if (pm_run_trace_next(t->whole, NULL, &expected, &has_event) != PM_OK) {
        t->has_failed = true;
        return;
    }
    PM_ASSERT(has_event && expected.is_leave == event->is_leave && expected.noun == event->noun &&
              expected.flags == event->flags && expected.tsc == event->tsc);
}

static void trace_by_parts_events(struct trace_by_parts *t, size_t before)
{
    struct pm_run_trace_event event, expected;
    bool has_event = true;
    pm_run_trace_stop_before(t->cursor, before);
    while (!t->has_failed) {
        if (pm_run_trace_next(t->cursor, NULL, &event, &has_event) != PM_OK)
            t->has_failed = true;
        if (t->has_failed || !has_event)
            break;
        if (pm_run_trace_next(t->whole, NULL, &expected, &has_event) != PM_OK) {
            t->has_failed = true;
            break;
        }
        PM_ASSERT(has_event && expected.is_leave == event.is_leave && expected.noun == event.noun &&
                  expected.flags == event.flags && expected.depth == event.depth &&
                  expected.tsc == event.tsc && expected.enter_tsc == event.enter_tsc &&
                  expected.spent_tsc == event.spent_tsc);
    }
}

static void trace_by_parts_one(struct trace_by_parts *t, size_t thread, size_t i)
{
    bool is_plain = false, fits = false;
    t->n = 0;
    if (!pm_run_trace_read_part(t->reader, thread, i, t->part, trace_by_parts_take, t, &is_plain) ||
        (is_plain && !pm_run_trace_join(t->cursor, t->part, &fits))) {
        t->has_failed = true;
        return;
    }
    t->n_plain += is_plain;
    t->n_joined += fits;
    for (size_t k = 0; fits && k < t->n && !t->has_failed; k++) {
        struct pm_run_trace_event event = {
            .is_leave = t->calls[k].is_leave, .noun = t->calls[k].noun, .tsc = t->calls[k].tsc};
        trace_by_parts_same(t, &event);
    }
    if (!fits)
        trace_by_parts_events(t, i + 1);
}

/* How many parts were joined. bytes: the file. */
static inline size_t trace_by_parts_check(const void *bytes, size_t len,
                                          const struct pm_run_file *file, size_t thread)
{
    struct trace_by_parts t = {.reader = pm_run_trace_reader_parse(bytes, len, file),
                               .part = pm_run_trace_part_new()};
    struct pm_run_trace_event event;
    bool has_event = true;
    t.has_failed = !t.reader || !t.part ||
                   pm_run_trace_parse(bytes, len, file, thread, NULL, &t.whole) != PM_OK ||
                   pm_run_trace_parse(bytes, len, file, thread, NULL, &t.cursor) != PM_OK;
    if (!t.has_failed)
        pm_run_trace_leave_out_nodes(t.cursor);
    for (size_t i = 0; i < pm_run_trace_n_parts(file, thread) && !t.has_failed; i++)
        trace_by_parts_one(&t, thread, i);
    if (!t.has_failed)
        trace_by_parts_events(&t, SIZE_MAX);
    if (!t.has_failed && pm_run_trace_next(t.whole, NULL, &event, &has_event) == PM_OK)
        PM_ASSERT(!has_event);
    pm_run_trace_close(t.whole);
    pm_run_trace_close(t.cursor);
    pm_run_trace_reader_close(t.reader);
    pm_run_trace_part_free(t.part);
    free(t.calls);
    return t.n_joined;
}

#endif
