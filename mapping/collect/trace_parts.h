/* The parts of all traces of a run file, as packed blocks: read and packed by several threads at
 * once, given out in order.
 *
 *     struct trace_parts *parts;
 *     status = trace_parts_open(&setting, err, &parts);
 *     for (size_t i = 0; i < n_threads; i++)
 *         while ((status = trace_parts_next(parts, i, err, &block)) == PM_OK && block)
 *             insert(i, block);
 *     trace_parts_close(parts);
 *
 * What comes out does not depend on how many threads there are: each part of the file is a block,
 * or several if its events are more than 65536 (when a thread goes between stacks), and what ends
 * with the trace. Each part is read on its own, if it can be (run_trace.h), by whichever thread is
 * free; then joined to what was open, in the order of the thread's parts; then packed, by whichever
 * is free. What of that is done for a part is the work of one thread, and the caller is one of them
 * while it waits. Memory: twice as many parts as there are threads, and four.
 */
#ifndef PM_COLLECT_TRACE_PARTS_H
#define PM_COLLECT_TRACE_PARTS_H

#include "mapping/archive/trace_block.h"
#include "mapping/archive/trace_steps.h"

struct pm_run_file;
struct trace_parts;

struct trace_parts_setting {
    const char *path; /* of the file; all is lent until the end */
    const struct pm_run_file *file;
    const uint32_t *sentences;   /* rows, by noun; 0: what is no call, and does not come out */
    uint64_t start_tsc;          /* ticks count from there */
    struct pm_trace_clock clock; /* of these ticks */
    unsigned n_threads;          /* at most; 0: one for each processor */
    /* Row of the sentence for nouns that are not known, when there are any. Called once, by any
     * thread while the caller waits in trace_parts_next. */
    enum pm_status (*unknown)(void *context, struct pm_error *err, uint32_t *ret_sentence);
    void *context;
};

struct trace_packed {
    struct pm_trace_block_about about;
    void *data;
    size_t len;
    struct pm_trace_piece piece; /* whose time it was */
    struct pm_trace_shares shares;
};

PM_MUST_CHECK enum pm_status trace_parts_open(const struct trace_parts_setting *setting,
                                              struct pm_error *err, struct trace_parts **ret_parts);
/* The next block of a thread of the file; threads in order, each until it has no more (NULL). Lent
 * until the next call. */
PM_MUST_CHECK enum pm_status trace_parts_next(struct trace_parts *parts, size_t thread,
                                              struct pm_error *err,
                                              const struct trace_packed **ret_block);
void trace_parts_close(struct trace_parts *parts); /* NULL is fine */

#endif
