/* Changing code. Code that no thread can be running yet (at start, and of a library being
 * loaded) is written plainly. Code that may be running is changed in three steps for a whole
 * batch: int3 over the first bytes, barrier; the other four bytes, barrier; the first bytes,
 * barrier. The barrier makes every thread serialise (membarrier SYNC_CORE). A thread that hits
 * an int3 goes on as if the sled had been changed already.
 *
 * A thread with SIGTRAP blocked would be killed by an int3, so live changes are refused while
 * there is one (but for the calling thread, which comes to no sled meanwhile). A thread may also
 * have hit an int3 and be scheduled away before it gets the signal, until long after the change
 * is over: so the handler stays once it was needed, and a thread that comes late executes the
 * sled anew. When the calling thread is the only one, the code is written plainly.
 *
 * Live changes may be asked for below a probe and in signal handlers: one thread at a time, the
 * others are refused at once; all signals of that thread wait, so that no handler comes to
 * half-changed code.
 */
#include "runtime/code/patch.h"
#include "format/pm_run.h"
#include "runtime/base/atomic.h"
#include "runtime/base/signals.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

/* The pages while they are changed. */
struct pages {
    uintptr_t low, high;
    int prot;   /* to restore */
    int memory; /* where they cannot be made writable: /proc/self/mem, else -1 */
};

static bool put(const struct pages *pages, uintptr_t address, const uint8_t *bytes, size_t n)
{
    if (pages->memory >= 0)
        return pm_sys(SYS_pwrite64, pages->memory, bytes, n, address) == (long)n;
    for (size_t i = 0; i < n; i++)
        ((volatile uint8_t *)address)[i] = bytes[i];
    return true;
}

static bool open_pages(struct pages *pages)
{
    pages->memory = -1;
    long result =
        pm_sys(SYS_mprotect, pages->low, pages->high - pages->low, pages->prot | PROT_WRITE);
    if (result == 0)
        return true;
    if (result == -ENOMEM) /* not mapped */
        return false;
    long fd = pm_sys(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC);
    pages->memory = fd >= 0 ? (int)fd : -1;
    return pages->memory >= 0;
}

static void close_pages(const struct pages *pages)
{
    if (pages->memory >= 0)
        pm_sys(SYS_close, pages->memory);
    else
        pm_sys(SYS_mprotect, pages->low, pages->high - pages->low, pages->prot);
}

static bool put_all(const struct pages *pages, const struct pm_patch *patches, size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n; i++)
        good = put(pages, patches[i].address, patches[i].bytes, sizeof patches[i].bytes) && good;
    return good;
}

#if defined(__x86_64__)
static uint32_t changing; /* a thread changes live code */
static const struct pm_patch *active;
static size_t n_active;
static struct pages active_pages;

/* NULL: not within a change. */
static const struct pm_patch *patch_of(uintptr_t address)
{
    size_t low = 0, high = n_active;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (active[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n_active && active[low].address == address ? &active[low] : NULL;
}

/* Where a thread goes on that came to a sled while it was being changed: as if it had been
 * changed a moment before, so that no call of a construct that stays armed is lost. */
static uintptr_t way_of(const struct pm_patch *patch)
{
    int32_t distance;
    __builtin_memcpy(&distance, patch->bytes + 1, 4);
    return patch->address + 5 + (patch->bytes[0] == 0xe9 ? (uintptr_t)(intptr_t)distance : 0);
}

static bool trap(siginfo_t *info, void *context)
{
    greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if (info->si_code != SI_KERNEL) /* a single step, a signal sent, ... */
        return false;
    const struct pm_patch *patch = patch_of((uintptr_t)*rip - 1);
    if (patch != NULL)
        *rip = (greg_t)way_of(patch);
    else if (*(const volatile uint8_t *)(*rip - 1) != 0xcc)
        *rip -= 1; /* late: the int3 is gone */
    else
        return false;
    return true;
}

bool pm_patch_take_traps(void)
{
    return pm_signal_take(SIGTRAP, trap);
}

static bool barrier(void)
{
    return pm_sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0) == 0;
}

struct directory_entry {
    uint64_t inode, offset;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

/* SigBlk in /proc/self/task/TID/status: 16 hex digits; SIGTRAP is bit 4. */
static bool blocks_trap(int tasks, const char *tid)
{
    /* not on the stack, which may be a small one for signals; one thread at a time is here */
    static char text[4096];
    char name[64];
    size_t n = strlen(tid);
    if (n > 20)
        return true;
    memcpy(name, tid, n);
    memcpy(name + n, "/status", 8);
    long fd = pm_sys(SYS_openat, tasks, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false; /* it is gone */
    long got = pm_sys(SYS_read, fd, text, sizeof text);
    pm_sys(SYS_close, fd);
    for (long i = 0; i + 24 < got; i++)
        if (memcmp(text + i, "SigBlk:\t", 8) == 0) {
            char digit = text[i + 8 + 14];
            return ((digit <= '9' ? digit - '0' : digit - 'a' + 10) & 1) != 0;
        }
    return false;
}

enum others { OTHERS_NONE, OTHERS_SAFE, OTHERS_BLOCK };

static bool is_number(const char *text, uint64_t number)
{
    uint64_t value = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    return *text == 0 && value == number;
}

/* Are there other threads, and does one of them block traps? */
static enum others look_at_others(void)
{
    uint64_t own = (uint64_t)pm_sys(SYS_gettid);
    long tasks =
        pm_sys(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tasks < 0)
        return OTHERS_BLOCK;
    static _Alignas(8) char entries[2048];
    enum others result = OTHERS_NONE;
    bool found_own = false;
    for (long n; result != OTHERS_BLOCK &&
                 (n = pm_sys(SYS_getdents64, tasks, entries, sizeof entries)) > 0;)
        for (long at = 0; at < n && result != OTHERS_BLOCK;) {
            const struct directory_entry *entry = (const struct directory_entry *)(entries + at);
            at += entry->bytes;
            if (entry->name[0] == '.')
                continue;
            if (is_number(entry->name, own))
                found_own = true;
            else
                result = blocks_trap((int)tasks, entry->name) ? OTHERS_BLOCK : OTHERS_SAFE;
        }
    pm_sys(SYS_close, tasks);
    return found_own || result == OTHERS_BLOCK ? result : OTHERS_SAFE;
}

static bool put_live(const struct pages *pages, const struct pm_patch *patches, size_t n)
{
    static const uint8_t int3 = 0xcc;
    bool good = true;
    for (size_t i = 0; i < n; i++)
        good = put(pages, patches[i].address, &int3, 1) && good;
    barrier();
    for (size_t i = 0; i < n; i++)
        good = put(pages, patches[i].address + 1, patches[i].bytes + 1, 4) && good;
    barrier();
    for (size_t i = 0; i < n; i++)
        good = put(pages, patches[i].address, patches[i].bytes, 1) && good;
    barrier();
    return good;
}

/* All signals are blocked. */
static bool change_live(struct pages *pages, const struct pm_patch *patches, size_t n)
{
    enum others others = look_at_others();
    if (others == OTHERS_BLOCK || !open_pages(pages))
        return false;
    bool good;
    if (others == OTHERS_NONE) {
        good = put_all(pages, patches, n);
    } else {
        good =
            pm_sys(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0) == 0 &&
            barrier() && pm_patch_take_traps();
        if (good) {
            active_pages = *pages;
            active = patches;
            pm_barrier();
            pm_store(n_active, n);
            pm_barrier();
            good = put_live(pages, patches, n);
            pm_store(n_active, 0);
        }
    }
    close_pages(pages);
    return good;
}

static bool patch_live(struct pages *pages, const struct pm_patch *patches, size_t n)
{
    uint64_t all = UINT64_MAX, mask = 0;
    uint32_t idle = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
    bool good = false;
    if (__atomic_compare_exchange_n(&changing, &idle, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        good = change_live(pages, patches, n);
        __atomic_store_n(&changing, 0, __ATOMIC_RELEASE);
    }
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof all);
    return good;
}

/* The thread that was at it is not in this process. Its list is, for memory is copied. */
void pm_patch_fork_child(void)
{
    if (n_active != 0 && open_pages(&active_pages)) {
        put_all(&active_pages, active, n_active);
        close_pages(&active_pages);
    }
    n_active = 0;
    changing = 0;
}
#else
static bool patch_live(struct pages *pages, const struct pm_patch *patches, size_t n)
{
    (void)pages, (void)patches, (void)n;
    return false;
}

void pm_patch_fork_child(void) {}

bool pm_patch_take_traps(void)
{
    return false;
}
#endif

static bool patch_fresh(struct pages *pages, const struct pm_patch *patches, size_t n)
{
    uint64_t all = UINT64_MAX, mask = 0;
    if (!open_pages(pages))
        return false;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
    bool good = put_all(pages, patches, n);
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof all);
    close_pages(pages);
    return good;
}

bool pm_patch_apply(const struct pm_patch *patches, size_t n, int prot, bool fresh)
{
    if (n == 0)
        return true;
    const uintptr_t page = PM_RUN_PAGE - 1;
    struct pages pages = {.low = patches[0].address & ~page,
                          .high = (patches[n - 1].address + 5 + page) & ~page,
                          .prot = prot};
    return fresh ? patch_fresh(&pages, patches, n) : patch_live(&pages, patches, n);
}
