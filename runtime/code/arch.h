/* What a kind of machine has to do: trampolines for sleds. code/x86_64/ does it; code/none.c says
 * that there are none. */
#ifndef PM_RUNTIME_ARCH_H
#define PM_RUNTIME_ARCH_H

#include "runtime/code/object.h"
#include "runtime/tree/node.h"
#include "runtime/tree/sp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const bool pm_arch_has_sleds;
extern const uint8_t pm_arch_nop[5];
/* Trampolines for all of the object's sleds that the mode wants, or those that a list names
 * (else NULL), unless they are there. System calls only. */
bool pm_arch_generate(struct pm_object *object, enum pm_run_mode mode, const uint32_t *list,
                      uint32_t n);
void pm_arch_release(struct pm_object *object);
/* What the sled is in this mode: a jump, or (false) the no-operation. */
bool pm_arch_jump(const struct pm_object *object, const struct pm_sled *sled, enum pm_run_mode mode,
                  uint8_t ret_bytes[5]);
/* Which trampoline of the object has this address. False: none. */
struct pm_probe_place {
    uint32_t noun; /* process-wide index */
    bool inner;    /* between a timed pair's clock reads */
};
bool pm_arch_probe_at(const struct pm_object *object, uint64_t address,
                      struct pm_probe_place *ret_place);
/* What a tail call jumps to. ret_noun: TO_SLED. */
enum pm_tail pm_arch_tail(const struct pm_object *object, const struct pm_sled *sled,
                          uint32_t *ret_noun);
void pm_arch_calibrate(void);
void *pm_map_near(uintptr_t low, uintptr_t high, size_t bytes); /* within 2 GiB of [low, high) */
bool pm_arch_hook_function(uintptr_t function, void (*replacement)(void));

#endif
