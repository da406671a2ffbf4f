/* How a view is shown, of all commands that show archives: as a table, as JSON, as CSV; and what
 * their options have in common.
 *
 *     struct pm_view report = {.options = options};
 *     pm_view_make(&report, &err);                 // mapping/view/view.h: archive -> rows
 *     show_format_table.rows(&report, &look, stdout); // formats.h has all of them
 *     pm_view_release(&report);
 *
 *   term         terminals: widths, colours     cells     texts of numbers and headings
 *   table        rows as a table; table_room: its widths; cut: names that are too long for it;
 *                hints: what marks mean        header    what is above a table (header_facts)
 *   formats      the list of formats: table, json and csv (rows for programs; columns: what both
 *                have in common; json_values: of all JSON)
 *   modes        the list of modes              annotation, annotation_top, annotation_json: lines
 *   explanation, explanation_json: the mapping of a construct
 *   answer       to a question: rows in order; answer_table, answer_json, answer_csv
 *   word         words of a program's own
 */
#ifndef PM_SHOW_H
#define PM_SHOW_H

#include "term.h"

#include "mapping/view/view.h"

struct pm_json;
struct pm_vectors;

/* modes.c: the list of them. false: memory ended. */
bool show_modes(struct pm_view *report, const struct show_look *look, FILE *out);
bool show_modes_csv(struct pm_view *report, const struct show_look *look, FILE *out);
void show_modes_json(struct pm_view *report, struct pm_json *json);

/* cut.c: chooses each text for widths[n_shown], cut where it must be, so that no two that
 * are cut look alike. false: memory ended. */
bool show_fit_labels(struct pm_view *report, const struct show_term *term, const int *widths,
                     int place_width, struct pm_view_label *labels);
/* json_values.c: null for PM_UNKNOWN. */
void show_known_json(struct pm_json *json, const char *key, int64_t value);
/* Of options.focus and options.on: "func:sweep, array:u"; null: none. */
void show_foci_json(struct pm_json *json, const char *key, const char *const *foci);
/* Of JSON, the key "vectors": an object, or null when nothing could be decoded. */
void show_vectors_json(const struct pm_vectors *vectors, struct pm_json *json);
/* One field of CSV (RFC 4180), quoted where it must be. */
void show_csv_text(FILE *out, const char *text);

/* hints.c: below a table, what the marks in it mean and what else the archive has. */
struct show_marks {
    bool at_least, preempted; /* a column of time that others had the processor */
    char letters[8];          /* those used */
};
void show_hints(struct pm_view *report, const struct show_term *term,
                const struct show_marks *marks, FILE *out);

/* header.c: what stands above a table. */
void show_header(struct pm_view *report, const struct show_term *term, FILE *out);
/* For CSV, which has rows only: what measuring cost and what the budget did, on standard error. */
void show_say_measuring(struct pm_view *report);
#endif
