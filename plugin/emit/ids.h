/* The ids of nouns, by what they are. Every back end and every process of one compilation gets
 * the same ids of the same constructs: format/pm_id.h says what is hashed.
 *
 *     pm_id function = pm_id_of_function("main", NULL);
 *     struct pm_text_point place = {42, 5};
 *     pm_id loop = pm_id_of_loop(function, "/src/heat.c", place);
 *     pm_id code = pm_id_of_loopcode(pm_id_of_symbol("main", NULL), loop);
 *
 * A path is absolute and mapped by -ffile-prefix-map (struct pm_place.file). local_path is that of
 * the file which keeps the name to itself, NULL: the name belongs to the whole program. No id is
 * 0. Any thread; nothing is allocated, nothing fails.
 */
#ifndef PM_IDS_H
#define PM_IDS_H

#include "place.h"
#include "../../format/pm_id.h"

pm_id pm_id_of_file(const char *path);
pm_id pm_id_of_function(const char *linkage, const char *local_path);
pm_id pm_id_of_loop(pm_id function, const char *path, struct pm_text_point place);
pm_id pm_id_of_statement(pm_id function, const char *path, struct pm_text_point place);
/* construct: "parallel", "critical", ... */
pm_id pm_id_of_region(pm_id function, const char *path, struct pm_text_point place,
                      const char *construct);

/* Of level Base: an emitted symbol, and the code that implements a loop (or a call's statement)
 * in it. */
pm_id pm_id_of_symbol(const char *name, const char *local_path);
pm_id pm_id_of_loopcode(pm_id symbol, pm_id loop);
/* What the loop goes on with, when the compiler made several of it. */
pm_id pm_id_of_loop_rest(pm_id symbol, pm_id loop);

pm_id pm_id_of_local(pm_id function, const char *name, struct pm_text_point place);
pm_id pm_id_of_global(const char *linkage, const char *local_path);
/* A variable of a COMMON block of Fortran. */
pm_id pm_id_of_member(pm_id block, const char *name);
/* name "": a type without one, which first_field, the place of its first field, tells from
 * others; NULL where it has a name. path "": not known. */
pm_id pm_id_of_type(const char *name, const char *path, const struct pm_text_point *first_field);
pm_id pm_id_of_field(pm_id type, const char *name);

/* Ids that are no nouns, but what two mappings have in common. A function's parameter, by number
 * from 0; that of whatever function a pointer holds (0 when pointer is 0); what a function
 * returns. */
pm_id pm_id_of_parameter(pm_id function, unsigned index);
pm_id pm_id_of_pointed(pm_id pointer, unsigned index);
pm_id pm_id_of_returned(pm_id function);
/* A parameter of whatever procedure a type of Fortran has bound to the name; type: what gfortran
 * calls the record of its bindings. */
pm_id pm_id_of_bound(const char *type, const char *binding, unsigned index);
/* Bytes of a COMMON block, which each program unit may name otherwise. */
pm_id pm_id_of_range(pm_id block, uint64_t offset, uint64_t size);
/* What a function with variable arguments gets as those. */
pm_id pm_id_of_variable_arguments(pm_id function);
/* Where nobody follows an address to. */
pm_id pm_id_of_elsewhere(void);

#endif
