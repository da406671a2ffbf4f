/* Counters of libraries: PAPI, and those that users write. libperfmap-sources.so asks them
 * (pm_counter_library.h), below a probe. Code below a probe keeps the vector registers, for the
 * program's call may have arguments there, and no library does: they are saved around each call,
 * in memory of the sampler, whose lock is held.
 *
 * What is read is what was there before, plus what has come since: a counter that goes back counts
 * nothing until it is where it was. One that all threads share counts what has come since any of
 * them read it, so each event is counted once; whose it was is not sure while there are several
 * threads, which the views say.
 *
 * Nothing is read in the bell's handler: the code that it interrupts may have the library's lock.
 * What was counted since the last reading belongs to the whole thread then, unless every event
 * reads (mode exact).
 */
#include "format/pm_counter_library.h"
#include "runtime/base/atomic.h"
#include "runtime/base/file.h"
#include "runtime/sample/sample.h"
#include "runtime/tree/ambient.h"

#include <errno.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const struct pm_counter_library *linked; /* NULL: nobody has come */
static uint64_t shared[PM_COUNTERS_MAX];        /* of counters that all threads share, when read */
static uint32_t shared_begun;                   /* of which of them; by position */

/* --- calls --- */

#if defined(__x86_64__)
/* Of XCR0, what code of libraries uses: x87, SSE, AVX, AVX-512. 0: the processor has only what
 * fxsave saves. */
static uint32_t saved_state(void)
{
    enum { OSXSAVE = 1 << 27, STATES = 0xe7, NOT_KNOWN = 1 };
    static uint32_t states = NOT_KNOWN;
    uint32_t a, b, c, d;
    if (pm_load(states) != NOT_KNOWN)
        return states;
    uint32_t found = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & OSXSAVE) != 0) {
        __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
        found = a & STATES;
    }
    pm_store(states, found);
    return found;
}

struct vectors {
    uint8_t bytes[PM_VECTORS_BYTES];
};

static struct vectors *vectors_of(struct pm_sampler *s)
{
    return (struct vectors *)(((uintptr_t)s->vectors + 63) & ~(uintptr_t)63);
}

static void save_vectors(struct pm_sampler *s)
{
    uint32_t states = saved_state();
    if (states != 0)
        __asm__ volatile("xsave64 %0" : "+m"(*vectors_of(s)) : "a"(states), "d"(0));
    else
        __asm__ volatile("fxsave64 %0" : "+m"(*vectors_of(s)));
}

static void restore_vectors(struct pm_sampler *s)
{
    uint32_t states = saved_state();
    if (states != 0)
        __asm__ volatile("xrstor64 %0" : : "m"(*vectors_of(s)), "a"(states), "d"(0) : "memory");
    else
        __asm__ volatile("fxrstor64 %0" : : "m"(*vectors_of(s)) : "memory");
}
#else
static void save_vectors(struct pm_sampler *s) /* no sleds, no probes */
{
    (void)s;
}
static void restore_vectors(struct pm_sampler *s)
{
    (void)s;
}
#endif

/* By position; returns which are known. */
static uint32_t ask(struct pm_sampler *s, uint64_t values[PM_COUNTERS_MAX])
{
    save_vectors(s);
    uint32_t known = linked->read(s->library_state, values);
    restore_vectors(s);
    return known & s->library_items;
}

/* --- a thread --- */

bool pm_library_is_used(void)
{
    for (uint32_t i = 0; i < pm_process.counters.n; i++)
        if (pm_counter_is_of_library(&pm_process.counters.items[i]))
            return true;
    return false;
}

static bool is_shared(const struct pm_counter_setting *setting)
{
    return (setting->flags & PM_COUNTER_SHARED) != 0;
}

/* What has come since it was last read. */
static uint64_t advance(struct pm_counter *counter, const struct pm_counter_setting *setting,
                        uint64_t value)
{
    uint64_t *last = is_shared(setting) ? &shared[setting->position] : &counter->seen;
    uint64_t before = __atomic_load_n(last, __ATOMIC_RELAXED);
    do
        if (value <= before)
            return 0;
    while (!__atomic_compare_exchange_n(last, &before, value, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
    return value - before;
}

void pm_library_open(struct pm_sampler *s, struct pm_run_counter *items)
{
    uint64_t values[PM_COUNTERS_MAX] = {0};
    if (s->has_library || pm_load(linked) == NULL || !pm_library_is_used())
        return;
    save_vectors(s);
    s->library_items = linked->thread_begin(&s->library_state);
    restore_vectors(s);
    s->has_library = true;
    s->library_is_behind = false;
    uint32_t known = ask(s, values);
    for (uint32_t i = 0; i < pm_process.counters.n; i++) {
        const struct pm_counter_setting *setting = &pm_process.counters.items[i];
        uint32_t bit = 1u << setting->position;
        if (!pm_counter_is_of_library(setting))
            continue;
        uint64_t now = pm_counters_now_ns(s);
        s->counters[i] = (struct pm_counter){.begin_ns = now, .seen_ns = now};
        pm_add_shared(items[i].n_threads, 1);
        if ((s->library_items & bit) == 0) {
            pm_add_shared(items[i].n_threads_failed, 1);
            if (items[i].error_no == 0)
                items[i].error_no = ENODEV;
            continue;
        }
        if ((known & bit) != 0 && !is_shared(setting))
            s->counters[i].seen = values[setting->position];
        if ((known & bit) != 0 && is_shared(setting) &&
            (__atomic_fetch_or(&shared_begun, bit, __ATOMIC_RELAXED) & bit) == 0)
            pm_store(shared[setting->position], values[setting->position]);
        s->t->reads_counters |= setting->period == 0 && pm_mode_is_timed(pm_process.mode);
    }
}

void pm_library_close(struct pm_sampler *s, bool is_there)
{
    if (s->has_library && is_there) {
        save_vectors(s);
        linked->thread_end(s->library_state);
        restore_vectors(s);
    }
    s->has_library = false;
    s->library_state = NULL;
    s->library_items = 0;
}

void pm_library_fork_child(void)
{
    for (uint32_t i = 0; i < PM_COUNTERS_MAX; i++)
        shared[i] = 0;
    shared_begun = 0;
    if (pm_load(linked) != NULL)
        linked->fork_child();
}

/* --- reading --- */

void pm_library_read(struct pm_sampler *s, const struct pm_node *node, bool is_located,
                     bool in_handler)
{
    uint64_t values[PM_COUNTERS_MAX];
    if (!s->has_library)
        return;
    s->library_is_behind |= in_handler && !is_located;
    if (in_handler)
        return;
    uint32_t known = ask(s, values);
    if (s->library_is_behind)
        node = s->slot->root;
    for (uint32_t i = 0; i < pm_process.counters.n; i++) {
        const struct pm_counter_setting *setting = &pm_process.counters.items[i];
        if (!pm_counter_is_of_library(setting) || setting->period != 0 ||
            (known & 1u << setting->position) == 0)
            continue;
        uint64_t n = advance(&s->counters[i], setting, values[setting->position]);
        s->counters[i].value += n;
        if (n != 0)
            pm_counters_charge(s, i, node, n, is_located);
        s->counters[i].seen_ns = pm_counters_now_ns(s);
    }
    s->library_is_behind = false;
}

/* Those that all threads share count what others do meanwhile, and nothing of PerfMap's. */
void pm_library_skip(struct pm_sampler *s)
{
    uint64_t values[PM_COUNTERS_MAX];
    uint32_t skipped = 0;
    for (uint32_t i = 0; i < pm_process.counters.n && s->has_library; i++) {
        const struct pm_counter_setting *setting = &pm_process.counters.items[i];
        if (pm_counter_is_of_library(setting) && setting->period == 0 && !is_shared(setting))
            skipped |= 1u << i;
    }
    uint32_t known = skipped != 0 ? ask(s, values) : 0;
    for (uint32_t i = 0; i < pm_process.counters.n && skipped != 0; i++) {
        const struct pm_counter_setting *setting = &pm_process.counters.items[i];
        if ((skipped & 1u << i) == 0 || (known & 1u << setting->position) == 0)
            continue;
        uint64_t n = advance(&s->counters[i], setting, values[setting->position]);
        s->counters[i].value += n;
        s->counters[i].own += n;
        s->counters[i].seen_ns = pm_counters_now_ns(s);
    }
}

void pm_library_settle(struct pm_sampler *s, struct pm_run_counter *items)
{
    uint64_t values[PM_COUNTERS_MAX];
    if (!s->has_library)
        return;
    uint32_t known = ask(s, values);
    for (uint32_t i = 0; i < pm_process.counters.n; i++) {
        const struct pm_counter_setting *setting = &pm_process.counters.items[i];
        struct pm_counter *counter = &s->counters[i];
        if (!pm_counter_is_of_library(setting))
            continue;
        if ((known & 1u << setting->position) != 0)
            counter->value += advance(counter, setting, values[setting->position]);
        else if (!is_shared(setting) && s->t != &pm_tls) /* what it did since is missing */
            pm_add_shared(items[i].n_closed, 1);
        pm_counters_settle_one(s, i, counter->value);
        pm_add_shared(items[i].count, counter->value - counter->told.value);
        counter->told.value = counter->value;
    }
}

/* --- the library --- */

static void overflowed(uint32_t position, const void *context)
{
    struct pm_sampler *s = pm_tls.sampler;
    uint32_t i = 0;
    while (i < pm_process.counters.n && pm_process.counters.items[i].position != position)
        i++;
    if (s == NULL || i == pm_process.counters.n || !*pm_process.alive_mark ||
        pm_process.counters.items[i].period == 0)
        return;
    pm_sample_overflowed(s, i, context);
}

static void note(const char *text, const char *subject)
{
    if (pm_process.file.header != NULL || pm_file_create())
        pm_file_message(PM_RUN_MSG_NOTE, text, subject);
}

const struct pm_counter_runtime *pm_library_link(const struct pm_counter_library *library,
                                                 void (*join)(void))
{
    static struct pm_counter_runtime runtime = {.overflowed = overflowed, .note = note};
    runtime.join = join;
    pm_store(linked, library);
    return &runtime;
}

bool pm_library_read_process(uint32_t position, uint64_t *ret_number)
{
    return pm_load(linked) != NULL && linked->read_process(position, ret_number);
}
