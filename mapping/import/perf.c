/* perf.data, by the tool that knows all of its versions: `perf script` prints it, and
 * `perf buildid-list` says which binaries they were. Both are run as children. */
#include "perf_script.h"
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_BUILD_IDS = 1 << 20, MAX_SAID_BYTES = 4096 };

/* A child whose standard output is read. */
struct child {
    pid_t pid;
    int out, said; /* said: what it wrote to standard error */
};

static bool is_perf(struct pm_str head, const char *path)
{
    (void)path;
    return import_begins(head, "PERFILE2") || import_begins(head, "PERFFILE");
}

static int spawn(const char *const *words, int out, int said, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code)
        return code;
    code = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!code)
        code = posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (!code)
        code = posix_spawn_file_actions_adddup2(&actions, said, 2);
    if (!code)
        code = posix_spawnp(ret_pid, words[0], &actions, NULL, (char **)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static enum pm_status start(struct import *im, const char *const *words, struct child *child)
{
    int ends[2];
    *child = (struct child){.said = memfd_create("perf", MFD_CLOEXEC)};
    if (child->said < 0)
        return pm_error_system(im->err, errno, "cannot run perf");
    if (pipe2(ends, O_CLOEXEC) != 0) {
        close(child->said);
        return pm_error_system(im->err, errno, "cannot run perf");
    }
    int code = spawn(words, ends[1], child->said, &child->pid);
    close(ends[1]);
    child->out = ends[0];
    if (!code)
        return PM_OK;
    close(ends[0]);
    close(child->said);
    if (code != ENOENT)
        return pm_error_system(im->err, code, "cannot run perf");
    return pm_error_set(im->err, PM_ERR_UNSUPPORTED,
                        "perf.data is read by perf, which is not installed here (Debian: "
                        "linux-perf). Or give what 'perf script -F +pid,+period "
                        "--show-mmap-events' prints where it was recorded");
}

/* What it said last, in one line. */
static void last_words(int said, char *out, size_t max)
{
    off_t size = lseek(said, 0, SEEK_END), from = 0;
    if (size > (off_t)max - 1)
        from = size - (off_t)max + 1;
    ssize_t n = size < 0 ? 0 : pread(said, out, max - 1, from);
    n = n < 0 ? 0 : n;
    while (n && (out[n - 1] == '\n' || out[n - 1] == ' '))
        n--;
    out[n] = 0;
    for (char *at = out; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
}

/* Waits for it; PM_ERR_FORMAT when it failed and is_needed. */
static enum pm_status end(struct import *im, struct child *child, bool is_needed, char *said,
                          size_t max)
{
    int code = 0;
    while (waitpid(child->pid, &code, 0) < 0 && errno == EINTR)
        ;
    last_words(child->said, said, max);
    close(child->said);
    if (!is_needed || code == 0)
        return PM_OK;
    return pm_error_set(im->err, PM_ERR_FORMAT, "perf cannot read '%s': %s", im->path,
                        *said ? said : "it says nothing");
}

/* --- which binaries --- */

struct build_ids {
    struct perf_build_id *list;
    uint32_t n, cap;
};

/* "HEX PATH" */
static enum pm_status add_build_id(struct import *im, struct build_ids *ids, struct pm_str line)
{
    struct pm_str hex = import_word(&line), path = import_trimmed(line);
    struct perf_build_id id = {.len = hex.len / 2};
    uint64_t byte;
    if (!path.len || !hex.len || hex.len % 2 || id.len > sizeof id.bytes || ids->n == MAX_BUILD_IDS)
        return PM_OK;
    for (size_t i = 0; i < id.len; i++) {
        if (!import_hex((struct pm_str){hex.p + 2 * i, 2}, &byte))
            return PM_OK;
        id.bytes[i] = (char)byte;
    }
    struct perf_build_id *list = pm_grow_array(ids->list, ids->n, &ids->cap, 64, sizeof *list);
    id.path = list ? pm_strndup(path.p, path.len) : NULL;
    if (list)
        ids->list = list;
    if (!id.path)
        return import_no_memory(im);
    list[ids->n++] = id;
    return PM_OK;
}

/* Without it binaries are taken to be those that are there now. */
static enum pm_status read_build_ids(struct import *im, struct build_ids *ids)
{
    const char *words[] = {"perf", "buildid-list", "-f", "-i", im->path, NULL};
    struct child child;
    struct import_input *in;
    struct pm_str line;
    char said[256];
    enum pm_status status = start(im, words, &child);
    if (status != PM_OK)
        return status;
    status = import_input_of_fd(child.out, "perf buildid-list", im->err, &in);
    if (status != PM_OK)
        goto out;
    while (import_line(in, &line))
        if ((status = add_build_id(im, ids, line)) != PM_OK)
            break;
    import_input_free(in);
out:
    (void)end(im, &child, false, said, sizeof said);
    return status;
}

/* --- samples --- */

static enum pm_status read_script(struct import *im, const char *fields,
                                  const struct build_ids *ids, char *said, size_t max)
{
    const char *words[] = {"perf",
                           "script",
                           "-f",
                           "-i",
                           im->path,
                           "-F",
                           fields,
                           "--show-mmap-events",
                           "--show-task-events",
                           "--show-lost-events",
                           "--no-inline",
                           "--no-demangle",
                           NULL};
    struct child child;
    struct import text = *im;
    struct pm_error lost = PM_ERROR_INIT;
    enum pm_status status = start(im, words, &child);
    if (status != PM_OK)
        return status;
    status = import_input_of_fd(child.out, im->path, im->err, &text.in);
    if (status != PM_OK) {
        (void)end(im, &child, false, said, max);
        return status;
    }
    text.err = &lost;
    status = perf_read_text(&text, ids->list, ids->n);
    import_input_free(text.in); /* before the wait: the child may still write */
    /* where perf has failed, its words say why there is nothing to read */
    bool is_perf_needed = status != PM_ERR_MEMORY && status != PM_ERR_LIMIT;
    enum pm_status ended = end(im, &child, is_perf_needed, said, max);
    if (status != PM_OK && !ended)
        ended = pm_error_set(im->err, status, "%s", pm_error_text(&lost));
    pm_error_release(&lost);
    return ended;
}

static enum pm_status read_perf(struct import *im)
{
    struct build_ids ids = {0};
    char said[MAX_SAID_BYTES];
    import_input_free(im->in); /* perf opens the file itself */
    im->in = NULL;
    enum pm_status status = read_build_ids(im, &ids);
    if (status != PM_OK)
        goto out;
    status = read_script(im, "comm,pid,tid,time,event,ip,sym,symoff,dso,period", &ids, said,
                         sizeof said);
    if (status == PM_ERR_FORMAT && strstr(said, "TIME attribute")) {
        pm_error_release(im->err);
        status =
            read_script(im, "comm,pid,tid,event,ip,sym,symoff,dso,period", &ids, said, sizeof said);
    }
out:
    for (uint32_t i = 0; i < ids.n; i++)
        free(ids.list[i].path);
    free(ids.list);
    return status;
}

const struct import_format import_format_perf = {
    .is = is_perf, .read = read_perf, .opens_itself = true};
