/* Calls that the compiler takes away: their results are not needed, or are known by then. */
#include <stdio.h>

void nothing(int x)
{
    (void)x;
}

__attribute__((noinline)) int square(int x)
{
    return x * x;
}

__attribute__((noinline)) int needed(int x)
{
    return x * 3 + 1;
}

static void (*volatile call)(int) = nothing;

int main(int argc, char **argv)
{
    int sum = 0;
    (void)argv;
    for (int i = 0; i < 100; i++) {
        nothing(i);
        sum += square(i + argc) + needed(i);
        sum ^= square(i + argc);
    }
    for (int i = 0; i < 10; i++)
        call(i);
    printf("%d\n", sum);
    return 0;
}
