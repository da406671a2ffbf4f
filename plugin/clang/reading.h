/* What the text of a function says: its statements, and what each reads, writes and calls. It is
 * read while the trees are there, becomes facts when the function is emitted, and tells the late
 * map what the code at a place does. */
#ifndef PM_CLANG_READING_H
#define PM_CLANG_READING_H

#include "nouns.h"

extern "C" {
#include "../emit/map_block.h"
#include "../emit/statements.h"
}

/* A value that is read from or written to an object of the source. */
struct pm_touch {
    struct pm_place place; /* what Clang says of the code that does it */
    struct pm_place outer; /* and of an operation that it may become part of */
    unsigned use;          /* PM_MAP_READS | PM_MAP_WRITES; 0: only an address is made */
    unsigned says;         /* what the facts say of the statement: as use, or more */
    bool gives_address;    /* what is read is a pointer that only leads to something else */
    bool goes_through;     /* it is reached by a pointer, a reference, or what a call gave */
    int statement;         /* index in statements */
    uint32_t first, n;     /* in accesses: what it touches; the innermost comes first */
};

struct pm_written_statement {
    struct pm_place place;
    struct pm_text_point last;
    struct pm_place loop_place; /* of the loop that it lies in; line 0 none */
};

/* An "if": statements [first, otherwise) are one way, [otherwise, end) the other. */
struct pm_read_ways {
    int condition; /* -1: none was read */
    int first, otherwise, end;
};

struct pm_referral {
    pm_id pointer, object;
};

/* Code of "return x" is at the keyword, the statement begins with the value. */
struct pm_read_keyword {
    struct pm_place place;
    struct pm_text_point value;
};

/* The address of an object is passed to a function. */
struct pm_passed {
    struct pm_place place; /* of the call */
    unsigned argument;
    pm_id noun;
};

/* The library of C++ gets an object to work on. */
struct pm_handed {
    struct pm_place place; /* of the call */
    pm_id noun;            /* 0: one that is not known */
};

/* A construct of OpenMP. */
struct pm_read_region {
    struct pm_place place, loop_place; /* of its directive, and of the loop that it lies in */
    const char *construct;             /* "parallel" */
};

struct pm_read_text {
    std::vector<pm_id> parameters; /* nouns */
    std::vector<struct pm_passed> passed;
    std::vector<struct pm_handed> handed;
    std::vector<struct pm_read_keyword> keywords;
    std::vector<struct pm_read_region> regions;
    struct pm_statements ranges; /* sorted */
    std::vector<struct pm_written_statement> statements;
    std::vector<struct pm_read_ways> ways;
    std::vector<struct pm_touch> touches; /* by place */
    std::vector<struct pm_access> accesses;
    std::vector<std::pair<int, pm_id>> calls;        /* statement, function */
    std::vector<std::pair<int, pm_id>> calls_within; /* of functions that the unit defines */
    std::vector<struct pm_referral> referrals;
};

/* Lent as long as the compiler runs. The function's loops are there. */
struct pm_read_text *pm_text_read(const clang::FunctionDecl *decl,
                                  const struct pm_source_function *function);
/* The place becomes that of the beginning of its statement. False: it is in none. */
bool pm_text_statement(const struct pm_read_text *text, struct pm_place *place);
/* Where the loop begins that the statement at the place lies in; NULL: in none. False: no statement
 * begins at the place. */
bool pm_text_loop(const struct pm_read_text *text, const struct pm_place *place,
                  const struct pm_place **ret_loop);
/* The function is emitted: what it says becomes facts. */
void pm_text_state(const struct pm_read_text *text, const struct pm_source_function *function);

#endif
