#include "mapping/base/str.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static void causes_are_joined_innermost_first(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_error_set(&err, PM_ERR_FORMAT, "run file '%s' byte %d: bad", "a.pmr", 4096),
                     PM_ERR_FORMAT);
    assert_int_equal(pm_error_add(&err, "cannot lift costs of loop '%s'", "heat.c:44"),
                     PM_ERR_FORMAT);
    assert_string_equal(pm_error_text(&err),
                        "run file 'a.pmr' byte 4096: bad / cannot lift costs of loop 'heat.c:44'");
    assert_int_equal(err.n_causes, 2);
    assert_string_equal(err.causes[0], "run file 'a.pmr' byte 4096: bad");
    pm_error_release(&err);
    assert_string_equal(pm_error_text(&err), "");
    assert_int_equal(err.status, PM_OK);
}

static void the_innermost_status_stays(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_error_set(&err, PM_ERR_VERSION, "inner"), PM_ERR_VERSION);
    assert_int_equal(pm_error_set(&err, PM_ERR_USAGE, "outer"), PM_ERR_USAGE);
    assert_int_equal(err.status, PM_ERR_VERSION);
    assert_int_equal(pm_error_add(&err, "outermost"), PM_ERR_VERSION);
    pm_error_release(&err);
}

static void control_bytes_are_shown(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    pm_error_set(&err, PM_ERR_USAGE, "name '%s'", "a\nb\x1b[31m\x7f");
    assert_string_equal(pm_error_text(&err), "name 'a\\x0ab\\x1b[31m\\x7f'");
    pm_error_release(&err);
}

static void a_system_error_tells_its_reason(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_error_system(&err, ENOENT, "cannot open '%s'", "x"), PM_ERR_SYSTEM);
    assert_string_equal(pm_error_text(&err), "cannot open 'x': No such file or directory");
    pm_error_release(&err);
}

static void nobody_need_want_the_text(void **state)
{
    (void)state;
    assert_int_equal(pm_error_set(NULL, PM_ERR_LIMIT, "x"), PM_ERR_LIMIT);
    assert_int_equal(pm_error_system(NULL, EIO, "x"), PM_ERR_SYSTEM);
    pm_error_add(NULL, "x");
    assert_string_equal(pm_error_text(NULL), "");
}

static void without_memory_the_status_still_tells(void **state)
{
    (void)state;
    bool ahead = true;
    for (long n = 1; ahead; n++) {
        struct pm_error err = PM_ERROR_INIT;
        pm_alloc_fail_at(n);
        assert_int_equal(pm_error_set(&err, PM_ERR_FORMAT, "inner %d", 1), PM_ERR_FORMAT);
        pm_error_add(&err, "outer");
        ahead = !pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(err.status, PM_ERR_FORMAT);
        assert_true(*pm_error_text(&err));
        pm_error_release(&err);
    }
}

static void printing_adds_the_program_and_a_line_end(void **state)
{
    (void)state;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct pm_error err = PM_ERROR_INIT;
    pm_error_set(&err, PM_ERR_USAGE, "no");
    pm_error_print(&err, out);
    fclose(out);
    assert_string_equal(text, "perfmap: no\n");
    free(text);
    pm_error_release(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_are_joined_innermost_first),
        cmocka_unit_test(the_innermost_status_stays),
        cmocka_unit_test(control_bytes_are_shown),
        cmocka_unit_test(a_system_error_tells_its_reason),
        cmocka_unit_test(nobody_need_want_the_text),
        cmocka_unit_test(without_memory_the_status_still_tells),
        cmocka_unit_test(printing_adds_the_program_and_a_line_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
