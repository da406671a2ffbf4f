/* Loops, and what their heads do once: the first part of a for, the range of a range-for. */
#include "body.h"

enum { MAX_HEAD_BYTES = 4096, MAX_HEAD_VARIABLES = 16, MAX_LOOK = 64 };

int pdt_loop_kind(enum CXCursorKind kind)
{
    switch ((int)kind) {
    case CXCursor_ForStmt:
        return PDT_FOR;
    case CXCursor_WhileStmt:
        return PDT_WHILE;
    case CXCursor_DoStmt:
        return PDT_DO;
    case CXCursor_CXXForRangeStmt:
        return PDT_RANGE;
    default:
        return -1;
    }
}

void pdt_begin_loop(struct pdt_body *body, CXCursor cursor, int kind)
{
    struct pdt_place from, to;
    pdt_cursor_range(body->reader, cursor, &from, &to);
    void *grown =
        pm_grow_array(body->loops, body->n_loops, &body->cap_loops, 16, sizeof *body->loops);
    if (!grown) {
        body->reader->failed = true;
        return;
    }
    body->loops = grown;
    body->loops[body->n_loops] = (struct pdt_span){from.line, to.line};
    struct pm_buf *buf = pdt_begin_record(body, PDT_LOOP, from);
    pm_buf_add_uleb(buf, ++body->n_loops);
    pm_buf_add_uleb(buf, body->loop);
    pm_buf_add_uleb(buf, (unsigned)kind);
    pdt_put_range(buf, from, to);
    body->loop = body->n_loops;
}

/* --- is there a semicolon? --- */

static struct pdt_place spelled(struct pdt_reader *reader, CXSourceLocation location)
{
    struct pdt_place place = {0};
    reader->clang->getSpellingLocation(location, &place.file, &place.line, &place.column,
                                       &place.offset);
    return place;
}

/* Comments count for nothing. */
static bool has_semicolon(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool is_comment =
            text[i] == '/' && i + 1 < len && (text[i + 1] == '/' || text[i + 1] == '*');
        const char *end = NULL;
        if (is_comment)
            end = text[i + 1] == '/' ? memchr(text + i, '\n', len - i)
                                     : memmem(text + i + 2, len - i - 2, "*/", 2);
        if (is_comment && !end)
            return false;
        if (is_comment)
            i = (size_t)(end - text);
        if (text[i] == ';')
            return true;
    }
    return false;
}

static size_t bytes_between(struct pdt_place from, struct pdt_place to)
{
    bool is_behind = from.file && from.file == to.file && from.offset < to.offset;
    return is_behind ? to.offset - from.offset : SIZE_MAX;
}

static struct pdt_place begin_of(struct pdt_reader *reader, CXCursor cursor)
{
    return spelled(reader, reader->clang->getRangeStart(reader->clang->getCursorExtent(cursor)));
}

/* A macro's argument may be first in the part: then what is below it is nearer. */
static size_t bytes_before(struct pdt_reader *reader, struct pdt_place from, CXCursor part)
{
    size_t least = bytes_between(from, begin_of(reader, part));
    uint32_t first, n = pdt_children(reader, part, &first);
    for (uint32_t i = 0; i < n; i++) {
        size_t bytes = bytes_between(from, begin_of(reader, reader->stack[first + i]));
        least = bytes < least ? bytes : least;
    }
    pdt_drop(reader, first);
    return least;
}

/* Between where a statement begins and one of its parts, in the file or in a macro's text. -1: not
 * known. */
static int is_behind_semicolon(struct pdt_reader *reader, CXCursor statement, CXCursor part)
{
    size_t len = 0;
    struct pdt_place from = begin_of(reader, statement);
    size_t n = bytes_before(reader, from, part);
    if (n > MAX_HEAD_BYTES)
        return -1;
    const char *text = reader->clang->getFileContents(reader->tu, from.file, &len);
    return text && from.offset + n <= len ? has_semicolon(text + from.offset, n) : -1;
}

/* --- what is done once --- */

bool pdt_is_done_once(struct pdt_reader *reader, CXCursor loop, CXCursor part, uint32_t i,
                      uint32_t n)
{
    if (loop.kind == CXCursor_CXXForRangeStmt)
        return i + 1 < n && part.kind != CXCursor_VarDecl && part.kind != CXCursor_UnexposedDecl;
    if (loop.kind != CXCursor_ForStmt || i != 0 || n < 2)
        return false;
    if (part.kind == CXCursor_DeclStmt || n == 4)
        return true;
    return is_behind_semicolon(reader, loop, part) == 0;
}

/* --- first parts that libclang does not show: switch (int z = f(); z) --- */

struct head {
    CXFile file;
    unsigned from, to;
    CXCursor variables[MAX_HEAD_VARIABLES];
    uint32_t n;
};

static void add_variable(struct pdt_reader *reader, struct head *head, CXCursor variable)
{
    struct pdt_place at = pdt_cursor_place(reader, variable);
    if (variable.kind != CXCursor_VarDecl || at.file != head->file || at.offset < head->from ||
        at.offset >= head->to || head->n == MAX_HEAD_VARIABLES)
        return;
    for (uint32_t i = 0; i < head->n; i++)
        if (reader->clang->equalCursors(head->variables[i], variable))
            return;
    head->variables[head->n++] = variable;
}

static void find_variables(struct pdt_reader *reader, struct head *head, CXCursor cursor, int depth)
{
    uint32_t first, n = pdt_children(reader, cursor, &first);
    if (cursor.kind == CXCursor_DeclRefExpr)
        add_variable(reader, head, reader->clang->getCursorReferenced(cursor));
    for (uint32_t i = 0; i < n && depth < MAX_LOOK; i++)
        find_variables(reader, head, reader->stack[first + i], depth + 1);
    pdt_drop(reader, first);
}

void pdt_walk_hidden_head(struct pdt_body *body, CXCursor statement)
{
    struct pdt_reader *reader = body->reader;
    uint32_t first, n = pdt_children(reader, statement, &first);
    CXCursor part = n ? reader->stack[first] : statement;
    pdt_drop(reader, first);
    if (!n || part.kind == CXCursor_DeclStmt || is_behind_semicolon(reader, statement, part) != 1)
        return;
    struct pdt_place at = pdt_cursor_place(reader, statement), end, none;
    pdt_cursor_range(reader, part, &end, &none);
    struct head head = {.file = at.file, .from = at.offset, .to = end.offset};
    find_variables(reader, &head, statement, 0);
    for (uint32_t i = 0; i < head.n && !reader->failed; i++)
        pdt_walk_initial_value(body, head.variables[i]);
}
