/* Parts of the store: store.c the records of groups, store_end.c what is written at the end,
 * store_rows.c statements. */
#ifndef PDT_STORE_INTERNAL_H
#define PDT_STORE_INTERNAL_H

#include "store.h"

#include "mapping/base/map.h"

enum pdt_insert {
    INSERT_FILE,
    INSERT_INCLUDE,
    INSERT_UNIT,
    INSERT_UNIT_FILE,
    INSERT_GROUP,
    INSERT_UNIT_GROUP,
    INSERT_MACRO,
    INSERT_PRAGMA,
    INSERT_NAMESPACE,
    INSERT_TYPE,
    INSERT_TYPEDEF,
    INSERT_ENUM,
    INSERT_ENUMERATOR,
    INSERT_CLASS,
    INSERT_BASE,
    INSERT_ROUTINE,
    INSERT_LOOP,
    INSERT_CALL,
    INSERT_ARGUMENT,
    INSERT_TARGET,
    INSERT_OVERRIDE,
    INSERT_VARIABLE,
    INSERT_ACCESS,
    INSERT_DIRECTIVE,
    INSERT_FACT,
    N_INSERTS
};

struct stored_place {
    uint32_t file, line, column; /* file 0: none */
};

struct stored_routine {
    struct pm_str usr, name, full_name, linkage_name;
    unsigned kind, linkage, storage, access, flags, n_parameters;
    uint32_t type, class; /* ids, 0: none */
    struct stored_place place;
    uint32_t body[4]; /* lines and columns: from, to */
    uint32_t n_statements, n_returns, n_variants, n_definitions;
    bool is_taken, has_body;
};

struct stored_variable {
    struct pm_str name;
    unsigned kind, access, flags;
    uint32_t type;
    uint64_t owner;   /* key of a routine or class; 0: none */
    uint32_t routine; /* that of this file with the key; 0: the only one there is */
    uint64_t offset;  /* + 1 */
    struct stored_place place;
};

struct stored_class {
    struct pm_str name, kind;
    unsigned flags;
    uint32_t parent;
    uint64_t size; /* + 1 */
    struct stored_place place;
    uint32_t end_line;
};

struct stored_type {
    struct pm_str name, kind, canonical;
    uint64_t size, n_elements; /* + 1 */
    bool is_known;
};

struct stored_call {
    struct pm_str text, arguments; /* as in the group */
    unsigned kind, n_arguments;
    uint32_t routine, type, here, file, line, column;
    int64_t loop;
    uint64_t callee;
};

struct stored_file {
    char *name; /* owned */
    bool is_system, is_of_unit;
};

struct pdt_store {
    struct pm_database *pdb;
    struct pm_error *err;
    sqlite3_stmt *inserts[N_INSERTS];
    /* keys to positions + 1 in these arrays, which are ids, too */
    struct pm_map file_ids, type_ids, routine_ids, variable_ids, class_ids, seen;
    struct stored_file *files;
    struct stored_type *types;
    struct stored_routine *routines;
    struct stored_variable *variables;
    struct stored_class *classes;
    struct stored_call *calls;
    uint32_t n_files, n_types, n_routines, n_variables, n_classes, n_calls;
    uint32_t cap_files, cap_types, cap_routines, cap_variables, cap_classes, cap_calls;
    uint64_t n_loops, n_accesses;
    int64_t n_units, n_groups;
    bool failed; /* memory: what the tables say is not whole */
    /* the group at hand */
    struct pm_cursor cursor;
    uint32_t file, file_now, first_call;
    struct pm_map here;    /* keys of routines defined in it: their ids */
    struct pm_map skipped; /* those that were there already */
    uint32_t routine;      /* whose body it is; 0: none */
    bool is_skipping;
    int64_t *loops; /* of the body: their ids, by number */
    uint32_t *depths;
    uint32_t n_loops_here, cap_loops, cap_depths;
};

/* fields: i int64_t, t struct pm_str, z const char *, n int64_t of which 0 is NULL, m one
 * more than the number and 0 NULL, b blob of struct pm_str. Of store_rows.c. */
PM_MUST_CHECK enum pm_status store_insert(struct pdt_store *store, enum pdt_insert which,
                                          const char *fields, ...);
PM_MUST_CHECK enum pm_status store_prepare(struct pdt_store *store);
void store_finish(struct pdt_store *store);
/* It is told here; what is written afterwards fails. */
enum pm_status store_no_memory(struct pdt_store *store);
/* The position of a key, which is new when *ret_is_new; items grow by one then. 0: memory. */
uint32_t store_id(struct pdt_store *store, struct pm_map *map, uint64_t key, void **items,
                  uint32_t *n, uint32_t *cap, size_t item_bytes, bool *ret_is_new);
uint32_t store_file(struct pdt_store *store, struct pm_str path);

#endif
