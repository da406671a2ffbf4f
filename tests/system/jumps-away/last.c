/* Functions whose last act is a call of the library: from -O2 on a jump. */
#include <string.h>

static char buffer[1 << 18];
void *(*volatile setter)(void *, int, size_t) = memset;

__attribute__((noinline)) static void *fill(int with)
{
    __asm__ volatile("" ::: "memory");
    return memset(buffer, with, sizeof buffer);
}

__attribute__((noinline)) static void *fill_by(int with)
{
    __asm__ volatile("" ::: "memory");
    return setter(buffer, with, sizeof buffer);
}

__attribute__((noinline)) static void call_both(void)
{
    for (int i = 0; i < 10000; i++) {
        fill(i);
        fill_by(i);
    }
}

__attribute__((noinline)) static void *fill_little(int with)
{
    __asm__ volatile("" ::: "memory");
    return memset(buffer, with, 64);
}

__attribute__((noinline)) static void call_little(void)
{
    fill_little(1);
    fill_little(2);
}

int main(void)
{
    call_little();
    call_both();
    return 0;
}
