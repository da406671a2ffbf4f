/* Where in the run two sides begin to differ: after so many entries of a loop or function
 * (traces), in which phase, at what time.
 *
 *     struct pm_when_options options = {.compare = {.least_pct = 5}, .progress = "loop:heat.c:40"};
 *     struct pm_parting *when;
 *     if (pm_when(&options, inputs, &err, &when) == PM_OK && when->parts[0].first != PM_NONE)
 *         use(when->parts[0].edges[when->parts[0].first]);
 *     pm_when_free(when);
 *
 * By progress, a bin is so many entries, and what it has is the wall time between them: no clock
 * of one run is compared with that of another. By time, a bin is a part of the CPU time of the run
 * (of other metrics, of the time since its start), and what it has is the metric of one row, or of
 * the focus. How bins are compared: bins.h.
 */
#ifndef PM_COMPARE_WHEN_H
#define PM_COMPARE_WHEN_H

#include "bins.h"
#include "compare.h"

enum pm_when_kind { PM_WHEN_PROGRESS, PM_WHEN_PHASES, PM_WHEN_TIME };
enum { PM_WHEN_MOST_BINS = 256, PM_WHEN_TOGETHER = 3, PM_WHEN_MOST_PARTS = 2 };

struct pm_when_options {
    struct pm_compare_options compare; /* .view.by: what a row is; .view.focus: its costs instead */
    const char *progress;              /* a pattern of --focus, as it is in A's first; NULL */
    uint32_t n_bins;                   /* 0: as many as there are samples for */
};

struct pm_when_part {
    enum pm_when_kind kind;
    const char *what;      /* printable: the row, the focus, what is entered; "" all */
    const char *places[2]; /* printable */
    const char *metric, *unit;
    struct pm_bin_difference *bins;
    double *edges;      /* [n_bins + 1]: entries, or ns since the start; of phases their numbers */
    const char **names; /* [n_bins] of phases, printable; else NULL */
    uint32_t n_bins;
    uint32_t first;      /* the bin with which a difference begins; PM_NONE */
    double run;          /* all that A has: entries, or its time, the mean */
    double begin_ns;     /* when A is there, since its start */
    bool is_median;      /* by progress: of the steps from entry to entry in a bin; else the mean */
    bool is_on_cpu;      /* edges are CPU time that was spent, by all threads, and not wall time */
    double total[2];     /* entries of each side, the mean */
    double mean_behind;  /* of the differences of bins, from the first on */
    double mean_ahead_a; /* what A's bins have there */
};

struct pm_parting {
    struct pm_when_options options;
    struct pm_comparison *comparison;
    struct pm_when_part parts[PM_WHEN_MOST_PARTS];
    uint32_t n_parts;
    struct pm_arena arena;
};

/* Errors as of pm_compare. PM_ERR_NOT_FOUND: nothing fits the progress, an archive has no trace,
 * or does not know when its costs were. */
PM_MUST_CHECK enum pm_status pm_when(const struct pm_when_options *options,
                                     const struct pm_compare_input inputs[2], struct pm_error *err,
                                     struct pm_parting **ret);
void pm_when_free(struct pm_parting *when);

#endif
