/* Checksums of archives. The bytes as a file: no crash. With checksums behind them: the file is
 * found good, and when any one byte of it is another, damaged. */
#include "mapping/archive/archive_sum.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 18, END_BYTES = 32, MAGIC_BYTES = 8 };

/* SQLite's counters: a file where both have moved was changed by SQLite. */
static bool is_counter(size_t at)
{
    return (at >= 24 && at < 28) || (at >= 92 && at < 96);
}

static enum pm_status check(int fd)
{
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = pm_archive_sum_check(fd, "archive", "run again", "fuzz", &err);
    PM_ASSERT((status == PM_OK) == !*pm_error_text(&err));
    pm_error_release(&err);
    return status;
}

static void put(int fd, const void *bytes, size_t len, size_t at)
{
    if (pwrite(fd, bytes, len, (off_t)at) != (ssize_t)len)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (fd < 0 && (fd = memfd_create("fuzz", 0)) < 0)
        abort();
    if (size > MAX_BYTES || ftruncate(fd, 0) != 0)
        return 0;
    put(fd, data, size, 0);
    (void)check(fd);
    if (size < 100 || pm_archive_sum_append(fd, "archive", "fuzz", NULL) != PM_OK)
        return 0;
    PM_ASSERT(check(fd) == PM_OK);
    size_t whole = (size_t)lseek(fd, 0, SEEK_END), end = whole - END_BYTES;
    size_t at =
        (data[size - 1] | (size_t)data[size - 2] << 8 | (size_t)data[size - 3] << 16) % whole;
    unsigned char byte;
    if (pread(fd, &byte, 1, (off_t)at) != 1)
        abort();
    byte ^= (unsigned char)(data[0] | 1);
    put(fd, &byte, 1, at);
    if (at >= end && at < end + MAGIC_BYTES)
        PM_ASSERT(check(fd) == PM_OK); /* it has no checksums */
    else if (!is_counter(at))
        PM_ASSERT(check(fd) == PM_ERR_FORMAT);
    return 0;
}
