/* Several sides for programs: JSON and CSV (docs/diff.md has the members and columns). */
#include "sides.h"

#include "diff.h"
#include "show.h"

#include "mapping/base/json.h"

/* Of each other side, what `perfmap diff` says of A and that side. */
static void json_columns(const struct show_sides *sides, const struct pm_compare_row *base,
                         struct pm_json *json)
{
    pm_json_array(json, "sides");
    for (uint32_t i = 0; i < sides->n_columns; i++) {
        const struct pm_comparison *column = &sides->columns[i];
        const struct pm_compare_row *row = base == &sides->whole->total
                                               ? &column->total
                                               : &column->rows[base - sides->whole->rows];
        pm_json_object(json, NULL);
        show_diff_json_numbers(column, row, json);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_row(const struct show_sides *sides, const struct pm_compare_row *row,
                     struct pm_json *json)
{
    pm_json_object(json, NULL);
    if (sides->whole->is_tree) {
        pm_json_u64(json, "id", (uint64_t)(row - sides->whole->rows));
        if (row->parent == PM_NONE)
            pm_json_null(json, "parent_id");
        else
            pm_json_u64(json, "parent_id", row->parent);
        pm_json_u64(json, "depth", row->depth);
    }
    pm_json_string(json, "what", row->what);
    json_columns(sides, row, json);
    pm_json_end(json);
}

static void json_runs(const struct pm_compare_side *side, struct pm_json *json)
{
    pm_json_array(json, NULL);
    for (uint32_t i = 0; i < side->n_runs; i++)
        pm_json_string(json, NULL, side->runs[i].path);
    pm_json_end(json);
}

/* Speeds of runs are others in each comparison, so they are not here. */
static void json_head(const struct pm_comparison *whole, struct pm_json *json)
{
    pm_json_string(json, "level", whole->level_name);
    pm_json_string(json, "metric", whole->metric.name);
    pm_json_string(json, "unit", whole->metric.unit);
    pm_json_u64(json, "n_builds", whole->n_builds);
    pm_json_u64(json, "n_constructs_in_functions", whole->n_fine);
    pm_json_u64(json, "n_matched", whole->n_matched);
    pm_json_array(json, "notes");
    for (uint32_t i = 0; i < whole->n_notes; i++)
        pm_json_string(json, NULL, whole->notes[i]);
    pm_json_end(json);
}

bool show_sides_json(const struct show_sides *sides, uint64_t limit, FILE *out)
{
    const struct pm_comparison *whole = sides->whole;
    struct show_diff_rows shown;
    struct pm_json json;
    if (!show_diff_choose(whole, limit, &shown))
        return false;
    pm_json_init(&json, out);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "format", "perfmap-compare");
    pm_json_u64(&json, "version", 1);
    pm_json_string(&json, "by", pm_view_by_word(whole->options.view.by));
    pm_json_bool(&json, "is_tree", whole->is_tree);
    pm_json_bool(&json, "is_inclusive", whole->is_inclusive);
    json_head(whole, &json);
    pm_json_array(&json, "archives");
    json_runs(&whole->sides[0], &json);
    for (uint32_t i = 0; i < sides->n_columns; i++)
        json_runs(&sides->columns[i].sides[1], &json);
    pm_json_end(&json);
    pm_json_object(&json, "total");
    json_columns(sides, &whole->total, &json);
    pm_json_end(&json);
    pm_json_array(&json, "rows");
    for (uint32_t i = 0; i < shown.n; i++)
        json_row(sides, &whole->rows[shown.rows[i]], &json);
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
    show_diff_rows_release(&shown);
    return true;
}

/* A line for each row and each side. */
bool show_sides_csv(const struct show_sides *sides, uint64_t limit, FILE *out)
{
    struct show_diff_rows shown;
    if (!show_diff_choose(sides->whole, limit, &shown))
        return false;
    fprintf(out, "side,what%s\n", show_diff_csv_columns);
    for (uint32_t i = 0; i < shown.n; i++)
        for (uint32_t c = 0; c < sides->n_columns; c++) {
            const struct pm_compare_row *row = &sides->columns[c].rows[shown.rows[i]];
            fprintf(out, "%c,", (int)('B' + c));
            show_csv_text(out, row->what);
            show_diff_csv_numbers(&sides->columns[c], row, out);
            fputc('\n', out);
        }
    show_diff_rows_release(&shown);
    return true;
}
