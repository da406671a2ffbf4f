/* Where a program waits, by statement and line: sleeps of all kinds in loops, conditions, macros, inlined functions and behind
 * pointers; two calls of one function from two lines; a line that works and waits. */
#include "truth.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static double waited[8], all_ms;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t empty;
static int (*volatile waits)(struct pollfd *, nfds_t, int) = poll;

static struct timespec from_now(long ms)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += ms * 1000000L;
    time.tv_sec += time.tv_nsec / 1000000000L;
    time.tv_nsec %= 1000000000L;
    return time;
}

static inline __attribute__((always_inline)) void brief_nap(long ms)
{
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, NULL); /* @inlined */
}

NOINLINE static void rest(long ms)
{
    struct timespec time = {0, ms * 1000000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL); /* @rest */
    AGAIN();
}

NOINLINE static void turn(void)
{
    double start = WALL_MS(), now;
    struct timeval tv = {0, 6000};
    select(0, NULL, NULL, NULL, &tv); /* @select */
    now = WALL_MS(), waited[0] += now - start, start = now;
    if (waits(NULL, 0, 9) != 0) /* @poll */
        return;
    now = WALL_MS(), waited[1] += now - start, start = now;
    struct timespec until = from_now(5);
    pthread_mutex_lock(&lock);
    while (pthread_cond_timedwait(&never, &lock, &until) != ETIMEDOUT) /* @condition */
        AGAIN();
    pthread_mutex_unlock(&lock);
    now = WALL_MS(), waited[2] += now - start, start = now;
    until = from_now(4);
    while (sem_timedwait(&empty, &until) != 0 && errno == EINTR) /* @semaphore */
        AGAIN();
    now = WALL_MS(), waited[3] += now - start, start = now;
    brief_nap(3);
    brief_nap(4);
    now = WALL_MS(), waited[4] += now - start, start = now;
    rest(3); /* @first */
    now = WALL_MS(), waited[5] += now - start, start = now;
    rest(9); /* @second */
    now = WALL_MS(), waited[6] += now - start, start = now;
    for (int i = 0; i < 4; i++) { /* @loop */
        usleep(1000); /* @both */
        BURN(250); /* @burn */
    }
    now = WALL_MS(), waited[7] += now - start;
}

int main(void)
{
    static const char *const names[] = {"selecting", "polling", "condition", "semaphore", "inlined", "first", "second", "looping"};
    sem_init(&empty, 0, 0);
    double start = WALL_MS();
    for (int i = 0; i < 20; i++)
        turn();
    all_ms = WALL_MS() - start;
    for (int i = 0; i < 8; i++)
        truth(names[i], 100 * waited[i] / all_ms);
    truth("all_ms", all_ms);
    return 0;
}
