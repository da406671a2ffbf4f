/* One unit: from its command to groups. */
#include "reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MAX_GROUP_BYTES = 1 << 30,
    MAX_PATH_BYTES = 65536,
    MAX_TEXT_BYTES = 1 << 26,
    MAX_DIAGNOSTICS = 1000,
};

/* --- texts and places --- */

const char *pdt_string(struct pdt_reader *reader, CXString string)
{
    const char *text = reader->clang->getCString(string);
    const char *copy = text ? pm_arena_strndup(&reader->arena, text, strlen(text)) : "";
    reader->clang->disposeString(string);
    reader->failed |= !copy;
    return copy ? copy : "";
}

void pdt_put_string(struct pm_buf *buf, const char *text)
{
    pdt_put_text(buf, text, strlen(text));
}

struct pdt_place pdt_cursor_place(struct pdt_reader *reader, CXCursor cursor)
{
    return pdt_place_of(reader, reader->clang->getCursorLocation(cursor));
}

void pdt_cursor_range(struct pdt_reader *reader, CXCursor cursor, struct pdt_place *ret_from,
                      struct pdt_place *ret_to)
{
    CXSourceRange range = reader->clang->getCursorExtent(cursor);
    *ret_from = pdt_place_of(reader, reader->clang->getRangeStart(range));
    *ret_to = pdt_place_of(reader, reader->clang->getRangeEnd(range));
}

/* Without . and .. and doubled slashes. */
static const char *clean_path(struct pdt_reader *reader, const char *folder, const char *name)
{
    struct pm_buf path = PM_BUF_INIT(MAX_PATH_BYTES);
    struct pm_buf clean = PM_BUF_INIT(MAX_PATH_BYTES);
    if (*name != '/')
        pm_buf_printf(&path, "%s/", folder);
    pm_buf_add_str(&path, name);
    for (const char *p = path.data ? path.data : ""; *p;) {
        size_t len = strcspn(p, "/");
        if (len == 2 && p[0] == '.' && p[1] == '.') {
            while (clean.len > 0 && clean.data[--clean.len] != '/')
                ;
        } else if (len > 0 && !(len == 1 && *p == '.')) {
            pm_buf_add_byte(&clean, '/');
            pm_buf_add(&clean, p, len);
        }
        p += len + (p[len] == '/');
    }
    if (!clean.len)
        pm_buf_add_byte(&clean, '/');
    const char *copy = pm_arena_strndup(&reader->arena, clean.data ? clean.data : "", clean.len);
    reader->failed |= !copy || path.failed || clean.failed;
    pm_buf_release(&path);
    pm_buf_release(&clean);
    return copy ? copy : "/";
}

/* What .. leads to is only known where the folder is no link. */
static const char *find_path(struct pdt_reader *reader, const char *name)
{
    const char *path = clean_path(reader, reader->unit->command->directory, name);
    char *real = strstr(name, "..") ? realpath(name, NULL) : NULL;
    const char *copy = real ? pm_arena_strndup(&reader->arena, real, strlen(real)) : NULL;
    free(real);
    return copy ? copy : path;
}

const char *pdt_path(struct pdt_reader *reader, CXFile file)
{
    uint32_t *slot = file ? pm_map_at(&reader->path_slots, (uintptr_t)file) : NULL;
    reader->failed |= file && !slot;
    if (!slot)
        return "";
    if (*slot)
        return reader->paths[*slot - 1];
    const char *name = pdt_string(reader, reader->clang->getFileName(file));
    void *grown = pm_grow_array(reader->paths, reader->n_paths, &reader->cap_paths, 64,
                                sizeof *reader->paths);
    if (!grown) {
        reader->failed = true;
        return "";
    }
    reader->paths = grown;
    reader->paths[reader->n_paths++] = *name ? find_path(reader, name) : "";
    *slot = reader->n_paths;
    return reader->paths[*slot - 1];
}

/* Blanks and ends of lines are one blank, but for those in quotes. */
static void squeeze(struct pm_buf *out, const char *p, const char *end, size_t most)
{
    char quote = 0;
    for (; p < end && out->len < most; p++) {
        bool is_splice = *p == '\\' && (p + 1 == end || p[1] == '\n' || p[1] == '\r');
        bool is_blank = *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || is_splice;
        if (is_blank && (!quote || *p == '\n' || *p == '\r')) {
            if (out->len > 0 && out->data[out->len - 1] != ' ')
                pm_buf_add_byte(out, ' ');
            continue;
        }
        if (*p == '\\' && quote && p + 1 < end)
            pm_buf_add_byte(out, (unsigned char)*p++);
        else if (*p == quote)
            quote = 0;
        else if (!quote && (*p == '"' || *p == '\''))
            quote = *p;
        pm_buf_add_byte(out, (unsigned char)*p);
    }
}

/* Into long_text; at most so many bytes of the result. */
static const char *read_text(struct pdt_reader *reader, struct pdt_place from, struct pdt_place to,
                             size_t most)
{
    struct pm_buf *out = &reader->long_text;
    pm_buf_clear(out);
    if (from.file && from.file != reader->text_file) {
        reader->text_file = from.file;
        reader->text = reader->clang->getFileContents(reader->tu, from.file, &reader->text_len);
    }
    bool is_there = from.file && reader->text && from.file == to.file && from.offset <= to.offset &&
                    to.offset <= reader->text_len;
    if (is_there)
        squeeze(out, reader->text + from.offset, reader->text + to.offset, most);
    pm_buf_add_byte(out, 0);
    reader->failed |= out->failed;
    return out->data && !out->failed ? out->data : "";
}

const char *pdt_long_text(struct pdt_reader *reader, struct pdt_place from, struct pdt_place to)
{
    return read_text(reader, from, to, MAX_TEXT_BYTES - 16);
}

void pdt_source_text(struct pdt_reader *reader, struct pdt_place from, struct pdt_place to,
                     char ret[PDT_TEXT_BYTES + 1])
{
    const char *text = read_text(reader, from, to, PDT_TEXT_BYTES + 1);
    size_t len = strlen(text);
    bool is_cut = len > PDT_TEXT_BYTES;
    if (is_cut)
        for (len = PDT_TEXT_BYTES - 3; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;)
            len--;
    memcpy(ret, text, len);
    memcpy(ret + len, is_cut ? "..." : "", is_cut ? 4 : 1);
}

/* Is the location one of the file, or within an argument that stands in it? Where. */
static bool is_in_file(struct pdt_reader *reader, CXSourceLocation location,
                       struct pdt_place *ret_place)
{
    const struct pdt_clang *clang = reader->clang;
    struct pdt_place spelled = {0}, expanded = {0};
    clang->getFileLocation(location, &ret_place->file, &ret_place->line, &ret_place->column,
                           &ret_place->offset);
    clang->getSpellingLocation(location, &spelled.file, NULL, NULL, &spelled.offset);
    clang->getExpansionLocation(location, &expanded.file, NULL, NULL, &expanded.offset);
    bool is_plain = spelled.file == expanded.file && spelled.offset == expanded.offset;
    return is_plain || ret_place->file != expanded.file || ret_place->offset != expanded.offset;
}

/* A comma outside of parentheses: the text spans several arguments. */
static bool has_comma(const char *text)
{
    int depth = 0;
    for (; *text && depth >= 0; text++) {
        depth += strchr("([{", *text) ? 1 : 0;
        depth -= strchr(")]}", *text) ? 1 : 0;
        if (*text == ',' && depth == 0)
            return true;
    }
    return depth != 0;
}

/* A macro's name within an argument: libclang says only where the whole ends. False: none. */
static bool read_name(struct pdt_reader *reader, struct pdt_place at, char ret[PDT_TEXT_BYTES + 1])
{
    size_t len = 0;
    pdt_source_text(reader, at, at, ret);
    if (!reader->text || at.file != reader->text_file || at.offset >= reader->text_len)
        return false;
    const char *text = reader->text + at.offset;
    while (at.offset + len < reader->text_len && len < PDT_TEXT_BYTES &&
           (text[len] == '_' || isalnum((unsigned char)text[len])))
        len++;
    memcpy(ret, text, len);
    ret[len] = 0;
    return len > 0;
}

void pdt_text_of(struct pdt_reader *reader, CXCursor from, CXCursor to,
                 char ret[PDT_TEXT_BYTES + 1])
{
    const struct pdt_clang *clang = reader->clang;
    CXSourceLocation begin = clang->getRangeStart(clang->getCursorExtent(from));
    CXSourceLocation end = clang->getRangeEnd(clang->getCursorExtent(to));
    struct pdt_place a = {0}, b = {0};
    bool begins = is_in_file(reader, begin, &a), ends = is_in_file(reader, end, &b);
    if (begins && ends) {
        pdt_source_text(reader, a, b, ret);
        if (*ret && !has_comma(ret))
            return;
    }
    if (begins && a.offset != pdt_place_of(reader, begin).offset && read_name(reader, a, ret))
        return;
    pdt_source_text(reader, pdt_place_of(reader, begin), pdt_place_of(reader, end), ret);
}

/* --- #line: what yacc, lex and their like make is shown where it was written --- */

static bool is_line_directive(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p < end && ((*p >= '0' && *p <= '9') || (end - p > 4 && !memcmp(p, "line", 4)));
}

static bool has_line_directive(struct pdt_reader *reader, CXFile file)
{
    size_t len = 0;
    const char *text = reader->clang->getFileContents(reader->tu, file, &len);
    const char *end = text ? text + len : NULL;
    for (const char *p = text; p && (p = memchr(p, '#', (size_t)(end - p))) != NULL; p++)
        if (is_line_directive(p + 1, end))
            return true;
    return false;
}

static bool is_from_elsewhere(struct pdt_reader *reader, CXFile file)
{
    uint32_t *slot = file ? pm_map_at(&reader->line_slots, (uintptr_t)file) : NULL;
    reader->failed |= file && !slot;
    if (!slot)
        return false;
    if (!*slot)
        *slot = has_line_directive(reader, file) ? 2 : 1;
    return *slot == 2;
}

static void show(struct pdt_reader *reader, CXSourceLocation location, struct pdt_place *place)
{
    CXString string;
    unsigned column;
    reader->clang->getPresumedLocation(location, &string, &place->shown_line, &column);
    const char *text = reader->clang->getCString(string), *name = text ? text : "";
    if (!reader->shown_name || strcmp(name, reader->shown_name) != 0) {
        reader->shown_name = pm_arena_strndup(&reader->arena, name, strlen(name));
        reader->failed |= !reader->shown_name;
        reader->shown_path = reader->shown_name ? find_path(reader, name) : "";
    }
    reader->clang->disposeString(string);
    place->shown_path = reader->shown_path;
}

struct pdt_place pdt_place_of(struct pdt_reader *reader, CXSourceLocation location)
{
    struct pdt_place place = {0};
    reader->clang->getExpansionLocation(location, &place.file, &place.line, &place.column,
                                        &place.offset);
    place.shown_line = place.line;
    if (is_from_elsewhere(reader, place.file))
        show(reader, location, &place);
    return place;
}

const char *pdt_shown_path(struct pdt_reader *reader, struct pdt_place place)
{
    return place.shown_path ? place.shown_path : pdt_path(reader, place.file);
}

/* --- groups --- */

static uint32_t add_group(struct pdt_reader *reader, const char *path)
{
    struct pdt_unit *unit = reader->unit;
    for (uint32_t i = 0; i < unit->n_groups; i++)
        if (!strcmp(unit->groups[i].path, path))
            return i;
    void *grown =
        pm_grow_array(unit->groups, unit->n_groups, &unit->cap_groups, 16, sizeof *unit->groups);
    char *copy = pm_strndup(path, strlen(path));
    if (grown)
        unit->groups = grown;
    if (!grown || !copy) {
        free(copy);
        reader->failed = true;
        return PDT_NO_GROUP;
    }
    struct pdt_group *group = &unit->groups[unit->n_groups];
    *group = (struct pdt_group){.path = copy, .data = PM_BUF_INIT(MAX_GROUP_BYTES)};
    pm_buf_add_byte(&group->data, PDT_FILE);
    pdt_put_string(&group->data, path);
    pm_buf_add_uleb(&group->data, 0);
    return unit->n_groups++;
}

/* The last ones come first: neighbours in the source mostly lie in one file. */
uint32_t pdt_group_of(struct pdt_reader *reader, CXFile file, CXSourceLocation location)
{
    if (!file)
        return PDT_NO_GROUP;
    for (uint32_t i = reader->n_seen_files; i > 0; i--)
        if (reader->seen_files[i - 1].file == file)
            return reader->seen_files[i - 1].group;
    void *grown = pm_grow_array(reader->seen_files, reader->n_seen_files, &reader->cap_seen_files,
                                64, sizeof *reader->seen_files);
    if (!grown) {
        reader->failed = true;
        return PDT_NO_GROUP;
    }
    reader->seen_files = grown;
    bool is_system = reader->clang->Location_isInSystemHeader(location) != 0;
    uint32_t group = is_system ? PDT_NO_GROUP : add_group(reader, pdt_path(reader, file));
    reader->seen_files[reader->n_seen_files++] =
        (struct pdt_seen_file){.file = file, .group = group, .is_system = is_system};
    return group;
}

struct pm_buf *pdt_group_buf(struct pdt_reader *reader, uint32_t group)
{
    return &reader->unit->groups[group].data;
}

/* --- children --- */

static enum CXChildVisitResult add_child(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct pdt_reader *reader = data;
    (void)parent;
    void *grown = pm_grow_array(reader->stack, reader->n_stack, &reader->cap_stack, 1024,
                                sizeof *reader->stack);
    if (!grown) {
        reader->failed = true;
        return CXChildVisit_Break;
    }
    reader->stack = grown;
    reader->stack[reader->n_stack++] = cursor;
    return CXChildVisit_Continue;
}

uint32_t pdt_children(struct pdt_reader *reader, CXCursor cursor, uint32_t *ret_first)
{
    *ret_first = reader->n_stack;
    reader->clang->visitChildren(cursor, add_child, reader);
    return reader->n_stack - *ret_first;
}

void pdt_drop(struct pdt_reader *reader, uint32_t first)
{
    reader->n_stack = first;
}

/* --- the unit --- */

static void add_file(CXFile included, CXSourceLocation *stack, unsigned n_stack, CXClientData data)
{
    struct pdt_reader *reader = data;
    struct pdt_unit *unit = reader->unit;
    (void)stack, (void)n_stack;
    const char *path = pdt_path(reader, included);
    if (!*path)
        return;
    void *grown =
        pm_grow_array(unit->files, unit->n_files, &unit->cap_files, 64, sizeof *unit->files);
    char *copy = pm_strndup(path, strlen(path));
    if (grown)
        unit->files = grown;
    if (!grown || !copy) {
        free(copy);
        reader->failed = true;
        return;
    }
    bool is_system = false;
    for (uint32_t i = 0; i < reader->n_seen_files; i++)
        if (reader->seen_files[i].file == included)
            is_system = reader->seen_files[i].is_system;
    unit->files[unit->n_files++] = (struct pdt_unit_file){copy, is_system};
}

static enum CXChildVisitResult read_top(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct pdt_reader *reader = data;
    (void)parent;
    switch ((int)cursor.kind) {
    case CXCursor_MacroDefinition:
        pdt_read_macro(reader, cursor);
        break;
    case CXCursor_InclusionDirective:
        pdt_read_include(reader, cursor);
        break;
    case CXCursor_MacroExpansion:
        break;
    default:
        pdt_declare(reader, cursor);
    }
    return reader->failed ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* Options of other compilers: the source was read without them. */
static bool is_of_command(const char *what)
{
    static const char *const begins[] = {"unknown argument",     "unsupported option",
                                         "unsupported argument", "invalid value",
                                         "unable to create",     NULL};
    for (int i = 0; begins[i]; i++)
        if (!strncmp(what, begins[i], strlen(begins[i])))
            return true;
    return false;
}

/* Errors only; the first of them is told. */
static void read_diagnostics(struct pdt_reader *reader)
{
    const struct pdt_clang *clang = reader->clang;
    unsigned n = clang->getNumDiagnostics(reader->tu);
    for (unsigned i = 0; i < n && i < MAX_DIAGNOSTICS; i++) {
        CXDiagnostic diagnostic = clang->getDiagnostic(reader->tu, i);
        struct pdt_place place = pdt_place_of(reader, clang->getDiagnosticLocation(diagnostic));
        const char *what = pdt_string(reader, clang->getDiagnosticSpelling(diagnostic));
        if (clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error &&
            !(is_of_command(what) && !place.file) && reader->unit->n_errors++ == 0) {
            struct pm_buf text = PM_BUF_INIT(4096);
            if (place.file)
                pm_buf_printf(&text, "%s:%u: ", pdt_path(reader, place.file), place.line);
            pm_buf_add_str(&text, what);
            reader->unit->problem = pm_buf_take(&text);
        }
        clang->disposeDiagnostic(diagnostic);
    }
}

static void read_parsed(struct pdt_reader *reader)
{
    CXCursor top = reader->clang->getTranslationUnitCursor(reader->tu);
    reader->is_cxx = reader->unit->command->is_cxx;
    reader->clang->visitChildren(top, read_top, reader);
    pdt_read_pragmas(reader);
    pdt_put_other_directives(reader);
    reader->clang->getInclusions(reader->tu, add_file, reader);
    read_diagnostics(reader);
    for (uint32_t i = 0; i < reader->unit->n_groups; i++) {
        reader->failed |= reader->unit->groups[i].data.failed;
        pdt_group_sum(&reader->unit->groups[i]);
    }
    reader->unit->is_read = !reader->failed;
    if (reader->is_cut && !reader->unit->problem)
        reader->unit->problem = pm_strndup(PDT_CUT_TEXT, sizeof PDT_CUT_TEXT - 1);
}

void pdt_read_unit(const struct pdt_clang *clang, struct pdt_unit *unit)
{
    static const char *const reasons[] = {"", "libclang gave up", "libclang crashed",
                                          "its command is not understood", "libclang gave up"};
    struct pdt_reader reader = {
        .clang = clang, .unit = unit, .long_text = PM_BUF_INIT(MAX_TEXT_BYTES)};
    const struct pdt_command *command = unit->command;
    if (command->problem) {
        pdt_unit_fail(unit, command->problem);
        return;
    }
    if (access(command->file, R_OK) != 0) {
        pdt_unit_fail(unit, "the file is not there (any more)");
        return;
    }
    CXIndex index = clang->createIndex(0, 0);
    unsigned options = CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_KeepGoing;
    enum CXErrorCode code = clang->parseTranslationUnit2FullArgv(
        index, NULL, command->arguments, (int)command->n_arguments, NULL, 0, options, &reader.tu);
    if (code == CXError_Success)
        read_parsed(&reader);
    else
        pdt_unit_fail(unit, reasons[code > 0 && code < 5 ? code : 1]);
    if (reader.failed)
        pdt_unit_fail(unit, "out of memory");
    if (reader.tu)
        clang->disposeTranslationUnit(reader.tu);
    clang->disposeIndex(index);
    free(reader.entities);
    free(reader.entity_slots);
    free(reader.seen_files);
    free(reader.types);
    free(reader.stack);
    free(reader.pragmas);
    free(reader.paths);
    pm_buf_release(&reader.long_text);
    free(reader.destructors);
    pm_map_release(&reader.destructor_slots);
    pm_map_release(&reader.container_slots);
    pm_map_release(&reader.path_slots);
    pm_map_release(&reader.line_slots);
    pm_map_release(&reader.type_slots);
    pm_arena_release(&reader.arena);
}
