/* main -> outer (100) -> timed (100 each) -> tiny (10 each) and left_out (once each): 100, 10
 * 000, 100 000, 10 000 calls. */
static volatile int sink;

__attribute__((noinline)) static void tiny(int n)
{
    sink += n;
}

__attribute__((noinline)) static void left_out(int n)
{
    sink -= n;
}

__attribute__((noinline)) static void timed(int n)
{
    for (int i = 0; i < 10; i++)
        tiny(i + n);
    left_out(n);
    sink++;
}

__attribute__((noinline)) static void outer(int n)
{
    for (int i = 0; i < 100; i++)
        timed(i + n);
    sink++;
}

int main(void)
{
    for (int i = 0; i < 100; i++)
        outer(i);
    return 0;
}
