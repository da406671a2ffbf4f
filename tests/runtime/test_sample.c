/* What is made of a ring's bytes: random records, records around the ring's end, bytes that are
 * no records; and to which context a sample goes. The ring is made here. */
#include "made_process.h"
#include "mapping/run/run_file.h"
#include "runtime/code/places.h"
#include "runtime/sample/sample.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void pm_wrap_resolve(void) {}

enum { PERIOD_NS = 1000000, RING_BYTES = 8192 };
/* Words of a sample behind its header (runtime/sample/perf.c). */
enum {
#if defined(__x86_64__)
    WORD_SP = 9,
    N_REGISTERS = 8,
#else
    WORD_SP = 7,
    N_REGISTERS = 2,
#endif
    WORD_IP = WORD_SP + 1,
    WORD_ID = 5,
    WORD_ABI = 6,
    WORD_STACK_BYTES = 7 + N_REGISTERS,
    N_HEAD_WORDS = WORD_STACK_BYTES + 1,
};

static struct pm_sampler *sampler;
static struct pm_run_sampling counters;
static struct perf_event_mmap_page *ring;
static uint64_t stack_start, cpu_ns, time_ns;
static uint64_t sample_id; /* of samples that are put: 0 is the clock's */
static uint64_t stolen_ns; /* of cpu_ns, which is what the event counts: others had the processor */

static uint32_t state = 1;

static uint32_t random_below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)state * n) >> 32);
}

static int begin(void **unused)
{
    (void)unused;
    made_process("sample", PM_RUN_MODE_EXACT);
    pm_process.next_noun = 100;
    pm_process.sample_period_ns = PERIOD_NS;
    pm_process.generation = 1;
    assert_true(pm_file_create());
    pm_tls = (struct pm_tls){.current = &pm_sentinel, .ring_head = &pm_no_ring};
    assert_true(pm_thread_begin(&pm_tls, pm_tsc()));
    stack_start = pm_tls.slot->root->sp - 65536;
    counters = (struct pm_run_sampling){0};
    pm_sampling = &counters;
    ring = aligned_alloc(PM_RUN_PAGE, PM_RUN_PAGE + RING_BYTES);
    memset(ring, 0, PM_RUN_PAGE + RING_BYTES);
    sampler = calloc(1, sizeof *sampler);
    sampler->t = &pm_tls;
    sampler->slot = pm_tls.slot;
    sampler->ring = ring;
    sampler->ring_bytes = RING_BYTES;
    sampler->period_ns = PERIOD_NS;
    sampler->stack_bytes = PM_STACK_BYTES;
    cpu_ns = stolen_ns = 0;
    time_ns = 1;
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    char path[4096];
    snprintf(path, sizeof path, "%s", pm_process.file.path);
    pm_stopped_cpu_ns = 0;
    pm_store_forget(&sampler->store);
    free(sampler);
    free(ring);
    unlink(path);
    rmdir(pm_process.run_dir);
    return 0;
}

/* --- making records --- */

static bool put_into(struct perf_event_mmap_page *r, const void *bytes, size_t n)
{
    if (r->data_head - r->data_tail + n > RING_BYTES)
        return false;
    for (size_t i = 0; i < n; i++)
        ((char *)r)[PM_RUN_PAGE + (r->data_head + i) % RING_BYTES] = ((const char *)bytes)[i];
    r->data_head += n;
    return true;
}

static bool put(const void *bytes, size_t n)
{
    return put_into(ring, bytes, n);
}

static bool put_record(uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
{
    uint64_t record[512];
    struct perf_event_header header = {type, misc, (uint16_t)((n + 1) * 8)};
    memcpy(record, &header, sizeof header);
    memcpy(record + 1, words, n * 8);
    return put(record, (n + 1) * 8);
}

static bool put_sample(uint64_t ip, uint64_t sp, bool in_kernel, uint64_t stack_words)
{
    uint64_t words[200] = {ip, time_ns, cpu_ns};
    size_t n = N_HEAD_WORDS;
    words[WORD_ID] = sample_id;
    words[WORD_ABI] = 2;
    words[WORD_SP] = sp;
    words[WORD_IP] = ip;
    words[WORD_STACK_BYTES] = stack_words * 8;
    if (stack_words != 0) {
        n += stack_words;
        words[n++] = stack_words * 8;
    }
    return put_record(PERF_RECORD_SAMPLE,
                      in_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, words, n);
}

static void drain(void)
{
    pm_stopped_cpu_ns = cpu_ns - stolen_ns + 1;
    pm_perf_drain(sampler, pm_thread_cpu_ns(sampler->slot->tid), UINT64_MAX);
    assert_int_equal(ring->data_tail, ring->data_head);
    assert_int_equal(pm_tls.ring_seen, ring->data_head);
}

/* --- reading what became of them --- */

struct totals {
    uint64_t n[7], ns[7];
};

static struct totals totals_of(uint32_t node)
{
    struct totals t = {{0}, {0}};
    for (uint32_t i = 0; i < sampler->store.n; i++) {
        const struct pm_run_sample *s = sampler->store.items[i];
        if ((node != 0 && s->node != node) || s->kind >= PM_RUN_SAMPLE_COUNTER)
            continue;
        assert_in_range(s->kind, PM_RUN_SAMPLE_USER, PM_RUN_SAMPLE_PREEMPTED);
        t.n[s->kind] += s->n_samples;
        t.ns[s->kind] += s->time_ns;
    }
    return t;
}

static uint64_t cpu_of(const struct totals *t)
{
    return t->ns[PM_RUN_SAMPLE_USER] + t->ns[PM_RUN_SAMPLE_KERNEL] + t->ns[PM_RUN_SAMPLE_LOST];
}

/* --- tests --- */

static void all_records_count_wherever_the_ring_ends(void **unused)
{
    (void)unused;
    struct totals sent = {{0}, {0}};
    sampler->has_kernel = true;
    for (int i = 0; i < 200000; i++) {
        uint32_t what = random_below(10);
        time_ns += 1 + random_below(1000);
        if (what < 7) {
            bool in_kernel = what == 0;
            cpu_ns += PERIOD_NS;
            if (!put_sample(0x1000 + random_below(50), stack_start - random_below(500) * 8,
                            in_kernel, random_below(3) ? random_below(129) : 0)) {
                cpu_ns -= PERIOD_NS;
                drain();
                continue;
            }
            sent.n[in_kernel ? PM_RUN_SAMPLE_KERNEL : PM_RUN_SAMPLE_USER]++;
        } else if (what < 9) {
            if (ring->data_head - ring->data_tail + 32 > RING_BYTES)
                continue;
            bool preempted = random_below(3) == 0;
            int kind = preempted ? PM_RUN_SAMPLE_PREEMPTED : PM_RUN_SAMPLE_WAITING;
            put_record(PERF_RECORD_SWITCH,
                       PERF_RECORD_MISC_SWITCH_OUT |
                           (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0),
                       &time_ns, 1);
            uint64_t wait = 1 + random_below(100000);
            time_ns += wait;
            put_record(PERF_RECORD_SWITCH, 0, &time_ns, 1);
            sent.n[kind]++;
            sent.ns[kind] += wait;
        } else if (random_below(4) == 0) {
            uint64_t other[40] = {0};
            put_record(PERF_RECORD_THROTTLE + random_below(2), 0, other, random_below(40));
        }
        if (random_below(20) == 0)
            drain();
    }
    drain();
    struct totals got = totals_of(0);
    assert_int_equal(got.n[PM_RUN_SAMPLE_USER], sent.n[PM_RUN_SAMPLE_USER]);
    assert_int_equal(got.n[PM_RUN_SAMPLE_KERNEL], sent.n[PM_RUN_SAMPLE_KERNEL]);
    for (int kind = PM_RUN_SAMPLE_WAITING; kind <= PM_RUN_SAMPLE_PREEMPTED; kind++) {
        assert_int_equal(got.n[kind], sent.n[kind]);
        assert_int_equal(got.ns[kind], sent.ns[kind]);
    }
    assert_int_equal(cpu_of(&got), cpu_ns);
    assert_int_equal(got.ns[PM_RUN_SAMPLE_USER], sent.n[PM_RUN_SAMPLE_USER] * PERIOD_NS);
}

/* A thread that is switched out at one place after another: the places are in a ring of their
 * own, which has room for seven, and gives back a quarter of a millisecond's each. What finds no
 * room has no place, and its time all the same. */
static void waits_are_charged_to_the_place_where_they_began(void **unused)
{
    (void)unused;
    enum { N_WAITS = 2000, N_PLACES = 5, SAMPLE_WORDS = N_HEAD_WORDS + PM_STACK_BYTES / 8 + 1 };
    struct perf_event_mmap_page *places = aligned_alloc(PM_RUN_PAGE, PM_RUN_PAGE + RING_BYTES);
    memset(places, 0, PM_RUN_PAGE + RING_BYTES);
    sampler->off_ring =
        (struct pm_off_ring){.ring = places, .bytes = RING_BYTES, .stack_bytes = PM_STACK_BYTES};
    uint64_t sent_ns[N_PLACES + 1] = {0}, got_ns[N_PLACES + 1] = {0}, n_placed = 0, begin_ns;
    time_ns = begin_ns = 1000000000;
    for (int i = 0; i < N_WAITS; i++) {
        bool is_slow = i % 200 < 100; /* there is room for all of them, then for a few */
        uint32_t place = random_below(N_PLACES);
        time_ns += is_slow ? 300000 : 1000;
        uint64_t words[SAMPLE_WORDS] = {0, time_ns, 1};
        words[WORD_ABI] = 2;
        words[WORD_SP] = stack_start;
        words[WORD_IP] = 0x1000 + place;
        words[WORD_STACK_BYTES] = PM_STACK_BYTES;
        words[SAMPLE_WORDS - 1] = PM_STACK_BYTES;
        struct perf_event_header header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL,
                                           8 * (SAMPLE_WORDS + 1)};
        char record[8 * (SAMPLE_WORDS + 1)];
        memcpy(record, &header, 8);
        memcpy(record + 8, words, sizeof words);
        bool has_room = put_into(places, record, sizeof record);
        assert_true(has_room || !is_slow || i % 200 < 10);
        time_ns += 100;
        put_record(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, &time_ns, 1);
        uint64_t wait = 1 + random_below(1000);
        time_ns += wait;
        put_record(PERF_RECORD_SWITCH, 0, &time_ns, 1);
        sent_ns[has_room ? place : N_PLACES] += wait;
        n_placed += has_room;
        if (random_below(3) == 0 || is_slow)
            drain();
    }
    drain();
    for (uint32_t i = 0; i < sampler->store.n; i++) {
        const struct pm_run_sample *s = sampler->store.items[i];
        assert_int_equal(s->kind, PM_RUN_SAMPLE_WAITING);
        got_ns[s->address != 0 ? s->address - 0x1000 : N_PLACES] += s->time_ns;
    }
    for (int p = 0; p <= N_PLACES; p++)
        assert_int_equal(got_ns[p], sent_ns[p]);
    assert_in_range(n_placed, N_WAITS / 2, 7 + 1 + (time_ns - begin_ns) / 250000);
    free(places);
}

/* Switches that did not fit: the last one that did says nothing of what came then. */
static void time_of_lost_switches_is_off_the_cpu(void **unused)
{
    (void)unused;
    enum { LONG_NS = 2000000000 };
    uint64_t lost[2] = {1, 1000};
    sampler->has_kernel = true;
    sampler->begin_ns = pm_monotonic_ns() - LONG_NS;
    time_ns = sampler->begin_ns;
    put_record(PERF_RECORD_SWITCH,
               PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, &time_ns, 1);
    time_ns += 1000;
    put_record(PERF_RECORD_SWITCH, 0, &time_ns, 1);
    time_ns += 1000;
    put_record(PERF_RECORD_SWITCH,
               PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, &time_ns, 1);
    put_record(PERF_RECORD_LOST, 0, lost, 2);
    time_ns += LONG_NS / 2;
    put_record(PERF_RECORD_SWITCH, 0, &time_ns, 1);
    uint64_t before_ns = pm_monotonic_ns();
    drain();
    struct totals t = totals_of(0);
    assert_int_equal(t.ns[PM_RUN_SAMPLE_PREEMPTED], 1000);
    assert_int_equal(t.ns[PM_RUN_SAMPLE_WAITING], 0);
    assert_in_range(t.ns[PM_RUN_SAMPLE_OFF_CPU], LONG_NS * 9ul / 10,
                    LONG_NS + pm_monotonic_ns() - before_ns + 50000000);
    drain(); /* once */
    assert_int_equal(totals_of(0).ns[PM_RUN_SAMPLE_OFF_CPU], t.ns[PM_RUN_SAMPLE_OFF_CPU]);
}

static void time_without_samples_is_charged(void **unused)
{
    (void)unused;
    for (int round = 0; round < 2; round++) {
        sampler->has_kernel = round == 0;
        cpu_ns += 50 * PERIOD_NS; /* of which the last one has a sample */
        put_sample(0x1000, stack_start, false, 0);
        drain();
    }
    struct totals t = totals_of(0);
    assert_int_equal(t.n[PM_RUN_SAMPLE_USER], 2);
    assert_int_equal(t.ns[PM_RUN_SAMPLE_LOST], 49 * PERIOD_NS);
    assert_int_equal(t.ns[PM_RUN_SAMPLE_KERNEL], 49 * PERIOD_NS);
    assert_int_equal(cpu_of(&t), cpu_ns);
}

/* A busy host: the event counts on while the thread has no processor. */
static void what_the_thread_did_not_spend_is_not_charged(void **unused)
{
    (void)unused;
    sampler->has_kernel = true;
    for (int i = 0; i < 100; i++) {
        cpu_ns += 5 * PERIOD_NS;
        stolen_ns += 4 * PERIOD_NS;
        put_sample(0x1000, stack_start, false, 0);
        drain();
    }
    struct totals t = totals_of(0);
    assert_int_equal(t.n[PM_RUN_SAMPLE_USER], 100);
    assert_int_equal(t.ns[PM_RUN_SAMPLE_LOST], 0);
    assert_int_equal(cpu_of(&t), 100 * PERIOD_NS);
    assert_int_equal(pm_tls.slot->thread->cpu_ns, 100 * PERIOD_NS + 1);
    assert_int_equal(counters.n_lost, 0);
}

static void bytes_that_are_no_records_do_no_harm(void **unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[64];
        uint32_t n = 8 * (1 + random_below(8));
        for (uint32_t k = 0; k < n; k++)
            bytes[k] = (uint8_t)random_below(random_below(3) ? 256 : 20);
        if (!put(bytes, n) || random_below(10) == 0)
            drain();
    }
    drain();
    ring->data_head += 3 * RING_BYTES; /* more than it can hold */
    pm_perf_drain(sampler, pm_thread_cpu_ns(sampler->slot->tid), UINT64_MAX);
    assert_int_equal(ring->data_tail, ring->data_head);
}

/* Samples of two counters lie among those of the clock, whose time is as without them. */
static void samples_of_counters_are_worth_their_periods(void **unused)
{
    (void)unused;
    enum { N = 20000 };
    uint64_t sent[2] = {0}, got[2] = {0};
    sampler->has_kernel = true;
    pm_process.counters = (struct pm_counter_settings){
        .n = 2, .items = {{.type = 1, .period = 3}, {.type = 0, .period = 100}}};
    sampler->counters[0].id = 71;
    sampler->counters[1].id = 73;
    sampler->counters[1].id_before = 72; /* what was in the ring before it */
    for (int i = 0; i < N; i++) {
        sample_id = random_below(4) == 0 ? 0 : 71 + random_below(3);
        time_ns += 1000;
        cpu_ns += sample_id == 0 ? PERIOD_NS : 0;
        if (!put_sample(0x1000 + random_below(50), stack_start, false, random_below(100)))
            cpu_ns -= sample_id == 0 ? PERIOD_NS : 0;
        else if (sample_id != 0)
            sent[sample_id > 71] += sample_id > 71 ? 100 : 3;
        if (random_below(20) == 0)
            drain();
    }
    drain();
    for (uint32_t i = 0; i < sampler->store.n; i++) {
        const struct pm_run_sample *s = sampler->store.items[i];
        if (s->kind >= PM_RUN_SAMPLE_COUNTER)
            got[s->kind - PM_RUN_SAMPLE_COUNTER] += s->time_ns;
    }
    assert_true(sent[0] > 3000 && sent[1] > 100000);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(got[i], sent[i]);
        assert_int_equal(sampler->counters[i].charged, sent[i]);
    }
    struct totals t = totals_of(0);
    assert_int_equal(cpu_of(&t), cpu_ns);
    sample_id = 0;
    pm_process.counters.n = 0;
}

/* Whether they took turns is told while they count, and that the kernel stopped them. */
static void what_the_ring_tells_of_counters_is_in_the_file(void **unused)
{
    (void)unused;
    struct pm_run_file *file;
    struct pm_error err = PM_ERROR_INIT;
    pm_process.counters = (struct pm_counter_settings){
        .n = 2,
        .items = {{.name = "a", .type = 0, .period = 3}, {.name = "b", .type = 0, .period = 100}}};
    pm_counters_open(sampler, -1); /* there is no ring of the kernel's: it is made here */
    sampler->counters[0].id = 71;
    sampler->counters[1].id = 73;
    sampler->counters[1].id_before = 72;
    sampler->counters[1].before = (struct pm_counted){.enabled_ns = 50, .running_ns = 20};
    const uint64_t stopped[] = {time_ns, 73, 73}, other[] = {time_ns, 99, 99};
    put_record(PERF_RECORD_THROTTLE, 0, stopped, 3);
    put_record(PERF_RECORD_THROTTLE, 0, other, 3);
    put_record(PERF_RECORD_THROTTLE, 0, stopped, 1); /* cut off */
    for (uint64_t i = 1; i <= 3; i++) {
        uint64_t words[N_HEAD_WORDS] = {0x1000, ++time_ns, 0, 100 * i, 40 * i, 73, 2};
        put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words, N_HEAD_WORDS);
        words[WORD_ID] = 72; /* the event before: its times have been added up */
        put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words, N_HEAD_WORDS);
    }
    drain();
    assert_int_equal(pm_run_file_open(pm_process.file.path, NULL, &err, &file), PM_OK);
    const struct pm_run_file_counter *a = pm_run_file_counter(file, 0),
                                     *b = pm_run_file_counter(file, 1);
    assert_int_equal(a->n_throttled, 0);
    assert_int_equal(a->enabled_ns, 0);
    assert_int_equal(b->n_throttled, 1);
    assert_int_equal(b->enabled_ns, 350);
    assert_int_equal(b->running_ns, 140);
    pm_run_file_free(file);
    pm_process.counters.n = 0;
    pm_counters_fork_child(); /* forgets the file */
}

/* Records that end where the stack would begin, or within it. */
static void a_stack_that_is_cut_is_not_looked_at(void **unused)
{
    (void)unused;
    enum { MOST_WORDS = 3 };
    for (size_t n = 0; n <= MOST_WORDS; n++) {
        uint64_t words[N_HEAD_WORDS + MOST_WORDS] = {0x1000, time_ns, cpu_ns += PERIOD_NS};
        words[WORD_ABI] = 2;
        words[WORD_SP] = words[WORD_IP] = 0x1000;
        words[N_HEAD_WORDS - 1] = 0x70000000; /* asked for */
        assert_true(put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words, N_HEAD_WORDS + n));
    }
    drain();
    assert_int_equal(totals_of(0).n[PM_RUN_SAMPLE_USER], MOST_WORDS + 1);
}

static void send(enum pm_sled_kind kind, uint32_t noun, uint8_t loop_depth, uint64_t sp)
{
    struct pm_probe probe = {.mode = (uint8_t)pm_process.mode,
                             .noun = noun,
                             .kind = (uint8_t)kind,
                             .loop_depth = loop_depth};
    pm_slow(&probe, sp, pm_tsc());
}

static void a_sample_goes_to_the_frame_that_is_alive(void **unused)
{
    (void)unused;
    sampler->has_kernel = true;
    send(PM_SLED_ENTRY, 1, 0, stack_start);
    uint32_t outer = pm_tls.current->place;
    send(PM_SLED_LOOP_ENTER, 2, 1, stack_start - 800);
    uint32_t loop = pm_tls.current->place;
    send(PM_SLED_ENTRY, 3, 0, stack_start - 1000);
    uint32_t inner = pm_tls.current->place;
    static const struct {
        uint64_t below;
        int who;
    } samples[] = {{2000, 2}, {1000, 2}, {992, 1}, {600, 1}, {0, 1}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        cpu_ns += PERIOD_NS;
        put_sample(0x1000, stack_start - samples[i].below, false, 0);
    }
    cpu_ns += PERIOD_NS;
    put_sample(0x1000, stack_start + 8, false, 0); /* even the function's frame is gone */
    drain();
    assert_int_equal(totals_of(inner).n[PM_RUN_SAMPLE_USER], 2);
    assert_int_equal(totals_of(loop).n[PM_RUN_SAMPLE_USER], 3);
    assert_int_equal(totals_of(outer).n[PM_RUN_SAMPLE_USER], 0);
    assert_int_equal(totals_of(pm_tls.slot->root->place).n[PM_RUN_SAMPLE_USER], 1);
}

/* Of time that is noticed late only the contexts that were active all the time can be told. */
static void late_time_goes_to_what_was_active_all_the_time(void **unused)
{
    (void)unused;
    sampler->has_kernel = false;
    send(PM_SLED_ENTRY, 1, 0, stack_start);
    uint32_t outer = pm_tls.current->place;
    for (int i = 0; i < 3; i++) {
        send(PM_SLED_ENTRY, 3, 0, stack_start - 1000);
        cpu_ns += PERIOD_NS * (i == 0 ? 1 : 10);
        put_sample(0x1000, stack_start - 1100, false, 0);
        drain();
        cpu_ns += PERIOD_NS * 5;
        put_sample(0x1000, stack_start - 1100, false, 0);
        drain();
        send(PM_SLED_RETURN, 3, 0, stack_start - 1000);
    }
    struct totals t = totals_of(outer);
    assert_int_equal(t.ns[PM_RUN_SAMPLE_KERNEL], 2 * 9 * PERIOD_NS);
    assert_int_equal(t.n[PM_RUN_SAMPLE_USER], 0);
    t = totals_of(0);
    assert_int_equal(t.ns[PM_RUN_SAMPLE_KERNEL], (2 * 9 + 3 * 4) * PERIOD_NS);
    assert_int_equal(cpu_of(&t), cpu_ns);
}

static void many_different_samples_are_all_there(void **unused)
{
    (void)unused;
    enum { N = 200000, KNOWN = 1 << 17 };
    struct pm_run_sample key = {
        .node = 1, .generation = 1, .kind = PM_RUN_SAMPLE_USER, .n_samples = 1, .time_ns = 10};
    struct pm_run_sample *item;
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < N; i++) {
            key.address = 1 + i * 4;
            assert_true(
                pm_store_add(&sampler->store, sampler->slot->thread_offset, NULL, &key, &item));
        }
    struct totals t = totals_of(0);
    assert_int_equal(t.n[PM_RUN_SAMPLE_USER], 2 * N);
    assert_int_equal(t.ns[PM_RUN_SAMPLE_USER], 20 * N);
    assert_int_equal(sampler->store.n, KNOWN + 1);
}

/* Random functions, loops and sentences: a sample at a stack pointer goes to the context that is
 * innermost after an event there that only ends what is dead. */
static void samples_and_events_agree_on_what_is_dead(void **unused)
{
    (void)unused;
    enum { STEPS = 20000, N_KINDS = 3 };
    static const struct {
        uint8_t kind, loop_depth;
        uint32_t noun, steps;
    } kinds[N_KINDS] = {{PM_SLED_ENTRY, 0, 1, 1},
                        {PM_SLED_LOOP_ENTER, 1, 20, 0},
                        {PM_RUN_SENTENCE_ENTER, PM_SLED_DEPTH_MASK, 40, 0}};
    uint64_t sp = stack_start;
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned kind = random_below(N_KINDS);
        uint32_t noun = kinds[kind].noun + random_below(8);
        if (sp > stack_start - 32768)
            sp -= 8 * (kinds[kind].steps + random_below(3));
        struct pm_probe probe = {.mode = PM_RUN_MODE_EXACT,
                                 .noun = noun,
                                 .kind = kinds[kind].kind,
                                 .loop_depth = kinds[kind].loop_depth};
        pm_slow(&probe, sp, pm_tsc());
        bool interrupted = random_below(8) == 0; /* just before it stored its sp */
        if (interrupted)
            pm_tls.current->sp = 0;
        uint64_t there = sp + 8 * random_below(random_below(4) == 0 ? 40 : 3);
        there = there < stack_start ? there : stack_start;
        const struct pm_node *sampled = pm_sample_context(sampler, there);
        probe = (struct pm_probe){.mode = PM_RUN_MODE_EXACT,
                                  .noun = 99, /* which nothing has entered */
                                  .kind = PM_SLED_LOOP_LEAVE,
                                  .loop_depth = 1};
        pm_slow(&probe, there, pm_tsc());
        assert_ptr_equal(sampled, pm_own_current(&pm_tls));
        sp = there;
    }
}

static void nothing_is_read_before_the_page_of_an_instruction(void **state)
{
    (void)state;
#if defined(__x86_64__)
    uint8_t *pages = mmap(NULL, 2 * PM_RUN_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    uint8_t *page = pages + PM_RUN_PAGE;
    assert_int_equal(mprotect(page, PM_RUN_PAGE, PROT_READ | PROT_WRITE), 0);
    memcpy(page, "\x0f\x05", 2);
    assert_false(pm_is_behind_system_call((uintptr_t)page));
    assert_false(pm_is_behind_system_call((uintptr_t)page + 1));
    assert_true(pm_is_behind_system_call((uintptr_t)page + 2));
    assert_false(pm_is_behind_system_call((uintptr_t)page + 3));
    munmap(pages, 2 * PM_RUN_PAGE);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_records_count_wherever_the_ring_ends, begin, end),
        cmocka_unit_test_setup_teardown(waits_are_charged_to_the_place_where_they_began, begin,
                                        end),
        cmocka_unit_test_setup_teardown(time_of_lost_switches_is_off_the_cpu, begin, end),
        cmocka_unit_test_setup_teardown(time_without_samples_is_charged, begin, end),
        cmocka_unit_test_setup_teardown(what_the_thread_did_not_spend_is_not_charged, begin, end),
        cmocka_unit_test_setup_teardown(bytes_that_are_no_records_do_no_harm, begin, end),
        cmocka_unit_test_setup_teardown(samples_of_counters_are_worth_their_periods, begin, end),
        cmocka_unit_test_setup_teardown(what_the_ring_tells_of_counters_is_in_the_file, begin, end),
        cmocka_unit_test_setup_teardown(a_stack_that_is_cut_is_not_looked_at, begin, end),
        cmocka_unit_test_setup_teardown(a_sample_goes_to_the_frame_that_is_alive, begin, end),
        cmocka_unit_test_setup_teardown(samples_and_events_agree_on_what_is_dead, begin, end),
        cmocka_unit_test_setup_teardown(late_time_goes_to_what_was_active_all_the_time, begin, end),
        cmocka_unit_test(nothing_is_read_before_the_page_of_an_instruction),
        cmocka_unit_test_setup_teardown(many_different_samples_are_all_there, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
