// Loops that use containers by their own functions: at -O0 each step is a call into a system header.
#include "truth.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

struct item {
    int number;
    double price;
    int quantity;
    std::string name;
};

class store
{
    std::vector<item> items;
    std::vector<double> totals;
    std::map<int, int> index;

public:
    explicit store(int n) : totals(n)
    {
        for (int i = 0; i < n; i++) {
            items.push_back({i, i * 1.5, i % 7, "item" + std::to_string(i)});
            index[i] = i;
        }
    }
    NOINLINE double revenue() const
    {
        double sum = 0;
        for (const auto &it : items) // @revenue
            sum += it.price * it.quantity;
        return sum;
    }
    NOINLINE void compute()
    {
        for (size_t i = 0; i < items.size(); i++) // @compute
            totals[i] = items[i].price * 1.2 + totals[i] * 0.5;
    }
    NOINLINE long find(int n) const
    {
        long sum = 0;
        for (int i = 0; i < n; i++) // @find
            sum += index.find((i * 7919) % (int)items.size())->second;
        return sum;
    }
    NOINLINE double reduce() const
    {
        return std::accumulate(totals.begin(), totals.end(), 0.0);
    }
};

int main()
{
    store all(4000);
    double ms[4] = {0}, sum = 0, whole = THREAD_MS();
    while (THREAD_MS() - whole < 400) {
        double start = THREAD_MS(), end;
        for (int k = 0; k < 200; k++) {
            AGAIN();
            sum += all.revenue();
        }
        ms[0] += (end = THREAD_MS()) - start;
        start = end;
        for (int k = 0; k < 200; k++) {
            AGAIN();
            all.compute();
        }
        ms[1] += (end = THREAD_MS()) - start;
        start = end;
        for (int k = 0; k < 4; k++) {
            AGAIN();
            sum += (double)all.find(4000);
        }
        ms[2] += (end = THREAD_MS()) - start;
        start = end;
        for (int k = 0; k < 200; k++) {
            AGAIN();
            sum += all.reduce();
        }
        ms[3] += (end = THREAD_MS()) - start;
    }
    whole = THREAD_MS() - whole;
    const char *names[] = {"revenue", "compute", "find", "reduce"};
    for (int i = 0; i < 4; i++)
        truth(names[i], 100 * ms[i] / whole);
    return sum == 0;
}
