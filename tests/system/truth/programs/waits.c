/* Sleeping and working, by wall time. */
#include "truth.h"

#include <poll.h>
#include <time.h>

NOINLINE static void nap(int ms)
{
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, NULL); /* @nap */
}

NOINLINE static void idle(int ms)
{
    poll(NULL, 0, ms);
}

NOINLINE static void work(int n)
{
    BURN(n);
}

int main(void)
{
    double napping = 0, idling = 0, working = 0, at_work = 0, all = WALL_MS(), start;
    for (int turn = 0; turn < 10; turn++) {
        start = WALL_MS();
        nap(40);
        napping += WALL_MS() - start;
        start = WALL_MS();
        idle(20);
        idling += WALL_MS() - start;
        start = THREAD_MS();
        double start_wall = WALL_MS();
        work(8000);
        working += THREAD_MS() - start;
        at_work += WALL_MS() - start_wall;
    }
    all = WALL_MS() - all;
    truth("nap_ms", napping);
    truth("idle_ms", idling);
    truth("work_ms", working);
    truth("at_work", 100 * at_work / all); /* wall time: with what others had the processor for */
    truth("waited_ms", all - working);
    truth("all_ms", all);
    truth("nap", 100 * napping / all);
    truth("idle", 100 * idling / all);
    truth("cpu_ms", PROCESS_MS());
    return 0;
}
