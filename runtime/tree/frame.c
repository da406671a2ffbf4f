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

/* Of the main thread no mapping lies so near below its stack (Linux keeps twice as much free). */
bool pm_frame_is_on_own_stack(const struct pm_tls *t, uint64_t frame)
{
    enum { SURELY_STACK_BYTES = 64 << 20 };
    bool is_main = pm_thread_pointer() == pm_process.main_thread_pointer;
    uint64_t bytes = is_main ? SURELY_STACK_BYTES : t->stack_bytes;
    return t->base == t->slot->root && t->slot->root->sp - frame < bytes;
}

bool pm_jump_has_returned(const struct pm_tls *t, const struct pm_node *node, uint64_t sp)
{
    enum { PAGE_BYTES = 4096 };
    uint64_t frame = pm_sp_frame(pm_load(node->sp));
    const uint32_t *at = (const uint32_t *)frame; /* the lower half of the return address */
    if (node->start_tsc != 0 || frame < sp)
        return false;
    if (frame / PAGE_BYTES == sp / PAGE_BYTES || pm_frame_is_on_own_stack(t, frame))
        return *at != node->paused;
    return is_surely_not(at, node->paused);
}
