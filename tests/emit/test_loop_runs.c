#include "plugin/emit/loop_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static const char file[] = "/src/heat.c", header[] = "/src/heat.h";

static struct pm_place at(unsigned line, unsigned column)
{
    return (struct pm_place){file, "heat.c", line, column};
}

static struct pm_source_function *new_function(void)
{
    struct pm_place place = at(1, 1);
    struct pm_source_function *function = pm_source_function_new("sweep", "sweep", NULL, &place);
    assert_non_null(function);
    return function;
}

/* 5: for (i = 0; i < n; i++) {            i = 0; i++; i < n: columns 10, 24, 17
 * 6:     a[i] = 0;
 * 7:     for (j = 0; j < n; j++)
 * 8:         sum += a[j];
 * 9: }
 * Lowered: j and i are set before their loops, the tests stand behind the bodies. */
static struct pm_run_statement nest[] = {
    {.place = {file, "heat.c", 5, 10}},   /* 0: i = 0 */
    {.place = {NULL, NULL, 0, 0}},        /* 1: a label */
    {.place = {file, "heat.c", 6, 9}},    /* 2 */
    {.place = {file, "heat.c", 7, 12}},   /* 3: j = 0 */
    {.place = {NULL, NULL, 0, 0}},        /* 4: a label */
    {.place = {file, "heat.c", 8, 13}},   /* 5 */
    {.place = {header, "heat.h", 90, 1}}, /* 6: of a macro's file */
    {.place = {file, "heat.c", 7, 26}},   /* 7: j++ */
    {.place = {file, "heat.c", 7, 19}},   /* 8: j < n */
    {.place = {file, "heat.c", 5, 24}},   /* 9: i++ */
    {.place = {file, "heat.c", 5, 17}},   /* 10: i < n */
    {.place = {file, "heat.c", 10, 5}},   /* 11: return */
};
enum { N_NEST = sizeof nest / sizeof *nest };

static void copy_nest(struct pm_run_statement *statements)
{
    for (int i = 0; i < N_NEST; i++) {
        statements[i] = nest[i];
        statements[i].loop = -1;
    }
}

static void runs_become_loops(void **state)
{
    (void)state;
    struct pm_source_function *function = new_function();
    struct pm_run_statement statements[N_NEST];
    struct pm_loop_run runs[] = {{.first = 1, .end = 11, .place = at(5, 5), .levels = 1},
                                 {.first = 4, .end = 9, .place = at(7, 7), .levels = 1}};
    copy_nest(statements);
    assert_true(pm_loop_runs_add(function, runs, 2, statements, N_NEST, false));
    assert_int_equal(function->n_loops, 2);
    const struct pm_source_loop *outer = &function->loops[0], *inner = &function->loops[1];
    assert_int_equal(outer->parent, -1);
    assert_int_equal(inner->parent, 0);
    assert_int_equal(outer->nest, 1);
    assert_false(outer->is_split);
    static const int expected[N_NEST] = {-1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, -1};
    for (int i = 0; i < N_NEST; i++)
        assert_int_equal(statements[i].loop, expected[i]);
    assert_int_equal(outer->first.column, 5);
    assert_int_equal(outer->last.line, 8);
    assert_int_equal(inner->first.column, 7);
    assert_int_equal(inner->last.line, 8); /* not the macro's line 90 */
    /* What sets i is in the outer loop's text, and no part of it. */
    assert_int_equal(outer->n_outside, 1);
    assert_int_equal(outer->outside[0].column, 10);
    assert_int_equal(inner->n_outside, 1);
    assert_int_equal(inner->outside[0].column, 12);
    assert_int_equal(pm_source_loop_at(function, file, (struct pm_text_point){5, 10}), -1);
    assert_int_equal(pm_source_loop_at(function, file, (struct pm_text_point){7, 12}), 0);
    assert_int_equal(pm_source_loop_at(function, file, (struct pm_text_point){8, 13}), 1);
    pm_source_function_free(function);
}

static void what_shares_a_place_with_the_inside_is_inside(void **state)
{
    (void)state;
    struct pm_source_function *function = new_function();
    struct pm_run_statement statements[] = {{at(5, 5), -1}, {at(5, 5), -1}, {at(5, 9), -1}};
    struct pm_loop_run run = {.first = 1, .end = 3, .place = at(5, 5), .levels = 1};
    assert_true(pm_loop_runs_add(function, &run, 1, statements, 3, false));
    assert_int_equal(function->loops[0].n_outside, 0);
    pm_source_function_free(function);
}

/* An array statement of rank 2, and another one on its line that the compiler made two loops of. */
static void runs_of_one_place_are_one_loop(void **state)
{
    (void)state;
    for (int has_split_statements = 0; has_split_statements < 2; has_split_statements++) {
        struct pm_source_function *function = new_function();
        struct pm_run_statement statements[12];
        struct pm_loop_run runs[] = {{.first = 0, .end = 5, .place = at(5, 3), .levels = 1},
                                     {.first = 1, .end = 4, .place = at(5, 3), .levels = 1},
                                     {.first = 6, .end = 8, .place = at(5, 20), .levels = 3},
                                     {.first = 8, .end = 10, .place = at(5, 20), .levels = 1}};
        for (unsigned i = 0; i < 12; i++)
            statements[i] = (struct pm_run_statement){at(5, i < 6 ? 3 : 20), -1};
        assert_true(pm_loop_runs_add(function, runs, 4, statements, 12, has_split_statements != 0));
        assert_int_equal(function->n_loops, 2);
        assert_int_equal(function->loops[0].nest, 2);
        assert_false(function->loops[0].is_split);
        assert_int_equal(function->loops[1].nest, 3);
        assert_int_equal(function->loops[1].is_split, has_split_statements);
        assert_true(function->loops[1].shares_line);
        pm_source_function_free(function);
    }
}

/* Three loops of a construct of two indices: the third is a statement's in it. */
static void loops_of_a_construct_have_its_place(void **state)
{
    (void)state;
    struct pm_source_function *function = new_function();
    struct pm_run_statement statements[8];
    struct pm_loop_run runs[3];
    for (unsigned i = 0; i < 8; i++)
        statements[i] = (struct pm_run_statement){at(6, 5), -1};
    for (unsigned i = 0; i < 3; i++)
        runs[i] = (struct pm_loop_run){.first = i,
                                       .end = 8 - i,
                                       .place = at(6, 5),
                                       .levels = 1,
                                       .construct = at(5, 3),
                                       .n_indices = 2};
    assert_true(pm_loop_runs_add(function, runs, 3, statements, 8, true));
    assert_int_equal(function->n_loops, 2);
    assert_int_equal(function->loops[0].place.line, 5);
    assert_int_equal(function->loops[0].nest, 2);
    assert_int_equal(function->loops[1].place.line, 6);
    assert_int_equal(function->loops[1].nest, 1);
    assert_int_equal(function->loops[1].parent, 0);
    pm_source_function_free(function);
}

static void where_memory_ends_it_says_so(void **state)
{
    (void)state;
    for (long n = 1;; n++) {
        struct pm_source_function *function = new_function();
        struct pm_run_statement statements[N_NEST];
        struct pm_loop_run runs[] = {{.first = 1, .end = 11, .place = at(5, 5), .levels = 1},
                                     {.first = 4, .end = 9, .place = at(7, 7), .levels = 1}};
        copy_nest(statements);
        pm_alloc_fail_at(n);
        bool done = pm_loop_runs_add(function, runs, 2, statements, N_NEST, false);
        bool pending = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(done, pending);
        pm_source_function_free(function);
        if (pending)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_become_loops),
        cmocka_unit_test(what_shares_a_place_with_the_inside_is_inside),
        cmocka_unit_test(runs_of_one_place_are_one_loop),
        cmocka_unit_test(loops_of_a_construct_have_its_place),
        cmocka_unit_test(where_memory_ends_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
