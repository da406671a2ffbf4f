#include "plugin/emit/map_sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static const char file[] = "/src/heat.c", header[] = "/src/heat.h";

static struct pm_place at(const char *path, unsigned line, unsigned column)
{
    return (struct pm_place){path, path + 5, line, column};
}

static struct pm_source_function *function_named(const char *name)
{
    struct pm_place place = at(file, 1, 1);
    struct pm_source_function *function = pm_source_function_new(name, name, NULL, &place);
    assert_non_null(function);
    return function;
}

/* --- a plain model of tuples: all are looked at --- */

enum { MAX_TUPLES = 3000 };

struct plain {
    struct pm_map_tuple tuples[MAX_TUPLES];
    uint32_t spots[MAX_TUPLES];
    int n;
};

static int plain_tuple(struct plain *plain, const struct pm_map_tuple *tuple, uint32_t spots)
{
    int i = 0;
    for (; i < plain->n; i++) {
        const struct pm_map_tuple *known = &plain->tuples[i];
        if (known->kind == tuple->kind && known->unnamed == tuple->unnamed &&
            known->site == tuple->site && known->loop == tuple->loop &&
            known->objects == tuple->objects && plain->spots[i] == spots &&
            known->place.file == tuple->place.file && known->place.line == tuple->place.line &&
            known->place.column == tuple->place.column)
            return i;
    }
    plain->tuples[i] = *tuple;
    plain->spots[i] = spots;
    plain->n++;
    return i;
}

static struct pm_map_tuple some_tuple(void)
{
    struct pm_map_tuple tuple = {.kind = rand() % 3 ? PM_MAP_ORDINARY : PM_MAP_CALL};
    tuple.unnamed = rand() % 2;
    tuple.site = rand() % 3 - 1;
    tuple.place = at(rand() % 4 ? file : header, (unsigned)(rand() % 6), (unsigned)(rand() % 2));
    tuple.loop = (pm_id)(rand() % 3) << 50;
    tuple.objects = (uint32_t)(rand() % 2);
    return tuple;
}

static void equal_tuples_are_one(void **state)
{
    (void)state;
    static struct plain plain;
    struct pm_source_function *function = function_named("sweep");
    struct pm_map_sets *sets = pm_map_sets_new(function);
    srand(11);
    for (int i = 0; i < MAX_TUPLES; i++) {
        struct pm_map_tuple tuple = some_tuple();
        uint32_t spots = (uint32_t)(rand() % 2);
        bool is_new, is_new_to_plain = false;
        int n = plain.n, expected = plain_tuple(&plain, &tuple, spots);
        is_new_to_plain = plain.n > n;
        assert_int_equal(pm_map_sets_tuple(sets, &tuple, spots, &is_new), expected);
        assert_int_equal(is_new, is_new_to_plain);
    }
    struct pm_map_function map = pm_map_sets_function(sets, 7);
    assert_int_equal(map.symbol, 7);
    assert_ptr_equal(map.function, function);
    assert_int_equal(map.n_tuples, plain.n);
    for (int i = 0; i < plain.n; i++)
        assert_int_equal(map.tuples[i].place.line, plain.tuples[i].place.line);
    pm_map_sets_free(sets);
    pm_source_function_free(function);
}

static void sets_of_objects_have_no_order(void **state)
{
    (void)state;
    struct pm_source_function *function = function_named("sweep");
    struct pm_map_sets *sets = pm_map_sets_new(function);
    struct pm_access none[1], one[] = {{9, PM_MAP_READS}, {5, PM_MAP_WRITES}, {9, PM_MAP_WRITES}},
                              same[] = {{9, PM_MAP_READS | PM_MAP_WRITES}, {5, PM_MAP_WRITES}},
                              other[] = {{9, PM_MAP_READS}, {5, PM_MAP_WRITES}};
    assert_int_equal(pm_map_sets_objects(sets, none, 0), 0);
    assert_int_equal(pm_map_sets_objects(sets, one, 3), 1);
    assert_int_equal(pm_map_sets_objects(sets, other, 2), 2);
    assert_int_equal(pm_map_sets_objects(sets, same, 2), 1);
    struct pm_map_function map = pm_map_sets_function(sets, 7);
    assert_int_equal(map.objects[0].n, 0);
    assert_int_equal(map.objects[1].n, 2);
    const struct pm_access *accesses = &map.accesses[map.objects[1].first];
    assert_int_equal(accesses[0].noun, 5);
    assert_int_equal(accesses[1].access, PM_MAP_READS | PM_MAP_WRITES);
    pm_map_sets_free(sets);
    pm_source_function_free(function);
}

static void copies_of_one_call_are_one_site(void **state)
{
    (void)state;
    struct pm_source_function *function = function_named("sweep"), *inner = function_named("step"),
                              *again = function_named("step");
    struct pm_map_sets *sets = pm_map_sets_new(function);
    struct pm_place call = at(file, 4, 5), other = at(file, 4, 9);
    assert_int_equal(pm_map_sets_site(sets, -1, inner, &call), 0);
    assert_int_equal(pm_map_sets_site(sets, -1, inner, &other), 1);
    assert_int_equal(pm_map_sets_site(sets, 0, inner, &call), 2);
    assert_int_equal(pm_map_sets_site(sets, -1, again, &call), 0);
    assert_ptr_equal(pm_map_sets_text(sets, 2), inner);
    assert_ptr_equal(pm_map_sets_text(sets, -1), function);
    pm_map_sets_free(sets);
    pm_source_function_free(function);
    pm_source_function_free(inner);
    pm_source_function_free(again);
}

static void what_a_tuple_implements_too_stands_with_it(void **state)
{
    (void)state;
    struct pm_source_function *function = function_named("sweep"), *inner = function_named("step");
    struct pm_map_sets *sets = pm_map_sets_new(function);
    struct pm_place call = at(file, 4, 5);
    struct pm_map_spot first = {-1, at(file, 10, 5)},
                       second = {pm_map_sets_site(sets, -1, inner, &call), at(file, 20, 5)};
    int a = pm_map_sets_spot(sets, &first), b = pm_map_sets_spot(sets, &second);
    assert_int_equal(pm_map_sets_spot(sets, &first), a);
    int spots[] = {b, a, b}, alone[] = {b};
    uint32_t both = pm_map_sets_spots(sets, spots, 3), one = pm_map_sets_spots(sets, alone, 1);
    int turned[] = {a, b};
    assert_int_equal(pm_map_sets_spots(sets, turned, 2), both);
    assert_int_equal(pm_map_sets_spots(sets, turned, 0), 0);
    bool is_new;
    struct pm_map_tuple tuple = {.kind = PM_MAP_ORDINARY, .site = -1, .place = at(file, 30, 1)};
    assert_int_equal(pm_map_sets_tuple(sets, &tuple, 0, &is_new), 0);
    assert_int_equal(pm_map_sets_tuple(sets, &tuple, both, &is_new), 1);
    pm_map_sets_also_spots(sets, both, PM_MAP_COMMON_TAIL);
    assert_int_equal(pm_map_sets_tuple(sets, &tuple, one, &is_new), 2);
    struct pm_map_also fused = {inner, at(file, 40, 1), PM_MAP_LOOP_TO_CALL, false};
    pm_map_sets_also(sets, &fused);
    pm_map_sets_also_spots(sets, one, PM_MAP_COMMON_TAIL);
    struct pm_map_function map = pm_map_sets_function(sets, 7);
    assert_int_equal(map.tuples[0].n_also, 0);
    assert_int_equal(map.tuples[1].n_also, 2);
    assert_int_equal(map.tuples[2].n_also, 2);
    const struct pm_map_also *also = &map.also[map.tuples[1].first_also];
    assert_ptr_equal(also[0].function, function);
    assert_int_equal(also[0].place.line, 10);
    assert_ptr_equal(also[1].function, inner);
    assert_true(also[1].inferred);
    also = &map.also[map.tuples[2].first_also];
    assert_int_equal(also[0].reason, PM_MAP_LOOP_TO_CALL);
    assert_int_equal(also[1].place.line, 20);
    pm_map_sets_free(sets);
    pm_source_function_free(function);
    pm_source_function_free(inner);
}

static void add_statement(struct pm_statements *statements, const char *path, unsigned line)
{
    struct pm_range range = {path, {line, 5}, {line, 15}};
    assert_true(pm_statements_add(statements, &range));
}

static void statements_of_folded_functions_are_told_by_their_number(void **state)
{
    (void)state;
    struct pm_source_function *function = function_named("sweep"), *equal = function_named("step");
    struct pm_map_sets *sets = pm_map_sets_new(function);
    struct pm_statements own = {0}, other = {0}, longer = {0};
    for (unsigned i = 0; i < 3; i++) {
        add_statement(&own, file, 10 + i);
        add_statement(&other, file, 20 + i);
        add_statement(&longer, file, 30 + i);
    }
    add_statement(&longer, file, 40);
    struct pm_map_tuple tuple = {.kind = PM_MAP_ORDINARY, .site = -1, .place = at(file, 11, 5)};
    bool is_new;
    struct pm_place outside = at(file, 50, 1);
    pm_map_sets_tuple(sets, &tuple, 0, &is_new);
    pm_map_sets_also_folded(sets, &tuple.place, &own, equal, &longer);
    pm_map_sets_also_folded(sets, &outside, &own, equal, &other);
    pm_map_sets_also_folded(sets, &tuple.place, &own, equal, &other);
    struct pm_map_function map = pm_map_sets_function(sets, 7);
    assert_int_equal(map.tuples[0].n_also, 1);
    assert_ptr_equal(map.also[0].function, equal);
    assert_int_equal(map.also[0].place.line, 21);
    assert_string_equal(map.also[0].place.shown, "heat.c");
    assert_int_equal(map.also[0].reason, PM_MAP_FOLDED);
    assert_false(map.also[0].inferred);
    pm_statements_release(&own);
    pm_statements_release(&other);
    pm_statements_release(&longer);
    pm_map_sets_free(sets);
    pm_source_function_free(function);
    pm_source_function_free(equal);
}

static bool fill(struct pm_map_sets *sets, const struct pm_source_function *inner)
{
    for (unsigned i = 0; i < 40; i++) {
        struct pm_place call = at(file, i + 1, 1);
        struct pm_access access = {i + 1, PM_MAP_READS};
        bool is_new;
        struct pm_map_spot spot = {pm_map_sets_site(sets, -1, inner, &call), call};
        int spots[] = {pm_map_sets_spot(sets, &spot)};
        if (pm_map_sets_failed(sets))
            return false;
        struct pm_map_tuple tuple = {.kind = PM_MAP_ORDINARY, .site = spot.site, .place = call};
        tuple.objects = pm_map_sets_objects(sets, &access, 1);
        uint32_t set = pm_map_sets_spots(sets, spots, 1);
        if (pm_map_sets_failed(sets))
            return false;
        pm_map_sets_tuple(sets, &tuple, set, &is_new);
        if (is_new)
            pm_map_sets_also_spots(sets, set, PM_MAP_COMMON_TAIL);
    }
    return !pm_map_sets_failed(sets);
}

static void where_memory_ends_it_says_so(void **state)
{
    (void)state;
    struct pm_source_function *function = function_named("sweep"), *inner = function_named("step");
    for (long n = 1;; n++) {
        pm_alloc_fail_at(n);
        struct pm_map_sets *sets = pm_map_sets_new(function);
        bool done = sets && fill(sets, inner);
        bool pending = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(done, pending);
        pm_map_sets_free(sets);
        if (pending)
            break;
    }
    pm_source_function_free(function);
    pm_source_function_free(inner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_tuples_are_one),
        cmocka_unit_test(sets_of_objects_have_no_order),
        cmocka_unit_test(copies_of_one_call_are_one_site),
        cmocka_unit_test(what_a_tuple_implements_too_stands_with_it),
        cmocka_unit_test(statements_of_folded_functions_are_told_by_their_number),
        cmocka_unit_test(where_memory_ends_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
