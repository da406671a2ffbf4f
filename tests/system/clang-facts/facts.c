/* What statements read and write, in the ways that C has: both compilers are to say the same. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct grid {
    double *data;
    int n;
    double fixed[64];
};
typedef struct {
    struct grid grids[2];
    double (*apply)(const double *values, int n);
} world;

double table[256], total;
static int counter;

static void fill(double *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = i * 0.5;
}

double sum(const double *w, int n)
{
    double s = 0;
    while (n-- > 0)
        s += *w++;
    return s;
}

static double *row(double (*rows)[8], int k)
{
    double *first = rows[k];
    return first;
}

static int compare(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return *one < *other ? -1 : *one > *other;
}

static void work(world *all, int k)
{
    double local[100], copy[100], rows[4][8];
    static int calls;
    struct grid *grid = &all->grids[k];
    fill(local, 100);
    memcpy(copy, local, sizeof copy);
    memset(rows, 0, sizeof rows);
    rows[k][k + 1] = local[k];
    grid->data[k] = copy[k];
    grid->fixed[3] += 2;
    all->grids[1].n++;
    calls++;
    counter = calls;
    total = sum(grid->data, grid->n) + all->apply(copy, 100) + row(rows, k)[1];
    qsort(copy, 100, sizeof *copy, compare);
}

/* va_start is the compiler's own. */
static int largest(int n, ...)
{
    int most = 0;
    va_list numbers;
    va_start(numbers, n);
    vfprintf(stdout, "%d %d\n", numbers);
    va_end(numbers);
    return most;
}

int main(int argc, char **argv)
{
    world all = {{{table, 256, {1}}, {table + 16, 240, {1}}}, sum};
    double *pointers[] = {table, table + 8};
    fill(table, 256);
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] == 'x')
            break;
        work(&all, i & 1);
        pointers[i & 1][i] = counter;
    }
    printf("%g %d\n", total, counter);
    return largest(argc, 1, 2);
}
