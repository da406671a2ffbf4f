/* What a thread has: the thread block, which generated code addresses, and the slot, which outlives
 * it. */
#ifndef PM_RUNTIME_THREAD_H
#define PM_RUNTIME_THREAD_H

#include "runtime/base/process.h"
#include "runtime/tree/node.h"
#include "runtime/tree/sp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pm_thread_state { PM_THREAD_NEW = 0, PM_THREAD_BUSY, PM_THREAD_READY, PM_THREAD_DEAD };
/* Says what it means that current is the sentinel; means nothing when it is not. */
enum pm_thread_where { PM_WHERE_OWN = 0, PM_WHERE_FOLDED, PM_WHERE_FOREIGN };

/* All contexts of a thread but its roots, by parent and noun: open addressing, at most half full.
 */
struct pmr_index {
    uint32_t mask, n;
    struct pm_node *entries[];
};

/* What outlives a thread: memory that the next one can use. */
struct pm_slot {
    uint32_t busy, tid, number;
    uint64_t cpu_before_ns; /* of earlier threads in this slot */
    uint64_t thread_offset; /* of the THREAD chunk */
    struct pm_run_thread *thread;
    struct pm_run_chunk *slab; /* nodes are taken from here */
    struct pm_node *root, *foreign_root;
    struct pm_node *idle_roots; /* coroutines.c's: of those that are gone, by next_sibling */
    struct pm_node **hash; /* the trampolines' table: one entry for each value, the last one used */
    struct pmr_index *index;
    struct pm_tls *t;                 /* of the thread that is in it now; words' lock */
    struct pm_sampler *sampler;       /* of all its threads, one after the other; NULL: none yet */
    struct pm_word_costs *word_costs; /* of all its threads, too; NULL: none yet */
    struct pm_known_frames *known_frames; /* words/calls.c's; NULL: none yet */
    void *tick_page;                      /* ticks.c's; NULL: none */
    int tick_timer;                       /* the same; 1 + its number, 0: none */
    struct pm_run_trace *trace; /* head that events go to; NULL: none, or tracing has stopped */
    uint64_t *trace_at;         /* where the last thread left off */
    uint64_t *trace_scratch;    /* memory for events that are not kept */
    uint64_t *bank[PM_MAX_BANKS];
    bool has_no_bank[PM_MAX_BANKS]; /* there was no memory for one: what it would count is lost */
};

/* The thread block. current, hash, bank, ring_head, ring_seen and trace_* are addressed by
 * generated code. */
struct pm_tls {
    struct pm_node *current;
    struct pm_node **hash;
    /* Samples and context switches come into a ring that the kernel fills. All that it holds at
     * an event happened since the event before, so in the context that is current: trampolines
     * of the modes active and exact go the slow way when *ring_head != ring_seen, before they
     * change current, and pm_slow drains the ring first. Never NULL: &pm_no_ring where there is
     * no ring. */
    const volatile uint64_t *ring_head;
    uint64_t ring_seen; /* PM_POKED: ambient.c */
    /* Mode trace: where the next event goes; trampolines go the slow way from trace_end on, and
     * after trace_until. NULL: no head yet. */
    uint64_t *trace_at, *trace_end;
    uint64_t trace_until;
    struct pm_sampler *sampler; /* sample.c's; NULL: this thread is not sampled */
    uint32_t state, where;
    struct pm_slot *slot;
    /* where == FOLDED: the call that got no context, and the last context */
    struct pm_node *fold_at;
    uint64_t fold_sp;
    uint32_t fold_noun, fold_loop_depth;
    /* where == FOREIGN */
    struct pm_node *own_current, *foreign_current;
    /* The root of the stack that the thread is on: its own, or a coroutine's (then its own stack
     * waits, with `home` innermost). */
    struct pm_node *base, *home;
    struct pm_coroutine *coroutine; /* NULL: its own stack */
    uint64_t *fork_path;            /* frames' sp, saved by the fork handler */
    uint32_t end_rounds, fork_depth;
    /* ambient.c */
    uint32_t set;      /* that its contexts should be below: its own and the process's */
    uint32_t own_set;  /* what it has begun itself */
    uint32_t log_seen; /* of the process's log */
    uint32_t n_begun;  /* entries of begun that may be in use */
    uint64_t begun[PM_MAX_AMBIENT]; /* sentence, how often << 32; 0: free */
    uintptr_t moving;               /* frame of the code that moves it to another set; 0: none */
    struct pm_node *move_from, *move_to;
    uint64_t move_tsc;
    uint32_t start_noun; /* 1 + that of the cause that the thread begins with; 0: none (causes.h) */
    /* What lies so far below the thread pointer is the thread's stack, there as long as the thread
     * is. 0: nobody knows how large that is. */
    uint64_t stack_bytes;
    bool reads_counters;   /* every event goes the slow way (PM_READS_COUNTERS) */
    uint32_t n_loops_left; /* that ended with a sentence around them, before their exits */
    struct pm_jump jumps[PM_MAX_JUMPS];
    uint64_t *bank[PM_MAX_BANKS];
};
static inline struct pm_jump *pm_jump_at(struct pm_tls *t, uint64_t frame)
{
    return &t->jumps[frame / 16 % PM_MAX_JUMPS];
}
extern __thread struct pm_tls pm_tls __attribute__((tls_model("initial-exec")));
extern const volatile uint64_t pm_no_ring; /* 0 for ever */

bool pm_thread_begin(struct pm_tls *t, uint64_t tsc);
void pm_thread_renew(
    struct pm_tls *t,
    uint64_t tsc); /* in a forked child: the open contexts again, in the new file */
void pm_thread_drop(struct pm_tls *t); /* no more events */
void pm_thread_ended(void *t);         /* pthread key destructor */
void pm_threads_process_end(uint64_t tsc);
struct pm_node *pm_node_claim(struct pm_slot *slot); /* zeroed but for place; NULL: no memory */
/* The context at a place of the run file, of any thread; NULL: there is none. */
const struct pm_node *pm_node_at(uint32_t place);
uint64_t pm_thread_cpu_ns(uint32_t tid);                     /* 0: unknown */
extern uint64_t pm_stopped_cpu_ns;                           /* tests: what it says; 0: goes on */
void pm_thread_spent(struct pm_slot *slot, uint64_t cpu_ns); /* writes it down */
void pm_threads_each(void (*visit)(struct pm_slot *slot));   /* those that have been used */
/* Is the slot's thread block that of a thread? Not if that has left by a bare system call: its
 * block may be no memory any more, or somebody else's, so the kernel looks. False, too, where
 * nobody may ask. */
bool pm_thread_is_there(const struct pm_slot *slot);

#endif
