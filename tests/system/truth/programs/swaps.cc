// Elements that are objects, exchanged by std::swap(): each of their fields is read and written.
#include "parts.h"
#include <utility>
#include <vector>

enum { N = 4096 };
struct body {
    double x, y, z;
};
struct cell {
    double next, last;
};

NOINLINE static void turn(std::vector<body> &bodies)
{
    for (size_t i = 0; i < bodies.size() / 2; i++)
        std::swap(bodies[i], bodies[bodies.size() - 1 - i]);
}

NOINLINE static void step(std::vector<cell> &cells, int k)
{
    for (auto &c : cells)
        c.next = c.last * 0.5 + k;
}

int main()
{
    std::vector<body> bodies(N);
    std::vector<cell> cells(N);
    int k = 0;
    PART("turned", 100, turn(bodies));
    PART("stepped", 100, step(cells, k++));
    print_parts();
    return (int)(bodies[3].x + cells[3].next) == 7;
}
