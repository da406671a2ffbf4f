/* What is known of the mapping of one construct.
 *
 *     pm_explanation_collect(&explanation, views, noun, &maps, &err);
 *     pm_explanation_release(&explanation);
 */
#ifndef PM_VIEW_EXPLANATION_H
#define PM_VIEW_EXPLANATION_H

#include "late_map.h"
#include "view.h"

/* The same archive, the same grouping, the rules one after the other. */
enum { PM_EXPLAIN_RULES = PM_RULE_SPLIT + 1 };
struct pm_explain_views {
    struct pm_view reports[PM_EXPLAIN_RULES]; /* by enum pm_rule; merge has bounds */
};

/* Machine code that was measured and is mapped to the construct. */
struct pm_explained_code {
    pm_index sentence, context;
    int64_t own, n_samples;
    const struct pm_mapping *mapping; /* to the construct; NULL: on a longer way */
};

/* A range of a late map that implements the construct. */
struct pm_explained_range {
    const struct pm_code_range *range;
    uint64_t size_bytes; /* with those that follow it and say the same */
    const struct pm_late_map *map;
    /* the construct is implemented by it, too; NULL: it is its own */
    const struct pm_code_also *also;
};

struct pm_explanation {
    const struct pm_explain_views *views;
    pm_index noun;
    uint32_t group;                  /* PM_NONE: nothing leads to it */
    const struct pm_view_row *alone; /* rule merge: its own row; NULL */
    const struct pm_view_row *closed, *split;
    struct pm_explained_code *codes; /* most cost first */
    size_t n_codes;
    struct pm_explained_range *ranges;
    size_t n_ranges, cap_ranges;
    struct pm_vectors vectors; /* of the ranges' instructions, as far as they could be decoded */
    bool is_covered;           /* a late map that could be read tells of its code */
};

PM_MUST_CHECK enum pm_status pm_explanation_collect(struct pm_explanation *x,
                                                    const struct pm_explain_views *views,
                                                    pm_index noun, const struct pm_late_maps *maps,
                                                    struct pm_error *err);
void pm_explanation_release(struct pm_explanation *x);
/* Data that more is done with than is known: nothing bounds it. */
bool pm_explanation_is_open(const struct pm_explanation *x);
bool pm_explanation_row_has(const struct pm_view_row *row, uint32_t group);
int64_t pm_explanation_own(const struct pm_view *view,
                           const struct pm_view_row *row); /* of the primary metric; 0 for NULL */
/* The name of a noun with this id (PIF's) at level Base or Source; NULL: it is not in the
 * archive. */
const char *pm_explanation_name(const struct pm_view *view, pm_id id);

#endif
