/* What PerfMap does while a library is loaded and unloaded is no time of who asks for that. */
#include "truth.h"

#include <dlfcn.h>

static void back(int n)
{
    BURN(n);
}

static double loading_ms;

NOINLINE static void load(void)
{
    double begun_ms = THREAD_MS();
    void *library = dlopen("./loads_third.so", RTLD_NOW | RTLD_LOCAL);
    int (*serve)(void (*)(int), int) = (int (*)(void (*)(int), int))dlsym(library, "serve");
    double loaded_ms = THREAD_MS();
    serve(back, 50);
    double served_ms = THREAD_MS();
    dlclose(library);
    loading_ms += loaded_ms - begun_ms + THREAD_MS() - served_ms;
}

int main(void)
{
    double begun_ms = THREAD_MS();
    for (int i = 0; i < 100; i++)
        load();
    double all_ms = THREAD_MS() - begun_ms;
    truth("loading", 100 * loading_ms / all_ms);
    truth("serving", 100 - 100 * loading_ms / all_ms);
    return 0;
}
