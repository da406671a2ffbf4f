/* Between main.cc, source.cc and symbols.cc: what needs Clang's trees. */
#ifndef PM_CLANG_SOURCE_H
#define PM_CLANG_SOURCE_H

#include "backend.h"

namespace clang
{
class ASTContext;
class FunctionDecl;
class OMPExecutableDirective;
class SourceLocation;
class SourceManager;
class Stmt;
} // namespace clang

/* Reads all functions of the unit: when the whole unit was parsed. */
void pm_source_read(clang::ASTContext &context);

/* Whether or not the unit has its text; never NULL. */
const struct pm_source_function *pm_source_of_decl(const clang::FunctionDecl *decl);

/* --- symbols.cc --- */

/* All symbols of a function: of constructors and destructors there are several. Numbers of lambdas
 * are not those of the code. */
std::vector<std::string> pm_symbols_of(const clang::FunctionDecl *decl);

struct pm_function_names {
    std::string linkage, shown;
    bool is_abstract; /* linkage stands for several symbols */
};
struct pm_function_names pm_names_of(const clang::FunctionDecl *decl);

/* --- source.cc --- */

/* Where a macro is used, not where it is written; where its arguments are written, if debug
 * information says so. False: at no place of a file. */
bool pm_source_place(const clang::SourceManager &sources, clang::SourceLocation location,
                     struct pm_place *ret_place);

/* Is it a loop, to whoever reads the source? */
bool pm_is_loop(const clang::Stmt *s);

/* OpenMP: the statement that a directive is for; NULL: it stands alone. */
const clang::Stmt *pm_body_of_directive(const clang::OMPExecutableDirective *directive);

#endif
