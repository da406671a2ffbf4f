/* Functions of several bodies and several names: clones for processors, an alias, a weak one, one chosen when the program starts, a
 * variadic one that passes its arguments on, one that never returns to its caller. */
#include "truth.h"

#include <setjmp.h>
#include <stdarg.h>

static long n_cloned, n_real, n_chosen, n_total, n_gone;
static volatile int sink;
static jmp_buf out;

__attribute__((target_clones("avx2", "default"), noinline)) int cloned(int x)
{
    n_cloned++;
    BURN(40);
    return x * 3;
}

NOINLINE int real(int x);
int real(int x)
{
    n_real++;
    BURN(20);
    return x + 1;
}
int other_name(int x) __attribute__((alias("real")));

__attribute__((weak, noinline)) int weak_one(int x)
{
    BURN(30);
    return x - 1;
}

static int chosen_now(int x)
{
    n_chosen++;
    BURN(50);
    return x ^ 3;
}

static int (*choose(void))(int)
{
    return chosen_now;
}
int chosen(int) __attribute__((ifunc("choose")));

NOINLINE static int sum_of(int n, va_list list)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += va_arg(list, int);
    n_total++;
    BURN(10);
    return sum;
}

NOINLINE static int total(int n, ...)
{
    va_list list;
    va_start(list, n);
    int sum = sum_of(n, list);
    va_end(list);
    return sum;
}

__attribute__((noreturn, noinline)) static void gone(int x)
{
    n_gone++;
    BURN(15);
    longjmp(out, x | 1);
}

int main(void)
{
    enum { TURNS = 500 };
    const double units = 40 + 2 * 20 + 30 + 50 + 10 + 15;
    volatile int x = 1;
    for (volatile int i = 0; i < TURNS; i++) {
        x = cloned(x);
        x = real(x);
        x = other_name(x);
        x = weak_one(x);
        x = chosen(x);
        sink = total(3, x, 2, 1);
        if (setjmp(out) == 0)
            gone(x);
    }
    truth("cloning", 100 * 40 / units);
    truth("both_names", 100 * 40 / units);
    truth("weakly", 100 * 30 / units);
    truth("choosing", 100 * 50 / units);
    truth("totalling", 100 * 10 / units);
    truth("going", 100 * 15 / units);
    truth("n_turns", TURNS);
    truth("n_real", (double)n_real);
    return 0;
}
