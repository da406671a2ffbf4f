/* Questions that are typed in the page, answered as `perfmap ask` answers them. */
#ifndef PM_VIEW_ASK_H
#define PM_VIEW_ASK_H

#include "cmd/show/page.h"

enum view_ask_kind { VIEW_ASK_TEXT, VIEW_ASK_CSV, VIEW_ASK_WAYS };

/* Adds to ret_text the answer, as a table or as CSV, or how the question may go on, one way a line.
 * options: of the archive, and of which part of the run. Errors: those of show_question. */
PM_MUST_CHECK enum pm_status view_ask(const struct show_page_options *options,
                                      enum view_ask_kind kind, const char *question,
                                      struct pm_error *err, struct pm_buf *ret_text);

#endif
