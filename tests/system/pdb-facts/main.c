#include <stdio.h>
void solve_(const int *n, double *result);
void MPI_Barrier(int);
static double weights[10];
void tell(int k)
{
    weights[k] = k;
    MPI_Barrier(k);
}
void MPI_Barrier(int c) { printf("%d\n", c); }
int main(void)
{
    int n = 100;
    double result;
    for (int i = 0; i < 2; i++)
        solve_(&n, &result);
    return result != 0;
}
