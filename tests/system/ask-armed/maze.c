/* Functions and loops that call each other in many orders, by recursion, in two threads, some of them inlined, and words of its own. The same
 * each time. */
#include <perfmap.h>
#include <pthread.h>
#include <stdio.h>

static volatile unsigned sink;
static struct pm_sentence work;

static void deep(unsigned n);
__attribute__((noinline)) static void leaf(unsigned n)
{
    sink += n;
}

static inline void folded(unsigned n) /* inlined where the compiler likes */
{
    for (unsigned i = 0; i < 2; i++)
        leaf(n + i);
}

__attribute__((noinline)) static void left(unsigned n)
{
    folded(n);
    for (unsigned i = 0; i < 3; i++)
        if (n)
            deep(n - 1);
}

__attribute__((noinline)) static void right(unsigned n)
{
    for (unsigned i = 0; i < 2; i++) {
        leaf(i);
        for (unsigned k = 0; k < n; k++)
            sink += k;
    }
    folded(n);
    if (n)
        left(n - 1);
}

__attribute__((noinline)) static void deep(unsigned n)
{
    if (n % 2)
        left(n);
    else
        right(n);
}

__attribute__((noinline)) static void *start(void *argument)
{
    unsigned n = (unsigned)(unsigned long)argument;
    pm_enter(work);
    deep(n);
    pm_leave(work);
    right(n + 1);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct pm_level level = pm_define_level("Maze", "Source");
    struct pm_noun noun = pm_define_noun(level, "walk", "way");
    work = pm_define_sentence(pm_define_verb(level, "Walks"), &noun, 1);
    (void)start((void *)4);
    pthread_create(&thread, NULL, start, (void *)5);
    pthread_join(thread, NULL);
    printf("%u\n", sink);
    return 0;
}
