/* Calls that nest, whose numbers are known: each function says how often it was called. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline, noclone))
static unsigned long n_outer, n_middle, n_leaf, n_jumper;
static jmp_buf back;
static volatile int sink;

KEEP int leaf(int x)
{
    __atomic_fetch_add(&n_leaf, 1, __ATOMIC_RELAXED);
    return x * 3;
}

KEEP int middle(int n)
{
    int sum = 0;
    __atomic_fetch_add(&n_middle, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < n; i++)
        sum += leaf(i);
    return sum;
}

KEEP int outer(int n)
{
    __atomic_fetch_add(&n_outer, 1, __ATOMIC_RELAXED);
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += middle(n);
    return sum + leaf(n);
}

KEEP void jumper(int n)
{
    __atomic_fetch_add(&n_jumper, 1, __ATOMIC_RELAXED);
    sink = middle(3);
    if (n % 2)
        longjmp(back, 1);
}

static void *thread(void *n)
{
    for (int i = 0; i < *(int *)n; i++)
        sink = outer(5);
    return NULL;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    pthread_t other;
    pthread_create(&other, NULL, thread, &n);
    thread(&n);
    pthread_join(other, NULL);
    for (volatile int i = 0; i < n; i++)
        if (setjmp(back) == 0)
            jumper(i);
    printf("outer %lu\nmiddle %lu\nleaf %lu\njumper %lu\nmain 1\nthread 2\n", n_outer, n_middle, n_leaf, n_jumper);
    return 0;
}
