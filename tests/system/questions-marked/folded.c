/* one() and never() are the same code, which GCC makes one function of. never() is not called. */
#include "../truth/programs/truth.h"

#define EQUAL(name)                                                                                \
    __attribute__((noinline)) static unsigned long name(unsigned long x)                           \
    {                                                                                              \
        for (int i = 0; i < 100; i++)                                                              \
            x = (x * 3 + 1) ^ x >> 7;                                                              \
        return x;                                                                                  \
    }
EQUAL(one)
EQUAL(never)

int main(int argc, char **argv)
{
    unsigned long x = (unsigned long)argc;
    (void)argv;
    for (int i = 0; i < 200000; i++)
        x += one(x);
    if (argc > 5)
        x += never(x);
    printf("%lu\n", x);
    return 0;
}
