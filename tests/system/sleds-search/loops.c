/* One loop a function. What finds_ searches memory and gets no sleds of its own; what keeps_ does more, or counts its rounds, and has them. */
#include <stddef.h>
#define LONE __attribute__((noipa))

struct node {
    struct node *next;
    int key;
};

LONE struct node *finds_in_chain(struct node *n, int key)
{
    while (n && n->key != key)
        n = n->next;
    return n;
}

LONE int finds_in_array(const int *a, int n, int key)
{
    int i = 0;
    while (i < n && a[i] != key)
        i++;
    return i;
}

LONE size_t finds_by_halves(const int *a, size_t n, int key)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (a[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

LONE unsigned finds_the_end(const unsigned char *s)
{
    unsigned hash = 0;
    for (; *s; s++)
        hash = hash * 31 + *s;
    return hash;
}

LONE long keeps_sum(const int *a, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

LONE long keeps_sum_of_some(const int *a, int n, int step)
{
    long sum = 0;
    for (int i = 0; i < n; i += step)
        sum += a[i];
    return sum;
}

LONE int keeps_largest(const int *a, size_t n)
{
    const int *largest = a;
    for (const int *end = a + n; a != end; a++)
        if (*a > *largest)
            largest = a;
    return *largest;
}

LONE unsigned keeps_until_zero(const unsigned char *s, unsigned n)
{
    unsigned sum = 0;
    while (n--)
        sum = sum * 31 + *s++;
    return sum;
}

LONE double keeps_dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

LONE int keeps_floats(const double *a, int n, double limit)
{
    for (int i = 0; i < n; i++)
        if (a[i] > limit)
            return i;
    return n;
}

LONE int keeps_without_memory(double x, double y)
{
    int n = 0;
    for (double a = x, b = y, c; a * a + b * b < 4 && n < 1000; n++, c = a * a - b * b + x, b = 2 * a * b + y, a = c)
        ;
    return n;
}

LONE int keeps_arithmetic(unsigned long x)
{
    int n = 0;
    for (; x != 1; n++)
        x = x % 2 ? 3 * x + 1 : x / 2;
    return n;
}

LONE void keeps_stores(char *to, const char *from)
{
    while ((*to++ = *from++))
        ;
}

LONE int other(int x)
{
    return x / 3;
}

LONE int keeps_calls(const int *a)
{
    while (other(*a))
        a++;
    return *a;
}

LONE int keeps_nest(const int *a)
{
    int sum = 0;
    for (; *a; a += 10)
        for (int i = 0; i < 10; i++)
            sum += a[i];
    return sum;
}

LONE int keeps_long_body(const int *a, int key)
{
    int x = 1, y = 2, z = 3;
    for (; a[0] != key; a += 3) {
        x = x * 3 + a[1] * y - (z >> 2);
        y = y * 5 + a[2] * z - (x >> 3);
        z = z * 7 + a[0] * x - (y >> 4);
        x ^= y * 9, y ^= z * 11, z ^= x * 13;
    }
    return x + y + z;
}

int main(void)
{
    static const int a[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};
    static const double d[] = {3, 1, 4, 1, 5, 9, 2, 6};
    static const char text[] = "a text";
    static volatile double sink;
    char copy[sizeof text];
    struct node last = {NULL, 3}, first = {&last, 2};
    keeps_stores(copy, text);
    const unsigned char *bytes = (unsigned char *)copy;
    sink = finds_in_chain(&first, 3)->key + finds_in_array(a, 8, 9) + (double)finds_by_halves(a, 3, 3) + finds_the_end(bytes);
    sink += (double)(keeps_sum(a, 8) + keeps_sum_of_some(a, 8, 3)) + keeps_largest(a, 8) + keeps_until_zero(bytes, 3);
    sink += keeps_dot(d, d, 8) + keeps_floats(d, 8, 4) + keeps_without_memory(1, 1) + keeps_arithmetic(27);
    sink += keeps_calls(a) + keeps_nest(a) + keeps_long_body(a, 5);
    return 0;
}
