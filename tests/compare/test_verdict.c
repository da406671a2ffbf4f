/* Verdicts of runs that are made up: of equal ones at most 5 % of the comparisons find something,
 * and what was made slower is found. */
#include "mapping/compare/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { N_ROWS = 30, MOST_RUNS = 10, PERIOD_NS = 2400000 };

struct made {
    struct pm_comparison c;
    struct pm_compare_row rows[N_ROWS];
    struct pm_compare_cell cells[2][N_ROWS + 1][MOST_RUNS];
    struct pm_compare_run runs[2][MOST_RUNS];
};

static double uniform(void)
{
    return (rand() + 0.5) / ((double)RAND_MAX + 1);
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* As many samples as chance gives, and half as much again. */
static double sampled(double ns)
{
    double n = ns / PERIOD_NS, got = n + sqrt(1.5 * n) * normal();
    return got > 0 ? round(got) * PERIOD_NS : 0;
}

static double size_of(int row)
{
    return 400e6 * pow(0.8, row);
}

static void start(struct made *made, unsigned n_runs, const char *kind)
{
    *made = (struct made){0};
    made->c = (struct pm_comparison){
        .options = {.least_pct = 5},
        .metric = {.name = "cpu_ns", .unit = "ns", .kind = kind},
        .is_sampled = strcmp(kind, "time") == 0,
        .rows = made->rows,
        .n_rows = N_ROWS,
    };
    for (int side = 0; side < 2; side++) {
        made->c.sides[side].runs = made->runs[side];
        made->c.sides[side].n_runs = n_runs;
        for (unsigned i = 0; i < n_runs; i++)
            made->runs[side][i] = (struct pm_compare_run){.speed = 1, .period_ns = PERIOD_NS};
        for (int r = 0; r < N_ROWS; r++)
            made->rows[r].cells[side] = made->cells[side][r];
        made->c.total.cells[side] = made->cells[side][N_ROWS];
    }
    for (int r = 0; r < N_ROWS; r++)
        made->rows[r].what = "row";
    made->c.total.what = "total";
}

static void sum_up(struct made *made)
{
    for (int side = 0; side < 2; side++)
        for (unsigned i = 0; i < made->c.sides[side].n_runs; i++) {
            made->cells[side][N_ROWS][i].value = 0;
            for (int r = 0; r < N_ROWS; r++)
                made->cells[side][N_ROWS][i].value += made->cells[side][r][i].value;
        }
}

/* Runs whose machine is now faster, now slower. slower: row 3 of side B takes so many times. */
static void make_up(struct made *made, unsigned n_runs, double slower)
{
    start(made, n_runs, "time");
    for (int side = 0; side < 2; side++)
        for (unsigned i = 0; i < n_runs; i++) {
            double speed = exp(0.1 * normal());
            for (int r = 0; r < N_ROWS; r++)
                made->cells[side][r][i].value =
                    sampled(speed * size_of(r) * (side && r == 3 ? slower : 1));
        }
    sum_up(made);
    assert_int_equal(pm_compare_judge(&made->c, NULL), PM_OK);
}

static bool is_called_different(const struct pm_compare_row *row)
{
    return row->verdict == PM_VERDICT_MORE || row->verdict == PM_VERDICT_LESS;
}

static void equal_runs_are_rarely_called_different(void **state)
{
    (void)state;
    enum { ROUNDS = 400 };
    static struct made made;
    unsigned n_any = 0, n_total = 0;
    srand(11);
    for (int round = 0; round < ROUNDS; round++) {
        bool any = false;
        make_up(&made, 4 + (unsigned)round % 7, 1);
        for (uint32_t r = 0; r < made.c.n_rows; r++)
            any |= is_called_different(&made.rows[r]);
        n_any += any;
        n_total += is_called_different(&made.c.total);
        assert_true(made.c.is_scaled);
    }
    assert_true(n_any <= ROUNDS * 5 / 100 + 9); /* two standard deviations above */
    assert_true(n_total <= ROUNDS * 5 / 100 + 9);
}

static void what_is_slower_is_found(void **state)
{
    (void)state;
    enum { ROUNDS = 100 };
    static struct made made;
    unsigned n_found = 0, n_others = 0;
    srand(12);
    for (int round = 0; round < ROUNDS; round++) {
        make_up(&made, MOST_RUNS, 1.4);
        for (uint32_t r = 0; r < made.c.n_rows; r++) {
            const struct pm_compare_row *row = &made.rows[r];
            bool is_it = row->cells[1] == made.cells[1][3];
            n_found += is_it && row->verdict == PM_VERDICT_MORE;
            n_others += !is_it && is_called_different(row);
            if (is_it)
                assert_true(row->low_pct < row->change_pct && row->change_pct < row->high_pct);
        }
    }
    assert_true(n_found >= 90);
    assert_true(n_others <= 20);
}

/* A machine that is slow during all of B makes the total slower, and no row. */
static void speed_of_all_is_of_the_total(void **state)
{
    (void)state;
    static struct made made;
    srand(13);
    start(&made, 8, "time");
    for (int side = 0; side < 2; side++)
        for (unsigned i = 0; i < 8; i++)
            for (int r = 0; r < N_ROWS; r++)
                made.cells[side][r][i].value = sampled(size_of(r) * (side ? 1.5 : 1));
    sum_up(&made);
    assert_int_equal(pm_compare_judge(&made.c, NULL), PM_OK);
    assert_int_equal(made.c.total.verdict, PM_VERDICT_MORE);
    for (uint32_t r = 0; r < made.c.n_rows; r++)
        assert_false(is_called_different(&made.rows[r]));
}

static struct pm_compare_row *row_of(struct made *made, int r)
{
    for (uint32_t i = 0; i < made->c.n_rows; i++)
        if (made->rows[i].cells[0] == made->cells[0][r])
            return &made->rows[i];
    return NULL;
}

static void counts_are_compared_exactly(void **state)
{
    (void)state;
    static struct made made;
    start(&made, 4, "count");
    for (int side = 0; side < 2; side++)
        for (unsigned i = 0; i < 4; i++)
            for (int r = 0; r < N_ROWS; r++)
                made.cells[side][r][i].value = r == 29 ? 0 : 1000 + r + (side && r == 5);
    sum_up(&made);
    assert_int_equal(pm_compare_judge(&made.c, NULL), PM_OK);
    assert_int_equal(made.c.n_rows, N_ROWS - 1);                  /* without the row of zeros */
    assert_int_equal(row_of(&made, 5)->verdict, PM_VERDICT_MORE); /* by one */
    assert_int_equal(row_of(&made, 6)->verdict, PM_VERDICT_SAME);
    assert_string_equal(pm_verdict_word(PM_VERDICT_MORE, &made.c.metric), "more");
}

static void what_is_not_known_is_undefined(void **state)
{
    (void)state;
    static struct made made;
    start(&made, 4, "count");
    for (int side = 0; side < 2; side++)
        for (unsigned i = 0; i < 4; i++)
            for (int r = 0; r < N_ROWS; r++)
                made.cells[side][r][i].value = 1000;
    made.cells[0][7][2] = (struct pm_compare_cell){.state = PM_COMPARE_UNKNOWN};
    made.cells[1][8][1].is_at_least = true;
    made.cells[0][9][0] = made.cells[0][9][1] = made.cells[0][9][2] = made.cells[0][9][3] =
        (struct pm_compare_cell){.state = PM_COMPARE_ABSENT};
    sum_up(&made);
    assert_int_equal(pm_compare_judge(&made.c, NULL), PM_OK);
    assert_int_equal(row_of(&made, 7)->verdict, PM_VERDICT_UNDEFINED);
    assert_true(isnan(row_of(&made, 7)->means[0]) && isnan(row_of(&made, 7)->difference));
    assert_int_equal(row_of(&made, 8)->verdict, PM_VERDICT_UNDEFINED);
    assert_int_equal(row_of(&made, 9)->states[0], PM_COMPARE_ABSENT);
    assert_int_equal(row_of(&made, 9)->verdict, PM_VERDICT_MORE); /* it is new */
}

static void few_runs_have_no_verdict(void **state)
{
    (void)state;
    static struct made made;
    srand(14);
    make_up(&made, 3, 5);
    assert_false(made.c.is_judged);
    for (uint32_t r = 0; r < made.c.n_rows; r++)
        assert_int_equal(made.rows[r].verdict, PM_VERDICT_NONE);
    assert_int_equal(made.c.total.verdict, PM_VERDICT_NONE);
    assert_true(fabs(made.rows[0].difference) >= fabs(made.rows[1].difference));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_runs_are_rarely_called_different),
        cmocka_unit_test(what_is_slower_is_found),
        cmocka_unit_test(speed_of_all_is_of_the_total),
        cmocka_unit_test(counts_are_compared_exactly),
        cmocka_unit_test(what_is_not_known_is_undefined),
        cmocka_unit_test(few_runs_have_no_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
