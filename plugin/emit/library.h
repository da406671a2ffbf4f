/* What functions of libraries are about, by their linkage names.
 *
 *     const char *group = pm_library_group("fopen64");   // "io"
 *     bool is_known = !pm_library_is_internal("__cxa_throw");
 *
 * Any thread; nothing is allocated, nothing fails.
 */
#ifndef PM_LIBRARY_H
#define PM_LIBRARY_H

#include <stdbool.h>

/* memory, io, mpi, openmp, coarray; NULL: none of them. A constant. */
const char *pm_library_group(const char *linkage);
/* Is it a function of the compiler's own that never becomes a call that users know? */
bool pm_library_is_internal(const char *linkage);
/* Of gfortran's library? */
bool pm_library_is_fortran(const char *linkage);
/* What users call the function: gfortran and g++ declare malloc as __builtin_malloc, and there
 * the symbol is what they know. One of the two. */
const char *pm_library_name(const char *name, const char *linkage);

#endif
