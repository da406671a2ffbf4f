/* Contexts, and then the costs that were measured in them. */
#include "load_internal.h"

#include <stdlib.h>

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
        return load_database_error(load);
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
            .flags = load_small_number(row, 3),
            .parent = PM_NONE,
            .cause = PM_NONE,
        };
        raw->has_causes |= (raw->items[raw->n].flags & (PM_CONTEXT_CAUSE | PM_CONTEXT_TOLD)) != 0;
        status = load_enter(load, &load->contexts, row, raw->n++, "context");
    }
    if (status == PM_OK && step != SQLITE_DONE)
        status = load_database_error(load);
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
        return load_database_error(load);
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
        status = load_database_error(load);
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
    if (raw->has_causes && !(load->flags & PM_ARCHIVE_LOAD_CAUSES))
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

static enum pm_status read_raw(struct loader *load, struct raw_contexts *raw)
{
    enum pm_status status = read_raw_contexts(load, raw);
    if (status != PM_OK)
        return status;
    status = read_raw_causes(load, raw);
    if (status != PM_OK)
        return status;
    return pm_sets_init(&raw->merged) ? PM_OK : load_no_memory(load);
}

static enum pm_status read_into_graph(struct loader *load, struct raw_contexts *raw)
{
    enum pm_status status = read_raw(load, raw);
    if (status != PM_OK)
        return status;
    uint32_t *path = pm_alloc_array(raw->n, sizeof *path);
    load->position = pm_alloc_array(raw->n, sizeof *load->position);
    status = path && load->position ? add_contexts(load, raw, path, load->position)
                                    : load_no_memory(load);
    free(path);
    return status;
}

enum pm_status load_contexts_and_costs(struct loader *load)
{
    struct raw_contexts raw = {0};
    enum pm_status status = read_into_graph(load, &raw);
    free(raw.items);
    free(raw.merged_to);
    pm_sets_release(&raw.merged);
    if (status != PM_OK)
        return status;
    return load_costs(load, load->position, (load->flags & PM_ARCHIVE_LOAD_MERGED) != 0);
}
