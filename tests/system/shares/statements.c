/* Three statements of one loop whose times are as 1:2:4: each is a chain of multiplications that depend on each other, so nothing
 * overlaps, and a link takes the same time everywhere. */
#include <stdio.h>
#include <stdlib.h>

/* No two links can be made one, as those of x * a + b could. */
#define LINK(x) (((x) ^ 0x5bd1e995u) * 0x9e3779b97f4a7c15u)
#define LINKS_4(x) LINK(LINK(LINK(LINK(x))))
#define LINKS_8(x) LINKS_4(LINKS_4(x))
#define LINKS_16(x) LINKS_8(LINKS_8(x))

static unsigned long chain(unsigned long x, long n)
{
    for (long i = 0; i < n; i++) {
        x = LINKS_4(x);
        x = LINKS_8(x);
        x = LINKS_16(x);
    }
    return x;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    printf("%lu\n", chain((unsigned long)n, n));
    return 0;
}
