#include "tree.h"

#include "mapping/base/map.h"
#include "mapping/base/suggest.h"

#include <stdlib.h>

enum { MAX_NODES = 1000000, MAX_NAMES = 100000 };

struct growing {
    struct pm_database *pdb;
    struct pm_error *err;
    struct pdt_tree *tree;
    sqlite3_stmt *next, *describe;
    /* Routines whose calls are listed, with 1 + the depth; and those of which nothing was cut. */
    struct pm_map shown, whole;
    uint32_t most_depth;
};

/* The nodes above the one at hand, innermost first. */
struct above {
    int64_t routine;
    const struct above *up;
};

static enum pm_status no_memory(struct growing *growing)
{
    return pm_error_set(growing->err, PM_ERR_MEMORY, "out of memory for the tree");
}

static const char *keep(struct growing *growing, const char *text)
{
    return pm_arena_strndup(&growing->tree->arena, text, strlen(text));
}

/* Name and place of the last node. */
static enum pm_status describe(struct growing *growing, struct pdt_tree_node *node)
{
    bool has_row = false;
    sqlite3_bind_int64(growing->describe, 1, node->routine);
    enum pm_status status =
        pm_database_step(growing->pdb, growing->describe, growing->err, &has_row);
    if (status != PM_OK)
        goto out;
    if (has_row) {
        node->name = keep(growing, pm_database_text(growing->describe, 0));
        if (sqlite3_column_type(growing->describe, 1) != SQLITE_NULL)
            node->file = keep(growing, pm_database_text(growing->describe, 1));
        node->line = (uint32_t)sqlite3_column_int64(growing->describe, 2);
        node->is_defined = sqlite3_column_int(growing->describe, 3) != 0;
    } else {
        node->name = "(not known)";
    }
    if (!node->name)
        status = no_memory(growing);
out:
    sqlite3_reset(growing->describe);
    return status;
}

static enum pm_status add_node(struct growing *growing, const struct pdt_tree_node *node,
                               const struct above *above, uint32_t *ret_position)
{
    struct pdt_tree *tree = growing->tree;
    if (tree->n_nodes == MAX_NODES)
        return pm_error_set(growing->err, PM_ERR_LIMIT,
                            "the tree has more than %d nodes: ask for less depth", MAX_NODES);
    void *grown =
        pm_grow_array(tree->nodes, tree->n_nodes, &tree->cap_nodes, 64, sizeof *tree->nodes);
    if (!grown)
        return no_memory(growing);
    tree->nodes = grown;
    *ret_position = tree->n_nodes;
    tree->nodes[tree->n_nodes] = *node;
    struct pdt_tree_node *added = &tree->nodes[tree->n_nodes++];
    for (const struct above *up = above; up; up = up->up)
        added->is_recursive |= up->routine == node->routine;
    uint32_t shown = pm_map_get(&growing->shown, (uint64_t)node->routine);
    bool is_whole = pm_map_get(&growing->whole, (uint64_t)node->routine) != 0;
    added->is_repeated = !added->is_recursive && shown && (is_whole || shown <= node->depth + 1);
    return describe(growing, added);
}

/* The edges of a routine, read at once: the statement serves deeper ones, too. */
static enum pm_status read_edges(struct growing *growing, int64_t routine, uint32_t depth,
                                 struct pdt_tree_node **ret_edges, uint32_t *ret_n)
{
    uint32_t cap = 0, n = 0;
    struct pdt_tree_node *edges = NULL;
    bool has_row = false;
    enum pm_status status;
    sqlite3_bind_int64(growing->next, 1, routine);
    while ((status = pm_database_step(growing->pdb, growing->next, growing->err, &has_row)) ==
               PM_OK &&
           has_row) {
        void *grown = pm_grow_array(edges, n, &cap, 16, sizeof *edges);
        if (!grown) {
            status = no_memory(growing);
            break;
        }
        edges = grown;
        const char *kind = pm_database_text(growing->next, 1);
        edges[n++] =
            (struct pdt_tree_node){.depth = depth,
                                   .routine = sqlite3_column_int64(growing->next, 0),
                                   .is_pointer = !strcmp(kind, "pointer"),
                                   .is_virtual = !strcmp(kind, "virtual"),
                                   .n_calls = (uint32_t)sqlite3_column_int64(growing->next, 2),
                                   .n_targets = (uint32_t)sqlite3_column_int64(growing->next, 3)};
    }
    sqlite3_reset(growing->next);
    *ret_edges = edges;
    *ret_n = n;
    return status;
}

/* *ret_is_cut: something below is not listed, here or where it says "see above". */
static enum pm_status grow(struct growing *growing, const struct pdt_tree_node *node,
                           const struct above *above, bool *ret_is_cut)
{
    uint32_t at = 0, n = 0;
    bool is_cut = false;
    struct pdt_tree_node *edges = NULL;
    enum pm_status status = add_node(growing, node, above, &at);
    if (status != PM_OK || growing->tree->nodes[at].is_recursive)
        return status;
    if (growing->tree->nodes[at].is_repeated) {
        *ret_is_cut |= !pm_map_get(&growing->whole, (uint64_t)node->routine);
        return PM_OK;
    }
    status = read_edges(growing, node->routine, node->depth + 1, &edges, &n);
    if (status != PM_OK)
        goto out;
    if (node->depth == growing->most_depth)
        growing->tree->nodes[at].is_cut = is_cut = n > 0;
    else if (!pm_map_put(&growing->shown, (uint64_t)node->routine, node->depth + 1)) {
        status = no_memory(growing);
        goto out;
    }
    struct above here = {.routine = node->routine, .up = above};
    for (uint32_t i = 0; node->depth < growing->most_depth && i < n; i++) {
        status = grow(growing, &edges[i], &here, &is_cut);
        if (status != PM_OK)
            goto out;
    }
    if (!is_cut && !pm_map_put(&growing->whole, (uint64_t)node->routine, 1))
        status = no_memory(growing);
    *ret_is_cut |= is_cut;
out:
    free(edges);
    return status;
}

/* --- the roots --- */

static enum pm_status not_found(struct growing *growing, const char *root)
{
    const char **names = pm_alloc_array(MAX_NAMES + 1, sizeof *names), *near = NULL;
    sqlite3_stmt *row;
    bool has_row;
    size_t n = 0;
    if (names && pm_database_prepare(growing->pdb, "SELECT DISTINCT name FROM main.routines", NULL,
                                     &row) == PM_OK) {
        while (n < MAX_NAMES && pm_database_step(growing->pdb, row, NULL, &has_row) == PM_OK &&
               has_row && (names[n] = keep(growing, pm_database_text(row, 0))))
            n++;
        names[n] = NULL;
        near = pm_suggest(root, names);
        sqlite3_finalize(row);
    }
    free(names);
    return near ? pm_error_set(growing->err, PM_ERR_NOT_FOUND,
                               "there is no routine '%s'; did you mean '%s'?", root, near)
                : pm_error_set(growing->err, PM_ERR_NOT_FOUND, "there is no routine '%s'", root);
}

struct roots {
    struct growing *growing;
    int64_t *ids;
    uint32_t n, cap;
    const char *pattern;
};

static enum pm_status add_root(void *context, sqlite3_stmt *row)
{
    struct roots *roots = context;
    const char *full_name = pm_database_text(row, 2);
    if (sqlite3_strglob(roots->pattern, pm_database_text(row, 1)) != 0 &&
        sqlite3_strglob(roots->pattern, full_name) != 0)
        return PM_OK;
    void *grown = pm_grow_array(roots->ids, roots->n, &roots->cap, 16, sizeof *roots->ids);
    if (!grown)
        return no_memory(roots->growing);
    roots->ids = grown;
    roots->ids[roots->n++] = sqlite3_column_int64(row, 0);
    return PM_OK;
}

/* Names alone are all of a name; ^, $, * and ? as in queries. */
static enum pm_status read_roots(struct growing *growing, const char *root, int64_t **ret_ids,
                                 uint32_t *ret_n)
{
    size_t len = strlen(root), begins = *root == '^', ends = len > begins && root[len - 1] == '$';
    struct pm_buf pattern = PM_BUF_INIT(1 << 16);
    if (ends && !begins)
        pm_buf_add_byte(&pattern, '*');
    pm_buf_add(&pattern, root + begins, len - begins - ends);
    if (begins && !ends)
        pm_buf_add_byte(&pattern, '*');
    struct roots roots = {.growing = growing, .pattern = pattern.data ? pattern.data : ""};
    enum pm_status status = pm_database_each(
        growing->pdb, "SELECT id, name, full_name FROM main.routines ORDER BY is_defined DESC, id",
        0, add_root, &roots, growing->err);
    *ret_ids = roots.ids;
    *ret_n = roots.n;
    pm_buf_release(&pattern);
    return status;
}

static enum pm_status grow_all(struct growing *growing, const char *root,
                               enum pdt_direction direction)
{
    static const char *const sql[] = {"SELECT callee, kind, count(*), min(n_targets) FROM edges "
                                      "WHERE caller = ?1 GROUP BY callee, "
                                      "kind = 'pointer' ORDER BY min(call)",
                                      "SELECT caller, kind, count(*), min(n_targets) FROM edges "
                                      "WHERE callee = ?1 AND caller IS NOT "
                                      "NULL GROUP BY caller, kind = 'pointer' ORDER BY min(call)"};
    int64_t *ids = NULL;
    uint32_t n = 0;
    enum pm_status status =
        pm_database_prepare(growing->pdb, sql[direction], growing->err, &growing->next);
    if (status != PM_OK)
        return status;
    status = pm_database_prepare(
        growing->pdb,
        "SELECT r.full_name, (SELECT f.name FROM main.files f WHERE f.id = r.file), r.line, "
        "r.is_defined FROM main.routines r WHERE r.id = ?1",
        growing->err, &growing->describe);
    if (status != PM_OK)
        return status;
    status = read_roots(growing, root, &ids, &n);
    if (status != PM_OK)
        goto out;
    if (!n)
        status = not_found(growing, root);
    for (uint32_t i = 0; i < n; i++) {
        bool is_cut = false;
        status = grow(growing, &(struct pdt_tree_node){.routine = ids[i], .n_targets = 1}, NULL,
                      &is_cut);
        if (status != PM_OK)
            goto out;
    }
out:
    free(ids);
    return status;
}

enum pm_status pdt_tree_make(struct pm_database *pdb, const char *root,
                             enum pdt_direction direction, uint32_t depth, struct pm_error *err,
                             struct pdt_tree **ret_tree)
{
    struct growing growing = {
        .pdb = pdb, .err = err, .tree = pm_alloc(sizeof *growing.tree), .most_depth = depth};
    enum pm_status status =
        growing.tree ? grow_all(&growing, root, direction) : no_memory(&growing);
    sqlite3_finalize(growing.next);
    sqlite3_finalize(growing.describe);
    pm_map_release(&growing.shown);
    pm_map_release(&growing.whole);
    if (status != PM_OK)
        pdt_tree_free(growing.tree);
    else
        *ret_tree = growing.tree;
    return status;
}

void pdt_tree_free(struct pdt_tree *tree)
{
    if (!tree)
        return;
    free(tree->nodes);
    pm_arena_release(&tree->arena);
    free(tree);
}
