/* Sentences that do not nest (pm_begin and pm_end of perfmap.h), in one thread or in the whole
 * process.
 *
 * What a thread has begun and not ended, and what is begun in the process, is its ambient set, a
 * word (pm_words.h). The tree has a node for each set that a thread had, a child of the root,
 * and below it again the paths that were active meanwhile. So costs are kept per path and set by
 * what keeps them per path, and trampolines know nothing of sets.
 *
 * Begin and end move the thread from its path to the twin of it, the equal path below another
 * set, by five steps:
 *
 *     make the twin      from its parent's twin; a node remembers the twin that was used last
 *     prepare it         each node gets the stack pointer of its frame, and the time as its start
 *     commit             `current` becomes the twin, by one instruction, if it is still what was
 *                        moved
 *     retire             what was left gets its time up to now, and is not active any more
 *     look again         whether this is the set that it should be
 *
 * A signal handler may come between any two. Its calls are below the path that is current then,
 * which is a sound one at every instant. What it begins or ends itself changes the thread's set
 * at once, the path when the move that it interrupted looks again: there is one mover at a time.
 * One that a handler jumped out of is known by its frame, which is gone, and what it had begun
 * is completed.
 *
 * A handler that interrupts a trampoline and leaves something begun has moved the context that
 * the trampoline is about to replace. That puts the old path back, which the next event that
 * goes the slow way finds by its set, and moves again; stack pointers that were retired stay as
 * they are in the twin.
 *
 * What is begun in the whole process is written to a log, and each thread is poked: its
 * ring_seen gets a bit that no ring's head has, so its next event goes the slow way, and follows
 * the log. It had no event in between, so its times are split exactly where the log says.
 */
#include "runtime/tree/ambient.h"
#include "format/pm_words.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/children.h"
#include "runtime/tree/fold.h"
#include "runtime/tree/frame.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>

_Static_assert((int)PM_MAX_AMBIENT == (int)PM_WORDS_MAX_SET, "the largest set");

enum {
    NUMBER_BITS = 22, /* of a word */
    MEMO_BITS = 12,
    LOG_CHUNK_BYTES = 16384,
    LOG_ENTRIES = (LOG_CHUNK_BYTES - (int)PM_RUN_AMBIENT_DATA) / (int)sizeof(struct pm_run_ambient),
    MAX_LOG_CHUNKS = 8192,
    MAX_LOG_BEGINS = MAX_LOG_CHUNKS * LOG_ENTRIES - PM_MAX_AMBIENT, /* all that is begun can end */
};

uint32_t pm_ambient_n_log;
static struct pm_run_chunk *log_chunks[MAX_LOG_CHUNKS];

/* Words' lock. */
static struct {
    uint64_t begun[PM_MAX_AMBIENT]; /* as in struct pm_tls */
    uint32_t set;
} whole;

/* Only this thread and its handlers change the word: one instruction, without a lock. */
static inline bool swap64(uint64_t *where, uint64_t old, uint64_t new)
{
#if defined(__x86_64__)
    bool good;
    __asm__ volatile("cmpxchgq %3, %0"
                     : "+m"(*where), "+a"(old), "=@ccz"(good)
                     : "r"(new)
                     : "memory");
    return good;
#else
    return __atomic_compare_exchange_n(where, &old, new, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

static inline bool swap32(uint32_t *where, uint32_t old, uint32_t new)
{
#if defined(__x86_64__)
    bool good;
    __asm__ volatile("cmpxchgl %3, %0"
                     : "+m"(*where), "+a"(old), "=@ccz"(good)
                     : "r"(new)
                     : "memory");
    return good;
#else
    return __atomic_compare_exchange_n(where, &old, new, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

static void say_once(bool *said, const char *text)
{
    if (!__atomic_exchange_n(said, true, __ATOMIC_RELAXED))
        pm_file_message(PM_RUN_MSG_LIMIT, text, NULL);
}

static void say_too_many(void)
{
    static bool said;
    say_once(&said, "more than 64 sentences were begun and not ended (pm_begin): those beyond "
                    "that do not count");
}

void pm_ambient_say_not_begun(void)
{
    static bool said;
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        pm_file_message(PM_RUN_MSG_NOTE,
                        "a sentence was ended (pm_end) that had not been begun in that thread: "
                        "such calls do nothing",
                        NULL);
}

/* --- sets --- */

enum operation { WITH = 1, WITHOUT, JOINED };

/* What was combined last, by what it was combined from; 0: nothing. A place and its entry
 * determine all of that:
 *
 *     bits 63..56  operation
 *          55..34  a
 *          33..22  upper bits of b, whose lower ones follow from the place
 *          21..0   what came out
 */
static uint64_t memo[1 << MEMO_BITS];
_Static_assert(PM_WORDS_MAX <= 1 << NUMBER_BITS, "numbers fit");

static uint64_t memo_key(enum operation operation, uint32_t a, uint32_t b)
{
    return (uint64_t)operation << 56 | (uint64_t)a << 34 |
           (uint64_t)(b >> MEMO_BITS) << NUMBER_BITS;
}

static uint64_t *memo_place(enum operation operation, uint32_t a, uint32_t b)
{
    uint32_t mix = (a * 4 + operation) * 0x9e3779b1u >> (32 - MEMO_BITS);
    return &memo[(mix ^ b) & ((1u << MEMO_BITS) - 1)];
}

static uint32_t insert(uint32_t *list, uint32_t n, uint32_t sentence)
{
    uint32_t at = 0;
    while (at < n && list[at] < sentence)
        at++;
    if (at < n && list[at] == sentence)
        return n;
    if (n == PM_MAX_AMBIENT) {
        say_too_many();
        return n;
    }
    for (uint32_t i = n; i > at; i--)
        list[i] = list[i - 1];
    list[at] = sentence;
    return n + 1;
}

/* a: a set; b: a sentence, JOINED: another set. The lock is held. */
static uint32_t make_set(enum operation operation, uint32_t a, uint32_t b)
{
    uint32_t list[PM_MAX_AMBIENT], n = 0;
    const uint32_t *members = NULL, *others = NULL;
    uint32_t n_members = pm_words_members(a, &members);
    uint32_t n_others = operation == JOINED ? pm_words_members(b, &others) : 0;
    for (uint32_t i = 0; i < n_members; i++)
        if (operation != WITHOUT || members[i] != b)
            list[n++] = members[i];
    if (operation == WITH)
        n = insert(list, n, b);
    for (uint32_t i = 0; i < n_others; i++)
        n = insert(list, n, others[i]);
    uint32_t set = pm_words_set(list, n);
    if (set == 0 && n != 0)
        return a; /* there is no room for more words */
    if ((a | b | set) >> NUMBER_BITS == 0)
        pm_store(*memo_place(operation, a, b), memo_key(operation, a, b) | set);
    return set;
}

static uint32_t combine(enum operation operation, uint32_t a, uint32_t b)
{
    uint64_t known = pm_load(*memo_place(operation, a, b)), key = memo_key(operation, a, b);
    if (pm_likely((known ^ key) >> NUMBER_BITS == 0 && (a | b) >> NUMBER_BITS == 0))
        return (uint32_t)(known & ((1u << NUMBER_BITS) - 1));
    uint64_t mask = pm_words_lock();
    uint32_t set = make_set(operation, a, b);
    pm_words_unlock(mask);
    return set;
}

/* --- what is begun --- */

/* Handlers may change any entry in between, so one is only taken as it was seen. A sentence may
 * have two entries then. False: no room. */
static bool add_begun(uint64_t *begun, uint32_t *n_begun, uint32_t sentence)
{
    const uint64_t once = (uint64_t)1 << 32;
    for (;;) {
        uint64_t *unused = NULL, *own = NULL, seen = 0;
        uint32_t n = pm_load(*n_begun);
        for (uint32_t i = 0; i < n && own == NULL; i++) {
            uint64_t entry = pm_load(begun[i]);
            if (entry == 0 && unused == NULL)
                unused = &begun[i];
            if ((uint32_t)entry == sentence) {
                own = &begun[i];
                seen = entry;
            }
        }
        if (own == NULL && unused == NULL) {
            if (n == PM_MAX_AMBIENT)
                return false;
            swap32(n_begun, n, n + 1);
            continue;
        }
        if (own != NULL && seen >> 32 == UINT32_MAX)
            return true;
        if (own != NULL ? swap64(own, seen, seen + once) : swap64(unused, 0, sentence | once))
            return true;
    }
}

/* False: it was not begun. */
static bool remove_begun(uint64_t *begun, uint32_t n_begun, uint32_t sentence)
{
    const uint64_t once = (uint64_t)1 << 32;
    for (uint32_t i = 0; i < n_begun;) {
        uint64_t entry = pm_load(begun[i]);
        if ((uint32_t)entry != sentence)
            i++;
        else if (swap64(&begun[i], entry, entry >> 32 > 1 ? entry - once : 0))
            return true;
    }
    return false;
}

static bool is_begun(const uint64_t *begun, uint32_t n_begun, uint32_t sentence)
{
    for (uint32_t i = 0; i < n_begun; i++)
        if ((uint32_t)pm_load(begun[i]) == sentence)
            return true;
    return false;
}

/* The thread's own set as its entries say. */
static void settle_own_set(struct pm_tls *t, uint32_t sentence)
{
    bool wanted, good;
    do {
        uint32_t own = pm_load(t->own_set);
        wanted = is_begun(t->begun, pm_load(t->n_begun), sentence);
        uint32_t set = combine(wanted ? WITH : WITHOUT, own, sentence);
        good = set == own || swap32(&t->own_set, own, set);
    } while (!good || wanted != is_begun(t->begun, pm_load(t->n_begun), sentence));
    pm_store(t->slot->thread->own_set, t->own_set);
}

/* --- the log --- */

static const struct pm_run_ambient *log_at(uint32_t i)
{
    const char *chunk = (const char *)log_chunks[i / LOG_ENTRIES];
    return (const struct pm_run_ambient *)(chunk + PM_RUN_AMBIENT_DATA) + i % LOG_ENTRIES;
}

/* The lock is held. */
static bool append(struct pm_run_ambient entry)
{
    uint32_t n = pm_ambient_n_log, k = n / LOG_ENTRIES;
    if (k == MAX_LOG_CHUNKS)
        return false;
    if (n % LOG_ENTRIES == 0) {
        uint64_t offset;
        log_chunks[k] = pm_file_chunk(PM_RUN_CHUNK_AMBIENT, LOG_CHUNK_BYTES, 0, &offset);
        if (log_chunks[k] == NULL)
            return false;
    }
    *(struct pm_run_ambient *)(uintptr_t)log_at(n) = entry;
    pm_barrier();
    pm_store(log_chunks[k]->n_items, n % LOG_ENTRIES + 1);
    __atomic_store_n(&pm_ambient_n_log, n + 1, __ATOMIC_SEQ_CST);
    return true;
}

/* Sets PM_POKED, as one word of memory that may not be there: an operation of futex(2) that
 * wakes nobody. Who had not seen all before the last entry is poked already. */
static void poke(struct pm_slot *slot)
{
    static uint32_t nobody;
    static bool said;
    struct pm_tls *t = pm_load(slot->t);
    if (t == NULL || t == &pm_tls || pm_load(slot->thread->n_ambient) + 1 < pm_ambient_n_log)
        return;
    if (!pm_thread_is_there(slot)) {
        if (pm_confined)
            say_once(&said,
                     "the program's filters do not let one thread see whether another one is "
                     "there: what is begun in the whole process others may learn late");
        return;
    }
    uint32_t *upper = (uint32_t *)&t->ring_seen + PM_POKED_WORD;
    uint32_t set_bit = FUTEX_OP((uint32_t)(FUTEX_OP_OR | FUTEX_OP_OPARG_SHIFT), PM_POKED_BIT - 32,
                                FUTEX_OP_CMP_EQ, 0);
    long result =
        pm_sys(SYS_futex, &nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, upper, set_bit);
    if (result < 0 && result != -EFAULT) /* it is refused */
        __atomic_fetch_or(&t->ring_seen, PM_POKED, __ATOMIC_RELAXED);
}

void pm_ambient_saw(struct pm_tls *t, uint64_t head)
{
    pm_store(t->ring_seen,
             (head & ~PM_READS_COUNTERS) | (t->reads_counters ? PM_READS_COUNTERS : 0));
    pm_fence(); /* who pokes writes the log before */
    if (pm_load(pm_ambient_n_log) != t->log_seen)
        __atomic_fetch_or(&t->ring_seen, PM_POKED, __ATOMIC_RELAXED);
}

void pm_ambient_ring(struct pm_tls *t, const volatile uint64_t *word, uint64_t seen)
{
    pm_store(t->ring_head, word);
    pm_ambient_saw(t, seen);
}

/* The set that the thread should have. */
static uint32_t wanted_set(const struct pm_tls *t)
{
    uint32_t seen = pm_load(t->log_seen), own = pm_load(t->own_set);
    uint32_t process = seen != 0 ? log_at(seen - 1)->set : 0;
    return process == 0 ? own : own == 0 ? process : combine(JOINED, own, process);
}

/* --- moving --- */

static bool is_top(const struct pm_node *node)
{
    return node->parent == NULL || node->kind == PM_RUN_AMBIENT_SET;
}

static struct pm_node *root_of(const struct pm_node *node)
{
    while (node->parent != NULL)
        node = node->parent;
    return (struct pm_node *)(uintptr_t)node;
}

/* The node of a set below this path's root; NULL: it cannot be made. */
static struct pm_node *top_of(struct pm_tls *t, const struct pm_node *path, uint32_t set)
{
    struct pm_node *root = root_of(path);
    struct pm_probe probe;
    if (set == 0)
        return root;
    return pm_words_probe(set, &probe) ? pm_child_of(t, root, &probe, 0, pm_may_exceed()) : NULL;
}

static struct pm_node *twin_at_hand(struct pm_tls *t, struct pm_node *node, uint32_t set)
{
    struct pm_node *twin = pm_load(node->twin);
    if (twin != NULL && twin->set == set)
        return twin;
    return is_top(node) ? top_of(t, node, set) : NULL;
}

static struct pm_node *make_twin(struct pm_tls *t, struct pm_node *node, struct pm_node *parent)
{
    struct pm_probe probe = {
        .noun = node->noun,
        .kind = (uint8_t)node->kind,
        .loop_depth = (uint8_t)node->loop_depth,
        .mode = node->flags & PM_RUN_NODE_TIMED ? PM_RUN_MODE_EXACT : PM_RUN_MODE_ACTIVE,
    };
    return pm_child_of(t, parent, &probe, 0, pm_may_exceed());
}

/* The equal path below the set, made as far as it is not there. NULL: it cannot be made. Ways
 * down are noted in nodes on the way up; a handler notes the same ones, or has changed the path:
 * then what is found is of no use, and the commit fails. */
static struct pm_node *twin_of(struct pm_tls *t, struct pm_node *from, uint32_t set)
{
    struct pm_node *node = from, *twin;
    while ((twin = twin_at_hand(t, node, set)) == NULL) {
        if (is_top(node))
            return NULL;
        pm_store(node->parent->way, node);
        node = node->parent;
    }
    while (node != from) {
        struct pm_node *below = pm_load(node->way);
        if (below == NULL || below->parent != node || below->depth > from->depth)
            return NULL;
        twin = make_twin(t, below, twin);
        if (twin == NULL)
            return NULL;
        pm_store(below->twin, twin);
        pm_store(twin->twin, below);
        node = below;
    }
    return twin;
}

/* The frames of `from` are those of `to` as well. A node without a stack pointer is half-open,
 * or was retired before: what its twin has stays. *tsc 0: it is read when a noun has a mode of
 * its own, with times. Returns the top of `to`. */
static struct pm_node *prepare(const struct pm_node *from, struct pm_node *to, uint64_t *tsc)
{
    uint32_t top_depth = from->set != 0; /* the set's node, or the root */
    for (; from->depth > top_depth; from = from->parent, to = to->parent) {
        uint64_t sp = pm_load(from->sp), start = pm_load(from->start_tsc);
        uint32_t gone = pm_load(from->gone);
        if (to->sampled_calls ==
            to->n_calls) /* it was not active all the time since the last sample */
            to->sampled_calls--;
        if (sp == 0 && gone == 0)
            continue;
        if (start != 0 && *tsc == 0)
            *tsc = pm_tsc();
        if ((start | to->start_tsc) != 0)
            pm_store(to->start_tsc, start == 0 || start > *tsc ? start : *tsc);
        if ((gone | to->gone) != 0)
            pm_store(to->gone, gone);
        if (pm_sp_jumped_away(sp))
            pm_store(to->paused, from->paused);
        pm_store(to->sp, sp);
    }
    if (to->kind != PM_RUN_AMBIENT_SET || to->sp != 0)
        return to;
    uint64_t start = from->kind == PM_RUN_AMBIENT_SET ? from->start_tsc : 0;
    bool timed = to->flags & PM_RUN_NODE_TIMED;
    pm_store(to->start_tsc, !timed ? 0 : start > *tsc ? start : *tsc);
    pm_store(to->sp, UINT64_MAX);
    return to;
}

/* No activation of these, and of their set's node, is open any more. tsc 0: their times do not
 * count. */
static void retire(struct pm_node *node, uint64_t tsc)
{
    for (; node->depth != 0; node = node->parent) {
        uint64_t start = node->start_tsc;
        bool counts = start != 0 && pm_load(node->sp) != 0 && tsc > start;
        pm_context_close(node, PM_SLOWLY, counts ? tsc - start : 0);
    }
}

/* Mode trace: an enter of the set, or a leave of the one before where there is none now. It
 * stands for leaves and enters of all the path. */
static void record(struct pm_tls *t, const struct pm_node *from, const struct pm_node *to,
                   bool foreign, uint64_t tsc)
{
    while (!is_top(from))
        from = from->parent;
    bool has_set = to->kind == PM_RUN_AMBIENT_SET;
    uint32_t head = has_set ? PM_RUN_TRACE_ENTER | pm_trace_noun(to->noun)
                            : PM_RUN_TRACE_LEAVE | pm_trace_noun(from->noun);
    pm_trace_fill(pm_trace_reserve(t), head | (foreign ? PM_RUN_TRACE_FOREIGN : 0), tsc);
}

/* False: it cannot be moved, for there is no room for its twin. */
static bool move_path(struct pm_tls *t, struct pm_node **current, uint32_t set, uint64_t tsc)
{
    struct pm_node *from = pm_load(*current);
    if (from == NULL || from == &pm_sentinel || from->set == set)
        return true;
    struct pm_node *to = twin_of(t, from, set);
    if (to == NULL)
        return pm_load(*current) != from;
    bool traced = pm_process.mode == PM_RUN_MODE_TRACE;
    if (traced)
        pm_trace_room(t, tsc);
    pm_store(t->move_from, from);
    pm_store(t->move_to, to);
    pm_barrier();
    struct pm_node *top = prepare(from, to, &tsc);
    t->move_tsc = tsc;
    pm_barrier();
    if (!swap64((uint64_t *)current, (uint64_t)(uintptr_t)from, (uint64_t)(uintptr_t)to))
        return true; /* a handler has changed it: again */
    pm_barrier();
    if (traced)
        record(t, from, top, current == &t->foreign_current, tsc);
    retire(from, tsc);
    if (top->kind == PM_RUN_AMBIENT_SET)
        pm_add_own(&top->n_calls, 1);
    return true;
}

/* Where the innermost context of the thread's own stack is kept. */
static struct pm_node **own_place(struct pm_tls *t)
{
    return pm_load(t->current) != &pm_sentinel ? &t->current
           : t->where == PM_WHERE_FOREIGN      ? &t->own_current
                                               : &t->fold_at;
}

static bool move_all(struct pm_tls *t, uint32_t set, uint64_t tsc)
{
    bool away = pm_load(t->current) == &pm_sentinel && t->where == PM_WHERE_FOREIGN;
    /* What goes on elsewhere is not the time of the own stack's contexts (pm_come_back). */
    uint64_t own_tsc = away && tsc != 0 ? t->slot->foreign_root->start_tsc : tsc;
    bool good =
        move_path(t, own_place(t), set, own_tsc) && move_path(t, &t->foreign_current, set, tsc);
    pm_store(t->slot->thread->ambient_set, pm_own_current(t)->set);
    return good;
}

static bool is_settled(const struct pm_tls *t, uint32_t set)
{
    return pm_own_current(t)->set == set &&
           (t->foreign_current == NULL || t->foreign_current->set == set);
}

static bool is_on_path(const struct pm_node *path, const struct pm_node *node)
{
    while (path != NULL && path != node)
        path = path->parent;
    return path != NULL;
}

/* Does this run in a handler that has interrupted a mover? Else that was left by a jump. */
static bool mover_lives(const struct pm_tls *t, uintptr_t frame)
{
    const struct pm_node *own = pm_own_current(t), *foreign = t->foreign_current;
    if (frame >= t->moving)
        return false;
    return t->move_from == NULL || is_on_path(own, t->move_from) || is_on_path(own, t->move_to) ||
           is_on_path(foreign, t->move_from) || is_on_path(foreign, t->move_to);
}

/* Completes, or takes back, what was left. */
static void end_move(struct pm_tls *t)
{
    struct pm_node *from = t->move_from, *to = t->move_to;
    if (from == NULL || to == NULL)
        return;
    const struct pm_node *own = pm_own_current(t), *foreign = t->foreign_current;
    uint32_t set = root_of(from) == root_of(own) ? own->set
                   : foreign != NULL             ? foreign->set
                                                 : to->set;
    if (set == to->set)
        retire(from, t->move_tsc);
    else
        retire(to, 0);
}

void pm_ambient_settle(struct pm_tls *t, uint64_t tsc)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (pm_unlikely(t->moving != 0)) {
        if (mover_lives(t, frame))
            return;
        end_move(t);
    }
    uint32_t set;
    bool good;
    do {
        t->move_from = NULL;
        pm_store(t->moving, frame);
        set = wanted_set(t);
        pm_store(t->set, set);
        good = move_all(t, set, tsc);
        pm_barrier();
        pm_store(t->moving, 0);
    } while (good && (wanted_set(t) != set || !is_settled(t, set)));
    if (good)
        return;
    pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
    pm_say_limit();
    pm_store(t->set, pm_own_current(t)->set); /* until something is begun or ended */
}

/* --- following --- */

bool pm_ambient_follow(struct pm_tls *t)
{
    bool moved = false;
    if (t->state != PM_THREAD_READY)
        return false;
    __atomic_fetch_and(&t->ring_seen, ~PM_POKED,
                       __ATOMIC_SEQ_CST); /* who pokes writes the log before */
    for (;;) {
        uint32_t seen = pm_load(t->log_seen);
        if (seen == pm_load(pm_ambient_n_log))
            return moved;
        const struct pm_run_ambient *entry = log_at(seen);
        pm_sample_drain_until(t, entry->monotonic_ns);
        if (!swap32(&t->log_seen, seen, seen + 1))
            continue; /* a handler has followed */
        pm_ambient_settle(t, entry->tsc);
        pm_store(t->slot->thread->n_ambient, pm_load(t->log_seen));
        pm_fence(); /* who pokes writes the log before, and looks at this */
        moved = true;
    }
}

/* True: the thread can begin and end. What was before is dealt with. */
static bool get_ready(struct pm_tls *t)
{
    if (pm_unlikely(t->state != PM_THREAD_READY) && !pm_thread_begin(t, pm_tsc()))
        return false;
    if (*t->ring_head != t->ring_seen || pm_ambient_is_behind(t))
        pm_sample_drain(t);
    return true;
}

/* --- beginning and ending --- */

static void say_log_is_full(void)
{
    static bool said;
    say_once(&said, "there is no room for further changes of what is begun in the whole process "
                    "(pm_begin_process): they do not count");
}

/* One of the process. False: nothing has changed but how often. */
static bool change_whole(enum operation operation, uint32_t sentence, bool *ret_good)
{
    uint32_t n = PM_MAX_AMBIENT, set = whole.set;
    if (operation == WITH && pm_ambient_n_log >= MAX_LOG_BEGINS) {
        say_log_is_full();
        return false;
    }
    *ret_good = operation == WITH ? add_begun(whole.begun, &n, sentence)
                                  : remove_begun(whole.begun, n, sentence);
    if (!*ret_good)
        return false;
    bool wanted = is_begun(whole.begun, n, sentence);
    set = make_set(wanted ? WITH : WITHOUT, set, sentence);
    if (set == whole.set)
        return false;
    struct pm_run_ambient entry = {.set = set, .tid = pm_tls.slot->tid};
    pm_clock_pair(&entry.tsc, &entry.monotonic_ns);
    if (append(entry)) {
        whole.set = set;
        return true;
    }
    if (operation == WITH)
        remove_begun(whole.begun, n, sentence);
    say_log_is_full();
    return false;
}

static bool begin_or_end_whole(struct pm_tls *t, enum operation operation, uint32_t sentence)
{
    bool good = true;
    uint64_t mask = pm_words_lock();
    if (change_whole(operation, sentence, &good))
        pm_threads_each(poke);
    pm_words_unlock(mask);
    pm_ambient_look(t);
    return good;
}

/* How often it was begun is said where it was begun: a folded context has calls and no time. */
static void count_begin(struct pm_tls *t, const struct pm_probe *call)
{
    bool away = pm_load(t->current) == &pm_sentinel && t->where == PM_WHERE_FOREIGN;
    struct pm_node *at =
        away && t->foreign_current != NULL ? t->foreign_current : pm_own_current(t);
    uint32_t flags = PM_RUN_NODE_FOLDED | PM_RUN_NODE_BEGUN;
    struct pm_node *node = pm_child_of(t, at, call, flags, pm_may_exceed());
    if (node != NULL)
        pm_add_own(&node->n_calls, 1);
}

void pm_ambient_begin(uint32_t sentence, const struct pm_probe *call, bool whole_process)
{
    struct pm_tls *t = &pm_tls;
    if (!get_ready(t))
        return;
    uint64_t tsc = pm_mode_is_timed(pm_process.mode) ? pm_tsc() : 0;
    bool good = whole_process ? begin_or_end_whole(t, WITH, sentence)
                              : add_begun(t->begun, &t->n_begun, sentence);
    if (!good) {
        say_too_many();
        return;
    }
    if (!whole_process) {
        settle_own_set(t, sentence);
        pm_ambient_settle(t, tsc);
    }
    count_begin(t, call);
}

bool pm_ambient_end(uint32_t sentence, bool whole_process)
{
    struct pm_tls *t = &pm_tls;
    if (!get_ready(t))
        return true;
    uint64_t tsc = pm_mode_is_timed(pm_process.mode) ? pm_tsc() : 0;
    if (whole_process)
        return begin_or_end_whole(t, WITHOUT, sentence);
    if (!remove_begun(t->begun, t->n_begun, sentence))
        return false;
    settle_own_set(t, sentence);
    pm_ambient_settle(t, tsc);
    return true;
}

/* --- threads and children --- */

static void note_thread(struct pm_tls *t)
{
    struct pm_run_thread *thread = t->slot->thread;
    thread->own_set = t->own_set;
    thread->n_ambient = t->log_seen;
    thread->ambient_set = pm_own_current(t)->set;
}

void pm_ambient_thread_begin(struct pm_tls *t, uint64_t tsc)
{
    t->own_set = t->n_begun = 0;
    t->moving = 0;
    pm_store(t->slot->t, t);
    pm_fence(); /* who pokes writes the log before */
    t->log_seen = pm_load(pm_ambient_n_log);
    pm_store(t->slot->thread->n_ambient, t->log_seen);
    t->set = 0;
    pm_ambient_saw(t, t->ring_seen);
    if (wanted_set(t) != 0)
        pm_ambient_settle(t, pm_mode_is_timed(pm_process.mode) ? tsc : 0);
    note_thread(t);
}

/* From here on nobody pokes it. */
void pm_ambient_thread_end(struct pm_tls *t)
{
    pm_ambient_look(t);
    uint64_t mask = pm_words_lock();
    pm_store(t->slot->t, NULL);
    pm_words_unlock(mask);
}

void pm_ambient_fork_child(void)
{
    struct pm_tls *t = &pm_tls;
    for (uint32_t k = 0; k < MAX_LOG_CHUNKS && log_chunks[k] != NULL; k++)
        log_chunks[k] = NULL;
    pm_ambient_n_log = t->log_seen = 0;
    t->moving = 0;
    if (whole.set == 0)
        return;
    append((struct pm_run_ambient){.tsc = pm_process.start_tsc,
                                   .monotonic_ns = pm_process.start_monotonic_ns,
                                   .set = whole.set});
    t->log_seen = pm_ambient_n_log;
}

void pm_ambient_renew(struct pm_tls *t, uint64_t tsc)
{
    pm_store(t->slot->t, t);
    if (pm_own_current(t)->set != wanted_set(t)) /* it was behind */
        pm_ambient_settle(t, pm_mode_is_timed(pm_process.mode) ? tsc : 0);
    note_thread(t);
}
