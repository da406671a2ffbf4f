/* What stays open with PM_ARCHIVE_LOAD_KEPT: costs are read again, and what was left out. */
#include "load_internal.h"

#include <stdlib.h>

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

enum pm_status load_keep_open(struct loader *load)
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
    kept->has_all = (load->flags & PM_ARCHIVE_LOAD_ALL) != 0;
    kept->merges = (load->flags & PM_ARCHIVE_LOAD_MERGED) != 0;
    give_to_kept(load, kept);
    load->archive = NULL;
    load->position = NULL;
    load->contexts = load->metrics = load->threads = (struct pm_index_map){0};
    sqlite3_db_release_memory(load->db); /* pages that will not be read again */
    return PM_OK;
}

void load_release_kept(struct load_kept *kept)
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

static enum pm_status read_sentences(struct loader *load)
{
    return load_each_row(load, "SELECT id FROM sentences", load_read_sentence);
}

enum pm_status pm_archive_load_rest(struct pm_archive_data *data, struct pm_error *err)
{
    struct load_kept *kept = &data->own->kept;
    PM_ASSERT(kept->archive);
    static const load_step steps[] = {load_prepare_lookups, read_sentences, load_connect};
    struct loader load = {
        .path = kept->path,
        .err = err,
        .archive = kept->archive,
        .db = pm_archive_db(kept->archive),
        .data = data,
        /* those that were made of others, without a row of the file, have their mappings, too */
        .n_connected = data->graph->n_sentences,
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
    enum pm_status status = load_in_steps(&load, steps, sizeof steps / sizeof *steps);
    load_finish_lookups(&load);
    give_to_kept(&load, kept);
    free(load.sites);
    kept->has_all = status == PM_OK;
    return status;
}

bool pm_archive_data_grow(struct pm_archive_data *data, uint32_t n_before)
{
    uint32_t n = data->graph->n_nouns + 1;
    const char **addresses = pm_alloc_array(n, sizeof *addresses);
    const char **paths = pm_alloc_array(n, sizeof *paths);
    uint16_t *bare = pm_alloc_array(n, sizeof *bare);
    bool good = addresses && paths && bare;
    for (uint32_t i = 0; good && i < n; i++) {
        addresses[i] = i < n_before ? data->addresses[i] : "";
        paths[i] = i < n_before ? data->paths[i] : "";
        bare[i] = i < n_before ? data->bare[i] : 0;
    }
    free(good ? data->addresses : addresses);
    free(good ? data->paths : paths);
    free(good ? data->bare : bare);
    if (!good)
        return false;
    data->addresses = addresses;
    data->paths = paths;
    data->bare = bare;
    return true;
}
