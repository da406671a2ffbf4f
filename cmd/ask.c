/* perfmap ask */
#include "ask.h"
#include "cmd.h"

#include <stdlib.h>

enum {
    OPT_METRIC = CMD_KEY_FIRST,
    OPT_FOLD,
    OPT_LIMIT,
    OPT_CSV,
    OPT_NO_COMPENSATION,
    OPT_LIVE,
    OPT_EVERY,
    OPT_FOR,
    OPT_MODE
};
enum { TABLE_LIMIT = 20, LIVE_MS = 5000 };

struct ask_request {
    struct ask_options options;
    struct pm_view_options report;
    struct ask_live live;
    bool limit_given, is_live;
};

/* --- restrictions --- */

static bool thread_fits(const struct pm_archive_data *data, const struct pm_question_limit *limit,
                        uint32_t thread)
{
    const struct pm_thread *t = &data->threads[thread];
    const struct pm_process *p = &data->processes[t->process];
    char number[32];
    if (limit->where == PM_QUESTION_ON_THREAD) {
        snprintf(number, sizeof number, "%lld", (long long)t->tid);
        return pm_question_word_fits(&limit->word, number) ||
               pm_question_word_fits(&limit->word, t->name);
    }
    if (limit->where == PM_QUESTION_ON_RANK) {
        snprintf(number, sizeof number, "%lld", (long long)p->rank);
        return p->rank != PM_UNKNOWN && pm_question_word_fits(&limit->word, number);
    }
    const char *slash = strrchr(p->exe, '/');
    snprintf(number, sizeof number, "%lld", (long long)p->pid);
    return pm_question_word_fits(&limit->word, number) ||
           pm_question_word_fits(&limit->word, p->exe) ||
           (slash && pm_question_word_fits(&limit->word, slash + 1));
}

static enum pm_status nothing_there(const struct pm_archive_data *data,
                                    const struct pm_question_limit *limit, struct pm_error *err)
{
    bool is_thread = limit->where == PM_QUESTION_ON_THREAD;
    struct pm_buf list = PM_BUF_INIT(4096);
    uint32_t n = is_thread ? data->n_threads : data->n_processes;
    for (uint32_t i = 0; i < n && i < 8; i++) {
        const char *name = is_thread ? data->threads[i].name : data->processes[i].exe;
        int64_t number = is_thread ? data->threads[i].tid : data->processes[i].pid;
        pm_buf_printf(&list, "%s%lld%s%s%s", i ? ", " : "", (long long)number, *name ? " (" : "",
                      name, *name ? ")" : "");
    }
    pm_error_set(err, PM_ERR_NOT_FOUND,
                 "question column %u: no %s '%s' in this archive; there are %s%s",
                 limit->word.column, is_thread ? "thread" : "process", limit->word.text,
                 list.data ? list.data : "none", n > 8 ? ", ..." : "");
    pm_buf_release(&list);
    return PM_ERR_NOT_FOUND;
}

static enum pm_status no_such_rank(const struct pm_archive_data *data,
                                   const struct pm_question_limit *limit, struct pm_error *err)
{
    int64_t low = INT64_MAX, high = -1;
    for (uint32_t i = 0; i < data->n_processes; i++) {
        int64_t rank = data->processes[i].rank;
        low = rank != PM_UNKNOWN && rank < low ? rank : low;
        high = rank != PM_UNKNOWN && rank > high ? rank : high;
    }
    if (high < 0)
        return pm_error_set(err, PM_ERR_NOT_FOUND,
                            "question column %u: this archive knows no ranks: its processes were "
                            "not started by mpirun or the like",
                            limit->word.column);
    return pm_error_set(
        err, PM_ERR_NOT_FOUND,
        "question column %u: no rank '%s' in this archive; there are ranks %lld to %lld",
        limit->word.column, limit->word.text, (long long)low, (long long)high);
}

/* NULL in *ret_in: all threads. */
static enum pm_status find_threads(const struct pm_question *question,
                                   const struct pm_archive_data *data, struct pm_error *err,
                                   bool **ret_in)
{
    *ret_in = NULL;
    if (question->n_limits == 0)
        return PM_OK;
    bool *in = pm_alloc_array(data->n_threads + 1u, sizeof *in);
    if (!in)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    memset(in, 1, data->n_threads * sizeof *in);
    *ret_in = in;
    for (uint32_t l = 0; l < question->n_limits; l++) {
        const struct pm_question_limit *limit = &question->limits[l];
        bool any = false;
        for (uint32_t t = 0; t < data->n_threads; t++) {
            bool fits = thread_fits(data, limit, t);
            any |= fits;
            in[t] &= fits;
        }
        if (!any && limit->where == PM_QUESTION_ON_RANK)
            return no_such_rank(data, limit, err);
        if (!any)
            return nothing_there(data, limit, err);
    }
    return PM_OK;
}

/* --- sentences that match nothing --- */

/* The archive's other sentences, which no cost leads to, tell more. True: the sentence is known,
 * it was only never active. */
static enum pm_status explain(struct pm_view *report, const struct pm_question *question,
                              struct pm_answer *answer, struct pm_error *err, bool *ret_possible)
{
    struct pm_archive_data *all = NULL;
    enum pm_status status = pm_archive_load(
        report->options.archive_path,
        PM_ARCHIVE_LOAD_ALL | PM_ARCHIVE_LOAD_CAUSES | PM_ARCHIVE_LOAD_MERGED, err, &all);
    for (uint32_t i = 0; status == PM_OK && i < answer->n_notes; i++) {
        const struct pm_question_sentence *s = &question->sentences[answer->notes[i].sentence];
        struct pm_question_matches matches;
        bool known = false;
        status = pm_question_match(s, all->graph, err, &matches);
        for (pm_index k = 0; status == PM_OK && k < all->graph->n_sentences; k++)
            known |= matches.class_of[k] != PM_NONE;
        pm_question_matches_release(&matches);
        struct pm_buf text = PM_BUF_INIT(4096);
        pm_buf_printf(&text, "%s is known, but was never active in this run", s->text);
        answer->notes[i].text = known && text.data
                                    ? pm_arena_strndup(&answer->arena, text.data, text.len)
                                    : pm_question_why_nothing(s, all->graph, &answer->arena);
        pm_buf_release(&text);
        *ret_possible &= known;
        if (!answer->notes[i].text && status == PM_OK)
            status = pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; status == PM_OK && i < answer->n_notes && !*ret_possible; i++)
        pm_error_set(err, PM_ERR_NOT_FOUND, "%s", answer->notes[i].text);
    pm_archive_data_free(all);
    return status == PM_OK && !*ret_possible ? PM_ERR_NOT_FOUND : status;
}

/* Is there a sentence that is not denied among those that nothing fits? `not` of what does not
 * exist is well answered. */
static bool matters(const struct pm_answer *answer)
{
    for (uint32_t i = 0; i < answer->n_notes; i++)
        for (uint32_t k = 0; k < answer->n_asked; k++)
            if (answer->notes[i].sentence == answer->asked[k])
                return true;
    return false;
}

/* What was not followed all the time: marks the rows that it has a part in. */
static void mark_rows(struct pm_answer *answer, uint32_t asked, uint32_t class)
{
    for (uint32_t r = 0; r < answer->n_rows; r++)
        for (uint32_t k = 0; k < answer->rows[r].matches[asked].n_classes; k++)
            answer->rows[r].times_at_least |= answer->rows[r].matches[asked].classes[k] == class;
}

/* Loops that were entered, some of whose code has no sleds. */
static void mark_bare(const struct pm_archive_data *data, struct pm_answer *answer)
{
    const struct pm_graph *graph = data->graph;
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        pm_index s = graph->contexts[c].sentence;
        if (graph->contexts[c].flags & (PM_CONTEXT_INLINED | PM_CONTEXT_SAMPLED))
            continue;
        for (uint32_t e = graph->out_first[s]; e <= graph->out_first[s + 1]; e++) {
            bool itself = e == graph->out_first[s + 1];
            pm_index to = itself ? s : graph->mappings[graph->out[e]].destination;
            pm_index noun = pm_graph_first_noun(graph, to);
            for (uint32_t i = 0;
                 noun != PM_NONE && (data->bare[noun] & PM_BARE_OF_CALLS) && i < answer->n_asked;
                 i++) {
                uint32_t class = answer->matches[answer->asked[i]].class_of[to];
                if (class != PM_NONE)
                    mark_rows(answer, i, class);
            }
        }
    }
}

static bool is_bare(const struct pm_archive_data *data, pm_index noun)
{
    return (data->bare[noun] & PM_BARE_OF_CALLS) != 0;
}

/* Whether a function around the loop fits as well: its sleds tell when that is active. */
static bool has_function_around(const struct pm_archive_data *data, const bool *fits, pm_index noun)
{
    const struct pm_noun *nouns = data->graph->nouns;
    pm_index above = nouns[noun].parent;
    while (above != PM_NONE && strcmp(nouns[above].kind, "function") != 0)
        above = nouns[above].parent;
    return above != PM_NONE && fits[above] && !is_bare(data, above);
}

/* Code without sleds that a question asks for may have run all the same. */
static bool find_bare(const struct pm_archive_data *data, const uint32_t *class_of)
{
    const struct pm_graph *graph = data->graph;
    bool found = false, *fits = calloc((size_t)graph->n_nouns + 1, sizeof *fits);
    if (!fits)
        return true;
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        pm_index noun = pm_graph_first_noun(graph, s);
        if (noun != PM_NONE)
            fits[noun] |= class_of[s] != PM_NONE;
    }
    for (pm_index n = 0; n < graph->n_nouns && !found; n++)
        found =
            fits[n] && is_bare(data, n) &&
            (strcmp(graph->nouns[n].kind, "function") == 0 || !has_function_around(data, fits, n));
    free(fits);
    return found;
}

static void mark_costs(struct pm_answer *answer, uint32_t asked, uint32_t class)
{
    for (uint32_t r = 0; r < answer->n_rows; r++)
        for (uint32_t k = 0; k < answer->rows[r].matches[asked].n_classes; k++)
            answer->rows[r].costs_at_least |= answer->rows[r].matches[asked].classes[k] == class;
}

static bool is_disarmed(const struct pm_graph *graph, struct pm_answer *answer, pm_index noun)
{
    bool found = false;
    for (pm_index s = 0; s < graph->n_sentences; s++)
        for (uint32_t i = 0; pm_graph_first_noun(graph, s) == noun && i < answer->n_asked; i++) {
            const uint32_t *class_of = answer->matches[answer->asked[i]].class_of;
            if (class_of[s] != PM_NONE) {
                mark_rows(answer, i, class_of[s]);
                mark_costs(answer, i, class_of[s]); /* of what it called meanwhile */
                found = true;
            }
            for (uint32_t k = graph->out_first[s]; k < graph->out_first[s + 1]; k++) {
                uint32_t class = class_of[graph->mappings[graph->out[k]].destination];
                if (class != PM_NONE) {
                    mark_rows(answer, i, class);
                    mark_costs(answer, i, class);
                    found = true;
                }
            }
        }
    return found;
}

/* Without contexts, for the first time in the list. */
static bool begins_to_miss(const struct pm_archive_data *data, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (data->noun_modes[k].noun == data->noun_modes[i].noun &&
            data->noun_modes[k].mode < PM_RUN_MODE_ACTIVE)
            return false;
    return data->noun_modes[i].mode < PM_RUN_MODE_ACTIVE;
}

static enum pm_status add_note(struct pm_answer *answer, const struct pm_buf *text,
                               struct pm_error *err)
{
    const char *note = text->data && !text->failed
                           ? pm_arena_strndup(&answer->arena, text->data, text->len)
                           : NULL;
    if (!note)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    if (answer->n_notes < PM_QUESTION_MAX_NOTES)
        answer->notes[answer->n_notes++] = (struct pm_answer_note){UINT32_MAX, note};
    return PM_OK;
}

/* The run was made for this question: what it left out is not missed. */
static bool is_made_for(const struct pm_archive_data *data, uint32_t process,
                        const struct pm_question *question)
{
    const struct pm_execution *execution = &data->executions[data->processes[process].execution];
    return strcmp(execution->question, question->text) == 0;
}

static bool is_missed(const struct pm_archive_data *data, const struct pm_question *question,
                      bool is_live, uint32_t i)
{
    const struct pm_noun_mode *mode = &data->noun_modes[i];
    if (is_live) /* what it was before the question was asked does not matter */
        return !mode->is_asked && mode->until_ns == PM_UNKNOWN && mode->mode < PM_RUN_MODE_ACTIVE;
    return begins_to_miss(data, i) &&
           !(mode->is_asked && is_made_for(data, mode->process, question));
}

static enum pm_status note_other_question(const struct pm_view *report,
                                          const struct pm_question *question,
                                          struct pm_answer *answer, struct pm_error *err)
{
    const struct pm_archive_data *data = report->data;
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < data->n_executions && status == PM_OK; i++) {
        const char *made_for = data->executions[i].question;
        struct pm_buf text = PM_BUF_INIT(PM_QUESTION_MAX_BYTES + 1024);
        if (!*made_for || !strcmp(made_for, question->text))
            continue;
        pm_buf_printf(&text,
                      "the run followed only what the question %s needs: calls of all else are "
                      "missing ('perfmap run' without --ask follows all)",
                      made_for);
        status = add_note(answer, &text, err);
        answer->is_partial = true;
        pm_buf_release(&text);
    }
    return status;
}

/* Only how often, one by one: there are no costs but calls, and nothing is active together. */
static enum pm_status note_counted(const struct pm_view *report, const struct pm_question *question,
                                   struct pm_answer *answer, struct pm_error *err)
{
    static const char text[] =
        "mode count knows calls only, not what was active at the same time: that takes mode active "
        "or exact";
    const struct pm_archive_data *data = report->data;
    bool counted = false;
    for (uint32_t i = 0; i < data->n_executions; i++)
        counted |= !strcmp(data->executions[i].mode, "count");
    struct pm_buf note = PM_BUF_INIT(sizeof text);
    pm_buf_printf(&note, "%s", text);
    counted &= question->n_sentences > 1;
    answer->is_partial |= counted;
    enum pm_status status = counted ? add_note(answer, &note, err) : PM_OK;
    pm_buf_release(&note);
    return status;
}

static bool is_asked(const struct pm_answer *answer, pm_index sentence)
{
    for (uint32_t i = 0; i < answer->n_asked; i++)
        if (answer->matches[answer->asked[i]].class_of[sentence] != PM_NONE)
            return true;
    return false;
}

/* Of what was active, and of the whole run. */
static void find_doubt(const struct pm_view *report, struct pm_answer *answer)
{
    const struct pm_graph *graph = report->data->graph;
    double doubt_ns = 0, all_doubt_ns = 0;
    pm_index metric = report->wall_metric;
    if (!report->doubt_ns || metric == PM_NONE)
        return;
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        all_doubt_ns += (double)report->doubt_ns[c];
        doubt_ns += answer->active[c] ? (double)report->doubt_ns[c] : 0;
    }
    answer->is_doubtful =
        pm_view_share_is_doubtful((double)answer->amounts[metric].value, doubt_ns,
                                  (double)answer->totals[metric].value, all_doubt_ns);
}

/* Functions that were inlined, and loops without sleds, of which it is not known what they
 * called. */
static enum pm_status note_lacking(struct pm_view *report, struct pm_answer *answer,
                                   struct pm_error *err)
{
    enum { MAX_NAMES = 3 };
    const struct pm_archive_data *data = report->data;
    struct pm_buf text = PM_BUF_INIT(1 << 24); /* names may be long */
    bool *seen = pm_alloc_array(data->graph->n_nouns, sizeof *seen);
    uint32_t n = 0;
    for (pm_index s = 0; seen && s < data->graph->n_sentences; s++) {
        pm_index noun = pm_graph_first_noun(data->graph, s);
        if (noun == PM_NONE || !(data->bare[noun] & PM_BARE_LACKS) || seen[noun] ||
            !is_asked(answer, s))
            continue;
        for (uint32_t i = 0; i < answer->n_asked; i++)
            mark_costs(answer, i, answer->matches[answer->asked[i]].class_of[s]);
        seen[noun] = true;
        const char *name = ++n <= MAX_NAMES ? pm_view_noun_name(report, noun) : NULL;
        if (n <= MAX_NAMES)
            pm_buf_printf(&text, "%s'%s'", n > 1 ? ", " : "at least: ", name ? name : "");
    }
    if (n > MAX_NAMES)
        pm_buf_printf(&text, " and %u more", n - MAX_NAMES);
    if (n)
        pm_buf_printf(&text,
                      " %s inlined code or %s without sleds: some of what was called there "
                      "counts for the function around only",
                      n == 1 ? "is" : "are", n == 1 ? "a loop" : "loops");
    enum pm_status status = !seen ? pm_error_set(err, PM_ERR_MEMORY, "out of memory")
                            : n   ? add_note(answer, &text, err)
                                  : PM_OK;
    answer->is_partial |= n != 0;
    free(seen);
    pm_buf_release(&text);
    return status;
}

/* Does the sentence mean inlined code of which it is not known what it called, or data that
 * functions get that are not known? */
static enum pm_status find_lacking(const struct pm_question_sentence *s,
                                   const struct pm_archive_data *all, struct pm_error *err,
                                   unsigned *ret_lacking)
{
    struct pm_question_matches matches;
    enum pm_status status = pm_question_match(s, all->graph, err, &matches);
    *ret_lacking = 0;
    for (pm_index k = 0; status == PM_OK && k < all->graph->n_sentences; k++) {
        pm_index noun = pm_graph_first_noun(all->graph, k);
        if (matches.class_of[k] != PM_NONE && noun != PM_NONE)
            *ret_lacking |= all->bare[noun] & (PM_BARE_LACKS | PM_BARE_PASSED_ON);
    }
    pm_question_matches_release(&matches);
    return status;
}

/* "Known, but never active" says too much then. */
static void drop_note(struct pm_answer *answer, uint32_t sentence)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < answer->n_notes; i++)
        if (answer->notes[i].sentence != sentence)
            answer->notes[n++] = answer->notes[i];
    answer->n_notes = n;
}

/* Nothing was found. A function that was inlined, and did no more than call others, was perhaps
 * active all the same: of its own code there is no sample, and no cost leads to it. */
static enum pm_status note_unseen(struct pm_view *report, const struct pm_question *question,
                                  struct pm_answer *answer, struct pm_error *err)
{
    struct pm_archive_data *all = NULL;
    if (answer->n_rows || answer->is_partial)
        return PM_OK;
    enum pm_status status = pm_archive_load(
        report->options.archive_path, PM_ARCHIVE_LOAD_ALL | PM_ARCHIVE_LOAD_MERGED, err, &all);
    for (uint32_t i = 0; i < answer->n_asked && status == PM_OK; i++) {
        const struct pm_question_sentence *s = &question->sentences[answer->asked[i]];
        struct pm_buf text = PM_BUF_INIT(4096);
        unsigned lacking;
        status = find_lacking(s, all, err, &lacking);
        if (status == PM_OK && lacking) {
            answer->is_partial = true;
            if (lacking & PM_BARE_PASSED_ON)
                drop_note(answer, answer->asked[i]);
            pm_buf_printf(&text,
                          lacking & PM_BARE_LACKS
                              ? "%s is inlined code that no sample met: what was called there "
                                "counts for the function around only"
                              : "%s: its address is passed to functions that are not known",
                          s->text);
            status = add_note(answer, &text, err);
        }
        pm_buf_release(&text);
    }
    pm_archive_data_free(all);
    return status;
}

/* Where they were nobody knows. */
static enum pm_status note_lost(struct pm_view *report, struct pm_answer *answer,
                                struct pm_error *err)
{
    int64_t n_lost = report->n_lost_events = pm_view_n_lost_events(report->data);
    struct pm_buf text = PM_BUF_INIT(1024);
    if (!n_lost)
        return PM_OK;
    answer->is_partial = true;
    for (uint32_t r = 0; r < answer->n_rows; r++)
        answer->rows[r].times_at_least = true;
    pm_buf_printf(
        &text,
        "%lld event%s (entries and exits of code) %s lost, because a file size limit, memory or "
        "another limit was reached: what was active then is missing, whole threads perhaps",
        (long long)n_lost, n_lost == 1 ? "" : "s", n_lost == 1 ? "was" : "were");
    enum pm_status status = add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}

static enum pm_status note_disarmed(struct pm_view *report, const struct pm_question *question,
                                    bool is_live, struct pm_answer *answer, struct pm_error *err)
{
    const struct pm_archive_data *data = report->data;
    struct pm_buf text = PM_BUF_INIT(1 << 24); /* names may be long */
    uint32_t n = 0, n_by_budget = 0;
    mark_bare(data, answer);
    for (uint32_t i = 0; i < answer->n_asked; i++)
        answer->is_partial |= find_bare(data, answer->matches[answer->asked[i]].class_of);
    enum pm_status status = note_lost(report, answer, err);
    for (uint32_t i = 0; i < data->n_noun_modes; i++) {
        if (!is_missed(data, question, is_live, i) ||
            !is_disarmed(data->graph, answer, data->noun_modes[i].noun))
            continue;
        n_by_budget += !data->noun_modes[i].is_asked;
        const char *name = ++n <= 3 ? pm_view_noun_name(report, data->noun_modes[i].noun) : NULL;
        if (n <= 3)
            pm_buf_printf(&text, "%s'%s'", n > 1 ? ", " : "", name ? name : "");
    }
    if (n > 3)
        pm_buf_printf(&text, " and %u more", n - 3);
    if (n)
        pm_buf_printf(
            &text, " %s followed for a part of the run only, %s: what was called from there %s",
            n == 1 ? "was" : "were", n_by_budget ? "to keep the budget" : "if at all, as asked",
            n_by_budget ? "later is missing ('perfmap run --ask' follows what a question needs, "
                          "--budget none all)"
                        : "meanwhile is missing");
    if (n && status == PM_OK)
        status = add_note(answer, &text, err);
    answer->is_partial |= n != 0;
    pm_buf_release(&text);
    return status == PM_OK && !is_live ? note_other_question(report, question, answer, err)
                                       : status;
}

/* --- the command --- */

/* Metrics that were not measured yet may come. */
static enum pm_status choose_metrics(struct pm_view *report, bool is_live, struct pm_error *err)
{
    enum pm_status status = pm_view_choose_metrics(report, err);
    if (status != PM_ERR_USAGE || !is_live)
        return status;
    pm_error_release(err);
    report->options.metrics = NULL;
    report->n_metrics = 0;
    return pm_view_choose_metrics(report, err);
}

/* Costs of the threads that the question is about. */
struct costs {
    struct pm_cost *items;
    uint32_t n, cap;
};

static bool keep_cost(void *context, const struct pm_cost *cost)
{
    struct costs *costs = context;
    if (costs->n == costs->cap) {
        uint32_t cap = costs->cap ? costs->cap * 2 : 1024;
        struct pm_cost *more =
            cap > costs->cap ? pm_realloc_array(costs->items, cap, sizeof *more) : NULL;
        if (!more)
            return false;
        costs->items = more;
        costs->cap = cap;
    }
    costs->items[costs->n++] = *cost;
    return true;
}

/* Processes of one program share their costs, unless some of them are asked for. */
static enum pm_status ask_graph(struct pm_view *report, const struct pm_question *question,
                                struct pm_error *err, struct pm_answer **ret_answer)
{
    struct pm_graph *graph = report->data->graph;
    struct pm_question_run run = {.graph = graph, .calls_metric = report->calls_metric};
    bool *threads_in = NULL;
    struct costs own = {0};
    enum pm_status status = find_threads(question, report->data, err, &threads_in);
    if (status == PM_OK && threads_in)
        status = pm_view_each_cost(report, threads_in, keep_cost, &own, err);
    struct pm_cost *merged = graph->costs;
    uint32_t n_merged = graph->n_costs;
    if (threads_in) {
        graph->costs = own.items;
        graph->n_costs = own.n;
    }
    if (status == PM_OK)
        status = pm_question_ask(question, &run, err, ret_answer);
    graph->costs = merged;
    graph->n_costs = n_merged;
    free(own.items);
    free(threads_in);
    return status;
}

enum pm_status ask_make(struct pm_view *report, const struct pm_question *question, bool is_live,
                        struct pm_error *err, struct pm_answer **ret_answer)
{
    struct pm_answer *answer = NULL;
    bool possible = true;
    unsigned flags = PM_ARCHIVE_LOAD_CAUSES | PM_ARCHIVE_LOAD_MERGED;
    enum pm_status status =
        pm_view_load(report, flags | (question->n_limits ? PM_ARCHIVE_LOAD_KEPT : 0), err);
    if (status == PM_OK)
        status = pm_view_choose_level(report, err);
    if (status == PM_OK)
        status = choose_metrics(report, is_live, err);
    if (status == PM_OK)
        status = pm_view_fold(report, err);
    if (status == PM_OK)
        status = pm_view_sum_folded(report, err);
    if (status == PM_OK)
        status = pm_view_find_untimed(report, err);
    if (status == PM_OK)
        status = pm_view_compensate(report, err);
    if (status == PM_OK)
        status = pm_view_naming_start(report, err);
    if (status == PM_OK)
        status = ask_graph(report, question, err, &answer);
    if (status == PM_OK && is_live)
        answer->n_notes = 0; /* what is not there yet may come */
    if (status == PM_OK && answer->n_notes)
        status = explain(report, question, answer, err, &possible);
    if (status == PM_ERR_NOT_FOUND && answer && !matters(answer)) {
        pm_error_release(err);
        status = PM_OK;
    }
    if (status == PM_OK)
        status = note_disarmed(report, question, is_live, answer, err);
    if (status == PM_OK && !is_live)
        status = note_counted(report, question, answer, err);
    if (status == PM_OK)
        find_doubt(report, answer);
    if (status == PM_OK && !is_live)
        status = note_lacking(report, answer, err);
    if (status == PM_OK && !is_live)
        status = note_unseen(report, question, answer, err);
    if (status == PM_OK)
        *ret_answer = answer;
    else
        pm_answer_free(answer);
    return status;
}

enum pm_status ask_print(struct pm_view *report, const struct pm_question *question,
                         const struct pm_answer *answer, const struct ask_options *options,
                         struct pm_error *err)
{
    if (options->json)
        ask_print_json(report, question, answer, options, stdout);
    else if (options->csv)
        ask_print_csv(report, question, answer, options, stdout);
    else if (!ask_print_table(report, question, answer, options, stdout))
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    return PM_OK;
}

static enum pm_status answer_question(struct ask_request *request, struct pm_view *report,
                                      struct pm_error *err)
{
    struct pm_question *question = NULL;
    struct pm_answer *answer = NULL;
    struct pm_ask_cost cost;
    enum pm_status status = pm_question_parse(request->options.text, err, &question);
    if (status == PM_ERR_USAGE && !strchr(request->options.text, '{'))
        pm_ask_offer_sentences(report, request->options.text, err);
    if (status == PM_OK)
        status = ask_make(report, question, false, err, &answer);
    if (status == PM_OK)
        status = pm_ask_find_cost(report->data, question, err, &cost);
    request->options.cost = &cost;
    if (status == PM_OK)
        status = ask_print(report, question, answer, &request->options, err);
    request->options.cost = NULL;
    pm_answer_free(answer);
    pm_question_free(question);
    return status;
}

enum pm_status ask_archive(const char *question, const char *archive, const char *metrics,
                           struct pm_error *err)
{
    struct ask_request request = {.options = {.text = question, .limit = TABLE_LIMIT}};
    struct pm_view report = {
        .options = {.level = "source", .metrics = metrics, .archive_path = archive}};
    enum pm_status status = answer_question(&request, &report, err);
    pm_view_release(&report);
    return status;
}

static int ask(struct cmd_parse *parse, struct ask_request *request)
{
    struct pm_error err = PM_ERROR_INIT;
    struct pm_view report = {.options = request->report};
    enum pm_status status = answer_question(request, &report, &err);
    int end;
    if (status == PM_ERR_USAGE) {
        end = cmd_usage_error(parse, "%s", pm_error_text(&err));
        pm_error_release(&err);
    } else {
        end = status == PM_OK ? cmd_stdout_done(parse, CMD_DONE) : cmd_fail(parse, &err);
    }
    pm_view_release(&report);
    return end;
}

enum { MAX_HOURS = 1000 };

/* To the millisecond, and one at least. */
static void parse_time(struct cmd_parse *parse, uint64_t *ret_ms)
{
    uint64_t ns;
    if (!cmd_time(parse, MAX_HOURS * 3600000000000u, &ns))
        return;
    if (ns < 1000000)
        (void)cmd_usage_error(parse, "option '--%s' takes 1ms at least, not '%s'", parse->option,
                              parse->value);
    *ret_ms = (ns + 500000) / 1000000;
}

static int ask_running(struct cmd_parse *parse, struct ask_request *request)
{
    if (parse->n_operands != 1)
        return cmd_usage_error(parse, "expected a question (in quotes), and no archive");
    request->options.text = parse->operands[0];
    if (!request->live.every_ms && !request->live.for_ms)
        request->live.for_ms = LIVE_MS;
    return ask_live(parse, &request->live, &request->options, &request->report);
}

static void take_options(struct cmd_parse *parse, struct ask_request *request)
{
    static const char *const modes[] = {"active", "exact", "trace"};
    for (int key; (key = cmd_next(parse)) != CMD_END;)
        switch (key) {
        case OPT_METRIC:
            request->report.metrics = parse->value;
            break;
        case OPT_FOLD:
            request->report.folds = parse->choice == 0;
            break;
        case OPT_NO_COMPENSATION:
            request->report.no_compensation = true;
            break;
        case OPT_LIMIT:
            request->limit_given = cmd_number(parse, UINT32_MAX, &request->options.limit);
            break;
        case OPT_CSV:
            request->options.csv = true;
            break;
        case CMD_KEY_JSON:
            request->options.json = true;
            break;
        case OPT_LIVE:
            request->is_live = cmd_number(parse, INT32_MAX, &request->live.pid);
            break;
        case OPT_EVERY:
            parse_time(parse, &request->live.every_ms);
            break;
        case OPT_FOR:
            parse_time(parse, &request->live.for_ms);
            break;
        case OPT_MODE:
            request->live.mode = modes[parse->choice];
            break;
        default:
            report_take_look(parse, key, &request->options.look);
        }
}

static int ask_main(struct cmd_parse *parse)
{
    struct ask_request request = {.options = {.limit = TABLE_LIMIT}, .report = {.level = "source"}};
    take_options(parse, &request);
    if (parse->failed)
        return CMD_USAGE;
    if (request.options.json && request.options.csv)
        return cmd_usage_error(parse, "'--json' and '--csv' cannot both be");
    if ((request.options.json || request.options.csv) && !request.limit_given)
        request.options.limit = 0;
    if (request.is_live)
        return ask_running(parse, &request);
    if (request.live.every_ms || request.live.for_ms || request.live.mode)
        return cmd_usage_error(parse, "'--every', '--for' and '--mode' are for '--live PID'");
    if (parse->n_operands < 1 || parse->n_operands > 2)
        return cmd_usage_error(parse, "expected a question (in quotes) and an archive");
    /* The other way round nothing else can be meant. */
    bool begins_with_archive = cmd_file_kind(parse->operands[0]) == CMD_FILE_ARCHIVE;
    bool is_swapped = parse->n_operands == 2 && begins_with_archive &&
                      cmd_file_kind(parse->operands[1]) != CMD_FILE_ARCHIVE;
    if (begins_with_archive && !is_swapped)
        return cmd_usage_error(parse, "'%s' is an archive: expected a question (in quotes)%s",
                               parse->operands[0],
                               parse->n_operands == 2 ? " and one archive" : " before it");
    request.options.text = parse->operands[is_swapped];
    request.report.archive_path = parse->operands[!is_swapped];
    char *found = NULL;
    if (parse->n_operands == 1) {
        found = report_only_archive(parse);
        if (!found)
            return CMD_USAGE;
        request.report.archive_path = found;
    }
    int end = ask(parse, &request);
    free(found);
    return end;
}

static const struct cmd_option ask_options[] = {
    {OPT_METRIC, "metric", "NAMES",
     "metrics to show, separated by commas; the first one but n_calls is for shares and order "
     "(default: the time that was measured)"},
    {OPT_FOLD, "fold", "system|none",
     "code of system headers (C++'s library) counts for the code of the program that uses it, and "
     "cannot be asked for itself (system); or where it is (none, default)"},
    {OPT_LIMIT, "limit", "NUMBER",
     "rows to print, 0 for all (default: 20; with --json and --csv all)"},
    {OPT_NO_COMPENSATION, "no-compensation", NULL,
     "leave the estimated cost of measuring in the times (mode exact)"},
    {OPT_LIVE, "live", "PID",
     "ask a program that 'perfmap run' measures now (any process of the run): what the question "
     "needs is armed, and goes back to what it was afterwards. The answer is of the time between"},
    {OPT_EVERY, "every", "TIME",
     "with --live: an answer for each interval of that length (0.5s, 200ms), until Ctrl-C or the "
     "program's end"},
    {OPT_FOR, "for", "TIME", "with --live: how long. 5s unless given, without an end with --every"},
    {OPT_MODE, "mode", "active|exact|trace",
     "with --live: how what is needed is measured; the run's own mode unless given"},
    {CMD_KEY_JSON, "json", NULL, "as JSON; docs/questions.md has the schema"},
    {OPT_CSV, "csv", NULL, "as CSV, one line for each row after a line of names"},
    REPORT_LOOK_OPTIONS,
    {0}};

static const char *const ask_usage[] = {"ask [OPTION]... QUESTION [ARCHIVE]",
                                        "ask --live PID [OPTION]... QUESTION", NULL};

static const struct cmd_example ask_examples[] = {
    {"perfmap ask '{u Reads}' heat.perfmap", "what do reads of the array u cost?"},
    {"perfmap ask '{u Reads}, {sweep Executes}' heat.perfmap",
     "and those within the function sweep?"},
    {"perfmap ask '{main Executes} then {? Reads}, not {setup Executes}'",
     "reads of anything inside main, but not during setup"},
    {"perfmap ask '{file:heat.c ?}' --metric cpu_ns,n_calls", "all that heat.c does"},
    {"perfmap ask --live 4711 '{sweep Executes}' --every 1s",
     "what sweeps cost in each second of a program that runs"},
    {NULL, NULL}};

static const char *const ask_environment[] = {"COLUMNS",
                                              "width of the table; without it the terminal's. Not "
                                              "on a terminal: as wide as names of 160 take",
                                              "NO_COLOR",
                                              "when not empty, no colours with --color=auto", NULL};

const struct cmd cmd_ask = {
    .name = "ask",
    .summary = "ask what was spent while some sentences were active",
    .usage = ask_usage,
    .description =
        "A question is made of sentences, nouns and a verb in braces: {u Reads}. Its answer is the "
        "cost that was incurred while they were active: on the path of calls and "
        "loops, or because the code that ran implements them. Words between sentences:\n"
        "\n"
        "    {a V}, {b V}       both are active (also 'and')\n"
        "    {a V} or {b V}     one of them is\n"
        "    not {a V}          it is not\n"
        "    {a V} then {b V}   b became active inside a, not a inside b\n"
        "    ... on thread T    also process P: costs of some only\n"
        "    ... during P       while P was begun, a phase, say; or outside P\n"
        "\n"
        "A noun or verb may be ? (any) or have * and ? in it; LEVEL::NAME says the level, "
        "KIND:NAME the kind, as in loop:heat.c:22. A name with blanks or braces stands in "
        "quotes. Parts of a noun belong to it: a function's loops, a file's functions. Without a "
        "level the "
        "highest one counts that has what fits. 'perfmap nouns', "
        "'verbs', 'sentences' and 'levels' show what can be asked.\n"
        "\n"
        "Each row names the sentences that matched; code that implements several of them at once "
        "is "
        "one row. 'shared' is the part of a cost whose code does the same for others as well. "
        "'deferred' is the part in which a match was active by a cause only: work that was handed "
        "over "
        "to another thread or process. 'times' is how "
        "often the row became active, as far as calls were counted.",
    .options = ask_options,
    .examples = ask_examples,
    .environment = ask_environment,
    .main = ask_main,
};
