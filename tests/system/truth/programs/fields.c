/* Fields of structs: an array of structs against a struct of arrays. Each function has the whole time of one field. */
#include "truth.h"

#include <stdlib.h>
#include <string.h>

enum { N = 2048 };

struct particle {
    double x, y;
    int m;
    float w;
};

struct columns {
    double *ax, *ay;
};

static struct particle *moving, fixed[N];
static struct columns columns;
static volatile double sink;

NOINLINE static void read_x(int times)
{
    double sum = 0;
    while (times-- > 0) {
        for (int i = 0; i < N; i++)
            sum += moving[i].x;
        __asm__ volatile("" : : : "memory");
    }
    sink = sum;
}

NOINLINE static void write_y(int times)
{
    while (times-- > 0) {
        for (int i = 0; i < N; i++)
            moving[i].y = i * 0.5 + times;
        __asm__ volatile("" : : : "memory");
    }
}

NOINLINE static void read_m(int times)
{
    long sum = 0;
    while (times-- > 0) {
        for (int i = 0; i < N; i++)
            sum += fixed[i].m;
        __asm__ volatile("" : : : "memory");
    }
    sink = (double)sum;
}

NOINLINE static void update_w(int times)
{
    while (times-- > 0) {
        for (int i = 0; i < N; i++)
            fixed[i].w += 1.5f;
        __asm__ volatile("" : : : "memory");
    }
}

NOINLINE static void scale(int times)
{
    while (times-- > 0) {
        for (int i = 0; i < N; i++)
            columns.ay[i] = columns.ax[i] * 3;
        __asm__ volatile("" : : : "memory");
    }
}

/* Jumps to memset(), which is not below it on the stack. */
static char blank[200000];
NOINLINE static void wipe(int with)
{
    memset(blank, with, sizeof blank); // @wipe
}

NOINLINE static void write_blank(int times)
{
    while (times-- > 0)
        wipe(times);
    sink = blank[3];
}

static double measured(void (*function)(int), int times)
{
    double begin = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    function(times);
    return clock_ms(CLOCK_THREAD_CPUTIME_ID) - begin;
}

int main(void)
{
    moving = calloc(N, sizeof *moving);
    columns.ax = calloc(N, sizeof *columns.ax);
    columns.ay = calloc(N, sizeof *columns.ay);
    if (!moving || !columns.ax || !columns.ay)
        return 1;
    double x = measured(read_x, 40000), y = measured(write_y, 60000), m = measured(read_m, 50000);
    double w = measured(update_w, 40000), soa = measured(scale, 40000);
    double blanks = measured(write_blank, 20000);
    double percent = 100 / (x + y + m + w + soa + blanks);
    truth("x", x * percent);
    truth("y", y * percent);
    truth("m", m * percent);
    truth("w", w * percent);
    truth("soa", soa * percent);
    truth("blanks", blanks * percent);
    return 0;
}
