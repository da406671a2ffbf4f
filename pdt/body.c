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

void pdt_put_range(struct pm_buf *buf, struct pdt_place from, struct pdt_place to)
{
    pm_buf_add_uleb(buf, from.shown_line);
    pm_buf_add_uleb(buf, from.column);
    pm_buf_add_uleb(buf, to.shown_line);
    pm_buf_add_uleb(buf, to.column);
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
    bool is_do = cursor.kind == CXCursor_DoStmt, is_loop = pdt_loop_kind(cursor.kind) >= 0;
    if (reader->clang->isStatement(cursor.kind))
        use = PDT_USE_READ;
    for (uint32_t i = 0; i < n && !reader->failed; i++) {
        CXCursor child = reader->stack[first + i];
        /* What is a statement by its kind is one wherever it is, but for declarations in heads. */
        bool by_kind = reader->clang->isStatement(child.kind) && child.kind != CXCursor_DeclStmt;
        if (is_loop && pdt_is_done_once(reader, cursor, child, i, n))
            continue;
        pdt_walk(body, child, is_do ? i == 0 : i >= statements || by_kind, use);
    }
    pdt_drop(reader, first);
}

/* What a range-for goes through is not read as a whole: its elements are. In a template they may
 * not be known. */
static void walk_range(struct pdt_body *body, CXCursor range, CXCursor variable)
{
    CXCursor named = pdt_strip(body->reader, range);
    bool is_named = named.kind == CXCursor_DeclRefExpr || named.kind == CXCursor_MemberRefExpr;
    CXType type = body->reader->clang->getCursorType(variable);
    bool is_known = variable.kind != CXCursor_VarDecl || pdt_has_value(body->reader, variable);
    if (!is_known && pdt_is_written_through(body->reader, type))
        pdt_walk(body, range, false, PDT_USE_UNKNOWN);
    else if (is_known && is_named)
        pdt_walk_base(body, named);
    else
        pdt_walk(body, range, false, PDT_USE_READ);
}

/* What a loop does once, before it begins. */
static void walk_head(struct pdt_body *body, CXCursor loop)
{
    struct pdt_reader *reader = body->reader;
    bool is_range = loop.kind == CXCursor_CXXForRangeStmt;
    if (is_range)
        pdt_walk_hidden_head(body, loop);
    uint32_t first, n = pdt_children(reader, loop, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++) {
        CXCursor child = reader->stack[first + i];
        if (!pdt_is_done_once(reader, loop, child, i, n))
            continue;
        if (is_range && reader->clang->isExpression(child.kind))
            walk_range(body, child, reader->stack[first]);
        else
            pdt_walk(body, child, false, PDT_USE_READ);
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
    pdt_walk_initial_value(body, cursor);
    pdt_walk_end_of_scope(body, cursor);
}

static void walk_each(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    uint32_t first, n = pdt_children(reader, cursor, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++)
        pdt_walk(body, reader->stack[first + i], false, use);
    pdt_drop(reader, first);
}

/* (decltype(f()))x calls x only. */
static void walk_last(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    uint32_t first, n = pdt_children(reader, cursor, &first);
    if (n)
        pdt_walk(body, reader->stack[first + n - 1], false, use);
    pdt_drop(reader, first);
}

static void walk_condition(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    uint32_t first, n = pdt_children(reader, cursor, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++)
        pdt_walk(body, reader->stack[first + i], false, i ? use : PDT_USE_READ);
    pdt_drop(reader, first);
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

/* The body, without a type that is written behind the parameters. */
static void walk_lambda(struct pdt_body *body, CXCursor lambda)
{
    struct pdt_reader *reader = body->reader;
    enum pdt_use outer = body->return_use;
    walk_captures(body, lambda);
    body->return_use = PDT_USE_READ;
    uint32_t first, n = pdt_children(reader, lambda, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++)
        if (reader->clang->isStatement(reader->stack[first + i].kind))
            pdt_walk(body, reader->stack[first + i], false, PDT_USE_READ);
    pdt_drop(reader, first);
    body->return_use = outer;
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
    case CXCursor_SwitchStmt:
        pdt_walk_hidden_head(body, cursor);
        break;
    case CXCursor_CXXDeleteExpr:
        pdt_walk_delete(body, cursor);
        break;
    case CXCursor_LambdaExpr:
        walk_lambda(body, cursor);
        return;
    case CXCursor_ReturnStmt:
        body->n_returns++;
        walk_each(body, cursor, body->return_use);
        return;
    case CXCursor_ConditionalOperator:
        walk_condition(body, cursor, use);
        return;
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXConstCastExpr:
        walk_last(body, cursor, use);
        return;
    case CXCursor_GenericSelectionExpr:
        pdt_walk_selection(body, cursor, use);
        return;
    case CXCursor_CompoundLiteralExpr:
    case CXCursor_InitListExpr:
        use = PDT_USE_READ;
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
    int kind = pdt_loop_kind(cursor.kind);
    if (reader->depth >= MAX_DEPTH) {
        reader->is_cut = true;
        return;
    }
    reader->depth++;
    if (is_statement && cursor.kind != CXCursor_CompoundStmt)
        body->n_statements++;
    if (is_statement && body->first_omp < body->end_omp)
        pdt_end_of_directive(body, cursor);
    if (kind >= 0) {
        walk_head(body, cursor);
        pdt_begin_loop(body, cursor, kind);
    }
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

/* What is bound to a reference of this type may be written by it. */
static enum pdt_use use_of_value_of(struct pdt_reader *reader, CXType type)
{
    return reader->is_cxx && pdt_is_written_through(reader, type) ? PDT_USE_UNKNOWN : PDT_USE_READ;
}

void pdt_read_body(struct pdt_reader *reader, uint32_t group, CXCursor routine, uint64_t key)
{
    struct pdt_place from = {0}, to = {0};
    struct pdt_body body = begin_body(reader, group, routine);
    bool has_initialisers = is_constructor(reader, routine);
    enum pdt_use use = PDT_USE_READ;
    body.return_use = use_of_value_of(
        reader, reader->clang->getResultType(reader->clang->getCursorType(routine)));
    uint32_t first, n = pdt_children(reader, routine, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++) {
        CXCursor child = body_as_written(reader, reader->stack[first + i]);
        bool is_body = child.kind == CXCursor_CompoundStmt || child.kind == CXCursor_CXXTryStmt;
        if (is_body) {
            pdt_cursor_range(reader, child, &from, &to);
            pdt_begin_directives(&body, from.file, from.line, to.line);
        }
        if (is_body || (has_initialisers && reader->clang->isExpression(child.kind)))
            pdt_walk(&body, child, false, is_body ? PDT_USE_READ : use);
        use = child.kind == CXCursor_MemberRef
                  ? use_of_value_of(reader, reader->clang->getCursorType(child))
                  : PDT_USE_READ;
    }
    pdt_drop(reader, first);
    if (has_initialisers)
        pdt_walk_constructor(&body, routine);
    if (routine.kind == CXCursor_Destructor)
        pdt_walk_destructor(&body, routine);
    pdt_put_directives(&body);
    struct pm_buf *buf = pdt_group_buf(reader, group);
    pm_buf_add_byte(buf, PDT_BODY);
    pdt_put_key(buf, key);
    pm_buf_add_uleb(buf, body.n_statements);
    pm_buf_add_uleb(buf, body.n_returns);
    pdt_put_range(buf, from, to);
    end_body(&body);
}

void pdt_read_initial_value(struct pdt_reader *reader, uint32_t group, CXCursor variable)
{
    struct pdt_body body = begin_body(reader, group, variable);
    pdt_walk_initial_value(&body, variable);
    if (body.records.len)
        pm_buf_add_byte(pdt_group_buf(reader, group), PDT_OUTSIDE);
    end_body(&body);
}
