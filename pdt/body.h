/* Statements and expressions of one body. Of the reader only.
 *
 *     body.c      statements                access.c      what is read and written
 *     call.c      calls, and arguments      directive.c   directives of OpenMP
 *     loop.c      loops, and their heads    generic.c     callees that the compiler chooses
 *     construct.c what constructors do that nobody writes
 *     destroy.c   destructors that nobody calls by name
 *     reference.c what references stand for, and containers
 */
#ifndef PDT_BODY_H
#define PDT_BODY_H

#include "reader.h"

/* How an expression is used. */
enum pdt_use {
    PDT_USE_READ = PDT_READ,
    PDT_USE_WRITE = PDT_WRITE,
    PDT_USE_UPDATE = PDT_UPDATE,
    PDT_USE_ADDRESS = PDT_ADDRESS,
    PDT_USE_UNKNOWN = PDT_UNKNOWN,
};

enum { PDT_MAX_PARTS = 32 }; /* within each other */

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
    enum pdt_use return_use;     /* of what the routine returns */
    const CXCursor *name;        /* of a reference, while what it stands for is walked; or NULL */
    unsigned n_references;
    CXCursor classes[PDT_MAX_PARTS]; /* each a part of the one before, see pdt_enter_class */
    unsigned n_parts;
};

struct pdt_span {
    unsigned from, to; /* lines */
};

/* body.c */
void pdt_walk(struct pdt_body *body, CXCursor cursor, bool is_statement, enum pdt_use use);
/* A record whose place is this one; the fields before the place follow. */
struct pm_buf *pdt_begin_record(struct pdt_body *body, enum pdt_tag tag, struct pdt_place place);

void pdt_put_range(struct pm_buf *buf, struct pdt_place from, struct pdt_place to);

/* loop.c. The kind of loop, or -1; its record, which holds what follows; is the i-th part of n done
 * once, before it? The first part of a switch or range-for, which libclang does not show. */
int pdt_loop_kind(enum CXCursorKind kind);
void pdt_begin_loop(struct pdt_body *body, CXCursor cursor, int kind);
bool pdt_is_done_once(struct pdt_reader *reader, CXCursor loop, CXCursor part, uint32_t i,
                      uint32_t n);
void pdt_walk_hidden_head(struct pdt_body *body, CXCursor statement);

/* generic.c. Which branch of a _Generic is taken, if that can be told; all of it; the function that
 * one of tgmath.h stands for. */
bool pdt_choose_branch(struct pdt_reader *reader, CXCursor selection, CXCursor *ret_branch);
void pdt_walk_selection(struct pdt_body *body, CXCursor selection, enum pdt_use use);
CXCursor pdt_behind_tgmath(struct pdt_reader *reader, CXCursor callee);

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

/* *p, of a reference's value; what an element of a container is. True: all of the call is done. */
void pdt_walk_star(struct pdt_body *body, CXCursor cursor, enum pdt_use use);
bool pdt_walk_element(struct pdt_body *body, CXCursor call, enum pdt_use use);

/* reference.c. The name of a reference is used: so is what it stands for, and that only; nothing
 * below is evaluated again. False: it is no reference, or to what is not known. */
bool pdt_walk_reference(struct pdt_body *body, CXCursor name, enum pdt_use use);
void pdt_walk_referent(struct pdt_body *body, CXCursor value, enum pdt_use use);
/* Of a variable's initial value. */
enum pdt_use pdt_use_of_value(struct pdt_reader *reader, CXCursor variable);
bool pdt_has_value(struct pdt_reader *reader, CXCursor variable);
bool pdt_is_written_through(struct pdt_reader *reader, CXType type);
/* Does this child of a declaration belong to its type? */
bool pdt_is_of_type(struct pdt_reader *reader, CXCursor declaration, CXCursor child);
/* What a hidden variable of a range-for stands for. */
bool pdt_range_of(struct pdt_reader *reader, CXCursor cursor, CXCursor *ret_range);
/* x of x.f() or f(x). */
CXCursor pdt_object_of(struct pdt_reader *reader, CXCursor call);
/* Of methods of the system's containers. */
enum pdt_element { PDT_NO_ELEMENT, PDT_ELEMENT_AT, PDT_ELEMENT_AT_END, PDT_FIRST_ELEMENT };
enum pdt_element pdt_element_of(struct pdt_reader *reader, CXCursor callee);

/* construct.c. What a constructor that is written does besides; what one that is not written does,
 * where it is called; the initial value of a member, or the value of an argument left out. */
void pdt_walk_constructor(struct pdt_body *body, CXCursor constructor);
void pdt_walk_implicit_constructor(struct pdt_body *body, CXCursor callee);
void pdt_walk_initial_value(struct pdt_body *body, CXCursor declaration);
bool pdt_is_class(enum CXCursorKind kind);
/* False: the parts of this class are not gone through, for it is one of itself (a template that is
 * its own base, as written), or there are too many. */
bool pdt_enter_class(struct pdt_body *body, CXCursor class, unsigned depth);
CXCursor pdt_class_of(struct pdt_reader *reader, CXType type); /* or its template; as written */

/* destroy.c. The destructor of a local variable; of members and bases behind a destructor's body;
 * of what is deleted. */
void pdt_walk_end_of_scope(struct pdt_body *body, CXCursor variable);
void pdt_walk_destructor(struct pdt_body *body, CXCursor destructor);
void pdt_walk_delete(struct pdt_body *body, CXCursor expression);

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
