/* Three arrays with traffic 1:2:4: links of three equal kinds of pointer chases, so many loads from each, one after the other. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 512 };
static unsigned small[N], middle[N], large[N];

static unsigned walk(unsigned at, long n)
{
    for (long i = 0; i < n; i++) {
        at = small[at];
        at = middle[at];
        at = middle[at];
        at = large[at];
        at = large[at];
        at = large[at];
        at = large[at];
    }
    return at;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    for (unsigned i = 0; i < N; i++) {
        small[i] = (i * 5 + 1) % N;
        middle[i] = (i * 5 + 3) % N;
        large[i] = (i * 5 + 7) % N;
    }
    printf("%u\n", walk(0, n));
    return 0;
}
