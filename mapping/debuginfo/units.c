#include "units_internal.h"

#include <stdlib.h>

enum { KEPT_MAX_BYTES = 256 << 20, RANGES_MAX = 1 << 22 };

struct unit_range {
    struct pm_units *units;
    uint32_t value, n;
};

static void add_unit_range(void *ctx, uint64_t low, uint64_t high)
{
    struct unit_range *r = ctx;
    if (!pm_elf_file_is_code(r->units->file, low))
        return;
    pm_intervals_add(&r->units->map, low, high, 0, r->value);
    r->n++;
}

static struct pm_unit *new_unit(struct pm_units *units)
{
    struct pm_unit *items =
        pm_grow_array(units->items, units->n_items, &units->n_items_max, 32, sizeof *items);
    if (!items)
        return NULL;
    units->items = items;
    struct pm_unit *unit = &units->items[units->n_items++];
    *unit = (struct pm_unit){0};
    return unit;
}

/* A unit that says nothing of its addresses is asked for those of its functions. */
static void add_function_ranges(struct pm_units *units, struct pm_unit *unit, uint32_t index)
{
    pm_functions_read(units, unit, false);
    for (uint32_t i = 0; i < unit->function_map.n_items; i++)
        pm_intervals_add(&units->map, unit->function_map.items[i].low,
                         unit->function_map.items[i].high, 0, index);
}

static bool add_unit(struct pm_units *units, const struct pm_dwarf_unit_header *header)
{
    struct pm_dwarf_die die;
    if (header->is_type_unit || (header->address_bytes != 4 && header->address_bytes != 8) ||
        (header->offset_bytes != 4 && header->offset_bytes != 8) ||
        !pm_dwarf_die_at(units->dwarf, header->die_offset, &die) || die.tag != PM_DWARF_UNIT)
        return true;
    struct pm_unit *unit = new_unit(units);
    if (!unit)
        return false;
    unit->header = *header;
    if (die.has_split_id) {
        unit->header.has_split_id = true;
        unit->header.split_id = die.split_id;
    }
    unit->dwo_name = die.dwo_name;
    unit->comp_dir = die.comp_dir;
    unit->functions_offset = header->die_offset;
    unit->ranges = (struct pm_ranges){
        .lists = units->dwarf,
        .addresses = units->dwarf,
        .version = header->version,
        .address_bytes = header->address_bytes,
        .offset_bytes = header->offset_bytes,
        .addr_base = die.has_addr_base ? die.addr_base : 8,
        .rnglists_base = die.rnglists_base,
        .n_entries_left = RANGES_MAX,
    };
    if (!pm_ranges_address(&unit->ranges, die.low, &unit->ranges.base))
        unit->ranges.base = 0;
    struct unit_range found = {units, units->n_items - 1, 0};
    pm_ranges_of(&unit->ranges, &die, add_unit_range, &found);
    /* GNU's base of ranges counts for what is in the .dwo file only. */
    unit->ranges.ranges_base = die.dwo_name ? die.ranges_base : 0;
    if (found.n == 0 && !die.dwo_name)
        add_function_ranges(units, unit, units->n_items - 1);
    return !units->map.failed;
}

struct pm_units *pm_units_new(const struct pm_elf_file *file, const struct pm_elf_file *debug_file,
                              struct pm_intern *set, struct pm_debug_notes *notes)
{
    struct pm_units *units = pm_alloc(sizeof *units);
    if (!units)
        return NULL;
    units->file = file;
    units->debug_file = debug_file;
    units->set = set;
    units->notes = notes;
    units->dwarf = pm_dwarf_new(debug_file, PM_DWARF_MAIN, notes);
    bool done = units->dwarf != NULL;
    if (done && (units->supplement_file = pm_separate_supplement(debug_file, notes))) {
        units->supplement = pm_dwarf_new(units->supplement_file, PM_DWARF_MAIN, notes);
        if (units->supplement)
            pm_dwarf_set_supplement(units->dwarf, units->supplement);
    }
    struct pm_dwarf_unit_header header;
    while (done && pm_dwarf_next_unit(units->dwarf, &header))
        done = add_unit(units, &header);
    if (done && pm_intervals_finish(&units->map))
        return units;
    if (units->dwarf)
        pm_debug_note(notes, "no memory for the debug information of '%s'", debug_file->path);
    pm_units_free(units);
    return NULL;
}

static void release_unit(struct pm_unit *unit)
{
    pm_functions_release(unit);
    pm_dwarf_lines_release(&unit->lines);
    free(unit->sequences);
    unit->sequences = NULL;
    unit->n_sequences = 0;
    pm_intervals_release(&unit->sequence_map);
    pm_dwarf_free(unit->split);
    unit->split = NULL;
    unit->ranges.lists = unit->ranges.addresses;
    unit->functions_offset = unit->header.die_offset;
    unit->is_prepared = false;
}

void pm_units_free(struct pm_units *units)
{
    if (!units)
        return;
    for (uint32_t i = 0; i < units->n_items; i++)
        release_unit(&units->items[i]);
    free(units->items);
    pm_intervals_release(&units->map);
    pm_dwarf_free(units->dwarf);
    pm_dwarf_free(units->supplement);
    pm_elf_file_close(units->supplement_file);
    free(units);
}

/* The unit in a .dwo file that belongs to a skeleton. */
static bool use_split(struct pm_unit *unit, struct pm_dwarf *split)
{
    struct pm_dwarf_unit_header header;
    while (pm_dwarf_next_unit(split, &header)) {
        struct pm_dwarf_die die;
        if (header.is_type_unit || !pm_dwarf_die_at(split, header.die_offset, &die))
            continue;
        bool has_id = header.has_split_id || die.has_split_id;
        uint64_t id = header.has_split_id ? header.split_id : die.split_id;
        if (has_id && unit->header.has_split_id && id != unit->header.split_id)
            continue;
        unit->split = split;
        unit->functions_offset = header.die_offset;
        if (unit->header.version >= 5) {
            unit->ranges.lists = split;
            /* Behind the header of the only table: 12 bytes, 20 in 64-bit DWARF. */
            unit->ranges.rnglists_base = header.offset_bytes == 8 ? 20 : 12;
            if (die.has_rnglists_base)
                unit->ranges.rnglists_base = die.rnglists_base;
        }
        return true;
    }
    return false;
}

static void open_split(struct pm_units *units, struct pm_unit *unit)
{
    struct pm_elf_file *file = pm_separate_split(units->file, unit->dwo_name, unit->comp_dir);
    if (!file) {
        pm_debug_note(units->notes,
                      "split debug information of '%s' (.dwo files, such as '%s') is missing: "
                      "functions are named by symbols",
                      units->debug_file->path, unit->dwo_name);
        return;
    }
    struct pm_dwarf *split = pm_dwarf_new(file, PM_DWARF_SPLIT, units->notes);
    if (split && !use_split(unit, split)) {
        pm_debug_note(units->notes, "'%s' is the debug information of another build", file->path);
        pm_dwarf_free(split);
    }
    pm_elf_file_close(file);
}

/* Rows whose addresses go back are damage: they are left out. */
static bool find_sequences(struct pm_units *units, struct pm_unit *unit)
{
    const struct pm_dwarf_row *rows = unit->lines.rows;
    uint32_t n = 0;
    for (uint32_t i = 0; i < unit->lines.n_rows; i++)
        n += rows[i].ends_sequence;
    unit->sequences = pm_alloc_array((size_t)n + 1, sizeof *unit->sequences);
    if (!unit->sequences)
        return false;
    struct pm_dwarf_row *kept = unit->lines.rows;
    uint32_t first = 0, to = 0;
    for (uint32_t i = 0; i < unit->lines.n_rows; i++) {
        struct pm_dwarf_row row = rows[i];
        if (to > first && row.address < kept[to - 1].address && !row.ends_sequence)
            continue;
        kept[to++] = row;
        if (!row.ends_sequence)
            continue;
        if (to - first >= 2 && pm_elf_file_is_code(units->file, kept[first].address)) {
            pm_intervals_add(&unit->sequence_map, kept[first].address, row.address, 0,
                             unit->n_sequences);
            unit->sequences[unit->n_sequences++] = (struct pm_sequence){first, to - 1 - first};
            first = to;
        } else {
            to = first;
        }
    }
    unit->lines.n_rows = to;
    return pm_intervals_finish(&unit->sequence_map);
}

static void make_room(struct pm_units *units, const struct pm_unit *needed)
{
    while (units->kept_bytes > KEPT_MAX_BYTES) {
        struct pm_unit *oldest = NULL;
        for (uint32_t i = 0; i < units->n_items; i++) {
            struct pm_unit *unit = &units->items[i];
            if (unit != needed && unit->is_prepared &&
                (!oldest || unit->last_used < oldest->last_used))
                oldest = unit;
        }
        if (!oldest)
            return;
        units->kept_bytes -=
            oldest->kept_bytes < units->kept_bytes ? oldest->kept_bytes : units->kept_bytes;
        oldest->kept_bytes = 0;
        release_unit(oldest);
    }
}

static void keep(struct pm_units *units, struct pm_unit *unit, size_t bytes)
{
    unit->kept_bytes += bytes;
    units->kept_bytes += bytes;
    make_room(units, unit);
}

static void prepare(struct pm_units *units, struct pm_unit *unit)
{
    unit->is_prepared = true;
    unit->ranges.n_entries_left = RANGES_MAX;
    if (unit->dwo_name)
        open_split(units, unit);
    if (!pm_dwarf_read_lines(units->dwarf, unit->header.die_offset, units->set, &unit->lines))
        return;
    if (!find_sequences(units, unit))
        pm_debug_note(units->notes, "no memory for the lines of '%s'", units->debug_file->path);
    keep(units, unit,
         unit->lines.n_rows * sizeof(struct pm_dwarf_row) +
             unit->sequence_map.n_items * 3 * sizeof(struct pm_interval));
}

static const struct pm_dwarf_row *row_at(const struct pm_unit *unit, uint64_t address)
{
    const struct pm_interval *found = pm_intervals_find(&unit->sequence_map, address);
    if (!found)
        return NULL;
    const struct pm_sequence *sequence = &unit->sequences[found->value];
    const struct pm_dwarf_row *rows = unit->lines.rows + sequence->first;
    uint32_t low = 0, high = sequence->n;
    while (low < high) { /* the last one at or below */
        uint32_t middle = low + (high - low) / 2;
        if (rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &rows[low - 1] : NULL;
}

static const char *file_name(const struct pm_unit *unit, uint32_t index)
{
    return index < unit->lines.n_files ? unit->lines.files[index] : NULL;
}

static void set_name(struct pm_debug_frame *frame, const struct pm_unit *unit, uint32_t index)
{
    const struct pm_function_name *name = &unit->names[index];
    frame->function = name->function;
    frame->linkage = name->linkage;
    frame->declared_line_no = name->declared_line_no;
}

/* The inlined calls at the address, innermost first, then the function. place: of the address;
 * moves to the call each time. */
static size_t function_frames(const struct pm_unit *unit, const struct pm_function *function,
                              uint64_t address, struct pm_debug_frame place,
                              struct pm_debug_frame *ret_frames, size_t max)
{
    size_t n = 0;
    uint64_t low = place.low, high = place.high;
    const struct pm_interval *inner = pm_intervals_find(&function->inlined_map, address);
    for (uint32_t at = inner ? inner->value : UINT32_MAX; at != UINT32_MAX && n < max;) {
        const struct pm_inlined *inlined = &function->inlined[at];
        ret_frames[n] = place;
        ret_frames[n].is_inlined = true;
        if (at == inner->value) {
            ret_frames[n].low = inner->low;
            ret_frames[n].high = inner->high;
        }
        set_name(&ret_frames[n++], unit, inlined->name);
        place.file = file_name(unit, inlined->call_file);
        place.line_no = inlined->call_line_no;
        place.column_no = inlined->call_column_no;
        at = inlined->parent;
    }
    if (n == max)
        return n;
    place.low = low;
    place.high = high;
    ret_frames[n] = place;
    set_name(&ret_frames[n], unit, function->name);
    return n + 1;
}

size_t pm_units_find(struct pm_units *units, uint64_t address, struct pm_debug_frame *ret_frames,
                     size_t max)
{
    const struct pm_interval *found = pm_intervals_find(&units->map, address);
    if (!found || max == 0)
        return 0;
    struct pm_unit *unit = &units->items[found->value];
    unit->last_used = ++units->n_uses;
    if (!unit->is_prepared)
        prepare(units, unit);
    struct pm_debug_frame place = {.source = PM_DEBUG_DWARF};
    const struct pm_dwarf_row *row = row_at(unit, address);
    if (row) {
        place.file = file_name(unit, row->file);
        place.line_no = row->line_no;
        place.column_no = row->column_no;
    }
    struct pm_function *function = pm_functions_find(units, unit, address, &place.low, &place.high);
    if (function && pm_function_read(units, unit, function))
        return function_frames(unit, function, address, place, ret_frames, max);
    if (!row)
        return 0;
    place.low = place.high = 0;
    ret_frames[0] = place;
    return 1;
}
