/* The answer to a question as CSV. */
#include "answer_page.h"

#include <math.h>

bool show_answer_csv(const struct show_answer_page *page, FILE *out)
{
    const struct pm_view *report = page->report;
    const struct pm_answer *answer = page->answer;
    const struct pm_graph *graph = report->data->graph;
    fputs("what", out);
    for (uint32_t m = 0; m < report->n_metrics; m++)
        fprintf(out, ",%1$s,shared_%1$s,deferred_%1$s", graph->metrics[report->metrics[m]].name);
    fputs(",share_pct,n_times,n_times_complete\n", out);
    for (uint32_t i = 0; i < page->n_shown; i++) {
        const struct pm_answer_row *row = &answer->rows[page->order[i]];
        show_csv_text(out, show_answer_row_text(page, row, false));
        for (uint32_t m = 0; m < report->n_metrics; m++) {
            double number =
                show_answer_number_of(graph, report->metrics[m], &row->amounts[report->metrics[m]]);
            fputc(',', out);
            if (isfinite(number))
                fprintf(out, "%.17g", number);
            fprintf(out, ",%lld,%lld", (long long)row->shared[report->metrics[m]].value,
                    (long long)row->deferred[report->metrics[m]].value);
        }
        double share = show_answer_share_of(page, row->amounts);
        fputc(',', out);
        if (isfinite(share))
            fprintf(out, "%.4f", share);
        if (row->times_known)
            fprintf(out, ",%lld,%d\n", (long long)row->n_times,
                    !row->times_at_least && !row->times_at_most);
        else
            fputs(",,1\n", out);
    }
    return true;
}
