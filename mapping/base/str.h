/* Bytes to look at, and bytes that grow.
 *
 *     struct pm_buf buf = PM_BUF_INIT(1 << 20);     // never more than 1 MiB
 *     pm_buf_printf(&buf, "%d", 3);
 *     if (buf.failed) ...                           // sticky: check once at the end
 *     pm_buf_release(&buf);
 */
#ifndef PM_STR_H
#define PM_STR_H

#include "status.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A slice of bytes, not owned, not zero-ended. */
struct pm_str {
    const char *p;
    size_t len;
};

#define PM_STR(literal) ((struct pm_str){"" literal, sizeof(literal) - 1})

static inline struct pm_str pm_str_of(const char *zero_ended)
{
    return (struct pm_str){zero_ended, zero_ended ? strlen(zero_ended) : 0};
}

static inline bool pm_str_eq(struct pm_str a, struct pm_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static inline bool pm_str_is(struct pm_str a, const char *zero_ended)
{
    return pm_str_eq(a, pm_str_of(zero_ended));
}

/* True when text ends so, and has more in front of that. */
static inline bool pm_str_ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len > end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

/* A growing buffer with a largest size. data is zero-ended whenever it is not NULL. Owned by the
 * caller. */
struct pm_buf {
    char *data;
    size_t len, cap, max;
    bool failed; /* memory or max was reached: contents are cut, further additions ignored */
};

#define PM_BUF_INIT(max_bytes)         \
    {                                  \
        NULL, 0, 0, (max_bytes), false \
    }

void pm_buf_add(struct pm_buf *buf, const void *bytes, size_t len);
void pm_buf_add_str(struct pm_buf *buf, const char *zero_ended);
void pm_buf_add_byte(struct pm_buf *buf, unsigned char byte);
/* Text of whatever origin as a terminal may have it: what controls terminals (C0, C1), turns
 * text around (bidirectional overrides) or is no UTF-8 becomes \xNN. All that is printed and
 * comes from a file goes through this. */
void pm_buf_add_printable(struct pm_buf *buf, const char *text, size_t len);
void pm_buf_printf(struct pm_buf *buf, const char *format, ...) PM_PRINTF(2, 3);
void pm_buf_vprintf(struct pm_buf *buf, const char *format, va_list args) PM_PRINTF(2, 0);
void pm_buf_add_u64(struct pm_buf *buf, uint64_t value); /* decimal */
/* The shortest decimal form that reads back as the same number, with '.' in any locale, and its
 * length. Finite numbers only. */
enum { PM_DOUBLE_BYTES = 64 };
size_t pm_double_text(double value, char ret_text[PM_DOUBLE_BYTES]);
void pm_buf_add_double(struct pm_buf *buf, double value);
/* Unsigned LEB128 and its zig-zag signed form. */
void pm_buf_add_uleb(struct pm_buf *buf, uint64_t value);
void pm_buf_add_sleb(struct pm_buf *buf, int64_t value);
void pm_buf_clear(struct pm_buf *buf);
void pm_buf_release(struct pm_buf *buf);
/* Hands the zero-ended data over (free() it) and leaves the buffer empty. NULL when nothing was
 * added or it failed. */
char *pm_buf_take(struct pm_buf *buf);

/* A cursor over bytes that trusts nothing. Each read returns false, and sets failed, when the bytes
 * are short or malformed; after that all reads fail. */
struct pm_cursor {
    const unsigned char *p, *end, *start;
    bool failed;
};

void pm_cursor_init(struct pm_cursor *cursor, const void *bytes, size_t len);
bool pm_cursor_uleb(struct pm_cursor *cursor, uint64_t *ret_value);
bool pm_cursor_sleb(struct pm_cursor *cursor, int64_t *ret_value);
bool pm_cursor_bytes(struct pm_cursor *cursor, size_t len, struct pm_str *ret_bytes);

/* A whole decimal number with nothing behind it, at most max. */
bool pm_str_to_u64(struct pm_str text, uint64_t max, uint64_t *ret_value);

/* A whole finite number as C writes it in decimal, '.' in any locale, at most 60 bytes. */
bool pm_str_to_double(struct pm_str text, double *ret_value);

/* Length of the well-formed UTF-8 sequence that bytes begin with, 1 to 4; 0 when there is none. */
size_t pm_utf8_length(const char *bytes, size_t len);

/* Allocation through one place, so that PM_FAIL_ALLOC=n (environment) makes the n-th fail. free()
 * releases. */
void *pm_alloc(size_t size_bytes);                 /* zeroed */
void *pm_alloc_array(size_t n, size_t item_bytes); /* zeroed, product checked */
void *pm_realloc_array(void *old, size_t n, size_t item_bytes);
/* Room for one more item behind n in an array of *cap items, which doubles, from `first`: the
 * array, maybe moved. NULL when memory ends, and then the old one is as it was. The caller
 * frees. */
void *pm_grow_array(void *items, uint32_t n, uint32_t *cap, uint32_t first, size_t item_bytes);
/* How many items of a sorted array come before the key: the position of the first that does not,
 * n when all do. */
size_t pm_lower_bound(const void *items, size_t n, size_t item_bytes, const void *key,
                      bool (*comes_before)(const void *item, const void *key));
char *pm_strndup(const char *p, size_t len);
/* For tests: the n-th allocation from now on fails, once (0: none), and whether that still lies
 * ahead. */
void pm_alloc_fail_at(long n);
bool pm_alloc_fail_pending(void);

/* Opens a file to read whose name may come from a file that is not trusted: a regular one of at
 * most max_bytes, or what a link leads to that is one. Devices and pipes are not even opened,
 * for that alone may wait or do something. The caller closes. PM_ERR_SYSTEM (errno says why),
 * PM_ERR_FORMAT: of another kind; PM_ERR_LIMIT. */
PM_MUST_CHECK enum pm_status pm_file_open(const char *path, uint64_t max_bytes,
                                          struct pm_error *err, int *ret_fd, uint64_t *ret_bytes);
/* Whole file, opened so, into memory (free() it). ret_data is zero-ended beyond ret_len. */
PM_MUST_CHECK enum pm_status pm_file_read(const char *path, size_t max_bytes, struct pm_error *err,
                                          char **ret_data, size_t *ret_len);
/* The same of a file that the user names for this: pipes (`<(command)`, /dev/stdin) as well. */
PM_MUST_CHECK enum pm_status pm_file_read_named(const char *path, size_t max_bytes,
                                                struct pm_error *err, char **ret_data,
                                                size_t *ret_len);
/* All of n bytes at an offset of an open file. False: there are not so many, or errno says why. */
PM_MUST_CHECK bool pm_file_read_at(int fd, void *ret_bytes, size_t n, uint64_t offset);
/* Writes to a temporary beside path, syncs, renames. Nobody but its owner may read the file:
 * SECURITY.md. */
PM_MUST_CHECK enum pm_status pm_file_write(const char *path, const void *data, size_t len,
                                           struct pm_error *err);
/* The same without waiting for the disk, for what stands beside files that nobody syncs either:
 * whole or not there for all who look, whatever process ends; after a power failure it may be
 * empty. */
PM_MUST_CHECK enum pm_status pm_file_write_unsynced(const char *path, const void *data, size_t len,
                                                    struct pm_error *err);

#endif
