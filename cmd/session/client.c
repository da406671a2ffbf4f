/* Finding the run of a process, and asking it over its socket. */
#include "client.h"
#include "control.h"

#include "format/pm_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* --- which run --- */

/* The folder of a run file "/DIR/PID.N.pmr" that is mapped, "" when none is. An environment may
 * have been overwritten by the program. */
static enum pm_status folder_by_maps(uint64_t pid, struct pm_error *err, char ret_dir[PATH_MAX])
{
    char path[64], *line = NULL;
    size_t capacity = 0;
    *ret_dir = 0;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/maps", pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return errno == ENOENT
                   ? pm_error_set(err, PM_ERR_NOT_FOUND, "there is no process %" PRIu64, pid)
                   : pm_error_system(err, errno, "cannot look at process %" PRIu64, pid);
    bool readable = false;
    while (!*ret_dir && getline(&line, &capacity, maps) > 0) {
        char *name = strchr(line, '/'), *end = name ? strstr(name, ".pmr\n") : NULL;
        readable = true;
        if (!end)
            continue;
        char *slash = memrchr(name, '/', (size_t)(end - name));
        if ((size_t)(slash - name) < PATH_MAX)
            snprintf(ret_dir, PATH_MAX, "%.*s", (int)(slash - name), name);
    }
    bool failed = ferror(maps) != 0;
    free(line);
    fclose(maps);
    return readable || !failed ? PM_OK
                               : pm_error_set(err, PM_ERR_SYSTEM,
                                              "cannot look at process %" PRIu64 ": not yours", pid);
}

static void folder_by_environment(uint64_t pid, char ret_dir[PATH_MAX])
{
    static const char name[] = PM_SETTING_RUN_DIR "=";
    char path[64];
    size_t len = 0;
    char *data = NULL;
    struct pm_error err = PM_ERROR_INIT;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/environ", pid);
    if (pm_file_read(path, 1 << 24, &err, &data, &len) == PM_OK)
        for (const char *p = data; p < data + len; p += strlen(p) + 1)
            if (!strncmp(p, name, sizeof name - 1) && strlen(p) - sizeof name < PATH_MAX - 1)
                snprintf(ret_dir, PATH_MAX, "%s", p + sizeof name - 1);
    pm_error_release(&err);
    free(data);
}

enum pm_status session_client_find(uint64_t pid, struct pm_error *err, char ret_dir[PATH_MAX])
{
    enum pm_status status = folder_by_maps(pid, err, ret_dir);
    if (status == PM_OK && !*ret_dir)
        folder_by_environment(pid, ret_dir);
    if (status == PM_OK && !*ret_dir)
        status = pm_error_set(err, PM_ERR_NOT_FOUND,
                              "process %" PRIu64 " is not measured: give the number of a program "
                              "that was started by 'perfmap run', not of 'perfmap run' itself",
                              pid);
    return status;
}

/* --- asking --- */

enum pm_status session_client_connect(const char *run_dir, struct pm_error *err, int *ret_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int folder = open(run_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return pm_error_system(err, errno, "cannot open run folder '%s'", run_dir);
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" CONTROL_SOCKET_NAME,
             folder);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof address);
    int errnum = errno;
    close(folder);
    if (result == 0) {
        *ret_fd = fd;
        return PM_OK;
    }
    if (fd >= 0)
        close(fd);
    if (errnum == ECONNREFUSED || errnum == ENOENT)
        return pm_error_set(err, PM_ERR_NOT_FOUND,
                            "the 'perfmap run' that measures it has ended, or was killed: nobody "
                            "answers in run folder '%s'",
                            run_dir);
    return pm_error_system(err, errnum, "cannot reach the run in '%s'", run_dir);
}

enum pm_status session_client_ask(const char *run_dir, const struct pm_buf *line,
                                  struct pm_error *err, struct pm_buf *reply)
{
    int fd = -1;
    char bytes[4096];
    enum pm_status status = session_client_connect(run_dir, err, &fd);
    if (status != PM_OK)
        return status;
    if (send(fd, line->data, line->len, MSG_NOSIGNAL) != (ssize_t)line->len)
        status = pm_error_system(err, errno, "cannot ask the run");
    for (ssize_t n; status == PM_OK && (n = read(fd, bytes, sizeof bytes)) != 0;)
        if (n > 0)
            pm_buf_add(reply, bytes, (size_t)n);
        else if (errno != EINTR)
            break;
    close(fd);
    if (status == PM_OK && (!reply->data || reply->failed))
        status = pm_error_set(err, PM_ERR_SYSTEM, "the run went away without an answer");
    return status;
}

void session_client_value(const char *line, const char *key, char *ret_value, size_t bytes)
{
    size_t len = strlen(key);
    *ret_value = 0;
    for (const char *p = strchr(line, ' '); p; p = strchr(p + 1, ' '))
        if (!strncmp(p + 1, key, len) && p[1 + len] == '=') {
            snprintf(ret_value, bytes, "%.*s", (int)strcspn(p + len + 2, " "), p + len + 2);
            control_decode(ret_value);
            return;
        }
}
