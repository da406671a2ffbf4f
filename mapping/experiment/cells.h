/* What members have, row by row, kept in the experiment: reports lifted to functions, loops,
 * statements and arrays, so that a thousand runs are compared without opening their archives.
 *
 *     status = experiment_add_cells(experiment, &run, err);    // when it becomes a member
 *
 * Rows are matched once per build: the first build of the experiment is the reference of all
 * others (mapping/compare/build.h). A row has one id in all of them.
 *
 * The blob of a member, grouping and metric is a list of numbers (LEB128): for each row, in the
 * order of ids, the step of ids since the last one times 16, plus CELL_...; then its value, as 8
 * bytes of a double with CELL_REAL, and none with CELL_UNKNOWN. Rows without costs are left out.
 */
#ifndef PM_EXPERIMENT_CELLS_H
#define PM_EXPERIMENT_CELLS_H

#include "experiment_internal.h"

#include "mapping/compare/build.h"
#include "mapping/compare/compare.h"

enum { CELL_AT_LEAST = 1, CELL_UNCERTAIN = 2, CELL_UNKNOWN = 4, CELL_REAL = 8 };

/* Those that are kept. */
extern const enum pm_view_by experiment_groupings[];
enum { EXPERIMENT_N_GROUPINGS = 4 };

struct experiment_archive {
    const char *path;
    const struct pm_archive_data *data;
    int64_t member, build;
    const char *metric; /* what its report shows first; "" none */
};

/* What the archive is loaded and looked at with. */
struct pm_view_options experiment_view_options(enum pm_view_by by);
/* In the transaction that makes it a member. */
PM_MUST_CHECK enum pm_status experiment_add_cells(struct pm_experiment *experiment,
                                                  const struct experiment_archive *archive,
                                                  struct pm_error *err);

/* --- cell by cell --- */

struct experiment_cell {
    uint32_t row;
    struct pm_compare_cell cell;
};

void experiment_put_cell(struct pm_buf *out, uint32_t *last_row, uint32_t row,
                         const struct pm_compare_cell *cell);
/* false: the end, or damage (cursor->failed). */
bool experiment_next_cell(struct pm_cursor *cursor, uint32_t *last_row,
                          struct experiment_cell *ret);

#endif
