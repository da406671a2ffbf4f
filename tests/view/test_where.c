/* Rows that are all places of a where axis: each cost is at one, whatever the focus. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapping/view/columns.h"
#include "mapping/view/view.h"
#include "tests/graph/archives.h"

/* heat.sql on two machines, with messages, a lock, and a variable of sweep. */
static const char more[] =
    "INSERT INTO processes SELECT 2, 1, 4712, 4710, 0, exe, argv, 0, 1000, 'exit', 1, 1, 1, 3, 2, "
    "1, 0, 0, 0 FROM processes;"
    "INSERT INTO threads VALUES (2, 2, 4712, 1, 'heat', 0, 1000, 1), (3, 2, 4720, 1, 'worker', 0, "
    "1000, 1);"
    "INSERT INTO probe_costs VALUES (1, 2000000, 1200000), (2, 1900000, 1100000);"
    "INSERT INTO ranks VALUES (1, 0), (2, 1); INSERT INTO nodes VALUES (2, 'node2');"
    "INSERT INTO levels VALUES (3, 'MPI', 2), (4, 'OpenMP', 2);"
    "INSERT INTO verbs VALUES (3, 3, 'Send', NULL), (4, 3, 'Barrier', NULL), (5, 1, 'Wait', NULL), "
    "(6, 2, 'Reads', NULL), (7, 4, 'Create', NULL);"
    "INSERT INTO nouns(id, pif_id, level, name, kind, parent) VALUES "
    "(50, 50, 3, 'MPI_COMM_WORLD', 'communicator', NULL), (51, 51, 3, 'rank 1', 'peer', 50), "
    "(52, 52, 3, 'tag 7', 'tag', 50), (61, 61, 1, 'till', 'mutex', NULL), "
    "(62, 62, 2, 'sweep::u', 'variable', 14), (63, 63, 2, 'sweep::v', 'variable', 14), "
    "(64, 64, 1, 'made', 'once', NULL), (65, 65, 4, 'taskloop in sweep', 'task', NULL), "
    "(66, 66, 4, 'task in sweep', 'task', NULL);"
    "INSERT INTO sentences VALUES (50, 3, 50), (51, 4, 50), (61, 5, 61), (62, 6, 62), (63, 6, 63), "
    "(64, 5, 64), (65, 7, 65), (66, 7, 66);"
    "INSERT INTO sentence_nouns VALUES (50, 1, 51), (50, 2, 52);"
    "INSERT INTO mappings(source, destination, origin) VALUES (5, 62, 'compiler'), (6, 62, "
    "'compiler'), (6, 63, 'compiler');"
    "INSERT INTO contexts VALUES (10, 4, 50, 0), (11, 10, 7, 0), (12, 2, 51, 0), (13, 6, 61, 0), "
    "(14, 13, 7, 0), (15, 2, 64, 0), (16, 2, 65, 0), (17, 2, 66, 0);"
    "INSERT INTO cost_rows SELECT context, 2, metric, value / 3 FROM cost_rows WHERE thread = 1;"
    "INSERT INTO cost_rows SELECT context, 3, metric, value / 7 FROM cost_rows WHERE thread = 1;"
    "INSERT INTO cost_rows VALUES (10, 1, 2, 70001), (11, 1, 2, 1301), (11, 1, 1, 3), (12, 2, 2, "
    "40000), (13, 3, 2, 91), (13, 1, 2, 17), (14, 3, 2, 1000003), (10, 3, 1, 8), (13, 3, 1, 2), "
    "(15, 1, 2, 403), (16, 1, 2, 29), (17, 1, 2, 31);";

static int begin(void **state)
{
    (void)state;
    return !make_archive(PM_TEST_ARCHIVES "/heat.sql", more, "where.perfmap");
}

static struct pm_view_options options_of(enum pm_view_by by, const char *focus)
{
    return (struct pm_view_options){.archive_path = "where.perfmap",
                                    .level = "source",
                                    .by = by,
                                    .metrics = "wall_ns,n_calls",
                                    .sort = PM_VIEW_SORT_DEFAULT,
                                    .focus = {focus}};
}

static const enum pm_view_by axes[] = {PM_VIEW_BY_MACHINE, PM_VIEW_BY_CODE, PM_VIEW_BY_DATA,
                                       PM_VIEW_BY_MPI, PM_VIEW_BY_SYNC};
enum { N_AXES = sizeof axes / sizeof *axes };

static int64_t total_of(const struct pm_view *view)
{
    return view->total.values[view->primary].own.value;
}

/* Of all rows the own ones, of those at the top what is in them; of each what is in its parts. */
static void assert_is_conserved(const struct pm_view *view)
{
    int64_t own = 0, top = 0, *in = calloc(view->n_rows + 1024, sizeof *in);
    for (uint32_t r = 0; r < view->n_rows; r++) {
        const struct pm_view_row *row = &view->rows[r];
        int64_t inclusive = row->values[view->primary].inclusive;
        own += row->values[view->primary].own.value;
        *(row->parent_id == PM_NONE ? &top : &in[row->parent_id]) += inclusive;
    }
    for (uint32_t r = 0; r < view->n_rows; r++) {
        const struct pm_view_value *value = &view->rows[r].values[view->primary];
        assert_int_equal(value->inclusive, value->own.value + in[view->rows[r].id]);
    }
    assert_int_equal(own, total_of(view));
    assert_int_equal(top, total_of(view));
    free(in);
}

static void each_cost_is_at_one_place(void **state)
{
    static const char *const foci[] = {NULL,         "func:sweep", "rank:1",        "node:node1",
                                       "mutex:till", "tag:tag 7",  "loop:heat.c:50"};
    (void)state;
    for (size_t f = 0; f < sizeof foci / sizeof *foci; f++) {
        struct pm_view flat = {.options = options_of(PM_VIEW_BY_FUNCTION, foci[f])};
        assert_int_equal(pm_view_make(&flat, NULL), PM_OK);
        assert_true(total_of(&flat) > 0);
        for (int a = 0; a < N_AXES; a++) {
            struct pm_view view = {.options = options_of(axes[a], foci[f])};
            assert_int_equal(pm_view_make(&view, NULL), PM_OK);
            assert_is_conserved(&view);
            assert_int_equal(total_of(&view), total_of(&flat));
            pm_view_release(&view);
        }
        pm_view_release(&flat);
    }
}

/* The names of a row and of what it lies in, outermost first. */
static void add_path(const struct pm_view *view, uint32_t r, struct pm_buf *out)
{
    const struct pm_view_row *row = &view->rows[r];
    for (uint32_t up = 0; row->parent_id != PM_NONE && up < view->n_rows; up++)
        if (view->rows[up].id == row->parent_id)
            add_path(view, up, out);
    pm_buf_printf(out, "/%s", row->name);
}

/* 0: no such place. */
static int64_t in_place(enum pm_view_by by, const char *wanted, int64_t *ret_calls)
{
    struct pm_view view = {.options = options_of(by, NULL)};
    int64_t value = 0;
    view.options.no_compensation = true;
    assert_int_equal(pm_view_make(&view, NULL), PM_OK);
    for (uint32_t r = 0; r < view.n_rows; r++) {
        struct pm_buf path = PM_BUF_INIT(4096);
        add_path(&view, r, &path);
        if (!strcmp(path.data, wanted)) {
            value = view.rows[r].values[0].inclusive;
            *ret_calls = view.rows[r].n_calls;
        }
        pm_buf_release(&path);
    }
    pm_view_release(&view);
    return value;
}

static void places_have_what_was_done_there(void **state)
{
    static const struct {
        enum pm_view_by by;
        const char *path;
        int64_t value, n_calls;
    } places[] = {
        /* with the code that ran for it, whose calls are not its own */
        {PM_VIEW_BY_MPI, "/MPI_COMM_WORLD/tag 7/rank 1", 71302, 8},
        {PM_VIEW_BY_MPI, "/MPI_COMM_WORLD", 111302, 0},
        {PM_VIEW_BY_SYNC, "/barriers/MPI_COMM_WORLD", 40000, 0},
        {PM_VIEW_BY_SYNC, "/locks/till", 1000111, 2},
        {PM_VIEW_BY_SYNC, "/locks/made", 403, 0},
        {PM_VIEW_BY_SYNC, "/tasks", 29, 0}, /* making one task is no waiting */
        /* a set lies in what all of it lies in; waiting counts for the code that waited */
        {PM_VIEW_BY_DATA, "/heat.c/sweep/sweep::u", 1600000001 + INT64_C(533333333) + 228571428, 0},
        {PM_VIEW_BY_DATA, "/heat.c/sweep/{sweep::u, sweep::v}",
         200000000 + 66666666 + 28571428 + 91 + 17, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int64_t n_calls = 0, value = in_place(places[i].by, places[i].path, &n_calls);
        if (value != places[i].value || (places[i].n_calls && n_calls != places[i].n_calls))
            fail_msg("%s: %lld, %lld calls", places[i].path, (long long)value, (long long)n_calls);
    }
}

/* Of each place, what its runners have adds up to what is in it. */
static void parts_of_places_add_up(void **state)
{
    (void)state;
    for (int a = 1; a < N_AXES; a++)
        for (enum pm_runner kind = PM_RUNNER_NONE + 1; kind < PM_N_RUNNERS; kind++) {
            struct pm_view view = {.options = options_of(axes[a], NULL)};
            view.options.parts = kind;
            assert_int_equal(pm_view_make(&view, NULL), PM_OK);
            for (uint32_t r = 0; r < view.n_rows; r++) {
                assert_int_equal(view.rows[r].spread->all, view.rows[r].values[0].inclusive);
                assert_int_equal(view.rows[r].spread->sum, view.rows[r].values[0].inclusive);
            }
            pm_view_release(&view);
        }
}

static void an_axis_that_is_not_there_is_refused(void **state)
{
    (void)state;
    assert_true(make_archive(PM_TEST_ARCHIVES "/heat.sql", "", "plain.perfmap"));
    for (int a = 3; a < N_AXES; a++) {
        struct pm_view view = {.options = options_of(axes[a], NULL)};
        struct pm_error err = PM_ERROR_INIT;
        view.options.archive_path = "plain.perfmap";
        assert_int_equal(pm_view_make(&view, &err), PM_ERR_NOT_FOUND);
        assert_non_null(strstr(pm_error_text(&err), "this archive has no "));
        pm_error_release(&err);
        pm_view_release(&view);
    }
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    for (int a = 0; a < N_AXES; a++) {
        struct pm_view_options options = options_of(axes[a], NULL);
        struct pm_archive_data *archive;
        assert_int_equal(pm_archive_load(options.archive_path,
                                         pm_view_load_flags(&options) | PM_ARCHIVE_LOAD_KEPT, NULL,
                                         &archive),
                         PM_OK);
        bool done = false;
        for (long n = 1; !done; n++) {
            struct pm_view view = {.options = options, .archive = archive};
            pm_alloc_fail_at(n);
            enum pm_status status = pm_view_make(&view, NULL);
            done = pm_alloc_fail_pending();
            pm_alloc_fail_at(0);
            if (done)
                assert_int_equal(status, PM_OK);
            pm_view_release(&view);
        }
        pm_archive_data_free(archive);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cost_is_at_one_place),
        cmocka_unit_test(places_have_what_was_done_there),
        cmocka_unit_test(parts_of_places_add_up),
        cmocka_unit_test(an_axis_that_is_not_there_is_refused),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
