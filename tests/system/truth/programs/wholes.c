/* Objects that are copied, cleared and passed as a whole: what is done with one is done with each of its fields. */
#include "parts.h"
#include <string.h>

enum { N = 512, WORDS = 24 };
struct packet {
    int length;
    char body[200], check[16];
};
struct point {
    double x, y, z;
};
struct nest {
    struct point from;
    int tag;
};
struct order {
    long passed[WORDS];
};
struct page {
    long cleared[WORDS];
};
struct sheet {
    long kept[WORDS];
};
struct pair {
    long first, second;
};
struct entry {
    long moved[WORDS];
};
struct packet packets[N], others[N];
struct nest nests[N], origins[N];
struct order orders[N];
struct page pages[N];
struct sheet sheets[N];
struct pair pairs[N];
struct entry entries[N], sources[N];

NOINLINE static void assign(void)
{
    for (int i = 0; i < N; i++)
        packets[i] = others[N - 1 - i];
    AGAIN();
}

NOINLINE static void assign_nests(void)
{
    for (int i = 0; i < N; i++)
        nests[i] = origins[i ^ 1];
    AGAIN();
}

NOINLINE static long sum(struct order order)
{
    long s = 0;
    for (int i = 0; i < 8 * WORDS; i++)
        s = s * 3 + order.passed[i % WORDS];
    return s;
}

NOINLINE static void pass(void)
{
    static volatile long all;
    for (int i = 0; i < N; i++)
        all = all + sum(orders[i]);
    AGAIN();
}

NOINLINE static void clear(int value)
{
    for (int i = 0; i < N; i++)
        memset(&pages[i], value, sizeof pages[i]);
    AGAIN();
}

NOINLINE static void keep(void)
{
    for (int i = 0; i < N; i++) {
        struct sheet own = sheets[i];
        AGAIN();
        sheets[i] = own;
    }
    AGAIN();
}

NOINLINE static void exchange(void)
{
    for (int i = 0; i < N / 2; i++) {
        struct pair one = pairs[i];
        pairs[i] = pairs[N - 1 - i];
        pairs[N - 1 - i] = one;
    }
    AGAIN();
}

NOINLINE static void move(void)
{
    for (int i = 0; i < N; i++)
        memcpy(&entries[i], &sources[i], sizeof entries[i]);
    AGAIN();
}

int main(void)
{
    int k = 0;
    PART("assign", 60, assign());
    PART("nest", 60, assign_nests());
    PART("passes", 60, pass());
    PART("clear", 60, clear(k++));
    PART("keep", 60, keep());
    PART("exchange", 60, exchange());
    PART("move", 60, move());
    print_parts();
}
