/* Above the table of a report: the run, how it was measured, warnings, and what the table shows. */
#include "show.h"

#include "cmd/core/talk.h"

#include <math.h>
#include <stdlib.h>

enum { WRAP_UNLIMITED = 100 }; /* where lines may be any wide */

struct page {
    struct pm_view *report;
    const struct show_term *term;
    FILE *out;
};

static const char *color(const struct page *page, const char *code)
{
    return page->term->color ? code : "";
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

/* Words after a label, broken at the terminal's width. */
static void put_wrapped(const struct page *page, const char *label, const char *text)
{
    int indent = pm_text_width(label), at = indent;
    int most = page->term->width ? page->term->width : WRAP_UNLIMITED;
    bool is_blank = label[strspn(label, " ")] == 0;
    fprintf(page->out, "%s%s%s", is_blank ? "" : color(page, SHOW_YELLOW), label,
            is_blank ? "" : color(page, SHOW_RESET));
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, " ");
        int width = pm_text_width_n(p, len);
        if (p != text && at + 1 + width > most) {
            fprintf(page->out, "\n%*s", indent, "");
            at = indent;
        } else if (p != text) {
            fputc(' ', page->out);
            at++;
        }
        fwrite(p, 1, len, page->out);
        at += width;
        p += len + strspn(p + len, " ");
    }
    fputc('\n', page->out);
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

/* "1 144 samples, 3 lost"; nothing when none were taken. */
static void add_samples(const struct page *page, const struct pm_view_facts *facts,
                        struct pm_buf *out)
{
    const struct pm_sampling *sampling = sampling_of(page->report);
    if (!sampling)
        return;
    pm_buf_add_str(out, page->term->utf8 ? " · " : ", ");
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
static void put_sampling(const struct page *page, const struct pm_view_facts *facts)
{
    const struct pm_sampling *s = sampling_of(page->report);
    struct pm_buf line = PM_BUF_INIT(4096);
    if (!s)
        return;
    const char *source = pm_text_printable(&page->report->arena, s->source);
    if (s->period_ns > 0)
        pm_buf_printf(&line, "sampled at %.0f Hz", 1e9 / (double)s->period_ns);
    else
        pm_buf_add_str(&line, "sampled at an unknown rate");
    pm_buf_printf(&line, " of %s time, %s", strcmp(s->clock, "wall") ? "CPU" : "wall",
                  source ? source : "");
    add_samples(page, facts, &line);
    fprintf(page->out, "  %s\n", line.failed ? "" : line.data);
    pm_buf_release(&line);
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
                  facts->events_by_samples  ? "events, by samples,"
                  : is_mostly_starts(facts) ? "starts of processes and threads"
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
static char *preempted_line(const struct pm_view *report, const struct pm_view_facts *facts,
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
static char *slow_down_line(const struct pm_view *report, const struct pm_view_facts *facts,
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

static void put_line(const struct page *page, char *line)
{
    if (line && *line)
        put_wrapped(page, "  ", line);
    free(line);
}

static void say_line(char *line)
{
    if (line && *line)
        cmd_talk("note: %s", line);
    free(line);
}

void show_say_measuring(struct pm_view *report)
{
    struct pm_view_facts facts = pm_view_facts(report);
    if (facts.added_ns > 0)
        say_line(slow_down_line(report, &facts, true));
    say_line(pm_view_modes_line(report, true));
}

/* The run in words: "wall 2.345 s · CPU 2.301 s · 1 144 samples · slow-down 0.9 %". Details:
 * each of them has its line. */
static void add_run(const struct page *page, const struct pm_view_facts *facts, struct pm_buf *out)
{
    bool utf8 = page->term->utf8, all = page->report->options.details;
    const char *sep = utf8 ? " · " : ", ";
    char text[64];
    pm_buf_printf(out, "wall %s", time_text(text, facts->wall_ns, utf8));
    int64_t cpu_ns = facts->user_cpu_ns == PM_UNKNOWN || facts->system_cpu_ns == PM_UNKNOWN
                         ? PM_UNKNOWN
                         : facts->user_cpu_ns + facts->system_cpu_ns;
    pm_buf_printf(out, "%sCPU %s", sep, time_text(text, cpu_ns, utf8));
    if (all || facts->n_processes != 1)
        pm_buf_printf(out, "%s%llu process%s", sep, (unsigned long long)facts->n_processes,
                      facts->n_processes == 1 ? "" : "es");
    if (all || facts->n_threads != facts->n_processes)
        pm_buf_printf(out, "%s%llu thread%s", sep, (unsigned long long)facts->n_threads,
                      facts->n_threads == 1 ? "" : "s");
    if (all || strcmp(facts->mode, "active") != 0)
        pm_buf_printf(out, "%smode %s", sep, facts->mode);
    if (facts->exit_signal != PM_UNKNOWN)
        pm_buf_printf(out, "%s%sended by signal %lld%s", sep, color(page, SHOW_RED),
                      (long long)facts->exit_signal, color(page, SHOW_RESET));
    else if (facts->exit_status != PM_UNKNOWN && facts->exit_status != 0)
        pm_buf_printf(out, "%s%sexit status %lld%s", sep, color(page, SHOW_RED),
                      (long long)facts->exit_status, color(page, SHOW_RESET));
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

static void add_slow_down(const struct page *page, const struct pm_view_facts *facts,
                          struct pm_buf *out)
{
    char text[32];
    double pct = isnan(facts->slow_down_pct) ? facts->added_pct : facts->slow_down_pct;
    bool known = !isnan(facts->slow_down_pct) || facts->added_ns != PM_UNKNOWN;
    if (known && !is_dear(page->report, facts))
        pm_buf_printf(out, "%sslow-down %s%s %%", page->term->utf8 ? " · " : ", ",
                      facts->is_at_most ? "at most " : "", tenths(text, pct));
}

/* Columns of text with colours in it. */
static int width_without_colors(const char *text)
{
    int width = pm_text_width(text);
    for (const char *p = text; (p = strchr(p, '\033')) != NULL; p++)
        width -= (int)strcspn(p, "m") + 1;
    return width;
}

/* In one line with the command, which loses its middle for that; below it when hardly any of it
 * would stay. */
static void put_run(const struct page *page, const char *command, const char *run)
{
    enum { COMMAND_LEAST = 16 };
    const char *sep = page->term->utf8 ? " · " : ", ";
    int width = page->term->width, room = width - pm_text_width(sep) - width_without_colors(run);
    bool one_line = !width || room >= pm_text_width(command) || room >= COMMAND_LEAST;
    fputs(color(page, SHOW_BOLD), page->out);
    show_put_cut_middle(page->term, page->out, command,
                        !width     ? pm_text_width(command)
                        : one_line ? room
                                   : width);
    fputs(color(page, SHOW_RESET), page->out);
    fprintf(page->out, "%s%s\n", one_line ? sep : "\n  ", run);
}

static void put_header(const struct page *page)
{
    struct pm_view *report = page->report;
    struct pm_view_facts facts = pm_view_facts(report);
    FILE *out = page->out;
    bool utf8 = page->term->utf8, all = report->options.details;
    struct pm_buf run = PM_BUF_INIT(4096);
    const char *command = pm_text_printable(&report->arena, report->data->executions[0].command);
    add_run(page, &facts, &run);
    if (!all) {
        add_samples(page, &facts, &run);
        add_slow_down(page, &facts, &run);
    }
    put_run(page, command ? command : "", run.failed ? "" : run.data);
    pm_buf_release(&run);
    if (report->data->n_executions > 1)
        fprintf(out, "  and %u more run%s, added up\n", report->data->n_executions - 1,
                report->data->n_executions == 2 ? "" : "s");
    if (all)
        put_sampling(page, &facts);
    if (is_dear(report, &facts))
        put_line(page, slow_down_line(report, &facts, utf8));
    put_line(page, preempted_line(report, &facts, utf8));
    put_line(page, pm_view_modes_line(report, utf8));
}

/* What the table shows, in words: level, grouping, rule where it matters, focus. */
static void put_view(const struct page *page)
{
    static const char *const split_words[] = {"split", "split equally",
                                              "split by instruction counts"};
    struct pm_view *report = page->report;
    const struct pm_view_options *options = &report->options;
    bool is_code = !strcmp(report->level_name, "Base") && options->by != PM_VIEW_BY_FUNCTION &&
                   options->by != PM_VIEW_BY_FILE && report->samples_metric != PM_NONE;
    bool by_runner = pm_view_is_by_runner(report);
    bool is_ours = pm_view_is_at_source(report) || !strcmp(report->level_name, "Base");
    fprintf(page->out, "\n%s%s%s%s", by_runner ? "" : report->level_name,
            by_runner ? ""
            : is_ours ? " level, "
                      : " level",
            by_runner  ? pm_view_by_prose(options->by)
            : !is_ours ? ""
            : is_code  ? "machine code"
                       : pm_view_by_prose(options->by),
            options->tree ? ", call paths" : "");
    if (options->rule != PM_RULE_MERGE)
        fprintf(page->out, ", shared cost %s",
                options->rule != PM_RULE_SPLIT ? "closed over overlapping sets"
                : report->split_by_size ? "split by size of code (no instructions were counted)"
                                        : split_words[options->split]);
    if (report->n_metrics && report->metrics[report->primary] == report->cpu_metric)
        fprintf(page->out, ", %s", pm_view_sampled_word(report));
    double total = report->n_metrics ? (double)report->total.values[report->primary].own.value : 0;
    if (report->folded_value > 0 && total > 0)
        fprintf(page->out,
                "\ncode of system headers, %.1f %%, counts for what uses it (--fold none)",
                100 * report->folded_value / total);
    if (options->focus) {
        const char *focus = pm_text_printable(&report->arena, options->focus);
        fprintf(page->out, "\nfocus %s: %.1f %% of the whole run", focus ? focus : "",
                report->focus_share_pct);
    }
    fputc('\n', page->out);
    struct pm_buf several = PM_BUF_INIT(1 << 20);
    if (options->focus && pm_view_add_fitting(report, options->focus, &several)) {
        const char *text = pm_text_printable(&report->arena, several.data);
        put_wrapped(page, "  note: ", text ? text : "");
    }
    pm_buf_release(&several);
}

void show_header(struct pm_view *report, const struct show_term *term, FILE *out)
{
    struct page page = {report, term, out};
    put_header(&page);
    for (int i = 0; i < report->n_warnings; i++)
        put_wrapped(&page, "  warning: ", report->warnings[i]);
    put_view(&page);
}
