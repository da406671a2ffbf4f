/* Source functions and their loops, as the compiler's front end saw them. Private to identity.cc,
 * facts*.cc and late.cc.
 *
 * The optimisers merge, copy and move blocks; what they leave alone is the place (line and column)
 * that each statement came from. So the early scan (facts_loops.cc) notes for each source loop the
 * range of text that it covers, and later a natural loop is known by the places of its statements:
 * pm_loop_identity_of. Under LTO the table of a function travels to lto1 as a string in the
 * function's attribute "perfmap" (an attribute nobody registered: ipa-icf and the inliner pass over
 * it).
 */
#ifndef PM_GCC_IDENTITY_H
#define PM_GCC_IDENTITY_H

#include "backend.h"
#include "table.h"

/* A point of a source text. */
struct pm_point {
    unsigned line, column;
};

static inline bool pm_point_less(struct pm_point a, struct pm_point b)
{
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

static inline bool pm_point_same(struct pm_point a, struct pm_point b)
{
    return a.line == b.line && a.column == b.column;
}

struct pm_source_loop {
    const char *file, *shown;    /* as in struct pm_place */
    struct pm_point place;       /* where it begins as written */
    struct pm_point first, last; /* all its statements lie in here */
    int parent;                  /* index of the enclosing loop, -1 none */
    int nest; /* natural loops within one another that share this place (an array statement of rank
                 2: 2) */
    bool shares_line; /* another loop of this function begins on the same line */
    pm_id id;
    std::vector<struct pm_point> outside; /* in the range, but not part of it: "i = 0" of a for */
};

/* An entry of the loops in the order of their first place. */
struct pm_loop_begin {
    struct pm_point first;
    struct pm_point furthest; /* the last place of this one and all before */
    int loop;
};

struct pm_source_function {
    pm_id id;
    bool scanned;     /* the early scan saw its body */
    bool local;       /* to its file */
    bool abstract;    /* no symbol has its linkage name (constructors) */
    const char *name; /* as users write it */
    const char *linkage;
    struct pm_place place;
    unsigned end_line; /* 0 unknown */
    std::vector<struct pm_source_loop> loops;
    /* When their places are all known: */
    std::vector<struct pm_loop_begin> loops_by_first;
    struct pm_table<pm_id, int> loops_by_id;
};

/* The record of a declaration's source function; made at need, never NULL. */
struct pm_source_function *pm_source_function_of(tree function_decl);

/* The BLOCK of the inlined function that a BLOCK lies in; NULL_TREE: the function being compiled
 * itself. */
tree pm_inlined_scope(tree block);
/* The function whose text a BLOCK is of: the inlined one, or the one being compiled. */
tree pm_text_function(tree block);

/* Innermost loop of the function whose text holds this place, or -1. */
int pm_source_loop_at(const struct pm_source_function *function, const char *file,
                      struct pm_point point);

/* All loops in whose range of text the place lies, by index, whatever the file. Their places are
 * known for good. */
void pm_source_loops_around(const struct pm_source_function *function, struct pm_point point,
                            std::vector<int> *ret_loops);
void pm_source_loops_sort(struct pm_source_function *function);
/* Index of the loop with this id, -1 none. */
int pm_source_loop_with(struct pm_source_function *function, pm_id id);

/* For the early scan. Adds a loop (or the one already there at this place) and returns its index;
 * then, when the function's loops are all there, leaves the table with the declaration for lto1. */
int pm_source_loop_add(struct pm_source_function *function, const struct pm_place *place,
                       int parent);
void pm_source_function_done(struct pm_source_function *function, tree function_decl);

/* The assembler name without the compiler's marks. */
const char *pm_linkage_name(tree decl);

/* "heat.c:42", with ":column" where another loop of the function begins on that line. */
std::string pm_loop_name(const struct pm_source_loop *loop);

#endif
