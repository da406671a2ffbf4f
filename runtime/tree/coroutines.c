/* Coroutines: stacks that a program makes by makecontext and goes between by swapcontext and
 * setcontext, or by returning (wrap_contexts.c tells). Each has a tree of its own below a root
 * with PM_RUN_NODE_FOREIGN_STACK, whether it lies above or below the thread's stack, and
 * trampolines work in it as they do elsewhere: what changes at a switch is `current`.
 *
 *     makecontext   pm_coroutine_make(low, size)     the stack is known from now on
 *     swapcontext   pm_coroutine_resume(sp)          the stack that has sp goes on, or the thread's
 *                                                    own: what was open there is open again
 *
 * Frames of a stack that waits take no time: what they have spent is added up when it is left
 * (start_tsc 0, `paused` tells which had one), so that the file is right at any time, and they
 * begin anew when it goes on. A coroutine that goes on in another thread gets its frames again
 * there, without calls: contexts belong to a thread.
 *
 * Switches by other means (a library's own assembler text) are not seen. Slow events look
 * whether they are on the stack that they should be on, which puts right what was switched by
 * hand between stacks of makecontext, up to the events before.
 *
 * Reading and changing `current`, `coroutine` and `base` is safe against handlers, also those
 * that switch themselves (preemptive schedulers): what they leave they come back to, with all of
 * these as they were.
 */
#include "runtime/tree/coroutines.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/signals.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/ambient.h"
#include "runtime/tree/children.h"
#include "runtime/tree/fold.h"
#include "runtime/tree/noun.h"
#include "runtime/tree/trace.h"

#include <signal.h>

enum {
    MAX_COROUTINES = 4096,
    COPIED_FRAMES = 128,
    FAR_FROM_HOME_BYTES = 1 << 20,
    SEARCHED_BYTES = 16384
};
struct pm_coroutine {
    uint64_t low, high;   /* its stack; high 0: none */
    struct pm_slot *slot; /* of the thread that its contexts belong to; NULL: it has none yet */
    struct pm_node *root, *current; /* current: while it waits */
    bool fresh, ended;
};

bool pm_coroutines_used;
static struct pm_coroutine *coroutines; /* MAX_COROUTINES, n_coroutines of them used so far */
static uint32_t n_coroutines;
static uint64_t lowest = UINT64_MAX, highest;
static uint32_t lock;

/* Signals are blocked, lest a handler waits for what it has interrupted. */
static void hold(uint64_t *ret_mask)
{
    uint64_t all = UINT64_MAX;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, ret_mask, sizeof all);
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
        pm_sys(SYS_sched_yield);
}

static void let_go(const uint64_t *mask)
{
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, sizeof *mask);
}

struct pm_coroutine *pm_coroutine_at(uint64_t sp)
{
    if (sp < pm_load(lowest) || sp >= pm_load(highest))
        return NULL;
    uint32_t n = pm_load(n_coroutines);
    for (uint32_t i = 0; i < n; i++)
        if (sp >= coroutines[i].low && sp < coroutines[i].high && !coroutines[i].ended)
            return &coroutines[i];
    return NULL;
}

bool pm_coroutine_is_fresh(struct pm_coroutine *c)
{
    bool fresh = c->fresh;
    c->fresh = false;
    return fresh;
}

/* --- contexts --- */

/* Any thread may give back a root, only its own takes one, with signals blocked. */
static void give_root(struct pm_slot *slot, struct pm_node *root)
{
    struct pm_node *first = pm_load(slot->idle_roots);
    do
        root->next_sibling = first;
    while (!__atomic_compare_exchange_n(&slot->idle_roots, &first, root, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
}

static struct pm_node *take_root(struct pm_slot *slot, uint64_t sp)
{
    struct pm_node *root = __atomic_load_n(&slot->idle_roots, __ATOMIC_ACQUIRE);
    while (root != NULL &&
           !__atomic_compare_exchange_n(&slot->idle_roots, &root, root->next_sibling, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
        continue;
    if (root == NULL)
        return pm_root_make(slot, sp, PM_RUN_NODE_FOREIGN_STACK | PM_RUN_NODE_COROUTINE, pm_tsc());
    root->next_sibling = NULL;
    root->n_calls++;
    pm_store(root->sp, sp);
    return root;
}

/* Frames that nobody comes back to. Their times were added when they were left. */
static void close_frames(struct pm_coroutine *c)
{
    if (c->slot == NULL)
        return;
    for (struct pm_node *node = c->current; node->parent != NULL; node = node->parent) {
        pm_store(node->sp, 0);
        pm_store(node->gone, 0);
    }
    c->current = c->root;
}

/* The frames that are open in the tree of another thread, in this one's. */
static void copy_frames(struct pm_tls *t, struct pm_coroutine *c, struct pm_node *root)
{
    struct pm_node *frames[COPIED_FRAMES], *at = root;
    unsigned n = 0;
    struct pm_node *node = c->current;
    for (; node->parent != NULL && n < COPIED_FRAMES; node = node->parent)
        if (node->kind != PM_RUN_AMBIENT_SET) /* this thread has its own */
            frames[n++] = node;
    bool is_whole = node->parent == NULL;
    while (is_whole && n-- > 0 && at != NULL) {
        struct pm_node *new = pm_reopen(t, at, frames[n]);
        if (new != NULL)
            new->paused = frames[n]->paused;
        at = new;
    }
    if (!is_whole || at == NULL)
        pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
    close_frames(c);
    c->current = is_whole && at != NULL ? at : root;
}

/* Contexts in this thread's tree. False: no room for them. */
static bool adopt(struct pm_tls *t, struct pm_coroutine *c)
{
    uint64_t all = UINT64_MAX, mask = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
    struct pm_node *root = take_root(t->slot, c->high), *old = c->root;
    if (root == NULL) {
        pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
    } else {
        if (c->slot != NULL) {
            copy_frames(t, c, root);
            give_root(c->slot, old);
        } else {
            c->current = root;
        }
        c->root = root;
        c->slot = t->slot;
    }
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof all);
    return root != NULL;
}

/* --- schedulers that take the processor away --- */

/* A handler that switches may have interrupted a trampoline, or the runtime, which has read the
 * clock, and is ending the innermost context of then: that time is before what the context
 * waits, so the context's start must stay as it is. Elsewhere it must not. */
#if defined(__x86_64__)
#include <ucontext.h>

struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

/* Where handlers of the program return to; libc has one for all. 0: it has none. */
static uint64_t signal_return(void)
{
    static uint64_t address;
    struct kernel_action action;
    for (int number = 1; address == 0 && number < 65; number++)
        if (number != PM_BELL_SIGNAL && number != SIGTRAP &&
            pm_sys(SYS_rt_sigaction, number, NULL, &action, sizeof action.mask) == 0 &&
            (uintptr_t)action.handler > 1)
            pm_store(address, (uintptr_t)action.restorer);
    return address;
}

/* Was the code between these addresses of the stack, which a signal's frame may lie between,
 * ours? */
static bool is_within_event(uint64_t low, uint64_t high, uint64_t found)
{
    for (const uint64_t *at = (const uint64_t *)(low & ~7ull);
         (uint64_t)(uintptr_t)at < high - sizeof(ucontext_t); at++)
        if (*at == found)
            return pm_code_is_ours(
                (uint64_t)((const ucontext_t *)(at + 1))->uc_mcontext.gregs[REG_RIP]);
    return false;
}

/* NULL: there is none. A signal's frame is larger than most functions' are, which are not
 * searched. */
static const struct pm_node *ending(const struct pm_coroutine *on, const struct pm_node *innermost,
                                    uint64_t sp)
{
    uint64_t found = 0, end = on == NULL ? sp + SEARCHED_BYTES : on->high;
    if (on != NULL && (sp < on->low || sp >= on->high))
        return NULL;
    for (const struct pm_node *node = innermost; node->parent != NULL && sp < end;
         node = node->parent) {
        uint64_t frame = pm_load(node->sp);
        if (frame < sp)
            continue;
        if (frame - sp > sizeof(ucontext_t) && frame < end) {
            found = found != 0 ? found : signal_return();
            if (found != 0 && is_within_event(sp, frame, found))
                return node;
        }
        sp = frame;
    }
    return NULL;
}
#else
static const struct pm_node *ending(const struct pm_coroutine *on, const struct pm_node *innermost,
                                    uint64_t sp)
{
    (void)on, (void)innermost, (void)sp;
    return NULL;
}
#endif

/* --- from one stack to another --- */

static void wait_from(struct pm_tls *t, struct pm_node *node, uint64_t tsc)
{
    const struct pm_node *stays =
        ending(t->coroutine, node, (uint64_t)(uintptr_t)__builtin_frame_address(0));
    for (; node->parent != NULL; node = node->parent) {
        uint64_t start_tsc = node != stays ? node->start_tsc : 0;
        if (start_tsc != 0 || !pm_sp_jumped_away(pm_load(node->sp)))
            node->paused = start_tsc != 0;
        if (start_tsc == 0)
            continue;
        pm_store(node->start_tsc, 0);
        if (pm_load(node->sp) != 0)
            pm_add_own(&node->inclusive_tsc, tsc - start_tsc);
    }
}

/* Behind the change of current: a handler that switches in between comes back to where it was,
 * and says so before. */
static void trace_switch(struct pm_tls *t, const struct pm_node *to, uint64_t flags, uint64_t tsc)
{
    uint64_t *places = pm_trace_reserve_some(t, 2); /* nothing comes between them */
    pm_trace_fill(places, PM_RUN_TRACE_LEAVE | PM_RUN_TRACE_MARK_SWITCH, tsc);
    pm_trace_fill(places + 1, PM_RUN_TRACE_LEAVE | PM_RUN_TRACE_MARK_TREE, to->place | flags);
}

static void go_on(struct pm_node *innermost, uint64_t tsc)
{
    for (struct pm_node *node = innermost; node->parent != NULL; node = node->parent) {
        if (node->paused == 1) {
            node->paused = 0;
            pm_store(node->start_tsc, tsc);
        }
        if (pm_load(node->sp) != 0 && pm_noun_is_disarmed(node->noun))
            pm_node_close_from_outside(node);
    }
}

/* to NULL: the thread's own stack. */
static void go_to(struct pm_tls *t, struct pm_coroutine *to)
{
    if (*t->ring_head != t->ring_seen)
        pm_sample_drain(t);
    uint64_t tsc = pm_tsc();
    struct pm_node *from = pm_settle(t, tsc);
    bool adopted = to != NULL && to->slot != t->slot, traced = t->trace_end != NULL;
    if (adopted && !adopt(t, to))
        return;
    if (traced)
        pm_trace_room(t, tsc);
    wait_from(t, from, tsc);
    if (t->coroutine != NULL)
        t->coroutine->current = from;
    else
        t->home = from;
    struct pm_node *current = to != NULL ? to->current : t->home;
    pm_store(t->coroutine, to);
    pm_store(t->base, to != NULL ? to->root : t->slot->root);
    pm_barrier();
    pm_store(t->current, current);
    if (traced)
        trace_switch(t, current, adopted ? PM_RUN_TRACE_COPIED : 0, tsc);
    go_on(current, tsc);
    if (current->set != t->set) /* something was begun or ended while it waited */
        pm_ambient_settle(t, tsc);
    if (to != NULL)
        pm_add_shared(pm_process.file.header->n_foreign_stack, 1);
}

static bool is_measured(const struct pm_tls *t)
{
    return t->state == PM_THREAD_READY && *pm_process.alive_mark;
}

struct pm_coroutine *pm_coroutine_resume(uint64_t sp)
{
    struct pm_tls *t = &pm_tls;
    struct pm_coroutine *to = pm_coroutine_at(sp);
    if (is_measured(t) && to != t->coroutine)
        go_to(t, to);
    return to;
}

void pm_coroutine_end(uint64_t sp)
{
    struct pm_coroutine *c = pm_coroutine_at(sp);
    if (c == NULL)
        return;
    if (is_measured(&pm_tls) && pm_tls.coroutine == c)
        go_to(&pm_tls, NULL);
    c->ended = true;
    close_frames(c);
}

/* Near the frames that wait on the thread's own stack? */
static bool is_home(const struct pm_tls *t, uint64_t sp)
{
    uint64_t frame = pm_load(t->home->sp), top = pm_load(t->slot->root->sp);
    if (frame == 0 || frame > top)
        frame = top;
    return sp <= top && frame - FAR_FROM_HOME_BYTES < sp;
}

bool pm_coroutine_check(struct pm_tls *t, uint64_t sp)
{
    struct pm_coroutine *on = t->coroutine;
    if (on != NULL && sp >= on->low && sp < on->high)
        return false;
    struct pm_coroutine *at = pm_coroutine_at(sp);
    if (at == on || (at == NULL && !is_home(t, sp)))
        return false;
    go_to(t, at);
    return true;
}

/* --- which there are --- */

static struct pm_coroutine *free_place(void)
{
    for (uint32_t i = 0; i < n_coroutines; i++)
        if (coroutines[i].high == 0 || coroutines[i].ended)
            return &coroutines[i];
    return n_coroutines < MAX_COROUTINES ? &coroutines[n_coroutines]
                                         : NULL; /* counted when it is filled in */
}

static void forget(struct pm_coroutine *c)
{
    close_frames(c);
    pm_store(c->high, 0);
}

/* Their memory is used for something else now. Returns one that can be used for that, or NULL. */
static struct pm_coroutine *forget_between(uint64_t low, uint64_t high)
{
    struct pm_coroutine *last = NULL;
    for (uint32_t i = 0; i < n_coroutines; i++) {
        struct pm_coroutine *c = &coroutines[i];
        if (c->high == 0 || c->low >= high || c->high <= low || c == pm_tls.coroutine)
            continue;
        forget(c);
        last = c;
    }
    return last;
}

static void say_many(void)
{
    static bool said;
    if (pm_process.file.header == NULL || __atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return;
    pm_file_message(PM_RUN_MSG_LIMIT,
                    "more than 4096 coroutines at a time: frames of those beyond are not told "
                    "apart from those of what resumed them",
                    NULL);
}

void pm_coroutine_make(uint64_t low, uint64_t size_bytes)
{
    uint64_t mask;
    if (size_bytes == 0 || low > UINT64_MAX - size_bytes)
        return;
    hold(&mask);
    if (coroutines == NULL)
        coroutines = pm_private_memory(MAX_COROUTINES * sizeof *coroutines);
    if (coroutines != NULL) {
        struct pm_coroutine *c = forget_between(low, low + size_bytes);
        if (c == NULL && (c = free_place()) == NULL)
            say_many();
        if (c != NULL) {
            forget(c);
            c->low = low;
            c->fresh = true;
            c->ended = false;
            if (low < lowest)
                pm_store(lowest, low);
            if (low + size_bytes > highest)
                pm_store(highest, low + size_bytes);
            pm_barrier();
            pm_store(c->high, low + size_bytes);
            if (c->slot != NULL)
                pm_store(c->root->sp, c->high);
            if (c == &coroutines[n_coroutines])
                pm_store(n_coroutines, n_coroutines + 1);
            pm_store(pm_coroutines_used, true);
        }
    }
    let_go(&mask);
}

/* --- threads and children --- */

/* Signals are blocked. */
void pm_coroutine_thread_begin(struct pm_tls *t, uint64_t top)
{
    t->coroutine = NULL;
    t->base = t->slot->root;
    if (!pm_coroutines_used || top == UINT64_MAX)
        return;
    uint64_t mask;
    hold(&mask);
    forget_between(top - 1, top);
    let_go(&mask);
}

void pm_coroutine_thread_end(struct pm_tls *t)
{
    if (t->coroutine != NULL)
        go_to(t, NULL);
}

struct pm_node *pm_home_current(const struct pm_tls *t)
{
    return t->coroutine != NULL ? t->home : pm_own_current(t);
}

void pm_coroutine_fork_child(void)
{
    lock = 0;
    for (uint32_t i = 0; i < n_coroutines; i++) {
        coroutines[i].slot = NULL;
        coroutines[i].root = coroutines[i].current = NULL;
    }
}

void pm_coroutine_renew(struct pm_tls *t, struct pm_coroutine *on)
{
    t->coroutine = NULL;
    t->base = t->slot->root;
    t->slot->idle_roots = NULL;
    if (on != NULL)
        go_to(t, on);
}
