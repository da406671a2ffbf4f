/* What the parts of the loader share. load.c has the order in which an archive is read. */
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
    LOOKUP_ATTRIBUTES,
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
    unsigned flags; /* PM_ARCHIVE_LOAD_* */
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
    pm_index n_connected; /* sentences whose mappings are in the graph */
    bool has_sentence_nouns;
    /* of contexts in the graph, by their order in the file; taken by who keeps it */
    pm_index *position;
};

/* --- load_rows.c --- */
/* All reports of damage come through here: a handy breakpoint. */
enum pm_status load_damaged(struct loader *load, const char *format, ...) PM_PRINTF(2, 3);
enum pm_status load_no_memory(struct loader *load);
enum pm_status load_database_error(struct loader *load);
/* One after the other, until one fails. */
typedef enum pm_status (*load_step)(struct loader *load);
PM_MUST_CHECK enum pm_status load_in_steps(struct loader *load, const load_step *steps, size_t n);

int64_t load_number(sqlite3_stmt *row, int column);        /* NULL: PM_UNKNOWN */
uint32_t load_small_number(sqlite3_stmt *row, int column); /* 0 where it is none of 32 bits */
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

/* --- load_nouns.c: with lookups prepared --- */
PM_MUST_CHECK enum pm_status load_prepare_lookups(struct loader *load);
void load_finish_lookups(struct loader *load);
/* One noun, of a row with these columns first, without parent and attributes. */
#define LOAD_NOUN_COLUMNS \
    "name, kind, linkage, file, type, line, \"column\", end_line, level, parent, binary, pif_id"
enum { LOAD_N_NOUN_COLUMNS = 12 };
PM_MUST_CHECK enum pm_status load_take_noun(struct loader *load, int64_t id, sqlite3_stmt *row,
                                            pm_index *ret_noun);
/* The noun of that id, with its ancestors. */
PM_MUST_CHECK enum pm_status load_need_noun(struct loader *load, int64_t id, pm_index *ret_noun);
PM_MUST_CHECK enum pm_status load_need_sentence(struct loader *load, int64_t id,
                                                pm_index *ret_sentence);
/* Readers of rows whose column 0 is the id. */
enum pm_status load_read_noun(struct loader *load, sqlite3_stmt *row);
enum pm_status load_read_sentence(struct loader *load, sqlite3_stmt *row);
/* When all sentences that are wanted are there: their call sites and mappings; seals the graph. */
PM_MUST_CHECK enum pm_status load_connect(struct loader *load);

/* load_facts.c: when tables are there, all that PM_ARCHIVE_LOAD_FACTS says. */
PM_MUST_CHECK enum pm_status load_facts(struct loader *load);
/* load_contexts.c */
PM_MUST_CHECK enum pm_status load_contexts_and_costs(struct loader *load);
/* load_sites.c: when contexts are there, before mappings. */
PM_MUST_CHECK enum pm_status load_call_sites(struct loader *load);

/* --- load_kept.c --- */
/* The file, and what finds its threads, metrics and contexts, are the data's from now on. */
PM_MUST_CHECK enum pm_status load_keep_open(struct loader *load);
void load_release_kept(struct load_kept *kept);

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
