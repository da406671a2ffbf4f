/* When samples were taken: random samples and waits, of seconds or of years, are in the run file
 * with their sums, in the buckets that their times say, at each moment. */
#include "made_process.h"
#include "mapping/run/run_file.h"
#include "runtime/sample/sample.h"

#include <string.h>

void pm_wrap_resolve(void) {}

enum { MOST_ITEMS = 60 };

static struct pm_store store;
static uint64_t thread_offset;
static uint32_t seed;
static double sums[MOST_ITEMS][PM_RUN_TIMES_BUCKETS]; /* by 2048ths of the whole time */
static uint64_t totals[MOST_ITEMS], counts[MOST_ITEMS];
static uint64_t begin_ns, now_ns, step_ns;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed * n) >> 32);
}

static int begin(void **state)
{
    (void)state;
    made_process("times", PM_RUN_MODE_ACTIVE);
    pm_process.next_noun = 100;
    assert_true(pm_file_create());
    pm_tls = (struct pm_tls){.current = &pm_sentinel, .ring_head = &pm_no_ring};
    assert_true(pm_thread_begin(&pm_tls, pm_tsc()));
    thread_offset = pm_tls.slot->thread_offset;
    store = (struct pm_store){0};
    memset(sums, 0, sizeof sums);
    memset(totals, 0, sizeof totals);
    memset(counts, 0, sizeof counts);
    seed = 1;
    return 0;
}

static int end(void **state)
{
    (void)state;
    pm_store_forget(&store);
    pm_times_fork_child();
    made_process_end();
    return 0;
}

static void add(uint32_t item, struct pm_when when, uint64_t value)
{
    struct pm_run_sample *added, sample = {.address = 4 + 4ull * item,
                                           .generation = 1,
                                           .kind = PM_RUN_SAMPLE_USER,
                                           .n_samples = 1,
                                           .time_ns = value};
    assert_true(pm_store_add(&store, thread_offset, &when, &sample, &added));
    totals[item] += value;
    counts[item]++;
}

static void expect(uint32_t item, struct pm_when when, uint64_t value, uint64_t all_ns)
{
    double size = (double)all_ns / PM_RUN_TIMES_BUCKETS;
    double first = (double)(when.from_ns - begin_ns) / size,
           last = (double)(when.until_ns - begin_ns) / size;
    if (when.from_ns == when.until_ns) {
        sums[item][(int)last] += (double)value;
        return;
    }
    for (int i = (int)first; i <= (int)last && i < PM_RUN_TIMES_BUCKETS; i++) {
        double from = i > first ? i : first, until = i + 1 < last ? i + 1 : last;
        sums[item][i] += (double)value * (until - from) / (last - first);
    }
}

static const struct pm_run_file_thread *read_back(struct pm_run_file **ret_file)
{
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_run_file_open(pm_process.file.path, NULL, &err, ret_file), PM_OK);
    assert_int_equal(pm_run_file_n_complaints(*ret_file), 0);
    const struct pm_run_file_thread *thread = pm_run_file_thread(*ret_file, 0);
    pm_error_release(&err);
    return thread;
}

/* All of each item has a time. */
static void check_sums(const struct pm_run_file_thread *thread)
{
    uint64_t of_item[MOST_ITEMS] = {0}, n_of_item[MOST_ITEMS] = {0};
    for (size_t i = 0; i < thread->n_times; i++) {
        uint64_t item = thread->samples[thread->times[i].sample].address / 4 - 1;
        of_item[item] += thread->times[i].value;
        n_of_item[item] += thread->times[i].n_samples;
    }
    for (uint32_t i = 0; i < MOST_ITEMS; i++) {
        assert_int_equal(of_item[i], totals[i]);
        assert_int_equal(n_of_item[i], counts[i]);
    }
}

/* What was up to the end of each 2048th is what buckets say, to one of them. */
static void check_times(const struct pm_run_file_thread *thread, uint64_t all_ns)
{
    static double read[MOST_ITEMS][PM_RUN_TIMES_BUCKETS + 1];
    memset(read, 0, sizeof read);
    for (size_t i = 0; i < thread->n_times; i++) {
        const struct pm_run_file_time *time = &thread->times[i];
        uint64_t item = thread->samples[time->sample].address / 4 - 1;
        for (uint32_t k = 0; k <= time->n_more; k++)
            read[item][time->first + k] += (double)time->value / (time->n_more + 1.0);
    }
    double bucket = (double)thread->bucket_ns, size = (double)all_ns / PM_RUN_TIMES_BUCKETS;
    double offset = (double)thread->bucket_start_ns - (double)begin_ns;
    for (uint32_t item = 0; item < MOST_ITEMS; item++) {
        double sum = 0;
        for (uint32_t i = 0; i < PM_RUN_TIMES_BUCKETS; i++) {
            sum += read[item][i];
            double at = (offset + (i + 1) * bucket) / size, low = 0, high = 0;
            for (int k = 0; k < PM_RUN_TIMES_BUCKETS; k++) {
                low += k + 1 <= at - 1 ? sums[item][k] : 0;
                high += k <= at + 1 ? sums[item][k] : 0;
            }
            assert_true(sum >= low * 0.999 - 1000 && sum <= high * 1.001 + 1000);
        }
    }
}

/* Few things happen, and some last long; the process may be killed at any time. */
static void what_happened_is_known_to_a_thousandth(void **state)
{
    (void)state;
    static const uint64_t steps_ns[] = {1000000, 30000000, 100000000000};
    enum { N = 6000 };
    static struct {
        uint32_t item;
        struct pm_when when;
        uint64_t value;
    } done[N];
    for (size_t round = 0; round < sizeof steps_ns / sizeof *steps_ns; round++) {
        if (round != 0)
            begin(NULL);
        step_ns = steps_ns[round];
        begin_ns = now_ns = 5000000000000 + round * 12345678;
        struct pm_run_file *file;
        for (int i = 0; i < N; i++) {
            uint64_t before_ns = now_ns;
            bool waits = random_below(4) == 0;
            now_ns +=
                random_below(1000) * (step_ns / 1000) * (waits && random_below(100) == 0 ? 500 : 1);
            done[i].item = random_below(i % 100 == 0 ? MOST_ITEMS : 12);
            done[i].when = (struct pm_when){waits ? before_ns : now_ns, now_ns};
            done[i].value = waits ? now_ns - before_ns : 1000000;
            add(done[i].item, done[i].when, done[i].value);
            if (i % 500 == 0) {
                check_sums(read_back(&file));
                pm_run_file_free(file);
            }
        }
        for (int i = 0; i < N; i++)
            expect(done[i].item, done[i].when, done[i].value, now_ns + 1 - begin_ns);
        const struct pm_run_file_thread *thread = read_back(&file);
        check_sums(thread);
        assert_true((double)thread->bucket_ns <=
                    (double)(now_ns - begin_ns) / (PM_RUN_TIMES_BUCKETS / 2.0) + (2 << 20));
        check_times(thread, now_ns + 1 - begin_ns);
        pm_run_file_free(file);
        if (round + 1 < sizeof steps_ns / sizeof *steps_ns)
            end(NULL);
    }
}

/* Years of very different samples take no more room than some hours of them. */
static void times_take_no_more_room_than_they_may(void **state)
{
    (void)state;
    enum { N = 3000000, LARGEST = 8 << 20 };
    begin_ns = now_ns = 1000000000;
    for (int i = 0; i < N; i++) {
        now_ns += 100000000;
        add(random_below(MOST_ITEMS), (struct pm_when){now_ns, now_ns}, 1000);
    }
    assert_true(store.times.chunk->chunk.size_bytes <= LARGEST);
    struct pm_run_file *file;
    const struct pm_run_file_thread *thread = read_back(&file);
    check_sums(thread);
    pm_run_file_free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_happened_is_known_to_a_thousandth, begin, end),
        cmocka_unit_test_setup_teardown(times_take_no_more_room_than_they_may, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
