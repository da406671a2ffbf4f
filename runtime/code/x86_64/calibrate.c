/* What a probe costs: measured at start by running real trampolines on a pair of sleds of our own,
 * against the same code with the sleds dormant. The tree it works on is not in the run file. About
 * 100 us. */
#include "runtime/base/clock.h"
#include "runtime/base/sys.h"
#include "runtime/tree/children.h"
#include "runtime/code/arch.h"
#include "runtime/code/patch.h"

#include <string.h>
#include <sys/mman.h>
#include <elf.h>
#include <link.h>

enum { PAIRS = 64, REPETITIONS = 24, BARE_STEP = 5, WORK_STEP = 5 + 2 * 4 };

/* 64 entry/exit pairs, each sled as the compiler leaves it at a function: four free registers,
 * and the stack pointer at the CFA. In and between them a little work that depends on itself,
 * for a processor does the program's work while it waits for the clock: with none a pair costs
 * 18.9 ns here, with two multiplications on either side 16.0, and real programs full of calls
 * pay 15.9 (SQLite's shell, 417 million pairs) and 15.8 (mawk, 21 million). Modes active and
 * count are so short that they would vanish: there the sleds stand bare. Many sleds met few
 * times are what programs have: an active pair comes out at 5.5 ns here, as in SQLite (5.6) and
 * Lua (5.1); the same pair 1000 times over takes 1.65. */
#define CALIBRATION_CODE(name, work)                              \
    __asm__(".text\n"                                             \
            ".p2align 4\n"                                        \
            ".type " name ", @function\n" name ":\n"              \
            ".rept 64\n"                                          \
            ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n" work           \
            ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n" work ".endr\n" \
            "ret\n"                                               \
            ".size " name ", .-" name "\n")
CALIBRATION_CODE("pm_calibration_bare", "");
CALIBRATION_CODE("pm_calibration_work", "imul %r8, %r8\nimul %r8, %r8\n");
extern void pm_calibration_bare(void) __attribute__((visibility("hidden")));
extern void pm_calibration_work(void) __attribute__((visibility("hidden")));

/* Of many repetitions. ret_inner_tsc: what the shortest one added to the inclusive time of `child`.
 */
static uint64_t shortest_run_tsc(void (*run)(void), const struct pm_node *child,
                                 uint64_t *ret_inner_tsc)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < REPETITIONS; i++) {
        uint64_t inner = child->inclusive_tsc, start = pm_tsc();
        run();
        uint64_t spent = pm_tsc() - start;
        if (spent >= best)
            continue;
        best = spent;
        *ret_inner_tsc = pm_load(child->inclusive_tsc) - inner;
    }
    return best;
}

static uint64_t pair_ps(uint64_t tsc, uint64_t hz)
{
    return tsc * (1000000000000u / (hz / 1000u)) / 1000u / PAIRS;
}

/* ret_inner_ps: the part between a pair's clock reads (mode exact). */
static uint64_t pair_cost_ps(enum pm_run_mode mode, uint64_t hz, const struct dl_phdr_info *info,
                             const struct pm_node *child, uint64_t *ret_inner_ps)
{
    uint64_t inner = 0;
    static struct pm_sled sleds[2 * PAIRS];
    bool bare = !pm_mode_is_timed(mode);
    void (*run)(void) = bare ? pm_calibration_bare : pm_calibration_work;
    uintptr_t code = (uintptr_t)run, step = bare ? BARE_STEP : WORK_STEP;
    for (unsigned i = 0; i < 2 * PAIRS; i++)
        sleds[i] =
            (struct pm_sled){.address = code + step * i,
                             .noun = mode == PM_RUN_MODE_COUNT ? i / 2 : 0,
                             .must_save = (uint16_t) ~(1u << 0 | 1u << 2 | 1u << 1 | 1u << 11),
                             .kind = i % 2 == 0 ? PM_SLED_ENTRY : PM_SLED_RETURN,
                             .flags = PM_SLED_SP_AT_CFA};
    struct pm_object object = {.bias = info->dlpi_addr,
                               .low = code,
                               .high = code + step * 2 * PAIRS,
                               .n_sleds = 2 * PAIRS,
                               .sleds = sleds};
    static struct pm_patch patches[2 * PAIRS];
    size_t n = 0;
    uint64_t dormant = shortest_run_tsc(run, child, &inner);
    if (!pm_arch_generate(&object, mode, NULL, 0))
        return 0;
    for (unsigned i = 0; i < 2 * PAIRS; i++)
        if (pm_arch_jump(&object, &sleds[i], mode, patches[n].bytes))
            patches[n++].address = sleds[i].address;
    uint64_t armed = 0;
    if (pm_patch_apply(patches, n, PROT_READ | PROT_EXEC, true)) {
        armed = shortest_run_tsc(run, child, &inner);
        for (size_t i = 0; i < n; i++)
            memcpy(patches[i].bytes, pm_arch_nop, sizeof pm_arch_nop);
        pm_patch_apply(patches, n, PROT_READ | PROT_EXEC, true);
    }
    pm_arch_release(&object);
    if (armed <= dormant)
        return 0;
    inner = inner > dormant / 2 ? inner - dormant / 2 : 0; /* the work within */
    *ret_inner_ps = pair_ps(inner < armed - dormant ? inner : armed - dormant, hz);
    return pair_ps(armed - dormant, hz);
}

static uint64_t estimate_hz(void)
{
    uint64_t tsc, now, later_tsc, later;
    pm_clock_pair(&tsc, &now);
    do
        pm_clock_pair(&later_tsc, &later);
    while (later - now < 50000);
    return (later_tsc - tsc) * 1000u / (later - now) * 1000000u;
}

void pm_arch_calibrate(void)
{
    static struct pm_node root, child;
    static uint64_t counters[PAIRS];
    struct pm_tls *t = &pm_tls;
    struct dl_phdr_info info = {0};
    uint64_t inner_ps = 0;
    static bool done; /* a forked child's contexts must not be disturbed */
    if (done)
        return;
    done = true;
    uint64_t hz = pm_process.tsc_hz != 0 ? pm_process.tsc_hz : estimate_hz();
    if (hz < 1000000)
        return;
    t->hash = pm_private_memory(PM_HASH_BYTES);
    if (t->hash == NULL)
        return;
    root = (struct pm_node){/* with no mark in its lowest bits (struct pm_jump) */
                            .noun = PM_RUN_NOUN_ROOT,
                            .sp = UINT64_MAX - 7,
                            .cached_child = &child};
    child = (struct pm_node){.noun = 0, .parent = &root};
    pm_hash_child(t, &child);
    static uint64_t events[2 * PAIRS * (REPETITIONS + 1)];
    t->current = &root;
    t->bank[0] = counters;
    t->trace_at = events;
    t->trace_end = events + sizeof events / sizeof *events;
    t->trace_until = UINT64_MAX;
    enum pm_run_mode timed =
        pm_mode_is_timed(pm_process.mode) ? (enum pm_run_mode)pm_process.mode : PM_RUN_MODE_EXACT;
    pm_process.count_event_ps = pair_cost_ps(PM_RUN_MODE_COUNT, hz, &info, &child, &inner_ps);
    pm_process.active_pair_ps = pair_cost_ps(PM_RUN_MODE_ACTIVE, hz, &info, &child, &inner_ps);
    inner_ps = 0;
    pm_process.exact_pair_ps = pair_cost_ps(timed, hz, &info, &child, &inner_ps);
    pm_process.exact_inner_ps = inner_ps < UINT32_MAX ? (uint32_t)inner_ps : UINT32_MAX;
    t->current = &pm_sentinel;
    pm_sys(SYS_munmap, t->hash, PM_HASH_BYTES);
    t->hash = NULL;
    t->bank[0] = NULL;
    t->trace_at = t->trace_end = NULL;
    t->trace_until = 0;
}
