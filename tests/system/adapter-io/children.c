/* One number is several files, in children that share the parent's memory (vfork) and in those that do not; commands behind pipes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int bad;

static void put(int fd, const char *bytes, int n)
{
    bad |= write(fd, bytes, (size_t)n) != n;
}

static int make(const char *name)
{
    return open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

/* In the child: the number of the parent's file is another's. */
static void in_child(int fd, const char *name, const char *bytes, int n)
{
    close(fd);
    put(make(name), bytes, n);
    exit(0);
}

int main(void)
{
    char line[100];
    int fd = make("parent.txt"), status;
    put(fd, "1234567890", 10);
    pid_t pid = vfork();
    if (pid == 0) {
        close(fd);
        int other = make("vfork.txt");
        dup2(other, 1);
        _exit(other != fd);
    }
    waitpid(pid, &status, 0);
    bad |= status;
    put(fd, "12345", 5);
    if ((pid = fork()) == 0)
        in_child(fd, "fork.txt", "child", 5);
    waitpid(pid, &status, 0);
    if ((pid = (pid_t)syscall(SYS_fork)) == 0)
        in_child(fd, "raw.txt", "raw", 3);
    waitpid(pid, &status, 0);
    put(fd, "1", 1);
    FILE *file = popen("cat >/dev/null", "w");
    fprintf(file, "to the command\n");
    pclose(file);
    file = popen("echo hi", "r");
    bad |= fgets(line, sizeof line, file) == NULL;
    pclose(file);
    return bad;
}
