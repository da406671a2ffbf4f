/* The cells of a search: what each run has in each tuple of nodes, one of each axis.
 *
 *     struct search_cells cells = {.options = &options};
 *     status = search_cells_read(&cells, side, view, names, &err); // for each run
 *     status = search_cells_join(&cells, &err); // then cells.tuples are whole
 */
#ifndef PM_COMPARE_SEARCH_CELLS_H
#define PM_COMPARE_SEARCH_CELLS_H

#include "search.h"

#include "mapping/base/map.h"
#include "mapping/view/keys.h"

struct search_node {
    uint32_t parent, depth; /* PM_NONE and 0: top */
    bool is_at_least[2];    /* it, or what is in it, in some run of the side */
    const char *what;       /* printable, as B has it where it does */
    const char *places[2];  /* printable; NULL: the side has no such node */
    uint32_t n_parts;       /* nodes right below it */
    uint32_t runner;        /* of places: a position among what `over` names; PM_NONE */
};

struct search_axis {
    const char *name;
    struct search_node *nodes;
    uint32_t n_nodes, cap;
    struct pm_map node_of; /* key -> 1 + node */
    uint32_t n_runs;       /* that have it */
};

/* What a run has in a tuple. */
struct search_value {
    uint32_t tuple, run; /* run: of side B behind those of A */
    double value;
};

struct search_tuple {
    uint32_t nodes[PM_SEARCH_MAX_AXES]; /* PM_NONE: nowhere on that axis */
    uint32_t first, n;                  /* of values, when they are joined */
    double difference;                  /* of the means, when the speeds are known */
};

struct search_cells {
    const struct pm_search_options *options;
    const char *metric;
    struct search_axis axes[PM_SEARCH_MAX_AXES];
    uint32_t n_axes;
    struct search_tuple *tuples;
    struct search_value *values;
    uint32_t n_tuples, cap_tuples, n_values, cap_values;
    struct pm_map tuple_of;    /* hash of nodes -> 1 + tuple */
    uint32_t n_runners;        /* all that `over` names */
    uint32_t *n_there;         /* per run: those that have a part of it, ranks all */
    uint32_t n_runs, cap_runs; /* up to now; those of A come first */
    struct pm_arena arena;
};

/* view: of the run, by loop, with costs that can be read again. names: NULL: as there. */
PM_MUST_CHECK enum pm_status search_cells_read(struct search_cells *cells, int side,
                                               struct pm_view *view,
                                               const struct pm_view_key_names *names,
                                               struct pm_error *err);
/* When all runs are read. */
PM_MUST_CHECK enum pm_status search_cells_join(struct search_cells *cells, struct pm_error *err);
void search_cells_release(struct search_cells *cells);

/* search_places.c: where each thread ran: [data->n_threads] nodes of the axis of places. Ranks go
 * by number, programs by name, what is several by order; nothing goes by numbers that the system
 * gave, or by host. False: memory ended. */
PM_MUST_CHECK bool search_places_find(struct search_cells *cells, int side,
                                      const struct pm_archive_data *data, uint32_t *ret_node_of);
/* The node of that key below a parent, made when it is new. PM_NONE: memory ended. */
uint32_t search_node_at(struct search_axis *axis, uint64_t key, uint32_t parent);

#endif
