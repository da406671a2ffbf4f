/* Functions that have the names of functions of system headers, declared there first. */
#include "truth.h"

#include <stdlib.h>

static long n_random, n_strlen;

long random(void)
{
    n_random++;
    BURN(5);
    return n_random;
}

int rand_r(unsigned *seed)
{
    n_strlen++;
    for (unsigned i = 0; i < *seed; i++)
        BURN(1);
    return 0;
}

int main(void)
{
    unsigned seed = 3;
    long sum = 0;
    for (int i = 0; i < 12000; i++) {
        sum += random();
        sum += rand_r(&seed);
    }
    truth("random", 100 * 5 / 8.0);
    truth("rand_r", 100 * 3 / 8.0);
    truth("n_random", (double)n_random);
    truth("n_rand_r", (double)n_strlen);
    return sum == 0;
}
