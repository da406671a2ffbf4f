/* Sentences that were begun and not ended. */
#ifndef PM_RUNTIME_AMBIENT_H
#define PM_RUNTIME_AMBIENT_H

#include "runtime/tree/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A bit of ring_seen that no ring's head has: others set it, to send the thread the slow way. */
enum { PM_POKED_BIT = 62, PM_POKED_WORD = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };
#define PM_POKED ((uint64_t)1 << PM_POKED_BIT)
/* Another one, of threads that read counters at each event. */
#define PM_READS_COUNTERS ((uint64_t)1 << 61)
/* Has something come into the ring, or has somebody poked? */
static inline bool pm_ring_has_moved(const struct pm_tls *t)
{
    return (*t->ring_head ^ t->ring_seen) & ~PM_READS_COUNTERS;
}
/* begin and end of perfmap.h; call: the sentence as a noun, of an entry. The number is that of a
 * sentence. */
void pm_ambient_begin(uint32_t sentence, const struct pm_probe *call, bool whole_process);
/* False: it has not been begun. */
bool pm_ambient_end(uint32_t sentence, bool whole_process);
void pm_ambient_say_not_begun(void);
/* Follows the process's log: whoever asks what is active here looks first. Below probes. True:
 * contexts have moved. */
bool pm_ambient_follow(struct pm_tls *t);
extern uint32_t pm_ambient_n_log;
static inline bool pm_ambient_is_behind(const struct pm_tls *t)
{
    return pm_unlikely(pm_load(pm_ambient_n_log) != t->log_seen || (t->ring_seen & PM_POKED) != 0);
}
static inline bool pm_ambient_look(struct pm_tls *t)
{
    return pm_ambient_is_behind(t) && pm_ambient_follow(t);
}
/* Brings the thread's paths below the set that it should have. tsc 0: the event has none. */
void pm_ambient_settle(struct pm_tls *t, uint64_t tsc);
/* The thread is in its slot, and has no context but the root. */
void pm_ambient_thread_begin(struct pm_tls *t, uint64_t tsc);
void pm_ambient_thread_end(struct pm_tls *t);
/* ring_head and ring_seen of a thread; what its ring holds up to that head has been seen. */
void pm_ambient_ring(struct pm_tls *t, const volatile uint64_t *word, uint64_t seen);
void pm_ambient_saw(struct pm_tls *t, uint64_t head);
/* After the words are in the new file, and before the thread is renewed; after that. */
void pm_ambient_fork_child(void);
void pm_ambient_renew(struct pm_tls *t, uint64_t tsc);

#endif
