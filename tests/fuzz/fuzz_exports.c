/* What a library exports: the bytes are a shared library, or an archive of objects. */
#include "../../mapping/base/exports.h"
#include "../../mapping/base/str.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void each(void *context, const struct pm_export *one)
{
    *(size_t *)context += strlen(one->name) + one->is_hidden;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_error err = PM_ERROR_INIT;
    char path[32];
    size_t n_bytes = 0;
    int fd = memfd_create("library", MFD_CLOEXEC);
    if (fd < 0 || (size != 0 && write(fd, data, size) != (ssize_t)size))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (pm_exports_visit(path, each, &n_bytes, &err) != PM_OK)
        PM_ASSERT(strstr(pm_error_text(&err), path));
    pm_error_release(&err);
    close(fd);
    return 0;
}
