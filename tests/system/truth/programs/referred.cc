// Arrays that functions get within a std::reference_wrapper, or a struct of references, by value.
#include "parts.h"
#include <functional>
#include <vector>

enum { N = 8192 };
struct refs {
    double (&d)[N];
    std::vector<int> &v;
    int k;
};

NOINLINE static void fill_wrapped(std::reference_wrapper<std::vector<int>> w, int k)
{
    for (auto &x : w.get())
        x = x * 3 + k;
}

NOINLINE static void fill_converted(std::reference_wrapper<std::vector<int>> w, int k)
{
    std::vector<int> &v = w;
    for (size_t i = 0; i < v.size(); i++)
        v[i] = v[i] * 3 + k;
}

NOINLINE static void fill_array(refs r)
{
    for (int i = 0; i < N; i++)
        r.d[i] = r.d[i] * 0.5 + r.k;
}

NOINLINE static void fill_vector(refs r)
{
    for (auto &x : r.v)
        x = x * 3 + r.k;
}

NOINLINE static void fill_each(std::vector<std::reference_wrapper<int>> &them, int k)
{
    for (auto &x : them)
        x.get() = x.get() * 3 + k;
}

NOINLINE static void fill_pointed(std::vector<int *> &them, int k)
{
    for (int *x : them)
        *x = *x * 3 + k;
}

int main()
{
    std::vector<int> listed(N), inserted(N), pointed(N);
    static int in_array[N];
    std::vector<int> wrapped(N), converted(N), in_struct(N), others(N);
    static double direct[N], rest[N];
    std::vector<std::reference_wrapper<int>> of_list(listed.begin(), listed.end());
    std::vector<std::reference_wrapper<int>> of_array(std::begin(in_array), std::end(in_array)), more;
    more.insert(more.end(), inserted.begin(), inserted.end());
    std::vector<int *> addresses;
    for (int &x : pointed)
        addresses.push_back(&x);
    std::vector<int *> copied(addresses.begin(), addresses.end());
    int k = 0;
    PART("wrap", 80, fill_wrapped(wrapped, k++));
    PART("convert", 80, fill_converted(std::ref(converted), k++));
    PART("array", 80, fill_array(refs{direct, others, k++}));
    PART("vector", 80, fill_vector({rest, in_struct, k++}));
    PART("listed", 80, fill_each(of_list, k++));
    PART("in_array", 80, fill_each(of_array, k++));
    PART("inserted", 80, fill_each(more, k++));
    PART("pointed", 80, fill_pointed(copied, k++));
    print_parts();
    return listed[2] + in_array[3] + inserted[4] + pointed[5] + wrapped[3] + converted[4] + (int)direct[3] + in_struct[2] == 7;
}
