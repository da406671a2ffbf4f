/* Libraries that come and go while the program runs: again and again, at each other's addresses, and in another thread. */
#include "truth.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static double units[7]; /* first_inner, first_comes, first_goes, second_inner, second_outer, back, steady */
static long n_back;

NOINLINE static void back(int n)
{
    __atomic_add_fetch(&n_back, 1, __ATOMIC_RELAXED);
    BURN(n);
}

NOINLINE static void with_first(int n)
{
    void *library = dlopen("./loads_first.so", RTLD_NOW | RTLD_LOCAL);
    int (*serve)(void (*)(int), int) = (int (*)(void (*)(int), int))dlsym(library, "serve");
    serve(back, n);
    AGAIN();
    dlclose(library);
}

NOINLINE static void with_second(int n)
{
    void *library = dlopen("./loads_second.so", RTLD_LAZY | RTLD_GLOBAL);
    int (*serve)(void (*)(int), int) = (int (*)(void (*)(int), int))dlsym(library, "serve");
    serve(back, n);
    AGAIN();
    dlclose(library);
}

NOINLINE static void steady(int n)
{
    BURN(n);
}

static void *in_thread(void *unused)
{
    for (int i = 0; i < 4; i++) {
        with_first(100);
        steady(300);
    }
    return unused;
}

int main(void)
{
    for (int i = 0; i < 12; i++) {
        with_first(150);
        with_second(200);
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
        return 1;
    for (int i = 0; i < 8; i++) {
        with_second(125);
        steady(250);
    }
    pthread_join(thread, NULL);
    long loads = 12 + 4;
    long n_first = 12L * 150 + 4 * 100;
    long n_second = 12L * 200 + 8 * 125;
    units[0] = 4.0 * n_first;
    units[1] = 200.0 * loads;
    units[2] = 150.0 * loads;
    units[3] = 7.0 * n_second;
    units[4] = 9.0 * n_second;
    units[5] = 2.0 * n_first + 5.0 * n_second;
    units[6] = 300.0 * 4 + 250.0 * 8;
    double all = 3.0 * n_first + units[0] + units[1] + units[2] + units[4] + units[5] + units[6];
    truth("first_inner", 100 * units[0] / all);
    truth("first_comes", 100 * units[1] / all);
    truth("first_goes", 100 * units[2] / all);
    truth("second_inner", 100 * units[3] / all);
    truth("second_outer", 100 * units[4] / all);
    truth("back", 100 * units[5] / all);
    truth("steady", 100 * units[6] / all);
    truth("with_first", 100 * (9.0 * n_first + units[1] + units[2]) / all);
    truth("with_second", 100 * 14.0 * n_second / all);
    truth("loop_of_first", 100 * 9.0 * n_first / all);
    truth("n_first_inner", (double)n_first);
    truth("n_second_inner", (double)n_second);
    truth("n_back", (double)n_back);
    truth("n_comes", (double)loads);
    return 0;
}
