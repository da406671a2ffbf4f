/* Source functions and their loops, as the compiler's front end saw them.
 *
 *     struct pm_source_function *function = pm_source_function_new("main", "main", NULL, &place);
 *     int outer = pm_source_loop_add(function, &place_of_for, -1);
 *     function->loops[outer].last = last_statement;      // what it covers, statement by statement
 *     pm_source_loops_sort(function);                    // the loops are all there
 *     int loop = pm_source_loop_at(function, file, point);  // the innermost one that holds a place
 *
 * The optimisers merge, copy and move blocks. They leave the place alone (line and column) that
 * each statement came from. So the early scan notes for each source loop the range of text that
 * it covers, and later a natural loop is known by the places of its statements.
 *
 * With LTO another compiler process emits the code. The table of a function travels there as
 * text: pm_source_function_write, pm_source_function_read.
 *
 * Strings given are lent and must outlive the function, but for those that pm_source_function_read
 * keeps itself. One thread at a time. Only memory can end, where a function says so.
 */
#ifndef PM_SOURCE_H
#define PM_SOURCE_H

#include "ids.h"
#include "positions.h"
#include "../../mapping/base/arena.h"
#include "../../mapping/base/str.h"

struct pm_source_loop {
    const char *file, *shown;         /* as in struct pm_place */
    struct pm_text_point place;       /* where it begins as written */
    struct pm_text_point first, last; /* all its statements lie in here */
    int parent;                       /* index of the enclosing loop, -1 none */
    /* natural loops within one another that share this place (an array statement of rank 2: 2) */
    int nest;
    bool shares_line; /* another loop of this function begins on the same line */
    /* One statement's (Fortran), of which the compiler made several loops, one after the other. */
    bool is_split;
    pm_id id;
    /* in the range, but not part of it: "i = 0" of a for */
    struct pm_text_point *outside;
    uint32_t n_outside, outside_cap;
};

/* A loop in the order of first places. */
struct pm_loop_begin {
    struct pm_text_point first;
    struct pm_text_point furthest; /* the last place of this one and all before */
    int loop;
};

struct pm_source_function {
    pm_id id;
    bool scanned;     /* the early scan saw its body */
    bool local;       /* to its file */
    bool abstract;    /* no symbol has its linkage name (constructors) */
    bool in_macro;    /* a macro wrote it: all of it may be at its own place */
    bool was_read;    /* by pm_source_function_read: this process may spell folders otherwise */
    const char *name; /* as users write it */
    const char *linkage;
    struct pm_place place;
    unsigned end_line; /* 0 unknown */
    struct pm_source_loop *loops;
    uint32_t n_loops, loops_cap;
    /* From pm_source_loops_sort: */
    struct pm_loop_begin *by_first;
    struct pm_positions by_id;
    int *around; /* for pm_source_loops_around */
};

/* local_path: the file that the function is local to, NULL none. NULL: memory. */
struct pm_source_function *pm_source_function_new(const char *linkage, const char *name,
                                                  const char *local_path,
                                                  const struct pm_place *place);
void pm_source_function_free(struct pm_source_function *function);

/* Adds a loop (or finds the one that begins at this place) and returns its index. -1: memory.
 * The loop covers its own place only; who adds it widens first and last. */
int pm_source_loop_add(struct pm_source_function *function, const struct pm_place *place,
                       int parent);
/* The point lies in the loop's range and is no part of it. False: memory. */
bool pm_source_loop_exclude(struct pm_source_loop *loop, struct pm_text_point point);
/* When ranges are known, before what follows here. False: memory. */
bool pm_source_loops_sort(struct pm_source_function *function);

/* All loops in whose range of text the point lies, whatever the file: *ret_n indices, ascending,
 * lent until the next call for this function. */
const int *pm_source_loops_around(const struct pm_source_function *function,
                                  struct pm_text_point point, uint32_t *ret_n);
/* The innermost loop of the function whose text holds this place, or -1. */
int pm_source_loop_at(const struct pm_source_function *function, const char *file,
                      struct pm_text_point point);
/* Index of the loop with this id, -1 none. */
int pm_source_loop_with(const struct pm_source_function *function, pm_id id);

/* Appends "heat.c:42", with ":column" where another loop of the function begins on that line. */
void pm_source_loop_name(const struct pm_source_loop *loop, struct pm_buf *out);

/* The table as text without zero bytes, appended; and the function that such a text describes, its
 * loops sorted (NULL: memory). Strings are interned in `strings`, which must live as long. What
 * the text lacks is empty or 0: only the compiler process that wrote it is trusted. */
void pm_source_function_write(const struct pm_source_function *function, struct pm_buf *out);
struct pm_source_function *pm_source_function_read(const char *text, struct pm_intern *strings);

#endif
