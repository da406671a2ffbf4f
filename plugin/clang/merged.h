/* Between map.cc and merged.cc: code that optimisers made of equal code of several statements. */
#ifndef PM_CLANG_MERGED_H
#define PM_CLANG_MERGED_H

#include "code_loops.h"

/* LLVM then knows no place (line 0), and only that there was one. */
bool pm_is_merged(const llvm::MachineInstr &instruction);

/* The innermost inlined copy that a place lies in, -1 the function itself. */
using pm_site_of = std::function<int(const llvm::DILocation *)>;

struct pm_merged;
/* Of one function. Sets and loops are lent. */
struct pm_merged *pm_merged_new(const llvm::MachineFunction *machine, struct pm_map_sets *sets,
                                const struct pm_code_loops *loops, pm_locate locate,
                                pm_site_of site_of);
void pm_merged_free(struct pm_merged *merged);

/* The statements that merged code may be of, as spots of the sets: never none, and the first is as
 * good as any. */
struct pm_merged_spots {
    std::vector<int> spots;
    bool are_accesses; /* it is their load or store */
};
/* at: of the code before it. What all of them touch so is added to what is known to be touched. */
struct pm_merged_spots pm_merged_find(struct pm_merged *merged,
                                      const llvm::MachineInstr &instruction,
                                      const struct pm_located *at, struct pm_touched *touched);
/* Code that has a place, though it is of a statement on the other way of an "if", too: spots of
 * that. */
std::vector<int> pm_merged_ways(struct pm_merged *merged, const llvm::MachineInstr &instruction,
                                const struct pm_located *at, const struct pm_touched &touched);
/* Code of the condition of an "if" whose ways are no ways any more: both are computed, and one is
 * chosen without a jump. Spots of the statements that it computes, a set. */
uint32_t pm_merged_choice(struct pm_merged *merged, const llvm::MachineInstr &instruction,
                          const struct pm_located *at);

#endif
