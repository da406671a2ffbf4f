/* Bodies of OpenMP regions, which are symbols. */
#ifndef PM_COLLECT_REGIONS_H
#define PM_COLLECT_REGIONS_H

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/base/status.h"

struct collect_binary;
struct collector;
struct pm_code_place;

/* An OpenMP construct of the early facts. */
struct collect_region {
    pm_id function;
    const char *file; /* interned, as the facts spell it */
    uint32_t line_no, column_no;
    uint32_t row;
    bool is_outlined; /* its body is a symbol of its own */
    bool is_taken;    /* some symbol is known to be that */
};

/* Of one binary. */
struct collect_regions {
    struct collect_region *list; /* by function, file, line, column */
    uint32_t n;
    struct pm_map outlined; /* symbol -> 2 + position in list; 1: which one is not known */
};

/* first_mapping: of the binary's facts. */
PM_MUST_CHECK enum pm_status collect_regions_make(struct collector *c,
                                                  struct collect_binary *binary,
                                                  size_t first_mapping);
/* Rows: the region that begins at a place (outlined: only one whose body is a symbol), and the
 * one whose body a symbol is. 0: none. */
uint32_t collect_region_at(const struct collect_binary *binary, const struct pm_code_place *place,
                           const char *file, bool outlined);
uint32_t collect_region_of(const struct collect_binary *binary, pm_id symbol);

#endif
