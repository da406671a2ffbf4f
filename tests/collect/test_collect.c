#include "mapping/archive/archive.h"
#include "mapping/collect/collect.h"
#include "mapping/run/manifest.h"
#include "../run/make_run.h"
#include "make_elf.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "in_folder.h"

/* Each test works in a folder of its own, which is gone afterwards. */
enum { MAIN = 101, SUM = 102, LOOP = 103, LINE = 104, ARRAY = 105, NO_PIF = 106 };

static struct pm_pif *make_pif(void)
{
    struct pm_pif *pif = pm_pif_new();
    pm_pif_level(pif, "Source", "Base");
    pm_id base = pm_pif_verb(pif, &(struct pm_pif_verb){.name = "Executes", .level = "Base"});
    pm_id source = pm_pif_verb(
        pif, &(struct pm_pif_verb){.name = "Executes", .level = "Source", .description = "time"});
    pm_id reads = pm_pif_verb(pif, &(struct pm_pif_verb){.name = "Reads", .level = "Source"});
    pm_pif_noun(
        pif, &(struct pm_pif_noun){.id = MAIN, .name = "main", .level = "Base", .kind = "symbol"});
    pm_pif_noun(
        pif,
        &(struct pm_pif_noun){
            .id = SUM, .name = "sum", .level = "Base", .kind = "symbol", .address = "0x20-0x40"});
    pm_pif_noun(
        pif, &(struct pm_pif_noun){
                 .id = LOOP, .name = "sum/1", .level = "Base", .kind = "loopcode", .parent = SUM});
    pm_pif_noun(pif, &(struct pm_pif_noun){.id = LINE,
                                           .name = "heat.c:44",
                                           .level = "Source",
                                           .kind = "loop",
                                           .file = "heat.c",
                                           .line = 44,
                                           .column = 3,
                                           .end_line = 47});
    pm_pif_noun(
        pif,
        &(struct pm_pif_noun){
            .id = ARRAY, .name = "u", .level = "Source", .kind = "array", .type = "double [100]"});
    pm_pif_noun_attribute(pif, ARRAY, "storage", "static");
    pm_pif_noun_attribute(pif, ARRAY, "storage", "thread");
    pm_pif_mapping(pif, &(struct pm_pif_mapping){.source = {base, 1, {LOOP}},
                                                 .destination = {source, 1, {LINE}}});
    pm_pif_mapping(pif, &(struct pm_pif_mapping){.source = {base, 1, {LOOP}},
                                                 .destination = {reads, 2, {LINE, ARRAY}},
                                                 .weight = 0.5,
                                                 .origin = "debug"});
    return pif;
}

static const struct make_elf_symbol symbols[] = {
    {"main", 0x10, 16}, {"sum", 0x20, 32}, {"other", 0x50, 16}};
static const struct pm_run_noun nouns[] = {
    {.id = MAIN, .kind = PM_SLED_ENTRY, .n_sleds = 2, .address = 0x10},
    {.id = SUM, .kind = PM_SLED_ENTRY, .n_sleds = 2, .address = 0x20},
    {.id = LOOP, .kind = PM_SLED_LOOP_ENTER, .n_sleds = 2, .address = 0x28},
    {.id = NO_PIF, .kind = PM_SLED_ENTRY, .n_sleds = 2, .address = 0x54},
};

static void write_heat(void)
{
    struct pm_pif *pif = make_pif();
    assert_true(make_elf("heat", "abcd", pif, symbols, 3));
    pm_pif_free(pif);
}

static void write_manifest(const char *dir)
{
    struct pm_manifest manifest;
    char *argv[] = {"./heat", "a b", "it's", NULL};
    pm_manifest_init(&manifest);
    assert_true(pm_manifest_set_argv(&manifest, argv, 3));
    assert_true(pm_manifest_set_text(&manifest.mode, "exact"));
    assert_true(pm_manifest_set_text(&manifest.cwd, "/here"));
    manifest.pid = 100;
    manifest.start_tsc = 500;
    manifest.start_monotonic_ns = 1;
    manifest.end_monotonic_ns = 3501;
    manifest.end_tsc = 4000;
    manifest.tsc_hz = 1000000000;
    manifest.has_usage = true;
    manifest.user_cpu_ns = 70;
    manifest.exit_status = 3;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_manifest_write(dir, &manifest, &err), PM_OK);
    pm_manifest_release(&manifest);
}

/* Two threads, both main -> sum -> loop; the first also calls what has no PIF. */
static void make_heat_run(struct make_run *run)
{
    char path[5000], here[4096];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(path, sizeof path, "%s/heat", here);
    make_run_init(run, 100);
    make_run_header(run)->n_sleds = 8;
    make_run_header(run)->exact_pair_ps = 20000;
    make_run_object(run, path, "abcd", 4, nouns, 4);
    for (int i = 0; i < 2; i++) {
        make_run_thread(run, 100 + i, 1000, 2000, 16);
        uint64_t root = make_run_node(run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
        uint64_t main_node = make_run_node(run, root, 0, 0, 1000, 1, 900);
        uint64_t sum = make_run_node(run, main_node, 1, 0, 1000, 10, 600);
        make_run_node(run, sum, 2, 0, 1000, 20, 500);
        if (i == 0)
            make_run_node(run, main_node, 3, 0, 1000, 4, 50);
        uint64_t folded = make_run_node(run, sum, 1, 0, 1000, 7, 0);
        make_run_node_at(run, folded)->flags = PM_RUN_NODE_FOLDED;
    }
    make_run_message(run, PM_RUN_MSG_LIMIT, 1800, "too many");
    make_run_end(run, 3000);
}

static void write_run(const char *path)
{
    struct make_run run;
    make_heat_run(&run);
    assert_true(make_run_write(&run, path));
    make_run_release(&run);
}

/* One text for all that a query gives: columns by '|', rows by line. */
static const char *ask(const char *sql)
{
    static char text[8192];
    struct pm_archive *archive;
    struct pm_error err = PM_ERROR_INIT;
    sqlite3_stmt *query;
    bool has_row;
    size_t len = 0;
    text[0] = 0;
    if (pm_archive_open("x.perfmap", &err, &archive) != PM_OK ||
        pm_archive_prepare(archive, sql, &err, &query) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    while (pm_archive_step(archive, query, &err, &has_row) == PM_OK && has_row)
        for (int i = 0; i < sqlite3_column_count(query); i++)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s",
                                    i     ? "|"
                                    : len ? "\n"
                                          : "",
                                    pm_archive_text(query, i));
    sqlite3_finalize(query);
    pm_archive_close(archive);
    return text;
}

static void collect_with(const struct pm_collect_options *options,
                         struct pm_collect_result *ret_result)
{
    const char *dirs[] = {"x.run"};
    struct pm_error err = PM_ERROR_INIT;
    if (pm_collect(dirs, 1, "x.perfmap", options, &err, ret_result) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
}

static void only_warning(const struct pm_collect_result *result, const char *part)
{
    if (result->n_warnings != 1 || !strstr(result->warnings[0], part))
        fail_msg("%zu warnings: %s", result->n_warnings,
                 result->n_warnings ? result->warnings[0] : "");
}

/* What must hold of every archive: no row points nowhere, and each thread's own times add up to its
 * wall time. */
static void check_archive(void)
{
    assert_string_equal(ask("PRAGMA foreign_key_check"), "");
    assert_string_equal(ask("PRAGMA integrity_check"), "ok");
    assert_string_equal(ask("SELECT t.id, t.end_ns - t.start_ns, sum(k.value) FROM threads t JOIN "
                            "costs k ON k.thread = t.id WHERE k.metric = 2 GROUP BY t.id "
                            "HAVING t.end_ns - t.start_ns <> sum(k.value)"),
                        "");
}

static void a_run_becomes_an_archive(void **state)
{
    (void)state;
    struct pm_collect_result result = {0};
    write_heat();
    write_manifest("x.run");
    write_run("x.run/100.0.pmr");
    collect_with(NULL, &result);
    assert_int_equal(result.n_warnings, 0);
    assert_int_equal(result.n_processes, 1);
    assert_int_equal(result.n_threads, 2);
    assert_int_equal(result.n_contexts, 6);
    assert_int_equal(result.n_calls, 80);
    assert_int_equal(result.n_sleds, 8);
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(ask("SELECT name, command, cwd, host IS NULL, mode, wall_ns, user_cpu_ns, "
                            "system_cpu_ns, exit_status, "
                            "exit_signal IS NULL FROM executions"),
                        "x.run|./heat 'a b' 'it'\\''s'|/here|1|exact|3500|70|0|3|1");
    assert_string_equal(ask("SELECT pid, parent_pid, image, exe, argv, start_ns, end_ns, end_kind, "
                            "user_cpu_ns, n_sleds, n_events, "
                            "added_ns FROM processes"),
                        "100|1|0|/bin/heat|heat -n 5|500|2500|exit|7|8|80|1600");
    assert_string_equal(ask("SELECT tid, name, start_ns, end_ns, cpu_ns IS NULL FROM threads"),
                        "100|worker|500|1500|1\n101|worker|500|1500|1");
    assert_string_equal(ask("SELECT build_id, n_sleds, pif_state FROM binaries"),
                        "61626364|8|read");
    assert_string_equal(ask("SELECT l.name, a.name FROM levels l LEFT JOIN levels a ON a.id = "
                            "l.above ORDER BY l.name"),
                        "Base|\nSource|Base");
    assert_string_equal(
        ask("SELECT n.name, l.name, n.kind, p.name, n.binary FROM named_nouns n JOIN "
            "levels l ON l.id = n.level LEFT JOIN "
            "nouns p ON p.id = n.parent WHERE n.kind <> 'loop' AND n.kind <> "
            "'array' ORDER BY n.name"),
        "heat|Base|process||\nmain|Base|symbol||1\nother+0x4 in "
        "heat|Base|symbol||1\nsum|Base|symbol||1\n"
        "sum/1|Base|loopcode|sum|1");
    assert_string_equal(
        ask("SELECT pif_id, file, line, \"column\", end_line FROM named_nouns WHERE kind = 'loop'"),
        "104|heat.c|44|3|47");
    assert_string_equal(
        ask("SELECT n.name, a.key, a.value FROM noun_attributes a JOIN named_nouns n ON "
            "n.id = a.noun ORDER BY 1, 2"),
        "sum|address|0x20-0x40\nu|storage|static\nthread");
    assert_string_equal(
        ask("SELECT n.name, v.name, d.name, m.weight, m.origin, (SELECT "
            "group_concat(x.name) FROM sentence_nouns s "
            "JOIN named_nouns x ON x.id = s.noun WHERE s.sentence = m.destination) FROM "
            "mappings m JOIN sentences s ON "
            "s.id = m.source JOIN named_nouns n ON n.id = s.noun JOIN sentences t ON "
            "t.id = m.destination JOIN verbs v ON "
            "v.id = t.verb JOIN named_nouns d ON d.id = t.noun ORDER BY v.name"),
        "sum/1|Executes|heat.c:44||compiler|\nsum/1|Reads|heat.c:44|0.5|debug|u");
    assert_string_equal(
        ask("WITH RECURSIVE path(id, name, flags) AS (SELECT c.id, n.name, c.flags "
            "FROM contexts c JOIN sentences s ON s.id = "
            "c.sentence JOIN named_nouns n ON n.id = s.noun WHERE c.parent IS NULL UNION "
            "ALL SELECT c.id, p.name || '/' || n.name, c.flags "
            "FROM path p JOIN contexts c ON c.parent = p.id JOIN sentences s ON "
            "s.id = c.sentence JOIN named_nouns n ON n.id = s.noun) "
            "SELECT name, flags, (SELECT sum(value) FROM costs WHERE context = "
            "path.id AND metric = 1), (SELECT sum(value) FROM costs "
            "WHERE context = path.id AND metric = 2) FROM path ORDER BY 1, 2"),
        "heat|0||200\nheat/main|0|2|550\nheat/main/other+0x4 in "
        "heat|0|4|50\nheat/main/sum|0|20|200\n"
        "heat/main/sum/sum|1|14|\nheat/main/sum/sum/1|0|40|1000");
    assert_string_equal(ask("SELECT process, code, text FROM messages"), "1|3|too many");
    assert_string_equal(ask("SELECT id, name, unit, kind, aggregation FROM metrics"),
                        "1|n_calls|calls|count|sum\n2|wall_ns|ns|time|sum");
    assert_int_equal(access("x.run/100.0.pmr", F_OK), 0);
}

static void counts_stand_below_the_root(void **state)
{
    (void)state;
    struct make_run run;
    char path[5000], here[4096];
    write_heat();
    write_manifest("x.run");
    assert_non_null(getcwd(here, sizeof here));
    snprintf(path, sizeof path, "%s/heat", here);
    make_run_init(&run, 100);
    make_run_header(&run)->mode = PM_RUN_MODE_COUNT;
    make_run_header(&run)->count_event_ps = 2000;
    make_run_object(&run, path, "abcd", 4, nouns, 4);
    uint64_t thread = make_run_thread(&run, 100, 1000, 0, 16);
    make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 1, 1000, 0, 0);
    make_run_counts(&run, thread, 0, (uint64_t[]){1, 10, 0, 5}, 4);
    make_run_end(&run, 3000);
    assert_true(make_run_write(&run, "x.run/100.0.pmr"));
    make_run_release(&run);
    collect_with(NULL, NULL);
    check_archive();
    assert_string_equal(
        ask("SELECT n.name, c.parent, m.name, k.value FROM costs k JOIN contexts c ON c.id = "
            "k.context JOIN metrics m "
            "ON m.id = k.metric JOIN sentences s ON s.id = c.sentence JOIN named_nouns n ON n.id = "
            "s.noun ORDER BY 1"),
        "heat||wall_ns|2000\nmain|1|n_calls|1\nother+0x4 in heat|1|n_calls|5\nsum|1|n_calls|10");
    assert_string_equal(ask("SELECT n_events, added_ns FROM processes"), "16|32");
}

/* Mode active; the loop is timed as asked, what has no PIF is counted, and sum is left to
 * sampling in the end. A pair costs 5, 20 and 1 ns. */
static void make_mixed_run(struct make_run *run, uint64_t cpu_ns, enum pm_run_mode loop_mode)
{
    static const uint64_t counters[] = {0, 7, 0, 40};
    struct pm_run_noun mixed[4];
    char path[5000], here[4096];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(path, sizeof path, "%s/heat", here);
    memcpy(mixed, nouns, sizeof mixed);
    mixed[2].own_mode = (uint8_t)(1 + loop_mode);
    mixed[3].own_mode = 1 + PM_RUN_MODE_COUNT;
    make_run_init(run, 100);
    make_run_header(run)->mode = PM_RUN_MODE_ACTIVE;
    make_run_object(run, path, "abcd", 4, mixed, 4);
    uint64_t thread = make_run_thread(run, 100, 1000, 2000, 16);
    uint64_t root = make_run_node(run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    uint64_t main_node = make_run_node(run, root, 0, 0, 0, 1, 0);
    uint64_t sum = make_run_node(run, main_node, 1, 0, 0, 10, 0);
    uint64_t loop = make_run_node(run, sum, 2, 0, 1000, 20, 500);
    make_run_node_at(run, loop)->flags = PM_RUN_NODE_TIMED;
    make_run_counts(run, thread, 0, counters, 4);
    make_run_adapted(run,
                     (struct pm_run_adapted[]){{.noun = 1,
                                                .mode = PM_RUN_MODE_COUNT,
                                                .mode_before = 1 + PM_RUN_MODE_ACTIVE,
                                                .disarmed_tsc = 1500,
                                                .armed_tsc = 1700,
                                                .n_events = 10},
                                               {.noun = 1,
                                                .mode = PM_RUN_MODE_OFF,
                                                .mode_before = 1 + PM_RUN_MODE_COUNT,
                                                .disarmed_tsc = 1700,
                                                .n_events = 17}},
                     2);
    make_run_overhead(run, &(struct pm_run_overhead){.budget_ppm = 50000,
                                                     .count_pair_ps = 1000,
                                                     .active_pair_ps = 5000,
                                                     .exact_pair_ps = 20000,
                                                     .exact_inner_ps = 9000,
                                                     .cpu_ns = cpu_ns,
                                                     .events_ns = 300,
                                                     .samples_ns = 40,
                                                     .looks_ns = 10,
                                                     .fixed_ns = 120,
                                                     .starts_ns = 7});
    make_run_end(run, 3000);
    make_run_header(run)->end_user_cpu_ns = 2000;
    make_run_header(run)->end_system_cpu_ns = 0;
}

static void nouns_of_different_modes_keep_what_is_known(void **state)
{
    (void)state;
    struct pm_collect_result result;
    struct make_run run;
    write_heat();
    write_manifest("x.run");
    make_mixed_run(&run, 1000, PM_RUN_MODE_EXACT);
    assert_true(make_run_write(&run, "x.run/100.0.pmr"));
    make_run_release(&run);
    collect_with(NULL, &result);
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(
        ask("SELECT n.name, m.mode, m.reason, m.from_ns, m.until_ns, m.n_events FROM noun_modes m "
            "JOIN named_nouns n ON n.id = m.noun ORDER BY m.rowid"),
        "sum/1|exact|asked|500||0\nother+0x4 in heat|count|asked|500||0\n"
        "sum|count|budget|1000|1200|10\nsum|off|budget|1200||17");
    assert_string_equal(
        ask("SELECT n.name, d.at_ns, d.n_events FROM disarmed d JOIN named_nouns n ON "
            "n.id = d.noun"),
        "sum|1200|17");
    /* Calls of sum: 10 in its context, 7 counted. */
    assert_string_equal(
        ask("SELECT n.name, c.flags, sum(CASE k.metric WHEN 1 THEN k.value END) AS calls, "
            "sum(CASE k.metric WHEN 2 THEN k.value END) AS ns FROM contexts c JOIN sentences s ON "
            "s.id = c.sentence JOIN named_nouns n ON n.id = s.noun LEFT JOIN costs k ON k.context "
            "= c.id "
            "WHERE c.parent IS NOT NULL GROUP BY c.id ORDER BY c.id"),
        "main|0|1|\nsum|0|10|\nsum/1|0|20|500\nsum|16|7|\nother+0x4 in heat|16|40|");
    /* What it reckoned at half of its CPU time, for all of it, and its starts; that is more than
     * the warm pairs, 11 x 5 + 20 x 20 + 47 x 1 ns. */
    assert_string_equal(ask("SELECT budget_ppm, events_ns, samples_ns, active_pair_ps, "
                            "count_pair_ps FROM overheads"),
                        "50000|627|80|5000|1000");
    assert_string_equal(ask("SELECT pair_ps, inner_ps FROM probe_costs"), "20000|9000");
    assert_string_equal(ask("SELECT added_ns FROM processes"), "707");
}

/* Of three processes one ran where `perfmap run` did; another does not tell. */
static void nodes_are_told_where_they_differ(void **state)
{
    static const char *const nodes[] = {"front", "", "node17"};
    struct pm_manifest manifest;
    struct pm_error err = PM_ERROR_INIT;
    struct make_run run;
    (void)state;
    write_heat();
    pm_manifest_init(&manifest);
    assert_true(pm_manifest_set_text(&manifest.host, "front"));
    assert_int_equal(pm_manifest_write("x.run", &manifest, &err), PM_OK);
    pm_manifest_release(&manifest);
    for (int i = 0; i < 3; i++) {
        char path[64];
        make_heat_run(&run);
        make_run_place(&run, nodes[i], i ? "4711" : "");
        snprintf(path, sizeof path, "x.run/%d.0.pmr", 100 + i);
        assert_true(make_run_write(&run, path));
        make_run_release(&run);
    }
    collect_with(NULL, NULL);
    assert_string_equal(ask("SELECT process, node FROM nodes"), "3|node17");
    assert_string_equal(ask("SELECT value FROM execution_attributes WHERE key = 'job'"), "4711");
}

/* Two machines have a process of one number, and both end by exec: neither has spent what the other
 * has. The later one's ticks are those of another clock. */
static void processes_of_one_number_on_two_nodes_are_two(void **state)
{
    struct pm_manifest manifest;
    struct pm_error err = PM_ERROR_INIT;
    struct make_run run;
    (void)state;
    write_heat();
    pm_manifest_init(&manifest);
    assert_true(pm_manifest_set_text(&manifest.host, "front"));
    manifest.start_realtime_ns = 1700000000000000000;
    manifest.start_tsc = 500;
    assert_int_equal(pm_manifest_write("x.run", &manifest, &err), PM_OK);
    pm_manifest_release(&manifest);
    for (int i = 0; i < 2; i++) {
        char path[64];
        make_heat_run(&run);
        make_run_place(&run, i ? "node17" : "front", "");
        make_run_header(&run)->flags |= PM_RUN_FLAG_EXEC;
        make_run_header(&run)->end_user_cpu_ns = 900 - 100 * (unsigned)i;
        make_run_header(&run)->start_realtime_ns += i ? 7777 : 0;
        snprintf(path, sizeof path, "x.run/100.%d.pmr", i);
        assert_true(make_run_write(&run, path));
        make_run_release(&run);
    }
    collect_with(NULL, NULL);
    assert_string_equal(ask("SELECT user_cpu_ns, start_ns FROM processes ORDER BY id"),
                        "900|500\n800|7777");
}

/* Over the processes, each with what it reckoned for half of its CPU time. */
static void what_the_budget_leaves_alone_is_added_up(void **state)
{
    (void)state;
    struct pm_collect_result result;
    struct make_run run;
    write_heat();
    write_manifest("x.run");
    make_mixed_run(&run, 1000, PM_RUN_MODE_EXACT);
    assert_true(make_run_write(&run, "x.run/100.0.pmr"));
    assert_true(make_run_write(&run, "x.run/101.0.pmr"));
    make_run_release(&run);
    collect_with(NULL, &result);
    pm_collect_result_release(&result);
    assert_string_equal(ask("SELECT value FROM execution_attributes WHERE key = 'fixed_ns'"),
                        "480");
}

/* What was reckoned before the last events came is less than these cost. */
static void events_cost_no_less_than_warm_pairs(void **state)
{
    (void)state;
    struct pm_collect_result result;
    struct make_run run;
    write_heat();
    write_manifest("x.run");
    make_mixed_run(&run, 2000, PM_RUN_MODE_EXACT);
    assert_true(make_run_write(&run, "x.run/100.0.pmr"));
    make_run_release(&run);
    collect_with(NULL, &result);
    pm_collect_result_release(&result);
    assert_string_equal(ask("SELECT events_ns, samples_ns FROM overheads"), "509|40");
}

/* The loop is traced: 20 x 4 ns more, for writing. Three blocks were allocated and one of them
 * freed: 4 x 50. */
static void traces_and_heap_cost_more(void **state)
{
    (void)state;
    struct pm_collect_result result;
    struct make_run run;
    const struct pm_run_heap_site site = {
        .n_allocations = 3, .n_freed = 1, .allocated_bytes = 30, .freed_bytes = 10};
    write_heat();
    write_manifest("x.run");
    make_mixed_run(&run, 2000, PM_RUN_MODE_TRACE);
    make_run_heap(&run, &site, 1, NULL, 0);
    assert_true(make_run_write(&run, "x.run/100.0.pmr"));
    make_run_release(&run);
    collect_with(NULL, &result);
    pm_collect_result_release(&result);
    assert_string_equal(ask("SELECT events_ns FROM overheads"), "789");
}

static void processes_are_merged_by_path(void **state)
{
    (void)state;
    struct make_run run;
    struct pm_collect_result result = {0};
    write_heat();
    write_manifest("x.run");
    for (int i = 0; i < 3; i++) {
        char path[64];
        make_heat_run(&run);
        make_run_header(&run)->pid = 100 + i;
        make_run_header(&run)->start_tsc -= i == 2 ? 100 : 0; /* started first */
        snprintf(path, sizeof path, "x.run/%d.%d.pmr", 100 + i, i);
        assert_true(make_run_write(&run, path));
        make_run_release(&run);
    }
    assert_int_equal(symlink("nowhere", "x.run/not-a-run-file"), 0);
    collect_with(NULL, &result);
    assert_int_equal(result.n_contexts, 6);
    assert_int_equal(result.n_processes, 3);
    assert_int_equal(result.n_warnings, 0);
    pm_collect_result_release(&result);
    assert_string_equal(ask("SELECT pid, image, start_ns FROM processes ORDER BY id"),
                        "102|2|400\n100|0|500\n101|1|500");
    assert_string_equal(ask("SELECT sum(value) FROM costs WHERE metric = 1"), "240");
    assert_string_equal(ask("SELECT count(*) FROM binaries"), "1");
    check_archive();
}

static void time_on_foreign_stacks_is_marked(void **state)
{
    (void)state;
    struct make_run run;
    struct pm_collect_result result = {0};
    write_heat();
    write_manifest("x.run");
    make_heat_run(&run);
    make_run_thread(&run, 103, 1000, 2000, 16);
    make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
    uint64_t other = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 0, 0, 0, 0);
    make_run_node_at(&run, other)->flags = PM_RUN_NODE_FOREIGN_STACK;
    uint64_t sum = make_run_node(&run, other, 1, 0, 1000, 4, 250);
    make_run_node(&run, sum, 2, 0, 1000, 4, 100);
    assert_true(make_run_write(&run, "x.run/100.0.pmr"));
    make_run_release(&run);
    collect_with(NULL, &result);
    assert_int_equal(result.n_warnings, 0);
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(ask("SELECT c.flags, c.parent IS NULL, sum(k.value) FROM contexts c LEFT "
                            "JOIN costs k ON k.context = c.id AND "
                            "k.metric = 2 WHERE c.flags & 2 GROUP BY c.id"),
                        "2|1|\n2|0|150\n2|0|100");
}

static void several_runs_are_several_executions(void **state)
{
    (void)state;
    write_heat();
    write_manifest("x.run");
    write_run("x.run/100.0.pmr");
    const char *dirs[] = {"x.run", "x.run/"};
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_collect(dirs, 2, "x.perfmap", NULL, &err, NULL), PM_OK);
    check_archive();
    assert_string_equal(
        ask("SELECT e.id, e.name, p.id FROM executions e JOIN processes p ON p.execution = e.id"),
        "1|x.run|1\n2|x.run|2");
    assert_string_equal(ask("SELECT count(*) FROM contexts"), "6");
}

static void a_run_without_manifest_tells_what_it_can(void **state)
{
    (void)state;
    struct pm_collect_result result = {0};
    write_heat();
    write_run("x.run/100.0.pmr");
    collect_with(NULL, &result);
    only_warning(
        &result,
        "run folder 'x.run' has no manifest; command and times are taken from the run files");
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(
        ask("SELECT command, mode, wall_ns, user_cpu_ns, exit_status IS NULL FROM executions"),
        "|exact|2000|7|1");
    assert_string_equal(ask("SELECT start_ns FROM processes"), "0");
}

/* No process had sleds, so the runtime left no file: what `perfmap run` saw is a process. */
static void a_run_without_run_files_has_the_process_that_was_started(void **state)
{
    (void)state;
    struct pm_collect_result result = {0};
    write_manifest("x.run");
    collect_with(NULL, &result);
    assert_int_equal(result.n_warnings, 0);
    assert_int_equal(result.n_processes, 1);
    assert_int_equal(result.n_contexts, 1);
    assert_int_equal(result.n_sleds, 0);
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(ask("SELECT pid, parent_pid IS NULL, image, exe, argv, start_ns, end_ns, "
                            "end_kind, user_cpu_ns, n_sleds, n_events, added_ns FROM processes"),
                        "100|1|0|./heat|./heat 'a b' 'it'\\''s'|0|3500|exit|70|0|0|0");
    assert_string_equal(ask("SELECT tid, n_threads, start_ns, end_ns, cpu_ns FROM threads"),
                        "100|1|0|3500|70");
    assert_string_equal(ask("SELECT n.name, n.kind, c.parent IS NULL, k.metric, k.value FROM costs "
                            "k JOIN contexts c ON c.id = k.context JOIN sentences s ON s.id = "
                            "c.sentence JOIN named_nouns n ON n.id = s.noun"),
                        "heat|process|1|2|3500");
}

/* perfmap run was killed: nobody knows the time. */
static void a_run_without_run_files_and_end_has_a_process_without_time(void **state)
{
    (void)state;
    struct pm_manifest manifest;
    char *argv[] = {"ls", NULL};
    struct pm_error err = PM_ERROR_INIT;
    pm_manifest_init(&manifest);
    assert_true(pm_manifest_set_argv(&manifest, argv, 1));
    manifest.pid = 100;
    manifest.start_monotonic_ns = 1;
    assert_int_equal(pm_manifest_write("x.run", &manifest, &err), PM_OK);
    pm_manifest_release(&manifest);
    collect_with(NULL, NULL);
    check_archive();
    assert_string_equal(ask("SELECT pid, end_ns IS NULL, end_kind, user_cpu_ns IS NULL FROM "
                            "processes"),
                        "100|1|killed|1");
    assert_string_equal(ask("SELECT count(*) FROM threads"), "0");
}

/* A run file that says nothing but that the process was there (an LTO link without the plugin). */
static void a_process_without_threads_has_its_time(void **state)
{
    (void)state;
    struct make_run run;
    write_heat();
    write_manifest("x.run");
    write_run("x.run/100.0.pmr");
    make_run_init(&run, 101);
    make_run_message(&run, PM_RUN_MSG_OBJECT_WITHOUT_SLEDS, 1800, "/bin/heat");
    make_run_end(&run, 2500);
    assert_true(make_run_write(&run, "x.run/101.0.pmr"));
    make_run_release(&run);
    collect_with(NULL, NULL);
    check_archive();
    assert_string_equal(ask("SELECT p.pid, t.tid, t.end_ns - t.start_ns, t.cpu_ns = p.user_cpu_ns "
                            "+ p.system_cpu_ns, k.value FROM processes p JOIN threads t ON "
                            "t.process = p.id JOIN costs k ON k.thread = t.id WHERE p.pid = 101"),
                        "101|101|1500|1|1500");
    assert_string_equal(ask("SELECT count(DISTINCT context) FROM costs WHERE context IN (SELECT "
                            "id FROM contexts WHERE parent IS NULL)"),
                        "1");
}

/* Run files are not trusted: the process's wall time stays what it was. */
static void counters_do_not_join_metrics_of_another_kind(void **state)
{
    (void)state;
    static const struct pm_run_counter counters[] = {
        {.name = "wall_ns", .unit = "ns", .n_threads = 1, .count = 5},
        {.name = "allocated_bytes", .unit = "bytes", .n_threads = 1, .count = 6},
        {.name = "waits", .unit = "switches", .n_threads = 1, .count = 7}};
    struct make_run run;
    write_heat();
    write_manifest("x.run");
    make_heat_run(&run);
    uint64_t at =
        make_run_chunk(&run, PM_RUN_CHUNK_SOURCES, PM_RUN_COUNTERS_DATA + sizeof counters, 0);
    ((struct pm_run_chunk *)make_run_at(&run, at))->n_items = 3;
    memcpy(make_run_at(&run, at + PM_RUN_COUNTERS_DATA), counters, sizeof counters);
    assert_true(make_run_write(&run, "x.run/100.0.pmr"));
    make_run_release(&run);
    struct pm_collect_result result;
    collect_with(NULL, &result);
    assert_int_equal(result.n_warnings, 2);
    assert_non_null(strstr(result.warnings[0], "'wall_ns' (of whole processes"));
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(ask("SELECT metric, count FROM counters"), "waits|7");
    assert_string_equal(ask("SELECT sum(k.value) FROM costs k JOIN metrics m ON m.id = k.metric "
                            "WHERE m.name = 'waits'"),
                        "7");
    assert_string_equal(ask("SELECT count(*) FROM metrics WHERE name = 'allocated_bytes'"), "0");
    assert_string_equal(ask("SELECT count(*) FROM costs WHERE value = 5"), "0");
}

static void a_process_without_threads_has_its_numbers(void **state)
{
    (void)state;
    static const struct pm_run_counter waits = {
        .name = "waits", .unit = "switches", .n_threads = 1, .count = 7};
    struct make_run run;
    write_manifest("x.run");
    make_run_init(&run, 100);
    uint64_t at = make_run_chunk(&run, PM_RUN_CHUNK_SOURCES, PM_RUN_PAGE, 0);
    ((struct pm_run_chunk *)make_run_at(&run, at))->n_items = 1;
    memcpy(make_run_at(&run, at + PM_RUN_COUNTERS_DATA), &waits, sizeof waits);
    make_run_end(&run, 2500);
    assert_true(make_run_write(&run, "x.run/100.0.pmr"));
    make_run_release(&run);
    collect_with(NULL, NULL);
    check_archive();
    assert_string_equal(ask("SELECT k.value, c.parent IS NULL FROM costs k JOIN metrics m ON m.id "
                            "= k.metric JOIN contexts c ON c.id = k.context WHERE m.name = "
                            "'waits'"),
                        "7|1");
}

static void binaries_that_do_not_explain_are_named(void **state)
{
    (void)state;
    struct pm_collect_result result = {0};
    write_manifest("x.run");
    write_run("x.run/100.0.pmr");
    collect_with(NULL, &result);
    only_warning(&result, "/heat' is no longer there, so its code has addresses and no names");
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(ask("SELECT pif_state FROM binaries"), "missing");
    assert_string_equal(ask("SELECT name FROM named_nouns WHERE kind = 'loopcode'"),
                        "0x28 in heat");

    assert_true(make_elf("heat", "ABCD", NULL, symbols, 3));
    collect_with(NULL, &result);
    only_warning(&result, "has changed since it ran");
    pm_collect_result_release(&result);
    assert_string_equal(ask("SELECT pif_state FROM binaries"), "changed");

    assert_true(make_elf("heat", "abcd", NULL, symbols, 3));
    collect_with(NULL, &result);
    only_warning(&result, "has sleds but no facts of the compiler");
    pm_collect_result_release(&result);
    assert_string_equal(ask("SELECT pif_state FROM binaries"), "missing");
    assert_string_equal(ask("SELECT name FROM named_nouns WHERE kind = 'loopcode'"),
                        "sum+0x8 in heat");
    assert_string_equal(ask("SELECT sum(value) FROM costs WHERE metric = 1"), "80");
}

static void damaged_run_files_are_collected_as_far_as_they_go(void **state)
{
    (void)state;
    struct make_run run;
    struct pm_collect_result result = {0};
    write_heat();
    write_manifest("x.run");
    write_run("x.run/100.0.pmr");
    make_heat_run(&run);
    make_run_node_at(&run, run.next - 2 * sizeof(struct pm_run_node))->noun = 99;
    assert_true(make_run_write(&run, "x.run/101.0.pmr"));
    memset(run.data, 0, 8);
    assert_true(make_run_write(&run, "x.run/102.0.pmr"));
    make_run_release(&run);
    collect_with(NULL, &result);
    assert_int_equal(result.n_warnings, 2);
    assert_string_equal(result.warnings[0],
                        "'x.run/102.0.pmr' is not a run file: this process is left out");
    assert_non_null(strstr(result.warnings[1], "have a noun that no object has"));
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(ask("SELECT sum(value) FROM costs WHERE metric = 1"), "160");
    assert_string_equal(ask("SELECT count(*) FROM named_nouns WHERE name = 'unknown code'"), "1");
    assert_string_equal(ask("SELECT count(*) FROM messages WHERE code = -1"), "1");
    assert_string_equal(ask("SELECT text FROM messages WHERE process IS NULL AND code = 0"),
                        "'x.run/102.0.pmr' is not a run file: this process is left out");
}

/* A statement that is named by its place, and one that only looks so. */
static void add_statements(struct pm_pif *pif)
{
    struct pm_pif_noun noun = {.id = 71,
                               .name = "heat.c:45:5",
                               .level = "Source",
                               .kind = "statement",
                               .file = "heat.c",
                               .line = 45,
                               .column = 5};
    pm_pif_noun(pif, &noun);
    noun.id = 72;
    noun.name = "heat.c:45:55";
    pm_pif_noun(pif, &noun);
}

static void a_name_that_is_the_place_is_stored_once_and_found_by_name(void **state)
{
    (void)state;
    static const char text[] =
        "NOUN\n  name = Phase 1\n  abstraction = User\nVERB\n  name = Executes\n  abstraction = "
        "User\nMAPPING\n  source = {Source::heat.c:45:5, Source::Executes}\n  destination = {Phase "
        "1, User::Executes}\n  origin = user\n";
    struct pm_error err = PM_ERROR_INIT;
    struct pm_collect_result result = {0};
    const char *paths[] = {"user.pif"};
    struct pm_collect_options options = {
        .size = sizeof options, .pif_paths = paths, .n_pif_paths = 1};
    struct pm_pif *pif = make_pif();
    add_statements(pif);
    assert_true(make_elf("heat", "abcd", pif, symbols, 3));
    pm_pif_free(pif);
    write_manifest("x.run");
    write_run("x.run/100.0.pmr");
    assert_int_equal(pm_file_write("user.pif", text, sizeof text - 1, &err), PM_OK);
    collect_with(&options, &result);
    assert_int_equal(result.n_warnings, 0);
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(
        ask("SELECT n.id - m.id, n.name, m.name, f.name, m.file FROM nouns n JOIN named_nouns m ON "
            "m.id = n.id JOIN files f ON f.id = n.file WHERE n.kind = 'statement' ORDER BY n.id"),
        "0||heat.c:45:5|heat.c|heat.c\n0|heat.c:45:55|heat.c:45:55|heat.c|heat.c");
    assert_string_equal(ask("SELECT count(*) FROM files"), "1");
    assert_string_equal(
        ask("SELECT n.name FROM mappings m JOIN sentences s ON s.id = m.source JOIN "
            "named_nouns n ON n.id = s.noun WHERE m.origin = 'user'"),
        "heat.c:45:5");
}

static void the_users_pif_joins_what_is_there(void **state)
{
    (void)state;
    static const char text[] = "NOUN\n  name = Phase 1\n  abstraction = User\nVERB\n  name = "
                               "Executes\n  abstraction = User\n"
                               "MAPPING\n  source = {Source::heat.c:44, Source::Executes}\n  "
                               "destination = {Phase 1, User::Executes}\n"
                               "  origin = user\n";
    struct pm_error err = PM_ERROR_INIT;
    struct pm_collect_result result = {0};
    const char *paths[] = {"user.pif"};
    struct pm_collect_options options = {
        .size = sizeof options, .pif_paths = paths, .n_pif_paths = 1, .name = "first"};
    write_heat();
    write_manifest("x.run");
    write_run("x.run/100.0.pmr");
    assert_int_equal(pm_file_write("user.pif", text, sizeof text - 1, &err), PM_OK);
    collect_with(&options, &result);
    assert_int_equal(result.n_warnings, 0);
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(ask("SELECT name FROM executions"), "first");
    assert_string_equal(ask("SELECT count(*) FROM named_nouns WHERE name = 'heat.c:44'"), "1");
    assert_string_equal(
        ask("SELECT n.name, n.kind, d.name, d.binary IS NULL, m.origin FROM "
            "mappings m JOIN sentences s ON s.id = "
            "m.source JOIN named_nouns n ON n.id = s.noun JOIN sentences t ON t.id = "
            "m.destination JOIN named_nouns d ON d.id = "
            "t.noun WHERE m.origin = 'user'"),
        "heat.c:44|loop|Phase 1|1|user");
    assert_int_equal(pm_file_write("user.pif", "NUON\n", 5, &err), PM_OK);
    const char *dirs[] = {"x.run"};
    paths[0] = "missing.pif";
    assert_int_equal(pm_collect(dirs, 1, "x.perfmap", &options, &err, NULL), PM_ERR_SYSTEM);
    assert_non_null(strstr(pm_error_text(&err), "missing.pif"));
    pm_error_release(&err);
}

static void refuse(const char *dir, const char *archive, enum pm_status status, const char *part)
{
    struct pm_error err = PM_ERROR_INIT;
    const char *dirs[] = {dir};
    assert_int_equal(pm_collect(dirs, 1, archive, NULL, &err, NULL), status);
    if (!strstr(pm_error_text(&err), part))
        fail_msg("%s", pm_error_text(&err));
    pm_error_release(&err);
}

static size_t n_files(void)
{
    FILE *p = popen("ls -A | wc -l", "r");
    size_t n = 0;
    assert_int_equal(fscanf(p, "%zu", &n), 1);
    pclose(p);
    return n;
}

static void what_cannot_be_collected_leaves_the_old_archive(void **state)
{
    (void)state;
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_file_write("x.perfmap", "old", 3, &err), PM_OK);
    refuse("none.run", "x.perfmap", PM_ERR_NOT_FOUND,
           "there is no run folder 'none.run' / cannot make archive 'x.perfmap'");
    refuse("x.perfmap", "y.perfmap", PM_ERR_USAGE, "'x.perfmap' is not a run folder");
    refuse("x.run", "x.perfmap", PM_ERR_NOT_FOUND, "there is no run in 'x.run'");
    refuse("x.run", "x.run", PM_ERR_USAGE,
           "cannot write archive 'x.run': it is not a regular file");
    refuse("x.run", "no/x.perfmap", PM_ERR_SYSTEM,
           "cannot write archive 'no/x.perfmap': No such file or directory");
    assert_int_equal(pm_file_write("x.run/1.0.pmr", "PerfMapR", 8, &err), PM_OK);
    refuse("x.run", "x.perfmap", PM_ERR_FORMAT,
           "no run file in 'x.run' can be read: run file 'x.run/1.0.pmr' is cut");
    char *text;
    size_t len;
    assert_int_equal(pm_file_read("x.perfmap", 100, &err, &text, &len), PM_OK);
    assert_string_equal(text, "old");
    free(text);
    assert_int_equal(n_files(), 2); /* no temporary is left */
}

static void a_full_disk_is_one_clear_error(void **state)
{
    (void)state;
    struct rlimit before, small = {100000, 100000};
    write_heat();
    write_manifest("x.run");
    write_run("x.run/100.0.pmr");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct pm_error err = PM_ERROR_INIT;
    const char *dirs[] = {"x.run"};
    enum pm_status status = pm_collect(dirs, 1, "x.perfmap", NULL, &err, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, PM_ERR_SYSTEM);
    assert_non_null(strstr(pm_error_text(&err), "archive 'x.perfmap': "));
    assert_int_equal(n_files(), 2);
    pm_error_release(&err);
}

static void failing_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    static const char text[] = "NOUN\n  name = Phase 1\n  abstraction = User\n";
    struct pm_error err = PM_ERROR_INIT;
    const char *paths[] = {"user.pif"}, *dirs[] = {"x.run"};
    struct pm_collect_options options = {
        .size = sizeof options, .pif_paths = paths, .n_pif_paths = 1};
    write_heat();
    write_manifest("x.run");
    write_run("x.run/100.0.pmr");
    assert_int_equal(pm_file_write("user.pif", text, sizeof text - 1, &err), PM_OK);
    size_t n_before = n_files();
    long n = 1;
    for (bool done = false; !done; n++) {
        struct pm_collect_result result = {0};
        pm_alloc_fail_at(n);
        enum pm_status status = pm_collect(dirs, 1, "y.perfmap", &options, &err, &result);
        done = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        if (status != PM_OK) {
            assert_int_equal(status, PM_ERR_MEMORY);
            assert_int_equal(n_files(), n_before);
        } else {
            assert_int_equal(n_files(), n_before + 1);
            assert_int_equal(unlink("y.perfmap"), 0);
        }
        pm_collect_result_release(&result);
        pm_error_release(&err);
        assert_true(n < 5000);
    }
    assert_true(n > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_run_becomes_an_archive),
        IN_FOLDER(counts_stand_below_the_root),
        IN_FOLDER(nouns_of_different_modes_keep_what_is_known),
        IN_FOLDER(nodes_are_told_where_they_differ),
        IN_FOLDER(processes_of_one_number_on_two_nodes_are_two),
        IN_FOLDER(what_the_budget_leaves_alone_is_added_up),
        IN_FOLDER(events_cost_no_less_than_warm_pairs),
        IN_FOLDER(traces_and_heap_cost_more),
        IN_FOLDER(processes_are_merged_by_path),
        IN_FOLDER(time_on_foreign_stacks_is_marked),
        IN_FOLDER(several_runs_are_several_executions),
        IN_FOLDER(a_run_without_manifest_tells_what_it_can),
        IN_FOLDER(a_run_without_run_files_has_the_process_that_was_started),
        IN_FOLDER(a_run_without_run_files_and_end_has_a_process_without_time),
        IN_FOLDER(a_process_without_threads_has_its_time),
        IN_FOLDER(a_process_without_threads_has_its_numbers),
        IN_FOLDER(counters_do_not_join_metrics_of_another_kind),
        IN_FOLDER(binaries_that_do_not_explain_are_named),
        IN_FOLDER(damaged_run_files_are_collected_as_far_as_they_go),
        IN_FOLDER(a_name_that_is_the_place_is_stored_once_and_found_by_name),
        IN_FOLDER(the_users_pif_joins_what_is_there),
        IN_FOLDER(what_cannot_be_collected_leaves_the_old_archive),
        IN_FOLDER(a_full_disk_is_one_clear_error),
        IN_FOLDER(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
