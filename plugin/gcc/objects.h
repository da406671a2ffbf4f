/* Between objects.cc (variables behind references), objects_block.cc (members of COMMON blocks)
 * and objects_call.cc (what memory functions touch). */
#ifndef PM_GCC_OBJECTS_H
#define PM_GCC_OBJECTS_H

#include "map.h"

/* Adds to the list; the same noun, through it or not, stands there once. */
void pm_access_add(std::vector<struct pm_access> *out, pm_id noun, unsigned access);

/* The memory that a pointer's value refers to, or that a reference names. access: PM_MAP_READS |
 * PM_MAP_WRITES; what is read of a descriptor of Fortran gets neither. location: of the statement,
 * or UNKNOWN_LOCATION. False: not known. */
bool pm_objects_of_pointer(tree pointer, unsigned access, location_t location,
                           std::vector<struct pm_access> *out);
bool pm_objects_of_tree(tree reference, unsigned access, std::vector<struct pm_access> *out);

/* In GIMPLE definitions can be followed; between true and false that is done. Else what the pass
 * found is known. */
void pm_objects_follow(bool follow);

/* --- objects_block.cc: COMMON blocks and EQUIVALENCE of Fortran --- */

/* The COMPONENT_REF of a block within a reference; NULL: none. */
tree pm_member_within(tree t);
/* The members of the block that a reference, or what a pointer points to, can be; the whole
 * block where that is not known. location: of the statement, UNKNOWN_LOCATION. */
void pm_objects_in_block(tree block, tree t, bool is_pointer, location_t location, bool writes,
                         std::vector<struct pm_access> *out);
/* A new function begins; its reference by a MEM_REF or TARGET_MEM_REF, kept for RTL; what was
 * kept (false: nothing). */
void pm_objects_blocks_of(void);
void pm_objects_keep_in_block(tree block, tree base, location_t location, bool writes);
/* The bytes of the block; size 0: any. */
void pm_objects_at_offset(tree block, HOST_WIDE_INT offset, HOST_WIDE_INT size,
                          std::vector<struct pm_access> *out);
bool pm_objects_kept_in_block(tree block, tree base, bool writes,
                              std::vector<struct pm_access> *out);

/* --- objects_call.cc --- */

/* While the function is still GIMPLE: a new function begins; one of its calls. */
void pm_objects_note_calls_of(function *fun);
void pm_objects_note_call(gcall *call);

#endif
