/* Frames of code without sleds, by the tables that it carries for exceptions (.eh_frame): exact
 * where a look for words that could be return addresses guesses. What is read is a copy of the
 * stack, so at any time.
 *
 *     struct pm_unwind u;
 *     pm_unwind_begin(&u, taken);
 *     while ((step = pm_unwind_step(&u, tables)) == PM_UNWIND_FRAME)
 *         look_at(pm_unwind_ip(&u));
 *
 * No allocation, no lock, no vector registers. Tables that lie are never followed out of their
 * segment.
 */
#ifndef PM_RUNTIME_UNWIND_H
#define PM_RUNTIME_UNWIND_H

#include "format/pm_run.h"

#include <stdbool.h>
#include <stdint.h>

enum { PM_TAKEN_REGISTERS = 6 }; /* rbx, rbp, r12 to r15 */

/* Where a thread was interrupted, and what is known of its stack and time then. */
struct pm_taken {
    uint64_t address, sp;
    const uint8_t *stack; /* a copy of what lies at sp, or sp itself */
    uint64_t stack_bytes;
    uint64_t time_ns; /* CLOCK_MONOTONIC_RAW; 0: now */
    uint64_t cpu_ns;  /* of the thread since sampling began */
    uint64_t period_ns;
    enum pm_run_sample_kind kind;
    bool has_registers;
    uint64_t registers[PM_TAKEN_REGISTERS];
};

/* What an object carries to be unwound by: its search table, and the segment that this lies in. */
struct pm_tables {
    const uint8_t *header, *low, *high; /* header NULL: none */
};

enum {
    /* as DWARF counts them on x86-64: 6 is rbp, 7 rsp, 16 the return address */
    PM_UNWIND_REGISTERS = 17,
    PM_UNWIND_SP = 7,
    PM_UNWIND_IP = 16,
};

enum pm_unwind_result {
    PM_UNWIND_FRAME,  /* the frame of who called */
    PM_UNWIND_BOTTOM, /* nobody did */
    PM_UNWIND_SHORT,  /* it lies above what there is of the stack */
    PM_UNWIND_LOST,   /* there is no table for this code, or one that is not understood */
};

/* Where a rule says that a register's value is. */
enum pm_unwind_kind {
    PM_UNWIND_SAME,
    PM_UNWIND_UNKNOWN,
    PM_UNWIND_AT_OFFSET, /* in memory at CFA + offset */
    PM_UNWIND_IS_OFFSET, /* CFA + offset */
    PM_UNWIND_AT_EXPRESSION,
    PM_UNWIND_IS_EXPRESSION,
    PM_UNWIND_REGISTER,
};
struct pm_unwind_rules {
    const uint8_t *expression[PM_UNWIND_REGISTERS +
                              1]; /* the last is that of the CFA; NULL: register + offset */
    int64_t offset[PM_UNWIND_REGISTERS + 1]; /* of REGISTER: its number */
    uint8_t kind[PM_UNWIND_REGISTERS], cfa_register;
};

enum { PM_UNWIND_MAX_REMEMBERED = 3 };

struct pm_unwind {
    uint64_t registers[PM_UNWIND_REGISTERS];
    uint32_t known; /* a bit for each register */
    bool exact;     /* the address is that of an instruction, not one behind a call */
    const uint8_t *stack;
    uint64_t stack_low, stack_bytes;
    uint64_t cfa;  /* of the frame that was left last; its return address is in the 8 bytes below */
    bool is_short; /* something above the copy of the stack was asked for */
    struct pm_unwind_rules rules, first, remembered[PM_UNWIND_MAX_REMEMBERED];
};

/* False: the sample has no registers, or this is another machine. */
bool pm_unwind_begin(struct pm_unwind *u, const struct pm_taken *taken);
/* tables: of the object that has the code at pm_unwind_lookup. */
enum pm_unwind_result pm_unwind_step(struct pm_unwind *u, const struct pm_tables *tables);
/* The first frame, when the tables are wrong about it, as those of libc's arithmetic on long
 * numbers are: registers that its first instructions push, and then the return address. Whether
 * it is one is for the caller to look. */
bool pm_unwind_by_pushes(struct pm_unwind *u, const struct pm_taken *taken,
                         const struct pm_tables *tables);
/* The bytes from the stack pointer behind the call that returns to this address up to the CFA:
 * the caller's frame, where that does not move. 0: the tables find the frame otherwise (by rbp),
 * or not at all. */
uint64_t pm_unwind_frame_bytes(const struct pm_tables *tables, uint64_t return_address);
/* Where the function that has the address starts, by these tables; 0: not known. */
uint64_t pm_unwind_function(const struct pm_tables *tables, uint64_t address);

static inline uint64_t pm_unwind_ip(const struct pm_unwind *u)
{
    return u->registers[PM_UNWIND_IP];
}

/* An address within the instruction that is going on: of a call, that is the one before. */
static inline uint64_t pm_unwind_lookup(const struct pm_unwind *u)
{
    return u->registers[PM_UNWIND_IP] - (u->exact ? 0 : 1);
}

#endif
