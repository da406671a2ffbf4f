/* The last thing that a function does is a call: of another one, through a table, of a variadic one. At -O2 these are jumps. */
#include "truth.h"

#include <stdarg.h>

static long n_dispatch, n_put, n_get, n_write;
static volatile int sink;

NOINLINE static void do_write(int n)
{
    n_write++;
    BURN(n);
}

NOINLINE static void handle_put(int n)
{
    n_put++;
    BURN(2);
    do_write(n);
}

NOINLINE static void handle_get(int n)
{
    n_get++;
    BURN(n);
}

static void (*const handlers[])(int) = {handle_put, handle_get};

NOINLINE static void dispatch(int request)
{
    n_dispatch++;
    handlers[request & 1](request & 1 ? 6 : 14);
}

NOINLINE static void log_values(int count, ...)
{
    va_list values;
    va_start(values, count);
    for (int i = 0; i < count; i++)
        sink += va_arg(values, int);
    va_end(values);
    BURN(8);
}

NOINLINE static void log_line(int a, int b)
{
    log_values(2, a, b);
}

int main(void)
{
    for (int i = 0; i < 4000; i++) {
        dispatch(i);
        if (i % 2 == 0)
            log_line(i, 1);
    }
    /* two turns: put 2 + 14, get 6, log 8: 30 */
    truth("n_dispatch", (double)n_dispatch);
    truth("n_put", (double)n_put);
    truth("n_write", (double)n_write);
    truth("put", 100 * 16 / 30.0);
    truth("write", 100 * 14 / 30.0);
    truth("get", 100 * 6 / 30.0);
    truth("log", 100 * 8 / 30.0);
    return 0;
}
