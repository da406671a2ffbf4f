/* How costs are grouped: one table, with an entry for each word of --by.
 *
 *     const struct pm_view_grouping *grouping = pm_view_grouping(&view);
 *     if (grouping->ends_at(&view, noun)) // a function, where rows are functions
 *         use(noun);
 *
 * What a view does differently by its grouping stands here, and nowhere else. A new grouping is a
 * line in by.def, which has the words, and an entry in groupings.c; one of what ran, an entry in
 * runners.c, too. Constant; any number of threads.
 */
#ifndef PM_VIEW_GROUPINGS_H
#define PM_VIEW_GROUPINGS_H

#include "view.h"

#include "mapping/graph/index_map.h"

enum pm_view_group_key {
    PM_VIEW_GROUP_BY_NOUN,
    PM_VIEW_GROUP_BY_FILE,
    PM_VIEW_GROUP_BY_LINE,
    PM_VIEW_GROUP_BY_OPERATION, /* the verb, and what its first noun is a part of, outermost */
};

/* Rows are all places of a where axis, as a tree (where.h). */
enum pm_view_where_axis {
    PM_VIEW_WHERE_NONE,
    PM_VIEW_WHERE_MACHINE,
    PM_VIEW_WHERE_CODE,
    PM_VIEW_WHERE_DATA,
    PM_VIEW_WHERE_MPI,
    PM_VIEW_WHERE_SYNC
};

struct pm_view_grouping {
    /* Does going up the where axis end at that noun? */
    bool (*ends_at)(const struct pm_view *view, pm_index noun);
    /* The data that rows are; NULL: rows are code. */
    bool (*is_object)(const struct pm_view *view, pm_index noun);
    /* Nouns of which one line may have several: their places have columns. */
    bool (*shares_lines)(const struct pm_view *view, pm_index noun);
    enum pm_view_group_key key; /* what two nouns of one group have in common */
    enum pm_view_where_axis where;
    enum pm_runner runner; /* rows are what ran; PM_RUNNER_NONE: what it ran */
    const char *no_object; /* the row of code that touches none; NULL: rows are code */
    const char *not_known; /* the row of code of which that is not known; the same */
    /* What has no costs without samples, for a warning; NULL: all has. */
    const char *needs_samples;
    bool is_named;   /* rows are known by their names; others by their places */
    bool nests;      /* rows may lie in others: loops in loops, and in functions */
    bool is_fine;    /* rows are parts of functions that are not entered */
    bool has_text;   /* rows are lines of the source, or statements: their text can be shown */
    bool by_callee;  /* code is what it is in, whatever called it */
    bool counts_all; /* calls of a row are all that there are: entries of loops are no number */
};

const struct pm_view_grouping *pm_view_grouping(const struct pm_view *view);
const struct pm_view_grouping *pm_view_grouping_by(enum pm_view_by by);

/* groups.c: a construct of the source is one, in however many binaries it was compiled: the first
 * of them that was asked for. False: memory ended. Nouns to be released. */
struct pm_view_same_nouns {
    struct pm_index_map nouns; /* by id and parent's id: the first such noun */
};
PM_MUST_CHECK bool pm_view_find_same_noun(const struct pm_view *view,
                                          struct pm_view_same_nouns *same, pm_index noun,
                                          pm_index *ret_noun);

#endif
