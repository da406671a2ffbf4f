/* From archives to rows and the numbers that runs have of them. */
#include "compare_internal.h"
#include "rows.h"

#include "mapping/view/groupings.h"
#include "mapping/view/keys.h"

#include <math.h>
#include <stdlib.h>

static const char *keep(struct compare *c, const char *text)
{
    return pm_arena_strndup(&c->to->arena, text, strlen(text));
}

/* --- views --- */

/* Are rows of what lies in functions? */
static bool looks_into_functions(const struct pm_view_options *options)
{
    /* nouns of an overlay are the same by their names */
    if (options->overlays[0] && strcasecmp(options->level, "source") != 0)
        return false;
    return options->by != PM_VIEW_BY_FUNCTION && options->by != PM_VIEW_BY_FILE &&
           options->by != PM_VIEW_BY_OPERATION && !pm_view_grouping_by(options->by)->runner;
}

static enum pm_status make_view(struct compare *c, int side, const char *path,
                                const struct pm_archive_data *archive, struct pm_view *view)
{
    *view = (struct pm_view){.options = c->options, .archive = archive};
    view->options.archive_path = path;
    if (c->inputs[side].from)
        view->options.from = c->inputs[side].from;
    view->options.all_functions = !looks_into_functions(&c->options);
    return pm_view_make(view, c->err);
}

/* The metric that A's first shows by itself, for all. */
static enum pm_status choose_metric(struct compare *c, const struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    pm_index metric =
        view->primary == view->n_metrics ? view->calls_metric : view->metrics[view->primary];
    if (metric == PM_NONE)
        return pm_error_set(c->err, PM_ERR_USAGE, "'%s' has no metric to compare",
                            view->options.archive_path);
    const struct pm_graph_metric *of = &graph->metrics[metric];
    bool adds_up = metric != view->calls_metric && of->aggregation == PM_SUM;
    c->to->is_tree = view->options.tree;
    c->to->is_inclusive = adds_up && (view->options.tree || c->to->options.inclusive);
    c->to->metric =
        (struct pm_graph_metric){keep(c, of->name), keep(c, of->unit), keep(c, of->kind),
                                 keep(c, of->description), of->aggregation};
    c->to->is_sampled = metric == view->cpu_metric && view->samples_metric != PM_NONE;
    c->to->level_name = keep(c, view->level_name);
    c->options.metrics = c->to->metric.name;
    c->options.level = c->to->level_name;
    if (!c->to->metric.name || !c->to->metric.unit || !c->to->metric.kind ||
        !c->to->metric.description || !c->to->level_name)
        return compare_no_memory(c);
    return PM_OK;
}

/* --- runs --- */

int64_t pm_compare_period(const struct pm_archive_data *data)
{
    int64_t period_ns = 0;
    for (uint32_t i = 0; i < data->n_samplings; i++)
        if (data->samplings[i].period_ns > period_ns)
            period_ns = data->samplings[i].period_ns;
    return period_ns;
}

static enum pm_status describe_run(struct compare *c, int side, const struct pm_view *view,
                                   const char *path, struct pm_compare_run *run)
{
    struct pm_view_facts facts = pm_view_facts(view);
    struct pm_view_column column = pm_compare_column(view, false);
    struct pm_view_number total =
        pm_view_number_of(view, &column, &view->total, PM_VIEW_PART_TOTAL);
    const char *label = c->inputs[side].label;
    *run = (struct pm_compare_run){.path = label ? label : path,
                                   .total = total.real,
                                   .factor = 1,
                                   .speed = 1,
                                   .poor = pm_compare_why_poor(view, &c->to->arena),
                                   .slow_down_pct = facts.slow_down_pct,
                                   .mode = keep(c, facts.mode),
                                   .period_ns = pm_compare_period(view->data),
                                   .command = keep(c, view->data->executions[0].command)};
    if (!run->poor || !run->mode || !run->command)
        return compare_no_memory(c);
    if (!*run->poor)
        run->poor = NULL;
    return PM_OK;
}

/* --- builds --- */

static enum pm_status make_build(struct compare *c, struct pm_view *view,
                                 const struct pm_build *reference, bool in_functions,
                                 struct compare_build *build)
{
    const struct pm_compare_options *options = &c->to->options;
    const struct pm_build_request request = {in_functions, options->maps,
                                             in_functions ? options->n_maps : 0};
    enum pm_status status = pm_view_choose_level(view, c->err);
    if (status != PM_OK)
        return status;
    status = pm_build_make(view, reference, &request, c->err, &build->build);
    if (status != PM_OK)
        return status;
    build->is_known = true;
    return PM_OK;
}

/* All that the build consists of, not only what had costs. */
static enum pm_status read_facts(struct compare *c, struct compare_build *build,
                                 const struct pm_build *reference)
{
    struct pm_view view = {.options = c->options};
    enum pm_status status =
        pm_archive_load(build->path, PM_ARCHIVE_LOAD_FACTS, c->err, &view.loaded);
    if (status != PM_OK)
        return status;
    view.data = view.loaded;
    status = make_build(c, &view, reference, true, build);
    build->has_facts = true;
    pm_archive_data_free(view.loaded);
    return status;
}

static void count_matches(struct compare *c, const struct pm_build *build)
{
    c->to->n_fine += build->n_matchable;
    c->to->n_matched += build->n_matched;
    c->to->n_functions_left_out += build->n_functions_left_out;
    c->to->n_renamed += build->n_renamed_functions;
}

/* The first one is looked at when there is another one to be compared with. */
static enum pm_status read_facts_of(struct compare *c, struct compare_build *build)
{
    struct compare_build *first = &c->builds[0];
    enum pm_status status = PM_OK;
    if (build == first)
        return PM_OK;
    if (!first->is_known)
        status = read_facts(c, first, NULL);
    if (status != PM_OK)
        return status;
    status = read_facts(c, build, &first->build);
    if (status != PM_OK)
        return status;
    count_matches(c, &build->build);
    return PM_OK;
}

/* The one with the hash; a new one where *ret_is_new. */
static enum pm_status find_build(struct compare *c, const char *path, uint64_t hash,
                                 uint32_t *ret_build, bool *ret_is_new)
{
    *ret_is_new = false;
    for (*ret_build = 0; *ret_build < c->n_builds; ++*ret_build)
        if (c->builds[*ret_build].hash == hash)
            return PM_OK;
    struct compare_build *builds =
        pm_grow_array(c->builds, c->n_builds, &c->cap_builds, 4, sizeof *builds);
    if (!builds)
        return compare_no_memory(c);
    c->builds = builds;
    builds[c->n_builds++] = (struct compare_build){.hash = hash, .path = path};
    *ret_is_new = true;
    return PM_OK;
}

/* Before the archive is loaded, so that one is in memory at a time. */
static enum pm_status read_build(struct compare *c, const char *path)
{
    struct pm_archive_data *data;
    uint32_t build;
    bool is_new;
    if (!looks_into_functions(&c->options))
        return PM_OK;
    enum pm_status status = pm_archive_load(path, PM_ARCHIVE_LOAD_TABLES, c->err, &data);
    if (status != PM_OK)
        return status;
    status = find_build(c, path, pm_build_hash(data), &build, &is_new);
    pm_archive_data_free(data);
    if (status != PM_OK || !is_new)
        return status;
    return read_facts_of(c, &c->builds[build]);
}

/* What was renamed is known by its statements. */
static bool needs_facts(const struct compare *c, const struct compare_build *build)
{
    return build != c->builds && c->options.by == PM_VIEW_BY_FUNCTION &&
           (c->to->options.n_maps || pm_build_may_have_renames(&build->build, &c->builds[0].build));
}

/* Of functions all are in a view. */
static enum pm_status build_of(struct compare *c, const char *path, struct pm_view *view,
                               uint32_t *ret_build)
{
    bool is_new;
    enum pm_status status = find_build(c, path, pm_build_hash(view->data), ret_build, &is_new);
    if (status != PM_OK || !is_new)
        return status;
    struct compare_build *build = &c->builds[*ret_build];
    const struct pm_build *reference = *ret_build ? &c->builds[0].build : NULL;
    status = make_build(c, view, reference, false, build);
    if (status != PM_OK || !needs_facts(c, build))
        return status;
    if (!c->builds[0].has_facts) {
        pm_build_release(&c->builds[0].build);
        c->builds[0].is_known = false;
    }
    pm_build_release(&build->build);
    return read_facts_of(c, build);
}

/* --- rows --- */

static enum pm_status find_parts(struct compare *c, const struct pm_view *view,
                                 const struct pm_view_key_names *names,
                                 const struct pm_view_row *row, struct compare_parts *ret)
{
    struct pm_buf keys = PM_BUF_INIT(1 << 24);
    pm_compare_add_parts(view, names, row, &keys);
    uint64_t *nouns = pm_arena_alloc(&c->to->arena, keys.len + 1);
    bool good = nouns && !keys.failed;
    if (good && keys.len)
        memcpy(nouns, keys.data, keys.len);
    *ret = (struct compare_parts){nouns, (uint32_t)(keys.len / sizeof *nouns)};
    pm_buf_release(&keys);
    return good ? PM_OK : compare_no_memory(c);
}

static enum pm_status add_row(struct compare *c, const struct pm_view *view,
                              const struct pm_view_key_names *names, const struct pm_view_row *from,
                              uint64_t key)
{
    struct pm_compare_row *rows =
        pm_grow_array(c->to->rows, c->to->n_rows, &c->cap_rows, 256, sizeof *rows);
    if (rows)
        c->to->rows = rows;
    struct compare_parts *parts =
        pm_grow_array(c->parts, c->to->n_rows, &c->cap_parts, 256, sizeof *parts);
    if (parts)
        c->parts = parts;
    if (!rows || !parts)
        return compare_no_memory(c);
    rows[c->to->n_rows] = (struct pm_compare_row){.key = key, .parent = PM_NONE};
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
    return row->places[side] && row->what ? PM_OK : compare_no_memory(c);
}

/* The function of a construct has another name in the reference. */
static enum pm_status note_old_name(struct compare *c, const struct pm_view *view,
                                    const struct pm_view_row *from,
                                    const struct compare_reading *reading,
                                    struct pm_compare_row *row)
{
    const struct pm_build *build = &c->builds[reading->build].build;
    for (uint32_t i = 0; i < from->n_groups && !row->was; i++) {
        pm_index noun = view->groups[from->groups[i]].noun;
        pm_index function = noun == PM_NONE ? noun : pm_compare_construct_of(view, noun);
        if (function != PM_NONE && strcmp(view->data->graph->nouns[function].kind, "function") != 0)
            function = pm_graph_ancestor(view->data->graph, function, "function");
        if (function == PM_NONE)
            continue;
        const char *was =
            pm_build_old_name(build, &c->builds[0].build, view, function, &row->is_likely);
        row->was = was ? keep(c, was) : NULL;
        if (was && !row->was)
            return compare_no_memory(c);
    }
    return PM_OK;
}

static enum pm_status read_row(struct compare *c, int side, struct pm_view *view,
                               const struct pm_view_key_names *names, uint32_t r, uint64_t key,
                               struct compare_reading *reading)
{
    uint32_t *at = pm_map_at(&c->row_of, key);
    if (!at)
        return compare_no_memory(c);
    if (!*at) {
        enum pm_status status = add_row(c, view, names, &view->rows[r], key);
        if (status != PM_OK)
            return status;
        *at = c->to->n_rows;
    }
    uint32_t depth = view->rows[r].depth;
    if (c->to->is_tree && depth)
        c->to->rows[*at - 1].parent = reading->at_depth[depth - 1];
    reading->at_depth[depth] = *at - 1;
    pm_view_name_row(view, &view->rows[r]);
    const struct compare_parts *parts = &c->parts[*at - 1];
    for (uint32_t i = 0; i < parts->n; i++)
        if (!pm_map_put(&c->builds[reading->build].seen, parts->nouns[i], 1))
            return compare_no_memory(c);
    reading->entries[reading->n++] = (struct compare_entry){
        *at - 1, pm_compare_cell_of(view, &view->rows[r], c->to->is_inclusive),
        pm_compare_cell_of(view, &view->rows[r], false)};
    if (names && names->functions) {
        enum pm_status status =
            note_old_name(c, view, &view->rows[r], reading, &c->to->rows[*at - 1]);
        if (status != PM_OK)
            return status;
    }
    return name_row(c, side, &view->rows[r], &c->to->rows[*at - 1]);
}

static enum pm_status read_rows(struct compare *c, int side, struct pm_view *view,
                                const struct pm_view_key_names *names,
                                struct compare_reading *reading)
{
    struct pm_view_keys keys = {0};
    enum pm_status status = pm_view_keys_make(view, names, c->err, &keys);
    if (status != PM_OK)
        return status;
    reading->entries = pm_alloc_array((size_t)view->n_rows + 1, sizeof *reading->entries);
    reading->at_depth = pm_alloc_array((size_t)view->n_rows + 1, sizeof *reading->at_depth);
    status = reading->entries && reading->at_depth ? PM_OK : compare_no_memory(c);
    for (uint32_t r = 0; r < view->n_rows && !status; r++)
        status = read_row(c, side, view, names, r, keys.items[r].hash, reading);
    pm_view_keys_release(&keys);
    free(reading->at_depth);
    reading->at_depth = NULL;
    return status != PM_OK ? status : pm_view_naming_status(view, c->err);
}

/* --- sides --- */

static enum pm_status read_named(struct compare *c, int side, struct pm_view *view,
                                 const struct pm_view_key_names *names,
                                 struct compare_reading *reading)
{
    enum pm_status status = read_rows(c, side, view, names, reading);
    if (status != PM_OK || !c->visitor)
        return status;
    return c->visitor->visit(c->visitor->context, side, view, names, c->err);
}

static enum pm_status read_view(struct compare *c, int side, const char *path, struct pm_view *view,
                                struct compare_reading *reading)
{
    reading->has_level = view->level != PM_NONE;
    enum pm_status status = build_of(c, path, view, &reading->build);
    if (status != PM_OK)
        return status;
    if (!reading->build)
        return read_named(c, side, view, NULL, reading);
    struct pm_view_key_names names;
    status =
        pm_build_names(&c->builds[reading->build].build, &c->builds[0].build, view, c->err, &names);
    if (status != PM_OK)
        return status;
    status = read_named(c, side, view, &names, reading);
    pm_build_names_release(&names);
    return status;
}

static enum pm_status take_run(struct compare *c, int side, const char *path, struct pm_view *view)
{
    struct pm_compare_side *to = &c->to->sides[side];
    struct pm_compare_run *run = &to->runs[to->n_runs];
    enum pm_status status = describe_run(c, side, view, path, run);
    if (status != PM_OK)
        return status;
    if (run->poor && c->to->options.good_only) {
        to->n_left_out++;
        return PM_OK;
    }
    return read_view(c, side, path, view, &c->readings[side][to->n_runs++]);
}

/* The metric that the first one shows is asked for by its name, of that and of all others. */
static enum pm_status take_first(struct compare *c, int side, const char *path,
                                 const struct pm_view *first)
{
    struct pm_view view;
    enum pm_status status = choose_metric(c, first);
    if (status != PM_OK)
        return status;
    status = make_view(c, side, path, first->archive, &view);
    status = status != PM_OK ? status : take_run(c, side, path, &view);
    pm_view_release(&view);
    return status;
}

static enum pm_status read_run(struct compare *c, int side, const char *path)
{
    struct pm_view view;
    enum pm_status status = read_build(c, path);
    if (status != PM_OK)
        return status;
    status = make_view(c, side, path, NULL, &view);
    if (!status)
        status =
            c->to->level_name ? take_run(c, side, path, &view) : take_first(c, side, path, &view);
    pm_view_release(&view);
    return status;
}

static enum pm_status start_side(struct compare *c, int side)
{
    uint32_t n = c->inputs[side].n_paths;
    c->to->sides[side].runs = pm_alloc_array((size_t)n + 1, sizeof *c->to->sides[side].runs);
    c->readings[side] = pm_alloc_array((size_t)n + 1, sizeof *c->readings[side]);
    return c->to->sides[side].runs && c->readings[side] ? PM_OK : compare_no_memory(c);
}

enum pm_status compare_read_side(struct compare *c, int side)
{
    enum pm_status status = start_side(c, side);
    for (uint32_t i = 0; i < c->inputs[side].n_paths && !status; i++)
        status = read_run(c, side, c->inputs[side].paths[i]);
    if (status != PM_OK || c->to->sides[side].n_runs)
        return status;
    return pm_error_set(c->err, PM_ERR_NOT_FOUND,
                        "side %c has no run that was measured well: '--good-only' leaves none",
                        "AB"[side]);
}
