/* Code compiled without the plugin (mixture_plain.c) works on global data, beside code with it. */
#include "truth.h"

double shared[1024], passed[1024];
static double own[1024];

void plain_global(int n);
double plain_inlined(int n);
void plain_passed(double *values, int n);

NOINLINE static void with_plugin(int n)
{
    for (int k = 0; k < n; k++) {
        own[k & 1023] += k; /* @own */
        BURN(10);
    }
}

NOINLINE static void writes_shared(int n)
{
    for (int k = 0; k < n; k++) {
        shared[k & 1023] += k;
        BURN(10);
    }
}

int main(void)
{
    for (int k = 0; k < 10; k++) {
        plain_global(400);         /* @global */
        own[0] += plain_inlined(200); /* @inlined */
        plain_passed(passed, 300);    /* @passed */
        with_plugin(200);
        writes_shared(100);
    }
    truth("globally", 100 * 4. / 12);
    truth("inlined", 100 * 2. / 12);
    truth("passed", 100 * 3. / 12);
    truth("burnt", 100 * 3. / 12);
    truth("unknown", 100 * 9. / 12);
    return own[1] + shared[1] + passed[1] < 0;
}
