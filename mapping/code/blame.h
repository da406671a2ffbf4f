/* Which instruction a sample's time belongs to, and which loops lie around it.
 *
 *     struct pm_blame *blame;
 *     if (pm_blame_open("heat", &err, &blame) != PM_OK) ...
 *     address = pm_blame_address(blame, block->address, block->size_bytes, sampled_address);
 *     pm_blame_free(blame);
 *
 * An interrupt waits for the instruction that is about to retire, and the address that it leaves
 * is that of the next one: in a chain of seven loads that depend on each other, all samples of a
 * load are at the instruction behind it (measured: 7 x 14.3 % of 4000 samples). So the time at
 * an address belongs to the instruction executed before it: the one before it in the text; at
 * the head of a loop with one jump back, the one before that jump.
 *
 * Jumps and the comparisons of registers that they go by do not wait: what stands before them
 * does. So it is with a constant that is added to a register, where what stands before it takes
 * longer: they retire together (measured on a Zen 5: of "addsd; add; cmp; jne" half the samples
 * were behind the addsd and half behind the add, or 9 and 1 of 10, by how the code was aligned).
 *
 * A loop's first instruction retires together with the jump to it when it takes one cycle, so
 * the time behind it is that of the loop's last one, too (measured: of 28 multiplications in a
 * chain the last one had 0.8 % at its own place and 2.6 % behind the head's xor; each other one
 * 3.6 %). Where the address can be reached by other jumps, or what stands before it never goes
 * on to it, it stays where it was sampled.
 *
 * x86-64 only, by capstone; other machines' samples stay where they are. Jumps through registers
 * (tables) are not followed: what they reach stands behind an unconditional jump nearly always.
 * Nothing in the file is trusted. One thread at a time.
 */
#ifndef PM_BLAME_H
#define PM_BLAME_H

#include "../base/status.h"

#include <stddef.h>
#include <stdint.h>

struct pm_blame;

/* PM_ERR_SYSTEM: cannot be read; PM_ERR_FORMAT: no ELF file; PM_ERR_MEMORY. */
PM_MUST_CHECK enum pm_status pm_blame_open(const char *path, struct pm_error *err,
                                           struct pm_blame **ret_blame);
void pm_blame_free(struct pm_blame *blame);
/* The first _open loads a library, which takes 1 to 3 ms: unless another thread has done so. */
void pm_blame_prepare(void);

/* [low, low + size_bytes): ELF addresses of a contiguous piece of code of one symbol that begins
 * with an instruction; address lies within. Returns the address of an instruction there; address
 * itself when there is nothing better, also when memory ends. A piece is decoded once and kept. */
uint64_t pm_blame_address(struct pm_blame *blame, uint64_t low, uint64_t size_bytes,
                          uint64_t address);

/* A natural loop of the piece: the addresses of its first instruction, and of the last one that
 * goes back to it. */
struct pm_blame_loop {
    uint64_t head, last;
};
/* The loops around the instruction that has the address in it, innermost first. Returns their
 * number, at most max; 0: none, or nothing is known. */
size_t pm_blame_loops(struct pm_blame *blame, uint64_t low, uint64_t size_bytes, uint64_t address,
                      struct pm_blame_loop *ret_loops, size_t max);
/* Where the instruction begins that has the address in it; 0: not known. */
uint64_t pm_blame_instruction(struct pm_blame *blame, uint64_t low, uint64_t size_bytes,
                              uint64_t address);
/* The first instruction at *address or behind it that calls something, or jumps to elsewhere, or to
 * where nobody knows: its address. False: there is none, or nothing is known. */
bool pm_blame_next_call(struct pm_blame *blame, uint64_t low, uint64_t size_bytes,
                        uint64_t *address);
/* The bytes of [low, low + size_bytes) as they are in the file; NULL: they are not all there.
 * Lent. */
const unsigned char *pm_blame_code(const struct pm_blame *blame, uint64_t low, uint64_t size_bytes);

/* What is loaded of the file, piece by piece. */
struct pm_blame_segment {
    uint64_t address, size_bytes;
    const unsigned char *bytes; /* lent */
    bool is_code;
};
/* False: there are no more. */
bool pm_blame_segment(const struct pm_blame *blame, size_t index,
                      struct pm_blame_segment *ret_segment);
/* Whether it is loaded at the addresses that it has in the file. */
bool pm_blame_is_fixed(const struct pm_blame *blame);

/* Calls the visitor for each instruction of [low, low + size_bytes), which begins with one, in
 * the assembler's words (Intel's order). False: the bytes are not there, or are no instructions
 * from some place on. */
typedef void pm_blame_visitor(void *context, const char *mnemonic, const char *operands);
bool pm_blame_visit(const struct pm_blame *blame, uint64_t low, uint64_t size_bytes,
                    pm_blame_visitor *visitor, void *context);

#endif
