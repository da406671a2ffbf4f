/* What a question asks for, and of which the run or the facts lack a part: code that was inlined,
 * loops without sleds, data whose address is not followed, samples. */
#include "question_parts.h"

#include "format/pm_mode.h"
#include "mapping/base/banned.h"

#include <stdlib.h>

/* A line or loop of code without the plugin's map is asked for by its function, too. */
static pm_index lacking_noun(const struct pm_archive_data *data, pm_index noun)
{
    const struct pm_graph_noun *nouns = data->graph->nouns;
    bool is_debug = noun != PM_NONE && (!strcmp(nouns[noun].kind, "line") ||
                                        !strcmp(nouns[noun].type, "machine code"));
    while (is_debug && noun != PM_NONE && !(data->bare[noun] & PM_BARE_LACKS))
        noun = strcmp(nouns[noun].kind, "function") != 0 ? nouns[noun].parent : PM_NONE;
    return noun != PM_NONE && data->bare[noun] & PM_BARE_LACKS ? noun : PM_NONE;
}

/* Why it is not known what code called: functions by being inlined, say. */
enum { LACKS_INLINED = 1, LACKS_LOOP = 2, LACKS_PLUGIN = 4 };

static unsigned reason_to_lack(const struct pm_graph_noun *noun)
{
    if (!strcmp(noun->kind, "loop"))
        return LACKS_LOOP;
    bool is_ours = !strcmp(noun->kind, "function") && strcmp(noun->type, "machine code") != 0;
    return is_ours ? LACKS_INLINED : LACKS_PLUGIN;
}

/* Sides of the question that a sentence of the archive fits; marks what it has a part in. */
static unsigned mark_sentence(struct pm_answer *answer, pm_index sentence)
{
    unsigned sides = 0;
    for (uint32_t i = 0; i < answer->n_sentences; i++)
        sides |= pm_ask_mark_costs(answer, i, answer->matches[i].class_of[sentence]);
    return sides;
}

/* What is denied and lacks calls leaves them in the answer. */
static void mark_denied_times(struct pm_answer *answer, pm_index sentence)
{
    for (uint32_t i = 0; i < answer->n_sentences; i++)
        if (answer->asked_at[i] == PM_NONE)
            pm_ask_mark_times(answer, i, answer->matches[i].class_of[sentence]);
}

static void add_reasons(struct pm_buf *text, unsigned reasons, bool several)
{
    static const struct {
        unsigned reason;
        const char *of_one, *of_several;
    } all[] = {{LACKS_INLINED, "was inlined", "were inlined"},
               {LACKS_LOOP, "is a loop without sleds", "are loops without sleds"},
               {LACKS_PLUGIN, "has no map of the plugin", "have no map of the plugin"}};
    for (size_t i = 0, n = 0; i < sizeof all / sizeof *all; i++)
        if (reasons & all[i].reason)
            pm_buf_printf(text, "%s%s", n++ ? " or " : " ",
                          several ? all[i].of_several : all[i].of_one);
}

/* Functions that were inlined, and loops without sleds, of which it is not known what they
 * called. */
static enum pm_status note_inlined_callers(struct pm_view *view, struct pm_answer *answer,
                                           struct pm_error *err)
{
    enum { MAX_NAMES = 3 };
    const struct pm_archive_data *data = view->data;
    struct pm_buf text = PM_BUF_INIT(1 << 24), names = PM_BUF_INIT(1 << 23); /* may be long */
    bool *seen = pm_alloc_array(data->graph->n_nouns, sizeof *seen);
    uint32_t n = 0;
    unsigned reasons = 0, sides = 0;
    for (pm_index s = 0; seen && s < data->graph->n_sentences; s++) {
        pm_index noun = lacking_noun(data, pm_graph_first_noun(data->graph, s));
        unsigned more = noun != PM_NONE && !seen[noun] ? mark_sentence(answer, s) : 0;
        if (!more)
            continue;
        mark_denied_times(answer, s);
        seen[noun] = true;
        sides |= more;
        reasons |= reason_to_lack(&data->graph->nouns[noun]);
        const char *name = ++n <= MAX_NAMES ? pm_view_noun_name(view, noun) : NULL;
        if (n <= MAX_NAMES)
            pm_buf_printf(&names, "%s'%s'", n > 1 ? ", " : "", name ? name : "");
    }
    if (n > MAX_NAMES)
        pm_buf_printf(&names, " and %u more", n - MAX_NAMES);
    if (n) {
        pm_buf_printf(&text, "%s: %s", pm_ask_word_of(sides), names.data ? names.data : "");
        add_reasons(&text, reasons, n > 1);
        pm_buf_printf(&text,
                      ": some of what was called there counts for the function around, not for %s",
                      n == 1 ? "it" : "them");
    }
    enum pm_status status = !seen ? pm_error_set(err, PM_ERR_MEMORY, "out of memory")
                            : n   ? pm_ask_add_note(answer, &text, err)
                                  : PM_OK;
    pm_ask_mark_answer(answer, sides);
    free(seen);
    pm_buf_release(&names);
    pm_buf_release(&text);
    return status;
}

/* --- functions that end by a jump to code without sleds --- */

/* The sentence, and what it implements. */
static unsigned mark_reached(const struct pm_graph *graph, struct pm_answer *answer,
                             pm_index sentence)
{
    unsigned sides = mark_sentence(answer, sentence);
    for (uint32_t k = graph->out_first[sentence]; k < graph->out_first[sentence + 1]; k++)
        sides |= mark_sentence(answer, graph->mappings[graph->out[k]].destination);
    return sides;
}

/* In modes that time calls, nothing tells when that code has returned. */
static enum pm_status note_jumps(struct pm_view *view, struct pm_answer *answer,
                                 struct pm_error *err)
{
    const struct pm_graph *graph = view->data->graph;
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    unsigned sides = 0;
    for (pm_index c = 0; c < graph->n_contexts && pm_view_shows_wall(view); c++)
        if (pm_view_is_left_by_jump(view, c))
            sides |= mark_reached(graph, answer, graph->contexts[c].sentence);
    if (!sides)
        return PM_OK;
    pm_ask_mark_answer(answer, sides);
    pm_buf_printf(&text,
                  "%s: what was asked for ended by jumps to code that is not measured; the time of "
                  "that counts for its callers",
                  pm_ask_word_of(sides));
    enum pm_status status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}

/* --- data whose address is not followed --- */

static unsigned lacks_of(const struct pm_archive_data *data,
                         const struct pm_question_matches *matches, unsigned which)
{
    unsigned lacks = 0;
    for (pm_index s = 0; s < data->graph->n_sentences; s++) {
        pm_index noun = pm_graph_first_noun(data->graph, s);
        if (matches->class_of[s] != PM_NONE && noun != PM_NONE)
            lacks |= data->bare[noun] & which;
    }
    return lacks;
}

/* Of the noun, or of what it implements. */
static bool matches_noun(const struct pm_graph *graph, const struct pm_question_matches *matches,
                         pm_index noun)
{
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        if (pm_graph_first_noun(graph, s) != noun)
            continue;
        bool fits = matches->class_of[s] != PM_NONE;
        for (uint32_t k = graph->out_first[s]; k < graph->out_first[s + 1]; k++)
            fits |= matches->class_of[graph->mappings[graph->out[k]].destination] != PM_NONE;
        if (fits)
            return true;
    }
    return false;
}

static bool was_off(const struct pm_archive_data *data, const struct pm_question_matches *matches)
{
    for (uint32_t i = 0; i < data->n_noun_modes; i++)
        if (data->noun_modes[i].mode < PM_RUN_MODE_ACTIVE &&
            matches_noun(data->graph, matches, data->noun_modes[i].noun))
            return true;
    return false;
}

bool pm_ask_lacks_called(const struct pm_view *view, const struct pm_ask_whole *whole,
                         const struct pm_answer *answer, uint32_t sentence)
{
    const struct pm_question_matches *matches = &whole->matches[sentence];
    if (whole->followed[sentence])
        return false;
    if (was_off(view->archive, matches))
        return true;
    return answer->asked_at[sentence] == PM_NONE &&
           lacks_of(view->archive, matches, PM_BARE_LACKS | PM_BARE_OPEN);
}

static void mark_classes(const struct pm_archive_data *data, struct pm_answer *answer,
                         uint32_t sentence)
{
    const uint32_t *class_of = answer->matches[sentence].class_of;
    for (pm_index s = 0; s < data->graph->n_sentences; s++) {
        pm_index noun = pm_graph_first_noun(data->graph, s);
        if (noun != PM_NONE && data->bare[noun] & PM_BARE_OPEN)
            pm_ask_mark_costs(answer, sentence, class_of[s]);
    }
}

/* Functions that get it may do that, too: there is no bound. */
static enum pm_status note_open(struct pm_answer *answer, uint32_t sentence, const char *words,
                                unsigned lacks, struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(PM_QUESTION_MAX_BYTES + 1024);
    unsigned side = pm_ask_side_of(answer, sentence);
    pm_ask_mark_answer(answer, side);
    pm_buf_printf(&text, "%s: ", words);
    if (lacks & PM_BARE_PASSED_ON)
        pm_buf_add_str(&text,
                       "its address goes to functions that are not known, or is not followed");
    else
        pm_buf_add_str(&text, "copies of large objects, or pointers to members, are not followed "
                              "to it");
    if (answer->n_rows)
        pm_buf_printf(&text, ": what is done there %s", pm_ask_fate_of(side));
    enum pm_status status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}

enum pm_status pm_ask_note_lacking(struct pm_view *view, const struct pm_question *question,
                                   struct pm_answer *answer, struct pm_error *err)
{
    enum pm_status status = note_inlined_callers(view, answer, err);
    if (status != PM_OK)
        return status;
    status = note_jumps(view, answer, err);
    for (uint32_t i = 0; i < answer->n_sentences && status == PM_OK && answer->n_rows; i++) {
        unsigned lacks = lacks_of(view->data, &answer->matches[i], PM_BARE_OPEN);
        if (lacks == 0)
            continue;
        mark_classes(view->data, answer, i);
        status = note_open(answer, i, question->sentences[i].text, lacks, err);
    }
    return status;
}

/* --- nothing was found --- */

/* Is it perhaps what code is that ran? */
static bool is_possible(const struct pm_graph *graph, const uint32_t *class_of)
{
    for (uint32_t m = 0; m < graph->n_mappings; m++)
        if (!strcmp(graph->mappings[m].origin, "possible") &&
            class_of[graph->mappings[m].destination] != PM_NONE)
            return true;
    return false;
}

/* Code without late map is known by whole functions: what was inlined there ran perhaps. */
static enum pm_status note_inlined(const struct pm_view *view, const struct pm_question *question,
                                   struct pm_answer *answer, struct pm_error *err)
{
    for (uint32_t i = 0; i < answer->n_asked && !answer->has_bounds; i++) {
        uint32_t asked = answer->asked[i];
        struct pm_buf text = PM_BUF_INIT(4096);
        if (!is_possible(view->data->graph, answer->matches[asked].class_of))
            continue;
        answer->is_partial = true;
        pm_buf_printf(&text, "%s was inlined in code without the plugin's map",
                      question->sentences[asked].text);
        enum pm_status status = pm_ask_add_note(answer, &text, err);
        pm_buf_release(&text);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
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

static bool has_note(const struct pm_answer *answer, uint32_t sentence)
{
    for (uint32_t i = 0; i < answer->n_notes; i++)
        if (answer->notes[i].sentence == sentence)
            return true;
    return false;
}

void pm_ask_add_needs_samples(struct pm_buf *out, const char *sentence)
{
    pm_buf_printf(out,
                  "%s: samples tell what statements, data, and code that was inlined or off cost, "
                  "and this run has none",
                  sentence);
}

static enum pm_status note_no_samples(struct pm_answer *answer, const char *sentence,
                                      struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(PM_QUESTION_MAX_BYTES + 1024);
    answer->is_partial = answer->is_open = true;
    pm_ask_add_needs_samples(&text, sentence);
    enum pm_status status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}

static enum pm_status note_unmet_code(struct pm_answer *answer, const char *sentence,
                                      struct pm_error *err)
{
    struct pm_buf text = PM_BUF_INIT(PM_QUESTION_MAX_BYTES + 1024);
    answer->is_partial = answer->is_open = true;
    pm_buf_printf(&text,
                  "%s is inlined code that no sample met: what was called there counts for the "
                  "function around only",
                  sentence);
    enum pm_status status = pm_ask_add_note(answer, &text, err);
    pm_buf_release(&text);
    return status;
}

static enum pm_status note_unseen_sentence(struct pm_view *view, const struct pm_question *question,
                                           uint32_t asked, const struct pm_ask_whole *whole,
                                           struct pm_answer *answer, struct pm_error *err)
{
    const char *text = question->sentences[asked].text;
    bool was_partial = answer->is_partial,
         needs_samples = !whole->followed[asked] && pm_ask_n_samples(view) == 0;
    /* inlined code of which it is not known what it called, data that unknown functions get */
    unsigned lacking =
        lacks_of(view->archive, &whole->matches[asked], PM_BARE_LACKS | PM_BARE_OPEN);
    if (lacking & PM_BARE_OPEN) {
        drop_note(answer, asked);
        return note_open(answer, asked, text, lacking, err);
    }
    if (was_partial) /* which a note explains */
        return PM_OK;
    if (lacking)
        return note_unmet_code(answer, text, err);
    return needs_samples && !has_note(answer, asked) ? note_no_samples(answer, text, err) : PM_OK;
}

/* A function that was inlined, and did no more than call others, was perhaps active all the same:
 * of its own code there is no sample, and no cost leads to it. */
static enum pm_status note_nothing_seen(struct pm_view *view, const struct pm_question *question,
                                        const struct pm_ask_whole *whole, struct pm_answer *answer,
                                        struct pm_error *err)
{
    answer->is_by_chance = !pm_ask_is_known(view, question, answer, whole->followed);
    if (!answer->is_by_chance)
        return PM_OK;
    enum pm_status status = answer->is_partial ? PM_OK : note_inlined(view, question, answer, err);
    for (uint32_t i = 0; i < answer->n_asked && status == PM_OK; i++)
        status = note_unseen_sentence(view, question, answer->asked[i], whole, answer, err);
    return status;
}

static bool has_rows(const struct pm_view *view, const struct pm_answer *answer)
{
    for (uint32_t r = 0; r < answer->n_rows; r++)
        if (!pm_ask_row_is_empty(view, &answer->rows[r]))
            return true;
    return false;
}

enum pm_status pm_ask_find_chance(struct pm_view *view, const struct pm_question *question,
                                  struct pm_ask_whole *whole, struct pm_answer *answer,
                                  struct pm_error *err)
{
    enum pm_status status = pm_ask_find_followed(view, question, true, err, whole);
    if (status != PM_OK)
        return status;
    answer->is_by_chance = !pm_ask_is_known(view, question, answer, whole->followed);
    return PM_OK;
}

enum pm_status pm_ask_note_unseen(struct pm_view *view, const struct pm_question *question,
                                  struct pm_ask_whole *whole, struct pm_answer *answer,
                                  struct pm_error *err)
{
    if (has_rows(view, answer))
        return PM_OK;
    enum pm_status status = pm_ask_find_followed(view, question, false, err, whole);
    if (status != PM_OK)
        return status;
    status = note_nothing_seen(view, question, whole, answer, err);
    if (status != PM_OK)
        return status;
    return pm_ask_note_missing(view, answer, err);
}
