// An OpenMP region in a function template with two instances. Threads that wait for each other sleep: how long they would spin is not the region's, and
// depends on what else the machine does.
#include "parts.h"
#include <cstdlib>
#include <unistd.h>
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
    if (!getenv("OMP_WAIT_POLICY")) { // is read before main
        setenv("OMP_WAIT_POLICY", "passive", 1);
        execv("/proc/self/exe", argv);
    }
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
