/* Signals that PerfMap shares with the program. Samples and requests need a bell: our handler stays, the program is shown what it has
 * set itself, and gets what is not ours as it has asked for. Whoever waits for signals, or reads them, does not see ours.
 *
 * What cannot be hidden: sigpending tells of ours where the thread blocks it, and programs that ask the kernel without libc see our handler.
 */
#include "internal.h"
#include "signals.h"
#include "sys.h"

#include <dlfcn.h>
#include <string.h>
#include <ucontext.h>

typedef void action_fn(int number, siginfo_t *info, void *context);

const char pm_signal_mark;     /* its address is the value of our timers' signals */
static action_fn *ours;        /* NULL: the signal is the program's alone */
static struct sigaction shown; /* what the program has */
static uint32_t lock;          /* of shown; all signals are blocked while it is held */

/* Of libc: the name is wrapped (wrap_signals.c). */
static int libc_sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
    static int (*function)(int, const struct sigaction *, struct sigaction *);
    if (function == NULL)
        *(void **)&function = dlsym(RTLD_NEXT, "sigaction");
    return function(number, new, old);
}

/* perf events tell of a descriptor (F_SETSIG), timers have our mark, and who has a request rings from outside. */
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

/* Not in a vfork child, where what we keep is its parent's. */
bool pm_signal_is_shared(int number)
{
    return number == PM_BELL_SIGNAL && pm_load(ours) != NULL &&
           (uint32_t)pm_sys(SYS_getpid) == pm_process.pid;
}

static uint64_t take_lock(void)
{
    uint64_t all = UINT64_MAX, mask = 0;
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

static bool is_function(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* A signal that is not ours. The kernel sets the mask back when that returns; a handler that jumps out does so itself. */
static void pass_on(siginfo_t *info, void *context)
{
    struct sigaction action = shown;
    if (!is_function(&action))
        return;
    uint64_t mask, more;
    memcpy(&mask, &((ucontext_t *)context)->uc_sigmask, sizeof mask);
    memcpy(&more, &action.sa_mask, sizeof more);
    mask |= more;
    if (!(action.sa_flags & SA_NODEFER))
        mask |= 1ull << (PM_BELL_SIGNAL - 1);
    if (action.sa_flags & (int)SA_RESETHAND)
        shown.sa_handler = SIG_DFL;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
    action.sa_sigaction(info->si_signo, info,
                        context); /* one with one argument ignores the others */
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    if (pm_signal_is_ours(info))
        ours(number, info, context);
    else
        pass_on(info, context);
}

/* Ours as far as the program does not care, all signals blocked but traps (sample.c says why). */
static int install(void)
{
    int flags = SA_RESTART | SA_ONSTACK;
    if (is_function(&shown))
        flags = shown.sa_flags & (SA_RESTART | SA_ONSTACK);
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};
    memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
    sigdelset(&action.sa_mask, SIGTRAP);
    return libc_sigaction(PM_BELL_SIGNAL, &action, NULL);
}

bool pm_signal_take(action_fn *handler)
{
    if (pm_load(ours) != NULL) {
        pm_store(ours, handler);
        return true;
    }
    if (libc_sigaction(PM_BELL_SIGNAL, NULL, &shown) != 0)
        return false;
    pm_store(ours, handler);
    if (install() == 0)
        return true;
    pm_store(ours, NULL);
    return false;
}

int pm_signal_change(const struct sigaction *new, struct sigaction *old)
{
    struct sigaction wanted = {0}, was;
    if (new != NULL)
        wanted = *new;
    uint64_t mask = take_lock();
    was = shown;
    int result = 0;
    if (new != NULL) {
        shown = wanted;
        result = install();
    }
    give_lock(mask);
    if (old != NULL)
        *old = was;
    return result;
}

void pm_signal_fork_child(void)
{
    lock = 0; /* another thread of the parent's may have had it */
}

bool pm_signal_is_taken(void)
{
    return pm_load(ours) != NULL;
}
