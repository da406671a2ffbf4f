/* What the parts of the Clang back end say to each other. See docs/SOURCE.md "plugin/clang". */
/* clang-format off */
/*   main.cc      the action that -fplugin starts: options, registration
 *   source.cc    Clang's trees: functions and loops of the source, selection
 *   symbols.cc   symbols of functions, what functions are called
 *   functions.cc which of them a function of LLVM's code is
 *   places.cc    where things are written, what functions are called
 *   loops.cc     LLVM's code, before all optimisers: marks where loops are entered and left
 *   marks.cc     what such a mark is (marks.h), and which of them go again
 *   copies.cc    LLVM's code, after inlining: which functions have calls without sleds
 *   code.cc      machine code, as it is emitted: sleds, nouns of level Base
 *   liveness.cc  which registers a sled's trampoline may use
 *   map.cc       the late map (map.h): scopes.cc, code_loops.cc, objects.cc, merged.cc, map_out.cc
 *   facts_out.cc section and .pif file
 *   handover.cc  code that another process emits: what travels there with it
 *   host.cc      what any program does that has LLVM in it and loads this
 *
 * Programs without Clang's trees (linkers, opt) load a back end of its own, perfmap-llvmN.so: the
 * same files without those that read trees (CMakeLists.txt).
 */
/* clang-format on */
#ifndef PM_CLANG_BACKEND_H
#define PM_CLANG_BACKEND_H

#include <memory>
#include <string>
#include <vector>

#ifndef _Noreturn /* C's word in mapping/base/status.h; C++ has none with that spelling */
#define _Noreturn __attribute__((noreturn))
#endif
extern "C" {
#include "../../format/pm_sled.h"
#include "../emit/facts.h"
#include "../emit/options.h"
#include "../../mapping/base/selection.h"
}

namespace llvm
{
class DISubprogram;
class Function;
class MachineFunction;
class MachineInstr;
class Module;
class PassBuilder;
class StringRef;
} // namespace llvm

/* What this compilation is. */
struct pm_compilation {
    struct pm_options options;
    std::string input, output; /* files, as the user spelt them; output "": none is kept */
    std::string folder;        /* that names of files are relative to */
    bool optimizes;
    bool is_cxx;
    bool sees_macro_arguments; /* debug information has their places */
    bool has_source;           /* this process reads it */
    bool is_handed_over;       /* another process emits the code */
    bool is_optimised_elsewhere;
    bool is_taken_over; /* another process read the source */
    bool is_linked;     /* it may be of several units */
};
/* A linker emits code of several modules at a time, each by one thread. */
extern thread_local struct pm_compilation pm_compilation;

/* Ends the compilation with an error. */
[[noreturn]] void pm_stop(const std::string &text);
[[noreturn]] void pm_no_memory(void);

/* --- host.cc --- */

extern bool pm_reads_trees; /* this is a compiler */

/* "key=value" or "key", each as it was given behind -fplugin-arg-perfmap-. The first wrong option
 * ends the compilation. */
void pm_options_read(const std::vector<std::string> &arguments, struct pm_options *ret_options);
/* PERFMAP_PLUGIN_OPTIONS: the same words, with blanks between. */
void pm_options_of_environment(struct pm_options *ret_options);
/* The folder that names of files are relative to. */
const std::string &pm_working_folder(void);

/* --- handover.cc --- */

/* Before the module is written: it gets all that its emission needs. */
void pm_hand_over(llvm::Module &module);
/* Before the module is emitted: by this process alone, or after another one. */
void pm_take_over(llvm::Module &module);

/* --- places.cc --- */

/* The one pointer for equal strings. */
const char *pm_lasting(const std::string &text);
/* The file of a place, by a name that is relative to the folder (plugin/emit/paths.h), or by what
 * that said in another process. */
void pm_place_set_file(struct pm_place *place, llvm::StringRef spelt, llvm::StringRef folder);
void pm_place_set_known_file(struct pm_place *place, const std::string &file,
                             const std::string &shown);
const char *pm_absolute_path(const std::string &spelt, const std::string &folder);
void pm_map_prefix(const std::string &from, const std::string &to);
/* "ns::f(int)" of a linkage name, or that name. */
std::string pm_declared_name(const std::string &linkage);

/* A lambda of a file's own within a name, "main::$_0" in "repeat<main::$_0>(int, main::$_0)". Its
 * number is not the same in trees and code, and may be of the function that it lies in only. */
struct pm_lambda_name {
    size_t begin, number, end; /* number: where "$_0" begins */
};
std::vector<struct pm_lambda_name> pm_numbered_lambdas(const std::string &name);

/* --- source.cc: filled when the whole unit was read --- */

struct pm_read_function {
    struct pm_source_function *source;
    bool selected;
    bool mapped;                /* selected, or of a system header */
    std::vector<bool> searches; /* by loop: it only searches memory */
    /* OpenMP: the code of a loop is at its directive, too. */
    std::vector<std::pair<struct pm_text_point, pm_id>> directives;
    struct pm_read_text *text; /* reading.h; NULL: it was not read */
};

/* --- functions.cc --- */

bool pm_function_is_read(const std::string &symbol);
void pm_function_add(const std::string &symbol, const struct pm_read_function *function);
void pm_function_add_body(const struct pm_read_function *function, const struct pm_place *begin,
                          struct pm_text_point last);
/* The symbol has numbers of lambdas, "$_0", which are not the same in trees and code. */
bool pm_has_lambda_number(llvm::StringRef symbol);
/* Lambdas that a macro writes have one place, and nothing but their numbers tells them apart. They
 * have these by the order of the text, in code as in trees. */
void pm_lambdas_by_order(const llvm::Module &module);
/* NULL: LLVM's function is none of the source, or its text was not read. */
const struct pm_read_function *pm_read_function_of(const llvm::Function &function);
/* scopes.cc: what a description says, not selected. The caller owns it. */
struct pm_read_function *pm_function_of_description(const llvm::DISubprogram *described);
/* scopes.cc: the same, when another process has read the source. */
const struct pm_read_function *pm_scopes_taken_over(const llvm::DISubprogram *described);
/* OpenMP: a function of the compiler's, for the body of a region. */
bool pm_is_outlined(llvm::StringRef symbol);

/* --- loops.cc, copies.cc --- */

/* Adds the passes, at the points where a pass builder lets plugins add some. */
void pm_passes_register(llvm::PassBuilder &builder);
void pm_loops_mark(llvm::Module &module);
/* Before all optimisers, and behind the inliner. */
void pm_copies_begin(llvm::Module &module);
void pm_copies_look(const llvm::Function &function);
void pm_copies_forget(void);

/* Attributes of LLVM's functions. */
#define PM_ATTRIBUTE_SOURCE "perfmap"      /* of selected ones: pm_source_function_write */
#define PM_ATTRIBUTE_INNER "perfmap-inner" /* called by another body of the same OpenMP region */
#define PM_ATTRIBUTE_CALLS "perfmap-calls" /* how often it calls itself, as written */

/* --- code.cc, liveness.cc --- */

/* From now on machine code of this kind of machine gets sleds. False: no sleds are made for it, or
 * LLVM is not ready yet. */
bool pm_code_register(const std::string &triple);

/* The must-save mask of a sled before an instruction; NULL: at the function's entry. */
unsigned pm_must_save(llvm::MachineFunction &function, llvm::MachineInstr *before);

/* --- facts_out.cc --- */

struct pm_facts *pm_unit_facts(void);
void pm_unit_facts_forget(void);
/* The section's contents. */
void pm_facts_chunk(struct pm_buf *ret_chunk);
void pm_facts_write_pif(void);

#endif
