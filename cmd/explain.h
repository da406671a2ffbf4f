/* perfmap explain, between its files: how mapping/view/explanation.h is shown, and words of the
 * program. */
#ifndef PM_CMD_EXPLAIN_H
#define PM_CMD_EXPLAIN_H

#include "report.h"

#include "mapping/view/explanation.h"

bool explanation_print(const struct pm_explanation *x, struct report_term *term,
                       FILE *out); /* false: memory ended */
struct pm_json;
/* explain_word.c: nouns of levels that the run itself brought, or of other kinds than code at
 * the level of machine code. */
bool explain_is_word(const struct pm_view *report, pm_index noun);
PM_MUST_CHECK enum pm_status explain_word_print(struct pm_view *report, pm_index noun,
                                                const struct report_term *term, FILE *out,
                                                struct pm_error *err);
PM_MUST_CHECK enum pm_status explain_word_json(struct pm_view *report, pm_index noun,
                                               struct pm_json *json, struct pm_error *err);
void explanation_json(const struct pm_explanation *x, struct pm_json *json);

#endif
