/* Loaded into a namespace of its own, which has a libc of its own: so have its threads. */
#include "truth.h"
#include <pthread.h>

NOINLINE static void inner(void)
{
    AGAIN();
    BURN(50);
}

NOINLINE void outer(void)
{
    BURN(150);
    inner();
    AGAIN();
}

static void *apart(void *nothing)
{
    inner();
    return nothing;
}

void in_a_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, apart, NULL);
    pthread_join(thread, NULL);
}
