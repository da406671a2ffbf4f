/* PIF: nouns, verbs and mappings, as one set of records with two written forms.
 *
 *     struct pm_pif *pif = pm_pif_new();
 *     struct pm_pif_noun noun = {.id = id, .name = "heat.c:42", .level = "Source", .kind = "loop"};
 *     pm_id loop = pm_pif_noun(pif, &noun);
 *     struct pm_pif_mapping mapping = {.source = {executes, 1, {code}},
 *                                      .destination = {executes, 1, {loop}}};
 *     pm_pif_mapping(pif, &mapping);
 *     pm_pif_write_text(pif, &buf);        // the .pif file
 *     pm_pif_write_compact(pif, &buf);     // one chunk of the .perfmap.pif section
 *
 * The compiler back ends fill it, the readers fill it, the mapping graph is made from it. Strings
 * given are copied. Text form: docs/formats/pif.md; compact form: docs/formats/pif-section.md. One
 * thread at a time per object. Nothing here prints.
 *
 * Source of the model: Irvin and Miller, "Mapping Performance Data for High-Level and Data Views of
 * Parallel Program Performance" (1996), and design.md sections 1 and 4.
 */
#ifndef PM_PIF_H
#define PM_PIF_H

#include "../base/str.h"
#include "../../format/pm_id.h"

struct pm_pif;

/* A noun. Only name is required. Numbers 0 and pointers NULL mean "not stated". */
struct pm_pif_noun {
    pm_id id;          /* 0: derived from level and name (pm_pif_name_id) */
    const char *name;  /* unique within its level where possible; see docs/formats/pif.md "Names" */
    const char *level; /* abstraction; NULL = "" */
    const char *kind;  /* file, function, loop, statement, array, variable, field, type, symbol,
                          loopcode, external, ... */
    const char *description;
    const char *type;    /* source type of a variable, "double [100][100]" */
    const char *linkage; /* linkage (assembler) name where it differs from name */
    const char *file;
    pm_id parent; /* noun id; 0 none */
    uint32_t line, column, end_line;
    /* address ranges: text as written in the file, NULL none */
    const char *address;
};

struct pm_pif_verb {
    pm_id id; /* 0: derived from level and name */
    const char *name, *level, *description;
};

/* One verb and its nouns. The paper's order: nouns first, verb last. */
enum { PM_PIF_MAX_NOUNS = 8 };
struct pm_pif_sentence {
    pm_id verb;
    uint32_t n_nouns;
    pm_id nouns[PM_PIF_MAX_NOUNS];
};

struct pm_pif_mapping {
    struct pm_pif_sentence source, destination;
    double weight;      /* 0: not stated (equal) */
    const char *origin; /* "compiler" when NULL from a compiler; debug, run, user, inferred */
};

struct pm_pif *pm_pif_new(void); /* NULL: memory */
void pm_pif_free(struct pm_pif *pif);

/* The id that name and level stand for when no id is stated: hash("name", level, name); for verbs
 * hash("verb", level, name). */
pm_id pm_pif_name_id(const char *level, const char *name);
pm_id pm_pif_verb_id(const char *level, const char *name);

/* Adds a record; a noun with an id already there is merged into it (facts that were not stated are
 * filled in, the first stated ones stay). Return the id, 0 when memory ended (sticky:
 * pm_pif_failed). pm_pif_mapping ignores an exact repetition. */
pm_id pm_pif_noun(struct pm_pif *pif, const struct pm_pif_noun *noun);
pm_id pm_pif_verb(struct pm_pif *pif, const struct pm_pif_verb *verb);
void pm_pif_level(struct pm_pif *pif, const char *name,
                  const char *above); /* LEVEL record: name lies above `above` (NULL) */
void pm_pif_mapping(struct pm_pif *pif, const struct pm_pif_mapping *mapping);
void pm_pif_set_producer(struct pm_pif *pif, const char *producer); /* "perfmap-gcc12 0.1" */
bool pm_pif_failed(const struct pm_pif *pif);

/* Extra key of a noun (kept, written back): an attribute that has no member above. A key is
 * letters, digits, "_-." and inner spaces; it may have several values. What has a member, or is no
 * key, or an exact repetition, is ignored. */
void pm_pif_noun_attribute(struct pm_pif *pif, pm_id noun, const char *key, const char *value);

/* Looking at it. Pointers are lent as long as pif lives. Index order is the order of addition.
 * Nouns and verbs that text only mentions, without a record, count too. Level "" is never NULL. Ids
 * in parents and sentences may be of nouns that are not here: they stand in another file of the
 * program. */
size_t pm_pif_n_nouns(const struct pm_pif *pif);
size_t pm_pif_n_verbs(const struct pm_pif *pif);
size_t pm_pif_n_mappings(const struct pm_pif *pif);
size_t pm_pif_n_levels(const struct pm_pif *pif);
void pm_pif_get_noun(const struct pm_pif *pif, size_t index, struct pm_pif_noun *ret_noun);
void pm_pif_get_verb(const struct pm_pif *pif, size_t index, struct pm_pif_verb *ret_verb);
void pm_pif_get_mapping(const struct pm_pif *pif, size_t index, struct pm_pif_mapping *ret_mapping);
void pm_pif_get_level(const struct pm_pif *pif, size_t index, const char **ret_name,
                      const char **ret_above);
bool pm_pif_find_noun(const struct pm_pif *pif, pm_id id, struct pm_pif_noun *ret_noun);
/* Attribute of a noun by key, or NULL. By position: n-th, false past the last. */
const char *pm_pif_get_attribute(const struct pm_pif *pif, pm_id noun, const char *key);
bool pm_pif_nth_attribute(const struct pm_pif *pif, pm_id noun, size_t n, const char **ret_key,
                          const char **ret_value);
/* The n-th record of an unknown kind, as it was written, "METRIC\n  name = ..."; NULL past the
 * last. */
const char *pm_pif_nth_record(const struct pm_pif *pif, size_t n);
const char *pm_pif_producer(const struct pm_pif *pif); /* "" unknown */

/* Text form. Reading adds to pif, so that many files join; `name` is for messages. Unknown keys and
 * records are kept. A malformed record is refused with file, line and what was expected; everything
 * before it stays in pif. */
void pm_pif_write_text(const struct pm_pif *pif, struct pm_buf *out);
PM_MUST_CHECK enum pm_status pm_pif_read_text(struct pm_pif *pif, const char *name,
                                              const char *text, size_t len, struct pm_error *err);
PM_MUST_CHECK enum pm_status pm_pif_read_file(struct pm_pif *pif, const char *path,
                                              struct pm_error *err);

/* A sentence as mappings have them, "{noun, level::noun, verb}", of other files than PIF: its
 * names, not looked up. The last one is the verb. Strings are interned in pif and lent as long
 * as it lives. *text is moved behind the closing brace. NULL, or what is wrong. */
struct pm_pif_reference {
    const char *level; /* NULL: not stated */
    const char *name;  /* NULL: only an id */
    pm_id id;          /* 0: not stated */
};
PM_MUST_CHECK const char *pm_pif_read_references(
    struct pm_pif *pif, struct pm_str *text, unsigned *ret_n,
    struct pm_pif_reference ret_references[PM_PIF_MAX_NOUNS + 1]);

/* Compact form. write appends one self-contained chunk; a section is any number of chunks, with
 * zero padding between. read reads all chunks of a section; a damaged chunk is an error that names
 * its offset, the sound ones before it stay. */
void pm_pif_write_compact(const struct pm_pif *pif, struct pm_buf *out);
/* For files: as pm_pif_write_compact, but compressed by zlib where names are most of it
 * (templates of C++). */
void pm_pif_write_compressed(const struct pm_pif *pif, struct pm_buf *out);
PM_MUST_CHECK enum pm_status pm_pif_read_compact(struct pm_pif *pif, const char *name,
                                                 const void *bytes, size_t len,
                                                 struct pm_error *err);

/* The compact section of an ELF file (object, program or shared library), all chunks added to pif.
 * PM_ERR_NOT_FOUND when the file has no such section. ret_n_sleds (may be NULL): number of sled
 * records in the file. */
PM_MUST_CHECK enum pm_status pm_pif_read_elf(struct pm_pif *pif, const char *path,
                                             struct pm_error *err, size_t *ret_n_sleds);

#endif
