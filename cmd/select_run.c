/* What an archive says of its functions, as reports by function do. */
#include "select.h"

#include <math.h>

/* The times of the row; m: of the view's metrics. */
static void take_times(const struct pm_view *view, const struct pm_view_row *row, uint32_t m,
                       struct pdt_run_row *to)
{
    to->own_ns = (double)row->values[m].own.value;
    to->inclusive_ns = (double)row->values[m].inclusive;
    to->times_are_at_least =
        pm_view_is_at_least(view, row, m, false) || pm_view_is_at_least(view, row, m, true);
    to->is_rough = pm_view_is_uncertain(view, row) || pm_view_is_doubtful(view, row, false);
}

/* Constructs that are one for the view have one time: none of them has its own. */
static void take_row(const struct pm_view *view, const struct pm_view_row *row, uint32_t m,
                     struct pdt_run *run)
{
    const struct pm_view_traits *traits = &row->traits;
    if (row->kind != PM_VIEW_ROW_NOUN)
        return;
    pm_index n = pm_view_row_noun(view, row, 0);
    if (n == PM_NONE || !pm_view_noun_is(view, n, "function"))
        return;
    const struct pm_graph_noun *noun = &view->data->graph->nouns[n];
    struct pdt_run_row *to = &run->rows[run->n_rows++];
    *to = (struct pdt_run_row){.name = noun->name,
                               .linkage = *noun->linkage ? noun->linkage : NULL,
                               .file = noun->file,
                               .line = noun->line_no,
                               .n_calls = (double)row->n_calls,
                               .own_ns = NAN,
                               .inclusive_ns = NAN,
                               .calls_are_at_least = traits->calls_are_at_least};
    if (traits->calls_are_unknown && row->n_calls == 0)
        to->n_calls = NAN;
    if (m < view->n_metrics)
        take_times(view, row, m, to);
}

static enum pm_status take_rows(const char *path, struct pm_error *err, struct select_run *run)
{
    const struct pm_view *view = &run->view;
    const char *slash = strrchr(path, '/');
    uint32_t m = 0;
    while (m < view->n_metrics && view->metrics[m] != view->time_metric)
        m++;
    run->run = (struct pdt_run){.name = slash ? slash + 1 : path,
                                .rows = pm_alloc_array(view->n_rows + 1, sizeof *run->run.rows)};
    if (!run->run.rows)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory for the rows of '%s'", path);
    for (uint32_t i = 0; i < view->n_rows; i++)
        take_row(view, &view->rows[i], m, &run->run);
    if (m < view->n_metrics)
        run->run.total_ns = (double)view->total.values[m].own.value;
    return PM_OK;
}

enum pm_status select_run_load(const char *path, struct pm_error *err, struct select_run *ret_run)
{
    *ret_run = (struct select_run){.view.options = {.archive_path = path,
                                                    .level = "source",
                                                    .by = PM_VIEW_BY_FUNCTION,
                                                    .rule = PM_RULE_MERGE,
                                                    .sort = PM_VIEW_SORT_DEFAULT}};
    enum pm_status status = pm_view_make(&ret_run->view, err);
    if (status == PM_ERR_FORMAT)
        cmd_add_file_hint(path, CMD_FILE_ARCHIVE, err);
    if (status != PM_OK)
        return status;
    return take_rows(path, err, ret_run);
}

void select_run_release(struct select_run *run)
{
    free(run->run.rows);
    pm_view_release(&run->view);
}
