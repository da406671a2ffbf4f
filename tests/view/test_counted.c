/* Events that were counted: sums of what archives say, which may be anything; names of metrics. */
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

/* heat.sql with a second process, and (not located) below main and below sweep, which is in it. */
static const char more[] =
    "INSERT INTO processes SELECT 2, 1, 4712, 4710, 0, exe, argv, 0, 1000, 'exit', 1, 1, 1, 3, 2, "
    "1, 0, 0, 0 FROM processes;"
    "INSERT INTO nouns(id, pif_id, level, name, kind) VALUES (70, 70, 1, '(not located)', 'lost');"
    "INSERT INTO sentences VALUES (70, 1, 70);"
    "INSERT INTO contexts VALUES (20, 2, 70, 0), (21, 4, 70, 0);"
    "INSERT INTO metrics VALUES (3, 'faults', 'faults', 'count', 'sum', ''), "
    "(4, 'cycles', 'cycles', 'count', 'sum', ''), "
    "(5, 'n_samples', 'samples', 'count', 'sum', ''), (6, 'n', 'x', 'count', 'sum', ''), "
    "(7, 'turned', 'x', 'count', 'sum', 'events (PAPI), in turns'), "
    "(8, 'spread', 'x', 'count', 'sum', 'of all threads (PAPI)'), "
    "(9, 'alone', 'x', 'count', 'sum', 'of all threads (PAPI)'), "
    "(10, 'stopped', 'x', 'count', 'sum', ''), "
    "(11, 'by_papi', 'x', 'count', 'sum', 'events (PAPI), by overflow');"
    "INSERT INTO cost_rows VALUES (20, 1, 3, 5000000000000000000), "
    "(21, 1, 3, 5000000000000000000), (5, 1, 4, 9), (5, 1, 5, 2), (5, 1, 6, 3), (5, 1, 7, 3), "
    "(5, 1, 8, 3), (5, 1, 9, 3), (5, 1, 10, 3), (5, 1, 11, 3);"
    "INSERT INTO counters VALUES "
    "(1, 'cycles', NULL, 1, 0, 0, 9, 9223372036854775807, 10, 0, NULL), "
    "(2, 'cycles', NULL, 1, 0, 0, 9, 9223372036854775807, 10, 0, NULL), "
    "(1, 'misses', NULL, 1, 0, 0, 0, 5, 5, 0, NULL), "
    "(2, 'misses', NULL, 1, 0, 0, 0, 5, 0, 0, NULL), "
    "(1, 'rare', NULL, 1, 0, 0, 0, 5, 5, 0, NULL), "
    "(1, 'turned', NULL, 1, 0, 0, 3, 0, 0, 0, NULL), "
    "(1, 'spread', NULL, 2, 0, 0, 3, 0, 0, 0, NULL), "
    "(1, 'alone', NULL, 1, 0, 0, 3, 0, 0, 0, NULL), "
    "(2, 'alone', NULL, 1, 0, 0, 3, 0, 0, 0, NULL), "
    "(1, 'stopped', 1, 1, 0, 0, 3, 0, 0, 0, 'throttled'), "
    "(1, 'by_papi', 1, 1, 0, 0, 3, 0, 0, 0, NULL), "
    "(1, 'n_samples', 100, 1, 0, 0, 2, 5, 5, 0, NULL);";

static int begin(void **state)
{
    (void)state;
    return !make_archive(PM_TEST_ARCHIVES "/heat.sql", more, "counted.perfmap");
}

static enum pm_status look_at(const char *metrics, struct pm_view *view, struct pm_error *err)
{
    *view = (struct pm_view){.options = {.archive_path = "counted.perfmap",
                                         .level = "source",
                                         .by = PM_VIEW_BY_FUNCTION,
                                         .metrics = metrics,
                                         .sort = PM_VIEW_SORT_DEFAULT}};
    return pm_view_make(view, err);
}

static void sums_of_an_archive_do_not_wrap(void **state)
{
    (void)state;
    struct pm_view view;
    struct pm_view_lost lost;
    assert_int_equal(look_at("cycles", &view, NULL), PM_OK);
    assert_true(pm_view_counts_are_few(&view, 0, 9)); /* enabled in sum: more than fits */
    pm_index faults = pm_graph_find_metric(view.data->graph, "faults"), most = 0;
    assert_int_equal(pm_view_find_lost_of(&view, faults, NULL, &lost), PM_OK);
    assert_non_null(lost.counts);
    for (pm_index c = 0; c < view.data->graph->n_contexts; c++) {
        assert_true(lost.counts[c] >= 0);
        most += lost.counts[c] == INT64_MAX;
    }
    assert_true(most > 0);
    free(lost.counts);
    pm_view_release(&view);
}

/* What is called n is no short name of n_samples. */
static void a_whole_name_is_before_a_name_without_unit(void **state)
{
    (void)state;
    struct pm_view view;
    assert_int_equal(look_at("n,n_samples", &view, NULL), PM_OK);
    assert_int_equal(view.n_metrics, 2);
    assert_string_equal(view.data->graph->metrics[view.metrics[0]].name, "n");
    assert_string_equal(view.data->graph->metrics[view.metrics[1]].name, "n_samples");
    pm_view_release(&view);
    assert_int_equal(look_at("wall", &view, NULL), PM_OK);
    assert_string_equal(view.data->graph->metrics[view.metrics[0]].name, "wall_ns");
    pm_view_release(&view);
}

static void what_was_not_counted_has_its_reason(void **state)
{
    (void)state;
    static const struct {
        const char *metric, *why;
    } reasons[] = {{"rare", "it never happened"},
                   {"misses", "it never got one (count fewer events in one run)"}};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        struct pm_view view;
        struct pm_error err = PM_ERROR_INIT;
        assert_int_equal(look_at(reasons[i].metric, &view, &err), PM_ERR_USAGE);
        assert_non_null(strstr(pm_error_text(&err), reasons[i].why));
        pm_error_release(&err);
        pm_view_release(&view);
    }
}

static void zeros_are_as_sure_as_other_numbers(void **state)
{
    (void)state;
    struct pm_view view;
    assert_int_equal(look_at("cycles,n_samples", &view, NULL), PM_OK);
    assert_true(pm_view_counts_are_few(&view, 0, 0)); /* it took turns */
    assert_false(pm_view_counts_are_few(&view, 1, 0));
    assert_true(pm_view_counts_are_few(&view, 1, 1));
    pm_view_release(&view);
}

static void expect_said(const struct pm_view *view, uint32_t m, enum pm_view_counted_note which,
                        const char *part)
{
    struct pm_buf text = PM_BUF_INIT(1024);
    assert_int_equal(pm_view_say_counted(view, m, which, &text), part != NULL);
    if (part)
        assert_non_null(strstr(text.data, part));
    pm_buf_release(&text);
}

/* How a number was counted decides which mark it has, and what is said of it. */
static void numbers_are_marked_by_how_they_were_counted(void **state)
{
    (void)state;
    enum { TURNED, SPREAD, ALONE, STOPPED, BY_PAPI, N };
    static const bool scaled[N] = {[TURNED] = true, [BY_PAPI] = true},
                      few[N] = {[TURNED] = true, [SPREAD] = true, [BY_PAPI] = true},
                      cut[N] = {[STOPPED] = true};
    struct pm_view view;
    assert_int_equal(look_at("turned,spread,alone,stopped,by_papi", &view, NULL), PM_OK);
    for (uint32_t m = 0; m < N; m++) {
        assert_int_equal(pm_view_counts_are_scaled(&view, m), scaled[m]);
        assert_int_equal(pm_view_counts_are_few(&view, m, 3), few[m]);
        assert_int_equal(pm_view_counts_are_few(&view, m, 0), few[m]);
        assert_int_equal(pm_view_counts_are_cut(&view, m), cut[m]);
        assert_int_equal(pm_view_why_counts(&view, m) != NULL, few[m]);
        expect_said(&view, m, PM_VIEW_COUNTED_SHARED, m == SPREAD ? "the total is right" : NULL);
        expect_said(&view, m, PM_VIEW_COUNTED_STOPPED, cut[m] ? "at least what is shown" : NULL);
    }
    expect_said(&view, TURNED, PM_VIEW_COUNTED_SCALED, "in turns");
    expect_said(&view, BY_PAPI, PM_VIEW_COUNTED_SCALED, "more or less than the events");
    pm_view_release(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_an_archive_do_not_wrap),
        cmocka_unit_test(what_was_not_counted_has_its_reason),
        cmocka_unit_test(zeros_are_as_sure_as_other_numbers),
        cmocka_unit_test(a_whole_name_is_before_a_name_without_unit),
        cmocka_unit_test(numbers_are_marked_by_how_they_were_counted),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
