/* Destructors that nobody calls by name: of variables whose scope ends, of members and bases, and
 * of what is deleted. */
#include "body.h"

/* Looked for once: a class of the library has hundreds of children. False: none is written. */
static bool find_destructor(struct pdt_reader *reader, CXCursor class, CXCursor *ret_destructor)
{
    uint32_t *slot = pm_map_at(&reader->destructor_slots, (uintptr_t) class.data[0]);
    reader->failed |= !slot;
    if (!slot)
        return false;
    if (*slot) {
        *ret_destructor = reader->destructors[*slot - 1];
        return ret_destructor->kind != 0;
    }
    CXCursor found = {0};
    uint32_t first, n = pdt_children(reader, class, &first);
    for (uint32_t i = 0; i < n; i++)
        if (reader->stack[first + i].kind == CXCursor_Destructor)
            found = reader->stack[first + i];
    pdt_drop(reader, first);
    void *grown = pm_grow_array(reader->destructors, reader->n_destructors,
                                &reader->cap_destructors, 64, sizeof *reader->destructors);
    reader->failed |= !grown;
    if (!grown)
        return false;
    reader->destructors = grown;
    reader->destructors[reader->n_destructors++] = *ret_destructor = found;
    *slot = reader->n_destructors;
    return found.kind != 0;
}

static CXType without_dimensions(struct pdt_reader *reader, CXType type)
{
    type = reader->clang->getCanonicalType(type);
    while (type.kind == CXType_ConstantArray)
        type = reader->clang->getCanonicalType(reader->clang->getArrayElementType(type));
    return type;
}

static void destroy_parts(struct pdt_body *body, CXCursor where, CXCursor class, unsigned depth);

static void destroy(struct pdt_body *body, CXCursor where, CXType type, unsigned depth)
{
    struct pdt_reader *reader = body->reader;
    CXCursor class = {0}, destructor;
    type = without_dimensions(reader, type);
    if (type.kind != CXType_LValueReference && type.kind != CXType_RValueReference)
        class = pdt_class_of(reader, type);
    if (!pdt_is_class(class.kind))
        return;
    if (find_destructor(reader, class, &destructor))
        pdt_put_call_of(body, where, destructor, false);
    else
        destroy_parts(body, where, class, depth);
}

/* where: of the calls; none: each part's own place. */
static void destroy_parts(struct pdt_body *body, CXCursor where, CXCursor class, unsigned depth)
{
    struct pdt_reader *reader = body->reader;
    if (!pdt_enter_class(body, class, depth))
        return;
    uint32_t first, n = pdt_children(reader, class, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++) {
        CXCursor part = reader->stack[first + i];
        if (part.kind == CXCursor_CXXBaseSpecifier || part.kind == CXCursor_FieldDecl)
            destroy(body, where.kind ? where : part, reader->clang->getCursorType(part), depth + 1);
    }
    pdt_drop(reader, first);
}

void pdt_walk_end_of_scope(struct pdt_body *body, CXCursor variable)
{
    const struct pdt_clang *clang = body->reader->clang;
    bool is_local = clang->getCursorLinkage(variable) == CXLinkage_NoLinkage &&
                    clang->Cursor_getStorageClass(variable) != CX_SC_Static;
    if (body->reader->is_cxx && is_local)
        destroy(body, variable, clang->getCursorType(variable), 0);
}

void pdt_walk_destructor(struct pdt_body *body, CXCursor destructor)
{
    CXCursor none = {0}, class = body->reader->clang->getCursorSemanticParent(destructor);
    if (pdt_is_class(class.kind))
        destroy_parts(body, none, class, 0);
}

void pdt_walk_delete(struct pdt_body *body, CXCursor expression)
{
    const struct pdt_clang *clang = body->reader->clang;
    CXCursor destructor;
    uint32_t first, n = pdt_children(body->reader, expression, &first);
    CXCursor pointer = n ? pdt_strip(body->reader, body->reader->stack[first]) : expression;
    pdt_drop(body->reader, first);
    CXType type = clang->getPointeeType(clang->getCanonicalType(clang->getCursorType(pointer)));
    CXCursor class = pdt_class_of(body->reader, type);
    if (!pdt_is_class(class.kind))
        return;
    if (find_destructor(body->reader, class, &destructor))
        pdt_put_call_of(body, expression, destructor, clang->CXXMethod_isVirtual(destructor) != 0);
    else
        destroy_parts(body, expression, class, 0);
}
