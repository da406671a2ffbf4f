/* The formats of a report: each is a struct of functions that write a view, in a file of its own;
 * formats.def lists them.
 *
 *     const struct show_format *format = show_formats[SHOW_FORMAT_csv];
 *     if (!format->rows(&report, &look, stdout))
 *         status = PM_ERR_MEMORY;
 *
 * One of your own writes rows[0 .. n_shown - 1], whose what and place are printable, then the rest
 * (view.h) where n_shown is less than n_rows, and the total. pm_view_columns has what they have.
 */
#ifndef PM_SHOW_FORMATS_H
#define PM_SHOW_FORMATS_H

#include "show.h"

struct show_format {
    const char *word;     /* of its option */
    bool is_for_programs; /* who wants all rows and columns, with numbers in them or not */
    bool is_rows_only;    /* what else there is to say goes to standard error */
    /* The rows, or the list of modes in place of them (NULL: as the table has it). false: memory
     * ended. */
    bool (*rows)(struct pm_view *report, const struct show_look *look, FILE *out);
    bool (*modes)(struct pm_view *report, const struct show_look *look, FILE *out);
};

enum {
#define FORMAT(word, help) SHOW_FORMAT_##word,
#include "formats.def"
#undef FORMAT
    SHOW_N_FORMATS
};

#define FORMAT(word, help) extern const struct show_format show_format_##word;
#include "formats.def"
#undef FORMAT

extern const struct show_format *const show_formats[SHOW_N_FORMATS];
extern const struct show_format show_format_table; /* what is written when none is asked for */

#endif
