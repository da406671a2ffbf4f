/* Parts of queries: query_nouns.c what can be asked for, query_parse.c text to SQL, query.c
 * rows. */
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

PM_MUST_CHECK enum pm_status query_to_sql(const char *text, struct pm_error *err,
                                          const struct query_noun **ret_noun,
                                          struct query_sql *ret_sql);
void query_sql_release(struct query_sql *sql);

#endif
