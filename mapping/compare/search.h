/* The difference operator: in which parts of a program do two sides differ, and in which of their
 * parts? Parts are foci, one node of each where axis: code, data, place (rank or program, process,
 * thread), and the words of each level that says some.
 *
 *     struct pm_search_options options = {.compare = {.view = {.metrics = "cpu_ns"}}};
 *     struct pm_search *search;
 *     if (pm_search(&options, inputs, &err, &search) == PM_OK)
 *         for (uint32_t f = 0; f < search->comparison->n_rows; f++)
 *             use(search->comparison->rows[f].what, search->foci[f].depth);
 *     pm_search_free(search);
 *
 * Each cost is in one cell: a tuple of one node of each axis, found again in the other builds
 * (build.h). A focus has the cells in which all of its nodes are; two foci that have the same cells
 * are one, and it is named by all that these have in common. The search starts with the whole
 * program, and goes down one axis at a time. A focus fails when it differs by more than the
 * threshold, and, with PM_COMPARE_LEAST_RUNS runs a side, when that is no noise (compare.h). What
 * stays within the threshold is looked into all the same, for its parts may make up for each other:
 * where the absolute differences of its cells add up to no more than the threshold, no part can
 * differ by more. That leaves nothing out.
 *
 * Source: Hansen, Towards Comparative Profiling of Parallel Applications with PPerfDB (2001), whose
 * operator stops where a difference is within the threshold.
 */
#ifndef PM_COMPARE_SEARCH_H
#define PM_COMPARE_SEARCH_H

#include "compare.h"

enum { PM_SEARCH_MOST_FOCI = 10000, PM_SEARCH_MAX_WORDS = 3 };
enum { PM_SEARCH_CODE, PM_SEARCH_DATA, PM_SEARCH_PLACE, PM_SEARCH_WORDS };
enum { PM_SEARCH_MAX_AXES = PM_SEARCH_WORDS + PM_SEARCH_MAX_WORDS };

/* What a focus has in a run, of what each of its ranks or threads has. */
enum pm_search_summary {
    PM_SEARCH_SUM,
    PM_SEARCH_MEAN,
    PM_SEARCH_MIN,
    PM_SEARCH_MAX,
    PM_SEARCH_SD
};
extern const char pm_search_summary_words[]; /* "sum|mean|..." */

struct pm_search_options {
    struct pm_compare_options compare; /* .view.metrics: the one to search by; .view.by: LOOP */
    enum pm_runner over;               /* rank or thread; NONE: costs are added up */
    enum pm_search_summary summary;
    /* Both inputs are the same runs. A is the mean over the ranks or threads of `over`, B each. */
    bool within;
    bool all; /* all foci that were looked at, not only those that fail */
};

/* A node of an axis that holds all cells of a focus; NULL: the focus is not within one. */
struct pm_search_focus {
    uint32_t parent, depth; /* parent: a position, smaller; PM_NONE: the whole program */
    bool is_failed;
    /* it does not fail, and parts of it do, which cost more, and others, which cost less */
    bool is_compensating;
    double threshold, part_differences; /* L1: the absolute differences of its cells */
    const char *names[PM_SEARCH_MAX_AXES], *places[PM_SEARCH_MAX_AXES]; /* printable */
};

struct pm_search {
    struct pm_search_options options;
    /* Rows are foci, the failed ones as a tree, depth first, greatest differences first; total is
     * the whole program. */
    struct pm_comparison *comparison;
    struct pm_search_focus *foci; /* [comparison->n_rows] */
    uint32_t n_axes;
    const char *axes[PM_SEARCH_MAX_AXES]; /* "code", "data", "place", "SQL" */
    uint32_t n_failed, n_folded;          /* folded: failed, and explained by one part */
    uint32_t n_looked_at, n_pruned, n_left;
    uint32_t n_cells;
    double least; /* no focus fails that differs by less */
    bool whole_fails, whole_compensates;
    double whole_differences; /* of all cells */
    struct pm_arena arena;
};

/* Errors as of pm_compare. PM_ERR_USAGE: a metric that cannot be added up. */
PM_MUST_CHECK enum pm_status pm_search(const struct pm_search_options *options,
                                       const struct pm_compare_input inputs[2],
                                       struct pm_error *err, struct pm_search **ret);
void pm_search_free(struct pm_search *search);

#endif
