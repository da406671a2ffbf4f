/* What the parts of the Clang back end say to each other. See docs/SOURCE.md "plugin/clang". */
/* clang-format off */
/*   main.cc      the action that -fplugin starts: options, registration
 *   source.cc    Clang's trees: functions and loops of the source, selection
 *   places.cc    where things are written, what functions are called
 *   loops.cc     LLVM's code, before all optimisers: marks where loops are entered and left
 *   copies.cc    LLVM's code, after inlining: which functions have calls without sleds
 *   code.cc      machine code, as it is emitted: sleds, nouns of level Base
 *   liveness.cc  which registers a sled's trampoline may use
 *   map.cc       the late map (map.h): scopes.cc, code_loops.cc, objects.cc, map_out.cc
 *   facts_out.cc section and .pif file
 *
 * What the source is made of travels with the functions of LLVM's code, as an attribute: code may
 * be emitted by another process.
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
    bool optimizes;
    bool is_cxx;
};
extern struct pm_compilation pm_compilation;

/* Ends the compilation with an error. */
[[noreturn]] void pm_stop(const std::string &text);
[[noreturn]] void pm_no_memory(void);

/* --- places.cc --- */

/* The one pointer for equal strings. */
const char *pm_lasting(const std::string &text);
/* The file of a place, by a name that is relative to the folder (plugin/emit/paths.h). */
void pm_place_set_file(struct pm_place *place, const std::string &spelt, const std::string &folder);
const char *pm_absolute_path(const std::string &spelt, const std::string &folder);
void pm_map_prefix(const std::string &from, const std::string &to);
/* "ns::f(int)" of a linkage name, or that name. */
std::string pm_declared_name(const std::string &linkage);

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
/* NULL: LLVM's function is none of the source, or its text was not read. */
const struct pm_read_function *pm_read_function_of(const llvm::Function &function);

/* --- loops.cc, copies.cc --- */

/* OpenMP: a function of the compiler's, for the body of a region. */
bool pm_is_outlined(llvm::StringRef symbol);

/* Adds the passes, at the points where a pass builder lets plugins add some. */
void pm_passes_register(llvm::PassBuilder &builder);
void pm_loops_mark(llvm::Module &module);
/* Before all optimisers, and behind the inliner. */
void pm_copies_begin(llvm::Module &module);
void pm_copies_look(llvm::Function &function);

/* Marks of loops: text of an asm that is a comment for assemblers, until code.cc makes a sled of
 * it. The id is that of the loop of the source. */
std::string pm_mark_text(unsigned kind, pm_id loop, const std::string &loop_name);
bool pm_mark_parse(const char *text, unsigned *ret_kind, pm_id *ret_loop, std::string *ret_name);

/* Attributes of LLVM's functions. */
#define PM_ATTRIBUTE_SOURCE "perfmap"      /* of selected ones: pm_source_function_write */
#define PM_ATTRIBUTE_INNER "perfmap-inner" /* called by another body of the same OpenMP region */
#define PM_ATTRIBUTE_CALLS "perfmap-calls" /* how often it calls itself, as written */

/* --- code.cc, liveness.cc --- */

/* From now on machine code of this kind of machine gets sleds. False: no sleds are made for it. */
bool pm_code_register(const std::string &triple);

/* The must-save mask of a sled before an instruction; NULL: at the function's entry. */
unsigned pm_must_save(llvm::MachineFunction &function, llvm::MachineInstr *before);

/* --- facts_out.cc --- */

struct pm_facts *pm_unit_facts(void);
/* The section's contents. */
void pm_facts_chunk(struct pm_buf *ret_chunk);
void pm_facts_write_pif(void);

#endif
