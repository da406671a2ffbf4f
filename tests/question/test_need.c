/* What has to be followed for a question: by small programs of which the graph knows facts only. */
#include "mapping/question/question.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

/* A function of the source with code, and a loop in it. */
struct function {
    pm_index source, symbol, loop, loopcode;
};

struct program {
    struct pm_graph *graph;
    pm_index base, source, executes, base_executes, reads;
    struct function outer, inner;
    pm_index array;
};

static pm_index noun(struct program *p, const char *name, const char *kind, pm_index level,
                     pm_index parent)
{
    return pm_graph_noun(
        p->graph,
        &(struct pm_graph_noun){.name = name, .kind = kind, .level = level, .parent = parent});
}

static void map(struct program *p, pm_index code, pm_index source)
{
    pm_index from = pm_graph_sentence(p->graph, p->base_executes, &code, 1);
    pm_index to = pm_graph_sentence(p->graph, p->executes, &source, 1);
    pm_graph_mapping(p->graph, from, to, 0, "compiler");
}

static struct function add_function(struct program *p, const char *name, const char *loop)
{
    struct function f = {.source = noun(p, name, "function", p->source, PM_NONE),
                         .symbol = noun(p, name, "symbol", p->base, PM_NONE)};
    f.loop = noun(p, loop, "loop", p->source, f.source);
    f.loopcode = noun(p, loop, "loopcode", p->base, f.symbol);
    map(p, f.symbol, f.source);
    map(p, f.loopcode, f.loop);
    return f;
}

static void make_program(struct program *p)
{
    *p = (struct program){.graph = pm_graph_new()};
    p->base = pm_graph_level(p->graph, "Base");
    p->source = pm_graph_level(p->graph, "Source");
    p->graph->levels[p->base].above = p->source;
    p->base_executes = pm_graph_verb(p->graph, "Executes", p->base);
    p->executes = pm_graph_verb(p->graph, "Executes", p->source);
    p->reads = pm_graph_verb(p->graph, "Reads", p->source);
    p->outer = add_function(p, "outer", "a.c:3");
    p->inner = add_function(p, "inner", "a.c:9");
    p->array = noun(p, "u", "array", p->source, PM_NONE);
    pm_graph_sentence(p->graph, p->reads, &p->array, 1);
    assert_true(pm_graph_seal(p->graph));
}

/* What is followed, by letters: o, i the functions, O, I their loops; s samples. */
static void assert_need_with(const struct program *p, const bool *has_probes, const char *text,
                             const char *expected)
{
    struct pm_question *question = NULL;
    struct pm_question_need need;
    char found[8];
    size_t n = 0;
    assert_int_equal(pm_question_parse(text, NULL, &question), PM_OK);
    assert_int_equal(pm_question_find_need(question, p->graph, has_probes, NULL, &need), PM_OK);
    const struct {
        pm_index noun;
        char letter;
    } code[] = {{p->outer.symbol, 'o'},
                {p->outer.loopcode, 'O'},
                {p->inner.symbol, 'i'},
                {p->inner.loopcode, 'I'}};
    for (size_t i = 0; i < 4; i++)
        if (need.followed[code[i].noun])
            found[n++] = code[i].letter;
    assert_int_equal(need.n_followed, n);
    if (need.samples)
        found[n++] = 's';
    found[n] = 0;
    if (strcmp(found, expected) != 0)
        fail_msg("%s: '%s', not '%s'", text, found, expected);
    pm_question_need_release(&need);
    pm_question_free(question);
}

static void assert_need(const struct program *p, const char *text, const char *expected)
{
    assert_need_with(p, NULL, text, expected);
}

static void what_matches_is_followed_and_nothing_else(void **state)
{
    (void)state;
    struct program p;
    make_program(&p);
    assert_need(&p, "{outer Executes}", "o");
    assert_need(&p, "{loop:a.c:9 Executes}", "I");
    assert_need(&p, "{outer Executes}, {inner Executes}", "oi");
    assert_need(&p, "{outer Executes}, not {inner Executes}", "oi");
    assert_need(&p, "{outer Executes} then {inner Executes}", "oi");
    assert_need(&p, "{symbol:inner Executes}", "i");
    pm_graph_free(p.graph);
}

static void data_is_seen_by_samples(void **state)
{
    (void)state;
    struct program p;
    make_program(&p);
    assert_need(&p, "{u Reads}", "s");
    assert_need(&p, "{inner Executes} or {u Reads}", "is");
    pm_graph_free(p.graph);
}

static void what_fits_nothing_is_not_known_and_needs_nothing(void **state)
{
    (void)state;
    struct program p;
    struct pm_question *question = NULL;
    struct pm_question_need need;
    make_program(&p);
    assert_int_equal(pm_question_parse("{walk Walks}, {inner Executes}", NULL, &question), PM_OK);
    assert_int_equal(pm_question_find_need(question, p.graph, NULL, NULL, &need), PM_OK);
    assert_false(need.is_known[0]);
    assert_true(need.is_known[1]);
    assert_int_equal(need.n_followed, 1);
    pm_question_need_release(&need);
    pm_question_free(question);
    pm_graph_free(p.graph);
}

static void a_loop_is_followed_where_it_says_more_than_its_function(void **state)
{
    (void)state;
    struct program p;
    make_program(&p);
    /* each is a row of its own, and what follows the loop in its function is the function's
     * again */
    assert_need(&p, "{? Executes}", "oOiI");
    assert_need(&p, "{outer Executes} or {loop:a.c:3 Executes}", "oO");
    /* the loop is the second outer */
    assert_need(&p, "{outer Executes} then {outer Executes}", "oO");
    assert_need(&p, "{outer Executes} then {? Executes}", "oOiI");
    pm_graph_free(p.graph);
}

static void what_only_any_fits_is_not_named(void **state)
{
    (void)state;
    struct program p;
    struct pm_question *question = NULL;
    struct pm_question_need need;
    make_program(&p);
    assert_int_equal(pm_question_parse("{outer Executes} then {? Executes}", NULL, &question),
                     PM_OK);
    assert_int_equal(pm_question_find_need(question, p.graph, NULL, NULL, &need), PM_OK);
    assert_true(need.by_name[p.outer.symbol]);
    assert_false(need.by_name[p.inner.symbol]);
    pm_question_need_release(&need);
    pm_question_free(question);
    pm_graph_free(p.graph);
}

static void the_loops_of_a_function_without_sleds_speak_for_it(void **state)
{
    (void)state;
    struct program p;
    make_program(&p);
    bool *has_probes = pm_alloc_array(p.graph->n_nouns + 1u, sizeof *has_probes);
    has_probes[p.outer.loopcode] = has_probes[p.inner.symbol] = true;
    assert_need_with(&p, has_probes, "{outer Executes}", "O");
    assert_need_with(&p, has_probes, "{inner Executes}", "i"); /* its loop has no probes */
    free(has_probes);
    pm_graph_free(p.graph);
}

/* Bits of the inner function's `inside` and of the outer one's `terms`. */
static void assert_inside(const struct program *p, const char *text, unsigned inside,
                          unsigned terms)
{
    struct pm_question *question = NULL;
    struct pm_question_need need;
    assert_int_equal(pm_question_parse(text, NULL, &question), PM_OK);
    assert_int_equal(pm_question_find_need(question, p->graph, NULL, NULL, &need), PM_OK);
    if (need.inside[p->inner.symbol] != inside || need.terms[p->outer.symbol] != terms)
        fail_msg("%s: inside %u, terms %u, not %u, %u", text, need.inside[p->inner.symbol],
                 need.terms[p->outer.symbol], inside, terms);
    assert_int_equal(need.n_inside != 0, inside != 0);
    pm_question_need_release(&need);
    pm_question_free(question);
}

static void what_comes_second_is_entered_inside_the_first_only(void **state)
{
    (void)state;
    struct program p;
    make_program(&p);
    assert_inside(&p, "{outer Executes} then {inner Executes}", 1, 1);
    assert_inside(&p, "({outer Executes} or {u Reads}) then {inner Executes}", 0, 0);
    assert_inside(&p, "{outer ?} then {inner ?}, {u Reads}", 1, 1);
    assert_inside(&p, "{outer ?} then {inner ?}, not {inner ?}", 0, 1);
    assert_inside(&p, "{outer ?} then {inner ?} or {u Reads}", 0, 0);
    assert_inside(&p, "not {outer ?} then {inner ?}", 0, 0);
    assert_inside(&p, "{outer ?}, {inner ?}", 0, 0);
    assert_inside(&p, "{outer ?} then {? Executes}", 1, 1);
    assert_inside(&p, "{? Executes} then {inner ?}", 0, 1);     /* fits the first as well */
    assert_inside(&p, "{u Reads} then {inner Executes}", 0, 0); /* seen by samples */
    pm_graph_free(p.graph);
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    struct program p;
    struct pm_question *question = NULL;
    make_program(&p);
    assert_int_equal(
        pm_question_parse("({outer ?} or {? Executes}) then {inner ?}, not {u ?}", NULL, &question),
        PM_OK);
    bool done = false;
    for (long n = 1; !done; n++) {
        struct pm_question_need need = {0};
        pm_alloc_fail_at(n);
        enum pm_status status = pm_question_find_need(question, p.graph, NULL, NULL, &need);
        done = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        assert_int_equal(status, done ? PM_OK : PM_ERR_MEMORY);
        pm_question_need_release(&need);
    }
    pm_question_free(question);
    pm_graph_free(p.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_matches_is_followed_and_nothing_else),
        cmocka_unit_test(data_is_seen_by_samples),
        cmocka_unit_test(what_fits_nothing_is_not_known_and_needs_nothing),
        cmocka_unit_test(a_loop_is_followed_where_it_says_more_than_its_function),
        cmocka_unit_test(what_only_any_fits_is_not_named),
        cmocka_unit_test(the_loops_of_a_function_without_sleds_speak_for_it),
        cmocka_unit_test(what_comes_second_is_entered_inside_the_first_only),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
