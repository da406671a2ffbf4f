/* From the archive to the graph and its costs: what is read, and in which order. */
#include "load_internal.h"

#include <stdlib.h>

/* Random look-ups touch most pages of a large archive: a cache that holds them. Whole tables need
 * none. */
static enum pm_status open_archive(struct loader *load)
{
    enum pm_status status = pm_archive_open(load->path, load->err, &load->archive);
    if (status != PM_OK)
        return status;
    load->db = pm_archive_db(load->archive);
    if (!(load->flags & (PM_ARCHIVE_LOAD_FACTS | PM_ARCHIVE_LOAD_TABLES)))
        sqlite3_exec(load->db, "PRAGMA cache_size = -65536", NULL, NULL, NULL);
    return PM_OK;
}

/* What has no costs. */
static enum pm_status read_unmeasured(struct loader *load)
{
    static const struct {
        unsigned flag;
        const char *sql;
        enum pm_status (*read)(struct loader *, sqlite3_stmt *);
    } kinds[] = {
        {PM_ARCHIVE_LOAD_LEFT_OUT,
         "SELECT id FROM sentences WHERE noun IN (SELECT noun FROM noun_modes WHERE mode IN "
         "('off', 'count'))",
         load_read_sentence},
        {PM_ARCHIVE_LOAD_ALL, "SELECT id FROM sentences", load_read_sentence},
        {PM_ARCHIVE_LOAD_FUNCTIONS, "SELECT id FROM nouns WHERE kind = 'function'", load_read_noun},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!(load->flags & kinds[i].flag))
            continue;
        enum pm_status status = load_each_row(load, kinds[i].sql, kinds[i].read);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status read_tables(struct loader *load)
{
    enum pm_status status = load_tables(load);
    if (status != PM_OK)
        return status;
    return load->data->n_executions ? PM_OK : load_damaged(load, "it has no execution");
}

static enum pm_status read_everything(struct loader *load)
{
    static const load_step steps[] = {
        open_archive,    read_tables,     load_prepare_lookups, load_contexts_and_costs,
        load_noun_modes, read_unmeasured, load_connect,
    };
    static const load_step of_facts[] = {open_archive, read_tables, load_facts};
    if (load->flags & PM_ARCHIVE_LOAD_TABLES)
        return load_in_steps(load, of_facts, 2);
    if (load->flags & PM_ARCHIVE_LOAD_FACTS)
        return load_in_steps(load, of_facts, 3);
    return load_in_steps(load, steps, sizeof steps / sizeof *steps);
}

/* With nothing in it; NULL: memory. */
static struct pm_archive_data *new_data(void)
{
    struct pm_archive_data *data = pm_alloc(sizeof *data);
    if (!data)
        return NULL;
    data->graph = pm_graph_new();
    data->own = pm_alloc(sizeof *data->own);
    if (data->own)
        data->own->strings = pm_intern_new();
    if (data->graph && data->own && data->own->strings)
        return data;
    pm_archive_data_free(data);
    return NULL;
}

/* All that was not given to the data. */
static void release(struct loader *load)
{
    load_finish_lookups(load);
    pm_archive_close(load->archive);
    struct pm_index_map *maps[] = {
        &load->levels,  &load->verbs,      &load->nouns,     &load->sentences, &load->contexts,
        &load->metrics, &load->executions, &load->processes, &load->threads,   &load->binaries};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        pm_index_map_release(maps[i]);
    free(load->sentence_ids);
    free(load->sites);
    free(load->position);
}

enum pm_status pm_archive_load(const char *path, unsigned flags, struct pm_error *err,
                               struct pm_archive_data **ret_data)
{
    struct loader load = {.path = path, .flags = flags, .err = err, .data = new_data()};
    if (!load.data)
        return load_no_memory(&load);
    enum pm_status status = read_everything(&load);
    load_finish_lookups(&load);
    if (status == PM_OK && flags & PM_ARCHIVE_LOAD_KEPT)
        status = load_keep_open(&load);
    release(&load);
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
        load_release_kept(&data->own->kept);
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
    free(data->attributes);
    free(data->addresses);
    free(data->paths);
    free(data->bare);
    free(data->has_times);
    free(data->call_sites);
    free(data->call_places);
    free(data);
}
