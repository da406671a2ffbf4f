/* Reader of run files (format/pm_run.h, docs/formats/run-file.md). Trusts nothing that a file
 * says.
 *
 *     struct pm_run_file *file;
 *     if (pm_run_file_open("heat.run/123.0.pmr", &clock, &err, &file) != PM_OK) ...
 *     for (size_t i = 0; i < pm_run_file_n_threads(file); i++) {
 *         const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
 *         for (size_t k = 0; k < thread->n_nodes; k++)
 *             use(thread->nodes[k].own_ns, pm_run_file_noun(file, thread->nodes[k].noun));
 *     }
 *     pm_run_file_free(file);
 *
 * Everything is checked once, at loading: every index, parent and length that a getter hands out
 * is good, and users need no checks of their own. Damage does not lose what is sound: it is
 * kept, and each damaged place is one complaint, `run file 'heat.run/123.0.pmr' byte 4096: ...`.
 * Only an unreadable header fails the whole file. Memory in use is at most a small multiple of
 * the file's size. Everything lent lives as long as the file. One thread at a time per object.
 *
 * Times. Clock ticks become nanoseconds by, in this order: the header's tsc_hz; the run's
 * (manifest); the header's start and end pair, or start and last pair, when it is at least 1 ms
 * long; the run's own pair; the header's pair however short. When there is nothing of all this,
 * a tick is taken as 1 ns and a complaint says so.
 *
 * Open frames. A process that was killed leaves frames that are still active (sp is not 0). They
 * are ended at the end of their thread, else of their process, else, for the first process of a
 * run, when `perfmap run` saw it end, else at the earliest time that fits everything in the
 * file: last_tsc, starts of activations, and what ended within them. end_kind is then
 * PM_RUN_FILE_KILLED, and in the last case the last stretch is not known. Where a process notes
 * its own end (exit, exec), its other threads run on until the kernel ends them, and their
 * events are in the file: such a thread ends with its last event, and the process with the last
 * of its threads.
 *
 * Own times add up. inclusive_ns of a context is never less than the sum over its children,
 * never more than its parent's, and a thread's root has the thread's wall time; own_ns is
 * inclusive_ns less the children's, so the sum of own_ns over the trees of a thread is its
 * wall_ns exactly. In a sound file of a process that ended this changes nothing. A process
 * killed between two stores of the runtime leaves one activation counted in a child and not yet
 * in its parent (or in both): then the parent is raised to its children's sum, and its own
 * parent's own time is the less by it; only where the children of the thread's root exceed the
 * wall time are siblings reduced, all by the same factor, down the tree. An inclusive time
 * beyond the wall time of its thread is damage: complaint, and taken as 0 before raising.
 *
 * Contexts of nouns that are not timed (mode active) have no times, and nouns may have modes of
 * their own, so timed contexts and others lie above and below each other. The inclusive time of
 * one without a time is the sum over its nearest timed descendants, its own time 0: what it took
 * is in the own time of the nearest timed context above, at last the thread's root, which always
 * has the wall time. A context whose noun was timed for a while only has the time of those
 * calls: its time is at least that, and the rest is above as well. Samples (version 1.1) have
 * times of their own, which are not part of these.
 *
 * Counters (mode count, for a noun or for all) are calls that no context has: the calls of a
 * noun are those of its contexts and its counters.
 *
 * Trees on foreign stacks (signal stacks, coroutines above the thread's own stack) have roots of
 * their own, flag PM_RUN_NODE_FOREIGN_STACK. Their time is not in the contexts that were active
 * on the thread's own stack meanwhile: all roots together have wall_ns.
 */
#ifndef PM_RUN_FILE_H
#define PM_RUN_FILE_H

#include "../base/str.h"
#include "../../format/pm_run.h"
#include "../../format/pm_words.h"
#include "manifest.h"

struct pm_run_file;

/* What is known of the run's clock. All 0: nothing. */
struct pm_run_clock {
    uint64_t tsc_hz;
    uint64_t start_tsc, start_monotonic_ns, end_tsc, end_monotonic_ns;
    uint32_t first_pid; /* the process whose end is end_tsc */
    /* The machine whose clock it is, lent from the manifest; NULL: not known. Of a process that ran
     * on another one only start_realtime_ns says anything. */
    const char *node;
    uint64_t start_realtime_ns;
};
struct pm_run_clock pm_run_clock_of(const struct pm_manifest *manifest);

enum pm_run_file_end { PM_RUN_FILE_EXIT, PM_RUN_FILE_EXEC, PM_RUN_FILE_KILLED };

struct pm_run_file_process {
    uint32_t pid, parent_pid, flags, mode;
    enum pm_run_file_end end_kind;
    uint64_t tsc_hz; /* in use; never 0 */
    uint64_t start_tsc, start_realtime_ns, start_monotonic_ns;
    uint64_t end_ns; /* since start_tsc */
    bool has_usage;  /* the three below are known */
    uint64_t user_cpu_ns, system_cpu_ns, max_rss_bytes;
    uint64_t exact_pair_ps, exact_inner_ps, count_event_ps;
    uint64_t n_sleds, n_lost_contexts, n_unmatched, n_healed, n_foreign_stack;
    /* calls and loop entries over all contexts and counters; adopted causes are none */
    uint64_t n_calls;
    uint64_t identity;       /* pm_run_identity: what causes tell */
    int64_t rank;            /* -1: not known */
    struct pm_str node, job; /* empty: not known */
    /* It ran on another machine than the run's clock: how much later it started, by the real time
     * of both. */
    bool is_elsewhere;
    uint64_t elsewhere_start_ns;
    struct pm_str exe, cwd, argv; /* argv: arguments each ended by a zero byte; may be cut */
};

struct pm_run_file_object {
    struct pm_str path, build_id; /* build_id: raw bytes, may be empty */
    uint32_t first_noun, n_nouns; /* among the file's nouns, as pm_run_file_noun counts */
    uint32_t most_nouns; /* that its chunk has room for: portable mode adds them as they come */
    uint64_t load_bias, inode, device, file_bytes, mtime_ns;
    uint32_t n_sleds, n_bad_sleds;
    uint32_t kind;      /* enum pm_run_object_kind; an unknown one is as an ELF file */
    uint64_t low, high; /* run-time addresses of its segments, [low, high) */
    uint32_t loaded_generation, unloaded_generation; /* 0: still loaded */
};

#define PM_RUN_FILE_NO_OBJECT 0xffffffffu
struct pm_run_file_noun {
    uint64_t id;     /* 0: the noun that stands for all that the file names and does not describe */
    uint32_t object; /* position; PM_RUN_FILE_NO_OBJECT for that one */
    uint32_t kind;   /* enum pm_sled_kind of its entry */
    uint32_t n_sleds;
    enum pm_run_mode mode; /* that it was started with */
    uint64_t address;      /* ELF address of its first sled, 0 none */
};

/* Partly timed: the time of some of its calls is known, nobody knows of how many. */
enum pm_run_file_timing { PM_RUN_FILE_UNTIMED, PM_RUN_FILE_PARTLY_TIMED, PM_RUN_FILE_TIMED };

#define PM_RUN_FILE_NO_PARENT 0xffffffffu
struct pm_run_file_node {
    uint32_t noun;   /* position among the file's nouns; PM_RUN_NOUN_ROOT for roots */
    uint32_t parent; /* position in the thread's nodes, always less than its own;
                        PM_RUN_FILE_NO_PARENT for roots */
    uint32_t flags;  /* PM_RUN_NODE_*; of roots and folded contexts */
    bool is_set;     /* a set of sentences that were begun; what is below was active meanwhile */
    uint32_t place;  /* in the file / 64, which causes tell; 0: of a root that the file lacks */
    bool open;       /* was active when the process ended */
    enum pm_run_file_timing timing;
    uint64_t n_calls;
    uint64_t inclusive_ns, own_ns;
};

/* Samples of equal place and context, added up. Since version 1.1. */
struct pm_run_file_sample {
    /* enum pm_run_sample_kind; COST: address is the number of a metric's word, or of none */
    uint32_t kind;
    uint32_t node; /* position in the thread's nodes; 0, its root, where no context was active */
    uint32_t object, caller_object; /* positions; PM_RUN_FILE_NO_OBJECT */
    /* ELF addresses of the object; without one, as the process had it. 0: not known. The
     * caller's is the last byte of the call instruction, not the place behind it. */
    uint64_t address, caller;
    bool caller_sure;
    bool is_beginning; /* PREEMPTED, while PerfMap began with the thread */
    /* whose trampoline it is in, position among nouns; PM_RUN_NOUN_ROOT: none */
    uint32_t probe_noun;
    bool probe_inner;            /* and in the time that is measured for it */
    uint64_t n_samples, time_ns; /* time_ns: at most INT64_MAX */
    /* 1 + the position of a counter, whose events time_ns are; 0: they are times. kind is then
     * USER, KERNEL or LOST, or COUNTED: read in that context, with no place. */
    uint32_t counter;
};
enum { PM_RUN_FILE_SAMPLE_COUNTED = 100 };

/* What a sample's time_ns has in some buckets of the thread's time, evenly over them. */
struct pm_run_file_time {
    uint32_t sample;        /* position */
    uint16_t first, n_more; /* buckets; n_more: beyond the first */
    uint32_t n_samples;     /* of them */
    uint64_t value;         /* those of a sample add up to at most its time_ns */
};
enum { PM_RUN_FILE_BUCKETS = PM_RUN_TIMES_BUCKETS };

struct pm_run_file_thread {
    uint32_t tid, n_threads;
    uint64_t start_ns, end_ns; /* since the process's start_tsc */
    uint64_t wall_ns; /* end - start; less where several threads shared the slot with gaps between
                         them */
    uint64_t cpu_ns;  /* 0: unknown */
    uint64_t start_cpu_ns; /* of a process's first thread: its clock when the runtime began; an exec
                              does not set it back. 0: unknown */
    uint64_t foreign_ns;   /* sum over the roots on foreign stacks */
    struct pm_str name;
    const struct pm_run_file_node *nodes; /* nodes[0] is the thread's root */
    size_t n_nodes;
    bool has_sets; /* some contexts are below sets of sentences */
    const struct pm_run_file_sample *samples;
    size_t n_samples; /* items, each of many samples */
    /* By sample and first bucket; none in files before version 1.4. Bucket 0 begins at
     * bucket_start_ns, CLOCK_MONOTONIC_RAW as start_monotonic_ns of the process; less than
     * PM_RUN_FILE_BUCKETS are used. */
    const struct pm_run_file_time *times;
    size_t n_times;
    uint64_t bucket_start_ns, bucket_ns; /* bucket_ns 0: no times */
};

/* A word of the program's own (format/pm_words.h), in the order of their numbers: the first is
 * number 1. */
enum { PM_RUN_FILE_WORD_TEXTS = 3, PM_RUN_FILE_MAX_WORDS = PM_WORDS_MAX };
struct pm_run_file_word {
    /* enum pm_word_kind; 0: damaged, and to be passed over. What it refers to is there and of
     * the right kind */
    uint32_t kind;
    uint32_t a, b, line_no; /* line_no of a FRAME: index of its noun; PM_RUN_NOUN_ROOT: none */
    uint64_t address, size_bytes;
    double weight; /* 0: not stated */
    /* of a noun: number of the noun that it counts as, which is not merged; 0: itself */
    uint64_t merged;
    uint32_t n_nouns, nouns[PM_WORDS_MAX_NOUNS];
    uint32_t object;         /* that a CALL's or FRAME's address, an ELF address, is in;
                              * PM_RUN_FILE_NO_OBJECT */
    const uint32_t *members; /* of a set: numbers of sentences, rising */
    uint32_t n_members;
    struct pm_str texts[PM_RUN_FILE_WORD_TEXTS];
};

/* Counters of mode count: counts[i] belongs to noun object.first_noun + i. */
struct pm_run_file_counts {
    uint32_t thread, object;
    const uint64_t *counts;
    size_t n_counts;
};

/* How the process was sampled. */
struct pm_run_file_sampling {
    uint32_t source; /* enum pm_run_sample_source, or a later one */
    bool is_wall;    /* wall time is sampled, not CPU time */
    bool has_kernel, has_switches;
    uint64_t period_ns;
    uint64_t n_samples, n_lost, n_threads, n_threads_failed, n_switches;
    int error_no;            /* why the source is not perf; 0 */
    uint64_t active_pair_ps; /* mode active: cost of a pair of events; 0 unknown */
    uint64_t start_cpu_ns;   /* CPU time of the process before the runtime began; 0 unknown */
};

/* An event that was counted, over all threads of the process. */
struct pm_run_file_counter {
    struct pm_str name, unit; /* of the metric; [a-z0-9_]; printable ASCII */
    uint64_t period;          /* a sample for so many events; 0: the counter was read */
    uint32_t type;            /* of struct perf_event_attr, or PM_COUNTER_OF_* */
    uint64_t config;
    bool is_user_only; /* what the kernel did is not in it */
    bool is_precise;   /* samples have the addresses of the instructions that did it */
    /* read when the process began and when it ended: costs are count, of all of it */
    bool is_source;
    bool is_last;      /* of sources: what was there at the end; the most of several counts */
    bool is_shared;    /* each thread has what all of them did since it was last read */
    bool is_estimated; /* PAPI let events take turns, and scaled counts up */
    uint64_t n_threads, n_threads_failed, n_closed; /* as in format/pm_run.h */
    uint64_t count, enabled_ns, running_ns;         /* each at most INT64_MAX */
    int error_no;                                   /* 0: it could be had */
    uint64_t n_throttled;                           /* as in format/pm_run.h */
};

/* What measuring cost, as the process reckoned itself when it had used cpu_ns. 0: not known. */
struct pm_run_file_overhead {
    uint64_t budget_ppm; /* of its CPU time; 0: none */
    uint64_t count_pair_ps, active_pair_ps, exact_pair_ps, exact_inner_ps;
    uint64_t cpu_ns, events_ns, samples_ns, looks_ns; /* each at most INT64_MAX */
    uint64_t starts_ns; /* of the process and its threads, and their ends */
    uint64_t sample_ns; /* of samples_ns, estimated for the interrupt of each */
    uint64_t fixed_ns;  /* of events_ns, for what the budget cannot lower (format/pm_run.h) */
};

/* A noun was in another mode than the one it was started with, for a while. Times since the
 * process's start_tsc. */
struct pm_run_file_adapted {
    uint32_t noun;                      /* position */
    enum pm_run_mode mode, mode_before; /* in mode off its calls are not counted */
    bool is_asked;                      /* by perfmap mode, not to keep the budget */
    uint64_t disarmed_ns;               /* from */
    bool is_armed_again;                /* else it stayed so to the end */
    uint64_t armed_ns;
    uint64_t n_events; /* in the mode before, as far as they were counted */
};

/* Blocks of the heap that were allocated at one place in one context (perfmap run --heap). */
struct pm_run_file_heap_site {
    uint32_t thread, node; /* positions; node 0, the thread's root, where no context was active */
    uint32_t object;       /* of the caller, PM_RUN_FILE_NO_OBJECT */
    uint64_t caller;       /* as in struct pm_run_file_sample */
    bool caller_sure;      /* it called the allocating function itself */
    uint64_t n_allocations, allocated_bytes, n_freed, freed_bytes; /* what is freed is not more */
    uint64_t peak_bytes;
    uint64_t life_ns;                 /* of all that were freed */
    uint64_t least_bytes, most_bytes; /* of a block */
};

/* A large block. Times since the process's start_tsc. */
struct pm_run_file_heap_block {
    uint32_t site; /* position */
    bool is_freed;
    uint64_t address, size_bytes, allocated_ns, freed_ns;
};

struct pm_run_file_message {
    uint32_t code; /* enum pm_run_message_code, or a later one */
    uint64_t tsc;
    struct pm_str text;
};

/* Reads a whole file. clock NULL: nothing is known of the run. PM_ERR_FORMAT: not a run file, or
 * its header is damaged; PM_ERR_VERSION: of another major version; PM_ERR_SYSTEM, PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_run_file_open(const char *path, const struct pm_run_clock *clock,
                                              struct pm_error *err, struct pm_run_file **ret_file);
/* The same from memory, which is not kept; name is for messages. */
PM_MUST_CHECK enum pm_status pm_run_file_parse(const char *name, const void *bytes, size_t len,
                                               const struct pm_run_clock *clock,
                                               struct pm_error *err, struct pm_run_file **ret_file);
/* Whether a file may have words (of the program's own, causes): a look at its chunks' headers. True
 * when that cannot be known. */
bool pm_run_file_has_words(const char *path);
void pm_run_file_free(struct pm_run_file *file);

const struct pm_run_file_process *pm_run_file_process(const struct pm_run_file *file);
/* That of nouns which have none of their own. One that is not known (damage) is off. */
enum pm_run_mode pm_run_file_mode(const struct pm_run_file *file);
size_t pm_run_file_n_objects(const struct pm_run_file *file);
const struct pm_run_file_object *pm_run_file_object(const struct pm_run_file *file, size_t index);
size_t pm_run_file_n_words(const struct pm_run_file *file);
const struct pm_run_file_word *pm_run_file_word(const struct pm_run_file *file, size_t i);
size_t pm_run_file_n_nouns(const struct pm_run_file *file);
const struct pm_run_file_noun *pm_run_file_noun(const struct pm_run_file *file, size_t index);
/* The cause that contexts of this noun adopt, a word of kind PM_WORD_CAUSE; NULL: they do not.
 * noun may be PM_RUN_NOUN_ROOT. */
const struct pm_run_file_word *pm_run_file_cause(const struct pm_run_file *file, uint32_t noun);
size_t pm_run_file_n_threads(const struct pm_run_file *file);
const struct pm_run_file_thread *pm_run_file_thread(const struct pm_run_file *file, size_t index);
size_t pm_run_file_n_counts(const struct pm_run_file *file);
const struct pm_run_file_counts *pm_run_file_counts(const struct pm_run_file *file, size_t index);
/* NULL: was not sampled */
const struct pm_run_file_sampling *pm_run_file_sampling(const struct pm_run_file *file);
size_t pm_run_file_n_counters(const struct pm_run_file *file);
const struct pm_run_file_counter *pm_run_file_counter(const struct pm_run_file *file, size_t index);
/* NULL: it did not */
const struct pm_run_file_overhead *pm_run_file_overhead(const struct pm_run_file *file);
size_t pm_run_file_n_adapted(const struct pm_run_file *file);
const struct pm_run_file_adapted *pm_run_file_adapted(const struct pm_run_file *file, size_t index);
size_t pm_run_file_n_heap_sites(const struct pm_run_file *file);
const struct pm_run_file_heap_site *pm_run_file_heap_site(const struct pm_run_file *file,
                                                          size_t index);
size_t pm_run_file_n_heap_blocks(const struct pm_run_file *file);
const struct pm_run_file_heap_block *pm_run_file_heap_block(const struct pm_run_file *file,
                                                            size_t index);
/* Calls that other processes take part in (pm_run.h): kinds and times are good, places need not be
 * there. */
size_t pm_run_file_n_meetings(const struct pm_run_file *file);
const struct pm_run_meeting *pm_run_file_meeting(const struct pm_run_file *file, size_t index);
size_t pm_run_file_n_messages(const struct pm_run_file *file);
const struct pm_run_file_message *pm_run_file_message(const struct pm_run_file *file, size_t index);

/* What was found damaged, in reading order. At most 32 are kept; n_complaints may be larger. */
size_t pm_run_file_n_complaints(const struct pm_run_file *file);
const char *pm_run_file_complaint(const struct pm_run_file *file,
                                  size_t index); /* NULL: beyond those kept */

/* Ticks of this process's clock as nanoseconds, rounded down; at most INT64_MAX. */
uint64_t pm_run_file_to_ns(const struct pm_run_file *file, uint64_t ticks);

#endif
