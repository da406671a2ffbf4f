/* Text to question: what grammar.y builds. */
#include "parse_internal.h"

#include "../base/banned.h"

#include <stdlib.h>

int question_parse(struct question_parser *parser); /* made by bison */

enum { CONTEXT_BYTES = 60 }; /* of the question, shown below a message */

static void fail_memory(struct question_parser *parser)
{
    if (parser->status == PM_OK)
        parser->status = pm_error_set(parser->err, PM_ERR_MEMORY, "out of memory");
}

/* "question column 8: ... at '...'": the first mistake counts. */
void question_fail(struct question_parser *parser, uint32_t column, const char *format, ...)
{
    if (parser->status != PM_OK)
        return;
    struct pm_buf text = PM_BUF_INIT(4096);
    va_list args;
    va_start(args, format);
    pm_buf_vprintf(&text, format, args);
    va_end(args);
    const char *at = parser->text + column - 1;
    size_t rest = strlen(at);
    bool cut = rest > CONTEXT_BYTES;
    size_t len = cut ? CONTEXT_BYTES : rest;
    while (cut && len > 0 && ((unsigned char)at[len] & 0xc0) == 0x80)
        len--;
    const char *what = text.data ? text.data : "not a question";
    const char *dots = cut ? "..." : "";
    parser->status = PM_ERR_USAGE;
    if (rest)
        pm_error_set(parser->err, PM_ERR_USAGE, "question column %u, at '%.*s%s': %s", column,
                     (int)len, at, dots, what);
    else
        pm_error_set(parser->err, PM_ERR_USAGE, "question column %u, at its end: %s", column, what);
    pm_buf_release(&text);
}

uint32_t question_node(struct question_parser *parser, enum pm_question_kind kind, uint32_t left,
                       uint32_t right)
{
    struct pm_question *q = parser->question;
    if (parser->status != PM_OK)
        return 0;
    if (q->n_nodes == PM_QUESTION_MAX_NODES) {
        parser->status = pm_error_set(parser->err, PM_ERR_LIMIT,
                                      "a question has at most %d sentences and words between them",
                                      PM_QUESTION_MAX_NODES);
        return 0;
    }
    void *grown = pm_grow_array(q->nodes, q->n_nodes, &parser->cap_nodes, 8, sizeof *q->nodes);
    if (!grown) {
        fail_memory(parser);
        return 0;
    }
    q->nodes = grown;
    q->nodes[q->n_nodes] = (struct pm_question_node){.kind = kind, .left = left, .right = right};
    return q->n_nodes++;
}

/* Sentences and choices between them have an order; what else would have none. */
static bool can_be_ordered(const struct pm_question *q, uint32_t node)
{
    const struct pm_question_node *n = &q->nodes[node];
    if (n->kind == PM_QUESTION_OR)
        return can_be_ordered(q, n->left) && can_be_ordered(q, n->right);
    return n->kind == PM_QUESTION_SENTENCE;
}

uint32_t question_then(struct question_parser *parser, uint32_t left, uint32_t right,
                       const struct question_span *place)
{
    const struct pm_question *q = parser->question;
    if (parser->status != PM_OK)
        return 0;
    bool good = can_be_ordered(q, right) &&
                (q->nodes[left].kind == PM_QUESTION_THEN || can_be_ordered(q, left));
    if (!good)
        question_fail(parser, place->from,
                      "'then' orders sentences and choices between them ('or'), nothing else");
    return question_node(parser, PM_QUESTION_THEN, left, right);
}

/* --- words --- */

struct spelling {
    struct pm_buf pattern, literal; /* for fnmatch; the bytes that are meant */
    size_t level_bytes, rest_at; /* of literal; of pattern: behind the first `::` outside quotes */
    bool has_level, is_wild, level_is_wild;
};

static void spell(struct spelling *s, char c, bool quoted)
{
    bool wild = !quoted && (c == '*' || c == '?');
    s->is_wild |= wild;
    if (!wild && strchr("*?[\\", c))
        pm_buf_add_byte(&s->pattern, '\\');
    pm_buf_add_byte(&s->pattern, (unsigned char)c);
    pm_buf_add_byte(&s->literal, (unsigned char)c);
}

static void spell_word(struct spelling *s, struct pm_str text)
{
    bool quoted = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (c == '"') {
            quoted = !quoted;
        } else if (quoted && c == '\\' && i + 1 < text.len) {
            spell(s, text.p[++i], true);
        } else if (!quoted && !s->has_level && c == ':' && i + 1 < text.len &&
                   text.p[i + 1] == ':' && s->literal.len > 0) {
            s->has_level = true;
            s->level_bytes = s->literal.len;
            s->level_is_wild = s->is_wild;
            spell(s, ':', false);
            spell(s, text.p[++i], false);
            s->rest_at = s->pattern.len;
        } else {
            spell(s, c, quoted);
        }
    }
}

static bool make_word(struct pm_arena *arena, struct pm_str text, uint32_t column,
                      struct pm_question_word *ret_word)
{
    struct spelling s = {.pattern = PM_BUF_INIT(2 * PM_QUESTION_MAX_BYTES),
                         .literal = PM_BUF_INIT(2 * PM_QUESTION_MAX_BYTES)};
    spell_word(&s, text);
    bool has_level = s.has_level && !s.level_is_wild && s.rest_at < s.pattern.len;
    const char *whole = s.pattern.data ? s.pattern.data : "";
    const char *rest = has_level ? whole + s.rest_at : whole;
    *ret_word = (struct pm_question_word){
        .pattern = pm_arena_strndup(arena, rest, strlen(rest)),
        .whole = pm_arena_strndup(arena, whole, s.pattern.len),
        .level = has_level ? pm_arena_strndup(arena, s.literal.data, s.level_bytes) : NULL,
        .text = pm_arena_strndup(arena, text.p, text.len),
        .column = column,
        .any = !strcmp(rest, "?"),
    };
    bool good = !s.pattern.failed && !s.literal.failed && ret_word->pattern && ret_word->whole &&
                ret_word->text && (!has_level || ret_word->level);
    pm_buf_release(&s.pattern);
    pm_buf_release(&s.literal);
    return good;
}

void question_word(struct question_parser *parser, struct pm_str text, uint32_t column)
{
    if (parser->status != PM_OK)
        return;
    void *grown =
        pm_grow_array(parser->words, parser->n_words, &parser->cap_words, 8, sizeof *parser->words);
    if (grown)
        parser->words = grown;
    if (!grown ||
        !make_word(&parser->question->arena, text, column, &parser->words[parser->n_words]))
        fail_memory(parser);
    else
        parser->n_words++;
}

/* The last word is the verb. */
uint32_t question_sentence(struct question_parser *parser, const struct question_span *place)
{
    struct pm_question *q = parser->question;
    if (parser->status != PM_OK)
        return 0;
    if (parser->n_words < 2) {
        question_fail(parser, place->from,
                      "a sentence is nouns and a verb, as in {A Sum}; ? stands for any");
        return 0;
    }
    void *grown = pm_grow_array(q->sentences, q->n_sentences, &parser->cap_sentences, 8,
                                sizeof *q->sentences);
    if (!grown) {
        fail_memory(parser);
        return 0;
    }
    q->sentences = grown;
    struct pm_question_sentence *s = &q->sentences[q->n_sentences];
    uint32_t n_nouns = parser->n_words - 1;
    *s = (struct pm_question_sentence){
        .nouns = pm_arena_alloc(&q->arena, n_nouns * sizeof *s->nouns),
        .n_nouns = n_nouns,
        .verb = parser->words[n_nouns],
        .text =
            pm_arena_strndup(&q->arena, parser->text + place->from - 1, place->to - place->from),
    };
    if (!s->nouns || !s->text) {
        fail_memory(parser);
        return 0;
    }
    memcpy(s->nouns, parser->words, n_nouns * sizeof *s->nouns);
    parser->n_words = 0;
    return question_node(parser, PM_QUESTION_SENTENCE, q->n_sentences++, 0);
}

void question_phase(struct question_parser *parser, struct pm_str text,
                    const struct question_span *from, const struct question_span *word,
                    bool outside)
{
    struct pm_question *q = parser->question;
    uint32_t all = q->n_nodes - 1; /* the last node is all that was read so far */
    if (parser->status != PM_OK)
        return;
    question_word(parser, text, word->from);
    question_word(parser, PM_STR("?"), word->from);
    struct question_span span = {from->from, word->to};
    uint32_t phase = question_sentence(parser, &span);
    if (parser->status != PM_OK)
        return;
    q->sentences[q->n_sentences - 1].is_ambient = true;
    if (outside)
        phase = question_node(parser, PM_QUESTION_NOT, phase, phase);
    question_node(parser, PM_QUESTION_AND, all, phase);
}

void question_limit(struct question_parser *parser, enum pm_question_where where,
                    struct pm_str text, uint32_t column)
{
    struct pm_question *q = parser->question;
    if (parser->status != PM_OK)
        return;
    void *grown = pm_grow_array(q->limits, q->n_limits, &parser->cap_limits, 4, sizeof *q->limits);
    if (grown)
        q->limits = grown;
    if (!grown || !make_word(&q->arena, text, column, &q->limits[q->n_limits].word)) {
        fail_memory(parser);
        return;
    }
    q->limits[q->n_limits++].where = where;
}

/* --- the whole --- */

static void mark_denied(struct pm_question *q)
{
    for (uint32_t i = q->n_nodes; i-- > 0;) {
        const struct pm_question_node *n = &q->nodes[i];
        bool denied = n->denied != (n->kind == PM_QUESTION_NOT);
        if (n->kind == PM_QUESTION_SENTENCE)
            continue;
        q->nodes[n->left].denied = denied;
        q->nodes[n->right].denied = denied;
    }
}

static enum pm_status check_text(const char *text, struct pm_error *err)
{
    size_t len = strlen(text);
    if (len > PM_QUESTION_MAX_BYTES)
        return pm_error_set(err, PM_ERR_LIMIT, "a question of %zu bytes is too long (at most %d)",
                            len, PM_QUESTION_MAX_BYTES);
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)text[i] < ' ' && !strchr("\t\n\r", text[i])) || text[i] == 127)
            return pm_error_set(err, PM_ERR_USAGE, "question column %zu: a control byte", i + 1);
    return PM_OK;
}

enum pm_status pm_question_parse(const char *text, struct pm_error *err,
                                 struct pm_question **ret_question)
{
    enum pm_status status = check_text(text, err);
    if (status != PM_OK)
        return status;
    struct pm_question *q = pm_alloc(sizeof *q);
    if (!q)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    q->text = pm_arena_strndup(&q->arena, text, strlen(text));
    struct question_parser parser = {.question = q, .text = q->text, .at = q->text, .err = err};
    if (!q->text)
        fail_memory(&parser);
    int end = q->text ? question_parse(&parser) : 0;
    if (end == 2)
        fail_memory(&parser);
    free(parser.words);
    if (parser.status != PM_OK) {
        pm_question_free(q);
        return parser.status;
    }
    mark_denied(q);
    *ret_question = q;
    return PM_OK;
}

void pm_question_free(struct pm_question *question)
{
    if (!question)
        return;
    free(question->nodes);
    free(question->sentences);
    free(question->limits);
    pm_arena_release(&question->arena);
    free(question);
}
