/* The budget: what PerfMap does in the program may cost pm_process.budget_ppm of its CPU time.
 * Samples take what they take; events may cost the rest (of what samples take at the usual rate,
 * when more were asked for), and at least a quarter. Now and then one thread adds up the calls
 * of all contexts and counters by noun. When they cost too much, the dearest nouns step down:
 * from contexts to counting, and when that is still too dear, to nothing, which leaves them to
 * the samples. When there is room again, they step up.
 *
 * A pair of events costs what was measured at start (pm_arch_calibrate) when it comes often. One
 * that comes seldom finds its trampolines, its contexts and the processor's memory of their
 * jumps gone from the caches, which costs 15 to 20 times as much: measured with SQLite, about 90
 * ns a pair where 90 functions are called twice in half a millisecond each, against 5.6 ns with
 * all sleds armed. So a noun's first call in every WARM_NS is reckoned as a cold one.
 *
 * That is what was spent. What will be spent is another thing: a program's start calls hundreds
 * of functions once or twice and never again, and to change a noun costs as much as four cold
 * calls. So a noun that had no calls before and FIRST_CALLS at most since then is not expected
 * to have more; when it has, the next look sees it.
 *
 * The work is done by whichever thread drains its samples, below a probe or in a signal handler
 * (without samples: of a timer on each thread's CPU clock), so it comes in small steps under a
 * lock that nobody waits for: some thousand contexts are added up at a time, and a look that
 * took long is repeated late. Looks begin with the first samples, some milliseconds apart, and
 * become rarer up to four in a second.
 *
 * When the program goes on to something new, other nouns become hot, and a quarter of a second
 * is much too long. Whatever costs much is soon met by samples, so at each one the calls of the
 * contexts that are open and of what was last called from these, as many as there were since a
 * sample met them before, are poured into a bucket that leaks as fast as the budget allows. When
 * it flows over there is a look at once: it costs less than what it may save. It is a matter of
 * luck how fast such a look comes, never whether calls are counted.
 *
 * What was overspent before it was noticed is a debt: until it is saved again, or for as long as
 * LARGEST_DEBT_MS of the budget, events may cost half of what they could. SQLite's shell for
 * 0.13 s, events: 11 to 14 ms without debts and with rare looks, 6 to 8 with.
 *
 * Sentences of the adapter openmp step down to counting and no further: it asks at each of them,
 * and then looks at no clock.
 *
 * Some nouns cannot step down: the program's own words, and what was asked for by name. What
 * they cost goes off what the others may cost, but a quarter of it is left to these however much
 * it is, to step down to and to step up to: their budget is then that quarter.
 *
 * Stepping up. A counted noun is known to be cheap or not; of one that is off nothing is known,
 * so it is counted for a trial. Each time that a noun has to step down soon again it waits twice
 * as long for its next trial (of CPU time), and so long that the failed one was a tenth of the
 * budget. There are trials only while the run has spent less than its budget so far, and all
 * changes of code together get a tenth of it, so that nothing swings.
 */
#include "runtime/budget/adapt.h"
#include "format/pm_words.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/signals.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/fold.h"
#include "runtime/code/modes.h"
#include "runtime/budget/control.h"
#include "runtime/budget/ticks.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    NODES_PER_STEP = 20000,     /* about 0.1 ms */
    SHORTEST_LOOK_NS = 1000000, /* of CPU time; less says little about what is called often */
    FIRST_INTERVAL_MS = 2,
    LAST_INTERVAL_MS = 256,
    LOOK_SHARE = 1000,   /* looking takes at most a thousandth of the time */
    URGENT_SHARE = 10,   /* in bursts a tenth, of what else would be lost */
    BUCKET_NS = 8000000, /* what the bucket holds: calls that may be made in this time */
    LARGEST_BUCKET_NS = 256000000,
    TARGET_PERCENT = 50, /* of what events may cost, so that little has to be done again */
    RAISE_PERCENT = 40,  /* up to this much nouns step up again */
    RAISE_AFTER_MS = 500,
    MOST_LOWERED = 12,      /* so at most half an hour */
    TRIAL_SHARE = 10,       /* of the budget, for trials of a noun that fail */
    SAVED_PERCENT = 80,     /* of the budget of the run so far: trials come out of the rest */
    CHANGES_SHARE = 10,     /* of the budget, for changes of code that need not be */
    LEAST_EVENT_SHARE = 4,  /* of the budget, whatever samples take */
    DEBT_SHARE = 2,         /* of the budget, while too much has been spent before */
    LARGEST_DEBT_MS = 2000, /* of the budget */
    REFUSALS_TO_SAY = 16,
    FIRST_CALLS = 2, /* of a noun that may be all that it will ever have */
    WARM_NS = 50000,
    COLD_PAIR_PS = 90000,
    COLD_COUNT_PS = 25000,
    ADAPTER_PAIR_PS = 25000, /* openmp: a critical section has two for 46 ns, a task two for 80 */
    TRACE_WRITING_PS = 4000, /* a pair's share of writing full heads, which is the kernel's */
    STEPS_PER_DOUBLING = 8,  /* of costs, to choose by */
    N_LEVELS = 64 * STEPS_PER_DOUBLING,
    /* A sample's interrupt, with what it does to the caches: 12 us in a small loop, 20 to 40 in
     * SQLite, of which the runtime's own part (about 2) is measured. */
    PERF_SAMPLE_NS = 18000,
    TIMER_SAMPLE_NS = 6000,
    USUAL_PERIOD_NS = 2493766, /* 401 Hz */
};

/* Calls by noun, added up by the last look and by this one. */
static uint64_t *counts; /* of two looks; addresses for more nouns than there are */
static uint32_t counts_max;
static uint64_t *calls_before, *calls_now;
static struct called { /* nouns that had calls between the two */
    uint32_t noun;
    uint8_t mode;
    bool fixed;
    bool always_counted;    /* an adapter's: it has no code that samples would find */
    uint64_t cost, counted; /* what such calls will cost as it is, and when they are counted */
} * called;
static uint32_t n_called;
static uint32_t looking; /* the lock of all that follows */

static struct look {
    bool begun;
    uint32_t chunk, node; /* the next to be added up */
    uint64_t spent_ns;    /* CPU time of the look's steps so far: others may run in between */
    uint64_t next_tsc, interval_ms;
    uint64_t cpu_ns;       /* of the process at the end of the last look */
    uint32_t n_refused;    /* changes, in a row */
    bool urgent;           /* this one */
    uint64_t earliest_tsc; /* for an urgent one */
} look = {.interval_ms = FIRST_INTERVAL_MS};

/* Any thread's; what is lost when two change it at once does not matter. */
static int64_t bucket_ps; /* what is in it, as a cost */
static uint64_t bucket_ns = BUCKET_NS;

/* Since start. */
static uint64_t n_samples, drained_ns;
static uint64_t events_ps, samples_ns, looks_ns, changes_ns, starts_ns;
static uint64_t fixed_ps; /* of events_ps: nouns that cannot step down */
static uint64_t
    debt_ps; /* what events cost more than allowed, as far as it has not been saved since */
static uint64_t n_looks, n_changes, n_sleds_changed;
static struct pm_run_overhead *overhead;

static uint64_t cpu_ns_of(int clock)
{
    struct timespec time = {0, 0};
    pm_sys(SYS_clock_gettime, clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t process_cpu_ns(void)
{
    return cpu_ns_of(CLOCK_PROCESS_CPUTIME_ID);
}

static uint64_t tsc_per_ms(void)
{
    return pm_process.tsc_hz >= 1000 ? pm_process.tsc_hz / 1000 : 2500000;
}

/* --- adding up --- */

/* What a thread did to a context of a disarmed noun after its sleds were changed is undone here,
 * too. */
static uint32_t add_nodes(struct pm_node *nodes, uint32_t n)
{
    uint32_t n_nouns = pm_n_nouns();
    for (uint32_t i = 0; i < n; i++) {
        uint32_t noun = pm_load(nodes[i].noun);
        if (noun >= n_nouns)
            continue;
        calls_now[noun] += pm_load(nodes[i].n_calls);
        if (pm_load(nodes[i].sp) != 0 && pm_noun_is_disarmed(noun))
            pm_node_close_from_outside(&nodes[i]);
    }
    return n;
}

static void add_counts(const struct pm_run_counts *counts)
{
    const struct pm_object *o =
        counts->object < PM_MAX_OBJECTS ? pm_load(pm_objects[counts->object]) : NULL;
    const uint64_t *counters = (const uint64_t *)(counts + 1);
    uint64_t n = pm_load(counts->chunk.n_items);
    for (uint64_t i = 0; o != NULL && i < n && o->first_noun + i < pm_n_nouns(); i++)
        calls_now[o->first_noun + i] += pm_load(counters[i]);
}

/* True: all is added up. */
static bool add_step(void)
{
    for (uint32_t room = NODES_PER_STEP; look.chunk < pm_file_n_chunks();) {
        struct pm_run_chunk *c = (struct pm_run_chunk *)(uintptr_t)pm_file_chunk_at(look.chunk);
        uint32_t n = 0;
        bool valid = c != NULL && pm_load(c->magic) == PM_RUN_CHUNK_MAGIC;
        bool first = valid && c->kind == PM_RUN_CHUNK_THREAD;
        if (valid && c->kind == PM_RUN_CHUNK_COUNTS)
            add_counts((const struct pm_run_counts *)c);
        if (first || (valid && c->kind == PM_RUN_CHUNK_NODES)) {
            struct pm_node *nodes =
                (struct pm_node *)((char *)c + (first ? PM_RUN_THREAD_NODES : PM_RUN_NODES_DATA));
            uint64_t all = pm_load(c->n_items);
            n = all > look.node ? (uint32_t)(all - look.node) : 0;
            if (n > room) {
                look.node += add_nodes(nodes + look.node, room);
                return false;
            }
            add_nodes(nodes + look.node, n);
        }
        room -= n;
        look.chunk++;
        look.node = 0;
    }
    return true;
}

uint64_t pm_adapt_n_calls(uint32_t noun)
{
    if (calls_now == NULL)
        return 0;
    return calls_now[noun] > calls_before[noun] ? calls_now[noun] : calls_before[noun];
}

/* --- what a noun costs --- */

static uint64_t pair_ps(unsigned mode)
{
    uint64_t ps = mode == PM_RUN_MODE_OFF      ? 0
                  : mode == PM_RUN_MODE_COUNT  ? pm_process.count_event_ps
                  : mode == PM_RUN_MODE_ACTIVE ? pm_process.active_pair_ps
                                               : pm_process.exact_pair_ps;
    ps = ps != 0 || mode == PM_RUN_MODE_OFF ? ps : 3000;
    return mode == PM_RUN_MODE_TRACE ? ps + TRACE_WRITING_PS : ps;
}

/* What so many calls cost in this mode, in picoseconds. n_warmths: how many WARM_NS they took. */
static uint64_t cost_of(uint64_t n, unsigned mode, uint32_t noun, uint64_t n_warmths)
{
    if (mode == PM_RUN_MODE_OFF)
        return 0;
    uint64_t cold = mode == PM_RUN_MODE_COUNT ? COLD_COUNT_PS : COLD_PAIR_PS;
    uint64_t warm = pair_ps(mode);
    unsigned flags = pm_noun_at(noun)->flags;
    if (flags & PM_NOUN_WORD && warm < PM_WORDS_COUNTED_PS)
        warm = PM_WORDS_COUNTED_PS;
    if (flags & PM_NOUN_ADAPTER && mode >= PM_RUN_MODE_ACTIVE && warm < ADAPTER_PAIR_PS)
        warm = ADAPTER_PAIR_PS;
    return n * warm + (n < n_warmths ? n : n_warmths) * cold;
}

/* Those since the last look. */
static uint64_t cost_in(unsigned mode, uint32_t noun, uint64_t n_warmths)
{
    uint64_t now = calls_now[noun], before = calls_before[noun];
    return now > before ? cost_of(now - before, mode, noun, n_warmths) : 0;
}

/* 8 levels for each doubling. */
static uint64_t cost_of_level(unsigned level)
{
    unsigned top = level / STEPS_PER_DOUBLING;
    uint64_t fine = level % STEPS_PER_DOUBLING;
    return top >= 3 ? (8 + fine) << (top - 3) : level;
}

/* --- stepping down --- */

/* The highest step, no higher than now, at which the noun costs at most `most`. */
static unsigned step_within(const struct called *c, uint64_t most, uint64_t *ret_cost)
{
    *ret_cost = c->cost;
    if (c->cost <= most || c->fixed)
        return c->mode;
    bool counted = c->mode > PM_RUN_MODE_COUNT && (c->counted <= most || c->always_counted);
    if (c->always_counted && !counted)
        return c->mode;
    *ret_cost = counted ? c->counted : 0;
    return counted ? PM_RUN_MODE_COUNT : PM_RUN_MODE_OFF;
}

static uint64_t total_within(uint64_t most)
{
    uint64_t total = 0, cost;
    for (uint32_t i = 0; i < n_called; i++) {
        step_within(&called[i], most, &cost);
        total += cost;
    }
    return total;
}

/* What cannot step down leaves the others their share. Nothing that is called at all would fit
 * in otherwise, so that not even main() stayed on the paths. */
static uint64_t room_beside(uint64_t fixed, uint64_t allowed, uint64_t share)
{
    return allowed > fixed + share ? allowed : fixed + share;
}

/* No noun may cost more than a certain level, the highest with which all together cost at most
 * `allowed`; those of the level above it stay as long as there is room. Returns how many have a
 * target. */
static uint32_t choose_lower(uint64_t allowed)
{
    unsigned low = 0, high = N_LEVELS - 1;
    if (total_within(UINT64_MAX) <= allowed)
        return 0;
    while (low < high) {
        unsigned middle = (low + high + 1) / 2;
        if (total_within(cost_of_level(middle)) <= allowed)
            low = middle;
        else
            high = middle - 1;
    }
    uint64_t most = cost_of_level(low), next = cost_of_level(low + 1);
    uint64_t left = total_within(most);
    uint32_t n_targets = 0;
    for (uint32_t i = 0; i < n_called; i++) {
        uint64_t cost, more;
        unsigned mode = step_within(&called[i], most, &cost);
        unsigned better = step_within(&called[i], next, &more);
        if (better != mode && left + more - cost <= allowed) {
            left += more - cost;
            mode = better;
        }
        if (mode < called[i].mode) {
            pm_noun_at(called[i].noun)->target_plus_1 = (uint8_t)(1 + mode);
            n_targets++;
        }
    }
    return n_targets;
}

static uint32_t patience_ms(const struct pmr_noun *noun)
{
    unsigned n = noun->n_lowered < MOST_LOWERED ? noun->n_lowered : MOST_LOWERED;
    return (uint32_t)RAISE_AFTER_MS << n;
}

/* A trial that cost so much must be as rare as that. */
static unsigned least_lowered(uint64_t cost_ps)
{
    uint64_t wait_ms = cost_ps / 1000 * TRIAL_SHARE / pm_process.budget_ppm; /* ns, ppm: ms */
    unsigned n = 0;
    while (n < MOST_LOWERED && (uint64_t)RAISE_AFTER_MS << n < wait_ms)
        n++;
    return n;
}

/* Of what has a target. */
static void note_lowered(uint32_t now_ms, uint64_t n_warmths)
{
    for (uint32_t i = 0, n = pm_n_nouns(); i < n; i++) {
        struct pmr_noun *noun = pm_noun_at(i);
        if (noun->target_plus_1 == 0)
            continue;
        bool soon = noun->n_lowered == 0 || now_ms - noun->changed_ms < 4 * patience_ms(noun);
        unsigned n_lowered = soon ? noun->n_lowered + 1u : 1u;
        unsigned least = least_lowered(cost_in(noun->mode, i, n_warmths));
        n_lowered =
            n_lowered < least && noun->target_plus_1 == 1 + PM_RUN_MODE_OFF ? least : n_lowered;
        noun->n_lowered = (uint8_t)(n_lowered < MOST_LOWERED ? n_lowered : MOST_LOWERED);
        noun->changed_ms = now_ms;
    }
}

/* --- stepping up --- */

/* With so much room. */
static uint32_t choose_higher(uint64_t room, uint64_t n_warmths, uint32_t now_ms)
{
    uint32_t n_targets = 0;
    for (uint32_t i = 0, n = pm_n_nouns(); i < n; i++) {
        struct pmr_noun *noun = pm_noun_at(i);
        if (pm_load(noun->mode) >= pm_load(noun->wanted) || /* in this order: it may just be made */
            pm_load(noun->flags) & PM_NOUN_FIXED || now_ms - noun->changed_ms < patience_ms(noun))
            continue;
        bool unknown = noun->mode == PM_RUN_MODE_OFF;
        uint8_t mode = unknown ? PM_RUN_MODE_COUNT : noun->wanted;
        uint64_t cost = cost_in(mode, i, n_warmths);
        if (cost > room)
            continue;
        room -= cost;
        noun->target_plus_1 = (uint8_t)(1 + mode);
        noun->changed_ms = now_ms;
        n_targets++;
    }
    return n_targets;
}

static bool may_change_more(uint64_t cpu_ns)
{
    uint64_t budget_ns = cpu_ns / 1000 * pm_process.budget_ppm / 1000;
    uint64_t spent_ns = events_ps / 1000 + samples_ns + looks_ns + changes_ns;
    uint64_t given_ns = fixed_ps / 1000 + samples_ns; /* which stepping down does not save */
    uint64_t saved_ns = budget_ns / 100 * SAVED_PERCENT;
    return changes_ns < budget_ns / CHANGES_SHARE &&
           spent_ns < room_beside(given_ns, saved_ns, saved_ns / LEAST_EVENT_SHARE);
}

/* --- changing --- */

static void say_refused(void)
{
    if (++look.n_refused == REFUSALS_TO_SAY)
        pm_file_message(PM_RUN_MSG_NOTE,
                        "events cost more than the budget: sleds cannot be disarmed, a thread "
                        "blocks SIGTRAP or code cannot be written",
                        NULL);
}

static void drop_targets(void)
{
    for (uint32_t i = 0, n = pm_n_nouns(); i < n; i++)
        pm_noun_at(i)->target_plus_1 = 0;
}

static void apply(uint64_t tsc)
{
    struct pm_changed changed;
    uint64_t start_ns = cpu_ns_of(CLOCK_THREAD_CPUTIME_ID);
    if (!pm_modes_apply(PM_RUN_ADAPTED_BUDGET, tsc, &changed)) {
        drop_targets();
        return;
    }
    changes_ns += cpu_ns_of(CLOCK_THREAD_CPUTIME_ID) - start_ns;
    n_changes++;
    n_sleds_changed += changed.n_sleds;
    if (changed.n_refused != 0)
        say_refused();
    else
        look.n_refused = 0;
}

/* --- looking --- */

/* So many times what the look took. */
static uint64_t spent_tsc(uint64_t times)
{
    return look.spent_ns * times / 1000 * tsc_per_ms() / 1000;
}

static uint64_t sample_ns(void)
{
    return pm_process.sample_force == PM_RUN_SAMPLES_TIMER ? TIMER_SAMPLE_NS : PERF_SAMPLE_NS;
}

/* What samples cost at the usual rate, of what they cost at this one: who asks for more does not
 * ask to follow less. */
static uint64_t at_usual_rate(uint64_t ns)
{
    uint64_t period_ns = pm_process.sample_period_ns;
    return period_ns == 0 || period_ns >= USUAL_PERIOD_NS
               ? ns
               : ns / 1000 * (period_ns / 1000) / (USUAL_PERIOD_NS / 1000) * 1000;
}

/* What samples have cost up to now. */
static uint64_t cost_of_samples_ns(void)
{
    return pm_load(n_samples) * sample_ns() + pm_load(drained_ns);
}

static void write_overhead(uint64_t cpu_ns)
{
    uint64_t offset;
    if (overhead == NULL)
        overhead = pm_file_chunk(PM_RUN_CHUNK_OVERHEAD, sizeof *overhead, 0, &offset);
    if (overhead == NULL)
        return;
    struct pm_run_overhead now = {.chunk = overhead->chunk,
                                  .budget_ppm = pm_process.budget_ppm,
                                  .count_pair_ps = pm_process.count_event_ps,
                                  .active_pair_ps = pm_process.active_pair_ps,
                                  .exact_pair_ps = pm_process.exact_pair_ps,
                                  .exact_inner_ps = pm_process.exact_inner_ps,
                                  .cpu_ns = cpu_ns,
                                  .events_ns = events_ps / 1000,
                                  .samples_ns = samples_ns,
                                  .looks_ns = looks_ns + changes_ns,
                                  .n_looks = n_looks,
                                  .n_changes = n_changes,
                                  .n_sleds_changed = n_sleds_changed,
                                  .sample_ns = sample_ns(),
                                  .fixed_ns = fixed_ps / 1000,
                                  .starts_ns = pm_load(starts_ns)};
    *overhead = now;
}

/* Returns what the calls have cost, and those of nouns that cannot step down. */
static uint64_t find_called(uint64_t n_warmths, uint64_t *ret_fixed)
{
    uint64_t total = 0, fixed = 0;
    n_called = 0;
    for (uint32_t i = 0, n = pm_n_nouns(); i < n; i++) {
        if (calls_now[i] <= calls_before[i])
            continue;
        const struct pmr_noun *noun = pm_noun_at(i);
        bool is_fixed = (noun->flags & PM_NOUN_FIXED) != 0;
        uint64_t n_calls = calls_now[i] - calls_before[i];
        bool again = calls_before[i] != 0 || n_calls > FIRST_CALLS;
        uint64_t cost = cost_of(n_calls, noun->mode, i, n_warmths);
        uint64_t counted = cost_of(n_calls, PM_RUN_MODE_COUNT, i, n_warmths);
        called[n_called++] = (struct called){.noun = i,
                                             .mode = noun->mode,
                                             .fixed = is_fixed,
                                             .always_counted = (noun->flags & PM_NOUN_ADAPTER) != 0,
                                             .cost = again ? cost : 0,
                                             .counted = again ? counted : 0};
        total += cost;
        if (is_fixed)
            fixed += cost;
        else if (noun->flags & PM_NOUN_ADAPTER) /* what it costs at least */
            fixed += cost < counted ? cost : counted;
    }
    *ret_fixed = fixed;
    return total;
}

/* What events may cost for as long as they were allowed this much: less, while there is a debt. */
static uint64_t after_debt(uint64_t total, uint64_t allowed)
{
    uint64_t most = (uint64_t)LARGEST_DEBT_MS * pm_process.budget_ppm * 1000; /* ms, ppm: ps */
    if (total > allowed)
        debt_ps += total - allowed;
    else
        debt_ps -= debt_ps < allowed - total ? debt_ps : allowed - total;
    debt_ps = debt_ps < most ? debt_ps : most;
    return debt_ps == 0 ? allowed : allowed / DEBT_SHARE;
}

/* What events could cost since the last look: what samples leave. */
static uint64_t allow(uint64_t spent_ns, uint64_t by_samples_ns)
{
    uint64_t allowed = spent_ns / 1000 * pm_process.budget_ppm; /* ns * 1000 / 10^6 */
    uint64_t least = allowed / LEAST_EVENT_SHARE;
    return allowed > by_samples_ns * 1000 + least ? allowed - by_samples_ns * 1000 : least;
}

static void step_down(uint64_t tsc, uint64_t room, uint64_t cpu_ns, uint64_t n_warmths)
{
    if (choose_lower(room) == 0)
        return;
    note_lowered((uint32_t)(cpu_ns / 1000000), n_warmths);
    apply(tsc);
}

static void step_up(uint64_t tsc, uint64_t room, uint64_t cpu_ns, uint64_t n_warmths)
{
    if (!pm_modes_differ() || !may_change_more(cpu_ns) ||
        choose_higher(room, n_warmths, (uint32_t)(cpu_ns / 1000000)) == 0)
        return;
    apply(tsc);
    look.interval_ms = FIRST_INTERVAL_MS;
}

/* False: all is as it was. */
static bool decide(uint64_t tsc)
{
    uint64_t cpu_ns = process_cpu_ns(), spent_ns = cpu_ns - look.cpu_ns;
    uint64_t n_warmths = spent_ns / WARM_NS, n_before = n_changes, fixed;
    uint64_t total = find_called(n_warmths, &fixed);
    uint64_t now_samples_ns = cost_of_samples_ns();
    uint64_t allowed = allow(spent_ns, at_usual_rate(now_samples_ns - samples_ns));
    uint64_t share =
        allowed / LEAST_EVENT_SHARE; /* of others than fixed ones, which pay no debts of these */
    allowed = after_debt(total, allowed);
    events_ps += total;
    fixed_ps += fixed;
    samples_ns = now_samples_ns;
    n_looks++;
    if (pm_process.budget_ppm != 0) {
        uint64_t target =
            room_beside(fixed, allowed / 100 * TARGET_PERCENT, share / 100 * TARGET_PERCENT);
        uint64_t most =
            room_beside(fixed, allowed / 100 * RAISE_PERCENT, share / 100 * RAISE_PERCENT);
        if (total > room_beside(fixed, allowed, share))
            step_down(tsc, target, cpu_ns, n_warmths);
        else if (total <= most)
            step_up(tsc, most - total, cpu_ns, n_warmths);
    }
    look.cpu_ns = cpu_ns;
    uint64_t *before = calls_before;
    calls_before = calls_now;
    calls_now = before;
    write_overhead(cpu_ns);
    return n_changes != n_before;
}

/* Soon again when a change was refused: a thread that is just being made blocks all signals for
 * a moment. And after an urgent look: it has seen much time of which only the last part was hot. */
static uint64_t next_interval(void)
{
    if (look.n_refused != 0 && look.n_refused < REFUSALS_TO_SAY)
        return FIRST_INTERVAL_MS * tsc_per_ms() + spent_tsc(LOOK_SHARE / 50);
    if (look.urgent) {
        uint64_t interval = FIRST_INTERVAL_MS * tsc_per_ms();
        return interval < spent_tsc(URGENT_SHARE) ? spent_tsc(URGENT_SHARE) : interval;
    }
    uint64_t interval = look.interval_ms * tsc_per_ms();
    if (look.interval_ms < LAST_INTERVAL_MS)
        look.interval_ms *= 2;
    else if (interval < spent_tsc(LOOK_SHARE))
        interval = spent_tsc(LOOK_SHARE);
    return interval;
}

/* Looks that find nothing to do make the bucket larger. */
static void empty_bucket(bool changed)
{
    if (changed)
        bucket_ns = BUCKET_NS;
    else if (look.urgent && bucket_ns < LARGEST_BUCKET_NS)
        bucket_ns *= 2;
    pm_store(bucket_ps, 0);
}

bool pm_adapt_make_room(uint32_t max, uint32_t n)
{
    if (counts == NULL) {
        uint64_t *memory = pm_reserve(max * (2 * sizeof *memory + sizeof *called));
        if (memory == NULL)
            return false;
        counts_max = max;
        called = (struct called *)(memory + 2 * (size_t)max);
        pm_store(counts, memory);
    }
    return pm_make_room(counts, n * sizeof *counts) &&
           pm_make_room(counts + counts_max, n * sizeof *counts) &&
           pm_make_room(called, n * sizeof *called);
}

static bool make_table(void)
{
    if (calls_now != NULL || counts == NULL)
        return calls_now != NULL;
    calls_before = counts + counts_max;
    pm_store(calls_now, counts);
    return true;
}

static bool begin_look(uint64_t tsc)
{
    if (process_cpu_ns() - look.cpu_ns < SHORTEST_LOOK_NS || !make_table())
        return false;
    memset(calls_now, 0, pm_n_nouns() * sizeof *calls_now);
    look.urgent = tsc < look.next_tsc;
    look.begun = true;
    look.chunk = look.node = 0;
    look.spent_ns = 0;
    return true;
}

static void step(uint64_t tsc)
{
    uint64_t start_ns = cpu_ns_of(CLOCK_THREAD_CPUTIME_ID), changes_before_ns = changes_ns;
    if (!look.begun && !begin_look(tsc))
        return;
    bool done = add_step(), changed = done && decide(tsc);
    uint64_t spent_ns = cpu_ns_of(CLOCK_THREAD_CPUTIME_ID) - start_ns;
    look.spent_ns += spent_ns;
    looks_ns += spent_ns - (changes_ns - changes_before_ns);
    if (!done)
        return;
    look.begun = false;
    empty_bucket(changed);
    pm_store(look.earliest_tsc, tsc + spent_tsc(URGENT_SHARE));
    pm_store(look.next_tsc, tsc + next_interval());
}

/* So that the next event that finds such a context as the youngest goes the slow way, which
 * closes it. */
static void mark_path(struct pm_node *node)
{
    for (; node != NULL; node = node->parent)
        if (pm_load(node->sp) != 0 && pm_noun_is_disarmed(node->noun))
            pm_node_close_from_outside(node);
}

static void mark_own(void)
{
    const struct pm_tls *t = &pm_tls;
    if (t->state != PM_THREAD_READY)
        return;
    mark_path(pm_own_current(t));
    mark_path(t->foreign_current);
}

static bool has_budget(void)
{
    return pm_process.budget_ppm != 0 && pm_process.file.header != NULL &&
           pm_process.mode != PM_RUN_MODE_OFF;
}

static bool is_time(uint64_t tsc)
{
    return has_budget() &&
           (look.begun || tsc >= pm_load(look.next_tsc) ||
            (pm_load(bucket_ps) > (int64_t)(pm_load(bucket_ns) / 1000 * pm_process.budget_ppm) &&
             tsc >= pm_load(look.earliest_tsc)));
}

/* Without signals: a handler might jump out and leave the locks behind. */
static void try_step(uint64_t tsc)
{
    /* But for traps: a thread that blocks them keeps all others from changing code. */
    uint64_t all = ~(1ull << (SIGTRAP - 1)), mask = 0;
    uint32_t idle = 0;
    if (pm_load(looking) != 0)
        return;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
    if (__atomic_compare_exchange_n(&looking, &idle, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        if (*pm_process.alive_mark && (uint32_t)pm_sys(SYS_getpid) == pm_process.pid) {
            if (pm_control_is_asked())
                pm_control_answer(tsc);
            if (is_time(tsc))
                step(tsc);
        }
        __atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
    }
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof all);
}

/* --- what others do --- */

/* What is timed goes on without times. */
static void lower_timed(void)
{
    struct pm_changed changed;
    for (unsigned i = 0; i < 100; i++) {
        for (uint32_t k = 0, n = pm_n_nouns(); k < n; k++) {
            struct pmr_noun *noun = pm_noun_at(k);
            if (noun == NULL || !pm_mode_is_timed(noun->mode))
                continue;
            noun->wanted = PM_RUN_MODE_ACTIVE;
            noun->target_plus_1 = 1 + PM_RUN_MODE_ACTIVE;
        }
        if (pm_modes_apply(PM_RUN_ADAPTED_ASKED, pm_tsc(), &changed) && changed.n_refused == 0)
            return;
        pm_sys(SYS_sched_yield);
    }
}

void pm_adapt_without_clock(void)
{
    uint64_t all = UINT64_MAX, mask = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
    while (__atomic_exchange_n(&looking, 1, __ATOMIC_ACQUIRE) != 0)
        pm_sys(SYS_sched_yield);
    lower_timed();
    __atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

void pm_adapt_sampled(uint64_t n_calls, uint64_t cpu_ns)
{
    pm_add_shared(n_samples, 1);
    if (pm_process.budget_ppm == 0)
        return;
    int64_t now = pm_load(bucket_ps) + (int64_t)(n_calls * pair_ps(pm_process.mode)) -
                  (int64_t)(cpu_ns / 1000 * pm_process.budget_ppm); /* ns * 1000 / 10^6 */
    pm_store(bucket_ps, now > 0 ? now : 0);
}

void pm_adapt_drained(uint64_t cpu_ns)
{
    pm_add_shared(drained_ns, cpu_ns);
}

void pm_adapt_started(uint64_t cpu_ns)
{
    pm_add_shared(starts_ns, cpu_ns);
}

/* With its first thread, which may have been added already. */
void pm_adapt_process_begin(uint64_t before_cpu_ns)
{
    pm_store(starts_ns, process_cpu_ns() - before_cpu_ns);
}

void pm_adapt_tick(uint64_t tsc)
{
    if (pm_control_is_asked() || is_time(tsc))
        try_step(tsc);
    if (pm_modes_differ())
        mark_own();
}

/* The calls since the last look, so that what is written down of the costs is complete. */
void pm_adapt_process_end(void)
{
    uint64_t all = UINT64_MAX, mask = 0;
    uint32_t idle = 0, budget_ppm = pm_process.budget_ppm;
    if (pm_process.file.header == NULL || pm_process.mode == PM_RUN_MODE_OFF)
        return;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
    if (__atomic_compare_exchange_n(&looking, &idle, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        look.begun = look.begun || begin_look(UINT64_MAX);
        while (look.begun && !add_step())
            continue;
        pm_process.budget_ppm = 0; /* nothing is changed any more */
        if (look.begun)
            decide(pm_tsc());
        else if (pm_load(starts_ns) != 0) /* too short for a look, or without nouns */
            write_overhead(process_cpu_ns());
        pm_process.budget_ppm = budget_ppm;
        if (overhead != NULL)
            overhead->budget_ppm = budget_ppm;
        look.begun = false;
        __atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
    }
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof all);
}

/* --- ticks where there are no samples --- */

void pm_adapt_thread_begin(struct pm_slot *slot)
{
    pm_ticks_forget(slot);
    if (look.cpu_ns == 0) /* before that there were no events */
        look.cpu_ns = process_cpu_ns();
    if (pm_process.sample_period_ns == 0 && has_budget())
        pm_ticks_begin(slot, look.interval_ms < LAST_INTERVAL_MS);
}

void pm_adapt_thread_end(struct pm_slot *slot)
{
    pm_ticks_end(slot);
}

void pm_adapt_fork_child(void)
{
    pm_ticks_fork_child();
    looking = 0;
    look = (struct look){.interval_ms = FIRST_INTERVAL_MS, .cpu_ns = process_cpu_ns()};
    bucket_ps = 0;
    n_samples = drained_ns = 0;
    events_ps = fixed_ps = samples_ns = looks_ns = changes_ns = debt_ps = starts_ns = 0;
    n_looks = n_changes = n_sleds_changed = 0;
    overhead = NULL;
    if (calls_now == NULL)
        return;
    memset(calls_before, 0, pm_n_nouns() * sizeof *calls_before);
    memset(calls_now, 0, pm_n_nouns() * sizeof *calls_now);
}
