#include "elf_file.h"

#include "../base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SECTION_MAX_BYTES = 1 << 30,
    /* What zlib can make of a byte at most, so a stated size beyond that is damage. */
    ZLIB_RATIO_MAX = 1040,
    ELFCOMPRESS_ZSTD_ = 2, /* not in the headers of 2022 */
    NOTES_MAX_BYTES = 1 << 20
};

static bool lies_inside(const struct pm_elf_file *file, const struct pm_elf_section *section)
{
    return section->offset <= file->size_bytes &&
           section->size_bytes <= file->size_bytes - section->offset;
}

static enum pm_load read_raw(const struct pm_elf_file *file, const struct pm_elf_section *section,
                             struct pm_bytes *ret_bytes)
{
    if (!lies_inside(file, section))
        return PM_LOAD_DAMAGED;
    if (section->size_bytes > SECTION_MAX_BYTES)
        return PM_LOAD_LIMIT;
    size_t len = section->size_bytes, done = 0;
    unsigned char *p = pm_alloc(len + PM_BYTES_PADDING);
    if (!p)
        return PM_LOAD_MEMORY;
    while (done < len) {
        ssize_t n = pread(file->fd, p + done, len - done, (off_t)(section->offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            free(p);
            return PM_LOAD_DAMAGED;
        }
        done += (size_t)n;
    }
    *ret_bytes = (struct pm_bytes){p, len};
    return PM_LOAD_OK;
}

static enum pm_load copy_unpacked(Elf_Scn *scn, struct pm_bytes *ret_bytes)
{
    Elf_Data *data = elf_rawdata(scn, NULL);
    if (!data || !data->d_buf)
        return PM_LOAD_DAMAGED;
    if (data->d_size > SECTION_MAX_BYTES)
        return PM_LOAD_LIMIT;
    unsigned char *p = pm_alloc(data->d_size + PM_BYTES_PADDING);
    if (!p)
        return PM_LOAD_MEMORY;
    if (data->d_size != 0)
        memcpy(p, data->d_buf, data->d_size);
    *ret_bytes = (struct pm_bytes){p, data->d_size};
    return PM_LOAD_OK;
}

static enum pm_load check_unpacked_size(uint64_t unpacked, uint64_t packed)
{
    if (unpacked > SECTION_MAX_BYTES)
        return PM_LOAD_LIMIT;
    return unpacked / ZLIB_RATIO_MAX > packed ? PM_LOAD_DAMAGED : PM_LOAD_OK;
}

/* SHF_COMPRESSED: a header with the kind and the size. */
static enum pm_load unpack(const struct pm_elf_file *file, const struct pm_elf_section *section,
                           struct pm_bytes *ret_bytes)
{
    Elf_Scn *scn = elf_getscn(file->elf, section->index);
    GElf_Chdr header;
    if (!scn || !lies_inside(file, section))
        return PM_LOAD_DAMAGED;
    if (!gelf_getchdr(scn, &header)) {
        /* libelf refuses kinds it does not know; so does it damage. The kind is the first word. */
        unsigned char kind[4] = {0};
        if (pread(file->fd, kind, sizeof kind, (off_t)section->offset) == sizeof kind &&
            kind[file->is_big_endian ? 3 : 0] == ELFCOMPRESS_ZSTD_)
            return PM_LOAD_ZSTD;
        return PM_LOAD_DAMAGED;
    }
    if (header.ch_type == ELFCOMPRESS_ZSTD_)
        return PM_LOAD_ZSTD;
    enum pm_load load = check_unpacked_size(header.ch_size, section->size_bytes);
    if (load != PM_LOAD_OK)
        return load;
    return elf_compress(scn, 0, 0) < 0 ? PM_LOAD_DAMAGED : copy_unpacked(scn, ret_bytes);
}

/* .zdebug_*: "ZLIB", the size in 8 bytes big-endian, the stream. */
static enum pm_load unpack_gnu(const struct pm_elf_file *file, const struct pm_elf_section *section,
                               struct pm_bytes *ret_bytes)
{
    unsigned char head[12];
    Elf_Scn *scn = elf_getscn(file->elf, section->index);
    if (!scn || section->size_bytes < sizeof head || !lies_inside(file, section) ||
        pread(file->fd, head, sizeof head, (off_t)section->offset) != sizeof head)
        return PM_LOAD_DAMAGED;
    if (memcmp(head, "ZLIB", 4) != 0)
        return PM_LOAD_DAMAGED;
    uint64_t size_bytes = 0;
    for (size_t i = 4; i < sizeof head; i++)
        size_bytes = size_bytes << 8 | head[i];
    enum pm_load load = check_unpacked_size(size_bytes, section->size_bytes);
    if (load != PM_LOAD_OK)
        return load;
    return elf_compress_gnu(scn, 0, 0) < 0 ? PM_LOAD_DAMAGED : copy_unpacked(scn, ret_bytes);
}

/* Bytes that a relocation of a debug section changes; 0: none that concerns us. */
static size_t relocation_bytes(uint16_t machine, uint64_t type)
{
    switch (machine) {
    case EM_X86_64:
        if (type == R_X86_64_64)
            return 8;
        return type == R_X86_64_32 || type == R_X86_64_32S ? 4 : 0;
    case EM_AARCH64:
        if (type == R_AARCH64_ABS64)
            return 8;
        return type == R_AARCH64_ABS32 ? 4 : 0;
    default:
        return 0;
    }
}

static void relocate_with(const struct pm_elf_file *file, const struct pm_elf_section *table,
                          struct pm_bytes *bytes)
{
    Elf_Scn *scn = elf_getscn(file->elf, table->index);
    Elf_Scn *symbols_scn = elf_getscn(file->elf, table->link);
    Elf_Data *data = scn && lies_inside(file, table) ? elf_getdata(scn, NULL) : NULL;
    Elf_Data *symbols = symbols_scn ? elf_getdata(symbols_scn, NULL) : NULL;
    if (!data || !symbols)
        return;
    GElf_Rela rela;
    for (int i = 0; gelf_getrela(data, i, &rela); i++) {
        size_t n = relocation_bytes(file->machine, GELF_R_TYPE(rela.r_info));
        GElf_Sym symbol;
        if (n == 0 || rela.r_offset > bytes->len || n > bytes->len - rela.r_offset ||
            !gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
            continue;
        uint64_t value = symbol.st_value + (uint64_t)rela.r_addend;
        for (size_t k = 0; k < n; k++)
            bytes->p[rela.r_offset + (file->is_big_endian ? n - 1 - k : k)] =
                (unsigned char)(value >> 8 * k);
    }
}

static void relocate(const struct pm_elf_file *file, const struct pm_elf_section *section,
                     struct pm_bytes *bytes)
{
    for (size_t i = 0; i < file->n_sections; i++) {
        const struct pm_elf_section *table = &file->sections[i];
        if (table->type == SHT_RELA && table->info == section->index)
            relocate_with(file, table, bytes);
    }
}

enum pm_load pm_elf_file_load(const struct pm_elf_file *file, const struct pm_elf_section *section,
                              struct pm_bytes *ret_bytes)
{
    if (section->type == SHT_NOBITS || section->size_bytes == 0)
        return PM_LOAD_EMPTY;
    enum pm_load load;
    if (section->flags & SHF_COMPRESSED)
        load = unpack(file, section, ret_bytes);
    else if (!strncmp(section->name, ".zdebug", 7))
        load = unpack_gnu(file, section, ret_bytes);
    else
        load = read_raw(file, section, ret_bytes);
    if (load == PM_LOAD_OK && file->type == ET_REL)
        relocate(file, section, ret_bytes);
    return load;
}

static bool is_named(const char *section, const char *name)
{
    if (!strcmp(section, name))
        return true;
    return !strncmp(section, ".z", 2) && name[0] == '.' && !strcmp(section + 2, name + 1);
}

const struct pm_elf_section *pm_elf_file_section(const struct pm_elf_file *file, const char *name)
{
    const struct pm_elf_section *in_group = NULL;
    for (size_t i = 0; i < file->n_sections; i++) {
        const struct pm_elf_section *section = &file->sections[i];
        if (!is_named(section->name, name))
            continue;
        if (!(section->flags & SHF_GROUP))
            return section;
        if (!in_group)
            in_group = section;
    }
    return in_group;
}

bool pm_elf_file_is_code(const struct pm_elf_file *file, uint64_t address)
{
    if (file->type == ET_REL)
        return true;
    for (size_t i = 0; i < file->n_code; i++)
        if (address >= file->code[i].low && address < file->code[i].high)
            return true;
    return false;
}

static void add_code(struct pm_elf_file *file, const struct pm_elf_section *section)
{
    uint64_t low = section->address, high = low + section->size_bytes;
    if (!(section->flags & SHF_EXECINSTR) || high <= low)
        return;
    if (file->n_code < PM_ELF_CODE_MAX) {
        file->code[file->n_code++] = (struct pm_elf_code){low, high};
        return;
    }
    struct pm_elf_code *last = &file->code[PM_ELF_CODE_MAX - 1];
    last->low = low < last->low ? low : last->low;
    last->high = high > last->high ? high : last->high;
}

static void note_build_id(struct pm_elf_file *file, const struct pm_elf_section *section)
{
    struct pm_bytes bytes;
    if (section->type != SHT_NOTE || section->size_bytes > NOTES_MAX_BYTES ||
        file->build_id[0] != '\0' || pm_elf_file_load(file, section, &bytes) != PM_LOAD_OK)
        return;
    for (size_t at = 0; bytes.len - at >= 16 && bytes.len >= at;) {
        uint32_t word[3];
        memcpy(word, bytes.p + at, sizeof word);
        uint64_t name = ((uint64_t)word[0] + 3) & ~(uint64_t)3;
        uint64_t description = ((uint64_t)word[1] + 3) & ~(uint64_t)3;
        if (name + description > bytes.len - at - sizeof word)
            break;
        const unsigned char *p = bytes.p + at + sizeof word;
        if (word[2] == NT_GNU_BUILD_ID && word[0] == 4 && !memcmp(p, "GNU", 4) &&
            word[1] <= PM_BUILD_ID_MAX_BYTES) {
            for (uint32_t i = 0; i < word[1]; i++)
                snprintf(file->build_id + (size_t)2 * i, 3, "%02x", p[name + i]);
            break;
        }
        at += sizeof word + name + description;
    }
    free(bytes.p);
}

static enum pm_status no_elf(struct pm_elf_file *file, struct pm_error *err, const char *what)
{
    return pm_error_set(err, PM_ERR_FORMAT, "'%s': %s", file->path, what);
}

static enum pm_status read_sections(struct pm_elf_file *file, struct pm_error *err)
{
    size_t n = 0, names = 0;
    if (elf_getshdrnum(file->elf, &n) != 0 || (n != 0 && elf_getshdrstrndx(file->elf, &names) != 0))
        n = 0; /* without section headers there is neither debug information nor a symbol table */
    file->sections = pm_alloc_array(n ? n : 1, sizeof *file->sections);
    if (!file->sections)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (Elf_Scn *scn = n ? elf_nextscn(file->elf, NULL) : NULL; scn && file->n_sections < n;
         scn = elf_nextscn(file->elf, scn)) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header))
            continue;
        const char *name = elf_strptr(file->elf, names, header.sh_name);
        file->sections[file->n_sections++] =
            (struct pm_elf_section){name ? name : "", header.sh_addr,  header.sh_offset,
                                    header.sh_size,   header.sh_flags, header.sh_type,
                                    header.sh_link,   header.sh_info,  (uint32_t)elf_ndxscn(scn)};
    }
    for (size_t i = 0; i < file->n_sections; i++) {
        add_code(file, &file->sections[i]);
        note_build_id(file, &file->sections[i]);
    }
    return PM_OK;
}

static enum pm_status read_header(struct pm_elf_file *file, struct pm_error *err)
{
    struct stat st;
    if (fstat(file->fd, &st) != 0)
        return pm_error_system(err, errno, "cannot look at '%s'", file->path);
    if (!S_ISREG(st.st_mode))
        return no_elf(file, err, "is not a regular file");
    if (elf_version(EV_CURRENT) == EV_NONE)
        return pm_error_set(err, PM_ERR_UNSUPPORTED, "libelf is too old: %s", elf_errmsg(-1));
    file->size_bytes = (uint64_t)st.st_size;
    file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
    GElf_Ehdr header;
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header))
        return no_elf(file, err, "is not an ELF file");
    file->type = header.e_type;
    file->machine = header.e_machine;
    file->is_big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
    file->address_bytes = header.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
    return read_sections(file, err);
}

enum pm_status pm_elf_file_open(const char *path, struct pm_error *err,
                                struct pm_elf_file **ret_file)
{
    struct pm_elf_file *file = pm_alloc(sizeof *file);
    char *copy = pm_strndup(path, strlen(path));
    if (!file || !copy) {
        free(file);
        free(copy);
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    file->path = copy;
    file->fd = -1;
    uint64_t bytes;
    enum pm_status status = pm_file_open(path, SIZE_MAX / 2, err, &file->fd, &bytes);
    if (status != PM_OK)
        goto failed;
    status = read_header(file, err);
    if (status != PM_OK)
        goto failed;
    *ret_file = file;
    return PM_OK;
failed:
    pm_elf_file_close(file);
    return status;
}

void pm_elf_file_close(struct pm_elf_file *file)
{
    if (!file)
        return;
    if (file->elf)
        elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    free(file->sections);
    free(file->path);
    free(file);
}
