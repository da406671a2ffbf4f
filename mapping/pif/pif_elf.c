/* The compact sections of an ELF file. Apart from the rest of this folder, for it needs libelf,
 * which the compilers' plugin does not. */
#include "pif.h"

#include "../base/elf.h"
#include "../../format/pm_sled.h"

enum { SECTION_MAX_BYTES = 1 << 30 };

struct search {
    struct pm_pif *pif;
    size_t n_pif_sections, n_sleds;
};

static enum pm_status read_section(void *context, const struct pm_elf_found *found,
                                   struct pm_error *err)
{
    struct search *s = context;
    if (!found->has_bytes)
        return PM_OK;
    if (!strcmp(found->name, PM_SLED_SECTION)) {
        s->n_sleds += found->size_bytes / sizeof(struct pm_sled_record);
        return PM_OK;
    }
    struct pm_str bytes;
    enum pm_status status = pm_elf_load(found, SECTION_MAX_BYTES, err, &bytes);
    if (status != PM_OK)
        return status;
    s->n_pif_sections++;
    return pm_pif_read_compact(s->pif, found->path, bytes.p, bytes.len, err);
}

enum pm_status pm_pif_read_elf(struct pm_pif *pif, const char *path, struct pm_error *err,
                               size_t *ret_n_sleds)
{
    static const char *const names[] = {PM_PIF_SECTION, PM_SLED_SECTION, NULL};
    struct search s = {.pif = pif};
    enum pm_status status = pm_elf_visit(path, names, read_section, &s, err);
    if (status != PM_OK)
        return status;
    if (ret_n_sleds)
        *ret_n_sleds = s.n_sleds;
    if (s.n_pif_sections == 0)
        return pm_error_set(err, PM_ERR_NOT_FOUND,
                            "'%s' has no section " PM_PIF_SECTION
                            ": it was not compiled with -fplugin=perfmap.so",
                            path);
    return PM_OK;
}
