/* Libraries with sleds that come and go. libraries PATH-OF-FIRST PATH-OF-SECOND are made from library.c. */
#define _GNU_SOURCE
#define NAMES(x) x(leaf) x(first_call) x(first_start) x(first_end) x(second_call) x(second_start) x(second_end)
#include "counts.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>

static char first[4200], second[4200];

SEPARATE static long leaf(long n)
{
    COUNT(leaf);
    return n + 1;
}

/* The library counts in our file: it gets the place. */
static long use(const char *path, long n, uintptr_t *ret_address)
{
    bool is_first = path == first;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(library != NULL);
    long (*call)(long n) = (long (*)(long))dlsym(library, is_first ? "first_call" : "second_call");
    void (*begin)(struct count *) = (void (*)(struct count *))dlsym(library, "begin");
    CHECK(call != NULL && begin != NULL);
    if (ret_address != NULL) {
        void (*spins)(long) = (void (*)(long))dlsym(library, is_first ? "first_spins" : "second_spins");
        *ret_address = (uintptr_t)call;
        if (spins != NULL)
            spins(1000000);
    }
    begin(&counts[is_first ? count_of_first_call : count_of_second_call]);
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += call(i);
    CHECK(sum == n * (n - 1) / 2 * (is_first ? 3 : 5));
    CHECK(dlclose(library) == 0);
    return sum;
}

static int in_turn(void)
{
    uintptr_t a, b;
    long n_same = 0;
    for (int i = 0; i < 150; i++) {
        use(first, 40, &a);
        leaf(i);
        use(second, 30, &b);
        n_same += (a & ~0xfffffful) == (b & ~0xfffffful);
    }
    printf("%d\n", n_same > 0);
    return 0;
}

static int one_of_them(void)
{
    for (int i = 0; i < 300; i++)
        use(first, 10, NULL);
    return 0;
}

static void *uses(void *path)
{
    for (int i = 0; i < 60; i++)
        use(path, 50, NULL);
    return NULL;
}

static void *calls(void *stop)
{
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
        for (int i = 0; i < 1000; i++)
            leaf(i);
    return NULL;
}

/* Several threads load and unload, others are in the middle of events. */
static int in_threads(void)
{
    pthread_t users[4], callers[2];
    int stop = 0;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&callers[i], NULL, calls, &stop) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&users[i], NULL, uses, i % 2 ? first : second) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(users[i], NULL);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(callers[i], NULL);
    return 0;
}

/* Loaded by a fork child only, and once more by its parent. */
static int in_children(void)
{
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0) {
            use(first, 20, NULL);
            use(second, 20, NULL);
            _exit(0);
        }
        use(second, 20, NULL);
        int status = 1;
        CHECK(child > 0);
        CHECK(wait(&status) == child && status == 0);
    }
    return 0;
}

/* In namespaces of their own, several at a time. */
static int in_namespaces(void)
{
    for (int i = 0; i < 3; i++) {
        void *library = dlmopen(LM_ID_NEWLM, first, RTLD_NOW);
        if (library == NULL)
            return 77;
        long (*call)(long n) = (long (*)(long))dlsym(library, "first_call");
        void (*begin)(struct count *) = (void (*)(struct count *))dlsym(library, "begin");
        CHECK(call != NULL && begin != NULL);
        begin(&counts[count_of_first_call]);
        for (long k = 0; k < 10; k++)
            CHECK(call(k) == 3 * k);
        CHECK(dlclose(library) == 0);
    }
    leaf(1);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct a_case cases[] = {
        {"in_turn", in_turn}, {"one_of_them", one_of_them}, {"in_threads", in_threads}, {"in_children", in_children}, {"in_namespaces", in_namespaces},
    };
    snprintf(first, sizeof first, "%s-first.so", argv[0]);
    snprintf(second, sizeof second, "%s-second.so", argv[0]);
    return RUN_CASE(cases, argc, argv);
}
