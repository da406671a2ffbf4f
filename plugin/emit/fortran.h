/* What a Fortran statement does to arrays, read from its text. The compiler's back ends see
 * array statements as loops and calls without names: that a loop is a SUM stands only in the
 * source.
 *
 *     struct pm_fortran *source = pm_fortran_new(text, len, pm_fortran_is_fixed_form("heat.f90"));
 *     const struct pm_fortran_statement *statement = pm_fortran_at(source, line, column);
 *     struct pm_fortran_operation operations[8];
 *     size_t n = pm_fortran_operations(statement, operations, 8);   // s = sum(a): {"Sum", "a"}
 *     pm_fortran_free(source);
 *
 * A scanner, no parser: it knows comments, strings, continuation, `;`, labels and the constructs
 * FORALL, WHERE and DO CONCURRENT. Whether a name is an array or `sum` is a variable of the
 * program's own is for the caller to look up. Any text is accepted. One thread at a time.
 *
 * Source of the verbs: Irvin and Miller, "Mapping Performance Data for High-Level and Data Views
 * of Parallel Program Performance" (1996), figure 9 (metrics for CM Fortran).
 */
#ifndef PM_EMIT_FORTRAN_H
#define PM_EMIT_FORTRAN_H

#include "../../mapping/base/str.h"

struct pm_fortran;

enum pm_fortran_construct {
    PM_FORTRAN_PLAIN,
    PM_FORTRAN_FORALL,
    PM_FORTRAN_WHERE,
    PM_FORTRAN_DO_CONCURRENT
};

struct pm_fortran_statement {
    unsigned first_line, first_column, last_line, last_column; /* from 1 */
    /* lower case, without comments, labels, continuation marks and what is in strings */
    struct pm_str text;
    enum pm_fortran_construct construct; /* innermost one that it is in */
    /* Number of the innermost DO CONCURRENT that it is in or begins, from 1; 0 none. */
    size_t concurrent;
};

/* Strings are constants. */
struct pm_fortran_operation {
    const char *verb;        /* Sum, MaxVal, CShift, Assign, ... */
    const char *group;       /* Summations, Rotations, ... */
    const char *group_above; /* Reductions, Transformations, ...; NULL none */
    struct pm_str intrinsic; /* the name in the text: "sum"; empty for assignments */
    struct pm_str arguments; /* text of its arguments, or of what is assigned to */
};

bool pm_fortran_is_source(const char *file); /* by its extension */
/* by its extension, as compilers do: .f, .for, .ftn, .fpp */
bool pm_fortran_is_fixed_form(const char *file);
struct pm_fortran *pm_fortran_new(const char *text, size_t len,
                                  bool fixed_form); /* copies; NULL: memory */
void pm_fortran_free(struct pm_fortran *source);
/* The statement whose text holds the point; NULL: none. column 0: the line's first. */
const struct pm_fortran_statement *pm_fortran_at(const struct pm_fortran *source, unsigned line,
                                                 unsigned column);
/* The DO that the first statement behind the line is; NULL: it is none. */
const struct pm_fortran_statement *pm_fortran_do_behind(const struct pm_fortran *source,
                                                        unsigned line);
/* A block of OpenMP's WORKSHARE: gfortran says of each statement in it that it stands where the one
 * before does, the first where the directive does. Which one is meant by the line; NULL: none, or
 * the line is in no such block. ret_block: the directive's line. */
const struct pm_fortran_statement *pm_fortran_workshared(const struct pm_fortran *source,
                                                         unsigned line, unsigned *ret_block,
                                                         bool *ret_is_first);
/* The DO CONCURRENT that the statement is in or begins, and how many indices it has; NULL: none. */
const struct pm_fortran_statement *pm_fortran_concurrent(
    const struct pm_fortran *source, const struct pm_fortran_statement *statement,
    unsigned *ret_n_indices);
/* Its operations on arrays, in the order of the text, at most max. Assignments come last:
 * Forall, Where, Do Concurrent within these constructs, else Assign when the whole of a name or
 * a section (`:`) is assigned to. */
size_t pm_fortran_operations(const struct pm_fortran_statement *statement,
                             struct pm_fortran_operation *ret_operations, size_t max);
/* Next name in text from *at on (moves *at behind it), in lower case; false: no more. */
bool pm_fortran_next_name(struct pm_str text, size_t *at, struct pm_str *ret_name);

#endif
