/* Code without late map: by debug information, else by symbols. */
#ifndef PM_COLLECT_DEBUG_H
#define PM_COLLECT_DEBUG_H

#include "mapping/base/str.h"

struct collect_binary;
struct collect_code;
struct collector;
struct pm_debug_frame;

/* The symbol that holds an address and the offset in it; *ret_name NULL: none is known. Lent. */
PM_MUST_CHECK enum pm_status collect_symbol_at(struct collector *c, struct collect_binary *binary,
                                               uint64_t address, const char **ret_name,
                                               uint64_t *ret_offset);
/* File and line of the code at an ELF address, by debug information, else by the late map; the
 * binary is read. *ret_file NULL: neither knows, or no code is there. Kept with the archive's
 * strings. */
PM_MUST_CHECK enum pm_status collect_line_of(struct collector *c, struct collect_binary *binary,
                                             uint64_t address, const char **ret_file,
                                             uint32_t *ret_line_no);
PM_MUST_CHECK enum pm_status collect_debug_code(struct collector *c, struct collect_binary *binary,
                                                uint64_t address, struct collect_code *ret_code);

/* Code of which a tool told function and line, not the address, in a binary that was read. frame:
 * its strings are kept. */
PM_MUST_CHECK enum pm_status collect_named_code(struct collector *c, struct collect_binary *binary,
                                                const struct pm_debug_frame *frame,
                                                struct collect_code *ret_code);

#endif
