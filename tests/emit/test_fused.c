#include "plugin/emit/fused.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static const char file[] = "/src/heat.c";

/* A function whose loop is on lines 5 to 9. */
struct scene {
    struct pm_source_function *function;
    struct pm_fused *fused;
    struct pm_fused_look *look;
};

static struct scene new_scene(void)
{
    struct pm_place place = {file, "heat.c", 1, 1}, loop = {file, "heat.c", 5, 1};
    struct scene scene = {.function = pm_source_function_new("f", "f", NULL, &place),
                          .fused = pm_fused_new()};
    assert_non_null(scene.function);
    assert_non_null(scene.fused);
    assert_int_equal(pm_source_loop_add(scene.function, &loop, -1), 0);
    scene.function->loops[0].last = (struct pm_text_point){9, 99};
    assert_true(pm_source_loops_sort(scene.function));
    scene.look = pm_fused_before(scene.fused);
    return scene;
}

static void free_scene(struct scene *scene)
{
    assert_false(pm_fused_failed(scene->fused));
    pm_fused_free(scene->fused);
    pm_source_function_free(scene->function);
}

static struct pm_fused_key key_of(const struct scene *scene, unsigned line)
{
    return (struct pm_fused_key){scene->function, file, line, 1};
}

static int statement(const struct scene *scene, unsigned line)
{
    struct pm_fused_key key = key_of(scene, line);
    return pm_fused_statement(scene->look, &key, "heat.c", (int)line);
}

static struct pm_fused_statement *the(const struct scene *scene, unsigned line)
{
    int at = statement(scene, line);
    return &scene->look->statements[at];
}

static void touch(const struct scene *scene, unsigned line, bool writes, uint64_t base,
                  int64_t begin, int64_t size)
{
    struct pm_fused_reference *reference = pm_fused_reference(scene->look, statement(scene, line));
    reference->writes = writes;
    reference->base = base;
    reference->begin = begin;
    reference->size = size;
}

static void value(const struct scene *scene, unsigned line, enum pm_fused_list list, uint64_t v)
{
    pm_fused_value(scene->look, statement(scene, line), list, v);
}

/* All references of the look are to the object. */
static void done(const struct scene *scene, pm_id object)
{
    pm_fused_look_done(scene->look);
    struct pm_access access = {object, PM_MAP_READS};
    for (uint32_t i = 0; object != 0 && i < scene->look->n_references; i++)
        pm_fused_objects(scene->look, &scene->look->references[i], &access, 1);
}

/* Only these lines have code. */
static void has_code(const struct scene *scene, unsigned line, unsigned or_line)
{
    struct pm_fused_key keys[] = {key_of(scene, line), key_of(scene, or_line)};
    assert_true(pm_fused_wants_code(scene->fused));
    pm_fused_has_code(scene->fused, &keys[0]);
    pm_fused_has_code(scene->fused, &keys[1]);
    assert_false(pm_fused_wants_code(scene->fused));
}

/* The only statement that the code of `line` implements too is `expected`; 0: none. */
static void assert_also(const struct scene *scene, unsigned line, unsigned expected,
                        enum pm_map_reason reason, bool inferred)
{
    struct pm_place place = {file, "heat.c", line, 1};
    uint32_t at = 0;
    const struct pm_map_also *also = pm_fused_with(scene->fused, scene->function->id, &place, &at);
    if (expected == 0) {
        assert_null(also);
        return;
    }
    assert_non_null(also);
    assert_int_equal(also->place.line, expected);
    assert_int_equal(also->reason, reason);
    assert_int_equal(also->inferred, inferred);
    assert_null(pm_fused_with(scene->fused, scene->function->id, &place, &at));
}

static void a_wide_store_is_what_the_covered_stores_became(void **state)
{
    (void)state;
    struct scene scene = new_scene();
    touch(&scene, 11, true, 7, 0, 4);
    touch(&scene, 12, true, 7, 4, 4);
    touch(&scene, 13, true, 8, 4, 4); /* of another base */
    done(&scene, 0);
    scene.look = pm_fused_after(scene.fused);
    touch(&scene, 12, true, 7, 0, 8);
    done(&scene, 0);
    has_code(&scene, 12, 12);
    assert_also(&scene, 12, 11, PM_MAP_STORES_MERGED, false);
    assert_also(&scene, 11, 0, 0, false);
    free_scene(&scene);
}

static void a_store_that_always_was_as_wide_took_nothing_in(void **state)
{
    (void)state;
    struct scene scene = new_scene();
    touch(&scene, 11, true, 7, 0, 4);
    touch(&scene, 12, true, 7, 0, 8);
    done(&scene, 0);
    scene.look = pm_fused_after(scene.fused);
    touch(&scene, 12, true, 7, 0, 8);
    done(&scene, 0);
    has_code(&scene, 12, 12);
    assert_also(&scene, 12, 0, 0, false);
    free_scene(&scene);
}

/* Of one loop, or of none; with addresses that had a constant difference, or not. */
static void vector_case(unsigned lost, unsigned left, uint64_t base_of_left, pm_id object_after,
                        unsigned expected, bool inferred)
{
    struct scene scene = new_scene();
    touch(&scene, lost, true, 7, 0, 4);
    touch(&scene, left, true, base_of_left, 4, 4);
    done(&scene, 99);
    scene.look = pm_fused_after(scene.fused);
    touch(&scene, left, true, 77, 0, 16);
    scene.look->come_references[0].is_vector = true;
    done(&scene, object_after);
    has_code(&scene, left, left);
    assert_also(&scene, left, expected, PM_MAP_VECTORISED, inferred);
    free_scene(&scene);
}

static void a_vector_store_of_the_loop_is_what_others_of_it_became(void **state)
{
    (void)state;
    vector_case(6, 7, 7, 99, 6, false);
    vector_case(6, 7, 8, 99, 6, true);
    vector_case(6, 7, 7, 98, 0, false);  /* of another object */
    vector_case(6, 12, 7, 99, 0, false); /* of another loop */
    vector_case(11, 12, 8, 99, 0, false);
}

static void a_new_call_of_memset_is_what_the_loop_became(void **state)
{
    (void)state;
    struct scene scene = new_scene();
    the(&scene, 5)->computes = true;
    touch(&scene, 6, true, 7, 0, 4);
    done(&scene, 99);
    scene.look = pm_fused_after(scene.fused);
    the(&scene, 6)->calls_memory_function = true;
    done(&scene, 0);
    has_code(&scene, 6, 6);
    assert_also(&scene, 6, 5, PM_MAP_LOOP_TO_CALL, false);
    free_scene(&scene);
}

static enum pm_fused_relation relation;
static enum pm_fused_relation relate(void *context, int a, int b)
{
    (void)context;
    assert_true(a == 11 && b == 12); /* blocks: here the lines */
    return relation;
}

static void equal_case(enum pm_fused_relation blocks, bool writes, unsigned expected,
                       enum pm_map_reason reason)
{
    struct scene scene = new_scene();
    for (unsigned line = 11; line <= 12; line++) {
        the(&scene, line)->computes = true;
        the(&scene, line)->form = 5;
        if (writes)
            touch(&scene, line, true, line, 0, 4);
    }
    done(&scene, 0);
    relation = blocks;
    pm_fused_find_equal(scene.look, relate, NULL);
    scene.look = pm_fused_after(scene.fused);
    statement(&scene, 12);
    done(&scene, 0);
    has_code(&scene, 12, 12);
    assert_also(&scene, 12, expected, reason, true);
    free_scene(&scene);
}

static void equal_statements_share_code_by_how_their_blocks_lie(void **state)
{
    (void)state;
    equal_case(PM_FUSED_MEET, false, 11, PM_MAP_COMMON_TAIL);
    equal_case(PM_FUSED_MEET, true, 11, PM_MAP_COMMON_TAIL);
    equal_case(PM_FUSED_IN_ROW, false, 11, PM_MAP_COMBINED);
    equal_case(PM_FUSED_IN_ROW, true, 0, 0); /* the second store is another */
    equal_case(PM_FUSED_APART, false, 0, 0);
}

/* x = a + b; y = x * 2: what the second used, or is made from now. */
static void a_value_became_an_operand_of_its_user(void **state)
{
    (void)state;
    for (int is_left = 0; is_left < 2; is_left++) {
        struct scene scene = new_scene();
        the(&scene, 11)->computes = true;
        value(&scene, 11, PM_FUSED_USES, 1);
        value(&scene, 11, PM_FUSED_DEFINES, 2);
        value(&scene, 12, PM_FUSED_USES, 2);
        done(&scene, 0);
        scene.look = pm_fused_after(scene.fused);
        value(&scene, 12, PM_FUSED_USES, is_left ? 3 : 1);
        if (is_left)
            value(&scene, 11, PM_FUSED_DEFINES, 3);
        done(&scene, 0);
        has_code(&scene, 12, 12);
        assert_also(&scene, 12, 11, PM_MAP_COMBINED, true);
        free_scene(&scene);
    }
}

static void what_did_nothing_is_not_explained(void **state)
{
    (void)state;
    struct scene scene = new_scene();
    value(&scene, 11, PM_FUSED_USES, 1);
    value(&scene, 11, PM_FUSED_DEFINES, 2);
    value(&scene, 12, PM_FUSED_USES, 2);
    done(&scene, 0);
    scene.look = pm_fused_after(scene.fused);
    value(&scene, 12, PM_FUSED_USES, 1);
    done(&scene, 0);
    has_code(&scene, 12, 12);
    assert_also(&scene, 12, 0, 0, false);
    free_scene(&scene);
}

static void lists_are_by_statement_and_sorted(void **state)
{
    (void)state;
    struct scene scene = new_scene();
    for (uint64_t i = 0; i < 1000; i++)
        value(&scene, 11 + (unsigned)(i % 7), PM_FUSED_USES, i * 7919 % 101);
    done(&scene, 0);
    for (uint32_t i = 0; i < scene.look->n; i++) {
        struct pm_fused_span span = scene.look->statements[i].values[PM_FUSED_USES];
        assert_int_equal(span.n, 101);
        for (uint32_t j = 0; j < span.n; j++)
            assert_int_equal(scene.look->values[PM_FUSED_USES][span.first + j], j);
    }
    free_scene(&scene);
}

static void another_function_begins_empty(void **state)
{
    (void)state;
    struct scene scene = new_scene();
    touch(&scene, 11, true, 7, 0, 4);
    touch(&scene, 12, true, 7, 4, 4);
    done(&scene, 0);
    scene.look = pm_fused_after(scene.fused);
    touch(&scene, 12, true, 7, 0, 8);
    done(&scene, 0);
    has_code(&scene, 12, 12);
    assert_also(&scene, 12, 11, PM_MAP_STORES_MERGED, false);
    pm_fused_clear(scene.fused); /* and is not looked at */
    assert_false(pm_fused_has_before(scene.fused));
    assert_false(pm_fused_wants_code(scene.fused));
    assert_also(&scene, 12, 0, 0, false);
    assert_int_equal(pm_fused_before(scene.fused)->n, 0);
    free_scene(&scene);
}

/* Returns whether all went well. */
static bool merge_stores(struct scene *scene)
{
    for (unsigned line = 11; line < 300 && !scene->look->failed; line++)
        touch(scene, 11 + line % 2, true, 7, (line % 2) * 4, 4);
    pm_fused_look_done(scene->look);
    scene->look = pm_fused_after(scene->fused);
    if (statement(scene, 12) < 0)
        return false;
    touch(scene, 12, true, 7, 0, 8);
    pm_fused_look_done(scene->look);
    struct pm_place place = {file, "heat.c", 12, 1};
    struct pm_fused_key key = key_of(scene, 12);
    uint32_t at = 0;
    if (pm_fused_wants_code(scene->fused))
        pm_fused_has_code(scene->fused, &key);
    const struct pm_map_also *also = pm_fused_with(scene->fused, scene->function->id, &place, &at);
    return also != NULL && !pm_fused_failed(scene->fused);
}

static void where_memory_ends_it_says_so(void **state)
{
    (void)state;
    bool all_went_well = false;
    for (long n = 1; !all_went_well; n++) {
        struct scene scene = new_scene();
        assert_true(statement(&scene, 11) == 0 && statement(&scene, 12) == 1);
        pm_alloc_fail_at(n);
        all_went_well = merge_stores(&scene);
        bool failed = !pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(failed, pm_fused_failed(scene.fused));
        assert_int_not_equal(failed, all_went_well);
        pm_fused_free(scene.fused);
        pm_source_function_free(scene.function);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wide_store_is_what_the_covered_stores_became),
        cmocka_unit_test(a_store_that_always_was_as_wide_took_nothing_in),
        cmocka_unit_test(a_vector_store_of_the_loop_is_what_others_of_it_became),
        cmocka_unit_test(a_new_call_of_memset_is_what_the_loop_became),
        cmocka_unit_test(equal_statements_share_code_by_how_their_blocks_lie),
        cmocka_unit_test(a_value_became_an_operand_of_its_user),
        cmocka_unit_test(what_did_nothing_is_not_explained),
        cmocka_unit_test(lists_are_by_statement_and_sorted),
        cmocka_unit_test(another_function_begins_empty),
        cmocka_unit_test(where_memory_ends_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
