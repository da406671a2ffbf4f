/* Names of a program's elements as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapping/base/cxx_name.h"
#include "mapping/base/names.h"

#include <fnmatch.h>
#include <locale.h>

static bool fits_part(const char *pattern, const char *name)
{
    return pm_name_fits_part(&(struct pm_name_pattern){.text = pattern}, name, "(.");
}

static bool fits_place(const char *pattern, uint32_t column_no)
{
    return pm_name_fits_place(&(struct pm_name_pattern){.text = pattern}, "/home/me/src/heat.c", 42,
                              column_no);
}

static void a_part_of_a_name_is_enough(void **state)
{
    (void)state;
    assert_true(fits_part("sweep", "heat::sweep(int, double)"));
    assert_true(fits_part("heat::sweep", "heat::sweep(int, double)"));
    assert_true(fits_part("sweep(int*", "heat::sweep(int, double)"));
    assert_true(fits_part("sweep", "sweep.constprop.0"));
    assert_true(fits_part("u", "heat::sweep::u"));
    assert_true(fits_part("sweep::u", "heat::sweep::u"));
    assert_false(fits_part("heat", "heat::sweep(int)"));
    assert_false(fits_part("int", "sweep(std::vector<int>::value)"));
    assert_false(fits_part("value)", "sweep(std::vector<int>::value)"));
    assert_false(fits_part("sweep", "sweep")); /* the whole is no part */
    assert_false(fits_part("*", ""));
    assert_false(fits_part("", "(anonymous)"));
}

static bool fits_code(const char *pattern, const char *name)
{
    return pm_name_fits_code(&(struct pm_name_pattern){.text = pattern}, name);
}

static const char reduce_int[] =
    "int reduce<int>(std::vector<int, std::allocator<int> > const&, int)";

static void a_bare_name_has_no_arguments_and_no_parameters(void **state)
{
    (void)state;
    assert_true(fits_code("reduce", reduce_int));
    assert_true(fits_code("reduce<int>", reduce_int));
    assert_true(fits_code("reduce<int>(std::vector<int> const&, int)", reduce_int));
    assert_true(
        fits_code("reduce<int>(std::vector<int, std::allocator<int>> const&,int)", reduce_int));
    assert_true(fits_code("reduce(...)", reduce_int));
    assert_true(fits_code("reduce<...>(...)", reduce_int));
    assert_true(fits_code("reduce<…>", reduce_int));
    assert_true(fits_code(reduce_int, reduce_int));
    assert_false(fits_code("reduce<long>", reduce_int));
    assert_false(fits_code("reduce(int)", reduce_int));
    assert_false(fits_code("int", reduce_int));
    assert_false(fits_code("vector", reduce_int));
    assert_false(fits_code("reduc", reduce_int));
    assert_true(fits_code("revenue", "revenue[abi:cxx11](std::vector<Row> const&)"));
    assert_true(fits_code("ns::revenue", "ns::revenue[abi:cxx11](int)"));
    assert_true(fits_code("revenue::s", "revenue[abi:cxx11](std::vector<Row> const&)::s"));
    assert_true(fits_code("sweep", "sweep.constprop.0"));
    assert_true(fits_code("sweep", "sweep(int) [clone .constprop.0]"));
    assert_true(fits_code("collatz", "collatz(long), coroutine body"));
    assert_true(fits_code("collatz(long)", "collatz(long), coroutine body"));
    assert_true(fits_code("collatz(long), coroutine body", "collatz(long), coroutine body"));
    assert_false(fits_code("body", "collatz(long), coroutine body"));
    assert_true(fits_code("f", "decltype (x) ns::f<int>(int)"));
    assert_true(fits_code("f", "unsigned long f<unsigned long>()"));
}

static void what_stands_in_brackets_is_no_bare_name(void **state)
{
    (void)state;
    const char *sort = "void std::__sort<Row*, Iter<bool (*)(Row const&), shop::sort_by_price> >"
                       "(Row*, Row*, shop::sort_by_price)";
    assert_false(fits_code("sort_by_price", sort));
    assert_false(fits_code("shop::sort_by_price", sort));
    assert_false(fits_code("*sort_by_price*", sort));
    assert_false(fits_code("Row", sort));
    assert_true(fits_code("__sort", sort));
    assert_true(fits_code("std::__sort", sort));
    assert_true(fits_code("*sort", sort));
    assert_true(fits_code("std::*", sort));
    assert_true(fits_code("*sort<*price*", sort));
    assert_false(fits_code("main", "main::{lambda(int)#1}::operator()(int) const"));
    assert_false(fits_code("f", "std::function<int (f)>::operator()(int) const"));
    assert_true(fits_code("operator()", "std::function<int (f)>::operator()(int) const"));
    assert_true(fits_code("function::operator()", "std::function<int (f)>::operator()(int) const"));
    assert_false(fits_code("g", "Fixed<(3>2), ((g)<(4))>::f(int)"));
    assert_true(fits_code("Fixed::f", "Fixed<(3>2), ((g)<(4))>::f(int)"));
}

static void qualified_names_match_from_the_right(void **state)
{
    (void)state;
    const char *name = "a::Class<int>::f<long>(int) const";
    assert_true(fits_code("f", name));
    assert_true(fits_code("Class::f", name));
    assert_true(fits_code("a::Class::f", name));
    assert_true(fits_code("Class<int>::f", name));
    assert_true(fits_code("Class::f<long>", name));
    assert_true(fits_code("Class::f(int)", name));
    assert_false(fits_code("Class<long>::f", name));
    assert_false(fits_code("a::f", name));
    assert_false(fits_code("Class", name));
    assert_true(fits_code("f::n", "a::f(int) const::n"));
    assert_true(fits_code("n", "a::f(int) const::n"));
    assert_true(fits_code("a::hidden", "a::(anonymous namespace)::hidden(int)"));
    assert_true(
        fits_code("(anonymous namespace)::hidden", "a::(anonymous namespace)::hidden(int)"));
    assert_true(fits_code("std::string::f", "std::__cxx11::string::f(int)"));
    assert_true(fits_code("A::~A", "A::~A()"));
    assert_true(fits_code("heat_mod::sweep", "heat_mod::sweep"));
    assert_true(fits_code("a::*", "a::b::c(int)"));
    assert_true(fits_code("b::c", "virtual thunk to a::b::c(int)"));
}

static void operators_and_lambdas_have_names(void **state)
{
    (void)state;
    static const char *const signs[] = {"<",  ">",  "<<", ">>", "<=>", "->", "->*", "()", "[]",
                                        "==", "!=", "+",  "*",  "&&",  ",",  "=",   "++", "|="};
    char name[64], pattern[32], qualified[32];
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        snprintf(name, sizeof name, "ns::Row::operator%s(Row<int> const&) const", signs[i]);
        snprintf(pattern, sizeof pattern, "operator%s", signs[i]);
        snprintf(qualified, sizeof qualified, "Row::operator%s", signs[i]);
        assert_true(fits_code(pattern, name));
        assert_true(fits_code(qualified, name));
        assert_false(fits_code("Row", name));
        for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
            snprintf(name, sizeof name, "ns::Row::operator%s(Row<int> const&) const", signs[k]);
            assert_int_equal(fits_code(pattern, name), k == i);
        }
    }
    assert_true(fits_code("operator<", "bool operator< <int>(A<int> const&, A<int> const&)"));
    assert_true(fits_code("operator<<", "std::ostream& operator<< <char>(std::ostream&, char)"));
    assert_false(fits_code("operator<<", "bool operator< <int>(A<int> const&)"));
    assert_true(fits_code("operator double", "Row::operator double() const"));
    assert_true(fits_code("Row::operator double", "Row::operator double() const"));
    assert_false(fits_code("double", "Row::operator double() const"));
    assert_true(fits_code("operator new[]", "operator new[](unsigned long)"));
    assert_true(fits_code("operator\\*", "A::operator*() const"));
    assert_false(fits_code("operator*", "A::operator+() const"));
    assert_true(fits_code("operator\"\" _km", "operator\"\" _km(long double)"));
    const char *lambda = "main::{lambda(int)#1}::operator()(int) const";
    assert_true(fits_code("lambda", lambda));
    assert_true(fits_code("main::lambda", lambda));
    assert_true(fits_code("operator()", lambda));
    assert_true(fits_code("{lambda(int)#1}", lambda));
    assert_false(fits_code("{lambda(int)#2}", lambda));
    assert_true(fits_code("lambda::s", "main::{lambda(int)#1}::operator()(int) const::s"));
}

static void odd_names_end(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "",     "<",        "f<",        "f(",        ">",    "f)",     "::",     "a::",
        "::f",  "operator", "operator<", "operator ", "f<>>", "{",      "f[abi:", " ",
        "f() ", "-",        "->",        "f<(>",      "f(<)", "f<a->b", "~",      "f::operator"};
    size_t n = sizeof odd / sizeof *odd;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            assert_true(fits_code(odd[i], odd[k]) || i != k || !*odd[i]);
    char deep[4096];
    memset(deep, '<', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    assert_false(fits_code("f", deep));
    for (size_t i = 0; i + 3 < sizeof deep; i += 3)
        memcpy(deep + i, "a::", 3);
    assert_int_equal(sizeof deep % 3, 1);
    memcpy(deep + sizeof deep - 4, "::f", 4);
    assert_true(fits_code("f", deep));
}

static void places_need_no_folders(void **state)
{
    (void)state;
    assert_true(fits_place("heat.c:42", 0));
    assert_true(fits_place("src/heat.c:4?", 9));
    assert_true(fits_place("/home/me/src/heat.c:42:9", 9));
    assert_true(fits_place("heat.c:42:*", 9));
    assert_false(fits_place("heat.c:42:*", 0));
    assert_false(fits_place("eat.c:42", 9));
    assert_false(fits_place("heat.c", 9));
    struct pm_name_pattern any = {.text = "*"};
    assert_false(pm_name_fits_place(&any, "", 42, 0));
    assert_false(pm_name_fits_place(&any, "heat.c", 0, 0));
}

static void the_longest_path_is_looked_at_and_a_longer_one_is_not(void **state)
{
    (void)state;
    struct pm_name_pattern any = {.text = "*"};
    char path[5001];
    memset(path, 'a', sizeof path);
    path[4096] = 0;
    assert_true(pm_name_fits_place(&any, path, 4294967295u, 4294967295u));
    path[4096] = 'a';
    path[5000] = 0;
    assert_false(pm_name_fits_place(&any, path, 1, 1));
    assert_true(pm_name_fits_path(&any, path));
}

static void what_patterns_give_a_meaning_to_may_stand_for_itself(void **state)
{
    (void)state;
    struct pm_name_pattern pattern = {.text = "rows[1]"};
    assert_false(pm_name_fits(&pattern, "rows[1]"));
    pattern.is_plain_too = true;
    assert_true(pm_name_fits(&pattern, "rows[1]"));
    pattern = (struct pm_name_pattern){.text = "SWEEP", .flags = FNM_CASEFOLD};
    assert_true(pm_name_fits(&pattern, "sweep"));
}

/* Names are told from patterns without fnmatch where their first characters tell. */
static void a_name_fits_as_fnmatch_says(void **state)
{
    static const char *const texts[] = {
        "a", "A",  "ab", "\\a", "*a", "[a]",   "\303\244", "k",    "\303\204",  "\342\204\252", "",
        "?", "a*", "\\", "]",   "K*", "[ab]b", "\\*a",     "\377", "\303\204*", "\342\204\252b"};
    enum { N = sizeof texts / sizeof *texts };
    static const char *const locales[] = {"C", "C.UTF-8"};
    (void)state;
    for (unsigned run = 0; run < 2 * 2 * N * N; run++) {
        const char *wanted = texts[run / 4 / N], *text = texts[run / 4 % N];
        int flags = run & 1 ? FNM_CASEFOLD : 0;
        setlocale(LC_ALL, locales[run >> 1 & 1]);
        struct pm_name_pattern pattern = {.text = wanted, .flags = flags};
        assert_int_equal(pm_name_fits(&pattern, text), *text && !fnmatch(wanted, text, flags));
    }
    setlocale(LC_ALL, "C");
}

static void bodies_call_lower_ones_of_the_same_name(void **state)
{
    (void)state;
    assert_true(pm_cxx_is_lower_body("_ZN1aD1Ev", "_ZN1aD0Ev"));
    assert_true(pm_cxx_is_lower_body("_ZN1aD2Ev", "_ZN1aD0Ev"));
    assert_true(pm_cxx_is_lower_body("_ZN1aD4Ev.lto_priv.0", "_ZN1aD2Ev"));
    assert_true(pm_cxx_is_lower_body("_ZN1aC4IiEET_", "_ZN1aC1IiEET_"));
    assert_true(pm_cxx_is_lower_body("_ZN1aC4B5cxx11Ev", "_ZN1aC1B5cxx11Ev"));
    assert_false(pm_cxx_is_lower_body("_ZN1aD1Ev", "_ZN1aD1Ev"));
    assert_false(pm_cxx_is_lower_body("_ZN1aD1Ev", "_ZN1aD2Ev"));
    assert_false(pm_cxx_is_lower_body("_ZN1bD1Ev", "_ZN1aD0Ev"));
    assert_false(pm_cxx_is_lower_body("_ZN1aC2Ei", "_ZN1aC1Ev"));
    assert_false(pm_cxx_is_lower_body("fooD1", "fooD0"));
    assert_false(pm_cxx_is_lower_body("", "_ZN1aD0Ev"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_name_is_enough),
        cmocka_unit_test(a_bare_name_has_no_arguments_and_no_parameters),
        cmocka_unit_test(what_stands_in_brackets_is_no_bare_name),
        cmocka_unit_test(qualified_names_match_from_the_right),
        cmocka_unit_test(operators_and_lambdas_have_names),
        cmocka_unit_test(odd_names_end),
        cmocka_unit_test(a_name_fits_as_fnmatch_says),
        cmocka_unit_test(bodies_call_lower_ones_of_the_same_name),
        cmocka_unit_test(places_need_no_folders),
        cmocka_unit_test(the_longest_path_is_looked_at_and_a_longer_one_is_not),
        cmocka_unit_test(what_patterns_give_a_meaning_to_may_stand_for_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
