/* The page with all of an archive in one file.
 *
 *     struct pm_buf html = PM_BUF_INIT(SIZE_MAX / 2);
 *     status = show_html_write(page, false, SHOW_HTML_MOST_BYTES, &err, &html);
 *
 * The page's own text (page/) is in the program; the build joins it.
 */
#ifndef PM_SHOW_HTML_H
#define PM_SHOW_HTML_H

#include "page.h"

/* What browsers still open within seconds. */
enum { SHOW_HTML_MOST_BYTES = 256 << 20 };

/* embeds_sources: with the files of the source that are found. PM_ERR_LIMIT: the data alone would
 * have more than most_bytes. */
PM_MUST_CHECK enum pm_status show_html_write(struct show_page *page, bool embeds_sources,
                                             uint64_t most_bytes, struct pm_error *err,
                                             struct pm_buf *ret_html);
/* The page without data, that asks its server for them. */
PM_MUST_CHECK bool show_html_served(struct pm_buf *ret_html);

#endif
