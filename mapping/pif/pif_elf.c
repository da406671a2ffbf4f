/* The compact sections of an ELF file. Apart from the rest of this folder, for it needs libelf,
 * which the compilers' plugin does not. */
#include "pif.h"

#include "../../format/pm_sled.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECTION_MAX_BYTES = 1 << 30 };

struct search {
    struct pm_pif *pif;
    const char *path;
    struct pm_error *err;
    size_t n_pif_sections, n_sleds;
};

static enum pm_status damaged(struct search *s, const char *what)
{
    return pm_error_set(s->err, PM_ERR_FORMAT, "ELF file '%s': %s: %s", s->path, what,
                        elf_errmsg(-1));
}

/* Unpacks a section that the linker compressed. Its stated size is checked first, for libelf
 * allocates that much. */
static enum pm_status unpack(struct search *s, Elf_Scn *section)
{
    GElf_Chdr header;
    if (!gelf_getchdr(section, &header))
        return damaged(s, "compression header of " PM_PIF_SECTION);
    if (header.ch_size > SECTION_MAX_BYTES)
        return pm_error_set(s->err, PM_ERR_LIMIT,
                            "ELF file '%s': " PM_PIF_SECTION
                            " unpacks to %llu bytes, at most %d are read",
                            s->path, (unsigned long long)header.ch_size, SECTION_MAX_BYTES);
    return elf_compress(section, 0, 0) < 0 ? damaged(s, "unpacking " PM_PIF_SECTION) : PM_OK;
}

static enum pm_status read_section(struct search *s, Elf_Scn *section, const GElf_Shdr *header)
{
    if (header->sh_type == SHT_NOBITS || header->sh_size == 0)
        return PM_OK; /* a separate debug file keeps the headers only */
    if (header->sh_size > SECTION_MAX_BYTES)
        return pm_error_set(s->err, PM_ERR_LIMIT,
                            "ELF file '%s': " PM_PIF_SECTION " has %llu bytes, at most %d are read",
                            s->path, (unsigned long long)header->sh_size, SECTION_MAX_BYTES);
    bool packed = header->sh_flags & SHF_COMPRESSED;
    enum pm_status status = packed ? unpack(s, section) : PM_OK;
    if (status != PM_OK)
        return status;
    Elf_Data *data = packed ? elf_getdata(section, NULL) : elf_rawdata(section, NULL);
    if (!data || (data->d_size && !data->d_buf))
        return damaged(s, "contents of " PM_PIF_SECTION);
    s->n_pif_sections++;
    return pm_pif_read_compact(s->pif, s->path, data->d_buf, data->d_size, s->err);
}

static enum pm_status read_object(struct search *s, Elf *elf)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return damaged(s, "section header table");
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            return damaged(s, "section header");
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (name && !strcmp(name, PM_SLED_SECTION) && header.sh_type != SHT_NOBITS)
            s->n_sleds += header.sh_size / sizeof(struct pm_sled_record);
        if (!name || strcmp(name, PM_PIF_SECTION))
            continue;
        enum pm_status status = read_section(s, section, &header);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* A file may be an archive of objects: those are read one after the other, other members are passed
 * over. */
static enum pm_status read_any(struct search *s, int fd, Elf *elf)
{
    if (elf_kind(elf) == ELF_K_ELF)
        return read_object(s, elf);
    if (elf_kind(elf) != ELF_K_AR)
        return pm_error_set(s->err, PM_ERR_FORMAT, "'%s' is not an ELF file", s->path);
    enum pm_status status = PM_OK;
    Elf_Cmd command = ELF_C_READ;
    for (Elf *member;
         status == PM_OK && command != ELF_C_NULL && (member = elf_begin(fd, command, elf));) {
        if (elf_kind(member) == ELF_K_ELF)
            status = read_object(s, member);
        command = elf_next(member);
        elf_end(member);
    }
    return status;
}

static enum pm_status read_open(struct search *s, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return pm_error_system(s->err, errno, "cannot look at '%s'", s->path);
    if (!S_ISREG(st.st_mode))
        return pm_error_set(s->err, PM_ERR_FORMAT, "'%s' is not a regular file", s->path);
    if (elf_version(EV_CURRENT) == EV_NONE)
        return pm_error_set(s->err, PM_ERR_UNSUPPORTED, "libelf is too old: %s", elf_errmsg(-1));
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!elf)
        return damaged(s, "cannot be read");
    enum pm_status status = read_any(s, fd, elf);
    elf_end(elf);
    return status;
}

enum pm_status pm_pif_read_elf(struct pm_pif *pif, const char *path, struct pm_error *err,
                               size_t *ret_n_sleds)
{
    struct search s = {.pif = pif, .path = path, .err = err};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return pm_error_system(err, errno, "cannot open '%s'", path);
    enum pm_status status = read_open(&s, fd);
    close(fd);
    if (ret_n_sleds && (status == PM_OK || status == PM_ERR_NOT_FOUND))
        *ret_n_sleds = s.n_sleds;
    if (status == PM_OK && s.n_pif_sections == 0)
        status = pm_error_set(err, PM_ERR_NOT_FOUND,
                              "'%s' has no section " PM_PIF_SECTION
                              ": it was not compiled with -fplugin=perfmap.so",
                              path);
    return status;
}
