#include "command.h"

#include "format/pm_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* What goes wrong before the program runs comes back through fail_fd, which running closes. */
_Noreturn static void run_child(const struct cmd_command *command, int input_fd, int output_fd,
                                int fail_fd)
{
    bool moved = dup2(input_fd, 0) == 0;
    if (output_fd >= 0) {
        moved = moved && dup2(output_fd, 1) == 1 && dup2(output_fd, 2) == 2;
        setpgid(0, 0); /* so that a compiler that hangs is ended with its children */
        setenv("LC_ALL", "C", 1);
        unsetenv(PM_SETTING_RUN_DIR); /* whoever is measured itself may start a run */
    }
    if (moved && (!command->folder || chdir(command->folder) == 0))
        execvp(command->argv[0], (char *const *)command->argv);
    int reason = errno;
    while (write(fail_fd, &reason, sizeof reason) < 0 && errno == EINTR)
        continue;
    _exit(127);
}

/* Until it is closed, or until then. True: it took too long. */
static bool read_until(int fd, unsigned timeout_ms, struct pm_buf *output)
{
    uint64_t end_ms = now_ms() + timeout_ms;
    char part[4096];
    for (uint64_t now = now_ms();; now = now_ms()) {
        struct pollfd ready = {fd, POLLIN, 0};
        if (timeout_ms && now >= end_ms)
            return true;
        int n = poll(&ready, 1, timeout_ms ? (int)(end_ms - now) : -1);
        if (n < 0 && errno == EINTR)
            continue;
        ssize_t got = n > 0 ? read(fd, part, sizeof part) : 0;
        if (n == 0)
            continue;
        if (got <= 0)
            return false;
        if (output)
            pm_buf_add(output, part, (size_t)got);
    }
}

static int open_input(struct pm_str input)
{
    if (!input.len)
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    int fd = memfd_create("input", MFD_CLOEXEC);
    for (size_t done = 0; fd >= 0 && done < input.len;) {
        ssize_t n = write(fd, input.p + done, input.len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            close(fd);
            return -1;
        }
        done += (size_t)n;
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

static int wait_for(pid_t child, int fail_fd, const char *name, struct pm_error *err)
{
    int status, reason;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) {
            pm_error_system(err, errno, "cannot wait for '%s'", name);
            return -1;
        }
    if (read(fail_fd, &reason, sizeof reason) == (ssize_t)sizeof reason) {
        pm_error_system(err, reason, "cannot start '%s'", name);
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void close_if(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Of a child that runs. Closes the end of its output that it writes to. */
static void follow(const struct cmd_command *command, pid_t child, const int output[2])
{
    if (output[0] < 0)
        return;
    close(output[1]);
    if (read_until(output[0], command->timeout_ms, command->output))
        kill(-child, SIGKILL);
    close(output[0]);
}

int cmd_command_run(const struct cmd_command *command, struct pm_error *err)
{
    int output[2] = {-1, -1}, fail[2] = {-1, -1}, input = open_input(command->input), end = -1;
    bool has_output = command->output || command->is_quiet;
    bool ready =
        input >= 0 && pipe2(fail, O_CLOEXEC) == 0 && (!has_output || pipe2(output, O_CLOEXEC) == 0);
    fflush(NULL);
    pid_t child = ready ? fork() : -1;
    if (child == 0)
        run_child(command, input, output[1], fail[1]);
    if (child < 0) {
        pm_error_system(err, errno, "cannot start '%s'", command->argv[0]);
        close_if(output[0]);
        close_if(output[1]);
    }
    close_if(input);
    close_if(fail[1]);
    if (child > 0) {
        follow(command, child, output);
        end = wait_for(child, fail[0], command->argv[0], err);
    }
    close_if(fail[0]);
    return end;
}
