#include "plugin/emit/statements.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static const char file[] = "/src/heat.c", other_file[] = "/src/heat.h";

static struct pm_place at(unsigned line, unsigned column)
{
    return (struct pm_place){file, "heat.c", line, column};
}

static void add(struct pm_statements *statements, unsigned line, unsigned column,
                unsigned last_line, unsigned last_column)
{
    struct pm_range range = {file, {line, column}, {last_line, last_column}};
    assert_true(pm_statements_add(statements, &range));
}

static void assert_range(const struct pm_statements *statements, uint32_t i, unsigned line,
                         unsigned column, unsigned last_line, unsigned last_column)
{
    assert_true(i < statements->n);
    assert_int_equal(statements->list[i].first.line, line);
    assert_int_equal(statements->list[i].first.column, column);
    assert_int_equal(statements->list[i].last.line, last_line);
    assert_int_equal(statements->list[i].last.column, last_column);
}

static void a_range_holds_all_its_places_of_one_file(void **state)
{
    (void)state;
    struct pm_range range = {0};
    struct pm_place places[] = {at(5, 7), at(4, 9), {other_file, "heat.h", 1, 1}, at(5, 20)};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        pm_range_widen(&range, &places[i]);
    assert_ptr_equal(range.file, file);
    assert_true(pm_text_point_same(range.first, (struct pm_text_point){4, 9}));
    assert_true(pm_text_point_same(range.last, (struct pm_text_point){5, 20}));
}

static void statements_within_others_are_theirs(void **state)
{
    (void)state;
    struct pm_statements texts = {0};
    struct pm_range of_header = {other_file, {4, 8}, {4, 8}};
    add(&texts, 9, 5, 9, 30);
    add(&texts, 4, 7, 4, 9);
    add(&texts, 4, 5, 5, 20);
    assert_true(pm_statements_add(&texts, &of_header));
    assert_true(pm_statements_sort(&texts));
    assert_int_equal(texts.n, 3);
    assert_range(&texts, 0, 4, 5, 5, 20);
    assert_range(&texts, 1, 4, 8, 4, 8);
    assert_range(&texts, 2, 9, 5, 9, 30);
    pm_statements_release(&texts);
}

static void a_place_is_of_the_statement_that_holds_it(void **state)
{
    (void)state;
    static const struct {
        unsigned line, column;
        int at;
    } cases[] = {{4, 5, 0},  {5, 1, 0},  {5, 20, 0},  {5, 21, -1}, {9, 4, 1},
                 {9, 3, -1}, {9, 30, 1}, {9, 31, -1}, {3, 1, -1}};
    struct pm_statements texts = {0};
    struct pm_place place = at(4, 5);
    assert_int_equal(pm_statement_at(&texts, &place), -1);
    add(&texts, 4, 5, 5, 20);
    add(&texts, 9, 5, 9, 30);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        place = at(cases[i].line, cases[i].column);
        assert_int_equal(pm_statement_at(&texts, &place), cases[i].at);
    }
    place = (struct pm_place){other_file, "heat.h", 4, 6};
    assert_int_equal(pm_statement_at(&texts, &place), -1);
    pm_statements_release(&texts);
}

static void without_ranges_a_line_is_a_statement(void **state)
{
    (void)state;
    struct pm_statements texts = {.by_line = true};
    struct pm_place place = at(9, 1);
    add(&texts, 4, 5, 4, 5);
    add(&texts, 9, 5, 9, 5);
    assert_int_equal(pm_statement_at(&texts, &place), 1);
    place = at(8, 99);
    assert_int_equal(pm_statement_at(&texts, &place), -1);
    pm_statements_release(&texts);
}

static void a_statement_begins_where_its_text_does(void **state)
{
    (void)state;
    struct pm_place head = at(1, 6), place = at(5, 3);
    struct pm_source_function *function = pm_source_function_new("f", "f", NULL, &head);
    struct pm_statements texts = {0};
    struct pm_text_point last;
    assert_non_null(function);
    add(&texts, 4, 5, 5, 20);
    assert_true(pm_statement_begin(function, &texts, &place, &last));
    assert_int_equal(place.line, 4);
    assert_int_equal(place.column, 5);
    assert_true(pm_text_point_same(last, (struct pm_text_point){5, 20}));
    for (int has_texts = 0; has_texts < 2; has_texts++) {
        place = at(7, 3);
        assert_true(pm_statement_begin(function, has_texts ? &texts : NULL, &place, &last));
        assert_int_equal(place.column, 3);
        assert_true(pm_text_point_same(last, (struct pm_text_point){7, 3}));
    }
    assert_false(pm_statement_begin(function, &texts, &head, &last));
    function->in_macro = true;
    assert_true(pm_statement_begin(function, &texts, &head, &last));
    pm_statements_release(&texts);
    pm_source_function_free(function);
}

static void what_a_coroutine_has_at_its_end_is_no_text(void **state)
{
    (void)state;
    struct pm_place name = at(2, 11);
    for (int is_coroutine = 0; is_coroutine < 2; is_coroutine++) {
        struct pm_statements texts = {0};
        if (is_coroutine)
            add(&texts, 2, 11, 8, 1);
        add(&texts, 4, 5, 8, 1);
        add(&texts, 6, 5, 6, 20);
        pm_statements_cut_coroutine(&texts, &name);
        assert_true(pm_statements_sort(&texts));
        if (is_coroutine) {
            assert_range(&texts, 0, 2, 11, 2, 11);
            assert_range(&texts, 1, 4, 5, 4, 5);
            assert_range(&texts, 2, 6, 5, 6, 20);
        } else {
            assert_range(&texts, 0, 4, 5, 8, 1);
            assert_int_equal(texts.n, 1);
        }
        pm_statements_release(&texts);
    }
}

static void where_memory_ends_it_says_so(void **state)
{
    (void)state;
    bool all_went_well = false;
    for (long n = 1; !all_went_well; n++) {
        struct pm_statements texts = {0};
        struct pm_range range = {file, {4, 5}, {5, 20}};
        pm_alloc_fail_at(n);
        all_went_well = true;
        for (unsigned i = 0; i < 100; i++)
            all_went_well = all_went_well && pm_statements_add(&texts, &range);
        all_went_well = all_went_well && pm_statements_sort(&texts);
        assert_int_equal(all_went_well, pm_alloc_fail_pending());
        pm_alloc_fail_at(0);
        pm_statements_release(&texts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_holds_all_its_places_of_one_file),
        cmocka_unit_test(statements_within_others_are_theirs),
        cmocka_unit_test(a_place_is_of_the_statement_that_holds_it),
        cmocka_unit_test(without_ranges_a_line_is_a_statement),
        cmocka_unit_test(a_statement_begins_where_its_text_does),
        cmocka_unit_test(what_a_coroutine_has_at_its_end_is_no_text),
        cmocka_unit_test(where_memory_ends_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
