/* Numbers that libraries count: PAPI, and those that users write (perfmap_metric.h). The runtime
 * calls no such library itself. libperfmap-sources.so, which `perfmap run` preloads where one is
 * asked for, does it, and the two find each other here.
 *
 *     static const struct pm_counter_library ours = {thread_begin, read, thread_end, ...};
 *     runtime = pm_counters_link(&ours); // NULL: this process is not measured
 *     if (runtime)
 *         runtime->join();               // from here on, in other threads by itself
 *
 * Items are those of the text PERFMAP_COUNTERS (pm_counters.h), by their position; sets of them are
 * bits by position.
 */
#ifndef PM_COUNTER_LIBRARY_H
#define PM_COUNTER_LIBRARY_H

#include "pm_counters.h"

struct pm_counter_library {
    /* In a thread that begins to be measured; it may allocate. What can be read there; ret_state
     * goes with each call below. */
    uint32_t (*thread_begin)(void **ret_state);
    /* What it has counted, by position, and which of the values are known. In the thread itself,
     * below a probe, with signals blocked; at the end in the thread that ends the process. It
     * allocates nothing, and keeps errno. */
    uint32_t (*read)(void *state, uint64_t values[PM_COUNTERS_MAX]);
    void (*thread_end)(void *state);
    /* A number of the whole process. False: it is not known. */
    bool (*read_process)(uint32_t position, uint64_t *ret_number);
    /* In a forked child: all threads' states are the parent's. The child's thread begins next. */
    void (*fork_child)(void);
};

struct pm_counter_runtime {
    /* Begins to count in the calling thread, and what is of the whole process. */
    void (*join)(void);
    /* In a handler of PAPI's, or within the program's call that counts: this event has come its
     * period of times in the calling thread. context: a ucontext_t of where that was. */
    void (*overflowed)(uint32_t position, const void *context);
    /* Says once, in the run's notes. subject: NULL or a text that is put behind. */
    void (*note)(const char *text, const char *subject);
};

/* Exported by the runtime. */
const struct pm_counter_runtime *pm_counters_link(const struct pm_counter_library *library);

#endif
