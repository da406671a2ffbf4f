/* Children. A fork child gets a run file of its own, in which the forking thread's open contexts
 * stand again (with no calls, times from now on), so that their exits match. The parent's file is
 * not touched. What vfork starts shares the parent's memory until it execs or exits: its events
 * count in the parent. */
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/signals.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/ambient.h"
#include "runtime/tree/coroutines.h"
#include "runtime/tree/trace.h"
#include "runtime/code/modes.h"
#include "runtime/code/patch.h"
#include "runtime/budget/adapt.h"
#include "runtime/budget/control.h"
#include "runtime/sample/sample.h"
#include "runtime/words/api.h"
#include "runtime/words/causes.h"
#include "runtime/guest/guest.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum { PATH_BYTES_STEP = 65536 };

/* The parent's thread runs on while the child copies its contexts, so their stack pointers are
 * saved before. */
static void save_path(void)
{
    struct pm_tls *t = &pm_tls;
    if (!pm_process.on || t->state != PM_THREAD_READY)
        return;
    const struct pm_node *node = pm_home_current(t);
    if (t->fork_path == NULL || node->depth >= t->fork_depth) {
        uint64_t bytes = ((node->depth + 1u) * sizeof(uint64_t) + PATH_BYTES_STEP - 1) /
                         PATH_BYTES_STEP * PATH_BYTES_STEP;
        long memory =
            pm_sys(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (t->fork_path != NULL)
            pm_sys(SYS_munmap, t->fork_path, t->fork_depth * sizeof(uint64_t));
        bool good = !(memory < 0 && memory > -4096);
        t->fork_path = good ? (uint64_t *)memory : NULL;
        t->fork_depth = good ? (uint32_t)(bytes / sizeof(uint64_t)) : 0;
    }
    for (; t->fork_path != NULL && node != NULL; node = node->parent)
        t->fork_path[node->depth] = node->sp;
}

static void new_process(void)
{
    struct pmr_process *p = &pm_process;
    struct timespec now = {0, 0};
    p->parent_pid = p->pid;
    p->pid = (uint32_t)pm_sys(SYS_getpid);
    p->flags = PM_RUN_FLAG_FORKED | (p->file.header->flags & PM_RUN_FLAG_PORTABLE);
    p->n_contexts = 0;
    p->start_cpu_ns = p->before_cpu_ns = p->vforked_cpu_ns = 0;
    pm_clock_pair(&p->start_tsc, &p->start_monotonic_ns);
    pm_sys(SYS_clock_gettime, CLOCK_REALTIME, &now);
    p->start_realtime_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void renew_thread(void)
{
    pm_thread_renew(&pm_tls, pm_process.start_tsc);
}

static void drop_thread(void)
{
    pm_thread_drop(&pm_tls);
}

/* What each part of the runtime does in a child, in this order. */
enum phase {
    AT_ONCE,     /* before the child is known as one: nothing may read the parent's rings */
    IN_NEW_FILE, /* where something was measured, and the new run file is there */
    WITHOUT,     /* where something was measured, and it cannot be made */
    MEASURED,    /* in both of these */
    AT_END,
};
static const struct {
    enum phase phase;
    void (*in_child)(void);
} parts[] = {
    {AT_ONCE, pm_signal_fork_child},
    {AT_ONCE, pm_sample_fork_child}, /* rings are holes; wants handlers that can be set */
    {AT_ONCE, pm_word_costs_fork_child},
    {AT_ONCE, pm_sources_fork_child},
    {IN_NEW_FILE, pm_objects_rewrite},
    {IN_NEW_FILE, pm_sources_place},
    {IN_NEW_FILE, pm_words_fork_child},   /* whose nouns are those of an object */
    {IN_NEW_FILE, pm_ambient_fork_child}, /* sets are words */
    {IN_NEW_FILE, pm_causes_fork_child},  /* and causes */
    {IN_NEW_FILE, pm_patch_fork_child},   /* completes a change that the parent had begun */
    {IN_NEW_FILE, pm_modes_fork_child},   /* and the modes that it was for */
    {IN_NEW_FILE, pm_adapt_fork_child},
    {IN_NEW_FILE, pm_control_fork_child},
    {MEASURED, pm_trace_fork_child},
    {IN_NEW_FILE, pm_coroutine_fork_child},
    {IN_NEW_FILE, renew_thread}, /* its contexts, in all that is there now */
    {WITHOUT, drop_thread},
    {AT_END, pm_heap_fork_child}, /* lets go of locks that allocations wait for */
};

static void run_parts(enum phase phase, enum phase other)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].phase == phase || parts[i].phase == other)
            parts[i].in_child();
}

static void begin_new_file(void)
{
    struct pm_run_header *parents = pm_process.file.header;
    new_process();
    pm_file_leave();
    bool created = pm_file_create();
    if (!created) /* the parent's archive shall say that something is missing */
        pm_add_shared(parents->n_lost_contexts, 1);
    run_parts(created ? IN_NEW_FILE : WITHOUT, MEASURED);
    pm_file_drop_parent();
}

/* Nothing was measured so far: a child like its parent. */
static void begin_like_parent(void)
{
    pm_process.parent_pid = pm_process.pid;
    pm_process.pid = (uint32_t)pm_sys(SYS_getpid);
    pm_process.flags |= PM_RUN_FLAG_FORKED;
}

/* Also called at the first slow event in the child of a clone() that no handler saw. */
void pm_fork_child(void)
{
    if (*pm_process.alive_mark)
        return;
    uint64_t all = UINT64_MAX, mask = 0;
    struct timespec cpu = {0, 0};
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
    pm_sys(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &cpu);
    uint64_t before_cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    run_parts(AT_ONCE, AT_ONCE);
    *(uint32_t *)(uintptr_t)pm_process.alive_mark = 1;
    if (pm_process.file.header == NULL)
        begin_like_parent();
    else
        begin_new_file();
    run_parts(AT_END, AT_END);
    if (pm_process.file.header != NULL)
        pm_adapt_process_begin(before_cpu_ns);
    pm_tls.fork_path = NULL;
    pm_tls.fork_depth = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

static void before_fork(void)
{
    save_path();
    pm_heap_before_fork();
}

static void in_child(void)
{
    if (!pm_process.on)
        return;
    *(volatile uint32_t *)(uintptr_t)pm_process.alive_mark = 0; /* where the kernel did not */
    pm_fork_child();
}

void pm_fork_watch(void)
{
    pthread_atfork(before_fork, pm_heap_in_parent, in_child);
}
