/* Declarations: their keys, and their records. */
#include "reader.h"

#include <stdlib.h>

/* --- keys --- */

static bool is_routine_kind(enum CXCursorKind kind)
{
    return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
           kind == CXCursor_Constructor || kind == CXCursor_Destructor ||
           kind == CXCursor_ConversionFunction || kind == CXCursor_FunctionTemplate;
}

static bool is_class_kind(enum CXCursorKind kind)
{
    return kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl ||
           kind == CXCursor_UnionDecl || kind == CXCursor_ClassTemplate ||
           kind == CXCursor_ClassTemplatePartialSpecialization;
}

static uint64_t key_of_text(const char *text, uint64_t seed)
{
    return text ? pdt_key(text, strlen(text), seed) : pdt_key("", 0, seed);
}

/* libclang's USR, and what it leaves out: names of local linkage have the last part of their
 * file's path only. The first declaration counts, wherever it is named from. */
static uint64_t key_of(struct pdt_reader *reader, CXCursor cursor)
{
    const struct pdt_clang *clang = reader->clang;
    CXCursor first = clang->getCanonicalCursor(cursor);
    CXString usr = clang->getCursorUSR(first);
    const char *text = clang->getCString(usr);
    uint64_t key = key_of_text(text, 0);
    bool is_nameless = !text || !*text;
    clang->disposeString(usr);
    enum CXLinkageKind linkage = clang->getCursorLinkage(first);
    bool is_local = linkage == CXLinkage_Internal || linkage == CXLinkage_NoLinkage;
    if (is_local || is_nameless || linkage == CXLinkage_Invalid) {
        struct pdt_place place = pdt_cursor_place(reader, first);
        const char *path = pdt_path(reader, place.file);
        if (is_local || is_nameless)
            key = pdt_key(path, strlen(path), key);
        if (is_nameless || linkage == CXLinkage_NoLinkage)
            key = pdt_key(&place.offset, sizeof place.offset, key);
    }
    return key;
}

static uint64_t class_key(struct pdt_reader *reader, CXCursor member)
{
    CXCursor parent = reader->clang->getCursorSemanticParent(member);
    return is_class_kind(parent.kind) ? key_of(reader, parent) : 0;
}

static struct pdt_entity *find_slot(struct pdt_reader *reader, CXCursor cursor, uint32_t **ret_slot)
{
    uint32_t i = reader->clang->hashCursor(cursor) * 2654435761u;
    for (;; i++) {
        uint32_t *slot = &reader->entity_slots[i & (reader->n_entity_slots - 1)];
        *ret_slot = slot;
        if (!*slot)
            return NULL;
        struct pdt_entity *entity = &reader->entities[*slot - 1];
        if (reader->clang->equalCursors(entity->cursor, cursor))
            return entity;
    }
}

static bool grow_slots(struct pdt_reader *reader)
{
    uint32_t *slot, n = reader->n_entity_slots ? reader->n_entity_slots * 2 : 4096;
    if (reader->n_entities * 2 < reader->n_entity_slots)
        return true;
    uint32_t *grown = pm_alloc_array(n, sizeof *grown);
    if (!grown)
        return false;
    free(reader->entity_slots);
    reader->entity_slots = grown;
    reader->n_entity_slots = n;
    for (uint32_t i = 0; i < reader->n_entities; i++) {
        find_slot(reader, reader->entities[i].cursor, &slot);
        *slot = i + 1;
    }
    return true;
}

static struct pdt_entity *entity_of(struct pdt_reader *reader, CXCursor cursor)
{
    uint32_t *slot;
    struct pdt_entity *entity = NULL;
    if (grow_slots(reader))
        entity = find_slot(reader, cursor, &slot);
    else
        reader->failed = true;
    if (entity || reader->failed)
        return entity;
    void *grown = pm_grow_array(reader->entities, reader->n_entities, &reader->cap_entities, 1024,
                                sizeof *reader->entities);
    if (!grown) {
        reader->failed = true;
        return NULL;
    }
    reader->entities = grown;
    entity = &reader->entities[reader->n_entities++];
    *entity = (struct pdt_entity){.cursor = cursor, .key = key_of(reader, cursor)};
    *slot = reader->n_entities;
    return entity;
}

/* --- types --- */

static bool is_array_kind(enum CXTypeKind kind)
{
    return kind == CXType_ConstantArray || kind == CXType_IncompleteArray ||
           kind == CXType_VariableArray || kind == CXType_DependentSizedArray;
}

/* Before 22, "struct grid" and names from elsewhere are elaborated types. */
static CXType without_words(const struct pdt_clang *clang, CXType type)
{
    return type.kind == CXType_Elaborated ? clang->Type_getNamedType(type) : type;
}

static void put_type(struct pdt_reader *reader, struct pm_buf *buf, uint64_t key, CXType type,
                     const char *name)
{
    const struct pdt_clang *clang = reader->clang;
    CXType canonical = clang->getCanonicalType(type);
    long long size = clang->Type_getSizeOf(type), n = clang->getNumElements(canonical);
    pm_buf_add_byte(buf, PDT_TYPE);
    pdt_put_key(buf, key);
    pdt_put_string(buf, name);
    pdt_put_string(buf,
                   pdt_string(reader, clang->getTypeKindSpelling(without_words(clang, type).kind)));
    pdt_put_string(buf, pdt_string(reader, clang->getTypeSpelling(canonical)));
    pm_buf_add_uleb(buf, size >= 0 ? (uint64_t)size + 1 : 0);
    pm_buf_add_uleb(buf, n >= 0 ? (uint64_t)n + 1 : 0);
}

/* The same name may mean other types elsewhere, so its canonical form is in the key. */
static uint64_t type_key(struct pdt_reader *reader, CXType type, const char **ret_name)
{
    CXString canonical = reader->clang->getTypeSpelling(reader->clang->getCanonicalType(type));
    const char *text = reader->clang->getCString(canonical);
    *ret_name = pdt_string(reader, pdt_type_spelling(reader->clang, type));
    uint64_t key = key_of_text(text, 1);
    reader->clang->disposeString(canonical);
    return pdt_key(*ret_name, strlen(*ret_name), key);
}

uint64_t pdt_type(struct pdt_reader *reader, uint32_t group, CXType type)
{
    const char *name;
    uint64_t hash = (uint64_t)(uintptr_t)type.data[0] ^ (uint64_t)type.kind << 56;
    uint32_t *slot = pm_map_at(&reader->type_slots, hash);
    if (!slot) {
        reader->failed = true;
        return 0;
    }
    struct pdt_seen_type *seen = *slot ? &reader->types[*slot - 1] : NULL;
    if (!seen || !reader->clang->equalTypes(seen->type, type)) {
        void *grown = pm_grow_array(reader->types, reader->n_types, &reader->cap_types, 256,
                                    sizeof *reader->types);
        if (!grown) {
            reader->failed = true;
            return 0;
        }
        reader->types = grown;
        seen = &reader->types[reader->n_types++];
        *seen = (struct pdt_seen_type){.type = type, .key = type_key(reader, type, &name)};
        *slot = reader->n_types;
    }
    if (seen->emitted_in != group + 1) {
        seen->emitted_in = group + 1;
        put_type(reader, pdt_group_buf(reader, group), seen->key, type,
                 pdt_string(reader, pdt_type_spelling(reader->clang, type)));
    }
    return seen->key;
}

/* --- names --- */

static enum pdt_routine_kind routine_kind(struct pdt_reader *reader, CXCursor cursor)
{
    enum CXCursorKind kind = cursor.kind == CXCursor_FunctionTemplate
                                 ? reader->clang->getTemplateCursorKind(cursor)
                                 : cursor.kind;
    switch ((int)kind) {
    case CXCursor_CXXMethod:
        return PDT_METHOD;
    case CXCursor_Constructor:
        return PDT_CONSTRUCTOR;
    case CXCursor_Destructor:
        return PDT_DESTRUCTOR;
    case CXCursor_ConversionFunction:
        return PDT_CONVERSION;
    default:
        return PDT_FUNCTION;
    }
}

/* libclang calls the constructor of a template Vec "Vec<T>"; compilers and debuggers do not. */
static const char *name_of(struct pdt_reader *reader, CXCursor cursor)
{
    const char *name = pdt_string(reader, reader->clang->getCursorSpelling(cursor));
    enum pdt_routine_kind kind = routine_kind(reader, cursor);
    size_t len = strcspn(name, "<");
    if ((kind != PDT_CONSTRUCTOR && kind != PDT_DESTRUCTOR) || !name[len])
        return name;
    const char *copy = pm_arena_strndup(&reader->arena, name, len);
    reader->failed |= !copy;
    return copy ? copy : "";
}

/* heat::Grid::step: what lies around it, with :: between. */
static void add_scopes(struct pdt_reader *reader, struct pm_buf *buf, CXCursor cursor,
                       unsigned depth)
{
    CXCursor parent = reader->clang->getCursorSemanticParent(cursor);
    bool is_scope = is_class_kind(parent.kind) || parent.kind == CXCursor_Namespace;
    if (is_scope && depth < 64) {
        add_scopes(reader, buf, parent, depth + 1);
        const char *name = pdt_string(reader, reader->clang->getCursorSpelling(parent));
        bool is_nameless = !*name || strchr(name, '(') != NULL;
        pm_buf_printf(buf, "%s::", is_nameless ? "(anonymous)" : name);
    }
}

static const char *full_name(struct pdt_reader *reader, CXCursor cursor)
{
    struct pm_buf buf = PM_BUF_INIT(1 << 20);
    add_scopes(reader, &buf, cursor, 0);
    const char *name = name_of(reader, cursor);
    bool is_nameless = !*name || (strchr(name, '(') && !strstr(name, "operator"));
    pm_buf_add_str(&buf, is_nameless ? "(anonymous)" : name);
    const char *copy = pm_arena_strndup(&reader->arena, buf.data ? buf.data : "", buf.len);
    reader->failed |= !copy || buf.failed;
    pm_buf_release(&buf);
    return copy ? copy : "";
}

enum pdt_access pdt_access_of(struct pdt_reader *reader, CXCursor cursor)
{
    switch (reader->clang->getCXXAccessSpecifier(cursor)) {
    case CX_CXXPublic:
        return PDT_PUBLIC;
    case CX_CXXProtected:
        return PDT_PROTECTED;
    case CX_CXXPrivate:
        return PDT_PRIVATE;
    default:
        return PDT_ACCESS_NONE;
    }
}

/* --- records of routines --- */

static unsigned flag(unsigned is_set, unsigned which)
{
    return is_set ? which : 0;
}

static unsigned routine_flags(struct pdt_reader *reader, CXCursor cursor, CXType type,
                              bool is_defined, bool is_system)
{
    const struct pdt_clang *clang = reader->clang;
    return flag(is_defined, PDT_IS_DEFINED) | flag(is_system, PDT_IS_SYSTEM) |
           flag(clang->Cursor_isFunctionInlined(cursor), PDT_IS_INLINE) |
           flag(clang->CXXMethod_isVirtual(cursor), PDT_IS_VIRTUAL) |
           flag(clang->CXXMethod_isPureVirtual(cursor), PDT_IS_PURE) |
           flag(clang->CXXMethod_isStatic(cursor), PDT_IS_STATIC) |
           flag(clang->CXXMethod_isConst(cursor), PDT_IS_CONST) |
           flag(clang->isFunctionTypeVariadic(type), PDT_IS_VARIADIC) |
           flag(cursor.kind == CXCursor_FunctionTemplate, PDT_IS_TEMPLATE);
}

static enum pdt_linkage linkage_of(struct pdt_reader *reader, CXCursor cursor)
{
    switch (reader->clang->getCursorLinkage(cursor)) {
    case CXLinkage_Internal:
    case CXLinkage_UniqueExternal:
        return PDT_INTERNAL;
    case CXLinkage_External:
        return PDT_EXTERNAL;
    default:
        return PDT_NO_LINKAGE;
    }
}

static enum pdt_storage storage_of(struct pdt_reader *reader, CXCursor cursor)
{
    enum CX_StorageClass storage = reader->clang->Cursor_getStorageClass(cursor);
    if (storage == CX_SC_Static)
        return PDT_STORAGE_STATIC;
    return storage == CX_SC_Extern ? PDT_STORAGE_EXTERN : PDT_STORAGE_NONE;
}

/* The place of what has none (built in) is an empty path. */
static void put_place(struct pdt_reader *reader, struct pm_buf *buf, struct pdt_place place)
{
    pdt_put_string(buf, pdt_shown_path(reader, place));
    pm_buf_add_uleb(buf, place.shown_line);
    pm_buf_add_uleb(buf, place.column);
}

/* What the linker calls it. Templates have none; constructors and destructors have several, and
 * this is that of the complete object (C1, D1). */
static const char *linkage_name(struct pdt_reader *reader, CXCursor cursor)
{
    bool is_template = cursor.kind == CXCursor_FunctionTemplate;
    if (is_template)
        return "";
    return pdt_string(reader, reader->is_cxx ? reader->clang->Cursor_getMangling(cursor)
                                             : reader->clang->getCursorSpelling(cursor));
}

static void put_routine(struct pdt_reader *reader, uint32_t group, CXCursor cursor, uint64_t key,
                        bool is_defined)
{
    const struct pdt_clang *clang = reader->clang;
    struct pdt_place place = pdt_cursor_place(reader, cursor);
    CXSourceLocation location = clang->getCursorLocation(cursor);
    bool is_system = !place.file || clang->Location_isInSystemHeader(location);
    CXType type = clang->getCursorType(cursor);
    uint64_t type_of_it = pdt_type(reader, group, type), class = class_key(reader, cursor);
    int n_parameters = clang->Cursor_getNumArguments(cursor);
    struct pm_buf *buf = pdt_group_buf(reader, group);
    pm_buf_add_byte(buf, PDT_ROUTINE);
    pdt_put_key(buf, key);
    pdt_put_string(buf, pdt_string(reader, clang->getCursorUSR(cursor)));
    pdt_put_string(buf, name_of(reader, cursor));
    pdt_put_string(buf, full_name(reader, cursor));
    pdt_put_string(buf, linkage_name(reader, cursor));
    pm_buf_add_uleb(buf, routine_kind(reader, cursor));
    pdt_put_key(buf, type_of_it);
    pm_buf_add_uleb(buf, linkage_of(reader, cursor));
    pm_buf_add_uleb(buf, storage_of(reader, cursor));
    pm_buf_add_uleb(buf, pdt_access_of(reader, cursor));
    pdt_put_key(buf, class);
    pm_buf_add_uleb(buf, routine_flags(reader, cursor, type, is_defined, is_system));
    pm_buf_add_uleb(buf, n_parameters > 0 ? (uint64_t)n_parameters : 0);
    put_place(reader, buf, place);
}

/* Which methods of bases it overrides, as written. */
static void put_overrides(struct pdt_reader *reader, uint32_t group, CXCursor cursor, uint64_t key)
{
    CXCursor *methods = NULL;
    unsigned n = 0;
    if (!reader->clang->CXXMethod_isVirtual(cursor))
        return;
    reader->clang->getOverriddenCursors(cursor, &methods, &n);
    for (unsigned i = 0; i < n && !reader->failed; i++) {
        CXCursor template = reader->clang->getSpecializedCursorTemplate(methods[i]);
        struct pdt_entity *method =
            pdt_entity(reader, group, is_routine_kind(template.kind) ? template : methods[i]);
        if (!method)
            continue;
        struct pm_buf *buf = pdt_group_buf(reader, group);
        pm_buf_add_byte(buf, PDT_OVERRIDES);
        pdt_put_key(buf, key);
        pdt_put_key(buf, method->key);
    }
    if (methods)
        reader->clang->disposeOverriddenCursors(methods);
}

/* --- records of variables --- */

static enum pdt_variable_kind variable_kind(struct pdt_reader *reader, CXCursor cursor)
{
    if (cursor.kind == CXCursor_FieldDecl)
        return PDT_FIELD;
    if (cursor.kind == CXCursor_ParmDecl)
        return PDT_PARAMETER;
    if (reader->clang->getCursorLinkage(cursor) != CXLinkage_NoLinkage)
        return PDT_GLOBAL;
    return storage_of(reader, cursor) == PDT_STORAGE_STATIC ? PDT_STATIC : PDT_LOCAL;
}

static void put_variable(struct pdt_reader *reader, uint32_t group, struct pdt_entity *entity)
{
    const struct pdt_clang *clang = reader->clang;
    CXCursor cursor = entity->cursor;
    CXCursor around = clang->getCursorSemanticParent(cursor);
    uint64_t key = entity->key, owner = is_routine_kind(around.kind) || is_class_kind(around.kind)
                                            ? key_of(reader, around)
                                            : 0;
    unsigned flags = flag(entity->is_array, PDT_IS_ARRAY) |
                     flag(entity->is_pointer, PDT_IS_POINTER) |
                     flag(storage_of(reader, cursor) == PDT_STORAGE_STATIC, PDT_IS_STATIC);
    long long offset =
        cursor.kind == CXCursor_FieldDecl ? clang->Cursor_getOffsetOfField(cursor) : -1;
    uint64_t type = pdt_type(reader, group, clang->getCursorType(cursor));
    struct pm_buf *buf = pdt_group_buf(reader, group);
    pm_buf_add_byte(buf, PDT_VARIABLE);
    pdt_put_key(buf, key);
    pdt_put_string(buf, pdt_string(reader, clang->getCursorSpelling(cursor)));
    pm_buf_add_uleb(buf, variable_kind(reader, cursor));
    pdt_put_key(buf, type);
    pm_buf_add_uleb(buf, flags);
    pdt_put_key(buf, owner);
    pm_buf_add_uleb(buf, pdt_access_of(reader, cursor));
    pm_buf_add_uleb(buf, offset >= 0 ? (uint64_t)offset + 1 : 0);
    put_place(reader, buf, pdt_cursor_place(reader, cursor));
}

struct pdt_entity *pdt_entity(struct pdt_reader *reader, uint32_t group, CXCursor declaration)
{
    bool is_routine = is_routine_kind(declaration.kind);
    if (!is_routine && declaration.kind != CXCursor_VarDecl &&
        declaration.kind != CXCursor_ParmDecl && declaration.kind != CXCursor_FieldDecl)
        return NULL;
    struct pdt_entity *entity = entity_of(reader, declaration);
    if (!entity || entity->emitted_in == group + 1)
        return entity;
    if (!entity->emitted_in) {
        CXType type = reader->clang->getCanonicalType(reader->clang->getCursorType(declaration));
        entity->is_routine = is_routine;
        entity->is_array = is_array_kind(type.kind);
        entity->is_pointer = type.kind == CXType_Pointer;
        entity->is_container = !is_routine && reader->is_cxx && pdt_is_container(reader, type);
    }
    entity->emitted_in = group + 1;
    if (is_routine)
        put_routine(reader, group, declaration, entity->key, false);
    else
        put_variable(reader, group, entity);
    if (is_routine)
        put_overrides(reader, group, declaration, entity->key);
    return entity_of(reader, declaration);
}

/* --- records of classes and others --- */

static const char *class_kind(struct pdt_reader *reader, CXCursor cursor)
{
    enum CXCursorKind kind = reader->clang->getTemplateCursorKind(cursor);
    if (kind == CXCursor_NoDeclFound)
        kind = cursor.kind;
    if (kind == CXCursor_UnionDecl)
        return "union";
    return kind == CXCursor_ClassDecl ? "class" : "struct";
}

static void put_class(struct pdt_reader *reader, uint32_t group, CXCursor cursor, uint64_t key)
{
    const struct pdt_clang *clang = reader->clang;
    struct pdt_place from, to;
    struct pm_buf *buf = pdt_group_buf(reader, group);
    bool is_template = cursor.kind == CXCursor_ClassTemplate ||
                       cursor.kind == CXCursor_ClassTemplatePartialSpecialization;
    bool is_defined = clang->isCursorDefinition(cursor) != 0;
    long long size = is_defined ? clang->Type_getSizeOf(clang->getCursorType(cursor)) : -1;
    pdt_cursor_range(reader, cursor, &from, &to);
    pm_buf_add_byte(buf, PDT_CLASS);
    pdt_put_key(buf, key);
    pdt_put_string(buf, full_name(reader, cursor));
    pdt_put_string(buf, class_kind(reader, cursor));
    pm_buf_add_uleb(buf, flag(is_template, PDT_IS_TEMPLATE) | flag(is_defined, PDT_IS_DEFINED));
    pdt_put_key(buf, class_key(reader, cursor));
    pm_buf_add_uleb(buf, size >= 0 ? (uint64_t)size + 1 : 0);
    put_place(reader, buf, pdt_cursor_place(reader, cursor));
    pm_buf_add_uleb(buf, to.shown_line);
}

static void put_base(struct pdt_reader *reader, uint32_t group, CXCursor base, uint64_t class)
{
    const struct pdt_clang *clang = reader->clang;
    CXCursor named = clang->getCursorReferenced(base);
    struct pm_buf *buf = pdt_group_buf(reader, group);
    pm_buf_add_byte(buf, PDT_BASE);
    pdt_put_key(buf, class);
    pdt_put_key(buf, is_class_kind(named.kind) ? key_of(reader, named) : 0);
    pdt_put_string(buf, pdt_string(reader, pdt_type_spelling(clang, clang->getCursorType(base))));
    pm_buf_add_uleb(buf, pdt_access_of(reader, base));
    pm_buf_add_uleb(buf, clang->isVirtualBase(base) != 0);
}

static void declare_class(struct pdt_reader *reader, uint32_t group, CXCursor cursor)
{
    uint32_t first, n;
    uint64_t key = key_of(reader, cursor);
    put_class(reader, group, cursor, key);
    n = pdt_children(reader, cursor, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++) {
        CXCursor child = reader->stack[first + i];
        if (child.kind == CXCursor_CXXBaseSpecifier)
            put_base(reader, group, child, key);
        else if (child.kind == CXCursor_FieldDecl)
            pdt_entity(reader, group, child);
        else if (reader->clang->isDeclaration(child.kind))
            pdt_declare(reader, child);
    }
    pdt_drop(reader, first);
}

/* k, s name, and where it begins. */
static struct pm_buf *put_named(struct pdt_reader *reader, uint32_t group, enum pdt_tag tag,
                                CXCursor cursor)
{
    struct pm_buf *buf = pdt_group_buf(reader, group);
    pm_buf_add_byte(buf, tag);
    pdt_put_key(buf, key_of(reader, cursor));
    pdt_put_string(buf, full_name(reader, cursor));
    return buf;
}

static void put_line(struct pdt_reader *reader, struct pm_buf *buf, CXCursor cursor)
{
    struct pdt_place place = pdt_cursor_place(reader, cursor);
    pm_buf_add_uleb(buf, place.line);
    pm_buf_add_uleb(buf, place.column);
}

static void declare_enum(struct pdt_reader *reader, uint32_t group, CXCursor cursor)
{
    struct pdt_place from, to;
    uint32_t first, n;
    uint64_t key = key_of(reader, cursor);
    pdt_cursor_range(reader, cursor, &from, &to);
    struct pm_buf *buf = put_named(reader, group, PDT_ENUM, cursor);
    put_line(reader, buf, cursor);
    pm_buf_add_uleb(buf, to.line);
    n = pdt_children(reader, cursor, &first);
    for (uint32_t i = 0; i < n; i++) {
        CXCursor child = reader->stack[first + i];
        if (child.kind != CXCursor_EnumConstantDecl)
            continue;
        pm_buf_add_byte(buf, PDT_ENUMERATOR);
        pdt_put_key(buf, key);
        pdt_put_string(buf, pdt_string(reader, reader->clang->getCursorSpelling(child)));
        pm_buf_add_sleb(buf, reader->clang->getEnumConstantDeclValue(child));
    }
    pdt_drop(reader, first);
}

static void declare_typedef(struct pdt_reader *reader, uint32_t group, CXCursor cursor)
{
    CXType type = reader->clang->getTypedefDeclUnderlyingType(cursor);
    uint64_t key = pdt_type(reader, group, type);
    struct pm_buf *buf = put_named(reader, group, PDT_TYPEDEF, cursor);
    pdt_put_key(buf, key);
    put_line(reader, buf, cursor);
}

static void declare_routine(struct pdt_reader *reader, uint32_t group, CXCursor cursor)
{
    struct pdt_entity *entity;
    if (!reader->clang->isCursorDefinition(cursor)) {
        pdt_entity(reader, group, cursor);
        return;
    }
    entity = entity_of(reader, cursor);
    if (!entity)
        return;
    entity->is_routine = true;
    entity->emitted_in = group + 1;
    uint64_t key = entity->key;
    put_routine(reader, group, cursor, key, true);
    put_overrides(reader, group, cursor, key);
    pdt_read_body(reader, group, cursor, key);
}

static void declare_inside(struct pdt_reader *reader, CXCursor cursor)
{
    uint32_t first, n = pdt_children(reader, cursor, &first);
    for (uint32_t i = 0; i < n && !reader->failed; i++)
        pdt_declare(reader, reader->stack[first + i]);
    pdt_drop(reader, first);
}

/* One declaration of a namespace, file or class; what it holds, too. Headers of the system have
 * no group, and what they declare is recorded where it is used. */
void pdt_declare(struct pdt_reader *reader, CXCursor cursor)
{
    CXSourceLocation location = reader->clang->getCursorLocation(cursor);
    uint32_t group = pdt_group_of(reader, pdt_place_of(reader, location).file, location);
    if (group == PDT_NO_GROUP || reader->failed)
        return;
    if (is_routine_kind(cursor.kind)) {
        declare_routine(reader, group, cursor);
        return;
    }
    if (is_class_kind(cursor.kind)) {
        declare_class(reader, group, cursor);
        return;
    }
    switch ((int)cursor.kind) {
    case CXCursor_Namespace:
        put_line(reader, put_named(reader, group, PDT_NAMESPACE, cursor), cursor);
        declare_inside(reader, cursor);
        break;
    case CXCursor_LinkageSpec:
    case CXCursor_FriendDecl: /* a function may be defined there */
    case CXCursor_UnexposedDecl:
        declare_inside(reader, cursor);
        break;
    case CXCursor_EnumDecl:
        declare_enum(reader, group, cursor);
        break;
    case CXCursor_TypedefDecl:
    case CXCursor_TypeAliasDecl:
        declare_typedef(reader, group, cursor);
        break;
    case CXCursor_VarDecl:
        pdt_entity(reader, group, cursor);
        pdt_read_initial_value(reader, group, cursor);
        break;
    default:
        break;
    }
}
