/* Forwarders, the last call of a chain into the C library, calls through pointers, tail calls between two functions a million deep. */
#include "truth.h"

#include <stdlib.h>

static char text[256];
static long n_ping, n_pong, n_first;

NOINLINE static int format(const char *name, double value)
{
    return snprintf(text, sizeof text, "%s %.12f %.9e %.17g", name, value, value * 1e9, value / 3);
}

NOINLINE static int third(double value)
{
    return format("value", value);
}

NOINLINE static int second(double value)
{
    return third(value + 1);
}

NOINLINE static int first(double value)
{
    n_first++;
    return second(value * 2);
}

NOINLINE static double parse(const char *from)
{
    return strtod(from, NULL);
}

static double (*volatile parser)(const char *) = parse;

NOINLINE static int pong(int n);

NOINLINE static int ping(int n)
{
    n_ping++;
    return n == 0 ? 1 : pong(n - 1);
}

NOINLINE static int pong(int n)
{
    n_pong++;
    return n == 0 ? 0 : ping(n - 1);
}

int main(void)
{
    double all = THREAD_MS(), formatting = 0, parsing = 0;
    long sum = 0;
    while (THREAD_MS() - all < 400) {
        double start = THREAD_MS();
        for (int i = 0; i < 2500; i++)
            sum += first(i);
        double between = THREAD_MS();
        formatting += between - start;
        for (int i = 0; i < 12000; i++)
            sum += (long)parser("314159265358979323846.2643383279502884197e-5");
        parsing += THREAD_MS() - between;
    }
    for (int i = 0; i < 100; i++)
        sum += ping(2000);
    all = THREAD_MS() - all;
    truth("formatting", 100 * formatting / all);
    truth("parsing", 100 * parsing / all);
    truth("n_first", (double)n_first);
    truth("n_ping", (double)n_ping);
    truth("n_pong", (double)n_pong);
    return sum == 0;
}
