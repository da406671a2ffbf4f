/* --focus: the contexts on whose path a sentence of a matching noun is active, or whose code is
 * mapped to one: an inner loop has no sled, yet what was sampled in it is known to be its own. */
#include "view.h"

#include "mapping/base/cxx_name.h"
#include "mapping/base/suggest.h"
#include "mapping/graph/pattern.h"

#include <stdlib.h>

/* A name alone means code first (is_code), if there is any of that name, before it means data. */
static bool noun_matches(const struct pm_view *view, const struct pm_pattern *focus, bool is_code,
                         pm_index n)
{
    const struct pm_graph_noun *noun = &view->data->graph->nouns[n];
    if (focus->kind == PM_PATTERN_FILE) /* where data is declared says nothing of what uses it */
        return !pm_view_noun_is_object(view, n) &&
               (pm_name_fits_path(&focus->name, noun->file) || pm_pattern_fits(focus, noun));
    bool is_any = focus->kind == PM_PATTERN_ANY;
    if (is_any && pm_view_noun_is(view, n, "process"))
        return false;
    if (is_code && !pm_view_noun_is_code(view, n) && !pm_view_noun_is_loop(view, n) &&
        !pm_view_noun_is_statement(view, n) && !pm_view_noun_is(view, n, "file"))
        return false;
    return pm_pattern_fits(focus, noun);
}

/* What lies below a function on the where axis is its code, but also its variables, which others
 * may use: these are not within it. */
static bool is_within(const struct pm_view *view, const struct pm_pattern *focus, pm_index noun)
{
    bool of_objects = focus->kind == PM_PATTERN_ARRAY || focus->kind == PM_PATTERN_VARIABLE;
    return of_objects || !pm_view_noun_is_object(view, noun);
}

/* Nouns that match. */
static bool find_matches(const struct pm_view *view, const struct pm_pattern *focus, bool *ret_in)
{
    const struct pm_graph *graph = view->data->graph;
    bool any = false, is_name = focus->kind == PM_PATTERN_ANY;
    for (pm_index n = 0; is_name && n < graph->n_nouns; n++)
        any |= ret_in[n] = noun_matches(view, focus, true, n);
    for (pm_index n = 0, all = !any; all && n < graph->n_nouns; n++)
        any |= ret_in[n] = noun_matches(view, focus, false, n);
    return any;
}

/* Nouns that match or lie below one that does, on the where axis. */
static bool find_nouns(const struct pm_view *view, const struct pm_pattern *focus, bool *ret_in)
{
    const struct pm_graph *graph = view->data->graph;
    bool any = find_matches(view, focus, ret_in);
    for (pm_index n = 0; any && n < graph->n_nouns; n++)
        for (pm_index up = graph->nouns[n].parent;
             up != PM_NONE && !ret_in[n] && is_within(view, focus, n); up = graph->nouns[up].parent)
            ret_in[n] = ret_in[up];
    return any;
}

/* Sentences with such a noun, and all from which mappings lead to one. Statements are mapped to
 * what they touch, but only a part of their code touches it: mappings within a level are not
 * followed. `queue` has room for all sentences. */
static void find_sentences(const struct pm_graph *graph, const bool *noun_in, pm_index *queue,
                           bool *ret_in)
{
    uint32_t n = 0;
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        const struct pm_graph_sentence *sentence = &graph->sentences[s];
        for (uint32_t i = 0; i < sentence->n_nouns && !ret_in[s]; i++)
            if (noun_in[graph->sentence_nouns[sentence->first_noun + i]]) {
                ret_in[s] = true;
                queue[n++] = s;
            }
    }
    for (uint32_t at = 0; at < n; at++)
        for (uint32_t e = graph->in_first[queue[at]]; e < graph->in_first[queue[at] + 1]; e++) {
            pm_index from = graph->mappings[graph->in[e]].source;
            if (!ret_in[from] &&
                pm_graph_sentence_level(graph, from) != pm_graph_sentence_level(graph, queue[at])) {
                ret_in[from] = true;
                queue[n++] = from;
            }
        }
}

static enum pm_status nothing_matches(const struct pm_view *view, const char *text,
                                      const struct pm_pattern *focus, struct pm_error *err)
{
    bool all = view->options.everything;
    const char *subject = all ? "the construct" : "focus",
               *where = all ? "in the archive" : "that was measured";
    const struct pm_graph *graph = view->data->graph;
    const char **names = pm_alloc_array((size_t)graph->n_nouns + 1, sizeof *names);
    uint32_t n = 0;
    bool is_known = false;
    for (pm_index i = 0; names && i < graph->n_nouns; i++) {
        const struct pm_graph_noun *noun = &graph->nouns[i];
        is_known |= pm_pattern_fits(focus, noun);
        bool is_file = focus->kind == PM_PATTERN_FILE,
             is_process = focus->kind == PM_PATTERN_ANY && pm_view_noun_is(view, i, "process");
        if (is_file ? *noun->file != 0 : pm_pattern_fits_kind(focus, noun) && !is_process)
            names[n++] = is_file ? pm_view_base_name(noun->file) : noun->name;
    }
    const char *near = names && !is_known ? pm_suggest(focus->name.text, names) : NULL;
    if (is_known && !all)
        pm_error_set(err, PM_ERR_NOT_FOUND,
                     "%s '%s' is known, but nothing that was measured is mapped to it: was it "
                     "inlined everywhere, compiled without the plugin, or never active? ('perfmap "
                     "ask' says more)",
                     subject, text);
    else if (near)
        pm_error_set(err, PM_ERR_NOT_FOUND, "%s '%s' matches nothing %s; did you mean '%.*s%s'?",
                     subject, text, where, (int)focus->prefix.len, focus->prefix.p, near);
    else
        pm_error_set(err, PM_ERR_NOT_FOUND,
                     "%s '%s' matches nothing %s; "
                     "forms: func:NAME, loop:FILE:LINE, statement:FILE:LINE, array:NAME, "
                     "variable:NAME, file:NAME, "
                     "or a name, with * and ?",
                     subject, text, where);
    free(names);
    return PM_ERR_NOT_FOUND;
}

enum { MAX_LISTED = 6 };

/* Of nouns with a place: one of that name and place was met before. */
static bool is_repeated(const struct pm_graph *graph, const pm_index *listed, uint32_t n,
                        const struct pm_graph_noun *noun)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_graph_noun *other = &graph->nouns[listed[i]];
        if (other->line_no == noun->line_no && !strcmp(other->name, noun->name) &&
            !strcmp(other->file, noun->file))
            return true;
    }
    return false;
}

enum { LONG_NAME = 50 }; /* goes without its parameters */

static void add_listed(const struct pm_graph_noun *noun, bool is_first, struct pm_buf *out)
{
    pm_buf_add_str(out, is_first ? "" : ", ");
    pm_cxx_add_brief(noun->name, LONG_NAME, out);
    pm_buf_printf(out, " (%s:%u)", pm_view_base_name(noun->file), noun->line_no);
}

bool pm_view_add_fitting(const struct pm_view *view, const char *text, struct pm_buf *out)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_pattern pattern = pm_pattern_in(text, graph);
    pm_index listed[MAX_LISTED];
    uint32_t n = 0, n_more = 0;
    struct pm_buf list = PM_BUF_INIT(1 << 20);
    if (strpbrk(text, "*?") || pattern.kind == PM_PATTERN_FILE)
        return false;
    for (pm_index i = 0; i < graph->n_nouns; i++) {
        const struct pm_graph_noun *noun = &graph->nouns[i];
        if (!*noun->file || !noun->line_no || pm_view_noun_is(view, i, "file") ||
            strcmp(graph->levels[noun->level].name, "Source") != 0 ||
            !pm_pattern_fits(&pattern, noun) || is_repeated(graph, listed, n, noun))
            continue;
        if (n == MAX_LISTED) {
            n_more++;
            continue;
        }
        add_listed(noun, n == 0, &list);
        listed[n++] = i;
    }
    bool several = n > 1 && !list.failed;
    if (several)
        pm_buf_printf(out, "'%s' names %s%u: %s", text, n_more ? "more than " : "", n, list.data);
    pm_buf_release(&list);
    return several;
}

enum pm_status pm_view_find_named(const struct pm_view *view, const char *text,
                                  struct pm_error *err, bool **ret_in)
{
    struct pm_pattern focus = pm_pattern_in(text, view->data->graph);
    bool *in = pm_alloc_array(view->data->graph->n_nouns, sizeof *in);
    if (!in)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (find_matches(view, &focus, in)) {
        *ret_in = in;
        return PM_OK;
    }
    free(in);
    return nothing_matches(view, text, &focus, err);
}

/* Leaves in in_focus the contexts at or below the pattern's; with code_only, whose own code is the
 * pattern's. noun_in, sentence_in, queue: room. */
struct looking {
    bool *noun_in, *sentence_in, *context_in;
    pm_index *queue;
};

static enum pm_status look_for(struct pm_view *view, const char *text, bool code_only,
                               struct looking *l, struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    struct pm_pattern focus = pm_pattern_in(text, graph);
    bool any = false;
    memset(l->noun_in, 0, graph->n_nouns * sizeof *l->noun_in);
    memset(l->sentence_in, 0, graph->n_sentences * sizeof *l->sentence_in);
    memset(l->context_in, 0, graph->n_contexts * sizeof *l->context_in);
    if (find_nouns(view, &focus, l->noun_in)) {
        find_sentences(graph, l->noun_in, l->queue, l->sentence_in);
        for (pm_index c = 0; c < graph->n_contexts; c++) {
            pm_index parent = graph->contexts[c].parent;
            bool is_below = !code_only && parent != PM_NONE && l->context_in[parent];
            l->context_in[c] = l->sentence_in[graph->contexts[c].sentence] || is_below;
            any |= l->context_in[c];
        }
    }
    if (!any && !code_only)
        return nothing_matches(view, text, &focus, err);
    for (pm_index c = 0; c < graph->n_contexts; c++)
        view->in_focus[c] &= l->context_in[c];
    return PM_OK;
}

enum pm_status pm_view_focus(struct pm_view *view, struct pm_error *err)
{
    const struct pm_view_options *options = &view->options;
    const struct pm_graph *graph = view->data->graph;
    struct looking l = {
        .noun_in = pm_alloc_array(graph->n_nouns, sizeof *l.noun_in),
        .sentence_in = pm_alloc_array(graph->n_sentences, sizeof *l.sentence_in),
        .context_in = pm_alloc_array(graph->n_contexts, sizeof *l.context_in),
        .queue = pm_alloc_array(graph->n_sentences, sizeof *l.queue),
    };
    enum pm_status status = PM_OK;
    view->in_focus = pm_alloc_array(graph->n_contexts, sizeof *view->in_focus);
    if (!view->in_focus || !l.noun_in || !l.sentence_in || !l.context_in || !l.queue) {
        status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
        goto out;
    }
    memset(view->in_focus, 1, graph->n_contexts);
    for (const char *const *focus = options->focus; *focus && status == PM_OK; focus++)
        status = look_for(view, *focus, false, &l, err);
    if (status == PM_OK && options->instance)
        status = look_for(view, options->instance, true, &l, err);
out:
    free(l.noun_in);
    free(l.sentence_in);
    free(l.context_in);
    free(l.queue);
    return status;
}

bool pm_view_foci_exclude(const struct pm_view *view)
{
    const struct pm_view_options *options = &view->options;
    bool are_several =
        options->focus[0] ? options->focus[1] || options->on[0] : options->on[0] && options->on[1];
    return are_several && view->n_rows == 0;
}
