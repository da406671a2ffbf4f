#include "exports.h"
#include "elf.h"

#include <gelf.h>
#include <libelf.h>

enum { HIDDEN_VERSION = 0x8000 };

struct visit {
    const char *path;
    void (*visitor)(void *context, const struct pm_export *one);
    void *context;
    struct pm_error *err;
    bool has_table;
};

static enum pm_status damaged(const struct visit *v, const char *what)
{
    return pm_error_set(v->err, PM_ERR_FORMAT, "'%s' is damaged: its %s cannot be read: %s",
                        v->path, what, elf_errmsg(-1));
}

static bool is_function(const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info), bind = GELF_ST_BIND(symbol->st_info),
             visibility = GELF_ST_VISIBILITY(symbol->st_other);
    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
           (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE) &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static enum pm_status visit_table(struct visit *v, Elf *elf, Elf_Scn *section,
                                  const GElf_Shdr *header, Elf_Data *versions)
{
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || header->sh_entsize == 0)
        return damaged(v, "symbol table");
    v->has_table = true;
    for (int i = 1; (uint64_t)i < header->sh_size / header->sh_entsize; i++) {
        GElf_Sym symbol;
        GElf_Versym version = 0;
        if (!gelf_getsym(data, i, &symbol))
            return damaged(v, "symbol table");
        if (!is_function(&symbol))
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (!name)
            return damaged(v, "table of names");
        if (versions && !gelf_getversym(versions, i, &version))
            return damaged(v, "table of versions");
        const struct pm_export one = {name, (version & HIDDEN_VERSION) != 0};
        v->visitor(v->context, &one);
    }
    return PM_OK;
}

static enum pm_status visit_object(void *context, Elf *elf, struct pm_error *err)
{
    struct visit *v = context;
    (void)err;
    GElf_Ehdr object;
    GElf_Shdr header, table = {0};
    Elf_Scn *symbols = NULL;
    Elf_Data *versions = NULL;
    if (!gelf_getehdr(elf, &object))
        return damaged(v, "header");
    unsigned wanted = object.e_type == ET_REL ? SHT_SYMTAB : SHT_DYNSYM;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        if (!gelf_getshdr(section, &header))
            return damaged(v, "section header");
        if (header.sh_type == SHT_GNU_versym && wanted == SHT_DYNSYM) {
            versions = elf_getdata(section, NULL);
            if (!versions)
                return damaged(v, "table of versions");
        }
        if (header.sh_type != wanted)
            continue;
        symbols = section;
        table = header;
    }
    return symbols ? visit_table(v, elf, symbols, &table, versions) : PM_OK;
}

enum pm_status pm_exports_visit(const char *path,
                                void (*visitor)(void *context, const struct pm_export *one),
                                void *context, struct pm_error *err)
{
    struct visit v = {path, visitor, context, err, false};
    enum pm_status status = pm_elf_each_object(path, visit_object, &v, err);
    if (status != PM_OK)
        return status;
    return v.has_table ? PM_OK
                       : pm_error_set(err, PM_ERR_FORMAT,
                                      "'%s' exports no functions: it has no symbols", path);
}
