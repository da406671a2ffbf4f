// COMDAT functions in both translation units.
template <class T> [[gnu::noinline]] T twice(T x)
{
    T sum = 0;
    for (T i = 0; i < x; i++)
        sum += i % 3;
    return x * 2 + sum;
}
[[gnu::noinline]] inline unsigned shared_inline(unsigned x) { return twice(x) ^ 5; }
unsigned second(unsigned long x);
