/* Nouns, sentences and the mappings between them. They are read as they are needed. */
#include "load_internal.h"

static const char *const lookup_sql[N_LOOKUPS] = {
    [LOOKUP_SENTENCE] = "SELECT verb, noun FROM sentences WHERE id = ?",
    [LOOKUP_SENTENCE_NOUNS] =
        "SELECT noun FROM sentence_nouns WHERE sentence = ? ORDER BY position",
    [LOOKUP_NOUN] = "SELECT " LOAD_NOUN_COLUMNS " FROM temp.nouns_in_full WHERE id = ?",
    [LOOKUP_ATTRIBUTES] = "SELECT key, value FROM noun_attributes WHERE noun = ?",
    [LOOKUP_MAPPINGS] = "SELECT destination, weight, origin, reason FROM mappings WHERE source = ?",
};

static enum pm_status note_sentence_nouns(struct loader *load, sqlite3_stmt *row)
{
    load->has_sentence_nouns = sqlite3_column_int(row, 0) != 0;
    return PM_OK;
}

enum pm_status load_prepare_lookups(struct loader *load)
{
    for (int i = 0; i < N_LOOKUPS; i++)
        if (sqlite3_prepare_v2(load->db, lookup_sql[i], -1, &load->lookups[i], NULL) != SQLITE_OK)
            return load_database_error(load);
    return load_each_row(load, "SELECT EXISTS (SELECT 1 FROM sentence_nouns)", note_sentence_nouns);
}

void load_finish_lookups(struct loader *load)
{
    for (int i = 0; i < N_LOOKUPS; i++) {
        sqlite3_finalize(load->lookups[i]);
        load->lookups[i] = NULL;
    }
}

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
                      : load_database_error(load);
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

/* What an attribute of nouns of a kind says. Machine code states its addresses, files their paths,
 * functions and loops whether some of their code has no sleds. */
static const struct attribute {
    const char *kind, *key;
    enum { IS_MARK, IS_ADDRESS, IS_PATH, IS_SITES } says;
    uint16_t mark; /* that a value sets, which is never empty */
} attributes[] = {
    {"file", "path", IS_PATH, 0},
    {"code", "address", IS_ADDRESS, 0},
    {"code", "inlined at", IS_SITES, 0},
    {"code", "lacks callees", IS_MARK, PM_BARE_LACKS},
    {"symbol", "called at", IS_SITES, 0},
    {"symbol", "jumps", IS_MARK, PM_BARE_JUMPS},
    {"field", "left out", IS_MARK, PM_BARE_LEFT_OUT},
    {"array", "passed on", IS_MARK, PM_BARE_PASSED_ON},
    {"variable", "passed on", IS_MARK, PM_BARE_PASSED_ON},
    {"function", "bare", IS_MARK, PM_BARE_COPIES},
    {"function", "bare calls", IS_MARK, PM_BARE_COPIES_CALL},
    {"function", "lacks callees", IS_MARK, PM_BARE_LACKS},
    {"function", "uncounted entries", IS_MARK, PM_BARE_ENTRIES},
    {"loop", "bare", IS_MARK, PM_BARE_CODE},
    {"loop", "bare calls", IS_MARK, PM_BARE_CALLS},
    {"loop", "lacks callees", IS_MARK, PM_BARE_LACKS},
    {"loop", "uncounted entries", IS_MARK, PM_BARE_ENTRIES},
    {"loopcode", "bare", IS_MARK, PM_BARE_CODE},
    {"loopcode", "bare calls", IS_MARK, PM_BARE_CALLS},
    {"loopcode", "lacks callees", IS_MARK, PM_BARE_LACKS},
    {"loopcode", "uncounted entries", IS_MARK, PM_BARE_ENTRIES},
};
enum { N_ATTRIBUTES = sizeof attributes / sizeof *attributes };

/* The first one of a kind, or of a kind with that key; N_ATTRIBUTES: none. */
static size_t find_attribute(const char *kind, const char *key)
{
    size_t i = 0;
    while (i < N_ATTRIBUTES &&
           (strcmp(attributes[i].kind, kind) != 0 || (key && strcmp(attributes[i].key, key) != 0)))
        i++;
    return i;
}

/* What it says is looked at when all nouns of contexts are there (load_call_sites). */
static enum pm_status add_sites_text(struct loader *load, pm_index noun, const char *text,
                                     bool are_calls)
{
    if (!load_room(&load->sites, load->n_sites, sizeof *load->sites))
        return load_no_memory(load);
    load->sites[load->n_sites++] = (struct load_sites_text){noun, text, are_calls};
    return PM_OK;
}

static enum pm_status take_attribute(struct loader *load, pm_index noun, const char *key,
                                     sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    const char *kind = data->graph->nouns[noun].kind;
    size_t i = find_attribute(kind, key);
    const char *text = i < N_ATTRIBUTES ? load_keep(load, row, 1) : "";
    if (!text)
        return load_no_memory(load);
    if (!*text)
        return PM_OK;
    switch (attributes[i].says) {
    case IS_MARK:
        data->bare[noun] |= attributes[i].mark;
        return PM_OK;
    case IS_ADDRESS:
        data->addresses[noun] = text;
        return PM_OK;
    case IS_PATH:
        data->paths[noun] = text;
        return PM_OK;
    case IS_SITES:
        return add_sites_text(load, noun, text, !strcmp(kind, "symbol"));
    }
    return PM_OK;
}

static enum pm_status add_attributes(struct loader *load, int64_t id, pm_index noun)
{
    struct pm_archive_data *data = load->data;
    if (!attribute_room(load, noun))
        return load_no_memory(load);
    data->addresses[noun] = data->paths[noun] = "";
    data->bare[noun] = 0;
    if (find_attribute(data->graph->nouns[noun].kind, NULL) == N_ATTRIBUTES)
        return PM_OK;
    sqlite3_stmt *row = load->lookups[LOOKUP_ATTRIBUTES];
    sqlite3_reset(row);
    sqlite3_bind_int64(row, 1, id);
    enum pm_status status = PM_OK;
    int step = SQLITE_DONE;
    while (status == PM_OK && (step = sqlite3_step(row)) == SQLITE_ROW)
        status = take_attribute(load, noun, pm_archive_text(row, 0), row);
    if (status != PM_OK)
        return status;
    if (!(data->bare[noun] & (PM_BARE_CODE | PM_BARE_COPIES))) /* calls of such code */
        data->bare[noun] &= (uint16_t) ~(PM_BARE_CALLS | PM_BARE_COPIES_CALL);
    return step == SQLITE_DONE ? PM_OK : load_database_error(load);
}

enum pm_status load_take_noun(struct loader *load, int64_t id, sqlite3_stmt *row,
                              pm_index *ret_noun)
{
    const char *kind = load_keep_printable(load, row, 1);
    if (!kind)
        return load_no_memory(load);
    struct pm_graph_noun noun = {
        .name = pm_archive_text(row, 0),
        .kind = kind,
        .linkage = pm_archive_text(row, 2),
        .file = pm_archive_text(row, 3),
        .type = pm_archive_text(row, 4),
        .line_no = load_small_number(row, 5),
        .column_no = load_small_number(row, 6),
        .end_line_no = load_small_number(row, 7),
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
    *ret_noun = pm_graph_noun(load->data->graph, &noun);
    if (*ret_noun == PM_NONE || !pm_index_map_add(&load->nouns, id, *ret_noun))
        return load_no_memory(load);
    return PM_OK;
}

/* One noun without its parent, whose id comes back (PM_UNKNOWN: none). */
static enum pm_status add_noun(struct loader *load, int64_t id, pm_index *ret_noun,
                               int64_t *ret_parent_id)
{
    enum pm_status status = PM_OK;
    sqlite3_stmt *row = look_up(load, LOOKUP_NOUN, id, "noun", &status);
    if (!row)
        return status;
    *ret_parent_id = load_number(row, 9);
    status = load_take_noun(load, id, row, ret_noun);
    return status != PM_OK ? status : add_attributes(load, id, *ret_noun);
}

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
            status = load_database_error(load);
    }
    if (status != PM_OK)
        return status;
    *ret_sentence = pm_graph_sentence(load->data->graph, verb, nouns, n);
    if (*ret_sentence == PM_NONE || !keep_sentence_id(load, *ret_sentence, id) ||
        !pm_index_map_add(&load->sentences, id, *ret_sentence))
        return load_no_memory(load);
    return PM_OK;
}

enum pm_status load_read_sentence(struct loader *load, sqlite3_stmt *row)
{
    pm_index sentence;
    return load_need_sentence(load, sqlite3_column_int64(row, 0), &sentence);
}

enum pm_status load_read_noun(struct loader *load, sqlite3_stmt *row)
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
            return load_database_error(load);
    }
    return PM_OK;
}

enum pm_status load_connect(struct loader *load)
{
    struct pm_graph *graph = load->data->graph;
    enum pm_status status = load_call_sites(load);
    if (status != PM_OK)
        return status;
    status = read_mappings(load, load->n_connected);
    if (status != PM_OK)
        return status;
    return pm_graph_add_outer(graph, "loop") && pm_graph_seal(graph) ? PM_OK : load_no_memory(load);
}
