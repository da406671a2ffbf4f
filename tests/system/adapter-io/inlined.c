/* What inlined functions write counts for main. */
#include <fcntl.h>
#include <unistd.h>
static char block[50000];
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
    head(fd);
    save(fd);
    close(fd);
    return 0;
}
