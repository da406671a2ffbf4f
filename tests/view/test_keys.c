/* Keys of rows in two archives: of one program, and of one that has changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapping/view/keys.h"
#include "tests/graph/archives.h"

/* Another run: elsewhere, by another name, with other numbers; what costs most is another loop. */
#define ANOTHER_RUN                                                           \
    "UPDATE processes SET pid = 99, exe = '/tmp/new/hot';"                    \
    "UPDATE threads SET tid = 99; UPDATE binaries SET path = '/tmp/new/hot';" \
    "UPDATE nouns SET name = 'hot' WHERE kind = 'process';"                   \
    "UPDATE cost_rows SET value = 1900000000 - value WHERE metric = 2;"

/* A line was put before all of heat.c; tools.c is as it was. */
#define LINE_BEFORE                                                                               \
    "UPDATE nouns SET line = line + 1, end_line = end_line + 1 WHERE file = 'heat.c' AND line > " \
    "0;"                                                                                          \
    "UPDATE nouns SET name = 'heat.c:' || line WHERE kind = 'loop';"                              \
    "UPDATE nouns SET name = 'sweep/heat.c:43' WHERE name = 'sweep/heat.c:42';"                   \
    "UPDATE nouns SET name = 'sweep/heat.c:51' WHERE name = 'sweep/heat.c:50';"

/* Two functions of one name in two files, and two loops that nothing tells apart. */
#define ALIKE                                                                                      \
    "INSERT INTO nouns(id, pif_id, binary, level, name, kind, file, line, \"column\", end_line, "  \
    "parent) VALUES (60, 60, 1, 2, 'init', 'function', 'heat.c', 80, 6, 82, 10),"                  \
    "(61, 61, 1, 2, 'heat.c:50', 'loop', 'heat.c', 50, 5, 53, 14),"                                \
    "(62, 62, 1, 1, 'init', 'symbol', NULL, NULL, NULL, NULL, NULL),"                              \
    "(63, 63, 1, 1, 'sweep/heat.c:50', 'loopcode', NULL, NULL, NULL, NULL, 4);"                    \
    "INSERT INTO sentences VALUES (60, 2, 60), (61, 2, 61), (62, 1, 62), (63, 1, 63);"             \
    "INSERT INTO mappings(source, destination, weight, origin) VALUES (62, 60, NULL, 'compiler')," \
    "(63, 61, NULL, 'compiler');"                                                                  \
    "INSERT INTO contexts VALUES (60, 2, 62, 0), (61, 4, 63, 0);"                                  \
    "INSERT INTO cost_rows VALUES (60, 1, 2, 5000), (61, 1, 2, 7000);"

struct keyed {
    struct pm_view view;
    struct pm_view_keys keys;
};

static void make(const char *more, enum pm_view_by by, const char *level, bool tree,
                 struct keyed *ret)
{
    struct pm_error err = PM_ERROR_INIT;
    assert_true(make_archive(PM_TEST_ARCHIVES "/heat.sql", more, "keys.perfmap"));
    *ret = (struct keyed){.view = {.options = {.archive_path = "keys.perfmap",
                                               .level = level,
                                               .by = by,
                                               .tree = tree,
                                               .sort = PM_VIEW_SORT_DEFAULT}}};
    assert_int_equal(pm_view_make(&ret->view, &err), PM_OK);
    assert_int_equal(pm_view_keys_make(&ret->view, NULL, &err, &ret->keys), PM_OK);
    assert_int_equal(ret->keys.n, ret->view.n_rows);
    assert_true(ret->keys.n > 0);
    for (uint32_t r = 0; r < ret->keys.n; r++) /* each row is found by its own */
        assert_int_equal(pm_view_keys_find(&ret->keys, ret->keys.items[r].hash), r);
}

static void release(struct keyed *keyed)
{
    pm_view_keys_release(&keyed->keys);
    pm_view_release(&keyed->view);
}

static bool is_there(const struct keyed *keyed, const char *text)
{
    for (uint32_t r = 0; r < keyed->keys.n; r++)
        if (!strcmp(keyed->keys.items[r].text, text))
            return true;
    return false;
}

/* All rows of one have a row of the other. */
static bool are_equal(const struct keyed *a, const struct keyed *b)
{
    bool equal = a->keys.n == b->keys.n;
    for (uint32_t r = 0; r < a->keys.n; r++)
        if (pm_view_keys_find(&b->keys, a->keys.items[r].hash) == PM_NONE) {
            fprintf(stderr, "only in one: %s\n", a->keys.items[r].text);
            equal = false;
        }
    return equal;
}

static const struct shape {
    enum pm_view_by by;
    const char *level;
    bool tree;
} shapes[] = {
    {PM_VIEW_BY_LOOP, "source", false},     {PM_VIEW_BY_LOOP, "source", true},
    {PM_VIEW_BY_FUNCTION, "source", false}, {PM_VIEW_BY_FUNCTION, "source", true},
    {PM_VIEW_BY_FILE, "source", false},     {PM_VIEW_BY_PROCESS, "source", false},
    {PM_VIEW_BY_THREAD, "source", false},   {PM_VIEW_BY_LOOP, "base", false},
    {PM_VIEW_BY_LOOP, "base", true},        {PM_VIEW_BY_LINE, "source", false},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, BY_LINE = N_SHAPES - 1 };

static void another_run_has_the_same_keys(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++) {
        struct keyed a, b;
        make(ALIKE, shapes[i].by, shapes[i].level, shapes[i].tree, &a);
        make(ALIKE ANOTHER_RUN, shapes[i].by, shapes[i].level, shapes[i].tree, &b);
        if (i == 0) /* or their order is the same by chance */
            assert_string_not_equal(a.keys.items[0].text, b.keys.items[0].text);
        assert_true(are_equal(&a, &b));
        release(&a);
        release(&b);
    }
}

static void a_line_before_a_function_changes_keys_of_lines_only(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++) {
        struct keyed a, b;
        make("", shapes[i].by, shapes[i].level, shapes[i].tree, &a);
        make(LINE_BEFORE, shapes[i].by, shapes[i].level, shapes[i].tree, &b);
        assert_int_equal(are_equal(&a, &b), i != BY_LINE);
        release(&a);
        release(&b);
    }
}

static void keys_say_what_a_row_is(void **state)
{
    (void)state;
    struct keyed k;
    make(ALIKE, PM_VIEW_BY_LOOP, "source", false, &k);
    assert_true(is_there(&k, "Source function main (heat.c)"));
    assert_true(is_there(&k, "Source function init (heat.c)"));
    assert_true(is_there(&k, "Source function init (tools.c)"));
    assert_true(is_there(&k, "Source loop +4:5 in function sweep (heat.c) | "
                             "Source loop +5:5 in function sweep (heat.c)"));
    assert_true(is_there(&k, "Source loop +12:5 in function sweep (heat.c)"));
    assert_true(is_there(&k, "Source loop +12:5 in function sweep (heat.c) #2"));
    assert_true(is_there(&k, "unmapped Base symbol memory"));
    release(&k);
    make("", PM_VIEW_BY_LOOP, "base", false, &k);
    assert_true(
        is_there(&k, "Base loopcode sweep at Source loop +12:5 in function sweep (heat.c)"));
    release(&k);
    make("", PM_VIEW_BY_LINE, "source", false, &k);
    assert_true(is_there(&k, "line heat.c:50"));
    release(&k);
    make("", PM_VIEW_BY_THREAD, "source", false, &k);
    assert_true(is_there(&k, "thread heat"));
    release(&k);
}

/* relax calls itself: the same function on two paths. */
static void in_a_tree_the_path_is_part_of_the_key(void **state)
{
    (void)state;
    struct keyed k;
    uint32_t n = 0;
    make("", PM_VIEW_BY_FUNCTION, "source", true, &k);
    for (uint32_t r = 0; r < k.keys.n; r++)
        n += !strcmp(k.keys.items[r].text, "Source function relax (heat.c)");
    assert_int_equal(n, 2);
    release(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_run_has_the_same_keys),
        cmocka_unit_test(a_line_before_a_function_changes_keys_of_lines_only),
        cmocka_unit_test(keys_say_what_a_row_is),
        cmocka_unit_test(in_a_tree_the_path_is_part_of_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
