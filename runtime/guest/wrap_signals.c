/* Wrappers of libc's functions that set handlers of signals or wait for them, for the signals
 * that the program shares with us (signals.c); and of those that block signals: traps never are,
 * for a thread that came to a sled while it is being changed would be killed. The program is
 * told that they are, where it has asked for it.
 */
#include "runtime/base/clock.h"
#include "runtime/base/signals.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/thread.h"
#include "runtime/guest/guest.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>

typedef void handler_fn(int number);
typedef int mask_fn(int how, const sigset_t *new, sigset_t *old);

static struct {
    int (*sigaction)(int number, const struct sigaction *new, struct sigaction *old);
    handler_fn *(*signal)(int number, handler_fn *handler);
    handler_fn *(*sysv_signal)(int number, handler_fn *handler);
    mask_fn *sigprocmask, *pthread_sigmask;
    int (*sigtimedwait)(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);
    int (*sigwaitinfo)(const sigset_t *set, siginfo_t *info);
    int (*sigwait)(const sigset_t *set, int *number);
    int (*sigsuspend)(const sigset_t *mask);
    int (*signalfd)(int fd, const sigset_t *set, int flags);
} libc;

/* Some come before our start: of programs that have functions in .preinit_array. */
#define FIND(name) \
    (libc.name != NULL ? libc.name : (*(void **)&libc.name = dlsym(RTLD_NEXT, #name), libc.name))

void pm_wrap_signals_resolve(void)
{
    (void)FIND(sigaction), (void)FIND(signal), (void)FIND(sysv_signal), (void)FIND(sigtimedwait);
    (void)FIND(sigprocmask), (void)FIND(pthread_sigmask);
    (void)FIND(sigwaitinfo), (void)FIND(sigwait), (void)FIND(sigsuspend), (void)FIND(signalfd);
}

/* --- setting handlers --- */

static uint64_t
    /* bits: numbers of signals whose handlers the program wants to run without traps */
    masks_with_traps;

PM_EXPORT int sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
    if (pm_signal_is_shared(number))
        return pm_signal_change(number, new, old);
    uint64_t bit = number > 0 && number < 65 ? 1ull << (number - 1) : 0;
    bool had = (pm_load(masks_with_traps) & bit) != 0;
    struct sigaction action;
    if (new != NULL && bit != 0 && pm_process.on) {
        bool has = sigismember(&new->sa_mask, SIGTRAP) == 1;
        action = *new;
        sigdelset(&action.sa_mask, SIGTRAP);
        new = &action;
        __atomic_fetch_and(&masks_with_traps, ~bit, __ATOMIC_RELAXED);
        __atomic_fetch_or(&masks_with_traps, has ? bit : 0, __ATOMIC_RELAXED);
    }
    int result = FIND(sigaction)(number, new, old);
    if (result == 0 && old != NULL && had)
        sigaddset(&old->sa_mask, SIGTRAP);
    return result;
}

static handler_fn *set_handler(int number, handler_fn *handler, int flags)
{
    struct sigaction new = {.sa_handler = handler, .sa_flags = flags}, old;
    sigemptyset(&new.sa_mask);
    if (flags & SA_RESTART)
        sigaddset(&new.sa_mask, number);
    return pm_signal_change(number, &new, &old) == 0 ? old.sa_handler : SIG_ERR;
}

PM_EXPORT handler_fn *signal(int number, handler_fn *handler)
{
    return pm_signal_is_shared(number) ? set_handler(number, handler, SA_RESTART)
                                       : FIND(signal)(number, handler);
}

PM_EXPORT handler_fn *bsd_signal(int number, handler_fn *handler);
PM_EXPORT handler_fn *bsd_signal(int number, handler_fn *handler)
{
    return signal(number, handler);
}

PM_EXPORT handler_fn *ssignal(int number, handler_fn *handler)
{
    return signal(number, handler);
}

PM_EXPORT handler_fn *sysv_signal(int number, handler_fn *handler)
{
    return pm_signal_is_shared(number)
               ? set_handler(number, handler, (int)SA_RESETHAND | SA_NODEFER)
               : FIND(sysv_signal)(number, handler);
}

PM_EXPORT handler_fn *__sysv_signal(int number, handler_fn *handler);
PM_EXPORT handler_fn *__sysv_signal(int number, handler_fn *handler)
{
    return sysv_signal(number, handler);
}

/* --- blocking signals --- */

/* Of this thread, as it asked for. */
static __thread bool blocks_traps __attribute__((tls_model("initial-exec")));

bool pm_wrap_blocks_traps(void)
{
    return blocks_traps;
}

void pm_wrap_inherit_traps(bool blocks)
{
    blocks_traps = blocks;
}

static int change_mask(mask_fn *of_libc, int how, const sigset_t *new, sigset_t *old)
{
    if (!pm_process.on)
        return of_libc(how, new, old);
    sigset_t mask;
    bool before = blocks_traps, after = before;
    if (new != NULL) {
        mask = *new;
        if (sigismember(&mask, SIGTRAP) == 1)
            after = how != SIG_UNBLOCK;
        else if (how == SIG_SETMASK)
            after = false;
        if (how != SIG_UNBLOCK)
            sigdelset(&mask, SIGTRAP);
    }
    int result = of_libc(how, new != NULL ? &mask : NULL, old);
    if (result != 0)
        return result;
    blocks_traps = after;
    if (old != NULL && before)
        sigaddset(old, SIGTRAP);
    return 0;
}

PM_EXPORT int sigprocmask(int how, const sigset_t *new, sigset_t *old)
{
    return change_mask(FIND(sigprocmask), how, new, old);
}

PM_EXPORT int pthread_sigmask(int how, const sigset_t *new, sigset_t *old)
{
    return change_mask(FIND(pthread_sigmask), how, new, old);
}

/* --- waiting for signals --- */

static bool may_get_ours(const sigset_t *set)
{
    return set != NULL && pm_signal_is_taken(PM_BELL_SIGNAL) &&
           sigismember(set, PM_BELL_SIGNAL) == 1;
}

static struct timespec time_left(uint64_t deadline_ns)
{
    uint64_t now = pm_monotonic_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
    return (struct timespec){(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
}

PM_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    if (!may_get_ours(set))
        return FIND(sigtimedwait)(set, info, timeout);
    siginfo_t own;
    struct timespec left;
    uint64_t deadline_ns = 0;
    if (timeout != NULL && timeout->tv_sec < 1 << 30 && timeout->tv_sec >= 0) {
        left = *timeout;
        deadline_ns =
            pm_monotonic_ns() + (uint64_t)left.tv_sec * 1000000000u + (uint64_t)left.tv_nsec;
        timeout = &left;
    }
    for (;;) {
        int number = FIND(sigtimedwait)(set, &own, timeout);
        if (number > 0 && pm_signal_is_ours(&own)) {
            pm_sample_drain(&pm_tls);
            if (timeout == &left)
                left = time_left(deadline_ns);
            continue;
        }
        if (number > 0 && info != NULL)
            *info = own;
        return number;
    }
}

PM_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return may_get_ours(set) ? sigtimedwait(set, info, NULL) : FIND(sigwaitinfo)(set, info);
}

PM_EXPORT int sigwait(const sigset_t *set, int *number)
{
    if (!may_get_ours(set))
        return FIND(sigwait)(set, number);
    int result;
    do
        result = sigtimedwait(set, NULL, NULL);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        return errno;
    *number = result;
    return 0;
}

/* What waits behind a mask must not end the program's wait. Another's signal is put back. */
PM_EXPORT int sigsuspend(const sigset_t *mask)
{
    if (pm_signal_is_taken(PM_BELL_SIGNAL)) {
        uint64_t only = 1ull << (PM_BELL_SIGNAL - 1);
        struct timespec none = {0, 0};
        siginfo_t info;
        if (pm_sys(SYS_rt_sigtimedwait, &only, &info, &none, sizeof only) > 0) {
            if (pm_signal_is_ours(&info))
                pm_sample_drain(&pm_tls);
            else
                pm_sys(SYS_rt_tgsigqueueinfo, pm_sys(SYS_getpid), pm_sys(SYS_gettid),
                       PM_BELL_SIGNAL, &info);
        }
    }
    return FIND(sigsuspend)(mask);
}

/* Who reads signals from a descriptor gets all but this one, even if it is the program's. */
PM_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    if (!may_get_ours(set))
        return FIND(signalfd)(fd, set, flags);
    sigset_t others = *set;
    sigdelset(&others, PM_BELL_SIGNAL);
    return FIND(signalfd)(fd, &others, flags);
}
