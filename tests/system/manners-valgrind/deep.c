/* Its stack grows while it works: valgrind makes it longer as it goes. */
#include <stdio.h>
__attribute__((noinline)) static long deep(int n)
{
    volatile char frame[4096];
    long sum = 0;
    for (int i = 0; i < 4096; i += 8)
        sum += frame[i] = (char)(n + i);
    return n == 0 ? sum : sum + deep(n - 1);
}
int main(void)
{
    printf("%ld\n", deep(1500));
    return 0;
}
