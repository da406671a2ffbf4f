/* Machine code as nouns, and what it maps to. */
#ifndef PM_COLLECT_CODE_H
#define PM_COLLECT_CODE_H

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/base/status.h"

struct collect_binary;
struct collector;
struct pm_code_block;
struct pm_code_range;
struct pm_code_site;

/* The type of nouns of loops that nothing but the machine code tells of. */
#define COLLECT_LOOP_OF_CODE "machine code"

/* Code at the granularity of what it implements: a noun of kind code. */
struct collect_code {
    struct collect_binary *binary;
    const struct pm_code_range *range; /* NULL: no late map covers it */
    uint32_t noun, sentence;           /* rows; sentence: {code Executes} */
    uint32_t whole;  /* noun of all of its function, when it is one of its lines; else its own */
    uint32_t region; /* row of the OpenMP region whose body the symbol is; 0: none */
    uint32_t symbol; /* row of the noun of its symbol; 0: without sleds and facts */
    pm_id symbol_id; /* 0 with symbol 0 */
    size_t first_mapping, n_mappings; /* of the sentence, in the collector's mappings */
    uint32_t function; /* with symbol 0: sentence of its function, by debug information; 0: none */
    /* arena: sentences of the functions that it was inlined through, outermost first; by debug
     * information with the loops that these were inlined into */
    uint32_t *inlines;
    const struct pm_code_site **sites; /* arena: of inlines; NULL: from debug information */
    uint32_t n_inlines;
    /* arena: rows of its functions at level Source, by debug information, innermost first: all
     * but the last are inlined */
    uint32_t *functions, n_functions;
    bool is_perfmap;
};

struct collect_codes {
    struct collect_code *list;
    uint32_t n, cap;
    /* sentences of called code that have their mappings -> 1 inferred, 2 sure */
    struct pm_map calls;
};

/* Of one binary. */
struct collect_code_keys {
    struct pm_map by_address, by_tuple; /* ELF address, tuple -> position in codes + 1 */
    struct pm_map inlines;              /* symbol, function -> sentence */
    /* address of a loop's first instruction -> row of its noun, or 1 less: none */
    struct pm_map loops;
    /* of code without late map: symbols that were looked at, and what their calls lie in -> 1 */
    struct pm_map callers;
};

/* The number of the code at an address of the binary's ELF file, from 1; the binary is opened and
 * the code becomes nouns and mappings when it was not met before. binary NULL: of no file. */
PM_MUST_CHECK enum pm_status collect_code_at(struct collector *c, struct collect_binary *binary,
                                             uint64_t address, uint32_t *ret_code);
/* A number for code that was not found by its address. */
PM_MUST_CHECK enum pm_status collect_add_code(struct collector *c, const struct collect_code *code,
                                              uint32_t *ret_code);
/* The code of that number, lent until the next collect_code_at; 0: one about which nothing is
 * known. */
const struct collect_code *collect_code(const struct collector *c, uint32_t code);
/* binary->blame, when it can be had. */
PM_MUST_CHECK enum pm_status collect_need_blame(struct collector *c, struct collect_binary *binary);
/* The address of the instruction whose time a sample at this address is (../code/blame.h);
 * address itself when it is not code with a late map. */
PM_MUST_CHECK enum pm_status collect_blamed(struct collector *c, struct collect_binary *binary,
                                            uint64_t address, uint64_t *ret_address);
/* Row of {code caller Executes}: of code of C++'s library, which maps to what it is, and to the
 * data that the caller passes. */
PM_MUST_CHECK enum pm_status collect_library_sentence(struct collector *c,
                                                      const struct collect_code *code,
                                                      const struct collect_code *caller,
                                                      uint32_t *ret_sentence);
/* The function or loop that was active: a symbol or loopcode. */
struct collect_active {
    uint32_t noun;                 /* its row */
    struct collect_binary *binary; /* may be NULL: it has no facts */
    pm_id id;                      /* in that */
};

/* The same where no more is known than what was active when it was called: it may be for whatever
 * data that touches. */
PM_MUST_CHECK enum pm_status collect_library_within(struct collector *c,
                                                    const struct collect_code *code,
                                                    const struct collect_active *active,
                                                    uint32_t *ret_sentence);
/* Code of C++'s library in a thread in which nothing of the program is active, as of TBB: whose
 * data it works on is not known. */
PM_MUST_CHECK enum pm_status collect_library_of_task(struct collector *c,
                                                     const struct collect_code *code,
                                                     uint32_t *ret_sentence);
/* The code's sentence maps to {noun verb}; verb and noun are rows. */
PM_MUST_CHECK enum pm_status collect_map_code(struct collector *c, struct collect_code *code,
                                              uint32_t verb, uint32_t noun, const char *origin,
                                              const char *reason);
/* Questions know called code by its functions, too. */
PM_MUST_CHECK enum pm_status collect_map_called(struct collector *c,
                                                const struct collect_code *called,
                                                uint32_t sentence);
/* Row of {called caller Executes}, which maps to what the caller maps to. active: the caller is
 * code of C++'s library, called by that; else NULL. */
PM_MUST_CHECK enum pm_status collect_called_sentence(struct collector *c, uint32_t called_noun,
                                                     const struct collect_code *caller,
                                                     const struct collect_active *active,
                                                     bool is_sure, uint32_t *ret_sentence);
/* The same where only the context is known: noun and sentence of its innermost code with sleds. */
PM_MUST_CHECK enum pm_status collect_called_from(struct collector *c, uint32_t called_noun,
                                                 uint32_t noun, uint32_t sentence,
                                                 uint32_t *ret_sentence);

/* Row of {inlined function, or loop without sleds, within the block's symbol Executes}. kind:
 * function, loop. */
PM_MUST_CHECK enum pm_status collect_inline_sentence(struct collector *c,
                                                     struct collect_binary *binary,
                                                     const struct pm_code_block *block,
                                                     pm_id inlined, const char *kind,
                                                     uint32_t *ret_sentence);

/* That, if it is there; 0. */
uint32_t collect_known_inline(const struct collect_binary *binary,
                              const struct pm_code_block *block, pm_id inlined);

#endif
