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

static void add_word(struct pm_buf *out, const struct pm_graph *graph, const char *name)
{
    if (!must_be_quoted(graph, name)) {
        pm_buf_add_str(out, name);
        return;
    }
    pm_buf_add_byte(out, '"');
    for (const char *p = name; *p; p++) {
        if (*p == '"' || *p == '\\')
            pm_buf_add_byte(out, '\\');
        pm_buf_add_byte(out, (unsigned char)*p);
    }
    pm_buf_add_byte(out, '"');
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

/* Files, statements and loops without their folders, and loops by their kind. */
void ask_add_noun(struct pm_buf *out, const struct pm_graph *graph, pm_index noun)
{
    const struct pm_noun *n = &graph->nouns[noun];
    bool is_place = is_kind(n, "statement") || is_kind(n, "line") || is_kind(n, "loop");
    pm_buf_add_str(out, is_kind(n, "loop") && !strncmp(n->name, "loop", 4) ? ""
                        : is_kind(n, "loop")                               ? "loop:"
                                                                           : "");
    add_word(out, graph, is_place || is_kind(n, "file") ? last_part(n->name) : n->name);
}

void ask_add_sentence(struct pm_buf *out, const struct pm_graph *graph, pm_index verb,
                      const pm_index *nouns, uint32_t n_nouns)
{
    pm_buf_add_byte(out, '{');
    for (uint32_t i = 0; i < n_nouns; i++) {
        pm_buf_add_str(out, i ? ", " : "");
        ask_add_noun(out, graph, nouns[i]);
    }
    pm_buf_add_str(out, n_nouns ? " " : "");
    add_word(out, graph, graph->verbs[verb].name);
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
