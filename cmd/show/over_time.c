/* Rows over time, and intervals, in text, JSON and CSV. */
#include "over_time.h"

#include "mapping/base/json.h"

#include <math.h>

bool show_has_over_time(const struct pm_view *report)
{
    return report->options.over_time && report->over_time.metric != PM_NONE;
}

static const char *metric_name(const struct pm_view *report)
{
    return report->data->graph->metrics[report->over_time.metric].name;
}

/* --- text --- */

void show_put_spark(const struct pm_view *report, const struct pm_view_row *row, bool utf8,
                    FILE *out)
{
    static const char *const high[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    enum { STEPS = sizeof high / sizeof *high - 1 };
    const int64_t *parts = row->over_time_inclusive ? row->over_time_inclusive : row->over_time;
    int64_t most = 0;
    for (uint32_t i = 0; parts && i < report->options.over_time; i++)
        most = parts[i] > most ? parts[i] : most;
    for (uint32_t i = 0; i < report->options.over_time; i++) {
        double part = parts && most > 0 ? (double)parts[i] / (double)most : 0;
        int step = part > 0 ? (int)ceil(part * STEPS) : 0;
        step = step > STEPS ? STEPS : step;
        fputs(utf8 ? high[step] : plain[step], out);
    }
}

static char letter_of(uint32_t phase)
{
    return (char)('a' + phase);
}

/* Those that are seen; a run of an interval may have been in others. */
static bool is_seen(const struct pm_view *report, uint32_t phase)
{
    for (uint32_t i = 0; i < report->options.over_time; i++)
        if (report->over_time.phases[phase].parts[i] > 0)
            return true;
    return false;
}

bool show_has_phases(const struct pm_view *report)
{
    for (uint32_t p = 0; show_has_over_time(report) && p < report->over_time.n_phases; p++)
        if (is_seen(report, p))
            return true;
    return false;
}

void show_put_phases(const struct pm_view *report, FILE *out)
{
    const struct pm_view_over_time *over = &report->over_time;
    for (uint32_t i = 0; i < report->options.over_time; i++) {
        uint32_t most = 0;
        for (uint32_t p = 1; p < over->n_phases; p++)
            most = over->phases[p].parts[i] > over->phases[most].parts[i] ? p : most;
        fputc(over->phases[most].parts[i] > 0 ? letter_of(most) : ' ', out);
    }
}

static void add_phases(const struct pm_view *report, struct pm_buf *out)
{
    const char *separator = out->len ? "; phases: " : "phases: ";
    for (uint32_t p = 0; show_has_phases(report) && p < report->over_time.n_phases; p++) {
        if (!is_seen(report, p))
            continue;
        pm_buf_printf(out, "%s%c %s", separator, letter_of(p), report->over_time.phases[p].name);
        separator = ", ";
    }
}

char *show_interval_text(const struct pm_view *report, bool utf8)
{
    struct pm_buf out = PM_BUF_INIT(256);
    struct pm_time_span shown = pm_view_shown_interval(report);
    char from[32], to[32], all[32];
    if (!pm_view_has_interval(report))
        return NULL;
    pm_view_put_time(shown.from_ns, utf8, from);
    pm_view_put_time(shown.until_ns, utf8, to);
    pm_view_put_time(report->run_ns, utf8, all);
    pm_buf_printf(&out, "from %s to %s of %s", from, to, all);
    return pm_buf_take(&out);
}

static void add_untimed(const struct pm_view *report, struct pm_buf *out)
{
    const struct pm_graph *graph = report->data->graph;
    const char *separator = "";
    for (pm_index m = 0; m < graph->n_metrics; m++)
        if (pm_view_lacks_times(report, m)) {
            pm_buf_printf(out, "%s%s", separator, graph->metrics[m].name);
            separator = ", ";
        }
    if (out->len)
        pm_buf_add_str(out, ": when it was is not known, so it is left out");
}

static void add_untimed_part(const struct pm_view *report, struct pm_buf *out)
{
    enum { LEAST_PCT = 1 };
    pm_index metric = report->n_metrics ? report->metrics[report->primary] : PM_NONE;
    if (report->options.over_time && !pm_view_has_interval(report))
        metric = report->over_time.metric;
    double pct = pm_view_untimed_pct(report, metric);
    if (pct >= LEAST_PCT)
        pm_buf_printf(out, "%s%.1f %% of %s has no time, and is in no part", out->len ? "; " : "",
                      pct, report->data->graph->metrics[metric].name);
}

static void add_over_time(const struct pm_view *report, bool utf8, struct pm_buf *out)
{
    struct pm_time_span shown = pm_view_shown_interval(report);
    uint32_t n = report->options.over_time;
    char each[32];
    if (!n)
        return;
    pm_buf_add_str(out, out->len ? "; " : "");
    if (!show_has_over_time(report)) {
        pm_buf_printf(out, "%s has no times, so there is nothing over time",
                      report->n_metrics
                          ? report->data->graph->metrics[report->metrics[report->primary]].name
                          : "n_calls");
        return;
    }
    pm_view_put_time((shown.until_ns - shown.from_ns) / n, utf8, each);
    pm_buf_printf(out, "over time: %s in %u part%s of %s, each row relative to its own peak",
                  metric_name(report), n, n == 1 ? "" : "s", each);
}

char *show_times_note(const struct pm_view *report, bool utf8)
{
    struct pm_buf out = PM_BUF_INIT(1 << 16);
    if (pm_view_has_interval(report))
        add_untimed(report, &out);
    add_untimed_part(report, &out);
    add_over_time(report, utf8, &out);
    add_phases(report, &out);
    return out.len ? pm_buf_take(&out) : NULL;
}

/* --- JSON --- */

void show_limits_json(const struct pm_view *report, struct pm_json *json)
{
    struct pm_time_span shown = pm_view_shown_interval(report);
    if (pm_view_has_interval(report)) {
        pm_json_i64(json, "from_ns", shown.from_ns);
        pm_json_i64(json, "to_ns", shown.until_ns);
    } else {
        pm_json_null(json, "from_ns");
        pm_json_null(json, "to_ns");
    }
}

static void phases_json(const struct pm_view *report, struct pm_json *json)
{
    pm_json_array(json, "phases");
    for (uint32_t p = 0; p < report->over_time.n_phases; p++) {
        pm_json_object(json, NULL);
        pm_json_string(json, "name", report->over_time.phases[p].name);
        pm_json_array(json, "own_over_time_ns");
        for (uint32_t i = 0; i < report->options.over_time; i++)
            pm_json_i64(json, NULL, (int64_t)report->over_time.phases[p].parts[i]);
        pm_json_end(json);
        pm_json_end(json);
    }
    pm_json_end(json);
}

void show_interval_json(const struct pm_view *report, struct pm_json *json)
{
    pm_json_i64(json, "run_ns", report->run_ns);
    show_limits_json(report, json);
    if (pm_view_has_interval(report)) {
        pm_json_array(json, "metrics_without_times");
        for (pm_index m = 0; m < report->data->graph->n_metrics; m++)
            if (pm_view_lacks_times(report, m))
                pm_json_string(json, NULL, report->data->graph->metrics[m].name);
        pm_json_end(json);
    }
    if (!show_has_over_time(report)) {
        pm_json_null(json, "over_time");
        return;
    }
    pm_json_object(json, "over_time");
    pm_json_string(json, "metric", metric_name(report));
    pm_json_double(json, "without_time_pct", pm_view_untimed_pct(report, report->over_time.metric));
    pm_json_array(json, "edges_ns");
    for (uint32_t i = 0; i <= report->options.over_time; i++)
        pm_json_i64(json, NULL, report->over_time.edges_ns[i]);
    pm_json_end(json);
    phases_json(report, json);
    pm_json_end(json);
}

static void parts_json(const struct pm_view *report, const char *key, const int64_t *parts,
                       struct pm_json *json)
{
    if (!parts)
        return;
    pm_json_array(json, key);
    for (uint32_t i = 0; i < report->options.over_time; i++)
        pm_json_i64(json, NULL, parts[i]);
    pm_json_end(json);
}

void show_over_time_json(const struct pm_view *report, const struct pm_view_row *row,
                         struct pm_json *json)
{
    if (!show_has_over_time(report))
        return;
    parts_json(report, "own_over_time", row->over_time, json);
    parts_json(report, "inclusive_over_time", row->over_time_inclusive, json);
}

/* --- CSV --- */

static bool has_inclusive(const struct pm_view *report)
{
    return report->over_time.inclusive_cells != NULL;
}

void show_over_time_csv_head(const struct pm_view *report, FILE *out)
{
    for (uint32_t i = 0; show_has_over_time(report) && i < report->options.over_time; i++)
        fprintf(out, ",own_%s_part_%u", metric_name(report), i + 1);
    for (uint32_t i = 0; has_inclusive(report) && i < report->options.over_time; i++)
        fprintf(out, ",inclusive_%s_part_%u", metric_name(report), i + 1);
}

static void parts_csv(const struct pm_view *report, const int64_t *parts, FILE *out)
{
    for (uint32_t i = 0; i < report->options.over_time; i++)
        if (parts)
            fprintf(out, ",%lld", (long long)parts[i]);
        else
            fputc(',', out);
}

void show_over_time_csv(const struct pm_view *report, const struct pm_view_row *row, FILE *out)
{
    if (show_has_over_time(report))
        parts_csv(report, row->over_time, out);
    if (has_inclusive(report))
        parts_csv(report, row->over_time_inclusive, out);
}
