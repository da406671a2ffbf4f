/* Statements and expressions of one body. Of the reader only.
 *
 *     body.c      statements, loops         access.c      what is read and written
 *     call.c      calls, and arguments      directive.c   directives of OpenMP
 *     construct.c what constructors do that nobody writes
 */
#ifndef PDT_BODY_H
#define PDT_BODY_H

#include "reader.h"

struct pdt_body {
    struct pdt_reader *reader;
    uint32_t group;
    const char *path;     /* the group's */
    const char *path_now; /* where the last records' places lie */
    struct pm_buf records;
    uint32_t loop, n_loops; /* the innermost; numbers from 1 */
    uint32_t n_statements, n_returns;
    struct pdt_span *loops; /* all of this body */
    uint32_t cap_loops;
    uint32_t first_omp, end_omp; /* the file's directives from here to there lie in the body */
};

struct pdt_span {
    unsigned from, to; /* lines */
};

/* How an expression is used. */
enum pdt_use {
    PDT_USE_READ = PDT_READ,
    PDT_USE_WRITE = PDT_WRITE,
    PDT_USE_UPDATE = PDT_UPDATE,
    PDT_USE_ADDRESS = PDT_ADDRESS,
    PDT_USE_UNKNOWN = PDT_UNKNOWN,
};

/* body.c */
void pdt_walk(struct pdt_body *body, CXCursor cursor, bool is_statement, enum pdt_use use);
/* A record whose place is this one; the fields before the place follow. */
struct pm_buf *pdt_begin_record(struct pdt_body *body, enum pdt_tag tag, struct pdt_place place);

/* directive.c. Which of the file's directives lie in these lines; a statement that may be that of
 * one; and their records. */
void pdt_begin_directives(struct pdt_body *body, CXFile file, unsigned from, unsigned to);
void pdt_end_of_directive(struct pdt_body *body, CXCursor statement);
void pdt_put_directives(struct pdt_body *body);

/* access.c. True: it is an expression of this kind, and all of it is done. */
bool pdt_walk_access(struct pdt_body *body, CXCursor cursor, enum pdt_use use);
bool pdt_walk_operator(struct pdt_body *body, CXCursor cursor, enum pdt_use use);
/* a[i], also of a class, with all that is below. The element that *it is of. */
void pdt_walk_subscript(struct pdt_body *body, CXCursor cursor, enum pdt_use use);
void pdt_walk_dereference(struct pdt_body *body, CXCursor cursor, CXCursor object,
                          enum pdt_use use);
/* What says where an element is: its name counts for nothing. */
void pdt_walk_base(struct pdt_body *body, CXCursor base);

/* construct.c. What a constructor that is written does besides; what one that is not written does,
 * where it is called; the initial value of a member, or the value of an argument left out. */
void pdt_walk_constructor(struct pdt_body *body, CXCursor constructor);
void pdt_walk_implicit_constructor(struct pdt_body *body, CXCursor callee);
void pdt_walk_delete(struct pdt_body *body, CXCursor expression); /* the destructor */
void pdt_walk_initial_value(struct pdt_body *body, CXCursor declaration);

/* call.c */
void pdt_walk_call(struct pdt_body *body, CXCursor call, enum pdt_use use);
/* The call's record, without what is below it. */
void pdt_put_call_of_operator(struct pdt_body *body, CXCursor call);
/* A call that nobody writes: it lies where this declaration is. */
void pdt_put_call_of(struct pdt_body *body, CXCursor where, CXCursor callee, bool is_virtual);
/* What stands behind "operator" in the name of what is called as one: "[]" for a[i]; "": none.
 * "binary *" is not "*". */
const char *pdt_operator_of(struct pdt_reader *reader, CXCursor call);
/* Parentheses, casts and what libclang does not show are gone. */
CXCursor pdt_strip(struct pdt_reader *reader, CXCursor cursor);

#endif
