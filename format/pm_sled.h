/* The sled record: what the compiler leaves, what the runtime reads.
 *
 * A sled is the 5-byte no-operation 0f 1f 44 00 00 at a construct's entry or exit. Each copy of
 * a sled (inlining, unrolling, cloning) has one 16-byte record in the allocated, read-only
 * section `__perfmap_sleds` (flags "ao?": link-ordered
 * to the code, member of its group):
 *
 *     offset size meaning
 *          0    4 address of the sled, relative to this field (signed)
 *          4    1 kind, enum pm_sled_kind
 *          5    1 flags, PM_SLED_*; for loops the low 6 bits hold the nesting depth within the
 *                 symbol (1 = outermost, 63 = that or deeper); for landings that of the innermost
 *                 loop that goes on (0: none)
 *          6    2 must-save mask: bit n set = general register n (hardware number: rax 0, rcx 1,
 *                 rdx 2, rbx 3, rsp 4, rbp 5, rsi 6, rdi 7, r8 8 ... r15 15) is live here and must
 *                 be preserved. Bits of registers that the sled declares as clobbered are 0; only
 *                 those may be used without saving. The flags register and nothing of the vector
 *                 state is free. 0xffff: nothing is free.
 *          8    8 id: the Base noun (pm_id.h): "symbol" for function sleds, "loopcode" for loop
 *                 sleds
 *
 * The section's size is a multiple of 16; records are in no stated order. A record whose target
 * is not that no-operation (or not in an executable segment of its own object) is damaged and is
 * skipped, counted and reported, never patched.
 *
 * Portable mode (other machines, or -fplugin-arg-perfmap-portable): no sleds. Each translation
 * unit holds one struct pm_portable_hook in the writable section `__perfmap_hooks`; its code
 * calls through `event` when that is not null. The runtime finds the section by name and fills
 * in the pointers.
 */
#ifndef PM_SLED_H
#define PM_SLED_H

#include <stdint.h>

#define PM_SLED_SECTION "__perfmap_sleds"
#define PM_HOOK_SECTION "__perfmap_hooks"
#define PM_PIF_SECTION \
    ".perfmap.pif" /* compact PIF, not allocated; see docs/formats/pif-section.md */

enum pm_sled_kind {
    PM_SLED_ENTRY = 1,      /* function entry */
    PM_SLED_RETURN = 2,     /* function return */
    PM_SLED_TAIL = 3,       /* function left by a tail call */
    PM_SLED_LOOP_ENTER = 4, /* loop entered from outside */
    PM_SLED_LOOP_LEAVE = 5, /* loop left */
    PM_SLED_LAND = 6, /* function goes on after calls that did not return (exceptions, longjmp) */
};

enum {
    PM_SLED_DEPTH_MASK = 0x3f, /* loops and landings: nesting depth */
    /* stack pointer is CFA - 8 and no red zone is in use (function sleds) */
    PM_SLED_SP_AT_CFA = 0x80,
    /* a landing behind setjmp(): code comes here before it comes by longjmp() */
    PM_SLED_BY_SETJMP = 0x40,
};

struct pm_sled_record {
    int32_t offset;
    uint8_t kind;
    uint8_t flags;
    uint16_t must_save;
    uint64_t id;
};

#ifdef __cplusplus
static_assert(sizeof(struct pm_sled_record) == 16, "sled record is 16 bytes");
#else
_Static_assert(sizeof(struct pm_sled_record) == 16, "sled record is 16 bytes");
#endif

#define PM_HOOK_VERSION 1u

struct pm_portable_hook {
    uint32_t version; /* PM_HOOK_VERSION, written by the compiler */
    uint32_t size;    /* sizeof(struct pm_portable_hook) */
    /* kind: enum pm_sled_kind; id as in a record; frame: address that identifies the frame, same
     * for all events of one activation, greater for callers (stacks grow down); depth: loop
     * depth as in a record. NULL while dormant. */
    void (*event)(unsigned kind, uint64_t id, const void *frame, unsigned depth);
};

#endif
