/* N threads that are there at once and call a few functions with sleds: what does a thread cost in
 * memory? Prints the number.
 *
 *     threads N
 */
#include "../runtime/sleds.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 1000 };

/* Each may call the next one, four deep: 15 call paths from one function. */
#define LEVEL(n, next)                                                                         \
    ".p2align 5\n.globl level" #n "\nlevel" #n                                                 \
    ":\n" PM_TEST_SLED(".Llevel_entry" #n, 1, 0x80, 0xf1fa,                                    \
                       0x1##n) "push %rdi\n" next                                              \
                               "pop %rax\ninc %rax\n" PM_TEST_SLED(".Llevel_exit" #n, 2, 0x80, \
                                                                   0xf1f9, 0x1##n) "ret\n"
__asm__(".text\n" LEVEL(3, "") LEVEL(2, "call level3\ncall level3\n")
            LEVEL(1, "call level2\ncall level3\n") LEVEL(0, "call level1\ncall level2\n"));
long level0(long x);
long level1(long x);
long level2(long x);
long level3(long x);

static pthread_barrier_t all;

static void *work(void *unused)
{
    for (long i = 0; i < 1000; i++) {
        level0(i);
        level1(i);
        level2(i);
        level3(i);
    }
    pthread_barrier_wait(&all);
    return unused;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1;
    static pthread_t threads[MAX_THREADS];
    if (n < 1 || n > MAX_THREADS)
        return 2;
    pthread_barrier_init(&all, NULL, (unsigned)n);
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", n);
    return 0;
}
