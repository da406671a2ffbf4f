/* Names of nouns and sentences as a question has them. */
#include "question.h"

#include "mapping/graph/pattern.h"

/* What the language would take for something else: a level, or a wild card. */
static bool must_be_quoted(const struct pm_graph *graph, const char *name)
{
    const char *colons = strstr(name, "::");
    bool is_level = false;
    for (pm_index l = 0; colons && l < graph->n_levels; l++) {
        const char *level = graph->levels[l].name;
        is_level |= strlen(level) == (size_t)(colons - name) &&
                    !strncasecmp(level, name, (size_t)(colons - name));
    }
    return *name == 0 || strpbrk(name, " \t\n\r,{}\"*?\\") || is_level;
}

static void add_quoted(struct pm_buf *out, const char *name)
{
    pm_buf_add_byte(out, '"');
    for (const char *p = name; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 127) { /* which questions do not have */
            pm_buf_add_str(out, "\"?\"");
            continue;
        }
        if (*p == '"' || *p == '\\')
            pm_buf_add_byte(out, '\\');
        pm_buf_add_byte(out, (unsigned char)*p);
    }
    pm_buf_add_byte(out, '"');
}

void pm_ask_add_word(struct pm_buf *out, const struct pm_graph *graph, const char *name)
{
    if (must_be_quoted(graph, name))
        add_quoted(out, name);
    else
        pm_buf_add_str(out, name);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_kind(const struct pm_graph_noun *noun, const char *kind)
{
    return !strcmp(noun->kind, kind);
}

/* Files, statements and loops without their folders, and loops by their kind. brief: memory for
 * short names; NULL: names in full. */
static void add_noun(struct pm_buf *out, const struct pm_graph *graph, pm_index noun,
                     struct pm_arena *brief)
{
    const struct pm_graph_noun *n = &graph->nouns[noun];
    bool is_place = is_kind(n, "statement") || is_kind(n, "line") || is_kind(n, "loop");
    const char *name = is_place || is_kind(n, "file") ? last_part(n->name) : n->name;
    pm_buf_add_str(out, is_kind(n, "loop") && !strncmp(n->name, "loop", 4) ? ""
                        : is_kind(n, "loop")                               ? "loop:"
                                                                           : "");
    if (brief)
        name = pm_view_without_parameters(brief, pm_view_short_name(brief, name));
    pm_ask_add_word(out, graph, name);
}

void pm_ask_add_noun(struct pm_buf *out, const struct pm_graph *graph, pm_index noun)
{
    add_noun(out, graph, noun, NULL);
}

static void add_sentence(struct pm_buf *out, const struct pm_graph *graph, pm_index verb,
                         const pm_index *nouns, uint32_t n_nouns, struct pm_arena *brief)
{
    pm_buf_add_byte(out, '{');
    for (uint32_t i = 0; i < n_nouns; i++) {
        pm_buf_add_str(out, i ? ", " : "");
        add_noun(out, graph, nouns[i], brief);
    }
    pm_buf_add_str(out, n_nouns ? " " : "");
    pm_ask_add_word(out, graph, graph->verbs[verb].name);
    pm_buf_add_byte(out, '}');
}

void pm_ask_add_sentence(struct pm_buf *out, const struct pm_graph *graph, pm_index verb,
                         const pm_index *nouns, uint32_t n_nouns)
{
    add_sentence(out, graph, verb, nouns, n_nouns, NULL);
}

void pm_ask_add_brief_sentence(struct pm_buf *out, struct pm_view *view, pm_index verb,
                               const pm_index *nouns, uint32_t n_nouns)
{
    add_sentence(out, view->data->graph, verb, nouns, n_nouns, &view->arena);
}

void pm_ask_add_exact_sentence(struct pm_buf *out, const struct pm_graph *graph, pm_index sentence)
{
    const struct pm_graph_sentence *s = &graph->sentences[sentence];
    pm_buf_add_byte(out, '{');
    for (uint32_t i = 0; i < s->n_nouns; i++) {
        const struct pm_graph_noun *noun = &graph->nouns[graph->sentence_nouns[s->first_noun + i]];
        pm_buf_add_str(out, i ? ", " : "");
        add_quoted(out, graph->levels[noun->level].name);
        pm_buf_add_str(out, "::");
        add_quoted(out, noun->name);
    }
    pm_buf_add_str(out, s->n_nouns ? " " : "? ");
    add_quoted(out, graph->levels[graph->verbs[s->verb].level].name);
    pm_buf_add_str(out, "::");
    add_quoted(out, graph->verbs[s->verb].name);
    pm_buf_add_byte(out, '}');
}

void pm_ask_add_place(struct pm_buf *out, const struct pm_view *view, pm_index noun)
{
    const struct pm_graph_noun *n = &view->data->graph->nouns[noun];
    if (!*n->file || !n->line_no)
        return;
    char place[512];
    snprintf(place, sizeof place, "%s:%u", last_part(n->file), n->line_no);
    if (!strstr(n->name, place))
        pm_buf_add_str(out, place);
}

/* --- for who asks without sentences --- */

enum { MAX_OFFERED = 3 };

/* The usual sentence of one noun: of code that it executes, of data that it is read. PM_NONE:
 * there is none. */
static pm_index usual_sentence(const struct pm_graph *graph, pm_index noun)
{
    pm_index found = PM_NONE;
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        if (graph->sentences[s].n_nouns != 1 || pm_graph_first_noun(graph, s) != noun)
            continue;
        const char *verb = graph->verbs[graph->sentences[s].verb].name;
        bool is_usual = !strcmp(verb, "Executes") || !strcmp(verb, "Reads");
        if (found == PM_NONE || is_usual)
            found = s;
        if (is_usual)
            break;
    }
    return found;
}

static bool is_offered(const struct pm_buf *offered, const struct pm_buf *sentence)
{
    return sentence->len && offered->len && strstr(offered->data, sentence->data) != NULL;
}

/* Of nouns that fit the name, those above machine code first. */
static void offer_fitting(const struct pm_graph *graph, const char *name, struct pm_buf *offered)
{
    struct pm_pattern pattern = pm_pattern_in(name, graph);
    uint32_t n_offered = 0;
    for (int turn = 0; turn < 2; turn++)
        for (pm_index n = 0; n < graph->n_nouns && n_offered < MAX_OFFERED; n++) {
            bool is_base = !strcmp(graph->levels[graph->nouns[n].level].name, "Base");
            if (is_base != (turn == 1) || !pm_pattern_fits(&pattern, &graph->nouns[n]))
                continue;
            pm_index sentence = usual_sentence(graph, n);
            struct pm_buf text = PM_BUF_INIT(1 << 16);
            if (sentence != PM_NONE)
                pm_ask_add_sentence(&text, graph, graph->sentences[sentence].verb, &n, 1);
            if (text.len && !is_offered(offered, &text)) {
                pm_buf_printf(offered, "%s'%s'", n_offered ? " or " : "", text.data);
                n_offered++;
            }
            pm_buf_release(&text);
        }
}

void pm_ask_offer_sentences(struct pm_view *view, const char *text, struct pm_error *err)
{
    /* Kept, for an interval reads costs again. */
    enum { FLAGS = PM_ARCHIVE_LOAD_ALL | PM_ARCHIVE_LOAD_MERGED | PM_ARCHIVE_LOAD_KEPT };
    struct pm_error unread = PM_ERROR_INIT;
    struct pm_buf offered = PM_BUF_INIT(1 << 16), name = PM_BUF_INIT(1 << 16);
    size_t len = strcspn(text, " \t"); /* the word before a verb, if any */
    pm_buf_add(&name, text, len);
    if (len && pm_view_load(view, FLAGS, &unread) == PM_OK)
        offer_fitting(view->data->graph, name.data, &offered);
    if (offered.len && !offered.failed)
        pm_error_add(err, "did you mean %s?", offered.data);
    else if (len)
        pm_error_add(err, "a question is sentences in braces, nouns and a verb: '{NOUN Executes}'");
    pm_error_release(&unread);
    pm_buf_release(&offered);
    pm_buf_release(&name);
}
