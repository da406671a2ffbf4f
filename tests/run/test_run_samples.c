/* Samples, what was disarmed, and blocks of the heap in run files. */
#include "read_run.h"

enum { SAMPLED_NODE = (5 * PM_RUN_PAGE + PM_RUN_THREAD_NODES + 128) / 64 };
static const struct pm_run_sample mixed_samples[] = {
    {0x400123, 0, SAMPLED_NODE, 0, PM_RUN_SAMPLE_USER, 0, 3, 6000},
    {0x700800, 0x400200, SAMPLED_NODE, 2, PM_RUN_SAMPLE_USER, PM_RUN_SAMPLE_CALLER_SURE, 1, 2000},
    {0x700800, 0x400200, SAMPLED_NODE, 3, PM_RUN_SAMPLE_USER, 0, 1, 2000},
    {0x701800, 0, SAMPLED_NODE, 3, PM_RUN_SAMPLE_USER, 0, 1, 2000}, /* beyond b.so, a.so is gone */
    {0x10010, 0, 0, 0, PM_RUN_SAMPLE_USER, 0, 1, 2000},
    {0x400124, 0, SAMPLED_NODE, 0, PM_RUN_SAMPLE_KERNEL, 0, 1, 2000},
    {0x999, 0x999, SAMPLED_NODE, 0, PM_RUN_SAMPLE_OFF_CPU, 0, 7, 90000},
    {0x400124, 0, SAMPLED_NODE, 0, PM_RUN_SAMPLE_LOST, 0, 5, 10000},
};

static void make_sampled(struct make_run *run)
{
    make_run_init(run, 100);
    make_run_version(run, 1);
    uint64_t heat = make_run_object(run, "/bin/heat", "\x01", 1, three_nouns, 3);
    make_run_loaded(run, heat, 0x400000, 0x1000, 0, 0);
    /* Two libraries that were at one address, one after the other, and one that still is,
     * somewhere else. */
    uint64_t first = make_run_object(run, "/lib/a.so", "", 0, NULL, 0);
    make_run_loaded(run, first, 0x700000, 0x2000, 1, 2);
    uint64_t second = make_run_object(run, "/lib/b.so", "", 0, NULL, 0);
    make_run_loaded(run, second, 0x700000, 0x1000, 3, 0);
    ((struct pm_run_object *)make_run_at(run, second))->first_noun = 0; /* and has no noun */
    uint64_t own = make_run_object(run, "[perfmap]", "", 0, NULL, 0);
    make_run_loaded(run, own, 0x10000, 0x1000, 0, 0);
    ((struct pm_run_object *)make_run_at(run, own))->kind = PM_RUN_OBJECT_RUNTIME;
    uint64_t thread = make_run_thread(run, 100, 1000, 2000, 8);
    uint64_t root = make_run_node(run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    uint64_t node = make_run_node(run, root, 1, 0, 1000, 1, 500);
    assert_int_equal(node / 64, SAMPLED_NODE);
    make_run_samples(run, thread, mixed_samples, 3);
    make_run_samples(run, thread, mixed_samples + 3, 5);
    make_run_sampling(run, &(struct pm_run_sampling){.source = PM_RUN_SAMPLES_PERF,
                                                     .period_ns = 2000000,
                                                     .has_kernel = 1,
                                                     .has_switches = 1,
                                                     .n_samples = 13,
                                                     .n_lost = 5,
                                                     .n_threads = 1,
                                                     .n_switches = 7});
    make_run_adapted(run,
                     (struct pm_run_adapted[]){
                         {.noun = 2, .disarmed_tsc = 1500, .armed_tsc = 0, .n_events = 77},
                         {.noun = 0, .disarmed_tsc = 1600, .armed_tsc = 1700, .n_events = 5}},
                     2);
    make_run_end(run, 3000);
}

static void samples_find_their_object_by_address_and_generation(void **state)
{
    (void)state;
    struct make_run run;
    make_sampled(&run);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    static const struct {
        uint32_t object, caller_object, node;
        uint64_t address, caller;
    } expected[] = {
        {0, PM_RUN_FILE_NO_OBJECT, 1, 0x123, 0},
        {1, 0, 1, 0x800, 0x1ff},
        {2, 0, 1, 0x800, 0x1ff},
        {PM_RUN_FILE_NO_OBJECT, PM_RUN_FILE_NO_OBJECT, 1, 0x701800, 0},
        {3, PM_RUN_FILE_NO_OBJECT, 0, 0x10, 0},
        {0, PM_RUN_FILE_NO_OBJECT, 1, 0x124, 0},
        {PM_RUN_FILE_NO_OBJECT, PM_RUN_FILE_NO_OBJECT, 1, 0, 0},
        {PM_RUN_FILE_NO_OBJECT, PM_RUN_FILE_NO_OBJECT, 1, 0, 0},
    };
    const struct pm_run_file_thread *read = pm_run_file_thread(file, 0);
    assert_int_equal(read->n_samples, 8);
    for (size_t i = 0; i < 8; i++) {
        const struct pm_run_file_sample *sample = &read->samples[i];
        assert_int_equal(sample->kind, mixed_samples[i].kind);
        assert_int_equal(sample->object, expected[i].object);
        assert_int_equal(sample->address, expected[i].address);
        assert_int_equal(sample->caller_object, expected[i].caller_object);
        assert_int_equal(sample->caller, expected[i].caller);
        assert_int_equal(sample->node, expected[i].node);
        assert_int_equal(sample->time_ns, mixed_samples[i].time_ns);
        assert_int_equal(sample->n_samples, mixed_samples[i].n_samples);
        assert_int_equal(sample->caller_sure, i == 1);
    }
    assert_int_equal(pm_run_file_object(file, 3)->kind, PM_RUN_OBJECT_RUNTIME);
    pm_run_file_free(file);
    make_run_release(&run);
}

/* Waiting has its place since 1.2's last field was added; before, the address was 0. */
static void waits_have_the_place_where_they_began(void **state)
{
    (void)state;
    static const struct pm_run_sample waits[] = {
        {0x700800, 0x400200, 0, 0, PM_RUN_SAMPLE_WAITING, 0, 2, 6000},
        {0x400123, 0, 0, 0, PM_RUN_SAMPLE_PREEMPTED, 0, 1, 70},
        {0, 0, 0, 0, PM_RUN_SAMPLE_WAITING, 0, 1, 50},
    };
    struct make_run run;
    make_run_init(&run, 100);
    uint64_t heat = make_run_object(&run, "/bin/heat", "\x01", 1, three_nouns, 3);
    make_run_loaded(&run, heat, 0x400000, 0x1000, 0, 0);
    uint64_t library = make_run_object(&run, "/lib/c.so", "", 0, NULL, 0);
    make_run_loaded(&run, library, 0x700000, 0x1000, 0, 0);
    uint64_t thread = make_run_thread(&run, 100, 1000, 2000, 8);
    make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    make_run_samples(&run, thread, waits, 3);
    make_run_end(&run, 3000);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_thread *read = pm_run_file_thread(file, 0);
    assert_int_equal(read->n_samples, 3);
    assert_int_equal(read->samples[0].object, 1);
    assert_int_equal(read->samples[0].caller_object, 0);
    assert_int_equal(read->samples[0].caller, 0x1ff);
    assert_int_equal(read->samples[1].object, 0);
    assert_int_equal(read->samples[1].address, 0x123);
    assert_int_equal(read->samples[2].object, PM_RUN_FILE_NO_OBJECT);
    assert_int_equal(read->samples[2].address, 0);
    pm_run_file_free(file);
    make_run_release(&run);
}

/* PERFMAP_UPDATE=1 writes it; a format that changes needs a version of its own. */
static void check_golden(const char *path, struct make_run *run)
{
    struct pm_error err = PM_ERROR_INIT;
    char *golden;
    size_t len;
    if (getenv("PERFMAP_UPDATE"))
        assert_true(make_run_write(run, path));
    assert_int_equal(pm_file_read(path, 1 << 20, &err, &golden, &len), PM_OK);
    assert_int_equal(len, run->len);
    assert_memory_equal(golden, run->data, len);
    free(golden);
    make_run_release(run);
}

/* Buckets of 1024 ns: 0 begins at 7168. */
static const struct pm_run_time some_times[] = {
    {.value = 3, .place = 2 << PM_RUN_TIMES_NUMBER_BITS | 1, .n_samples = 1},
    {.value = 40, .place = 1 << PM_RUN_TIMES_NUMBER_BITS | 0, .n_samples = 1},
    {.value = 50, .place = 3 << PM_RUN_TIMES_NUMBER_BITS | 0, .n_samples = 1, .n_more = 4},
};

/* Two samples of a thread, and when they were; older times, that do not count, before. */
static void make_timed(struct make_run *run)
{
    static const struct pm_run_sample samples[] = {
        {0x400123, 0, 0, 0, PM_RUN_SAMPLE_USER, 0, 2, 100},
        {0x400200, 0, 0, 0, PM_RUN_SAMPLE_WAITING, 0, 1, 3},
    };
    make_run_init(run, 100);
    uint64_t heat = make_run_object(run, "/bin/heat", "\x01", 1, three_nouns, 3);
    make_run_loaded(run, heat, 0x400000, 0x1000, 0, 0);
    uint64_t thread = make_run_thread(run, 100, 1000, 2000, 8);
    make_run_node(run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    uint64_t offset = make_run_samples(run, thread, samples, 2);
    const struct pm_run_times old = {.first = 14, .shift = 9, .serial = 1},
                              counts = {.first = 7, .shift = 10, .serial = 2},
                              unfinished = {.first = 3, .shift = 11};
    make_run_times(run, thread, offset, &old, some_times, 1);
    make_run_times(run, thread, offset, &counts, some_times, 3);
    make_run_times(run, thread, offset, &unfinished, some_times, 2);
    make_run_end(run, 3000);
}

static void samples_know_when_they_were_taken(void **state)
{
    (void)state;
    struct make_run run;
    make_timed(&run);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_thread *thread = pm_run_file_thread(file, 0);
    static const struct pm_run_file_time expected[] = {
        {0, 1, 0, 1, 40}, {0, 3, 4, 1, 50}, {1, 2, 0, 1, 3}};
    assert_int_equal(thread->bucket_start_ns, 7168);
    assert_int_equal(thread->bucket_ns, 1024);
    assert_int_equal(thread->n_times, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(thread->times[i].sample, expected[i].sample);
        assert_int_equal(thread->times[i].first, expected[i].first);
        assert_int_equal(thread->times[i].n_more, expected[i].n_more);
        assert_int_equal(thread->times[i].n_samples, expected[i].n_samples);
        assert_int_equal(thread->times[i].value, expected[i].value);
    }
    pm_run_file_free(file);
    make_run_release(&run);
}

/* No sample has more in all buckets than it has. */
static void times_that_do_not_fit_are_left_out(void **state)
{
    (void)state;
    static const struct pm_run_time bad[] = {
        {.value = 1, .place = 7},                                              /* no such sample */
        {.value = 1, .place = 2047u << PM_RUN_TIMES_NUMBER_BITS, .n_more = 1}, /* no such bucket */
        {.value = 90, .place = 0, .n_samples = 1},
        {.value = 90, .place = 5u << PM_RUN_TIMES_NUMBER_BITS, .n_samples = 9},
    };
    const struct pm_run_times header = {.first = 7, .shift = 10, .serial = 3},
                              impossible = {.first = UINT64_MAX, .shift = 40, .serial = 4};
    struct make_run run;
    make_timed(&run);
    uint64_t thread = 0;
    for (uint64_t at = PM_RUN_PAGE; at < run.len; at += PM_RUN_PAGE) {
        const struct pm_run_chunk *chunk = make_run_at(&run, at);
        if (chunk->magic == PM_RUN_CHUNK_MAGIC && chunk->kind == PM_RUN_CHUNK_TIMES)
            thread = chunk->owner;
    }
    uint64_t samples = 0;
    for (uint64_t at = PM_RUN_PAGE; at < run.len; at += PM_RUN_PAGE) {
        const struct pm_run_chunk *chunk = make_run_at(&run, at);
        if (chunk->magic == PM_RUN_CHUNK_MAGIC && chunk->kind == PM_RUN_CHUNK_SAMPLES)
            samples = at;
    }
    make_run_times(&run, thread, samples, &header, bad, 4);
    struct pm_run_file *file = parse(&run, NULL);
    assert_int_equal(pm_run_file_n_complaints(file), 3);
    const struct pm_run_file_thread *read = pm_run_file_thread(file, 0);
    assert_int_equal(read->n_times, 2);
    assert_int_equal(read->times[0].value, 90);
    assert_int_equal(read->times[1].value, 10);
    assert_int_equal(read->times[1].n_samples, 1);
    pm_run_file_free(file);
    make_run_times(&run, thread, samples, &impossible, bad, 4);
    make_run_times(&run, 12345, samples, &header, bad, 1);
    file = parse(&run, NULL);
    assert_int_equal(pm_run_file_n_complaints(file), 2);
    assert_int_equal(pm_run_file_thread(file, 0)->n_times, 0);
    assert_int_equal(pm_run_file_thread(file, 0)->bucket_ns, 0);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void the_file_of_each_version_is_what_the_writer_makes(void **state)
{
    (void)state;
    struct make_run run;
    make_sampled(&run);
    check_golden(PM_TEST_DATA "/../fuzz/corpus/run_file/version_1_1.pmr", &run);
    make_full(&run); /* mixed modes */
    make_run_version(&run, 2);
    check_golden(PM_TEST_DATA "/../fuzz/corpus/run_file/version_1_2.pmr", &run);
    make_full(&run);
    make_run_version(&run, 3);
    make_run_place(&run, "node17", "4711");
    check_golden(PM_TEST_DATA "/../fuzz/corpus/run_file/version_1_3.pmr", &run);
    make_timed(&run);
    check_golden(PM_TEST_DATA "/../fuzz/corpus/run_file/version_1_4.pmr", &run);
}

static void how_samples_were_taken_and_what_was_disarmed_is_told(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_header(&run)->mode = PM_RUN_MODE_ACTIVE;
    make_run_object(&run, "/bin/heat", "\x01", 1, three_nouns, 3);
    make_run_thread(&run, 100, 1000, 2000, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    make_run_node(&run, root, 1, 1, 5, 3, 0); /* still active; its clock means nothing */
    make_run_sampling(&run, &(struct pm_run_sampling){.source = PM_RUN_SAMPLES_TIMER,
                                                      .clock = 1,
                                                      .period_ns = 2004008,
                                                      .has_switches = 1,
                                                      .n_samples = 10,
                                                      .n_lost = 2,
                                                      .n_threads = 1,
                                                      .n_threads_failed = 3,
                                                      .error_no = 13,
                                                      .n_switches = 8});
    const struct pm_run_adapted adapted[] = {
        {.noun = 2, .disarmed_tsc = 1500, .n_events = 77},
        {.noun = 0, .disarmed_tsc = 1600, .armed_tsc = 1700, .n_events = 5}};
    make_run_adapted(&run, adapted, 2);
    make_run_end(&run, 3000);
    struct pm_run_file *file = parse(&run, NULL);
    no_complaints(file);
    const struct pm_run_file_sampling *sampling = pm_run_file_sampling(file);
    assert_non_null(sampling);
    assert_int_equal(sampling->source, PM_RUN_SAMPLES_TIMER);
    assert_true(sampling->is_wall && !sampling->has_kernel && sampling->has_switches);
    assert_int_equal(sampling->period_ns, 2004008);
    assert_int_equal(sampling->n_samples, 10);
    assert_int_equal(sampling->n_lost, 2);
    assert_int_equal(sampling->n_threads_failed, 3);
    assert_int_equal(sampling->error_no, 13);
    assert_int_equal(pm_run_file_n_adapted(file), 2);
    assert_int_equal(pm_run_file_adapted(file, 0)->noun, 2);
    assert_int_equal(pm_run_file_adapted(file, 0)->disarmed_ns, 500);
    assert_false(pm_run_file_adapted(file, 0)->is_armed_again);
    assert_int_equal(pm_run_file_adapted(file, 1)->armed_ns, 700);
    assert_int_equal(pm_run_file_adapted(file, 1)->n_events, 5);
    assert_int_equal(pm_run_file_thread(file, 0)->nodes[0].own_ns, 1000);
    assert_int_equal(pm_run_file_thread(file, 0)->nodes[1].own_ns, 0);
    pm_run_file_free(file);
    make_run_release(&run);
}

static void what_measuring_cost_is_as_the_process_reckoned(void **state)
{
    (void)state;
    struct make_run run;
    make_killed(&run);
    struct pm_run_file *file = parse(&run, NULL);
    assert_null(pm_run_file_overhead(file));
    pm_run_file_free(file);
    const struct pm_run_overhead values = {.budget_ppm = 50000,
                                           .active_pair_ps = 1500,
                                           .exact_pair_ps = 16000,
                                           .exact_inner_ps = 8000,
                                           .cpu_ns = 900,
                                           .events_ns = UINT64_MAX,
                                           .samples_ns = 30,
                                           .looks_ns = 2,
                                           .fixed_ns = 700};
    uint64_t offset = make_run_overhead(&run, &values);
    make_run_overhead(&run, &values);
    file = parse(&run, NULL);
    const struct pm_run_file_overhead *overhead = pm_run_file_overhead(file);
    assert_int_equal(overhead->budget_ppm, 50000);
    assert_int_equal(overhead->exact_pair_ps - overhead->exact_inner_ps, 8000);
    assert_true(overhead->events_ns == INT64_MAX); /* no time is more */
    assert_int_equal(overhead->samples_ns + overhead->looks_ns, 32);
    assert_int_equal(overhead->fixed_ns, 700);
    complains(file, "a second overhead chunk");
    pm_run_file_free(file);
    struct pm_run_file *cut = NULL;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_run_file_parse("x.pmr", run.data, offset + 100, NULL, &err, &cut), PM_OK);
    complains(cut, "overhead chunk is cut");
    assert_null(pm_run_file_overhead(cut));
    pm_run_file_free(cut);
    make_run_release(&run);
}

/* What was being written when the process was killed is the last item. */
static void a_sample_torn_by_a_crash_is_no_damage(void **state)
{
    (void)state;
    const struct pm_run_sample torn[] = {{0},
                                         {0x10, 0, 0, 0, 200, 0, 1, 100},
                                         {0x10, 0, 77, 0, PM_RUN_SAMPLE_USER, 0, 1, 200},
                                         {0x10, 0, 0, 0, PM_RUN_SAMPLE_USER, 0, 1, UINT64_MAX}};
    const size_t kept[] = {1, 1, 2, 2};
    const uint64_t times_ns[] = {50, 50, 250, 50};
    for (size_t i = 0; i < sizeof torn / sizeof *torn; i++)
        for (int ended = 0; ended < 2; ended++) {
            struct make_run run;
            make_run_init(&run, 100);
            make_run_object(&run, "/bin/heat", "\x01", 1, three_nouns, 3);
            uint64_t thread = make_run_thread(&run, 100, 1000, 2000, 8);
            make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
            struct pm_run_sample samples[] = {{0x10, 0, 0, 0, PM_RUN_SAMPLE_USER, 0, 1, 50},
                                              torn[i]};
            make_run_samples(&run, thread, samples, 2);
            if (ended)
                make_run_end(&run, 3000);
            struct pm_run_file *file = parse(&run, NULL);
            const struct pm_run_file_thread *first = pm_run_file_thread(file, 0);
            uint64_t time_ns = 0;
            for (size_t k = 0; k < first->n_samples; k++)
                time_ns += first->samples[k].time_ns;
            assert_int_equal(pm_run_file_n_complaints(file), ended);
            assert_int_equal(first->n_samples, ended ? 2 : kept[i]);
            if (!ended)
                assert_int_equal(time_ns, times_ns[i]);
            pm_run_file_free(file);
            make_run_release(&run);
        }
}

static void damaged_samples_are_named_and_their_time_is_kept(void **state)
{
    (void)state;
    struct make_run run;
    make_run_init(&run, 100);
    make_run_object(&run, "/bin/heat", "\x01", 1, three_nouns, 3);
    uint64_t thread = make_run_thread(&run, 100, 1000, 2000, 8);
    make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    const struct pm_run_sample samples[] = {
        {0x10, 0, 0, 0, 9, 0, 1, 100},
        {0x10, 0, 77, 0, PM_RUN_SAMPLE_USER, 0, 1, 200},
        {0x10, 0, 0, 0, PM_RUN_SAMPLE_USER, 0, 1, UINT64_MAX},
    };
    make_run_samples(&run, thread, samples, 3);
    uint64_t last = run.len - PM_RUN_PAGE;
    make_run_samples(&run, 4096 * 77, samples, 3);
    make_run_adapted(
        &run,
        (struct pm_run_adapted[]){{.noun = 55, .disarmed_tsc = 1, .armed_tsc = 1, .n_events = 1}},
        1);
    make_run_end(&run, 3000);
    struct pm_run_file *file = parse(&run, NULL);
    complains(file, "byte 12288: 1 samples of unknown kind count as lost ones");
    complains(file, "1 samples have a context that is not there; they count to the thread");
    complains(file, "1 samples have impossible times");
    complains(file, "samples of a thread that is not in the file");
    complains(file, "1 disarmed nouns are of no object");
    const struct pm_run_file_thread *read = pm_run_file_thread(file, 0);
    assert_int_equal(read->n_samples, 3);
    assert_int_equal(read->samples[0].time_ns + read->samples[1].time_ns, 300);
    assert_int_equal(pm_run_file_n_adapted(file), 0);
    pm_run_file_free(file);
    ((struct pm_run_chunk *)make_run_at(&run, last))->n_items = 4000;
    file = parse(&run, NULL);
    complains(file, "4000 samples, 100 fit in the chunk");
    pm_run_file_free(file);
    make_run_release(&run);
}

static void blocks_of_the_heap_are_read_as_written(void **state)
{
    (void)state;
    struct make_run run;
    make_full(&run);
    struct pm_run_file *file = NULL;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_run_file_parse("x.pmr", run.data, run.len, NULL, &err, &file), PM_OK);
    assert_int_equal(pm_run_file_n_heap_sites(file), 1);
    const struct pm_run_file_heap_site *site = pm_run_file_heap_site(file, 0);
    assert_int_equal(site->object, 1);
    assert_int_equal(site->caller, 0x1f);
    assert_int_equal(site->n_allocations, 3);
    assert_int_equal(site->allocated_bytes - site->freed_bytes, 200);
    assert_int_equal(site->least_bytes, 50);
    assert_int_equal(site->life_ns, pm_run_file_to_ns(file, 50));
    assert_int_equal(pm_run_file_n_heap_blocks(file), 1);
    const struct pm_run_file_heap_block *block = pm_run_file_heap_block(file, 0);
    assert_int_equal(block->size_bytes, 150);
    assert_true(block->is_freed);
    assert_int_equal(block->freed_ns - block->allocated_ns, pm_run_file_to_ns(file, 50));
    pm_run_file_free(file);
    make_run_release(&run);
}

/* Contexts, numbers and sums that cannot be. */
static void damaged_blocks_of_the_heap_are_named(void **state)
{
    (void)state;
    struct make_run run;
    make_killed(&run);
    const struct pm_run_heap_site sites[] = {
        {.number = 0,
         .thread = 77777,
         .n_allocations = 1,
         .allocated_bytes = 10,
         .n_freed = 2,
         .freed_bytes = 11,
         .life_tsc = UINT64_MAX},
        {.number = 5, .thread = (uint32_t)(run.thread / 64), .node = 99999},
    };
    const struct pm_run_heap_block blocks[] = {{1, 2, 3, 4, 1, 0}, {1, 2, 3, 0, 5, 0}};
    make_run_heap(&run, sites, 2, blocks, 2);
    struct pm_run_file *file = NULL;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_run_file_parse("x.pmr", run.data, run.len, NULL, &err, &file), PM_OK);
    check_heap(file);
    assert_int_equal(pm_run_file_n_heap_sites(file), 2);
    assert_int_equal(pm_run_file_n_heap_blocks(file), 1);
    assert_int_equal(pm_run_file_heap_block(file, 0)->site, 1);
    assert_int_equal(pm_run_file_n_complaints(file), 2);
    assert_non_null(
        strstr(pm_run_file_complaint(file, 0), "2 places of allocations have a context"));
    assert_non_null(strstr(pm_run_file_complaint(file, 1), "1 blocks are of no place"));
    pm_run_file_free(file);
    make_run_release(&run);
}

/* A noun that is not there is none. */
static void samples_in_trampolines_name_their_noun(void **state)
{
    (void)state;
    struct make_run run;
    enum { INNER = PM_RUN_SAMPLE_PROBE | PM_RUN_SAMPLE_PROBE_INNER };
    make_run_init(&run, 100);
    make_run_object(&run, "/bin/heat", "\x01", 1, three_nouns, 3);
    uint64_t thread = make_run_thread(&run, 100, 1000, 2000, 8);
    uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    uint32_t node = (uint32_t)(make_run_node(&run, root, 1, 0, 1000, 1, 500) / 64);
    struct pm_run_sample samples[] = {
        {0x10010, 3, node, 0, PM_RUN_SAMPLE_USER, INNER, 1, 2000},
        {0x10020, 1, node, 0, PM_RUN_SAMPLE_USER, PM_RUN_SAMPLE_PROBE, 1, 2000},
        {0x10030, 77, node, 0, PM_RUN_SAMPLE_USER, INNER, 1, 2000},
        {0x10040, 3, node, 0, PM_RUN_SAMPLE_USER, 0, 1, 2000},
    };
    make_run_samples(&run, thread, samples, 4);
    make_run_end(&run, 3000);
    struct pm_run_file *file = parse(&run, NULL);
    const struct pm_run_file_sample *found = pm_run_file_thread(file, 0)->samples;
    assert_int_equal(found[0].probe_noun, 2);
    assert_true(found[0].probe_inner);
    assert_int_equal(found[0].caller_object, PM_RUN_FILE_NO_OBJECT);
    assert_int_equal(found[1].probe_noun, 0);
    assert_false(found[1].probe_inner);
    assert_int_equal(found[2].probe_noun, PM_RUN_NOUN_ROOT);
    assert_int_equal(found[3].probe_noun, PM_RUN_NOUN_ROOT);
    pm_run_file_free(file);
    make_run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_find_their_object_by_address_and_generation),
        cmocka_unit_test(samples_in_trampolines_name_their_noun),
        cmocka_unit_test(waits_have_the_place_where_they_began),
        cmocka_unit_test(the_file_of_each_version_is_what_the_writer_makes),
        cmocka_unit_test(samples_know_when_they_were_taken),
        cmocka_unit_test(times_that_do_not_fit_are_left_out),
        cmocka_unit_test(how_samples_were_taken_and_what_was_disarmed_is_told),
        cmocka_unit_test(what_measuring_cost_is_as_the_process_reckoned),
        cmocka_unit_test(a_sample_torn_by_a_crash_is_no_damage),
        cmocka_unit_test(damaged_samples_are_named_and_their_time_is_kept),
        cmocka_unit_test(blocks_of_the_heap_are_read_as_written),
        cmocka_unit_test(damaged_blocks_of_the_heap_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
