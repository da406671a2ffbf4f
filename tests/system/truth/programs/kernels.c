/* Time in the kernel: of system calls below libc's functions, and of pages that are touched first. Also without the plugin. */
#define _GNU_SOURCE
#include "truth.h"

#include <sys/mman.h>
#include <unistd.h>

static char block[1 << 16];

NOINLINE static long reader(int fd)
{
    long sum = 0;
    for (int i = 0; i < 200; i++)
        sum += pread(fd, block, sizeof block, 0); /* @read */
    return sum;
}

NOINLINE static long writer(int fd)
{
    long sum = 0;
    for (int i = 0; i < 100; i++)
        sum += pwrite(fd, block, sizeof block, 0); /* @write */
    return sum;
}

NOINLINE static long toucher(void)
{
    enum { BYTES = 1 << 20, PAGE = 4096 };
    long sum = 0;
    char *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long at = 0; at < BYTES; at += PAGE)
        sum += ++pages[at]; /* @touch */
    munmap(pages, BYTES);
    return sum;
}

NOINLINE static void computes(void)
{
    BURN(500);
}

int main(void)
{
    double ms[4] = {0}, all = THREAD_MS(), start, end;
    long sum = 0;
    int fd = memfd_create("truth", 0);
    sum += pwrite(fd, block, sizeof block, 0);
    while (THREAD_MS() - all < 600) {
        start = THREAD_MS();
        sum += reader(fd);
        ms[0] += (end = THREAD_MS()) - start;
        sum += writer(fd);
        ms[1] += (start = THREAD_MS()) - end;
        for (int i = 0; i < 4; i++)
            sum += toucher();
        ms[2] += (end = THREAD_MS()) - start;
        computes();
        ms[3] += THREAD_MS() - end;
    }
    all = THREAD_MS() - all;
    truth("reading", 100 * ms[0] / all);
    truth("writing", 100 * ms[1] / all);
    truth("touching", 100 * ms[2] / all);
    truth("computing", 100 * ms[3] / all);
    truth("cpu_ms", PROCESS_MS());
    return sum == 0;
}
