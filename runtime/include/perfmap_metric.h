/* Metrics of your own, for PerfMap: what only a library can count - pages of a buffer pool, bytes
 * of a driver, energy of a device - beside times and events, by the same rows.
 *
 *     #include <perfmap_metric.h>                     // pool_metrics.c
 *
 *     static const struct pm_metric_info metrics[] = {
 *         {.name = "pool_hits", .unit = "hits", .what = "blocks that the pool had"}};
 *
 *     static int read_now(void *state, uint64_t *values)
 *     {
 *         (void)state;
 *         values[0] = pool_hits_of_this_thread;
 *         return 0;
 *     }
 *
 *     PM_METRIC_SOURCE({.name = "pool", .metrics = metrics, .n_metrics = 1, .read = read_now})
 *
 *     $ cc -shared -fPIC -o pool_metrics.so pool_metrics.c
 *     $ perfmap run --mode exact --metric-source ./pool_metrics.so -- ./app
 *     $ perfmap report --metric pool_hits
 *
 * The library is loaded in each measured process, beside the program, which does not need it, and
 * once in `perfmap run`, which tries it. To count in the program, it finds the program's variables
 * as weak symbols, with dlsym(RTLD_DEFAULT, ...), or by an interface of the program's own.
 *
 * What may be done where: begin and thread_begin may do anything. read is called below a probe,
 * at each begin and end of a call in mode exact: in any function of the program with sleds, with
 * signals blocked, maybe on a small stack. It must not allocate, wait, take a lock that the program
 * may have, jump or throw. Its code should have no sleds (no -fplugin=perfmap.so). PerfMap keeps
 * errno and the vector registers. All may be called from C++.
 */
#ifndef PERFMAP_METRIC_H
#define PERFMAP_METRIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when a source that was compiled before would be misread. */
#define PM_METRIC_ABI 1u

enum pm_metric_scope {
    /* A number for each thread. It is read in that thread, and belongs to what is active there:
     * functions, loops, sentences. When the process ends, the thread that ends it reads those of
     * the others, with their states: so a state says where the number is (thread_begin), and
     * thread-local variables are not asked for by name. */
    PM_METRIC_OF_THREAD = 0,
    /* One number for the process, which any thread may read. What it grew by belongs to what is
     * active in the thread that reads. With several threads that may be another's, so numbers
     * carry ~. */
    PM_METRIC_SHARED = 1,
    /* One number for the process, read when it begins and when it ends (--by process). */
    PM_METRIC_OF_PROCESS = 2
};

enum pm_metric_kind {
    PM_METRIC_GROWS = 0, /* the metric is how much it grew; going back counts nothing */
    PM_METRIC_LEVEL = 1  /* what is there at the end; only PM_METRIC_OF_PROCESS */
};

struct pm_metric_info {
    const char *name; /* letters, digits and _; at most 40 bytes */
    const char *unit; /* "bytes", "ns", "hits"; at most 23 bytes. Times are in ns, and their metrics
                         get _ns behind the name */
    const char *what; /* one line for `perfmap metrics`; NULL: none */
    uint32_t scope;   /* enum pm_metric_scope */
    uint32_t kind;    /* enum pm_metric_kind */
};

/* A source is constant, and is there as long as the process. Functions return 0, or an errno
 * number. */
struct pm_metric_source {
    uint32_t abi;        /* PM_METRIC_ABI */
    uint32_t bytes;      /* sizeof(struct pm_metric_source) */
    uint32_t n_metrics;  /* 1 to 16 */
    uint32_t info_bytes; /* sizeof(struct pm_metric_info) */
    const char *name;
    const struct pm_metric_info *metrics;
    /* Once in each process, also in children of fork, before all else. It may write into reason why
     * it failed: a line of at most reason_bytes, with its zero. NULL: nothing to do. */
    int (*begin)(char *reason, size_t reason_bytes);
    /* In a thread that begins. The state goes with its calls of read and thread_end. NULL: states
     * are NULL. */
    int (*thread_begin)(void **ret_state);
    /* Fills all values, by the order of metrics: those of this thread, of the process where they
     * are shared. state is NULL where numbers of whole processes are read. Another number than 0:
     * none of them is known now. */
    int (*read)(void *state, uint64_t *values);
    /* In a thread that ends. It may be missing where a process ends. NULL: nothing to do. */
    void (*thread_end)(void *state);
};

#if defined(__GNUC__)
#define PM_METRIC_EXPORT __attribute__((visibility("default")))
#else
#define PM_METRIC_EXPORT
#endif

/* What PerfMap looks up in the library; PM_METRIC_SOURCE defines it. */
PM_METRIC_EXPORT const struct pm_metric_source *pm_metric_offer(void);
typedef const struct pm_metric_source *pm_metric_offer_function(void);

#ifndef __cplusplus
/* Defines pm_metric_offer, for a source with these members (in C). */
#define PM_METRIC_SOURCE(...)                                             \
    PM_METRIC_EXPORT const struct pm_metric_source *pm_metric_offer(void) \
    {                                                                     \
        static struct pm_metric_source source = __VA_ARGS__;              \
        source.abi = PM_METRIC_ABI;                                       \
        source.bytes = sizeof(struct pm_metric_source);                   \
        source.info_bytes = sizeof(struct pm_metric_info);                \
        return &source;                                                   \
    }
#endif

#ifdef __cplusplus
}
#endif

#endif
