/* Packs the run files of processes that have ended, while the program runs on: a folder of many
 * processes is a tenth as large then, and most of what they wrote never goes to the disk.
 *
 *     struct session_pack *pack = session_pack_begin(run_dir, true);   // NULL: files stay
 *     ...                                                    // the program runs
 *     session_pack_end(pack);
 *     session_pack_rest(run_dir);                            // what ended last
 */
#ifndef PM_SESSION_PACK_H
#define PM_SESSION_PACK_H

/* Behind the name of a run file: what is being made of it. */
#define SESSION_PACK_ENDING ".pmr.tmp"

#include <stdbool.h>

struct session_pack;

/* A thread of its own, with little priority; it begins with no signal unblocked. */
/* prepares: it first loads what making the archive needs, while the program has a processor. */
struct session_pack *session_pack_begin(const char *run_dir, bool prepares);
/* At once: what is not packed then stays as it is. */
void session_pack_end(struct session_pack *pack);
/* All that no process has open any more, when it is some megabytes in all. */
void session_pack_rest(const char *run_dir);

#endif
