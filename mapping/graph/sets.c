#include "sets.h"

#include "../base/str.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

bool pm_sets_init(struct pm_sets *sets)
{
    *sets = (struct pm_sets){.cap = 256, .cap_words = 1024, .table_size = 1024};
    sets->words = pm_alloc_array(sets->cap_words, sizeof *sets->words);
    sets->first = pm_alloc_array((size_t)sets->cap + 1, sizeof *sets->first);
    sets->table = pm_alloc_array(sets->table_size, sizeof *sets->table);
    if (sets->words && sets->first && sets->table && pm_sets_add(sets, NULL, 0) == 0)
        return true;
    pm_sets_release(sets);
    return false;
}

void pm_sets_release(struct pm_sets *sets)
{
    free(sets->words);
    free(sets->first);
    free(sets->table);
    *sets = (struct pm_sets){0};
}

static uint32_t hash_words(const uint32_t *words, size_t n)
{
    return n ? (uint32_t)XXH3_64bits(words, n * sizeof *words) : 0;
}

static bool grow_table(struct pm_sets *sets)
{
    uint32_t size = sets->table_size * 2;
    uint32_t *table = pm_alloc_array(size, sizeof *table);
    if (!table)
        return false;
    for (uint32_t i = 0; i < sets->n; i++) {
        uint32_t n;
        const uint32_t *words = pm_sets_members(sets, i, &n);
        uint32_t at = hash_words(words, n) & (size - 1);
        while (table[at])
            at = (at + 1) & (size - 1);
        table[at] = i + 1;
    }
    free(sets->table);
    sets->table = table;
    sets->table_size = size;
    return true;
}

static bool make_room(struct pm_sets *sets, size_t n)
{
    if (n > PM_SETS_MAX_WORDS - sets->n_words) {
        sets->at_limit = true;
        return false;
    }
    uint32_t cap_words = sets->cap_words;
    while (cap_words < sets->n_words + n)
        cap_words *= 2;
    if (cap_words != sets->cap_words) {
        uint32_t *words = pm_realloc_array(sets->words, cap_words, sizeof *words);
        if (!words)
            return false;
        sets->words = words;
        sets->cap_words = cap_words;
    }
    if (sets->n == sets->cap) {
        uint32_t *first = pm_realloc_array(sets->first, (size_t)sets->cap * 2 + 1, sizeof *first);
        if (!first)
            return false;
        sets->first = first;
        sets->cap *= 2;
    }
    return sets->n < sets->table_size / 2 || grow_table(sets);
}

uint32_t pm_sets_add(struct pm_sets *sets, const uint32_t *words, size_t n)
{
    uint32_t hash = hash_words(words, n), at = hash & (sets->table_size - 1);
    for (; sets->table[at]; at = (at + 1) & (sets->table_size - 1)) {
        uint32_t n_old;
        const uint32_t *old = pm_sets_members(sets, sets->table[at] - 1, &n_old);
        if (n_old == n && (n == 0 || !memcmp(old, words, n * sizeof *words)))
            return sets->table[at] - 1;
    }
    uint32_t size_before = sets->table_size;
    if (!make_room(sets, n))
        return PM_SETS_FAILED;
    if (sets->table_size != size_before)
        for (at = hash & (sets->table_size - 1); sets->table[at];)
            at = (at + 1) & (sets->table_size - 1);
    if (n)
        memcpy(sets->words + sets->n_words, words, n * sizeof *words);
    sets->first[sets->n] = sets->n_words;
    sets->n_words += (uint32_t)n;
    sets->table[at] = ++sets->n;
    sets->first[sets->n] = sets->n_words;
    return sets->n - 1;
}
