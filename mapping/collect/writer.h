/* Rows of the archive: statements of one row each, and tables that are written many rows at a time.
 *
 *     bind_number(c->writer->statements[INSERT_RANK], 1, process);
 *     status = collect_insert(c, INSERT_RANK); */
#ifndef PM_COLLECT_WRITER_H
#define PM_COLLECT_WRITER_H

#include "mapping/archive/archive.h"
#include "mapping/base/str.h"

struct collector;

enum collect_statement {
    INSERT_EXECUTION,
    INSERT_ATTRIBUTE,
    ADD_ATTRIBUTE, /* a number, to what is there */
    INSERT_PROCESS,
    INSERT_OVERHEAD,
    UPDATE_ADDED,
    INSERT_PROBE_COSTS,
    INSERT_SAMPLING,
    INSERT_COUNTER,
    INSERT_NOUN_MODE,
    INSERT_THREAD,
    INSERT_BINARY,
    INSERT_LEVEL,
    INSERT_FILE,
    INSERT_NOUN,
    INSERT_NOUN_ATTRIBUTE,
    INSERT_VERB,
    INSERT_SENTENCE_NOUN,
    INSERT_METRIC,
    INSERT_MESSAGE,
    INSERT_RANK,
    INSERT_NODE,
    INSERT_MEMBER,
    INSERT_POINT,
    INSERT_COST_LIST,
    INSERT_COST_TIMES,
    N_COLLECT_STATEMENTS
};

/* Tables that are written many rows at a time. */
enum collect_table {
    TABLE_SENTENCES,
    TABLE_MAPPINGS,
    TABLE_CONTEXTS,
    TABLE_COST_ROWS,
    TABLE_CAUSES,
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

struct collect_writer {
    struct pm_archive *archive;
    sqlite3_stmt *statements[N_COLLECT_STATEMENTS];
    struct collect_rows rows[N_COLLECT_TABLES];
};

PM_MUST_CHECK enum pm_status collect_writer_open(struct collector *c, const char *archive_path);
/* One row: bind to the statement, then this. */
PM_MUST_CHECK enum pm_status collect_insert(struct collector *c, enum collect_statement which);
void bind_text(sqlite3_stmt *statement, int at, const char *text); /* NULL: NULL */
void bind_str(sqlite3_stmt *statement, int at, struct pm_str text);
void bind_number(sqlite3_stmt *statement, int at, uint64_t number); /* above INT64_MAX: INT64_MAX */
void bind_number_or_null(sqlite3_stmt *statement, int at, uint64_t number); /* 0: NULL */
/* One row more; written when there are enough. values: one per column. */
PM_MUST_CHECK enum pm_status collect_add_row(struct collector *c, enum collect_table table,
                                             const struct collect_value *values);
PM_MUST_CHECK enum pm_status collect_rows_end(struct collector *c);
void collect_writer_release(struct collector *c);
static inline struct collect_value collect_integer(uint64_t number) /* above INT64_MAX: that */
{
    return (struct collect_value){COLLECT_INTEGER,
                                  {.integer = number > INT64_MAX ? INT64_MAX : (int64_t)number}};
}
static inline struct collect_value collect_integer_or_null(uint64_t number) /* 0: NULL */
{
    return number ? collect_integer(number) : (struct collect_value){COLLECT_NULL, {0}};
}

#endif
