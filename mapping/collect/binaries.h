/* Programs and libraries: are they those that ran, and what do they say about themselves? The
 * parts that explain code keep what they know of each in structs of their own. */
#ifndef PM_COLLECT_BINARIES_H
#define PM_COLLECT_BINARIES_H

#include "mapping/base/map.h"
#include "mapping/base/str.h"

struct collect_accesses;
struct collect_body_calls;
struct collect_calls;
struct collect_code_keys;
struct collect_places;
struct collect_regions;
struct collect_routes;
struct collector;
struct pm_blame;
struct pm_code_map;
struct pm_debug;
struct pm_pif;
struct pm_run_file_noun;
struct pm_run_file_object;

struct collect_binary {
    const char *path; /* interned */
    struct pm_str build_id;
    uint64_t file_bytes, mtime_ns;
    uint32_t n_sleds, n_bad_sleds;
    bool has_nouns;         /* it has code that the run names: what is missing is told */
    bool same, debug_tried; /* same: the file is the one that ran */
    bool is_runtime;        /* PerfMap's own code */
    bool blame_tried, variables_known;
    uint32_t row;            /* 0: not in the archive (yet) */
    struct pm_pif *pif;      /* NULL: not read */
    struct pm_code_map *map; /* NULL: it has none */
    struct pm_debug *debug;  /* NULL: not opened yet, or cannot be */
    struct pm_blame *blame;  /* NULL: not opened yet, or cannot be */
    const char *pif_state, *map_state;
    char *debug_problem;                   /* owned; why it could not be opened */
    struct pm_map nouns;                   /* pif id -> row */
    struct pm_map variables;               /* words.c: name -> position in pif + 1, or several */
    struct pm_map heaps;                   /* id -> position in heaps + 1 */
    struct collect_places *places;         /* places.h */
    struct collect_regions *regions;       /* regions.h */
    struct collect_accesses *accesses;     /* touches.h */
    struct collect_code_keys *codes;       /* code.h */
    struct collect_calls *calls;           /* call_paths.h */
    struct collect_routes *routes;         /* routes.h */
    struct collect_body_calls *body_calls; /* bodies.h */
    struct collect_binary *next;
};

struct collect_binaries {
    struct collect_binary *first;
    uint32_t n;            /* rows */
    struct pm_map lacking; /* rows of functions and loops whose contexts lack some callees -> 1 */
};

/* The binary of an object; nothing is read yet. */
PM_MUST_CHECK enum pm_status collect_binary(struct collector *c,
                                            const struct pm_run_file_object *object,
                                            struct collect_binary **ret_binary);
/* The facts of a file that nothing ran of. One that is not there, or has none, adds nothing. */
PM_MUST_CHECK enum pm_status collect_binary_file(struct collector *c, const char *path);
/* Gives it a row and reads facts and late map, once. */
PM_MUST_CHECK enum pm_status collect_binary_read(struct collector *c,
                                                 struct collect_binary *binary);
/* Row of a noun of a run file. binary NULL: it belongs to none. */
PM_MUST_CHECK enum pm_status collect_code_noun(struct collector *c, struct collect_binary *binary,
                                               const struct pm_run_file_noun *noun,
                                               uint32_t *ret_row);
PM_MUST_CHECK enum pm_status collect_binaries_end(struct collector *c); /* rows of binaries */
void collect_binaries_release(struct collector *c);

#endif
