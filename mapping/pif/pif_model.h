/* The inside of struct pm_pif, for the files of this folder only.
 *
 * All strings are interned, so equal strings are equal pointers. Nouns, verbs, sentences and
 * mappings stand in growing arrays and are spoken of by index; `order` remembers in which order
 * records of all kinds came, so that text is written back in place.
 */
#ifndef PM_PIF_MODEL_H
#define PM_PIF_MODEL_H

#include "pif.h"

#include "../base/arena.h"

#define PIF_NONE UINT32_MAX

/* id (or other 64-bit key) -> index; open addressing, at most half full. */
struct pif_map_slot {
    uint64_t key;
    uint32_t value_plus_2; /* 0: free; 1: PIF_NONE was put */
};
struct pif_map {
    struct pif_map_slot *slots;
    size_t n, size;
    unsigned shift;
};
uint32_t pif_map_get(const struct pif_map *map, uint64_t key);
bool pif_map_put(struct pif_map *map, uint64_t key, uint32_t value); /* false: memory */
void pif_map_release(struct pif_map *map);

/* Declared: it has a record of its own. Others are only mentioned, in a sentence or as a parent. */
struct pif_noun {
    struct pm_pif_noun noun; /* strings interned; level never NULL */
    uint32_t next_same_name; /* index of the next noun with this name, PIF_NONE ends */
    uint32_t first_attribute, last_attribute;
    uint32_t read_no; /* of the reading that declared it last; 0 by call */
    uint32_t mark;    /* scratch of one walk */
    bool declared;
};

struct pif_verb {
    struct pm_pif_verb verb;
    const char *extra; /* unknown keys as lines "  key = value\n", NULL none */
    uint32_t next_same_name;
    uint32_t read_no;
    bool declared;
};

struct pif_level {
    const char *name, *above; /* above: NULL none */
    const char *extra;
};

struct pif_attribute {
    const char *key, *value;
    uint32_t next;
};

struct pif_sentence {
    pm_id verb;
    uint32_t n_nouns, first_noun; /* in sentence_nouns */
    uint32_t next_same_hash;
};

struct pif_mapping {
    uint32_t source, destination; /* sentences */
    uint32_t next_same;           /* mapping of the same sentences with other facts */
    double weight;
    const char *origin, *extra;
};

enum pif_order_kind {
    PIF_ORDER_NOUN,
    PIF_ORDER_VERB,
    PIF_ORDER_LEVEL,
    PIF_ORDER_MAPPING,
    PIF_ORDER_RAW,
    PIF_ORDER_PENDING, /* mapping whose names are not resolved yet (only while text is read) */
};
struct pif_order {
    uint32_t kind, index;
};

/* Growing array: `items` of item type, `n` used, `cap` there. */
#define PIF_VEC(type)  \
    struct {           \
        type *items;   \
        size_t n, cap; \
    }

struct pm_pif {
    struct pm_intern *strings;
    const char *producer;
    PIF_VEC(struct pif_noun) nouns;
    PIF_VEC(struct pif_verb) verbs;
    PIF_VEC(struct pif_level) levels;
    PIF_VEC(struct pif_attribute) attributes;
    PIF_VEC(struct pif_sentence) sentences;
    PIF_VEC(pm_id) sentence_nouns;
    PIF_VEC(struct pif_mapping) mappings;
    PIF_VEC(const char *) raw; /* whole unknown records as text */
    PIF_VEC(struct pif_order) order;
    struct pif_map noun_by_id, verb_by_id, noun_by_name, verb_by_name, sentence_by_hash,
        mapping_by_pair;
    uint32_t read_no; /* number of readings begun */
    uint32_t mark;
    bool failed;
};

/* Makes room for one more item in a PIF_VEC; false, and pif failed, when memory ended. */
bool pif_grow(struct pm_pif *pif, void *items_field, size_t n, size_t *cap, size_t item_bytes);
#define PIF_PUSH(pif, vec, ...)                                                     \
    (pif_grow((pif), &(vec)->items, (vec)->n, &(vec)->cap, sizeof *(vec)->items) && \
     ((vec)->items[(vec)->n++] = (__VA_ARGS__), true))

const char *pif_intern(struct pm_pif *pif, struct pm_str text);       /* NULL: memory, pif failed */
const char *pif_intern_z(struct pm_pif *pif, const char *zero_ended); /* NULL and "" give NULL */

/* The noun's (verb's) index; adds it undeclared when it is not there. PIF_NONE: memory. */
uint32_t pif_mention_noun(struct pm_pif *pif, pm_id id, const char *level, const char *name);
uint32_t pif_mention_verb(struct pm_pif *pif, pm_id id, const char *level, const char *name);
/* As pm_pif_noun and pm_pif_verb, giving the index; declared false leaves a new one undeclared. */
uint32_t pif_add_noun(struct pm_pif *pif, const struct pm_pif_noun *noun, bool declared);
uint32_t pif_add_verb(struct pm_pif *pif, const struct pm_pif_verb *verb, bool declared);
/* Index of the mapping; PIF_NONE when it repeats one or memory ended. The order gets no entry. */
uint32_t pif_add_mapping(struct pm_pif *pif, const struct pm_pif_mapping *mapping,
                         const char *extra);
uint32_t pif_add_level(struct pm_pif *pif, const char *name, const char *above);
/* Adds one line to unknown keys; NULL: memory. */
const char *pif_extra_add(struct pm_pif *pif, const char *extra, struct pm_str line);
bool pif_key_is_valid(struct pm_str key);
bool pif_key_is_own(struct pm_str key); /* of a noun: has a member, is no attribute */

/* What nouns and verbs have in common: how a name leads to them. */
struct pif_named {
    pm_id id;
    const char *level, *name;
    uint32_t next_same_name, read_no;
    bool declared;
};
struct pif_named pif_named(const struct pm_pif *pif, bool is_verb, uint32_t index);

/* Does a name written bare need quotes? */
bool pif_name_is_bare(const char *name);

/* Index of a noun that is its own ancestor, looking from nouns first.. on; its parent is then cut
 * off. PIF_NONE: there is none. */
uint32_t pif_cut_circle(struct pm_pif *pif, const uint32_t *touched, size_t n_touched);

#endif
