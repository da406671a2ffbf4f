#include "plugin/emit/loop_votes.h"

#include "mapping/base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

/* outer: a loop in a loop, and one behind; its inner one calls inlined, which has a loop. */
static struct pm_source_function *outer, *inlined;
enum { OUTER, INNER, BEHIND };
static char copy[2]; /* two copies of inlined, both called in the inner loop */

static int make_functions(void **state)
{
    (void)state;
    static const char file[] = "/src/heat.c";
    struct pm_place places[] = {{file, "heat.c", 10, 1},
                                {file, "heat.c", 11, 1},
                                {file, "heat.c", 20, 1},
                                {file, "heat.c", 30, 1}};
    outer = pm_source_function_new("outer", "outer", NULL, &places[0]);
    inlined = pm_source_function_new("inlined", "inlined", NULL, &places[3]);
    return !outer || !inlined || pm_source_loop_add(outer, &places[0], -1) != OUTER ||
           pm_source_loop_add(outer, &places[1], OUTER) != INNER ||
           pm_source_loop_add(outer, &places[2], -1) != BEHIND ||
           pm_source_loop_add(inlined, &places[3], -1) != 0;
}

static int free_functions(void **state)
{
    (void)state;
    pm_source_function_free(outer);
    pm_source_function_free(inlined);
    return 0;
}

static struct pm_loop_position around(struct pm_loop_position position)
{
    position.index = position.function->loops[position.index].parent;
    if (position.index < 0 && position.copy)
        return (struct pm_loop_position){outer, INNER, NULL};
    return position;
}

static const struct pm_loop_position nowhere = {NULL, -1, NULL};

static struct pm_loop_position in(int loop)
{
    return (struct pm_loop_position){outer, loop, NULL};
}

static struct pm_loop_position in_copy(int number)
{
    return (struct pm_loop_position){inlined, 0, &copy[number]};
}

static enum pm_loop_verdict count(const struct pm_loop_position *positions, size_t n,
                                  struct pm_loop_position *ret_position)
{
    struct pm_loop_votes votes = {0};
    for (size_t i = 0; i < n; i++)
        pm_loop_votes_add(&votes, &positions[i], around);
    assert_false(votes.failed);
    enum pm_loop_verdict verdict = pm_loop_votes_count(&votes, ret_position);
    pm_loop_votes_release(&votes);
    return verdict;
}

#define EXPECT_LOOP(expected, ...)                                                            \
    do {                                                                                      \
        struct pm_loop_position list_[] = {__VA_ARGS__}, found_, expected_ = (expected);      \
        assert_int_equal(count(list_, sizeof list_ / sizeof *list_, &found_), PM_VOTES_LOOP); \
        assert_true(pm_loop_position_same(&found_, &expected_));                              \
    } while (0)

static void it_is_the_innermost_loop_of_all_statements(void **state)
{
    (void)state;
    EXPECT_LOOP(in(INNER), in(INNER), in(INNER));
    EXPECT_LOOP(in(OUTER), in(INNER), in(OUTER));
    EXPECT_LOOP(in(OUTER), in(OUTER), in(INNER), in(INNER));
    EXPECT_LOOP(in_copy(0), in_copy(0), in_copy(0));
    EXPECT_LOOP(in(INNER), in_copy(0), in_copy(1));
    EXPECT_LOOP(in(OUTER), in_copy(0), in(OUTER), in_copy(1));
    /* Some were moved into it from outside of all loops. */
    EXPECT_LOOP(in(INNER), nowhere, in(INNER), in(INNER), nowhere);
}

static void it_is_none_where_statements_have_none_in_common(void **state)
{
    (void)state;
    struct pm_loop_position apart[] = {in(INNER), in(BEHIND), in(INNER)}, found;
    struct pm_loop_position outside[] = {nowhere, in(INNER), nowhere};
    assert_int_equal(count(apart, 3, &found), PM_VOTES_NONE);
    assert_int_equal(count(&nowhere, 1, &found), PM_VOTES_NONE);
    assert_int_equal(count(NULL, 0, &found), PM_VOTES_NONE);
    assert_int_equal(count(outside, 3, &found), PM_VOTES_OUTSIDE);
}

static void repetitions_count(void **state)
{
    (void)state;
    struct pm_loop_votes votes = {0};
    struct pm_loop_position inside = in(INNER), found;
    pm_loop_votes_add(&votes, &inside, around);
    pm_loop_votes_add(&votes, &nowhere, around);
    pm_loop_votes_repeat(&votes);
    assert_int_equal(pm_loop_votes_count(&votes, &found), PM_VOTES_OUTSIDE);
    pm_loop_votes_add(&votes, &inside, around);
    pm_loop_votes_repeat(&votes);
    assert_int_equal(pm_loop_votes_count(&votes, &found), PM_VOTES_LOOP);
    pm_loop_votes_release(&votes);
}

static void where_memory_ends_it_says_so(void **state)
{
    (void)state;
    struct pm_loop_votes votes = {0};
    struct pm_loop_position inside = in(INNER);
    pm_alloc_fail_at(1);
    pm_loop_votes_add(&votes, &inside, around);
    pm_alloc_fail_at(0);
    assert_true(votes.failed);
    pm_loop_votes_release(&votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_innermost_loop_of_all_statements),
        cmocka_unit_test(it_is_none_where_statements_have_none_in_common),
        cmocka_unit_test(repetitions_count),
        cmocka_unit_test(where_memory_ends_it_says_so),
    };
    return cmocka_run_group_tests(tests, make_functions, free_functions);
}
