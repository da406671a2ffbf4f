/* What adapters share. An adapter is a library that `perfmap run` preloads behind the runtime;
 * it wraps functions of another library and says with perfmap.h what they do, in the words of
 * its line in format/pm_adapters.h. It uses nothing else of PerfMap (docs/ADAPTERS.md).
 *
 *     static int (*real_step)(sqlite3_stmt *);
 *     PM_ADAPTER_EXPORT int sqlite3_step(sqlite3_stmt *statement)
 *     {
 *         if (!pm_adapter_real(&real_step, "sqlite3_step", PM_SQL_LIBRARY))
 *             return SQLITE_MISUSE;
 *         ...
 *     }
 */
#ifndef PM_ADAPTER_H
#define PM_ADAPTER_H

#include "format/pm_adapters.h"
#include "runtime/include/perfmap.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PM_ADAPTER_EXPORT __attribute__((visibility("default")))
/* In a wrapper: what it returns to. */
#define PM_ADAPTER_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

/* Of the lists in pm_adapters.h: the words, in an array. */
#define PM_ADAPTER_WORD(NAME, word) word,

/* NULL: the library is not loaded, or has no such symbol. n: bytes of its name. */
static inline void *pm_adapter_find_in(const char *library, size_t n, const char *symbol)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)n, library);
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD), *found = NULL;
    if (handle) {
        found = dlsym(handle, symbol);
        dlclose(handle);
    }
    return found;
}

/* The function that is wrapped, looked up once: the next one in the search order, or that of a
 * library where it was loaded for somebody else only (a module of an interpreter). libraries: as in
 * pm_adapters.h, between blanks. */
static inline bool pm_adapter_find(void **function, const char *name, const char *libraries)
{
    void *found = __atomic_load_n(function, __ATOMIC_RELAXED);
    if (found)
        return true;
    found = dlsym(RTLD_NEXT, name);
    for (const char *p = libraries; !found && *p; p += *p == ' ') {
        size_t n = strcspn(p, " ");
        found = pm_adapter_find_in(p, n, name);
        p += n;
    }
    __atomic_store_n(function, found, __ATOMIC_RELAXED);
    return found != NULL;
}
#define pm_adapter_real(function, name, libraries) \
    pm_adapter_find((void **)(function), (name), (libraries))

/* Functions of libc, found before the program runs: dlsym takes a lock that a handler, or a
 * child, may wait for without end.
 *
 *     PM_ADAPTER_LIBC(int, fsync, (int fd))              // real_fsync
 */
#define PM_ADAPTER_LIBC(type, name, parameters)                  \
    static type(*real_##name) parameters;                        \
    __attribute__((constructor)) static void find_##name(void)   \
    {                                                            \
        (void)pm_adapter_real(&real_##name, #name, "libc.so.6"); \
    }
#define PM_ADAPTER_FOUND(name) pm_adapter_real(&real_##name, #name, "libc.so.6")

/* What the runtime knows of programs that confine themselves (docs/manners.md). Weak: it may not
 * be there. */
extern bool pm_confined __attribute__((weak, visibility("default")));
extern uint64_t pm_stopped_tsc __attribute__((weak, visibility("default")));
long pm_confined_refusal(long number, const long arguments[6])
    __attribute__((weak, visibility("default")));

/* Before a system call that the program has not asked for: would its filters end it, or refuse? */
static inline bool pm_adapter_may(long number, long a, long b, long c)
{
    const long arguments[6] = {a, b, c};
    return &pm_confined == NULL || !pm_confined || pm_confined_refusal(number, arguments) == 0;
}

/* Of the clock that does not go back; 0 where the program forbids it. */
static inline uint64_t pm_adapter_now_ns(void)
{
    struct timespec now;
    if ((&pm_stopped_tsc != NULL && pm_stopped_tsc != 0) ||
        clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
