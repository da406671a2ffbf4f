/* Files, functions, loops and variables as nouns of level Source. */
#include "export.h"

#include "mapping/pif/pif.h"

static const char level[] = "Source";

struct exporting {
    struct pm_database *pdb;
    struct pm_pif *pif;
    struct pm_error *err;
};

static pm_id file_id(const char *path)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "file");
    pm_id_hash_string(&hash, path);
    return pm_id_hash_done(&hash);
}

/* Ids of constructors and destructors are those of names that only compilers know (C4, D4). */
#define HAS_ID "r.linkage_name <> '' AND r.kind NOT IN ('constructor', 'destructor')"

static pm_id function_id(const char *linkage_name, const char *path, bool is_local)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "func");
    pm_id_hash_string(&hash, linkage_name);
    if (is_local)
        pm_id_hash_string(&hash, path);
    return pm_id_hash_done(&hash);
}

static pm_id loop_id(pm_id function, const char *path, unsigned line, unsigned column)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "loop");
    pm_id_hash_id(&hash, function);
    pm_id_hash_string(&hash, path);
    pm_id_hash_number(&hash, line);
    pm_id_hash_number(&hash, column);
    return pm_id_hash_done(&hash);
}

static enum pm_status put_file(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    const char *path = pm_database_text(row, 0);
    struct pm_pif_noun noun = {
        .id = file_id(path), .name = path, .level = level, .kind = "file", .file = path};
    pm_pif_noun(exporting->pif, &noun);
    return PM_OK;
}

/* 0 name, 1 linkage name, 2 path, 3 is local, 4 line, 5 column, 6 end line */
static enum pm_status put_routine(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    const char *linkage = pm_database_text(row, 1), *path = pm_database_text(row, 2);
    const char *name = pm_database_text(row, 0);
    struct pm_pif_noun noun = {.id = function_id(linkage, path, sqlite3_column_int(row, 3)),
                               .name = name,
                               .level = level,
                               .kind = "function",
                               .linkage = strcmp(linkage, name) ? linkage : NULL,
                               .file = path,
                               .parent = file_id(path),
                               .line = (uint32_t)sqlite3_column_int64(row, 4),
                               .column = (uint32_t)sqlite3_column_int64(row, 5),
                               .end_line = (uint32_t)sqlite3_column_int64(row, 6)};
    pm_pif_noun(exporting->pif, &noun);
    return PM_OK;
}

/* 0 linkage name, 1 the function's path, 2 is local, 3 path, 4 line, 5 column, 6 end line, 7 kind.
 * GCC places other loops than `for` elsewhere, so their ids would not be the plugin's: they get
 * others. */
static enum pm_status put_loop(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    const char *path = pm_database_text(row, 3), *base = strrchr(path, '/');
    unsigned line = (unsigned)sqlite3_column_int64(row, 4);
    unsigned column = (unsigned)sqlite3_column_int64(row, 5);
    pm_id function =
        function_id(pm_database_text(row, 0), pm_database_text(row, 1), sqlite3_column_int(row, 2));
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    pm_buf_printf(&name, "%s:%u:%u", base ? base + 1 : path, line, column);
    const char *kind = pm_database_text(row, 7);
    bool is_for = !strcmp(kind, "for") || !strcmp(kind, "loop"); /* a plugin's own place */
    pm_id id = is_for ? loop_id(function, path, line, column) : 0;
    struct pm_pif_noun noun = {.id = id,
                               .name = name.data ? name.data : "",
                               .level = level,
                               .kind = "loop",
                               .file = path,
                               .parent = function,
                               .line = line,
                               .column = column,
                               .end_line = (uint32_t)sqlite3_column_int64(row, 6)};
    pm_pif_noun(exporting->pif, &noun);
    pm_buf_release(&name);
    return PM_OK;
}

/* 0 name, 1 type, 2 path, 3 line, 4 column, 5 is_array: globals; the id is left to the name */
static enum pm_status put_variable(void *context, sqlite3_stmt *row)
{
    struct exporting *exporting = context;
    struct pm_pif_noun noun = {.name = pm_database_text(row, 0),
                               .level = level,
                               .kind = sqlite3_column_int(row, 5) ? "array" : "variable",
                               .type = pm_database_text(row, 1),
                               .file = pm_database_text(row, 2),
                               .line = (uint32_t)sqlite3_column_int64(row, 3),
                               .column = (uint32_t)sqlite3_column_int64(row, 4)};
    pm_pif_noun(exporting->pif, &noun);
    return PM_OK;
}

static enum pm_status put_all(struct exporting *exporting)
{
    static const struct {
        const char *sql;
        pm_database_visit *put;
    } parts[] = {
        {"SELECT name FROM main.files WHERE NOT is_system ORDER BY id", put_file},
        {"SELECT r.full_name, r.linkage_name, f.name, r.linkage = 'internal', r.line, r.column, "
         "r.end_line FROM main.routines r JOIN main.files f ON f.id = r.file WHERE r.is_defined "
         "AND " HAS_ID " ORDER BY r.id",
         put_routine},
        {"SELECT r.linkage_name, f.name, r.linkage = 'internal', g.name, l.line, l.column, "
         "l.end_line, l.kind FROM main.loops l JOIN main.routines r ON r.id = l.routine JOIN "
         "main.files f ON f.id = r.file JOIN main.files g ON g.id = l.file WHERE " HAS_ID
         " ORDER BY l.id",
         put_loop},
        {"SELECT v.name, t.name, f.name, v.line, v.column, v.is_array FROM main.variables v JOIN "
         "main.types t ON t.id = v.type JOIN main.files f ON f.id = v.file WHERE v.kind = 'global' "
         "ORDER BY v.id",
         put_variable},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        enum pm_status status = pm_database_each(exporting->pdb, parts[i].sql, 0, parts[i].put,
                                                 exporting, exporting->err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

enum pm_status pdt_export_pif(struct pm_database *pdb, struct pm_buf *out, struct pm_error *err)
{
    struct exporting exporting = {.pdb = pdb, .pif = pm_pif_new(), .err = err};
    if (!exporting.pif)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    pm_pif_set_producer(exporting.pif, "perfmap-pdb " PERFMAP_VERSION);
    pm_pif_level(exporting.pif, level, NULL);
    enum pm_status status = put_all(&exporting);
    if (status != PM_OK)
        goto out;
    pm_pif_write_text(exporting.pif, out);
    if (out->failed || pm_pif_failed(exporting.pif))
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory for the text");
out:
    pm_pif_free(exporting.pif);
    return status;
}
