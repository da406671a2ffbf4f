/* What map.cc finds out about one function's code, and map_out.cc writes. */
#ifndef PM_GCC_MAP_BLOCK_H
#define PM_GCC_MAP_BLOCK_H

#include "map.h"

/* An inlined copy of a function. Those that it lies in come before it. */
struct pm_map_site {
    int parent; /* -1: the function itself */
    tree block;
    const struct pm_source_function *function;
    struct pm_place call; /* line 0 unknown */
};

struct pm_map_tuple {
    enum pm_map_kind kind;
    bool unnamed;
    int site;              /* -1: the function itself */
    struct pm_place place; /* line 0 none */
    pm_id loop;            /* 0 none */
    int objects;           /* index in pm_map_function.objects; 0 none */
    std::vector<struct pm_fused> also;
};

/* Code from a label on, up to the next range. */
struct pm_map_range {
    int tuple;
    int label; /* number of an internal label */
};

/* A contiguous part of the function. */
struct pm_map_part {
    bool is_cold;
    int begin,
        /* labels; the first part's begin stands for the function's symbol and is not in the code */
        end;
    std::vector<struct pm_map_range> ranges;
};

struct pm_map_function {
    std::vector<struct pm_map_site> sites;
    std::vector<std::vector<struct pm_access>> objects; /* sorted; the first is empty */
    std::vector<struct pm_map_tuple> tuples;
    std::vector<struct pm_map_part> parts;
};

/* The function has been written to the assembler file: its blocks follow. */
void pm_map_write(tree function_decl, const struct pm_map_function *map);
void pm_map_out_register(const char *plugin_name);

#endif
