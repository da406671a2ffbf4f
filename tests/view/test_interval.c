/* Views of an interval, and rows over time: of each row the parts add up to what it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapping/archive/cost_times.h"
#include "mapping/view/interval.h"
#include "mapping/view/keys.h"
#include "tests/graph/archives.h"

static const char name[] = "interval.perfmap";
enum { N_BUCKETS = 300, BUCKET_NS = 8000000, N_METRICS = 3 };
static uint32_t seed = 1;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed * n) >> 32);
}

/* All costs of a metric get random times, some for a part of it only. */
static void put_times(sqlite3 *db, int metric)
{
    sqlite3_stmt *costs, *insert;
    struct pm_buf data = PM_BUF_INIT(1 << 20);
    int64_t last = 0;
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT context, value FROM costs WHERE metric = ? AND "
                                        "thread = 1 ORDER BY context",
                                        -1, &costs, NULL),
                     SQLITE_OK);
    sqlite3_bind_int(costs, 1, metric);
    while (sqlite3_step(costs) == SQLITE_ROW) {
        int64_t context = sqlite3_column_int64(costs, 0), value = sqlite3_column_int64(costs, 1);
        double cells[N_BUCKETS] = {0};
        for (int i = 0; i < N_BUCKETS; i++)
            cells[i] = random_below(3) == 0 ? random_below(1000) : 0;
        pm_cost_times_put(&data, (uint64_t)(context - last),
                          (uint64_t)(context % 5 == 0 ? value - value / 3 : value), cells,
                          N_BUCKETS);
        last = context;
    }
    sqlite3_finalize(costs);
    assert_int_equal(
        sqlite3_prepare_v2(db, "INSERT INTO cost_times VALUES (1, ?, -5, ?, ?)", -1, &insert, NULL),
        SQLITE_OK);
    sqlite3_bind_int(insert, 1, metric);
    sqlite3_bind_int(insert, 2, BUCKET_NS);
    sqlite3_bind_blob64(insert, 3, data.data, data.len, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
    sqlite3_finalize(insert);
    pm_buf_release(&data);
}

static int begin(void **state)
{
    sqlite3 *db;
    (void)state;
    if (!make_archive(PM_TEST_ARCHIVES "/sampled.sql", "", name))
        return 1;
    assert_int_equal(sqlite3_open(name, &db), SQLITE_OK);
    for (int metric = 3; metric < 3 + N_METRICS; metric++)
        put_times(db, metric);
    sqlite3_close(db);
    return 0;
}

struct looked {
    enum pm_view_by by;
    bool tree;
    enum pm_rule rule;
    const char *focus;
};

static const struct looked looks[] = {
    {PM_VIEW_BY_LOOP, false, PM_RULE_MERGE, NULL},
    {PM_VIEW_BY_FUNCTION, false, PM_RULE_MERGE, NULL},
    {PM_VIEW_BY_STATEMENT, false, PM_RULE_MERGE, NULL},
    {PM_VIEW_BY_ARRAY, false, PM_RULE_MERGE, NULL},
    {PM_VIEW_BY_ARRAY, false, PM_RULE_CLOSED, NULL},
    {PM_VIEW_BY_STATEMENT, false, PM_RULE_SPLIT, NULL},
    {PM_VIEW_BY_FUNCTION, false, PM_RULE_MERGE, "array:sweep::u"},
    {PM_VIEW_BY_FUNCTION, true, PM_RULE_MERGE, NULL},
    {PM_VIEW_BY_LOOP, true, PM_RULE_MERGE, "func:sweep"},
    {PM_VIEW_BY_THREAD, false, PM_RULE_MERGE, NULL},
    {PM_VIEW_BY_MACHINE, true, PM_RULE_MERGE, NULL},
    {PM_VIEW_BY_CODE, true, PM_RULE_MERGE, NULL},
    {PM_VIEW_BY_DATA, true, PM_RULE_MERGE, NULL},
};
enum { N_LOOKS = sizeof looks / sizeof *looks };

static struct pm_view look(const struct looked *l, const char *from, const char *to, uint32_t n)
{
    struct pm_view view = {.options = {.archive_path = name,
                                       .level = "source",
                                       .by = l->by,
                                       .tree = l->tree,
                                       .rule = l->rule,
                                       .focus = {l->focus},
                                       .from = from,
                                       .to = to,
                                       .over_time = n,
                                       .keeps_columns = true,
                                       .sort = PM_VIEW_SORT_DEFAULT}};
    struct pm_error err = PM_ERROR_INIT;
    if (pm_view_make(&view, &err) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    return view;
}

/* Rows of one view by key: what they have. */
static int64_t own_of(const struct pm_view *view, const struct pm_view_keys *keys, const char *key)
{
    for (uint32_t r = 0; r < view->n_rows; r++)
        if (strcmp(keys->items[r].text, key) == 0)
            return view->rows[r].values[view->primary].own.value;
    return 0;
}

/* Two thirds of some have a time: an interval of all time has what its parts have. */
static void parts_add_up_to_rows(void **state)
{
    (void)state;
    enum { PARTS = 17 };
    for (int i = 0; i < N_LOOKS; i++) {
        struct pm_view all = look(&looks[i], "0", NULL, PARTS),
                       half = look(&looks[i], NULL, "50%", 0),
                       rest = look(&looks[i], "50%", NULL, 0);
        struct pm_view_keys keys[3] = {0};
        struct pm_error err = PM_ERROR_INIT;
        assert_int_equal(pm_view_keys_make(&all, NULL, &err, &keys[0]), PM_OK);
        assert_int_equal(pm_view_keys_make(&half, NULL, &err, &keys[1]), PM_OK);
        assert_int_equal(pm_view_keys_make(&rest, NULL, &err, &keys[2]), PM_OK);
        assert_int_equal(all.over_time.metric, all.metrics[all.primary]);
        assert_true(all.n_rows > 0);
        int64_t total = 0;
        for (uint32_t r = 0; r < all.n_rows; r++) {
            const struct pm_view_row *row = &all.rows[r];
            const struct pm_view_value *value = &row->values[all.primary];
            int64_t own = 0, inclusive = 0;
            for (int k = 0; k < PARTS; k++) {
                own += row->over_time[k];
                inclusive += row->over_time_inclusive ? row->over_time_inclusive[k] : 0;
            }
            assert_int_equal(own, value->own.value);
            if (row->over_time_inclusive)
                assert_int_equal(inclusive, value->inclusive);
            int64_t halves = own_of(&half, &keys[1], keys[0].items[r].text) +
                             own_of(&rest, &keys[2], keys[0].items[r].text);
            if (looks[i].rule != PM_RULE_SPLIT) /* which rounds each */
                assert_int_equal(halves, value->own.value);
            total += own;
        }
        assert_int_equal(total, all.total.values[all.primary].own.value);
        for (int k = 0; k < PARTS; k++)
            total -= all.total.over_time[k];
        assert_int_equal(total, 0);
        for (int k = 0; k < 3; k++)
            pm_view_keys_release(&keys[k]);
        pm_view_release(&all);
        pm_view_release(&half);
        pm_view_release(&rest);
    }
}

/* What has no time is in no part, and said. */
static void what_has_no_time_is_said(void **state)
{
    (void)state;
    struct pm_view view = look(&looks[0], NULL, NULL, 5);
    int64_t parts = 0;
    for (int k = 0; k < 5; k++)
        parts += view.total.over_time[k];
    double all = (double)view.total.values[view.primary].own.value;
    double untimed = pm_view_untimed_pct(&view, view.metrics[view.primary]);
    assert_true(untimed > 1 && untimed < 34);
    assert_float_equal((double)parts, all * (1 - untimed / 100), 10);
    pm_view_release(&view);
}

static enum pm_status refused(const char *from, const char *to, const char *metrics,
                              const char *message)
{
    struct pm_view view = {.options = {.archive_path = name,
                                       .level = "source",
                                       .by = PM_VIEW_BY_FUNCTION,
                                       .metrics = metrics,
                                       .from = from,
                                       .to = to}};
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = pm_view_make(&view, &err);
    if (!strstr(pm_error_text(&err), message))
        fail_msg("'%s' lacks '%s'", pm_error_text(&err), message);
    pm_error_release(&err);
    pm_view_release(&view);
    return status;
}

static void what_is_no_interval_is_refused(void **state)
{
    (void)state;
    static const char *const no_times[] = {
        "",      "x",   "-1", "1 2", "5 parsecs",           "101%", "1.2.3", "0x5",
        "1e300", "inf", "%",  ".",   "99999999999999999999"};
    for (size_t i = 0; i < sizeof no_times / sizeof *no_times; i++)
        assert_int_equal(refused(no_times[i], NULL, NULL, "takes a time"), PM_ERR_USAGE);
    assert_int_equal(refused(NULL, "soon", NULL, "'--to' takes a time"), PM_ERR_USAGE);
    assert_int_equal(refused("3s", NULL, NULL, "behind the end of the run, 2.345 s"), PM_ERR_USAGE);
    assert_int_equal(refused("2s", "1s", NULL, "from 2.000 s to 1.000 s"), PM_ERR_USAGE);
    assert_int_equal(refused(NULL, "0", NULL, "is empty"), PM_ERR_USAGE);
    assert_int_equal(refused("1", NULL, "n_calls", "'n_calls' has no times"), PM_ERR_USAGE);
}

static void times_have_units(void **state)
{
    (void)state;
    static const char *const same[] = {"1.5",          "1.5s",     "1500ms", "1500000us",
                                       "1500000000ns", "0.025min", "1.5 s"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct pm_view view = look(&looks[0], same[i], "90%", 0);
        assert_int_equal(view.interval.from_ns, 1500000000);
        assert_int_equal(view.interval.until_ns, 2110500000);
        pm_view_release(&view);
    }
}

static void an_archive_without_times_says_so(void **state)
{
    (void)state;
    struct pm_view view = {.options = {.archive_path = "old.perfmap",
                                       .level = "source",
                                       .by = PM_VIEW_BY_FUNCTION,
                                       .over_time = 3}};
    struct pm_error err = PM_ERROR_INIT;
    assert_true(
        make_archive(PM_TEST_ARCHIVES "/sampled.sql", "DROP TABLE cost_times", "old.perfmap"));
    assert_int_equal(pm_view_make(&view, &err), PM_ERR_NOT_FOUND);
    assert_string_equal(pm_error_text(&err), "archive 'old.perfmap' has no times: it was collected "
                                             "by an older PerfMap, which kept no times");
    pm_error_release(&err);
    pm_view_release(&view);
}

static void damaged_times_are_refused(void **state)
{
    (void)state;
    struct pm_view view = {.options = {.archive_path = "damaged.perfmap",
                                       .level = "source",
                                       .by = PM_VIEW_BY_FUNCTION,
                                       .from = "1s"}};
    struct pm_error err = PM_ERROR_INIT;
    assert_true(make_archive(PM_TEST_ARCHIVES "/sampled.sql",
                             "INSERT INTO cost_times VALUES (1, 2, 0, 1000, x'00')",
                             "damaged.perfmap"));
    assert_int_equal(pm_view_make(&view, &err), PM_ERR_FORMAT);
    assert_non_null(strstr(pm_error_text(&err), "the times of thread 1, metric 2, are damaged"));
    pm_error_release(&err);
    pm_view_release(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_add_up_to_rows),
        cmocka_unit_test(what_has_no_time_is_said),
        cmocka_unit_test(what_is_no_interval_is_refused),
        cmocka_unit_test(times_have_units),
        cmocka_unit_test(an_archive_without_times_says_so),
        cmocka_unit_test(damaged_times_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
