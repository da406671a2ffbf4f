/* Sections of an ELF file by name, unpacked. Needs libelf, which the rest of this folder does
 * not.
 *
 *     static enum pm_status each(void *context, const struct pm_elf_found *found,
 *                                struct pm_error *err)
 *     {
 *         struct pm_str bytes;
 *         // lent until each returns
 *         enum pm_status status = pm_elf_load(found, 1 << 30, err, &bytes);
 *         ...
 *     }
 *     const char *const names[] = {".perfmap.pif", NULL};
 *     status = pm_elf_visit(path, names, each, context, err);
 *
 * Nothing in the file is trusted. Errors name the file. One thread at a time per file.
 */
#ifndef PM_ELF_H
#define PM_ELF_H

#include "str.h"

struct Elf;
struct Elf_Scn;

/* A section that was found. Strings are lent until the visit is over. */
struct pm_elf_found {
    const char *path, *name;
    uint64_t size_bytes; /* as it lies in the file, maybe compressed */
    bool has_bytes;      /* false: empty, or a separate debug file that keeps headers only */
    bool is_compressed;
    bool is_linked; /* false: in a relocatable object */
    struct Elf_Scn *section;
};

/* What is not PM_OK ends the visit. */
typedef enum pm_status pm_elf_visitor(void *context, const struct pm_elf_found *found,
                                      struct pm_error *err);

/* Calls visitor for each section whose name is in names (NULL ends), in the file's order. Of an
 * archive of objects: for those of all its objects, other members are passed over.
 * PM_ERR_SYSTEM: cannot be read; PM_ERR_FORMAT: no ELF file, or damaged. */
PM_MUST_CHECK enum pm_status pm_elf_visit(const char *path, const char *const *names,
                                          pm_elf_visitor *visitor, void *context,
                                          struct pm_error *err);

/* Calls each for the file's object, or for those of an archive, of which others are passed over.
 * What is not PM_OK ends it. Errors as above. */
typedef enum pm_status pm_elf_object_visitor(void *context, struct Elf *elf, struct pm_error *err);
PM_MUST_CHECK enum pm_status pm_elf_each_object(const char *path, pm_elf_object_visitor *each,
                                                void *context, struct pm_error *err);

/* The section's bytes, lent until the visitor returns. PM_ERR_LIMIT: more than max_bytes, packed
 * or unpacked. */
PM_MUST_CHECK enum pm_status pm_elf_load(const struct pm_elf_found *found, uint64_t max_bytes,
                                         struct pm_error *err, struct pm_str *ret_bytes);

#endif
