/* Programs under limits: memory, file size, descriptors, signals. What they themselves need they have before. */
#define _GNU_SOURCE
#define NAMES(x) x(leaf) x(work) x(left) x(right) x(up) x(down)
#include "counts.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

SEPARATE static long leaf(long n)
{
    COUNT(leaf);
    return n + 1;
}

/* Contexts enough to make what is kept of them grow several times: a path of calls for each number. */
static long branch(long way);
#define BRANCH(name)                            \
    SEPARATE static long name(long way)         \
    {                                           \
        COUNT(name);                            \
        return leaf(way) + branch(way / 4) - 1; \
    }
BRANCH(left)
BRANCH(right)
BRANCH(up)
BRANCH(down)

static long branch(long way)
{
    static long (*const ways[])(long) = {left, right, up, down};
    return way > 0 ? ways[way % 4](way) : 0;
}

SEPARATE static long work(long n)
{
    COUNT(work);
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += branch(i * 7919 % 65536);
    return sum;
}

static pthread_barrier_t barrier;
static long rounds;

static void *waits_then_works(void *unused)
{
    pthread_barrier_wait(&barrier);
    work(rounds);
    return unused;
}

static void limit(int resource, rlim_t value)
{
    struct rlimit both = {value, value};
    CHECK(setrlimit(resource, &both) == 0);
}

static size_t size_kib(void)
{
    char text[256] = "";
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    return (size_t)atol(text) * 4;
}

/* Some threads, then the limit, then new contexts in all of them. */
static int limited_memory(const char *more_kib)
{
    enum { N = 4 };
    pthread_t threads[N];
    rounds = 3000;
    work(10);
    pthread_barrier_init(&barrier, NULL, N + 1);
    for (int i = 0; i < N; i++)
        CHECK(pthread_create(&threads[i], NULL, waits_then_works, NULL) == 0);
    limit(RLIMIT_AS, (size_kib() + (size_t)atol(more_kib)) * 1024);
    pthread_barrier_wait(&barrier);
    work(rounds);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 7;
}

/* As many threads as the memory that is allowed has room for without PerfMap, and a MiB for each. */
static int threads_in_limited_memory(void)
{
    enum { N = 100, STACK = 256 * 1024 };
    static pthread_t threads[N];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    rounds = 20;
    work(10);
    limit(RLIMIT_AS, (size_kib() + 20 * 1024 + N * (STACK / 1024 + 4 + 1024)) * 1024);
    pthread_barrier_init(&barrier, NULL, N + 1);
    for (int i = 0; i < N; i++)
        CHECK(pthread_create(&threads[i], &attributes, waits_then_works, NULL) == 0);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 7;
}

static int file_size(void)
{
    work(10);
    limit(RLIMIT_FSIZE, 200000);
    work(20000);
    puts("done");
    return 7;
}

/* 0: not even the file could be made, had it not been made before. */
static int no_file_size(void)
{
    work(10);
    limit(RLIMIT_FSIZE, 0);
    work(20000);
    pid_t child = fork();
    if (child == 0) {
        work(100);
        _exit(3);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 3 << 8);
    return 7;
}

static int few_of_everything(void)
{
    work(10);
    limit(RLIMIT_SIGPENDING, 0);
    limit(RLIMIT_MEMLOCK, 0);
    limit(RLIMIT_MSGQUEUE, 0);
    limit(RLIMIT_NOFILE, 3);
    pthread_t threads[4];
    rounds = 3000;
    pthread_barrier_init(&barrier, NULL, 5);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, waits_then_works, NULL) == 0);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 7;
}

static int much_work(void)
{
    work(20000);
    puts("done");
    return 7;
}

int main(int argc, char **argv)
{
    static const struct a_case cases[] = {
        {"threads_in_limited_memory", threads_in_limited_memory},
        {"file_size", file_size},
        {"no_file_size", no_file_size},
        {"few_of_everything", few_of_everything},
        {"much_work", much_work},
    };
    if (argc > 2 && strcmp(argv[1], "limited_memory") == 0)
        return limited_memory(argv[2]);
    return RUN_CASE(cases, argc, argv);
}
