/* The parts of `perfmap dump`. */
#ifndef PM_CMD_DUMP_H
#define PM_CMD_DUMP_H

#include "mapping/run/run_file.h"

/* --- dump.c --- */
const char *dump_noun_kind(const struct pm_run_file_noun *noun);

/* --- dump_trace.c --- */
/* Prints the traces of all threads, each event; with summary how many there are, and in how many
 * contexts their number and time are not those of the context. path: the file's. */
PM_MUST_CHECK enum pm_status dump_traces(const char *path, const struct pm_run_file *file,
                                         bool json, bool summary, struct pm_error *err);

#endif
