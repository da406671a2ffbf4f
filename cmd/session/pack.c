/* Packing run files while the program runs (pack.h).
 *
 * A file is packed when nobody can write to it any more: the kernel grants a lease to read only
 * when no process has it open, or mapped, to write. It tells of each end of that (inotify), so
 * nothing is looked for. The packed file takes the place of the other by rename: whoever is
 * killed meanwhile leaves one of the two.
 */
#include "pack.h"

#include "mapping/code/blame.h"
#include "mapping/run/run_pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LEAST_BYTES = 256 * 1024, /* smaller ones are hardly worth a look */
    /* All of a run; at its end packing takes 2 ms of CPU time a MiB, a fifth of what a short run
     * of SQLite costs in all. */
    LEAST_ALL_BYTES = 2 * 1024 * 1024,
    PREPARE_MS = 20, /* shorter ones hardly have samples */
    /* Shorter runs are not worth it, and the end of a watch takes the kernel some 15 ms. */
    FIRST_MS = 500,
    NICE = 10, /* a tenth of what the program's threads get where all want to run */
};

/* Who ends it waits for the thread only when it is at work: it has little priority, and on a
 * busy machine takes a while to begin anything. */
enum state { IDLE, BUSY, LEFT, STOPPED }; /* left: the thread releases it, some time */

struct session_pack {
    int dir, events;
    char *run_dir;
    atomic_int state;
    bool is_nice, has_begun, prepares;
    pthread_t thread;
};

static bool goes_on(void *context)
{
    struct session_pack *pack = context;
    return atomic_load(&pack->state) != STOPPED;
}

static bool change(struct session_pack *pack, int from, int to)
{
    return atomic_compare_exchange_strong(&pack->state, &from, to);
}

/* --- one file --- */

/* No process has it open to write, or mapped so. */
static bool is_free(int fd)
{
    if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
        return false;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return true;
}

static bool is_large(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= LEAST_BYTES;
}

/* Not before there is something to do: a process ends when its last thread has had the CPU to
 * end. */
static void be_nice(struct session_pack *pack)
{
    if (!pack->is_nice)
        (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    pack->is_nice = true;
}

/* pack: whose end to look for; NULL: nobody's. */
static void pack_file(int dir, const char *name, struct session_pack *pack)
{
    char temporary[NAME_MAX + 1];
    if (!pm_str_ends_with(name, ".pmr") || strlen(name) + 4 > NAME_MAX)
        return;
    snprintf(temporary, sizeof temporary, "%s.tmp", name);
    int from = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool wanted = from >= 0 && is_large(from) && is_free(from);
    if (wanted && pack)
        be_nice(pack);
    int to =
        wanted ? openat(dir, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)
               : -1;
    bool good = to >= 0 && pm_run_pack(from, to, pack ? goes_on : NULL, pack, NULL) == PM_OK;
    if (to >= 0) {
        good = close(to) == 0 && good;
        if (!good || renameat(dir, temporary, dir, name) != 0)
            unlinkat(dir, temporary, 0);
    }
    if (from >= 0)
        close(from);
}

static void pack_all(const char *run_dir, struct session_pack *pack)
{
    int fd = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = opendir(run_dir);
    for (struct dirent *entry;
         fd >= 0 && dir && (!pack || goes_on(pack)) && (entry = readdir(dir)) != NULL;)
        pack_file(fd, entry->d_name, pack);
    if (dir)
        closedir(dir);
    if (fd >= 0)
        close(fd);
}

/* --- while the program runs --- */

static void take_events(struct session_pack *pack)
{
    _Alignas(struct inotify_event) char bytes[16 * 1024];
    ssize_t n = read(pack->events, bytes, sizeof bytes);
    for (char *p = bytes; n > 0 && p < bytes + n && goes_on(pack);) {
        const struct inotify_event *event = (const struct inotify_event *)(const void *)p;
        if (event->len)
            pack_file(pack->dir, event->name, pack);
        p += sizeof *event + event->len;
    }
}

static void release(struct session_pack *pack)
{
    if (pack->dir >= 0)
        close(pack->dir);
    if (pack->events >= 0)
        close(pack->events);
    free(pack->run_dir);
    free(pack);
}

/* From now on; and what has ended before. */
static void watch(struct session_pack *pack)
{
    pack->has_begun = true;
    pack->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (pack->events >= 0 && inotify_add_watch(pack->events, pack->run_dir, IN_CLOSE_WRITE) >= 0)
        pack_all(pack->run_dir, pack);
}

static void *pack_main(void *argument)
{
    struct session_pack *pack = argument;
    struct pollfd events = {.fd = pack->events, .events = POLLIN};
    (void)poll(NULL, 0, PREPARE_MS);
    if (pack->prepares && atomic_load(&pack->state) == IDLE)
        pm_blame_prepare();
    for (;; events.fd = pack->events) {
        (void)poll(&events, 1, events.fd < 0 && !pack->has_begun ? FIRST_MS : -1);
        if (!change(pack, IDLE, BUSY)) {
            release(pack);
            return NULL;
        }
        if (pack->has_begun)
            take_events(pack);
        else
            watch(pack);
        if (!change(pack, BUSY, IDLE))
            return NULL; /* somebody waits for that */
    }
}

static bool start(struct session_pack *pack)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&pack->thread, NULL, pack_main, pack) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

/* Whoever opens a file to write while the lease is held sends this, which ends a process that
 * does not look. */
static void ignore_breaks(void)
{
    (void)signal(SIGIO, SIG_IGN);
}

struct session_pack *session_pack_begin(const char *run_dir, bool prepares)
{
    struct session_pack *pack = pm_alloc(sizeof *pack);
    if (!pack)
        return NULL;
    ignore_breaks();
    atomic_init(&pack->state, IDLE);
    pack->prepares = prepares;
    pack->dir = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pack->events = -1;
    pack->run_dir = pm_strndup(run_dir, strlen(run_dir));
    if (pack->dir >= 0 && pack->run_dir && start(pack))
        return pack;
    release(pack);
    return NULL;
}

void session_pack_end(struct session_pack *pack)
{
    if (!pack)
        return;
    pthread_t thread = pack->thread;
    for (;;) {
        if (change(pack, IDLE, LEFT)) {
            pthread_detach(thread);
            return;
        }
        if (change(pack, BUSY, STOPPED)) {
            pthread_join(thread, NULL);
            release(pack);
            return;
        }
    }
}

static bool is_much(const char *run_dir)
{
    off_t n_bytes = 0;
    DIR *dir = opendir(run_dir);
    struct stat status;
    for (struct dirent *entry; dir && n_bytes < LEAST_ALL_BYTES && (entry = readdir(dir)) != NULL;)
        if (fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
            n_bytes += status.st_size;
    if (dir)
        closedir(dir);
    return n_bytes >= LEAST_ALL_BYTES;
}

void session_pack_rest(const char *run_dir)
{
    if (!is_much(run_dir))
        return;
    ignore_breaks();
    pack_all(run_dir, NULL);
}
