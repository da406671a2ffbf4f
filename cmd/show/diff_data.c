/* A comparison for programs: JSON and CSV (docs/diff.md has the members and columns). */
#include "diff.h"

#include "show.h"

#include "mapping/base/json.h"

#include <math.h>

static const char *const states[] = {[PM_COMPARE_MEASURED] = "measured",
                                     [PM_COMPARE_NO_COST] = "no cost",
                                     [PM_COMPARE_ABSENT] = "no such construct",
                                     [PM_COMPARE_UNKNOWN] = "not measured"};

/* NULL: there is none. */
static const char *verdict_of(const struct pm_comparison *c, const struct pm_compare_row *row)
{
    return row->verdict == PM_VERDICT_NONE ? NULL : pm_verdict_word(row->verdict, &c->metric);
}

static const char *reason_of(const struct pm_comparison *c, const struct pm_compare_row *row)
{
    if (!c->is_judged)
        return "fewer than 4 runs on a side";
    return *row->reason ? row->reason : NULL;
}

/* --- JSON --- */

static void json_cells(const struct pm_comparison *c, const struct pm_compare_row *row, int side,
                       struct pm_json *json)
{
    pm_json_object(json, side ? "b" : "a");
    pm_json_string(json, "where", row->places[side]);
    pm_json_string(json, "state", states[row->states[side]]);
    pm_json_double(json, "mean", row->means[side]);
    pm_json_double(json, "scaled_mean", row->scaled_means[side]);
    if (c->is_inclusive && row != &c->total)
        pm_json_double(json, "own_mean", row->own_means[side]);
    pm_json_bool(json, "is_at_least", row->is_at_least[side]);
    pm_json_bool(json, "is_uncertain", row->is_uncertain[side]);
    pm_json_array(json, "values");
    for (uint32_t i = 0; i < c->sides[side].n_runs; i++) {
        const struct pm_compare_cell *cell = &row->cells[side][i];
        pm_json_double(json, NULL, cell->state == PM_COMPARE_UNKNOWN ? NAN : cell->value);
    }
    pm_json_end(json);
    pm_json_end(json);
}

void show_diff_json_numbers(const struct pm_comparison *c, const struct pm_compare_row *row,
                            struct pm_json *json)
{
    json_cells(c, row, 0, json);
    json_cells(c, row, 1, json);
    pm_json_double(json, "difference", row->difference);
    if (c->is_inclusive && row != &c->total)
        pm_json_double(json, "own_difference", row->own_difference);
    pm_json_double(json, "change_pct", row->change_pct);
    pm_json_double(json, "low_pct", row->low_pct);
    pm_json_double(json, "high_pct", row->high_pct);
    pm_json_double(json, "would_have_been_seen_pct", row->seen_pct);
    pm_json_double(json, "p", row->p);
    pm_json_string(json, "verdict", verdict_of(c, row));
    pm_json_string(json, "reason", reason_of(c, row));
}

static void json_row(const struct pm_comparison *c, const struct pm_compare_row *row,
                     const char *key, struct pm_json *json)
{
    pm_json_object(json, key);
    if (c->is_tree && row != &c->total) {
        pm_json_u64(json, "id", (uint64_t)(row - c->rows));
        if (row->parent == PM_NONE)
            pm_json_null(json, "parent_id");
        else
            pm_json_u64(json, "parent_id", row->parent);
        pm_json_u64(json, "depth", row->depth);
    }
    pm_json_string(json, "what", row->what);
    pm_json_string(json, "was", row->was);
    if (row->joined)
        pm_json_string(json, "joined", row->joined);
    if (row->was)
        pm_json_bool(json, "is_likely", row->is_likely);
    show_diff_json_numbers(c, row, json);
    pm_json_end(json);
}

static void json_side(const struct pm_comparison *c, int side, struct pm_json *json)
{
    pm_json_array(json, side ? "b" : "a");
    for (uint32_t i = 0; i < c->sides[side].n_runs; i++) {
        const struct pm_compare_run *run = &c->sides[side].runs[i];
        pm_json_object(json, NULL);
        pm_json_string(json, "archive", run->path);
        pm_json_string(json, "command", run->command);
        pm_json_string(json, "mode", run->mode);
        pm_json_double(json, "total", run->total);
        pm_json_double(json, "factor", run->factor);
        pm_json_double(json, "speed", run->speed);
        pm_json_double(json, "slow_down_pct", run->slow_down_pct);
        pm_json_string(json, "measured_badly", run->poor);
        pm_json_end(json);
    }
    pm_json_end(json);
}

void show_diff_json_head(const struct pm_comparison *c, struct pm_json *json)
{
    pm_json_string(json, "level", c->level_name);
    pm_json_string(json, "metric", c->metric.name);
    pm_json_string(json, "unit", c->metric.unit);
    pm_json_object(json, "runs");
    json_side(c, 0, json);
    json_side(c, 1, json);
    pm_json_end(json);
    pm_json_bool(json, "is_scaled", c->is_scaled);
    pm_json_u64(json, "n_builds", c->n_builds);
    pm_json_u64(json, "n_constructs_in_functions", c->n_fine);
    pm_json_u64(json, "n_matched", c->n_matched);
    pm_json_array(json, "notes");
    for (uint32_t i = 0; i < c->n_notes; i++)
        pm_json_string(json, NULL, c->notes[i]);
    pm_json_end(json);
}

bool show_diff_json(const struct pm_comparison *comparison, const struct show_diff_options *options,
                    FILE *out)
{
    struct pm_json json;
    struct show_diff_rows shown;
    if (!show_diff_choose(comparison, options->limit, &shown))
        return false;
    pm_json_init(&json, out);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "format", "perfmap-diff");
    pm_json_u64(&json, "version", 1);
    pm_json_string(&json, "by", pm_view_by_word(comparison->options.view.by));
    pm_json_bool(&json, "is_tree", comparison->is_tree);
    pm_json_bool(&json, "is_inclusive", comparison->is_inclusive);
    show_diff_json_head(comparison, &json);
    json_row(comparison, &comparison->total, "total", &json);
    pm_json_array(&json, "rows");
    for (uint32_t i = 0; i < shown.n; i++)
        json_row(comparison, &comparison->rows[shown.rows[i]], NULL, &json);
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
    show_diff_rows_release(&shown);
    return true;
}

/* --- CSV --- */

static void csv_number(double value, FILE *out)
{
    fputc(',', out);
    if (isfinite(value))
        fprintf(out, "%.10g", value);
}

static void csv_text(const char *text, FILE *out)
{
    fputc(',', out);
    show_csv_text(out, text ? text : "");
}

const char show_diff_csv_columns[] =
    ",a_where,b_where,a_state,b_state,a,b,difference,change_pct,low_pct,high_pct,"
    "would_have_been_seen_pct,p,verdict,reason";

void show_diff_csv_numbers(const struct pm_comparison *c, const struct pm_compare_row *row,
                           FILE *out)
{
    const double numbers[] = {row->means[0], row->means[1], row->difference, row->change_pct,
                              row->low_pct,  row->high_pct, row->seen_pct,   row->p};
    csv_text(row->places[0], out);
    csv_text(row->places[1], out);
    csv_text(states[row->states[0]], out);
    csv_text(states[row->states[1]], out);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        csv_number(numbers[i], out);
    csv_text(verdict_of(c, row), out);
    csv_text(reason_of(c, row), out);
}

static void csv_row(const struct pm_comparison *c, const struct pm_compare_row *row, FILE *out)
{
    if (c->is_tree) {
        fprintf(out, "%td,", row - c->rows);
        if (row->parent != PM_NONE)
            fprintf(out, "%u", row->parent);
        fputc(',', out);
    }
    show_csv_text(out, row->what);
    show_diff_csv_numbers(c, row, out);
    csv_text(row->was, out);
    if (c->is_inclusive) {
        csv_number(row->own_means[0], out);
        csv_number(row->own_means[1], out);
        csv_number(row->own_difference, out);
    }
    fputc('\n', out);
}

bool show_diff_csv(const struct pm_comparison *comparison, const struct show_diff_options *options,
                   FILE *out)
{
    struct show_diff_rows shown;
    if (!show_diff_choose(comparison, options->limit, &shown))
        return false;
    const char *own = comparison->is_inclusive ? ",a_own,b_own,own_difference" : "";
    fprintf(out, "%swhat%s,was%s\n", comparison->is_tree ? "id,parent_id," : "",
            show_diff_csv_columns, own);
    for (uint32_t i = 0; i < shown.n; i++)
        csv_row(comparison, &comparison->rows[shown.rows[i]], out);
    show_diff_rows_release(&shown);
    return true;
}
