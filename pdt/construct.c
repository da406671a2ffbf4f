/* What constructors do that nobody writes: bases and members that their lists do not name. */
#include "body.h"

enum { MAX_PARTS = 4096 };

bool pdt_is_class(enum CXCursorKind kind)
{
    return kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl ||
           kind == CXCursor_ClassTemplate || kind == CXCursor_ClassTemplatePartialSpecialization;
}

bool pdt_enter_class(struct pdt_body *body, CXCursor class, unsigned depth)
{
    body->n_parts = depth ? body->n_parts + 1 : 0;
    if (depth >= PDT_MAX_PARTS || body->n_parts > MAX_PARTS)
        return false;
    for (unsigned i = 0; i < depth; i++)
        if (body->reader->clang->equalCursors(body->classes[i], class))
            return false;
    body->classes[depth] = class;
    return true;
}

/* As written: the class, or the template that it is an instance of. */
CXCursor pdt_class_of(struct pdt_reader *reader, CXType type)
{
    CXCursor class = reader->clang->getTypeDeclaration(reader->clang->getCanonicalType(type));
    CXCursor template = reader->clang->getSpecializedCursorTemplate(class);
    class = pdt_is_class(template.kind) ? template : class;
    CXCursor definition = reader->clang->getCursorDefinition(class);
    return pdt_is_class(definition.kind) ? definition : class;
}

static bool has_value(struct pdt_reader *reader, CXCursor declaration)
{
    bool has = false;
    uint32_t first, n = pdt_children(reader, declaration, &first);
    for (uint32_t i = 0; i < n; i++)
        has |= reader->clang->isExpression(reader->stack[first + i].kind) != 0;
    pdt_drop(reader, first);
    return has;
}

void pdt_walk_initial_value(struct pdt_body *body, CXCursor declaration)
{
    struct pdt_reader *reader = body->reader;
    enum pdt_use use = pdt_use_of_value(reader, declaration);
    uint32_t first, n = pdt_children(reader, declaration, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++) {
        CXCursor child = reader->stack[first + i];
        if (reader->clang->isExpression(child.kind) && !pdt_is_of_type(reader, declaration, child))
            pdt_walk(body, child, false, use);
    }
    pdt_drop(reader, first);
}

/* True: the class has constructors. *ret_default: the one that needs no arguments, if it has. */
static bool find_constructors(struct pdt_reader *reader, CXCursor class, CXCursor *ret_default)
{
    bool has_any = false;
    uint32_t first, n = pdt_children(reader, class, &first);
    for (uint32_t i = 0; i < n; i++) {
        CXCursor child = reader->stack[first + i];
        if (child.kind != CXCursor_Constructor)
            continue;
        has_any = true;
        if (reader->clang->Cursor_getNumArguments(child) == 0 ||
            has_value(reader, reader->clang->Cursor_getArgument(child, 0)))
            *ret_default = child;
    }
    pdt_drop(reader, first);
    return has_any;
}

static void walk_parts(struct pdt_body *body, CXCursor constructor, CXCursor class, unsigned depth);

static void put_default(struct pdt_body *body, CXCursor part, CXCursor constructor)
{
    const struct pdt_clang *clang = body->reader->clang;
    int n = clang->Cursor_getNumArguments(constructor);
    pdt_put_call_of(body, part, constructor, false);
    for (int i = 0; i < n; i++)
        pdt_walk_initial_value(body, clang->Cursor_getArgument(constructor, (unsigned)i));
}

static void construct(struct pdt_body *body, CXCursor part, CXType type, unsigned depth)
{
    struct pdt_reader *reader = body->reader;
    CXCursor class = pdt_class_of(reader, type), constructor = {0};
    if (!pdt_is_class(class.kind))
        return;
    if (!find_constructors(reader, class, &constructor))
        walk_parts(body, constructor, class, depth + 1);
    else if (constructor.kind == CXCursor_Constructor)
        put_default(body, part, constructor);
}

/* Does the constructor's list name this member or base, or the class itself? */
static bool is_listed(struct pdt_reader *reader, CXCursor constructor, CXCursor what)
{
    bool is = false;
    uint32_t first, n = 0;
    if (constructor.kind == CXCursor_Constructor || constructor.kind == CXCursor_FunctionTemplate)
        n = pdt_children(reader, constructor, &first);
    for (uint32_t i = 0; i < n; i++) {
        CXCursor child = reader->stack[first + i];
        if (child.kind == CXCursor_MemberRef || child.kind == CXCursor_TypeRef)
            is |= reader->clang->equalCursors(reader->clang->getCursorReferenced(child), what);
    }
    if (n)
        pdt_drop(reader, first);
    return is;
}

static void walk_part(struct pdt_body *body, CXCursor constructor, CXCursor part, unsigned depth)
{
    struct pdt_reader *reader = body->reader;
    bool is_base = part.kind == CXCursor_CXXBaseSpecifier;
    if (!is_base && part.kind != CXCursor_FieldDecl)
        return;
    CXCursor what = is_base ? reader->clang->getCursorReferenced(part) : part;
    if (is_listed(reader, constructor, what))
        return;
    if (!is_base && has_value(reader, part))
        pdt_walk_initial_value(body, part);
    else
        construct(body, part, reader->clang->getCursorType(part), depth);
}

static void walk_parts(struct pdt_body *body, CXCursor constructor, CXCursor class, unsigned depth)
{
    struct pdt_reader *reader = body->reader;
    if (is_listed(reader, constructor, class) || !pdt_enter_class(body, class, depth))
        return; /* it delegates */
    uint32_t first, n = pdt_children(reader, class, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++)
        walk_part(body, constructor, reader->stack[first + i], depth);
    pdt_drop(reader, first);
}

void pdt_walk_constructor(struct pdt_body *body, CXCursor constructor)
{
    CXCursor class = body->reader->clang->getCursorSemanticParent(constructor);
    if (pdt_is_class(class.kind))
        walk_parts(body, constructor, class, 0);
}

void pdt_walk_implicit_constructor(struct pdt_body *body, CXCursor callee)
{
    struct pdt_reader *reader = body->reader;
    CXCursor class = reader->clang->getCursorSemanticParent(callee), none = {0};
    if (callee.kind != CXCursor_Constructor || reader->clang->Cursor_getNumArguments(callee) != 0)
        return;
    CXCursor written = pdt_class_of(reader, reader->clang->getCursorType(class));
    if (pdt_is_class(written.kind) && !find_constructors(reader, written, &none))
        walk_parts(body, none, written, 0);
}
