/* Macros, includes and pragmas. */
#include "reader.h"

/* What follows a macro's name, on one line. */
static void put_macro_text(struct pdt_reader *reader, struct pm_buf *buf, CXCursor definition,
                           const char *name)
{
    struct pdt_place from, to;
    char text[PDT_TEXT_BYTES + 1];
    pdt_cursor_range(reader, definition, &from, &to);
    from.offset += (unsigned)strlen(name);
    pdt_source_text(reader, from, to, text);
    pdt_put_string(buf, text);
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
    bool in_comment;
};

static void count_to(struct lines *lines, const char *to)
{
    for (; lines->at < to; lines->at++) {
        const char *p = lines->at;
        lines->line += *p == '\n';
        if (p + 1 >= lines->end)
            continue;
        if (!lines->in_comment && p[0] == '/' && p[1] == '*')
            lines->in_comment = true;
        else if (lines->in_comment && p[0] == '*' && p[1] == '/')
            lines->in_comment = false;
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

static void add_omp(struct pdt_reader *reader, CXFile file, const struct lines *lines,
                    const char *word, const char *end, const char *text)
{
    const char *begin = word;
    unsigned n_lines = 0;
    void *grown = pm_grow_array(reader->pragmas, reader->n_pragmas, &reader->cap_pragmas, 64,
                                sizeof *reader->pragmas);
    const char *copy = pm_arena_strndup(&reader->arena, text, strlen(text));
    if (!grown || !copy) {
        reader->failed = true;
        return;
    }
    while (begin > lines->text && begin[-1] != '\n')
        begin--;
    for (const char *p = word; p < end; p++)
        n_lines += *p == '\n';
    size_t indent = strspn(begin, " \t");
    reader->pragmas = grown;
    reader->pragmas[reader->n_pragmas++] = (struct pdt_omp){
        .file = file,
        .line = lines->line,
        .column = (unsigned)indent + 1,
        .text_end_line = lines->line + n_lines,
        .end_line = lines->line + n_lines,
        .text = copy,
    };
}

static void put_pragma(struct pdt_reader *reader, uint32_t group, CXFile file,
                       const struct lines *lines, const char *word)
{
    char text[PDT_TEXT_BYTES + 1];
    const char *end = word;
    while (end < lines->end && (*end != '\n' || end[-1] == '\\'))
        end++;
    struct pdt_place from = {.file = file, .offset = (unsigned)(word + 6 - lines->text)};
    struct pdt_place to = {.file = file, .offset = (unsigned)(end - lines->text)};
    pdt_source_text(reader, from, to, text);
    struct pm_buf *buf = pdt_group_buf(reader, group);
    pm_buf_add_byte(buf, PDT_PRAGMA);
    pdt_put_string(buf, text);
    pm_buf_add_uleb(buf, lines->line);
    if (!strncmp(text, "omp ", 4))
        add_omp(reader, file, lines, word, end, text + 4);
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
            if (!lines.in_comment && !is_skipped(skipped, reader, lines.line))
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
