/* A comparison of runs, as a table, as JSON, as CSV.
 *
 *     show_diff_table(comparison, &(struct show_diff_options){.limit = 20}, &look, stdout);
 */
#ifndef PM_SHOW_DIFF_H
#define PM_SHOW_DIFF_H

#include "term.h"

#include "mapping/compare/compare.h"

struct show_diff_options {
    uint64_t limit;       /* rows; 0: all */
    const char *heading;  /* above the columns; NULL: level, rows and metric */
    const char *few_runs; /* what is to be said of too few runs; NULL: the usual */
};

/* false: memory ended; of data that shows on the stream. */
bool show_diff_table(const struct pm_comparison *comparison,
                     const struct show_diff_options *options, const struct show_look *look,
                     FILE *out);
bool show_diff_json(const struct pm_comparison *comparison, const struct show_diff_options *options,
                    FILE *out);
bool show_diff_csv(const struct pm_comparison *comparison, const struct show_diff_options *options,
                   FILE *out);

/* Only what stands above the columns: the sides, notes, and options->heading. */
void show_diff_head(const struct pm_comparison *comparison, const struct show_diff_options *options,
                    const struct show_look *look, FILE *out);
/* Rows that are shown: positions, in their order. */
struct show_diff_rows {
    uint32_t *rows;
    bool *is_holder; /* [n_rows] of a tree: it is shown for what lies in it */
    uint32_t n;
};
/* limit: 0: all; of a tree: and all that they lie in. False: memory ended. */
PM_MUST_CHECK bool show_diff_choose(const struct pm_comparison *comparison, uint64_t limit,
                                    struct show_diff_rows *ret);
void show_diff_rows_release(struct show_diff_rows *rows);

/* What is said of fewer runs than verdicts take. */
extern const char show_diff_few_runs[];
/* What the metric is called above a table. */
const char *show_diff_metric(const struct pm_comparison *comparison);
/* Parts of the above, for what has rows of a comparison in JSON of its own: a member, or with key
 * NULL an element; what and members behind them are the caller's. */
struct pm_json;
void show_diff_json_head(const struct pm_comparison *comparison, struct pm_json *json);
void show_diff_json_numbers(const struct pm_comparison *comparison,
                            const struct pm_compare_row *row, struct pm_json *json);
void show_diff_csv_numbers(const struct pm_comparison *comparison, const struct pm_compare_row *row,
                           FILE *out);
extern const char show_diff_csv_columns[]; /* of those, each behind a comma */

#endif
