/* The parts of sampling:
 *
 *   sample.c         which source, threads' start and end, which context a sample belongs to,
 *                    whether all of a thread's time is accounted for
 *   sample_perf.c    perf_event_open: a ring for each thread
 *   sample_timer.c   POSIX timers, where perf events are refused
 *   sample_store.c   equal samples are one item in the run file
 *   places.c         which code lies where, and when
 *   callers.c        who called it; unwind.c: by the tables that it carries
 *
 * A sampler belongs to a thread's slot and is used again by the slot's next thread. Whoever
 * drains it holds its lock: the thread itself (below a probe, or in the signal's handler), or
 * the thread that ends the process. Nobody ever waits for it but dlclose.
 */
#ifndef PM_RUNTIME_SAMPLE_H
#define PM_RUNTIME_SAMPLE_H

#include "internal.h"
#include "unwind.h"

#include <signal.h>

struct perf_event_mmap_page;
struct dl_phdr_info;

/* Not a real-time signal, which would end a program that has set all handlers back to their
 * default, and of which each one queues up where it is blocked. SIGURG is ignored by default, is
 * pending at most once, passes through debuggers, and whoever uses it must expect spurious ones:
 * Go's runtime takes it for the same reasons. */
enum { PM_SAMPLE_SIGNAL = SIGURG };

enum {
    /* Of the sampled stack. Where that does not reach up to code with sleds, a thread goes on
     * with more: printf of a number needs 2 to 3 KiB, Fortran's write 5, and larger samples cost
     * more and are fewer in a ring. */
    PM_STACK_BYTES = 1024,
    PM_DEEP_STACK_BYTES = 8192,
    PM_DEEPEST_STACK_BYTES = 32768,
    PM_RECORD_BYTES = PM_DEEPEST_STACK_BYTES + 256, /* largest record that is looked into */
    PM_TAKEN_REGISTERS = 6,                         /* rbx, rbp, r12 to r15 */
};

struct pm_store {
    struct pm_run_chunk *chunk; /* items are appended here */
    uint64_t capacity;          /* of the chunk, items */
    struct pm_run_sample **index;
    uint32_t mask, n; /* of the index; items in all */
};

/* Why a thread has no processor, and where it was when it lost it: as of a sample. */
struct pm_off {
    uint64_t address, sp, caller; /* address 0: not known */
    uint8_t kind;                 /* enum pm_run_sample_kind */
    uint8_t flags;                /* PM_RUN_SAMPLE_*: of the caller */
    /* Found while the sample's copy of the stack was there, which tells what a function that has
     * jumped away waits for (poll, called last); as long as `current` is the innermost. NULL: by
     * sp. */
    const struct pm_node *context, *current;
};

struct pm_off_ring {
    volatile struct perf_event_mmap_page *ring; /* NULL: none, so only contexts are known */
    uint64_t bytes, stack_bytes;                /* of its data; of a sample's stack */
    uint64_t seen; /* up to there it has been looked through; what is free is behind data_tail */
    uint64_t freed_ns;
};

struct pm_sampler {
    uint32_t lock;   /* 1: someone drains it */
    uint32_t source; /* enum pm_run_sample_source; none: no thread is sampled */
    struct pm_tls *t;
    struct pm_slot *slot;
    struct pm_store store;
    /* All CPU time is charged to something: what no sample stands for is noticed by comparing. */
    uint64_t cpu_before_ns;    /* the thread's CPU clock when its sampling began */
    uint64_t charged_ns;       /* of its CPU time since then */
    uint64_t event_ns;         /* perf: what the event had counted at the last sample */
    uint64_t missing_ns;       /* perf: of the thread's clock, beyond all samples in the ring */
    uint64_t time_ns;          /* timers: of the last sample, CLOCK_MONOTONIC_RAW */
    uint64_t off_since_ns;     /* perf: when it was switched out; 0: it runs */
    uint64_t on_since_ns;      /* perf: when it was last switched in; 0: not yet */
    struct pm_off off;         /* where, and why */
    uint64_t off_ns, begin_ns; /* charged so far for times off the CPU; perf: when sampling began */
    /* perf: when it last opened events: what waits there (for the process's memory map, which
     * another thread is changing) is no wait of the program's. */
    uint64_t opening_from_ns, opening_until_ns;
    bool lost_switches;           /* some of them did not fit into the ring */
    uint64_t n_lost;              /* that no time has been charged for */
    const struct pm_taken *taken; /* the sample whose context is being found; NULL: none */
    bool has_kernel;
    /* perf */
    uint64_t period_ns; /* what each sample in the ring stands for */
    volatile struct perf_event_mmap_page *ring;
    uint64_t ring_bytes;
    char *region; /* in which the ring lies */
    size_t region_bytes;
    void *bell;
    struct pm_off_ring off_ring; /* where the thread was when it was switched out */
    bool is_early_bell;
    bool is_brief;     /* it has one event only, so far */
    char *kept_region; /* of a brief thread before, with nothing where the ring was */
    uint64_t waited_ns;
    uint64_t stack_bytes;      /* of a sample */
    bool is_short;             /* one did not reach */
    uint64_t most_stack_bytes; /* that are tried: less where there was no memory for more */
    uint64_t from_ns; /* what the ring has of before then has been taken from the old one */
    /* Of rings that are used no more: a trampoline may be about to look at them. */
    struct pm_old_region {
        char *start;
        size_t bytes;
    } old_regions[2];
    /* timer; perf, for a brief thread: its bell */
    int timer;
    struct pm_unwind unwind;
    uint64_t record[PM_RECORD_BYTES / 8];
};

/* --- sample.c --- */
struct pm_taken {
    uint64_t address, sp;
    const uint8_t *stack; /* a copy of what lies at sp, or sp itself */
    uint64_t stack_bytes;
    uint64_t time_ns; /* CLOCK_MONOTONIC_RAW; 0: now */
    uint64_t cpu_ns;  /* of the thread since sampling began */
    uint64_t period_ns;
    enum pm_run_sample_kind kind;
    bool has_registers;
    uint64_t registers[PM_TAKEN_REGISTERS];
};
void pm_sample_take(struct pm_sampler *s, const struct pm_taken *taken);
void pm_sample_waited(struct pm_sampler *s, const struct pm_node *node, const struct pm_off *off,
                      uint64_t ns);
/* The context of a thread that is active, at this stack pointer (0: unknown). */
const struct pm_node *pm_context_at(const struct pm_tls *t, const struct pm_slot *slot,
                                    uint64_t sp);
/* Of the sampler's thread. */
const struct pm_node *pm_sample_context(const struct pm_sampler *s, uint64_t sp);
/* Of what is off the CPU now. */
const struct pm_node *pm_sample_off_context(const struct pm_sampler *s);
/* The innermost context that has been active ever since the last sample was taken. */
const struct pm_node *pm_sample_steady(const struct pm_sampler *s, const struct pm_node *node);
/* Charges CPU time that no sample stands for to `node`, when it is as much as least_ns. cpu_ns:
 * since sampling began. lost: samples are missing, rather than that the kernel may not be
 * sampled. */
void pm_sample_settle(struct pm_sampler *s, const struct pm_node *node, uint64_t cpu_ns,
                      uint64_t least_ns, bool lost);
extern struct pm_run_sampling *pm_sampling; /* NULL: none in this file yet */

/* --- callers.c --- */
struct pm_caller {
    uint64_t address; /* 0: nobody known */
    uint8_t flags;    /* PM_RUN_SAMPLE_CALLER_SURE */
};
/* Who called what was interrupted, when that is a function without sleds. Notes in the sampler
 * when the stack was too short to tell. */
struct pm_caller pm_sample_caller(struct pm_sampler *s, const struct pm_node *node,
                                  const struct pm_taken *taken);

/* --- sample_perf.c --- */
/* 0, or an error number. */
int pm_perf_open(struct pm_sampler *s);
/* What came before that time; UINT64_MAX: all. cpu_ns: the thread's CPU clock, read just before
 * (reading it is a system call, in which threads are preempted: none comes between the caller's
 * look at the time stamp counter and the ring's). */
void pm_perf_drain(struct pm_sampler *s, uint64_t cpu_ns, uint64_t until_ns);
/* Goes on with deep samples when those drained did not reach: in the sampler's own thread, which
 * has its lock. */
void pm_perf_deepen(struct pm_sampler *s);
/* Likewise, when the bell has rung: the first rings early. */
void pm_perf_rang(struct pm_sampler *s);
void pm_perf_close(struct pm_sampler *s);
/* The ring is a hole now; it stays one, for it costs nothing and interrupted code may look at
 * it. */
void pm_perf_fork_child(struct pm_sampler *s);

/* --- sample_timer.c --- */
int pm_timer_open(struct pm_sampler *s);
void pm_timer_close(struct pm_sampler *s);
void pm_timer_expired(struct pm_sampler *s, const void *context);
void pm_timer_wait(struct pm_sampler *s, uint64_t cpu_ns); /* charges what it waited */

/* --- sample_store.c --- */
/* Adds to the item with this key, a new one if need be. False: no memory for it. */
bool pm_store_add(struct pm_store *store, uint64_t thread_offset, const struct pm_run_sample *added,
                  struct pm_run_sample **ret_item);
void pm_store_forget(struct pm_store *store); /* in a fork child: the chunks are the parent's */

/* --- thread.c --- */
uint64_t pm_thread_cpu_ns(uint32_t tid);                     /* 0: unknown */
extern uint64_t pm_stopped_cpu_ns;                           /* tests: what it says; 0: goes on */
void pm_thread_spent(struct pm_slot *slot, uint64_t cpu_ns); /* writes it down */
void pm_threads_each(void (*visit)(struct pm_slot *slot));   /* those that have been used */
/* Is the slot's thread block that of a thread? Not if that has left by a bare system call: its
 * block may be no memory any more, or somebody else's, so the kernel looks. False, too, where
 * nobody may ask. */
bool pm_thread_is_there(const struct pm_slot *slot);

/* --- object.c --- */
struct stat;
/* A chunk with all that is known of an object, but for its number and its nouns. */
struct pm_run_object *pm_object_chunk(const struct pm_object *o, const struct stat *info,
                                      uint32_t capacity, uint64_t *ret_bytes);
/* Another chunk like this one, of this number, without nouns. */
struct pm_run_object *pm_object_copy(const struct pm_run_object *chunk, uint32_t index);
void pm_object_set_path(struct pm_object *o, int fd);

/* --- places.c --- */
/* Where code lies: at ordinary calls under the loader's lock, or at start. */
void pm_places_add_object(struct pm_object *object);  /* (again) loaded, has its chunk */
void pm_places_drop_object(struct pm_object *object); /* unloaded */
bool pm_places_continue(const struct pm_object *twin, const struct pm_object *now);
void pm_places_update(void);   /* all other code; publishes */
void pm_places_rewrite(void);  /* after fork */
void pm_places_unstable(void); /* before the loader unmaps something */

/* Samples are taken, or the heap is followed: all code is written down. */
bool pm_places_are_on(void);

/* Below probes, by who holds a sampler's lock. */
uint16_t pm_places_generation(uint64_t time_ns); /* in force at that time */
/* Does the address lie in code that has no sleds and is not PerfMap's own? */
bool pm_places_is_foreign(uint64_t address);
bool pm_places_is_own(uint64_t address); /* PerfMap's, trampolines included */
bool pm_places_probe(uint64_t address, struct pm_probe_place *ret_place); /* in which trampoline */
/* What the code at the address is; false: of nobody that is known. Its tables may be read
 * between hold and release, when hold is true: else the loader may be about to take them away. */
struct pm_place {
    bool calls, own; /* as pm_places_is_foreign: neither */
    struct pm_tables tables;
};
bool pm_places_find(uint64_t address, struct pm_place *ret_place);
/* Has the function that the address is in no sled, in an object that has some? Those are of
 * libraries' headers, mostly: template instances, at -O0 also what would be inlined. False where
 * its table does not tell functions apart. Between hold and release. */
bool pm_places_lacks_sled(uint64_t address, const struct pm_tables *tables);
bool pm_places_have_cxx(void); /* is C++'s library loaded? */
bool pm_places_hold(void);
void pm_places_release(void);
bool pm_places_is_return(uint64_t address); /* does it stand behind a call in known code? */
/* The first word of the stack that is an address behind a call in code with sleds; 0: none. */
uint64_t pm_places_caller(const uint8_t *stack, uint64_t bytes);
/* The same from offset *at on, which is moved behind it. */
uint64_t pm_places_next_caller(const uint8_t *stack, uint64_t bytes, uint64_t *at);

/* Was the program in the kernel? Only where the instruction before lies in the same page: the
 * one before that need not be readable. */
static inline bool pm_is_behind_system_call(uint64_t address)
{
#if defined(__x86_64__)
    const uint8_t *p = (const uint8_t *)address;
    return address % PM_RUN_PAGE >= 2 && p[-2] == 0x0f && p[-1] == 0x05;
#else
    (void)address;
    return false;
#endif
}

#endif
