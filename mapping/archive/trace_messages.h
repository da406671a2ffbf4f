/* Which events of a trace are the two ends of one message of MPI, by what the adapter said of them:
 * {MPI_COMM_WORLD, "rank 1", "tag 7" Send} on rank 0, {..., "rank 0", "tag 7" Receive} on rank 1.
 *
 *     struct pm_trace_messages *messages;
 *     if (pm_trace_messages_open(trace, archive, &err, &messages) != PM_OK) ...
 *     struct pm_trace_message message;
 *     if (pm_trace_message(messages, thread, sentence, &message)) // at each enter
 *         use(message.id, message.is_send);
 *     pm_trace_messages_free(messages);
 *
 * Messages of one sender, receiver, communicator and tag arrive in the order they were sent (MPI
 * 4.0, 3.5), so the n-th Send and the n-th Receive of them are one message: no clock is needed.
 * Where that does not hold nothing is a message: see pm_trace_messages_left_out. Memory: a number
 * for each channel. Events of a thread must come in order. One thread.
 */
#ifndef PM_TRACE_MESSAGES_H
#define PM_TRACE_MESSAGES_H

#include "trace.h"

struct pm_trace_messages;

enum pm_trace_message_end { PM_TRACE_NO_MESSAGE, PM_TRACE_SEND, PM_TRACE_RECEIVE };

struct pm_trace_message {
    bool is_send;
    uint64_t id;       /* the same at both ends; another for each message, up to chance in 2^64 */
    int64_t peer_rank; /* at the other end, in the communicator */
    int64_t own_rank;
    uint32_t communicator; /* row of its noun */
    uint32_t tag;
    /* the process at the other end: the first thread of it that has a trace; SIZE_MAX: none */
    size_t peer_thread;
};

/* The archive must outlive it. Without words of MPI nothing is a message. */
PM_MUST_CHECK enum pm_status pm_trace_messages_open(struct pm_trace *trace,
                                                    struct pm_archive *archive,
                                                    struct pm_error *err,
                                                    struct pm_trace_messages **ret_messages);
void pm_trace_messages_free(struct pm_trace_messages *messages);
/* Which end a sentence is. */
enum pm_trace_message_end pm_trace_message_end(const struct pm_trace_messages *messages,
                                               uint32_t sentence);
bool pm_trace_messages_any(const struct pm_trace_messages *messages);
/* The next one of the sentence: called once for each event of it, from the trace's begin, and not
 * for PM_TRACE_CUT or PM_TRACE_SWITCHED. thread: position. False: no message. */
bool pm_trace_message(struct pm_trace_messages *messages, size_t thread, uint32_t sentence,
                      struct pm_trace_message *ret_message);
/* The same without an id, and without counting: for whoever matches them himself. There are such
 * even where messages are left out. */
bool pm_trace_message_peer(const struct pm_trace_messages *messages, size_t thread,
                           uint32_t sentence, struct pm_trace_message *ret_message);

/* A communicator that messages have. */
struct pm_trace_communicator {
    uint32_t row; /* of its noun */
    const char *name;
    const size_t *threads; /* [n_ranks]: the first thread of each; SIZE_MAX: it has no trace */
    uint32_t n_ranks;
};
size_t pm_trace_n_communicators(const struct pm_trace_messages *messages);
const struct pm_trace_communicator *pm_trace_communicator(const struct pm_trace_messages *messages,
                                                          size_t index);

/* Why messages have no partners, a sentence; NULL: all have. Lent. */
const char *pm_trace_messages_left_out(const struct pm_trace_messages *messages);

#endif
