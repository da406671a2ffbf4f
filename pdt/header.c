#include "header.h"
#include "clang.h"

#include "mapping/base/str.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define UNIT "perfmap-wrap.c"
enum { MAX_ARGUMENTS = 256, MAX_PARAMETERS = 64 };

struct reading {
    const struct pdt_clang *clang;
    struct pdt_header *header;
    CXTranslationUnit unit;
    bool is_of_folder; /* the header is named with its folder: curl/curl.h */
    bool failed;       /* memory */
};

/* A string of libclang, in the arena. */
static const char *keep(struct reading *reading, CXString string)
{
    struct pm_str text = pm_str_of(reading->clang->getCString(string));
    const char *copy = text.len ? pm_arena_strndup(&reading->header->arena, text.p, text.len) : "";
    reading->clang->disposeString(string);
    reading->failed |= copy == NULL;
    return copy ? copy : "";
}

static char *file_path(struct reading *reading, CXFile file)
{
    CXString name = reading->clang->getFileName(file);
    const char *text = reading->clang->getCString(name);
    char *path = text ? realpath(text, NULL) : NULL;
    reading->clang->disposeString(name);
    return path;
}

/* --- types --- */

static bool is_number(enum CXTypeKind kind)
{
    return (kind >= CXType_Bool && kind <= CXType_Int128) || kind == CXType_Enum;
}

/* Where lists of arguments are arrays, the compiler's own name of their elements is no C. */
static const char *type_text(struct reading *reading, CXType type)
{
    const char *text = keep(reading, pdt_type_spelling(reading->clang, type));
    return strstr(text, "__va_list_tag") ? "__builtin_va_list" : text;
}

static bool is_writable(const char *type)
{
    return !strstr(type, "unnamed") && !strstr(type, "anonymous") && !strstr(type, "__attribute__");
}

static const char *keep_part(struct reading *reading, const char *text, size_t len)
{
    const char *part = pm_arena_strndup(&reading->header->arena, text, len);
    reading->failed |= !part;
    return part ? part : "";
}

/* "int (*)[3]" of "int[2][3]": the first size may be another parameter. NULL: so may a second. */
static const char *pointer_of_array(struct reading *reading, const char *array)
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
static const char *parameter_type(struct reading *reading, CXType type)
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

static void read_parameter(struct reading *reading, CXCursor cursor, CXType type, unsigned i,
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
    if (!text)
        function->unwritable = "a parameter says how large another is";
    else if (!is_writable(text))
        function->unwritable = "the type of a parameter has no name";
}

static void read_type(struct reading *reading, CXCursor cursor, struct pdt_function *function)
{
    const struct pdt_clang *clang = reading->clang;
    CXType type = clang->getCursorType(cursor), result = clang->getResultType(type);
    const char *text = keep(reading, pdt_type_spelling(clang, type));
    int n = clang->Cursor_getNumArguments(cursor);
    function->is_noreturn = strstr(text, "noreturn") != NULL;
    function->has_prototype = clang->getCanonicalType(type).kind != CXType_FunctionNoProto;
    function->is_variadic = function->has_prototype && clang->isFunctionTypeVariadic(type) != 0;
    function->result = type_text(reading, result);
    function->returns_number = is_number(clang->getCanonicalType(result).kind);
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

/* With its last slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The header, one in the folder of its name beside it (lzma/base.h), one beside it that begins with
 * its name (mpi_proto.h of mpi.h), or, where its name has a folder (curl/curl.h), any of that. */
static bool is_own(const struct reading *reading, const char *file)
{
    const char *own = reading->header->path;
    size_t folder = folder_length(own);
    size_t stem = folder + strcspn(own + folder, ".");
    bool is_beside = !strncmp(own, file, folder) && !strchr(file + folder, '/');
    if (!strcmp(own, file) || (is_beside && reading->is_of_folder))
        return true;
    return !strncmp(own, file, stem) && (file[stem] == '/' || (file[stem] == '_' && is_beside));
}

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

static struct pdt_function *add_function(struct reading *reading, CXCursor cursor, unsigned line)
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

/* Another declaration may give the symbol, or the body. */
static void read_function(struct reading *reading, CXCursor cursor)
{
    const struct pdt_clang *clang = reading->clang;
    CXFile file;
    unsigned line;
    CXString spelling = clang->getCursorSpelling(cursor);
    const char *name = clang->getCString(spelling);
    struct pdt_function *function = known_function(reading->header, name ? name : "");
    clang->disposeString(spelling);
    clang->getExpansionLocation(clang->getCursorLocation(cursor), &file, &line, NULL, NULL);
    char *path = file && !function ? file_path(reading, file) : NULL;
    if (path && is_own(reading, path))
        function = add_function(reading, cursor, line);
    if (path && function && strcmp(path, reading->header->path) != 0) {
        const char *from = path + folder_length(reading->header->path);
        function->file = keep_part(reading, from, strlen(from));
    }
    free(path);
    if (!function)
        return;
    const char *symbol = keep(reading, clang->Cursor_getMangling(cursor));
    symbol += *symbol == 1; /* LLVM's mark of a name that is as it is */
    if (*symbol && strcmp(symbol, function->name) != 0)
        function->symbol = symbol;
    function->is_defined |= clang->isCursorDefinition(cursor) != 0 ||
                            clang->Cursor_isFunctionInlined(cursor) != 0 ||
                            clang->getCursorLinkage(cursor) != CXLinkage_External;
}

static enum CXChildVisitResult read_top(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct reading *reading = data;
    (void)parent;
    if (cursor.kind == CXCursor_FunctionDecl)
        read_function(reading, cursor);
    return reading->failed ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* --- the unit --- */

/* What the unit itself includes. */
static void find_own(CXFile included, CXSourceLocation *stack, unsigned n_stack, CXClientData data)
{
    struct reading *reading = data;
    (void)stack;
    if (n_stack == 1 && !reading->header->path)
        reading->header->path = file_path(reading, included);
}

static enum pm_status take_functions(struct reading *reading, const char *include,
                                     struct pm_error *err)
{
    const struct pdt_clang *clang = reading->clang;
    unsigned n = clang->getNumDiagnostics(reading->unit);
    for (unsigned i = 0; i < n; i++) {
        CXDiagnostic diagnostic = clang->getDiagnostic(reading->unit, i);
        bool is_error = clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
        const char *what = is_error ? keep(reading, clang->getDiagnosticSpelling(diagnostic)) : "";
        clang->disposeDiagnostic(diagnostic);
        if (is_error)
            return pm_error_set(err, PM_ERR_FORMAT,
                                "%s does not compile as C: %s / -I and -D say where its own "
                                "headers are and what it needs",
                                include, what);
    }
    clang->getInclusions(reading->unit, find_own, reading);
    if (!reading->header->path)
        return pm_error_set(err, PM_ERR_NOT_FOUND, "%s was not read", include);
    clang->visitChildren(clang->getTranslationUnitCursor(reading->unit), read_top, reading);
    return reading->failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory for the header")
                           : PM_OK;
}

/* As wrappers are compiled. C11's _Noreturn is no part of a type; the attribute is. */
static enum pm_status parse(struct reading *reading, const char *include, const char *const *flags,
                            size_t n_flags, struct pm_error *err)
{
    static const char *const first[] = {"cc", "-x", "c", "-D_GNU_SOURCE",
                                        "-D_Noreturn=__attribute__((__noreturn__))"};
    enum { N_FIRST = sizeof first / sizeof *first };
    const char *arguments[MAX_ARGUMENTS];
    char text[PATH_MAX + 32];
    int len = snprintf(text, sizeof text, "#include %s\n", include);
    if (n_flags > MAX_ARGUMENTS - N_FIRST - 1 || len < 0 || (size_t)len >= sizeof text)
        return pm_error_set(err, PM_ERR_LIMIT, "too many options, or too long a name");
    struct CXUnsavedFile file = {UNIT, text, (unsigned long)len};
    memcpy(arguments, first, sizeof first);
    for (size_t i = 0; i < n_flags; i++)
        arguments[N_FIRST + i] = flags[i];
    arguments[N_FIRST + n_flags] = UNIT;
    CXIndex index = reading->clang->createIndex(0, 0);
    enum CXErrorCode code = reading->clang->parseTranslationUnit2FullArgv(
        index, NULL, arguments, (int)(N_FIRST + n_flags + 1), &file, 1,
        CXTranslationUnit_SkipFunctionBodies, &reading->unit);
    enum pm_status status =
        code == CXError_Success
            ? take_functions(reading, include, err)
            : pm_error_set(err, PM_ERR_FORMAT, "libclang gave up reading %s", include);
    if (reading->unit)
        reading->clang->disposeTranslationUnit(reading->unit);
    reading->clang->disposeIndex(index);
    return status;
}

enum pm_status pdt_header_read(const char *include, const char *const *flags, size_t n_flags,
                               struct pm_error *err, struct pdt_header **ret_header)
{
    struct reading reading = {0};
    enum pm_status status = pdt_clang_load(err, &reading.clang);
    if (status != PM_OK)
        return status;
    reading.is_of_folder = *include == '<' && strchr(include, '/');
    reading.header = pm_alloc(sizeof *reading.header);
    if (!reading.header)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    status = parse(&reading, include, flags, n_flags, err);
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
