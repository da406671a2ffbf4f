/* Numbers that tell of the whole process (perfmap run --metric): read when it begins and when it
 * ends, from files as /proc/self/io and from getrusage. The difference is written down. */
#include "runtime/guest/guest.h"
#include "format/pm_counter_library.h"
#include "runtime/base/file.h"
#include "runtime/base/atomic.h"
#include "runtime/base/process.h"
#include "runtime/base/sys.h"
#include "runtime/sample/sample.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

static uint64_t at_begin[PM_COUNTERS_MAX];
static bool is_known[PM_COUNTERS_MAX];
static struct pm_run_counter *in_file; /* NULL: none yet */

static bool read_file(const struct pm_counter_setting *source, uint64_t *ret_number)
{
    static char text[PM_COUNTER_READ_BYTES]; /* by one thread at a time: at begin, fork and end */
    unsigned long len = 0;
    long fd = pm_sys(SYS_openat, AT_FDCWD, source->file, O_RDONLY | O_CLOEXEC), n;
    if (fd < 0)
        return false;
    while (len < sizeof text && (n = pm_sys(SYS_read, fd, text + len, sizeof text - len)) > 0)
        len += (unsigned long)n;
    pm_sys(SYS_close, fd);
    return pm_counters_look_up(text, len, source->field, ret_number);
}

static bool read_rusage(const struct pm_counter_setting *source, uint64_t *ret_number)
{
    enum { N_WORDS = 14 };
    struct rusage usage = {0};
    if (pm_sys(SYS_getrusage, RUSAGE_SELF, &usage) != 0 || source->config1 >= N_WORDS)
        return false;
    *ret_number = (uint64_t)(&usage.ru_maxrss)[source->config1];
    return true;
}

static bool read_source(const struct pm_counter_setting *source, uint64_t *ret_number)
{
    if (pm_counter_is_of_library(source))
        return pm_library_read_process(source->position, ret_number);
    return source->type == PM_COUNTER_OF_FILE ? read_file(source, ret_number)
                                              : read_rusage(source, ret_number);
}

void pm_sources_begin(void)
{
    for (uint32_t i = 0; i < pm_process.sources.n; i++)
        is_known[i] = read_source(&pm_process.sources.items[i], &at_begin[i]);
}

/* Libraries come behind the runtime, and before the program. */
static void join(void)
{
    for (uint32_t i = 0; i < pm_process.sources.n; i++)
        if (pm_counter_is_of_library(&pm_process.sources.items[i]))
            is_known[i] = read_source(&pm_process.sources.items[i], &at_begin[i]);
    pm_sample_join();
}

PM_EXPORT const struct pm_counter_runtime *pm_counters_link(
    const struct pm_counter_library *library)
{
    return pm_process.on ? pm_library_link(library, join) : NULL;
}

static struct pm_run_counter *make_chunk(void)
{
    const struct pm_counter_settings *sources = &pm_process.sources;
    uint64_t offset;
    struct pm_run_chunk *chunk = pm_file_chunk(
        PM_RUN_CHUNK_SOURCES, PM_RUN_COUNTERS_DATA + sources->n * sizeof *in_file, 0, &offset);
    if (chunk == NULL)
        return NULL;
    in_file = (struct pm_run_counter *)((char *)chunk + PM_RUN_COUNTERS_DATA);
    for (uint32_t i = 0; i < sources->n; i++) {
        const struct pm_counter_setting *source = &sources->items[i];
        memcpy(in_file[i].name, source->name, sizeof in_file[i].name);
        memcpy(in_file[i].unit, source->unit, sizeof in_file[i].unit);
        in_file[i].type = (uint32_t)source->type;
        in_file[i].flags = source->flags & PM_COUNTER_LAST ? (uint32_t)PM_RUN_COUNTER_LAST : 0;
        in_file[i].n_threads = in_file[i].n_threads_failed = 1; /* until the process ends */
    }
    pm_barrier();
    chunk->n_items = sources->n;
    return in_file;
}

void pm_sources_place(void)
{
    if (pm_process.sources.n != 0 && in_file == NULL && pm_file_create())
        make_chunk();
}

void pm_sources_end(void)
{
    if (in_file == NULL)
        return;
    for (uint32_t i = 0; i < pm_process.sources.n; i++) {
        const struct pm_counter_setting *source = &pm_process.sources.items[i];
        uint64_t now = 0, before = source->flags & PM_COUNTER_LAST ? 0 : at_begin[i];
        bool is_good = is_known[i] && read_source(source, &now);
        in_file[i].n_threads_failed = !is_good;
        uint64_t count = is_good && now > before ? now - before : 0;
        uint64_t worth = pm_counter_is_of_library(source) ? 1 : source->config;
        if (__builtin_mul_overflow(count, worth, &count))
            count = UINT64_MAX;
        in_file[i].count = count;
    }
}

void pm_sources_unend(void)
{
    for (uint32_t i = 0; in_file != NULL && i < pm_process.sources.n; i++) {
        in_file[i].n_threads_failed = 1;
        in_file[i].count = 0;
    }
}

void pm_sources_fork_child(void)
{
    in_file = NULL;
    pm_library_fork_child(); /* before all that asks it */
    pm_sources_begin();
}
