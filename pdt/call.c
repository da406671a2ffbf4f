/* Calls: what is called, and how that is known. */
#include "body.h"

CXCursor pdt_strip(struct pdt_reader *reader, CXCursor cursor)
{
    for (int i = 0; i < 64; i++) {
        if (cursor.kind == CXCursor_GenericSelectionExpr &&
            pdt_choose_branch(reader, cursor, &cursor))
            continue;
        switch ((int)cursor.kind) {
        case CXCursor_UnexposedExpr:
        case CXCursor_ParenExpr:
        case CXCursor_CStyleCastExpr:
        case CXCursor_CXXStaticCastExpr:
        case CXCursor_CXXReinterpretCastExpr:
        case CXCursor_CXXConstCastExpr:
        case CXCursor_CXXFunctionalCastExpr:
            break;
        default:
            return cursor;
        }
        uint32_t first, n = pdt_children(reader, cursor, &first);
        CXCursor last = n ? reader->stack[first + n - 1] : cursor;
        pdt_drop(reader, first);
        if (!n || !reader->clang->isExpression(last.kind))
            return cursor;
        cursor = last;
    }
    return cursor;
}

static bool is_routine(enum CXCursorKind kind)
{
    return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
           kind == CXCursor_Constructor || kind == CXCursor_Destructor ||
           kind == CXCursor_ConversionFunction || kind == CXCursor_FunctionTemplate;
}

/* The type of function that an expression is, or points to; without typedefs. */
static uint64_t function_type(struct pdt_body *body, CXCursor callee)
{
    const struct pdt_clang *clang = body->reader->clang;
    CXType type = clang->getCanonicalType(clang->getCursorType(callee));
    if (type.kind == CXType_Pointer)
        type = clang->getCanonicalType(clang->getPointeeType(type));
    return type.kind == CXType_FunctionProto || type.kind == CXType_FunctionNoProto
               ? pdt_type(body->reader, body->group, type)
               : 0;
}

static void put_call(struct pdt_body *body, CXCursor call, enum pdt_call_kind kind, uint64_t key,
                     uint64_t type, const char *text)
{
    struct pdt_place place = pdt_cursor_place(body->reader, call);
    struct pm_buf *buf = pdt_begin_record(body, PDT_CALL, place);
    pm_buf_add_uleb(buf, kind);
    pm_buf_add_uleb(buf, body->loop);
    pdt_put_key(buf, key);
    pdt_put_key(buf, type);
    pdt_put_string(buf, text);
    pm_buf_add_uleb(buf, place.shown_line);
    pm_buf_add_uleb(buf, place.column);
}

/* Texts of arguments are kept of MPI's functions only. */
static void put_arguments(struct pdt_body *body, const char *name, uint32_t first, uint32_t n)
{
    bool is_mpi = !strncmp(name, "MPI_", 4) || !strncmp(name, "PMPI_", 5);
    char text[PDT_TEXT_BYTES + 1];
    pm_buf_add_uleb(&body->records, is_mpi ? n : 0);
    for (uint32_t i = 0; is_mpi && i < n; i++) {
        CXCursor argument = body->reader->stack[first + i];
        pdt_text_of(body->reader, argument, argument, text);
        pdt_put_string(&body->records, text);
    }
}

/* An argument that C++ takes by reference may be written there. */
static enum pdt_use use_of_argument(struct pdt_reader *reader, CXType function, uint32_t i)
{
    if (!reader->is_cxx)
        return PDT_USE_READ;
    CXType type = reader->clang->getCanonicalType(reader->clang->getArgType(function, i));
    bool is_written =
        (type.kind == CXType_LValueReference || type.kind == CXType_RValueReference) &&
        !reader->clang->isConstQualifiedType(reader->clang->getPointeeType(type));
    return is_written ? PDT_USE_UNKNOWN : PDT_USE_READ;
}

static bool names_routine(struct pdt_reader *reader, CXCursor child, CXCursor callee)
{
    CXCursor named = pdt_strip(reader, child);
    return (named.kind == CXCursor_DeclRefExpr || named.kind == CXCursor_MemberRefExpr) &&
           reader->clang->equalCursors(reader->clang->getCursorReferenced(named), callee);
}

/* Of x.f() it is what x is; x may be changed where f is not const. */
static enum pdt_use use_of_object(struct pdt_reader *reader, CXCursor callee, CXCursor object)
{
    CXType type = reader->clang->getCanonicalType(reader->clang->getCursorType(object));
    if (type.kind == CXType_Pointer || reader->clang->CXXMethod_isConst(callee))
        return PDT_USE_READ;
    return reader->clang->CXXMethod_isStatic(callee) ? PDT_USE_ADDRESS : PDT_USE_UNKNOWN;
}

/* The callee's own name is nothing that is read. */
static void walk_callee(struct pdt_body *body, CXCursor child, CXCursor callee)
{
    struct pdt_reader *reader = body->reader;
    CXCursor named = pdt_strip(reader, child);
    if (named.kind != CXCursor_MemberRefExpr)
        return;
    uint32_t first, n = pdt_children(reader, named, &first);
    for (uint32_t i = 0; i < n; i++)
        pdt_walk(body, reader->stack[first + i], false,
                 use_of_object(reader, callee, reader->stack[first + i]));
    pdt_drop(reader, first);
}

/* Of an instance of a template: the template, whose body is what is there to see. The template of
 * a member may be one of an instance, too. */
static CXCursor as_written(struct pdt_reader *reader, CXCursor callee)
{
    for (int i = 0; i < 64; i++) {
        CXCursor written = reader->clang->getSpecializedCursorTemplate(callee);
        if (!is_routine(written.kind))
            return callee;
        struct pdt_place a = pdt_cursor_place(reader, callee);
        struct pdt_place b = pdt_cursor_place(reader, written);
        if (a.file != b.file || a.offset != b.offset)
            return callee;
        callee = written;
    }
    return callee;
}

static void put_routine_call(struct pdt_body *body, CXCursor call, CXCursor callee)
{
    struct pdt_reader *reader = body->reader;
    callee = pdt_behind_tgmath(reader, callee);
    struct pdt_entity *entity = pdt_entity(reader, body->group, as_written(reader, callee));
    bool is_virtual = reader->clang->Cursor_isDynamicCall(call) != 0;
    if (entity)
        put_call(body, call, is_virtual ? PDT_VIRTUAL : PDT_DIRECT, entity->key, 0,
                 pdt_string(reader, reader->clang->getCursorSpelling(callee)));
}

void pdt_put_call_of(struct pdt_body *body, CXCursor where, CXCursor callee, bool is_virtual)
{
    struct pdt_reader *reader = body->reader;
    struct pdt_entity *entity = pdt_entity(reader, body->group, as_written(reader, callee));
    if (!entity)
        return;
    put_call(body, where, is_virtual ? PDT_VIRTUAL : PDT_DIRECT, entity->key, 0,
             pdt_string(reader, reader->clang->getCursorSpelling(callee)));
    pm_buf_add_uleb(&body->records, 0);
}

/* An argument that the call leaves out has the declaration's value. */
static bool walk_default_argument(struct pdt_body *body, CXCursor callee, uint32_t i,
                                  CXCursor argument)
{
    struct pdt_reader *reader = body->reader;
    uint32_t first, n = pdt_children(reader, argument, &first);
    pdt_drop(reader, first);
    int n_parameters = reader->clang->Cursor_getNumArguments(callee);
    if (n || argument.kind != CXCursor_UnexposedExpr || (int)i >= n_parameters)
        return false;
    pdt_walk_initial_value(body, reader->clang->Cursor_getArgument(callee, i));
    return true;
}

static void walk_routine_call(struct pdt_body *body, CXCursor call, CXCursor callee, uint32_t first,
                              uint32_t n)
{
    struct pdt_reader *reader = body->reader;
    const char *name = pdt_string(reader, reader->clang->getCursorSpelling(callee));
    CXType type = reader->clang->getCursorType(callee);
    uint32_t has_name = n > 0 && names_routine(reader, reader->stack[first], callee);
    put_routine_call(body, call, callee);
    put_arguments(body, name, first + has_name, n - has_name);
    if (has_name)
        walk_callee(body, reader->stack[first], callee);
    for (uint32_t i = has_name; i < n && !reader->failed; i++) {
        CXCursor argument = reader->stack[first + i];
        if (!walk_default_argument(body, callee, i - has_name, argument))
            pdt_walk(body, argument, false, use_of_argument(reader, type, i - has_name));
    }
    pdt_walk_implicit_constructor(body, callee);
}

/* --- operators of classes: children are the first operand, the operator, and the others --- */

const char *pdt_operator_of(struct pdt_reader *reader, CXCursor call)
{
    CXCursor callee = reader->clang->getCursorReferenced(call);
    if (!is_routine(callee.kind))
        return "";
    const char *name = pdt_string(reader, reader->clang->getCursorSpelling(callee));
    if (strncmp(name, "operator", 8) != 0)
        return "";
    uint32_t first, n = pdt_children(reader, call, &first);
    bool is_one = n >= 2 && !names_routine(reader, reader->stack[first], callee) &&
                  names_routine(reader, reader->stack[first + 1], callee);
    bool is_binary = n > 2 && !strcmp(name + 8, "*");
    pdt_drop(reader, first);
    if (is_one && is_binary)
        return "binary *";
    return is_one ? name + 8 : "";
}

void pdt_put_call_of_operator(struct pdt_body *body, CXCursor call)
{
    put_routine_call(body, call, body->reader->clang->getCursorReferenced(call));
    pm_buf_add_uleb(&body->records, 0);
}

/* How the first operand is used, by what the operator means everywhere, or else by its type. */
static enum pdt_use use_of_operand(struct pdt_reader *reader, CXCursor callee, CXCursor operand)
{
    const char *text = pdt_string(reader, reader->clang->getCursorSpelling(callee)) + 8;
    size_t len = strlen(text);
    bool compares = len == 2 && strchr("=!<>", *text) != NULL;
    if (!strcmp(text, "="))
        return PDT_USE_WRITE;
    if (!strcmp(text, "++") || !strcmp(text, "--") || (len && text[len - 1] == '=' && !compares))
        return PDT_USE_UPDATE;
    if (callee.kind == CXCursor_CXXMethod)
        return use_of_object(reader, callee, operand);
    return use_of_argument(reader, reader->clang->getCursorType(callee), 0);
}

static void walk_operator_call(struct pdt_body *body, CXCursor call, CXCursor callee,
                               uint32_t first, uint32_t n)
{
    struct pdt_reader *reader = body->reader;
    CXType type = reader->clang->getCursorType(callee);
    uint32_t is_free = callee.kind != CXCursor_CXXMethod;
    CXCursor operand = reader->stack[first];
    pdt_put_call_of_operator(body, call);
    pdt_walk(body, operand, false, use_of_operand(reader, callee, operand));
    for (uint32_t i = 2; i < n && !reader->failed; i++)
        pdt_walk(body, reader->stack[first + i], false,
                 use_of_argument(reader, type, i - 2 + is_free));
}

/* Of f(i)(x) libclang names f; what is called is the pointer that f returns. */
static bool is_of_result(struct pdt_body *body, CXCursor callee, uint32_t first, uint32_t n)
{
    struct pdt_reader *reader = body->reader;
    if (!n || callee.kind == CXCursor_Constructor)
        return false;
    CXCursor called = pdt_strip(reader, reader->stack[first]);
    return called.kind == CXCursor_CallExpr && !names_routine(reader, called, callee) &&
           function_type(body, called);
}

/* x.f of a template's x: f may change it. */
static void walk_other_callee(struct pdt_body *body, CXCursor callee, uint64_t type)
{
    struct pdt_reader *reader = body->reader;
    CXCursor named = pdt_strip(reader, callee);
    if (type || named.kind != CXCursor_MemberRefExpr) {
        pdt_walk(body, callee, false, PDT_USE_READ);
        return;
    }
    uint32_t first, n = pdt_children(reader, named, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++)
        pdt_walk(body, reader->stack[first + i], false,
                 use_of_object(reader, named, reader->stack[first + i]));
    pdt_drop(reader, first);
}

/* (x.*p)(): the type of p says what may be called. 0: it is another call. */
static uint64_t walk_member_pointer(struct pdt_body *body, CXCursor callee)
{
    struct pdt_reader *reader = body->reader;
    const struct pdt_clang *clang = reader->clang;
    CXCursor operation = pdt_strip(reader, callee);
    uint32_t first, n = 0;
    uint64_t key = 0;
    if (operation.kind != CXCursor_BinaryOperator)
        return 0;
    n = pdt_children(reader, operation, &first);
    CXCursor object = n == 2 ? reader->stack[first] : operation;
    CXCursor pointer = n == 2 ? reader->stack[first + 1] : operation;
    pdt_drop(reader, first);
    CXType type = clang->getCanonicalType(clang->getCursorType(pointer));
    if (n == 2 && type.kind == CXType_MemberPointer)
        key = pdt_type(reader, body->group, type);
    if (!key)
        return 0;
    pdt_walk(body, object, false, use_of_object(reader, operation, object));
    pdt_walk(body, pointer, false, PDT_USE_READ);
    return key;
}

static void put_pointer_call(struct pdt_body *body, CXCursor call, CXCursor callee, uint64_t type)
{
    char text[PDT_TEXT_BYTES + 1];
    pdt_text_of(body->reader, callee, callee, text);
    put_call(body, call, type ? PDT_POINTER : PDT_DEPENDENT, 0, type, text);
    pm_buf_add_uleb(&body->records, 0);
}

/* A copy that nobody wrote a constructor for, of a lambda for example. */
static bool is_copy(struct pdt_reader *reader, CXCursor call, CXCursor value)
{
    const struct pdt_clang *clang = reader->clang;
    CXType to = clang->getCanonicalType(clang->getCursorType(call));
    CXType from = clang->getCanonicalType(clang->getCursorType(value));
    return to.kind == CXType_Record && from.kind == CXType_Record &&
           clang->equalCursors(clang->getTypeDeclaration(to), clang->getTypeDeclaration(from));
}

static void walk_other_call(struct pdt_body *body, CXCursor call, uint32_t first, uint32_t n)
{
    struct pdt_reader *reader = body->reader;
    CXCursor callee = n ? reader->stack[first] : call;
    if (n == 1 && is_copy(reader, call, callee)) {
        pdt_walk(body, callee, false, PDT_USE_READ);
        return;
    }
    uint64_t type = n ? walk_member_pointer(body, callee) : 0;
    bool is_walked = type != 0;
    if (n && !type)
        type = function_type(body, callee);
    put_pointer_call(body, call, callee, type);
    if (n && !is_walked)
        walk_other_callee(body, callee, type);
    for (uint32_t i = 1; i < n && !reader->failed; i++)
        pdt_walk(body, reader->stack[first + i], false,
                 type || !reader->is_cxx ? PDT_USE_READ : PDT_USE_UNKNOWN);
}

/* What libclang names, or the branch of a _Generic. */
static CXCursor callee_of(struct pdt_reader *reader, CXCursor call)
{
    CXCursor callee = reader->clang->getCursorReferenced(call);
    if (is_routine(callee.kind) || reader->is_cxx)
        return callee;
    uint32_t first, n = pdt_children(reader, call, &first);
    CXCursor named = n ? pdt_strip(reader, reader->stack[first]) : call;
    pdt_drop(reader, first);
    return named.kind == CXCursor_DeclRefExpr ? reader->clang->getCursorReferenced(named) : callee;
}

void pdt_walk_call(struct pdt_body *body, CXCursor call, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    CXCursor callee = callee_of(reader, call);
    const char *operation = pdt_operator_of(reader, call);
    if (is_routine(callee.kind) && pdt_walk_element(body, call, use))
        return;
    uint32_t first, n = pdt_children(reader, call, &first);
    if (!is_routine(callee.kind) || (!*operation && is_of_result(body, callee, first, n))) {
        walk_other_call(body, call, first, n);
    } else if (!strcmp(operation, "->")) {
        pdt_put_call_of_operator(body, call);
        pdt_walk_base(body, reader->stack[first]);
    } else if (*operation) {
        walk_operator_call(body, call, callee, first, n);
    } else {
        walk_routine_call(body, call, callee, first, n);
    }
    pdt_drop(reader, first);
}
