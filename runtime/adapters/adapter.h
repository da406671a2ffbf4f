/* What adapters share. An adapter is a library that `perfmap run` preloads behind the runtime; it wraps functions of another library and says with
 * perfmap.h what they do. It uses nothing else of PerfMap (docs/ADAPTERS.md).
 *
 *     static int (*real_step)(sqlite3_stmt *);
 *     PM_ADAPTER_EXPORT int sqlite3_step(sqlite3_stmt *statement)
 *     {
 *         if (!pm_adapter_real(&real_step, "sqlite3_step", "libsqlite3.so.0"))
 *             return SQLITE_MISUSE;
 *         ...
 *     }
 */
#ifndef PM_ADAPTER_H
#define PM_ADAPTER_H

#include "../include/perfmap.h"

#include <dlfcn.h>
#include <stdbool.h>

#define PM_ADAPTER_EXPORT __attribute__((visibility("default")))

/* The function that is wrapped, looked up once: the next one in the search order, or that of the library where it was loaded for
 * somebody else only (a module of an interpreter). */
static inline bool pm_adapter_find(void **function, const char *name, const char *library)
{
    void *found = __atomic_load_n(function, __ATOMIC_RELAXED);
    if (found)
        return true;
    found = dlsym(RTLD_NEXT, name);
    void *handle = found ? NULL : dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) {
        found = dlsym(handle, name);
        dlclose(handle);
    }
    __atomic_store_n(function, found, __ATOMIC_RELAXED);
    return found != NULL;
}
#define pm_adapter_real(function, name, library) \
    pm_adapter_find((void **)(function), (name), (library))

#endif
