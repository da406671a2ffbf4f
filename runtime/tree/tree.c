/* The calling-context tree: what trampolines leave to C, and everything of portable mode.
 *
 * Frames are told apart by the stack pointer S of an event (functions: at the sled, CFA - 8;
 * loops: within the function's frame). Stacks grow down. At each event what is dead is closed
 * first, for longjmp or an exception has left it; then:
 *
 *     event           dead                             then
 *     function entry  frames with sp <= S, but for     a child of the youngest frame is pushed
 *                     one that jumped to this function
 *     return          frames with sp < S               the frame with sp == S and this noun ends
 *     loop entry      frames with sp < S, and loops    a child is pushed
 *                     of this frame that are not
 *                     outside of this one (depth)
 *     loop exit       what lies deeper in the loop     the youngest loop of this noun ends
 *     landing         frames with sp < S, and loops    nothing
 *                     of this frame that are deeper
 *                     than where it goes on
 *
 * An exit that finds no frame belongs to a call that got no context, or whose entry was not
 * armed.
 *
 * A tail call's context stays open: what it jumped to stands below it (struct pm_jump), and ends
 * it with itself. Where no sled tells when that returns, contexts without times stay for
 * samples, until an event or a sample shows another return address at S, or a frame above. Timed
 * ones had their time up to the jump.
 *
 * Contexts whose nouns come to have none (modes.c) while they are open get no exit any more.
 * Nobody can know whether their frame still lives, so they are closed from outside (gone, sp 0),
 * which brings the next event that finds one as the youngest here, and it is taken off. Events
 * that were on their way when the sleds changed are not counted.
 *
 * Events of mode active do not know the time (tsc 0), and contexts that they begin have
 * start_tsc 0 while they are open. Each noun has its own mode, which may change at any time;
 * roots always have times.
 *
 * Order of stores. A signal handler may run between any two instructions, call instrumented code
 * (also the very function that was being entered) and return. Entry: count, current = node,
 * start, sp. A handler in between sees a node with sp == 0, "half-open", and nests below it.
 * Exit: clock, current = parent, sp = 0, then the time is added by one instruction; a handler in
 * between may enter the node again. The index of contexts and the hash table are changed by
 * single words. Trampolines keep the same order.
 */
#include "runtime/tree/tree.h"
#include "format/pm_sled.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/ambient.h"
#include "runtime/tree/coroutines.h"
#include "runtime/tree/noun.h"
#include "runtime/tree/trace.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

struct pm_node pm_sentinel = {
    .noun = 0xfffffffeu, .cached_child = &pm_sentinel, .flags = PM_NODE_TERMS};

static uint32_t trace_noun(struct pm_node *const *current, uint32_t noun)
{
    return pm_trace_noun(noun) | (current != &pm_tls.current ? PM_RUN_TRACE_FOREIGN : 0);
}

static inline void push(struct pm_node **current, struct pm_node *node, bool traced, uint64_t sp,
                        uint64_t tsc)
{
    if (traced)
        pm_trace_room(&pm_tls, tsc);
    pm_add_own(&node->n_calls, 1);
    pm_store(node->gone, 0);
    pm_barrier();
    pm_store(*current, node);
    if (traced)
        pm_trace_fill(pm_trace_reserve(&pm_tls),
                      PM_RUN_TRACE_ENTER | trace_noun(current, node->noun), tsc);
    pm_store(node->start_tsc, tsc);
    pm_store(node->sp, sp);
    pm_barrier();
}

/* False: a handler that came in between has ended this frame (only dead ones), look again. tsc
 * 0: the event has none, but the frame may have begun with one. */
static inline bool pop(struct pm_node **current, struct pm_node *node, uint64_t tsc)
{
    uint64_t start = node->start_tsc, spent = 0;
    bool traced = pm_tls.trace_end != NULL && start != 0 && node->parent != NULL;
    if (tsc == 0 && start != 0)
        tsc = pm_tsc();
    if (start != 0 && pm_load(node->sp) != 0 &&
        tsc > start) /* else it has waited since (coroutines.c) */
        spent = tsc - start;
    if (traced)
        pm_trace_room(&pm_tls, tsc);
    if (!__atomic_compare_exchange_n(current, &(struct pm_node *){node}, node->parent, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return false;
    pm_barrier();
    if (traced)
        pm_trace_fill(pm_trace_reserve(&pm_tls),
                      PM_RUN_TRACE_LEAVE | trace_noun(current, node->noun), tsc);
    pm_store(node->sp, 0);
    pm_store(node->gone, 0);
    pm_barrier();
    pm_add_own(&node->inclusive_tsc, spent);
    return true;
}

/* Its time ends before what it jumped to does. */
static void pop_jumped(struct pm_node **current, struct pm_node *node, uint64_t tsc)
{
    if (node->start_tsc != 0)
        pm_store(node->flags, node->flags | PM_RUN_NODE_JUMPED);
    pop(current, node, tsc);
}

static void pop_exit(struct pm_node **current, struct pm_node *node, unsigned kind, uint64_t tsc)
{
    if (kind == PM_SLED_TAIL)
        pop_jumped(current, node, tsc);
    else
        pop(current, node, tsc);
}

/* A context that has jumped away, and where no sled told when that returned: it had its time up
 * to the jump. */
static uint64_t end_of_jump(const struct pm_node *node, uint64_t tsc)
{
    const struct pm_jump *jump = pm_jump_at(&pm_tls, pm_sp_frame(node->sp));
    bool known = tsc != 0 && jump->sp == pm_sp_frame(node->sp) && jump->tsc != 0;
    return known && jump->tsc > node->start_tsc ? jump->tsc : tsc;
}

static void pop_dead(struct pm_node **current, struct pm_node *node, uint64_t tsc)
{
    if (pm_sp_jumped(node->sp)) {
        pop_jumped(current, node, end_of_jump(node, tsc));
        return;
    }
    bool disarmed = pm_node_is_gone(node) || pm_noun_is_leaving(node->noun);
    if (pop(current, node, tsc) && !disarmed)
        pm_add_shared(pm_process.file.header->n_healed, 1);
}

struct pm_node *pm_own_current(const struct pm_tls *t)
{
    if (t->current != &pm_sentinel)
        return t->current;
    return t->where == PM_WHERE_FOREIGN ? t->own_current : t->fold_at;
}

void pm_close_all(struct pm_node *node, uint64_t tsc)
{
    while (node != NULL)
        pop(&node, node, tsc);
}

struct pm_node *pm_root_make(struct pm_slot *slot, uint64_t sp, uint32_t flags, uint64_t tsc)
{
    struct pm_node *root = pm_node_claim(slot);
    if (root == NULL)
        return NULL;
    root->cached_child = &pm_sentinel;
    root->start_tsc = tsc;
    root->n_calls = 1;
    root->flags = flags;
    root->sp = sp;
    pm_barrier();
    root->noun = PM_RUN_NOUN_ROOT;
    return root;
}

/* Trampolines compute the same. A folded context has the place beside, where no trampoline looks
 * for it. */
static struct pm_node **hash_place(struct pm_node **hash, const struct pm_node *parent,
                                   uint32_t noun, uint32_t flags)
{
    uint32_t at = (uint32_t)((uintptr_t)parent >> 4) ^ (noun * 0x9e3779b1u >> 12 << 3);
    return hash + ((at & PM_HASH_MASK) / 8 ^ (flags & PM_RUN_NODE_FOLDED));
}

static bool is_child(const struct pm_node *node, const struct pm_node *parent, uint32_t noun,
                     uint32_t flags)
{
    return node != NULL && node->parent == parent && node->noun == noun &&
           (node->flags & PM_RUN_NODE_FOLDED) == (flags & PM_RUN_NODE_FOLDED);
}

void pm_hash_child(const struct pm_tls *t, struct pm_node *node)
{
    pm_store(*hash_place(t->hash, node->parent, node->noun, 0), node);
}

struct pm_node *pm_known_child(const struct pm_tls *t, const struct pm_node *parent, uint32_t noun)
{
    struct pm_node *node = t->hash != NULL ? pm_load(*hash_place(t->hash, parent, noun, 0)) : NULL;
    return is_child(node, parent, noun, 0) ? node : NULL;
}

/* --- the index --- */

enum { FIRST_INDEX_ENTRIES = 4096 };

static struct pmr_index *new_index(uint32_t n_entries)
{
    struct pmr_index *index =
        pm_private_memory(sizeof(struct pmr_index) + n_entries * sizeof(struct pm_node *));
    if (index != NULL)
        index->mask = n_entries - 1;
    return index;
}

/* Where this child is, or where it would be put. */
static uint32_t find_place(const struct pmr_index *index, const struct pm_node *parent,
                           uint32_t noun, uint32_t flags)
{
    uint64_t key = ((uint64_t)(uintptr_t)parent >> 6) * 0x9e3779b97f4a7c15u;
    key = (key ^ key >> 29 ^ ((uint64_t)noun << 1 | (flags & PM_RUN_NODE_FOLDED))) *
          0xc2b2ae3d27d4eb4fu;
    for (uint32_t at = (uint32_t)(key >> 32) & index->mask;; at = (at + 1) & index->mask) {
        const struct pm_node *node = pm_load(index->entries[at]);
        if (node == NULL || is_child(node, parent, noun, flags))
            return at;
    }
}

bool pm_index_open(struct pm_slot *slot)
{
    slot->index = new_index(FIRST_INDEX_ENTRIES);
    return slot->index != NULL;
}

void pm_index_clear(struct pm_slot *slot)
{
    slot->index->n = 0;
    for (uint32_t i = 0; i <= slot->index->mask; i++)
        slot->index->entries[i] = NULL;
}

static void put(struct pmr_index *index, struct pm_node *node)
{
    index->entries[find_place(index, node->parent, node->noun, node->flags)] = node;
    index->n++;
}

void pm_index_put(struct pm_slot *slot, struct pm_node *node)
{
    put(slot->index, node);
}

/* Signals are blocked, so that no handler adds to the old index while it is copied. The old one
 * stays: interrupted code may read it. */
static bool grow_index(struct pm_slot *slot, const struct pmr_index *old)
{
    uint64_t all = UINT64_MAX, before = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    bool good = true;
    if (slot->index == old) { /* else a handler has done it */
        struct pmr_index *new = old->mask < 1u << 30 ? new_index((old->mask + 1) * 2) : NULL;
        good = new != NULL;
        for (uint32_t i = 0; good && i <= old->mask; i++)
            if (old->entries[i] != NULL)
                put(new, old->entries[i]);
        if (good)
            pm_store(slot->index, new);
    }
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof all);
    return good;
}

static void add_to_children(struct pm_node *parent, struct pm_node *node)
{
    struct pm_node *first = pm_load(parent->first_child);
    do
        node->next_sibling = first;
    while (!__atomic_compare_exchange_n(&parent->first_child, &first, node, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
}

/* By a cause other contexts are active as well, and these are not looked for. */
static uint32_t terms_of(const struct pm_node *parent, const struct pm_probe *probe)
{
    const struct pmr_noun *noun = pm_noun_at(probe->noun);
    if (probe->kind == PM_RUN_CAUSE_ENTER || probe->kind == PM_RUN_CAUSE_START || noun == NULL)
        return PM_NODE_TERMS;
    return (parent->flags & PM_NODE_TERMS) | (uint32_t)noun->terms << PM_NODE_TERMS_SHIFT;
}

static struct pm_node *make_child(struct pm_slot *slot, struct pm_node *parent,
                                  const struct pm_probe *probe, uint32_t flags)
{
    struct pm_node *node = pm_node_claim(slot);
    if (node == NULL)
        return NULL;
    node->noun = probe->noun;
    node->parent = parent;
    node->parent_place = parent->place;
    node->depth = parent->depth + 1;
    node->cached_child = &pm_sentinel;
    node->flags = flags | terms_of(parent, probe) |
                  (pm_mode_is_timed(probe->mode) ? (uint32_t)PM_RUN_NODE_TIMED : 0);
    node->loop_depth = probe->loop_depth;
    node->set = probe->kind == PM_RUN_AMBIENT_SET ? probe->counter : parent->set;
    pm_barrier();
    node->kind = probe->kind;
    pm_add_shared(pm_process.n_contexts, 1);
    return node;
}

/* Looks for the child; makes one when there is none and a new one is allowed. NULL: none, and none
 * can be made. A handler may do the same at any point, and may have put another index in the place
 * of this one: then it is done again in that. */
struct pm_node *pm_child_of(struct pm_tls *t, struct pm_node *parent, const struct pm_probe *probe,
                            uint32_t flags, bool may_make)
{
    struct pm_slot *slot = t->slot;
    struct pm_node **place = hash_place(t->hash, parent, probe->noun, flags);
    struct pm_node *made = NULL, *node = pm_load(*place);
    if (is_child(node, parent, probe->noun, flags))
        return node;
    for (;;) {
        struct pmr_index *index = pm_load(slot->index);
        uint32_t at = find_place(index, parent, probe->noun, flags);
        node = pm_load(index->entries[at]);
        if (node != NULL && !is_child(node, parent, probe->noun, flags))
            continue; /* the place was free, a handler has put another there since */
        if (node == NULL) {
            if (!may_make)
                return NULL;
            if (index->n >= index->mask / 2 && grow_index(slot, index))
                continue;
            if (index->n >= index->mask - index->mask / 8)
                return NULL;
            if (made == NULL && (made = make_child(slot, parent, probe, flags)) == NULL)
                return NULL;
            if (!__atomic_compare_exchange_n(&index->entries[at], &node, made, false,
                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                continue;
            pm_add_shared(index->n, 1);
            if (pm_load(slot->index) != index)
                continue;
            node = made;
        }
        if (node == made)
            add_to_children(parent, made);
        else if (made != NULL)
            made->kind = 0; /* a handler's node is there already */
        pm_store(*place, node);
        return node;
    }
}

static bool may_have_context(const struct pm_node *parent)
{
    return parent->depth < pm_process.max_depth &&
           pm_load(pm_process.n_contexts) < pm_process.max_contexts &&
           !pm_load(pm_process.file.full);
}

/* Folded contexts, and twins of contexts that there are (ambient.c), may exceed the limit by a
 * quarter and some. */
bool pm_may_exceed(void)
{
    uint32_t limit = pm_process.max_contexts;
    return !pm_load(pm_process.file.full) &&
           pm_load(pm_process.n_contexts) < limit + limit / 4 + 4096;
}

void pm_say_limit(void)
{
    static bool said;
    if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED) || pm_load(pm_process.file.full))
        return;
    if (pm_load(pm_process.n_contexts) >= pm_process.max_contexts)
        pm_file_message(PM_RUN_MSG_LIMIT,
                        "new contexts are no longer told apart: --max-contexts is reached", NULL);
    else
        pm_file_message(
            PM_RUN_MSG_LIMIT,
            "deeper calls are counted without contexts of their own: --max-depth is reached", NULL);
}

/* Counts a call that gets no context. */
static void count_folded(struct pm_tls *t, struct pm_node *at, const struct pm_probe *probe)
{
    pm_add_own(&t->slot->thread->n_events_folded, 1);
    pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
    struct pm_node *node = pm_child_of(t, at, probe, PM_RUN_NODE_FOLDED, pm_may_exceed());
    if (node != NULL)
        pm_add_own(&node->n_calls, 1);
    pm_say_limit();
}

/* From here to the exit of this call everything is counted below `at`. On a foreign stack the
 * extent is not kept. */
static void fold(struct pm_tls *t, struct pm_node **current, struct pm_node *at,
                 const struct pm_probe *probe, uint64_t sp)
{
    count_folded(t, at, probe);
    if (current != &t->current)
        return;
    do { /* again when a handler has folded a call of its own in between */
        t->fold_at = at;
        t->fold_sp = sp;
        t->fold_noun = probe->noun;
        t->fold_loop_depth = probe->loop_depth;
        pm_store(t->where, PM_WHERE_FOLDED);
        pm_barrier();
        pm_store(t->current, &pm_sentinel);
        pm_barrier();
    } while (pm_load(t->fold_sp) != sp || pm_load(t->where) != PM_WHERE_FOLDED);
}

static void unfold(struct pm_tls *t)
{
    t->where = PM_WHERE_OWN;
    pm_barrier();
    pm_store(t->current, t->fold_at);
}

/* The thread's own stack again. */
static void come_back(struct pm_tls *t, uint64_t tsc)
{
    struct pm_node *root = t->slot->foreign_root;
    if (tsc == 0)
        tsc = pm_tsc();
    uint64_t spent = tsc - root->start_tsc;
    pm_add_own(&root->inclusive_tsc, spent);
    pm_store(root->sp, 0);
    for (struct pm_node *node = t->own_current; node->parent != NULL; node = node->parent)
        if (node->start_tsc != 0) /* this is not their time */
            pm_add_own(&node->start_tsc, spent);
    t->fold_at = t->own_current; /* what pm_own_current finds until it is current */
    t->where = PM_WHERE_OWN;
    pm_barrier();
    pm_store(t->current, t->own_current);
}

/* A handler on a foreign stack, or one that folded and never came to the end of that, may have put
 * the sentinel there since the event began. */
static struct pm_node *innermost(struct pm_tls *t, struct pm_node **current, uint64_t tsc)
{
    struct pm_node *node;
    while (pm_unlikely((node = pm_load(*current)) == &pm_sentinel))
        if (t->where == PM_WHERE_FOREIGN)
            come_back(t, tsc);
        else
            unfold(t);
    return node;
}

struct pm_node *pm_settle(struct pm_tls *t, uint64_t tsc)
{
    return innermost(t, &t->current, tsc);
}

struct pm_node *pm_reopen(struct pm_tls *t, struct pm_node *parent, const struct pm_node *like)
{
    struct pm_probe probe = {.noun = like->noun,
                             .kind = (uint8_t)like->kind,
                             .loop_depth = (uint8_t)like->loop_depth,
                             .mode = like->flags & PM_RUN_NODE_TIMED ? PM_RUN_MODE_EXACT
                                                                     : PM_RUN_MODE_ACTIVE};
    struct pm_node *node = pm_child_of(t, parent, &probe, 0, true);
    if (node == NULL)
        return NULL;
    pm_store(node->gone, like->gone);
    pm_store(node->start_tsc, 0);
    pm_store(node->sp, pm_load(like->sp));
    return node;
}

static bool is_entry(unsigned kind)
{
    return kind == PM_SLED_ENTRY || kind == PM_SLED_LOOP_ENTER || kind == PM_RUN_SENTENCE_ENTER ||
           kind == PM_RUN_CAUSE_ENTER;
}

static bool is_loop(unsigned kind)
{
    return kind != PM_SLED_ENTRY && kind != PM_SLED_RETURN && kind != PM_SLED_TAIL;
}

/* Within a folded call. True: the event is dealt with. False: that call is over, and the event is
 * an ordinary one. */
static bool event_folded(struct pm_tls *t, const struct pm_probe *probe, uint64_t sp)
{
    bool folded_loop = t->fold_loop_depth != 0, same_frame = sp == t->fold_sp;
    if (pm_noun_is_disarmed(t->fold_noun)) {
        unfold(t);
        return false;
    }
    if (probe->noun == t->fold_noun && !is_entry(probe->kind) &&
        (same_frame || (folded_loop && sp < t->fold_sp))) {
        unfold(t);
        return true;
    }
    bool inside = sp < t->fold_sp;
    if (same_frame && is_loop(probe->kind))
        inside = probe->loop_depth > t->fold_loop_depth;
    if (!inside) {
        unfold(t);
        return false;
    }
    if (is_entry(probe->kind) && pm_is_inside(t->fold_at, probe))
        count_folded(t, t->fold_at, probe);
    return true;
}

static const struct pm_node *function_of(const struct pm_node *node)
{
    while (node->loop_depth != 0)
        node = node->parent;
    return node;
}

/* Is this frame gone, when nothing below `limit` can be alive? Half-open (its entry was
 * interrupted by the handler that runs now): as its parent. A loop lives as long as its
 * function's frame: its own sp may lie below that of later events, for compilers pop the
 * arguments of a call only later (-fdefer-pop). Without function sleds a loop's sp is all there
 * is. So it is for what the program said: the function that said it may have no sleds, or none
 * any more, and one that called it has. */
static bool is_dead(const struct pm_node *node, uint64_t limit)
{
    if (node->sp == 0)
        return node->parent->parent != NULL && node->parent->sp != 0 &&
               pm_sp_frame(node->parent->sp) < limit;
    if (pm_sp_frame(node->sp) >= limit)
        return false;
    if (pm_node_is_said(node))
        return true;
    const struct pm_node *function = function_of(node);
    return function == node || function->parent == NULL || function->kind == PM_RUN_CAUSE_START ||
           pm_sp_frame(function->sp) < limit;
}

static void enter(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                  uint64_t sp, uint64_t tsc)
{
    struct pm_node *parent = innermost(t, current, tsc);
    if (!pm_is_inside(parent, probe))
        return;
    struct pm_node *node = pm_child_of(t, parent, probe, 0, may_have_context(parent));
    if (node == NULL) {
        fold(t, current, parent, probe, sp);
        return;
    }
    pm_store(parent->cached_child, node);
    push(current, node, probe->mode == PM_RUN_MODE_TRACE, sp, tsc);
}

/* Dead, or not there any more for all we can know. */
static bool is_gone(const struct pm_node *node, uint64_t limit)
{
    return is_dead(node, limit) || pm_node_is_gone(node) || pm_noun_is_disarmed(node->noun);
}

/* The word at `at` of a stack that may be another than the one that runs, and gone: an operation
 * of futex(2) that compares, and wakes nobody. */
static bool is_surely_not(const uint32_t *at, uint32_t value)
{
    return pm_sys(SYS_futex, at, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, at, value) == -EAGAIN;
}

/* No mapping lies so near below the main thread's stack (Linux keeps twice as much free), so
 * what is there is its stack, up to its top. */
static bool is_on_main_stack(const struct pm_tls *t, uint64_t sp)
{
    enum { SURELY_STACK_BYTES = 64 << 20 };
    return t->base == t->slot->root && t->slot->root->sp - sp < SURELY_STACK_BYTES &&
           pm_thread_pointer() == pm_process.main_thread_pointer;
}

bool pm_has_returned(const struct pm_tls *t, const struct pm_node *node, uint64_t sp)
{
    enum { PAGE_BYTES = 4096 };
    uint64_t frame = pm_sp_frame(pm_load(node->sp));
    const uint32_t *at = (const uint32_t *)frame; /* the lower half of the return address */
    if (!pm_sp_jumped_away(pm_load(node->sp)) || node->start_tsc != 0 || frame < sp)
        return false;
    if (frame / PAGE_BYTES == sp / PAGE_BYTES || is_on_main_stack(t, sp))
        return *at != node->paused;
    return is_surely_not(at, node->paused);
}

static void pop_all_dead(struct pm_tls *t, struct pm_node **current, uint64_t limit, uint64_t tsc)
{
    for (;;) {
        struct pm_node *node = innermost(t, current, tsc);
        if (node->parent == NULL || (!is_gone(node, limit) && !pm_has_returned(t, node, limit)))
            return;
        pop_dead(current, node, tsc);
    }
}

static bool is_in_chain(const struct pm_node *node, uint32_t noun, uint64_t sp)
{
    for (; node->parent != NULL && pm_sp_frame(node->sp) == sp; node = node->parent)
        if (node->noun == noun)
            return true;
    return false;
}

/* Is the function that is entered what the youngest frame jumped to? Else that has returned, and
 * the caller calls at the same S: from another place, or what has been in the chain already (a
 * loop). */
static bool is_jumped_to(struct pm_tls *t, const struct pm_node *node, uint32_t noun, uint64_t sp)
{
    const struct pm_jump *jump = pm_jump_at(t, sp);
    if (node->sp == sp + 1 && pm_sp_jumps(node->sp))
        return true;
    if (!pm_sp_jumped(node->sp) || pm_sp_frame(node->sp) != sp || jump->sp != sp ||
        jump->return_address != *(const uint64_t *)sp)
        return false;
    return jump->to == PM_TAIL_TO_SLED
               ? jump->noun == noun
               : jump->to == PM_TAIL_ANYWHERE && !is_in_chain(node, noun, sp);
}

/* Functions that jump to each other for ever are entered anew where they were: the chain has
 * each once. */
static void end_until(struct pm_tls *t, struct pm_node **current, uint32_t noun, uint64_t sp,
                      uint64_t tsc)
{
    for (bool found = !is_in_chain(innermost(t, current, tsc), noun, sp); !found;) {
        struct pm_node *node = innermost(t, current, tsc);
        found = node->noun == noun;
        if (!pop(current, node, tsc))
            return;
    }
}

static void enter_function(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                           uint64_t sp, uint64_t tsc)
{
    if (pm_unlikely(is_jumped_to(t, innermost(t, current, tsc), probe->noun, sp))) {
        end_until(t, current, probe->noun, sp, tsc);
        bool more = pm_sp_frame(innermost(t, current, tsc)->sp) == sp;
        enter(t, current, probe, more ? sp - 2 : sp, tsc);
        return;
    }
    pop_all_dead(t, current, sp + 1, tsc);
    enter(t, current, probe, sp, tsc);
}

static void enter_loop(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                       uint64_t sp, uint64_t tsc)
{
    for (;;) {
        struct pm_node *node = innermost(t, current, tsc);
        if (node->parent == NULL)
            break;
        bool sibling = node->sp != 0 && node->sp <= sp && node->loop_depth >= probe->loop_depth;
        if (sibling && node->loop_depth == PM_SLED_DEPTH_MASK && node->noun != probe->noun)
            sibling = false; /* that deep, depths are not told apart */
        if (!sibling && !is_gone(node, sp) && !pm_has_returned(t, node, sp))
            break;
        pop_dead(current, node, tsc);
    }
    enter(t, current, probe, sp, tsc);
}

/* Without folded calls every exit has its frame. */
static void count_unmatched(const struct pm_tls *t, const struct pm_probe *probe)
{
    if (t->slot->thread->n_events_folded == 0 && probe->loop_depth <= 1 && probe->inside == 0 &&
        !pm_noun_is_leaving(probe->noun))
        pm_add_shared(pm_process.file.header->n_unmatched, 1);
}

/* Where nothing tells when it returns, a timed context ends here, and others stay for samples,
 * which tell by the return address. */
static bool stays_open(const struct pm_node *node, const struct pm_probe *probe, uint64_t sp)
{
    if (probe->tail == PM_TAIL_ENDS || sp % 8 != 0)
        return false;
    bool has_exit = probe->tail == PM_TAIL_TO_SLED && !pm_noun_is_disarmed(probe->counter);
    return has_exit || node->start_tsc == 0 ||
           (probe->tail == PM_TAIL_ANYWHERE && probe->mode != PM_RUN_MODE_TRACE);
}

static void jump_away(struct pm_tls *t, struct pm_node *node, const struct pm_probe *probe,
                      uint64_t sp, uint64_t tsc)
{
    struct pm_jump *jump = pm_jump_at(t, sp);
    *jump = (struct pm_jump){.sp = sp,
                             .return_address = *(const uint64_t *)sp,
                             .tsc = probe->mode != PM_RUN_MODE_TRACE ? tsc : 0,
                             .to = probe->tail,
                             .noun = probe->counter};
    pm_store(node->paused, node->start_tsc == 0 ? (uint32_t)jump->return_address : 0);
    pm_barrier();
    bool was_called = node->sp == sp;
    if (node->start_tsc == 0 && probe->tail != PM_TAIL_TO_SLED && sp % 16 == 8)
        pm_store(node->sp, was_called ? sp / 2 : sp / 2 - 1);
    else
        pm_store(node->sp, was_called ? sp - 1 : sp - 3);
}

/* What it jumped to was not entered, or has lost its context: whatever comes next is to be
 * looked at. */
static void settle_jump(struct pm_tls *t, struct pm_node *node)
{
    uint64_t sp = pm_sp_frame(node->sp);
    *pm_jump_at(t, sp) =
        (struct pm_jump){.sp = sp, .return_address = *(const uint64_t *)sp, .to = PM_TAIL_ANYWHERE};
    if (node->start_tsc == 0)
        pm_store(node->paused, *(const uint32_t *)sp);
    pm_barrier();
    pm_store(node->sp, sp - 1);
}

static void leave_function(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                           uint64_t sp, uint64_t tsc)
{
    for (;;) {
        struct pm_node *node = innermost(t, current, tsc);
        if (node->parent == NULL || (pm_sp_frame(node->sp) != sp && !is_gone(node, sp + 1)))
            break;
        if (pm_sp_frame(node->sp) == sp && node->noun == probe->noun && !pm_sp_jumped(node->sp)) {
            if (probe->kind == PM_SLED_TAIL && stays_open(node, probe, sp)) {
                jump_away(t, node, probe, sp, tsc);
                return;
            }
            pop_exit(current, node, probe->kind, tsc);
            while (pm_sp_jumped((node = innermost(t, current, tsc))->sp) &&
                   pm_sp_frame(node->sp) == sp && node->parent != NULL)
                pop_exit(current, node, probe->kind, tsc);
            return;
        }
        pop_dead(current, node, tsc);
    }
    count_unmatched(t, probe);
}

/* The loop's stack pointer need not be that of its entry (alloca in the loop, arguments not yet
 * popped): what matters is the frame. A match whose sp lies below S is taken only when no
 * function's frame is between it and the youngest living one. */
static const struct pm_node *find_loop(const struct pm_node *node, uint32_t noun, uint64_t sp)
{
    const struct pm_node *weak = NULL;
    for (; node->parent != NULL; node = node->parent) {
        if (node->loop_depth == 0) {
            if (!is_gone(node, sp))
                break;
            weak = NULL;
        } else if (node->noun == noun) {
            if (node->sp >= sp)
                return node;
            weak = node;
        }
    }
    return weak;
}

static void leave_loop(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                       uint64_t sp, uint64_t tsc)
{
    const struct pm_node *loop = find_loop(innermost(t, current, tsc), probe->noun, sp);
    if (loop == NULL) {
        pop_all_dead(t, current, sp, tsc);
        count_unmatched(t, probe);
        return;
    }
    for (;;) {
        struct pm_node *node = innermost(t, current, tsc);
        if (node->parent == NULL)
            return;
        if (node == loop || (node->loop_depth > loop->loop_depth && node->sp == loop->sp))
            pop(current, node, tsc); /* left together */
        else
            pop_dead(current, node, tsc);
        if (node == loop)
            return;
    }
}

/* An exception was caught here, or a longjmp led here. */
static void land(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                 uint64_t sp, uint64_t tsc)
{
    pop_all_dead(t, current, sp, tsc);
    for (;;) {
        struct pm_node *node = innermost(t, current, tsc);
        if (node->kind != PM_SLED_LOOP_ENTER || node->loop_depth <= probe->loop_depth ||
            function_of(node)->noun != probe->noun)
            return;
        pop_dead(current, node, tsc);
    }
}

static void count(struct pm_tls *t, const struct pm_probe *probe)
{
    uint64_t *counters = t->bank[probe->bank];
    if (counters == NULL && (counters = pm_bank_open(t, probe->bank)) == NULL)
        return;
    pm_add_own(&counters[probe->counter], 1);
}

/* On its way when the noun's mode was changed to one without contexts. */
static void count_late(struct pm_tls *t, const struct pm_probe *probe)
{
    const struct pmr_noun *noun = pm_noun_at(probe->noun);
    if (pm_load(noun->mode) == PM_RUN_MODE_COUNT && probe->bank < PM_MAX_BANKS)
        count(t, probe);
}

static void event(struct pm_tls *t, struct pm_node **current, const struct pm_probe *probe,
                  uint64_t sp, uint64_t tsc)
{
    if (pm_unlikely(pm_noun_is_disarmed(probe->noun)) && is_entry(probe->kind)) {
        count_late(t, probe);
        return;
    }
    switch (probe->kind) {
    case PM_SLED_ENTRY:
        enter_function(t, current, probe, sp, tsc);
        return;
    case PM_SLED_RETURN:
    case PM_SLED_TAIL:
        leave_function(t, current, probe, sp, tsc);
        break;
    case PM_SLED_LOOP_ENTER:
    case PM_RUN_SENTENCE_ENTER:
    case PM_RUN_CAUSE_ENTER:
        enter_loop(t, current, probe, sp, tsc);
        return;
    case PM_SLED_LAND:
        land(t, current, probe, sp, tsc);
        break;
    default:
        leave_loop(t, current, probe, sp, tsc);
    }
    struct pm_node *node = pm_load(*current);
    if (pm_unlikely(pm_sp_jumps(node->sp)) && node->parent != NULL)
        settle_jump(t, node);
}

/* A stack above the thread's own (signal stack, coroutine): it gets a tree of its own, lest its
 * first event ends all frames. Lower ones nest like calls. While there, every event comes here, to
 * notice the way back. */
static void event_foreign(struct pm_tls *t, const struct pm_probe *probe, uint64_t sp, uint64_t tsc)
{
    uint64_t now = tsc != 0 ? tsc : pm_tsc();
    if (t->current == &pm_sentinel && t->where == PM_WHERE_FOLDED)
        unfold(t);
    if (t->current !=
        &pm_sentinel) { /* also when a trampoline that was interrupted put its own context back */
        pm_add_shared(pm_process.file.header->n_foreign_stack, 1);
        if (t->slot->foreign_root == NULL) {
            struct pm_node *root =
                pm_root_make(t->slot, UINT64_MAX, PM_RUN_NODE_FOREIGN_STACK, now);
            if (root == NULL) {
                pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
                return;
            }
            pm_store(t->slot->foreign_root, root);
        }
        if (t->foreign_current == NULL)
            t->foreign_current = t->slot->foreign_root;
        if (pm_unlikely(t->foreign_current->set != t->set))
            pm_ambient_settle(t, tsc);
        t->slot->foreign_root->start_tsc = now;
        t->slot->foreign_root->sp = UINT64_MAX;
        t->own_current = t->current;
        t->where = PM_WHERE_FOREIGN;
        pm_barrier();
        pm_store(t->current, &pm_sentinel);
    }
    event(t, &t->foreign_current, probe, sp, tsc);
}

/* A context's time must hold the switches that are charged to it, and no others. What is left
 * ends when the ring was read. What is entered begins after that, for reading it takes time,
 * too: when nothing has come since, for the system calls behind the reading are where threads
 * are preempted; else the next event would charge that to what is entered now. */
static uint64_t after_drain(struct pm_tls *t, uint64_t drained_tsc)
{
    enum { MOST_DRAINS = 4 };
    for (int i = 0; i < MOST_DRAINS; i++) {
        uint64_t tsc = pm_tsc();
        if (*t->ring_head == t->ring_seen)
            return tsc;
        drained_tsc = pm_sample_drain(t);
    }
    return drained_tsc;
}

void pm_event_exact(struct pm_tls *t, const struct pm_probe *probe, uint64_t sp, uint64_t tsc)
{
    bool timed = pm_mode_is_timed(probe->mode);
    if (pm_unlikely(t->state != PM_THREAD_READY)) {
        if (!pm_thread_begin(t, timed ? tsc : pm_tsc()))
            return;
        tsc = timed ? pm_tsc() : 0;
    }
    if (*t->ring_head != t->ring_seen) { /* what it holds was before this event */
        bool moved = pm_ambient_look(t);
        uint64_t drained_tsc = pm_sample_drain(t);
        if (timed)
            tsc = moved || is_entry(probe->kind) ? after_drain(t, drained_tsc) : drained_tsc;
    }
    if (pm_unlikely(pm_coroutines_used) && pm_coroutine_check(t, sp) && timed)
        tsc = pm_tsc(); /* what was open there has gone on since */
    if (pm_unlikely(pm_own_current(t)->set !=
                    t->set)) /* a trampoline was interrupted, and put it back */
        pm_ambient_settle(t, tsc);
    if (pm_unlikely(sp > t->base->sp)) {
        event_foreign(t, probe, sp, tsc);
        return;
    }
    if (pm_unlikely(t->current == &pm_sentinel)) {
        if (t->where == PM_WHERE_FOREIGN) {
            come_back(t, tsc);
        } else if (event_folded(t, probe, sp)) {
            return;
        }
    }
    event(t, &t->current, probe, sp, tsc);
}

void pm_event_start(struct pm_tls *t, uint32_t noun, uint64_t tsc)
{
    struct pm_node *parent = t->current; /* the root, or a set of sentences below it */
    struct pm_probe probe = {
        .noun = noun, .kind = PM_RUN_CAUSE_START, .mode = (uint8_t)pm_process.mode};
    struct pm_node *node = pm_child_of(t, parent, &probe, 0, may_have_context(parent));
    if (node != NULL)
        push(&t->current, node, probe.mode == PM_RUN_MODE_TRACE, t->slot->root->sp,
             pm_mode_is_timed(probe.mode) ? tsc : 0);
}

static void event_count(struct pm_tls *t, const struct pm_probe *probe)
{
    if (pm_unlikely(t->state != PM_THREAD_READY) && !pm_thread_begin(t, pm_tsc()))
        return;
    count(t, probe);
}

void pm_slow(const struct pm_probe *probe, uint64_t sp, uint64_t tsc)
{
    struct pm_tls *t = &pm_tls;
    if (pm_unlikely(!*pm_process.alive_mark)) { /* of a clone() that no fork handler saw */
        pm_fork_child();
        tsc = pm_tsc();
    }
    if (probe->mode == PM_RUN_MODE_COUNT)
        event_count(t, probe);
    else
        pm_event_exact(t, probe, sp, pm_mode_is_timed(probe->mode) ? tsc : 0);
}
