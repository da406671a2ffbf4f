/* Where in the run two sides begin to differ, as text, JSON, CSV.
 *
 *     show_when_text(when, &look, stdout);
 */
#ifndef PM_SHOW_WHEN_H
#define PM_SHOW_WHEN_H

#include "term.h"

#include "mapping/compare/when.h"

void show_when_text(const struct pm_parting *when, const struct show_look *look, FILE *out);
void show_when_json(const struct pm_parting *when, FILE *out);
void show_when_csv(const struct pm_parting *when, FILE *out);

#endif
