/* Which libraries a program is started with: the loader says. */
#include "run.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Would the loader run it? A program without interpreter would start when it is asked for its libraries. */
static bool has_interpreter(const char *path)
{
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    bool found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
        !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64)
        for (unsigned i = 0; i < head.e_phnum && !found; i++)
            found = pread(fd, &segment, sizeof segment,
                          (off_t)(head.e_phoff + i * sizeof segment)) == (ssize_t)sizeof segment &&
                    segment.p_type == PT_INTERP;
    close(fd);
    return found;
}

static void read_all(int fd, struct pm_buf *buf)
{
    char bytes[4096];
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR);)
        if (n > 0)
            pm_buf_add(buf, bytes, (size_t)n);
}

static void ask_loader(const char *path, int output)
{
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(output, 1);
    dup2(null, 2);
    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    unsetenv("LD_PRELOAD");
    execl(path, path, (char *)NULL);
    _exit(127);
}

enum pm_status run_list_libraries(const char *path, struct pm_error *err, struct pm_buf *text)
{
    int ends[2], state;
    if (!has_interpreter(path))
        return PM_OK;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pm_error_system(err, errno, "cannot make a pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        ask_loader(path, ends[1]);
    close(ends[1]);
    if (child > 0)
        read_all(ends[0], text);
    close(ends[0]);
    if (child > 0)
        while (waitpid(child, &state, 0) < 0 && errno == EINTR)
            continue;
    return PM_OK;
}

char *run_next_library(char **rest)
{
    for (char *line; (line = strtok_r(NULL, "\n", rest)) != NULL;) {
        char *path = strchr(line, '/'), *end = path ? strstr(path, " (0x") : NULL;
        if (!end)
            continue;
        *end = 0;
        return path;
    }
    return NULL;
}
