/* A comparison of runs, as a table, as JSON, as CSV.
 *
 *     show_diff_table(comparison, &(struct show_diff_options){.limit = 20}, &look, stdout);
 */
#ifndef PM_SHOW_DIFF_H
#define PM_SHOW_DIFF_H

#include "term.h"

#include "mapping/compare/compare.h"

struct show_diff_options {
    uint64_t limit; /* rows; 0: all */
};

/* false: memory ended. */
bool show_diff_table(const struct pm_comparison *comparison,
                     const struct show_diff_options *options, const struct show_look *look,
                     FILE *out);
void show_diff_json(const struct pm_comparison *comparison, const struct show_diff_options *options,
                    FILE *out);
void show_diff_csv(const struct pm_comparison *comparison, const struct show_diff_options *options,
                   FILE *out);

#endif
