/* What a report says about the run itself, and its warnings: what was seen, what it may mean, which
 * option helps. */
#include "groupings.h"

#include "format/pm_run.h"

#include <math.h>
#include <stdlib.h>

static int64_t add_known(int64_t sum, int64_t value)
{
    int64_t both;
    if (value == PM_UNKNOWN || sum == PM_UNKNOWN)
        return value == PM_UNKNOWN ? sum : value;
    return __builtin_add_overflow(sum, value, &both) ? sum : both;
}

/* Wall time of all threads, added up: their roots have it in mode count, too. */
static double wall_of_threads(const struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index metric = pm_graph_find_metric(graph, "wall_ns");
    double sum = 0;
    if (view->runs_in && metric != PM_NONE)
        return view->all_values[metric];
    for (uint32_t i = 0; i < graph->n_costs; i++)
        if (graph->costs[i].metric == metric)
            sum += (double)graph->costs[i].value;
    return sum;
}

/* Of the CPU time that the program would have taken without the measurement. */
static void find_slow_down(struct pm_view_facts *facts)
{
    facts->slow_down_pct = facts->events_pct = facts->samples_pct = facts->fixed_pct = NAN;
    if (facts->user_cpu_ns == PM_UNKNOWN || facts->system_cpu_ns == PM_UNKNOWN ||
        facts->added_ns == PM_UNKNOWN)
        return;
    double own_ns =
        (double)facts->user_cpu_ns + (double)facts->system_cpu_ns - (double)facts->added_ns;
    if (own_ns <= 0)
        return;
    facts->slow_down_pct = 100 * (double)facts->added_ns / own_ns;
    if (facts->events_ns != PM_UNKNOWN)
        facts->events_pct = 100 * (double)facts->events_ns / own_ns;
    if (facts->fixed_ns != PM_UNKNOWN)
        facts->fixed_pct = 100 * (double)facts->fixed_ns / own_ns;
    if (facts->samples_ns != PM_UNKNOWN)
        facts->samples_pct = 100 * (double)facts->samples_ns / own_ns;
}

struct pm_view_facts pm_view_facts(const struct pm_view *view)
{
    const struct pm_archive_data *data = view->data;
    struct pm_view_facts facts = {
        .wall_ns = PM_UNKNOWN,
        .user_cpu_ns = PM_UNKNOWN,
        .system_cpu_ns = PM_UNKNOWN,
        .added_ns = PM_UNKNOWN,
        .events_ns = PM_UNKNOWN,
        .samples_ns = PM_UNKNOWN,
        .starts_ns = PM_UNKNOWN,
        .fixed_ns = PM_UNKNOWN,
        .budget_ppm = PM_UNKNOWN,
        .exit_status = data->executions[0].exit_status,
        .exit_signal = data->executions[0].exit_signal,
        .mode = data->executions[0].mode,
    };
    for (uint32_t i = 0; i < data->n_executions; i++) {
        facts.wall_ns = add_known(facts.wall_ns, data->executions[i].wall_ns);
        facts.starts_ns = add_known(facts.starts_ns, data->executions[i].starts_ns);
        facts.fixed_ns = add_known(facts.fixed_ns, data->executions[i].fixed_ns);
        facts.events_by_samples |= data->executions[i].events_by_samples;
        facts.is_at_most |= data->executions[i].events_at_most;
        facts.user_cpu_ns = add_known(facts.user_cpu_ns, data->executions[i].user_cpu_ns);
        facts.system_cpu_ns = add_known(facts.system_cpu_ns, data->executions[i].system_cpu_ns);
    }
    for (uint32_t i = 0; i < data->n_processes; i++) {
        const struct pm_process *process = &data->processes[i];
        facts.n_processes += process->pid != 0; /* 0: what was not sampled */
        facts.added_ns = add_known(facts.added_ns, process->added_ns);
        facts.events_ns = add_known(facts.events_ns, process->events_ns);
        facts.samples_ns = add_known(facts.samples_ns, process->samples_ns);
        if (process->budget_ppm != PM_UNKNOWN && process->budget_ppm > facts.budget_ppm)
            facts.budget_ppm = process->budget_ppm;
    }
    for (uint32_t i = 0; i < data->n_threads; i++)
        if (data->processes[data->threads[i].process].pid != 0)
            facts.n_threads +=
                data->threads[i].n_threads > 0 ? (uint64_t)data->threads[i].n_threads : 1;
    for (uint32_t i = 0; i < data->n_samplings; i++) {
        facts.n_samples += data->samplings[i].n_samples > 0 ? data->samplings[i].n_samples : 0;
        facts.n_lost_samples += data->samplings[i].n_lost > 0 ? data->samplings[i].n_lost : 0;
    }
    facts.n_disarmed_nouns = pm_view_n_nouns_in(view, PM_RUN_MODE_OFF, false);
    facts.n_counted_nouns = pm_view_n_nouns_in(view, PM_RUN_MODE_COUNT, false);
    find_slow_down(&facts);
    double threads_ns = wall_of_threads(view) + (double)view->taken_out_ns;
    if (facts.added_ns != PM_UNKNOWN && threads_ns > 0)
        facts.added_pct = 100 * (double)facts.added_ns / threads_ns;
    return facts;
}

/* --- warnings --- */

struct warner {
    struct pm_view *view;
    bool failed;
};

static void warn(struct warner *warner, const char *format, ...) PM_PRINTF(2, 3);
static void warn(struct warner *warner, const char *format, ...)
{
    struct pm_view *view = warner->view;
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(&text, format, args);
    va_end(args);
    const char *printable = text.data ? pm_text_printable(&view->arena, text.data) : NULL;
    char **grown =
        printable ? pm_realloc_array(view->warnings, (size_t)view->n_warnings + 1, sizeof *grown)
                  : NULL;
    if (grown) {
        view->warnings = grown;
        grown[view->n_warnings] = pm_strndup(printable, strlen(printable));
    }
    if (grown && grown[view->n_warnings])
        view->n_warnings++;
    else
        warner->failed = true;
    pm_buf_release(&text);
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static void warn_of_ends(struct warner *warner)
{
    const struct pm_archive_data *data = warner->view->data;
    uint32_t n = 0;
    int64_t pid = 0;
    for (uint32_t i = 0; i < data->n_processes; i++)
        if (!strcmp(data->processes[i].end_kind, "killed")) {
            pid = data->processes[i].pid;
            n++;
        }
    if (n == 1)
        warn(warner,
             "process %lld was killed or crashed, or still runs: its calls and times end at its "
             "last recorded event",
             (long long)pid);
    else if (n)
        warn(warner,
             "%u processes were killed or crashed, or still run: their calls and times end at "
             "their last recorded events",
             n);
}

static bool has_next_image(const struct pm_archive_data *data, const struct pm_process *process)
{
    for (uint32_t i = 0; i < data->n_processes; i++)
        if (data->processes[i].pid == process->pid &&
            data->processes[i].image == process->image + 1)
            return true;
    return false;
}

/* Where samples are taken, every program that the runtime is loaded into leaves a run file. */
static void warn_of_execs(struct warner *warner)
{
    const struct pm_archive_data *data = warner->view->data;
    const struct pm_process *first = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < data->n_samplings; i++) {
        const struct pm_process *process = &data->processes[data->samplings[i].process];
        if (strcmp(process->end_kind, "exec") != 0 || has_next_image(data, process))
            continue;
        first = n++ == 0 ? process : first;
    }
    if (n != 0)
        warn(
            warner,
            "what %u program%s did is missing: the runtime could not be loaded (statically linked, "
            "no LD_PRELOAD), or could not write to the run folder (another user or root folder); "
            "the first was executed by '%s'",
            n, plural(n), first->argv);
}

static void warn_of_binaries(struct warner *warner)
{
    const struct pm_archive_data *data = warner->view->data;
    for (uint32_t i = 0; i < data->n_binaries; i++) {
        const struct pm_binary *b = &data->binaries[i];
        if (!strcmp(b->pif_state, "changed"))
            warn(warner,
                 "'%s' has changed since it ran, so its constructs are unmapped: collect before "
                 "you build again",
                 b->path);
        else if (!strcmp(b->pif_state, "damaged"))
            warn(warner,
                 "the compiler's facts in '%s' are damaged, so constructs may be unmapped: compile "
                 "it again",
                 b->path);
        else if (!strcmp(b->pif_state, "missing") &&
                 b->n_sleds > 0) /* libraries that were only sampled have none */
            warn(warner,
                 "'%s' has no facts from the compiler, or was missing when the run was collected, "
                 "so its constructs are unmapped: compile it with the plugin",
                 b->path);
        if (!strcmp(b->map_state, "damaged"))
            warn(warner,
                 "the map from machine code to the source in '%s' is damaged, so part of its code "
                 "is shown by function and loop only: compile it again",
                 b->path);
        /* Above machine code the cost of a library is that of who called it. */
        if (*b->debug_problem && !strcmp(warner->view->level_name, "Base"))
            warn(warner, "debug information of '%s': %s", b->path, b->debug_problem);
        if (b->n_bad_sleds > 0)
            warn(warner,
                 "'%s' has %lld damaged sled%s, which were not armed, so their calls are missing: "
                 "compile it again",
                 b->path, (long long)b->n_bad_sleds, plural(b->n_bad_sleds));
    }
}

/* The same text of many processes is said once. */
static void warn_of_messages(struct warner *warner)
{
    const struct pm_archive_data *data = warner->view->data;
    for (uint32_t i = 0; i < data->n_messages; i++) {
        uint32_t first = 0, n = 0;
        for (uint32_t k = 0; k < data->n_messages && n < 2; k++)
            if (data->messages[k].text == data->messages[i].text &&
                data->messages[k].code == data->messages[i].code) {
                first = n++ ? first : k;
            }
        if (first != i)
            continue;
        const char *text = data->messages[i].text;
        if (data->messages[i].code == PM_RUN_MSG_OBJECT_WITHOUT_SLEDS)
            warn(warner,
                 "'%s' was compiled with the plugin but has no sleds, so its calls are not "
                 "measured: with -flto, give -fplugin=$(perfmap plugin-path) to the link too",
                 text);
        else if (data->messages[i].code != PM_RUN_MSG_BAD_SLEDS) /* binaries say that */
            warn(warner, "%s", text);
    }
}

static void warn_of_losses(struct warner *warner)
{
    const struct pm_view *view = warner->view;
    int64_t n_unmatched = 0;
    for (uint32_t i = 0; i < view->data->n_processes; i++)
        n_unmatched = add_known(n_unmatched, view->data->processes[i].n_unmatched);
    if (view->n_folded_contexts)
        warn(warner,
             "%lld call%s found no room for a call path of their own and %s counted at the nearest "
             "caller that has one, with their time: 'perfmap run --max-contexts' and '--max-depth' "
             "make room",
             (long long)view->n_folded_calls, plural(view->n_folded_calls),
             view->n_folded_calls == 1 ? "is" : "are");
    if (view->n_lost_events)
        warn(
            warner,
            "%lld event%s (entries and exits of code) %s lost at a limit (file size, disk, memory, "
            "rights), so each number is at least what is shown, and whole threads or children may "
            "be missing: raise the limit (ulimit -a) and run again",
            (long long)view->n_lost_events, plural(view->n_lost_events),
            view->n_lost_events == 1 ? "was" : "were");
    if (n_unmatched > 0)
        warn(warner,
             "%lld exit%s came without an entry, because code was left in ways that cannot be "
             "followed: their time counts for the caller",
             (long long)n_unmatched, plural(n_unmatched));
}

enum { LITTLE_UNMAPPED_PCT = 1 }; /* the dynamic linker and the like; rows are marked anyway */

static void warn_of_unmapped(struct warner *warner)
{
    const struct pm_view *view = warner->view;
    double total = pm_view_primary(view, &view->total);
    if (view->unmapped_value == 0 || total == 0)
        return;
    double share_pct = 100 * (double)view->unmapped_value / total;
    if (share_pct < LITTLE_UNMAPPED_PCT)
        return;
    warn(warner,
         "%.1f %% of %s is in code that is not explained at %s level: the rows marked [unmapped] "
         "name it",
         share_pct,
         view->n_metrics
             ? view->metrics[view->primary] == view->time_metric ? "the time" : "the cost"
             : "the calls",
         view->level_name);
}

/* A function that was inlined, and said or called what is not below it. Of code without the plugin
 * it is not known what it called, inlined or not. */
static bool has_inlined(const struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t i = 0; i < graph->n_mappings; i++) {
        pm_index to = pm_graph_first_noun(graph, graph->mappings[i].destination);
        if (to != PM_NONE && view->data->bare[to] & PM_BARE_LACKS &&
            pm_view_noun_is(view, to, "function") && !strcmp(graph->mappings[i].origin, "compiler"))
            return true;
    }
    return false;
}

/* Of what no sample has a part in, what is known by function or loop only. */
static double share_by_function(const struct pm_view *view, pm_index metric)
{
    const struct pm_graph *graph = view->data->graph;
    double all = 0, by_function = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[cost->context].sentence);
        if (cost->metric != metric)
            continue;
        all += (double)cost->value;
        bool is = noun != PM_NONE && (pm_view_noun_is(view, noun, "symbol") ||
                                      pm_view_noun_is(view, noun, "loopcode"));
        by_function += is ? (double)cost->value : 0;
    }
    return all > 0 ? by_function / all : 0;
}

/* What libc's FILEs write is said within libc, and a function may be off. */
static void warn_of_functions(struct warner *warner)
{
    const struct pm_view *view = warner->view;
    pm_index metric = view->n_metrics ? view->metrics[view->primary] : PM_NONE;
    const struct pm_view_grouping *by = pm_view_grouping(view);
    if (metric == PM_NONE || metric == view->cpu_metric || metric == view->wall_metric ||
        metric == view->samples_metric || pm_view_is_counted(view, view->primary) ||
        !pm_view_is_at_source(view) || !by->is_fine)
        return;
    double share = share_by_function(view, metric);
    if (share == 0)
        return;
    const char *row = by->is_object ? by->no_object : "the function";
    warn(warner, "%.3g %% of %s is known by function only: %s has it, whatever it is of",
         100 * share, view->data->graph->metrics[metric].name, row);
}

/* Samples are at the innermost code, and times of calls at what was timed around it. */
static void warn_of_other_parts(struct warner *warner)
{
    const struct pm_view *view = warner->view;
    if (!view->options.over_time || !view->n_metrics ||
        view->metrics[view->primary] != view->wall_metric ||
        view->over_time.metric != view->cpu_metric)
        return;
    warn(warner,
         "the time of calls has no parts: 'over time' is of CPU time by samples, which is at "
         "rows of its own ('--metric cpu_ns' shows them)");
}

/* Samples know which inlined function their code is of; what is said is said in a context. */
static void warn_of_inlined(struct warner *warner)
{
    const struct pm_view *view = warner->view;
    pm_index metric = view->n_metrics ? view->metrics[view->primary] : PM_NONE;
    if (metric == PM_NONE || view->is_placed[metric] || metric == view->wall_metric ||
        metric == view->samples_metric || !view->has_words || !pm_view_is_at_source(view) ||
        !has_inlined(view))
        return;
    warn(warner,
         "%s of functions that were inlined counts for the function around: compile with "
         "-fno-inline to tell them apart",
         view->data->graph->metrics[metric].name);
}

/* CPU time that no sample stands for is a row, but not of wall times or calls. */
static void warn_of_unmeasured(struct warner *warner)
{
    enum { LEAST_NS = 20000000, LEAST_PCT = 5 };
    const struct pm_view *view = warner->view;
    const struct pm_archive_data *data = view->data;
    const struct pm_graph *graph = data->graph;
    double all_ns = 0, rest_ns = 0;
    if (view->cpu_metric == PM_NONE ||
        (view->n_metrics && view->metrics[view->primary] == view->cpu_metric))
        return;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric != view->cpu_metric || cost->thread >= data->n_threads)
            continue;
        all_ns += (double)cost->value;
        if (data->processes[data->threads[cost->thread].process].pid == 0)
            rest_ns += (double)cost->value;
    }
    if (rest_ns >= LEAST_NS && rest_ns >= all_ns * LEAST_PCT / 100)
        warn(warner,
             "%.1f ms of %.1f ms CPU time were not sampled (ends of processes, and processes that "
             "the runtime cannot be loaded into): calls and times below may be without them",
             rest_ns / 1e6, all_ns / 1e6);
}

/* One warning says why: when binaries were compiled with the plugin and linked without, theirs does
 * (warn_of_messages). */
static void warn_of_nothing_measured(struct warner *warner)
{
    const struct pm_archive_data *data = warner->view->data;
    if (!warner->view->measured_nothing)
        return;
    for (uint32_t i = 0; i < data->n_messages; i++)
        if (data->messages[i].code == PM_RUN_MSG_OBJECT_WITHOUT_SLEDS)
            return;
    if (data->n_executions && !strcmp(data->executions[0].mode, "off"))
        warn(warner, "the run had mode off, so only whole processes were measured: run it again "
                     "without --mode off");
    else
        warn(warner, "no instrumented code ran: compile the program with -fplugin=$(perfmap "
                     "plugin-path) and run it again");
}

/* Binaries, and none of them with facts. */
static bool lacks_facts(const struct pm_archive_data *data)
{
    bool has_binary = false;
    for (uint32_t i = 0; i < data->n_binaries; i++) {
        if (!strcmp(data->binaries[i].pif_state, "read"))
            return false;
        has_binary |= data->binaries[i].path[0] == '/';
    }
    return has_binary;
}

/* The first process that was not sampled as asked says it for all of its kind. */
static void warn_of_sampling(struct warner *warner)
{
    const struct pm_view *view = warner->view;
    const struct pm_archive_data *data = view->data;
    bool told = false;
    for (uint32_t i = 0; i < data->n_samplings; i++) {
        const struct pm_sampling *s = &data->samplings[i];
        if (!strcmp(s->source, "none")) {
            told = true;
            warn(warner, "no samples were taken%s%s, so statements and arrays have no times",
                 *s->problem ? ": " : "", s->problem);
            break;
        }
        if (strcmp(s->source, "perf") != 0) {
            warn(warner,
                 "sampled by timers, not by perf events%s%s, so waiting times and the kernel's "
                 "part are not known, and what runs at the kernel's ticks (handlers of the "
                 "program's own timers) is found too seldom, or never: 'perfmap doctor' says what "
                 "would help",
                 *s->problem ? ": " : "", s->problem);
            break;
        }
    }
    struct pm_view_facts facts = pm_view_facts(view);
    if (facts.n_lost_samples > 0 && facts.n_lost_samples >= facts.n_samples / 100)
        warn(warner,
             "%lld of %lld samples were lost, so shares are of the others: a lower --rate of "
             "'perfmap run' loses fewer",
             (long long)facts.n_lost_samples, (long long)(facts.n_lost_samples + facts.n_samples));
    const char *needing = pm_view_grouping(view)->needs_samples;
    bool times = view->n_metrics == 0 || view->metrics[view->primary] == view->time_metric;
    if (!told && view->cpu_metric == PM_NONE && times && needing)
        warn(warner,
             "without samples only functions and loops have costs, not %s; 'perfmap run' takes "
             "samples unless "
             "--rate 0 is given",
             needing);
    bool is_import = pm_view_is_import(view);
    if (view->only_samples && is_import && lacks_facts(data))
        warn(warner, "the profile's program is known by names, debug information and symbols: "
                     "compiled with -fplugin=$(perfmap plugin-path) it has statements and arrays");
    else if (view->only_samples && !is_import)
        warn(warner, "no instrumented code ran, so everything is from samples and debug "
                     "information: compile the program with -fplugin=$(perfmap plugin-path) for "
                     "statements, arrays and calls");
}

enum { MUCH_ADDED_PCT = 30, NEARLY_ALL_PCT = 95 };

/* The estimate is of an idle machine; where measuring is most of the time, what is left is as
 * uncertain as it. */
static void warn_of_added(struct warner *warner)
{
    struct pm_view_facts facts = pm_view_facts(warner->view);
    double events_pct = facts.added_pct;
    if (facts.added_ns > 0 && facts.starts_ns > 0 && facts.starts_ns <= facts.added_ns)
        events_pct *= 1 - (double)facts.starts_ns / (double)facts.added_ns; /* they are no calls */
    if (warner->view->time_metric != PM_NONE &&
        warner->view->time_metric == warner->view->wall_metric && facts.added_ns != PM_UNKNOWN &&
        events_pct > MUCH_ADDED_PCT) {
        char part[32]; /* an estimate may be more than all of the time */
        if (events_pct < NEARLY_ALL_PCT)
            snprintf(part, sizeof part, "%s %.0f %%", facts.is_at_most ? "up to" : "about",
                     events_pct);
        else
            snprintf(part, sizeof part, "%s", facts.is_at_most ? "up to all" : "nearly all");
        warn(warner,
             "measuring each call took %s of the time, so times of functions with many "
             "calls are uncertain: use mode active, or exclude tiny functions "
             "(-fplugin-arg-perfmap-exclude=NAME); --no-compensation shows the times as measured",
             part);
    }
}

enum { LEAST_STOLEN_NS = 1000000, MUCH_STOLEN_PCT = 1 };

static void warn_of_steal(struct warner *warner)
{
    const struct pm_view *view = warner->view;
    struct pm_view_facts facts = pm_view_facts(view);
    double cpu_ns = (double)facts.user_cpu_ns + (double)facts.system_cpu_ns;
    if (!pm_view_shows_wall(view) || view->stolen_ns < LEAST_STOLEN_NS ||
        facts.user_cpu_ns == PM_UNKNOWN || facts.system_cpu_ns == PM_UNKNOWN ||
        100 * (double)view->stolen_ns < MUCH_STOLEN_PCT * cpu_ns)
        return;
    warn(warner,
         "for %.0f ms others had the processor unseen by the kernel (the host of this virtual "
         "machine, or interrupts): wall times below include that, at unknown places; CPU time by "
         "samples does not",
         (double)view->stolen_ns / 1e6);
}

enum { MUCH_DOUBT_PCT = 4, SIGMAS = 3 };

/* Whether loops of the function have times of their own. */
static bool has_timed_loops(const struct pm_view *view, pm_index noun)
{
    const struct pm_graph *graph = view->data->graph;
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        pm_index parent = graph->contexts[c].parent;
        pm_index own = pm_graph_first_noun(graph, graph->contexts[c].sentence);
        if (parent != PM_NONE && own != PM_NONE && pm_view_noun_is_loop(view, own) &&
            pm_graph_first_noun(graph, graph->contexts[parent].sentence) == noun)
            return true;
    }
    return false;
}

/* Times without the measuring itself and samples of the same run are two estimates, neither of
 * which is always the better one. */
static void warn_of_doubt(struct warner *warner)
{
    struct pm_view *view = warner->view;
    const struct pm_view_doubt *doubt = &view->doubt;
    if (doubt->noun == PM_NONE || doubt->n_samples < PM_VIEW_FEW_SAMPLES ||
        view->wall_metric == PM_NONE || view->time_metric != view->wall_metric ||
        view->taken_out_ns == 0)
        return;
    /* If the times were right: samples that are all in one place say nothing of their deviation. */
    double share = doubt->timed_pct / 100;
    double sigma_pct = 100 * sqrt(share * (1 - share) / doubt->n_samples);
    double differ_pct = fabs(doubt->timed_pct - doubt->sampled_pct);
    if (differ_pct < MUCH_DOUBT_PCT || differ_pct < SIGMAS * sigma_pct)
        return;
    const char *name = pm_view_noun_name(view, doubt->noun);
    warn(warner,
         "times and samples of this run differ by up to %.0f points, after the estimated cost of "
         "measuring was subtracted: %s%s has %.1f %% by times and %.1f %% by samples; 'perfmap "
         "run' without --mode exact disturbs the program less",
         differ_pct, name ? name : "",
         has_timed_loops(view, doubt->noun) ? ", outside its loops," : "", doubt->timed_pct,
         doubt->sampled_pct);
}

/* Whether modes of nouns, or what is followed, were asked for. */
static bool has_asked(const struct pm_archive_data *data)
{
    for (uint32_t i = 0; i < data->n_executions; i++)
        if (*data->executions[i].question)
            return true;
    for (uint32_t i = 0; i < data->n_noun_modes; i++)
        if (data->noun_modes[i].is_asked && data->noun_modes[i].mode > PM_RUN_MODE_OFF)
            return true;
    return false;
}

enum { MUCH_UNKNOWN_NS = 50000000 }; /* more than starting up takes */

/* More than the budget, where it is known why. Parts of less than half of it are no reason. */
static void warn_of_budget(struct warner *warner)
{
    const struct pm_archive_data *data = warner->view->data;
    struct pm_view_facts facts = pm_view_facts(warner->view);
    double budget_pct = (double)facts.budget_ppm / 1e4;
    if (facts.budget_ppm == PM_UNKNOWN || isnan(facts.slow_down_pct) ||
        facts.slow_down_pct < 1.25 * budget_pct || facts.slow_down_pct < budget_pct + 0.1)
        return;
    if (facts.is_at_most && !facts.events_by_samples && !(facts.fixed_pct > budget_pct) &&
        !(facts.samples_pct > budget_pct))
        return; /* a bound proves nothing */
    if (!isnan(facts.samples_pct) && facts.samples_pct > budget_pct)
        warn(warner,
             "measuring took more than its budget of %g %%: samples alone take %.1f %%; a lower "
             "--rate of 'perfmap run' takes less%s",
             budget_pct, facts.samples_pct,
             warner->view->data->n_counters ? ", and so does a larger period of --sample-by" : "");
    if (!isnan(facts.fixed_pct) && facts.fixed_pct > budget_pct / 2) {
        bool words = warner->view->has_words, asked = has_asked(data);
        warn(warner,
             "measuring took more than its budget of %g %%: %s%s%s take %.1f %%, and the budget "
             "leaves them alone",
             budget_pct, words || !asked ? "the words of the program or of adapters" : "",
             words && asked ? ", and " : "", asked ? "functions and loops that you asked for" : "",
             facts.fixed_pct);
    } else if (facts.events_by_samples && facts.events_ns > MUCH_UNKNOWN_NS) {
        warn(warner,
             "measuring took more than its budget of %g %%: samples found %.1f %% in PerfMap's own "
             "code, more than its calls should take%s",
             budget_pct, facts.events_pct,
             warner->view->has_own_metrics
                 ? "; what the program says of itself often (pm_cost) is not in that"
                 : "");
    }
}

/* Nothing bounds it, so samples may find more of PerfMap than of the program. */
static void warn_of_no_budget(struct warner *warner)
{
    enum { MUCH_PCT = 50 };
    struct pm_view_facts facts = pm_view_facts(warner->view);
    if (warner->view->time_metric == warner->view->wall_metric)
        return; /* of times by the clock it is subtracted */
    if (facts.budget_ppm != PM_UNKNOWN || isnan(facts.events_pct) || isnan(facts.samples_pct) ||
        facts.samples_pct <= 0 || facts.events_pct < MUCH_PCT)
        return;
    warn(warner,
         "without a budget, following calls took %s%.0f %% of the program's own time: samples have "
         "it as 'PerfMap itself', and their shares are of both; a --budget of 'perfmap run', or "
         "--off for short functions, takes less",
         facts.is_at_most ? "at most " : "", facts.events_pct);
}

static void name_metric(const struct pm_view *view, uint32_t m, struct pm_buf *names)
{
    pm_index metric = view->metrics[m];
    pm_buf_printf(names, "%s%s", names->len ? ", " : "",
                  metric == view->wall_metric ? "wall time"
                                              : view->data->graph->metrics[metric].name);
}

static bool is_without_kernel(const struct pm_archive_data *data)
{
    for (uint32_t i = 0; i < data->n_samplings; i++)
        if (!strcmp(data->samplings[i].source, "perf") && !data->samplings[i].has_kernel)
            return true;
    return false;
}

static bool has_marks_of_samples(const struct pm_view *view)
{
    bool shows_cpu = false, has_marks = false;
    for (uint32_t m = 0; m < view->n_metrics; m++)
        shows_cpu |= view->metrics[m] == view->cpu_metric;
    for (uint32_t r = 0; r < view->n_rows; r++)
        has_marks |= view->rows[r].traits.own_lacks_samples;
    return shows_cpu && has_marks;
}

/* Time without samples, where that is much of what some context may have had. */
static void warn_of_not_located(struct warner *warner)
{
    const struct pm_view *view = warner->view;
    const struct pm_graph *graph = view->data->graph;
    double all_ns = 0, lost_ns = 0;
    if (!view->lost_ns || !has_marks_of_samples(view))
        return;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        pm_index noun = pm_graph_first_noun(graph, graph->contexts[cost->context].sentence);
        if (cost->metric != view->cpu_metric)
            continue;
        all_ns += (double)cost->value;
        if (noun != PM_NONE && pm_view_noun_is(view, noun, "lost"))
            lost_ns += (double)cost->value;
    }
    if (is_without_kernel(view->data))
        warn(warner,
             "%.0f %% of the CPU time was in the kernel, which could not be sampled: it is in (not "
             "located), below what was active all the while, and rows that may have had some of "
             "it are at least what is shown ('perfmap doctor' says what would help)",
             100 * lost_ns / all_ns);
    else
        warn(warner,
             "%.0f %% of the CPU time is in no sample: it is in (not located), and rows that may "
             "have had some of it are at least what is shown",
             100 * lost_ns / all_ns);
}

static void warn_of_counters(struct warner *warner)
{
    const struct pm_view *view = warner->view;
    if (pm_view_times_hold_readings(view) && pm_view_shows_wall(view))
        warn(warner, "wall times hold what reading the counters took, some 3 us for each event and "
                     "call: take times from a run without --metric");
    for (uint32_t m = 0; m < view->n_metrics; m++)
        for (int which = 0; which < PM_VIEW_N_COUNTED_NOTES; which++) {
            struct pm_buf text = PM_BUF_INIT(1024);
            if (pm_view_say_counted(view, m, (enum pm_view_counted_note)which, &text))
                warn(warner, "%s", text.data);
            pm_buf_release(&text);
        }
}

/* Those of time without samples have their own. */
static bool is_partial(const struct pm_view *view, const struct pm_view_row *row, uint32_t m)
{
    const struct pm_view_traits *traits = &row->traits;
    bool of_samples = view->metrics[m] == view->cpu_metric && traits->own_lacks_samples &&
                      (view->is_placed[view->metrics[m]] || !traits->costs_are_at_least);
    bool of_wall = traits->is_untimed && view->metrics[m] == view->wall_metric;
    of_samples |= pm_view_row_lacks_counts(view, row, m, false) || pm_view_counts_are_cut(view, m);
    return !traits->path_is_at_least && !traits->data_is_at_least && !of_samples && !of_wall &&
           pm_view_is_at_least(view, row, m, false);
}

/* Samples need no such warning: only their callers may be missing. */
static void warn_of_partial(struct warner *warner)
{
    struct pm_view *view = warner->view;
    struct pm_buf names = PM_BUF_INIT(4096);
    uint32_t n_most = 0, n_names = 0;
    for (uint32_t m = 0; m < view->n_metrics; m++) {
        uint32_t n = 0;
        for (uint32_t r = 0; r < view->n_rows; r++)
            n += is_partial(view, &view->rows[r], m);
        if (n && !pm_view_off_cpu_word(view, m)) {
            name_metric(view, m, &names);
            n_names++;
        }
        n_most = n > n_most ? n : n_most;
    }
    if (names.len && !view->n_lost_events) /* which explains the marks */
        warn(warner,
             "%u row%s of code that was not measured all the time, so %s %s at least what is "
             "shown, and the rest counts for callers%s",
             n_most, n_most == 1 ? " is" : "s are", names.data, n_names == 1 ? "is" : "are",
             view->data->n_noun_modes ? " (--modes says when)" : "");
    pm_buf_release(&names);
}

/* Whoever got the address may read and write it. */
static void warn_of_data(struct warner *warner)
{
    const struct pm_view *view = warner->view;
    uint32_t n = 0;
    for (uint32_t r = 0; r < view->n_rows; r++)
        n += view->rows[r].traits.data_is_at_least;
    if (n)
        warn(warner,
             "%u row%s of data whose address goes to functions that are not known, or is not "
             "followed, or of fields in large objects that are copied, or reached by pointers to "
             "members: what is done there is missing",
             n, n == 1 ? " is" : "s are");
}

/* Each of them alone has something. */
static void warn_of_foci(struct warner *warner)
{
    const struct pm_view_options *options = &warner->view->options;
    struct pm_buf foci = PM_BUF_INIT(1 << 16);
    if (!pm_view_foci_exclude(warner->view))
        return;
    pm_view_add_foci(options->focus, &foci);
    if (options->focus[0] && options->on[0])
        pm_buf_add_str(&foci, ", ");
    pm_view_add_foci(options->on, &foci);
    warner->failed |= foci.failed;
    warn(warner, "nothing of what is shown was measured in all of these at once: %s",
         foci.data ? foci.data : "");
    pm_buf_release(&foci);
}

enum pm_status pm_view_warn(struct pm_view *view, struct pm_error *err)
{
    struct warner warner = {.view = view};
    warn_of_foci(&warner);
    warn_of_nothing_measured(&warner);
    warn_of_ends(&warner);
    warn_of_execs(&warner);
    warn_of_binaries(&warner);
    if (view->overlays_note)
        warn(&warner, "%s", view->overlays_note);
    warn_of_messages(&warner);
    warn_of_losses(&warner);
    warn_of_sampling(&warner);
    warn_of_unmapped(&warner);
    warn_of_inlined(&warner);
    warn_of_functions(&warner);
    warn_of_other_parts(&warner);
    warn_of_unmeasured(&warner);
    warn_of_added(&warner);
    warn_of_steal(&warner);
    warn_of_doubt(&warner);
    warn_of_not_located(&warner);
    warn_of_counters(&warner);
    warn_of_partial(&warner);
    warn_of_data(&warner);
    warn_of_budget(&warner);
    warn_of_no_budget(&warner);
    if (view->time_metric == PM_NONE && view->calls_metric != PM_NONE && !view->measured_nothing &&
        !pm_view_is_import(view))
        warn(&warner,
             "this run has calls only (mode %s), so there are no times: 'perfmap run' samples them "
             "unless --mode count or --rate 0 is given, and --mode exact measures each call",
             view->data->executions[0].mode);
    return warner.failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory") : PM_OK;
}
