#include "mapping/base/arena.h"
#include "mapping/base/str.h"

#include <setjmp.h>

#include <cmocka.h>

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct pm_arena arena = {0};
    unsigned char *before = NULL;
    for (size_t i = 1; i < 3000; i += 7) {
        unsigned char *p = pm_arena_alloc(&arena, i);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(p[k], 0);
        memset(p, 0xff, i);
        assert_true(p != before);
        before = p;
        assert_string_equal(pm_arena_strndup(&arena, "name of it", 4), "name");
    }
    assert_non_null(pm_arena_alloc(&arena, 1 << 20));
    assert_null(pm_arena_alloc(&arena, SIZE_MAX - 8));
    assert_null(pm_arena_strndup(&arena, "x", SIZE_MAX));
    assert_true(arena.total_bytes > 1 << 20);
    pm_arena_release(&arena);
    assert_int_equal(arena.total_bytes, 0);
}

static void equal_strings_become_one(void **state)
{
    (void)state;
    struct pm_intern *set = pm_intern_new();
    const char *seen[5000];
    char name[32];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            int len = snprintf(name, sizeof name, "name %d", i);
            const char *p = pm_intern_add(set, name, (size_t)len);
            assert_string_equal(p, name);
            if (round)
                assert_ptr_equal(p, seen[i]);
            seen[i] = p;
        }
    assert_ptr_not_equal(pm_intern_add(set, "a\0b", 3), pm_intern_add(set, "a", 1));
    assert_memory_equal(pm_intern_add(set, "a\0b", 3), "a\0b", 4);
    assert_string_equal(pm_intern_add(set, NULL, 0), "");
    pm_intern_free(set);
    pm_intern_free(NULL);
}

static void without_memory_nothing_is_interned(void **state)
{
    (void)state;
    pm_alloc_fail_at(1);
    assert_null(pm_intern_new());
    pm_alloc_fail_at(2);
    assert_null(pm_intern_new());
    struct pm_intern *set = pm_intern_new();
    pm_alloc_fail_at(1);
    assert_null(pm_intern_add(set, "a", 1));
    assert_string_equal(pm_intern_add(set, "a", 1), "a");
    pm_intern_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(equal_strings_become_one),
        cmocka_unit_test(without_memory_nothing_is_interned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
