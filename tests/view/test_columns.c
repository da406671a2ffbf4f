/* Which columns a view has, and what they are of a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapping/view/columns.h"
#include "tests/graph/archives.h"

#include <math.h>

static int begin(void **state)
{
    (void)state;
    return !make_archive(PM_TEST_ARCHIVES "/heat.sql", "", "heat.perfmap");
}

/* "own_wall_ns inclusive_wall_ns share_pct", of the archive that begin() made. */
static void keys_of(const struct pm_view *view, char *ret_keys, size_t size)
{
    struct pm_view_column columns[PM_VIEW_MAX_COLUMNS];
    uint32_t n = pm_view_columns(view, columns);
    *ret_keys = 0;
    for (uint32_t i = 0; i < n; i++)
        snprintf(ret_keys + strlen(ret_keys), size - strlen(ret_keys), "%s%s", i ? " " : "",
                 columns[i].key);
}

/* The same of those that text shows. */
static void text_keys_of(const struct pm_view *view, char *ret_keys, size_t size)
{
    struct pm_view_column columns[PM_VIEW_MAX_COLUMNS];
    uint32_t n = pm_view_text_columns(view, columns);
    *ret_keys = 0;
    for (uint32_t i = 0; i < n; i++)
        snprintf(ret_keys + strlen(ret_keys), size - strlen(ret_keys), "%s%s", i ? " " : "",
                 columns[i].key);
}

static struct pm_view make(struct pm_view_options options)
{
    struct pm_view view = {.options = options};
    struct pm_error err = PM_ERROR_INIT;
    view.options.archive_path = "heat.perfmap";
    view.options.level = "source";
    view.options.sort = PM_VIEW_SORT_DEFAULT;
    view.options.metrics = "wall_ns";
    assert_int_equal(pm_view_make(&view, &err), PM_OK);
    return view;
}

static void a_view_has_the_columns_of_its_kind(void **state)
{
    (void)state;
    char keys[512];
    struct pm_view view = make((struct pm_view_options){.by = PM_VIEW_BY_FUNCTION});
    keys_of(&view, keys, sizeof keys);
    assert_string_equal(keys, "own_wall_ns inclusive_wall_ns taken_out_ns own_uncertainty_ns "
                              "inclusive_uncertainty_ns share_pct n_calls n_loop_entries");
    pm_view_release(&view);
    view = make((struct pm_view_options){.by = PM_VIEW_BY_LOOP, .bounds = true});
    keys_of(&view, keys, sizeof keys);
    assert_string_equal(keys, "own_wall_ns inclusive_wall_ns at_least_wall_ns at_most_wall_ns "
                              "taken_out_ns own_uncertainty_ns "
                              "inclusive_uncertainty_ns share_pct n_calls");
    pm_view_release(&view);
    view = make((struct pm_view_options){.by = PM_VIEW_BY_ARRAY, .no_compensation = true});
    keys_of(&view, keys, sizeof keys);
    assert_string_equal(keys, "own_wall_ns inclusive_wall_ns share_pct");
    pm_view_release(&view);
}

static struct pm_view_number number(const struct pm_view *view, enum pm_view_column_id id,
                                    const struct pm_view_row *row, enum pm_view_part part)
{
    struct pm_view_column column = {.id = id};
    return pm_view_number_of(view, &column, row, part);
}

static void text_has_first_what_rows_are_sorted_by(void **state)
{
    (void)state;
    char keys[512];
    struct pm_view view = make((struct pm_view_options){.by = PM_VIEW_BY_FUNCTION});
    view.shows_calls = true;
    view.total.taken_out_ns = 0;
    text_keys_of(&view, keys, sizeof keys);
    assert_string_equal(keys, "own_wall_ns share_pct inclusive_wall_ns n_calls");
    view.options.tree = true;
    text_keys_of(&view, keys, sizeof keys);
    assert_string_equal(keys, "inclusive_wall_ns share_pct own_wall_ns n_calls");
    view.options.tree = false;
    view.total.taken_out_ns = INT64_MAX;
    text_keys_of(&view, keys, sizeof keys);
    assert_string_equal(keys, "own_wall_ns share_pct inclusive_wall_ns taken_out_ns n_calls");
    view.n_metrics = 0;
    text_keys_of(&view, keys, sizeof keys);
    assert_string_equal(keys, "n_calls share_pct");
    pm_view_release(&view);
}

static struct pm_view_column column_with(const struct pm_view *view, const char *key)
{
    struct pm_view_column columns[PM_VIEW_MAX_COLUMNS];
    uint32_t n = pm_view_columns(view, columns), i = 0;
    while (i < n && strcmp(columns[i].key, key) != 0)
        i++;
    assert_true(i < n);
    return columns[i];
}

static void narrow_tables_keep_own_costs_and_lose_shares_last(void **state)
{
    (void)state;
    struct pm_view view = make((struct pm_view_options){.by = PM_VIEW_BY_FUNCTION});
    struct pm_view_column own = column_with(&view, "own_wall_ns"),
                          inclusive = column_with(&view, "inclusive_wall_ns"),
                          calls = column_with(&view, "n_calls"),
                          share = column_with(&view, "share_pct");
    assert_int_equal(pm_view_column_turn(&view, &own), PM_VIEW_NEVER_GOES);
    assert_true(pm_view_column_turn(&view, &calls) < pm_view_column_turn(&view, &inclusive));
    assert_true(pm_view_column_turn(&view, &inclusive) < pm_view_column_turn(&view, &share));
    inclusive.metric = view.primary + 1; /* of another metric it goes long before */
    view.metrics[inclusive.metric] = view.metrics[view.primary];
    assert_true(pm_view_column_turn(&view, &inclusive) < pm_view_column_turn(&view, &calls));
    pm_view_release(&view);
}

/* The table says which; what is not a sum stays as it is. */
static void sums_have_each_number_that_adds_up(void **state)
{
    (void)state;
    struct pm_view_row sum = {.n_calls = 1, .n_samples_inclusive = 5, .inclusive_doubt_ns = 6};
    struct pm_view_row row = {.n_calls = 10,
                              .n_loop_entries = 20,
                              .n_samples = 30,
                              .n_samples_inclusive = 40,
                              .taken_out_ns = 50,
                              .doubt_ns = 60,
                              .inclusive_doubt_ns = 70};
    assert_true(pm_view_add_numbers(&sum, &row));
    assert_int_equal(sum.n_calls, 11);
    assert_int_equal(sum.n_loop_entries, 20);
    assert_int_equal(sum.n_samples, 30);
    assert_int_equal(sum.taken_out_ns, 50);
    assert_int_equal(sum.doubt_ns, 60);
    assert_int_equal(sum.n_samples_inclusive, 5);
    assert_int_equal(sum.inclusive_doubt_ns, 6);
    sum.n_samples = INT64_MAX;
    assert_false(pm_view_add_numbers(&sum, &row));
}

static void numbers_are_those_of_the_row(void **state)
{
    (void)state;
    struct pm_view view = make((struct pm_view_options){.by = PM_VIEW_BY_FUNCTION});
    const struct pm_view_row *row = &view.rows[0];
    struct pm_view_number own = number(&view, PM_VIEW_COLUMN_OWN, row, PM_VIEW_PART_ROW);
    assert_int_equal(own.kind, PM_VIEW_INTEGER);
    assert_int_equal(own.integer, row->values[0].own.value);
    assert_true(own.real == (double)own.integer);
    struct pm_view_number share = number(&view, PM_VIEW_COLUMN_SHARE, row, PM_VIEW_PART_ROW);
    assert_int_equal(share.kind, PM_VIEW_REAL);
    double total = number(&view, PM_VIEW_COLUMN_OWN, &view.total, PM_VIEW_PART_TOTAL).real;
    assert_true(share.real > 0 && fabs(share.real - 100 * own.real / total) < 1e-9);
    pm_view_release(&view);
}

static void what_is_not_known_is_no_number(void **state)
{
    (void)state;
    struct pm_view view = make((struct pm_view_options){.by = PM_VIEW_BY_FUNCTION});
    struct pm_view_row row = view.rows[0];
    row.traits.is_untimed = true;
    assert_int_equal(number(&view, PM_VIEW_COLUMN_OWN, &row, PM_VIEW_PART_ROW).kind,
                     PM_VIEW_NO_NUMBER);
    row.n_calls = 0;
    row.traits.calls_are_unknown = true;
    assert_int_equal(number(&view, PM_VIEW_COLUMN_CALLS, &row, PM_VIEW_PART_ROW).kind,
                     PM_VIEW_NO_NUMBER);
    assert_int_equal(number(&view, PM_VIEW_COLUMN_INCLUSIVE, &view.total, PM_VIEW_PART_TOTAL).kind,
                     PM_VIEW_NO_NUMBER); /* sums of inclusive times mean nothing */
    assert_int_equal(number(&view, PM_VIEW_COLUMN_AT_MOST, &row, PM_VIEW_PART_ROW).kind,
                     PM_VIEW_NO_NUMBER);
    row.traits = (struct pm_view_traits){.calls_are_at_least = true};
    row.n_calls = 7;
    struct pm_view_number calls = number(&view, PM_VIEW_COLUMN_CALLS, &row, PM_VIEW_PART_ROW);
    assert_true(calls.is_at_least);
    assert_int_equal(calls.integer, 7);
    pm_view_release(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_has_the_columns_of_its_kind),
        cmocka_unit_test(text_has_first_what_rows_are_sorted_by),
        cmocka_unit_test(narrow_tables_keep_own_costs_and_lose_shares_last),
        cmocka_unit_test(sums_have_each_number_that_adds_up),
        cmocka_unit_test(numbers_are_those_of_the_row),
        cmocka_unit_test(what_is_not_known_is_no_number),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
