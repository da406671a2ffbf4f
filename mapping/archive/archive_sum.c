/* Behind the last page, little-endian (docs/formats/archive.md):
 *
 *     offset size meaning
 *          0  8*n XXH3 (64 bits) of each block of 64 KiB of the file, the last one shorter
 *        8*n    8 "PfmpSums"
 *      8*n+8    8 size of the file in bytes, up to here
 *     8*n+16    4 bytes 24 to 27 of the file: SQLite changes them with each transaction
 *     8*n+20    4 0
 *     8*n+24    8 XXH3 of all that stands before, from the first of the n on
 *
 * A file that SQLite has written to since has other bytes 24 to 27 (and the same in 92 to 95),
 * or is longer: its checksums tell nothing.
 */
#define XXH_INLINE_ALL
#include "archive_sum.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { BLOCK_BYTES = 65536, END_BYTES = 32, COUNTER_AT = 24, COUNTER_AGAIN_AT = 92 };

struct end {
    char magic[8];
    uint64_t size_bytes;
    unsigned char counter[4];
    uint32_t zero;
    uint64_t sum;
};
_Static_assert(sizeof(struct end) == END_BYTES, "as in the file");
static const char magic[8] = {'P', 'f', 'm', 'p', 'S', 'u', 'm', 's'};

static bool read_all(int fd, void *to, size_t size_bytes, uint64_t at)
{
    for (size_t done = 0; done < size_bytes;) {
        ssize_t n = pread(fd, (char *)to + done, size_bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n < 0 ? errno : EIO;
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

static bool write_all(int fd, const void *from, size_t size_bytes, uint64_t at)
{
    for (size_t done = 0; done < size_bytes;) {
        ssize_t n = pwrite(fd, (const char *)from + done, size_bytes - done, (off_t)(at + done));
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static uint64_t n_blocks_of(uint64_t size_bytes)
{
    return size_bytes / BLOCK_BYTES + (size_bytes % BLOCK_BYTES != 0);
}

/* block: room for one. */
static bool sum_block(int fd, uint64_t size_bytes, uint64_t i, unsigned char *block,
                      uint64_t *ret_sum)
{
    uint64_t at = i * BLOCK_BYTES, left = size_bytes - at;
    size_t n = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
    if (!read_all(fd, block, n, at))
        return false;
    *ret_sum = XXH3_64bits(block, n);
    return true;
}

static uint64_t sum_of_end(const uint64_t *sums, uint64_t n, const struct end *end)
{
    return XXH3_64bits_withSeed(end, offsetof(struct end, sum),
                                XXH3_64bits(sums, (size_t)n * sizeof *sums));
}

enum pm_status pm_archive_sum_append(int fd, const char *noun, const char *path,
                                     struct pm_error *err)
{
    struct stat st;
    struct end end = {.zero = 0};
    if (fstat(fd, &st) != 0 || st.st_size < 100 || !read_all(fd, end.counter, 4, COUNTER_AT))
        return pm_error_system(err, errno, "cannot write %s '%s'", noun, path);
    end.size_bytes = (uint64_t)st.st_size;
    uint64_t n = n_blocks_of(end.size_bytes);
    uint64_t *sums = pm_alloc_array((size_t)n, sizeof *sums);
    unsigned char *block = pm_alloc(BLOCK_BYTES);
    enum pm_status status =
        sums && block ? PM_OK
                      : pm_error_set(err, PM_ERR_MEMORY, "no memory for %s '%s'", noun, path);
    bool good = status == PM_OK;
    for (uint64_t i = 0; good && i < n; i++)
        good = sum_block(fd, end.size_bytes, i, block, &sums[i]);
    if (good) {
        memcpy(end.magic, magic, sizeof magic);
        end.sum = sum_of_end(sums, n, &end);
        good = write_all(fd, sums, (size_t)n * sizeof *sums, end.size_bytes) &&
               write_all(fd, &end, sizeof end, end.size_bytes + n * sizeof *sums);
    }
    if (!good && status == PM_OK)
        status = pm_error_system(err, errno, "cannot write %s '%s'", noun, path);
    free(block);
    free(sums);
    return status;
}

static enum pm_status damaged(const char *noun, const char *remedy, const char *path, uint64_t at,
                              uint64_t n_bytes, struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_FORMAT,
                        "%s '%s' bytes %llu to %llu: not what was written, by their checksum: "
                        "the file is damaged; %s",
                        noun, path, (unsigned long long)at, (unsigned long long)(at + n_bytes - 1),
                        remedy);
}

static enum pm_status check_blocks(int fd, const char *noun, const char *remedy, const char *path,
                                   const struct end *end, const uint64_t *sums, uint64_t n,
                                   struct pm_error *err)
{
    unsigned char *block = pm_alloc(BLOCK_BYTES);
    enum pm_status status =
        block ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "no memory for %s '%s'", noun, path);
    for (uint64_t i = 0; status == PM_OK && i < n; i++) {
        uint64_t sum, at = i * BLOCK_BYTES, left = end->size_bytes - at;
        if (!sum_block(fd, end->size_bytes, i, block, &sum))
            status = pm_error_system(err, errno, "cannot read %s '%s'", noun, path);
        else if (sum != sums[i])
            status = damaged(noun, remedy, path, at, left < BLOCK_BYTES ? left : BLOCK_BYTES, err);
    }
    free(block);
    return status;
}

/* SQLite has written to the file since: both counters have moved, to the same number. */
static bool is_changed(int fd, const struct end *end)
{
    unsigned char counter[4], again[4];
    return read_all(fd, counter, 4, COUNTER_AT) && read_all(fd, again, 4, COUNTER_AGAIN_AT) &&
           memcmp(counter, end->counter, 4) != 0 && memcmp(counter, again, 4) == 0;
}

enum pm_status pm_archive_sum_check(int fd, const char *noun, const char *remedy, const char *path,
                                    struct pm_error *err)
{
    struct stat st;
    struct end end;
    if (fstat(fd, &st) != 0)
        return pm_error_system(err, errno, "cannot read %s '%s'", noun, path);
    uint64_t size = (uint64_t)st.st_size;
    if (size < 100 + sizeof end || size > PM_ARCHIVE_SUM_MAX_BYTES)
        return PM_OK;
    if (!read_all(fd, &end, sizeof end, size - sizeof end))
        return pm_error_system(err, errno, "cannot read %s '%s'", noun, path);
    if (memcmp(end.magic, magic, sizeof magic) != 0)
        return PM_OK;
    uint64_t n = end.size_bytes <= size ? n_blocks_of(end.size_bytes) : 0;
    if (n == 0 || size - end.size_bytes != n * 8 + sizeof end)
        return damaged(noun, remedy, path, size - sizeof end, sizeof end, err);
    uint64_t *sums = pm_alloc_array((size_t)n, sizeof *sums);
    if (!sums)
        return pm_error_set(err, PM_ERR_MEMORY, "no memory for %s '%s'", noun, path);
    enum pm_status status = PM_OK;
    if (!read_all(fd, sums, (size_t)n * sizeof *sums, end.size_bytes))
        status = pm_error_system(err, errno, "cannot read %s '%s'", noun, path);
    else if (sum_of_end(sums, n, &end) != end.sum)
        status = damaged(noun, remedy, path, end.size_bytes, n * 8 + sizeof end, err);
    else if (!is_changed(fd, &end))
        status = check_blocks(fd, noun, remedy, path, &end, sums, n, err);
    free(sums);
    return status;
}
