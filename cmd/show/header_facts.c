/* What is said above rows: the run, how it was measured, warnings, and what the rows are. */
#include "cells.h"
#include "header.h"
#include "over_time.h"

#include "mapping/view/axis.h"
#include "mapping/view/groupings.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

/* Who is told, and of what. */
struct telling {
    struct pm_view *report;
    struct pm_view_facts facts;
    bool utf8;
    show_fact_teller *tell;
    void *context;
};

/* What does not fit in memory is left out. */
__attribute__((format(printf, 3, 4))) static void tell(const struct telling *telling,
                                                       enum show_fact_kind kind, const char *format,
                                                       ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0)
        return;
    telling->tell(telling->context, kind, text);
    free(text);
}

/* The text is freed; nothing is told of an empty one, or of NULL. */
static void tell_text(const struct telling *telling, enum show_fact_kind kind, char *text)
{
    if (text && *text)
        telling->tell(telling->context, kind, text);
    free(text);
}

static const char *time_text(char text[64], int64_t ns, bool utf8)
{
    if (ns == PM_UNKNOWN)
        snprintf(text, 64, "unknown");
    else if (ns >= 1000000000 || ns <= -1000000000)
        snprintf(text, 64, "%.3f s", (double)ns / 1e9);
    else if (ns >= 1000000 || ns <= -1000000)
        snprintf(text, 64, "%.3f ms", (double)ns / 1e6);
    else
        snprintf(text, 64, "%.3f %s", (double)ns / 1e3, utf8 ? "µs" : "us");
    return text;
}

/* "12 345" */
static void add_count(struct pm_buf *out, int64_t n)
{
    if (n >= 1000)
        add_count(out, n / 1000);
    pm_buf_printf(out, n >= 1000 ? " %03d" : "%d", (int)(n % 1000));
}

/* Of the first process that was sampled; NULL: none was. */
static const struct pm_sampling *sampling_of(const struct pm_view *report)
{
    const struct pm_archive_data *data = report->data;
    for (uint32_t i = 0; i < data->n_samplings; i++)
        if (strcmp(data->samplings[i].source, "none") != 0)
            return &data->samplings[i];
    return NULL;
}

/* "1 144 samples, 3 lost". */
static void add_samples(const struct pm_sampling *sampling, const struct pm_view_facts *facts,
                        struct pm_buf *out)
{
    add_count(out, facts->n_samples);
    pm_buf_add_str(out, facts->n_samples == 1 ? " sample" : " samples");
    if (facts->n_lost_samples) {
        pm_buf_add_str(out, ", ");
        add_count(out, facts->n_lost_samples);
        pm_buf_add_str(out, " lost");
    }
    if (!sampling->has_kernel)
        pm_buf_add_str(out, ", without the kernel");
}

/* How, which is the same in nearly all runs. */
static char *sampling_text(const struct telling *telling)
{
    const struct pm_sampling *s = sampling_of(telling->report);
    struct pm_buf line = PM_BUF_INIT(4096);
    if (!s)
        return NULL;
    const char *source = pm_text_printable(&telling->report->arena, s->source);
    if (s->period_ns > 0)
        pm_buf_printf(&line, "sampled at %.0f Hz", 1e9 / (double)s->period_ns);
    else
        pm_buf_add_str(&line, "sampled at an unknown rate");
    pm_buf_printf(&line, " of %s time, %s", strcmp(s->clock, "wall") ? "CPU" : "wall",
                  source ? source : "");
    pm_buf_add_str(&line, telling->utf8 ? " · " : ", ");
    add_samples(s, &telling->facts, &line);
    return pm_buf_take(&line);
}

/* To a tenth, and what is less but something is not nothing. */
static const char *tenths(char text[32], double pct)
{
    snprintf(text, 32, pct > 0 && pct < 0.05 ? "< 0.1" : "%.1f", pct);
    return text;
}

/* What the kernel does for the runtime before a thread begins and when it has ended is in
 * nobody's clock. */
static bool is_mostly_starts(const struct pm_view_facts *facts)
{
    return facts->starts_ns != PM_UNKNOWN && facts->events_ns != PM_UNKNOWN &&
           facts->starts_ns > facts->events_ns / 2;
}

/* How the figure is to be read. */
static const char *slow_down_mark(const struct pm_view_facts *facts, const char *sum)
{
    if (facts->is_at_most)
        return "at most ";
    return *sum == '<' ? "" : is_mostly_starts(facts) ? "at least " : "about ";
}

/* "events 0.6 % + samples 1.1 % = slow-down about 1.7 % (budget 2 %)". More than events may be
 * in what samples found: start-up, too. */
static void add_parts(struct pm_buf *out, const struct pm_view_facts *facts)
{
    char events[32], samples[32], sum[32];
    tenths(sum, facts->slow_down_pct);
    pm_buf_printf(out, "measuring: %s %s%s %% + samples %s %% = slow-down %s%s %%",
                  facts->events_by_samples  ? "events (by samples)"
                  : is_mostly_starts(facts) ? "starts of processes, threads and libraries"
                                            : "events",
                  facts->is_at_most ? "at most " : "", tenths(events, facts->events_pct),
                  tenths(samples, facts->samples_pct), slow_down_mark(facts, sum), sum);
    if (facts->budget_ppm != PM_UNKNOWN)
        pm_buf_printf(out, " (budget %g %%)", (double)facts->budget_ppm / 1e4);
}

/* A bound that is several times a run of some milliseconds tells nobody anything: few samples
 * support it, and its deviation is most of it. */
static bool is_too_short(const struct pm_view_facts *facts)
{
    enum { SHORT_MS = 100, MUCH_PCT = 100 };
    bool is_short = facts->user_cpu_ns != PM_UNKNOWN && facts->system_cpu_ns != PM_UNKNOWN &&
                    facts->user_cpu_ns + facts->system_cpu_ns < SHORT_MS * INT64_C(1000000);
    return facts->is_at_most && is_short && facts->slow_down_pct > MUCH_PCT;
}

static void add_too_short(struct pm_buf *out, const struct pm_view_facts *facts, bool utf8)
{
    char cpu[64], added[64];
    pm_buf_printf(out,
                  "measuring: at most %s of %s CPU time; the run is too short to tell its "
                  "slow-down",
                  time_text(added, facts->added_ns, utf8),
                  time_text(cpu, facts->user_cpu_ns + facts->system_cpu_ns, utf8));
}

/* What of it is not in the exact times below, or is in them because that was asked for. */
static void add_correction(const struct pm_view *report, const struct pm_view_facts *facts,
                           bool utf8, struct pm_buf *out)
{
    char taken[64];
    bool is_much = (double)report->taken_out_ns >= 1e-4 * (double)facts->wall_ns;
    if (!pm_view_shows_wall(report) || facts->added_pct < 0.05)
        return;
    if (report->options.no_compensation)
        pm_buf_add_str(out, "; included in the times below (--no-compensation)");
    else if (report->taken_out_ns > 0 && is_much)
        pm_buf_printf(out, "; %s of it subtracted from the times below",
                      time_text(taken, report->taken_out_ns, utf8));
}

/* Of wall times: what a busy machine took. */
static char *preempted_text(const struct pm_view *report, const struct pm_view_facts *facts,
                            bool utf8)
{
    struct pm_buf out = PM_BUF_INIT(4096);
    char text[64];
    if (pm_view_shows_wall(report) && report->preempted_out_ns > 0 &&
        (double)report->preempted_out_ns >= 0.01 * (double)facts->wall_ns)
        pm_buf_printf(&out, "preempted for %s, not included in the times below",
                      time_text(text, report->preempted_out_ns, utf8));
    return out.len ? pm_buf_take(&out) : NULL;
}

/* What measuring cost, to be freed; NULL: not known. */
static char *slow_down_text(const struct pm_view *report, const struct pm_view_facts *facts,
                            bool utf8)
{
    struct pm_buf out = PM_BUF_INIT(4096);
    char added[64], pct[32];
    if (is_too_short(facts))
        add_too_short(&out, facts, utf8);
    else if (!isnan(facts->events_pct) && !isnan(facts->samples_pct))
        add_parts(&out, facts);
    else if (facts->added_ns != PM_UNKNOWN)
        pm_buf_printf(&out, "measuring added %s%s (%s %%%s%s)", facts->is_at_most ? "at most " : "",
                      time_text(added, facts->added_ns, utf8), tenths(pct, facts->added_pct),
                      facts->n_threads > 1 ? " of the threads' wall times" : "",
                      facts->is_at_most ? "" : ", estimated");
    if (out.len)
        add_correction(report, facts, utf8, &out);
    return out.len ? pm_buf_take(&out) : NULL;
}

char *show_measuring_text(struct pm_view *report, bool utf8)
{
    struct pm_view_facts facts = pm_view_facts(report);
    return facts.added_ns > 0 ? slow_down_text(report, &facts, utf8) : NULL;
}

enum { DEAR_PCT = 5 }; /* where there is no budget */

/* Whether what measuring cost is a line of its own: it is more than was allowed, or times were
 * corrected by it. */
static bool is_dear(const struct pm_view *report, const struct pm_view_facts *facts)
{
    double pct = isnan(facts->slow_down_pct) ? facts->added_pct : facts->slow_down_pct;
    double budget_pct =
        facts->budget_ppm == PM_UNKNOWN ? DEAR_PCT : 1.25 * (double)facts->budget_ppm / 1e4;
    bool is_corrected =
        pm_view_shows_wall(report) && (report->taken_out_ns > 0 || report->options.no_compensation);
    return report->options.details || pct >= budget_pct || (is_corrected && pct >= 1);
}

/* --- the run --- */

static void tell_end(const struct telling *telling)
{
    const struct pm_view_facts *facts = &telling->facts;
    if (facts->exit_signal != PM_UNKNOWN)
        tell(telling, SHOW_FACT_BAD_END, "ended by signal %lld", (long long)facts->exit_signal);
    else if (facts->exit_status != PM_UNKNOWN && facts->exit_status != 0)
        tell(telling, SHOW_FACT_BAD_END, "exit status %lld", (long long)facts->exit_status);
}

/* Of many, or when all is asked for. */
static void tell_sizes(const struct telling *telling)
{
    const struct pm_view_facts *facts = &telling->facts;
    bool all = telling->report->options.details;
    if (all || facts->n_processes != 1)
        tell(telling, SHOW_FACT_RUN, "%llu process%s", (unsigned long long)facts->n_processes,
             facts->n_processes == 1 ? "" : "es");
    if (all || facts->n_threads != facts->n_processes)
        tell(telling, SHOW_FACT_RUN, "%llu thread%s", (unsigned long long)facts->n_threads,
             facts->n_threads == 1 ? "" : "s");
    if (all || strcmp(facts->mode, "active") != 0)
        tell(telling, SHOW_FACT_RUN, "mode %s", facts->mode);
}

/* Details have lines of their own for it. */
static void tell_measuring_in_brief(const struct telling *telling)
{
    const struct pm_view_facts *facts = &telling->facts;
    const struct pm_sampling *sampling = sampling_of(telling->report);
    struct pm_buf samples = PM_BUF_INIT(4096);
    char text[32];
    double pct = isnan(facts->slow_down_pct) ? facts->added_pct : facts->slow_down_pct;
    bool known = !isnan(facts->slow_down_pct) || facts->added_ns != PM_UNKNOWN;
    if (telling->report->options.details)
        return;
    if (sampling) {
        add_samples(sampling, facts, &samples);
        tell_text(telling, SHOW_FACT_RUN, pm_buf_take(&samples));
    }
    if (known && !is_dear(telling->report, facts))
        tell(telling, SHOW_FACT_RUN, "slow-down %s%s %%", facts->is_at_most ? "at most " : "",
             tenths(text, pct));
}

/* Of the first execution; NULL: not stated. */
static const char *attribute_of(const struct telling *telling, const char *key)
{
    const struct pm_archive_data *data = telling->report->data;
    for (uint32_t i = 0; i < data->n_attributes; i++)
        if (data->attributes[i].execution == 0 && !strcmp(data->attributes[i].key, key))
            return data->attributes[i].value;
    return NULL;
}

/* "AMD EPYC 7B13 · 2 CPUs · Linux 6.1.0-18-amd64 · load 0.27 to 1.49 · GCC 12.2.0 · O2" */
static char *machine_text(const struct telling *telling)
{
    enum { LOAD_END = 5 };
    static const char *const parts[][3] = {
        {"cpu_model", "", ""},       {"n_cpus", "", " CPUs"},
        {"kernel", "Linux ", ""},    {"governor", "governor ", ""},
        {"load_start", "load ", ""}, {"load_end", "to ", ""},
        {"compiler", "", ""},        {"opt", "", ""}};
    struct pm_buf line = PM_BUF_INIT(1 << 16);
    for (int i = 0; i < (int)(sizeof parts / sizeof *parts); i++) {
        const char *value = attribute_of(telling, parts[i][0]);
        const char *sep = telling->utf8 ? " · " : ", ";
        if (value && line.len)
            pm_buf_add_str(&line, i == LOAD_END ? " " : sep);
        if (value)
            pm_buf_printf(&line, "%s%s%s", parts[i][1], value, parts[i][2]);
    }
    return pm_buf_take(&line);
}

static void tell_run(const struct telling *telling)
{
    struct pm_view *report = telling->report;
    const struct pm_view_facts *facts = &telling->facts;
    const char *command = pm_text_printable(&report->arena, report->data->executions[0].command);
    uint32_t n_more = report->data->n_executions - 1;
    int64_t cpu_ns = facts->user_cpu_ns == PM_UNKNOWN || facts->system_cpu_ns == PM_UNKNOWN
                         ? PM_UNKNOWN
                         : facts->user_cpu_ns + facts->system_cpu_ns;
    char text[64];
    tell(telling, SHOW_FACT_COMMAND, "%s", command ? command : "");
    tell(telling, SHOW_FACT_RUN, "wall %s", time_text(text, facts->wall_ns, telling->utf8));
    tell(telling, SHOW_FACT_RUN, "CPU %s", time_text(text, cpu_ns, telling->utf8));
    tell_sizes(telling);
    tell_end(telling);
    tell_measuring_in_brief(telling);
    if (n_more > 0)
        tell(telling, SHOW_FACT_MORE_RUNS, "and %u more run%s, added up", n_more,
             n_more == 1 ? "" : "s");
    if (report->options.details) {
        tell_text(telling, SHOW_FACT_SAMPLING, sampling_text(telling));
        tell_text(telling, SHOW_FACT_MACHINE, machine_text(telling));
    }
    if (is_dear(report, facts))
        tell_text(telling, SHOW_FACT_MEASURING, slow_down_text(report, facts, telling->utf8));
    tell_text(telling, SHOW_FACT_PREEMPTED, preempted_text(report, facts, telling->utf8));
    tell_text(telling, SHOW_FACT_MODES, pm_view_modes_line(report, telling->utf8));
}

/* --- the rows --- */

static void add_level(const struct pm_view *report, struct pm_buf *out)
{
    enum pm_view_by by = report->options.by;
    bool is_base = !strcmp(report->level_name, "Base");
    bool is_code =
        is_base && !pm_view_grouping(report)->by_callee && report->samples_metric != PM_NONE;
    if (pm_view_grouping(report)->where)
        pm_buf_add_str(out, "where axis ");
    if (pm_view_is_by_runner(report) || pm_view_grouping(report)->where) {
        pm_buf_add_str(out, pm_view_by_prose(by));
        return;
    }
    pm_buf_printf(out, "%s level", report->level_name);
    if (is_base || pm_view_is_at_source(report))
        pm_buf_printf(out, ", %s", is_code ? "machine code" : pm_view_by_prose(by));
}

static const char *rule_text(const struct pm_view *report)
{
    static const char *const split_words[] = {"split", "split equally",
                                              "split by instruction counts"};
    if (report->options.rule != PM_RULE_SPLIT)
        return "closed over overlapping sets";
    if (report->split_by_size)
        return "split by size of code (no instructions were counted)";
    return split_words[report->options.split];
}

static void add_number_of_locations(const struct pm_view *report, struct pm_buf *out)
{
    const struct pm_runner_kind *kind = pm_runner_kind(report->options.parts);
    uint32_t n = report->axis.n_locations;
    pm_buf_printf(out, ", over %u %s", n, n == 1 ? kind->word : kind->plural);
}

/* Level, grouping, rule where it matters, the clock of samples. */
static char *view_text(const struct pm_view *report, bool utf8)
{
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    add_level(report, &out);
    if (report->options.tree && !pm_view_grouping(report)->where)
        pm_buf_add_str(&out, ", call paths");
    if (report->options.rule != PM_RULE_MERGE)
        pm_buf_printf(&out, ", shared cost %s", rule_text(report));
    if (report->n_metrics && report->metrics[report->primary] == report->cpu_metric)
        pm_buf_printf(&out, ", %s", pm_view_sampled_word(report));
    if (pm_view_has_axis(report))
        add_number_of_locations(report, &out);
    char *interval = show_interval_text(report, utf8);
    if (interval)
        pm_buf_printf(&out, ", %s", interval);
    free(interval);
    return pm_buf_take(&out);
}

static void tell_printable(const struct telling *telling, enum show_fact_kind kind,
                           struct pm_buf *text)
{
    const char *printable =
        text->data ? pm_text_printable(&telling->report->arena, text->data) : NULL;
    tell(telling, kind, "%s", printable ? printable : "");
    pm_buf_release(text);
}

/* "focus func:sort on thread:worker*: 12.0 % of the whole run"; one of both may be there. */
static void tell_focus(const struct telling *telling)
{
    struct pm_view *report = telling->report;
    const char *const *focus = report->options.focus, *const *on = report->options.on;
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    pm_buf_add_str(&text, *focus ? "focus " : "");
    pm_view_add_foci(focus, &text);
    if (*on)
        pm_buf_printf(&text, "%son ", *focus ? " " : "");
    pm_view_add_foci(on, &text);
    pm_buf_printf(&text, ": %.1f %% of the whole run", report->focus_share_pct);
    tell_printable(telling, SHOW_FACT_FOCUS, &text);
    for (; *focus; focus++) {
        struct pm_buf several = PM_BUF_INIT(1 << 20);
        if (pm_view_add_fitting(report, *focus, &several))
            tell_printable(telling, SHOW_FACT_NOTE, &several);
        else
            pm_buf_release(&several);
    }
}

static void add_nowhere(const struct pm_view *report, bool utf8, struct pm_buf *out)
{
    const struct pm_runner_kind *kind = pm_runner_kind(report->options.parts);
    const struct pm_graph_metric *metric =
        &report->data->graph->metrics[report->metrics[report->primary]];
    double all = (double)report->total.values[report->primary].own.value,
           left_out = (double)report->axis.left_out;
    struct show_scale scale = show_scale_of(metric, all, utf8);
    const char *known = kind->why_none ? "" : "known "; /* all are that have a number */
    pm_buf_printf(out, "%.*f%s%s of %s are of no %s%s, so no min, average or max has them",
                  scale.decimals, left_out / scale.divisor, *scale.unit ? " " : "", scale.unit,
                  metric->name, known, kind->word);
}

char *show_left_out_text(const struct pm_view *report, bool utf8)
{
    struct pm_buf out = PM_BUF_INIT(1 << 16);
    const struct pm_view_axis *axis = &report->axis;
    if (!pm_view_has_axis(report))
        return NULL;
    if (axis->left_out)
        add_nowhere(report, utf8, &out);
    if (axis->n_unmeasured)
        pm_buf_printf(&out, "%s%s was not measured on %u of %u %s, which min and average leave out",
                      out.len ? "; " : "",
                      report->data->graph->metrics[report->metrics[report->primary]].name,
                      axis->n_unmeasured, axis->n_unmeasured + axis->n_locations,
                      pm_runner_kind(report->options.parts)->plural);
    return pm_buf_take(&out);
}

static void tell_view(const struct telling *telling)
{
    const struct pm_view *report = telling->report;
    double total = report->n_metrics ? (double)report->total.values[report->primary].own.value : 0;
    tell_text(telling, SHOW_FACT_VIEW, view_text(report, telling->utf8));
    if (report->folded_value > 0 && total > 0)
        tell(telling, SHOW_FACT_FOLDED,
             "code of system headers, %.1f %%, counts for what uses it (--fold none)",
             100 * report->folded_value / total);
    if (report->options.focus[0] || report->options.on[0])
        tell_focus(telling);
    tell_text(telling, SHOW_FACT_NOTE, show_left_out_text(report, telling->utf8));
    tell_text(telling, SHOW_FACT_NOTE, show_times_note(report, telling->utf8));
}

void show_tell_facts(struct pm_view *report, bool utf8, show_fact_teller *teller, void *context)
{
    struct telling telling = {report, pm_view_facts(report), utf8, teller, context};
    tell_run(&telling);
    for (int i = 0; i < report->n_warnings; i++)
        tell(&telling, SHOW_FACT_WARNING, "%s", report->warnings[i]);
    tell_view(&telling);
}
