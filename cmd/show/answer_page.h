/* What the formats of an answer have in common: its rows in order, their texts and numbers
 * (answer.c). */
#ifndef PM_SHOW_ANSWER_PAGE_H
#define PM_SHOW_ANSWER_PAGE_H

#include "answer.h"

struct show_answer_page {
    struct pm_view *report;
    const struct pm_question *question;
    const struct pm_answer *answer;
    const struct show_answer_options *options;
    uint32_t *order; /* of rows */
    uint32_t n_shown;
    pm_index primary; /* metric; PM_NONE: none but calls */
    bool has_shared[PM_VIEW_MAX_METRICS], has_deferred[PM_VIEW_MAX_METRICS], has_times;
};

/* answer_table.c, answer_json.c, answer_csv.c. false: memory ended. */
bool show_answer_table(const struct show_answer_page *page, FILE *out);
bool show_answer_json(const struct show_answer_page *page, FILE *out);
bool show_answer_csv(const struct show_answer_page *page, FILE *out);

/* What a row is; brief: for tables. */
const char *show_answer_row_text(const struct show_answer_page *page,
                                 const struct pm_answer_row *row, bool brief);
/* Of the whole run; NAN: not to be had. */
double show_answer_share_of(const struct show_answer_page *page, const struct pm_amount *amounts);
double show_answer_number_of(const struct pm_graph *graph, pm_index metric,
                             const struct pm_amount *amount);
/* A formula of the view, of such amounts by metric; NAN: not known. */
double show_answer_formula(const struct show_answer_page *page, uint32_t i,
                           const struct pm_amount *amounts);
/* Of the answer's amounts: is some of what it is made of more or less than it says? */
bool show_answer_formula_is_uncertain(const struct show_answer_page *page, uint32_t i);
/* row NULL: of the answer. metric PM_NONE: of any that is shown. */
bool show_answer_is_at_least(const struct show_answer_page *page, const struct pm_answer_row *row,
                             pm_index metric);
bool show_answer_is_at_most(const struct show_answer_page *page, const struct pm_answer_row *row,
                            pm_index metric);
bool show_answer_is_doubtful(const struct show_answer_page *page);
/* Is the number of events that were counted one of few samples, scaled, or perhaps another
 * thread's? m: a position in the report's metrics. */
bool show_answer_count_is_uncertain(const struct show_answer_page *page, uint32_t m,
                                    const struct pm_amount *amounts);
/* Is any number that is shown such a one, or doubtful? */
bool show_answer_is_uncertain(const struct show_answer_page *page, const struct pm_amount *amounts);
/* Are there bounds of the primary metric? Their share of the run, in %. */
bool show_answer_has_bounds(const struct show_answer_page *page);
double show_answer_part_of_run(const struct show_answer_page *page, int64_t part);
/* Is there an upper bound, and is it more than the answer by what is worth a word? */
#define SHOW_TOLD_FROM_PCT 0.5
bool show_answer_has_most(const struct show_answer_page *page);

/* never: that is certain. Not seen: no sample met it. Not known: something is missing, which a
 * note tells. */
enum show_verdict { SHOW_TRUE, SHOW_NEVER, SHOW_NOT_SEEN, SHOW_NOT_KNOWN };
enum show_verdict show_answer_verdict(const struct show_answer_page *page);

#endif
