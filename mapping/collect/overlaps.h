/* Names of Fortran for overlapping parts of a COMMON block: what is done with one is done with the
 * other, in whichever unit. */
#ifndef PM_COLLECT_OVERLAPS_H
#define PM_COLLECT_OVERLAPS_H

#include "format/pm_id.h"
#include "mapping/base/status.h"

#include <stddef.h>

struct collect_binary;
struct collector;

struct collect_overlap {
    pm_id one, other; /* nouns */
    const struct collect_binary *binary;
};

/* ret_list: each pair once; the caller frees it. */
PM_MUST_CHECK enum pm_status collect_overlaps_find(struct collector *c,
                                                   struct collect_overlap **ret_list,
                                                   size_t *ret_n);

#endif
