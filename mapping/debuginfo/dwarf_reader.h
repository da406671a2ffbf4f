/* DWARF through libdwarf, without libdwarf's types: what debuginfo_libdwarf.c gives to the rest
 * of this folder.
 *
 *     // NULL: file has none that can be read
 *     struct pm_dwarf *dwarf = pm_dwarf_new(file, PM_DWARF_MAIN, notes);
 *     struct pm_dwarf_unit_header header;
 *     while (pm_dwarf_next_unit(dwarf, &header))
 *         if (pm_dwarf_die_at(dwarf, header.die_offset, &die)) ...
 *     pm_dwarf_walk(dwarf, header.die_offset, visit, ctx);
 *     pm_dwarf_free(dwarf);
 *
 * Values come as they are written: addresses of other sections are not looked up here (ranges.h
 * does). All work is bounded by the size of the sections. Strings live as long as the pm_dwarf.
 * One thread at a time.
 */
#ifndef PM_DWARF_READER_H
#define PM_DWARF_READER_H

#include "elf_file.h"
#include "notes.h"

#include "../base/arena.h"

struct pm_dwarf;

enum pm_dwarf_kind {
    PM_DWARF_MAIN,  /* sections .debug_* */
    PM_DWARF_SPLIT, /* sections .debug_*.dwo */
    PM_DWARF_HEADS  /* of the first only what units say of themselves */
};

enum pm_dwarf_section {
    PM_DWARF_INFO,
    PM_DWARF_ABBREV,
    PM_DWARF_LINE,
    PM_DWARF_LINE_STR,
    PM_DWARF_STR,
    PM_DWARF_STR_OFFSETS,
    PM_DWARF_ADDR,
    PM_DWARF_RANGES,
    PM_DWARF_RNGLISTS,
    PM_DWARF_N_SECTIONS
};

enum pm_dwarf_form {
    PM_DWARF_ABSENT,
    PM_DWARF_ADDRESS,
    PM_DWARF_ADDRESS_INDEX, /* into .debug_addr */
    PM_DWARF_NUMBER,        /* high: a length. ranges: an offset */
    PM_DWARF_LIST_INDEX     /* into the offsets of .debug_rnglists */
};

struct pm_dwarf_value {
    uint64_t value;
    enum pm_dwarf_form form;
};

enum pm_dwarf_where { PM_DWARF_NOWHERE, PM_DWARF_HERE, PM_DWARF_SUPPLEMENT };

struct pm_dwarf_ref {
    uint64_t offset; /* of a DIE in .debug_info */
    enum pm_dwarf_where where;
};

enum pm_dwarf_tag {
    PM_DWARF_OTHER,
    PM_DWARF_UNIT, /* compile, partial, skeleton */
    PM_DWARF_FUNCTION,
    PM_DWARF_INLINED,
    PM_DWARF_ENTRY,
    PM_DWARF_BLOCK, /* inside a function: lexical, try, catch, with */
    PM_DWARF_SCOPE  /* of names: namespace, module, class, ... */
};

struct pm_dwarf_die {
    uint64_t offset;
    enum pm_dwarf_tag tag;
    struct pm_dwarf_value low, high, ranges;
    struct pm_dwarf_ref origin, specification;
    const char *name, *linkage, *comp_dir, *dwo_name, *producer; /* NULL: absent */
    uint32_t declared_line_no, call_file, call_line_no, call_column_no;
    bool has_lines;
    uint64_t lines; /* offset in .debug_line */
    uint64_t addr_base, ranges_base, rnglists_base, split_id;
    bool has_addr_base, has_rnglists_base, has_split_id;
};

struct pm_dwarf_unit_header {
    uint64_t die_offset, end_offset, split_id;
    uint16_t version;
    uint8_t address_bytes, offset_bytes;
    bool is_type_unit, has_split_id;
};

struct pm_dwarf_row {
    uint64_t address;
    uint32_t file, line_no; /* file: index into files, UINT32_MAX none */
    uint32_t column_no;
    bool ends_sequence;
};

struct pm_dwarf_lines {
    const char **files; /* absolute where folders are known; entries may be NULL */
    struct pm_dwarf_row *rows;
    uint32_t n_files, n_rows; /* files[i] is what DWARF calls i */
};

struct pm_dwarf *pm_dwarf_new(const struct pm_elf_file *file, enum pm_dwarf_kind kind,
                              struct pm_debug_notes *notes);
void pm_dwarf_free(struct pm_dwarf *dwarf);

/* Where strings of the supplement are (DWZ); dwarf does not own it and has to be freed first. */
void pm_dwarf_set_supplement(struct pm_dwarf *dwarf, struct pm_dwarf *supplement);

/* Empty when the file has none. */
struct pm_bytes pm_dwarf_bytes(const struct pm_dwarf *dwarf, enum pm_dwarf_section section);
bool pm_dwarf_is_big_endian(const struct pm_dwarf *dwarf);

/* Units of .debug_info in their order, once. */
bool pm_dwarf_next_unit(struct pm_dwarf *dwarf, struct pm_dwarf_unit_header *ret_header);

bool pm_dwarf_die_at(struct pm_dwarf *dwarf, uint64_t offset, struct pm_dwarf_die *ret_die);

enum pm_dwarf_step { PM_DWARF_OVER, PM_DWARF_INTO, PM_DWARF_STOP };
struct pm_dwarf_at; /* a DIE that is being visited */
typedef enum pm_dwarf_step pm_dwarf_visit(void *ctx, const struct pm_dwarf_at *at,
                                          enum pm_dwarf_tag tag, unsigned depth);
/* The DIEs below the one at offset, parents first. false: damaged, cut there. */
bool pm_dwarf_walk(struct pm_dwarf *dwarf, uint64_t offset, pm_dwarf_visit *visit, void *ctx);
void pm_dwarf_read(const struct pm_dwarf_at *at, struct pm_dwarf_die *ret_die);

/* The line table of the unit whose DIE is at offset. File names go to set. The caller calls
 * pm_dwarf_lines_release. false: there is none or it is damaged. */
bool pm_dwarf_read_lines(struct pm_dwarf *dwarf, uint64_t die_offset, struct pm_intern *set,
                         struct pm_dwarf_lines *ret_lines);
void pm_dwarf_lines_release(struct pm_dwarf_lines *lines);

#endif
