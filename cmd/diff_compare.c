/* perfmap compare */
#include "diff.h"

#include "cmd/core/archives.h"
#include "cmd/show/sides.h"
#include "mapping/view/groupings.h"

#include <stdlib.h>

enum { OPT_LIMIT = DIFF_OPT_OTHERS, OPT_CSV };

enum { TABLE_LIMIT = 20 };

struct compare_request {
    struct pm_compare_options options;
    struct show_look look;
    uint64_t limit;
    bool limit_given, csv;
};

/* Each operand is a side, the first of which is A; runs: those of all, one side after the other. */
struct all_sides {
    struct diff_side sides[SHOW_MOST_SIDES][2];
    const char **paths;
    uint32_t n_runs[SHOW_MOST_SIDES], n, n_paths;
};

static bool read_options(struct cmd_parse *parse, struct compare_request *request)
{
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        switch (key) {
        case OPT_LIMIT:
            request->limit_given = cmd_number(parse, UINT32_MAX, &request->limit);
            break;
        case OPT_CSV:
            request->csv = true;
            break;
        default:
            if (!diff_take_row_option(parse, key, &request->options))
                cmd_take_look(parse, key, &request->look);
        }
    return !parse->failed;
}

static bool check(struct cmd_parse *parse, const struct compare_request *request)
{
    if (!diff_check_rows(parse, &request->options))
        return false;
    if (parse->json && request->csv)
        cmd_usage_error(parse, "options '--json' and '--csv' cannot be combined: choose one");
    else if (parse->n_operands < 2)
        cmd_usage_error(parse, "two sides or more are put beside each other, the first is A");
    else if (parse->n_operands > SHOW_MOST_SIDES)
        cmd_usage_error(parse, "%d sides at most, not %d", SHOW_MOST_SIDES, parse->n_operands);
    return !parse->failed;
}

static bool expand(struct cmd_parse *parse, struct all_sides *all, int *ret_exit)
{
    for (all->n = 0; all->n < (uint32_t)parse->n_operands; all->n++) {
        const char *const *operand = (const char *const *)&parse->operands[all->n];
        struct pm_compare_input inputs[2] = {{operand, 1}, {operand, 1}}; /* the same: one side */
        if (!diff_expand(parse, all->sides[all->n], inputs, ret_exit)) {
            all->n++;
            return false;
        }
        all->n_runs[all->n] = inputs[0].n_paths;
        all->n_paths += inputs[0].n_paths;
    }
    return true;
}

static bool list_paths(struct all_sides *all)
{
    uint32_t n = 0;
    all->paths = pm_alloc_array((size_t)all->n_paths + 1, sizeof *all->paths);
    for (uint32_t s = 0; all->paths && s < all->n; s++)
        for (uint32_t i = 0; i < all->n_runs[s]; i++)
            all->paths[n++] = all->sides[s][0].paths[i];
    return all->paths != NULL;
}

static void release(struct all_sides *all)
{
    for (uint32_t s = 0; s < all->n; s++) {
        diff_release_side(&all->sides[s][0]);
        diff_release_side(&all->sides[s][1]);
    }
    free(all->paths);
}

/* With --good-only some runs are left out: which are there is known by their paths. */
static enum pm_status count_runs(const struct all_sides *all, const struct pm_comparison *whole,
                                 struct pm_error *err, uint32_t *ret_n_runs)
{
    const char *const *path = all->paths + all->n_runs[0];
    uint32_t at = 0;
    for (uint32_t s = 1; s < all->n; s++) {
        ret_n_runs[s - 1] = 0;
        for (uint32_t i = 0; i < all->n_runs[s]; i++, path++)
            if (at < whole->sides[1].n_runs && whole->sides[1].runs[at].path == *path) {
                ret_n_runs[s - 1]++;
                at++;
            }
        if (!ret_n_runs[s - 1])
            return pm_error_set(err, PM_ERR_NOT_FOUND,
                                "side %c has no run that was measured well: '--good-only' leaves "
                                "none",
                                (int)('A' + s));
    }
    return PM_OK;
}

static bool print(const struct cmd_parse *parse, const struct compare_request *request,
                  struct show_sides *sides)
{
    if (!show_sides_order(sides))
        return false;
    if (parse->json)
        return show_sides_json(sides, request->limit, stdout);
    if (request->csv)
        return show_sides_csv(sides, request->limit, stdout);
    return show_sides_table(sides, request->limit, &request->look, stdout);
}

static enum pm_status compare_sides(const struct cmd_parse *parse,
                                    const struct compare_request *request,
                                    const struct all_sides *all, struct pm_comparison *whole,
                                    struct pm_error *err)
{
    struct pm_comparison columns[SHOW_MOST_SIDES];
    uint32_t n_runs[SHOW_MOST_SIDES];
    enum pm_status status = count_runs(all, whole, err, n_runs);
    if (status != PM_OK)
        return status;
    status = pm_compare_columns(whole, n_runs, all->n - 1, err, columns);
    struct show_sides sides = {whole, columns, all->n - 1};
    if (!status && !print(parse, request, &sides))
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    pm_compare_columns_release(columns, all->n - 1);
    return status;
}

static int run_compare(struct cmd_parse *parse, const struct compare_request *request,
                       const struct all_sides *all)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_comparison *whole = NULL;
    const char *const *paths = all->paths;
    const struct pm_compare_input inputs[2] = {
        {paths, all->n_runs[0]}, {paths + all->n_runs[0], all->n_paths - all->n_runs[0]}};
    enum pm_status status = pm_compare(&request->options, inputs, NULL, &err, &whole);
    if (!status)
        status = compare_sides(parse, request, all, whole, &err);
    pm_comparison_free(whole);
    return status != PM_OK ? cmd_refuse(parse, status, &err) : cmd_stdout_done(parse, CMD_DONE);
}

static int compare_main(struct cmd_parse *parse)
{
    struct compare_request request = {
        .options = {.view = {.level = "source", .by = PM_VIEW_BY_LOOP, .folds = true},
                    .least_pct = 5},
        .limit = TABLE_LIMIT};
    if (!read_options(parse, &request) || !check(parse, &request))
        return CMD_USAGE;
    if ((parse->json || request.csv) && !request.limit_given)
        request.limit = 0;
    struct all_sides all = {0};
    struct pm_error err = PM_ERROR_INIT;
    int end;
    if (!expand(parse, &all, &end)) {
        release(&all);
        return end;
    }
    if (list_paths(&all)) {
        end = run_compare(parse, &request, &all);
    } else {
        pm_error_set(&err, PM_ERR_MEMORY, "out of memory");
        end = cmd_fail(parse, &err);
    }
    release(&all);
    return end;
}

static const struct cmd_option compare_options[] = {
    {DIFF_OPT_LEVEL, "level", "LEVEL", "compare at this level of abstraction (default: source)"},
    {DIFF_OPT_BY, "by", pm_view_by_words + 1,
     "what a row is, as of report; loop (default), function, statement, array, ..."},
    {DIFF_OPT_TREE, "tree", NULL, "call paths of all sides, by inclusive costs"},
    {DIFF_OPT_INCLUSIVE, "inclusive", NULL, "compare inclusive costs, with all that a row called"},
    {DIFF_OPT_METRIC, "metric", "METRIC",
     "what is compared (default: the time that A's first shows)"},
    {DIFF_OPT_FOCUS, "focus", "PATTERN", "only what happens within this construct, as of report"},
    {DIFF_OPT_ON, "on", "RUNNER", "only what these ran, as of report"},
    {DIFF_OPT_GOOD_ONLY, "good-only", NULL, "leave out runs that were measured badly, as of diff"},
    {OPT_LIMIT, "limit", "NUMBER",
     "rows to print, 0 for all (default: 20; with --json and --csv all)"},
    {CMD_KEY_JSON, "json", NULL, "print JSON: of each side what diff says of A and that side"},
    {OPT_CSV, "csv", NULL, "print CSV: a line for each row and side"},
    CMD_LOOK_OPTIONS,
    {0}};

static const struct cmd_example compare_examples[] = {
    {"perfmap compare o0.perfmap o1.perfmap o2.perfmap o3.perfmap",
     "what each level of optimisation changes"},
    {"perfmap compare 'exp?opt=O1' 'exp?opt=O2' 'exp?opt=O3'",
     "several runs of each: members of an experiment, by their attributes"},
    {NULL, NULL}};

static const struct cmd_exit compare_exits[] = {
    {0, "the sides were shown"}, {1, "it failed"}, {2, "wrong usage"}, {0, NULL}};

const struct cmd cmd_compare = {
    .name = "compare",
    .summary = "put several runs beside each other",
    .usage = (const char *const[]){"compare [OPTION]... A B...", NULL},
    .description =
        "Puts two sides or more beside each other, in columns; the first, A, is what changes are "
        "of. A side is an archive, or a selection of an experiment's members. Constructs are found "
        "again in other builds, and numbers and verdicts are those of 'perfmap diff' of A and that "
        "side.\n"
        "\n"
        "What is not measured is empty, and never 0. '-' is a construct that a build does not "
        "have.",
    .options = compare_options,
    .examples = compare_examples,
    .exits = compare_exits,
    .environment = cmd_look_environment,
    .main = compare_main,
};
