#include "sums.h"

KEPT double sum_elsewhere(const double *values, int n)
{
    double all = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 1000; k++)
            all += values[k];
        send_one(all);
    }
    return all;
}
