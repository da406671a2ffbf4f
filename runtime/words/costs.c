/* Costs that the program says itself (pm_cost in perfmap.h): added to the context that is
 * active, by metric. In the run file they are items like samples. What was added before is found
 * in a small table of the thread, without a lock: one instruction adds, so that handlers may do
 * the same at any point. */
#include "runtime/base/sys.h"
#include "runtime/sample/sample.h"
#include "runtime/words/api.h"

#include <signal.h>
#include <sys/mman.h>

enum { QUICK_ENTRIES = 256 };

/* Of a slot; its threads' one after the other. */
struct pm_word_costs {
    struct pm_store store;
    struct pm_run_sample *quick[QUICK_ENTRIES]; /* by context and metric: the one used last */
};

/* Signals are blocked. */
static bool add_item(struct pm_slot *slot, const struct pm_run_sample *key,
                     struct pm_run_sample **ret_quick)
{
    if (slot->word_costs == NULL)
        slot->word_costs = pm_private_memory(sizeof *slot->word_costs);
    struct pm_word_costs *costs = slot->word_costs;
    return costs != NULL && pm_store_add(&costs->store, slot->thread_offset, key, ret_quick);
}

static unsigned place_of(uint32_t node, uint32_t metric)
{
    return (node ^ metric * 0x9e3779b1u >> 7) % QUICK_ENTRIES;
}

bool pm_word_cost(struct pm_tls *t, uint32_t metric, uint64_t value, uint64_t sp)
{
    struct pm_slot *slot = t->slot;
    const struct pm_node *node = pm_context_at(t, slot, sp);
    struct pm_run_sample key = {.address = metric,
                                .node = node->place,
                                .kind = PM_RUN_SAMPLE_COST,
                                .n_samples = 1,
                                .time_ns = value};
    unsigned at = place_of(node->place, metric);
    struct pm_run_sample *quick =
        slot->word_costs != NULL ? pm_load(slot->word_costs->quick[at]) : NULL;
    if (quick != NULL && quick->node == key.node && quick->address == metric) {
        pm_add_own(&quick->n_samples, 1);
        pm_add_own(&quick->time_ns, value);
        return true;
    }
    uint64_t all = ~((uint64_t)1 << (SIGTRAP - 1)), mask = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_BLOCK, &all, &mask, sizeof all);
    bool good = add_item(slot, &key, &quick);
    if (good)
        pm_store(slot->word_costs->quick[at], quick);
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
    return good;
}

void pm_word_costs_fork_child(void)
{
    struct pm_slot *slot = pm_tls.slot;
    if (slot == NULL || slot->word_costs == NULL)
        return;
    pm_store_forget(&slot->word_costs->store);
    for (unsigned i = 0; i < QUICK_ENTRIES; i++)
        slot->word_costs->quick[i] = NULL;
}
