/* Which loop of the source code belongs to. The source says in which loops a statement lies; the
 * code has natural loops of its own. A natural loop is one of the source's: the innermost that
 * most of its code lies in.
 *
 * Code outside of the natural loop that its loop of the source is counts for that loop only when
 * the loop has the same statement within, too (a round that was peeled off). What leaves a loop for
 * good ("return" amid a search) is written in the loop, but runs once. A loop of the source
 * without a natural one was unrolled completely: there the source says.
 */
#include "code_loops.h"

#include "llvm/CodeGen/MachineDominators.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineLoopInfo.h"

#include <map>
#include <set>

using namespace llvm;

using statement = std::tuple<pm_loop_key, int, const char *, unsigned, unsigned>;

struct pm_code_loops {
    MachineDominatorTree tree;
    MachineLoopInfo loops;
    std::map<const MachineLoop *, pm_loop_key> identity;
    std::set<pm_loop_key> natural; /* loops of the source that are there */
    std::set<statement> within;    /* what runs in them */

    explicit pm_code_loops(MachineFunction &machine) : tree(machine), loops(tree) {}
};

static statement statement_of(const pm_loop_key &loop, const struct pm_located &at)
{
    return {loop, at.site, at.place.file, at.place.line, at.place.column};
}

/* --- identities --- */

/* How much of the loop's own code lies in which loop of the source. */
struct votes {
    std::map<pm_loop_key, std::pair<unsigned, size_t>> loops; /* votes, how deep */
    unsigned n;
};

static void vote_block(const MachineBasicBlock &block, pm_locate &locate, votes *votes)
{
    for (const MachineInstr &instruction : block) {
        const struct pm_located *at = locate(instruction);
        if (!at)
            continue;
        votes->n++;
        for (size_t i = 0; i < at->loops.size(); i++) {
            auto &vote = votes->loops[at->loops[i]];
            vote.first++;
            vote.second = at->loops.size() - i;
        }
    }
}

static bool find_identity(const struct pm_code_loops &code, const MachineLoop &loop,
                          pm_locate &locate, pm_loop_key *ret)
{
    votes votes = {};
    size_t deepest = 0;
    for (const MachineBasicBlock *block : loop.getBlocks())
        if (code.loops.getLoopFor(block) == &loop)
            vote_block(*block, locate, &votes);
    for (const auto &entry : votes.loops)
        if (2 * entry.second.first > votes.n && entry.second.second > deepest) {
            *ret = entry.first;
            deepest = entry.second.second;
        }
    return deepest != 0;
}

static bool is_among(const pm_loop_key &loop, const struct pm_located &at)
{
    for (const pm_loop_key &known : at.loops)
        if (known == loop)
            return true;
    return false;
}

static void find_within(struct pm_code_loops *code, const MachineBasicBlock &block,
                        pm_locate &locate)
{
    for (const MachineLoop *loop = code->loops.getLoopFor(&block); loop;
         loop = loop->getParentLoop()) {
        auto known = code->identity.find(loop);
        if (known == code->identity.end())
            continue;
        for (const MachineInstr &instruction : block) {
            const struct pm_located *at = locate(instruction);
            if (at && is_among(known->second, *at))
                code->within.insert(statement_of(known->second, *at));
        }
    }
}

struct pm_code_loops *pm_code_loops_new(MachineFunction *machine, pm_locate locate)
{
    auto *code = new pm_code_loops(*machine);
    for (const MachineBasicBlock &block : *machine)
        for (const MachineLoop *loop = code->loops.getLoopFor(&block); loop;
             loop = loop->getParentLoop()) {
            pm_loop_key key;
            if (!code->identity.count(loop) && find_identity(*code, *loop, locate, &key)) {
                code->identity[loop] = key;
                code->natural.insert(key);
            }
        }
    for (const MachineBasicBlock &block : *machine)
        find_within(code, block, locate);
    return code;
}

void pm_code_loops_free(struct pm_code_loops *code)
{
    delete code;
}

/* --- the loop of some code --- */

static bool is_in(const struct pm_code_loops &code, const MachineBasicBlock &block,
                  const pm_loop_key &key)
{
    for (const MachineLoop *loop = code.loops.getLoopFor(&block); loop;
         loop = loop->getParentLoop()) {
        auto known = code.identity.find(loop);
        if (known != code.identity.end() && known->second == key)
            return true;
    }
    return false;
}

const MachineBasicBlock *pm_code_loop_head(const struct pm_code_loops *code,
                                           const MachineBasicBlock &block)
{
    const MachineLoop *loop = code->loops.getLoopFor(&block);
    return loop ? loop->getHeader() : NULL;
}

/* Does the program, or at least the function, end here by a call that does not return? */
static bool ends_without_return(const MachineBasicBlock *block)
{
    enum { BLOCKS_MAX = 32 };
    for (unsigned i = 0; i < BLOCKS_MAX && block->succ_size() == 1; i++)
        block = *block->succ_begin();
    return block->succ_empty() && (block->empty() || !block->back().isReturn());
}

pm_id pm_code_loop_at(const struct pm_code_loops *code, const MachineBasicBlock &block,
                      const struct pm_located &at)
{
    for (size_t i = 0; i < at.loops.size(); i++) {
        const pm_loop_key &key = at.loops[i];
        bool is_head = i == 0 && at.is_head;
        if (is_in(*code, block, key))
            return key.second;
        if (is_head)
            continue;
        if (!code->natural.count(key) || code->within.count(statement_of(key, at)) ||
            ends_without_return(&block))
            return key.second;
    }
    return 0;
}
