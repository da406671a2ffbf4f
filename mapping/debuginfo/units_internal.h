/* What units.c (which unit, which line) and functions.c (which function, what is inlined) share. */
#ifndef PM_UNITS_INTERNAL_H
#define PM_UNITS_INTERNAL_H

#include "intervals.h"
#include "ranges.h"
#include "separate.h"
#include "units.h"
#include "../base/map.h"

/* Who a function is: its own DIE with what abstract origin and specification add. */
struct pm_function_name {
    const char *function, *linkage;
    uint32_t declared_line_no;
};

struct pm_inlined {
    uint32_t parent; /* index of the inlined call around it; UINT32_MAX: the function itself */
    uint32_t name;   /* index into the unit's names */
    uint32_t call_file, call_line_no, call_column_no;
};

struct pm_function {
    uint64_t die_offset;
    uint32_t name; /* UINT32_MAX: not looked up */
    bool is_read;
    struct pm_inlined *inlined;
    uint32_t n_inlined, n_inlined_max;
    struct pm_intervals inlined_map; /* values: indexes into inlined */
};

struct pm_sequence {
    uint32_t first, n; /* rows; the one behind them ends the sequence */
};

struct pm_unit {
    struct pm_dwarf_unit_header header;
    struct pm_ranges ranges;
    struct pm_dwarf *split; /* owned; NULL: functions are in the main file */
    const char *dwo_name, *comp_dir;
    uint64_t functions_offset; /* DIE below which functions are, of split or of the main file */
    uint64_t last_used;
    size_t kept_bytes; /* about */
    bool is_prepared, is_read, is_read_deeply;
    struct pm_function *functions;
    uint32_t n_functions, n_functions_max;
    struct pm_intervals function_map; /* values: indexes into functions */
    struct pm_function_name *names;
    uint32_t n_names, n_names_max;
    struct pm_map names_by_offset; /* index into names + 1 */
    struct pm_dwarf_lines lines;
    struct pm_sequence *sequences;
    uint32_t n_sequences;
    struct pm_intervals sequence_map; /* values: indexes into sequences */
};

struct pm_units {
    const struct pm_elf_file *file, *debug_file;
    struct pm_elf_file *supplement_file;
    struct pm_dwarf *dwarf, *supplement;
    struct pm_intern *set;
    struct pm_debug_notes *notes;
    struct pm_unit *items;
    uint32_t n_items, n_items_max;
    struct pm_intervals map; /* values: indexes into items */
    uint64_t n_uses;
    size_t kept_bytes;
};

static inline struct pm_dwarf *pm_unit_dwarf(const struct pm_units *units,
                                             const struct pm_unit *unit)
{
    return unit->split ? unit->split : units->dwarf;
}

/* Reads the ranges of the unit's functions; deeply: of those inside of others too. */
void pm_functions_read(struct pm_units *units, struct pm_unit *unit, bool deeply);
/* NULL: no function of the unit has this address. ret_low and ret_high: its range there. */
struct pm_function *pm_functions_find(struct pm_units *units, struct pm_unit *unit,
                                      uint64_t address, uint64_t *ret_low, uint64_t *ret_high);
/* Reads what is inlined into it and its name, once. false: memory. */
bool pm_function_read(struct pm_units *units, struct pm_unit *unit, struct pm_function *function);
void pm_functions_release(struct pm_unit *unit);

#endif
