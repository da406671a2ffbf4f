/* How the mapping of one construct is shown (mapping/view/explanation.h). */
#ifndef PM_SHOW_EXPLANATION_H
#define PM_SHOW_EXPLANATION_H

#include "show.h"

#include "mapping/view/explanation.h"

/* false: memory ended */
bool show_explanation(const struct pm_explanation *x, struct show_term *term, FILE *out);
void show_explanation_json(const struct pm_explanation *x, struct pm_json *json);
/* "sweep+0x40, called by main": machine code as people read it. */
void show_add_code_name(const struct pm_view *report, pm_index sentence, struct pm_buf *line);

#endif
