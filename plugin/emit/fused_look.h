/* Between fused_look.c (what a function's statements do) and fused.c (what became of them). */
#ifndef PM_FUSED_LOOK_H
#define PM_FUSED_LOOK_H

#include "fused.h"

/* Room for n items: the array, maybe moved; NULL when memory ends, and then the old one stays. */
static inline void *pm_fused_reserve(void *items, uint32_t n, uint32_t *cap, size_t item_bytes)
{
    if (n <= *cap)
        return items;
    uint32_t more = n + n / 2 + 64;
    void *grown = pm_realloc_array(items, more, item_bytes);
    if (grown)
        *cap = more;
    return grown;
}

/* Index of the statement, -1 none. */
int pm_fused_look_find(const struct pm_fused_look *look, const struct pm_fused_key *key);
void pm_fused_look_clear(struct pm_fused_look *look);
void pm_fused_look_release(struct pm_fused_look *look);

#endif
