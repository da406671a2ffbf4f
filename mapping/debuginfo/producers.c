#include "producers.h"

#include "dwarf_reader.h"

/* Reading so much takes 20 ms. */
enum { MOST_INFO_BYTES = 64 << 20, MOST_UNITS = 1024 };

static bool has_little(const struct pm_elf_file *file)
{
    const struct pm_elf_section *info = pm_elf_file_section(file, ".debug_info");
    return info && info->type != SHT_NOBITS && info->size_bytes > 0 &&
           info->size_bytes <= MOST_INFO_BYTES;
}

static void visit_units(struct pm_dwarf *dwarf, pm_producer_visit *visit, void *context)
{
    struct pm_dwarf_unit_header header;
    struct pm_dwarf_die die;
    for (int n = 0; n < MOST_UNITS && pm_dwarf_next_unit(dwarf, &header); n++)
        if (!header.is_type_unit && pm_dwarf_die_at(dwarf, header.die_offset, &die) &&
            die.producer && !visit(context, die.producer))
            return;
}

enum pm_status pm_debug_producers(const char *path, const char *build_id, pm_producer_visit *visit,
                                  void *context, struct pm_error *err)
{
    struct pm_elf_file *file;
    struct pm_debug_notes notes = PM_DEBUG_NOTES_INIT; /* told when code is looked up */
    enum pm_status status = pm_elf_file_open(path, err, &file);
    if (status != PM_OK)
        return status;
    bool is_other = build_id && *build_id && strcmp(build_id, file->build_id) != 0;
    struct pm_dwarf *dwarf =
        !is_other && has_little(file) ? pm_dwarf_new(file, PM_DWARF_HEADS, &notes) : NULL;
    if (dwarf)
        visit_units(dwarf, visit, context);
    pm_dwarf_free(dwarf);
    pm_debug_notes_release(&notes);
    pm_elf_file_close(file);
    return PM_OK;
}
