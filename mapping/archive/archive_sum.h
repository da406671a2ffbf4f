/* Checksums behind an archive's last page, so that a bit that has flipped since is noticed
 * (docs/formats/archive.md). SQLite reads no farther than its pages.
 *
 *     pm_archive_sum_append(fd, "archive", path, err);   // when the file is complete
 *     pm_archive_sum_check(fd, "archive", "run again", path, err);    // PM_OK too without any
 */
#ifndef PM_ARCHIVE_SUM_H
#define PM_ARCHIVE_SUM_H

#include "../base/str.h"

/* fd: open for reading and writing. noun ("archive"), remedy and path are for
 * messages. */
PM_MUST_CHECK enum pm_status pm_archive_sum_append(int fd, const char *noun, const char *path,
                                                   struct pm_error *err);
/* PM_ERR_FORMAT: some byte is not what was written. Archives that something else has written to
 * since have no checksums any more, and those of more than PM_ARCHIVE_SUM_MAX_BYTES are not read
 * for this. */
#define PM_ARCHIVE_SUM_MAX_BYTES ((uint64_t)256 << 20)
PM_MUST_CHECK enum pm_status pm_archive_sum_check(int fd, const char *noun, const char *remedy,
                                                  const char *path, struct pm_error *err);

#endif
