/* GCC's programs. What is no call of libgomp, and the places of what is, the plugin tells (told.c);
 * without it loops that GCC divides itself (schedule(static)) are not there, and single constructs
 * have no end. */
#include "openmp.h"
#include "runtime/adapters/common/forward.h"

/* Waits as it did without us, and the time of it. */
#define WAIT_VOID(name)                                                             \
    OMP_REAL(void, name, (void))                                                    \
    {                                                                               \
        uintptr_t site = OMP_SITE;                                                  \
        if (!OMP_FOUND(name))                                                       \
            return;                                                                 \
        if (!omp_is_measured(site)) {                                               \
            real_##name();                                                          \
            return;                                                                 \
        }                                                                           \
        struct omp_wait wait =                                                      \
            omp_wait_begin(omp_told(THING_JOBS_WAIT, THING_JOBS_WAIT, site), site); \
        real_##name();                                                              \
        omp_wait_end(&wait);                                                        \
    }
WAIT_VOID(GOMP_taskwait)

/* Of the construct that ends here, if that was told. */
static struct pm_sentence meeting(uintptr_t site, uintptr_t sp)
{
    struct pm_sentence end = omp_here.loop_end;
    omp_work_end(sp);
    return end.id ? end : omp_told(THING_MEETING, THING_GCC_MEETING, site);
}

OMP_REAL(void, GOMP_barrier, (void))
{
    uintptr_t site = OMP_SITE;
    if (!OMP_FOUND(GOMP_barrier))
        return;
    if (!omp_is_measured(site)) {
        real_GOMP_barrier();
        return;
    }
    struct omp_wait wait = omp_wait_begin(meeting(site, OMP_CALLER_SP(0)), site);
    real_GOMP_barrier();
    omp_wait_end(&wait);
}

OMP_REAL(bool, GOMP_barrier_cancel, (void))
{
    uintptr_t site = OMP_SITE;
    if (!OMP_FOUND(GOMP_barrier_cancel))
        return false;
    if (!omp_is_measured(site))
        return real_GOMP_barrier_cancel();
    struct omp_wait wait = omp_wait_begin(meeting(site, OMP_CALLER_SP(0)), site);
    bool is_cancelled = real_GOMP_barrier_cancel();
    omp_wait_end(&wait);
    return is_cancelled;
}

OMP_REAL(void, GOMP_taskwait_depend, (void **depend))
{
    uintptr_t site = OMP_SITE;
    if (!OMP_FOUND(GOMP_taskwait_depend))
        return;
    if (!omp_is_measured(site)) {
        real_GOMP_taskwait_depend(depend);
        return;
    }
    struct omp_wait wait = omp_wait_begin(omp_told(THING_JOBS_WAIT, THING_JOBS_WAIT, site), site);
    real_GOMP_taskwait_depend(depend);
    omp_wait_end(&wait);
}

/* --- groups of tasks: their place is told where they begin --- */

enum { MAX_GROUPS = 16 }; /* within each other, that are told */
static __thread struct {
    unsigned n;
    struct pm_sentence waits[MAX_GROUPS];
} groups __attribute__((tls_model("initial-exec")));

OMP_REAL(void, GOMP_taskgroup_start, (void))
{
    if (!OMP_FOUND(GOMP_taskgroup_start))
        return;
    real_GOMP_taskgroup_start();
    if (groups.n < MAX_GROUPS)
        groups.waits[groups.n] = omp_is_measured(OMP_SITE) && omp_here.next
                                     ? omp_told(THING_GROUP_WAIT, THING_GCC_GROUP_WAIT, OMP_SITE)
                                     : (struct pm_sentence){0};
    groups.n++;
}
OMP_REAL(void, GOMP_taskgroup_end, (void))
{
    uintptr_t site = OMP_SITE;
    struct pm_sentence said = {0};
    if (groups.n > 0 && --groups.n < MAX_GROUPS)
        said = groups.waits[groups.n];
    if (!OMP_FOUND(GOMP_taskgroup_end))
        return;
    if (!omp_is_measured(site)) {
        real_GOMP_taskgroup_end();
        return;
    }
    struct omp_wait wait =
        omp_wait_begin(said.id ? said : omp_sentence(THING_GCC_GROUP_WAIT, site, NULL), site);
    real_GOMP_taskgroup_end();
    omp_wait_end(&wait);
}

/* --- one at a time --- */

OMP_CRITICAL(GOMP_critical_start, (void), (), 0, NULL)
OMP_CRITICAL_END(GOMP_critical_end, (void), (), 0, NULL)
OMP_CRITICAL(GOMP_critical_name_start, (void **variable), (variable), 1, variable)
OMP_CRITICAL_END(GOMP_critical_name_end, (void **variable), (variable), 1, variable)
OMP_CRITICAL(GOMP_atomic_start, (void), (), 0, OMP_ATOMIC)
OMP_CRITICAL_END(GOMP_atomic_end, (void), (), 0, OMP_ATOMIC)

static __thread struct pm_sentence in_turn __attribute__((tls_model("initial-exec")));
static struct pm_sentence its_turn(uintptr_t site)
{
    const char *source = omp_here.next;
    in_turn = omp_told(THING_IN_TURN, THING_GCC_IN_TURN, site);
    return source ? omp_sentence_at(THING_IN_TURN_ACQUIRE, site, source)
                  : omp_sentence(THING_GCC_IN_TURN_ACQUIRE, site, NULL);
}
OMP_ACQUIRES(GOMP_ordered_start, (void), (), its_turn(site), pm_enter_at(in_turn, OMP_CALLER_SP(0)))
OMP_RELEASES(GOMP_ordered_end, (void), (), pm_leave_at(in_turn, OMP_CALLER_SP(0)))

/* ordered depend(sink: ...): a thread waits for iterations of others. Numbers of them, as many as
 * the loop has levels. */
#define DOACROSS_WAIT(name)                                                        \
    PM_ADAPTER_EXPORT void name(PM_FORWARD_PARAMETERS);                            \
    PM_ADAPTER_EXPORT void name(PM_FORWARD_PARAMETERS)                             \
    {                                                                              \
        static void *real;                                                         \
        const pm_forward_word words[PM_FORWARD_WORDS] = PM_FORWARD_ARGUMENTS;      \
        uintptr_t site = OMP_SITE;                                                 \
        if (!pm_adapter_find(&real, #name, PM_OPENMP_LIBRARIES))                   \
            return;                                                                \
        if (!omp_is_measured(site)) {                                              \
            (void)pm_forward(real, PM_FORWARD_WORDS, words);                       \
            return;                                                                \
        }                                                                          \
        struct omp_wait wait =                                                     \
            omp_wait_begin(omp_sentence(THING_IN_TURN_ACQUIRE, site, NULL), site); \
        (void)pm_forward(real, PM_FORWARD_WORDS, words);                           \
        omp_wait_end(&wait);                                                       \
    }
DOACROSS_WAIT(GOMP_doacross_wait)
DOACROSS_WAIT(GOMP_doacross_ull_wait)

/* --- one thread does it: if the end is not told, it is only counted --- */

OMP_REAL(bool, GOMP_single_start, (void))
{
    uintptr_t site = OMP_SITE;
    bool is_done = OMP_FOUND(GOMP_single_start) && real_GOMP_single_start();
    const char *source = omp_here.next;
    if (!omp_is_measured(site) || (!is_done && !source))
        return is_done;
    bool waits = omp_here.next_waits;
    struct pm_sentence one = omp_told(THING_ONE, THING_GCC_ONE, site);
    if (is_done && source) {
        omp_work_begin(one, site, OMP_CALLER_SP(0), 0);
    } else if (is_done) {
        pm_enter(one);
        pm_leave(one);
    }
    if (source && waits)
        omp_here.loop_end = omp_sentence_at(THING_ONE_END, site, source);
    return is_done;
}

/* With copyprivate: the others wait here. */
OMP_REAL(void *, GOMP_single_copy_start, (void))
{
    uintptr_t site = OMP_SITE;
    if (!OMP_FOUND(GOMP_single_copy_start))
        return NULL;
    if (!omp_is_measured(site))
        return real_GOMP_single_copy_start();
    const char *source = omp_here.next;
    struct pm_sentence one = omp_told(THING_ONE, THING_GCC_ONE, site),
                       end = source ? omp_sentence_at(THING_ONE_END, site, source)
                                    : omp_sentence(THING_GCC_ONE_END, site, NULL);
    struct omp_wait wait = omp_wait_begin(end, site);
    void *data = real_GOMP_single_copy_start();
    omp_wait_end(&wait);
    if (!data)
        omp_work_begin(one, site, OMP_CALLER_SP(0), 0);
    if (source)
        omp_here.loop_end = end;
    return data;
}
OMP_REAL(void, GOMP_single_copy_end, (void *data))
{
    uintptr_t site = OMP_SITE;
    if (!OMP_FOUND(GOMP_single_copy_end))
        return;
    if (!omp_is_measured(site)) {
        real_GOMP_single_copy_end(data);
        return;
    }
    struct pm_sentence end = omp_here.loop_end;
    omp_work_pause(OMP_CALLER_SP(1));
    struct omp_wait wait =
        omp_wait_begin(end.id ? end : omp_sentence(THING_GCC_ONE_END, site, NULL), site);
    real_GOMP_single_copy_end(data);
    omp_wait_end(&wait);
}

/* --- loops --- */

/* "nonmonotonic_dynamic", "ull_ordered_static"; "": the first argument behind the bounds tells. */
static const char *schedule_of(const char *name, pm_forward_word number)
{
    static const char *const by_number[] = {"runtime loop", "static loop", "dynamic loop",
                                            "guided loop", "auto loop"};
    static const char *const words[] = {"runtime", "static", "dynamic", "guided"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]))
            return by_number[i];
    number &= 7; /* the rest are modifiers */
    return by_number[number < sizeof by_number / sizeof *by_number ? number : 0];
}

struct begun {
    const char *name;        /* of the function, behind GOMP_loop_ */
    unsigned n, step, chunk; /* loops.def */
    const pm_forward_word *words;
    uintptr_t site, sp;
};

/* What waits at its end is of the same place. */
static bool loop_begin(void *real, const struct begun *b)
{
    const char *source = omp_here.next;
    unsigned schedule = b->chunk >= 3 ? b->chunk - 3 : 0;
    struct pm_sentence loop =
        omp_loop_at(b->site, source, schedule_of(b->name, b->words[schedule]));
    omp_here.next = NULL;
    omp_work_begin(loop, b->site, b->sp, b->step ? (long)b->words[b->step - 1] : 1);
    omp_here.loop_end = source ? omp_sentence_at(THING_WORK_END, b->site, source)
                               : omp_sentence(THING_GCC_WORK_END, b->site, NULL);
    bool has_chunk = (pm_forward(real, b->n, b->words) & 0xff) != 0;
    const long *start = (const long *)b->words[b->chunk - 1],
               *end = (const long *)b->words[b->chunk];
    if (has_chunk && start && end)
        omp_chunk(*start, *end);
    return has_chunk;
}

#define LOOP_BEGIN(name, n, step, chunk)                                      \
    PM_ADAPTER_EXPORT bool GOMP_loop_##name(PM_FORWARD_PARAMETERS);           \
    PM_ADAPTER_EXPORT bool GOMP_loop_##name(PM_FORWARD_PARAMETERS)            \
    {                                                                         \
        static void *real;                                                    \
        const pm_forward_word words[PM_FORWARD_WORDS] = PM_FORWARD_ARGUMENTS; \
        if (!pm_adapter_find(&real, "GOMP_loop_" #name, PM_OPENMP_LIBRARIES)) \
            return false;                                                     \
        if (!omp_is_measured(OMP_SITE))                                       \
            return (pm_forward(real, (n), words) & 0xff) != 0;                \
        const struct begun begun = {                                          \
            #name, (n), (step), (chunk), words, OMP_SITE, OMP_CALLER_SP(n)};  \
        return loop_begin(real, &begun);                                      \
    }
#define LOOP_NEXT(name)                                        \
    OMP_REAL(bool, GOMP_loop_##name, (long *start, long *end)) \
    {                                                          \
        if (!OMP_FOUND(GOMP_loop_##name))                      \
            return false;                                      \
        bool has_chunk = real_GOMP_loop_##name(start, end);    \
        if (has_chunk && omp_is_measured(OMP_SITE))            \
            omp_chunk(*start, *end);                           \
        return has_chunk;                                      \
    }
#include "loops.def"

/* The construct ends, and behind it there is a barrier. */
#define WORK_END(type, name, thing)                                                 \
    OMP_REAL(type, name, (void))                                                    \
    {                                                                               \
        uintptr_t site = OMP_SITE;                                                  \
        if (!OMP_FOUND(name))                                                       \
            return (type)0;                                                         \
        if (!omp_is_measured(site))                                                 \
            return real_##name();                                                   \
        struct pm_sentence end = omp_here.loop_end;                                 \
        omp_work_end(OMP_CALLER_SP(0));                                             \
        struct omp_wait wait =                                                      \
            omp_wait_begin(end.id ? end : omp_sentence((thing), site, NULL), site); \
        type result = real_##name();                                                \
        omp_wait_end(&wait);                                                        \
        return result;                                                              \
    }
/* Results of functions without one are nothing. */
WORK_END(int, GOMP_loop_end, THING_GCC_WORK_END)
WORK_END(int, GOMP_sections_end, THING_GCC_PARTS_END)
WORK_END(bool, GOMP_loop_end_cancel, THING_GCC_WORK_END)
WORK_END(bool, GOMP_sections_end_cancel, THING_GCC_PARTS_END)

#define WORK_END_NOWAIT(name)               \
    OMP_REAL(void, name, (void))            \
    {                                       \
        if (omp_is_measured(OMP_SITE))      \
            omp_work_end(OMP_CALLER_SP(0)); \
        if (OMP_FOUND(name))                \
            real_##name();                  \
    }
WORK_END_NOWAIT(GOMP_loop_end_nowait)
WORK_END_NOWAIT(GOMP_sections_end_nowait)

/* --- sections: the number of the next one, 0: no more --- */

static void parts_begin(uintptr_t site, uintptr_t sp)
{
    const char *source = omp_here.next;
    omp_work_begin(omp_told(THING_PARTS, THING_GCC_PARTS, site), site, sp, 0);
    omp_here.loop_end = source ? omp_sentence_at(THING_PARTS_END, site, source)
                               : omp_sentence(THING_GCC_PARTS_END, site, NULL);
}

OMP_REAL(unsigned, GOMP_sections_start, (unsigned count))
{
    if (!OMP_FOUND(GOMP_sections_start))
        return 0;
    if (!omp_is_measured(OMP_SITE))
        return real_GOMP_sections_start(count);
    parts_begin(OMP_SITE, OMP_CALLER_SP(1));
    unsigned part = real_GOMP_sections_start(count);
    if (part)
        pm_cost(omp_chunks, 1);
    return part;
}
OMP_REAL(unsigned, GOMP_sections2_start, (unsigned count, uintptr_t *reductions, void **memory))
{
    if (!OMP_FOUND(GOMP_sections2_start))
        return 0;
    if (!omp_is_measured(OMP_SITE))
        return real_GOMP_sections2_start(count, reductions, memory);
    parts_begin(OMP_SITE, OMP_CALLER_SP(3));
    unsigned part = real_GOMP_sections2_start(count, reductions, memory);
    if (part)
        pm_cost(omp_chunks, 1);
    return part;
}
OMP_REAL(unsigned, GOMP_sections_next, (void))
{
    unsigned part = OMP_FOUND(GOMP_sections_next) ? real_GOMP_sections_next() : 0;
    if (part && omp_is_measured(OMP_SITE))
        pm_cost(omp_chunks, 1);
    return part;
}

/* --- regions --- */

/* For the others of the team, as the region's end does behind the body. Once it is cancelled nobody
 * may come to a barrier but the last one; those who wait are let go. */
static bool (*real_GOMP_cancellation_point)(int which);
static void wait_for_team(void)
{
    enum { PARALLEL = 1 };
    if (OMP_FOUND(GOMP_cancellation_point) && real_GOMP_cancellation_point(PARALLEL))
        return;
    if (OMP_FOUND(GOMP_barrier_cancel))
        (void)real_GOMP_barrier_cancel();
}

static void run_region(void *data)
{
    const struct omp_region *region = data;
    struct omp_body body;
    omp_region_begin(region, &body);
    ((void (*)(void *))region->body)(region->data);
    omp_work_end(pm_stack_pointer());
    struct omp_wait wait = omp_wait_begin(region->end, 0);
    wait_for_team();
    omp_wait_end(&wait);
    omp_region_end(region, &body);
}

/* Regions that begin with what they consist of. */
static void begin_with_loop(struct omp_region *region, uintptr_t site, const char *schedule)
{
    region->loop = region->inner ? omp_loop_at(site, region->inner, schedule)
                                 : omp_loop_of(region->body, site, schedule);
    region->inner = NULL;
}
static void begin_with_parts(struct omp_region *region, uintptr_t site)
{
    if (region->inner) {
        region->loop = omp_sentence_at(THING_PARTS, site, region->inner);
        region->loop_end = omp_sentence_at(THING_PARTS_END, site, region->inner);
    } else {
        region->loop = omp_sentence_of(THING_PARTS, region->body, site);
    }
    region->inner = NULL;
}

/* As the construct's end would have ended, it ends here; the team's own barrier follows. */
#define REGION(type, name, parameters, make, arguments, body, data)                                \
    OMP_REAL(type, name, parameters)                                                               \
    {                                                                                              \
        uintptr_t site = OMP_SITE;                                                                 \
        if (!OMP_FOUND(name))                                                                      \
            return (type)0;                                                                        \
        if (!omp_is_measured(site))                                                                \
            return real_##name arguments(body, data);                                              \
        struct omp_region region = omp_region_of((void *)(body), (data), site, omp_told_source()); \
        make;                                                                                      \
        return real_##name arguments(run_region, &region);                                         \
    }
#define BODY void (*body)(void *), void *data
#define BODY_OF_TARGET void (*body)(void *)
#define AS_IT_IS(b, d) (b, d, n_threads, flags)
REGION(int, GOMP_parallel, (BODY, unsigned n_threads, unsigned flags), (void)0, AS_IT_IS, body,
       data)
REGION(unsigned, GOMP_parallel_reductions, (BODY, unsigned n_threads, unsigned flags),
       region.first = *(void **)data, AS_IT_IS, body, data)

#define SECTIONS(b, d) (b, d, n_threads, count, flags)
REGION(int, GOMP_parallel_sections, (BODY, unsigned n_threads, unsigned count, unsigned flags),
       begin_with_parts(&region, site), SECTIONS, body, data)

#define LOOP(b, d) (b, d, n_threads, start, end, step, chunk, flags)
#define LOOP_REGION(name)                                                                        \
    REGION(                                                                                      \
        int, name,                                                                               \
        (BODY, unsigned n_threads, long start, long end, long step, long chunk, unsigned flags), \
        (begin_with_loop(&region, site, schedule_of(#name, 0)), region.step = step), LOOP, body, \
        data)
LOOP_REGION(GOMP_parallel_loop_static)
LOOP_REGION(GOMP_parallel_loop_dynamic)
LOOP_REGION(GOMP_parallel_loop_guided)
LOOP_REGION(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP_REGION(GOMP_parallel_loop_nonmonotonic_guided)

#define RUNTIME_LOOP(b, d) (b, d, n_threads, start, end, step, flags)
#define RUNTIME_LOOP_REGION(name)                                                                  \
    REGION(int, name, (BODY, unsigned n_threads, long start, long end, long step, unsigned flags), \
           (begin_with_loop(&region, site, schedule_of(#name, 0)), region.step = step),            \
           RUNTIME_LOOP, body, data)
RUNTIME_LOOP_REGION(GOMP_parallel_loop_runtime)
RUNTIME_LOOP_REGION(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME_LOOP_REGION(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* --- teams and devices --- */

/* On the host: each team is a thread, one after the other. */
static void run_teams(void *data)
{
    const struct omp_region *region = data;
    struct omp_body body;
    omp_region_begin(region, &body);
    ((void (*)(void *))region->body)(region->data);
    omp_work_end(pm_stack_pointer());
    omp_region_end(region, &body);
}
OMP_REAL(void, GOMP_teams_reg, (BODY, unsigned n_teams, unsigned limit, unsigned flags))
{
    uintptr_t site = OMP_SITE;
    if (!OMP_FOUND(GOMP_teams_reg))
        return;
    if (!omp_is_measured(site)) {
        real_GOMP_teams_reg(body, data, n_teams, limit, flags);
        return;
    }
    struct omp_region region = omp_region_of((void *)body, data, site, NULL);
    const char *source = omp_told_source();
    region.region = source ? omp_sentence_at(THING_LEAGUE, site, source)
                           : omp_sentence_of(THING_LEAGUE, (const void *)body, site);
    real_GOMP_teams_reg(run_teams, &region, n_teams, limit, flags);
}

/* On a device, or the host: the thread waits, or does it. What it hands over, too. */
OMP_REAL(void, GOMP_target_ext,
         (int device, BODY_OF_TARGET, size_t n, void **addresses, size_t *sizes,
          unsigned short *kinds, unsigned flags, void **depend, void **arguments))
{
    uintptr_t site = OMP_SITE;
    if (!OMP_FOUND(GOMP_target_ext))
        return;
    if (!omp_is_measured(site)) {
        real_GOMP_target_ext(device, body, n, addresses, sizes, kinds, flags, depend, arguments);
        return;
    }
    struct pm_sentence target = omp_called(omp_told(THING_DEVICE, THING_DEVICE, site), site);
    pm_enter(target);
    real_GOMP_target_ext(device, body, n, addresses, sizes, kinds, flags, depend, arguments);
    pm_leave(target);
}

/* --- tasks --- */

/* What libgomp copies into each task: ours, and behind it the program's. It writes the bounds of a
 * part of a taskloop into the first two words, and looks at the third for reductions. */
struct task {
    uintptr_t first[3];
    struct omp_task task;
    void (*body)(void *);
    void (*copy)(void *, void *); /* NULL: by bytes */
    void *data;                   /* in the original: the program's */
    size_t data_at, data_bytes;   /* in copies: where that lies */
    bool has_bounds;
};

static void copy_task(void *to, void *from)
{
    const struct task *task = from;
    memcpy(to, task, sizeof *task);
    void *data = (char *)to + task->data_at;
    if (task->copy)
        task->copy(data, task->data);
    else if (task->data_bytes)
        memcpy(data, task->data, task->data_bytes);
}

static void run_task(void *copied)
{
    struct task *task = copied;
    struct omp_doing doing;
    void *data = (char *)copied + task->data_at;
    if (task->has_bounds)
        memcpy(data, task->first, 2 * sizeof *task->first);
    omp_task_begin(&task->task, &doing);
    task->body(data);
    omp_task_end(&task->task, &doing);
}

static struct task task_of(enum omp_thing thing, uintptr_t site, void (*body)(void *), void *data,
                           void (*copy)(void *, void *), size_t bytes, size_t align)
{
    struct task task = {.task = omp_task_of(thing, (const void *)body, site, omp_told_source()),
                        .body = body,
                        .copy = copy,
                        .data = data,
                        .data_at = (sizeof task + align - 1) / align * align,
                        .data_bytes = bytes,
                        .has_bounds = thing == THING_JOBS};
    if (task.has_bounds && bytes >= sizeof task.first)
        memcpy(task.first, data, sizeof task.first);
    else if (task.has_bounds)
        memcpy(task.first, data, 2 * sizeof *task.first);
    return task;
}

static size_t task_align(size_t align)
{
    return align < _Alignof(struct task) ? _Alignof(struct task) : align;
}

enum { DETACHES = 1 << 13 }; /* the library writes to the program's data: left alone */
OMP_REAL(void, GOMP_task,
         (void (*body)(void *), void *data, void (*copy)(void *, void *), long bytes, long align,
          bool now_or_later, unsigned flags, void **depend, int priority, void *detach))
{
    uintptr_t site = OMP_SITE;
    if (!OMP_FOUND(GOMP_task))
        return;
    if (!omp_is_measured(site)) {
        real_GOMP_task(body, data, copy, bytes, align, now_or_later, flags, depend, priority,
                       detach);
        return;
    }
    size_t aligned = task_align((size_t)align);
    struct task task = task_of(THING_JOB, site, body, data, copy, (size_t)bytes, aligned);
    struct pm_sentence create = omp_called(task.task.create, site);
    bool is_counted = omp_is_counted(create, 1);
    if (!is_counted)
        pm_enter(create);
    if (flags & DETACHES)
        real_GOMP_task(body, data, copy, bytes, align, now_or_later, flags, depend, priority,
                       detach);
    else
        real_GOMP_task(run_task, &task, copy_task, (long)task.data_at + bytes, (long)aligned,
                       now_or_later, flags, depend, priority, detach);
    if (!is_counted)
        pm_leave(create);
}

#define TASKLOOP(name, number)                                                                    \
    OMP_REAL(void, name,                                                                          \
             (void (*body)(void *), void *data, void (*copy)(void *, void *), long bytes,         \
              long align, unsigned flags, unsigned long n_tasks, int priority, number start,      \
              number end, number step))                                                           \
    {                                                                                             \
        uintptr_t site = OMP_SITE;                                                                \
        if (!OMP_FOUND(name))                                                                     \
            return;                                                                               \
        if (!omp_is_measured(site)) {                                                             \
            real_##name(body, data, copy, bytes, align, flags, n_tasks, priority, start, end,     \
                        step);                                                                    \
            return;                                                                               \
        }                                                                                         \
        size_t aligned = task_align((size_t)align);                                               \
        struct task task = task_of(THING_JOBS, site, body, data, copy, (size_t)bytes, aligned);   \
        struct omp_wait wait = omp_wait_begin(task.task.create, site);                            \
        real_##name(run_task, &task, copy_task, (long)task.data_at + bytes, (long)aligned, flags, \
                    n_tasks, priority, start, end, step);                                         \
        omp_wait_end(&wait);                                                                      \
    }
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)
