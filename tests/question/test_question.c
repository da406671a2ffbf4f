/* Questions: the language, and answers against a slow, plain model. */
#include "mapping/question/question.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <strings.h>
#include <cmocka.h>

/* --- the language --- */

static void add_node(const struct pm_question *q, uint32_t node, struct pm_buf *out)
{
    static const char *const names[] = {"", "and", "or", "not", "then"};
    const struct pm_question_node *n = &q->nodes[node];
    if (n->kind == PM_QUESTION_SENTENCE) {
        pm_buf_add_str(out, q->sentences[n->left].text);
        return;
    }
    pm_buf_printf(out, "(%s ", names[n->kind]);
    add_node(q, n->left, out);
    if (n->kind != PM_QUESTION_NOT) {
        pm_buf_add_byte(out, ' ');
        add_node(q, n->right, out);
    }
    pm_buf_add_byte(out, ')');
}

static void assert_parses(const char *text, const char *expected)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_question *q = NULL;
    struct pm_buf out = PM_BUF_INIT(1 << 20);
    if (pm_question_parse(text, &err, &q) != PM_OK)
        fail_msg("%s: %s", text, pm_error_text(&err));
    add_node(q, q->n_nodes - 1, &out);
    assert_string_equal(out.data, expected);
    pm_buf_release(&out);
    pm_question_free(q);
}

static void assert_refused(const char *text, const char *expected)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_question *q = NULL;
    assert_int_not_equal(pm_question_parse(text, &err, &q), PM_OK);
    assert_null(q);
    assert_string_equal(pm_error_text(&err), expected);
    pm_error_release(&err);
}

static void words_between_sentences_bind_in_the_stated_order(void **state)
{
    (void)state;
    assert_parses("{A Sum}", "{A Sum}");
    assert_parses("{A Sum}, {? Send}", "(and {A Sum} {? Send})");
    assert_parses("{a V} or {b V} and {c V}", "(or {a V} (and {b V} {c V}))");
    assert_parses("not {a V}, {b V}", "(and (not {a V}) {b V})");
    assert_parses("{a V} then {b V} then {c V} and not not {d V}",
                  "(and (then (then {a V} {b V}) {c V}) (not (not {d V})))");
    assert_parses("({a V} OR {b V}) Then {c V}", "(then (or {a V} {b V}) {c V})");
    assert_parses("{a, b V}", "{a, b V}");
    assert_parses("{or not then V}", "{or not then V}");
    assert_parses("{\"CM Fortran\"::line1160 Executes}", "{\"CM Fortran\"::line1160 Executes}");
    assert_parses("{a V} on thread 3 on process \"my program\"", "{a V}");
    assert_parses("{a V} or {b V} during warmup", "(and (or {a V} {b V}) during warmup)");
    assert_parses("{a V} outside \"phase two\" on thread 3 During phase:?",
                  "(and (and {a V} (not outside \"phase two\")) During phase:?)");
    assert_parses("{during outside}", "{during outside}");
}

static void a_mistake_is_shown_at_its_character(void **state)
{
    (void)state;
    assert_refused("", "question column 1, at its end: expected 'not', '(' or '{', not the end");
    assert_refused("{A}", "question column 1, at '{A}': a sentence is nouns and a verb, as in {A "
                          "Sum}; ? stands for any");
    assert_refused("{A Sum",
                   "question column 7, at its end: expected a word, ',' or '}', not the end");
    assert_refused("{A Sum} {B Sum}", "question column 9, at '{B Sum}': expected the end, 'or', "
                                      "'and', ',', 'then', 'on', 'during' or 'outside', not '{'");
    assert_refused("{A Sum} then not {B V}",
                   "question column 14, at 'not {B V}': expected '(' or '{', not 'not'");
    assert_refused("({a V}, {b V}) then {c V}",
                   "question column 16, at 'then {c V}': 'then' orders sentences and choices "
                   "between them ('or'), nothing else");
    assert_refused("{A Sum} on thread",
                   "question column 18, at its end: expected a word, not the end");
    assert_refused("{A Sum} on heap 3", "question column 12, at 'heap 3': expected 'thread', "
                                        "'process', 'rank' or 'node', not a word");
    assert_refused("{A \"Sum}", "question column 4, at '\"Sum}': this quote is not closed");
    assert_refused("{A Sum}\001", "question column 8: a control byte");
}

static void a_question_has_a_largest_size(void **state)
{
    (void)state;
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    struct pm_error err = PM_ERROR_INIT;
    struct pm_question *q;
    for (int i = 0; i < 600; i++)
        pm_buf_add_str(&text, i ? " or {a V}" : "{a V}");
    assert_int_equal(pm_question_parse(text.data, &err, &q), PM_ERR_LIMIT);
    pm_error_release(&err);
    pm_buf_clear(&text);
    for (int i = 0; i < 30000; i++)
        pm_buf_add_byte(&text, '(');
    assert_int_not_equal(pm_question_parse(text.data, &err, &q), PM_OK);
    pm_error_release(&err);
    while (text.len <= PM_QUESTION_MAX_BYTES)
        pm_buf_add_byte(&text, ' ');
    assert_int_equal(pm_question_parse(text.data, &err, &q), PM_ERR_LIMIT);
    pm_error_release(&err);
    pm_buf_release(&text);
}

/* --- a small run by hand --- */

struct run {
    struct pm_graph *graph;
    pm_index source, base, time, calls, verb_sum, verb_send, verb_executes;
};

static pm_index noun(struct run *r, const char *name, const char *kind, pm_index level,
                     pm_index parent)
{
    return pm_graph_noun(r->graph, &(struct pm_graph_noun){.name = name,
                                                           .kind = kind,
                                                           .level = level,
                                                           .parent = parent,
                                                           .file = "/src/heat.c",
                                                           .line_no = 22});
}

static void run_init(struct run *r)
{
    r->graph = pm_graph_new();
    r->base = pm_graph_level(r->graph, "Base");
    r->source = pm_graph_level(r->graph, "Source");
    r->graph->levels[r->source].above = r->base;
    r->time = pm_graph_metric(
        r->graph, &(struct pm_graph_metric){.name = "wall_ns", .unit = "ns", .kind = "time"});
    r->calls = pm_graph_metric(
        r->graph, &(struct pm_graph_metric){.name = "n_calls", .unit = "calls", .kind = "count"});
    r->verb_sum = pm_graph_verb(r->graph, "Sum", r->source);
    r->verb_send = pm_graph_verb(r->graph, "Send", r->source);
    r->verb_executes = pm_graph_verb(r->graph, "Executes", r->source);
}

static pm_index sentence(struct run *r, pm_index verb, pm_index n)
{
    return pm_graph_sentence(r->graph, verb, &n, 1);
}

static pm_index context(struct run *r, pm_index parent, pm_index s, int64_t ns, int64_t n_calls)
{
    pm_index c = pm_graph_context(r->graph, parent, s, 0);
    pm_graph_cost(r->graph, &(struct pm_cost){.context = c, .metric = r->time, .value = ns});
    pm_graph_cost(r->graph, &(struct pm_cost){.context = c, .metric = r->calls, .value = n_calls});
    return c;
}

static struct pm_answer *ask(struct run *r, const char *text)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_question *q = NULL;
    struct pm_answer *answer = NULL;
    assert_int_equal(pm_question_parse(text, &err, &q), PM_OK);
    assert_int_equal(
        pm_question_ask(q, &(struct pm_question_run){.graph = r->graph, .calls_metric = r->calls},
                        &err, &answer),
        PM_OK);
    pm_question_free(q);
    return answer;
}

static void assert_ns(struct run *r, const char *text, int64_t expected)
{
    struct pm_answer *answer = ask(r, text);
    if (answer->amounts[r->time].value != expected)
        fail_msg("%s: %lld, not %lld", text, (long long)answer->amounts[r->time].value,
                 (long long)expected);
    pm_answer_free(answer);
}

/* The paper's order: sends within sums are not sums within sends. */
static void then_tells_the_two_readings_apart(void **state)
{
    (void)state;
    struct run r;
    run_init(&r);
    pm_index a = noun(&r, "A", "array", r.source, PM_NONE),
             net = noun(&r, "net", "file", r.source, PM_NONE);
    pm_index sum = sentence(&r, r.verb_sum, a), send = sentence(&r, r.verb_send, net);
    pm_index root = context(
        &r, PM_NONE, sentence(&r, r.verb_executes, noun(&r, "main", "function", r.source, PM_NONE)),
        1, 1);
    pm_index outer_sum = context(&r, root, sum, 10, 2);
    context(&r, outer_sum, send, 100, 5);
    pm_index outer_send = context(&r, root, send, 1000, 7);
    pm_index inner_sum = context(&r, outer_send, sum, 10000, 3);
    context(&r, inner_sum, send, 100000, 1);
    assert_true(pm_graph_seal(r.graph));
    assert_ns(&r, "{A Sum}, {? Send}", 100 + 10000 + 100000);
    assert_ns(&r, "{A Sum} then {? Send}", 100 + 100000);
    assert_ns(&r, "{? Send} then {A Sum}", 10000 + 100000);
    assert_ns(&r, "{? Send} then {A Sum} then {? Send}", 100000);
    assert_ns(&r, "{A Sum} or {? Send}", 111110);
    assert_ns(&r, "{main Executes}, not {A Sum}", 1 + 1000);
    assert_ns(&r, "not {main executes}", 0);
    struct pm_answer *answer = ask(&r, "{A Sum} then {? Send}");
    assert_int_equal(answer->n_rows, 1);
    assert_int_equal(answer->rows[0].n_times, 5 + 1);
    assert_int_equal(answer->totals[r.time].value, 111111);
    pm_answer_free(answer);
    pm_graph_free(r.graph);
}

/* What func handed over is done by the writer, in a thread that main made. */
static void what_is_done_for_others_is_theirs_and_deferred(void **state)
{
    (void)state;
    struct run r;
    run_init(&r);
    pm_index executes = r.verb_executes, net = noun(&r, "net", "file", r.source, PM_NONE);
    pm_index main = sentence(&r, executes, noun(&r, "main", "function", r.source, PM_NONE)),
             func = sentence(&r, executes, noun(&r, "func", "function", r.source, PM_NONE)),
             other = sentence(&r, executes, noun(&r, "other", "function", r.source, PM_NONE)),
             writer = sentence(&r, executes, noun(&r, "writer", "function", r.source, PM_NONE)),
             send = sentence(&r, r.verb_send, net);
    pm_index root = context(&r, PM_NONE, main, 1, 1), in_func = context(&r, root, func, 10, 3),
             in_other = context(&r, root, other, 20, 4);
    context(&r, in_func, send, 100, 2); /* itself */
    pm_index start = context(&r, root, main, 1000, 0), thread = context(&r, start, writer, 2000, 1),
             for_func = context(&r, thread, writer, 10000, 0),
             for_other = context(&r, thread, writer, 20000, 0);
    context(&r, for_func, send, 100000, 5);
    context(&r, for_other, send, 200000, 6);
    pm_index causes[][2] = {{start, root}, {for_func, in_func}, {for_other, in_other}};
    for (int i = 0; i < 3; i++) {
        r.graph->contexts[causes[i][0]].flags |= PM_CONTEXT_CAUSE;
        pm_graph_set_cause(r.graph, causes[i][0], causes[i][1]);
    }
    assert_true(pm_graph_seal(r.graph));
    assert_ns(&r, "{func Executes}", 10 + 100 + 10000 + 100000);
    assert_ns(&r, "{func Executes}, {net Send}", 100 + 100000);
    assert_ns(&r, "{other Executes}, {net Send}", 200000);
    assert_ns(&r, "{func Executes}, {other Executes}", 0);
    assert_ns(&r, "{net Send}, not {func Executes}", 200000);
    assert_ns(&r, "{func Executes} then {net Send}", 100 + 100000);
    assert_ns(&r, "{net Send} then {func Executes}", 0);
    assert_ns(&r, "{writer Executes} then {func Executes}", 0);
    assert_ns(&r, "{main Executes} then {func Executes} then {net Send}", 100 + 100000);
    assert_ns(&r, "{writer Executes}, {func Executes}", 10000 + 100000);
    struct pm_answer *answer = ask(&r, "{func Executes}, {net Send}");
    assert_int_equal(answer->n_rows, 1);
    assert_int_equal(answer->rows[0].n_times, 2 + 5);
    assert_int_equal(answer->rows[0].deferred[r.time].value, 100000);
    assert_int_equal(answer->deferred[r.time].value, 100000);
    pm_answer_free(answer);
    answer = ask(&r, "{main Executes}, {net Send}"); /* main is on its own path, too */
    assert_int_equal(answer->amounts[r.time].value, 300100);
    assert_int_equal(answer->deferred[r.time].value, 0);
    pm_answer_free(answer);
    answer = ask(&r, "{? Executes}, {net Send}"); /* the innermost: who it is done for */
    assert_int_equal(answer->n_rows, 2);
    assert_int_equal(answer->deferred[r.time].value, 300000);
    pm_answer_free(answer);
    pm_graph_free(r.graph);
}

/* q, and q with p, were begun while sort ran; q once below sort. */
static void what_was_begun_is_outside_and_has_no_order(void **state)
{
    (void)state;
    struct run r;
    run_init(&r);
    pm_index phases = pm_graph_level(r.graph, "Phases");
    r.graph->levels[phases].above = r.source;
    pm_index runs = pm_graph_verb(r.graph, "Runs", phases), executes = r.verb_executes;
    pm_index main = sentence(&r, executes, noun(&r, "main", "function", r.source, PM_NONE)),
             sort = sentence(&r, executes, noun(&r, "sort", "function", r.source, PM_NONE)),
             q = sentence(&r, runs, noun(&r, "q", "phase", phases, PM_NONE)),
             p = sentence(&r, runs, noun(&r, "p", "phase", phases, PM_NONE));
    pm_index root = context(&r, PM_NONE, main, 1, 1), plain = context(&r, root, sort, 1000, 4);
    pm_index in_q = context(&r, root, q, 10, 0), in_both = context(&r, in_q, p, 20, 0);
    pm_index sort_in_q = context(&r, in_q, sort, 100, 2), begun = context(&r, sort_in_q, q, 0, 3);
    context(&r, in_both, sort, 200, 5);
    pm_index begun_first = context(&r, in_both, p, 0, 1);
    r.graph->contexts[in_q].flags = r.graph->contexts[in_both].flags = PM_CONTEXT_AMBIENT;
    r.graph->contexts[begun].flags = r.graph->contexts[begun_first].flags =
        PM_CONTEXT_AMBIENT | PM_CONTEXT_FOLDED;
    (void)plain;
    assert_true(pm_graph_seal(r.graph));
    assert_ns(&r, "{q Runs}", 330);
    assert_ns(&r, "{q Runs}, {sort Executes}", 300);
    assert_ns(&r, "{q Runs} then {sort Executes}", 300);
    assert_ns(&r, "{sort Executes} then {q Runs}", 0);
    assert_ns(&r, "{main Executes} then {q Runs}", 0);
    assert_ns(&r, "{q Runs} then {p Runs}", 0);
    assert_ns(&r, "{p Runs} then {q Runs}", 0);
    assert_ns(&r, "{p Runs}, {q Runs}", 220);
    assert_ns(&r, "{sort Executes} during q", 300);
    assert_ns(&r, "{sort Executes} during p", 200);
    assert_ns(&r, "{sort Executes} during phase:?", 300);
    assert_ns(&r, "{sort Executes} during q outside p", 100);
    assert_ns(&r, "{sort Executes} outside phase:?", 1000);
    assert_ns(&r, "{? Executes} during sort", 0); /* that was entered */
    struct pm_answer *answer = ask(&r, "{? Runs}");
    assert_int_equal(answer->n_rows, 2);
    for (uint32_t i = 0; i < 2; i++) {
        bool both = answer->rows[i].matches[0].n_classes == 2;
        assert_int_equal(answer->rows[i].amounts[r.time].value, both ? 220 : 110);
        assert_int_equal(answer->rows[i].n_times, both ? 1 : 3);
    }
    pm_answer_free(answer);
    answer = ask(&r, "{sort Executes} during q");
    assert_int_equal(answer->n_rows, 1);
    assert_int_equal(answer->rows[0].n_times, 2 + 5 + 3); /* q was begun within sort as well */
    pm_answer_free(answer);
    answer = ask(&r, "{sort Executes} during lunch");
    assert_int_equal(answer->n_notes, 1);
    assert_string_equal(answer->notes[0].text,
                        "no phase, and nothing else that was begun (pm_begin), fits 'lunch'; "
                        "there are: 'q', 'p'");
    pm_answer_free(answer);
    pm_graph_free(r.graph);
}

static void parts_count_as_the_noun_that_was_named(void **state)
{
    (void)state;
    struct run r;
    run_init(&r);
    pm_index f = noun(&r, "sweep", "function", r.source, PM_NONE),
             loop = noun(&r, "loop at heat.c:22", "loop", r.source, f);
    pm_index base_executes = pm_graph_verb(r.graph, "Executes", r.base);
    pm_index code = sentence(&r, base_executes, noun(&r, "sweep", "symbol", r.base, PM_NONE));
    pm_index s = sentence(&r, r.verb_executes, loop);
    pm_graph_mapping(r.graph, code, s, 0, "compiler");
    context(&r, PM_NONE, code, 50, 4);
    assert_true(pm_graph_seal(r.graph));
    struct pm_answer *answer = ask(&r, "{sweep Executes}");
    assert_int_equal(answer->n_rows, 1);
    const struct pm_question_class *c =
        &answer->matches[0].classes[answer->rows[0].matches[0].classes[0]];
    assert_int_equal(c->n_nouns, 1);
    assert_int_equal(c->nouns[0], f); /* not the loop, and not the symbol: Source is above Base */
    assert_int_equal(answer->amounts[r.time].value, 50);
    pm_answer_free(answer);
    assert_ns(&r, "{Base::sweep Executes}", 50);
    assert_ns(&r, "{loop:heat.c:22 ?}", 50);
    assert_ns(&r, "{loop:/src/heat.c:22 ?}", 50);
    assert_ns(&r, "{loop:sweep ?}", 0);
    assert_ns(&r, "{loop:? ?}", 50); /* any loop, not one with a name of one letter */
    assert_ns(&r, "{func:? Executes}", 50);
    assert_ns(&r, "{file:? ?}", 0);
    assert_ns(&r, "{? loop:?}", 0); /* verbs are of no kind */
    assert_ns(&r, "{SWEEP executes}", 50);
    pm_graph_free(r.graph);
}

static void patterns_find_sql_in_any_case(void **state)
{
    (void)state;
    struct run r;
    run_init(&r);
    static const char *const names[] = {"SELECT a FROM t", "select a from t", "Select ? FROM t",
                                        "UPDATE t"};
    for (int i = 0; i < 4; i++) {
        pm_index query = noun(&r, names[i], "query", r.source, PM_NONE);
        context(&r, PM_NONE, sentence(&r, r.verb_executes, query), 1 << i, 1);
    }
    pm_index function = noun(&r, "selection", "function", r.source, PM_NONE);
    context(&r, PM_NONE, sentence(&r, r.verb_executes, function), 16, 1);
    assert_true(pm_graph_seal(r.graph));
    assert_ns(&r, "{SELECT* Executes}", 7);
    assert_ns(&r, "{select* Executes}", 7 + 16);
    assert_ns(&r, "{query:sElEcT* Executes}", 7);
    assert_ns(&r, "{\"SELECT a FROM t\" Executes}", 1); /* as it is written */
    assert_ns(&r, "{\"select a from t\" Executes}", 2);
    assert_ns(&r, "{\"SELECT A from t\" Executes}", 3); /* nothing is written so */
    assert_ns(&r, "{\"select ? from t\" Executes}", 4); /* that ? means itself */
    pm_graph_free(r.graph);
}

static void what_the_code_does_for_others_too_is_marked_as_shared(void **state)
{
    (void)state;
    struct run r;
    run_init(&r);
    pm_index base_executes = pm_graph_verb(r.graph, "Executes", r.base);
    pm_index code = sentence(&r, base_executes, noun(&r, "code", "code", r.base, PM_NONE));
    pm_index alone = sentence(&r, base_executes, noun(&r, "code2", "code", r.base, PM_NONE));
    pm_index a = sentence(&r, r.verb_sum, noun(&r, "A", "array", r.source, PM_NONE));
    pm_index b = sentence(&r, r.verb_sum, noun(&r, "B", "array", r.source, PM_NONE));
    pm_graph_mapping(r.graph, code, a, 0, "compiler");
    pm_graph_mapping(r.graph, code, b, 0, "compiler");
    pm_graph_mapping(r.graph, alone, a, 0, "compiler");
    context(&r, PM_NONE, code, 30, 1);
    context(&r, PM_NONE, alone, 4, 1);
    assert_true(pm_graph_seal(r.graph));
    struct pm_answer *answer = ask(&r, "{A Sum}");
    assert_int_equal(answer->n_rows, 1);
    assert_int_equal(answer->rows[0].amounts[r.time].value, 34);
    assert_int_equal(answer->rows[0].shared[r.time].value, 30);
    pm_answer_free(answer);
    answer = ask(
        &r,
        /* one row for {A, B}, one for A: nothing is counted twice, nothing else is shared with */
        "{? Sum}");
    assert_int_equal(answer->n_rows, 2);
    assert_int_equal(answer->amounts[r.time].value, 34);
    assert_int_equal(answer->rows[0].shared[r.time].value + answer->rows[1].shared[r.time].value,
                     0);
    pm_answer_free(answer);
    pm_graph_free(r.graph);
}

static void what_fits_nothing_gets_near_names(void **state)
{
    (void)state;
    struct run r;
    run_init(&r);
    context(&r, PM_NONE, sentence(&r, r.verb_sum, noun(&r, "pressure", "array", r.source, PM_NONE)),
            1, 1);
    noun(&r, "velocity", "array", r.source, PM_NONE);
    assert_true(pm_graph_seal(r.graph));
    static const char *const cases[][2] = {
        {"{pressure Summ}", "no verb fits 'Summ'; near: 'Sum'"},
        {"{presure Sum}", "no noun fits 'presure'; near: 'pressure'"},
        {"{SQL::press Sum}",
         "no noun fits 'SQL::press' (there is no level 'SQL', but 'Base', 'Source')"},
        {"{pressure Send}",
         "nothing in the archive is {pressure Send}; verbs with that noun: 'Sum'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pm_answer *answer = ask(&r, cases[i][0]);
        assert_int_equal(answer->n_notes, 1);
        assert_string_equal(answer->notes[0].text, cases[i][1]);
        pm_answer_free(answer);
    }
    pm_graph_free(r.graph);
}

/* --- against a slow, plain model --- */

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % n);
}

static void random_run(struct run *r)
{
    char name[16];
    run_init(r);
    struct pm_graph *g = r->graph;
    if (random_below(2))
        g->levels[r->source].above = PM_NONE;
    uint32_t n_nouns = 2 + random_below(8), n_sentences = 2 + random_below(12),
             n_contexts = 1 + random_below(25);
    pm_graph_verb(g, "Sum", r->base);
    for (uint32_t i = 0; i < n_nouns; i++) {
        snprintf(name, sizeof name, "%c%u", random_below(2) ? 'n' : 'm', random_below(4));
        pm_index level = random_below(2) ? r->base : r->source;
        pm_index parent = i > 0 && random_below(2) ? random_below(i) : PM_NONE;
        if (parent != PM_NONE && g->nouns[parent].level != level)
            parent = PM_NONE;
        noun(r, name, random_below(3) ? "loop" : "array", level, parent);
    }
    for (uint32_t i = 0; i < n_sentences; i++) {
        pm_index nouns[3], n = random_below(4);
        for (pm_index k = 0; k < n; k++)
            nouns[k] = random_below(n_nouns);
        pm_graph_sentence(g, random_below(g->n_verbs), nouns, n);
    }
    for (uint32_t i = random_below(12); i > 0; i--)
        pm_graph_mapping(g, random_below(g->n_sentences), random_below(g->n_sentences), 0,
                         "compiler");
    uint32_t n_causes = random_below(2) ? 4 : 0; /* of so many contexts in sixteen */
    for (uint32_t i = 0; i < n_contexts; i++) {
        pm_index c = context(r, i > 0 && random_below(8) ? random_below(i) : PM_NONE,
                             random_below(g->n_sentences), 1 << random_below(20), random_below(5));
        if (i == 0 || random_below(16) >= n_causes)
            continue;
        g->contexts[c].flags |=
            PM_CONTEXT_CAUSE | (random_below(4) ? 0u : (unsigned)PM_CONTEXT_CAUSE_ALONE);
        if (random_below(8))
            pm_graph_set_cause(g, c, random_below(i));
    }
    assert_true(pm_graph_seal(g));
}

static void random_sentence(struct pm_buf *out)
{
    static const char *const nouns[] = {"?",  "n1",        "m2",         "n*",
                                        "*3", "Base::?",   "Source::m*", "loop:*",
                                        "N0", "heat.c:22", "loop:?"};
    static const char *const verbs[] = {"Sum", "Send", "?", "S*", "Base::Sum", "executes"};
    pm_buf_add_byte(out, '{');
    for (uint32_t n = 1 + random_below(2); n > 0; n--)
        pm_buf_printf(out, "%s ", nouns[random_below(11)]);
    pm_buf_printf(out, "%s}", verbs[random_below(6)]);
}

static void random_part(struct pm_buf *out)
{
    if (random_below(3)) {
        random_sentence(out);
        return;
    }
    pm_buf_add_byte(out, '(');
    random_sentence(out);
    pm_buf_add_str(out, " or ");
    random_sentence(out);
    pm_buf_add_byte(out, ')');
}

static void random_question(struct pm_buf *out, int depth)
{
    uint32_t choice = depth > 3 ? 0 : random_below(7);
    if (choice < 2) {
        random_sentence(out);
    } else if (choice == 2) {
        random_part(out);
        for (uint32_t n = 1 + random_below(2); n > 0; n--) {
            pm_buf_add_str(out, " then ");
            random_part(out);
        }
    } else if (choice == 3) {
        pm_buf_add_str(out, "not (");
        random_question(out, depth + 1);
        pm_buf_add_byte(out, ')');
    } else {
        pm_buf_add_byte(out, '(');
        random_question(out, depth + 1);
        pm_buf_add_str(out, choice == 4 ? " or " : choice == 5 ? ", " : " and ");
        random_question(out, depth + 1);
        pm_buf_add_byte(out, ')');
    }
}

struct model {
    const struct pm_graph *g;
    const struct pm_question *q;
    bool fits[64][64]; /* sentence of the question, of the graph */
};

static pm_index plain_level(const struct pm_graph *g, const char *name)
{
    for (pm_index i = 0; name && i < g->n_levels; i++)
        if (!strcasecmp(g->levels[i].name, name))
            return i;
    return PM_NONE;
}

static bool plain_noun_is(const struct pm_graph *g, const struct pm_question_word *w, pm_index n,
                          int flags)
{
    const struct pm_graph_noun *at = &g->nouns[n];
    pm_index level = plain_level(g, w->level);
    if (level != PM_NONE && at->level != level)
        return false;
    const char *pattern = w->pattern;
    if (!strncmp(pattern, "loop:", 5)) {
        bool known = false;
        for (pm_index i = 0; i < g->n_nouns; i++)
            known |= !strcmp(g->nouns[i].kind, "loop");
        if (known && strcmp(at->kind, "loop") != 0)
            return false;
        pattern += known ? 5 : 0;
        if (known && !strcmp(pattern, "?"))
            return true;
    }
    return w->any || !fnmatch(pattern, at->name, flags) || !fnmatch(pattern, "heat.c:22", flags) ||
           !fnmatch(pattern, "/src/heat.c:22", flags);
}

/* The noun or one that it is a part of. */
static bool plain_noun_fits(const struct pm_graph *g, const struct pm_question_word *w, pm_index n)
{
    bool any = false;
    for (pm_index i = 0; i < g->n_nouns; i++)
        any |= plain_noun_is(g, w, i, 0);
    for (; n != PM_NONE; n = g->nouns[n].parent) {
        if (plain_noun_is(g, w, n, any ? 0 : FNM_CASEFOLD))
            return true;
        if (!strcmp(g->nouns[n].kind, "array") && g->nouns[n].parent != PM_NONE &&
            strcmp(g->nouns[g->nouns[n].parent].kind, "array") != 0)
            return false;
    }
    return false;
}

static bool plain_assign(const struct model *m, const struct pm_question_sentence *asked,
                         const struct pm_graph_sentence *s, uint32_t word, uint32_t used)
{
    if (word == asked->n_nouns)
        return true;
    const struct pm_question_word *w = &asked->nouns[word];
    for (uint32_t i = 0; i < s->n_nouns; i++)
        if (!(used >> i & 1) && plain_noun_fits(m->g, w, m->g->sentence_nouns[s->first_noun + i]) &&
            plain_assign(m, asked, s, word + 1, used | 1u << i))
            return true;
    return s->n_nouns == 0 && w->any && !w->level && plain_assign(m, asked, s, word + 1, used);
}

static void plain_fits(struct model *m)
{
    for (uint32_t i = 0; i < m->q->n_sentences; i++) {
        const struct pm_question_sentence *asked = &m->q->sentences[i];
        bool names_level = asked->verb.level != NULL, source = false;
        for (uint32_t k = 0; k < asked->n_nouns; k++)
            names_level |= asked->nouns[k].level != NULL;
        for (pm_index s = 0; s < m->g->n_sentences; s++) {
            const struct pm_graph_verb *verb = &m->g->verbs[m->g->sentences[s].verb];
            pm_index level = plain_level(m->g, asked->verb.level);
            m->fits[i][s] =
                (level == PM_NONE || verb->level == level) &&
                (asked->verb.any || !fnmatch(asked->verb.pattern, verb->name, FNM_CASEFOLD)) &&
                plain_assign(m, asked, &m->g->sentences[s], 0, 0);
            source |= m->fits[i][s] && m->g->levels[verb->level].above != PM_NONE;
        }
        for (pm_index s = 0; s < m->g->n_sentences; s++)
            if (!names_level && source &&
                m->g->levels[pm_graph_sentence_level(m->g, s)].above == PM_NONE)
                m->fits[i][s] = false;
    }
}

static void plain_reach(const struct pm_graph *g, pm_index s, bool *reached)
{
    if (reached[s])
        return;
    reached[s] = true;
    for (uint32_t i = 0; i < g->n_mappings; i++)
        if (g->mappings[i].source == s)
            plain_reach(g, g->mappings[i].destination, reached);
}

/* Is one of the sentences of this part active because of the context itself? Not where a cause
 * is adopted. */
static bool plain_part(const struct model *m, uint32_t node, pm_index context)
{
    const struct pm_question_node *n = &m->q->nodes[node];
    if (n->kind == PM_QUESTION_OR)
        return plain_part(m, n->left, context) || plain_part(m, n->right, context);
    bool reached[64] = {false}, any = false;
    if (m->g->contexts[context].flags & PM_CONTEXT_CAUSE)
        return false;
    plain_reach(m->g, m->g->contexts[context].sentence, reached);
    for (pm_index s = 0; s < m->g->n_sentences; s++)
        any |= reached[s] && m->fits[n->left][s];
    return any;
}

/* Where else to look from a context that adopts a cause: there, and with the causes of that
 * (*ret_through) or without. */
static pm_index plain_cause(const struct model *m, pm_index context, bool through,
                            bool *ret_through)
{
    const struct pm_context *c = &m->g->contexts[context];
    *ret_through = !(c->flags & PM_CONTEXT_CAUSE_ALONE);
    return through ? c->cause : PM_NONE;
}

static bool plain_on_path(const struct model *m, uint32_t node, pm_index context, bool through)
{
    for (; context != PM_NONE; context = m->g->contexts[context].parent) {
        bool further;
        pm_index cause = plain_cause(m, context, through, &further);
        if (plain_part(m, node, context) ||
            (cause != PM_NONE && plain_on_path(m, node, cause, further)))
            return true;
    }
    return false;
}

/* Is there a way to choose contexts, outermost first, for all parts of `left then right`? Either
 * on the own path or, from where a cause is adopted, on that one's. */
static bool plain_then(const struct model *m, uint32_t node, pm_index context, bool through)
{
    const struct pm_question_node *n = &m->q->nodes[node];
    if (n->kind != PM_QUESTION_THEN)
        return plain_on_path(m, node, context, through);
    for (; context != PM_NONE; context = m->g->contexts[context].parent) {
        bool further;
        pm_index cause = plain_cause(m, context, through, &further);
        if (plain_part(m, n->right, context) && m->g->contexts[context].parent != PM_NONE &&
            plain_then(m, n->left, m->g->contexts[context].parent, through))
            return true;
        if (cause != PM_NONE && plain_then(m, node, cause, further))
            return true;
    }
    return false;
}

static bool plain_eval(const struct model *m, uint32_t node, pm_index context)
{
    const struct pm_question_node *n = &m->q->nodes[node];
    switch (n->kind) {
    case PM_QUESTION_SENTENCE:
        return plain_on_path(m, node, context, true);
    case PM_QUESTION_THEN:
        return plain_then(m, node, context, true);
    case PM_QUESTION_NOT:
        return !plain_eval(m, n->left, context);
    case PM_QUESTION_AND:
        return plain_eval(m, n->left, context) && plain_eval(m, n->right, context);
    default:
        return plain_eval(m, n->left, context) || plain_eval(m, n->right, context);
    }
}

static uint32_t n_true, n_false;

static void compare(struct run *r, const char *text)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_question *q = NULL;
    struct pm_answer *answer = NULL;
    assert_int_equal(pm_question_parse(text, &err, &q), PM_OK);
    assert_int_equal(
        pm_question_ask(q, &(struct pm_question_run){.graph = r->graph, .calls_metric = r->calls},
                        &err, &answer),
        PM_OK);
    struct model m = {.g = r->graph, .q = q};
    int64_t expected_ns = 0, rows_ns = 0;
    plain_fits(&m);
    for (pm_index c = 0; c < r->graph->n_contexts; c++) {
        bool expected = plain_eval(&m, q->n_nodes - 1, c);
        if (answer->active[c] != expected)
            fail_msg("%s: context %u", text, c);
        *(expected ? &n_true : &n_false) += 1;
        for (uint32_t i = 0; expected && i < r->graph->n_costs; i++)
            if (r->graph->costs[i].context == c && r->graph->costs[i].metric == r->time)
                expected_ns += r->graph->costs[i].value;
    }
    for (uint32_t i = 0; i < answer->n_rows; i++) {
        rows_ns += answer->rows[i].amounts[r->time].value;
        assert_true(answer->rows[i].shared[r->time].value <=
                    answer->rows[i].amounts[r->time].value);
    }
    assert_int_equal(answer->amounts[r->time].value, expected_ns);
    assert_int_equal(rows_ns, expected_ns);
    pm_answer_free(answer);
    pm_question_free(q);
}

static void random_questions_get_the_answers_of_a_plain_model(void **state)
{
    (void)state;
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    for (seed = 1; seed < 500 * 7919;) {
        struct run r;
        uint64_t next = seed + 7919;
        random_run(&r);
        for (int i = 0; i < 20; i++) {
            pm_buf_clear(&text);
            random_question(&text, 0);
            compare(&r, text.data);
        }
        pm_graph_free(r.graph);
        seed = next;
    }
    assert_true(n_true > 20000 && n_false > 20000);
    pm_buf_release(&text);
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    struct run r;
    seed = 42;
    random_run(&r);
    bool done = false;
    for (long n = 1; !done; n++) {
        struct pm_question *q = NULL;
        struct pm_answer *answer = NULL;
        pm_alloc_fail_at(n);
        enum pm_status status =
            pm_question_parse("({n1 Sum} or {? Send}) then {m* ?}, not {zzz V}", NULL, &q);
        if (status == PM_OK)
            status = pm_question_ask(
                q, &(struct pm_question_run){.graph = r.graph, .calls_metric = r.calls}, NULL,
                &answer);
        done = pm_alloc_fail_pending();
        pm_alloc_fail_at(0);
        if (done)
            assert_int_equal(status, PM_OK);
        else if (status != PM_OK)
            assert_int_equal(status, PM_ERR_MEMORY);
        pm_answer_free(answer);
        pm_question_free(q);
    }
    pm_graph_free(r.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_between_sentences_bind_in_the_stated_order),
        cmocka_unit_test(a_mistake_is_shown_at_its_character),
        cmocka_unit_test(a_question_has_a_largest_size),
        cmocka_unit_test(then_tells_the_two_readings_apart),
        cmocka_unit_test(what_is_done_for_others_is_theirs_and_deferred),
        cmocka_unit_test(what_was_begun_is_outside_and_has_no_order),
        cmocka_unit_test(parts_count_as_the_noun_that_was_named),
        cmocka_unit_test(patterns_find_sql_in_any_case),
        cmocka_unit_test(what_the_code_does_for_others_too_is_marked_as_shared),
        cmocka_unit_test(what_fits_nothing_gets_near_names),
        cmocka_unit_test(random_questions_get_the_answers_of_a_plain_model),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
