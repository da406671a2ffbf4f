/* Which noun a descriptor is: by what /proc says when it is first used, or opened; the entry is
 * taken back before it is closed, so that its number may become another file's. Names come from
 * data, so there are only so many: then files are their folder's, and then they have one name
 * together. No memory but our own, no locks: handlers come by here, too. */
#include "io.h"

#include "format/pm_settings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    MAX_FDS = 1 << 16,
    MAX_NAMED = 4096,              /* nouns with a name of their own */
    MAX_NOUNS = MAX_NAMED + 1024,  /* and folders of others */
    TABLE_ENTRIES = 4 * MAX_NAMED, /* a power of two */
    NAME_BYTES = 4096,
    SHORT_BYTES = 512, /* that most names fit into: a thread may have a stack of 16 KiB */
    FOLDER_BYTES = 512,
};

static struct io_noun *by_fd[MAX_FDS];
static struct entry {
    uint64_t hash; /* of kind and name; 0: free */
    struct io_noun noun;
} table[TABLE_ENTRIES];
static uint32_t n_nouns;
static bool names_inodes;

static struct pm_level base;
static struct pm_verb verbs[N_IO_VERBS];
struct pm_metric io_metrics[N_IO_VERBS], io_ns, io_errors;

/* Definitions are equal whoever makes them, so nobody has to wait. */
static void define_words(void)
{
    static const char *const names[N_IO_VERBS] = {PM_IO_VERBS(PM_ADAPTER_WORD)};
    base = pm_define_level(PM_BASE_LEVEL, NULL);
    for (int i = 0; i < N_IO_VERBS; i++)
        verbs[i] = pm_define_verb(base, names[i]);
    io_metrics[IO_READ] = pm_define_metric("bytes_read", "bytes", "bytes");
    io_metrics[IO_WRITE] = pm_define_metric("bytes_written", "bytes", "bytes");
    io_metrics[IO_RECEIVE] = pm_define_metric("bytes_received", "bytes", "bytes");
    io_metrics[IO_SEND] = pm_define_metric("bytes_sent", "bytes", "bytes");
    names_inodes = getenv(PM_SETTING_KERNEL_WRITES) != NULL;
    io_ns = pm_define_metric("io_ns", "ns", "time");
    io_errors = pm_define_metric("io_errors", "calls", "count");
}

bool io_is_measured(void)
{
    static uint32_t ready;
    if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        return true;
    if (!pm_words_of_runtime())
        return false;
    define_words();
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    return true;
}

/* --- nouns by name --- */

static uint64_t hash_of(const char *kind, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *p = kind; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
    hash = (hash ^ '/') * 0x100000001b3u;
    for (const char *p = name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
    return hash | 1;
}

/* Its entry, a new one when there is room for it below the limit; NULL: there is none. */
static struct entry *entry_of(uint64_t hash, uint32_t limit)
{
    for (size_t i = hash >> 8;; i++) {
        struct entry *e = &table[i % TABLE_ENTRIES];
        uint64_t found = __atomic_load_n(&e->hash, __ATOMIC_ACQUIRE);
        if (found == hash)
            return e;
        if (found != 0)
            continue;
        if (__atomic_fetch_add(&n_nouns, 1, __ATOMIC_RELAXED) >= limit) {
            __atomic_fetch_sub(&n_nouns, 1, __ATOMIC_RELAXED);
            return NULL;
        }
        if (__atomic_compare_exchange_n(&e->hash, &found, hash, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return e;
        __atomic_fetch_sub(&n_nouns, 1, __ATOMIC_RELAXED);
        if (found == hash)
            return e;
    }
}

static struct io_noun *named(const char *kind, const char *name, uint32_t limit)
{
    struct entry *e = entry_of(hash_of(kind, name), limit);
    if (!e)
        return NULL;
    if (!__atomic_load_n(&e->noun.noun, __ATOMIC_ACQUIRE)) {
        e->noun.is_socket = !strcmp(kind, "socket");
        __atomic_store_n(&e->noun.noun, pm_define_noun(base, name, kind).id, __ATOMIC_RELEASE);
    }
    return &e->noun;
}

/* "/var/spool/(other files)", then "(other files)", also of a folder whose name is very long. */
static struct io_noun *others_of(const char *kind, const char *name)
{
    char others[FOLDER_BYTES + 32];
    struct io_noun *noun = NULL;
    const char *slash = strrchr(name, '/');
    if (slash && *name == '/' && slash - name <= FOLDER_BYTES) {
        snprintf(others, sizeof others, "%.*s/(other %ss)", (int)(slash - name), name, kind);
        noun = named(kind, others, MAX_NOUNS);
    }
    snprintf(others, sizeof others, "(other %ss)", kind);
    return noun ? noun : named(kind, others, TABLE_ENTRIES - 1);
}

struct io_noun *io_named(const char *kind, const char *name)
{
    struct io_noun *noun = named(kind, name, MAX_NAMED);
    return noun ? noun : others_of(kind, name);
}

/* --- sockets --- */

static struct io_noun *socket_named(const char *protocol, const char *rest)
{
    char name[192];
    snprintf(name, sizeof name, "%s%s", protocol, rest);
    return io_named("socket", name);
}

/* NULL: the address says nothing. */
static struct io_noun *by_address(const struct sockaddr *address, socklen_t bytes,
                                  const char *protocol)
{
    char text[160], host[INET6_ADDRSTRLEN];
    const struct sockaddr_un *local = (const void *)address;
    const struct sockaddr_in *v4 = (const void *)address;
    const struct sockaddr_in6 *v6 = (const void *)address;
    size_t path_bytes = bytes > offsetof(struct sockaddr_un, sun_path)
                            ? bytes - offsetof(struct sockaddr_un, sun_path)
                            : 0;
    if (bytes < sizeof address->sa_family)
        return NULL;
    if (address->sa_family == AF_UNIX && path_bytes > 0 && path_bytes <= sizeof local->sun_path) {
        bool abstract = !local->sun_path[0];
        snprintf(text, sizeof text, " %s%.*s", abstract ? "@" : "",
                 (int)(path_bytes - (size_t)abstract), local->sun_path + abstract);
        return socket_named("unix", text);
    }
    if (address->sa_family == AF_INET && bytes >= sizeof *v4 && v4->sin_port) {
        snprintf(text, sizeof text, " %s:%u", inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host),
                 ntohs(v4->sin_port));
        return socket_named(protocol, text);
    }
    if (address->sa_family == AF_INET6 && bytes >= sizeof *v6 && v6->sin6_port) {
        snprintf(text, sizeof text, " [%s]:%u",
                 inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host), ntohs(v6->sin6_port));
        return socket_named(protocol, text);
    }
    return NULL;
}

static const char *protocol_of(int fd)
{
    int type = 0;
    socklen_t bytes = sizeof type;
    if (!pm_adapter_may(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE) ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0)
        return "socket";
    return type == SOCK_STREAM ? "tcp" : type == SOCK_DGRAM ? "udp" : "socket";
}

struct io_noun *io_peer(const struct sockaddr *address, socklen_t bytes, int fd)
{
    int error_no = errno;
    struct io_noun *noun = address ? by_address(address, bytes, protocol_of(fd)) : NULL;
    errno = error_no;
    return noun ? noun : io_noun_of(fd);
}

/* Whom it is connected to; else where it is. */
static struct io_noun *socket_noun(int fd)
{
    static const struct {
        long number;
        int (*ask)(int, struct sockaddr *restrict, socklen_t *restrict);
    } ways[] = {{SYS_getpeername, getpeername}, {SYS_getsockname, getsockname}};
    const char *protocol = protocol_of(fd);
    struct sockaddr_storage address;
    struct io_noun *noun = NULL;
    address.ss_family = AF_UNSPEC;
    for (int i = 0; i < 2 && !noun; i++) {
        socklen_t bytes = sizeof address;
        if (pm_adapter_may(ways[i].number, fd, (long)&address, (long)&bytes) &&
            ways[i].ask(fd, (struct sockaddr *)&address, &bytes) == 0)
            noun = by_address((struct sockaddr *)&address, bytes, protocol);
    }
    if (noun)
        return noun;
    return socket_named(address.ss_family == AF_UNIX      ? "unix"
                        : address.ss_family == AF_NETLINK ? "netlink"
                                                          : protocol,
                        " (no address)");
}

/* --- descriptors --- */

static bool ends_with(const char *text, size_t n, const char *end)
{
    return n > strlen(end) && !memcmp(text + n - strlen(end), end, strlen(end));
}

static bool may_write(int fd)
{
    int flags = pm_adapter_may(SYS_fcntl, fd, F_GETFL, 0) ? fcntl(fd, F_GETFL) : -1;
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/* perfmap run --kernel-writes: the kernel knows files by device and inode, so these are a noun
 * below the file's. */
static void define_inode(int fd, const struct io_noun *file)
{
    struct stat status;
    char name[64];
    if (!names_inodes || !may_write(fd) ||
        !pm_adapter_may(SYS_newfstatat, fd, (long)"", (long)&status) || fstat(fd, &status) != 0 ||
        !S_ISREG(status.st_mode))
        return;
    snprintf(name, sizeof name, "%u:%u:%llu", major(status.st_dev), minor(status.st_dev),
             (unsigned long long)status.st_ino);
    struct pm_noun_facts facts = {.name = name, .kind = "inode", .parent = file->noun};
    (void)pm_define_noun_at(base, &facts);
}

/* "socket:[1]", "pipe:[2]", "anon_inode:[eventfd]", "/memfd:name (deleted)", a path. */
static struct io_noun *by_link(int fd, char *text, size_t n)
{
    size_t prefix = strcspn(text, ":");
    if (ends_with(text, n, " (deleted)"))
        text[n -= strlen(" (deleted)")] = 0;
    if (*text == '/') {
        bool is_device = !strncmp(text, "/dev/", 5) && strncmp(text, "/dev/shm/", 9) != 0;
        struct io_noun *noun = io_named(is_device ? "device" : "file", text);
        define_inode(fd, noun);
        return noun;
    }
    if (text[prefix] != ':')
        return io_named("descriptor", text);
    char *inner = text + prefix + 1 + (text[prefix + 1] == '[');
    text[prefix] = 0;
    if (ends_with(inner, strlen(inner), "]"))
        inner[strlen(inner) - 1] = 0;
    if (!strcmp(text, "socket"))
        return socket_noun(fd);
    if (strcmp(text, "pipe") != 0)
        return io_named("descriptor", inner);
    char name[64];
    snprintf(name, sizeof name, "pipe %.40s", inner);
    return io_named("pipe", name);
}

/* Where a name has no room on the stack. NULL: as below. */
static struct io_noun *look_at_long(int fd, const char *path)
{
    struct io_noun *noun = NULL;
    if (!pm_adapter_may(SYS_mmap, 0, NAME_BYTES, PROT_READ | PROT_WRITE) ||
        !pm_adapter_may(SYS_munmap, 0, NAME_BYTES, 0))
        return NULL;
    char *text = mmap(NULL, NAME_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED)
        return NULL;
    ssize_t n = readlink(path, text, NAME_BYTES - 1);
    if (n > 0) {
        text[n] = 0;
        noun = by_link(fd, text, (size_t)n);
    }
    munmap(text, NAME_BYTES);
    return noun;
}

/* NULL: not open, or nobody may ask. */
static struct io_noun *look(int fd)
{
    char path[32], text[SHORT_BYTES];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || !pm_adapter_may(SYS_readlink, (long)path, (long)text, (long)sizeof text))
        return NULL;
    ssize_t n = readlink(path, text, sizeof text);
    if (n <= 0)
        return NULL;
    if ((size_t)n == sizeof text)
        return look_at_long(fd, path);
    text[n] = 0;
    return by_link(fd, text, (size_t)n);
}

struct io_noun *io_noun_of_open(int fd)
{
    struct io_noun *noun =
        (unsigned)fd < MAX_FDS ? __atomic_load_n(&by_fd[fd], __ATOMIC_ACQUIRE) : NULL;
    if (__builtin_expect(noun != NULL, 1))
        return noun;
    int error_no = errno;
    if (fd >= 0 && pm_adapter_may(SYS_fcntl, fd, F_GETFD, 0) && fcntl(fd, F_GETFD) >= 0)
        noun = look(fd);
    if (noun)
        io_set(fd, noun);
    errno = error_no;
    return noun;
}

/* Whatever fd was before. */
struct io_noun *io_opened(int fd)
{
    int error_no = errno;
    struct io_noun *noun = look(fd);
    io_set(fd, noun);
    errno = error_no;
    return noun ? noun : io_named("descriptor", "(unknown)");
}

struct io_noun *io_noun_of(int fd)
{
    struct io_noun *noun = io_noun_of_open(fd);
    return noun ? noun : io_named("descriptor", "(unknown)");
}

/* A child by vfork shares our memory, not our descriptors. Whose memory this is stands in a page
 * that children by fork find empty; it is written before such a child can come first, but for
 * forks that libc does not know of. */
static bool is_own(void)
{
    static pid_t *own;
    pid_t *page = __atomic_load_n(&own, __ATOMIC_ACQUIRE);
    if (!page) {
        if (!pm_adapter_may(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE))
            return true;
        void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED || madvise(memory, 4096, MADV_WIPEONFORK) != 0)
            return true;
        page = memory;
        __atomic_store_n(&own, page, __ATOMIC_RELEASE);
    }
    if (!pm_adapter_may(SYS_getpid, 0, 0, 0))
        return true;
    pid_t pid = getpid();
    if (!*page)
        *page = pid;
    return *page == pid;
}

static void note_own(void)
{
    int error_no = errno;
    (void)is_own();
    errno = error_no;
}

__attribute__((constructor)) static void begin(void)
{
    note_own();
    pthread_atfork(NULL, NULL, note_own);
}

void io_set(int fd, struct io_noun *noun)
{
    int error_no = errno;
    if ((unsigned)fd < MAX_FDS && by_fd[fd] != noun && is_own())
        __atomic_store_n(&by_fd[fd], noun, __ATOMIC_RELEASE);
    errno = error_no;
}

void io_forget(unsigned first, unsigned last)
{
    for (unsigned fd = first; fd <= last && fd < MAX_FDS; fd++)
        if (by_fd[fd])
            io_set((int)fd, NULL);
}

/* --- a call --- */

struct io_call io_call(struct io_noun *noun, enum io_verb verb, const void *caller)
{
    if (noun->is_socket && verb == IO_READ)
        verb = IO_RECEIVE;
    else if (noun->is_socket && verb == IO_WRITE)
        verb = IO_SEND;
    uint32_t sentence = __atomic_load_n(&noun->sentences[verb], __ATOMIC_RELAXED);
    if (!sentence) {
        struct pm_noun one = {noun->noun};
        sentence = pm_define_sentence(verbs[verb], &one, 1).id;
        __atomic_store_n(&noun->sentences[verb], sentence, __ATOMIC_RELAXED);
    }
    struct pm_sentence call = pm_called_from((struct pm_sentence){sentence}, caller);
    return (struct io_call){call, verb, pm_adapter_now_ns()};
}

void io_cost(const struct io_call *call, ssize_t result)
{
    uint64_t end_ns = pm_adapter_now_ns();
    if (result < 0)
        pm_cost(io_errors, 1);
    else if (result > 0 && io_metrics[call->verb].id)
        pm_cost(io_metrics[call->verb], (uint64_t)result);
    if (call->start_ns && end_ns > call->start_ns)
        pm_cost(io_ns, end_ns - call->start_ns);
}
