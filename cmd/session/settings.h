/* How a run is measured: what the runtime finds in its environment. */
#ifndef PM_SESSION_SETTINGS_H
#define PM_SESSION_SETTINGS_H

#include "adapters.h"
#include "format/pm_run.h"

struct session_settings {
    enum pm_run_mode mode;
    const char *clock;                           /* "cpu", "wall"; lent */
    uint64_t rate_hz, budget_ppm;                /* 0: no samples; no budget */
    uint64_t max_contexts, max_depth, max_nouns; /* 0: the runtime's own */
    const char *mapping_points;                  /* lent; NULL: all */
    bool heap;                                   /* blocks of the heap are followed */
    uint64_t heap_min_bytes;                     /* 0: the runtime's own */
    uint64_t trace_limit_bytes;                  /* 0: the runtime's own */
    bool kernel_writes;                          /* what the kernel writes is followed */
    const char *trace_keep;                      /* lent; NULL: the runtime's own */
    struct session_adapters adapters;
    bool wait_for_all; /* for all processes of the run, not only for the program itself */
};

/* The modes count and off have none: no call paths, so no samples either. */
bool session_has_contexts(const struct session_settings *settings);

#endif
