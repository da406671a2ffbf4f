/* Single objects with arrays in them: what counts a loop over such an array is there for the object, too. */
#include "parts.h"

enum { N = 4096 };
struct run {
    double cells[N], others[N];
    int n;
};
static struct run first, second;

NOINLINE static void relax(double k)
{
    for (int i = 1; i < N; i++)
        first.cells[i] = first.cells[i] * 0.5 + k;
}

NOINLINE static void relax_in(struct run *run, double k)
{
    for (int i = 1; i < run->n; i++)
        run->others[i] = run->others[i] * 0.5 + k;
}

int main(void)
{
    int k = 0;
    second.n = N;
    PART("named", 120, relax(k++));
    PART("passed", 120, relax_in(&second, k++));
    PART("both", 120, for (int i = 1; i < N; i++) second.cells[i] = first.others[i] + k);
    print_parts();
    return 0;
}
