/* Loops in loops: the outermost one's own work to that of the two inner ones is as 1:4, and the middle one has none of its own. */
#include <stdio.h>
#include <stdlib.h>

#define LINK(x) (((x) ^ 0x5bd1e995u) * 0x9e3779b97f4a7c15u)
#define LINKS_4(x) LINK(LINK(LINK(LINK(x))))
#define LINKS_16(x) LINKS_4(LINKS_4(LINKS_4(LINKS_4(x))))

__attribute__((noinline)) static unsigned long nest(unsigned long x, long n, int m)
{
    for (long i = 0; i < n; i++) {
        x = LINKS_16(LINKS_16(x));
        for (int j = 0; j < m; j++)
            for (int k = 0; k < m; k++)
                x = LINKS_16(LINKS_16(x));
    }
    return x;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    printf("%lu\n", nest((unsigned long)n, n, 2));
    return 0;
}
