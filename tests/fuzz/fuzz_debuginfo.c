/* Debug information: the bytes are an ELF file, asked for addresses all over its code. libdwarf
 * itself is not built with sanitizers; what it gets lies in blocks of ours, with zeros behind.
 */
#include "../../mapping/debuginfo/debuginfo.h"
#include "../../mapping/debuginfo/elf_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* On damaged input libdwarf 20210528 loses a few of its own records; only its list of them,
 * which costs five times the time, would free them. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:_dwarf_get_alloc\n";
}

enum { N_ADDRESSES = 64, N_FRAMES = 32 };

static void ask(struct pm_debug *debug, uint64_t address)
{
    struct pm_debug_frame frames[N_FRAMES];
    size_t n = pm_debug_find(debug, address, frames, N_FRAMES), n_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        n_bytes += frames[i].function ? strlen(frames[i].function) : 0;
        n_bytes += frames[i].linkage ? strlen(frames[i].linkage) : 0;
        n_bytes += frames[i].file ? strlen(frames[i].file) : 0;
        if (frames[i].source == PM_DEBUG_NOTHING || frames[i].low > frames[i].high)
            abort();
    }
    if (n_bytes == SIZE_MAX)
        abort();
}

static void ask_all(struct pm_debug *debug, const struct pm_elf_file *file)
{
    for (size_t i = 0; i < file->n_code; i++) {
        uint64_t low = file->code[i].low, step = (file->code[i].high - low) / N_ADDRESSES + 1;
        for (uint64_t k = 0; k < N_ADDRESSES; k++)
            ask(debug, low + k * step);
    }
    for (uint64_t address = 0; address < 256; address += 4) /* of relocatable objects */
        ask(debug, address);
    ask(debug, UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    int fd = memfd_create("object", MFD_CLOEXEC);
    if (fd < 0)
        abort();
    if (size != 0 && write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct pm_debug *debug;
    struct pm_elf_file *file;
    if (pm_debug_open(path, NULL, NULL, &debug) == PM_OK) {
        if (pm_elf_file_open(path, NULL, &file) == PM_OK) {
            ask_all(debug, file);
            pm_elf_file_close(file);
        }
        (void)pm_debug_file(debug);
        (void)pm_debug_problem(debug);
        pm_debug_free(debug);
    }
    close(fd);
    return 0;
}
