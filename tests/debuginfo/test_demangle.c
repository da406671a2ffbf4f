#include "../../mapping/base/str.h"
#include "../../mapping/debuginfo/debuginfo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

static void expect(const char *linkage, const char *shown)
{
    char *text = pm_debug_demangle(linkage);
    assert_non_null(text);
    assert_string_equal(text, shown);
    free(text);
}

static void names_of_cplusplus_are_shown_as_in_the_source(void **state)
{
    (void)state;
    expect("_ZN2ns1fEi", "ns::f(int)");
    expect("_ZNK2ns3boxIiE3getEv", "ns::box<int>::get() const");
    expect("_ZN12_GLOBAL__N_16hiddenEv", "(anonymous namespace)::hidden()");
    expect("_Z3addii.part.0", "add(int, int) [clone .part.0]");
}

static void functions_of_coroutines_are_named_by_what_they_do(void **state)
{
    (void)state;
    expect("_Z7collatzPZ7collatzlE17_Z7collatzl.Frame.actor", "collatz(long), coroutine body");
    expect("_Z7collatzPZ7collatzlE17_Z7collatzl.Frame.destroy", "collatz(long), coroutine's end");
    expect("_Z7collatzPZ7collatzlE17_Z7collatzl.Frame.actor.cold",
           "collatz(long), coroutine body [clone .cold]");
    expect("_ZN1A2coEi.resume", "A::co(int), coroutine body");
    expect("_Z1fi.destroyer", "f(int) [clone .destroyer]");
}

static void procedures_of_fortran_modules_get_their_module(void **state)
{
    (void)state;
    expect("__heat_MOD_sweep", "heat::sweep");
    expect("__a_b_MOD_c_d", "a_b::c_d");
    expect("__heat_MOD_sweep.constprop.0", "heat::sweep [clone .constprop.0]");
}

static void other_names_stay(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",         "main",           "_Z",        "_Zzz", "foo_", "__libc_start_main", "__MOD_",
        "__a_MOD_", "_D3std5stdioQe", "_RNvC1a1b", "a.b.c"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *text = pm_debug_demangle(names[i]);
        assert_non_null(text);
        assert_string_equal(text, names[i]);
        free(text);
    }
}

static void a_name_that_would_grow_without_end_stays(void **state)
{
    (void)state;
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    pm_buf_add_str(&name, "_Z1f");
    for (int i = 0; i < 3000; i++)
        pm_buf_add_str(&name, "PS_");
    assert_false(name.failed);
    char *text = pm_debug_demangle(name.data);
    assert_non_null(text);
    assert_string_equal(text, name.data);
    free(text);
    pm_buf_release(&name);
}

static void without_memory_there_is_no_name(void **state)
{
    (void)state;
    for (int n = 1; n < 10; n++) {
        pm_alloc_fail_at(n);
        char *text = pm_debug_demangle("__heat_MOD_sweep");
        bool ahead = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        if (ahead)
            assert_string_equal(text, "heat::sweep");
        free(text);
        if (ahead)
            return;
    }
    fail();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_cplusplus_are_shown_as_in_the_source),
        cmocka_unit_test(functions_of_coroutines_are_named_by_what_they_do),
        cmocka_unit_test(procedures_of_fortran_modules_get_their_module),
        cmocka_unit_test(other_names_stay),
        cmocka_unit_test(a_name_that_would_grow_without_end_stays),
        cmocka_unit_test(without_memory_there_is_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
