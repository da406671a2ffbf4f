/* data: written by name for a tenth of the time, and through a number for the rest. */
#include <stdint.h>
enum { N = 8192 };
static double data[N], other[N];
static struct {
    uintptr_t at;
} box;
__attribute__((noinline)) static void by_name(int k)
{
    for (int i = 0; i < N; i++)
        data[i] = k;
    for (int i = 0; i < N; i++)
        other[i] = k;
}
__attribute__((noinline)) static void by_number(uintptr_t p, int k)
{
    double *r = (double *)(p & ~(uintptr_t)7);
    for (int i = 0; i < N; i++)
        r[i] = k;
}
int main(void)
{
    box.at = (uintptr_t)data | 3;
    for (int k = 0; k < 120000; k++) { /* half a second: samples of each */
        if (k % 10 == 0)
            by_name(k);
        by_number(box.at, k);
    }
    return 0;
}
