/* What a search found: the failed foci as a tree, as JSON, as CSV.
 *
 *     show_search_table(search, &(struct show_diff_options){.limit = 20}, &look, stdout);
 */
#ifndef PM_SHOW_SEARCH_H
#define PM_SHOW_SEARCH_H

#include "diff.h"

#include "mapping/compare/search.h"

/* false: memory ended. */
bool show_search_table(const struct pm_search *search, const struct show_diff_options *options,
                       const struct show_look *look, FILE *out);
void show_search_json(const struct pm_search *search, const struct show_diff_options *options,
                      FILE *out);
void show_search_csv(const struct pm_search *search, const struct show_diff_options *options,
                     FILE *out);

#endif
