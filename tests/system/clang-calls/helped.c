/* A function that calls itself by way of an inlined helper: one of the calls becomes a jump. */
#include <stdio.h>

static long n_calls;

static int fibonacci(int n);

static inline int helper(int n)
{
    return fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static int fibonacci(int n)
{
    n_calls++;
    return n < 2 ? n : helper(n);
}

int main(void)
{
    int sum = fibonacci(15);
    printf("%d %ld\n", sum, n_calls);
}
