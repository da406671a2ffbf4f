/* What the nouns, objects and samples of one run file have become. */
#ifndef PM_COLLECT_RUN_NAMES_H
#define PM_COLLECT_RUN_NAMES_H

#include "mapping/base/str.h"

struct collect_binary;

/* Numbers of the code of a sample, of what called it, and of what has likely jumped there; 0: not
 * known, or not needed. */
struct collect_located {
    uint32_t code, caller, jump;
};

/* What the nouns and objects of one run file have become. */
struct collect_names {
    uint64_t start_ns;                /* of the process, from the execution's start */
    uint32_t root;                    /* {program Executes} */
    struct collect_binary **binaries; /* by object */
    uint32_t *nouns, *sentences;      /* by noun: its row, {noun Executes} */
    uint32_t *heaps;                  /* by place of allocations: position, COLLECT_NO_HEAP */
    uint32_t *metrics;                /* by word less one: row of a metric, 0: it is none */
    uint32_t *words;                  /* by word less one: row of what it defines; 0: none */
    uint32_t *causes;                 /* by noun: 1 + position of a cause, 0: it is none */
    uint32_t *counters;               /* by counter: row of its metric */
    bool has_gaps;                    /* callers may be missing in all contexts */
    uint32_t *calls;  /* by noun: number of the code that says a word by a call; 0: not known */
    uint32_t *frames; /* by word less one: number of the code that a FRAME's function returns to;
                       * 0: not known, or it is none. NULL: there are none */
    struct collect_located *located; /* by sample, over all threads */
    uint32_t *heap_codes;            /* by place of allocations: number of its code; 0: not known */
};

#endif
