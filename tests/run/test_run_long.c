/* Programs that run for months: no time and no count overflows on its way from the run file to
 * nanoseconds. */
#include "read_run.h"

static const uint64_t day_ns = UINT64_C(86400) * 1000000000;
static const uint64_t hz = UINT64_C(2595123456); /* not a divisor of anything */

static uint64_t ticks(uint64_t ns)
{
    return (uint64_t)((unsigned __int128)ns * hz / 1000000000);
}

static bool is_near(uint64_t ns, uint64_t expected)
{
    return ns >= expected - expected / 1000000000 - 2 && ns <= expected + expected / 1000000000 + 2;
}

/* The counter of a machine that has been up for years, a process of n days, half of it in one
 * function. */
static void make_long(struct make_run *run, uint64_t n_days, uint64_t *ret_end_tsc)
{
    uint64_t start = ticks(3000 * day_ns), end = start + ticks(n_days * day_ns),
             half = (end - start) / 2;
    make_run_init(run, 100);
    struct pm_run_header *header = make_run_header(run);
    header->tsc_hz = 0;
    header->start_tsc = start;
    header->start_monotonic_ns = 3000 * day_ns;
    make_run_object(run, "/bin/heat", "", 0, three_nouns, 3);
    make_run_thread(run, 100, start, end, 8);
    uint64_t root = make_run_node(run, 0, PM_RUN_NOUN_ROOT, 0, start, 1, end - start);
    uint64_t outer = make_run_node(run, root, 0, 0, start, UINT64_C(1) << 62, half);
    make_run_node(run, outer, 1, 0, start, UINT64_C(3) << 60, half / 2);
    *ret_end_tsc = end;
}

static void months_are_exact(void **state)
{
    (void)state;
    for (uint64_t n_days = 1; n_days < 3000; n_days = n_days * 3 + 1) {
        struct make_run run;
        uint64_t end;
        make_long(&run, n_days, &end);
        make_run_end(&run, end);
        make_run_header(&run)->end_monotonic_ns = (3000 + n_days) * day_ns;
        struct pm_run_file *file = parse(&run, NULL);
        no_complaints(file);
        assert_true(is_near(pm_run_file_process(file)->end_ns, n_days * day_ns));
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
        assert_true(is_near(thread->nodes[1].inclusive_ns, n_days * day_ns / 2));
        assert_true(is_near(thread->nodes[2].inclusive_ns, n_days * day_ns / 4));
        assert_true(thread->nodes[1].n_calls == UINT64_C(1) << 62);
        assert_true(checked_sum(file, thread) == thread->wall_ns);
        pm_run_file_free(file);
        make_run_release(&run);
    }
}

/* The pair that the runtime renews tells the clock's rate and the end. */
static void killed_after_months(void **state)
{
    (void)state;
    struct make_run run;
    uint64_t end;
    make_long(&run, 400, &end);
    make_run_header(&run)->last_tsc = end;
    make_run_header(&run)->last_monotonic_ns = 3400 * day_ns;
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    assert_int_equal(pm_run_file_process(file)->end_kind, PM_RUN_FILE_KILLED);
    assert_true(is_near(pm_run_file_process(file)->end_ns, 400 * day_ns));
    assert_true(checked_sum(file, pm_run_file_thread(file, 0)) ==
                pm_run_file_thread(file, 0)->wall_ns);
    pm_run_file_free(file);
    make_run_release(&run);
}

/* A context that is open for all that time: a server's main loop. */
static void open_for_months(void **state)
{
    (void)state;
    struct make_run run;
    uint64_t end;
    make_long(&run, 400, &end);
    uint64_t start = make_run_header(&run)->start_tsc;
    uint64_t loop =
        make_run_node(&run, run.thread + PM_RUN_THREAD_NODES, 2, 0x7000, start + 1000, 1, 0);
    (void)loop;
    make_run_end(&run, end);
    make_run_header(&run)->end_monotonic_ns = 3400 * day_ns;
    struct pm_run_file *file = parse(&run, NULL);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_true(checked_sum(file, thread) == thread->wall_ns);
    assert_true(is_near(thread->wall_ns, 400 * day_ns));
    pm_run_file_free(file);
    make_run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(months_are_exact),
        cmocka_unit_test(killed_after_months),
        cmocka_unit_test(open_for_months),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
