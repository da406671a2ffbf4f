/* Functions that call themselves, each of which counts its calls and says so. */
#include <stdio.h>

static long n_fib, n_fac, n_hanoi, n_ack, n_sort, n_permute;

__attribute__((noinline)) static long fib(int n)
{
    n_fib++;
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static long fac(int n)
{
    n_fac++;
    return n < 2 ? 1 : n * fac(n - 1);
}

__attribute__((noinline)) static long hanoi(int n, int from, int over, int to)
{
    n_hanoi++;
    if (!n)
        return 0;
    long moves = hanoi(n - 1, from, to, over) * 3 + from;
    return moves ^ hanoi(n - 1, to, over, from);
}

__attribute__((noinline)) static long ack(long m, long n)
{
    n_ack++;
    if (!m)
        return n + 1;
    return n ? ack(m - 1, ack(m, n - 1)) : ack(m - 1, 1);
}

static void swap(int *a, int *b)
{
    int kept = *a;
    *a = *b;
    *b = kept;
}

__attribute__((noinline)) static void sort(int *a, int left, int right)
{
    n_sort++;
    if (left >= right)
        return;
    int middle = a[(left + right) / 2], i = left, j = right;
    while (i <= j) {
        while (a[i] < middle)
            i++;
        while (a[j] > middle)
            j--;
        if (i <= j)
            swap(&a[i++], &a[j--]);
    }
    sort(a, left, j);
    sort(a, i, right);
}

__attribute__((noinline)) static long permute(int *a, int n, int k)
{
    n_permute++;
    if (k == n)
        return a[0];
    long sum = 0;
    for (int i = k; i < n; i++) {
        swap(&a[k], &a[i]);
        sum += permute(a, n, k + 1);
        swap(&a[k], &a[i]);
    }
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    long sum = 0;
    int a[1000];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 1000; i++)
            a[i] = (i * 7919 + round) % 1009;
        sort(a, 0, 999);
        sum += a[500] + fib(12 + argc) + fac(12 + argc) + hanoi(9, 1, 2, 3) + ack(2, argc + 6) +
               permute(a, 6, 0);
    }
    fprintf(stderr, "sum %ld\n", sum);
    printf("fib %ld\nfac %ld\nhanoi %ld\nack %ld\nsort %ld\npermute %ld\n", n_fib, n_fac, n_hanoi,
           n_ack, n_sort, n_permute);
    return 0;
}
