/* Frames left without their exits: longjmp, exit, __builtin_unreachable ends, cleanup attributes. Prints one checksum. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static unsigned sum;

static void clean(unsigned *x) { sum += *x; }

__attribute__((noipa)) static void deep(unsigned n)
{
    unsigned mine __attribute__((cleanup(clean))) = n;
    for (unsigned i = 0; i < n; i++) {
        if (n == 3 && i == 2)
            longjmp(back, 5);
        deep(n - 1);
    }
}

__attribute__((noinline, noreturn)) static void finish(void)
{
    printf("%u\n", sum);
    exit(0);
}

int main(void)
{
    volatile unsigned round = 0;
    for (round = 0; round < 10; round++) {
        int code = setjmp(back);
        if (code == 0)
            deep(6);
        sum = sum * 3 + (unsigned)code;
    }
    finish();
}
