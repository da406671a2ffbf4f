/* What names and paths of facts tell. Of this room only. Texts are parts of what was given. */
#ifndef PDT_FACTS_NAMES_H
#define PDT_FACTS_NAMES_H

#include "mapping/base/arena.h"
#include "mapping/base/str.h"

/* "ns::f<int>" of "ns::f<int>(int, char)" */
struct pm_str pdt_name_without_arguments(const char *name);
/* "f<int>" of it; "u" of "sweep::u", and of "sweep::u:57" */
struct pm_str pdt_last_name(const char *name);
/* "particles" of gfortran's symbol "__particles_MOD_energy"; empty: of no module. */
struct pm_str pdt_module_of(const char *symbol);
/* By the last letters, as gfortran has it. */
bool pdt_is_fortran_path(const char *path);
bool pdt_is_system_path(const char *path);
/* libclang's word for a type, as far as its text tells. */
const char *pdt_type_kind(const char *type);

/* Of a constructor or destructor: name and parameters, without blanks, which compilers set in ways
 * of their own. type: "void (int)" as libclang writes it; empty: the name has parameters. */
uint64_t pdt_signature_key(struct pm_str name, struct pm_str type);

/* Of a constructor's or destructor's symbol (C2, D0, ...) that of the complete object (C1, D1);
 * others as they are. In the arena; NULL: memory. */
const char *pdt_complete_symbol(struct pm_arena *arena, const char *symbol);

#endif
