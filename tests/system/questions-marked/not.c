/* What `not` leaves out, and of what a part is not known: visit() may be off, check() is inlined into user(), plain() has no map,
 * fib() may be counted only, fill() gets the array `data` by its address.
 * child() is called where there is an argument. Prints how often slow() was called outside of check(). */
#include "../truth/programs/truth.h"

static int outside;

NOINLINE static void slow(int n)
{
    BURN(n);
}

NOINLINE static void visit(int n)
{
    slow(n);
    AGAIN();
}

static inline void check(int n)
{
    if (n & 1)
        slow(n);
    else
        BURN(1);
    AGAIN();
}

NOINLINE static void user(int i)
{
    check(10 | (i & 1));
    BURN(10);
    slow(5);
    outside++;
    AGAIN();
}

NOINLINE static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int data[1000];
void fill(int *to, int n);

NOINLINE static void child(void)
{
    BURN(100);
    AGAIN();
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        child();
        return 0;
    }
    for (int i = 0; i < 500; i++) {
        visit(10);
        user(i);
        fill(data, 1000);
    }
    data[1] = fib(20);
    printf("%d\n", outside + data[2]);
    return 0;
}
