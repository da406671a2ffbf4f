/* What queries can ask for: a table. */
#include "query_internal.h"

#define FILE_AND_LINE(t) \
    "(SELECT f.name FROM main.files f WHERE f.id = " t ".file) AS file, " t ".line AS line"
#define BY_PLACE "file, line, "

static const struct query_field routine_numbers[] = {
    {"statements", "r.n_statements"},
    {"returns", "r.n_returns"},
    {"parameters", "r.n_parameters"},
    {"variants", "r.n_variants"},
    {"loops", "(SELECT count(*) FROM main.loops x WHERE x.routine = r.id)"},
    {"calls", "(SELECT count(*) FROM main.calls x WHERE x.routine = r.id)"},
    {"callers", "(SELECT count(DISTINCT x.caller) FROM edges x WHERE x.callee = r.id)"},
    {"callees", "(SELECT count(DISTINCT x.callee) FROM edges x WHERE x.caller = r.id)"},
    {"lines", "(r.end_line - r.line + 1)"},
    {NULL, NULL}};
static const struct query_field routine_flags[] = {
    {"defined", "r.is_defined"},
    {"system", "r.is_system"},
    {"inline", "r.is_inline"},
    {"virtual", "r.is_virtual"},
    {"pure", "r.is_pure"},
    {"static", "(r.is_static OR r.storage = 'static')"},
    {"const", "r.is_const"},
    {"variadic", "r.is_variadic"},
    {"template", "r.is_template"},
    {"taken", "r.is_address_taken"},
    {"external", "r.linkage = 'external'"},
    {NULL, NULL}};
static const struct query_field loop_numbers[] = {
    {"depth", "l.depth"},
    {"calls", "(SELECT count(*) FROM main.calls x WHERE x.loop = l.id)"},
    {"lines", "(l.end_line - l.line + 1)"},
    {NULL, NULL}};
static const struct query_field loop_flags[] = {
    {"innermost", "NOT EXISTS (SELECT 1 FROM main.loops x WHERE x.parent = l.id)"},
    {"outermost", "l.parent IS NULL"},
    {NULL, NULL}};
static const struct query_field call_flags[] = {
    {"direct", "c.kind = 'direct'"},   {"virtual", "c.kind = 'virtual'"},
    {"pointer", "c.kind = 'pointer'"}, {"dependent", "c.kind = 'dependent'"},
    {"ambiguous", "c.is_ambiguous"},   {NULL, NULL}};
static const struct query_field variable_numbers[] = {
    {"reads", "(SELECT count(*) FROM main.accesses x WHERE x.variable = v.id AND x.mode IN "
              "('read', 'update'))"},
    {"writes", "(SELECT count(*) FROM main.accesses x WHERE x.variable = v.id AND x.mode IN "
               "('write', 'update'))"},
    {NULL, NULL}};
static const struct query_field variable_flags[] = {{"array", "v.is_array"},
                                                    {"pointer", "v.is_pointer"},
                                                    {"static", "v.is_static"},
                                                    {"global", "v.kind = 'global'"},
                                                    {"local", "v.kind IN ('local', 'static')"},
                                                    {"parameter", "v.kind = 'parameter'"},
                                                    {"field", "v.kind = 'field'"},
                                                    {NULL, NULL}};
static const struct query_field class_flags[] = {{"template", "k.is_template"},
                                                 {"defined", "k.is_defined"},
                                                 {"union", "k.kind = 'union'"},
                                                 {NULL, NULL}};
static const struct query_field access_flags[] = {
    {"read", "a.mode IN ('read', 'update')"}, {"write", "a.mode IN ('write', 'update')"},
    {"update", "a.mode = 'update'"},          {"unknown", "a.mode = 'unknown'"},
    {"address", "a.mode = 'address'"},        {"subscript", "a.kind = 'subscript'"},
    {"member", "a.kind = 'member'"},          {NULL, NULL}};
static const struct query_field file_flags[] = {{"system", "t.is_system"}, {NULL, NULL}};
static const struct query_field macro_flags[] = {{"function", "t.is_function"}, {NULL, NULL}};
static const struct query_field unit_numbers[] = {{"errors", "t.n_errors"}, {NULL, NULL}};

#define ROUTINE_OF(t) \
    "(SELECT x.full_name FROM main.routines x WHERE x.id = " t ".routine) AS routine"
#define HAS_COUNTS                                                                       \
    "CASE WHEN v.is_array OR v.is_pointer OR v.kind = 'field' OR EXISTS (SELECT 1 FROM " \
    "main.accesses x WHERE x.variable = v.id) THEN "
#define COUNT_OF(modes) \
    "(SELECT count(*) FROM main.accesses x WHERE x.variable = v.id AND x.mode IN (" modes ")) END"
#define VARIABLE_COLUMNS                                                                  \
    "v.name, v.kind, (SELECT t.name FROM main.types t WHERE t.id = v.type) AS type, "     \
    "coalesce((SELECT x.full_name FROM main.routines x WHERE x.id = v.routine), (SELECT " \
    "k.name FROM main.classes k WHERE k.id = v.class)) AS owner, " HAS_COUNTS             \
        COUNT_OF("'read', 'update'") " AS n_reads, " HAS_COUNTS COUNT_OF(                 \
            "'write', 'update'") " AS n_writes, " FILE_AND_LINE("v")
#define VARIABLE(a_word, a_where)                                                                  \
    {                                                                                              \
        .word = a_word, .columns = VARIABLE_COLUMNS, .from = "main.variables v", .where = a_where, \
        .order = BY_PLACE "v.column", .name = "v.name", .file = "v.file", .routine = "v.routine",  \
        .class = "v.class", .type = "v.type", .id = "v.id", .sort = NOUN_VARIABLE,                 \
        .numbers = variable_numbers, .flags = variable_flags                                       \
    }
#define CLASS(a_word, a_where)                                                               \
    {                                                                                        \
        .word = a_word,                                                                      \
        .columns =                                                                           \
            "k.name, k.kind, k.is_template, k.size_bytes AS n_bytes, (SELECT count(*) FROM " \
            "main.variables v WHERE v.class = k.id AND v.kind = 'field') AS n_fields, "      \
            "(SELECT group_concat(b.name, ', ') FROM main.bases b WHERE b.class = k.id) "    \
            "AS bases, " FILE_AND_LINE("k"),                                                 \
        .from = "main.classes k", .where = a_where, .order = BY_PLACE "k.column",            \
        .name = "k.name", .file = "k.file", .class = "k.parent", .flags = class_flags        \
    }
#define ACCESS(a_word, a_where)                                                                    \
    {                                                                                              \
        .word = a_word,                                                                            \
        .columns = "(SELECT v.name FROM main.variables v WHERE v.id = a.variable) AS name, "       \
                   "a.kind, a.mode, a.subscripts, (SELECT v.name FROM main.variables v WHERE "     \
                   "v.id = a.base) AS base, " ROUTINE_OF(                                          \
                       "a") ", (SELECT l.line FROM main.loops "                                    \
                            "l WHERE l.id = a.loop) AS n_loop_line, " FILE_AND_LINE("a"),          \
        .from = "main.accesses a", .where = a_where, .order = BY_PLACE "a.column",                 \
        .name = "(SELECT v.name FROM main.variables v WHERE v.id = a.variable)", .file = "a.file", \
        .routine = "a.routine", .loop = "a.loop", .flags = access_flags                            \
    }
#define CALL(a_word, a_where)                                                                   \
    {                                                                                           \
        .word = a_word,                                                                         \
        .columns =                                                                              \
            "coalesce((SELECT x.full_name FROM main.routines x WHERE x.id = c.callee), "        \
            "c.text) AS name, c.kind, (SELECT group_concat(p.text, ', ') FROM (SELECT "         \
            "text FROM main.call_arguments p WHERE p.call = c.id ORDER BY p.position) p) "      \
            "AS arguments, (SELECT n_targets FROM main.pointer_targets p WHERE p.type = "       \
            "c.type LIMIT 1) AS n_targets, " ROUTINE_OF(                                        \
                "c") ", (SELECT l.line FROM "                                                   \
                     "main.loops l WHERE l.id = c.loop) AS n_loop_line, " FILE_AND_LINE("c"),   \
        .from = "main.calls c", .where = a_where, .order = BY_PLACE "c.column",                 \
        .name = "coalesce((SELECT x.name FROM main.routines x WHERE x.id = c.callee), c.text)", \
        .other_name = "(SELECT x.full_name FROM main.routines x WHERE x.id = c.callee)",        \
        .file = "c.file", .routine = "c.routine", .loop = "c.loop", .id = "c.id",               \
        .sort = NOUN_CALL, .flags = call_flags                                                  \
    }

static const struct query_noun nouns[] = {
    {.word = "files",
     .columns = "t.name AS name, t.is_system, (SELECT count(*) FROM main.routines r WHERE r.file = "
                "t.id AND r.is_defined) AS n_routines, (SELECT count(*) FROM main.includes i WHERE "
                "i.file = t.id) AS n_includes",
     .from = "main.files t",
     .order = "t.name",
     .name = "t.name",
     .file = "t.id",
     .flags = file_flags},
    {.word = "routines",
     .columns = "r.full_name AS name, r.kind, (SELECT t.name FROM main.types t WHERE t.id = "
                "r.type) AS type, r.linkage, r.n_statements, (SELECT count(*) FROM main.loops x "
                "WHERE x.routine = r.id) AS n_loops, (SELECT count(*) FROM main.calls x WHERE "
                "x.routine = r.id) AS n_calls, " FILE_AND_LINE("r"),
     .from = "main.routines r",
     .order = BY_PLACE "r.column, r.id",
     .name = "r.name",
     .other_name = "r.full_name",
     .file = "r.file",
     .routine = "r.id",
     .class = "r.class",
     .type = "r.type",
     .id = "r.id",
     .sort = NOUN_ROUTINE,
     .numbers = routine_numbers,
     .flags = routine_flags},
    {.word = "types",
     .columns = "t.name, t.kind, t.canonical, t.size_bytes AS n_bytes, t.n_elements",
     .from = "main.types t",
     .order = "t.name, t.id",
     .name = "t.name",
     .other_name = "t.canonical"},
    CLASS("classes", NULL),
    {.word = "templates",
     .columns = "t.name, t.kind, " FILE_AND_LINE("t"),
     .from = "(SELECT k.name AS name, k.kind AS kind, k.file AS file, k.line AS line, k.column AS "
             "column FROM main.classes k WHERE k.is_template UNION ALL SELECT r.full_name, r.kind, "
             "r.file, r.line, r.column FROM main.routines r WHERE r.is_template) t",
     .order = BY_PLACE "t.column",
     .name = "t.name",
     .file = "t.file"},
    {.word = "loops",
     .columns = ROUTINE_OF(
         "l") ", l.kind, l.depth, (SELECT count(*) FROM main.calls x WHERE "
              "x.loop = l.id) AS n_calls, (SELECT count(DISTINCT x.variable) FROM main.accesses "
              "x WHERE x.loop = l.id AND x.kind = 'subscript') AS n_arrays, " FILE_AND_LINE(
                  "l") ", l.end_line AS n_end_line",
     .from = "main.loops l",
     .order = BY_PLACE "l.column",
     .name = "(SELECT x.name FROM main.routines x WHERE x.id = l.routine)",
     .file = "l.file",
     .routine = "l.routine",
     .loop = "l.parent",
     .id = "l.id",
     .sort = NOUN_LOOP,
     .numbers = loop_numbers,
     .flags = loop_flags},
    VARIABLE("variables", NULL),
    VARIABLE("arrays", "(v.is_array OR EXISTS (SELECT 1 FROM main.accesses x WHERE x.variable = "
                       "v.id AND x.kind IN ('subscript', 'dereference')))"),
    VARIABLE("fields", "v.kind = 'field'"),
    ACCESS("accesses", NULL),
    ACCESS("reads", "a.mode IN ('read', 'update')"),
    ACCESS("writes", "a.mode IN ('write', 'update')"),
    CALL("calls", NULL),
    CALL("mpi", "(SELECT x.name GLOB 'MPI_*' OR x.name GLOB 'PMPI_*' FROM main.routines x WHERE "
                "x.id = c.callee)"),
    {.word = "openmp",
     .columns =
         "d.name, d.text, " ROUTINE_OF("d") ", " FILE_AND_LINE("d") ", d.end_line AS n_end_line",
     .from = "main.directives d",
     .order = BY_PLACE "d.column",
     .name = "d.name",
     .file = "d.file",
     .routine = "d.routine",
     .loop = "d.loop"},
    {.word = "macros",
     .columns = "t.name, t.is_function, t.text, " FILE_AND_LINE("t"),
     .from = "main.macros t",
     .order = BY_PLACE "t.column",
     .name = "t.name",
     .file = "t.file",
     .flags = macro_flags},
    {.word = "namespaces",
     .columns = "t.name, " FILE_AND_LINE("t"),
     .from = "main.namespaces t",
     .order = BY_PLACE "t.name",
     .name = "t.name",
     .file = "t.file"},
    {.word = "enums",
     .columns = "t.name, (SELECT group_concat(e.name, ', ') FROM main.enumerators e WHERE e.enum = "
                "t.id) AS enumerators, " FILE_AND_LINE("t"),
     .from = "main.enums t",
     .order = BY_PLACE "t.column",
     .name = "t.name",
     .file = "t.file"},
    {.word = "typedefs",
     .columns =
         "t.name, (SELECT y.name FROM main.types y WHERE y.id = t.type) AS type, " FILE_AND_LINE(
             "t"),
     .from = "main.typedefs t",
     .order = BY_PLACE "t.column",
     .name = "t.name",
     .file = "t.file",
     .type = "t.type"},
    {.word = "pragmas",
     .columns = "t.text AS name, " FILE_AND_LINE("t"),
     .from = "main.pragmas t",
     .order = BY_PLACE "t.text",
     .name = "t.text",
     .file = "t.file"},
    {.word = "includes",
     .columns =
         "(SELECT f.name FROM main.files f WHERE f.id = t.included) AS name, " FILE_AND_LINE("t"),
     .from = "main.includes t",
     .order = BY_PLACE "name",
     .name = "(SELECT f.name FROM main.files f WHERE f.id = t.included)",
     .file = "t.file"},
    {.word = "units",
     .columns = "(SELECT f.name FROM main.files f WHERE f.id = t.file) AS name, t.state, "
                "t.n_errors, t.problem",
     .from = "main.units t",
     .order = "t.id",
     .name = "(SELECT f.name FROM main.files f WHERE f.id = t.file)",
     .file = "t.file",
     .numbers = unit_numbers},
};

const char *const pdt_query_nouns[] = {
    "files",      "routines", "types",    "classes", "templates", "loops", "variables", "arrays",
    "fields",     "accesses", "reads",    "writes",  "calls",     "mpi",   "openmp",    "macros",
    "namespaces", "enums",    "typedefs", "pragmas", "includes",  "units", NULL};

const struct query_noun *query_noun_find(struct pm_str word)
{
    static const char *const others[][2] = {
        {"functions", "routines"}, {"function", "routines"}, {"methods", "routines"},
        {"structs", "classes"},    {"class", "classes"},     {"struct", "classes"},
        {"access", "accesses"},    {"directives", "openmp"}, {"members", "fields"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (pm_str_is(word, others[i][0]))
            word = pm_str_of(others[i][1]);
    for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++) {
        size_t len = strlen(nouns[i].word);
        bool is_singular = nouns[i].word[len - 1] == 's' && word.len == len - 1;
        if (pm_str_is(word, nouns[i].word) ||
            (is_singular && memcmp(word.p, nouns[i].word, word.len) == 0))
            return &nouns[i];
    }
    return NULL;
}
