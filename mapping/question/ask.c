/* The answer to a question about a run that is over: costs of the contexts in which it was true. */
#include "question.h"

#include "../base/banned.h"
#include "../base/reasons.h"

#include <stdlib.h>

/* One sentence of the question. */
struct asked {
    struct pm_lift *lift;   /* first met classes, by the sentence of a context */
    struct pm_lift *others; /* the same and, as class n_classes, what else has these verbs */
    /* Of data, else NULL: what the compiler said and nothing inferred; all code of the
     * statements that do so. */
    struct pm_lift *sure, *all;
    /* per context: set of classes of the innermost match on its path, 0 none; only when shown */
    uint32_t *set_of;
    bool *is_shared;   /* per context: that match stands for others as well */
    bool *is_deferred; /* per context: that match is on the path of a cause */
};

struct pm_answer_private {
    struct asked *asked; /* per sentence of the question */
    uint32_t n_sentences;
    struct pm_sets sets, rows; /* classes that matched; a set for each shown sentence */
    uint32_t *row_of;          /* per context, where it is active */
};

struct asking {
    const struct pm_question *question;
    const struct pm_question_run *run;
    const struct pm_graph *graph;
    struct pm_answer *answer;
    struct pm_answer_private *own;
    struct pm_error *err;
    bool has_causes;    /* else nothing has to be kept apart from what causes bring */
    bool asks_for_code; /* loops and functions are all that is asked for */
};

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* --- what is active where --- */

static pm_index *sources_of(const struct pm_graph *graph)
{
    pm_index *sources = pm_alloc_array(graph->n_contexts + 1u, sizeof *sources);
    for (uint32_t c = 0; sources && c < graph->n_contexts; c++)
        sources[c] = graph->contexts[c].sentence;
    return sources;
}

static const char *kind_of(const struct pm_graph *graph, pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(graph, sentence);
    return noun == PM_NONE ? "" : graph->nouns[noun].kind;
}

/* What has a verb and a kind of noun that was asked for, and does not fit, is "another" of
 * number n_classes: who asks for an array cares for other arrays, not for the counter of the
 * loop. */
static bool mark_others(const struct pm_graph *graph, const struct pm_question_matches *matches,
                        pm_index *ret_destination_of)
{
    struct pm_intern *kinds = pm_intern_new(); /* equal kinds are equal pointers there */
    struct pm_sets asked;
    bool good = pm_sets_init(&asked) && kinds;
    for (int round = 0; round < 2 && good; round++) {
        uint32_t n_asked = asked.n;
        for (pm_index s = 0; s < graph->n_sentences && good; s++) {
            bool is_match = matches->class_of[s] != PM_NONE;
            const char *kind = kind_of(graph, s);
            ret_destination_of[s] = matches->class_of[s];
            if (is_match != (round == 0))
                continue;
            const char *same = pm_intern_add(kinds, kind, strlen(kind));
            uint64_t address = (uint64_t)(uintptr_t)same;
            uint32_t key[] = {graph->sentences[s].verb, (uint32_t)address,
                              (uint32_t)(address >> 32)};
            uint32_t number = same ? pm_sets_add(&asked, key, 3) : PM_SETS_FAILED;
            good = number != PM_SETS_FAILED;
            if (!is_match && number < n_asked)
                ret_destination_of[s] = matches->n_classes;
        }
    }
    pm_sets_release(&asked);
    pm_intern_free(kinds);
    return good;
}

static bool is_object(const struct pm_graph *graph, pm_index sentence)
{
    const char *kind = kind_of(graph, sentence);
    return strcmp(kind, "array") == 0 || strcmp(kind, "variable") == 0 ||
           strcmp(kind, "field") == 0;
}

/* Who asks for data gets what the code itself touches, where the compiler said that: its
 * statement may touch more elsewhere. *ret_is_data: that was asked for. */
static bool *find_detours(const struct pm_graph *graph, const struct pm_question_matches *matches,
                          bool *ret_is_data)
{
    bool *leaves_out = pm_alloc_array(graph->n_mappings + 1u, sizeof *leaves_out);
    bool *says_objects = pm_alloc_array(graph->n_sentences + 1u, sizeof *says_objects);
    bool asks_for_data = says_objects != NULL;
    for (pm_index s = 0; s < graph->n_sentences && asks_for_data; s++)
        asks_for_data = matches->class_of[s] == PM_NONE || is_object(graph, s);
    for (uint32_t m = 0; asks_for_data && m < graph->n_mappings; m++)
        says_objects[graph->mappings[m].source] |= is_object(graph, graph->mappings[m].destination);
    for (uint32_t m = 0; asks_for_data && leaves_out && m < graph->n_mappings; m++)
        leaves_out[m] = says_objects[graph->mappings[m].source] &&
                        strcmp(kind_of(graph, graph->mappings[m].source), "code") == 0 &&
                        !is_object(graph, graph->mappings[m].destination);
    if (!says_objects) {
        free(leaves_out);
        leaves_out = NULL;
    }
    free(says_objects);
    *ret_is_data = asks_for_data;
    return leaves_out;
}

static void leave_out(const struct pm_graph *graph, const char *origin, bool *leaves_out)
{
    for (uint32_t m = 0; m < graph->n_mappings; m++)
        leaves_out[m] |= strcmp(graph->mappings[m].origin, origin) == 0;
}

/* A call of code that has no facts is its caller's, and not shared with what was called. */
static void leave_out_called(const struct pm_graph *graph, bool *leaves_out)
{
    for (uint32_t m = 0; m < graph->n_mappings; m++)
        leaves_out[m] |= strcmp(graph->mappings[m].reason, PM_REASON_CALLED) == 0;
}

static bool is_call(const struct pm_graph *graph, pm_index sentence)
{
    const char *level = graph->levels[pm_graph_sentence_level(graph, sentence)].name;
    return strcmp(level, "Base") == 0 &&
           strcmp(graph->verbs[graph->sentences[sentence].verb].name, "Calls") == 0;
}

/* Of calls, and of code whose callers are known, all data is known, or possible: statements name
 * parameters, whatever callers pass. */
static bool find_passed(const struct pm_graph *graph, bool *leaves_out)
{
    bool *is_passed = pm_alloc_array(graph->n_sentences + 1u, sizeof *is_passed);
    for (pm_index s = 0; is_passed && s < graph->n_sentences; s++)
        is_passed[s] = is_call(graph, s);
    for (uint32_t m = 0; is_passed && m < graph->n_mappings; m++)
        is_passed[graph->mappings[m].source] |=
            strcmp(graph->mappings[m].reason, PM_REASON_PASSED) == 0;
    for (uint32_t m = 0; is_passed && m < graph->n_mappings; m++)
        leaves_out[m] = is_passed[graph->mappings[m].source] &&
                        !is_object(graph, graph->mappings[m].destination);
    bool good = is_passed != NULL;
    free(is_passed);
    return good;
}

/* detours: is changed. */
static enum pm_status make_bounds(struct asking *a, struct asked *asked,
                                  struct pm_lift_options options, const pm_index *sources,
                                  bool *detours)
{
    const struct pm_graph *graph = a->graph;
    leave_out(graph, "inferred", detours);
    enum pm_status status =
        pm_lift_new(graph, &options, sources, graph->n_contexts, a->err, &asked->sure);
    if (status != PM_OK)
        return status;
    if (!find_passed(graph, detours))
        return no_memory(a->err);
    return pm_lift_new(graph, &options, sources, graph->n_contexts, a->err, &asked->all);
}

static enum pm_status make_lifts(struct asking *a, struct asked *asked,
                                 const struct pm_question_matches *matches)
{
    const struct pm_graph *graph = a->graph;
    pm_index *sources = sources_of(graph);
    pm_index *with_others = pm_alloc_array(graph->n_sentences + 1u, sizeof *with_others);
    bool is_data = false, *detours = find_detours(graph, matches, &is_data);
    struct pm_lift_options options = {.rule = PM_RULE_MERGE,
                                      .destination_of = matches->class_of,
                                      .n_destinations = matches->n_classes + 1u,
                                      .leaves_out = detours};
    if (detours)
        leave_out(graph, "possible", detours);
    bool good = sources && with_others && detours && mark_others(graph, matches, with_others);
    enum pm_status status =
        good ? pm_lift_new(graph, &options, sources, graph->n_contexts, a->err, &asked->lift)
             : no_memory(a->err);
    if (status != PM_OK)
        goto out;
    options.destination_of = with_others;
    leave_out_called(graph, detours);
    status = pm_lift_new(graph, &options, sources, graph->n_contexts, a->err, &asked->others);
    if (status != PM_OK || !is_data)
        goto out;
    options.destination_of = matches->class_of;
    status = make_bounds(a, asked, options, sources, detours);
out:
    free(sources);
    free(with_others);
    free(detours);
    return status;
}

static bool is_ambient(const struct asking *a, uint32_t context)
{
    return a->graph->contexts[context].flags & PM_CONTEXT_AMBIENT;
}

/* It says how often something was begun there, and costs nothing. */
static bool is_beginning(const struct asking *a, uint32_t context)
{
    return is_ambient(a, context) && a->graph->contexts[context].flags & PM_CONTEXT_FOLDED;
}

static const uint32_t *matched_at(const struct asking *a, uint32_t sentence, uint32_t context,
                                  uint32_t *ret_n)
{
    *ret_n = 0;
    if (a->question->sentences[sentence].is_ambient && !is_ambient(a, context))
        return NULL;
    return pm_lift_reached(a->own->asked[sentence].lift, a->graph->contexts[context].sentence,
                           ret_n);
}

static bool matches_at(const struct asking *a, uint32_t sentence, uint32_t context)
{
    uint32_t n;
    matched_at(a, sentence, context, &n);
    return n != 0;
}

static bool others_at(const struct asking *a, uint32_t sentence, uint32_t context)
{
    uint32_t n, other = a->answer->matches[sentence].n_classes;
    const uint32_t *reached =
        pm_lift_reached(a->own->asked[sentence].others, a->graph->contexts[context].sentence, &n);
    return n > 1 && reached[n - 1] == other;
}

/* --- the parts of the question, bottom up --- */

static bool is_adopting(const struct asking *a, uint32_t context)
{
    return a->graph->contexts[context].flags & PM_CONTEXT_CAUSE;
}

/* What holds at the cause that a context adopts; 0: nothing, or it adopts none. alone: the same
 * without causes of causes. */
#define AT_CAUSE(a, context, values, alone)                         \
    ((a)->graph->contexts[context].cause == PM_NONE ? 0             \
     : (a)->graph->contexts[context].flags & PM_CONTEXT_CAUSE_ALONE \
         ? (alone)[(a)->graph->contexts[context].cause]             \
         : (values)[(a)->graph->contexts[context].cause])

/* alone: what causes do not reach; the same array: the graph has none. */
static void eval_sentence(const struct asking *a, uint32_t sentence, bool *active, bool *alone)
{
    for (uint32_t c = 0; c < a->graph->n_contexts; c++) {
        pm_index parent = a->graph->contexts[c].parent;
        bool is_match = !is_adopting(a, c) && matches_at(a, sentence, c);
        alone[c] = (parent != PM_NONE && alone[parent]) || is_match;
        active[c] =
            (parent != PM_NONE && active[parent]) || is_match || AT_CAUSE(a, c, active, alone);
    }
}

/* Does one of the sentences of this part, which has none but `or` in it, match the context
 * itself? */
static bool part_matches(const struct asking *a, uint32_t node, uint32_t context)
{
    const struct pm_question_node *n = &a->question->nodes[node];
    return n->kind == PM_QUESTION_OR
               ? part_matches(a, n->left, context) || part_matches(a, n->right, context)
               : matches_at(a, n->left, context);
}

/* Parts that have matched, in order, at a context that has seen `before` of them. The earliest
 * match of each is as good as any. What was begun is not within anything, so it can only be the
 * first. */
static uint32_t step(const struct asking *a, const uint32_t *parts, uint32_t n, uint32_t before,
                     uint32_t context)
{
    bool may_match =
        before < n && !is_adopting(a, context) && (before == 0 || !is_ambient(a, context));
    return before + (may_match && part_matches(a, parts[n - 1 - before], context));
}

/* How many parts of `a then b then ...` have matched, in order, on the way to each context: on
 * its own way or on its cause's, which have no order among them. */
static bool eval_then(const struct asking *a, uint32_t node, bool *active)
{
    uint32_t parts[PM_QUESTION_MAX_NODES], n = 0, n_contexts = a->graph->n_contexts;
    const struct pm_question_node *nodes = a->question->nodes;
    for (; nodes[node].kind == PM_QUESTION_THEN; node = nodes[node].left)
        parts[n++] = nodes[node].right;
    parts[n++] = node;
    uint32_t *progress = pm_alloc_array(n_contexts + 1u, sizeof *progress);
    uint32_t *alone = a->has_causes ? pm_alloc_array(n_contexts + 1u, sizeof *alone) : progress;
    bool good = progress && alone;
    for (uint32_t c = 0; c < n_contexts && good; c++) {
        pm_index parent = a->graph->contexts[c].parent;
        uint32_t before = parent != PM_NONE ? progress[parent] : 0;
        uint32_t alone_before = parent != PM_NONE ? alone[parent] : 0;
        uint32_t by_cause = AT_CAUSE(a, c, progress, alone);
        alone[c] = step(a, parts, n, alone_before, c);
        progress[c] = step(a, parts, n, by_cause > before ? by_cause : before, c);
        active[c] = progress[c] == n;
    }
    if (alone != progress)
        free(alone);
    free(progress);
    return good;
}

static bool *eval_leaf(const struct asking *a, uint32_t node)
{
    uint32_t n_contexts = a->graph->n_contexts;
    bool *active = pm_alloc_array(n_contexts + 1u, sizeof *active), *alone = NULL;
    bool is_then = a->question->nodes[node].kind == PM_QUESTION_THEN;
    bool good = active && (!is_then || eval_then(a, node, active));
    if (good && !is_then) {
        alone = a->has_causes ? pm_alloc_array(n_contexts + 1u, sizeof *alone) : active;
        good = alone != NULL;
        if (good)
            eval_sentence(a, a->question->nodes[node].left, active, alone);
    }
    if (alone != active)
        free(alone);
    if (good)
        return active;
    free(active);
    return NULL;
}

static bool *eval(const struct asking *a, uint32_t node)
{
    const struct pm_question_node *n = &a->question->nodes[node];
    uint32_t n_contexts = a->graph->n_contexts;
    bool *active = NULL, *right = NULL;
    if (n->kind == PM_QUESTION_SENTENCE || n->kind == PM_QUESTION_THEN)
        return eval_leaf(a, node);
    active = eval(a, n->left);
    right = active && n->kind != PM_QUESTION_NOT ? eval(a, n->right) : NULL;
    bool good = active && (right || n->kind == PM_QUESTION_NOT);
    for (uint32_t c = 0; good && c < n_contexts; c++) {
        if (n->kind == PM_QUESTION_NOT)
            active[c] = !active[c];
        else if (n->kind == PM_QUESTION_OR)
            active[c] = active[c] || right[c];
        else
            active[c] = active[c] && right[c];
    }
    free(right);
    if (!good) {
        free(active);
        return NULL;
    }
    return active;
}

/* --- rows --- */

/* What is begun at a time is active together: no one of it is the innermost. */
static uint32_t joined_set(struct asking *a, uint32_t set, const uint32_t *classes, uint32_t n)
{
    uint32_t n_before, n_all = 0;
    const uint32_t *before = pm_sets_members(&a->own->sets, set, &n_before);
    uint32_t *all = pm_alloc_array((size_t)n_before + n, sizeof *all);
    if (!all)
        return PM_SETS_FAILED;
    for (uint32_t i = 0, k = 0; i < n_before || k < n;) {
        uint32_t x = i < n_before ? before[i] : UINT32_MAX;
        uint32_t y = k < n ? classes[k] : UINT32_MAX;
        all[n_all++] = x < y ? x : y;
        i += x <= y;
        k += y <= x;
    }
    uint32_t joined = pm_sets_add(&a->own->sets, all, n_all);
    free(all);
    return joined;
}

/* What matches at a context itself, which is the innermost there. before: what did above. */
static uint32_t set_here(struct asking *a, uint32_t context, uint32_t before,
                         const uint32_t *classes, uint32_t n)
{
    pm_index parent = a->graph->contexts[context].parent;
    bool joins = before != 0 && is_ambient(a, context) && is_ambient(a, parent);
    return joins ? joined_set(a, before, classes, n) : pm_sets_add(&a->own->sets, classes, n);
}

/* The innermost match: what a cause brings is inside of what is above, for it came later. alone:
 * the same without causes. */
static void inherit_set(const struct asking *a, struct asked *asked, const uint32_t *alone,
                        uint32_t context)
{
    const struct pm_context *c = &a->graph->contexts[context];
    uint32_t by_cause = AT_CAUSE(a, context, asked->set_of, alone);
    if (c->parent != PM_NONE) {
        asked->set_of[context] = asked->set_of[c->parent];
        asked->is_shared[context] = asked->is_shared[c->parent];
        asked->is_deferred[context] = asked->is_deferred[c->parent];
    }
    if (by_cause && by_cause != asked->set_of[context]) {
        asked->set_of[context] = by_cause;
        asked->is_shared[context] = asked->is_shared[c->cause];
        asked->is_deferred[context] = true;
    }
}

static bool fill_sets(struct asking *a, uint32_t sentence)
{
    struct asked *asked = &a->own->asked[sentence];
    uint32_t n_contexts = a->graph->n_contexts;
    asked->set_of = pm_alloc_array(n_contexts + 1u, sizeof *asked->set_of);
    asked->is_shared = pm_alloc_array(n_contexts + 1u, sizeof *asked->is_shared);
    asked->is_deferred = pm_alloc_array(n_contexts + 1u, sizeof *asked->is_deferred);
    uint32_t *alone =
        a->has_causes ? pm_alloc_array(n_contexts + 1u, sizeof *alone) : asked->set_of;
    bool good = asked->set_of && asked->is_shared && asked->is_deferred && alone;
    for (uint32_t c = 0; c < n_contexts && good; c++) {
        uint32_t n, parent = a->graph->contexts[c].parent;
        const uint32_t *classes = matched_at(a, sentence, c, &n);
        uint32_t before = parent != PM_NONE ? asked->set_of[parent] : 0;
        bool is_known = is_beginning(a, c) && before != 0;
        if (n != 0 && !is_known && !is_adopting(a, c)) {
            alone[c] = set_here(a, c, parent != PM_NONE ? alone[parent] : 0, classes, n);
            asked->set_of[c] = set_here(a, c, before, classes, n);
            asked->is_shared[c] = others_at(a, sentence, c);
            good = asked->set_of[c] != PM_SETS_FAILED;
        } else {
            alone[c] = parent != PM_NONE ? alone[parent] : 0;
            inherit_set(a, asked, alone, c);
        }
    }
    if (alone != asked->set_of)
        free(alone);
    return good;
}

/* Row numbers by what matched each sentence that is shown. */
static bool find_rows(struct asking *a)
{
    struct pm_answer *answer = a->answer;
    struct pm_answer_private *own = a->own;
    uint32_t n_contexts = a->graph->n_contexts;
    uint32_t *key = pm_alloc_array(answer->n_asked + 1u, sizeof *key);
    own->row_of = pm_alloc_array(n_contexts + 1u, sizeof *own->row_of);
    bool good = key && own->row_of;
    for (uint32_t c = 0; good && c < n_contexts; c++) {
        for (uint32_t i = 0; i < answer->n_asked; i++)
            key[i] = own->asked[answer->asked[i]].set_of[c];
        key[answer->n_asked] = UINT32_MAX; /* so that no key is empty, which would be number 0 */
        own->row_of[c] =
            answer->active[c] ? pm_sets_add(&own->rows, key, answer->n_asked + 1u) : PM_NONE;
        answer->n_active_contexts += answer->active[c];
        good = !answer->active[c] || own->row_of[c] != PM_SETS_FAILED;
    }
    free(key);
    return good;
}

static bool make_rows(struct asking *a)
{
    struct pm_answer *answer = a->answer;
    uint32_t n = a->own->rows.n - 1, n_metrics = a->graph->n_metrics;
    answer->rows = pm_arena_alloc(&answer->arena, (n + 1u) * sizeof *answer->rows);
    answer->amounts = pm_arena_alloc(&answer->arena, (n_metrics + 1u) * sizeof *answer->amounts);
    answer->totals = pm_arena_alloc(&answer->arena, (n_metrics + 1u) * sizeof *answer->totals);
    answer->deferred = pm_arena_alloc(&answer->arena, (n_metrics + 1u) * sizeof *answer->deferred);
    if (!answer->rows || !answer->amounts || !answer->totals || !answer->deferred)
        return false;
    for (uint32_t r = 0; r < n; r++) {
        struct pm_answer_row *row = &answer->rows[r];
        uint32_t n_key;
        const uint32_t *key = pm_sets_members(&a->own->rows, r + 1, &n_key);
        row->matches =
            pm_arena_alloc(&answer->arena, (answer->n_asked + 1u) * sizeof *row->matches);
        row->amounts = pm_arena_alloc(&answer->arena, (n_metrics + 1u) * sizeof *row->amounts);
        row->shared = pm_arena_alloc(&answer->arena, (n_metrics + 1u) * sizeof *row->shared);
        row->deferred = pm_arena_alloc(&answer->arena, (n_metrics + 1u) * sizeof *row->deferred);
        if (!row->matches || !row->amounts || !row->shared || !row->deferred)
            return false;
        for (uint32_t i = 0; i < answer->n_asked; i++)
            row->matches[i].classes =
                pm_sets_members(&a->own->sets, key[i], &row->matches[i].n_classes);
    }
    answer->n_rows = n;
    return true;
}

/* --- costs --- */

static bool is_shared(const struct asking *a, uint32_t context)
{
    for (uint32_t i = 0; i < a->answer->n_asked; i++)
        if (a->own->asked[a->answer->asked[i]].is_shared[context])
            return true;
    return false;
}

static bool is_deferred(const struct asking *a, uint32_t context)
{
    for (uint32_t i = 0; i < a->answer->n_asked; i++)
        if (a->own->asked[a->answer->asked[i]].is_deferred[context])
            return true;
    return false;
}

static bool add_cost(struct asking *a, const struct pm_cost *cost)
{
    struct pm_answer *answer = a->answer;
    enum pm_aggregation aggregation = a->graph->metrics[cost->metric].aggregation;
    struct pm_amount amount = {cost->value, 1};
    if (!pm_amount_add(&answer->totals[cost->metric], aggregation, &amount))
        return false;
    if (!answer->active[cost->context])
        return true;
    struct pm_answer_row *row = &answer->rows[a->own->row_of[cost->context] - 1];
    bool shared = aggregation == PM_SUM && is_shared(a, cost->context);
    bool deferred = aggregation == PM_SUM && is_deferred(a, cost->context);
    if (deferred && (!pm_amount_add(&row->deferred[cost->metric], aggregation, &amount) ||
                     !pm_amount_add(&answer->deferred[cost->metric], aggregation, &amount)))
        return false;
    return pm_amount_add(&answer->amounts[cost->metric], aggregation, &amount) &&
           pm_amount_add(&row->amounts[cost->metric], aggregation, &amount) &&
           (!shared || pm_amount_add(&row->shared[cost->metric], aggregation, &amount));
}

/* Is it a loop or a statement of a named function, whose own entry is not this one? */
static bool is_inner(const struct asking *a, uint32_t context)
{
    const struct pm_graph *graph = a->graph;
    pm_index sentence = graph->contexts[context].sentence;
    bool inner = false;
    for (uint32_t i = 0; i < a->answer->n_asked; i++) {
        const struct pm_question_matches *m = &a->answer->matches[a->answer->asked[i]];
        if (m->class_of[sentence] != PM_NONE && !m->is_inner[sentence])
            return false;
        inner |= m->is_inner[sentence];
        for (uint32_t k = graph->out_first[sentence]; k < graph->out_first[sentence + 1]; k++) {
            pm_index to = graph->mappings[graph->out[k]].destination;
            if (m->class_of[to] != PM_NONE && !m->is_inner[to])
                return false;
            inner |= m->is_inner[to];
        }
    }
    return inner;
}

/* Are loops and functions all that is asked for? */
static bool asks_for_code(const struct asking *a)
{
    for (uint32_t i = 0; i < a->answer->n_asked; i++) {
        const struct pm_question_matches *m = &a->answer->matches[a->answer->asked[i]];
        for (pm_index s = 0; s < a->graph->n_sentences; s++) {
            const char *kind = m->class_of[s] != PM_NONE ? kind_of(a->graph, s) : "loop";
            if (strcmp(kind, "loop") != 0 && strcmp(kind, "function") != 0)
                return false;
        }
    }
    return true;
}

/* A call of Fortran's library, for a part of an array statement, enters no loop and no function. */
static bool is_part_of_statement(const struct asking *a, uint32_t context)
{
    pm_index sentence = a->graph->contexts[context].sentence;
    return a->asks_for_code && strcmp(kind_of(a->graph, sentence), "callcode") == 0;
}

static bool is_asked_for(const struct asking *a, uint32_t context)
{
    for (uint32_t i = 0; i < a->answer->n_asked; i++)
        if (matches_at(a, a->answer->asked[i], context))
            return true;
    return false;
}

/* Calls of a context in which a row begins to be the one that is true. */
static void add_times(struct asking *a, const struct pm_cost *cost)
{
    pm_index parent = a->graph->contexts[cost->context].parent;
    const uint32_t *row_of = a->own->row_of;
    bool begins = is_beginning(a, cost->context)
                      ? is_asked_for(a, cost->context)
                      : parent == PM_NONE || row_of[parent] != row_of[cost->context];
    if (row_of[cost->context] == PM_NONE || !begins || is_inner(a, cost->context) ||
        pm_graph_continues_call(a->graph, cost->context) || is_part_of_statement(a, cost->context))
        return;
    struct pm_answer_row *row = &a->answer->rows[row_of[cost->context] - 1];
    row->n_times += cost->value;
    row->times_known |= cost->value > 0;
}

static enum pm_status add_costs(struct asking *a)
{
    const struct pm_question_run *run = a->run;
    a->asks_for_code = asks_for_code(a);
    for (uint32_t i = 0; i < a->graph->n_costs; i++) {
        const struct pm_cost *cost = &a->graph->costs[i];
        if (run->threads_in && !(cost->thread < run->n_threads && run->threads_in[cost->thread]))
            continue;
        if (!add_cost(a, cost))
            return pm_error_set(a->err, PM_ERR_LIMIT, "metric '%s' adds up to more than 64 bits",
                                a->graph->metrics[cost->metric].name);
        if (cost->metric == run->calls_metric)
            add_times(a, cost);
    }
    return PM_OK;
}

/* --- bounds --- */

/* The answer's contexts if `lift` says where each sentence of data was true. NULL: memory. */
static bool *eval_with(struct asking *a, struct pm_lift *(*lift_of)(const struct asked *asked))
{
    uint32_t n = a->question->n_sentences;
    struct pm_lift **kept = pm_alloc_array(n, sizeof *kept);
    for (uint32_t i = 0; kept && i < n; i++) {
        struct asked *asked = &a->own->asked[i];
        kept[i] = asked->lift;
        asked->lift = lift_of(asked) ? lift_of(asked) : asked->lift;
    }
    bool *active = kept ? eval(a, a->question->n_nodes - 1) : NULL;
    for (uint32_t i = 0; kept && i < n; i++)
        a->own->asked[i].lift = kept[i];
    free(kept);
    return active;
}

static struct pm_lift *sure_lift(const struct asked *asked)
{
    return asked->sure;
}

static struct pm_lift *widest_lift(const struct asked *asked)
{
    return asked->all;
}

static bool may_differ(const struct asking *a)
{
    bool differs = false;
    for (uint32_t n = 0; n < a->question->n_nodes;
         n++) /* what is denied would be bounded the other way */
        if (a->question->nodes[n].kind == PM_QUESTION_NOT)
            return false;
    for (uint32_t i = 0; i < a->question->n_sentences; i++)
        differs |= a->own->asked[i].sure != NULL;
    return differs;
}

/* At least and at most, of data: how much of the answer is inferred, and what else the
 * statements cost that are meant. */
static enum pm_status add_bounds(struct asking *a)
{
    struct pm_answer *answer = a->answer;
    const struct pm_question_run *run = a->run;
    answer->has_bounds = may_differ(a);
    answer->least =
        pm_arena_alloc(&answer->arena, (a->graph->n_metrics + 1u) * sizeof *answer->least);
    answer->most =
        pm_arena_alloc(&answer->arena, (a->graph->n_metrics + 1u) * sizeof *answer->most);
    if (!answer->least || !answer->most)
        return no_memory(a->err);
    if (!answer->has_bounds)
        return PM_OK;
    bool *sure = eval_with(a, sure_lift), *all = eval_with(a, widest_lift);
    for (uint32_t i = 0; sure && all && i < a->graph->n_costs; i++) {
        const struct pm_cost *cost = &a->graph->costs[i];
        bool is_in =
            !run->threads_in || (cost->thread < run->n_threads && run->threads_in[cost->thread]);
        if (!is_in || a->graph->metrics[cost->metric].aggregation != PM_SUM)
            continue;
        answer->least[cost->metric] +=
            sure[cost->context] && answer->active[cost->context] ? cost->value : 0;
        answer->most[cost->metric] +=
            all[cost->context] || answer->active[cost->context] ? cost->value : 0;
    }
    bool good = sure && all;
    free(sure);
    free(all);
    return good ? PM_OK : no_memory(a->err);
}

/* --- the whole --- */

static void list_asked(const struct pm_question *question, struct pm_answer *answer)
{
    for (uint32_t i = 0; i < answer->n_sentences; i++)
        answer->asked_at[i] = PM_NONE;
    for (uint32_t n = 0; n < question->n_nodes; n++) {
        const struct pm_question_node *node = &question->nodes[n];
        if (node->kind != PM_QUESTION_SENTENCE || node->denied)
            continue;
        answer->asked_at[node->left] = answer->n_asked;
        answer->asked[answer->n_asked++] = node->left;
    }
}

static enum pm_status match_sentences(struct asking *a)
{
    struct pm_answer *answer = a->answer;
    const struct pm_question *q = a->question;
    for (uint32_t i = 0; i < q->n_sentences; i++) {
        struct pm_question_matches *matches = &answer->matches[i];
        enum pm_status status = pm_question_match(&q->sentences[i], a->graph, a->err, matches);
        if (status != PM_OK)
            return status;
        bool any = false;
        for (pm_index s = 0; s < a->graph->n_sentences && !any; s++)
            any = matches->class_of[s] != PM_NONE;
        if (!any && answer->n_notes < PM_QUESTION_MAX_NOTES) {
            const char *why = pm_question_why_nothing(&q->sentences[i], a->graph, &answer->arena);
            if (!why)
                return no_memory(a->err);
            answer->notes[answer->n_notes++] = (struct pm_answer_note){i, why};
        }
        status = make_lifts(a, &a->own->asked[i], matches);
        if (status != PM_OK)
            return status;
    }
    list_asked(q, answer);
    return PM_OK;
}

static enum pm_status fill(struct asking *a)
{
    struct pm_answer *answer = a->answer;
    enum pm_status status = match_sentences(a);
    if (status != PM_OK)
        return status;
    for (uint32_t i = 0; i < answer->n_asked; i++)
        if (!fill_sets(a, answer->asked[i]))
            return no_memory(a->err);
    answer->active = eval(a, a->question->n_nodes - 1);
    if (!answer->active || !find_rows(a) || !make_rows(a))
        return no_memory(a->err);
    status = add_costs(a);
    return status != PM_OK ? status : add_bounds(a);
}

static struct pm_answer *new_answer(const struct pm_question *question)
{
    struct pm_answer *answer = pm_alloc(sizeof *answer);
    if (!answer)
        return NULL;
    uint32_t n = question->n_sentences;
    answer->own = pm_alloc(sizeof *answer->own);
    answer->asked = pm_alloc_array(n, sizeof *answer->asked);
    answer->asked_at = pm_alloc_array(n, sizeof *answer->asked_at);
    answer->matches = pm_alloc_array(n, sizeof *answer->matches);
    answer->n_sentences = n;
    if (answer->own && answer->asked && answer->asked_at && answer->matches) {
        answer->own->n_sentences = n;
        answer->own->asked = pm_alloc_array(n, sizeof *answer->own->asked);
        if (answer->own->asked && pm_sets_init(&answer->own->sets) &&
            pm_sets_init(&answer->own->rows))
            return answer;
    }
    pm_answer_free(answer);
    return NULL;
}

enum pm_status pm_question_ask(const struct pm_question *question,
                               const struct pm_question_run *run, struct pm_error *err,
                               struct pm_answer **ret_answer)
{
    struct asking a = {.question = question, .run = run, .graph = run->graph, .err = err};
    a.answer = new_answer(question);
    if (!a.answer)
        return no_memory(err);
    a.own = a.answer->own;
    for (uint32_t c = 0; c < a.graph->n_contexts && !a.has_causes; c++)
        a.has_causes = is_adopting(&a, c);
    enum pm_status status = fill(&a);
    if (status != PM_OK) {
        pm_answer_free(a.answer);
        return status;
    }
    *ret_answer = a.answer;
    return PM_OK;
}

const uint32_t *pm_answer_reached(const struct pm_answer *answer, const struct pm_graph *graph,
                                  uint32_t sentence, pm_index context, uint32_t *ret_n)
{
    return pm_lift_reached(answer->own->asked[sentence].lift, graph->contexts[context].sentence,
                           ret_n);
}

void pm_answer_free(struct pm_answer *answer)
{
    if (!answer)
        return;
    struct pm_answer_private *own = answer->own;
    for (uint32_t i = 0; own && i < own->n_sentences; i++) {
        if (own->asked) {
            pm_lift_free(own->asked[i].lift);
            pm_lift_free(own->asked[i].others);
            pm_lift_free(own->asked[i].sure);
            pm_lift_free(own->asked[i].all);
            free(own->asked[i].set_of);
            free(own->asked[i].is_shared);
            free(own->asked[i].is_deferred);
        }
        if (answer->matches)
            pm_question_matches_release(&answer->matches[i]);
    }
    if (own) {
        free(own->asked);
        free(own->row_of);
        pm_sets_release(&own->sets);
        pm_sets_release(&own->rows);
        free(own);
    }
    free(answer->asked);
    free(answer->asked_at);
    free(answer->matches);
    free(answer->active);
    pm_arena_release(&answer->arena);
    free(answer);
}
