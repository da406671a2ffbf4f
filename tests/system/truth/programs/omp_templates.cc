// An OpenMP region in a function template with two instances.
#include "parts.h"
#include <cstdlib>
#include <vector>
enum { N = 100000 };
template <class T> NOINLINE void scale(std::vector<T> &v, T by)
{
#pragma omp parallel for num_threads(2) // @region
    for (int i = 0; i < N; i++) // @scale_loop
        v[i] = v[i] / by + 1;
}
int main()
{
    std::vector<double> vd(N, 1.0);
    std::vector<float> vf(N, 1.0f);
    double b = PROCESS_MS();
    for (int i = 0; i < 4000; i++)
        scale(vd, 3.0);
    double d = PROCESS_MS() - b;
    b = PROCESS_MS();
    for (int i = 0; i < 2000; i++)
        scale(vf, 3.0f);
    double f = PROCESS_MS() - b;
    truth("scale_d", 100 * d / (d + f));
    truth("scale_f", 100 * f / (d + f));
}
