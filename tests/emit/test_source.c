#include "plugin/emit/source.h"

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

static struct pm_source_function *new_function(void)
{
    struct pm_place place = at(1, 1);
    struct pm_source_function *function = pm_source_function_new("sweep", "sweep", NULL, &place);
    assert_non_null(function);
    return function;
}

/* --- a plain model: all loops are looked at --- */

static bool plain_in_range(const struct pm_source_loop *loop, struct pm_text_point point)
{
    return !pm_text_point_less(point, loop->first) && !pm_text_point_less(loop->last, point);
}

static bool plain_is_inside(const struct pm_source_function *function, int loop, int around)
{
    while (loop >= 0 && loop != around)
        loop = function->loops[loop].parent;
    return loop >= 0;
}

static int plain_loop_at(const struct pm_source_function *function, const char *of_file,
                         struct pm_text_point point)
{
    int innermost = -1;
    for (uint32_t i = 0; i < function->n_loops; i++) {
        const struct pm_source_loop *loop = &function->loops[i];
        bool holds = plain_in_range(loop, point) && strcmp(of_file, loop->file) == 0;
        for (uint32_t k = 0; k < loop->n_outside; k++)
            holds = holds && !pm_text_point_same(loop->outside[k], point);
        if (holds && (innermost < 0 || plain_is_inside(function, (int)i, innermost)))
            innermost = (int)i;
    }
    return innermost;
}

/* Loops anywhere, within each other or not, some in another file. */
static struct pm_source_function *random_function(unsigned n)
{
    struct pm_source_function *function = new_function();
    for (unsigned i = 0; i < n; i++) {
        struct pm_place place = at(1 + (unsigned)rand() % 40, 1 + (unsigned)rand() % 3);
        if (rand() % 8 == 0)
            place.file = other_file;
        int parent = function->n_loops != 0 ? rand() % (int)(function->n_loops + 1) - 1 : -1;
        int index = pm_source_loop_add(function, &place, parent);
        assert_true(index >= 0);
        struct pm_source_loop *loop = &function->loops[index];
        loop->last.line = loop->first.line + (unsigned)rand() % 12;
        loop->nest = 1 + rand() % 2;
        loop->is_split = rand() % 2 == 0;
        if (rand() % 3 == 0)
            assert_true(pm_source_loop_exclude(
                loop, (struct pm_text_point){loop->first.line + 1, 1 + (unsigned)rand() % 3}));
    }
    assert_true(pm_source_loops_sort(function));
    return function;
}

static void places_are_in_the_loops_that_hold_them(void **state)
{
    (void)state;
    srand(3);
    for (int round = 0; round < 200; round++) {
        struct pm_source_function *function = random_function((unsigned)round % 20);
        for (unsigned i = 0; i < 200; i++) {
            struct pm_text_point point = {i / 4, i % 4};
            uint32_t n, n_plain = 0;
            const int *around = pm_source_loops_around(function, point, &n);
            for (uint32_t k = 0; k < function->n_loops; k++)
                if (plain_in_range(&function->loops[k], point)) {
                    assert_true(n_plain < n);
                    assert_int_equal(around[n_plain++], k);
                }
            assert_int_equal(n, n_plain);
            assert_int_equal(pm_source_loop_at(function, file, point),
                             plain_loop_at(function, file, point));
            assert_int_equal(pm_source_loop_at(function, other_file, point),
                             plain_loop_at(function, other_file, point));
        }
        for (uint32_t k = 0; k < function->n_loops; k++)
            assert_int_equal(pm_source_loop_with(function, function->loops[k].id), k);
        assert_int_equal(pm_source_loop_with(function, 1), -1);
        pm_source_function_free(function);
    }
}

static void a_place_is_one_loop_and_a_line_may_have_several(void **state)
{
    (void)state;
    struct pm_source_function *function = new_function();
    struct pm_place first = at(42, 5), second = at(42, 30), third = at(43, 5);
    assert_int_equal(pm_source_loop_add(function, &first, -1), 0);
    assert_int_equal(pm_source_loop_add(function, &third, 0), 1);
    assert_int_equal(pm_source_loop_add(function, &first, -1), 0);
    assert_int_equal(pm_source_loop_add(function, &second, 0), 2);
    struct pm_buf names = PM_BUF_INIT(1024);
    for (uint32_t i = 0; i < function->n_loops; i++) {
        pm_source_loop_name(&function->loops[i], &names);
        pm_buf_add_byte(&names, ' ');
    }
    assert_string_equal(names.data, "heat.c:42:5 heat.c:43 heat.c:42:30 ");
    pm_buf_release(&names);
    pm_source_function_free(function);
}

static void assert_same_loop(const struct pm_source_loop *a, const struct pm_source_loop *b)
{
    assert_string_equal(a->file, b->file);
    assert_string_equal(a->shown, b->shown);
    assert_true(pm_text_point_same(a->place, b->place));
    assert_true(pm_text_point_same(a->first, b->first));
    assert_true(pm_text_point_same(a->last, b->last));
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->nest, b->nest);
    assert_int_equal(a->shares_line, b->shares_line);
    assert_int_equal(a->is_split, b->is_split);
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->n_outside, b->n_outside);
    for (uint32_t i = 0; i < a->n_outside; i++)
        assert_true(pm_text_point_same(a->outside[i], b->outside[i]));
}

static void what_is_written_is_read_again(void **state)
{
    (void)state;
    srand(5);
    for (unsigned round = 0; round < 50; round++) {
        struct pm_source_function *function = random_function(round % 12);
        function->end_line = round;
        function->abstract = round % 2 != 0;
        struct pm_buf text = PM_BUF_INIT(1 << 20);
        pm_source_function_write(function, &text);
        assert_false(text.failed);
        struct pm_intern *strings = pm_intern_new();
        struct pm_source_function *read = pm_source_function_read(text.data, strings);
        assert_non_null(read);
        assert_int_equal(read->id, function->id);
        assert_string_equal(read->linkage, "sweep");
        assert_string_equal(read->place.shown, "heat.c");
        assert_int_equal(read->end_line, round);
        assert_int_equal(read->abstract, function->abstract);
        assert_true(read->scanned);
        assert_int_equal(read->n_loops, function->n_loops);
        for (uint32_t i = 0; i < read->n_loops; i++)
            assert_same_loop(&read->loops[i], &function->loops[i]);
        pm_source_function_free(read);
        pm_intern_free(strings);
        pm_buf_release(&text);
        pm_source_function_free(function);
    }
}

static void the_text_is_that_of_objects_compiled_before(void **state)
{
    (void)state;
    struct pm_place place = {"/src/a\nb.c", "a\nb.c", 3, 12};
    struct pm_source_function *function =
        pm_source_function_new("_ZL1fv", "f()", place.file, &place);
    struct pm_place begin = {place.file, place.shown, 4, 5};
    assert_int_equal(pm_source_loop_add(function, &begin, -1), 0);
    struct pm_source_loop *loop = &function->loops[0];
    loop->last = (struct pm_text_point){6, 9};
    assert_true(pm_source_loop_exclude(loop, (struct pm_text_point){4, 10}));
    struct pm_buf text = PM_BUF_INIT(1024);
    pm_source_function_write(function, &text);
    assert_string_equal(text.data, "1\n_ZL1fv\nf()\n/src/a\1b.c\na\1b.c\n3 12 0\n"
                                   "\n\n4 5 4 5 6 9 -1 1 0 0 1 4 10 \n");
    struct pm_intern *strings = pm_intern_new();
    struct pm_source_function *read = pm_source_function_read(text.data, strings);
    assert_string_equal(read->loops[0].file, "/src/a\nb.c");
    assert_ptr_equal(read->loops[0].file, read->place.file);
    assert_true(read->local);
    pm_source_function_free(read);
    pm_intern_free(strings);
    pm_buf_release(&text);
    pm_source_function_free(function);
}

static void another_folder_is_the_same_file_only_to_who_read_the_table(void **state)
{
    (void)state;
    struct pm_source_function *function = new_function();
    struct pm_place place = at(42, 5);
    pm_source_loop_add(function, &place, -1);
    assert_true(pm_source_loops_sort(function));
    struct pm_text_point point = {42, 5};
    assert_int_equal(pm_source_loop_at(function, "/src/heat.c", point), 0);
    assert_int_equal(pm_source_loop_at(function, "/build/../src/heat.c", point), -1);
    function->was_read = true;
    assert_int_equal(pm_source_loop_at(function, "/build/../src/heat.c", point), 0);
    assert_int_equal(pm_source_loop_at(function, "/src/cool.c", point), -1);
    pm_source_function_free(function);
}

static void where_memory_ends_nothing_is_half_read(void **state)
{
    (void)state;
    static const char text[] = "0\nsweep\nsweep\n/src/heat.c\nheat.c\n1 1 60\n"
                               "\n\n42 5 42 5 50 9 -1 1 0 0 2 42 10 42 20 \n";
    struct pm_source_function *function = NULL;
    for (long n = 1; !function; n++) {
        struct pm_intern *strings = pm_intern_new();
        pm_alloc_fail_at(n);
        function = pm_source_function_read(text, strings);
        bool pending = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(function != NULL, pending);
        if (function)
            assert_int_equal(pm_source_loop_at(function, file, (struct pm_text_point){45, 1}), 0);
        pm_source_function_free(function);
        pm_intern_free(strings);
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_in_the_loops_that_hold_them),
        cmocka_unit_test(a_place_is_one_loop_and_a_line_may_have_several),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(the_text_is_that_of_objects_compiled_before),
        cmocka_unit_test(another_folder_is_the_same_file_only_to_who_read_the_table),
        cmocka_unit_test(where_memory_ends_nothing_is_half_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
