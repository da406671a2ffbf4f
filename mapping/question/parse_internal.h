/* Between the lexer (lexer.re), the grammar (grammar.y) and parse.c. */
#ifndef PM_QUESTION_PARSE_INTERNAL_H
#define PM_QUESTION_PARSE_INTERNAL_H

#include "question.h"

struct question_parser {
    struct pm_question *question;
    const char *text, *at; /* where the lexer is */
    bool in_sentence;
    uint32_t cap_nodes, cap_sentences, cap_limits, cap_words;
    /* Words of the sentence at hand. */
    struct pm_question_word *words;
    uint32_t n_words;
    uint32_t sentence_column;
    struct pm_error *err;
    enum pm_status status; /* of the first mistake */
};

struct question_span {
    uint32_t from, to; /* columns, from 1; `to` is behind */
};

union QUESTION_STYPE;
/* Made by re2c: the next token. */
int question_lex(union QUESTION_STYPE *value, struct question_span *place,
                 struct question_parser *parser);

/* parse.c. Positions of nodes; failures are kept in the parser. */
void question_fail(struct question_parser *parser, uint32_t column, const char *format, ...)
    PM_PRINTF(3, 4);
uint32_t question_node(struct question_parser *parser, enum pm_question_kind kind, uint32_t left,
                       uint32_t right);
uint32_t question_then(struct question_parser *parser, uint32_t left, uint32_t right,
                       const struct question_span *place);
void question_word(struct question_parser *parser, struct pm_str text, uint32_t column);
uint32_t question_sentence(struct question_parser *parser, const struct question_span *place);
/* The question so far, and during (or outside, from the word of that name) what was begun and
 * fits the word. */
void question_phase(struct question_parser *parser, struct pm_str text,
                    const struct question_span *from, const struct question_span *word,
                    bool outside);
void question_limit(struct question_parser *parser, enum pm_question_where where,
                    struct pm_str text, uint32_t column);

#endif
