/* Requests to this process while it runs, by the control chunk of its run file
 * (format/pm_control.h).
 *
 * Nobody listens: a thread would be one more than the program has, and in its way. The chunk is
 * looked at where the runtime is anyway: after each drain of samples, at each tick (adapt.c).
 * Threads without a ring have the chunk's word for one, so that their next event at an armed
 * sled goes the slow way. And where no event comes, `perfmap run` rings: it sends SIGURG to a
 * thread that is running, again until there is an answer. (One to a thread that sleeps might end
 * its system call.) A program that sleeps looks when it wakes.
 */
#include "runtime/budget/control.h"
#include "format/pm_control.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/signals.h"
#include "runtime/base/sys.h"
#include "runtime/base/upward.h"
#include "runtime/code/modes.h"
#include "runtime/budget/adapt.h"

#include <signal.h>
#include <string.h>
#include <time.h>

enum { REFUSALS = 16, RETRY_MS = 2 };

static struct pm_control *control;
static const volatile uint64_t nothing;
static uint32_t n_refused;
static uint64_t retry_tsc;

static bool on_bell(siginfo_t *info, void *context)
{
    (void)context;
    if (!pm_signal_is_ours(info))
        return false;
    if (*pm_process.alive_mark)
        pm_adapt_tick(pm_tsc());
    return true;
}

/* Where samples are taken their handler does the same (sample.c). */
static bool install_bell(void)
{
    return pm_process.sample_period_ns != 0 || pm_signal_take(PM_BELL_SIGNAL, on_bell);
}

void pm_control_begin(void)
{
    uint64_t offset;
    if (control != NULL || pm_process.file.header == NULL || pm_process.mode == PM_RUN_MODE_OFF)
        return;
    struct pm_control *chunk = pm_file_chunk(PM_RUN_CHUNK_CONTROL, PM_CONTROL_BYTES, 0, &offset);
    if (chunk == NULL)
        return;
    chunk->has_bell = install_bell();
    pm_store(control, chunk);
}

const volatile uint64_t *pm_control_word(void)
{
    const struct pm_control *c = pm_load(control);
    return c != NULL ? (const volatile uint64_t *)&c->request : &nothing;
}

bool pm_control_is_asked(void)
{
    const struct pm_control *c = pm_load(control);
    return c != NULL && pm_unlikely(pm_load(c->request) != c->done);
}

/* What came from outside is checked: a noun that is not there is refused. */
static uint32_t set_targets(const struct pm_control *c, uint32_t *ret_n_bad)
{
    uint32_t n = pm_load(c->n_changes), n_targets = 0;
    for (uint32_t i = 0; i < n && i < PM_CONTROL_MAX_CHANGES; i++) {
        uint32_t number = PM_CONTROL_NOUN(c->changes[i]), mode = PM_CONTROL_MODE(c->changes[i]);
        struct pmr_noun *noun = number < pm_n_nouns() ? pm_noun_at(number) : NULL;
        if (noun == NULL || mode >= PM_N_MODES) {
            ++*ret_n_bad;
            continue;
        }
        if (noun->wanted == mode && !PM_CONTROL_FIXED(c->changes[i]))
            continue; /* the budget may have made something else of it */
        noun->target_plus_1 = (uint8_t)(1 + mode);
        n_targets += noun->mode != mode;
    }
    return n_targets;
}

/* Whatever the budget had made of it: it is asked for now. */
static void set_wanted(const struct pm_control *c)
{
    for (uint32_t i = 0; i < c->n_changes && i < PM_CONTROL_MAX_CHANGES; i++) {
        struct pmr_noun *noun = pm_noun_at(PM_CONTROL_NOUN(c->changes[i]));
        if (noun == NULL || PM_CONTROL_NOUN(c->changes[i]) >= pm_n_nouns())
            continue;
        noun->wanted = (uint8_t)PM_CONTROL_MODE(c->changes[i]);
        noun->n_lowered = 0;
        uint8_t fixed = PM_CONTROL_FIXED(c->changes[i]) ? PM_NOUN_FIXED : 0;
        noun->flags = (uint8_t)((noun->flags & ~PM_NOUN_FIXED) | fixed);
    }
}

static void note_timed(void)
{
    struct pm_run_header *h = pm_process.file.header;
    h->exact_pair_ps = pm_process.exact_pair_ps;
    h->exact_inner_ps = pm_process.exact_inner_ps;
}

static void finish(struct pm_control *c, enum pm_control_status status, uint64_t number)
{
    n_refused = 0;
    c->status = status;
    pm_barrier();
    pm_store(c->done, number);
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec time = {0, 0};
    pm_sys(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* A change that is refused is tried again for a while: a thread that is just being made blocks
 * all signals for a moment. */
static void change_modes(struct pm_control *c, uint64_t number, uint64_t tsc)
{
    uint64_t start_ns = thread_cpu_ns();
    struct pm_changed changed;
    uint32_t n_bad = 0;
    bool any = set_targets(c, &n_bad) != 0;
    bool now = pm_modes_apply(PM_RUN_ADAPTED_ASKED, tsc, &changed);
    if (any && (!now || changed.n_refused != 0) && n_refused++ < REFUSALS) {
        retry_tsc =
            tsc + (pm_process.tsc_hz != 0 ? pm_process.tsc_hz : 2500000000u) / 1000 * RETRY_MS;
        return;
    }
    set_wanted(c);
    note_timed();
    c->n_nouns = changed.n_nouns;
    c->n_sleds = changed.n_sleds;
    c->n_refused = changed.n_refused + n_bad;
    c->spent_ns = thread_cpu_ns() - start_ns;
    finish(c, changed.n_refused != 0 ? PM_CONTROL_REFUSED : PM_CONTROL_DONE, number);
}

/* All that this process can be told, by enum pm_control_verb. */
static void (*const answers[])(struct pm_control *c, uint64_t number,
                               uint64_t tsc) = {[PM_CONTROL_MODES] = change_modes};

void pm_control_answer(uint64_t tsc)
{
    struct pm_control *c = control;
    uint64_t number = __atomic_load_n(&c->request, __ATOMIC_ACQUIRE);
    if (n_refused != 0 && tsc < retry_tsc)
        return;
    uint32_t verb = pm_load(c->verb);
    if (verb < sizeof answers / sizeof *answers && answers[verb] != NULL)
        answers[verb](c, number, tsc);
    else
        finish(c, PM_CONTROL_UNKNOWN, number);
}

void pm_control_fork_child(void)
{
    control = NULL;
    n_refused = 0;
    pm_control_begin();
}
