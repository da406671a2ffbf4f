/* Writing machine code for x86-64, and the pieces that trampolines are put together from. Used
 * by the files of this folder only.
 *
 * Registers within a trampoline: rax the clock, rdx S (the stack pointer at the sled), R =
 * frame.context the context. Code goes to two places: what nearly every event runs, and the rest
 * of it (`cold`).
 */
#ifndef PM_RUNTIME_ARCH_X86_64_EMIT_H
#define PM_RUNTIME_ARCH_X86_64_EMIT_H

#include "runtime/code/arch.h"
#include "runtime/tree/thread.h"

enum { RAX = 0, RCX = 1, RDX = 2, RSP = 4, RSI = 6, RDI = 7, R8 = 8, R9 = 9, R10 = 10, R11 = 11 };
enum {
    IF_BELOW = 2,
    IF_ABOVE_EQUAL = 3,
    IF_EQUAL = 4,
    IF_NOT_EQUAL = 5,
    IF_BELOW_EQUAL = 6,
    IF_ABOVE = 7
};
enum {
    X86_RED_ZONE = 128,
    X86_LARGEST_FAST = 320, /* of a trampoline: what nearly every event runs, and the rest of it */
    X86_LARGEST_COLD = 256,
    X86_THUNK_BYTES = 192,
};

struct x86_code {
    uint8_t *p;
    /* of the trampoline's noun: where it is 0 entries do nothing; NULL: it is not asked */
    const uint8_t *flag;
    /* Of a tail call: the sled that it jumps to; NULL: not known, or to none. */
    const uint8_t *target;
    /* Where the object's trampolines with contexts lie; NULL: tail calls go the slow way. */
    const uint8_t *region;
    uint32_t region_bytes;
};

/* --- instructions --- */
void x86_byte(struct x86_code *c, unsigned b);
void x86_word32(struct x86_code *c, uint32_t value);
void x86_word64(struct x86_code *c, uint64_t value);
#define X86_BYTES(c, text) \
    (__builtin_memcpy((c)->p, text, sizeof(text) - 1), (void)((c)->p += sizeof(text) - 1))
/* opcode reg, displacement(base); base is neither rsp nor r12. 64 bits wide or 32. */
void x86_memory_op(struct x86_code *c, bool wide, unsigned opcode, unsigned reg, unsigned base,
                   int displacement);
void x86_move(struct x86_code *c, unsigned from, unsigned to);
void x86_test(struct x86_code *c, unsigned reg);
/* opcode reg, %fs:displacement */
void x86_thread_op(struct x86_code *c, unsigned opcode, unsigned reg, int32_t displacement);
/* Of a field of pm_tls, relative to the thread pointer: the same in all threads. */
int32_t x86_thread_offset(const void *field);
void x86_push_register(struct x86_code *c, unsigned reg);
void x86_pop_register(struct x86_code *c, unsigned reg);
/* lea displacement(%rsp), reg */
void x86_stack_address(struct x86_code *c, int displacement, unsigned reg);
void x86_jump(struct x86_code *c, const uint8_t *to);
/* Where a jmp rel32 or jmp rel8 leads; 0: it is something else. */
uintptr_t x86_jump_target(const uint8_t *jump);
/* The jump by memory in a stub of the procedure linkage table, or NULL. Reads no byte behind what
 * such a stub has. */
const uint8_t *x86_stub_jump(const uint8_t *stub);
void x86_jump_to_if(struct x86_code *c, unsigned condition, const uint8_t *to);
/* Conditional jumps forward, their distance filled in by landing. */
uint8_t *x86_jump_if(struct x86_code *c, unsigned condition);
uint8_t *x86_short_jump_if(struct x86_code *c, unsigned condition);
void x86_land(const struct x86_code *c, uint8_t *from);
void x86_land_short(const struct x86_code *c, uint8_t *from);

/* --- what a trampoline may use --- */
struct x86_frame {
    uint8_t context; /* R */
    uint8_t n_kept;  /* registers saved in others */
    uint8_t kept[3], in[3];
    uint8_t n_pushed;
    uint8_t pushed[3];
    bool red_zone;  /* there may be one */
    bool skipped;   /* and we are below it */
    int adjustment; /* S - rsp */
};
bool x86_is_free(uint16_t must_save, unsigned reg);
/* fixed: registers that are needed beside R. */
struct x86_frame x86_plan_frame(uint16_t must_save, uint8_t sled_flags, bool loop, unsigned n_fixed,
                                const uint8_t *fixed);
/* A register that is free and not R; RSP: none. */
unsigned x86_another_free(uint16_t must_save, unsigned r);
void x86_save(struct x86_code *c, const struct x86_frame *f);
void x86_restore(struct x86_code *c, const struct x86_frame *f);

/* --- pieces of trampolines --- */
/* Jumps to the slow way, which x86_slow_tail lands. */
struct x86_sites {
    uint8_t *from[12];
    unsigned n;
};
void x86_slow_if(struct x86_code *c, struct x86_sites *slow, unsigned condition);
void x86_read_clock(struct x86_code *c);
/* Has anything come into the thread's ring? */
void x86_check_ring(struct x86_code *c, unsigned r, struct x86_sites *slow);
/* Is the youngest frame alive, from register `s` seen? Else slow. Flags only. */
void x86_check_entry(struct x86_code *c, unsigned r, unsigned s, const struct pm_probe *probe,
                     struct x86_sites *slow);
void x86_compare_noun(struct x86_code *c, unsigned r, const struct pm_probe *probe);
/* `at` = the hash table's entry for current and the noun, which becomes R and current's cached
 * child when it is the right one, else slow. */
void x86_look_up(struct x86_code *c, unsigned r, unsigned at, const struct pm_probe *probe,
                 struct x86_sites *slow);
/* cmpb $0, the trampoline's flag */
void x86_test_flag(struct x86_code *c);
/* save_s: rdx, which tells the thunk S, belongs to the program. */
void x86_slow_tail(struct x86_code *c, const struct x86_frame *f, bool save_s,
                   const struct x86_sites *slow, uint32_t index, const uint8_t *thunk,
                   const uint8_t *back);

/* --- x86_64/trampolines.c --- */
/* The trampoline of a sled for probe->mode. index: of the probe in the region. */
void x86_trampoline(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                    const struct pm_probe *probe, uint32_t index, const uint8_t *thunk);
void x86_thunk(struct x86_code *c, const struct pm_probe *probes);

/* What exits do that find no frame of theirs: missed. */
void x86_exit_tail(struct x86_code *c, const struct x86_frame *f, bool save_s,
                   const struct x86_sites *slow, const struct x86_sites *missed, uint32_t index,
                   const uint8_t *thunk, const uint8_t *back);

/* --- x86_64/template.c --- */
/* Before the trampolines of an object and mode. */
void x86_templates_begin(void);
/* As x86_trampoline; copies one of its kind. */
void x86_trampoline_again(struct x86_code *c, struct x86_code *cold, const struct pm_sled *sled,
                          const struct pm_probe *probe, uint32_t index, const uint8_t *thunk);
enum x86_note {
    X86_NOTE_BACK,
    X86_NOTE_THUNK,
    X86_NOTE_FLAG,
    X86_NOTE_ACROSS,
    X86_NOTE_NOUN,
    X86_NOTE_HASH,
    X86_NOTE_INDEX,
    X86_NOTE_COUNTER,
    X86_NOTE_EVENT,
    X86_NOTE_TARGET,
    X86_NOTE_TARGET_NOUN,
};
/* A word that is about to be written, and is another one in other trampolines of this kind. */
void x86_note(const uint8_t *word, enum x86_note kind);
/* The same of a distance from behind the word. */
void x86_note_distance(const uint8_t *word, const uint8_t *to);
static inline uint32_t x86_noun_hash(uint32_t noun)
{
    return noun * 0x9e3779b1u >> 12 << 3;
}

/* --- x86_64/trace.c: what mode trace has beside mode exact --- */
/* Is there no room for an event? Else slow. rax: clock; r is lost. */
void x86_check_trace_room(struct x86_code *c, unsigned r, struct x86_sites *slow);
/* rdx = a place for an event. */
void x86_reserve_event(struct x86_code *c);
/* Writes the event to its place. rdx: the place; rax: clock, is lost. */
void x86_record_event(struct x86_code *c, uint32_t head);
/* Ends context r and records it. rax: clock, rdx: when it began; all three are lost. */
void x86_trace_leave(struct x86_code *c, unsigned r, const struct pm_probe *probe);

#endif
