#include "binary.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Finds the build-id among the notes of a section or segment. */
static bool note_build_id(Elf_Data *data, struct pm_str *ret_id)
{
    GElf_Nhdr note;
    size_t at = 0, next, name, desc;
    while (data && (next = gelf_getnote(data, at, &note, &name, &desc)) > at) {
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && name + 4 <= data->d_size &&
            memcmp((char *)data->d_buf + name, "GNU", 4) == 0 && desc <= data->d_size &&
            note.n_descsz <= data->d_size - desc) {
            *ret_id = (struct pm_str){(char *)data->d_buf + desc, note.n_descsz};
            return true;
        }
        at = next;
    }
    return false;
}

static bool find_build_id(Elf *elf, struct pm_str *ret_id)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
            note_build_id(elf_getdata(section, NULL), ret_id))
            return true;
    }
    size_t n = 0;
    if (elf_getphdrnum(elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n && i < 65536;
         i++) { /* no section headers: the segments have it as well */
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_NOTE &&
            note_build_id(
                elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_NHDR),
                ret_id))
            return true;
    }
    return false;
}

static enum pm_binary_state check_build_id(int fd, struct pm_str ran, char *ret_why, size_t len)
{
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!elf || elf_kind(elf) != ELF_K_ELF) {
        snprintf(ret_why, len, "not an ELF file");
        elf_end(elf);
        return PM_BINARY_CHANGED;
    }
    struct pm_str id;
    bool same = find_build_id(elf, &id) && pm_str_eq(id, ran);
    elf_end(elf);
    return same ? PM_BINARY_SAME : PM_BINARY_CHANGED;
}

enum pm_binary_state pm_binary_check(const char *path, const struct pm_binary_identity *identity,
                                     char *ret_why, size_t len)
{
    struct stat st;
    ret_why[0] = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return PM_BINARY_GONE;
        snprintf(ret_why, len, "%s", strerror(errno));
        return PM_BINARY_UNREADABLE;
    }
    enum pm_binary_state state = PM_BINARY_CHANGED;
    if (fstat(fd, &st) != 0) {
        snprintf(ret_why, len, "%s", strerror(errno));
        state = PM_BINARY_UNREADABLE;
    } else if (!S_ISREG(st.st_mode)) {
        snprintf(ret_why, len, "not a regular file");
    } else if (elf_version(EV_CURRENT) != EV_NONE && identity->build_id.len) {
        state = check_build_id(fd, identity->build_id, ret_why, len);
    } else {
        uint64_t mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
        bool same = (!identity->file_bytes || identity->file_bytes == (uint64_t)st.st_size) &&
                    (!identity->mtime_ns || identity->mtime_ns == mtime_ns);
        state = same ? PM_BINARY_SAME : PM_BINARY_CHANGED;
    }
    close(fd);
    return state;
}

static size_t code_parts(Elf *elf, struct pm_binary_part *ret_parts, size_t max)
{
    size_t n = 0, n_parts = 0;
    GElf_Phdr header;
    if (elf_getphdrnum(elf, &n) != 0)
        return 0;
    for (size_t i = 0; i < n && i < 65536 && n_parts < max; i++)
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
            (header.p_flags & PF_X))
            ret_parts[n_parts++] =
                (struct pm_binary_part){header.p_offset, header.p_vaddr, header.p_filesz};
    return n_parts;
}

size_t pm_binary_code_parts(const char *path, struct pm_binary_part *ret_parts, size_t max)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    size_t n = elf && elf_kind(elf) == ELF_K_ELF ? code_parts(elf, ret_parts, max) : 0;
    elf_end(elf);
    close(fd);
    return n;
}
