/* What the source consists of: nouns, sentences and mappings by whole tables. */
#include "load_internal.h"

static enum pm_status read_noun(struct loader *load, sqlite3_stmt *row)
{
    pm_index noun;
    return load_take_noun(load, sqlite3_column_int64(row, LOAD_N_NOUN_COLUMNS), row, &noun);
}

/* When all are there: archives have them in any order. */
static enum pm_status read_parent(struct loader *load, sqlite3_stmt *row)
{
    int64_t id = sqlite3_column_int64(row, 0), parent_id = sqlite3_column_int64(row, 1);
    pm_index child = pm_index_map_get(&load->nouns, id);
    pm_index parent = pm_index_map_get(&load->nouns, parent_id);
    if (parent == PM_NONE)
        return load_damaged(load, "noun %lld is named but not there", (long long)parent_id);
    if (!pm_graph_set_parent(load->data->graph, child, parent))
        return load_damaged(load, "noun %lld is its own ancestor", (long long)id);
    return PM_OK;
}

static enum pm_status read_sentence(struct loader *load, sqlite3_stmt *row)
{
    int64_t id = sqlite3_column_int64(row, 0);
    pm_index verb = pm_index_map_get(&load->verbs, sqlite3_column_int64(row, 1));
    pm_index noun = pm_index_map_get(&load->nouns, sqlite3_column_int64(row, 2));
    if (verb == PM_NONE || noun == PM_NONE)
        return load_damaged(load, "sentence %lld names a verb or a noun that is not there",
                            (long long)id);
    pm_index sentence = pm_graph_sentence(load->data->graph, verb, &noun, 1);
    return sentence != PM_NONE && pm_index_map_add(&load->sentences, id, sentence)
               ? PM_OK
               : load_no_memory(load);
}

/* Not of sentences with several nouns, which were left out. */
static enum pm_status read_mapping(struct loader *load, sqlite3_stmt *row)
{
    pm_index source = pm_index_map_get(&load->sentences, sqlite3_column_int64(row, 0));
    pm_index destination = pm_index_map_get(&load->sentences, sqlite3_column_int64(row, 1));
    if (source == PM_NONE || destination == PM_NONE)
        return PM_OK;
    return pm_graph_mapping(load->data->graph, source, destination, 0, "compiler") != PM_NONE
               ? PM_OK
               : load_no_memory(load);
}

enum pm_status load_facts(struct loader *load)
{
    static const struct {
        const char *sql;
        row_reader reader;
    } tables[] = {
        {"SELECT " LOAD_NOUN_COLUMNS ", id FROM temp.nouns_in_full", read_noun},
        {"SELECT id, parent FROM nouns WHERE parent IS NOT NULL", read_parent},
        {"SELECT id, verb, noun FROM sentences WHERE id NOT IN (SELECT sentence FROM "
         "sentence_nouns)",
         read_sentence},
        {"SELECT source, destination FROM mappings WHERE origin = 'compiler'", read_mapping},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        enum pm_status status = load_each_row(load, tables[i].sql, tables[i].reader);
        if (status != PM_OK)
            return status;
    }
    return pm_graph_seal(load->data->graph) ? PM_OK : load_no_memory(load);
}
