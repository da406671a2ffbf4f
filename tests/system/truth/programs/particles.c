/* An array of structs, read and written by field, and the same as a struct of arrays. */
#include "truth.h"

enum { N = 4000 };

struct particle {
    double x, y, z;
    int charge, cell;
};
struct cloud {
    double mass[N], speed[N];
};

static struct particle all[N];
static struct cloud cloud;

NOINLINE static double sum_x(const struct particle *p, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i].x; /* @sum_x */
    return sum;
}

NOINLINE static void set_y(struct particle *p, int n, double to)
{
    for (int i = 0; i < n; i++)
        p[i].y = to; /* @set_y */
}

NOINLINE static int count_charge(const struct particle *p, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        if (p[i].charge > 3) /* @count */
            sum++;
    return sum;
}

NOINLINE static double sum_mass(const struct cloud *c, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += c->mass[i]; /* @mass */
    return sum;
}

NOINLINE static void set_speed(struct cloud *c, int n, double to)
{
    for (int i = 0; i < n; i++)
        c->speed[i] = to; /* @speed */
}

int main(void)
{
    double ms[5] = {0}, sum = 0, whole = THREAD_MS();
    for (int i = 0; i < N; i++) {
        all[i].x = cloud.mass[i] = i;
        all[i].charge = i % 7;
    }
    while (THREAD_MS() - whole < 400) {
        double start = THREAD_MS(), end;
        for (int k = 0; k < 250; k++) {
            AGAIN();
            sum += sum_x(all, N);
        }
        ms[0] += (end = THREAD_MS()) - start;
        start = end;
        for (int k = 0; k < 250; k++) {
            AGAIN();
            set_y(all, N, k);
        }
        ms[1] += (end = THREAD_MS()) - start;
        start = end;
        for (int k = 0; k < 250; k++) {
            AGAIN();
            sum += count_charge(all, N);
        }
        ms[2] += (end = THREAD_MS()) - start;
        start = end;
        for (int k = 0; k < 350; k++) {
            AGAIN();
            sum += sum_mass(&cloud, N);
        }
        ms[3] += (end = THREAD_MS()) - start;
        start = end;
        for (int k = 0; k < 350; k++) {
            AGAIN();
            set_speed(&cloud, N, k);
        }
        ms[4] += (end = THREAD_MS()) - start;
    }
    whole = THREAD_MS() - whole;
    const char *names[] = {"x", "y", "charge", "mass", "speed"};
    for (int i = 0; i < 5; i++)
        truth(names[i], 100 * ms[i] / whole);
    return sum == 0;
}
