/* Level OpenMP: what constructs do, each with its place, in every thread that takes part.
 *
 *     {"parallel in sweep" Parallel}     its body, in each thread of the team
 *     {"loop in sweep" Loop}             a worksharing loop, likewise; omp_chunks, omp_iterations
 *     {"barrier of loop in sweep" Barrier}   waiting there: omp_wait_ns
 *
 * GCC's programs call libgomp (GOMP_...), Clang's libomp (__kmpc_...): both are wrapped, and say
 * the same. Bodies of regions and tasks are called through functions of ours, so that their time is
 * known in all threads; these also wait for the team, because what the library does behind a
 * body in the other threads (it waits, then is idle) is nothing that we could see the end of.
 *
 *   words.c    the level: constructs, metrics, waiting     locks.c    omp_set_lock and its like
 *   gomp.c     libgomp    loops.def    its functions that begin and go on with loops
 *   told.c     what PerfMap's plugin for GCC tells (format/pm_omp.h)
 *   kmp.c      libomp
 */
#ifndef PM_ADAPTER_OPENMP_H
#define PM_ADAPTER_OPENMP_H

#include "format/pm_omp.h"
#include "runtime/adapters/common/ticks.h"

#include <stddef.h>

#define OMP_VERB(NAME, word) OMP_##NAME,
enum omp_verb { PM_OPENMP_VERBS(OMP_VERB) N_OMP_VERBS };
#undef OMP_VERB

/* What constructs are called, their kind, what is said of them, and what tells their place: the
 * code that says it; or nothing, where GCC gives that code the line of what stands before it, and
 * then the address is in the name; or the call, if a line begins with it (else GCC has made it,
 * without one). */
enum omp_place { OMP_PLACE_CODE, OMP_PLACE_NONE, OMP_PLACE_CALL };
#define OMP_THINGS(X)                                                 \
    X(REGION, "parallel", "parallel", PARALLEL, CODE)                 \
    X(REGION_END, "barrier of parallel", "barrier", BARRIER, CODE)    \
    X(WORK, "loop", "worksharing loop", LOOP, CODE)                   \
    X(WORK_END, "barrier of loop", "barrier", BARRIER, CODE)          \
    X(GCC_WORK, "loop", "worksharing loop", LOOP, NONE)               \
    X(GCC_WORK_END, "barrier of loop", "barrier", BARRIER, NONE)      \
    X(PARTS, "sections", "sections", SECTIONS, CODE)                  \
    X(PARTS_END, "barrier of sections", "barrier", BARRIER, CODE)     \
    X(GCC_PARTS, "sections", "sections", SECTIONS, NONE)              \
    X(GCC_PARTS_END, "barrier of sections", "barrier", BARRIER, NONE) \
    X(ONE, "single", "single", SINGLE, CODE)                          \
    X(ONE_END, "barrier of single", "barrier", BARRIER, CODE)         \
    X(GCC_ONE, "single", "single", SINGLE, NONE)                      \
    X(GCC_ONE_END, "barrier of single", "barrier", BARRIER, NONE)     \
    X(MEETING, "barrier", "barrier", BARRIER, CODE)                   \
    X(GCC_MEETING, "barrier", "barrier", BARRIER, CALL)               \
    X(MUTUAL, "critical", "critical", CRITICAL, CODE)                 \
    X(MUTUAL_ACQUIRE, "critical", "critical", ACQUIRE, CODE)          \
    X(IN_TURN, "ordered", "ordered", ORDERED, CODE)                   \
    X(IN_TURN_ACQUIRE, "ordered", "ordered", ACQUIRE, CODE)           \
    X(GCC_IN_TURN, "ordered", "ordered", ORDERED, NONE)               \
    X(GCC_IN_TURN_ACQUIRE, "ordered", "ordered", ACQUIRE, NONE)       \
    X(JOB, "task", "task", TASK, CODE)                                \
    X(JOB_CREATE, "task", "task", CREATE, CODE)                       \
    X(JOBS, "taskloop", "task", TASK, CODE)                           \
    X(JOBS_CREATE, "taskloop", "task", CREATE, CODE)                  \
    X(JOBS_WAIT, "taskwait", "taskwait", TASK_WAIT, CODE)             \
    X(GROUP_WAIT, "taskgroup", "taskgroup", TASK_WAIT, CODE)          \
    X(GCC_GROUP_WAIT, "taskgroup", "taskgroup", TASK_WAIT, NONE)      \
    X(JOIN, "reduction", "reduction", REDUCE, CODE)                   \
    X(MASTER, "master", "master", MASKED, CODE)                       \
    X(MASKED, "masked", "masked", MASKED, CODE)                       \
    X(LEAGUE, "teams", "teams", TEAMS, CODE)                          \
    X(DEVICE, "target", "target", TARGET, CODE)                       \
    X(LOCKED_ACQUIRE, "lock", "lock", ACQUIRE, CODE)
#define OMP_THING(NAME, ...) THING_##NAME,
enum omp_thing { OMP_THINGS(OMP_THING) N_OMP_THINGS };
#undef OMP_THING

/* What a thread is in: of the innermost region or task. */
struct omp_thread {
    const char *function;        /* that the region or task is in; NULL: none, or not known */
    struct pm_sentence loop;     /* the worksharing construct that has begun; 0: none */
    struct pm_sentence loop_end; /* waiting behind it; 0: not told with it */
    long step;                   /* of its iterations; 0: these cannot be counted */
    /* What the plugin tells of the construct that the library is called for next; next NULL:
     * nothing. */
    const char *next;
    const char *inner; /* the same of what the next region consists of */
    bool next_waits;
    uint64_t n_chunks, n_iterations; /* that are not told yet */
    uint64_t n_waits, tasks_ns;      /* waits that have begun; tasks that were done in them */
};
extern __thread struct omp_thread omp_here __attribute__((tls_model("initial-exec")));
extern struct pm_metric omp_wait_ns, omp_chunks, omp_iterations;
extern struct pm_adapter_ticks omp_ticks;

/* Begins the function that stands for the library's of that name, real_NAME once it was found. */
#define OMP_REAL(type, name, parameters)    \
    static type(*real_##name) parameters;   \
    PM_ADAPTER_EXPORT type name parameters; \
    PM_ADAPTER_EXPORT type name parameters
#define OMP_FOUND(name) pm_adapter_real(&real_##name, #name, PM_OPENMP_LIBRARIES)

/* False: nobody measures, or the caller is the library itself. site: a return address. */
extern uintptr_t omp_library_start, omp_library_end;
extern bool omp_is_defined;
extern const volatile uint8_t *omp_any_is_counted; /* 0: none */
void omp_define(void);
PM_WORDS_INLINE bool omp_is_measured(uintptr_t site)
{
    if (!pm_words_of_runtime() || site - omp_library_start < omp_library_end - omp_library_start)
        return false;
    if (__builtin_expect(!__atomic_load_n(&omp_is_defined, __ATOMIC_ACQUIRE), 0))
        omp_define();
    return true;
}
/* As the call says it that returns to the site: it counts for its statement. */
PM_WORDS_INLINE struct pm_sentence omp_called(struct pm_sentence sentence, uintptr_t site)
{
    return pm_called_from(sentence, (const void *)site);
}
/* Where a sentence comes so often that it costs more than the budget, it is counted and no more:
 * n times, now. False: it is to be entered. */
PM_WORDS_INLINE bool omp_is_counted(struct pm_sentence sentence, uint32_t n)
{
    return __builtin_expect(*omp_any_is_counted != 0, 0) &&
           pm_words_of_runtime()->counted(sentence.id, n) != 0;
}
/* What is said of the construct there. site: a return address; name: of what has one of its own,
 * else NULL. */
struct pm_sentence omp_sentence(enum omp_thing thing, uintptr_t site, const char *name);
/* The place is that of the body, what calls it may be anywhere. site: of the call. */
struct pm_sentence omp_sentence_of(enum omp_thing thing, const void *body, uintptr_t site);
/* source: what Clang says of the place, ";file;function;line;column;;", or NULL. */
struct pm_sentence omp_sentence_at(enum omp_thing thing, uintptr_t site, const char *source);
/* The same of a loop. schedule: what its noun is: "static loop". */
struct pm_sentence omp_loop_at(uintptr_t site, const char *source, const char *schedule);
struct pm_sentence omp_loop_of(const void *body, uintptr_t site, const char *schedule);
/* What was said there before, or of all that there is no room for; 0: nothing. */
struct pm_sentence omp_known(enum omp_thing thing, uintptr_t site);
/* Nothing was: something else lies there now. */
void omp_forget(enum omp_thing thing, uintptr_t site);
/* What omp_sentence says of code, from now on said of what is at this address. */
struct pm_sentence omp_sentence_for(enum omp_thing thing, uintptr_t address, uintptr_t site);
/* Of a critical section: variable, that it is told by, or NULL, or OMP_ATOMIC. */
#define OMP_ATOMIC ((const void *)1)
struct omp_exclusive {
    struct pm_sentence acquire, hold;
};
struct omp_exclusive omp_critical(const void *variable);
/* Calls from this code are the library's own. */
void omp_library_is(const void *function);

/* Where the caller's frame ends at this call, behind n arguments: what the construct begins here
 * lives as long as that. Compilers may have pushed arguments, and do not call the library from
 * functions whose frame is smaller than these. */
#define OMP_CALLER_SP(n) \
    ((uintptr_t)__builtin_dwarf_cfa() + ((n) > 6 ? (((n)-6) * 8 + 15) / 16 * 16 : 0))
#define OMP_SITE ((uintptr_t)PM_ADAPTER_CALLER)

/* --- waiting --- */

struct omp_wait {
    struct pm_sentence sentence;
    struct pm_adapter_look start;
    uint64_t tasks_ns;
};

/* site: that the call returns to which waits; 0: none of the program's. One that is only counted
 * has sentence 0: how long it takes is not looked at. */
PM_WORDS_INLINE struct omp_wait omp_wait_begin(struct pm_sentence sentence, uintptr_t site)
{
    struct pm_sentence call = omp_called(sentence, site);
    if (omp_is_counted(call, 1))
        return (struct omp_wait){0};
    pm_enter(call);
    omp_here.n_waits++;
    return (struct omp_wait){call, pm_adapter_look(&omp_ticks), omp_here.tasks_ns};
}

/* Tasks that were done meanwhile are no waiting. */
PM_WORDS_INLINE void omp_wait_end(const struct omp_wait *wait)
{
    if (wait->sentence.id == 0)
        return;
    uint64_t spent_ns = pm_adapter_since(&omp_ticks, &wait->start),
             tasks_ns = omp_here.tasks_ns - wait->tasks_ns;
    omp_here.n_waits--;
    if (spent_ns > tasks_ns)
        pm_cost(omp_wait_ns, spent_ns - tasks_ns);
    pm_leave(wait->sentence);
}

/* Functions of the library that wait until one thread may go on, and that let the next one.
 * acquire: the sentence that waits; begins, ends: what is done then. `site` is where they return
 * to. */
#define OMP_ACQUIRES(name, parameters, arguments, acquire, begins) \
    OMP_REAL(void, name, parameters)                               \
    {                                                              \
        uintptr_t site = OMP_SITE;                                 \
        if (!OMP_FOUND(name))                                      \
            return;                                                \
        if (!omp_is_measured(site)) {                              \
            real_##name arguments;                                 \
            return;                                                \
        }                                                          \
        struct omp_wait wait = omp_wait_begin(acquire, site);      \
        real_##name arguments;                                     \
        omp_wait_end(&wait);                                       \
        begins;                                                    \
    }
/* Where the stack pointer is as it was at its begin, leaving takes 3 ns, else 30. */
#define OMP_RELEASES(name, parameters, arguments, ends) \
    OMP_REAL(void, name, parameters)                    \
    {                                                   \
        if (omp_is_measured(OMP_SITE))                  \
            ends;                                       \
        if (OMP_FOUND(name))                            \
            real_##name arguments;                      \
    }
PM_WORDS_INLINE void omp_critical_end(const void *variable, uintptr_t sp)
{
    struct pm_sentence hold = omp_critical(variable).hold;
    if (!omp_is_counted(hold, 0))
        pm_leave_at(hold, sp);
}
/* Critical sections. variable: that they are told by, or NULL. n: how many arguments there are. */
#define OMP_CRITICAL(name, parameters, arguments, n, variable)     \
    OMP_REAL(void, name, parameters)                               \
    {                                                              \
        uintptr_t site = OMP_SITE;                                 \
        if (!OMP_FOUND(name))                                      \
            return;                                                \
        if (!omp_is_measured(site)) {                              \
            real_##name arguments;                                 \
            return;                                                \
        }                                                          \
        struct omp_exclusive said = omp_critical(variable);        \
        struct omp_wait wait = omp_wait_begin(said.acquire, site); \
        real_##name arguments;                                     \
        omp_wait_end(&wait);                                       \
        if (!omp_is_counted(said.hold, 1))                         \
            pm_enter_at(said.hold, OMP_CALLER_SP(n));              \
    }
#define OMP_CRITICAL_END(name, parameters, arguments, n, variable) \
    OMP_RELEASES(name, parameters, arguments, omp_critical_end(variable, OMP_CALLER_SP(n)))

/* --- regions and tasks: what their bodies are called within. These begin in the frame that calls
 * the body, so all of it is inlined there. --- */

struct omp_region {
    void *first; /* libgomp looks at it where it is there for reductions of tasks */
    void *body, *data;
    const char *function; /* that it is in */
    struct pm_sentence region, end, loop, loop_end;
    const char *inner; /* the place of what it consists of; NULL: it begins with it, or not told */
    long step;
    struct pm_cause cause;
    const struct omp_thread *primary; /* of the thread that has met it */
    const void *where;                /* libomp's description of the place */
    unsigned n_words;
    const uintptr_t *words; /* what libomp hands to the body */
};

/* The place is that of the body, where no source is known. site: of the call. */
struct omp_region omp_region_of(void *body, void *data, uintptr_t site, const char *source);
struct omp_body {
    struct omp_thread before;
    bool is_deferred, is_counted;
};
/* The other threads do it on behalf of the one that has met the region. */
PM_WORDS_INLINE void omp_region_begin(const struct omp_region *region, struct omp_body *ret_body)
{
    *ret_body = (struct omp_body){omp_here, region->primary != &omp_here};
    omp_here = (struct omp_thread){
        .function = region->function, .n_waits = omp_here.n_waits, .tasks_ns = omp_here.tasks_ns};
    if (ret_body->is_deferred)
        pm_adopt(region->cause);
    ret_body->is_counted = omp_is_counted(region->region, 1);
    if (!ret_body->is_counted)
        pm_enter(region->region);
    omp_here.step = region->step;
    omp_here.loop_end = region->loop_end;
    omp_here.next = region->inner;
    if (region->loop.id && !omp_is_counted(region->loop, 1)) {
        omp_here.loop = region->loop;
        pm_enter(region->loop);
    }
}

PM_WORDS_INLINE void omp_region_end(const struct omp_region *region, const struct omp_body *body)
{
    uint64_t tasks_ns = omp_here.tasks_ns;
    if (!body->is_counted)
        pm_leave(region->region);
    if (body->is_deferred)
        pm_release(region->cause);
    omp_here = body->before;
    omp_here.tasks_ns = tasks_ns;
}

struct omp_task {
    const char *function; /* that it is in */
    struct pm_sentence task, create;
    struct pm_cause cause;
};
struct omp_task omp_task_of(enum omp_thing thing, const void *body, uintptr_t site,
                            const char *source);
struct omp_doing {
    struct omp_thread before;
    struct pm_adapter_look start; /* at 0: nobody waits */
    bool is_counted;
};
PM_WORDS_INLINE void omp_task_begin(const struct omp_task *task, struct omp_doing *ret_doing)
{
    *ret_doing = (struct omp_doing){.before = omp_here};
    if (omp_here.n_waits)
        ret_doing->start = pm_adapter_look(&omp_ticks);
    omp_here.function = task->function;
    omp_here.loop.id = omp_here.loop_end.id = 0;
    omp_here.next = NULL;
    pm_adopt(task->cause);
    ret_doing->is_counted = omp_is_counted(task->task, 1);
    if (!ret_doing->is_counted)
        pm_enter(task->task);
}

PM_WORDS_INLINE void omp_task_end(const struct omp_task *task, const struct omp_doing *doing)
{
    if (!doing->is_counted)
        pm_leave(task->task);
    pm_release(task->cause);
    omp_here = doing->before;
    if (doing->start.at)
        omp_here.tasks_ns += pm_adapter_since(&omp_ticks, &doing->start);
}

/* --- worksharing --- */

PM_WORDS_INLINE void omp_tell_chunks(void)
{
    if (omp_here.n_chunks)
        pm_cost(omp_chunks, omp_here.n_chunks);
    if (omp_here.n_iterations)
        pm_cost(omp_iterations, omp_here.n_iterations);
    omp_here.n_chunks = omp_here.n_iterations = 0;
}

/* sp: of the frame that it is in, as it was begun: elsewhere it takes 30 ns more. */
PM_WORDS_INLINE void omp_work_end(uintptr_t sp)
{
    omp_tell_chunks();
    if (omp_here.loop.id)
        pm_leave_at(omp_here.loop, sp);
    omp_here.loop.id = omp_here.loop_end.id = 0;
}

/* said: of a loop, of sections, or of a single construct. step: of a loop, 0: not known. One that
 * was cancelled has not ended. */
PM_WORDS_INLINE void omp_work_begin(struct pm_sentence said, uintptr_t site, uintptr_t sp,
                                    long step)
{
    omp_work_end(sp);
    omp_here.step = step;
    struct pm_sentence call = omp_called(said, site);
    if (omp_is_counted(call, 1))
        return;
    omp_here.loop = call;
    pm_enter_at(call, sp);
}

/* It ends, and what waits behind it is still to come. */
PM_WORDS_INLINE void omp_work_pause(uintptr_t sp)
{
    omp_tell_chunks();
    if (omp_here.loop.id)
        pm_leave_at(omp_here.loop, sp);
    omp_here.loop.id = 0;
}

/* --- told.c --- */
/* What the plugin has told of the construct that the library is called for at the site, and what
 * waits at its end; else what the other thing says of the code. */
struct pm_sentence omp_told(enum omp_thing thing, enum omp_thing of_code, uintptr_t site);
/* The source alone; NULL: nothing was told. */
PM_WORDS_INLINE const char *omp_told_source(void)
{
    const char *source = omp_here.next;
    omp_here.next = NULL;
    return source;
}
/* Chunks and iterations of this thread in a loop of GCC's that is divided without a call: of n
 * iterations, PM_OMP_NOT_KNOWN: not told. chunk: 0: even parts. */
void omp_share(unsigned long n, long chunk);

/* Iterations from start to before end. They are told together, 256 chunks at a time and at the
 * loop's end: to tell of one takes 30 ns. */
PM_WORDS_INLINE void omp_chunk(long start, long end)
{
    enum { TOGETHER = 256 };
    omp_here.n_chunks++;
    if (omp_here.step)
        omp_here.n_iterations +=
            (uint64_t)((end - start + omp_here.step - (omp_here.step > 0 ? 1 : -1)) /
                       omp_here.step);
    if (omp_here.n_chunks == TOGETHER)
        omp_tell_chunks();
}

#endif
