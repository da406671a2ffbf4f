#include "plugin/emit/sled_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void the_text_is_that_of_the_documentation(void **state)
{
    (void)state;
    struct pm_buf text = PM_BUF_INIT(PM_SLED_TEXT_MAX);
    pm_sled_text(&text, "7", "main", true, PM_SLED_ENTRY, PM_SLED_SP_AT_CFA, 0xf7f8,
                 0xae38632ada7dc36d);
    assert_false(text.failed);
    assert_string_equal(text.data, "# perfmap sled 1 128 0xae38632ada7dc36d\n"
                                   ".Lpm_sled7:\n"
                                   "\t.byte 0x0f,0x1f,0x44,0x00,0x00\n"
                                   "\t.reloc .Lpm_sled7, R_X86_64_NONE, .Lpm_record7\n"
                                   "\t.pushsection __perfmap_sleds,\"ao?\",@progbits,main\n"
                                   "\t.balign 8\n"
                                   ".Lpm_record7:\n"
                                   "\t.long .Lpm_sled7 - .\n"
                                   "\t.byte 1,128\n"
                                   "\t.short 0xf7f8\n"
                                   "\t.quad 0xae38632ada7dc36d\n"
                                   "\t.popsection");
    pm_buf_release(&text);
}

static void further_sleds_of_a_symbol_say_less(void **state)
{
    (void)state;
    struct pm_buf text = PM_BUF_INIT(PM_SLED_TEXT_MAX);
    pm_sled_text(&text, "8", "main", false, PM_SLED_RETURN, PM_SLED_SP_AT_CFA, 0xf7f8,
                 0xae38632ada7dc36d);
    assert_string_equal(text.data, "# perfmap sled 2 128 0xae38632ada7dc36d\n"
                                   ".Lpm_sled8:\n"
                                   "\t.byte 0x0f,0x1f,0x44,0x00,0x00\n"
                                   "\t.pushsection __perfmap_sleds,\"ao?\",@progbits,main\n"
                                   "\t.long .Lpm_sled8 - .\n"
                                   "\t.byte 2,128\n"
                                   "\t.short 0xf7f8\n"
                                   "\t.quad 0xae38632ada7dc36d\n"
                                   "\t.popsection");
    pm_buf_release(&text);
}

static void without_a_symbol_the_section_is_that_of_the_sled(void **state)
{
    (void)state;
    struct pm_buf text = PM_BUF_INIT(PM_SLED_TEXT_MAX);
    pm_sled_text(&text, "7", NULL, false, PM_SLED_ENTRY, PM_SLED_SP_AT_CFA, 0xf7f8, 1);
    assert_non_null(strstr(text.data, "\"ao?\",@progbits,.Lpm_sled7\n"));
    assert_non_null(strstr(text.data, "\t.reloc .Lpm_sled7, R_X86_64_NONE, .Lpm_record7\n"));
    pm_buf_release(&text);
}

static void the_longest_text_fits(void **state)
{
    (void)state;
    struct pm_buf text = PM_BUF_INIT(PM_SLED_TEXT_MAX);
    char symbol[PM_SLED_SYMBOL_MAX];
    memset(symbol, 'x', sizeof symbol);
    symbol[sizeof symbol - 1] = 0;
    pm_sled_text(&text, "18446744073709551615", symbol, true, 255, 255, 0xffff, UINT64_MAX);
    assert_false(text.failed);
    pm_buf_release(&text);
}

/* In GCC's and LLVM's templates these mean something: only `unique` may bring them. */
static void the_text_has_no_template_characters(void **state)
{
    (void)state;
    struct pm_buf text = PM_BUF_INIT(PM_SLED_TEXT_MAX);
    pm_sled_text(&text, "", NULL, true, PM_SLED_LOOP_LEAVE, 3, 0xffff, 1);
    assert_null(strpbrk(text.data, "%{}|$"));
    pm_buf_release(&text);
}

static void a_sled_is_recognised_with_its_values(void **state)
{
    (void)state;
    struct pm_buf text = PM_BUF_INIT(PM_SLED_TEXT_MAX);
    unsigned kind = 0, flags = 0;
    uint64_t id = 0;
    pm_sled_text(&text, "%=", NULL, true, PM_SLED_LOOP_ENTER, 5, 0xffff, 0xfedcba9876543210);
    assert_true(pm_sled_text_parse(text.data, &kind, &flags, &id));
    assert_int_equal(kind, PM_SLED_LOOP_ENTER);
    assert_int_equal(flags, 5);
    assert_true(id == 0xfedcba9876543210);
    pm_buf_clear(&text);
    pm_sled_text_mark(&text, PM_SLED_LOOP_LEAVE, 2, 9);
    assert_true(pm_sled_text_parse(text.data, &kind, &flags, &id));
    assert_int_equal(kind, PM_SLED_LOOP_LEAVE);
    assert_int_equal(flags, 2);
    assert_true(id == 9);
    assert_true(pm_sled_text_parse(text.data, NULL, NULL, NULL));
    pm_buf_release(&text);
}

static void other_asm_is_no_sled(void **state)
{
    (void)state;
    assert_false(pm_sled_text_parse("", NULL, NULL, NULL));
    assert_false(pm_sled_text_parse("nop", NULL, NULL, NULL));
    assert_false(pm_sled_text_parse("# perfmap sled ", NULL, NULL, NULL));
    assert_false(pm_sled_text_parse("# perfmap sled 1 2", NULL, NULL, NULL));
    assert_false(pm_sled_text_parse("# perfmap sled 1 2 0xz\n", NULL, NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_is_that_of_the_documentation),
        cmocka_unit_test(further_sleds_of_a_symbol_say_less),
        cmocka_unit_test(without_a_symbol_the_section_is_that_of_the_sled),
        cmocka_unit_test(the_longest_text_fits),
        cmocka_unit_test(the_text_has_no_template_characters),
        cmocka_unit_test(a_sled_is_recognised_with_its_values),
        cmocka_unit_test(other_asm_is_no_sled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
