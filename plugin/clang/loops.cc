/* Marks of loops, in LLVM's code before all optimisers: there the loops are those of the source.
 *
 * A mark is an asm without operands: a comment, which the code's emission turns into a sled
 * (code.cc). It touches only memory that the program cannot reach: with a "memory" clobber loops
 * lose a third of what the optimisers do (notes of GCC's sleds_loop.cc hold here too). Inlining
 * comes later, so a mark may come to lie in another loop; marks.cc drops those behind the inliner,
 * and code.cc what is left of them.
 */
#include "marks.h"
#include "reading.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#if LLVM_VERSION_MAJOR >= 16
#include "llvm/Support/ModRef.h"
#endif
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

/* --- which loop of the source? --- */

namespace
{
struct source_loop {
    pm_id id;
    std::string name;
};
} // namespace

static std::string loop_name(const struct pm_source_loop *loop)
{
    struct pm_buf name = PM_BUF_INIT(1 << 20);
    pm_source_loop_name(loop, &name);
    if (name.failed)
        pm_no_memory();
    std::string text(name.data, name.len);
    pm_buf_release(&name);
    return text;
}

static int loop_at(const struct pm_read_function *read, const DILocation *place)
{
    const struct pm_source_function *function = read->source;
    for (const auto &directive : read->directives)
        if (directive.first.line == place->getLine() &&
            directive.first.column == place->getColumn())
            return pm_source_loop_with(function, directive.second);
    for (uint32_t i = 0; i < function->n_loops; i++)
        if (function->loops[i].place.line == place->getLine() &&
            function->loops[i].place.column == place->getColumn())
            return (int)i;
    return -1;
}

/* A loop of gotos: its place is that of the code that it begins with. */
static source_loop identity_of_goto(const struct pm_source_function *function,
                                    const DILocation *location)
{
    struct pm_place place = {NULL, NULL, location->getLine(), location->getColumn()};
    pm_place_set_file(&place, location->getFilename(), location->getDirectory());
    source_loop found = {pm_id_of_loop(function->id, place.file, pm_place_point(&place)), ""};
    struct pm_buf name = PM_BUF_INIT(1 << 20);
    pm_fact_loop_of(pm_unit_facts(), function, found.id, &place, &name);
    if (name.failed)
        pm_no_memory();
    found.name.assign(name.data, name.len);
    pm_buf_release(&name);
    return found;
}

/* What clang makes of "reduction(+ : sum)": it tries until no other thread comes between. */
static bool adds_atomically(const Loop *loop)
{
    for (const Instruction &instruction : *loop->getHeader())
        if (isa<AtomicCmpXchgInst>(instruction))
            return true;
    return false;
}

/* A coroutine goes on in the middle of it. */
static bool suspends(const Loop *loop)
{
    for (const BasicBlock *block : loop->blocks())
        for (const Instruction &instruction : *block)
            if (const auto *call = dyn_cast<IntrinsicInst>(&instruction))
                if (call->getIntrinsicID() == Intrinsic::coro_suspend)
                    return true;
    return false;
}

/* Gives the loop an identity. False: it has no place, or gets no sled because it only searches. */
static bool identify(const struct pm_read_function *function, Loop *loop, source_loop *ret)
{
    DebugLoc start = loop->getStartLoc();
    if (!start || start.getLine() == 0 || adds_atomically(loop))
        return false;
    int index = loop_at(function, start.get());
    if (suspends(loop)) {
        if (index >= 0)
            pm_fact_bare(pm_unit_facts(), function->source->loops[index].id, true);
        return false;
    }
    if (index < 0) {
        *ret = identity_of_goto(function->source, start.get());
        return true;
    }
    if (function->searches[(size_t)index] && pm_compilation.optimizes &&
        !pm_compilation.options.search_loops) {
        pm_fact_bare(pm_unit_facts(), function->source->loops[index].id, false);
        return false;
    }
    *ret = {function->source->loops[index].id, loop_name(&function->source->loops[index])};
    return true;
}

/* --- marks --- */

static void put_mark(Instruction *before, const DebugLoc &place, unsigned kind,
                     const source_loop &loop)
{
    LLVMContext &context = before->getContext();
    auto *type = FunctionType::get(Type::getVoidTy(context), false);
    auto *text = InlineAsm::get(type, pm_mark_text(kind, loop.id, loop.name),
                                "~{dirflag},~{fpsr},~{flags}", true);
    CallInst *mark = IRBuilder<>(before).CreateCall(type, text);
    mark->setDebugLoc(place);
    mark->addFnAttr(Attribute::NoUnwind);
    mark->addFnAttr(Attribute::WillReturn);
#if LLVM_VERSION_MAJOR < 16
    mark->addFnAttr(Attribute::InaccessibleMemOnly);
#else
    mark->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
#endif
}

/* Does the way from here end in a call that does not return, without a fork? */
static bool ends_without_return(BasicBlock *block)
{
    while (BasicBlock *next = block->getSingleSuccessor()) {
        if (!next->getSinglePredecessor())
            return false;
        block = next;
    }
    return isa<UnreachableInst>(block->getTerminator());
}

static bool mark_loop(Loop *loop, const source_loop &id, DominatorTree &tree, LoopInfo &loops)
{
    BasicBlock *before = loop->getLoopPreheader();
    if (!before)
        before = InsertPreheaderForLoop(loop, &tree, &loops, NULL, false);
    if (!before)
        return false; /* entered by a computed goto */
    formDedicatedExitBlocks(loop, &tree, &loops, NULL, false);
    SmallVector<BasicBlock *, 8> exits;
    loop->getUniqueExitBlocks(exits);
    DebugLoc place = loop->getStartLoc();
    put_mark(before->getTerminator(), place, PM_SLED_LOOP_ENTER, id);
    for (BasicBlock *exit : exits)
        if (!ends_without_return(exit) && exit->getFirstInsertionPt() != exit->end())
            put_mark(&*exit->getFirstInsertionPt(), place, PM_SLED_LOOP_LEAVE, id);
    return true;
}

/* What is in it gets none: bare, as another copy of the same loop may have some. */
static void note_bare(const struct pm_read_function *function, Loop *loop, pm_id around)
{
    DebugLoc start = loop->getStartLoc();
    int index = start ? loop_at(function, start.get()) : -1;
    /* "schedule(static, 10)": one loop of the source is two, within one another */
    if (index >= 0 && function->source->loops[index].id != around)
        pm_fact_bare(pm_unit_facts(), function->source->loops[index].id, true);
    for (Loop *inner : *loop)
        note_bare(function, inner, around);
}

static void mark_loops(const struct pm_read_function *function, const std::vector<Loop *> &list,
                       DominatorTree &tree, LoopInfo &loops)
{
    for (Loop *loop : list) {
        source_loop id;
        bool marked = identify(function, loop, &id) && mark_loop(loop, id, tree, loops);
        if (!marked || pm_compilation.options.all_loops)
            mark_loops(function, std::vector<Loop *>(loop->begin(), loop->end()), tree, loops);
        else
            for (Loop *inner : *loop)
                note_bare(function, inner, id.id);
    }
}

static void add_facts(Function &code, const struct pm_source_function *function)
{
    struct pm_facts *facts = pm_unit_facts();
    struct pm_buf text = PM_BUF_INIT((size_t)1 << 30);
    pm_fact_function(facts, function);
    for (uint32_t i = 0; i < function->n_loops; i++)
        pm_fact_loop(facts, function, (int)i);
    pm_source_function_write(function, &text);
    if (text.failed)
        pm_no_memory();
    code.addFnAttr(PM_ATTRIBUTE_SOURCE, StringRef(text.data, text.len));
    pm_buf_release(&text);
}

/* "work.omp_outlined_debug__", ".omp_outlined._debug__.4" */
static bool ends_with_debug(StringRef symbol)
{
    static const StringRef mark("_debug__");
    size_t at = symbol.rfind(mark);
    StringRef rest = at != StringRef::npos ? symbol.substr(at + mark.size()) : "?";
    return rest.find_first_not_of(".0123456789") == StringRef::npos;
}

/* With debug information a region's body is a function that another one calls; that of a task
 * always is. */
static bool is_inner(const Function &code)
{
    if (!pm_is_outlined(code.getName()) || code.use_empty())
        return false;
    if (ends_with_debug(code.getName()))
        return true;
    for (const User *user : code.users()) {
        const auto *call = dyn_cast<CallBase>(user);
        if (!call || call->getCalledFunction() != &code ||
            call->getFunction()->getName().find("omp_task_entry") == StringRef::npos)
            return false;
    }
    return true;
}

static void warn_of_places(void)
{
    if (pm_compilation.has_source && (pm_compilation.options.loops || pm_compilation.options.map))
        fprintf(
            stderr,
            "perfmap: warning: Clang %d keeps no places of code without debug information: "
            "loops get no sleds, statements and arrays are not known, and calls of functions that "
            "may have been inlined are at least (>=); compile with -g1 or -g\n",
            LLVM_VERSION_MAJOR);
}

void pm_loops_mark(Module &module)
{
    bool has_functions = false, has_places = false;
    for (Function &code : module) {
        const struct pm_read_function *function = pm_read_function_of(code);
        if (code.isDeclaration() || code.hasAvailableExternallyLinkage() || !function ||
            !function->selected)
            continue;
        has_functions = true;
        has_places |= code.getSubprogram() != NULL;
        add_facts(code, function->source);
        if (is_inner(code))
            code.addFnAttr(PM_ATTRIBUTE_INNER);
        if (function->text)
            pm_text_state(function->text, function->source);
        if (!pm_compilation.options.loops)
            continue;
        DominatorTree tree(code);
        LoopInfo loops(tree);
        mark_loops(function, std::vector<Loop *>(loops.begin(), loops.end()), tree, loops);
    }
    if (has_functions && !has_places)
        warn_of_places();
}
