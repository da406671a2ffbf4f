/* Nouns of variables, fields and types, out of Clang's trees.
 *
 * Ids are made while the trees are there. What a noun is gets written down, with all that it lies
 * in, when a function that is emitted uses it: most of what headers declare never is.
 */
#ifndef PM_CLANG_NOUNS_H
#define PM_CLANG_NOUNS_H

#include "source.h"

namespace clang
{
class FieldDecl;
class FunctionDecl;
class QualType;
class VarDecl;
} // namespace clang

/* function: the one whose body is being read, NULL outside of functions. */
pm_id pm_noun_of_variable(const clang::VarDecl *variable,
                          const struct pm_source_function *function);
pm_id pm_noun_of_field(const clang::FieldDecl *field);
/* Of a function outside of the unit; 0: it is inside, or the compiler's own. */
pm_id pm_noun_of_called(const clang::FunctionDecl *callee);
/* Of a global variable of LLVM's code; 0: none of the source's. */
pm_id pm_noun_of_symbol(const std::string &symbol);
/* False: it is none that users know. */
bool pm_noun_state(pm_id noun);

/* The id of a function, whether or not the unit has its text. */
pm_id pm_id_of_callee(const clang::FunctionDecl *callee);
/* Of the parameter that an argument becomes; 0: nobody can name it, or it refers to nothing. */
pm_id pm_noun_of_parameter(const clang::FunctionDecl *callee, unsigned index);

#endif
