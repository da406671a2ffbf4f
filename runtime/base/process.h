/* The process that is measured: its settings, what belongs to it once, and the
 * largest numbers that the runtime keeps of anything. guest/runtime.c fills it in. */
#ifndef PM_RUNTIME_PROCESS_H
#define PM_RUNTIME_PROCESS_H

#include "format/pm_run.h"
#include "format/pm_settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

static inline bool pm_mode_is_timed(unsigned mode)
{
    return mode >= PM_RUN_MODE_EXACT;
}

struct pm_file {
    struct pm_run_header *header; /* NULL: no file (yet) */
    int fd;
    uint64_t device, inode;
    bool full;   /* cannot grow: said once */
    bool failed; /* could not be created */
    char path[4096];
};

struct pmr_process {
    uint32_t mode; /* enum pm_run_mode */
    bool on;       /* there is a run folder, and nothing made us give up */
    uint32_t pid;
    uint64_t tsc_hz;
    uint32_t max_contexts, max_depth, max_nouns;
    char mapping_points[PM_SETTING_POINTS_BYTES]; /* names, * in them; empty: none */
    uint32_t n_contexts;
    uint32_t next_noun;
    uint64_t start_tsc, start_monotonic_ns, start_realtime_ns;
    uint64_t start_cpu_ns; /* the main thread's CPU clock then; exec does not set it back */
    uint32_t flags;
    uint32_t parent_pid;
    uint64_t before_cpu_ns;      /* of the process, before we began */
    uint64_t vforked_cpu_ns;     /* of children by vfork, which count as its own */
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
    char run_dir[PM_SETTING_DIR_BYTES];
    uint32_t rank_plus_1, n_ranks;
    char node[64], job[24];                       /* as in struct pm_run_header */
    struct pm_counter_settings counters, sources; /* events; what is read at begin and end */
    char text[3792];
};
extern struct pmr_process pm_process;

static inline bool pm_sample_is_on(void)
{
    return pm_process.sample_period_ns != 0;
}

bool pm_memory_is_limited(void); /* RLIMIT_AS: addresses that are only reserved count, too */
/* One line on stderr. subject may be NULL, error_no 0. */
void pm_say(const char *text, const char *subject, int error_no);

#endif
