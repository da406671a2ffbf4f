/* What reading (read.c), cells (compare.c) and notes (notes.c) of a comparison share. */
#ifndef PM_COMPARE_INTERNAL_H
#define PM_COMPARE_INTERNAL_H

#include "build.h"
#include "compare.h"

/* A number of a run. */
struct compare_entry {
    uint32_t row;
    struct pm_compare_cell cell, own; /* own: where inclusive costs are compared */
};

struct compare_reading {
    struct compare_entry *entries;
    uint32_t n;
    uint32_t *at_depth; /* while a tree is read, depth first: the last row of each depth */
    uint32_t build;
    bool has_level;
};

/* Runs of one build have the same constructs. What nobody has compared yet is not looked for. */
struct compare_build {
    uint64_t hash;
    const char *path;         /* of its first archive */
    bool is_known, has_facts; /* has_facts: of what lies in functions, too */
    struct pm_build build;
    struct pm_map seen; /* keys of what had costs in a run */
};

/* Beside each row of the comparison: what it is made of. */
struct compare_parts {
    const uint64_t *nouns; /* keys; n 0: it can be in any build */
    uint32_t n;
};

struct compare {
    struct pm_comparison *to;
    struct pm_error *err;
    const struct pm_compare_input *inputs;
    const struct pm_compare_visitor *visitor; /* NULL: none */
    struct pm_view_options options;           /* with the metric, once it is known */
    struct compare_reading *readings[2];
    struct compare_build *builds; /* the first is the reference of the others */
    uint32_t n_builds, cap_builds;
    struct compare_parts *parts;
    uint32_t cap_rows, cap_parts, cap_notes;
    struct pm_map row_of; /* hash of a key -> 1 + row */
};

enum pm_status compare_no_memory(struct compare *c);
/* read.c: rows, and what each run has of them. */
PM_MUST_CHECK enum pm_status compare_read_side(struct compare *c, int side);
/* join.c: rows with cells. What one side computes together and the other apart becomes one row,
 * whose numbers are sums; sides add up as before. parts: per row. */
PM_MUST_CHECK enum pm_status compare_join(struct pm_comparison *to,
                                          const struct compare_parts *parts, struct pm_error *err);
/* notes.c */
PM_MUST_CHECK enum pm_status compare_add_notes(struct compare *c);

#endif
