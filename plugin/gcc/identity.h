/* The source functions (plugin/emit/source.h) of GCC's declarations. Private to identity.cc,
 * facts*.cc and late.cc.
 *
 * Under LTO the table of a function's loops travels to lto1 as a string in the function's
 * attribute "perfmap" (an attribute nobody registered: ipa-icf and the inliner pass over it).
 */
#ifndef PM_GCC_IDENTITY_H
#define PM_GCC_IDENTITY_H

#include "backend.h"
#include "table.h"

/* The record of a declaration's source function; made at need, never NULL. */
struct pm_source_function *pm_source_function_of(tree function_decl);

/* The BLOCK of the inlined function that a BLOCK lies in; NULL_TREE: the function being compiled
 * itself. */
tree pm_inlined_scope(tree block);
/* The function whose text a BLOCK is of: the inlined one, or the one being compiled. */
tree pm_text_function(tree block);

/* For the early scan, when the function's loops are all there: leaves the table with the
 * declaration for lto1. */
void pm_source_function_done(struct pm_source_function *function, tree function_decl);

/* The name that the source has for it; "": none. */
const char *pm_written_name(tree decl);

/* The assembler name without the compiler's marks. */
const char *pm_linkage_name(tree decl);
/* The same, as the early compiler process knew it: without what LTO's partitioning appended. */
std::string pm_source_linkage(tree decl);

#endif
