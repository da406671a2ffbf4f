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

#endif
