/* Loops under OpenMP directives: each is entered once by each thread of the team, whatever it takes
 * of the work at a time, and whatever loops the compiler adds to it. */
#include "truth.h"

#include <omp.h>

enum { N = 2000, TURNS = 20 };
static double cells[N], added, weight = 1;

static void in_chunks(void)
{
#pragma omp parallel for schedule(static, 10)
    for (int i = 0; i < N; i++) /* @chunks */
        cells[i] = cells[i] * 0.5 + i;
}

static void atomically(void)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++) { /* @atomic */
#pragma omp atomic
        added += cells[i] * weight;
    }
}

static double reduced(void)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++) /* @reduced */
        sum += cells[i] * weight;
    return sum;
}

static __attribute__((noinline)) double in_lanes(void)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < N; i++) /* @lanes */
        sum += cells[i] * weight;
    return sum;
}

int main(void)
{
    double kept = 0;
    omp_set_dynamic(0);
    omp_set_num_threads(2);
    for (int i = 0; i < TURNS; i++) {
        in_chunks();
        atomically();
        kept += reduced() + in_lanes();
    }
    truth("by_threads", 2 * TURNS);
    truth("n_turns", TURNS);
    return kept + added == 7.5;
}
