/* Half of a program: both have a function `step` of their own, a loop and an array. */
#include <stdio.h>
#include <stdlib.h>

double first_table[1000];

double second(int n);
double middle(double *p, int n);

static double step(double x)
{
    return x * 0.5 + 1;
}

int main(int argc, char **argv)
{
    double sum = 0;
    int n_rounds = argc > 1 ? atoi(argv[1]) : 50;
    for (int round = 0; round < n_rounds; round++) {
        for (int i = 0; i < 1000; i++)
            first_table[i] = step(first_table[i] + i);
        sum += middle(first_table, 1000) + second(round);
    }
    printf("%.6g\n", sum);
}
