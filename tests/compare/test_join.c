/* Sets that one side has, and their members that the other side has apart. */
#include "mapping/compare/compare_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST_ROWS = 8, N_RUNS = 2 };

struct made {
    struct pm_comparison c;
    struct pm_compare_row rows[MOST_ROWS];
    struct pm_compare_cell cells[2][MOST_ROWS][N_RUNS];
    struct pm_compare_run runs[2][N_RUNS];
    uint64_t nouns[MOST_ROWS][4];
    struct compare_parts parts[MOST_ROWS];
};

static struct made made;

static void start(void)
{
    made = (struct made){.c.rows = made.rows};
    for (int side = 0; side < 2; side++)
        made.c.sides[side] = (struct pm_compare_side){.runs = made.runs[side], .n_runs = N_RUNS};
}

/* parts: "12": the constructs 1 and 2. a, b: of each run; negative: the side has none of it. */
static void add(const char *parts, double a, double b)
{
    uint32_t r = made.c.n_rows++;
    const double values[] = {a, b};
    made.rows[r] = (struct pm_compare_row){.what = parts};
    for (uint32_t i = 0; parts[i]; i++)
        made.nouns[r][i] = (uint64_t)parts[i];
    made.parts[r] = (struct compare_parts){made.nouns[r], (uint32_t)strlen(parts)};
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < N_RUNS; i++)
            made.cells[side][r][i] =
                values[side] < 0
                    ? (struct pm_compare_cell){.state = PM_COMPARE_NO_COST}
                    : (struct pm_compare_cell){values[side] + i, PM_COMPARE_MEASURED, false, false};
        made.rows[r].cells[side] = made.cells[side][r];
        made.rows[r].places[side] = values[side] < 0 ? NULL : parts;
    }
}

static double sum_of(int side, int run)
{
    double sum = 0;
    for (uint32_t r = 0; r < made.c.n_rows; r++)
        sum += made.c.rows[r].cells[side][run].value;
    return sum;
}

static void join(void)
{
    struct pm_error err = PM_ERROR_INIT;
    double before[2][N_RUNS];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < N_RUNS; i++)
            before[side][i] = sum_of(side, i);
    assert_int_equal(compare_join(&made.c, made.parts, &err), PM_OK);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < N_RUNS; i++)
            assert_true(sum_of(side, i) == before[side][i]);
}

static const struct pm_compare_row *row_of(const char *what)
{
    for (uint32_t r = 0; r < made.c.n_rows; r++)
        if (!strcmp(made.c.rows[r].what, what))
            return &made.c.rows[r];
    return NULL;
}

static void expect(const char *what, double a, double b, const char *joined)
{
    const struct pm_compare_row *row = row_of(what);
    assert_non_null(row);
    assert_true(row->cells[0][0].value == a && row->cells[1][0].value == b);
    if (joined)
        assert_string_equal(row->joined, joined);
    else
        assert_null(row->joined);
}

static void a_set_takes_its_members(void **state)
{
    (void)state;
    start();
    add("1", 30, -1);
    add("2", 20, -1);
    add("3", 5, 6);
    add("12", -1, 55);
    join();
    assert_int_equal(made.c.n_rows, 2);
    expect("12", 50, 55, "A: apart");
    expect("3", 5, 6, NULL);
    assert_string_equal(row_of("12")->places[0], "{1, 2}");
    assert_true(row_of("12")->cells[0][1].value == 52);
    pm_arena_release(&made.c.arena);
}

static void the_side_before_may_have_it(void **state)
{
    (void)state;
    start();
    add("12", 55, -1);
    add("1", 10, 30);
    add("2", -1, 20);
    join();
    assert_int_equal(made.c.n_rows, 1);
    expect("12", 65, 50, "B: apart");
    pm_arena_release(&made.c.arena);
}

/* A few samples of a set do not lump together what is apart else. */
static void a_small_set_joins_nothing(void **state)
{
    (void)state;
    start();
    add("1", 300, 250);
    add("2", 200, 210);
    add("12", -1, 30);
    join();
    assert_int_equal(made.c.n_rows, 3);
    expect("1", 300, 250, NULL);
    pm_arena_release(&made.c.arena);
}

static void equal_sets_and_sets_of_what_is_gone_stay(void **state)
{
    (void)state;
    start();
    add("12", 50, 55);
    add("1", 10, 12);
    add("34", -1, 40);
    join();
    assert_int_equal(made.c.n_rows, 3);
    expect("34", 0, 40, NULL);
    pm_arena_release(&made.c.arena);
}

/* Both sides have sets, which share a construct. */
static void sets_that_overlap_are_one_row(void **state)
{
    (void)state;
    start();
    add("1", 10, -1);
    add("23", 40, -1);
    add("12", -1, 30);
    add("3", -1, 25);
    join();
    assert_int_equal(made.c.n_rows, 1);
    assert_true(made.c.rows[0].cells[0][0].value == 50 && made.c.rows[0].cells[1][0].value == 55);
    pm_arena_release(&made.c.arena);
}

static void call_paths_are_left_as_they_are(void **state)
{
    (void)state;
    start();
    add("1", 30, -1);
    add("12", -1, 55);
    made.c.is_inclusive = true;
    join();
    assert_int_equal(made.c.n_rows, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_takes_its_members),
        cmocka_unit_test(the_side_before_may_have_it),
        cmocka_unit_test(a_small_set_joins_nothing),
        cmocka_unit_test(equal_sets_and_sets_of_what_is_gone_stay),
        cmocka_unit_test(sets_that_overlap_are_one_row),
        cmocka_unit_test(call_paths_are_left_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
