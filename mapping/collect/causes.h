/* Work that was done on behalf of others. */
#ifndef PM_COLLECT_CAUSES_H
#define PM_COLLECT_CAUSES_H

#include "mapping/base/str.h"

struct collect_node;
struct collector;
struct pm_run_file;
struct pm_run_file_thread;
struct pm_run_file_word;

/* The cause that a word of a run file tells. *ret_cause: 1 + its position. */
PM_MUST_CHECK enum pm_status collect_cause(struct collector *c, const struct pm_run_file_word *word,
                                           uint32_t *ret_cause);
/* A context below `parent` in which a cause is adopted. sentence: of the code around it. */
PM_MUST_CHECK enum pm_status collect_cause_context(struct collector *c, uint32_t parent,
                                                   uint32_t cause, uint32_t sentence,
                                                   unsigned flags, uint32_t *ret_context);
/* What the contexts of a thread have become, for causes that name them. nodes: as for
 * collect_samples. */
PM_MUST_CHECK enum pm_status collect_cause_places(struct collector *c,
                                                  const struct pm_run_file *file,
                                                  const struct pm_run_file_thread *thread,
                                                  const struct collect_node *nodes);
/* when all contexts are there */
PM_MUST_CHECK enum pm_status collect_causes_end(struct collector *c);
void collect_causes_release(struct collector *c);

#endif
