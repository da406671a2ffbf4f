/* Runs a command and writes the largest resident set of it or one of its children, in bytes, to a
 * file. (A large program that starts another leaves its own size in the other's resource usage, so
 * a script cannot find out by itself.)
 *
 *     maxrss FILE COMMAND ARGUMENT...      exit status: the command's, or 127
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
        return 127;
    FILE *file = fopen(argv[1], "w");
    if (file == NULL || fprintf(file, "%ld\n", usage.ru_maxrss * 1024) < 0 || fclose(file) != 0)
        return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
