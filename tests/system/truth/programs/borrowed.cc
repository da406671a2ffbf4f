// A function of C++'s library, compiled here, that a thread of a library calls: nothing of the program is active there, so whose data it
// works on is not known.
#include "truth.h"
#include <algorithm>
#include <vector>

double run_in_thread(void (*work)(double *, double *), double *first, double *last);

NOINLINE static double relax(std::vector<double> &kept)
{
    double begin = THREAD_MS(), ms = 0;
    for (int k = 0; (ms = THREAD_MS() - begin) < 250; k++)
        for (size_t i = 1; i < kept.size(); i++)
            kept[i] = kept[i - 1] * 0.5 + k;
    return ms;
}

int main()
{
    std::vector<double> turned(4096, 1), kept(4096, 1);
    double in_thread = run_in_thread(std::reverse<double *>, turned.data(), turned.data() + turned.size());
    double here = relax(kept);
    truth("in_thread", 100 * in_thread / (in_thread + here));
    truth("here", 100 * here / (in_thread + here));
    return turned[3] == kept[3];
}
