/* What references stand for: `int &r = a[3]; r = 4;` writes a. Containers, which are accessed by
 * their methods; and what a range-for hides. */
#include "body.h"

enum { MAX_REFERENCES = 16, MAX_BASES = 8 };

static bool is_reference(CXType type)
{
    return type.kind == CXType_LValueReference || type.kind == CXType_RValueReference;
}

bool pdt_is_written_through(struct pdt_reader *reader, CXType type)
{
    type = reader->clang->getCanonicalType(type);
    return is_reference(type) &&
           !reader->clang->isConstQualifiedType(reader->clang->getPointeeType(type));
}

/* --- initial values --- */

/* Expressions before the name are of the type: decltype(f()) x = 1. */
bool pdt_is_of_type(struct pdt_reader *reader, CXCursor declaration, CXCursor child)
{
    struct pdt_place name = pdt_cursor_place(reader, declaration);
    struct pdt_place at, end;
    pdt_cursor_range(reader, child, &at, &end);
    return at.file == name.file && at.offset < name.offset;
}

static CXCursor initial_value(struct pdt_reader *reader, CXCursor variable)
{
    CXCursor value = {0};
    uint32_t first, n = pdt_children(reader, variable, &first);
    for (uint32_t i = 0; i < n; i++)
        if (reader->clang->isExpression(reader->stack[first + i].kind) &&
            !pdt_is_of_type(reader, variable, reader->stack[first + i]))
            value = reader->stack[first + i];
    pdt_drop(reader, first);
    return value;
}

/* What a reference stands for, as written. Of another type it is a temporary. */
static bool find_referent(struct pdt_reader *reader, CXCursor variable, CXCursor *ret_value)
{
    const struct pdt_clang *clang = reader->clang;
    CXType type = clang->getCanonicalType(clang->getCursorType(variable));
    if (variable.kind != CXCursor_VarDecl || !is_reference(type))
        return false;
    CXCursor value = initial_value(reader, variable);
    if (!value.kind)
        return false;
    value = pdt_strip(reader, value);
    switch ((int)value.kind) {
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_DeclRefExpr:
    case CXCursor_MemberRefExpr:
    case CXCursor_UnaryOperator:
    case CXCursor_ConditionalOperator:
    case CXCursor_CallExpr:
        break;
    default:
        return false;
    }
    CXType of = clang->getCanonicalType(clang->getCursorType(value));
    *ret_value = value;
    return of.kind == clang->getCanonicalType(clang->getPointeeType(type)).kind;
}

/* Of what a function returns it is not known. */
static bool is_followed(struct pdt_reader *reader, CXCursor value)
{
    CXCursor callee = reader->clang->getCursorReferenced(value);
    if (value.kind != CXCursor_CallExpr)
        return true;
    const char *operation = pdt_operator_of(reader, value);
    enum pdt_element element = pdt_element_of(reader, callee);
    return !strcmp(operation, "[]") || !strcmp(operation, "*") || element == PDT_ELEMENT_AT ||
           element == PDT_ELEMENT_AT_END;
}

enum pdt_use pdt_use_of_value(struct pdt_reader *reader, CXCursor variable)
{
    CXCursor value;
    CXType type = reader->clang->getCursorType(variable);
    if (find_referent(reader, variable, &value) && is_followed(reader, value))
        return PDT_USE_ADDRESS;
    return pdt_is_written_through(reader, type) ? PDT_USE_UNKNOWN : PDT_USE_READ;
}

/* --- what a reference stands for is used --- */

static void walk_choices(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    struct pdt_reader *reader = body->reader;
    uint32_t first, n = pdt_children(reader, cursor, &first);
    for (uint32_t i = 1; i < n && !reader->failed; i++)
        pdt_walk_referent(body, reader->stack[first + i], use);
    pdt_drop(reader, first);
}

void pdt_walk_referent(struct pdt_body *body, CXCursor cursor, enum pdt_use use)
{
    cursor = pdt_strip(body->reader, cursor);
    switch ((int)cursor.kind) {
    case CXCursor_ConditionalOperator:
        walk_choices(body, cursor, use);
        break;
    case CXCursor_UnaryOperator:
        pdt_walk_star(body, cursor, use);
        break;
    case CXCursor_CallExpr:
        pdt_walk_element(body, cursor, use);
        break;
    default:
        pdt_walk_access(body, cursor, use);
    }
}

bool pdt_walk_reference(struct pdt_body *body, CXCursor name, enum pdt_use use)
{
    CXCursor value, variable = body->reader->clang->getCursorReferenced(name);
    if (body->n_references >= MAX_REFERENCES || !find_referent(body->reader, variable, &value))
        return false;
    const CXCursor *outer = body->name;
    if (!outer)
        body->name = &name;
    body->n_references++;
    pdt_walk_referent(body, value, use);
    body->n_references--;
    body->name = outer;
    return true;
}

/* --- range-for: what its hidden variables stand for --- */

static bool is_hidden(struct pdt_reader *reader, CXCursor cursor, const char *name)
{
    CXCursor variable = reader->clang->getCursorReferenced(cursor);
    if (cursor.kind != CXCursor_DeclRefExpr || variable.kind != CXCursor_VarDecl)
        return false;
    CXString spelling = reader->clang->getCursorSpelling(variable);
    bool is = !strncmp(reader->clang->getCString(spelling), name, strlen(name));
    reader->clang->disposeString(spelling);
    return is;
}

/* x.begin() or begin(x): x. */
CXCursor pdt_object_of(struct pdt_reader *reader, CXCursor call)
{
    CXCursor object = {0};
    uint32_t first, n = pdt_children(reader, call, &first);
    CXCursor named = n ? pdt_strip(reader, reader->stack[first]) : object;
    if (n == 2 && named.kind == CXCursor_DeclRefExpr)
        object = reader->stack[first + 1];
    pdt_drop(reader, first);
    if (!n || named.kind != CXCursor_MemberRefExpr)
        return object;
    n = pdt_children(reader, named, &first);
    object = n ? reader->stack[first] : object;
    pdt_drop(reader, first);
    return object;
}

/* Before C++17 the value may be a copy of what is written. */
static CXCursor value_of_name(struct pdt_reader *reader, CXCursor name)
{
    CXCursor value = initial_value(reader, reader->clang->getCursorReferenced(name));
    for (int i = 0; i < 8; i++) {
        value = pdt_strip(reader, value);
        CXCursor callee = reader->clang->getCursorReferenced(value);
        bool is_copy = callee.kind == CXCursor_Constructor ||
                       !reader->clang->isDeclaration(callee.kind); /* nobody wrote it */
        if (value.kind != CXCursor_CallExpr || !is_copy)
            break;
        uint32_t first, n = pdt_children(reader, value, &first);
        value = n == 1 ? reader->stack[first] : value;
        pdt_drop(reader, first);
        if (n != 1)
            break;
    }
    return value;
}

bool pdt_range_of(struct pdt_reader *reader, CXCursor cursor, CXCursor *ret_range)
{
    cursor = pdt_strip(reader, cursor);
    if (!is_hidden(reader, cursor, "__begin"))
        return false;
    cursor = value_of_name(reader, cursor);
    if (cursor.kind == CXCursor_CallExpr)
        cursor = pdt_strip(reader, pdt_object_of(reader, cursor));
    if (!is_hidden(reader, cursor, "__range"))
        return false;
    *ret_range = value_of_name(reader, cursor);
    return ret_range->kind != 0;
}

bool pdt_has_value(struct pdt_reader *reader, CXCursor variable)
{
    return initial_value(reader, variable).kind != 0;
}

/* --- containers --- */

static bool has_elements(struct pdt_reader *reader, CXCursor class, int depth)
{
    bool has = false, is_pointer = false;
    uint32_t first, n = pdt_children(reader, class, &first);
    for (uint32_t i = 0; i < n; i++) {
        CXCursor child = reader->stack[first + i];
        if (child.kind == CXCursor_CXXBaseSpecifier && depth < MAX_BASES)
            has |= has_elements(reader, pdt_class_of(reader, reader->clang->getCursorType(child)),
                                depth + 1);
        if (child.kind != CXCursor_CXXMethod)
            continue;
        CXString spelling = reader->clang->getCursorSpelling(child);
        const char *name = reader->clang->getCString(spelling);
        has |= !strcmp(name, "begin") || !strcmp(name, "operator[]");
        is_pointer |= !strcmp(name, "operator*");
        reader->clang->disposeString(spelling);
    }
    pdt_drop(reader, first);
    return has && !is_pointer;
}

bool pdt_is_container(struct pdt_reader *reader, CXType type)
{
    const struct pdt_clang *clang = reader->clang;
    type = clang->getCanonicalType(type);
    if (is_reference(type))
        type = clang->getCanonicalType(clang->getPointeeType(type));
    CXCursor class = clang->getTypeDeclaration(type);
    if (!pdt_is_class(class.kind))
        return false;
    uint32_t *slot = pm_map_at(&reader->container_slots, (uintptr_t) class.data[0]);
    reader->failed |= !slot;
    if (!slot || *slot)
        return slot && *slot == 2;
    *slot = has_elements(reader, pdt_class_of(reader, type), 0) ? 2 : 1;
    return *slot == 2;
}

/* What the library promises of its own containers. */
enum pdt_element pdt_element_of(struct pdt_reader *reader, CXCursor callee)
{
    const struct pdt_clang *clang = reader->clang;
    if (callee.kind != CXCursor_CXXMethod ||
        !clang->Location_isInSystemHeader(clang->getCursorLocation(callee)))
        return PDT_NO_ELEMENT;
    CXString spelling = clang->getCursorSpelling(callee);
    const char *name = clang->getCString(spelling);
    enum pdt_element element = PDT_NO_ELEMENT;
    if (!strcmp(name, "at"))
        element = PDT_ELEMENT_AT;
    else if (!strcmp(name, "front") || !strcmp(name, "back"))
        element = PDT_ELEMENT_AT_END;
    else if (!strcmp(name, "data") || !strcmp(name, "begin") || !strcmp(name, "cbegin"))
        element = PDT_FIRST_ELEMENT;
    clang->disposeString(spelling);
    CXType class = clang->getCursorType(clang->getCursorSemanticParent(callee));
    return element && pdt_is_container(reader, class) ? element : PDT_NO_ELEMENT;
}
