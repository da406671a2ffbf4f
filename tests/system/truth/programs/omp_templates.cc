// An OpenMP region in a function template with two instances.
#include "asleep.h"
#include "parts.h"
#include <vector>
enum { N = 1000000 };
template <class T> NOINLINE void scale(std::vector<T> &v, T by)
{
#pragma omp parallel for num_threads(2) // @region
    for (int i = 0; i < N; i++) // @scale_loop
        v[i] = v[i] / by + 1;
}
int main(int, char **argv)
{
    wait_asleep(argv);
    std::vector<double> vd(N, 1.0);
    std::vector<float> vf(N, 1.0f);
    double b = PROCESS_MS();
    for (int i = 0; i < 400; i++)
        scale(vd, 3.0);
    double d = PROCESS_MS() - b;
    b = PROCESS_MS();
    for (int i = 0; i < 200; i++)
        scale(vf, 3.0f);
    double f = PROCESS_MS() - b;
    truth("scale_d", 100 * d / (d + f));
    truth("scale_f", 100 * f / (d + f));
}
