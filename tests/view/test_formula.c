/* Formulas of metrics. */
#include "mapping/view/formula.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"a", "b_2", "calls"};
static const double values[] = {6, 4, 0};

static bool find(void *context, struct pm_str name, struct pm_error *err, uint32_t *ret_m)
{
    (void)context;
    for (uint32_t i = 0; i < 3; i++)
        if (pm_str_is(name, names[i])) {
            *ret_m = i;
            return true;
        }
    return pm_error_set(err, PM_ERR_USAGE, "no metric '%.*s'", (int)name.len, name.p) == PM_OK;
}

static void formulas_are_computed_as_written(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"x = a / b_2", 1.5},    {"x=a", 6},
                {" ipc_2 =a+b_2*2", 14}, {"x = (a + b_2) * 2", 20},
                {"x = a - b_2 - 1", 1},  {"x = a / b_2 / 2", 0.75},
                {"x = -a + 1e1", 4},     {"x = -(-a) * .5", 3},
                {"x = 2.5e-1 * b_2", 1}, {"x = 100 * a / (a + b_2)", 60}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct pm_formula formula;
        struct pm_error err = PM_ERROR_INIT;
        struct pm_str text = pm_str_of(good[i].text);
        assert_true(pm_formula_is_one(text));
        assert_int_equal(pm_formula_parse(text, find, NULL, &err, &formula), PM_OK);
        assert_true(fabs(pm_formula_value(&formula, values) - good[i].value) < 1e-12);
    }
}

static void lists_are_cut_at_commas_outside_of_units(void **state)
{
    (void)state;
    static const char *const items[] = {
        "a", "cpu/event=0x3c,umask=0x1/", "x = a / b_2", "skx::CYCLES:cpu=0", "msr/tsc/", ""};
    const char *list = "a,cpu/event=0x3c,umask=0x1/,x = a / b_2,skx::CYCLES:cpu=0,msr/tsc/,";
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        struct pm_str item = pm_formula_next(&list);
        assert_true(pm_str_is(item, items[i]));
        assert_int_equal(pm_formula_is_one(item), i == 2);
    }
    assert_int_equal(*list, 0);
}

static void what_divides_by_nothing_is_not_known(void **state)
{
    (void)state;
    struct pm_formula formula;
    struct pm_error err = PM_ERROR_INIT;
    const double unknown[] = {NAN, 4, 0};
    assert_int_equal(pm_formula_parse(PM_STR("x = a / calls"), find, NULL, &err, &formula), PM_OK);
    assert_true(isnan(pm_formula_value(&formula, values)));
    assert_true(pm_formula_uses(&formula, 0) && pm_formula_uses(&formula, 2));
    assert_false(pm_formula_uses(&formula, 1));
    assert_int_equal(pm_formula_parse(PM_STR("x = a + 1"), find, NULL, &err, &formula), PM_OK);
    assert_true(isnan(pm_formula_value(&formula, unknown)));
}

static void wrong_ones_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"x =",       "= a",       "x = a +",  "x = (a",
                                      "x = a)",    "x = a b_2", "x = c",    "x-y = a",
                                      "1x = a",    "x = 1e999", "x = 3abc", "x = a ** b_2",
                                      "x = a = 1", "x = \xff",  "x = ()"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pm_formula formula;
        struct pm_error err = PM_ERROR_INIT;
        assert_int_equal(pm_formula_parse(pm_str_of(bad[i]), find, NULL, &err, &formula),
                         PM_ERR_USAGE);
        assert_true(strlen(pm_error_text(&err)) > 0);
        pm_error_release(&err);
    }
}

static void too_much_is_refused(void **state)
{
    (void)state;
    static const char open[] =
        "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((";
    char text[400];
    struct pm_formula formula;
    struct pm_error err = PM_ERROR_INIT;
    snprintf(text, sizeof text, "x = %s", open);
    assert_int_equal(pm_formula_parse(pm_str_of(text), find, NULL, &err, &formula), PM_ERR_USAGE);
    pm_error_release(&err);
    size_t n = (size_t)snprintf(text, sizeof text, "x = a");
    while (n + 2 < sizeof text)
        n += (size_t)snprintf(text + n, sizeof text - n, "+a");
    assert_int_equal(pm_formula_parse(pm_str_of(text), find, NULL, &err, &formula), PM_ERR_USAGE);
    pm_error_release(&err);
}

static void any_number_of_signs_is_read(void **state)
{
    (void)state;
    enum { N_SIGNS = 1000001 };
    struct pm_formula formula;
    struct pm_error err = PM_ERROR_INIT;
    char *text = malloc(N_SIGNS + 8);
    assert_non_null(text);
    memcpy(text, "x = ", 4);
    memset(text + 4, '-', N_SIGNS);
    memcpy(text + 4 + N_SIGNS, "a", 2);
    assert_int_equal(pm_formula_parse(pm_str_of(text), find, NULL, &err, &formula), PM_OK);
    assert_true(pm_formula_value(&formula, values) == -6);
    assert_int_equal(pm_formula_parse(PM_STR("x = b_2 - - -a"), find, NULL, &err, &formula), PM_OK);
    assert_true(pm_formula_value(&formula, values) == 4 - 6);
    text[4 + N_SIGNS] = 0;
    assert_int_equal(pm_formula_parse(pm_str_of(text), find, NULL, &err, &formula), PM_ERR_USAGE);
    pm_error_release(&err);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_are_computed_as_written),
        cmocka_unit_test(lists_are_cut_at_commas_outside_of_units),
        cmocka_unit_test(what_divides_by_nothing_is_not_known),
        cmocka_unit_test(wrong_ones_are_refused),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(any_number_of_signs_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
