/* Children of contexts: the quick table, where trampolines look too, the index of all, and the
 * limits of how many there may be. The index and the table are changed by single words, so a
 * handler may look for children at any point, and make some. */
#include "runtime/tree/children.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/tree/noun.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

struct pm_node *pm_root_make(struct pm_slot *slot, uint64_t sp, uint32_t flags, uint64_t tsc)
{
    struct pm_node *root = pm_node_claim(slot);
    if (root == NULL)
        return NULL;
    root->cached_child = &pm_sentinel;
    root->start_tsc = tsc;
    root->n_calls = 1;
    root->flags = flags;
    root->sp = sp;
    pm_barrier();
    root->noun = PM_RUN_NOUN_ROOT;
    return root;
}

/* Trampolines compute the same. A folded context has the place beside, where no trampoline looks
 * for it. */
static struct pm_node **hash_place(struct pm_node **hash, const struct pm_node *parent,
                                   uint32_t noun, uint32_t flags)
{
    uint32_t at = (uint32_t)((uintptr_t)parent >> 4) ^ (noun * 0x9e3779b1u >> 12 << 3);
    return hash + ((at & PM_HASH_MASK) / 8 ^ (flags & PM_RUN_NODE_FOLDED));
}

static bool is_child(const struct pm_node *node, const struct pm_node *parent, uint32_t noun,
                     uint32_t flags)
{
    return node != NULL && node->parent == parent && node->noun == noun &&
           (node->flags & PM_RUN_NODE_FOLDED) == (flags & PM_RUN_NODE_FOLDED);
}

void pm_hash_child(const struct pm_tls *t, struct pm_node *node)
{
    pm_store(*hash_place(t->hash, node->parent, node->noun, 0), node);
}

struct pm_node *pm_known_child(const struct pm_tls *t, const struct pm_node *parent, uint32_t noun)
{
    struct pm_node *node = t->hash != NULL ? pm_load(*hash_place(t->hash, parent, noun, 0)) : NULL;
    return is_child(node, parent, noun, 0) ? node : NULL;
}

/* --- the index --- */

enum { FIRST_INDEX_ENTRIES = 4096 };

static struct pmr_index *new_index(uint32_t n_entries)
{
    struct pmr_index *index =
        pm_private_memory(sizeof(struct pmr_index) + n_entries * sizeof(struct pm_node *));
    if (index != NULL)
        index->mask = n_entries - 1;
    return index;
}

/* Where this child is, or where it would be put. */
static uint32_t find_place(const struct pmr_index *index, const struct pm_node *parent,
                           uint32_t noun, uint32_t flags)
{
    uint64_t key = ((uint64_t)(uintptr_t)parent >> 6) * 0x9e3779b97f4a7c15u;
    key = (key ^ key >> 29 ^ ((uint64_t)noun << 1 | (flags & PM_RUN_NODE_FOLDED))) *
          0xc2b2ae3d27d4eb4fu;
    for (uint32_t at = (uint32_t)(key >> 32) & index->mask;; at = (at + 1) & index->mask) {
        const struct pm_node *node = pm_load(index->entries[at]);
        if (node == NULL || is_child(node, parent, noun, flags))
            return at;
    }
}

bool pm_index_open(struct pm_slot *slot)
{
    slot->index = new_index(FIRST_INDEX_ENTRIES);
    return slot->index != NULL;
}

void pm_index_clear(struct pm_slot *slot)
{
    slot->index->n = 0;
    for (uint32_t i = 0; i <= slot->index->mask; i++)
        slot->index->entries[i] = NULL;
}

static void put(struct pmr_index *index, struct pm_node *node)
{
    index->entries[find_place(index, node->parent, node->noun, node->flags)] = node;
    index->n++;
}

void pm_index_put(struct pm_slot *slot, struct pm_node *node)
{
    put(slot->index, node);
}

/* Signals are blocked, so that no handler adds to the old index while it is copied. The old one
 * stays: interrupted code may read it. */
static bool grow_index(struct pm_slot *slot, const struct pmr_index *old)
{
    uint64_t all = UINT64_MAX, before = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    bool good = true;
    if (slot->index == old) { /* else a handler has done it */
        struct pmr_index *new = old->mask < 1u << 30 ? new_index((old->mask + 1) * 2) : NULL;
        good = new != NULL;
        for (uint32_t i = 0; good && i <= old->mask; i++)
            if (old->entries[i] != NULL)
                put(new, old->entries[i]);
        if (good)
            pm_store(slot->index, new);
    }
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof all);
    return good;
}

static void add_to_children(struct pm_node *parent, struct pm_node *node)
{
    struct pm_node *first = pm_load(parent->first_child);
    do
        node->next_sibling = first;
    while (!__atomic_compare_exchange_n(&parent->first_child, &first, node, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
}

/* By a cause other contexts are active as well, and these are not looked for. */
static uint32_t terms_of(const struct pm_node *parent, const struct pm_probe *probe)
{
    const struct pmr_noun *noun = pm_noun_at(probe->noun);
    if (probe->kind == PM_RUN_CAUSE_ENTER || probe->kind == PM_RUN_CAUSE_START || noun == NULL)
        return PM_NODE_TERMS;
    return (parent->flags & PM_NODE_TERMS) | (uint32_t)noun->terms << PM_NODE_TERMS_SHIFT;
}

static struct pm_node *make_child(struct pm_slot *slot, struct pm_node *parent,
                                  const struct pm_probe *probe, uint32_t flags)
{
    struct pm_node *node = pm_node_claim(slot);
    if (node == NULL)
        return NULL;
    node->noun = probe->noun;
    node->parent = parent;
    node->parent_place = parent->place;
    node->depth = parent->depth + 1;
    node->cached_child = &pm_sentinel;
    node->flags = flags | terms_of(parent, probe) |
                  (pm_mode_is_timed(probe->mode) ? (uint32_t)PM_RUN_NODE_TIMED : 0);
    node->loop_depth = probe->loop_depth;
    node->set = probe->kind == PM_RUN_AMBIENT_SET ? probe->counter : parent->set;
    pm_barrier();
    node->kind = probe->kind;
    pm_add_shared(pm_process.n_contexts, 1);
    return node;
}

/* Looks for the child; makes one when there is none and a new one is allowed. NULL: none, and none
 * can be made. A handler may do the same at any point, and may have put another index in the place
 * of this one: then it is done again in that. */
struct pm_node *pm_child_of(struct pm_tls *t, struct pm_node *parent, const struct pm_probe *probe,
                            uint32_t flags, bool may_make)
{
    struct pm_slot *slot = t->slot;
    struct pm_node **place = hash_place(t->hash, parent, probe->noun, flags);
    struct pm_node *made = NULL, *node = pm_load(*place);
    if (is_child(node, parent, probe->noun, flags))
        return node;
    for (;;) {
        struct pmr_index *index = pm_load(slot->index);
        uint32_t at = find_place(index, parent, probe->noun, flags);
        node = pm_load(index->entries[at]);
        if (node != NULL && !is_child(node, parent, probe->noun, flags))
            continue; /* the place was free, a handler has put another there since */
        if (node == NULL) {
            if (!may_make)
                return NULL;
            if (index->n >= index->mask / 2 && grow_index(slot, index))
                continue;
            if (index->n >= index->mask - index->mask / 8)
                return NULL;
            if (made == NULL && (made = make_child(slot, parent, probe, flags)) == NULL)
                return NULL;
            if (!__atomic_compare_exchange_n(&index->entries[at], &node, made, false,
                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                continue;
            pm_add_shared(index->n, 1);
            if (pm_load(slot->index) != index)
                continue;
            node = made;
        }
        if (node == made)
            add_to_children(parent, made);
        else if (made != NULL)
            made->kind = 0; /* a handler's node is there already */
        pm_store(*place, node);
        return node;
    }
}

bool pm_may_have_context(const struct pm_node *parent)
{
    return parent->depth < pm_process.max_depth &&
           pm_load(pm_process.n_contexts) < pm_process.max_contexts &&
           !pm_load(pm_process.file.full);
}

/* Folded contexts, and twins of contexts that there are (ambient.c), may exceed the limit by a
 * quarter and some. */
bool pm_may_exceed(void)
{
    uint32_t limit = pm_process.max_contexts;
    return !pm_load(pm_process.file.full) &&
           pm_load(pm_process.n_contexts) < limit + limit / 4 + 4096;
}

void pm_say_limit(void)
{
    static bool said;
    if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED) || pm_load(pm_process.file.full))
        return;
    if (pm_load(pm_process.n_contexts) >= pm_process.max_contexts)
        pm_file_message(PM_RUN_MSG_LIMIT,
                        "new contexts are no longer told apart: --max-contexts is reached", NULL);
    else
        pm_file_message(
            PM_RUN_MSG_LIMIT,
            "deeper calls are counted without contexts of their own: --max-depth is reached", NULL);
}

struct pm_node *pm_reopen(struct pm_tls *t, struct pm_node *parent, const struct pm_node *like)
{
    struct pm_probe probe = {.noun = like->noun,
                             .kind = (uint8_t)like->kind,
                             .loop_depth = (uint8_t)like->loop_depth,
                             .mode = like->flags & PM_RUN_NODE_TIMED ? PM_RUN_MODE_EXACT
                                                                     : PM_RUN_MODE_ACTIVE};
    struct pm_node *node = pm_child_of(t, parent, &probe, 0, true);
    if (node == NULL)
        return NULL;
    pm_store(node->gone, like->gone);
    pm_store(node->start_tsc, 0);
    pm_store(node->sp, pm_load(like->sp));
    return node;
}
