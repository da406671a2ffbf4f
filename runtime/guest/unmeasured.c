/* Programs that are started without the runtime, for their environment does not name it (env -i,
 * sudo, tests that want to be alone): the archive says that they are missing. posix_spawn is
 * wrapped for that only; within libc it does not come by execve.
 */
#include "runtime/base/atomic.h"
#include "runtime/base/file.h"
#include "runtime/base/process.h"
#include "runtime/base/sys.h"
#include "runtime/guest/guest.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

typedef int spawn_fn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes, char *const argv[],
                     char *const environment[]);

static spawn_fn *libc_posix_spawn, *libc_posix_spawnp;

void pm_unmeasured_resolve(void)
{
    *(void **)&libc_posix_spawn = dlsym(RTLD_NEXT, "posix_spawn");
    *(void **)&libc_posix_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
}

static bool names_the_runtime(char *const environment[])
{
    static const char name[] = "LD_PRELOAD=";
    for (; environment != NULL && *environment != NULL; environment++)
        if (strncmp(*environment, name, sizeof name - 1) == 0)
            return strstr(*environment, "/libperfmap-rt.so") != NULL;
    return false;
}

/* Not where it is known that it will fail. */
static bool is_there(const char *path)
{
    if (path == NULL)
        return false;
    return strchr(path, '/') == NULL || pm_sys(SYS_faccessat, AT_FDCWD, path, X_OK) != -ENOENT;
}

void pm_unmeasured_note(const char *path, char *const environment[])
{
    static bool said;
    if (!pm_process.on || pm_process.file.header == NULL || pm_load(said) ||
        names_the_runtime(environment) || !is_there(path))
        return;
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        pm_file_message(PM_RUN_MSG_NOTE,
                        "programs were started without LD_PRELOAD in their environment, so what "
                        "they did is missing: ",
                        path);
}

PM_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const argv[],
                          char *const environment[])
{
    pm_unmeasured_note(path, environment);
    if (libc_posix_spawn == NULL)
        pm_unmeasured_resolve();
    return libc_posix_spawn(pid, path, actions, attributes, argv, environment);
}

PM_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const argv[],
                           char *const environment[])
{
    pm_unmeasured_note(file, environment);
    if (libc_posix_spawnp == NULL)
        pm_unmeasured_resolve();
    return libc_posix_spawnp(pid, file, actions, attributes, argv, environment);
}
