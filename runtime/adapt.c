/* The budget: events may cost pm_process.budget_ppm of the program's CPU time. Now and then one thread adds
 * up the calls of all contexts by noun; what cost most since the look before is disarmed until
 * the rest costs less.
 *
 * A pair of events costs what was measured at start (pm_arch_calibrate) when it comes often. One that comes
 * seldom finds its trampolines, its contexts and the processor's memory of their jumps gone from the
 * caches, which costs 15 to 20 times as much: measured with SQLite, about 90 ns a pair where 90 functions are
 * called twice in half a millisecond each, against 5.6 ns with all sleds armed. So a noun's first call in
 * every WARM_NS is reckoned as a cold one.
 *
 * The work is done by whichever thread drains its samples, below a probe or in a signal handler, so
 * it comes in small steps under a lock that nobody waits for: some thousand contexts are added up at a time,
 * and a look that took long is repeated late. Looks begin with the first samples, some milliseconds apart,
 * and become rarer up to four in a second.
 *
 * When the program goes on to something new, other nouns become hot, and a quarter of a second is much too long. Whatever costs
 * much is soon met by samples, so at each one the calls of the contexts that are open, as many as there were since a sample
 * met them before, are poured into a bucket that leaks as fast as the budget allows. When it flows over there is a look at
 * once. It is a matter of luck how fast such a look comes, never whether calls are counted.
 *
 * A noun that was disarmed may have contexts that are open; tree.c says what becomes of them.
 */
#include "internal.h"
#include "sys.h"

#include <link.h>
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
    URGENT_SHARE = 100,  /* in bursts a hundredth */
    BUCKET_NS = 8000000, /* what the bucket holds: calls that may be made in this time */
    LARGEST_BUCKET_NS = 256000000,
    TARGET_PERCENT = 50, /* of the budget, so that little has to be done again */
    REFUSALS_TO_SAY = 16,
    ITEMS_PER_CHUNK = 400,
    WARM_NS = 50000,
    COLD_TIMES = 18,        /* the cost of a warm pair */
    STEPS_PER_DOUBLING = 8, /* buckets of the histogram */
    N_BUCKETS = 64 * STEPS_PER_DOUBLING,
};

enum noun_state {
    NOUN_ARMED,
    NOUN_LEAVING, /* its sleds are being changed */
    NOUN_DISARMED,
    NOUN_FIXED, /* has no sleds that could be disarmed */
};

/* By noun. A larger one takes the place of one that is too small, which stays: others may read it. */
struct table {
    uint32_t n_nouns;
    uint64_t *before, *now; /* calls, added up by the last look and by this one */
    uint8_t *state;
};

static struct table *table;
static uint32_t n_disarmed; /* nouns */
static uint32_t looking;    /* the lock of all that follows */
static uint32_t held;       /* the lock of pm_adapt_hold, also taken to change code */
static bool held_by_loader;

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

/* Kept for ever: a thread that comes late from an int3 may look at it. */
static struct pm_patch *patches;
static size_t patches_capacity;

static struct pm_run_chunk *adapted; /* ADAPTED chunk with room */

static void *private_memory(size_t bytes)
{
    long address = pm_sys(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return address < 0 && address > -4096 ? NULL : (void *)address;
}

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

static enum noun_state state_of(uint32_t noun)
{
    const struct table *t = pm_load(table);
    return t != NULL && noun < t->n_nouns ? (enum noun_state)pm_load(t->state[noun]) : NOUN_ARMED;
}

bool pm_adapt_is_disarmed(uint32_t noun)
{
    return pm_unlikely(pm_load(n_disarmed) != 0) && state_of(noun) == NOUN_DISARMED;
}

bool pm_adapt_is_leaving(uint32_t noun)
{
    enum noun_state state = state_of(noun);
    return state == NOUN_LEAVING || state == NOUN_DISARMED;
}

static bool grow_table(void)
{
    uint32_t n = pm_load(pm_process.next_noun);
    struct table *old = table;
    if (old != NULL && n <= old->n_nouns)
        return true;
    n = (n < 1024 ? 1024 : n + n / 2) & ~7u;
    struct table *new = private_memory(sizeof *new + (size_t)n *(2 * sizeof(uint64_t) + 1));
    if (new == NULL)
        return old != NULL;
    new->n_nouns = n;
    new->before = (uint64_t *)(new + 1);
    new->now = new->before + n;
    new->state = (uint8_t *)(new->now + n);
    if (old != NULL) {
        memcpy(new->before, old->before, old->n_nouns * sizeof *old->before);
        memcpy(new->state, old->state, old->n_nouns);
    }
    pm_barrier();
    pm_store(table, new);
    return true;
}

/* --- adding up --- */

/* What a thread did to a context of a disarmed noun after its sleds were changed is undone here, too. */
static uint32_t add_nodes(const struct table *t, struct pm_node *nodes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t noun = pm_load(nodes[i].noun);
        if (noun >= t->n_nouns)
            continue;
        t->now[noun] += pm_load(nodes[i].n_calls);
        if (t->state[noun] == NOUN_DISARMED && pm_load(nodes[i].sp) != 0)
            pm_store(nodes[i].sp, 0);
    }
    return n;
}

/* True: all is added up. */
static bool add_step(const struct table *t)
{
    for (uint32_t room = NODES_PER_STEP; look.chunk < pm_file_n_chunks();) {
        struct pm_run_chunk *c = (struct pm_run_chunk *)(uintptr_t)pm_file_chunk_at(look.chunk);
        uint32_t n = 0;
        bool first = c != NULL && c->kind == PM_RUN_CHUNK_THREAD;
        if (c != NULL && pm_load(c->magic) == PM_RUN_CHUNK_MAGIC &&
            (first || c->kind == PM_RUN_CHUNK_NODES)) {
            struct pm_node *nodes =
                (struct pm_node *)((char *)c + (first ? PM_RUN_THREAD_NODES : PM_RUN_NODES_DATA));
            n = (uint32_t)pm_load(c->n_items) - look.node;
            if (n > room) {
                look.node += add_nodes(t, nodes + look.node, room);
                return false;
            }
            add_nodes(t, nodes + look.node, n);
        }
        room -= n;
        look.chunk++;
        look.node = 0;
    }
    return true;
}

/* --- choosing --- */

static unsigned bucket_of(uint64_t n)
{
    unsigned top = 63u - (unsigned)__builtin_clzll(n | 1);
    unsigned fine = top >= 3 ? (unsigned)(n >> (top - 3)) & 7u : 0;
    return top * STEPS_PER_DOUBLING + fine;
}

/* What the noun's calls since the last look cost, in costs of warm pairs. n_warmths: how many WARM_NS that was. */
static uint64_t cost_since(const struct table *t, uint32_t noun, uint64_t n_warmths)
{
    uint64_t n = t->now[noun] > t->before[noun] ? t->now[noun] - t->before[noun] : 0;
    return n + (n < n_warmths ? n : n_warmths) * COLD_TIMES;
}

/* Takes the dearest nouns, until what remains costs at most `allowed`. Returns how many are now leaving. */
static uint32_t choose(struct table *t, uint64_t total, uint64_t allowed, uint64_t n_warmths)
{
    static uint64_t costs[N_BUCKETS];
    memset(costs, 0, sizeof costs);
    for (uint32_t i = 0; i < t->n_nouns; i++)
        if (t->state[i] == NOUN_ARMED) {
            uint64_t cost = cost_since(t, i, n_warmths);
            costs[bucket_of(cost)] += cost;
        }
    unsigned lowest = N_BUCKETS; /* all above it are taken; of it as many as it needs */
    for (uint64_t left = total; lowest > 0 && left > allowed;)
        left -= costs[--lowest];
    uint64_t left = total;
    uint32_t n = 0;
    for (int of_lowest = 0; of_lowest < 2; of_lowest++)
        for (uint32_t i = 0; i < t->n_nouns && left > allowed; i++) {
            uint64_t cost = t->state[i] == NOUN_ARMED ? cost_since(t, i, n_warmths) : 0;
            if (cost == 0 || (of_lowest ? bucket_of(cost) != lowest : bucket_of(cost) <= lowest))
                continue;
            left -= cost;
            pm_store(t->state[i], NOUN_LEAVING);
            n++;
        }
    return n;
}

/* --- disarming --- */

static bool may_change(const struct pm_object *o)
{
    return o != NULL && o->loaded && o->armed && !o->portable && o->sleds != NULL;
}

static bool room_for(size_t n)
{
    if (n <= patches_capacity)
        return true;
    size_t capacity = n < 1024 ? 1024 : n * 2;
    struct pm_patch *memory = private_memory(capacity * sizeof *memory);
    if (memory == NULL)
        return false;
    patches = memory;
    patches_capacity = capacity;
    return true;
}

static bool is_leaving_sled(const struct table *t, const struct pm_object *o,
                            const struct pm_sled *sled)
{
    return sled->armed && sled->noun < o->n_nouns && o->first_noun + sled->noun < t->n_nouns &&
           t->state[o->first_noun + sled->noun] == NOUN_LEAVING;
}

/* Of all its sleds that are leaving, those in one segment. */
static bool disarm_segment(const struct table *t, struct pm_object *o, const ElfW(Phdr) * segment)
{
    uintptr_t low = o->bias + segment->p_vaddr, high = low + segment->p_memsz;
    size_t n = 0;
    for (uint32_t i = 0; i < o->n_sleds; i++)
        if (is_leaving_sled(t, o, &o->sleds[i]) && o->sleds[i].address >= low &&
            o->sleds[i].address < high) {
            patches[n].address = o->sleds[i].address;
            memcpy(patches[n++].bytes, pm_arch_nop, sizeof pm_arch_nop);
        }
    int prot = PROT_EXEC | (segment->p_flags & PF_R ? PROT_READ : 0) |
               (segment->p_flags & PF_W ? PROT_WRITE : 0);
    if (!pm_patch_apply(patches, n, prot, false))
        return false;
    for (uint32_t i = 0, k = 0; k < n; i++)
        if (o->sleds[i].address == patches[k].address) {
            o->sleds[i].armed = false;
            k++;
        }
    pm_add_shared(pm_process.file.header->n_armed, (uint64_t)0 - n);
    return true;
}

static bool disarm_object(const struct table *t, struct pm_object *o)
{
    size_t n = 0;
    for (uint32_t i = 0; i < o->n_sleds; i++)
        n += is_leaving_sled(t, o, &o->sleds[i]);
    if (n == 0)
        return true;
    bool good = room_for(n);
    const ElfW(Phdr) *p = o->phdr;
    for (unsigned i = 0; i < o->n_phdr && good; i++)
        if (p[i].p_type == PT_LOAD && (p[i].p_flags & PF_X))
            good = disarm_segment(t, o, &p[i]);
    return good;
}

static void record(uint32_t noun, uint64_t tsc, uint64_t n_events)
{
    uint64_t offset;
    if (adapted == NULL || adapted->n_items >= ITEMS_PER_CHUNK)
        adapted = pm_file_chunk(PM_RUN_CHUNK_ADAPTED,
                                sizeof *adapted + ITEMS_PER_CHUNK * sizeof(struct pm_run_adapted),
                                0, &offset);
    if (adapted == NULL)
        return;
    struct pm_run_adapted *item = (struct pm_run_adapted *)(adapted + 1) + adapted->n_items;
    item->noun = noun;
    item->disarmed_tsc = tsc;
    item->n_events = n_events;
    pm_barrier();
    pm_store(adapted->n_items, adapted->n_items + 1);
}

/* The leaving nouns of an object are disarmed, or not. */
static void settle(struct table *t, const struct pm_object *o, bool good, uint64_t tsc)
{
    for (uint32_t i = o->first_noun; i < o->first_noun + o->n_nouns && i < t->n_nouns; i++)
        if (t->state[i] == NOUN_LEAVING) {
            pm_add_shared(n_disarmed, good ? 1 : 0);
            pm_store(t->state[i], good ? NOUN_DISARMED : NOUN_ARMED);
            if (good)
                record(i, tsc, t->now[i]);
        }
}

/* False: some could not be. */
static bool disarm(struct table *t, uint64_t tsc)
{
    bool good = true;
    uint32_t n = pm_load(pm_n_objects);
    for (uint32_t i = 0; i < n && i < PM_MAX_OBJECTS; i++) {
        struct pm_object *o = pm_load(pm_objects[i]);
        if (!may_change(o))
            continue;
        bool done = disarm_object(t, o);
        settle(t, o, done, tsc);
        good = good && done;
    }
    for (uint32_t i = 0; i < t->n_nouns; i++)
        if (t->state[i] == NOUN_LEAVING)
            pm_store(t->state[i], NOUN_FIXED);
    return good;
}

static void say_refused(void)
{
    if (++look.n_refused == REFUSALS_TO_SAY)
        pm_file_message(PM_RUN_MSG_NOTE,
                        "events cost more than the budget: sleds cannot be disarmed, a thread "
                        "blocks SIGTRAP or code cannot be written",
                        NULL);
}

static bool try_hold(void)
{
    uint32_t idle = 0;
    return __atomic_compare_exchange_n(&held, &idle, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* The loader says first what it is about to do and then holds (dl.c), so one of the two sees the
 * other. */
static void keep_budget(struct table *t, uint64_t total, uint64_t allowed, uint64_t n_warmths,
                        uint64_t tsc)
{
    if (!try_hold())
        return;
    if (_r_debug.r_state == RT_CONSISTENT && choose(t, total, allowed, n_warmths) != 0) {
        if (disarm(t, tsc))
            look.n_refused = 0;
        else
            say_refused();
    }
    __atomic_store_n(&held, 0, __ATOMIC_SEQ_CST);
}

/* --- looking --- */

static uint64_t pair_ps(void)
{
    uint64_t ps =
        pm_process.mode == PM_RUN_MODE_EXACT ? pm_process.exact_pair_ps : pm_process.active_pair_ps;
    return ps != 0 ? ps : 3000;
}

static uint64_t tsc_per_ms(void)
{
    return pm_process.tsc_hz != 0 ? pm_process.tsc_hz / 1000 : 2500000;
}

/* So many times what the look took. */
static uint64_t spent_tsc(uint64_t times)
{
    return look.spent_ns * times / 1000 * tsc_per_ms() / 1000;
}

/* False: all is as it was. */
static bool decide(struct table *t, uint64_t tsc)
{
    uint32_t n_before = pm_load(n_disarmed);
    uint64_t cpu_ns = process_cpu_ns(), spent_ns = cpu_ns - look.cpu_ns, total = 0;
    uint64_t n_warmths = spent_ns / WARM_NS;
    for (uint32_t i = 0; i < t->n_nouns; i++)
        if (t->state[i] == NOUN_ARMED)
            total += cost_since(t, i, n_warmths);
    uint64_t allowed_ps = spent_ns / 1000 * pm_process.budget_ppm; /* ns * 1000 / 10^6 */
    uint64_t allowed = allowed_ps / pair_ps();
    if (total > allowed)
        keep_budget(t, total, allowed / 100 * TARGET_PERCENT, n_warmths, tsc);
    look.cpu_ns = cpu_ns;
    uint64_t *before = t->before;
    t->before = t->now;
    t->now = before;
    return pm_load(n_disarmed) != n_before;
}

/* Soon again when a change was refused: a thread that is just being made blocks all signals for a moment. And after an urgent
 * look: it has seen much time of which only the last part was hot. */
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

static bool begin_look(uint64_t tsc)
{
    if (process_cpu_ns() - look.cpu_ns < SHORTEST_LOOK_NS || !grow_table() || table == NULL)
        return false;
    memset(table->now, 0, table->n_nouns * sizeof *table->now);
    look.urgent = tsc < look.next_tsc;
    look.begun = true;
    look.chunk = look.node = 0;
    look.spent_ns = 0;
    return true;
}

static void step(uint64_t tsc)
{
    uint64_t start_ns = cpu_ns_of(CLOCK_THREAD_CPUTIME_ID);
    if (!look.begun && !begin_look(tsc))
        return;
    bool done = add_step(table), changed = done && decide(table, tsc);
    look.spent_ns += cpu_ns_of(CLOCK_THREAD_CPUTIME_ID) - start_ns;
    if (!done)
        return;
    look.begun = false;
    empty_bucket(changed);
    pm_store(look.earliest_tsc, tsc + spent_tsc(URGENT_SHARE));
    pm_store(look.next_tsc, tsc + next_interval());
}

/* So that the next event that finds such a context as the youngest goes the slow way, which closes it. */
static void mark_path(struct pm_node *node)
{
    for (; node != NULL; node = node->parent)
        if (pm_adapt_is_disarmed(node->noun))
            pm_store(node->sp, 0);
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
           (pm_process.mode == PM_RUN_MODE_ACTIVE || pm_process.mode == PM_RUN_MODE_EXACT);
}

/* Without signals: a handler might jump out and leave the locks behind. */
static void try_step(uint64_t tsc)
{
    uint64_t all = UINT64_MAX, mask = 0;
    uint32_t idle = 0;
    if (pm_load(looking) != 0)
        return;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
    if (__atomic_compare_exchange_n(&looking, &idle, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        if (*pm_process.alive_mark && (uint32_t)pm_sys(SYS_getpid) == pm_process.pid)
            step(tsc);
        __atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
    }
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof all);
}

void pm_adapt_sampled(uint64_t n_calls, uint64_t cpu_ns)
{
    if (pm_process.budget_ppm == 0)
        return;
    int64_t now = pm_load(bucket_ps) + (int64_t)(n_calls * pair_ps()) -
                  (int64_t)(cpu_ns / 1000 * pm_process.budget_ppm); /* ns * 1000 / 10^6 */
    pm_store(bucket_ps, now > 0 ? now : 0);
}

static bool flows_over(void)
{
    return pm_load(bucket_ps) > (int64_t)(pm_load(bucket_ns) / 1000 * pm_process.budget_ppm);
}

void pm_adapt_tick(uint64_t tsc)
{
    if (!has_budget())
        return;
    if (look.begun || tsc >= pm_load(look.next_tsc) ||
        (flows_over() && tsc >= pm_load(look.earliest_tsc)))
        try_step(tsc);
    if (pm_load(n_disarmed) != 0)
        mark_own();
}

/* --- what others do --- */

void pm_adapt_hold(void)
{
    if (held_by_loader)
        return;
    while (!try_hold())
        pm_sys(SYS_sched_yield);
    held_by_loader = true;
}

void pm_adapt_release(void)
{
    if (!held_by_loader)
        return;
    held_by_loader = false;
    __atomic_store_n(&held, 0, __ATOMIC_SEQ_CST);
}

static void record_armed(uint32_t noun, uint64_t tsc)
{
    for (uint32_t i = 0; i < pm_file_n_chunks(); i++) {
        struct pm_run_chunk *c = (struct pm_run_chunk *)(uintptr_t)pm_file_chunk_at(i);
        if (c == NULL || c->magic != PM_RUN_CHUNK_MAGIC || c->kind != PM_RUN_CHUNK_ADAPTED)
            continue;
        struct pm_run_adapted *items = (struct pm_run_adapted *)(c + 1);
        for (uint64_t k = 0; k < c->n_items; k++)
            if (items[k].noun == noun && items[k].armed_tsc == 0)
                pm_store(items[k].armed_tsc, tsc);
    }
}

void pm_adapt_armed(const struct pm_object *o)
{
    struct table *t = table;
    for (uint32_t i = o->first_noun; t != NULL && i < o->first_noun + o->n_nouns && i < t->n_nouns;
         i++) {
        if (t->state[i] == NOUN_DISARMED) {
            pm_add_shared(n_disarmed, (uint32_t)-1);
            record_armed(i, pm_tsc());
        }
        pm_store(t->state[i], NOUN_ARMED);
    }
}

/* The parent may have been forked while another thread was changing code: what the code is tells how far that came. */
static void finish_changes(struct table *t)
{
    for (uint32_t i = 0; i < pm_n_objects; i++) {
        struct pm_object *o = pm_objects[i];
        if (!may_change(o))
            continue;
        bool all = true;
        for (uint32_t k = 0; k < o->n_sleds; k++)
            if (is_leaving_sled(t, o, &o->sleds[k])) {
                if (memcmp((const void *)o->sleds[k].address, pm_arch_nop, sizeof pm_arch_nop) ==
                    0) {
                    o->sleds[k].armed = false;
                    pm_process.file.header->n_armed--;
                } else {
                    all = false;
                }
            }
        settle(t, o, all, pm_process.start_tsc);
    }
}

void pm_adapt_fork_child(void)
{
    struct table *t = table;
    pm_patch_fork_child();
    looking = held = 0;
    held_by_loader = false;
    adapted = NULL;
    look = (struct look){.interval_ms = FIRST_INTERVAL_MS, .cpu_ns = process_cpu_ns()};
    bucket_ps = 0;
    if (t == NULL || pm_process.file.header == NULL)
        return;
    memset(t->before, 0, t->n_nouns * sizeof *t->before);
    memset(t->now, 0, t->n_nouns * sizeof *t->now);
    for (uint32_t i = 0; i < t->n_nouns; i++)
        if (t->state[i] == NOUN_DISARMED)
            record(i, pm_process.start_tsc, 0);
    finish_changes(t);
}
