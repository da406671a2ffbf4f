/* How a run is steered while it goes on: what `perfmap run` and the runtime say to each other.
 * docs/formats/control.md has the whole way, from `perfmap mode` over the socket to here.
 *
 * Two places. The plan (a file `plan` in the run's folder, replaced by renaming) says which mode
 * each noun is to have, by its id: read by each process at its start and when it loads a
 * library. The control chunk of a process's run file (kind PM_RUN_CHUNK_CONTROL) takes requests
 * to the process that runs: `perfmap run` fills in all but `request`, then counts `request` up;
 * the process does what is asked for, fills in its answer, and sets `done` to the same number.
 * One request at a time: there is no other while done != request. All numbers are little-endian.
 */
#ifndef PM_CONTROL_H
#define PM_CONTROL_H

#include "pm_run.h"

#define PM_PLAN_NAME "plan"
#define PM_PLAN_MAGIC "PerfMapM" /* 8 bytes, no ending zero */
#define PM_PLAN_VERSION 1u

#define PM_CALIBRATION_NAME "calibration" /* of the runtime, for itself */

/* Filters of seccomp that processes of the run have set (a file that is appended to): for each
 * its number of instructions, 4 bytes, and these, 8 bytes each. A program that is exec'ed under
 * filters knows by it what it may not do. */
#define PM_FILTERS_NAME "filters"

/* Followed by n_nouns struct pm_plan_noun, sorted by id, each id once. */
struct pm_plan {
    char magic[8];
    uint32_t version;
    uint32_t n_nouns;
    uint32_t mode; /* enum pm_run_mode of all nouns that are not listed */
    uint32_t reserved;
};

struct pm_plan_noun {
    uint64_t id;
    uint32_t mode; /* enum pm_run_mode */
    uint8_t fixed; /* 1: the budget leaves it in this mode */
    /* Terms of a question, a bit each. A noun is only entered within one of its `inside` (0:
     * always): where a context above, or the youngest, is of a noun that has one of these bits
     * in `terms`. */
    uint8_t terms, inside;
    uint8_t reserved;
};

enum pm_control_verb {
    PM_CONTROL_NONE = 0,
    PM_CONTROL_MODES = 1, /* changes[]: nouns and the modes that they are to have */
};

enum pm_control_status {
    PM_CONTROL_DONE = 0,
    PM_CONTROL_UNKNOWN = 1, /* this runtime does not know the verb */
    /* code cannot be changed now: a thread blocks SIGTRAP, or changed code is not allowed */
    PM_CONTROL_REFUSED = 2,
};

struct pm_control {
    struct pm_run_chunk chunk;
    /* By `perfmap run`. */
    uint64_t request; /* number of the last request, written last */
    uint32_t verb;    /* enum pm_control_verb */
    uint32_t n_changes;
    uint64_t reserved_request[6];
    /* By the process. */
    uint64_t done;             /* number of the request that is done, written last */
    uint32_t status;           /* enum pm_control_status */
    uint32_t has_bell;         /* 1: SIGURG to a thread makes the process look here */
    uint32_t n_nouns, n_sleds; /* changed by that request */
    uint32_t n_refused;        /* nouns that are asked for and stayed as they were */
    uint32_t reserved32;
    uint64_t spent_ns; /* by the change: CPU time of the thread that made it */
    uint64_t reserved[6];
    uint32_t changes[]; /* PM_CONTROL_CHANGE(noun, mode, fixed) */
};
#define PM_CONTROL_BYTES 16384u
#define PM_CONTROL_MAX_CHANGES ((PM_CONTROL_BYTES - (uint32_t)sizeof(struct pm_control)) / 4u)
#define PM_CONTROL_CHANGE(noun, mode, fixed) \
    ((noun) | (uint32_t)(mode) << 28 | ((fixed) ? 0x80000000u : 0))
#define PM_CONTROL_NOUN(change) ((change)&0xfffffffu)
#define PM_CONTROL_MODE(change) ((change) >> 28 & 7u)
#define PM_CONTROL_FIXED(change) ((change) >> 31)

PM_RUN_CHECK(sizeof(struct pm_plan) == 24, "plan header is 24 bytes");
PM_RUN_CHECK(sizeof(struct pm_plan_noun) == 16, "plan noun is 16 bytes");

#endif
