/* What a piece of code touches: between touched.c, which finds it out, and touches.c, which maps
 * it. Nothing here is to be freed. Errors of all: PM_ERR_MEMORY, PM_ERR_LIMIT. */
#ifndef PM_COLLECT_TOUCHED_H
#define PM_COLLECT_TOUCHED_H

#include "touches.h"

struct collect_access;

/* The statement of the user's that code belongs to: where headers of the system call one another,
 * the one that calls them. */
struct user_statement {
    struct pm_code_place place;
    const struct pm_code_site *site;
    bool in_header;
};
struct user_statement collect_user_statement(const struct collect_binary *binary,
                                             const struct pm_code_tuple *tuple);
/* The statement that code is there for: of "v[i] = x" also what was inlined of v's operator[], and
 * of what that calls by way of the library. */
struct user_statement collect_served_statement(const struct collect_binary *binary,
                                               const struct pm_code_tuple *tuple);
/* A function of few lines and no loop: one by which callers reach the elements of an object, or
 * ask for its size. */
bool collect_is_accessor(const struct collect_binary *binary, pm_id function);

enum { TOUCHES_MAX = 96 };

struct touch {
    pm_id noun;
    unsigned access; /* PM_MAP_READS | PM_MAP_WRITES, PM_MAP_THROUGH */
    unsigned sure;   /* of these what the map says */
    bool is_data;    /* an array, a pointer, a field: no lone number */
    bool is_field;
    bool is_found; /* the code reads its descriptor */
};

/* What one piece of code touches, each noun once. */
struct touches {
    struct collector *c;
    const struct collect_binary *binary;
    struct touch list[TOUCHES_MAX];
    uint32_t n;
};

/* Beyond TOUCHES_MAX nothing is added. */
void collect_add_touch(struct touches *touches, pm_id id, unsigned access);
bool collect_has_data(const struct touches *touches);
/* PM_MAP_READS, PM_MAP_WRITES of what a statement names. */
unsigned collect_access_ways(const struct collect_access *access);

/* The row of the statement, for the facts below. */
PM_MUST_CHECK enum pm_status collect_find_statement(const struct touches *touches,
                                                    const struct collect_code *code,
                                                    const struct user_statement *user,
                                                    uint32_t *ret_row);
/* All arrays and fields that the statement names. */
void collect_add_facts(struct touches *touches, uint32_t statement);
/* What the statements of a function name; too many say nothing. */
void collect_add_facts_of_function(struct touches *touches, pm_id function);
/* What the code of a loop touches, of arrays and fields; too many say nothing. 0: of all loops. */
PM_MUST_CHECK enum pm_status collect_add_of_loop(struct touches *touches,
                                                 const struct collect_code *code,
                                                 const struct pm_code_block *block, pm_id loop);

/* Of code that counts a loop: the lone objects whose fields the loop's statements touch. */
void collect_add_holders(struct touches *holders, const struct touches *touches,
                         const struct pm_code_range *range);

/* Adds what follows from the statement, to what the map says. */
PM_MUST_CHECK enum pm_status collect_infer(struct touches *touches, const struct collect_code *code,
                                           const struct pm_code_range *range);
/* Of a call of C++'s library, or of one that gets memory without a name: what is passed, in the
 * ways in which the statement touches that. Where something else is passed, too, or the call is
 * made by code of the library that was inlined, it is whatever the statement touches. */
PM_MUST_CHECK enum pm_status collect_infer_call(struct touches *touches,
                                                const struct collect_code *code,
                                                const struct pm_code_range *range);
/* Of a call of a memory function: the fields of an object that it copies or clears as a whole, and
 * those that it is passed the address of; not values that it is passed. */
PM_MUST_CHECK enum pm_status collect_infer_fields(struct touches *touches,
                                                  const struct collect_code *code,
                                                  const struct pm_code_range *range);

/* --- touches.c --- */
/* Maps the code's sentence to all data in the list, in the ways it has there. origin, reason:
 * lasting strings. */
PM_MUST_CHECK enum pm_status collect_map_touches(const struct touches *touches,
                                                 struct collect_code *code, const char *origin,
                                                 const char *reason);

#endif
