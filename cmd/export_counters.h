/* What threads of a trace cost over time, for counter tracks: samples know when they were taken,
 * in traces, too.
 *
 *     status = export_each_counter(trace, request, visit, me, &err);
 *
 * The part that --from and --to choose is divided into equal stretches; what a thread has of a
 * metric in each adds up to what 'perfmap report --from --to --by thread' says, for what has a
 * time. A metric that nothing is known of over time is not visited. Memory: a stretch takes 8 bytes
 * a thread.
 */
#ifndef PM_EXPORT_COUNTERS_H
#define PM_EXPORT_COUNTERS_H

#include "export.h"

enum { EXPORT_STRETCHES = 500 };

struct export_counter {
    size_t thread;             /* of the trace */
    uint32_t number;           /* of the metric, from 0; smaller than n_metrics */
    const char *metric, *unit; /* printable */
    const int64_t *edges_ns;   /* [EXPORT_STRETCHES + 1] */
    const int64_t *amounts;    /* [EXPORT_STRETCHES]; not all 0 */
};

PM_MUST_CHECK enum pm_status export_each_counter(
    struct pm_trace *trace, const struct export_request *request,
    void (*visit)(void *context, const struct export_counter *counter), void *context,
    struct pm_error *err);

#endif
