/* Where a run goes: names, what may be replaced, temporary folders. */
#include "output.h"
#include "job.h"
#include "control.h"
#include "pack.h"

#include "mapping/run/kernel_writes.h"
#include "mapping/run/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The header of an SQLite file: "SQLite format 3\0", application_id big-endian at 68. */
static bool is_archive(const char *path)
{
    unsigned char head[72];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is = read(fd, head, sizeof head) == (ssize_t)sizeof head &&
              memcmp(head, "SQLite format 3", 16) == 0 && memcmp(head + 68, "PFMP", 4) == 0;
    close(fd);
    return is;
}

static bool is_run_member(const char *name)
{
    return strcmp(name, PM_MANIFEST_NAME) == 0 || pm_str_ends_with(name, ".pmr") ||
           pm_str_ends_with(name, SESSION_PACK_ENDING) || strcmp(name, PM_PLAN_NAME) == 0 ||
           strcmp(name, PM_FILTERS_NAME) == 0 || strcmp(name, CONTROL_SOCKET_NAME) == 0 ||
           strcmp(name, PM_KERNEL_WRITES_NAME) == 0 || strcmp(name, PM_CALIBRATION_NAME) == 0;
}

/* An empty folder, or one that holds nothing but the files of a run. */
static bool is_run_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return false;
    bool is = true;
    for (struct dirent *entry; is && (entry = readdir(dir)) != NULL;)
        is = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
             is_run_member(entry->d_name);
    closedir(dir);
    return is;
}

enum pm_status session_check_archive_place(const char *name, struct pm_error *err)
{
    struct stat status;
    size_t len = strlen(name);
    if (len == 0 || name[len - 1] == '/')
        return pm_error_set(err, PM_ERR_USAGE, "'%s' cannot be the name of an archive", name);
    if (stat(name, &status) != 0)
        return errno == ENOENT ? PM_OK
                               : pm_error_system(err, errno, "cannot write archive '%s'", name);
    if (S_ISREG(status.st_mode) && (status.st_size == 0 || is_archive(name)))
        return PM_OK;
    return pm_error_set(err, PM_ERR_USAGE,
                        "'%s' exists and is not a PerfMap archive, so it is not replaced: choose "
                        "another name with -o",
                        name);
}

/* NAME.old may be replaced when it is not there or an archive itself. NULL: nothing is to be
 * kept, or no memory. */
static char *name_of_old(const char *name, struct session_notes *notes)
{
    struct stat status;
    struct pm_buf old = PM_BUF_INIT(4 * PATH_MAX);
    if (!is_archive(name))
        return NULL;
    pm_buf_printf(&old, "%s.old", name);
    if (old.data && lstat(old.data, &status) == 0 && !is_archive(old.data)) {
        session_note(notes, SESSION_WARNS,
                     "'%s' is not a PerfMap archive, so it is not replaced, and the old archive "
                     "'%s' is not kept",
                     old.data, name);
        pm_buf_release(&old);
        return NULL;
    }
    return pm_buf_take(&old);
}

/* The new archive replaces the one before only when it is complete, so until then that has two
 * names. On file systems without links it is renamed, and the old name is free meanwhile. */
void session_output_keep(const char *name, struct session_notes *notes,
                         struct session_kept *ret_kept)
{
    struct pm_buf spare = PM_BUF_INIT(4 * PATH_MAX);
    *ret_kept = (struct session_kept){.old = name_of_old(name, notes)};
    if (!ret_kept->old)
        return;
    pm_buf_printf(&spare, "%s.%ld", ret_kept->old, (long)getpid());
    if (spare.data && linkat(AT_FDCWD, name, AT_FDCWD, spare.data, AT_SYMLINK_FOLLOW) == 0) {
        ret_kept->spare = pm_buf_take(&spare);
    } else if (rename(name, ret_kept->old) != 0) {
        session_note(notes, SESSION_WARNS, "the archive '%s' is not kept: %s", name,
                     strerror(errno));
        free(ret_kept->old);
        ret_kept->old = NULL;
    }
    pm_buf_release(&spare);
}

char *session_output_kept(struct session_kept *kept, bool is_replaced)
{
    if (kept->spare && (!is_replaced || rename(kept->spare, kept->old) != 0)) {
        unlink(kept->spare);
        free(kept->old);
        kept->old = NULL;
    }
    char *old = kept->old;
    free(kept->spare);
    *kept = (struct session_kept){0};
    return old;
}

enum pm_status session_output_check(const char *name, bool collect, struct pm_error *err)
{
    struct stat status;
    if (collect)
        return session_check_archive_place(name, err);
    if (!*name)
        return pm_error_set(err, PM_ERR_USAGE, "the run folder's name is empty");
    if (stat(name, &status) != 0)
        return errno == ENOENT ? PM_OK
                               : pm_error_system(err, errno, "cannot make run folder '%s'", name);
    if (S_ISDIR(status.st_mode) && is_run_folder(name))
        return PM_OK;
    return pm_error_set(err, PM_ERR_USAGE,
                        "'%s' exists and is not a run folder of PerfMap, so it is not replaced: "
                        "choose another name with -o",
                        name);
}

static enum pm_status empty_folder(const char *path, struct pm_error *err)
{
    DIR *dir = opendir(path);
    if (!dir)
        return pm_error_system(err, errno, "cannot open run folder '%s'", path);
    enum pm_status status = PM_OK;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (is_run_member(entry->d_name) && unlinkat(dirfd(dir), entry->d_name, 0) != 0)
            status = pm_error_system(err, errno, "cannot remove '%s/%s'", path, entry->d_name);
    closedir(dir);
    return status;
}

void session_folder_remove(const char *run_dir, struct session_notes *notes)
{
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = empty_folder(run_dir, &err);
    if (status == PM_OK && rmdir(run_dir) != 0)
        status = pm_error_system(&err, errno, "cannot remove run folder '%s'", run_dir);
    if (status != PM_OK)
        session_note(notes, SESSION_WARNS, "%s", pm_error_text(&err));
    pm_error_release(&err);
}

/* A run folder of our own, beside the archive, so that it is on a disk that has room for both. */
static enum pm_status make_temporary(const char *name, struct pm_error *err, char **ret_path)
{
    struct pm_buf path = PM_BUF_INIT(4 * PATH_MAX);
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    /* A long name must stay a name (at most 255 bytes) with the ending. */
    pm_buf_printf(&path, "%.*s%.200s.run.XXXXXX", (int)(base - name), name, base);
    if (!path.data || path.failed) {
        pm_buf_release(&path);
        return pm_error_set(err, PM_ERR_LIMIT, "output name '%.60s...' is too long", name);
    }
    if (!mkdtemp(path.data)) {
        enum pm_status status =
            pm_error_system(err, errno, "cannot make a run folder beside output '%s'", name);
        pm_buf_release(&path);
        return status;
    }
    *ret_path = pm_buf_take(&path);
    return PM_OK;
}

/* The run folder asked for: new, or an old one emptied. */
static enum pm_status make_named(const char *name, struct pm_error *err)
{
    if (mkdir(name, 0700) == 0) /* SECURITY.md */
        return PM_OK;
    if (errno != EEXIST)
        return pm_error_system(err, errno, "cannot make run folder '%s'", name);
    return empty_folder(name, err);
}

/* A rank's, which the last rank has to find. */
static enum pm_status make_for_rank(const struct session_job *job, struct pm_error *err,
                                    char **ret_path)
{
    char *path = session_job_folder(job);
    if (!path)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    *ret_path = path;
    enum pm_status status = make_named(path, err);
    return status != PM_OK ? status : session_job_join(job, err);
}

/* *ret_path NULL: it has the output's name. */
static enum pm_status make_folder(const char *name, bool collect, const struct session_job *job,
                                  struct pm_error *err, char **ret_path)
{
    if (job)
        return make_for_rank(job, err, ret_path);
    return collect ? make_temporary(name, err, ret_path) : make_named(name, err);
}

enum pm_status session_output_make(const char *name, bool collect, const struct session_job *job,
                                   struct pm_error *err, struct session_output *ret_output)
{
    char *made = NULL;
    enum pm_status status = make_folder(name, collect, job, err, &made);
    if (status != PM_OK) {
        free(made);
        return status;
    }
    struct session_output output = {.collect = collect, .own_run_dir = collect};
    output.name = pm_strndup(name, strlen(name));
    output.run_dir = realpath(made ? made : name, NULL);
    free(made);
    if (!output.name || !output.run_dir) {
        session_output_release(&output);
        return pm_error_set(err, PM_ERR_SYSTEM, "cannot find the run folder of output '%s' again",
                            name);
    }
    *ret_output = output;
    return PM_OK;
}

void session_output_release(struct session_output *output)
{
    free(output->name);
    free(output->run_dir);
    *output = (struct session_output){0};
}
