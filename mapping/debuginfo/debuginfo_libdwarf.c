/* All that knows libdwarf: that of Debian 12 (20210528, which has no version in its header), and
 * those since 0.3, whose access to objects has other names.
 *
 * libdwarf sees no ELF file: it gets sections that elf_file.c has read, unpacked, relocated and
 * padded with zeros. Of libdwarf only units, DIEs and attributes are used; ranges.c and lines.c
 * read what needs other sections.
 */
#include "dwarf_reader.h"
#include "lines.h"

#include <dwarf.h>
#include <libdwarf.h>
#include <stdlib.h>

#ifdef DW_LIBDWARF_VERSION
typedef Dwarf_Obj_Access_Interface_a object_interface;
typedef Dwarf_Obj_Access_Methods_a object_methods_type;
typedef Dwarf_Obj_Access_Section_a object_section_type;
typedef Dwarf_Unsigned object_index;
typedef Dwarf_Small object_endianness;
#define SECTION(member) as_##member
#define BIG_ENDIAN_OBJECT DW_END_big
#define LITTLE_ENDIAN_OBJECT DW_END_little
#else
typedef Dwarf_Obj_Access_Interface object_interface;
typedef Dwarf_Obj_Access_Methods object_methods_type;
typedef Dwarf_Obj_Access_Section object_section_type;
typedef Dwarf_Half object_index;
typedef Dwarf_Endianness object_endianness;
#define SECTION(member) member
#define BIG_ENDIAN_OBJECT DW_OBJECT_MSB
#define LITTLE_ENDIAN_OBJECT DW_OBJECT_LSB
#endif

enum { WALK_DEPTH_MAX = 256, FILES_MAX = 1 << 20, PATH_MAX_BYTES = 1 << 14 };

struct object_section {
    char name[32];
    struct pm_bytes bytes;
};

struct pm_dwarf {
    Dwarf_Debug dbg;
    struct pm_dwarf *supplement; /* not owned */
    struct object_section sections[PM_DWARF_N_SECTIONS];
    object_interface object;
    uint64_t next_header;
    uint8_t address_bytes;
    bool is_big_endian, is_split, is_at_end;
};

struct pm_dwarf_at {
    struct pm_dwarf *dwarf;
    Dwarf_Die die;
};

static const char *const section_names[PM_DWARF_N_SECTIONS] = {
    [PM_DWARF_INFO] = ".debug_info",         [PM_DWARF_ABBREV] = ".debug_abbrev",
    [PM_DWARF_LINE] = ".debug_line",         [PM_DWARF_LINE_STR] = ".debug_line_str",
    [PM_DWARF_STR] = ".debug_str",           [PM_DWARF_STR_OFFSETS] = ".debug_str_offsets",
    [PM_DWARF_ADDR] = ".debug_addr",         [PM_DWARF_RANGES] = ".debug_ranges",
    [PM_DWARF_RNGLISTS] = ".debug_rnglists",
};

static bool is_of_heads(unsigned section)
{
    return section == PM_DWARF_INFO || section == PM_DWARF_ABBREV || section == PM_DWARF_STR ||
           section == PM_DWARF_LINE_STR || section == PM_DWARF_STR_OFFSETS ||
           section == PM_DWARF_ADDR; /* of a unit that counts its strings */
}

/* Sections that ranges.c and lines.c read. libdwarf reads lists of ranges by itself as soon as
 * there are units, and frees them twice when they are damaged. */
static bool is_hidden(unsigned section)
{
    return section == PM_DWARF_RANGES || section == PM_DWARF_RNGLISTS || section == PM_DWARF_LINE;
}

/* The object as libdwarf sees it: section 0 is the empty one of ELF. */
static int object_section_info(void *ctx, object_index index, object_section_type *ret_section,
                               int *error)
{
    struct pm_dwarf *dwarf = ctx;
    (void)error;
    memset(ret_section, 0, sizeof *ret_section);
    ret_section->SECTION(name) = "";
    if (index == 0)
        return DW_DLV_OK;
    if (index > PM_DWARF_N_SECTIONS)
        return DW_DLV_NO_ENTRY;
    if (is_hidden(index - 1u))
        return DW_DLV_OK;
    ret_section->SECTION(name) = dwarf->sections[index - 1].name;
    ret_section->SECTION(size) = dwarf->sections[index - 1].bytes.len;
    ret_section->SECTION(type) = 1; /* SHT_PROGBITS */
    return DW_DLV_OK;
}

static object_endianness object_byte_order(void *ctx)
{
    return ((struct pm_dwarf *)ctx)->is_big_endian ? BIG_ENDIAN_OBJECT : LITTLE_ENDIAN_OBJECT;
}

static Dwarf_Small object_offset_bytes(void *ctx)
{
    return ((struct pm_dwarf *)ctx)->address_bytes;
}

static Dwarf_Unsigned object_section_count(void *ctx)
{
    (void)ctx;
    return PM_DWARF_N_SECTIONS + 1;
}

static int object_load_section(void *ctx, object_index index, Dwarf_Small **ret_bytes, int *error)
{
    struct pm_dwarf *dwarf = ctx;
    (void)error;
    if (index == 0 || index > PM_DWARF_N_SECTIONS || is_hidden(index - 1u) ||
        dwarf->sections[index - 1].bytes.len == 0)
        return DW_DLV_NO_ENTRY;
    *ret_bytes = dwarf->sections[index - 1].bytes.p;
    return DW_DLV_OK;
}

#ifdef DW_LIBDWARF_VERSION
static Dwarf_Unsigned object_file_bytes(void *ctx)
{
    const struct pm_dwarf *dwarf = ctx;
    Dwarf_Unsigned sum = 0;
    for (unsigned i = 0; i < PM_DWARF_N_SECTIONS; i++)
        sum += dwarf->sections[i].bytes.len;
    return sum;
}

static void finish(Dwarf_Debug dbg)
{
    (void)dwarf_object_finish(dbg);
}
#else
static void finish(Dwarf_Debug dbg)
{
    Dwarf_Error error = NULL;
    (void)dwarf_object_finish(dbg, &error);
}
#endif

static const object_methods_type object_methods = {
    object_section_info,  object_byte_order,   object_offset_bytes,
    object_offset_bytes,
#ifdef DW_LIBDWARF_VERSION
    object_file_bytes,
#endif
    object_section_count, object_load_section, NULL,
};

/* Frees what a failed call left; "was it done?" */
static bool ok(struct pm_dwarf *dwarf, int result, Dwarf_Error *error)
{
    if (result == DW_DLV_ERROR && *error) {
        dwarf_dealloc_error(dwarf->dbg, *error);
        *error = NULL;
    }
    return result == DW_DLV_OK;
}

static void load_section(struct pm_dwarf *dwarf, const struct pm_elf_file *file,
                         enum pm_dwarf_section index, struct pm_debug_notes *notes)
{
    struct object_section *section = &dwarf->sections[index];
    snprintf(section->name, sizeof section->name, "%s%s", section_names[index],
             dwarf->is_split ? ".dwo" : "");
    const struct pm_elf_section *found = pm_elf_file_section(file, section->name);
    if (!found)
        return;
    switch (pm_elf_file_load(file, found, &section->bytes)) {
    case PM_LOAD_OK:
    case PM_LOAD_EMPTY:
        return;
    case PM_LOAD_ZSTD:
        pm_debug_note(notes,
                      "debug sections of '%s' are compressed with zstd, which is not read: objcopy "
                      "--decompress-debug-sections '%s'",
                      file->path, file->path);
        return;
    case PM_LOAD_DAMAGED:
        pm_debug_note(notes, "section %s of '%s' is damaged", section->name, file->path);
        return;
    case PM_LOAD_LIMIT:
        pm_debug_note(notes, "section %s of '%s' is larger than 1 GiB, which is not read",
                      section->name, file->path);
        return;
    case PM_LOAD_MEMORY:
        pm_debug_note(notes, "no memory for section %s of '%s'", section->name, file->path);
        return;
    }
}

struct pm_dwarf *pm_dwarf_new(const struct pm_elf_file *file, enum pm_dwarf_kind kind,
                              struct pm_debug_notes *notes)
{
    struct pm_dwarf *dwarf = pm_alloc(sizeof *dwarf);
    if (!dwarf)
        return NULL;
    dwarf->is_split = kind == PM_DWARF_SPLIT;
    dwarf->is_big_endian = file->is_big_endian;
    dwarf->address_bytes = file->address_bytes;
    for (unsigned i = 0; i < PM_DWARF_N_SECTIONS; i++)
        if (kind != PM_DWARF_HEADS || is_of_heads(i))
            load_section(dwarf, file, i, notes);
    dwarf->object = (object_interface){dwarf, &object_methods};
    /* Everything is freed here: libdwarf's own list of what it gave out made reading SQLite's
     * lines take 500 ms instead of 90. */
    dwarf_set_de_alloc_flag(0);
    Dwarf_Error error = NULL;
    if (dwarf->sections[PM_DWARF_INFO].bytes.len != 0 &&
        dwarf->sections[PM_DWARF_ABBREV].bytes.len != 0 &&
        ok(dwarf,
           dwarf_object_init_b(&dwarf->object, NULL, NULL, dwarf->is_split ? 2 : 1, &dwarf->dbg,
                               &error),
           &error))
        return dwarf;
    if (dwarf->sections[PM_DWARF_INFO].bytes.len != 0)
        pm_debug_note(notes, "debug information of '%s' is damaged", file->path);
    dwarf->dbg = NULL;
    pm_dwarf_free(dwarf);
    return NULL;
}

void pm_dwarf_free(struct pm_dwarf *dwarf)
{
    if (!dwarf)
        return;
    if (dwarf->dbg)
        finish(dwarf->dbg);
    for (unsigned i = 0; i < PM_DWARF_N_SECTIONS; i++)
        free(dwarf->sections[i].bytes.p);
    free(dwarf);
}

void pm_dwarf_set_supplement(struct pm_dwarf *dwarf, struct pm_dwarf *supplement)
{
    Dwarf_Error error = NULL;
    if (ok(dwarf, dwarf_set_tied_dbg(dwarf->dbg, supplement->dbg, &error), &error))
        dwarf->supplement = supplement;
}

struct pm_bytes pm_dwarf_bytes(const struct pm_dwarf *dwarf, enum pm_dwarf_section section)
{
    return dwarf->sections[section].bytes;
}

bool pm_dwarf_is_big_endian(const struct pm_dwarf *dwarf)
{
    return dwarf->is_big_endian;
}

/* The offset of a header's DIE is taken from the DIE itself: header lengths differ. */
static bool unit_die_offset(struct pm_dwarf *dwarf, uint64_t *ret_offset)
{
    Dwarf_Die die = NULL;
    Dwarf_Off offset = 0;
    Dwarf_Error error = NULL;
    if (!ok(dwarf, dwarf_siblingof_b(dwarf->dbg, NULL, true, &die, &error), &error))
        return false;
    bool done = ok(dwarf, dwarf_dieoffset(die, &offset, &error), &error);
    dwarf_dealloc_die(die);
    *ret_offset = offset;
    return done;
}

bool pm_dwarf_next_unit(struct pm_dwarf *dwarf, struct pm_dwarf_unit_header *ret_header)
{
    while (!dwarf->is_at_end) {
        Dwarf_Unsigned length, abbreviations, type_offset, next = 0;
        Dwarf_Half version = 0, address_bytes = 0, offset_bytes = 0, extension = 0, kind = 0;
        Dwarf_Sig8 signature = {{0}};
        Dwarf_Error error = NULL;
        if (!ok(dwarf,
                dwarf_next_cu_header_d(dwarf->dbg, true, &length, &version, &abbreviations,
                                       &address_bytes, &offset_bytes, &extension, &signature,
                                       &type_offset, &next, &kind, &error),
                &error) ||
            next <= dwarf->next_header) {
            dwarf->is_at_end = true;
            return false;
        }
        dwarf->next_header = next;
        struct pm_dwarf_unit_header header = {
            .end_offset = next,
            .version = version,
            .address_bytes = (uint8_t)address_bytes,
            .offset_bytes = (uint8_t)offset_bytes,
            .is_type_unit = kind == DW_UT_type || kind == DW_UT_split_type,
            .has_split_id = kind == DW_UT_skeleton || kind == DW_UT_split_compile,
        };
        memcpy(&header.split_id, &signature, sizeof header.split_id);
        if (!unit_die_offset(dwarf, &header.die_offset))
            continue; /* this one is damaged */
        *ret_header = header;
        return true;
    }
    return false;
}

static enum pm_dwarf_tag tag_of(struct pm_dwarf *dwarf, Dwarf_Die die)
{
    Dwarf_Half tag = 0;
    Dwarf_Error error = NULL;
    if (!ok(dwarf, dwarf_tag(die, &tag, &error), &error))
        return PM_DWARF_OTHER;
    switch (tag) {
    case DW_TAG_compile_unit:
    case DW_TAG_partial_unit:
    case DW_TAG_skeleton_unit:
        return PM_DWARF_UNIT;
    case DW_TAG_subprogram:
        return PM_DWARF_FUNCTION;
    case DW_TAG_inlined_subroutine:
        return PM_DWARF_INLINED;
    case DW_TAG_entry_point:
        return PM_DWARF_ENTRY;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_common_block:
        return PM_DWARF_BLOCK;
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
        return PM_DWARF_SCOPE;
    default:
        return PM_DWARF_OTHER;
    }
}

static uint64_t number(struct pm_dwarf *dwarf, Dwarf_Attribute attribute)
{
    Dwarf_Unsigned value = 0;
    Dwarf_Signed value_signed = 0;
    Dwarf_Error error = NULL;
    if (ok(dwarf, dwarf_formudata(attribute, &value, &error), &error))
        return value;
    /* GCC's DW_FORM_implicit_const is refused by dwarf_formudata. */
    if (ok(dwarf, dwarf_formsdata(attribute, &value_signed, &error), &error) && value_signed >= 0)
        return (uint64_t)value_signed;
    return 0;
}

static uint32_t small_number(struct pm_dwarf *dwarf, Dwarf_Attribute attribute)
{
    uint64_t value = number(dwarf, attribute);
    return value > INT32_MAX ? 0 : (uint32_t)value;
}

static const char *string(struct pm_dwarf *dwarf, Dwarf_Attribute attribute)
{
    char *text = NULL;
    Dwarf_Error error = NULL;
    return ok(dwarf, dwarf_formstring(attribute, &text, &error), &error) ? text : NULL;
}

static bool section_offset(struct pm_dwarf *dwarf, Dwarf_Attribute attribute, uint64_t *ret_offset)
{
    Dwarf_Off offset = 0;
    Dwarf_Error error = NULL;
    if (!ok(dwarf, dwarf_global_formref(attribute, &offset, &error), &error))
        return false;
    *ret_offset = offset;
    return true;
}

static struct pm_dwarf_ref reference(struct pm_dwarf *dwarf, Dwarf_Attribute attribute,
                                     Dwarf_Half form)
{
    struct pm_dwarf_ref ref = {0};
    if (form == DW_FORM_ref_sig8 || !section_offset(dwarf, attribute, &ref.offset))
        return (struct pm_dwarf_ref){0};
    bool is_far =
        form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8;
    ref.where = is_far ? PM_DWARF_SUPPLEMENT : PM_DWARF_HERE;
    return ref;
}

static struct pm_dwarf_value value_of(struct pm_dwarf *dwarf, Dwarf_Attribute attribute,
                                      Dwarf_Half form)
{
    Dwarf_Error error = NULL;
    Dwarf_Unsigned index = 0;
    Dwarf_Addr address = 0;
    struct pm_dwarf_value value = {0};
    switch (form) {
    case DW_FORM_addr:
        if (ok(dwarf, dwarf_formaddr(attribute, &address, &error), &error))
            value = (struct pm_dwarf_value){address, PM_DWARF_ADDRESS};
        return value;
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index:
        if (ok(dwarf, dwarf_get_debug_addr_index(attribute, &index, &error), &error))
            value = (struct pm_dwarf_value){index, PM_DWARF_ADDRESS_INDEX};
        return value;
    case DW_FORM_rnglistx:
        return (struct pm_dwarf_value){number(dwarf, attribute), PM_DWARF_LIST_INDEX};
    case DW_FORM_sec_offset:
        if (section_offset(dwarf, attribute, &value.value))
            value.form = PM_DWARF_NUMBER;
        return value;
    default:
        return (struct pm_dwarf_value){number(dwarf, attribute), PM_DWARF_NUMBER};
    }
}

/* Of an offset into a section: DWARF 2 and 3 wrote it as data4 or data8. */
static bool offset_of(struct pm_dwarf *dwarf, Dwarf_Attribute attribute, Dwarf_Half form,
                      uint64_t *ret_offset)
{
    struct pm_dwarf_value value = value_of(dwarf, attribute, form);
    if (value.form != PM_DWARF_NUMBER)
        return false;
    *ret_offset = value.value;
    return true;
}

/* A flat list of the attributes that are used. */
static void read_attribute(struct pm_dwarf *dwarf, Dwarf_Attribute attribute,
                           struct pm_dwarf_die *die)
{
    Dwarf_Half name = 0, form = 0;
    Dwarf_Error error = NULL;
    if (!ok(dwarf, dwarf_whatattr(attribute, &name, &error), &error) ||
        !ok(dwarf, dwarf_whatform(attribute, &form, &error), &error))
        return;
    switch (name) {
    case DW_AT_low_pc:
        die->low = value_of(dwarf, attribute, form);
        break;
    case DW_AT_high_pc:
        die->high = value_of(dwarf, attribute, form);
        break;
    case DW_AT_ranges:
        die->ranges = value_of(dwarf, attribute, form);
        break;
    case DW_AT_abstract_origin:
        die->origin = reference(dwarf, attribute, form);
        break;
    case DW_AT_specification:
        die->specification = reference(dwarf, attribute, form);
        break;
    case DW_AT_name:
        die->name = string(dwarf, attribute);
        break;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        die->linkage = string(dwarf, attribute);
        break;
    case DW_AT_producer:
        die->producer = string(dwarf, attribute);
        break;
    case DW_AT_comp_dir:
        die->comp_dir = string(dwarf, attribute);
        break;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name:
        die->dwo_name = string(dwarf, attribute);
        break;
    case DW_AT_decl_line:
        die->declared_line_no = small_number(dwarf, attribute);
        break;
    case DW_AT_call_file:
        die->call_file = small_number(dwarf, attribute);
        break;
    case DW_AT_call_line:
        die->call_line_no = small_number(dwarf, attribute);
        break;
    case DW_AT_call_column:
        die->call_column_no = small_number(dwarf, attribute);
        break;
    case DW_AT_stmt_list:
        die->has_lines = offset_of(dwarf, attribute, form, &die->lines);
        break;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base:
        die->has_addr_base = offset_of(dwarf, attribute, form, &die->addr_base);
        break;
    case DW_AT_rnglists_base:
        die->has_rnglists_base = offset_of(dwarf, attribute, form, &die->rnglists_base);
        break;
    case DW_AT_GNU_ranges_base:
        (void)offset_of(dwarf, attribute, form, &die->ranges_base);
        break;
    case DW_AT_GNU_dwo_id:
        die->split_id = number(dwarf, attribute);
        die->has_split_id = true;
        break;
    default:
        break;
    }
}

static void read_die(struct pm_dwarf *dwarf, Dwarf_Die die, struct pm_dwarf_die *ret_die)
{
    memset(ret_die, 0, sizeof *ret_die);
    Dwarf_Error error = NULL;
    Dwarf_Off offset = 0;
    if (ok(dwarf, dwarf_dieoffset(die, &offset, &error), &error))
        ret_die->offset = offset;
    ret_die->tag = tag_of(dwarf, die);
    Dwarf_Attribute *attributes = NULL;
    Dwarf_Signed n = 0;
    if (!ok(dwarf, dwarf_attrlist(die, &attributes, &n, &error), &error))
        return;
    for (Dwarf_Signed i = 0; i < n; i++) {
        read_attribute(dwarf, attributes[i], ret_die);
        dwarf_dealloc_attribute(attributes[i]);
    }
    dwarf_dealloc(dwarf->dbg, attributes, DW_DLA_LIST);
}

static Dwarf_Die die_at(struct pm_dwarf *dwarf, uint64_t offset)
{
    Dwarf_Die die = NULL;
    Dwarf_Error error = NULL;
    if (!ok(dwarf, dwarf_offdie_b(dwarf->dbg, offset, true, &die, &error), &error))
        return NULL;
    return die;
}

bool pm_dwarf_die_at(struct pm_dwarf *dwarf, uint64_t offset, struct pm_dwarf_die *ret_die)
{
    Dwarf_Die die = die_at(dwarf, offset);
    if (!die)
        return false;
    read_die(dwarf, die, ret_die);
    dwarf_dealloc_die(die);
    return true;
}

void pm_dwarf_read(const struct pm_dwarf_at *at, struct pm_dwarf_die *ret_die)
{
    read_die(at->dwarf, at->die, ret_die);
}

/* Open parents of a walk; the last one is the DIE itself. */
struct walk {
    struct pm_dwarf *dwarf;
    Dwarf_Die dies[WALK_DEPTH_MAX];
    unsigned n;
    uint64_t last_offset; /* DIEs must lie behind each other, else a sibling leads back */
};

static bool step_to(struct walk *w, Dwarf_Die die)
{
    Dwarf_Off offset = 0;
    Dwarf_Error error = NULL;
    bool is_good =
        ok(w->dwarf, dwarf_dieoffset(die, &offset, &error), &error) && offset > w->last_offset;
    if (!is_good) {
        dwarf_dealloc_die(die);
        return false;
    }
    w->last_offset = offset;
    w->dies[w->n++] = die;
    return true;
}

/* To the next sibling of the last one or of its parents. *ret_done: there is none left. */
static bool step_over(struct walk *w, bool *ret_done)
{
    while (w->n > 1) {
        Dwarf_Die next = NULL;
        Dwarf_Error error = NULL;
        int result = dwarf_siblingof_b(w->dwarf->dbg, w->dies[w->n - 1], true, &next, &error);
        bool has_next = ok(w->dwarf, result, &error);
        dwarf_dealloc_die(w->dies[--w->n]);
        if (has_next)
            return step_to(w, next);
        if (result == DW_DLV_ERROR)
            return false;
    }
    *ret_done = true;
    return true;
}

static bool step_into(struct walk *w, bool *ret_done)
{
    Dwarf_Die child = NULL;
    Dwarf_Error error = NULL;
    if (w->n == WALK_DEPTH_MAX)
        return false;
    int result = dwarf_child(w->dies[w->n - 1], &child, &error);
    if (ok(w->dwarf, result, &error))
        return step_to(w, child);
    return result == DW_DLV_NO_ENTRY && step_over(w, ret_done);
}

bool pm_dwarf_walk(struct pm_dwarf *dwarf, uint64_t offset, pm_dwarf_visit *visit, void *ctx)
{
    struct walk w = {.dwarf = dwarf};
    Dwarf_Die root = die_at(dwarf, offset);
    if (!root)
        return false;
    bool is_done = false;
    w.dies[w.n++] = root;
    w.last_offset = offset;
    bool is_good = step_into(&w, &is_done);
    while (is_good && !is_done) {
        struct pm_dwarf_at at = {dwarf, w.dies[w.n - 1]};
        enum pm_dwarf_step step = visit(ctx, &at, tag_of(dwarf, at.die), w.n - 2);
        if (step == PM_DWARF_STOP)
            break;
        is_good = step == PM_DWARF_INTO ? step_into(&w, &is_done) : step_over(&w, &is_done);
    }
    while (w.n > 0)
        dwarf_dealloc_die(w.dies[--w.n]);
    return is_good;
}

bool pm_dwarf_read_lines(struct pm_dwarf *dwarf, uint64_t die_offset, struct pm_intern *set,
                         struct pm_dwarf_lines *ret_lines)
{
    struct pm_dwarf_die unit;
    if (!pm_dwarf_die_at(dwarf, die_offset, &unit) || !unit.has_lines)
        return false;
    struct pm_lines_input input = {
        .line = pm_dwarf_bytes(dwarf, PM_DWARF_LINE),
        .line_str = pm_dwarf_bytes(dwarf, PM_DWARF_LINE_STR),
        .str = pm_dwarf_bytes(dwarf, PM_DWARF_STR),
        .at = unit.lines,
        .comp_dir = unit.comp_dir,
        .is_big_endian = dwarf->is_big_endian,
    };
    return pm_lines_read(&input, set, ret_lines);
}

void pm_dwarf_lines_release(struct pm_dwarf_lines *lines)
{
    free(lines->files);
    free(lines->rows);
    *lines = (struct pm_dwarf_lines){0};
}
