/* Inlined functions and inner loops that lie around calls. */
#ifndef PM_COLLECT_CALL_PATHS_H
#define PM_COLLECT_CALL_PATHS_H

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/base/status.h"

struct collect_binary;
struct collect_call_path;
struct collect_next_path;
struct collector;
struct pm_code_range;

/* A call instruction in code with a late map. callee 0: not a symbol of the same binary, or
 * bytes that only look so. */
struct collect_call {
    pm_id caller, callee;
    const struct pm_code_range *range;
    pm_id loop; /* collect_loop_of it */
    uint64_t address;
};

/* Of one binary. */
struct collect_calls {
    struct collect_call *list; /* by caller and callee */
    uint32_t n, cap;
    bool is_listed;
    struct collect_call_path **paths;
    uint32_t n_paths, paths_cap;
    struct pm_map by_call;          /* caller, active loop, callee -> position in paths + 1 */
    struct collect_next_path *next; /* what was looked up behind which path */
    uint32_t last;
    struct pm_map lacking; /* functions and loops whose contexts lack some callees -> 1 */
};

/* Down from the context of the symbol `caller`, or of one of its loops (0: none is active), to
 * what its calls of `callee` lie in. callee 0: of another binary. flags: of the contexts. */
PM_MUST_CHECK enum pm_status collect_call_path(struct collector *c, struct collect_binary *binary,
                                               pm_id caller, pm_id loopcode, pm_id callee,
                                               unsigned flags, uint32_t *context);
/* Down from the context of a symbol, or of its active loop (`around`, a loopcode; 0: none), to what
 * another loop of the symbol lies in: where functions with loops were inlined, these. Where copies
 * of the loop lie in several, what is not around all of them is marked. */
PM_MUST_CHECK enum pm_status collect_loop_path(struct collector *c, struct collect_binary *binary,
                                               pm_id around, pm_id loopcode, unsigned flags,
                                               uint32_t *context);
/* The symbol whose code is active: a loop may be followed where its function is not, and is
 * active below another one then. */
pm_id collect_symbol_around(const struct collect_binary *binary, pm_id symbol, pm_id loopcode);
/* Opens what the rest needs of a binary that was read; without it no calls are known. */
PM_MUST_CHECK enum pm_status collect_need_calls(struct collector *c, struct collect_binary *binary);
/* Whether that has anything to do. */
bool collect_lacks_calls(const struct collect_binary *binary);
/* All calls in the code of a binary, by caller and callee. Lent. */
PM_MUST_CHECK enum pm_status collect_list_calls(struct collector *c, struct collect_binary *binary,
                                                const struct collect_call **ret_calls,
                                                size_t *ret_n);
/* Whether it is one: of what is not known, the bytes may only look so. */
bool collect_is_call(const struct collect_binary *binary, const struct collect_call *call);
/* Where the symbol jumps to code that has no late map, its last call there: the last of several
 * places. 0: nowhere. */
PM_MUST_CHECK enum pm_status collect_jump_out(struct collector *c, struct collect_binary *binary,
                                              pm_id symbol, uint64_t *ret_address);
/* Where the symbol jumps to the beginning of another one, if that is for one statement only; 0. */
PM_MUST_CHECK enum pm_status collect_jump_to(struct collector *c, struct collect_binary *binary,
                                             pm_id symbol, pm_id callee, uint64_t *ret_address);
/* What the call in the symbol that ends at the address calls; 0: nobody knows. */
PM_MUST_CHECK enum pm_status collect_called_at(struct collector *c, struct collect_binary *binary,
                                               pm_id symbol, uint64_t address, pm_id *ret_callee);
/* Of a function, a loop or code: what it calls is not below it. */
PM_MUST_CHECK enum pm_status collect_mark_lacking(struct collector *c, uint32_t noun);
/* Functions and loops that calls could not be brought to; when all contexts are there. */
PM_MUST_CHECK enum pm_status collect_lacking_end(struct collector *c);
/* Functions that were inlined wherever they were called get a context in code that was entered,
 * where all calls are expected, or when they lack callees. */
PM_MUST_CHECK enum pm_status collect_inlined_end(struct collector *c);
void collect_call_paths_release(struct collect_binary *binary);

#endif
