/* All ways through a function and a loop but jumps over frames: every entry has its exit. Prints one checksum. */
#include <alloca.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile unsigned sink;

/* Loops: nested, left from the middle by break, goto, return; entered never; endless with break; do-while. */
__attribute__((noinline)) static unsigned search(const unsigned *a, unsigned n, unsigned key)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) {
            if (a[i] + a[j] == key)
                goto found;
            if (a[i] * a[j] == key)
                return i * n + j;
            if (a[i] == 0)
                break;
        }
    return 0;
found:
    return key ^ 1;
}

__attribute__((noinline)) static unsigned collatz(unsigned n)
{
    unsigned steps = 0;
    for (;;) {
        if (n == 1)
            break;
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    do
        sink += steps;
    while (sink % 3);
    return steps;
}

/* -fipa-ra: a local leaf that changes few registers; its caller would love to keep values in the others. */
__attribute__((noinline)) static unsigned leaf(unsigned a)
{
    sink = a;
    return a * 3 + 1;
}

__attribute__((noinline)) static uint64_t ipa_ra_caller(unsigned n, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += leaf(i);
        a += sum, b ^= a, c += b * 3, d -= c;
    }
    return sum ^ a ^ b ^ c ^ d;
}

/* Tail calls, 20 million deep: without them the stack is gone. Only where the compiler promises them. */
__attribute__((noinline)) static unsigned even(unsigned n, unsigned x);
__attribute__((noinline)) static unsigned odd(unsigned n, unsigned x)
{
    return n == 0 ? x : even(n - 1, x * 5 + sink);
}
__attribute__((noinline)) static unsigned even(unsigned n, unsigned x)
{
    return n == 0 ? ~x : odd(n - 1, x * 7 + 1);
}

__attribute__((noinline)) static unsigned many(const char *format, ...)
{
    va_list args;
    unsigned sum = 0;
    va_start(args, format);
    for (; *format; format++)
        sum = sum * 31 + (*format == 'd' ? (unsigned)va_arg(args, double) : va_arg(args, unsigned));
    va_end(args);
    return sum;
}

struct big {
    unsigned v[40];
};
__attribute__((noinline)) static struct big make_big(unsigned seed, struct big in)
{
    for (int i = 0; i < 40; i++)
        in.v[i] = in.v[(i + 7) % 40] + seed;
    return in;
}

/* Realigned and dynamic stack. */
__attribute__((noinline)) static unsigned aligned_stack(unsigned n)
{
    _Alignas(64) unsigned a[64];
    unsigned *b = alloca(n * sizeof *b + 64);
    for (unsigned i = 0; i < n; i++)
        b[i] = i * i;
    for (unsigned i = 0; i < 64; i++)
        a[i] = b[i % n] + ((uintptr_t)a % 64 != 0);
    return search(a, 64, 77777);
}

/* Static chain in r10. */
__attribute__((noinline)) static unsigned nested(unsigned n)
{
    unsigned calls = 0, sum = 0;
    __attribute__((noinline)) unsigned inner(unsigned x)
    {
        calls++;
        return x * n + calls;
    }
    for (unsigned i = 0; i < n; i++)
        sum += inner(i);
    return sum + calls;
}

/* Another calling convention: rsi and rdi belong to the caller. */
__attribute__((noinline, ms_abi)) static unsigned microsoft(unsigned a, unsigned b)
{
    return a * 3 + b;
}
__attribute__((noinline)) static uint64_t microsoft_caller(uint64_t x, uint64_t y)
{
    for (unsigned i = 0; i < 100; i++)
        x += microsoft(i, 2) + y, y ^= x;
    return x + y;
}

__attribute__((noinline)) static unsigned fib(unsigned n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static double floats(double a, float b, __int128 c, long double d)
{
    for (int i = 0; i < 9; i++)
        a = a * 0.5 + b, c += i, d *= 1.0625L;
    return a + (double)c + (double)d;
}

/* Computed goto. */
__attribute__((noinline)) static unsigned interpret(const char *program)
{
    static const void *const labels[] = {&&add, &&twice, &&stop};
    unsigned value = 1;
    goto *labels[*program++ - 'a'];
add:
    value += 3;
    goto *labels[*program++ - 'a'];
twice:
    value *= 2;
    goto *labels[*program++ - 'a'];
stop:
    return value;
}

int main(int argc, char **argv)
{
    unsigned a[50], depth = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
    (void)argv;
    for (unsigned i = 0; i < 50; i++)
        a[i] = i * 17 % 50;
    uint64_t sum = search(a, 50, 91) + search(a, 50, 2209) + search(a, 0, 1);
    sum = sum * 31 + collatz(27);
    sum = sum * 31 + ipa_ra_caller(1000, 1, 2, 3, 4);
    sum = sum * 31 + even(depth, 1);
    sum = sum * 31 + many("iidi", 1, 2, 3.0, 4);
    struct big big = make_big(3, (struct big){{1, 2, 3}});
    sum = sum * 31 + big.v[5];
    sum = sum * 31 + aligned_stack(33);
    sum = sum * 31 + nested(20);
    sum = sum * 31 + microsoft_caller(5, 6);
    sum = sum * 31 + fib(15);
    sum = sum * 31 + (uint64_t)floats(1, 2, 3, 4);
    sum = sum * 31 + interpret("abababc");
    printf("%016lx\n", sum);
    return 0;
}
