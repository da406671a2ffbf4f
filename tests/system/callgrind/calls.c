/* Calls of every kind that C has: direct, through pointers, recursive, mutual, tail, from another stack frame left by longjmp, with
 * many arguments, variadic, with a returned struct, from qsort, from a constructor and from exit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sink;
static jmp_buf out;

NOINLINE static void leaf(int x) { sink += x; }
NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
NOINLINE static int odd(unsigned n);
NOINLINE static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
NOINLINE static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
NOINLINE static void tail_to_leaf(int x) { leaf(x + 1); }

NOINLINE static void jump(int depth)
{
    if (depth == 0)
        longjmp(out, 1);
    jump(depth - 1);
    leaf(depth);
}

NOINLINE static int sum(int n, ...)
{
    va_list list;
    va_start(list, n);
    int total = 0;
    for (int i = 0; i < n; i++)
        total += va_arg(list, int);
    va_end(list);
    return total;
}

struct wide {
    double d[8];
};

NOINLINE static struct wide widen(double a, double b, double c, double d, double e, double f, double g, double h, double i)
{
    leaf((int)a);
    return (struct wide){{a + i, b, c, d, e, f, g, h}};
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Early and late returns, a cold part. */
NOINLINE static int choose(int x)
{
    if (x < 0) {
        fprintf(stderr, "negative %d\n", x);
        abort();
    }
    switch (x % 5) {
    case 0:
        return 7;
    case 1:
        leaf(1);
        return 8;
    case 2:
        return fib(3);
    case 3:
        return even(4u);
    }
    return x;
}

NOINLINE static void spin(int n)
{
    for (;;) {
        if (n-- == 0)
            return;
        leaf(n);
    }
}

NOINLINE static void stack(int n)
{
    volatile char big[5000];
    big[n % 5000] = (char)n;
    if (n > 0)
        stack(n - 1);
    sink += big[n % 5000];
}

NOINLINE static void goodbye(void) { leaf(0); }
__attribute__((constructor)) static void early(void) { leaf(2); }

static void (*const table[])(int) = {leaf, tail_to_leaf, spin};

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 10;
    atexit(goodbye);
    printf("%d %d %d\n", fib(n), even((unsigned)n * 100), sum(3, n, n, n));
    for (int i = 0; i < 3; i++)
        if (setjmp(out) == 0)
            jump(6);
        else
            leaf(i);
    double total = 0;
    for (int i = 0; i < n; i++) {
        table[i % 3](i);
        total += widen(i, 2, 3, 4, 5, 6, 7, 8, 9).d[0] + choose(i);
    }
    int numbers[50];
    for (int i = 0; i < 50; i++)
        numbers[i] = i * 37 % 50;
    qsort(numbers, 50, sizeof *numbers, compare);
    stack(30);
    printf("%g %d\n", total, numbers[7]);
    exit(0);
}
