// Objects of more fields than copies of them are counted for: questions about the others are marked.
#include "parts.h"
#include <string.h>

enum { N = 1024 };
#define TEN(x) double x##0, x##1, x##2, x##3, x##4, x##5, x##6, x##7, x##8, x##9
struct wide {
    TEN(a);
    TEN(b);
    TEN(c);
    TEN(d);
    struct {
        TEN(e);
    } inner;
};

static struct wide wides[N], kept[N];

NOINLINE static void copy(int k)
{
    for (int i = 0; i < N; i++)
        wides[i] = kept[(i * 7 + k) % N];
}

NOINLINE static void set_first(int k)
{
    for (int r = 0; r < 40; r++)
        for (int i = 0; i < N; i++)
            wides[i].a3 = wides[i].a3 * 0.5 + k;
}

NOINLINE static void set_last(int k)
{
    for (int r = 0; r < 40; r++)
        for (int i = 0; i < N; i++)
            wides[i].inner.e7 = wides[i].inner.e7 * 0.5 + k;
}

int main(void)
{
    int k = 0;
    PART("copied", 80, copy(k++));
    PART("first", 80, set_first(k++));
    PART("last", 80, set_last(k++));
    print_parts();
    return wides[3].a1 + wides[4].inner.e7 == 7;
}
