#include "contexts.h"

#include "collector.h"
#include "writer.h"

#include "mapping/base/map.h"

#include <stdlib.h>

enum { LEAST_SLOTS = 1 << 10, N_FOLLOWING = 1 << 18 }; /* 4 MiB, of which what is used is touched */

/* Processes of one program have mostly the same contexts in the same order: so the context that
 * was looked up behind this one the last time is looked at first. It lies beside, where each
 * place of the table is in memory that no cache holds. */
struct collect_following {
    struct collect_context_key key;
    uint32_t row; /* 0: none */
};

static bool is_same(const struct collect_context_key *a, const struct collect_context_key *b)
{
    return a->parent == b->parent && a->sentence == b->sentence && a->flags == b->flags;
}

/* The finaliser of SplitMix64, as in ../base/map.c: rows of parents and sentences are small
 * numbers, and flags are few. */
static uint32_t hash_of(const struct collect_context_key *key)
{
    uint64_t x = ((uint64_t)key->parent << 32 | key->sentence) + key->flags * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(x ^ x >> 31);
}

static uint32_t *find_slot(const struct collect_contexts *all,
                           const struct collect_context_key *key)
{
    uint32_t at = hash_of(key) & (all->n_slots - 1);
    while (all->slots[at] && !is_same(&all->keys[all->slots[at] - 1], key))
        at = (at + 1) & (all->n_slots - 1);
    return &all->slots[at];
}

/* Room for one more that is found again. */
static bool reserve(struct collect_contexts *all)
{
    if (all->n_found < all->n_slots / 2)
        return true;
    uint32_t n_slots = all->n_slots ? all->n_slots * 2 : LEAST_SLOTS, *old = all->slots;
    uint32_t *slots = n_slots ? pm_alloc_array(n_slots, sizeof *slots) : NULL, n_old = all->n_slots;
    if (!slots)
        return false;
    all->slots = slots;
    all->n_slots = n_slots;
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i])
            *find_slot(all, &all->keys[old[i] - 1]) = old[i];
    free(old);
    return true;
}

enum pm_status collect_new_context(struct collector *c, uint32_t parent, uint32_t sentence,
                                   unsigned flags, uint32_t *ret_context)
{
    struct collect_contexts *all = c->contexts;
    if (all->n >= INT32_MAX)
        return pm_error_set(c->err, PM_ERR_LIMIT, "more than %d contexts", INT32_MAX);
    struct collect_context_key *keys =
        pm_grow_array(all->keys, all->n, &all->cap, 1024, sizeof *keys);
    if (!keys)
        return collect_no_memory(c);
    all->keys = keys;
    keys[all->n] = (struct collect_context_key){parent, sentence, flags};
    *ret_context = ++all->n;
    struct collect_value values[] = {collect_integer(*ret_context), collect_integer_or_null(parent),
                                     collect_integer(sentence), collect_integer(flags)};
    return collect_add_row(c, TABLE_CONTEXTS, values);
}

uint32_t collect_find_context(const struct collector *c, uint32_t parent, uint32_t sentence,
                              unsigned flags)
{
    const struct collect_context_key key = {parent, sentence, flags};
    return c->contexts->n_slots ? *find_slot(c->contexts, &key) : 0;
}

enum pm_status collect_context(struct collector *c, uint32_t parent, uint32_t sentence,
                               unsigned flags, uint32_t *ret_context)
{
    struct collect_contexts *all = c->contexts;
    const struct collect_context_key key = {parent, sentence, flags};
    if (!all->following && !(all->following = pm_alloc_array(N_FOLLOWING, sizeof *all->following)))
        return collect_no_memory(c);
    struct collect_following *guess = &all->following[all->last % N_FOLLOWING];
    if (!guess->row || !is_same(&guess->key, &key))
        *guess = (struct collect_following){key, collect_find_context(c, parent, sentence, flags)};
    if (guess->row) {
        *ret_context = all->last = guess->row;
        return PM_OK;
    }
    if (!reserve(all))
        return collect_no_memory(c);
    uint32_t *slot = find_slot(all, &key);
    enum pm_status status = collect_new_context(c, parent, sentence, flags, ret_context);
    if (status != PM_OK)
        return status;
    *slot = *ret_context;
    all->n_found++;
    return pm_map_put(&all->of_sentence, sentence, *ret_context) ? PM_OK : collect_no_memory(c);
}

void collect_contexts_release(struct collector *c)
{
    free(c->contexts->keys);
    free(c->contexts->slots);
    free(c->contexts->following);
    pm_map_release(&c->contexts->of_sentence);
}
