/* Parts of selections: select_language.c conditions to SQL, select_run.c rows of a run to routines,
 * select.c what is selected, and as a list. */
#ifndef PDT_SELECT_INTERNAL_H
#define PDT_SELECT_INTERNAL_H

#include "query_internal.h"
#include "select.h"

/* All conditions joined, and the columns id, signature, symbol, file, line, is_local, is_template,
 * is_unknown (to the run), is_rough, is_bound, fits. NULL of the last: it is not known whether it
 * does. */
PM_MUST_CHECK enum pm_status select_to_sql(const struct pdt_selection_request *request,
                                           struct pm_error *err, bool *ret_uses_run,
                                           bool *ret_uses_times, struct query_sql *ret_sql);
/* The functions fits_name and fits_path of SQL. */
PM_MUST_CHECK enum pm_status select_add_functions(struct pm_database *pdb, struct pm_error *err);
/* Makes and fills temp.measured: one row for each routine that the run knows. */
PM_MUST_CHECK enum pm_status select_add_run(struct pm_database *pdb, const struct pdt_run *run,
                                            struct pm_error *err);

#define SELECT_IS_OWN "r.is_defined AND NOT r.is_system"

#endif
