/* Where an export goes: standard output, or a file that is there when all of it is; packed or
 * not. */
#include "export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER_BYTES = 1 << 18 };

static ssize_t write_gzip(void *cookie, const char *bytes, size_t len)
{
    size_t n = len > INT32_MAX ? INT32_MAX : len;
    return gzwrite(cookie, bytes, (unsigned)n);
}

static int close_gzip(void *cookie)
{
    return gzclose(cookie) == Z_OK ? 0 : EOF;
}

/* The descriptor becomes the stream's. */
static FILE *open_stream(int fd, bool is_gzip)
{
    if (!is_gzip)
        return fdopen(fd, "w");
    gzFile packed = gzdopen(fd, "wb6");
    FILE *file =
        packed ? fopencookie(packed, "w",
                             (cookie_io_functions_t){.write = write_gzip, .close = close_gzip})
               : NULL;
    if (packed && !file)
        (void)gzclose(packed);
    return file;
}

/* Devices and pipes are written as they are. */
static bool is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static int open_path(const char *path, struct export_output *output)
{
    if (is_special(path))
        return open(path, O_WRONLY | O_CLOEXEC);
    size_t len = strlen(path) + sizeof ".XXXXXX";
    output->temporary = pm_alloc(len);
    if (!output->temporary)
        return -1;
    snprintf(output->temporary, len, "%s.XXXXXX", path);
    int fd = mkostemp(output->temporary, O_CLOEXEC);
    if (fd < 0) {
        free(output->temporary);
        output->temporary = NULL;
    }
    return fd;
}

enum pm_status export_open(const char *path, bool is_gzip, struct pm_error *err,
                           struct export_output *output)
{
    *output = (struct export_output){.path = path};
    if (!path && !is_gzip) {
        output->file = stdout;
        return PM_OK;
    }
    int fd = path ? open_path(path, output) : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd >= 0)
        output->file = open_stream(fd, is_gzip);
    if (!output->file) {
        int reason = errno;
        if (output->temporary)
            unlink(output->temporary);
        free(output->temporary);
        return pm_error_system(err, reason, "cannot write '%s'", path ? path : "standard output");
    }
    (void)setvbuf(output->file, NULL, _IOFBF, BUFFER_BYTES);
    return PM_OK;
}

enum pm_status export_close(struct export_output *output, enum pm_status status,
                            struct pm_error *err)
{
    if (output->file == stdout)
        return status;
    bool failed = ferror(output->file);
    errno = 0;
    if (failed) { /* once more, for the reason is not known any more */
        fputc('\n', output->file);
        (void)fflush(output->file);
    }
    int reason = errno;
    failed |= fclose(output->file) != 0;
    if (!reason)
        reason = errno ? errno : EIO;
    const char *name = output->path ? output->path : "standard output";
    if (status != PM_OK)
        goto out;
    if (failed)
        status = pm_error_system(err, reason, "cannot write '%s'", name);
    else if (output->temporary && rename(output->temporary, output->path) != 0)
        status = pm_error_system(err, errno, "cannot write '%s'", name);
out:
    if (output->temporary && status != PM_OK)
        unlink(output->temporary);
    free(output->temporary);
    *output = (struct export_output){0};
    return status;
}
