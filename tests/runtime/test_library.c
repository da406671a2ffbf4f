/* Counters that a library reads, here a fake one: what was counted goes to the context that was
 * active, once, whatever happens between two readings. */
#include "made_process.h"

#include "format/pm_counter_library.h"
#include "runtime/sample/sample.h"

#include <linux/perf_event.h>
#include <string.h>
#include <ucontext.h>

void pm_wrap_resolve(void) {}

enum { OWN, SHARED, SAMPLED, N_COUNTERS, RING_BYTES = 4096 };

static struct pm_sampler *sampler;
static struct pm_run_sampling sampling;
static uint64_t numbers[PM_COUNTERS_MAX]; /* what the library reads now */
static uint32_t known = 7, n_reads, n_ends, n_forks;
static void *state_of_thread = &numbers;

static uint32_t thread_begin(void **ret_state)
{
    *ret_state = state_of_thread;
    return 7;
}

static uint32_t read_all(void *state, uint64_t values[PM_COUNTERS_MAX])
{
    assert_ptr_equal(state, state_of_thread);
    memcpy(values, numbers, sizeof numbers);
    n_reads++;
    return known;
}

static void thread_end(void *state)
{
    assert_ptr_equal(state, state_of_thread);
    n_ends++;
}

static bool read_process(uint32_t position, uint64_t *ret_number)
{
    *ret_number = numbers[position];
    return true;
}

static void fork_child(void)
{
    n_forks++;
}

static const struct pm_counter_library library = {.thread_begin = thread_begin,
                                                  .read = read_all,
                                                  .thread_end = thread_end,
                                                  .read_process = read_process,
                                                  .fork_child = fork_child};

static void join(void) {}

static struct pm_sampler *new_sampler(void)
{
    struct pm_sampler *s = calloc(1, sizeof *s);
    s->t = &pm_tls;
    s->slot = pm_tls.slot;
    s->source = PM_RUN_SAMPLES_PERF;
    return s;
}

static int begin(void **unused)
{
    (void)unused;
    made_process("library", PM_RUN_MODE_ACTIVE);
    pm_process.next_noun = 100;
    pm_process.counters = (struct pm_counter_settings){
        .n = N_COUNTERS,
        .items = {
            {.name = "own", .type = PM_COUNTER_OF_PLUGIN, .position = OWN},
            {.name = "shared",
             .type = PM_COUNTER_OF_PLUGIN,
             .position = SHARED,
             .flags = PM_COUNTER_SHARED},
            {.name = "sampled", .type = PM_COUNTER_OF_PAPI, .position = SAMPLED, .period = 10}}};
    assert_true(pm_file_create());
    pm_tls = (struct pm_tls){.current = &pm_sentinel, .ring_head = &pm_no_ring};
    assert_true(pm_thread_begin(&pm_tls, pm_tsc()));
    sampling = (struct pm_run_sampling){0};
    pm_sampling = &sampling;
    memset(numbers, 0, sizeof numbers);
    known = 7;
    n_reads = n_ends = 0;
    sampler = new_sampler();
    pm_counters_fork_child(); /* as if nothing had been counted before */
    pm_library_fork_child();
    pm_library_link(&library, join);
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    pm_store_forget(&sampler->store);
    free(sampler);
    pm_process.counters.n = 0;
    made_process_end();
    return 0;
}

static void enter(uint32_t noun, uint64_t below)
{
    struct pm_probe probe = {.mode = (uint8_t)pm_process.mode, .noun = noun, .kind = PM_SLED_ENTRY};
    pm_slow(&probe, pm_tls.slot->root->sp - below, pm_tsc());
}

/* What the contexts of a noun have of a counter. place 0: all. */
static uint64_t charged(struct pm_sampler *s, uint32_t counter, uint32_t place, bool is_located)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->store.n; i++) {
        const struct pm_run_sample *item = s->store.items[i];
        if (item->kind == PM_RUN_SAMPLE_COUNTER + counter && (place == 0 || item->node == place) &&
            (item->flags & PM_RUN_SAMPLE_NOT_LOCATED) ==
                (is_located ? 0 : PM_RUN_SAMPLE_NOT_LOCATED))
            sum += item->time_ns;
    }
    return sum;
}

static void what_was_counted_is_there_once(void **unused)
{
    (void)unused;
    numbers[OWN] = 1000; /* before the thread began */
    pm_counters_join(sampler);
    enter(1, 1000);
    const struct pm_node *outer = pm_tls.current;
    numbers[OWN] += 5;
    pm_counters_read(sampler, outer, true, false);
    enter(2, 2000);
    const struct pm_node *inner = pm_tls.current;
    numbers[OWN] += 7;
    pm_counters_read(sampler, inner, true, false);
    numbers[OWN] += 100; /* PerfMap's own */
    pm_counters_skip(sampler);
    numbers[OWN] += 11;
    pm_counters_settle(sampler);
    assert_int_equal(charged(sampler, OWN, outer->place, true), 5);
    assert_int_equal(charged(sampler, OWN, inner->place, true), 7);
    assert_int_equal(charged(sampler, OWN, 0, false), 11);
    assert_int_equal(charged(sampler, OWN, 0, true), 5 + 7 + 100);
    assert_int_equal(sampler->counters[OWN].value, 123);
    pm_counters_settle(sampler); /* again, at the end of the process */
    assert_int_equal(charged(sampler, OWN, 0, false), 11);
    pm_counters_close(sampler, true);
    assert_int_equal(n_ends, 1);
}

/* Going back counts nothing, nor does what is not known now. */
static void numbers_that_go_back_or_are_not_known_count_nothing(void **unused)
{
    (void)unused;
    pm_counters_join(sampler);
    enter(1, 1000);
    const struct pm_node *node = pm_tls.current;
    const uint64_t way[] = {10, 4, 8, 12, 12};
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        numbers[OWN] = way[i];
        known = i == 3 ? 6 : 7;
        pm_counters_read(sampler, node, true, false);
    }
    assert_int_equal(charged(sampler, OWN, node->place, true), 12);
    known = 6;
    numbers[OWN] = UINT64_MAX;
    pm_counters_settle(sampler);
    assert_int_equal(sampler->counters[OWN].value, 12);
}

/* In the bell's handler nothing is read, so what other contexts began or ended since may have
 * counted; unless every event reads. */
static void the_bell_reads_nothing_and_places_get_lost(void **unused)
{
    (void)unused;
    pm_counters_join(sampler);
    enter(1, 1000);
    const struct pm_node *node = pm_tls.current;
    uint32_t before = n_reads;
    numbers[OWN] = 3;
    pm_counters_read(sampler, node, false, true);
    assert_int_equal(n_reads, before);
    pm_counters_read(sampler, node, false, false);
    assert_int_equal(charged(sampler, OWN, node->place, false), 0);
    assert_int_equal(charged(sampler, OWN, pm_tls.slot->root->place, false), 3);
    numbers[OWN] = 7;
    pm_counters_read(sampler, node, false, false);
    assert_int_equal(charged(sampler, OWN, node->place, false), 4);
    numbers[OWN] = 9;
    pm_counters_read(sampler, node, true, true); /* every event reads */
    pm_counters_read(sampler, node, true, false);
    assert_int_equal(charged(sampler, OWN, node->place, true), 2);
}

/* Two threads that read one number have it once together. */
static void a_shared_number_is_counted_once(void **unused)
{
    (void)unused;
    struct pm_sampler *other = new_sampler();
    numbers[SHARED] = 40;
    pm_counters_join(sampler);
    pm_counters_join(other);
    enter(1, 1000);
    const struct pm_node *node = pm_tls.current;
    uint64_t total = 0;
    for (uint64_t i = 1; i < 100; i++) {
        numbers[SHARED] += i;
        total += i;
        pm_counters_read(i % 3 == 0 ? other : sampler, node, true, false);
        pm_counters_skip(sampler); /* takes nothing from the others */
    }
    numbers[SHARED] += 5;
    pm_counters_settle(other);
    pm_counters_settle(sampler);
    assert_int_equal(charged(sampler, SHARED, 0, true) + charged(other, SHARED, 0, true), total);
    assert_int_equal(charged(other, SHARED, 0, false), 5);
    assert_int_equal(sampler->counters[SHARED].value + other->counters[SHARED].value, total + 5);
    pm_store_forget(&other->store);
    free(other);
}

/* A child begins anew: what the parent had seen of a shared number is not the child's. */
static void a_child_counts_from_its_own_begin(void **unused)
{
    (void)unused;
    numbers[SHARED] = 100;
    pm_counters_join(sampler);
    uint32_t before = n_forks;
    pm_library_close(sampler, false);
    pm_library_fork_child();
    assert_int_equal(n_forks, before + 1);
    assert_int_equal(n_ends, 0);
    numbers[SHARED] = 0;
    pm_counters_join(sampler);
    enter(1, 1000);
    numbers[SHARED] = 6;
    pm_counters_read(sampler, pm_tls.current, true, false);
    assert_int_equal(charged(sampler, SHARED, 0, true), 6);
}

/* A sample stands for its period; what none stands for has no place. */
static void overflows_are_samples(void **unused)
{
    (void)unused;
    const struct pm_counter_runtime *runtime = pm_library_link(&library, join);
    pm_counters_join(sampler);
    enter(1, 30000);
    pm_tls.sampler = sampler;
    static uint64_t stack[PM_DEEPEST_STACK_BYTES / 8 + 64]; /* the sanitizer minds another's */
    ucontext_t here;
    getcontext(&here);
#if defined(__x86_64__)
    here.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)stack;
#elif defined(__aarch64__)
    here.uc_mcontext.sp = (uintptr_t)stack;
#endif
    for (int i = 0; i < 3; i++)
        runtime->overflowed(SAMPLED, &here);
    runtime->overflowed(OWN, &here);             /* is none that is sampled */
    runtime->overflowed(PM_COUNTERS_MAX, &here); /* nor is this */
    pm_tls.sampler = NULL;
    numbers[SAMPLED] = 37;
    pm_counters_settle(sampler);
    assert_int_equal(charged(sampler, SAMPLED, 0, true), 30);
    assert_int_equal(charged(sampler, SAMPLED, 0, false), 7);
    assert_int_equal(charged(sampler, OWN, 0, true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_counted_is_there_once, begin, end),
        cmocka_unit_test_setup_teardown(numbers_that_go_back_or_are_not_known_count_nothing, begin,
                                        end),
        cmocka_unit_test_setup_teardown(the_bell_reads_nothing_and_places_get_lost, begin, end),
        cmocka_unit_test_setup_teardown(a_shared_number_is_counted_once, begin, end),
        cmocka_unit_test_setup_teardown(a_child_counts_from_its_own_begin, begin, end),
        cmocka_unit_test_setup_teardown(overflows_are_samples, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
