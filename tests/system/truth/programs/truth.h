/* What the programs of this folder share: work of known amount, clocks, and the lines with which a
 * program prints its own truth.
 *
 *     BURN(300);                          // 300 units, here: own time of the code around it
 *     truth("burnt", 300);                // prints "truth burnt = 300"
 *
 * A unit is a chain of 4096 dependent multiplications: it takes the same time at every level, in every
 * compiler and at every address, and has no loop of its own in the eyes of the compiler. About 4 us.
 * Names are added up when a program (its threads, its processes) prints them several times. */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#if defined __x86_64__
#define BURN(n)                                                                                    \
    do {                                                                                           \
        uint64_t burn_count = (uint64_t)(n)*1024;                                                  \
        uint64_t burn_value = burn_count | 1;                                                      \
        __asm__ volatile("test %0, %0\n\tjz 2f\n"                                                  \
                         "1:\timul %1, %1\n\timul %1, %1\n\timul %1, %1\n\timul %1, %1\n\t"        \
                         "dec %0\n\tjnz 1b\n2:"                                                    \
                         : "+r"(burn_count), "+r"(burn_value)                                      \
                         :                                                                         \
                         : "cc");                                                                  \
    } while (0)
#elif defined __aarch64__
#define BURN(n)                                                                                    \
    do {                                                                                           \
        uint64_t burn_count = (uint64_t)(n)*1024;                                                  \
        uint64_t burn_value = burn_count | 1;                                                      \
        __asm__ volatile("cbz %0, 2f\n"                                                            \
                         "1:\tmul %1, %1, %1\n\tmul %1, %1, %1\n\tmul %1, %1, %1\n\t"              \
                         "mul %1, %1, %1\n\tsub %0, %0, #1\n\tcbnz %0, 1b\n2:"                     \
                         : "+r"(burn_count), "+r"(burn_value));                                    \
    } while (0)
#else
#error "no BURN for this processor"
#endif

/* Work that is repeated is done each time. */
#define AGAIN() __asm__ volatile("" ::: "memory")
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

/* On standard error, in one write: standard output may be a pipe to the next program. */
__attribute__((unused)) static void truth(const char *name, double value)
{
    char line[128];
    int length = snprintf(line, sizeof line, "truth %s = %.17g\n", name, value);
    fwrite(line, 1, (size_t)length, stderr);
}

__attribute__((unused)) static double clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* CPU time of this thread, of this process; wall time */
#define THREAD_MS() clock_ms(CLOCK_THREAD_CPUTIME_ID)
#define PROCESS_MS() clock_ms(CLOCK_PROCESS_CPUTIME_ID)
#define WALL_MS() clock_ms(CLOCK_MONOTONIC)

#endif
