/* A process as the runtime sees one that is measured, for tests of its parts: settings, and a
 * run folder of its own below the current one.
 *
 *     made_process("tree", PM_RUN_MODE_EXACT);
 *     pm_process.next_noun = 100;           // what the test wants otherwise
 *     assert_true(pm_file_create());
 *     ...
 *     made_process_end();
 */
#ifndef PM_TESTS_MADE_PROCESS_H
#define PM_TESTS_MADE_PROCESS_H

#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/upward.h"
#include "runtime/tree/fold.h"
#include "runtime/tree/tree.h"
#include "runtime/code/arch.h"
#include "runtime/guest/guest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* The clock counts nanoseconds, nothing is calibrated. */
static inline void made_process(const char *name, enum pm_run_mode mode)
{
    static const uint32_t alive = 1;
    char folder[64];
    snprintf(folder, sizeof folder, "%s-XXXXXX", name);
    assert_non_null(mkdtemp(folder));
    assert_non_null(realpath(folder, pm_process.run_dir));
    pm_process.mode = mode;
    pm_process.pid = (uint32_t)getpid();
    pm_process.main_thread_pointer = pm_thread_pointer();
    pm_process.alive_mark = &alive;
    pm_process.max_contexts = 1u << 20;
    pm_process.max_depth = 1000;
    pm_process.n_contexts = 0;
    pm_process.tsc_hz = 1000000000;
    pm_process.exact_pair_ps = 1;
    pm_process.on = true;
    pm_process.file = (struct pm_file){.fd = -1};
}

/* Leaves the run file and removes it, with its folder. */
static inline void made_process_end(void)
{
    char path[sizeof pm_process.file.path];
    snprintf(path, sizeof path, "%s", pm_process.file.path);
    pm_file_leave();
    pm_file_drop_parent();
    unlink(path);
    rmdir(pm_process.run_dir);
}

#endif
