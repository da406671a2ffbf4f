/* Names of nouns and sentences as a question has them. */
#include "ask.h"

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

void ask_add_word(struct pm_buf *out, const struct pm_graph *graph, const char *name)
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

static bool is_kind(const struct pm_noun *noun, const char *kind)
{
    return !strcmp(noun->kind, kind);
}

/* Files, statements and loops without their folders, and loops by their kind. brief: memory for short names; NULL: names in full. */
static void add_noun(struct pm_buf *out, const struct pm_graph *graph, pm_index noun,
                     struct pm_arena *brief)
{
    const struct pm_noun *n = &graph->nouns[noun];
    bool is_place = is_kind(n, "statement") || is_kind(n, "line") || is_kind(n, "loop");
    const char *name = is_place || is_kind(n, "file") ? last_part(n->name) : n->name;
    pm_buf_add_str(out, is_kind(n, "loop") && !strncmp(n->name, "loop", 4) ? ""
                        : is_kind(n, "loop")                               ? "loop:"
                                                                           : "");
    if (brief)
        name = report_without_parameters(brief, report_short_name(brief, name));
    ask_add_word(out, graph, name);
}

void ask_add_noun(struct pm_buf *out, const struct pm_graph *graph, pm_index noun)
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
    ask_add_word(out, graph, graph->verbs[verb].name);
    pm_buf_add_byte(out, '}');
}

void ask_add_sentence(struct pm_buf *out, const struct pm_graph *graph, pm_index verb,
                      const pm_index *nouns, uint32_t n_nouns)
{
    add_sentence(out, graph, verb, nouns, n_nouns, NULL);
}

void ask_add_brief_sentence(struct pm_buf *out, struct report *report, pm_index verb,
                            const pm_index *nouns, uint32_t n_nouns)
{
    add_sentence(out, report->data->graph, verb, nouns, n_nouns, &report->arena);
}

void ask_add_exact_sentence(struct pm_buf *out, const struct pm_graph *graph, pm_index sentence)
{
    const struct pm_sentence *s = &graph->sentences[sentence];
    pm_buf_add_byte(out, '{');
    for (uint32_t i = 0; i < s->n_nouns; i++) {
        const struct pm_noun *noun = &graph->nouns[graph->sentence_nouns[s->first_noun + i]];
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

void ask_add_place(struct pm_buf *out, const struct report *report, pm_index noun)
{
    const struct pm_noun *n = &report->data->graph->nouns[noun];
    if (!*n->file || !n->line_no)
        return;
    char place[512];
    snprintf(place, sizeof place, "%s:%u", last_part(n->file), n->line_no);
    if (!strstr(n->name, place))
        pm_buf_add_str(out, place);
}
