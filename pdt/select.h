/* Which routines of a program database are selected (docs/select.md has the language).
 *
 *     const char *conditions[] = {"reaches MPI_*", "not inline", "statements > 10"};
 *     struct pdt_selection_request request = {
 *         .conditions = conditions, .n_conditions = 3, .has_source = true};
 *     struct pm_database *pdb;
 *     struct pdt_selected *selected;
 *     struct pm_buf list = PM_BUF_INIT(1 << 30);
 *     if (pdt_open("app.pdb", &err, &pdb) == PM_OK &&
 *         pdt_select(pdb, &request, &err, &selected) == PM_OK) {
 *         printf("selected %u of %u routines\n", selected->n_selected, selected->n_routines);
 *         pdt_selected_write(selected, true, &list);
 *         pdt_selected_free(selected);
 *     }
 *
 * Conditions on a measured run are of its rows, which the caller takes from an archive. Without a
 * database of the source, pdt_select_database makes one of these rows.
 */
#ifndef PDT_SELECT_H
#define PDT_SELECT_H

#include "pdb.h"

#include "mapping/base/arena.h"
#include "mapping/base/selection.h"

/* A function of a run. Texts are lent. */
struct pdt_run_row {
    const char *name, *linkage, *file; /* linkage NULL: the name; file "": not known */
    uint32_t line;
    double n_calls, own_ns, inclusive_ns; /* NAN: not known */
    bool calls_are_at_least, times_are_at_least;
    bool is_rough; /* its times are of few samples */
};
struct pdt_run {
    const char *name; /* of the archive, for messages */
    struct pdt_run_row *rows;
    uint32_t n_rows;
    double total_ns; /* of which shares are; 0: not known */
};

struct pdt_selection_request {
    const char *const *conditions; /* all are required */
    size_t n_conditions;
    const struct pm_selection *filter; /* likewise; NULL: none */
    const struct pdt_run *run;         /* NULL: none */
    bool has_source;                   /* the database is of a source tree */
};

struct pdt_selected_routine {
    const char *name, *linkage, *file; /* file NULL: not known; name with parameters */
    const char *short_file;            /* the end of it that no other file of the database has */
    uint32_t line;
    bool is_local;    /* another file may have one with the same symbol */
    bool is_template; /* has no symbol of its own, its instances have: linkage "" */
};

struct pdt_selected {
    struct pdt_selected_routine *routines; /* by file and line */
    uint32_t n_selected, cap_selected;
    uint32_t n_routines;  /* in all that are defined and not of the system */
    uint32_t n_unknown;   /* of which the run says nothing */
    uint32_t n_rough;     /* of the selected ones, whose times are of few samples */
    uint32_t n_templates; /* selected by their names */
    /* Not selected, because the run has bounds only, which leave a condition open; the first of
     * them. */
    uint32_t n_open;
    const char *open_name;
    bool uses_run, uses_times;
    struct pm_arena arena;
};

/* PM_ERR_USAGE: a wrong condition, and which. */
PM_MUST_CHECK enum pm_status pdt_select(struct pm_database *pdb,
                                        const struct pdt_selection_request *request,
                                        struct pm_error *err, struct pdt_selected **ret_selected);
void pdt_selected_free(struct pdt_selected *selected);
/* The lines of a selection list: what is selected is included, or excluded. */
void pdt_selected_write(const struct pdt_selected *selected, bool include, struct pm_buf *out);

/* A database in memory of what was measured, for when there is no other. */
PM_MUST_CHECK enum pm_status pdt_select_database(const struct pdt_run *run, struct pm_error *err,
                                                 struct pm_database **ret_pdb);

#endif
