/* Names of C++ as compilers print them: what they are made of, and how people say them.
 *
 *     struct pm_cxx_part parts[8];
 *     // "int ns::sum<int>(int*)": ns; sum, <int>, (int*)
 *     size_t n = pm_cxx_parts(text, strlen(text), parts, 8);
 *     pm_cxx_shorten("std::vector<int, std::allocator<int> >", &buf);   // "std::vector<int>"
 *
 * Names of C and Fortran have one part, or a module's and their own. No state; any thread.
 */
#ifndef PM_CXX_NAME_H
#define PM_CXX_NAME_H

#include "str.h"

/* What stands between two `::`. Texts are lent by the name, empty where there are none. */
struct pm_cxx_part {
    struct pm_str name;       /* without ABI tags; operators with their signs or types */
    struct pm_str arguments;  /* of a template, with < and > */
    struct pm_str parameters; /* with ( and ) */
    bool is_operator;
};

/* The last `max` parts, in order. A type that is returned, qualifiers and a clone's mark are no
 * parts. */
size_t pm_cxx_parts(const char *text, size_t len, struct pm_cxx_part *parts, size_t max);

/* Adds the name without default arguments of std's templates and its inline namespaces. False:
 * memory, or nothing to add. */
bool pm_cxx_shorten(const char *text, struct pm_buf *out);

/* Adds the name with (...) in place of its parameters. False: as above, or there are none that
 * it would be shorter without. */
bool pm_cxx_cut_parameters(const char *text, struct pm_buf *out);

/* Adds the name as people say it, without its parameters when it has more than so many bytes. */
void pm_cxx_add_brief(const char *text, size_t most_bytes, struct pm_buf *out);

/* Adds "f(int), coroutine body" or "f(int), coroutine's end" for what GCC and Clang make of a
 * coroutine f(int). False: it is none, or memory. */
bool pm_cxx_name_coroutine(const char *demangled, struct pm_buf *out);

/* Has the type one of the letters outside of the arguments of templates? "fn<int *>" is no
 * pointer. */
bool pm_cxx_type_has(const char *type, const char *letters);

/* Bodies of constructors and destructors, by their symbols: _ZN1aD0Ev calls _ZN1aD1Ev, and that
 * _ZN1aD2Ev; with -Os they all call _ZN1aD4Ev. Is the symbol one that the other may call? */
bool pm_cxx_is_lower_body(const char *symbol, const char *above);

#endif
