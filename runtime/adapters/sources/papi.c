/* Events of PAPI, which is loaded here (format/pm_papi.h). A thread has an event set for each
 * component, which counts in the thread as long as it is there. Components as sde count for the
 * whole process, and starting a set of theirs begins all counts anew: they have one set, of the
 * first thread, which all threads read. */
#include "runtime/adapters/adapter.h"
#include "runtime/adapters/sources/sources.h"

#include "format/pm_papi.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

struct event {
    const struct pm_counter_setting *item; /* NULL: it cannot be had */
    int code, component;
    bool is_shared;
};

struct set {
    int set, component;
    uint32_t n;
    uint32_t positions[PM_COUNTERS_MAX]; /* by the order in which they were added */
};

struct sets {
    uint32_t n;
    struct set of[PM_COUNTERS_MAX];
};

static struct pm_papi papi;
static const struct pm_counter_runtime *runtime;
static struct event events[PM_COUNTERS_MAX]; /* by position */
static struct sets shared;
static __thread struct sets *own_sets; /* of the thread, for its handler; NULL: it has none */
static uint32_t shared_lock;
static uint32_t said; /* of which events something has been said; by position */
static bool has_multiplexing;

static void say(uint32_t position, const char *what, int error)
{
    char subject[300];
    if (__atomic_fetch_or(&said, 1u << position, __ATOMIC_RELAXED) & 1u << position)
        return;
    const char *why = papi.strerror(error);
    snprintf(subject, sizeof subject, "'%.150s' %s: %.100s", events[position].item->field, what,
             why ? why : "PAPI does not say why");
    runtime->note("PAPI: ", subject);
}

/* --- which there are --- */

static unsigned long self(void)
{
    return (unsigned long)pthread_self();
}

static bool find_event(uint32_t position)
{
    struct event *event = &events[position];
    int error = papi.event_name_to_code(event->item->field, &event->code);
    if (error == 0)
        event->component = papi.get_event_component(event->code);
    if (error == 0 && event->component < 0)
        error = event->component;
    if (error != 0) {
        say(position, "cannot be counted", error);
        return false;
    }
    event->is_shared = pm_papi_is_shared(&papi, event->component);
    return true;
}

/* --- sets --- */

static void drop(struct set *set)
{
    long long values[PM_COUNTERS_MAX];
    (void)papi.stop(set->set, values);
    (void)papi.cleanup_eventset(set->set);
    (void)papi.destroy_eventset(&set->set);
    set->n = 0;
}

static int make(struct set *set, bool multiplexes)
{
    set->set = PM_PAPI_NULL;
    int error = papi.create_eventset(&set->set);
    if (error == 0)
        error = papi.assign_eventset_component(set->set, set->component);
    if (error == 0 && multiplexes && !has_multiplexing) {
        error = papi.multiplex_init();
        has_multiplexing = error == 0;
    }
    if (error == 0 && multiplexes)
        error = papi.set_multiplex(set->set);
    return error;
}

/* NULL: there is none, and the event's note says why. */
static struct set *set_of(struct sets *sets, uint32_t position)
{
    const struct event *event = &events[position];
    for (uint32_t i = 0; i < sets->n; i++)
        if (sets->of[i].component == event->component)
            return &sets->of[i];
    struct set *set = &sets->of[sets->n];
    *set = (struct set){.component = event->component};
    int error = make(set, (event->item->flags & PM_COUNTER_MULTIPLEXED) != 0);
    if (error != 0) {
        say(position, "cannot be counted", error);
        return NULL;
    }
    sets->n++;
    return set;
}

static void overflowed(int number, void *address, long long which, void *context);

/* Counters of the program's that PAPI does not see change (papi_sde_register_counter) are looked at
 * by a timer of the whole process, in whatever code it interrupts; a thread that PAPI does not know
 * ends the process there. */
static bool is_looked_at(const struct event *event)
{
    enum { CODE = 0x03ffffff };
    int (*is_simple)(uint32_t) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "sde_ti_is_simple_counter");
    memcpy(&is_simple, &found, sizeof is_simple);
    return !strncmp(event->item->field, "sde:::", 6) && is_simple &&
           is_simple((uint32_t)event->code & CODE);
}

static void sample(struct set *set, uint32_t position)
{
    const struct event *event = &events[position];
    uint64_t period = event->item->period;
    if (period == 0)
        return;
    if (is_looked_at(event)) {
        if (!(__atomic_fetch_or(&said, 1u << position, __ATOMIC_RELAXED) & 1u << position))
            runtime->note("no samples are taken, for PAPI does not see when this counter changes "
                          "(count it: --metric): ",
                          event->item->field);
        return;
    }
    int error = papi.overflow(set->set, event->code, period < INT_MAX ? (int)period : INT_MAX, 0,
                              overflowed);
    if (error != 0)
        say(position, "is counted, but no samples are taken (count it: --metric)", error);
}

/* Those that are shared, or those of a thread. Returns which of them count. */
static uint32_t start(struct sets *sets, bool is_shared)
{
    uint32_t mask = 0;
    sets->n = 0;
    for (uint32_t i = 0; i < PM_COUNTERS_MAX; i++) {
        struct set *set =
            events[i].item && events[i].is_shared == is_shared ? set_of(sets, i) : NULL;
        int error = set ? papi.add_event(set->set, events[i].code) : 0;
        if (error != 0)
            say(i, "cannot be counted", error);
        if (!set || error != 0)
            continue;
        set->positions[set->n++] = i;
        sample(set, i);
    }
    for (uint32_t i = 0; i < sets->n; i++) {
        struct set *set = &sets->of[i];
        int error = set->n ? papi.start(set->set) : 0;
        for (uint32_t k = 0; k < set->n; k++)
            if (error != 0)
                say(set->positions[k], "cannot be counted", error);
            else
                mask |= 1u << set->positions[k];
        if (error != 0)
            set->n = 0;
    }
    return mask;
}

static uint32_t read_sets(const struct sets *sets, uint64_t *values)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < sets->n; i++) {
        const struct set *set = &sets->of[i];
        long long own[PM_COUNTERS_MAX];
        if (set->n == 0 || papi.read(set->set, own) != 0)
            continue;
        for (uint32_t k = 0; k < set->n; k++)
            if (own[k] >= 0) { /* of sde, what the program has not registered yet is -1 */
                values[set->positions[k]] = (uint64_t)own[k];
                known |= 1u << set->positions[k];
            }
    }
    return known;
}

/* --- what sources.c asks --- */

static uint32_t shared_items;

static uint32_t begin(const struct pm_counter_settings *items,
                      const struct pm_counter_runtime *found)
{
    bool is_used = false;
    runtime = found;
    memset(events, 0, sizeof events);
    shared.n = shared_lock = said = shared_items = 0;
    has_multiplexing = false;
    for (uint32_t i = 0; i < items->n; i++)
        is_used |= items->items[i].type == PM_COUNTER_OF_PAPI;
    if (!is_used)
        return 0;
    const char *why = pm_papi_load(&papi);
    if (!why && papi.thread_init(self) != 0)
        why = "PAPI is there, and cannot count threads (PAPI_thread_init)";
    if (why) {
        runtime->note("events of PAPI are not counted: ", why);
        return 0;
    }
    for (uint32_t i = 0; i < items->n; i++) {
        events[i].item = items->items[i].type == PM_COUNTER_OF_PAPI ? &items->items[i] : NULL;
        if (events[i].item && !find_event(i))
            events[i].item = NULL;
    }
    shared_items = start(&shared, true);
    return shared_items;
}

static uint32_t thread_begin(void **ret_state)
{
    struct sets *own = NULL;
    bool has_own = false;
    for (uint32_t i = 0; i < PM_COUNTERS_MAX; i++)
        has_own |= events[i].item && !events[i].is_shared;
    uint32_t mask = shared_items;
    if (has_own && (own = calloc(1, sizeof *own)) != NULL && papi.register_thread() == 0)
        mask |= start(own, false);
    *ret_state = own_sets = own;
    return mask;
}

static uint32_t read_all(void *state, uint64_t *values)
{
    enum { TURNS = 1000 };
    /* The counter of a thread that runs elsewhere is in a register there (rdpmc): only the thread
     * itself can read it. */
    uint32_t known = state && state == own_sets ? read_sets(state, values) : 0;
    for (int i = 0; i < TURNS && shared_items; i++) {
        if (__atomic_exchange_n(&shared_lock, 1, __ATOMIC_ACQUIRE) != 0)
            continue; /* another thread reads; if it takes long, the next reading is soon enough */
        known |= read_sets(&shared, values);
        __atomic_store_n(&shared_lock, 0, __ATOMIC_RELEASE);
        break;
    }
    return known;
}

static void thread_end(void *state)
{
    struct sets *own = state;
    if (!own)
        return;
    for (uint32_t i = 0; i < own->n; i++)
        drop(&own->of[i]);
    (void)papi.unregister_thread();
    own_sets = NULL;
    free(own);
}

static bool read_process(uint32_t position, uint64_t *ret_number)
{
    (void)position;
    (void)ret_number;
    return false;
}

static const struct set *find_set(const struct sets *sets, int number)
{
    for (uint32_t i = 0; sets && i < sets->n; i++)
        if (sets->of[i].set == number)
            return &sets->of[i];
    return NULL;
}

/* PAPI's handler, of a signal or within papi_sde_inc_counter. */
static void overflowed(int number, void *address, long long which, void *context)
{
    int indices[PM_COUNTERS_MAX], n = PM_COUNTERS_MAX;
    const struct set *set = find_set(own_sets, number);
    (void)address;
    set = set ? set : find_set(&shared, number);
    if (!set || papi.get_overflow_event_index(number, which, indices, &n) != 0)
        return;
    for (int i = 0; i < n; i++)
        if (indices[i] >= 0 && (uint32_t)indices[i] < set->n)
            runtime->overflowed(set->positions[indices[i]], context);
}

const struct source_kind source_papi = {.begin = begin,
                                        .thread_begin = thread_begin,
                                        .read = read_all,
                                        .thread_end = thread_end,
                                        .read_process = read_process};
