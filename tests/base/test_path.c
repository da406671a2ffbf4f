/* Names of files without detours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "mapping/base/path.h"

/* What there is no file of. */
static void expect(const char *folder, const char *name, const char *expected)
{
    struct pm_buf path = PM_BUF_INIT(4096);
    pm_path_add_absolute(&path, folder, name);
    assert_false(path.failed);
    assert_string_equal(path.data, expected);
    pm_buf_release(&path);
}

static void names_are_absolute_and_have_no_detours(void **state)
{
    (void)state;
    expect("/nobody/build", "heat.c", "/nobody/build/heat.c");
    expect("/nobody/build", "./heat.c", "/nobody/build/heat.c");
    expect("/nobody/build", "././heat.c", "/nobody/build/heat.c");
    expect("/nobody/build", "../src/heat.c", "/nobody/src/heat.c");
    expect("/nobody/build", "./../src//./heat.c", "/nobody/src/heat.c");
    expect("/nobody/build", "../../../../heat.c", "/heat.c");
    expect("/nobody/build/", "a/b/../../heat.c", "/nobody/build/heat.c");
    expect("/nobody/build", "/src/sub/../heat.c", "/src/heat.c");
    expect("/nobody/build", "//src/./heat.c", "/src/heat.c");
    expect("/nobody/build", ".hidden/..heat/...c", "/nobody/build/.hidden/..heat/...c");
    expect("/nobody/build", "", "/nobody/build");
    expect("/", "heat.c", "/heat.c");
    expect("/", "../..", "/");
}

static void names_in_mapped_folders_stay(void **state)
{
    (void)state;
    expect(".", "src/../heat.c", "./src/../heat.c");
    expect("build", "./heat.c", "build/heat.c");
}

static void make_file(const char *folder, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void make_folder(const char *folder, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* outer/heat.c, outer/inner/, heat.c and link -> outer/inner */
static void a_link_leads_elsewhere(void **state)
{
    (void)state;
    char folder[] = "/tmp/perfmap-path.XXXXXX", path[300], target[300];
    assert_non_null(mkdtemp(folder));
    make_folder(folder, "outer");
    make_folder(folder, "outer/inner");
    make_file(folder, "heat.c");
    make_file(folder, "outer/heat.c");
    snprintf(path, sizeof path, "%s/link", folder);
    assert_int_equal(symlink("outer/inner", path), 0);
    snprintf(target, sizeof target, "%s/link/../heat.c", folder);
    expect(folder, "link/.././heat.c", target); /* outer/heat.c */
    snprintf(target, sizeof target, "%s/heat.c", folder);
    expect(folder, "outer/../heat.c", target);
    expect(folder, "outer/inner/../../heat.c", target);
    static const char *const made[] = {"link", "heat.c", "outer/heat.c", "outer/inner", "outer"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, made[i]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void where_memory_ends_it_says_so(void **state)
{
    (void)state;
    for (long n = 1;; n++) {
        struct pm_buf path = PM_BUF_INIT(4096);
        pm_alloc_fail_at(n);
        pm_path_add_absolute(&path, "/nobody/build", "../src/heat.c");
        bool pending = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(path.failed, !pending);
        pm_buf_release(&path);
        if (pending)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_absolute_and_have_no_detours),
        cmocka_unit_test(names_in_mapped_folders_stay),
        cmocka_unit_test(a_link_leads_elsewhere),
        cmocka_unit_test(where_memory_ends_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
