/* 40 processes, each with 1092 call paths, which call `extra` 1, 2, ... 40 times. */
#include <sys/wait.h>
#include <unistd.h>

enum { N_PROCESSES = 40, DEPTH = 6 };

static volatile int n;

__attribute__((noinline)) static void extra(void)
{
    n++;
}

static void all(int depth);

#define WALK(name)                                        \
    __attribute__((noinline)) static void name(int depth) \
    {                                                     \
        all(depth - 1);                                   \
        n++;                                              \
    }
WALK(left)
WALK(middle)
WALK(right)

__attribute__((always_inline)) static inline void all(int depth)
{
    if (depth == 0)
        return;
    left(depth);
    middle(depth);
    right(depth);
}

int main(void)
{
    for (int i = 1; i <= N_PROCESSES; i++) {
        pid_t child = fork();
        if (child == 0) {
            all(DEPTH);
            for (int k = 0; k < i; k++)
                extra();
            _exit(0);
        }
        waitpid(child, 0, 0);
    }
    return 0;
}
