/* Forwarders, the last call of a chain into the C library, calls through pointers, tail calls between two functions a million deep. */
#include "truth.h"

#include <stdlib.h>

static char text[256];
static long n_ping, n_pong, n_first;

/* Much work for a call: that of the sleds around it belongs to no function. */
NOINLINE static int format(const char *name, double value)
{
    for (int i = 1; i < 8; i++)
        snprintf(text, sizeof text, "%s %.12f %.9e %.17g", name, value * i, value + i, value / i);
    return snprintf(text, sizeof text, "%s %.12f %.9e %.17g", name, value, value * 1e9, value / 3); // @last
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
    double sum = 0;
    for (int i = 0; i < 7; i++)
        sum += strtod(from + i, NULL);
    return sum + strtod(from, NULL);
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
        for (int i = 0; i < 300; i++)
            sum += first(i);
        double between = THREAD_MS();
        formatting += between - start;
        for (int i = 0; i < 1500; i++)
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
