#include "debuginfo.h"

#include "separate.h"
#include "symbols.h"
#include "units.h"

#include <stdlib.h>

struct pm_debug {
    struct pm_elf_file *file, *debug_file; /* debug_file: NULL when file has all there is */
    struct pm_symbols *symbols;
    struct pm_units *units;
    struct pm_intern *set;
    struct pm_debug_notes notes;
    bool is_read;
};

static bool has_dwarf(const struct pm_elf_file *file)
{
    const struct pm_elf_section *info = pm_elf_file_section(file, ".debug_info");
    return info && info->type != SHT_NOBITS && info->size_bytes != 0;
}

static enum pm_status check_build(const struct pm_elf_file *file, const char *build_id,
                                  struct pm_error *err)
{
    if (!build_id || !build_id[0] || !strcmp(build_id, file->build_id))
        return PM_OK;
    return pm_error_set(err, PM_ERR_NOT_FOUND,
                        "'%s' is from another build: its build-id is %s, not %s", file->path,
                        file->build_id[0] ? file->build_id : "missing", build_id);
}

static enum pm_status open_file(struct pm_debug *debug, const char *path, const char *build_id,
                                struct pm_error *err)
{
    enum pm_status status = pm_elf_file_open(path, err, &debug->file);
    if (status != PM_OK)
        return status;
    status = check_build(debug->file, build_id, err);
    if (status != PM_OK)
        return status;
    debug->set = pm_intern_new();
    return debug->set ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

enum pm_status pm_debug_open(const char *path, const char *build_id, struct pm_error *err,
                             struct pm_debug **ret_debug)
{
    struct pm_debug *debug = pm_alloc(sizeof *debug);
    if (!debug)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    debug->notes = (struct pm_debug_notes)PM_DEBUG_NOTES_INIT;
    enum pm_status status = open_file(debug, path, build_id, err);
    if (status != PM_OK) {
        pm_debug_free(debug);
        return status;
    }
    *ret_debug = debug;
    return PM_OK;
}

void pm_debug_free(struct pm_debug *debug)
{
    if (!debug)
        return;
    pm_units_free(debug->units);
    pm_symbols_free(debug->symbols);
    pm_elf_file_close(debug->debug_file);
    pm_elf_file_close(debug->file);
    pm_intern_free(debug->set);
    pm_debug_notes_release(&debug->notes);
    free(debug);
}

/* With the first address, or the first question what is there. */
static void read_all(struct pm_debug *debug)
{
    if (debug->is_read)
        return;
    debug->is_read = true;
    if (!has_dwarf(debug->file))
        debug->debug_file = pm_separate_find(debug->file, &debug->notes);
    const struct pm_elf_file *source = debug->debug_file ? debug->debug_file : debug->file;
    if (has_dwarf(source))
        debug->units = pm_units_new(debug->file, source, debug->set, &debug->notes);
    debug->symbols = pm_symbols_new(debug->file, debug->debug_file, debug->set);
    if (!debug->symbols)
        pm_debug_note(&debug->notes, "no memory for the symbols of '%s'", debug->file->path);
    const struct pm_elf_section *symtab = pm_elf_file_section(source, ".symtab");
    if (!has_dwarf(source) && (!symtab || symtab->type == SHT_NOBITS))
        pm_debug_note(&debug->notes,
                      "'%s' was stripped, only exported functions are named: install its debug "
                      "package, or compile it with -g",
                      debug->file->path);
}

static struct pm_symbol *symbol_at(struct pm_debug *debug, uint64_t address)
{
    struct pm_symbol *symbol = debug->symbols ? pm_symbols_find(debug->symbols, address) : NULL;
    if (symbol && !symbol->shown) {
        char *text = pm_debug_demangle(symbol->name);
        symbol->shown = text ? pm_intern_add(debug->set, text, strlen(text)) : NULL;
        if (!symbol->shown)
            symbol->shown = symbol->name;
        free(text);
    }
    return symbol;
}

/* The outermost frame is the code that has the symbol: its name in the table is the truth for
 * clones (.part.0), and the only one where debug information has lines but no function. */
static void add_symbol(struct pm_debug_frame *frame, const struct pm_symbol *symbol)
{
    bool is_mangled = strcmp(symbol->shown, symbol->name) != 0;
    if (!frame->function || (!frame->linkage && is_mangled))
        frame->function = symbol->shown;
    frame->linkage = symbol->name;
    if (frame->low == frame->high) {
        frame->low = symbol->low;
        frame->high = symbol->high;
    }
}

size_t pm_debug_find(struct pm_debug *debug, uint64_t address, struct pm_debug_frame *ret_frames,
                     size_t max)
{
    read_all(debug);
    if (max == 0)
        return 0;
    size_t n = debug->units ? pm_units_find(debug->units, address, ret_frames, max) : 0;
    const struct pm_symbol *symbol = symbol_at(debug, address);
    if (n > 0 && symbol && !ret_frames[n - 1].is_inlined)
        add_symbol(&ret_frames[n - 1], symbol);
    if (n > 0 || !symbol)
        return n;
    ret_frames[0] = (struct pm_debug_frame){
        .source = PM_DEBUG_SYMBOL,
        .function = symbol->shown,
        .linkage = symbol->name,
        .low = symbol->low,
        .high = symbol->high,
    };
    return 1;
}

const char *pm_debug_file(const struct pm_debug *debug)
{
    read_all((struct pm_debug *)debug);
    if (!debug->units)
        return NULL;
    return debug->debug_file ? debug->debug_file->path : debug->file->path;
}

const char *pm_debug_problem(const struct pm_debug *debug)
{
    read_all((struct pm_debug *)debug);
    return debug->notes.text.len ? debug->notes.text.data : NULL;
}
