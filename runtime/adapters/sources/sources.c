/* libperfmap-sources.so: asks libraries that count for the runtime (pm_counter_library.h). It is
 * preloaded where one of their metrics is asked for, behind the runtime, and begins before the
 * program and behind the libraries that this is linked to. */
#include "sources.h"

#include "runtime/adapters/adapter.h"

#include "format/pm_settings.h"

#include <errno.h>
#include <stdlib.h>

const struct pm_counter_runtime *pm_counters_link(const struct pm_counter_library *library)
    __attribute__((weak, visibility("default")));

static const struct source_kind *const kinds[] = {&source_plugins, &source_papi};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

struct thread {
    void *states[N_KINDS];
};

static struct pm_counter_settings items;
static const struct pm_counter_runtime *runtime;
static bool is_forked, is_begun;

/* --- what the runtime asks --- */

static void begin(void)
{
    if (runtime == NULL || (is_begun && !is_forked))
        return;
    is_begun = true;
    is_forked = false;
    for (int k = 0; k < N_KINDS; k++)
        (void)kinds[k]->begin(&items, runtime);
}

static uint32_t thread_begin(void **ret_state)
{
    int saved = errno;
    uint32_t mask = 0;
    begin();
    struct thread *thread = calloc(1, sizeof *thread);
    for (int k = 0; k < N_KINDS && thread != NULL; k++)
        mask |= kinds[k]->thread_begin(&thread->states[k]);
    *ret_state = thread;
    errno = saved;
    return mask;
}

static uint32_t read_all(void *state, uint64_t values[PM_COUNTERS_MAX])
{
    int saved = errno;
    struct thread *thread = state;
    uint32_t known = 0;
    for (int k = 0; k < N_KINDS && thread != NULL; k++)
        known |= kinds[k]->read(thread->states[k], values);
    errno = saved;
    return known;
}

static void thread_end(void *state)
{
    int saved = errno;
    struct thread *thread = state;
    for (int k = 0; k < N_KINDS && thread != NULL; k++)
        kinds[k]->thread_end(thread->states[k]);
    free(thread);
    errno = saved;
}

static bool read_process(uint32_t position, uint64_t *ret_number)
{
    int saved = errno;
    bool is_known = false;
    begin();
    for (int k = 0; k < N_KINDS && !is_known; k++)
        is_known = kinds[k]->read_process(position, ret_number);
    errno = saved;
    return is_known;
}

static void fork_child(void)
{
    is_forked = true;
}

/* --- the beginning --- */

static const struct pm_counter_library library = {.thread_begin = thread_begin,
                                                  .read = read_all,
                                                  .thread_end = thread_end,
                                                  .read_process = read_process,
                                                  .fork_child = fork_child};

/* The runtime's settings are in its environment: it knows the text under the same name. */
__attribute__((constructor)) static void start(void)
{
    if (&pm_counters_link == NULL || !pm_counters_parse(getenv(PM_SETTING_COUNTERS), &items))
        return;
    runtime = pm_counters_link(&library);
    if (runtime != NULL)
        runtime->join();
}
