/* What a call of a memory function copies is read by it; how much it copies is only passed to it. */
#include "parts.h"
#include <string.h>

enum { N = 64 };
struct record {
    char name[900];
    int length;
    long other;
};
struct record records[N];
char target[1024];

NOINLINE static void copy(void)
{
    for (int i = 0; i < N; i++)
        memcpy(target, records[i].name, records[i].length);
    AGAIN();
}

NOINLINE static void count(void)
{
    for (int k = 0; k < 20; k++)
        for (int i = 0; i < N; i++) {
            records[i].other += k;
            AGAIN();
        }
}

int main(void)
{
    for (int i = 0; i < N; i++)
        records[i].length = 800 + i;
    PART("copy", 60, copy());
    PART("count", 60, count());
    print_parts();
}
