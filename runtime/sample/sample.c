/* Samples: where the program was, asked at equal distances of CPU time (others in each thread and
 * run, see perf.c), and which context was active then.
 *
 * A ring is drained before a sled changes the context (tree.c), so all that is in it belongs to
 * the context that is active now, or to one above it: that one's frame may be gone already (an
 * exception, a call that has just returned), which the sampled stack pointer tells, and sleds
 * that are disarmed for the budget leave contexts behind.
 *
 * With --clock wall, too, samples are taken of CPU time, and the times off the CPU, as the
 * kernel notes them, are added: with the place where the thread was switched out. A signal by
 * the clock would end the program's sleeps and waits early.
 *
 * All of a thread's CPU time is charged, and no more: what the thread's own clock counts beyond
 * its samples (the kernel where it may not be sampled, samples that were lost, the rest at the
 * end) goes to the innermost context that has been active ever since the sample before. That is
 * known without any clock: at each sample the contexts that are open get their count of calls as
 * a mark, and one that still has it has not been left. Where the kernel may not be sampled, each
 * drain looks, too, whether whole periods have passed there (context switches bring drains).
 */
#include "runtime/sample/sample.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/signals.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/ambient.h"
#include "runtime/tree/fold.h"
#include "runtime/tree/frame.h"
#include "runtime/code/places.h"
#include "runtime/budget/adapt.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

struct pm_run_sampling *pm_sampling;
static bool begun;

enum {
    LEAST_SWITCH_NS = 10000, /* what clocks that are read one after the other may differ by */
    /* Of the kernel, to write one that needs no interrupt: 100 000 page faults took 4 us more each,
     * of which draining was half. */
    SOFTWARE_SAMPLE_NS = 2000,
};

static bool take_lock(struct pm_sampler *s)
{
    return __atomic_exchange_n(&s->lock, 1, __ATOMIC_SEQ_CST) == 0;
}

static void give_lock(struct pm_sampler *s)
{
    __atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
}

/* All but traps: no thread that blocks these can be while sleds change (patch.c), and they come
 * from code with sleds only, which this is not. */
static uint64_t block_signals(void)
{
    uint64_t most = ~((uint64_t)1 << (SIGTRAP - 1)), mask = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_BLOCK, &most, &mask, sizeof most);
    return mask;
}

static void restore_signals(uint64_t mask)
{
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

/* --- contexts --- */

/* Has what a context jumped to returned? While it runs, its return address is where that of the
 * context was: else the caller has called from another place since. What the sample kept of the
 * stack tells how it was then, the stack itself how it was at the event before which samples are
 * read. */
static bool has_jumped_out(const struct pm_tls *t, const struct pm_slot *slot,
                           const struct pm_node *node, uint64_t sp)
{
    while (node->loop_depth != 0 && !pm_node_is_said(node) && node->parent != NULL)
        node = node->parent;
    uint64_t frame = pm_sp_frame(pm_load(node->sp)), found = 0;
    if (node->parent == NULL || !pm_sp_jumped(pm_load(node->sp)))
        return false;
    if (pm_sp_jumps(pm_load(
            node->sp))) /* what it jumped to ends both, but where that has lost its context */
        return node != pm_own_current(t);
    const struct pm_jump *jump = pm_jump_at((struct pm_tls *)(uintptr_t)t, frame);
    const struct pm_sampler *s = slot->sampler;
    const struct pm_taken *taken = s != NULL ? s->taken : NULL;
    bool timed = pm_load(node->start_tsc) != 0;
    if ((timed && jump->sp != frame) || sp == 0)
        return true;
    if (taken != NULL && taken->sp == sp && frame - sp + 8 <= taken->stack_bytes)
        memcpy(&found, taken->stack + (frame - sp), sizeof found);
    else if (t != &pm_tls)
        return true;
    else if (!timed)
        return pm_has_returned(t, node, (uint64_t)(uintptr_t)__builtin_frame_address(0));
    else
        found = *(const uint64_t *)frame;
    return timed ? found != jump->return_address : (uint32_t)found != node->paused;
}

const struct pm_node *pm_context_at(const struct pm_tls *t, const struct pm_slot *slot, uint64_t sp)
{
    const struct pm_node *base = pm_load(t->base);
    bool other_stack = sp > pm_load((base != NULL ? base : slot->root)->sp);
    const struct pm_node *node = pm_own_current(t);
    if (other_stack && pm_load(t->current) == &pm_sentinel && t->where == PM_WHERE_FOREIGN &&
        t->foreign_current != NULL)
        node = t->foreign_current;
    if (node == NULL)
        return slot->root;
    while (node->parent != NULL && (pm_noun_is_disarmed(node->noun) || pm_node_is_gone(node) ||
                                    (sp != 0 && !other_stack && pm_frame_is_dead(node, sp)) ||
                                    has_jumped_out(t, slot, node, sp)))
        node = node->parent;
    return node;
}

const struct pm_node *pm_sample_context(const struct pm_sampler *s, uint64_t sp)
{
    return pm_context_at(s->t, s->slot, sp);
}

/* A timed context ends at an event, not where its frame died (longjmp): its time goes on until
 * then, and so must what is taken out of it. */
static bool outlives_its_frame(const struct pm_sampler *s, uint64_t sp)
{
    const struct pm_node *base = pm_load(s->t->base), *node = pm_own_current(s->t);
    return sp != 0 && node != NULL && node->parent != NULL && pm_load(node->start_tsc) != 0 &&
           sp <= pm_load((base != NULL ? base : s->slot->root)->sp) && pm_frame_is_dead(node, sp);
}

const struct pm_node *pm_sample_off_at(const struct pm_sampler *s, uint64_t sp)
{
    return pm_sample_context(s, outlives_its_frame(s, sp) ? 0 : sp);
}

const struct pm_node *pm_sample_off_context(const struct pm_sampler *s)
{
    if (s->off.context != NULL && s->off.current == pm_own_current(s->t))
        return s->off.context;
    return pm_sample_off_at(s, s->off.sp);
}

const struct pm_node *pm_sample_steady(const struct pm_sampler *s, const struct pm_node *node)
{
    (void)s;
    while (node->parent != NULL && node->sampled_calls != pm_load(node->n_calls))
        node = node->parent;
    return node;
}

static uint64_t mark_one(struct pm_node *node)
{
    uint64_t now = pm_load(node->n_calls), n_calls = now - node->sampled_calls;
    node->sampled_calls = now;
    return n_calls;
}

/* Returns how many calls came since they were marked before; those of what was last called from
 * these contexts, too: what is called most is seldom open at a sample. What is not open may be
 * marked, for its next call unmarks it. */
static uint64_t mark(const struct pm_node *node)
{
    uint64_t n_calls = 0;
    for (struct pm_node *n = (struct pm_node *)(uintptr_t)node; n != NULL; n = n->parent) {
        struct pm_node *child = pm_load(n->cached_child);
        if (child != &pm_sentinel)
            n_calls += mark_one(child);
        if (n->sampled_calls == pm_load(n->n_calls))
            break;
        n_calls += mark_one(n);
    }
    return n_calls;
}

/* --- charging --- */

void pm_sample_charge(struct pm_sampler *s, const struct pm_node *node, struct pm_when when,
                      struct pm_run_sample sample)
{
    sample.node = node->place;
    struct pm_run_sample *item;
    if (!pm_store_add(&s->store, s->slot->thread_offset, &when, &sample, &item))
        pm_add_shared(pm_sampling->n_lost, sample.n_samples != 0 ? sample.n_samples : 1);
}

/* While PerfMap begins, nobody else's code can be what was preempted. */
static struct pm_off off_of_beginning(void)
{
    return (struct pm_off){.kind = PM_RUN_SAMPLE_PREEMPTED,
                           .flags = PM_RUN_SAMPLE_BEGINNING,
                           .address = (uint64_t)(uintptr_t)&pm_sample_thread_begin};
}

void pm_sample_waited(struct pm_sampler *s, const struct pm_node *node, const struct pm_off *off,
                      struct pm_when when, uint64_t ns)
{
    struct pm_off beginning = off_of_beginning();
    if (s->is_beginning && off->kind == PM_RUN_SAMPLE_PREEMPTED)
        off = &beginning;
    pm_add_shared(pm_sampling->n_switches, 1);
    s->off_ns += ns;
    pm_sample_charge(s, node, when,
                     (struct pm_run_sample){.address = off->address,
                                            .caller = off->caller,
                                            .kind = off->kind,
                                            .flags = off->flags,
                                            .generation = pm_places_generation(0),
                                            .n_samples = 1,
                                            .time_ns = ns});
}

void pm_sample_settle(struct pm_sampler *s, const struct pm_node *node, uint64_t until_ns,
                      uint64_t cpu_ns, uint64_t least_ns, bool lost)
{
    int64_t missing = (int64_t)(cpu_ns - s->charged_ns);
    if (missing <= 0 || (uint64_t)missing < least_ns)
        return;
    uint64_t period_ns = s->period_ns != 0 ? s->period_ns : pm_process.sample_period_ns;
    uint64_t n_samples = (uint64_t)missing / period_ns;
    bool in_kernel = !s->has_kernel && !lost && s->n_lost == 0 && n_samples != 0;
    s->charged_ns += (uint64_t)missing;
    s->n_lost = 0;
    struct pm_when when = {s->known_ns, until_ns != 0 ? until_ns : pm_monotonic_ns()};
    s->known_ns = when.until_ns;
    pm_sample_charge(
        s, node, when,
        (struct pm_run_sample){.kind = in_kernel ? PM_RUN_SAMPLE_KERNEL : PM_RUN_SAMPLE_LOST,
                               .generation = pm_places_generation(0),
                               .n_samples = n_samples,
                               .time_ns = (uint64_t)missing});
    if (!in_kernel)
        pm_add_shared(pm_sampling->n_lost, n_samples);
}

bool pm_sample_vforked(struct pm_tls *t, uint64_t cpu_ns)
{
    struct pm_sampler *s = t->sampler;
    if (s == NULL || !take_lock(s))
        return false;
    uint64_t now_ns = pm_monotonic_ns();
    pm_sample_charge(s, pm_sample_steady(s, pm_sample_context(s, 0)),
                     (struct pm_when){now_ns, now_ns},
                     (struct pm_run_sample){.kind = PM_RUN_SAMPLE_LOST,
                                            .generation = pm_places_generation(0),
                                            .n_samples = cpu_ns / pm_process.sample_period_ns,
                                            .time_ns = cpu_ns});
    s->slot->cpu_before_ns += cpu_ns;
    give_lock(s);
    return true;
}

void pm_sample_settle_kernel(struct pm_sampler *s)
{
    uint64_t since_ns = s->missing_ns > s->rest_ns ? s->missing_ns - s->rest_ns : 0;
    uint64_t kernel_ns = since_ns - since_ns % s->period_ns;
    if (s->has_kernel || s->n_lost != 0 || kernel_ns == 0)
        return;
    const struct pm_node *node = pm_sample_context(s, 0);
    pm_sample_settle(s, pm_sample_steady(s, node), 0, s->charged_ns + kernel_ns, 1, false);
    s->event_ns += kernel_ns;
    s->missing_ns -= kernel_ns;
    s->n_marked += mark(node);
}

/* Was it in a trampoline? */
static void note_probe(const struct pm_taken *taken, struct pm_run_sample *sample)
{
    struct pm_probe_place probe;
    if (taken->kind != PM_RUN_SAMPLE_USER || !pm_places_probe(sample->address, &probe))
        return;
    sample->caller = probe.noun + 1ull;
    sample->flags = PM_RUN_SAMPLE_PROBE | (probe.inner ? PM_RUN_SAMPLE_PROBE_INNER : 0);
}

void pm_sample_take(struct pm_sampler *s, const struct pm_taken *taken)
{
    s->taken = taken;
    const struct pm_node *node = pm_sample_context(s, taken->sp);
    s->taken = NULL;
    uint64_t time_ns = taken->time_ns != 0 ? taken->time_ns : s->time_ns;
    uint64_t gap_ns = taken->cpu_ns - taken->period_ns - s->event_ns;
    s->event_ns = taken->cpu_ns;
    if ((int64_t)gap_ns >= (int64_t)taken->period_ns && s->missing_ns >= taken->period_ns) {
        gap_ns = gap_ns < s->missing_ns ? gap_ns : s->missing_ns;
        s->missing_ns -= gap_ns;
        pm_sample_settle(s, pm_sample_steady(s, node), time_ns, s->charged_ns + gap_ns, 1, false);
    }
    pm_adapt_sampled(s->n_marked + mark(node), taken->period_ns);
    s->n_marked = 0;
    struct pm_caller caller = pm_sample_caller(s, node, taken);
    struct pm_run_sample sample = {.address = taken->address,
                                   .caller = caller.address,
                                   .flags = caller.flags,
                                   .generation = pm_places_generation(taken->time_ns),
                                   .kind = (uint8_t)taken->kind,
                                   .n_samples = 1,
                                   .time_ns = taken->period_ns};
    note_probe(taken, &sample);
    s->charged_ns += taken->period_ns;
    s->known_ns = time_ns;
    pm_add_shared(pm_sampling->n_samples, 1);
    pm_sample_charge(s, node, (struct pm_when){time_ns, time_ns}, sample);
}

void pm_sample_count(struct pm_sampler *s, uint32_t counter, const struct pm_taken *taken,
                     uint64_t period)
{
    s->taken = taken;
    const struct pm_node *node = pm_sample_context(s, taken->sp);
    s->taken = NULL;
    if (pm_process.counters.items[counter].type == PERF_TYPE_SOFTWARE)
        pm_adapt_drained(SOFTWARE_SAMPLE_NS);
    else
        pm_adapt_sampled(0, 0);
    struct pm_caller caller = pm_sample_caller(s, node, taken);
    struct pm_run_sample sample = {.address = taken->address,
                                   .caller = caller.address,
                                   .flags = caller.flags,
                                   .generation = pm_places_generation(taken->time_ns),
                                   .kind = (uint8_t)(PM_RUN_SAMPLE_COUNTER + counter),
                                   .n_samples = 1,
                                   .time_ns = period};
    note_probe(taken, &sample);
    if (taken->kind == PM_RUN_SAMPLE_KERNEL)
        sample.flags |= PM_RUN_SAMPLE_IN_KERNEL;
    s->counters[counter].charged += period;
    pm_sample_charge(s, node, (struct pm_when){taken->time_ns, taken->time_ns}, sample);
}

void pm_sample_overflowed(struct pm_sampler *s, uint32_t counter, const void *context)
{
    uint64_t mask = block_signals();
    if (take_lock(s)) { /* else it is read at the end, and has no place */
        struct pm_taken taken = pm_timer_taken(s, context);
        taken.time_ns = pm_counters_now_ns(s);
        pm_sample_count(s, counter, &taken, pm_process.counters.items[counter].period);
        give_lock(s);
    }
    restore_signals(mask);
}

/* --- draining --- */

/* By the thread's CPU clock: by the time stamp counter, what others did meanwhile would be the
 * runtime's cost, and threads are preempted here more often than elsewhere, for the bell and the
 * end of a time slice come at the same ticks (half of all preemption of a busy machine: "456 %"
 * of 66). */
static uint64_t own_cpu_ns(const struct pm_sampler *s)
{
    return pm_thread_cpu_ns(s->slot->tid);
}

/* Where every event reads them, all was in the context that is active now. Otherwise in one that
 * has been active ever since the sample before, or in what it called: marks are as of then, and
 * counters were read before those were made. */
static void read_counters(struct pm_sampler *s, bool in_handler)
{
    if (!pm_counters_are_read())
        return;
    const struct pm_node *node = pm_sample_context(s, 0);
    pm_counters_read(s, s->t->reads_counters ? node : pm_sample_steady(s, node),
                     s->t->reads_counters, in_handler);
}

void pm_sample_drain_until(struct pm_tls *t, uint64_t time_ns)
{
    struct pm_sampler *s = t->sampler;
    if (s == NULL || s->source != PM_RUN_SAMPLES_PERF)
        return;
    uint64_t mask = block_signals();
    if (take_lock(s)) {
        read_counters(s, true); /* the bell's handler comes here, too */
        pm_perf_drain(s, own_cpu_ns(s), time_ns);
        give_lock(s);
    }
    restore_signals(mask);
}

/* Where samples are taken by timers. */
static void read_without_ring(struct pm_sampler *s)
{
    uint64_t mask = block_signals();
    if (take_lock(s)) {
        read_counters(s, false);
        give_lock(s);
    }
    restore_signals(mask);
}

static bool has_ended(void)
{
    const struct pm_run_header *h = pm_process.file.header;
    return h != NULL && (pm_load(h->flags) & PM_RUN_FLAG_ENDED) != 0;
}

uint64_t pm_sample_drain(struct pm_tls *t)
{
    struct pm_sampler *s = t->sampler;
    pm_ambient_look(t);
    if (!*pm_process.alive_mark) {
        pm_ambient_saw(t, *t->ring_head);
        return pm_tsc();
    }
    if (s == NULL || s->source != PM_RUN_SAMPLES_PERF) { /* it is control.c's word that has moved */
        uint64_t tsc = pm_tsc();
        if (s != NULL && t->reads_counters)
            read_without_ring(s);
        pm_ambient_saw(t, *t->ring_head);
        pm_adapt_tick(tsc);
        return tsc;
    }
    /* an exec is about to end this thread, whose CPU time has been written down */
    if (has_ended()) {
        pm_ambient_saw(t, *t->ring_head);
        return pm_tsc();
    }
    uint64_t mask = block_signals(), start_ns = own_cpu_ns(s);
    uint64_t drained_tsc = pm_tsc();
    if (take_lock(s)) {
        read_counters(s, false);
        pm_perf_drain(s, start_ns, UINT64_MAX);
        pm_perf_deepen(s);
        give_lock(s);
    }
    pm_adapt_drained(own_cpu_ns(s) - start_ns);
    restore_signals(mask);
    uint64_t tsc = pm_tsc();
    pm_file_renew_clock(tsc);
    pm_adapt_tick(tsc);
    return drained_tsc;
}

void pm_sample_resume(struct pm_tls *t)
{
    struct pm_sampler *s = t->sampler;
    if (s == NULL || !*pm_process.alive_mark || has_ended())
        return;
    uint64_t mask = block_signals();
    if (take_lock(s)) {
        pm_counters_skip(s);
        give_lock(s);
    }
    restore_signals(mask);
}

static uint64_t address_of(const void *context)
{
#if defined(__x86_64__)
    return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return ((const ucontext_t *)context)->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/* Follows what has been begun in the whole process. False: not now, for code of ours is
 * interrupted, which may be about to change the context; it looks itself when it is next called. */
static bool follow(struct pm_tls *t, const void *context)
{
    if (t->state != PM_THREAD_READY || !pm_ambient_is_behind(t))
        return true;
    if (pm_places_is_own(address_of(context)))
        return false;
    pm_ambient_follow(t);
    return true;
}

/* The bell, or a timer. All signals are blocked. */
static bool on_bell(siginfo_t *info, void *context)
{
    struct pm_sampler *s = pm_tls.sampler;
    if (!pm_signal_is_ours(info))
        return false;
    if (!*pm_process.alive_mark)
        return true;
    if (!follow(&pm_tls, context) || s == NULL || !take_lock(s)) {
        pm_adapt_tick(pm_tsc());
        return true;
    }
    uint64_t start_ns = own_cpu_ns(s);
    if (s->source == PM_RUN_SAMPLES_PERF) {
        read_counters(s, true);
        pm_perf_drain(s, start_ns, UINT64_MAX);
        pm_perf_rang(s);
    } else if (s->source == PM_RUN_SAMPLES_TIMER && info->si_code == SI_TIMER)
        pm_timer_expired(s, context);
    pm_adapt_drained(own_cpu_ns(s) - start_ns);
    give_lock(s);
    uint64_t tsc = pm_tsc();
    pm_file_renew_clock(tsc);
    pm_adapt_tick(tsc);
    return true;
}

/* What is left, at the end of a thread or of the process. */
static void take_rest(struct pm_sampler *s)
{
    uint64_t cpu_ns = pm_thread_cpu_ns(s->slot->tid);
    if (s->source == PM_RUN_SAMPLES_PERF)
        pm_perf_drain(s, cpu_ns, UINT64_MAX);
    if (cpu_ns == 0)
        return;
    cpu_ns -= s->cpu_before_ns;
    const struct pm_node *node = pm_sample_context(s, 0);
    if (s->source == PM_RUN_SAMPLES_TIMER)
        pm_timer_wait(s, cpu_ns);
    else if (s->off_since_ns != 0) { /* it waits */
        uint64_t now = pm_monotonic_ns();
        if (now > s->off_since_ns)
            pm_sample_waited(s, pm_sample_off_context(s), &s->off,
                             (struct pm_when){s->off_since_ns, now}, now - s->off_since_ns);
        s->off_since_ns = now;
    }
    pm_sample_settle(s, pm_sample_steady(s, node), 0, cpu_ns, 1, false);
    pm_counters_settle(s);
}

/* --- threads --- */

static struct pm_run_sampling *make_chunk(void)
{
    static uint32_t making;
    struct pm_run_sampling *chunk = pm_load(pm_sampling);
    if (chunk != NULL || __atomic_exchange_n(&making, 1, __ATOMIC_ACQUIRE) != 0)
        return chunk;
    uint64_t offset;
    chunk = pm_file_chunk(PM_RUN_CHUNK_SAMPLING, sizeof *chunk, 0, &offset);
    if (chunk != NULL) {
        chunk->clock = pm_process.sample_clock;
        chunk->period_ns = pm_process.sample_period_ns;
        chunk->active_pair_ps = pm_process.active_pair_ps;
        chunk->start_cpu_ns = pm_process.before_cpu_ns;
        pm_store(pm_sampling, chunk);
    }
    __atomic_store_n(&making, 0, __ATOMIC_RELEASE);
    return chunk;
}

void pm_sample_calibrated(void)
{
    struct pm_run_sampling *chunk = pm_load(pm_sampling);
    if (chunk != NULL)
        chunk->active_pair_ps = pm_process.active_pair_ps;
}

static struct pm_sampler *sampler_of(struct pm_slot *slot)
{
    if (slot->sampler == NULL)
        pm_store(slot->sampler, pm_private_memory(sizeof *slot->sampler));
    return slot->sampler;
}

static long paranoid_level(void)
{
    char text[16] = "";
    long fd =
        pm_sys(SYS_openat, AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -100;
    pm_sys(SYS_read, fd, text, sizeof text - 1);
    pm_sys(SYS_close, fd);
    return text[0] >= '0' && text[0] <= '9' ? text[0] - '0' : -1;
}

static void say_once(const struct pm_run_sampling *chunk)
{
    static uint32_t said;
    if (pm_process.sample_force != PM_RUN_SAMPLES_NONE || pm_add_shared(said, 1) != 0)
        return;
    bool forbidden = chunk->error_no == 1 || chunk->error_no == 13;
    const char *reason =
        forbidden && paranoid_level() > 2
            ? "the kernel allows no perf events (sysctl kernel.perf_event_paranoid=2 would)"
        : forbidden ? "perf events are forbidden here (by a container?)"
        : chunk->error_no == 38 || chunk->error_no == 2 ? "this kernel has no perf events"
                                                        : "no perf event could be opened";
    if (chunk->source == PM_RUN_SAMPLES_TIMER)
        pm_file_message(PM_RUN_MSG_NOTE,
                        "samples are taken by timers, at most as often as the kernel's ticks "
                        "(often 250 a second), "
                        "and waiting is not located: ",
                        reason);
    else
        pm_file_message(
            PM_RUN_MSG_LIMIT,
            "no samples are taken (--rate 0 asks for none): timers cannot be used, and ", reason);
}

static void note_opened(const struct pm_sampler *s, struct pm_run_sampling *chunk, int error_no)
{
    bool first = pm_add_shared(chunk->n_threads, s->source != PM_RUN_SAMPLES_NONE) == 0;
    if (s->source == PM_RUN_SAMPLES_NONE)
        pm_add_shared(chunk->n_threads_failed, 1);
    if (first && s->source != PM_RUN_SAMPLES_NONE) {
        chunk->source = s->source;
        chunk->has_kernel = s->has_kernel;
        chunk->has_switches = 1;
    }
    if (error_no != 0 && chunk->error_no == 0) {
        chunk->error_no = error_no;
        say_once(chunk);
    }
}

/* What the thread's CPU clock counted before its first sample could be taken is PerfMap's own:
 * its start in the main thread, the thread's memory in others. */
static void charge_start(struct pm_sampler *s)
{
    uint64_t from =
        pm_thread_pointer() == pm_process.main_thread_pointer ? pm_process.start_cpu_ns : 0;
    if (s->cpu_before_ns > from)
        pm_sample_charge(
            s, s->slot->root, (struct pm_when){s->known_ns, s->known_ns},
            (struct pm_run_sample){.address = (uint64_t)(uintptr_t)&pm_sample_thread_begin,
                                   .generation = pm_places_generation(0),
                                   .kind = PM_RUN_SAMPLE_USER,
                                   .time_ns = s->cpu_before_ns - from});
}

/* The system calls that open events take long, so threads are preempted there: 5 to 30 ms of a
 * busy machine's were the thread's own wall time. What the ring knows of it already is taken
 * first. */
static void charge_opening(struct pm_sampler *s, uint64_t since_ns, uint64_t since_cpu_ns)
{
    uint64_t now = pm_monotonic_ns();
    if (since_ns == 0 || s->source != PM_RUN_SAMPLES_PERF)
        return;
    pm_perf_drain(s, s->cpu_before_ns, now);
    int64_t off_ns = (int64_t)(now - since_ns - s->off_ns - (s->cpu_before_ns - since_cpu_ns));
    if (off_ns >= LEAST_SWITCH_NS)
        pm_sample_waited(s, pm_sample_context(s, 0),
                         &(struct pm_off){.kind = PM_RUN_SAMPLE_PREEMPTED},
                         (struct pm_when){since_ns, now}, (uint64_t)off_ns);
    s->begin_ns = now - s->off_ns; /* which holds what was before now */
}

/* System calls only: also at a thread's first event, where none of our code saw it start. */
void pm_sample_thread_begin(struct pm_tls *t, uint64_t since_ns, uint64_t since_cpu_ns)
{
    if (!begun || t->sampler != NULL || t->slot == NULL)
        return;
    struct pm_run_sampling *chunk = make_chunk();
    struct pm_sampler *s = chunk != NULL ? sampler_of(t->slot) : NULL;
    if (s == NULL || !take_lock(s))
        return;
    s->t = t;
    s->slot = t->slot;
    s->source = PM_RUN_SAMPLES_NONE;
    s->charged_ns = s->n_lost = s->event_ns = s->missing_ns = s->rest_ns = s->n_marked = 0;
    int error_no = pm_process.sample_force == PM_RUN_SAMPLES_TIMER ? 0 : pm_perf_open(s);
    if (s->source == PM_RUN_SAMPLES_NONE && pm_process.sample_force != PM_RUN_SAMPLES_PERF)
        pm_timer_open(s);
    if (s->source == PM_RUN_SAMPLES_TIMER) {
        pm_counters_open(s, -1);
        pm_ambient_saw(t, pm_load(t->ring_seen)); /* each event reads, where it does */
    }
    s->cpu_before_ns = pm_thread_cpu_ns(t->slot->tid); /* now: opening takes its time */
    note_opened(s, chunk, error_no);
    if (s->source != PM_RUN_SAMPLES_NONE) {
        s->is_beginning = true;
        s->known_ns = pm_monotonic_ns();
        charge_start(s);
        charge_opening(s, since_ns, since_cpu_ns);
        s->is_beginning = false;
        pm_store(t->sampler, s);
    }
    give_lock(s);
}

/* Signals are blocked, or a handler comes in between and finds nothing to do. Another thread
 * that ends the process and has the lock may use the ring, so it is waited for. */
void pm_sample_thread_end(struct pm_tls *t)
{
    struct pm_sampler *s = t->sampler;
    if (s == NULL)
        return;
    uint64_t mask = block_signals();
    while (!take_lock(s))
        pm_sys(SYS_sched_yield);
    take_rest(s);
    pm_counters_close(s, true);
    if (s->source == PM_RUN_SAMPLES_PERF)
        pm_perf_close(s);
    else
        pm_timer_close(s);
    uint64_t cpu_ns = pm_thread_cpu_ns(s->slot->tid);
    pm_sample_settle(s, s->slot->root, 0, cpu_ns - s->cpu_before_ns, 1, false);
    s->source = PM_RUN_SAMPLES_NONE;
    pm_store(t->sampler, NULL);
    give_lock(s);
    restore_signals(mask);
}

void pm_sample_join(void)
{
    struct pm_sampler *s = pm_tls.sampler;
    if (s == NULL)
        return;
    uint64_t mask = block_signals();
    if (take_lock(s)) {
        pm_counters_join(s);
        give_lock(s);
    }
    restore_signals(mask);
}

/* --- the process --- */

void pm_sample_process_begin(void)
{
    if (begun || !pm_sample_is_on() || pm_process.file.header == NULL)
        return;
    pm_signal_take(PM_BELL_SIGNAL, on_bell);
    begun = true;
    struct pm_tls *t = &pm_tls;
    if (t->state == PM_THREAD_NEW)
        pm_thread_begin(t, pm_tsc());
    else
        pm_sample_thread_begin(t, 0, 0);
}

static void end_slot(struct pm_slot *slot)
{
    struct pm_sampler *s = pm_load(slot->sampler);
    if (s == NULL || pm_thread_cpu_ns(slot->tid) == 0 || !pm_thread_is_there(slot) || !take_lock(s))
        return; /* or it left by a bare system call, and its thread block with it */
    if (s->source != PM_RUN_SAMPLES_NONE)
        take_rest(s);
    give_lock(s);
}

void pm_sample_process_end(void)
{
    if (!begun || pm_sampling == NULL)
        return;
    uint64_t mask = block_signals();
    pm_threads_each(end_slot);
    restore_signals(mask);
}

static void wait_for(struct pm_slot *slot)
{
    struct pm_sampler *s = pm_load(slot->sampler);
    for (unsigned i = 0; s != NULL && i < 1000 && __atomic_load_n(&s->lock, __ATOMIC_SEQ_CST); i++)
        pm_sys(SYS_sched_yield);
}

void pm_sample_loader_begins(void)
{
    if (begun)
        pm_sample_drain(&pm_tls);
    if (begun || pm_process.heap)
        pm_places_unstable();
    if (!begun)
        return;
    pm_threads_each(wait_for);
}

void pm_sample_fork_child(void)
{
    struct pm_tls *t = &pm_tls;
    pm_counters_fork_child();
    pm_ambient_ring(t, &pm_no_ring, 0);
    t->sampler = NULL;
    pm_sampling = NULL;
    pm_times_fork_child();
    struct pm_sampler *s = t->slot != NULL ? t->slot->sampler : NULL;
    if (s == NULL)
        return;
    pm_store_forget(&s->store);
    pm_perf_fork_child(s);
    s->source = PM_RUN_SAMPLES_NONE;
    s->lock = 0;
}
