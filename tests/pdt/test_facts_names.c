#include "pdt/facts_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void expect(struct pm_str text, const char *expected)
{
    if (!pm_str_is(text, expected))
        fail_msg("'%.*s' is not '%s'", (int)text.len, text.p, expected);
}

static void arguments_are_cut_off(void **state)
{
    (void)state;
    expect(pdt_name_without_arguments("grid::sweep"), "grid::sweep");
    expect(pdt_name_without_arguments("ns::f<int (*)(char)>(int, ns::g)"), "ns::f<int (*)(char)>");
    expect(pdt_name_without_arguments("A::operator()(int) const"), "A::operator()");
    expect(pdt_name_without_arguments("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
    expect(pdt_name_without_arguments("main::{lambda(int)#1}::operator()(int) const"),
           "main::{lambda(int)#1}::operator()");
    expect(pdt_name_without_arguments(""), "");
}

static void the_last_part_is_the_name(void **state)
{
    (void)state;
    expect(pdt_last_name("grid::sweep"), "sweep");
    expect(pdt_last_name("sweep::i:57"), "i");
    expect(pdt_last_name("ns::f<a::b>(c::d)"), "f<a::b>");
    expect(pdt_last_name("A::operator<(A const&)"), "operator<");
    expect(pdt_last_name("/vmat/"), "/vmat/");
    expect(pdt_last_name("vmat::vm"), "vm");
    expect(pdt_last_name(":7"), ":7");
}

static void modules_stand_in_symbols(void **state)
{
    (void)state;
    expect(pdt_module_of("__particles_MOD_energy"), "particles");
    expect(pdt_module_of("__MOD_energy"), "");
    expect(pdt_module_of("sweep_"), "");
}

static void paths_tell_the_language(void **state)
{
    (void)state;
    assert_true(pdt_is_fortran_path("/a/grid.F90"));
    assert_true(pdt_is_fortran_path("dgemm.f"));
    assert_false(pdt_is_fortran_path("main.c"));
    assert_false(pdt_is_fortran_path(""));
    assert_true(pdt_is_system_path("/usr/include/stdio.h"));
    assert_false(pdt_is_system_path("/usr/src/a.c"));
}

static void types_are_arrays_pointers_or_unknown(void **state)
{
    (void)state;
    assert_string_equal(pdt_type_kind("real(kind=8) [1:100][:]"), "VariableArray");
    assert_string_equal(pdt_type_kind("double *"), "Pointer");
    assert_string_equal(pdt_type_kind(""), "Unexposed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_cut_off),
        cmocka_unit_test(the_last_part_is_the_name),
        cmocka_unit_test(modules_stand_in_symbols),
        cmocka_unit_test(paths_tell_the_language),
        cmocka_unit_test(types_are_arrays_pointers_or_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
