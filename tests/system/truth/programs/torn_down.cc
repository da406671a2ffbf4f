// Destructors of a library, counted.
#include "truth.h"

extern "C" void tear_down(long *ret_plain, long *ret_inner, long *ret_outer);

int main()
{
    long n_plain, n_inner, n_outer;
    tear_down(&n_plain, &n_inner, &n_outer);
    truth("n_plain", (double)n_plain);
    truth("n_inner", (double)n_inner);
    truth("n_outer", (double)n_outer);
    return 0;
}
