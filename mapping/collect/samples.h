/* Samples: which code they are of, and the contexts that they become. */
#ifndef PM_COLLECT_SAMPLES_H
#define PM_COLLECT_SAMPLES_H

#include "contexts.h"

#include "mapping/base/status.h"

struct collect_code;
struct collect_located;
struct collect_names;
struct collector;
struct pm_run_file;
struct pm_run_file_thread;

/* Finds the code of all samples of a file, in names->located: opens binaries, and makes nouns. */
PM_MUST_CHECK enum pm_status collect_locate_samples(struct collector *c,
                                                    const struct pm_run_file *file,
                                                    struct collect_names *names);
/* Places the samples of a thread; no file is opened any more. located: of its samples; nodes: what
 * its contexts have become. */
PM_MUST_CHECK enum pm_status collect_samples(struct collector *c, const struct pm_run_file *file,
                                             const struct pm_run_file_thread *thread,
                                             uint32_t thread_row, const struct collect_names *names,
                                             const struct collect_located *located,
                                             const struct collect_node *nodes);

/* A context of the run file, and the one it has become. */
struct collect_where {
    const struct pm_run_file *file;
    const struct pm_run_file_thread *thread;
    uint32_t node;
    struct collect_node context;
    uint32_t thread_row;
    const struct collect_names *names;
};
/* The code of all calls that say words, in names->calls: opens binaries, and makes nouns. */
PM_MUST_CHECK enum pm_status collect_locate_said(struct collector *c,
                                                 const struct pm_run_file *file,
                                                 const struct collect_names *names);
/* The code that says the node's word by a call; NULL: it is not known, or the node is none of a
 * word. Lent as by collect_code. */
const struct collect_code *collect_said_code(struct collector *c,
                                             const struct collect_where *where);
/* Down from where->context, which is that of the node above, to the functions that were inlined
 * around the call that says the node's word; or from that of a node further above, if the call
 * shows that those between have ended. nodes: what the thread's nodes before this one have become.
 * *ret_is_known: where it is said is known. */
PM_MUST_CHECK enum pm_status collect_said_context(struct collector *c,
                                                  const struct collect_where *where,
                                                  const struct collect_node *nodes,
                                                  bool *ret_is_known, uint32_t *ret_context);
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
