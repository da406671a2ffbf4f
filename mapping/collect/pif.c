/* PIF of binaries and of the user: to rows. */
#include "pif.h"

#include "binaries.h"
#include "collector.h"
#include "model.h"
#include "writer.h"

#include "format/pm_id.h"
#include "mapping/archive/archive.h"
#include "mapping/base/map.h"
#include "mapping/pif/pif.h"

/* --- PIF to rows --- */

struct import {
    const struct pm_pif *pif;
    const struct pm_map *nouns; /* pif id -> row */
    struct pm_map verbs;        /* pif id -> row */
    bool is_code;               /* facts of a binary */
};

static enum pm_status import_levels(struct collector *c, const struct pm_pif *pif)
{
    for (size_t i = 0; i < pm_pif_n_levels(pif); i++) {
        const char *name, *above;
        uint32_t row;
        pm_pif_get_level(pif, i, &name, &above);
        enum pm_status status = collect_level_row(c, name, &row);
        if (status != PM_OK)
            return status;
        if (!above || c->model->levels[row - 1].above)
            continue;
        c->model->levels[row - 1].above = collect_intern(c, above);
        if (!c->model->levels[row - 1].above)
            return collect_no_memory(c);
    }
    return PM_OK;
}

static enum pm_status import_verbs(struct collector *c, struct import *import)
{
    for (size_t i = 0; i < pm_pif_n_verbs(import->pif); i++) {
        struct pm_pif_verb verb;
        uint32_t row;
        pm_pif_get_verb(import->pif, i, &verb);
        if (import->is_code && verb.id == pm_pif_verb_id("Source", "Refers"))
            continue; /* references.c */
        enum pm_status status = collect_verb_row(c, verb.level, verb.name, verb.description, &row);
        if (status != PM_OK)
            return status;
        if (!pm_map_put(&import->verbs, verb.id, row))
            return collect_no_memory(c);
    }
    return PM_OK;
}

/* Writes the nouns whose row is at least first; nouns before that are written already. */
static enum pm_status import_nouns(struct collector *c, const struct import *import, uint32_t first,
                                   uint32_t binary)
{
    for (size_t i = 0; i < pm_pif_n_nouns(import->pif); i++) {
        struct pm_pif_noun noun;
        uint32_t level;
        pm_pif_get_noun(import->pif, i, &noun);
        uint32_t row = pm_map_get(import->nouns, noun.id);
        if (row < first)
            continue;
        enum pm_status status = collect_level_row(c, noun.level, &level);
        if (status == PM_OK)
            status = collect_write_noun(c, row, &noun, level, binary,
                                        noun.parent ? pm_map_get(import->nouns, noun.parent) : 0);
        if (status == PM_OK)
            status = collect_write_attributes(c, import->pif, row, &noun);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status import_sentence(struct collector *c, const struct import *import,
                                      const struct pm_pif_sentence *sentence, uint32_t *ret_row)
{
    uint32_t verb = pm_map_get(&import->verbs, sentence->verb), nouns[PM_PIF_MAX_NOUNS];
    *ret_row = 0;
    if (!verb || sentence->n_nouns == 0 || sentence->n_nouns > PM_PIF_MAX_NOUNS)
        return PM_OK; /* no sentence that a cost could have; the caller leaves the mapping out and
                         says so */
    for (uint32_t i = 0; i < sentence->n_nouns; i++) {
        nouns[i] = pm_map_get(import->nouns, sentence->nouns[i]);
        if (!nouns[i])
            return PM_OK;
    }
    return sentence->n_nouns == 1
               ? collect_short_sentence(c, verb, nouns[0], ret_row)
               : collect_long_sentence(c, verb, nouns, sentence->n_nouns, ret_row);
}

/* unstated: the origin of mappings that state none. */
static enum pm_status import_mappings(struct collector *c, const struct import *import,
                                      const char *unstated, const char *name)
{
    size_t n_left_out = 0;
    pm_id refers = pm_pif_verb_id("Source", "Refers");
    for (size_t i = 0; i < pm_pif_n_mappings(import->pif); i++) {
        struct pm_pif_mapping mapping;
        struct collect_mapping row = {0};
        pm_pif_get_mapping(import->pif, i, &mapping);
        if (import->is_code && mapping.source.verb == refers)
            continue;
        enum pm_status status = import_sentence(c, import, &mapping.source, &row.source);
        if (status == PM_OK)
            status = import_sentence(c, import, &mapping.destination, &row.destination);
        if (status != PM_OK)
            return status;
        if (!row.source || !row.destination) {
            n_left_out++;
            continue;
        }
        row.weight = mapping.weight;
        row.origin = collect_intern(c, mapping.origin ? mapping.origin : unstated);
        if (!row.origin)
            return collect_no_memory(c);
        status = collect_add_mapping(c, &row);
        if (status != PM_OK)
            return status;
    }
    if (n_left_out)
        collect_warn(c,
                     "PIF of '%s': %zu mappings of sentences without nouns or with undeclared ones "
                     "are left out",
                     name, n_left_out);
    return PM_OK;
}

enum pm_status collect_import(struct collector *c, const struct pm_pif *pif,
                              const struct pm_map *nouns, uint32_t first, uint32_t binary,
                              const char *name)
{
    struct import import = {.pif = pif, .nouns = nouns, .is_code = binary != 0};
    enum pm_status status = import_levels(c, pif);
    if (status == PM_OK)
        status = import_verbs(c, &import);
    if (status == PM_OK)
        status = import_nouns(c, &import, first, binary);
    if (status == PM_OK)
        status = import_mappings(c, &import, binary ? "compiler" : "user", name);
    pm_map_release(&import.verbs);
    return status;
}

/* --- the user's PIF --- */

/* The noun that the user means: the one with that id, else level and name, else name alone when no
 * level is said. 0: a new one. */
static enum pm_status find_user_noun(struct collector *c, sqlite3_stmt *by_name,
                                     const char *pif_path, const struct pm_pif_noun *noun,
                                     uint32_t *ret_row)
{
    *ret_row = 0;
    for (struct collect_binary *binary = c->binaries->first; binary && !*ret_row;
         binary = binary->next)
        *ret_row = pm_map_get(&binary->nouns, noun->id);
    if (!*ret_row)
        *ret_row = pm_map_get(&c->model->user, noun->id);
    return *ret_row ? PM_OK
                    : collect_noun_named(c, by_name, pif_path, noun->level, noun->name, ret_row);
}

/* The number behind the last colon before *end, which becomes that colon's place; 0: none. */
static uint64_t number_behind_colon(const char *name, size_t *end)
{
    uint64_t number = 0;
    size_t colon = *end;
    while (colon > 0 && name[colon - 1] != ':')
        colon--;
    if (colon == 0 ||
        !pm_str_to_u64((struct pm_str){name + colon, *end - colon}, UINT32_MAX, &number))
        return 0;
    *end = colon - 1;
    return number;
}

/* Nouns whose name is FILE:LINE:COLUMN are stored without it. */
static enum pm_status bind_place(struct collector *c, sqlite3_stmt *by_name, const char *name)
{
    size_t end = strlen(name);
    uint32_t file = 0;
    uint64_t column = number_behind_colon(name, &end),
             line = column ? number_behind_colon(name, &end) : 0;
    enum pm_status status = line ? collect_find_file(c, name, end, &file) : PM_OK;
    bind_number_or_null(by_name, 3, file);
    bind_number_or_null(by_name, 4, line);
    bind_number_or_null(by_name, 5, column);
    return status;
}

enum pm_status collect_noun_named(struct collector *c, sqlite3_stmt *by_name, const char *file,
                                  const char *level_name, const char *name, uint32_t *ret_row)
{
    *ret_row = 0;
    if (!name || !*name)
        return PM_OK;
    uint32_t level = 0;
    bool has_row = true, again = false;
    enum pm_status status = PM_OK;
    if (level_name && *level_name)
        status = collect_level_row(c, level_name, &level);
    if (status != PM_OK || (status = bind_place(c, by_name, name)) != PM_OK)
        return status;
    bind_text(by_name, 1, name);
    bind_number_or_null(by_name, 2, level);
    status = pm_archive_step(c->writer->archive, by_name, c->err, &has_row);
    if (status == PM_OK && has_row) {
        *ret_row = (uint32_t)sqlite3_column_int64(by_name, 0);
        status = pm_archive_step(c->writer->archive, by_name, c->err, &again);
        if (status == PM_OK && again)
            collect_warn(c,
                         "'%s': several nouns are called '%s'; the first is taken (write "
                         "level::name, or name#id)",
                         file, name);
    }
    sqlite3_reset(by_name);
    return status;
}

static enum pm_status import_user(struct collector *c, const struct pm_pif *pif, const char *path,
                                  sqlite3_stmt *by_name)
{
    uint32_t first = c->model->n_nouns + 1;
    for (size_t i = 0; i < pm_pif_n_nouns(pif); i++) {
        struct pm_pif_noun noun;
        uint32_t row;
        pm_pif_get_noun(pif, i, &noun);
        enum pm_status status = find_user_noun(c, by_name, path, &noun, &row);
        if (status != PM_OK)
            return status;
        if (!pm_map_put(&c->model->user, noun.id, row ? row : ++c->model->n_nouns))
            return collect_no_memory(c);
    }
    return collect_import(c, pif, &c->model->user, first, 0, path);
}

enum pm_status collect_prepare_names(struct collector *c, sqlite3_stmt **ret_by_name)
{
    if (sqlite3_exec(pm_archive_db(c->writer->archive),
                     "CREATE INDEX IF NOT EXISTS nouns_name ON nouns(name); CREATE INDEX IF NOT "
                     "EXISTS nouns_place ON nouns(file, line, \"column\") WHERE name IS NULL",
                     NULL, NULL, NULL) != SQLITE_OK)
        return pm_archive_error(c->writer->archive, c->err);
    return pm_archive_prepare(
        c->writer->archive,
        "SELECT id FROM (SELECT id, level FROM nouns WHERE name = ?1 UNION ALL SELECT id, level "
        "FROM nouns WHERE name IS NULL AND file = ?3 AND line = ?4 AND \"column\" = ?5) WHERE ?2 "
        "IS NULL OR level = ?2 ORDER BY id LIMIT 2",
        c->err, ret_by_name);
}

enum pm_status collect_user_pif(struct collector *c, const char *path)
{
    struct pm_pif *pif = pm_pif_new();
    if (!pif)
        return collect_no_memory(c);
    sqlite3_stmt *by_name = NULL;
    enum pm_status status = pm_pif_read_file(pif, path, c->err);
    if (status == PM_OK)
        status = collect_prepare_names(c, &by_name);
    if (status == PM_OK)
        status = import_user(c, pif, path, by_name);
    sqlite3_finalize(by_name);
    pm_pif_free(pif);
    return status;
}
