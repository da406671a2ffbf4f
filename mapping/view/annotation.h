/* The lines of a source file with what they cost.
 *
 *     struct pm_annotation annotation = {.view = &view, ...}; // by line
 *     pm_annotation_collect(&annotation, &err);
 *     pm_annotation_release(&annotation);
 */
#ifndef PM_VIEW_ANNOTATION_H
#define PM_VIEW_ANNOTATION_H

#include "late_map.h"
#include "view.h"

struct pm_annotated_line {
    int64_t own; /* of the primary metric: what this line has alone */
    /* with what was inlined there and called from there, as far as that is known */
    int64_t inclusive;
    bool is_at_least; /* something was called from several places, of which this is one */
    int64_t n_samples, waiting_ns;
    bool has_cost, is_statement, has_code; /* has_code: where no map tells, true */
    const char *arrays;                    /* "u, v"; NULL: none are known */
};

/* Lines that are one, for their code is: a row of the report that is a set. */
struct pm_annotated_group {
    const struct pm_view_row *row;
    uint32_t first_line_no, last_line_no; /* within the file */
    uint32_t column;                      /* of the margin, from 0 */
};

/* One of the lines with the most cost, or a set that shares its. */
struct pm_annotation_top {
    const struct pm_view_row *row;
    const char *text; /* as in the source, not indented; NULL: not known, or a set */
};
struct pm_annotation_source;

struct pm_annotation {
    struct pm_view *view; /* by line, all rows */
    const char *file;     /* as the archive has it; NULL: all of them (only with top) */
    uint32_t first_line_no,
        last_line_no;     /* of the function that was asked for; all: 0, UINT32_MAX */
    const char *function; /* or what else lies there; NULL: a whole file */
    const char *asked;    /* the name of several instances */
    uint32_t n_instances; /* of a template, that are added up here; others are not in the numbers */
    uint64_t context;     /* lines shown around those with costs */
    uint64_t top;         /* only so many, those with the most cost first; 0: in order */
    bool all, shows_arrays;

    struct pm_annotated_line *lines; /* [n_lines + 1], by number */
    uint32_t n_lines;
    struct pm_annotated_group *groups; /* by first line, then the longest first */
    uint32_t n_groups, n_columns;
    bool has_inclusive; /* somewhere it is more than a line's own */
    int64_t unplaced;   /* cost of what functions of the file called at places that are not known */
    /* cost of code that functions of the file called, libraries and the kernel; own has it, too */
    int64_t unknown_line;
    int64_t own, shared; /* sums of the primary metric: lines alone; sets with a line here */
    uint32_t waiting;    /* index of that metric in the view; PM_NONE: none is shown */
    char *path, *text;   /* of the source; NULL: not found */
    const char **texts;  /* [n_lines + 1], zero-ended; NULL without source */
    bool is_changed;     /* the source is newer than the run */
    /* those that lie here and compute on numbers, by line: what the vectoriser made of them */
    struct pm_late_loop *loops;
    uint32_t n_loops;
    bool knows_code; /* a late map told which statements have code */

    struct pm_annotation_top *tops; /* with top */
    uint32_t n_tops, n_sources;
    struct pm_annotation_source *sources; /* that texts of tops were read from */
};

PM_MUST_CHECK enum pm_status pm_annotation_collect(struct pm_annotation *annotation,
                                                   struct pm_error *err);
void pm_annotation_release(struct pm_annotation *annotation);
/* pm_annotation_inclusive.c: fills the lines' inclusive costs. */
void pm_annotation_add_inclusive(struct pm_annotation *annotation);
bool pm_annotation_is_member(const struct pm_annotation *annotation,
                             const struct pm_annotated_group *group, uint32_t line_no);
/* Lines that are shown: by number, [n_lines + 2]; to be freed, NULL: memory ended. */
bool *pm_annotation_shown_lines(const struct pm_annotation *annotation);

/* The text of a file of the archive: where the compiler saw it, else from the folder of the run,
 * else from here. Both to be freed; NULL: not found. */
void pm_annotation_read_source(const struct pm_view *view, const char *file, char **ret_path,
                               char **ret_text);
bool pm_annotation_source_is_changed(const struct pm_view *view, const char *path);
/* The line of a group within what was asked for; 0: it is not there. */
uint32_t pm_annotation_line_of_group(const struct pm_annotation *annotation, uint32_t group);

/* pm_annotation_top.c: fills tops. false: memory ended. */
bool pm_annotation_find_top(struct pm_annotation *annotation);
void pm_annotation_release_top(struct pm_annotation *annotation);

/* Of the primary metric. */
int64_t pm_annotation_own(const struct pm_annotation *annotation, const struct pm_view_row *row);
/* A row as a line that has it alone. */
struct pm_annotated_line pm_annotation_numbers(const struct pm_annotation *annotation,
                                               const struct pm_view_row *row);

#endif
