/* Nouns, verbs, sentences and mappings, and which row each has. Rows are given out from 1, in
 * the order of writing. */
#ifndef PM_COLLECT_MODEL_H
#define PM_COLLECT_MODEL_H

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/base/str.h"
#include "mapping/pif/pif.h"

struct collect_sentence;
struct collector;

struct collect_level {
    const char *name, *above; /* interned; above NULL: not stated */
};

struct collect_verb {
    const char *name, *description; /* interned; description NULL: none */
    uint32_t level;
};

struct collect_mapping {
    uint32_t source, destination;
    const char *origin; /* interned */
    const char *reason; /* lasting; NULL: not stated */
    double weight;
};

struct collect_model {
    struct collect_level *levels;
    size_t n_levels;
    struct collect_verb *verbs;
    size_t n_verbs;
    uint32_t n_nouns, n_sentences, n_files;
    const char *last_file;         /* interned */
    struct pm_map processes;       /* pif id of a process noun -> row */
    struct pm_map user;            /* pif id in the user's PIF -> row */
    struct pm_map files;           /* interned name (its address) -> row */
    struct pm_map by_noun;         /* rows of nouns of ours, by id */
    uint32_t base_level, executes; /* rows */
    /* rows, 0: not needed yet */
    uint32_t source_level, source_executes, source_reads, source_writes, allocates,
        source_allocates, calls;
    uint32_t first_program; /* sentence of the first process; 0: there is none */
    uint32_t unknown_noun, kernel_noun, perfmap_noun, lost_noun, stray_noun,
        task_noun;                            /* rows, 0: not there yet */
    struct pm_map sentences;                  /* verb row, noun row -> row */
    struct collect_sentence **long_sentences; /* by hash */
    struct collect_mapping *mappings;
    uint32_t n_mappings, mappings_cap;
};

PM_MUST_CHECK enum pm_status collect_model_start(struct collector *c);
/* Row of a level by name; NULL is "". */
PM_MUST_CHECK enum pm_status collect_level_row(struct collector *c, const char *name,
                                               uint32_t *ret_level);
PM_MUST_CHECK enum pm_status collect_verb_row(struct collector *c, const char *level_name,
                                              const char *name, const char *description,
                                              uint32_t *ret_verb);
/* Level Source and its verbs, for what we add there. */
PM_MUST_CHECK enum pm_status collect_need_source(struct collector *c);
/* The verb of {caller called Calls}: c->model->calls. */
PM_MUST_CHECK enum pm_status collect_need_calls_verb(struct collector *c);
/* binary, parent: rows, 0 none. */
PM_MUST_CHECK enum pm_status collect_write_noun(struct collector *c, uint32_t row,
                                                const struct pm_pif_noun *noun, uint32_t level,
                                                uint32_t binary, uint32_t parent);
/* Row of a file; 0: no noun lies in it. */
PM_MUST_CHECK enum pm_status collect_find_file(struct collector *c, const char *name, size_t len,
                                               uint32_t *ret_row);
/* A noun of ours, at level Base. */
PM_MUST_CHECK enum pm_status collect_add_noun(struct collector *c, pm_id id, const char *name,
                                              const char *kind, const char *description,
                                              uint32_t binary, uint32_t *ret_row);
PM_MUST_CHECK enum pm_status collect_write_attribute(struct collector *c, uint32_t row,
                                                     const char *key, const char *value);
PM_MUST_CHECK enum pm_status collect_write_attributes(struct collector *c, const struct pm_pif *pif,
                                                      uint32_t row, const struct pm_pif_noun *noun);
PM_MUST_CHECK enum pm_status collect_short_sentence(struct collector *c, uint32_t verb,
                                                    uint32_t noun, uint32_t *ret_sentence);
PM_MUST_CHECK enum pm_status collect_long_sentence(struct collector *c, uint32_t verb,
                                                   const uint32_t *nouns, uint32_t n_nouns,
                                                   uint32_t *ret_sentence);
PM_MUST_CHECK enum pm_status collect_process_sentence(struct collector *c, struct pm_str exe,
                                                      uint32_t *ret_sentence);
/* origin, reason (NULL: none): lasting strings. */
PM_MUST_CHECK enum pm_status collect_add_mapping(struct collector *c,
                                                 const struct collect_mapping *mapping);
PM_MUST_CHECK enum pm_status collect_model_end(struct collector *c); /* levels, verbs, mappings */
void collect_model_release(struct collector *c);

#endif
