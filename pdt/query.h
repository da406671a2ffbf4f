/* Queries of a program database: what fits, as rows (docs/pdb.md has the language).
 *
 *     struct pdt_rows *rows;
 *     if (pdt_query(pdb, "loops in routine ^solve", 0, &err, &rows) == PM_OK)
 *         use(pdt_cell(rows, 0, 0), rows->columns[0]);
 *     pdt_rows_free(rows);
 *
 * Columns whose names begin with n_, and `line` and `depth`, are numbers; those that begin with
 * is_ are 0 or 1. Wrong queries are PM_ERR_USAGE, with a suggestion where a word is near.
 */
#ifndef PDT_QUERY_H
#define PDT_QUERY_H

#include "pdb.h"

#include "mapping/base/arena.h"

enum { PDT_MAX_COLUMNS = 16 };

struct pdt_rows {
    const char *columns[PDT_MAX_COLUMNS];
    int n_columns;
    const char **cells; /* row by row; NULL: not known */
    uint64_t n_rows, n_hidden;
    struct pm_arena arena;
};

/* most: rows, 0: all. */
PM_MUST_CHECK enum pm_status pdt_query(struct pm_database *pdb, const char *text, uint64_t most,
                                       struct pm_error *err, struct pdt_rows **ret_rows);
const char *pdt_cell(const struct pdt_rows *rows, uint64_t row, int column);
bool pdt_column_is_number(const char *name);
void pdt_rows_free(struct pdt_rows *rows);

/* Words that may stand first in a query; NULL-ended. */
extern const char *const pdt_query_nouns[];

#endif
