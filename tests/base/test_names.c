/* Names of a program's elements as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapping/base/names.h"

#include <fnmatch.h>

static bool fits_part(const char *pattern, const char *name)
{
    return pm_name_fits_part(&(struct pm_name_pattern){.text = pattern}, name, "(.");
}

static bool fits_place(const char *pattern, uint32_t column_no)
{
    return pm_name_fits_place(&(struct pm_name_pattern){.text = pattern}, "/home/me/src/heat.c", 42,
                              column_no);
}

static void a_part_of_a_name_is_enough(void **state)
{
    (void)state;
    assert_true(fits_part("sweep", "heat::sweep(int, double)"));
    assert_true(fits_part("heat::sweep", "heat::sweep(int, double)"));
    assert_true(fits_part("sweep(int*", "heat::sweep(int, double)"));
    assert_true(fits_part("sweep", "sweep.constprop.0"));
    assert_true(fits_part("u", "heat::sweep::u"));
    assert_true(fits_part("sweep::u", "heat::sweep::u"));
    assert_false(fits_part("heat", "heat::sweep(int)"));
    assert_false(fits_part("int", "sweep(std::vector<int>::value)"));
    assert_false(fits_part("value)", "sweep(std::vector<int>::value)"));
    assert_false(fits_part("sweep", "sweep")); /* the whole is no part */
    assert_false(fits_part("*", ""));
    assert_false(fits_part("", "(anonymous)"));
}

static void places_need_no_folders(void **state)
{
    (void)state;
    assert_true(fits_place("heat.c:42", 0));
    assert_true(fits_place("src/heat.c:4?", 9));
    assert_true(fits_place("/home/me/src/heat.c:42:9", 9));
    assert_true(fits_place("heat.c:42:*", 9));
    assert_false(fits_place("heat.c:42:*", 0));
    assert_false(fits_place("eat.c:42", 9));
    assert_false(fits_place("heat.c", 9));
    struct pm_name_pattern any = {.text = "*"};
    assert_false(pm_name_fits_place(&any, "", 42, 0));
    assert_false(pm_name_fits_place(&any, "heat.c", 0, 0));
}

static void the_longest_path_is_looked_at_and_a_longer_one_is_not(void **state)
{
    (void)state;
    struct pm_name_pattern any = {.text = "*"};
    char path[5001];
    memset(path, 'a', sizeof path);
    path[4096] = 0;
    assert_true(pm_name_fits_place(&any, path, 4294967295u, 4294967295u));
    path[4096] = 'a';
    path[5000] = 0;
    assert_false(pm_name_fits_place(&any, path, 1, 1));
    assert_true(pm_name_fits_path(&any, path));
}

static void what_patterns_give_a_meaning_to_may_stand_for_itself(void **state)
{
    (void)state;
    struct pm_name_pattern pattern = {.text = "rows[1]"};
    assert_false(pm_name_fits(&pattern, "rows[1]"));
    pattern.is_plain_too = true;
    assert_true(pm_name_fits(&pattern, "rows[1]"));
    pattern = (struct pm_name_pattern){.text = "SWEEP", .flags = FNM_CASEFOLD};
    assert_true(pm_name_fits(&pattern, "sweep"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_name_is_enough),
        cmocka_unit_test(places_need_no_folders),
        cmocka_unit_test(the_longest_path_is_looked_at_and_a_longer_one_is_not),
        cmocka_unit_test(what_patterns_give_a_meaning_to_may_stand_for_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
