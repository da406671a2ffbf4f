/* Costs over time: data of table cost_times. A thread's costs of one metric, by context, each with
 * how it lies in equal stretches of time ("buckets"). The lists say parts, not amounts: what is in
 * an interval is the difference of what was there up to its ends, so the parts of a cost in
 * intervals that follow each other add up to it exactly.
 *
 *     struct pm_buf data = PM_BUF_INIT(1 << 20);
 *     const double cells[] = {3, 0, 5};
 *     pm_cost_times_put(&data, 7, 8, cells, 3); // context 7: 3 in the first 10 ms, 5 in the third
 *     struct pm_cost_times times;
 *     if (pm_cost_times_parse(data.data, data.len, 0, 10000000, &times) == PM_OK)
 *         use(pm_cost_times_before(&times, pm_cost_times_find(&times, 7), 20000000)); // 3
 *
 * Data: for each context that has a time, in rising order, unsigned LEB128:
 *
 *     context     the first one's id; of others less the one before
 *     timed       how much of its cost has a time, at least 1
 *     n_runs      at least 1
 *     n_runs of:
 *       gap * 2 + more   buckets without any between the run before and this one
 *       n_more           with `more`: buckets of this run beyond the first
 *       weight           of each of its buckets, 1 to PM_COST_TIMES_MAX_WEIGHT
 *
 * `timed` is divided by weights, evenly within a bucket. A weight is rounded so that what is up to
 * the end of each bucket is right to 1/127 of the fullest one. */
#ifndef PM_COST_TIMES_H
#define PM_COST_TIMES_H

#include "../base/str.h"

#include <stddef.h>
#include <stdint.h>

enum { PM_COST_TIMES_MAX_BUCKETS = 1 << 16, PM_COST_TIMES_MAX_WEIGHT = 1 << 16 };

/* Adds a context: cells[n] is what of `timed` was in each bucket, none negative, not all 0.
 * n at most PM_COST_TIMES_MAX_BUCKETS. */
void pm_cost_times_put(struct pm_buf *out, uint64_t context_gap, uint64_t timed,
                       const double *cells, uint32_t n);

struct pm_cost_times_run {
    uint32_t first, n; /* buckets */
    uint64_t before;   /* weights of the runs before */
    uint32_t weight;   /* of each bucket */
};

struct pm_cost_times_list {
    int64_t context; /* its id in the archive */
    int64_t timed;
    uint64_t weight; /* of all runs */
    uint32_t first_run, n_runs;
};

struct pm_cost_times {
    int64_t start_ns, bucket_ns;      /* of bucket 0, from the execution's start; above 0 */
    struct pm_cost_times_list *lists; /* by context */
    struct pm_cost_times_run *runs;
    uint32_t n_lists, n_runs;
};

/* Trusts nothing. PM_ERR_FORMAT, with no text: the data is damaged; PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_cost_times_parse(const void *data, size_t len, int64_t start_ns,
                                                 int64_t bucket_ns,
                                                 struct pm_cost_times *ret_times);
void pm_cost_times_release(struct pm_cost_times *times);
/* NULL: it has no times. */
const struct pm_cost_times_list *pm_cost_times_find(const struct pm_cost_times *times,
                                                    int64_t context);
/* How much of `timed` was up to then, from the execution's start: 0 to `timed`, rising. INT64_MIN:
 * nothing; INT64_MAX: all. */
int64_t pm_cost_times_before(const struct pm_cost_times *times,
                             const struct pm_cost_times_list *list, int64_t at_ns);

#endif
