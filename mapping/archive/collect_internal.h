/* What the parts of collect share: collect.c reads run folders, collect_model.c keeps nouns, verbs,
 * sentences and mappings, collect_costs.c contexts and costs. Row ids are given out here, from 1,
 * in the order of writing. */
#ifndef PM_COLLECT_INTERNAL_H
#define PM_COLLECT_INTERNAL_H

#include "archive.h"
#include "binary.h"
#include "collect.h"
#include "map.h"
#include "../base/arena.h"
#include "../pif/pif.h"
#include "../run/run_file.h"
#include "../../format/pm_sled.h"

enum collect_statement {
    INSERT_EXECUTION,
    INSERT_ATTRIBUTE,
    INSERT_PROCESS,
    INSERT_PROBE_COSTS,
    INSERT_THREAD,
    INSERT_BINARY,
    INSERT_LEVEL,
    INSERT_NOUN,
    INSERT_NOUN_ATTRIBUTE,
    INSERT_VERB,
    INSERT_SENTENCE_NOUN,
    INSERT_METRIC,
    INSERT_MESSAGE,
    N_COLLECT_STATEMENTS
};

/* Tables that are written many rows at a time. */
enum collect_table {
    TABLE_SENTENCES,
    TABLE_MAPPINGS,
    TABLE_CONTEXTS,
    TABLE_COSTS,
    N_COLLECT_TABLES
};

struct collect_value {
    enum { COLLECT_NULL, COLLECT_INTEGER, COLLECT_REAL, COLLECT_TEXT } kind;
    union {
        int64_t integer;
        double real;
        const char *text; /* interned */
    };
};

enum { COLLECT_ROWS = 32, COLLECT_MAX_COLUMNS = 5 };
struct collect_rows {
    sqlite3_stmt *insert; /* of COLLECT_ROWS rows; NULL: not needed yet */
    int n;
    struct collect_value values[COLLECT_ROWS * COLLECT_MAX_COLUMNS];
};

/* As in table metrics. */
enum { METRIC_N_CALLS = 1, METRIC_WALL_NS = 2 };

struct collect_level {
    const char *name, *above; /* interned; above NULL: not stated */
};

struct collect_verb {
    const char *name, *description; /* interned; description NULL: none */
    uint32_t level;
};

struct collect_binary {
    const char *path; /* interned */
    struct pm_str build_id;
    struct pm_map nouns; /* pif id -> row */
    struct pm_symbols *symbols;
    bool same, symbols_tried; /* the file is the one that ran */
    uint32_t row;
    struct collect_binary *next;
};

/* A sentence of more than one noun. */
struct collect_sentence {
    uint32_t row, verb, n_nouns, nouns[PM_PIF_MAX_NOUNS];
    struct collect_sentence *next_same_hash;
};

struct collect_mapping {
    uint32_t source, destination;
    const char *origin; /* interned */
    double weight;
};

struct collect_cost {
    uint32_t context, thread;
    uint64_t n_calls, own_ns;
};

struct collector {
    struct pm_archive *archive;
    sqlite3_stmt *statements[N_COLLECT_STATEMENTS];
    struct collect_rows rows[N_COLLECT_TABLES];
    struct pm_error *err;
    struct pm_collect_result *result;
    struct pm_arena arena;
    struct pm_intern *strings;

    struct collect_level *levels;
    size_t n_levels;
    struct collect_verb *verbs;
    size_t n_verbs;
    struct collect_binary *binaries;
    struct pm_map processes; /* pif id of a process noun -> row */
    struct pm_map user;      /* pif id in the user's PIF -> row */
    uint32_t n_binaries, n_nouns, n_sentences, n_executions, n_processes, n_threads, n_contexts;
    uint32_t unknown_noun;                    /* row; 0: not there yet */
    uint32_t base_level, executes;            /* rows */
    struct pm_map sentences;                  /* verb row, noun row -> row */
    struct collect_sentence **long_sentences; /* by hash */
    struct collect_mapping *mappings;
    size_t n_mappings, mappings_cap;

    struct pm_map contexts[4]; /* by flags: parent row, sentence row -> row */
    struct collect_cost *costs;
    size_t n_costs, costs_cap;
};

/* --- collect.c --- */
void collect_warn(struct collector *c, const char *format, ...) PM_PRINTF(2, 3);
PM_MUST_CHECK enum pm_status collect_no_memory(struct collector *c);
/* One row: bind to the statement, then this. */
PM_MUST_CHECK enum pm_status collect_insert(struct collector *c, enum collect_statement which);
void bind_text(sqlite3_stmt *statement, int at, const char *text); /* NULL: NULL */
void bind_str(sqlite3_stmt *statement, int at, struct pm_str text);
void bind_number(sqlite3_stmt *statement, int at, uint64_t number); /* above INT64_MAX: INT64_MAX */
void bind_number_or_null(sqlite3_stmt *statement, int at, uint64_t number); /* 0: NULL */
/* One more item in an array that doubles; NULL: memory ended. */
void *collect_grow(void *items, size_t n, size_t *cap, size_t item_bytes);

/* --- collect_rows.c --- */
/* One row more; written when there are enough. values: one per column. */
PM_MUST_CHECK enum pm_status collect_add_row(struct collector *c, enum collect_table table,
                                             const struct collect_value *values);
PM_MUST_CHECK enum pm_status collect_rows_end(struct collector *c);
void collect_rows_release(struct collector *c);
static inline struct collect_value collect_integer(uint64_t number) /* above INT64_MAX: that */
{
    return (struct collect_value){COLLECT_INTEGER,
                                  {.integer = number > INT64_MAX ? INT64_MAX : (int64_t)number}};
}
static inline struct collect_value collect_integer_or_null(uint64_t number) /* 0: NULL */
{
    return number ? collect_integer(number) : (struct collect_value){COLLECT_NULL, {0}};
}

/* --- collect_model.c --- */
PM_MUST_CHECK enum pm_status collect_model_start(struct collector *c);
/* The binary of an object, read when it is seen first. */
PM_MUST_CHECK enum pm_status collect_binary(struct collector *c,
                                            const struct pm_run_file_object *object,
                                            struct collect_binary **ret_binary);
/* Row of the sentence {noun Executes} of a noun of a run file. binary NULL: it belongs to none. */
PM_MUST_CHECK enum pm_status collect_code_sentence(struct collector *c,
                                                   struct collect_binary *binary,
                                                   const struct pm_run_file_noun *noun,
                                                   uint32_t *ret_sentence);
PM_MUST_CHECK enum pm_status collect_process_sentence(struct collector *c, struct pm_str exe,
                                                      uint32_t *ret_sentence);
PM_MUST_CHECK enum pm_status collect_user_pif(struct collector *c, const char *path);
PM_MUST_CHECK enum pm_status collect_model_end(struct collector *c); /* levels, verbs, mappings */
void collect_model_release(struct collector *c);

/* --- collect_costs.c --- */
PM_MUST_CHECK enum pm_status collect_costs_start(struct collector *c);
/* Contexts and costs of all threads of a file, whose rows are first_thread and on; sentences: one
 * per noun of the file. */
PM_MUST_CHECK enum pm_status collect_costs_add(struct collector *c, const struct pm_run_file *file,
                                               uint32_t first_thread, uint32_t root_sentence,
                                               const uint32_t *sentences);
/* Of a thread whose file has none of it: all time is its root's. */
PM_MUST_CHECK enum pm_status collect_costs_add_time(struct collector *c, uint32_t thread,
                                                    uint32_t root_sentence, uint64_t wall_ns);
PM_MUST_CHECK enum pm_status collect_costs_end(struct collector *c);
void collect_costs_release(struct collector *c);

#endif
