/* What the three sleds_*.cc share. Not for others: backend.h is what the back end's parts say to
 * each other. */
#ifndef PM_GCC_SLEDS_H
#define PM_GCC_SLEDS_H

#include "backend.h"

/* Sled code or portable hooks: for the function being compiled. Sleds are for 64-bit x86. */
bool pm_sleds_possible(void);

/* Loops of the function that get marks, outermost first. The loop optimizer and scalar evolution
 * must be initialised. */
struct pm_marked_loop {
    class loop *loop;
    struct pm_loop_identity identity;
    pm_id id;       /* "loopcode" */
    unsigned depth; /* nesting depth in the symbol, 1 = outermost, at most PM_SLED_DEPTH_MASK */
    /* It goes on with what another one of the same statement began: no entry of its own. And it
     * may run when the others do not. */
    bool is_rest, may_be_first;
};
void pm_sleds_choose_loops(function *fun, std::vector<struct pm_marked_loop> *ret_loops,
                           std::vector<struct pm_marked_loop> *ret_bare);

/* --- sleds_split.cc --- */
/* Which of the chosen loops are the rest of others. */
void pm_sleds_find_rests(function *fun, std::vector<struct pm_marked_loop> *loops);

/* --- sleds_search.cc --- */
/* The loop optimizer and scalar evolution must be initialised. */
bool pm_sleds_is_search_loop(class loop *loop);

/* --- sleds_loop.cc, sleds_call.cc --- */
gasm *pm_sled_asm(unsigned kind, unsigned depth, pm_id id);
/* How deep in loops a landing pad of the function at hand goes on, by its number in the
 * function's list; PM_SLED_DEPTH_MASK: not known. */
unsigned pm_sleds_landing_depth(int landing_pad);
/* In GIMPLE, around calls that are array statements of Fortran. The loop optimizer must be
 * initialised. */
void pm_sleds_put_calls(function *fun);

/* Counted for the verbose line. */
struct pm_sleds_stats {
    unsigned n_functions, n_function_sleds, n_loops, n_loop_sleds, n_search_loops, n_hook_calls;
};
extern struct pm_sleds_stats pm_sleds_stats;

void pm_sleds_function_register(const char *plugin_name);
void pm_sleds_loop_register(const char *plugin_name);
void pm_sleds_portable_register(const char *plugin_name);

#endif
