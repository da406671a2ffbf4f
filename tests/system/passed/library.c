double both(const double *values, int n)
{
    double sum = 1;
    for (int i = 0; i < n; i++)
        sum += values[i];
    return sum;
}
