/* Does machine code compute on vectors, and how wide are they? What the vectoriser made of a
 * loop, by the instructions that are there.
 *
 *     struct pm_vectors vectors = {0};
 *     pm_blame_visit(blame, low, size_bytes, pm_vectors_count, &vectors);
 *     // "vectorised: 12 of 31 instructions compute on vectors of 16 bytes (2 doubles)"
 *     if (pm_vectors_say(&vectors, true, &buf)) ...
 *
 * x86-64. Only arithmetic counts: one number may be moved, cleared or have its sign changed in a
 * vector register. No state; any thread.
 */
#ifndef PM_VECTORS_H
#define PM_VECTORS_H

#include "../base/str.h"

struct pm_vectors {
    uint32_t n_instructions;
    uint32_t n_vector; /* compute on vectors */
    uint32_t n_scalar; /* compute on single floating-point numbers */
    uint32_t n_moves;  /* move vectors from or to memory */
    /* of the widest vectors that are computed on, or moved when none are; 0: there are none */
    uint32_t width_bytes;
    uint32_t element_bytes; /* of these; 0: moves only */
    bool is_float;
};

/* Adds one instruction: a pm_blame_visitor, with a struct pm_vectors. */
void pm_vectors_count(void *vectors, const char *mnemonic, const char *operands);

/* Adds a verdict. expects_vectors: of a loop, that it has none is told as well. False, and
 * nothing is added: there is nothing to say. */
bool pm_vectors_say(const struct pm_vectors *vectors, bool expects_vectors, struct pm_buf *out);

#endif
