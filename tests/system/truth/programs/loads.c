/* Libraries that come and go while the program runs: again and again, at each other's addresses, and in another thread. */
#include "truth.h"

#include <dlfcn.h>
#include <pthread.h>

static long n_back;

NOINLINE static void back(int n)
{
    __atomic_add_fetch(&n_back, 1, __ATOMIC_RELAXED);
    BURN(n);
}

NOINLINE static void load_and_serve(const char *path, int flags, int n)
{
    void *library = dlopen(path, flags);
    int (*serve)(void (*)(int), int) = (int (*)(void (*)(int), int))dlsym(library, "serve");
    serve(back, n);
    dlclose(library);
}

NOINLINE static void with_first(int n)
{
    load_and_serve("./loads_first.so", RTLD_NOW | RTLD_LOCAL, n);
    AGAIN();
}

NOINLINE static void with_second(int n)
{
    load_and_serve("./loads_second.so", RTLD_LAZY | RTLD_GLOBAL, n);
    AGAIN();
}

NOINLINE static void steady(int n)
{
    BURN(n);
}

static void *in_thread(void *unused)
{
    for (int i = 0; i < 4; i++) {
        with_first(200);
        steady(600);
    }
    return unused;
}

int main(void)
{
    for (int i = 0; i < 12; i++) {
        with_first(300);
        with_second(400);
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
        return 1;
    for (int i = 0; i < 8; i++) {
        with_second(250);
        steady(500);
    }
    pthread_join(thread, NULL);
    long loads = 12 + 4;
    long n_first = 12L * 300 + 4 * 200;
    long n_second = 12L * 400 + 8 * 250;
    double comes = 400.0 * loads, goes = 300.0 * loads, steadily = 600.0 * 4 + 500.0 * 8;
    double first = 9.0 * n_first + comes + goes, second = 14.0 * n_second;
    double all = first + second + steadily;
    truth("first_inner", 100 * 4.0 * n_first / all);
    truth("first_comes", 100 * comes / all);
    truth("first_goes", 100 * goes / all);
    truth("second_inner", 100 * 7.0 * n_second / all);
    truth("second_outer", 100 * 9.0 * n_second / all);
    truth("back", 100 * (2.0 * n_first + 5.0 * n_second) / all);
    truth("steady", 100 * steadily / all);
    truth("with_first", 100 * first / all);
    truth("with_second", 100 * second / all);
    truth("n_first_inner", (double)n_first);
    truth("n_second_inner", (double)n_second);
    truth("n_back", (double)n_back);
    truth("n_comes", (double)loads);
    return 0;
}
