/* The portable mode by hand: what -fplugin-arg-perfmap-portable leaves. More nouns than fit one
 * OBJECT chunk. */
#include "../../../format/pm_sled.h"
#include "../../runtime/sleds.h"

#include <stdio.h>

static struct pm_portable_hook hook
    __attribute__((section("__perfmap_hooks"), used)) = {PM_HOOK_VERSION, sizeof hook, 0};

#define EVENT(kind, id, depth)                                       \
    do {                                                             \
        if (*(void *volatile *)&hook.event != NULL)                  \
            hook.event(kind, id, __builtin_frame_address(0), depth); \
    } while (0)

__attribute__((noinline)) static long fib(long n)
{
    EVENT(PM_SLED_ENTRY, 0x1, 0);
    long result = n < 2 ? n : fib(n - 1) + fib(n - 2);
    EVENT(PM_SLED_RETURN, 0x1, 0);
    return result;
}

__attribute__((noinline)) static long one_of_many(long n)
{
    EVENT(PM_SLED_ENTRY, 0x1000 + (unsigned long)n, 0);
    long result = 0;
    EVENT(PM_SLED_LOOP_ENTER, 0x2, 1);
    for (long i = 0; i < 3; i++) {
        EVENT(PM_SLED_LOOP_ENTER, 0x3, 2);
        result += fib(1);
        EVENT(PM_SLED_LOOP_LEAVE, 0x3, 2);
    }
    EVENT(PM_SLED_LOOP_LEAVE, 0x2, 1);
    EVENT(PM_SLED_RETURN, 0x1000 + (unsigned long)n, 0);
    return result;
}

#ifdef MIXED /* with another translation unit that has sleds */
PM_TEST_FUNCTION(with_sleds, 0x9);
long with_sleds(long n);
long with_sleds_body(long n);
long with_sleds_body(long n)
{
    return fib(n);
}
#else
#define with_sleds fib
#endif

int main(void)
{
    long sum = with_sleds(10);
    for (long n = 0; n < 2500; n++)
        sum += one_of_many(n);
    printf("%ld\n", sum);
    return 0;
}
