/* Programs that are started without the runtime, for their environment does not name it (env -i,
 * sudo, tests that want to be alone), or the loader will not load it: the archive says that they
 * are missing. The first of a process is enough. posix_spawn is
 * wrapped for that only; within libc it does not come by execve.
 */
#include "runtime/base/atomic.h"
#include "runtime/base/file.h"
#include "runtime/base/process.h"
#include "runtime/base/sys.h"
#include "runtime/guest/guest.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
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

/* Why the loader will not load the runtime into this file; NULL: it will, or nothing is known, as
 * of scripts. */
static const char *refusal_of(const struct stat *info, const char *bytes, size_t n)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)bytes;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(const void *)(bytes + sizeof *header);
    if (n < sizeof *header || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return NULL;
    if ((info->st_mode & S_ISUID && info->st_uid != (uid_t)pm_sys(SYS_geteuid)) ||
        (info->st_mode & S_ISGID && info->st_gid != (gid_t)pm_sys(SYS_getegid)))
        return "programs with other privileges (setuid) were started, and what they did is "
               "missing: ";
    if (bytes[EI_CLASS] != ELFCLASS64)
        return "32-bit programs were started, and what they did is missing: ";
    if (header->e_phoff != sizeof *header || header->e_phentsize != sizeof *segments ||
        header->e_phnum > (n - sizeof *header) / sizeof *segments)
        return NULL;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_INTERP)
            return NULL;
    return "statically linked programs were started, and what they did is missing: ";
}

/* NULL: it will be measured, or it is not there, or nothing is known. */
static const char *why_not(const char *path, char *const environment[])
{
    _Alignas(8) char bytes[1024];
    struct stat info;
    bool is_path = strchr(path, '/') != NULL &&  /* else libc looks for it */
                   strstr(path, "/ld-") == NULL; /* the loader itself, which loads a program */
    long fd = is_path ? pm_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
    const char *why = NULL;
    if (fd >= 0) {
        long n = pm_sys(SYS_newfstatat, fd, "", &info, AT_EMPTY_PATH);
        if (n == 0)
            n = pm_sys(SYS_pread64, fd, bytes, sizeof bytes, 0);
        why = n > 0 ? refusal_of(&info, bytes, (size_t)n) : NULL;
        pm_sys(SYS_close, fd);
    }
    if (why == NULL && fd != -ENOENT && !names_the_runtime(environment))
        why = "programs were started without LD_PRELOAD in their environment, and what they did is "
              "missing: ";
    return why;
}

void pm_unmeasured_note(const char *path, char *const environment[])
{
    static bool said;
    if (!pm_process.on || pm_process.file.header == NULL || pm_load(said) || path == NULL)
        return;
    const char *why = why_not(path, environment);
    if (why != NULL && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        pm_file_message(PM_RUN_MSG_UNMEASURED, why, path);
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
