/* What a wrapped call costs: 1e7 calls of zlib's crc32 with one byte, in short repetitions of which
 * the shortest counts. Run it alone, with an adapter preloaded, and with the runtime as well.
 *
 * Prints nanoseconds as key=value. */
#include <stdio.h>
#include <time.h>
#include <zlib.h>

enum { CALLS = 10000, REPETITIONS = 1000 };

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(void)
{
    const unsigned char byte = 7;
    unsigned long crc = 0;
    double shortest = 1e18;
    for (int i = 0; i < REPETITIONS; i++) {
        double start = now_ns();
        for (int k = 0; k < CALLS; k++)
            crc = crc32(crc, &byte, 1);
        double took = (now_ns() - start) / CALLS;
        shortest = took < shortest ? took : shortest;
    }
    fprintf(stderr, "%lx\n", crc);
    printf("call_ns=%.2f\n", shortest);
    return 0;
}
