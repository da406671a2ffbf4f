/* Two libraries that dlopen() loads: the second has a function of the first (RTLD_GLOBAL), and stands in for it. The first jumps to it, as
 * the last call of a function; so it does to one of its own. */
#include "truth.h"

#include <dlfcn.h>

int main(void)
{
    void *first = dlopen("./replaced_first.so", RTLD_LAZY | RTLD_LOCAL);
    if (!first)
        return 1;
    void (*calls_deed)(int) = (void (*)(int))dlsym(first, "calls_deed");
    void (*calls_own)(int) = (void (*)(int))dlsym(first, "calls_own");
    if (!dlopen("./replaced_second.so", RTLD_LAZY | RTLD_GLOBAL))
        return 1;
    for (int i = 0; i < 10000; i++) {
        calls_deed(2);
        calls_own(3);
    }
    truth("calls_deed", 100.0 * (1 + 6) / 11);
    truth("deed", 100.0 * 6 / 11);
    truth("calls_own", 100.0 * (1 + 3) / 11);
    truth("n_calls", 10000);
    return 0;
}
