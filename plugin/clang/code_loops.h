/* Between map.cc and code_loops.cc: which loop of the source code belongs to. */
#ifndef PM_CLANG_CODE_LOOPS_H
#define PM_CLANG_CODE_LOOPS_H

#include "map.h"

#include <functional>

/* A loop of the source within an inlined copy (-1: the function itself). */
using pm_loop_key = std::pair<int, pm_id>;

/* Where some code is in the source. */
struct pm_located {
    int site;
    const struct pm_read_function *read; /* whose text the place is in */
    struct pm_place place;               /* of the statement; line 0 nowhere */
    std::vector<pm_loop_key> loops;      /* in which it lies as written, the innermost first */
    bool is_head;                        /* it is the keyword of the first of them */
};

/* NULL: nowhere, or no code. */
using pm_locate = std::function<const struct pm_located *(const llvm::MachineInstr &)>;

struct pm_code_loops;
struct pm_code_loops *pm_code_loops_new(llvm::MachineFunction *machine, pm_locate locate);
void pm_code_loops_free(struct pm_code_loops *code);
/* The innermost; 0: none. */
pm_id pm_code_loop_at(const struct pm_code_loops *code, const llvm::MachineBasicBlock &block,
                      const struct pm_located &at);

/* The head of the natural loop around the block, as the code has it; NULL: none. */
const llvm::MachineBasicBlock *pm_code_loop_head(const struct pm_code_loops *code,
                                                 const llvm::MachineBasicBlock &block);

#endif
