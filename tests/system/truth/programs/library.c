/* Time in the C library, each part below a line of its own: text, numbers, sorting with a comparison of the program's. */
#include "truth.h"

#include <stdlib.h>
#include <string.h>

enum { N = 3000 };
static double numbers[N];
static char texts[N][64];
static long n_compared;

static int compare(const void *a, const void *b)
{
    n_compared++;
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(void)
{
    double writing = 0, reading = 0, sorting = 0, start, all = THREAD_MS();
    unsigned seed = 1;
    while (THREAD_MS() - all < 400) {
        start = THREAD_MS();
        for (int i = 0; i < N; i++) {
            seed = seed * 1103515245 + 12345;
            snprintf(texts[i], sizeof texts[i], "%.15e", seed / 3.0); /* @write */
        }
        writing += THREAD_MS() - start;
        start = THREAD_MS();
        for (int i = 0; i < N; i++)
            numbers[i] = strtod(texts[i], NULL); /* @read */
        reading += THREAD_MS() - start;
        start = THREAD_MS();
        qsort(numbers, N, sizeof numbers[0], compare); /* @sort */
        sorting += THREAD_MS() - start;
    }
    all = THREAD_MS() - all;
    truth("writing", 100 * writing / all);
    truth("reading", 100 * reading / all);
    truth("sorting", 100 * sorting / all);
    truth("n_compared", (double)n_compared);
    truth("cpu_ms", PROCESS_MS());
    return 0;
}
