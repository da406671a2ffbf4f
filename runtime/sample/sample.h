/* The parts of sampling:
 *
 *   sample.c         which source, threads' start and end, which context a sample belongs to,
 *                    whether all of a thread's time is accounted for
 *   perf.c           perf_event_open: a ring for each thread
 *   timer.c          POSIX timers, where perf events are refused
 *   store.c          equal samples are one item in the run file
 *   times.c          and when they were taken
 *   counters.c       events beside the clock that somebody asked for
 *   library.c        those of them that libraries count
 *   callers.c        who called it: code/places.h says which code lies where, code/unwind.h reads
 *                    the tables that it carries
 *
 * A sampler belongs to a thread's slot and is used again by the slot's next thread. Whoever
 * drains it holds its lock: the thread itself (below a probe, or in the signal's handler), or
 * the thread that ends the process. Nobody ever waits for it but dlclose.
 */
#ifndef PM_RUNTIME_SAMPLE_H
#define PM_RUNTIME_SAMPLE_H

#include "format/pm_run.h"
#include "runtime/code/unwind.h"
#include "runtime/tree/thread.h"

#include <signal.h>

struct perf_event_attr;
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
    PM_VECTORS_BYTES = 4096, /* xsave of x87, SSE, AVX and AVX-512 needs 2688 */
};

/* When something was, CLOCK_MONOTONIC_RAW: all at once, or evenly between. */
struct pm_when {
    uint64_t from_ns, until_ns;
};

/* times.c: the chunk that counts, and one that did and is free for the next. */
struct pm_times {
    struct pm_run_times *chunk, *spare; /* NULL: there is none */
    struct pm_run_times *first;         /* room in the first chunk of samples, for the first */
    uint32_t capacity, n;               /* of the chunk, entries */
    bool stopped;                       /* there was no memory */
};

struct pm_store {
    struct pm_run_chunk *chunk; /* items are appended here */
    uint64_t capacity;          /* of the chunk, items */
    /* One piece of private memory: 1 + the number of an item, by its key; items by number; the
     * entry of the times that each was last added to. */
    uint32_t *index;
    struct pm_run_sample **items;
    uint32_t *last_time;
    uint32_t mask, n; /* of the index; items in all */
    struct pm_times times;
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

struct pm_counted {
    uint64_t value, enabled_ns, running_ns;
};

/* An event of counters.c, of one thread. */
struct pm_counter {
    int fd_plus_1;              /* 0: there is none */
    uint64_t id, id_before;     /* that samples have; of the event before this one, 0: none */
    struct pm_counted before;   /* of events before this one, which asked for less of the stack */
    struct pm_counted told;     /* to the run file */
    uint64_t seen, own;         /* when it was last read; of that, PerfMap's own, not charged yet */
    uint64_t begin_ns, seen_ns; /* when it was opened, and last read; 0: not known */
    uint64_t charged;           /* to contexts, or to none */
    uint64_t value;             /* of libraries: what has come since the thread began */
    void *bell;                 /* perf.c's */
};

struct pm_sampler {
    uint32_t lock;   /* 1: someone drains it */
    uint32_t source; /* enum pm_run_sample_source; none: no thread is sampled */
    struct pm_tls *t;
    struct pm_slot *slot;
    struct pm_store store;
    /* All CPU time is charged to something: what no sample stands for is noticed by comparing. */
    uint64_t cpu_before_ns; /* the thread's CPU clock when its sampling began */
    uint64_t charged_ns;    /* of its CPU time since then */
    uint64_t event_ns;      /* perf: what the event had counted at the last sample */
    uint64_t missing_ns;    /* perf: of the thread's clock, beyond all samples in the ring */
    uint64_t rest_ns;       /* perf: of that, what was before the ring's event began */
    uint64_t n_marked;      /* calls since the last sample that are marked already */
    uint64_t time_ns;       /* timers: of the last sample, CLOCK_MONOTONIC_RAW */
    uint64_t known_ns;      /* up to there its time is charged to something; the same clock */
    uint64_t recent_ns, recent_tsc; /* counters.c: the clock, as it was lately */
    uint64_t off_since_ns;          /* perf: when it was switched out; 0: it runs */
    uint64_t on_since_ns;           /* perf: when it was last switched in; 0: not yet */
    struct pm_off off;              /* where, and why */
    uint64_t off_ns, begin_ns; /* charged so far for times off the CPU; perf: when sampling began */
    /* perf: when it last opened events: what waits there (for the process's memory map, which
     * another thread is changing) is no wait of the program's. */
    uint64_t opening_from_ns, opening_until_ns;
    bool is_beginning;            /* the program waits for the sampler to be there */
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
    struct pm_counter counters[PM_COUNTERS_MAX];
    /* library.c */
    bool has_library;
    bool
        library_is_behind; /* the bell has rung since it was read, and other contexts may be open */
    uint32_t library_items; /* that can be read, by position */
    void *library_state;
    uint8_t
        vectors[PM_VECTORS_BYTES + 64]; /* registers of the program's, from a multiple of 64 on */
    /* timer; perf, for a brief thread: its bell */
    int timer;
    struct pm_unwind unwind;
    uint64_t record[PM_RECORD_BYTES / 8];
};

/* --- sample.c --- */
/* When there is a run file: from now on threads are sampled, the calling one first. */
void pm_sample_process_begin(void);
void pm_sample_loader_begins(void); /* code may be about to be unmapped */
void pm_sample_fork_child(void);    /* the parent's rings are not ours */
void pm_sample_take(struct pm_sampler *s, const struct pm_taken *taken);
/* ns of off-CPU time that was then. */
void pm_sample_waited(struct pm_sampler *s, const struct pm_node *node, const struct pm_off *off,
                      struct pm_when when, uint64_t ns);
/* The context of a thread that is active, at this stack pointer (0: unknown). */
const struct pm_node *pm_context_at(const struct pm_tls *t, const struct pm_slot *slot,
                                    uint64_t sp);
/* Of the sampler's thread. */
const struct pm_node *pm_sample_context(const struct pm_sampler *s, uint64_t sp);
/* The context that holds the time of what goes off the CPU now, with this stack pointer. */
const struct pm_node *pm_sample_off_at(const struct pm_sampler *s, uint64_t sp);
/* Of what is off the CPU now. */
const struct pm_node *pm_sample_off_context(const struct pm_sampler *s);
/* The innermost context that has been active ever since the last sample was taken. */
const struct pm_node *pm_sample_steady(const struct pm_sampler *s, const struct pm_node *node);
/* Charges CPU time that no sample stands for to `node`, when it is as much as least_ns. cpu_ns:
 * since sampling began. until_ns: the time of now (0: it is asked for); from where it is known what
 * the thread did. lost: samples are missing, rather than that the kernel may not be sampled. */
void pm_sample_settle(struct pm_sampler *s, const struct pm_node *node, uint64_t until_ns,
                      uint64_t cpu_ns, uint64_t least_ns, bool lost);
/* The same of whole periods in the kernel since the last sample, where that may not be sampled. */
void pm_sample_settle_kernel(struct pm_sampler *s);
/* A counter of a library has counted its period there (a ucontext_t). */
void pm_sample_overflowed(struct pm_sampler *s, uint32_t counter, const void *context);
/* The CPU time of a child by vfork, which has this thread's memory and is about to end. No sample
 * stands for it. False: this thread is not sampled. */
bool pm_sample_vforked(struct pm_tls *t, uint64_t cpu_ns);
void pm_sample_join(void); /* libraries count in the calling thread from now on */
/* A sample of `period` events of a counter. */
void pm_sample_count(struct pm_sampler *s, uint32_t counter, const struct pm_taken *taken,
                     uint64_t period);
/* Adds an item at a context; what has no room is counted as lost. */
void pm_sample_charge(struct pm_sampler *s, const struct pm_node *node, struct pm_when when,
                      struct pm_run_sample sample);
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

/* --- perf.c --- */
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

/* What events ask for so that their samples can be read from a ring, and counters as well. */
#define PM_PERF_READ_FORMAT \
    (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID)
void pm_perf_ask_samples(struct perf_event_attr *attr, uint64_t period, uint64_t stack_bytes);

/* --- counters.c --- */
bool pm_counters_sample(void);   /* is one of them sampled? */
bool pm_counters_are_read(void); /* is one of them read? */
/* Opens those of the calling thread, or again those that go on with another ring. ring_fd: of the
 * thread's clock; -1: there is no ring, and those that are sampled cannot be had. */
void pm_counters_open(struct pm_sampler *s, long ring_fd);
/* Whose sample has this number; -1: the clock's. */
int pm_counters_find(const struct pm_sampler *s, uint64_t id);
/* A sample of this event of counter i says so; the kernel says that it takes no more of them until
 * its next tick, and that what happens until then is not counted. */
void pm_counters_sampled(struct pm_sampler *s, uint32_t i, uint64_t id, uint64_t enabled_ns,
                         uint64_t running_ns);
void pm_counters_throttled(uint32_t i);
/* What they have counted since they were last looked at was in this context (is_located), or there
 * and below; or PerfMap's own. in_handler: the program's own code is interrupted. */
void pm_counters_read(struct pm_sampler *s, const struct pm_node *node, bool is_located,
                      bool in_handler);
void pm_counters_skip(struct pm_sampler *s);
/* At the end of the thread or of the process, when the ring is empty: writes the rest down. It may
 * go on. */
void pm_counters_settle(struct pm_sampler *s);
/* is_there: its thread ends now, rather than that this is a fork child */
void pm_counters_close(struct pm_sampler *s, bool is_there);
void pm_counters_fork_child(void);           /* before samplers are forgotten */
void pm_counters_join(struct pm_sampler *s); /* those of libraries, which came later */
/* Now, to 0.1 ms: reading the clock takes as long as reading a counter. */
uint64_t pm_counters_now_ns(struct pm_sampler *s);
/* n events that were read, of counter i, since it was last read. */
void pm_counters_charge(struct pm_sampler *s, uint32_t i, const struct pm_node *node, uint64_t n,
                        bool is_located);
/* What nothing was charged with, of `count`. */
void pm_counters_settle_one(struct pm_sampler *s, uint32_t i, uint64_t count);

/* --- library.c: as counters.c's, which calls them --- */
struct pm_counter_library;
bool pm_library_is_used(void); /* in threads */
void pm_library_open(struct pm_sampler *s, struct pm_run_counter *items);
void pm_library_read(struct pm_sampler *s, const struct pm_node *node, bool is_located,
                     bool in_handler);
void pm_library_skip(struct pm_sampler *s);
void pm_library_settle(struct pm_sampler *s, struct pm_run_counter *items);
void pm_library_close(struct pm_sampler *s, bool is_there);
void pm_library_fork_child(void);
/* pm_counters_link (format/pm_counter_library.h), and a number of the whole process. */
const struct pm_counter_runtime *pm_library_link(const struct pm_counter_library *library,
                                                 void (*join)(void));
bool pm_library_read_process(uint32_t position, uint64_t *ret_number);

/* --- timer.c --- */
int pm_timer_open(struct pm_sampler *s);
void pm_timer_close(struct pm_sampler *s);
void pm_timer_expired(struct pm_sampler *s, const void *context);
/* Where a ucontext_t of the sampler's own thread was. */
struct pm_taken pm_timer_taken(const struct pm_sampler *s, const void *context);
void pm_timer_wait(struct pm_sampler *s, uint64_t cpu_ns); /* charges what it waited */

/* --- store.c --- */
/* Adds to the item with this key, a new one if need be. when NULL: no times of this store are
 * kept. False: no memory for it. */
bool pm_store_add(struct pm_store *store, uint64_t thread_offset, const struct pm_when *when,
                  const struct pm_run_sample *added, struct pm_run_sample **ret_item);
void pm_store_forget(struct pm_store *store); /* in a fork child: the chunks are the parent's */

/* --- times.c --- */
/* What was added to the item of that number. Where there is no memory, it has no time. */
void pm_times_add(struct pm_store *store, uint64_t thread_offset, uint32_t number,
                  const struct pm_when *when, uint64_t n_samples, uint64_t value);
void pm_times_fork_child(void); /* the file is a new one */

#endif
