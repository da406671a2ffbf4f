#include "arena.h"

#include "str.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { BLOCK_BYTES = 1 << 16, ALIGNMENT = 16 };

struct pm_arena_block {
    struct pm_arena_block *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char data[];
};

/* Blocks start small, so that the many little arenas cost little, and double up to BLOCK_BYTES. */
static struct pm_arena_block *add_block(struct pm_arena *arena, size_t size_bytes)
{
    size_t size = arena->blocks ? arena->blocks->size * 2 : 1024;
    if (size > BLOCK_BYTES)
        size = BLOCK_BYTES;
    if (size < size_bytes)
        size = size_bytes;
    if (size > SIZE_MAX - sizeof(struct pm_arena_block))
        return NULL;
    struct pm_arena_block *block = pm_alloc(sizeof *block + size);
    if (!block)
        return NULL;
    block->size = size;
    arena->total_bytes += size;
    /* What is larger than a block goes behind the current one, which still has room. */
    if (arena->blocks && size_bytes > BLOCK_BYTES / 4) {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    } else {
        block->next = arena->blocks;
        arena->blocks = block;
    }
    return block;
}

/* Memory of any alignment that divides 16; blocks are born zeroed. */
static void *take(struct pm_arena *arena, size_t size_bytes, size_t alignment)
{
    struct pm_arena_block *block = arena->blocks;
    if (block) {
        size_t at = (block->used + alignment - 1) & ~(alignment - 1);
        if (at <= block->size && size_bytes <= block->size - at) {
            block->used = at + size_bytes;
            return block->data + at;
        }
    }
    block = add_block(arena, size_bytes);
    if (!block)
        return NULL;
    block->used = size_bytes;
    return block->data;
}

void *pm_arena_alloc(struct pm_arena *arena, size_t size_bytes)
{
    return take(arena, size_bytes, ALIGNMENT);
}

char *pm_arena_strndup(struct pm_arena *arena, const char *p, size_t len)
{
    char *copy = len < SIZE_MAX ? take(arena, len + 1, 1) : NULL;
    if (copy && len)
        memcpy(copy, p, len);
    return copy;
}

void pm_arena_release(struct pm_arena *arena)
{
    struct pm_arena_block *next;
    for (struct pm_arena_block *block = arena->blocks; block; block = next) {
        next = block->next;
        free(block);
    }
    *arena = (struct pm_arena){0};
}

/* --- interned strings: open addressing, at most 3/4 full --- */

struct slot {
    const char *p; /* NULL: free */
    size_t len;
    uint64_t hash;
};

struct pm_intern {
    struct pm_arena arena;
    struct slot *slots;
    size_t n, size; /* size is a power of two */
};

struct pm_intern *pm_intern_new(void)
{
    struct pm_intern *set = pm_alloc(sizeof *set);
    if (!set)
        return NULL;
    set->size = 256;
    set->slots = pm_alloc_array(set->size, sizeof *set->slots);
    if (!set->slots) {
        free(set);
        return NULL;
    }
    return set;
}

void pm_intern_free(struct pm_intern *set)
{
    if (!set)
        return;
    pm_arena_release(&set->arena);
    free(set->slots);
    free(set);
}

static struct slot *find(struct slot *slots, size_t size, const char *p, size_t len, uint64_t hash)
{
    size_t at = hash & (size - 1);
    while (slots[at].p && !(slots[at].hash == hash && slots[at].len == len &&
                            (len == 0 || !memcmp(slots[at].p, p, len))))
        at = (at + 1) & (size - 1);
    return &slots[at];
}

static bool grow(struct pm_intern *set)
{
    struct slot *slots = pm_alloc_array(set->size * 2, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < set->size; i++) {
        const struct slot *old = &set->slots[i];
        if (old->p)
            *find(slots, set->size * 2, old->p, old->len, old->hash) = *old;
    }
    free(set->slots);
    set->slots = slots;
    set->size *= 2;
    return true;
}

const char *pm_intern_add(struct pm_intern *set, const char *p, size_t len)
{
    uint64_t hash = XXH3_64bits(p, len);
    struct slot *slot = find(set->slots, set->size, p, len, hash);
    if (slot->p)
        return slot->p;
    if (set->n >= set->size / 4 * 3) {
        if (!grow(set))
            return NULL;
        slot = find(set->slots, set->size, p, len, hash);
    }
    const char *copy = pm_arena_strndup(&set->arena, p, len);
    if (!copy)
        return NULL;
    *slot = (struct slot){copy, len, hash};
    set->n++;
    return copy;
}
