/* dlopen and dlclose. They are not interposed: dlopen searches by its caller's RUNPATH, and the
 * caller would be us. Instead we use what debuggers use: the loader calls an empty function (r_brk)
 * whenever it has changed its list, after mapping a library and before running its constructors.
 * That function is changed to jump to us.
 *
 * Where its code is not as expected (another machine, another libc, a debugger's breakpoint in it),
 * libraries that are loaded later are not measured; the run file says so.
 */
#include "runtime/base/file.h"
#include "runtime/code/arch.h"
#include "runtime/code/modes.h"
#include "runtime/budget/control.h"
#include "runtime/sample/sample.h"
#include "runtime/guest/guest.h"

#include <link.h>

static void loader_changed(void)
{
    if (_r_debug.r_state != RT_CONSISTENT) {
        pm_modes_hold(); /* code is about to be unmapped, or objects to be added */
        pm_sample_loader_begins();
        return;
    }
    pm_objects_update();
    pm_modes_release();
    pm_control_begin();
    pm_sample_process_begin(); /* if this was the first object with sleds */
}

void pm_dl_watch(void)
{
    if (_r_debug.r_brk == 0 || !pm_arch_hook_function((uintptr_t)_r_debug.r_brk, loader_changed))
        pm_file_message(PM_RUN_MSG_NOTE,
                        "libraries loaded later are not measured: the loader cannot be watched",
                        NULL);
}
