/* Macros, includes and pragmas. */
#include "reader.h"

/* What follows a macro's name, on one line. */
static void put_macro_text(struct pdt_reader *reader, struct pm_buf *buf, CXCursor definition,
                           const char *name)
{
    struct pdt_place from, to;
    pdt_cursor_range(reader, definition, &from, &to);
    from.offset += (unsigned)strlen(name);
    pdt_put_string(buf, pdt_long_text(reader, from, to));
}

void pdt_read_macro(struct pdt_reader *reader, CXCursor definition)
{
    const struct pdt_clang *clang = reader->clang;
    CXSourceLocation location = clang->getCursorLocation(definition);
    struct pdt_place place = pdt_place_of(reader, location);
    uint32_t group = pdt_group_of(reader, place.file, location);
    if (group == PDT_NO_GROUP)
        return;
    const char *name = pdt_string(reader, clang->getCursorSpelling(definition));
    struct pm_buf *buf = pdt_group_buf(reader, group);
    pm_buf_add_byte(buf, PDT_MACRO);
    pdt_put_string(buf, name);
    pm_buf_add_uleb(buf, clang->Cursor_isMacroFunctionLike(definition) != 0);
    put_macro_text(reader, buf, definition, name);
    pm_buf_add_uleb(buf, place.line);
    pm_buf_add_uleb(buf, place.column);
}

void pdt_read_include(struct pdt_reader *reader, CXCursor inclusion)
{
    const struct pdt_clang *clang = reader->clang;
    CXSourceLocation location = clang->getCursorLocation(inclusion);
    struct pdt_place place = pdt_place_of(reader, location);
    uint32_t group = pdt_group_of(reader, place.file, location);
    CXFile included = clang->getIncludedFile(inclusion);
    if (group == PDT_NO_GROUP || !included)
        return;
    struct pm_buf *buf = pdt_group_buf(reader, group);
    pm_buf_add_byte(buf, PDT_INCLUDE);
    pdt_put_string(buf, pdt_path(reader, included));
    pm_buf_add_uleb(buf, 0);
    pm_buf_add_uleb(buf, place.line);
}

/* --- pragmas: libclang shows none that clang does not know --- */

struct lines {
    const char *text, *end, *at; /* at: up to where lines were counted */
    unsigned line;
    char within;       /* code: 0; a line comment: /; another one: *; quotes: " or '; R"()": R */
    char raw_end[20];  /* of R"x(...)x": )x" */
    bool is_in_number; /* where ' separates digits */
};

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* R"x( begins here: is it the start of such a text, and how does it end? */
static bool begins_raw(struct lines *lines, const char *quote)
{
    const char *p = quote + 1, *before = quote - 1;
    if (before < lines->text || *before != 'R')
        return false;
    while (before > lines->text && is_word(before[-1]))
        before--;
    size_t prefix = (size_t)(quote - before), n = 0;
    bool is_prefix = prefix == 1 || (prefix == 2 && strchr("uUL", *before)) ||
                     (prefix == 3 && !memcmp(before, "u8", 2));
    while (n < 16 && p + n < lines->end && !strchr("( )\\\t\n", p[n]))
        n++;
    if (!is_prefix || p + n >= lines->end || p[n] != '(')
        return false;
    snprintf(lines->raw_end, sizeof lines->raw_end, ")%.*s\"", (int)n, p);
    return true;
}

/* In code: what begins with this byte? Returns how many bytes more belong to it. */
static unsigned look_at_code(struct lines *lines, const char *p)
{
    char next = p + 1 < lines->end ? p[1] : 0;
    bool begins_word = is_word(*p) && (p == lines->text || !is_word(p[-1]));
    if (*p == '/' && (next == '/' || next == '*')) {
        lines->within = next;
        return 1;
    }
    if (*p == '"')
        lines->within = begins_raw(lines, p) ? 'R' : '"';
    else if (*p == '\'' && !(lines->is_in_number && is_word(next)))
        lines->within = '\'';
    if (!is_word(*p) && *p != '\'' && *p != '.')
        lines->is_in_number = false;
    else if (begins_word && !lines->is_in_number)
        lines->is_in_number = *p >= '0' && *p <= '9';
    return 0;
}

/* Within a comment or a text: does it end here? Returns as above. */
static unsigned look_inside(struct lines *lines, const char *p)
{
    size_t raw = strlen(lines->raw_end), left = (size_t)(lines->end - p);
    bool is_raw = lines->within == 'R', is_long = lines->within == '*';
    if (is_raw ? left >= raw && !memcmp(p, lines->raw_end, raw)
               : is_long && left > 1 && p[0] == '*' && p[1] == '/') {
        lines->within = 0;
        return is_raw ? (unsigned)raw - 1 : 1;
    }
    if (is_raw || is_long)
        return 0;
    if (*p == '\\' && left > 1 && p[1] != '\n' && p[1] != '\r')
        return lines->within != '/';
    bool is_spliced = p > lines->text &&
                      (p[-1] == '\\' || (p[-1] == '\r' && p - 1 > lines->text && p[-2] == '\\'));
    if ((*p == lines->within && *p != '/') || (*p == '\n' && !is_spliced))
        lines->within = 0;
    return 0;
}

static void count_to(struct lines *lines, const char *to)
{
    while (lines->at < to) {
        unsigned more =
            lines->within ? look_inside(lines, lines->at) : look_at_code(lines, lines->at);
        for (unsigned i = 0; i <= more; i++)
            lines->line += *lines->at++ == '\n';
    }
}

/* The line's first byte when nothing but # stands before the word. */
static const char *directive_start(const struct lines *lines, const char *word)
{
    const char *p = word;
    while (p > lines->text && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    if (p == lines->text || p[-1] != '#')
        return NULL;
    const char *hash = --p;
    while (p > lines->text && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    return p == lines->text || p[-1] == '\n' ? hash : NULL;
}

static bool is_skipped(const CXSourceRangeList *skipped, struct pdt_reader *reader, unsigned line)
{
    for (unsigned i = 0; skipped && i < skipped->count; i++) {
        struct pdt_place from =
            pdt_place_of(reader, reader->clang->getRangeStart(skipped->ranges[i]));
        struct pdt_place to = pdt_place_of(reader, reader->clang->getRangeEnd(skipped->ranges[i]));
        if (line >= from.line && line <= to.line)
            return true;
    }
    return false;
}

/* The pragma's word is at this place of the file, and the pragma ends there. */
static void add_omp(struct pdt_reader *reader, struct pdt_omp omp, const struct lines *lines,
                    const char *word, const char *end)
{
    const char *begin = word;
    void *grown = pm_grow_array(reader->pragmas, reader->n_pragmas, &reader->cap_pragmas, 64,
                                sizeof *reader->pragmas);
    omp.text = pm_arena_strndup(&reader->arena, omp.text, strlen(omp.text));
    if (!grown || !omp.text) {
        reader->failed = true;
        return;
    }
    while (begin > lines->text && begin[-1] != '\n')
        begin--;
    omp.column = (unsigned)strspn(begin, " \t") + 1;
    omp.line = omp.text_end_line = lines->line;
    for (const char *p = word; p < end; p++)
        omp.text_end_line += *p == '\n';
    omp.end_line = omp.text_end_line;
    reader->pragmas = grown;
    reader->pragmas[reader->n_pragmas++] = omp;
}

static void put_pragma(struct pdt_reader *reader, uint32_t group, CXFile file,
                       const struct lines *lines, const char *word)
{
    const char *end = word;
    while (end < lines->end && (*end != '\n' || end[-1] == '\\'))
        end++;
    struct pdt_place from = {.file = file, .offset = (unsigned)(word + 6 - lines->text)};
    struct pdt_place to = {.file = file, .offset = (unsigned)(end - lines->text)};
    const char *text = pdt_long_text(reader, from, to);
    struct pm_buf *buf = pdt_group_buf(reader, group);
    pm_buf_add_byte(buf, PDT_PRAGMA);
    pdt_put_string(buf, text);
    pm_buf_add_uleb(buf, lines->line);
    if (!strncmp(text, "omp ", 4))
        add_omp(reader, (struct pdt_omp){.file = file, .group = group, .text = text + 4}, lines,
                word, end);
}

static void read_pragmas_of(struct pdt_reader *reader, CXFile file, uint32_t group)
{
    size_t len = 0;
    const char *text = reader->clang->getFileContents(reader->tu, file, &len);
    struct lines lines = {.text = text, .end = text + len, .at = text, .line = 1};
    CXSourceRangeList *skipped = NULL;
    const char *word = text;
    if (!text)
        return;
    while ((word = memmem(word, (size_t)(lines.end - word), "pragma", 6)) != NULL) {
        const char *start = directive_start(&lines, word);
        if (start) {
            count_to(&lines, start);
            if (!skipped)
                skipped = reader->clang->getSkippedRanges(reader->tu, file);
            if (!lines.within && !is_skipped(skipped, reader, lines.line))
                put_pragma(reader, group, file, &lines, word);
        }
        word += 6;
    }
    if (skipped)
        reader->clang->disposeSourceRangeList(skipped);
}

void pdt_read_pragmas_of(struct pdt_reader *reader, CXFile file)
{
    for (uint32_t i = 0; i < reader->n_seen_files; i++) {
        struct pdt_seen_file *seen = &reader->seen_files[i];
        if (seen->file != file || seen->has_pragmas)
            continue;
        seen->has_pragmas = true;
        if (seen->group != PDT_NO_GROUP)
            read_pragmas_of(reader, file, seen->group);
    }
}

void pdt_read_pragmas(struct pdt_reader *reader)
{
    for (uint32_t i = 0; i < reader->n_seen_files; i++)
        pdt_read_pragmas_of(reader, reader->seen_files[i].file);
}
