static double u[20][30];
__attribute__((noinline)) static double sweep(int n)
{
    double sum = 0;
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++) {
            u[i][j] += u[i - 1][j] * 0.5 + 1;
            sum += u[i][j];
        }
    return sum;
}
int main(void)
{
    double sum = 0;
    for (int i = 0; i < 50; i++)
        sum += sweep(20);
    return sum < 0;
}
