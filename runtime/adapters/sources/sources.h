/* The two kinds of libraries that count. Items are of the text PERFMAP_COUNTERS, by position; what
 * is missing is in no set, and the run's notes say why.
 *
 * A thread has a state of each kind; NULL: it has none. Functions of a state are called in its
 * thread, but for read at the end of the process.
 */
#ifndef PM_ADAPTER_SOURCES_H
#define PM_ADAPTER_SOURCES_H

#include "format/pm_counter_library.h"

struct source_kind {
    /* Once in each process: which of the items can be had. Those that belong to other kinds are
     * none of them. */
    uint32_t (*begin)(const struct pm_counter_settings *items,
                      const struct pm_counter_runtime *runtime);
    uint32_t (*thread_begin)(void **ret_state); /* the same of a thread */
    uint32_t (*read)(void *state, uint64_t *values);
    void (*thread_end)(void *state);
    bool (*read_process)(uint32_t position, uint64_t *ret_number);
};

extern const struct source_kind source_plugins, source_papi;

#endif
