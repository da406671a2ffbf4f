#include "load.h"

#include "../base/arena.h"
#include "../base/str.h"
#include "../graph/index_map.h"
#include "archive.h"

#include <stdlib.h>

struct pm_archive_data_private {
    struct pm_intern *strings;
};

/* Statements that are used once per item and kept prepared. */
enum lookup {
    LOOKUP_SENTENCE,
    LOOKUP_SENTENCE_NOUNS,
    LOOKUP_NOUN,
    LOOKUP_ATTRIBUTE,
    LOOKUP_MAPPINGS,
    N_LOOKUPS
};

static const char *const lookup_sql[N_LOOKUPS] = {
    [LOOKUP_SENTENCE] = "SELECT verb, noun FROM sentences WHERE id = ?",
    [LOOKUP_SENTENCE_NOUNS] =
        "SELECT noun FROM sentence_nouns WHERE sentence = ? ORDER BY position",
    [LOOKUP_NOUN] = "SELECT name, kind, linkage, file, type, line, \"column\", end_line, level, "
                    "parent, binary, pif_id FROM nouns WHERE id = ?",
    [LOOKUP_ATTRIBUTE] = "SELECT value FROM noun_attributes WHERE noun = ? AND key = ?",
    [LOOKUP_MAPPINGS] = "SELECT destination, weight, origin, reason FROM mappings WHERE source = ?",
};

struct loader {
    const char *path;
    struct pm_error *err;
    struct pm_archive *archive;
    sqlite3 *db; /* archive's */
    sqlite3_stmt *lookups[N_LOOKUPS];
    struct pm_archive_data *data;
    struct pm_index_map levels, verbs, nouns, sentences, contexts, metrics, executions, processes,
        threads, binaries;
    int64_t *sentence_ids; /* by position in the graph */
    uint32_t cap_sentence_ids, cap_attributes;
    bool has_sentence_nouns;
};

/* --- errors --- */

/* All reports of damage come through here: a handy breakpoint. */
static enum pm_status damaged(struct loader *load, const char *format, ...) PM_PRINTF(2, 3);
static enum pm_status damaged(struct loader *load, const char *format, ...)
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

static enum pm_status out_of_memory(struct loader *load)
{
    return pm_error_set(load->err, PM_ERR_MEMORY, "archive '%s': out of memory", load->path);
}

static enum pm_status database_error(struct loader *load)
{
    return pm_archive_error(load->archive, load->err);
}

/* --- columns --- */

static int64_t number(sqlite3_stmt *row, int column)
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
static const char *keep(struct loader *load, sqlite3_stmt *row, int column)
{
    const char *p = pm_archive_text(row, column);
    return pm_intern_add(load->data->own->strings, p, strlen(p));
}

typedef enum pm_status (*row_reader)(struct loader *load, sqlite3_stmt *row);

static enum pm_status each_row(struct loader *load, const char *sql, row_reader reader)
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
static enum pm_status enter(struct loader *load, struct pm_index_map *map, sqlite3_stmt *row,
                            pm_index position, const char *what)
{
    int64_t id = sqlite3_column_int64(row, 0);
    if (pm_index_map_add(map, id, position))
        return PM_OK;
    return map->out_of_memory ? out_of_memory(load)
                              : damaged(load, "%s %lld is there twice", what, (long long)id);
}

/* Room for one more of data->NAME, at doubling sizes (n is a power of two or 0 when it is full). */
static bool room(void *array_pointer, uint32_t n, size_t item_bytes)
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

/* --- small tables --- */

static enum pm_status read_metric(struct loader *load, sqlite3_stmt *row)
{
    static const char *const words[] = {"sum", "average", "minimum", "maximum"};
    struct pm_metric metric = {pm_archive_text(row, 1), pm_archive_text(row, 2),
                               pm_archive_text(row, 3), pm_archive_text(row, 5), PM_SUM};
    while (metric.aggregation <= PM_MAXIMUM &&
           strcmp(pm_archive_text(row, 4), words[metric.aggregation]) != 0)
        metric.aggregation++;
    if (metric.aggregation > PM_MAXIMUM)
        return damaged(
            load, "metric '%s' aggregates by '%s', which is none of sum, average, minimum, maximum",
            metric.name, pm_archive_text(row, 4));
    pm_index position = pm_graph_metric(load->data->graph, &metric);
    return position == PM_NONE ? out_of_memory(load)
                               : enter(load, &load->metrics, row, position, "metric");
}

static enum pm_status read_level(struct loader *load, sqlite3_stmt *row)
{
    uint32_t n_before = load->data->graph->n_levels;
    pm_index position = pm_graph_level(load->data->graph, pm_archive_text(row, 1));
    if (position == PM_NONE)
        return out_of_memory(load);
    if (position < n_before)
        return damaged(load, "level '%s' is there twice", pm_archive_text(row, 1));
    return enter(load, &load->levels, row, position, "level");
}

static enum pm_status read_level_above(struct loader *load, sqlite3_stmt *row)
{
    pm_index level = pm_index_map_get(&load->levels, sqlite3_column_int64(row, 0));
    pm_index above = pm_index_map_get(&load->levels, sqlite3_column_int64(row, 1));
    if (level == PM_NONE || above == PM_NONE)
        return damaged(load, "level %lld lies above level %lld, which is not there",
                       sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
    load->data->graph->levels[level].above = above;
    return PM_OK;
}

static enum pm_status read_verb(struct loader *load, sqlite3_stmt *row)
{
    pm_index level = pm_index_map_get(&load->levels, sqlite3_column_int64(row, 1));
    if (level == PM_NONE)
        return damaged(load, "verb %lld names level %lld, which is not there",
                       sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
    pm_index position = pm_graph_verb(load->data->graph, pm_archive_text(row, 2), level);
    return position == PM_NONE ? out_of_memory(load)
                               : enter(load, &load->verbs, row, position, "verb");
}

static enum pm_status read_execution(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!room(&data->executions, data->n_executions, sizeof *data->executions))
        return out_of_memory(load);
    struct pm_execution *x = &data->executions[data->n_executions];
    *x = (struct pm_execution){
        keep(load, row, 1), keep(load, row, 2), keep(load, row, 3), keep(load, row, 4),
        keep(load, row, 5), number(row, 6),     number(row, 7),     number(row, 8),
        number(row, 9),     number(row, 10),    number(row, 11),    number(row, 12),
    };
    if (!x->name || !x->command || !x->cwd || !x->host || !x->mode)
        return out_of_memory(load);
    return enter(load, &load->executions, row, data->n_executions++, "execution");
}

static enum pm_status read_process(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!room(&data->processes, data->n_processes, sizeof *data->processes))
        return out_of_memory(load);
    struct pm_process *x = &data->processes[data->n_processes];
    *x = (struct pm_process){
        .execution = pm_index_map_get(&load->executions, sqlite3_column_int64(row, 1)),
        .pid = number(row, 2),
        .parent_pid = number(row, 3),
        .image = number(row, 4),
        .exe = keep(load, row, 5),
        .argv = keep(load, row, 6),
        .end_kind = keep(load, row, 7),
        .start_ns = number(row, 8),
        .end_ns = number(row, 9),
        .user_cpu_ns = number(row, 10),
        .system_cpu_ns = number(row, 11),
        .max_rss_bytes = number(row, 12),
        .n_sleds = number(row, 13),
        .n_events = number(row, 14),
        .added_ns = number(row, 15),
        .n_lost_contexts = number(row, 16),
        .n_unmatched = number(row, 17),
        .n_healed = number(row, 18),
        .exact_pair_ps = number(row, 19),
        .exact_inner_ps = number(row, 20),
        .budget_ppm = number(row, 21),
        .events_ns = number(row, 22),
        .samples_ns = number(row, 23),
        .active_pair_ps = number(row, 24),
        .count_pair_ps = number(row, 25),
    };
    if (!x->exe || !x->argv || !x->end_kind)
        return out_of_memory(load);
    if (x->execution == PM_NONE)
        return damaged(load, "process %lld names execution %lld, which is not there",
                       sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
    return enter(load, &load->processes, row, data->n_processes++, "process");
}

static enum pm_status read_thread(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!room(&data->threads, data->n_threads, sizeof *data->threads))
        return out_of_memory(load);
    struct pm_thread *x = &data->threads[data->n_threads];
    *x = (struct pm_thread){
        .process = pm_index_map_get(&load->processes, sqlite3_column_int64(row, 1)),
        .tid = number(row, 2),
        .n_threads = number(row, 3),
        .name = keep(load, row, 4),
        .start_ns = number(row, 5),
        .end_ns = number(row, 6),
        .cpu_ns = number(row, 7),
    };
    if (!x->name)
        return out_of_memory(load);
    if (x->process == PM_NONE)
        return damaged(load, "thread %lld names process %lld, which is not there",
                       sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
    return enter(load, &load->threads, row, data->n_threads++, "thread");
}

static enum pm_status read_binary(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!room(&data->binaries, data->n_binaries, sizeof *data->binaries))
        return out_of_memory(load);
    struct pm_binary *x = &data->binaries[data->n_binaries];
    *x = (struct pm_binary){keep(load, row, 1), keep(load, row, 2), keep(load, row, 3),
                            keep(load, row, 4), keep(load, row, 5), keep(load, row, 6),
                            number(row, 7),     number(row, 8)};
    if (!x->path || !x->build_id || !x->pif_state || !x->map_state || !x->debug_file ||
        !x->debug_problem)
        return out_of_memory(load);
    return enter(load, &load->binaries, row, data->n_binaries++, "binary");
}

static enum pm_status read_message(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!room(&data->messages, data->n_messages, sizeof *data->messages))
        return out_of_memory(load);
    struct pm_message *x = &data->messages[data->n_messages];
    *x = (struct pm_message){PM_NONE, number(row, 1), keep(load, row, 2)};
    if (!x->text)
        return out_of_memory(load);
    if (sqlite3_column_type(row, 0) != SQLITE_NULL)
        x->process = pm_index_map_get(&load->processes, sqlite3_column_int64(row, 0));
    data->n_messages++;
    return PM_OK;
}

static enum pm_status read_sampling(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!room(&data->samplings, data->n_samplings, sizeof *data->samplings))
        return out_of_memory(load);
    struct pm_sampling *x = &data->samplings[data->n_samplings];
    *x = (struct pm_sampling){
        .process = pm_index_map_get(&load->processes, sqlite3_column_int64(row, 0)),
        .source = keep(load, row, 1),
        .clock = keep(load, row, 2),
        .period_ns = number(row, 3),
        .has_kernel = sqlite3_column_int(row, 4) != 0,
        .has_switches = sqlite3_column_int(row, 5) != 0,
        .n_samples = number(row, 6),
        .n_lost = number(row, 7),
        .problem = keep(load, row, 8),
    };
    if (!x->source || !x->clock || !x->problem)
        return out_of_memory(load);
    if (x->process == PM_NONE)
        return damaged(load, "a sampling names process %lld, which is not there",
                       sqlite3_column_int64(row, 0));
    data->n_samplings++;
    return PM_OK;
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
                      ? damaged(load, "%s %lld is named but not there", what, (long long)id)
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
    if (!paths)
        return false;
    data->paths = paths;
    load->cap_attributes = cap;
    return true;
}

/* Machine code states its addresses, files their paths. */
static enum pm_status add_attributes(struct loader *load, int64_t id, pm_index noun)
{
    struct pm_archive_data *data = load->data;
    if (!attribute_room(load, noun))
        return out_of_memory(load);
    data->addresses[noun] = data->paths[noun] = "";
    const char *kind = data->graph->nouns[noun].kind;
    bool is_file = !strcmp(kind, "file");
    if (!is_file && strcmp(kind, "code") != 0)
        return PM_OK;
    sqlite3_stmt *row = load->lookups[LOOKUP_ATTRIBUTE];
    sqlite3_reset(row);
    sqlite3_bind_int64(row, 1, id);
    sqlite3_bind_text(row, 2, is_file ? "path" : "address", -1, SQLITE_STATIC);
    int step = sqlite3_step(row);
    const char *value = step == SQLITE_ROW ? keep(load, row, 0) : "";
    if (!value)
        return out_of_memory(load);
    *(is_file ? &data->paths[noun] : &data->addresses[noun]) = value;
    return step == SQLITE_ROW || step == SQLITE_DONE ? PM_OK : database_error(load);
}

/* One noun without its parent, whose id comes back (PM_UNKNOWN: none). */
static enum pm_status add_noun(struct loader *load, int64_t id, pm_index *ret_noun,
                               int64_t *ret_parent_id)
{
    enum pm_status status;
    sqlite3_stmt *row = look_up(load, LOOKUP_NOUN, id, "noun", &status);
    if (!row)
        return status;
    struct pm_noun noun = {
        .name = pm_archive_text(row, 0),
        .kind = pm_archive_text(row, 1),
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
        return damaged(load, "noun %lld names level %lld, which is not there", (long long)id,
                       sqlite3_column_int64(row, 8));
    if (sqlite3_column_type(row, 10) != SQLITE_NULL) {
        pm_index binary = pm_index_map_get(&load->binaries, sqlite3_column_int64(row, 10));
        if (binary == PM_NONE)
            return damaged(load, "noun %lld names binary %lld, which is not there", (long long)id,
                           sqlite3_column_int64(row, 10));
        noun.binary = load->data->binaries[binary].path;
    }
    *ret_parent_id = number(row, 9);
    *ret_noun = pm_graph_noun(load->data->graph, &noun);
    if (*ret_noun == PM_NONE || !pm_index_map_add(&load->nouns, id, *ret_noun))
        return out_of_memory(load);
    return add_attributes(load, id, *ret_noun);
}

/* The noun of that id, with its ancestors. */
static enum pm_status need_noun(struct loader *load, int64_t id, pm_index *ret_noun)
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
            return damaged(load, "noun %lld is its own ancestor", (long long)id);
        if (known || parent_id == PM_UNKNOWN)
            return PM_OK;
        child = noun;
        id = parent_id;
    }
}

static bool keep_sentence_id(struct loader *load, pm_index sentence, int64_t id)
{
    if (sentence >= load->cap_sentence_ids) {
        uint32_t cap = load->cap_sentence_ids ? load->cap_sentence_ids * 2 : 1024;
        int64_t *grown = pm_realloc_array(load->sentence_ids, cap, sizeof *grown);
        if (!grown)
            return false;
        load->sentence_ids = grown;
        load->cap_sentence_ids = cap;
    }
    load->sentence_ids[sentence] = id;
    return true;
}

static enum pm_status need_sentence(struct loader *load, int64_t id, pm_index *ret_sentence)
{
    enum { MAX_NOUNS = 64 };
    *ret_sentence = pm_index_map_get(&load->sentences, id);
    if (*ret_sentence != PM_NONE)
        return PM_OK;
    enum pm_status status;
    sqlite3_stmt *row = look_up(load, LOOKUP_SENTENCE, id, "sentence", &status);
    if (!row)
        return status;
    pm_index verb = pm_index_map_get(&load->verbs, sqlite3_column_int64(row, 0));
    if (verb == PM_NONE)
        return damaged(load, "sentence %lld names verb %lld, which is not there", (long long)id,
                       sqlite3_column_int64(row, 0));
    pm_index nouns[MAX_NOUNS];
    uint32_t n = 0;
    status = need_noun(load, sqlite3_column_int64(row, 1), &nouns[n++]);
    sqlite3_stmt *more = load->lookups[LOOKUP_SENTENCE_NOUNS];
    if (load->has_sentence_nouns) {
        sqlite3_reset(more);
        sqlite3_bind_int64(more, 1, id);
        int step = SQLITE_DONE;
        while (status == PM_OK && (step = sqlite3_step(more)) == SQLITE_ROW)
            status = n < MAX_NOUNS ? need_noun(load, sqlite3_column_int64(more, 0), &nouns[n++])
                                   : damaged(load, "sentence %lld has more than %d nouns",
                                             (long long)id, MAX_NOUNS);
        if (status == PM_OK && step != SQLITE_DONE)
            status = database_error(load);
    }
    if (status != PM_OK)
        return status;
    *ret_sentence = pm_graph_sentence(load->data->graph, verb, nouns, n);
    if (*ret_sentence == PM_NONE || !keep_sentence_id(load, *ret_sentence, id) ||
        !pm_index_map_add(&load->sentences, id, *ret_sentence))
        return out_of_memory(load);
    return PM_OK;
}

static enum pm_status read_sentence(struct loader *load, sqlite3_stmt *row)
{
    pm_index sentence;
    return need_sentence(load, sqlite3_column_int64(row, 0), &sentence);
}

/* The mappings out of all sentences there are, and of those that come in by them. */
static enum pm_status read_mappings(struct loader *load)
{
    sqlite3_stmt *row = load->lookups[LOOKUP_MAPPINGS];
    for (pm_index source = 0; source < load->data->graph->n_sentences; source++) {
        sqlite3_reset(row);
        sqlite3_bind_int64(row, 1, load->sentence_ids[source]);
        int step;
        while ((step = sqlite3_step(row)) == SQLITE_ROW) {
            pm_index destination;
            enum pm_status status = need_sentence(load, sqlite3_column_int64(row, 0), &destination);
            if (status != PM_OK)
                return status;
            pm_index mapping =
                pm_graph_mapping(load->data->graph, source, destination,
                                 sqlite3_column_double(row, 1), pm_archive_text(row, 2));
            if (mapping == PM_NONE)
                return out_of_memory(load);
            if (sqlite3_column_type(row, 3) != SQLITE_NULL)
                pm_graph_set_reason(load->data->graph, mapping, pm_archive_text(row, 3));
        }
        if (step != SQLITE_DONE)
            return database_error(load);
    }
    return PM_OK;
}

static enum pm_status read_noun_mode(struct loader *load, sqlite3_stmt *row)
{
    static const char *const words[] = {"off", "count", "active", "exact", "trace"};
    enum { N_WORDS = sizeof words / sizeof *words };
    struct pm_archive_data *data = load->data;
    if (!room(&data->noun_modes, data->n_noun_modes, sizeof *data->noun_modes))
        return out_of_memory(load);
    int mode = 0;
    while (mode < N_WORDS && strcmp(pm_archive_text(row, 2), words[mode]) != 0)
        mode++;
    if (mode == N_WORDS)
        return damaged(load,
                       "a noun was in mode '%s', which is none of off, count, active, exact, "
                       "trace",
                       pm_archive_text(row, 2));
    struct pm_noun_mode *x = &data->noun_modes[data->n_noun_modes];
    *x = (struct pm_noun_mode){
        .process = pm_index_map_get(&load->processes, sqlite3_column_int64(row, 0)),
        .mode = (enum pm_run_mode)mode,
        .is_asked = strcmp(pm_archive_text(row, 3), "budget") != 0,
        .from_ns = number(row, 4),
        .until_ns = number(row, 5),
        .n_events = number(row, 6),
    };
    if (x->process == PM_NONE)
        return damaged(load, "a noun's mode names process %lld, which is not there",
                       sqlite3_column_int64(row, 0));
    enum pm_status status = need_noun(load, sqlite3_column_int64(row, 1), &x->noun);
    data->n_noun_modes += status == PM_OK;
    return status;
}

/* --- contexts and costs --- */

struct raw_context {
    int64_t id, parent_id, sentence_id;
    uint32_t flags;
    uint32_t parent; /* position in the raw list */
    enum { NEW, ON_PATH, ADDED } state;
};

struct raw_contexts {
    struct raw_context *items;
    uint32_t n;
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
        if (!room(&raw->items, raw->n, sizeof *raw->items)) {
            status = out_of_memory(load);
            break;
        }
        raw->items[raw->n] = (struct raw_context){
            .id = sqlite3_column_int64(row, 0),
            .parent_id = number(row, 1),
            .sentence_id = sqlite3_column_int64(row, 2),
            .flags = small_number(row, 3),
            .parent = PM_NONE,
        };
        status = enter(load, &load->contexts, row, raw->n++, "context");
    }
    if (status == PM_OK && step != SQLITE_DONE)
        status = database_error(load);
    sqlite3_finalize(row);
    return status;
}

/* Adds contexts so that parents come first. Archives are mostly in that order already; what is not
 * is found by going up to the nearest ancestor that was added, and down again. */
static enum pm_status add_contexts(struct loader *load, struct raw_contexts *raw, uint32_t *path,
                                   pm_index *position)
{
    for (uint32_t i = 0; i < raw->n; i++) {
        uint32_t n_path = 0;
        for (uint32_t at = i; at != PM_NONE && raw->items[at].state != ADDED;
             at = raw->items[at].parent) {
            struct raw_context *c = &raw->items[at];
            if (c->state == ON_PATH)
                return damaged(load, "context %lld is its own ancestor", (long long)c->id);
            c->state = ON_PATH;
            path[n_path++] = at;
            if (c->parent_id == PM_UNKNOWN)
                continue;
            c->parent = pm_index_map_get(&load->contexts, c->parent_id);
            if (c->parent == PM_NONE)
                return damaged(load, "context %lld names parent %lld, which is not there",
                               (long long)c->id, (long long)c->parent_id);
        }
        while (n_path) {
            uint32_t at = path[--n_path];
            struct raw_context *c = &raw->items[at];
            pm_index sentence;
            enum pm_status status = need_sentence(load, c->sentence_id, &sentence);
            if (status != PM_OK)
                return status;
            pm_index parent = c->parent == PM_NONE ? PM_NONE : position[c->parent];
            position[at] = pm_graph_context(load->data->graph, parent, sentence, c->flags);
            if (position[at] == PM_NONE)
                return out_of_memory(load);
            c->state = ADDED;
        }
    }
    return PM_OK;
}

static enum pm_status read_costs(struct loader *load, const pm_index *position)
{
    sqlite3_stmt *row;
    if (sqlite3_prepare_v2(load->db, "SELECT context, thread, metric, value FROM costs", -1, &row,
                           NULL) != SQLITE_OK)
        return database_error(load);
    enum pm_status status = PM_OK;
    int step = SQLITE_DONE;
    while (status == PM_OK && (step = sqlite3_step(row)) == SQLITE_ROW) {
        pm_index context = pm_index_map_get(&load->contexts, sqlite3_column_int64(row, 0));
        struct pm_cost cost = {context == PM_NONE ? PM_NONE : position[context],
                               pm_index_map_get(&load->threads, sqlite3_column_int64(row, 1)),
                               pm_index_map_get(&load->metrics, sqlite3_column_int64(row, 2)),
                               sqlite3_column_int64(row, 3)};
        if (cost.context == PM_NONE || cost.thread == PM_NONE || cost.metric == PM_NONE)
            status = damaged(
                load,
                "a cost is of context %lld, thread %lld, metric %lld, which are not all there",
                sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                sqlite3_column_int64(row, 2));
        else if (sqlite3_column_type(row, 3) != SQLITE_INTEGER)
            status = damaged(load, "the cost of context %lld on thread %lld is no whole number",
                             sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
        else
            pm_graph_cost(load->data->graph, &cost);
    }
    if (status == PM_OK && step != SQLITE_DONE)
        status = database_error(load);
    sqlite3_finalize(row);
    return status;
}

static enum pm_status read_contexts_and_costs(struct loader *load)
{
    struct raw_contexts raw = {0};
    uint32_t *path = NULL;
    pm_index *position = NULL;
    enum pm_status status = read_raw_contexts(load, &raw);
    if (status == PM_OK) {
        path = pm_alloc_array(raw.n, sizeof *path);
        position = pm_alloc_array(raw.n, sizeof *position);
        status = path && position ? add_contexts(load, &raw, path, position) : out_of_memory(load);
    }
    if (status == PM_OK)
        status = read_costs(load, position);
    free(raw.items);
    free(path);
    free(position);
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
    return each_row(load, "SELECT EXISTS (SELECT 1 FROM sentence_nouns)", read_has_sentence_nouns);
}

/* Random look-ups touch most pages of a large archive: a cache that holds them. Nothing in the file
 * may run code of its own. */
static enum pm_status open_archive(struct loader *load)
{
    enum pm_status status = pm_archive_open(load->path, load->err, &load->archive);
    if (status != PM_OK)
        return status;
    load->db = pm_archive_db(load->archive);
    sqlite3_db_config(load->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(load->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_exec(load->db, "PRAGMA cache_size = -65536", NULL, NULL, NULL);
    return PM_OK;
}

static enum pm_status read_everything(struct loader *load, unsigned flags)
{
    static const struct {
        const char *sql;
        row_reader reader;
    } tables[] = {
        {"SELECT id, name, unit, kind, aggregation, description FROM metrics ORDER BY id",
         read_metric},
        {"SELECT id, name FROM levels ORDER BY id", read_level},
        {"SELECT id, above FROM levels WHERE above IS NOT NULL", read_level_above},
        {"SELECT id, level, name FROM verbs ORDER BY id", read_verb},
        {"SELECT id, name, command, cwd, host, mode, start_realtime_ns, wall_ns, user_cpu_ns, "
         "system_cpu_ns, max_rss_bytes, exit_status, "
         "exit_signal FROM executions ORDER BY id",
         read_execution},
        {"SELECT id, execution, pid, parent_pid, image, exe, argv, end_kind, start_ns, end_ns, "
         "user_cpu_ns, system_cpu_ns, max_rss_bytes, "
         "n_sleds, n_events, added_ns, n_lost_contexts, n_unmatched, n_healed, pair_ps, inner_ps, "
         "budget_ppm, events_ns, samples_ns, active_pair_ps, count_pair_ps "
         "FROM processes LEFT JOIN probe_costs p ON p.process = id "
         "LEFT JOIN overheads o ON o.process = id ORDER BY id",
         read_process},
        {"SELECT id, process, tid, n_threads, name, start_ns, end_ns, cpu_ns FROM threads ORDER BY "
         "id",
         read_thread},
        {"SELECT id, path, build_id, pif_state, map_state, debug_file, debug_problem, n_sleds, "
         "n_bad_sleds FROM binaries ORDER BY id",
         read_binary},
        {"SELECT process, source, clock, period_ns, has_kernel, has_switches, n_samples, n_lost, "
         "problem FROM sampling ORDER BY process",
         read_sampling},
        {"SELECT process, code, text FROM messages ORDER BY rowid", read_message},
    };
    enum pm_status status = open_archive(load);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == PM_OK; i++)
        status = each_row(load, tables[i].sql, tables[i].reader);
    if (status == PM_OK && load->data->n_executions == 0)
        status = damaged(load, "it has no execution");
    if (status == PM_OK)
        status = prepare_lookups(load);
    if (status == PM_OK)
        status = read_contexts_and_costs(load);
    if (status == PM_OK)
        status = each_row(load,
                          "SELECT process, noun, mode, reason, from_ns, until_ns, n_events FROM "
                          "noun_modes ORDER BY process, from_ns, noun",
                          read_noun_mode);
    if (status == PM_OK && flags & PM_ARCHIVE_LOAD_ALL)
        status = each_row(load, "SELECT id FROM sentences", read_sentence);
    if (status == PM_OK)
        status = read_mappings(load);
    if (status == PM_OK &&
        (!pm_graph_add_outer(load->data->graph, "loop") || !pm_graph_seal(load->data->graph)))
        status = out_of_memory(load);
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
            out_of_memory(&load);
    } else {
        out_of_memory(&load);
    }
    for (int i = 0; i < N_LOOKUPS; i++)
        sqlite3_finalize(load.lookups[i]);
    pm_archive_close(load.archive);
    struct pm_index_map *maps[] = {&load.levels,   &load.verbs,   &load.nouns,      &load.sentences,
                                   &load.contexts, &load.metrics, &load.executions, &load.processes,
                                   &load.threads,  &load.binaries};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        pm_index_map_release(maps[i]);
    free(load.sentence_ids);
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
    if (data->own)
        pm_intern_free(data->own->strings);
    free(data->own);
    free(data->executions);
    free(data->processes);
    free(data->threads);
    free(data->binaries);
    free(data->messages);
    free(data->samplings);
    free(data->noun_modes);
    free(data->addresses);
    free(data->paths);
    free(data);
}
