/* Checks before a program is started: what can be said now is clearer than what happens later. */
#include "program.h"

#include "mapping/pif/pif.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#if defined __x86_64__
enum { OWN_CLASS = ELFCLASS64, OWN_MACHINE = EM_X86_64 };
#elif defined __aarch64__
enum { OWN_CLASS = ELFCLASS64, OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32, OWN_MACHINE = EM_NONE };
#endif

/* Finds a program as execvp(3) does. 0 or an errno: ENOENT when there is none, EACCES when only one
 * that may not be executed. */
static int look_up(const char *program, char **ret_path)
{
    struct stat status;
    if (strchr(program, '/')) {
        if (stat(program, &status) != 0)
            return errno;
        if (S_ISDIR(status.st_mode))
            return EISDIR;
        *ret_path = pm_strndup(program, strlen(program));
        return !*ret_path ? ENOMEM : access(program, X_OK) == 0 ? 0 : errno;
    }
    const char *path = getenv("PATH");
    if (!path)
        path = "/bin:/usr/bin";
    int errnum = ENOENT;
    for (const char *end;; path = end + 1) {
        end = strchrnul(path, ':');
        struct pm_buf name = PM_BUF_INIT(4 * PATH_MAX);
        pm_buf_add(&name, path, (size_t)(end - path));
        pm_buf_printf(&name, "%s%s", end == path ? "" : "/", program);
        if (name.data && !name.failed && stat(name.data, &status) == 0 && S_ISREG(status.st_mode)) {
            if (access(name.data, X_OK) == 0)
                return (*ret_path = pm_buf_take(&name)) ? 0 : ENOMEM;
            errnum = EACCES;
        }
        pm_buf_release(&name);
        if (!*end)
            return errnum;
    }
}

/* glibc ignores LD_PRELOAD (of paths) when the kernel raises privileges: AT_SECURE, see ld.so(8)
 * "Secure-execution mode". */
static const char *raises_privileges(const char *path, const struct stat *status)
{
    struct statvfs mount;
    if (statvfs(path, &mount) == 0 && (mount.f_flag & ST_NOSUID))
        return NULL;
    if ((status->st_mode & S_ISUID) && status->st_uid != getuid())
        return "is setuid";
    if ((status->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
        status->st_gid != getgid())
        return "is setgid";
    if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return "has file capabilities";
    return NULL;
}

/* Does a 64-bit ELF file name an interpreter (the dynamic linker)? True when it cannot be told. */
static bool has_interpreter(int fd, const Elf64_Ehdr *header)
{
    if (header->e_phentsize != sizeof(Elf64_Phdr))
        return true;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        off_t offset = (off_t)(header->e_phoff + i * sizeof segment);
        if (offset < 0 || pread(fd, &segment, sizeof segment, offset) != (ssize_t)sizeof segment)
            return true;
        if (segment.p_type == PT_INTERP)
            return true;
    }
    return false;
}

/* Why the runtime cannot be loaded into this file, NULL when nothing speaks against it.
 * interpreter: the "#!" line's. */
static const char *why_not(int fd, char *interpreter, size_t interpreter_bytes)
{
    union {
        Elf64_Ehdr elf;
        char text[256];
    } head = {0};
    ssize_t len = pread(fd, &head, sizeof head - 1, 0);
    *interpreter = 0;
    if (len >= 2 && memcmp(head.text, "#!", 2) == 0) {
        const char *word = head.text + 2 + strspn(head.text + 2, " \t");
        snprintf(interpreter, interpreter_bytes, "%.*s", (int)strcspn(word, " \t\r\n"), word);
        return NULL;
    }
    if (len < (ssize_t)EI_NIDENT || memcmp(head.elf.e_ident, ELFMAG, SELFMAG) != 0)
        return NULL; /* not ours to judge: the kernel or the shell will */
    if (head.elf.e_ident[EI_CLASS] != OWN_CLASS)
        return OWN_CLASS == ELFCLASS64 ? "is not a 64-bit program" : "is a 64-bit program";
    if (OWN_CLASS != ELFCLASS64 || len < (ssize_t)sizeof head.elf)
        return NULL;
    if (OWN_MACHINE != EM_NONE && head.elf.e_machine != OWN_MACHINE)
        return "is made for another kind of processor";
    return has_interpreter(fd, &head.elf) ? NULL : "is statically linked";
}

static enum pm_status cannot_measure(const char *program, const char *why, bool force,
                                     struct session_notes *notes, struct pm_error *err)
{
    if (force) {
        session_note(notes, SESSION_WARNS,
                     "'%s' %s, so the runtime cannot be loaded into it: only its whole time "
                     "will be known",
                     program, why);
        return PM_OK;
    }
    return pm_error_set(
        err, PM_ERR_UNSUPPORTED,
        "'%s' %s, so the runtime cannot be loaded into it (--force runs it all the same)", program,
        why);
}

static enum pm_status check_file(const char *program, const char *path, bool force,
                                 struct session_notes *notes, struct pm_error *err)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return pm_error_system(err, errno, "cannot look at '%s'", path);
    const char *why = raises_privileges(path, &status);
    if (why)
        return cannot_measure(program, why, force, notes, err);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return PM_OK; /* may be executed but not read */
    char interpreter[256];
    why = why_not(fd, interpreter, sizeof interpreter);
    close(fd);
    if (why)
        return cannot_measure(program, why, force, notes, err);
    if (!*interpreter)
        return PM_OK;
    if (access(interpreter, X_OK) != 0)
        return pm_error_system(err, errno, "cannot start '%s': its interpreter '%s'", program,
                               interpreter);
    fd = open(interpreter, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        char next[256];
        why = why_not(fd, next, sizeof next);
        close(fd);
    }
    return why ? cannot_measure(interpreter, why, force, notes, err) : PM_OK;
}

enum pm_status session_check_program(const char *program, bool force, struct session_notes *notes,
                                     struct pm_error *err, int *ret_exit)
{
    char *path = NULL;
    int errnum = look_up(program, &path);
    struct stat here;
    enum pm_status status;
    if (errnum == ENOENT && !strchr(program, '/'))
        status = pm_error_set(err, PM_ERR_NOT_FOUND, "cannot find program '%s' in PATH%s", program,
                              stat(program, &here) == 0 && S_ISREG(here.st_mode)
                                  ? " (it is in this folder: write './' in front of it)"
                                  : "");
    else if (errnum == EACCES)
        status = pm_error_set(err, PM_ERR_SYSTEM, "cannot start '%s': no permission to execute it",
                              program);
    else if (errnum)
        status = pm_error_system(err, errnum, "cannot start '%s'", program);
    else
        status = check_file(program, path, force, notes, err);
    if (status != PM_OK)
        *ret_exit = errnum == ENOENT || errnum == ENOTDIR ? SESSION_NOT_FOUND
                    : errnum                              ? SESSION_CANNOT_EXECUTE
                    : status == PM_ERR_SYSTEM             ? SESSION_CANNOT_EXECUTE
                                                          : SESSION_FAILED;
    free(path);
    return status;
}

char *session_find_program(const char *program)
{
    char *path = NULL;
    if (look_up(program, &path) == 0)
        return path;
    free(path); /* found, and may not be executed */
    return NULL;
}

bool session_has_sleds(const char *program)
{
    char *path = NULL;
    size_t n_sleds = 0;
    struct pm_pif *pif = pm_pif_new();
    bool has = pif && look_up(program, &path) == 0 &&
               pm_pif_read_elf(pif, path, NULL, &n_sleds) == PM_OK && n_sleds > 0;
    pm_pif_free(pif);
    free(path);
    return has;
}
