/* Spends its time in writing. */
#include <fcntl.h>
#include <unistd.h>
static char block[8192];

__attribute__((noinline)) static int save(int fd, int n)
{
    int failed = 0;
    for (int i = 0; i < n; i++)
        failed += write(fd, block, sizeof block) < 0;
    return failed;
}

int main(void)
{
    int fd = open("often.dat", O_CREAT | O_TRUNC | O_WRONLY, 0600), failed = 0;
    for (int i = 0; i < 700; i++) {
        failed += save(fd, 200);
        failed += lseek(fd, 0, SEEK_SET) < 0;
    }
    return failed != 0;
}
