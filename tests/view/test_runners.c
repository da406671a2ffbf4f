/* Each cost knows who ran it: views of some runners, and what each has of a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapping/view/view.h"
#include "tests/graph/archives.h"

enum { MAX_ROWS = 64, MAX_METRICS = 4 };

/* Three processes: of rank 0 with one thread, of rank 1 on a node of its own with two, of no rank
 * with one. */
static int begin(void **state)
{
    (void)state;
    return !make_archive(
        PM_TEST_ARCHIVES "/heat.sql",
        "INSERT INTO probe_costs VALUES (1, 2000000, 1200000);"
        "UPDATE processes SET added_ns = 600812000;"
        "INSERT INTO processes SELECT id + 1, execution, pid + id, parent_pid, 0, exe, argv, "
        "start_ns, end_ns, end_kind, user_cpu_ns, system_cpu_ns, max_rss_bytes, n_sleds, n_events, "
        "added_ns, 0, 0, 0 FROM processes;"
        "INSERT INTO processes SELECT 3, execution, 4713, parent_pid, 0, '/opt/cold', 'cold', "
        "0, 1, 'exit', 1, 1, 1, 1, 1, 0, 0, 0, 0 FROM processes WHERE id = 1;"
        "INSERT INTO ranks VALUES (1, 0), (2, 1);"
        "INSERT INTO nodes VALUES (2, 'node2');"
        "INSERT INTO levels VALUES (3, 'MPI', 2); INSERT INTO nouns(id, pif_id, level, name, kind) "
        "VALUES (50, 50, 3, 'half', 'communicator');"
        "INSERT INTO members VALUES (1, 50, 1, 2), (2, 50, 0, 2);"
        "INSERT INTO threads VALUES (2, 2, 4712, 1, 'heat', 0, 1, 1), (3, 2, 4720, 1, 'worker', 0, "
        "1, 1), (4, 3, 4713, 1, 'cold', 0, 1, 1);"
        "INSERT INTO cost_rows SELECT context, 2, metric, value / 2 FROM cost_rows WHERE thread = "
        "1;"
        "INSERT INTO cost_rows SELECT context, 3, metric, value / 7 FROM cost_rows WHERE thread = "
        "1 "
        "AND context < 6;"
        "INSERT INTO cost_rows VALUES (7, 4, 2, 1000), (9, 4, 2, 77);",
        "runners.perfmap");
}

static struct pm_view make(struct pm_view_options options)
{
    struct pm_view view = {.options = options};
    struct pm_error err = PM_ERROR_INIT;
    view.options.archive_path = "runners.perfmap";
    view.options.level = "source";
    view.options.sort = PM_VIEW_SORT_DEFAULT;
    if (pm_view_make(&view, &err) != PM_OK)
        fprintf(stderr, "%s\n", pm_error_text(&err));
    assert_false(pm_error_text(&err)[0]);
    assert_true(view.n_rows > 0 && view.n_rows <= MAX_ROWS && view.n_metrics <= MAX_METRICS);
    return view;
}

static const struct pm_view_row *row_of_id(const struct pm_view *view, uint32_t id)
{
    for (uint32_t r = 0; r < view->n_rows; r++)
        if (view->rows[r].id == id)
            return &view->rows[r];
    return NULL;
}

/* Of several threads; whole units are lost where a time is divided. */
static void assert_parts_add_up(const struct pm_view *view, int64_t most_off)
{
    for (uint32_t r = 0; r < view->n_rows; r++)
        for (uint32_t m = 0; m < view->n_metrics; m++) {
            int64_t sum = 0;
            for (uint32_t k = 0; k < view->runners.n; k++)
                sum += view->rows[r].parts[k * view->n_metrics + m].value;
            assert_true(llabs(sum - view->rows[r].values[m].own.value) <= most_off);
        }
}

static const struct pm_view_options shapes[] = {
    {.by = PM_VIEW_BY_LOOP},
    {.by = PM_VIEW_BY_LOOP, .rule = PM_RULE_SPLIT},
    {.by = PM_VIEW_BY_LOOP, .rule = PM_RULE_CLOSED},
    {.by = PM_VIEW_BY_FUNCTION, .tree = true},
    {.by = PM_VIEW_BY_FILE},
    {.by = PM_VIEW_BY_LOOP, .focus = {"func:sweep"}},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static void parts_of_a_row_add_up_to_it(void **state)
{
    static const uint32_t n_of_kind[PM_N_RUNNERS] = {0, 4, 3, 3, 2};
    (void)state;
    for (int shape = 0; shape < N_SHAPES; shape++)
        for (enum pm_runner kind = PM_RUNNER_NONE + 1; kind < PM_N_RUNNERS; kind++) {
            struct pm_view_options options = shapes[shape];
            options.parts = kind;
            options.no_compensation = true;
            struct pm_view view = make(options);
            assert_int_equal(view.runners.n, n_of_kind[kind]);
            assert_parts_add_up(&view, options.rule == PM_RULE_SPLIT ? view.runners.n : 0);
            pm_view_release(&view);
            options.no_compensation = false; /* by context, each thread pays its part */
            view = make(options);
            assert_true(view.taken_out_ns > 0);
            assert_parts_add_up(&view, options.rule == PM_RULE_SPLIT ? view.runners.n : 0);
            pm_view_release(&view);
        }
}

static void a_part_is_what_the_runner_has_alone(void **state)
{
    static const struct {
        enum pm_runner kind;
        uint32_t number;
        const char *name;
    } runners[] = {{PM_RUNNER_THREAD, 0, "thread:4711"},   {PM_RUNNER_THREAD, 2, "thread:work*"},
                   {PM_RUNNER_PROCESS, 1, "process:4712"}, {PM_RUNNER_PROCESS, 2, "process:cold"},
                   {PM_RUNNER_RANK, 2, "rank:half/0"},     {PM_RUNNER_RANK, 1, "rank:h*/1"},
                   {PM_RUNNER_RANK, 1, "rank:0"},          {PM_RUNNER_RANK, 2, "rank:1"}};
    (void)state;
    for (int shape = 0; shape < N_SHAPES; shape++)
        for (size_t i = 0; i < sizeof runners / sizeof *runners; i++) {
            struct pm_view_options options = shapes[shape];
            if (options.focus[0] && !strcmp(runners[i].name, "process:cold"))
                continue; /* has nothing there */
            options.parts = runners[i].kind;
            struct pm_view all = make(options);
            options.on[0] = runners[i].name;
            struct pm_view alone = make(options);
            for (uint32_t r = 0; r < alone.n_rows; r++)
                for (uint32_t m = 0; m < all.n_metrics; m++) {
                    const struct pm_view_row *row = row_of_id(&all, alone.rows[r].id);
                    assert_non_null(row);
                    int64_t value = alone.rows[r].values[m].own.value;
                    uint32_t at = runners[i].number * all.n_metrics + m;
                    assert_int_equal(row->parts[at].value, value);
                }
            assert_true(alone.focus_share_pct < 100);
            pm_view_release(&all);
            pm_view_release(&alone);
        }
}

static void rows_of_runners_are_sums_of_parts(void **state)
{
    static const struct {
        enum pm_view_by by;
        enum pm_runner kind;
    } pairs[] = {{PM_VIEW_BY_THREAD, PM_RUNNER_THREAD},
                 {PM_VIEW_BY_PROCESS, PM_RUNNER_PROCESS},
                 {PM_VIEW_BY_RANK, PM_RUNNER_RANK}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct pm_view parts = make((struct pm_view_options){.parts = pairs[i].kind}),
                       rows = make((struct pm_view_options){.by = pairs[i].by});
        assert_int_equal(rows.n_rows, parts.runners.n);
        for (uint32_t k = 0; k < rows.n_rows; k++) {
            int64_t sum = 0;
            for (uint32_t r = 0; r < parts.n_rows; r++)
                sum += parts.rows[r].parts[k * parts.n_metrics].value;
            assert_int_equal(row_of_id(&rows, k)->values[0].own.value, sum);
        }
        pm_view_release(&parts);
        pm_view_release(&rows);
    }
}

static void what_is_no_part_of_a_rank_is_kept(void **state)
{
    (void)state;
    struct pm_view view = make((struct pm_view_options){.parts = PM_RUNNER_RANK});
    struct pm_buf what = PM_BUF_INIT(100), place = PM_BUF_INIT(100);
    assert_int_equal(view.runners.items[0].key, PM_UNKNOWN);
    for (uint32_t k = 0; k < view.runners.n; k++) {
        pm_runner_kind(PM_RUNNER_RANK)
            ->label(view.data, view.runners.items[k].thread, &what, &place);
        pm_buf_add_byte(&what, ';');
    }
    assert_string_equal(what.data, "(no rank);rank 0;rank 1;");
    pm_buf_release(&what);
    pm_buf_release(&place);
    pm_view_release(&view);
}

static void a_focus_on_a_runner_is_what_it_ran(void **state)
{
    static const char *const names[] = {"rank:1", "thread:work*", "process:4712"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pm_view on = make((struct pm_view_options){.on = {names[i]}}),
                       focus = make((struct pm_view_options){.focus = {names[i]}});
        assert_string_equal(focus.options.on[0], names[i]);
        assert_null(focus.options.focus[0]);
        assert_int_equal(focus.n_rows, on.n_rows);
        for (uint32_t r = 0; r < on.n_rows; r++)
            assert_int_equal(focus.rows[r].values[0].own.value, on.rows[r].values[0].own.value);
        pm_view_release(&on);
        pm_view_release(&focus);
    }
}

/* Its paths, as ever. */
static void a_noun_of_that_name_is_meant_first(void **state)
{
    (void)state;
    struct pm_view view = make((struct pm_view_options){.focus = {"process:*heat*"}});
    assert_null(view.options.on[0]);
    assert_string_equal(view.options.focus[0], "process:*heat*");
    pm_view_release(&view);
}

static struct pm_view make_focused(const char *a, const char *b)
{
    struct pm_view view = {.options = {.archive_path = "runners.perfmap",
                                       .level = "source",
                                       .sort = PM_VIEW_SORT_DEFAULT,
                                       .no_compensation = true,
                                       .focus = {a, b}}};
    assert_int_equal(pm_view_make(&view, NULL), PM_OK);
    return view;
}

static bool runs(const struct pm_view *view, uint32_t thread)
{
    return !view->runs_in || view->runs_in[thread];
}

/* What is in both foci, whichever comes first; a view says so where nothing is. */
static void assert_is_in_both(const char *a_text, const char *b_text)
{
    struct pm_view a = make_focused(a_text, NULL), b = make_focused(b_text, NULL),
                   both = make_focused(a_text, b_text);
    int64_t total = 0, n_calls = 0;
    for (pm_index c = 0; c < both.data->graph->n_contexts; c++)
        assert_int_equal(both.in_focus[c], a.in_focus[c] && b.in_focus[c]);
    for (uint32_t t = 0; t < both.data->n_threads; t++)
        assert_int_equal(runs(&both, t), runs(&a, t) && runs(&b, t));
    for (uint32_t i = 0; i < both.data->graph->n_costs; i++) {
        const struct pm_cost *cost = &both.data->graph->costs[i];
        bool is_in = cost->metric == both.metrics[0] && both.in_focus[cost->context];
        assert_true(runs(&both, cost->thread));
        total += is_in ? cost->value : 0;
        n_calls += both.in_focus[cost->context] && !is_in ? cost->value : 0;
    }
    assert_int_equal(both.total.values[0].own.value, total);
    bool is_empty = total == 0 && n_calls == 0;
    assert_int_equal(pm_view_foci_exclude(&both), is_empty);
    if (is_empty)
        assert_non_null(strstr(both.warnings[0], "at once: "));
    pm_view_release(&a);
    pm_view_release(&b);
    pm_view_release(&both);
}

static void all_foci_must_hold(void **state)
{
    static const char *const foci[] = {"func:sweep",     "func:relax",  "func:init",
                                       "loop:heat.c:42", "file:heat.c", "rank:1",
                                       "thread:worker",  "node:node1",  "process:4711"};
    (void)state;
    for (size_t a = 0; a < sizeof foci / sizeof *foci; a++)
        for (size_t b = 0; b < sizeof foci / sizeof *foci; b++)
            if (a != b)
                assert_is_in_both(foci[a], foci[b]);
}

static void what_runs_nowhere_is_refused(void **state)
{
    static const struct {
        struct pm_view_options options;
        enum pm_status status;
        const char *text;
    } wrong[] = {
        {{.on = {"thread:x"}},
         PM_ERR_NOT_FOUND,
         "no thread 'x' in this archive; there are 4711 (heat), 4712 (heat), 4720 (worker), 4713 "
         "(cold)"},
        {{.on = {"rank:7"}},
         PM_ERR_NOT_FOUND,
         "no rank '7' in this archive; there are ranks 0 to 1"},
        {{.on = {"heat"}},
         PM_ERR_USAGE,
         "'heat' must be thread:NAME, process:NAME, rank:NUMBER or node:NAME"},
        {{.focus = {"rank:7"}},
         PM_ERR_NOT_FOUND,
         "no rank '7' in this archive; there are ranks 0 to 1"},
        {{.focus = {"rank:1", "rank:7"}},
         PM_ERR_NOT_FOUND,
         "no rank '7' in this archive; there are ranks 0 to 1"},
        {{.by = PM_VIEW_BY_THREAD, .parts = PM_RUNNER_RANK},
         PM_ERR_USAGE,
         "rows are already threads: they have no parts"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pm_view view = {.options = wrong[i].options};
        struct pm_error err = PM_ERROR_INIT;
        view.options.archive_path = "runners.perfmap";
        view.options.level = "source";
        assert_int_equal(pm_view_make(&view, &err), wrong[i].status);
        assert_non_null(strstr(pm_error_text(&err), wrong[i].text));
        pm_error_release(&err);
        pm_view_release(&view);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_row_add_up_to_it),
        cmocka_unit_test(a_part_is_what_the_runner_has_alone),
        cmocka_unit_test(rows_of_runners_are_sums_of_parts),
        cmocka_unit_test(what_is_no_part_of_a_rank_is_kept),
        cmocka_unit_test(a_focus_on_a_runner_is_what_it_ran),
        cmocka_unit_test(a_noun_of_that_name_is_meant_first),
        cmocka_unit_test(all_foci_must_hold),
        cmocka_unit_test(what_runs_nowhere_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
