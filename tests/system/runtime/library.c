/* Loaded and unloaded by guest.cc; its constructor runs within dlopen. */
#include "../../runtime/sleds.h"

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

__attribute__((constructor)) static void at_load(void)
{
    library_start();
}
