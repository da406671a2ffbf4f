/* A scanner: a few short functions for each character, nested calls, a longer one for each number. */
#include "truth.h"

static long n_is_digit, n_number;
static const char text[] = "x1 = 42 * foo + 1234567 / (bar - 8.25) ; while (alpha < 17) beta = gamma[3] ";

NOINLINE static int is_digit(int c)
{
    n_is_digit++;
    return c >= '0' && c <= '9';
}

NOINLINE static int is_letter(int c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

NOINLINE static int class_of(int c)
{
    return is_digit(c) ? 1 : is_letter(c) ? 2 : 0;
}

NOINLINE static unsigned number(const char **p)
{
    unsigned value = 0;
    n_number++;
    while (class_of(**p) == 1)
        value = value * 10 + (unsigned)(*(*p)++ - '0');
    return value;
}

NOINLINE static unsigned name(const char **p)
{
    unsigned hash = 17;
    while (class_of(**p) != 0)
        hash = hash * 31 + (unsigned)*(*p)++;
    return hash;
}

NOINLINE static unsigned scan(const char *p)
{
    unsigned sum = 0;
    while (*p) {
        int class = class_of(*p);
        if (class == 1)
            sum += number(&p);
        else if (class == 2)
            sum ^= name(&p);
        else
            p++;
    }
    return sum;
}

NOINLINE static void steady(int n)
{
    BURN(n);
}

int main(void)
{
    unsigned sum = 0;
    double scanning = 0, steadily = 0;
    for (int turn = 0; turn < 40; turn++) {
        double start = THREAD_MS();
        for (int i = 0; i < 5000; i++)
            sum += scan(text);
        double middle = THREAD_MS();
        steady(1500);
        scanning += middle - start;
        steadily += THREAD_MS() - middle;
    }
    truth("scanning", 100 * scanning / (scanning + steadily));
    truth("steady", 100 * steadily / (scanning + steadily));
    truth("n_is_digit", (double)n_is_digit);
    truth("n_number", (double)n_number);
    return sum == 0;
}
