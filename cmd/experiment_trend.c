/* perfmap experiment trend */
#include "experiment_trend.h"

#include "cmd/show/cells.h"
#include "cmd/show/show.h"

#include "mapping/base/json.h"
#include "mapping/view/groupings.h"

#include <libsmartcols/libsmartcols.h>
#include <math.h>

enum { TEXT_BYTES = 64, SPARK_POINTS = 40, LAST_CHANGES = 3 };

struct show {
    const struct pm_experiment *experiment;
    const struct experiment_trend *options;
    const struct pm_trend *trend;
    struct show_term term;
    struct show_scale scale;
    uint32_t n_shown;
};

/* --- text --- */

/* The last SPARK_POINTS points, between the least and the most of them; blank: not known. */
static void put_spark(const struct show *s, const struct pm_trend_row *row, struct pm_buf *out)
{
    static const char *const high[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {".", ":", "-", "=", "+", "*", "#", "@"};
    enum { STEPS = sizeof high / sizeof *high };
    uint32_t n = s->trend->n_points, first = n > SPARK_POINTS ? n - SPARK_POINTS : 0;
    double least = INFINITY, most = -INFINITY;
    for (uint32_t p = first; p < n; p++) {
        least = fmin(least, row->means[p]);
        most = fmax(most, row->means[p]);
    }
    for (uint32_t p = first; p < n; p++) {
        double part = most > least ? (row->means[p] - least) / (most - least) : 0.5;
        int step = (int)(part * STEPS);
        step = step >= STEPS ? STEPS - 1 : step;
        if (isnan(row->means[p]))
            pm_buf_add_byte(out, ' ');
        else
            pm_buf_add_str(out, s->term.utf8 ? high[step] : plain[step]);
    }
}

static void put_number(const struct show *s, double value, char ret[TEXT_BYTES])
{
    *ret = 0;
    if (!isnan(value))
        snprintf(ret, TEXT_BYTES, "%.*f", s->scale.decimals, value / s->scale.divisor);
}

static void put_percent(double from, double to, char ret[TEXT_BYTES])
{
    *ret = 0;
    if (from > 0 && !isnan(to))
        snprintf(ret, TEXT_BYTES, "%+.1f %%", 100 * (to - from) / from);
}

/* "4f2a +20.3 %, 91bc -3.0 %"; why none were looked for. */
static void put_changes(const struct show *s, const struct pm_trend_row *row, struct pm_buf *out)
{
    uint32_t first = row->n_changes > LAST_CHANGES ? row->n_changes - LAST_CHANGES : 0;
    if (first)
        pm_buf_printf(out, "%u before, ", first);
    for (uint32_t i = first; i < row->n_changes; i++) {
        const struct pm_change *change = &row->changes[i];
        pm_buf_printf(out, "%s%s ", i > first ? ", " : "", s->trend->points[change->at].value);
        if (isfinite(change->change_pct))
            pm_buf_printf(out, "%+.1f %%", change->change_pct);
        else
            pm_buf_add_str(out, "new");
    }
    if (!row->is_whole)
        pm_buf_add_str(out, "undefined");
}

static bool set_text(struct libscols_line *line, size_t column, struct pm_buf *text)
{
    bool good =
        !text->failed && scols_line_set_data(line, column, text->len ? text->data : "") == 0;
    pm_buf_release(text);
    return good;
}

static bool add_line(const struct show *s, struct libscols_table *table,
                     const struct pm_trend_row *row)
{
    uint32_t last = s->trend->n_points - 1;
    char numbers[3][TEXT_BYTES];
    struct pm_buf spark = PM_BUF_INIT(1 << 16), changes = PM_BUF_INIT(1 << 16);
    struct libscols_line *line = scols_table_new_line(table, NULL);
    put_number(s, row->means[0], numbers[0]);
    put_number(s, row->means[last], numbers[1]);
    put_percent(row->means[0], row->means[last], numbers[2]);
    put_spark(s, row, &spark);
    put_changes(s, row, &changes);
    bool good = line != NULL;
    for (size_t i = 0; i < 3 && good; i++)
        good = scols_line_set_data(line, i, numbers[i]) == 0;
    good = good && set_text(line, 3, &spark) && set_text(line, 4, &changes);
    return good && scols_line_set_data(line, 5, row->place) == 0 &&
           scols_line_set_data(line, 6, row->what) == 0;
}

static bool add_columns(const struct show *s, struct libscols_table *table)
{
    char first[TEXT_BYTES], last[TEXT_BYTES];
    const char *blank = *s->scale.unit ? " " : "";
    snprintf(first, sizeof first, "first%s%s", blank, s->scale.unit);
    snprintf(last, sizeof last, "last%s%s", blank, s->scale.unit);
    return scols_table_new_column(table, first, 0, SCOLS_FL_RIGHT) &&
           scols_table_new_column(table, last, 0, SCOLS_FL_RIGHT) &&
           scols_table_new_column(table, "change", 0, SCOLS_FL_RIGHT) &&
           scols_table_new_column(table, "trend", 0, 0) &&
           scols_table_new_column(table, "changes", 0, 0) &&
           scols_table_new_column(table, "where", 0, SCOLS_FL_TRUNC) &&
           scols_table_new_column(table, "what", 0, SCOLS_FL_TRUNC);
}

static void print_head(const struct show *s)
{
    const struct pm_trend *trend = s->trend;
    const char *by = pm_view_by_prose(s->options->compare.view.by);
    const char *how = trend->is_sampled ? "CPU time by samples" : trend->metric.name;
    printf("%s: %u members, %u points by %s, %s to %s\n", s->experiment->path, trend->n_members,
           trend->n_points, s->options->key, trend->points[0].value,
           trend->points[trend->n_points - 1].value);
    if (trend->n_left_out)
        printf("  note: %u members are left out: missing, changed, or poor ('perfmap experiment "
               "check' names them)\n",
               trend->n_left_out);
    if (trend->n_without_key)
        printf("  note: %u members have no attribute '%s', and are left out\n",
               trend->n_without_key, s->options->key);
    if (trend->n_members < 2 * PM_CHANGE_LEAST)
        printf("  note: no change is looked for in fewer than %d members\n", 2 * PM_CHANGE_LEAST);
    printf("\n%s level, %s, %s\n\n", "Source", by, how);
}

static bool print_table(const struct show *s)
{
    struct libscols_table *table = scols_new_table();
    bool good = table && add_columns(s, table) && add_line(s, table, &s->trend->total);
    for (uint32_t r = 0; r < s->n_shown && good; r++)
        good = add_line(s, table, &s->trend->rows[r]);
    if (good) {
        print_head(s);
        scols_table_set_stream(table, stdout);
        scols_table_enable_noencoding(table, 1); /* cells are printable already */
        scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS);
        scols_table_set_termwidth(table, s->term.width ? (size_t)s->term.width : 100000);
        good = scols_print_table(table) == 0;
    }
    scols_unref_table(table);
    if (good && s->n_shown < s->trend->n_rows)
        printf("%u more rows: --limit 0\n", s->trend->n_rows - s->n_shown);
    return good;
}

/* --- JSON, CSV --- */

static void print_row_json(const struct show *s, const struct pm_trend_row *row, const char *key,
                           struct pm_json *json)
{
    pm_json_object(json, key);
    pm_json_string(json, "what", row->what);
    pm_json_string(json, "where", *row->place ? row->place : NULL);
    pm_json_array(json, "means");
    for (uint32_t p = 0; p < s->trend->n_points; p++)
        pm_json_double(json, NULL, row->means[p]);
    pm_json_end(json);
    pm_json_array(json, "changes");
    for (uint32_t i = 0; i < row->n_changes; i++) {
        const struct pm_change *change = &row->changes[i];
        pm_json_object(json, NULL);
        pm_json_u64(json, "point", change->at);
        pm_json_string(json, "value", s->trend->points[change->at].value);
        pm_json_double(json, "before", change->before);
        pm_json_double(json, "after", change->after);
        pm_json_double(json, "change_pct", change->change_pct);
        pm_json_double(json, "p", change->p);
        pm_json_end(json);
    }
    pm_json_end(json);
    pm_json_end(json);
}

static void print_points(const struct show *s, struct pm_json *json)
{
    const struct pm_trend *trend = s->trend;
    pm_json_array(json, "points");
    for (uint32_t p = 0; p < trend->n_points; p++) {
        pm_json_object(json, NULL);
        pm_json_string(json, "value", trend->points[p].value);
        pm_json_array(json, "members");
        for (uint32_t i = 0; i < trend->points[p].n; i++)
            pm_json_i64(json, NULL,
                        s->experiment->members[trend->members[trend->points[p].first + i]].id);
        pm_json_end(json);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void print_json(const struct show *s)
{
    struct pm_json json;
    pm_json_init(&json, stdout);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "format", "perfmap-trend");
    pm_json_u64(&json, "version", 1);
    pm_json_string(&json, "experiment", s->experiment->path);
    pm_json_string(&json, "key", s->options->key);
    pm_json_string(&json, "by", pm_view_by_word(s->options->compare.view.by));
    pm_json_string(&json, "metric", s->trend->metric.name);
    pm_json_string(&json, "unit", s->trend->metric.unit);
    pm_json_u64(&json, "n_left_out", s->trend->n_left_out);
    pm_json_u64(&json, "n_without_key", s->trend->n_without_key);
    print_points(s, &json);
    print_row_json(s, &s->trend->total, "total", &json);
    pm_json_array(&json, "rows");
    for (uint32_t r = 0; r < s->n_shown; r++)
        print_row_json(s, &s->trend->rows[r], NULL, &json);
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* cmd_stdout_done tells */
}

static void print_row_csv(const struct show *s, const struct pm_trend_row *row)
{
    uint32_t change = 0;
    for (uint32_t p = 0; p < s->trend->n_points; p++) {
        bool is_change = change < row->n_changes && row->changes[change].at == p;
        show_csv_text(stdout, row->what);
        putchar(',');
        show_csv_text(stdout, row->place);
        putchar(',');
        show_csv_text(stdout, s->trend->points[p].value);
        printf(",%u,", s->trend->points[p].n);
        if (!isnan(row->means[p]))
            printf("%.10g", row->means[p]);
        putchar(',');
        if (is_change && isfinite(row->changes[change].change_pct))
            printf("%.10g", row->changes[change].change_pct);
        putchar('\n');
        change += is_change;
    }
}

static void print_csv(const struct show *s)
{
    puts("what,where,value,n_members,mean,change_pct");
    print_row_csv(s, &s->trend->total);
    for (uint32_t r = 0; r < s->n_shown; r++)
        print_row_csv(s, &s->trend->rows[r]);
}

/* --- the command --- */

static bool print(struct show *s, bool json)
{
    const struct pm_trend *trend = s->trend;
    s->n_shown = s->options->limit && s->options->limit < trend->n_rows
                     ? (uint32_t)s->options->limit
                     : trend->n_rows;
    if (json)
        print_json(s);
    else if (s->options->csv)
        print_csv(s);
    else
        return print_table(s);
    return true;
}

static enum pm_status show_trend(const struct cmd_parse *parse,
                                 const struct pm_experiment *experiment, const char *selection,
                                 const struct experiment_trend *options, struct pm_error *err)
{
    struct pm_experiment_selection chosen;
    struct pm_trend *trend;
    const struct pm_trend_options asked = {options->key, options->compare, options->least_pct};
    enum pm_status status = pm_experiment_select(experiment, selection, err, &chosen);
    if (status != PM_OK)
        return status;
    status = pm_experiment_trend(experiment, &chosen, &asked, err, &trend);
    free(chosen.items);
    if (status != PM_OK)
        return status;
    struct show s = {.experiment = experiment,
                     .options = options,
                     .trend = trend,
                     .term = show_term_of(stdout, options->look)};
    double mean = trend->total.all / trend->n_members;
    s.scale = show_scale_of(&trend->metric, mean, s.term.utf8);
    if (!print(&s, parse->json))
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    pm_trend_free(trend);
    return status;
}

int experiment_show_trend(struct cmd_parse *parse, const struct experiment_trend *options)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_experiment *experiment;
    const char *selection;
    int end;
    if (!experiment_open(parse, &selection, &experiment, &end))
        return end;
    enum pm_status status = show_trend(parse, experiment, selection, options, &err);
    pm_experiment_close(experiment);
    return status != PM_OK ? cmd_refuse(parse, status, &err) : cmd_stdout_done(parse, CMD_DONE);
}
