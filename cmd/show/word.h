/* Words of a program's own: what was spent while they were active, and what is mapped to what. */
#ifndef PM_SHOW_WORD_H
#define PM_SHOW_WORD_H

#include "show.h"

#include "mapping/view/word.h"

/* adapter: that may have said the word; NULL: none is known. */
PM_MUST_CHECK enum pm_status show_word(struct pm_view *report, pm_index noun, const char *adapter,
                                       const struct show_term *term, FILE *out,
                                       struct pm_error *err);
PM_MUST_CHECK enum pm_status show_word_json(struct pm_view *report, pm_index noun,
                                            const char *adapter, struct pm_json *json,
                                            struct pm_error *err);

#endif
