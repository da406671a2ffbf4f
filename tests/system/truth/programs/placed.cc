// Objects that are made in memory that is there: "new (place) T".
#include "parts.h"
#include <memory>
#include <new>
#include <vector>

enum { N = 512 };
struct point {
    double x, y;
    NOINLINE explicit point(double a) : x(a), y(a)
    {
        for (int i = 0; i < 40; i++) {
            x = x * 0.5 + y;
            AGAIN();
        }
    }
};
alignas(16) char ground[N * sizeof(point)];
alignas(16) unsigned char numbers[N * 16];

NOINLINE static void make_points(double k)
{
    for (int i = 0; i < N; i++)
        new (ground + i * sizeof(point)) point(k + i);
}
NOINLINE static void make_numbers(double k)
{
    for (int i = 0; i < N; i++) {
        double *made = new (numbers + i * 16) double(k);
        for (int j = 0; j < 20; j++) {
            *made = *made * 0.5 + j;
            AGAIN();
        }
    }
}
NOINLINE static void make_own(std::vector<point *> &points, double k)
{
    for (auto &p : points) {
        delete p;
        p = new (std::nothrow) point(k);
    }
}

int main()
{
    std::vector<point *> points(N);
    int k = 0;
    PART("pointed", 120, make_points(k++));
    PART("numbered", 120, make_numbers(k++));
    PART("owned", 120, make_own(points, k++));
    print_parts();
    return 0;
}
