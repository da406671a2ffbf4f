/* Between loops.cc, copies.cc and code.cc: marks of loops.
 *
 * A mark is an asm whose text is a comment for assemblers, until code.cc makes a sled of it. */
#ifndef PM_CLANG_MARKS_H
#define PM_CLANG_MARKS_H

#include "backend.h"

#include "llvm/ADT/GraphTraits.h"

#include <map>

namespace llvm
{
class LoopInfo;
} // namespace llvm

/* The id is that of the loop of the source. */
std::string pm_mark_text(unsigned kind, pm_id loop, const std::string &loop_name);
bool pm_mark_parse(const char *text, unsigned *ret_kind, pm_id *ret_loop, std::string *ret_name);

/* A loop of the source that is being run, as far as marks say. */
struct pm_open_loop {
    pm_id id;
    bool has_sled;
};
using pm_open_loops = std::vector<struct pm_open_loop>;

/* How many of them have sleds, as sleds hold it. */
unsigned pm_open_depth(const pm_open_loops &open);
/* A mark opens or closes a loop. False: it gets no sled. ret_depth: of the loop. */
bool pm_follow_mark(pm_open_loops *open, unsigned kind, pm_id loop, unsigned *ret_depth);
/* A mark of a loop that lies in another one is dropped, by who calls this. */
void pm_note_dropped_mark(unsigned kind, pm_id loop);
/* So many loops have no sleds for that. */
extern thread_local unsigned pm_n_nested_loops;

/* From the entry on, each block once, of LLVM's code or of machine code: visit(block, &open), where
 * `open` are the loops that the block begins in, and becomes those that it ends in. How deep in
 * loops blocks begin; those that nothing leads to are missing. */
template <class Block, class Visit>
std::map<const Block *, unsigned> pm_follow_blocks(Block *entry, Visit visit)
{
    std::vector<std::pair<Block *, pm_open_loops>> todo = {{entry, {}}};
    std::map<const Block *, unsigned> depths;
    for (size_t at = 0; at < todo.size(); at++) {
        Block *block = todo[at].first;
        pm_open_loops open = std::move(todo[at].second);
        if (!depths.emplace(block, pm_open_depth(open)).second)
            continue;
        visit(*block, &open);
        for (Block *next : llvm::children<Block *>(block))
            todo.push_back({next, open});
    }
    return depths;
}

bool pm_has_marks(const llvm::Function &function);
/* Those that get no sled go, and those in an innermost loop: their own loop was unrolled. Functions
 * are inlined into loops, and an asm in a loop keeps it from being vectorised. True: some went. */
bool pm_marks_drop_nested(llvm::Function &function, const llvm::LoopInfo &loops);

#endif
