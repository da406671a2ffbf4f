/* One process of a pipeline: makes, passes on or eats lines, with work of known amount. */
#include "truth.h"

#include <stdlib.h>
#include <string.h>

static char line[256];

NOINLINE static void make(int n)
{
    for (int i = 0; i < n; i++) {
        BURN(20);
        printf("line %d\n", i);
    }
}

NOINLINE static void pass(void)
{
    while (fgets(line, sizeof line, stdin)) {
        BURN(60);
        fputs(line, stdout);
    }
}

NOINLINE static void eat(void)
{
    while (fgets(line, sizeof line, stdin))
        BURN(40);
}

int main(int argc, char **argv)
{
    const char *role = argc > 1 ? argv[1] : "make";
    if (strcmp(role, "make") == 0)
        make(1500);
    else if (strcmp(role, "pass") == 0)
        pass();
    else
        eat();
    fflush(stdout);
    char name[32];
    snprintf(name, sizeof name, "%s_ms", role);
    truth(name, PROCESS_MS());
    truth("cpu_ms", PROCESS_MS());
    return 0;
}
