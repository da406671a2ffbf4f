/* perfmap report, between its files: what was asked, the rows that answer it, and who prints them.
 *
 *     struct report report = {.options = options};
 *     report_make(&report, &err);          // report_query.c: archive -> rows
 *     report_print_table(&report, stdout); // or report_print_json, report_print_csv
 *     report_release(&report);
 */
#ifndef PM_CMD_REPORT_H
#define PM_CMD_REPORT_H

#include "mapping/archive/load.h"
#include "mapping/base/arena.h"
#include "mapping/base/str.h"
#include "mapping/graph/calls.h"
#include "mapping/graph/lift.h"

enum report_by { REPORT_BY_FUNCTION, REPORT_BY_LOOP, REPORT_BY_FILE };
enum report_sort {
    REPORT_SORT_OWN,
    REPORT_SORT_INCLUSIVE,
    REPORT_SORT_CALLS,
    REPORT_SORT_NAME,
    REPORT_SORT_PLACE,
    REPORT_SORT_DEFAULT
};
enum report_color { REPORT_COLOR_AUTO, REPORT_COLOR_ALWAYS, REPORT_COLOR_NEVER };

enum { REPORT_MAX_METRICS = 8 };

struct report_options {
    const char *archive_path;
    const char *level; /* as asked, in any case */
    enum report_by by;
    enum pm_rule rule;
    bool tree, bounds, no_compensation;
    const char *metrics; /* names separated by commas; NULL: the usual ones */
    const char *focus;   /* NULL: everything */
    uint64_t limit;      /* rows; 0: all */
    enum report_sort sort;
    enum report_color color;
};

/* What sentences count as after going up the where axis: a row's destination. */
struct report_group {
    pm_index noun; /* a noun of it (its own one, but for files that are no noun) */
    pm_index verb;
    pm_index place;     /* machine code: the noun of the source that it is mapped to; PM_NONE */
    const char *file;   /* --by file where there is no file noun: its name; else NULL */
    bool is_outside;    /* time outside instrumented code: sentences of processes. Its noun is the
                           process where each program has a row of its own, else PM_NONE */
    bool many_binaries; /* it was compiled into several */
    bool has_loops;     /* --by loop, functions: loops of it have rows of their own */
};

enum report_row_kind { REPORT_ROW_NOUN, REPORT_ROW_SET, REPORT_ROW_UNMAPPED, REPORT_ROW_OUTSIDE };

/* Amounts of one metric. Averages: see pm_amount. */
struct report_value {
    struct pm_amount own;
    int64_t inclusive;
    struct pm_bounds bounds;
};

struct report_row {
    enum report_row_kind kind;
    pm_index source;        /* unmapped: the sentence */
    const uint32_t *groups; /* positions in report->groups, lent by the lift */
    uint32_t n_groups;
    uint32_t id, parent_id, depth; /* tree: parent_id PM_NONE at the top */
    int64_t
        n_calls; /* how often it was entered: calls of functions, entries of loops (--by loop) */
    int64_t n_loop_entries; /* entries of loops inside, where rows are functions or files */
    bool has_bounds;
    struct report_value *values; /* [n_metrics] */
    const char *what, *place;    /* for people, printable; NULL: not named yet; report_names.c */
    bool last_child;             /* tree, among the rows that are shown */
};

struct report {
    struct report_options options;
    struct pm_archive_data *data;
    struct pm_arena arena;
    pm_index level; /* PM_NONE: nothing in the archive is at that level */
    const char *level_name;
    pm_index metrics[REPORT_MAX_METRICS]; /* shown, in order; not n_calls */
    uint32_t n_metrics;
    uint32_t primary; /* of metrics: the one for shares and bars; n_metrics: n_calls */
    pm_index calls_metric, time_metric; /* PM_NONE: not in the archive */
    bool shows_calls;
    int64_t taken_out_ns;  /* by report_compensate */
    bool measured_nothing; /* no instrumented code ran: nothing but processes has costs */
    struct report_group *groups;
    uint32_t n_groups;
    pm_index *group_of; /* per sentence */
    struct pm_lift *lift;
    bool *in_focus;           /* per context */
    struct report_row *rows;  /* sorted; tree: depth first */
    uint32_t n_rows, n_shown; /* the first n_shown are printed, the others summed up in `rest` */
    struct report_row rest, total;
    struct report_naming *naming;
    double focus_share_pct;      /* of the primary metric; 100 without a focus */
    int64_t unmapped_value;      /* of the primary metric */
    int64_t foreign_stack_value; /* of the primary metric */
    int64_t n_folded_calls, n_folded_contexts;
    char **warnings; /* owned; printable sentences */
    int n_warnings;
};

/* All of it. The error chain names the archive. PM_ERR_USAGE: a metric that is not there;
 * PM_ERR_NOT_FOUND: a focus that matches nothing. */
PM_MUST_CHECK enum pm_status report_make(struct report *report, struct pm_error *err);
void report_release(struct report *report);

/* report_compensate.c: takes the estimated cost of measuring out of own times, before anything is made
 * of them, unless the options say not to. */
PM_MUST_CHECK enum pm_status report_compensate(struct report *report, struct pm_error *err);

/* report_focus.c: fills in_focus. */
PM_MUST_CHECK enum pm_status report_focus(struct report *report, struct pm_error *err);

/* report_order.c: drops rows without numbers, sorts, limits and sums them up, names the shown. */
PM_MUST_CHECK enum pm_status report_arrange(struct report *report, struct pm_error *err);

/* report_names.c: what and place of rows. Few of many rows are printed, so they are named when they
 * are needed; a row is named once. */
PM_MUST_CHECK enum pm_status report_naming_start(struct report *report, struct pm_error *err);
void report_name_row(struct report *report, struct report_row *row);
PM_MUST_CHECK enum pm_status report_naming_status(const struct report *report,
                                                  struct pm_error *err); /* of all up to now */
void report_naming_free(struct report_naming *naming);
/* The noun of a row that stands for its place and kind: of its first group, or of an unmapped
 * sentence; PM_NONE. */
pm_index report_row_noun(const struct report *report, const struct report_row *row, uint32_t n);
bool report_noun_is(const struct report *report, pm_index noun, const char *kind);
bool report_noun_is_code(const struct report *report, pm_index noun); /* function or symbol */
bool report_noun_is_loop(const struct report *report, pm_index noun); /* loop or loopcode */

/* report_short.c: names for tables. Arena memory, or the name itself. */
/* Default arguments of std's templates left out, std::string by that name. */
const char *report_short_name(struct pm_arena *arena, const char *printable);
/* f(...) for f(int, char). */
const char *report_without_parameters(struct pm_arena *arena, const char *printable);

/* report_facts.c: the run itself. */
struct report_facts {
    int64_t wall_ns, user_cpu_ns, system_cpu_ns; /* PM_UNKNOWN */
    int64_t added_ns;                            /* PM_UNKNOWN; estimated */
    double added_pct;                            /* of the wall time of all threads, added up */
    uint64_t n_processes, n_threads;
    int64_t exit_status, exit_signal;
    const char *mode;
};
struct report_facts report_facts(const struct report *report);
PM_MUST_CHECK enum pm_status report_warn(struct report *report, struct pm_error *err);

/* Share of the total of the primary metric; NAN: not to be had. */
double report_share_pct(const struct report *report, const struct report_row *row);
/* Amount of a row as sorting and bars see it. */
double report_primary(const struct report *report, const struct report_row *row);

/* false: memory ended, and nothing was printed. */
bool report_print_table(struct report *report, FILE *out);
void report_print_json(const struct report *report, FILE *out);
void report_print_csv(struct report *report, FILE *out);

/* report_term.c: text on terminals. */
struct report_term {
    int width; /* columns; 0: nobody counts them */
    bool utf8, color;
};
struct report_term report_term_of(FILE *out, enum report_color color);
int report_width(const char *printable); /* columns of printable text */
int report_width_n(const char *printable, size_t len);
/* Control bytes and what is not UTF-8 as \xNN. Arena memory; NULL: out of memory. */
const char *report_printable(struct pm_arena *arena, const char *text);
/* Writes text in exactly `width` columns: cut with an ellipsis (at the left for paths), padded on
 * the right. */
void report_put_cut(const struct report_term *term, FILE *out, const char *printable, int width,
                    bool cut_left, bool pad);

#endif
