/* What the entries of a function's late map name, each kept once. */
#include "map_sets.h"

#include <stdlib.h>

enum { FIRST_ITEMS = 16 };

/* Items by their hashes; the items lie in an array of their own. */
struct index {
    uint64_t *hashes; /* by number */
    uint32_t n, cap;
    uint32_t *slots; /* number + 1, 0 free; a power of two of them, at most half full */
    uint32_t n_slots;
};

/* A set: [first, first + n) of its members. */
struct spot_set {
    uint32_t first, n;
};

struct pm_map_sets {
    const struct pm_source_function *function;
    bool failed;
    struct index site_index, spot_index, object_index, spot_set_index, tuple_index;
    struct pm_map_site *sites;
    struct pm_map_spot *spots;
    struct pm_map_objects *objects; /* the first is empty, as of the sets of spots */
    struct pm_access *accesses;
    struct spot_set *spot_sets;
    int *members;
    struct pm_map_tuple *tuples;
    uint32_t *spots_of_tuple; /* by tuple: a set of spots */
    struct pm_map_also *also;
    uint32_t n_accesses, n_members, n_also;
    uint32_t sites_cap, spots_cap, objects_cap, accesses_cap, spot_sets_cap, members_cap,
        tuples_cap, spots_of_tuple_cap, also_cap;
};

/* Room for one more item behind n of an array of the sets. False: memory. */
#define HAS_ROOM(sets, array, n) \
    has_room((sets), (void **)&(sets)->array, (n), &(sets)->array##_cap, sizeof *(sets)->array)

static bool has_room(struct pm_map_sets *sets, void **array, uint32_t n, uint32_t *cap,
                     size_t item_bytes)
{
    void *larger = pm_grow_array(*array, n, cap, FIRST_ITEMS, item_bytes);
    if (!larger)
        sets->failed = true;
    else
        *array = larger;
    return larger != NULL;
}

/* --- hashes --- */

/* The upper bits of a product are the good ones (Knuth, TAOCP 3, 6.4). */
static uint64_t mix(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static uint64_t mix_place(uint64_t hash, const struct pm_place *place)
{
    hash = mix(hash, (uintptr_t)place->file);
    return mix(hash, (uint64_t)place->line << 32 | place->column);
}

static bool is_same_place(const struct pm_place *a, const struct pm_place *b)
{
    return a->line == b->line && a->column == b->column && a->file == b->file;
}

typedef bool is_equal(const struct pm_map_sets *sets, uint32_t number, const void *item);

static uint32_t *free_slot(const struct index *index, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (index->n_slots - 1);
    while (index->slots[at] != 0)
        at = (at + 1) & (index->n_slots - 1);
    return &index->slots[at];
}

/* The number of the item, or index->n. */
static uint32_t find(const struct pm_map_sets *sets, const struct index *index, uint64_t hash,
                     const void *item, is_equal *equal)
{
    uint32_t at = (uint32_t)hash & (index->n_slots - 1);
    if (index->n_slots == 0)
        return index->n;
    for (; index->slots[at] != 0; at = (at + 1) & (index->n_slots - 1)) {
        uint32_t number = index->slots[at] - 1;
        if (index->hashes[number] == hash && equal(sets, number, item))
            return number;
    }
    return index->n;
}

static bool grow_slots(struct index *index)
{
    uint32_t n_slots = index->n_slots != 0 ? index->n_slots * 2 : 2 * FIRST_ITEMS;
    uint32_t *slots = n_slots != 0 ? pm_alloc_array(n_slots, sizeof *slots) : NULL;
    if (!slots)
        return false;
    free(index->slots);
    index->slots = slots;
    index->n_slots = n_slots;
    for (uint32_t i = 0; i < index->n; i++)
        *free_slot(index, index->hashes[i]) = i + 1;
    return true;
}

/* One more item, whose number is the next one. False: memory. */
static bool append(struct pm_map_sets *sets, struct index *index, uint64_t hash)
{
    if ((index->n + 1) * 2 > index->n_slots && !grow_slots(index)) {
        sets->failed = true;
        return false;
    }
    if (!has_room(sets, (void **)&index->hashes, index->n, &index->cap, sizeof *index->hashes))
        return false;
    *free_slot(index, hash) = index->n + 1;
    index->hashes[index->n++] = hash;
    return true;
}

/* --- */

struct pm_map_sets *pm_map_sets_new(const struct pm_source_function *function)
{
    struct pm_map_sets *sets = pm_alloc(sizeof *sets);
    if (!sets)
        return NULL;
    sets->function = function;
    pm_map_sets_objects(sets, NULL, 0);
    pm_map_sets_spots(sets, NULL, 0);
    if (!sets->failed)
        return sets;
    pm_map_sets_free(sets);
    return NULL;
}

static void release(struct index *index)
{
    free(index->hashes);
    free(index->slots);
}

void pm_map_sets_free(struct pm_map_sets *sets)
{
    if (!sets)
        return;
    release(&sets->site_index);
    release(&sets->spot_index);
    release(&sets->object_index);
    release(&sets->spot_set_index);
    release(&sets->tuple_index);
    free(sets->sites);
    free(sets->spots);
    free(sets->objects);
    free(sets->accesses);
    free(sets->spot_sets);
    free(sets->members);
    free(sets->tuples);
    free(sets->spots_of_tuple);
    free(sets->also);
    free(sets);
}

bool pm_map_sets_failed(const struct pm_map_sets *sets)
{
    return sets->failed;
}

/* --- sites and spots --- */

static bool is_same_site(const struct pm_map_sets *sets, uint32_t number, const void *item)
{
    const struct pm_map_site *known = &sets->sites[number], *site = item;
    return known->parent == site->parent && known->function->id == site->function->id &&
           is_same_place(&known->call, &site->call);
}

int pm_map_sets_site(struct pm_map_sets *sets, int parent,
                     const struct pm_source_function *function, const struct pm_place *call)
{
    struct pm_map_site site = {parent, function, *call};
    uint64_t hash = mix_place(mix(mix(0, (uint64_t)parent), function->id), call);
    uint32_t n = sets->site_index.n;
    uint32_t number = find(sets, &sets->site_index, hash, &site, is_same_site);
    if (number < n)
        return (int)number;
    if (!HAS_ROOM(sets, sites, n) || !append(sets, &sets->site_index, hash))
        return -1;
    sets->sites[n] = site;
    return (int)n;
}

const struct pm_source_function *pm_map_sets_text(const struct pm_map_sets *sets, int site)
{
    return site >= 0 ? sets->sites[site].function : sets->function;
}

static bool is_same_spot(const struct pm_map_sets *sets, uint32_t number, const void *item)
{
    const struct pm_map_spot *known = &sets->spots[number], *spot = item;
    return known->site == spot->site && is_same_place(&known->place, &spot->place);
}

int pm_map_sets_spot(struct pm_map_sets *sets, const struct pm_map_spot *spot)
{
    uint64_t hash = mix_place(mix(0, (uint64_t)spot->site), &spot->place);
    uint32_t n = sets->spot_index.n;
    uint32_t number = find(sets, &sets->spot_index, hash, spot, is_same_spot);
    if (number < n)
        return (int)number;
    if (!HAS_ROOM(sets, spots, n) || !append(sets, &sets->spot_index, hash))
        return -1;
    sets->spots[n] = *spot;
    return (int)n;
}

const struct pm_map_spot *pm_map_sets_spot_at(const struct pm_map_sets *sets, int spot)
{
    return &sets->spots[spot];
}

/* --- sets --- */

struct given_objects {
    const struct pm_access *accesses;
    size_t n;
};

static bool is_same_objects(const struct pm_map_sets *sets, uint32_t number, const void *item)
{
    const struct given_objects *given = item;
    const struct pm_access *known = &sets->accesses[sets->objects[number].first];
    if (sets->objects[number].n != given->n)
        return false;
    for (size_t i = 0; i < given->n; i++)
        if (known[i].noun != given->accesses[i].noun ||
            known[i].access != given->accesses[i].access)
            return false;
    return true;
}

uint32_t pm_map_sets_objects(struct pm_map_sets *sets, struct pm_access *accesses, size_t n)
{
    struct given_objects given = {accesses, pm_accesses_sort(accesses, n)};
    uint64_t hash = given.n;
    for (size_t i = 0; i < given.n; i++)
        hash = mix(mix(hash, accesses[i].noun), accesses[i].access);
    uint32_t n_sets = sets->object_index.n, first = sets->n_accesses;
    uint32_t number = find(sets, &sets->object_index, hash, &given, is_same_objects);
    if (number < n_sets)
        return number;
    for (size_t i = 0; i < given.n; i++) {
        if (!HAS_ROOM(sets, accesses, sets->n_accesses))
            return 0;
        sets->accesses[sets->n_accesses++] = accesses[i];
    }
    if (!HAS_ROOM(sets, objects, n_sets) || !append(sets, &sets->object_index, hash))
        return 0;
    sets->objects[n_sets] = (struct pm_map_objects){first, (uint32_t)given.n};
    return n_sets;
}

struct given_spots {
    const int *spots;
    size_t n;
};

static bool is_same_spots(const struct pm_map_sets *sets, uint32_t number, const void *item)
{
    const struct given_spots *given = item;
    const struct spot_set *known = &sets->spot_sets[number];
    return known->n == given->n &&
           (known->n == 0 ||
            memcmp(&sets->members[known->first], given->spots, known->n * sizeof(int)) == 0);
}

static int compare_numbers(const void *a, const void *b)
{
    int one = *(const int *)a, other = *(const int *)b;
    return one < other ? -1 : one > other;
}

static size_t sort_numbers(int *numbers, size_t n)
{
    size_t kept = 0;
    if (n > 1)
        qsort(numbers, n, sizeof *numbers, compare_numbers);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || numbers[kept - 1] != numbers[i])
            numbers[kept++] = numbers[i];
    return kept;
}

uint32_t pm_map_sets_spots(struct pm_map_sets *sets, int *spots, size_t n)
{
    struct given_spots given = {spots, sort_numbers(spots, n)};
    uint64_t hash = given.n;
    for (size_t i = 0; i < given.n; i++)
        hash = mix(hash, (uint64_t)spots[i]);
    uint32_t n_sets = sets->spot_set_index.n, first = sets->n_members;
    uint32_t number = find(sets, &sets->spot_set_index, hash, &given, is_same_spots);
    if (number < n_sets)
        return number;
    for (size_t i = 0; i < given.n; i++) {
        if (!HAS_ROOM(sets, members, sets->n_members))
            return 0;
        sets->members[sets->n_members++] = spots[i];
    }
    if (!HAS_ROOM(sets, spot_sets, n_sets) || !append(sets, &sets->spot_set_index, hash))
        return 0;
    sets->spot_sets[n_sets] = (struct spot_set){first, (uint32_t)given.n};
    return n_sets;
}

/* --- tuples --- */

struct given_tuple {
    const struct pm_map_tuple *tuple;
    uint32_t spots;
};

static bool is_same_tuple(const struct pm_map_sets *sets, uint32_t number, const void *item)
{
    const struct given_tuple *given = item;
    const struct pm_map_tuple *known = &sets->tuples[number], *tuple = given->tuple;
    return known->kind == tuple->kind && known->unnamed == tuple->unnamed &&
           known->site == tuple->site && known->loop == tuple->loop &&
           known->objects == tuple->objects && sets->spots_of_tuple[number] == given->spots &&
           is_same_place(&known->place, &tuple->place);
}

static uint64_t hash_tuple(const struct pm_map_tuple *tuple, uint32_t spots)
{
    uint64_t hash = mix((uint64_t)tuple->kind << 1 | tuple->unnamed, (uint64_t)tuple->site);
    hash = mix(mix(hash, tuple->loop), (uint64_t)tuple->objects << 32 | spots);
    return mix_place(hash, &tuple->place);
}

int pm_map_sets_tuple(struct pm_map_sets *sets, const struct pm_map_tuple *tuple, uint32_t spots,
                      bool *ret_is_new)
{
    struct given_tuple given = {tuple, spots};
    uint64_t hash = hash_tuple(tuple, spots);
    uint32_t n = sets->tuple_index.n;
    uint32_t number = find(sets, &sets->tuple_index, hash, &given, is_same_tuple);
    *ret_is_new = number == n;
    if (number < n)
        return (int)number;
    if (!HAS_ROOM(sets, tuples, n) || !HAS_ROOM(sets, spots_of_tuple, n) ||
        !append(sets, &sets->tuple_index, hash)) {
        *ret_is_new = false;
        return 0;
    }
    sets->tuples[n] = *tuple;
    sets->tuples[n].first_also = sets->n_also;
    sets->tuples[n].n_also = 0;
    sets->spots_of_tuple[n] = spots;
    return (int)n;
}

void pm_map_sets_also(struct pm_map_sets *sets, const struct pm_map_also *also)
{
    if (!HAS_ROOM(sets, also, sets->n_also))
        return;
    sets->also[sets->n_also++] = *also;
    sets->tuples[sets->tuple_index.n - 1].n_also++;
}

void pm_map_sets_also_spots(struct pm_map_sets *sets, uint32_t spots, enum pm_map_reason reason)
{
    struct spot_set set = sets->spot_sets[spots];
    for (uint32_t i = 0; i < set.n; i++) {
        const struct pm_map_spot *spot = &sets->spots[sets->members[set.first + i]];
        struct pm_map_also also = {pm_map_sets_text(sets, spot->site), spot->place, reason, true};
        pm_map_sets_also(sets, &also);
    }
}

void pm_map_sets_also_folded(struct pm_map_sets *sets, const struct pm_place *place,
                             const struct pm_statements *statements,
                             const struct pm_source_function *folded,
                             const struct pm_statements *folded_statements)
{
    int at = pm_statement_at(statements, place);
    if (at < 0 || folded_statements->n != statements->n)
        return;
    const struct pm_range *range = &folded_statements->list[at];
    const char *shown = range->file == folded->place.file ? folded->place.shown : range->file;
    struct pm_map_also also = {
        folded, {range->file, shown, range->first.line, range->first.column}, PM_MAP_FOLDED, false};
    pm_map_sets_also(sets, &also);
}

struct pm_map_function pm_map_sets_function(const struct pm_map_sets *sets, pm_id symbol)
{
    return (struct pm_map_function){
        .symbol = symbol,
        .function = sets->function,
        .sites = sets->sites,
        .n_sites = sets->site_index.n,
        .accesses = sets->accesses,
        .objects = sets->objects,
        .also = sets->also,
        .tuples = sets->tuples,
        .n_tuples = sets->tuple_index.n,
    };
}
