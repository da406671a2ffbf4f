/* Two locks and two functions of C whose names differ by an underscore. Then more locks than the adapter tells apart, then other constructs: these count together, and take
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

static omp_lock_t door, door_;
static int n_done;

__attribute__((noinline)) static void turn(void)
{
#pragma omp parallel num_threads(1)
    n_done++;
}

__attribute__((noinline)) static void turn_(void)
{
#pragma omp parallel num_threads(1)
    n_done += 2;
}

int main(void)
{
    omp_init_lock(&door);
    omp_init_lock(&door_);
    omp_set_lock(&door);
    for (int i = 0; i < 2; i++) {
        omp_set_lock(&door_);
        omp_unset_lock(&door_);
    }
    turn();
    turn_();
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
