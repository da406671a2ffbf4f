/* Which sentences of a graph fit one of a question. */
#include "question.h"

#include "../base/banned.h"
#include "../base/suggest.h"
#include "../graph/index_map.h"
#include "../graph/pattern.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <strings.h>

/* One word, with what it means in this graph. */
struct meaning {
    struct pm_pattern pattern;
    pm_index level; /* PM_NONE: any */
    bool any;
    bool is_pattern;  /* has * or ? that mean any */
    pm_index *counts; /* per noun: the noun that it counts as, PM_NONE: does not fit */
};

static pm_index level_named(const struct pm_graph *graph, const char *name)
{
    for (pm_index i = 0; name && i < graph->n_levels; i++)
        if (!strcasecmp(graph->levels[i].name, name))
            return i;
    return PM_NONE;
}

/* word_level NULL: `::` is part of a name. */
static struct meaning meaning_of(const struct pm_graph *graph, const struct pm_question_word *word,
                                 const char *word_level)
{
    struct meaning m = {.level = level_named(graph, word_level), .any = word->any};
    bool is_whole = word->level && m.level == PM_NONE; /* a name with :: in it */
    m.any &= !is_whole;
    m.pattern = pm_pattern_in(is_whole ? word->whole : word->pattern, graph);
    const char *text = m.pattern.name.text;
    m.any |= m.pattern.prefix.len && !strcmp(text, "?"); /* array:? */
    for (const char *p = text; *p && !m.is_pattern; p += *p == '\\' && p[1] ? 2 : 1)
        m.is_pattern = *p == '*' || *p == '?';
    return m;
}

static bool fits(const struct meaning *m, const struct pm_graph_noun *noun)
{
    if ((m->level != PM_NONE && noun->level != m->level) ||
        !pm_pattern_fits_kind(&m->pattern, noun))
        return false;
    struct pm_pattern pattern = m->pattern;
    if (m->is_pattern && !strcmp(noun->kind, "query")) /* SQL is the same in any case */
        pattern.name.flags = FNM_CASEFOLD;
    return m->any || pm_pattern_fits_name(&pattern, noun);
}

static bool is_object(const char *kind)
{
    return !strcmp(kind, "array") || !strcmp(kind, "variable") || !strcmp(kind, "field");
}

/* What it is a part of. What a function declares may be used by others: it is not a part of what
 * the function does. */
static pm_index whole_of(const struct pm_graph *graph, pm_index noun)
{
    pm_index parent = graph->nouns[noun].parent;
    if (parent == PM_NONE || !is_object(graph->nouns[noun].kind))
        return parent;
    const char *kind = graph->nouns[parent].kind;
    return is_object(kind) || !strcmp(kind, "type") ? parent : PM_NONE;
}

/* Copies of a construct count as the first of them. */
static pm_index first_copy(const struct pm_graph *graph, struct pm_index_map *copies, pm_index noun)
{
    int64_t id = graph->nouns[noun].id;
    if (id == 0)
        return noun;
    pm_index first = pm_index_map_get(copies, id);
    if (first == PM_NONE) {
        pm_index_map_add(copies, id, noun);
        return noun;
    }
    return graph->nouns[first].level == graph->nouns[noun].level &&
                   !strcmp(graph->nouns[first].name, graph->nouns[noun].name)
               ? first
               : noun;
}

enum { UNDECIDED = UINT32_MAX - 1 };

/* The noun itself when it fits, else what it is a part of. */
static uint32_t find_counts(const struct pm_graph *graph, struct meaning *m,
                            struct pm_index_map *copies)
{
    uint32_t n_fit = 0;
    for (pm_index n = 0; n < graph->n_nouns; n++)
        m->counts[n] = UNDECIDED;
    for (pm_index n = 0; n < graph->n_nouns; n++) {
        pm_index at = n, found = PM_NONE;
        while (at != PM_NONE && m->counts[at] == UNDECIDED && !fits(m, &graph->nouns[at]))
            at = whole_of(graph, at);
        if (at != PM_NONE)
            found = m->counts[at] != UNDECIDED ? m->counts[at] : first_copy(graph, copies, at);
        for (pm_index below = n; below != PM_NONE && m->counts[below] == UNDECIDED;
             below = whole_of(graph, below)) {
            m->counts[below] = found;
            if (below == at)
                break;
        }
        n_fit += found != PM_NONE;
    }
    return n_fit;
}

/* First as it is written, then as the name of a program's own type that is called like a level,
 * then in any case (Fortran's names). */
static bool understand(const struct pm_graph *graph, const struct pm_question_word *word,
                       struct meaning *ret_meaning)
{
    *ret_meaning = meaning_of(graph, word, word->level);
    ret_meaning->counts = pm_alloc_array(graph->n_nouns + 1u, sizeof *ret_meaning->counts);
    if (!ret_meaning->counts)
        return false;
    struct pm_index_map copies = {0};
    uint32_t n_fit = find_counts(graph, ret_meaning, &copies);
    if (n_fit == 0 && ret_meaning->level != PM_NONE) {
        struct meaning as_name = meaning_of(graph, word, NULL);
        as_name.counts = ret_meaning->counts;
        n_fit = find_counts(graph, &as_name, &copies);
        if (n_fit != 0)
            *ret_meaning = as_name;
    }
    if (n_fit == 0) {
        ret_meaning->pattern.name.flags = FNM_CASEFOLD;
        find_counts(graph, ret_meaning, &copies);
    }
    bool good = !copies.out_of_memory;
    pm_index_map_release(&copies);
    return good;
}

/* --- sentences --- */

enum { MAX_NOUNS = 32 }; /* of a sentence whose nouns are looked at */

struct matching {
    const struct pm_graph *graph;
    struct meaning *nouns, verb;
    uint32_t n_nouns;
    bool *verbs;      /* per verb: fits */
    bool *is_ambient; /* per sentence: may fit; NULL: any */
};

/* Gives each word from `word` on a noun of its own. chosen[word]: what it counts as. */
static bool assign(const struct matching *m, const pm_index *nouns, uint32_t n, uint32_t word,
                   uint32_t used, pm_index *chosen)
{
    if (word == m->n_nouns)
        return true;
    const struct meaning *w = &m->nouns[word];
    for (uint32_t i = 0; i < n && i < MAX_NOUNS; i++) {
        if (used >> i & 1 || w->counts[nouns[i]] == PM_NONE)
            continue;
        chosen[i] = w->counts[nouns[i]];
        if (assign(m, nouns, n, word + 1, used | 1u << i, chosen))
            return true;
        chosen[i] = nouns[i];
    }
    return n == 0 && w->any && !w->pattern.prefix.len && w->level == PM_NONE &&
           assign(m, nouns, n, word + 1, used, chosen);
}

/* Set number of [verb, nouns...] that the sentence counts as, PM_NONE: does not fit. */
static uint32_t class_of(const struct matching *m, pm_index sentence, struct pm_sets *sets)
{
    const struct pm_graph_sentence *s = &m->graph->sentences[sentence];
    const pm_index *nouns = m->graph->sentence_nouns + s->first_noun;
    pm_index key[1 + MAX_NOUNS] = {s->verb};
    uint32_t n = s->n_nouns < MAX_NOUNS ? s->n_nouns : MAX_NOUNS;
    if (!m->verbs[s->verb])
        return PM_NONE;
    if (n)
        memcpy(key + 1, nouns, n * sizeof *nouns);
    if (!assign(m, nouns, n, 0, 0, key + 1))
        return PM_NONE;
    return pm_sets_add(sets, key, 1 + n);
}

static bool is_kind(const struct pm_graph_noun *noun, const char *kind)
{
    return strcmp(noun->kind, kind) == 0;
}

static bool is_inner(const struct pm_graph *graph, pm_index sentence,
                     const struct pm_question_class *class)
{
    pm_index noun = pm_graph_first_noun(graph, sentence);
    if (noun == PM_NONE || class->n_nouns == 0 || class->nouns[0] == noun)
        return false;
    const struct pm_graph_noun *named = &graph->nouns[class->nouns[0]];
    return (is_kind(named, "function") || is_kind(named, "symbol")) &&
           !is_kind(&graph->nouns[noun], "function") && !is_kind(&graph->nouns[noun], "symbol");
}

static bool verb_fits(const struct meaning *m, const struct pm_graph_verb *verb)
{
    return (m->level == PM_NONE || verb->level == m->level) && !m->pattern.prefix.len &&
           (m->any || fnmatch(m->pattern.name.text, verb->name, FNM_CASEFOLD) == 0);
}

/* A level is shadowed by those above it that have something that fits. is_lower: it has, too. */
static void keep_highest(const struct pm_graph *graph, uint32_t *class_of, bool *shadowed,
                         bool *is_lower)
{
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        if (class_of[s] == PM_NONE)
            continue;
        pm_index level = pm_graph_sentence_level(graph, s);
        for (uint32_t steps = 0; steps < graph->n_levels; steps++) {
            level = graph->levels[level].above;
            if (level == PM_NONE || shadowed[level])
                break;
            shadowed[level] = true;
        }
    }
    for (pm_index s = 0; s < graph->n_sentences; s++)
        if (class_of[s] != PM_NONE && shadowed[pm_graph_sentence_level(graph, s)]) {
            is_lower[pm_graph_sentence_level(graph, s)] = true;
            class_of[s] = PM_NONE;
        }
}

/* Of sentences: that were begun, and what these map to. NULL: memory. */
static bool *find_ambient(const struct pm_graph *graph)
{
    bool *is_ambient = pm_alloc_array(graph->n_sentences + 1u, sizeof *is_ambient);
    for (pm_index c = 0; is_ambient && c < graph->n_contexts; c++)
        if (graph->contexts[c].flags & PM_CONTEXT_AMBIENT)
            is_ambient[graph->contexts[c].sentence] = true;
    bool more = is_ambient != NULL;
    while (more) {
        more = false;
        for (uint32_t m = 0; m < graph->n_mappings; m++) {
            const struct pm_mapping *mapping = &graph->mappings[m];
            bool leads = is_ambient[mapping->source] && !is_ambient[mapping->destination];
            is_ambient[mapping->destination] |= leads;
            more |= leads;
        }
    }
    return is_ambient;
}

static enum pm_status match_all(const struct matching *m, bool names_level, struct pm_error *err,
                                struct pm_question_matches *matches)
{
    const struct pm_graph *graph = m->graph;
    for (pm_index s = 0; s < graph->n_sentences; s++) {
        bool may_fit = !m->is_ambient || m->is_ambient[s];
        matches->class_of[s] = may_fit ? class_of(m, s, &matches->sets) : PM_NONE;
        if (matches->class_of[s] == PM_SETS_FAILED && m->verbs[graph->sentences[s].verb] &&
            matches->sets.at_limit)
            return pm_error_set(err, PM_ERR_LIMIT, "too many sentences fit");
    }
    if (!names_level) {
        bool *shadowed = pm_alloc_array(graph->n_levels + 1u, sizeof *shadowed);
        if (!shadowed)
            return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
        keep_highest(graph, matches->class_of, shadowed, matches->is_lower);
        free(shadowed);
    }
    matches->n_classes = matches->sets.n;
    matches->classes = pm_alloc_array(matches->n_classes + 1u, sizeof *matches->classes);
    if (!matches->classes)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (uint32_t c = 1; c < matches->n_classes; c++) { /* number 0 is the empty set */
        uint32_t n;
        const uint32_t *members = pm_sets_members(&matches->sets, c, &n);
        matches->classes[c] = (struct pm_question_class){members[0], members + 1, n - 1};
    }
    for (pm_index s = 0; s < graph->n_sentences; s++)
        matches->is_inner[s] = matches->class_of[s] != PM_NONE &&
                               is_inner(graph, s, &matches->classes[matches->class_of[s]]);
    return PM_OK;
}

enum pm_status pm_question_match(const struct pm_question_sentence *sentence,
                                 const struct pm_graph *graph, struct pm_error *err,
                                 struct pm_question_matches *ret_matches)
{
    struct matching m = {.graph = graph, .n_nouns = sentence->n_nouns};
    enum pm_status status = PM_OK;
    *ret_matches = (struct pm_question_matches){0};
    if (!pm_sets_init(&ret_matches->sets))
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    ret_matches->class_of = pm_alloc_array(graph->n_sentences + 1u, sizeof *ret_matches->class_of);
    m.nouns = pm_alloc_array(m.n_nouns, sizeof *m.nouns);
    m.verbs = pm_alloc_array(graph->n_verbs + 1u, sizeof *m.verbs);
    ret_matches->is_inner = pm_alloc_array(graph->n_sentences + 1u, sizeof *ret_matches->is_inner);
    ret_matches->is_lower = pm_alloc_array(graph->n_levels + 1u, sizeof *ret_matches->is_lower);
    if (sentence->is_ambient)
        m.is_ambient = find_ambient(graph);
    bool good = ret_matches->class_of && ret_matches->is_inner && ret_matches->is_lower &&
                m.nouns && m.verbs && (m.is_ambient || !sentence->is_ambient);
    m.verb = meaning_of(graph, &sentence->verb, sentence->verb.level);
    bool names_level = m.verb.level != PM_NONE;
    for (uint32_t i = 0; good && i < m.n_nouns; i++) {
        good = understand(graph, &sentence->nouns[i], &m.nouns[i]);
        names_level |= m.nouns[i].level != PM_NONE;
    }
    for (pm_index v = 0; good && v < graph->n_verbs; v++)
        m.verbs[v] = verb_fits(&m.verb, &graph->verbs[v]);
    status = good ? match_all(&m, names_level, err, ret_matches)
                  : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; m.nouns && i < m.n_nouns; i++)
        free(m.nouns[i].counts);
    free(m.nouns);
    free(m.verbs);
    free(m.is_ambient);
    return status;
}

void pm_question_matches_release(struct pm_question_matches *matches)
{
    free(matches->class_of);
    free(matches->is_inner);
    free(matches->is_lower);
    free(matches->classes);
    pm_sets_release(&matches->sets);
    *matches = (struct pm_question_matches){0};
}

bool pm_question_word_fits(const struct pm_question_word *word, const char *text)
{
    return word->any || fnmatch(word->whole, text, 0) == 0;
}

/* --- why nothing fits --- */

enum { MAX_NEAR = 4 };

struct near {
    const char *names[MAX_NEAR];
    unsigned distances[MAX_NEAR], n;
};

/* Each letter that one has more is a mistake. */
static bool is_much_longer(size_t a, size_t b, unsigned most)
{
    return (a > b ? a - b : b - a) > most;
}

static void consider(struct near *near, const char *word, const char *name)
{
    size_t len = strlen(word);
    unsigned most = (unsigned)len / 3 + 1, d = most + 1;
    if (len >= 3 && strcasestr(name, word))
        d = strncmp(name, "_Z", 2) == 0 ? most : 1; /* as people write it comes first */
    else if (!is_much_longer(len, strlen(name), most))
        d = pm_word_distance(word, name, true);
    if (d > most || !*name)
        return;
    for (unsigned i = 0; i < near->n; i++)
        if (!strcmp(near->names[i], name))
            return;
    unsigned at = near->n < MAX_NEAR ? near->n++ : MAX_NEAR;
    for (; at > 0 && near->distances[at - 1] > d; at--)
        if (at < MAX_NEAR) {
            near->names[at] = near->names[at - 1];
            near->distances[at] = near->distances[at - 1];
        }
    if (at < MAX_NEAR) {
        near->names[at] = name;
        near->distances[at] = d;
    }
}

static void add_near(struct pm_buf *text, const struct near *near)
{
    for (unsigned i = 0; i < near->n; i++)
        pm_buf_printf(text, "%s'%s'", i == 0 ? "; near: " : ", ", near->names[i]);
}

static bool has_level(const struct pm_graph *graph, const struct pm_question_word *word)
{
    return !word->level || level_named(graph, word->level) != PM_NONE;
}

/* What else to look for: the levels, or, where no name is near, the command that lists all. */
static void say_more(const struct pm_graph *graph, const struct pm_question_word *word,
                     const struct near *near, const char *command, struct pm_buf *text)
{
    if (has_level(graph, word)) {
        if (near->n == 0)
            pm_buf_printf(text, "; 'perfmap %s' lists those there are", command);
        return;
    }
    pm_buf_printf(text, " (there is no level '%s'", word->level);
    for (pm_index i = 0; i < graph->n_levels; i++)
        pm_buf_printf(text, "%s'%s'", i == 0 ? ", but " : ", ", graph->levels[i].name);
    pm_buf_add_str(text, ")");
}

static bool why_verb(const struct pm_question_sentence *s, const struct pm_graph *graph,
                     struct pm_buf *text)
{
    struct meaning m = meaning_of(graph, &s->verb, s->verb.level);
    struct near near = {.n = 0};
    for (pm_index v = 0; v < graph->n_verbs; v++) {
        if (verb_fits(&m, &graph->verbs[v]))
            return false;
        consider(&near, m.pattern.name.text, graph->verbs[v].name);
    }
    pm_buf_printf(text, "no verb fits '%s'", s->verb.text);
    add_near(text, &near);
    say_more(graph, &s->verb, &near, "verbs", text);
    return true;
}

static bool why_noun(const struct pm_question_word *word, const struct pm_graph *graph,
                     struct pm_buf *text)
{
    struct meaning m = meaning_of(graph, word, word->level);
    struct near near = {.n = 0};
    m.pattern.name.flags = FNM_CASEFOLD;
    for (pm_index n = 0; n < graph->n_nouns; n++) {
        if (fits(&m, &graph->nouns[n]))
            return false;
        consider(&near, m.pattern.name.text, graph->nouns[n].name);
    }
    pm_buf_printf(text, "no noun fits '%s'", word->text);
    add_near(text, &near);
    say_more(graph, word, &near, "nouns", text);
    return true;
}

/* All words fit something, but not one sentence: what verbs there are with the first noun. */
static void why_together(const struct pm_question_sentence *s, const struct pm_graph *graph,
                         struct pm_buf *text)
{
    struct meaning m;
    bool *seen = pm_alloc_array(graph->n_verbs + 1u, sizeof *seen);
    uint32_t n = 0;
    pm_buf_printf(text, "nothing in the archive is %s", s->text);
    if (seen && understand(graph, &s->nouns[0], &m)) {
        for (pm_index i = 0; i < graph->n_sentences && n < 8; i++) {
            pm_index verb = graph->sentences[i].verb, noun = pm_graph_first_noun(graph, i);
            if (noun == PM_NONE || m.counts[noun] == PM_NONE || seen[verb])
                continue;
            for (pm_index v = 0; v < graph->n_verbs; v++) /* of that name at any level */
                seen[v] |= strcmp(graph->verbs[v].name, graph->verbs[verb].name) == 0;
            pm_buf_printf(text, "%s'%s'", n++ == 0 ? "; verbs with that noun: " : ", ",
                          graph->verbs[verb].name);
        }
        free(m.counts);
    }
    free(seen);
}

static void why_not_begun(const struct pm_question_sentence *s, const struct pm_graph *graph,
                          struct pm_buf *text)
{
    bool *is_ambient = find_ambient(graph);
    uint32_t n = 0;
    pm_buf_printf(text, "no phase, and nothing else that was begun (pm_begin), fits '%s'",
                  s->nouns[0].text);
    for (pm_index i = 0; is_ambient && i < graph->n_sentences && n < 8; i++) {
        pm_index noun = pm_graph_first_noun(graph, i);
        if (is_ambient[i] && noun != PM_NONE)
            pm_buf_printf(text, "%s'%s'", n++ ? ", " : "; there are: ", graph->nouns[noun].name);
    }
    if (n == 0)
        pm_buf_add_str(text, "; there is nothing of that sort in this archive");
    free(is_ambient);
}

const char *pm_question_why_nothing(const struct pm_question_sentence *sentence,
                                    const struct pm_graph *graph, struct pm_arena *arena)
{
    struct pm_buf text = PM_BUF_INIT(65536);
    bool said = sentence->is_ambient || why_verb(sentence, graph, &text);
    if (sentence->is_ambient)
        why_not_begun(sentence, graph, &text);
    for (uint32_t i = 0; i < sentence->n_nouns && !said; i++)
        said = why_noun(&sentence->nouns[i], graph, &text);
    if (!said)
        why_together(sentence, graph, &text);
    const char *result = text.data ? pm_arena_strndup(arena, text.data, text.len) : NULL;
    pm_buf_release(&text);
    return result;
}
