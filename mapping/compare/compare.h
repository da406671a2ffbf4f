/* Runs on two sides, A and B: which constructs cost more, which less, and whether that is noise.
 *
 *     const char *const before[] = {"old1.perfmap", "old2.perfmap"};
 *     const char *const after[] = {"new.perfmap"};
 *     struct pm_compare_options options = {.view = {.level = "source"}, .least_pct = 5};
 *     struct pm_compare_input inputs[2] = {{before, 2}, {after, 1}};
 *     struct pm_comparison *comparison;
 *     if (pm_compare(&options, inputs, NULL, &err, &comparison) == PM_OK)
 *         for (uint32_t r = 0; r < comparison->n_rows; r++)
 *             use(comparison->rows[r].what, comparison->rows[r].difference);
 *     pm_comparison_free(comparison);
 *
 * The unit is the run: how runs of one side differ is what noise is. Rows of a side add up to its
 * measured total. Constructs are found again in other builds by mapping/view/keys.h and build.h.
 * One archive is in memory at a time, and the first of A. One thread.
 *
 * How rows are compared: statistics.h. Times of rows are divided by the speed of their run, the
 * median over rows of what each took against its mean, so that one slow function does not make all
 * others look faster. The variance is at least what chance gives that many samples. Of the rows
 * with half a percent of the total, 5 % of those that are called different are so by chance.
 */
#ifndef PM_COMPARE_H
#define PM_COMPARE_H

#include "mapping/view/keys.h"
#include "mapping/view/view.h"

struct pm_build_map;

enum { PM_COMPARE_LEAST_RUNS = 4 }; /* on each side, for a verdict */
/* Of the total, in percent: times of less are not judged. */
#define PM_COMPARE_JUDGED_PCT 0.5

enum pm_compare_side_id { PM_COMPARE_A, PM_COMPARE_B };

struct pm_compare_options {
    /* of each archive; .metrics: one at most, by itself that of A's first. Not .by LINE */
    struct pm_view_options view;
    double least_pct; /* smaller changes of a row are no difference; 5 */
    bool inclusive;   /* inclusive costs are compared, not own ones; .view.tree does so by itself */
    bool good_only;   /* leaves out runs that were measured badly */
    bool is_normalised; /* each run is multiplied so that its total is the mean of B's */
    const struct pm_build_map *maps; /* build.h: functions that the user says are the same */
    uint32_t n_maps;
};

struct pm_compare_input {
    const char *const *paths;
    uint32_t n_paths;
    const char *from;  /* of each of them, in place of .view.from; NULL: that */
    const char *label; /* what runs are called, printable; NULL: by their paths */
};

enum pm_compare_state {
    PM_COMPARE_MEASURED,
    PM_COMPARE_NO_COST, /* the construct is there, and nothing was measured: 0 */
    PM_COMPARE_ABSENT,  /* the build has no such construct: 0, too */
    PM_COMPARE_UNKNOWN  /* not measured: no number */
};

struct pm_compare_cell {
    double value; /* in the metric's unit; 0 where nothing is measured */
    enum pm_compare_state state;
    bool is_at_least, is_uncertain;
};

enum pm_verdict {
    PM_VERDICT_NONE, /* too few runs, or too small: see reason */
    PM_VERDICT_LESS,
    PM_VERDICT_MORE,
    PM_VERDICT_SAME, /* within least_pct */
    PM_VERDICT_CANNOT_TELL,
    PM_VERDICT_UNDEFINED
};

struct pm_compare_row {
    const char *what;   /* printable, as B has it where it does */
    const char *was;    /* A's name of its function, renamed in B; NULL: none */
    bool is_likely;     /* that it is the same function: nobody said so */
    const char *joined; /* a set and its members: which side has these apart; NULL: no such row */
    const char *places[2];                  /* per side, printable; NULL: it has no such row */
    uint64_t key;                           /* pm_view_keys_make, as A's first calls it */
    const struct pm_compare_cell *cells[2]; /* [n_runs] of the side */
    /* Where inclusive costs are compared the own ones, which are never judged; else NULL. */
    const struct pm_compare_cell *own_cells[2];
    double own_means[2], own_difference;  /* likewise; NAN: not known */
    uint32_t parent, depth;               /* tree: a smaller position; PM_NONE: at the top */
    double means[2];                      /* as measured; NAN: not known */
    double scaled_means[2];               /* divided by the speed of the runs */
    bool is_at_least[2], is_uncertain[2]; /* some of the cells are */
    enum pm_compare_state states[2];      /* the best known of them */
    double difference;                    /* of the means as measured; NAN */
    double change_pct;                    /* of the scaled means, of A's; NAN: A's is 0 */
    double low_pct, high_pct;             /* 95 % interval; NAN */
    double seen_pct;                      /* the smallest change that would have been seen; NAN */
    double p;                             /* NAN: not tested */
    enum pm_verdict verdict;
    const char *reason; /* of NONE and UNDEFINED; "" else */
    bool is_judged;     /* large enough */
};

struct pm_compare_run {
    const char *path; /* or the label; lent from the input */
    double total;
    double factor;        /* that its numbers were multiplied by (is_normalised); 1 */
    double speed;         /* what its times are divided by */
    const char *poor;     /* how it was measured badly, printable; NULL: well */
    double slow_down_pct; /* by measuring; NAN: not known */
    const char *mode;
    int64_t period_ns; /* between samples; 0: none */
    const char *command;
};

struct pm_compare_side {
    struct pm_compare_run *runs;
    uint32_t n_runs, n_left_out; /* by good_only */
};

struct pm_comparison {
    struct pm_compare_options options;
    struct pm_compare_side sides[2];
    struct pm_graph_metric metric; /* "n_calls" too */
    bool is_sampled, is_scaled, is_judged;
    bool is_inclusive, is_tree;
    const char *level_name;
    struct pm_compare_row *rows; /* differences first, then by size; a tree depth first */
    uint32_t n_rows, n_judged;
    struct pm_compare_row total;              /* never scaled; by ranks: pm_shift_test */
    uint32_t n_builds, n_fine, n_matched;     /* build.h, over all builds but the first */
    uint32_t n_functions_left_out, n_renamed; /* n_renamed: functions, likely or told so */
    char **notes;                             /* printable sentences */
    uint32_t n_notes;
    struct pm_arena arena;
};

/* Who wants more of a run than a row's numbers; view: of the run, its costs can be read again.
 * names: what its constructs are called in A's first; NULL: as here. */
struct pm_compare_visitor {
    enum pm_status (*visit)(void *context, int side, struct pm_view *view,
                            const struct pm_view_key_names *names, struct pm_error *err);
    void *context;
};

/* visitor: meets each run that takes part, those of A first; NULL: nobody. PM_ERR_USAGE: a metric
 * that is not there; PM_ERR_NOT_FOUND: the sides have nothing in common, or no run is left. The
 * chain names the archive. */
PM_MUST_CHECK enum pm_status pm_compare(const struct pm_compare_options *options,
                                        const struct pm_compare_input inputs[2],
                                        const struct pm_compare_visitor *visitor,
                                        struct pm_error *err, struct pm_comparison **ret);
void pm_comparison_free(struct pm_comparison *comparison);
/* quality.c: why a run's numbers say less than those of others, for how it was measured, printable,
 * in arena. "": it was measured well; NULL: memory. */
const char *pm_compare_why_poor(const struct pm_view *view, struct pm_arena *arena);

/* Nanoseconds between samples; 0: there are none. */
int64_t pm_compare_period(const struct pm_archive_data *data);

/* verdict.c: means, intervals and verdicts of rows that have cells; their order. */
PM_MUST_CHECK enum pm_status pm_compare_judge(struct pm_comparison *comparison,
                                              struct pm_error *err);
/* The same, and rows without costs stay, and all of them in their order. */
PM_MUST_CHECK enum pm_status pm_compare_judge_in_order(struct pm_comparison *comparison,
                                                       struct pm_error *err);
/* The same of other rows, where the speeds of runs and the total are known. They stay in order. */
PM_MUST_CHECK enum pm_status pm_compare_judge_rows(struct pm_comparison *comparison,
                                                   struct pm_error *err);
/* columns.c: several sides, each against A. whole: its side B has the runs of all of them, one side
 * after the other; n_runs: how many each has. ret: one comparison for each, whose rows are those of
 * whole by position, and whose numbers and verdicts are as if that side were compared alone. What
 * they point to is whole's. To be released also after an error. */
PM_MUST_CHECK enum pm_status pm_compare_columns(const struct pm_comparison *whole,
                                                const uint32_t *n_runs, uint32_t n_columns,
                                                struct pm_error *err, struct pm_comparison *ret);
void pm_compare_columns_release(struct pm_comparison *columns, uint32_t n_columns);
/* Has one side only costs of it? */
bool pm_compare_is_of_one_side(const struct pm_compare_row *row);
/* tree.c: depth first, what lies in one row in the order of compare_rows. */
PM_MUST_CHECK enum pm_status pm_compare_order_tree(struct pm_comparison *comparison,
                                                   int (*compare_rows)(const void *, const void *),
                                                   struct pm_error *err);
/* "slower" for times, "more" for others. */
const char *pm_verdict_word(enum pm_verdict verdict, const struct pm_graph_metric *metric);

#endif
