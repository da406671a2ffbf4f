/* Samples by POSIX timers, where perf events are refused: a timer on each thread's CPU clock
 * sends a signal to that thread. The kernel looks at such clocks at its ticks only (here 250 a
 * second, whatever is asked), so a sample stands for the CPU time since the one before, as the
 * thread's clock tells. Time in the kernel shows itself where the interrupted instruction stands
 * behind a system call. Times off the CPU are what the clocks differ by: where in the program
 * the thread waited is not known, so they belong to the innermost context that has been active
 * since the sample before.
 */
#include "runtime/base/clock.h"
#include "runtime/base/signals.h"
#include "runtime/base/sys.h"
#include "runtime/code/places.h"
#include "runtime/sample/sample.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Less is the signal's own way. */
enum { LEAST_WAIT_NS = 20000 };

int pm_timer_open(struct pm_sampler *s)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = PM_SAMPLE_SIGNAL};
    event.sigev_value.sival_ptr = (void *)(uintptr_t)&pm_signal_mark;
    event.sigev_notify_thread_id = (int)pm_sys(SYS_gettid);
    long result = pm_sys(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &s->timer);
    if (result != 0)
        return (int)-result;
    uint64_t period_ns = pm_process.sample_period_ns;
    struct timespec step = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)};
    struct itimerspec time = {.it_interval = step, .it_value = step};
    s->has_kernel = true; /* all of its CPU time is in samples */
    s->time_ns = pm_monotonic_ns();
    result = pm_sys(SYS_timer_settime, s->timer, 0, &time, NULL);
    if (result != 0) {
        pm_sys(SYS_timer_delete, s->timer);
        return (int)-result;
    }
    s->source = PM_RUN_SAMPLES_TIMER;
    return 0;
}

void pm_timer_close(struct pm_sampler *s)
{
    pm_sys(SYS_timer_delete, s->timer);
}

/* Of the stack that is in use, and no farther than its frames' owner reaches: it is there. */
static uint64_t stack_bytes(const struct pm_sampler *s, uint64_t sp)
{
    uint64_t top = pm_load(s->t->base->sp);
    if (sp >= top) /* another stack: up to the end of the page */
        top = (sp | (PM_RUN_PAGE - 1)) + 1;
    return top - sp < PM_DEEPEST_STACK_BYTES ? top - sp : PM_DEEPEST_STACK_BYTES;
}

void pm_timer_wait(struct pm_sampler *s, uint64_t cpu_ns)
{
    uint64_t now = pm_monotonic_ns();
    int64_t waited = (int64_t)(now - s->time_ns) - (int64_t)(cpu_ns - s->charged_ns);
    if (waited >= LEAST_WAIT_NS)
        pm_sample_waited(s, pm_sample_steady(s, pm_sample_context(s, 0)),
                         &(struct pm_off){.kind = PM_RUN_SAMPLE_OFF_CPU},
                         (struct pm_when){s->time_ns, now}, (uint64_t)waited);
    s->time_ns = now;
}

struct pm_taken pm_timer_taken(const struct pm_sampler *s, const void *context)
{
    struct pm_taken taken = {.kind = PM_RUN_SAMPLE_USER};
#if defined(__x86_64__)
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    taken.address = (uint64_t)registers[REG_RIP];
    taken.sp = (uint64_t)registers[REG_RSP];
    static const uint8_t saved[PM_TAKEN_REGISTERS] = {REG_RBX, REG_RBP, REG_R12,
                                                      REG_R13, REG_R14, REG_R15};
    taken.has_registers = true;
    for (unsigned i = 0; i < PM_TAKEN_REGISTERS; i++)
        taken.registers[i] = (uint64_t)registers[saved[i]];
#elif defined(__aarch64__)
    taken.address = ((const ucontext_t *)context)->uc_mcontext.pc;
    taken.sp = ((const ucontext_t *)context)->uc_mcontext.sp;
#else
    (void)context;
#endif
    if (pm_is_behind_system_call(taken.address))
        taken.kind = PM_RUN_SAMPLE_KERNEL;
    if (taken.sp != 0) {
        taken.stack = (const uint8_t *)taken.sp;
        taken.stack_bytes = stack_bytes(s, taken.sp);
    }
    return taken;
}

void pm_timer_expired(struct pm_sampler *s, const void *context)
{
    uint64_t cpu_ns = pm_thread_cpu_ns(s->slot->tid) - s->cpu_before_ns;
    if (cpu_ns <= s->charged_ns)
        return;
    struct pm_taken taken = pm_timer_taken(s, context);
    taken.cpu_ns = cpu_ns;
    taken.period_ns = cpu_ns - s->charged_ns;
    pm_timer_wait(s, cpu_ns);
    pm_sample_take(s, &taken);
}
