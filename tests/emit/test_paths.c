#include "plugin/emit/paths.h"

#include "mapping/base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct pm_place place_of(struct pm_paths *paths, const char *spelt, const char *folder)
{
    struct pm_place place = {0};
    assert_true(pm_paths_set_file(paths, spelt, folder, &place));
    return place;
}

static void a_file_has_one_name_however_it_is_spelt(void **state)
{
    (void)state;
    struct pm_paths *paths = pm_paths_new(NULL);
    assert_non_null(paths);
    struct pm_place first = place_of(paths, "../src/heat.c", "/nobody/build");
    assert_string_equal(first.file, "/nobody/src/heat.c");
    assert_string_equal(first.shown, "../src/heat.c");
    static const char *const others[][2] = {
        {"heat.c", "/nobody/src"},      {"/nobody/src/heat.c", "/nobody/build"},
        {"src/./heat.c", "/nobody"},    {"/nobody/build/../src/heat.c", "anywhere"},
        {"../src/heat.c", "/nobody/a"}, {"../src/heat.c", "/nobody/build"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct pm_place other = place_of(paths, others[i][0], others[i][1]);
        assert_ptr_equal(other.file, first.file);
        assert_ptr_equal(other.shown, first.shown);
    }
    struct pm_place another = place_of(paths, "heat.c", "/nobody/build");
    assert_string_equal(another.file, "/nobody/build/heat.c");
    assert_string_equal(another.shown, "heat.c");
    pm_paths_free(paths);
}

static void lines_and_columns_stay(void **state)
{
    (void)state;
    struct pm_paths *paths = pm_paths_new(NULL);
    struct pm_place place = {.line = 42, .column = 5};
    assert_true(pm_paths_set_file(paths, "heat.c", "/src", &place));
    assert_int_equal(place.line, 42);
    assert_int_equal(place.column, 5);
    pm_paths_free(paths);
}

/* As -ffile-prefix-map=/nobody=. */
static const char *map(const char *path)
{
    static char mapped[100];
    if (strncmp(path, "/nobody/", 8) != 0)
        return path;
    snprintf(mapped, sizeof mapped, "./%s", path + 8);
    return mapped;
}

/* Debug information has mapped folders. */
static void mapped_names_are_mapped_once(void **state)
{
    (void)state;
    struct pm_paths *paths = pm_paths_new(map);
    struct pm_place first = place_of(paths, "build/../src/heat.c", "/nobody");
    assert_string_equal(first.file, "./src/heat.c");
    assert_ptr_equal(place_of(paths, "src/heat.c", ".").file, first.file);
    assert_string_equal(place_of(paths, "src/heat.c", "/elsewhere").file, "/elsewhere/src/heat.c");
    pm_paths_free(paths);
}

static void files_are_many(void **state)
{
    (void)state;
    struct pm_paths *paths = pm_paths_new(NULL);
    const char *files[500];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 500; i++) {
            char name[40];
            snprintf(name, sizeof name, "%s%d.c", round == 0 ? "" : "./sub/../", i);
            const char *file = place_of(paths, name, "/nobody").file;
            if (round == 0)
                files[i] = file;
            assert_ptr_equal(file, files[i]);
        }
    pm_paths_free(paths);
}

static void where_memory_ends_it_says_so(void **state)
{
    (void)state;
    for (long n = 1;; n++) {
        struct pm_place place;
        pm_alloc_fail_at(n);
        struct pm_paths *paths = pm_paths_new(map);
        bool done = paths && pm_paths_set_file(paths, "../heat.c", "/nobody/build", &place);
        bool pending = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(done, pending);
        pm_paths_free(paths);
        if (pending)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_one_name_however_it_is_spelt),
        cmocka_unit_test(lines_and_columns_stay),
        cmocka_unit_test(mapped_names_are_mapped_once),
        cmocka_unit_test(files_are_many),
        cmocka_unit_test(where_memory_ends_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
