/* Modes that are changed while the program runs, by `perfmap mode` that it starts itself: what was not followed meanwhile is marked. */
#include "truth.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static long n_followed, n_dropped, n_added, n_inner;
static double units[4]; /* followed, dropped, added, inner */

NOINLINE static void inner(void)
{
    n_inner++;
    units[3] += 5;
    BURN(5);
}

NOINLINE static void followed(void)
{
    n_followed++;
    units[0] += 20;
    BURN(20);
}

NOINLINE static void dropped(void)
{
    n_dropped++;
    units[1] += 25;
    BURN(25);
    inner();
    AGAIN();
}

NOINLINE static void added(void)
{
    n_added++;
    units[2] += 15;
    BURN(15);
    inner();
    AGAIN();
}

NOINLINE static void turns(int n)
{
    for (int i = 0; i < n; i++) { /* @turns */
        followed();
        dropped();
        added();
    }
}

static int change(const char *how)
{
    const char *build = getenv("PERFMAP_BUILD");
    char command[4096];
    if (build == NULL || getenv("PERFMAP_RUN_DIR") == NULL)
        return 0;
    snprintf(command, sizeof command, "%s/bin/perfmap mode %s %d >/dev/null", build, how, (int)getpid());
    return system(command);
}

/* CPU time of the run: this thread's, and that of the shells and of `perfmap mode`. */
static double run_ms(void)
{
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    return THREAD_MS() + 1e3 * (double)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
           1e-3 * (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec);
}

int main(void)
{
    double turning = 0, start;
    int failed = change("--off func:added");
    start = THREAD_MS();
    turns(500);
    turning += THREAD_MS() - start;
    failed |= change("--off func:dropped --exact func:added");
    start = THREAD_MS();
    turns(800);
    turning += THREAD_MS() - start;
    failed |= change("--exact func:dropped");
    start = THREAD_MS();
    turns(500);
    turning += THREAD_MS() - start;
    truth("turning", 100 * turning / run_ms());
    double all = (units[0] + units[1] + units[2] + units[3]) * run_ms() / turning;
    truth("followed", 100 * units[0] / all);
    truth("dropped", 100 * units[1] / all);
    truth("added", 100 * units[2] / all);
    truth("inner", 100 * units[3] / all);
    truth("n_followed", (double)n_followed);
    truth("n_dropped", (double)n_dropped);
    truth("n_added", (double)n_added);
    truth("n_inner", (double)n_inner);
    truth("failed", failed);
    return 0;
}
