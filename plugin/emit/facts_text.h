/* Where the facts go: the section .perfmap.pif of the object, as assembler text, and NAME.pif
 * beside the object.
 *
 *     struct pm_buf text = PM_BUF_INIT(1 << 30), warning = PM_BUF_INIT(4096);
 *     pm_facts_section(facts, &text);                     // for the assembler file's end
 *     if (!pm_facts_keep(facts, &options, "heat.c", "build/heat.o", &warning))
 *         fprintf(stderr, "%s\n", warning.data);         // build/heat.pif
 *
 * The section is not allocated and is in no group: linkers join the chunks of all objects,
 * --gc-sections drops it only with the whole object, strip leaves it. One thread at a time.
 */
#ifndef PM_FACTS_TEXT_H
#define PM_FACTS_TEXT_H

#include "facts.h"
#include "options.h"

/* Appends the section. out->failed: memory, of the facts too. */
void pm_facts_section(const struct pm_facts *facts, struct pm_buf *out);

/* Which .pif file a compilation leaves: appends its name. That is the output's name with another
 * extension, or, in the folder that option pif names, the output's own folder becomes part of the
 * name, as gcov does it. False: none. input: the source as the user spelt it; output "": no object
 * or assembler file is kept. Without one, or with an output that is no file, there is a .pif file
 * only in a folder of option pif, by the input's name. */
bool pm_facts_file_name(const struct pm_options *options, const char *input, const char *output,
                        struct pm_buf *out);

/* The same for option pdb: the object's stem and a number made of its absolute path, so that a
 * rebuild replaces the file, whatever folder the compiler runs in. Without an object: of input. */
bool pm_facts_pdb_name(const struct pm_options *options, const char *input, const char *output,
                       struct pm_buf *out);

/* Writes these files, if there are to be any and there are facts, to a temporary beside it, then
 * renames. Not synced: a build makes thousands of these, and the next build makes them again.
 * False: a warning for the user is appended. */
bool pm_facts_keep(const struct pm_facts *facts, const struct pm_options *options,
                   const char *input, const char *output, struct pm_buf *ret_warning);

/* Adds what the other facts hold. */
PM_MUST_CHECK enum pm_status pm_facts_join(struct pm_facts *facts, const struct pm_facts *other,
                                           struct pm_error *err);

#endif
