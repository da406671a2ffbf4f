/* When imported costs were: table cost_times. */
#ifndef PM_COLLECT_IMPORT_TIMES_H
#define PM_COLLECT_IMPORT_TIMES_H

#include "mapping/base/status.h"

#include <stdint.h>

struct collector;
struct import_times;

struct import_times *import_times_new(struct collector *c); /* NULL: memory */
void import_times_free(struct import_times *times);
/* time_ns: on the profile's clock, in any order. False: memory. */
PM_MUST_CHECK bool import_times_add(struct import_times *times, uint64_t time_ns, uint32_t thread,
                                    uint32_t context, uint32_t metric, uint64_t value);
/* Writes all of them; start_ns: of the execution, on the same clock. */
PM_MUST_CHECK enum pm_status import_times_write(struct import_times *times, uint64_t start_ns);

#endif
