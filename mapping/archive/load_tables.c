/* Runs, processes, threads, binaries, messages, metrics, levels, verbs; modes of nouns. */
#include "load_internal.h"

#include "format/pm_mode.h"

#include <stdlib.h>

static enum pm_status read_metric(struct loader *load, sqlite3_stmt *row)
{
    static const char *const words[] = {"sum", "average", "minimum", "maximum"};
    struct pm_graph_metric metric = {
        load_keep_printable(load, row, 1), load_keep_printable(load, row, 2),
        load_keep_printable(load, row, 3), load_keep_printable(load, row, 5), PM_SUM};
    if (!metric.name || !metric.unit || !metric.kind || !metric.description)
        return load_no_memory(load);
    while (metric.aggregation <= PM_MAXIMUM &&
           strcmp(pm_archive_text(row, 4), words[metric.aggregation]) != 0)
        metric.aggregation++;
    if (metric.aggregation > PM_MAXIMUM)
        return load_damaged(
            load, "metric '%s' aggregates by '%s', which is none of sum, average, minimum, maximum",
            metric.name, pm_archive_text(row, 4));
    pm_index position = pm_graph_metric(load->data->graph, &metric);
    return position == PM_NONE ? load_no_memory(load)
                               : load_enter(load, &load->metrics, row, position, "metric");
}

static enum pm_status read_level(struct loader *load, sqlite3_stmt *row)
{
    uint32_t n_before = load->data->graph->n_levels;
    pm_index position = pm_graph_level(load->data->graph, pm_archive_text(row, 1));
    if (position == PM_NONE)
        return load_no_memory(load);
    if (position < n_before)
        return load_damaged(load, "level '%s' is there twice", pm_archive_text(row, 1));
    return load_enter(load, &load->levels, row, position, "level");
}

static enum pm_status read_level_above(struct loader *load, sqlite3_stmt *row)
{
    pm_index level = pm_index_map_get(&load->levels, sqlite3_column_int64(row, 0));
    pm_index above = pm_index_map_get(&load->levels, sqlite3_column_int64(row, 1));
    if (level == PM_NONE || above == PM_NONE)
        return load_damaged(load, "level %lld lies above level %lld, which is not there",
                            sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
    load->data->graph->levels[level].above = above;
    return PM_OK;
}

/* What the adapter io called Read and Write once is told from Reads and Writes of memory by more
 * than a letter. */
static const char *verb_name(const struct loader *load, pm_index level, sqlite3_stmt *row)
{
    const char *name = pm_archive_text(row, 2);
    if (strcmp(load->data->graph->levels[level].name, "Base") != 0)
        return name;
    return !strcmp(name, "Read") ? "ReadFile" : !strcmp(name, "Write") ? "WriteFile" : name;
}

static enum pm_status read_verb(struct loader *load, sqlite3_stmt *row)
{
    pm_index level = pm_index_map_get(&load->levels, sqlite3_column_int64(row, 1));
    if (level == PM_NONE)
        return load_damaged(load, "verb %lld names level %lld, which is not there",
                            sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
    pm_index position = pm_graph_verb(load->data->graph, verb_name(load, level, row), level);
    return position == PM_NONE ? load_no_memory(load)
                               : load_enter(load, &load->verbs, row, position, "verb");
}

static enum pm_status read_execution(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!load_room(&data->executions, data->n_executions, sizeof *data->executions))
        return load_no_memory(load);
    struct pm_execution *x = &data->executions[data->n_executions];
    *x = (struct pm_execution){
        load_keep(load, row, 1),
        load_keep(load, row, 2),
        load_keep(load, row, 3),
        load_keep(load, row, 4),
        load_keep_printable(load, row, 5),
        load_number(row, 6),
        load_number(row, 7),
        load_number(row, 8),
        load_number(row, 9),
        load_number(row, 10),
        load_number(row, 11),
        load_number(row, 12),
        sqlite3_column_int(row, 13) != 0,
        sqlite3_column_int(row, 19) != 0,
        load_keep(load, row, 14),
        load_number(row, 15),
        load_number(row, 16),
        load_number(row, 17),
        load_number(row, 18),
    };
    if (!x->name || !x->command || !x->cwd || !x->host || !x->mode || !x->question)
        return load_no_memory(load);
    return load_enter(load, &load->executions, row, data->n_executions++, "execution");
}

static enum pm_status read_attribute(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    uint32_t execution = pm_index_map_get(&load->executions, sqlite3_column_int64(row, 0));
    if (execution == PM_NONE)
        return PM_OK;
    if (!load_room(&data->attributes, data->n_attributes, sizeof *data->attributes))
        return load_no_memory(load);
    struct pm_attribute *x = &data->attributes[data->n_attributes++];
    *x = (struct pm_attribute){execution, load_keep_printable(load, row, 1),
                               load_keep_printable(load, row, 2)};
    return x->key && x->value ? PM_OK : load_no_memory(load);
}

static enum pm_status read_process(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!load_room(&data->processes, data->n_processes, sizeof *data->processes))
        return load_no_memory(load);
    struct pm_process *x = &data->processes[data->n_processes];
    *x = (struct pm_process){
        .execution = pm_index_map_get(&load->executions, sqlite3_column_int64(row, 1)),
        .pid = load_number(row, 2),
        .parent_pid = load_number(row, 3),
        .image = load_number(row, 4),
        .rank = PM_UNKNOWN,
        .exe = load_keep(load, row, 5),
        .argv = load_keep(load, row, 6),
        .end_kind = load_keep(load, row, 7),
        .start_ns = load_number(row, 8),
        .end_ns = load_number(row, 9),
        .user_cpu_ns = load_number(row, 10),
        .system_cpu_ns = load_number(row, 11),
        .max_rss_bytes = load_number(row, 12),
        .n_sleds = load_number(row, 13),
        .n_events = load_number(row, 14),
        .added_ns = load_number(row, 15),
        .n_lost_contexts = load_number(row, 16),
        .n_unmatched = load_number(row, 17),
        .n_healed = load_number(row, 18),
        .exact_pair_ps = load_number(row, 19),
        .exact_inner_ps = load_number(row, 20),
        .budget_ppm = load_number(row, 21),
        .events_ns = load_number(row, 22),
        .samples_ns = load_number(row, 23),
        .active_pair_ps = load_number(row, 24),
        .count_pair_ps = load_number(row, 25),
    };
    if (!x->exe || !x->argv || !x->end_kind)
        return load_no_memory(load);
    if (x->execution != PM_NONE)
        x->node = data->executions[x->execution].host;
    if (x->execution == PM_NONE)
        return load_damaged(load, "process %lld names execution %lld, which is not there",
                            sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
    return load_enter(load, &load->processes, row, data->n_processes++, "process");
}

static enum pm_status read_thread(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!load_room(&data->threads, data->n_threads, sizeof *data->threads))
        return load_no_memory(load);
    struct pm_thread *x = &data->threads[data->n_threads];
    *x = (struct pm_thread){
        .process = pm_index_map_get(&load->processes, sqlite3_column_int64(row, 1)),
        .tid = load_number(row, 2),
        .n_threads = load_number(row, 3),
        .name = load_keep(load, row, 4),
        .start_ns = load_number(row, 5),
        .end_ns = load_number(row, 6),
        .cpu_ns = load_number(row, 7),
    };
    if (!x->name)
        return load_no_memory(load);
    if (x->process == PM_NONE)
        return load_damaged(load, "thread %lld names process %lld, which is not there",
                            sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
    return load_enter(load, &load->threads, row, data->n_threads++, "thread");
}

static enum pm_status read_binary(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!load_room(&data->binaries, data->n_binaries, sizeof *data->binaries))
        return load_no_memory(load);
    struct pm_binary *x = &data->binaries[data->n_binaries];
    *x = (struct pm_binary){load_keep(load, row, 1), load_keep(load, row, 2),
                            load_keep(load, row, 3), load_keep(load, row, 4),
                            load_keep(load, row, 5), load_keep(load, row, 6),
                            load_number(row, 7),     load_number(row, 8)};
    if (!x->path || !x->build_id || !x->pif_state || !x->map_state || !x->debug_file ||
        !x->debug_problem)
        return load_no_memory(load);
    return load_enter(load, &load->binaries, row, data->n_binaries++, "binary");
}

static enum pm_status read_message(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!load_room(&data->messages, data->n_messages, sizeof *data->messages))
        return load_no_memory(load);
    struct pm_message *x = &data->messages[data->n_messages];
    *x = (struct pm_message){PM_NONE, load_number(row, 1), load_keep(load, row, 2)};
    if (!x->text)
        return load_no_memory(load);
    if (sqlite3_column_type(row, 0) != SQLITE_NULL)
        x->process = pm_index_map_get(&load->processes, sqlite3_column_int64(row, 0));
    data->n_messages++;
    return PM_OK;
}

static enum pm_status read_sampling(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!load_room(&data->samplings, data->n_samplings, sizeof *data->samplings))
        return load_no_memory(load);
    struct pm_sampling *x = &data->samplings[data->n_samplings];
    *x = (struct pm_sampling){
        .process = pm_index_map_get(&load->processes, sqlite3_column_int64(row, 0)),
        .source = load_keep(load, row, 1),
        .clock = load_keep(load, row, 2),
        .period_ns = load_number(row, 3),
        .has_kernel = sqlite3_column_int(row, 4) != 0,
        .has_switches = sqlite3_column_int(row, 5) != 0,
        .n_samples = load_number(row, 6),
        .n_lost = load_number(row, 7),
        .problem = load_keep(load, row, 8),
    };
    if (!x->source || !x->clock || !x->problem)
        return load_no_memory(load);
    if (x->process == PM_NONE)
        return load_damaged(load, "a sampling names process %lld, which is not there",
                            sqlite3_column_int64(row, 0));
    data->n_samplings++;
    return PM_OK;
}

static int64_t not_negative(sqlite3_stmt *row, int column)
{
    int64_t number = load_number(row, column);
    return number > 0 ? number : 0; /* PM_UNKNOWN is negative, too */
}

static void add_number(int64_t *sum, sqlite3_stmt *row, int column)
{
    if (__builtin_add_overflow(*sum, not_negative(row, column), sum))
        *sum = INT64_MAX;
}

/* That of the metric, made when it is the first of it: rows come by metric. NULL: memory. */
static struct pm_event_counter *counter_of(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    struct pm_event_counter *last = data->n_counters ? &data->counters[data->n_counters - 1] : NULL;
    const char *metric = pm_archive_text(row, 1);
    if (last && strcmp(last->metric, metric) == 0)
        return last;
    if (!load_room(&data->counters, data->n_counters, sizeof *data->counters))
        return NULL;
    struct pm_event_counter *x = &data->counters[data->n_counters];
    *x = (struct pm_event_counter){.metric = load_keep(load, row, 1), .problem = ""};
    data->n_counters += x->metric != NULL;
    return x->metric ? x : NULL;
}

static enum pm_status read_counter(struct loader *load, sqlite3_stmt *row)
{
    if (pm_index_map_get(&load->processes, sqlite3_column_int64(row, 0)) == PM_NONE)
        return load_damaged(load, "a counter names process %lld, which is not there",
                            sqlite3_column_int64(row, 0));
    struct pm_event_counter *x = counter_of(load, row);
    const char *problem = x && *pm_archive_text(row, 9) ? load_keep(load, row, 9) : "";
    if (!x || !problem)
        return load_no_memory(load);
    int64_t period = not_negative(row, 2);
    x->period = period > x->period ? period : x->period;
    x->is_read |= load_number(row, 2) == PM_UNKNOWN;
    add_number(&x->n_threads, row, 3);
    int64_t n_threads = not_negative(row, 3);
    x->most_threads = n_threads > x->most_threads ? n_threads : x->most_threads;
    add_number(&x->n_threads_failed, row, 4);
    add_number(&x->n_closed, row, 5);
    add_number(&x->enabled_ns, row, 6);
    add_number(&x->running_ns, row, 7);
    x->is_starved |= not_negative(row, 6) > 0 && not_negative(row, 7) == 0;
    x->is_user_only |= sqlite3_column_int(row, 8) != 0;
    bool tells_more = *problem && strcmp(problem, PM_THROTTLED) != 0;
    x->is_throttled |= *problem && (!tells_more || pm_str_ends_with(problem, "; " PM_THROTTLED));
    x->problem = tells_more ? problem : x->problem;
    return PM_OK;
}

/* Archives made before there were any have no table of them. */
static enum pm_status has_counters(struct loader *load, sqlite3_stmt *row)
{
    (void)row;
    return load_each_row(load,
                         "SELECT process, metric, period, n_threads, n_threads_failed, n_closed, "
                         "enabled_ns, running_ns, is_user_only, problem FROM counters "
                         "ORDER BY metric, process",
                         read_counter);
}

static enum pm_status read_noun_mode(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!load_room(&data->noun_modes, data->n_noun_modes, sizeof *data->noun_modes))
        return load_no_memory(load);
    enum pm_run_mode mode;
    if (!pm_mode_of(pm_archive_text(row, 2), &mode))
        return load_damaged(load,
                            "a noun was in mode '%s', which is none of off, count, active, exact, "
                            "trace",
                            pm_archive_text(row, 2));
    struct pm_noun_mode *x = &data->noun_modes[data->n_noun_modes];
    *x = (struct pm_noun_mode){
        .process = pm_index_map_get(&load->processes, sqlite3_column_int64(row, 0)),
        .mode = mode,
        .is_asked = strcmp(pm_archive_text(row, 3), "budget") != 0,
        .from_ns = load_number(row, 4),
        .until_ns = load_number(row, 5),
        .n_events = load_number(row, 6),
    };
    if (x->process == PM_NONE)
        return load_damaged(load, "a noun's mode names process %lld, which is not there",
                            sqlite3_column_int64(row, 0));
    enum pm_status status = load_need_noun(load, sqlite3_column_int64(row, 1), &x->noun);
    data->n_noun_modes += status == PM_OK;
    return status;
}

enum pm_status load_noun_modes(struct loader *load)
{
    return load_each_row(load,
                         "SELECT process, noun, mode, reason, from_ns, until_ns, n_events FROM "
                         "noun_modes ORDER BY process, from_ns, noun",
                         read_noun_mode);
}

static enum pm_status read_point(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    if (!load_room(&data->mapping_points, data->n_mapping_points, sizeof *data->mapping_points))
        return load_no_memory(load);
    struct pm_mapping_point *x = &data->mapping_points[data->n_mapping_points];
    *x = (struct pm_mapping_point){load_keep(load, row, 0), sqlite3_column_int(row, 1) != 0,
                                   load_number(row, 2)};
    if (!x->name)
        return load_no_memory(load);
    data->n_mapping_points++;
    return PM_OK;
}

static enum pm_status read_rank(struct loader *load, sqlite3_stmt *row)
{
    pm_index process = pm_index_map_get(&load->processes, sqlite3_column_int64(row, 0));
    if (process == PM_NONE)
        return load_damaged(load, "a rank names process %lld, which is not there",
                            sqlite3_column_int64(row, 0));
    load->data->processes[process].rank = load_number(row, 1);
    return PM_OK;
}

/* Archives made before there were any have no table of them. */
static enum pm_status has_ranks(struct loader *load, sqlite3_stmt *row)
{
    (void)row;
    return load_each_row(load, "SELECT process, rank FROM ranks", read_rank);
}

static enum pm_status has_points(struct loader *load, sqlite3_stmt *row)
{
    (void)row;
    return load_each_row(load, "SELECT name, is_on, n_mappings FROM mapping_points ORDER BY name",
                         read_point);
}

static enum pm_status read_node(struct loader *load, sqlite3_stmt *row)
{
    pm_index process = pm_index_map_get(&load->processes, sqlite3_column_int64(row, 0));
    const char *name = load_keep(load, row, 1);
    if (process == PM_NONE)
        return load_damaged(load, "a node names process %lld, which is not there",
                            sqlite3_column_int64(row, 0));
    if (!name)
        return load_no_memory(load);
    load->data->processes[process].node = name;
    return PM_OK;
}

/* As of ranks. */
static enum pm_status has_nodes(struct loader *load, sqlite3_stmt *row)
{
    (void)row;
    return load_each_row(load, "SELECT process, node FROM nodes", read_node);
}

static enum pm_status read_member(struct loader *load, sqlite3_stmt *row)
{
    struct pm_archive_data *data = load->data;
    uint32_t process = pm_index_map_get(&load->processes, sqlite3_column_int64(row, 0));
    if (process == PM_NONE)
        return load_damaged(load, "a rank in a communicator names process %lld, which is not there",
                            sqlite3_column_int64(row, 0));
    if (!load_room(&data->members, data->n_members, sizeof *data->members))
        return load_no_memory(load);
    struct pm_member *x = &data->members[data->n_members];
    *x = (struct pm_member){process, load_keep(load, row, 1), load_number(row, 2),
                            load_number(row, 3)};
    if (!x->communicator)
        return load_no_memory(load);
    if (data->processes[process].n_members++ == 0)
        data->processes[process].first_member = data->n_members;
    data->n_members++;
    return PM_OK;
}

static enum pm_status has_members(struct loader *load, sqlite3_stmt *row)
{
    (void)row;
    return load_each_row(load,
                         "SELECT m.process, coalesce(n.name, ''), m.rank, m.size FROM members m "
                         "JOIN nouns n ON n.id = m.communicator ORDER BY m.process, n.id",
                         read_member);
}

static enum pm_status read_timed_metric(struct loader *load, sqlite3_stmt *row)
{
    pm_index metric = pm_index_map_get(&load->metrics, sqlite3_column_int64(row, 0));
    if (metric != PM_NONE)
        load->data->has_times[metric] = true;
    return PM_OK;
}

static enum pm_status has_cost_times(struct loader *load, sqlite3_stmt *row)
{
    (void)row;
    struct pm_archive_data *data = load->data;
    free(data->has_times);
    data->has_times = pm_alloc_array(data->graph->n_metrics + 1u, sizeof *data->has_times);
    if (!data->has_times)
        return load_no_memory(load);
    return load_each_row(load,
                         "SELECT id FROM metrics m WHERE EXISTS (SELECT 1 FROM cost_times t WHERE "
                         "t.metric = m.id)",
                         read_timed_metric);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* By name, so that they do not stand in the order in which processes happened to begin. */
static enum pm_status number_nodes(struct loader *load)
{
    struct pm_archive_data *data = load->data;
    const char **names = pm_alloc_array(data->n_processes, sizeof *names);
    uint32_t n = 0;
    if (!names)
        return load_no_memory(load);
    for (uint32_t p = 0; p < data->n_processes; p++)
        names[p] = data->processes[p].node;
    qsort(names, data->n_processes, sizeof *names, compare_names);
    for (uint32_t p = 0; p < data->n_processes; p++)
        if (n == 0 || strcmp(names[n - 1], names[p]) != 0)
            names[n++] = names[p];
    for (uint32_t p = 0; p < data->n_processes; p++) {
        const char **at = bsearch(&data->processes[p].node, names, n, sizeof *names, compare_names);
        data->processes[p].node_no = (uint32_t)(at - names);
    }
    data->n_nodes = n;
    free(names);
    return PM_OK;
}

enum pm_status load_tables(struct loader *load)
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
         "exit_signal, (SELECT value FROM execution_attributes WHERE execution = id AND key = "
         "'events_by_samples'), (SELECT value FROM execution_attributes WHERE execution = id AND "
         "key = 'question'), (SELECT CAST(value AS INTEGER) FROM execution_attributes WHERE "
         "execution = id AND key = 'n_question_sleds'), (SELECT CAST(value AS INTEGER) FROM "
         "execution_attributes WHERE execution = id AND key = 'n_all_sleds'), (SELECT "
         "CAST(value AS INTEGER) FROM execution_attributes WHERE execution = id AND key = "
         "'fixed_ns'), (SELECT CAST(value AS INTEGER) FROM execution_attributes WHERE execution = "
         "id AND key = 'starts_ns'), (SELECT value FROM execution_attributes WHERE execution = id "
         "AND key = 'events_at_most') FROM executions ORDER BY id",
         read_execution},
        {"SELECT execution, key, value FROM execution_attributes WHERE value IS NOT NULL AND key "
         "NOT IN ('events_by_samples', 'events_at_most', 'starts_ns', 'fixed_ns', 'question', "
         "'n_question_sleds', 'n_all_sleds', 'job') ORDER BY execution, key",
         read_attribute},
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
        {"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'mapping_points'",
         has_points},
        {"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ranks'", has_ranks},
        {"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'nodes'", has_nodes},
        {"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'members'", has_members},
        {"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'counters'", has_counters},
        {"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cost_times'",
         has_cost_times},
    };
    enum pm_status status = PM_OK;
    load->data->interval = PM_ALL_TIME;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == PM_OK; i++)
        status = load_each_row(load, tables[i].sql, tables[i].reader);
    return status != PM_OK ? status : number_nodes(load);
}
