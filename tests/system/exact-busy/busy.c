/* A : B : C = 60 : 20 : 20 of the work, A and C in ten calls each and B in as many as its argument says. */
#include <stdlib.h>

static unsigned sink;

__attribute__((noinline, noclone)) void a(long n)
{
    unsigned x = sink;
    for (long k = 0; k < n; k++)
        __asm__ volatile("imul $5, %0, %0\n\timul $7, %0, %0" : "+r"(x));
    sink = x;
}

__attribute__((noinline, noclone)) void b(long n)
{
    unsigned x = sink;
    for (long k = 0; k < n; k++)
        __asm__ volatile("imul $5, %0, %0\n\timul $7, %0, %0" : "+r"(x));
    sink = x;
}

__attribute__((noinline, noclone)) void c(long n)
{
    unsigned x = sink;
    for (long k = 0; k < n; k++)
        __asm__ volatile("imul $5, %0, %0\n\timul $7, %0, %0" : "+r"(x));
    sink = x;
}

int main(int argc, char **argv)
{
    long work = 15000000, calls = argc > 1 ? atol(argv[1]) : 10000;
    for (int i = 0; i < 10; i++) {
        a(work / 10 * 3);
        for (long k = 0; k < calls / 10; k++)
            b(work / calls);
        c(work / 10);
    }
    return 0;
}
