/* a() writes 8 MiB to one file, b() 4 MiB to another and syncs it, c() a third through stdio, shared_a() and shared_b() 3 : 1 of
 * another. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20, BLOCK = 1 << 16 };
static char block[BLOCK];

static int write_bytes(const char *name, long bytes, int flags)
{
    int fd = open(name, O_CREAT | O_WRONLY | flags, 0644);
    for (long i = 0; i < bytes && fd >= 0; i += BLOCK)
        if (write(fd, block, BLOCK) != BLOCK)
            return -1;
    return fd;
}

__attribute__((noinline)) static int a(void)
{
    return close(write_bytes("a.dat", 8L * MIB, O_TRUNC));
}

__attribute__((noinline)) static int b(void)
{
    int fd = write_bytes("b.dat", 4L * MIB, O_TRUNC);
    return fsync(fd) || close(fd);
}

__attribute__((noinline)) static int c(void)
{
    FILE *out = fopen("c.dat", "w");
    for (int i = 0; i < 100000 && out; i++)
        fprintf(out, "line %07d\n", i);
    return out ? fclose(out) : -1;
}

__attribute__((noinline)) static int shared_a(void)
{
    return close(write_bytes("shared.dat", 3L * MIB, O_TRUNC));
}

__attribute__((noinline)) static int shared_b(void)
{
    return close(write_bytes("shared.dat", 1L * MIB, O_APPEND));
}

/* Pages of the middle, again: the kernel writes two, whatever the size of its folios. */
__attribute__((noinline)) static int again(void)
{
    int fd = open("b.dat", O_WRONLY);
    return pwrite(fd, "y", 1, 100000) != 1 || pwrite(fd, "y", 1, 3000000) != 1 || fsync(fd) ||
           close(fd);
}

int main(void)
{
    memset(block, 'x', sizeof block);
    int failed = a() || b() || c() || shared_a() || shared_b() || again();
    sync(); /* a thread of the kernel writes what is left */
    return failed;
}
