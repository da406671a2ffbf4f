/* Statements: how many, loops, directives; expressions go to access.c and call.c. */
#include "body.h"

#include <stdlib.h>

enum { MAX_DEPTH = 3000, MAX_BODY_BYTES = 1 << 30 };

struct pm_buf *pdt_begin_record(struct pdt_body *body, enum pdt_tag tag, struct pdt_place place)
{
    const char *path = place.file ? pdt_shown_path(body->reader, place) : body->path_now;
    if (path != body->path_now && strcmp(path, body->path_now) != 0) {
        body->path_now = path;
        pm_buf_add_byte(&body->records, PDT_AT);
        pdt_put_string(&body->records, strcmp(path, body->path) != 0 ? path : "");
    }
    pm_buf_add_byte(&body->records, (unsigned char)tag);
    return &body->records;
}

static void put_range(struct pm_buf *buf, struct pdt_place from, struct pdt_place to)
{
    pm_buf_add_uleb(buf, from.shown_line);
    pm_buf_add_uleb(buf, from.column);
    pm_buf_add_uleb(buf, to.shown_line);
    pm_buf_add_uleb(buf, to.column);
}

/* --- loops --- */

static int loop_kind(enum CXCursorKind kind)
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

static void begin_loop(struct pdt_body *body, CXCursor cursor, int kind)
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
    put_range(buf, from, to);
    body->loop = body->n_loops;
}

/* --- statements --- */

/* Which children of a statement are statements themselves, although they may look like
 * expressions: `if (x) y = 1;`. From the i-th on. */
static uint32_t first_statement(struct pdt_reader *reader, CXCursor cursor, uint32_t first,
                                uint32_t n)
{
    switch ((int)cursor.kind) {
    case CXCursor_CompoundStmt:
    case CXCursor_CXXTryStmt:
        return 0;
    case CXCursor_IfStmt: /* behind the condition, before which there may be declarations */
        for (uint32_t i = 0; i < n; i++)
            if (reader->clang->isExpression(reader->stack[first + i].kind))
                return i + 1;
        return n ? 1 : 0;
    case CXCursor_WhileStmt:
    case CXCursor_ForStmt:
    case CXCursor_SwitchStmt:
    case CXCursor_CXXForRangeStmt:
    case CXCursor_CXXCatchStmt:
    case CXCursor_LabelStmt:
    case CXCursor_DefaultStmt:
        return n ? n - 1 : 0;
    case CXCursor_CaseStmt:
        return n > 1 ? n - 1 : n;
    default:
        return n;
    }
}

static void walk_children(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    uint32_t first, n = pdt_children(reader, cursor, &first);
    uint32_t statements = first_statement(reader, cursor, first, n);
    bool is_do = cursor.kind == CXCursor_DoStmt;
    if (reader->clang->isStatement(cursor.kind))
        use = PDT_USE_READ;
    for (uint32_t i = 0; i < n && !reader->failed; i++) {
        CXCursor child = reader->stack[first + i];
        /* What is a statement by its kind is one wherever it is, but for declarations in heads. */
        bool by_kind = reader->clang->isStatement(child.kind) && child.kind != CXCursor_DeclStmt;
        pdt_walk(body, child, is_do ? i == 0 : i >= statements || by_kind, use);
    }
    pdt_drop(reader, first);
}

static void walk_variable(struct pdt_body *body, CXCursor cursor)
{
    struct pdt_reader *reader = body->reader;
    CXType type = reader->clang->getCanonicalType(reader->clang->getCursorType(cursor));
    if (type.kind == CXType_ConstantArray || type.kind == CXType_VariableArray ||
        type.kind == CXType_IncompleteArray)
        pdt_entity(reader, body->group, cursor);
    walk_children(body, cursor, PDT_USE_READ);
}

/* [k = f()]: libclang shows a name only, of a variable that is declared there. */
static void walk_captures(struct pdt_body *body, CXCursor lambda)
{
    struct pdt_reader *reader = body->reader;
    struct pdt_place from, to;
    pdt_cursor_range(reader, lambda, &from, &to);
    uint32_t first, n = pdt_children(reader, lambda, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++) {
        if (reader->stack[first + i].kind != CXCursor_VariableRef)
            continue;
        CXCursor variable = reader->clang->getCursorReferenced(reader->stack[first + i]);
        struct pdt_place at = pdt_cursor_place(reader, variable);
        if (at.file == from.file && at.offset > from.offset && at.offset < to.offset)
            pdt_walk_initial_value(body, variable);
    }
    pdt_drop(reader, first);
}

static void walk_by_kind(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    switch ((int)cursor.kind) {
    case CXCursor_VarDecl:
        walk_variable(body, cursor);
        return;
    case CXCursor_CallExpr:
        pdt_walk_call(body, cursor, use);
        return;
    case CXCursor_UnaryExpr: /* sizeof and its like compute nothing */
    case CXCursor_CXXTypeidExpr:
    case CXCursor_TypeRef:
    case CXCursor_ParmDecl:
        return;
    case CXCursor_UnexposedDecl: /* auto [a, b] = f() */
        walk_children(body, cursor, PDT_USE_READ);
        return;
    case CXCursor_CXXDeleteExpr:
        pdt_walk_delete(body, cursor);
        break;
    case CXCursor_LambdaExpr:
        walk_captures(body, cursor);
        break;
    case CXCursor_ReturnStmt:
        body->n_returns++;
        break;
    default:
        break;
    }
    if (pdt_walk_access(body, cursor, use) || pdt_walk_operator(body, cursor, use))
        return;
    if (reader->clang->isDeclaration(cursor.kind)) {
        pdt_declare(reader, cursor); /* a class or function within a function */
        return;
    }
    walk_children(body, cursor, use);
}

void pdt_walk(struct pdt_body *body, CXCursor cursor, bool is_statement, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    uint32_t loop = body->loop;
    int kind = loop_kind(cursor.kind);
    if (reader->depth >= MAX_DEPTH) {
        reader->is_cut = true;
        return;
    }
    reader->depth++;
    if (is_statement && cursor.kind != CXCursor_CompoundStmt)
        body->n_statements++;
    if (is_statement && body->first_omp < body->end_omp)
        pdt_end_of_directive(body, cursor);
    if (kind >= 0)
        begin_loop(body, cursor, kind);
    walk_by_kind(body, cursor, use);
    body->loop = loop;
    reader->depth--;
}

/* --- bodies --- */

static struct pdt_body begin_body(struct pdt_reader *reader, uint32_t group, CXCursor cursor)
{
    const char *path = pdt_path(reader, pdt_cursor_place(reader, cursor).file);
    return (struct pdt_body){.reader = reader,
                             .group = group,
                             .path = path,
                             .path_now = path,
                             .records = PM_BUF_INIT(MAX_BODY_BYTES)};
}

static void end_body(struct pdt_body *body)
{
    struct pm_buf *buf = pdt_group_buf(body->reader, body->group);
    body->reader->failed |= body->records.failed;
    if (body->records.len)
        pm_buf_add(buf, body->records.data, body->records.len);
    pm_buf_release(&body->records);
    free(body->loops);
}

/* The body as written, within what a coroutine makes of it. */
static CXCursor body_as_written(struct pdt_reader *reader, CXCursor child)
{
    if (child.kind != CXCursor_UnexposedStmt)
        return child;
    uint32_t first, n = pdt_children(reader, child, &first);
    for (uint32_t i = 0; i < n; i++)
        if (reader->stack[first + i].kind == CXCursor_CompoundStmt ||
            reader->stack[first + i].kind == CXCursor_CXXTryStmt) {
            child = reader->stack[first + i];
            break;
        }
    pdt_drop(reader, first);
    return child;
}

/* Expressions beside the body: a constructor's initialisers, or of its type (decltype). */
static bool is_constructor(struct pdt_reader *reader, CXCursor routine)
{
    return routine.kind == CXCursor_Constructor ||
           reader->clang->getTemplateCursorKind(routine) == CXCursor_Constructor;
}

void pdt_read_body(struct pdt_reader *reader, uint32_t group, CXCursor routine, uint64_t key)
{
    struct pdt_place from = {0}, to = {0};
    struct pdt_body body = begin_body(reader, group, routine);
    bool has_initialisers = is_constructor(reader, routine);
    uint32_t first, n = pdt_children(reader, routine, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++) {
        CXCursor child = body_as_written(reader, reader->stack[first + i]);
        bool is_body = child.kind == CXCursor_CompoundStmt || child.kind == CXCursor_CXXTryStmt;
        if (is_body) {
            pdt_cursor_range(reader, child, &from, &to);
            pdt_begin_directives(&body, from.file, from.line, to.line);
        }
        if (is_body || (has_initialisers && reader->clang->isExpression(child.kind)))
            pdt_walk(&body, child, false, PDT_USE_READ);
    }
    pdt_drop(reader, first);
    if (has_initialisers)
        pdt_walk_constructor(&body, routine);
    pdt_put_directives(&body);
    struct pm_buf *buf = pdt_group_buf(reader, group);
    pm_buf_add_byte(buf, PDT_BODY);
    pdt_put_key(buf, key);
    pm_buf_add_uleb(buf, body.n_statements);
    pm_buf_add_uleb(buf, body.n_returns);
    put_range(buf, from, to);
    end_body(&body);
}

void pdt_read_initial_value(struct pdt_reader *reader, uint32_t group, CXCursor variable)
{
    struct pdt_body body = begin_body(reader, group, variable);
    walk_children(&body, variable, PDT_USE_READ);
    if (body.records.len)
        pm_buf_add_byte(pdt_group_buf(reader, group), PDT_OUTSIDE);
    end_body(&body);
}
