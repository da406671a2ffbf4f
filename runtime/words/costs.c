/* Costs that the program says itself (pm_cost in perfmap.h): added to the context that is
 * active, by metric. In the run file they are items like samples. What was added before is found
 * in a small table of the thread, without a lock: one instruction adds, so that handlers may do
 * the same at any point. */
#include "runtime/base/sys.h"
#include "runtime/sample/sample.h"
#include "runtime/tree/noun.h"
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
    return costs != NULL && pm_store_add(&costs->store, slot->thread_offset, NULL, key, ret_quick);
}

static unsigned place_of(uint32_t node, uint32_t metric)
{
    return (node ^ metric * 0x9e3779b1u >> 7) % QUICK_ENTRIES;
}

/* Is it a sentence that this very frame has entered? Then nothing above it matters. */
static inline bool is_own(const struct pm_node *node, uint64_t sp)
{
    return pm_likely(pm_load(node->sp) == sp && sp != 0 && !pm_sp_jumped(sp) &&
                     pm_node_is_said(node) && !pm_noun_is_disarmed(node->noun));
}

static inline struct pm_run_sample *quick_of(const struct pm_slot *slot, uint32_t node,
                                             uint32_t metric)
{
    if (slot->word_costs == NULL)
        return NULL;
    struct pm_run_sample *quick = pm_load(slot->word_costs->quick[place_of(node, metric)]);
    return quick != NULL && quick->node == node && quick->address == metric ? quick : NULL;
}

static inline void add_quickly(struct pm_run_sample *quick, uint64_t value)
{
    pm_add_own(&quick->n_samples, 1);
    pm_add_own(&quick->time_ns, value);
}

bool pm_word_cost_at_once(struct pm_tls *t, uint32_t metric, uint64_t value, uint64_t sp)
{
    const struct pm_node *node = pm_load(t->current);
    if (!is_own(node, sp))
        return false;
    struct pm_run_sample *quick = quick_of(t->slot, node->place, metric);
    if (pm_unlikely(quick == NULL))
        return false;
    add_quickly(quick, value);
    return true;
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
    struct pm_run_sample *quick = quick_of(slot, node->place, metric);
    if (quick != NULL) {
        add_quickly(quick, value);
        return true;
    }
    uint64_t all = ~((uint64_t)1 << (SIGTRAP - 1)), mask = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_BLOCK, &all, &mask, sizeof all);
    bool good = add_item(slot, &key, &quick);
    if (good)
        pm_store(slot->word_costs->quick[place_of(node->place, metric)], quick);
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
