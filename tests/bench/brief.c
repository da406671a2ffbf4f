/* N threads, one after the other, or N processes of a program: what CPU time, in microseconds,
 * does one take from its start to its end? The threads call a function with sleds; each loop in
 * it is 100 rounds.
 *
 *     brief threads N
 *     brief processes N PROGRAM
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static unsigned step(unsigned x)
{
    for (int i = 0; i < 100; i++)
        x = (x ^ x >> 7) * 1664525u + 1013904223u;
    return x;
}

static void *work(void *unused)
{
    volatile unsigned x = 1;
    for (int i = 0; i < 4; i++)
        x = step(x);
    return unused;
}

static double cpu_us(int who)
{
    struct rusage used;
    getrusage(who, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static int run_thread(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL);
}

static int run_process(char **command)
{
    int status = 1;
    pid_t pid = vfork();
    if (pid == 0) {
        execv(command[0], command);
        _exit(127);
    }
    return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[2]) : 0;
    int of_threads = argc > 1 && strcmp(argv[1], "threads") == 0, who = RUSAGE_SELF;
    if (n < 1 || (!of_threads && argc < 4))
        return 2;
    if (!of_threads)
        who = RUSAGE_CHILDREN;
    double before = cpu_us(who);
    for (int i = 0; i < n; i++)
        if (of_threads ? run_thread() : run_process(argv + 3))
            return 1;
    printf("%.2f\n", (cpu_us(who) - before) / n);
    return 0;
}
