/* Traces of what was imported: the events of one thread after the other. */
#ifndef PM_COLLECT_IMPORT_TRACE_H
#define PM_COLLECT_IMPORT_TRACE_H

#include "mapping/base/status.h"

#include <stdint.h>

struct collector;
struct import_trace;

struct import_trace *import_trace_new(struct collector *c); /* NULL: memory */
void import_trace_free(struct import_trace *trace);
/* In the order of time within a thread, all of one thread before the next. sentence: a row; 0: the
 * innermost call ends. */
PM_MUST_CHECK enum pm_status import_trace_add(struct import_trace *trace, uint32_t thread,
                                              uint64_t time_ns, uint32_t sentence);
/* The last thread's events are all there. */
PM_MUST_CHECK enum pm_status import_trace_end(struct import_trace *trace);

#endif
