/* Many contexts: two functions call each other in all ways, `depth` deep. Arguments: depth, how many children do the same, and "wait" to sleep for ever at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long n_calls;
long left(int depth);
long right(int depth);

__attribute__((noinline)) long left(int depth)
{
    n_calls++;
    return depth == 0 ? 1 : left(depth - 1) + right(depth - 1) + 1;
}

__attribute__((noinline)) long right(int depth)
{
    n_calls++;
    return depth == 0 ? 2 : right(depth - 1) + left(depth - 1) - 1;
}

int main(int argc, char **argv)
{
    int depth = atoi(argv[1]), n_children = atoi(argv[2]);
    for (int i = 0; i < n_children; i++)
        if (fork() == 0) {
            long sum = left(depth);
            fflush(stdout);
            _exit(sum < 0);
        }
    while (n_children && wait(NULL) > 0)
        continue;
    long sum = left(depth);
    printf("%ld calls, %ld\n", n_calls, sum);
    fflush(stdout);
    while (argc > 3 && strcmp(argv[3], "wait") == 0)
        pause();
    return 0;
}
