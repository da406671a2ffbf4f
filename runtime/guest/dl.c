/* dlopen and dlclose. They are not interposed: dlopen searches by its caller's RUNPATH, and the
 * caller would be us. Instead we use what debuggers use: the loader calls an empty function (r_brk)
 * whenever it has changed its list, after mapping a library and before running its constructors.
 * That function is changed to jump to us.
 *
 * Where its code is not as expected (another machine, another libc, a debugger's breakpoint in it),
 * libraries that are loaded later are not measured; the run file says so.
 *
 * What we do there (1 ms for a library of a few functions is mapping, reading and changing its
 * code) is in the caller's time, which mode exact measures: so it is taken out again.
 */
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/upward.h"
#include "runtime/code/arch.h"
#include "runtime/code/modes.h"
#include "runtime/code/namespaces.h"
#include "runtime/budget/control.h"
#include "runtime/sample/sample.h"
#include "runtime/tree/fold.h"
#include "runtime/guest/guest.h"

#include <link.h>

/* When we began, by three clocks. */
struct work {
    uint64_t tsc, ns, cpu_ns;
};

static struct work work_begins(const struct pm_tls *t)
{
    struct work work = {.cpu_ns = t->state == PM_THREAD_READY ? pm_thread_cpu_ns(t->slot->tid) : 0};
    pm_clock_pair(&work.tsc, &work.ns);
    return work;
}

/* Its CPU time: what others had the processor for meanwhile is noted as such. */
static void work_ends(struct pm_tls *t, struct work begun)
{
    struct work now = work_begins(t);
    if (begun.cpu_ns == 0 || now.cpu_ns <= begun.cpu_ns || now.ns <= begun.ns)
        return;
    uint64_t cpu_ns = now.cpu_ns - begun.cpu_ns;
    uint64_t tsc_in_1024_ns = (now.tsc - begun.tsc) * 1024 / (now.ns - begun.ns);
    pm_take_out(t, cpu_ns * tsc_in_1024_ns / 1024);
    pm_adapt_started(cpu_ns);
}

static void look(void)
{
    if (!pm_namespaces_are_consistent()) {
        pm_modes_hold(); /* code is about to be unmapped, or objects to be added */
        pm_sample_loader_begins();
        return;
    }
    pm_objects_update();
    pm_modes_release();
    pm_control_begin();
    pm_sample_process_begin(); /* if this was the first object with sleds */
}

static void loader_changed(void)
{
    struct work begun = work_begins(&pm_tls);
    look();
    work_ends(&pm_tls, begun);
}

void pm_dl_watch(void)
{
    if (_r_debug.r_brk == 0 || !pm_arch_hook_function((uintptr_t)_r_debug.r_brk, loader_changed))
        pm_file_message(PM_RUN_MSG_NOTE,
                        "libraries loaded later are not measured: the loader cannot be watched",
                        NULL);
}
