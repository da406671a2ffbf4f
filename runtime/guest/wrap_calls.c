/* Wrappers of libc's ways to the kernel that must not go unseen: filters of seccomp (confine.c),
 * and children that no fork handler sees, whose first event may be too late: in mode count
 * nothing looks whose process it is. */
#include "runtime/base/clock.h"
#include "runtime/base/confine.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/budget/adapt.h"
#include "runtime/guest/guest.h"

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct {
    int (*prctl)(int option, ...);
    long (*syscall)(long number, ...);
} libc;

void pm_wrap_calls_resolve(void)
{
    *(void **)&libc.prctl = dlsym(RTLD_NEXT, "prctl");
    *(void **)&libc.syscall = dlsym(RTLD_NEXT, "syscall");
}

/* Whoever reads it from then on ends by SIGSEGV: prctl(PR_SET_TSC), and strict mode, too. */
static void stop_clock(void)
{
    static bool said;
    if (pm_process.file.header == NULL || pm_stopped_tsc != 0)
        return;
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        pm_file_message(
            PM_RUN_MSG_NOTE,
            "the program forbids the time-stamp counter: from then on calls have no times", NULL);
    pm_adapt_without_clock();
    pm_store(pm_stopped_tsc, pm_tsc());
}

static struct pm_confinement note(bool strict, const struct sock_fprog *filter)
{
    pm_confine_say();
    if (strict)
        stop_clock();
    else
        pm_confine_list(filter);
    return pm_confine(strict, filter);
}

static void note_not(struct pm_confinement noted)
{
    pm_confine_not(noted);
    pm_store(pm_stopped_tsc, 0);
}

static int set_tsc(unsigned long how)
{
    if (how == PR_TSC_SIGSEGV)
        stop_clock();
    int result = libc.prctl(PR_SET_TSC, how, 0ul, 0ul, 0ul);
    if ((how == PR_TSC_ENABLE) == (result == 0))
        pm_store(pm_stopped_tsc, 0);
    return result;
}

PM_EXPORT int prctl(int option, ...)
{
    va_list list;
    va_start(list, option);
    unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long),
                  c = va_arg(list, unsigned long), d = va_arg(list, unsigned long);
    va_end(list);
    if (libc.prctl == NULL)
        pm_wrap_calls_resolve();
    if (option == PR_SET_TSC && pm_process.on)
        return set_tsc(a);
    if (option != PR_SET_SECCOMP || !pm_process.on)
        return libc.prctl(option, a, b, c, d);
    struct pm_confinement noted = note(
        a == SECCOMP_MODE_STRICT, (const struct sock_fprog *)(a == SECCOMP_MODE_FILTER ? b : 0));
    int result = libc.prctl(option, a, b, c, d);
    if (result != 0)
        note_not(noted);
    return result;
}

#if defined(__x86_64__)
/* syscall(2) of libc goes on to this for a few numbers, and else straight to libc's own: with
 * clone(2) it may return on another stack. */
__attribute__((used, visibility("hidden"))) long pm_syscall_watched(long number, long a, long b,
                                                                    long c, long d, long e, long f);
long pm_syscall_watched(long number, long a, long b, long c, long d, long e, long f)
{
    if (libc.syscall == NULL)
        pm_wrap_calls_resolve();
    if (!pm_process.on)
        return libc.syscall(number, a, b, c, d, e, f);
    if (number == SYS_fork || number == SYS_clone) {
        long pid = libc.syscall(number, a, b, c, d, e, f);
        if (pid == 0)
            pm_fork_child();
        return pid;
    }
    bool by_prctl = number == SYS_prctl && a == PR_SET_SECCOMP;
    bool filter =
        by_prctl ? b == SECCOMP_MODE_FILTER : number == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER;
    bool strict =
        by_prctl ? b == SECCOMP_MODE_STRICT : number == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT;
    if (!filter && !strict)
        return libc.syscall(number, a, b, c, d, e, f);
    struct pm_confinement noted = note(strict, (const struct sock_fprog *)(filter ? c : 0));
    long result = libc.syscall(number, a, b, c, d, e, f);
    if (result < 0 || (result > 0 && (b & SECCOMP_FILTER_FLAG_TSYNC)))
        note_not(noted);
    return result;
}

__attribute__((used, visibility("hidden"))) void *pm_syscall_of_libc(void);
void *pm_syscall_of_libc(void)
{
    if (libc.syscall == NULL)
        pm_wrap_calls_resolve();
    return (void *)libc.syscall;
}

_Static_assert(SYS_prctl == 157 && SYS_seccomp == 317 && SYS_fork == 57 && SYS_clone == 56,
               "the numbers below");
/* clone without a stack of its own (rdx) and without shared memory (CLONE_VM, 0x100 in rsi) is a
 * fork. */
__asm__(".text\n.p2align 4\n.globl syscall\n.type syscall, @function\nsyscall:\n"
        "cmp $157, %rdi\nje pm_syscall_watched\n"
        "cmp $317, %rdi\nje pm_syscall_watched\n"
        "cmp $57, %rdi\nje pm_syscall_watched\n"
        "cmp $56, %rdi\njne 1f\n"
        "test %rdx, %rdx\njne 1f\n"
        "test $0x100, %esi\nje pm_syscall_watched\n"
        "1: push %rdi\npush %rsi\npush %rdx\npush %rcx\npush %r8\npush %r9\nsub $8, %rsp\n"
        "call pm_syscall_of_libc\n"
        "add $8, %rsp\npop %r9\npop %r8\npop %rcx\npop %rdx\npop %rsi\npop %rdi\n"
        "jmp *%rax\n"
        ".size syscall, .-syscall\n");
#endif

/* --- children by libc's clone, which no fork handler sees --- */

struct start {
    int (*function)(void *argument);
    void *argument;
};

static int start_child(void *data)
{
    struct start start = *(struct start *)data;
    if (!pm_process.on)
        return start.function(start.argument);
    pm_fork_child(); /* nothing, if its memory is our parent's (vfork) */
    int status = start.function(start.argument);
    pm_process_end(0); /* libc leaves by a bare system call */
    return status;
}

/* Both have one thread block, at once. */
static void say_beside(void)
{
    static bool said;
    if (pm_process.file.header != NULL && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        pm_file_message(PM_RUN_MSG_NOTE,
                        "clone() started code with the memory and thread block of a thread that "
                        "runs on: its calls are that thread's, and it is not sampled",
                        NULL);
}

typedef int clone_fn(int (*function)(void *), void *stack, int flags, void *argument, ...);

PM_EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
    static clone_fn *of_libc;
    va_list list;
    va_start(list, argument);
    void *parent_tid = va_arg(list, void *), *tls = va_arg(list, void *),
         *child_tid = va_arg(list, void *);
    va_end(list);
    if (of_libc == NULL)
        *(void **)&of_libc = dlsym(RTLD_NEXT, "clone");
    bool shares_memory = flags & CLONE_VM, shares_block = shares_memory && !(flags & CLONE_SETTLS);
    bool is_vfork = shares_block && (flags & CLONE_VFORK);
    if (pm_process.on && shares_block && !is_vfork)
        say_beside();
    if (function == NULL || !pm_process.on || (shares_memory && !is_vfork))
        return of_libc(function, stack, flags, argument, parent_tid, tls, child_tid);
    struct start start = {function, argument}; /* the child has it, or a copy of this stack */
    return of_libc(start_child, stack, flags, &start, parent_tid, tls, child_tid);
}
