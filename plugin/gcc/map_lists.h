/* What map.cc finds out about one function's code, and map_out.cc writes. */
#ifndef PM_GCC_MAP_LISTS_H
#define PM_GCC_MAP_LISTS_H

#include "map.h"

/* A struct pm_map_part while it grows. The first one's begin stands for the function's symbol and
 * is not in the code. */
struct pm_map_part_list {
    bool is_cold;
    int begin, end;
    std::vector<struct pm_map_range> ranges;
};

/* A struct pm_map_function (plugin/emit/map_block.h) while it grows. */
struct pm_map_lists {
    std::vector<struct pm_map_site> sites;
    std::vector<struct pm_access> accesses;
    std::vector<struct pm_map_objects> objects; /* the first is empty */
    std::vector<struct pm_map_also> also;
    std::vector<struct pm_map_tuple> tuples;
    std::vector<struct pm_map_part_list> parts;
};

/* The function has been written to the assembler file: its blocks follow. */
void pm_map_write(tree function_decl, const struct pm_map_lists *map);
void pm_map_out_register(const char *plugin_name);

#endif
