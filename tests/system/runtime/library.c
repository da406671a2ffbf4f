/* Loaded and unloaded by guest.cc; its constructor runs within dlopen. With -DPORTABLE it has hooks instead of sleds. */
#include "../../runtime/sleds.h"

#ifdef PORTABLE
#include "../../../format/pm_sled.h"

#include <stddef.h>

static struct pm_portable_hook hook
    __attribute__((section("__perfmap_hooks"), used)) = {PM_HOOK_VERSION, sizeof hook, 0};

static void event(unsigned kind, unsigned long id, const void *frame)
{
    if (*(void *volatile *)&hook.event != NULL)
        hook.event(kind, id, frame, 0);
}

__attribute__((noinline)) static void library_start(void)
{
    event(PM_SLED_ENTRY, 0x72, __builtin_frame_address(0));
    event(PM_SLED_RETURN, 0x72, __builtin_frame_address(0));
}

long library_function(long x);
long library_function(long x)
{
    event(PM_SLED_ENTRY, 0x71, __builtin_frame_address(0));
    event(PM_SLED_RETURN, 0x71, __builtin_frame_address(0));
    return x + 1;
}
#else
PM_TEST_FUNCTION(library_function, 0x71);
long library_function(long x);
long library_function_body(long x);
long library_function_body(long x)
{
    return x + 1;
}

PM_TEST_FUNCTION(library_start, 0x72);
void library_start(void);
void library_start_body(void);
void library_start_body(void) {}
#endif

__attribute__((constructor)) static void at_load(void)
{
    library_start();
}
