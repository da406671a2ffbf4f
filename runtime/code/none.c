/* Machines without sleds: portable mode only (base/clock.c: tsc_hz is 10^9). */
#include "runtime/code/arch.h"

const bool pm_arch_has_sleds = false;
const uint8_t pm_arch_nop[5];

bool pm_arch_generate(struct pm_object *object, enum pm_run_mode mode, const uint32_t *list,
                      uint32_t n)
{
    (void)object, (void)mode, (void)list, (void)n;
    return false;
}

void pm_arch_release(struct pm_object *object)
{
    (void)object;
}

bool pm_arch_jump(const struct pm_object *object, const struct pm_sled *sled, enum pm_run_mode mode,
                  uint8_t ret_bytes[5])
{
    (void)object, (void)sled, (void)mode, (void)ret_bytes;
    return false;
}

bool pm_arch_probe_at(const struct pm_object *object, uint64_t address,
                      struct pm_probe_place *ret_place)
{
    (void)object, (void)address, (void)ret_place;
    return false;
}

enum pm_tail pm_arch_tail(const struct pm_object *object, const struct pm_sled *sled,
                          uint32_t *ret_noun)
{
    (void)object, (void)sled, (void)ret_noun;
    return PM_TAIL_ENDS;
}

void pm_arch_calibrate(void)
{
    pm_process.tsc_hz = 1000000000u;
}

bool pm_arch_hook_function(uintptr_t function, void (*replacement)(void))
{
    (void)function, (void)replacement;
    return false;
}
