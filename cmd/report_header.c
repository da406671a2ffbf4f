/* Above the table of a report: the run, how it was measured, warnings, and what the table shows. */
#include "report.h"

#include <math.h>
#include <stdlib.h>

enum { WRAP_UNLIMITED = 100 }; /* where lines may be any wide */

struct page {
    struct report *report;
    const struct report_term *term;
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

static void put_time(FILE *out, int64_t ns, bool utf8)
{
    char text[64];
    fputs(time_text(text, ns, utf8), out);
}

/* Words after a label, broken at the terminal's width. */
static void put_wrapped(const struct page *page, const char *label, const char *text)
{
    int indent = report_width(label), at = indent;
    int most = page->term->width ? page->term->width : WRAP_UNLIMITED;
    bool is_blank = label[strspn(label, " ")] == 0;
    fprintf(page->out, "%s%s%s", is_blank ? "" : color(page, REPORT_YELLOW), label,
            is_blank ? "" : color(page, REPORT_RESET));
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, " ");
        int width = report_width_n(p, len);
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
static void put_count(FILE *out, int64_t n)
{
    if (n >= 1000)
        put_count(out, n / 1000);
    fprintf(out, n >= 1000 ? " %03d" : "%d", (int)(n % 1000));
}

static void put_sampling(const struct page *page, const struct report_facts *facts)
{
    const struct pm_archive_data *data = page->report->data;
    FILE *out = page->out;
    const struct pm_sampling *s = NULL;
    for (uint32_t i = 0; i < data->n_samplings && (!s || !strcmp(s->source, "none")); i++)
        s = &data->samplings[i];
    if (!s || !strcmp(s->source, "none"))
        return;
    const char *source = report_printable(&page->report->arena, s->source);
    fputs("  sampled at ", out);
    if (s->period_ns > 0)
        fprintf(out, "%.0f Hz", 1e9 / (double)s->period_ns);
    else
        fputs("an unknown rate", out);
    fprintf(out, " of %s time, %s%s, ", strcmp(s->clock, "wall") ? "CPU" : "wall",
            source ? source : "", s->has_kernel ? "" : " without the kernel");
    put_count(out, facts->n_samples);
    fputs(facts->n_samples == 1 ? " sample, " : " samples, ", out);
    if (facts->n_lost_samples)
        put_count(out, facts->n_lost_samples);
    fputs(facts->n_lost_samples ? " lost\n" : "none lost\n", out);
}

/* To a tenth, and what is less but something is not nothing. */
static const char *tenths(char text[32], double pct)
{
    snprintf(text, 32, pct > 0 && pct < 0.05 ? "< 0.1" : "%.1f", pct);
    return text;
}

/* "events 0.6 % + samples 1.1 % = slow-down about 1.7 % (budget 2 %)". More than events may be in what samples found: start-up, too. */
static void add_parts(struct pm_buf *out, const struct report_facts *facts)
{
    char events[32], samples[32], sum[32];
    tenths(sum, facts->slow_down_pct);
    pm_buf_printf(out, "measuring: %s %s %% + samples %s %% = slow-down %s%s %%",
                  facts->events_by_samples ? "PerfMap's own code" : "events",
                  tenths(events, facts->events_pct), tenths(samples, facts->samples_pct),
                  *sum == '<' ? "" : "about ", sum);
    if (facts->budget_ppm != PM_UNKNOWN)
        pm_buf_printf(out, " (budget %g %%)", (double)facts->budget_ppm / 1e4);
}

/* What of it is not in the exact times below, or is in them because that was asked for. */
static void add_correction(const struct report *report, const struct report_facts *facts, bool utf8,
                           struct pm_buf *out)
{
    char taken[64];
    bool is_much = (double)report->taken_out_ns >= 1e-4 * (double)facts->wall_ns;
    if (!report_shows_wall(report) || facts->added_pct < 0.05)
        return;
    if (report->options.no_compensation)
        pm_buf_add_str(out, "; not taken out of the times below (--no-compensation)");
    else if (report->taken_out_ns > 0 && is_much)
        pm_buf_printf(out, "; %s taken out of the times below",
                      time_text(taken, report->taken_out_ns, utf8));
}

/* Of wall times: what a busy machine took. */
static char *preempted_line(const struct report *report, const struct report_facts *facts,
                            bool utf8)
{
    struct pm_buf out = PM_BUF_INIT(4096);
    char text[64];
    if (report_shows_wall(report) && report->preempted_out_ns > 0 &&
        (double)report->preempted_out_ns >= 0.01 * (double)facts->wall_ns)
        pm_buf_printf(&out, "preempted for %s, which the times below do not hold",
                      time_text(text, report->preempted_out_ns, utf8));
    return out.len ? pm_buf_take(&out) : NULL;
}

/* What measuring cost, to be freed; NULL: not known. */
static char *slow_down_line(const struct report *report, const struct report_facts *facts,
                            bool utf8)
{
    struct pm_buf out = PM_BUF_INIT(4096);
    char added[64], pct[32];
    if (!isnan(facts->events_pct) && !isnan(facts->samples_pct))
        add_parts(&out, facts);
    else if (facts->added_ns != PM_UNKNOWN)
        pm_buf_printf(&out, "measuring added %s (%s %%%s, estimated)",
                      time_text(added, facts->added_ns, utf8), tenths(pct, facts->added_pct),
                      facts->n_threads > 1 ? " of the threads' wall times" : "");
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

void report_say_measuring(struct report *report)
{
    struct report_facts facts = report_facts(report);
    if (facts.added_ns > 0)
        say_line(slow_down_line(report, &facts, true));
    say_line(report_modes_line(report, true));
}

static void put_header(const struct page *page)
{
    struct report *report = page->report;
    struct report_facts facts = report_facts(report);
    FILE *out = page->out;
    bool utf8 = page->term->utf8;
    const char *sep = utf8 ? " · " : ", ";
    const char *command = report_printable(&report->arena, report->data->executions[0].command);
    fputs(color(page, REPORT_BOLD), out);
    command = command ? command : "";
    report_put_cut(page->term, out, command,
                   page->term->width ? page->term->width : report_width(command), false, false);
    fputs(color(page, REPORT_RESET), out);
    if (report->data->n_executions > 1)
        fprintf(out, "\n  and %u more run%s, added up", report->data->n_executions - 1,
                report->data->n_executions == 2 ? "" : "s");
    fputs("\n  wall ", out);
    put_time(out, facts.wall_ns, utf8);
    fprintf(out, "%sCPU ", sep);
    put_time(out,
             facts.user_cpu_ns == PM_UNKNOWN || facts.system_cpu_ns == PM_UNKNOWN
                 ? PM_UNKNOWN
                 : facts.user_cpu_ns + facts.system_cpu_ns,
             utf8);
    fprintf(out, "%s%llu process%s%s%llu thread%s%smode %s", sep,
            (unsigned long long)facts.n_processes, facts.n_processes == 1 ? "" : "es", sep,
            (unsigned long long)facts.n_threads, facts.n_threads == 1 ? "" : "s", sep, facts.mode);
    if (facts.exit_signal != PM_UNKNOWN)
        fprintf(out, "%s%sended by signal %lld%s", sep, color(page, REPORT_RED),
                (long long)facts.exit_signal, color(page, REPORT_RESET));
    else if (facts.exit_status != PM_UNKNOWN && facts.exit_status != 0)
        fprintf(out, "%s%sexit status %lld%s", sep, color(page, REPORT_RED),
                (long long)facts.exit_status, color(page, REPORT_RESET));
    fputc('\n', out);
    put_sampling(page, &facts);
    put_line(page, slow_down_line(report, &facts, utf8));
    put_line(page, preempted_line(report, &facts, utf8));
    put_line(page, report_modes_line(report, utf8));
}

/* What the table shows, in words: level, grouping, rule where it matters, focus. */
static void put_view(const struct page *page)
{
    static const char *const by_words[] = {
        "loops and functions", "statements", "arrays", "variables", "functions", "files", "lines",
        "Processes",           "Threads"};
    static const char *const split_words[] = {"split", "split equally",
                                              "split by instruction counts"};
    struct report *report = page->report;
    const struct report_options *options = &report->options;
    bool is_code = !strcmp(report->level_name, "Base") && options->by != REPORT_BY_FUNCTION &&
                   options->by != REPORT_BY_FILE && report->samples_metric != PM_NONE;
    bool by_runner = report_is_by_runner(report);
    bool is_ours = report_is_at_source(report) || !strcmp(report->level_name, "Base");
    fprintf(page->out, "\n%s%s%s%s", by_runner ? "" : report->level_name,
            by_runner ? ""
            : is_ours ? " level, "
                      : " level",
            by_runner  ? by_words[options->by]
            : !is_ours ? ""
            : is_code  ? "machine code"
                       : by_words[options->by],
            options->tree ? ", call paths" : "");
    if (options->rule != PM_RULE_MERGE)
        fprintf(page->out, ", shared cost %s",
                options->rule != PM_RULE_SPLIT ? "closed over overlapping sets"
                : report->split_by_size ? "split by size of code (no instructions were counted)"
                                        : split_words[options->split]);
    if (report->n_metrics && report->metrics[report->primary] == report->cpu_metric)
        fprintf(page->out, ", %s", report_sampled_word(report));
    double total = report->n_metrics ? (double)report->total.values[report->primary].own.value : 0;
    if (report->folded_value > 0 && total > 0)
        fprintf(page->out,
                "\ncode of system headers, %.1f %%, counts for what uses it (--fold none)",
                100 * report->folded_value / total);
    if (options->focus) {
        const char *focus = report_printable(&report->arena, options->focus);
        fprintf(page->out, "\nfocus %s: %.1f %% of the whole run", focus ? focus : "",
                report->focus_share_pct);
    }
    fputc('\n', page->out);
}

void report_print_header(struct report *report, const struct report_term *term, FILE *out)
{
    struct page page = {report, term, out};
    put_header(&page);
    for (int i = 0; i < report->n_warnings; i++)
        put_wrapped(&page, "  warning: ", report->warnings[i]);
    put_view(&page);
}
