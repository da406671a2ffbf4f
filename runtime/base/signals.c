/* Signals that PerfMap shares with the program: our handler stays, the program is shown what it
 * has set itself, and gets what is not ours as it has asked for. Whoever waits for signals, or
 * reads them, does not see ours (wrap_signals.c).
 *
 * What cannot be hidden: sigpending tells of ours where the thread blocks it, and programs that
 * ask the kernel without libc see our handler.
 */
#include "runtime/base/signals.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/base/atomic.h"
#include "runtime/base/process.h"

#include <string.h>
#include <ucontext.h>

const char pm_signal_mark;

static struct shared {
    int number, flags;
    pm_signal_fn *handler;  /* NULL: the signal is the program's alone */
    struct sigaction shown; /* what the program has */
} shared[] = {{.number = PM_BELL_SIGNAL, .flags = SA_RESTART | SA_ONSTACK},
              {.number = SIGTRAP, .flags = SA_RESTART | SA_NODEFER}};
static bool has_left;
static uint32_t lock; /* of what is shown; all signals are blocked while it is held */

static struct shared *shared_of(int number)
{
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (shared[i].number == number)
            return &shared[i];
    return NULL;
}

/* --- sigaction(2) without libc's, which may use vector registers, and is another's in programs
 * with sanitizers --- */

struct kernel_action {
    void *handler;
    uint64_t flags;
    void *restorer;
    uint64_t mask;
};

#if defined(__x86_64__)
enum { HAS_RESTORER = 0x04000000 };
/* By these bytes unwinders know the frame of a signal. */
__asm__(".text\n.p2align 4\n.type pm_signal_return, @function\nnop\npm_signal_return:\n"
        ".byte 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05\n"
        ".size pm_signal_return, .-pm_signal_return\n");
extern void pm_signal_return(void) __attribute__((visibility("hidden")));
#else
enum { HAS_RESTORER = 0 };
static void *const pm_signal_return = NULL;
#endif

static bool set_action(int number, void *handler, int flags, uint64_t mask)
{
    struct kernel_action action = {.handler = handler,
                                   .flags = (uint32_t)flags | HAS_RESTORER,
                                   .restorer = (void *)(uintptr_t)pm_signal_return,
                                   .mask = mask};
    return pm_sys(SYS_rt_sigaction, number, &action, NULL, sizeof action.mask) == 0;
}

static bool get_action(int number, struct sigaction *ret_action)
{
    struct kernel_action action = {0};
    if (pm_sys(SYS_rt_sigaction, number, NULL, &action, sizeof action.mask) != 0)
        return false;
    memset(ret_action, 0, sizeof *ret_action);
    ret_action->sa_handler = (void (*)(int))(uintptr_t)action.handler;
    ret_action->sa_flags = (int)(action.flags & ~(uint64_t)HAS_RESTORER);
    memcpy(&ret_action->sa_mask, &action.mask, sizeof action.mask);
    return true;
}

/* --- who gets it --- */

/* perf events tell of a descriptor (F_SETSIG), timers have our mark, and who has a request rings
 * from outside. */
bool pm_signal_is_ours(const siginfo_t *info)
{
    if (info->si_signo != PM_BELL_SIGNAL)
        return false;
    if (info->si_code == SI_TIMER)
        return info->si_value.sival_ptr == &pm_signal_mark;
    if (info->si_code <= 0)
        return (uint32_t)info->si_pid != pm_process.pid && pm_control_is_asked();
    return info->si_code >= POLL_IN && info->si_code <= POLL_HUP;
}

static bool is_function(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Of a trap the program ends, also if it ignores those that are sent. The bell's signal is
 * ignored by default. */
static void default_action(const struct shared *s, const struct sigaction *action,
                           const siginfo_t *info)
{
    bool happened = info->si_code > 0; /* or was it sent? */
    if (s->number != SIGTRAP || (action->sa_handler == SIG_IGN && !happened))
        return;
    set_action(s->number, NULL, 0, 0);
    pm_sys(SYS_tgkill, pm_sys(SYS_getpid), pm_sys(SYS_gettid), s->number);
}

/* The kernel sets the mask back when our handler returns; one that jumps out does so itself. */
static void pass_on(struct shared *s, siginfo_t *info, void *context)
{
    struct sigaction action = s->shown;
    if (!is_function(&action)) {
        default_action(s, &action, info);
        return;
    }
    uint64_t mask, more;
    memcpy(&mask, &((ucontext_t *)context)->uc_sigmask, sizeof mask);
    memcpy(&more, &action.sa_mask, sizeof more);
    mask |= more;
    if (!(action.sa_flags & SA_NODEFER))
        mask |= 1ull << (s->number - 1);
    mask &= ~(1ull << (SIGTRAP - 1)); /* wrap_signals.c says why */
    if (action.sa_flags & (int)SA_RESETHAND)
        s->shown.sa_handler = SIG_DFL;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
    action.sa_sigaction(s->number, info, context); /* one with one argument ignores the others */
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    struct shared *s = shared_of(number);
    if (!s->handler(info, context))
        pass_on(s, info, context);
}

/* Ours as far as the program does not care. Within the bell's handler all signals are blocked
 * but traps (sample.c says why). */
static bool install(const struct shared *s)
{
    if (pm_load(has_left)) {
        uint64_t own_mask;
        memcpy(&own_mask, &s->shown.sa_mask, sizeof own_mask);
        void *handler = (void *)(uintptr_t)s->shown.sa_handler;
        return set_action(s->number, handler, s->shown.sa_flags, own_mask);
    }
    int flags = s->flags;
    if (pm_process.in_valgrind) /* 3.19 makes no stack longer for such a frame: the program dies */
        flags &= ~SA_ONSTACK;
    if (is_function(&s->shown))
        flags = (s->shown.sa_flags & (SA_RESTART | SA_ONSTACK)) | (flags & SA_NODEFER);
    uint64_t mask = s->number == SIGTRAP ? 0 : ~(1ull << (SIGTRAP - 1));
    return set_action(s->number, (void *)(uintptr_t)on_signal, SA_SIGINFO | flags, mask);
}

bool pm_signal_take(int number, pm_signal_fn *handler)
{
    struct shared *s = shared_of(number);
    if (pm_load(has_left))
        return false;
    if (pm_load(s->handler) != NULL) {
        pm_store(s->handler, handler);
        return true;
    }
    if (!get_action(number, &s->shown))
        return false;
    pm_store(s->handler, handler);
    if (install(s))
        return true;
    pm_store(s->handler, NULL);
    return false;
}

/* The kernel forgets signals that wait when they are ignored, as the bell is by default. */
void pm_signal_leave(bool left)
{
    if (left == pm_load(has_left))
        return;
    pm_store(has_left, left);
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (pm_load(shared[i].handler) != NULL)
            install(&shared[i]);
}

bool pm_signal_has_left(void)
{
    return pm_load(has_left);
}

bool pm_signal_is_taken(int number)
{
    const struct shared *s = shared_of(number);
    return s != NULL && pm_load(s->handler) != NULL;
}

/* --- as the program sees it --- */

/* Not in a vfork child, where what we keep is its parent's. Whoever sets a handler of traps has
 * ours installed before, lest it be installed at the same time. */
bool pm_signal_is_shared(int number)
{
    const struct shared *s = shared_of(number);
    if (s == NULL || !pm_process.on || (uint32_t)pm_sys(SYS_getpid) != pm_process.pid)
        return false;
    return pm_load(s->handler) != NULL || (number == SIGTRAP && pm_patch_take_traps());
}

static uint64_t take_lock(void)
{
    uint64_t all = ~(1ull << (SIGTRAP - 1)), mask = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
        pm_sys(SYS_sched_yield);
    return mask;
}

static void give_lock(uint64_t mask)
{
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

int pm_signal_change(int number, const struct sigaction *new, struct sigaction *old)
{
    struct shared *s = shared_of(number);
    struct sigaction wanted = {0}, was;
    if (new != NULL)
        wanted = *new;
    uint64_t mask = take_lock();
    was = s->shown;
    if (new != NULL) {
        s->shown = wanted;
        install(s);
    }
    give_lock(mask);
    if (old != NULL)
        *old = was;
    return 0;
}

void pm_signal_fork_child(void)
{
    lock = 0; /* another thread of the parent's may have had it */
}
