/* Bodies of constructors and destructors that call each other, in counters.
 *
 *     struct collect_bodies bodies = {0};
 *     status = collect_bodies_find(c, file, names, &bodies);
 *     n = collect_bodies_continued(&bodies, thread, noun);    // of the noun's counter there
 *     collect_bodies_release(&bodies);
 */
#ifndef PM_COLLECT_BODIES_H
#define PM_COLLECT_BODIES_H

#include "mapping/base/map.h"
#include "mapping/base/status.h"

struct collect_binary;
struct collect_names;
struct collector;
struct pm_run_file;

/* Of one run file. */
struct collect_bodies {
    struct pm_map places; /* thread and noun -> position in continued + 1 */
    uint64_t *continued;
    uint32_t n, cap;
};

/* What one binary's bodies call. */
struct collect_body_calls {
    struct pm_map blocks; /* symbol -> position of its code + 1 */
    struct pm_map known;  /* upper symbol, digit -> 1: does not call that body, 2: does */
    bool is_listed;
};

/* Nothing is found in a file without counters. After an error there is nothing to release. */
PM_MUST_CHECK enum pm_status collect_bodies_find(struct collector *c,
                                                 const struct pm_run_file *file,
                                                 const struct collect_names *names,
                                                 struct collect_bodies *ret_bodies);
/* How many of the calls that a thread's counter has are the rest of others that are counted. */
uint64_t collect_bodies_continued(const struct collect_bodies *bodies, uint32_t thread,
                                  uint32_t noun);
void collect_bodies_release(struct collect_bodies *bodies);
void collect_body_calls_release(struct collect_binary *binary);

#endif
