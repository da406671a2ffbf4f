/* A view of an archive: what was asked, and the rows that answer it. Nothing is printed here.
 *
 *     // .archive = data: one of several views of what was loaded once
 *     struct pm_view view = {.options = options};
 *     if (pm_view_make(&view, &err) == PM_OK) // query.c: archive -> rows
 *         use(view.rows[i].values[view.primary].own);
 *     pm_view_release(&view);
 */
#ifndef PM_VIEW_H
#define PM_VIEW_H

#include "formula.h"
#include "format/pm_mode.h"
#include "mapping/archive/load.h"
#include "mapping/base/arena.h"
#include "mapping/base/str.h"
#include "mapping/base/text.h"
#include "mapping/graph/calls.h"
#include "mapping/graph/lift.h"
#include "mapping/view/runners.h"

struct pm_json;

enum pm_view_by {
#define BY(id, word, prose) PM_VIEW_BY_##id,
#include "by.def"
#undef BY
};
enum pm_view_split { PM_VIEW_SPLIT_WEIGHTS, PM_VIEW_SPLIT_EQUAL, PM_VIEW_SPLIT_INSTRUCTIONS };
enum pm_view_sort {
    PM_VIEW_SORT_OWN,
    PM_VIEW_SORT_INCLUSIVE,
    PM_VIEW_SORT_CALLS,
    PM_VIEW_SORT_NAME,
    PM_VIEW_SORT_PLACE,
    PM_VIEW_SORT_DEFAULT
};

enum {
    PM_VIEW_MAX_METRICS = 8,
    PM_VIEW_MAX_FORMULAS = 4,
    PM_VIEW_MAX_FOCI = 8,
    /* shares of less are marked: one standard deviation is a third of them */
    PM_VIEW_FEW_SAMPLES = 10,
    PM_VIEW_MAX_REASONS = 2
};

struct pm_view_options {
    const char *archive_path;
    const char *level; /* as asked, in any case */
    enum pm_view_by by;
    enum pm_rule rule;
    enum pm_view_split split;
    bool tree, bounds, no_compensation;
    bool folds;          /* code of system headers counts for what uses it */
    bool keeps_columns;  /* those with nothing in them, too: for programs */
    bool keeps_rows;     /* likewise: rows that have nothing of these metrics */
    bool details;        /* all that is known of how was measured, above the rows */
    bool modes;          /* list the nouns that were in other modes, in place of rows */
    bool everything;     /* constructs without costs are loaded, too */
    bool all_functions;  /* those that no code was found of are loaded, too */
    bool keeps_nodes;    /* with tree: node_of stays */
    bool tells_threads;  /* costs can be read again, each of its own thread */
    bool has_statements; /* by code: functions and loops have parts */
    const char *metrics; /* names separated by commas; NULL: the usual ones */
    /* Each ended by NULL, and all of them must hold: one node of each where axis, or several. None:
     * everything. */
    const char *focus[PM_VIEW_MAX_FOCI + 1];
    /* only what ran there: "thread:NAME", "process:4711", "rank:3", "node:NAME", with * and ? */
    const char *on[PM_VIEW_MAX_FOCI + 1];
    /* files of overlays, in their order; ended by NULL. With any, level "" is that of the first */
    const char *overlays[PM_VIEW_MAX_FOCI + 1];
    /* only what was between: "2.5s", "300ms", "50%" since the start of the run; NULL: open */
    const char *from, *to;
    uint32_t over_time;   /* rows get what they had in so many equal parts of that; 0: none */
    enum pm_runner parts; /* rows get parts: what each runner of the kind has of them */
    /* only the code of functions of that name, not what it calls; NULL: all */
    const char *instance;
    uint64_t limit; /* rows; 0: all */
    enum pm_view_sort sort;
};

/* Groups that no noun of the level stands for. */
enum pm_view_special {
    PM_VIEW_ORDINARY,
    PM_VIEW_OUTSIDE,     /* time outside instrumented code: sentences of processes */
    PM_VIEW_KERNEL,      /* the kernel, called from nowhere that is known */
    PM_VIEW_PERFMAP,     /* PerfMap's own code */
    PM_VIEW_NOT_LOCATED, /* CPU time that no sample stands for */
    PM_VIEW_NOT_SAMPLED, /* that of what could not be sampled: ends of processes, and whole ones */
    PM_VIEW_NO_OBJECT,   /* by array and variable: code that touches none */
    /* the same: code that only debug information explains, so nobody knows what it touches */
    PM_VIEW_OBJECT_NOT_KNOWN,
};

/* What sentences count as after going up the where axis: a row's destination. */
struct pm_view_group {
    pm_index noun; /* a noun of it (its own one, but for files that are no noun) */
    pm_index verb;
    pm_index place;   /* machine code: the noun of the source that it is mapped to; PM_NONE */
    const char *file; /* --by file where there is no file noun: its name; else NULL */
    /* the noun of PM_VIEW_OUTSIDE is the process where each program has a row of its own, else
     * PM_NONE */
    enum pm_view_special special;
    pm_index sentence;  /* machine code with its caller: the sentence; else PM_NONE */
    bool many_binaries; /* it was compiled into several */
    bool has_loops;     /* --by loop, functions: loops of it have rows of their own */
};

enum pm_view_row_kind {
    PM_VIEW_ROW_NOUN,
    PM_VIEW_ROW_SET,
    PM_VIEW_ROW_UNMAPPED,
    PM_VIEW_ROW_OUTSIDE,
    PM_VIEW_ROW_SPECIAL, /* the others of enum pm_view_special */
    PM_VIEW_ROW_RUNNER,  /* a process, a thread */
    PM_VIEW_ROW_BRANCH   /* of a where axis: what lies below it is of one kind, or one binary */
};

/* Of what leads to a row of the lift: why its constructs are one, and what its contexts are. */
struct pm_view_traits {
    const char *reasons[PM_VIEW_MAX_REASONS];
    bool is_inferred[PM_VIEW_MAX_REASONS]; /* all that state the reason are */
    bool is_inlined;                       /* all of it was found in functions that were inlined */
    /* more than half of its own cost is called code whose caller is likely, not certain */
    bool is_mostly_inferred;
    bool is_sampled;           /* all of it was found by samples: callers may be missing */
    bool calls_are_at_least;   /* sleds were disarmed: n_calls counts the calls up to then */
    bool calls_lack_callers;   /* some, or all, were counted without their callers */
    bool entries_are_at_least; /* of loops in it: some of their code has no sleds */
    bool calls_are_unknown;  /* nothing of it has sleds, or they were off: found by samples only */
    bool is_untimed;         /* no noun of it was timed: own wall times are not known */
    bool is_counted;         /* tree: it is those that were counted without their callers */
    bool costs_are_at_least; /* some of its code was not followed for a while */
    bool times_are_at_least; /* not timed for a while */
    bool data_is_at_least;   /* data that more is done with: PM_BARE_OPEN */
    bool path_is_at_least;   /* tree: something above it was not followed for a while */
    bool has_inlined;        /* functions that were inlined in it lack some of what they called */
    bool has_others_time;    /* code that it called jumped away: what came then counts for it */
    /* It was active while much CPU time was spent that no sample stands for. */
    bool own_lacks_samples, inclusive_lacks_samples;
    /* The same of events: bits by position in view->lost_counts. */
    uint8_t own_lacks_counts, inclusive_lacks_counts;
};

/* Amounts of one metric. Averages: see pm_amount. */
struct pm_view_value {
    struct pm_amount own;
    int64_t inclusive;
    struct pm_bounds bounds;
};

/* Of one row, over the locations that took part (axis.h); inclusive in trees, else own. */
struct pm_view_spread {
    struct pm_amount least, most; /* n 0: not known */
    double sum;
    uint64_t n;      /* locations */
    uint32_t n_with; /* those that have a cost, at least where threads share one */
    uint32_t at;     /* which has the most: a position in view->runners; PM_NONE: not known */
    bool has_shared; /* threads share a cost */
    int64_t all;     /* over all runners, locations or not */
    bool most_is_at_least, has_no_average;
    double shared_most,
        shared_each; /* of threads that share a cost: all of it, and an equal part */
};

struct pm_view_row {
    enum pm_view_row_kind kind;
    pm_index source;        /* unmapped: the sentence; a runner: its first thread */
    const uint32_t *groups; /* positions in view->groups, in the order of the source; lent */
    uint32_t n_groups;
    uint32_t id, parent_id, depth; /* tree: parent_id PM_NONE at the top */
    /* how often it was entered: calls of functions, entries of loops (--by loop) */
    int64_t n_calls;
    int64_t n_loop_entries;      /* entries of loops inside, where rows are functions or files */
    int64_t n_samples;           /* of own costs */
    int64_t n_samples_inclusive; /* tree */
    int64_t taken_out_ns;        /* of own wall time, for it is what measuring cost */
    /* What the own and the inclusive wall time may be off by, for what measuring cost is not
     * known better. */
    int64_t doubt_ns, inclusive_doubt_ns;
    /* What more may have gone to callers and callees, or come from them: shifts.c. */
    int64_t shift_ns, inclusive_shift_ns;
    struct pm_view_traits traits;
    bool has_bounds;
    enum pm_runner runner; /* of rows that are runners */
    const char *branch;    /* of PM_VIEW_ROW_BRANCH: its name */
    uint32_t
        at_least_in; /* of a where axis: metrics (bits) whose sum over what is in it is at least */
    struct pm_view_value *values; /* [n_metrics] */
    /* with options.parts: own amounts, [view->runners.n][n_metrics]; those of a metric add up to
     * values (times to rounding). NULL: not asked for */
    const struct pm_amount *parts;
    const struct pm_view_spread *spread; /* likewise */
    /* with options.over_time: own amounts of view->over_time.metric, and in trees with what is
     * below; NULL: not known */
    const int64_t *over_time, *over_time_inclusive;
    const char *what, *place; /* for people, printable; NULL: not named yet; row_names.c */
    const char *name;         /* what without the words that a table has letters for */
    const char *source_text;  /* of its line, printable; NULL: not known, or not asked for */
    bool last_child;          /* tree, among the rows that are shown */
};

/* Where times without the measuring itself and samples differ most. */
struct pm_view_doubt {
    pm_index noun;                 /* PM_NONE: nowhere by much */
    double timed_pct, sampled_pct; /* of what both have */
    double n_samples;              /* of all of that */
};

/* With options.parts: which runners are locations of the first metric. */
struct pm_view_axis {
    uint32_t *n_threads_at; /* per runner: how many locations it is */
    const char **names;     /* per runner that has no number, printable; NULL: they have numbers */
    bool *takes_part;       /* per runner */
    bool *has_cost;         /* per runner: of that metric, in the focus or not */
    uint32_t n_locations;
    uint32_t n_unmeasured; /* that ran, and were not measured */
    int64_t left_out;      /* what others than locations have in the focus */
};

/* A phase of the program: pm_begin_process. */
struct pm_view_phase {
    const char *name; /* printable */
    double *parts;    /* [options.over_time] time of any kind that was in it */
};

/* With options.over_time. */
struct pm_view_over_time {
    pm_index metric;                  /* that rows have over time; PM_NONE: none that has times */
    int64_t *edges_ns;                /* [options.over_time + 1], from the start of the run */
    int64_t *cells, *inclusive_cells; /* of all rows */
    struct pm_view_phase *phases;
    uint32_t n_phases;
};

/* Taken out of one context's wall time on one thread. */
struct pm_view_preempted {
    pm_index thread, context;
    int64_t taken_ns, left_ns; /* left: of it, while costs are read again */
};

struct pm_view {
    struct pm_view_options options;
    /* As it was loaded. Lent, and then it must have all that pm_archive_load reads with
     * pm_view_load_flags; else pm_view_make loads it. */
    const struct pm_archive_data *archive;
    struct pm_archive_data *loaded; /* owned: what pm_view_load has loaded */
    struct pm_archive_data *data;   /* the same with a graph of the view's own, which it changes */
    struct pm_arena arena;
    struct pm_time_span interval; /* of options.from and options.to; the whole run is all time */
    int64_t run_ns;               /* its length */
    double *untimed_pct;          /* interval.h */
    uint32_t n_untimed_pct;
    struct pm_view_over_time over_time;
    pm_index level; /* PM_NONE: nothing in the archive is at that level */
    const char *level_name;
    const char *overlays_note;             /* what of them matches nothing; NULL */
    pm_index metrics[PM_VIEW_MAX_METRICS]; /* shown, in order; not n_calls */
    /* What is made of these: m is a position in metrics, or PM_VIEW_MAX_METRICS for n_calls. */
    struct pm_formula formulas[PM_VIEW_MAX_FORMULAS];
    uint32_t n_formulas;
    uint32_t n_metrics;
    uint32_t primary; /* of metrics: the one for shares and bars; n_metrics: n_calls */
    pm_index calls_metric, time_metric; /* PM_NONE: not in the archive */
    bool
        asks_fine; /* of a question, a focus: it has what is not entered, statements or data, say */
    pm_index wall_metric, cpu_metric; /* the time metric is one of these; cpu: what was sampled */
    pm_index samples_metric;
    bool shows_calls;
    int64_t taken_out_ns;     /* by pm_view_compensate */
    int64_t preempted_out_ns; /* likewise, of wall times: others had the CPU */
    int64_t misplaced_ns;     /* of that, what was noted at other code than its time */
    int64_t stolen_ns; /* still in them, nobody knows where: other virtual machines had the CPU */
    int64_t *taken_ns; /* per context, likewise; NULL: nothing was */
    int64_t *timed_ns; /* per context, with taken_ns: the wall time that this was taken of */
    /* With runs_in, of all that ran: taken_ns and timed_ns are then of those. Else NULL. */
    int64_t *taken_of_all_ns, *timed_of_all_ns;
    struct pm_view_preempted *preempted; /* what is in preempted_out_ns, by thread and context */
    uint32_t n_preempted;
    pm_index *wait_of; /* per context, by pm_view_place_waits: where its waiting is; NULL: there */
    int64_t *doubt_ns; /* per context: what its wall time may be off by; with taken_ns */
    /* Per context, likewise: work at its beginnings and ends that the clock may have put on the
     * other side, and whose time that is; PM_NONE: nobody's. */
    int64_t *boundary_ns;
    pm_index *timed_above;
    struct pm_view_doubt doubt; /* likewise */
    bool *is_untimed;           /* per noun: its wall time is not known, for it was not timed */
    unsigned char *partial;     /* per noun, by pm_view_find_partial */
    int64_t *lost_ns; /* per context: CPU time without samples, of it and those around it; NULL */
    int64_t least_lost_ns; /* less is not much: then lost_ns is NULL */
    struct pm_view_lost {
        pm_index metric;
        int64_t *counts;                /* per context, as lost_ns */
        int64_t least;                  /* less is not much */
        double sum, all;                /* not located; of so many */
    } lost_counts[PM_VIEW_MAX_METRICS]; /* of events of which much was not located */
    uint32_t n_lost_counts;
    pm_index unmeasured_metric; /* pm_view_is_unmeasured; PM_NONE: none */
    bool *is_placed; /* per metric of the graph: its costs are where the address says, as samples */
    bool has_words;  /* the program or an adapter said words of its own */
    bool has_inlined;      /* rows with traits.has_inlined */
    bool has_own_metrics;  /* or counted what it spent */
    bool measured_nothing; /* no instrumented code ran: nothing but processes has costs */
    bool only_samples;     /* no instrumented code ran, but samples were taken */
    struct pm_view_group *groups;
    uint32_t n_groups;
    pm_index *group_of; /* per sentence */
    /* by loop, per group: the loop or function that it lies in; PM_NONE: none. NULL: not by loop */
    uint32_t *around;
    struct pm_call_nesting nesting; /* the same of rows of the lift; with around only */
    bool *leaves_out;               /* per mapping: no way of this view */
    /* by instruction counts was asked, there are none: size of code stands in */
    bool split_by_size;
    struct pm_view_traits *traits; /* per row of the lift */
    struct pm_lift *lift;
    uint32_t *members; /* the lift's destinations, each row's in the order of the source */
    uint32_t *node_of; /* with options.keeps_nodes: the id of each context's row (axis Machine: of
                        * each thread's); PM_NONE: none */
    bool *in_focus;    /* per context */
    /* Per context: its sentence when the focus was found; pm_view_follow_paths gives some of them
     * another one. NULL: as in the graph */
    pm_index *sentence_of_focus;
    struct pm_runners runners; /* of rows that are runners, or of their parts; else empty */
    bool *runs_in;             /* per thread: of options.on; NULL: all are */
    double *all_values;        /* per metric of the graph, over all runners; with runs_in only */
    struct pm_amount *parts;   /* of all rows (pm_view_row.parts) */
    struct pm_view_axis axis;
    struct pm_view_row *rows; /* sorted; tree: depth first */
    uint32_t n_rows, n_shown; /* the first n_shown are printed, the others summed up in `rest` */
    struct pm_view_row rest, total;
    struct pm_view_naming *naming;
    double focus_share_pct; /* of the primary metric; 100 without a focus */
    int64_t unmapped_value; /* of the primary metric */
    bool *is_folded;        /* per context: it counts for what is around it; NULL: none does */
    double folded_value;    /* likewise: of code of system headers that counts for what uses it */
    int64_t n_folded_calls, n_folded_contexts;
    int64_t n_lost_events; /* that no context counts: each number may be short of them */
    char **warnings;       /* owned; printable sentences */
    int n_warnings;
};

/* What has to be loaded of an archive for such a view. */
unsigned pm_view_load_flags(const struct pm_view_options *options);
/* Fills data: from the archive that was lent, else from options.archive_path. */
PM_MUST_CHECK enum pm_status pm_view_load(struct pm_view *view, unsigned flags,
                                          struct pm_error *err);
/* overlays.c: of options.overlays, when the archive has been loaded for this view. */
PM_MUST_CHECK enum pm_status pm_view_apply_overlays(struct pm_view *view, struct pm_error *err);
/* All of it. Views of one archive may be made at the same time. The error chain names the
 * archive. PM_ERR_USAGE: a metric that is not there; PM_ERR_NOT_FOUND: a focus that matches
 * nothing. */
PM_MUST_CHECK enum pm_status pm_view_make(struct pm_view *view, struct pm_error *err);
void pm_view_release(struct pm_view *view);

/* by.c: "loop", as --by has it; "loops and functions". */
const char *pm_view_by_word(enum pm_view_by by);
extern const char pm_view_by_words[]; /* "|loop|statement|..." */
const char *pm_view_by_prose(enum pm_view_by by);

/* metrics.c: which level and which metrics. */
PM_MUST_CHECK enum pm_status pm_view_choose_level(struct pm_view *view, struct pm_error *err);
PM_MUST_CHECK enum pm_status pm_view_choose_metrics(struct pm_view *view, struct pm_error *err);
/* When the focus is known. */
PM_MUST_CHECK enum pm_status pm_view_drop_empty(struct pm_view *view, struct pm_error *err);
bool pm_view_shows(const struct pm_view *view, pm_index metric); /* as one of its metrics */
bool pm_view_shows_wall(const struct pm_view *view); /* wall time is one of the metrics */
/* rows are parts of functions that are not entered: statements, arrays */
bool pm_view_is_fine(const struct pm_view *view);
/* A metric of time without a CPU: the column's word; NULL: another metric. m: of the report's
 * metrics. */
const char *pm_view_off_cpu_word(const struct pm_view *view, uint32_t m);
/* The length of its name without the unit at its end: wall of wall_ns; all of bytes_written. */
size_t pm_view_bare_metric_len(const struct pm_graph_metric *metric);
bool pm_view_is_measured(const struct pm_graph *graph, pm_index metric);
const char *pm_view_sampled_word(const struct pm_view *view);
/* perfmap run --clock wall: the time of samples has waiting in it. */
bool pm_view_has_wall_samples(const struct pm_view *view); /* with a cpu_metric */
/* Is the share of a row made of a few samples only? */
bool pm_view_is_uncertain(const struct pm_view *view, const struct pm_view_row *row);
/* May some of what words and adapters said for the row be said in a function that was inlined
 * there? */
bool pm_view_has_words_of_inlined(const struct pm_view *view, const struct pm_view_row *row,
                                  uint32_t m);
/* Is time of code that it called, and that jumped away, in its own wall time? */
bool pm_view_has_others_time(const struct pm_view *view, const struct pm_view_row *row);
/* What its wall time may be off by. Of a total the shifts are no part: they leave that as it is. */
int64_t pm_view_uncertainty_ns(const struct pm_view_row *row, bool inclusive);
/* Wall time that what was taken out of it makes uncertain. */
bool pm_view_is_doubtful(const struct pm_view *view, const struct pm_view_row *row, bool inclusive);
/* So of any wall time's share. shift_ns: what may have gone to others, or come from them. all_ns,
 * all_doubt_ns: of all of the run. */
bool pm_view_share_is_doubtful(double ns, double doubt_ns, double shift_ns, double all_ns,
                               double all_doubt_ns);

/* shifts.c: fills shift_ns and inclusive_shift_ns of flat rows. of_contexts: [graph->n_contexts],
 * of_rows: [lift->n_rows], room. */
PM_MUST_CHECK enum pm_status pm_view_shift_rows(struct pm_view *view,
                                                const struct pm_call_nesting *nesting,
                                                int64_t *of_contexts, int64_t *of_rows,
                                                struct pm_error *err);
/* Of rows that are the nodes of a tree; node_of: [graph->n_contexts]. False: memory. */
PM_MUST_CHECK bool pm_view_shift_nodes(struct pm_view *view, const uint32_t *node_of);

/* ways.c: which mappings lead to what this view asks for: fills leaves_out. The answer per
 * sentence is 0 when no way leads to the level. To be freed. */
PM_MUST_CHECK enum pm_status pm_view_find_ways(struct pm_view *view, struct pm_error *err,
                                               unsigned char **ret_rank);
/* Is the noun what --by asks for? Arrays are what points to memory, too. */
bool pm_view_noun_is_object(const struct pm_view *view, pm_index noun);
bool pm_view_noun_is_array(const struct pm_view *view, pm_index noun);
bool pm_view_is_at_source(const struct pm_view *view); /* the level asked for is Source */
bool pm_view_noun_is_statement(const struct pm_view *view, pm_index noun);
/* A statement that stands for what was called at a line that is not known. */
bool pm_view_is_unknown_line(const struct pm_view *view, pm_index noun);
bool pm_view_noun_is_machine_code(const struct pm_view *view, pm_index noun); /* found by samples */
/* code without late map: what data it touches is not known */
bool pm_view_noun_is_of_unknown_data(const struct pm_view *view, pm_index noun);

/* ways.c: data that code may work for though it touches none has a bound in questions. Rows, lines
 * and explanations count what is known, so their views have no such mappings. */
PM_MUST_CHECK enum pm_status pm_view_drop_guesses(struct pm_view *view, struct pm_error *err);

/* fold.c: code of system headers counts for what uses it, unless the options say not to. */
PM_MUST_CHECK enum pm_status pm_view_fold(struct pm_view *view, struct pm_error *err);
/* folded_value, of what is in the focus. */
PM_MUST_CHECK enum pm_status pm_view_sum_folded(struct pm_view *view, struct pm_error *err);

/* groups.c: groups, group_of and the lift. */
PM_MUST_CHECK enum pm_status pm_view_make_groups(struct pm_view *view, struct pm_error *err);
PM_MUST_CHECK enum pm_status pm_view_make_lift(struct pm_view *view, struct pm_error *err);

/* nesting.c: which rows lie in others. */
PM_MUST_CHECK enum pm_status pm_view_make_nesting(struct pm_view *view, struct pm_error *err);

/* Where in the source a sentence leads: by the mapping to a statement if there is one, else the
 * first; for nouns that state no place themselves. PM_NONE. */
pm_index pm_view_find_place(const struct pm_view *view, pm_index sentence);

/* traits.c: why constructs are one, and other marks of rows. */
PM_MUST_CHECK enum pm_status pm_view_find_traits(struct pm_view *view, struct pm_error *err);

/* Code of libraries whose caller is likely, not certain: nothing but inferred mappings leads from
 * the sentence. When the lift was made. */
bool pm_view_is_inferred(const struct pm_view *view, pm_index sentence);

/* modes.c: nouns in other modes than the program. */
PM_MUST_CHECK enum pm_status pm_view_find_untimed(struct pm_view *view, struct pm_error *err);
/* Has the context no wall time of its own? */
bool pm_view_is_untimed(const struct pm_view *view, pm_index context);
/* Of code that was entered: was it not timed? */
bool pm_view_is_untimed_code(const struct pm_view *view, pm_index context);
/* Of the source: has some of its code, or all, no sleds? */
bool pm_view_noun_lacks_sleds(const struct pm_view *view, pm_index noun);
/* Was it met by samples only? Its wall time is that of what is around. */
bool pm_view_is_only_sampled(const struct pm_view *view, pm_index context);
/* Is CPU time of such code, of something that has wall_ns otherwise, too much to be left out? */
bool pm_view_is_much_sampled(const struct pm_view *view, double sampled_ns, double wall_ns);
/* In a timed run, a focus on what only samples met is shown in CPU time. */
PM_MUST_CHECK enum pm_status pm_view_choose_time_of_focus(struct pm_view *view,
                                                          struct pm_error *err);
/* mode exact or trace, but for single nouns */
bool pm_view_is_timed_run(const struct pm_view *view);
/* What another tool measured (perfmap import). */
bool pm_view_is_import(const struct pm_view *view);
uint32_t pm_view_n_nouns_in(const struct pm_view *view, enum pm_run_mode mode, bool is_asked);
/* All stays of a noun in one mode, over all processes. */
struct pm_view_stay {
    pm_index noun;
    enum pm_run_mode mode;
    bool is_asked;
    int64_t from_ns, until_ns; /* the first and the last of it; until_ns PM_UNKNOWN: to the end */
    int64_t n_events;
    double in_ns, of_ns; /* how long, and how long the processes were in which it was */
};
struct pm_view_stays {
    struct pm_view_stay *items;
    uint32_t n;
};
/* By mode and reason. items: to be freed; NULL: there are none, or memory ended. */
struct pm_view_stays pm_view_find_stays(const struct pm_view *view);
/* What a noun of code with sleds is in the source; itself when that is not known. */
pm_index pm_view_noun_in_source(const struct pm_view *view, pm_index noun);
/* A line for the header, to be freed; NULL or "": there is nothing to say. */
char *pm_view_modes_line(struct pm_view *view, bool utf8);
/* What code with sleds is in the source, short. Arena memory; NULL: it ended. */
const char *pm_view_noun_name(struct pm_view *view, pm_index noun);
/* partial.c: what was not followed, or not timed, all the time. */
PM_MUST_CHECK enum pm_status pm_view_find_partial(struct pm_view *view, struct pm_error *err);
/* A part of it: CPU time that no sample stands for. */
PM_MUST_CHECK enum pm_status pm_view_find_lost(struct pm_view *view, struct pm_error *err);
/* May the context, own or inclusive, have spent much of that? */
bool pm_view_lacks_samples(const struct pm_view *view, pm_index context, bool inclusive);

/* --- counters.c: events that were counted; m: a position in view->metrics --- */
bool pm_view_is_counted(const struct pm_view *view, uint32_t m);
/* Shows all that were, as far as there is room. */
void pm_view_add_counted(struct pm_view *view);
/* Are all of its numbers estimates, the total too: scaled up, or PAPI's samples? */
bool pm_view_counts_are_scaled(const struct pm_view *view, uint32_t m);
/* Why numbers of its rows are uncertain, few samples apart: what ~ means; NULL: they are not. */
const char *pm_view_why_counts(const struct pm_view *view, uint32_t m);
/* Is a number of a row that large uncertain: of few samples, scaled, perhaps another thread's? */
bool pm_view_counts_are_few(const struct pm_view *view, uint32_t m, double value);
/* Were counters read at each call, so that wall times hold what that took? */
bool pm_view_times_hold_readings(const struct pm_view *view);
/* Are some events in no count at all? */
bool pm_view_counts_are_cut(const struct pm_view *view, uint32_t m);
/* Was some of it not measured anywhere, for what it is of was only counted for a while? Then the
 * total is at least, too. m: of the view's metrics. */
bool pm_view_is_unmeasured(const struct pm_view *view, uint32_t m);
/* As pm_view_find_lost and pm_view_lacks_samples, of one metric. ret_lost->counts, to be freed, is
 * NULL where little was not located. */
PM_MUST_CHECK enum pm_status pm_view_find_lost_of(const struct pm_view *view, pm_index metric,
                                                  struct pm_error *err,
                                                  struct pm_view_lost *ret_lost);
bool pm_view_may_lack(const struct pm_view *view, const struct pm_view_lost *lost, pm_index context,
                      bool inclusive);
/* The same of all that are shown; bits by position in view->lost_counts. */
PM_MUST_CHECK enum pm_status pm_view_find_lost_counts(struct pm_view *view, struct pm_error *err);
unsigned pm_view_lacks_counts(const struct pm_view *view, pm_index context, bool inclusive);
bool pm_view_row_lacks_counts(const struct pm_view *view, const struct pm_view_row *row, uint32_t m,
                              bool inclusive);
void pm_view_release_lost_counts(struct pm_view *view);
/* What is to be said of how a shown metric was counted. False: nothing of this. */
enum pm_view_counted_note {
    PM_VIEW_COUNTED_LOST,
    PM_VIEW_COUNTED_SHARED,
    PM_VIEW_COUNTED_SCALED,
    PM_VIEW_COUNTED_STOPPED,
    PM_VIEW_COUNTED_USER,
    PM_VIEW_COUNTED_FAILED,
    PM_VIEW_COUNTED_CLOSED,
    PM_VIEW_N_COUNTED_NOTES
};
bool pm_view_say_counted(const struct pm_view *view, uint32_t m, enum pm_view_counted_note which,
                         struct pm_buf *text);
/* A function that ends by a jump into code without sleds, called: nothing tells when that code has
 * returned, so the time of it is the caller's. */
bool pm_view_is_left_by_jump(const struct pm_view *view, pm_index context);
/* What a noun of a row adds to the row's marks. */
void pm_view_mark_partial(const struct pm_view *view, pm_index noun, struct pm_view_traits *traits);
/* Is the row's amount of the report's metric m, own or inclusive, at least what is known of it? */
int64_t pm_view_n_lost_events(const struct pm_archive_data *data);
bool pm_view_is_at_least(const struct pm_view *view, const struct pm_view_row *row, uint32_t m,
                         bool inclusive);

/* parts.c: the costs of some runners only, and what each has of a row. Which: runners and runs_in.
 * PM_ERR_USAGE: a kind of runner that is not there; PM_ERR_NOT_FOUND: a name. */
PM_MUST_CHECK enum pm_status pm_view_choose_runners(struct pm_view *view, struct pm_error *err);
/* With runs_in: only what ran there stays. When times are as they will be shown. */
PM_MUST_CHECK enum pm_status pm_view_keep_runners(struct pm_view *view, struct pm_error *err);
/* The parts of all rows. row_of: per context its row, in a tree; NULL: rows are of the lift. */
PM_MUST_CHECK enum pm_status pm_view_find_parts(struct pm_view *view, const uint32_t *row_of,
                                                struct pm_error *err);
/* The costs of some threads, each of its own, as pm_view_each_cost has them; to be freed. */
PM_MUST_CHECK enum pm_status pm_view_costs_of(struct pm_view *view, const bool *threads_in,
                                              struct pm_error *err, struct pm_cost **ret_costs,
                                              uint32_t *ret_n);

/* Does a pattern of --focus, "rank:3", have the form of options.on? Such a one is that, where
 * nothing of the archive is called so. */
bool pm_view_names_runner(const char *text);

/* Of options.focus and options.on: one more; false: there are PM_VIEW_MAX_FOCI. */
PM_MUST_CHECK bool pm_view_add_focus(const char **foci, const char *text);
/* "func:sweep, array:u" */
void pm_view_add_foci(const char *const *foci, struct pm_buf *out);
/* Several were asked for, and nothing of the view is in all of them. When its rows are made. */
bool pm_view_foci_exclude(const struct pm_view *view);

/* runners.c: rows that are processes or threads. pm_view_make_runners: rows have been allocated. */
bool pm_view_is_by_runner(const struct pm_view *view);
PM_MUST_CHECK enum pm_status pm_view_make_runners(struct pm_view *view, struct pm_error *err);
/* Adds all costs in focus, each of its own thread. row_of: per thread. */
PM_MUST_CHECK enum pm_status pm_view_add_costs_of_threads(struct pm_view *view,
                                                          const uint32_t *row_of,
                                                          struct pm_error *err);
const struct pm_process *pm_view_process_of(const struct pm_view *view,
                                            const struct pm_view_row *row);
/* Of a row that is a rank: how many processes are. */
uint32_t pm_view_n_processes_of(const struct pm_view *view, const struct pm_view_row *row);
/* NULL: the row is a process. */
const struct pm_thread *pm_view_thread_of(const struct pm_view *view,
                                          const struct pm_view_row *row);
void pm_view_name_runner(const struct pm_view *view, const struct pm_view_row *row,
                         struct pm_buf *what, struct pm_buf *place);
/* sources.c: source_text of the rows that are shown, by statement and line. */
bool pm_view_shows_sources(const struct pm_view *view);
PM_MUST_CHECK enum pm_status pm_view_find_sources(struct pm_view *view, struct pm_error *err);

/* query.c: whether calls in a sentence are entries of a loop or of a region, which rows of
 * functions and files count apart. */
bool pm_view_counts_as_entries(const struct pm_view *view, pm_index sentence);
/* Does a cost in calls count as none: of a part of something that was called once? */
bool pm_view_is_no_call(const struct pm_view *view, const struct pm_cost *cost);
/* For programs, and in keys of rows: "no object". Constant. */
const char *pm_view_special_word(enum pm_view_special special);
/* Does it call the library to carry out a statement? That is a call of the statement, and of
 * nothing around it, where rows are not statements. */
bool pm_view_is_of_statement(const struct pm_view *view, pm_index context);

/* compensate.c: takes the estimated cost of measuring out of own times, before anything is made
 * of them, unless the options say not to. */
PM_MUST_CHECK enum pm_status pm_view_compensate(struct pm_view *view, struct pm_error *err);
PM_MUST_CHECK enum pm_status pm_view_place_waits(struct pm_view *view, struct pm_error *err);
/* Reads all costs of some threads (NULL: of all) again, as pm_view_place_waits and
 * pm_view_compensate left the merged ones: what measuring took of a context is each thread's in
 * proportion to its time there, and all threads together have exactly what the merged ones have.
 * The archive must have been loaded with PM_ARCHIVE_LOAD_KEPT. */
PM_MUST_CHECK enum pm_status pm_view_each_cost(struct pm_view *view, const bool *threads_in,
                                               pm_cost_visitor visit, void *context,
                                               struct pm_error *err);

/* focus.c: fills in_focus. */
PM_MUST_CHECK enum pm_status pm_view_focus(struct pm_view *view, struct pm_error *err);

/* "'sum' names 2: sum<int> (a.cc:3), sum<long> (a.cc:3)"; false, and nothing is added, when it
 * names one, or has wild cards. */
bool pm_view_add_fitting(const struct pm_view *view, const char *text, struct pm_buf *out);

/* [n_nouns]: what a pattern of --focus names, without what lies below; to be freed.
 * PM_ERR_NOT_FOUND. */
PM_MUST_CHECK enum pm_status pm_view_find_named(const struct pm_view *view, const char *text,
                                                struct pm_error *err, bool **ret_in);

/* paths.c: at levels above the source, what has no sentence there counts for the innermost one
 * on its path. */
PM_MUST_CHECK enum pm_status pm_view_follow_paths(struct pm_view *view, struct pm_error *err);
bool pm_view_lies_above(const struct pm_graph *graph, pm_index level, pm_index other);
/* order.c: drops rows without numbers, sorts, limits and sums them up, names the shown. */
PM_MUST_CHECK enum pm_status pm_view_arrange(struct pm_view *view, struct pm_error *err);

/* The last shown ones go to `rest`. Not in a tree. */
void pm_view_show_fewer(struct pm_view *view, uint32_t n);
enum pm_view_sort pm_view_effective_sort(const struct pm_view *view);

/* row_names.c: what and place of rows. Few of many rows are printed, so they are named when they
 * are needed; a row is named once. */
PM_MUST_CHECK enum pm_status pm_view_naming_start(struct pm_view *view, struct pm_error *err);
void pm_view_name_row(struct pm_view *view, struct pm_view_row *row);
PM_MUST_CHECK enum pm_status pm_view_naming_status(const struct pm_view *view,
                                                   struct pm_error *err); /* of all up to now */
void pm_view_naming_free(struct pm_view_naming *naming);
/* The noun of a row that stands for its place and kind: of its first group, or of an unmapped
 * sentence; PM_NONE. */
pm_index pm_view_row_noun(const struct pm_view *view, const struct pm_view_row *row, uint32_t n);
bool pm_view_noun_is(const struct pm_view *view, pm_index noun, const char *kind);
bool pm_view_noun_is_code(const struct pm_view *view, pm_index noun); /* function or symbol */
bool pm_view_noun_is_loop(const struct pm_view *view, pm_index noun); /* loop or loopcode */
/* Names of machine code begin with a symbol: "_ZN1a1fEv+0x40" is a::f()+0x40. */
void pm_view_add_code_name(const char *name, struct pm_buf *out);
/* What stands between the nouns of a sentence of machine code, before the one at that place. */
const char *pm_view_code_separator(const struct pm_graph *graph, pm_index sentence, uint32_t at);
const char *pm_view_base_name(const char *path); /* its last part; lent */
/* The shortest name that tells a file of the archive from its others; lent. */
const char *pm_view_short_file(const struct pm_view *view, const char *file);

/* short_names.c: names for tables. Arena memory, or the name itself. */
/* Default arguments of std's templates left out, std::string by that name. */
const char *pm_view_short_name(struct pm_arena *arena, const char *printable);
/* f(...) for f(int, char). */
const char *pm_view_without_parameters(struct pm_arena *arena, const char *printable);

/* labels.c: how the shown rows are written in a table. */
struct pm_view_label {
    const char *full, *brief; /* without template defaults; also without parameters */
    const char *bare;         /* without "loop in " or ", outside its loops": kind_mark says it */
    char kind_mark;           /* 0: nothing was left out */
    char marks[4];            /* letters for what else is known of the row */
    const char *text;         /* what is printed: whoever shows the row chooses */
    bool is_bare;             /* that is bare, or some of it */
    const char *place, *base; /* the place without folders; of sets the same */
};
/* What a letter means, "inlined"; NULL: there is none of the kind. The letters in order: */
extern const char pm_view_mark_letters[];
const char *pm_view_mark_meaning(char letter);
/* [n_shown], to be freed. No two rows that stand for different things look the same. NULL: memory
 * ended. */
struct pm_view_label *pm_view_make_labels(struct pm_view *view);
#define PM_VIEW_HEAP_OF ", heap blocks of " /* and a place: after the name of an array */

/* facts.c: the run itself. */
struct pm_view_facts {
    int64_t wall_ns, user_cpu_ns, system_cpu_ns; /* PM_UNKNOWN */
    int64_t added_ns;                            /* PM_UNKNOWN; estimated */
    double added_pct;                            /* of the wall time of all threads, added up */
    int64_t events_ns, samples_ns;               /* of it; PM_UNKNOWN */
    int64_t starts_ns;      /* of events_ns: starts of processes, threads, libraries; PM_UNKNOWN */
    int64_t fixed_ns;       /* of events_ns: what the budget leaves alone; PM_UNKNOWN: nothing */
    bool events_by_samples; /* of PerfMap's own code, which are more than was reckoned */
    bool is_at_most; /* added_ns, events_ns and what comes of them are bounds, not estimates */
    double slow_down_pct, events_pct, samples_pct,
        fixed_pct;      /* of the CPU time without them; NAN: not known */
    int64_t budget_ppm; /* the largest of the processes; PM_UNKNOWN: none */
    uint64_t n_processes, n_threads;
    int64_t n_samples, n_lost_samples;
    uint32_t n_disarmed_nouns, n_counted_nouns; /* to keep the budget */
    int64_t exit_status, exit_signal;
    const char *mode;
};
struct pm_view_facts pm_view_facts(const struct pm_view *view);
PM_MUST_CHECK enum pm_status pm_view_warn(struct pm_view *view, struct pm_error *err);

/* Share of the total of the primary metric; NAN: not to be had. */
double pm_view_share_pct(const struct pm_view *view, const struct pm_view_row *row);
/* Amount of a row as sorting and bars see it. */
double pm_view_primary(const struct pm_view *view, const struct pm_view_row *row);

#endif
