/* Contexts: paths of sentences, merged over all threads and processes. A context is its parent,
 * its sentence and its flags; rows are given out from 1, a parent's before its children's.
 *
 *     struct collect_node root, node;
 *     status = collect_context(c, 0, sentence, 0, &row);
 */
#ifndef PM_COLLECT_CONTEXTS_H
#define PM_COLLECT_CONTEXTS_H

#include "mapping/base/map.h"
#include "mapping/base/status.h"

struct collector;

/* As in table contexts. */
enum {
    CONTEXT_FOLDED = 1,
    CONTEXT_FOREIGN_STACK = 2,
    CONTEXT_SAMPLED = 4,
    CONTEXT_INLINED = 8,
    CONTEXT_COUNTED = 16,
    /* begun and not ended: active with all that is below, in no order. With FOLDED: how often it
     * was begun there */
    CONTEXT_AMBIENT = 32,
    /* Of contexts that causes.c and kernel.c make. */
    CONTEXT_CAUSE = 64,
    CONTEXT_TOLD = 128,
    CONTEXT_CAUSE_ALONE = 256,
    /* Of counters that bodies.c looks at. */
    CONTEXT_CONTINUED = 512
};

/* What a context of a run file has become. */
struct collect_node {
    uint32_t row;
    bool is_foreign; /* on a foreign stack, as all that is below it */
};

/* The flag of contexts below it. */
static inline unsigned collect_stack_flag(struct collect_node node)
{
    return node.is_foreign ? CONTEXT_FOREIGN_STACK : 0;
}

struct collect_context_key {
    uint32_t parent, sentence, flags;
};

struct collect_contexts {
    struct collect_context_key *keys; /* by row less one */
    uint32_t n, cap;
    uint32_t *slots;           /* rows by hash of their keys, 0: free; at most half full */
    uint32_t n_found, n_slots; /* n_found: of n, those that collect_context finds again */
    struct collect_following *following; /* what was looked up behind which context */
    uint32_t last;
    struct pm_map of_sentence; /* the last context that was made of it */
};

/* The context of the key, made when it is not there yet. parent 0: a root. */
PM_MUST_CHECK enum pm_status collect_context(struct collector *c, uint32_t parent,
                                             uint32_t sentence, unsigned flags,
                                             uint32_t *ret_context);
/* 0: there is no such context. */
uint32_t collect_find_context(const struct collector *c, uint32_t parent, uint32_t sentence,
                              unsigned flags);
/* Another one, which is known to who makes it only. */
PM_MUST_CHECK enum pm_status collect_new_context(struct collector *c, uint32_t parent,
                                                 uint32_t sentence, unsigned flags,
                                                 uint32_t *ret_context);
void collect_contexts_release(struct collector *c);

#endif
