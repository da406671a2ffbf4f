/* What inlined functions write; -DBUFFERED: by way of libc's FILEs, so that the call that writes is libc's. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static char block[50000];
#ifdef BUFFERED
static FILE *file;
#define write(fd, bytes, n) (fwrite(bytes, 1, n, file) == (n) ? fflush(file) : -1)
#endif
static void save(int fd)
{
    for (int i = 0; i < 10; i++)
        if (write(fd, block, 1000) < 0)
            return;
    if (write(fd, block, 50000) < 0)
        _exit(1);
}
static void head(int fd)
{
    if (write(fd, block, 7000) < 0)
        _exit(1);
}
/* Is not there, so nothing is inlined at -O0. */
__attribute__((unused)) static int unused(int fd)
{
    return fd + 1;
}
int main(void)
{
    int fd = open("out.dat", O_CREAT | O_TRUNC | O_WRONLY, 0600);
#ifdef BUFFERED
    file = fdopen(fd, "w");
#endif
    head(fd);
    save(fd);
    close(fd);
    return 0;
}
