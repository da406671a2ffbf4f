/* What run files say of their processes and threads. */
#ifndef PM_COLLECT_PROCESS_H
#define PM_COLLECT_PROCESS_H

#include "mapping/base/map.h"
#include "mapping/base/str.h"

struct collector;
struct pm_run_file;
struct pm_run_file_process;

struct collect_cpu {
    uint64_t user_ns, system_ns;
};

struct collect_processes {
    uint32_t n_executions, n, n_threads; /* rows */
    uint32_t n_rests;                    /* of n: what was not sampled */
    struct pm_map execs; /* node and PID -> 1 + position in exec_cpu: images that ended by exec */
    struct collect_cpu *exec_cpu;
    uint32_t n_execs, execs_cap;
    struct collect_cpu before; /* what the images before this one have spent, in the same process */
    const char *host;          /* where `perfmap run` ran, lent; NULL: not known */
    uint32_t job_of;           /* the last execution whose job is written */
    uint64_t own_code_ns;      /* CPU time of this process in PerfMap's own code, by samples */
};

/* Rows of the process c->processes->n and its threads, messages, sampling. start_tsc: the
 * execution's. */
PM_MUST_CHECK enum pm_status collect_process_rows(struct collector *c, uint32_t execution,
                                                  uint64_t start_tsc, uint32_t image,
                                                  const struct pm_run_file *file);
/* Before the rows of a process image: what the images before it have spent. Images come in the
 * order of their starts. */
PM_MUST_CHECK enum pm_status collect_image_begins(struct collector *c,
                                                  const struct pm_run_file_process *process);
/* Without that. */
struct collect_cpu collect_own_cpu(const struct collector *c,
                                   const struct pm_run_file_process *process);
/* What its first thread spent before the runtime began: exec, and the loader. The process's clock
 * also has what other threads of the image before did between its note of the exec and their end;
 * that is nothing of this thread. */
uint64_t collect_start_cpu_ns(const struct collector *c, const struct pm_run_file *file);
/* That, as its root's own. */
PM_MUST_CHECK enum pm_status collect_start_cpu(struct collector *c, const struct pm_run_file *file,
                                               uint32_t thread, uint32_t root_sentence);
/* A message of the process c->processes->n, as its own are. code: PM_RUN_MSG_*. */
PM_MUST_CHECK enum pm_status collect_message(struct collector *c, int64_t code, const char *text);
/* A message of the whole archive, which each report of it says; collect says it as well. */
PM_MUST_CHECK enum pm_status collect_mark(struct collector *c, const char *format, ...)
    PM_PRINTF(2, 3);
/* What measuring cost it, when its samples are placed (own_code_ns). */
PM_MUST_CHECK enum pm_status collect_overhead(struct collector *c, uint32_t execution,
                                              const struct pm_run_file *file);
/* Nouns that were in another mode than their process. nouns: rows, by noun of the file. */
PM_MUST_CHECK enum pm_status collect_noun_modes(struct collector *c, uint64_t start_tsc,
                                                const struct pm_run_file *file,
                                                const uint32_t *nouns);
/* Whether some code ran without its sleds, so that contexts may lack callers. */
bool collect_has_gaps(const struct pm_run_file *file);
/* A process in which nothing was measured has one thread all the same, whose root has its time. */
PM_MUST_CHECK enum pm_status collect_only_thread(struct collector *c, uint32_t tid,
                                                 uint64_t start_ns, uint64_t end_ns,
                                                 uint64_t cpu_ns);
uint64_t collect_start_ns(uint64_t start_tsc, const struct pm_run_file *file);
void collect_processes_release(struct collector *c);

#endif
