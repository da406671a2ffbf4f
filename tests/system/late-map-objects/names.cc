// What each line touches: names after "touches".
#include <cstdlib>
#include <cstring>
#include <vector>
namespace ns {
struct cell { double a, b; };
struct box {
    double x, y;
    std::vector<double> v;
    cell *c;
    int n;
    static int count;
    virtual ~box() {}
    __attribute__((noinline)) double run(int i);
};
int box::count;
double box::run(int i)
{
    x += v[i]; // touches ns::box::x ns::box::v
    double s = 0;
    for (int j = 0; j < n; j++)
        s += c[j].b; // touches ns::box::c
    count++; // touches ns::box::count
    return s * y; // touches ns::box::y
}
}
static ns::cell cells[100];
int plain[100];
static int hidden[100];
double *kept;
__attribute__((noinline)) static void fill(double *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = i; // touches fill(double*,int)::a
}
__attribute__((noinline)) static double sum(const std::vector<double> &of)
{
    double s = 0;
    for (double each : of)
        s += each; // touches sum(std::vector<double,std::allocator<double>>const&)::of
    return s;
}
__attribute__((noinline)) static void shared(double *q, int n)
{
    double h[8];
    memset(h, 0, sizeof h);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        q[i] += h[i & 7]; // touches shared(double*,int)::q shared(double*,int)::h
}
int main(int argc, char **argv)
{
    ns::box b;
    b.n = argc;
    b.c = cells;
    b.v.resize(100);
    kept = (double *)malloc(100 * sizeof *kept);
    for (int i = 0; i < 100; i++)
        kept[i] = argc; // touches kept
    for (int i = 0; i < 100; i++)
        hidden[i] = plain[i] + argc; // touches hidden plain
    fill(kept, 100);
    shared(kept, 100);
    char *copy = (char *)malloc(200);
    memcpy(copy, argv[0], strlen(argv[0]) + 1); // touches main::argv
    b.run(argc);
    return sum(b.v) + hidden[argc] > 1e9 && copy[3];
}
