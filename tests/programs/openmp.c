/* OpenMP regions and loops. */
static double a[100], b[100];

int main(void)
{
    double sum = 0;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 100; i++) /* loop */
            a[i] = b[i] + 1;
#pragma omp single
        b[3] = 2;
    }
#pragma omp parallel for reduction(+ : sum) schedule(dynamic)
    for (int i = 0; i < 100; i++) { /* loop */
        for (int j = 0; j < 3; j++) /* loop */
            sum += a[i];
    }
#pragma omp parallel sections
    {
#pragma omp section
        a[1] = 1;
#pragma omp section
        b[1] = 1;
    }
    return sum != 300;
}
