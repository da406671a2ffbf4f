/* The page of a comparison, as one file (docs/formats/page.md).
 *
 *     struct show_diff_page page = {.flat = flat, .options_of_rows = " --by function"};
 *     if (show_diff_html(&page, &html))
 *         status = pm_file_write(path, html.data, html.len, &err);
 */
#ifndef PM_SHOW_DIFF_HTML_H
#define PM_SHOW_DIFF_HTML_H

#include "mapping/base/str.h"
#include "mapping/compare/search.h"

struct show_diff_page {
    const struct pm_comparison *flat;
    const struct pm_comparison *tree; /* NULL: there are no call paths to be drawn */
    const char *why_no_tree;
    const struct pm_search *search; /* NULL: nobody searched */
    /* Of the commands that print the same, each with a blank before it. */
    const char *options_of_rows, *options_of_paths, *options_of_search;
};

/* false: memory ended. */
PM_MUST_CHECK bool show_diff_html(const struct show_diff_page *page, struct pm_buf *ret_html);

#endif
