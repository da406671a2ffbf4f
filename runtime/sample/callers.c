/* Who called the function without sleds that a sample was taken in: a library's, or one that the
 * compiler made of a library's header. First by its unwind tables, frame by frame: that is
 * certain. Where a library has none (code that was made at run time, assembler), the first word
 * on the stack that stands behind a call is taken, which may be an older one.
 */
#include "runtime/code/places.h"
#include "runtime/sample/sample.h"

enum { MAX_FRAMES = 64 };

/* What a look at the stack has come to. */
enum outcome {
    FOUND,
    NOBODY, /* up to the frame of the context's function: that one jumped there */
    TOO_SHORT,
    NO_TABLES,
};

/* Not where a handler has interrupted something. */
static bool is_caller(const struct pm_unwind *u)
{
    return u->exact || pm_places_is_return(pm_unwind_ip(u));
}

/* What calls is code of an object with sleds; of C++, code of a function with sleds, for others
 * are of the library's headers: *ret_caller; where there is none, the first of these; 0 before
 * any was met. end: where the return address of the context's function is, maybe at the stack's
 * own end; UINT64_MAX: not on this stack. */
static enum outcome unwind(struct pm_unwind *u, const struct pm_taken *taken, uint64_t end,
                           uint64_t *ret_caller)
{
    struct pmr_place place;
    bool skips = pm_places_have_cxx() || !pm_places_is_foreign(taken->address);
    *ret_caller = 0;
    if (!pm_unwind_begin(u, taken))
        return NO_TABLES;
    for (unsigned n = 0; n < MAX_FRAMES; n++) {
        if (!pm_places_find(pm_unwind_lookup(u), &place))
            return *ret_caller != 0 ? FOUND : NO_TABLES;
        if (n != 0 && place.calls) {
            bool calls = !skips || !pm_places_lacks_sled(pm_unwind_lookup(u), &place.tables);
            if (calls || *ret_caller == 0)
                *ret_caller = pm_unwind_ip(u);
            if (calls)
                return FOUND;
        }
        enum pm_unwind_result result = pm_unwind_step(u, &place.tables);
        bool is_wrong = n == 0 && (result != PM_UNWIND_FRAME || !is_caller(u));
        if (is_wrong && pm_unwind_by_pushes(u, taken, &place.tables) && is_caller(u))
            result = PM_UNWIND_FRAME;
        bool is_end = result == PM_UNWIND_BOTTOM || u->cfa - 8 >= end;
        if (result == PM_UNWIND_SHORT)
            return TOO_SHORT;
        if (*ret_caller != 0 && (result != PM_UNWIND_FRAME || is_end))
            return FOUND;
        if (result != PM_UNWIND_FRAME && result != PM_UNWIND_BOTTOM)
            return NO_TABLES;
        if (is_end)
            return NOBODY;
    }
    return *ret_caller != 0 ? FOUND : NOBODY;
}

static struct pm_caller search(struct pm_sampler *s, const struct pm_taken *taken, uint64_t end)
{
    uint64_t bytes = taken->stack_bytes;
    bool reaches = end != UINT64_MAX && end - taken->sp <= bytes;
    if (reaches)
        bytes = end - taken->sp;
    struct pm_caller caller = {bytes != 0 ? pm_places_caller(taken->stack, bytes) : 0, 0};
    s->is_short |= caller.address == 0 && !reaches;
    return caller;
}

static bool lacks_sled(uint64_t address)
{
    struct pmr_place place;
    return pm_places_find(address, &place) && place.calls &&
           pm_places_lacks_sled(address, &place.tables);
}

struct pm_caller pm_sample_caller(struct pm_sampler *s, const struct pm_node *node,
                                  const struct pm_taken *taken)
{
    struct pm_caller caller = {0};
    bool is_foreign = pm_places_is_foreign(taken->address);
    if (taken->address == 0 || pm_places_is_own(taken->address))
        return caller;
    while (node->loop_depth != 0)
        node = node->parent;
    uint64_t end = pm_sp_frame(pm_load(node->sp));
    if (end < taken->sp) /* equal: what the function jumped to, and has no frame of its own */
        end = UINT64_MAX;
    enum outcome outcome = is_foreign ? NO_TABLES : NOBODY;
    if (pm_places_hold() && (is_foreign || lacks_sled(taken->address)))
        outcome = unwind(&s->unwind, taken, end, &caller.address);
    pm_places_release();
    if (caller.address != 0)
        caller.flags = PM_RUN_SAMPLE_CALLER_SURE;
    s->is_short |= outcome == TOO_SHORT;
    return outcome == NO_TABLES && is_foreign ? search(s, taken, end) : caller;
}
