/* Blocks of the heap. */
#ifndef PM_COLLECT_HEAP_H
#define PM_COLLECT_HEAP_H

#include "mapping/base/str.h"

struct collect_binary;
struct collect_heap;
struct collect_names;
struct collect_where;
struct collector;
struct pm_run_file;
struct pm_run_file_heap_site;

#define COLLECT_NO_HEAP UINT32_MAX

struct collect_heaps {
    struct collect_heap *list;
    uint32_t n, cap;
};

/* Finds the code that allocated, of all places of a file, in names->heap_codes. */
PM_MUST_CHECK enum pm_status collect_locate_heap(struct collector *c,
                                                 const struct pm_run_file *file,
                                                 struct collect_names *names);
/* Costs of what was allocated at one place. code: its number. ret_heap: position of its noun,
 * COLLECT_NO_HEAP: it has none. */
PM_MUST_CHECK enum pm_status collect_heap_site(struct collector *c, uint32_t code,
                                               const struct pm_run_file_heap_site *site,
                                               const struct collect_where *where,
                                               uint32_t *ret_heap);
/* heaps: position for each site of the file. */
PM_MUST_CHECK enum pm_status collect_heap_blocks(struct collector *c, uint64_t start_tsc,
                                                 const struct pm_run_file *file,
                                                 const uint32_t *heaps);
PM_MUST_CHECK enum pm_status collect_heap_end(struct collector *c); /* attributes, pointers */
void collect_heap_release(struct collector *c);
void collect_heap_binary_release(struct collect_binary *binary);

#endif
