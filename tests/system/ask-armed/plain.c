/* Leaves a file when it was started. */
#include <stdio.h>

__attribute__((noinline)) static void place(void)
{
    FILE *file = fopen("started", "w");
    if (file)
        fclose(file);
}

int main(void)
{
    place();
    return 0;
}
