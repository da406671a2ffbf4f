/* Many views of one archive that was loaded once: each is what it would be alone, and the
 * archive stays as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapping/view/question.h"
#include "tests/graph/archives.h"

#include <pthread.h>
#include <unistd.h>

enum { MAX_ROWS = 64, N_TURNS = 20 };

static const struct pm_view_options kinds[] = {
    {.level = "source", .by = PM_VIEW_BY_LOOP, .sort = PM_VIEW_SORT_DEFAULT},
    {.level = "source", .by = PM_VIEW_BY_FUNCTION, .sort = PM_VIEW_SORT_DEFAULT},
    {.level = "source", .by = PM_VIEW_BY_FUNCTION, .tree = true, .sort = PM_VIEW_SORT_DEFAULT},
    {.level = "source",
     .by = PM_VIEW_BY_STATEMENT,
     .rule = PM_RULE_SPLIT,
     .sort = PM_VIEW_SORT_DEFAULT},
    {.level = "source", .by = PM_VIEW_BY_ARRAY, .bounds = true, .sort = PM_VIEW_SORT_DEFAULT},
    {.level = "source",
     .by = PM_VIEW_BY_LOOP,
     .no_compensation = true,
     .sort = PM_VIEW_SORT_DEFAULT},
    {.level = "base", .by = PM_VIEW_BY_FUNCTION, .sort = PM_VIEW_SORT_DEFAULT},
    {.level = "source", .by = PM_VIEW_BY_THREAD, .sort = PM_VIEW_SORT_DEFAULT},
    {.level = "source", .by = PM_VIEW_BY_LOOP, .folds = true, .sort = PM_VIEW_SORT_DEFAULT},
    {.level = "source",
     .by = PM_VIEW_BY_LOOP,
     .parts = PM_RUNNER_PROCESS,
     .on = {"process:heat"},
     .sort = PM_VIEW_SORT_DEFAULT},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds, KIND_BY_THREAD = 7 };

/* What is compared of a view. */
struct seen {
    uint32_t n_rows;
    int64_t own[MAX_ROWS], inclusive[MAX_ROWS], n_calls[MAX_ROWS], taken_out_ns;
};

/* n_rows 0: there is no such view. Asserts nothing, for cmocka ends a program whose second thread
 * does. */
static struct seen look_at(const struct pm_archive_data *archive, unsigned kind)
{
    struct pm_view view = {.options = kinds[kind], .archive = archive};
    struct pm_error err = PM_ERROR_INIT;
    struct seen seen = {0};
    if (pm_view_make(&view, &err) != PM_OK || view.n_rows > MAX_ROWS) {
        fprintf(stderr, "view %u: %u rows, %s\n", kind, view.n_rows, pm_error_text(&err));
        pm_error_release(&err);
        pm_view_release(&view);
        return seen;
    }
    seen.n_rows = view.n_rows;
    seen.taken_out_ns = view.taken_out_ns;
    for (uint32_t r = 0; r < view.n_rows; r++) {
        seen.own[r] = view.rows[r].values[view.primary].own.value;
        seen.inclusive[r] = view.rows[r].values[view.primary].inclusive;
        seen.n_calls[r] = view.rows[r].n_calls;
    }
    pm_view_release(&view);
    return seen;
}

static struct pm_archive_data *load(const char *name)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_archive_data *data = NULL;
    unsigned flags = 0;
    for (unsigned k = 0; k < N_KINDS; k++)
        flags |= pm_view_load_flags(&kinds[k]);
    assert_int_equal(pm_archive_load(name, flags, &err, &data), PM_OK);
    return data;
}

static int begin(void **state)
{
    (void)state;
    return !make_archive(PM_TEST_ARCHIVES "/heat.sql",
                         "INSERT INTO probe_costs VALUES (1, 2000000, 1200000);"
                         "UPDATE processes SET added_ns = 600812000;",
                         "heat.perfmap");
}

static void a_view_leaves_the_archive_as_it_was(void **state)
{
    (void)state;
    struct pm_archive_data *archive = load("heat.perfmap"), *untouched = load("heat.perfmap");
    const struct pm_graph *a = archive->graph, *b = untouched->graph;
    int64_t taken_out_ns = 0;
    for (unsigned k = 0; k < N_KINDS; k++)
        taken_out_ns += look_at(archive, k).taken_out_ns;
    assert_true(taken_out_ns > 0); /* or there was nothing to change */
    assert_int_equal(a->n_costs, b->n_costs);
    assert_int_equal(a->n_contexts, b->n_contexts);
    for (uint32_t i = 0; i < a->n_costs; i++) {
        assert_int_equal(a->costs[i].value, b->costs[i].value);
        assert_int_equal(a->costs[i].context, b->costs[i].context);
    }
    for (uint32_t c = 0; c < a->n_contexts; c++)
        assert_int_equal(a->contexts[c].sentence, b->contexts[c].sentence);
    pm_archive_data_free(archive);
    pm_archive_data_free(untouched);
}

struct looker {
    const struct pm_archive_data *archive;
    unsigned first;
    const struct seen *alone;
    unsigned n_different;
};

/* By thread, costs are read from the file again. */
static void *look_by_thread(void *argument)
{
    struct looker *l = argument;
    for (unsigned turn = 0; turn < 10 * N_TURNS; turn++) {
        struct seen now = look_at(l->archive, KIND_BY_THREAD);
        l->n_different += memcmp(&now, &l->alone[KIND_BY_THREAD], sizeof now) != 0;
    }
    return NULL;
}

static void *look_again_and_again(void *argument)
{
    struct looker *l = argument;
    for (unsigned turn = 0; turn < N_TURNS * N_KINDS; turn++) {
        unsigned kind = (l->first + turn) % N_KINDS;
        struct seen now = look_at(l->archive, kind);
        l->n_different += memcmp(&now, &l->alone[kind], sizeof now) != 0;
    }
    return NULL;
}

static void in_two_threads(void *(*look)(void *))
{
    struct seen alone[N_KINDS];
    for (unsigned k = 0; k < N_KINDS; k++) {
        struct pm_archive_data *own = load("heat.perfmap");
        alone[k] = look_at(own, k);
        assert_true(alone[k].n_rows > 0);
        pm_archive_data_free(own);
    }
    struct pm_archive_data *archive = load("heat.perfmap");
    struct looker lookers[2] = {{archive, 0, alone, 0}, {archive, N_KINDS / 2, alone, 0}};
    pthread_t threads[2];
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look, &lookers[i]), 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(lookers[0].n_different + lookers[1].n_different, 0);
    pm_archive_data_free(archive);
}

static void two_threads_make_views_of_one_archive(void **state)
{
    (void)state;
    in_two_threads(look_again_and_again);
}

static void two_threads_read_costs_of_one_archive(void **state)
{
    (void)state;
    assert_int_equal(kinds[KIND_BY_THREAD].by, PM_VIEW_BY_THREAD);
    in_two_threads(look_by_thread);
}

/* Of questions to the archive as a whole; the view's graph has less. By the linker (--wrap). */
static const struct pm_graph *whole_graph;
static unsigned n_matches;

enum pm_status __real_pm_question_match(const struct pm_question_sentence *sentence,
                                        const struct pm_graph *graph, struct pm_error *err,
                                        struct pm_question_matches *ret_matches);
enum pm_status __wrap_pm_question_match(const struct pm_question_sentence *sentence,
                                        const struct pm_graph *graph, struct pm_error *err,
                                        struct pm_question_matches *ret_matches);

enum pm_status __wrap_pm_question_match(const struct pm_question_sentence *sentence,
                                        const struct pm_graph *graph, struct pm_error *err,
                                        struct pm_question_matches *ret_matches)
{
    n_matches += graph == whole_graph;
    return __real_pm_question_match(sentence, graph, err, ret_matches);
}

/* The file is gone when the question is asked: what was loaded is all that there is. Its sentences
 * are matched once, whoever asks what fits. */
static void a_question_that_fits_nothing_loads_and_matches_all_once(void **state)
{
    static const struct {
        const char *text;
        enum pm_status status;
        unsigned n_matches;
    } questions[] = {{"{sweep Executes}", PM_OK, 0},
                     {"{never Executes}", PM_OK, 1},
                     {"{never Executes}, {sweep Executes}", PM_OK, 2},
                     {"{nowhere Executes}", PM_ERR_NOT_FOUND, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct pm_error err = PM_ERROR_INIT;
        struct pm_view view = {.options = {.archive_path = "once.perfmap", .level = "source"}};
        struct pm_question *question = NULL;
        struct pm_answer *answer = NULL;
        assert_true(make_archive(PM_TEST_ARCHIVES "/heat.sql",
                                 "INSERT INTO nouns(id, pif_id, level, name, kind) VALUES (90, 90, "
                                 "2, 'never', 'function'); INSERT INTO sentences VALUES (90, 2, "
                                 "90);",
                                 "once.perfmap"));
        assert_int_equal(pm_question_parse(questions[i].text, &err, &question), PM_OK);
        unsigned flags = PM_ARCHIVE_LOAD_CAUSES | PM_ARCHIVE_LOAD_MERGED | PM_ARCHIVE_LOAD_KEPT;
        assert_int_equal(pm_archive_load("once.perfmap", flags, &err, &view.loaded), PM_OK);
        view.archive = view.loaded;
        assert_int_equal(unlink("once.perfmap"), 0);
        whole_graph = view.archive->graph;
        n_matches = 0;
        assert_int_equal(pm_ask_answer(&view, question, false, &err, &answer), questions[i].status);
        assert_int_equal(n_matches, questions[i].n_matches);
        if (i == 1 || i == 2)
            assert_non_null(strstr(answer->notes[0].text, "and this run has none"));
        if (i == 3)
            assert_non_null(strstr(pm_error_text(&err), "no noun fits 'nowhere'"));
        pm_error_release(&err);
        pm_answer_free(answer);
        pm_question_free(question);
        pm_view_release(&view);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_leaves_the_archive_as_it_was),
        cmocka_unit_test(two_threads_make_views_of_one_archive),
        cmocka_unit_test(two_threads_read_costs_of_one_archive),
        cmocka_unit_test(a_question_that_fits_nothing_loads_and_matches_all_once),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
