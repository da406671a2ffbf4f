/* OpenMP's own locks, those that nest too, of C and (with an underscore behind the name) of
 * Fortran. A lock that is free is taken by the same attempt as without us; only where that does
 * not succeed the time is looked at. */
#include "openmp.h"
#include "runtime/adapters/common/symbols.h"

/* A variable's name; else it is a lock of whoever has made it, or uses it first. is_fortran: the
 * caller is, so variables may have an underscore behind their names. */
static struct pm_sentence acquire(const void *lock, uintptr_t site, bool is_fortran)
{
    struct pm_sentence known = omp_known(THING_LOCKED_ACQUIRE, (uintptr_t)lock);
    char name[PM_ADAPTER_NAME_BYTES];
    if (__builtin_expect(known.id != 0, 1))
        return known;
    if (pm_adapter_name_of((uintptr_t)lock, false, name)) {
        if (is_fortran)
            pm_adapter_source_name(name);
        return omp_sentence(THING_LOCKED_ACQUIRE, (uintptr_t)lock, name);
    }
    return omp_sentence_for(THING_LOCKED_ACQUIRE, (uintptr_t)lock, site);
}

static void lock_is_made(const void *lock, uintptr_t site, bool is_fortran)
{
    omp_forget(THING_LOCKED_ACQUIRE, (uintptr_t)lock);
    (void)acquire(lock, site, is_fortran);
}

#define MAKES(name, is_fortran, parameters, arguments)  \
    OMP_REAL(void, name, parameters)                    \
    {                                                   \
        if (!OMP_FOUND(name))                           \
            return;                                     \
        real_##name arguments;                          \
        if (omp_is_measured(OMP_SITE))                  \
            lock_is_made(lock, OMP_SITE, (is_fortran)); \
    }
/* taken: how often, now; 0: not. */
#define TRIES(name, is_fortran)                                                        \
    OMP_REAL(int, name, (void *lock))                                                  \
    {                                                                                  \
        if (!OMP_FOUND(name))                                                          \
            return 0;                                                                  \
        uintptr_t site = OMP_SITE;                                                     \
        if (!omp_is_measured(site))                                                    \
            return real_##name(lock);                                                  \
        struct pm_sentence said = omp_called(acquire(lock, site, (is_fortran)), site); \
        if (omp_is_counted(said, 1))                                                   \
            return real_##name(lock);                                                  \
        pm_enter(said);                                                                \
        int taken = real_##name(lock);                                                 \
        pm_leave(said);                                                                \
        return taken;                                                                  \
    }
#define TAKES(name, attempt, is_fortran)                             \
    OMP_REAL(void, name, (void *lock))                               \
    {                                                                \
        if (!OMP_FOUND(name))                                        \
            return;                                                  \
        uintptr_t site = OMP_SITE;                                   \
        if (!omp_is_measured(site) || !OMP_FOUND(attempt)) {         \
            real_##name(lock);                                       \
            return;                                                  \
        }                                                            \
        struct pm_sentence said = acquire(lock, site, (is_fortran)); \
        struct pm_sentence call = omp_called(said, site);            \
        if (omp_is_counted(call, 1)) {                               \
            real_##name(lock);                                       \
            return;                                                  \
        }                                                            \
        if (real_##attempt(lock)) {                                  \
            pm_enter(call);                                          \
            pm_leave(call);                                          \
            return;                                                  \
        }                                                            \
        struct omp_wait wait = omp_wait_begin(said, site);           \
        real_##name(lock);                                           \
        omp_wait_end(&wait);                                         \
    }
#define LOCKS(word, end, is_fortran)                                                  \
    MAKES(omp_init_##word##end, is_fortran, (void *lock), (lock))                     \
    MAKES(omp_init_##word##_with_hint##end, is_fortran, (void *lock, uintptr_t hint), \
          (lock, hint))                                                               \
    TRIES(omp_test_##word##end, is_fortran)                                           \
    TAKES(omp_set_##word##end, omp_test_##word##end, is_fortran)
LOCKS(lock, , false)
LOCKS(nest_lock, , false)
LOCKS(lock, _, true)
LOCKS(nest_lock, _, true)
