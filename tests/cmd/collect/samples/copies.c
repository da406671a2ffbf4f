#include <string.h>

static double u[1 << 14], v[1 << 14];

__attribute__((noinline)) static void copy(int n)
{
    for (int k = 0; k < n; k++)
        memcpy(v, u, sizeof(double[1 << (14 - (k & 1))]));
}

__attribute__((noinline)) static void scale(int n)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 1 << 14; i++)
            u[i] = u[i] * 0.999 + v[i];
}

int main(void)
{
    copy(60000);
    scale(20000);
    return u[5] > 1;
}
