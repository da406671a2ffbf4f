/* Line tables of DWARF 2 to 5 (DWARF 5 standard, section 6.2).
 *
 * libdwarf 20210528 is not asked: in DWARF 5 it takes a sequence that sets no file to be of file
 * 0 where the standard says 1 (so does binutils 2.40), which puts clang's functions of headers
 * into the main file; and it believes the counts of damaged tables.
 *
 *     struct pm_lines_input input = {.at = offset, .line = debug_line};
 *     struct pm_dwarf_lines lines;
 *     if (pm_lines_read(&input, set, &lines)) ... pm_dwarf_lines_release(&lines);
 *
 * Work and memory are bounded by the size of the table.
 */
#ifndef PM_LINES_H
#define PM_LINES_H

#include "dwarf_reader.h"

struct pm_lines_input {
    struct pm_bytes line, line_str, str;
    uint64_t at;          /* offset in .debug_line */
    const char *comp_dir; /* NULL: not known */
    bool is_big_endian;
};

bool pm_lines_read(const struct pm_lines_input *input, struct pm_intern *set,
                   struct pm_dwarf_lines *ret_lines);

#endif
