/* The memory functions that compilers call by themselves. Ours, hidden: code below a probe must not
 * touch vector registers, and libc's versions do. Speed is of no concern. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *text);

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
#if defined(__x86_64__)
    void *start = to;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
    return start;
#else
    for (size_t i = 0; i < n; i++)
        ((volatile uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    return to;
#endif
}

void *memmove(void *to, const void *from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    if (t <= f)
        for (size_t i = 0; i < n; i++)
            ((volatile uint8_t *)t)[i] = f[i];
    else
        while (n-- > 0)
            ((volatile uint8_t *)t)[n] = f[n];
    return to;
}

void *memset(void *to, int byte, size_t n)
{
#if defined(__x86_64__)
    void *start = to;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
    return start;
#else
    for (size_t i = 0; i < n; i++)
        ((volatile uint8_t *)to)[i] = (uint8_t)byte;
    return to;
#endif
}

int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *p = a, *q = b;
    for (size_t i = 0; i < n; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

size_t strlen(const char *text)
{
    size_t n = 0;
    while (((const volatile char *)text)[n] != 0)
        n++;
    return n;
}
