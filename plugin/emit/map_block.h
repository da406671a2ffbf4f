/* The late map of one emitted function as assembler text: blocks of format/pm_map.h.
 *
 *     struct pm_map_encoder *encoder = pm_map_encoder_new(facts, add_label);
 *     struct pm_map_section *section =
 *         pm_map_section_new(1, ".LFE0", "main", ".LFB0", true);   // once for a section of code
 *     pm_map_block_write(encoder, &map, &part, section, &text);
 *     ...                                                          // other functions of it
 *     pm_map_ids_write(section, &text);                            // when all are written
 *     pm_map_section_free(section);
 *     pm_map_encoder_free(encoder);
 *
 * A back end finds out what each range of code implements (struct pm_map_function); here it gets
 * its form. The assembler works out all lengths: ranges are differences of labels. Labels have
 * numbers of the back end's, which says how they are written.
 *
 * The nouns of functions and files that a block names are added to the facts. When memory ends,
 * out->failed is set, as when it is full. One thread at a time.
 */
#ifndef PM_MAP_BLOCK_H
#define PM_MAP_BLOCK_H

#include "facts.h"
#include "../../format/pm_map.h"

/* An inlined copy of a function. Those that it lies in come before it. */
struct pm_map_site {
    int parent; /* index, -1: the function itself */
    const struct pm_source_function *function;
    struct pm_place call; /* where it was called in the parent; line 0 unknown */
};

/* What is touched. */
struct pm_access {
    pm_id noun;      /* of a variable, array or field */
    unsigned access; /* PM_MAP_READS | PM_MAP_WRITES | PM_MAP_THROUGH */
};

/* Sorts a set of accesses, by noun. What is read and written becomes one entry; an object and what
 * it points to are two. Returns how many are left. */
size_t pm_accesses_sort(struct pm_access *accesses, size_t n);

/* Another statement that the code implements too. */
struct pm_map_also {
    const struct pm_source_function *function;
    struct pm_place place;
    enum pm_map_reason reason;
    bool inferred;
};

/* What a range of code implements. Of the kinds SLED and PADDING only the kind counts. */
struct pm_map_tuple {
    enum pm_map_kind kind;
    bool unnamed;                /* it touches memory whose object is not known */
    int site;                    /* -1: the function itself */
    struct pm_place place;       /* line 0 none */
    pm_id loop;                  /* the innermost one; 0 none */
    uint32_t objects;            /* index in pm_map_function.objects */
    uint32_t first_also, n_also; /* in pm_map_function.also */
};

/* A set of accesses: [first, first + n) of pm_map_function.accesses. */
struct pm_map_objects {
    uint32_t first, n;
};

/* Code from a label on, up to the next range. */
struct pm_map_range {
    int tuple;
    int label;
};

/* A contiguous part of the function: the hot or the cold one. */
struct pm_map_part {
    bool is_cold;
    int begin, end; /* labels */
    const struct pm_map_range *ranges;
    uint32_t n_ranges;
};

/* All lent. */
struct pm_map_function {
    pm_id symbol;                              /* level Base */
    const struct pm_source_function *function; /* the symbol's own */
    const struct pm_map_site *sites;
    uint32_t n_sites;
    const struct pm_access *accesses;
    const struct pm_map_objects *objects;
    const struct pm_map_also *also;
    const struct pm_map_tuple *tuples;
    uint32_t n_tuples;
};

/* How a label is written in assembler text: appended. */
typedef void pm_map_label(struct pm_buf *out, int label);

struct pm_map_encoder;
/* facts: lent; gets the nouns that blocks name. NULL: memory. */
struct pm_map_encoder *pm_map_encoder_new(struct pm_facts *facts, pm_map_label *add_label);
void pm_map_encoder_free(struct pm_map_encoder *encoder);

/* The name of a hidden symbol for a section of code that has no global one, 48 bytes with the zero:
 * a hash of the first symbol in it and, where that is not the program's only one of its name
 * (folder NULL: it is), of the compiler's folder and options. */
enum { PM_MAP_ANCHOR_BYTES = 48 };
void pm_map_anchor_name(pm_id symbol, bool is_cold, const char *folder, const char *options,
                        char ret_name[PM_MAP_ANCHOR_BYTES]);
/* Appends the symbol's definition, at a label. */
void pm_map_anchor_write(const char *name, const char *label, struct pm_buf *out);

/* The blocks of one section of code. Strings are copied; label: any label in that section of
 * code, which ties the blocks to it; anchor: a global symbol of it, and anchor_label, a label at
 * that symbol's place: addresses are written as distances from it. shares: linkers collect or keep
 * its blocks as one, so that they may share their ids; number: of the section, for labels of our
 * own. NULL: memory. */
struct pm_map_section;
struct pm_map_section *pm_map_section_new(unsigned number, const char *label, const char *anchor,
                                          const char *anchor_label, bool shares);
void pm_map_section_free(struct pm_map_section *section);

/* Appends the block of one part, which must have ranges. */
void pm_map_block_write(struct pm_map_encoder *encoder, const struct pm_map_function *map,
                        const struct pm_map_part *part, struct pm_map_section *section,
                        struct pm_buf *out);
/* Appends the ids that the section's blocks share; nothing when there are none. */
void pm_map_ids_write(const struct pm_map_section *section, struct pm_buf *out);

#endif
