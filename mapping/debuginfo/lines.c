#include "lines.h"

#include "bytes.h"

#include <stdlib.h>

enum {
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_STRING = 0x08,
    FORM_BLOCK = 0x09,
    FORM_DATA1 = 0x0b,
    FORM_STRP = 0x0e,
    FORM_UDATA = 0x0f,
    FORM_DATA16 = 0x1e,
    FORM_LINE_STRP = 0x1f,
    CONTENT_PATH = 1,
    CONTENT_DIRECTORY = 2,
    FORMATS_MAX = 16,
    FILES_MAX = 1 << 20,
    PATH_MAX_BYTES = 1 << 14
};

enum opcode {
    OP_EXTENDED,
    OP_COPY,
    OP_ADVANCE_PC,
    OP_ADVANCE_LINE,
    OP_SET_FILE,
    OP_SET_COLUMN,
    OP_NEGATE_STMT,
    OP_SET_BASIC_BLOCK,
    OP_CONST_ADD_PC,
    OP_FIXED_ADVANCE_PC,
    OPE_END_SEQUENCE = 1,
    OPE_SET_ADDRESS = 2
};

struct names {
    const char **items; /* point into sections */
    uint64_t *folders;  /* of files: index of the folder */
    size_t n, n_max;
};

struct table {
    const struct pm_lines_input *input;
    struct pm_cursor at; /* ends with the unit, while the header is read with the header */
    const unsigned char *unit_end;
    unsigned offset_bytes;
    uint64_t version, instruction_bytes, line_range, opcode_base;
    int64_t line_base;
    unsigned char n_arguments[256]; /* of standard opcodes */
    struct names folders, files;
};

struct entry {
    const char *path;
    uint64_t folder;
};

static bool fixed(struct table *t, unsigned n, uint64_t *ret_value)
{
    return pm_cursor_fixed(&t->at, n, t->input->is_big_endian, ret_value);
}

static size_t left(const struct table *t)
{
    return (size_t)(t->at.end - t->at.p);
}

static bool add_name(struct names *names, const char *name, uint64_t folder)
{
    if (names->n == names->n_max) {
        size_t max = names->n_max ? 2 * names->n_max : 32;
        if (max > FILES_MAX)
            return false;
        const char **items = pm_realloc_array(names->items, max, sizeof *items);
        if (items)
            names->items = items;
        uint64_t *folders = items ? pm_realloc_array(names->folders, max, sizeof *folders) : NULL;
        if (!folders)
            return false;
        names->folders = folders;
        names->n_max = max;
    }
    names->items[names->n] = name;
    names->folders[names->n++] = folder;
    return true;
}

static bool string_here(struct table *t, const char **ret_text)
{
    const unsigned char *end = memchr(t->at.p, 0, left(t));
    if (!end)
        return false;
    *ret_text = (const char *)t->at.p;
    t->at.p = end + 1;
    return true;
}

/* Sections have zeros behind their ends, so a string within one ends. */
static bool string_in(struct table *t, struct pm_bytes section, const char **ret_text)
{
    uint64_t offset;
    if (!fixed(t, t->offset_bytes, &offset))
        return false;
    *ret_text = offset < section.len ? (const char *)section.p + offset : NULL;
    return true;
}

/* A number or a string by its form. */
static bool read_form(struct table *t, uint64_t form, uint64_t *ret_value, const char **ret_text)
{
    struct pm_str bytes;
    switch (form) {
    case FORM_DATA1:
        return fixed(t, 1, ret_value);
    case FORM_DATA2:
        return fixed(t, 2, ret_value);
    case FORM_DATA4:
        return fixed(t, 4, ret_value);
    case FORM_DATA8:
        return fixed(t, 8, ret_value);
    case FORM_DATA16:
        return pm_cursor_bytes(&t->at, 16, &bytes);
    case FORM_UDATA:
        return pm_cursor_uleb(&t->at, ret_value);
    case FORM_BLOCK:
        return pm_cursor_uleb(&t->at, ret_value) && *ret_value <= left(t) &&
               pm_cursor_bytes(&t->at, *ret_value, &bytes);
    case FORM_STRING:
        return string_here(t, ret_text);
    case FORM_STRP:
        return string_in(t, t->input->str, ret_text);
    case FORM_LINE_STRP:
        return string_in(t, t->input->line_str, ret_text);
    default:
        return false;
    }
}

/* Folders or files of DWARF 5: what an entry holds, then entries. Each takes at least a byte, so
 * their number is bounded by what is left. */
static bool read_entries(struct table *t, struct names *names)
{
    uint64_t n_formats, n, contents[FORMATS_MAX], forms[FORMATS_MAX];
    if (!fixed(t, 1, &n_formats) || n_formats > FORMATS_MAX)
        return false;
    for (uint64_t i = 0; i < n_formats; i++)
        if (!pm_cursor_uleb(&t->at, &contents[i]) || !pm_cursor_uleb(&t->at, &forms[i]))
            return false;
    if (!pm_cursor_uleb(&t->at, &n) || n > left(t) || (n_formats == 0 && n != 0))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        struct entry entry = {0};
        for (uint64_t k = 0; k < n_formats; k++) {
            uint64_t value = 0;
            const char *text = NULL;
            if (!read_form(t, forms[k], &value, &text))
                return false;
            if (contents[k] == CONTENT_PATH)
                entry.path = text;
            else if (contents[k] == CONTENT_DIRECTORY)
                entry.folder = value;
        }
        if (!add_name(names, entry.path, entry.folder))
            return false;
    }
    return true;
}

/* Folders or files of DWARF 2 to 4: names up to an empty one, files with folder, time and size.
 * Numbers begin with 1. */
static bool read_names(struct table *t, struct names *names, bool are_files)
{
    if (!add_name(names, NULL, 0))
        return false;
    while (left(t) > 0 && *t->at.p != 0) {
        const char *name;
        uint64_t folder = 0, time, size_bytes;
        if (!string_here(t, &name) ||
            (are_files && (!pm_cursor_uleb(&t->at, &folder) || !pm_cursor_uleb(&t->at, &time) ||
                           !pm_cursor_uleb(&t->at, &size_bytes))) ||
            !add_name(names, name, folder))
            return false;
    }
    return left(t) > 0 && ++t->at.p;
}

/* unit_length: 4 bytes, or 0xffffffff and 8 */
static bool enter_unit(struct table *t)
{
    uint64_t length;
    const struct pm_lines_input *input = t->input;
    if (input->at >= input->line.len)
        return false;
    pm_cursor_init(&t->at, input->line.p + input->at, input->line.len - input->at);
    t->offset_bytes = 4;
    if (!fixed(t, 4, &length))
        return false;
    if (length == 0xffffffff) {
        t->offset_bytes = 8;
        if (!fixed(t, 8, &length))
            return false;
    }
    if (length > left(t))
        return false;
    t->unit_end = t->at.end = t->at.p + length;
    return true;
}

static bool read_header(struct table *t)
{
    uint64_t value, header_length, line_base, n_operations = 1;
    if (!enter_unit(t) || !fixed(t, 2, &t->version) || t->version < 2 || t->version > 5)
        return false;
    if (t->version == 5 && (!fixed(t, 1, &value) || !fixed(t, 1, &value)))
        return false;
    if (!fixed(t, t->offset_bytes, &header_length) || header_length > left(t))
        return false;
    const unsigned char *program = t->at.p + header_length;
    t->at.end = program;
    if (!fixed(t, 1, &t->instruction_bytes) || (t->version >= 4 && !fixed(t, 1, &n_operations)) ||
        !fixed(t, 1, &value) || !fixed(t, 1, &line_base) || !fixed(t, 1, &t->line_range) ||
        !fixed(t, 1, &t->opcode_base) || t->line_range == 0 || t->opcode_base == 0)
        return false;
    t->line_base = (int8_t)line_base;
    for (uint64_t i = 1; i < t->opcode_base; i++) {
        if (!fixed(t, 1, &value))
            return false;
        t->n_arguments[i] = (unsigned char)value;
    }
    bool done = t->version == 5
                    ? read_entries(t, &t->folders) && read_entries(t, &t->files)
                    : read_names(t, &t->folders, false) && read_names(t, &t->files, true);
    t->at.p = program;
    t->at.end = t->unit_end;
    return done;
}

static const char *join(const char *const *parts, size_t n, struct pm_intern *set)
{
    struct pm_buf path = PM_BUF_INIT(PATH_MAX_BYTES);
    for (size_t i = 0; i < n; i++) {
        if (!parts[i] || !parts[i][0])
            continue;
        if (parts[i][0] == '/')
            pm_buf_clear(&path);
        else if (path.len != 0 && path.data[path.len - 1] != '/')
            pm_buf_add_byte(&path, '/');
        pm_buf_add_str(&path, parts[i]);
    }
    const char *interned =
        path.len && !path.failed ? pm_intern_add(set, path.data, path.len) : NULL;
    pm_buf_release(&path);
    return interned;
}

static bool name_files(const struct table *t, struct pm_intern *set, struct pm_dwarf_lines *lines)
{
    lines->files = pm_alloc_array(t->files.n + 1, sizeof *lines->files);
    if (!lines->files)
        return false;
    for (size_t i = 0; i < t->files.n; i++) {
        uint64_t folder = t->files.folders[i];
        const char *parts[] = {t->input->comp_dir,
                               folder < t->folders.n ? t->folders.items[folder] : NULL,
                               t->files.items[i]};
        lines->files[i] = parts[2] ? join(parts, 3, set) : NULL;
    }
    lines->n_files = (uint32_t)t->files.n;
    return true;
}

struct state {
    uint64_t address, file, column_no;
    int64_t line_no;
};

static struct state first_state(void)
{
    return (struct state){.file = 1, .line_no = 1};
}

static bool add_row(struct pm_dwarf_lines *lines, uint32_t *n_max, const struct state *s, bool ends)
{
    if (lines->n_rows == *n_max) {
        uint32_t max = *n_max ? *n_max * 2 : 256;
        struct pm_dwarf_row *rows =
            max < UINT32_MAX / 4 ? pm_realloc_array(lines->rows, max, sizeof *rows) : NULL;
        if (!rows)
            return false;
        lines->rows = rows;
        *n_max = max;
    }
    struct pm_dwarf_row *row = &lines->rows[lines->n_rows++];
    *row = (struct pm_dwarf_row){.address = s->address, .file = UINT32_MAX, .ends_sequence = ends};
    if (s->file < lines->n_files)
        row->file = (uint32_t)s->file;
    if (s->line_no >= 0 && s->line_no <= INT32_MAX)
        row->line_no = (uint32_t)s->line_no;
    if (s->column_no <= INT32_MAX)
        row->column_no = (uint32_t)s->column_no;
    return true;
}

/* Length, code, operands; *ret_ends: the sequence does. */
static bool run_extended(struct table *t, struct state *s, bool *ret_ends)
{
    uint64_t length, code, address = 0;
    if (!pm_cursor_uleb(&t->at, &length) || length == 0 || length > left(t))
        return false;
    const unsigned char *next = t->at.p + length;
    if (!fixed(t, 1, &code))
        return false;
    if (code == OPE_SET_ADDRESS && length > 1 && length <= 9 &&
        fixed(t, (unsigned)length - 1, &address))
        s->address = address;
    *ret_ends = code == OPE_END_SEQUENCE;
    t->at.p = next;
    return true;
}

static bool run_standard(struct table *t, struct state *s, unsigned opcode)
{
    uint64_t value = 0;
    int64_t step = 0;
    switch (opcode) {
    case OP_ADVANCE_PC:
        if (!pm_cursor_uleb(&t->at, &value))
            return false;
        s->address += value * t->instruction_bytes;
        return true;
    case OP_ADVANCE_LINE:
        if (!pm_cursor_sleb128(&t->at, &step))
            return false;
        s->line_no = (int64_t)((uint64_t)s->line_no + (uint64_t)step);
        return true;
    case OP_SET_FILE:
        return pm_cursor_uleb(&t->at, &s->file);
    case OP_SET_COLUMN:
        return pm_cursor_uleb(&t->at, &s->column_no);
    case OP_CONST_ADD_PC:
        s->address += (255 - t->opcode_base) / t->line_range * t->instruction_bytes;
        return true;
    case OP_FIXED_ADVANCE_PC:
        if (!fixed(t, 2, &value))
            return false;
        s->address += value;
        return true;
    default:
        for (unsigned i = 0; i < t->n_arguments[opcode]; i++)
            if (!pm_cursor_uleb(&t->at, &value))
                return false;
        return true;
    }
}

/* Damage ends the program; what came before is kept. false: memory. */
static bool run_program(struct table *t, struct pm_dwarf_lines *lines)
{
    struct state s = first_state();
    uint32_t n_max = 0;
    uint64_t opcode;
    while (left(t) > 0 && fixed(t, 1, &opcode)) {
        bool ends = false, is_row = opcode >= t->opcode_base || opcode == OP_COPY;
        if (opcode >= t->opcode_base) {
            uint64_t special = opcode - t->opcode_base;
            s.address += special / t->line_range * t->instruction_bytes;
            s.line_no = (int64_t)((uint64_t)s.line_no +
                                  (uint64_t)(t->line_base + (int64_t)(special % t->line_range)));
        } else if (opcode == OP_EXTENDED) {
            if (!run_extended(t, &s, &ends))
                break;
        } else if (opcode != OP_COPY && !run_standard(t, &s, (unsigned)opcode)) {
            break;
        }
        if ((is_row || ends) && !add_row(lines, &n_max, &s, ends))
            return false;
        if (ends)
            s = first_state();
    }
    return true;
}

static void release_names(struct names *names)
{
    free(names->items);
    free(names->folders);
}

bool pm_lines_read(const struct pm_lines_input *input, struct pm_intern *set,
                   struct pm_dwarf_lines *ret_lines)
{
    struct table t = {.input = input};
    struct pm_dwarf_lines lines = {0};
    bool done = read_header(&t) && name_files(&t, set, &lines) && run_program(&t, &lines);
    release_names(&t.folders);
    release_names(&t.files);
    if (done)
        *ret_lines = lines;
    else
        pm_dwarf_lines_release(&lines);
    return done;
}
