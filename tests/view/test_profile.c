/* A view as a profile: what its cells add up to, and what they are told apart by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapping/view/profile.h"
#include "tests/graph/archives.h"

static enum pm_status make(const char *script, unsigned parts, enum pm_view_by by,
                           struct pm_profile *profile)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_profile_options options = {.view = {.archive_path = "profile.perfmap",
                                                  .level = "source",
                                                  .by = by,
                                                  .folds = true,
                                                  .keeps_columns = true,
                                                  .sort = PM_VIEW_SORT_DEFAULT},
                                         .parts = parts};
    assert_true(make_archive(script, "", "profile.perfmap"));
    enum pm_status status = pm_profile_make(&options, &err, profile);
    pm_error_release(&err);
    return status;
}

static int64_t sum(const struct pm_profile *profile, uint32_t value)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < profile->n_cells; i++)
        sum += profile->cells[i].values[value];
    return sum;
}

static void cells_add_up_to_the_total_whatever_tells_them_apart(void **state)
{
    (void)state;
    static const char *const scripts[] = {PM_TEST_ARCHIVES "/heat.sql",
                                          PM_TEST_ARCHIVES "/sampled.sql"};
    for (size_t s = 0; s < 2; s++)
        for (unsigned parts = 0; parts < 8; parts++) {
            struct pm_profile profile;
            assert_int_equal(make(scripts[s], parts, PM_VIEW_BY_LOOP, &profile), PM_OK);
            assert_true(profile.n_values > 1 && profile.n_cells > 5);
            for (uint32_t v = 0; v < profile.n_values; v++)
                assert_int_equal(sum(&profile, v), profile.values[v].total);
            for (uint32_t i = 0; i < profile.n_nodes; i++)
                assert_true(profile.nodes[i].parent == PM_NONE || profile.nodes[i].parent < i);
            pm_profile_release(&profile);
        }
}

static void cells_of_a_node_are_what_its_row_has(void **state)
{
    (void)state;
    struct pm_profile profile;
    assert_int_equal(make(PM_TEST_ARCHIVES "/sampled.sql", PM_PROFILE_THREADS | PM_PROFILE_LINES,
                          PM_VIEW_BY_FUNCTION, &profile),
                     PM_OK);
    int64_t *inclusive = pm_profile_inclusive(&profile);
    assert_non_null(inclusive);
    for (uint32_t i = 0; i < profile.n_nodes; i++) {
        int64_t own = 0;
        for (uint32_t c = 0; c < profile.n_cells; c++)
            own += profile.cells[c].node == i ? profile.cells[c].values[0] : 0;
        assert_int_equal(own, profile.nodes[i].row->values[0].own.value);
        assert_int_equal(inclusive[(size_t)i * profile.n_values],
                         profile.nodes[i].row->values[0].inclusive);
    }
    free(inclusive);
    pm_profile_release(&profile);
}

static void lines_and_arrays_are_those_of_the_source(void **state)
{
    (void)state;
    struct pm_profile profile;
    assert_int_equal(make(PM_TEST_ARCHIVES "/sampled.sql", PM_PROFILE_LINES | PM_PROFILE_ARRAYS,
                          PM_VIEW_BY_FUNCTION, &profile),
                     PM_OK);
    int64_t with_line = 0, with_array = 0;
    for (uint32_t c = 0; c < profile.n_cells; c++) {
        const struct pm_profile_cell *cell = &profile.cells[c];
        assert_int_equal(cell->thread, PM_NONE);
        if (cell->line != PM_NONE) {
            assert_string_equal(profile.lines[cell->line].file, "heat.c");
            with_line += cell->values[0];
        }
        if (cell->array != PM_NONE)
            with_array += cell->values[0];
    }
    assert_true(with_line > profile.values[0].total * 9 / 10);
    assert_true(with_array > 0 && with_array < profile.values[0].total);
    pm_profile_release(&profile);
}

static void a_metric_that_is_not_there_is_refused(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    struct pm_profile profile;
    struct pm_profile_options options = {
        .view = {.archive_path = "profile.perfmap", .level = "source", .metrics = "no_such_ns"}};
    assert_true(make_archive(PM_TEST_ARCHIVES "/heat.sql", "", "profile.perfmap"));
    assert_int_equal(pm_profile_make(&options, &err, &profile), PM_ERR_USAGE);
    pm_profile_release(&profile);
    pm_error_release(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_add_up_to_the_total_whatever_tells_them_apart),
        cmocka_unit_test(cells_of_a_node_are_what_its_row_has),
        cmocka_unit_test(lines_and_arrays_are_those_of_the_source),
        cmocka_unit_test(a_metric_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
