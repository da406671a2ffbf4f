/* Calls f a number of times that tells its rank, which is its first argument, or comes from mpirun; a forked child of rank 1 once more. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) static void f(void)
{
    sink++;
}

int main(int argc, char **argv)
{
    const char *text = argc > 1 ? argv[1] : getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    int rank = text ? atoi(text) : 0;
    for (int i = 0; i < 100 * (rank + 1); i++)
        f();
    if (rank == 1) {
        pid_t pid = fork();
        if (pid == 0) {
            f();
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
    return 0;
}
