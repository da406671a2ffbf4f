/* A context: struct pm_run_node of the run file as the runtime sees it; and what a trampoline tells
 * the slow path about an event. */
#ifndef PM_RUNTIME_NODE_H
#define PM_RUNTIME_NODE_H

#include "format/pm_run.h"
#include "format/pm_sled.h"
#include "runtime/base/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_node {
    uint32_t noun;
    uint32_t parent_place; /* file offset / 64 */
    struct pm_node *parent;
    uint64_t sp;
    uint64_t start_tsc;
    uint64_t n_calls;
    uint64_t inclusive_tsc;
    uint32_t gone; /* 1: closed from outside, for its sleds were disarmed; sp is 0 then */
    uint32_t depth;
    struct pm_node *cached_child; /* never NULL: pm_sentinel until there is one */
    struct pm_node *first_child;
    struct pm_node *next_sibling;
    uint32_t kind;
    uint32_t flags;
    uint32_t place;      /* of this node: file offset / 64 */
    uint32_t loop_depth; /* 0 for functions and roots */
    /* ambient.c: the same path below another set, used last; NULL: none yet */
    struct pm_node *twin;
    struct pm_node *way; /* ambient.c: a child, when a path is walked down */
    uint32_t set;        /* that it is below: number of a word; 0: none */
    /* 1: coroutines.c: it has a time, and waits. Of a context without a time that has jumped
     * away: the lower half of its return address */
    uint32_t paused;
    uint64_t sampled_calls; /* sample.c: n_calls at the last sample that found it open */
};
#define PM_NODE_CHECK(a, b)                                                        \
    _Static_assert(offsetof(struct pm_node, a) == offsetof(struct pm_run_node, b), \
                   #a " has its place in the file")
PM_NODE_CHECK(noun, noun);
PM_NODE_CHECK(parent_place, parent);
PM_NODE_CHECK(sp, sp);
PM_NODE_CHECK(start_tsc, start_tsc);
PM_NODE_CHECK(n_calls, n_calls);
PM_NODE_CHECK(inclusive_tsc, inclusive_tsc);
PM_NODE_CHECK(depth, depth);
PM_NODE_CHECK(kind, kind);
PM_NODE_CHECK(flags, flags);
_Static_assert(sizeof(struct pm_node) == sizeof(struct pm_run_node), "same size");

/* What `current` points at when the fast path must not be taken (thread unknown, folding, foreign
 * stack): its sp is 0, so that every compare in a trampoline fails. Never written. */
extern struct pm_node pm_sentinel;

/* What a trampoline tells the slow path. */
struct pm_probe {
    uint32_t noun;
    uint8_t kind; /* enum pm_sled_kind */
    uint8_t loop_depth;
    uint16_t bank;
    uint32_t counter;  /* index in the bank */
    uint8_t mode;      /* enum pm_run_mode of this event: nouns may differ */
    uint8_t inside;    /* entered only where pm_node_terms has one of these bits; 0: always */
    uint8_t tail;      /* of PM_SLED_TAIL: enum pm_tail; TO_SLED: counter is the noun jumped to */
    uint8_t by_setjmp; /* of PM_SLED_LAND */
};

/* Terms of the question that the program was started with (`perfmap run --ask`), which are
 * active in a context: of its noun and all above. Where it is not known, all of them. */
enum { PM_NODE_TERMS_SHIFT = 24 };
#define PM_NODE_TERMS 0xff000000u
static inline bool pm_is_inside(const struct pm_node *node, const struct pm_probe *probe)
{
    return probe->inside == 0 || (node->flags >> PM_NODE_TERMS_SHIFT & probe->inside) != 0;
}

/* A sentence that was entered, or a cause that was adopted: by the program, in a frame of which
 * its sp tells. */
static inline bool pm_node_is_said(const struct pm_node *node)
{
    return node->kind == PM_RUN_SENTENCE_ENTER || node->kind == PM_RUN_CAUSE_ENTER;
}

static inline bool pm_node_is_gone(const struct pm_node *node)
{
    return pm_load(node->sp) == 0 && pm_load(node->gone) != 0;
}
/* The thread that owns it finds out at its next event. */
static inline void pm_node_close_from_outside(struct pm_node *node)
{
    pm_store(node->gone, 1);
    pm_barrier();
    pm_store(node->sp, 0);
}

static inline bool pm_kind_is_entry(unsigned kind)
{
    return kind == PM_SLED_ENTRY || kind == PM_SLED_LOOP_ENTER || kind == PM_RUN_SENTENCE_ENTER ||
           kind == PM_RUN_CAUSE_ENTER;
}

#endif
