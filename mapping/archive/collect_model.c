/* Nouns, verbs, sentences and mappings: from the PIF of binaries and of the user to rows. */
#include "collect_internal.h"

#include <stdlib.h>

enum { LONG_SENTENCE_BUCKETS = 4096 };

/* --- levels and verbs: few, in memory until the end --- */

static const char *intern(struct collector *c, const char *text)
{
    return pm_intern_add(c->strings, text, strlen(text));
}

/* Row of a level by name; NULL is "". */
static enum pm_status level_row(struct collector *c, const char *name, uint32_t *ret_level)
{
    name = name ? name : "";
    for (size_t i = 0; i < c->n_levels; i++)
        if (strcmp(c->levels[i].name, name) == 0) {
            *ret_level = (uint32_t)i + 1;
            return PM_OK;
        }
    struct collect_level *levels = pm_realloc_array(c->levels, c->n_levels + 1, sizeof *levels);
    if (!levels)
        return collect_no_memory(c);
    c->levels = levels;
    levels[c->n_levels] = (struct collect_level){.name = intern(c, name)};
    if (!levels[c->n_levels].name)
        return collect_no_memory(c);
    *ret_level = (uint32_t)++c->n_levels;
    return PM_OK;
}

static enum pm_status verb_row(struct collector *c, const char *level_name, const char *name,
                               const char *description, uint32_t *ret_verb)
{
    uint32_t level;
    enum pm_status status = level_row(c, level_name, &level);
    if (status != PM_OK)
        return status;
    name = intern(c, name ? name : "");
    description = description ? intern(c, description) : NULL;
    struct collect_verb *verbs = pm_realloc_array(c->verbs, c->n_verbs + 1, sizeof *verbs);
    if (verbs)
        c->verbs = verbs;
    if (!name || !verbs)
        return collect_no_memory(c);
    for (size_t i = 0; i < c->n_verbs; i++)
        if (verbs[i].name == name && verbs[i].level == level) {
            if (!verbs[i].description)
                verbs[i].description = description;
            *ret_verb = (uint32_t)i + 1;
            return PM_OK;
        }
    verbs[c->n_verbs] = (struct collect_verb){name, description, level};
    *ret_verb = (uint32_t)++c->n_verbs;
    return PM_OK;
}

enum pm_status collect_model_start(struct collector *c)
{
    c->long_sentences = pm_alloc_array(LONG_SENTENCE_BUCKETS, sizeof *c->long_sentences);
    if (!c->long_sentences)
        return collect_no_memory(c);
    enum pm_status status = level_row(c, "Base", &c->base_level);
    return status == PM_OK ? verb_row(c, "Base", "Executes", NULL, &c->executes) : status;
}

void collect_model_release(struct collector *c)
{
    for (struct collect_binary *binary = c->binaries; binary; binary = binary->next) {
        pm_map_release(&binary->nouns);
        pm_symbols_free(binary->symbols);
    }
    pm_map_release(&c->processes);
    pm_map_release(&c->user);
    pm_map_release(&c->sentences);
    free(c->long_sentences);
    free(c->levels);
    free(c->verbs);
    free(c->mappings);
}

/* --- nouns --- */

/* binary, parent: rows, 0 none. */
static enum pm_status write_noun(struct collector *c, uint32_t row, const struct pm_pif_noun *noun,
                                 uint32_t level, uint32_t binary, uint32_t parent)
{
    sqlite3_stmt *insert = c->statements[INSERT_NOUN];
    sqlite3_bind_int64(insert, 1, row);
    sqlite3_bind_int64(insert, 2, (int64_t)noun->id);
    bind_number_or_null(insert, 3, binary);
    sqlite3_bind_int64(insert, 4, level);
    char hex[20];
    bool has_name = noun->name && *noun->name;
    if (!has_name) /* only mentioned, never declared */
        snprintf(hex, sizeof hex, "#%016llx", (unsigned long long)noun->id);
    bind_text(insert, 5, has_name ? noun->name : hex);
    bind_text(insert, 6, noun->kind);
    bind_text(insert, 7, noun->description);
    bind_text(insert, 8, noun->type);
    bind_text(insert, 9, noun->linkage);
    bind_text(insert, 10, noun->file);
    bind_number_or_null(insert, 11, noun->line);
    bind_number_or_null(insert, 12, noun->column);
    bind_number_or_null(insert, 13, noun->end_line);
    bind_number_or_null(insert, 14, parent);
    return collect_insert(c, INSERT_NOUN);
}

/* A noun of ours, at level Base. */
static enum pm_status add_noun(struct collector *c, pm_id id, const char *name, const char *kind,
                               const char *description, uint32_t binary, uint32_t *ret_row)
{
    struct pm_pif_noun noun = {.id = id, .name = name, .kind = kind, .description = description};
    *ret_row = ++c->n_nouns;
    return write_noun(c, *ret_row, &noun, c->base_level, binary, 0);
}

static enum pm_status write_attribute(struct collector *c, uint32_t row, const char *key,
                                      const char *value)
{
    sqlite3_stmt *insert = c->statements[INSERT_NOUN_ATTRIBUTE];
    sqlite3_bind_int64(insert, 1, row);
    bind_text(insert, 2, key);
    bind_text(insert, 3, value);
    return collect_insert(c, INSERT_NOUN_ATTRIBUTE);
}

/* All values of the n-th attribute's key, one a line; status PM_OK and *ret_value NULL when an
 * earlier one has the key. */
static enum pm_status attribute_value(struct collector *c, const struct pm_pif *pif, pm_id id,
                                      size_t n, const char *key, const char *value,
                                      struct pm_buf *buf, const char **ret_value)
{
    const char *other_key, *other_value;
    bool several = false;
    *ret_value = NULL;
    pm_buf_clear(buf);
    for (size_t i = 0; pm_pif_nth_attribute(pif, id, i, &other_key, &other_value); i++) {
        if (strcmp(other_key, key) != 0)
            continue;
        if (i < n)
            return PM_OK;
        several |= i > n;
        if (i > n)
            pm_buf_add_byte(buf, '\n');
        pm_buf_add_str(buf, other_value);
    }
    if (several && buf->failed)
        return collect_no_memory(c);
    *ret_value = several ? buf->data : value;
    return PM_OK;
}

static enum pm_status write_attributes(struct collector *c, const struct pm_pif *pif, uint32_t row,
                                       const struct pm_pif_noun *noun)
{
    struct pm_buf buf = PM_BUF_INIT(1 << 20);
    const char *key, *value;
    enum pm_status status = PM_OK;
    if (noun->address)
        status = write_attribute(c, row, "address", noun->address);
    for (size_t i = 0; status == PM_OK && pm_pif_nth_attribute(pif, noun->id, i, &key, &value);
         i++) {
        status = attribute_value(c, pif, noun->id, i, key, value, &buf, &value);
        if (status == PM_OK && value)
            status = write_attribute(c, row, key, value);
    }
    pm_buf_release(&buf);
    return status;
}

/* --- sentences --- */

static enum pm_status write_sentence(struct collector *c, uint32_t row, uint32_t verb,
                                     uint32_t noun)
{
    struct collect_value values[] = {collect_integer(row), collect_integer(verb),
                                     collect_integer(noun)};
    return collect_add_row(c, TABLE_SENTENCES, values);
}

static enum pm_status short_sentence(struct collector *c, uint32_t verb, uint32_t noun,
                                     uint32_t *ret_sentence)
{
    uint64_t key = (uint64_t)verb << 32 | noun;
    uint32_t row = pm_map_get(&c->sentences, key);
    if (!row) {
        row = ++c->n_sentences;
        if (!pm_map_put(&c->sentences, key, row))
            return collect_no_memory(c);
        enum pm_status status = write_sentence(c, row, verb, noun);
        if (status != PM_OK)
            return status;
    }
    *ret_sentence = row;
    return PM_OK;
}

static enum pm_status long_sentence(struct collector *c, uint32_t verb, const uint32_t *nouns,
                                    uint32_t n_nouns, uint32_t *ret_sentence)
{
    uint64_t hash = XXH64(nouns, n_nouns * sizeof *nouns, verb);
    struct collect_sentence **bucket = &c->long_sentences[hash % LONG_SENTENCE_BUCKETS];
    for (const struct collect_sentence *at = *bucket; at; at = at->next_same_hash)
        if (at->verb == verb && at->n_nouns == n_nouns &&
            memcmp(at->nouns, nouns, n_nouns * sizeof *nouns) == 0) {
            *ret_sentence = at->row;
            return PM_OK;
        }
    struct collect_sentence *sentence = pm_arena_alloc(&c->arena, sizeof *sentence);
    if (!sentence)
        return collect_no_memory(c);
    *sentence = (struct collect_sentence){++c->n_sentences, verb, n_nouns, {0}, *bucket};
    memcpy(sentence->nouns, nouns, n_nouns * sizeof *nouns);
    *bucket = sentence;
    enum pm_status status = write_sentence(c, sentence->row, verb, n_nouns ? nouns[0] : 0);
    for (uint32_t i = 1; i < n_nouns && status == PM_OK; i++) {
        sqlite3_stmt *insert = c->statements[INSERT_SENTENCE_NOUN];
        sqlite3_bind_int64(insert, 1, sentence->row);
        sqlite3_bind_int64(insert, 2, i);
        sqlite3_bind_int64(insert, 3, nouns[i]);
        status = collect_insert(c, INSERT_SENTENCE_NOUN);
    }
    *ret_sentence = sentence->row;
    return status;
}

/* --- PIF to rows --- */

struct import {
    const struct pm_pif *pif;
    const struct pm_map *nouns; /* pif id -> row */
    struct pm_map verbs;        /* pif id -> row */
    sqlite3_stmt *by_name;      /* the user's PIF: nouns that are there already */
};

static enum pm_status import_levels(struct collector *c, const struct pm_pif *pif)
{
    for (size_t i = 0; i < pm_pif_n_levels(pif); i++) {
        const char *name, *above;
        uint32_t row;
        pm_pif_get_level(pif, i, &name, &above);
        enum pm_status status = level_row(c, name, &row);
        if (status != PM_OK)
            return status;
        if (!above || c->levels[row - 1].above)
            continue;
        c->levels[row - 1].above = intern(c, above);
        if (!c->levels[row - 1].above)
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
        enum pm_status status = verb_row(c, verb.level, verb.name, verb.description, &row);
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
        enum pm_status status = level_row(c, noun.level, &level);
        if (status == PM_OK)
            status = write_noun(c, row, &noun, level, binary,
                                noun.parent ? pm_map_get(import->nouns, noun.parent) : 0);
        if (status == PM_OK)
            status = write_attributes(c, import->pif, row, &noun);
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
    return sentence->n_nouns == 1 ? short_sentence(c, verb, nouns[0], ret_row)
                                  : long_sentence(c, verb, nouns, sentence->n_nouns, ret_row);
}

static enum pm_status import_mappings(struct collector *c, const struct import *import,
                                      const char *name)
{
    size_t n_left_out = 0;
    for (size_t i = 0; i < pm_pif_n_mappings(import->pif); i++) {
        struct pm_pif_mapping mapping;
        struct collect_mapping row = {0};
        pm_pif_get_mapping(import->pif, i, &mapping);
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
        row.origin = intern(c, mapping.origin ? mapping.origin : "compiler");
        struct collect_mapping *mappings =
            collect_grow(c->mappings, c->n_mappings, &c->mappings_cap, sizeof *mappings);
        if (mappings)
            c->mappings = mappings;
        if (!mappings || !row.origin)
            return collect_no_memory(c);
        mappings[c->n_mappings++] = row;
    }
    if (n_left_out)
        collect_warn(c,
                     "PIF of '%s': %zu mappings of sentences without nouns or with undeclared ones "
                     "are left out",
                     name, n_left_out);
    return PM_OK;
}

/* Levels, verbs, nouns and mappings of a PIF whose nouns have got their rows. */
static enum pm_status import_pif(struct collector *c, struct import *import, uint32_t first,
                                 uint32_t binary, const char *name)
{
    enum pm_status status = import_levels(c, import->pif);
    if (status == PM_OK)
        status = import_verbs(c, import);
    if (status == PM_OK)
        status = import_nouns(c, import, first, binary);
    if (status == PM_OK)
        status = import_mappings(c, import, name);
    pm_map_release(&import->verbs);
    return status;
}

/* --- binaries --- */

static enum pm_status import_binary(struct collector *c, struct collect_binary *binary,
                                    const struct pm_pif *pif)
{
    size_t n = pm_pif_n_nouns(pif);
    uint32_t first = c->n_nouns + 1;
    if (n > UINT32_MAX - c->n_nouns || !pm_map_reserve(&binary->nouns, n))
        return collect_no_memory(c);
    for (size_t i = 0; i < n; i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(pif, i, &noun);
        if (!pm_map_put(&binary->nouns, noun.id, ++c->n_nouns))
            return collect_no_memory(c);
    }
    struct import import = {.pif = pif, .nouns = &binary->nouns};
    return import_pif(c, &import, first, binary->row, binary->path);
}

/* Reads the compact PIF of the file that ran; what is sound of a damaged one is used. */
static enum pm_status read_binary_pif(struct collector *c, struct collect_binary *binary,
                                      const char **ret_state)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_pif *pif = pm_pif_new();
    if (!pif)
        return collect_no_memory(c);
    enum pm_status status = pm_pif_read_elf(pif, binary->path, &err, NULL);
    *ret_state = "read";
    if (status == PM_ERR_MEMORY || pm_pif_failed(pif)) {
        status = collect_no_memory(c);
        goto out;
    }
    if (status == PM_ERR_NOT_FOUND) {
        *ret_state = "missing";
        collect_warn(c,
                     "'%s' has sleds but no PIF (stripped, or compiled without): its code keeps "
                     "the names of its symbols",
                     binary->path);
    } else if (status != PM_OK) {
        *ret_state = "damaged";
        collect_warn(c, "PIF of '%s' is used as far as it goes: %s", binary->path,
                     pm_error_text(&err));
    }
    status = import_binary(c, binary, pif);
out:
    pm_error_release(&err);
    pm_pif_free(pif);
    return status;
}

/* Sets *ret_state to pif_state of table binaries. */
static enum pm_status explain_binary(struct collector *c, struct collect_binary *binary,
                                     const struct pm_run_file_object *object,
                                     const char **ret_state)
{
    char why[200];
    struct pm_binary_identity identity = {object->build_id, object->file_bytes, object->mtime_ns};
    *ret_state = "missing";
    switch (pm_binary_check(binary->path, &identity, why, sizeof why)) {
    case PM_BINARY_SAME:
        binary->same = true;
        return read_binary_pif(c, binary, ret_state);
    case PM_BINARY_CHANGED:
        *ret_state = "changed";
        collect_warn(c,
                     "'%s' is not the file that ran any more%s%s: its code is named by addresses "
                     "only; collect before building "
                     "again",
                     binary->path, *why ? ", " : "", why);
        break;
    case PM_BINARY_GONE:
        collect_warn(c, "'%s' is not there any more: its code is named by addresses only",
                     binary->path);
        break;
    case PM_BINARY_UNREADABLE:
        collect_warn(c, "'%s' cannot be read (%s): its code is named by addresses only",
                     binary->path, why);
        break;
    }
    return PM_OK;
}

static enum pm_status write_binary(struct collector *c, const struct collect_binary *binary,
                                   const struct pm_run_file_object *object, const char *pif_state)
{
    struct pm_buf hex = PM_BUF_INIT(4096);
    for (size_t i = 0; i < binary->build_id.len && i < 1024; i++)
        pm_buf_printf(&hex, "%02x", (unsigned char)binary->build_id.p[i]);
    if (hex.failed) {
        pm_buf_release(&hex);
        return collect_no_memory(c);
    }
    sqlite3_stmt *insert = c->statements[INSERT_BINARY];
    sqlite3_bind_int64(insert, 1, binary->row);
    bind_text(insert, 2, binary->path);
    bind_text(insert, 3, hex.len ? hex.data : NULL);
    bind_number(insert, 4, object->n_sleds);
    bind_number(insert, 5, object->n_bad_sleds);
    bind_text(insert, 6, pif_state);
    bind_text(insert, 7, "missing");
    bind_text(insert, 8, NULL);
    bind_text(insert, 9, NULL);
    enum pm_status status = collect_insert(c, INSERT_BINARY);
    pm_buf_release(&hex);
    return status;
}

enum pm_status collect_binary(struct collector *c, const struct pm_run_file_object *object,
                              struct collect_binary **ret_binary)
{
    const char *path = pm_intern_add(c->strings, object->path.p, object->path.len);
    if (!path)
        return collect_no_memory(c);
    for (struct collect_binary *at = c->binaries; at; at = at->next)
        if (at->path == path && pm_str_eq(at->build_id, object->build_id)) {
            *ret_binary = at;
            return PM_OK;
        }
    struct collect_binary *binary = pm_arena_alloc(&c->arena, sizeof *binary);
    char *build_id = pm_arena_strndup(&c->arena, object->build_id.p, object->build_id.len);
    if (!binary || !build_id)
        return collect_no_memory(c);
    *binary = (struct collect_binary){
        .path = path,
        .build_id = {build_id, object->build_id.len},
        .row = ++c->n_binaries,
        .next = c->binaries,
    };
    c->binaries = binary;
    const char *pif_state;
    enum pm_status status = explain_binary(c, binary, object, &pif_state);
    if (object->n_bad_sleds)
        collect_warn(c, "'%s' has %u damaged sled records, which were not measured", path,
                     object->n_bad_sleds);
    if (status == PM_OK)
        status = write_binary(c, binary, object, pif_state);
    *ret_binary = binary;
    return status;
}

/* --- sentences of contexts --- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Code that no PIF explains: named by its symbol, else by its address. */
static enum pm_status add_unexplained(struct collector *c, struct collect_binary *binary,
                                      const struct pm_run_file_noun *noun, uint32_t *ret_row)
{
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    const char *symbol;
    uint64_t offset;
    if (!binary->symbols_tried && binary->same)
        binary->symbols = pm_symbols_open(binary->path);
    binary->symbols_tried = true;
    if (binary->symbols && noun->address &&
        pm_symbols_find(binary->symbols, noun->address, &symbol, &offset))
        pm_buf_printf(&name, "%s+0x%llx in %s", symbol, (unsigned long long)offset,
                      base_name(binary->path));
    else if (noun->address)
        pm_buf_printf(&name, "0x%llx in %s", (unsigned long long)noun->address,
                      base_name(binary->path));
    else
        pm_buf_printf(&name, "#%016llx in %s", (unsigned long long)noun->id,
                      base_name(binary->path));
    enum pm_status status = name.failed
                                ? collect_no_memory(c)
                                : add_noun(c, noun->id, name.data,
                                           noun->kind == PM_SLED_LOOP_ENTER ? "loopcode" : "symbol",
                                           "code without PIF", binary->row, ret_row);
    pm_buf_release(&name);
    if (status == PM_OK && !pm_map_put(&binary->nouns, noun->id, *ret_row))
        return collect_no_memory(c);
    return status;
}

enum pm_status collect_code_sentence(struct collector *c, struct collect_binary *binary,
                                     const struct pm_run_file_noun *noun, uint32_t *ret_sentence)
{
    enum pm_status status = PM_OK;
    uint32_t row = 0;
    if (binary) {
        row = pm_map_get(&binary->nouns, noun->id);
        if (!row)
            status = add_unexplained(c, binary, noun, &row);
    } else {
        if (!c->unknown_noun)
            status = add_noun(c, pm_pif_name_id("Base", "unknown code"), "unknown code", "unknown",
                              "code that a damaged run file names and does not describe", 0,
                              &c->unknown_noun);
        row = c->unknown_noun;
    }
    return status == PM_OK ? short_sentence(c, c->executes, row, ret_sentence) : status;
}

enum pm_status collect_process_sentence(struct collector *c, struct pm_str exe,
                                        uint32_t *ret_sentence)
{
    const char *path = pm_intern_add(c->strings, exe.p, exe.len);
    if (!path)
        return collect_no_memory(c);
    pm_id id = pm_pif_name_id("Base", path);
    uint32_t row = pm_map_get(&c->processes, id);
    if (!row) {
        const char *name = *path ? base_name(path) : "unknown program";
        enum pm_status status = add_noun(c, id, name, "process", path, 0, &row);
        if (status != PM_OK)
            return status;
        if (!pm_map_put(&c->processes, id, row))
            return collect_no_memory(c);
    }
    return short_sentence(c, c->executes, row, ret_sentence);
}

/* --- the user's PIF --- */

/* The noun that the user means: the one with that id, else level and name, else name alone when no
 * level is said. 0: a new one. */
static enum pm_status find_user_noun(struct collector *c, sqlite3_stmt *by_name,
                                     const char *pif_path, const struct pm_pif_noun *noun,
                                     uint32_t *ret_row)
{
    *ret_row = 0;
    for (struct collect_binary *binary = c->binaries; binary && !*ret_row; binary = binary->next)
        *ret_row = pm_map_get(&binary->nouns, noun->id);
    if (!*ret_row)
        *ret_row = pm_map_get(&c->user, noun->id);
    if (*ret_row || !noun->name || !*noun->name)
        return PM_OK;
    uint32_t level = 0;
    bool has_row = true, again = false;
    enum pm_status status = PM_OK;
    if (noun->level && *noun->level)
        status = level_row(c, noun->level, &level);
    bind_text(by_name, 1, noun->name);
    bind_number_or_null(by_name, 2, level);
    if (status == PM_OK)
        status = pm_archive_step(c->archive, by_name, c->err, &has_row);
    if (status == PM_OK && has_row) {
        *ret_row = (uint32_t)sqlite3_column_int64(by_name, 0);
        status = pm_archive_step(c->archive, by_name, c->err, &again);
        if (status == PM_OK && again)
            collect_warn(c,
                         "PIF '%s': several nouns are called '%s'; the first is taken (write "
                         "level::name, or name#id)",
                         pif_path, noun->name);
    }
    sqlite3_reset(by_name);
    return status;
}

static enum pm_status import_user(struct collector *c, const struct pm_pif *pif, const char *path,
                                  sqlite3_stmt *by_name)
{
    struct import import = {.pif = pif, .nouns = &c->user};
    uint32_t first = c->n_nouns + 1;
    for (size_t i = 0; i < pm_pif_n_nouns(pif); i++) {
        struct pm_pif_noun noun;
        uint32_t row;
        pm_pif_get_noun(pif, i, &noun);
        enum pm_status status = find_user_noun(c, by_name, path, &noun, &row);
        if (status != PM_OK)
            return status;
        if (!pm_map_put(&c->user, noun.id, row ? row : ++c->n_nouns))
            return collect_no_memory(c);
    }
    return import_pif(c, &import, first, 0, path);
}

enum pm_status collect_user_pif(struct collector *c, const char *path)
{
    struct pm_pif *pif = pm_pif_new();
    if (!pif)
        return collect_no_memory(c);
    sqlite3_stmt *by_name = NULL;
    enum pm_status status = pm_pif_read_file(pif, path, c->err);
    if (status == PM_OK && sqlite3_exec(pm_archive_db(c->archive),
                                        "CREATE INDEX IF NOT EXISTS nouns_name ON nouns(name)",
                                        NULL, NULL, NULL) != SQLITE_OK)
        status = pm_archive_error(c->archive, c->err);
    if (status == PM_OK)
        status = pm_archive_prepare(c->archive,
                                    "SELECT id FROM nouns WHERE name = ?1 AND (?2 IS NULL OR level "
                                    "= ?2) ORDER BY id LIMIT 2",
                                    c->err, &by_name);
    if (status == PM_OK)
        status = import_user(c, pif, path, by_name);
    sqlite3_finalize(by_name);
    pm_pif_free(pif);
    return status;
}

/* --- the end --- */

static enum pm_status write_levels(struct collector *c)
{
    uint32_t above;
    for (size_t i = 0; i < c->n_levels;
         i++) /* may add levels that are only named as lying below others */
        if (c->levels[i].above) {
            enum pm_status status = level_row(c, c->levels[i].above, &above);
            if (status != PM_OK)
                return status;
        }
    for (size_t i = 0; i < c->n_levels; i++) {
        sqlite3_stmt *insert = c->statements[INSERT_LEVEL];
        above = 0;
        enum pm_status status =
            c->levels[i].above ? level_row(c, c->levels[i].above, &above) : PM_OK;
        bind_number(insert, 1, i + 1);
        bind_text(insert, 2, c->levels[i].name);
        bind_number_or_null(insert, 3, above);
        if (status == PM_OK)
            status = collect_insert(c, INSERT_LEVEL);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status write_verbs(struct collector *c)
{
    for (size_t i = 0; i < c->n_verbs; i++) {
        sqlite3_stmt *insert = c->statements[INSERT_VERB];
        bind_number(insert, 1, i + 1);
        bind_number(insert, 2, c->verbs[i].level);
        bind_text(insert, 3, c->verbs[i].name);
        bind_text(insert, 4, c->verbs[i].description);
        enum pm_status status = collect_insert(c, INSERT_VERB);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static int compare_mappings(const void *a, const void *b)
{
    const struct collect_mapping *const *x = a, *const *y = b;
    if ((*x)->destination != (*y)->destination)
        return (*x)->destination < (*y)->destination ? -1 : 1;
    return *x < *y ? -1 : 1; /* the order of reading */
}

/* Mappings by source and destination: a counting sort over sources, which are many with few
 * mappings each. NULL: memory. */
static const struct collect_mapping **sort_mappings(const struct collector *c)
{
    size_t n = c->n_mappings;
    const struct collect_mapping **sorted = pm_alloc_array(n, sizeof *sorted);
    size_t *starts = pm_alloc_array((size_t)c->n_sentences + 2, sizeof *starts);
    if (sorted && starts) {
        for (size_t i = 0; i < n; i++)
            starts[c->mappings[i].source + 1]++;
        for (size_t i = 1; i <= c->n_sentences; i++)
            starts[i + 1] += starts[i];
        for (size_t i = 0; i < n; i++)
            sorted[starts[c->mappings[i].source]++] = &c->mappings[i];
        for (size_t first = 0, end; first < n; first = end) {
            for (end = first + 1; end < n && sorted[end]->source == sorted[first]->source;)
                end++;
            if (end - first > 1)
                qsort(sorted + first, end - first, sizeof *sorted, compare_mappings);
        }
    } else {
        free(sorted);
        sorted = NULL;
    }
    free(starts);
    return sorted;
}

/* Of several mappings between the same sentences the last counts: the user's comes after the
 * compiler's. */
static enum pm_status write_mappings(struct collector *c)
{
    size_t n = c->n_mappings;
    const struct collect_mapping **sorted = sort_mappings(c);
    if (!sorted)
        return collect_no_memory(c);
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < n && status == PM_OK; i++) {
        const struct collect_mapping *mapping = sorted[i];
        if (i + 1 < n && sorted[i + 1]->source == mapping->source &&
            sorted[i + 1]->destination == mapping->destination)
            continue;
        struct collect_value values[] = {
            collect_integer(mapping->source),
            collect_integer(mapping->destination),
            {COLLECT_NULL, {0}},
            {COLLECT_TEXT, {.text = mapping->origin}},
            {COLLECT_NULL, {0}},
        };
        if (mapping->weight > 0)
            values[2] = (struct collect_value){COLLECT_REAL, {.real = mapping->weight}};
        status = collect_add_row(c, TABLE_MAPPINGS, values);
        c->result->n_mappings++;
    }
    free(sorted);
    return status;
}

enum pm_status collect_model_end(struct collector *c)
{
    enum pm_status status = write_levels(c);
    if (status == PM_OK)
        status = write_verbs(c);
    return status == PM_OK ? write_mappings(c) : status;
}
