/* What statements write and read, by the facts. */
#ifndef PM_COLLECT_ACCESSES_H
#define PM_COLLECT_ACCESSES_H

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/base/status.h"

struct collect_binary;
struct collector;

/* By the facts a statement writes a variable, or reads it. */
struct collect_access {
    uint32_t statement; /* row */
    bool is_read;
    pm_id variable;
};

/* Of one binary. */
struct collect_accesses {
    struct collect_access *list; /* by statement */
    size_t n;
    bool is_made;
    struct pm_map n_writers; /* variable -> statements that write it */
};

/* Once per binary. */
PM_MUST_CHECK enum pm_status collect_accesses_make(struct collector *c,
                                                   struct collect_binary *binary);
/* Position of the first access of a statement, if it has any. */
size_t collect_first_access(const struct collect_binary *binary, uint32_t statement);

#endif
