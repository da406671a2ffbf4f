/* Samples and costs from elsewhere, from run files and maps made by hand to what the archive
 * says. */
#include "mapping/archive/archive.h"
#include "mapping/collect/collect.h"
#include "mapping/run/manifest.h"
#include "format/pm_map.h"
#include "../run/make_run.h"
#include "make_elf.h"

#include <setjmp.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "in_folder.h"

/* --- the program: main calls sum, which has a loop; square is inlined into sum --- */

enum {
    MAIN = 101,
    SUM,
    LOOPCODE,
    LOOP,
    ARRAY,
    SUM_SOURCE,
    SQUARE,
    FILE_ID,
    FIRST,
    SECOND,
    GONE,
    SQUARED,
    MAIN_SOURCE,
    IN_MAIN
};

static void add_statement(struct pm_pif *pif, pm_id id, const char *name, pm_id parent,
                          uint32_t line, uint32_t column)
{
    pm_pif_noun(pif, &(struct pm_pif_noun){.id = id,
                                           .name = name,
                                           .level = "Source",
                                           .kind = "statement",
                                           .file = "heat.c",
                                           .parent = parent,
                                           .line = line,
                                           .column = column});
}

static struct pm_pif *make_pif(void)
{
    struct pm_pif *pif = pm_pif_new();
    pm_pif_level(pif, "Source", "Base");
    pm_id base = pm_pif_verb(pif, &(struct pm_pif_verb){.name = "Executes", .level = "Base"});
    pm_id source = pm_pif_verb(pif, &(struct pm_pif_verb){.name = "Executes", .level = "Source"});
    static const struct pm_pif_noun plain[] = {
        {.id = MAIN, .name = "main", .level = "Base", .kind = "symbol"},
        {.id = SUM, .name = "sum", .level = "Base", .kind = "symbol"},
        {.id = LOOPCODE,
         .name = "sum/heat.c:44",
         .level = "Base",
         .kind = "loopcode",
         .parent = SUM},
        {.id = FILE_ID, .name = "heat.c", .level = "Source", .kind = "file"},
        {.id = MAIN_SOURCE,
         .name = "main",
         .level = "Source",
         .kind = "function",
         .parent = FILE_ID,
         .file = "heat.c",
         .line = 58,
         .column = 5,
         .end_line = 64},
        {.id = SUM_SOURCE, .name = "sum", .level = "Source", .kind = "function", .parent = FILE_ID},
        {.id = SQUARE, .name = "square", .level = "Source", .kind = "function", .parent = FILE_ID},
        {.id = LOOP, .name = "heat.c:44", .level = "Source", .kind = "loop", .parent = SUM_SOURCE},
        {.id = ARRAY, .name = "u", .level = "Source", .kind = "array"},
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        pm_pif_noun(pif, &plain[i]);
    add_statement(pif, FIRST, "heat.c:45:5", LOOP, 45, 5);
    add_statement(pif, SECOND, "heat.c:46:5", LOOP, 46, 5);
    add_statement(pif, GONE, "heat.c:49:3", SUM_SOURCE, 49, 3);
    add_statement(pif, SQUARED, "heat.c:10:3", SQUARE, 10, 3);
    add_statement(pif, IN_MAIN, "heat.c:60:3", MAIN_SOURCE, 60, 3);
    pm_pif_mapping(pif, &(struct pm_pif_mapping){.source = {base, 1, {LOOPCODE}},
                                                 .destination = {source, 1, {LOOP}}});
    pm_pif_mapping(pif, &(struct pm_pif_mapping){.source = {base, 1, {MAIN}},
                                                 .destination = {source, 1, {MAIN_SOURCE}}});
    return pif;
}

static void add_bytes(struct pm_buf *map, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        pm_buf_add_byte(map, (unsigned char)(value >> 8 * i));
}

static void add_numbers(struct pm_buf *map, const uint64_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pm_buf_add_uleb(map, numbers[i]);
}

static void add_range(struct pm_buf *map, uint64_t len, unsigned flags)
{
    pm_buf_add_uleb(map, len);
    pm_buf_add_uleb(map, 0);
    pm_buf_add_uleb(map, flags);
}

static void add_block(struct pm_buf *map, uint64_t address, pm_id symbol, const struct pm_buf *body)
{
    pm_buf_add(map, PM_MAP_MAGIC, 4);
    add_bytes(map, PM_MAP_VERSION, 2);
    add_bytes(map, 0, 2);
    add_bytes(map, PM_MAP_BLOCK_HEADER + body->len, 4);
    add_bytes(map, address, 8);
    add_bytes(map, symbol, 8);
    pm_buf_add(map, body->data, body->len);
}

/* Of sum: 0x20 to 0x40. */
static void add_sum(struct pm_buf *map)
{
    struct pm_buf body = PM_BUF_INIT(1 << 16);
    pm_buf_add_uleb(&body, 2);
    add_bytes(&body, SUM_SOURCE, 8);
    add_bytes(&body, SQUARE, 8);
    pm_buf_add_uleb(&body, 1);
    add_bytes(&body, FILE_ID, 8);
    pm_buf_add_uleb(&body, 1);
    add_bytes(&body, LOOP, 8);
    pm_buf_add_uleb(&body, 1);
    add_bytes(&body, ARRAY, 8);
    /* One site: square in the symbol's own function, at heat.c:46:9. */
    add_numbers(&body, (uint64_t[]){1, 0, 1, 0}, 4);
    pm_buf_add_sleb(&body, 46);
    pm_buf_add_uleb(&body, 9);
    add_range(&body, 1, PM_MAP_SLED << PM_MAP_KIND_SHIFT);                          /* 0x20 */
    add_range(&body, 3, PM_MAP_FRAME << PM_MAP_KIND_SHIFT);                         /* 0x21 */
    add_range(&body, 8, PM_MAP_PLACE | PM_MAP_LOOP | PM_MAP_OBJECTS | PM_MAP_ALSO); /* 0x24 */
    pm_buf_add_sleb(&body, 45);
    add_numbers(&body, (uint64_t[]){5, 1, 1, 0 << 3 | PM_MAP_READS | PM_MAP_WRITES}, 4);
    add_numbers(&body, (uint64_t[]){1, PM_MAP_VECTORISED << 1 | 1, 0, 0}, 4);
    pm_buf_add_sleb(&body, 1);
    pm_buf_add_uleb(&body, 5);
    add_range(&body, 4, 0);                          /* 0x2c: the same statement, no memory */
    add_range(&body, 8, PM_MAP_SITE | PM_MAP_PLACE); /* 0x30: inlined */
    pm_buf_add_uleb(&body, 1);
    pm_buf_add_sleb(&body, 10 - 45);
    pm_buf_add_uleb(&body, 3);
    add_range(&body, 8,
              PM_MAP_SITE | PM_MAP_PLACE | PM_MAP_LOOP |
                  PM_MAP_CALL << PM_MAP_KIND_SHIFT); /* 0x38 */
    pm_buf_add_uleb(&body, 0);
    pm_buf_add_sleb(&body, 46 - 10);
    add_numbers(&body, (uint64_t[]){9, 0}, 2);
    add_block(map, 0x20, SUM, &body);
    pm_buf_release(&body);
}

/* Of main, 0x10 to 0x20: its head, its only statement, the line behind it, its last line. */
static void add_main(struct pm_buf *map)
{
    static const int lines[] = {59, 60, 62, 64};
    struct pm_buf body = PM_BUF_INIT(1 << 16);
    pm_buf_add_uleb(&body, 1);
    add_bytes(&body, MAIN_SOURCE, 8);
    pm_buf_add_uleb(&body, 1);
    add_bytes(&body, FILE_ID, 8);
    add_numbers(&body, (uint64_t[]){0, 0, 0}, 3); /* no loops, objects, sites */
    for (int i = 0, before = 0; i < 4; before = lines[i++]) {
        add_range(&body, 4, PM_MAP_PLACE);
        pm_buf_add_sleb(&body, lines[i] - before);
        pm_buf_add_uleb(&body, 3);
    }
    add_block(map, 0x10, MAIN, &body);
    pm_buf_release(&body);
}

static const struct make_elf_symbol symbols[] = {{"main", 0x10, 16}, {"sum", 0x20, 32}};
static const struct pm_run_noun nouns[] = {
    {.id = MAIN, .kind = PM_SLED_ENTRY, .n_sleds = 2, .address = 0x10},
    {.id = SUM, .kind = PM_SLED_ENTRY, .n_sleds = 2, .address = 0x20},
    {.id = LOOPCODE, .kind = PM_SLED_LOOP_ENTER, .n_sleds = 2, .address = 0x24},
};

static void write_program(const char *build_id)
{
    struct pm_pif *pif = make_pif();
    struct pm_buf map = PM_BUF_INIT(1 << 16);
    add_main(&map);
    add_sum(&map);
    assert_true(make_elf_with_map("heat", build_id, pif, &map, symbols, 2));
    pm_buf_release(&map);
    pm_pif_free(pif);
}

/* --- the run --- */

enum { BIAS = 0x400000, LIBRARY = 0x700000, OWN = 0x10000 };
struct nodes {
    uint32_t root, main, sum, loop;
};

static void make_contexts(struct make_run *run, struct nodes *ret_nodes, uint64_t *ret_thread)
{
    char path[5000], here[4096];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(path, sizeof path, "%s/heat", here);
    struct pm_manifest manifest;
    struct pm_error err = PM_ERROR_INIT;
    pm_manifest_init(&manifest);
    manifest.start_tsc = 1000;
    manifest.tsc_hz = 1000000000;
    assert_true(pm_manifest_set_text(&manifest.mode, "active"));
    assert_int_equal(pm_manifest_write("x.run", &manifest, &err), PM_OK);
    pm_manifest_release(&manifest);
    make_run_init(run, 100);
    make_run_header(run)->mode = PM_RUN_MODE_ACTIVE;
    make_run_header(run)->n_sleds = 6;
    make_run_loaded(run, make_run_object(run, path, "abcd", 4, nouns, 3), BIAS, 0x1000, 0, 0);
    make_run_loaded(run, make_run_object(run, "/nowhere/libgone.so", "", 0, NULL, 0), LIBRARY,
                    0x1000, 0, 0);
    uint64_t own = make_run_object(run, "[perfmap]", "", 0, NULL, 0);
    make_run_loaded(run, own, OWN, 0x1000, 0, 0);
    ((struct pm_run_object *)make_run_at(run, own))->kind = PM_RUN_OBJECT_RUNTIME;
    *ret_thread = make_run_thread(run, 100, 1000, 3000, 16);
    uint64_t root = make_run_node(run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 1, 2000);
    uint64_t main_node = make_run_node(run, root, 0, 0, 0, 1, 0);
    uint64_t sum = make_run_node(run, main_node, 1, 0, 0, 10, 0);
    uint64_t loop = make_run_node(run, sum, 2, 0, 0, 10, 0);
    make_run_node_at(run, loop)->kind = PM_SLED_LOOP_ENTER;
    *ret_nodes = (struct nodes){(uint32_t)(root / 64), (uint32_t)(main_node / 64),
                                (uint32_t)(sum / 64), (uint32_t)(loop / 64)};
}

static struct pm_run_sample sample_at(uint64_t address, uint32_t node, uint64_t time_ns)
{
    return (struct pm_run_sample){.address = address,
                                  .node = node,
                                  .kind = PM_RUN_SAMPLE_USER,
                                  .n_samples = 1,
                                  .time_ns = time_ns};
}

static void finish_run(struct make_run *run, uint64_t thread, const struct pm_run_sample *samples,
                       size_t n)
{
    make_run_samples(run, thread, samples, n);
    make_run_sampling(run, &(struct pm_run_sampling){.source = PM_RUN_SAMPLES_PERF,
                                                     .period_ns = 2000000,
                                                     .has_switches = 1,
                                                     .n_samples = n,
                                                     .n_lost = 3});
    make_run_end(run, 3000);
    assert_true(make_run_write(run, "x.run/100.0.pmr"));
    make_run_release(run);
}

static void collect_it(const struct pm_collect_options *options,
                       struct pm_collect_result *ret_result)
{
    const char *dirs[] = {"x.run"};
    struct pm_error err = PM_ERROR_INIT;
    if (pm_collect(dirs, options && options->n_costs_paths ? 0 : 1, "x.perfmap", options, &err,
                   ret_result) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
}

/* --- what the archive says --- */

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

/* Paths of contexts with a metric: names, those of further nouns behind "<", flags, value. */
static const char *costs_of(const char *metric)
{
    static char sql[2000];
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE named(id, name) AS (SELECT s.id, n.name || coalesce((SELECT '<' || "
             "x.name FROM "
             "sentence_nouns sn JOIN named_nouns x ON x.id = sn.noun WHERE sn.sentence = s.id), "
             "'') FROM "
             "sentences s "
             "JOIN named_nouns n ON n.id = s.noun), path(id, name, flags) AS (SELECT c.id, d.name, "
             "c.flags FROM contexts "
             "c JOIN named d ON d.id = c.sentence WHERE c.parent IS NULL UNION ALL SELECT c.id, "
             "p.name || ' > ' || "
             "d.name, c.flags FROM path p JOIN contexts c ON c.parent = p.id JOIN named d ON d.id "
             "= c.sentence) "
             "SELECT p.name, p.flags, k.value FROM path p JOIN costs k ON k.context = p.id JOIN "
             "metrics m ON m.id "
             "= k.metric WHERE m.name = '%s' ORDER BY 1, 2",
             metric);
    return ask(sql);
}

static const char *destinations_of(const char *noun)
{
    static char sql[1000];
    snprintf(sql, sizeof sql,
             "SELECT v.name, d.name, m.origin, coalesce(m.reason, '-') FROM mappings m JOIN "
             "sentences s ON s.id = "
             "m.source JOIN named_nouns n ON n.id = s.noun JOIN sentences t ON t.id = "
             "m.destination JOIN "
             "verbs v ON v.id "
             "= t.verb JOIN named_nouns d ON d.id = t.noun WHERE n.name = '%s' ORDER BY 1, 2",
             noun);
    return ask(sql);
}

static void check_archive(void)
{
    assert_string_equal(ask("PRAGMA foreign_key_check"), "");
    assert_string_equal(ask("SELECT count(*) FROM contexts WHERE parent >= id"), "0");
}

/* --- tests --- */

/* A program and what it ran; its thread comes back. */
static uint64_t start_run(struct make_run *run, const char *build_id, struct nodes *ret_nodes)
{
    uint64_t thread;
    write_program(build_id);
    make_contexts(run, ret_nodes, &thread);
    return thread;
}

static void collect_run(struct make_run *run, uint64_t thread, const struct pm_run_sample *samples,
                        size_t n)
{
    finish_run(run, thread, samples, n);
    collect_it(NULL, NULL);
    check_archive();
}

static void samples_are_leaves_below_their_context(void **state)
{
    (void)state;
    struct make_run run;
    struct nodes at;
    uint64_t thread = start_run(&run, "abcd", &at);
    const struct pm_run_sample samples[] = {
        sample_at(BIAS + 0x25, at.loop, 1000),
        sample_at(BIAS + 0x26, at.loop, 100),
        sample_at(BIAS + 0x2c, at.loop, 20),
        sample_at(BIAS + 0x31, at.sum, 3000),
        sample_at(BIAS + 0x21, at.main, 7), /* not yet entered: its own context all the same */
        sample_at(BIAS + 0x25, at.root, 50000),
        sample_at(BIAS + 0x20, at.main,
                  8), /* before a sled: it has not run, so this is not PerfMap's */
    };
    finish_run(&run, thread, samples, 7);
    struct pm_collect_result result = {0};
    collect_it(NULL, &result);
    for (size_t i = 0; i < result.n_warnings; i++)
        fail_msg("%s", result.warnings[i]);
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(costs_of("cpu_ns"), "heat > main > sum > sum+0x1|0|15\n"
                                            "heat > main > sum > sum/heat.c:44 > sum+0x4|0|1100\n"
                                            "heat > main > sum > sum/heat.c:44 > sum+0xc|0|20\n"
                                            "heat > main > sum > sum/square > sum+0x10|0|3000\n"
                                            "heat > sum > sum+0x4|0|50000");
    assert_string_equal(costs_of("n_samples"), "heat > main > sum > sum+0x1|0|2\n"
                                               "heat > main > sum > sum/heat.c:44 > sum+0x4|0|2\n"
                                               "heat > main > sum > sum/heat.c:44 > sum+0xc|0|1\n"
                                               "heat > main > sum > sum/square > sum+0x10|0|1\n"
                                               "heat > sum > sum+0x4|0|1");
    assert_string_equal(ask("SELECT n.name, c.flags FROM contexts c JOIN sentences s ON s.id = "
                            "c.sentence JOIN named_nouns n ON n.id = s.noun WHERE c.flags"),
                        "sum/square|8\nsum|4");
    assert_string_equal(
        ask("SELECT n.name, n.kind, p.name, a.value FROM named_nouns n JOIN named_nouns p ON "
            "p.id = n.parent LEFT JOIN noun_attributes a ON a.noun = n.id AND "
            "a.key = 'address' WHERE n.kind IN ('code', 'inline') ORDER BY 1"),
        "sum+0x1|code|sum|0x21-0x24\nsum+0x10|code|sum|0x30-0x38\n"
        "sum+0x4|code|sum|0x24-0x2c\nsum+0xc|code|sum|0x2c-0x30\n"
        "sum/square|inline|sum|");
    assert_string_equal(ask("SELECT pif_state, map_state FROM binaries"), "read|read");
    assert_string_equal(ask("SELECT source, clock, period_ns, has_kernel, has_switches, n_samples, "
                            "n_lost, problem IS NULL FROM sampling"),
                        "perf|cpu|2000000|0|1|7|3|1");
    assert_string_equal(ask("SELECT mode FROM executions"), "active");
    assert_string_equal(
        ask("SELECT n.name FROM noun_attributes a JOIN named_nouns n ON n.id = a.noun "
            "WHERE a.key = 'removed'"),
        "heat.c:49:3");
}

static void code_maps_to_all_that_it_implements(void **state)
{
    (void)state;
    struct make_run run;
    struct nodes at;
    uint64_t thread = start_run(&run, "abcd", &at);
    const struct pm_run_sample samples[] = {
        sample_at(BIAS + 0x20, at.sum, 1),  sample_at(BIAS + 0x25, at.loop, 1),
        sample_at(BIAS + 0x2c, at.loop, 1), sample_at(BIAS + 0x31, at.sum, 1),
        sample_at(BIAS + 0x39, at.sum, 1),
    };
    collect_run(&run, thread, samples, 5);
    assert_string_equal(destinations_of("sum+0x1"),
                        "Executes|entry and exit of sum|compiler|-\nExecutes|sum|compiler|-");
    assert_string_equal(destinations_of("sum+0x4"),
                        "Executes|heat.c:44|compiler|-\nExecutes|heat.c:45:5|compiler|-\n"
                        "Executes|heat.c:46:5|inferred|vectorised together\n"
                        "Reads|u|compiler|-\nWrites|u|compiler|-");
    assert_string_equal(destinations_of("sum+0xc"),
                        "Executes|heat.c:44|compiler|-\nExecutes|heat.c:45:5|compiler|-\n"
                        "Reads|u|inferred|-\nWrites|u|inferred|-");
    /* The tuple before was in the loop: so is this. It touches nothing, and may be for u. */
    assert_string_equal(destinations_of("sum+0x10"),
                        "Executes|heat.c:10:3|compiler|-\nExecutes|heat.c:44|compiler|-\n"
                        "Reads|u|possible|touches none, may work for it\n"
                        "Writes|u|possible|touches none, may work for it");
    assert_string_equal(destinations_of("sum/square"), "Executes|square|compiler|-");
    assert_string_equal(destinations_of("sum+0x18"),
                        "Executes|heat.c:46:5|compiler|-\nExecutes|sum|compiler|-");
}

/* What is no statement of the facts: head and last line of a function, which enter and leave it,
 * and lines like `} catch`. */
static void code_beside_statements_has_its_place(void **state)
{
    (void)state;
    struct make_run run;
    struct nodes at;
    uint64_t thread = start_run(&run, "abcd", &at);
    const struct pm_run_sample samples[] = {
        sample_at(BIAS + 0x11, at.main, 1),
        sample_at(BIAS + 0x15, at.main, 1),
        sample_at(BIAS + 0x19, at.main, 1),
        sample_at(BIAS + 0x1d, at.main, 1),
    };
    collect_run(&run, thread, samples, 4);
    assert_string_equal(destinations_of("main+0x0"),
                        "Executes|entry and exit of main|compiler|-\nExecutes|main|compiler|-");
    assert_string_equal(destinations_of("main+0x4"),
                        "Executes|heat.c:60:3|compiler|-\nExecutes|main|compiler|-");
    assert_string_equal(destinations_of("main+0x8"),
                        "Executes|heat.c:62:3|compiler|-\nExecutes|main|compiler|-");
    assert_string_equal(destinations_of("main+0xc"),
                        "Executes|entry and exit of main|compiler|-\nExecutes|main|compiler|-");
    assert_string_equal(
        ask("SELECT n.kind, n.file, n.line, n.\"column\", p.name FROM named_nouns n "
            "JOIN named_nouns p ON p.id = n.parent WHERE n.name LIKE 'entry and%'"),
        "statement|heat.c|58|5|main");
}

static void called_code_is_where_it_was_called(void **state)
{
    (void)state;
    struct make_run run;
    struct nodes at;
    uint64_t thread = start_run(&run, "abcd", &at);
    struct pm_run_sample samples[] = {
        sample_at(LIBRARY + 0x10, at.sum, 1),
        sample_at(LIBRARY + 0x10, at.loop, 20),
        sample_at(LIBRARY + 0x20, at.root, 300),
        sample_at(BIAS + 0x39, at.sum, 4000),
        sample_at(0, at.loop, 50000),
        sample_at(OWN + 8, at.loop, 600000),
        sample_at(0x12345, at.root, 7000000),
    };
    samples[0].caller = BIAS + 0x40; /* behind the call */
    samples[3].kind = samples[4].kind = PM_RUN_SAMPLE_KERNEL;
    finish_run(&run, thread, samples, 7);
    struct pm_collect_result result = {0};
    collect_it(NULL, &result);
    assert_int_equal(result.n_warnings, 1);
    assert_non_null(strstr(result.warnings[0], "'/nowhere/libgone.so' is no longer there"));
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(
        costs_of("cpu_ns"),
        "heat > code of libgone.so|0|300\n"
        "heat > code outside of files|0|7000000\n"
        "heat > main > sum > code of libgone.so<sum+0x18|0|1\n"
        "heat > main > sum > kernel<sum+0x18|0|4000\n"
        "heat > main > sum > sum/heat.c:44 > PerfMap itself|0|600000\n"
        "heat > main > sum > sum/heat.c:44 > code of libgone.so<sum/heat.c:44|0|20\n"
        "heat > main > sum > sum/heat.c:44 > kernel<sum/heat.c:44|0|50000");
    assert_string_equal(destinations_of("code of libgone.so"),
                        "Executes|called code, line not known, in heat.c:44|run|-\n"
                        "Executes|heat.c:46:5|inferred|-\nExecutes|sum|inferred|-");
    assert_string_equal(destinations_of("kernel"),
                        "Executes|called code, line not known, in heat.c:44|run|-\n"
                        "Executes|heat.c:46:5|compiler|-\nExecutes|sum|compiler|-");
    assert_string_equal(destinations_of("PerfMap itself"), "");
}

/* Samples in PerfMap's own code say what it cost, but for work of the program beside it; less is
 * no reason to say less. The part that went into samples (of 1000 ns 700, for three interrupts
 * took 100 each) is not counted twice. */
static void check_own_code(uint64_t cpu_ns, uint64_t own_ns, uint64_t events_ns,
                           const char *overhead, const char *attribute, const char *at_most)
{
    struct make_run run;
    struct nodes at;
    uint64_t thread = start_run(&run, "abcd", &at);
    make_run_overhead(
        &run, &(struct pm_run_overhead){
                  .cpu_ns = cpu_ns, .events_ns = events_ns, .samples_ns = 1000, .sample_ns = 100});
    struct pm_run_sample samples[] = {sample_at(OWN + 8, at.loop, own_ns),
                                      sample_at(OWN + 9, at.sum, 57),
                                      sample_at(0x12345, at.root, 7000000)};
    samples[1].kind = PM_RUN_SAMPLE_KERNEL; /* its system calls */
    finish_run(&run, thread, samples, 3);
    struct pm_collect_result result = {0};
    collect_it(NULL, &result);
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(ask("SELECT events_ns, samples_ns, added_ns = events_ns + samples_ns FROM "
                            "overheads JOIN processes ON id = process"),
                        overhead);
    assert_string_equal(ask("SELECT value FROM execution_attributes WHERE key = "
                            "'events_by_samples'"),
                        attribute);
    assert_string_equal(ask("SELECT value FROM execution_attributes WHERE key = 'events_at_most'"),
                        at_most);
}

static void own_code_costs_at_least_its_samples(void **state)
{
    (void)state;
    const uint64_t much = 100000000000, little = 1000000000;
    /* 599999357 - 1.25 x 1000 + the root of 1.25 x 1000 x 1000 */
    check_own_code(much, 600000000, 1000, "599999225|1000|1", "1", "");
    check_own_code(much, 600000000, 800000000, "800000000|1000|1", "", "");
    /* The mean, where they are near each other. */
    check_own_code(much, 600000000, 500000000, "547722264|1000|1", "1", "");
    /* Three samples may be chance. */
    check_own_code(much, 6000000, 1000, "1000|1000|1", "", "");
    /* Of more than a twentieth of the CPU time only a bound is known: by samples, */
    check_own_code(little, 600000000, 800000000, "643999369|1000|1", "", "1");
    check_own_code(little, 600000000, 1000, "643999369|1000|1", "1", "1");
    /* or by the estimate, where samples are few. */
    check_own_code(little, 62000000, 60000000, "75000000|1000|1", "", "1");
}

/* The thread's clock counted 30 000 ns. */
static void check_scaled(uint64_t loop_ns, uint64_t sum_ns, uint64_t lost_ns, uint64_t rest_ns,
                         const char *costs)
{
    struct make_run run;
    struct nodes at;
    uint64_t thread = start_run(&run, "abcd", &at);
    ((struct pm_run_thread *)make_run_at(&run, thread))->cpu_ns = 30000;
    struct pm_run_sample samples[] = {
        sample_at(BIAS + 0x25, at.loop, loop_ns), sample_at(BIAS + 0x31, at.sum, sum_ns),
        sample_at(0, at.main, lost_ns), sample_at(0, at.root, rest_ns)};
    samples[2].kind = samples[3].kind = PM_RUN_SAMPLE_LOST;
    samples[3].n_samples = 0;
    collect_run(&run, thread, samples, 4);
    assert_string_equal(costs_of("cpu_ns"), costs);
}

static void samples_stand_for_the_threads_own_time(void **state)
{
    (void)state;
    /* The rest belongs to all samples. */
    check_scaled(18000, 9000, 2000, 1000,
                 "heat > main > (not located)|0|2000\n"
                 "heat > main > sum > sum/heat.c:44 > sum+0x4|0|18667\n"
                 "heat > main > sum > sum/square > sum+0x10|0|9333");
    /* More than there was: what was lost first. */
    check_scaled(18000, 9000, 9000, 0,
                 "heat > main > (not located)|0|3000\n"
                 "heat > main > sum > sum/heat.c:44 > sum+0x4|0|18000\n"
                 "heat > main > sum > sum/square > sum+0x10|0|9000");
    check_scaled(40000, 20000, 0, 0,
                 "heat > main > sum > sum/heat.c:44 > sum+0x4|0|20000\n"
                 "heat > main > sum > sum/square > sum+0x10|0|10000");
}

/* A thread of less than a sample has its time in no place, not where the runtime began: that is
 * no sample, and its time is known. */
static void what_a_brief_thread_spent_is_not_its_start(void **state)
{
    (void)state;
    struct make_run run;
    struct nodes at;
    uint64_t thread = start_run(&run, "abcd", &at);
    ((struct pm_run_thread *)make_run_at(&run, thread))->cpu_ns = 30000;
    struct pm_run_sample samples[] = {sample_at(OWN + 8, at.root, 6000),
                                      sample_at(0, at.root, 24000)};
    samples[0].n_samples = samples[1].n_samples = 0;
    samples[1].kind = PM_RUN_SAMPLE_LOST;
    collect_run(&run, thread, samples, 2);
    assert_string_equal(costs_of("cpu_ns"), "heat > (not located)|0|24000\n"
                                            "heat > PerfMap itself|0|6000");
}

/* PerfMap is what was preempted while it began; else it is what the bell interrupted. */
static void who_is_preempted_while_perfmap_begins(void **state)
{
    (void)state;
    struct make_run run;
    struct nodes at;
    uint64_t thread = start_run(&run, "abcd", &at);
    struct pm_run_sample samples[] = {sample_at(OWN + 8, at.root, 6000),
                                      sample_at(OWN + 8, at.root, 500)};
    samples[0].kind = samples[1].kind = PM_RUN_SAMPLE_PREEMPTED;
    samples[0].flags = PM_RUN_SAMPLE_BEGINNING;
    collect_run(&run, thread, samples, 2);
    assert_string_equal(costs_of("preempted_ns"), "heat|0|500\n"
                                                  "heat > PerfMap itself|0|6000");
}

static void lost_and_waiting_time_is_the_contexts_own(void **state)
{
    (void)state;
    struct make_run run;
    struct nodes at;
    uint64_t thread = start_run(&run, "abcd", &at);
    struct pm_run_sample samples[] = {sample_at(0, at.loop, 10), sample_at(0, at.sum, 200),
                                      sample_at(0, 0, 3000)};
    samples[0].kind = samples[2].kind = PM_RUN_SAMPLE_LOST;
    samples[1].kind = PM_RUN_SAMPLE_OFF_CPU;
    make_run_adapted(
        &run,
        (struct pm_run_adapted[]){{.noun = 1, .disarmed_tsc = 1500, .armed_tsc = 0, .n_events = 9}},
        1);
    collect_run(&run, thread, samples, 3);
    assert_string_equal(costs_of("cpu_ns"),
                        "heat > (not located)|0|3000\n"
                        "heat > main > sum > sum/heat.c:44 > (not located)|0|10");
    assert_string_equal(costs_of("off_cpu_ns"), "heat > main > sum|0|200");
    assert_string_equal(costs_of("n_samples"), "");
    assert_string_equal(ask("SELECT n.name, d.at_ns, d.until_ns IS NULL, d.n_events FROM disarmed "
                            "d JOIN named_nouns n ON n.id = d.noun"),
                        "sum|500|1|9");
}

/* Nothing is known of its code any more but in which context it was; code of other files was
 * still called from there. */
static void code_that_was_built_again_is_its_contexts_own(void **state)
{
    (void)state;
    struct make_run run;
    struct nodes at;
    uint64_t thread = start_run(&run, "efgh", &at);
    const struct pm_run_sample samples[] = {
        sample_at(BIAS + 0x25, at.loop, 1),
        sample_at(BIAS + 0x31, at.sum, 20),
        sample_at(LIBRARY + 0x10, at.loop, 300),
        sample_at(BIAS + 0x10, at.root, 4000),
    };
    collect_run(&run, thread, samples, 4);
    assert_string_equal(costs_of("cpu_ns"),
                        "heat > 0x10 in heat > 0x20 in heat|0|20\n"
                        "heat > 0x10 in heat > 0x20 in heat > 0x24 in heat|0|1\n"
                        "heat > 0x10 in heat > 0x20 in heat > 0x24 in heat > code of "
                        "libgone.so<0x24 in heat|0|300\n"
                        "heat > code of heat|0|4000");
}

/* Whatever the samples are, their time is there: the program is rebuilt, gone, or all is well. */
static void all_time_of_samples_is_in_the_archive(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct make_run run;
        struct nodes at;
        uint64_t thread, total = 0, random = 88172645463325252u;
        struct pm_run_sample samples[400];
        if (round == 2)
            assert_int_equal(unlink("heat"), 0);
        else
            write_program(round ? "ABCD" : "abcd");
        make_contexts(&run, &at, &thread);
        const uint32_t contexts[] = {at.root, at.main, at.sum, at.loop, 0};
        const uint64_t places[] = {BIAS, LIBRARY, OWN, 0};
        for (size_t i = 0; i < 400; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            samples[i] = sample_at(places[random % 4] + (random >> 8) % 0x50,
                                   contexts[(random >> 16) % 5], (random >> 24) % 100000);
            samples[i].kind = (uint8_t)(1 + (random >> 48) % 4);
            samples[i].caller = (random >> 52) % 2 ? BIAS + (random >> 53) % 0x50 : 0;
            if (samples[i].kind != PM_RUN_SAMPLE_OFF_CPU)
                total += samples[i].time_ns;
        }
        finish_run(&run, thread, samples, 400);
        collect_it(NULL, NULL);
        check_archive();
        char expected[64];
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)total);
        assert_string_equal(ask("SELECT sum(value) FROM costs WHERE metric = 3"), expected);
        assert_string_equal(
            ask("SELECT pif_state, map_state FROM binaries WHERE path LIKE '%/heat'"),
            round == 0   ? "read|read"
            : round == 1 ? "changed|changed"
                         : "missing|missing");
        if (round)
            assert_string_equal(ask("SELECT count(*) FROM named_nouns WHERE name = 'code of heat'"),
                                "1");
    }
}

static void costs_of_sentences_need_no_run(void **state)
{
    (void)state;
    static const char pif[] = "NOUN\n  name = line1160\n  abstraction = CM Fortran\n"
                              "NOUN\n  name = cmpe_corr_6_\n  abstraction = Base\n"
                              "VERB\n  name = Executes\n  abstraction = CM Fortran\n"
                              "VERB\n  name = CPU Utilization\n  abstraction = Base\n"
                              "MAPPING\n  source = {cmpe_corr_6_, CPU Utilization}\n  destination "
                              "= {line1160, Executes}\n";
    static const char costs[] = "METRIC\n  name = cpu_pct\n  unit = % CPU\n"
                                "{cmpe_corr_6_, CPU Utilization} cpu_pct 12.5\n"
                                "{nobody, CPU Utilization} cpu_pct 3\n";
    const char *pifs[] = {"a.pif"}, *files[] = {"a.costs"};
    struct pm_collect_options options = {.size = sizeof options,
                                         .pif_paths = pifs,
                                         .n_pif_paths = 1,
                                         .costs_paths = files,
                                         .n_costs_paths = 1};
    struct pm_collect_result result = {0};
    struct pm_error err = PM_ERROR_INIT;
    assert_int_equal(pm_file_write("a.pif", pif, sizeof pif - 1, &err), PM_OK);
    assert_int_equal(pm_file_write("a.costs", costs, sizeof costs - 1, &err), PM_OK);
    collect_it(&options, &result);
    assert_int_equal(result.n_warnings, 1);
    assert_non_null(
        strstr(result.warnings[0], "1 nouns are declared nowhere, the first is 'nobody'"));
    pm_collect_result_release(&result);
    check_archive();
    assert_string_equal(costs_of("cpu_pct"), "a.costs > cmpe_corr_6_|0|125\na.costs > nobody|0|30");
    assert_string_equal(ask("SELECT name, unit, kind, aggregation FROM metrics"),
                        "cpu_pct|0.1 % CPU|count|sum");
    assert_string_equal(destinations_of("cmpe_corr_6_"), "Executes|line1160|user|-");
    assert_string_equal(ask("SELECT name, mode FROM executions"), "a.costs|costs");
}

static void costs_of_code_go_where_samples_would(void **state)
{
    (void)state;
    char costs[6000], here[4096];
    const char *files[] = {"cg.out"};
    struct pm_collect_options options = {
        .size = sizeof options, .costs_paths = files, .n_costs_paths = 1};
    struct pm_error err = PM_ERROR_INIT;
    write_program("abcd");
    assert_non_null(getcwd(here, sizeof here));
    int n = snprintf(
        costs, sizeof costs,
        "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npositions: instr line\n"
        "events: Ir D1mr\n\nob=%s/heat\nfl=heat.c\nfn=sum\n0x24 45 100 3\n0x28 45 20\n0x31 10 5\n",
        here);
    assert_int_equal(pm_file_write("cg.out", costs, (size_t)n, &err), PM_OK);
    collect_it(&options, NULL);
    check_archive();
    assert_string_equal(costs_of("instructions"), "cg.out > sum > sum+0x4|0|120\n"
                                                  "cg.out > sum > sum/square > sum+0x10|0|5");
    assert_string_equal(costs_of("d1mr"), "cg.out > sum > sum+0x4|0|3");
}

/* Each allocation fails once: no crash, no leak, no archive. */
static void failing_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    struct make_run run;
    struct nodes at;
    uint64_t thread = start_run(&run, "abcd", &at);
    struct pm_run_sample samples[] = {
        sample_at(BIAS + 0x25, at.loop, 10), sample_at(BIAS + 0x31, at.root, 10),
        sample_at(LIBRARY + 3, at.sum, 10), sample_at(OWN, at.loop, 10), sample_at(0, at.loop, 5)};
    samples[2].caller = BIAS + 0x3a;
    finish_run(&run, thread, samples, 5);
    const char *dirs[] = {"x.run"};
    long n = 1;
    for (bool done = false; !done; n++) {
        struct pm_error err = PM_ERROR_INIT;
        pm_alloc_fail_at(n);
        enum pm_status status = pm_collect(dirs, 1, "y.perfmap", NULL, &err, NULL);
        done = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_true(status == PM_OK || status == PM_ERR_MEMORY);
        assert_int_equal(access("y.perfmap", F_OK), status == PM_OK ? 0 : -1);
        unlink("y.perfmap");
        pm_error_release(&err);
        assert_true(n < 5000);
    }
    assert_true(n > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(samples_are_leaves_below_their_context),
        IN_FOLDER(code_maps_to_all_that_it_implements),
        IN_FOLDER(code_beside_statements_has_its_place),
        IN_FOLDER(called_code_is_where_it_was_called),
        IN_FOLDER(own_code_costs_at_least_its_samples),
        IN_FOLDER(samples_stand_for_the_threads_own_time),
        IN_FOLDER(what_a_brief_thread_spent_is_not_its_start),
        IN_FOLDER(who_is_preempted_while_perfmap_begins),
        IN_FOLDER(lost_and_waiting_time_is_the_contexts_own),
        IN_FOLDER(code_that_was_built_again_is_its_contexts_own),
        IN_FOLDER(all_time_of_samples_is_in_the_archive),
        IN_FOLDER(costs_of_sentences_need_no_run),
        IN_FOLDER(costs_of_code_go_where_samples_would),
        IN_FOLDER(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
