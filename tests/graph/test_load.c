#include "mapping/archive/archive.h"
#include "mapping/archive/load.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[128];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/perfmap-load-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.perfmap", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static char *read_script(const char *name)
{
    char script[512], *sql;
    size_t len;
    snprintf(script, sizeof script, "%s/archives/%s", PM_TEST_DATA, name);
    assert_int_equal(pm_file_read(script, 1 << 20, NULL, &sql, &len), PM_OK);
    return sql;
}

/* The heat program's archive, with changes. */
static void make_archive(const char *changes)
{
    struct pm_archive *archive;
    char *sql = read_script("heat.sql");
    assert_int_equal(pm_archive_create(path, NULL, &archive), PM_OK);
    assert_int_equal(sqlite3_exec(pm_archive_db(archive), sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(pm_archive_db(archive), "PRAGMA foreign_keys = OFF", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_exec(pm_archive_db(archive), changes, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(pm_archive_finish(archive, NULL), PM_OK);
    free(sql);
}

static struct pm_archive_data *load_good(unsigned flags)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_archive_data *data = NULL;
    if (pm_archive_load(path, flags, &err, &data) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    return data;
}

static void expect_damage_of(unsigned flags, const char *changes, const char *message)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_archive_data *data = NULL;
    make_archive(changes);
    assert_int_equal(pm_archive_load(path, flags, &err, &data), PM_ERR_FORMAT);
    if (!strstr(pm_error_text(&err), message) || !strstr(pm_error_text(&err), path))
        fail_msg("'%s' does not say '%s'", pm_error_text(&err), message);
    assert_int_equal(err.n_causes, 1);
    pm_error_release(&err);
}

static void expect_damage(const char *changes, const char *message)
{
    expect_damage_of(0, changes, message);
}

static pm_index noun_of(const struct pm_graph *graph, pm_index sentence)
{
    return pm_graph_first_noun(graph, sentence);
}

static void what_measured_sentences_reach_is_loaded(void **state)
{
    (void)state;
    make_archive("INSERT INTO nouns(id, pif_id, level, name, kind) VALUES (90, 90, 2, 'unreached', "
                 "'function');"
                 "INSERT INTO sentences VALUES (90, 2, 90);");
    struct pm_archive_data *data = load_good(0);
    const struct pm_graph *graph = data->graph;
    assert_int_equal(graph->n_contexts, 9);
    assert_int_equal(graph->n_sentences, 15);
    assert_int_equal(graph->n_mappings, 7);
    assert_int_equal(graph->n_costs, 17);
    assert_string_equal(data->executions[0].command, "./heat 100 20");
    assert_true(data->executions[0].exit_signal == PM_UNKNOWN);
    for (pm_index n = 0; n < graph->n_nouns; n++)
        assert_string_not_equal(graph->nouns[n].name, "unreached");
    pm_index loop = PM_NONE;
    for (pm_index n = 0; n < graph->n_nouns; n++)
        if (!strcmp(graph->nouns[n].name, "heat.c:50"))
            loop = n;
    assert_int_not_equal(loop, PM_NONE);
    assert_string_equal(graph->nouns[pm_graph_ancestor(graph, loop, "function")].name, "sweep");
    assert_string_equal(graph->nouns[pm_graph_ancestor(graph, loop, "file")].name, "heat.c");
    pm_archive_data_free(data);
    data = load_good(PM_ARCHIVE_LOAD_ALL);
    assert_int_equal(data->graph->n_sentences, 16);
    pm_archive_data_free(data);
}

static int n_rows_of(const char *table)
{
    struct pm_archive *archive;
    sqlite3_stmt *row;
    char sql[64];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    assert_int_equal(pm_archive_open(path, NULL, &archive), PM_OK);
    assert_int_equal(sqlite3_prepare_v2(pm_archive_db(archive), sql, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    int n = sqlite3_column_int(row, 0);
    sqlite3_finalize(row);
    pm_archive_close(archive);
    return n;
}

static uint32_t n_mappings_of_compiler(const struct pm_graph *graph)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph->n_mappings; i++)
        n += !strcmp(graph->mappings[i].origin, "compiler");
    return n;
}

/* The same nouns with the same parents as one by one, and those that no sentence has. A child comes
 * before its parent here, and a sentence has two nouns. */
static void facts_are_loaded_without_runs(void **state)
{
    (void)state;
    make_archive("INSERT INTO nouns(id, pif_id, level, name, kind, file, line, parent) VALUES "
                 "(90, 90, 2, 'heat.c:91', 'loop', 'heat.c', 91, 91), "
                 "(91, 91, 2, 'unreached', 'function', 'heat.c', 90, 10), "
                 "(92, 92, 2, 'heat.c:92', 'loop', 'heat.c', 92, 91);"
                 "INSERT INTO sentences VALUES (90, 2, 90), (91, 2, 91);"
                 "INSERT INTO sentence_nouns VALUES (91, 1, 90);"
                 "INSERT INTO mappings(source, destination, origin) VALUES (90, 91, 'compiler'), "
                 "(90, 14, 'user');");
    struct pm_archive_data *all = load_good(PM_ARCHIVE_LOAD_ALL),
                           *facts = load_good(PM_ARCHIVE_LOAD_FACTS);
    const struct pm_graph *graph = facts->graph, *whole = all->graph;
    assert_int_equal(graph->n_nouns, n_rows_of("nouns"));
    assert_true(graph->n_nouns > whole->n_nouns);
    assert_int_equal(graph->n_sentences, whole->n_sentences - 1);
    assert_int_equal(graph->n_mappings, n_mappings_of_compiler(whole) - 1);
    assert_int_equal(graph->n_mappings, n_mappings_of_compiler(graph));
    assert_int_equal(graph->n_contexts + graph->n_costs, 0);
    assert_int_equal(facts->n_binaries, all->n_binaries);
    for (pm_index other = 0; other < whole->n_nouns; other++) {
        pm_index n = 0, other_parent = whole->nouns[other].parent;
        while (whole->nouns[other].id != graph->nouns[n].id ||
               strcmp(whole->nouns[other].name, graph->nouns[n].name) != 0)
            assert_true(++n < graph->n_nouns);
        pm_index parent = graph->nouns[n].parent;
        assert_true((parent == PM_NONE) == (other_parent == PM_NONE));
        if (parent != PM_NONE)
            assert_string_equal(graph->nouns[parent].name, whole->nouns[other_parent].name);
    }
    pm_archive_data_free(facts);
    facts = load_good(PM_ARCHIVE_LOAD_TABLES);
    assert_int_equal(facts->n_binaries, all->n_binaries);
    assert_int_equal(facts->graph->n_nouns, 0);
    pm_archive_data_free(facts);
    pm_archive_data_free(all);
    expect_damage_of(PM_ARCHIVE_LOAD_FACTS, "UPDATE nouns SET parent = 99 WHERE id = 12",
                     "noun 99 is named but not there");
    expect_damage_of(PM_ARCHIVE_LOAD_FACTS, "UPDATE nouns SET parent = 12 WHERE id = 10",
                     "is its own ancestor");
    expect_damage_of(PM_ARCHIVE_LOAD_FACTS, "INSERT INTO sentences VALUES (95, 2, 99)",
                     "sentence 95 names a verb or a noun that is not there");
    expect_damage_of(PM_ARCHIVE_LOAD_FACTS, "UPDATE nouns SET level = 9 WHERE id = 12",
                     "noun 12 names level 9");
}

/* Positions that were handed out stay; costs and contexts are not read again. */
static void the_rest_can_be_loaded_later(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    make_archive("INSERT INTO nouns(id, pif_id, level, name, kind, file, line, parent) VALUES "
                 "(90, 90, 2, 'unreached', 'function', 'heat.c', 90, 10), "
                 "(91, 91, 2, 'heat.c:91', 'loop', 'heat.c', 91, 90), "
                 "(92, 92, 2, 'heat.c:92', 'loop', 'heat.c', 92, 91);"
                 "INSERT INTO sentences VALUES (90, 2, 90), (92, 2, 92);"
                 "INSERT INTO mappings(source, destination, origin) VALUES (90, 92, 'user'), "
                 "(92, 14, 'user');");
    struct pm_archive_data *all = load_good(PM_ARCHIVE_LOAD_ALL),
                           *data = load_good(PM_ARCHIVE_LOAD_KEPT);
    assert_int_equal(data->graph->n_sentences, 15);
    pm_index before[15];
    for (pm_index k = 0; k < 15; k++)
        before[k] = noun_of(data->graph, k);
    assert_int_equal(unlink(path), 0); /* the file that is open is enough */
    assert_int_equal(pm_archive_load_rest(data, &err), PM_OK);
    for (pm_index k = 0; k < 15; k++)
        assert_int_equal(noun_of(data->graph, k), before[k]);
    assert_int_equal(data->graph->n_nouns, all->graph->n_nouns);
    assert_int_equal(data->graph->n_sentences, all->graph->n_sentences);
    assert_int_equal(data->graph->n_mappings, all->graph->n_mappings);
    assert_int_equal(data->graph->n_contexts, all->graph->n_contexts);
    assert_int_equal(data->graph->n_costs, all->graph->n_costs);
    for (pm_index a = 0; a < all->graph->n_sentences; a++) {
        const struct pm_graph_noun *wanted = &all->graph->nouns[noun_of(all->graph, a)];
        bool found = false;
        for (pm_index k = 0; k < data->graph->n_sentences; k++) {
            const struct pm_graph_noun *noun = &data->graph->nouns[noun_of(data->graph, k)];
            found |= noun->id == wanted->id && !strcmp(noun->name, wanted->name) &&
                     data->graph->out_first[k + 1] - data->graph->out_first[k] ==
                         all->graph->out_first[a + 1] - all->graph->out_first[a];
        }
        assert_true(found);
    }
    assert_int_equal(pm_archive_load_rest(data, &err), PM_OK); /* nothing is left */
    assert_int_equal(data->graph->n_sentences, all->graph->n_sentences);
    pm_archive_data_free(data);
    pm_archive_data_free(all);
}

static void how_it_was_sampled_is_loaded(void **state)
{
    (void)state;
    make_archive(
        "INSERT INTO sampling VALUES (1, 'timer', 'cpu', 2004008, 0, 1, 100, 3, "
        "'perf_event_paranoid is 4');"
        "INSERT INTO noun_modes VALUES (1, 7, 'count', 'budget', 1000, NULL, 5);"
        "INSERT INTO nouns(id, pif_id, binary, level, name, kind, parent) VALUES (70, 70, 1, 1, "
        "'relax+0x10', 'code', 7);"
        "INSERT INTO noun_attributes VALUES (70, 'address', '0x1010-0x1020');"
        "INSERT INTO sentences VALUES (70, 1, 70); INSERT INTO contexts VALUES (70, 7, 70, 4);"
        "UPDATE mappings SET reason = 'vectorised together' WHERE source = 5;"
        "UPDATE binaries SET map_state = 'damaged', debug_problem = 'no such form'");
    struct pm_archive_data *data = load_good(0);
    const struct pm_graph *graph = data->graph;
    assert_int_equal(data->n_samplings, 1);
    assert_string_equal(data->samplings[0].source, "timer");
    assert_string_equal(data->samplings[0].problem, "perf_event_paranoid is 4");
    assert_true(data->samplings[0].has_switches && !data->samplings[0].has_kernel);
    assert_int_equal(data->samplings[0].n_lost, 3);
    assert_int_equal(data->n_noun_modes, 1);
    assert_string_equal(graph->nouns[data->noun_modes[0].noun].name, "relax");
    assert_int_equal(data->noun_modes[0].mode, PM_RUN_MODE_COUNT);
    assert_true(data->noun_modes[0].until_ns == PM_UNKNOWN && data->noun_modes[0].n_events == 5 &&
                !data->noun_modes[0].is_asked);
    assert_string_equal(data->binaries[0].map_state, "damaged");
    assert_string_equal(data->binaries[0].debug_problem, "no such form");
    int n_reasons = 0, n_addresses = 0;
    for (uint32_t m = 0; m < graph->n_mappings; m++)
        n_reasons += !strcmp(graph->mappings[m].reason, "vectorised together");
    for (pm_index n = 0; n < graph->n_nouns; n++)
        n_addresses += !strcmp(data->addresses[n], "0x1010-0x1020");
    assert_int_equal(n_reasons, 2);
    assert_int_equal(n_addresses, 1);
    pm_archive_data_free(data);
}

#define CODE_OF_RELAX                                                                         \
    "INSERT INTO nouns(id, pif_id, binary, level, name, kind, parent) VALUES (70, 70, 1, 1, " \
    "'relax+0x10', 'code', 7);"                                                               \
    "INSERT INTO sentences VALUES (70, 1, 70); INSERT INTO contexts VALUES (70, 7, 70, 4);"

static void places_of_calls_are_loaded(void **state)
{
    (void)state;
    make_archive(CODE_OF_RELAX "INSERT INTO noun_attributes VALUES (70, 'inlined at', '5 7'), "
                               "(7, 'called at', '6 5\n6 7 5')");
    struct pm_archive_data *data = load_good(0);
    assert_int_equal(data->n_call_sites, 3);
    uint32_t n_inlined = 0, n_places = 0;
    for (uint32_t i = 0; i < data->n_call_sites; i++) {
        n_inlined += data->call_sites[i].caller == PM_NONE;
        n_places += data->call_sites[i].n;
        assert_true(i == 0 || data->call_sites[i - 1].noun <= data->call_sites[i].noun);
    }
    assert_int_equal(n_inlined, 1);
    assert_int_equal(n_places, 5);
    assert_int_equal(data->n_call_places, 5);
    pm_archive_data_free(data);
    expect_damage(CODE_OF_RELAX "INSERT INTO noun_attributes VALUES (70, 'inlined at', '5 x')",
                  "is not told in numbers");
    expect_damage("INSERT INTO noun_attributes VALUES (7, 'called at', 'x')", "names no caller");
    expect_damage("INSERT INTO noun_attributes VALUES (7, 'called at', '6 99999')",
                  "sentence 99999");
}

static void contexts_come_in_any_order(void **state)
{
    (void)state;
    make_archive("UPDATE contexts SET id = 100 - id, parent = 100 - parent; UPDATE cost_rows SET "
                 "context = 100 - context");
    struct pm_archive_data *data = load_good(0);
    const struct pm_graph *graph = data->graph;
    assert_int_equal(graph->n_contexts, 9);
    int n_roots = 0;
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        n_roots += graph->contexts[c].parent == PM_NONE;
        assert_true(graph->contexts[c].parent == PM_NONE || graph->contexts[c].parent < c);
    }
    assert_int_equal(n_roots, 1);
    assert_string_equal(graph->nouns[noun_of(graph, graph->contexts[0].sentence)].name, "heat");
    pm_archive_data_free(data);
}

static void sentences_may_have_many_nouns(void **state)
{
    (void)state;
    make_archive("INSERT INTO sentence_nouns VALUES (12, 1, 13), (12, 2, 14)");
    struct pm_archive_data *data = load_good(0);
    const struct pm_graph *graph = data->graph;
    int n_found = 0;
    for (pm_index s = 0; s < graph->n_sentences; s++)
        if (graph->sentences[s].n_nouns == 3) {
            const pm_index *nouns = &graph->sentence_nouns[graph->sentences[s].first_noun];
            assert_string_equal(graph->nouns[nouns[0]].name, "main");
            assert_string_equal(graph->nouns[nouns[1]].name, "init");
            assert_string_equal(graph->nouns[nouns[2]].name, "sweep");
            n_found++;
        }
    assert_int_equal(n_found, 1);
    pm_archive_data_free(data);
}

static void what_does_not_fit_together_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *changes, *message;
    } cases[] = {
        {"UPDATE contexts SET parent = 77 WHERE id = 5", "context 5 names parent 77"},
        {"UPDATE contexts SET parent = 8 WHERE id = 6", "is its own ancestor"},
        {"UPDATE contexts SET parent = 6 WHERE id = 6", "context 6 is its own ancestor"},
        {"UPDATE contexts SET sentence = 500 WHERE id = 6", "sentence 500 is named but not there"},
        {"UPDATE sentences SET noun = 500 WHERE id = 6", "noun 500 is named but not there"},
        {"UPDATE sentences SET verb = 9 WHERE id = 6", "sentence 6 names verb 9"},
        {"UPDATE nouns SET parent = 15 WHERE id = 14", "is its own ancestor"},
        {"UPDATE nouns SET parent = 99 WHERE id = 14", "noun 99 is named but not there"},
        {"UPDATE nouns SET level = 9 WHERE id = 14", "noun 14 names level 9"},
        {"UPDATE nouns SET binary = 9 WHERE id = 14", "noun 14 names binary 9"},
        {"UPDATE verbs SET level = 9 WHERE id = 2", "verb 2 names level 9"},
        {"UPDATE levels SET above = 9 WHERE id = 2", "level 2 lies above level 9"},
        {"UPDATE threads SET process = 9", "thread 1 names process 9"},
        {"UPDATE processes SET execution = 9", "process 1 names execution 9"},
        {"UPDATE cost_rows SET thread = 9 WHERE context = 3", "a cost is of context 3, thread 9"},
        {"UPDATE cost_rows SET value = 'much' WHERE context = 3 AND metric = 2", "no whole number"},
        {"INSERT INTO cost_lists VALUES (1, 1, 5, '[]')", "are no list of whole numbers"},
        {"INSERT INTO cost_lists VALUES (1, 1, 5, '')", "context 5 and on, thread 1, are no list"},
        {"INSERT INTO cost_lists VALUES (1, 1, 5, '[1,2')", "are no list of whole numbers"},
        {"INSERT INTO cost_lists VALUES (1, 1, 5, '[1]]')", "are no list of whole numbers"},
        {"INSERT INTO cost_lists VALUES (1, 1, 5, '[1,-2]')", "are no list of whole numbers"},
        {"INSERT INTO cost_lists VALUES (1, 1, 5, '[1, 2]')", "are no list of whole numbers"},
        {"INSERT INTO cost_lists VALUES (1, 1, 5, '[9223372036854775808]')", "are no list"},
        {"INSERT INTO cost_lists VALUES (1, 1, 5, 7)", "are no list of whole numbers"},
        {"INSERT INTO cost_lists VALUES (1, 1, 8, '[1,0,3]')", "a cost is of context 10, thread 1"},
        {"INSERT INTO cost_lists VALUES (8, 1, 5, '[1]')", "a cost is of context 5, thread 8"},
        {"INSERT INTO cost_lists VALUES (1, 8, 5, '[1]')", "thread 1, metric 8"},
        {"UPDATE metrics SET aggregation = 'median' WHERE id = 1", "aggregates by 'median'"},
        {"INSERT INTO mappings(source, destination, weight, origin) VALUES (2, 600, NULL, 'user')",
         "sentence 600 is named but not there"},
        {"INSERT INTO sampling VALUES (9, 'perf', 'cpu', 2004008, 0, 1, 100, 0, NULL)",
         "a sampling names process 9"},
        {"INSERT INTO noun_modes VALUES (9, 7, 'off', 'budget', 1000, NULL, 5)",
         "a noun's mode names process 9"},
        {"INSERT INTO noun_modes VALUES (1, 700, 'off', 'budget', 1000, NULL, 5)",
         "noun 700 is named but not there"},
        {"INSERT INTO noun_modes VALUES (1, 7, 'fast', 'budget', 1000, NULL, 5)",
         "a noun was in mode 'fast'"},
        {"INSERT INTO contexts VALUES (90, 3, 3, 64); INSERT INTO causes VALUES (90, 99)",
         "context 99 is the cause of 90: not both are there"},
        {"INSERT INTO causes VALUES (4, 3); UPDATE contexts SET flags = 64 WHERE id = 9",
         "context 4 has a cause and not the flag for it"},
        {"INSERT INTO contexts VALUES (90, 3, 3, 64), (91, 90, 4, 0); INSERT INTO causes VALUES "
         "(90, 91)",
         "is its own ancestor, or cause"},
        {"INSERT INTO contexts VALUES (90, 3, 3, 64), (91, 90, 4, 64), (92, 4, 4, 64), (93, 92, 4, "
         "0); INSERT INTO causes VALUES (90, 93), (92, 91)",
         "is its own ancestor, or cause"},
        {"DELETE FROM executions; DELETE FROM processes; DELETE FROM threads; DELETE FROM "
         "cost_rows",
         "it has no execution"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_damage(cases[i].changes, cases[i].message);
}

/* Costs of a metric and context, over all threads. */
static int64_t sum_of(const struct pm_graph *graph, const char *metric, pm_index context)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++)
        if (graph->costs[i].metric == pm_graph_find_metric(graph, metric) &&
            graph->costs[i].context == context)
            sum += graph->costs[i].value;
    return sum;
}

static const char three_more[] =
    "INSERT INTO metrics VALUES (3, 'peak_bytes', 'bytes', 'bytes', 'maximum', '');"
    "INSERT INTO processes SELECT id + 1, execution, pid + 1, parent_pid, image, exe, argv, "
    "start_ns, end_ns, end_kind, user_cpu_ns, system_cpu_ns, max_rss_bytes, n_sleds, n_events, "
    "added_ns, n_lost_contexts, n_unmatched, n_healed FROM processes;"
    "INSERT INTO processes SELECT id + 2, execution, pid + 2, parent_pid, image, 'other', argv, "
    "start_ns, end_ns, end_kind, user_cpu_ns, system_cpu_ns, max_rss_bytes, n_sleds, n_events, "
    "added_ns, n_lost_contexts, n_unmatched, n_healed FROM processes WHERE id = 1;"
    "INSERT INTO threads SELECT id + 1, 2, tid, n_threads, name, start_ns, end_ns, cpu_ns FROM "
    "threads;"
    "INSERT INTO threads SELECT id + 2, 3, tid, n_threads, name, start_ns, end_ns, cpu_ns FROM "
    "threads WHERE id = 1;"
    "INSERT INTO probe_costs VALUES (1, 20000, 10000), (2, 40000, 20000), (3, 9000, 1000);"
    "DELETE FROM cost_rows;"
    "INSERT INTO cost_rows VALUES (3, 1, 1, 5), (3, 2, 1, 15), (3, 3, 1, 7), (4, 2, 3, 60);"
    "INSERT INTO cost_lists VALUES (1, 2, 3, '[100,0,300,9]'), (2, 2, 3, '[1000,2000]'), "
    "(1, 3, 3, '[11,50]');";

static void processes_of_one_program_are_merged_when_asked_for(void **state)
{
    (void)state;
    make_archive(three_more);
    for (unsigned flags = 0; flags <= PM_ARCHIVE_LOAD_MERGED; flags += PM_ARCHIVE_LOAD_MERGED) {
        struct pm_archive_data *data = load_good(flags);
        const struct pm_graph *graph = data->graph;
        bool merged = flags != 0;
        assert_int_equal(sum_of(graph, "n_calls", 2), 27); /* contexts are counted from 0 here */
        assert_int_equal(sum_of(graph, "wall_ns", 2), 1100);
        assert_int_equal(sum_of(graph, "wall_ns", 3), 2000);
        assert_int_equal(sum_of(graph, "wall_ns", 4), 300);
        assert_int_equal(sum_of(graph, "wall_ns", 5), 9);
        assert_int_equal(sum_of(graph, "peak_bytes", 2), 11);
        assert_int_equal(sum_of(graph, "peak_bytes", 3), merged ? 60 : 110); /* the largest */
        assert_int_equal(graph->n_costs, merged ? 8 : 11);
        assert_int_equal(data->processes[1].merged_into, merged ? 0 : 1);
        assert_int_equal(data->processes[2].merged_into, 2);
        double mean = merged ? (5 * 20000 + 15 * 40000) / 20.0 : 20000;
        assert_float_equal(data->processes[0].pair.exact_ps, mean, 1e-6);
        assert_float_equal(data->processes[0].pair.inner_ps, mean / 2, 1e-6);
        assert_float_equal(data->processes[2].pair.exact_ps, 9000, 1e-6);
        for (uint32_t i = 0; i < graph->n_costs; i++)
            assert_true(!merged || graph->costs[i].thread != 1);
        pm_archive_data_free(data);
    }
}

/* What others had of a thread's CPU is in that thread's time, and in no other's. */
static void times_of_preempted_threads_stay_apart(void **state)
{
    (void)state;
    char changes[4096];
    snprintf(changes, sizeof changes, "%s%s", three_more,
             "INSERT INTO metrics VALUES (4, 'preempted_ns', 'ns', 'time', 'sum', '');"
             "INSERT INTO cost_rows VALUES (2, 1, 2, 1), (2, 2, 2, 2), (4, 2, 4, 900);");
    make_archive(changes);
    struct pm_archive_data *data = load_good(PM_ARCHIVE_LOAD_MERGED);
    const struct pm_graph *graph = data->graph;
    pm_index wall = pm_graph_find_metric(graph, "wall_ns");
    /* Context 4 (here 3) is below 2, and 3 (here 2) is not on that path. */
    static const struct pm_cost expected[] = {
        {.context = 1, .thread = 0, .value = 1},
        {.context = 1, .thread = 1, .value = 2},
        {.context = 2, .thread = 0, .is_merged = true, .value = 1100},
        {.context = 3, .thread = 1, .value = 2000}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        int n = 0;
        for (uint32_t k = 0; k < graph->n_costs; k++)
            n += graph->costs[k].metric == wall && graph->costs[k].context == expected[i].context &&
                 graph->costs[k].thread == expected[i].thread &&
                 graph->costs[k].is_merged == expected[i].is_merged &&
                 graph->costs[k].value == expected[i].value;
        assert_int_equal(n, 1);
    }
    assert_int_equal(sum_of(graph, "preempted_ns", 3), 900);
    pm_archive_data_free(data);
}

/* Below the loop (4) work is done for main (2): the same calls as are there without. */
static void contexts_that_differ_by_causes_are_one_unless_asked_for(void **state)
{
    (void)state;
    make_archive(
        "INSERT INTO contexts VALUES (90, 4, 4, 64), (91, 90, 5, 0), (92, 91, 6, 0), "
        "(93, NULL, 1, 128), (94, 4, 4, 64);"
        "INSERT INTO causes VALUES (90, 2), (94, 93);"
        "INSERT INTO cost_rows SELECT 91, thread, metric, 7 FROM costs WHERE context = 5;");
    struct pm_archive_data *data = load_good(0);
    const struct pm_graph *graph = data->graph;
    assert_int_equal(graph->n_contexts, 10); /* one more: 92 has no equal */
    int64_t sum = 0, sum_with = 0;
    for (uint32_t i = 0; i < graph->n_costs; i++)
        sum += graph->costs[i].value;
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        assert_int_equal(graph->contexts[c].flags & (PM_CONTEXT_CAUSE | PM_CONTEXT_TOLD), 0);
        assert_int_equal(graph->contexts[c].cause, PM_NONE);
    }
    pm_archive_data_free(data);
    data = load_good(PM_ARCHIVE_LOAD_CAUSES);
    graph = data->graph;
    assert_int_equal(graph->n_contexts, 14);
    uint32_t n_causes = 0, n_told = 0;
    for (pm_index c = 0; c < graph->n_contexts; c++)
        if (graph->contexts[c].cause != PM_NONE) {
            assert_true(graph->contexts[c].cause < c);
            n_told += (graph->contexts[graph->contexts[c].cause].flags & PM_CONTEXT_TOLD) != 0;
            n_causes++;
        }
    assert_int_equal(n_causes, 2);
    assert_int_equal(n_told, 1);
    for (uint32_t i = 0; i < graph->n_costs; i++)
        sum_with += graph->costs[i].value;
    assert_true(sum == sum_with);
    pm_archive_data_free(data);
}

/* Bytes overwritten anywhere: a report of damage or a graph, never a crash (the sanitizers watch).
 */
static void damaged_bytes_never_crash(void **state)
{
    (void)state;
    char *bytes;
    size_t len;
    make_archive("");
    assert_int_equal(pm_file_read(path, 1 << 24, NULL, &bytes, &len), PM_OK);
    len = len / 16384 * 16384; /* without its checksums, by which all would be refused */
    assert_int_equal(truncate(path, (off_t)len), 0);
    uint64_t random = 42;
    int n_loaded = 0, n_refused = 0;
    for (int i = 0; i < 400; i++) {
        int fd = open(path, O_WRONLY);
        unsigned char old[8];
        off_t at[8];
        for (int k = 0; k < 8; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            at[k] = (off_t)((random >> 20) % len);
            old[k] = (unsigned char)bytes[at[k]];
            unsigned char value = (unsigned char)(random >> 12);
            assert_int_equal(pwrite(fd, &value, 1, at[k]), 1);
        }
        struct pm_archive_data *data = NULL;
        struct pm_error err = PM_ERROR_INIT;
        bool in_two = i % 2;
        unsigned flags = in_two ? PM_ARCHIVE_LOAD_KEPT : PM_ARCHIVE_LOAD_ALL;
        if (pm_archive_load(path, flags, &err, &data) == PM_OK &&
            (!in_two || pm_archive_load_rest(data, &err) == PM_OK))
            n_loaded++;
        else
            n_refused++;
        pm_archive_data_free(data);
        pm_error_release(&err);
        for (int k = 8; k-- > 0;)
            assert_int_equal(pwrite(fd, &old[k], 1, at[k]), 1);
        close(fd);
    }
    free(bytes);
    assert_true(n_loaded > 0 && n_refused > 0);
    pm_archive_data_free(load_good(0)); /* and whole again */
}

static void every_failing_allocation_is_reported(void **state)
{
    (void)state;
    make_archive("");
    long n = 1;
    for (;; n++) {
        struct pm_archive_data *data = NULL;
        pm_alloc_fail_at(n);
        enum pm_status status = pm_archive_load(path, PM_ARCHIVE_LOAD_KEPT, NULL, &data);
        if (status == PM_OK)
            status = pm_archive_load_rest(data, NULL);
        bool pending = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        if (pending) {
            pm_archive_data_free(data);
            break;
        }
        assert_int_equal(status, PM_ERR_MEMORY);
        pm_archive_data_free(data);
    }
    assert_true(n > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_measured_sentences_reach_is_loaded),
        cmocka_unit_test(facts_are_loaded_without_runs),
        cmocka_unit_test(the_rest_can_be_loaded_later),
        cmocka_unit_test(how_it_was_sampled_is_loaded),
        cmocka_unit_test(places_of_calls_are_loaded),
        cmocka_unit_test(contexts_come_in_any_order),
        cmocka_unit_test(sentences_may_have_many_nouns),
        cmocka_unit_test(what_does_not_fit_together_is_refused_with_its_place),
        cmocka_unit_test(processes_of_one_program_are_merged_when_asked_for),
        cmocka_unit_test(times_of_preempted_threads_stay_apart),
        cmocka_unit_test(contexts_that_differ_by_causes_are_one_unless_asked_for),
        cmocka_unit_test(damaged_bytes_never_crash),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
