/* Input and output at level Base: files, sockets, pipes as nouns, found while the program runs;
 * what the kernel is asked to do with them as verbs.
 *
 *   calls.c    system calls, by the functions of libc that make them
 *   files.c    which noun a descriptor is
 *   stdio.c    what libc's FILEs ask of the kernel, and on whose behalf
 *
 * libperfmap-io.so, for `perfmap run --adapter io`. One call of the kernel is one {noun verb};
 * its metrics are bytes and io_ns.
 */
#ifndef PM_ADAPTER_IO_H
#define PM_ADAPTER_IO_H

#include "runtime/adapters/adapter.h"

#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#define IO_VERB(NAME, word) IO_##NAME,
enum io_verb { PM_IO_VERBS(IO_VERB) N_IO_VERBS };
#undef IO_VERB

struct io_noun {
    uint32_t noun;
    bool is_socket;
    uint32_t sentences[N_IO_VERBS]; /* 0: not yet asked for */
};

/* --- files.c --- */

/* Is anybody measuring? Then the words are there. */
bool io_is_measured(void);
extern struct pm_metric io_metrics[N_IO_VERBS]; /* bytes, by verb; id 0: none */
extern struct pm_metric io_ns, io_errors;

/* What a descriptor is, never NULL. */
struct io_noun *io_noun_of(int fd);
/* The same when it is known or open; NULL: it is not open. */
struct io_noun *io_noun_of_open(int fd);
/* fd was just opened. */
struct io_noun *io_opened(int fd);
struct io_noun *io_named(const char *kind, const char *name);
struct io_noun *io_peer(const struct sockaddr *address, socklen_t bytes, int fd);
/* From now on fd is that one; NULL: whoever asks looks. Does nothing in children that share our
 * memory (vfork). */
void io_set(int fd, struct io_noun *noun);
void io_forget(unsigned first, unsigned last);

/* A call of the kernel: between pm_enter and pm_leave. Reading from a socket is receiving,
 * writing to one sending. */
struct io_call {
    struct pm_sentence sentence;
    enum io_verb verb;
    uint64_t start_ns;
};
/* caller: what libc's function returns to; NULL: that is no code of the program. */
struct io_call io_call(struct io_noun *noun, enum io_verb verb, const void *caller);
/* result: -1 failed, else bytes. */
void io_cost(const struct io_call *call, ssize_t result);

#endif
