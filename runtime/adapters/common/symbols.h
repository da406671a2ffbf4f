/* What an address is called, for adapters whose nouns are variables or the code that made them. */
#ifndef PM_ADAPTER_SYMBOLS_H
#define PM_ADAPTER_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

enum { PM_ADAPTER_NAME_BYTES = 512 };
/* The variable or function that has the address, else "libx.so+0x123"; "+8" behind a variable: a
 * part of it. False: in no object. Any thread, and in signal handlers. */
bool pm_adapter_name_of(uintptr_t address, bool is_function, char name[PM_ADAPTER_NAME_BYTES]);
/* Has the object of the address code of Fortran: names of modules, its main program, or calls of
 * the library of gfortran or Flang? As above. */
bool pm_adapter_has_fortran(uintptr_t address);
/* What gfortran made of a name is undone: "__bow_MOD_tot" is bow::tot, "corner_" corner. */
void pm_adapter_source_name(char name[PM_ADAPTER_NAME_BYTES]);

#endif
