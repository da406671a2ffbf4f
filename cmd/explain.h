/* perfmap explain, between its files: what is known of the mapping of one construct.
 *
 *     explanation_collect(&explanation, views, noun, &maps, &err);    // explain_collect.c
 *     explanation_print(...);                                        // explain_print.c
 *     explanation_release(&explanation);
 */
#ifndef PM_CMD_EXPLAIN_H
#define PM_CMD_EXPLAIN_H

#include "late_map.h"
#include "report.h"

/* The same archive, the same grouping, the rules one after the other. */
enum { EXPLAIN_RULES = PM_RULE_SPLIT + 1 };
struct explain_views {
    struct report reports[EXPLAIN_RULES]; /* by enum pm_rule; merge has bounds */
};

/* Machine code that was measured and is mapped to the construct. */
struct explained_code {
    pm_index sentence, context;
    int64_t own, n_samples;
    const struct pm_mapping *mapping; /* to the construct; NULL: on a longer way */
};

/* A range of a late map that implements the construct. */
struct explained_range {
    const struct pm_code_range *range;
    uint64_t size_bytes; /* with those that follow it and say the same */
    const struct late_map *map;
    const struct pm_code_also
        *also; /* the construct is implemented by it, too; NULL: it is its own */
};

struct explanation {
    const struct explain_views *views;
    pm_index noun;
    uint32_t group;                 /* PM_NONE: nothing leads to it */
    const struct report_row *alone; /* rule merge: its own row; NULL */
    const struct report_row *closed, *split;
    struct explained_code *codes; /* most cost first */
    size_t n_codes;
    struct explained_range *ranges;
    size_t n_ranges, cap_ranges;
    bool is_covered; /* a late map that could be read tells of its code */
};

PM_MUST_CHECK enum pm_status explanation_collect(struct explanation *x,
                                                 const struct explain_views *views, pm_index noun,
                                                 const struct late_maps *maps,
                                                 struct pm_error *err);
void explanation_release(struct explanation *x);
bool explanation_row_has(const struct report_row *row, uint32_t group);
int64_t explanation_own(const struct report *report,
                        const struct report_row *row); /* of the primary metric; 0 for NULL */
/* The name of a noun with this id (PIF's) at level Base or Source; NULL: it is not in the archive. */
const char *explanation_name(const struct report *report, pm_id id);

bool explanation_print(const struct explanation *x, struct report_term *term,
                       FILE *out); /* false: memory ended */
struct pm_json;
/* explain_word.c: nouns of levels that the run itself brought, or of other kinds than code at the level of machine code. */
bool explain_is_word(const struct report *report, pm_index noun);
PM_MUST_CHECK enum pm_status explain_word_print(struct report *report, pm_index noun,
                                                const struct report_term *term, FILE *out,
                                                struct pm_error *err);
PM_MUST_CHECK enum pm_status explain_word_json(struct report *report, pm_index noun,
                                               struct pm_json *json, struct pm_error *err);
void explanation_json(const struct explanation *x, struct pm_json *json);

#endif
