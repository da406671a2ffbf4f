/* Calls out of the file, and static functions that are inlined, split or cloned. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int repeat(int n, int what)
{
    int s = 0;
    for (int i = 0; i < n; i++) /* loop */
        s += what ^ i;
    return s;
}

static __attribute__((noinline)) int cloned(int n, int one)
{
    int s = 0;
    while (n-- > 0) /* loop */
        s += one * n;
    return s;
}

static int recursive(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) /* loop */
        s += recursive(i) + 1;
    return s;
}

static int tail(int n, int s)
{
    if (n == 0)
        return s;
    return tail(n - 1, s * 3 + n);
}

int main(int argc, char **argv)
{
    char *copy = malloc(strlen(argv[0]) + 1);
    memcpy(copy, argv[0], strlen(argv[0]) + 1);
    int fd = open("/dev/null", O_WRONLY);
    if (write(fd, copy, 1) != 1)
        puts("not written");
    close(fd);
    free(copy);
    int sum = 0;
    for (int i = 0; i < argc; i++) /* loop */
        sum += repeat(i, argc) + cloned(i, 1);
    return repeat(argc, 3) + cloned(argc, 1) + recursive(argc) + tail(argc, sum) == 12345;
}
