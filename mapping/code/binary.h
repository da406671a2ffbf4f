/* A program or shared library on disk: is it the one that ran?
 *
 *     if (pm_binary_check(path, &identity, why, sizeof why) == PM_BINARY_SAME) ...
 */
#ifndef PM_BINARY_H
#define PM_BINARY_H

#include "../base/str.h"

/* What the run file says of it. */
struct pm_binary_identity {
    struct pm_str build_id;        /* raw bytes; empty: it had none */
    uint64_t file_bytes, mtime_ns; /* 0: not known */
};

enum pm_binary_state { PM_BINARY_SAME, PM_BINARY_CHANGED, PM_BINARY_GONE, PM_BINARY_UNREADABLE };

/* Is the file at path the one that ran? By build-id when it had one, else by size and time of
 * change. Never an error: what keeps it from being read (PM_BINARY_UNREADABLE) is told in ret_why,
 * at most len bytes, which is "" otherwise. */
enum pm_binary_state pm_binary_check(const char *path, const struct pm_binary_identity *identity,
                                     char *ret_why, size_t len);

/* The parts of a file that are loaded as code: an offset in the file is at address + offset -
 * file_offset. Returns how many there are, at most max; 0 also when it is no ELF file. */
struct pm_binary_part {
    uint64_t file_offset, address, size_bytes;
};
size_t pm_binary_code_parts(const char *path, struct pm_binary_part *ret_parts, size_t max);

#endif
