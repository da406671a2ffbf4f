/* Between objects.cc (variables behind references) and objects_call.cc (what memory functions touch). */
#ifndef PM_GCC_OBJECTS_H
#define PM_GCC_OBJECTS_H

#include "map.h"

/* Adds to the list; the same noun, through it or not, stands there once. */
void pm_access_add(std::vector<struct pm_access> *out, pm_id noun, unsigned access);

/* The memory that a pointer's value refers to, or that a reference names. access: PM_MAP_READS | PM_MAP_WRITES. False: not known. */
bool pm_objects_of_pointer(tree pointer, unsigned access, std::vector<struct pm_access> *out);
bool pm_objects_of_tree(tree reference, unsigned access, std::vector<struct pm_access> *out);

/* In GIMPLE definitions can be followed; between true and false that is done. Else what the pass found is known. */
void pm_objects_follow(bool follow);

/* While the function is still GIMPLE: a new function begins; one of its calls. */
void pm_objects_note_calls_of(function *fun);
void pm_objects_note_call(gcall *call);

#endif
