/* A program in another language calls this as a library: `python3 -c` with ctypes; and the same file is a program. */
#include "truth.h"

void kernel(int n)
{
    BURN(n);
}

int main(void)
{
    for (int i = 0; i < 100; i++)
        kernel(600);
    truth("cpu_ms", PROCESS_MS());
    return 0;
}
