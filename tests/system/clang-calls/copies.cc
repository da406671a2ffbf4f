// Functions that are inlined where they are called by name, and called by a pointer, too: their sleds count the latter.
#include <cstdio>

namespace numbers
{
int twice(int v)
{
    return v * 2 + 1;
}

template <class T> T thrice(T v)
{
    return v * 3;
}
template int thrice<int>(int);
} // namespace numbers

int (*volatile pointers[])(int) = {numbers::twice, numbers::thrice<int>};

__attribute__((noinline)) int once(int v)
{
    return v ^ 5;
}

int main()
{
    unsigned sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += numbers::twice(i) ^ numbers::thrice(i);
    for (int i = 0; i < 10; i++)
        sum += pointers[i % 2](i) + once(i);
    printf("%u\n", sum);
}
