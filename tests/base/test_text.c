/* Text for people: its columns, what of it is printed, and words that are like others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapping/base/suggest.h"
#include "mapping/base/text.h"

static void columns_are_those_of_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(pm_text_width(""), 0);
    assert_int_equal(pm_text_width("heat.c"), 6);
    assert_int_equal(pm_text_width("größe"), 5);
    assert_int_equal(pm_text_width("e\xcc\x81"), 1); /* an accent of its own */
    assert_int_equal(pm_text_width("日本"), 4);
    assert_int_equal(pm_text_width_n("größe", 4), 3);
}

static void the_first_character_has_its_bytes(void **state)
{
    (void)state;
    int columns;
    assert_int_equal(pm_text_next("größe" + 2, &columns), 2);
    assert_int_equal(columns, 1);
    assert_int_equal(pm_text_next("\xff", &columns), 1); /* no UTF-8 */
}

static void control_bytes_are_not_printed(void **state)
{
    (void)state;
    struct pm_arena arena = {0};
    const char *plain = "plain";
    assert_ptr_equal(pm_text_printable(&arena, plain), plain);
    assert_string_equal(pm_text_printable(&arena, "a\033[31mb"), "a\\x1b[31mb");
    assert_string_equal(pm_text_printable(&arena, "größe"), "größe");
    pm_arena_release(&arena);
}

static void the_word_that_is_most_like_another_is_suggested(void **state)
{
    (void)state;
    const char *const words[] = {"report", "run", "collect", NULL};
    assert_string_equal(pm_suggest("repotr", words), "report");
    assert_string_equal(pm_suggest("col", words), "collect"); /* its beginning */
    assert_null(pm_suggest("annotate", words));
    assert_null(pm_suggest("", words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_those_of_a_terminal),
        cmocka_unit_test(the_first_character_has_its_bytes),
        cmocka_unit_test(control_bytes_are_not_printed),
        cmocka_unit_test(the_word_that_is_most_like_another_is_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
