/* Who ran what costs are of: the threads, processes and ranks of an archive.
 *
 *     struct pm_runners runners = {0};
 *     if (pm_runners_find(data, PM_RUNNER_PROCESS, &err, &runners) == PM_OK)
 *         use(runners.items[runners.of_thread[cost->thread]].key);
 *     pm_runners_release(&runners);
 *
 * Each cost knows its thread (pm_cost.thread); a thread leads to its process, and to that one's
 * rank. So a kind of runner is one entry of the table in runners.c: which number a thread's costs
 * go to, and how that is called. It is a property of the thread: what changes from call to call (a
 * communicator) is a noun of the words that an adapter says. Merged costs
 * (PM_ARCHIVE_LOAD_MERGED) are the first thread's of their program: whoever tells runners apart
 * reads all costs again (pm_view_each_cost).
 */
#ifndef PM_VIEW_RUNNERS_H
#define PM_VIEW_RUNNERS_H

#include "mapping/archive/load.h"
#include "mapping/base/str.h"

enum pm_runner {
    PM_RUNNER_NONE,
    PM_RUNNER_THREAD,
    PM_RUNNER_PROCESS,
    PM_RUNNER_RANK,
    PM_RUNNER_NODE,
    PM_N_RUNNERS
};

/* What a person may call it by. */
struct pm_runner_names {
    int64_t number;       /* PM_UNKNOWN: it has none */
    const char *names[2]; /* each NULL: not that many */
};

/* thread: a position in data->threads, any of the runner's. */
struct pm_runner_kind {
    const char *word, *plural; /* "thread", "threads" */
    /* Equal for all threads of one runner. PM_UNKNOWN: of none, and that is a runner as well, or
     * costs would be dropped. */
    int64_t (*key)(const struct pm_archive_data *data, uint32_t thread);
    struct pm_runner_names (*names)(const struct pm_archive_data *data, uint32_t thread);
    /* For tables. */
    void (*label)(const struct pm_archive_data *data, uint32_t thread, struct pm_buf *what,
                  struct pm_buf *place);
    /* They are numbered, and have no names; and why an archive may have none. NULL: named. */
    const char *why_none;
    bool is_thread; /* it is a thread, not several */
    bool is_place;  /* it is where processes run, and has a name and no number */
};
const struct pm_runner_kind *pm_runner_kind(enum pm_runner kind); /* not of PM_RUNNER_NONE */

struct pm_runner_item {
    int64_t key;
    uint32_t thread; /* its first one */
};

/* All of one kind, by key. */
struct pm_runners {
    struct pm_runner_item *items;
    uint32_t n;
    uint32_t *of_thread; /* [data->n_threads]: positions in items */
};
PM_MUST_CHECK enum pm_status pm_runners_find(const struct pm_archive_data *data,
                                             enum pm_runner kind, struct pm_error *err,
                                             struct pm_runners *ret_runners);
void pm_runners_release(struct pm_runners *runners);

/* PM_ERR_NOT_FOUND: the archive knows none that has a number, "this archive knows no ranks: ..." */
PM_MUST_CHECK enum pm_status pm_runners_refuse_none(const struct pm_runners *runners,
                                                    enum pm_runner kind, struct pm_error *err);

/* Whether the runner of that thread is called so. fits: of the caller's pattern. */
bool pm_runner_fits(const struct pm_archive_data *data, enum pm_runner kind, uint32_t thread,
                    bool (*fits)(const void *pattern, const char *text), const void *pattern);
/* "no thread 'x' in this archive; there are 17 (main), 18": why nothing is called so. */
void pm_runner_add_missing(const struct pm_archive_data *data, enum pm_runner kind,
                           const char *name, struct pm_buf *out);

#endif
