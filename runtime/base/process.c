/* The process that is measured: what others have of it before anything is measured. */
#include "runtime/base/process.h"
#include "runtime/base/atomic.h"
#include "runtime/base/sys.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct pmr_process pm_process = {.file.fd = -1, .thread_key = -1};

static size_t append(char *line, size_t n, size_t capacity, const char *text)
{
    for (; *text != 0 && n < capacity; text++)
        line[n++] = *text;
    return n;
}

/* Nothing is written once the program has put another file in the place of the standard error that
 * we were started with. */
void pm_say(const char *text, const char *subject, int error_no)
{
    static const struct {
        int number;
        const char *text;
    } errors[] = {{1, "operation not permitted"},
                  {2, "no such file or folder"},
                  {5, "input/output error"},
                  {12, "out of memory"},
                  {13, "permission denied"},
                  {17, "it exists"},
                  {20, "not a folder"},
                  {22, "invalid argument"},
                  {24, "too many open files"},
                  {27, "file size limit reached"},
                  {28, "no space left on device"},
                  {30, "read-only file system"},
                  {36, "name too long"},
                  {122, "disk quota exceeded"}};
    struct stat now;
    if (pm_sys(SYS_newfstatat, 2, "", &now, AT_EMPTY_PATH) != 0 ||
        now.st_dev != pm_process.stderr_device || now.st_ino != pm_process.stderr_inode)
        return;
    char line[1400];
    size_t n = append(line, 0, sizeof line - 2, "perfmap: "), limit = sizeof line - 64;
    n = append(line, n, limit, text);
    if (subject != NULL) {
        n = append(line, n, limit, " '");
        n = append(line, n, limit, subject);
        n = append(line, n, limit, "'");
    }
    if (error_no != 0) {
        const char *reason = NULL;
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
            if (errors[i].number == error_no)
                reason = errors[i].text;
        if (reason != NULL) {
            n = append(line, n, sizeof line - 2, ": ");
            n = append(line, n, sizeof line - 2, reason);
        } else {
            char digits[4] = {(char)('0' + error_no / 100 % 10), (char)('0' + error_no / 10 % 10),
                              (char)('0' + error_no % 10), 0};
            n = append(line, n, sizeof line - 2, ": error number ");
            n = append(line, n, sizeof line - 2, digits);
        }
    }
    line[n++] = '\n';
    pm_sys(SYS_write, 2, line, n);
}

bool pm_memory_is_limited(void)
{
    static const int kinds[] = {RLIMIT_AS,
                                RLIMIT_DATA}; /* which counts private memory that is writable */
    struct rlimit limit;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (pm_sys(SYS_prlimit64, 0, kinds[i], NULL, &limit) == 0 &&
            limit.rlim_cur != RLIM_INFINITY)
            return true;
    return false;
}

bool pm_memory_is_tight;

void *pm_mapped(long address, size_t bytes)
{
    enum { LEFT_BYTES = 64 * 1024 };
    if (address < 0 && address > -4096)
        return NULL;
    if (pm_likely(!pm_memory_is_tight))
        return (void *)address;
    long left = pm_sys(SYS_mmap, 0, LEFT_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool enough = left >= 0 || left <= -4096;
    pm_sys(SYS_munmap, enough ? left : address, enough ? LEFT_BYTES : bytes);
    return enough ? (void *)address : NULL;
}
