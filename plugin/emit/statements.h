/* Where the statements of a function begin and end in its text, and which of them a place is of.
 *
 *     struct pm_statements texts = {0};
 *     struct pm_range range = {0};
 *     pm_range_widen(&range, &place_of_operand);       // all places of the statement
 *     pm_statements_add(&texts, &range);
 *     pm_statements_sort(&texts);                      // all are there
 *     if (pm_statement_begin(function, &texts, &place, &last))
 *         pm_fact_statement(facts, function, &place, last.line, parent);
 *     pm_statements_release(&texts);
 *
 * Optimisers keep the place of each operation, not which statement it is of. Files are compared by
 * pointer, as struct pm_place says. One thread at a time. False means that memory ended, where
 * nothing else is said.
 */
#ifndef PM_STATEMENTS_H
#define PM_STATEMENTS_H

#include "source.h"

/* Text of one statement. */
struct pm_range {
    const char *file; /* NULL: empty */
    struct pm_text_point first, last;
};

struct pm_statements {
    bool by_line; /* one for each line: the front end told no ranges */
    struct pm_range *list;
    uint32_t n, cap;
};

/* A place of another file than the first one changes nothing. */
void pm_range_widen(struct pm_range *range, const struct pm_place *place);

bool pm_statements_add(struct pm_statements *statements, const struct pm_range *range);
/* In the order of the text; of ranges within another one only the outer one stays. */
bool pm_statements_sort(struct pm_statements *statements);
void pm_statements_release(struct pm_statements *statements);

/* What the compiler adds to a coroutine is at its name, and from GCC 15 on there with one half,
 * and with the other at the closing brace, where nothing comes after; what it adds to a co_yield
 * also ends there. No range of these is a statement's. Before they are sorted. */
void pm_statements_cut_coroutine(struct pm_statements *statements, const struct pm_place *name);

/* Which statement holds the place: an index, -1 none. */
int pm_statement_at(const struct pm_statements *statements, const struct pm_place *place);

/* The place becomes that of the beginning of its statement, which ends at *ret_last. texts: by
 * range; NULL: the front end told none, and each place is a statement. False: it is what the
 * compiler does for the function's arguments (a function that a macro wrote has its statements
 * there, too). */
bool pm_statement_begin(const struct pm_source_function *function,
                        const struct pm_statements *texts, struct pm_place *place,
                        struct pm_text_point *ret_last);

#endif
