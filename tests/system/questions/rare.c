/* Inlined code and data that run once: no sample meets them, unless by chance. never() is not called. */
static int square(int x)
{
    return x * x + 1;
}
static double table[100];
static int cells[64];
__attribute__((noinline)) void never(void)
{
    table[9] = 7;
}
__attribute__((noinline)) static void set(int *at, int n, int value)
{
    for (int i = 0; i < n; i++)
        at[i] = value;
}
/* As long as many samples are apart. */
__attribute__((noinline)) static void burn(void)
{
    volatile double sum = 0;
    for (int i = 0; i < 40000000; i++)
        sum += i * 0.5;
}
int main(int argc, char **argv)
{
    (void)argv;
    set(cells, 64, argc);
    table[argc % 100] = argc;
    if (argc > 1)
        burn();
    if (argc > 9)
        never();
    return square(argc) + cells[argc] + (int)table[argc] == 0;
}
