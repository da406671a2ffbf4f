/* perfmap report, between its files: what was asked, the rows that answer it, and who prints them.
 *
 *     struct report report = {.options = options};
 *     report_make(&report, &err);          // report_query.c: archive -> rows
 *     report_print_table(&report, stdout); // or report_print_json, report_print_csv
 *     report_release(&report);
 */
#ifndef PM_CMD_REPORT_H
#define PM_CMD_REPORT_H

#include "cmd.h"
#include "mapping/archive/load.h"
#include "mapping/base/arena.h"
#include "mapping/base/str.h"
#include "mapping/graph/calls.h"
#include "mapping/graph/lift.h"

/* In the order of the option's words. */
enum report_by {
    REPORT_BY_LOOP,
    REPORT_BY_STATEMENT,
    REPORT_BY_ARRAY,
    REPORT_BY_VARIABLE,
    REPORT_BY_FUNCTION,
    REPORT_BY_FILE,
    REPORT_BY_LINE,
    REPORT_BY_PROCESS,
    REPORT_BY_THREAD
};
enum report_split { REPORT_SPLIT_WEIGHTS, REPORT_SPLIT_EQUAL, REPORT_SPLIT_INSTRUCTIONS };
enum report_sort {
    REPORT_SORT_OWN,
    REPORT_SORT_INCLUSIVE,
    REPORT_SORT_CALLS,
    REPORT_SORT_NAME,
    REPORT_SORT_PLACE,
    REPORT_SORT_DEFAULT
};
enum report_color { REPORT_COLOR_AUTO, REPORT_COLOR_ALWAYS, REPORT_COLOR_NEVER };

/* How text is to look, of all commands that show archives. */
struct report_look {
    enum report_color color;
    bool has_width;
    uint64_t width; /* columns; 0: as wide as it takes */
};

enum {
    REPORT_MAX_METRICS = 8,
    REPORT_FEW_SAMPLES =
        10, /* shares of less are marked: one standard deviation is a third of them */
    REPORT_MAX_REASONS = 2
};

struct report_options {
    const char *archive_path;
    const char *level; /* as asked, in any case */
    enum report_by by;
    enum pm_rule rule;
    enum report_split split;
    bool tree, bounds, no_compensation;
    bool folds;          /* code of system headers counts for what uses it */
    bool keeps_columns;  /* those with nothing in them, too: for programs */
    bool modes;          /* list the nouns that were in other modes, in place of rows */
    bool everything;     /* constructs without costs are loaded, too */
    const char *metrics; /* names separated by commas; NULL: the usual ones */
    const char *focus;   /* NULL: everything */
    const char
        *instance;  /* only the code of functions of that name, not what it calls; NULL: all */
    uint64_t limit; /* rows; 0: all */
    enum report_sort sort;
    struct report_look look;
};

/* Groups that no noun of the level stands for. */
enum report_special {
    REPORT_ORDINARY,
    REPORT_OUTSIDE,     /* time outside instrumented code: sentences of processes */
    REPORT_KERNEL,      /* the kernel, called from nowhere that is known */
    REPORT_PERFMAP,     /* PerfMap's own code */
    REPORT_NOT_LOCATED, /* CPU time that no sample stands for */
    REPORT_NO_OBJECT,   /* by array and variable: code that touches none */
};

/* What sentences count as after going up the where axis: a row's destination. */
struct report_group {
    pm_index noun; /* a noun of it (its own one, but for files that are no noun) */
    pm_index verb;
    pm_index place;   /* machine code: the noun of the source that it is mapped to; PM_NONE */
    const char *file; /* --by file where there is no file noun: its name; else NULL */
    enum report_special special; /* the noun of REPORT_OUTSIDE is the process where each program has
                                    a row of its own, else PM_NONE */
    pm_index sentence;           /* machine code with its caller: the sentence; else PM_NONE */
    bool many_binaries;          /* it was compiled into several */
    bool has_loops;              /* --by loop, functions: loops of it have rows of their own */
};

enum report_row_kind {
    REPORT_ROW_NOUN,
    REPORT_ROW_SET,
    REPORT_ROW_UNMAPPED,
    REPORT_ROW_OUTSIDE,
    REPORT_ROW_SPECIAL, /* the others of enum report_special */
    REPORT_ROW_RUNNER   /* a process or thread; source: its position in the archive's data */
};

/* Of what leads to a row of the lift: why its constructs are one, and what its contexts are. */
struct report_traits {
    const char *reasons[REPORT_MAX_REASONS];
    bool is_inferred[REPORT_MAX_REASONS]; /* all that state the reason are */
    bool is_inlined;                      /* all of it was found in functions that were inlined */
    bool
        is_mostly_inferred; /* more than half of its own cost is called code whose caller is likely, not certain */
    bool is_sampled;           /* all of it was found by samples: callers may be missing */
    bool calls_are_at_least;   /* sleds were disarmed: n_calls counts the calls up to then */
    bool entries_are_at_least; /* of loops in it: some of their code has no sleds */
    bool calls_are_unknown;  /* nothing of it has sleds, or they were off: found by samples only */
    bool is_untimed;         /* no noun of it was timed: own wall times are not known */
    bool is_counted;         /* tree: its calls were counted without their callers */
    bool costs_are_at_least; /* some of its code was not followed for a while */
    bool times_are_at_least; /* not timed for a while */
    bool path_is_at_least;   /* tree: something above it was not followed for a while */
};

/* Amounts of one metric. Averages: see pm_amount. */
struct report_value {
    struct pm_amount own;
    int64_t inclusive;
    struct pm_bounds bounds;
};

struct report_row {
    enum report_row_kind kind;
    pm_index source;        /* unmapped: the sentence; see also REPORT_ROW_RUNNER */
    const uint32_t *groups; /* positions in report->groups, lent by the lift */
    uint32_t n_groups;
    uint32_t id, parent_id, depth; /* tree: parent_id PM_NONE at the top */
    int64_t
        n_calls; /* how often it was entered: calls of functions, entries of loops (--by loop) */
    int64_t n_loop_entries;      /* entries of loops inside, where rows are functions or files */
    int64_t n_samples;           /* of own costs */
    int64_t n_samples_inclusive; /* tree */
    int64_t taken_out_ns;        /* of own wall time, for it is what measuring cost */
    struct report_traits traits;
    bool has_bounds;
    struct report_value *values; /* [n_metrics] */
    const char *what, *place;    /* for people, printable; NULL: not named yet; report_names.c */
    const char *source_text;     /* of its line, printable; NULL: not known, or not asked for */
    bool last_child;             /* tree, among the rows that are shown */
};

/* Where times without the measuring itself and samples differ most. */
struct report_doubt {
    pm_index noun;                 /* PM_NONE: nowhere by much */
    double timed_pct, sampled_pct; /* of what both have */
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
    pm_index wall_metric, cpu_metric;   /* the time metric is one of these; cpu: what was sampled */
    pm_index samples_metric;
    bool shows_calls;
    int64_t taken_out_ns;      /* by report_compensate */
    int64_t preempted_out_ns;  /* likewise, of wall times: others had the CPU */
    int64_t *taken_ns;         /* per context, likewise; NULL: nothing was */
    struct report_doubt doubt; /* likewise */
    bool *is_untimed;          /* per noun: its wall time is not known, for it was not timed */
    unsigned char *partial;    /* per noun, by report_find_partial */
    bool *is_placed; /* per metric of the graph: its costs are where the address says, as samples */
    bool has_words;  /* the program or an adapter said words of its own */
    bool has_own_metrics;  /* or counted what it spent */
    bool measured_nothing; /* no instrumented code ran: nothing but processes has costs */
    bool only_samples;     /* no instrumented code ran, but samples were taken */
    struct report_group *groups;
    uint32_t n_groups;
    pm_index *group_of; /* per sentence */
    uint32_t *
        around; /* by loop, per group: the loop or function that it lies in; PM_NONE: none. NULL: not by loop */
    struct pm_call_nesting nesting; /* the same of rows of the lift; with around only */
    bool *leaves_out;               /* per mapping: no way of this view */
    bool
        split_by_size; /* by instruction counts was asked, there are none: size of code stands in */
    struct report_traits *traits; /* per row of the lift */
    struct pm_lift *lift;
    bool *in_focus;           /* per context */
    struct report_row *rows;  /* sorted; tree: depth first */
    uint32_t n_rows, n_shown; /* the first n_shown are printed, the others summed up in `rest` */
    struct report_row rest, total;
    struct report_naming *naming;
    double focus_share_pct; /* of the primary metric; 100 without a focus */
    int64_t unmapped_value; /* of the primary metric */
    double folded_value;    /* likewise: of code of system headers that counts for what uses it */
    int64_t n_folded_calls, n_folded_contexts;
    int64_t n_lost_events; /* that no context counts: each number may be short of them */
    char **warnings;       /* owned; printable sentences */
    int n_warnings;
};

/* All of it. The error chain names the archive. PM_ERR_USAGE: a metric that is not there;
 * PM_ERR_NOT_FOUND: a focus that matches nothing. */
PM_MUST_CHECK enum pm_status report_make(struct report *report, struct pm_error *err);
void report_release(struct report *report);

/* report_metrics.c: which level and which metrics. */
PM_MUST_CHECK enum pm_status report_choose_level(struct report *report, struct pm_error *err);
PM_MUST_CHECK enum pm_status report_choose_metrics(struct report *report, struct pm_error *err);
/* When the focus is known. */
PM_MUST_CHECK enum pm_status report_drop_empty(struct report *report, struct pm_error *err);
bool report_shows_wall(const struct report *report); /* wall time is one of the metrics */
bool report_is_fine(
    const struct report
        *report); /* rows are parts of functions that are not entered: statements, arrays */
/* A metric of time without a CPU: the column's word; NULL: another metric. m: of the report's metrics. */
const char *report_off_cpu_word(const struct report *report, uint32_t m);
/* The length of its name without the unit at its end: wall of wall_ns; all of bytes_written. */
size_t report_bare_metric_len(const struct pm_metric *metric);
bool report_is_measured(const struct pm_graph *graph, pm_index metric);
const char *report_sampled_word(const struct report *report);
/* perfmap run --clock wall: the time of samples has waiting in it. */
bool report_has_wall_samples(const struct report *report); /* with a cpu_metric */
/* Is the share of a row made of a few samples only? */
bool report_is_uncertain(const struct report *report, const struct report_row *row);

/* report_ways.c: which mappings lead to what this view asks for: fills leaves_out. The answer per
 * sentence is 0 when no way leads to the level. To be freed. */
PM_MUST_CHECK enum pm_status report_find_ways(struct report *report, struct pm_error *err,
                                              unsigned char **ret_rank);
/* Is the noun what --by asks for? Arrays are what points to memory, too. */
bool report_noun_is_object(const struct report *report, pm_index noun);
bool report_noun_is_array(const struct report *report, pm_index noun);
bool report_is_at_source(const struct report *report); /* the level asked for is Source */
bool report_noun_is_statement(const struct report *report, pm_index noun);
bool report_noun_is_machine_code(const struct report *report, pm_index noun); /* found by samples */

/* report_fold.c: code of system headers counts for what uses it, unless the options say not to. */
PM_MUST_CHECK enum pm_status report_fold(struct report *report, struct pm_error *err);
/* By its folder: /usr/include, a compiler's own. */
bool report_is_system_file(const char *file);

/* report_groups.c: groups, group_of and the lift. */
PM_MUST_CHECK enum pm_status report_make_groups(struct report *report, struct pm_error *err);
PM_MUST_CHECK enum pm_status report_make_lift(struct report *report, struct pm_error *err);

/* report_nesting.c: which rows lie in others. */
PM_MUST_CHECK enum pm_status report_make_nesting(struct report *report, struct pm_error *err);

/* Where in the source a sentence leads: by the mapping to a statement if there is one, else the first;
 * for nouns that state no place themselves. PM_NONE. */
pm_index report_find_place(const struct report *report, pm_index sentence);

/* report_traits.c: why constructs are one, and other marks of rows. */
PM_MUST_CHECK enum pm_status report_find_traits(struct report *report, struct pm_error *err);

/* report_modes.c: nouns in other modes than the program. */
PM_MUST_CHECK enum pm_status report_find_untimed(struct report *report, struct pm_error *err);
/* Has the context no wall time of its own? */
bool report_is_untimed(const struct report *report, pm_index context);
bool report_is_timed_run(
    const struct report *report); /* mode exact or trace, but for single nouns */
uint32_t report_n_nouns_in(const struct report *report, enum pm_run_mode mode, bool is_asked);
/* A line for the header, to be freed; NULL or "": there is nothing to say. */
char *report_modes_line(struct report *report, bool utf8);
/* What code with sleds is in the source, short. Arena memory; NULL: it ended. */
const char *report_noun_name(struct report *report, pm_index noun);
bool report_print_modes(struct report *report, FILE *out); /* false: memory ended */
struct pm_json;
void report_modes_csv(struct report *report, FILE *out);
void report_modes_json(struct report *report, struct pm_json *json);

/* report_partial.c: what was not followed, or not timed, all the time. */
PM_MUST_CHECK enum pm_status report_find_partial(struct report *report, struct pm_error *err);
/* What a noun of a row adds to the row's marks. */
void report_mark_partial(const struct report *report, pm_index noun, struct report_traits *traits);
/* Is the row's amount of the report's metric m, own or inclusive, at least what is known of it? */
int64_t report_n_lost_events(const struct pm_archive_data *data);
bool report_is_at_least(const struct report *report, const struct report_row *row, uint32_t m,
                        bool inclusive);

/* report_runners.c: rows that are processes or threads. report_make_runners: rows have been allocated. */
bool report_is_by_runner(const struct report *report);
PM_MUST_CHECK enum pm_status report_make_runners(struct report *report, struct pm_error *err);
const struct pm_process *report_process_of(const struct report *report,
                                           const struct report_row *row);
/* NULL: the row is a process. */
const struct pm_thread *report_thread_of(const struct report *report, const struct report_row *row);
void report_name_runner(const struct report *report, const struct report_row *row,
                        struct pm_buf *what, struct pm_buf *place);
/* report_sources.c: source_text of the rows that are shown, by statement and line. */
bool report_shows_sources(const struct report *report);
PM_MUST_CHECK enum pm_status report_find_sources(struct report *report, struct pm_error *err);

struct pm_json;
void report_runner_json(const struct report *report, const struct report_row *row,
                        struct pm_json *json);
/* report_query.c: whether calls in a sentence are entries of a loop or of a region, which rows of functions and files count apart. */
bool report_counts_as_entries(const struct report *report, pm_index sentence);

/* report_compensate.c: takes the estimated cost of measuring out of own times, before anything is made
 * of them, unless the options say not to. */
PM_MUST_CHECK enum pm_status report_compensate(struct report *report, struct pm_error *err);
PM_MUST_CHECK enum pm_status report_place_waits(struct report *report, struct pm_error *err);

/* report_focus.c: fills in_focus. */
PM_MUST_CHECK enum pm_status report_focus(struct report *report, struct pm_error *err);

/* [n_nouns]: what a pattern of --focus names, without what lies below; to be freed. PM_ERR_NOT_FOUND. */
PM_MUST_CHECK enum pm_status report_find_named(const struct report *report, const char *text,
                                               struct pm_error *err, bool **ret_in);

/* report_paths.c: at levels above the source, what has no sentence there counts for the innermost one on its path. */
PM_MUST_CHECK enum pm_status report_follow_paths(struct report *report, struct pm_error *err);
bool report_lies_above(const struct pm_graph *graph, pm_index level, pm_index other);
/* report_order.c: drops rows without numbers, sorts, limits and sums them up, names the shown. */
PM_MUST_CHECK enum pm_status report_arrange(struct report *report, struct pm_error *err);

/* The last shown ones go to `rest`. Not in a tree. */
void report_show_fewer(struct report *report, uint32_t n);
enum report_sort report_effective_sort(const struct report *report);

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
/* Names of machine code begin with a symbol: "_ZN1a1fEv+0x40" is a::f()+0x40. */
void report_add_code_name(const char *name, struct pm_buf *out);
const char *report_base_name(const char *path); /* its last part; lent */
/* The shortest name that tells a file of the archive from its others; lent. */
const char *report_short_file(const struct report *report, const char *file);

/* report_short.c: names for tables. Arena memory, or the name itself. */
/* Default arguments of std's templates left out, std::string by that name. */
const char *report_short_name(struct pm_arena *arena, const char *printable);
/* f(...) for f(int, char). */
const char *report_without_parameters(struct pm_arena *arena, const char *printable);

/* report_labels.c: how the shown rows are written in a table. */
struct report_label {
    const char *full, *brief; /* without template defaults; also without parameters */
    size_t n_common;          /* bytes of brief that say nothing when it is cut; 0 */
    const char *place, *base; /* the place without folders; of sets the same */
};
/* [n_shown], to be freed. No two rows that stand for different things look the same. NULL: memory
 * ended. */
struct report_label *report_make_labels(struct report *report);
/* Fills n_common of those that would look alike when cut to widths[n_shown]. false: memory ended. */
struct report_term;
bool report_tell_cuts_apart(const struct report *report, const struct report_term *term,
                            const int *widths, struct report_label *labels);
#define REPORT_HEAP_OF ", heap blocks of " /* and a place: after the name of an array */

/* report_facts.c: the run itself. */
struct report_facts {
    int64_t wall_ns, user_cpu_ns, system_cpu_ns; /* PM_UNKNOWN */
    int64_t added_ns;                            /* PM_UNKNOWN; estimated */
    double added_pct;                            /* of the wall time of all threads, added up */
    int64_t events_ns, samples_ns;               /* of it; PM_UNKNOWN */
    int64_t fixed_ns;       /* of events_ns: what the budget leaves alone; PM_UNKNOWN: nothing */
    bool events_by_samples; /* of PerfMap's own code, which are more than was reckoned */
    double slow_down_pct, events_pct, samples_pct,
        fixed_pct;      /* of the CPU time without them; NAN: not known */
    int64_t budget_ppm; /* the largest of the processes; PM_UNKNOWN: none */
    uint64_t n_processes, n_threads;
    int64_t n_samples, n_lost_samples;
    uint32_t n_disarmed_nouns, n_counted_nouns; /* to keep the budget */
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
void report_print_json(struct report *report, FILE *out);
void report_print_csv(struct report *report, FILE *out);
/* One field of CSV (RFC 4180), quoted where it must be. */
void report_csv_text(FILE *out, const char *text);

/* report_term.c: text on terminals. */
struct report_term {
    int width; /* columns; 0: nobody counts them */
    bool utf8, color;
};

/* report_hints.c: below a table, what the marks in it mean and what else the archive has. */
void report_print_hints(struct report *report, const struct report_term *term, FILE *out);

/* The options for it: stand in a command's table, and are taken by report_take_look. */
enum { REPORT_OPT_COLOR = CMD_KEY_FIRST + 100, REPORT_OPT_WIDTH };
#define REPORT_LOOK_OPTIONS                                                                      \
    {REPORT_OPT_COLOR, "color", "auto|always|never",                                             \
     "colours; auto (default): on a terminal, unless NO_COLOR is set"},                          \
    {                                                                                            \
        REPORT_OPT_WIDTH, "width", "NUMBER",                                                     \
            "columns that the text may take, 0 for as many as it takes (default: COLUMNS, else " \
            "the terminal's; in a file or a pipe as many as it takes)"                           \
    }
/* false: it is another option. */
bool report_take_look(struct cmd_parse *parse, int key, struct report_look *look);
extern const char *const report_environment[]; /* of these commands */

/* report.c: the only archive in the current folder, to be freed; NULL with their number when there is none or there are several. */
char *report_find_archive(int *ret_n);
/* The same, to be freed. NULL: there is none or there are several,
 * which was reported as wrong usage. */
char *report_only_archive(struct cmd_parse *parse);
/* The operands "WHAT [ARCHIVE]": what, and the archive's path, to be freed. expected names what.
 * false: wrong usage, reported. */
bool report_operands(struct cmd_parse *parse, const char *expected, const char **ret_what,
                     char **ret_archive);

#define REPORT_RESET "\033[0m"
#define REPORT_BOLD "\033[1m"
#define REPORT_DIM "\033[2m"
#define REPORT_RED "\033[31m"
#define REPORT_YELLOW "\033[33m"
#define REPORT_GREEN "\033[32m"

/* report_text.c: one unit for a column of amounts, by their total: ms, KiB; numbers are divided by `divisor`. */
struct report_scale {
    double divisor;
    const char *unit;
    int decimals;
};
struct report_scale report_scale_of(const struct pm_metric *metric, double total, bool utf8);
/* report_header.c: what stands above a table. */
void report_print_header(struct report *report, const struct report_term *term, FILE *out);
/* For CSV, which has rows only: what measuring cost and what the budget did, on standard error. */
void report_say_measuring(struct report *report);
struct report_term report_term_of(FILE *out, const struct report_look *look);
/* Names lose their middle: a function's own name is at their end. Not padded. */
void report_put_cut_middle(const struct report_term *term, FILE *out, const char *printable,
                           int width);
int report_width(const char *printable); /* columns of printable text */
int report_width_n(const char *printable, size_t len);
/* Control bytes and what is not UTF-8 as \xNN. Arena memory; NULL: out of memory. */
const char *report_printable(struct pm_arena *arena, const char *text);
/* Writes text in exactly `width` columns: cut with an ellipsis (at the left for paths), padded on
 * the right. */
void report_put_cut(const struct report_term *term, FILE *out, const char *printable, int width,
                    bool cut_left, bool pad);

#endif
