/* A part of the run's time: which one is asked for, what is known of it, and how it is written. */
#include "interval.h"

#include <math.h>
#include <stdlib.h>

int64_t pm_view_run_ns(const struct pm_archive_data *data)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < data->n_executions; i++)
        ns = data->executions[i].wall_ns > ns ? data->executions[i].wall_ns : ns;
    for (uint32_t i = 0; ns == 0 && i < data->n_processes; i++)
        ns = data->processes[i].end_ns > ns ? data->processes[i].end_ns : ns;
    return ns;
}

bool pm_view_has_interval(const struct pm_view *view)
{
    return view->options.from || view->options.to;
}

/* --- what is asked for --- */

static enum pm_status refuse(const char *option, const char *text, struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_USAGE,
                        "option '%s' takes a time since the start of the run, as 2.5s, 300ms or "
                        "1min, or a part of it, as 50%%, not '%s'",
                        option, text);
}

/* Digits with at most one point. The length; 0: it is none. */
static size_t number_len(const char *text)
{
    size_t digits = strspn(text, "0123456789"), point = text[digits] == '.';
    size_t fraction = point ? strspn(text + digits + 1, "0123456789") : 0;
    return digits + fraction == 0 || digits + fraction > 18 ? 0 : digits + point + fraction;
}

static double number_of(const char *text, size_t len)
{
    double number = 0, unit = 1;
    bool is_fraction = false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '.') {
            is_fraction = true;
            continue;
        }
        number = 10 * number + (text[i] - '0');
        unit *= is_fraction ? 10 : 1;
    }
    return number / unit;
}

bool pm_view_read_time(const char *text, int64_t run_ns, int64_t *ret_ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9},   {"s", 1e9}, {"ms", 1e6},   {"us", 1e3},
                 {"µs", 1e3}, {"ns", 1},  {"min", 60e9}, {"h", 3600e9}};
    size_t len = number_len(text);
    double number = number_of(text, len), ns = NAN;
    const char *unit = text + len + strspn(text + len, " ");
    for (size_t i = 0; len && i < sizeof units / sizeof *units; i++)
        if (!strcmp(unit, units[i].unit))
            ns = number * units[i].ns;
    if (len && !strcmp(unit, "%") && number <= 100)
        ns = number / 100 * (double)run_ns;
    if (!(ns >= 0 && ns < 9e18))
        return false;
    *ret_ns = llround(ns);
    return true;
}

static enum pm_status check(const struct pm_view *view, const struct pm_time_span *interval,
                            struct pm_error *err)
{
    char from[32], to[32], end[32];
    pm_view_put_time(interval->from_ns == INT64_MIN ? 0 : interval->from_ns, false, from);
    pm_view_put_time(interval->until_ns, false, to);
    pm_view_put_time(view->run_ns, false, end);
    if (interval->from_ns != INT64_MIN && interval->from_ns >= view->run_ns)
        return pm_error_set(err, PM_ERR_USAGE, "'--from %s' is behind the end of the run, %s",
                            view->options.from, end);
    if (interval->until_ns != INT64_MAX && interval->from_ns >= interval->until_ns)
        return pm_error_set(err, PM_ERR_USAGE, "the interval is empty: from %s to %s", from, to);
    return PM_OK;
}

static enum pm_status read_interval(struct pm_view *view, struct pm_error *err)
{
    struct pm_time_span *interval = &view->interval;
    const struct pm_view_options *options = &view->options;
    if (options->from && !pm_view_read_time(options->from, view->run_ns, &interval->from_ns))
        return refuse("--from", options->from, err);
    if (options->to && !pm_view_read_time(options->to, view->run_ns, &interval->until_ns))
        return refuse("--to", options->to, err);
    if (interval->until_ns == 0)
        return pm_error_set(err, PM_ERR_USAGE, "the interval is empty: it ends at 0");
    enum pm_status status = check(view, interval, err);
    /* What begins or ends with the run has all that is known of it there. */
    if (interval->from_ns == 0)
        interval->from_ns = INT64_MIN;
    if (interval->until_ns >= view->run_ns)
        interval->until_ns = INT64_MAX;
    return status;
}

const char *pm_view_why_no_times(const struct pm_archive_data *data)
{
    bool any = false;
    if (!data->has_times)
        return "it was collected by an older PerfMap, which kept no times";
    for (uint32_t m = 0; m < data->graph->n_metrics; m++)
        any |= data->has_times[m];
    return any ? NULL
               : "samples know when they were taken, and there are none, or they were taken by an "
                 "older PerfMap";
}

enum pm_status pm_view_keep_interval(struct pm_view *view, struct pm_error *err)
{
    const char *why = pm_view_why_no_times(view->data);
    view->interval = PM_ALL_TIME;
    view->run_ns = pm_view_run_ns(view->data);
    if (why && (pm_view_has_interval(view) || view->options.over_time))
        return pm_error_set(err, PM_ERR_NOT_FOUND, "archive '%s' has no times: %s",
                            view->options.archive_path, why);
    if (!pm_view_has_interval(view))
        return PM_OK;
    enum pm_status status = read_interval(view, err);
    if (status != PM_OK)
        return status;
    return pm_archive_keep_interval(view->data, view->interval, err);
}

/* --- what is known of it --- */

bool pm_view_lacks_times(const struct pm_view *view, pm_index metric)
{
    return pm_view_has_interval(view) && !view->data->has_times[metric] &&
           pm_view_is_measured(view->archive->graph, metric);
}

enum pm_status pm_view_refuse_untimed(const struct pm_view *view, pm_index metric,
                                      struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    struct pm_buf list = PM_BUF_INIT(4096);
    for (pm_index m = 0; m < graph->n_metrics; m++)
        if (view->data->has_times[m])
            pm_buf_printf(&list, "%s%s", list.len ? ", " : "", graph->metrics[m].name);
    pm_error_set(err, PM_ERR_USAGE,
                 "metric '%s' has no times, so what of it was in the interval is not known; with "
                 "times: %s",
                 graph->metrics[metric].name, list.len ? list.data : "none");
    pm_buf_release(&list);
    return PM_ERR_USAGE;
}

double pm_view_untimed_pct(const struct pm_view *view, pm_index metric)
{
    return metric != PM_NONE && metric < view->n_untimed_pct ? view->untimed_pct[metric] : NAN;
}

struct timing {
    double *timed;
};

static bool add_timed(void *context, const struct pm_cost *cost, const int64_t *parts)
{
    struct timing *timing = context;
    timing->timed[cost->metric] += (double)parts[0];
    return true;
}

enum pm_status pm_view_find_untimed_pct(struct pm_view *view, struct pm_error *err)
{
    static const int64_t all_time[2] = {INT64_MIN, INT64_MAX};
    const struct pm_graph *all = view->archive->graph;
    if (!pm_view_has_interval(view) && !view->options.over_time)
        return PM_OK;
    struct timing timing = {pm_arena_alloc(&view->arena, (all->n_metrics + 1u) * sizeof(double))};
    double *sums = pm_arena_alloc(&view->arena, (all->n_metrics + 1u) * sizeof *sums);
    if (!timing.timed || !sums)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    enum pm_status status =
        pm_archive_each_part(view->archive, NULL, all_time, 1, add_timed, &timing, err);
    for (uint32_t i = 0; i < all->n_costs; i++)
        sums[all->costs[i].metric] += (double)all->costs[i].value;
    for (uint32_t m = 0; m < all->n_metrics; m++)
        sums[m] = sums[m] > 0 ? 100 * (1 - timing.timed[m] / sums[m]) : 0;
    view->untimed_pct = sums;
    view->n_untimed_pct = all->n_metrics;
    return status;
}

/* --- how it is written --- */

void pm_view_put_time(int64_t ns, bool utf8, char ret_text[32])
{
    double seconds = (double)ns / 1e9;
    if (ns == 0)
        snprintf(ret_text, 32, "0 s");
    else if (ns < 1000000 && ns > -1000000)
        snprintf(ret_text, 32, "%.0f %s", (double)ns / 1e3, utf8 ? "µs" : "us");
    else if (ns < 1000000000 && ns > -1000000000)
        snprintf(ret_text, 32, "%.1f ms", (double)ns / 1e6);
    else
        snprintf(ret_text, 32, "%.3f s", seconds);
}

struct pm_time_span pm_view_shown_interval(const struct pm_view *view)
{
    struct pm_time_span shown = view->interval;
    if (shown.from_ns == INT64_MIN)
        shown.from_ns = 0;
    if (shown.until_ns == INT64_MAX)
        shown.until_ns = view->run_ns;
    return shown;
}
