/* Which noun of the facts stands for a place. */
#ifndef PM_COLLECT_PLACES_H
#define PM_COLLECT_PLACES_H

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/base/status.h"
#include "mapping/pif/pif.h"

struct collect_binary;
struct collector;
struct pm_code_place;
struct pm_code_range;

/* A statement of the early facts. */
struct collect_source_statement {
    pm_id function, parent;
    const char *file; /* interned, as the facts spell it; NULL not known */
    uint32_t line_no, column_no, end_line_no;
    uint32_t row;  /* of its noun */
    bool is_there; /* some code implements it */
};

/* Of one binary. */
struct collect_places {
    struct collect_source_statement *statements; /* by function, file, line, column */
    size_t n_statements;
    pm_id *loops;                   /* of loopcodes: the loop of the source */
    pm_id *loop_functions;          /* likewise: the function whose loop it is */
    struct pm_map loops_with_sleds; /* loop -> 1 */
    struct pm_map loopcodes;        /* pif id -> position in loop_functions + 1 */
    struct pm_map implements; /* symbol, loopcode -> position of its mapping in the facts + 1 */
    /* hash of linkage name -> row, and position of the noun + 1 */
    struct pm_map functions, symbol_names;
};

PM_MUST_CHECK enum pm_status collect_places_make(struct collector *c,
                                                 struct collect_binary *binary);
/* The source's loop of a loopcode; 0: not known. */
pm_id collect_loop_of_code(const struct collect_binary *binary, pm_id loopcode);
/* The facts' own function of a loopcode; 0: not known. */
pm_id collect_loop_function(const struct collect_binary *binary, pm_id loopcode);
/* collect_map_any_of what a symbol or loopcode implements; nothing where that is not known. */
PM_MUST_CHECK enum pm_status collect_map_any_of_code(struct collector *c,
                                                     struct collect_binary *binary, pm_id code,
                                                     uint32_t sentence);
/* What a function or loop with sleds (a symbol or loopcode) called at a line that nobody knows:
 * a statement of it without a line; 0: which function or loop it is of is not known. */
PM_MUST_CHECK enum pm_status collect_map_unknown_line(struct collector *c,
                                                      struct collect_binary *binary, pm_id code,
                                                      uint32_t *ret_row);
/* Rows of functions and positions of symbols by their linkage name; 0: none, or several. */
uint32_t collect_function_named(const struct collect_binary *binary, const char *linkage);
bool collect_symbol_named(const struct collect_binary *binary, const char *name,
                          struct pm_pif_noun *ret_noun);
/* Rows of nouns that the late map names, made when the facts do not have them. name NULL: not
 * known. */
PM_MUST_CHECK enum pm_status collect_map_noun(struct collector *c, struct collect_binary *binary,
                                              pm_id id, const char *kind, const char *name,
                                              uint32_t *ret_row);
/* The statement or region at a place; where the facts have none, one that is made, or `frame`
 * (0: the function's own) where the function is entered and left. 0: a place without a line. */
PM_MUST_CHECK enum pm_status collect_map_statement(struct collector *c,
                                                   struct collect_binary *binary,
                                                   const struct pm_code_place *place,
                                                   uint32_t frame, uint32_t *ret_row);
/* The loop that code belongs to: the one that it lies in or, of the peeled round of a loop
 * within that one, and of what was moved out of it, that of the statement. What leaves a loop
 * for good (a return within it) has no code in it. 0: none. */
pm_id collect_loop_of(struct collector *c, const struct collect_binary *binary,
                      const struct pm_code_range *range, enum pm_status *status);
/* The statement that a place is within, but does not begin; NULL: none. Under LTO code has the
 * columns of expressions, so that of one statement has several. It belongs to the binary. */
const struct collect_source_statement *collect_statement_around(struct collector *c,
                                                                const struct collect_binary *binary,
                                                                const struct pm_code_place *place,
                                                                enum pm_status *status);
/* Is this statement around the place? The place is of the statement's file. */
bool collect_is_within(const struct collect_binary *binary,
                       const struct collect_source_statement *statement,
                       const struct pm_code_place *place);
/* The loop that the statement at exactly this place stands in; 0: none, or no such statement. */
pm_id collect_statement_loop(struct collector *c, const struct collect_binary *binary,
                             const struct pm_code_place *place, enum pm_status *status);
/* The file's name as the facts of statements spell it; NULL: they do not have the file. */
const char *collect_place_file(struct collector *c, const struct collect_binary *binary, pm_id file,
                               enum pm_status *status);
/* The function around a noun; 0: not in these facts. */
pm_id collect_function_around(const struct pm_pif *pif, const struct pm_pif_noun *noun);
/* Entering and leaving a function: a statement that stands at its head. */
PM_MUST_CHECK enum pm_status collect_map_frame(struct collector *c, struct collect_binary *binary,
                                               pm_id function, uint32_t *ret_row);
/* Statements of which nothing is left get the attribute `removed`. */
PM_MUST_CHECK enum pm_status collect_mark_removed(struct collector *c,
                                                  struct collect_binary *binary);
void collect_places_release(struct collect_binary *binary);

#endif
