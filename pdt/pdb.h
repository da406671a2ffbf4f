/* The program database: what a source tree is made of (docs/formats/pdb.md).
 *
 *     struct pdt_build build = {.commands = "build/compile_commands.json", .output = "app.pdb"};
 *     if (pdt_build(&build, &err) == PM_OK)
 *         printf("%u of %u units read\n", build.n_read, build.n_units);
 *
 *     struct pm_database *pdb;
 *     if (pdt_open("app.pdb", &err, &pdb) == PM_OK) ...   // and query.h, tree.h, export.h
 *     pm_database_close(pdb);
 *
 *   clang       libclang, loaded when needed      store, store_*  groups to the tables of a file
 *   commands    compile_commands.json             previous        what the last build knew
 *   reader, unit  one unit: its groups            build           all units, in threads
 *   facts, facts_*  what plugins wrote of a program, behind the groups
 *   declare, body, access, preprocess: what the reader reads of it
 *   query, query_parse     the language of queries
 *   tree        who calls whom                    export_pdb, export_pif
 *
 * One thread at a time per object. Nothing here prints.
 */
#ifndef PDT_PDB_H
#define PDT_PDB_H

#include "mapping/archive/database.h"

#define PDT_APPLICATION_ID 0x5046504d /* "PFPM" */
#define PDT_VERSION 2

/* The text of schema.sql. */
const char *pdt_schema(void);
extern const struct pm_database_kind pdt_kind;

/* PM_ERR_FORMAT also when a table is missing. */
PM_MUST_CHECK enum pm_status pdt_open(const char *path, struct pm_error *err,
                                      struct pm_database **ret_pdb);

struct pdt_build {
    const char *commands; /* compile_commands.json, or a folder with it; NULL: facts alone */
    const char *facts;    /* a folder with facts of plugins; NULL: none */
    const char *output;
    unsigned n_threads; /* 0: as many as there are processors */
    bool is_anew;       /* nothing of the output's old contents is used */
    /* May be NULL. Calls come one at a time, from any thread. */
    void (*progress)(void *context, unsigned n_done, unsigned n_units, const char *file);
    void (*note)(void *context, const char *text); /* a unit that does not compile, ... */
    void *context;
    /* Filled in: units in all, read now, as they were, with errors, of which nothing is known. */
    unsigned n_units, n_read, n_kept, n_with_errors, n_failed;
    unsigned n_facts, n_damaged; /* files of facts in all, damaged */
    uint64_t n_routines, n_loops, n_calls, n_accesses;
};

PM_MUST_CHECK enum pm_status pdt_build(struct pdt_build *build, struct pm_error *err);

#endif
