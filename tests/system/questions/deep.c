/* 30 times, 10 calls within each other. */
static volatile int sink;
static void deep(int n)
{
    sink += n;
    if (n > 1)
        deep(n - 1);
}
int main(void)
{
    for (int i = 0; i < 30; i++)
        deep(10);
    return 0;
}
