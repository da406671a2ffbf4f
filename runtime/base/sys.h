/* System calls without libc: no errno, no cancellation, no interposition by others, no vector
 * registers. Results are those of the kernel: negative error numbers. Signal safe. */
#ifndef PM_RUNTIME_SYS_H
#define PM_RUNTIME_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* The program has confined itself by seccomp: what that does not allow is not called. Negative:
 * the error number instead; 0: it is allowed (confine.c). Exported for libperfmap-heap.so. */
extern bool pm_confined;
long pm_confined_refusal(long number, const long arguments[6]);

#if defined(__x86_64__)
static inline long pm_sys6_free(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline long pm_sys6_free(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#include <errno.h>
#include <unistd.h>
static inline long pm_sys6_free(long number, long a, long b, long c, long d, long e, long f)
{
    int saved = errno;
    long result = syscall(number, a, b, c, d, e, f);
    if (result == -1)
        result = -errno;
    errno = saved;
    return result;
}
#endif

static inline long pm_sys6(long number, long a, long b, long c, long d, long e, long f)
{
    if (__builtin_expect(pm_confined, 0)) {
        long refusal = pm_confined_refusal(number, (const long[6]){a, b, c, d, e, f});
        if (refusal != 0)
            return refusal;
    }
    return pm_sys6_free(number, a, b, c, d, e, f);
}

#define pm_sys(number, ...) pm_sys_(number __VA_OPT__(, ) __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define pm_sys_(number, a, b, c, d, e, f, ...) \
    pm_sys6((number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Set at start where RLIMIT_AS is. */
extern bool pm_memory_is_tight;
/* What mmap returned. The last memory is the program's: where it is tight and hardly any would
 * be left, it is given back. NULL: none. */
void *pm_mapped(long address, size_t bytes);

/* Addresses of an array that grows in place, as pm_make_room() is asked: RLIMIT_DATA counts all
 * that may be written, touched or not. NULL: none are to be had. */
static inline void *pm_reserve(size_t bytes)
{
    return pm_mapped(
        pm_sys(SYS_mmap, 0, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
        bytes);
}

/* Zeroed; what is there stays. */
static inline bool pm_make_room(void *reserved, size_t bytes)
{
    return pm_sys(SYS_mprotect, reserved, bytes, PROT_READ | PROT_WRITE) == 0;
}

/* Zeroed pages of the process's own, to be given back by munmap; NULL: none are to be had. */
static inline void *pm_private_memory(size_t bytes)
{
    return pm_mapped(pm_sys(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
                     bytes);
}

#endif
