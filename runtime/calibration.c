/* What a probe costs, for all processes of a run: the first one that has found out
 * (calibrate_x86_64.c, 250 us) leaves it in the run folder. A file that is empty, cut, of
 * another time scale or another mode counts as none; where it cannot be made, each process finds
 * out for itself. */
#include "internal.h"
#include "sys.h"

#include <fcntl.h>
#include <string.h>

enum { MOST_PS = 1000000 }; /* a microsecond a pair */

struct calibration {
    char magic[8];
    uint64_t tsc_hz, timed_mode;
    uint64_t count_ps, active_ps, exact_ps, inner_ps;
    uint64_t sum; /* of all words before */
};

static const char magic[8] = "pmcalib";

static uint64_t sum_of(const struct calibration *c)
{
    uint64_t words[sizeof *c / sizeof(uint64_t)], sum = 0;
    memcpy(words, c, sizeof *c);
    for (size_t i = 0; i + 1 < sizeof words / sizeof *words; i++)
        sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15u;
    return sum;
}

static struct calibration own(void)
{
    const struct pm_process *p = &pm_process;
    struct calibration c = {.tsc_hz = p->tsc_hz,
                            .timed_mode = p->mode == PM_RUN_MODE_TRACE ? PM_RUN_MODE_TRACE
                                                                       : PM_RUN_MODE_EXACT,
                            .count_ps = p->count_event_ps,
                            .active_ps = p->active_pair_ps,
                            .exact_ps = p->exact_pair_ps,
                            .inner_ps = p->exact_inner_ps};
    memcpy(c.magic, magic, sizeof c.magic);
    c.sum = sum_of(&c);
    return c;
}

static bool is_sound(const struct calibration *c, const struct calibration *wanted)
{
    return memcmp(c->magic, magic, sizeof magic) == 0 && c->sum == sum_of(c) &&
           c->tsc_hz == wanted->tsc_hz && c->timed_mode == wanted->timed_mode &&
           c->count_ps < MOST_PS && c->active_ps < MOST_PS && c->exact_ps < MOST_PS &&
           c->inner_ps <= c->exact_ps;
}

static long open_file(int how)
{
    char path[sizeof pm_process.run_dir + sizeof PM_CALIBRATION_NAME + 1];
    size_t n = strlen(pm_process.run_dir);
    memcpy(path, pm_process.run_dir, n);
    path[n] = '/';
    memcpy(path + n + 1, PM_CALIBRATION_NAME, sizeof PM_CALIBRATION_NAME);
    return pm_sys(SYS_openat, AT_FDCWD, path, how | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

bool pm_calibration_take(void)
{
    struct calibration found, wanted = own();
    long fd = open_file(O_RDONLY);
    if (fd < 0)
        return false;
    long bytes = pm_sys(SYS_pread64, fd, &found, sizeof found, 0);
    pm_sys(SYS_close, fd);
    if (bytes != sizeof found || !is_sound(&found, &wanted))
        return false;
    pm_process.count_event_ps = found.count_ps;
    pm_process.active_pair_ps = found.active_ps;
    pm_process.exact_pair_ps = found.exact_ps;
    pm_process.exact_inner_ps = (uint32_t)found.inner_ps;
    return true;
}

/* One write: whoever reads meanwhile finds all of it or nothing. */
void pm_calibration_keep(void)
{
    struct calibration c = own();
    if (c.exact_ps == 0 || !is_sound(&c, &c))
        return;
    long fd = open_file(O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0)
        return;
    pm_sys(SYS_pwrite64, fd, &c, sizeof c, 0);
    pm_sys(SYS_close, fd);
}
