/* On the small files of test_debuginfo.c: who made them, and how. */
#include "../../mapping/base/str.h"
#include "../../mapping/debuginfo/producers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define CORPUS PM_TEST_FIXTURES "/../fuzz/corpus/debuginfo/"

static bool keep(void *context, const char *producer)
{
    pm_buf_printf(context, "%s\n", producer);
    return true;
}

static void expect(const char *path, const char *build_id, const char *begin, const char *part)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_buf text = PM_BUF_INIT(4096);
    assert_int_equal(pm_debug_producers(path, build_id, keep, &text, &err), PM_OK);
    const char *found = text.len ? text.data : "";
    if (strncmp(found, begin, strlen(begin)) != 0 || !strstr(found, part) || (!*begin && text.len))
        fail_msg("%s: '%s', not '%s...%s'", path, found, begin, part);
    pm_buf_release(&text);
}

static void gcc_names_its_options(void **state)
{
    (void)state;
    expect(CORPUS "gcc-2", NULL, "GNU C17 12.2.0 ", " -O2 ");
    expect(CORPUS "gcc-4", NULL, "GNU C17 12.2.0 ", " -O1 ");
    expect(CORPUS "gcc-5", NULL, "GNU C17 12.2.0 ", " -O1 ");
    expect(CORPUS "cxx.o", NULL, "GNU C++17 12.2.0 ", " -O0 ");
}

/* Strings of DWARF 5 are numbers into a list. */
static void clang_names_its_version(void **state)
{
    (void)state;
    expect(CORPUS "clang-4-gz", NULL, "Debian clang version 14.0.6", "");
    expect(CORPUS "clang-5", NULL, "Debian clang version 14.0.6", "");
}

static void another_build_and_no_debug_information_say_nothing(void **state)
{
    (void)state;
    expect(CORPUS "gcc-4", "0123456789", "", "");
    expect(CORPUS "plain.so", NULL, "", "");
}

static void what_is_no_elf_file_is_refused(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_debug_producers(__FILE__, NULL, keep, NULL, &err), PM_ERR_FORMAT);
    pm_error_release(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gcc_names_its_options),
        cmocka_unit_test(clang_names_its_version),
        cmocka_unit_test(another_build_and_no_debug_information_say_nothing),
        cmocka_unit_test(what_is_no_elf_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
