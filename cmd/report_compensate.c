/* Takes the measuring itself out of own times.
 *
 * An exact pair reads the clock first thing in its entry and in its exit. What it costs between
 * the two falls into the construct's own time, the rest into that of the nearest timed construct above; the runtime measures
 * both parts at start (pm_run.h, exact_pair_ps and exact_inner_ps). What is followed without times, or counted, costs that
 * construct above all of its pairs. So the own time of a context holds about
 *
 *     n_calls x inner + (sum over the timed contexts next below of n_calls) x (pair - inner) + (pairs without times between) x their cost
 *
 * which is an estimate: the parts are those of an idle machine, and a processor overlaps a pair
 * with the work around it. The samples of the same run make it better:
 *
 *  - Samples in trampolines measure the same sum: each knows its sled's noun and on which side of the clock read it is, so it lies below
 *    the context whose time holds it. They are too many, for a processor does work of the program while it reads the
 *    clock: of a function of 3 to 13 ns all of it, on an EPYC, where its samples say next to nothing and its time is 10 ns a call whatever it does.
 *    The estimates are too few where pairs follow each other closely. So the geometric mean of the two is taken, by
 *    construct, and by the whole run where a construct has few samples (PRIOR_SAMPLES). Of five programs with
 *    A : B : C = 60 : 20 : 20 and calls of B of 3 to 22 ns, B was 11 to 17 points too little by samples alone, 10 too much to 8 too little
 *    by the estimates, 3 to 12 too little by the mean: better for the shortest calls, worse for the others. Such rows are marked (report_is_uncertain).
 *  - Samples that met a construct's own code are time that it took for certain, so no more is taken from it than leaves that. (gzip on a busy machine: the
 *    sum of the errors of all functions' shares fell from 13.2 to 10.7 points.)
 *
 * While others have the CPU the clock runs on. The kernel says when, and that is taken out first (take_out_preempted): of the same
 * programs, preempted for two thirds of their wall time, A and C were then within 3 % of the times that they take alone.
 *
 * Where times and samples differ much, a warning says so. Nothing is taken below zero, and what is taken is summed up and shown.
 */
#include "report.h"

#include <math.h>
#include <stdlib.h>

enum { PRIOR_SAMPLES = 16 }; /* so many of a noun count as much as all others' together */

/* By context. */
struct correction {
    struct report *report;
    bool *is_timed;
    pm_index *above;    /* the nearest timed context above; PM_NONE: a root */
    double *added_ns;   /* estimated, in its own time */
    double *probed_ns;  /* by samples, in its own time */
    double *sampled_ns; /* in its own code */
    double *own_ns;     /* what is left of its time */
    double *asleep_ns;  /* the part of it that samples of CPU time cannot meet */
};

static bool make_correction(struct correction *c)
{
    const struct pm_archive_data *data = c->report->data;
    uint32_t n = data->graph->n_contexts;
    c->is_timed = pm_alloc_array(n, sizeof *c->is_timed);
    c->above = pm_alloc_array(n, sizeof *c->above);
    c->added_ns = pm_alloc_array(n, sizeof *c->added_ns);
    c->probed_ns = pm_alloc_array(n, sizeof *c->probed_ns);
    c->sampled_ns = pm_alloc_array(n, sizeof *c->sampled_ns);
    c->own_ns = pm_alloc_array(n, sizeof *c->own_ns);
    c->asleep_ns = pm_alloc_array(n, sizeof *c->asleep_ns);
    return c->is_timed && c->above && c->added_ns && c->probed_ns && c->sampled_ns && c->own_ns &&
           c->asleep_ns;
}

static void release_correction(struct correction *c)
{
    free(c->is_timed);
    free(c->above);
    free(c->added_ns);
    free(c->probed_ns);
    free(c->sampled_ns);
    free(c->own_ns);
    free(c->asleep_ns);
}

/* A sentence that the program entered itself: its own time is in a context of the code around it, within it. */
static bool is_spoken(const struct pm_graph *graph, pm_index context)
{
    return graph->contexts[context].parent != PM_NONE &&
           strcmp(graph->levels[pm_graph_sentence_level(graph, graph->contexts[context].sentence)]
                      .name,
                  "Base") != 0;
}

/* Contexts that samples or inlining made, calls without callers and what was not timed have no times. */
static bool is_timed(const struct report *report, pm_index i)
{
    enum {
        WITHOUT = PM_CONTEXT_FOLDED | PM_CONTEXT_SAMPLED | PM_CONTEXT_INLINED | PM_CONTEXT_COUNTED
    };
    const struct pm_graph *graph = report->data->graph;
    const struct pm_context *context = &graph->contexts[i];
    pm_index noun = pm_graph_first_noun(graph, context->sentence);
    return context->parent == PM_NONE ||
           (!(context->flags & WITHOUT) && !is_spoken(graph, i) && noun != PM_NONE &&
            !report->is_untimed[noun] && !report_noun_is_machine_code(report, noun));
}

/* Where functions and loops have times, a wait is a part of the time of the innermost one that was timed. Its own place is for finer views. */
enum pm_status report_place_waits(struct report *report, struct pm_error *err)
{
    static const char *const names[] = {"waiting_ns", "preempted_ns", "off_cpu_ns"};
    (void)err;
    if (report->wall_metric == PM_NONE || report->time_metric != report->wall_metric)
        return PM_OK;
    struct pm_graph *graph = report->data->graph;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        pm_index metric = pm_graph_find_metric(graph, names[k]);
        for (uint32_t i = 0; metric != PM_NONE && i < graph->n_costs; i++) {
            struct pm_cost *cost = &graph->costs[i];
            while (cost->metric == metric && !is_timed(report, cost->context))
                cost->context = graph->contexts[cost->context].parent;
        }
    }
    return PM_OK;
}

/* Parents come first. */
static void find_timed(struct correction *c)
{
    const struct report *report = c->report;
    const struct pm_graph *graph = report->data->graph;
    for (pm_index i = 0; i < graph->n_contexts; i++) {
        const struct pm_context *context = &graph->contexts[i];
        c->is_timed[i] = is_timed(report, i);
        c->above[i] = context->parent == PM_NONE     ? PM_NONE
                      : c->is_timed[context->parent] ? context->parent
                                                     : c->above[context->parent];
    }
}

/* While others had its CPU a construct took no time: what the kernel says of that is a column of its own. */
static bool take_out_preempted(struct correction *c)
{
    struct report *report = c->report;
    struct pm_graph *graph = report->data->graph;
    pm_index preempted = pm_graph_find_metric(graph, "preempted_ns");
    double *left_ns = pm_alloc_array(graph->n_contexts, sizeof *left_ns);
    for (uint32_t i = 0; left_ns && i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric == preempted && preempted != PM_NONE)
            left_ns[c->is_timed[cost->context] ? cost->context : c->above[cost->context]] +=
                (double)cost->value;
    }
    for (uint32_t i = 0; left_ns && i < graph->n_costs; i++) {
        struct pm_cost *cost = &graph->costs[i];
        double *left = &left_ns[cost->context];
        if (cost->metric != report->wall_metric || cost->value <= 0 || *left < 1)
            continue;
        int64_t taken = *left < (double)cost->value ? (int64_t)*left : cost->value;
        cost->value -= taken;
        *left -= (double)taken;
        report->preempted_out_ns += taken;
    }
    free(left_ns);
    return left_ns != NULL;
}

static double known_ns(int64_t ps)
{
    return ps > 0 ? (double)ps / 1e3 : 0;
}

/* Of calls in one context on one thread. */
static void add_calls(struct correction *c, const struct pm_cost *calls)
{
    const struct pm_archive_data *data = c->report->data;
    const struct pm_process *process = &data->processes[data->threads[calls->thread].process];
    const struct pm_context *context = &data->graph->contexts[calls->context];
    pm_index noun = pm_graph_first_noun(data->graph, context->sentence);
    double n_calls = (double)calls->value;
    double pair_ns = known_ns(process->exact_pair_ps), inner_ns = known_ns(process->exact_inner_ps);
    if (inner_ns == 0 || inner_ns > pair_ns)
        pair_ns = inner_ns = 0;
    if (c->is_timed[calls->context]) {
        c->added_ns[calls->context] += n_calls * inner_ns;
        c->added_ns[c->above[calls->context]] += n_calls * (pair_ns - inner_ns);
        return;
    }
    bool timed_folded =
        context->flags & PM_CONTEXT_FOLDED && noun != PM_NONE && !c->report->is_untimed[noun];
    c->added_ns[c->above[calls->context]] +=
        n_calls * (timed_folded || is_spoken(data->graph, calls->context) ? pair_ns
                   : context->flags & PM_CONTEXT_COUNTED ? 0 /* nobody knows where */
                                                         : known_ns(process->active_pair_ps));
}

/* PerfMap's own samples are in nobody's code, and in the times of what they are below. */
static void add_samples(struct correction *c, const struct pm_cost *cost)
{
    const struct pm_graph *graph = c->report->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[cost->context].sentence);
    bool is_ours = noun != PM_NONE && report_noun_is(c->report, noun, "perfmap");
    pm_index owner = c->is_timed[cost->context] ? cost->context : c->above[cost->context];
    (is_ours ? c->probed_ns : c->sampled_ns)[owner] += (double)cost->value;
}

/* Waiting is no CPU time; off_cpu_ns may be either. */
static void add_sleeps(struct correction *c)
{
    const struct pm_graph *graph = c->report->data->graph;
    pm_index waiting = pm_graph_find_metric(graph, "waiting_ns"),
             off_cpu = pm_graph_find_metric(graph, "off_cpu_ns");
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric != PM_NONE && (cost->metric == waiting || cost->metric == off_cpu))
            c->asleep_ns[c->is_timed[cost->context] ? cost->context : c->above[cost->context]] +=
                (double)cost->value;
    }
}

/* CPU time that a sample stands for. */
static double period_ns(const struct pm_archive_data *data)
{
    for (uint32_t i = 0; i < data->n_samplings; i++)
        if (data->samplings[i].period_ns > 0 && strcmp(data->samplings[i].source, "none") != 0)
            return (double)data->samplings[i].period_ns;
    return 0;
}

/* Estimates brought half of the way to what samples found: of each noun, as far as it has samples, else of all. Roots keep theirs: starting up is among
 * their samples and before their times. */
static bool scale_to_samples(struct correction *c)
{
    const struct pm_graph *graph = c->report->data->graph;
    double *added_ns = pm_alloc_array(graph->n_nouns, sizeof *added_ns);
    double *probed_ns = pm_alloc_array(graph->n_nouns, sizeof *probed_ns);
    double all_added_ns = 0, all_probed_ns = 0;
    double prior_ns = PRIOR_SAMPLES * period_ns(c->report->data);
    bool ok = added_ns && probed_ns;
    for (pm_index i = 0; ok && i < graph->n_contexts; i++) {
        if (!c->is_timed[i] || graph->contexts[i].parent == PM_NONE)
            continue;
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[i].sentence);
        added_ns[noun] += c->added_ns[i];
        probed_ns[noun] += c->probed_ns[i];
        all_added_ns += c->added_ns[i];
        all_probed_ns += c->probed_ns[i];
    }
    double usual = (all_probed_ns + prior_ns) / (all_added_ns + prior_ns);
    for (pm_index i = 0; ok && !getenv("OLDC") && prior_ns > 0 && i < graph->n_contexts; i++) {
        if (!c->is_timed[i] || graph->contexts[i].parent == PM_NONE)
            continue;
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[i].sentence);
        c->added_ns[i] *= sqrt((probed_ns[noun] + prior_ns * usual) / (added_ns[noun] + prior_ns));
    }
    free(added_ns);
    free(probed_ns);
    return ok;
}

static void take_out(struct correction *c)
{
    struct report *report = c->report;
    struct pm_graph *graph = report->data->graph;
    for (uint32_t i = 0; i < graph->n_costs; i++)
        if (graph->costs[i].metric == report->wall_metric)
            c->own_ns[graph->costs[i].context] += (double)graph->costs[i].value;
    for (pm_index i = 0; i < graph->n_contexts; i++) {
        double most = c->own_ns[i] - c->sampled_ns[i];
        c->added_ns[i] = c->added_ns[i] < most ? c->added_ns[i] : most > 0 ? most : 0;
        c->own_ns[i] -= c->added_ns[i];
    }
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        struct pm_cost *cost = &graph->costs[i];
        double *left = &c->added_ns[cost->context];
        if (cost->metric != report->wall_metric || cost->value <= 0 || *left < 1)
            continue;
        int64_t taken = *left < (double)cost->value ? (int64_t)*left : cost->value;
        cost->value -= taken;
        *left -= (double)taken;
        report->taken_out_ns += taken;
        report->taken_ns[cost->context] += taken;
    }
}

/* The code whose shares of times and of samples differ most. Roots are left out: their time is not all in code. */
static bool find_doubt(struct correction *c)
{
    const struct pm_graph *graph = c->report->data->graph;
    double *own_ns = pm_alloc_array(graph->n_nouns, sizeof *own_ns);
    double *sampled_ns = pm_alloc_array(graph->n_nouns, sizeof *sampled_ns);
    double all_own_ns = 0, all_sampled_ns = 0, most = 0;
    struct report_doubt *doubt = &c->report->doubt;
    bool ok = own_ns && sampled_ns;
    for (pm_index i = 0; ok && i < graph->n_contexts; i++) {
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[i].sentence);
        if (!c->is_timed[i] || graph->contexts[i].parent == PM_NONE)
            continue;
        double busy_ns = c->own_ns[i] > c->asleep_ns[i] ? c->own_ns[i] - c->asleep_ns[i] : 0;
        own_ns[noun] += busy_ns;
        sampled_ns[noun] += c->sampled_ns[i];
        all_own_ns += busy_ns;
        all_sampled_ns += c->sampled_ns[i];
    }
    for (pm_index n = 0; ok && n < graph->n_nouns && all_own_ns > 0 && all_sampled_ns > 0; n++) {
        double timed = 100 * own_ns[n] / all_own_ns, sampled = 100 * sampled_ns[n] / all_sampled_ns;
        if (fabs(timed - sampled) <= most)
            continue;
        most = fabs(timed - sampled);
        *doubt = (struct report_doubt){n, timed, sampled};
    }
    free(own_ns);
    free(sampled_ns);
    return ok;
}

enum pm_status report_compensate(struct report *report, struct pm_error *err)
{
    struct correction c = {.report = report};
    report->doubt.noun = PM_NONE;
    if (report->options.no_compensation || report->wall_metric == PM_NONE ||
        report->calls_metric == PM_NONE)
        return PM_OK;
    const struct pm_graph *graph = report->data->graph;
    report->taken_ns = pm_alloc_array(graph->n_contexts, sizeof *report->taken_ns);
    bool ok = make_correction(&c) && report->taken_ns;
    if (ok) {
        find_timed(&c);
        ok = take_out_preempted(&c);
    }
    for (uint32_t i = 0; ok && i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric == report->calls_metric &&
            graph->contexts[cost->context].parent != PM_NONE)
            add_calls(&c, cost);
        else if (cost->metric == report->cpu_metric)
            add_samples(&c, cost);
    }
    ok = ok && scale_to_samples(&c);
    if (ok) {
        take_out(&c);
        add_sleeps(&c);
        ok = find_doubt(&c);
    }
    release_correction(&c);
    return ok ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}
