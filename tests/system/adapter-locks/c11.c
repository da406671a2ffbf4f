/* Threads and locks of C11, whose use is known: by name how often each is acquired, and which of them are waited for. */
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static mtx_t till, slow;
static cnd_t opened;
static once_flag made = ONCE_FLAG_INIT;
static int is_open, n_steps, n_made, n_come, n_waiting, has_tried;

static void rest(long ms)
{
    thrd_sleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

__attribute__((noinline)) static void step(void)
{
    mtx_lock(&till);
    n_steps++;
    mtx_unlock(&till);
}

static void wait_until(const int *count, int n)
{
    while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < n)
        rest(1);
}

/* The others have come by then. */
static void make(void)
{
    wait_until(&n_come, 3);
    rest(50);
    n_made++;
}

static int serve(void *data)
{
    __atomic_fetch_add(&n_come, 1, __ATOMIC_RELEASE);
    call_once(&made, make); /* three threads: two wait */
    mtx_lock(&till);
    n_waiting++;
    while (!is_open)
        cnd_wait(&opened, &till);
    mtx_unlock(&till);
    for (int i = 0; i < 100; i++)
        step();
    return data != NULL;
}

static int hold(void *data)
{
    (void)data;
    mtx_lock(&slow);
    __atomic_store_n(&is_open, 1, __ATOMIC_RELEASE);
    wait_until(&has_tried, 1);
    rest(60);
    mtx_unlock(&slow);
    return 0;
}

__attribute__((noinline)) static void starter(thrd_t threads[3])
{
    for (int i = 0; i < 3; i++)
        thrd_create(&threads[i], serve, NULL);
}

__attribute__((noinline)) static mtx_t *make_lock(void)
{
    mtx_t *lock = malloc(sizeof *lock);
    mtx_init(lock, mtx_plain);
    return lock;
}

int main(void)
{
    thrd_t threads[3], holder;
    mtx_init(&till, mtx_plain);
    mtx_init(&slow, mtx_timed);
    cnd_init(&opened);
    thrd_create(&holder, hold, NULL);
    wait_until(&is_open, 1);
    struct timespec soon;
    timespec_get(&soon, TIME_UTC);
    int late = mtx_timedlock(&slow, &soon), busy = mtx_trylock(&slow);
    __atomic_store_n(&has_tried, 1, __ATOMIC_RELEASE);
    int taken = mtx_lock(&slow);
    mtx_unlock(&slow);
    thrd_join(holder, NULL);
    is_open = 0;
    starter(threads);
    wait_until(&n_waiting, 3);
    rest(30);
    mtx_lock(&till);
    is_open = 1;
    cnd_broadcast(&opened);
    mtx_unlock(&till);
    for (int i = 0; i < 3; i++)
        thrd_join(threads[i], NULL);
    mtx_t *own = make_lock();
    for (int i = 0; i < 10; i++) {
        mtx_lock(own);
        mtx_unlock(own);
    }
    mtx_destroy(own);
    free(own);
    printf("%d %d %d, %d steps, made %d\n", late == thrd_timedout, busy == thrd_busy,
           taken == thrd_success, n_steps, n_made);
    return 0;
}
