#include "plugin/emit/ids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

/* What format/pm_id.h says: the parts, each with an ending zero byte, in one go. `|` ends a
 * part. */
static pm_id plain(const char *parts)
{
    char bytes[256];
    size_t len = strlen(parts) + 1;
    assert_true(len <= sizeof bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(parts[i] == '|' ? 0 : parts[i]);
    pm_id id = XXH64(bytes, len, 0);
    return id != 0 ? id : 1;
}

static const struct pm_text_point place = {42, 5};
static const pm_id whole = 0x0123456789abcdef;

static void code_has_the_ids_of_the_format(void **state)
{
    (void)state;
    assert_int_equal(pm_id_of_file("/src/a.c"), plain("file|/src/a.c"));
    assert_int_equal(pm_id_of_function("main", NULL), plain("func|main"));
    assert_int_equal(pm_id_of_function("step", "/src/a.c"), plain("func|step|/src/a.c"));
    assert_int_equal(pm_id_of_symbol("step.part.0", NULL), plain("symbol|step.part.0"));
    assert_int_equal(pm_id_of_symbol("step", "/src/a.c"), plain("symbol|step|/src/a.c"));
    assert_int_equal(pm_id_of_loop(whole, "/src/a.c", place),
                     plain("loop|0123456789abcdef|/src/a.c|42|5"));
    assert_int_equal(pm_id_of_statement(whole, "/src/a.c", place),
                     plain("stmt|0123456789abcdef|/src/a.c|42|5"));
    assert_int_equal(pm_id_of_region(whole, "/src/a.c", place, "parallel"),
                     plain("region|0123456789abcdef|/src/a.c|42|5|parallel"));
    assert_int_equal(pm_id_of_loopcode(whole, 15),
                     plain("loopcode|0123456789abcdef|000000000000000f"));
}

static void data_has_the_ids_of_the_format(void **state)
{
    (void)state;
    assert_int_equal(pm_id_of_local(whole, "u", place), plain("var|0123456789abcdef|u|42|5"));
    assert_int_equal(pm_id_of_global("grid", NULL), plain("var|grid"));
    assert_int_equal(pm_id_of_global("grid", "/src/a.c"), plain("var|grid|/src/a.c"));
    assert_int_equal(pm_id_of_member(whole, "u"), plain("var|0123456789abcdef|u"));
    assert_int_equal(pm_id_of_type("ns::S", "/src/a.h", NULL), plain("type|ns::S|/src/a.h"));
    assert_int_equal(pm_id_of_type("", "/src/a.h", &place), plain("type||/src/a.h|42|5"));
    assert_int_equal(pm_id_of_field(whole, "n"), plain("field|0123456789abcdef|n"));
}

static void what_mappings_have_in_common_has_an_id(void **state)
{
    (void)state;
    assert_int_equal(pm_id_of_parameter(whole, 3), plain("parameter|0123456789abcdef|3"));
    assert_int_equal(pm_id_of_pointed(whole, 0), plain("pointed|0123456789abcdef|0"));
    assert_int_equal(pm_id_of_range(whole, 8, 80), plain("range|0123456789abcdef|8|80"));
    assert_int_equal(pm_id_of_pointed(0, 0), 0);
    assert_int_equal(pm_id_of_bound("__vtype_m_T", "step", 1), plain("bound|__vtype_m_T|step|1"));
    assert_int_equal(pm_id_of_returned(whole), plain("returned|0123456789abcdef"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_has_the_ids_of_the_format),
        cmocka_unit_test(data_has_the_ids_of_the_format),
        cmocka_unit_test(what_mappings_have_in_common_has_an_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
