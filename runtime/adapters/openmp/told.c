/* What PerfMap's plugin for GCC tells (format/pm_omp.h): constructs that are no call of libgomp,
 * and where those are for which it will be called. It does so by a call that means nothing to the
 * library. */
#include "openmp.h"

struct pm_sentence omp_told(enum omp_thing thing, enum omp_thing of_code, uintptr_t site)
{
    const char *source = omp_told_source();
    return source ? omp_sentence_at(thing, site, source) : omp_sentence(of_code, site, NULL);
}

/* --- loops that are divided without a call --- */

static int (*real_omp_get_num_threads)(void);
static int (*real_omp_get_thread_num)(void);

/* As GCC does: even parts, of which the first ones may have one more; or chunks by turns. */
void omp_share(unsigned long n, long chunk)
{
    if (n == PM_OMP_NOT_KNOWN || !OMP_FOUND(omp_get_num_threads) || !OMP_FOUND(omp_get_thread_num))
        return;
    unsigned long n_threads = (unsigned long)real_omp_get_num_threads(),
                  me = (unsigned long)real_omp_get_thread_num(), mine = 0, n_chunks = 0;
    if (chunk > 0) {
        unsigned long each = (unsigned long)chunk, whole = n / each, rest = n % each;
        n_chunks = whole / n_threads + (me < whole % n_threads);
        mine = n_chunks * each;
        if (rest != 0 && me == whole % n_threads) {
            n_chunks++;
            mine += rest;
        }
    } else {
        mine = n / n_threads + (me < n % n_threads);
        n_chunks = mine != 0;
    }
    if (n_chunks == 0)
        return;
    pm_cost(omp_chunks, n_chunks);
    pm_cost(omp_iterations, mine);
}

static void loop_is_told(const char *source, unsigned long n, long chunk, bool waits,
                         uintptr_t site, uintptr_t sp)
{
    omp_work_begin(omp_loop_at(site, source, "static loop"), site, sp, 0);
    if (waits)
        omp_here.loop_end = omp_sentence_at(THING_WORK_END, site, source);
    omp_share(n, chunk);
}

/* --- the call --- */

OMP_REAL(int, omp_get_team_size, (int level, const char *source, unsigned long n, long chunk))
{
    uintptr_t site = OMP_SITE;
    if (__builtin_expect(level < PM_OMP_FIRST || level > PM_OMP_LAST, 0))
        return OMP_FOUND(omp_get_team_size) ? real_omp_get_team_size(level, source, n, chunk) : -1;
    if (!omp_is_measured(site))
        return -1;
    switch ((enum pm_omp_told)level) {
    case PM_OMP_NEXT:
    case PM_OMP_NEXT_NOWAIT:
        omp_here.next = source;
        omp_here.next_waits = level == PM_OMP_NEXT;
        break;
    case PM_OMP_INNER:
        omp_here.inner = source;
        break;
    case PM_OMP_SHARE:
        omp_share(n, chunk);
        break;
    case PM_OMP_LOOP:
    case PM_OMP_LOOP_NOWAIT:
        loop_is_told(source, n, chunk, level == PM_OMP_LOOP, site, OMP_CALLER_SP(4));
        break;
    case PM_OMP_MASTER:
        omp_work_begin(omp_sentence_at(THING_MASTER, site, source), site, OMP_CALLER_SP(4), 0);
        break;
    case PM_OMP_MASKED:
        omp_work_begin(omp_sentence_at(THING_MASKED, site, source), site, OMP_CALLER_SP(4), 0);
        break;
    case PM_OMP_END:
        omp_work_pause(OMP_CALLER_SP(4));
        break;
    }
    return -1;
}
