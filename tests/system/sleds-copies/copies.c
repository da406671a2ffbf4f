/* Loops of functions that are inlined several times: of which copies have sleds? */
#include <stdio.h>

#define INLINE static inline __attribute__((always_inline))

/* Once from straight code, once from inside a loop. */
INLINE double partly(const double *v, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++) /* partly */
        sum += v[i] * v[i];
    return sum;
}

__attribute__((noinline)) static double step(double x)
{
    __asm__("" : "+x"(x));
    return x * 0.5;
}

/* So, too, with calls. */
INLINE double stepping(const double *v, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++) /* stepping */
        sum += step(v[i]);
    return sum;
}

/* From inside loops only. */
INLINE double nowhere(const double *v, long n)
{
    double sum = 1;
    for (long i = 0; i < n; i++) /* nowhere */
        sum += v[i] - sum * 0.25;
    return sum;
}

/* From straight code only, twice. */
INLINE double everywhere(const double *v, long n)
{
    double sum = 2;
    for (long i = 0; i < n; i++) /* everywhere */
        sum = sum * 0.75 + v[i];
    return sum;
}

int main(int argc, char **argv)
{
    double v[64], sum = 0;
    (void)argv;
    for (long i = 0; i < 64; i++) /* first */
        v[i] = (double)(i + argc);
    sum += partly(v, 60 + argc) + stepping(v, 50 + argc);
    sum += everywhere(v, 40 + argc) + everywhere(v + 1, 30 + argc);
    for (long k = 0; k < 100; k++) { /* outer */
        v[k % 64] += 1;
        sum += partly(v, 20 + k % 8) + stepping(v, 3 + k % 8) + nowhere(v, 5 + k % 8);
    }
    printf("%g\n", sum);
    return 0;
}
