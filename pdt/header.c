#include "header_internal.h"

#include <stdlib.h>

enum { MAX_PARAMETERS = 64, REGISTER_BYTES = 16, MAX_IN_REGISTERS = 64 };

/* A string of libclang, in the arena. */
static const char *keep(struct header_reading *reading, CXString string)
{
    struct pm_str text = pm_str_of(reading->clang->getCString(string));
    const char *copy = text.len ? pm_arena_strndup(&reading->header->arena, text.p, text.len) : "";
    reading->clang->disposeString(string);
    reading->failed |= copy == NULL;
    return copy ? copy : "";
}

/* --- types --- */

const char pdt_wide_vectors[] = "whether its vectors of more than 16 bytes are in registers "
                                "depends on the program's -mavx";

static bool is_number(enum CXTypeKind kind)
{
    return (kind >= CXType_Bool && kind <= CXType_Int128) || kind == CXType_Enum;
}

/* Where lists of arguments are arrays, the compiler's own name of their elements is no C. */
static const char *type_text(struct header_reading *reading, CXType type)
{
    const char *text = keep(reading, pdt_type_spelling(reading->clang, type));
    return strstr(text, "__va_list_tag") ? "__builtin_va_list" : text;
}

static bool is_writable(const char *type)
{
    return !strstr(type, "unnamed") && !strstr(type, "anonymous") && !strstr(type, "__attribute__");
}

static const char *keep_part(struct header_reading *reading, const char *text, size_t len)
{
    const char *part = pm_arena_strndup(&reading->header->arena, text, len);
    reading->failed |= !part;
    return part ? part : "";
}

/* "int (*)[3]" of "int[2][3]": the first size may be another parameter. NULL: so may a second. */
static const char *pointer_of_array(struct header_reading *reading, const char *array)
{
    size_t len = strcspn(array, "[");
    const char *rest = strchr(array, ']') + 1;
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    for (const char *p = rest; *p; p++)
        if (*p != '[' && *p != ']' && (*p < '0' || *p > '9'))
            return NULL;
    while (len > 0 && array[len - 1] == ' ')
        len--;
    pm_buf_printf(&text, *rest ? "%.*s (*)%s" : "%.*s *%s", (int)len, array, rest);
    const char *pointer = keep_part(reading, text.data ? text.data : "", text.len);
    reading->failed |= text.failed;
    pm_buf_release(&text);
    return pointer;
}

/* A parameter's own restrict says nothing to callers, and clang drops it from what it knows better
 * (printf). NULL: it cannot be written. */
static const char *parameter_type(struct header_reading *reading, CXType type)
{
    static const char last[] = "restrict";
    const char *text = type_text(reading, type), *bracket = strchr(text, '[');
    size_t len = strlen(text), own = sizeof last - 1;
    if (bracket && text[len - 1] == ']' && !memchr(text, '(', (size_t)(bracket - text)))
        return pointer_of_array(reading, text);
    if (len <= own || strcmp(text + len - own, last) != 0)
        return text;
    for (len -= own; len > 0 && text[len - 1] == ' ';)
        len--;
    return keep_part(reading, text, len);
}

/* Whether vectors of more than 16 bytes are in registers depends on -mavx, of which the header says
 * nothing. */
static bool is_wide(const struct pdt_clang *clang, CXType type);

struct wide_search {
    const struct pdt_clang *clang;
    bool is_found;
};

static enum CXVisitorResult find_wide(CXCursor field, CXClientData data)
{
    struct wide_search *search = data;
    search->is_found |= is_wide(search->clang, search->clang->getCursorType(field));
    return search->is_found ? CXVisit_Break : CXVisit_Continue;
}

static bool is_wide(const struct pdt_clang *clang, CXType type)
{
    CXType canonical = clang->getCanonicalType(type);
    long long size = clang->Type_getSizeOf(canonical);
    if (size <= REGISTER_BYTES || size > MAX_IN_REGISTERS)
        return false;
    if (canonical.kind == CXType_Vector || canonical.kind == CXType_ExtVector)
        return true;
    if (canonical.kind == CXType_ConstantArray)
        return is_wide(clang, clang->getArrayElementType(canonical));
    struct wide_search search = {.clang = clang};
    if (canonical.kind == CXType_Record)
        clang->Type_visitFields(canonical, find_wide, &search);
    return search.is_found;
}

static void read_parameter(struct header_reading *reading, CXCursor cursor, CXType type, unsigned i,
                           struct pdt_function *function)
{
    const struct pdt_clang *clang = reading->clang;
    struct pdt_parameter *parameter = &function->parameters[i];
    CXType own = clang->getArgType(type, i), canonical = clang->getCanonicalType(own);
    CXCursor argument = clang->Cursor_getArgument(cursor, i);
    const char *text = parameter_type(reading, own);
    parameter->type = text ? text : "";
    parameter->name = keep(reading, clang->getCursorSpelling(argument));
    parameter->is_number = is_number(canonical.kind);
    parameter->is_pointer = canonical.kind == CXType_Pointer;
    parameter->points_to_number =
        parameter->is_pointer &&
        is_number(clang->getCanonicalType(clang->getPointeeType(canonical)).kind);
    function->has_complex |= canonical.kind == CXType_Complex;
    if (is_wide(clang, own))
        function->unwrappable = pdt_wide_vectors;
    if (!text)
        function->unwritable = "a parameter says how large another is";
    else if (!is_writable(text))
        function->unwritable = strstr(text, "__attribute__")
                                   ? "the type of a parameter has attributes"
                                   : "the type of a parameter has no name";
}

static void read_type(struct header_reading *reading, CXCursor cursor,
                      struct pdt_function *function)
{
    const struct pdt_clang *clang = reading->clang;
    CXType type = clang->getCursorType(cursor), result = clang->getResultType(type);
    int n = clang->Cursor_getNumArguments(cursor);
    function->has_prototype = clang->getCanonicalType(type).kind != CXType_FunctionNoProto;
    function->is_variadic = function->has_prototype && clang->isFunctionTypeVariadic(type) != 0;
    function->result = type_text(reading, result);
    function->returns_number = is_number(clang->getCanonicalType(result).kind);
    function->has_complex = clang->getCanonicalType(result).kind == CXType_Complex;
    if (is_wide(clang, result))
        function->unwrappable = pdt_wide_vectors;
    if (!is_writable(function->result))
        function->unwritable = "the type of its result has no name";
    if (n > MAX_PARAMETERS)
        function->unwritable = "more than 64 parameters";
    if (n <= 0 || n > MAX_PARAMETERS)
        return;
    function->parameters =
        pm_arena_alloc(&reading->header->arena, (size_t)n * sizeof *function->parameters);
    if (!function->parameters) {
        reading->failed = true;
        return;
    }
    function->n_parameters = (uint32_t)n;
    for (unsigned i = 0; i < (unsigned)n; i++)
        read_parameter(reading, cursor, type, i, function);
}

/* --- functions --- */

static struct pdt_function *known_function(struct pdt_header *header, const char *name)
{
    for (uint32_t i = header->n_functions; i > 0; i--)
        if (!strcmp(header->functions[i - 1].name, name))
            return &header->functions[i - 1];
    return NULL;
}

static struct pdt_function *grow(struct pdt_header *header)
{
    void *grown = pm_grow_array(header->functions, header->n_functions, &header->cap_functions, 128,
                                sizeof *header->functions);
    if (!grown)
        return NULL;
    header->functions = grown;
    struct pdt_function *function = &header->functions[header->n_functions++];
    *function = (struct pdt_function){0};
    return function;
}

static struct pdt_function *add_function(struct header_reading *reading, CXCursor cursor,
                                         unsigned line)
{
    struct pdt_function *function = grow(reading->header);
    if (!function) {
        reading->failed = true;
        return NULL;
    }
    function->line_no = line;
    function->name = keep(reading, reading->clang->getCursorSpelling(cursor));
    function->symbol = function->id = function->name;
    read_type(reading, cursor, function);
    return function;
}

/* Not of a parameter, whose attributes are in parentheses. */
static bool has_own_attribute(const char *type, const char *attribute)
{
    static const char before[] = "__attribute__((";
    size_t len = sizeof before - 1;
    int depth = 0;
    for (; *type; type++) {
        if (depth == 0 && !strncmp(type, before, len) &&
            !strncmp(type + len, attribute, strlen(attribute)))
            return true;
        depth += (*type == '(') - (*type == ')');
    }
    return false;
}

/* Of how it is called, in its type; of what it does, as libclang writes the declaration. */
static void read_attributes(struct header_reading *reading, CXCursor cursor,
                            struct pdt_function *function)
{
    const struct pdt_clang *clang = reading->clang;
    CXType type = clang->getCursorType(cursor);
    enum CXCallingConv convention = clang->getFunctionTypeCallingConv(type);
    const char *text = keep(reading, pdt_type_spelling(clang, type));
    CXString whole = clang->getCursorPrettyPrinted(cursor, NULL);
    const char *declaration = clang->getCString(whole);
    function->is_noreturn |= has_own_attribute(text, "noreturn");
    if (declaration && strstr(declaration, "returns_twice"))
        function->unwrappable = "it returns twice, the second time to a wrapper that is gone";
    else if (convention == CXCallingConv_X86_64Win64)
        function->unwrappable = "it is called by another convention (ms_abi)";
    else if (convention != CXCallingConv_Default && convention != CXCallingConv_C)
        function->unwrappable = "it is called by another convention than functions of C";
    else if (has_own_attribute(text, "no_caller_saved_registers") ||
             has_own_attribute(text, "no_callee_saved_registers"))
        function->unwrappable = "its attributes say which registers it keeps";
    clang->disposeString(whole);
}

/* NULL: memory. The path from the header's folder on, else the whole. */
static const char *file_name(struct header_reading *reading, const char *path)
{
    const char *own = reading->header->path;
    size_t folder = header_folder_length(own);
    const char *from = strncmp(path, own, folder) ? path : path + folder;
    return strcmp(path, own) ? keep_part(reading, from, strlen(from)) : NULL;
}

/* NULL: it is no part of the header, or memory. */
static struct pdt_function *add_part(struct header_reading *reading, CXCursor cursor)
{
    const struct pdt_clang *clang = reading->clang;
    CXFile file;
    unsigned line;
    clang->getExpansionLocation(clang->getCursorLocation(cursor), &file, &line, NULL, NULL);
    char *path = file ? header_file_path(clang, file) : NULL;
    struct pdt_function *function =
        path && header_parts_have(reading, path) ? add_function(reading, cursor, line) : NULL;
    if (function)
        function->file = file_name(reading, path);
    free(path);
    return function;
}

/* Another declaration may give the symbol, attributes, or the body. */
static void read_function(struct header_reading *reading, CXCursor cursor)
{
    const struct pdt_clang *clang = reading->clang;
    CXString spelling = clang->getCursorSpelling(cursor);
    const char *name = clang->getCString(spelling);
    struct pdt_function *function = known_function(reading->header, name ? name : "");
    clang->disposeString(spelling);
    if (!function)
        function = add_part(reading, cursor);
    if (!function)
        return;
    const char *symbol = keep(reading, clang->Cursor_getMangling(cursor));
    symbol += *symbol == 1; /* LLVM's mark of a name that is as it is */
    if (*symbol && strcmp(symbol, function->name) != 0)
        function->symbol = symbol;
    read_attributes(reading, cursor, function);
    function->is_defined |= clang->isCursorDefinition(cursor) != 0 ||
                            clang->Cursor_isFunctionInlined(cursor) != 0 ||
                            clang->getCursorLinkage(cursor) != CXLinkage_External;
}

static enum CXChildVisitResult read_top(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct header_reading *reading = data;
    (void)parent;
    if (cursor.kind == CXCursor_FunctionDecl)
        read_function(reading, cursor);
    return reading->failed ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* --- the header --- */

static bool has_functions(const struct pdt_header *header)
{
    for (uint32_t i = 0; i < header->n_functions; i++)
        if (!header->functions[i].is_defined)
            return true;
    return false;
}

static enum pm_status take_functions(struct header_reading *reading, struct pm_error *err)
{
    const struct pdt_clang *clang = reading->clang;
    struct pdt_header *header = reading->header;
    enum pm_status status = header_unit_open(reading, err);
    if (status != PM_OK)
        return status;
    reading->failed = !header_parts_read(reading);
    while (!reading->failed) {
        clang->visitChildren(clang->getTranslationUnitCursor(reading->unit), read_top, reading);
        if (has_functions(header) || !header_parts_widen(reading))
            break;
        header->is_of_others = true;
        header->n_functions = 0;
    }
    return reading->failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory for the header")
                           : PM_OK;
}

enum pm_status pdt_header_read(const struct pdt_header_request *request, struct pm_error *err,
                               struct pdt_header **ret_header)
{
    struct header_reading reading = {.request = request};
    enum pm_status status = pdt_clang_load(err, &reading.clang);
    if (status != PM_OK)
        return status;
    reading.header = pdt_header_new();
    if (!reading.header)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    status = take_functions(&reading, err);
    header_parts_release(&reading);
    header_unit_close(&reading);
    if (status != PM_OK) {
        pdt_header_free(reading.header);
        return status;
    }
    *ret_header = reading.header;
    return PM_OK;
}

struct pdt_header *pdt_header_new(void)
{
    return pm_alloc(sizeof(struct pdt_header));
}

bool pdt_header_add(struct pdt_header *header, const char *name, const char *symbol)
{
    struct pdt_function *function = grow(header);
    if (!function)
        return false;
    function->name = pm_arena_strndup(&header->arena, name, strlen(name));
    function->symbol = function->id = pm_arena_strndup(&header->arena, symbol, strlen(symbol));
    return function->name && function->symbol;
}

void pdt_header_free(struct pdt_header *header)
{
    if (!header)
        return;
    free(header->path);
    free(header->functions);
    pm_arena_release(&header->arena);
    free(header);
}

const struct pdt_function *pdt_header_find(const struct pdt_header *header, const char *name)
{
    for (uint32_t i = 0; i < header->n_functions; i++)
        if (!strcmp(header->functions[i].name, name))
            return &header->functions[i];
    return NULL;
}
