/* Between the parts of the late map: scopes.cc (what a place of code is in the source), objects.cc
 * (which variables an instruction touches), merged.cc (code that was made of several statements),
 * map.cc (ranges of emitted code), map_out.cc (the section, format/pm_map.h). */
#ifndef PM_CLANG_MAP_H
#define PM_CLANG_MAP_H

#include "reading.h"

namespace llvm
{
class AsmPrinter;
class DILocation;
class DISubprogram;
class MachineBasicBlock;
class MachineInstr;
} // namespace llvm

/* --- scopes.cc --- */

/* Before all optimisers: which function of the source each description is of. */
void pm_scopes_begin(const llvm::Module &module);
/* NULL: it is of none that was there. */
const struct pm_read_function *pm_scopes_find(const llvm::DISubprogram *described);
/* text NULL: none was read. Never NULL itself. */
const struct pm_read_function *pm_read_function_in(const llvm::DISubprogram *described);

/* By its id; NULL: none of the unit's with a description. */
const struct pm_read_function *pm_scopes_with_id(pm_id function);

/* OpenMP: bodies that are part of another one of the same region, when loops are marked. */
void pm_scopes_inner(const llvm::Module &module);
bool pm_is_inner(const llvm::DISubprogram *described);

/* What another process is to know of the module's functions, or knew. */
struct pm_scope {
    const llvm::DISubprogram *described;
    const struct pm_read_function *read;
    bool is_inner;
};
std::vector<struct pm_scope> pm_scopes_list(void);
void pm_scopes_take_over(const std::vector<struct pm_scope> &list);
void pm_scopes_forget(void);

/* Where code is in the source: the innermost inlined function. */
struct pm_written_place {
    const struct pm_read_function *read;
    struct pm_place place;
};
/* False: nowhere (line 0). */
bool pm_written_place_of(const llvm::DILocation *location, struct pm_written_place *ret_place);

/* --- objects.cc --- */

struct pm_touched {
    std::vector<struct pm_access> accesses;
    bool unnamed;       /* as PM_MAP_UNNAMED */
    unsigned elsewhere; /* PM_MAP_READS, PM_MAP_WRITES of memory: nothing at the place does so */
};
void pm_objects_of(const llvm::MachineInstr &instruction, struct pm_touched *ret);
/* What a touch of the text is one of, when code at the location (NULL: nobody knows) does it. */
void pm_touch_accesses(const llvm::DILocation *location, const struct pm_read_text *text,
                       const struct pm_touch *touch, unsigned use,
                       std::vector<struct pm_access> *ret);

/* --- map.cc --- */

struct pm_code_part {
    bool is_cold;
    int begin, end;
    const llvm::MachineBasicBlock *first;
    std::vector<struct pm_map_range> ranges;
};

struct pm_map_sets;

/* The map of one function. */
struct pm_code_lists {
    struct pm_map_sets *sets; /* owned */
    std::vector<struct pm_code_part> parts;
    std::vector<std::string> labels; /* as they are written */
};

/* Before the function is emitted, its sleds are in: where ranges begin gets labels. */
void pm_map_collect(llvm::AsmPrinter *printer, llvm::MachineFunction *machine,
                    struct pm_code_lists *ret_map);

/* --- map_out.cc --- */

/* The function has been emitted: its blocks follow. The sets are freed. */
void pm_map_write(llvm::AsmPrinter *printer, const llvm::MachineFunction &machine, pm_id symbol,
                  struct pm_code_lists *map);
/* All functions are. */
void pm_map_end(llvm::AsmPrinter *printer);

#endif
