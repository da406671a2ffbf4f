/* Run files packed: what readers need of the file of a process that has ended, compressed.
 *
 *     if (pm_run_pack(from_fd, to_fd, NULL, NULL, &err) == PM_OK) rename(to, from)
 *
 * A packed file begins with the header page of the file that it was made of, but for the major
 * version, 2. Readers of run files (run_file.h) take both. docs/formats/run-file.md has the
 * layout. One thread at a time for each file.
 */
#ifndef PM_RUN_PACK_H
#define PM_RUN_PACK_H

#include "../base/str.h"
#include "../../format/pm_run.h"

/* Larger files are left as they are: who reads one needs as much memory. */
#define PM_RUN_MOST_PACKED ((uint64_t)256 << 20)

/* Writes the packed form of the run file `from` to `to`, which is empty. Nobody may write to
 * `from`. PM_ERR_USAGE: it is packed already, has a trace, is too large, or damaged, and stays
 * as it is. go_on is asked each few milliseconds; false: PM_ERR_LIMIT. NULL: no need. */
PM_MUST_CHECK enum pm_status pm_run_pack(int from, int to, bool (*go_on)(void *context),
                                         void *context, struct pm_error *err);

/* bytes: a file whose header says PM_RUN_VERSION_PACKED. *ret_bytes is to be freed. name: for
 * messages. */
PM_MUST_CHECK enum pm_status pm_run_unpack(const char *name, const void *bytes, size_t len,
                                           struct pm_error *err, void **ret_bytes, size_t *ret_len);

#endif
