/* From archives to rows with a cell for each run. */
#include "compare.h"

#include "align.h"

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/base/statement_names.h"
#include "mapping/view/columns.h"
#include "mapping/view/groupings.h"
#include "mapping/view/keys.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

/* A number of a run. */
struct entry {
    uint32_t row;
    struct pm_compare_cell cell;
};

struct reading {
    struct entry *entries;
    uint32_t n;
    uint32_t build;
    bool has_level;
};

/* Runs of one build have the same constructs: those of its first archive, and what has costs in
 * another one. */
struct build {
    uint64_t hash;
    struct pm_map constructs; /* key of a noun -> 1 */
};

/* Beside each row of the comparison: what it is made of. */
struct parts {
    uint64_t *nouns; /* keys; n 0: it can be in any build */
    uint32_t n;
};

struct compare {
    struct pm_comparison *to;
    struct pm_error *err;
    const struct pm_compare_input *inputs;
    const struct pm_compare_visitor *visitor;
    struct pm_view_options options; /* with the metric */
    struct pm_view reference;
    struct reading *readings[2];
    bool is_other_build[2]; /* than A's first: the last run of the side that was read */
    struct build *builds;
    uint32_t n_builds, cap_builds;
    struct parts *parts;
    uint32_t cap_rows, cap_parts, cap_notes;
    struct pm_map row_of; /* hash of a key -> 1 + row */
};

static enum pm_status no_memory(struct compare *c)
{
    return pm_error_set(c->err, PM_ERR_MEMORY, "out of memory");
}

static const char *keep(struct compare *c, const char *text)
{
    return pm_arena_strndup(&c->to->arena, text, strlen(text));
}

PM_MUST_CHECK static enum pm_status add_note(struct compare *c, const char *format, ...)
    PM_PRINTF(2, 3);

static enum pm_status add_note(struct compare *c, const char *format, ...)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(&text, format, args);
    va_end(args);
    char **notes = pm_grow_array(c->to->notes, c->to->n_notes, &c->cap_notes, 16, sizeof *notes);
    if (notes)
        c->to->notes = notes;
    char *note = text.failed ? NULL : pm_buf_take(&text);
    pm_buf_release(&text);
    if (!notes || !note) {
        free(note);
        return no_memory(c);
    }
    notes[c->to->n_notes++] = note;
    return PM_OK;
}

/* --- views --- */

/* Are rows of what lies in functions? */
static bool looks_into_functions(const struct pm_view_options *options)
{
    return options->by != PM_VIEW_BY_FUNCTION && options->by != PM_VIEW_BY_FILE &&
           options->by != PM_VIEW_BY_OPERATION && !pm_view_grouping_by(options->by)->runner;
}

/* whole: with what has no costs, which is much more. */
static enum pm_status make_view(struct compare *c, const char *path, bool whole,
                                struct pm_view *view)
{
    *view = (struct pm_view){.options = c->options};
    view->options.archive_path = path;
    view->options.all_functions = whole;
    view->options.all_nouns = view->options.everything = whole && looks_into_functions(&c->options);
    return pm_view_make(view, c->err);
}

static struct pm_view_column column_of(const struct pm_view *view)
{
    struct pm_view_column column = {.id = PM_VIEW_COLUMN_OWN, .metric = view->primary};
    if (view->primary == view->n_metrics)
        column = (struct pm_view_column){.id = PM_VIEW_COLUMN_CALLS};
    return column;
}

/* The metric that A's first shows by itself, for all; its graph ends with the reference. */
static enum pm_status choose_metric(struct compare *c)
{
    const struct pm_view *view = &c->reference;
    const struct pm_graph *graph = view->data->graph;
    pm_index metric =
        view->primary == view->n_metrics ? view->calls_metric : view->metrics[view->primary];
    if (metric == PM_NONE)
        return pm_error_set(c->err, PM_ERR_USAGE, "'%s' has no metric to compare",
                            view->options.archive_path);
    const struct pm_graph_metric *of = &graph->metrics[metric];
    c->to->metric =
        (struct pm_graph_metric){keep(c, of->name), keep(c, of->unit), keep(c, of->kind),
                                 keep(c, of->description), of->aggregation};
    c->to->is_sampled = metric == view->cpu_metric && view->samples_metric != PM_NONE;
    c->to->level_name = keep(c, view->level_name);
    c->options.metrics = c->to->metric.name;
    if (!c->to->metric.name || !c->to->metric.unit || !c->to->metric.kind ||
        !c->to->metric.description || !c->to->level_name)
        return no_memory(c);
    return PM_OK;
}

static enum pm_status open_reference(struct compare *c)
{
    const char *path = c->inputs[PM_COMPARE_A].paths[0];
    enum pm_status status = make_view(c, path, true, &c->reference);
    if (status != PM_OK)
        return status;
    status = choose_metric(c);
    if (status != PM_OK || c->to->options.view.metrics)
        return status;
    pm_view_release(&c->reference);
    return make_view(c, path, true, &c->reference);
}

/* --- runs --- */

static int64_t period_of(const struct pm_archive_data *data)
{
    int64_t period_ns = 0;
    for (uint32_t i = 0; i < data->n_samplings; i++)
        if (data->samplings[i].period_ns > period_ns)
            period_ns = data->samplings[i].period_ns;
    return period_ns;
}

static enum pm_status describe_run(struct compare *c, const struct pm_view *view, const char *path,
                                   struct pm_compare_run *run)
{
    struct pm_view_facts facts = pm_view_facts(view);
    struct pm_view_column column = column_of(view);
    struct pm_view_number total =
        pm_view_number_of(view, &column, &view->total, PM_VIEW_PART_TOTAL);
    *run = (struct pm_compare_run){.path = path,
                                   .total = total.real,
                                   .speed = 1,
                                   .poor = pm_compare_why_poor(view, &c->to->arena),
                                   .slow_down_pct = facts.slow_down_pct,
                                   .mode = keep(c, facts.mode),
                                   .period_ns = period_of(view->data),
                                   .command = keep(c, view->data->executions[0].command)};
    if (!run->poor || !run->mode || !run->command)
        return no_memory(c);
    if (!*run->poor)
        run->poor = NULL;
    return PM_OK;
}

/* --- constructs --- */

/* Nouns of other levels, and machine code, are there where something happened only. */
static bool has_facts(const struct pm_view *view)
{
    return pm_view_is_at_source(view);
}

static enum pm_status find_constructs(struct compare *c, const struct pm_view *view,
                                      const struct pm_view_key_names *names, struct build *build)
{
    const struct pm_graph *graph = view->data->graph;
    for (pm_index noun = 0; noun < graph->n_nouns; noun++) {
        if (graph->nouns[noun].level != view->level)
            continue;
        uint64_t key = pm_view_noun_key(view, names, noun);
        if (!key || !pm_map_put(&build->constructs, key, 1))
            return no_memory(c);
    }
    return PM_OK;
}

/* Of all binaries with the plugin's facts; of the others where there are none. In no order. */
uint64_t pm_build_hash(const struct pm_archive_data *data)
{
    uint64_t of_facts = 0, of_all = 0;
    for (uint32_t i = 0; i < data->n_binaries; i++) {
        const struct pm_binary *binary = &data->binaries[i];
        struct pm_id_hash hash;
        pm_id_hash_init(&hash, "binary");
        pm_id_hash_string(&hash, *binary->build_id ? binary->build_id : binary->path);
        of_all += pm_id_hash_done(&hash);
        of_facts += strcmp(binary->pif_state, "read") ? 0 : pm_id_hash_done(&hash);
    }
    return of_facts ? of_facts : of_all;
}

static enum pm_status add_build(struct compare *c, const struct pm_view *view,
                                const struct pm_view_key_names *names, uint32_t *ret_build)
{
    uint64_t hash = pm_build_hash(view->data);
    struct build *builds = pm_grow_array(c->builds, c->n_builds, &c->cap_builds, 4, sizeof *builds);
    if (!builds)
        return no_memory(c);
    c->builds = builds;
    for (*ret_build = 0; *ret_build < c->n_builds; ++*ret_build)
        if (builds[*ret_build].hash == hash)
            break;
    if (*ret_build < c->n_builds)
        return PM_OK;
    builds[c->n_builds++] = (struct build){.hash = hash};
    return has_facts(view) ? find_constructs(c, view, names, &builds[*ret_build]) : PM_OK;
}

/* --- rows --- */

/* Entry and exit of a function, say, have a noun where somebody found code of it. */
static pm_index construct_of(const struct pm_view *view, pm_index noun)
{
    const struct pm_graph *graph = view->data->graph;
    if (!pm_is_named_by_function(graph->nouns[noun].name))
        return noun;
    pm_index function = pm_graph_ancestor(graph, noun, "function");
    return function == PM_NONE ? noun : function;
}

static enum pm_status find_parts(struct compare *c, const struct pm_view *view,
                                 const struct pm_view_key_names *names,
                                 const struct pm_view_row *row, struct parts *ret)
{
    *ret = (struct parts){0};
    if ((row->kind != PM_VIEW_ROW_NOUN && row->kind != PM_VIEW_ROW_SET) || !has_facts(view))
        return PM_OK;
    ret->nouns = pm_arena_alloc(&c->to->arena, row->n_groups * sizeof *ret->nouns);
    if (!ret->nouns)
        return no_memory(c);
    for (uint32_t i = 0; i < row->n_groups; i++) {
        const struct pm_view_group *group = &view->groups[row->groups[i]];
        if (group->noun == PM_NONE || group->special)
            continue;
        ret->nouns[ret->n] = pm_view_noun_key(view, names, construct_of(view, group->noun));
        if (!ret->nouns[ret->n++])
            return no_memory(c);
    }
    return PM_OK;
}

static enum pm_status add_row(struct compare *c, const struct pm_view *view,
                              const struct pm_view_key_names *names, const struct pm_view_row *from)
{
    struct pm_compare_row *rows =
        pm_grow_array(c->to->rows, c->to->n_rows, &c->cap_rows, 256, sizeof *rows);
    if (rows)
        c->to->rows = rows;
    struct parts *parts = pm_grow_array(c->parts, c->to->n_rows, &c->cap_parts, 256, sizeof *parts);
    if (parts)
        c->parts = parts;
    if (!rows || !parts)
        return no_memory(c);
    rows[c->to->n_rows] = (struct pm_compare_row){0};
    return find_parts(c, view, names, from, &parts[c->to->n_rows++]);
}

/* The name that B has, where it has one, else A's: B is what the reader has before him. */
static enum pm_status name_row(struct compare *c, int side, const struct pm_view_row *from,
                               struct pm_compare_row *row)
{
    if (row->places[side])
        return PM_OK;
    row->places[side] = keep(c, from->place ? from->place : "");
    row->what = keep(c, from->what ? from->what : "");
    return row->places[side] && row->what ? PM_OK : no_memory(c);
}

static struct pm_compare_cell cell_of(const struct pm_view *view, const struct pm_view_row *row)
{
    struct pm_view_column column = column_of(view);
    struct pm_view_number number = pm_view_number_of(view, &column, row, PM_VIEW_PART_ROW);
    if (number.kind == PM_VIEW_NO_NUMBER)
        return (struct pm_compare_cell){.state = PM_COMPARE_UNKNOWN};
    return (struct pm_compare_cell){number.real, PM_COMPARE_MEASURED, number.is_at_least,
                                    number.is_uncertain};
}

static enum pm_status read_row(struct compare *c, int side, struct pm_view *view,
                               const struct pm_view_key_names *names, uint32_t r, uint64_t key,
                               struct reading *reading)
{
    uint32_t *at = pm_map_at(&c->row_of, key);
    if (!at)
        return no_memory(c);
    if (!*at) {
        enum pm_status status = add_row(c, view, names, &view->rows[r]);
        if (status != PM_OK)
            return status;
        *at = c->to->n_rows;
    }
    pm_view_name_row(view, &view->rows[r]);
    const struct parts *parts = &c->parts[*at - 1];
    for (uint32_t i = 0; i < parts->n; i++)
        if (!pm_map_put(&c->builds[reading->build].constructs, parts->nouns[i], 1))
            return no_memory(c);
    reading->entries[reading->n++] = (struct entry){*at - 1, cell_of(view, &view->rows[r])};
    return name_row(c, side, &view->rows[r], &c->to->rows[*at - 1]);
}

static enum pm_status read_rows(struct compare *c, int side, struct pm_view *view,
                                const struct pm_view_key_names *names, struct reading *reading)
{
    struct pm_view_keys keys = {0};
    enum pm_status status = pm_view_keys_make(view, names, c->err, &keys);
    if (status != PM_OK)
        return status;
    reading->entries = pm_alloc_array((size_t)view->n_rows + 1, sizeof *reading->entries);
    status = reading->entries ? PM_OK : no_memory(c);
    for (uint32_t r = 0; r < view->n_rows && !status; r++)
        status = read_row(c, side, view, names, r, keys.items[r].hash, reading);
    pm_view_keys_release(&keys);
    return status != PM_OK ? status : pm_view_naming_status(view, c->err);
}

/* names: NULL: it is of the reference's build. */
static enum pm_status read_named(struct compare *c, int side, struct pm_view *view,
                                 const struct pm_alignment *alignment, struct reading *reading)
{
    const struct pm_view_key_names *names = alignment ? &alignment->names : NULL;
    uint32_t n_builds = c->n_builds;
    enum pm_status status = add_build(c, view, names, &reading->build);
    if (status != PM_OK)
        return status;
    if (alignment && c->n_builds > n_builds) {
        c->to->n_fine += alignment->n_fine;
        c->to->n_matched += alignment->n_matched;
        c->to->n_functions_left_out += alignment->n_functions_left_out;
    }
    status = read_rows(c, side, view, names, reading);
    if (status != PM_OK || !c->visitor)
        return status;
    return c->visitor->visit(c->visitor->context, side, view, names, c->err);
}

static bool is_of_reference_build(const struct compare *c, const struct pm_view *view)
{
    return pm_build_hash(view->data) == pm_build_hash(c->reference.data);
}

static enum pm_status read_view(struct compare *c, int side, struct pm_view *view,
                                struct reading *reading)
{
    struct pm_alignment alignment;
    reading->has_level = view->level != PM_NONE;
    if (is_of_reference_build(c, view))
        return read_named(c, side, view, NULL, reading);
    enum pm_status status =
        pm_align(&c->reference, view, looks_into_functions(&c->options), c->err, &alignment);
    if (status != PM_OK)
        return status;
    status = read_named(c, side, view, &alignment, reading);
    pm_alignment_release(&alignment);
    return status;
}

static enum pm_status take_run(struct compare *c, int side, const char *path, struct pm_view *view)
{
    struct pm_compare_side *to = &c->to->sides[side];
    struct pm_compare_run *run = &to->runs[to->n_runs];
    enum pm_status status = describe_run(c, view, path, run);
    if (status != PM_OK)
        return status;
    if (run->poor && c->to->options.good_only) {
        to->n_left_out++;
        return PM_OK;
    }
    return read_view(c, side, view, &c->readings[side][to->n_runs++]);
}

/* All that has costs is enough of the reference's build, of which the rest is known. */
static enum pm_status make_other(struct compare *c, int side, const char *path,
                                 struct pm_view *view)
{
    if (c->is_other_build[side])
        return make_view(c, path, true, view);
    enum pm_status status = make_view(c, path, false, view);
    if (status != PM_OK || is_of_reference_build(c, view))
        return status;
    c->is_other_build[side] = true;
    pm_view_release(view);
    return make_view(c, path, true, view);
}

static enum pm_status read_run(struct compare *c, int side, uint32_t input)
{
    const char *path = c->inputs[side].paths[input];
    struct pm_view view;
    if (side == PM_COMPARE_A && input == 0)
        return take_run(c, side, path, &c->reference);
    enum pm_status status = make_other(c, side, path, &view);
    status = status != PM_OK ? status : take_run(c, side, path, &view);
    pm_view_release(&view);
    return status;
}

/* --- cells --- */

/* What a row without a number in a run is there. */
static enum pm_compare_state absence(const struct compare *c, uint32_t row,
                                     const struct reading *reading)
{
    if (!reading->has_level)
        return PM_COMPARE_UNKNOWN;
    for (uint32_t i = 0; i < c->parts[row].n; i++)
        if (!pm_map_get(&c->builds[reading->build].constructs, c->parts[row].nouns[i]))
            return PM_COMPARE_ABSENT;
    return PM_COMPARE_NO_COST;
}

static bool fill_side(struct compare *c, int side)
{
    uint32_t n_runs = c->to->sides[side].n_runs, n_rows = c->to->n_rows;
    struct pm_compare_cell *cells =
        pm_arena_alloc(&c->to->arena, ((size_t)n_rows + 1) * n_runs * sizeof *cells);
    if (!cells)
        return false;
    for (uint32_t r = 0; r < n_rows; r++) {
        c->to->rows[r].cells[side] = cells + (size_t)r * n_runs;
        for (uint32_t i = 0; i < n_runs; i++)
            cells[(size_t)r * n_runs + i].state = absence(c, r, &c->readings[side][i]);
    }
    for (uint32_t i = 0; i < n_runs; i++)
        for (uint32_t e = 0; e < c->readings[side][i].n; e++) {
            const struct entry *entry = &c->readings[side][i].entries[e];
            cells[(size_t)entry->row * n_runs + i] = entry->cell;
        }
    struct pm_compare_cell *totals = cells + (size_t)n_rows * n_runs;
    for (uint32_t i = 0; i < n_runs; i++)
        totals[i] = (struct pm_compare_cell){c->to->sides[side].runs[i].total, PM_COMPARE_MEASURED,
                                             false, false};
    c->to->total.cells[side] = totals;
    c->to->total.what = "total";
    return true;
}

/* --- what is to be said --- */

static bool is_there(const struct pm_comparison *to, const struct pm_compare_row *row, int side)
{
    bool is = false;
    for (uint32_t i = 0; i < to->sides[side].n_runs; i++)
        is |= row->cells[side][i].state == PM_COMPARE_MEASURED;
    return is;
}

/* Rows of processes and special ones are in any archive. */
static enum pm_status check_common(struct compare *c)
{
    bool any = false, any_of_source = false;
    for (uint32_t r = 0; r < c->to->n_rows; r++) {
        const struct pm_compare_row *row = &c->to->rows[r];
        any_of_source |= c->parts[r].n != 0;
        any |= c->parts[r].n && is_there(c->to, row, 0) && is_there(c->to, row, 1);
    }
    if (any || !any_of_source)
        return PM_OK;
    return pm_error_set(c->err, PM_ERR_NOT_FOUND,
                        "'%s' and '%s' have nothing in common: no %s of one has costs in the "
                        "other, as if they were of other programs",
                        c->inputs[0].paths[0], c->inputs[1].paths[0],
                        pm_view_by_word(c->options.by));
}

static const struct pm_compare_run *first_run(const struct compare *c, int side)
{
    return &c->to->sides[side].runs[0];
}

static enum pm_status note_modes(struct compare *c)
{
    const struct pm_compare_run *first = first_run(c, 0);
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < c->to->sides[side].n_runs; i++) {
            const struct pm_compare_run *run = &c->to->sides[side].runs[i];
            if (strcmp(run->mode, first->mode) != 0)
                return add_note(c,
                                "'%s' was measured in mode %s and '%s' in mode %s: what measuring "
                                "cost differs, too",
                                first->path, first->mode, run->path, run->mode);
        }
    return PM_OK;
}

static double slow_down_of(const struct pm_compare_side *side)
{
    double sum = 0;
    for (uint32_t i = 0; i < side->n_runs; i++)
        sum += side->runs[i].slow_down_pct / side->n_runs;
    return sum;
}

static enum pm_status note_slow_downs(struct compare *c)
{
    double a = slow_down_of(&c->to->sides[0]), b = slow_down_of(&c->to->sides[1]);
    if (!(fabs(a - b) > 1))
        return PM_OK;
    return add_note(c, "measuring slowed A down by about %.1f %%, and B by %.1f %%", a, b);
}

static enum pm_status note_poor(struct compare *c)
{
    const struct pm_compare_run *first = NULL;
    uint32_t n = 0, all = c->to->sides[0].n_runs + c->to->sides[1].n_runs;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < c->to->sides[side].n_runs; i++) {
            const struct pm_compare_run *run = &c->to->sides[side].runs[i];
            n += run->poor != NULL;
            first = run->poor && !first ? run : first;
        }
    if (!first)
        return PM_OK;
    return add_note(c,
                    "%u of %u runs %s measured badly, '%s' for one: %s; '--good-only' leaves such "
                    "runs out",
                    n, all, n == 1 ? "was" : "were", first->path, first->poor);
}

static enum pm_status note_builds(struct compare *c)
{
    c->to->n_builds = c->n_builds;
    if (!c->to->n_functions_left_out)
        return PM_OK;
    return add_note(c,
                    "%u functions have changed so much that their statements and loops were not "
                    "looked for: they are new ones",
                    c->to->n_functions_left_out);
}

static enum pm_status note_left_out(struct compare *c)
{
    uint32_t n = c->to->sides[0].n_left_out + c->to->sides[1].n_left_out;
    if (!n)
        return PM_OK;
    return add_note(c, "%u run%s measured badly and left out", n, n == 1 ? " was" : "s were");
}

static enum pm_status add_notes(struct compare *c)
{
    static enum pm_status (*const notes[])(struct compare *) = {
        note_modes, note_slow_downs, note_poor, note_left_out, note_builds};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        enum pm_status status = notes[i](c);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- all of it --- */

static enum pm_status start_side(struct compare *c, int side)
{
    uint32_t n = c->inputs[side].n_paths;
    c->to->sides[side].runs = pm_alloc_array((size_t)n + 1, sizeof *c->to->sides[side].runs);
    c->readings[side] = pm_alloc_array((size_t)n + 1, sizeof *c->readings[side]);
    return c->to->sides[side].runs && c->readings[side] ? PM_OK : no_memory(c);
}

static enum pm_status read_side(struct compare *c, int side)
{
    enum pm_status status = start_side(c, side);
    for (uint32_t i = 0; i < c->inputs[side].n_paths && !status; i++)
        status = read_run(c, side, i);
    if (status != PM_OK || c->to->sides[side].n_runs)
        return status;
    return pm_error_set(c->err, PM_ERR_NOT_FOUND,
                        "side %c has no run that was measured well: '--good-only' leaves none",
                        "AB"[side]);
}

static enum pm_status compare_all(struct compare *c)
{
    enum pm_status status = open_reference(c);
    if (status != PM_OK)
        return status;
    status = read_side(c, PM_COMPARE_A);
    if (status != PM_OK)
        return status;
    status = read_side(c, PM_COMPARE_B);
    if (status != PM_OK)
        return status;
    if (!fill_side(c, PM_COMPARE_A) || !fill_side(c, PM_COMPARE_B))
        return no_memory(c);
    status = check_common(c);
    if (status != PM_OK)
        return status;
    status = add_notes(c);
    return status != PM_OK ? status : pm_compare_judge(c->to, c->err);
}

static void release(struct compare *c)
{
    pm_view_release(&c->reference);
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; c->readings[side] && i < c->inputs[side].n_paths; i++)
            free(c->readings[side][i].entries);
        free(c->readings[side]);
    }
    for (uint32_t i = 0; i < c->n_builds; i++)
        pm_map_release(&c->builds[i].constructs);
    free(c->builds);
    free(c->parts);
    pm_map_release(&c->row_of);
}

enum pm_status pm_compare(const struct pm_compare_options *options,
                          const struct pm_compare_input inputs[2],
                          const struct pm_compare_visitor *visitor, struct pm_error *err,
                          struct pm_comparison **ret)
{
    struct compare c = {.err = err, .inputs = inputs, .visitor = visitor, .options = options->view};
    c.to = pm_alloc(sizeof *c.to);
    if (!c.to)
        return no_memory(&c);
    c.to->options = *options;
    c.options.limit = 0;
    enum pm_status status = compare_all(&c);
    release(&c);
    if (status != PM_OK)
        pm_comparison_free(c.to);
    *ret = status != PM_OK ? NULL : c.to;
    return status;
}

void pm_comparison_free(struct pm_comparison *comparison)
{
    if (!comparison)
        return;
    for (uint32_t i = 0; i < comparison->n_notes; i++)
        free(comparison->notes[i]);
    free(comparison->notes);
    for (int side = 0; side < 2; side++)
        free(comparison->sides[side].runs);
    free(comparison->rows);
    pm_arena_release(&comparison->arena);
    free(comparison);
}
