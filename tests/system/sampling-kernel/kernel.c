/* Time in the kernel: by calls that last long, by page faults, and none; each function prints its share of the CPU time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static char block[1 << 20];

__attribute__((noinline, noclone)) static void calls(int zero)
{
    for (int i = 0; i < 4000; i++)
        if (read(zero, block, sizeof block) < 0)
            return;
}

__attribute__((noinline, noclone)) static void faults(void)
{
    for (int i = 0; i < 300; i++) {
        char *p = mmap(NULL, sizeof block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return;
        for (size_t k = 0; k < sizeof block; k += 4096)
            p[k] = 1;
        munmap(p, sizeof block);
    }
}

__attribute__((noinline, noclone)) static unsigned computes(unsigned x)
{
    for (unsigned i = 0; i < 60000000; i++)
        x = x * 1664525u + 1013904223u;
    return x;
}

int main(void)
{
    int zero = open("/dev/zero", O_RDONLY);
    double start = cpu_ms();
    calls(zero);
    double called = cpu_ms();
    faults();
    double faulted = cpu_ms();
    unsigned x = computes(1);
    double end = cpu_ms(), all = (end - start) / 100;
    printf("calls %f\nfaults %f\ncomputes %f\n", (called - start) / all, (faulted - called) / all, (end - faulted) / all);
    return x == 42;
}
