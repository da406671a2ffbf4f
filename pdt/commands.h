/* compile_commands.json (clang.llvm.org, "JSON Compilation Database Format Specification").
 *
 *     struct pdt_commands commands = {0};
 *     if (pdt_commands_read("build", &err, &commands) == PM_OK)
 *         use(commands.items[0].file);
 *     pdt_commands_release(&commands);
 */
#ifndef PDT_COMMANDS_H
#define PDT_COMMANDS_H

#include "mapping/base/arena.h"
#include "mapping/base/status.h"

#include <stdint.h>

/* Strings live as long as the commands. */
struct pdt_command {
    const char *directory, *file; /* absolute */
    /* The compiler and all that matters to what it reads: no -o, no -c, no plugins. */
    const char *const *arguments;
    uint32_t n_arguments;
    bool is_cxx;
    const char *problem; /* why it cannot be read; NULL: it can */
};

#define PDT_FORTRAN_HINT                                                                   \
    "Fortran is not read: build it with the GCC plugin and -fplugin-arg-perfmap-pdb=DIR, " \
    "then 'perfmap pdb build --facts DIR'"

struct pdt_commands {
    struct pdt_command *items;
    uint32_t n, cap;
    uint32_t n_fortran, n_assembler, n_other; /* files that are left out */
    struct pm_arena arena;
};

/* path: the file, or a folder that has it. PM_ERR_NOT_FOUND says how to make one; PM_ERR_FORMAT. */
PM_MUST_CHECK enum pm_status pdt_commands_read(const char *path, struct pm_error *err,
                                               struct pdt_commands *ret_commands);
void pdt_commands_release(struct pdt_commands *commands);

#endif
