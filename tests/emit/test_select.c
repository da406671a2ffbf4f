#include "plugin/emit/select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A selection of patterns, each with '+' or '-' before it; NULL ends. */
static struct pm_select *make(const char *first, ...)
{
    struct pm_select *select = pm_select_new();
    va_list args;
    assert_non_null(select);
    va_start(args, first);
    for (const char *p = first; p; p = va_arg(args, const char *))
        assert_int_equal(pm_select_add(select, *p == '+', p + 1, NULL), PM_OK);
    va_end(args);
    return select;
}

static bool match(struct pm_select *select, const char *file, const char *name, const char *linkage)
{
    return pm_select_match(select, file, name, linkage);
}

static void no_pattern_selects_everything(void **state)
{
    (void)state;
    struct pm_select *s = make(NULL, NULL);
    assert_true(match(s, "a.c", "f", "f"));
    assert_true(match(s, "", "", ""));
    assert_true(pm_select_is_everything(s));
    assert_int_equal(pm_select_add(s, false, "g", NULL), PM_OK);
    assert_false(pm_select_is_everything(s));
    pm_select_free(s);
}

static void an_include_pattern_selects_nothing_else(void **state)
{
    (void)state;
    struct pm_select *s = make("+func:tiny_*", NULL);
    assert_true(match(s, "a.c", "tiny_one", "tiny_one"));
    assert_false(match(s, "a.c", "big", "big"));
    assert_false(match(s, "tiny_file.c", "big", "big"));
    pm_select_free(s);
}

static void exclude_wins_over_include_in_any_order(void **state)
{
    (void)state;
    struct pm_select *s = make("-f", "+f", NULL), *t = make("+f", "-f", NULL);
    assert_false(match(s, "a.c", "f", "f"));
    assert_false(match(t, "a.c", "f", "f"));
    pm_select_free(s);
    pm_select_free(t);
}

static void a_bare_pattern_is_tried_on_functions_and_files(void **state)
{
    (void)state;
    struct pm_select *s = make("+heat*", NULL);
    assert_true(match(s, "x.c", "heat_step", "heat_step"));
    assert_true(match(s, "heat.c", "main", "main"));
    assert_false(match(s, "x.c", "main", "main"));
    pm_select_free(s);
}

static void a_name_matches_as_declared_or_as_linked(void **state)
{
    (void)state;
    struct pm_select *s = make("+func:ns::f", "+func:_ZN2ns1gEv", NULL);
    assert_true(match(s, "a.cc", "ns::f", "_ZN2ns1fEv"));
    assert_true(match(s, "a.cc", "ns::g", "_ZN2ns1gEv"));
    assert_false(match(s, "a.cc", "ns::h", "_ZN2ns1hEv"));
    assert_false(match(s, "a.cc", NULL, NULL));
    pm_select_free(s);
}

static void a_file_matches_whole_or_any_tail_after_a_slash(void **state)
{
    (void)state;
    struct pm_select *s = make("+file:src/*.c", NULL);
    assert_true(match(s, "src/a.c", "f", "f"));
    assert_true(match(s, "/home/me/src/a.c", "f", "f"));
    assert_true(match(s, "../src/deep/a.c", "f", "f"));
    assert_false(match(s, "mysrc/a.c", "f", "f"));
    assert_false(match(s, "src/a.cc", "f", "f"));
    assert_false(match(s, "", "f", "f"));
    pm_select_free(s);
}

static void an_empty_pattern_is_refused_by_name(void **state)
{
    (void)state;
    struct pm_select *s = make(NULL, NULL);
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_select_add(s, true, "file:", &err), PM_ERR_USAGE);
    assert_non_null(strstr(pm_error_text(&err), "'file:'"));
    pm_error_release(&err);
    pm_select_free(s);
}

static enum pm_status read_text(struct pm_select *s, const void *text, size_t len,
                                struct pm_error *err)
{
    char path[] = "/tmp/perfmap-select-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, len) == (ssize_t)len);
    close(fd);
    enum pm_status status = pm_select_read_file(s, path, err);
    unlink(path);
    return status;
}

static void a_file_has_one_pattern_a_line(void **state)
{
    (void)state;
    struct pm_select *s = make(NULL, NULL);
    static const char text[] = "# comment\n\n+func:a*\r\n  -func:ab \t\n+file:x y.c";
    assert_int_equal(read_text(s, text, sizeof text - 1, NULL), PM_OK);
    assert_true(match(s, "z.c", "aa", "aa"));
    assert_false(match(s, "z.c", "ab", "ab"));
    assert_true(match(s, "d/x y.c", "q", "q"));
    assert_false(match(s, "z.c", "q", "q"));
    pm_select_free(s);
}

static void an_empty_file_selects_everything(void **state)
{
    (void)state;
    struct pm_select *s = make(NULL, NULL);
    assert_int_equal(read_text(s, "", 0, NULL), PM_OK);
    assert_true(match(s, "z.c", "aa", "aa"));
    pm_select_free(s);
}

static void a_bad_line_is_named_with_its_number(void **state)
{
    (void)state;
    struct pm_select *s = make(NULL, NULL);
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(read_text(s, "+a\n\nmain\n", 9, &err), PM_ERR_FORMAT);
    assert_non_null(strstr(pm_error_text(&err), "'main' does not begin with"));
    assert_non_null(strstr(pm_error_text(&err), "line 3"));
    pm_error_release(&err);
    assert_int_equal(read_text(s, "+a\0b\n", 5, &err), PM_ERR_FORMAT);
    assert_non_null(strstr(pm_error_text(&err), "zero byte"));
    pm_error_release(&err);
    assert_int_equal(pm_select_read_file(s, "/no/such/file", &err), PM_ERR_SYSTEM);
    assert_non_null(strstr(pm_error_text(&err), "/no/such/file"));
    pm_error_release(&err);
    pm_select_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pattern_selects_everything),
        cmocka_unit_test(an_include_pattern_selects_nothing_else),
        cmocka_unit_test(exclude_wins_over_include_in_any_order),
        cmocka_unit_test(a_bare_pattern_is_tried_on_functions_and_files),
        cmocka_unit_test(a_name_matches_as_declared_or_as_linked),
        cmocka_unit_test(a_file_matches_whole_or_any_tail_after_a_slash),
        cmocka_unit_test(an_empty_pattern_is_refused_by_name),
        cmocka_unit_test(a_file_has_one_pattern_a_line),
        cmocka_unit_test(an_empty_file_selects_everything),
        cmocka_unit_test(a_bad_line_is_named_with_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
