/* Reads 50 bytes, and in again() 7 times 10. */
#include <fcntl.h>
#include <unistd.h>

static char bytes[100];

__attribute__((noinline)) static void again(int fd)
{
    for (int i = 0; i < 7; i++)
        if (pread(fd, bytes, 10, 0) != 10)
            _exit(1);
}

int main(void)
{
    int fd = open("file", O_RDONLY);
    if (read(fd, bytes, 50) != 50)
        return 1;
    again(fd);
    return close(fd);
}
