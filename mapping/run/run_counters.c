/* Events that a process counted. Names are checked here: they become those of metrics. */
#include "run_internal.h"

#include "format/pm_counters.h"

#include <string.h>

enum { DATA = PM_RUN_COUNTERS_DATA };

static uint64_t at_most_i64(uint64_t number)
{
    return number < INT64_MAX ? number : INT64_MAX;
}

/* Up to its zero, or all of it; empty: it has other bytes than printable ones. */
static struct pm_str printable(const char *text, size_t most)
{
    size_t len = strnlen(text, most);
    for (size_t i = 0; i < len; i++)
        if (text[i] < 0x20 || text[i] > 0x7e)
            return PM_STR("");
    return (struct pm_str){text, len};
}

static bool is_name(struct pm_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", name.p[i]))
            return false;
    return name.len != 0;
}

/* Behind those that file has. NULL: taken; else what it has that is wrong. */
static const char *take_counter(const struct pm_run_file *file, const struct pm_run_counter *raw,
                                bool is_source, struct pm_run_file_counter *ret)
{
    *ret = (struct pm_run_file_counter){
        .name = printable(raw->name, sizeof raw->name),
        .unit = printable(raw->unit, sizeof raw->unit),
        .period = raw->period,
        .type = raw->type,
        .config = raw->config,
        .is_user_only = raw->flags & PM_RUN_COUNTER_USER_ONLY,
        .is_precise = raw->flags & PM_RUN_COUNTER_PRECISE,
        .n_threads = raw->n_threads,
        .n_threads_failed = raw->n_threads_failed,
        .n_closed = raw->n_closed,
        .count = at_most_i64(raw->count),
        .enabled_ns = at_most_i64(raw->enabled_ns),
        .running_ns = at_most_i64(raw->running_ns),
        .error_no = raw->error_no,
        .n_throttled = raw->n_throttled,
        .is_source = is_source,
        .is_last = is_source && raw->flags & PM_RUN_COUNTER_LAST,
        .is_shared = !is_source && raw->flags & PM_RUN_COUNTER_SHARED,
        .is_estimated = raw->flags & PM_RUN_COUNTER_ESTIMATED,
    };
    for (size_t i = 0; i < file->n_counters; i++)
        if (pm_str_eq(file->counters[i].name, ret->name))
            return "the name of another";
    return is_name(ret->name) ? NULL : "no name";
}

/* Behind those that are there. */
static enum pm_status load_counters(struct pm_run_file *file, const struct run_source *source,
                                    const struct run_chunk *chunk, struct pm_error *err)
{
    bool is_source = chunk->kind == PM_RUN_CHUNK_SOURCES;
    uint64_t n = run_fit_items(file, chunk, DATA, sizeof(struct pm_run_counter), "counters");
    n = n < PM_COUNTERS_MAX ? n : PM_COUNTERS_MAX;
    struct pm_run_counter *raw = pm_arena_alloc(&file->arena, (n + 1) * sizeof *raw);
    struct pm_run_file_counter *counters =
        pm_realloc_array(file->counters, file->n_counters + n + 1, sizeof *counters);
    if (counters)
        file->counters = counters;
    if (!raw || !counters)
        return run_no_memory(file, err);
    if (!run_read_at(source, chunk->offset + DATA, raw, n * sizeof *raw)) {
        run_complain(file, chunk->offset, "counters cannot be read");
        return PM_OK;
    }
    for (uint64_t i = 0; i < n; i++, file->n_counters++) {
        const char *wrong = take_counter(file, &raw[i], is_source, &counters[file->n_counters]);
        if (wrong) {
            run_complain(file, chunk->offset,
                         "counter %llu has %s; it is left out, and those behind it",
                         (unsigned long long)i, wrong);
            return PM_OK;
        }
    }
    return PM_OK;
}

/* At most one chunk of a kind. */
static enum pm_status load_kind(struct pm_run_file *file, const struct run_source *source,
                                const struct run_chunks *list, uint32_t kind, struct pm_error *err)
{
    bool is_there = false;
    for (size_t i = 0; i < list->n; i++) {
        if (list->chunks[i].kind != kind)
            continue;
        if (is_there)
            run_complain(file, list->chunks[i].offset, "a second chunk of counters");
        enum pm_status status =
            is_there ? PM_OK : load_counters(file, source, &list->chunks[i], err);
        if (status != PM_OK)
            return status;
        is_there = true;
    }
    return PM_OK;
}

/* Samples go by the position of events, so these come first. */
enum pm_status run_load_counters(struct pm_run_file *file, const struct run_source *source,
                                 const struct run_chunks *list, struct pm_error *err)
{
    enum pm_status status = load_kind(file, source, list, PM_RUN_CHUNK_COUNTERS, err);
    if (status != PM_OK)
        return status;
    return load_kind(file, source, list, PM_RUN_CHUNK_SOURCES, err);
}

size_t pm_run_file_n_counters(const struct pm_run_file *file)
{
    return file->n_counters;
}

const struct pm_run_file_counter *pm_run_file_counter(const struct pm_run_file *file, size_t index)
{
    PM_ASSERT(index < file->n_counters);
    return &file->counters[index];
}
