/* Arrays that other units work on: one of this program (work), one of a library (both). */
#include <stdio.h>
#include <stdlib.h>

double work(const double *values, int n);
double both(const double *values, int n);

enum { N = 4096 };
static double weights[N], left[N], right[N], idle[N];

int main(int argc, char **argv)
{
    double sum = idle[argc];
    for (int i = atoi(argv[1]); i > 0; i--) {
        sum += work(weights, N) + work(weights, N);
        sum += both(left, N);
        sum += both(right, N);
    }
    printf("%g\n", sum);
    return 0;
}
