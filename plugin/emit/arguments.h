/* What functions that many programs call do with their arguments: C's memory functions, C++'s
 * algorithms, procedures of Fortran's library, and functions that call back a function of the
 * program's.
 *
 *     const char *arguments = pm_memory_arguments(pm_builtin_free_name("__builtin_memcpy"));
 *     if (arguments && pm_argument_use(arguments, 0) & PM_USE_WRITES)         // "wr"
 *         use("written");
 *     unsigned uses = pm_algorithm_use("transform", 4, 2);                    // PM_USE_WRITES
 *     if (pm_passes_argument("bsearch", 0, 0) == PM_PASSES)
 *         use("compare() gets what bsearch() gets first");
 *
 * Names are plain: without scopes, template arguments and parameters. Arguments count from 0.
 * Any thread; nothing is allocated, nothing fails.
 */
#ifndef PM_ARGUMENTS_H
#define PM_ARGUMENTS_H

#include <stdbool.h>

/* What is done with the memory that an argument leads to: bits. 0: nothing, or it leads to none. */
enum pm_use { PM_USE_READS = 1, PM_USE_WRITES = 2 };

/* "memcpy" of "__builtin_memcpy"; lent, as is each other name. */
const char *pm_builtin_free_name(const char *linkage);

/* A letter for each argument, for pm_argument_use. NULL: it is no memory function. A constant. */
const char *pm_memory_arguments(const char *name);
/* Also of MPI's functions: what they cost is for these data. */
const char *pm_data_arguments(const char *name);
/* Also of functions of C's library that read and write text and files. */
const char *pm_library_arguments(const char *name);
unsigned pm_argument_use(const char *arguments, unsigned index);

/* Of a function of C++'s library that works on what lies between iterators or pointers; one that
 * is not known reads. */
unsigned pm_algorithm_use(const char *name, unsigned n_arguments, unsigned index);
/* The same of whole elements, with all that is in them: what it moves and copies itself, not what
 * it hands to a function (find_if). One that is not known does so with none. */
unsigned pm_algorithm_whole_use(const char *name, unsigned n_arguments, unsigned index);

/* Of a function of Fortran's library (_gfortran_...), other than array operations; one that is not
 * known reads. */
unsigned pm_fortran_library_use(const char *linkage, unsigned index);
/* Is it one whose arguments are data of the program: of READ, WRITE, RANDOM_NUMBER, ...? */
bool pm_fortran_library_works_on_data(const char *linkage);

/* Of a function of C's library: does its result lead into what an argument leads to (strchr)? May
 * it lead into that of a call before (strtok)? */
bool pm_result_leads_into(const char *name, unsigned argument);
bool pm_result_is_remembered(const char *name);
/* Does it make a pointer, whose address is an argument, lead into what another argument leads to
 * (strtol)? */
bool pm_fills_pointer(const char *name, unsigned *ret_pointer, unsigned *ret_into);

/* Does a library's function pass its argument on, as a parameter of the function that it calls? */
enum pm_passing { PM_PASSES_UNKNOWN, PM_PASSES_NOT, PM_PASSES };
enum pm_passing pm_passes_argument(const char *linkage, unsigned argument, unsigned parameter);

#endif
