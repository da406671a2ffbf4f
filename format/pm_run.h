/* The run file: what one process leaves. Written by runtime/ into shared mappings of a file,
 * read by mapping/run.
 *
 * A run is a folder (made by `perfmap run`, named by the environment variable PERFMAP_RUN_DIR)
 * with one run file for each process image, `PID.N.pmr` (N = 0, 1, ...: exec makes a new image
 * with the same PID), and a text file `manifest` (below). All numbers are little-endian, in the
 * byte order of x86-64; the file is valid at every instant: a process killed at any time leaves
 * everything up to its last event.
 *
 * Layout: a 4096-byte struct pm_run_header, then chunks. Each chunk starts at a multiple of 4096
 * with a 64-byte struct pm_run_chunk and is `size_bytes` long (a multiple of 4096). A chunk's
 * header is written before its contents count; a page that starts with zeros where a chunk
 * should be is a chunk that was being made when the process died: readers step on by 4096 bytes.
 * Unknown chunk kinds are skipped; an unknown major version is refused. The writer may leave
 * zeros after the last chunk. A process without instrumented code (PM_RUN_FLAG_NO_SLEDS) leaves
 * a file when samples are taken.
 *
 * Strings are stored as bytes with an explicit length, in any encoding, without an ending zero.
 *
 * Manifest: lines `key=value`, UTF-8 with bytes outside 0x20..0x7e and '%' written as %XX. Keys:
 * version (1), command (arguments each so encoded, separated by single spaces), cwd, host,
 * perfmap (version of the tool), mode, pid (of the first process), start_realtime_ns,
 * start_monotonic_ns, end_monotonic_ns, start_tsc, end_tsc, tsc_hz, user_cpu_ns, system_cpu_ns,
 * max_rss_bytes, exit_status or exit_signal; of a run for one question (perfmap run --ask)
 * question, n_question_sleds, n_all_sleds. Those of the end are missing while the program runs
 * or when `perfmap run` was killed.
 */
#ifndef PM_RUN_H
#define PM_RUN_H

#include <stdint.h>

#define PM_RUN_MAGIC "PerfMapR" /* 8 bytes, no ending zero */
#define PM_RUN_VERSION_MAJOR 1u
#define PM_RUN_VERSION_MINOR 4u
#define PM_RUN_PAGE 4096u

enum pm_run_mode {
    PM_RUN_MODE_OFF = 0,
    PM_RUN_MODE_COUNT = 1,
    PM_RUN_MODE_ACTIVE = 2, /* contexts without times, and samples */
    PM_RUN_MODE_EXACT = 3,  /* contexts with times, and samples */
    PM_RUN_MODE_TRACE = 4   /* as exact, and every event is recorded */
};

enum {
    PM_RUN_FLAG_ENDED = 1,    /* end_* fields are set: the process left by exit, _exit or exec */
    PM_RUN_FLAG_EXEC = 2,     /* it left by exec */
    PM_RUN_FLAG_FORKED = 4,   /* it began as a fork child; parent_pid is the forking process */
    PM_RUN_FLAG_NO_SLEDS = 8, /* no loaded object had sleds or hooks */
    PM_RUN_FLAG_PORTABLE = 16 /* some object was measured through portable hooks */
};

/* Written once at start, but for the fields named end_*, flags, used_bytes and the counters. */
struct pm_run_header {
    char magic[8];
    uint16_t version_major, version_minor;
    uint32_t header_bytes; /* sizeof(struct pm_run_header) */
    uint64_t used_bytes;   /* offset after the last chunk that was reserved */
    uint32_t flags;        /* PM_RUN_FLAG_* */
    uint32_t mode;         /* enum pm_run_mode; nouns may have their own (pm_run_noun, ADAPTED) */
    uint32_t pid, parent_pid;
    uint64_t start_tsc, start_monotonic_ns, start_realtime_ns; /* monotonic: CLOCK_MONOTONIC_RAW */
    uint64_t last_tsc,
        last_monotonic_ns; /* a later pair, renewed at slow-path work; 0 = none yet */
    uint64_t end_tsc, end_monotonic_ns;
    uint64_t end_user_cpu_ns, end_system_cpu_ns, end_max_rss_bytes;
    uint64_t tsc_hz; /* 0: unknown, take it from the pairs above. 10^9 where times are nanoseconds
                        already */
    uint64_t exact_pair_ps; /* measured cost of one exact entry/exit pair, picoseconds */
    uint64_t count_event_ps;
    uint64_t n_sleds, n_armed; /* found; patched now */
    uint64_t n_lost_contexts;  /* events without a context, or lost: memory or limits ended */
    uint64_t n_unmatched;      /* exit events without a frame */
    uint64_t n_healed;         /* frames closed because their stack was gone */
    uint64_t n_foreign_stack;  /* times that another stack was entered */
    uint32_t exe_bytes, cwd_bytes,
        argv_bytes;          /* argv: arguments each ended by one zero byte; may be cut */
    uint32_t exact_inner_ps; /* the part of exact_pair_ps between the pair's two clock reads, so
                              * within the measured time of the construct itself; the rest falls to
                              * its caller. 0: unknown */
    char text[3792];         /* exe, cwd, argv, one after the other */
    /* of MPI or whatever started it as one of many (environment); 0: not known */
    uint32_t rank_plus_1;
    uint32_t n_ranks; /* 0: not known */
    /* Since 1.3: zero bytes follow; all of them where it is not known. */
    char node[64]; /* the machine, as uname has it */
    char job[24];  /* of a batch system, by the environment; may be cut */
};

enum pm_run_chunk_kind {
    PM_RUN_CHUNK_OBJECT = 1,  /* struct pm_run_object */
    PM_RUN_CHUNK_THREAD = 2,  /* struct pm_run_thread, then nodes */
    PM_RUN_CHUNK_NODES = 3,   /* more nodes of a thread, from offset 64 */
    PM_RUN_CHUNK_COUNTS = 4,  /* struct pm_run_counts */
    PM_RUN_CHUNK_MESSAGE = 5, /* struct pm_run_message */
    /* Since version 1.1: */
    PM_RUN_CHUNK_SAMPLING = 6, /* struct pm_run_sampling: at most one */
    PM_RUN_CHUNK_SAMPLES = 7,  /* struct pm_run_sample of a thread, from offset 64 */
    /* struct pm_run_adapted, from offset 64: what was disarmed to keep the budget */
    PM_RUN_CHUNK_ADAPTED = 8,
    PM_RUN_CHUNK_HEAP_SITES = 9,   /* struct pm_run_heap_site, from offset 64 */
    PM_RUN_CHUNK_HEAP_BLOCKS = 10, /* struct pm_run_heap_block, from offset 64 */
    /* Since 1.2, mode trace: */
    PM_RUN_CHUNK_TRACE_HEAD = 11,  /* struct pm_run_trace: a thread's newest events */
    PM_RUN_CHUNK_TRACE_SPACE = 12, /* parts, from offset 4096 */
    /* struct pm_control (pm_control.h): at most one; nothing in it is a result */
    PM_RUN_CHUNK_CONTROL = 13,
    PM_RUN_CHUNK_WORDS = 15,    /* struct pm_run_word (pm_words.h), from offset 64 */
    PM_RUN_CHUNK_OVERHEAD = 14, /* struct pm_run_overhead: at most one */
    PM_RUN_CHUNK_AMBIENT = 16,  /* struct pm_run_ambient, from offset 64: the process's own sets */
    PM_RUN_CHUNK_MEETINGS = 17, /* struct pm_run_meeting, from offset 64 */
    PM_RUN_CHUNK_COUNTERS = 18, /* struct pm_run_counter, from offset 64: at most one */
    /* the same of sources: numbers that the process read when it began and when it ended */
    PM_RUN_CHUNK_SOURCES = 19,
    PM_RUN_CHUNK_TIMES = 20, /* since 1.4: struct pm_run_times, then struct pm_run_time */
};

#define PM_RUN_CHUNK_MAGIC 0x4b434d50u /* "PMCK" */

/* A packed run file, of a process that has ended: its header page, with this major version and
 * the minor version of what is packed, then this, then packed_bytes of zstd (a frame with a
 * checksum): what followed the header page. What the runtime alone needs is 0 in it.
 * `perfmap run` makes them; the runtime writes none. */
#define PM_RUN_VERSION_PACKED 2u
#define PM_RUN_PACKED_MAGIC 0x4b504d50u /* "PMPK" */
enum { PM_RUN_PACKED_WORDS = 1 };       /* there are chunks WORDS */
struct pm_run_packed {
    uint32_t magic, flags;   /* PM_RUN_PACKED_* */
    uint64_t unpacked_bytes; /* of the whole file, header page included: a multiple of 4096 */
    uint64_t packed_bytes;   /* of zstd, from offset 4160 */
    uint64_t reserved[5];
};

struct pm_run_chunk {
    uint32_t magic;      /* PM_RUN_CHUNK_MAGIC, written last */
    uint32_t kind;       /* enum pm_run_chunk_kind */
    uint64_t size_bytes; /* whole chunk with this header, a multiple of 4096 */
    /* NODES, COUNTS, SAMPLES, TIMES: file offset of the THREAD chunk; else 0 */
    uint64_t owner;
    uint64_t n_items; /* NODES, THREAD: nodes in use (counted up as they are filled); OBJECT: nouns;
                         COUNTS: counters; SAMPLES, TIMES, ADAPTED, AMBIENT: items; MEETINGS: items,
                         or more than there is room for */
    /* SAMPLES, since 1.4: 1 + the number of its first item among those that TIMES chunks of the
     * thread name; 0: they name none of it */
    uint32_t first_number_plus_1;
    /* SAMPLES, since 1.4: there, up to the chunk's end, is what a TIMES chunk would hold; 0:
     * nothing. Brief threads need no chunk more. */
    uint32_t times_offset;
    uint64_t reserved[3];
};

/* Which process image this is, among all of all machines: what a cause says of where it was
 * captured. */
static inline uint64_t pm_run_identity(uint32_t pid, uint64_t start_tsc, uint64_t start_realtime_ns)
{
    uint64_t h = (start_realtime_ns ^ (uint64_t)pid << 40) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ start_tsc) * 0xc2b2ae3d27d4eb4fu;
    h = (h ^ h >> 29) * 0x165667b19e3779f9u;
    h ^= h >> 32;
    return h != 0 ? h : 1;
}

/* One loaded object (OBJECT chunk); since 1.1 also those without sleds, when samples are taken:
 * code that is not of an ELF file has kind PM_RUN_OBJECT_RUNTIME (trampolines; no build-id, path
 * "[perfmap]"), the vdso the path "[vdso]". Followed, from `strings_offset` (relative to the
 * chunk), by path and build-id, and from nouns_offset by n_items struct pm_run_noun. */
struct pm_run_object {
    struct pm_run_chunk chunk;
    uint32_t index; /* of this object in this file, from 0 */
    /* process-wide index of its first noun; its nouns are numbered on from there */
    uint32_t first_noun;
    uint64_t load_bias;                /* run-time address = bias + ELF address */
    uint64_t low, high;                /* run-time address range of its segments */
    uint64_t loaded_tsc, unloaded_tsc; /* 0: still loaded */
    uint64_t inode, device, file_bytes, mtime_ns;
    uint32_t n_sleds, n_bad_sleds; /* records found; records refused as damaged */
    uint32_t strings_offset, path_bytes, build_id_bytes;
    uint32_t nouns_offset;
    /* Since 1.1. A sample belongs to the object that has its address and loaded_generation <=
     * the sample's generation <= unloaded_generation (0: still loaded). */
    uint32_t kind; /* enum pm_run_object_kind */
    uint32_t loaded_generation, unloaded_generation;
    uint32_t reserved32;
    uint64_t reserved[1];
};

enum pm_run_object_kind {
    PM_RUN_OBJECT_ELF = 0,
    PM_RUN_OBJECT_RUNTIME = 1, /* PerfMap's own code */
    /* no code: its nouns are sentences of the program's own words, ids their numbers (pm_words.h)
     */
    PM_RUN_OBJECT_WORDS = 2
};

struct pm_run_noun {
    uint64_t id;   /* as in the sled record */
    uint16_t kind; /* enum pm_sled_kind of its entry: PM_SLED_ENTRY or PM_SLED_LOOP_ENTER */
    /* since 1.2: 1 + the enum pm_run_mode that it was started with; 0: the header's */
    uint8_t own_mode;
    uint8_t reserved;
    uint32_t n_sleds; /* copies of its sleds, exits included */
    uint64_t address; /* ELF address of its first sled (0: portable) */
};

/* One thread (THREAD chunk), or several that ran one after the other in the same slot. Nodes start
 * at offset 256; those of a NODES chunk at offset 64. The root node's inclusive_tsc sums the wall
 * times of the threads that ended in the slot; its sp is not 0 and its start_tsc is the thread's
 * start while one runs. */
struct pm_run_thread {
    struct pm_run_chunk chunk;
    uint32_t tid, n_threads; /* first thread's id; how many threads shared this slot */
    /* end 0: did not end by itself; the start of its root: it has ended, nobody knows when */
    uint64_t start_tsc, end_tsc;
    uint64_t cpu_ns; /* thread CPU time at its end; 0 unknown */
    uint64_t n_events_folded;
    char name[16];
    /* Since 1.2: sentences begun and not ended (pm_words.h), as of its last event. Contexts that
     * stand below another set are not open, whatever their sp says. */
    uint32_t ambient_set; /* word of kind SET below which its contexts are; 0: none */
    uint32_t own_set;     /* word of kind SET: what this thread has begun itself */
    uint32_t n_ambient;   /* items of AMBIENT chunks that it has followed */
    uint32_t reserved32;
    /* Since 1.2, of a process's first thread: its CPU clock when the runtime began. An exec does
     * not set it back. 0: unknown, and in other threads */
    uint64_t start_cpu_ns;
    uint64_t reserved[12];
};
#define PM_RUN_THREAD_NODES 256u
#define PM_RUN_NODES_DATA 64u

/* A context: a node of the calling-context tree whose path from the root is the path of active
 * sentences. A node is active at most once at a time, for it stands for one path. The tree's first
 * node (the thread's root) has noun 0xffffffff and parent 0. Offsets 8..127 marked (rt) mean
 * nothing to readers. A node with kind 0 that is not a root was claimed and not filled when the
 * process died, or lost a race: it is skipped, nothing is below it. Several nodes of one parent may
 * have the same noun (readers add them up): only when one is FOLDED.
 *
 *     offset size meaning
 *          0    4 noun: process-wide index (OBJECT chunk's first_noun + position), or PM_RUN_NOUN_*
 *          4    4 parent: file offset of the parent node / 64; 0 for the thread's roots. A parent
 *                 is older than its children, yet may lie behind them where two chunks were added
 *                 at once (a signal)
 *          8    8 (rt) parent pointer
 *         16    8 sp: stack pointer of its frame; 0 = not active. At the end of a process that was
 *                 killed: open frames
 *         24    8 start_tsc of the activation that is open or was the last
 *         32    8 n_calls: entries, those of open frames included
 *         40    8 inclusive_tsc over all ended activations
 *         48    4 (rt) noun of the cached child
 *         52    4 depth: number of nodes above
 *         56    8 (rt) cached child
 *         64    8 (rt) first child
 *         72    8 (rt) next sibling
 *         80    4 kind: enum pm_sled_kind of its entry, 0 for roots
 *         84    4 flags: PM_RUN_NODE_*; bits 24..31 (rt)
 *         88   40 (rt) reserved
 */
struct pm_run_node {
    uint32_t noun;
    uint32_t parent;
    uint64_t parent_ptr;
    uint64_t sp;
    uint64_t start_tsc;
    uint64_t n_calls;
    uint64_t inclusive_tsc;
    uint32_t cached_noun;
    uint32_t depth;
    uint64_t cached_child;
    uint64_t first_child;
    uint64_t next_sibling;
    uint32_t kind;
    uint32_t flags;
    uint64_t reserved[5];
};

/* Kinds of nodes and nouns beside those of sleds: sentences that the program enters itself; sets
 * of sentences that it has begun. A node of such a set is a child of a root, and below it stand
 * the paths that were active while the set was the thread's ambient set: times are those
 * meanwhile, n_calls counts what was entered meanwhile. n_calls of the set's own node: how often
 * it became the thread's. */
enum { PM_RUN_SENTENCE_ENTER = 16, PM_RUN_SENTENCE_LEAVE = 17, PM_RUN_AMBIENT_SET = 18 };
/* And causes that it adopts: what is below such a node is done on behalf of what was active
 * where the cause was captured. Its noun's id is the number of a word of kind PM_WORD_CAUSE.
 * START (of nodes only): the creation of the thread, active from its first event to its end. */
enum { PM_RUN_CAUSE_ENTER = 20, PM_RUN_CAUSE_LEAVE = 21, PM_RUN_CAUSE_START = 22 };

#define PM_RUN_NOUN_ROOT 0xffffffffu

enum {
    /* Calls that could not get a context of their own (too deep, too many, memory at its end) are
     * counted here, below the last context that has one: n_calls is right, their time stays in the
     * parent. */
    PM_RUN_NODE_FOLDED = 1,
    PM_RUN_NODE_FOREIGN_STACK = 2, /* root for activity on a stack that is not the thread's own */
    /* Since 1.2: inclusive_tsc holds all its ended calls, for the noun was timed (mode exact or
     * trace) all the time. Without: none when inclusive_tsc is 0, else some only (partly timed:
     * the noun's mode was changed while the program ran). Not for roots, which always have
     * times, nor folded ones. */
    PM_RUN_NODE_TIMED = 4,
    /* Beside FOLDED: its calls are how often the sentence was begun (pm_begin) where its parent
     * was active. */
    PM_RUN_NODE_BEGUN = 8,
    /* beside FOREIGN_STACK: the root of one stack that the thread switches to */
    PM_RUN_NODE_COROUTINE = 16,
    /* Since 1.2: it ended, at least once, with a jump to code that tells no return.
     * inclusive_tsc is that up to the jump. */
    PM_RUN_NODE_JUMPED = 32,
};

/* Counters of mode count: one for each noun of one object (COUNTS chunk; owner: its thread).
 * Counters start at offset 128. */
struct pm_run_counts {
    struct pm_run_chunk chunk;
    uint32_t object; /* pm_run_object.index */
    uint32_t reserved[15];
};
#define PM_RUN_COUNTS_DATA 128u

enum pm_run_message_code {
    PM_RUN_MSG_NOTE = 0,
    /* has nouns but no sleds (LTO link without the plugin); text: path */
    PM_RUN_MSG_OBJECT_WITHOUT_SLEDS = 1,
    PM_RUN_MSG_BAD_SLEDS = 2,
    PM_RUN_MSG_LIMIT = 3,      /* a limit was reached; text says which and which option helps */
    PM_RUN_MSG_DISARMED = 4,   /* the runtime gave up; text says why */
    PM_RUN_MSG_UNMEASURED = 5, /* programs were started that are not measured; text says why */
};

struct pm_run_message {
    struct pm_run_chunk chunk;
    uint32_t code, text_bytes;
    uint64_t tsc;
    char text[]; /* text_bytes */
};

/* What was begun and ended in all threads at once (AMBIENT chunk), in the order in which it
 * happened, over all such chunks. A thread follows when it has its next event, its times being
 * split at tsc. In a fork child the first item, if any, is what was begun before, at the fork. */
struct pm_run_ambient {
    uint64_t tsc, monotonic_ns; /* CLOCK_MONOTONIC_RAW */
    /* word of kind SET: what is begun in the whole process from then on; 0: nothing */
    uint32_t set;
    uint32_t tid; /* who did it; 0: as of the fork */
};
#define PM_RUN_AMBIENT_DATA 64u

/* How this process was sampled (SAMPLING chunk). Counters grow while it runs. */
enum pm_run_sample_source {
    PM_RUN_SAMPLES_NONE = 0,
    PM_RUN_SAMPLES_PERF = 1,
    PM_RUN_SAMPLES_TIMER = 2
};

struct pm_run_sampling {
    struct pm_run_chunk chunk;
    uint32_t source;       /* enum pm_run_sample_source */
    uint32_t clock;        /* 0: CPU time, 1: wall time */
    uint64_t period_ns;    /* asked for; a sample carries the time that it really stands for */
    uint32_t has_kernel;   /* samples in the kernel are taken */
    uint32_t has_switches; /* off-CPU times are taken */
    uint64_t n_samples,
        n_lost; /* lost: the ring was full; their time is charged to the context that was active */
    uint64_t n_threads, n_threads_failed; /* sampled; could not be */
    int32_t error_no;    /* why the source is not perf (or none): errno of perf_event_open */
    uint32_t has_places; /* off-CPU times have addresses, of most threads (0 in older files) */
    uint64_t n_switches;
    uint64_t active_pair_ps; /* mode active: measured cost of a pair of events; 0: unknown */
    /* CPU time of the process before the runtime began: the loader's, and before an exec that of
     * the images before; 0: unknown, as in older files, and in fork children, which begin with
     * none */
    uint64_t start_cpu_ns;
    uint64_t reserved[14];
};

/* Samples of one thread with equal (address, caller, node, generation, kind, flags), added up.
 * Items are made complete before n_items counts them; n_samples and time_ns grow later, each by
 * one instruction. n_samples 0: the time is less than a period (LOST).
 *
 *     offset size meaning
 *          0    8 address: of the instruction that was interrupted; kernel: the program's
 *                 instruction that entered it (0 unknown); off-CPU: of the program's instruction
 *                 that was last begun, 0 unknown
 *          8    8 caller: when the address is in an object without sleds, or in a C++ function
 *                 without one: address behind the call in code with sleds through which it was
 *                 (probably) reached, found on the stack; 0 unknown or not looked for
 *         16    4 node: context, file offset / 64; 0: none (thread without contexts)
 *         20    2 generation: of the list of loaded objects
 *         22    1 kind, enum pm_run_sample_kind
 *         23    1 flags, PM_RUN_SAMPLE_*
 *         24    8 n_samples
 *         32    8 time_ns: CPU time (off-CPU: wall time) that they stand for
 */
enum pm_run_sample_kind {
    PM_RUN_SAMPLE_USER = 1,
    PM_RUN_SAMPLE_KERNEL = 2,
    /* n_samples: how often; time_ns: how long. Of OFF_CPU it is not known which of the other two
     * (timers). */
    PM_RUN_SAMPLE_OFF_CPU = 3,
    /* no sample: a cost that the program said itself; address: the number of its metric
     * (pm_words.h), time_ns: the sum, n_samples: of so many */
    PM_RUN_SAMPLE_COST = 7,
    PM_RUN_SAMPLE_LOST = 4,      /* their place is not known, the context is */
    PM_RUN_SAMPLE_WAITING = 5,   /* off-CPU: it slept, waited for data, a lock, another process */
    PM_RUN_SAMPLE_PREEMPTED = 6, /* off-CPU: it could have run, and another had the CPU */
    /* and on, by item of COUNTERS: events of that counter. time_ns: how many; n_samples: by so many
     * samples. 0: counted in that context, by reading the counter. */
    PM_RUN_SAMPLE_COUNTER = 16,
};
enum {
    PM_RUN_SAMPLE_CALLER_SURE = 1, /* caller is known, not inferred */
    /* Since 1.2: the address is in a sled's trampoline, and caller is 1 + its noun's
     * process-wide index. */
    PM_RUN_SAMPLE_PROBE = 2,
    /* Of such: behind the clock read of a timed entry, or before that of an exit. So it is in the
     * noun's measured time; else it is in that of what is around it. */
    PM_RUN_SAMPLE_PROBE_INNER = 4,
    /* Of PREEMPTED: while PerfMap began with this thread, before the program's code went on. */
    PM_RUN_SAMPLE_BEGINNING = 8,
    /* Of counters: as KERNEL, or as LOST. */
    PM_RUN_SAMPLE_IN_KERNEL = 16,
    PM_RUN_SAMPLE_NOT_LOCATED = 32,
};

struct pm_run_sample {
    uint64_t address, caller;
    uint32_t node;
    uint16_t generation;
    uint8_t kind, flags;
    uint64_t n_samples, time_ns;
};
#define PM_RUN_SAMPLES_DATA 64u

/* When a thread's samples were taken: what each item of SAMPLES got in which stretch of time. The
 * stretches ("buckets") of a thread are 2^shift ns of CLOCK_MONOTONIC_RAW; bucket 0 begins at
 * first << shift. When a thread has used all buckets its times are written once more, into another
 * chunk, with buckets of twice the length, so that a long life has as many as a short one, and no
 * fewer than half of them. Of the chunks of a thread the one with the highest serial counts; 0: it
 * was never finished. Items are made complete before n_items counts them; value and n_samples of a
 * bucket grow later, each by one instruction. What an item of SAMPLES has beyond the sum of its
 * values has no known time. */
struct pm_run_times {
    struct pm_run_chunk chunk;
    uint64_t first;
    uint32_t shift, serial;
    uint64_t reserved[6];
};
#define PM_RUN_TIMES_DATA 128u
enum { PM_RUN_TIMES_BUCKETS = 2048, PM_RUN_TIMES_NUMBER_BITS = 20 };

/* One item in one bucket, or spread evenly over several that follow each other.
 *
 *     offset size meaning
 *          0    8 value: of the item's time_ns
 *          8    4 bits 31..20 the first bucket, 19..0 the item's number
 *         12    2 n_samples: of the item's
 *         14    2 n_more: buckets beyond the first
 */
struct pm_run_time {
    uint64_t value;
    uint32_t place;
    uint16_t n_samples, n_more;
};

/* A noun was in another mode than the one it had at start, for a while. In mode off its n_calls
 * lack those of that while; in mode count they are in COUNTS chunks, without contexts; in both,
 * samples in it belong to the context that was active above it. One item for each stay in a
 * mode: the next change of the noun ends it and, unless that leads back, begins another. In
 * files of version 1.1 all bytes before disarmed_tsc are 0 (mode off, by the budget). */
struct pm_run_adapted {
    uint32_t noun;       /* process-wide index */
    uint8_t mode;        /* enum pm_run_mode that it was put to */
    uint8_t reason;      /* enum pm_run_adapted_reason */
    uint8_t mode_before; /* since 1.2: 1 + the mode that it was taken from */
    uint8_t reserved;
    uint64_t disarmed_tsc, armed_tsc; /* from, to; 0: to the end */
    uint64_t n_events;                /* calls in the mode before, as far as they were counted */
};
enum pm_run_adapted_reason {
    PM_RUN_ADAPTED_BUDGET = 0, /* to keep the budget, or because it allows more again */
    PM_RUN_ADAPTED_ASKED = 1,  /* perfmap mode */
};

/* What PerfMap costs this process (OVERHEAD chunk, since 1.2; renewed while it runs, complete up
 * to cpu_ns). Pairs: of an entry and an exit, warm; measured at start. Events: that many pairs
 * of each mode, so far, times their cost, and what the seldom ones cost more (reckoned).
 * Samples: the runtime's own work on them as measured, and the interrupts' as estimated. */
struct pm_run_overhead {
    struct pm_run_chunk chunk;
    uint64_t budget_ppm; /* 0: none */
    uint64_t count_pair_ps, active_pair_ps, exact_pair_ps, exact_inner_ps;
    uint64_t cpu_ns; /* of the process, when the rest was reckoned */
    uint64_t events_ns, samples_ns;
    uint64_t looks_ns; /* adding up calls, and changing modes */
    uint64_t n_looks, n_changes, n_sleds_changed;
    uint64_t sample_ns; /* of it: estimated for one sample's interrupt */
    /* of events_ns: of nouns that the budget cannot lower, which are the program's own words,
     * those of adapters, and what was asked for by name. More than budget_ppm of cpu_ns: they
     * alone exceed the budget */
    uint64_t fixed_ns;
    /* the process's own start (or as a forked child), and starts and ends of threads: CPU time */
    uint64_t starts_ns;
    uint64_t reserved[5];
};

/* Blocks of the heap by the place that allocated them (perfmap run --heap): one item for each
 * pair of caller and context, so of one thread. Items are made complete before n_items counts
 * them; their counters grow later, each by one instruction. realloc is an end of the old block
 * and an allocation of the new one.
 *
 *     offset size meaning
 *          0    8 caller: address behind the call in code with sleds, which was that of the
 *                 allocating function itself or, when code without sleds called that (operator
 *                 new), is found on the stack; 0 unknown
 *          8    4 node: context, file offset / 64; 0: none
 *         12    4 thread: file offset of its THREAD chunk / 64; 0: none
 *         16    4 number: of this item among all of the file, from 0; blocks name it
 *         20    2 generation: of the list of loaded objects
 *         22    2 flags, PM_RUN_HEAP_*
 *         24    8 n_allocations
 *         32    8 allocated_bytes: as asked for, over all of them
 *         40    8 n_freed
 *         48    8 freed_bytes
 *         56    8 peak_bytes: most that were alive at a time
 *         64    8 life_tsc: sum of the times from allocation to end, of blocks that ended
 *         72    8 least_bytes, 80 8 most_bytes: of one block
 *         88    8 reserved
 */
enum { PM_RUN_HEAP_CALLER_SURE = 1 /* it called the allocating function itself */ };

struct pm_run_heap_site {
    uint64_t caller;
    uint32_t node, thread, number;
    uint16_t generation, flags;
    uint64_t n_allocations, allocated_bytes;
    uint64_t n_freed, freed_bytes;
    uint64_t peak_bytes, life_tsc;
    uint64_t least_bytes, most_bytes;
    uint64_t reserved;
};
#define PM_RUN_HEAP_DATA 64u

/* A call that processes take part in together: what one of them knows of it. Those who met are
 * found when all files are there: calls of a group by `what` and `order`, a message by `what`, its
 * two ranks and its tag, and its place among those, which `order` gives. Times are of
 * CLOCK_MONOTONIC. */
enum pm_run_meeting_kind {
    PM_RUN_MEETING_SENT = 1,      /* begin, end: of a call that may wait for the receiver */
    PM_RUN_MEETING_POSTED = 2,    /* sent by a call that does not wait */
    PM_RUN_MEETING_RECEIVED = 3,  /* begin, end: of the call that waited; asked: since when it could
                                   * come */
    PM_RUN_MEETING_ALL = 4,       /* each waits for all; asked: since when it is there itself */
    PM_RUN_MEETING_FROM_ROOT = 5, /* each waits for the root */
    PM_RUN_MEETING_TO_ROOT = 6,   /* the root waits for all */
    PM_RUN_MEETING_AWAITED = 7,   /* begin, end: of a call that waited for what was POSTED; the same
                                   * order */
    /* No call: which rank (self) the process has in a communicator of n_members; what: the number
     * of the word of kind NOUN that it is */
    PM_RUN_MEETING_MEMBER = 8
};
struct pm_run_meeting {
    uint64_t begin_ns, end_ns, asked_ns;
    uint64_t what;  /* the group, equal for all of its members */
    uint32_t place; /* of the context (struct pm_run_node); 0: not known */
    uint32_t order; /* groups: which call of it; messages: the order in which this process began */
    int32_t self, peer; /* ranks; peer: of a message; the root of a call of a group */
    int32_t tag;
    uint32_t n_members; /* of a group; messages: 0 */
    uint32_t reserved;
    uint32_t kind; /* enum pm_run_meeting_kind, written last; 0: not finished */
};

/* An event that is counted (perfmap run --metric, --sample-by), over all threads of the process.
 * What threads that are running still have counted is not in it, but in items of SAMPLES as far as
 * samples, or reading the counter, told. */
struct pm_run_counter {
    char name[48], unit[24]; /* of the metric; ending with zeros */
    uint64_t period;         /* a sample for so many events; 0: the counter is read */
    /* of struct perf_event_attr, or PM_COUNTER_OF_* (pm_counters.h); PM_RUN_COUNTER_* */
    uint32_t type, flags;
    uint64_t config;
    uint64_t n_threads, n_threads_failed; /* counted in; could not be */
    uint64_t count;                       /* of threads that have ended: what the counter had */
    /* How long it was to count, and did: the kernel lets events take turns where the processor has
     * too few counters. Counts are as counted. */
    uint64_t enabled_ns, running_ns;
    uint64_t n_closed; /* threads whose counter the program closed: its end is missing */
    int32_t error_no;  /* of the first thread that failed */
    /* How often the kernel stopped to count until its next tick, for it had too many samples. */
    uint32_t n_throttled;
};
enum {
    PM_RUN_COUNTER_USER_ONLY = 1,  /* the kernel may not be measured */
    PM_RUN_COUNTER_PRECISE = 2,    /* addresses are those of the instructions that did it */
    PM_RUN_COUNTER_LAST = 4,       /* of sources: count is what was there at the end */
    PM_RUN_COUNTER_SHARED = 8,     /* each thread has what all of them did since it was last read */
    PM_RUN_COUNTER_ESTIMATED = 16, /* PAPI let events take turns, and scaled counts up */
};
#define PM_RUN_COUNTERS_DATA 64u

/* One block, of those that are large. */
struct pm_run_heap_block {
    uint64_t address, size_bytes;
    uint64_t allocated_tsc, freed_tsc; /* 0: alive at the end */
    uint32_t site, reserved;           /* site: its number */
};

/* Mode trace: events of one thread in the order in which they happened, 8 bytes each. A
 * TRACE_HEAD chunk is what the thread writes to; when it is full it is copied to a part of a
 * TRACE_SPACE chunk and emptied. Parts are all of one size, lie side by side in the space
 * (n_items of them, the first at offset 4096) and begin with the same struct as heads. When the
 * trace has reached its limit the oldest parts of all threads are overwritten. A part counts
 * when its first bytes are PM_RUN_CHUNK_MAGIC and its last 8 are its serial + 1 (else it was
 * being written when the process died). The parts and heads of a thread go by `number`; one
 * number is there twice only when the process died while it emptied a head, which is then not
 * used.
 *
 *     offset size meaning
 *          0   64 chunk: kind TRACE_HEAD (of parts too), size_bytes, owner, n_items: places for
 *                 events, of which some may be 0
 *         64    8 serial: of parts, rising over all threads
 *         72    8 number: of this thread's parts and heads, from 0
 *         80    8 first_tsc: a time near that of the first event
 *         88    4 node: context that was active on the thread's own stack when it began, file
 *                 offset / 64
 *         92    4 foreign_node: the same on foreign stacks; 0: none
 *         96    4 flags: PM_RUN_TRACE_STOPPED: the thread's last head, what came behind was dropped
 *        100    4 tid
 *        104   24 reserved
 *        128    8 each: events
 *
 * An event: 0 is none (it was being written by code that a signal interrupted, and that never
 * came back or whose process died; all with bits 63 and 62 clear are taken so).
 *
 *     bits 63..62  3 leave (or mark), 2 enter, 1 the clock: its lower 62 bits, for events behind
 *                  this one
 *          61      on a foreign stack
 *          60..40  noun: process-wide index, PM_RUN_TRACE_MANY when it does not fit, or
 *                  PM_RUN_TRACE_MARK_*
 *          39..0   the clock's lower 40 bits; the whole one is less than 2^39 from the time before
 *
 * The two of a switch lie side by side. What is open in the tree that is left waits, and goes on
 * when the thread comes back to it; times of the frames are those between switches.
 *
 * An enter of a noun of kind PM_RUN_AMBIENT_SET is none: what is open on that stack goes on
 * below that set, at that time; a leave: below none.
 *
 * The order is that in which the tree changed, which is right for the nesting. A signal
 * handler's events may so stand before that of the trampoline that it interrupted, whose time is
 * earlier. A leave that has no enter belongs to one that was never written. */
struct pm_run_trace {
    struct pm_run_chunk chunk;
    uint64_t serial, number, first_tsc;
    uint32_t node, foreign_node;
    uint32_t flags, tid;
    uint64_t reserved[3];
};
#define PM_RUN_TRACE_DATA 128u
#define PM_RUN_TRACE_MANY 0x1fffffu
#define PM_RUN_TRACE_MARK_END 0x1ffffeu /* leave: the thread ended, and with it all that is open */
/* leave: to another stack of coroutines, and at this time */
#define PM_RUN_TRACE_MARK_SWITCH 0x1ffffdu
/* leave: behind it, with no time: bits 31..0 the context that goes on, file offset / 64, and
 * _COPIED */
#define PM_RUN_TRACE_MARK_TREE 0x1ffffcu
/* what is open there was entered in another thread */
#define PM_RUN_TRACE_COPIED ((uint64_t)1 << 32)
#define PM_RUN_TRACE_MARK_FIRST 0x1ffff0u /* no noun has a number from here on */
enum { PM_RUN_TRACE_STOPPED = 1 };        /* flags of struct pm_run_trace */
/* Bits 63..40 of events. */
#define PM_RUN_TRACE_ENTER 0x800000u
#define PM_RUN_TRACE_LEAVE 0xc00000u
#define PM_RUN_TRACE_FOREIGN 0x200000u

#ifdef __cplusplus
#define PM_RUN_CHECK static_assert
#else
#define PM_RUN_CHECK _Static_assert
#endif
PM_RUN_CHECK(sizeof(struct pm_run_header) <= PM_RUN_PAGE, "header fits its page");
PM_RUN_CHECK(sizeof(struct pm_run_chunk) == 64, "chunk header is 64 bytes");
PM_RUN_CHECK(sizeof(struct pm_run_packed) == 64, "header of packed files is 64 bytes");
PM_RUN_CHECK(sizeof(struct pm_run_thread) <= PM_RUN_THREAD_NODES, "thread header is 256 bytes");
PM_RUN_CHECK(sizeof(struct pm_run_counts) == PM_RUN_COUNTS_DATA, "counts header is 128 bytes");
PM_RUN_CHECK(sizeof(struct pm_run_node) == 128, "node is 128 bytes");
PM_RUN_CHECK(sizeof(struct pm_run_sample) == 40, "sample is 40 bytes");
PM_RUN_CHECK(sizeof(struct pm_run_times) == PM_RUN_TIMES_DATA, "times header is 128 bytes");
PM_RUN_CHECK(sizeof(struct pm_run_time) == 16, "time is 16 bytes");
PM_RUN_CHECK(sizeof(struct pm_run_heap_site) == 96, "heap site is 96 bytes");
PM_RUN_CHECK(sizeof(struct pm_run_heap_block) == 40, "heap block is 40 bytes");
PM_RUN_CHECK(sizeof(struct pm_run_meeting) == 64, "meeting is 64 bytes");
PM_RUN_CHECK(sizeof(struct pm_run_counter) == 152, "counter is 152 bytes");
PM_RUN_CHECK(sizeof(struct pm_run_trace) == PM_RUN_TRACE_DATA, "trace header is 128 bytes");

#endif
