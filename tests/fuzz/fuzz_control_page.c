/* Run files as `perfmap run` reads them while their program is alive, which may write anything there. */
#include "../../cmd/run_control_page.c"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void visit(void *context, const char *path)
{
    *(size_t *)context += strlen(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int file = -1;
    char path[64];
    size_t n_bytes = 0;
    struct control_process process;
    if (file < 0)
        file = memfd_create("fuzz", 0);
    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (!control_process_open(path, visit, &n_bytes, &process))
        return 0;
    for (uint32_t i = 0; i < process.n_nouns; i++)
        n_bytes += process.ids[i] != 0 && process.modes[i] != 0;
    PM_ASSERT(process.n_nouns <= process.capacity && process.control_offset < size + 1);
    control_process_close(&process);
    return 0;
}
