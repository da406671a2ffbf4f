/* Reading the statements of one function, GIMPLE before it is lowered. Private to these: */
/* clang-format off */
/*   facts_statements.cc   which statement of the source a GIMPLE statement is, and its noun
 *   facts_temporaries.cc  what the compiler's own registers hold
 *   facts_touch.cc        which variables and fields it reads and writes
 *   facts_behind.cc       which container an iterator or reference refers into; who keeps results
 *   facts_pointers.cc     what pointers refer to
 *   facts_callbacks.cc    what calls pass to the functions that they call
 *   facts_results.cc      what the results of calls lead into
 *   facts_kept.cc         what objects of C++'s library keep
 *   facts_whole.cc        objects that are copied as a whole: their fields
 */
/* clang-format on */
#ifndef PM_GCC_FACTS_READER_H
#define PM_GCC_FACTS_READER_H

#include "facts.h"

/* A statement of the source. GIMPLE may have many for it. */
struct pm_read_statement {
    pm_id id; /* 0: no noun yet */
    struct pm_place place;
    struct pm_text_point last;
};

struct pm_reader {
    tree decl;
    const struct pm_source_function *function;
    const struct pm_statements *ranges;
    /* by first line and column (0: languages without ranges) */
    std::map<std::pair<unsigned, unsigned>, struct pm_read_statement> statements;
    struct pm_read_statement *now, *last; /* last: of last_location */
    location_t last_location;
    int loop_now;                            /* innermost source loop, -1 none */
    std::map<unsigned, location_t> returned; /* temporaries that hold what a call returned */
    std::map<unsigned, tree> from_frames; /* and pointers of the function around: what was loaded */
    std::vector<pm_id> *referred; /* else NULL: what is touched is put there, and is no fact */
    /* pointers that temporaries are given: "i ? a : b" */
    std::map<unsigned, std::vector<tree>> given;
    /* descriptors that a call points somewhere: by which of its parameters */
    std::map<unsigned, std::vector<pm_id>> pointed_by_call;
    /* what the front end puts in the place of a reference to it, and the name of that */
    std::map<pm_id, pm_id> names;
    unsigned depth; /* of temporaries that are given others */
};

enum pm_access_way { PM_READS = PM_SOURCE_READS, PM_WRITES = PM_SOURCE_WRITES };

/* --- facts_statements.cc --- */

/* Of the statement that is being read; made when something is known about it. */
pm_id pm_reader_statement_noun(struct pm_reader *reader);

/* --- facts_touch.cc --- */

/* The statement and the noun, which may be 0: nothing. Or, where they are gathered
 * (pm_reader.referred), the noun alone. */
void pm_reader_map_to(struct pm_reader *reader, pm_id noun, enum pm_fact_verb verb);
/* What a tree is: read or written. */
void pm_reader_touch(struct pm_reader *reader, tree t, enum pm_access_way access);
/* What a pointer leads to. */
void pm_reader_touch_target(struct pm_reader *reader, tree pointer, enum pm_access_way access);
/* What a pointer leads to that was loaded from a field (that field) or from a descriptor's data
 * (the array). */
void pm_reader_touch_loaded(struct pm_reader *reader, tree t, enum pm_access_way access);
/* The subscripts within a reference are read. */
void pm_reader_touch_indices(struct pm_reader *reader, tree t);
/* What is assigned to. */
void pm_reader_touch_result(struct pm_reader *reader, tree to);
/* Only an address is worked out: the access through it comes later. What is read for it. */
bool pm_reader_makes_address(struct pm_reader *reader, gimple *stmt);
bool pm_reader_fills_descriptor(gimple *stmt);
void pm_reader_read_address(struct pm_reader *reader, gimple *stmt);
/* The innermost field of a reference that the source has: not the parts of a descriptor or of a
 * library's class. 0: none. */
pm_id pm_reader_field_of(struct pm_reader *reader, tree t, tree *ret_component);
/* "D.1 = CHAIN->u; *D.1 = x": no variable of the function around is in a register here.
 * NULL_TREE: it holds no such pointer. */
tree pm_reader_loaded_from_frame(const struct pm_reader *reader, tree t);
/* Unlike get_base_address() never NULL_TREE. */
tree pm_base_of(tree t);
/* The assignment, or the call, that a name gets its value from. NULL: none. */
gimple *pm_definition_of(tree t);
gcall *pm_call_of(tree t);
/* The callee, when it is a function of the program's own that returns a pointer; else
 * NULL_TREE. */
tree pm_returning_function(gcall *call);

/* --- facts_temporaries.cc --- */

/* Of the function that is read from here on. */
void pm_temporaries_of(const std::vector<struct pm_linear> &code);
/* What gives an SSA name, or a variable of the compiler's that is like one, its value. NULL:
 * nothing, or several statements. */
gimple *pm_temporary_definition(tree t);

/* --- facts_behind.cc --- */

/* __for_range, __for_begin, __for_end */
bool pm_is_range_name(tree variable);
/* "auto &e = v[i]", "auto it = v.begin()", "span part(v)": what is done through the first is done
 * with v. */
void pm_reader_note_reference(struct pm_reader *reader, gimple *assign);
void pm_reader_note_result(struct pm_reader *reader, gcall *call);
void pm_reader_note_constructed(struct pm_reader *reader, gcall *call);
/* A call returns a pointer; a pointer that a call returned is copied: pm_fact_keeper. */
void pm_reader_note_returned(struct pm_reader *reader, gimple *call);
void pm_reader_note_kept(struct pm_reader *reader, gimple *assign);

/* --- facts_pointers.cc --- */

/* The variables and fields that an address leads into. */
std::vector<pm_id> pm_reader_objects_behind(struct pm_reader *reader, tree pointer);
/* The functions whose address a pointer is: appended. depth: 0. */
void pm_reader_find_functions(const struct pm_reader *reader, tree t, unsigned depth,
                              std::vector<tree> *out);
bool pm_is_method_type(tree function_decl);
/* What is done through the pointer is done with what the value refers to, and calls through it
 * are of the functions that the value holds. */
void pm_reader_refer(struct pm_reader *reader, pm_id pointer, tree value);
/* "job.data = u", "p = rows[k]", "rows[i] = u + i * n"; "return rows[i]". */
void pm_reader_note_pointed(struct pm_reader *reader, gimple *assign);
void pm_reader_note_exchanged(struct pm_reader *reader, gcall *call);
/* An address becomes a number. */
void pm_reader_note_number(struct pm_reader *reader, gimple *assign);
void pm_reader_note_value_returned(struct pm_reader *reader, gimple *stmt);

/* A descriptor of Fortran that is copied, by an assignment or a call. */
void pm_reader_note_descriptor(struct pm_reader *reader, gimple *stmt);

/* --- facts_callbacks.cc --- */

/* The argument goes to a parameter. */
void pm_reader_note_passed(struct pm_reader *reader, gcall *call, unsigned index);
/* "qsort(keys, n, size, compare)", "std::sort(v.begin(), v.end(), compare)" */
void pm_reader_note_callbacks(struct pm_reader *reader, gcall *call);
/* NULL_TREE: it has none. */
tree pm_reader_type_of_parameter(gcall *call, unsigned index);

/* --- facts_results.cc --- */

/* The name of the function called, which C's library may have; "": it can have none. Lent. */
const char *pm_reader_name_in_c(gcall *call);
/* Of a function of C's library: does the result lead into what an argument, or any, leads to? */
bool pm_reader_leads_into(gcall *call, unsigned argument);
bool pm_reader_leads_on(gcall *call);
/* What is given the call's result leads into what that does; pointers that the call fills. */
void pm_reader_note_results(struct pm_reader *reader, gcall *call);
/* The address of a pointer is passed: what the parameter's target is made to lead into. */
void pm_reader_note_passed_pointer(struct pm_reader *reader, tree argument, pm_id parameter);

/* --- facts_whole.cc --- */

/* The object is read or written as a whole: each of its fields is. Only they are noted here. */
void pm_reader_touch_whole(struct pm_reader *reader, tree object, enum pm_access_way access);
/* The same of what a memory function gets passed. */
void pm_reader_touch_whole_target(struct pm_reader *reader, gcall *call, unsigned index,
                                  enum pm_access_way access);
/* "object.*which" may be any field of that type: they are marked. */
void pm_reader_note_member_pointer(gimple *assign);
/* Of what a function of C++'s library gets by reference: std::swap(a[i], a[k]). */
void pm_reader_touch_whole_passed(struct pm_reader *reader, gcall *call, unsigned index,
                                  enum pm_access_way access);
/* What a function of C++'s library moves or copies: std::sort(p, p + n), v.push_back(x). */
void pm_reader_touch_whole_elements(struct pm_reader *reader, gcall *call, unsigned index);
/* What it reads of each: max_element(people, {}, &person::height). */
void pm_reader_touch_projected(struct pm_reader *reader, gcall *call, unsigned index);

/* --- facts_kept.cc --- */

/* "rows.push_back(u)", "job = std::make_pair(u, n)": an object of C++'s library keeps u. */
void pm_reader_note_held(struct pm_reader *reader, gcall *call);
void pm_reader_note_copied(struct pm_reader *reader, gimple *assign);
/* The object, by its address, is given a value that is an address. */
void pm_reader_give(struct pm_reader *reader, tree holder, tree value);

#endif
