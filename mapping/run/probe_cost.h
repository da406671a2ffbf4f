/* What probes cost, from an estimate (calls by what one costs on an idle machine) and from
 * samples that met the probes' own code.
 *
 *     double cost_ns = pm_probe_cost(n_calls * pair_ns, period_ns * n_samples);
 *
 * Both are wrong: the estimate misses what is dearer here (caches, calls that are found to have
 * been jumps), samples hold work of the program that the processor does beside a probe. That is
 * for a part of the probe's time only, so what samples have beyond PM_PROBE_MOST_BESIDE times
 * the estimate is cost for certain; up to there it is the geometric mean of the two. Any units.
 */
#ifndef PM_PROBE_COST_H
#define PM_PROBE_COST_H

#include <math.h>

#define PM_PROBE_MOST_BESIDE 1.25

static inline double pm_probe_cost(double estimated, double sampled)
{
    if (estimated <= 0 || sampled <= 0)
        return estimated > sampled ? estimated : sampled;
    double most = PM_PROBE_MOST_BESIDE * estimated;
    return sampled > most ? sampled - most + sqrt(most * estimated) : sqrt(sampled * estimated);
}

#endif
