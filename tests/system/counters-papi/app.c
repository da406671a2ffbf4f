/* Prints what it counted itself, by function and by loop: lines "WHAT STONES BRICKS". */
#include "toy.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct count {
    long long stones, bricks;
} in_lay, in_wall, in_first, in_second, in_float, in_child;

__attribute__((noinline)) static void lay(struct count *count, int n)
{
    toy_stones(n);
    toy_bricks(2 * n);
    count->stones += n;
    count->bricks += 2 * n;
}

__attribute__((noinline)) static void wall(int n)
{
    toy_stones(5);
    in_wall.stones += 5;
    lay(&in_lay, n);
}

/* Arguments in vector registers go through the probe. */
__attribute__((noinline)) static double weigh(double a, double b, float c)
{
    toy_stones(7);
    in_float.stones += 7;
    return a * b + c;
}

__attribute__((noinline)) static void loops(void)
{
    for (int i = 0; i < 300; i++) {
        toy_bricks(1);
        in_first.bricks++;
    }
    for (int i = 0; i < 100; i++) {
        toy_bricks(7);
        in_second.bricks += 7;
    }
}

static void *thread(void *data)
{
    (void)data;
    for (int i = 0; i < 50; i++)
        wall(2);
    return NULL;
}

int main(int argc, char **argv)
{
    double weight = 0;
    toy_begin();
    for (int i = 0; i < 100; i++)
        wall(i);
    for (int i = 0; i < 20; i++)
        weight += weigh(i, 0.5, 1.25f);
    loops();
    if (argc > 1 && !strcmp(argv[1], "threads")) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, thread, NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
    if (argc > 1 && !strcmp(argv[1], "fork")) {
        fflush(stdout);
        if (fork() == 0) {
            lay(&in_child, 1000);
            _exit(0);
        }
        wait(NULL);
    }
    if (weight != 20 * 19 / 2 * 0.5 + 20 * 1.25)
        return 1;
    printf("lay %lld %lld\n", in_lay.stones, in_lay.bricks);
    printf("wall %lld %lld\n", in_wall.stones, in_wall.bricks);
    printf("weigh %lld %lld\n", in_float.stones, in_float.bricks);
    printf("first %lld %lld\n", in_first.stones, in_first.bricks);
    printf("second %lld %lld\n", in_second.stones, in_second.bricks);
    printf("total %lld %lld\n", toy_n_stones, toy_n_bricks);
    return 0;
}
