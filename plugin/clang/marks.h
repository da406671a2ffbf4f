/* Between loops.cc, copies.cc and code.cc: marks of loops.
 *
 * A mark is an asm whose text is a comment for assemblers, until code.cc makes a sled of it. */
#ifndef PM_CLANG_MARKS_H
#define PM_CLANG_MARKS_H

#include "backend.h"

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

bool pm_has_marks(const llvm::Function &function);
/* Those that get no sled go, and those in an innermost loop: their own loop was unrolled. Functions
 * are inlined into loops, and an asm in a loop keeps it from being vectorised. True: some went. */
bool pm_marks_drop_nested(llvm::Function &function, const llvm::LoopInfo &loops);

#endif
