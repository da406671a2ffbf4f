#include "plugin/emit/fortran.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "Sum(a) Assign(b)" for the statement at the point; "-" when there is none. */
static void expect_in(const char *text, bool fixed_form, unsigned line, unsigned column,
                      const char *expected)
{
    struct pm_fortran *source = pm_fortran_new(text, strlen(text), fixed_form);
    assert_non_null(source);
    const struct pm_fortran_statement *statement = pm_fortran_at(source, line, column);
    struct pm_buf out = PM_BUF_INIT(4096);
    struct pm_fortran_operation operations[8];
    size_t n = statement ? pm_fortran_operations(statement, operations, 8) : 0;
    if (!statement)
        pm_buf_add_byte(&out, '-');
    for (size_t i = 0; i < n; i++)
        pm_buf_printf(&out, "%s%s(%.*s)", i ? " " : "", operations[i].verb,
                      (int)operations[i].arguments.len, operations[i].arguments.p);
    assert_string_equal(out.len ? out.data : "", expected);
    pm_buf_release(&out);
    pm_fortran_free(source);
}

static void expect(const char *text, const char *expected)
{
    expect_in(text, false, 1, (unsigned)strlen(text), expected);
}

static void reductions_and_transformations_are_found_with_their_arguments(void **state)
{
    (void)state;
    expect("s = sum(a)", "Sum(a) Assign(s )");
    expect("S = SUM (A(:, i) * 2)", "Sum(a(:, i) * 2) Assign(s )");
    expect("t = maxval(a) - minval(b%c)", "MaxVal(a) MinVal(b%c) Assign(t )");
    expect("if (any(a > 1)) x(1) = 2", "Any(a > 1)");
    expect("b(2:n) = cshift(a, 1)", "CShift(a, 1) Assign(b(2:n) )");
    expect("d = matmul(transpose(c), c)", "MatMul(transpose(c), c) Transpose(c) Assign(d )");
    expect("call co_sum(x)", "CoSum(x)");
    expect("call sort_up(x)", "SortUp(x)");
}

static void names_that_only_look_like_intrinsics_are_none(void **state)
{
    (void)state;
    expect("x%sum(3) = 1", "");
    expect("mysum(3) = 1", "");
    expect("sum_of(1) = sum1(2)", "");
    expect("s = sum", "Assign(s )");
    expect("print *, 'sum(a)', \"maxval(a)\"", "");
    expect_in("i = 1 ! sum(a)", false, 1, 5, "Assign(i )");
    expect("intrinsic sum", "");
}

static void only_whole_arrays_and_sections_are_assigned(void **state)
{
    (void)state;
    expect("a = 0", "Assign(a )");
    expect("a(:) = b", "Assign(a(:) )");
    expect("a(i) = b(i)", "");
    expect("a(f(1:2)) = 1", "");
    expect("p => a", "");
    expect("integer :: a = 3", "");
    expect("if (a == b) call f(x = 1)", "");
    expect("if (a(1) == b) c = 1", "Assign(c )");
    expect("do i = 1, n", "");
    expect("outer: do i = 1, n", "");
    expect("10 a = 0", "Assign(a )");
    expect("where (a > 0) a = sum(b)", "Sum(b) Where(a )");
    expect("forall (i = 1:n) a(i) = 1", "Forall(a(i) )");
}

static void statements_within_constructs_have_the_constructs_verb(void **state)
{
    (void)state;
    static const char text[] = "do concurrent (i = 1:n)\n"
                               "  a(i) = 1\n"
                               "  do j = 1, 2\n"
                               "    b(i, j) = 2\n"
                               "  end do\n"
                               "  c(i) = 3\n"
                               "enddo\n"
                               "d(1) = 4\n"
                               "where (a > 0)\n"
                               "  a = 1\n"
                               "elsewhere\n"
                               "  a = 2\n"
                               "end where\n"
                               "a = 3\n";
    expect_in(text, false, 2, 4, "Do Concurrent(a(i) )");
    expect_in(text, false, 4, 6, "Do Concurrent(b(i, j) )");
    expect_in(text, false, 6, 4, "Do Concurrent(c(i) )");
    expect_in(text, false, 8, 1, "");
    expect_in(text, false, 9, 3, "Where(where (a > 0))");
    expect_in(text, false, 10, 3, "Where(a )");
    expect_in(text, false, 12, 3, "Where(a )");
    expect_in(text, false, 14, 1, "Assign(a )");
}

static void continuation_and_several_statements_in_a_line(void **state)
{
    (void)state;
    static const char text[] = "x = 1; s = sum( & ! first\n"
                               "\n"
                               "  ! a comment\n"
                               "  &   a) ; y = maxval(b)\n"
                               "t = 'it''s; & ! no' &\n"
                               "    // 'end'; z = minval(c)\n";
    expect_in(text, false, 1, 2, "Assign(x )");
    expect_in(text, false, 1, 12, "Sum( a) Assign(s )");
    expect_in(text, false, 4, 7, "Sum( a) Assign(s )");
    expect_in(text, false, 4, 15, "MaxVal(b) Assign(y )");
    expect_in(text, false, 6, 20, "MinVal(c) Assign(z )");
    expect_in(text, false, 9, 1, "-");
}

static void fixed_form_has_its_columns(void **state)
{
    (void)state;
    static const char text[] =
        "C     s = sum(a)\n"
        "      s = sum(\n"
        "     +        b)\n"
        "  100 continue\n"
        "      a(1)=maxval(c)                                                    sum(d)\n";
    expect_in(text, true, 2, 8, "Sum( b) Assign(s )");
    expect_in(text, true, 3, 15, "Sum( b) Assign(s )");
    expect_in(text, true, 5, 10, "MaxVal(c)");
    assert_true(pm_fortran_is_fixed_form("x/y.F"));
    assert_false(pm_fortran_is_fixed_form("x/y.F90"));
    assert_true(pm_fortran_is_source("a.F90"));
    assert_false(pm_fortran_is_source("a.c"));
}

/* Any text: cut anywhere, with strange bytes in it, is read to its end. */
static void any_text_is_accepted(void **state)
{
    (void)state;
    static const char text[] =
        "do concurrent (i=1:n)\n a(i) = sum(b(:,i)) & \n + '&;!\"' ; where (((a\n\tend do\n"
        "x: forall(i=1:2)\n(=)=(\n100\n&&\n' \n\" &\n& \" = ::";
    unsigned seed = 1;
    for (int round = 0; round < 20000; round++) {
        char copy[sizeof text];
        memcpy(copy, text, sizeof text);
        for (int i = 0; i < 4; i++) {
            seed = seed * 1103515245u + 12345u;
            copy[(seed >> 8) % sizeof copy] = (char)"&;!'\"()=:\n do\0\xff"[(seed >> 20) % 15];
        }
        size_t len = (seed >> 4) % sizeof copy;
        struct pm_fortran *source = pm_fortran_new(copy, len, round & 1);
        assert_non_null(source);
        for (unsigned line = 1; line < 14; line++) {
            const struct pm_fortran_statement *s = pm_fortran_at(source, line, 0);
            struct pm_fortran_operation operations[2];
            if (s) {
                assert_true(s->first_line <= line && line <= s->last_line);
                assert_true(pm_fortran_operations(s, operations, 2) <= 2);
            }
        }
        pm_fortran_free(source);
    }
}

static void memory_that_ends_is_said(void **state)
{
    (void)state;
    static const char text[] = "a = 1\nb = 2\n";
    for (long n = 1;; n++) {
        pm_alloc_fail_at(n);
        struct pm_fortran *source = pm_fortran_new(text, strlen(text), false);
        bool pending = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        pm_fortran_free(source);
        if (pending)
            break;
        assert_null(source);
    }
}

static void statements_of_workshare_are_those_behind_the_line(void **state)
{
    (void)state;
    static const char text[] = "!$omp Parallel WorkShare\n"
                               "a = 1\n"
                               "b = &\n"
                               "  2\n"
                               "!$omp end parallel workshare\n"
                               "c = 3\n";
    unsigned block = 0;
    bool is_first = false;
    struct pm_fortran *source = pm_fortran_new(text, sizeof text - 1, false);
    assert_non_null(source);
    const struct pm_fortran_statement *a = pm_fortran_workshared(source, 1, &block, &is_first);
    assert_non_null(a);
    assert_int_equal(a->first_line, 2);
    assert_int_equal(block, 1);
    assert_true(is_first);
    const struct pm_fortran_statement *b = pm_fortran_workshared(source, 2, &block, &is_first);
    assert_non_null(b);
    assert_int_equal(b->first_line, 3);
    assert_false(is_first);
    assert_null(pm_fortran_workshared(source, 3, &block, &is_first));
    assert_null(pm_fortran_workshared(source, 6, &block, &is_first));
    pm_fortran_free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_and_transformations_are_found_with_their_arguments),
        cmocka_unit_test(names_that_only_look_like_intrinsics_are_none),
        cmocka_unit_test(only_whole_arrays_and_sections_are_assigned),
        cmocka_unit_test(statements_within_constructs_have_the_constructs_verb),
        cmocka_unit_test(continuation_and_several_statements_in_a_line),
        cmocka_unit_test(fixed_form_has_its_columns),
        cmocka_unit_test(any_text_is_accepted),
        cmocka_unit_test(memory_that_ends_is_said),
        cmocka_unit_test(statements_of_workshare_are_those_behind_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
