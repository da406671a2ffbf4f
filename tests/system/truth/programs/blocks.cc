// Templates of a library whose work is done behind large arrays on the stack: who called them is not known, and so not for what they work.
#include "truth.h"

#include "include/c++/blocks.h"

enum { N = 4096 };

double total[N], parts[N], plain[N];

NOINLINE static void gather(int times)
{
    for (; times > 0; times--)
        add_scaled(total, parts, N, 0.5);
}

NOINLINE static void add_up(int times)
{
    for (; times > 0; times--) {
        AGAIN();
        for (int i = 0; i < N; i++)
            plain[i] += 0.5;
    }
}

int main()
{
    double begin = THREAD_MS();
    gather(6000);
    double middle = THREAD_MS();
    add_up(100000);
    double percent = 100 / (THREAD_MS() - begin);
    truth("gathered", (middle - begin) * percent);
    truth("added", 100 - (middle - begin) * percent);
    return 0;
}
