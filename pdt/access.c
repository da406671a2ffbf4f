/* What expressions read and write: arrays, what pointers point to, members. */
#include "body.h"

/* Values of enum CX_BinaryOperatorKind and CXUnaryOperatorKind, which the headers of version 14 do
 * not have. */
enum { ASSIGN = 22, POST_INC = 1, PRE_DEC = 4, ADDRESS_OF = 5, DEREFERENCE = 6 };

/* --- operators --- */

/* Before version 17 libclang does not say which operator it is: the text does, where no macro lies
 * between. '?': it does not. */
static char operator_text(struct pdt_reader *reader, struct pdt_place at, struct pdt_place end)
{
    char none[PDT_TEXT_BYTES + 1];
    pdt_source_text(reader, at, at, none);
    if (!reader->text || at.file != reader->text_file || at.file != end.file)
        return '?';
    for (unsigned i = at.offset; i < end.offset && i + 1 < reader->text_len; i++) {
        char c = reader->text[i], next = reader->text[i + 1];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ')' || c == '\\')
            continue;
        if (c == '/' && (next == '/' || next == '*'))
            return '?';
        return c == '=' && next != '=' ? '=' : 'o';
    }
    return '?';
}

static enum pdt_use use_of_left(struct pdt_reader *reader, CXCursor operation, uint32_t first,
                                enum pdt_use use)
{
    struct pdt_place from, left_to, right_from, to;
    if (operation.kind == CXCursor_CompoundAssignOperator)
        return PDT_USE_UPDATE;
    if (reader->clang->binary_operator)
        return reader->clang->binary_operator(operation) == ASSIGN ? PDT_USE_WRITE : use;
    pdt_cursor_range(reader, reader->stack[first], &from, &left_to);
    pdt_cursor_range(reader, reader->stack[first + 1], &right_from, &to);
    char text = operator_text(reader, left_to, right_from);
    if (text == '?')
        return PDT_USE_UNKNOWN;
    return text == '=' ? PDT_USE_WRITE : use;
}

static int unary_operator(struct pdt_reader *reader, CXCursor operation)
{
    if (reader->clang->unary_operator)
        return reader->clang->unary_operator(operation);
    struct pdt_place from, to;
    char text[PDT_TEXT_BYTES + 1];
    pdt_cursor_range(reader, operation, &from, &to);
    pdt_source_text(reader, from, to, text);
    if (!strncmp(text, "++", 2) || !strncmp(text, "--", 2))
        return POST_INC;
    if (*text == '*' || *text == ':') /* of *p++, too; a range-for's is at its colon */
        return DEREFERENCE;
    if (*text == '&')
        return ADDRESS_OF;
    size_t len = strlen(text);
    bool is_behind = len > 2 && !strchr("-+!~", *text) &&
                     (!strcmp(text + len - 2, "++") || !strcmp(text + len - 2, "--"));
    return is_behind ? POST_INC : 0;
}

/* --- what an expression is of --- */

static bool is_operator(struct pdt_reader *reader, CXCursor cursor, const char *text)
{
    return cursor.kind == CXCursor_CallExpr && !strcmp(pdt_operator_of(reader, cursor), text);
}

static bool is_subscript(struct pdt_reader *reader, CXCursor cursor)
{
    return cursor.kind == CXCursor_ArraySubscriptExpr || is_operator(reader, cursor, "[]");
}

static bool is_element(struct pdt_reader *reader, CXCursor cursor)
{
    return cursor.kind == CXCursor_UnaryOperator || is_subscript(reader, cursor) ||
           is_operator(reader, cursor, "*") || is_operator(reader, cursor, "->");
}

static bool is_of_container(struct pdt_reader *reader, CXCursor call)
{
    return pdt_element_of(reader, reader->clang->getCursorReferenced(call)) != PDT_NO_ELEMENT;
}

/* The variable or field that an expression is an element of, or points into. */
static struct pdt_entity *base_of(struct pdt_body *body, CXCursor cursor)
{
    struct pdt_reader *reader = body->reader;
    for (int i = 0; i < 64; i++) {
        cursor = pdt_strip(reader, cursor);
        if (cursor.kind == CXCursor_DeclRefExpr && pdt_range_of(reader, cursor, &cursor))
            continue;
        if (cursor.kind == CXCursor_CallExpr && is_of_container(reader, cursor)) {
            cursor = pdt_object_of(reader, cursor);
            continue;
        }
        if (cursor.kind == CXCursor_DeclRefExpr || cursor.kind == CXCursor_MemberRefExpr) {
            struct pdt_entity *entity =
                pdt_entity(reader, body->group, reader->clang->getCursorReferenced(cursor));
            return entity && !entity->is_routine ? entity : NULL;
        }
        if (cursor.kind != CXCursor_BinaryOperator && !is_element(reader, cursor))
            return NULL;
        uint32_t first, n = pdt_children(reader, cursor, &first), take = 0;
        for (uint32_t k = 0; k < n && cursor.kind == CXCursor_BinaryOperator; k++) {
            CXType type = reader->clang->getCanonicalType(
                reader->clang->getCursorType(reader->stack[first + k]));
            if (type.kind == CXType_Pointer) {
                take = k;
                break;
            }
        }
        CXCursor next = n ? reader->stack[first + take] : cursor;
        pdt_drop(reader, first);
        if (!n)
            return NULL;
        cursor = next;
    }
    return NULL;
}

static uint64_t key_of_base(struct pdt_body *body, CXCursor cursor)
{
    struct pdt_entity *entity = base_of(body, cursor);
    return entity ? entity->key : 0;
}

static void put_access(struct pdt_body *body, CXCursor cursor, uint64_t variable, uint64_t base,
                       enum pdt_reach reach, enum pdt_use use, const char *subscripts)
{
    struct pdt_place place = pdt_cursor_place(body->reader, body->name ? *body->name : cursor);
    struct pm_buf *buf = pdt_begin_record(body, PDT_ACCESS, place);
    pdt_put_key(buf, variable);
    pdt_put_key(buf, base);
    pm_buf_add_uleb(buf, body->loop);
    pm_buf_add_uleb(buf, reach);
    pm_buf_add_uleb(buf, (unsigned)use);
    pdt_put_string(buf, subscripts);
    pm_buf_add_uleb(buf, place.shown_line);
    pm_buf_add_uleb(buf, place.column);
}

/* What is evaluated when a reference is bound is not, when it is used. */
static void walk_now(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    if (!body->name)
        pdt_walk(body, cursor, false, use);
}

/* --- members --- */

static void walk_member(struct pdt_body *body, CXCursor cursor, enum pdt_use own, enum pdt_use use);

/* *it, v.back() */
static bool is_element_of_class(struct pdt_reader *reader, CXCursor call)
{
    if (call.kind != CXCursor_CallExpr)
        return false;
    enum pdt_element element = pdt_element_of(reader, reader->clang->getCursorReferenced(call));
    return is_operator(reader, call, "*") || element == PDT_ELEMENT_AT ||
           element == PDT_ELEMENT_AT_END;
}

/* What a member is of, and how it is used. Of a[i].x.y the element a[i] is what is used; a pointer
 * in front of -> is read; g.x only says where x is. */
static void walk_object(struct pdt_body *body, CXCursor object, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    CXCursor named = pdt_strip(reader, object);
    CXType type = reader->clang->getCanonicalType(reader->clang->getCursorType(object));
    bool is_pointer = type.kind == CXType_Pointer;
    if (body->name && !is_pointer)
        pdt_walk_referent(body, named, use);
    else if (named.kind == CXCursor_MemberRefExpr && !is_pointer)
        walk_member(body, named, PDT_USE_ADDRESS, use);
    else if (named.kind == CXCursor_UnaryOperator || is_element_of_class(reader, named) ||
             is_subscript(reader, named))
        walk_now(body, named, is_pointer ? PDT_USE_READ : use);
    else if (named.kind == CXCursor_DeclRefExpr && !is_pointer)
        pdt_walk_reference(body, named, use);
    else
        walk_now(body, object, PDT_USE_ADDRESS);
}

static void walk_objects(struct pdt_body *body, CXCursor member, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    uint32_t first, n = pdt_children(reader, member, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++)
        walk_object(body, reader->stack[first + i], use);
    pdt_drop(reader, first);
}

/* --- subscripts --- */

/* 2[a] is a[2]. */
static bool is_turned(struct pdt_reader *reader, CXCursor subscript, CXCursor first)
{
    CXType type = reader->clang->getCanonicalType(reader->clang->getCursorType(first));
    return subscript.kind == CXCursor_ArraySubscriptExpr && type.kind >= CXType_Bool &&
           type.kind <= CXType_Int128;
}

/* a[i][j]: the innermost base, and "[i][j]". Subscripts are walked on the way. Children of a
 * class's operator are the object, the operator, and the subscripts. */
static CXCursor walk_subscripts(struct pdt_body *body, CXCursor cursor, struct pm_buf *text)
{
    struct pdt_reader *reader = body->reader;
    char part[PDT_TEXT_BYTES + 1];
    uint32_t first, n = pdt_children(reader, cursor, &first);
    uint32_t index = cursor.kind == CXCursor_CallExpr ? 2 : 1;
    if (n == 2 && is_turned(reader, cursor, reader->stack[first])) {
        CXCursor turned = reader->stack[first];
        reader->stack[first] = reader->stack[first + 1];
        reader->stack[first + 1] = turned;
    }
    CXCursor base = n ? reader->stack[first] : cursor, inner = pdt_strip(reader, base);
    if (n > index && is_subscript(reader, inner))
        base = walk_subscripts(body, inner, text);
    if (n > index) {
        pdt_text_of(reader, reader->stack[first + index], reader->stack[first + n - 1], part);
        pm_buf_printf(text, "[%s]", *part ? part : "?"); /* a macro's text is elsewhere */
    }
    if (cursor.kind == CXCursor_CallExpr && !body->name)
        pdt_put_call_of_operator(body, cursor);
    for (uint32_t i = index; i < n && !reader->failed; i++)
        walk_now(body, reader->stack[first + i], PDT_USE_READ);
    pdt_drop(reader, first);
    return base;
}

/* What lies below the base: p->a[i] reads p; g.a[i] only says where a is. use: of the element. */
static void walk_base(struct pdt_body *body, CXCursor base, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    CXCursor named = pdt_strip(reader, base);
    CXType type = reader->clang->getCanonicalType(reader->clang->getCursorType(named));
    use = type.kind == CXType_Pointer ? PDT_USE_READ : use;
    if (named.kind == CXCursor_DeclRefExpr)
        pdt_walk_reference(body, named, use);
    else if (named.kind == CXCursor_MemberRefExpr)
        walk_objects(body, named, use);
    else
        walk_now(body, named, PDT_USE_READ);
}

void pdt_walk_base(struct pdt_body *body, CXCursor base)
{
    walk_base(body, base, PDT_USE_READ);
}

void pdt_walk_subscript(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    CXCursor base = walk_subscripts(body, cursor, &text);
    uint64_t key = key_of_base(body, base);
    CXCursor named = pdt_strip(body->reader, base);
    uint64_t outer = 0;
    if (named.kind == CXCursor_MemberRefExpr) {
        uint32_t first, n = pdt_children(body->reader, named, &first);
        CXCursor around = n ? body->reader->stack[first] : named;
        pdt_drop(body->reader, first);
        outer = n ? key_of_base(body, around) : 0;
    }
    if (key)
        put_access(body, cursor, key, outer, PDT_SUBSCRIPT, use, text.data ? text.data : "");
    body->reader->failed |= text.failed;
    pm_buf_release(&text);
    walk_base(body, base, use);
}

/* What a range-for goes through was looked at before. */
void pdt_walk_dereference(struct pdt_body *body, CXCursor cursor, CXCursor object, enum pdt_use use)
{
    CXCursor range;
    uint64_t key = key_of_base(body, object);
    bool is_range = pdt_range_of(body->reader, object, &range);
    if (key && !(is_range && use == PDT_USE_ADDRESS))
        put_access(body, cursor, key, 0, PDT_DEREFERENCE, use, "");
    if (!is_range)
        pdt_walk_base(body, object);
    else if (body->name)
        walk_base(body, range, use);
}

void pdt_walk_star(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    uint32_t first, n = pdt_children(reader, cursor, &first);
    CXCursor object = n ? reader->stack[first] : cursor;
    pdt_drop(reader, first);
    if (n && unary_operator(reader, cursor) == DEREFERENCE)
        pdt_walk_dereference(body, cursor, object, use);
}

/* v.at(i), v.front(): an element, as v[i] and *v are. */
static void walk_method_element(struct pdt_body *body, CXCursor call, enum pdt_element element,
                                enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    char text[PDT_TEXT_BYTES + 1] = "";
    struct pm_buf subscripts = PM_BUF_INIT(1 << 20);
    CXCursor object = pdt_object_of(reader, call);
    uint64_t key = key_of_base(body, object);
    uint32_t first, n = pdt_children(reader, call, &first);
    if (n > 1)
        pdt_text_of(reader, reader->stack[first + 1], reader->stack[first + n - 1], text);
    pm_buf_printf(&subscripts, "[%s]", *text ? text : "?");
    if (key && element == PDT_ELEMENT_AT)
        put_access(body, call, key, 0, PDT_SUBSCRIPT, use, subscripts.data ? subscripts.data : "");
    else if (key)
        put_access(body, call, key, 0, PDT_DEREFERENCE, use, "");
    if (!body->name)
        pdt_put_call_of_operator(body, call);
    for (uint32_t i = 1; i < n && !reader->failed; i++)
        walk_now(body, reader->stack[first + i], PDT_USE_READ);
    pdt_drop(reader, first);
    reader->failed |= subscripts.failed;
    pm_buf_release(&subscripts);
    walk_base(body, object, use);
}

bool pdt_walk_element(struct pdt_body *body, CXCursor call, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    CXCursor callee = reader->clang->getCursorReferenced(call);
    const char *operation = pdt_operator_of(reader, call);
    enum pdt_element element = PDT_NO_ELEMENT;
    if (!strcmp(operation, "[]")) {
        pdt_walk_subscript(body, call, use);
        return true;
    }
    if (!strcmp(operation, "*")) {
        if (!body->name)
            pdt_put_call_of_operator(body, call);
        uint32_t first;
        pdt_children(reader, call, &first);
        CXCursor object = reader->stack[first];
        pdt_drop(reader, first);
        pdt_walk_dereference(body, call, object, use);
        return true;
    }
    element = *operation ? element : pdt_element_of(reader, callee);
    if (element != PDT_ELEMENT_AT && element != PDT_ELEMENT_AT_END)
        return false;
    walk_method_element(body, call, element, use);
    return true;
}

/* --- members, dereferences, names --- */

static void walk_method(struct pdt_body *body, CXCursor method)
{
    struct pdt_entity *entity = pdt_entity(body->reader, body->group, method);
    if (!entity)
        return;
    pm_buf_add_byte(&body->records, PDT_TAKEN);
    pdt_put_key(&body->records, entity->key);
}

/* own: of the member itself, use: of what lies below it. */
static void walk_member(struct pdt_body *body, CXCursor cursor, enum pdt_use own, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    CXCursor field = reader->clang->getCursorReferenced(cursor);
    struct pdt_entity *entity = NULL;
    if (field.kind == CXCursor_FieldDecl)
        entity = pdt_entity(reader, body->group, field);
    else if (field.kind == CXCursor_CXXMethod)
        walk_method(body, field);
    uint64_t key = entity ? entity->key : 0;
    bool is_whole = entity && entity->is_array && own == PDT_USE_READ;
    uint32_t first, n = pdt_children(reader, cursor, &first);
    uint64_t base = key && n ? key_of_base(body, reader->stack[first]) : 0;
    pdt_drop(reader, first);
    if (key && is_whole)
        put_access(body, cursor, key, base, PDT_WHOLE, PDT_USE_ADDRESS, "");
    else if (key)
        put_access(body, cursor, key, base, PDT_MEMBER, own, "");
    walk_objects(body, cursor, use);
}

static void walk_name(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    CXCursor named = reader->clang->getCursorReferenced(cursor);
    if (named.kind == CXCursor_EnumConstantDecl)
        return;
    struct pdt_entity *entity = pdt_entity(reader, body->group, named);
    if (!entity)
        return;
    uint64_t key = entity->key;
    if (entity->is_routine) {
        pm_buf_add_byte(&body->records, PDT_TAKEN);
        pdt_put_key(&body->records, key);
        return;
    }
    if (entity->is_array && !body->name)
        use = PDT_USE_ADDRESS;
    if (entity->is_array || entity->is_container)
        put_access(body, cursor, key, 0, PDT_WHOLE, use, "");
    pdt_walk_reference(body, cursor, use);
}

bool pdt_walk_access(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    switch ((int)cursor.kind) {
    case CXCursor_ArraySubscriptExpr:
        pdt_walk_subscript(body, cursor, use);
        return true;
    case CXCursor_MemberRefExpr:
        walk_member(body, cursor, use, use);
        return true;
    case CXCursor_DeclRefExpr:
        walk_name(body, cursor, use);
        return true;
    default:
        return false;
    }
}

/* True: of what a range-for goes through, which was looked at before. */
static bool walk_star(struct pdt_body *body, CXCursor cursor, CXCursor object, enum pdt_use use)
{
    CXCursor range;
    uint64_t key = key_of_base(body, object);
    bool is_range = pdt_range_of(body->reader, object, &range);
    CXType type = body->reader->clang->getCanonicalType(body->reader->clang->getCursorType(cursor));
    bool is_function = type.kind == CXType_FunctionProto || type.kind == CXType_FunctionNoProto;
    if (key && !is_function && !(is_range && use == PDT_USE_ADDRESS))
        put_access(body, cursor, key, 0, PDT_DEREFERENCE, use, "");
    return is_range;
}

static void walk_unary(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    int operation = unary_operator(reader, cursor);
    uint32_t first, n = pdt_children(reader, cursor, &first);
    enum pdt_use below = PDT_USE_READ;
    if (operation >= POST_INC && operation <= PRE_DEC)
        below = PDT_USE_UPDATE;
    else if (operation == ADDRESS_OF)
        below = PDT_USE_ADDRESS;
    else if (operation == DEREFERENCE && n > 0)
        n = walk_star(body, cursor, reader->stack[first], use) ? 0 : n;
    for (uint32_t i = 0; i < n && !reader->failed; i++)
        pdt_walk(body, reader->stack[first + i], false, below);
    pdt_drop(reader, first);
}

bool pdt_walk_operator(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    if (cursor.kind == CXCursor_UnaryOperator) {
        walk_unary(body, cursor, use);
        return true;
    }
    if (cursor.kind != CXCursor_BinaryOperator && cursor.kind != CXCursor_CompoundAssignOperator)
        return false;
    uint32_t first, n = pdt_children(reader, cursor, &first);
    enum pdt_use left = n == 2 ? use_of_left(reader, cursor, first, PDT_USE_READ) : use;
    for (uint32_t i = 0; i < n && !reader->failed; i++)
        pdt_walk(body, reader->stack[first + i], false, i == 0 ? left : PDT_USE_READ);
    pdt_drop(reader, first);
    return true;
}
