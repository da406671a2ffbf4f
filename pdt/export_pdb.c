/* PDB 3.0: items `xx#id name` with a line for each attribute, and an empty line behind. */
#include "export.h"

struct exporting {
    struct pm_database *pdb;
    struct pm_buf *out;
    struct pm_error *err;
};

/* A text is one line. */
static void put_line(struct exporting *exporting, const char *text)
{
    for (const char *p = text; *p; p++)
        pm_buf_add_byte(exporting->out, (unsigned char)*p < ' ' ? ' ' : (unsigned char)*p);
    pm_buf_add_byte(exporting->out, '\n');
}

static void put_name(struct exporting *exporting, const char *key, const char *text)
{
    pm_buf_printf(exporting->out, "%s ", key);
    put_line(exporting, text);
}

static void put_item(struct exporting *exporting, const char *prefix, sqlite3_stmt *row)
{
    char key[40];
    snprintf(key, sizeof key, "%s#%lld", prefix, (long long)sqlite3_column_int64(row, 0));
    put_name(exporting, key, pm_database_text(row, 1));
}

/* Three columns: file, line, column. NULL 0 0: nowhere. */
static void put_place(struct exporting *exporting, const char *key, sqlite3_stmt *row, int column)
{
    if (key)
        pm_buf_add_str(exporting->out, key);
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        pm_buf_add_str(exporting->out, " NULL 0 0");
    else
        pm_buf_printf(exporting->out, " so#%lld %lld %lld",
                      (long long)sqlite3_column_int64(row, column),
                      (long long)sqlite3_column_int64(row, column + 1),
                      (long long)sqlite3_column_int64(row, column + 2));
    if (key)
        pm_buf_add_byte(exporting->out, '\n');
}

/* Columns: id, name, file, line, column. */
static void put_head(struct exporting *exporting, const char *prefix, const char *place,
                     sqlite3_stmt *row)
{
    put_item(exporting, prefix, row);
    put_place(exporting, place, row, 2);
}

/* id: bound to ?1; 0: the statement has none. */
static enum pm_status each(struct exporting *exporting, const char *sql, int64_t id,
                           pm_database_visit *put)
{
    return pm_database_each(exporting->pdb, sql, id, put, exporting, exporting->err);
}

static enum pm_status put_include(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    pm_buf_printf(exporting->out, "sinc so#%lld\n", (long long)sqlite3_column_int64(row, 0));
    return PM_OK;
}

static enum pm_status put_file(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    put_item(exporting, "so", row);
    enum pm_status status =
        each(exporting, "SELECT DISTINCT included FROM main.includes WHERE file = ?1 ORDER BY line",
             sqlite3_column_int64(row, 0), put_include);
    pm_buf_add_byte(exporting->out, '\n');
    return status;
}

static enum pm_status put_call(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    pm_buf_printf(exporting->out, "rcall ro#%lld %s", (long long)sqlite3_column_int64(row, 0),
                  sqlite3_column_int(row, 1) ? "virt" : "no");
    put_place(exporting, NULL, row, 2);
    pm_buf_add_byte(exporting->out, '\n');
    return PM_OK;
}

/* PDB's word for one of ours; NULL: it has none. */
static const char *word_for(const char *const words[][2], size_t n, const char *ours)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(ours, words[i][0]))
            return words[i][1];
    return NULL;
}

static const char *const special_kinds[][2] = {
    {"constructor", "ctor"}, {"destructor", "dtor"}, {"conversion", "conv"}};
static const char *const access_words[][2] = {
    {"public", "pub"}, {"protected", "prot"}, {"private", "priv"}};

#define WORD_FOR(words, ours) word_for(words, sizeof(words) / sizeof *(words), ours)

static const char *access_word(const char *access)
{
    const char *word = WORD_FOR(access_words, access);
    return word ? word : "pub";
}

/* 0 id, 1 name, 2-4 place, 5 class, 6 access, 7 type, 8 linkage, 9 storage, 10 kind, 11 virtual,
 * 12 inline, 13 static, 14 pure, 15-17 body's begin, 18-20 its end, 21 language,
 * 22 defined */
static enum pm_status put_routine(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    struct pm_buf *out = exporting->out;
    const char *special = WORD_FOR(special_kinds, pm_database_text(row, 10));
    const char *access = WORD_FOR(access_words, pm_database_text(row, 6));
    put_head(exporting, "ro", "rloc", row);
    if (sqlite3_column_type(row, 5) != SQLITE_NULL)
        pm_buf_printf(out, "rgroup gr#%lld\n", (long long)sqlite3_column_int64(row, 5));
    if (access)
        pm_buf_printf(out, "racs %s\n", access);
    if (sqlite3_column_type(row, 7) != SQLITE_NULL)
        pm_buf_printf(out, "rsig ty#%lld\n", (long long)sqlite3_column_int64(row, 7));
    static const char *const languages[] = {"C", "C++", "f90"};
    const char *language = languages[sqlite3_column_int(row, 21) % 3];
    bool is_internal = !strcmp(pm_database_text(row, 8), "internal");
    pm_buf_printf(out, "rlink %s\n", is_internal ? "internal" : language);
    const char *kind = sqlite3_column_int(row, 21) == 2 ? "fext" : "ext";
    pm_buf_printf(out, "rkind %s\n", !strcmp(pm_database_text(row, 9), "static") ? "stat" : kind);
    if (special)
        pm_buf_printf(out, "rskind %s\n", special);
    const char *is_virtual = sqlite3_column_int(row, 11) ? "virt" : "no";
    pm_buf_printf(out, "rvirt %s\n", sqlite3_column_int(row, 14) ? "pure" : is_virtual);
    if (sqlite3_column_int(row, 12))
        pm_buf_add_str(out, "rinline yes\n");
    if (sqlite3_column_int(row, 13))
        pm_buf_add_str(out, "rstatic yes\n");
    enum pm_status status = each(exporting,
                                 "SELECT callee, kind = 'virtual', file, line, column FROM "
                                 "main.calls WHERE routine = ?1 AND callee IS NOT NULL ORDER BY id",
                                 sqlite3_column_int64(row, 0), put_call);
    if (sqlite3_column_int(row, 22)) {
        pm_buf_add_str(out, "rpos");
        put_place(exporting, NULL, row, 2);
        put_place(exporting, NULL, row, 15);
        put_place(exporting, NULL, row, 15);
        put_place(exporting, NULL, row, 18);
        pm_buf_add_byte(out, '\n');
    }
    pm_buf_add_byte(out, '\n');
    return status;
}

static enum pm_status put_member(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    put_name(exporting, "gmem", pm_database_text(row, 0));
    put_place(exporting, "gmloc", row, 1);
    pm_buf_printf(exporting->out, "gmacs %s\ngmkind %s\ngmtype ty#%lld\n",
                  access_word(pm_database_text(row, 4)),
                  sqlite3_column_int(row, 6) ? "svar" : "var",
                  (long long)sqlite3_column_int64(row, 5));
    return PM_OK;
}

static enum pm_status put_base(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    const char *access = pm_database_text(row, 1);
    pm_buf_printf(exporting->out, "gbase %s ", sqlite3_column_int(row, 2) ? "virt" : "no");
    pm_buf_printf(exporting->out, "%s gr#%lld\n", access_word(access),
                  (long long)sqlite3_column_int64(row, 0));
    return PM_OK;
}

static enum pm_status put_class(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    int64_t id = sqlite3_column_int64(row, 0);
    put_head(exporting, "gr", "gloc", row);
    pm_buf_printf(exporting->out, "gkind %s\n", pm_database_text(row, 5));
    enum pm_status status =
        each(exporting,
             "SELECT base, access, is_virtual FROM main.bases WHERE class = ?1 AND base IN (SELECT "
             "id FROM main.classes) ORDER BY rowid",
             id, put_base);
    if (status != PM_OK)
        return status;
    status = each(exporting,
                  "SELECT name, file, line, column, access, type, is_static FROM "
                  "main.variables WHERE class = ?1 ORDER BY id",
                  id, put_member);
    pm_buf_add_byte(exporting->out, '\n');
    return status;
}

static const char *type_kind(const char *kind)
{
    static const char *const words[][2] = {
        {"Pointer", "ptr"},
        {"LValueReference", "ref"},
        {"RValueReference", "ref"},
        {"ConstantArray", "array"},
        {"IncompleteArray", "array"},
        {"VariableArray", "array"},
        {"FunctionProto", "func"},
        {"FunctionNoProto", "func"},
        {"Enum", "enum"},
        {"Void", "void"},
        {"Bool", "bool"},
        {"Float", "float"},
        {"Double", "float"},
        {"LongDouble", "float"},
        {"Typedef", "tref"},
        {"Record", "group"},
        {"MemberPointer", "ptrmem"},
    };
    const char *word = WORD_FOR(words, kind);
    if (word)
        return word;
    return strstr(kind, "Int") || strstr(kind, "Long") || strstr(kind, "Short") ||
                   strstr(kind, "Char")
               ? "int"
               : "na";
}

static enum pm_status put_type(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    const char *kind = type_kind(pm_database_text(row, 2));
    put_item(exporting, "ty", row);
    pm_buf_printf(exporting->out, "ykind %s\n", kind);
    if (!strcmp(kind, "array") && sqlite3_column_type(row, 3) != SQLITE_NULL)
        pm_buf_printf(exporting->out, "ynelem %lld\n", (long long)sqlite3_column_int64(row, 3));
    pm_buf_add_byte(exporting->out, '\n');
    return PM_OK;
}

static enum pm_status put_namespace(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    put_head(exporting, "na", "nloc", row);
    pm_buf_add_byte(exporting->out, '\n');
    return PM_OK;
}

static enum pm_status put_macro(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    put_head(exporting, "ma", "mloc", row);
    pm_buf_printf(exporting->out, "mkind def\nmtext #define %s", pm_database_text(row, 1));
    if (!sqlite3_column_int(row, 6)) /* parameters follow the name at once */
        pm_buf_add_byte(exporting->out, ' ');
    put_line(exporting, pm_database_text(row, 5));
    pm_buf_add_byte(exporting->out, '\n');
    return PM_OK;
}

static enum pm_status put_pragma(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    put_head(exporting, "pr", "ploc", row);
    pm_buf_add_str(exporting->out, "pkind pragma\n");
    put_name(exporting, "ptext #pragma", pm_database_text(row, 1));
    pm_buf_add_byte(exporting->out, '\n');
    return PM_OK;
}

static enum pm_status put_language(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    bool has_fortran = sqlite3_column_int(row, 0), has_others = sqlite3_column_int(row, 1);
    const char *language = has_others ? "multi" : "fortran";
    pm_buf_printf(exporting->out, "lang %s\n\n", has_fortran ? language : "c_or_c++");
    return PM_OK;
}

enum pm_status pdt_export_pdb(struct pm_database *pdb, struct pm_buf *out, struct pm_error *err)
{
    static const struct {
        const char *sql;
        pm_database_visit *put;
    } parts[] = {
        {"SELECT coalesce(max(usr GLOB 'fortran:*'), 0), coalesce(max(usr NOT GLOB 'fortran:*'), "
         "0) FROM main.routines WHERE is_defined",
         put_language},
        {"SELECT id, name FROM main.files ORDER BY id", put_file},
        {"SELECT id, name, file, line, column, class, access, type, linkage, storage, kind, "
         "is_virtual, is_inline, is_static, is_pure, CASE WHEN body_line THEN file END, body_line, "
         "body_column, CASE WHEN end_line THEN file END, end_line, end_column, CASE WHEN usr GLOB "
         "'fortran:*' THEN 2 ELSE usr GLOB '*#' OR linkage_name GLOB '_Z*' END, is_defined FROM "
         "main.routines ORDER BY id",
         put_routine},
        {"SELECT id, name, file, line, column, kind FROM main.classes ORDER BY id", put_class},
        {"SELECT id, name, kind, n_elements FROM main.types ORDER BY id", put_type},
        {"SELECT id, name, file, line, column FROM main.namespaces ORDER BY id", put_namespace},
        {"SELECT id, name, file, line, column, text, is_function FROM main.macros ORDER BY id",
         put_macro},
        {"SELECT id, text, file, line, 1 FROM main.pragmas ORDER BY id", put_pragma},
    };
    struct exporting exporting = {.pdb = pdb, .out = out, .err = err};
    pm_buf_add_str(out, "<PDB 3.0>\n");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        enum pm_status status = each(&exporting, parts[i].sql, 0, parts[i].put);
        if (status != PM_OK)
            return status;
    }
    return out->failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory for the text") : PM_OK;
}
