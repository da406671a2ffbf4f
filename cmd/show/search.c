/* What a search found; docs/search.md explains it. Its rows are those of a comparison. */
#include "search.h"

#include "cells.h"
#include "show.h"

#include "mapping/base/json.h"

#include <math.h>
#include <stdlib.h>

static const char few_runs[] =
    "with fewer than 4 runs on each side nobody knows what is noise: what differs by more than the "
    "threshold, and by more than samples do by chance, is listed, and may be noise of the machine";

static uint32_t n_shown(const struct pm_search *search, const struct show_diff_options *options)
{
    uint32_t n = search->comparison->n_rows;
    return options->limit && options->limit < n ? (uint32_t)options->limit : n;
}

/* --- texts --- */

static void add_amount(const struct show_scale *scale, double value, bool has_sign,
                       struct pm_buf *out)
{
    if (has_sign && value > 0)
        pm_buf_add_byte(out, '+');
    pm_buf_printf(out, "%.*f%s%s", scale->decimals, value / scale->divisor, *scale->unit ? " " : "",
                  scale->unit);
}

static void add_axes(const struct pm_search *search, struct pm_buf *out)
{
    for (uint32_t i = 0; i < search->n_axes; i++)
        pm_buf_printf(out, "%s%s", i ? ", " : "", search->axes[i]);
}

static void add_sides(const struct pm_search *search, struct pm_buf *out)
{
    const struct pm_search_options *options = &search->options;
    static const char *const words[] = {"sum", "mean", "minimum", "maximum", "standard deviation"};
    const char *runners = options->over ? pm_runner_kind(options->over)->plural : "";
    if (options->within)
        pm_buf_printf(out, ". A is the mean over %s, B each of them", runners);
    else if (options->over)
        pm_buf_printf(out, ". Numbers are the %s over %s", words[options->summary], runners);
}

static void add_heading(const struct pm_search *search, const struct show_scale *scale,
                        struct pm_buf *out)
{
    const struct pm_comparison *c = search->comparison;
    pm_buf_printf(out, "Search by %s over ", show_diff_metric(c));
    add_axes(search, out);
    pm_buf_printf(out, ": %u of %u foci differ", search->n_failed,
                  search->n_looked_at ? search->n_looked_at - 1 : 0);
    if (search->n_folded)
        pm_buf_printf(out, ", %u of them for a part that is listed", search->n_folded);
    pm_buf_printf(out, ". Threshold: %g %% of a focus, and ", search->options.compare.least_pct);
    add_amount(scale, search->least, false, out);
    if (search->n_pruned)
        pm_buf_printf(out, ": no part of %u other foci can reach that", search->n_pruned);
    add_sides(search, out);
    if (search->whole_fails && search->n_failed == 0 && c->is_scaled)
        pm_buf_add_str(out, ". The total differs, and no part more than all others do");
    if (search->n_left)
        pm_buf_printf(out, ". %u more foci were not looked at: %d is the limit", search->n_left,
                      PM_SEARCH_MOST_FOCI);
}

/* "parts: +44.1 ms, -39.0 ms" of a focus that compensates; parent: PM_NONE: the whole program. */
static void add_parts(const struct pm_search *search, uint32_t parent,
                      const struct show_scale *scale, struct pm_buf *out)
{
    double sums[2] = {0};
    for (uint32_t i = 0; i < search->comparison->n_rows; i++)
        if (search->foci[i].parent == parent) {
            double by = search->comparison->rows[i].difference;
            sums[by < 0] += by;
        }
    pm_buf_add_str(out, " (parts: ");
    add_amount(scale, sums[0], true, out);
    pm_buf_add_str(out, ", ");
    add_amount(scale, sums[1], true, out);
    pm_buf_add_byte(out, ')');
}

struct texts {
    const struct pm_search *search;
    struct show_scale scale;
    struct show_term term;
    struct pm_arena arena;
    bool failed;
};

static const char *keep(struct texts *t, struct pm_buf *text)
{
    pm_buf_add_byte(text, 0);
    const char *kept = text->failed ? NULL : pm_arena_strndup(&t->arena, text->data, text->len - 1);
    t->failed |= !kept;
    pm_buf_release(text);
    return kept ? kept : "";
}

static const char *compensates_mark(const struct texts *t)
{
    return t->term.utf8 ? "± " : "+- ";
}

static const char *what_of(struct texts *t, uint32_t row)
{
    const struct pm_search_focus *focus = &t->search->foci[row];
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    pm_buf_printf(&text, "%*s%s%s", 2 * (int)focus->depth, "",
                  focus->is_compensating ? compensates_mark(t) : "",
                  t->search->comparison->rows[row].what);
    if (focus->is_compensating)
        add_parts(t->search, row, &t->scale, &text);
    return keep(t, &text);
}

static const char *what_of_total(struct texts *t)
{
    struct pm_buf text = PM_BUF_INIT(1 << 10);
    bool both = t->search->whole_compensates;
    pm_buf_printf(&text, "%stotal", both ? compensates_mark(t) : "");
    if (both)
        add_parts(t->search, PM_NONE, &t->scale, &text);
    return keep(t, &text);
}

static const char *heading_of(struct texts *t)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    add_heading(t->search, &t->scale, &text);
    return keep(t, &text);
}

static void put_more(const struct pm_search *search, const struct show_term *term, uint32_t n,
                     FILE *out)
{
    char text[80];
    if (n == search->comparison->n_rows)
        return;
    snprintf(text, sizeof text, "(%u more: --limit 0)", search->comparison->n_rows - n);
    show_put_wrapped(term, out, "", text);
}

bool show_search_table(const struct pm_search *search, const struct show_diff_options *options,
                       const struct show_look *look, FILE *out)
{
    struct pm_comparison c = *search->comparison;
    struct texts t = {.search = search, .term = show_term_of(out, look)};
    c.n_rows = n_shown(search, options);
    c.rows = pm_alloc_array((size_t)c.n_rows + 1, sizeof *c.rows);
    if (!c.rows)
        return false;
    t.scale = show_scale_of(&c.metric, fmax(c.total.means[0], c.total.means[1]), t.term.utf8);
    for (uint32_t i = 0; i < c.n_rows; i++) {
        c.rows[i] = search->comparison->rows[i];
        c.rows[i].what = what_of(&t, i);
    }
    c.total.what = what_of_total(&t);
    const struct show_diff_options shown = {.heading = heading_of(&t), .few_runs = few_runs};
    bool good = !t.failed && show_diff_table(&c, &shown, look, out);
    put_more(search, &t.term, c.n_rows, out);
    free(c.rows);
    pm_arena_release(&t.arena);
    return good;
}

/* --- for programs --- */

static void json_focus(const struct pm_search *search, uint32_t i, struct pm_json *json)
{
    const struct pm_search_focus *focus = &search->foci[i];
    const struct pm_compare_row *row = &search->comparison->rows[i];
    pm_json_object(json, NULL);
    pm_json_u64(json, "id", i);
    if (focus->parent == PM_NONE)
        pm_json_null(json, "parent_id");
    else
        pm_json_u64(json, "parent_id", focus->parent);
    pm_json_string(json, "what", row->what);
    for (uint32_t a = 0; a < search->n_axes; a++)
        pm_json_string(json, search->axes[a], focus->names[a]);
    pm_json_bool(json, "is_failed", focus->is_failed);
    pm_json_bool(json, "is_compensating", focus->is_compensating);
    pm_json_double(json, "threshold", focus->threshold);
    pm_json_double(json, "differences_of_parts", focus->part_differences);
    show_diff_json_numbers(search->comparison, row, json);
    pm_json_end(json);
}

static void json_counts(const struct pm_search *search, struct pm_json *json)
{
    pm_json_array(json, "hierarchies");
    for (uint32_t a = 0; a < search->n_axes; a++)
        pm_json_string(json, NULL, search->axes[a]);
    pm_json_end(json);
    pm_json_double(json, "least_difference", search->least);
    pm_json_u64(json, "n_cells", search->n_cells);
    pm_json_u64(json, "n_looked_at", search->n_looked_at);
    pm_json_u64(json, "n_failed", search->n_failed);
    pm_json_u64(json, "n_folded", search->n_folded);
    pm_json_u64(json, "n_pruned", search->n_pruned);
    pm_json_u64(json, "n_not_looked_at", search->n_left);
}

static void json_total(const struct pm_search *search, struct pm_json *json)
{
    pm_json_object(json, "total");
    pm_json_bool(json, "is_failed", search->whole_fails);
    pm_json_bool(json, "is_compensating", search->whole_compensates);
    pm_json_double(json, "differences_of_parts", search->whole_differences);
    show_diff_json_numbers(search->comparison, &search->comparison->total, json);
    pm_json_end(json);
}

void show_search_json(const struct pm_search *search, const struct show_diff_options *options,
                      FILE *out)
{
    struct pm_json json;
    pm_json_init(&json, out);
    pm_json_object(&json, NULL);
    pm_json_string(&json, "format", "perfmap-search");
    pm_json_u64(&json, "version", 1);
    show_diff_json_head(search->comparison, &json);
    json_counts(search, &json);
    json_total(search, &json);
    pm_json_array(&json, "foci");
    for (uint32_t i = 0; i < n_shown(search, options); i++)
        json_focus(search, i, &json);
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
}

void show_search_csv(const struct pm_search *search, const struct show_diff_options *options,
                     FILE *out)
{
    fputs("id,parent_id,what", out);
    for (uint32_t a = 0; a < search->n_axes; a++)
        fprintf(out, ",%s", search->axes[a]);
    fprintf(out, ",is_failed,is_compensating%s\n", show_diff_csv_columns);
    for (uint32_t i = 0; i < n_shown(search, options); i++) {
        const struct pm_search_focus *focus = &search->foci[i];
        fprintf(out, "%u,", i);
        if (focus->parent != PM_NONE)
            fprintf(out, "%u", focus->parent);
        fputc(',', out);
        show_csv_text(out, search->comparison->rows[i].what);
        for (uint32_t a = 0; a < search->n_axes; a++) {
            fputc(',', out);
            show_csv_text(out, focus->names[a] ? focus->names[a] : "");
        }
        fprintf(out, ",%d,%d", focus->is_failed, focus->is_compensating);
        show_diff_csv_numbers(search->comparison, &search->comparison->rows[i], out);
        fputc('\n', out);
    }
}
