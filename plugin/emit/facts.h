/* PIF records out of what a back end reads in its compiler's trees: which levels and verbs there
 * are, what nouns are called, which attributes they have. docs/formats/pif-names.md is the
 * contract.
 *
 *     struct pm_facts *facts = pm_facts_new("perfmap-gcc12 0.1");
 *     pm_id statement = pm_fact_statement(facts, function, &place, 0, function->id);
 *     pm_fact_mapping(facts, statement, PM_SOURCE_EXECUTES, variable, PM_SOURCE_READS);
 *     pm_fact_loopcode(facts, symbol, "main", loop, "heat.c:42");
 *     pm_pif_write_compressed(facts->pif, &chunk);
 *     pm_facts_free(facts);
 *
 * Each pm_fact_* adds a noun, or finds it there (mapping/pif/pif.h), adds what it lies in, and
 * returns its id. Strings are copied, but for the names of files: they are compared by pointer,
 * as struct pm_place says. When memory ends, pm_facts_failed says so once and for all. One thread
 * at a time.
 */
#ifndef PM_FACTS_H
#define PM_FACTS_H

#include "source.h"
#include "../../mapping/pif/pif.h"

struct pm_facts {
    struct pm_pif *pif;
    /* Most facts are of the file of the one before. */
    const char *last_file;
    pm_id last_file_id;
    struct pm_buf name;   /* of the noun that is being made */
    struct pm_buf within; /* mappings that only option pdb wants: text of PIF */
    bool failed;
};

extern const char pm_level_source[], pm_level_base[];

enum pm_fact_verb {
    PM_SOURCE_EXECUTES,
    PM_SOURCE_READS,
    PM_SOURCE_WRITES,
    PM_SOURCE_CALLS,
    PM_SOURCE_REFERS,
    PM_BASE_EXECUTES,
    PM_N_VERBS
};

/* With the levels and verbs above. producer: "perfmap-gcc12 0.1". NULL: memory. */
struct pm_facts *pm_facts_new(const char *producer);
void pm_facts_free(struct pm_facts *facts);
bool pm_facts_failed(const struct pm_facts *facts);

pm_id pm_verb_id(enum pm_fact_verb verb);
/* {source noun, verb} -> {destination noun, verb}, once. */
void pm_fact_mapping(struct pm_facts *facts, pm_id source, enum pm_fact_verb source_verb,
                     pm_id destination, enum pm_fact_verb destination_verb);

/* --- level Source: code --- */

/* file: absolute; shown: as the user spelt it. */
pm_id pm_fact_file(struct pm_facts *facts, const char *file, const char *shown);
pm_id pm_fact_function(struct pm_facts *facts, const struct pm_source_function *function);
/* index: in function->loops. With the loops around it. */
pm_id pm_fact_loop(struct pm_facts *facts, const struct pm_source_function *function, int index);
/* The loop with an id, by the function's table or, where that does not have it, by its place
 * alone. ret_name (may be NULL): its name is appended. */
pm_id pm_fact_loop_of(struct pm_facts *facts, const struct pm_source_function *function, pm_id loop,
                      const struct pm_place *place, struct pm_buf *ret_name);
/* end_line: where it ends, 0 not known or on its first line. parent: the loop or function. */
pm_id pm_fact_statement(struct pm_facts *facts, const struct pm_source_function *function,
                        const struct pm_place *place, unsigned end_line, pm_id parent);
/* A region of OpenMP. construct: "parallel", "critical", ... */
pm_id pm_fact_region(struct pm_facts *facts, const struct pm_source_function *function,
                     const struct pm_place *place, const char *construct, pm_id parent);
/* A function that is called and lies outside of the translation unit. is_library: the compiler's
 * own, or declared in a system header. 0: none that users know. */
pm_id pm_fact_called(struct pm_facts *facts, const struct pm_source_function *function,
                     const char *linkage, bool is_library);
/* A call of a function of this translation unit. Costs need none, for the callee is measured
 * itself: only the program database has these (option pdb). */
void pm_fact_call_within(struct pm_facts *facts, pm_id statement, pm_id callee);
/* Some code of the noun (function, loop, its code) has no sleds: what those of other copies count
 * and time is not all of it, nor, with has_calls, what is called. */
void pm_fact_bare(struct pm_facts *facts, pm_id noun, bool has_calls);
/* Not all entries of the loop are counted. */
void pm_fact_uncounted(struct pm_facts *facts, pm_id loop);

/* --- level Source: data --- */

enum pm_data_kind { PM_DATA_VARIABLE, PM_DATA_ARRAY, PM_DATA_TYPE, PM_DATA_FIELD };

struct pm_data {
    enum pm_data_kind kind;
    pm_id id, parent;      /* parent 0: none */
    const char *name;      /* "sweep::u", "ns::S::count" */
    const char *type;      /* as the source writes it; NULL of a type */
    const char *linkage;   /* NULL: as the name */
    const char *shown;     /* file as the user spelt it, NULL unknown */
    unsigned line, column; /* 0 unknown */
};
pm_id pm_fact_data(struct pm_facts *facts, const struct pm_data *data);
/* More is done with the field, whose noun the facts have, than they say. */
void pm_fact_left_out(struct pm_facts *facts, pm_id field);

/* --- level Base: emitted code --- */

/* id: pm_id_of_symbol */
pm_id pm_fact_symbol(struct pm_facts *facts, pm_id id, const char *name);
/* The code of a loop in a symbol, mapped to the loop: "main/heat.c:42". */
pm_id pm_fact_loopcode(struct pm_facts *facts, pm_id symbol, const char *symbol_name, pm_id loop,
                       const char *loop_name);
/* Of a loop that the compiler made several of, one after the other: those behind the first.
 * They are "main/heat.f90:42 rest"; entering them is no entry of the loop. */
pm_id pm_fact_loop_rest(struct pm_facts *facts, pm_id symbol, const char *symbol_name, pm_id loop,
                        const char *loop_name);
/* The same code implements the equal loops (by index) of functions that were folded into this
 * one. */
void pm_fact_folded_loop(struct pm_facts *facts, pm_id loopcode,
                         const struct pm_source_function *function, pm_id loop,
                         const struct pm_source_function *folded);
/* The calls that carry out the statement at the place, in a symbol: "main/call heat.f90:42",
 * mapped to the statement and to the loop or function that it lies in. */
pm_id pm_fact_callcode(struct pm_facts *facts, pm_id symbol, const char *symbol_name,
                       const struct pm_source_function *function, const struct pm_place *place);

#endif
