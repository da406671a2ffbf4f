struct cell {
    long value;
    void add(long by)
    {
        value += by;
    }
    void take(long by)
    {
        value -= by * 2;
    }
};
static cell cells[1 << 12];

/* Clang makes one of what both ways write, in functions that it inlines. */
__attribute__((noinline)) static void update(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (i & 4)
            cells[i * 31 & 4095].add(i);
        else
            cells[i * 31 & 4095].take(i);
}

int main(int argc, char **)
{
    update((unsigned)argc * 1000);
    return cells[31].value == 5;
}
