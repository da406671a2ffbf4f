/* Nouns of variables, fields and types, out of Clang's trees.
 *
 * Ids are made while the trees are there. What a noun is gets written down, with all that it lies
 * in, when a function that is emitted uses it: most of what headers declare never is.
 */
#ifndef PM_CLANG_NOUNS_H
#define PM_CLANG_NOUNS_H

#include "source.h"

#include <map>

namespace clang
{
class Decl;
class FieldDecl;
class FunctionDecl;
class QualType;
class RecordDecl;
class VarDecl;
} // namespace clang

/* function: the one whose body is being read, NULL outside of functions. */
pm_id pm_noun_of_variable(const clang::VarDecl *variable,
                          const struct pm_source_function *function);
/* Variables with initial values (not of automatic storage) that were named since the last call. */
std::vector<const clang::VarDecl *> pm_named_variables(void);
pm_id pm_noun_of_field(const clang::FieldDecl *field);
/* Of a function outside of the unit; 0: it is inside, or the compiler's own. */
pm_id pm_noun_of_called(const clang::FunctionDecl *callee);

/* --- noun_table.cc --- */

/* What is known of a noun until it is stated. */
struct pm_described {
    struct pm_data data;
    const struct pm_source_function *function; /* that it lies in, NULL none */
    const char *file;                          /* else the file's path, NULL none */
    /* a called function */
    const struct pm_source_function *called;
    bool is_library, is_stated, is_unknown;
};
void pm_noun_describe(const struct pm_described &noun);
/* False: it is none that users know. */
bool pm_noun_state(pm_id noun);
/* Global variables of LLVM's code. 0: none of the source's. */
void pm_noun_add_symbol(const std::string &symbol, pm_id noun);
pm_id pm_noun_of_symbol(const std::string &symbol);
const std::map<std::string, pm_id> &pm_noun_symbols(void);
void pm_noun_forget_symbols(void);

/* --- nouns.cc --- */

clang::QualType pm_type_of_record(const clang::RecordDecl *record);
/* Is it declared in a system header? */
bool pm_is_of_system(const clang::Decl *decl);
/* C++: a class whose objects have elements, or lead to elements of others (containers.cc). */
bool pm_is_container_type(clang::QualType type);
bool pm_type_refers(clang::QualType type);
/* A pointer, a reference, or an object that leads to others. */
bool pm_refers(clang::QualType type);
/* Or a container by value: who passes it passes what it holds. */
bool pm_takes_addresses(clang::QualType type);
/* A method: argument 0 is the object. */
bool pm_has_this(const clang::FunctionDecl *function);

/* The id of a function, whether or not the unit has its text. */
pm_id pm_id_of_callee(const clang::FunctionDecl *callee);
/* Of the parameter that an argument (of a method's the object comes first) becomes; 0: nobody can
 * name it, or it refers to nothing. */
pm_id pm_noun_of_parameter(const clang::FunctionDecl *callee, unsigned index);

#endif
