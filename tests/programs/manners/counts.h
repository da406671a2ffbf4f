/* Programs that tell the truth about themselves: each counts its own calls in a file that outlives it, shared by all its processes.
 *
 *     #define NAMES(x) x(leaf) x(work)
 *     #include "counts.h"
 *     static long leaf(long n) { COUNT(leaf); return n; }
 *
 * A name is that of a function that is called by one name only. The file is $MANNERS_COUNTS; without it the counts are the process's own.
 * COUNT is safe in threads, signal handlers and vfork children. */
#ifndef COUNTS_H
#define COUNTS_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct count {
    char name[24];
    long n;
};

#define COUNTS_ENUM(name) count_of_##name,
#define COUNTS_TEXT(name) #name,
enum { NAMES(COUNTS_ENUM) n_counts };
static const char *const count_names[] = {NAMES(COUNTS_TEXT)};
static struct count *counts;

#define COUNT(name) ((void)__atomic_fetch_add(&counts[count_of_##name].n, 1, __ATOMIC_RELAXED))
/* Whoever runs the program writes here that it shall end. */
#define STOP (__atomic_load_n(&counts[100].n, __ATOMIC_RELAXED) != 0)
#define SEPARATE __attribute__((noinline, noclone))

__attribute__((constructor)) static void counts_open(void)
{
    const char *path = getenv("MANNERS_COUNTS");
    int fd = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    int flags = fd >= 0 ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS;
    if (fd >= 0 && ftruncate(fd, 4096) != 0)
        _exit(99);
    counts = (struct count *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (counts == MAP_FAILED)
        _exit(99);
    for (int i = 0; i < n_counts; i++)
        strncpy(counts[i].name, count_names[i], sizeof counts[i].name - 1);
    if (fd >= 0)
        close(fd);
}

/* Ends the program when it does not behave as it should. */
#define CHECK(good)                                                                \
    do {                                                                           \
        if (!(good)) {                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #good);     \
            fflush(NULL);                                                          \
            _exit(98);                                                             \
        }                                                                          \
    } while (0)

struct a_case {
    const char *name;
    int (*run)(void);
};

static int run_case(const struct a_case *cases, size_t n, int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < n; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            return cases[i].run();
    return 97;
}
#define RUN_CASE(cases, argc, argv) run_case(cases, sizeof(cases) / sizeof *(cases), argc, argv)

#endif
