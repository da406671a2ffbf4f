/* dlmopen: code in namespaces of its own is measured as any other, several of them at a time. A
 * thread that another libc started has ended when it has, not when the process does. */
#define _GNU_SOURCE
#include "truth.h"
#include <dlfcn.h>

enum { N_TURNS = 100, N_NAMESPACES = 3 };

typedef void function(void);

NOINLINE static void here(void)
{
    BURN(200);
    AGAIN();
}

int main(void)
{
    for (int n = 0; n < N_NAMESPACES; n++) {
        void *first = dlmopen(LM_ID_NEWLM, "./namespaces_lib.so", RTLD_NOW);
        void *second = dlmopen(LM_ID_NEWLM, "./namespaces_lib.so", RTLD_NOW);
        function *outer = (function *)dlsym(first, "outer");
        function *in_a_thread = (function *)dlsym(second, "in_a_thread");
        if (n == 0)
            in_a_thread();
        for (int i = 0; i < N_TURNS; i++) {
            here();
            outer();
        }
        dlclose(second);
        dlclose(first);
    }
    truth("n_outer", N_NAMESPACES * N_TURNS);
    truth("n_inner", N_NAMESPACES * N_TURNS + 1);
    truth("here", 50);
    truth("outer", 50 * 0.75);
    truth("inner", 50 * 0.25);
    return 0;
}
