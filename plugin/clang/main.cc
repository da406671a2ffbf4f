/* The action that -fplugin starts: options, registration of the parts. Loaded by perfmap.so
 * (../perfmap.c), never named by users. */
#include "source.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/Basic/TargetInfo.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>

#if LLVM_VERSION_MAJOR < 17
namespace debug_kinds = clang::codegenoptions;
#else
namespace debug_kinds = llvm::codegenoptions;
#endif

using namespace clang;

/* Clang 22 has the option, and those before have one place for all of a macro. */
template <class T>
static auto sees_macro_arguments(const T &code, int)
    -> decltype((void)code.DebugInfoMacroExpansionLoc, true)
{
    return !code.DebugInfoMacroExpansionLoc;
}

template <class T> static bool sees_macro_arguments(const T &, long)
{
    return false;
}

/* The driver gives objects that it only links names of its own: "x-4f5e6a.o" in the folder for
 * temporary files. */
static bool is_temporary(llvm::StringRef output)
{
    llvm::SmallString<64> folder;
    llvm::sys::path::system_temp_directory(true, folder);
    llvm::StringRef stem = llvm::sys::path::stem(output), number = stem.rsplit('-').second;
    return llvm::sys::path::parent_path(output) == folder && number.size() >= 6 &&
           number.find_first_not_of("0123456789abcdef") == llvm::StringRef::npos;
}

/* -flto, -save-temps, -emit-llvm */
static bool another_process_emits(const CodeGenOptions &code, frontend::ActionKind action)
{
    return code.PrepareForLTO || code.PrepareForThinLTO || code.DisableLLVMPasses ||
           action == frontend::EmitBC || action == frontend::EmitLLVM;
}

static void read_unit(const CompilerInstance &compiler, llvm::StringRef input)
{
    const CodeGenOptions &code = compiler.getCodeGenOpts();
    const std::string &output = compiler.getFrontendOpts().OutputFile;
    pm_compilation.input = input.str();
    pm_compilation.output = output == "-" || is_temporary(output) ? "" : output;
    pm_compilation.sees_macro_arguments = sees_macro_arguments(code, 0);
    pm_compilation.optimizes = code.OptimizationLevel > 0;
    pm_compilation.has_source = true;
    pm_compilation.is_handed_over =
        another_process_emits(code, compiler.getFrontendOpts().ProgramAction);
    pm_compilation.is_optimised_elsewhere = code.DisableLLVMPasses;
    pm_compilation.is_cxx = compiler.getLangOpts().CPlusPlus;
    for (const auto &prefix : code.DebugPrefixMap)
        pm_map_prefix(prefix.first, prefix.second);
}

static void refuse_other_machines(const llvm::Triple &triple)
{
    if (!triple.isArch64Bit() || triple.isX32())
        pm_stop(
            "only 64-bit programs can be measured, and this one is compiled for 32-bit addresses; "
            "compile it without '-fplugin', or without '-m32' and '-mx32'");
    if (triple.getArch() != llvm::Triple::x86_64 || !triple.isOSBinFormatELF())
        pm_stop("with Clang only programs for x86-64 and ELF can be measured, and this one is "
                "compiled for " +
                triple.str() + "; compile it without '-fplugin', or with GCC");
}

/* Loops are told apart by the places of LLVM's code: those are kept, without a change of the
 * object, when no debug information is asked for. Clang's first versions no longer look at this
 * then (loops.cc). */
static void keep_places(CodeGenOptions &code)
{
    if (code.getDebugInfo() != debug_kinds::NoDebugInfo)
        return;
#if LLVM_VERSION_MAJOR >= 15
    code.setDebugInfo(debug_kinds::LocTrackingOnly);
#endif
}

/* --- the action --- */

namespace
{
class consumer : public ASTConsumer
{
    void HandleTranslationUnit(ASTContext &context) override
    {
        if (!context.getDiagnostics().hasErrorOccurred())
            pm_source_read(context);
    }
};

class action : public PluginASTAction
{
    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &compiler,
                                                   llvm::StringRef input) override;
    bool ParseArgs(const CompilerInstance &, const std::vector<std::string> &arguments) override
    {
        pm_options_read(arguments, &pm_compilation.options);
        return true;
    }
    ActionType getActionType() override { return AddBeforeMainAction; }
};
} // namespace

/* Versions without a list of callbacks load the passes from this file once more. */
static void add_passes(CodeGenOptions &code)
{
#if LLVM_VERSION_MAJOR < 18
    Dl_info info;
    if (!dladdr((void *)&pm_passes_register, &info))
        pm_stop("cannot find the file of the back end");
    code.PassPlugins.push_back(info.dli_fname);
#else
    code.PassBuilderCallbacks.push_back(pm_passes_register);
#endif
}

std::unique_ptr<ASTConsumer> action::CreateASTConsumer(CompilerInstance &compiler,
                                                       llvm::StringRef input)
{
    /* -fmodules: a module of headers, made by this process on the way, has no code. */
    if (compiler.getLangOpts().getCompilingModule() == LangOptions::CMK_ModuleMap)
        return std::make_unique<ASTConsumer>();
    const llvm::Triple &triple = compiler.getTarget().getTriple();
    refuse_other_machines(triple);
    read_unit(compiler, input);
    keep_places(compiler.getCodeGenOpts());
    add_passes(compiler.getCodeGenOpts());
    if (!pm_code_register(triple.str()))
        pm_stop("LLVM has no code generator for " + triple.str());
    return std::make_unique<consumer>();
}

__attribute__((constructor)) static void begin_compiler(void)
{
    pm_reads_trees = true;
}

static FrontendPluginRegistry::Add<action> registration("perfmap", "sleds and facts of the source");
