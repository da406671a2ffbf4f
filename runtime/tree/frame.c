/* Has what a context jumped to returned? (frame.h) */
#include "runtime/tree/frame.h"
#include "runtime/base/sys.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>

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
