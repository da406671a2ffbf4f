/* Functions that call each other in all orders, also in threads, after longjmp, in handlers on another stack: without words of its own, so that
 * what matters only inside others is entered only there. Always the same calls. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

static __thread unsigned seed;
static __thread jmp_buf back;
static volatile long sum;

static unsigned next(unsigned n)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % n;
}

static void any(int depth);

NOINLINE void leaf(void)
{
    sum++;
}

NOINLINE void left(int depth)
{
    leaf();
    any(depth);
    sum++;
}

NOINLINE void right(int depth)
{
    for (int i = 0; i < 3; i++) {
        any(depth - 1);
        sum++;
    }
}

NOINLINE void jumps(int depth)
{
    any(depth);
    if (depth < 4)
        longjmp(back, 1);
    sum++;
}

NOINLINE void catches(int depth)
{
    jmp_buf outer;
    __builtin_memcpy(&outer, &back, sizeof outer);
    if (setjmp(back) == 0)
        jumps(depth - 1);
    leaf();
    __builtin_memcpy(&back, &outer, sizeof outer);
    sum++;
}

NOINLINE void handled(int depth)
{
    leaf();
    raise(SIGUSR1);
    any(depth - 1);
    sum++;
}

static void (*const functions[])(int) = {left, right, catches, handled, left};

static void any(int depth)
{
    if (depth > 0)
        functions[next(sizeof functions / sizeof *functions)](depth - 1);
}

NOINLINE void hot(void)
{
    for (int i = 0; i < 200000; i++)
        leaf();
}

static void handler(int number)
{
    (void)number;
    leaf();
    left(0);
}

static void *thread(void *number)
{
    seed = (unsigned)(size_t)number;
    leaf();
    any(9);
    return NULL;
}

int main(void)
{
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) != 0 ||
        sigaction(SIGUSR1, &action, NULL) != 0)
        return 1;
    hot();
    for (unsigned i = 1; i <= 30; i++) {
        seed = i;
        any(10);
        pthread_t t;
        if (i % 10 == 0 && (pthread_create(&t, NULL, thread, (void *)(size_t)i) != 0 ||
                            pthread_join(t, NULL) != 0))
            return 1;
    }
    hot();
    printf("%ld\n", sum);
    return 0;
}
