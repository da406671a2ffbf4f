/* Clocks, ends and own times of run files. */
#include "read_run.h"

/* Of thread 100 with three nouns; the place of its root comes back. end_tsc 0: it was killed. */
static uint64_t start_run(struct make_run *run, uint64_t end_tsc, uint64_t sp, uint64_t n_calls,
                          uint64_t inclusive_tsc)
{
    make_run_init(run, 100);
    make_run_object(run, "/bin/heat", "", 0, three_nouns, 3);
    make_run_thread(run, 100, 1000, end_tsc, 8);
    return make_run_node(run, 0, PM_RUN_NOUN_ROOT, sp, 1000, n_calls, inclusive_tsc);
}

static void open_frames_end_with_what_is_known(void **state)
{
    (void)state;
    struct make_run run;
    make_killed(&run);
    make_run_header(&run)->last_tsc = 1800;
    struct pm_run_clock clock = {.end_tsc = 2000, .first_pid = 100};

    struct pm_run_file *file = parse(&run, NULL); /* nothing but the file: last_tsc */
    no_complaints(file);
    assert_int_equal(pm_run_file_process(file)->end_kind, PM_RUN_FILE_KILLED);
    assert_int_equal(pm_run_file_process(file)->end_ns, 800);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_true(thread->nodes[2].open);
    assert_int_equal(thread->nodes[1].inclusive_ns, 600);
    assert_int_equal(thread->nodes[2].inclusive_ns, 100 + 300);
    assert_int_equal(thread->nodes[2].own_ns, 340);
    assert_int_equal(checked_sum(file, thread), 800);
    pm_run_file_free(file);

    file = parse(&run, &clock); /* `perfmap run` saw it end */
    assert_int_equal(pm_run_file_process(file)->end_kind, PM_RUN_FILE_KILLED);
    assert_int_equal(pm_run_file_process(file)->end_ns, 1000);
    assert_int_equal(pm_run_file_thread(file, 0)->nodes[1].inclusive_ns, 800);
    assert_int_equal(checked_sum(file, pm_run_file_thread(file, 0)), 1000);
    pm_run_file_free(file);

    clock.first_pid = 99; /* another process's end says nothing */
    file = parse(&run, &clock);
    assert_int_equal(pm_run_file_process(file)->end_ns, 800);
    pm_run_file_free(file);

    make_run_end(&run, 3000); /* _exit: the process knows its end, the thread does not */
    file = parse(&run, &clock);
    assert_int_equal(pm_run_file_process(file)->end_kind, PM_RUN_FILE_EXIT);
    assert_int_equal(pm_run_file_thread(file, 0)->nodes[1].inclusive_ns, 1800);
    assert_int_equal(checked_sum(file, pm_run_file_thread(file, 0)), 2000);
    pm_run_file_free(file);

    make_run_header(&run)->flags |= PM_RUN_FLAG_EXEC;
    file = parse(&run, &clock);
    assert_int_equal(pm_run_file_process(file)->end_kind, PM_RUN_FILE_EXEC);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void without_any_later_time_the_last_start_is_the_end(void **state)
{
    (void)state;
    struct make_run run;
    make_killed(&run);
    struct pm_run_file *file = parse(&run, NULL);
    assert_int_equal(pm_run_file_process(file)->end_ns, 600);
    assert_int_equal(checked_sum(file, pm_run_file_thread(file, 0)), 600);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void the_end_of_a_killed_process_fits_all_times_in_its_file(void **state)
{
    (void)state;
    struct make_run run;
    uint64_t root = start_run(&run, 0, 1, 1, 0);
    uint64_t main_node = make_run_node(&run, root, 0, 0x7000, 1100, 1, 0);
    make_run_node(&run, main_node, 1, 0, 1500, 3, 600); /* in all three activations */
    make_run_node(&run, main_node, 2, 0, 1250, 1, 100);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    /* Within main, since 1100: 600 and 100. */
    assert_int_equal(pm_run_file_process(file)->end_ns, 800);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->nodes[1].inclusive_ns, 700);
    assert_int_equal(thread->nodes[1].own_ns, 0);
    assert_int_equal(checked_sum(file, thread), 800);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void an_activation_not_yet_counted_raises_its_parent(void **state)
{
    (void)state;
    struct make_run run;
    uint64_t root = start_run(&run, 0, 1, 0, 0);
    /* Killed when main had left its frame and had not yet added its 900. */
    uint64_t main_node = make_run_node(&run, root, 0, 0, 1050, 1, 0);
    uint64_t f = make_run_node(&run, main_node, 1, 0, 1100, 1, 850);
    make_run_node(&run, f, 2, 0, 1600, 3, 60);
    make_run_header(&run)->last_tsc = 2000;
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->nodes[0].own_ns, 150);
    assert_int_equal(thread->nodes[1].inclusive_ns, 850);
    assert_int_equal(thread->nodes[1].own_ns, 0);
    assert_int_equal(thread->nodes[2].own_ns, 790);
    assert_int_equal(checked_sum(file, thread), 1000);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void more_than_the_wall_time_is_shared_out(void **state)
{
    (void)state;
    struct make_run run;
    uint64_t root = start_run(&run, 2000, 0, 0, 1000);
    uint64_t a = make_run_node(&run, root, 0, 0, 1000, 1, 900);
    make_run_node(&run, root, 1, 0, 1000, 1, 600);
    make_run_node(&run, a, 2, 0, 1000, 1, 450);
    uint64_t damaged = make_run_node(&run, root, 2, 0, 1000, 1, UINT64_MAX);
    make_run_end(&run, 2000);
    struct pm_run_file *file = parse(&run, NULL);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(pm_run_file_n_complaints(file), 1);
    assert_string_equal(pm_run_file_complaint(file, 0),
                        "run file 'x.pmr' byte 8192: 1 contexts of thread 100 have more time than "
                        "the thread, 1000 ns");
    assert_int_equal(thread->nodes[0].own_ns, 0);
    assert_int_equal(thread->nodes[1].inclusive_ns, 600);
    assert_int_equal(thread->nodes[1].own_ns, 150);
    assert_int_equal(thread->nodes[2].own_ns, 400);
    assert_int_equal(thread->nodes[3].own_ns, 450);
    assert_int_equal(thread->nodes[4].own_ns, 0);
    assert_int_equal(checked_sum(file, thread), 1000);
    (void)damaged;
    pm_run_file_free(file);
    make_run_release(&run);
}

static void a_frame_that_waited_to_be_healed_adds_nothing(void **state)
{
    (void)state;
    struct make_run run;
    uint64_t root = start_run(&run, 0, 1, 0, 0);
    uint64_t main_node = make_run_node(&run, root, 0, 0x7000, 1700, 2, 400); /* entered again */
    make_run_node(&run, main_node, 1, 0x6000, 1200, 2, 100); /* left by longjmp, older than it */
    uint64_t closed = make_run_node(&run, root, 2, 0, 1100, 1, 50);
    make_run_node(&run, closed, 1, 0x6000, 1120, 1, 20); /* its parent is gone */
    make_run_header(&run)->last_tsc = 2000;
    struct pm_run_file *file = parse(&run, NULL);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->nodes[1].inclusive_ns, 700);
    assert_int_equal(thread->nodes[2].inclusive_ns, 100);
    assert_int_equal(thread->nodes[4].inclusive_ns, 20);
    assert_int_equal(checked_sum(file, thread), 1000);
    pm_run_file_free(file);
    make_run_release(&run);
}

/* The process notes its end at 2000, its second thread runs on until the kernel ends it. */
static void threads_that_run_on_end_with_their_last_event(void **state)
{
    (void)state;
    struct make_run run;
    start_run(&run, 0, 1, 1, 0);
    make_run_thread(&run, 101, 1100, 0, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 1, 1100, 1, 0);
    uint64_t loop = make_run_node(&run, root, 0, 0x7000, 1150, 1, 0);
    make_run_node(&run, loop, 1, 0, 2290, 50, 900);
    make_run_node(&run, loop, 2, 0x6000, 2300, 1, 0); /* began behind the end */
    make_run_thread(&run, 102, 1200, 0, 8);
    root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 1, 1200, 1, 0);
    make_run_node(&run, root, 0, 0, 1990, 10, 700); /* two kinds of calls, 1000 ticks in all */
    make_run_node(&run, root, 1, 0, 1980, 10, 300);
    make_run_end(&run, 2000);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    assert_int_equal(pm_run_file_process(file)->end_ns, 1300);
    assert_int_equal(pm_run_file_thread(file, 0)->end_ns, 1000);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 1);
    assert_int_equal(thread->end_ns, 1300);
    assert_int_equal(thread->nodes[1].inclusive_ns, 2300 - 1150);
    assert_int_equal(thread->nodes[2].inclusive_ns, 900);
    assert_int_equal(checked_sum(file, thread), 1200);
    thread = pm_run_file_thread(file, 2);
    assert_int_equal(thread->end_ns, 1200);
    assert_int_equal(thread->nodes[1].own_ns, 700);
    assert_int_equal(thread->nodes[2].own_ns, 300);
    assert_int_equal(checked_sum(file, thread), 1000);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void foreign_stacks_have_roots_of_their_own(void **state)
{
    (void)state;
    struct make_run run;
    uint64_t root = start_run(&run, 2000, 0, 0, 1000);
    make_run_node(&run, root, 0, 0, 1000, 1, 1000);
    uint64_t other = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 0, 0, 0);
    make_run_node_at(&run, other)->flags = PM_RUN_NODE_FOREIGN_STACK;
    make_run_node(&run, other, 1, 0, 1000, 4, 250);
    make_run_end(&run, 2000);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->foreign_ns, 250);
    assert_int_equal(thread->nodes[2].flags, PM_RUN_NODE_FOREIGN_STACK);
    assert_int_equal(thread->nodes[3].own_ns, 250);
    assert_int_equal(checked_sum(file, thread), 750);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void threads_that_shared_a_slot_leave_gaps_out(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/bin/heat", "", 0, three_nouns, 3);
    uint64_t thread_at = make_run_thread(&run, 100, 1000, 0, 8);
    ((struct pm_run_thread *)make_run_at(&run, thread_at))->n_threads = 3;
    uint64_t root =
        make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 1, 1900, 0, 500); /* two ended, one since 1900 */
    make_run_node(&run, root, 0, 0x7000, 1950, 3, 450);
    make_run_end(&run, 2000);
    struct pm_run_file *file = parse(&run, NULL);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->n_threads, 3);
    assert_int_equal(thread->wall_ns, 600);
    assert_int_equal(thread->nodes[1].inclusive_ns, 500);
    assert_int_equal(checked_sum(file, thread), 600);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void rounding_loses_no_time(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_header(&run)->tsc_hz = 2596000000;
    make_run_object(&run, "/bin/heat", "", 0, three_nouns, 3);
    for (uint64_t i = 0; i < 20; i++) {
        make_run_thread(&run, 100, 1001 + i, 9999 + 7 * i, 8);
        uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1001 + i, 0, 8998 + 6 * i);
        uint64_t all = make_run_node(&run, root, 0, 0, 1001 + i, 1, 8998 + 6 * i);
        make_run_node(&run, all, 1, 0, 1001, 1, 1001 + i);
        make_run_node(&run, all, 2, 0, 1001, 1, 3003 + i);
    }
    make_run_end(&run, 12345);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    for (size_t i = 0; i < 20; i++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
        assert_true(thread->wall_ns == thread->end_ns - thread->start_ns);
        assert_true(checked_sum(file, thread) == thread->wall_ns);
    }
    pm_run_file_free(file);
    make_run_release(&run);
}

static uint64_t hz_of(struct make_run *run, const struct pm_run_clock *clock, size_t n_complaints)
{
    struct pm_run_file *file = parse(run, clock);
    uint64_t hz = pm_run_file_process(file)->tsc_hz;
    assert_int_equal(pm_run_file_n_complaints(file), n_complaints);
    pm_run_file_free(file);
    return hz;
}

/* The run's clock says nothing of a process on another machine: neither how fast ticks are, nor
 * when the process of that number ended. */
static void the_clock_of_another_machine_is_left_alone(void **state)
{
    static const struct {
        const char *node;
        bool is_elsewhere;
        uint64_t hz, start_ns;
        uint64_t clock_tsc; /* at the process's start; 0: not known */
    } cases[] = {{"", false, 3000000000, 0, 0},
                 {"front", false, 3000000000, 0, 0},
                 {"node17", true, 2500000000, 400, 0},
                 {"container", false, 3000000000, 0, 1000},
                 {"node17", true, 2500000000, 400, 1000000}};
    struct pm_run_clock clock = {.tsc_hz = 3000000000,
                                 .end_tsc = 900000,
                                 .first_pid = 100,
                                 .node = "front",
                                 .start_realtime_ns = 1699999999999999600};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct make_run run;
        make_run_init(&run, 100);
        struct pm_run_header *header = make_run_header(&run);
        make_run_place(&run, cases[i].node, "");
        header->tsc_hz = 0;
        header->last_tsc = header->start_tsc + 5000;
        header->last_monotonic_ns = header->start_monotonic_ns + 2000;
        clock.start_tsc = cases[i].clock_tsc;
        clock.start_monotonic_ns = cases[i].clock_tsc ? header->start_monotonic_ns : 0;
        struct pm_run_file *file = parse(&run, &clock);
        const struct pm_run_file_process *process = pm_run_file_process(file);
        assert_int_equal(process->is_elsewhere, cases[i].is_elsewhere);
        assert_int_equal(process->elsewhere_start_ns, cases[i].start_ns);
        assert_true(process->tsc_hz == cases[i].hz);
        assert_int_equal(process->end_ns, cases[i].is_elsewhere ? 2000 : 899000 / 3);
        pm_run_file_free(file);
        make_run_release(&run);
    }
}

static void the_clock_rate_is_taken_in_the_stated_order(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    struct pm_run_header *header = make_run_header(&run);
    struct pm_run_clock clock = {.tsc_hz = 3000000000};
    header->tsc_hz = 2000000000;
    assert_true(hz_of(&run, &clock, 0) == 2000000000);
    header->tsc_hz = 3; /* cannot be */
    assert_true(hz_of(&run, &clock, 1) == 3000000000);
    header->tsc_hz = 0;
    assert_true(hz_of(&run, &clock, 0) == 3000000000);
    header->last_tsc = header->start_tsc + 5000;
    header->last_monotonic_ns =
        header->start_monotonic_ns + 2000; /* too short while there is better */
    clock = (struct pm_run_clock){0, 1, 1, 4000000001, 1000000001, 0};
    assert_true(hz_of(&run, &clock, 0) == 4000000000);
    assert_true(hz_of(&run, NULL, 0) == 2500000000);
    make_run_end(&run, 1000 + 2200000);
    header->end_monotonic_ns = header->start_monotonic_ns + 1000000;
    assert_true(hz_of(&run, NULL, 0) == 2200000000);
    header->flags = 0;
    header->last_tsc = 0;
    assert_true(hz_of(&run, NULL, 1) == 1000000000);
    make_run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_frames_end_with_what_is_known),
        cmocka_unit_test(without_any_later_time_the_last_start_is_the_end),
        cmocka_unit_test(the_end_of_a_killed_process_fits_all_times_in_its_file),
        cmocka_unit_test(an_activation_not_yet_counted_raises_its_parent),
        cmocka_unit_test(more_than_the_wall_time_is_shared_out),
        cmocka_unit_test(a_frame_that_waited_to_be_healed_adds_nothing),
        cmocka_unit_test(threads_that_run_on_end_with_their_last_event),
        cmocka_unit_test(foreign_stacks_have_roots_of_their_own),
        cmocka_unit_test(threads_that_shared_a_slot_leave_gaps_out),
        cmocka_unit_test(rounding_loses_no_time),
        cmocka_unit_test(the_clock_rate_is_taken_in_the_stated_order),
        cmocka_unit_test(the_clock_of_another_machine_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
