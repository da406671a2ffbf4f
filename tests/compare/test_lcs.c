/* Aligned sequences against the plain table of all prefixes. */
#include "mapping/compare/lcs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST = 40 };

static unsigned longest(const uint64_t *a, unsigned n_a, const uint64_t *b, unsigned n_b)
{
    unsigned table[MOST + 1][MOST + 1] = {{0}};
    for (unsigned i = 1; i <= n_a; i++)
        for (unsigned k = 1; k <= n_b; k++) {
            unsigned up = table[i - 1][k], left = table[i][k - 1];
            table[i][k] = a[i - 1] == b[k - 1] ? table[i - 1][k - 1] + 1 : up > left ? up : left;
        }
    return table[n_a][n_b];
}

static void check(const uint64_t *a, unsigned n_a, const uint64_t *b, unsigned n_b)
{
    uint32_t partner[MOST + 1], n = 0, next = 0;
    assert_int_equal(pm_lcs(a, n_a, b, n_b, 2 * MOST, partner), PM_LCS_FOUND);
    for (unsigned i = 0; i < n_a; i++) {
        if (partner[i] == PM_NONE)
            continue;
        assert_true(partner[i] < n_b && partner[i] >= next);
        assert_true(a[i] == b[partner[i]]);
        next = partner[i] + 1;
        n++;
    }
    assert_int_equal(n, longest(a, n_a, b, n_b));
}

static void it_is_the_longest_and_in_order(void **state)
{
    (void)state;
    srand(3);
    for (int round = 0; round < 5000; round++) {
        uint64_t a[MOST], b[MOST];
        unsigned n_a = (unsigned)rand() % (MOST + 1), n_b = (unsigned)rand() % (MOST + 1);
        unsigned n_letters = 1 + (unsigned)rand() % 8;
        for (unsigned i = 0; i < MOST; i++) {
            a[i] = (unsigned)rand() % n_letters;
            b[i] = (unsigned)rand() % n_letters;
        }
        check(a, n_a, b, n_b);
    }
}

static void too_many_differences_are_said(void **state)
{
    (void)state;
    const uint64_t a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
    uint32_t partner[4];
    assert_int_equal(pm_lcs(a, 4, b, 4, 7, partner), PM_LCS_TOO_FAR);
    assert_int_equal(pm_lcs(a, 4, b, 4, 8, partner), PM_LCS_FOUND);
    assert_int_equal(pm_lcs(a, 4, a, 4, 0, partner), PM_LCS_FOUND);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(partner[i], i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_longest_and_in_order),
        cmocka_unit_test(too_many_differences_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
