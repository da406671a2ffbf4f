/* Threads that leave by a bare system call, which runs no destructors: they have ended long before
 * the process, and nothing was spent in them since. */
#define _GNU_SOURCE
#include "truth.h"
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

NOINLINE static void in_thread(void)
{
    BURN(500);
    AGAIN();
}

NOINLINE static void in_main(void)
{
    AGAIN();
    BURN(500);
}

static void *leaves(void *id)
{
    for (int i = 0; i < 20; i++)
        in_thread();
    __atomic_store_n((long *)id, syscall(SYS_gettid), __ATOMIC_RELEASE);
    syscall(SYS_exit, 0);
    return NULL;
}

int main(void)
{
    for (int k = 0; k < 3; k++) {
        pthread_t thread;
        long id = 0;
        pthread_create(&thread, NULL, leaves, &id);
        while (__atomic_load_n(&id, __ATOMIC_ACQUIRE) == 0)
            usleep(1000);
        while (syscall(SYS_tgkill, getpid(), id, 0) == 0)
            usleep(1000);
    }
    for (int i = 0; i < 140; i++)
        in_main();
    truth("leaves", 0);
    return 0;
}
