#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- allocation --- */

/* Allocations until the one that fails: -1 not looked up yet, 0 none fails. */
static atomic_long fail_countdown = -1;

static bool must_fail(void)
{
    long left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    if (left == 0)
        return false;
    if (left < 0) {
        const char *text = getenv("PM_FAIL_ALLOC");
        uint64_t n = 0;
        if (!text || !pm_str_to_u64(pm_str_of(text), LONG_MAX, &n))
            n = 0;
        left = (long)n;
        atomic_store(&fail_countdown, left);
        if (left == 0)
            return false;
    }
    return atomic_fetch_sub(&fail_countdown, 1) == 1;
}

void pm_alloc_fail_at(long n)
{
    atomic_store(&fail_countdown, n);
}

bool pm_alloc_fail_pending(void)
{
    return atomic_load(&fail_countdown) > 0;
}

void *pm_alloc(size_t size_bytes)
{
    return pm_alloc_array(1, size_bytes);
}

/* Checked here and not left to calloc, for sanitizers end the program there. */
static bool product_is_sound(size_t n, size_t item_bytes)
{
    size_t product;
    return !__builtin_mul_overflow(n, item_bytes, &product) && product <= PTRDIFF_MAX;
}

void *pm_alloc_array(size_t n, size_t item_bytes)
{
    if (must_fail() || !product_is_sound(n, item_bytes))
        return NULL;
    return n && item_bytes ? calloc(n, item_bytes) : calloc(1, 1);
}

void *pm_realloc_array(void *old, size_t n, size_t item_bytes)
{
    if (must_fail() || !product_is_sound(n, item_bytes))
        return NULL;
    return n && item_bytes ? realloc(old, n * item_bytes) : realloc(old, 1);
}

void *pm_grow_array(void *items, uint32_t n, uint32_t *cap, uint32_t first, size_t item_bytes)
{
    if (n < *cap)
        return items;
    if (*cap > UINT32_MAX / 4)
        return NULL;
    uint32_t larger = *cap ? *cap * 2 : first;
    items = pm_realloc_array(items, larger, item_bytes);
    if (items)
        *cap = larger;
    return items;
}

size_t pm_lower_bound(const void *items, size_t n, size_t item_bytes, const void *key,
                      bool (*comes_before)(const void *item, const void *key))
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (comes_before((const char *)items + middle * item_bytes, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

char *pm_strndup(const char *p, size_t len)
{
    char *copy = len < SIZE_MAX ? pm_alloc(len + 1) : NULL;
    if (copy && len)
        memcpy(copy, p, len);
    return copy;
}

/* --- buffer --- */

static bool reserve(struct pm_buf *buf, size_t more)
{
    if (buf->failed)
        return false;
    if (more > buf->max - buf->len) {
        buf->failed = true;
        return false;
    }
    size_t needed = buf->len + more;
    if (buf->data && needed <= buf->cap)
        return true;
    size_t cap = buf->cap;
    if (cap < 64)
        cap = buf->max < 64 ? buf->max : 64;
    while (cap < needed)
        cap = cap <= buf->max / 2 ? cap * 2 : buf->max;
    char *data = cap < SIZE_MAX ? pm_realloc_array(buf->data, cap + 1, 1) : NULL;
    if (!data) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->cap = cap;
    return true;
}

void pm_buf_add(struct pm_buf *buf, const void *bytes, size_t len)
{
    /* First the way that nearly all additions take: cap is never above max. */
    if (!buf->data || buf->failed || len > buf->cap - buf->len)
        if (!reserve(buf, len))
            return;
    if (len)
        memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = 0;
}

void pm_buf_add_str(struct pm_buf *buf, const char *zero_ended)
{
    pm_buf_add(buf, zero_ended, strlen(zero_ended));
}

void pm_buf_add_byte(struct pm_buf *buf, unsigned char byte)
{
    pm_buf_add(buf, &byte, 1);
}

void pm_buf_vprintf(struct pm_buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len < 0)
        buf->failed = true;
    else if (reserve(buf, (size_t)len)) {
        vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

void pm_buf_printf(struct pm_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(buf, format, args);
    va_end(args);
}

void pm_buf_add_u64(struct pm_buf *buf, uint64_t value)
{
    char digits[20], *p = digits + sizeof digits;
    do
        *--p = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    pm_buf_add(buf, p, (size_t)(digits + sizeof digits - p));
}

void pm_buf_add_uleb(struct pm_buf *buf, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;
    while (value >= 0x80) {
        bytes[n++] = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    bytes[n++] = (unsigned char)value;
    pm_buf_add(buf, bytes, n);
}

void pm_buf_add_sleb(struct pm_buf *buf, int64_t value)
{
    pm_buf_add_uleb(buf, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void pm_buf_clear(struct pm_buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->data)
        buf->data[0] = 0;
}

void pm_buf_release(struct pm_buf *buf)
{
    free(buf->data);
    *buf = (struct pm_buf)PM_BUF_INIT(buf->max);
}

char *pm_buf_take(struct pm_buf *buf)
{
    if (buf->failed)
        pm_buf_release(buf);
    char *data = buf->data;
    *buf = (struct pm_buf)PM_BUF_INIT(buf->max);
    return data;
}

/* --- cursor --- */

void pm_cursor_init(struct pm_cursor *cursor, const void *bytes, size_t len)
{
    static const unsigned char nothing[1];
    cursor->start = cursor->p = len ? bytes : nothing;
    cursor->end = cursor->start + len;
    cursor->failed = false;
}

static bool cursor_fail(struct pm_cursor *cursor)
{
    cursor->failed = true;
    cursor->p = cursor->end;
    return false;
}

bool pm_cursor_uleb(struct pm_cursor *cursor, uint64_t *ret_value)
{
    uint64_t value = 0;
    const unsigned char *p = cursor->p;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (p == cursor->end)
            return cursor_fail(cursor);
        unsigned char byte = *p++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            cursor->p = p;
            *ret_value = value;
            return true;
        }
    }
    return cursor_fail(cursor);
}

bool pm_cursor_sleb(struct pm_cursor *cursor, int64_t *ret_value)
{
    uint64_t zigzag;
    if (!pm_cursor_uleb(cursor, &zigzag))
        return false;
    *ret_value = (int64_t)((zigzag >> 1) ^ (zigzag & 1 ? UINT64_MAX : 0));
    return true;
}

bool pm_cursor_bytes(struct pm_cursor *cursor, size_t len, struct pm_str *ret_bytes)
{
    if (cursor->failed || len > (size_t)(cursor->end - cursor->p))
        return cursor_fail(cursor);
    *ret_bytes = (struct pm_str){(const char *)cursor->p, len};
    cursor->p += len;
    return true;
}

/* --- text --- */

bool pm_str_to_u64(struct pm_str text, uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;
    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(text.p[i] - '0');
        if (digit > max || value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret_value = value;
    return true;
}

/* The locale decides what snprintf and strtod take for a decimal point, and compilers set it. Its
 * bytes, whatever they are, become '.'. */
size_t pm_double_text(double value, char ret_text[PM_DOUBLE_BYTES])
{
    char text[PM_DOUBLE_BYTES];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    size_t n = 0;
    for (const char *p = text; *p; p++) {
        bool known = strchr("0123456789+-e", *p) != NULL;
        if (known || (n && ret_text[n - 1] != '.'))
            ret_text[n++] = known ? *p : '.';
    }
    ret_text[n] = 0;
    return n;
}

void pm_buf_add_double(struct pm_buf *buf, double value)
{
    char text[PM_DOUBLE_BYTES];
    pm_buf_add(buf, text, pm_double_text(value, text));
}

bool pm_str_to_double(struct pm_str text, double *ret_value)
{
    char copy[128];
    size_t n = 0;
    const char *point = localeconv()->decimal_point;
    if (text.len == 0 || text.len > 60 || strlen(point) > 4)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!memchr("0123456789+-eE.", text.p[i], 15))
            return false;
        if (text.p[i] != '.')
            copy[n++] = text.p[i];
        else
            for (const char *p = point; *p && n < sizeof copy - 1; p++)
                copy[n++] = *p;
        if (n >= sizeof copy - 1)
            return false;
    }
    copy[n] = 0;
    char *end;
    double value = strtod(copy, &end);
    if (*end || end == copy || !isfinite(value))
        return false;
    *ret_value = value;
    return true;
}

size_t pm_utf8_length(const char *bytes, size_t len)
{
    const unsigned char *p = (const unsigned char *)bytes;
    if (len == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    size_t n = 0;
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        n = 2;
    else if ((p[0] & 0xf0) == 0xe0)
        n = 3;
    else if (p[0] >= 0xf0 && p[0] <= 0xf4)
        n = 4;
    if (n == 0 || n > len)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    /* Not shortest, surrogates, above U+10FFFF: Unicode 15, table 3-7. */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

/* U+202A to U+202E, U+2066 to U+2069. */
static bool turns_text(const unsigned char *p)
{
    return p[0] == 0xe2 && ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
                            (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

void pm_buf_add_printable(struct pm_buf *buf, const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    for (size_t i = 0; i < len;) {
        size_t n = p[i] < 0x80 ? p[i] >= 0x20 && p[i] != 0x7f : pm_utf8_length(text + i, len - i);
        bool is_control =
            (n == 2 && p[i] == 0xc2 && p[i + 1] < 0xa0) || (n == 3 && turns_text(p + i));
        if (n && !is_control) {
            pm_buf_add(buf, text + i, n);
            i += n;
        } else {
            pm_buf_printf(buf, "\\x%02x", p[i++]);
        }
    }
}

/* --- files --- */

static enum pm_status too_large(struct pm_error *err, const char *path, uint64_t max_bytes)
{
    return pm_error_set(err, PM_ERR_LIMIT, "file '%s' is larger than %llu bytes", path,
                        (unsigned long long)max_bytes);
}

static enum pm_status read_all(int fd, const char *path, size_t max_bytes, struct pm_error *err,
                               struct pm_buf *buf)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return pm_error_system(err, errno, "cannot look at '%s'", path);
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max_bytes)
        return too_large(err, path, max_bytes);
    /* One byte more than the file holds, so that its end is seen without growing. */
    size_t step = S_ISREG(st.st_mode) ? (size_t)st.st_size + 1 : 65536;
    for (;;) {
        if (!reserve(buf, step))
            return pm_error_set(err, PM_ERR_MEMORY, "no memory for %zu bytes of '%s'",
                                buf->len + step, path);
        ssize_t n = read(fd, buf->data + buf->len, step);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pm_error_system(err, errno, "cannot read '%s'", path);
        buf->len += (size_t)n;
        buf->data[buf->len] = 0;
        if (n == 0)
            return PM_OK;
        if (buf->len > max_bytes)
            return too_large(err, path, max_bytes);
        step = buf->cap > buf->len ? buf->cap - buf->len : 65536;
    }
}

static enum pm_status check_kind(const char *path, const struct stat *st, uint64_t max_bytes,
                                 struct pm_error *err)
{
    enum pm_status status = PM_OK;
    if (!S_ISREG(st->st_mode))
        status = pm_error_set(err, PM_ERR_FORMAT, "'%s' is not a regular file", path);
    else if ((uint64_t)st->st_size > max_bytes)
        status = too_large(err, path, max_bytes);
    errno = 0;
    return status;
}

enum pm_status pm_file_open(const char *path, uint64_t max_bytes, struct pm_error *err, int *ret_fd,
                            uint64_t *ret_bytes)
{
    struct stat st;
    enum pm_status status;
    int fd = -1, errnum = 0;
    if (stat(path, &st) != 0)
        errnum = errno;
    else if ((status = check_kind(path, &st, max_bytes, err)) != PM_OK)
        return status;
    else if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) < 0 ||
             fstat(fd, &st) != 0) /* again: it may be another one by now */
        errnum = errno;
    status = errnum ? pm_error_system(err, errnum, "cannot open '%s'", path)
                    : check_kind(path, &st, max_bytes, err);
    if (status == PM_OK) {
        *ret_fd = fd;
        *ret_bytes = (uint64_t)st.st_size;
        return PM_OK;
    }
    if (fd >= 0)
        close(fd);
    errno = errnum;
    return status;
}

static enum pm_status read_and_close(int fd, const char *path, size_t max_bytes,
                                     struct pm_error *err, char **ret_data, size_t *ret_len)
{
    struct pm_buf buf = PM_BUF_INIT(SIZE_MAX / 2);
    enum pm_status status = read_all(fd, path, max_bytes, err, &buf);
    close(fd);
    if (status != PM_OK) {
        pm_buf_release(&buf);
        return status;
    }
    *ret_len = buf.len;
    *ret_data = pm_buf_take(&buf);
    return PM_OK;
}

bool pm_file_read_at(int fd, void *ret_bytes, size_t n, uint64_t offset)
{
    if (offset > INT64_MAX || n > INT64_MAX - offset)
        return false;
    for (char *p = ret_bytes; n;) {
        ssize_t got = pread(fd, p, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

enum pm_status pm_file_read(const char *path, size_t max_bytes, struct pm_error *err,
                            char **ret_data, size_t *ret_len)
{
    int fd;
    uint64_t bytes;
    enum pm_status status = pm_file_open(path, max_bytes, err, &fd, &bytes);
    if (status != PM_OK)
        return status;
    return read_and_close(fd, path, max_bytes, err, ret_data, ret_len);
}

enum pm_status pm_file_read_named(const char *path, size_t max_bytes, struct pm_error *err,
                                  char **ret_data, size_t *ret_len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return pm_error_system(err, errno, "cannot open '%s'", path);
    return read_and_close(fd, path, max_bytes, err, ret_data, ret_len);
}

static bool write_all(int fd, const char *p, size_t len)
{
    while (len) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

/* Devices, pipes and the like cannot be replaced by renaming; they are written to. */
static enum pm_status write_in_place(const char *path, const void *data, size_t len,
                                     struct pm_error *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return pm_error_system(err, errno, "cannot open '%s' to write", path);
    bool written = write_all(fd, data, len);
    int errnum = errno;
    if (close(fd) != 0 && written) {
        written = false;
        errnum = errno;
    }
    return written ? PM_OK : pm_error_system(err, errnum, "cannot write '%s'", path);
}

static enum pm_status write_temporary(const char *temporary, const char *path, const void *data,
                                      size_t len, bool sync, struct pm_error *err)
{
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return pm_error_system(err, errno, "cannot create '%s'", temporary);
    bool written = write_all(fd, data, len) && (!sync || fsync(fd) == 0);
    int errnum = errno;
    if (close(fd) != 0 && written) {
        written = false;
        errnum = errno;
    }
    if (written && rename(temporary, path) == 0)
        return PM_OK;
    errnum = written ? errno : errnum;
    unlink(temporary);
    return pm_error_system(err, errnum, "cannot write '%s'", path);
}

static enum pm_status write_file(const char *path, const void *data, size_t len, bool sync,
                                 struct pm_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return write_in_place(path, data, len, err);
    /* A symbolic link stays one: what it leads to is replaced. */
    char *target = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
    if (target)
        path = target;
    static atomic_uint n_temporaries;
    struct pm_buf temporary = PM_BUF_INIT(1 << 20);
    pm_buf_printf(&temporary, "%s.%ld.%u.tmp", path, (long)getpid(),
                  atomic_fetch_add(&n_temporaries, 1));
    enum pm_status status = temporary.failed
                                ? pm_error_set(err, PM_ERR_MEMORY, "no memory to write '%s'", path)
                                : write_temporary(temporary.data, path, data, len, sync, err);
    pm_buf_release(&temporary);
    free(target);
    return status;
}

enum pm_status pm_file_write(const char *path, const void *data, size_t len, struct pm_error *err)
{
    return write_file(path, data, len, true, err);
}

enum pm_status pm_file_write_unsynced(const char *path, const void *data, size_t len,
                                      struct pm_error *err)
{
    return write_file(path, data, len, false, err);
}
