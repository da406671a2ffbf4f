#include "elf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

struct visit {
    const char *path;
    const char *const *names;
    pm_elf_visitor *visitor;
    void *context;
    struct pm_error *err;
};

static enum pm_status damaged(const char *path, struct pm_error *err, const char *what,
                              const char *name)
{
    return pm_error_set(err, PM_ERR_FORMAT, "ELF file '%s': %s%s: %s", path, what, name,
                        elf_errmsg(-1));
}

/* Unpacks a section that the linker compressed. Its stated size is checked first, for libelf
 * allocates that much. */
static enum pm_status unpack(const struct pm_elf_found *found, uint64_t max_bytes,
                             struct pm_error *err)
{
    GElf_Chdr header;
    if (!gelf_getchdr(found->section, &header))
        return damaged(found->path, err, "compression header of ", found->name);
    if (header.ch_size > max_bytes)
        return pm_error_set(err, PM_ERR_LIMIT,
                            "ELF file '%s': %s unpacks to %llu bytes, at most %llu are read",
                            found->path, found->name, (unsigned long long)header.ch_size,
                            (unsigned long long)max_bytes);
    if (elf_compress(found->section, 0, 0) < 0)
        return damaged(found->path, err, "unpacking ", found->name);
    return PM_OK;
}

enum pm_status pm_elf_load(const struct pm_elf_found *found, uint64_t max_bytes,
                           struct pm_error *err, struct pm_str *ret_bytes)
{
    if (!found->has_bytes) {
        *ret_bytes = PM_STR("");
        return PM_OK;
    }
    if (found->size_bytes > max_bytes)
        return pm_error_set(err, PM_ERR_LIMIT,
                            "ELF file '%s': %s has %llu bytes, at most %llu are read", found->path,
                            found->name, (unsigned long long)found->size_bytes,
                            (unsigned long long)max_bytes);
    enum pm_status status = found->is_compressed ? unpack(found, max_bytes, err) : PM_OK;
    if (status != PM_OK)
        return status;
    Elf_Data *data = found->is_compressed ? elf_getdata(found->section, NULL)
                                          : elf_rawdata(found->section, NULL);
    if (!data || (data->d_size && !data->d_buf))
        return damaged(found->path, err, "contents of ", found->name);
    *ret_bytes = (struct pm_str){data->d_buf, data->d_size};
    return PM_OK;
}

static const char *wanted(const struct visit *v, const char *name)
{
    for (const char *const *one = v->names; name && *one; one++)
        if (!strcmp(name, *one))
            return *one;
    return NULL;
}

static enum pm_status visit_object(const struct visit *v, Elf *elf)
{
    size_t names;
    GElf_Ehdr object;
    if (!gelf_getehdr(elf, &object))
        return damaged(v->path, v->err, "header", "");
    if (elf_getshdrstrndx(elf, &names) != 0)
        return damaged(v->path, v->err, "section header table", "");
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            return damaged(v->path, v->err, "section header", "");
        const char *name = wanted(v, elf_strptr(elf, names, header.sh_name));
        if (!name)
            continue;
        struct pm_elf_found found = {
            .path = v->path,
            .name = name,
            .size_bytes = header.sh_size,
            .has_bytes = header.sh_type != SHT_NOBITS && header.sh_size != 0,
            .is_compressed = header.sh_flags & SHF_COMPRESSED,
            .is_linked = object.e_type != ET_REL,
            .section = section,
        };
        enum pm_status status = v->visitor(v->context, &found, v->err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status visit_one(void *context, Elf *elf, struct pm_error *err)
{
    (void)err;
    return visit_object(context, elf);
}

static enum pm_status each_of_file(const char *path, int fd, Elf *elf, pm_elf_object_visitor *each,
                                   void *context, struct pm_error *err)
{
    if (elf_kind(elf) == ELF_K_ELF)
        return each(context, elf, err);
    if (elf_kind(elf) != ELF_K_AR)
        return pm_error_set(err, PM_ERR_FORMAT, "'%s' is not an ELF file", path);
    enum pm_status status = PM_OK;
    Elf_Cmd command = ELF_C_READ;
    for (Elf *member;
         status == PM_OK && command != ELF_C_NULL && (member = elf_begin(fd, command, elf));) {
        if (elf_kind(member) == ELF_K_ELF)
            status = each(context, member, err);
        command = elf_next(member);
        elf_end(member);
    }
    return status;
}

static enum pm_status each_open(const char *path, int fd, pm_elf_object_visitor *each,
                                void *context, struct pm_error *err)
{
    if (elf_version(EV_CURRENT) == EV_NONE)
        return pm_error_set(err, PM_ERR_UNSUPPORTED, "libelf is too old: %s", elf_errmsg(-1));
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!elf)
        return damaged(path, err, "cannot be read", "");
    enum pm_status status = each_of_file(path, fd, elf, each, context, err);
    elf_end(elf);
    return status;
}

enum pm_status pm_elf_each_object(const char *path, pm_elf_object_visitor *each, void *context,
                                  struct pm_error *err)
{
    int fd;
    uint64_t bytes;
    enum pm_status status = pm_file_open(path, SIZE_MAX / 2, err, &fd, &bytes);
    if (status != PM_OK)
        return status;
    status = each_open(path, fd, each, context, err);
    close(fd);
    return status;
}

enum pm_status pm_elf_visit(const char *path, const char *const *names, pm_elf_visitor *visitor,
                            void *context, struct pm_error *err)
{
    struct visit v = {path, names, visitor, context, err};
    return pm_elf_each_object(path, visit_one, &v, err);
}
