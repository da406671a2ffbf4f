/* What any program does that has LLVM in it and loads this back end: compilers, linkers, opt. */
#include "backend.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#if LLVM_VERSION_MAJOR < 22
#include "llvm/Passes/PassPlugin.h"
#else
#include "llvm/Plugins/PassPlugin.h"
#endif
#include "llvm/Support/FileSystem.h"

#include <dlfcn.h>

using namespace llvm;

thread_local struct pm_compilation pm_compilation;
bool pm_reads_trees;

void pm_stop(const std::string &text)
{
    fprintf(stderr, "perfmap: error: %s\n", text.c_str());
    fflush(NULL);
    _Exit(1);
}

void pm_no_memory(void)
{
    pm_stop("no memory for the facts");
}

const std::string &pm_working_folder(void)
{
    std::string &folder = pm_compilation.folder;
    SmallString<256> current;
    if (folder.empty() && !sys::fs::current_path(current))
        folder = current.str().str();
    return folder;
}

/* --- options --- */

static void refuse_portable(const struct pm_options *options)
{
    if (options->portable)
        pm_stop(
            "option 'portable' is only there with GCC: there are no portable calls for Clang yet");
}

void pm_options_read(const std::vector<std::string> &arguments, struct pm_options *ret_options)
{
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = pm_options_init(ret_options, &err);
    for (const std::string &argument : arguments) {
        if (status != PM_OK)
            break;
        size_t end = argument.find('=');
        std::string key = argument.substr(0, end);
        const char *value = end != std::string::npos ? argument.c_str() + end + 1 : NULL;
        status = pm_options_set(ret_options, key.c_str(), value, &err);
    }
    if (status != PM_OK)
        pm_stop(pm_error_text(&err));
    refuse_portable(ret_options);
}

void pm_options_of_environment(struct pm_options *ret_options)
{
    const char *text = getenv("PERFMAP_PLUGIN_OPTIONS");
    SmallVector<StringRef, 8> words;
    std::vector<std::string> arguments;
    SplitString(text ? text : "", words);
    for (StringRef word : words)
        arguments.push_back(word.str());
    pm_options_read(arguments, ret_options);
}

/* --- the program --- */

/* Compilers are ready when they load plugins, and linkers that are LLVM's. Others call onload()
 * (../perfmap.c) when LLVM is. What nobody emits sleds for does not link (handover.cc). */
extern "C" __attribute__((visibility("default"))) void perfmap_llvm_is_ready(void)
{
    /* Flang has none: nothing in its language is written in assembler. */
    void (*begin_assembler)(void);
    *(void **)&begin_assembler = dlsym(RTLD_DEFAULT, "LLVMInitializeX86AsmParser");
    if (begin_assembler)
        begin_assembler();
    pm_code_register("x86_64-unknown-linux-gnu");
}

__attribute__((constructor)) static void begin_process(void)
{
    perfmap_llvm_is_ready();
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "perfmap", PERFMAP_VERSION, pm_passes_register};
}
