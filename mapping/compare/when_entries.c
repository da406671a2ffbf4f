/* The trace of a run, read for the entries of one construct. */
#include "when_entries.h"

#include "mapping/archive/trace.h"
#include "mapping/base/map.h"
#include "mapping/base/str.h"

#include <stdlib.h>

struct walking {
    struct pm_trace *trace;
    const struct when_target *target;
    struct pm_error *err;
    struct when_entries *entries;
    struct pm_map fits; /* sentence + 1 -> 1 no, 2 yes */
};

static bool is_target(const struct when_target *target, const struct pm_trace_name *name)
{
    if (strcmp(name->kind, target->kind) != 0 || strcmp(name->file, target->file) != 0)
        return false;
    bool is_function = !strcmp(target->kind, "function");
    return is_function ? !strcmp(name->name, target->name) : name->line_no == target->line_no;
}

/* false: an error is set. */
static bool find_fits(struct walking *w, uint32_t sentence, bool *ret_fits)
{
    uint32_t *at = pm_map_at(&w->fits, (uint64_t)sentence + 1);
    if (!at) {
        pm_error_set(w->err, PM_ERR_MEMORY, "out of memory");
        return false;
    }
    if (!*at) {
        const struct pm_trace_name *name = pm_trace_name(w->trace, sentence, w->err);
        if (!name)
            return false;
        *at = 1 + is_target(w->target, name);
    }
    *ret_fits = *at == 2;
    return true;
}

static enum pm_status take(struct walking *w, const struct pm_trace_event *event)
{
    enum { NOT_ENTERED = PM_TRACE_CUT | PM_TRACE_SWITCHED | PM_TRACE_BEFORE };
    bool fits;
    if (event->is_leave || event->flags & NOT_ENTERED)
        return PM_OK;
    if (!find_fits(w, event->sentence, &fits))
        return w->err->status;
    if (!fits)
        return PM_OK;
    struct when_entries *to = w->entries;
    double *times = pm_grow_array(to->times_ns, to->n, &to->cap, 4096, sizeof *times);
    if (!times)
        return pm_error_set(w->err, PM_ERR_MEMORY, "out of memory");
    to->times_ns = times;
    times[to->n++] = (double)event->time_ns;
    return PM_OK;
}

static enum pm_status walk_thread(struct walking *w, size_t thread)
{
    struct pm_trace_cursor *cursor;
    struct pm_trace_event event;
    bool has_event = true;
    enum pm_status status = pm_trace_seek(w->trace, thread, 0, w->err, &cursor);
    if (status != PM_OK)
        return status;
    while (has_event && !status) {
        status = pm_trace_next(cursor, w->err, &event, &has_event);
        if (has_event && !status)
            status = take(w, &event);
    }
    pm_trace_cursor_free(cursor);
    return status;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static enum pm_status walk(struct walking *w, const char *path)
{
    size_t n_threads = pm_trace_n_threads(w->trace);
    if (!n_threads)
        return pm_error_set(w->err, PM_ERR_NOT_FOUND,
                            "'%s' has no trace, which knows each entry: 'perfmap run --mode trace'",
                            path);
    for (size_t t = 0; t < n_threads; t++) {
        enum pm_status status = walk_thread(w, t);
        if (status != PM_OK)
            return status;
    }
    if (!w->entries->n)
        return pm_error_set(w->err, PM_ERR_NOT_FOUND, "the trace of '%s' has no entry of it: %s",
                            path, w->target->name);
    qsort(w->entries->times_ns, w->entries->n, sizeof *w->entries->times_ns, compare_times);
    return PM_OK;
}

enum pm_status when_entries_read(const char *path, const struct when_target *target,
                                 struct pm_error *err, struct when_entries *ret)
{
    struct pm_archive *archive;
    struct walking w = {.target = target, .err = err, .entries = ret};
    *ret = (struct when_entries){0};
    enum pm_status status = pm_archive_open(path, err, &archive);
    if (status != PM_OK)
        return status;
    status = pm_trace_open(archive, err, &w.trace);
    if (!status)
        status = walk(&w, path);
    pm_trace_free(w.trace);
    pm_map_release(&w.fits);
    pm_archive_close(archive);
    if (status != PM_OK) {
        free(ret->times_ns);
        *ret = (struct when_entries){0};
    }
    return status;
}
