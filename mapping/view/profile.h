/* A view as a profile: call paths of frames, and what each costs by thread, line and array. For
 * whoever hands results over to other tools.
 *
 *     struct pm_profile profile = {0};
 *     struct pm_profile_options options = {.view = {.archive_path = "heat.perfmap"},
 *                                          .parts = PM_PROFILE_THREADS};
 *     if (pm_profile_make(&options, &err, &profile) == PM_OK)
 *         for (uint32_t i = 0; i < profile.n_cells; i++)
 *             use(profile.frames[profile.nodes[profile.cells[i].node].frame].name,
 *                 profile.cells[i].values[0]);
 *     pm_profile_release(&profile);
 *
 * The nodes are the rows of the tree that `perfmap report --tree` shows, and the values its own
 * costs. All cells add up to the view's total, exactly, for each value. What no thread, line or
 * array is known of has PM_NONE there. Nothing is printed here. One thread.
 */
#ifndef PM_VIEW_PROFILE_H
#define PM_VIEW_PROFILE_H

#include "view.h"

/* What cells are told apart by, beside their node. */
enum {
    PM_PROFILE_THREADS = 1,
    PM_PROFILE_LINES = 2,  /* of the source; what several share is divided by their weights */
    PM_PROFILE_ARRAYS = 4, /* what the code touches; what it touches together is one set */
};

enum { PM_PROFILE_MAX_VALUES = PM_VIEW_MAX_METRICS + 2 };

struct pm_profile_options {
    struct pm_view_options view; /* by: of frames; tree and limit are set here */
    unsigned parts;              /* PM_PROFILE_... */
};

/* A number that cells have: a metric that is a sum, the number of samples, or calls. */
struct pm_profile_value {
    const char *name; /* "cpu_ns", "n_samples", "n_calls" */
    const char *unit, *kind, *description;
    int64_t total;
    bool is_at_least; /* of the total: events were lost */
};

struct pm_profile_noun {
    const char *kind, *name; /* printable */
};

/* What nodes are: equal ones on different paths are one frame. All texts are printable (UTF-8,
 * no control bytes), "" where nothing is known. */
struct pm_profile_frame {
    const char *name, *place; /* "loop in step", "heat.c:12" */
    const char *file, *linkage, *level, *kind, *verb;
    const struct pm_profile_noun *nouns; /* of what the program or an adapter says, else none */
    uint32_t n_nouns;
    uint32_t line_no;
    bool is_word, is_unmapped;
};

struct pm_profile_node {
    uint32_t parent; /* a smaller position; PM_NONE: top */
    uint32_t frame;
    const struct pm_view_row *row; /* of tree: for what more is known of it */
};

struct pm_profile_line {
    const char *file; /* printable */
    uint32_t line_no;
};

struct pm_profile_cell {
    uint32_t node, thread, line, array; /* thread: of tree.data->threads */
    const int64_t *values;              /* [n_values] */
};

struct pm_profile {
    struct pm_view tree;
    struct pm_profile_value values[PM_PROFILE_MAX_VALUES];
    struct pm_profile_frame *frames;
    struct pm_profile_node *nodes;
    struct pm_profile_line *lines;
    const char **arrays;           /* printable: "u", "{u, v}" */
    struct pm_profile_cell *cells; /* by node, then thread, line and array */
    int64_t *cell_values;
    uint32_t n_values, n_frames, n_nodes, n_lines, n_arrays, n_cells;
    struct pm_archive_data *data; /* what the views were made of */
    struct pm_arena arena;
};

/* Errors: those of pm_view_make; PM_ERR_LIMIT: more cells than 32 bits count. */
PM_MUST_CHECK enum pm_status pm_profile_make(const struct pm_profile_options *options,
                                             struct pm_error *err, struct pm_profile *profile);
void pm_profile_release(struct pm_profile *profile);

/* For each node its values with those below it: [n_nodes * n_values], to be freed. n_calls and
 * n_samples, too. NULL: memory ended, or 64 bits do not hold it. */
int64_t *pm_profile_inclusive(const struct pm_profile *profile);

#endif
