#include <stdio.h>
static double a[1000];
__attribute__((noinline)) static double work(int n)
{
    double s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++) s += a[i] * i;
    int twice(int x) { return x * n; }
    int (*volatile p)(int) = twice;
    return s + p(2);
}
int main(int c, char **v) { (void)v; if (c > 100) return 1; printf("%f\n", work(c * 100)); return 0; }
