/* What the parts of `perfmap diff` share.
 *
 *     struct diff_side sides[2] = {0};
 *     if (diff_expand(parse, sides, inputs, &exit_status))
 *         exit_status = compare(inputs);
 *     diff_release_side(&sides[0]);
 *     diff_release_side(&sides[1]);
 */
#ifndef PM_CMD_DIFF_H
#define PM_CMD_DIFF_H

#include "cmd/core/cmd.h"

#include "mapping/compare/search.h"
#include "mapping/experiment/experiment.h"

/* The archives of a side: operands, and members of those that are selections. */
struct diff_side {
    char **paths; /* owned */
    uint32_t n, cap;
    /* of the last operand that is a selection; NULL: none is */
    struct pm_experiment *experiment;
    struct pm_experiment_selection chosen;
};

/* Options of diff and compare that say what rows are; those of each command come behind. */
enum {
    DIFF_OPT_LEVEL = CMD_KEY_FIRST,
    DIFF_OPT_BY,
    DIFF_OPT_TREE,
    DIFF_OPT_INCLUSIVE,
    DIFF_OPT_METRIC,
    DIFF_OPT_FOCUS,
    DIFF_OPT_ON,
    DIFF_OPT_GOOD_ONLY,
    DIFF_OPT_OTHERS
};
/* Takes one of them; false: it is another one. */
bool diff_take_row_option(struct cmd_parse *parse, int key, struct pm_compare_options *options);
/* Are there such rows on two sides? It was said why not. */
bool diff_check_rows(struct cmd_parse *parse, const struct pm_compare_options *options);
/* Puts archives in the place of "E?SELECTION". false: it was told why not, and *ret_exit has the
 * status. */
bool diff_expand(struct cmd_parse *parse, struct diff_side sides[2],
                 struct pm_compare_input inputs[2], int *ret_exit);
/* What an experiment keeps of its members does without their archives. */
PM_MUST_CHECK enum pm_status diff_compare(const struct pm_compare_options *options,
                                          const struct diff_side sides[2],
                                          const struct pm_compare_input inputs[2],
                                          struct pm_error *err, struct pm_comparison **ret);
void diff_release_side(struct diff_side *side);

/* diff_page.c: what a page has; to be released also after an error. */
struct diff_parts {
    struct pm_comparison *flat, *tree;
    struct pm_search *search; /* NULL: none was asked for */
};
/* search: NULL: none. Errors as of pm_compare, and of the file. */
PM_MUST_CHECK enum pm_status diff_write_page(const struct pm_compare_options *options,
                                             const struct pm_search_options *search,
                                             const struct pm_compare_input inputs[2],
                                             const char *path, struct pm_error *err,
                                             struct diff_parts *ret_parts);
void diff_release_parts(struct diff_parts *parts);
/* diff_live.c: processes whose run goes on. */
struct diff_live {
    uint64_t pids[2];
    uint32_t n;
    uint64_t every_ms, for_ms; /* 0: not given */
    int (*compare)(struct cmd_parse *parse, void *context,
                   const struct pm_compare_input inputs[2]); /* an exit status */
    void *context;
};
/* The last interval of one process against base, or of the first against the second, without base.
 * Returns an exit status. */
int diff_live(struct cmd_parse *parse, const struct diff_live *live,
              const struct pm_compare_input *base);

#endif
