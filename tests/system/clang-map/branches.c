double first[4096], second[4096], weight[4096];
int key[4096];

/* Clang makes one of both statements, and keeps the line of neither. */
__attribute__((noinline)) void either(int n)
{
    for (int i = 0; i < n; i++) {
        if (key[i] & 1)
            first[i] = weight[i] * weight[i] * 3.0 + 1;
        else
            second[i] = weight[i] * weight[i] * 3.0 + 2;
    }
}

struct account {
    long plus, last, kind;
} accounts[4096];

/* One store, though each way has code of its own left. */
__attribute__((noinline)) void book(int n, long limit)
{
    for (int i = 0; i < n; i++) {
        struct account *a = &accounts[key[i] & 4095];
        if (a->kind > limit)
            a->last = i;
        else
            a->last = -i;
    }
}

/* Both ways are computed, and one is chosen without a jump. */
__attribute__((noinline)) void clamp(int n, int least, int most)
{
    for (int i = 0; i < n; i++) {
        if (key[i] < least)
            key[i] = least;
        else if (key[i] > most)
            key[i] = most;
        else
            key[i] = key[i] + 1;
    }
}

int main(void)
{
    either(4096);
    book(4096, 1);
    clamp(4096, 3, 9);
    return first[3] + second[4] > 100 && accounts[5].last == 0;
}
