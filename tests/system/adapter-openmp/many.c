/* More locks than the adapter tells apart, then other constructs: these count together, and take
 * no memory each time. */
#include <malloc.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOCKS = 20000, TIMES = 100000 };

static long critical_sections(void)
{
    size_t before = mallinfo2().uordblks;
    long sum = 0;
    for (int i = 0; i < TIMES; i++) {
#pragma omp critical(late)
        sum += i & 1;
    }
    printf("grown %ld\n", (long)(mallinfo2().uordblks - before));
    return sum;
}

int main(void)
{
    omp_lock_t *locks = malloc(LOCKS * sizeof *locks);
    for (int i = 0; i < LOCKS; i++)
        omp_init_lock(&locks[i]);
    for (int i = 0; i < LOCKS; i++) {
        omp_set_lock(&locks[i]);
        omp_unset_lock(&locks[i]);
    }
    printf("done %ld\n", critical_sections());
    free(locks);
    return 0;
}
