/* Where the facts go: the section .perfmap.pif of the object, as assembler text, and NAME.pif
 * beside the object.
 *
 *     struct pm_buf text = PM_BUF_INIT(1 << 30), path = PM_BUF_INIT(4096);
 *     pm_facts_section(facts, &text);                     // for the assembler file's end
 *     pm_facts_file_name("build/heat.o", NULL, &path);    // "build/heat.pif"
 *     if (!pm_facts_write_file(facts, path.data))
 *         fprintf(stderr, "%s\n", strerror(errno));
 *
 * The section is not allocated and is in no group: linkers join the chunks of all objects,
 * --gc-sections drops it only with the whole object, strip leaves it. One thread at a time.
 */
#ifndef PM_FACTS_TEXT_H
#define PM_FACTS_TEXT_H

#include "facts.h"

/* Appends the section. out->failed: memory, of the facts too. */
void pm_facts_section(const struct pm_facts *facts, struct pm_buf *out);

/* Appends the name of the .pif file: the output's with another extension. dir: one folder for all
 * files, NULL none; the output's own folder becomes part of the name there, as gcov does it. */
void pm_facts_file_name(const char *output, const char *dir, struct pm_buf *out);

/* Writes the .pif file to a temporary beside it, then renames. Not synced: a build makes thousands
 * of these, and the next build makes them again. False: errno says why; ENOMEM for memory. */
bool pm_facts_write_file(const struct pm_facts *facts, const char *path);

/* Adds what the other facts hold. */
PM_MUST_CHECK enum pm_status pm_facts_join(struct pm_facts *facts, const struct pm_facts *other,
                                           struct pm_error *err);

#endif
