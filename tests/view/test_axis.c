/* Costs over locations: the least, the average and the most of each row, against a plain model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapping/view/axis.h"
#include "mapping/view/columns.h"
#include "tests/graph/archives.h"

#include <math.h>

/* Three processes: of rank 0 with one thread, of rank 1 with two, and another program of no rank.
 * The first program sends messages, rank 1 none of them. */
#define THREE                                                                                      \
    "INSERT INTO processes SELECT id + 1, execution, pid + id, parent_pid, 0, exe, argv, "         \
    "start_ns, end_ns, end_kind, user_cpu_ns, system_cpu_ns, max_rss_bytes, n_sleds, n_events, "   \
    "added_ns, 0, 0, 0 FROM processes;"                                                            \
    "INSERT INTO processes SELECT 3, execution, 4713, parent_pid, 0, '/opt/cold', 'cold', "        \
    "0, 1, 'exit', 1, 1, 1, 1, 1, 0, 0, 0, 0 FROM processes WHERE id = 1;"                         \
    "INSERT INTO ranks VALUES (1, 0), (2, 1);"                                                     \
    "INSERT INTO threads VALUES (2, 2, 4712, 1, 'heat', 0, 1, 1), (3, 2, 4720, 1, 'worker', 0, "   \
    "1, 1), (4, 3, 4713, 1, 'cold', 0, 1, 1);"                                                     \
    "INSERT INTO cost_rows SELECT context, 2, metric, value / 2 FROM cost_rows WHERE thread = 1;"  \
    "INSERT INTO cost_rows SELECT context, 3, metric, value / 7 FROM cost_rows WHERE thread = 1 "  \
    "AND context < 6;"                                                                             \
    "INSERT INTO cost_rows VALUES (7, 4, 2, 1000), (9, 4, 2, 77);"                                 \
    "INSERT INTO metrics VALUES (3, 'messages', '', 'count', 'sum', 'sent'), "                     \
    "(4, 'peak_bytes', 'bytes', 'bytes', 'maximum', 'at a time'), "                                \
    "(5, 'load', '', 'count', 'average', 'of queues');"                                            \
    "INSERT INTO cost_rows VALUES (2, 1, 3, 10), (7, 1, 4, 4096), (7, 2, 4, 1024), (7, 1, 5, 4), " \
    "(8, 1, 5, 1);"

static int begin(void **state)
{
    (void)state;
    return !make_archive(PM_TEST_ARCHIVES "/heat.sql", THREE, "axis.perfmap") ||
           !make_archive(PM_TEST_ARCHIVES "/heat.sql",
                         THREE "UPDATE threads SET n_threads = 3 WHERE id = 3;",
                         "shared.perfmap") ||
           !make_archive(PM_TEST_ARCHIVES "/heat.sql",
                         THREE "UPDATE processes SET pid = 0 WHERE id = 3;", "unknown.perfmap");
}

static struct pm_view make_of(const char *archive, struct pm_view_options options)
{
    struct pm_view view = {.options = options};
    struct pm_error err = PM_ERROR_INIT;
    view.options.archive_path = archive;
    view.options.level = "source";
    view.options.sort = PM_VIEW_SORT_DEFAULT;
    view.options.no_compensation = true;
    if (pm_view_make(&view, &err) != PM_OK)
        fprintf(stderr, "%s\n", pm_error_text(&err));
    assert_false(pm_error_text(&err)[0]);
    return view;
}

static struct pm_view make(struct pm_view_options options)
{
    return make_of("axis.perfmap", options);
}

/* "func:sweep" of functions by their names. */
static const struct pm_view_row *row_named(const struct pm_view *view, const char *what)
{
    for (uint32_t r = 0; r < view->n_rows; r++)
        if (!strcmp(view->rows[r].what, what))
            return &view->rows[r];
    return NULL;
}

static struct pm_view_number number(const struct pm_view *view, const char *key,
                                    const struct pm_view_row *row)
{
    struct pm_view_column columns[PM_VIEW_MAX_COLUMNS];
    uint32_t n = pm_view_columns(view, columns), i = 0;
    enum pm_view_part part = row == &view->total ? PM_VIEW_PART_TOTAL : PM_VIEW_PART_ROW;
    while (i < n && strcmp(columns[i].key, key) != 0)
        i++;
    assert_true(i < n);
    return pm_view_number_of(view, &columns[i], row, part);
}

static const struct pm_view_options shapes[] = {
    {.by = PM_VIEW_BY_LOOP},
    {.by = PM_VIEW_BY_LOOP, .rule = PM_RULE_SPLIT},
    {.by = PM_VIEW_BY_FUNCTION},
    {.by = PM_VIEW_BY_FUNCTION, .tree = true},
    {.by = PM_VIEW_BY_LOOP, .focus = {"func:sweep"}},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, MOST = 8 };

/* What each location has of a row, from a view of that location alone. */
static void assert_as_alone(const struct pm_view *all, struct pm_view_options options,
                            const char *const *names, const int64_t *numbers)
{
    struct pm_view alone[MOST];
    uint32_t n = 0;
    options.parts = PM_RUNNER_NONE;
    for (; names[n]; n++) {
        options.on[0] = names[n];
        alone[n] = make(options);
    }
    assert_int_equal(all->axis.n_locations, n);
    for (uint32_t r = 0; r < all->n_rows; r++) {
        double sum = 0, least = INFINITY, most = 0;
        int64_t n_with = 0, at = PM_UNKNOWN;
        for (uint32_t k = 0; k < n; k++) {
            double value = 0;
            for (uint32_t i = 0; i < alone[k].n_rows; i++)
                if (alone[k].rows[i].id == all->rows[r].id)
                    value = options.tree ? (double)alone[k].rows[i].values[0].inclusive
                                         : (double)alone[k].rows[i].values[0].own.value;
            sum += value;
            least = fmin(least, value);
            n_with += value != 0;
            if (value > most) {
                most = value;
                at = numbers[k];
            }
        }
        const struct pm_view_row *row = &all->rows[r];
        assert_true(number(all, "min_wall_ns", row).real == least);
        assert_true(number(all, "max_wall_ns", row).real == most);
        assert_true(fabs(number(all, "average_wall_ns", row).real - sum / n) < 1e-3);
        assert_int_equal(number(all, "n_locations_with_cost", row).integer, n_with);
        struct pm_view_number imbalance = number(all, "imbalance_pct", row);
        assert_int_equal(imbalance.kind, sum > 0 ? PM_VIEW_REAL : PM_VIEW_NO_NUMBER);
        if (sum <= 0)
            continue;
        assert_true(fabs(imbalance.real - 100 * (most * n / sum - 1)) < 1e-6);
        assert_int_equal(number(all, "max_location", row).integer, at);
    }
    for (uint32_t k = 0; k < n; k++)
        pm_view_release(&alone[k]);
}

static void each_location_has_what_it_has_alone(void **state)
{
    static const struct {
        enum pm_runner kind;
        const char *names[MOST];
        int64_t numbers[MOST];
    } axes[] = {
        {PM_RUNNER_RANK, {"rank:0", "rank:1"}, {0, 1}},
        {PM_RUNNER_PROCESS, {"process:4711", "process:4712", "process:4713"}, {4711, 4712, 4713}},
        {PM_RUNNER_THREAD,
         {"thread:4711", "thread:4712", "thread:4720", "thread:4713"},
         {4711, 4712, 4720, 4713}}};
    (void)state;
    for (int shape = 0; shape < N_SHAPES; shape++)
        for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
            struct pm_view_options options = shapes[shape];
            options.parts = axes[i].kind;
            options.metrics = "wall_ns";
            struct pm_view view = make(options);
            assert_as_alone(&view, options, axes[i].names, axes[i].numbers);
            pm_view_release(&view);
        }
}

static void the_total_is_of_all_rows(void **state)
{
    (void)state;
    struct pm_view ranks = make((struct pm_view_options){.by = PM_VIEW_BY_RANK}),
                   view = make((struct pm_view_options){.parts = PM_RUNNER_RANK});
    int64_t of[2] = {0}, none = 0;
    for (uint32_t r = 0; r < ranks.n_rows; r++) {
        int64_t key = ranks.runners.items[ranks.rows[r].id].key;
        *(key == PM_UNKNOWN ? &none : &of[key]) = ranks.rows[r].values[0].own.value;
    }
    assert_true(number(&view, "max_wall_ns", &view.total).integer == of[0] && of[0] > of[1]);
    assert_int_equal(number(&view, "min_wall_ns", &view.total).integer, of[1]);
    assert_int_equal(number(&view, "max_location", &view.total).integer, 0);
    assert_int_equal(view.axis.left_out, none);
    assert_int_equal(none, 1077);
    pm_view_release(&ranks);
    pm_view_release(&view);
}

/* Rank 1 runs what rank 0 runs, and sends nothing: 0. The other program sends nothing that is known
 * of. */
static void what_was_not_measured_is_not_zero(void **state)
{
    (void)state;
    struct pm_view view =
        make((struct pm_view_options){.parts = PM_RUNNER_PROCESS, .metrics = "messages"});
    assert_int_equal(view.axis.n_locations, 2);
    assert_int_equal(view.axis.n_unmeasured, 1);
    assert_int_equal(number(&view, "min_messages", &view.total).integer, 0);
    assert_true(number(&view, "average_messages", &view.total).real == 5);
    assert_true(number(&view, "imbalance_pct", &view.total).real == 100);
    pm_view_release(&view);
    view = make(
        (struct pm_view_options){.parts = PM_RUNNER_RANK, .metrics = "messages", .on = {"rank:1"}});
    assert_int_equal(view.axis.n_locations, 1); /* whom nobody asked for is no location */
    assert_int_equal(view.axis.n_unmeasured, 0);
    pm_view_release(&view);
}

static void what_does_not_add_up_is_of_those_that_have_it(void **state)
{
    (void)state;
    struct pm_view view = make((struct pm_view_options){
        .by = PM_VIEW_BY_FUNCTION, .parts = PM_RUNNER_RANK, .metrics = "peak_bytes"});
    const struct pm_view_row *relax = row_named(&view, "relax");
    assert_non_null(relax);
    assert_int_equal(number(&view, "min_peak_bytes", relax).integer, 1024);
    assert_int_equal(number(&view, "max_peak_bytes", relax).integer, 4096);
    assert_true(number(&view, "average_peak_bytes", relax).real == 2560);
    pm_view_release(&view);
    view = make((struct pm_view_options){
        .by = PM_VIEW_BY_FUNCTION, .parts = PM_RUNNER_RANK, .metrics = "load"});
    relax = row_named(&view, "relax");
    assert_non_null(relax);
    assert_int_equal(number(&view, "max_load", relax).kind, PM_VIEW_REAL);
    assert_true(number(&view, "max_load", relax).real == 2.5);
    assert_true(number(&view, "min_load", relax).real == 2.5);
    assert_int_equal(number(&view, "n_locations_with_cost", relax).integer, 1);
    pm_view_release(&view);
}

/* Three threads share a row: who of them spent what is not known. */
static void threads_that_share_a_row_count_as_many(void **state)
{
    (void)state;
    struct pm_view_options options = {
        .by = PM_VIEW_BY_FUNCTION, .parts = PM_RUNNER_THREAD, .metrics = "wall_ns"};
    struct pm_view view = make_of("shared.perfmap", options), apart = make(options);
    const struct pm_view_row *init = row_named(&view, "init"), *same = row_named(&apart, "init");
    assert_int_equal(view.axis.n_locations, 6);
    assert_true(number(&view, "average_wall_ns", init).real ==
                number(&apart, "average_wall_ns", same).real * 4 / 6);
    assert_int_equal(number(&view, "min_wall_ns", init).integer, 0); /* the other program's */
    struct pm_view_number most = number(&view, "max_wall_ns", init);
    assert_int_equal(most.integer, 20000000); /* all three have less */
    assert_false(most.is_at_least);
    assert_true(number(&view, "n_locations_with_cost", init).is_at_least);
    pm_view_release(&view);
    pm_view_release(&apart);
    options.on[0] = "process:4712";
    view = make_of("shared.perfmap", options);
    init = row_named(&view, "init");
    assert_int_equal(number(&view, "min_wall_ns", init).kind, PM_VIEW_NO_NUMBER);
    pm_view_release(&view);
    options.on[0] = "thread:4720"; /* nothing but those three */
    view = make_of("shared.perfmap", options);
    init = row_named(&view, "init");
    most = number(&view, "max_wall_ns", init);
    assert_true(most.is_at_least);
    assert_int_equal(most.integer, (20000000 / 7 + 2) / 3);
    assert_int_equal(number(&view, "max_location", init).kind, PM_VIEW_NO_NUMBER);
    assert_true(number(&view, "imbalance_pct", init).is_at_least);
    pm_view_release(&view);
}

static void marks_of_a_row_hold_on_its_locations(void **state)
{
    static const char *const keys[] = {"min_wall_ns", "average_wall_ns", "max_wall_ns"};
    (void)state;
    struct pm_view view = make((struct pm_view_options){.parts = PM_RUNNER_RANK});
    struct pm_view_row row = view.rows[0];
    row.traits.times_are_at_least = true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_false(number(&view, keys[i], &view.rows[0]).is_at_least);
        assert_true(number(&view, keys[i], &row).is_at_least);
    }
    assert_true(number(&view, "imbalance_pct", &row).is_uncertain); /* it is no bound then */
    assert_false(number(&view, "imbalance_pct", &row).is_at_least);
    row.traits.is_untimed = true;
    assert_int_equal(number(&view, "max_wall_ns", &row).kind, PM_VIEW_NO_NUMBER);
    pm_view_release(&view);
}

/* What was taken out of the row's wall time is not known by location. */
static void parts_that_are_not_the_row_are_marked(void **state)
{
    (void)state;
    struct pm_view view = make((struct pm_view_options){.parts = PM_RUNNER_RANK});
    struct pm_view_row row = view.rows[0];
    struct pm_view_value value = row.values[0];
    row.values = &value;
    assert_false(number(&view, "max_wall_ns", &row).is_uncertain);
    assert_false(number(&view, "max_wall_ns", &view.total).is_uncertain);
    value.own.value = value.own.value * 98 / 100;
    assert_true(number(&view, "min_wall_ns", &row).is_uncertain);
    assert_true(number(&view, "average_wall_ns", &row).is_uncertain);
    assert_true(number(&view, "imbalance_pct", &row).is_uncertain);
    pm_view_release(&view);
}

/* Time that was not sampled is of processes that nobody knows. */
static void what_is_of_no_process_is_no_location(void **state)
{
    (void)state;
    struct pm_view view =
        make_of("unknown.perfmap", (struct pm_view_options){.parts = PM_RUNNER_PROCESS});
    assert_int_equal(view.axis.n_locations, 2);
    assert_int_equal(view.axis.n_unmeasured, 0);
    assert_int_equal(view.axis.left_out, 1077);
    pm_view_release(&view);
}

static void few_samples_are_marked(void **state)
{
    (void)state;
    struct pm_view view = make((struct pm_view_options){.parts = PM_RUNNER_RANK});
    struct pm_view_row row = view.rows[0];
    view.wall_metric = PM_NONE;
    view.cpu_metric = view.metrics[0];
    view.samples_metric = view.calls_metric;
    row.n_samples = 1000;
    assert_false(number(&view, "max_wall_ns", &row).is_uncertain);
    assert_false(number(&view, "imbalance_pct", &row).is_uncertain);
    row.n_samples = 20;
    assert_true(number(&view, "min_wall_ns", &row).is_uncertain);
    assert_true(number(&view, "imbalance_pct", &row).is_uncertain);
    assert_false(number(&view, "average_wall_ns", &row).is_uncertain);
    struct pm_view_spread alone = *row.spread;
    alone.n = 1;
    alone.sum = (double)alone.most.value;
    row.spread = &alone;
    assert_true(number(&view, "imbalance_pct", &row).real == 0);
    assert_false(number(&view, "imbalance_pct", &row).is_uncertain);
    row.n_samples = 9;
    assert_true(number(&view, "average_wall_ns", &row).is_uncertain);
    pm_view_release(&view);
}

static void calls_alone_are_refused(void **state)
{
    (void)state;
    struct pm_view view = {.options = {.archive_path = "axis.perfmap",
                                       .level = "source",
                                       .parts = PM_RUNNER_RANK,
                                       .metrics = "n_calls"}};
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_view_make(&view, &err), PM_ERR_USAGE);
    assert_string_equal(pm_error_text(&err), "costs over ranks need a metric other than n_calls");
    pm_error_release(&err);
    pm_view_release(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_location_has_what_it_has_alone),
        cmocka_unit_test(the_total_is_of_all_rows),
        cmocka_unit_test(what_was_not_measured_is_not_zero),
        cmocka_unit_test(what_does_not_add_up_is_of_those_that_have_it),
        cmocka_unit_test(threads_that_share_a_row_count_as_many),
        cmocka_unit_test(marks_of_a_row_hold_on_its_locations),
        cmocka_unit_test(parts_that_are_not_the_row_are_marked),
        cmocka_unit_test(what_is_of_no_process_is_no_location),
        cmocka_unit_test(few_samples_are_marked),
        cmocka_unit_test(calls_alone_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
