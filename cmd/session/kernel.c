/* Trace events of the kernel's own writes, read from one ring for each CPU. Which tell the truth
 * was measured (docs/ADAPTERS.md): writeback_single_inode knows nothing of what fsync writes,
 * pages_written of ext4_writepages_result counts whole folios of which a page was written. So
 * the bytes are those of the block layer, and the inode that of the writepages around them in
 * the same thread. */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_CPUS = 1024,
    RING_BYTES = 1 << 20, /* a power of two */
    MAX_RECORDS = 1 << 22,
    MAX_FORMAT = 1 << 16,
    SECTOR_BYTES = 512,
};

/* Where a field is in an event's bytes; size 0: it has none. */
struct field {
    uint32_t offset, size;
};

struct event_kind {
    uint64_t id;
    struct field thread, device, inode, sectors, flags;
};

static const char *const event_names[N_KERNEL_EVENTS] = {
    "ext4/ext4_writepages", "ext4/ext4_writepages_result", "block/block_bio_queue"};

struct ring {
    struct perf_event_mmap_page *page; /* NULL: none */
    int fds[N_KERNEL_EVENTS];          /* the first has the ring; -1: none */
};

struct session_kernel {
    struct event_kind kinds[N_KERNEL_EVENTS];
    struct ring *rings;
    size_t n_rings;
    int poll_fd;
    struct kernel_record *records;
    uint32_t n_records, records_cap;
    uint64_t n_lost;
};

/* --- what the kernel says of its events --- */

static const char *const folders[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* NULL: none is mounted. */
static const char *find_tracefs(int *ret_errnum)
{
    *ret_errnum = ENOENT;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/events", folders[i]);
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0) {
            close(fd);
            return folders[i];
        }
        if (errno != ENOENT)
            *ret_errnum = errno;
    }
    return NULL;
}

static char *read_text(const char *path)
{
    char *text = pm_alloc(MAX_FORMAT);
    FILE *in = fopen(path, "re");
    size_t n = in && text ? fread(text, 1, MAX_FORMAT - 1, in) : 0;
    int errnum = errno;
    if (in)
        fclose(in);
    if (n == 0) {
        free(text);
        errno = errnum;
        return NULL;
    }
    text[n] = 0;
    return text;
}

/* "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;" */
static struct field field_of(const char *format, const char *name)
{
    struct field field = {0, 0};
    size_t len = strlen(name);
    for (const char *at = strstr(format, "field:"); at && !field.size;
         at = strstr(at + 1, "field:")) {
        const char *end = at + strcspn(at, ";"), *bracket = memchr(at, '[', (size_t)(end - at));
        const char *last = bracket ? bracket : end;
        if ((size_t)(last - at) > len && !memcmp(last - len, name, len) &&
            strchr(" *", last[-1 - (ptrdiff_t)len]))
            (void)sscanf(end, "; offset:%u; size:%u;", &field.offset, &field.size);
    }
    return field;
}

static bool read_kind(const char *tracefs, enum kernel_event event, struct event_kind *kind,
                      struct pm_buf *why)
{
    char path[160];
    snprintf(path, sizeof path, "%s/events/%s/format", tracefs, event_names[event]);
    char *format = read_text(path);
    if (!format) {
        if (errno == ENOENT)
            pm_buf_printf(why, "this kernel has no event %s", event_names[event]);
        else
            pm_buf_printf(why, "%s: %s", path, strerror(errno));
        return false;
    }
    const char *id = strstr(format, "ID:");
    *kind = (struct event_kind){.id = id ? strtoull(id + 3, NULL, 10) : 0,
                                .thread = field_of(format, "common_pid"),
                                .device = field_of(format, "dev"),
                                .inode = field_of(format, "ino"),
                                .sectors = field_of(format, "nr_sector"),
                                .flags = field_of(format, "rwbs")};
    free(format);
    bool good =
        kind->id && kind->thread.size && kind->device.size &&
        (event == KERNEL_BLOCKS ? kind->sectors.size && kind->flags.size : kind->inode.size);
    if (!good)
        pm_buf_printf(why, "event %s has other fields than are known (%s)", event_names[event],
                      path);
    return good;
}

/* --- rings --- */

static int open_event(const struct event_kind *kind, enum kernel_event event, int cpu)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof attr,
        .config = kind->id,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
        .watermark = 1,
        .wakeup_watermark = RING_BYTES / 4,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    /* Reads are most of what disks do, and no concern of ours. Without the filter they are
     * passed over here. */
    if (fd >= 0 && event == KERNEL_BLOCKS)
        (void)ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "rwbs ~ \"*W*\"");
    return fd;
}

static void close_ring(struct ring *ring)
{
    for (int i = 0; i < N_KERNEL_EVENTS; i++)
        if (ring->fds[i] >= 0)
            close(ring->fds[i]);
    if (ring->page)
        munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + RING_BYTES);
}

/* False with errno. */
static bool open_ring(struct session_kernel *k, struct ring *ring, int cpu)
{
    for (int i = 0; i < N_KERNEL_EVENTS; i++) {
        ring->fds[i] = open_event(&k->kinds[i], (enum kernel_event)i, cpu);
        if (ring->fds[i] < 0)
            return false;
        if (i == 0) {
            void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + RING_BYTES,
                              PROT_READ | PROT_WRITE, MAP_SHARED, ring->fds[0], 0);
            if (page == MAP_FAILED)
                return false;
            ring->page = page;
        } else if (ioctl(ring->fds[i], PERF_EVENT_IOC_SET_OUTPUT, ring->fds[0]) != 0) {
            return false;
        }
    }
    struct epoll_event wanted = {.events = EPOLLIN};
    return epoll_ctl(k->poll_fd, EPOLL_CTL_ADD, ring->fds[0], &wanted) == 0;
}

/* A ring for each CPU that is there; those that are off have none. */
static bool open_rings(struct session_kernel *k, struct pm_buf *why)
{
    long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
    n_cpus = n_cpus > MAX_CPUS ? MAX_CPUS : n_cpus;
    k->rings = pm_alloc_array((size_t)n_cpus, sizeof *k->rings);
    for (int cpu = 0; k->rings && cpu < n_cpus; cpu++) {
        struct ring ring = {NULL, {-1, -1, -1}};
        bool good = open_ring(k, &ring, cpu);
        int errnum = errno;
        if (good) {
            k->rings[k->n_rings++] = ring;
            continue;
        }
        close_ring(&ring);
        if (errnum == ENODEV)
            continue;
        pm_buf_printf(why, "perf events of all processes are refused: %s%s", strerror(errnum),
                      errnum == EACCES || errnum == EPERM ? " (they are for root)" : "");
        return false;
    }
    if (k->n_rings == 0)
        pm_buf_add_str(why, "no CPU has perf events");
    return k->n_rings > 0;
}

struct session_kernel *session_kernel_open(struct pm_buf *why)
{
    int errnum;
    const char *tracefs = find_tracefs(&errnum);
    if (!tracefs && errnum == ENOENT)
        pm_buf_printf(why, "no tracefs is mounted (as root: mount -t tracefs tracefs %s)",
                      folders[0]);
    else if (!tracefs)
        pm_buf_printf(why, "%s: %s%s", folders[0], strerror(errnum),
                      errnum == EACCES ? " (it is for root)" : "");
    struct session_kernel *k = tracefs ? pm_alloc(sizeof *k) : NULL;
    if (!k)
        return NULL;
    k->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    bool good = true;
    for (int i = 0; i < N_KERNEL_EVENTS && good; i++)
        good = read_kind(tracefs, (enum kernel_event)i, &k->kinds[i], why);
    if (good && open_rings(k, why))
        return k;
    session_kernel_free(k);
    return NULL;
}

void session_kernel_free(struct session_kernel *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->n_rings; i++)
        close_ring(&k->rings[i]);
    if (k->poll_fd >= 0)
        close(k->poll_fd);
    free(k->rings);
    free(k->records);
    free(k);
}

int session_kernel_fd(const struct session_kernel *k)
{
    return k->poll_fd;
}

uint64_t session_kernel_n_lost(const struct session_kernel *k)
{
    return k->n_lost;
}

/* --- records --- */

/* Fields that are not within the event are 0. */
static uint64_t number_at(const unsigned char *raw, uint32_t n, struct field field)
{
    uint64_t number = 0;
    if (field.size <= sizeof number && field.offset <= n && field.size <= n - field.offset)
        memcpy(&number, raw + field.offset, field.size); /* little-endian */
    return number;
}

/* A write of data: neither metadata of the file system ('M') nor a discard or a flush without
 * blocks. */
static bool is_data(const unsigned char *raw, uint32_t n, struct field flags)
{
    if (flags.offset > n || flags.size > n - flags.offset)
        return false;
    return memchr(raw + flags.offset, 'W', flags.size) &&
           !memchr(raw + flags.offset, 'M', flags.size);
}

static void add_record(struct session_kernel *k, uint64_t time_ns, const unsigned char *raw,
                       uint32_t n)
{
    uint64_t id = number_at(raw, n, (struct field){0, 2});
    int event = 0;
    while (event < N_KERNEL_EVENTS && k->kinds[event].id != id)
        event++;
    if (event == N_KERNEL_EVENTS)
        return;
    const struct event_kind *kind = &k->kinds[event];
    if (event == KERNEL_BLOCKS && !is_data(raw, n, kind->flags))
        return;
    struct kernel_record *records =
        k->n_records < MAX_RECORDS
            ? pm_grow_array(k->records, k->n_records, &k->records_cap, 1024, sizeof *records)
            : NULL;
    if (!records) {
        k->n_lost++;
        return;
    }
    k->records = records;
    records[k->n_records++] =
        (struct kernel_record){.time_ns = time_ns,
                               .inode = number_at(raw, n, kind->inode),
                               .bytes = SECTOR_BYTES * number_at(raw, n, kind->sectors),
                               .device = (uint32_t)number_at(raw, n, kind->device),
                               .thread = (int32_t)number_at(raw, n, kind->thread),
                               .event = (enum kernel_event)event};
}

/* time, size of the event, the event. */
static void take_sample(struct session_kernel *k, const unsigned char *body, size_t n)
{
    uint64_t time_ns;
    uint32_t raw_bytes;
    const size_t head = sizeof time_ns + sizeof raw_bytes;
    if (n < head)
        return;
    memcpy(&time_ns, body, sizeof time_ns);
    memcpy(&raw_bytes, body + sizeof time_ns, sizeof raw_bytes);
    if (raw_bytes <= n - head)
        add_record(k, time_ns, body + head, raw_bytes);
}

/* id, how many. */
static void take_lost(struct session_kernel *k, const unsigned char *body, size_t n)
{
    uint64_t lost[2];
    if (n < sizeof lost)
        return;
    memcpy(lost, body, sizeof lost);
    k->n_lost += lost[1];
}

static void copy_out(const unsigned char *ring, uint64_t from, void *to, size_t n)
{
    size_t at = from % RING_BYTES, first = n < RING_BYTES - at ? n : RING_BYTES - at;
    memcpy(to, ring + at, first);
    memcpy((unsigned char *)to + first, ring, n - first);
}

static void read_ring(struct session_kernel *k, const struct ring *ring)
{
    const unsigned char *bytes = (unsigned char *)ring->page + sysconf(_SC_PAGESIZE);
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE),
             tail = ring->page->data_tail;
    unsigned char record[1 << 16]; /* as long as their sizes can say */
    while (tail < head) {
        struct perf_event_header header;
        copy_out(bytes, tail, &header, sizeof header);
        if (header.size < sizeof header || header.size > head - tail)
            break;
        copy_out(bytes, tail, record, header.size);
        if (header.type == PERF_RECORD_SAMPLE)
            take_sample(k, record + sizeof header, header.size - sizeof header);
        else if (header.type == PERF_RECORD_LOST)
            take_lost(k, record + sizeof header, header.size - sizeof header);
        tail += header.size;
    }
    __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

void session_kernel_read(struct session_kernel *k)
{
    struct epoll_event events[16];
    (void)epoll_wait(k->poll_fd, events, sizeof events / sizeof *events, 0);
    for (size_t i = 0; i < k->n_rings; i++)
        read_ring(k, &k->rings[i]);
}

static int compare_records(const void *a, const void *b)
{
    const struct kernel_record *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return 0;
}

const struct kernel_record *session_kernel_records(struct session_kernel *k, size_t *ret_n)
{
    if (k->n_records)
        qsort(k->records, k->n_records, sizeof *k->records, compare_records);
    *ret_n = k->n_records;
    return k->records;
}
