/* The run file: created when there is something to write, grown by chunks. A chunk's place is
 * reserved by one atomic addition, then allocated on disk before it is mapped (a full disk can
 * never become a SIGBUS), so that threads need no lock and a signal handler may grow the file while
 * the code it interrupted does. */
#include "runtime/base/file.h"
#include "runtime/base/atomic.h"
#include "runtime/base/clock.h"
#include "runtime/base/process.h"
#include "runtime/base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum {
    RENEW_TICKS = 1 << 30, /* of the clock: less than a second */
    MOST_PAGES = 64,       /* zeroed at once */
    WINDOW_BYTES = 20 * PM_RUN_PAGE,
    CHUNK_TICKS = 1 << 18, /* of the clock: 0.1 ms */
};

static struct pmr_map {
    void *address;
    uint64_t size_bytes;
} maps[PM_MAX_MAPS];
static uint32_t n_maps;

/* The file's beginning is made and mapped at once: short processes need no more. The header is
 * in it, and what chunks fit. */
static struct {
    char *address;
    uint64_t size_bytes;
} window;

static bool is_error(long result)
{
    return result < 0 && result > -4096;
}

/* A high number, out of the way of programs that expect the lowest ones, yet without making the
 * kernel's table large. */
static int move_high(int fd)
{
    struct rlimit limit = {1024, 1024};
    pm_sys(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
    long base = limit.rlim_cur > 1024 ? 1000 : (long)(limit.rlim_cur - limit.rlim_cur / 8);
    long high = pm_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, base);
    if (is_error(high))
        return fd;
    pm_sys(SYS_close, fd);
    return (int)high;
}

static bool is_ours(int fd)
{
    struct stat now;
    return fd >= 0 && pm_sys(SYS_newfstatat, fd, "", &now, AT_EMPTY_PATH) == 0 &&
           now.st_dev == pm_process.file.device && now.st_ino == pm_process.file.inode;
}

/* The program may have closed our descriptor, and may have a file of its own under its number. */
static int file_descriptor(void)
{
    struct pm_file *file = &pm_process.file;
    int fd = pm_load(file->fd);
    if (is_ours(fd))
        return fd;
    long reopened = pm_sys(SYS_openat, AT_FDCWD, file->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (is_error(reopened))
        return (int)reopened;
    if (!is_ours((int)reopened)) {
        pm_sys(SYS_close, reopened);
        return -ENOENT;
    }
    fd = move_high((int)reopened);
    pm_store(file->fd, fd);
    return fd;
}

/* Asking for more would bring SIGXFSZ. */
static bool is_beyond_limit(uint64_t end)
{
    struct rlimit limit;
    return pm_sys(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) == 0 && end > limit.rlim_cur;
}

/* Blocks on disk that are written to by system calls, or not at all. 0 or an error number. */
static int reserve(int fd, uint64_t offset, uint64_t bytes)
{
    long result;
    if (is_beyond_limit(offset + bytes))
        return EFBIG;
    for (int i = 0; i < 100; i++) {
        result = pm_sys(SYS_fallocate, fd, 0, offset, bytes);
        if (result != -EINTR)
            break;
    }
    return (int)-result;
}

static bool is_refused(long result)
{
    return result == -EOPNOTSUPP || result == -ENOSYS || result == -EPERM || result == -EINVAL;
}

/* The same page again and again. What is written at once lies in large pieces in the page cache,
 * so that it takes a third of the time of pages that are allocated and then touched (ext4: 1.1
 * in place of 3.2 us a page, kernel and faults together). */
static long write_zeros(int fd, uint64_t offset, uint64_t bytes)
{
    static char zeros[PM_RUN_PAGE]; /* for ever */
    static struct iovec pages[MOST_PAGES] = {[0 ... MOST_PAGES - 1] = {zeros, sizeof zeros}};
    uint64_t n = (bytes + PM_RUN_PAGE - 1) / PM_RUN_PAGE;
    return pm_sys(SYS_pwritev, fd, pages, n < MOST_PAGES ? n : MOST_PAGES, offset, 0);
}

/* Blocks on disk for [offset, offset + bytes), whole pages; they are in memory then. 0 or an
 * error number. */
static int allocate(int fd, uint64_t offset, uint64_t bytes)
{
    if (is_beyond_limit(offset + bytes))
        return EFBIG;
    for (uint64_t done = 0; done < bytes;) {
        long result = write_zeros(fd, offset + done, bytes - done);
        if (result == -EINTR)
            continue;
        if (done == 0 && is_refused(result)) /* to the program, and so to us */
            return reserve(fd, offset, bytes);
        if (result <= 0)
            return result == 0 ? EIO : (int)-result;
        done += (uint64_t)result;
    }
    return 0;
}

/* Faults would otherwise be measured in the program's functions, up to 3 us each. Nobody else
 * knows these pages yet. */
static void populate(char *address, uint64_t bytes)
{
    if (pm_sys(SYS_madvise, address, bytes, MADV_POPULATE_WRITE) == 0)
        return;
    for (uint64_t at = 0; at < bytes; at += PM_RUN_PAGE) /* kernels before 5.14 */
        pm_store(address[at], 0);
}

static bool note_map(char *address, uint64_t bytes)
{
    uint32_t i = pm_add_shared(n_maps, 1);
    if (i < PM_MAX_MAPS)
        maps[i] = (struct pmr_map){address, bytes};
    else
        pm_store(n_maps, PM_MAX_MAPS);
    return i < PM_MAX_MAPS;
}

static void *map(int fd, uint64_t offset, uint64_t bytes)
{
    char *address = pm_mapped(
        pm_sys(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset), bytes);
    if (address == NULL)
        return NULL;
    populate(address, bytes);
    if (note_map(address, bytes))
        return address;
    pm_sys(SYS_munmap, address, bytes);
    return NULL;
}

uint32_t pm_file_n_chunks(void)
{
    uint32_t n = pm_load(n_maps);
    return n < PM_MAX_MAPS ? n : PM_MAX_MAPS;
}

const struct pm_run_chunk *pm_file_chunk_at(uint32_t i)
{
    return pm_load(maps[i].address);
}

static size_t put_number(char *text, uint64_t number)
{
    char digits[20];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    for (size_t i = 0; i < n; i++)
        text[i] = digits[n - 1 - i];
    return n;
}

/* PID.N.pmr with the first free N: exec keeps the PID. */
static int create_exclusively(void)
{
    char *path = pm_process.file.path;
    size_t folder = strlen(pm_process.run_dir);
    memcpy(path, pm_process.run_dir, folder);
    for (unsigned n = 0; n < 100000; n++) {
        size_t at = folder;
        path[at++] = '/';
        at += put_number(path + at, pm_process.pid);
        path[at++] = '.';
        at += put_number(path + at, n);
        memcpy(path + at, ".pmr", 5);
        long fd = pm_sys(SYS_openat, AT_FDCWD, path,
                         O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd != -EEXIST)
            return (int)fd;
    }
    return -EEXIST;
}

void pm_file_put_pair_costs(struct pm_run_header *h)
{
    const struct pmr_process *p = &pm_process;
    h->exact_pair_ps = pm_mode_is_timed(p->mode) ? p->exact_pair_ps : 0;
    h->exact_inner_ps = pm_mode_is_timed(p->mode) ? p->exact_inner_ps : 0;
    h->count_event_ps = p->count_event_ps;
}

static void fill_header(struct pm_run_header *h)
{
    const struct pmr_process *p = &pm_process;
    h->version_major = PM_RUN_VERSION_MAJOR;
    h->version_minor = PM_RUN_VERSION_MINOR;
    h->header_bytes = sizeof *h;
    h->used_bytes = PM_RUN_PAGE;
    h->flags = p->flags | PM_RUN_FLAG_NO_SLEDS;
    h->mode = p->mode;
    h->pid = p->pid;
    h->parent_pid = p->parent_pid;
    h->start_tsc = p->start_tsc;
    h->start_monotonic_ns = p->start_monotonic_ns;
    h->start_realtime_ns = p->start_realtime_ns;
    h->tsc_hz = p->tsc_hz;
    pm_file_put_pair_costs(h);
    h->exe_bytes = p->text_bytes[0];
    h->cwd_bytes = p->text_bytes[1];
    h->argv_bytes = p->text_bytes[2];
    h->rank_plus_1 = p->rank_plus_1;
    h->n_ranks = p->n_ranks;
    memcpy(h->node, p->node, sizeof h->node);
    memcpy(h->job, p->job, sizeof h->job);
    memcpy(h->text, p->text, sizeof h->text);
    pm_barrier();
    memcpy(h->magic, PM_RUN_MAGIC, sizeof h->magic);
}

bool pm_file_create(void)
{
    struct pm_file *file = &pm_process.file;
    if (file->header != NULL)
        return true;
    if (file->failed)
        return false;
    file->failed = true;
    int fd = create_exclusively();
    int error_no = fd < 0 ? -fd : 0;
    struct stat info;
    if (error_no == 0) {
        fd = move_high(fd);
        error_no = (int)-pm_sys(SYS_newfstatat, fd, "", &info, AT_EMPTY_PATH);
    }
    uint64_t bytes = WINDOW_BYTES;
    if (error_no == 0 && allocate(fd, 0, bytes) != 0)
        error_no = allocate(fd, 0, bytes = PM_RUN_PAGE);
    void *header = error_no == 0 ? map(fd, 0, bytes) : NULL;
    if (header == NULL) {
        pm_say("not measured, no run file can be made in", pm_process.run_dir,
               error_no ? error_no : ENOMEM);
        if (fd >= 0) {
            pm_sys(SYS_close, fd);
            pm_sys(SYS_unlinkat, AT_FDCWD, file->path, 0);
        }
        return false;
    }
    file->fd = fd;
    file->device = info.st_dev;
    file->inode = info.st_ino;
    file->full = file->failed = false;
    fill_header(header);
    window.address = header;
    window.size_bytes = bytes;
    file->header = header;
    return true;
}

static uint32_t n_parent_maps;

void pm_file_leave(void)
{
    struct pm_file *file = &pm_process.file;
    n_parent_maps = n_maps < PM_MAX_MAPS ? n_maps : PM_MAX_MAPS;
    if (is_ours(file->fd))
        pm_sys(SYS_close, file->fd);
    file->fd = -1;
    file->header = NULL;
    window.size_bytes = 0;
    file->full = file->failed = false;
}

/* An interrupted trampoline may still hold the address of a node (fork in a signal handler), so the
 * addresses stay usable: private, empty memory takes the place of the parent's file. */
void pm_file_drop_parent(void)
{
    const struct pmr_map *first = &maps[0]; /* holds what is in the window, too */
    for (uint32_t i = 0; i < n_parent_maps; i++)
        if (i == 0 || (uintptr_t)maps[i].address - (uintptr_t)first->address >= first->size_bytes)
            pm_sys(SYS_mmap, maps[i].address, maps[i].size_bytes, PROT_READ | PROT_WRITE,
                   MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (uint32_t i = n_parent_maps; i < n_maps && i < PM_MAX_MAPS; i++)
        maps[i - n_parent_maps] = maps[i];
    n_maps -= n_parent_maps;
    n_parent_maps = 0;
}

static void renew_clock_pair(struct pm_run_header *h)
{
    uint64_t tsc = 0, now = 0;
    pm_clock_pair(&tsc, &now);
    if (now == 0) /* refused to the program, and so to us */
        return;
    h->last_tsc = tsc;
    h->last_monotonic_ns = now;
}

/* A process that is killed after days has a pair that is hardly older than its last sample. */
void pm_file_renew_clock(uint64_t tsc)
{
    struct pm_run_header *h = pm_process.file.header;
    if (h != NULL && tsc - pm_load(h->last_tsc) > RENEW_TICKS)
        renew_clock_pair(h);
}

static void *cannot_grow(uint64_t offset, uint64_t size_bytes, int error_no)
{
    struct pm_file *file = &pm_process.file;
    uint64_t end = offset + size_bytes;
    __atomic_compare_exchange_n(&file->header->used_bytes, &end, offset, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    if (!__atomic_exchange_n(&file->full, true, __ATOMIC_RELAXED))
        pm_say("new contexts are not told apart and new threads are missing, the run file "
               "cannot grow:",
               file->path, error_no);
    return NULL;
}

static struct pm_run_chunk *new_chunk(uint64_t offset, uint64_t bytes, int *ret_error_no)
{
    if (offset + bytes <= window.size_bytes) {
        *ret_error_no = ENOMEM;
        return note_map(window.address + offset, bytes)
                   ? (struct pm_run_chunk *)(window.address + offset)
                   : NULL;
    }
    int fd = file_descriptor();
    *ret_error_no = fd < 0 ? -fd : allocate(fd, offset, bytes);
    if (*ret_error_no != 0)
        return NULL;
    *ret_error_no = ENOMEM;
    return map(fd, offset, bytes);
}

void *pm_file_chunk(enum pm_run_chunk_kind kind, uint64_t size_bytes, uint64_t owner,
                    uint64_t *ret_offset)
{
    struct pm_file *file = &pm_process.file;
    if (file->header == NULL || pm_load(file->full))
        return NULL;
    size_bytes = (size_bytes + PM_RUN_PAGE - 1) / PM_RUN_PAGE * PM_RUN_PAGE;
    uint64_t offset = pm_add_shared(file->header->used_bytes, size_bytes);
    int error_no = 0;
    struct pm_run_chunk *chunk = new_chunk(offset, size_bytes, &error_no);
    if (chunk == NULL)
        return cannot_grow(offset, size_bytes, error_no);
    chunk->kind = kind;
    chunk->size_bytes = size_bytes;
    chunk->owner = owner;
    if (pm_tsc() - pm_load(file->header->last_tsc) >
        CHUNK_TICKS) /* none is there without a clock */
        renew_clock_pair(file->header);
    pm_barrier();
    pm_store(chunk->magic, PM_RUN_CHUNK_MAGIC);
    *ret_offset = offset;
    return chunk;
}

/* Limits have been looked at by pm_file_space. */
bool pm_file_put(uint64_t offset, const struct iovec *pieces, int n_pieces)
{
    size_t bytes = 0;
    for (int i = 0; i < n_pieces; i++)
        bytes += pieces[i].iov_len;
    int fd = file_descriptor();
    if (fd < 0)
        return false;
    long result;
    do
        result = pm_sys(SYS_pwritev, fd, pieces, n_pieces, offset, 0);
    while (result == -EINTR);
    return result == (long)bytes;
}

uint64_t pm_file_space(enum pm_run_chunk_kind kind, uint64_t size_bytes, uint64_t n_items,
                       uint64_t alignment)
{
    struct pm_file *file = &pm_process.file;
    if (file->header == NULL)
        return 0;
    uint64_t taken_bytes = size_bytes + alignment - PM_RUN_PAGE;
    uint64_t start = pm_add_shared(file->header->used_bytes, taken_bytes);
    uint64_t offset = (start + alignment) / alignment * alignment - PM_RUN_PAGE; /* holes around */
    struct pm_run_chunk chunk = {
        .magic = PM_RUN_CHUNK_MAGIC, .kind = kind, .size_bytes = size_bytes, .n_items = n_items};
    int fd = file_descriptor(), error_no = fd < 0 ? -fd : reserve(fd, offset, size_bytes);
    if (is_refused(-error_no))
        error_no = allocate(fd, offset, size_bytes);
    if (error_no != 0) {
        uint64_t end = start + taken_bytes;
        __atomic_compare_exchange_n(&file->header->used_bytes, &end, start, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
        return 0;
    }
    if (!pm_file_put(offset, &(struct iovec){&chunk, sizeof chunk}, 1))
        return 0;
    renew_clock_pair(file->header);
    return offset;
}

void pm_file_message(enum pm_run_message_code code, const char *text, const char *subject)
{
    size_t text_bytes = strlen(text), subject_bytes = subject != NULL ? strlen(subject) : 0;
    uint64_t offset;
    struct pm_run_message *message = pm_file_chunk(
        PM_RUN_CHUNK_MESSAGE, sizeof *message + text_bytes + subject_bytes, 0, &offset);
    if (message == NULL)
        return;
    message->code = code;
    message->tsc = pm_tsc();
    memcpy(message->text, text, text_bytes);
    if (subject != NULL)
        memcpy(message->text + text_bytes, subject, subject_bytes);
    pm_barrier();
    pm_store(message->text_bytes, (uint32_t)(text_bytes + subject_bytes));
}
