/* Between the parts of the facts: facts.cc (the early pass, nouns of files, functions and loops),
 * facts_loops.cc (where the loops are), facts_statements.cc (statements, variables, calls),
 * facts_out.cc (section and .pif file), late.cc. */
#ifndef PM_GCC_FACTS_H
#define PM_GCC_FACTS_H

#include "identity.h"

extern "C" {
#include "../emit/containers.h"
}

/* A function's statements in the order of the code, nested ones (of binds, try blocks, OpenMP
 * regions) after the one that holds them. */
struct pm_linear {
    gimple *stmt;
    unsigned end; /* index after the statements nested in it */
    int loop;     /* index of the innermost source loop, -1 none */
};

void pm_linearise(gimple_seq body, std::vector<struct pm_linear> *out);

/* Finds the source loops of the function, tells identity.cc, and sets pm_linear.loop. */
void pm_scan_loops(tree function_decl, std::vector<struct pm_linear> *code);

/* --- facts.cc --- */

/* The facts of this compiler process: early ones, and those that late.cc makes where code is
 * emitted. They are one set unless the early ones have to travel through LTO byte code. Never NULL.
 */
struct pm_facts *pm_facts_early(void);
struct pm_facts *pm_facts_late(void);

/* --- facts_ranges.cc: what only the C and C++ front ends tell --- */

/* The statements of a function, sorted; NULL when the front end did not tell (other languages).
 * Lent until pm_ranges_drop. */
const struct pm_statements *pm_ranges_of(tree function_decl);
void pm_ranges_drop(tree function_decl);
/* Place of the first `for` under an OpenMP loop directive, by the directive's location. */
bool pm_ranges_omp_loop(location_t directive, struct pm_place *ret_place);
void pm_ranges_register(const char *plugin_name);

/* --- facts_variables.cc --- */

/* Noun of a variable or field of the source; 0 for those that the compiler made. context: the
 * function being read. */
pm_id pm_fact_variable(tree variable, tree context);
/* The artificial variable stands for the one of the source (the data of an array whose size is
 * known at run time). */
void pm_fact_variable_stands_for(tree artificial, tree variable, tree context);
void pm_fact_variable_is(tree artificial, pm_id noun);
/* Also an array that gfortran marks as its own until the procedure's body has been read. */
pm_id pm_fact_dummy(tree parameter, tree function_decl);
pm_id pm_fact_field(tree field);
/* COMMON blocks of Fortran and what EQUIVALENCE joins: for gfortran one variable, its members
 * are fields. A member's noun is that of a variable; the noun of a whole block is for where
 * members cannot be told (0: EQUIVALENCE has none). */
bool pm_fact_is_block(tree variable);
tree pm_fact_block_of(tree reference); /* NULL: it is no COMPONENT_REF of a block */
pm_id pm_fact_block(tree block);
pm_id pm_fact_member(tree block, tree field, tree context);
/* The record types that the function gives the block, else those that the units of this file
 * give it; of lto1 the block's own. */
std::vector<tree> pm_fact_layouts(tree block, tree context);
/* Noun of the field or member that a COMPONENT_REF names; 0 as pm_fact_field. */
pm_id pm_fact_component(tree reference, tree context);

/* --- facts_overlap.cc --- */

/* The field is one name for its bytes of the block, and there may be others. */
void pm_fact_note_overlaps(tree block, tree field, pm_id noun);

/* --- facts_variables.cc --- */

/* A member of a block that the source names at a place. */
struct pm_member_touch {
    pm_id noun;
    bool writes, is_scalar;
};
void pm_fact_note_member(location_t location, tree reference, pm_id noun, bool writes);
/* NULL: none. */
const std::vector<struct pm_member_touch> *pm_fact_members_at(location_t location, tree block);

/* Is the source Fortran? Also in lto1. */
bool pm_fact_is_fortran(void);
/* gfortran's record for CLASS: where the object is, and its type. */
bool pm_fact_is_of_class(tree type);
/* gfortran's record for what READ and WRITE say to the library. */
bool pm_fact_is_transfer(tree type);
/* The record of a function whose variables others reach that lie in it. */
bool pm_fact_is_frame(tree type);
/* gfortran's descriptor of an allocatable, pointer or assumed-shape array. */
bool pm_fact_is_descriptor(tree type);
/* Does the reference lie in one? By its parts the array's elements are found. */
bool pm_fact_in_descriptor(tree t);
/* The descriptor of what has POINTER or TARGET. */
bool pm_fact_is_array_pointer(tree type);
/* The variable that a field of the compiler's own records stands for, by which bodies of OpenMP
 * regions and nested functions reach the variables around them; 0: none. */
pm_id pm_fact_captured(tree field, tree context);

/* --- facts_containers.cc: of C++ --- */

/* Has the type (or what it refers to) elements: a vector, a smart pointer, a class with
 * operator[]? */
bool pm_fact_is_container(tree type);
/* A lambda: its members are what it captured. */
bool pm_fact_is_closure(tree type);
/* Are such objects ways to the elements of another one: iterators, spans? */
bool pm_fact_type_refers(tree type);
/* Is the variable such an object that the source does not name? It stands for what it refers
 * into. */
bool pm_fact_is_way(tree variable);
/* std::function, or a pointer or reference to one; its operator(). */
bool pm_fact_is_std_function(tree type);
bool pm_fact_calls_std_function(tree callee);
/* A function of C++, or a class, that a system header declares. */
bool pm_fact_is_cxx_library(tree function_decl);
bool pm_fact_is_of_library(tree type);
bool pm_fact_is_initializer_list(tree type);
bool pm_fact_is_view_of_ranges(tree type);
/* A call of C++'s library that makes or changes an object of the class. */
struct pm_keeping pm_fact_keeping(tree type, tree callee);
/* Bits of the arguments whose objects the call's result refers into: of v[i], v.begin(), *it. 0:
 * none. */
unsigned pm_fact_call_sources(gcall *call);
/* How a call uses the object of an argument: pm_call_use of plugin/emit/containers.h. */
unsigned pm_fact_call_use(gcall *call, unsigned index);
/* And whole elements: pm_call_whole_use. */
unsigned pm_fact_call_whole_use(gcall *call, unsigned index);
/* What a container has, or an iterator or a pointer leads to. */
tree pm_fact_element_type(tree type);
/* Is the field what a lambda captured? *ret_variable: of *ret_function; NULL_TREE: not found. */
bool pm_fact_is_capture(tree field, tree *ret_variable, tree *ret_function);
/* The container that a variable refers into: auto &e = v[i], p = v.data(). 0: none, or several. */
void pm_fact_note_behind(tree variable, pm_id noun);
pm_id pm_fact_behind(tree variable);
/* Another name of a container: auto &name = v. 0: the noun is none, or one of several. */
void pm_fact_note_name(pm_id name, pm_id noun);
pm_id pm_fact_named(pm_id name);

/* --- facts_calls.cc --- */

/* Noun of a called function that lies outside of this translation unit; 0 for those inside and for
 * the compiler's own. */
pm_id pm_fact_external(tree function_decl);

/* --- facts_references.cc: what parameters, pointers and fields refer to --- */

/* What code does with the object behind a parameter, it does with what callers pass: {f::p
 * Refers} -> {caller::a Refers}. Within the unit p is named; for functions of other units the id
 * of "parameter number n of f" joins both sides. */
void pm_fact_refers(pm_id pointer, pm_id object);
/* 0: the function has no such parameter that the source names. */
pm_id pm_fact_parameter(tree function_decl, unsigned index);
/* The object that a method works on: an id that is no noun; 0: not a method of the program's
 * own. Does an address lead to that object, or to a part without a name of the source (a base
 * class)? */
pm_id pm_fact_this(tree function_decl);
bool pm_fact_leads_to_this(tree t, tree function_decl);
/* What a variable refers to from the start: "double *const rows[] = {a, b}". */
void pm_fact_initial(tree variable, pm_id noun, tree context);
/* Another noun refers to what the variable does from the start. Is there anything? */
void pm_fact_refers_to_initial(tree variable, pm_id noun, tree context);
bool pm_fact_has_addresses(tree variable);
/* Calls through pointers: ids that are no nouns. pm_id_of_pointed is "parameter number n of
 * whatever function the pointer holds"; this is the pointer that a function returns. {f::p
 * Refers} -> {parameter 0 of apply::f Refers} -> {main::data Refers}: apply(f, data) calls its f
 * with data. */
pm_id pm_fact_returned(tree function_decl);
/* The pointer is given the function; what another pointer of the type holds. before: arguments
 * of calls through the pointer that the function does not get: std::function's own. */
void pm_fact_holds_function(pm_id pointer, tree function_decl, unsigned before);
void pm_fact_holds_pointer(pm_id pointer, pm_id other, tree type);
/* Does a function of the library call back a function with one of its own arguments? qsort(a, n,
 * size, f) calls f with what lies in a. */
bool pm_fact_is_called_back_with(gcall *call, tree called, unsigned parameter, unsigned argument);
/* What C++'s library hands to a lambda, of which it calls an operator(): an id that is no noun; 0:
 * the type is no lambda's. Does a call of the library hand on elements of an argument? */
pm_id pm_fact_handed(tree type);
bool pm_fact_hands_elements(gcall *call, unsigned argument);
/* A lambda's or a function object's own function; NULL_TREE: it is none, or a template. */
tree pm_fact_call_operator(tree type);
/* Of the virtual method that an OBJ_TYPE_REF calls, and those that override it. 0: not known. */
pm_id pm_fact_virtual_parameter(tree reference, unsigned index);
/* Of the procedure of Fortran that "object%binding()" calls, by the component of gfortran's record
 * of bindings; 0: it is another component. */
pm_id pm_fact_bound_parameter(tree component, unsigned index);
/* Tables of functions that only other units use: what they hold is known here. So are procedures
 * that types of Fortran have bound to names. */
void pm_fact_tables(void);
/* The parameters of a function that other units may call. */
void pm_fact_parameters(tree function_decl);

/* --- facts_behind.cc --- */
/* A descriptor that the compiler makes for a call describes a component of a record: the
 * component and the record. What it describes, also when that is one array. */
void pm_fact_note_made(tree descriptor, const std::vector<pm_id> &objects);
std::vector<pm_id> pm_fact_made_for(tree descriptor);
/* The variable that keeps what the call at this place returned, as the source had it; 0: none
 * known here. */
pm_id pm_fact_keeper(location_t call);

/* --- facts_statements.cc --- */
void pm_fact_statements(tree function_decl, const std::vector<struct pm_linear> &code);

/* The statements of a function in the order of the text, for the late passes of this compiler
 * process. NULL: its text was not read here (lto1, functions that are not selected). */
const struct pm_statements *pm_statements_of(const struct pm_source_function *function);

/* --- copies.cc --- */
/* The function's code is emitted: what was noted in other processes of LTO is written down. */
void pm_copies_emitted(tree function_decl);

/* --- late.cc --- */
std::vector<const struct pm_source_function *> pm_late_folded_into(tree decl);
/* The noun of a source loop that code implements, whether or not it was read here. */
pm_id pm_late_source_loop(const struct pm_loop_identity *identity);

/* --- facts_fortran.cc --- */
/* Adds what array statements of Fortran do (nothing in other languages), when all early facts
 * are there. */
void pm_fortran_facts(struct pm_pif *pif);
/* When all code is emitted: which arrays the calls of array statements touch. */
void pm_fortran_call_facts(struct pm_pif *pif);
/* A function of the Fortran library that works on whole arrays, and writes the one that its first
 * argument describes. */
bool pm_fortran_is_array_operation(tree function_decl);
/* How a call of the Fortran library uses the object of an argument: bits of pm_use
 * (plugin/emit/arguments.h). Is it a call whose arguments are data of the program? */
unsigned pm_fortran_argument_use(tree function_decl, unsigned index);
bool pm_fortran_works_on_data(tree function_decl);
/* Whether an array statement of Fortran ends at this place: its loops get sleds also within
 * other loops. */
bool pm_fortran_is_array_statement(const struct pm_place *place);
/* Puts statements of WORKSHARE where they stand: gfortran says that each is where the one before
 * is. Before anything is read. */
void pm_fortran_mend_workshare(const std::vector<struct pm_linear> &code);
/* The DO under an OpenMP directive. False: not known. */
bool pm_fortran_omp_loop(const struct pm_place *directive, struct pm_place *ret_place);
/* The DO CONCURRENT whose text holds the place, and how many indices it has. False: none. */
bool pm_fortran_concurrent_at(const struct pm_place *place, struct pm_place *ret_place,
                              unsigned *ret_n_indices);
/* What the source calls the result of a function. */
std::string pm_fortran_result_name(tree function_decl);

/* --- facts_out.cc --- */
void pm_facts_out_register(const char *plugin_name);

#endif
