/* Marks of loops: where the source's loops are entered and left, in LLVM's code. */
#include "marks.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

#include <set>

extern "C" {
#include "../emit/sled_text.h"
}

using namespace llvm;

/* --- the text --- */

static const char name_head[] = "# perfmap loop ";

std::string pm_mark_text(unsigned kind, pm_id loop, const std::string &loop_name)
{
    struct pm_buf text = PM_BUF_INIT(PM_SLED_TEXT_MAX);
    pm_sled_text_mark(&text, kind, 0, loop);
    if (text.failed)
        pm_no_memory();
    std::string mark(text.data, text.len);
    pm_buf_release(&text);
    mark += name_head;
    for (char c : loop_name) {
        mark += c == '\n' ? ' ' : c;
        if (c == '$') /* LLVM's escape */
            mark += c;
    }
    return mark;
}

bool pm_mark_parse(const char *text, unsigned *ret_kind, pm_id *ret_loop, std::string *ret_name)
{
    if (!pm_sled_text_parse(text, ret_kind, NULL, ret_loop))
        return false;
    const char *name = strstr(text, name_head);
    ret_name->clear();
    for (const char *p = name ? name + strlen(name_head) : ""; *p; p++) {
        *ret_name += *p;
        if (p[0] == '$' && p[1] == '$')
            p++;
    }
    return name != NULL;
}

/* --- loops within one another --- */

unsigned pm_open_depth(const pm_open_loops &open)
{
    unsigned n = 0;
    for (const struct pm_open_loop &loop : open)
        n += loop.has_sled;
    return n < PM_SLED_DEPTH_MASK ? n : (unsigned)PM_SLED_DEPTH_MASK;
}

thread_local unsigned pm_n_nested_loops;

void pm_note_dropped_mark(unsigned kind, pm_id loop)
{
    if (kind != PM_SLED_LOOP_ENTER)
        return;
    pm_n_nested_loops++;
    pm_fact_bare(pm_unit_facts(), loop, true);
}

bool pm_follow_mark(pm_open_loops *open, unsigned kind, pm_id loop, unsigned *ret_depth)
{
    if (kind == PM_SLED_LOOP_ENTER) {
        bool has_sled = pm_open_depth(*open) == 0 || pm_compilation.options.all_loops;
        open->push_back({loop, has_sled});
        *ret_depth = pm_open_depth(*open);
        return has_sled;
    }
    for (size_t i = open->size(); i-- > 0;)
        if ((*open)[i].id == loop) {
            bool has_sled = (*open)[i].has_sled;
            open->resize(i + 1);
            *ret_depth = pm_open_depth(*open);
            open->resize(i);
            return has_sled;
        }
    *ret_depth = 1;
    return true;
}

/* --- marks that get no sled --- */

static bool is_mark(const Instruction &instruction, unsigned *ret_kind, pm_id *ret_loop)
{
    std::string name;
    const auto *call = dyn_cast<CallInst>(&instruction);
    const auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : NULL;
    return text &&
           pm_mark_parse(StringRef(text->getAsmString()).str().c_str(), ret_kind, ret_loop, &name);
}

bool pm_has_marks(const Function &function)
{
    unsigned kind;
    pm_id loop;
    for (const BasicBlock &block : function)
        for (const Instruction &instruction : block)
            if (is_mark(instruction, &kind, &loop))
                return true;
    return false;
}

/* A mark before a loop: that one is gone where the loop around it has no other. */
static const Loop *unrolled_in(const LoopInfo &loops, const BasicBlock &block)
{
    const Loop *around = loops.getLoopFor(&block);
    return around && around->isInnermost() ? around : NULL;
}

namespace
{
struct nested_marks {
    std::vector<Instruction *> list;
    std::set<std::pair<const Loop *, pm_id>> unrolled;
};
} // namespace

static void find_unrolled(Function &function, const LoopInfo &loops, nested_marks *nested)
{
    unsigned kind;
    pm_id id;
    for (const BasicBlock &block : function)
        if (const Loop *around = unrolled_in(loops, block))
            for (const Instruction &instruction : block)
                if (is_mark(instruction, &kind, &id) && kind == PM_SLED_LOOP_ENTER)
                    nested->unrolled.insert({around, id});
}

static void find_nested(BasicBlock &block, const Loop *unrolled_in, pm_open_loops *open,
                        nested_marks *nested)
{
    unsigned kind, depth;
    pm_id loop;
    for (Instruction &instruction : block) {
        if (!is_mark(instruction, &kind, &loop))
            continue;
        bool is_unrolled = unrolled_in && nested->unrolled.count({unrolled_in, loop});
        if (!is_unrolled && pm_follow_mark(open, kind, loop, &depth))
            continue;
        nested->list.push_back(&instruction);
        pm_note_dropped_mark(kind, loop);
    }
}

bool pm_marks_drop_nested(Function &function, const LoopInfo &loops)
{
    nested_marks nested;
    if (pm_compilation.options.all_loops)
        return false;
    find_unrolled(function, loops, &nested);
    pm_follow_blocks(&function.getEntryBlock(), [&](BasicBlock &block, pm_open_loops *open) {
        find_nested(block, unrolled_in(loops, block), open, &nested);
    });
    for (Instruction *mark : nested.list)
        mark->eraseFromParent();
    return !nested.list.empty();
}
