/* Costs of contexts, and contexts of run files. */
#ifndef PM_COLLECT_COSTS_H
#define PM_COLLECT_COSTS_H

#include "mapping/base/str.h"

struct collect_names;
struct collector;
struct pm_run_file;
struct pm_run_file_thread;

/* As in table metrics; further ones are made as costs name them. */
enum {
    METRIC_N_CALLS = 1,
    METRIC_WALL_NS,
    METRIC_CPU_NS,
    METRIC_N_SAMPLES,
    METRIC_OFF_CPU_NS,
    METRIC_SAMPLED_WALL_NS,
    METRIC_WAITING_NS,
    METRIC_PREEMPTED_NS,
    N_OWN_METRICS = METRIC_PREEMPTED_NS
};

struct collect_cost {
    uint32_t context, thread, metric;
    uint64_t value;
};

struct collect_metric {
    const char *name, *unit, *kind, *description; /* interned or constant */
    bool is_used;
    const char *aggregation; /* NULL: sum */
};

struct collect_costs {
    struct collect_metric *metrics; /* the row's number less one */
    size_t n_metrics;
    struct collect_cost *list; /* not written yet */
    uint32_t n, cap;
    /* CPU time that has been charged to contexts, of all processes of the execution */
    uint64_t sampled_cpu_ns;
    bool has_all_calls; /* some process was run in mode exact, trace or count */
};

PM_MUST_CHECK enum pm_status collect_costs_start(struct collector *c);
/* Opens the binaries that contexts of a file are calls in; also those that say words. */
PM_MUST_CHECK enum pm_status collect_locate_calls(struct collector *c,
                                                  const struct pm_run_file *file,
                                                  const struct collect_names *names);
/* Contexts and costs of all threads of a file, whose rows are first_thread and on. */
PM_MUST_CHECK enum pm_status collect_costs_add(struct collector *c, const struct pm_run_file *file,
                                               uint32_t first_thread,
                                               const struct collect_names *names);
/* Of a thread whose file has none of it: all time is its root's. */
PM_MUST_CHECK enum pm_status collect_costs_add_time(struct collector *c, uint32_t thread,
                                                    uint32_t root_sentence, uint64_t wall_ns);
/* Likewise, of a run file: its time, and what is known of the whole process. */
PM_MUST_CHECK enum pm_status collect_costs_add_whole(struct collector *c,
                                                     const struct pm_run_file *file,
                                                     uint32_t thread,
                                                     const struct collect_names *names);
/* Folded contexts stand for their parent. */
uint32_t collect_unfolded(const struct pm_run_file_thread *thread, uint32_t node);
/* Where a node's own time goes: *context, the node's own, but for a sentence that the program
 * entered itself, which is no code. */
PM_MUST_CHECK enum pm_status collect_own_context(struct collector *c,
                                                 const struct pm_run_file *file,
                                                 const struct pm_run_file_thread *thread,
                                                 size_t node, const struct collect_names *names,
                                                 unsigned flags, uint32_t *context);
PM_MUST_CHECK enum pm_status collect_cost(struct collector *c, uint32_t context, uint32_t thread,
                                          uint32_t metric, uint64_t value); /* 0 is left out */
PM_MUST_CHECK enum pm_status collect_metric(struct collector *c,
                                            const struct collect_metric *metric,
                                            uint32_t *ret_metric);
PM_MUST_CHECK enum pm_status collect_costs_end(struct collector *c);
/* cost_lists.c: writes what is in memory. No thread has costs before and after. */
PM_MUST_CHECK enum pm_status collect_write_costs(struct collector *c);
void collect_costs_release(struct collector *c);

#endif
