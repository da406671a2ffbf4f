/* A comparison of members by what the experiment keeps of them, without their archives. */
#include "kept.h"

#include "mapping/compare/compare_internal.h"
#include "mapping/view/groupings.h"

#include <math.h>
#include <stdlib.h>

struct comparing {
    const struct pm_experiment *experiment;
    struct pm_comparison *to;
    struct pm_error *err;
    struct experiment_kept kept;
    uint32_t *members;          /* of A, then of B */
    uint32_t n_renamed;         /* functions, in builds but the first */
    uint32_t n_builds, *builds; /* of these members, each once */
    bool **has;                 /* per build: [n_rows] */
};

static enum pm_status no_memory(const struct comparing *c)
{
    return pm_error_set(c->err, PM_ERR_MEMORY, "out of memory");
}

bool pm_experiment_keeps(const struct pm_compare_options *options)
{
    const struct pm_view_options *view = &options->view;
    bool is_kept = false;
    for (int i = 0; i < EXPERIMENT_N_GROUPINGS; i++)
        is_kept |= experiment_groupings[i] == view->by;
    return is_kept && !options->inclusive && !options->n_maps && !options->is_normalised &&
           !strcmp(view->level, "source") && !view->focus[0] && !view->on[0] && !view->from &&
           !view->to && view->folds && !view->tree && !view->overlays[0];
}

/* --- sides --- */

static const char *keep(struct comparing *c, const char *text)
{
    return pm_arena_strndup(&c->to->arena, text, strlen(text));
}

static const char *value_of(const struct pm_experiment_member *member, const char *key)
{
    const char *value = pm_member_value(member, key);
    return value ? value : "";
}

static enum pm_status add_run(struct comparing *c, int side, uint32_t at)
{
    const struct pm_experiment_member *member = &c->experiment->members[c->kept.members[at]];
    const struct experiment_reading *reading = &c->kept.readings[at];
    const char *mode = value_of(member, "mode"), *command = value_of(member, "command");
    struct pm_compare_side *to = &c->to->sides[side];
    struct pm_compare_run *run = &to->runs[to->n_runs++];
    *run = (struct pm_compare_run){.path = keep(c, member->path),
                                   .total = reading->total,
                                   .factor = 1,
                                   .speed = 1,
                                   .poor = member->poor ? keep(c, member->poor) : NULL,
                                   .slow_down_pct = reading->slow_down_pct,
                                   .mode = keep(c, mode),
                                   .period_ns = reading->period_ns,
                                   .command = keep(c, command)};
    return run->path && run->mode && run->command && (run->poor || !member->poor) ? PM_OK
                                                                                  : no_memory(c);
}

/* Of the members that are left, `first` and on. */
static enum pm_status add_runs(struct comparing *c, int side, uint32_t first, uint32_t n)
{
    struct pm_compare_side *to = &c->to->sides[side];
    to->runs = pm_alloc_array((size_t)n + 1, sizeof *to->runs);
    if (!to->runs)
        return no_memory(c);
    for (uint32_t i = 0; i < n; i++) {
        enum pm_status status = add_run(c, side, first + i);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* Positions of those that take part. */
static uint32_t take_members(struct comparing *c, const struct pm_experiment_selection *chosen,
                             struct pm_compare_side *side, uint32_t *ret)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < chosen->n; i++) {
        const struct pm_experiment_member *member = &c->experiment->members[chosen->items[i]];
        bool is_left_out = member->poor && c->to->options.good_only;
        if (member->state == PM_MEMBER_OK && is_left_out)
            side->n_left_out++;
        else if (member->state == PM_MEMBER_OK)
            ret[n++] = chosen->items[i];
    }
    return n;
}

/* --- rows --- */

static uint32_t build_of(const struct comparing *c, uint32_t at)
{
    return c->experiment->members[c->kept.members[at]].build;
}

static enum pm_status read_builds(struct comparing *c)
{
    c->builds = pm_alloc_array((size_t)c->kept.n + 1, sizeof *c->builds);
    c->has = pm_alloc_array((size_t)c->kept.n + 1, sizeof *c->has);
    if (!c->builds || !c->has)
        return no_memory(c);
    for (uint32_t i = 0; i < c->kept.n; i++) {
        uint32_t at = 0, build = build_of(c, i);
        while (at < c->n_builds && c->builds[at] != build)
            at++;
        if (at < c->n_builds)
            continue;
        c->builds[c->n_builds++] = build;
        c->has[at] = pm_alloc_array((size_t)c->kept.n_rows + 1, sizeof **c->has);
        enum pm_status status =
            c->has[at] ? experiment_read_has(c->experiment, &c->kept, build, c->err, c->has[at])
                       : no_memory(c);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static const bool *has_of(const struct comparing *c, uint32_t build)
{
    uint32_t at = 0;
    while (c->builds[at] != build)
        at++;
    return c->has[at];
}

static enum pm_status fill_side(struct comparing *c, int side, uint32_t first)
{
    uint32_t n = c->to->sides[side].n_runs, n_rows = c->kept.n_rows;
    struct pm_compare_cell *cells =
        pm_arena_alloc(&c->to->arena, ((size_t)n_rows + 1) * n * sizeof *cells);
    if (!cells)
        return no_memory(c);
    for (uint32_t i = 0; i < n; i++) {
        const struct experiment_reading *reading = &c->kept.readings[first + i];
        const bool *has = has_of(c, build_of(c, first + i));
        for (uint32_t r = 0; r < n_rows; r++)
            cells[(size_t)r * n + i].state = has[r] ? PM_COMPARE_NO_COST : PM_COMPARE_ABSENT;
        for (uint32_t e = 0; e < reading->n; e++)
            cells[(size_t)reading->cells[e].row * n + i] = reading->cells[e].cell;
        cells[(size_t)n_rows * n + i] =
            (struct pm_compare_cell){reading->total, PM_COMPARE_MEASURED, false, false};
    }
    for (uint32_t r = 0; r < n_rows; r++)
        c->to->rows[r].cells[side] = cells + (size_t)r * n;
    c->to->total.cells[side] = cells + (size_t)n_rows * n;
    return PM_OK;
}

static bool is_in_side(const struct pm_compare_row *row, int side, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (row->cells[side][i].state == PM_COMPARE_MEASURED ||
            row->cells[side][i].state == PM_COMPARE_UNKNOWN)
            return true;
    return false;
}

/* As the first build of the side calls them that has a name for them. */
static enum pm_status name_side(struct comparing *c, int side, uint32_t first)
{
    uint32_t n_rows = c->kept.n_rows, n = c->to->sides[side].n_runs;
    const char **names = pm_alloc_array(2 * (size_t)n_rows + 1, sizeof *names);
    enum pm_status status = names ? PM_OK : no_memory(c);
    for (uint32_t i = 0; i < n && !status; i++) {
        if (i && build_of(c, first + i) == build_of(c, first + i - 1))
            continue;
        status = experiment_read_names(c->experiment, &c->kept, build_of(c, first + i), c->err,
                                       names, names + n_rows);
        for (uint32_t r = 0; r < n_rows && !status; r++) {
            struct pm_compare_row *row = &c->to->rows[r];
            if (!names[r] || row->places[side] || !is_in_side(row, side, n))
                continue;
            row->places[side] = keep(c, names[n_rows + r]);
            row->what = keep(c, names[r]);
            status = row->places[side] && row->what ? PM_OK : no_memory(c);
        }
    }
    free(names);
    return status;
}

static enum pm_status fill_rows(struct comparing *c)
{
    struct pm_comparison *to = c->to;
    uint32_t first_b = to->sides[0].n_runs;
    to->rows = pm_alloc_array((size_t)c->kept.n_rows + 1, sizeof *to->rows);
    if (!to->rows)
        return no_memory(c);
    to->n_rows = c->kept.n_rows;
    for (uint32_t r = 0; r < to->n_rows; r++)
        to->rows[r] = (struct pm_compare_row){.key = c->kept.rows[r].key, .parent = PM_NONE};
    to->total.parent = PM_NONE;
    to->total.what = "total";
    for (int side = 0; side < 2; side++) {
        uint32_t first = side ? first_b : 0;
        enum pm_status status = fill_side(c, side, first);
        if (status != PM_OK)
            return status;
        status = name_side(c, side, first);
        if (status != PM_OK)
            return status;
    }
    for (uint32_t r = 0; r < to->n_rows; r++)
        to->rows[r].what = to->rows[r].what ? to->rows[r].what : "";
    return PM_OK;
}

/* --- what is said --- */

static enum pm_status add_matches(void *context, sqlite3_stmt *row)
{
    struct comparing *c = context;
    for (uint32_t i = 0; i < c->n_builds && c->n_builds > 1; i++) {
        if (c->builds[i] != (uint32_t)sqlite3_column_int64(row, 0))
            continue;
        c->n_renamed += (uint32_t)sqlite3_column_int64(row, 4);
        c->to->n_fine += (uint32_t)sqlite3_column_int64(row, 1);
        c->to->n_matched += (uint32_t)sqlite3_column_int64(row, 2);
        c->to->n_functions_left_out += (uint32_t)sqlite3_column_int64(row, 3);
    }
    return PM_OK;
}

static enum pm_status count_matches(struct comparing *c)
{
    return pm_database_each(
        c->experiment->own->database,
        "SELECT build, n_matchable, n_matched, n_functions_left_out, n_renamed FROM constructs", 0,
        add_matches, c, c->err);
}

static enum pm_status describe(struct comparing *c)
{
    struct compare notes = {.to = c->to, .err = c->err, .n_builds = c->n_builds};
    const struct pm_graph_metric *metric = &c->kept.metric;
    c->to->metric = (struct pm_graph_metric){keep(c, metric->name), keep(c, metric->unit),
                                             keep(c, metric->kind), keep(c, metric->description),
                                             metric->aggregation};
    c->to->is_sampled = c->kept.is_sampled;
    c->to->level_name = "Source";
    if (!c->to->metric.name || !c->to->metric.unit || !c->to->metric.kind ||
        !c->to->metric.description)
        return no_memory(c);
    return compare_add_notes(&notes);
}

/* Rows of processes and special ones are in any program. */
static enum pm_status check_common(struct comparing *c)
{
    bool any = false, any_of_source = false;
    for (uint32_t r = 0; r < c->to->n_rows; r++) {
        const struct pm_compare_row *row = &c->to->rows[r];
        bool is_of_source = c->kept.rows[r].n_parts != 0;
        any_of_source |= is_of_source;
        any |= is_of_source && is_in_side(row, 0, c->to->sides[0].n_runs) &&
               is_in_side(row, 1, c->to->sides[1].n_runs);
    }
    if (any || !any_of_source)
        return PM_OK;
    return pm_error_set(c->err, PM_ERR_NOT_FOUND,
                        "the two selections have nothing in common: no %s of one has costs in the "
                        "other, as if they were of other programs",
                        pm_view_by_word(c->to->options.view.by));
}

/* --- all of it --- */

static enum pm_status join_rows(struct comparing *c)
{
    struct compare_parts *parts = pm_alloc_array((size_t)c->kept.n_rows + 1, sizeof *parts);
    if (!parts)
        return no_memory(c);
    for (uint32_t r = 0; r < c->kept.n_rows; r++)
        parts[r] = (struct compare_parts){c->kept.rows[r].parts, c->kept.rows[r].n_parts};
    enum pm_status status = compare_join(c->to, parts, c->err);
    free(parts);
    return status;
}

static enum pm_status compare_kept(struct comparing *c, uint32_t n_a, uint32_t n_b)
{
    enum pm_status status = add_runs(c, 0, 0, n_a);
    if (status != PM_OK)
        return status;
    status = add_runs(c, 1, n_a, n_b);
    if (status != PM_OK)
        return status;
    status = fill_rows(c);
    if (status != PM_OK)
        return status;
    status = check_common(c);
    if (status != PM_OK)
        return status;
    status = join_rows(c);
    if (status != PM_OK)
        return status;
    status = describe(c);
    return status != PM_OK ? status : pm_compare_judge(c->to, c->err);
}

static void release(struct comparing *c)
{
    for (uint32_t i = 0; c->has && i < c->n_builds; i++)
        free(c->has[i]);
    free(c->has);
    free(c->builds);
    free(c->members);
    experiment_kept_release(&c->kept);
}

static enum pm_status compare_chosen(struct comparing *c,
                                     const struct pm_experiment_selection chosen[2],
                                     bool *ret_is_kept)
{
    const struct pm_view_options *view = &c->to->options.view;
    c->members = pm_alloc_array((size_t)chosen[0].n + chosen[1].n + 1, sizeof *c->members);
    if (!c->members)
        return no_memory(c);
    uint32_t n_a = take_members(c, &chosen[0], &c->to->sides[0], c->members);
    uint32_t n_b = take_members(c, &chosen[1], &c->to->sides[1], c->members + n_a);
    *ret_is_kept = false;
    for (uint32_t i = n_a; i < n_a + n_b; i++)
        for (uint32_t k = 0; k < n_a; k++)
            if (c->members[i] == c->members[k])
                return PM_OK; /* on both sides */
    if (!n_a || !n_b)
        return PM_OK;
    enum pm_status status =
        experiment_read_kept(c->experiment, pm_view_by_word(view->by), view->metrics, c->members,
                             n_a + n_b, c->err, &c->kept);
    if (status != PM_OK || !c->kept.is_whole)
        return status;
    status = read_builds(c);
    if (status != PM_OK)
        return status;
    status = count_matches(c);
    if (status != PM_OK || c->n_renamed)
        return status; /* who was renamed in which build is in the archives */
    *ret_is_kept = true;
    return compare_kept(c, n_a, n_b);
}

enum pm_status pm_experiment_compare(const struct pm_experiment *experiment,
                                     const struct pm_compare_options *options,
                                     const struct pm_experiment_selection chosen[2],
                                     struct pm_error *err, struct pm_comparison **ret)
{
    struct comparing c = {.experiment = experiment, .err = err};
    bool is_kept = false;
    *ret = NULL;
    if (!pm_experiment_keeps(options))
        return PM_OK;
    c.to = pm_alloc(sizeof *c.to);
    if (!c.to)
        return no_memory(&c);
    c.to->options = *options;
    enum pm_status status = compare_chosen(&c, chosen, &is_kept);
    release(&c);
    if (status != PM_OK || !is_kept)
        pm_comparison_free(c.to);
    else
        *ret = c.to;
    return status;
}
