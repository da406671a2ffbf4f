/* Metrics of events that processes counted (perfmap run --metric, --sample-by): which are shown,
 * and how sure they are.
 *
 * What a counter counted and no sample or reading located is in "(not located)", below what was
 * active all the while. Where that is much, rows that may have had some of it are at least what
 * is shown, as with CPU time (partial.c). */
#include "view.h"

#include "mapping/archive/archive.h"

#include <stdlib.h>

/* Archives may have any numbers: a sum that is too large is the largest there is. */
static void add_to(int64_t *sum, int64_t number)
{
    if (__builtin_add_overflow(*sum, number, sum))
        *sum = number > 0 ? INT64_MAX : INT64_MIN;
}

/* NULL: the metric is none of an event. */
static const struct pm_event_counter *counter_of(const struct pm_archive_data *data,
                                                 pm_index metric)
{
    for (uint32_t i = 0; i < data->n_counters; i++)
        if (strcmp(data->counters[i].metric, data->graph->metrics[metric].name) == 0)
            return &data->counters[i];
    return NULL;
}

static const struct pm_event_counter *counted_of(const struct pm_view *view, uint32_t m)
{
    return counter_of(view->data, view->metrics[m]);
}

bool pm_view_is_counted(const struct pm_view *view, uint32_t m)
{
    return m < view->n_metrics && counted_of(view, m);
}

void pm_view_add_counted(struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    for (pm_index m = 0; m < graph->n_metrics && view->data->n_counters; m++)
        if (view->n_metrics < PM_VIEW_MAX_METRICS && !pm_view_shows(view, m) &&
            counter_of(view->data, m) && pm_view_is_measured(graph, m))
            view->metrics[view->n_metrics++] = m;
}

static bool is_scaled(const struct pm_event_counter *counted)
{
    return counted->running_ns < counted->enabled_ns &&
           (double)counted->running_ns < 0.999 * (double)counted->enabled_ns;
}

static const char *description_of(const struct pm_view *view, uint32_t m)
{
    return view->data->graph->metrics[view->metrics[m]].description;
}

static bool description_ends(const struct pm_view *view, uint32_t m, const char *end)
{
    const char *description = description_of(view, m);
    size_t len = strlen(description), end_len = strlen(end);
    return len > end_len && !strcmp(description + len - end_len, end);
}

/* By PAPI, which does not tell how long each had its turn. */
static bool is_in_turns(const struct pm_view *view, uint32_t m)
{
    return description_ends(view, m, PM_IN_TURNS);
}

/* Signals of PAPI's overflow come late, get lost and come twice: of 1650 page faults with period 1
 * there were 1650 in one run, and 2048 in another. */
static bool is_by_overflow(const struct pm_view *view, uint32_t m)
{
    return description_ends(view, m, PM_BY_OVERFLOW);
}

static bool is_throttled(const struct pm_event_counter *counted)
{
    return counted->is_throttled;
}

/* Several threads counted, and each had what all of them did since one of them last looked. */
static bool is_of_several_threads(const struct pm_view *view, uint32_t m)
{
    return counted_of(view, m)->most_threads > 1 &&
           !strncmp(description_of(view, m), PM_OF_ALL_THREADS, sizeof PM_OF_ALL_THREADS - 1);
}

bool pm_view_counts_are_scaled(const struct pm_view *view, uint32_t m)
{
    const struct pm_event_counter *counted = counted_of(view, m);
    return counted && (is_scaled(counted) || is_in_turns(view, m) || is_by_overflow(view, m));
}

const char *pm_view_why_counts(const struct pm_view *view, uint32_t m)
{
    if (pm_view_is_counted(view, m) && is_by_overflow(view, m))
        return "PAPI's samples, which may be more or less than the events";
    if (pm_view_counts_are_scaled(view, m))
        return "scaled up, for events took turns";
    if (pm_view_is_counted(view, m) && is_of_several_threads(view, m) &&
        view->options.by != PM_VIEW_BY_PROCESS)
        return "may be at what another thread was doing";
    return NULL;
}

bool pm_view_counts_are_few(const struct pm_view *view, uint32_t m, double value)
{
    const struct pm_event_counter *counted = counted_of(view, m);
    if (!counted)
        return false;
    if (pm_view_counts_are_scaled(view, m)) /* then 0 is no more certain than another number */
        return true;
    if (is_of_several_threads(view, m) && view->options.by != PM_VIEW_BY_PROCESS)
        return true;
    return counted->period > 1 && value != 0 &&
           value < (double)counted->period * PM_VIEW_FEW_SAMPLES;
}

/* --- what was not located --- */

static bool is_lost(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return noun != PM_NONE && pm_view_noun_is(view, noun, "lost");
}

enum pm_status pm_view_find_lost_of(const struct pm_view *view, pm_index metric,
                                    struct pm_error *err, struct pm_view_lost *ret_lost)
{
    enum { LEAST_LOST_PCT = 3 };
    const struct pm_graph *graph = view->data->graph;
    struct pm_view_lost lost = {
        .metric = metric, .counts = pm_alloc_array(graph->n_contexts + 1u, sizeof *lost.counts)};
    double all = 0;
    int64_t most = 0;
    if (!lost.counts)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        pm_index around = graph->contexts[cost->context].parent;
        if (cost->metric != metric)
            continue;
        all += (double)cost->value;
        if (around != PM_NONE && is_lost(view, cost->context)) {
            add_to(&lost.counts[around], cost->value);
            lost.sum += (double)cost->value;
        }
    }
    for (pm_index c = 0; c < graph->n_contexts; c++) { /* those around it come before it */
        pm_index parent = graph->contexts[c].parent;
        add_to(&lost.counts[c], parent != PM_NONE ? lost.counts[parent] : 0);
        most = lost.counts[c] > most ? lost.counts[c] : most;
    }
    lost.all = all;
    lost.least = (int64_t)(all * LEAST_LOST_PCT / 100);
    if (most <= lost.least) {
        free(lost.counts);
        lost.counts = NULL;
    }
    *ret_lost = lost;
    return PM_OK;
}

bool pm_view_may_lack(const struct pm_view *view, const struct pm_view_lost *lost, pm_index context,
                      bool inclusive)
{
    pm_index at = inclusive ? view->data->graph->contexts[context].parent : context;
    return lost->counts && at != PM_NONE && lost->counts[at] > lost->least &&
           !is_lost(view, context);
}

enum pm_status pm_view_find_lost_counts(struct pm_view *view, struct pm_error *err)
{
    for (uint32_t m = 0; m < view->n_metrics; m++) {
        struct pm_view_lost *lost = &view->lost_counts[view->n_lost_counts];
        if (!pm_view_is_counted(view, m) || view->metrics[m] == view->cpu_metric)
            continue;
        enum pm_status status = pm_view_find_lost_of(view, view->metrics[m], err, lost);
        if (status != PM_OK)
            return status;
        view->n_lost_counts += lost->counts != NULL;
    }
    return PM_OK;
}

unsigned pm_view_lacks_counts(const struct pm_view *view, pm_index context, bool inclusive)
{
    unsigned mask = 0;
    for (uint32_t i = 0; i < view->n_lost_counts; i++)
        if (pm_view_may_lack(view, &view->lost_counts[i], context, inclusive))
            mask |= 1u << i;
    return mask;
}

bool pm_view_row_lacks_counts(const struct pm_view *view, const struct pm_view_row *row, uint32_t m,
                              bool inclusive)
{
    unsigned mask = inclusive ? row->traits.inclusive_lacks_counts : row->traits.own_lacks_counts;
    for (uint32_t i = 0; i < view->n_lost_counts; i++)
        if (view->lost_counts[i].metric == view->metrics[m] && mask & 1u << i)
            return true;
    return false;
}

void pm_view_release_lost_counts(struct pm_view *view)
{
    for (uint32_t i = 0; i < view->n_lost_counts; i++)
        free(view->lost_counts[i].counts);
}

/* --- what is said of it --- */

/* What is read when a process begins and ends (runtime/guest/sources.c). */
static bool is_of_processes(const struct pm_view *view, pm_index metric)
{
    return !strncmp(view->data->graph->metrics[metric].description, PM_OF_PROCESSES,
                    sizeof PM_OF_PROCESSES - 1);
}

static void say_lost(const struct pm_view *view, const struct pm_event_counter *counted,
                     pm_index metric, struct pm_buf *text)
{
    if (is_of_processes(view, metric)) {
        pm_buf_printf(text,
                      "%s is known of whole processes only (--by process), PerfMap's own part "
                      "included",
                      counted->metric);
        return;
    }
    if (pm_view_is_by_runner(view))
        return;
    for (uint32_t i = 0; i < view->n_lost_counts; i++) {
        const struct pm_view_lost *lost = &view->lost_counts[i];
        if (lost->metric != metric)
            continue;
        pm_buf_printf(text,
                      "%.0f %% of %s is in (not located), below what was active all the while, and "
                      "rows that may have had some of it are at least what is shown: ",
                      100 * lost->sum / lost->all, counted->metric);
        pm_buf_add_str(text, counted->period
                                 ? "samples did not fit, or threads ended before one was taken"
                                 : "'perfmap run --sample-by' locates it, and --mode exact counts "
                                   "it along call paths");
    }
}

/* No figure of the run says how long that took. */
bool pm_view_times_hold_readings(const struct pm_view *view)
{
    const struct pm_archive_data *data = view->data;
    if (!data->n_counters || view->wall_metric == PM_NONE || !pm_view_is_timed_run(view))
        return false;
    for (uint32_t i = 0; i < data->n_counters; i++) {
        pm_index metric = pm_graph_find_metric(data->graph, data->counters[i].metric);
        if (data->counters[i].is_read && metric != PM_NONE && !is_of_processes(view, metric))
            return true;
    }
    return false;
}

static void say_scaled(const struct pm_view *view, const struct pm_event_counter *counted,
                       uint32_t m, struct pm_buf *text)
{
    if (is_in_turns(view, m))
        pm_buf_printf(text,
                      "%s was counted in turns with other events (PAPI's multiplexing), and is an "
                      "estimate: count fewer events in one run",
                      counted->metric);
    else if (is_by_overflow(view, m))
        pm_buf_printf(text,
                      "%s is an estimate: PAPI's samples may be more or less than the events; "
                      "--metric counts them, and --sample-by of the kernel's event takes each",
                      counted->metric);
    else if (is_scaled(counted))
        pm_buf_printf(text,
                      "%s was counted in %.0f %% of the time only, for the processor has too few "
                      "counters, and is scaled up: count fewer events in one run",
                      counted->metric,
                      100 * (double)counted->running_ns / (double)counted->enabled_ns);
}

bool pm_view_say_counted(const struct pm_view *view, uint32_t m, enum pm_view_counted_note which,
                         struct pm_buf *text)
{
    const struct pm_event_counter *counted = counted_of(view, m);
    if (!counted)
        return false;
    switch (which) {
    case PM_VIEW_COUNTED_LOST:
        say_lost(view, counted, view->metrics[m], text);
        break;
    case PM_VIEW_COUNTED_SHARED:
        if (is_of_several_threads(view, m) && view->options.by != PM_VIEW_BY_PROCESS)
            pm_buf_printf(text,
                          "%s is a number of the whole process: what one thread did may be at what "
                          "another was doing; the total is right",
                          counted->metric);
        break;
    case PM_VIEW_COUNTED_SCALED:
        say_scaled(view, counted, m, text);
        break;
    case PM_VIEW_COUNTED_STOPPED:
        if (is_throttled(counted))
            pm_buf_printf(text,
                          "%s is at least what is shown: there were more samples than the kernel "
                          "allows (kernel.perf_event_max_sample_rate), and until its next tick it "
                          "did not count: use a larger period of --sample-by",
                          counted->metric);
        break;
    case PM_VIEW_COUNTED_USER:
        if (counted->is_user_only)
            pm_buf_printf(text,
                          "%s is without what the kernel did for the program: as root, or with "
                          "sysctl kernel.perf_event_paranoid=1, it is counted",
                          counted->metric);
        break;
    case PM_VIEW_COUNTED_FAILED:
        if (counted->n_threads_failed && is_of_processes(view, view->metrics[m]))
            pm_buf_printf(text,
                          "%s is not known of %lld of %lld processes: they were killed, still run, "
                          "or could not read it",
                          counted->metric, (long long)counted->n_threads_failed,
                          (long long)counted->n_threads);
        else if (counted->n_threads_failed)
            pm_buf_printf(text, "%s could not be counted in %lld of %lld threads%s%s",
                          counted->metric, (long long)counted->n_threads_failed,
                          (long long)counted->n_threads, *counted->problem ? ": " : "",
                          counted->problem);
        break;
    case PM_VIEW_COUNTED_CLOSED:
        if (counted->n_closed)
            pm_buf_printf(text,
                          "%s is at least what is shown: %lld thread%s closed the descriptors that "
                          "PerfMap had open, and with them the counter",
                          counted->metric, (long long)counted->n_closed,
                          counted->n_closed == 1 ? "" : "s");
        break;
    default:
        break;
    }
    return text->len != 0;
}

bool pm_view_counts_are_cut(const struct pm_view *view, uint32_t m)
{
    const struct pm_event_counter *counted = counted_of(view, m);
    return counted && (counted->n_closed || counted->n_threads_failed || counted->is_user_only ||
                       is_throttled(counted));
}
