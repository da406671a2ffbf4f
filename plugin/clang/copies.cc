/* The passes over LLVM's code, and functions some of whose calls run no entry sled: copies of them
 * were inlined, or a call of themselves became a jump to their begin. What their sleds count and
 * time then is not all of it. */
#include "map.h"
#include "marks.h"

/* What LLVM's callbacks are given knows its type by an address in LLVM. */
#pragma GCC visibility push(default)
#include "llvm/ADT/Any.h"
#pragma GCC visibility pop
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LazyCallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Passes/PassBuilder.h"

#include <set>

using namespace llvm;

extern template struct llvm::Any::TypeId<const Module *>;
extern template struct llvm::Any::TypeId<const LazyCallGraph::SCC *>;

/* --- calls of itself --- */

static unsigned count_own_calls(const Function &function)
{
    unsigned n = 0;
    for (const User *user : function.users()) {
        const auto *call = dyn_cast<CallBase>(user);
        n += call && call->getFunction() == &function && call->getCalledFunction() == &function;
    }
    return n;
}

/* Of those that there were, and those that inlining brought. */
static void note_own_calls(Function &function)
{
    unsigned n_before = 0, n = count_own_calls(function);
    StringRef known = function.getFnAttribute(PM_ATTRIBUTE_CALLS).getValueAsString();
    if (known.empty() || (!known.getAsInteger(10, n_before) && n > n_before))
        function.addFnAttr(PM_ATTRIBUTE_CALLS, std::to_string(n));
}

/* Some became jumps to its begin. */
static bool has_lost_own_calls(const Function &function)
{
    unsigned n_before;
    return function.hasFnAttribute(PM_ATTRIBUTE_CALLS) &&
           !function.getFnAttribute(PM_ATTRIBUTE_CALLS)
                .getValueAsString()
                .getAsInteger(10, n_before) &&
           count_own_calls(function) < n_before;
}

/* --- without places --- */

/* Places tell what was inlined. Code without them (Clang 14 without debug information) is known by
 * its calls: a function has copies, perhaps, where a call of it is gone, or where its caller has
 * copies, for they have calls of their own. */
namespace
{
struct noted_call {
    WeakVH call; /* NULL: it is gone */
    std::string caller, callee;
    const struct pm_read_function *read; /* the callee; NULL: not one of the source */
};
} // namespace
static thread_local std::vector<noted_call> calls_without_places;

static void note_calls(Function &caller)
{
    for (Instruction &instruction : instructions(caller)) {
        auto *call = dyn_cast<CallBase>(&instruction);
        const Function *callee = call ? call->getCalledFunction() : NULL;
        if (callee && !callee->isDeclaration() && !callee->hasFnAttribute(Attribute::NoInline))
            calls_without_places.push_back({call, caller.getName().str(), callee->getName().str(),
                                            pm_read_function_of(*callee)});
    }
}

static void note_possible_copies(void)
{
    std::set<std::string> copied;
    size_t n_before;
    do {
        n_before = copied.size();
        for (const noted_call &one : calls_without_places)
            if (!one.call || copied.count(one.caller))
                copied.insert(one.callee);
    } while (copied.size() > n_before);
    for (const noted_call &one : calls_without_places)
        if (one.read && one.read->selected && copied.count(one.callee))
            pm_fact_bare(pm_unit_facts(), one.read->source->id, true);
    calls_without_places.clear();
}

/* Another process inlines, and sees no more. */
static void expect_copies(const Function &function)
{
    const struct pm_read_function *read = pm_read_function_of(function);
    if (read && read->selected && !function.hasFnAttribute(Attribute::NoInline))
        pm_fact_bare(pm_unit_facts(), read->source->id, true);
}

void pm_copies_begin(Module &module)
{
    for (Function &function : module) {
        if (function.hasFnAttribute(PM_ATTRIBUTE_SOURCE))
            note_own_calls(function);
        if (function.isDeclaration() || function.getSubprogram())
            continue;
        if (pm_compilation.is_handed_over)
            expect_copies(function);
        else
            note_calls(function);
    }
}

/* --- inlined copies --- */

static void note_copy(const DISubprogram *inlined)
{
    const struct pm_read_function *read = pm_scopes_find(inlined);
    if (read && read->selected && !pm_is_inner(inlined))
        pm_fact_bare(pm_unit_facts(), read->source->id, true);
}

static thread_local std::set<const DISubprogram *> noted;

/* --- copies that leave no instruction --- */

/* "bool verbose() { return false; }": calls that the inliner is about to look at. Those that are
 * gone when the next pass begins were inlined. Other passes take calls away that never happen. A
 * region's body, of which Clang makes functions, is no copy of the function around. */
static thread_local std::vector<std::pair<WeakVH, const struct pm_read_function *>> before_inlining;

static void note_before_inlining(const Function &caller)
{
    for (const Instruction &instruction : instructions(caller)) {
        const auto *call = dyn_cast<CallBase>(&instruction);
        const Function *callee = call ? call->getCalledFunction() : NULL;
        if (!callee || callee->isDeclaration() || callee->hasFnAttribute(Attribute::NoInline))
            continue;
        const struct pm_read_function *read = pm_read_function_of(*callee);
        if (read && read->selected && !callee->hasFnAttribute(PM_ATTRIBUTE_INNER))
            before_inlining.push_back({const_cast<CallBase *>(call), read});
    }
}

static void note_inlined(void)
{
    for (const auto &one : before_inlining)
        if (!one.first)
            pm_fact_bare(pm_unit_facts(), one.second->source->id, true);
    before_inlining.clear();
}

void pm_copies_forget(void)
{
    noted.clear();
    calls_without_places.clear();
    before_inlining.clear();
}

void pm_copies_look(const Function &function)
{
    for (const Instruction &instruction : instructions(function)) {
        const DILocation *place = instruction.getDebugLoc().get();
        for (; place && place->getInlinedAt(); place = place->getInlinedAt()) {
            const DISubprogram *inlined = place->getScope()->getSubprogram();
            if (inlined && noted.insert(inlined).second)
                note_copy(inlined);
        }
    }
    if (has_lost_own_calls(function))
        if (const struct pm_read_function *read = pm_read_function_of(function))
            pm_fact_bare(pm_unit_facts(), read->source->id, false);
}

/* --- passes --- */

/* Linkers optimise again what was begun elsewhere: then the emission looks for copies. */
static thread_local const Module *begun;

/* -fpass-plugin, opt: options come from the environment, and who emits the code is not known. A
 * late map would say of all code that it touches no variable: debug information says as much, and
 * no more. */
static void begin_without_trees(const Module &module)
{
    pm_options_of_environment(&pm_compilation.options);
    pm_compilation.input = module.getSourceFileName();
    pm_compilation.options.map = false;
    pm_compilation.optimizes = true;
    pm_compilation.is_handed_over = true;
}

/* False: it was done before: what -fplugin loads may be named by -fpass-plugin, too. */
static bool begin_module(Module &module)
{
    if (module.getNamedMetadata("perfmap.done"))
        return false;
    module.getOrInsertNamedMetadata("perfmap.done");
    if (!pm_compilation.has_source)
        begin_without_trees(module);
    pm_scopes_begin(module);
    pm_loops_mark(module);
    pm_scopes_inner(module);
    pm_copies_begin(module);
    begun = &module;
    return true;
}

namespace
{
struct begin_pass : PassInfoMixin<begin_pass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        return begin_module(module) ? PreservedAnalyses::none() : PreservedAnalyses::all();
    }
    static bool isRequired() { return true; }
};

struct copies_pass : PassInfoMixin<copies_pass> {
    PreservedAnalyses run(LazyCallGraph::SCC &functions, CGSCCAnalysisManager &, LazyCallGraph &,
                          CGSCCUpdateResult &)
    {
        for (LazyCallGraph::Node &node : functions)
            if (node.getFunction().getParent() == begun)
                pm_copies_look(node.getFunction());
        return PreservedAnalyses::all();
    }
    static bool isRequired() { return true; }
};

/* Behind the inliner, before calls become jumps. */
struct own_calls_pass : PassInfoMixin<own_calls_pass> {
    PreservedAnalyses run(Function &function, FunctionAnalysisManager &)
    {
        if (function.hasFnAttribute(PM_ATTRIBUTE_CALLS))
            note_own_calls(function);
        return PreservedAnalyses::all();
    }
    static bool isRequired() { return true; }
};

struct nested_marks_pass : PassInfoMixin<nested_marks_pass> {
    PreservedAnalyses run(Function &function, FunctionAnalysisManager &manager)
    {
        if (function.getParent() != begun || !pm_has_marks(function) ||
            !pm_marks_drop_nested(function, manager.getResult<LoopAnalysis>(function)))
            return PreservedAnalyses::all();
        PreservedAnalyses preserved;
        preserved.preserveSet<CFGAnalyses>();
        return preserved;
    }
    static bool isRequired() { return true; }
};

struct end_pass : PassInfoMixin<end_pass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        if (&module != begun)
            return PreservedAnalyses::all();
        note_possible_copies();
        note_inlined();
        for (Function &function : module)
            if (!function.isDeclaration())
                pm_copies_look(function);
        if (pm_compilation.is_handed_over)
            pm_hand_over(module);
        begun = NULL;
        return PreservedAnalyses::all();
    }
    static bool isRequired() { return true; }
};
} // namespace

/* -save-temps: no pass changes code that the next process is to optimise, and so no callback but
 * this one comes before it is written. */
static void hand_over_first(PassBuilder &builder)
{
    PassInstrumentationCallbacks *callbacks = builder.getPassInstrumentationCallbacks();
    if (callbacks)
        callbacks->registerBeforeNonSkippedPassCallback([](StringRef, Any code) {
            if (const auto *module = any_cast<const Module *>(&code))
                if (begin_module(const_cast<Module &>(**module)))
                    pm_hand_over(const_cast<Module &>(**module));
        });
}

/* What a pass works on, if it is one that inlines. */
static void begin_pass_that_inlines(StringRef name, const Any &code)
{
    if (name == "InlinerPass") {
        if (const auto *functions = any_cast<const LazyCallGraph::SCC *>(&code))
            for (LazyCallGraph::Node &node : **functions)
                if (node.getFunction().getParent() == begun)
                    note_before_inlining(node.getFunction());
    } else if (name == "AlwaysInlinerPass" || name == "ModuleInlinerPass") {
        const auto *module = any_cast<const Module *>(&code);
        if (module && *module == begun)
            for (const Function &function : **module)
                note_before_inlining(function);
    }
}

static void watch_inlining(PassBuilder &builder)
{
    PassInstrumentationCallbacks *callbacks = builder.getPassInstrumentationCallbacks();
    if (callbacks)
        callbacks->registerBeforeNonSkippedPassCallback([](StringRef name, Any code) {
            note_inlined();
            if (begun)
                begin_pass_that_inlines(name, code);
        });
}

void pm_passes_register(PassBuilder &builder)
{
    watch_inlining(builder);
    if (pm_compilation.is_optimised_elsewhere)
        hand_over_first(builder);
    builder.registerPipelineParsingCallback(
        [](StringRef name, ModulePassManager &passes, ArrayRef<PassBuilder::PipelineElement>) {
            if (name != "perfmap")
                return false;
            passes.addPass(begin_pass());
            passes.addPass(end_pass());
            return true;
        });
    builder.registerPipelineStartEPCallback(
        [](ModulePassManager &passes, auto...) { passes.addPass(begin_pass()); });
    builder.registerCGSCCOptimizerLateEPCallback([](CGSCCPassManager &passes, auto...) {
        passes.addPass(copies_pass());
        passes.addPass(createCGSCCToFunctionPassAdaptor(nested_marks_pass()));
    });
    builder.registerPeepholeEPCallback(
        [](FunctionPassManager &passes, auto...) { passes.addPass(own_calls_pass()); });
    builder.registerVectorizerStartEPCallback(
        [](FunctionPassManager &passes, auto...) { passes.addPass(nested_marks_pass()); });
    builder.registerOptimizerLastEPCallback(
        [](ModulePassManager &passes, auto...) { passes.addPass(end_pass()); });
}
