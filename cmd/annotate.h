/* perfmap annotate, between its files: the lines of a source file with what they cost.
 *
 *     struct annotation annotation = {.report = &report, ...};
 *     annotation_collect(&annotation, &err);        // annotate_lines.c
 *     annotation_print(&annotation, stdout);        // annotate_print.c, or annotation_print_json
 *     annotation_release(&annotation);
 */
#ifndef PM_CMD_ANNOTATE_H
#define PM_CMD_ANNOTATE_H

#include "report.h"

struct annotated_line {
    int64_t own; /* of the primary metric: what this line has alone */
    int64_t n_samples;
    bool has_cost, is_statement, has_code; /* has_code: where no map tells, true */
    const char *arrays;                    /* "u, v"; NULL: none are known */
};

/* Lines that are one, for their code is: a row of the report that is a set. */
struct annotated_group {
    const struct report_row *row;
    uint32_t first_line_no, last_line_no; /* within the file */
    uint32_t column;                      /* of the margin, from 0 */
};

struct annotation {
    struct report *report; /* by line, all rows */
    const char *file;      /* as the archive has it */
    uint32_t first_line_no,
        last_line_no;     /* of the function that was asked for; all: 0, UINT32_MAX */
    const char *function; /* NULL: a whole file */
    uint64_t context;     /* lines shown around those with costs */
    bool all, shows_arrays;

    struct annotated_line *lines; /* [n_lines + 1], by number */
    uint32_t n_lines;
    struct annotated_group *groups; /* by first line, then the longest first */
    uint32_t n_groups, n_columns;
    int64_t own, shared; /* sums of the primary metric: lines alone; sets with a line here */
    char *path, *text;   /* of the source; NULL: not found */
    const char **texts;  /* [n_lines + 1], zero-ended; NULL without source */
    bool is_changed;     /* the source is newer than the run */
    bool knows_code;     /* a late map told which statements have code */
};

PM_MUST_CHECK enum pm_status annotation_collect(struct annotation *annotation,
                                                struct pm_error *err);
void annotation_release(struct annotation *annotation);
bool annotation_is_member(const struct annotation *annotation, const struct annotated_group *group,
                          uint32_t line_no);
/* Lines that are shown: by number, [n_lines + 2]; to be freed, NULL: memory ended. */
bool *annotation_shown_lines(const struct annotation *annotation);

bool annotation_print(struct annotation *annotation, FILE *out); /* false: memory ended */
void annotation_print_json(struct annotation *annotation, FILE *out);

#endif
