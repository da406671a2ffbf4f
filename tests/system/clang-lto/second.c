/* The other half. */
double second_table[1000];

__attribute__((noinline)) static double step(double x)
{
    return x + 3;
}

double middle(double *p, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i];
    return sum;
}

double second(int n)
{
    double sum = 0;
    for (int i = 0; i < 1000; i++) {
        second_table[i] += n;
        sum += step(second_table[i]);
    }
    return sum;
}
