/* OTF2 traces, of Score-P, eztrace and perfmap export: a folder, or the NAME.otf2 in it. The
 * library of the format's authors reads them, in a child: bytes that it cannot bear end the
 * child only. */
#include "otf2_records.h"
#include "reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The one NAME.otf2 of a folder. False: none, or several. */
static bool find_anchor(const char *folder, char *out, size_t max)
{
    DIR *dir = opendir(folder);
    unsigned n = 0;
    if (!dir)
        return false;
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (pm_str_ends_with(entry->d_name, ".otf2") && n++ == 0 &&
            snprintf(out, max, "%s/%s", folder, entry->d_name) >= (int)max)
            n = 2;
    closedir(dir);
    return n == 1;
}

static bool is_otf2(struct pm_str head, const char *path)
{
    char anchor[PATH_MAX];
    bool is_anchor = head.len > 6 && !memcmp(head.p + 1, "BOTF2", 5);
    return is_anchor || (!head.len && find_anchor(path, anchor, sizeof anchor));
}

#ifdef PERFMAP_HAVE_OTF2

static _Noreturn void be_child(const char *path, int out)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)signal(SIGPIPE, SIG_DFL); /* nobody reads any more */
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0)
        (void)dup2(null, STDERR_FILENO); /* what the library says is in the record of its failure */
    otf2_write_records(path, out);
    _exit(0);
}

static enum pm_status start(struct import *im, const char *path, pid_t *ret_pid, int *ret_out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pm_error_system(im->err, errno, "cannot read '%s'", im->path);
    *ret_pid = fork();
    if (*ret_pid == 0)
        be_child(path, ends[1]);
    int code = errno;
    close(ends[1]);
    *ret_out = ends[0];
    if (*ret_pid > 0)
        return PM_OK;
    close(ends[0]);
    return pm_error_system(im->err, code, "cannot read '%s'", im->path);
}

static enum pm_status read_anchor(struct import *im, const char *anchor)
{
    struct import records = *im;
    int out = -1, code = 0;
    pid_t child = 0;
    enum pm_status status = start(im, anchor, &child, &out);
    if (status != PM_OK)
        return status;
    struct pm_error why = PM_ERROR_INIT;
    records.err = &why;
    records.in = NULL;
    status = import_input_of_fd(out, im->path, &why, &records.in);
    if (!status)
        status = otf2_read_records(&records);
    import_input_free(records.in);
    while (waitpid(child, &code, 0) < 0 && errno == EINTR)
        ;
    if (status == PM_ERR_FORMAT && WIFSIGNALED(code) && WTERMSIG(code) != SIGPIPE)
        pm_error_set(im->err, status, "'%s' is damaged: the OTF2 library could not go on (%s)",
                     im->path, strsignal(WTERMSIG(code)));
    else if (status != PM_OK)
        pm_error_set(im->err, status, "%s", pm_error_text(&why));
    pm_error_release(&why);
    return status;
}

static enum pm_status read_otf2(struct import *im)
{
    char anchor[PATH_MAX];
    if (im->in)
        return read_anchor(im, im->path);
    if (!find_anchor(im->path, anchor, sizeof anchor))
        return pm_error_set(im->err, PM_ERR_FORMAT, "'%s' has no file NAME.otf2, or several",
                            im->path);
    return read_anchor(im, anchor);
}

#else

static enum pm_status read_otf2(struct import *im)
{
    (void)otf2_read_records;
    return pm_error_set(im->err, PM_ERR_UNSUPPORTED,
                        "'%s' is an OTF2 trace, and this perfmap was built without OTF2: install "
                        "libotf2-trace-dev (Debian) and build it again",
                        im->path);
}

#endif

const struct import_format import_format_otf2 = {
    .is = is_otf2, .read = read_otf2, .opens_itself = true};
