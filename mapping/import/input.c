#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { FIRST_BYTES = 256 << 10, PACKED_BYTES = FIRST_BYTES };

struct import_input {
    const char *name;
    int fd; /* -1: bytes in memory */
    struct pm_str memory;
    char *bytes; /* of them [at, end) have not been given out */
    size_t at, end, cap;
    uint64_t before; /* bytes before the buffer */
    uint64_t line_no;
    bool is_end, is_packed;
    z_stream unpack;
    unsigned char *packed;
    enum pm_status status;
    int error_number;
    const char *problem;
};

/* --- bytes as they are --- */

static size_t read_raw(struct import_input *in, void *out, size_t n)
{
    if (in->fd < 0) {
        n = n < in->memory.len ? n : in->memory.len;
        memcpy(out, in->memory.p, n);
        in->memory.p += n;
        in->memory.len -= n;
        return n;
    }
    ssize_t got;
    do {
        got = read(in->fd, out, n);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        in->status = PM_ERR_SYSTEM;
        in->error_number = errno;
    }
    return got < 0 ? 0 : (size_t)got;
}

static void fail(struct import_input *in, enum pm_status status, const char *problem)
{
    in->status = status;
    in->problem = problem;
    in->is_end = true;
}

/* --- unpacked --- */

static bool is_good(const struct import_input *in)
{
    return !in->status;
}

static size_t read_unpacked(struct import_input *in, char *out, size_t n)
{
    z_stream *z = &in->unpack;
    z->next_out = (unsigned char *)out;
    z->avail_out = (unsigned)n;
    while (z->avail_out == n && is_good(in)) {
        if (z->avail_in == 0) {
            z->next_in = in->packed;
            z->avail_in = (unsigned)read_raw(in, in->packed, PACKED_BYTES);
            if (z->avail_in == 0) {
                fail(in, PM_ERR_FORMAT, "the packed data end before they are complete");
                break;
            }
        }
        int code = inflate(z, Z_NO_FLUSH);
        if (code == Z_STREAM_END) { /* another packed file may follow, as gzip has it */
            if (z->avail_in == 0) {
                z->next_in = in->packed;
                z->avail_in = (unsigned)read_raw(in, in->packed, PACKED_BYTES);
            }
            in->is_end = z->avail_in == 0;
            if (in->is_end || inflateReset(z) != Z_OK)
                break;
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            fail(in, code == Z_MEM_ERROR ? PM_ERR_MEMORY : PM_ERR_FORMAT,
                 "the packed data are damaged");
        }
    }
    return n - z->avail_out;
}

static bool begin_unpacking(struct import_input *in)
{
    in->packed = pm_alloc(PACKED_BYTES);
    if (!in->packed || inflateInit2(&in->unpack, 15 + 32) != Z_OK)
        return false;
    in->is_packed = true;
    return true;
}

/* --- the buffer --- */

/* Room behind the bytes that are there. */
static bool make_room(struct import_input *in)
{
    size_t kept = in->end - in->at;
    if (in->at && kept < in->cap / 2) {
        memmove(in->bytes, in->bytes + in->at, kept);
        in->before += in->at;
        in->at = 0;
        in->end = kept;
    }
    if (in->end < in->cap)
        return true;
    char *bytes = pm_realloc_array(in->bytes, in->cap * 2, 1);
    if (!bytes) {
        fail(in, PM_ERR_MEMORY, NULL);
        return false;
    }
    in->bytes = bytes;
    in->cap *= 2;
    return true;
}

/* False: nothing came. */
static bool fill(struct import_input *in)
{
    if (in->is_end || in->status != PM_OK || !make_room(in))
        return false;
    size_t room = in->cap - in->end;
    size_t n = in->is_packed ? read_unpacked(in, in->bytes + in->end, room)
                             : read_raw(in, in->bytes + in->end, room);
    in->end += n;
    in->is_end |= n == 0;
    return n != 0;
}

struct pm_str import_peek(struct import_input *in, size_t n)
{
    while (in->end - in->at < n && in->end - in->at < IMPORT_MAX_TAKE && fill(in))
        ;
    return (struct pm_str){in->bytes + in->at, in->end - in->at};
}

bool import_take(struct import_input *in, size_t n, struct pm_str *ret_bytes)
{
    struct pm_str found = n <= IMPORT_MAX_TAKE ? import_peek(in, n) : (struct pm_str){NULL, 0};
    if (found.len < n || !found.p)
        return false;
    *ret_bytes = (struct pm_str){found.p, n};
    in->at += n;
    return true;
}

int import_byte(struct import_input *in)
{
    if (in->at == in->end && !fill(in))
        return -1;
    return (unsigned char)in->bytes[in->at++];
}

bool import_rest(struct import_input *in, struct pm_str *ret_bytes)
{
    while (in->end - in->at <= IMPORT_MAX_TAKE && fill(in))
        ;
    size_t n = in->end - in->at;
    return n <= IMPORT_MAX_TAKE && import_take(in, n, ret_bytes);
}

bool import_line(struct import_input *in, struct pm_str *ret_line)
{
    size_t searched = 0;
    const char *end;
    while (!(end = memchr(in->bytes + in->at + searched, '\n', in->end - in->at - searched))) {
        searched = in->end - in->at;
        if (searched > IMPORT_MAX_TAKE) {
            fail(in, PM_ERR_LIMIT, "a line is longer than 64 MiB");
            return false;
        }
        if (!fill(in))
            break;
    }
    size_t len = end ? (size_t)(end - (in->bytes + in->at)) : in->end - in->at;
    if (in->status != PM_OK || (!end && len == 0))
        return false;
    *ret_line = (struct pm_str){in->bytes + in->at, len};
    in->at += len + (end != NULL);
    in->line_no++;
    if (len && ret_line->p[len - 1] == '\r')
        ret_line->len--;
    return true;
}

/* --- the whole --- */

static enum pm_status open_input(struct import_input *in, struct pm_error *err,
                                 struct import_input **ret_in)
{
    in->cap = FIRST_BYTES;
    in->bytes = pm_alloc(in->cap);
    struct pm_str head = in->bytes ? import_peek(in, 2) : (struct pm_str){NULL, 0};
    bool is_packed =
        head.len >= 2 && (unsigned char)head.p[0] == 0x1f && (unsigned char)head.p[1] == 0x8b;
    if (!in->bytes || (is_packed && !begin_unpacking(in))) {
        import_input_free(in);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    if (is_packed) { /* what was read so far is packed */
        size_t n = in->end;
        memcpy(in->packed, in->bytes, n);
        in->unpack.next_in = in->packed;
        in->unpack.avail_in = (unsigned)n;
        in->at = in->end = 0;
        in->is_end = false;
    }
    *ret_in = in;
    return PM_OK;
}

enum pm_status import_input_of_fd(int fd, const char *name, struct pm_error *err,
                                  struct import_input **ret_in)
{
    struct import_input *in = pm_alloc(sizeof *in);
    if (!in) {
        close(fd);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    *in = (struct import_input){.name = name, .fd = fd};
    return open_input(in, err, ret_in);
}

enum pm_status import_input_open(const char *path, struct pm_error *err,
                                 struct import_input **ret_in)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return pm_error_set(err, PM_ERR_NOT_FOUND, "there is no file '%s'", path);
    if (fd < 0)
        return pm_error_system(err, errno, "cannot open '%s'", path);
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        close(fd);
        return pm_error_set(err, PM_ERR_FORMAT, "'%s' is a folder", path);
    }
    return import_input_of_fd(fd, path, err, ret_in);
}

enum pm_status import_input_of_bytes(const char *name, const void *bytes, size_t len,
                                     struct pm_error *err, struct import_input **ret_in)
{
    struct import_input *in = pm_alloc(sizeof *in);
    if (!in)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    *in = (struct import_input){.name = name, .fd = -1, .memory = {bytes, len}};
    return open_input(in, err, ret_in);
}

void import_input_free(struct import_input *in)
{
    if (!in)
        return;
    if (in->is_packed)
        inflateEnd(&in->unpack);
    if (in->fd >= 0)
        close(in->fd);
    free(in->packed);
    free(in->bytes);
    free(in);
}

uint64_t import_line_no(const struct import_input *in)
{
    return in->line_no;
}

uint64_t import_position(const struct import_input *in)
{
    return in->before + in->at;
}

const char *import_name(const struct import_input *in)
{
    return in->name;
}

enum pm_status import_input_status(const struct import_input *in, struct pm_error *err)
{
    if (in->status == PM_ERR_SYSTEM)
        return pm_error_system(err, in->error_number, "cannot read profile '%s'", in->name);
    if (in->status != PM_OK)
        return pm_error_set(err, in->status, "profile '%s' byte %llu: %s", in->name,
                            (unsigned long long)(in->before + in->end),
                            in->problem ? in->problem : "out of memory");
    return PM_OK;
}

static enum pm_status refuse(const struct import_input *in, struct pm_error *err,
                             enum pm_status status, const char *what, uint64_t where,
                             const char *format, va_list args)
{
    struct pm_buf text = PM_BUF_INIT(4096);
    pm_buf_vprintf(&text, format, args);
    pm_error_set(err, status, "profile '%s' %s %llu: %s", in->name, what, (unsigned long long)where,
                 text.data ? text.data : "");
    pm_buf_release(&text);
    return status;
}

enum pm_status import_refuse_line(const struct import_input *in, struct pm_error *err,
                                  enum pm_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    refuse(in, err, status, "line", in->line_no, format, args);
    va_end(args);
    return status;
}

enum pm_status import_refuse_byte(const struct import_input *in, struct pm_error *err,
                                  enum pm_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    refuse(in, err, status, "byte", import_position(in), format, args);
    va_end(args);
    return status;
}
