/* System calls of input and output, by the functions of libc that make them. What they return,
 * and errno, is what the real ones do; a call that fails is a call. */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#define NOT_FOUND (errno = ENOSYS, -1) /* this libc does not have it */

/* --- calls of one descriptor --- */

#define CALL(type, name, parameters, arguments, of, verb)                        \
    PM_ADAPTER_LIBC(type, name, parameters)                                      \
    PM_ADAPTER_EXPORT type name parameters;                                      \
    PM_ADAPTER_EXPORT type name parameters                                       \
    {                                                                            \
        if (!PM_ADAPTER_FOUND(name))                                             \
            return NOT_FOUND;                                                    \
        if (!io_is_measured())                                                   \
            return real_##name arguments;                                        \
        const struct io_call call = io_call((of), IO_##verb, PM_ADAPTER_CALLER); \
        pm_enter(call.sentence);                                                 \
        type result = real_##name arguments;                                     \
        io_cost(&call, (ssize_t)result);                                         \
        pm_leave(call.sentence);                                                 \
        return result;                                                           \
    }
#define OF_FD(type, name, parameters, arguments, verb) \
    CALL(type, name, parameters, arguments, io_noun_of(fd), verb)

#define BUFFER (int fd, void *bytes, size_t n)
#define CONST_BUFFER (int fd, const void *bytes, size_t n)
#define VECTOR (int fd, const struct iovec *parts, int n)
OF_FD(ssize_t, read, BUFFER, (fd, bytes, n), READ)
OF_FD(ssize_t, __read_chk, (int fd, void *bytes, size_t n, size_t room), (fd, bytes, n, room), READ)
OF_FD(ssize_t, pread, (int fd, void *bytes, size_t n, off_t at), (fd, bytes, n, at), READ)
OF_FD(ssize_t, pread64, (int fd, void *bytes, size_t n, off64_t at), (fd, bytes, n, at), READ)
OF_FD(ssize_t, __pread_chk, (int fd, void *bytes, size_t n, off_t at, size_t room),
      (fd, bytes, n, at, room), READ)
OF_FD(ssize_t, __pread64_chk, (int fd, void *bytes, size_t n, off64_t at, size_t room),
      (fd, bytes, n, at, room), READ)
OF_FD(ssize_t, readv, VECTOR, (fd, parts, n), READ)
OF_FD(ssize_t, preadv, (int fd, const struct iovec *parts, int n, off_t at), (fd, parts, n, at),
      READ)
OF_FD(ssize_t, preadv64, (int fd, const struct iovec *parts, int n, off64_t at), (fd, parts, n, at),
      READ)
OF_FD(ssize_t, preadv2, (int fd, const struct iovec *parts, int n, off_t at, int flags),
      (fd, parts, n, at, flags), READ)
OF_FD(ssize_t, preadv64v2, (int fd, const struct iovec *parts, int n, off64_t at, int flags),
      (fd, parts, n, at, flags), READ)

OF_FD(ssize_t, write, CONST_BUFFER, (fd, bytes, n), WRITE)
OF_FD(ssize_t, pwrite, (int fd, const void *bytes, size_t n, off_t at), (fd, bytes, n, at), WRITE)
OF_FD(ssize_t, pwrite64, (int fd, const void *bytes, size_t n, off64_t at), (fd, bytes, n, at),
      WRITE)
OF_FD(ssize_t, writev, VECTOR, (fd, parts, n), WRITE)
OF_FD(ssize_t, pwritev, (int fd, const struct iovec *parts, int n, off_t at), (fd, parts, n, at),
      WRITE)
OF_FD(ssize_t, pwritev64, (int fd, const struct iovec *parts, int n, off64_t at),
      (fd, parts, n, at), WRITE)
OF_FD(ssize_t, pwritev2, (int fd, const struct iovec *parts, int n, off_t at, int flags),
      (fd, parts, n, at, flags), WRITE)
OF_FD(ssize_t, pwritev64v2, (int fd, const struct iovec *parts, int n, off64_t at, int flags),
      (fd, parts, n, at, flags), WRITE)

OF_FD(int, fsync, (int fd), (fd), SYNC)
OF_FD(int, fdatasync, (int fd), (fd), SYNC)
OF_FD(int, syncfs, (int fd), (fd), SYNC)
OF_FD(int, sync_file_range, (int fd, off64_t from, off64_t n, unsigned flags), (fd, from, n, flags),
      SYNC)
OF_FD(int, ftruncate, (int fd, off_t bytes), (fd, bytes), RESIZE)
OF_FD(int, ftruncate64, (int fd, off64_t bytes), (fd, bytes), RESIZE)
OF_FD(int, fallocate, (int fd, int mode, off_t from, off_t n), (fd, mode, from, n), RESIZE)
OF_FD(int, fallocate64, (int fd, int mode, off64_t from, off64_t n), (fd, mode, from, n), RESIZE)

OF_FD(ssize_t, recv, (int fd, void *bytes, size_t n, int flags), (fd, bytes, n, flags), RECEIVE)
OF_FD(ssize_t, __recv_chk, (int fd, void *bytes, size_t n, size_t room, int flags),
      (fd, bytes, n, room, flags), RECEIVE)
OF_FD(ssize_t, recvfrom,
      (int fd, void *restrict bytes, size_t n, int flags, __SOCKADDR_ARG from,
       socklen_t *restrict from_bytes),
      (fd, bytes, n, flags, from, from_bytes), RECEIVE)
OF_FD(ssize_t, __recvfrom_chk,
      (int fd, void *restrict bytes, size_t n, size_t room, int flags, __SOCKADDR_ARG from,
       socklen_t *restrict from_bytes),
      (fd, bytes, n, room, flags, from, from_bytes), RECEIVE)
OF_FD(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), RECEIVE)
OF_FD(ssize_t, send, (int fd, const void *bytes, size_t n, int flags), (fd, bytes, n, flags), SEND)
OF_FD(ssize_t, sendto,
      (int fd, const void *bytes, size_t n, int flags, __CONST_SOCKADDR_ARG to, socklen_t to_bytes),
      (fd, bytes, n, flags, to, to_bytes), SEND)
OF_FD(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags),
      SEND)

/* Waiting for several: {(several) Wait}. */
static struct io_noun *waited_for(const struct pollfd *fds, nfds_t n)
{
    return n == 1 ? io_noun_of(fds->fd) : io_named("descriptor", "(several)");
}
CALL(int, poll, (struct pollfd * fds, nfds_t n, int limit_ms), (fds, n, limit_ms),
     waited_for(fds, n), WAIT)
CALL(int, ppoll,
     (struct pollfd * fds, nfds_t n, const struct timespec *limit, const sigset_t *mask),
     (fds, n, limit, mask), waited_for(fds, n), WAIT)
CALL(int, __poll_chk, (struct pollfd * fds, nfds_t n, int limit_ms, size_t room),
     (fds, n, limit_ms, room), waited_for(fds, n), WAIT)
CALL(int, __ppoll_chk,
     (struct pollfd * fds, nfds_t n, const struct timespec *limit, const sigset_t *mask,
      size_t room),
     (fds, n, limit, mask, room), waited_for(fds, n), WAIT)
CALL(int, select,
     (int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict others,
      struct timeval *restrict limit),
     (n, in, out, others, limit), waited_for(NULL, 0), WAIT)
CALL(int, pselect,
     (int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict others,
      const struct timespec *restrict limit, const sigset_t *restrict mask),
     (n, in, out, others, limit, mask), waited_for(NULL, 0), WAIT)
OF_FD(int, epoll_wait, (int fd, struct epoll_event *events, int n, int limit_ms),
      (fd, events, n, limit_ms), WAIT)
OF_FD(int, epoll_pwait,
      (int fd, struct epoll_event *events, int n, int limit_ms, const sigset_t *mask),
      (fd, events, n, limit_ms, mask), WAIT)

PM_ADAPTER_LIBC(void, sync, (void))
PM_ADAPTER_EXPORT void sync(void)
{
    if (!PM_ADAPTER_FOUND(sync))
        return;
    if (!io_is_measured()) {
        real_sync();
        return;
    }
    const struct io_call call =
        io_call(io_named("file", "(all files)"), IO_SYNC, PM_ADAPTER_CALLER);
    pm_enter(call.sentence);
    real_sync();
    io_cost(&call, 0);
    pm_leave(call.sentence);
}

/* --- many messages --- */

static ssize_t bytes_of(const struct mmsghdr *messages, int n)
{
    ssize_t bytes = n < 0 ? -1 : 0;
    for (int i = 0; i < n; i++)
        bytes += messages[i].msg_len;
    return bytes;
}

#define MESSAGES(name, parameters, arguments, verb)                                        \
    PM_ADAPTER_LIBC(int, name, parameters)                                                 \
    PM_ADAPTER_EXPORT int name parameters                                                  \
    {                                                                                      \
        if (!PM_ADAPTER_FOUND(name))                                                       \
            return NOT_FOUND;                                                              \
        if (!io_is_measured())                                                             \
            return real_##name arguments;                                                  \
        const struct io_call call = io_call(io_noun_of(fd), IO_##verb, PM_ADAPTER_CALLER); \
        pm_enter(call.sentence);                                                           \
        int result = real_##name arguments;                                                \
        io_cost(&call, bytes_of(messages, result));                                        \
        pm_leave(call.sentence);                                                           \
        return result;                                                                     \
    }
MESSAGES(recvmmsg,
         (int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *limit),
         (fd, messages, n, flags, limit), RECEIVE)
MESSAGES(sendmmsg, (int fd, struct mmsghdr *messages, unsigned n, int flags),
         (fd, messages, n, flags), SEND)

/* --- from one descriptor to another: both are active, the time is the second's --- */

#define COPY(name, parameters, arguments)                                                \
    PM_ADAPTER_LIBC(ssize_t, name, parameters)                                           \
    PM_ADAPTER_EXPORT ssize_t name parameters                                            \
    {                                                                                    \
        if (!PM_ADAPTER_FOUND(name))                                                     \
            return NOT_FOUND;                                                            \
        if (!io_is_measured())                                                           \
            return real_##name arguments;                                                \
        struct io_call from = io_call(io_noun_of(in), IO_READ, PM_ADAPTER_CALLER);       \
        const struct io_call to = io_call(io_noun_of(out), IO_WRITE, PM_ADAPTER_CALLER); \
        from.start_ns = 0;                                                               \
        pm_enter(from.sentence);                                                         \
        pm_enter(to.sentence);                                                           \
        ssize_t result = real_##name arguments;                                          \
        io_cost(&to, result);                                                            \
        pm_leave(to.sentence);                                                           \
        io_cost(&from, result);                                                          \
        pm_leave(from.sentence);                                                         \
        return result;                                                                   \
    }
COPY(sendfile, (int out, int in, off_t *at, size_t n), (out, in, at, n))
COPY(sendfile64, (int out, int in, off64_t *at, size_t n), (out, in, at, n))
COPY(copy_file_range, (int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned flags),
     (in, in_at, out, out_at, n, flags))
COPY(splice, (int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned flags),
     (in, in_at, out, out_at, n, flags))

/* --- descriptors come and go --- */

/* What it is can be told when it is open. */
static int opened(uint64_t start_ns, int fd, const void *caller)
{
    struct io_noun *noun = fd >= 0 ? io_opened(fd) : io_named("file", "(cannot be opened)");
    struct io_call call = io_call(noun, IO_OPEN, caller);
    call.start_ns = start_ns;
    pm_enter(call.sentence);
    io_cost(&call, fd < 0 ? -1 : 0);
    pm_leave(call.sentence);
    return fd;
}

static bool needs_mode(int flags)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPEN(name, parameters, arguments)                                  \
    PM_ADAPTER_LIBC(int, name, parameters)                                 \
    PM_ADAPTER_EXPORT int name parameters;                                 \
    PM_ADAPTER_EXPORT int name parameters                                  \
    {                                                                      \
        if (!PM_ADAPTER_FOUND(name))                                       \
            return NOT_FOUND;                                              \
        if (!io_is_measured())                                             \
            return real_##name arguments;                                  \
        uint64_t start_ns = pm_adapter_now_ns();                           \
        return opened(start_ns, real_##name arguments, PM_ADAPTER_CALLER); \
    }
OPEN(creat, (const char *path, mode_t mode), (path, mode))
OPEN(creat64, (const char *path, mode_t mode), (path, mode))
OPEN(__open_2, (const char *path, int flags), (path, flags))
OPEN(__open64_2, (const char *path, int flags), (path, flags))
OPEN(__openat_2, (int folder, const char *path, int flags), (folder, path, flags))
OPEN(__openat64_2, (int folder, const char *path, int flags), (folder, path, flags))

/* A mode is given only where it is needed. */
#define OPEN_MODE(name, parameters, ...)                                            \
    PM_ADAPTER_LIBC(int, name, parameters)                                          \
    PM_ADAPTER_EXPORT int name parameters                                           \
    {                                                                               \
        mode_t mode = 0;                                                            \
        if (needs_mode(flags)) {                                                    \
            va_list list;                                                           \
            va_start(list, flags);                                                  \
            mode = va_arg(list, mode_t);                                            \
            va_end(list);                                                           \
        }                                                                           \
        if (!PM_ADAPTER_FOUND(name))                                                \
            return NOT_FOUND;                                                       \
        if (!io_is_measured())                                                      \
            return real_##name(__VA_ARGS__, mode);                                  \
        uint64_t start_ns = pm_adapter_now_ns();                                    \
        return opened(start_ns, real_##name(__VA_ARGS__, mode), PM_ADAPTER_CALLER); \
    }
OPEN_MODE(open, (const char *path, int flags, ...), path, flags)
OPEN_MODE(open64, (const char *path, int flags, ...), path, flags)
OPEN_MODE(openat, (int folder, const char *path, int flags, ...), folder, path, flags)
OPEN_MODE(openat64, (int folder, const char *path, int flags, ...), folder, path, flags)

PM_ADAPTER_LIBC(int, close, (int fd))
PM_ADAPTER_EXPORT int close(int fd)
{
    if (!PM_ADAPTER_FOUND(close))
        return NOT_FOUND;
    struct io_noun *noun = io_is_measured() ? io_noun_of_open(fd) : NULL;
    if (!noun)
        return real_close(fd);
    const struct io_call call = io_call(noun, IO_CLOSE, PM_ADAPTER_CALLER);
    io_set(fd, NULL);
    pm_enter(call.sentence);
    int result = real_close(fd);
    io_cost(&call, result);
    pm_leave(call.sentence);
    return result;
}

PM_ADAPTER_LIBC(int, close_range, (unsigned first, unsigned last, int flags))
PM_ADAPTER_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    if (io_is_measured() && !(flags & 4)) /* not only marked for exec */
        io_forget(first, last);
    return PM_ADAPTER_FOUND(close_range) ? real_close_range(first, last, flags) : NOT_FOUND;
}

PM_ADAPTER_LIBC(void, closefrom, (int first))
PM_ADAPTER_EXPORT void closefrom(int first)
{
    if (io_is_measured())
        io_forget(first < 0 ? 0 : (unsigned)first, ~0u);
    if (PM_ADAPTER_FOUND(closefrom))
        real_closefrom(first);
}

#define DUPLICATE(name, parameters, arguments)                                   \
    PM_ADAPTER_LIBC(int, name, parameters)                                       \
    PM_ADAPTER_EXPORT int name parameters                                        \
    {                                                                            \
        int result = PM_ADAPTER_FOUND(name) ? real_##name arguments : NOT_FOUND; \
        if (result >= 0 && io_is_measured())                                     \
            io_set(to, io_noun_of_open(from));                                   \
        return result;                                                           \
    }
DUPLICATE(dup2, (int from, int to), (from, to))
DUPLICATE(dup3, (int from, int to, int flags), (from, to, flags))

/* Whoever is accepted counts for the address that it came to. */
#define ACCEPT(name, parameters, arguments)                                      \
    PM_ADAPTER_LIBC(int, name, parameters)                                       \
    PM_ADAPTER_EXPORT int name parameters                                        \
    {                                                                            \
        if (!PM_ADAPTER_FOUND(name))                                             \
            return NOT_FOUND;                                                    \
        if (!io_is_measured())                                                   \
            return real_##name arguments;                                        \
        struct io_noun *noun = io_noun_of(fd);                                   \
        const struct io_call call = io_call(noun, IO_ACCEPT, PM_ADAPTER_CALLER); \
        pm_enter(call.sentence);                                                 \
        int result = real_##name arguments;                                      \
        io_cost(&call, result < 0 ? -1 : 0);                                     \
        pm_leave(call.sentence);                                                 \
        if (result >= 0)                                                         \
            io_set(result, noun);                                                \
        return result;                                                           \
    }
ACCEPT(accept, (int fd, __SOCKADDR_ARG address, socklen_t *restrict bytes), (fd, address, bytes))
ACCEPT(accept4, (int fd, __SOCKADDR_ARG address, socklen_t *restrict bytes, int flags),
       (fd, address, bytes, flags))

PM_ADAPTER_LIBC(int, connect, (int fd, __CONST_SOCKADDR_ARG address, socklen_t bytes))
PM_ADAPTER_EXPORT int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t bytes)
{
    if (!PM_ADAPTER_FOUND(connect))
        return NOT_FOUND;
    if (!io_is_measured())
        return real_connect(fd, address, bytes);
    struct io_noun *noun = io_peer(address.__sockaddr__, bytes, fd);
    const struct io_call call = io_call(noun, IO_CONNECT, PM_ADAPTER_CALLER);
    pm_enter(call.sentence);
    int result = real_connect(fd, address, bytes);
    io_cost(&call, result);
    pm_leave(call.sentence);
    if (result == 0 || errno == EINPROGRESS)
        io_set(fd, noun);
    return result;
}
