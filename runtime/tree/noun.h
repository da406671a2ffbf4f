/* What the tree asks about a noun: its mode now, and whether entries or exits of it may be missing.
 * code/modes.h changes it. Below probes. */
#ifndef PM_RUNTIME_NOUN_H
#define PM_RUNTIME_NOUN_H

#include "format/pm_run.h"
#include "runtime/base/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmr_noun {
    uint8_t mode;          /* enum pm_run_mode now */
    uint8_t wanted;        /* by the user: the budget may lower it, and raises it up to this */
    uint8_t target_plus_1; /* of the change that is being made; 0: stays (or is not made yet) */
    uint8_t flags;         /* PM_NOUN_* */
    uint8_t n_lowered;     /* by the budget: the more often, the later it is raised */
    uint8_t before;        /* within a change: the mode before it */
    uint8_t start;         /* the mode that it began with */
    uint8_t terms, inside; /* struct pm_plan_noun */
    uint32_t changed_ms;   /* CPU time when the budget changed it last; adapt.c's */
};
enum {
    /* contexts of it are, or were, without their exits: those are not missed */
    PM_NOUN_LEAVING = 1,
    PM_NOUN_FIXED = 2,    /* cannot be changed */
    PM_NOUN_WORD = 4,     /* of the program's own (words.c): its events are calls of functions */
    PM_NOUN_SPARE = 8,    /* room for a word to come: not in the run file, nor are its changes */
    PM_NOUN_ADAPTER = 16, /* of an adapter that is content with counts: the budget may lower it */
};
/* All of them, by number. */
struct pm_nouns {
    struct pmr_noun *list;   /* addresses for PM_MAX_NOUNS */
    uint32_t n;              /* so many have memory */
    bool differ;             /* some noun has, or had, another mode than the process */
    uint8_t adapters_differ; /* some noun of PM_NOUN_ADAPTER does, or all are only counted */
};
extern struct pm_nouns pm_nouns;

/* NULL: it has the process's mode for ever. */
static inline struct pmr_noun *pm_noun_at(uint32_t noun)
{
    return noun < pm_load(pm_nouns.n) ? &pm_nouns.list[noun] : NULL;
}

uint32_t pm_n_nouns(void); /* that pm_noun_at knows */

/* Whether the noun has no contexts (any more): one of it may be open for ever and is passed
 * over. */
static inline bool pm_noun_is_disarmed(uint32_t noun)
{
    const struct pmr_noun *n = pm_likely(!pm_load(pm_nouns.differ)) ? NULL : pm_noun_at(noun);
    return n != NULL && pm_load(n->mode) < PM_RUN_MODE_ACTIVE;
}

/* Whether exits of it may be missing, or entries. */
bool pm_noun_is_leaving(uint32_t noun);

#endif
