/* The late map of one binary (format/pm_map.h): from an address to the constructs that the code
 * there implements.
 *
 *     struct pm_code_map *map;
 *     if (pm_code_map_read_elf("heat", &err, &map) != PM_OK) ...   // PM_ERR_NOT_FOUND: it has none
 *     const struct pm_code_range *range = pm_code_map_find(map, address);
 *     if (range)
 *         use(range->tuple->place.line_no, range->block->symbol);
 *     pm_code_map_free(map);
 *
 * Nothing in the section is trusted: a damaged block is left out and counted, the sound ones
 * stay. Ids are those of PIF nouns; this file does not look them up. All memory is the map's.
 * Any number of readers once it is read.
 */
#ifndef PM_CODE_MAP_H
#define PM_CODE_MAP_H

#include "../base/status.h"
#include "../../format/pm_id.h"
#include "../../format/pm_map.h"

#include <stddef.h>

/* A place of the source, in the text of a function. */
struct pm_code_place {
    pm_id function, file;
    uint32_t line_no, column_no; /* line 0: not known */
};

/* A function that was inlined. */
struct pm_code_site {
    const struct pm_code_site *parent; /* NULL: into the symbol's own function */
    pm_id function;                    /* which was inlined */
    struct pm_code_place call;         /* where it was called, in the parent's text */
};

struct pm_code_object {
    pm_id noun;
    unsigned access; /* PM_MAP_READS | PM_MAP_WRITES | PM_MAP_THROUGH */
};

struct pm_code_also {
    struct pm_code_place place;
    enum pm_map_reason reason;
    bool inferred;
};

struct pm_code_tuple {
    enum pm_map_kind kind;
    bool unnamed;                    /* touches memory whose object is not known */
    const struct pm_code_site *site; /* innermost inlined function; NULL: the symbol's own */
    struct pm_code_place place;
    pm_id loop; /* innermost natural loop; 0 none */
    const struct pm_code_object *objects;
    const struct pm_code_also *also;
    uint32_t n_objects, n_also;
    uint32_t number; /* of this tuple in its block, from 0: equal tuples of a block are one */
};

struct pm_code_block {
    pm_id symbol, function;
    uint64_t address, size_bytes; /* ELF addresses */
    bool is_cold;
    const struct pm_code_tuple *tuples;
    uint32_t n_tuples;
    uint32_t first_range, n_ranges; /* in the map's ranges */
};

struct pm_code_range {
    uint64_t address;
    uint32_t size_bytes;
    const struct pm_code_tuple *tuple;
    const struct pm_code_block *block;
};

struct pm_code_map;

/* PM_ERR_NOT_FOUND: no such section. PM_ERR_UNSUPPORTED: an object that is not linked, so its
 * code has no addresses. PM_ERR_VERSION: all blocks are of other versions. Damage is no error:
 * see pm_code_map_problem. */
PM_MUST_CHECK enum pm_status pm_code_map_read_elf(const char *path, struct pm_error *err,
                                                  struct pm_code_map **ret_map);
/* The section's bytes, linked (addresses filled in). name is for messages. */
PM_MUST_CHECK enum pm_status pm_code_map_read(const char *name, const void *bytes, size_t len,
                                              struct pm_error *err, struct pm_code_map **ret_map);
void pm_code_map_free(struct pm_code_map *map);

/* What was wrong with the blocks that were left out, the first of them with its offset; NULL:
 * nothing. */
const char *pm_code_map_problem(const struct pm_code_map *map, size_t *ret_n_damaged);

/* NULL: no block covers this ELF address. Overlapping blocks (functions folded by the linker):
 * the first; the others by pm_code_map_next_same. */
const struct pm_code_range *pm_code_map_find(const struct pm_code_map *map, uint64_t address);
/* Another range that covers the address of the one given, which came from pm_code_map_find or
 * from here; NULL: no more. */
const struct pm_code_range *pm_code_map_next_same(const struct pm_code_map *map,
                                                  const struct pm_code_range *range,
                                                  uint64_t address);

/* All of it: blocks sorted by address, and ranges block by block, so they are sorted too where
 * blocks do not overlap. */
const struct pm_code_range *pm_code_map_ranges(const struct pm_code_map *map, size_t *ret_n);
const struct pm_code_block *pm_code_map_blocks(const struct pm_code_map *map, size_t *ret_n);

/* "vectorised together", ...: for people. */
const char *pm_map_reason_text(enum pm_map_reason reason);

#endif
