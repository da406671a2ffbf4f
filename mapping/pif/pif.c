#include "pif_model.h"

#include <math.h>
#include <stdlib.h>

/* --- id -> index --- */

/* Ids are hashes, but those of a damaged file need not be: the multiplication spreads them (Knuth,
 * TAOCP 3, 6.4). */
static size_t slot_of(const struct pif_map *map, uint64_t key)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> map->shift);
}

uint32_t pif_map_get(const struct pif_map *map, uint64_t key)
{
    if (map->size == 0)
        return PIF_NONE;
    for (size_t at = slot_of(map, key);; at = (at + 1) & (map->size - 1)) {
        if (!map->slots[at].value_plus_2)
            return PIF_NONE;
        if (map->slots[at].key == key)
            return map->slots[at].value_plus_2 - 2;
    }
}

static void put(struct pif_map *map, uint64_t key, uint32_t value_plus_2)
{
    size_t at = slot_of(map, key);
    while (map->slots[at].value_plus_2 && map->slots[at].key != key)
        at = (at + 1) & (map->size - 1);
    map->n += !map->slots[at].value_plus_2;
    map->slots[at] = (struct pif_map_slot){key, value_plus_2};
}

bool pif_map_put(struct pif_map *map, uint64_t key, uint32_t value)
{
    if (map->n * 2 >= map->size) {
        struct pif_map larger = {.size = map->size ? map->size * 2 : 64};
        larger.shift = 64 - (unsigned)__builtin_ctzll(larger.size);
        larger.slots = pm_alloc_array(larger.size, sizeof *larger.slots);
        if (!larger.slots)
            return false;
        for (size_t i = 0; i < map->size; i++)
            if (map->slots[i].value_plus_2)
                put(&larger, map->slots[i].key, map->slots[i].value_plus_2);
        free(map->slots);
        *map = larger;
    }
    put(map, key, value + 2);
    return true;
}

void pif_map_release(struct pif_map *map)
{
    free(map->slots);
    *map = (struct pif_map){0};
}

/* --- the set --- */

struct pm_pif *pm_pif_new(void)
{
    struct pm_pif *pif = pm_alloc(sizeof *pif);
    if (pif)
        pif->strings = pm_intern_new();
    if (pif && !pif->strings) {
        free(pif);
        pif = NULL;
    }
    return pif;
}

void pm_pif_free(struct pm_pif *pif)
{
    if (!pif)
        return;
    pif_map_release(&pif->noun_by_id);
    pif_map_release(&pif->verb_by_id);
    pif_map_release(&pif->noun_by_name);
    pif_map_release(&pif->verb_by_name);
    pif_map_release(&pif->sentence_by_hash);
    pif_map_release(&pif->mapping_by_pair);
    free(pif->nouns.items);
    free(pif->verbs.items);
    free(pif->levels.items);
    free(pif->attributes.items);
    free(pif->sentences.items);
    free(pif->sentence_nouns.items);
    free(pif->mappings.items);
    free(pif->raw.items);
    free(pif->order.items);
    pm_intern_free(pif->strings);
    free(pif);
}

bool pif_grow(struct pm_pif *pif, void *items_field, size_t n, size_t *cap, size_t item_bytes)
{
    if (pif->failed)
        return false;
    if (n < *cap)
        return true;
    /* Indices are 32 bits, and PIF_NONE is not one. */
    size_t larger = *cap ? *cap * 2 : 16;
    void *old, *items = NULL;
    memcpy(&old, items_field, sizeof old);
    if (larger < PIF_NONE)
        items = pm_realloc_array(old, larger, item_bytes);
    if (!items) {
        pif->failed = true;
        return false;
    }
    memcpy(items_field, &items, sizeof items);
    *cap = larger;
    return true;
}

static bool map_put(struct pm_pif *pif, struct pif_map *map, uint64_t key, uint32_t value)
{
    if (!pif->failed && !pif_map_put(map, key, value))
        pif->failed = true;
    return !pif->failed;
}

const char *pif_intern(struct pm_pif *pif, struct pm_str text)
{
    const char *copy = pif->failed ? NULL : pm_intern_add(pif->strings, text.p, text.len);
    if (!copy)
        pif->failed = true;
    return copy;
}

const char *pif_intern_z(struct pm_pif *pif, const char *zero_ended)
{
    return zero_ended && *zero_ended ? pif_intern(pif, pm_str_of(zero_ended)) : NULL;
}

static uint64_t key_of(const char *interned)
{
    return (uint64_t)(uintptr_t)interned;
}

bool pm_pif_failed(const struct pm_pif *pif)
{
    return pif->failed;
}

void pm_pif_set_producer(struct pm_pif *pif, const char *producer)
{
    pif->producer = pif_intern_z(pif, producer);
}

const char *pm_pif_nth_record(const struct pm_pif *pif, size_t n)
{
    return n < pif->raw.n ? pif->raw.items[n] : NULL;
}

const char *pm_pif_producer(const struct pm_pif *pif)
{
    return pif->producer ? pif->producer : "";
}

static pm_id name_id(const char *what, const char *level, const char *name)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, what);
    pm_id_hash_string(&hash, level ? level : "");
    pm_id_hash_string(&hash, name ? name : "");
    return pm_id_hash_done(&hash);
}

pm_id pm_pif_name_id(const char *level, const char *name)
{
    return name_id("name", level, name);
}

pm_id pm_pif_verb_id(const char *level, const char *name)
{
    return name_id("verb", level, name);
}

/* --- nouns --- */

static void fill(struct pm_pif *pif, const char **have, const char *stated)
{
    if (!*have)
        *have = pif_intern_z(pif, stated);
}

/* What was not stated yet; name and level are the caller's. */
static void fill_noun(struct pm_pif *pif, struct pm_pif_noun *have,
                      const struct pm_pif_noun *stated)
{
    fill(pif, &have->kind, stated->kind);
    fill(pif, &have->description, stated->description);
    fill(pif, &have->type, stated->type);
    fill(pif, &have->linkage, stated->linkage);
    fill(pif, &have->file, stated->file);
    fill(pif, &have->address, stated->address);
    if (!have->parent)
        have->parent = stated->parent;
    if (!have->line)
        have->line = stated->line;
    if (!have->column)
        have->column = stated->column;
    if (!have->end_line)
        have->end_line = stated->end_line;
}

static bool link_noun_name(struct pm_pif *pif, uint32_t index)
{
    struct pif_noun *item = &pif->nouns.items[index];
    item->next_same_name = pif_map_get(&pif->noun_by_name, key_of(item->noun.name));
    return map_put(pif, &pif->noun_by_name, key_of(item->noun.name), index);
}

static void unlink_noun_name(struct pm_pif *pif, uint32_t index)
{
    struct pif_noun *items = pif->nouns.items;
    uint32_t *at = NULL, head = pif_map_get(&pif->noun_by_name, key_of(items[index].noun.name));
    if (head == index) {
        /* A chain that became empty keeps its key with the index of no noun. */
        map_put(pif, &pif->noun_by_name, key_of(items[index].noun.name),
                items[index].next_same_name);
        return;
    }
    for (at = &items[head].next_same_name; *at != index; at = &items[*at].next_same_name)
        ;
    *at = items[index].next_same_name;
}

/* A noun that was only mentioned takes name and level of its record. */
static void rename_noun(struct pm_pif *pif, uint32_t index, const char *level, const char *name)
{
    struct pm_pif_noun *have = &pif->nouns.items[index].noun;
    if (have->name != name) {
        unlink_noun_name(pif, index);
        have->name = name;
        link_noun_name(pif, index);
    }
    have->level = level;
}

uint32_t pif_add_noun(struct pm_pif *pif, const struct pm_pif_noun *noun, bool declared)
{
    pm_id id = noun->id ? noun->id : pm_pif_name_id(noun->level, noun->name);
    uint32_t index = pif_map_get(&pif->noun_by_id, id);
    if (index != PIF_NONE && (pif->nouns.items[index].declared || !declared)) {
        fill_noun(pif, &pif->nouns.items[index].noun, noun); /* it keeps its name */
        return pif->failed ? PIF_NONE : index;
    }
    const char *level = pif_intern(pif, pm_str_of(noun->level ? noun->level : ""));
    const char *name = pif_intern(pif, pm_str_of(noun->name ? noun->name : ""));
    if (pif->failed)
        return PIF_NONE;
    if (index == PIF_NONE) {
        index = (uint32_t)pif->nouns.n;
        struct pif_noun item = {.noun = {.id = id, .name = name, .level = level},
                                .first_attribute = PIF_NONE,
                                .last_attribute = PIF_NONE};
        if (!PIF_PUSH(pif, &pif->nouns, item) || !map_put(pif, &pif->noun_by_id, id, index) ||
            !link_noun_name(pif, index))
            return PIF_NONE;
    } else {
        rename_noun(pif, index, level, name);
    }
    pif->nouns.items[index].declared |= declared;
    fill_noun(pif, &pif->nouns.items[index].noun, noun);
    return pif->failed ? PIF_NONE : index;
}

uint32_t pif_mention_noun(struct pm_pif *pif, pm_id id, const char *level, const char *name)
{
    uint32_t index = id ? pif_map_get(&pif->noun_by_id, id) : PIF_NONE;
    return index != PIF_NONE
               ? index
               : pif_add_noun(pif, &(struct pm_pif_noun){.id = id, .level = level, .name = name},
                              false);
}

pm_id pm_pif_noun(struct pm_pif *pif, const struct pm_pif_noun *noun)
{
    pm_id id = noun->id ? noun->id : pm_pif_name_id(noun->level, noun->name);
    uint32_t known = pif_map_get(&pif->noun_by_id, id);
    bool is_new = known == PIF_NONE || !pif->nouns.items[known].declared;
    uint32_t index = pif_add_noun(pif, noun, true);
    if (index == PIF_NONE ||
        (is_new && !PIF_PUSH(pif, &pif->order, (struct pif_order){PIF_ORDER_NOUN, index})))
        return 0;
    return pif->nouns.items[index].noun.id;
}

bool pif_key_is_valid(struct pm_str key)
{
    if (key.len == 0 || key.p[key.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-' || c == '.' || c == ' ')))
            return false;
    }
    return true;
}

bool pif_key_is_own(struct pm_str key)
{
    static const char *const own[] = {"name", "abstraction", "description", "kind",     "parent",
                                      "file", "line",        "column",      "end_line", "type",
                                      "id",   "linkage",     "address"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (pm_str_is(key, own[i]))
            return true;
    return false;
}

void pm_pif_noun_attribute(struct pm_pif *pif, pm_id noun, const char *key, const char *value)
{
    uint32_t index = pif_map_get(&pif->noun_by_id, noun);
    if (index == PIF_NONE || !pif_key_is_valid(pm_str_of(key)) || pif_key_is_own(pm_str_of(key)))
        return;
    key = pif_intern_z(pif, key);
    value = pif_intern(pif, pm_str_of(value ? value : ""));
    if (pif->failed)
        return;
    struct pif_noun *item = &pif->nouns.items[index];
    for (uint32_t at = item->first_attribute; at != PIF_NONE; at = pif->attributes.items[at].next)
        if (pif->attributes.items[at].key == key && pif->attributes.items[at].value == value)
            return;
    uint32_t added = (uint32_t)pif->attributes.n;
    if (!PIF_PUSH(pif, &pif->attributes, (struct pif_attribute){key, value, PIF_NONE}))
        return;
    if (item->last_attribute == PIF_NONE)
        item->first_attribute = added;
    else
        pif->attributes.items[item->last_attribute].next = added;
    item->last_attribute = added;
}

/* --- verbs and levels --- */

static bool link_verb_name(struct pm_pif *pif, uint32_t index)
{
    struct pif_verb *item = &pif->verbs.items[index];
    item->next_same_name = pif_map_get(&pif->verb_by_name, key_of(item->verb.name));
    return map_put(pif, &pif->verb_by_name, key_of(item->verb.name), index);
}

uint32_t pif_add_verb(struct pm_pif *pif, const struct pm_pif_verb *verb, bool declared)
{
    const char *level = pif_intern(pif, pm_str_of(verb->level ? verb->level : ""));
    const char *name = pif_intern(pif, pm_str_of(verb->name ? verb->name : ""));
    if (pif->failed)
        return PIF_NONE;
    pm_id id = verb->id ? verb->id : pm_pif_verb_id(level, name);
    uint32_t index = pif_map_get(&pif->verb_by_id, id);
    if (index == PIF_NONE) {
        index = (uint32_t)pif->verbs.n;
        struct pif_verb item = {.verb = {.id = id, .name = name, .level = level}};
        if (!PIF_PUSH(pif, &pif->verbs, item) || !map_put(pif, &pif->verb_by_id, id, index) ||
            !link_verb_name(pif, index))
            return PIF_NONE;
    }
    pif->verbs.items[index].declared |= declared;
    fill(pif, &pif->verbs.items[index].verb.description, verb->description);
    return pif->failed ? PIF_NONE : index;
}

uint32_t pif_mention_verb(struct pm_pif *pif, pm_id id, const char *level, const char *name)
{
    uint32_t index = id ? pif_map_get(&pif->verb_by_id, id) : PIF_NONE;
    return index != PIF_NONE
               ? index
               : pif_add_verb(pif, &(struct pm_pif_verb){.id = id, .level = level, .name = name},
                              false);
}

pm_id pm_pif_verb(struct pm_pif *pif, const struct pm_pif_verb *verb)
{
    pm_id id = verb->id ? verb->id : pm_pif_verb_id(verb->level, verb->name);
    uint32_t known = pif_map_get(&pif->verb_by_id, id);
    bool is_new = known == PIF_NONE || !pif->verbs.items[known].declared;
    uint32_t index = pif_add_verb(pif, verb, true);
    if (index == PIF_NONE ||
        (is_new && !PIF_PUSH(pif, &pif->order, (struct pif_order){PIF_ORDER_VERB, index})))
        return 0;
    return pif->verbs.items[index].verb.id;
}

uint32_t pif_add_level(struct pm_pif *pif, const char *name, const char *above)
{
    name = pif_intern(pif, pm_str_of(name ? name : ""));
    above = pif_intern_z(pif, above);
    if (pif->failed)
        return PIF_NONE;
    for (size_t i = 0; i < pif->levels.n; i++) {
        struct pif_level *level = &pif->levels.items[i];
        if (level->name == name) {
            level->above = level->above ? level->above : above;
            return (uint32_t)i;
        }
    }
    uint32_t index = (uint32_t)pif->levels.n;
    if (!PIF_PUSH(pif, &pif->levels, (struct pif_level){name, above, NULL}) ||
        !PIF_PUSH(pif, &pif->order, (struct pif_order){PIF_ORDER_LEVEL, index}))
        return PIF_NONE;
    return index;
}

void pm_pif_level(struct pm_pif *pif, const char *name, const char *above)
{
    pif_add_level(pif, name, above);
}

const char *pif_extra_add(struct pm_pif *pif, const char *extra, struct pm_str line)
{
    struct pm_buf buf = PM_BUF_INIT(SIZE_MAX / 2);
    if (extra)
        pm_buf_add_str(&buf, extra);
    pm_buf_add(&buf, line.p, line.len);
    pm_buf_add_byte(&buf, '\n');
    const char *all = buf.failed ? NULL : pif_intern(pif, (struct pm_str){buf.data, buf.len});
    pif->failed |= buf.failed;
    pm_buf_release(&buf);
    return all;
}

/* --- mappings --- */

static uint32_t add_sentence(struct pm_pif *pif, const struct pm_pif_sentence *sentence)
{
    PM_ASSERT(sentence->n_nouns <= PM_PIF_MAX_NOUNS);
    size_t nouns_bytes = sentence->n_nouns * sizeof(pm_id);
    uint64_t hash = XXH64(sentence->nouns, nouns_bytes, sentence->verb);
    uint32_t head = pif_map_get(&pif->sentence_by_hash, hash);
    for (uint32_t at = head; at != PIF_NONE; at = pif->sentences.items[at].next_same_hash) {
        const struct pif_sentence *have = &pif->sentences.items[at];
        if (have->verb == sentence->verb && have->n_nouns == sentence->n_nouns &&
            (nouns_bytes == 0 ||
             !memcmp(pif->sentence_nouns.items + have->first_noun, sentence->nouns, nouns_bytes)))
            return at;
    }
    uint32_t index = (uint32_t)pif->sentences.n;
    struct pif_sentence added = {sentence->verb, sentence->n_nouns, (uint32_t)pif->sentence_nouns.n,
                                 head};
    for (uint32_t i = 0; i < sentence->n_nouns; i++)
        if (!PIF_PUSH(pif, &pif->sentence_nouns, sentence->nouns[i]))
            return PIF_NONE;
    if (!PIF_PUSH(pif, &pif->sentences, added) ||
        !map_put(pif, &pif->sentence_by_hash, hash, index))
        return PIF_NONE;
    return index;
}

uint32_t pif_add_mapping(struct pm_pif *pif, const struct pm_pif_mapping *mapping,
                         const char *extra)
{
    struct pif_mapping added = {.extra = extra, .origin = pif_intern_z(pif, mapping->origin)};
    if (isfinite(mapping->weight) && mapping->weight > 0)
        added.weight = mapping->weight;
    if (pif->failed)
        return PIF_NONE;
    added.source = add_sentence(pif, &mapping->source);
    added.destination =
        added.source == PIF_NONE ? PIF_NONE : add_sentence(pif, &mapping->destination);
    if (added.destination == PIF_NONE)
        return PIF_NONE;
    uint64_t pair = (uint64_t)added.source << 32 | added.destination;
    added.next_same = pif_map_get(&pif->mapping_by_pair, pair);
    for (uint32_t at = added.next_same; at != PIF_NONE; at = pif->mappings.items[at].next_same) {
        const struct pif_mapping *have = &pif->mappings.items[at];
        if (have->weight == added.weight && have->origin == added.origin &&
            have->extra == added.extra)
            return PIF_NONE;
    }
    uint32_t index = (uint32_t)pif->mappings.n;
    if (!PIF_PUSH(pif, &pif->mappings, added) || !map_put(pif, &pif->mapping_by_pair, pair, index))
        return PIF_NONE;
    return index;
}

void pm_pif_mapping(struct pm_pif *pif, const struct pm_pif_mapping *mapping)
{
    uint32_t index = pif_add_mapping(pif, mapping, NULL);
    if (index != PIF_NONE)
        (void)PIF_PUSH(pif, &pif->order, (struct pif_order){PIF_ORDER_MAPPING, index});
}

/* --- circles --- */

/* Each walk upwards stops at what this call has seen, so all walks together take one step for each
 * noun. A walk's own mark differs from those of earlier walks: meeting it again is a circle. */
uint32_t pif_cut_circle(struct pm_pif *pif, const uint32_t *touched, size_t n_touched)
{
    uint32_t first_mark = pif->mark + 1;
    for (size_t i = 0; i < n_touched; i++) {
        uint32_t mark = ++pif->mark;
        for (uint32_t at = touched[i]; at != PIF_NONE;) {
            struct pif_noun *item = &pif->nouns.items[at];
            if (item->mark >= first_mark && item->mark < mark)
                break;
            uint32_t parent =
                item->noun.parent ? pif_map_get(&pif->noun_by_id, item->noun.parent) : PIF_NONE;
            item->mark = mark;
            if (parent != PIF_NONE && pif->nouns.items[parent].mark == mark) {
                item->noun.parent = 0;
                return at;
            }
            at = parent;
        }
    }
    return PIF_NONE;
}

/* --- looking --- */

size_t pm_pif_n_nouns(const struct pm_pif *pif)
{
    return pif->nouns.n;
}

size_t pm_pif_n_verbs(const struct pm_pif *pif)
{
    return pif->verbs.n;
}

size_t pm_pif_n_mappings(const struct pm_pif *pif)
{
    return pif->mappings.n;
}

size_t pm_pif_n_levels(const struct pm_pif *pif)
{
    return pif->levels.n;
}

void pm_pif_get_noun(const struct pm_pif *pif, size_t index, struct pm_pif_noun *ret_noun)
{
    PM_ASSERT(index < pif->nouns.n);
    *ret_noun = pif->nouns.items[index].noun;
}

void pm_pif_get_verb(const struct pm_pif *pif, size_t index, struct pm_pif_verb *ret_verb)
{
    PM_ASSERT(index < pif->verbs.n);
    *ret_verb = pif->verbs.items[index].verb;
}

static struct pm_pif_sentence sentence_at(const struct pm_pif *pif, uint32_t index)
{
    const struct pif_sentence *have = &pif->sentences.items[index];
    struct pm_pif_sentence sentence = {.verb = have->verb, .n_nouns = have->n_nouns};
    for (uint32_t i = 0; i < have->n_nouns; i++)
        sentence.nouns[i] = pif->sentence_nouns.items[have->first_noun + i];
    return sentence;
}

void pm_pif_get_mapping(const struct pm_pif *pif, size_t index, struct pm_pif_mapping *ret_mapping)
{
    PM_ASSERT(index < pif->mappings.n);
    const struct pif_mapping *have = &pif->mappings.items[index];
    *ret_mapping = (struct pm_pif_mapping){.source = sentence_at(pif, have->source),
                                           .destination = sentence_at(pif, have->destination),
                                           .weight = have->weight,
                                           .origin = have->origin};
}

void pm_pif_get_level(const struct pm_pif *pif, size_t index, const char **ret_name,
                      const char **ret_above)
{
    PM_ASSERT(index < pif->levels.n);
    *ret_name = pif->levels.items[index].name;
    *ret_above = pif->levels.items[index].above;
}

bool pm_pif_find_noun(const struct pm_pif *pif, pm_id id, struct pm_pif_noun *ret_noun)
{
    uint32_t index = pif_map_get(&pif->noun_by_id, id);
    if (index == PIF_NONE)
        return false;
    *ret_noun = pif->nouns.items[index].noun;
    return true;
}

bool pm_pif_nth_attribute(const struct pm_pif *pif, pm_id noun, size_t n, const char **ret_key,
                          const char **ret_value)
{
    uint32_t index = pif_map_get(&pif->noun_by_id, noun);
    uint32_t at = index == PIF_NONE ? PIF_NONE : pif->nouns.items[index].first_attribute;
    for (; at != PIF_NONE && n; n--)
        at = pif->attributes.items[at].next;
    if (at == PIF_NONE)
        return false;
    *ret_key = pif->attributes.items[at].key;
    *ret_value = pif->attributes.items[at].value;
    return true;
}

const char *pm_pif_get_attribute(const struct pm_pif *pif, pm_id noun, const char *key)
{
    uint32_t index = pif_map_get(&pif->noun_by_id, noun);
    uint32_t at = index == PIF_NONE ? PIF_NONE : pif->nouns.items[index].first_attribute;
    for (; at != PIF_NONE; at = pif->attributes.items[at].next)
        if (!strcmp(pif->attributes.items[at].key, key))
            return pif->attributes.items[at].value;
    return NULL;
}

struct pif_named pif_named(const struct pm_pif *pif, bool is_verb, uint32_t index)
{
    if (is_verb) {
        const struct pif_verb *item = &pif->verbs.items[index];
        return (struct pif_named){item->verb.id,        item->verb.level, item->verb.name,
                                  item->next_same_name, item->read_no,    item->declared};
    }
    const struct pif_noun *item = &pif->nouns.items[index];
    return (struct pif_named){item->noun.id,        item->noun.level, item->noun.name,
                              item->next_same_name, item->read_no,    item->declared};
}
