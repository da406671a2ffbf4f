/* Two loops: the second argument says how much the second one does. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { N = 4096 };
static volatile uint32_t numbers[N];

__attribute__((noinline)) static uint32_t add(int n_rounds)
{
    uint32_t all = 0;
    for (int i = 0; i < n_rounds * N; i++)
        all += numbers[i % N];
    return all;
}

__attribute__((noinline)) static uint32_t divide(int n_rounds)
{
    uint32_t all = 7;
    for (int i = 0; i < n_rounds * N; i++)
        all += 1000000007u / (numbers[i % N] | 3);
    return all;
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* CPU seconds, rounds of divide for each of add. Tells its number on stderr, and the share of divide in percent at
 * the end. */
int main(int argc, char **argv)
{
    double until = argc > 1 ? atof(argv[1]) : 1, spent[2] = {0};
    int n = argc > 2 ? atoi(argv[2]) : 1;
    uint32_t all = 0;
    fprintf(stderr, "%d\n", (int)getpid());
    for (double at = cpu_s(), then; at < until; at = then) {
        all += add(20);
        double between = cpu_s();
        all += divide(20 * n);
        then = cpu_s();
        spent[0] += between - at;
        spent[1] += then - between;
    }
    printf("%.1f %u\n", 100 * spent[1] / (spent[0] + spent[1]), all);
    return 0;
}
