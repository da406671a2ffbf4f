/* Trials of foreign code (trial.h). */
#include "trial.h"

#include "mapping/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_MS = 20000,
    MOST_TEXT_BYTES = 64 << 20,
    IS_DONE = 4, /* the last byte, unless foreign code has ended the process */
};

static void run(session_trial_work *work, void *context, int fd)
{
    static const int ends[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        signal(ends[i], SIG_DFL);
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 3 && nowhere >= 0; i++)
        dup2(nowhere, i);
    FILE *out = fdopen(fd, "w");
    if (!out)
        _exit(1);
    work(context, out);
    fputc(IS_DONE, out);
    _exit(fflush(out) == 0 && !ferror(out) ? 0 : 1);
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* False: it took too long. */
static bool read_all(int fd, struct pm_buf *text)
{
    char bytes[4096];
    long end = now_ms() + MOST_MS;
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        long left = end - now_ms();
        if (left <= 0)
            return false;
        int ready = poll(&wait, 1, (int)left);
        ssize_t n = ready > 0 ? read(fd, bytes, sizeof bytes) : -1;
        if (n == 0)
            return true;
        if (n > 0)
            pm_buf_add(text, bytes, (size_t)n);
        else if (ready != 0 && errno != EINTR)
            return true;
    }
}

enum pm_status session_trial_run(session_trial_work *work, void *context, const char *what,
                                 struct pm_error *err, char **ret_text)
{
    int ends[2], status = 0;
    struct pm_buf text = PM_BUF_INIT(MOST_TEXT_BYTES);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pm_error_system(err, errno, "cannot try %s", what);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run(work, context, ends[1]);
    int error_no = errno;
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return pm_error_system(err, error_no, "cannot try %s", what);
    }
    bool is_read = read_all(ends[0], &text);
    bool is_done = text.len != 0 && text.data[text.len - 1] == IS_DONE;
    close(ends[0]);
    if (!is_read)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    enum pm_status result = PM_OK;
    if (!is_read)
        result = pm_error_set(err, PM_ERR_SYSTEM, "%s did not come back within %d s", what,
                              MOST_MS / 1000);
    else if (WIFSIGNALED(status))
        result = pm_error_set(err, PM_ERR_SYSTEM, "%s crashed when it was tried (%s)", what,
                              strsignal(WTERMSIG(status)));
    else if (text.failed)
        result = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    else if (status != 0 || !is_done)
        result = pm_error_set(err, PM_ERR_SYSTEM, "%s ended the process when it was tried", what);
    if (result == PM_OK) {
        text.data[text.len - 1] = 0;
        *ret_text = pm_buf_take(&text);
        result = *ret_text ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    pm_buf_release(&text);
    return result;
}
