/* Changing code. Code that no thread can be running yet (at start, and of a library being loaded)
 * is written plainly. Code that may be running is changed in three steps for a whole batch: int3
 * over the first bytes, barrier; the other four bytes, barrier; the first bytes, barrier. The
 * barrier makes every thread serialise (membarrier SYNC_CORE). A thread that hits an int3 goes on
 * behind the sled: one event less, as if it had been armed a moment later.
 *
 * A thread with SIGTRAP blocked would be killed by an int3, so live changes are refused while there
 * is one. A thread may also have hit an int3 and be scheduled away before it gets the signal, until
 * long after the change is over: so the handler stays once it was needed, and a thread that comes
 * late executes the sled anew.
 */
#include "internal.h"
#include "sys.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static int memory_fd = -1;

static bool put(uintptr_t address, const uint8_t *bytes, size_t n)
{
    if (memory_fd >= 0)
        return pm_sys(SYS_pwrite64, memory_fd, bytes, n, address) == (long)n;
    for (size_t i = 0; i < n; i++)
        ((volatile uint8_t *)address)[i] = bytes[i];
    return true;
}

static bool open_pages(uintptr_t low, uintptr_t high, int prot)
{
    if (pm_sys(SYS_mprotect, low, high - low, prot | PROT_WRITE) == 0)
        return true;
    long fd = pm_sys(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC);
    memory_fd = fd >= 0 ? (int)fd : -1;
    return memory_fd >= 0;
}

static void close_pages(uintptr_t low, uintptr_t high, int prot)
{
    if (memory_fd >= 0) {
        pm_sys(SYS_close, memory_fd);
        memory_fd = -1;
    } else {
        pm_sys(SYS_mprotect, low, high - low, prot);
    }
}

#if defined(__x86_64__)
static const struct pm_patch *active;
static size_t n_active;
static struct sigaction before;

static bool is_patched(uintptr_t address)
{
    size_t low = 0, high = n_active;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (active[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n_active && active[low].address == address;
}

static void trap(int number, siginfo_t *info, void *context)
{
    greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    bool is_int3 = info->si_code == SI_KERNEL; /* not a single step, a signal sent, ... */
    if (is_int3 && is_patched((uintptr_t)*rip - 1))
        *rip += 4;
    else if (is_int3 && *(const volatile uint8_t *)(*rip - 1) != 0xcc)
        *rip -= 1; /* late: the int3 is gone */
    else if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler == SIG_DFL) {
        sigaction(SIGTRAP, &before, NULL);
        pm_sys(SYS_tgkill, pm_sys(SYS_getpid), pm_sys(SYS_gettid), SIGTRAP);
    } else if (before.sa_handler != SIG_IGN)
        before.sa_handler(number);
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
    char name[64], text[4096];
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

static bool some_thread_blocks_trap(void)
{
    long tasks =
        pm_sys(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tasks < 0)
        return true;
    _Alignas(8) char entries[2048];
    bool blocked = false;
    for (long n; !blocked && (n = pm_sys(SYS_getdents64, tasks, entries, sizeof entries)) > 0;)
        for (long at = 0; at < n;) {
            const struct directory_entry *entry = (const struct directory_entry *)(entries + at);
            blocked = blocked || (entry->name[0] != '.' && blocks_trap((int)tasks, entry->name));
            at += entry->bytes;
        }
    pm_sys(SYS_close, tasks);
    return blocked;
}

/* The program's own handler is kept for its own traps, also one that it has set since last time. */
static bool install_handler(void)
{
    struct sigaction now,
        ours = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    if (sigaction(SIGTRAP, NULL, &now) != 0)
        return false;
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == trap)
        return true;
    before = now;
    return sigaction(SIGTRAP, &ours, NULL) == 0;
}

static bool patch_live(const struct pm_patch *patches, size_t n)
{
    static const uint8_t int3 = 0xcc;
    if (pm_sys(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0) != 0 ||
        !barrier() || some_thread_blocks_trap())
        return false;
    if (!install_handler())
        return false;
    active = patches;
    n_active = n;
    pm_barrier();
    bool good = true;
    for (size_t i = 0; i < n; i++)
        good = put(patches[i].address, &int3, 1) && good;
    barrier();
    for (size_t i = 0; i < n; i++)
        good = put(patches[i].address + 1, patches[i].bytes + 1, 4) && good;
    barrier();
    for (size_t i = 0; i < n; i++)
        good = put(patches[i].address, patches[i].bytes, 1) && good;
    barrier();
    n_active = 0;
    return good;
}
#else
static bool patch_live(const struct pm_patch *patches, size_t n)
{
    (void)patches, (void)n;
    return false;
}
#endif

static bool patch_fresh(const struct pm_patch *patches, size_t n)
{
    uint64_t all = UINT64_MAX, mask = 0;
    bool good = true;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
    for (size_t i = 0; i < n; i++)
        good = put(patches[i].address, patches[i].bytes, sizeof patches[i].bytes) && good;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof all);
    return good;
}

bool pm_patch_apply(const struct pm_patch *patches, size_t n, int prot, bool fresh)
{
    if (n == 0)
        return true;
    const uintptr_t page = PM_RUN_PAGE - 1;
    uintptr_t low = patches[0].address & ~page, high = (patches[n - 1].address + 5 + page) & ~page;
    if (!open_pages(low, high, prot))
        return false;
    bool good = fresh ? patch_fresh(patches, n) : patch_live(patches, n);
    close_pages(low, high, prot);
    return good;
}
