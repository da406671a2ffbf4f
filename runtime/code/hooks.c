/* Portable mode: no sleds; the code calls through a pointer in its object's __perfmap_hooks, which
 * is filled in here. What nouns an object has is learnt from its events: they are appended to an
 * OBJECT chunk, and to further chunks of the same path when it is full. An event carries no object,
 * so each object gets an entry function of its own; objects beyond the last share it.
 */
#include "runtime/code/hooks.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/tree.h"
#include "runtime/code/modes.h"
#include "runtime/code/scan.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
    MAX_GROUPS = 16,
    NOUNS_PER_CHUNK = 1024,
    TABLE_ENTRIES = 1 << 17,
    MAX_NOUNS = TABLE_ENTRIES / 2,
};

struct entry {
    uint64_t id;
    uint32_t noun, counter;
    uint16_t bank;
};

/* One object and its continuations. */
static struct group {
    struct pm_object *last; /* nouns are appended here */
    struct stat info;
    struct entry **table; /* by id; filled by compare-and-swap */
    struct entry *entries;
    uint32_t n_entries;
} groups[MAX_GROUPS];
static uint32_t n_groups;

static struct pm_object *continue_object(struct group *g, struct pm_object *full)
{
    struct pm_object *next = pm_private_memory(sizeof *next);
    if (next == NULL)
        return NULL;
    memcpy(next, full, sizeof *next);
    if (!pm_object_record(next, &g->info, NULL, 0, NOUNS_PER_CHUNK)) {
        pm_sys(SYS_munmap, next, sizeof *next);
        return NULL;
    }
    pm_store(g->last, next);
    return next;
}

static bool append_noun(struct group *g, unsigned kind, struct entry *entry)
{
    for (;;) {
        struct pm_object *o = pm_load(g->last);
        uint64_t n = pm_load(o->chunk->chunk.n_items);
        while (n < NOUNS_PER_CHUNK) {
            if (!__atomic_compare_exchange_n(&o->chunk->chunk.n_items, &n, n + 1, false,
                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                continue;
            struct pm_run_noun *noun =
                (struct pm_run_noun *)((char *)o->chunk + o->chunk->nouns_offset) + n;
            noun->kind = kind;
            noun->id = entry->id;
            pm_modes_begin(o, (uint32_t)n, noun, 1);
            entry->noun = o->first_noun + (uint32_t)n;
            entry->counter = (uint32_t)n;
            entry->bank = o->bank;
            return true;
        }
        if (continue_object(g, o) == NULL)
            return false;
    }
}

/* NULL: unknown and cannot be made. Two threads that meet a new id at once make two nouns; readers
 * add up equal ids. */
static const struct entry *entry_of(struct group *g, uint64_t id, unsigned kind)
{
    uint32_t at = (uint32_t)(id * 0x9e3779b97f4a7c15u >> 40) % TABLE_ENTRIES;
    struct entry *made = NULL;
    for (;; at = (at + 1) % TABLE_ENTRIES) {
        struct entry *e = __atomic_load_n(&g->table[at], __ATOMIC_ACQUIRE);
        if (e == NULL) {
            if (made == NULL) {
                if (kind != PM_SLED_ENTRY && kind != PM_SLED_LOOP_ENTER)
                    return NULL;
                uint32_t i = pm_add_shared(g->n_entries, 1);
                if (i >= MAX_NOUNS) {
                    pm_store(g->n_entries, MAX_NOUNS);
                    return NULL;
                }
                made = &g->entries[i];
                made->id = id;
                if (!append_noun(g, kind, made))
                    return NULL;
            }
            if (__atomic_compare_exchange_n(&g->table[at], &e, made, false, __ATOMIC_RELEASE,
                                            __ATOMIC_ACQUIRE))
                return made;
        }
        if (e->id == id)
            return e;
    }
}

static unsigned mode_of(uint32_t noun)
{
    const struct pmr_noun *n = pm_noun_at(noun);
    return n != NULL ? pm_load(n->mode) : pm_process.mode;
}

static void portable_event(struct group *g, unsigned kind, uint64_t id, const void *frame,
                           unsigned depth)
{
    if (pm_unlikely(!*pm_process.alive_mark))
        pm_fork_child();
    if (pm_process.file.header == NULL)
        return;
    bool loop = kind == PM_SLED_LOOP_ENTER || kind == PM_SLED_LOOP_LEAVE;
    bool enters = kind == PM_SLED_ENTRY || kind == PM_SLED_LOOP_ENTER;
    const struct entry *e = entry_of(g, id, kind);
    unsigned mode = e != NULL ? mode_of(e->noun) : pm_process.mode;
    if (e == NULL || (mode == PM_RUN_MODE_COUNT && e->bank >= PM_MAX_BANKS)) {
        if (enters)
            pm_add_shared(pm_process.file.header->n_lost_contexts, 1);
        return;
    }
    if (mode == PM_RUN_MODE_OFF || (mode == PM_RUN_MODE_COUNT && !enters))
        return;
    depth = loop || kind == PM_SLED_LAND ? depth & PM_SLED_DEPTH_MASK : 0;
    if (loop && depth == 0)
        depth = 1;
    struct pm_probe probe = {.mode = (uint8_t)mode,
                             .noun = e->noun,
                             .kind = (uint8_t)kind,
                             .loop_depth = (uint8_t)depth,
                             .bank = e->bank,
                             .counter = e->counter};
    pm_slow(&probe, (uint64_t)frame, pm_mode_is_timed(mode) ? pm_tsc() : 0);
}

#define EVENT(n)                                                                         \
    static void event_##n(unsigned kind, uint64_t id, const void *frame, unsigned depth) \
    {                                                                                    \
        portable_event(&groups[n], kind, id, frame, depth);                              \
    }
#define EACH(x) \
    x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15)
EACH(EVENT)
#define NAME(n) event_##n,
static pm_hook_fn *const events[MAX_GROUPS] = {EACH(NAME)};

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* An object that has sleds too (translation units compiled with different options) gets another
 * OBJECT chunk for its hooks. */
static int group_of(struct pm_object *object, const struct stat *info)
{
    for (uint32_t i = 0; i < n_groups; i++)
        if (is_same_file(&groups[i].info, info))
            return (int)i; /* loaded again */
    if (n_groups == MAX_GROUPS)
        return MAX_GROUPS - 1;
    if (!object->portable) {
        struct pm_object *other = pm_private_memory(sizeof *other);
        if (other == NULL)
            return -1;
        *other = *object;
        other->portable = true;
        other->sleds = NULL;
        other->n_sleds = other->n_bad = 0;
        object = other;
    }
    struct group *g = &groups[n_groups];
    g->info = *info;
    g->last = object;
    g->table = pm_private_memory(TABLE_ENTRIES * sizeof *g->table);
    g->entries = pm_private_memory(MAX_NOUNS * sizeof *g->entries);
    if (g->table == NULL || g->entries == NULL ||
        !pm_object_record(object, info, NULL, 0, NOUNS_PER_CHUNK))
        return -1;
    return (int)n_groups++;
}

void pm_hooks_open(struct pm_object *object, const struct stat *info, uintptr_t section,
                   size_t bytes, bool first)
{
    static int group;
    if (first)
        group = group_of(object, info);
    if (group < 0)
        return;
    bool known =
        pm_hooks_fill(section, bytes, pm_process.mode != PM_RUN_MODE_OFF ? events[group] : NULL);
    struct pm_run_header *h = pm_process.file.header;
    pm_store(h->flags, h->flags | PM_RUN_FLAG_PORTABLE);
    if (!known)
        pm_file_message(PM_RUN_MSG_BAD_SLEDS, "portable hooks of another version: ", object->path);
}
