// Objects of the program's own template classes, what lies behind their operator[], maps that are written through, functions that are held.
#include "truth.h"

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

enum { N = 4096 };

template <class T> class grid
{
    T *cells;
    int n;

public:
    explicit grid(int size) : cells(new T[size]()), n(size) {}
    ~grid() { delete[] cells; }
    grid(const grid &) = delete;
    grid &operator=(const grid &) = delete;
    T &operator[](int i) { return cells[i]; }
    T *begin() { return cells; }
    T *end() { return cells + n; }
    int size() const { return n; }
};

template <class T, int size> struct ring {
    T held[size];
    NOINLINE T &operator[](int i) { return held[i % size]; }
};

class table
{
    double *rows;

public:
    table() : rows(new double[N]()) {}
    ~table() { delete[] rows; }
    NOINLINE double &operator[](int i) { return rows[i]; }
};

template <class T> struct pair_of {
    T near[N], far[N];
};

static grid<double> field(N);
static ring<double, 64> wheel;
static table listed;
static pair_of<double> both;

NOINLINE static void fill_field(int times)
{
    for (int k = 0; k < times; k++)
        for (int i = 1; i < field.size(); i++)
            field[i] = field[i - 1] * 0.5 + k;
}

NOINLINE static void turn_wheel(int times)
{
    for (int k = 0; k < times; k++)
        for (int i = 0; i < N; i++)
            wheel[i] = i * 0.5 + k;
}

NOINLINE static void list(int times)
{
    for (int k = 0; k < times; k++)
        for (int i = 0; i < N; i++)
            listed[i] = i * 0.5 + k;
}

NOINLINE static void pair_up(int times)
{
    for (int k = 0; k < times; k++)
        for (int i = 1; i < N; i++)
            both.far[i] = both.far[i - 1] * 0.5 + k;
}

NOINLINE static void count_up(std::map<int, double> &tallies, int times)
{
    for (int k = 0; k < times; k++)
        for (int i = 0; i < 512; i++)
            tallies[i * 7919 % 512] = i + k;
}

NOINLINE static void count_words(std::unordered_map<int, double> &hashed, int times)
{
    for (int k = 0; k < times; k++)
        for (int i = 0; i < 512; i++)
            hashed[i] += k;
}

struct worker {
    std::function<void(std::vector<double> &)> work;
};

NOINLINE static void visit(const worker &one, std::vector<double> &visited, int times)
{
    for (int k = 0; k < times; k++)
        one.work(visited);
}

template <class function> static double measured(function called)
{
    double begin = THREAD_MS();
    AGAIN();
    called();
    return THREAD_MS() - begin;
}

int main()
{
    static const char *const names[] = {"field", "wheel", "listed", "far", "tallies", "hashed", "visited"};
    double ms[7] = {0}, all = 0;
    std::map<int, double> sorted;
    std::unordered_map<int, double> buckets;
    std::vector<double> places(N, 1.0);
    worker one = {[](std::vector<double> &given) {
        for (size_t i = 1; i < given.size(); i++)
            given[i] = given[i - 1] * 0.5 + 1;
    }};
    for (int turn = 0; all < 600; turn++) {
        ms[0] += measured([] { fill_field(60); });
        ms[1] += measured([] { turn_wheel(60); });
        ms[2] += measured([] { list(60); });
        ms[3] += measured([] { pair_up(60); });
        ms[4] += measured([&] { count_up(sorted, 12); });
        ms[5] += measured([&] { count_words(buckets, 40); });
        ms[6] += measured([&] { visit(one, places, 60); });
        all = 0;
        for (double value : ms)
            all += value;
    }
    for (int i = 0; i < 7; i++)
        truth(names[i], 100 * ms[i] / all);
    return field[5] + wheel[5] + listed[5] + both.far[5] < 0;
}
