/* Events that a process counted, in run files. */
#include "read_run.h"

enum { NODE = (2 * PM_RUN_PAGE + PM_RUN_THREAD_NODES + 128) / 64 };

static struct pm_run_counter counter_named(const char *name, uint64_t period)
{
    struct pm_run_counter counter = {.period = period, .type = 1, .count = 17, .n_threads = 1};
    snprintf(counter.name, sizeof counter.name, "%s", name);
    snprintf(counter.unit, sizeof counter.unit, "faults");
    return counter;
}

static void add_kind(struct make_run *run, uint32_t kind, const struct pm_run_counter *counters,
                     uint32_t n)
{
    uint64_t at = make_run_chunk(run, kind, PM_RUN_COUNTERS_DATA + n * sizeof *counters, 0);
    ((struct pm_run_chunk *)make_run_at(run, at))->n_items = n;
    memcpy(make_run_at(run, at + PM_RUN_COUNTERS_DATA), counters, n * sizeof *counters);
}

static void add_counters(struct make_run *run, const struct pm_run_counter *counters, uint32_t n)
{
    add_kind(run, PM_RUN_CHUNK_COUNTERS, counters, n);
}

/* A file with a thread, which has one node below its root, and these samples. */
static void make_counted(struct make_run *run, const struct pm_run_sample *samples, uint32_t n)
{
    make_run_init(run, 100);
    make_run_object(run, "/bin/heat", "\x01", 1, three_nouns, 3);
    uint64_t thread = make_run_thread(run, 100, 1000, 2000, 8);
    uint64_t root = make_run_node(run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    assert_int_equal(make_run_node(run, root, 1, 0, 1000, 1, 500) / 64, NODE);
    make_run_samples(run, thread, samples, n);
    make_run_end(run, 3000);
}

static void samples_of_counters_are_told_from_those_of_time(void **state)
{
    (void)state;
    enum { FIRST = PM_RUN_SAMPLE_COUNTER, SECOND = PM_RUN_SAMPLE_COUNTER + 1 };
    static const struct pm_run_sample samples[] = {
        {0x400123, 0, NODE, 0, PM_RUN_SAMPLE_USER, 0, 3, 6000},
        {0x400123, 0, NODE, 0, FIRST, 0, 2, 20},
        {0x400124, 0, NODE, 0, FIRST, PM_RUN_SAMPLE_IN_KERNEL, 1, 10},
        {0, 0, 0, 0, FIRST, PM_RUN_SAMPLE_NOT_LOCATED, 0, 7},
        {0, 0, NODE, 0, SECOND, 0, 0, 5},
        {0x10, 0, 0, 0, SECOND, 0, 0, 4},
    };
    static const struct {
        uint32_t counter, kind;
    } expected[] = {{0, PM_RUN_SAMPLE_USER},         {1, PM_RUN_SAMPLE_USER},
                    {1, PM_RUN_SAMPLE_KERNEL},       {1, PM_RUN_SAMPLE_LOST},
                    {2, PM_RUN_FILE_SAMPLE_COUNTED}, {2, PM_RUN_SAMPLE_USER}};
    struct make_run run;
    make_counted(&run, samples, 6);
    add_counters(
        &run,
        (struct pm_run_counter[]){counter_named("page_faults", 10), counter_named("cycles", 0)}, 2);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    assert_int_equal(pm_run_file_n_counters(file), 2);
    const struct pm_run_file_counter *counter = pm_run_file_counter(file, 0);
    assert_true(pm_str_is(counter->name, "page_faults") && pm_str_is(counter->unit, "faults"));
    assert_int_equal(counter->period, 10);
    assert_int_equal(counter->count, 17);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    assert_int_equal(thread->n_samples, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(thread->samples[i].counter, expected[i].counter);
        assert_int_equal(thread->samples[i].kind, expected[i].kind);
        assert_int_equal(thread->samples[i].time_ns, samples[i].time_ns);
    }
    pm_run_file_free(file);
    make_run_release(&run);
}

static void samples_of_no_counter_are_damage(void **state)
{
    (void)state;
    static const struct pm_run_sample samples[] = {
        {0x400123, 0, NODE, 0, PM_RUN_SAMPLE_COUNTER + 1, 0, 2, 20},
        {0x400123, 0, NODE, 0, PM_RUN_SAMPLE_USER, 0, 2, 20}};
    struct make_run run;
    make_counted(&run, samples, 2);
    add_counters(&run, (struct pm_run_counter[]){counter_named("page_faults", 10)}, 1);
    struct pm_run_file *file = parse(&run, NULL);
    assert_int_equal(pm_run_file_n_complaints(file), 1);
    assert_int_equal(pm_run_file_thread(file, 0)->samples[0].counter, 0);
    assert_int_equal(pm_run_file_thread(file, 0)->samples[0].kind, PM_RUN_SAMPLE_LOST);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void counters_with_names_that_are_none_are_left_out(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "a b", "a-b", "\xff", "a'b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct make_run run;
        make_counted(&run, NULL, 0);
        add_counters(
            &run, (struct pm_run_counter[]){counter_named("good", 1), counter_named(bad[i], 1)}, 2);
        struct pm_run_file *file = parse(&run, NULL);
        assert_int_equal(pm_run_file_n_counters(file), 1);
        assert_int_equal(pm_run_file_n_complaints(file), 1);
        pm_run_file_free(file);
        make_run_release(&run);
    }
}

static void counters_with_the_name_of_another_are_left_out(void **state)
{
    (void)state;
    const struct pm_run_counter two[] = {counter_named("faults", 1), counter_named("faults", 2)};
    struct make_run run;
    make_counted(&run, NULL, 0);
    add_counters(&run, two, 2);
    add_kind(&run, PM_RUN_CHUNK_SOURCES, two, 1);
    struct pm_run_file *file = parse(&run, NULL);
    assert_int_equal(pm_run_file_n_counters(file), 1);
    assert_int_equal(pm_run_file_counter(file, 0)->period, 1);
    assert_int_equal(pm_run_file_n_complaints(file), 2);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void more_counters_than_fit_are_damage(void **state)
{
    (void)state;
    struct make_run run;
    make_counted(&run, NULL, 0);
    uint64_t at = make_run_chunk(&run, PM_RUN_CHUNK_COUNTERS, PM_RUN_PAGE, 0);
    ((struct pm_run_chunk *)make_run_at(&run, at))->n_items = UINT64_MAX;
    struct pm_run_file *file = parse(&run, NULL);
    assert_true(pm_run_file_n_complaints(file) > 0);
    assert_int_equal(pm_run_file_n_counters(file), 0);
    pm_run_file_free(file);
    make_run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_of_counters_are_told_from_those_of_time),
        cmocka_unit_test(samples_of_no_counter_are_damage),
        cmocka_unit_test(counters_with_names_that_are_none_are_left_out),
        cmocka_unit_test(counters_with_the_name_of_another_are_left_out),
        cmocka_unit_test(more_counters_than_fit_are_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
