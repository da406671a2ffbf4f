/* Is the header of a line table such that libdwarf can be given it? libdwarf 20210528 believes the counts of DWARF 5's tables and makes
 * as many entries as they say, and divides by line_range. Also refuses versions that it does not know. */
#ifndef PM_LINE_CHECK_H
#define PM_LINE_CHECK_H

#include "elf_file.h"

bool pm_line_header_is_sane(struct pm_bytes section, uint64_t offset, bool is_big_endian);

#endif
