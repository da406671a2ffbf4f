/* What calls pass, along the way that led to some code: of the data that a statement names, that
 * which the function that it calls has in its parameters; and what a parameter stands for there. */
#ifndef PM_COLLECT_ARGUMENTS_H
#define PM_COLLECT_ARGUMENTS_H

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/base/status.h"
#include "mapping/code/code_map.h"

#include <stddef.h>

struct collect_argument;
struct collect_code;
struct collector;

/* From the facts of all binaries. */
struct collect_arguments {
    struct collect_argument *list; /* by noun */
    size_t n;
    bool is_made;
    struct pm_map known; /* what was asked before -> row of the sentence */
};

/* A call: a function was called, or inlined, at a place, which is a statement of the code's
 * binary. */
struct collect_step {
    pm_id function;                  /* of level Source; 0: not known */
    struct pm_code_place place;      /* line 0: not known where */
    const struct collect_code *code; /* NULL: not known */
};

enum { COLLECT_MAX_WAY = 96 };
/* Innermost first. Nobody knows what lies beyond its end. */
struct collect_way {
    struct collect_step steps[COLLECT_MAX_WAY];
    uint32_t n;
};

/* Adds the functions that were inlined around the code. */
void collect_way_add_inlined(struct collect_way *way, const struct collect_code *code);
void collect_way_add(struct collect_way *way, pm_id function, const struct pm_code_place *place,
                     const struct collect_code *code);

/* Row of {code called Calls}: the step is under way. It maps to its statement, and to what is done,
 * while it lasts, with data that it passes: "inferred", or "possible" where the statement passes
 * several, or none is known. called: row of a noun. */
PM_MUST_CHECK enum pm_status collect_calls_sentence(struct collector *c,
                                                    const struct collect_way *way, uint32_t step,
                                                    uint32_t called, uint32_t *ret_sentence);
/* Row of {code Executes}, or of {code CALLER ... Executes}, which maps to the same but for
 * parameters: they are what those callers pass. way: that led to the code. */
PM_MUST_CHECK enum pm_status collect_resolved_sentence(struct collector *c,
                                                       const struct collect_way *way,
                                                       const struct collect_code *code,
                                                       uint32_t *ret_sentence);
void collect_arguments_release(struct collector *c);

#endif
