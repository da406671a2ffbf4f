/* The control chunk of a process that runs, and what its run file says of its nouns. The file
 * belongs to a program that may do anything with it, so it is read and written by system calls,
 * and every number is checked. */
#include "control.h"
#include "target.h"

#include "mapping/run/run_pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_NOUNS = 1 << 20, MAX_CHUNKS = 1 << 20 };

static bool write_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
    return pwrite(fd, bytes, n, (off_t)offset) == (ssize_t)n;
}

static bool room_for(struct control_process *p, uint32_t n)
{
    if (n <= p->capacity)
        return true;
    uint32_t capacity = n + n / 2;
    uint64_t *ids = pm_realloc_array(p->ids, capacity, sizeof *ids);
    if (ids)
        p->ids = ids;
    uint8_t *modes = ids ? pm_realloc_array(p->modes, capacity, 1) : NULL;
    if (modes)
        p->modes = modes;
    if (!ids || !modes)
        return false;
    p->capacity = capacity;
    return true;
}

static bool read_object(struct control_process *p, uint64_t offset,
                        void (*visit_object)(void *context, const char *path), void *context)
{
    struct pm_run_object object;
    char path[PATH_MAX];
    if (!pm_file_read_at(p->fd, &object, sizeof object, offset))
        return true;
    uint64_t n = object.chunk.n_items, end = object.first_noun + n;
    if (object.kind != PM_RUN_OBJECT_ELF || n == 0 || n > MAX_NOUNS || end > MAX_NOUNS ||
        object.path_bytes >= sizeof path || object.strings_offset > object.chunk.size_bytes)
        return true;
    struct pm_run_noun *nouns = pm_alloc_array(n, sizeof *nouns);
    bool good = nouns && room_for(p, (uint32_t)end);
    if (good && pm_file_read_at(p->fd, nouns, n * sizeof *nouns, offset + object.nouns_offset)) {
        for (uint32_t i = p->n_nouns; i < end; i++) {
            p->ids[i] = 0;
            p->modes[i] = (uint8_t)p->mode;
        }
        for (uint32_t i = 0; i < n; i++) {
            p->ids[object.first_noun + i] = nouns[i].id;
            p->modes[object.first_noun + i] =
                nouns[i].own_mode ? (uint8_t)(nouns[i].own_mode - 1) : (uint8_t)p->mode;
        }
        p->n_nouns = end > p->n_nouns ? (uint32_t)end : p->n_nouns;
        if (pm_file_read_at(p->fd, path, object.path_bytes, offset + object.strings_offset)) {
            path[object.path_bytes] = 0;
            if (object.unloaded_tsc == 0)
                visit_object(context, path);
        }
    }
    free(nouns);
    return good;
}

static void read_adapted(struct control_process *p, uint64_t offset, uint64_t n)
{
    for (uint64_t i = 0; i < n && i < 1024; i++) {
        struct pm_run_adapted item;
        if (!pm_file_read_at(p->fd, &item, sizeof item,
                             offset + sizeof(struct pm_run_chunk) + i * sizeof item))
            return;
        if (item.armed_tsc != 0 || item.noun >= p->n_nouns)
            continue;
        bool by_budget = item.reason == PM_RUN_ADAPTED_BUDGET;
        p->modes[item.noun] = (uint8_t)((item.mode & 7) | (by_budget ? CONTROL_BY_BUDGET : 0));
        p->n_lowered += by_budget;
    }
}

static bool read_chunks(struct control_process *p,
                        void (*visit_object)(void *context, const char *path), void *context)
{
    struct pm_run_header header;
    struct stat status;
    if (!pm_file_read_at(p->fd, &header, sizeof header, 0) || fstat(p->fd, &status) != 0 ||
        memcmp(header.magic, PM_RUN_MAGIC, sizeof header.magic) != 0 ||
        header.version_major != PM_RUN_VERSION_MAJOR || header.mode > PM_RUN_MODE_TRACE)
        return false;
    p->pid = header.pid;
    p->mode = header.mode;
    p->ended = (header.flags & PM_RUN_FLAG_ENDED) != 0 || !session_is_alive(p->pid);
    uint64_t at = PM_RUN_PAGE;
    for (unsigned i = 0; i < MAX_CHUNKS && at < (uint64_t)status.st_size; i++) {
        struct pm_run_chunk chunk;
        if (!pm_file_read_at(p->fd, &chunk, sizeof chunk, at))
            break;
        bool valid = chunk.magic == PM_RUN_CHUNK_MAGIC && chunk.size_bytes != 0 &&
                     chunk.size_bytes % PM_RUN_PAGE == 0 &&
                     chunk.size_bytes <= (uint64_t)status.st_size;
        if (valid && chunk.kind == PM_RUN_CHUNK_OBJECT &&
            !read_object(p, at, visit_object, context))
            return false;
        if (valid && chunk.kind == PM_RUN_CHUNK_ADAPTED)
            read_adapted(p, at, chunk.n_items);
        if (valid && chunk.kind == PM_RUN_CHUNK_CONTROL && chunk.size_bytes >= PM_CONTROL_BYTES)
            p->control_offset = at;
        at += valid ? chunk.size_bytes : PM_RUN_PAGE;
    }
    return true;
}

/* What has ended may be packed: its objects are told all the same. */
static bool unpack(const char *path, struct control_process *p)
{
    struct pm_run_header header;
    struct stat status;
    void *bytes = NULL, *packed = NULL;
    size_t len;
    if (!pm_file_read_at(p->fd, &header, sizeof header, 0) ||
        header.version_major != PM_RUN_VERSION_PACKED)
        return true;
    bool good = fstat(p->fd, &status) == 0 && status.st_size < (off_t)PM_RUN_MOST_PACKED &&
                (packed = pm_alloc((size_t)status.st_size + 1)) != NULL &&
                pm_file_read_at(p->fd, packed, (size_t)status.st_size, 0) &&
                pm_run_unpack(path, packed, (size_t)status.st_size, NULL, &bytes, &len) == PM_OK;
    int fd = good ? memfd_create("perfmap-run-file", MFD_CLOEXEC) : -1;
    good = fd >= 0 && write_at(fd, bytes, len, 0);
    free(packed);
    free(bytes);
    if (fd >= 0) {
        close(p->fd);
        p->fd = fd;
    }
    return good;
}

static bool is_waiting(const struct control_process *p)
{
    struct pm_control control;
    return p->control_offset != 0 &&
           pm_file_read_at(p->fd, &control, sizeof control, p->control_offset) &&
           control.request != control.done;
}

bool control_process_refresh(struct control_process *p,
                             void (*visit_object)(void *context, const char *path), void *context)
{
    p->was_waiting = false;
    p->n_nouns = p->n_lowered = 0;
    return read_chunks(p, visit_object, context);
}

bool control_process_open(const char *path, void (*visit_object)(void *context, const char *path),
                          void *context, struct control_process *ret_process)
{
    struct control_process p = {.fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
    if (p.fd < 0)
        return false;
    if (!unpack(path, &p)) {
        control_process_close(&p);
        return false;
    }
    if (!read_chunks(&p, visit_object, context)) {
        control_process_close(&p);
        return false;
    }
    p.was_waiting = is_waiting(&p);
    /* What was read may be from before a change that has ended since. */
    if (!p.was_waiting && !control_process_refresh(&p, visit_object, context)) {
        control_process_close(&p);
        return false;
    }
    *ret_process = p;
    return true;
}

void control_process_close(struct control_process *p)
{
    if (p->fd >= 0)
        close(p->fd);
    free(p->ids);
    free(p->modes);
    p->fd = -1;
    p->ids = NULL;
    p->modes = NULL;
}

bool control_process_ask(struct control_process *p, enum pm_control_verb verb,
                         const uint32_t *words, uint32_t n)
{
    struct pm_control control;
    uint64_t at = p->control_offset;
    if (at == 0 || n > PM_CONTROL_MAX_CHANGES ||
        !pm_file_read_at(p->fd, &control, sizeof control, at))
        return false;
    uint64_t number = control.request + 1;
    struct {
        uint32_t verb, n_words;
    } what = {verb, n};
    p->answer = ANSWER_WAITING;
    return write_at(p->fd, words, n * sizeof *words, at + sizeof control) &&
           write_at(p->fd, &what, sizeof what, at + offsetof(struct pm_control, verb)) &&
           write_at(p->fd, &number, sizeof number, at + offsetof(struct pm_control, request));
}

/* State R in /proc/PID/task/TID/stat: behind the name, which may hold anything. */
static bool is_running(int tasks, const char *tid)
{
    char path[300], text[512];
    snprintf(path, sizeof path, "%.255s/stat", tid);
    int fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'R';
}

/* One thread that runs: a signal could end the system call of one that sleeps. */
static void ring(uint32_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task", (unsigned)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;) {
        uint64_t tid;
        if (!pm_str_to_u64(pm_str_of(entry->d_name), INT_MAX, &tid) ||
            !is_running(dirfd(tasks), entry->d_name))
            continue;
        syscall(SYS_tgkill, (int)pid, (int)tid, SIGURG);
        break;
    }
    if (tasks)
        closedir(tasks);
}

bool control_process_poll(struct control_process *p)
{
    struct pm_control control;
    if (p->answer != ANSWER_WAITING)
        return true;
    if (!pm_file_read_at(p->fd, &control, sizeof control, p->control_offset)) {
        p->answer = ANSWER_ENDED;
        return true;
    }
    if (control.done == control.request) {
        p->answer = control.status == PM_CONTROL_DONE      ? ANSWER_DONE
                    : control.status == PM_CONTROL_REFUSED ? ANSWER_REFUSED
                                                           : ANSWER_UNKNOWN;
        p->n_changed += control.n_nouns;
        p->n_sleds += control.n_sleds;
        p->n_refused += control.n_refused;
        p->spent_ns += control.spent_ns;
        return true;
    }
    if (!session_is_alive(p->pid))
        p->answer = ANSWER_ENDED;
    else if (control.has_bell)
        ring(p->pid);
    return p->answer != ANSWER_WAITING;
}
