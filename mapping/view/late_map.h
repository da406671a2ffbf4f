/* The late maps of an archive's binaries, as far as these are still the ones that ran: which
 * statements have code at all, and where the code of a construct lies that no sample met.
 *
 *     struct pm_late_maps maps;
 *     pm_late_maps_open(&maps, data, &err);
 *     use(maps.items[i].map, maps.items[i].problem);       // by position in data->binaries
 *     pm_late_maps_release(&maps);
 *
 * Used by `perfmap annotate` and `perfmap explain`.
 */
#ifndef PM_VIEW_LATE_MAP_H
#define PM_VIEW_LATE_MAP_H

#include "mapping/archive/load.h"
#include "mapping/base/str.h"
#include "mapping/code/code_map.h"
#include "mapping/code/vectors.h"

struct pm_late_map {
    struct pm_code_map *map; /* NULL: there is none, or it is not to be had */
    const char *path;        /* lent from the archive's data */
    char problem[256];       /* why it is not to be had, for people; "" */
};

/* A statement of the graph as places are looked up in. */
struct pm_late_statement {
    pm_id function;
    uint32_t line_no, column_no;
    pm_index noun;
};

struct pm_late_maps {
    const struct pm_archive_data *data;
    struct pm_late_map *items; /* per binary */
    struct pm_late_statement *statements;
    size_t n_statements;
};

PM_MUST_CHECK enum pm_status pm_late_maps_open(struct pm_late_maps *maps,
                                               const struct pm_archive_data *data,
                                               struct pm_error *err);
void pm_late_maps_release(struct pm_late_maps *maps);

/* The statement that a place lies in, in that function; PM_NONE. */
pm_index pm_late_maps_statement(const struct pm_late_maps *maps, const struct pm_code_place *place);

/* [n_nouns]: true for statements that some code of a map implements. False: memory ended. */
bool *pm_late_maps_with_code(const struct pm_late_maps *maps);
/* Whether a map that could be read tells of this function's code. */
bool pm_late_maps_cover(const struct pm_late_maps *maps, pm_index noun);

/* Its instructions; NULL: they cannot be decoded here, or were made for another machine. To be
 * freed with pm_blame_free. */
struct pm_blame *pm_late_map_code(const struct pm_late_map *map);

/* What the code of a loop does, as far as a map tells of it. */
struct pm_late_loop {
    pm_id id;
    uint32_t line_no;
    struct pm_vectors vectors;
};
/* Fills vectors; the loops come back by id. */
void pm_late_maps_count_vectors(const struct pm_late_maps *maps, struct pm_late_loop *loops,
                                uint32_t n);

#endif
