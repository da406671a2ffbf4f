/* The functions of libc that take locks and wait. A lock that is free is taken by the same
 * attempt as without us (trylock), and only where that does not succeed the time is looked at;
 * what the functions return, and errno, is what the real ones do. */
#include "locks.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#define HERE PM_ADAPTER_CALLER

/* --- holding: begun where it is taken, ended where it is given back, in any order --- */

/* Costs as much as the lock itself, so only where it is asked for. */
static bool is_held_told(void)
{
    static int told;
    if (told == 0) {
        const char *text = getenv(PM_LOCKS_HOLD);
        const struct pm_words_api *api = pm_words_of_runtime();
        told = text && !strcmp(text, PM_LOCKS_HOLD_TOLD) && api && api->begin && api->end ? 1 : -1;
    }
    return told > 0;
}

static int taken(struct lock *lock, int result)
{
    if (is_held_told() && (result == 0 || result == EOWNERDEAD))
        pm_begin(lock_sentence(lock, LOCK_HOLD));
    return result;
}

static void given_back(const void *address, enum lock_kind kind, const void *site)
{
    if (address && is_held_told() && locks_are_measured())
        pm_end(lock_sentence(lock_at(address, kind, site), LOCK_HOLD));
}

/* Behind a condition, the mutex is held again. */
static void taken_again(const void *mutex, const void *site)
{
    if (mutex && is_held_told())
        (void)taken(lock_at(mutex, LOCK_MUTEX, site), 0);
}

static void waited_since(uint64_t start_ns)
{
    uint64_t end_ns = pm_adapter_now_ns();
    if (start_ns && end_ns > start_ns)
        pm_cost(lock_wait_ns, end_ns - start_ns);
}

/* --- locks --- */

#define MAKE(name, type, parameters, arguments)                               \
    PM_ADAPTER_LIBC(int, name, parameters)                                    \
    PM_ADAPTER_EXPORT int name parameters                                     \
    {                                                                         \
        int result = PM_ADAPTER_FOUND(name) ? real_##name arguments : ENOSYS; \
        if (result == 0 && locks_are_measured())                              \
            lock_made((const void *)lock, type);                              \
        return result;                                                        \
    }
MAKE(pthread_mutex_init, HERE, (pthread_mutex_t * lock, const pthread_mutexattr_t *how),
     (lock, how))
MAKE(pthread_mutex_destroy, NULL, (pthread_mutex_t * lock), (lock))
MAKE(pthread_rwlock_init, HERE,
     (pthread_rwlock_t *restrict lock, const pthread_rwlockattr_t *restrict how), (lock, how))
MAKE(pthread_rwlock_destroy, NULL, (pthread_rwlock_t * lock), (lock))
MAKE(pthread_spin_init, HERE, (pthread_spinlock_t * lock, int how), (lock, how))
MAKE(pthread_spin_destroy, NULL, (pthread_spinlock_t * lock), (lock))
MAKE(pthread_cond_init, HERE,
     (pthread_cond_t *restrict lock, const pthread_condattr_t *restrict how), (lock, how))
MAKE(pthread_cond_destroy, NULL, (pthread_cond_t * lock), (lock))
MAKE(pthread_barrier_init, HERE,
     (pthread_barrier_t *restrict lock, const pthread_barrierattr_t *restrict how, unsigned n),
     (lock, how, n))
MAKE(pthread_barrier_destroy, NULL, (pthread_barrier_t * lock), (lock))
MAKE(mtx_init, HERE, (mtx_t * lock, int how), (lock, how))
MAKE(cnd_init, HERE, (cnd_t * lock), (lock))
MAKE(sem_init, HERE, (sem_t * lock, int shared, unsigned n), (lock, shared, n))
MAKE(sem_destroy, NULL, (sem_t * lock), (lock))

#define UNMAKE(name, parameters)                 \
    PM_ADAPTER_LIBC(void, name, parameters)      \
    PM_ADAPTER_EXPORT void name parameters       \
    {                                            \
        if (PM_ADAPTER_FOUND(name))              \
            real_##name(lock);                   \
        if (locks_are_measured())                \
            lock_made((const void *)lock, NULL); \
    }
UNMAKE(mtx_destroy, (mtx_t * lock))
UNMAKE(cnd_destroy, (cnd_t * lock))

#define TRY(name, parameters, kind)                                       \
    PM_ADAPTER_LIBC(int, name, parameters)                                \
    PM_ADAPTER_EXPORT int name parameters                                 \
    {                                                                     \
        if (!PM_ADAPTER_FOUND(name))                                      \
            return ENOSYS;                                                \
        if (!locks_are_measured())                                        \
            return real_##name(lock);                                     \
        struct lock *at = lock_at((const void *)lock, kind, HERE);        \
        struct pm_sentence acquire = lock_called(at, LOCK_ACQUIRE, HERE); \
        pm_enter(acquire);                                                \
        int result = real_##name(lock);                                   \
        pm_leave(acquire);                                                \
        return taken(at, result);                                         \
    }
TRY(pthread_mutex_trylock, (pthread_mutex_t * lock), LOCK_MUTEX)
TRY(pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), LOCK_RWLOCK)
TRY(pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), LOCK_RWLOCK)
TRY(pthread_spin_trylock, (pthread_spinlock_t * lock), LOCK_SPIN)
TRY(mtx_trylock, (mtx_t * lock), LOCK_MUTEX)

/* busy: what the attempt says of one that is not free. */
#define TAKE_FROM(name, try, busy, parameters, arguments, kind)           \
    PM_ADAPTER_LIBC(int, name, parameters)                                \
    PM_ADAPTER_EXPORT int name parameters                                 \
    {                                                                     \
        if (!PM_ADAPTER_FOUND(name))                                      \
            return ENOSYS;                                                \
        if (!locks_are_measured() || !PM_ADAPTER_FOUND(try))              \
            return real_##name arguments;                                 \
        struct lock *at = lock_at((const void *)lock, kind, HERE);        \
        struct pm_sentence acquire = lock_called(at, LOCK_ACQUIRE, HERE); \
        pm_enter(acquire);                                                \
        int result = real_##try(lock);                                    \
        if (__builtin_expect(result == (busy), 0)) {                      \
            struct pm_sentence wait = lock_sentence(at, LOCK_WAIT);       \
            pm_enter(wait);                                               \
            uint64_t start_ns = pm_adapter_now_ns();                      \
            result = real_##name arguments;                               \
            waited_since(start_ns);                                       \
            pm_leave(wait);                                               \
        }                                                                 \
        pm_leave(acquire);                                                \
        return taken(at, result);                                         \
    }
#define TAKE(name, try, parameters, arguments, kind) \
    TAKE_FROM(name, try, EBUSY, parameters, arguments, kind)
#define LIMIT const struct timespec *restrict limit
TAKE_FROM(mtx_lock, mtx_trylock, thrd_busy, (mtx_t * lock), (lock), LOCK_MUTEX)
TAKE_FROM(mtx_timedlock, mtx_trylock, thrd_busy, (mtx_t *restrict lock, LIMIT), (lock, limit),
          LOCK_MUTEX)
TAKE(pthread_mutex_lock, pthread_mutex_trylock, (pthread_mutex_t * lock), (lock), LOCK_MUTEX)
TAKE(pthread_mutex_timedlock, pthread_mutex_trylock, (pthread_mutex_t *restrict lock, LIMIT),
     (lock, limit), LOCK_MUTEX)
TAKE(pthread_mutex_clocklock, pthread_mutex_trylock,
     (pthread_mutex_t *restrict lock, clockid_t clock, LIMIT), (lock, clock, limit), LOCK_MUTEX)
TAKE(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock),
     LOCK_RWLOCK)
TAKE(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t *restrict lock, LIMIT),
     (lock, limit), LOCK_RWLOCK)
TAKE(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock,
     (pthread_rwlock_t *restrict lock, clockid_t clock, LIMIT), (lock, clock, limit), LOCK_RWLOCK)
TAKE(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock),
     LOCK_RWLOCK)
TAKE(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t *restrict lock, LIMIT),
     (lock, limit), LOCK_RWLOCK)
TAKE(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock,
     (pthread_rwlock_t *restrict lock, clockid_t clock, LIMIT), (lock, clock, limit), LOCK_RWLOCK)
TAKE(pthread_spin_lock, pthread_spin_trylock, (pthread_spinlock_t * lock), (lock), LOCK_SPIN)

#define GIVE_BACK(name, parameters, kind)                           \
    PM_ADAPTER_LIBC(int, name, parameters)                          \
    PM_ADAPTER_EXPORT int name parameters                           \
    {                                                               \
        given_back((const void *)lock, kind, HERE);                 \
        return PM_ADAPTER_FOUND(name) ? real_##name(lock) : ENOSYS; \
    }
GIVE_BACK(pthread_mutex_unlock, (pthread_mutex_t * lock), LOCK_MUTEX)
GIVE_BACK(pthread_rwlock_unlock, (pthread_rwlock_t * lock), LOCK_RWLOCK)
GIVE_BACK(pthread_spin_unlock, (pthread_spinlock_t * lock), LOCK_SPIN)
GIVE_BACK(mtx_unlock, (mtx_t * lock), LOCK_MUTEX)

/* --- conditions and barriers: waiting is what they are for --- */

/* mutex: it is not held meanwhile; NULL: there is none. */
#define WAIT(name, parameters, arguments, object, kind, mutex)      \
    PM_ADAPTER_LIBC(int, name, parameters)                          \
    PM_ADAPTER_EXPORT int name parameters                           \
    {                                                               \
        if (!PM_ADAPTER_FOUND(name))                                \
            return ENOSYS;                                          \
        if (!locks_are_measured())                                  \
            return real_##name arguments;                           \
        struct lock *at = lock_at((object), (kind), HERE);          \
        struct pm_sentence wait = lock_called(at, LOCK_WAIT, HERE); \
        given_back((mutex), LOCK_MUTEX, HERE);                      \
        pm_enter(wait);                                             \
        uint64_t start_ns = pm_adapter_now_ns();                    \
        int result = real_##name arguments;                         \
        waited_since(start_ns);                                     \
        pm_leave(wait);                                             \
        taken_again((mutex), HERE);                                 \
        return result;                                              \
    }
WAIT(pthread_cond_wait, (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex),
     (condition, mutex), condition, LOCK_CONDITION, mutex)
WAIT(pthread_cond_timedwait,
     (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, LIMIT),
     (condition, mutex, limit), condition, LOCK_CONDITION, mutex)
WAIT(pthread_cond_clockwait,
     (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock, LIMIT),
     (condition, mutex, clock, limit), condition, LOCK_CONDITION, mutex)
WAIT(cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex), condition, LOCK_CONDITION,
     mutex)
WAIT(cnd_timedwait, (cnd_t *restrict condition, mtx_t *restrict mutex, LIMIT),
     (condition, mutex, limit), condition, LOCK_CONDITION, mutex)
WAIT(pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier), barrier, LOCK_BARRIER, NULL)

#define SIGNAL(name, parameters, arguments, object, kind)               \
    PM_ADAPTER_LIBC(int, name, parameters)                              \
    PM_ADAPTER_EXPORT int name parameters                               \
    {                                                                   \
        if (!PM_ADAPTER_FOUND(name))                                    \
            return ENOSYS;                                              \
        if (!locks_are_measured())                                      \
            return real_##name arguments;                               \
        struct lock *at = lock_at((object), (kind), HERE);              \
        struct pm_sentence signal = lock_called(at, LOCK_SIGNAL, HERE); \
        pm_enter(signal);                                               \
        int result = real_##name arguments;                             \
        pm_leave(signal);                                               \
        return result;                                                  \
    }
SIGNAL(pthread_cond_signal, (pthread_cond_t * condition), (condition), condition, LOCK_CONDITION)
SIGNAL(pthread_cond_broadcast, (pthread_cond_t * condition), (condition), condition, LOCK_CONDITION)
SIGNAL(cnd_signal, (cnd_t * condition), (condition), condition, LOCK_CONDITION)
SIGNAL(cnd_broadcast, (cnd_t * condition), (condition), condition, LOCK_CONDITION)
SIGNAL(sem_post, (sem_t * semaphore), (semaphore), semaphore, LOCK_SEMAPHORE)

/* --- what is done once: others wait until it is done --- */

enum { ONCE_IS_DONE = 2 }; /* glibc's */
static __thread struct {
    void (*routine)(void);
    bool is_ours;
} once __attribute__((tls_model("initial-exec")));

static void do_once(void)
{
    void (*routine)(void) = once.routine;
    once.is_ours = true;
    routine();
    once.is_ours = true; /* it may have called for others */
}

/* is_done: nobody waits any more. */
static int call_once_in(int (*real)(int *, void (*)(void)), int *flag, void (*routine)(void),
                        const void *site)
{
    struct lock *at = lock_at(flag, LOCK_ONCE, site);
    struct pm_sentence acquire = lock_called(at, LOCK_ACQUIRE, site);
    pm_enter(acquire);
    bool is_done = __atomic_load_n(flag, __ATOMIC_ACQUIRE) == ONCE_IS_DONE;
    uint64_t start_ns = is_done ? 0 : pm_adapter_now_ns();
    once.routine = routine;
    once.is_ours = false;
    int result = real(flag, do_once);
    if (start_ns && !once.is_ours) {
        struct pm_sentence wait = lock_sentence(at, LOCK_WAIT);
        pm_enter(wait);
        waited_since(start_ns);
        pm_leave(wait);
    }
    pm_leave(acquire);
    return result;
}

PM_ADAPTER_LIBC(int, pthread_once, (pthread_once_t * flag, void (*routine)(void)))
PM_ADAPTER_EXPORT int pthread_once(pthread_once_t *flag, void (*routine)(void))
{
    if (!PM_ADAPTER_FOUND(pthread_once))
        return ENOSYS;
    if (!locks_are_measured())
        return real_pthread_once(flag, routine);
    return call_once_in(real_pthread_once, flag, routine, HERE);
}

/* In glibc it is pthread_once of the same flag, without a result. */
PM_ADAPTER_LIBC(int, call_once, (once_flag * flag, void (*routine)(void)))
PM_ADAPTER_EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
    if (!PM_ADAPTER_FOUND(call_once))
        return;
    if (!locks_are_measured())
        (void)real_call_once(flag, routine);
    else
        (void)call_once_in((int (*)(int *, void (*)(void)))real_call_once, &flag->__data, routine,
                           HERE);
}

/* --- semaphores: errors by errno; a wait may be cancelled though it has not to wait --- */

#define SEMAPHORE(name, parameters, arguments)                                    \
    PM_ADAPTER_LIBC(int, name, parameters)                                        \
    PM_ADAPTER_EXPORT int name parameters                                         \
    {                                                                             \
        if (!PM_ADAPTER_FOUND(name)) {                                            \
            errno = ENOSYS;                                                       \
            return -1;                                                            \
        }                                                                         \
        if (!locks_are_measured() || !PM_ADAPTER_FOUND(sem_trywait))              \
            return real_##name arguments;                                         \
        int error_no = errno;                                                     \
        pthread_testcancel();                                                     \
        struct lock *at = lock_at((const void *)semaphore, LOCK_SEMAPHORE, HERE); \
        struct pm_sentence acquire = lock_called(at, LOCK_ACQUIRE, HERE);         \
        pm_enter(acquire);                                                        \
        int result = real_sem_trywait(semaphore);                                 \
        if (result != 0 && errno == EAGAIN) {                                     \
            struct pm_sentence wait = lock_sentence(at, LOCK_WAIT);               \
            errno = error_no;                                                     \
            pm_enter(wait);                                                       \
            uint64_t start_ns = pm_adapter_now_ns();                              \
            result = real_##name arguments;                                       \
            waited_since(start_ns);                                               \
            pm_leave(wait);                                                       \
        }                                                                         \
        pm_leave(acquire);                                                        \
        return result;                                                            \
    }
PM_ADAPTER_LIBC(int, sem_trywait, (sem_t * semaphore))
PM_ADAPTER_EXPORT int sem_trywait(sem_t *semaphore)
{
    if (!PM_ADAPTER_FOUND(sem_trywait)) {
        errno = ENOSYS;
        return -1;
    }
    if (!locks_are_measured())
        return real_sem_trywait(semaphore);
    struct lock *at = lock_at(semaphore, LOCK_SEMAPHORE, HERE);
    struct pm_sentence acquire = lock_called(at, LOCK_ACQUIRE, HERE);
    pm_enter(acquire);
    int result = real_sem_trywait(semaphore);
    pm_leave(acquire);
    return result;
}
SEMAPHORE(sem_wait, (sem_t * semaphore), (semaphore))
SEMAPHORE(sem_timedwait, (sem_t *restrict semaphore, LIMIT), (semaphore, limit))
SEMAPHORE(sem_clockwait, (sem_t *restrict semaphore, clockid_t clock, LIMIT),
          (semaphore, clock, limit))
