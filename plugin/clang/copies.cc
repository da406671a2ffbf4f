/* The passes over LLVM's code, and functions some of whose calls run no entry sled: copies of them
 * were inlined, or a call of themselves became a jump to their begin. What their sleds count and
 * time then is not all of it. */
#include "map.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LazyCallGraph.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"

#include <set>

using namespace llvm;

static unsigned count_own_calls(const Function &function)
{
    unsigned n = 0;
    for (const Instruction &instruction : instructions(function))
        if (const auto *call = dyn_cast<CallBase>(&instruction))
            n += call->getCalledFunction() == &function;
    return n;
}

void pm_copies_begin(Module &module)
{
    for (Function &function : module)
        if (function.hasFnAttribute(PM_ATTRIBUTE_SOURCE))
            function.addFnAttr(PM_ATTRIBUTE_CALLS, std::to_string(count_own_calls(function)));
}

/* --- inlined copies --- */

static void note_copy(const DISubprogram *inlined, const Module &module)
{
    StringRef linkage = inlined->getLinkageName();
    const Function *function = module.getFunction(linkage.empty() ? inlined->getName() : linkage);
    const struct pm_read_function *read = function ? pm_read_function_of(*function) : NULL;
    if (read && read->selected && !pm_is_outlined(function->getName()))
        pm_fact_bare(pm_unit_facts(), read->source->id, true);
}

void pm_copies_look(Function &function)
{
    static std::set<const DISubprogram *> noted;
    for (const Instruction &instruction : instructions(function)) {
        const DILocation *place = instruction.getDebugLoc().get();
        for (; place && place->getInlinedAt(); place = place->getInlinedAt()) {
            const DISubprogram *inlined = place->getScope()->getSubprogram();
            if (inlined && noted.insert(inlined).second)
                note_copy(inlined, *function.getParent());
        }
    }
    unsigned n_before;
    if (function.hasFnAttribute(PM_ATTRIBUTE_CALLS) &&
        !function.getFnAttribute(PM_ATTRIBUTE_CALLS)
             .getValueAsString()
             .getAsInteger(10, n_before) &&
        count_own_calls(function) < n_before)
        if (const struct pm_read_function *read = pm_read_function_of(function))
            pm_fact_bare(pm_unit_facts(), read->source->id, false);
}

/* --- passes --- */

namespace
{
struct begin_pass : PassInfoMixin<begin_pass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        /* Loaded twice, by -fplugin and -fpass-plugin. */
        if (module.getNamedMetadata("perfmap.done"))
            return PreservedAnalyses::all();
        module.getOrInsertNamedMetadata("perfmap.done");
        pm_scopes_begin(module);
        pm_loops_mark(module);
        pm_scopes_inner(module);
        pm_copies_begin(module);
        return PreservedAnalyses::none();
    }
    static bool isRequired() { return true; }
};

struct copies_pass : PassInfoMixin<copies_pass> {
    PreservedAnalyses run(LazyCallGraph::SCC &functions, CGSCCAnalysisManager &, LazyCallGraph &,
                          CGSCCUpdateResult &)
    {
        for (LazyCallGraph::Node &node : functions)
            pm_copies_look(node.getFunction());
        return PreservedAnalyses::all();
    }
    static bool isRequired() { return true; }
};

struct end_pass : PassInfoMixin<end_pass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        for (Function &function : module)
            if (!function.isDeclaration())
                pm_copies_look(function);
        return PreservedAnalyses::all();
    }
    static bool isRequired() { return true; }
};
} // namespace

void pm_passes_register(PassBuilder &builder)
{
    builder.registerPipelineStartEPCallback(
        [](ModulePassManager &passes, auto...) { passes.addPass(begin_pass()); });
    builder.registerCGSCCOptimizerLateEPCallback(
        [](CGSCCPassManager &passes, auto...) { passes.addPass(copies_pass()); });
    builder.registerOptimizerLastEPCallback(
        [](ModulePassManager &passes, auto...) { passes.addPass(end_pass()); });
}
