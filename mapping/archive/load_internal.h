/* What the parts of the loader share: load.c reads the graph, load_tables.c what is known of
 * runs. */
#ifndef PM_LOAD_INTERNAL_H
#define PM_LOAD_INTERNAL_H

#include "archive.h"
#include "load.h"
#include "../base/arena.h"
#include "../base/str.h"
#include "../graph/index_map.h"
#include "../graph/sets.h"

#include <pthread.h>

/* With PM_ARCHIVE_LOAD_KEPT: what it takes to read costs again, and what was left out. The lock is
 * held by who reads: the connection is one, and views of other threads read, too. */
struct load_kept {
    pthread_mutex_t lock;
    const char *path;
    struct pm_archive *archive;
    struct pm_index_map contexts, metrics, threads;
    pm_index *position;
    /* for pm_archive_load_rest */
    struct pm_index_map levels, verbs, nouns, sentences, binaries;
    int64_t *sentence_ids;
    uint32_t cap_sentence_ids, cap_attributes;
    bool has_all; /* there is no rest */
    bool merges;  /* costs were merged */
};

struct pm_archive_data_private {
    struct pm_intern *strings;
    struct load_kept kept; /* archive NULL: nothing was */
};

/* Statements that are used once per item and kept prepared. */
enum lookup {
    LOOKUP_SENTENCE,
    LOOKUP_SENTENCE_NOUNS,
    LOOKUP_NOUN,
    LOOKUP_ATTRIBUTE,
    LOOKUP_MAPPINGS,
    N_LOOKUPS
};

/* An attribute that names call sites. */
struct load_sites_text {
    pm_index noun;
    const char *text;
    bool are_calls; /* else the code was inlined there */
};

struct loader {
    const char *path;
    struct pm_error *err;
    struct pm_archive *archive;
    sqlite3 *db; /* archive's */
    sqlite3_stmt *lookups[N_LOOKUPS];
    struct pm_archive_data *data;
    struct pm_index_map levels, verbs, nouns, sentences, contexts, metrics, executions, processes,
        threads, binaries;
    int64_t *sentence_ids; /* by position in the graph */
    uint32_t cap_sentence_ids, cap_attributes, n_sites;
    struct load_sites_text *sites;
    bool has_sentence_nouns, with_causes, merges;
    /* of contexts in the graph, by their order in the file; taken by who keeps it */
    pm_index *position;
};

/* All reports of damage come through here: a handy breakpoint. */
enum pm_status load_damaged(struct loader *load, const char *format, ...) PM_PRINTF(2, 3);
enum pm_status load_no_memory(struct loader *load);
int64_t load_number(sqlite3_stmt *row, int column); /* NULL: PM_UNKNOWN */
/* A string that lives as long as the data; NULL when memory ends. */
const char *load_keep(struct loader *load, sqlite3_stmt *row, int column);
/* The same of words that tables print as they are: names of metrics, units, modes, kinds. */
const char *load_keep_printable(struct loader *load, sqlite3_stmt *row, int column);

typedef enum pm_status (*row_reader)(struct loader *load, sqlite3_stmt *row);
PM_MUST_CHECK enum pm_status load_each_row(struct loader *load, const char *sql, row_reader reader);
/* Enters the id in column 0 of `row` as the next position of a table; `what` for the message. */
PM_MUST_CHECK enum pm_status load_enter(struct loader *load, struct pm_index_map *map,
                                        sqlite3_stmt *row, pm_index position, const char *what);
/* Room for one more of data->NAME, at doubling sizes (n is a power of two or 0 when it is full). */
PM_MUST_CHECK bool load_room(void *array_pointer, uint32_t n, size_t item_bytes);
/* The noun of that id, with its ancestors. */
PM_MUST_CHECK enum pm_status load_need_noun(struct loader *load, int64_t id, pm_index *ret_noun);
PM_MUST_CHECK enum pm_status load_need_sentence(struct loader *load, int64_t id,
                                                pm_index *ret_sentence);
/* load_sites.c: when contexts are there, before mappings. */
PM_MUST_CHECK enum pm_status load_call_sites(struct loader *load);

/* load_costs.c. position: of contexts in the graph, by their order in the file. merge: processes of
 * one program share their costs. */
PM_MUST_CHECK enum pm_status load_costs(struct loader *load, const pm_index *position, bool merge);
/* The same again for one who keeps nothing (pm_archive_each_cost, _times, _part). */
struct load_visit {
    const bool *threads_in;
    pm_cost_visitor visit;             /* or: */
    pm_cost_times_visitor visit_times; /* or: */
    pm_cost_parts_visitor visit_parts; /* of so many */
    const int64_t *edges_ns;
    uint32_t n_parts;
    void *context;
};
PM_MUST_CHECK enum pm_status load_each_cost(struct loader *load, const pm_index *position,
                                            const struct load_visit *visit);
/* load->data: with a graph that has no costs yet, and an interval. merge: as load_costs did. */
PM_MUST_CHECK enum pm_status load_interval(struct loader *load, const pm_index *position,
                                           bool merge);

/* --- load_tables.c --- */
PM_MUST_CHECK enum pm_status load_tables(struct loader *load);
PM_MUST_CHECK enum pm_status load_noun_modes(struct loader *load); /* when nouns can be looked up */

#endif
