/* Contexts of code that ran in a context of a run file: below the symbol that holds it, and the
 * functions that were inlined there. */
#ifndef PM_COLLECT_ACTIVE_H
#define PM_COLLECT_ACTIVE_H

#include "contexts.h"

#include "mapping/base/status.h"

struct collect_code;
struct collect_names;
struct collector;
struct pm_run_file;
struct pm_run_file_thread;

/* A context of the run file, and the one it has become. */
struct collect_where {
    const struct pm_run_file *file;
    const struct pm_run_file_thread *thread;
    uint32_t node;
    struct collect_node context;
    uint32_t thread_row;
    const struct collect_names *names;
};
/* Opens what collect_code_context needs. */
PM_MUST_CHECK enum pm_status collect_locate_context(struct collector *c,
                                                    const struct collect_where *where,
                                                    const struct collect_code *code);
/* The context of a sentence of code, below that: its symbol and inlined functions between. */
PM_MUST_CHECK enum pm_status collect_code_context(struct collector *c,
                                                  const struct collect_where *where,
                                                  const struct collect_code *code,
                                                  uint32_t sentence, uint32_t *ret_context);

#endif
