/* What the parts of the GCC back end say to each other. See docs/SOURCE.md "plugin/gcc". */
/* clang-format off */
/*   main.cc      plugin_init: options, registers the passes of the others
 *   sleds_*.cc   function sleds (RTL), loop sleds (GIMPLE), portable mode
 *   identity.cc  which construct is this? The same early, late and in another compiler process
 *   omp.cc       OpenMP: constructs that are no call of the library tell the runtime of themselves
 *   omp_places.cc, omp.h  the calls that GCC makes of them have the construct's place
 *   facts.cc     early facts: nouns and static mappings of level Source, from GIMPLE
 *   late.cc      late facts: code symbols and loop code (level Base), where code is emitted
 *
 * They read GCC's trees. What they make of that is plugin/emit's: ids, nouns, the late map's form.
 */
/* clang-format on */
#ifndef PM_GCC_BACKEND_H
#define PM_GCC_BACKEND_H

#include "gcc-common.h"

extern "C" {
#include "../../format/pm_sled.h"
#include "../emit/facts.h"
#include "../emit/options.h"
#include "../../mapping/base/selection.h"
#include "../emit/statements.h"
}

/* --- main.cc --- */
extern struct pm_options pm_options; /* parsed -fplugin-arg-perfmap-*; constant after plugin_init */
/* Is this function (and what lies in it) instrumented? By selection lists, no_instrument_function,
 * naked, thunks, system headers. */
bool pm_function_selected(tree function_decl);
/* Does the late map tell of its code? Also of that which comes from system headers (instances of
 * std's templates): it is the program's, and its time shall have a name. */
bool pm_function_mapped(tree function_decl);

/* Memory is at its end: the compiler stops, as GCC itself does then. */
void pm_no_memory(void) ATTRIBUTE_NORETURN;

/* --- identity.cc --- */
/* Expansion place of a location. False when it has none. */
bool pm_place_of(location_t location, struct pm_place *ret_place);
bool pm_is_in_macro(location_t location);
/* Is the text there that of a system header? What its macros write elsewhere is not. */
bool pm_is_system_place(location_t location);
/* The function as written: clones (.constprop, .part, .isra, ._omp_fn keep their own source
 * function) lead to their origin. */
tree pm_origin_function(tree function_decl);
/* Is it one of the bodies that another body of the same constructor or destructor calls? The
 * front end makes up to three. */
bool pm_is_lower_body(tree decl, tree of);
/* Where the function is written. C's front end leaves a definition at the place of an earlier
 * declaration in a system header. */
location_t pm_definition_place(tree function_decl);
pm_id pm_function_id(tree function_decl); /* "func" of the origin */
pm_id pm_symbol_id(tree function_decl);   /* "symbol": the emitted symbol */

struct pm_loop_identity {
    tree function; /* the source function whose text holds the loop (the inlined one, not the one it
                      was inlined into) */
    struct pm_place place; /* of the loop's header as written */
    pm_id id;              /* "loop" */
    tree copy;             /* BLOCK of the inlined copy that it is in; NULL_TREE: none */
    bool is_split;         /* the statement has several natural loops, one after the other */
};
/* The source loop that a natural loop (in GIMPLE with a CFG) implements. The same loop gives the
 * same identity in the early CFG, just before the loop passes, inlined, cloned, and in lto1. False
 * when it has no place (compiler-made). */
bool pm_loop_identity_of(class loop *loop, struct pm_loop_identity *ret_identity);
/* Loops of the source some statements of which are in the function, in GIMPLE, but in no natural
 * loop: unrolled completely, left in the first round, or begun by setjmp(). */
struct pm_missing_loop {
    struct pm_loop_identity identity;
    bool has_calls;
};
void pm_loops_missing(function *fun, std::vector<struct pm_missing_loop> *ret_missing);
/* The same for a place of the code, in GIMPLE or RTL: the innermost such loop around it that lies
 * within the natural loop around the code (around: its identity's id, 0 none). Any loop there is
 * one for code that does not return. First natural loops are looked for, once in a function. */
void pm_natural_loops_find(function *fun);
bool pm_missing_loop_at(location_t location, pm_id around, bool returns,
                        struct pm_loop_identity *ret_identity);

/* --- leaps.cc: natural loops, of GIMPLE or RTL, without the ways of longjmp() --- */
/* GCC has an edge from each call to what comes after each setjmp(): to it, a loop with a setjmp()
 * holds all that is called after it in the function. */
std::vector<basic_block> pm_loop_blocks(class loop *loop);
/* The edges that leave it; those of leaps and exceptions are no exits. */
std::vector<edge> pm_loop_exits(class loop *loop);
/* The loop around a loop, and around a block; NULL: none. */
class loop *pm_loop_outer(class loop *loop);
class loop *pm_loop_around(basic_block bb);
/* Does the way from here end, without a fork, in a call that does not return? Such code is part
 * of no natural loop. */
bool pm_ends_without_return(basic_block bb);
/* 1: outermost; at most PM_SLED_DEPTH_MASK */
unsigned pm_loop_depth(class loop *loop);

/* --- facts.cc, late.cc --- */
/* registers its passes and callbacks; called by main.cc */
void pm_facts_register(const char *plugin_name);
void pm_late_register(const char *plugin_name);
/* copies.cc: which functions have calls without sleds, for they were inlined or became jumps. */
void pm_copies_register(const char *plugin_name);
/* Called by sleds_*.cc when sleds were put into code that will be emitted: late.cc makes the Base
 * nouns and their mappings of them and writes them in this compiler process. */
void pm_late_symbol(tree function_decl);
/* A call that carries out the statement at the place in the text of a function; returns the id
 * of its code. */
pm_id pm_late_call(tree function_decl, tree text_function, const struct pm_place *place);
void pm_late_loop(tree function_decl, const struct pm_loop_identity *identity);
/* The same of one that goes on with a loop. may_be_first: not all entries of the loop are seen. */
void pm_late_loop_rest(tree function_decl, const struct pm_loop_identity *identity,
                       bool may_be_first);
/* Some code of the loop has no sleds: what is counted and timed by those of other copies is not
 * all of it, nor, with calls, what is called. After pm_late_loop for those of the symbol. */
void pm_late_bare_loop(const struct pm_loop_identity *identity, pm_id loopcode, bool has_calls);

/* --- omp.cc --- */
void pm_omp_register(const char *plugin_name);

/* --- sleds_*.cc --- */
void pm_sleds_register(const char *plugin_name);

#endif
