#ifndef PM_RUNTIME_PLACES_H
#define PM_RUNTIME_PLACES_H

#include "runtime/code/arch.h"
#include "runtime/code/object.h"
#include "runtime/code/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where code lies: at ordinary calls under the loader's lock, or at start. */
void pm_places_add_object(struct pm_object *object);  /* (again) loaded, has its chunk */
void pm_places_drop_object(struct pm_object *object); /* unloaded */
bool pm_places_continue(const struct pm_object *twin, const struct pm_object *now);
void pm_places_update(void);   /* all other code; publishes */
void pm_places_rewrite(void);  /* after fork */
void pm_places_unstable(void); /* before the loader unmaps something */

/* Samples are taken, or the heap is followed: all code is written down. */
bool pm_places_are_on(void);

/* Below probes, by who holds a sampler's lock. */
uint16_t pm_places_generation(uint64_t time_ns); /* in force at that time */
/* Does the address lie in code that has no sleds and is not PerfMap's own? */
bool pm_places_is_foreign(uint64_t address);
bool pm_places_is_own(uint64_t address); /* PerfMap's, trampolines included */
bool pm_places_probe(uint64_t address, struct pm_probe_place *ret_place); /* in which trampoline */
/* What the code at the address is; false: of nobody that is known. Its tables may be read
 * between hold and release, when hold is true: else the loader may be about to take them away. */
struct pmr_place {
    bool calls, own; /* as pm_places_is_foreign: neither */
    struct pm_tables tables;
};
bool pm_places_find(uint64_t address, struct pmr_place *ret_place);
/* Has the function that the address is in no sled, in an object that has some? Those are of
 * libraries' headers, mostly: template instances, at -O0 also what would be inlined. False where
 * its table does not tell functions apart. Between hold and release. */
bool pm_places_lacks_sled(uint64_t address, const struct pm_tables *tables);
bool pm_places_have_cxx(void); /* is C++'s library loaded? */
bool pm_places_hold(void);
void pm_places_release(void);
bool pm_places_is_return(uint64_t address); /* does it stand behind a call in known code? */
/* The first word of the stack that is an address behind a call in code with sleds; 0: none. */
uint64_t pm_places_caller(const uint8_t *stack, uint64_t bytes);
/* The same from offset *at on, which is moved behind it. */
uint64_t pm_places_next_caller(const uint8_t *stack, uint64_t bytes, uint64_t *at);

/* Was the program in the kernel? Only where the instruction before lies in the same page: the
 * one before that need not be readable. */
static inline bool pm_is_behind_system_call(uint64_t address)
{
#if defined(__x86_64__)
    const uint8_t *p = (const uint8_t *)address;
    return address % PM_RUN_PAGE >= 2 && p[-2] == 0x0f && p[-1] == 0x05;
#else
    (void)address;
    return false;
#endif
}

#endif
