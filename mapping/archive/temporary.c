#include "temporary.h"

#include "../base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    OLD_S = 24 * 60 * 60, /* a process that has its PID is another one by now */
    MOST_TRIES = 100,
};

/* --- what was left behind --- */

/* What stands before .PID.N.tmp; 0: it is not such a name. */
static size_t name_before(const char *name, uint64_t *ret_pid)
{
    size_t len = strlen(name), at[3], n = 0;
    if (len < 5 || strcmp(name + len - 4, ".tmp") != 0)
        return 0;
    for (size_t i = len; i > 0 && n < 3; i--)
        if (name[i - 1] == '.')
            at[n++] = i - 1;
    uint64_t number;
    if (n < 3 ||
        !pm_str_to_u64((struct pm_str){name + at[1] + 1, at[0] - at[1] - 1}, UINT32_MAX, &number) ||
        !pm_str_to_u64((struct pm_str){name + at[2] + 1, at[1] - at[2] - 1}, INT32_MAX, ret_pid))
        return 0;
    return at[2];
}

/* Of this archive, or of any that has the usual name. */
static bool is_of_archive(const char *name, size_t len, const char *archive, const char *usual)
{
    size_t usual_len = strlen(usual);
    return (len == strlen(archive) && memcmp(name, archive, len) == 0) ||
           (len > usual_len && memcmp(name + len - usual_len, usual, usual_len) == 0);
}

/* Empty, a database, or one whose first page has not been written yet. */
static bool may_be_archive(int fd)
{
    static const char zeros[16];
    char head[16];
    ssize_t n = pread(fd, head, sizeof head, 0);
    return n == 0 || (n == (ssize_t)sizeof head && (memcmp(head, "SQLite format 3", 16) == 0 ||
                                                    memcmp(head, zeros, sizeof head) == 0));
}

/* The file is open, a regular one of ours. */
static bool is_left_behind(int fd, const struct stat *st, uint64_t pid)
{
    time_t age_s = time(NULL) - st->st_mtime;
    bool lives = kill((pid_t)pid, 0) == 0 || errno == EPERM;
    return (!lives || age_s >= OLD_S) && flock(fd, LOCK_EX | LOCK_NB) == 0 && may_be_archive(fd);
}

static void sweep_file(int dir, const char *name, uint64_t pid)
{
    struct stat st, now;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1 &&
        is_left_behind(fd, &st, pid) && fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
        now.st_ino == st.st_ino && now.st_dev == st.st_dev)
        (void)unlinkat(dir, name, 0);
    close(fd);
}

/* Nothing is wrong when this cannot be done. */
static void sweep(const char *target, const char *usual_suffix)
{
    const char *slash = strrchr(target, '/'), *archive = slash ? slash + 1 : target;
    char *folder = slash ? pm_strndup(target, (size_t)(slash - target) + 1) : pm_strndup(".", 1);
    DIR *dir = folder ? opendir(folder) : NULL;
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        uint64_t pid;
        size_t len = name_before(entry->d_name, &pid);
        if (len && is_of_archive(entry->d_name, len, archive, usual_suffix))
            sweep_file(dirfd(dir), entry->d_name, pid);
    }
    if (dir)
        closedir(dir);
    free(folder);
}

/* --- a new one --- */

/* The file that path leads to: a symbolic link stays one. */
static char *final_path(const char *path)
{
    struct stat st;
    char *real = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
    return real ? real : pm_strndup(path, strlen(path));
}

/* Made new by us, so that no link of somebody else's is followed. -1: errno says why not; EEXIST
 * also when another process took it for one that was left behind, before it was locked. Where
 * there are no locks it has none. */
static int make_locked(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                  0600); /* it holds command lines: SECURITY.md */
    if (fd < 0)
        return -1;
    bool is_taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!is_taken && fstat(fd, &st) == 0 && st.st_nlink > 0)
        return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

enum pm_status pm_temporary_make(const char *target, const char *noun, const char *usual_suffix,
                                 struct pm_error *err, struct pm_temporary *ret_temporary)
{
    static unsigned n_temporaries;
    struct pm_temporary made = {.target = final_path(target), .fd = -1};
    struct pm_buf name = PM_BUF_INIT(1 << 20);
    if (made.target)
        sweep(made.target, usual_suffix);
    for (int i = 0; made.target && made.fd < 0 && i < MOST_TRIES; i++) {
        pm_buf_clear(&name);
        pm_buf_printf(&name, "%s.%ld.%u.tmp", made.target, (long)getpid(),
                      __atomic_fetch_add(&n_temporaries, 1, __ATOMIC_RELAXED));
        if (name.failed || ((made.fd = make_locked(name.data)) < 0 && errno != EEXIST))
            break;
    }
    enum pm_status status = PM_OK;
    if (!made.target || name.failed)
        status = pm_error_set(err, PM_ERR_MEMORY, "no memory for %s '%s'", noun, target);
    else if (made.fd < 0)
        status = pm_error_system(err, errno, "cannot write %s '%s'", noun, target);
    if (status == PM_OK) {
        made.path = pm_buf_take(&name);
        *ret_temporary = made;
    } else {
        free(made.target);
    }
    pm_buf_release(&name);
    return status;
}

void pm_temporary_release(struct pm_temporary *temporary)
{
    if (temporary->fd >= 0)
        close(temporary->fd);
    free(temporary->target);
    free(temporary->path);
    *temporary = (struct pm_temporary){.fd = -1};
}
