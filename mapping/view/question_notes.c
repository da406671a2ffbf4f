/* What an answer does not say by itself: sentences that nothing fits, and what was not followed. */
#include "question_parts.h"

#include "format/pm_mode.h"
#include "mapping/base/banned.h"

#include <stdlib.h>
#include <strings.h>

/* --- code of which it is not known what it touches --- */

/* Is it machine code without late map, of no library of a language? */
static bool is_unknown_code(const struct pm_view *view, pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(view->data->graph, sentence);
    return noun != PM_NONE && pm_view_noun_is_of_unknown_data(view, noun);
}

static double share_of_unknown(const struct pm_view *view)
{
    const struct pm_graph *graph = view->data->graph;
    double all = 0, unknown = 0;
    if (view->samples_metric == PM_NONE)
        return 0;
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric != view->cpu_metric)
            continue;
        all += (double)cost->value;
        unknown += is_unknown_code(view, graph->contexts[cost->context].sentence)
                       ? (double)cost->value
                       : 0;
    }
    return all > 0 ? unknown / all : 0;
}

/* Less is noise: the C library's start files, say. */
static bool has_unknown_code(const struct pm_view *view)
{
    static const double told_from = 0.01;
    return share_of_unknown(view) >= told_from;
}

/* What looks like a level may be a part of the name: "main::u". */
static bool is_level(const struct pm_graph *graph, const char *name)
{
    for (pm_index i = 0; i < graph->n_levels; i++)
        if (!strcasecmp(graph->levels[i].name, name))
            return true;
    return false;
}

static bool is_of_source(const struct pm_graph *graph, const struct pm_question_word *word)
{
    return !word->level || !strcasecmp(word->level, "Source") || !is_level(graph, word->level);
}

/* {u Reads}, in form. */
bool pm_ask_is_of_data(const struct pm_graph *graph, const struct pm_question_sentence *sentence)
{
    const char *verb = sentence->verb.pattern;
    bool is = is_of_source(graph, &sentence->verb) && verb &&
              (!strcmp(verb, "Reads") || !strcmp(verb, "Writes"));
    for (uint32_t i = 0; i < sentence->n_nouns; i++)
        is &= is_of_source(graph, &sentence->nouns[i]);
    return is;
}

/* Is it of data that is there, whatever is done with that? */
static enum pm_status find_data(const struct pm_question_sentence *sentence,
                                const struct pm_graph *graph, struct pm_error *err, bool *ret_found)
{
    struct pm_question_sentence any = *sentence;
    struct pm_question_matches matches;
    *ret_found = false;
    if (!pm_ask_is_of_data(graph, sentence))
        return PM_OK;
    any.verb = (struct pm_question_word){.pattern = "?", .whole = "?", .text = "?", .any = true};
    enum pm_status status = pm_question_match(&any, graph, err, &matches);
    for (pm_index s = 0; status == PM_OK && s < graph->n_sentences; s++) {
        pm_index noun = pm_graph_first_noun(graph, s);
        *ret_found |= matches.class_of[s] != PM_NONE && noun != PM_NONE &&
                      pm_noun_is_data(&graph->nouns[noun]);
    }
    pm_question_matches_release(&matches);
    return status;
}

/* --- sentences that match nothing --- */

/* What the archive has of a sentence that no cost leads to. */
struct unmet {
    bool is_known, is_followed, is_of_data, needs_samples;
    bool lacks_called; /* what it called counts for others, perhaps */
    unsigned side;
};

static enum pm_status find_unmet(const struct pm_view *view,
                                 const struct pm_question_sentence *sentence,
                                 const struct pm_question_matches *matches, struct pm_error *err,
                                 struct unmet *ret)
{
    const struct pm_graph *graph = view->archive->graph;
    enum pm_status status = find_data(sentence, graph, err, &ret->is_of_data);
    ret->is_known = pm_ask_fits_any(graph, matches);
    ret->needs_samples =
        !ret->is_followed && (ret->is_known || ret->is_of_data) && pm_ask_n_samples(view) == 0;
    return status;
}

/* Nothing: why nothing fits is said in match.c. */
static void add_unmet(struct pm_buf *out, const struct pm_view *view, const struct unmet *unmet,
                      const char *sentence)
{
    if (unmet->needs_samples)
        pm_ask_add_needs_samples(out, sentence);
    else if (unmet->is_known && unmet->lacks_called)
        pm_buf_printf(out, "%s is known, but was not followed: what it called %s", sentence,
                      pm_ask_fate_of(unmet->side));
    else if (unmet->is_known)
        pm_buf_printf(out,
                      unmet->is_followed ? "%s is known, but was never active in this run"
                                         : "%s is known, but no sample met it",
                      sentence);
    else if (unmet->is_of_data && has_unknown_code(view))
        pm_buf_printf(out, "no code that the plugin compiled is %s", sentence);
}

static enum pm_status explain_note(const struct pm_view *view,
                                   const struct pm_question_sentence *sentence,
                                   const struct unmet *unmet, struct pm_answer *answer,
                                   struct pm_error *err, const char **ret_text)
{
    struct pm_buf text = PM_BUF_INIT(PM_QUESTION_MAX_BYTES + 1024);
    add_unmet(&text, view, unmet, sentence->text);
    *ret_text = text.len && !text.failed
                    ? pm_arena_strndup(&answer->arena, text.data, text.len)
                    : pm_question_why_nothing(sentence, view->archive->graph, &answer->arena);
    pm_buf_release(&text);
    return *ret_text ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

/* What is denied may be true in all of the answer. */
static void mark_unmet(struct pm_answer *answer, unsigned side)
{
    pm_ask_mark_answer(answer, side);
    if (side == PM_ASK_ASKED)
        return;
    pm_ask_mark_all_costs(answer, PM_ASK_DENIED);
    for (uint32_t r = 0; r < answer->n_rows; r++)
        answer->rows[r].times_at_most = true;
}

/* The archive's other sentences, which no cost leads to, tell more. ret_possible: the sentences are
 * known, they were only never active. */
static enum pm_status explain(const struct pm_view *view, const struct pm_question *question,
                              const struct pm_ask_whole *whole, struct pm_answer *answer,
                              struct pm_error *err, bool *ret_possible)
{
    bool is_known = pm_ask_is_known(view, question, answer, whole->followed);
    *ret_possible = true;
    for (uint32_t i = 0; i < answer->n_notes; i++) {
        uint32_t at = answer->notes[i].sentence;
        struct unmet unmet = {.is_followed = whole->followed[at],
                              .lacks_called = pm_ask_lacks_called(view, whole, answer, at),
                              .side = pm_ask_side_of(answer, at)};
        enum pm_status status =
            find_unmet(view, &question->sentences[at], &whole->matches[at], err, &unmet);
        if (status == PM_OK)
            status = explain_note(view, &question->sentences[at], &unmet, answer, err,
                                  &answer->notes[i].text);
        if (status != PM_OK)
            return status;
        if ((unmet.needs_samples || unmet.lacks_called) && !is_known)
            mark_unmet(answer, unmet.side);
        *ret_possible &= unmet.is_known || unmet.is_of_data;
    }
    return PM_OK;
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

/* The archive with all of its sentences, those that were never active, too. The view's graph is its
 * own, and stays as it is. */
enum pm_status pm_ask_load_all(struct pm_view *view, struct pm_error *err)
{
    if (!view->loaded) /* lent: all is there */
        return PM_OK;
    struct pm_graph *graph = view->data->graph;
    enum pm_status status = pm_archive_load_rest(view->loaded, err);
    *view->data = *view->loaded;
    view->data->graph = graph;
    return status;
}

enum pm_status pm_ask_note_nothing(struct pm_view *view, const struct pm_question *question,
                                   struct pm_ask_whole *whole, struct pm_answer *answer,
                                   struct pm_error *err)
{
    bool is_possible = true;
    if (answer->n_notes == 0)
        return PM_OK;
    enum pm_status status = pm_ask_find_followed(view, question, false, err, whole);
    if (status != PM_OK)
        return status;
    status = explain(view, question, whole, answer, err, &is_possible);
    if (status != PM_OK || is_possible || !matters(answer))
        return status;
    for (uint32_t i = 0; i < answer->n_notes; i++)
        status = pm_error_set(err, PM_ERR_NOT_FOUND, "%s", answer->notes[i].text);
    return status;
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
                 noun != PM_NONE && (data->bare[noun] & (PM_BARE_OF_CALLS | PM_BARE_ENTRIES)) &&
                 i < answer->n_asked;
                 i++)
                pm_ask_mark_times(answer, answer->asked[i],
                                  answer->matches[answer->asked[i]].class_of[to]);
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
    const struct pm_graph_noun *nouns = data->graph->nouns;
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

/* What was never off was counted meanwhile, and all of its calls are known. Of what else was active
 * then nothing is: that matters to questions of several sentences. */
static bool lacks_times(const struct pm_archive_data *data, const struct pm_question *question,
                        pm_index noun)
{
    for (uint32_t i = 0; i < data->n_noun_modes; i++)
        if (data->noun_modes[i].noun == noun && data->noun_modes[i].mode == PM_RUN_MODE_OFF)
            return true;
    return question->n_sentences > 1;
}

/* lacks: times, too. */
static unsigned mark_disarmed(struct pm_answer *answer, uint32_t sentence, uint32_t class,
                              bool lacks)
{
    if (lacks)
        pm_ask_mark_times(answer, sentence, class);
    return pm_ask_mark_costs(answer, sentence, class); /* of what it called meanwhile */
}

/* Which sides of the question that touches. lacks: times, too. */
static unsigned sides_disarmed(const struct pm_graph *graph, struct pm_answer *answer,
                               pm_index noun, bool lacks)
{
    unsigned sides = 0;
    for (pm_index s = 0; s < graph->n_sentences; s++)
        for (uint32_t i = 0; pm_graph_first_noun(graph, s) == noun && i < answer->n_sentences;
             i++) {
            const uint32_t *class_of = answer->matches[i].class_of;
            sides |= mark_disarmed(answer, i, class_of[s], lacks);
            for (uint32_t k = graph->out_first[s]; k < graph->out_first[s + 1]; k++)
                sides |= mark_disarmed(answer, i,
                                       class_of[graph->mappings[graph->out[k]].destination], lacks);
        }
    return sides;
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

enum pm_status pm_ask_add_note(struct pm_answer *answer, const struct pm_buf *text,
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

static enum pm_status note_other_question(const struct pm_view *view,
                                          const struct pm_question *question,
                                          struct pm_answer *answer, struct pm_error *err)
{
    const struct pm_archive_data *data = view->data;
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
        status = pm_ask_add_note(answer, &text, err);
        answer->is_partial = true;
        answer->is_open |= question->n_sentences > 1;
        pm_buf_release(&text);
    }
    return status;
}

static bool has_mode_count(const struct pm_archive_data *data)
{
    for (uint32_t i = 0; i < data->n_executions; i++)
        if (!strcmp(data->executions[i].mode, "count"))
            return true;
    return false;
}

/* Counters have no path: a call of itself is a call. */
static bool has_counted(const struct pm_view *view, const struct pm_answer *answer)
{
    const struct pm_graph *graph = view->data->graph;
    bool all = has_mode_count(view->data);
    for (uint32_t i = 0; i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (cost->metric == view->calls_metric && cost->value > 0 &&
            answer->active[cost->context] &&
            (all || graph->contexts[cost->context].flags & PM_CONTEXT_COUNTED))
            return true;
    }
    return false;
}

/* Nobody knows what was active around them. */
static void mark_counted(struct pm_answer *answer)
{
    answer->is_at_most = true;
    for (uint32_t r = 0; r < answer->n_rows; r++)
        answer->rows[r].times_at_most |= answer->rows[r].times_known;
}

/* Only how often, one by one: there are no costs but calls, and nothing is active together. */
static enum pm_status note_counted(const struct pm_view *view, const struct pm_question *question,
                                   struct pm_answer *answer, struct pm_error *err)
{
    bool lacks_paths = question->n_sentences > 1 && has_mode_count(view->data);
    struct pm_buf note = PM_BUF_INIT(1024);
    bool has_any = has_counted(view, answer);
    if (lacks_paths)
        pm_ask_mark_answer(answer, PM_ASK_ASKED);
    if (has_any && pm_ask_denies(answer))
        mark_counted(answer);
    if (lacks_paths)
        pm_buf_add_str(&note, "mode count knows calls only, not what was active at the same time: "
                              "that takes mode active or exact");
    else if (has_any && pm_ask_denies(answer))
        pm_buf_add_str(&note, "calls of code that was only counted have no path: some of them are "
                              "perhaps in what the question leaves out (not)");
    else if (has_any)
        pm_buf_add_str(&note, "of code that was only counted, 'times' are its calls: those that it "
                              "made of itself (recursion) are in them");
    enum pm_status status = note.len ? pm_ask_add_note(answer, &note, err) : PM_OK;
    pm_buf_release(&note);
    return status;
}

/* Of what was active, and of the whole run. */
static void find_doubt(const struct pm_view *view, struct pm_answer *answer)
{
    const struct pm_graph *graph = view->data->graph;
    double doubt_ns = 0, all_doubt_ns = 0, shift_ns = 0;
    pm_index metric = view->wall_metric;
    answer->is_doubtful = pm_view_times_hold_readings(view);
    if (!view->doubt_ns || metric == PM_NONE || answer->is_doubtful)
        return;
    for (pm_index c = 0; c < graph->n_contexts; c++) {
        all_doubt_ns += (double)view->doubt_ns[c];
        doubt_ns += answer->active[c] ? (double)view->doubt_ns[c] : 0;
        pm_index above = view->timed_above[c];
        bool crosses = above != PM_NONE && answer->active[c] != answer->active[above];
        shift_ns += crosses ? (double)view->boundary_ns[c] : 0;
    }
    answer->is_doubtful =
        pm_view_share_is_doubtful((double)answer->amounts[metric].value, doubt_ns, shift_ns,
                                  (double)answer->totals[metric].value, all_doubt_ns);
}

/* Where they were nobody knows. */
static enum pm_status note_lost(struct pm_view *view, struct pm_answer *answer,
                                struct pm_error *err)
{
    int64_t n_lost = view->n_lost_events = pm_view_n_lost_events(view->data);
    struct pm_buf text = PM_BUF_INIT(1024);
    if (!n_lost)
        return PM_OK;
    bool denies = pm_ask_denies(answer);
    pm_ask_mark_answer(answer, PM_ASK_ASKED | (denies ? PM_ASK_DENIED : 0));
    pm_ask_mark_all_costs(answer, PM_ASK_ASKED | (denies ? PM_ASK_DENIED : 0));
    for (uint32_t r = 0; r < answer->n_rows; r++) {
        answer->rows[r].times_at_least = true;
        answer->rows[r].times_at_most = denies;
    }
    pm_buf_printf(
        &text,
        "%lld event%s (entries and exits of code) %s lost, because a file size limit, memory or "
        "another limit was reached: what was active then is missing, whole threads perhaps",
        (long long)n_lost, n_lost == 1 ? "" : "s", n_lost == 1 ? "was" : "were");
    enum pm_status status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}

/* {u Reads}: at level Source, and not of files. */
static bool asks_for_data(const struct pm_view *view, const struct pm_question_sentence *sentence,
                          const struct pm_question_matches *matches)
{
    const struct pm_graph *graph = view->data->graph;
    bool is = pm_ask_is_of_data(graph, sentence), fits_any = false, fits_data = false;
    for (pm_index s = 0; is && s < graph->n_sentences && !fits_data; s++) {
        pm_index noun = pm_graph_first_noun(graph, s);
        bool fits = matches->class_of[s] != PM_NONE;
        fits_any |= fits;
        fits_data |= fits && noun != PM_NONE && pm_view_noun_is_object(view, noun);
    }
    return is && (fits_data || !fits_any);
}

/* The sides of the question that ask for data. */
static unsigned sides_of_data(const struct pm_view *view, const struct pm_question *question,
                              const struct pm_answer *answer)
{
    unsigned sides = 0;
    for (uint32_t i = 0; i < question->n_sentences; i++)
        if (asks_for_data(view, &question->sentences[i], &answer->matches[i]))
            sides |= pm_ask_side_of(answer, i);
    return sides;
}

static bool is_not_located(const struct pm_view *view, pm_index sentence)
{
    pm_index noun = pm_graph_first_noun(view->data->graph, sentence);
    return noun != PM_NONE && pm_view_noun_is(view, noun, "lost");
}

/* What is true at most is true with all of such code, too. */
static void widen_bounds(const struct pm_view *view, struct pm_answer *answer,
                         bool (*is_such)(const struct pm_view *, pm_index sentence))
{
    const struct pm_graph *graph = view->data->graph;
    for (uint32_t i = 0; answer->has_bounds && i < graph->n_costs; i++) {
        const struct pm_cost *cost = &graph->costs[i];
        if (graph->metrics[cost->metric].aggregation == PM_SUM && !answer->active[cost->context] &&
            is_such(view, graph->contexts[cost->context].sentence))
            answer->most[cost->metric] += cost->value;
    }
    for (pm_index m = 0; answer->has_bounds && m < graph->n_metrics; m++)
        if (answer->most[m] > answer->totals[m].value)
            answer->most[m] = answer->totals[m].value;
}

/* CPU time that no sample stands for, while something was active around what was asked for; or
 * that counts for it, and was perhaps spent in what is denied. */
static unsigned sides_without_samples(const struct pm_view *view, const struct pm_answer *answer)
{
    const struct pm_graph *graph = view->data->graph;
    unsigned sides = 0;
    for (pm_index c = 0; view->lost_ns && c < graph->n_contexts; c++) {
        pm_index around = graph->contexts[c].parent;
        if (!answer->active[c] || around == PM_NONE)
            continue;
        if (pm_view_lacks_samples(view, c, true) && !answer->active[around])
            sides |= PM_ASK_ASKED;
        bool is_it = is_not_located(view, graph->contexts[c].sentence);
        if (is_it && view->lost_ns[around] > view->least_lost_ns && pm_ask_denies(answer))
            sides |= PM_ASK_DENIED;
    }
    return sides;
}

static enum pm_status note_not_located(struct pm_view *view, struct pm_answer *answer,
                                       struct pm_error *err)
{
    enum pm_status status = pm_view_find_lost(view, err);
    if (status != PM_OK)
        return status;
    unsigned sides = sides_without_samples(view, answer);
    if (!sides || !pm_view_shows(view, view->cpu_metric)) /* counts of adapters are complete */
        return PM_OK;
    struct pm_buf text = PM_BUF_INIT(1024);
    answer->is_partial |= (sides & PM_ASK_ASKED) != 0;
    answer->is_at_most |= (sides & PM_ASK_DENIED) != 0;
    answer->samples_are_at_least = sides & PM_ASK_ASKED;
    answer->samples_are_at_most = sides & PM_ASK_DENIED;
    widen_bounds(view, answer, is_not_located);
    pm_buf_add_str(&text, "CPU time that no sample stands for, (not located) in 'perfmap report', "
                          "was spent ");
    pm_buf_add_str(&text, sides & PM_ASK_ASKED ? "around what was asked for, and perhaps in it"
                                               : "perhaps in what the question leaves out (not)");
    status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}

/* The same of events that were counted and not located; bits by position in view->metrics. */
static unsigned sides_without_places(const struct pm_view *view, const struct pm_view_lost *lost,
                                     const struct pm_answer *answer)
{
    const struct pm_graph *graph = view->data->graph;
    unsigned sides = 0;
    for (pm_index c = 0; lost->counts && c < graph->n_contexts; c++) {
        pm_index around = graph->contexts[c].parent;
        if (!answer->active[c] || around == PM_NONE)
            continue;
        if (pm_view_may_lack(view, lost, c, true) && !answer->active[around])
            sides |= PM_ASK_ASKED;
        if (is_not_located(view, graph->contexts[c].sentence) && pm_ask_denies(answer))
            sides |= PM_ASK_DENIED;
    }
    return sides;
}

static enum pm_status note_counter(struct pm_view *view, uint32_t m, struct pm_answer *answer,
                                   struct pm_error *err)
{
    struct pm_view_lost lost;
    enum pm_status status = pm_view_find_lost_of(view, view->metrics[m], err, &lost);
    if (status != PM_OK)
        return status;
    unsigned sides = sides_without_places(view, &lost, answer);
    bool is_cut = pm_view_counts_are_cut(view, m);
    free(lost.counts);
    if (sides)
        widen_bounds(view, answer, is_not_located);
    if (sides & PM_ASK_ASKED || is_cut) {
        answer->counts_at_least |= 1u << m;
        answer->is_partial = true;
    }
    if (sides & PM_ASK_DENIED) {
        answer->counts_at_most |= 1u << m;
        answer->is_at_most = true;
    }
    return PM_OK;
}

static enum pm_status say_counter(const struct pm_view *view, uint32_t m, struct pm_answer *answer,
                                  struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(1024);
    pm_buf_printf(
        &text,
        "some of %s was counted and not located, around what was asked for and perhaps in "
        "it: 'perfmap run --sample-by' locates it, and --mode exact counts it along call "
        "paths",
        view->data->graph->metrics[view->metrics[m]].name);
    enum pm_status status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}

static enum pm_status note_counters(struct pm_view *view, struct pm_answer *answer,
                                    struct pm_error *err)
{
    for (uint32_t m = 0; m < view->n_metrics; m++) {
        if (!pm_view_is_counted(view, m))
            continue;
        enum pm_status status = note_counter(view, m, answer, err);
        if (status != PM_OK)
            return status;
        bool is_said = (answer->counts_at_least | answer->counts_at_most) & 1u << m;
        status = is_said ? say_counter(view, m, answer, err) : PM_OK;
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* Objects that were compiled without the plugin may touch it as well. */
static enum pm_status note_without_map(const struct pm_view *view,
                                       const struct pm_question *question, struct pm_answer *answer,
                                       struct pm_error *err)
{
    unsigned sides = sides_of_data(view, question, answer);
    bool is_told = false;
    enum pm_status status = pm_ask_note_ways(view, sides, answer, err, &is_told);
    if (status != PM_OK || !sides || is_told || !has_unknown_code(view))
        return status;
    struct pm_buf text = PM_BUF_INIT(1024);
    answer->is_partial |= (sides & PM_ASK_ASKED) != 0;
    pm_ask_mark_all_costs(answer, sides);
    widen_bounds(view, answer, is_unknown_code);
    pm_buf_printf(&text,
                  "%.1f %% of the run's CPU time are in code without the plugin's map: what that "
                  "reads and writes is not known (objects compiled without the plugin, tasks of "
                  "libraries)",
                  100 * share_of_unknown(view));
    status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}

/* Ends the list of names. */
static void add_disarmed(struct pm_buf *text, uint32_t n, bool by_budget, unsigned sides)
{
    if (n > 3)
        pm_buf_printf(text, " and %u more", n - 3);
    pm_buf_printf(
        text, " %s followed for a part of the run only, %s: what was called from there %s %s%s",
        n == 1 ? "was" : "were", by_budget ? "to keep the budget" : "if at all, as asked",
        by_budget ? "later" : "meanwhile", pm_ask_fate_of(sides),
        by_budget ? " ('perfmap run --ask' follows what a question needs, --budget none all)" : "");
}

static enum pm_status note_disarmed(struct pm_view *view, const struct pm_question *question,
                                    bool is_live, struct pm_answer *answer, struct pm_error *err)
{
    const struct pm_archive_data *data = view->data;
    struct pm_buf text = PM_BUF_INIT(1 << 24); /* names may be long */
    uint32_t n = 0;
    unsigned sides = 0;
    bool by_budget = false;
    for (uint32_t i = 0; i < data->n_noun_modes; i++) {
        pm_index noun = data->noun_modes[i].noun;
        unsigned more =
            is_missed(data, question, is_live, i)
                ? sides_disarmed(data->graph, answer, noun, lacks_times(data, question, noun))
                : 0;
        if (!more)
            continue;
        sides |= more;
        by_budget |= !data->noun_modes[i].is_asked;
        const char *name = ++n <= 3 ? pm_view_noun_name(view, noun) : NULL;
        if (n <= 3)
            pm_buf_printf(&text, "%s'%s'", n > 1 ? ", " : "", name ? name : "");
    }
    if (n)
        add_disarmed(&text, n, by_budget, sides);
    pm_ask_mark_answer(answer, sides);
    enum pm_status status = n ? pm_ask_add_note(answer, &text, err) : PM_OK;
    pm_buf_release(&text);
    return status;
}

static enum pm_status note_not_followed(struct pm_view *view, const struct pm_question *question,
                                        bool is_live, struct pm_answer *answer,
                                        struct pm_error *err)
{
    const struct pm_archive_data *data = view->data;
    mark_bare(data, answer);
    for (uint32_t i = 0; i < answer->n_asked; i++)
        answer->is_partial |= find_bare(data, answer->matches[answer->asked[i]].class_of);
    enum pm_status status = note_lost(view, answer, err);
    if (status == PM_OK)
        status = note_disarmed(view, question, is_live, answer, err);
    return status == PM_OK && !is_live ? note_other_question(view, question, answer, err) : status;
}

enum pm_status pm_ask_note_gaps(struct pm_view *view, const struct pm_question *question,
                                bool is_live, struct pm_ask_whole *whole, struct pm_answer *answer,
                                struct pm_error *err)
{
    enum pm_status status = note_not_followed(view, question, is_live, answer, err);
    if (status == PM_OK && !is_live)
        status = note_counted(view, question, answer, err);
    if (status != PM_OK)
        return status;
    status = pm_ask_note_own(view, answer, err);
    if (status != PM_OK)
        return status;
    status = pm_ask_note_folded(view, answer, err);
    if (status != PM_OK)
        return status;
    status = pm_ask_note_untimed(view, answer, err);
    if (status != PM_OK)
        return status;
    status = note_not_located(view, answer, err);
    if (status != PM_OK)
        return status;
    status = note_counters(view, answer, err);
    if (status != PM_OK)
        return status;
    status = note_without_map(view, question, answer, err);
    if (status != PM_OK)
        return status;
    find_doubt(view, answer);
    if (is_live) /* what is not there yet may come */
        return pm_ask_find_chance(view, question, whole, answer, err);
    status = pm_ask_note_levels(view, question, answer, err);
    if (status != PM_OK)
        return status;
    status = pm_ask_note_lacking(view, question, answer, err);
    return status == PM_OK ? pm_ask_note_unseen(view, question, whole, answer, err) : status;
}
