/* Phases of a program whose threads do nothing that PerfMap sees: one works, one sleeps for ever, one waits and ends. */
#include <perfmap.h>
#include <pthread.h>
#include <unistd.h>

static volatile double sink;
static volatile int over;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void spin(void)
{
    while (!over)
        for (int i = 0; i < 1000; i++)
            sink += i;
}

__attribute__((noinline)) static void sleep_on(void)
{
    pause();
}

static void *worker(void *unused)
{
    (void)unused;
    spin();
    return NULL;
}

static void *sleeper(void *unused)
{
    (void)unused;
    sleep_on();
    return NULL;
}

static void *waiter(void *own)
{
    pm_begin(*(struct pm_sentence *)own);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    struct pm_sentence load = pm_define_phase("load"), solve = pm_define_phase("solve"), store = pm_define_phase("store");
    struct pm_level level = pm_define_level("Requests", "Source");
    struct pm_noun noun = pm_define_noun(level, "r1", "request");
    struct pm_sentence request = pm_define_sentence(pm_define_verb(level, "Runs"), &noun, 1);
    pthread_t threads[3];
    pthread_mutex_lock(&mutex);
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, sleeper, NULL);
    pthread_create(&threads[2], NULL, waiter, &request);
    usleep(20000);
    pm_begin_process(load);
    usleep(15000);
    pm_end_process(load);
    pm_begin_process(solve);
    usleep(25000);
    pm_end_process(solve);
    pm_begin_process(store);
    pm_begin_process(solve);
    usleep(5000);
    over = 1;
    pthread_join(threads[0], NULL);
    pm_end_process(solve);
    pthread_mutex_unlock(&mutex);
    pthread_join(threads[2], NULL);
    usleep(5000);
    return 0; /* while the sleeper sleeps */
}
