/* Traces in run files: their parts in order, events that nest, what was cut off. */
#include "mapping/run/run_trace.h"
#include "make_trace.h"
#include "trace_by_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void make(struct make_trace *f, uint32_t n_parts)
{
    make_trace_init(f);
    make_trace_thread(f, 100);
    make_run_end(&f->run, 5000);
    make_trace_space(f, n_parts);
}

/* All events as text: "+f1@1010" enter of noun 0 with context 1, "-f1@1050" its leave; "?" cut,
 * "/" it waits, or goes on, "~" on a foreign stack. */
static void expect(struct make_trace *f, const char *expected, size_t n_complaints)
{
    struct pm_run_file *file;
    struct pm_run_trace_cursor *cursor;
    struct pm_run_trace_event e;
    struct pm_error err = PM_ERROR_INIT;
    bool has_event;
    char text[4000] = "";
    size_t len = 0;
    assert_int_equal(pm_run_file_parse("test", f->run.data, f->run.len, NULL, &err, &file), PM_OK);
    assert_int_equal(pm_run_file_n_complaints(file), n_complaints);
    assert_int_equal(pm_run_trace_parse(f->run.data, f->run.len, file, 0, &err, &cursor), PM_OK);
    while (pm_run_trace_next(cursor, &err, &e, &has_event) == PM_OK && has_event) {
        len +=
            (size_t)snprintf(text + len, sizeof text - len, "%s%s%c", len ? " " : "",
                             e.flags & PM_RUN_TRACE_ON_FOREIGN ? "~" : "", e.is_leave ? '-' : '+');
        if (e.noun == PM_RUN_TRACE_NONE)
            len += (size_t)snprintf(text + len, sizeof text - len, "none");
        else
            len += (size_t)snprintf(text + len, sizeof text - len, "%c", "fgh"[e.noun]);
        if (e.node != PM_RUN_TRACE_NONE)
            len += (size_t)snprintf(text + len, sizeof text - len, "%u", e.node);
        len += (size_t)snprintf(text + len, sizeof text - len, "@%llu%s", (unsigned long long)e.tsc,
                                e.flags & PM_RUN_TRACE_CUT        ? "?"
                                : e.flags & PM_RUN_TRACE_SWITCHED ? "/"
                                                                  : "");
        if (e.is_leave)
            assert_true(e.spent_tsc <= e.tsc - e.enter_tsc || e.tsc < e.enter_tsc);
        assert_true(len < sizeof text - 100);
    }
    assert_string_equal(text, expected);
    pm_run_trace_close(cursor);
    (void)trace_by_parts_check(f->run.data, f->run.len, file, 0);
    pm_run_file_free(file);
    make_run_release(&f->run);
}

static void events_come_in_order_with_their_contexts(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 1);
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010), make_trace_enter(1, 1020),
                                 make_trace_leave(1, 1030), make_trace_leave(0, 1040),
                                 make_trace_enter(2, 1050), make_trace_leave(2, 1060)},
                    6);
    expect(&f, "+f1@1010 +g2@1020 -g2@1030 -f1@1040 +h4@1050 -h4@1060", 0);
}

static void parts_come_before_the_head_whatever_their_places(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 2);
    make_trace_part(&f, 0, 8, 1, 1025, f.nodes[2], (uint64_t[]){make_trace_leave(1, 1030)}, 1);
    make_trace_part(&f, 1, 7, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010), make_trace_enter(1, 1020)}, 2);
    make_trace_head(&f, 2, 1035, f.nodes[1], (uint64_t[]){make_trace_leave(0, 1040)}, 1);
    expect(&f, "+f1@1010 +g2@1020 -g2@1030 -f1@1040", 0);
}

static void a_part_that_was_being_written_does_not_count(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 1);
    make_trace_part(&f, 0, 8, 0, 1005, f.nodes[0], (uint64_t[]){make_trace_enter(1, 1010)}, 1)
        ->serial = 9;
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010), make_trace_leave(0, 1020)}, 2);
    expect(&f, "+f1@1010 -f1@1020", 0);
}

static void a_head_that_was_being_emptied_does_not_count(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 1);
    make_trace_part(&f, 0, 8, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010), make_trace_leave(0, 1020)}, 2);
    make_trace_head(&f, 0, 1005, f.nodes[0], (uint64_t[]){0, make_trace_leave(0, 1020)}, 2);
    expect(&f, "+f1@1010 -f1@1020", 0);
}

static void a_trace_without_its_begin_starts_with_what_was_open(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 1);
    make_trace_head(&f, 5, 1025, f.nodes[2],
                    (uint64_t[]){make_trace_enter(2, 1030), make_trace_leave(2, 1035),
                                 make_trace_leave(1, 1040), make_trace_leave(0, 1050)},
                    4);
    expect(&f, "+f1@1025? +g2@1025? +h3@1030 -h3@1035 -g2@1040 -f1@1050", 0);
}

static void what_is_open_at_the_end_ends_with_the_process(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 1);
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010), make_trace_enter(1, 1020)}, 2);
    expect(&f, "+f1@1010 +g2@1020 -g2@5000? -f1@5000?", 0);
}

static void a_trace_that_was_stopped_ends_with_its_last_event(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 1);
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010), make_trace_enter(1, 1020)}, 2)
        ->flags = PM_RUN_TRACE_STOPPED;
    expect(&f, "+f1@1010 +g2@1020 -g2@1020? -f1@1020?", 0);
}

static void leaves_that_were_lost_are_made_up(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 1);
    /* g's leave is a hole; h has no enter. */
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010), make_trace_enter(1, 1020), 0,
                                 make_trace_leave(2, 1035), make_trace_leave(0, 1040)},
                    5);
    expect(&f, "+f1@1010 +g2@1020 -g2@1040? -f1@1040", 0);
}

static void a_new_part_ends_what_the_tree_has_not(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 1);
    make_trace_part(&f, 0, 1, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010), make_trace_enter(1, 1020), 0}, 3);
    make_trace_head(&f, 1, 1025, f.nodes[1], (uint64_t[]){make_trace_leave(0, 1040)}, 1);
    expect(&f, "+f1@1010 +g2@1020 -g2@1025? -f1@1040", 0);
}

static void foreign_stacks_nest_apart_and_take_no_time_from_the_own(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 1);
    const uint64_t foreign = (uint64_t)PM_RUN_TRACE_FOREIGN << 40;
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010), make_trace_enter(1, 1020) | foreign,
                                 make_trace_leave(0, 1030), make_trace_leave(1, 1040) | foreign},
                    4);
    expect(&f, "+f1@1010 ~+g@1020 -f1@1030 ~-g@1040", 0);
}

static void the_clock_goes_on_beyond_40_bits(void **state)
{
    (void)state;
    struct make_trace f;
    uint64_t far = ((uint64_t)7 << 41) + 5;
    make(&f, 1);
    make_run_end(&f.run, far + 1000);
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010), (uint64_t)1 << 62 | far,
                                 make_trace_leave(0, far), make_trace_enter(2, far + 20),
                                 make_trace_leave(2, far + 10)},
                    5);
    expect(&f, "+f1@1010 -f1@15393162788869 +h4@15393162788889 -h4@15393162788879", 0);
}

static void nouns_that_are_not_known_are_said_so(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 1);
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(PM_RUN_TRACE_MANY, 1010),
                                 make_trace_enter(77, 1020), make_trace_leave(77, 1030),
                                 make_trace_leave(PM_RUN_TRACE_MANY, 1040)},
                    4);
    expect(&f, "+none@1010 +none@1020 -none@1030 -none@1040", 0);
}

static void the_end_of_a_thread_ends_its_calls(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 1);
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010),
                                 make_trace_leave(PM_RUN_TRACE_MARK_END, 1020),
                                 make_trace_enter(2, 1030), make_trace_leave(2, 1040)},
                    4);
    expect(&f, "+f1@1010 -f1@1020 +h4@1030 -h4@1040", 0);
}

/* Contexts of a coroutine: its root 5, g in it 6, h in g 7; node 8 is in none of them. */
static void add_coroutine(struct make_trace *f, uint64_t nodes[4])
{
    nodes[0] = make_run_node(&f->run, 0, PM_RUN_NOUN_ROOT, 1, 1000, 0, 0);
    make_run_node_at(&f->run, nodes[0])->flags = PM_RUN_NODE_FOREIGN_STACK | PM_RUN_NODE_COROUTINE;
    nodes[1] = make_run_node(&f->run, nodes[0], 1, 1, 1020, 0, 0);
    nodes[2] = make_run_node(&f->run, nodes[1], 2, 1, 1030, 0, 0);
    nodes[3] = nodes[2] + 128;
    for (int i = 1; i < 3; i++)
        make_run_node_at(&f->run, nodes[i])->flags = PM_RUN_NODE_TIMED;
}

#define SWITCH(tsc, node)                            \
    make_trace_leave(PM_RUN_TRACE_MARK_SWITCH, tsc), \
        make_trace_leave(PM_RUN_TRACE_MARK_TREE, (node) / 64)

static void what_waits_goes_on_where_it_was(void **state)
{
    (void)state;
    struct make_trace f;
    uint64_t own[4];
    make(&f, 1);
    add_coroutine(&f, own);
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010), SWITCH(1020, own[0]),
                                 make_trace_enter(1, 1030), SWITCH(1040, f.nodes[1]),
                                 make_trace_enter(1, 1050), make_trace_leave(1, 1060),
                                 SWITCH(1070, own[1]), make_trace_leave(1, 1080),
                                 SWITCH(1090, f.nodes[1]), make_trace_leave(0, 1100)},
                    14);
    expect(&f,
           "+f1@1010 -f1@1020/ +g6@1030 -g6@1040/ +f1@1040/ +g2@1050 -g2@1060 -f1@1070/ "
           "+g6@1070/ -g6@1080 +f1@1090/ -f1@1100",
           0);
}

static void a_stack_has_other_frames_when_it_was_made_again(void **state)
{
    (void)state;
    struct make_trace f;
    uint64_t own[4];
    make(&f, 1);
    add_coroutine(&f, own);
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){SWITCH(1020, own[0]), make_trace_enter(1, 1030),
                                 make_trace_enter(2, 1035), SWITCH(1040, f.nodes[0]),
                                 SWITCH(1050, own[0]), make_trace_enter(1, 1060),
                                 make_trace_leave(1, 1070)},
                    10);
    expect(&f, "+g6@1030 +h7@1035 -h7@1040/ -g6@1040/ +g6@1060 -g6@1070", 0);
}

static void frames_of_another_thread_go_on(void **state)
{
    (void)state;
    struct make_trace f;
    uint64_t own[4];
    make(&f, 1);
    add_coroutine(&f, own);
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_leave(PM_RUN_TRACE_MARK_SWITCH, 1020),
                                 make_trace_event(PM_RUN_TRACE_LEAVE | PM_RUN_TRACE_MARK_TREE,
                                                  own[2] / 64 | PM_RUN_TRACE_COPIED),
                                 make_trace_leave(2, 1030), make_trace_leave(1, 1040)},
                    4);
    expect(&f, "+g6@1020/ +h7@1020/ -h7@1030 -g6@1040", 0);
}

static void parts_know_the_tree_that_they_begin_in(void **state)
{
    (void)state;
    struct make_trace f;
    uint64_t own[4];
    make(&f, 2);
    add_coroutine(&f, own);
    make_trace_part(&f, 0, 1, 0, 1005, f.nodes[0], (uint64_t[]){make_trace_enter(0, 1010)}, 1);
    make_trace_part(&f, 1, 2, 2, 1020, own[1],
                    (uint64_t[]){make_trace_enter(2, 1030), make_trace_leave(2, 1040),
                                 SWITCH(1050, f.nodes[1]), make_trace_leave(0, 1060)},
                    5);
    expect(&f, "+f1@1010 -f1@1020? +g6@1020? +h7@1030 -h7@1040 -g6@1050/ +f1@1050/ -f1@1060", 0);
}

static void half_a_switch_and_one_to_nowhere_have_no_effect(void **state)
{
    (void)state;
    struct make_trace f;
    uint64_t own[4];
    make(&f, 1);
    add_coroutine(&f, own);
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010),
                                 make_trace_leave(PM_RUN_TRACE_MARK_SWITCH, 1020), 0,
                                 SWITCH(1030, 64), SWITCH(1040, own[3]), SWITCH(1045, 0),
                                 make_trace_leave(0, 1050)},
                    10);
    expect(&f, "+f1@1010 -f1@1050", 0);
}

static void damage_is_told(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 2);
    make_trace_part(&f, 0, 1, 0, 1005, f.nodes[0], (uint64_t[]){make_trace_enter(0, 1010)}, 1);
    make_trace_part(&f, 1, 2, 0, 1005, f.nodes[0], (uint64_t[]){make_trace_enter(1, 1010)},
                    1); /* number twice */
    make_trace_head(&f, 1, 1020, f.nodes[1], (uint64_t[]){make_trace_leave(0, 1030)}, 1)
        ->chunk.n_items = 1 << 20;
    make_trace_head(&f, 2, 1030, f.nodes[0], (uint64_t[]){make_trace_enter(1, 1010)}, 1)
        ->chunk.owner = 4096;
    expect(&f, "+f1@1010 -f1@1030", 3);
}

static void a_space_of_nonsense_is_passed_over(void **state)
{
    (void)state;
    struct make_trace f;
    make(&f, 1);
    ((struct pm_run_chunk *)make_run_at(&f.run, f.space))->n_items = 1000000;
    make_trace_head(&f, 0, 1005, f.nodes[0],
                    (uint64_t[]){make_trace_enter(0, 1010), make_trace_leave(0, 1020)}, 2);
    expect(&f, "+f1@1010 -f1@1020", 1);
}

/* --- parts on their own --- */

enum { N_PARTS = 100 };

static size_t walk_by_parts(uint32_t seed, uint32_t odd, uint32_t gap)
{
    struct make_trace f;
    struct make_trace_walk w = {.state = seed, .odd = odd, .tsc = 1005};
    struct pm_run_file *file;
    struct pm_error err = PM_ERROR_INIT;
    make_trace_init(&f);
    make_trace_thread(&f, 100);
    make_trace_walking(&f, &w, N_PARTS, gap);
    make_run_end(&f.run, w.tsc + 1000);
    assert_int_equal(pm_run_file_parse("test", f.run.data, f.run.len, NULL, &err, &file), PM_OK);
    size_t n_joined = trace_by_parts_check(f.run.data, f.run.len, file, 0);
    pm_run_file_free(file);
    make_run_release(&f.run);
    return n_joined;
}

static void parts_on_their_own_are_those_of_the_whole(void **state)
{
    (void)state;
    assert_int_equal(walk_by_parts(1, 0, 0), N_PARTS - 1); /* all but the first */
    assert_int_equal(walk_by_parts(2, 0, 50), N_PARTS - 2);
    size_t n_joined = 0;
    for (uint32_t seed = 3; seed < 60; seed++)
        n_joined += walk_by_parts(seed, 10u << seed % 10, seed % 3 ? 0 : seed);
    assert_true(n_joined > 20 * N_PARTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_on_their_own_are_those_of_the_whole),
        cmocka_unit_test(events_come_in_order_with_their_contexts),
        cmocka_unit_test(parts_come_before_the_head_whatever_their_places),
        cmocka_unit_test(a_part_that_was_being_written_does_not_count),
        cmocka_unit_test(a_head_that_was_being_emptied_does_not_count),
        cmocka_unit_test(a_trace_without_its_begin_starts_with_what_was_open),
        cmocka_unit_test(what_is_open_at_the_end_ends_with_the_process),
        cmocka_unit_test(a_trace_that_was_stopped_ends_with_its_last_event),
        cmocka_unit_test(leaves_that_were_lost_are_made_up),
        cmocka_unit_test(a_new_part_ends_what_the_tree_has_not),
        cmocka_unit_test(foreign_stacks_nest_apart_and_take_no_time_from_the_own),
        cmocka_unit_test(the_clock_goes_on_beyond_40_bits),
        cmocka_unit_test(nouns_that_are_not_known_are_said_so),
        cmocka_unit_test(the_end_of_a_thread_ends_its_calls),
        cmocka_unit_test(what_waits_goes_on_where_it_was),
        cmocka_unit_test(a_stack_has_other_frames_when_it_was_made_again),
        cmocka_unit_test(frames_of_another_thread_go_on),
        cmocka_unit_test(parts_know_the_tree_that_they_begin_in),
        cmocka_unit_test(half_a_switch_and_one_to_nowhere_have_no_effect),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(a_space_of_nonsense_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
