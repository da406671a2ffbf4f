/* Contexts that were done on behalf of others: of the same process, of another one, of one that
 * is not there, and in damaged files. */
#include "mapping/archive/archive.h"
#include "mapping/collect/collect.h"
#include "mapping/archive/load.h"
#include "../run/make_run.h"
#include "format/pm_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "in_folder.h"

enum { N_CODE = 3, FIRST_CAUSE = N_CODE };

/* Nouns 0 to 2 are code, from 3 on causes, of which there are as many as words. */
static void begin_run(struct make_run *run, uint32_t pid, uint32_t n_causes)
{
    static const struct pm_run_noun code[N_CODE] = {{.id = 11, .kind = PM_SLED_ENTRY},
                                                    {.id = 12, .kind = PM_SLED_ENTRY},
                                                    {.id = 13, .kind = PM_SLED_ENTRY}};
    struct pm_run_noun causes[8] = {0};
    make_run_init(run, pid);
    make_run_object(run, "/bin/heat", "", 0, code, N_CODE);
    for (uint32_t i = 0; i < n_causes; i++)
        causes[i] = (struct pm_run_noun){.id = i + 1, .kind = PM_RUN_CAUSE_ENTER};
    uint64_t object = make_run_object(run, "[words]", "", 0, causes, n_causes);
    ((struct pm_run_object *)make_run_at(run, object))->kind = PM_RUN_OBJECT_WORDS;
}

static void add_causes(struct make_run *run, const struct pm_run_word *causes, uint32_t n,
                       const char *text)
{
    uint64_t at = make_run_chunk(run, PM_RUN_CHUNK_WORDS, PM_RUN_PAGE, 0) + PM_RUN_WORDS_DATA;
    for (uint32_t i = 0; i < n; i++) {
        struct pm_run_word word = causes[i];
        word.kind = PM_WORD_CAUSE;
        word.n_text_bytes = (uint32_t)strlen(text) + 1;
        word.bytes = (uint32_t)(sizeof word + word.n_text_bytes + 7) / 8 * 8;
        memcpy(make_run_at(run, at), &word, sizeof word);
        memcpy(make_run_at(run, at + sizeof word), text, word.n_text_bytes);
        at += word.bytes;
    }
}

static uint64_t identity(uint32_t pid)
{
    return pm_run_identity(pid, 1000, 1700000000000000000);
}

static uint64_t node(struct make_run *run, uint64_t parent, uint32_t noun)
{
    return make_run_node(run, parent, noun, 0, 1000, 1, 0);
}

static uint64_t root(struct make_run *run)
{
    make_run_thread(run, 100, 1000, 2000, 16);
    return make_run_node(run, 0, PM_RUN_NOUN_ROOT, 0, 1000, 0, 1000);
}

static void finish(struct make_run *run, const char *path)
{
    make_run_end(run, 3000);
    assert_true(make_run_write(run, path));
    make_run_release(run);
}

static struct pm_collect_result collect(void)
{
    const char *dirs[] = {"x.run"};
    struct pm_error err = PM_ERROR_INIT;
    struct pm_collect_result result = {0};
    if (pm_collect(dirs, 1, "x.perfmap", NULL, &err, &result) != PM_OK)
        fail_msg("%s", pm_error_text(&err));
    struct pm_archive_data *data = NULL; /* what is written can be read, with causes and without */
    for (unsigned flags = 0; flags <= PM_ARCHIVE_LOAD_CAUSES; flags += PM_ARCHIVE_LOAD_CAUSES) {
        if (pm_archive_load("x.perfmap", flags, &err, &data) != PM_OK)
            fail_msg("%s", pm_error_text(&err));
        pm_archive_data_free(data);
    }
    return result;
}

static bool warns(struct pm_collect_result *result, const char *text)
{
    bool found = false;
    for (size_t i = 0; i < result->n_warnings; i++)
        found |= strstr(result->warnings[i], text) != NULL;
    pm_collect_result_release(result);
    return found;
}

static int64_t number(const char *sql)
{
    struct pm_archive *archive;
    sqlite3_stmt *query;
    bool has_row;
    assert_int_equal(pm_archive_open("x.perfmap", NULL, &archive), PM_OK);
    assert_int_equal(pm_archive_prepare(archive, sql, NULL, &query), PM_OK);
    assert_int_equal(pm_archive_step(archive, query, NULL, &has_row), PM_OK);
    int64_t got = has_row ? sqlite3_column_int64(query, 0) : -1;
    sqlite3_finalize(query);
    pm_archive_close(archive);
    return got;
}

/* Process 100: f. Process 200: g, on behalf of that. */
static void write_two(const char *first, const char *second)
{
    struct make_run run;
    begin_run(&run, 100, 0);
    uint64_t f = node(&run, root(&run), 0);
    if (first)
        finish(&run, first);
    else
        make_run_release(&run);
    begin_run(&run, 200, 1);
    uint64_t cause = node(&run, root(&run), FIRST_CAUSE);
    node(&run, cause, 1);
    add_causes(&run, &(struct pm_run_word){.address = identity(100), .a = (uint32_t)(f / 64)}, 1,
               "!SQL:Executes:SELECT%201@query!App:Serves:a:b@request");
    finish(&run, second);
}

static void a_cause_of_another_process_is_its_context(void **state)
{
    (void)state;
    write_two("x.run/100.0.pmr", "x.run/200.0.pmr");
    struct pm_collect_result result = collect();
    assert_false(warns(&result, "not here"));
    assert_int_equal(number("SELECT count(*) FROM causes"), 1);
    assert_int_equal(number("SELECT n.pif_id FROM causes k JOIN contexts c ON c.id = k.cause JOIN "
                            "sentences s ON s.id = c.sentence JOIN named_nouns n ON n.id = s.noun"),
                     11);
    assert_int_equal(
        number("SELECT n.pif_id FROM causes k JOIN contexts c ON c.parent = k.context "
               "JOIN sentences s ON s.id = c.sentence JOIN named_nouns n ON n.id = s.noun"),
        12);
    assert_int_equal(number("SELECT sum(value) FROM costs WHERE metric = 1"), 2);
    assert_int_equal(number("SELECT flags FROM contexts c JOIN causes k ON k.context = c.id"), 64);
}

static void of_a_process_that_is_not_here_the_text_is_known(void **state)
{
    (void)state;
    write_two(NULL, "x.run/200.0.pmr");
    struct pm_collect_result result = collect();
    assert_true(warns(&result, "1 contexts of processes of another run"));
    assert_int_equal(number("SELECT count(*) FROM causes"), 1);
    assert_int_equal(number("SELECT count(*) FROM contexts WHERE flags = 128"), 3);
    assert_int_equal(
        number("SELECT count(*) FROM contexts c JOIN causes k ON k.cause = c.id JOIN sentences s "
               "ON s.id = c.sentence JOIN verbs v ON v.id = s.verb WHERE v.name = 'Serves'"),
        1);
    assert_int_equal(
        number("SELECT count(*) FROM named_nouns WHERE name = 'SELECT 1' AND kind = 'query'"), 1);
    assert_int_equal(number("SELECT count(*) FROM named_nouns WHERE name = 'a' AND kind IS NULL"),
                     1);
}

static void a_cause_that_is_no_context_is_left_out(void **state)
{
    (void)state;
    struct make_run run;
    begin_run(&run, 100, 1);
    uint64_t f = node(&run, root(&run), 0);
    node(&run, node(&run, f, FIRST_CAUSE), 1);
    add_causes(&run, &(struct pm_run_word){.address = identity(100), .a = 3}, 1, "");
    finish(&run, "x.run/100.0.pmr");
    struct pm_collect_result result = collect();
    assert_true(warns(&result, "from 1 contexts that the run files lack"));
    assert_int_equal(number("SELECT count(*) FROM causes"), 0);
    assert_int_equal(number("SELECT sum(value) FROM costs WHERE metric = 1"), 2);
}

static void contexts_on_behalf_of_themselves_lose_a_cause(void **state)
{
    (void)state;
    struct make_run run;
    begin_run(&run, 100, 3);
    uint64_t f = node(&run, root(&run), 0);
    uint64_t in_1 = node(&run, node(&run, f, FIRST_CAUSE), 1);
    uint64_t in_2 = node(&run, node(&run, f, FIRST_CAUSE + 1), 2);
    uint64_t in_3 = node(&run, node(&run, in_1, FIRST_CAUSE + 2), 2);
    struct pm_run_word causes[] = {{.address = identity(100), .a = (uint32_t)(in_2 / 64)},
                                   {.address = identity(100), .a = (uint32_t)(in_3 / 64)},
                                   {.address = identity(100), .a = (uint32_t)(f / 64)}};
    add_causes(&run, causes, 3, "");
    finish(&run, "x.run/100.0.pmr");
    struct pm_collect_result result = collect();
    assert_true(warns(&result, "1 contexts are done on behalf of themselves"));
    assert_int_equal(number("SELECT count(*) FROM causes"), 2);
}

/* Threads with equal calls for equal reasons are one path. */
static void equal_causes_are_one_context(void **state)
{
    (void)state;
    struct make_run run;
    begin_run(&run, 100, 2);
    uint64_t f = node(&run, root(&run), 0);
    for (int i = 0; i < 3; i++)
        node(&run, node(&run, root(&run), FIRST_CAUSE), 1);
    node(&run, node(&run, root(&run), FIRST_CAUSE + 1), 1);
    struct pm_run_word causes[] = {{.address = identity(100), .a = (uint32_t)(f / 64)},
                                   {.address = identity(100), .a = (uint32_t)(f / 64), .b = 1}};
    add_causes(&run, causes, 2, "");
    finish(&run, "x.run/100.0.pmr");
    struct pm_collect_result result = collect();
    assert_false(warns(&result, "work"));
    assert_int_equal(number("SELECT count(*) FROM causes"), 2);
    assert_int_equal(number("SELECT count(*) FROM contexts WHERE flags = 64 + 256"), 1);
    assert_int_equal(number("SELECT count(*) FROM contexts"), 1 + 1 + 2 + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_cause_of_another_process_is_its_context),
        IN_FOLDER(of_a_process_that_is_not_here_the_text_is_known),
        IN_FOLDER(a_cause_that_is_no_context_is_left_out),
        IN_FOLDER(contexts_on_behalf_of_themselves_lose_a_cause),
        IN_FOLDER(equal_causes_are_one_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
