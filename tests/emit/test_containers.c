#include "plugin/emit/containers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { BOTH = PM_USE_READS | PM_USE_WRITES };

static unsigned traits_of(const char *name, bool is_unary, bool gives_reference)
{
    struct pm_method method = {name, is_unary, gives_reference};
    return pm_method_traits(&method);
}

static void a_class_is_what_its_members_say(void **state)
{
    (void)state;
    assert_int_equal(traits_of("operator[]", false, false), PM_HAS_ELEMENTS);
    assert_int_equal(traits_of("data", true, false), PM_HAS_ELEMENTS);
    assert_int_equal(traits_of("top", true, false), 0);
    assert_int_equal(traits_of("top", true, true), PM_HAS_ELEMENTS);
    assert_int_equal(traits_of("operator*", true, true), PM_HAS_TARGET);
    assert_int_equal(traits_of("operator*", false, true), 0); /* a product */
    assert_int_equal(traits_of("operator->", true, false), PM_HAS_TARGET);
    assert_int_equal(traits_of("operator()", false, true), PM_HAS_CALL);
    assert_int_equal(traits_of("operator()", false, false), 0); /* a generator's next number */
    assert_int_equal(traits_of("size", true, false), 0);
    assert_int_equal(pm_class_name_traits("variant"), PM_HAS_ELEMENTS);
    assert_false(pm_is_container(pm_class_name_traits("pair"))); /* of numbers */
    assert_true(pm_is_container(pm_class_name_traits("pair") | PM_HAS_STORAGE));
    assert_int_equal(pm_class_name_traits("variants"), 0);
    assert_true(pm_is_container(pm_class_name_traits("reference_wrapper")));
    assert_true(pm_class_refers("reference_wrapper", pm_class_name_traits("reference_wrapper")));
    assert_int_equal(pm_member_traits(PM_HAS_TARGET), PM_HAS_STORAGE);
    assert_int_equal(pm_member_traits(PM_HAS_CALL | PM_HAS_STORAGE), 0);
}

static void containers_have_elements_or_a_target_or_calls_into_storage(void **state)
{
    (void)state;
    assert_true(pm_is_container(PM_HAS_ELEMENTS));
    assert_true(pm_is_container(PM_HAS_TARGET | PM_HAS_CALL));
    assert_true(pm_is_container(PM_HAS_CALL | PM_HAS_STORAGE));
    assert_false(pm_is_container(PM_HAS_CALL));
    assert_false(pm_is_container(PM_HAS_STORAGE));
    assert_false(pm_is_container(0));
}

static void iterators_and_views_refer_and_owners_do_not(void **state)
{
    (void)state;
    assert_true(pm_class_refers("__normal_iterator", PM_HAS_TARGET));
    assert_false(pm_class_refers("unique_ptr", PM_HAS_TARGET));
    assert_false(pm_class_refers("vector", PM_HAS_ELEMENTS));
    assert_true(pm_class_refers("span", PM_HAS_ELEMENTS));
    struct pm_class_shape row = {true, false, false, PM_HAS_ELEMENTS, 4};
    assert_true(pm_is_view(&row));
    row.n_pointers = 5;
    assert_false(pm_is_view(&row));
    row = (struct pm_class_shape){true, false, true, PM_HAS_ELEMENTS, 2}; /* frees what it has */
    assert_false(pm_is_view(&row));
    row = (struct pm_class_shape){true, true, false, PM_HAS_ELEMENTS, 2};
    assert_false(pm_is_view(&row));
    row = (struct pm_class_shape){true, false, false, PM_HAS_TARGET, 2};
    assert_false(pm_is_view(&row));
}

static void function_objects_of_the_library_are_known_by_name(void **state)
{
    (void)state;
    assert_true(pm_is_view_of_ranges("filter_view"));
    assert_true(pm_is_view_of_ranges("transform_view<std::ranges::ref_view<int>, _f>"));
    assert_false(pm_is_view_of_ranges("basic_string_view"));
    assert_false(pm_is_view_of_ranges("view"));
    assert_true(pm_is_std_function("function"));
    assert_true(pm_is_std_function("function<void(int)>"));
    assert_false(pm_is_std_function("functional"));
    assert_false(pm_is_std_function("func"));
}

static void a_result_refers_into_what_gives_access(void **state)
{
    (void)state;
    static const struct {
        enum pm_call_result result;
        bool is_method, is_library, first_is_reference;
        unsigned n_arguments, leading, sources;
    } cases[] = {
        {PM_RESULT_REFERENCE, true, false, false, 2, 3, 1}, /* v[i] */
        {PM_RESULT_REFERENCE, true, false, false, 0, 0, 0},
        {PM_RESULT_REFERENCE, false, false, false, 2, 3, 3}, /* max(a, b) of the user's */
        {PM_RESULT_REFERENCE, false, true, false, 3, 6, 2},
        {PM_RESULT_POINTER, true, false, false, 1, 1, 1}, /* v.data() */
        {PM_RESULT_POINTER, false, true, true, 1, 1, 1},  /* addressof(x) */
        {PM_RESULT_POINTER, false, true, false, 1, 1, 0}, /* malloc */
        {PM_RESULT_POINTER, false, false, true, 1, 1, 0},
        {PM_RESULT_REFERRING, true, false, false, 1, 1, 1}, /* v.begin() */
        {PM_RESULT_REFERRING, false, false, false, 1, 1, 0},
        {PM_RESULT_OTHER, true, true, true, 2, 3, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pm_cxx_call call = {.name = "f",
                                   .n_arguments = cases[i].n_arguments,
                                   .result = cases[i].result,
                                   .is_method = cases[i].is_method,
                                   .is_library = cases[i].is_library,
                                   .first_is_reference = cases[i].first_is_reference};
        assert_int_equal(pm_call_sources(&call, cases[i].leading), cases[i].sources);
    }
}

static void what_a_call_does_with_its_object(void **state)
{
    (void)state;
    static const struct {
        struct pm_cxx_call call;
        unsigned index, use;
    } cases[] = {
        {{.name = "push_back", .is_method = true, .is_library = true}, 0, PM_USE_WRITES},
        {{.name = "push_back", .is_method = true, .is_library = true}, 1, PM_USE_READS},
        {{.name = "size", .is_method = true, .is_library = true, .object_is_const = true},
         0,
         PM_USE_READS},
        {{.name = "~vector", .is_method = true, .is_library = true}, 0, PM_USE_READS},
        {{.name = "operator++", .is_method = true, .is_library = true, .object_refers = true},
         0,
         PM_USE_READS},
        {{.name = "operator=", .sources = 1, .is_method = true, .is_library = true},
         0,
         PM_USE_WRITES},
        {{.name = "operator+=", .sources = 1, .is_method = true, .is_library = true}, 0, BOTH},
        {{.name = "operator==", .sources = 1, .is_method = true, .is_library = true}, 0, 0},
        {{.name = "operator<<=", .sources = 1, .is_method = true, .is_library = true}, 0, BOTH},
        {{.name = "operator[]", .sources = 1, .is_method = true, .is_library = true}, 0, 0},
        {{.name = "operator[]", .sources = 1, .is_method = true}, 1, PM_USE_READS},
        {{.name = "set", .is_method = true}, 0, PM_USE_READS}, /* its body says what it does */
        {{.name = "copy", .n_arguments = 3, .n_leading = 3, .sources = 3, .is_library = true},
         2,
         PM_USE_WRITES},
        {{.name = "swap", .n_arguments = 2, .is_library = true}, 1, BOTH},
        {{.name = "erase", .sources = 1, .is_method = true, .is_library = true}, 0, PM_USE_WRITES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pm_call_use(&cases[i].call, cases[i].index), cases[i].use);
}

static void what_a_call_does_with_whole_elements(void **state)
{
    (void)state;
    struct pm_cxx_call push = {
        .name = "push_back", .n_arguments = 2, .is_method = true, .is_library = true};
    assert_int_equal(pm_call_whole_use(&push, 0), PM_USE_WRITES);
    assert_int_equal(pm_call_whole_use(&push, 1), PM_USE_READS);
    push.is_library = false; /* its body says what it does */
    assert_int_equal(pm_call_whole_use(&push, 0), 0);
    const struct pm_cxx_call size = {
        .name = "size", .n_arguments = 1, .is_method = true, .is_library = true};
    assert_int_equal(pm_call_whole_use(&size, 0), 0);
    struct pm_cxx_call made = {
        .name = "vector", .n_arguments = 1, .is_method = true, .is_library = true};
    made.constructs = true;
    assert_int_equal(pm_call_whole_use(&made, 0), 0);
    made.n_arguments = 2;
    assert_int_equal(pm_call_whole_use(&made, 0), PM_USE_WRITES);
    struct pm_cxx_call erase = {
        .name = "erase", .n_arguments = 2, .is_method = true, .is_library = true};
    assert_int_equal(pm_call_whole_use(&erase, 0), 0);
    erase.moves_elements = pm_moves_elements("vector");
    assert_int_equal(pm_call_whole_use(&erase, 0), BOTH);
    assert_false(pm_moves_elements("list"));
    /* std::ranges::copy(v, w.begin()) */
    struct pm_cxx_call copy = {.n_arguments = 3, .is_method = true, .is_library = true};
    assert_false(pm_algorithm_of_class("vector", &copy));
    assert_true(pm_algorithm_of_class("__copy_fn", &copy));
    assert_string_equal(copy.algorithm, "copy");
    copy.gets_range = true;
    assert_int_equal(pm_call_whole_use(&copy, 0), 0);
    assert_int_equal(pm_call_whole_use(&copy, 1), PM_USE_READS);
    assert_int_equal(pm_call_whole_use(&copy, 2), PM_USE_WRITES);
    const struct pm_cxx_call sort = {
        .name = "sort", .n_arguments = 3, .is_library = true, .has_policy = true};
    assert_int_equal(pm_call_whole_use(&sort, 0), 0);
    assert_int_equal(pm_call_whole_use(&sort, 2), BOTH);
}

static void an_execution_policy_stands_before_the_arguments(void **state)
{
    (void)state;
    /* copy(par, a.begin(), a.end(), b.begin()) */
    struct pm_cxx_call call = {
        .name = "copy", .n_arguments = 4, .n_leading = 4, .is_library = true, .has_policy = true};
    assert_true(pm_is_execution_policy("parallel_policy"));
    assert_false(pm_is_execution_policy("vector"));
    assert_int_equal(pm_call_use(&call, 0), PM_USE_READS);
    assert_int_equal(pm_call_use(&call, 2), PM_USE_READS);
    assert_int_equal(pm_call_use(&call, 3), PM_USE_WRITES);
}

static void a_function_object_writes_what_it_takes_by_reference(void **state)
{
    (void)state;
    struct pm_cxx_call call = {
        .name = "for_each_n", .n_arguments = 3, .n_leading = 1, .is_library = true};
    assert_int_equal(pm_call_use(&call, 0), PM_USE_READS);
    call.last_takes_to_write = true;
    assert_int_equal(pm_call_use(&call, 0), BOTH);
    call = (struct pm_cxx_call){
        .name = "operator()", .n_arguments = 2, .is_library = true, .is_method = true};
    assert_int_equal(pm_call_use(&call, 1), PM_USE_READS);
    call.passes_to_write = true;
    assert_int_equal(pm_call_use(&call, 1), BOTH);
}

static void objects_keep_addresses(void **state)
{
    (void)state;
    struct pm_keeping vector = {"push_back", "vector", PM_HAS_ELEMENTS | PM_HAS_STORAGE, false,
                                false};
    assert_true(pm_object_keeps(&vector, PM_PASSED_POINTER_BY_REFERENCE));
    assert_true(pm_object_keeps(&vector, PM_PASSED_TEMPORARY));
    assert_true(pm_object_keeps(&vector, PM_PASSED_LIST));
    assert_false(pm_object_keeps(&vector, PM_PASSED_POINTER)); /* v.assign(p, p + n) copies */
    assert_false(pm_object_keeps(&vector, PM_PASSED_OBJECT));
    assert_false(pm_object_keeps(&vector, PM_PASSED_OTHER));
    assert_false(pm_object_keeps(&vector, PM_PASSED_ITERATOR));
    vector.has_addresses = true;
    assert_true(pm_object_keeps(&vector, PM_PASSED_ITERATOR));
    assert_true(pm_object_keeps(&vector, PM_PASSED_POINTER));
    struct pm_keeping owner = {"unique_ptr", "unique_ptr", PM_HAS_TARGET, false, false};
    assert_true(pm_object_keeps(&owner, PM_PASSED_POINTER));
    struct pm_keeping iterator = {"operator=", "__normal_iterator", PM_HAS_TARGET, true, false};
    assert_false(pm_object_keeps(&iterator, PM_PASSED_POINTER));
    struct pm_keeping reference = {"ref", "reference_wrapper", 0, false, false};
    assert_true(pm_object_keeps(&reference, PM_PASSED_OBJECT));
    assert_true(pm_method_looks("find"));
    assert_false(pm_method_looks("insert"));
}

static void elements_have_a_type_name(void **state)
{
    (void)state;
    unsigned n_before = 7;
    assert_string_equal(pm_element_type_name(0, &n_before), "value_type");
    assert_int_equal(n_before, 0);
    assert_string_equal(pm_element_type_name(2, &n_before), "mapped_type");
    assert_int_equal(n_before, 1); /* the key */
    assert_null(pm_element_type_name(3, &n_before));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_is_what_its_members_say),
        cmocka_unit_test(containers_have_elements_or_a_target_or_calls_into_storage),
        cmocka_unit_test(iterators_and_views_refer_and_owners_do_not),
        cmocka_unit_test(an_execution_policy_stands_before_the_arguments),
        cmocka_unit_test(a_function_object_writes_what_it_takes_by_reference),
        cmocka_unit_test(function_objects_of_the_library_are_known_by_name),
        cmocka_unit_test(a_result_refers_into_what_gives_access),
        cmocka_unit_test(what_a_call_does_with_its_object),
        cmocka_unit_test(what_a_call_does_with_whole_elements),
        cmocka_unit_test(objects_keep_addresses),
        cmocka_unit_test(elements_have_a_type_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
