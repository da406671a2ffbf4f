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

/* --- symbols --- */

struct symbol {
    uint64_t address, size_bytes;
    const char *name;
};

struct pm_symbols {
    int fd;
    Elf *elf;
    struct symbol *symbols;
    size_t n;
};

static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->size_bytes > y->size_bytes ? -1 : x->size_bytes < y->size_bytes;
}

static bool read_symbols(struct pm_symbols *symbols, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !header->sh_entsize)
        return true;
    size_t n = (size_t)(data->d_size / header->sh_entsize);
    symbols->symbols = pm_alloc_array(n, sizeof *symbols->symbols);
    if (!symbols->symbols)
        return false;
    for (size_t i = 0; i < n && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
            symbol.st_shndx == SHN_UNDEF)
            continue;
        const char *name = elf_strptr(symbols->elf, header->sh_link, symbol.st_name);
        if (name && *name)
            symbols->symbols[symbols->n++] = (struct symbol){symbol.st_value, symbol.st_size, name};
    }
    qsort(symbols->symbols, symbols->n, sizeof *symbols->symbols, compare_symbols);
    return true;
}

/* The full table when the file was not stripped, else what the loader needs. */
static bool load_symbols(struct pm_symbols *symbols)
{
    Elf_Scn *best = NULL;
    GElf_Shdr header, best_header = {0};
    for (Elf_Scn *section = NULL; (section = elf_nextscn(symbols->elf, section));) {
        if (!gelf_getshdr(section, &header) ||
            (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
            continue;
        if (!best || header.sh_type == SHT_SYMTAB) {
            best = section;
            best_header = header;
        }
    }
    return best && read_symbols(symbols, best, &best_header) && symbols->n;
}

struct pm_symbols *pm_symbols_open(const char *path)
{
    struct pm_symbols *symbols = pm_alloc(sizeof *symbols);
    if (!symbols)
        return NULL;
    symbols->fd = elf_version(EV_CURRENT) == EV_NONE
                      ? -1
                      : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (symbols->fd >= 0)
        symbols->elf = elf_begin(symbols->fd, ELF_C_READ, NULL);
    if (symbols->elf && elf_kind(symbols->elf) == ELF_K_ELF && load_symbols(symbols))
        return symbols;
    pm_symbols_free(symbols);
    return NULL;
}

void pm_symbols_free(struct pm_symbols *symbols)
{
    if (!symbols)
        return;
    elf_end(symbols->elf);
    if (symbols->fd >= 0)
        close(symbols->fd);
    free(symbols->symbols);
    free(symbols);
}

bool pm_symbols_find(const struct pm_symbols *symbols, uint64_t address, const char **ret_name,
                     uint64_t *ret_offset)
{
    size_t low = 0, high = symbols->n; /* the first symbol behind address */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    size_t at = low - 1;
    while (at > 0 && symbols->symbols[at - 1].address == symbols->symbols[at].address)
        at--; /* of several at one address the one that covers most */
    const struct symbol *symbol = &symbols->symbols[at];
    if (symbol->size_bytes ? address - symbol->address >= symbol->size_bytes
                           : address != symbol->address)
        return false;
    *ret_name = symbol->name;
    *ret_offset = address - symbol->address;
    return true;
}
