/* Takes the measuring itself out of own times.
 *
 * An exact pair reads the clock first thing in its entry and in its exit. What it costs between
 * the two falls into the construct's own time, the rest into that of the nearest timed construct
 * above; the runtime measures both parts at start (pm_run.h, exact_pair_ps and exact_inner_ps).
 * What is followed without times, or counted, costs that construct above all of its pairs. So
 * the own time of a context holds about
 *
 *     n_calls x inner + (sum over the timed contexts next below of n_calls) x (pair - inner) +
 *     (pairs without times between) x their cost
 *
 * which is an estimate: the parts are those of an idle machine, and a processor overlaps a pair
 * with the work around it. The samples of the same run make it better:
 *
 *  - Samples in trampolines measure the same sum: each knows its sled's noun and on which side
 *    of the clock read it is, so it lies below the context whose time holds it. They are too
 *    many, for a processor does work of the program while it reads the clock: of a function of 3
 *    to 13 ns all of it, on an EPYC, where its samples say next to nothing and its time is 10 ns
 *    a call whatever it does. The estimates are too few where pairs follow each other closely.
 *    So the geometric mean of the two is taken, by construct, and by the whole run where a
 *    construct has few samples (PRIOR_SAMPLES). What samples have above 1.25 times the estimate
 *    is cost for certain: a chain of calls that became jumps is estimated at a quarter of what
 *    it takes. docs/modes.md has what came of it. Neither is good to more than 30 %: such rows
 *    are marked (pm_view_is_uncertain, pm_view_is_doubtful).
 *  - Samples that met a construct's own code are time that it took for certain, so no more is
 *    taken from it than leaves that. (gzip on a busy machine: the sum of the errors of all
 *    functions' shares fell from 13.2 to 10.7 points.)
 *
 * While others have the CPU the clock runs on. The kernel says when, and that is taken out first
 * (take_out_preempted): of the same programs, preempted for two thirds of their wall time, A and
 * C were then within 3 % of the times that they take alone.
 *
 * Who comes back within a trampoline, between its clock read and the change of the context, has
 * that preemption noted at one side of the read and its time in the other. Where much of the time
 * is measuring, a construct may so get more preempted time than it has time. What is more than
 * its time, less what samples say that it took, is the time of its neighbours: of what called it,
 * then of what it called. How much of it went the other way nobody knows, so all of it is doubt.
 *
 * A processor begins what stands behind a clock read before what stands before it is done. So of
 * each call, work of up to about the inner part goes to the other side: of a chain of 20
 * multiplications (15 ns) 8 ns, of one of 80 (60 ns) 12 ns, on a Zen 5. That leaves the sum as it
 * is, and is doubt of the callee and of its caller (hidden_ns).
 *
 * Where times and samples differ much, a warning says so. Nothing is taken below zero, and what
 * is taken is summed up and shown.
 */
#include "view.h"

#include "mapping/run/probe_cost.h"

#include <math.h>
#include <stdlib.h>

enum { PRIOR_SAMPLES = 16 }; /* so many of a noun count as much as all others' together */

/* By context. */
struct correction {
    struct pm_view *view;
    bool *is_timed;
    /* the timed context whose own time holds that of this one; itself: it is timed */
    pm_index *owner;
    pm_index *above;         /* that which holds what begins and ends it; PM_NONE: a root */
    double *added_ns;        /* estimated, in its own time */
    double *probed_ns;       /* by samples, in its own time */
    double *sampled_ns;      /* in its own code */
    double *own_ns;          /* what is left of its time */
    double *doubt;           /* what is taken out may be wrong by this part of it */
    double *hidden_ns;       /* work that may be on the other side of a clock read: its own */
    double *misplaced_ns;    /* preempted time that was noted here or there, by samples */
    double *asleep_ns;       /* the part of it that samples of CPU time cannot meet */
    int64_t *given, *before; /* what was taken, and of how much, up to now */
};

/* What is taken out is off by a part of it, and by as much as samples are less than the
 * estimate. */
static double part_of_doubt(double ratio)
{
    const double least = 0.3;
    double part = ratio < 1 ? 1 / ratio - 1 : 0;
    return part > least ? part : least;
}

static bool make_correction(struct correction *c)
{
    const struct pm_archive_data *data = c->view->data;
    uint32_t n = data->graph->n_contexts;
    c->is_timed = pm_alloc_array(n, sizeof *c->is_timed);
    c->owner = pm_alloc_array(n, sizeof *c->owner);
    c->above = pm_alloc_array(n, sizeof *c->above);
    c->added_ns = pm_alloc_array(n, sizeof *c->added_ns);
    c->probed_ns = pm_alloc_array(n, sizeof *c->probed_ns);
    c->sampled_ns = pm_alloc_array(n, sizeof *c->sampled_ns);
    c->own_ns = pm_alloc_array(n, sizeof *c->own_ns);
    c->hidden_ns = pm_alloc_array(n, sizeof *c->hidden_ns);
    c->misplaced_ns = pm_alloc_array(n, sizeof *c->misplaced_ns);
    c->asleep_ns = pm_alloc_array(n, sizeof *c->asleep_ns);
    c->doubt = pm_alloc_array(n, sizeof *c->doubt);
    c->given = pm_alloc_array(n, sizeof *c->given);
    c->before = pm_alloc_array(n, sizeof *c->before);
    for (pm_index i = 0; c->doubt && i < n; i++)
        c->doubt[i] = part_of_doubt(1);
    return c->is_timed && c->owner && c->above && c->added_ns && c->probed_ns && c->sampled_ns &&
           c->own_ns && c->hidden_ns && c->misplaced_ns && c->asleep_ns && c->doubt && c->given &&
           c->before;
}

static void release_correction(struct correction *c)
{
    free(c->is_timed);
    free(c->owner);
    free(c->above);
    free(c->added_ns);
    free(c->probed_ns);
    free(c->sampled_ns);
    free(c->own_ns);
    free(c->hidden_ns);
    free(c->misplaced_ns);
    free(c->asleep_ns);
    free(c->doubt);
    free(c->given);
    free(c->before);
}

/* A sentence that the program entered itself, or an adapter did, at level Base with verbs of its
 * own: its own time is in a context of the code around it, within it, or in that itself. */
static bool is_spoken(const struct pm_graph *graph, pm_index context)
{
    pm_index sentence = graph->contexts[context].sentence;
    const char *level = graph->levels[pm_graph_sentence_level(graph, sentence)].name;
    const char *verb = graph->verbs[graph->sentences[sentence].verb].name;
    return graph->contexts[context].parent != PM_NONE &&
           (strcmp(level, "Base") != 0 || strcmp(verb, "Executes") != 0);
}

/* Contexts that samples or inlining made, calls without callers and what was not timed have no
 * times. */
static bool is_timed(const struct pm_view *view, pm_index i)
{
    enum {
        WITHOUT = PM_CONTEXT_FOLDED | PM_CONTEXT_SAMPLED | PM_CONTEXT_INLINED | PM_CONTEXT_COUNTED
    };
    const struct pm_graph *graph = view->data->graph;
    const struct pm_context *context = &graph->contexts[i];
    pm_index noun = pm_graph_first_noun(graph, context->sentence);
    return context->parent == PM_NONE ||
           (!(context->flags & WITHOUT) && !is_spoken(graph, i) && noun != PM_NONE &&
            !view->is_untimed[noun] && !pm_view_noun_is_machine_code(view, noun));
}

/* A sentence's own time is in a context of the code around it, within it: that has the noun of
 * what it was entered in. */
static bool is_inside(const struct pm_graph *graph, pm_index spoken, pm_index i, pm_index around)
{
    return graph->contexts[i].parent == spoken && around != PM_NONE &&
           pm_graph_first_noun(graph, graph->contexts[i].sentence) ==
               pm_graph_first_noun(graph, graph->contexts[around].sentence);
}

/* The timed context whose own time holds that of each; itself: it is timed. Parents come first. */
static void find_owners(const struct pm_view *view, pm_index *owner)
{
    const struct pm_graph *graph = view->data->graph;
    for (pm_index i = 0; i < graph->n_contexts; i++) {
        pm_index parent = graph->contexts[i].parent;
        owner[i] = is_timed(view, i) ? i : owner[parent];
        bool below_spoken = parent != PM_NONE && is_spoken(graph, parent);
        if (owner[i] == i && below_spoken && is_inside(graph, parent, i, owner[parent]))
            owner[parent] = i;
    }
    for (pm_index i = 0; i < graph->n_contexts; i++) /* others may stand before that one */
        if (!is_timed(view, i) && !is_spoken(graph, i))
            owner[i] = owner[graph->contexts[i].parent];
}

/* Where functions and loops have times, a wait is a part of the time of the innermost one that
 * was timed. Its own place is for finer views. */
enum pm_status pm_view_place_waits(struct pm_view *view, struct pm_error *err)
{
    static const char *const names[] = {"waiting_ns", "preempted_ns", "off_cpu_ns"};
    if (view->wall_metric == PM_NONE || view->time_metric != view->wall_metric)
        return PM_OK;
    struct pm_graph *graph = view->data->graph;
    pm_index *owner = pm_alloc_array(graph->n_contexts, sizeof *owner);
    if (owner == NULL)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    find_owners(view, owner);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        pm_index metric = pm_graph_find_metric(graph, names[k]);
        for (uint32_t i = 0; metric != PM_NONE && i < graph->n_costs; i++)
            if (graph->costs[i].metric == metric)
                graph->costs[i].context = owner[graph->costs[i].context];
    }
    view->wait_of = owner;
    return PM_OK;
}

static void find_timed(struct correction *c)
{
    const struct pm_view *view = c->view;
    const struct pm_graph *graph = view->data->graph;
    find_owners(view, c->owner);
    for (pm_index i = 0; i < graph->n_contexts; i++) {
        pm_index parent = graph->contexts[i].parent;
        c->is_timed[i] = is_timed(view, i);
        c->above[i] = parent == PM_NONE       ? PM_NONE
                      : c->owner[parent] == i ? c->above[parent] /* it is what is inside */
                                              : c->owner[parent];
    }
}

/* A time of a context on a thread, how long others had that thread's CPU meanwhile, or samples of
 * its own code. */
struct interval_cost {
    pm_index context; /* the innermost timed one */
    pm_index thread;
    enum { INTERVAL_SAMPLED, INTERVAL_PREEMPTED, INTERVAL_TIME } kind;
    struct pm_cost *cost;
};

/* What a context has of them on a thread. */
struct interval_place {
    struct interval_cost *first;
    uint32_t n;
    int64_t room_ns; /* time that may be taken: samples did not find it here */
    int64_t left_ns; /* preempted, and not taken yet */
};

/* Those of a context and thread lie together. */
static int by_place(const void *left, const void *right)
{
    const struct interval_cost *a = left, *b = right;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (int)a->kind - (int)b->kind;
}

/* PerfMap's own samples are in nobody's code, and in the times of what they are below. */
static bool is_our_code(const struct pm_view *view, pm_index context)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, graph->contexts[context].sentence);
    return noun != PM_NONE && pm_view_noun_is(view, noun, "perfmap");
}

static uint32_t find_interval_costs(const struct correction *c, struct interval_cost *ret_costs)
{
    const struct pm_view *view = c->view;
    struct pm_graph *graph = view->data->graph;
    pm_index preempted = pm_graph_find_metric(graph, "preempted_ns");
    uint32_t n = 0;
    for (uint32_t i = 0; preempted != PM_NONE && i < graph->n_costs; i++) {
        struct pm_cost *cost = &graph->costs[i];
        bool is_time = cost->metric == view->wall_metric;
        bool is_sample = cost->metric == view->cpu_metric && !is_our_code(view, cost->context);
        if (cost->value <= 0 || (!is_time && !is_sample && cost->metric != preempted))
            continue;
        struct interval_cost *item = &ret_costs[n++];
        *item =
            (struct interval_cost){c->owner[cost->context], cost->thread, INTERVAL_PREEMPTED, cost};
        if (is_time)
            *item = (struct interval_cost){cost->context, cost->thread, INTERVAL_TIME, cost};
        else if (is_sample)
            item->kind = INTERVAL_SAMPLED;
    }
    qsort(ret_costs, n, sizeof *ret_costs, by_place);
    return n;
}

/* What threads' clocks counted neither as CPU time nor as off the CPU, at least: the host had
 * the processor (steal), or interrupts had. */
static int64_t stolen_ns(const struct pm_view *view)
{
    const struct pm_archive_data *data = view->data;
    const struct pm_graph *graph = data->graph;
    const pm_index accounted[] = {view->cpu_metric, pm_graph_find_metric(graph, "preempted_ns"),
                                  pm_graph_find_metric(graph, "waiting_ns"),
                                  pm_graph_find_metric(graph, "off_cpu_ns")};
    for (uint32_t i = 0; i < data->n_samplings; i++)
        if (!data->samplings[i].has_switches || strcmp(data->samplings[i].source, "perf") != 0)
            return 0;
    int64_t stolen = 0;
    for (uint32_t i = 0; data->n_samplings && i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        stolen += cost->metric == view->wall_metric ? cost->value : 0;
        for (size_t k = 0; k < sizeof accounted / sizeof *accounted; k++)
            if (cost->metric == accounted[k])
                stolen -= cost->value;
    }
    return stolen > 0 ? stolen : 0;
}

static bool note_preempted(struct pm_view *view, const struct pm_cost *cost, int64_t taken_ns)
{
    uint32_t n = view->n_preempted;
    if ((n & (n - 1)) == 0) {
        struct pm_view_preempted *more =
            pm_realloc_array(view->preempted, n ? 2 * (size_t)n : 1, sizeof *more);
        if (!more)
            return false;
        view->preempted = more;
    }
    view->preempted[view->n_preempted++] =
        (struct pm_view_preempted){cost->thread, cost->context, taken_ns, 0};
    return true;
}

static int by_thread_and_context(const void *left, const void *right)
{
    const struct pm_view_preempted *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->context < b->context ? -1 : a->context > b->context;
}

/* What others had of a thread's CPU was not in what other threads did in the same construct. */
static bool may_be_taken(const struct interval_cost *item)
{
    return item->kind == INTERVAL_TIME && !item->cost->is_merged;
}

/* Out of the times of a place; what could be. */
static int64_t take_at(struct correction *c, struct interval_place *place, int64_t most, bool *ok)
{
    int64_t left = most < place->room_ns ? most : place->room_ns, all = left;
    for (uint32_t i = 0; i < place->n && left > 0 && *ok; i++) {
        struct pm_cost *cost = place->first[i].cost;
        if (!may_be_taken(&place->first[i]))
            continue;
        int64_t taken = left < cost->value ? left : cost->value;
        cost->value -= taken;
        left -= taken;
        *ok = taken == 0 || note_preempted(c->view, cost, taken);
    }
    place->room_ns -= all;
    c->view->preempted_out_ns += all;
    return all;
}

static struct interval_place make_place(struct interval_cost *first, uint32_t n)
{
    struct interval_place place = {.first = first, .n = n};
    int64_t sampled_ns = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t value = first[i].cost->value;
        sampled_ns += first[i].kind == INTERVAL_SAMPLED ? value : 0;
        place.left_ns += first[i].kind == INTERVAL_PREEMPTED ? value : 0;
        place.room_ns += may_be_taken(&first[i]) ? value : 0;
    }
    place.room_ns -= sampled_ns < place.room_ns ? sampled_ns : place.room_ns;
    return place;
}

/* Sorted, for costs are. */
static uint32_t make_places(struct interval_cost *costs, uint32_t n, struct interval_place *places)
{
    uint32_t n_places = 0, begin = 0;
    for (uint32_t i = 1; i <= n; i++) {
        if (i < n && costs[i].context == costs[begin].context &&
            costs[i].thread == costs[begin].thread)
            continue;
        places[n_places++] = make_place(&costs[begin], i - begin);
        begin = i;
    }
    return n_places;
}

static bool place_is_before(const void *item, const void *wanted)
{
    const struct interval_cost *a = ((const struct interval_place *)item)->first, *b = wanted;
    return a->context != b->context ? a->context < b->context : a->thread < b->thread;
}

/* NULL: the context has nothing on that thread. */
static struct interval_place *find_place(struct interval_place *places, uint32_t n,
                                         pm_index context, pm_index thread)
{
    struct interval_cost key = {.context = context, .thread = thread};
    size_t at =
        context == PM_NONE ? n : pm_lower_bound(places, n, sizeof *places, &key, place_is_before);
    bool is_there =
        at < n && places[at].first->context == context && places[at].first->thread == thread;
    return is_there ? &places[at] : NULL;
}

/* What is left at one place is taken at the other. */
static bool take_beside(struct correction *c, struct interval_place *at,
                        struct interval_place *other)
{
    bool ok = true;
    int64_t taken = take_at(c, other, at->left_ns, &ok);
    at->left_ns -= taken;
    c->view->misplaced_ns += taken;
    c->misplaced_ns[at->first->context] += (double)taken;
    c->misplaced_ns[other->first->context] += (double)taken;
    return ok;
}

/* above: at what called it, else at what it called. */
static bool take_misplaced(struct correction *c, struct interval_place *places, uint32_t n,
                           bool above)
{
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++) {
        pm_index up = c->above[places[i].first->context];
        struct interval_place *caller = find_place(places, n, up, places[i].first->thread);
        if (caller)
            ok = above ? take_beside(c, &places[i], caller) : take_beside(c, caller, &places[i]);
    }
    return ok;
}

static bool take_at_places(struct correction *c, struct interval_place *places, uint32_t n)
{
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++)
        places[i].left_ns -= take_at(c, &places[i], places[i].left_ns, &ok);
    ok = ok && take_misplaced(c, places, n, true) && take_misplaced(c, places, n, false);
    for (uint32_t i = 0; i < n; i++) /* of what has no place */
        c->misplaced_ns[places[i].first->context] += (double)places[i].left_ns;
    return ok;
}

/* While others had its CPU a construct took no time on that thread: what the kernel says of that
 * is a column of its own. */
static bool take_out_preempted(struct correction *c)
{
    struct pm_view *view = c->view;
    uint32_t n_costs = view->data->graph->n_costs;
    struct interval_cost *costs = pm_alloc_array(n_costs, sizeof *costs);
    struct interval_place *places = pm_alloc_array(n_costs, sizeof *places);
    bool ok = costs && places;
    if (ok) {
        uint32_t n = find_interval_costs(c, costs);
        ok = take_at_places(c, places, make_places(costs, n, places));
    }
    free(costs);
    free(places);
    if (view->n_preempted)
        qsort(view->preempted, view->n_preempted, sizeof *view->preempted, by_thread_and_context);
    return ok;
}

/* Of calls in one context on one thread, or on all of one program. */
static void add_calls(struct correction *c, const struct pm_cost *calls)
{
    const struct pm_archive_data *data = c->view->data;
    const struct pm_process *process = &data->processes[data->threads[calls->thread].process];
    const struct pm_context *context = &data->graph->contexts[calls->context];
    pm_index noun = pm_graph_first_noun(data->graph, context->sentence);
    double n_calls = (double)calls->value;
    double pair_ns = process->pair.exact_ps / 1e3, inner_ns = process->pair.inner_ps / 1e3;
    if (c->is_timed[calls->context]) {
        c->added_ns[calls->context] += n_calls * inner_ns;
        c->hidden_ns[calls->context] += n_calls * inner_ns;
        c->added_ns[c->above[calls->context]] += n_calls * (pair_ns - inner_ns);
        return;
    }
    bool timed_folded =
        context->flags & PM_CONTEXT_FOLDED && noun != PM_NONE && !c->view->is_untimed[noun];
    c->added_ns[c->above[calls->context]] +=
        n_calls * (timed_folded || is_spoken(data->graph, calls->context) ? pair_ns
                   : context->flags & PM_CONTEXT_COUNTED ? 0 /* nobody knows where */
                                                         : process->pair.active_ps / 1e3);
}

static void add_samples(struct correction *c, const struct pm_cost *cost)
{
    bool is_ours = is_our_code(c->view, cost->context);
    (is_ours ? c->probed_ns : c->sampled_ns)[c->owner[cost->context]] += (double)cost->value;
}

/* Waiting is no CPU time; off_cpu_ns may be either. */
static void add_sleeps(struct correction *c)
{
    const struct pm_graph *graph = c->view->data->graph;
    pm_index waiting = pm_graph_find_metric(graph, "waiting_ns"),
             off_cpu = pm_graph_find_metric(graph, "off_cpu_ns");
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric != PM_NONE && (cost->metric == waiting || cost->metric == off_cpu))
            c->asleep_ns[c->owner[cost->context]] += (double)cost->value;
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

/* Estimates brought half of the way to what samples found: of each noun, as far as it has
 * samples, else of all. Roots keep theirs: starting up is among their samples and before their
 * times. */
static bool scale_to_samples(struct correction *c)
{
    const struct pm_graph *graph = c->view->data->graph;
    double *added_ns = pm_alloc_array(graph->n_nouns, sizeof *added_ns);
    double *probed_ns = pm_alloc_array(graph->n_nouns, sizeof *probed_ns);
    double all_added_ns = 0, all_probed_ns = 0;
    double prior_ns = PRIOR_SAMPLES * period_ns(c->view->data);
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
    for (pm_index i = 0; ok && prior_ns > 0 && i < graph->n_contexts; i++) {
        if (!c->is_timed[i] || graph->contexts[i].parent == PM_NONE)
            continue;
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[i].sentence);
        double ratio =
            pm_probe_cost(added_ns[noun] + prior_ns, probed_ns[noun] + prior_ns * usual) /
            (added_ns[noun] + prior_ns);
        c->added_ns[i] *= ratio;
        c->doubt[i] = part_of_doubt(ratio);
    }
    free(added_ns);
    free(probed_ns);
    return ok;
}

/* Archives may say anything. */
static void add_up(int64_t *sum, int64_t n)
{
    if (__builtin_add_overflow(*sum, n, sum))
        *sum = INT64_MAX;
}

/* Of n ns in a context whose times are `timed_ns` in all. */
static int64_t part_taken(const struct pm_view *view, pm_index context, int64_t n)
{
    bool is_part = view->taken_of_all_ns;
    const int64_t *timed_ns = is_part ? view->timed_of_all_ns : view->timed_ns;
    const int64_t *taken_ns = is_part ? view->taken_of_all_ns : view->taken_ns;
    if (timed_ns[context] == 0)
        return 0;
    return (int64_t)((__int128)n * taken_ns[context] / timed_ns[context]);
}

/* In proportion, so that no thread pays for the others; the parts add up. taken, seen: of the
 * context, of the costs before this one. */
static void take_of(const struct pm_view *view, int64_t *taken, int64_t *seen, struct pm_cost *cost)
{
    pm_index at = cost->context;
    add_up(&seen[at], cost->value);
    int64_t more = part_taken(view, at, seen[at]) - taken[at];
    cost->value -= more;
    taken[at] += more;
}

static void take_of_each(const struct pm_view *view, int64_t *taken, int64_t *seen)
{
    struct pm_graph *graph = view->data->graph;
    for (uint32_t i = 0; i < graph->n_costs; i++)
        if (graph->costs[i].metric == view->wall_metric)
            take_of(view, taken, seen, &graph->costs[i]);
}

/* What may have gone from a callee to its caller, or back: doubt of both, not of the sum. Archives
 * may say anything: all of it together fits 64 bits. */
static void find_shifts(const struct correction *c)
{
    struct pm_view *view = c->view;
    uint32_t n = view->data->graph->n_contexts;
    double most = (double)(INT64_MAX / 4) / (n + 1.0);
    for (pm_index i = 0; i < n; i++) {
        view->boundary_ns[i] = llround(c->hidden_ns[i] < most ? c->hidden_ns[i] : most);
        view->timed_above[i] = c->above[i];
    }
}

static void take_out(struct correction *c)
{
    struct pm_view *view = c->view;
    struct pm_graph *graph = view->data->graph;
    for (uint32_t i = 0; i < graph->n_costs; i++)
        if (graph->costs[i].metric == view->wall_metric) {
            c->own_ns[graph->costs[i].context] += (double)graph->costs[i].value;
            add_up(&view->timed_ns[graph->costs[i].context], graph->costs[i].value);
        }
    for (pm_index i = graph->n_contexts; i-- > 0;) { /* children come after parents */
        double most = c->own_ns[i] - c->sampled_ns[i] - c->asleep_ns[i];
        most = most > 0 ? most : 0;
        bool has_above =
            graph->contexts[i].parent != PM_NONE && graph->contexts[c->above[i]].parent != PM_NONE;
        if (c->added_ns[i] > most && has_above)
            c->added_ns[c->above[i]] += c->added_ns[i] - most;
        c->added_ns[i] = c->added_ns[i] < most ? c->added_ns[i] : most;
        c->own_ns[i] -= c->added_ns[i];
        view->doubt_ns[i] = llround(c->added_ns[i] * c->doubt[i] + c->misplaced_ns[i]);
    }
    for (pm_index i = 0; i < graph->n_contexts; i++) {
        int64_t most = view->timed_ns[i], taken = (int64_t)c->added_ns[i];
        view->taken_ns[i] = taken < most ? taken : most;
        add_up(&view->taken_out_ns, view->taken_ns[i]);
    }
    take_of_each(view, c->given, c->before);
}

/* The code whose shares of times and of samples differ most. Roots are left out: their time is
 * not all in code. Samples that are only known to be in a thread (one that took less than a sample
 * has none) may be of any code: what could be right with them is no difference. */
static bool find_doubt(struct correction *c)
{
    const struct pm_graph *graph = c->view->data->graph;
    double *own_ns = pm_alloc_array(graph->n_nouns, sizeof *own_ns);
    double *sampled_ns = pm_alloc_array(graph->n_nouns, sizeof *sampled_ns);
    double all_own_ns = 0, all_sampled_ns = 0, most = 0, sample_ns = period_ns(c->view->data);
    double elsewhere_ns = 0;
    struct pm_view_doubt *doubt = &c->view->doubt;
    bool ok = own_ns && sampled_ns;
    for (pm_index i = 0; ok && i < graph->n_contexts; i++) {
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[i].sentence);
        elsewhere_ns += graph->contexts[i].parent == PM_NONE ? c->sampled_ns[i] : 0;
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
        double least = 100 * sampled_ns[n] / (all_sampled_ns + elsewhere_ns);
        double limit = least + 100 * elsewhere_ns / (all_sampled_ns + elsewhere_ns);
        bool may_be_equal = timed >= least && timed <= limit;
        if (may_be_equal || fabs(timed - sampled) <= most)
            continue;
        most = fabs(timed - sampled);
        *doubt = (struct pm_view_doubt){n, timed, sampled,
                                        sample_ns > 0 ? all_sampled_ns / sample_ns : 0};
    }
    free(own_ns);
    free(sampled_ns);
    return ok;
}

enum pm_status pm_view_compensate(struct pm_view *view, struct pm_error *err)
{
    struct correction c = {.view = view};
    view->doubt.noun = PM_NONE;
    if (view->options.no_compensation || view->wall_metric == PM_NONE ||
        view->calls_metric == PM_NONE)
        return PM_OK;
    const struct pm_graph *graph = view->data->graph;
    view->taken_ns = pm_alloc_array(graph->n_contexts, sizeof *view->taken_ns);
    view->doubt_ns = pm_alloc_array(graph->n_contexts, sizeof *view->doubt_ns);
    view->timed_ns = pm_alloc_array(graph->n_contexts, sizeof *view->timed_ns);
    view->timed_above = pm_alloc_array(graph->n_contexts, sizeof *view->timed_above);
    view->boundary_ns = pm_alloc_array(graph->n_contexts, sizeof *view->boundary_ns);
    bool ok = make_correction(&c) && view->taken_ns && view->doubt_ns && view->timed_ns &&
              view->timed_above && view->boundary_ns;
    if (ok) {
        find_timed(&c);
        view->stolen_ns = stolen_ns(view);
        ok = take_out_preempted(&c);
    }
    for (uint32_t i = 0; ok && i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric == view->calls_metric && graph->contexts[cost->context].parent != PM_NONE)
            add_calls(&c, cost);
        else if (cost->metric == view->cpu_metric)
            add_samples(&c, cost);
    }
    ok = ok && scale_to_samples(&c);
    if (ok) {
        add_sleeps(&c);
        take_out(&c);
        find_shifts(&c);
        ok = find_doubt(&c);
    }
    release_correction(&c);
    return ok ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- costs of each thread --- */

struct rereading {
    struct pm_view *view;
    pm_index waiting, preempted, off_cpu;
    int64_t *taken, *seen;  /* per context, with view->taken_ns */
    const bool *threads_in; /* whose costs are visited; NULL: all */
    pm_cost_visitor visit;
    void *context;
};

static bool is_before(const void *item, const void *wanted)
{
    return by_thread_and_context(item, wanted) < 0;
}

/* Several contexts of the file may be one here. */
static void take_preempted(struct pm_view *view, struct pm_cost *cost)
{
    struct pm_view_preempted key = {cost->thread, cost->context, 0, 0};
    size_t at = pm_lower_bound(view->preempted, view->n_preempted, sizeof key, &key, is_before);
    for (; at < view->n_preempted; at++) {
        struct pm_view_preempted *item = &view->preempted[at];
        if (item->thread != key.thread || item->context != key.context)
            return;
        int64_t taken = item->left_ns < cost->value ? item->left_ns : cost->value;
        cost->value -= taken;
        item->left_ns -= taken;
    }
}

static bool adjust(void *context, const struct pm_cost *raw)
{
    struct rereading *r = context;
    struct pm_view *view = r->view;
    struct pm_cost cost = *raw;
    bool waits =
        cost.metric == r->waiting || cost.metric == r->preempted || cost.metric == r->off_cpu;
    if (waits && view->wait_of)
        cost.context = view->wait_of[cost.context];
    if (cost.metric == view->wall_metric && view->taken_ns) {
        take_preempted(view, &cost);
        take_of(view, r->taken, r->seen, &cost);
    }
    if (r->threads_in && !r->threads_in[cost.thread])
        return true;
    return r->visit(r->context, &cost);
}

enum pm_status pm_view_each_cost(struct pm_view *view, const bool *threads_in,
                                 pm_cost_visitor visit, void *context, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    struct rereading r = {.view = view,
                          .waiting = pm_graph_find_metric(graph, "waiting_ns"),
                          .preempted = pm_graph_find_metric(graph, "preempted_ns"),
                          .off_cpu = pm_graph_find_metric(graph, "off_cpu_ns"),
                          .threads_in = threads_in,
                          .visit = visit,
                          .context = context};
    for (uint32_t i = 0; i < view->n_preempted; i++)
        view->preempted[i].left_ns = view->preempted[i].taken_ns;
    if (!view->taken_ns)
        return pm_archive_each_cost(view->data, threads_in, adjust, &r, err);
    r.taken = pm_alloc_array(graph->n_contexts, sizeof *r.taken);
    r.seen = pm_alloc_array(graph->n_contexts, sizeof *r.seen);
    enum pm_status status = r.taken && r.seen
                                ? pm_archive_each_cost(view->data, NULL, adjust, &r, err)
                                : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    free(r.taken);
    free(r.seen);
    return status;
}
