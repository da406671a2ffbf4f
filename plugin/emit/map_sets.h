/* What the entries of a function's late map name, each kept once: inlined copies, places, sets of
 * objects and of places, and the tuples of all of these that ranges of code have.
 *
 *     struct pm_map_sets *sets = pm_map_sets_new(function);
 *     int site = pm_map_sets_site(sets, -1, inlined, &place_of_call);
 *     struct pm_map_tuple tuple = {.kind = PM_MAP_ORDINARY, .site = site, .place = statement,
 *                                  .objects = pm_map_sets_objects(sets, accesses, n_accesses)};
 *     bool is_new;
 *     int number = pm_map_sets_tuple(sets, &tuple, 0, &is_new);   // struct pm_map_range.tuple
 *     if (is_new)
 *         pm_map_sets_also(sets, &fused);                         // of the newest tuple
 *     struct pm_map_function map = pm_map_sets_function(sets, symbol);
 *     use(map);                                   // pm_map_block_write(encoder, &map, ...)
 *     pm_map_sets_free(sets);
 *
 * Equal things have one number, in the order in which they first come. Functions and names of
 * files are lent. When memory ends, pm_map_sets_failed says so once and for all, and numbers then
 * mean nothing. One thread at a time.
 */
#ifndef PM_MAP_SETS_H
#define PM_MAP_SETS_H

#include "map_block.h"
#include "statements.h"

struct pm_map_sets;
/* function: the symbol's own. NULL: memory. */
struct pm_map_sets *pm_map_sets_new(const struct pm_source_function *function);
void pm_map_sets_free(struct pm_map_sets *sets);
bool pm_map_sets_failed(const struct pm_map_sets *sets);

/* Copies of a function that were inlined at one place are one site: optimisers copy calls.
 * parent: -1 the function itself. */
int pm_map_sets_site(struct pm_map_sets *sets, int parent,
                     const struct pm_source_function *function, const struct pm_place *call);
/* Whose text a site's places are of. */
const struct pm_source_function *pm_map_sets_text(const struct pm_map_sets *sets, int site);

/* A place of the source in a copy. */
struct pm_map_spot {
    int site;
    struct pm_place place;
};
int pm_map_sets_spot(struct pm_map_sets *sets, const struct pm_map_spot *spot);
/* Lent until the next is added. */
const struct pm_map_spot *pm_map_sets_spot_at(const struct pm_map_sets *sets, int spot);

/* Sets: 0 is the empty one. What is given is sorted, and repetitions go. */
uint32_t pm_map_sets_objects(struct pm_map_sets *sets, struct pm_access *accesses, size_t n);
uint32_t pm_map_sets_spots(struct pm_map_sets *sets, int *spots, size_t n);

/* first_also and n_also of the tuple do not count. spots: a set of spots that the code implements
 * too, and tells it from other code; the caller adds what it means. */
int pm_map_sets_tuple(struct pm_map_sets *sets, const struct pm_map_tuple *tuple, uint32_t spots,
                      bool *ret_is_new);
/* What the newest tuple implements too: a statement; all of a set of spots; of a function with
 * equal code, which is emitted under one symbol with this one, the statement that is as far into
 * its text as the place is into this one's. */
void pm_map_sets_also(struct pm_map_sets *sets, const struct pm_map_also *also);
void pm_map_sets_also_spots(struct pm_map_sets *sets, uint32_t spots, enum pm_map_reason reason);
void pm_map_sets_also_folded(struct pm_map_sets *sets, const struct pm_place *place,
                             const struct pm_statements *statements,
                             const struct pm_source_function *folded,
                             const struct pm_statements *folded_statements);

/* For pm_map_block_write: lent until something is added. */
struct pm_map_function pm_map_sets_function(const struct pm_map_sets *sets, pm_id symbol);

#endif
