/* A page for browsers as one file: its text (page/, in the program), and chunks of data in it.
 *
 *     show_html_begin(&html, SHOW_HTML_DIFF, false);
 *     if (show_html_pack(&bytes))
 *         show_html_add_chunk(&html, "chunk", 0, &bytes);
 *     show_html_end(&html, SHOW_HTML_DIFF);
 */
#ifndef PM_SHOW_HTML_FILE_H
#define PM_SHOW_HTML_FILE_H

#include "mapping/base/str.h"

enum show_html_page { SHOW_HTML_REPORT, SHOW_HTML_DIFF };

/* What stands before the data, and behind them. is_served: data come from a server. */
void show_html_begin(struct pm_buf *out, enum show_html_page page, bool is_served);
void show_html_end(struct pm_buf *out, enum show_html_page page);
/* bytes: packed. name: "chunk", or "part" of what the same chunk of an interval has. */
void show_html_add_chunk(struct pm_buf *out, const char *name, uint32_t number,
                         const struct pm_buf *bytes);
/* As `deflate` of browsers' DecompressionStream reads it (RFC 1950). False: memory ended. */
PM_MUST_CHECK bool show_html_pack(struct pm_buf *bytes);

#endif
