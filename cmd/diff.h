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

#include "mapping/compare/compare.h"

/* The archives of a side: operands, and members of those that are selections. */
struct diff_side {
    char **paths; /* owned */
    uint32_t n, cap;
};

/* Puts archives in the place of "E?SELECTION". false: it was told why not, and *ret_exit has the
 * status. */
bool diff_expand(struct cmd_parse *parse, struct diff_side sides[2],
                 struct pm_compare_input inputs[2], int *ret_exit);
void diff_release_side(struct diff_side *side);

#endif
