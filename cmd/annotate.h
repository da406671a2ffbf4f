/* perfmap annotate, between its files: the lines of a source file with what they cost.
 *
 *     struct annotation annotation = {.report = &report, ...};
 *     annotation_collect(&annotation, &err);        // annotate_lines.c
 *     annotation_print(&annotation, stdout);        // annotate_print.c, or annotation_print_json;
 *                                                   // with .top annotation_print_top: annotate_top.c
 *     annotation_release(&annotation);
 */
#ifndef PM_CMD_ANNOTATE_H
#define PM_CMD_ANNOTATE_H

#include "report.h"

struct annotated_line {
    int64_t own; /* of the primary metric: what this line has alone */
    int64_t
        inclusive; /* with what was inlined there and called from there, as far as that is known */
    bool is_at_least; /* something was called from several places, of which this is one */
    int64_t n_samples, waiting_ns;
    bool has_cost, is_statement, has_code; /* has_code: where no map tells, true */
    const char *arrays;                    /* "u, v"; NULL: none are known */
};

/* Lines that are one, for their code is: a row of the report that is a set. */
struct annotated_group {
    const struct report_row *row;
    uint32_t first_line_no, last_line_no; /* within the file */
    uint32_t column;                      /* of the margin, from 0 */
};

/* One of the lines with the most cost, or a set that shares its. */
struct annotation_top {
    const struct report_row *row;
    const char *text; /* as in the source, not indented; NULL: not known, or a set */
};
struct annotation_source;

struct annotation {
    struct report *report; /* by line, all rows */
    const char *file;      /* as the archive has it; NULL: all of them (only with top) */
    uint32_t first_line_no,
        last_line_no;     /* of the function that was asked for; all: 0, UINT32_MAX */
    const char *function; /* or what else lies there; NULL: a whole file */
    const char *asked;    /* the name of several instances */
    uint32_t n_instances; /* of a template, that are added up here; others are not in the numbers */
    uint64_t context;     /* lines shown around those with costs */
    uint64_t top;         /* only so many, those with the most cost first; 0: in order */
    bool all, shows_arrays;

    struct annotated_line *lines; /* [n_lines + 1], by number */
    uint32_t n_lines;
    struct annotated_group *groups; /* by first line, then the longest first */
    uint32_t n_groups, n_columns;
    bool has_inclusive; /* somewhere it is more than a line's own */
    int64_t unplaced;   /* cost of what functions of the file called at places that are not known */
    int64_t own, shared; /* sums of the primary metric: lines alone; sets with a line here */
    uint32_t waiting;    /* index of that metric in the report; PM_NONE: none is shown */
    char *path, *text;   /* of the source; NULL: not found */
    const char **texts;  /* [n_lines + 1], zero-ended; NULL without source */
    bool is_changed;     /* the source is newer than the run */
    bool knows_code;     /* a late map told which statements have code */

    struct annotation_top *tops; /* with top */
    uint32_t n_tops, n_sources;
    struct annotation_source *sources; /* that texts of tops were read from */
};

PM_MUST_CHECK enum pm_status annotation_collect(struct annotation *annotation,
                                                struct pm_error *err);
void annotation_release(struct annotation *annotation);
/* annotate_inclusive.c: fills the lines' inclusive costs. */
void annotation_add_inclusive(struct annotation *annotation);
bool annotation_is_member(const struct annotation *annotation, const struct annotated_group *group,
                          uint32_t line_no);
/* Lines that are shown: by number, [n_lines + 2]; to be freed, NULL: memory ended. */
bool *annotation_shown_lines(const struct annotation *annotation);

/* The text of a file of the archive: where the compiler saw it, else from the folder of the run, else
 * from here. Both to be freed; NULL: not found. */
void annotation_read_source(const struct report *report, const char *file, char **ret_path,
                            char **ret_text);
bool annotation_source_is_changed(const struct report *report, const char *path);
/* The line of a group within what was asked for; 0: it is not there. */
uint32_t annotation_line_of_group(const struct annotation *annotation, uint32_t group);

/* annotate_top.c: fills tops. false: memory ended. */
bool annotation_find_top(struct annotation *annotation);
void annotation_release_top(struct annotation *annotation);

/* annotate_print.c: how the numbers are shown. */
struct annotation_view {
    struct annotation *a;
    struct report_term term;
    FILE *out;
    double divisor, total; /* of the primary metric: of the run, or of the focus */
    const char *unit;
    int decimals, own_width, inclusive_width, waiting_width, samples_width, arrays_width,
        line_width;
    bool has_at_least, has_few, has_brackets, has_dashes; /* marks that were printed */
};
struct annotation_view annotation_view(struct annotation *annotation, FILE *out);
const char *annotation_color(const struct annotation_view *view, const char *code);
/* What stands before a line. NULL: nothing, for it has no cost. */
void annotation_put_numbers(struct annotation_view *view, const struct annotated_line *numbers,
                            bool has_code);
int annotation_numbers_width(const struct annotation_view *view);
struct annotated_line annotation_numbers(const struct annotation *annotation,
                                         const struct report_row *row);
void annotation_put_numbers_head(const struct annotation_view *view);
/* Tabs as blanks, printable. NULL: memory ended. */
const char *annotation_text(struct annotation *annotation, const char *line);
/* "{heat.c:42, heat.c:43} vectorised together". NULL: memory ended. */
const char *annotation_group_text(struct annotation *annotation, const struct report_row *row);
void annotation_put_legend(const struct annotation_view *view);
int64_t annotation_own(const struct annotation *annotation, const struct report_row *row);

/* false: memory ended */
bool annotation_print_top(struct annotation *annotation, FILE *out);
bool annotation_print(struct annotation *annotation, FILE *out);
void annotation_print_json(struct annotation *annotation, FILE *out);

#endif
