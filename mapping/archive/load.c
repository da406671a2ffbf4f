#include "load_internal.h"

#include <stdlib.h>

static const char *const lookup_sql[N_LOOKUPS] = {
    [LOOKUP_SENTENCE] = "SELECT verb, noun FROM sentences WHERE id = ?",
    [LOOKUP_SENTENCE_NOUNS] =
        "SELECT noun FROM sentence_nouns WHERE sentence = ? ORDER BY position",
    [LOOKUP_NOUN] = "SELECT name, kind, linkage, file, type, line, \"column\", end_line, level, "
                    "parent, binary, pif_id FROM temp.nouns_in_full WHERE id = ?",
    [LOOKUP_ATTRIBUTE] = "SELECT value FROM noun_attributes WHERE noun = ? AND key = ?",
    [LOOKUP_MAPPINGS] = "SELECT destination, weight, origin, reason FROM mappings WHERE source = ?",
};

/* --- errors --- */

/* All reports of damage come through here: a handy breakpoint. */
enum pm_status load_damaged(struct loader *load, const char *format, ...)
{
    struct pm_buf text = PM_BUF_INIT(4096);
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(&text, format, args);
    va_end(args);
    enum pm_status status = pm_error_set(load->err, PM_ERR_FORMAT, "archive '%s' is damaged: %s",
                                         load->path, text.data ? text.data : "");
    pm_buf_release(&text);
    return status;
}

enum pm_status load_no_memory(struct loader *load)
{
    return pm_error_set(load->err, PM_ERR_MEMORY, "archive '%s': out of memory", load->path);
}

static enum pm_status database_error(struct loader *load)
{
    return pm_archive_error(load->archive, load->err);
}

/* --- columns --- */

int64_t load_number(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? PM_UNKNOWN
                                                           : sqlite3_column_int64(row, column);
}

static uint32_t small_number(sqlite3_stmt *row, int column)
{
    sqlite3_int64 value = sqlite3_column_int64(row, column);
    return value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
}

/* A string that lives as long as the data; NULL when memory ends. */
const char *load_keep(struct loader *load, sqlite3_stmt *row, int column)
{
    const char *p = pm_archive_text(row, column);
    return pm_intern_add(load->data->own->strings, p, strlen(p));
}

const char *load_keep_printable(struct loader *load, sqlite3_stmt *row, int column)
{
    const char *p = pm_archive_text(row, column);
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    pm_buf_add_printable(&text, p, strlen(p));
    const char *kept =
        text.failed ? NULL
                    : pm_intern_add(load->data->own->strings, text.data ? text.data : "", text.len);
    pm_buf_release(&text);
    return kept;
}

enum pm_status load_each_row(struct loader *load, const char *sql, row_reader reader)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(load->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return database_error(load);
    enum pm_status status = PM_OK;
    int step;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW && status == PM_OK)
        status = reader(load, statement);
    if (status == PM_OK && step != SQLITE_DONE)
        status = database_error(load);
    sqlite3_finalize(statement);
    return status;
}

/* Enters the id in column 0 of `row` as the next position of a table; `what` for the message. */
enum pm_status load_enter(struct loader *load, struct pm_index_map *map, sqlite3_stmt *row,
                          pm_index position, const char *what)
{
    int64_t id = sqlite3_column_int64(row, 0);
    if (pm_index_map_add(map, id, position))
        return PM_OK;
    return map->out_of_memory ? load_no_memory(load)
                              : load_damaged(load, "%s %lld is there twice", what, (long long)id);
}

/* Room for one more of data->NAME, at doubling sizes (n is a power of two or 0 when it is full). */
bool load_room(void *array_pointer, uint32_t n, size_t item_bytes)
{
    void **array = array_pointer;
    if (n & (n - 1) || (n && n < 8))
        return true;
    void *grown =
        n < UINT32_MAX / 4 ? pm_realloc_array(*array, n ? (size_t)n * 2 : 8, item_bytes) : NULL;
    if (grown)
        *array = grown;
    return grown;
}

/* --- nouns and sentences, as they are needed --- */

/* The first row of a lookup by id; NULL with *ret_status set when there is none. */
static sqlite3_stmt *look_up(struct loader *load, enum lookup which, int64_t id, const char *what,
                             enum pm_status *ret_status)
{
    sqlite3_stmt *statement = load->lookups[which];
    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, id);
    int step = sqlite3_step(statement);
    if (step == SQLITE_ROW)
        return statement;
    *ret_status = step == SQLITE_DONE
                      ? load_damaged(load, "%s %lld is named but not there", what, (long long)id)
                      : database_error(load);
    return NULL;
}

/* Room for attributes of one more noun. */
static bool attribute_room(struct loader *load, pm_index noun)
{
    struct pm_archive_data *data = load->data;
    if (noun < load->cap_attributes)
        return true;
    uint32_t cap = load->cap_attributes ? load->cap_attributes * 2 : 1024;
    const char **addresses = pm_realloc_array(data->addresses, cap, sizeof *addresses);
    if (addresses)
        data->addresses = addresses;
    const char **paths = addresses ? pm_realloc_array(data->paths, cap, sizeof *paths) : NULL;
    if (paths)
        data->paths = paths;
    uint16_t *bare = paths ? pm_realloc_array(data->bare, cap, sizeof *bare) : NULL;
    if (!bare)
        return false;
    data->bare = bare;
    load->cap_attributes = cap;
    return true;
}

/* The attribute's value; "" where it is not stated. */
static enum pm_status look_up_attribute(struct loader *load, int64_t id, const char *key,
                                        const char **ret_value)
{
    sqlite3_stmt *row = load->lookups[LOOKUP_ATTRIBUTE];
    sqlite3_reset(row);
    sqlite3_bind_int64(row, 1, id);
    sqlite3_bind_text(row, 2, key, -1, SQLITE_STATIC);
    int step = sqlite3_step(row);
    *ret_value = step == SQLITE_ROW ? load_keep(load, row, 0) : "";
    if (!*ret_value)
        return load_no_memory(load);
    return step == SQLITE_ROW || step == SQLITE_DONE ? PM_OK : database_error(load);
}

static enum pm_status add_bare(struct loader *load, int64_t id, pm_index noun)
{
    const char *any, *calls = "", *lacks, *uncounted;
    enum pm_status status = look_up_attribute(load, id, "bare", &any);
    if (status == PM_OK && *any)
        status = look_up_attribute(load, id, "bare calls", &calls);
    if (status != PM_OK)
        return status;
    status = look_up_attribute(load, id, "lacks callees", &lacks);
    if (status == PM_OK)
        status = look_up_attribute(load, id, "uncounted entries", &uncounted);
    if (status != PM_OK)
        return status;
    unsigned marks = (*any ? PM_BARE_CODE : 0u) | (*calls ? PM_BARE_CALLS : 0u);
    if (!strcmp(load->data->graph->nouns[noun].kind, "function"))
        marks = (*any ? PM_BARE_COPIES : 0u) | (*calls ? PM_BARE_COPIES_CALL : 0u);
    if (*lacks)
        marks |= PM_BARE_LACKS;
    if (*uncounted)
        marks |= PM_BARE_ENTRIES;
    load->data->bare[noun] = (uint16_t)marks;
    return PM_OK;
}

/* What it says is looked at when all nouns of contexts are there (load_call_sites). */
static enum pm_status add_sites_text(struct loader *load, int64_t id, pm_index noun,
                                     const char *key)
{
    const char *text;
    enum pm_status status = look_up_attribute(load, id, key, &text);
    if (status != PM_OK || !*text)
        return status;
    if (!load_room(&load->sites, load->n_sites, sizeof *load->sites))
        return load_no_memory(load);
    load->sites[load->n_sites++] = (struct load_sites_text){noun, text, key[0] == 'c'};
    return PM_OK;
}

static enum pm_status add_mark(struct loader *load, int64_t id, const char *key, uint16_t mark,
                               uint16_t *bare)
{
    const char *value;
    enum pm_status status = look_up_attribute(load, id, key, &value);
    if (status != PM_OK)
        return status;
    *bare |= *value ? mark : 0;
    return PM_OK;
}

/* Machine code states its addresses, files their paths, functions and loops whether some of
 * their code has no sleds. */
static enum pm_status add_attributes(struct loader *load, int64_t id, pm_index noun)
{
    struct pm_archive_data *data = load->data;
    if (!attribute_room(load, noun))
        return load_no_memory(load);
    const char *kind = data->graph->nouns[noun].kind;
    data->addresses[noun] = data->paths[noun] = "";
    data->bare[noun] = 0;
    if (!strcmp(kind, "file"))
        return look_up_attribute(load, id, "path", &data->paths[noun]);
    if (!strcmp(kind, "code")) {
        enum pm_status status = look_up_attribute(load, id, "address", &data->addresses[noun]);
        if (status != PM_OK)
            return status;
        status = add_mark(load, id, "lacks callees", PM_BARE_LACKS, &data->bare[noun]);
        return status != PM_OK ? status : add_sites_text(load, id, noun, "inlined at");
    }
    if (!strcmp(kind, "symbol")) {
        enum pm_status status = add_mark(load, id, "jumps", PM_BARE_JUMPS, &data->bare[noun]);
        return status != PM_OK ? status : add_sites_text(load, id, noun, "called at");
    }
    if (!strcmp(kind, "field"))
        return add_mark(load, id, "left out", PM_BARE_LEFT_OUT, &data->bare[noun]);
    if (!strcmp(kind, "array") || !strcmp(kind, "variable"))
        return add_mark(load, id, "passed on", PM_BARE_PASSED_ON, &data->bare[noun]);
    bool has_sleds =
        !strcmp(kind, "function") || !strcmp(kind, "loop") || !strcmp(kind, "loopcode");
    return has_sleds ? add_bare(load, id, noun) : PM_OK;
}

/* One noun without its parent, whose id comes back (PM_UNKNOWN: none). */
static enum pm_status add_noun(struct loader *load, int64_t id, pm_index *ret_noun,
                               int64_t *ret_parent_id)
{
    enum pm_status status = PM_OK;
    sqlite3_stmt *row = look_up(load, LOOKUP_NOUN, id, "noun", &status);
    const char *kind = row ? load_keep_printable(load, row, 1) : NULL;
    if (!kind)
        return row ? load_no_memory(load) : status;
    struct pm_graph_noun noun = {
        .name = pm_archive_text(row, 0),
        .kind = kind,
        .linkage = pm_archive_text(row, 2),
        .file = pm_archive_text(row, 3),
        .type = pm_archive_text(row, 4),
        .line_no = small_number(row, 5),
        .column_no = small_number(row, 6),
        .end_line_no = small_number(row, 7),
        .level = pm_index_map_get(&load->levels, sqlite3_column_int64(row, 8)),
        .parent = PM_NONE,
        .id = sqlite3_column_int64(row, 11),
    };
    if (noun.level == PM_NONE)
        return load_damaged(load, "noun %lld names level %lld, which is not there", (long long)id,
                            sqlite3_column_int64(row, 8));
    if (sqlite3_column_type(row, 10) != SQLITE_NULL) {
        pm_index binary = pm_index_map_get(&load->binaries, sqlite3_column_int64(row, 10));
        if (binary == PM_NONE)
            return load_damaged(load, "noun %lld names binary %lld, which is not there",
                                (long long)id, sqlite3_column_int64(row, 10));
        noun.binary = load->data->binaries[binary].path;
    }
    *ret_parent_id = load_number(row, 9);
    *ret_noun = pm_graph_noun(load->data->graph, &noun);
    if (*ret_noun == PM_NONE || !pm_index_map_add(&load->nouns, id, *ret_noun))
        return load_no_memory(load);
    return add_attributes(load, id, *ret_noun);
}

/* The noun of that id, with its ancestors. */
enum pm_status load_need_noun(struct loader *load, int64_t id, pm_index *ret_noun)
{
    *ret_noun = pm_index_map_get(&load->nouns, id);
    if (*ret_noun != PM_NONE)
        return PM_OK;
    pm_index child = PM_NONE;
    for (;;) {
        pm_index noun = pm_index_map_get(&load->nouns, id);
        bool known = noun != PM_NONE;
        int64_t parent_id = PM_UNKNOWN;
        enum pm_status status = known ? PM_OK : add_noun(load, id, &noun, &parent_id);
        if (status != PM_OK)
            return status;
        if (child == PM_NONE)
            *ret_noun = noun;
        else if (!pm_graph_set_parent(load->data->graph, child, noun))
            return load_damaged(load, "noun %lld is its own ancestor", (long long)id);
        if (known || parent_id == PM_UNKNOWN)
            return PM_OK;
        child = noun;
        id = parent_id;
    }
}

static bool keep_sentence_id(struct loader *load, pm_index sentence, int64_t id)
{
    if (sentence >= load->cap_sentence_ids) {
        uint32_t cap = sentence < 1024 ? 1024 : sentence + sentence / 2;
        int64_t *grown = pm_realloc_array(load->sentence_ids, cap, sizeof *grown);
        if (!grown)
            return false;
        load->sentence_ids = grown;
        load->cap_sentence_ids = cap;
    }
    load->sentence_ids[sentence] = id;
    return true;
}

enum pm_status load_need_sentence(struct loader *load, int64_t id, pm_index *ret_sentence)
{
    enum { MAX_NOUNS = 64 };
    *ret_sentence = pm_index_map_get(&load->sentences, id);
    if (*ret_sentence != PM_NONE)
        return PM_OK;
    enum pm_status status = PM_OK;
    sqlite3_stmt *row = look_up(load, LOOKUP_SENTENCE, id, "sentence", &status);
    if (!row)
        return status;
    pm_index verb = pm_index_map_get(&load->verbs, sqlite3_column_int64(row, 0));
    if (verb == PM_NONE)
        return load_damaged(load, "sentence %lld names verb %lld, which is not there",
                            (long long)id, sqlite3_column_int64(row, 0));
    pm_index nouns[MAX_NOUNS];
    uint32_t n = 0;
    status = load_need_noun(load, sqlite3_column_int64(row, 1), &nouns[n++]);
    sqlite3_stmt *more = load->lookups[LOOKUP_SENTENCE_NOUNS];
    if (load->has_sentence_nouns) {
        sqlite3_reset(more);
        sqlite3_bind_int64(more, 1, id);
        int step = SQLITE_DONE;
        while (status == PM_OK && (step = sqlite3_step(more)) == SQLITE_ROW)
            status = n < MAX_NOUNS
                         ? load_need_noun(load, sqlite3_column_int64(more, 0), &nouns[n++])
                         : load_damaged(load, "sentence %lld has more than %d nouns", (long long)id,
                                        MAX_NOUNS);
        if (status == PM_OK && step != SQLITE_DONE)
            status = database_error(load);
    }
    if (status != PM_OK)
        return status;
    *ret_sentence = pm_graph_sentence(load->data->graph, verb, nouns, n);
    if (*ret_sentence == PM_NONE || !keep_sentence_id(load, *ret_sentence, id) ||
        !pm_index_map_add(&load->sentences, id, *ret_sentence))
        return load_no_memory(load);
    return PM_OK;
}

static enum pm_status read_sentence(struct loader *load, sqlite3_stmt *row)
{
    pm_index sentence;
    return load_need_sentence(load, sqlite3_column_int64(row, 0), &sentence);
}

static enum pm_status read_noun(struct loader *load, sqlite3_stmt *row)
{
    pm_index noun;
    return load_need_noun(load, sqlite3_column_int64(row, 0), &noun);
}

/* The mappings out of all sentences from the first on, and of those that come in by them. */
static enum pm_status read_mappings(struct loader *load, pm_index first)
{
    sqlite3_stmt *row = load->lookups[LOOKUP_MAPPINGS];
    for (pm_index source = first; source < load->data->graph->n_sentences; source++) {
        sqlite3_reset(row);
        sqlite3_bind_int64(row, 1, load->sentence_ids[source]);
        int step;
        while ((step = sqlite3_step(row)) == SQLITE_ROW) {
            pm_index destination;
            enum pm_status status =
                load_need_sentence(load, sqlite3_column_int64(row, 0), &destination);
            if (status != PM_OK)
                return status;
            pm_index mapping =
                pm_graph_mapping(load->data->graph, source, destination,
                                 sqlite3_column_double(row, 1), pm_archive_text(row, 2));
            if (mapping == PM_NONE)
                return load_no_memory(load);
            if (sqlite3_column_type(row, 3) != SQLITE_NULL)
                pm_graph_set_reason(load->data->graph, mapping, pm_archive_text(row, 3));
        }
        if (step != SQLITE_DONE)
            return database_error(load);
    }
    return PM_OK;
}

/* --- contexts and costs --- */

struct raw_context {
    int64_t id, parent_id, sentence_id;
    uint32_t flags;
    uint32_t parent, cause; /* positions in the raw list */
    enum { NEW, ON_PATH, ADDED } state;
};

struct raw_contexts {
    struct raw_context *items;
    uint32_t n;
    bool has_causes;
    struct pm_sets merged; /* without causes: parent, sentence, flags */
    pm_index *merged_to;   /* by set less one */
};

static enum pm_status read_raw_contexts(struct loader *load, struct raw_contexts *raw)
{
    sqlite3_stmt *row;
    if (sqlite3_prepare_v2(load->db, "SELECT id, parent, sentence, flags FROM contexts", -1, &row,
                           NULL) != SQLITE_OK)
        return database_error(load);
    enum pm_status status = PM_OK;
    int step = SQLITE_DONE;
    while (status == PM_OK && (step = sqlite3_step(row)) == SQLITE_ROW) {
        if (!load_room(&raw->items, raw->n, sizeof *raw->items)) {
            status = load_no_memory(load);
            break;
        }
        raw->items[raw->n] = (struct raw_context){
            .id = sqlite3_column_int64(row, 0),
            .parent_id = load_number(row, 1),
            .sentence_id = sqlite3_column_int64(row, 2),
            .flags = small_number(row, 3),
            .parent = PM_NONE,
            .cause = PM_NONE,
        };
        raw->has_causes |= (raw->items[raw->n].flags & (PM_CONTEXT_CAUSE | PM_CONTEXT_TOLD)) != 0;
        status = load_enter(load, &load->contexts, row, raw->n++, "context");
    }
    if (status == PM_OK && step != SQLITE_DONE)
        status = database_error(load);
    sqlite3_finalize(row);
    return status;
}

static enum pm_status read_raw_causes(struct loader *load, struct raw_contexts *raw)
{
    sqlite3_stmt *row;
    if (!raw->has_causes)
        return PM_OK;
    if (sqlite3_prepare_v2(load->db, "SELECT context, cause FROM causes", -1, &row, NULL) !=
        SQLITE_OK)
        return database_error(load);
    enum pm_status status = PM_OK;
    int step = SQLITE_DONE;
    while (status == PM_OK && (step = sqlite3_step(row)) == SQLITE_ROW) {
        pm_index context = pm_index_map_get(&load->contexts, sqlite3_column_int64(row, 0)),
                 cause = pm_index_map_get(&load->contexts, sqlite3_column_int64(row, 1));
        if (context == PM_NONE || cause == PM_NONE)
            status = load_damaged(load, "context %lld is the cause of %lld: not both are there",
                                  sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 0));
        else if (!(raw->items[context].flags & PM_CONTEXT_CAUSE))
            status = load_damaged(load, "context %lld has a cause and not the flag for it",
                                  sqlite3_column_int64(row, 0));
        else
            raw->items[context].cause = cause;
    }
    if (status == PM_OK && step != SQLITE_DONE)
        status = database_error(load);
    sqlite3_finalize(row);
    return status;
}

/* Where a context is that is not told apart by what it was done on behalf of. */
static enum pm_status merge_context(struct loader *load, struct raw_contexts *raw,
                                    const struct raw_context *c, pm_index parent, pm_index sentence,
                                    pm_index *ret_position)
{
    struct pm_graph *graph = load->data->graph;
    if (c->flags & (PM_CONTEXT_CAUSE | PM_CONTEXT_TOLD)) {
        *ret_position = c->flags & PM_CONTEXT_TOLD ? PM_NONE : parent;
        return PM_OK;
    }
    uint32_t key[] = {parent, sentence, c->flags}, n_before = raw->merged.n;
    uint32_t set = pm_sets_add(&raw->merged, key, 3);
    if (set == PM_SETS_FAILED)
        return load_no_memory(load);
    if (set >= n_before) { /* number 0 is that of the empty set */
        if (!load_room(&raw->merged_to, set - 1, sizeof *raw->merged_to))
            return load_no_memory(load);
        raw->merged_to[set - 1] = pm_graph_context(graph, parent, sentence, c->flags);
    }
    *ret_position = raw->merged_to[set - 1];
    return *ret_position != PM_NONE ? PM_OK : load_no_memory(load);
}

static enum pm_status add_context(struct loader *load, struct raw_contexts *raw,
                                  struct raw_context *c, const pm_index *position,
                                  pm_index *ret_position)
{
    pm_index sentence, parent = c->parent == PM_NONE ? PM_NONE : position[c->parent];
    enum pm_status status = load_need_sentence(load, c->sentence_id, &sentence);
    if (status != PM_OK)
        return status;
    if (raw->has_causes && !load->with_causes)
        return merge_context(load, raw, c, parent, sentence, ret_position);
    *ret_position = pm_graph_context(load->data->graph, parent, sentence, c->flags);
    if (*ret_position == PM_NONE)
        return load_no_memory(load);
    if (c->cause != PM_NONE)
        pm_graph_set_cause(load->data->graph, *ret_position, position[c->cause]);
    return PM_OK;
}

/* Finds the parent; what a context leans on and is not there yet comes first. PM_NONE: nothing. */
static enum pm_status missing_before(struct loader *load, struct raw_contexts *raw, uint32_t at,
                                     uint32_t *ret_missing)
{
    struct raw_context *c = &raw->items[at];
    *ret_missing = PM_NONE;
    if (c->parent_id != PM_UNKNOWN && c->parent == PM_NONE) {
        c->parent = pm_index_map_get(&load->contexts, c->parent_id);
        if (c->parent == PM_NONE)
            return load_damaged(load, "context %lld names parent %lld, which is not there",
                                (long long)c->id, (long long)c->parent_id);
    }
    if (c->parent != PM_NONE && raw->items[c->parent].state != ADDED)
        *ret_missing = c->parent;
    else if (c->cause != PM_NONE && raw->items[c->cause].state != ADDED)
        *ret_missing = c->cause;
    return PM_OK;
}

/* Adds contexts so that parents and causes come first. Archives are mostly in that order
 * already; what is not is found by going up to what was added, and back again. */
static enum pm_status add_contexts(struct loader *load, struct raw_contexts *raw, uint32_t *path,
                                   pm_index *position)
{
    for (uint32_t i = 0; i < raw->n; i++) {
        uint32_t n_path = 0, missing;
        if (raw->items[i].state == NEW)
            path[n_path++] = i;
        while (n_path) {
            uint32_t at = path[n_path - 1];
            struct raw_context *c = &raw->items[at];
            c->state = ON_PATH;
            enum pm_status status = missing_before(load, raw, at, &missing);
            if (status == PM_OK && missing != PM_NONE && raw->items[missing].state == ON_PATH)
                return load_damaged(load, "context %lld is its own ancestor%s",
                                    (long long)raw->items[missing].id,
                                    raw->has_causes ? ", or cause" : "");
            if (status == PM_OK && missing == PM_NONE)
                status = add_context(load, raw, c, position, &position[at]);
            if (status != PM_OK)
                return status;
            if (missing != PM_NONE) {
                path[n_path++] = missing;
                continue;
            }
            c->state = ADDED;
            n_path--;
        }
    }
    return PM_OK;
}

static enum pm_status read_contexts_and_costs(struct loader *load)
{
    struct raw_contexts raw = {0};
    uint32_t *path = NULL;
    pm_index *position = NULL;
    enum pm_status status = read_raw_contexts(load, &raw);
    if (status == PM_OK)
        status = read_raw_causes(load, &raw);
    if (status == PM_OK && !pm_sets_init(&raw.merged))
        status = load_no_memory(load);
    if (status == PM_OK) {
        path = pm_alloc_array(raw.n, sizeof *path);
        position = pm_alloc_array(raw.n, sizeof *position);
        status = path && position ? add_contexts(load, &raw, path, position) : load_no_memory(load);
    }
    load->position = position;
    if (status == PM_OK)
        status = load_costs(load, position, load->merges);
    free(raw.items);
    free(raw.merged_to);
    pm_sets_release(&raw.merged);
    free(path);
    return status;
}

/* --- all of it --- */

static enum pm_status read_has_sentence_nouns(struct loader *load, sqlite3_stmt *row)
{
    load->has_sentence_nouns = sqlite3_column_int(row, 0) != 0;
    return PM_OK;
}

static enum pm_status prepare_lookups(struct loader *load)
{
    for (int i = 0; i < N_LOOKUPS; i++)
        if (sqlite3_prepare_v2(load->db, lookup_sql[i], -1, &load->lookups[i], NULL) != SQLITE_OK)
            return database_error(load);
    return load_each_row(load, "SELECT EXISTS (SELECT 1 FROM sentence_nouns)",
                         read_has_sentence_nouns);
}

/* Random look-ups touch most pages of a large archive: a cache that holds them. */
static enum pm_status open_archive(struct loader *load)
{
    enum pm_status status = pm_archive_open(load->path, load->err, &load->archive);
    if (status != PM_OK)
        return status;
    load->db = pm_archive_db(load->archive);
    sqlite3_exec(load->db, "PRAGMA cache_size = -65536", NULL, NULL, NULL);
    return PM_OK;
}

/* What has no costs. */
static enum pm_status read_unmeasured(struct loader *load, unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *sql;
        enum pm_status (*read)(struct loader *, sqlite3_stmt *);
    } kinds[] = {
        {PM_ARCHIVE_LOAD_LEFT_OUT,
         "SELECT id FROM sentences WHERE noun IN (SELECT noun FROM noun_modes WHERE mode IN "
         "('off', 'count'))",
         read_sentence},
        {PM_ARCHIVE_LOAD_ALL, "SELECT id FROM sentences", read_sentence},
        {PM_ARCHIVE_LOAD_NOUNS, "SELECT id FROM nouns", read_noun},
        {PM_ARCHIVE_LOAD_FUNCTIONS, "SELECT id FROM nouns WHERE kind = 'function'", read_noun},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!(flags & kinds[i].flag))
            continue;
        enum pm_status status = load_each_row(load, kinds[i].sql, kinds[i].read);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status read_everything(struct loader *load, unsigned flags)
{
    load->with_causes = (flags & PM_ARCHIVE_LOAD_CAUSES) != 0;
    load->merges = (flags & PM_ARCHIVE_LOAD_MERGED) != 0;
    enum pm_status status = open_archive(load);
    if (status == PM_OK)
        status = load_tables(load);
    if (status == PM_OK && load->data->n_executions == 0)
        status = load_damaged(load, "it has no execution");
    if (status == PM_OK)
        status = prepare_lookups(load);
    if (status == PM_OK)
        status = read_contexts_and_costs(load);
    if (status == PM_OK)
        status = load_noun_modes(load);
    if (status == PM_OK)
        status = read_unmeasured(load, flags);
    if (status == PM_OK)
        status = load_call_sites(load);
    if (status == PM_OK)
        status = read_mappings(load, 0);
    if (status == PM_OK &&
        (!pm_graph_add_outer(load->data->graph, "loop") || !pm_graph_seal(load->data->graph)))
        status = load_no_memory(load);
    return status;
}

static void finish_lookups(struct loader *load)
{
    for (int i = 0; i < N_LOOKUPS; i++) {
        sqlite3_finalize(load->lookups[i]);
        load->lookups[i] = NULL;
    }
}

/* What reading sentences needs goes from one to the other, and is its alone. */
static void give_to_kept(struct loader *load, struct load_kept *kept)
{
    kept->levels = load->levels;
    kept->verbs = load->verbs;
    kept->nouns = load->nouns;
    kept->sentences = load->sentences;
    kept->binaries = load->binaries;
    kept->sentence_ids = load->sentence_ids;
    kept->cap_sentence_ids = load->cap_sentence_ids;
    kept->cap_attributes = load->cap_attributes;
    load->levels = load->verbs = load->nouns = load->sentences = load->binaries =
        (struct pm_index_map){0};
    load->sentence_ids = NULL;
}

/* The file, and what finds its threads, metrics and contexts, are the data's from now on. */
static enum pm_status keep_open(struct loader *load, unsigned flags)
{
    struct load_kept *kept = &load->data->own->kept;
    kept->path = pm_intern_add(load->data->own->strings, load->path, strlen(load->path));
    if (!kept->path)
        return load_no_memory(load);
    pthread_mutex_init(&kept->lock, NULL);
    kept->archive = load->archive;
    kept->contexts = load->contexts;
    kept->metrics = load->metrics;
    kept->threads = load->threads;
    kept->position = load->position;
    kept->has_all = (flags & PM_ARCHIVE_LOAD_ALL) != 0;
    kept->merges = load->merges;
    give_to_kept(load, kept);
    load->archive = NULL;
    load->position = NULL;
    load->contexts = load->metrics = load->threads = (struct pm_index_map){0};
    sqlite3_db_release_memory(load->db); /* pages that will not be read again */
    return PM_OK;
}

static void release_kept(struct load_kept *kept)
{
    if (kept->archive)
        pthread_mutex_destroy(&kept->lock);
    pm_archive_close(kept->archive);
    pm_index_map_release(&kept->contexts);
    pm_index_map_release(&kept->metrics);
    pm_index_map_release(&kept->threads);
    pm_index_map_release(&kept->levels);
    pm_index_map_release(&kept->verbs);
    pm_index_map_release(&kept->nouns);
    pm_index_map_release(&kept->sentences);
    pm_index_map_release(&kept->binaries);
    free(kept->sentence_ids);
    free(kept->position);
}

/* To read costs once more. */
static struct loader loader_again(const struct pm_archive_data *data, struct pm_error *err)
{
    const struct load_kept *kept = &data->own->kept;
    PM_ASSERT(kept->archive);
    return (struct loader){
        .path = kept->path,
        .err = err,
        .archive = kept->archive,
        .db = pm_archive_db(kept->archive),
        .data = (struct pm_archive_data *)(uintptr_t)data, /* is not written to */
        .contexts = kept->contexts,
        .metrics = kept->metrics,
        .threads = kept->threads,
    };
}

static enum pm_status visit_costs(const struct pm_archive_data *data,
                                  const struct load_visit *visit, struct pm_error *err)
{
    struct loader load = loader_again(data, err);
    struct load_kept *kept = &data->own->kept;
    pthread_mutex_lock(&kept->lock);
    enum pm_status status = load_each_cost(&load, kept->position, visit);
    pthread_mutex_unlock(&kept->lock);
    return status;
}

enum pm_status pm_archive_each_cost(const struct pm_archive_data *data, const bool *threads_in,
                                    pm_cost_visitor visit, void *context, struct pm_error *err)
{
    const struct load_visit all = {.threads_in = threads_in, .visit = visit, .context = context};
    return visit_costs(data, &all, err);
}

enum pm_status pm_archive_each_part(const struct pm_archive_data *data, const bool *threads_in,
                                    const int64_t *edges_ns, uint32_t n,
                                    pm_cost_parts_visitor visit, void *context,
                                    struct pm_error *err)
{
    const struct load_visit all = {.threads_in = threads_in,
                                   .visit_parts = visit,
                                   .edges_ns = edges_ns,
                                   .n_parts = n,
                                   .context = context};
    return data->has_times ? visit_costs(data, &all, err) : PM_OK;
}

enum pm_status pm_archive_each_times(const struct pm_archive_data *data,
                                     pm_cost_times_visitor visit, void *context,
                                     struct pm_error *err)
{
    const struct load_visit all = {.visit_times = visit, .context = context};
    return data->has_times ? visit_costs(data, &all, err) : PM_OK;
}

enum pm_status pm_archive_keep_interval(struct pm_archive_data *data, struct pm_time_span interval,
                                        struct pm_error *err)
{
    struct loader load = loader_again(data, err);
    struct load_kept *kept = &data->own->kept;
    pm_graph_take_costs(data->graph, NULL, 0);
    data->interval = interval;
    data->has_interval = true;
    if (!data->has_times)
        return PM_OK;
    pthread_mutex_lock(&kept->lock);
    enum pm_status status = load_interval(&load, kept->position, kept->merges);
    pthread_mutex_unlock(&kept->lock);
    return status;
}

/* Sentences that were made of others, without a row of the file, have their mappings already. */
static enum pm_status read_rest(struct loader *load)
{
    pm_index first = load->data->graph->n_sentences;
    enum pm_status status = prepare_lookups(load);
    if (status != PM_OK)
        return status;
    status = load_each_row(load, "SELECT id FROM sentences", read_sentence);
    if (status != PM_OK)
        return status;
    status = load_call_sites(load);
    if (status != PM_OK)
        return status;
    status = read_mappings(load, first);
    if (status != PM_OK)
        return status;
    return pm_graph_add_outer(load->data->graph, "loop") && pm_graph_seal(load->data->graph)
               ? PM_OK
               : load_no_memory(load);
}

enum pm_status pm_archive_load_rest(struct pm_archive_data *data, struct pm_error *err)
{
    struct load_kept *kept = &data->own->kept;
    PM_ASSERT(kept->archive);
    struct loader load = {
        .path = kept->path,
        .err = err,
        .archive = kept->archive,
        .db = pm_archive_db(kept->archive),
        .data = data,
        .levels = kept->levels,
        .verbs = kept->verbs,
        .nouns = kept->nouns,
        .sentences = kept->sentences,
        .binaries = kept->binaries,
        .sentence_ids = kept->sentence_ids,
        .cap_sentence_ids = kept->cap_sentence_ids,
        .cap_attributes = kept->cap_attributes,
    };
    if (kept->has_all)
        return PM_OK;
    enum pm_status status = read_rest(&load);
    finish_lookups(&load);
    give_to_kept(&load, kept);
    free(load.sites);
    kept->has_all = status == PM_OK;
    return status;
}

enum pm_status pm_archive_load(const char *path, unsigned flags, struct pm_error *err,
                               struct pm_archive_data **ret_data)
{
    struct loader load = {.path = path, .err = err, .data = pm_alloc(sizeof *load.data)};
    enum pm_status status = PM_ERR_MEMORY;
    if (load.data) {
        load.data->graph = pm_graph_new();
        load.data->own = pm_alloc(sizeof *load.data->own);
        if (load.data->own)
            load.data->own->strings = pm_intern_new();
        if (load.data->graph && load.data->own && load.data->own->strings)
            status = read_everything(&load, flags);
        else
            load_no_memory(&load);
    } else {
        load_no_memory(&load);
    }
    finish_lookups(&load);
    if (status == PM_OK && flags & PM_ARCHIVE_LOAD_KEPT)
        status = keep_open(&load, flags);
    pm_archive_close(load.archive);
    struct pm_index_map *maps[] = {&load.levels,   &load.verbs,   &load.nouns,      &load.sentences,
                                   &load.contexts, &load.metrics, &load.executions, &load.processes,
                                   &load.threads,  &load.binaries};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        pm_index_map_release(maps[i]);
    free(load.sentence_ids);
    free(load.sites);
    free(load.position);
    if (status == PM_OK)
        *ret_data = load.data;
    else
        pm_archive_data_free(load.data);
    return status;
}

void pm_archive_data_free(struct pm_archive_data *data)
{
    if (!data)
        return;
    pm_graph_free(data->graph);
    if (data->own) {
        release_kept(&data->own->kept);
        pm_intern_free(data->own->strings);
    }
    free(data->own);
    free(data->executions);
    free(data->processes);
    free(data->threads);
    free(data->binaries);
    free(data->messages);
    free(data->samplings);
    free(data->counters);
    free(data->noun_modes);
    free(data->mapping_points);
    free(data->members);
    free(data->addresses);
    free(data->paths);
    free(data->bare);
    free(data->has_times);
    free(data->call_sites);
    free(data->call_places);
    free(data);
}
