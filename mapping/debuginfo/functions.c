/* Functions of a unit and what is inlined into them. */
#include "units_internal.h"

#include <stdlib.h>

enum {
    WALK_DEPTH_MAX = 256,
    ORIGINS_MAX = 16 /* from a DIE over abstract origins and specifications to a name */
};

struct function_reading {
    struct pm_units *units;
    struct pm_unit *unit;
    bool deeply;
    uint32_t depth, value;
};

static void add_function_range(void *ctx, uint64_t low, uint64_t high)
{
    struct function_reading *r = ctx;
    if (pm_elf_file_is_code(r->units->file, low))
        pm_intervals_add(&r->unit->function_map, low, high, r->depth, r->value);
}

static struct pm_function *new_function(struct pm_unit *unit)
{
    struct pm_function *items = pm_grow_array(unit->functions, unit->n_functions,
                                              &unit->n_functions_max, 32, sizeof *items);
    if (!items)
        return NULL;
    unit->functions = items;
    struct pm_function *function = &unit->functions[unit->n_functions];
    *function = (struct pm_function){.name = UINT32_MAX};
    return function;
}

static bool add_function(struct function_reading *r, const struct pm_dwarf_die *die, unsigned depth)
{
    struct pm_unit *unit = r->unit;
    if (die->ranges.form == PM_DWARF_ABSENT && die->low.form == PM_DWARF_ABSENT)
        return true;
    struct pm_function *function = new_function(unit);
    if (!function)
        return false;
    function->die_offset = die->offset;
    uint32_t n_before = unit->function_map.n_items;
    r->depth = depth;
    r->value = unit->n_functions;
    pm_ranges_of(&unit->ranges, die, add_function_range, r);
    if (unit->function_map.n_items > n_before)
        unit->n_functions++;
    return !unit->function_map.failed;
}

static enum pm_dwarf_step visit_unit(void *ctx, const struct pm_dwarf_at *at, enum pm_dwarf_tag tag,
                                     unsigned depth)
{
    struct function_reading *r = ctx;
    struct pm_dwarf_die die;
    switch (tag) {
    case PM_DWARF_FUNCTION:
        pm_dwarf_read(at, &die);
        if (!add_function(r, &die, depth))
            return PM_DWARF_STOP;
        return r->deeply ? PM_DWARF_INTO : PM_DWARF_OVER;
    case PM_DWARF_SCOPE:
        return PM_DWARF_INTO;
    case PM_DWARF_BLOCK:
    case PM_DWARF_INLINED:
        return r->deeply ? PM_DWARF_INTO : PM_DWARF_OVER;
    default:
        return PM_DWARF_OVER;
    }
}

void pm_functions_release(struct pm_unit *unit)
{
    for (uint32_t i = 0; i < unit->n_functions; i++) {
        free(unit->functions[i].inlined);
        pm_intervals_release(&unit->functions[i].inlined_map);
    }
    free(unit->functions);
    unit->functions = NULL;
    unit->n_functions = unit->n_functions_max = 0;
    pm_intervals_release(&unit->function_map);
    free(unit->names);
    unit->names = NULL;
    unit->n_names = unit->n_names_max = 0;
    pm_map_release(&unit->names_by_offset);
    unit->is_read = unit->is_read_deeply = false;
}

void pm_functions_read(struct pm_units *units, struct pm_unit *unit, bool deeply)
{
    pm_functions_release(unit);
    struct function_reading r = {.units = units, .unit = unit, .deeply = deeply};
    if (!pm_dwarf_walk(pm_unit_dwarf(units, unit), unit->functions_offset, visit_unit, &r))
        pm_debug_note(units->notes, "debug information of '%s' is damaged: some of it is not used",
                      units->debug_file->path);
    if (!pm_intervals_finish(&unit->function_map))
        pm_debug_note(units->notes, "no memory for the functions of '%s'", units->debug_file->path);
    size_t kept_bytes = unit->n_functions * sizeof *unit->functions +
                        unit->function_map.n_items * 3 * sizeof(struct pm_interval);
    unit->kept_bytes += kept_bytes;
    units->kept_bytes += kept_bytes;
    unit->is_read = true;
    unit->is_read_deeply = deeply;
}

/* The compiler's language is not asked: what has a mangled linkage name is shown demangled, all
 * else by its name in the source. */
static const char *shown_name(struct pm_units *units, const char *name, const char *linkage)
{
    if (!linkage)
        return name;
    char *text = pm_debug_demangle(linkage);
    const char *shown = NULL;
    if (text && (!name || strcmp(text, linkage) != 0))
        shown = pm_intern_add(units->set, text, strlen(text));
    free(text);
    return shown ? shown : name;
}

static void look_up(struct pm_units *units, const struct pm_unit *unit, struct pm_dwarf_ref ref,
                    struct pm_function_name *name)
{
    struct pm_dwarf *dwarf = pm_unit_dwarf(units, unit);
    const char *plain = NULL;
    for (int i = 0; i < ORIGINS_MAX && ref.where != PM_DWARF_NOWHERE; i++) {
        struct pm_dwarf_die die;
        if (ref.where == PM_DWARF_SUPPLEMENT)
            dwarf = units->supplement;
        if (!dwarf || !pm_dwarf_die_at(dwarf, ref.offset, &die))
            break;
        plain = plain ? plain : die.name;
        name->linkage = name->linkage ? name->linkage : die.linkage;
        if (!name->declared_line_no)
            name->declared_line_no = die.declared_line_no;
        ref = die.origin.where != PM_DWARF_NOWHERE ? die.origin : die.specification;
    }
    name->function = shown_name(units, plain, name->linkage);
    /* Strings of split files go with these. */
    if (name->function)
        name->function = pm_intern_add(units->set, name->function, strlen(name->function));
    if (name->linkage)
        name->linkage = pm_intern_add(units->set, name->linkage, strlen(name->linkage));
}

/* Index of the name of the DIE that ref leads to; UINT32_MAX: memory. */
static uint32_t name_of(struct pm_units *units, struct pm_unit *unit, struct pm_dwarf_ref ref)
{
    uint64_t key = ref.offset << 2 | ref.where;
    uint32_t known = pm_map_get(&unit->names_by_offset, key);
    if (known)
        return known - 1;
    if (unit->n_names == unit->n_names_max) {
        uint32_t max = unit->n_names_max ? 2 * unit->n_names_max : 32;
        struct pm_function_name *names =
            max < UINT32_MAX / 4 ? pm_realloc_array(unit->names, max, sizeof *names) : NULL;
        if (!names)
            return UINT32_MAX;
        unit->names = names;
        unit->n_names_max = max;
    }
    struct pm_function_name name = {0};
    look_up(units, unit, ref, &name);
    if (!pm_map_put(&unit->names_by_offset, key, unit->n_names + 1))
        return UINT32_MAX;
    unit->names[unit->n_names] = name;
    return unit->n_names++;
}

struct inlined_reading {
    struct pm_units *units;
    struct pm_unit *unit;
    struct pm_function *function;
    /* at each depth: the inlined call that holds what lies there */
    uint32_t around[WALK_DEPTH_MAX + 1];
    uint32_t depth, value;
    bool failed;
};

static void add_inlined_range(void *ctx, uint64_t low, uint64_t high)
{
    struct inlined_reading *r = ctx;
    pm_intervals_add(&r->function->inlined_map, low, high, r->depth, r->value);
}

static struct pm_inlined *new_inlined(struct pm_function *function)
{
    struct pm_inlined *items = pm_grow_array(function->inlined, function->n_inlined,
                                             &function->n_inlined_max, 8, sizeof *items);
    if (!items)
        return NULL;
    function->inlined = items;
    return &function->inlined[function->n_inlined++];
}

static bool add_inlined(struct inlined_reading *r, const struct pm_dwarf_die *die, unsigned depth)
{
    struct pm_inlined *inlined = new_inlined(r->function);
    if (!inlined)
        return false;
    uint32_t index = r->function->n_inlined - 1;
    *inlined = (struct pm_inlined){
        .parent = r->around[depth],
        .name = name_of(r->units, r->unit, die->origin),
        .call_file = die->call_file,
        .call_line_no = die->call_line_no,
        .call_column_no = die->call_column_no,
    };
    if (inlined->name == UINT32_MAX)
        return false;
    r->around[depth + 1] = index;
    r->depth = depth;
    r->value = index;
    pm_ranges_of(&r->unit->ranges, die, add_inlined_range, r);
    return !r->function->inlined_map.failed;
}

static enum pm_dwarf_step visit_function(void *ctx, const struct pm_dwarf_at *at,
                                         enum pm_dwarf_tag tag, unsigned depth)
{
    struct inlined_reading *r = ctx;
    struct pm_dwarf_die die;
    if (depth >= WALK_DEPTH_MAX)
        return PM_DWARF_OVER;
    switch (tag) {
    case PM_DWARF_BLOCK:
        r->around[depth + 1] = r->around[depth];
        return PM_DWARF_INTO;
    case PM_DWARF_INLINED:
        pm_dwarf_read(at, &die);
        r->failed = !add_inlined(r, &die, depth);
        return r->failed ? PM_DWARF_STOP : PM_DWARF_INTO;
    default:
        return PM_DWARF_OVER;
    }
}

bool pm_function_read(struct pm_units *units, struct pm_unit *unit, struct pm_function *function)
{
    if (function->is_read)
        return true;
    struct inlined_reading r = {.units = units, .unit = unit, .function = function};
    r.around[0] = UINT32_MAX;
    if (!pm_dwarf_walk(pm_unit_dwarf(units, unit), function->die_offset, visit_function, &r) &&
        !r.failed)
        pm_debug_note(units->notes, "debug information of '%s' is damaged: some of it is not used",
                      units->debug_file->path);
    function->name =
        name_of(units, unit, (struct pm_dwarf_ref){function->die_offset, PM_DWARF_HERE});
    function->is_read =
        pm_intervals_finish(&function->inlined_map) && !r.failed && function->name != UINT32_MAX;
    size_t kept_bytes = function->n_inlined * sizeof *function->inlined +
                        function->inlined_map.n_items * 3 * sizeof(struct pm_interval);
    unit->kept_bytes += kept_bytes;
    units->kept_bytes += kept_bytes;
    if (function->is_read)
        return true;
    free(function->inlined);
    function->inlined = NULL;
    function->n_inlined = function->n_inlined_max = 0;
    pm_intervals_release(&function->inlined_map);
    return false;
}

struct pm_function *pm_functions_find(struct pm_units *units, struct pm_unit *unit,
                                      uint64_t address, uint64_t *ret_low, uint64_t *ret_high)
{
    if (!unit->is_read)
        pm_functions_read(units, unit, false);
    const struct pm_interval *found = pm_intervals_find(&unit->function_map, address);
    if (!found && !unit->is_read_deeply) {
        pm_functions_read(units, unit, true);
        found = pm_intervals_find(&unit->function_map, address);
    }
    if (!found)
        return NULL;
    *ret_low = found->low;
    *ret_high = found->high;
    return &unit->functions[found->value];
}
