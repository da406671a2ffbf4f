/* What a probe costs, for all processes of a run: the first one that has found out
 * (x86_64/calibrate.c, 250 us) leaves it in the run folder. A file that is empty, cut, of
 * another time scale or another mode counts as none; where it cannot be made, each process finds
 * out for itself. */
#include "runtime/code/calibration.h"
#include "format/pm_control.h"
#include "runtime/base/file.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/tree/thread.h"
#include "runtime/code/arch.h"

#include <fcntl.h>
#include <signal.h>
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
    const struct pmr_process *p = &pm_process;
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

static bool take(void)
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
static void keep(void)
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

/* The thread may have begun already, when a library with sleds is loaded late: it has no
 * contexts but its root then, for there were no sleds. Signals are blocked, so nobody looks at
 * what is not its own meanwhile. */
void pm_calibrate(void)
{
    static bool done;
    struct pm_tls *t = &pm_tls;
    struct {
        struct pm_node *current, **hash;
        const volatile uint64_t *ring_head;
        uint64_t ring_seen, *bank, *trace_at, *trace_end, trace_until;
    } before;
    if (done || pm_process.mode == PM_RUN_MODE_OFF || pm_process.file.header == NULL)
        return;
    done = true;
    if (take()) {
        pm_file_put_pair_costs(pm_process.file.header);
        pm_sample_calibrated();
        return;
    }
    uint64_t most = ~((uint64_t)1 << (SIGTRAP - 1)), mask = 0;
    pm_sys(SYS_rt_sigprocmask, SIG_BLOCK, &most, &mask, sizeof most);
    before.current = t->current;
    before.hash = t->hash;
    before.ring_head = t->ring_head;
    before.ring_seen = t->ring_seen;
    before.bank = t->bank[0];
    before.trace_at = t->trace_at;
    before.trace_end = t->trace_end;
    before.trace_until = t->trace_until;
    t->ring_head = &pm_no_ring;
    t->ring_seen = 0;
    pm_arch_calibrate();
    pm_store(t->current, before.current);
    t->hash = before.hash;
    t->bank[0] = before.bank;
    t->trace_at = before.trace_at;
    t->trace_end = before.trace_end;
    t->trace_until = before.trace_until;
    t->ring_head = before.ring_head;
    t->ring_seen = before.ring_seen;
    pm_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
    keep();
    pm_file_put_pair_costs(pm_process.file.header);
    pm_sample_calibrated();
}
