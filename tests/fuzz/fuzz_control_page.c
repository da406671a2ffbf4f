/* Run files as `perfmap run` reads them while their program is alive, which may write anything
 * there. */
#include "../../cmd/session/control_page.c"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void visit(void *context, const char *path)
{
    *(size_t *)context += strlen(path);
}

static char path[64];
static unsigned long n_opened;

static void remove_file(void)
{
    unlink(path);
    printf("%lu of the inputs were opened\n", n_opened);
    fflush(stdout);
    if (n_opened == 0) /* then nothing was tested */
        _exit(1);
}

/* A file with a name of its own: links, as those of /proc/self/fd are, are not followed. */
static bool begin(int *ret_file)
{
    snprintf(path, sizeof path, "%s/perfmap-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    *ret_file = mkstemp(path);
    return *ret_file >= 0 && atexit(remove_file) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int file = -1;
    size_t n_bytes = 0;
    struct control_process process;
    if (file < 0 && !begin(&file))
        abort();
    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        return 0;
    if (!control_process_open(path, visit, &n_bytes, &process))
        return 0;
    n_opened++;
    for (uint32_t i = 0; i < process.n_nouns; i++)
        n_bytes += process.ids[i] != 0 && process.modes[i] != 0;
    PM_ASSERT(process.n_nouns <= process.capacity && process.control_offset < size + 1);
    control_process_close(&process);
    return 0;
}
