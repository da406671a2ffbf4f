/* Ranks that are measured one by one, and their common end. */
#include "job.h"
#include "output.h"

#include "format/pm_ranks.h"
#include "mapping/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_RANKS = 1 << 20, WAIT_MS = 3000, STEP_MS = 100, LOCK_BYTES = 1 << 22 };

/* --- which job, which rank --- */

/* false: it is none, or not told. */
static bool number_of(const char *variable, uint32_t *ret_number)
{
    const char *text = variable ? getenv(variable) : NULL;
    char *end = NULL;
    unsigned long number = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    if (!end || *end || number >= MAX_RANKS)
        return false;
    *ret_number = (uint32_t)number;
    return true;
}

static bool find_rank(struct session_job *job)
{
    static const struct {
        const char *rank, *size;
    } names[] = {
#define VARIABLES(rank, size, least) {rank, size},
        PM_RANK_VARIABLES(VARIABLES)
#undef VARIABLES
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (number_of(names[i].rank, &job->rank) && number_of(names[i].size, &job->n_ranks) &&
            job->rank < job->n_ranks && job->n_ranks > 1)
            return true;
    return false;
}

static uint32_t job_id(void)
{
    static const char *const names[] = {
#define VARIABLE(name) name,
        PM_JOB_VARIABLES(VARIABLE)
#undef VARIABLE
    };
    char text[512] = "";
    uint32_t hash = 0x811c9dc5u;
    for (size_t i = 0, at = 0; i < sizeof names / sizeof *names && at < sizeof text; i++)
        if (getenv(names[i]))
            at += (size_t)snprintf(text + at, sizeof text - at, "%s ", getenv(names[i]));
    if (!*text)
        snprintf(text, sizeof text, "%ld", (long)getppid());
    for (const char *p = text; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x01000193u;
    return hash;
}

bool session_job_find(const char *output, struct session_job *ret_job)
{
    struct session_job job = {0};
    struct pm_buf path = PM_BUF_INIT(4 * PATH_MAX), folder = PM_BUF_INIT(4 * PATH_MAX);
    if (!find_rank(&job))
        return false;
    pm_buf_printf(&path, "%s.job.%08x", output, (unsigned)job_id());
    pm_buf_printf(&folder, "%s.run.%08x", output, (unsigned)job_id());
    job.path = pm_buf_take(&path);
    job.folder = pm_buf_take(&folder);
    *ret_job = job;
    return job.path && job.folder;
}

static char *folder_of(const struct session_job *job, uint32_t rank)
{
    struct pm_buf path = PM_BUF_INIT(4 * PATH_MAX);
    pm_buf_printf(&path, "%s.%u", job->folder, (unsigned)rank);
    return pm_buf_take(&path);
}

char *session_job_folder(const struct session_job *job)
{
    return folder_of(job, job->rank);
}

void session_job_release(struct session_job *job)
{
    free(job->path);
    free(job->folder);
    *job = (struct session_job){0};
}

/* --- the list --- */

/* Opens it, and waits until nobody else has it. A list that the last one has removed meanwhile is
 * none any more. */
static enum pm_status lock_list(const struct session_job *job, struct pm_error *err, int *ret_fd)
{
    struct stat here, there;
    for (;;) {
        int fd = open(job->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (fd < 0)
            return pm_error_system(err, errno, "cannot write the list of ranks '%s'", job->path);
        while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
            continue;
        bool is_it = fstat(fd, &here) == 0 && stat(job->path, &there) == 0 &&
                     here.st_ino == there.st_ino && here.st_dev == there.st_dev;
        *ret_fd = fd;
        if (is_it)
            return PM_OK;
        close(fd);
    }
}

static enum pm_status add_line(const struct session_job *job, int fd, char what,
                               struct pm_error *err)
{
    char line[32];
    int n = snprintf(line, sizeof line, "%c%u\n", what, (unsigned)job->rank);
    return write(fd, line, (size_t)n) == n
               ? PM_OK
               : pm_error_system(err, errno, "cannot write the list of ranks '%s'", job->path);
}

/* How many began, and how many of these still run. */
static void count_lines(int fd, uint32_t *ret_began, uint32_t *ret_running)
{
    char bytes[4096];
    uint32_t began = 0, ended = 0;
    off_t at = 0;
    for (ssize_t n; at < LOCK_BYTES && (n = pread(fd, bytes, sizeof bytes, at)) > 0; at += n)
        for (ssize_t i = 0; i < n; i++) {
            began += bytes[i] == '+';
            ended += bytes[i] == '-';
        }
    *ret_began = began;
    *ret_running = began > ended ? began - ended : 0;
}

enum pm_status session_job_join(const struct session_job *job, struct pm_error *err)
{
    int fd;
    enum pm_status status = lock_list(job, err, &fd);
    if (status != PM_OK)
        return status;
    status = add_line(job, fd, '+', err);
    close(fd);
    return status;
}

/* --- the end --- */

static bool is_run_file(const char *name)
{
    size_t len = strlen(name);
    return len > 4 && strcmp(name + len - 4, ".pmr") == 0;
}

/* Two machines may have processes of one number: then the rank is put before the name. */
static bool move_file(int from, int to, const char *name, uint32_t rank)
{
    char other[NAME_MAX + 16]; /* a name that becomes too long is refused by rename */
    if (renameat2(from, name, to, name, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EEXIST && errno != EINVAL) /* EINVAL: the file system cannot do that */
        return false;
    snprintf(other, sizeof other, "%u-%s", (unsigned)rank, name);
    return renameat(from, name, to, other) == 0;
}

/* Run files of another rank come to ours. */
static enum pm_status move_files(const char *from, const char *to, uint32_t rank,
                                 struct pm_error *err)
{
    DIR *dir = opendir(from);
    if (!dir)
        return pm_error_system(err, errno, "cannot open run folder '%s'", from);
    enum pm_status status = PM_OK;
    int target = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (is_run_file(entry->d_name) && !move_file(dirfd(dir), target, entry->d_name, rank))
            status =
                pm_error_system(err, errno, "cannot move '%s/%s' to '%s'", from, entry->d_name, to);
    if (target >= 0)
        close(target);
    closedir(dir);
    return status;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return b && b < a ? b : a;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_manifest(struct pm_manifest *manifest, const struct pm_manifest *other)
{
    manifest->start_realtime_ns = least(manifest->start_realtime_ns, other->start_realtime_ns);
    manifest->start_monotonic_ns = least(manifest->start_monotonic_ns, other->start_monotonic_ns);
    manifest->start_tsc = least(manifest->start_tsc, other->start_tsc);
    manifest->end_monotonic_ns = most(manifest->end_monotonic_ns, other->end_monotonic_ns);
    manifest->end_tsc = most(manifest->end_tsc, other->end_tsc);
    manifest->has_usage &= other->has_usage;
    manifest->user_cpu_ns += other->user_cpu_ns;
    manifest->system_cpu_ns += other->system_cpu_ns;
    manifest->max_rss_bytes = most(manifest->max_rss_bytes, other->max_rss_bytes);
    if (manifest->exit_status <= 0 && manifest->exit_signal < 0) {
        manifest->exit_status = other->exit_status;
        manifest->exit_signal = other->exit_signal;
    }
}

/* What another rank left; a rank that was not measured left nothing. */
static enum pm_status take_rank(const struct session_job *job, uint32_t rank, const char *run_dir,
                                struct pm_manifest *manifest, struct session_notes *notes,
                                struct pm_error *err)
{
    struct pm_manifest other;
    char *folder = folder_of(job, rank);
    if (!folder)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (access(folder, F_OK) != 0) {
        free(folder);
        return PM_OK;
    }
    pm_manifest_init(&other);
    enum pm_status status = pm_manifest_read(folder, &other, err);
    if (status != PM_OK)
        goto out;
    status = move_files(folder, run_dir, rank, err);
    if (status != PM_OK)
        goto out;
    add_manifest(manifest, &other);
    session_folder_remove(folder, notes);
out:
    pm_manifest_release(&other);
    free(folder);
    return status;
}

/* Some ranks may begin late, and some are not measured at all. Who waits for them may find that one
 * of them was the last, and has removed the list: ours would be in it. */
static bool are_all_gone(const struct session_job *job, struct session_notes *notes,
                         struct pm_error *err, int *fd)
{
    uint32_t n_began, n_running;
    count_lines(*fd, &n_began, &n_running);
    for (int waited_ms = 0; n_running == 0 && n_began < job->n_ranks && waited_ms < WAIT_MS;
         waited_ms += STEP_MS) {
        close(*fd);
        usleep(STEP_MS * 1000);
        if (lock_list(job, err, fd) != PM_OK) {
            *fd = -1;
            return false;
        }
        count_lines(*fd, &n_began, &n_running);
        if (!n_began) {
            unlink(job->path);
            return false;
        }
    }
    if (n_running == 0 && n_began < job->n_ranks)
        session_note(notes, SESSION_NOTES, "%u of the job's %u ranks were run by 'perfmap run'",
                     (unsigned)n_began, (unsigned)job->n_ranks);
    return n_running == 0;
}

static enum pm_status take_all(const struct session_job *job, const char *run_dir,
                               struct pm_manifest *manifest, struct session_notes *notes,
                               struct pm_error *err)
{
    for (uint32_t rank = 0; rank < job->n_ranks; rank++) {
        enum pm_status status =
            rank != job->rank ? take_rank(job, rank, run_dir, manifest, notes, err) : PM_OK;
        if (status != PM_OK)
            return status;
    }
    unlink(job->path);
    return PM_OK;
}

enum pm_status session_job_leave(const struct session_job *job, const char *run_dir,
                                 struct pm_manifest *manifest, struct session_notes *notes,
                                 struct pm_error *err, bool *ret_is_last)
{
    int fd;
    *ret_is_last = false;
    enum pm_status status = pm_manifest_write(run_dir, manifest, err);
    if (status != PM_OK)
        return status;
    status = lock_list(job, err, &fd);
    if (status != PM_OK)
        return status;
    status = add_line(job, fd, '-', err);
    if (status != PM_OK)
        goto out;
    *ret_is_last = are_all_gone(job, notes, err, &fd);
    if (*ret_is_last)
        status = take_all(job, run_dir, manifest, notes, err);
out:
    if (fd >= 0)
        close(fd);
    return status;
}
