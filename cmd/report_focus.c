/* --focus: the contexts on whose path a sentence of a matching noun is active, or whose code is mapped to
 * one: an inner loop has no sled, yet what was sampled in it is known to be its own. */
#include "cmd.h"
#include "report.h"

#include "mapping/base/names.h"

#include <stdlib.h>

enum focus_kind {
    FOCUS_ANY,
    FOCUS_CODE,
    FOCUS_FUNCTION,
    FOCUS_LOOP,
    FOCUS_FILE,
    FOCUS_PROCESS,
    FOCUS_STATEMENT,
    FOCUS_LINE, /* statements, by their lines */
    FOCUS_ARRAY,
    FOCUS_VARIABLE,
    FOCUS_KIND /* of nouns of somebody's own: query, request */
};

static const struct focus_prefix {
    const char *prefix;
    enum focus_kind kind;
} prefixes[] = {{"func:", FOCUS_FUNCTION},       {"function:", FOCUS_FUNCTION},
                {"symbol:", FOCUS_FUNCTION},     {"loop:", FOCUS_LOOP},
                {"file:", FOCUS_FILE},           {"process:", FOCUS_PROCESS},
                {"statement:", FOCUS_STATEMENT}, {"line:", FOCUS_LINE},
                {"array:", FOCUS_ARRAY},         {"variable:", FOCUS_VARIABLE}};

struct focus {
    enum focus_kind kind;
    const char *prefix, *pattern; /* prefix as it was written, "" none */
    size_t kind_bytes;            /* of text, FOCUS_KIND */
};

/* The kind that stands before a colon, when the archive has nouns of it. */
static size_t length_of_kind(const struct report *report, const char *text)
{
    size_t len = strcspn(text, ":");
    if (!text[len] || text[len + 1] == ':')
        return 0;
    for (pm_index n = 0; n < report->data->graph->n_nouns; n++) {
        const char *kind = report->data->graph->nouns[n].kind;
        if (!strncmp(kind, text, len) && !kind[len])
            return len;
    }
    return 0;
}

static struct focus parse_focus(const struct report *report, const char *text)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(text, prefixes[i].prefix, strlen(prefixes[i].prefix)))
            return (struct focus){prefixes[i].kind, prefixes[i].prefix,
                                  text + strlen(prefixes[i].prefix), 0};
    size_t len = length_of_kind(report, text);
    return len ? (struct focus){FOCUS_KIND, text, text + len + 1, len}
               : (struct focus){FOCUS_ANY, "", text, 0};
}

/* Names may hold what patterns give a meaning to (operator[]), so the text itself counts too. */
static struct pm_name_pattern pattern_of(const struct focus *focus)
{
    return (struct pm_name_pattern){.text = focus->pattern, .is_plain_too = true};
}

static bool matches_place(const struct pm_name_pattern *pattern, const struct pm_noun *noun)
{
    return pm_name_fits_place(pattern, noun->file, noun->line_no, noun->column_no);
}

/* "u" finds sweep::u, "sweep::u" and "heat.c:12" (where it is declared), too. */
static bool matches_object(const struct pm_name_pattern *pattern, const struct pm_noun *noun)
{
    return pm_name_fits(pattern, noun->name) || matches_place(pattern, noun) ||
           pm_name_fits_part(pattern, noun->name, "");
}

/* "sweep" finds sweep(int, double) and heat::sweep(int). */
static bool matches_function(const struct pm_name_pattern *pattern, const struct pm_noun *noun)
{
    return pm_name_fits(pattern, noun->name) || pm_name_fits(pattern, noun->linkage) ||
           pm_name_fits_part(pattern, noun->name, "(");
}

static bool noun_matches(const struct report *report, const struct focus *focus, pm_index n)
{
    const struct pm_noun *noun = &report->data->graph->nouns[n];
    const struct pm_name_pattern pattern = pattern_of(focus);
    bool is_process = report_noun_is(report, n, "process");
    switch (focus->kind) {
    case FOCUS_FUNCTION:
        return report_noun_is_code(report, n) && matches_function(&pattern, noun);
    case FOCUS_LOOP:
        return report_noun_is_loop(report, n) &&
               (pm_name_fits_path(&pattern, noun->name) || matches_place(&pattern, noun));
    case FOCUS_STATEMENT:
    case FOCUS_LINE:
        return report_noun_is_statement(report, n) &&
               (pm_name_fits_path(&pattern, noun->name) || matches_place(&pattern, noun));
    case FOCUS_ARRAY:
        return report_noun_is_array(report, n) && matches_object(&pattern, noun);
    case FOCUS_VARIABLE:
        return report_noun_is_object(report, n) && matches_object(&pattern, noun);
    case FOCUS_FILE:
        if (report_noun_is_object(report,
                                  n)) /* where it is declared says nothing of what uses it */
            return false;
        return pm_name_fits_path(&pattern, noun->file) ||
               (report_noun_is(report, n, "file") && pm_name_fits_path(&pattern, noun->name));
    case FOCUS_KIND:
        return !strncmp(noun->kind, focus->prefix, focus->kind_bytes) &&
               !noun->kind[focus->kind_bytes] && pm_name_fits(&pattern, noun->name);
    case FOCUS_PROCESS:
        return is_process && (pm_name_fits(&pattern, noun->name) ||
                              pm_name_fits(&pattern, report_base_name(noun->name)));
    case FOCUS_CODE:
        if (!report_noun_is_code(report, n) && !report_noun_is_loop(report, n) &&
            !report_noun_is_statement(report, n) && !report_noun_is(report, n, "file"))
            return false;
        /* fall through */
    case FOCUS_ANY:
        return !is_process &&
               (matches_function(&pattern, noun) || matches_place(&pattern, noun) ||
                (report_noun_is_object(report, n) && matches_object(&pattern, noun)) ||
                (report_noun_is(report, n, "file") && pm_name_fits_path(&pattern, noun->name)));
    }
    return false;
}

/* What lies below a function on the where axis is its code, but also its variables, which others may use:
 * these are not within it. */
static bool is_within(const struct report *report, const struct focus *focus, pm_index noun)
{
    bool of_objects = focus->kind == FOCUS_ARRAY || focus->kind == FOCUS_VARIABLE;
    return of_objects || !report_noun_is_object(report, noun);
}

/* Nouns that match. */
static bool find_matches(const struct report *report, const struct focus *focus, bool *ret_in)
{
    const struct pm_graph *graph = report->data->graph;
    bool any = false;
    struct focus code = {FOCUS_CODE, focus->prefix, focus->pattern, 0};
    /* A name alone means code, if there is any of that name, before it means data. */
    for (pm_index n = 0; focus->kind == FOCUS_ANY && n < graph->n_nouns; n++)
        any |= ret_in[n] = noun_matches(report, &code, n);
    for (pm_index n = 0, all = !any; all && n < graph->n_nouns; n++)
        any |= ret_in[n] = noun_matches(report, focus, n);
    return any;
}

/* Nouns that match or lie below one that does, on the where axis. */
static bool find_nouns(const struct report *report, const struct focus *focus, bool *ret_in)
{
    const struct pm_graph *graph = report->data->graph;
    bool any = find_matches(report, focus, ret_in);
    for (pm_index n = 0; any && n < graph->n_nouns; n++)
        for (pm_index up = graph->nouns[n].parent;
             up != PM_NONE && !ret_in[n] && is_within(report, focus, n);
             up = graph->nouns[up].parent)
            ret_in[n] = ret_in[up];
    return any;
}

/* Sentences with such a noun, and all from which mappings lead to one. Statements are mapped to what they touch, but only a part of
 * their code touches it: mappings within a level are not followed. `queue` has room for all sentences. */
static void find_sentences(const struct pm_graph *graph, const bool *noun_in, pm_index *queue,
                           bool *ret_in)
{
    uint32_t n = 0;
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        const struct pm_sentence *sentence = &graph->sentences[s];
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

static enum pm_status nothing_matches(const struct report *report, const char *text,
                                      const struct focus *focus, struct pm_error *err)
{
    bool all = report->options.everything;
    const char *subject = all ? "the construct" : "focus",
               *where = all ? "in the archive" : "that was measured";
    const struct pm_graph *graph = report->data->graph;
    const char **names = pm_alloc_array((size_t)graph->n_nouns + 1, sizeof *names);
    uint32_t n = 0;
    for (pm_index i = 0; names && i < graph->n_nouns; i++) {
        const struct pm_noun *noun = &graph->nouns[i];
        if (focus->kind == FOCUS_FILE       ? *noun->file != 0
            : focus->kind == FOCUS_FUNCTION ? report_noun_is_code(report, i)
            : focus->kind == FOCUS_LOOP     ? report_noun_is_loop(report, i)
            : focus->kind == FOCUS_PROCESS  ? report_noun_is(report, i, "process")
            : focus->kind == FOCUS_ARRAY    ? report_noun_is_array(report, i)
            : focus->kind == FOCUS_VARIABLE ? report_noun_is_object(report, i)
            : focus->kind == FOCUS_KIND ? !strncmp(noun->kind, focus->prefix, focus->kind_bytes) &&
                                              !noun->kind[focus->kind_bytes]
            : focus->kind == FOCUS_STATEMENT || focus->kind == FOCUS_LINE
                ? report_noun_is_statement(report, i)
                : !report_noun_is(report, i, "process"))
            names[n++] = focus->kind == FOCUS_FILE ? report_base_name(noun->file) : noun->name;
    }
    const char *near = names ? cmd_suggest(focus->pattern, names) : NULL;
    if (near)
        pm_error_set(err, PM_ERR_NOT_FOUND, "%s '%s' matches nothing %s; did you mean '%s%s'?",
                     subject, text, where, focus->kind == FOCUS_KIND ? "" : focus->prefix, near);
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

enum pm_status report_find_named(const struct report *report, const char *text,
                                 struct pm_error *err, bool **ret_in)
{
    struct focus focus = parse_focus(report, text);
    bool *in = pm_alloc_array(report->data->graph->n_nouns, sizeof *in);
    if (!in)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (find_matches(report, &focus, in)) {
        *ret_in = in;
        return PM_OK;
    }
    free(in);
    return nothing_matches(report, text, &focus, err);
}

enum pm_status report_focus(struct report *report, struct pm_error *err)
{
    const struct pm_graph *graph = report->data->graph;
    report->in_focus = pm_alloc_array(graph->n_contexts, sizeof *report->in_focus);
    if (!report->in_focus)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (!report->options.focus) {
        memset(report->in_focus, 1, graph->n_contexts);
        return PM_OK;
    }
    struct focus focus = parse_focus(report, report->options.focus);
    bool *noun_in = pm_alloc_array(graph->n_nouns, sizeof *noun_in),
         *sentence_in = pm_alloc_array(graph->n_sentences, sizeof *sentence_in);
    pm_index *queue = pm_alloc_array(graph->n_sentences, sizeof *queue);
    enum pm_status status =
        noun_in && sentence_in && queue ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    bool any = false;
    if (status == PM_OK && find_nouns(report, &focus, noun_in)) {
        find_sentences(graph, noun_in, queue, sentence_in);
        for (pm_index c = 0; c < graph->n_contexts; c++) {
            pm_index parent = graph->contexts[c].parent;
            report->in_focus[c] = sentence_in[graph->contexts[c].sentence] ||
                                  (parent != PM_NONE && report->in_focus[parent]);
            any |= report->in_focus[c];
        }
    }
    if (status == PM_OK && !any)
        status = nothing_matches(report, report->options.focus, &focus, err);
    free(noun_in);
    free(sentence_in);
    free(queue);
    return status;
}
