/* A handler that leaves by siglongjmp: its context is open until the next event, where reading the
 * ring of switches lets others run. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static sigjmp_buf back;

static void work(void)
{
    for (volatile int i = 0; i < 30000; i++)
        ;
}

static void handler(int number)
{
    (void)number;
    work();
    siglongjmp(back, 1);
}

__attribute__((noinline)) static void raises(void)
{
    raise(SIGUSR1);
    __asm__ volatile("");
}

__attribute__((noinline)) static void after(void)
{
    work();
}

__attribute__((noinline)) static void turn(void)
{
    if (sigsetjmp(back, 1) == 0)
        raises();
    after();
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    signal(SIGUSR1, handler);
    for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
        turn();
    return 0;
}
