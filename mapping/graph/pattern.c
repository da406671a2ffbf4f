/* What a person means by the name of a construct. */
#include "pattern.h"
#include "../base/statement_names.h"

#include "../base/banned.h"
#include "../debuginfo/debuginfo.h"

#include <ctype.h>
#include <stdlib.h>

static const struct prefix {
    const char *text;
    enum pm_pattern_kind kind;
} prefixes[] = {{"func:", PM_PATTERN_FUNCTION},       {"function:", PM_PATTERN_FUNCTION},
                {"symbol:", PM_PATTERN_FUNCTION},     {"loop:", PM_PATTERN_LOOP},
                {"file:", PM_PATTERN_FILE},           {"process:", PM_PATTERN_PROCESS},
                {"statement:", PM_PATTERN_STATEMENT}, {"line:", PM_PATTERN_STATEMENT},
                {"array:", PM_PATTERN_ARRAY},         {"variable:", PM_PATTERN_VARIABLE}};

static struct pm_pattern behind(const char *text, size_t n, enum pm_pattern_kind kind)
{
    return (struct pm_pattern){kind, {text, n}, {.text = text + n, .is_plain_too = true}};
}

struct pm_pattern pm_pattern_of(const char *text,
                                bool (*has_kind)(const void *nouns, struct pm_str kind),
                                const void *nouns)
{
    size_t len = strcspn(text, ":");
    bool has_colon = text[len] && len > 0 && text[len + 1] != ':';
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && has_colon; i++)
        if (!strncmp(text, prefixes[i].text, len + 1))
            return behind(text, len + 1, prefixes[i].kind);
    if (has_colon && has_kind && has_kind(nouns, (struct pm_str){text, len}))
        return behind(text, len + 1, PM_PATTERN_OTHER);
    return behind(text, 0, PM_PATTERN_ANY);
}

static bool graph_has_kind(const void *nouns, struct pm_str kind)
{
    const struct pm_graph *graph = nouns;
    for (pm_index n = 0; n < graph->n_nouns; n++)
        if (pm_str_is(kind, graph->nouns[n].kind))
            return true;
    return false;
}

struct pm_pattern pm_pattern_in(const char *text, const struct pm_graph *graph)
{
    return pm_pattern_of(text, graph_has_kind, graph);
}

static bool is_one_of(const struct pm_graph_noun *noun, const char *const *kinds)
{
    for (; *kinds; kinds++)
        if (!strcmp(noun->kind, *kinds))
            return true;
    return false;
}

static const char *const functions[] = {"function", "symbol", NULL},
                         *const loops[] = {"loop", "loopcode", NULL},
                         *const statements[] = {"statement", "region", "line", NULL};

bool pm_pattern_fits_kind(const struct pm_pattern *pattern, const struct pm_graph_noun *noun)
{
    switch (pattern->kind) {
    case PM_PATTERN_ANY:
        return true;
    case PM_PATTERN_FUNCTION:
        return is_one_of(noun, functions);
    case PM_PATTERN_LOOP:
        return is_one_of(noun, loops);
    case PM_PATTERN_FILE:
        return !strcmp(noun->kind, "file");
    case PM_PATTERN_PROCESS:
        return !strcmp(noun->kind, "process");
    case PM_PATTERN_STATEMENT:
        return is_one_of(noun, statements);
    case PM_PATTERN_ARRAY:
        return pm_noun_is_array(noun);
    case PM_PATTERN_VARIABLE:
        return pm_noun_is_data(noun);
    case PM_PATTERN_OTHER:
        return pm_str_is((struct pm_str){pattern->prefix.p, pattern->prefix.len - 1}, noun->kind);
    }
    return false;
}

enum { MAX_WORD = 256 };

/* Whether the symbol has the word that the pattern's name ends in: most have not, and need not
 * be demangled. */
static bool has_last_word(const char *pattern, const char *symbol)
{
    size_t end = strcspn(pattern, "<(*?[\\"), start = end;
    while (start > 0 && (isalnum((unsigned char)pattern[start - 1]) || pattern[start - 1] == '_'))
        start--;
    char word[MAX_WORD];
    if (pattern[end] == '*' || pattern[end] == '?' || start == end || end - start >= sizeof word)
        return true;
    memcpy(word, pattern + start, end - start);
    word[end - start] = 0;
    return !strcmp(word, "operator") || strcasestr(symbol, word);
}

/* A symbol's name, as people would write it. */
static bool fits_symbol(const struct pm_name_pattern *pattern, const char *symbol)
{
    if (strncmp(symbol, "_Z", 2) != 0 || !has_last_word(pattern->text, symbol))
        return false;
    char *name = pm_debug_demangle(symbol);
    bool found = name && pm_name_fits_code(pattern, name);
    free(name);
    return found;
}

/* With what the name of a statement begins that is named by its function; NULL: it is none. */
static const char *words_before_function(const char *name)
{
    static const char *const words[] = {PM_FRAME_STATEMENT, PM_UNKNOWN_LINE_STATEMENT};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(name, words[i], strlen(words[i])))
            return words[i];
    return NULL;
}

/* f, and its place, is the function, of which this is a part: it is meant by its own words, or
 * by statement:f. */
static bool fits_words(const struct pm_pattern *pattern, const char *asked, const char *words,
                       const char *name)
{
    struct pm_name_pattern function = pattern->name;
    function.text += asked ? strlen(asked) : 0;
    return words && (asked ? asked == words : pattern->kind == PM_PATTERN_STATEMENT) &&
           pm_name_fits_code(&function, name + strlen(words));
}

bool pm_pattern_fits_name(const struct pm_pattern *pattern, const struct pm_graph_noun *noun)
{
    const struct pm_name_pattern *name = &pattern->name;
    const char *kind = noun->kind, *inlined, *asked = words_before_function(name->text),
               *words = words_before_function(noun->name);
    bool may_be_place = strchr(name->text, ':'), /* sw* is no place in sweep.c */
        fits_place =
            may_be_place && pm_name_fits_place(name, noun->file, noun->line_no, noun->column_no);
    if (asked || words)
        return (fits_place && pattern->kind == PM_PATTERN_STATEMENT) ||
               fits_words(pattern, asked, words, noun->name);
    if (fits_place || pm_name_fits(name, noun->linkage))
        return true;
    if (is_one_of(noun, functions) || pm_noun_is_data(noun) || !strcmp(kind, "type"))
        return pm_name_fits_code(name, noun->name) ||
               (!strcmp(kind, "symbol") && fits_symbol(name, noun->name));
    if (!strcmp(kind, "inline") && (inlined = strchr(noun->name, '/')) != NULL)
        return pm_name_fits_code(name, inlined + 1);
    if (!strcmp(kind, "process") || !strcmp(kind, "file"))
        return pm_name_fits_path(name, noun->name);
    return pm_name_fits_path(name, noun->name) || pm_name_fits_part(name, noun->name, "(");
}

bool pm_pattern_fits(const struct pm_pattern *pattern, const struct pm_graph_noun *noun)
{
    return pm_pattern_fits_kind(pattern, noun) && pm_pattern_fits_name(pattern, noun);
}
