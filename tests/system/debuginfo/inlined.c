#include <stdio.h>
#include <string.h>
static inline __attribute__((always_inline)) int sq(int x) { return x * x; }
static inline __attribute__((always_inline)) int poly(int x)
{
    int r = sq(x) + 3;
    return sq(r) + x;
}
__attribute__((noinline)) int f(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += poly(i);
    return s;
}
int main(int argc, char **argv)
{
    char b[100];
    memset(b, argc, sizeof b);
    printf("%d %d\n", f(argc * 100), b[argc]);
    return 0;
}
