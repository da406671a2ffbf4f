/* Clang's programs, and all others that call LLVM's or Intel's library. */
#include "openmp.h"

#include <stdarg.h>

/* A place, as the compiler describes it. */
struct place {
    int reserved_1, flags, reserved_2, reserved_3;
    const char *source;
};
enum {
    BARRIER_KIND = 0x1c0,
    BARRIER_OF_LOOP = 0x040,
    BARRIER_OF_SECTIONS = 0x0c0,
    BARRIER_OF_SINGLE = 0x140,
    BARRIER_IMPLICIT = 0x040,
    OF_SECTIONS = 0x400,
    OF_DISTRIBUTE = 0x800,
};
#define WHERE const struct place *place, int thread

static struct pm_sentence at(enum omp_thing thing, uintptr_t site, const struct place *place)
{
    return omp_sentence_at(thing, site, place ? place->source : NULL);
}

/* --- regions --- */

/* The body gets at least the words that it has; further ones are looked at by nobody. */
#define WORDS_2 uintptr_t, uintptr_t
#define WORDS_8 WORDS_2, WORDS_2, WORDS_2, WORDS_2
#define WORDS_32 WORDS_8, WORDS_8, WORDS_8, WORDS_8
#define EACH_2(w, i) (w)[(i)], (w)[(i) + 1]
#define EACH_8(w, i) EACH_2(w, (i)), EACH_2(w, (i) + 2), EACH_2(w, (i) + 4), EACH_2(w, (i) + 6)
#define EACH_32(w, i) EACH_8(w, (i)), EACH_8(w, (i) + 8), EACH_8(w, (i) + 16), EACH_8(w, (i) + 24)
enum { FEW_WORDS = 8, MANY_WORDS = 64 };

static void call_body(const struct omp_region *region, int *thread, int *bound)
{
    uintptr_t w[MANY_WORDS];
    unsigned n = region->n_words <= FEW_WORDS ? FEW_WORDS : MANY_WORDS;
    memset(w, 0, n * sizeof *w);
    memcpy(w, region->words, region->n_words * sizeof *w);
    if (n == FEW_WORDS)
        ((void (*)(int *, int *, WORDS_8))region->body)(thread, bound, EACH_8(w, 0));
    else
        ((void (*)(int *, int *, WORDS_32, WORDS_32))region->body)(thread, bound, EACH_32(w, 0),
                                                                   EACH_32(w, 32));
}

static void (*real___kmpc_barrier)(WHERE);

static void run_region(int *thread, int *bound, const struct omp_region *region)
{
    struct omp_body body;
    omp_region_begin(region, &body);
    call_body(region, thread, bound);
    omp_work_end(pm_stack_pointer());
    struct omp_wait wait = omp_wait_begin(region->end, 0);
    if (OMP_FOUND(__kmpc_barrier))
        real___kmpc_barrier(region->where, *thread);
    omp_wait_end(&wait);
    omp_region_end(region, &body);
}

/* Bodies that share more variables are called as they are. */
OMP_REAL(void, __kmpc_fork_call, (const struct place *place, int n, void *body, ...))
{
    uintptr_t site = OMP_SITE, words[MANY_WORDS] = {0};
    if (!OMP_FOUND(__kmpc_fork_call))
        return;
    if (n > MANY_WORDS) {
        __builtin_apply((void *)real___kmpc_fork_call, __builtin_apply_args(),
                        (size_t)n * sizeof(uintptr_t));
        return;
    }
    va_list list;
    va_start(list, body);
    for (int i = 0; i < n; i++)
        words[i] = va_arg(list, uintptr_t);
    va_end(list);
    omp_library_is((const void *)real___kmpc_fork_call); /* loaded later */
    if (!omp_is_measured(site)) {
        real___kmpc_fork_call(place, n, body, EACH_32(words, 0), EACH_32(words, 32));
        return;
    }
    struct omp_region region = omp_region_of(body, NULL, site, place->source);
    region.where = place;
    region.n_words = (unsigned)n;
    region.words = words;
    real___kmpc_fork_call(place, 1, (void *)run_region, &region);
}

/* Teams: bodies are called one after the other, or by threads that wait for no one. */
static void run_teams(int *thread, int *bound, const struct omp_region *region)
{
    struct omp_body body;
    omp_region_begin(region, &body);
    call_body(region, thread, bound);
    omp_work_end(pm_stack_pointer());
    omp_region_end(region, &body);
}

OMP_REAL(void, __kmpc_fork_teams, (const struct place *place, int n, void *body, ...))
{
    uintptr_t site = OMP_SITE, words[MANY_WORDS] = {0};
    if (!OMP_FOUND(__kmpc_fork_teams))
        return;
    if (n > MANY_WORDS) {
        __builtin_apply((void *)real___kmpc_fork_teams, __builtin_apply_args(),
                        (size_t)n * sizeof(uintptr_t));
        return;
    }
    va_list list;
    va_start(list, body);
    for (int i = 0; i < n; i++)
        words[i] = va_arg(list, uintptr_t);
    va_end(list);
    if (!omp_is_measured(site)) {
        real___kmpc_fork_teams(place, n, body, EACH_32(words, 0), EACH_32(words, 32));
        return;
    }
    struct omp_region region = omp_region_of(body, NULL, site, place->source);
    region.region = at(THING_LEAGUE, site, place);
    region.n_words = (unsigned)n;
    region.words = words;
    real___kmpc_fork_teams(place, 1, (void *)run_teams, &region);
}

/* Of one thread, as an if clause says: the program itself calls the body. */
enum { MAX_SERIAL = 16 }; /* within each other, that are told */
static __thread struct {
    unsigned n;
    struct pm_sentence regions[MAX_SERIAL];
} serial;

OMP_REAL(void, __kmpc_serialized_parallel, (WHERE))
{
    uintptr_t site = OMP_SITE;
    if (!OMP_FOUND(__kmpc_serialized_parallel))
        return;
    real___kmpc_serialized_parallel(place, thread);
    if (!omp_is_measured(site))
        return;
    struct pm_sentence region = at(THING_REGION, site, place);
    if (serial.n < MAX_SERIAL)
        serial.regions[serial.n] = region;
    if (serial.n++ < MAX_SERIAL)
        pm_enter_at(region, OMP_CALLER_SP(2));
}
OMP_REAL(void, __kmpc_end_serialized_parallel, (WHERE))
{
    if (omp_is_measured(OMP_SITE) && serial.n > 0 && --serial.n < MAX_SERIAL)
        pm_leave(serial.regions[serial.n]);
    if (OMP_FOUND(__kmpc_end_serialized_parallel))
        real___kmpc_end_serialized_parallel(place, thread);
}

/* --- waiting --- */

static enum omp_thing barrier_of(const struct place *place)
{
    switch (place ? place->flags & BARRIER_KIND : 0) {
    case BARRIER_OF_LOOP:
        return THING_WORK_END;
    case BARRIER_OF_SECTIONS:
        return THING_PARTS_END;
    case BARRIER_OF_SINGLE:
        return THING_ONE_END;
    default:
        return THING_MEETING;
    }
}

/* type: of what it returns, int where that is nothing. */
#define WAITS(type, name, parameters, arguments, thing)                        \
    OMP_REAL(type, name, parameters)                                           \
    {                                                                          \
        uintptr_t site = OMP_SITE;                                             \
        if (!OMP_FOUND(name))                                                  \
            return (type)0;                                                    \
        if (!omp_is_measured(site))                                            \
            return real_##name arguments;                                      \
        struct omp_wait wait = omp_wait_begin(at((thing), site, place), site); \
        type result = real_##name arguments;                                   \
        omp_wait_end(&wait);                                                   \
        return result;                                                         \
    }
#define BARRIER(type, name) WAITS(type, name, (WHERE), (place, thread), barrier_of(place))
BARRIER(int, __kmpc_cancel_barrier)
WAITS(int, __kmpc_omp_taskwait, (WHERE), (place, thread), THING_JOBS_WAIT)
WAITS(int, __kmpc_omp_wait_deps, (WHERE, int n, void *depend, int n_alias, void *alias),
      (place, thread, n, depend, n_alias, alias), THING_JOBS_WAIT)
WAITS(int, __kmpc_omp_taskwait_deps_51,
      (WHERE, int n, void *depend, int n_alias, void *alias, int no_wait),
      (place, thread, n, depend, n_alias, alias, no_wait), THING_JOBS_WAIT)
WAITS(int, __kmpc_end_taskgroup, (WHERE), (place, thread), THING_GROUP_WAIT)
#define REDUCTION                                                                        \
    (WHERE, int n, size_t bytes, void *data, void (*reduce)(void *, void *), int *lock), \
        (place, thread, n, bytes, data, reduce, lock), THING_JOIN
#define WAITS_WITH(type, name, rest) WAITS(type, name, rest)
WAITS_WITH(int, __kmpc_reduce, REDUCTION)
WAITS_WITH(int, __kmpc_reduce_nowait, REDUCTION)
WAITS(int, __kmpc_copyprivate,
      (WHERE, size_t bytes, void *data, void (*copy)(void *, void *), int did_it),
      (place, thread, bytes, data, copy, did_it), THING_ONE_END)

PM_ADAPTER_EXPORT void __kmpc_barrier(WHERE);
PM_ADAPTER_EXPORT void __kmpc_barrier(WHERE)
{
    uintptr_t site = OMP_SITE;
    if (!OMP_FOUND(__kmpc_barrier))
        return;
    if (!omp_is_measured(site)) {
        real___kmpc_barrier(place, thread);
        return;
    }
    omp_work_end(OMP_CALLER_SP(2));
    struct omp_wait wait = omp_wait_begin(at(barrier_of(place), site, place), site);
    real___kmpc_barrier(place, thread);
    omp_wait_end(&wait);
}

/* --- one at a time --- */

OMP_CRITICAL(__kmpc_critical, (WHERE, void *lock), (place, thread, lock), 3, lock)
OMP_CRITICAL(__kmpc_critical_with_hint, (WHERE, void *lock, unsigned hint),
             (place, thread, lock, hint), 4, lock)
OMP_CRITICAL_END(__kmpc_end_critical, (WHERE, void *lock), (place, thread, lock), 3, lock)

WAITS(int, __kmpc_doacross_wait, (WHERE, const long *iterations), (place, thread, iterations),
      THING_IN_TURN_ACQUIRE)

static __thread struct pm_sentence in_turn __attribute__((tls_model("initial-exec")));
OMP_ACQUIRES(__kmpc_ordered, (WHERE), (place, thread), at(THING_IN_TURN_ACQUIRE, site, place),
             (in_turn = at(THING_IN_TURN, site, place), pm_enter_at(in_turn, OMP_CALLER_SP(2))))
OMP_RELEASES(__kmpc_end_ordered, (WHERE), (place, thread), pm_leave_at(in_turn, OMP_CALLER_SP(2)))

/* --- worksharing --- */

OMP_REAL(int, __kmpc_single, (WHERE))
{
    uintptr_t site = OMP_SITE;
    int is_done = OMP_FOUND(__kmpc_single) ? real___kmpc_single(place, thread) : 0;
    if (is_done && omp_is_measured(site))
        omp_work_begin(at(THING_ONE, site, place), site, OMP_CALLER_SP(2), 0);
    return is_done;
}
OMP_RELEASES(__kmpc_end_single, (WHERE), (place, thread), omp_work_end(OMP_CALLER_SP(2)))

/* In the thread that does it. */
#define CHOSEN(name, end, parameters, arguments, n_arguments, thing)                       \
    OMP_REAL(int, name, parameters)                                                        \
    {                                                                                      \
        uintptr_t site = OMP_SITE;                                                         \
        int is_done = OMP_FOUND(name) ? real_##name arguments : 0;                         \
        if (is_done && omp_is_measured(site))                                              \
            omp_work_begin(at((thing), site, place), site, OMP_CALLER_SP(n_arguments), 0); \
        return is_done;                                                                    \
    }                                                                                      \
    OMP_RELEASES(end, (WHERE), (place, thread), omp_work_end(OMP_CALLER_SP(2)))
CHOSEN(__kmpc_master, __kmpc_end_master, (WHERE), (place, thread), 2, THING_MASTER)
CHOSEN(__kmpc_masked, __kmpc_end_masked, (WHERE, int filter), (place, thread, filter), 3,
       THING_MASKED)

static enum omp_thing work_of(const struct place *place)
{
    return place && place->flags & OF_SECTIONS ? THING_PARTS : THING_WORK;
}

/* What a thread gets of a loop that is divided at once: the first chunk from low to high, others
 * behind it at distances of stride, up to the loop's last. Sections are iterations. */
static void share(const struct place *place, long low, long high, long last, long stride, long step)
{
    bool is_up = step > 0;
    if (step == 0 || (is_up ? low > last || low > high : low < last || low < high))
        return;
    uint64_t n = 1, each = (uint64_t)((high - low) / step) + 1, n_iterations = each;
    if (stride != 0 && (stride > 0) == is_up && (is_up ? last > high : last < high)) {
        n = (uint64_t)((last - low) / stride) + 1;
        long tail = low + (long)(n - 1) * stride;
        uint64_t rest = (uint64_t)((last - tail) / step) + 1;
        n_iterations = (n - 1) * each + (rest < each ? rest : each);
    } else if (is_up ? high > last : high < last) {
        n_iterations = (uint64_t)((last - low) / step) + 1;
    }
    if (work_of(place) == THING_PARTS) {
        pm_cost(omp_chunks, n_iterations);
        return;
    }
    pm_cost(omp_chunks, n);
    pm_cost(omp_iterations, n_iterations);
}

/* enum sched_type, without modifiers; ordered ones are 32 more. */
static const char *schedule_of(int schedule)
{
    enum { MODIFIERS = 3 << 29, LOWEST = 33, ORDERED = 32 };
    static const char *const words[] = {"static loop", "static loop",  "dynamic loop",
                                        "guided loop", "runtime loop", "auto loop"};
    unsigned n = (unsigned)(schedule & ~MODIFIERS) - LOWEST;
    if (n >= ORDERED)
        n -= ORDERED;
    return n < sizeof words / sizeof *words ? words[n] : "worksharing loop";
}

static struct pm_sentence work_at(const struct place *place, int schedule, uintptr_t site)
{
    enum omp_thing thing = work_of(place);
    return thing == THING_WORK && place ? omp_loop_at(site, place->source, schedule_of(schedule))
                                        : at(thing, site, place);
}

#define STATIC_LOOP(suffix, number, step_type)                                                    \
    OMP_REAL(void, __kmpc_for_static_init_##suffix,                                               \
             (WHERE, int schedule, int *is_last, number *low, number *high, step_type *stride,    \
              step_type step, step_type chunk))                                                   \
    {                                                                                             \
        uintptr_t site = OMP_SITE;                                                                \
        number last = *high;                                                                      \
        if (!OMP_FOUND(__kmpc_for_static_init_##suffix))                                          \
            return;                                                                               \
        bool is_told = omp_is_measured(site) && !(place && place->flags & OF_DISTRIBUTE);         \
        if (is_told)                                                                              \
            omp_work_begin(work_at(place, schedule, site), site, OMP_CALLER_SP(9), 0);            \
        real___kmpc_for_static_init_##suffix(place, thread, schedule, is_last, low, high, stride, \
                                             step, chunk);                                        \
        if (is_told)                                                                              \
            share(place, (long)*low, (long)*high, (long)last,                                     \
                  schedule == STATIC_CHUNKED ? (long)*stride : 0, (long)step);                    \
    }
enum { STATIC_CHUNKED = 33 };
STATIC_LOOP(4, int, int)
STATIC_LOOP(4u, unsigned, int)
STATIC_LOOP(8, long, long)
STATIC_LOOP(8u, unsigned long, long)
OMP_RELEASES(__kmpc_for_static_fini, (WHERE), (place, thread), omp_work_end(OMP_CALLER_SP(2)))

#define SHARED_LOOP(suffix, number, step_type)                                                  \
    OMP_REAL(void, __kmpc_dispatch_init_##suffix,                                               \
             (WHERE, int schedule, number low, number high, step_type step, step_type chunk))   \
    {                                                                                           \
        uintptr_t site = OMP_SITE;                                                              \
        if (!OMP_FOUND(__kmpc_dispatch_init_##suffix))                                          \
            return;                                                                             \
        if (omp_is_measured(site))                                                              \
            omp_work_begin(work_at(place, schedule, site), site, OMP_CALLER_SP(7), (long)step); \
        real___kmpc_dispatch_init_##suffix(place, thread, schedule, low, high, step, chunk);    \
    }                                                                                           \
    OMP_REAL(int, __kmpc_dispatch_next_##suffix,                                                \
             (WHERE, int *is_last, number *low, number *high, step_type *stride))               \
    {                                                                                           \
        if (!OMP_FOUND(__kmpc_dispatch_next_##suffix))                                          \
            return 0;                                                                           \
        int has_chunk =                                                                         \
            real___kmpc_dispatch_next_##suffix(place, thread, is_last, low, high, stride);      \
        if (!omp_is_measured(OMP_SITE))                                                         \
            return has_chunk;                                                                   \
        if (has_chunk)                                                                          \
            omp_chunk((long)*low, (long)*high + (omp_here.step > 0 ? 1 : -1));                  \
        else                                                                                    \
            omp_work_end(OMP_CALLER_SP(5));                                                     \
        return has_chunk;                                                                       \
    }
SHARED_LOOP(4, int, int)
SHARED_LOOP(4u, unsigned, int)
SHARED_LOOP(8, long, long)
SHARED_LOOP(8u, unsigned long, long)

/* --- tasks: what we keep of one lies behind the program's own part of it --- */

struct task {
    struct omp_task task;
    int (*body)(int, void *);
};
struct library_task {
    char *shared; /* behind all that was asked for */
};

static struct task *task_of(void *task)
{
    return (struct task *)(((struct library_task *)task)->shared - sizeof(struct task));
}

static int run_task(int thread, void *given)
{
    struct task *task = task_of(given);
    struct omp_doing doing;
    omp_task_begin(&task->task, &doing);
    int result = task->body(thread, given);
    omp_task_end(&task->task, &doing);
    return result;
}

OMP_REAL(void *, __kmpc_omp_task_alloc,
         (WHERE, int flags, size_t bytes, size_t shared_bytes, int (*body)(int, void *)))
{
    uintptr_t site = OMP_SITE;
    if (!OMP_FOUND(__kmpc_omp_task_alloc))
        return NULL;
    if (!omp_is_measured(site))
        return real___kmpc_omp_task_alloc(place, thread, flags, bytes, shared_bytes, body);
    size_t whole = (bytes + 7) / 8 * 8 + sizeof(struct task);
    void *made = real___kmpc_omp_task_alloc(place, thread, flags, whole,
                                            shared_bytes ? shared_bytes : sizeof(void *), run_task);
    if (made)
        *task_of(made) =
            (struct task){omp_task_of(THING_JOB, (const void *)body, site, place->source), body};
    return made;
}

/* Is it one of ours? Others were made before anybody measured. */
static bool is_ours(const void *task)
{
    return ((int (*const *)(int, void *))task)[1] == run_task;
}

#define CREATES(name, parameters, arguments)                                      \
    OMP_REAL(int, name, parameters)                                               \
    {                                                                             \
        if (!OMP_FOUND(name))                                                     \
            return 0;                                                             \
        uintptr_t site = OMP_SITE;                                                \
        if (!omp_is_measured(site) || !is_ours(task))                             \
            return real_##name arguments;                                         \
        struct pm_sentence create = omp_called(task_of(task)->task.create, site); \
        if (omp_is_counted(create, 1))                                            \
            return real_##name arguments;                                         \
        pm_enter(create);                                                         \
        int result = real_##name arguments;                                       \
        pm_leave(create);                                                         \
        return result;                                                            \
    }
CREATES(__kmpc_omp_task, (WHERE, void *task), (place, thread, task))
CREATES(__kmpc_omp_task_with_deps,
        (WHERE, void *task, int n, void *depend, int n_alias, void *alias),
        (place, thread, task, n, depend, n_alias, alias))

/* if(0): the program calls the body between these. */
OMP_REAL(void, __kmpc_omp_task_begin_if0, (WHERE, void *task))
{
    if (!OMP_FOUND(__kmpc_omp_task_begin_if0))
        return;
    real___kmpc_omp_task_begin_if0(place, thread, task);
    if (!omp_is_measured(OMP_SITE) || !is_ours(task))
        return;
    pm_enter(task_of(task)->task.create);
    pm_leave(task_of(task)->task.create);
    pm_enter_at(task_of(task)->task.task, OMP_CALLER_SP(3));
}
OMP_REAL(void, __kmpc_omp_task_complete_if0, (WHERE, void *task))
{
    if (omp_is_measured(OMP_SITE) && is_ours(task))
        pm_leave(task_of(task)->task.task);
    if (OMP_FOUND(__kmpc_omp_task_complete_if0))
        real___kmpc_omp_task_complete_if0(place, thread, task);
}

/* Its tasks are copies of the one that was made for it. */
#define TASKLOOP(name, parameters, arguments)                                                \
    OMP_REAL(void, name, parameters)                                                         \
    {                                                                                        \
        uintptr_t site = OMP_SITE;                                                           \
        if (!OMP_FOUND(name))                                                                \
            return;                                                                          \
        if (!omp_is_measured(site) || !is_ours(task)) {                                      \
            real_##name arguments;                                                           \
            return;                                                                          \
        }                                                                                    \
        struct omp_task loop =                                                               \
            omp_task_of(THING_JOBS, (const void *)task_of(task)->body, site, place->source); \
        task_of(task)->task = loop;                                                          \
        struct omp_wait wait = omp_wait_begin(loop.create, site);                            \
        real_##name arguments;                                                               \
        omp_wait_end(&wait);                                                                 \
    }
#define TASKLOOP_PARAMETERS                                                           \
    WHERE, void *task, int now_or_later, uint64_t *low, uint64_t *high, int64_t step, \
        int no_group, int schedule, uint64_t grain
TASKLOOP(__kmpc_taskloop, (TASKLOOP_PARAMETERS, void *copy),
         (place, thread, task, now_or_later, low, high, step, no_group, schedule, grain, copy))
TASKLOOP(__kmpc_taskloop_5, (TASKLOOP_PARAMETERS, int modifier, void *copy),
         (place, thread, task, now_or_later, low, high, step, no_group, schedule, grain, modifier,
          copy))

/* It calls itself by its own names, through the loader; libgomp does not. */
__attribute__((constructor)) static void find_library(void)
{
    if (OMP_FOUND(__kmpc_barrier))
        omp_library_is((const void *)real___kmpc_barrier);
}
