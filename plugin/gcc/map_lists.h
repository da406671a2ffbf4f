/* What map.cc finds out about one function's code, and map_out.cc writes. */
#ifndef PM_GCC_MAP_LISTS_H
#define PM_GCC_MAP_LISTS_H

#include "map.h"

extern "C" {
#include "../emit/map_sets.h"
}

/* A struct pm_map_part while it grows. The first one's begin stands for the function's symbol and
 * is not in the code. */
struct pm_map_part_list {
    bool is_cold;
    int begin, end;
    std::vector<struct pm_map_range> ranges;
};

/* The function has been written to the assembler file: its blocks follow. */
void pm_map_write(tree function_decl, const struct pm_map_sets *sets,
                  const std::vector<struct pm_map_part_list> &parts);
void pm_map_out_register(const char *plugin_name);

#endif
