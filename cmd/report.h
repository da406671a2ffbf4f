/* How a view is shown, of all commands that show archives: as a table, as JSON, as CSV; and what
 * their options have in common.
 *
 *     struct pm_view report = {.options = options};
 *     pm_view_make(&report, &err);                 // mapping/view/view.h: archive -> rows
 *     report_print_table(&report, &look, stdout); // or report_print_json, report_print_csv
 *     pm_view_release(&report);
 */
#ifndef PM_CMD_REPORT_H
#define PM_CMD_REPORT_H

#include "cmd/core/talk.h"
#include "mapping/view/view.h"

struct pm_json;
struct pm_vectors;

enum report_color { REPORT_COLOR_AUTO, REPORT_COLOR_ALWAYS, REPORT_COLOR_NEVER };

/* How text is to look, of all commands that show archives. */
struct report_look {
    enum report_color color;
    bool has_width;
    uint64_t width; /* columns; 0: as wide as it takes */
};

/* report_term.c: text on terminals. */
struct report_term {
    int width;  /* columns; 0: nobody counts them */
    bool whole; /* texts are not cut, however long they are */
    bool utf8, color;
};

/* report_modes_print.c: the list of them. */
bool report_print_modes(struct pm_view *report, FILE *out); /* false: memory ended */
void report_modes_csv(struct pm_view *report, FILE *out);
void report_modes_json(struct pm_view *report, struct pm_json *json);

/* report_cut.c: chooses each text for widths[n_shown], cut where it must be, so that no two that
 * are cut look alike. false: memory ended. */
bool report_fit_labels(struct pm_view *report, const struct report_term *term, const int *widths,
                       int place_width, struct pm_view_label *labels);
/* false: memory ended, and nothing was printed. */
bool report_print_table(struct pm_view *report, const struct report_look *look, FILE *out);
void report_print_json(struct pm_view *report, FILE *out);
/* null for PM_UNKNOWN */
void report_known_json(struct pm_json *json, const char *key, int64_t value);
/* Of JSON, the key "vectors": an object, or null when nothing could be decoded. */
void report_vectors_json(const struct pm_vectors *vectors, struct pm_json *json);
void report_print_csv(struct pm_view *report, FILE *out);
/* One field of CSV (RFC 4180), quoted where it must be. */
void report_csv_text(FILE *out, const char *text);

/* What texts of a table may take where nobody counts columns: a mangled name has 60 000 at
 * times. */
enum { REPORT_NAME_MOST = 160, REPORT_PLACE_MOST = 80 };

/* report_hints.c: below a table, what the marks in it mean and what else the archive has.
 * letters: those used. */
void report_print_hints(struct pm_view *report, const struct report_term *term, bool has_at_least,
                        const char *letters, FILE *out);

#define REPORT_RESET "\033[0m"
#define REPORT_BOLD "\033[1m"
#define REPORT_DIM "\033[2m"
#define REPORT_RED "\033[31m"
#define REPORT_YELLOW "\033[33m"
#define REPORT_GREEN "\033[32m"

/* report_text.c: one unit for a column of amounts, by their total: ms, KiB; numbers are divided
 * by `divisor`. */
struct report_scale {
    double divisor;
    const char *unit;
    int decimals;
};
struct report_scale report_scale_of(const struct pm_metric *metric, double total, bool utf8);
/* report_header.c: what stands above a table. */
void report_print_header(struct pm_view *report, const struct report_term *term, FILE *out);
/* For CSV, which has rows only: what measuring cost and what the budget did, on standard error. */
void report_say_measuring(struct pm_view *report);
struct report_term report_term_of(FILE *out, const struct report_look *look);
/* Names lose their middle: a function's own name is at their end. Not padded. */
void report_put_cut_middle(const struct report_term *term, FILE *out, const char *printable,
                           int width);
/* Writes text in exactly `width` columns: cut with an ellipsis (at the left for paths), padded on
 * the right. */
void report_put_cut(const struct report_term *term, FILE *out, const char *printable, int width,
                    bool cut_left, bool pad);

#endif
