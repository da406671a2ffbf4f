/* What the parts of the runtime say to each other. The runtime is a guest in another program:
 *
 *   runtime.c            start and end of a process, settings from the environment
 *   file.c               the run file: growth by chunks, messages
 *   calibration.c        what a probe costs, for the other processes of the run
 *   thread.c             a thread's first and last event, slots that threads share
 *   tree.c               the calling-context tree: enter, leave, heal, fold, foreign stacks
 *   coroutines.c         stacks of makecontext: trees of their own
 *
 *   object.c             loaded objects: sections, records, nouns; arming
 *   scan.c               what an object's file and memory say about sleds and hooks
 *   dl.c                 learning of dlopen and dlclose
 *   hooks.c              portable mode
 *   patch.c              changing code that may be running
 *   modes.c              which mode each noun has, and changing it
 *   adapt.c              the budget
 *   control.c            requests while the program runs
 *
 *   arch_x86_64.c        generated trampolines (arch_none.c: none); _emit what they are put
 *                        together from, _template copies, _region where they lie, _trace those
 *                        of mode trace; calibrate_x86_64.c what a probe costs
 *
 *   sample.c             which context a sample was taken in; sample_perf.c, sample_timer.c who
 *                        takes it, sample_store.c equal ones added up, places.c which object has
 *                        an address
 *   trace.c              mode trace
 *
 *   words.c              the program's own words; words_merge.c more nouns than are kept,
 *                        words_points.c mapping points, words_here.c callers that cannot say
 *                        where their stack is, quick.h entering when nothing is in the way
 *   word_costs.c         costs that the program says itself
 *   ambient.c            sentences that do not nest
 *   causes.c             work done elsewhere on behalf of others; causes_text.c and baggage.c its
 *                        way to other processes and back
 *
 *   fork.c               children
 *   wrap.c               threads, exec, _exit; wrap_calls.c filters and children that nobody
 *                        sees, wrap_contexts.c switches of stacks, wrap_signals.c signals
 *   signals.c            signals that are shared with the program
 *   confine.c            what a program's seccomp filters allow
 *   heap_link.c          what libperfmap-heap.so asks (heap/)
 *   sys.h, mem.c         system calls and memory functions that touch neither errno nor vector
 *                        registers
 *
 * Two kinds of code. Code below a probe (pm_slow, tree.c, thread.c, the growth of file.c) runs
 * between any two instructions of the program, in any signal handler, also inside itself: it takes
 * no lock, calls nothing of libc, uses general registers only and changes shared words by single
 * stores in an order that leaves the tree right at every instant. The rest (start, dlopen, fork,
 * exec) runs at ordinary calls and may use libc with care, never malloc.
 */
#ifndef PM_RUNTIME_INTERNAL_H
#define PM_RUNTIME_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../format/pm_control.h"
#include "../format/pm_run.h"
#include "../format/pm_sled.h"

#define PM_BELL_SIGNAL SIGURG /* sample.h says why */
#define PM_EXPORT __attribute__((visibility("default")))
#define pm_likely(x) __builtin_expect(!!(x), 1)
#define pm_unlikely(x) __builtin_expect(!!(x), 0)
#define pm_barrier() __asm__ volatile("" ::: "memory")
#define pm_store(where, value) (*(volatile __typeof__(where) *)&(where) = (value))
#define pm_load(where) (*(volatile __typeof__(where) *)&(where))
#define pm_add_shared(where, n) __atomic_fetch_add(&(where), (n), __ATOMIC_RELAXED)

/* What was written before is seen by others before what is read behind is read. */
static inline void pm_fence(void)
{
#ifdef __SANITIZE_THREAD__ /* knows no fences */
    uint32_t word = 0;
    (void)__atomic_exchange_n(&word, 1, __ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Adds to a word that only this thread writes, and its signal handlers: what a handler adds at any
 * point must not be lost, which load, add, store would do. One instruction, without the lock of an
 * atomic one. */
static inline void pm_add_own(uint64_t *where, uint64_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("addq %1, %0" : "+m"(*where) : "r"(n) : "memory", "cc");
#else
    __atomic_fetch_add(where, n, __ATOMIC_RELAXED);
#endif
}

enum {
    PM_MAX_BANKS = 256,      /* objects that can be counted in mode count */
    PM_MAX_OBJECTS = 4096,   /* objects with sleds or hooks */
    PM_MAX_MAPS = 65536,     /* chunks of one run file */
    PM_MAX_SLOTS = 8192,     /* threads that are remembered for reuse and for their CPU time */
    PM_REUSE_AFTER = 1024,   /* finished threads before slots are shared */
    PM_HASH_ENTRIES = 16384, /* per thread: (context, noun) -> context */
    PM_HASH_MASK = (PM_HASH_ENTRIES - 1) * 8,
    PM_HASH_BYTES = PM_HASH_ENTRIES * 8,
    PM_N_MODES = PM_RUN_MODE_TRACE + 1,
    PM_MAX_NOUNS = 1 << 20, /* that can have a mode of their own */
    PM_MAX_AMBIENT = 64,    /* sentences that are begun and not ended */
};

/* --- contexts: struct pm_run_node as the runtime sees it --- */
struct pm_node {
    uint32_t noun;
    uint32_t parent_place; /* file offset / 64 */
    struct pm_node *parent;
    uint64_t sp;
    uint64_t start_tsc;
    uint64_t n_calls;
    uint64_t inclusive_tsc;
    uint32_t gone; /* 1: closed from outside, for its sleds were disarmed; sp is 0 then */
    uint32_t depth;
    struct pm_node *cached_child; /* never NULL: pm_sentinel until there is one */
    struct pm_node *first_child;
    struct pm_node *next_sibling;
    uint32_t kind;
    uint32_t flags;
    uint32_t place;      /* of this node: file offset / 64 */
    uint32_t loop_depth; /* 0 for functions and roots */
    /* ambient.c: the same path below another set, used last; NULL: none yet */
    struct pm_node *twin;
    struct pm_node *way; /* ambient.c: a child, when a path is walked down */
    uint32_t set;        /* that it is below: number of a word; 0: none */
    /* 1: coroutines.c: it has a time, and waits. Of a context without a time that has jumped
     * away: the lower half of its return address */
    uint32_t paused;
    uint64_t sampled_calls; /* sample.c: n_calls at the last sample that found it open */
};
#define PM_NODE_CHECK(a, b)                                                        \
    _Static_assert(offsetof(struct pm_node, a) == offsetof(struct pm_run_node, b), \
                   #a " has its place in the file")
PM_NODE_CHECK(noun, noun);
PM_NODE_CHECK(parent_place, parent);
PM_NODE_CHECK(sp, sp);
PM_NODE_CHECK(start_tsc, start_tsc);
PM_NODE_CHECK(n_calls, n_calls);
PM_NODE_CHECK(inclusive_tsc, inclusive_tsc);
PM_NODE_CHECK(depth, depth);
PM_NODE_CHECK(kind, kind);
PM_NODE_CHECK(flags, flags);
_Static_assert(sizeof(struct pm_node) == sizeof(struct pm_run_node), "same size");

/* What `current` points at when the fast path must not be taken (thread unknown, folding, foreign
 * stack): its sp is 0, so that every compare in a trampoline fails. Never written. */
extern struct pm_node pm_sentinel;

/* --- tail calls: a context stays open until what it jumped to returns ---
 *
 * The place of the return address, S, tells all frames of such a chain, so what else is known of
 * them stands in the lowest bits of sp:
 *
 *     S        called
 *     S - 1    called, has jumped away
 *     S - 2    jumped to
 *     S - 3    jumped to, has jumped away
 *     S / 2, S / 2 - 1    the same two, where no sled tells when what they jumped to returns
 *     S + 1    called, and jumps to an entry whose sled is armed (by the trampoline, which looked)
 *
 * Those below S are above S - 8: what is called from there nests by the fast path, and entries
 * and exits at S take the slow one. S / 2 (S is 8 more than a multiple of 16) lies below the
 * whole stack, so that all events take the slow one, which looks whether the return address
 * still is at S: else it has returned, and what is entered deeper in the stack is not below it.
 * S + 1 is for chains of two: what is entered next at S is what was jumped to, so it nests by
 * the fast path, and its exit sees the mark and ends both. Wherever the slow path leaves such a
 * context innermost it becomes S - 1, for then something has come between.
 */
enum pm_tail {
    PM_TAIL_ENDS,     /* nothing is known: the context ends (portable mode) */
    PM_TAIL_TO_SLED,  /* to a function whose entry has a sled */
    PM_TAIL_TO_OTHER, /* to one that has none, or to another object */
    PM_TAIL_ANYWHERE, /* by a register or memory */
};
/* What the youngest frame of a chain jumped to, kept by S. */
struct pm_jump {
    uint64_t sp, return_address, tsc; /* sp 0: none; tsc 0: not timed */
    uint32_t to, noun;                /* enum pm_tail; TO_SLED: the noun */
};
enum { PM_MAX_JUMPS = 8 };
static inline bool pm_sp_jumps(uint64_t sp)
{
    return (sp & 7) == 1;
}
static inline bool pm_sp_jumped(uint64_t sp)
{
    return (sp & 7) != 0 && (sp & 7) != 2 && (sp & 7) != 6 && sp != UINT64_MAX;
}
static inline bool pm_sp_jumped_away(uint64_t sp)
{
    return pm_sp_jumped(sp) && !pm_sp_jumps(sp);
}
static inline uint64_t pm_sp_frame(uint64_t sp)
{
    if (pm_sp_jumps(sp))
        return sp - 1;
    if ((sp & 7) == 4 || (sp & 7) == 3)
        return (sp + 1) / 2 * 4;
    return (sp & 7) >= 5 && sp != UINT64_MAX ? (sp | 7) + 1 : sp;
}

/* --- probes: what a trampoline tells the slow path --- */
struct pm_probe {
    uint32_t noun;
    uint8_t kind; /* enum pm_sled_kind */
    uint8_t loop_depth;
    uint16_t bank;
    uint32_t counter; /* index in the bank */
    uint8_t mode;     /* enum pm_run_mode of this event: nouns may differ */
    uint8_t inside;   /* entered only where pm_node_terms has one of these bits; 0: always */
    uint8_t tail;     /* of PM_SLED_TAIL: enum pm_tail; TO_SLED: counter is the noun jumped to */
    uint8_t reserved;
};

/* Terms of the question that the program was started with (`perfmap run --ask`), which are
 * active in a context: of its noun and all above. Where it is not known, all of them. */
enum { PM_NODE_TERMS_SHIFT = 24 };
#define PM_NODE_TERMS 0xff000000u
static inline bool pm_is_inside(const struct pm_node *node, const struct pm_probe *probe)
{
    return probe->inside == 0 || (node->flags >> PM_NODE_TERMS_SHIFT & probe->inside) != 0;
}

static inline bool pm_mode_is_timed(unsigned mode)
{
    return mode >= PM_RUN_MODE_EXACT;
}

/* --- threads --- */
enum pm_thread_state { PM_THREAD_NEW = 0, PM_THREAD_BUSY, PM_THREAD_READY, PM_THREAD_DEAD };
/* Says what it means that current is the sentinel; means nothing when it is not. */
enum pm_thread_where { PM_WHERE_OWN = 0, PM_WHERE_FOLDED, PM_WHERE_FOREIGN };

/* All contexts of a thread but its roots, by parent and noun: open addressing, at most half full.
 */
struct pm_index {
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
    struct pm_index *index;
    struct pm_tls *t;                 /* of the thread that is in it now; words' lock */
    struct pm_sampler *sampler;       /* of all its threads, one after the other; NULL: none yet */
    struct pm_word_costs *word_costs; /* of all its threads, too; NULL: none yet */
    int tick_timer;                   /* adapt.c's; 1 + its number, 0: none */
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
    struct pm_jump jumps[PM_MAX_JUMPS];
    uint64_t *bank[PM_MAX_BANKS];
};
static inline struct pm_jump *pm_jump_at(struct pm_tls *t, uint64_t frame)
{
    return &t->jumps[frame / 16 % PM_MAX_JUMPS];
}
/* Has what a context without a time jumped to returned, for the return address is another one
 * now? False: nobody knows. sp: nothing below is alive. */
bool pm_has_returned(const struct pm_tls *t, const struct pm_node *node, uint64_t sp);
extern __thread struct pm_tls pm_tls __attribute__((tls_model("initial-exec")));

/* --- ambient.c: sentences that were begun and not ended --- */
/* A bit of ring_seen that no ring's head has: others set it, to send the thread the slow way. */
enum { PM_POKED_BIT = 62, PM_POKED_WORD = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };
#define PM_POKED ((uint64_t)1 << PM_POKED_BIT)
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
void pm_ambient_fork_child(struct pm_tls *t);
void pm_ambient_renew(struct pm_tls *t, uint64_t tsc);

/* --- sample.c: samples of this thread --- */
extern const volatile uint64_t pm_no_ring; /* 0 for ever */
/* When there is a run file: from now on threads are sampled, the calling one first. */
void pm_sample_process_begin(void);
/* Opens the calling thread's ring (or timer); again after fork. By pm_thread_begin, so at an
 * ordinary call for most threads, else at the thread's first event. Its times run since since_ns
 * (CLOCK_MONOTONIC_RAW; 0: not known), when its CPU clock said since_cpu_ns: what others had of
 * the CPU until the kernel notes switches is charged as preempted. */
void pm_sample_thread_begin(struct pm_tls *t, uint64_t since_ns, uint64_t since_cpu_ns);
void pm_sample_thread_end(struct pm_tls *t); /* drains, closes */
/* Charges what came into the ring to the context that is current. Below probes and in the signal
 * handler. Returns the time stamp counter when the ring was read: what happened later is charged
 * by the next call. */
uint64_t pm_sample_drain(struct pm_tls *t);
/* What came before that time (CLOCK_MONOTONIC_RAW) only. */
void pm_sample_drain_until(struct pm_tls *t, uint64_t time_ns);
void pm_sample_loader_begins(void); /* code may be about to be unmapped */
void pm_sample_fork_child(void);    /* the parent's rings are not ours */
void pm_sample_process_end(void);   /* drains all threads' rings */
void pm_sample_calibrated(void);    /* what a pair costs is known now */
bool pm_sample_is_on(void);

/* --- trace.c: mode trace --- */
/* There is room for an event of this time. To be called before the tree changes, for heads begin
 * with what is open. */
void pm_trace_room(struct pm_tls *t, uint64_t tsc);
/* A place for an event, which is none until it is filled. One instruction: a handler may come
 * before and behind it. */
static inline uint64_t *pm_trace_reserve_some(struct pm_tls *t, size_t n)
{
    uint64_t *place = (uint64_t *)(n * sizeof *place);
#if defined(__x86_64__)
    __asm__ volatile("xaddq %0, %1" : "+r"(place), "+m"(t->trace_at)::"memory", "cc");
#else
    place = __atomic_fetch_add(&t->trace_at, n * sizeof *place, __ATOMIC_RELAXED);
#endif
    return place;
}
static inline uint64_t *pm_trace_reserve(struct pm_tls *t)
{
    return pm_trace_reserve_some(t, 1);
}
/* head: PM_RUN_TRACE_ENTER or _LEAVE with a noun or a mark. */
static inline void pm_trace_fill(uint64_t *place, uint32_t head, uint64_t tsc)
{
    pm_store(*place, (uint64_t)head << 40 | (tsc & (((uint64_t)1 << 40) - 1)));
}
void pm_trace_full(struct pm_tls *t, uint64_t tsc); /* makes room for the next event */
void pm_trace_thread_end(struct pm_tls *t, uint64_t tsc);
/* In the child, before its thread is renewed (or dropped). */
void pm_trace_fork_child(struct pm_tls *t);
static inline uint32_t pm_trace_noun(uint32_t noun)
{
    return noun < PM_RUN_TRACE_MARK_FIRST ? noun : PM_RUN_TRACE_MANY;
}

/* A sentence that was entered, or a cause that was adopted: by the program, in a frame of which
 * its sp tells. */
static inline bool pm_node_is_said(const struct pm_node *node)
{
    return node->kind == PM_RUN_SENTENCE_ENTER || node->kind == PM_RUN_CAUSE_ENTER;
}

/* --- modes.c: which mode each noun has --- */
struct pm_object;
struct pm_noun {
    uint8_t mode;          /* enum pm_run_mode now */
    uint8_t wanted;        /* by the user: the budget may lower it, and raises it up to this */
    uint8_t target_plus_1; /* of the change that is being made; 0: stays (or is not made yet) */
    uint8_t flags;         /* PM_NOUN_* */
    uint8_t n_lowered;     /* by the budget: the more often, the later it is raised */
    uint8_t before;        /* within a change: the mode before it */
    uint8_t start;         /* the mode that it began with */
    uint8_t terms, inside; /* struct pm_plan_noun */
    uint32_t changed_ms;   /* CPU time when the budget changed it last; adapt.c's */
};
enum {
    /* contexts of it are, or were, without their exits: those are not missed */
    PM_NOUN_LEAVING = 1,
    PM_NOUN_FIXED = 2, /* cannot be changed */
    PM_NOUN_WORD = 4,  /* of the program's own (words.c): its events are calls of functions */
    PM_NOUN_SPARE = 8, /* room for a word to come: not in the run file, nor are its changes */
};
/* NULL: it has the process's mode for ever. */
struct pm_noun *pm_noun_at(uint32_t noun);
uint32_t pm_n_nouns(void); /* that pm_noun_at knows */
/* For calls of so many nouns, of at most `max` ever. */
bool pm_adapt_make_room(uint32_t max, uint32_t n);
/* Gives nouns of an object their modes, by the plan, and writes them to its chunk: `list` is
 * there, of its nouns from `first` on. System calls only. */
void pm_modes_begin(struct pm_object *object, uint32_t first, struct pm_run_noun *list, uint32_t n);
bool pm_modes_are_inside(void); /* some nouns are followed within others only */
void pm_modes_follow_jumps(struct pm_object *object, struct pm_run_noun *list);
/* Whether the noun has no contexts (any more): one of it may be open for ever and is passed
 * over. */
bool pm_noun_is_disarmed(uint32_t noun);
/* Whether exits of it may be missing, or entries. */
bool pm_noun_is_leaving(uint32_t noun);
static inline bool pm_node_is_gone(const struct pm_node *node)
{
    return pm_load(node->sp) == 0 && pm_load(node->gone) != 0;
}
/* The thread that owns it finds out at its next event. */
static inline void pm_node_close_from_outside(struct pm_node *node)
{
    pm_store(node->gone, 1);
    pm_barrier();
    pm_store(node->sp, 0);
}
struct pm_changed {
    uint32_t n_nouns, n_sleds, n_refused; /* nouns */
};
/* Brings all nouns that have a target there. All signals are blocked, and adapt.c's lock is
 * held. False: not now (the loader is at work), all targets stay. Nouns whose change was refused
 * are as before, and without a target. */
bool pm_modes_apply(enum pm_run_adapted_reason reason, uint64_t tsc,
                    struct pm_changed *ret_changed);
/* No code is changed from hold to release: the loader may be unmapping it, and objects come and
 * go. Hold waits for a change that has begun. At ordinary calls. */
void pm_modes_hold(void);
void pm_modes_release(void);
void pm_modes_fork_child(void); /* after the new run file has its objects */
bool pm_modes_differ(void);     /* some noun has, or had, another mode than the process */

/* --- adapt.c: the budget --- */
/* Called after a drain, so at most at the rate of samples, by any thread, below probes too: does
 * what control.c is asked for, and looks from time to time which nouns have most events, and
 * lowers their modes until what remains costs less than pm_process.budget_ppm. */
void pm_adapt_tick(uint64_t tsc);
/* A sample stands for so much CPU time. n_calls: of the contexts that were open, since one met
 * them before. */
void pm_adapt_sampled(uint64_t n_calls, uint64_t cpu_ns);
uint64_t pm_adapt_n_calls(uint32_t noun); /* as of the last look */
/* So much CPU time took the runtime's own work on some samples. */
void pm_adapt_drained(uint64_t cpu_ns);
/* So much CPU time took the start or the end of a thread; all up to now that of the process. */
void pm_adapt_started(uint64_t cpu_ns);
void pm_adapt_process_begin(uint64_t before_cpu_ns);
/* Where no samples are taken, a timer on each thread's CPU clock calls pm_adapt_tick. */
void pm_adapt_thread_begin(struct pm_slot *slot);
void pm_adapt_thread_end(struct pm_slot *slot);
void pm_adapt_process_end(void);
/* The time-stamp counter is about to be forbidden. At an ordinary call. */
void pm_adapt_without_clock(void);
void pm_adapt_fork_child(void);

/* --- control.c: requests to this process while it runs --- */
/* when there is a run file: makes the chunk, installs the bell's handler; again after fork */
void pm_control_begin(void);
bool pm_control_is_asked(void);
void pm_control_answer(uint64_t tsc); /* all signals are blocked, adapt.c's lock is held */
/* A word that moves when there is a request: ring_head of threads without a ring. */
const volatile uint64_t *pm_control_word(void);
void pm_control_fork_child(void);

/* --- the process --- */
struct pm_file {
    struct pm_run_header *header; /* NULL: no file (yet) */
    int fd;
    uint64_t device, inode;
    bool full;   /* cannot grow: said once */
    bool failed; /* could not be created */
    char path[4096];
};

struct pm_process {
    uint32_t mode; /* enum pm_run_mode */
    bool on;       /* PERFMAP_RUN_DIR is set and nothing made us give up */
    uint32_t pid;
    uint64_t tsc_hz;
    uint32_t max_contexts, max_depth, max_nouns;
    char mapping_points[256]; /* names, * in them; empty: none */
    uint32_t n_contexts;
    uint32_t next_noun;
    uint64_t start_tsc, start_monotonic_ns, start_realtime_ns;
    uint64_t start_cpu_ns; /* the main thread's CPU clock then; exec does not set it back */
    uint32_t flags;
    uint32_t parent_pid;
    uint64_t before_cpu_ns;      /* of the process, before we began */
    uint32_t run_pid, first_pid; /* of `perfmap run` and of its program; 0: not known */
    uint64_t exact_pair_ps, count_event_ps, active_pair_ps;
    /* the part of exact_pair_ps that lies between the pair's clock reads */
    uint32_t exact_inner_ps;
    uintptr_t main_thread_pointer;
    uint64_t stderr_device, stderr_inode;
    int thread_key;            /* pthread key; -1 none */
    uint64_t sample_period_ns; /* 0: no samples */
    uint32_t sample_clock;     /* 0 CPU time, 1 wall time */
    uint32_t sample_force;     /* enum pm_run_sample_source: no other one; 0: what works */
    uint32_t budget_ppm;    /* of the run's time, for events; 0: no budget, nothing is disarmed */
    bool heap;              /* blocks of the heap are followed */
    bool in_valgrind;       /* the processor runs valgrind's code, not the program's */
    bool trace_keep_oldest; /* at its limit the trace ends; else its oldest events go */
    uint64_t trace_limit_bytes;
    uint64_t heap_block_bytes; /* blocks of at least this size have records of their own */
    uint16_t generation;       /* of the list of loaded objects: grows when one is unloaded */
    /* 1; wiped by fork: 0 in a child that has no run file of its own yet */
    const uint32_t *alive_mark;
    struct pm_file file;
    uint32_t text_bytes[3]; /* exe, cwd, argv */
    char run_dir[3072];
    uint32_t rank_plus_1, n_ranks;
    char text[3792];
};
extern struct pm_process pm_process;

/* --- sys.h / arch --- */
uint64_t pm_tsc(void); /* the run's clock: time-stamp counter, or nanoseconds where there is none */
extern uint64_t
    pm_stopped_tsc; /* not 0: the program has forbidden the counter, so this is the time for ever */
uint64_t pm_monotonic_ns(void); /* CLOCK_MONOTONIC_RAW */
uintptr_t pm_thread_pointer(void);

/* --- runtime.c --- */
bool pm_memory_is_limited(void); /* RLIMIT_AS: addresses that are only reserved count, too */
void pm_say(const char *text, const char *subject,
            int error_no);           /* one line on stderr; subject, error_no may be NULL, 0 */
void pm_process_end(uint32_t flags); /* fills the end_ fields */
void pm_process_unend(void);         /* exec failed */
void pm_clock_pair(uint64_t *ret_tsc, uint64_t *ret_monotonic_ns);

/* --- file.c --- */
bool pm_file_create(void); /* the run file; true when there is one */
/* What a probe costs, measured once, before the first event of this process: only where there
 * can be any, for it takes 100 us. */
void pm_file_calibrate(void);

/* --- calibration.c --- */
bool pm_calibration_take(void); /* what another process of the run has found out; false: nothing */
void pm_calibration_keep(void); /* for those to come */
/* In a forked child: leave the parent's file, whose chunks stay readable until they are dropped. */
void pm_file_leave(void);
void pm_file_drop_parent(void);
/* A new chunk, zeroed and really allocated on disk, its header complete but for n_items. NULL: the
 * file cannot grow. */
void *pm_file_chunk(enum pm_run_chunk_kind kind, uint64_t size_bytes, uint64_t owner,
                    uint64_t *ret_offset);
/* The i-th chunk that is mapped, NULL: none there (yet). i < pm_file_n_chunks(). */
const struct pm_run_chunk *pm_file_chunk_at(uint32_t i);
uint32_t pm_file_n_chunks(void);
/* The header's pair of clocks, if it is old. Below probes. */
void pm_file_renew_clock(uint64_t tsc);
void pm_file_message(enum pm_run_message_code code, const char *text, const char *subject);
/* A new chunk that is not mapped, allocated on disk; its file offset, 0: the file cannot grow.
 * What is behind its first page is at a multiple of alignment, itself one of pages. */
uint64_t pm_file_space(enum pm_run_chunk_kind kind, uint64_t size_bytes, uint64_t n_items,
                       uint64_t alignment);
/* Within such a chunk. False: not or not wholly done. */
struct iovec;
bool pm_file_put(uint64_t offset, const struct iovec *pieces, int n_pieces);

/* --- thread.c --- */
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
/* Counters of one object for this thread; NULL: no memory, and the event that wanted them is
 * lost. */
uint64_t *pm_bank_open(struct pm_tls *t, unsigned bank);

/* --- tree.c --- */
void pm_slow(const struct pm_probe *probe, uint64_t sp, uint64_t tsc); /* any event, any mode */
void pm_event_exact(struct pm_tls *t, const struct pm_probe *probe, uint64_t sp, uint64_t tsc);
/* The thread, which has no context but its root, begins within this cause. All signals are
 * blocked. */
void pm_event_start(struct pm_tls *t, uint32_t noun, uint64_t tsc);
struct pm_node *pm_root_make(struct pm_slot *slot, uint64_t sp, uint32_t flags, uint64_t tsc);
bool pm_index_open(struct pm_slot *slot);
void pm_index_clear(struct pm_slot *slot);
void pm_index_put(struct pm_slot *slot, struct pm_node *node); /* which is not in it */
void pm_close_all(struct pm_node *node, uint64_t tsc);
/* Puts a child into the quick table (pm_tls.hash), where trampolines look for it. */
void pm_hash_child(const struct pm_tls *t, struct pm_node *node);
/* A child that the quick table knows; NULL: look on. */
struct pm_node *pm_known_child(const struct pm_tls *t, const struct pm_node *parent, uint32_t noun);
/* The child for this probe; makes one when there is none and it may. NULL: there is none. */
struct pm_node *pm_child_of(struct pm_tls *t, struct pm_node *parent, const struct pm_probe *probe,
                            uint32_t flags, bool may_make);
/* For what is made beside contexts that are told apart: somewhat beyond their limit. */
bool pm_may_exceed(void);
void pm_say_limit(void);
/* the innermost context on the thread's own stack; thread is ready */
struct pm_node *pm_own_current(const struct pm_tls *t);

/* What a folded call or a foreign stack hides: the innermost context of the stack that the
 * thread is on. */
struct pm_node *pm_settle(struct pm_tls *t, uint64_t tsc);
/* A context like this one, of another thread's tree, below parent, open as that is, without a
 * call. NULL: no memory. */
struct pm_node *pm_reopen(struct pm_tls *t, struct pm_node *parent, const struct pm_node *like);

/* --- coroutines.c: stacks of makecontext --- */
struct pm_coroutine;
extern bool pm_coroutines_used; /* there has been one */
void pm_coroutine_make(uint64_t low, uint64_t size_bytes);
/* The stack that has sp goes on in this thread. NULL: its own. */
struct pm_coroutine *pm_coroutine_resume(uint64_t sp);
bool pm_coroutine_is_fresh(struct pm_coroutine *c); /* once */
void pm_coroutine_end(uint64_t sp);                 /* its function has returned */
struct pm_coroutine *pm_coroutine_at(uint64_t sp);
/* An event came from this stack pointer: the thread may have changed stacks by other means. */
/* True: another stack has gone on, behind the time of the event. */
bool pm_coroutine_check(struct pm_tls *t, uint64_t sp);
void pm_coroutine_thread_begin(struct pm_tls *t, uint64_t top);
void pm_coroutine_thread_end(struct pm_tls *t); /* goes to the thread's own stack */
/* As pm_own_current, of the thread's own stack, also while it waits. */
struct pm_node *pm_home_current(const struct pm_tls *t);
void pm_coroutine_fork_child(void);
void pm_coroutine_renew(
    struct pm_tls *t,
    struct pm_coroutine *on); /* in the child, when the thread's own stack is renewed */

/* --- object.c --- */
struct pm_object {
    char path[1024];
    uintptr_t bias, low, high;
    uint64_t file_bytes; /* of the file as it is now */
    const void *phdr;
    uint16_t n_phdr;
    bool loaded, portable;
    bool has_flags; /* set before trampolines are generated: each asks its noun's flag */
    uint16_t bank;  /* PM_MAX_BANKS: none */
    uint32_t index, first_noun, n_nouns;
    uint32_t n_sleds, n_bad;
    struct pm_sled *sleds; /* sorted by address; private memory */
    size_t sleds_bytes;
    uint8_t *code; /* trampolines */
    size_t code_bytes;
    struct pm_part { /* of code: those of each mode */
        uint8_t *at;
        uint32_t end; /* behind the last that can be used; 0: there are none yet */
        uint32_t n_wanted, n_probes, n_batches; /* n_wanted: all that there may be */
    } parts[PM_N_MODES];
    /* of code: a byte for each noun; its entries do nothing while that is 0. NULL: without */
    uint8_t *flags;
    uint64_t chunk_bytes;
    struct pm_run_object *chunk;
};
struct pm_sled {
    uintptr_t address;
    uint32_t noun; /* position among the object's nouns; UINT32_MAX: its entry has no sled */
    uint16_t must_save;
    uint8_t kind, flags;
    uint8_t armed; /* enum pm_run_mode of the trampoline that it jumps to; off: dormant */
};
extern struct pm_object *pm_objects[PM_MAX_OBJECTS];
extern uint32_t pm_n_objects;
struct stat;
bool pm_object_record(struct pm_object *object, const struct stat *info,
                      const struct pm_run_noun *nouns, uint32_t n_nouns, uint32_t capacity);
void pm_objects_update(void);  /* compares with what is loaded now */
void pm_objects_rewrite(void); /* after fork: into the new run file */

/* --- hooks.c --- */
/* first: the first of this object's hook sections. */
void pm_hooks_open(struct pm_object *object, const struct stat *info, uintptr_t section,
                   size_t bytes, bool first);

/* --- words.c --- */
/* Fills in the slots of perfmap.h in a section of the object, which is in memory that can be
 * written. */
void pm_words_open(const struct pm_object *object, uintptr_t section, size_t bytes);
void pm_words_fork_child(void); /* after the new run file has its objects */
extern const struct pm_words_api pm_words_api;
const struct pm_words_api *pm_words_of_process(uint32_t version); /* exported */
/* words_points.c: is this mapping point asked for, by the setting's names? */
bool pm_words_point_is_asked(const char *name);
/* All signals are blocked while it is held; what is returned is for unlock. */
uint64_t pm_words_lock(void);
void pm_words_unlock(uint64_t mask);
/* The set of these sentences (rising numbers); 0: of none, or there is no room. The lock is
 * held. */
uint32_t pm_words_set(const uint32_t *sentences, uint32_t n);
/* Its members, at most PM_MAX_AMBIENT. 0: no set. Below probes. */
uint32_t pm_words_members(uint32_t set, const uint32_t **ret_sentences);
/* The noun of a sentence or set. False: it has none. Below probes. */
bool pm_words_probe(uint32_t number, struct pm_probe *ret_probe);
/* The word of a cause; 0: no room. The lock is held, as for the three that follow. */
uint32_t pm_words_cause(uint64_t process, uint32_t place, bool is_alone, const char *text);
bool pm_words_noun(uint32_t number, uint16_t kind, uint32_t *ret_noun);
const struct pm_run_word *pm_words_at(uint32_t number); /* NULL: there is none */
uint32_t pm_words_number(uint32_t noun); /* that a noun of the context tree stands for; 0: none */
/* word_costs.c: adds to the context that is active at this stack pointer. The thread is ready.
 * False: no room. */
bool pm_word_cost(struct pm_tls *t, uint32_t metric, uint64_t value, uint64_t sp);
void pm_word_costs_fork_child(struct pm_slot *slot);

/* --- words_here.c --- */
struct pm_words_held;
void pm_words_enter_here(uint32_t sentence);
void pm_words_leave_here(uint32_t sentence);
void pm_words_cost_here(uint32_t metric, uint64_t value);
uint64_t pm_words_capture_here(void);
void pm_words_adopt_here(uint64_t cause);
void pm_words_release_here(uint64_t cause);
void pm_words_activate(struct pm_words_held *held, const uint32_t *sentence);
void pm_words_adopt_in(struct pm_words_held *held, const uint64_t *cause);

/* --- dl.c, fork.c, wrap.c --- */
void pm_dl_watch(void);
void pm_fork_watch(void);
void pm_fork_child(void);
void pm_wrap_resolve(void);
/* Also of wrap_signals.c and wrap_calls.c. */
void pm_wrap_signals_resolve(void);
bool pm_wrap_blocks_traps(void); /* as the thread believes */
void pm_wrap_inherit_traps(bool blocks);
void pm_wrap_calls_resolve(void);
void pm_wrap_contexts_resolve(void);

/* --- heap_link.c: what libperfmap-heap.so (heap/) has to do around fork --- */
void pm_heap_before_fork(void);
void pm_heap_in_parent(void);
void pm_heap_fork_child(void);

/* --- patch.c --- */
struct pm_patch {
    uintptr_t address;
    uint8_t bytes[5];
};
/* Writes 5 bytes at each address; sorted by address; prot is the protection to restore. fresh:
 * no thread can be running this code. Otherwise one at a time; signal safe. False: refused, or
 * not wholly done. */
bool pm_patch_apply(const struct pm_patch *patches, size_t n, int prot, bool fresh);
/* Installs the handler that live changes need. */
bool pm_patch_take_traps(void);
/* Completes what a thread of the parent, which is not here, had begun. */
void pm_patch_fork_child(void);

/* --- arch --- */
extern const bool pm_arch_has_sleds;
extern const uint8_t pm_arch_nop[5];
/* Trampolines for all of the object's sleds that the mode wants, or those that a list names
 * (else NULL), unless they are there. System calls only. */
bool pm_arch_generate(struct pm_object *object, enum pm_run_mode mode, const uint32_t *list,
                      uint32_t n);
void pm_arch_release(struct pm_object *object);
/* What the sled is in this mode: a jump, or (false) the no-operation. */
bool pm_arch_jump(const struct pm_object *object, const struct pm_sled *sled, enum pm_run_mode mode,
                  uint8_t ret_bytes[5]);
/* Which trampoline of the object has this address. False: none. */
struct pm_probe_place {
    uint32_t noun; /* process-wide index */
    bool inner;    /* between a timed pair's clock reads */
};
bool pm_arch_probe_at(const struct pm_object *object, uint64_t address,
                      struct pm_probe_place *ret_place);
/* What a tail call jumps to. ret_noun: TO_SLED. */
enum pm_tail pm_arch_tail(const struct pm_object *object, const struct pm_sled *sled,
                          uint32_t *ret_noun);
void pm_arch_calibrate(void);
void *pm_map_near(uintptr_t low, uintptr_t high, size_t bytes); /* within 2 GiB of [low, high) */
bool pm_arch_hook_function(uintptr_t function, void (*replacement)(void));

#endif
