/* The table of nouns; code/modes.c fills it. */
#include "runtime/tree/noun.h"
#include "runtime/base/process.h"

struct pm_nouns pm_nouns;

uint32_t pm_n_nouns(void)
{
    uint32_t n = pm_load(pm_process.next_noun), room = pm_load(pm_nouns.n);
    return n < room ? n : room;
}

bool pm_noun_is_leaving(uint32_t noun)
{
    const struct pmr_noun *n = pm_likely(!pm_load(pm_nouns.differ)) ? NULL : pm_noun_at(noun);
    return n != NULL &&
           ((pm_load(n->flags) & PM_NOUN_LEAVING) != 0 || pm_load(n->mode) < PM_RUN_MODE_ACTIVE);
}
