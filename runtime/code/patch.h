/* Changing code that may be running. */
#ifndef PM_RUNTIME_PATCH_H
#define PM_RUNTIME_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_patch {
    uintptr_t address;
    uint8_t bytes[5];
};
/* Writes 5 bytes at each address; sorted by address; prot is the protection to restore. fresh:
 * no thread can be running this code. Otherwise one at a time; signal safe. False: refused, or
 * not wholly done. */
bool pm_patch_apply(const struct pm_patch *patches, size_t n, int prot, bool fresh);
/* Completes what a thread of the parent, which is not here, had begun. */
void pm_patch_fork_child(void);

#endif
