/* The late maps of an archive's binaries, as far as these are still the ones that ran: which statements have code at all, and where
 * the code of a construct lies that no sample met.
 *
 *     struct late_maps maps;
 *     late_maps_open(&maps, data);
 *     maps.items[b].map, maps.items[b].problem       // by position in data->binaries
 *     late_maps_release(&maps);
 *
 * Used by `perfmap annotate` and `perfmap explain`.
 */
#ifndef PM_CMD_LATE_MAP_H
#define PM_CMD_LATE_MAP_H

#include "mapping/archive/load.h"
#include "mapping/base/str.h"
#include "mapping/code/code_map.h"

struct late_map {
    struct pm_code_map *map; /* NULL: there is none, or it is not to be had */
    const char *path;        /* lent from the archive's data */
    char problem[256];       /* why it is not to be had, for people; "" */
};

/* A statement of the graph as places are looked up in. */
struct late_statement {
    pm_id function;
    uint32_t line_no, column_no;
    pm_index noun;
};

struct late_maps {
    const struct pm_archive_data *data;
    struct late_map *items; /* per binary */
    struct late_statement *statements;
    size_t n_statements;
};

PM_MUST_CHECK enum pm_status late_maps_open(struct late_maps *maps,
                                            const struct pm_archive_data *data,
                                            struct pm_error *err);
void late_maps_release(struct late_maps *maps);

/* The statement that a place lies in, in that function; PM_NONE. */
pm_index late_maps_statement(const struct late_maps *maps, const struct pm_code_place *place);

/* [n_nouns]: true for statements that some code of a map implements. False: memory ended. */
bool *late_maps_with_code(const struct late_maps *maps);
/* Whether a map that could be read tells of this function's code. */
bool late_maps_cover(const struct late_maps *maps, pm_index noun);

#endif
