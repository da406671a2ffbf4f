/* Makes a small ELF file for tests: a build-id note, a compact PIF section, function symbols. */
#ifndef MAKE_ELF_H
#define MAKE_ELF_H

#include "mapping/pif/pif.h"
#include "format/pm_sled.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct make_elf_symbol {
    const char *name;
    uint64_t address, size_bytes;
};

static inline void make_elf_section(Elf *elf, size_t name, uint32_t type, void *data, size_t len,
                                    Elf_Type data_type, uint32_t link, size_t entry_bytes)
{
    Elf_Scn *section = elf_newscn(elf);
    Elf_Data *part = elf_newdata(section);
    GElf_Shdr header;
    part->d_buf = data;
    part->d_size = len;
    part->d_type = data_type;
    part->d_align = type == SHT_NOTE ? 4 : 8;
    part->d_version = EV_CURRENT;
    gelf_getshdr(section, &header);
    header.sh_name = (Elf64_Word)name;
    header.sh_type = type;
    header.sh_link = link;
    header.sh_entsize = entry_bytes;
    gelf_update_shdr(section, &header);
}

/* build_id of 4 bytes; pif, map NULL: no such section. */
static inline bool make_elf_with_map(const char *path, const char *build_id,
                                     const struct pm_pif *pif, const struct pm_buf *map,
                                     const struct make_elf_symbol *symbols, size_t n_symbols)
{
    static char text[0x200];
    static char names[] =
        "\0.shstrtab\0.note.gnu.build-id\0.strtab\0.symtab\0.perfmap.pif\0.text\0.perfmap.map";
    struct {
        uint32_t n_name, n_desc, type;
        char name[4], desc[4];
    } note = {4, 4, NT_GNU_BUILD_ID, "GNU", ""};
    memcpy(note.desc, build_id, 4);
    struct pm_buf compact = PM_BUF_INIT(1 << 28), strings = PM_BUF_INIT(1 << 20);
    Elf64_Sym *table = calloc(n_symbols + 1, sizeof *table);
    pm_buf_add_byte(&strings, 0);
    for (size_t i = 0; i < n_symbols; i++) {
        table[i + 1] = (Elf64_Sym){.st_name = (Elf64_Word)strings.len,
                                   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                   .st_shndx = 5,
                                   .st_value = symbols[i].address,
                                   .st_size = symbols[i].size_bytes};
        pm_buf_add(&strings, symbols[i].name, strlen(symbols[i].name) + 1);
    }
    if (pif)
        pm_pif_write_compact(pif, &compact);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
    gelf_newehdr(elf, ELFCLASS64);
    GElf_Ehdr head;
    gelf_getehdr(elf, &head);
    head.e_type = ET_DYN;
    head.e_machine = EM_X86_64;
    head.e_version = EV_CURRENT;
    head.e_shstrndx = 1;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    gelf_update_ehdr(elf, &head);
    make_elf_section(elf, 1, SHT_STRTAB, names, sizeof names, ELF_T_BYTE, 0, 0);
    make_elf_section(elf, 11, SHT_NOTE, &note, sizeof note, ELF_T_BYTE, 0, 0);
    make_elf_section(elf, 30, SHT_STRTAB, strings.data, strings.len, ELF_T_BYTE, 0, 0);
    make_elf_section(elf, 38, SHT_SYMTAB, table, (n_symbols + 1) * sizeof *table, ELF_T_SYM, 3,
                     sizeof *table);
    GElf_Shdr header;
    make_elf_section(elf, 59, SHT_PROGBITS, text, sizeof text, ELF_T_BYTE, 0, 0);
    Elf_Scn *section = elf_getscn(elf, 5);
    gelf_getshdr(section, &header);
    header.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    header.sh_addr = 0x10;
    gelf_update_shdr(section, &header);
    if (map)
        make_elf_section(elf, 65, SHT_PROGBITS, (void *)map->data, map->len, ELF_T_BYTE, 0, 0);
    if (pif)
        make_elf_section(elf, 46, SHT_PROGBITS, compact.data, compact.len, ELF_T_BYTE, 0, 0);
    bool ok = !compact.failed && elf_update(elf, ELF_C_WRITE) > 0;
    elf_end(elf);
    close(fd);
    free(table);
    pm_buf_release(&compact);
    pm_buf_release(&strings);
    return ok;
}

static inline bool make_elf(const char *path, const char *build_id, const struct pm_pif *pif,
                            const struct make_elf_symbol *symbols, size_t n_symbols)
{
    return make_elf_with_map(path, build_id, pif, NULL, symbols, n_symbols);
}

#endif
