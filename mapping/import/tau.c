/* Profiles of TAU: profile.NODE.CONTEXT.THREAD, for each metric in a folder MULTI__METRIC where
 * there are several. A file is of one thread:
 *
 *     3 templated_functions_MULTI_TIME
 *     # Name Calls Subrs Excl Incl ProfileCalls # <metadata>...</metadata>
 *     "main" 1 1 10 110 0 GROUP="TAU_USER"
 *     "main => f" 2 0 100 100 0 GROUP="TAU_USER|TAU_CALLPATH"
 *     "f" 2 0 100 100 0 GROUP="TAU_USER"
 *     0 aggregates
 *     1 userevents
 *     # eventname numevents max min mean sumsqr
 *     "Message size" 2 8 4 6 80
 *
 * Times are microseconds, maybe with a fraction. A cost is there twice, by path and in the row of
 * its function: paths count, and of the function what is in no path, which is the path's root's.
 * Samples ([SAMPLE]) measure again what timers measured: they are metrics of their own.
 * https://www.cs.uoregon.edu/research/tau/docs/newguide/ */
#include "reader.h"
#include "tau_text.h"

#include "../base/map.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_PARTS = 1 << 12, MAX_ROWS = 1 << 24 };

/* A function of the file at hand, and what its paths have of it. */
struct flat {
    char *name;             /* NULL: it has no row of its own */
    double calls, in_paths; /* calls */
    uint64_t value, value_in_paths, n_paths;
    uint64_t n_begins; /* paths that begin with it */
};

struct metric {
    uint32_t row, sampled; /* sampled: of the same that samples say */
    double factor;
    bool is_known; /* wall_ns, cpu_ns */
};

struct tau {
    struct import *im;
    struct import_input *in;          /* the file at hand */
    struct pm_map frames, flats;      /* by hash of the name */
    struct pm_map processes, threads; /* by node and context; and thread */
    struct flat *flat;                /* of the file at hand */
    uint32_t n_flat, flat_cap;
    uint32_t process, thread;
    struct pm_map metric_of; /* by hash of the name */
    struct metric *metrics;
    uint32_t n_metrics, metrics_cap;
    struct metric metric;    /* of the file at hand */
    uint32_t calls, samples; /* metrics */
    bool wants_calls, has_wall, has_cpu, has_nodes;
    uint32_t *frame; /* of a path */
    uint32_t n_parts;
    bool has_paths, is_flat; /* the file at hand; it has none */
    uint64_t n_negative, n_cut, n_without_paths, n_events;
};

/* --- metrics --- */

static enum pm_status make_metric(struct tau *t, const char *name, const char *unit,
                                  const char *kind, uint32_t *ret_metric)
{
    struct pm_import_metric metric = {name, unit, kind, "as TAU measured it"};
    return pm_sink_metric(t->im->sink, &metric, ret_metric);
}

static bool is_one_of(struct pm_str word, const char *const *words)
{
    for (; *words; words++)
        if (pm_str_is(word, *words))
            return true;
    return false;
}

/* The first of wall-clock times is wall_ns, the first of CPU times cpu_ns; another one keeps its
 * name. Times are ns then. */
static enum pm_status make_metrics(struct tau *t, struct pm_str name, struct metric *ret_made)
{
    static const char *const wall[] = {"",
                                       "TIME",
                                       "P_WALL_CLOCK_TIME",
                                       "GET_TIME_OF_DAY",
                                       "GETTIMEOFDAY",
                                       "LINUX_TIMERS",
                                       "TAU_MPI_TIME",
                                       NULL};
    static const char *const cpu[] = {"CPU_TIME", "P_VIRTUAL_TIME", NULL};
    char own[128], sampled[160];
    bool is_wall = is_one_of(name, wall), is_cpu = is_one_of(name, cpu),
         is_time = is_wall || is_cpu;
    const char *kind = is_time ? "time" : "count", *unit = "count";
    if (is_time)
        unit = "ns";
    *ret_made = (struct metric){.factor = is_time ? 1000 : 1};
    import_metric_name(name.len ? name : PM_STR("TIME"), own, sizeof own);
    if (is_wall && !t->has_wall)
        snprintf(own, sizeof own, "wall_ns");
    if (is_cpu && !t->has_cpu)
        snprintf(own, sizeof own, "cpu_ns");
    snprintf(sampled, sizeof sampled, "sampled_%s", own);
    ret_made->is_known = (is_wall && !t->has_wall) || (is_cpu && !t->has_cpu);
    t->has_wall |= is_wall;
    t->has_cpu |= is_cpu;
    enum pm_status status = make_metric(t, own, unit, kind, &ret_made->row);
    return status != PM_OK ? status : make_metric(t, sampled, unit, kind, &ret_made->sampled);
}

static enum pm_status find_metric(struct tau *t, struct pm_str name)
{
    uint32_t *at = pm_map_at(&t->metric_of, import_hash(name.p, name.len, 0));
    struct metric *metrics =
        pm_grow_array(t->metrics, t->n_metrics, &t->metrics_cap, 8, sizeof *metrics);
    if (metrics)
        t->metrics = metrics;
    if (!at || !metrics)
        return import_no_memory(t->im);
    if (!*at) {
        enum pm_status status = make_metrics(t, name, &metrics[t->n_metrics]);
        if (status != PM_OK)
            return status;
        *at = ++t->n_metrics;
    }
    t->metric = metrics[*at - 1];
    return PM_OK;
}

/* In whole units. */
static uint64_t whole(struct tau *t, double value)
{
    double rounded = round(value);
    t->n_negative += rounded < 0;
    if (rounded <= 0)
        return 0;
    return rounded >= 0x1p63 ? INT64_MAX : (uint64_t)rounded;
}

/* --- paths --- */

static enum pm_status find_frame(struct tau *t, struct pm_str part, uint32_t *ret_frame,
                                 enum tau_kind *ret_kind)
{
    struct tau_name name = tau_read_name(part);
    uint32_t *at = pm_map_at(&t->frames, import_hash(part.p, part.len, t->is_flat));
    *ret_kind = name.kind;
    if (!at)
        return import_no_memory(t->im);
    *ret_frame = *at;
    if (*at || name.kind == TAU_NOTHING)
        return PM_OK;
    struct pm_import_frame frame = {.function = name.function,
                                    .file = name.file,
                                    .line_no = name.line_no,
                                    .is_flat = t->is_flat,
                                    .is_entered = name.kind == TAU_TIMER};
    enum pm_status status = pm_sink_frame(t->im->sink, &frame, ret_frame);
    *at = *ret_frame;
    return status;
}

/* Frames of all parts. *ret_last: the last one, *ret_kind what it is. */
static enum pm_status read_path(struct tau *t, struct pm_str path, struct pm_str *ret_last,
                                enum tau_kind *ret_kind)
{
    t->n_parts = 0;
    *ret_last = path;
    *ret_kind = TAU_NOTHING;
    while (tau_next_part(&path, ret_last)) {
        if (t->n_parts == MAX_PARTS)
            return import_refuse_line(t->in, t->im->err, PM_ERR_LIMIT,
                                      "a path has more than %d functions", MAX_PARTS);
        enum pm_status status = find_frame(t, *ret_last, &t->frame[t->n_parts], ret_kind);
        if (status != PM_OK)
            return status;
        t->n_parts += *ret_kind != TAU_NOTHING;
    }
    return PM_OK;
}

/* Timers are contexts that were entered; samples lie in the code of theirs. */
static enum pm_status place_path(struct tau *t, enum tau_kind kind, uint32_t *ret_place)
{
    *ret_place = 0;
    if (kind == TAU_SAMPLED)
        return pm_sink_place(t->im->sink, t->process, t->frame, t->n_parts, ret_place);
    for (uint32_t i = 0; i < t->n_parts; i++) {
        enum pm_status status =
            pm_sink_path(t->im->sink, t->process, *ret_place, t->frame[i], ret_place);
        if (status != PM_OK)
            return status;
    }
    return t->n_parts ? PM_OK : pm_sink_path(t->im->sink, t->process, 0, 0, ret_place);
}

static enum pm_status find_flat(struct tau *t, struct pm_str name, struct flat **ret_flat)
{
    uint64_t hash = import_hash(name.p, name.len, 0);
    uint32_t *at = pm_map_at(&t->flats, hash);
    struct flat *flat = pm_grow_array(t->flat, t->n_flat, &t->flat_cap, 256, sizeof *flat);
    if (flat)
        t->flat = flat;
    if (!at || !flat)
        return import_no_memory(t->im);
    if (!*at) {
        flat[t->n_flat] = (struct flat){0};
        *at = ++t->n_flat;
    }
    *ret_flat = &flat[*at - 1];
    return PM_OK;
}

/* Without paths a function's counts are its code's, as those of samples without stacks are. */
static enum pm_status place_value(struct tau *t, enum tau_kind kind, uint32_t *ret_place)
{
    bool is_code = t->is_flat && !t->metric.is_known;
    return place_path(t, is_code ? TAU_SAMPLED : kind, ret_place);
}

static enum pm_status add_cost(struct tau *t, enum tau_kind kind, uint64_t value, double calls)
{
    uint32_t place;
    uint32_t metric = kind == TAU_SAMPLED ? t->metric.sampled : t->metric.row;
    uint32_t count = kind == TAU_SAMPLED ? t->samples : t->calls;
    enum pm_status status = place_value(t, kind, &place);
    if (status != PM_OK)
        return status;
    if (value)
        status = pm_sink_cost(t->im->sink, t->thread, place, metric, value);
    if (status != PM_OK || !t->wants_calls || calls <= 0)
        return status;
    status = place_path(t, kind, &place);
    if (status != PM_OK)
        return status;
    return pm_sink_cost(t->im->sink, t->thread, place, count, whole(t, calls));
}

static enum pm_status note_begin(struct tau *t, struct pm_str path)
{
    struct pm_str first = path;
    struct flat *flat;
    if (!tau_next_part(&path, &first))
        return PM_OK;
    enum pm_status status = find_flat(t, first, &flat);
    if (status != PM_OK)
        return status;
    flat->n_begins++;
    return PM_OK;
}

/* Numbers: calls, subroutines, exclusive, inclusive, profile calls. */
static enum pm_status take_path(struct tau *t, const struct tau_row *row)
{
    struct pm_str last;
    enum tau_kind kind;
    struct flat *flat;
    enum pm_status status = read_path(t, row->name, &last, &kind);
    if (status != PM_OK || kind == TAU_NOTHING)
        return status;
    status = find_flat(t, last, &flat);
    if (status != PM_OK)
        return status;
    uint64_t value = whole(t, row->numbers[2] * t->metric.factor);
    flat->value_in_paths += value;
    flat->in_paths += row->numbers[0];
    flat->n_paths++;
    status = note_begin(t, row->name);
    if (status != PM_OK)
        return status;
    /* callers that samples found have no sample of their own */
    bool is_above = kind == TAU_SAMPLED && import_begins(last, "[UNWIND]");
    if (is_above && !value)
        return PM_OK;
    return add_cost(t, kind, value, row->numbers[0]);
}

static enum pm_status take_function(struct tau *t, const struct tau_row *row)
{
    struct flat *flat;
    enum pm_status status = find_flat(t, row->name, &flat);
    if (status != PM_OK)
        return status;
    if (!flat->name && !(flat->name = pm_strndup(row->name.p, row->name.len)))
        return import_no_memory(t->im);
    flat->calls += row->numbers[0];
    flat->value += whole(t, row->numbers[2] * t->metric.factor);
    return PM_OK;
}

static bool is_path(const struct tau_row *row)
{
    struct pm_str rest = row->name, part;
    return tau_next_part(&rest, &part) && rest.len;
}

/* What no path has of a function is where a path begins. Paths and rows are rounded apart. */
static enum pm_status end_function(struct tau *t, const struct flat *flat)
{
    struct pm_str name = pm_str_of(flat->name), last;
    enum tau_kind kind;
    uint64_t value = flat->value > flat->value_in_paths ? flat->value - flat->value_in_paths : 0;
    double calls = flat->calls - flat->in_paths;
    bool is_all = flat->n_paths && calls < 0.5;
    if (is_all && value <= flat->n_paths)
        return PM_OK;
    enum pm_status status = read_path(t, name, &last, &kind);
    if (status != PM_OK || kind == TAU_NOTHING)
        return status;
    return add_cost(t, kind, value, calls);
}

/* TAU_CALLPATH_DEPTH cuts paths at their beginning: then they begin with a function that has all
 * of its calls in other paths, below which they are missing. */
static enum pm_status mark_cut(struct tau *t, const struct flat *flat)
{
    enum tau_kind kind;
    uint32_t frame;
    if (!flat->n_begins || !flat->n_paths || flat->calls - flat->in_paths >= 0.5)
        return PM_OK;
    t->n_cut += flat->n_begins;
    t->is_flat = true;
    enum pm_status status = find_frame(t, pm_str_of(flat->name), &frame, &kind);
    t->is_flat = false;
    return status;
}

static enum pm_status end_functions(struct tau *t)
{
    t->n_without_paths += !t->has_paths;
    for (uint32_t i = 0; i < t->n_flat; i++) {
        if (!t->flat[i].name)
            continue;
        enum pm_status status = mark_cut(t, &t->flat[i]);
        if (status != PM_OK)
            return status;
        t->is_flat = !t->has_paths;
        status = end_function(t, &t->flat[i]);
        t->is_flat = false;
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static void forget_functions(struct tau *t)
{
    for (uint32_t i = 0; i < t->n_flat; i++)
        free(t->flat[i].name);
    t->n_flat = 0;
    pm_map_release(&t->flats);
    t->flats = (struct pm_map){0};
}

/* --- events of the user --- */

static enum pm_status add_event(struct tau *t, struct pm_str event, uint32_t place, uint64_t value)
{
    char name[128];
    uint32_t metric;
    import_metric_name(event.len ? event : PM_STR("unnamed"), name, sizeof name);
    struct pm_import_metric made = {name, "sum", "count",
                                    "sum of the values of an event that the user has defined"};
    enum pm_status status = pm_sink_metric(t->im->sink, &made, &metric);
    return status != PM_OK ? status : pm_sink_cost(t->im->sink, t->thread, place, metric, value);
}

/* Numbers: how many, maximum, minimum, mean, sum of squares. "NAME : PATH" has the part of NAME
 * that was below a path. */
static enum pm_status take_event(struct tau *t, const struct tau_row *row)
{
    struct pm_str last, event = row->name, path = PM_STR("");
    const char *mark = memmem(event.p, event.len, " : ", 3);
    uint64_t value = whole(t, row->numbers[0] * row->numbers[3]);
    struct flat *flat;
    enum tau_kind kind;
    uint32_t place;
    if (mark) {
        path = (struct pm_str){mark + 3, event.len - (size_t)(mark + 3 - event.p)};
        event = import_trimmed((struct pm_str){event.p, (size_t)(mark - event.p)});
    }
    enum pm_status status = find_flat(t, event, &flat);
    if (status != PM_OK)
        return status;
    t->n_events++;
    if (!flat->name && !(flat->name = pm_strndup(event.p, event.len)))
        return import_no_memory(t->im);
    if (!path.len) {
        flat->value += value;
        return PM_OK;
    }
    flat->value_in_paths += value;
    status = read_path(t, path, &last, &kind);
    if (status != PM_OK)
        return status;
    status = place_path(t, TAU_TIMER, &place);
    return status != PM_OK ? status : add_event(t, event, place, value);
}

/* What no path has is the process's. */
static enum pm_status end_events(struct tau *t)
{
    uint32_t place;
    enum pm_status status = pm_sink_path(t->im->sink, t->process, 0, 0, &place);
    for (uint32_t i = 0; i < t->n_flat; i++) {
        const struct flat *flat = &t->flat[i];
        if (status != PM_OK)
            return status;
        if (flat->value > flat->value_in_paths)
            status = add_event(t, pm_str_of(flat->name), place, flat->value - flat->value_in_paths);
    }
    return status;
}

/* --- a file --- */

static enum pm_status too_short(struct tau *t, uint64_t n, uint64_t n_all, const char *what)
{
    enum pm_status status = import_input_status(t->in, t->im->err);
    if (status != PM_OK)
        return status;
    return import_refuse_line(t->in, t->im->err, PM_ERR_FORMAT,
                              "the file ends behind %llu of %llu %s", (unsigned long long)n,
                              (unsigned long long)n_all, what);
}

static enum pm_status read_row(struct tau *t, struct pm_str line, bool is_event)
{
    struct tau_row row;
    if (!tau_read_row(line, 5, &row))
        return import_refuse_line(t->in, t->im->err, PM_ERR_FORMAT,
                                  "'%.*s' is no name in quotes and 5 numbers", IMPORT_SHOWN(line));
    if (is_event)
        return t->wants_calls ? take_event(t, &row) : PM_OK;
    if (!is_path(&row))
        return take_function(t, &row);
    t->has_paths = true;
    return take_path(t, &row);
}

static enum pm_status read_rows(struct tau *t, uint64_t n, bool is_event)
{
    struct pm_str line;
    for (uint64_t i = 0; i < n; i++) {
        if (i == MAX_ROWS)
            return import_refuse_line(t->in, t->im->err, PM_ERR_LIMIT, "more than %d rows",
                                      MAX_ROWS);
        if (!import_line(t->in, &line))
            return too_short(t, i, n, is_event ? "events" : "functions");
        enum pm_status status = read_row(t, line, is_event);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* "N aggregates", which nobody writes, and "N userevents". */
static enum pm_status read_events(struct tau *t)
{
    struct pm_str line;
    uint64_t n;
    while (import_line(t->in, &line)) {
        struct pm_str number = import_word(&line), word = import_word(&line);
        if (!pm_str_is(word, "userevents") || !import_number(number, &n))
            continue;
        if (n && !import_line(t->in, &line))
            return too_short(t, 0, n, "events");
        enum pm_status status = read_rows(t, n, true);
        return status != PM_OK ? status : end_events(t);
    }
    return PM_OK;
}

static enum pm_status find_process(struct tau *t, const struct tau_place *place,
                                   struct pm_str metadata)
{
    uint32_t *at = pm_map_at(&t->processes, (uint64_t)place->node << 32 | place->context);
    struct pm_str exe = tau_metadata(metadata, "Executable");
    uint64_t pid = 0;
    char name[64];
    if (!at)
        return import_no_memory(t->im);
    t->process = *at;
    if (*at)
        return PM_OK;
    snprintf(name, sizeof name, "node %u", place->node);
    if (!exe.len)
        exe = pm_str_of(name);
    struct pm_import_process process = {.name = exe,
                                        .host = tau_metadata(metadata, "Hostname"),
                                        .rank = t->has_nodes ? (int64_t)place->node : -1};
    if (import_number(tau_metadata(metadata, "pid"), &pid) && pid <= INT32_MAX)
        process.pid = (uint32_t)pid;
    enum pm_status status = pm_sink_process(t->im->sink, &process, &t->process);
    *at = t->process;
    return status;
}

static enum pm_status find_thread(struct tau *t, const struct tau_place *place,
                                  struct pm_str metadata)
{
    char name[64];
    uint64_t tid = 0;
    enum pm_status status = find_process(t, place, metadata);
    if (status != PM_OK)
        return status;
    uint32_t *at = pm_map_at(&t->threads, (uint64_t)t->process << 32 | place->thread);
    if (!at)
        return import_no_memory(t->im);
    t->thread = *at;
    t->wants_calls = !*at; /* each metric's file repeats them */
    if (*at)
        return PM_OK;
    snprintf(name, sizeof name, "thread %u", place->thread);
    struct pm_import_thread thread = {.process = t->process, .name = pm_str_of(name)};
    if (import_number(tau_metadata(metadata, "tid"), &tid) && tid <= INT32_MAX)
        thread.tid = (uint32_t)tid;
    status = pm_sink_thread(t->im->sink, &thread, &t->thread);
    *at = t->thread;
    return status;
}

/* The names of the columns, and behind them what is known of the run. */
static enum pm_status begin_file(struct tau *t, const struct tau_place *place, struct pm_str metric)
{
    struct pm_str line;
    enum pm_status status = find_metric(t, metric);
    if (status != PM_OK)
        return status;
    if (!import_line(t->in, &line))
        return too_short(t, 0, 1, "heads");
    if (!import_begins(line, "# Name Calls Subrs Excl Incl"))
        return import_refuse_line(t->in, t->im->err, PM_ERR_FORMAT,
                                  "'%.*s' are not the columns of a profile of TAU",
                                  IMPORT_SHOWN(line));
    return find_thread(t, place, line);
}

static enum pm_status read_file(struct tau *t, const struct tau_place *place)
{
    struct pm_str line, metric;
    uint64_t n;
    if (!import_line(t->in, &line))
        return too_short(t, 0, 1, "heads");
    if (!tau_read_head(line, &n, &metric))
        return import_refuse_line(t->in, t->im->err, PM_ERR_FORMAT,
                                  "'%.*s' does not begin a profile of TAU", IMPORT_SHOWN(line));
    enum pm_status status = begin_file(t, place, metric);
    if (status != PM_OK)
        return status;
    t->has_paths = false;
    status = read_rows(t, n, false);
    if (status != PM_OK)
        return status;
    status = end_functions(t);
    if (status != PM_OK)
        return status;
    forget_functions(t);
    status = read_events(t);
    forget_functions(t);
    return status != PM_OK ? status : import_input_status(t->in, t->im->err);
}

/* --- folders --- */

static int is_profile(const struct dirent *entry)
{
    struct tau_place place;
    return tau_read_file_name(entry->d_name, &place);
}

static int is_metric(const struct dirent *entry)
{
    return !strncmp(entry->d_name, "MULTI__", 7);
}

static int is_in_folder(const struct dirent *entry)
{
    return is_profile(entry) || is_metric(entry);
}

static void free_names(struct dirent **names, int n)
{
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

static enum pm_status read_entry(struct tau *t, const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct tau_place place = {0};
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
        !tau_read_file_name(name, &place))
        return PM_OK;
    enum pm_status status = import_input_open(path, t->im->err, &t->in);
    if (status != PM_OK)
        return status;
    status = read_file(t, &place);
    import_input_free(t->in);
    t->in = NULL;
    return status;
}

/* More than one node: they are ranks. */
static bool has_nodes(struct dirent **names, int n)
{
    struct tau_place place;
    for (int i = 0; i < n; i++)
        if (tau_read_file_name(names[i]->d_name, &place) && place.node)
            return true;
    return false;
}

/* The profiles of one metric. *ret_n: how many there were. */
static enum pm_status read_folder(struct tau *t, const char *folder, int *ret_n)
{
    struct dirent **names = NULL;
    enum pm_status status = PM_OK;
    *ret_n = scandir(folder, &names, is_profile, versionsort);
    t->has_nodes |= has_nodes(names, *ret_n);
    for (int i = 0; i < *ret_n && !status; i++)
        status = read_entry(t, folder, names[i]->d_name);
    free_names(names, *ret_n);
    return status;
}

static enum pm_status read_folders(struct tau *t)
{
    struct dirent **names = NULL;
    char path[PATH_MAX];
    int n_files = 0;
    enum pm_status status = read_folder(t, t->im->path, &n_files);
    int n = n_files > 0 ? 0 : scandir(t->im->path, &names, is_metric, versionsort);
    for (int i = 0; i < n && !status; i++)
        if (snprintf(path, sizeof path, "%s/%s", t->im->path, names[i]->d_name) < (int)sizeof path)
            status = read_folder(t, path, &n_files);
    free_names(names, n);
    return status;
}

/* --- the whole --- */

static bool is_tau(struct pm_str head, const char *path)
{
    const char *end = memchr(head.p, '\n', head.len);
    struct pm_str metric;
    uint64_t n;
    if (end)
        return tau_read_head((struct pm_str){head.p, (size_t)(end - head.p)}, &n, &metric);
    struct dirent **names = NULL;
    int n_names = head.len ? -1 : scandir(path, &names, is_in_folder, NULL);
    free_names(names, n_names);
    return n_names > 0;
}

static void tell(const struct tau *t)
{
    const struct {
        uint64_t n;
        const char *text;
    } notes[] = {
        {t->n_cut,
         "call paths that begin inside (TAU_CALLPATH_DEPTH), whose callers are not known"},
        {t->n_without_paths, "files without call paths, of which only exclusive costs are taken"},
        {t->n_negative, "values less than 0, taken for 0"},
        {t->n_events, "events of the user, of which only sums are taken"},
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i].n)
            pm_sink_note(t->im->sink, "%s: %llu", notes[i].text, (unsigned long long)notes[i].n);
}

static enum pm_status begin(struct tau *t)
{
    t->frame = pm_alloc_array(MAX_PARTS, sizeof *t->frame);
    if (!t->frame)
        return import_no_memory(t->im);
    enum pm_status status = make_metric(t, "n_calls", "calls", "count", &t->calls);
    if (status != PM_OK)
        return status;
    status = make_metric(t, "n_samples", "samples", "count", &t->samples);
    pm_sink_attribute(t->im->sink, "producer", PM_STR("TAU"));
    return status;
}

static enum pm_status read_tau(struct import *im)
{
    struct tau t = {.im = im, .in = im->in};
    struct tau_place place = {0};
    enum pm_status status = begin(&t);
    if (status != PM_OK)
        goto out;
    if (!im->in) {
        status = read_folders(&t);
    } else {
        (void)tau_read_file_name(import_base_name(im->path), &place);
        t.has_nodes = place.node != 0;
        status = read_file(&t, &place);
    }
    if (!status)
        tell(&t);
out:
    forget_functions(&t);
    pm_map_release(&t.frames);
    pm_map_release(&t.processes);
    pm_map_release(&t.threads);
    pm_map_release(&t.metric_of);
    free(t.metrics);
    free(t.flat);
    free(t.frame);
    return status;
}

const struct import_format import_format_tau = {
    .is = is_tau, .read = read_tau, .opens_itself = true};
