/* Parts of queries: query_nouns.c what can be asked for, query_parse.c text to SQL, query.c
 * rows. select.c has the same conditions, of routines. */
#ifndef PDT_QUERY_INTERNAL_H
#define PDT_QUERY_INTERNAL_H

#include "query.h"

struct query_field {
    const char *word, *sql;
};

/* What can be asked for. Expressions are NULL where the noun has nothing of the kind. */
struct query_noun {
    const char *word, *columns, *from, *order;
    const char *where; /* of this noun always; NULL: all rows */
    /* for conditions */
    const char *name, *other_name; /* what patterns are of */
    const char *file, *routine, *class, *loop, *type;
    const char *id; /* of routines, loops, calls, variables */
    enum { NOUN_OTHER, NOUN_ROUTINE, NOUN_LOOP, NOUN_CALL, NOUN_VARIABLE } sort;
    const struct query_field *numbers, *flags; /* NULL-ended */
};

const struct query_noun *query_noun_find(struct pm_str word); /* other spellings too; NULL */

enum { QUERY_MAX_PATTERNS = 64, QUERY_MAX_BYTES = 8192 };

struct query_sql {
    struct pm_buf text;
    struct pm_buf patterns[QUERY_MAX_PATTERNS]; /* of ?1, ?2, ... */
    int n_patterns;
};

/* A routine as "ns::f(int, char)"; t: its alias, four times. */
#define QUERY_SIGNATURE(t)                                                                      \
    "coalesce((SELECT " t ".full_name || substr(z.name, instr(z.name, '(')) FROM main.types z " \
    "WHERE z.id = " t ".type AND instr(z.name, '(')), " t ".full_name)"

struct query_parser;

/* What differs between languages of one grammar. */
struct query_language {
    const char *what; /* of messages: "query" */
    bool has_names;   /* patterns mean what names mean in all commands */
    bool has_unknown; /* what is not known stays so behind `not` */
    /* Conditions of its own, looked at first. NULL: none. */
    enum pm_status (*atom)(struct query_parser *parser, bool *ret_is_done);
};

struct query_parser {
    const char *text, *at;
    struct pm_str word; /* the token at hand; len 0: the end */
    bool is_quoted;
    const char *word_at;
    const struct query_noun *noun;
    struct query_sql *sql;
    struct pm_error *err;
    int depth;
    const struct query_language *language;
    void *context; /* of the language */
};

enum pm_status query_fail(const struct query_parser *parser, const char *what);
PM_MUST_CHECK enum pm_status query_next(struct query_parser *parser);
bool query_is_word(const struct query_parser *parser, const char *word);
bool query_is_at_end(const struct query_parser *parser);
bool query_is_before_operator(const struct query_parser *parser); /* the token at hand */
bool query_has_word(const struct query_parser *parser); /* the token begins a condition of it */
void query_add(struct query_parser *parser, const char *sql);
PM_MUST_CHECK enum pm_status query_operator(struct query_parser *parser, const char **ret_operator);
PM_MUST_CHECK enum pm_status query_pattern_of(struct query_parser *parser, const char *name,
                                              const char *other, bool is_path);
PM_MUST_CHECK enum pm_status query_parse_any(struct query_parser *parser);
PM_MUST_CHECK enum pm_status query_check_text(const char *text, const char *what,
                                              struct pm_error *err);

PM_MUST_CHECK enum pm_status query_to_sql(const char *text, struct pm_error *err,
                                          const struct query_noun **ret_noun,
                                          struct query_sql *ret_sql);
void query_sql_release(struct query_sql *sql);

#endif
