/* Nouns, verbs, sentences and mappings as rows. */
#include "model.h"

#include "collect.h"
#include "collector.h"
#include "writer.h"

#include "format/pm_id.h"
#include "mapping/archive/archive.h"
#include "mapping/base/arena.h"
#include "mapping/base/map.h"
#include "mapping/pif/pif.h"

#include <stdlib.h>

enum { LONG_SENTENCE_BUCKETS = 4096 };

/* A sentence of more than one noun. */
struct collect_sentence {
    uint32_t row, verb, n_nouns, nouns[PM_PIF_MAX_NOUNS];
    struct collect_sentence *next_same_hash;
};

/* --- levels and verbs: few, in memory until the end --- */

enum pm_status collect_level_row(struct collector *c, const char *name, uint32_t *ret_level)
{
    name = name ? name : "";
    for (size_t i = 0; i < c->model->n_levels; i++)
        if (strcmp(c->model->levels[i].name, name) == 0) {
            *ret_level = (uint32_t)i + 1;
            return PM_OK;
        }
    struct collect_level *levels =
        pm_realloc_array(c->model->levels, c->model->n_levels + 1, sizeof *levels);
    if (!levels)
        return collect_no_memory(c);
    c->model->levels = levels;
    levels[c->model->n_levels] = (struct collect_level){.name = collect_intern(c, name)};
    if (!levels[c->model->n_levels].name)
        return collect_no_memory(c);
    *ret_level = (uint32_t)++c->model->n_levels;
    return PM_OK;
}

enum pm_status collect_verb_row(struct collector *c, const char *level_name, const char *name,
                                const char *description, uint32_t *ret_verb)
{
    uint32_t level;
    enum pm_status status = collect_level_row(c, level_name, &level);
    if (status != PM_OK)
        return status;
    name = collect_intern(c, name ? name : "");
    description = description ? collect_intern(c, description) : NULL;
    struct collect_verb *verbs =
        pm_realloc_array(c->model->verbs, c->model->n_verbs + 1, sizeof *verbs);
    if (verbs)
        c->model->verbs = verbs;
    if (!name || !verbs)
        return collect_no_memory(c);
    for (size_t i = 0; i < c->model->n_verbs; i++)
        if (verbs[i].name == name && verbs[i].level == level) {
            if (!verbs[i].description)
                verbs[i].description = description;
            *ret_verb = (uint32_t)i + 1;
            return PM_OK;
        }
    verbs[c->model->n_verbs] = (struct collect_verb){name, description, level};
    *ret_verb = (uint32_t)++c->model->n_verbs;
    return PM_OK;
}

enum pm_status collect_model_start(struct collector *c)
{
    c->model->long_sentences =
        pm_alloc_array(LONG_SENTENCE_BUCKETS, sizeof *c->model->long_sentences);
    if (!c->model->long_sentences)
        return collect_no_memory(c);
    enum pm_status status = collect_level_row(c, "Base", &c->model->base_level);
    return status == PM_OK ? collect_verb_row(c, "Base", "Executes", NULL, &c->model->executes)
                           : status;
}

enum pm_status collect_need_calls_verb(struct collector *c)
{
    return c->model->calls ? PM_OK
                           : collect_verb_row(c, "Base", "Calls",
                                              "a call of the second, by the first, is under way",
                                              &c->model->calls);
}

enum pm_status collect_need_source(struct collector *c)
{
    if (c->model->source_writes)
        return PM_OK;
    enum pm_status status = collect_level_row(c, "Source", &c->model->source_level);
    if (status == PM_OK && !c->model->levels[c->model->source_level - 1].above)
        c->model->levels[c->model->source_level - 1].above =
            c->model->levels[c->model->base_level - 1].name;
    if (status == PM_OK)
        status = collect_verb_row(c, "Source", "Executes", NULL, &c->model->source_executes);
    if (status == PM_OK)
        status = collect_verb_row(c, "Source", "Reads", NULL, &c->model->source_reads);
    return status == PM_OK ? collect_verb_row(c, "Source", "Writes", NULL, &c->model->source_writes)
                           : status;
}

void collect_model_release(struct collector *c)
{
    pm_map_release(&c->model->processes);
    pm_map_release(&c->model->by_noun);
    pm_map_release(&c->model->files);
    pm_map_release(&c->model->user);
    pm_map_release(&c->model->sentences);
    free(c->model->long_sentences);
    free(c->model->levels);
    free(c->model->verbs);
    free(c->model->mappings);
}

/* --- nouns --- */

static uint64_t address_key(const char *interned)
{
    return (uint64_t)(uintptr_t)interned;
}

enum pm_status collect_find_file(struct collector *c, const char *name, size_t len,
                                 uint32_t *ret_row)
{
    const char *interned = pm_intern_add(c->strings, name, len);
    if (!interned)
        return collect_no_memory(c);
    *ret_row = pm_map_get(&c->model->files, address_key(interned));
    return PM_OK;
}

/* Nouns are written file by file mostly. */
static enum pm_status need_file(struct collector *c, const char *name, uint32_t *ret_row)
{
    struct collect_model *model = c->model;
    if (!model->last_file || strcmp(model->last_file, name) != 0)
        model->last_file = collect_intern(c, name);
    uint32_t *row =
        model->last_file ? pm_map_at(&model->files, address_key(model->last_file)) : NULL;
    if (!row)
        return collect_no_memory(c);
    bool is_new = *row == 0;
    *row = is_new ? ++model->n_files : *row;
    *ret_row = *row;
    if (!is_new)
        return PM_OK;
    bind_number(c->writer->statements[INSERT_FILE], 1, *ret_row);
    bind_text(c->writer->statements[INSERT_FILE], 2, model->last_file);
    return collect_insert(c, INSERT_FILE);
}

/* Most statements are: so their names are not stored. */
static bool is_named_by_place(const struct pm_pif_noun *noun)
{
    char place[32];
    size_t len = noun->name && noun->file ? strlen(noun->file) : 0;
    if (len == 0 || !noun->line || !noun->column || strncmp(noun->name, noun->file, len) != 0)
        return false;
    snprintf(place, sizeof place, ":%u:%u", noun->line, noun->column);
    return strcmp(noun->name + len, place) == 0;
}

enum pm_status collect_write_noun(struct collector *c, uint32_t row, const struct pm_pif_noun *noun,
                                  uint32_t level, uint32_t binary, uint32_t parent)
{
    sqlite3_stmt *insert = c->writer->statements[INSERT_NOUN];
    uint32_t file = 0;
    enum pm_status status = noun->file ? need_file(c, noun->file, &file) : PM_OK;
    if (status != PM_OK)
        return status;
    sqlite3_bind_int64(insert, 1, row);
    sqlite3_bind_int64(insert, 2, (int64_t)noun->id);
    bind_number_or_null(insert, 3, binary);
    sqlite3_bind_int64(insert, 4, level);
    char hex[20];
    bool has_name = noun->name && *noun->name;
    if (!has_name) /* only mentioned, never declared */
        snprintf(hex, sizeof hex, "#%016llx", (unsigned long long)noun->id);
    const char *name = has_name ? noun->name : hex;
    bind_text(insert, 5, is_named_by_place(noun) ? NULL : name);
    bind_text(insert, 6, noun->kind);
    bind_text(insert, 7, noun->description);
    bind_text(insert, 8, noun->type);
    bind_text(insert, 9, noun->linkage);
    bind_number_or_null(insert, 10, file);
    bind_number_or_null(insert, 11, noun->line);
    bind_number_or_null(insert, 12, noun->column);
    bind_number_or_null(insert, 13, noun->end_line);
    bind_number_or_null(insert, 14, parent);
    return collect_insert(c, INSERT_NOUN);
}

enum pm_status collect_add_noun(struct collector *c, pm_id id, const char *name, const char *kind,
                                const char *description, uint32_t binary, uint32_t *ret_row)
{
    struct pm_pif_noun noun = {.id = id, .name = name, .kind = kind, .description = description};
    *ret_row = ++c->model->n_nouns;
    return collect_write_noun(c, *ret_row, &noun, c->model->base_level, binary, 0);
}

enum pm_status collect_write_attribute(struct collector *c, uint32_t row, const char *key,
                                       const char *value)
{
    sqlite3_stmt *insert = c->writer->statements[INSERT_NOUN_ATTRIBUTE];
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

enum pm_status collect_write_attributes(struct collector *c, const struct pm_pif *pif, uint32_t row,
                                        const struct pm_pif_noun *noun)
{
    struct pm_buf buf = PM_BUF_INIT(1 << 20);
    const char *key, *value;
    enum pm_status status = PM_OK;
    if (noun->address)
        status = collect_write_attribute(c, row, "address", noun->address);
    for (size_t i = 0; status == PM_OK && pm_pif_nth_attribute(pif, noun->id, i, &key, &value);
         i++) {
        status = attribute_value(c, pif, noun->id, i, key, value, &buf, &value);
        if (status == PM_OK && value)
            status = collect_write_attribute(c, row, key, value);
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

enum pm_status collect_short_sentence(struct collector *c, uint32_t verb, uint32_t noun,
                                      uint32_t *ret_sentence)
{
    uint64_t key = (uint64_t)verb << 32 | noun;
    uint32_t row = pm_map_get(&c->model->sentences, key);
    if (!row) {
        row = ++c->model->n_sentences;
        if (!pm_map_put(&c->model->sentences, key, row))
            return collect_no_memory(c);
        enum pm_status status = write_sentence(c, row, verb, noun);
        if (status != PM_OK)
            return status;
    }
    *ret_sentence = row;
    return PM_OK;
}

enum pm_status collect_long_sentence(struct collector *c, uint32_t verb, const uint32_t *nouns,
                                     uint32_t n_nouns, uint32_t *ret_sentence)
{
    uint64_t hash = XXH64(nouns, n_nouns * sizeof *nouns, verb);
    struct collect_sentence **bucket = &c->model->long_sentences[hash % LONG_SENTENCE_BUCKETS];
    for (const struct collect_sentence *at = *bucket; at; at = at->next_same_hash)
        if (at->verb == verb && at->n_nouns == n_nouns &&
            memcmp(at->nouns, nouns, n_nouns * sizeof *nouns) == 0) {
            *ret_sentence = at->row;
            return PM_OK;
        }
    struct collect_sentence *sentence = pm_arena_alloc(&c->arena, sizeof *sentence);
    if (!sentence)
        return collect_no_memory(c);
    *sentence = (struct collect_sentence){++c->model->n_sentences, verb, n_nouns, {0}, *bucket};
    memcpy(sentence->nouns, nouns, n_nouns * sizeof *nouns);
    *bucket = sentence;
    enum pm_status status = write_sentence(c, sentence->row, verb, n_nouns ? nouns[0] : 0);
    for (uint32_t i = 1; i < n_nouns && status == PM_OK; i++) {
        sqlite3_stmt *insert = c->writer->statements[INSERT_SENTENCE_NOUN];
        sqlite3_bind_int64(insert, 1, sentence->row);
        sqlite3_bind_int64(insert, 2, i);
        sqlite3_bind_int64(insert, 3, nouns[i]);
        status = collect_insert(c, INSERT_SENTENCE_NOUN);
    }
    *ret_sentence = sentence->row;
    return status;
}

/* --- processes --- */

enum pm_status collect_process_sentence(struct collector *c, struct pm_str exe,
                                        uint32_t *ret_sentence)
{
    const char *path = pm_intern_add(c->strings, exe.p, exe.len);
    if (!path)
        return collect_no_memory(c);
    pm_id id = pm_pif_name_id("Base", path);
    uint32_t row = pm_map_get(&c->model->processes, id);
    if (!row) {
        const char *name = *path ? collect_base_name(path) : "unknown program";
        enum pm_status status = collect_add_noun(c, id, name, "process", path, 0, &row);
        if (status != PM_OK)
            return status;
        if (!pm_map_put(&c->model->processes, id, row))
            return collect_no_memory(c);
    }
    enum pm_status status = collect_short_sentence(c, c->model->executes, row, ret_sentence);
    if (status == PM_OK && !c->model->first_program)
        c->model->first_program = *ret_sentence;
    return status;
}

/* --- mappings --- */

enum pm_status collect_add_mapping(struct collector *c, const struct collect_mapping *mapping)
{
    struct collect_mapping *mappings = pm_grow_array(
        c->model->mappings, c->model->n_mappings, &c->model->mappings_cap, 1024, sizeof *mappings);
    if (!mappings)
        return collect_no_memory(c);
    c->model->mappings = mappings;
    mappings[c->model->n_mappings++] = *mapping;
    return PM_OK;
}

/* --- the end --- */

static enum pm_status write_levels(struct collector *c)
{
    uint32_t above;
    for (size_t i = 0; i < c->model->n_levels;
         i++) /* may add levels that are only named as lying below others */
        if (c->model->levels[i].above) {
            enum pm_status status = collect_level_row(c, c->model->levels[i].above, &above);
            if (status != PM_OK)
                return status;
        }
    for (size_t i = 0; i < c->model->n_levels; i++) {
        sqlite3_stmt *insert = c->writer->statements[INSERT_LEVEL];
        above = 0;
        enum pm_status status = c->model->levels[i].above
                                    ? collect_level_row(c, c->model->levels[i].above, &above)
                                    : PM_OK;
        bind_number(insert, 1, i + 1);
        bind_text(insert, 2, c->model->levels[i].name);
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
    for (size_t i = 0; i < c->model->n_verbs; i++) {
        sqlite3_stmt *insert = c->writer->statements[INSERT_VERB];
        bind_number(insert, 1, i + 1);
        bind_number(insert, 2, c->model->verbs[i].level);
        bind_text(insert, 3, c->model->verbs[i].name);
        bind_text(insert, 4, c->model->verbs[i].description);
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
    size_t n = c->model->n_mappings;
    const struct collect_mapping **sorted = pm_alloc_array(n, sizeof *sorted);
    size_t *starts = pm_alloc_array((size_t)c->model->n_sentences + 2, sizeof *starts);
    if (sorted && starts) {
        for (size_t i = 0; i < n; i++)
            starts[c->model->mappings[i].source + 1]++;
        for (size_t i = 1; i <= c->model->n_sentences; i++)
            starts[i + 1] += starts[i];
        for (size_t i = 0; i < n; i++)
            sorted[starts[c->model->mappings[i].source]++] = &c->model->mappings[i];
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
    size_t n = c->model->n_mappings;
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
            {mapping->reason ? COLLECT_TEXT : COLLECT_NULL, {.text = mapping->reason}},
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
