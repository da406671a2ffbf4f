/* Where axes as rows (where.h). */
#include "where.h"
#include "groupings.h"

#include "format/pm_adapters.h"

#include <stdlib.h>

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

void pm_view_where_release(struct pm_view_where *where)
{
    free(where->nodes);
    free(where->node_of);
    *where = (struct pm_view_where){0};
}

static bool has_level(const struct pm_archive_data *data, const char *name)
{
    for (pm_index l = 0; l < data->graph->n_levels; l++)
        if (!strcasecmp(data->graph->levels[l].name, name))
            return true;
    return false;
}

enum pm_status pm_view_begin_where(struct pm_view *view, struct pm_error *err)
{
    enum pm_view_where_axis axis = pm_view_grouping(view)->where;
    if (!axis)
        return PM_OK;
    view->options.tree = true;
    if (axis != PM_VIEW_WHERE_MPI)
        return PM_OK;
    view->options.level = PM_MPI_LEVEL;
    if (has_level(view->data, PM_MPI_LEVEL))
        return PM_OK;
    return pm_error_set(err, PM_ERR_NOT_FOUND,
                        "this archive has no calls of MPI: 'perfmap run --adapter mpi' follows "
                        "them, by itself where a launcher or an MPI program is run");
}

/* --- nodes --- */

struct making {
    struct pm_view *view;
    struct pm_view_where *where;
    struct pm_index_map nouns; /* code and data, by canonical noun: its node */
    struct pm_index_map parts; /* of what has no noun of its own there: parent and what */
    struct pm_view_same_nouns same;
    uint32_t cap_groups;
    bool failed;
};

static uint32_t add_node(struct making *m, struct pm_view_where_node node)
{
    struct pm_view_where *where = m->where;
    struct pm_view_where_node *nodes =
        pm_grow_array(where->nodes, where->n_nodes, &where->cap, 256, sizeof *nodes);
    m->failed |= !nodes;
    if (!nodes)
        return PM_NONE;
    where->nodes = nodes;
    where->nodes[where->n_nodes] = node;
    return where->n_nodes++;
}

static const struct pm_view_where_node empty = {
    .parent = PM_NONE, .lift_row = PM_NONE, .group = PM_NONE};

/* A group of the noun alone, done nothing with; PM_NONE: memory ended. */
static uint32_t add_group(struct making *m, pm_index noun)
{
    struct pm_view *view = m->view;
    if (m->cap_groups == 0 || view->n_groups == m->cap_groups) {
        uint32_t cap = 2 * view->n_groups + 64;
        struct pm_view_group *grown = pm_realloc_array(view->groups, cap, sizeof *grown);
        m->failed |= !grown;
        if (!grown)
            return PM_NONE;
        view->groups = grown;
        m->cap_groups = cap;
    }
    view->groups[view->n_groups] = (struct pm_view_group){
        .noun = noun, .verb = PM_NONE, .place = PM_NONE, .sentence = PM_NONE};
    return view->n_groups++;
}

static uint64_t part_key(uint32_t parent, uint64_t what)
{
    return ((uint64_t)parent + 1) * 0x9e3779b97f4a7c15u ^ what * 0xd6e8feb86659fd93u;
}

/* A place that is there once below its parent: of a noun, or of a name that lives as long as the
 * view (noun PM_NONE). */
static uint32_t part_of(struct making *m, uint32_t parent, pm_index noun, const char *name)
{
    uint64_t key = part_key(parent, noun != PM_NONE ? noun : (uint64_t)(uintptr_t)name << 1 | 1);
    uint32_t found = pm_index_map_get(&m->parts, (int64_t)key);
    if (found != PM_NONE)
        return found;
    struct pm_view_where_node node = empty;
    node.parent = parent;
    node.name = name;
    if (noun != PM_NONE)
        node.group = add_group(m, noun);
    found = add_node(m, node);
    m->failed |= found == PM_NONE || !pm_index_map_add(&m->parts, (int64_t)key, found);
    return found;
}

/* --- code and data: rows of the lift, in what they lie in --- */

/* Of what lies in each other; damaged archives may have more, and circles. */
enum { MAX_DEPTH = 64 };

static pm_index same_noun(struct making *m, pm_index noun)
{
    m->failed |= !pm_view_find_same_noun(m->view, &m->same, noun, &noun);
    return noun;
}

static pm_index parent_noun(struct making *m, pm_index noun)
{
    pm_index parent = m->view->data->graph->nouns[noun].parent;
    return parent == PM_NONE ? PM_NONE : same_noun(m, parent);
}

/* What lies nowhere is of its binary. */
static uint32_t binary_node(struct making *m, pm_index noun)
{
    const char *binary = m->view->data->graph->nouns[noun].binary;
    if (!*binary || pm_view_noun_is(m->view, noun, "file"))
        return PM_NONE;
    return part_of(m, PM_NONE, PM_NONE, binary);
}

/* The node of a noun, with those that it lies in. A noun's parents are no circle. */
static uint32_t noun_node(struct making *m, pm_index noun)
{
    pm_index up = noun, path[MAX_DEPTH];
    uint32_t n = 0, node = PM_NONE;
    for (; up != PM_NONE && n < MAX_DEPTH; up = parent_noun(m, up)) {
        node = pm_index_map_get(&m->nouns, up);
        if (node != PM_NONE)
            break;
        path[n++] = up;
    }
    if (node == PM_NONE && n > 0)
        node = binary_node(m, path[n - 1]);
    while (n-- > 0 && !m->failed) {
        struct pm_view_where_node inner = empty;
        inner.parent = node;
        inner.group = add_group(m, path[n]);
        node = add_node(m, inner);
        m->failed |= node == PM_NONE || !pm_index_map_add(&m->nouns, path[n], node);
    }
    return node;
}

static bool lies_in(struct making *m, pm_index noun, pm_index outer)
{
    for (int steps = 0; noun != PM_NONE && noun != outer; steps++)
        noun = steps < MAX_DEPTH ? parent_noun(m, noun) : PM_NONE;
    return noun != PM_NONE;
}

/* The innermost noun that all of a row's nouns lie in, beyond themselves. */
static pm_index around_set(struct making *m, const uint32_t *groups, uint32_t n)
{
    const struct pm_view_group *of = m->view->groups;
    for (uint32_t i = 0; i < n; i++)
        if (of[groups[i]].noun == PM_NONE || of[groups[i]].special)
            return PM_NONE;
    pm_index up = parent_noun(m, of[groups[0]].noun);
    for (int steps = 0; up != PM_NONE && steps < MAX_DEPTH; up = parent_noun(m, up), steps++) {
        bool has_all = true;
        for (uint32_t i = 1; has_all && i < n; i++)
            has_all = lies_in(m, of[groups[i]].noun, up);
        if (has_all)
            return up;
    }
    return PM_NONE;
}

static bool is_one_noun(const struct pm_view *view, const struct pm_lift_row *row)
{
    const struct pm_view_group *group =
        row->n_destinations == 1 ? &view->groups[view->lift->destinations[row->first_destination]]
                                 : NULL;
    return group && !group->special && group->noun != PM_NONE && !group->file;
}

static uint32_t parent_of_row(struct making *m, const struct pm_lift_row *row)
{
    struct pm_view *view = m->view;
    const uint32_t *groups = view->lift->destinations + row->first_destination;
    pm_index noun = PM_NONE, up = PM_NONE;
    if (row->n_destinations == 0)
        noun = pm_graph_first_noun(view->data->graph, row->source);
    else if (row->n_destinations > 1)
        up = around_set(m, groups, row->n_destinations);
    else if (is_one_noun(view, row))
        up = parent_noun(m, noun = view->groups[*groups].noun);
    if (up != PM_NONE)
        return noun_node(m, up);
    return noun != PM_NONE ? binary_node(m, noun) : PM_NONE;
}

/* Places of the lift come first, so their nouns are known. */
static bool make_of_lift(struct making *m)
{
    const struct pm_view *view = m->view;
    const struct pm_lift *lift = view->lift;
    for (uint32_t r = 0; r < lift->n_rows && !m->failed; r++) {
        struct pm_view_where_node node = empty;
        node.lift_row = r;
        m->failed |= add_node(m, node) == PM_NONE;
        if (!is_one_noun(view, &lift->rows[r]))
            continue;
        pm_index noun = view->groups[lift->destinations[lift->rows[r].first_destination]].noun;
        noun = same_noun(m, noun);
        if (pm_index_map_get(&m->nouns, noun) == PM_NONE)
            m->failed |= !pm_index_map_add(&m->nouns, noun, r);
    }
    for (uint32_t r = 0; r < lift->n_rows && !m->failed; r++) {
        uint32_t parent = parent_of_row(m, &lift->rows[r]);
        m->where->nodes[r].parent = parent == r ? PM_NONE : parent;
    }
    const struct pm_graph *graph = view->data->graph;
    for (pm_index c = 0; c < graph->n_contexts && !m->failed; c++)
        m->where->node_of[c] =
            lift->parts[lift->class_first[lift->class_of[graph->contexts[c].sentence]]].row;
    return !m->failed;
}

/* --- MPI and synchronisation: the innermost sentence of them --- */

static bool is_kind(const struct pm_view *view, pm_index noun, const char *const *kinds)
{
    for (; *kinds; kinds++)
        if (pm_view_noun_is(view, noun, *kinds))
            return true;
    return false;
}

/* The noun of the sentence of that kind, behind its first one. */
static pm_index detail(const struct pm_view *view, pm_index sentence, const char *kind)
{
    const struct pm_graph *graph = view->data->graph;
    const struct pm_graph_sentence *s = &graph->sentences[sentence];
    for (uint32_t i = 1; i < s->n_nouns; i++)
        if (pm_view_noun_is(view, graph->sentence_nouns[s->first_noun + i], kind))
            return graph->sentence_nouns[s->first_noun + i];
    return PM_NONE;
}

/* communicator > tag > rank at the other end. */
static uint32_t message_node(struct making *m, uint32_t top, pm_index sentence)
{
    static const char *const kinds[] = {"tag", "peer"};
    uint32_t node = part_of(m, top, pm_graph_first_noun(m->view->data->graph, sentence), NULL);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !m->failed; i++) {
        pm_index noun = detail(m->view, sentence, kinds[i]);
        if (noun != PM_NONE)
            node = part_of(m, node, noun, NULL);
    }
    return node;
}

static bool is_of_level(const struct pm_view *view, pm_index sentence, const char *level)
{
    const struct pm_graph *graph = view->data->graph;
    return !strcmp(graph->levels[pm_graph_sentence_level(graph, sentence)].name, level);
}

static uint32_t mpi_node(struct making *m, pm_index sentence)
{
    bool is_there = is_of_level(m->view, sentence, PM_MPI_LEVEL) &&
                    pm_graph_first_noun(m->view->data->graph, sentence) != PM_NONE;
    return is_there ? message_node(m, PM_NONE, sentence) : PM_NONE;
}

/* What one waits at: by the kind of its noun, by the verb of MPI,
 * of coarrays and of OpenMP, where what is done within a critical section is not waiting. */
static const struct {
    const char *name, *kinds[6];
} lock_classes[] = {
    {"locks", {"mutex", "rwlock", "spinlock", "once", "lock", NULL}},
    {"conditions", {"condition", NULL}},
    {"semaphores", {"semaphore", NULL}},
    {"barriers", {"barrier", NULL}},
};
static const struct {
    const char *name, *level, *verbs[12];
} verb_classes[] = {
    {"barriers", PM_MPI_LEVEL, {"Barrier", NULL}},
    {"messages",
     PM_MPI_LEVEL,
     {"Send", "Prepare", "Receive", "Arrive", "Probe", "Start", "Wait", "Test", "Cancel", NULL}},
    {"windows", PM_MPI_LEVEL, {"Put", "Get", "Accumulate", "Synchronise", NULL}},
    {"collective operations",
     PM_MPI_LEVEL,
     {"Broadcast", "Gather", "AllGather", "Scatter", "AllToAll", "Reduce", "AllReduce",
      "ReduceScatter", "Scan", NULL}},
    {"barriers", PM_COARRAY_LEVEL, {"SyncAll", "SyncImages", "SyncMemory", NULL}},
    {"events", PM_COARRAY_LEVEL, {"Post", "Wait", NULL}},
    {"locks", PM_COARRAY_LEVEL, {"Lock", "Unlock", NULL}},
    {"barriers", PM_OPENMP_LEVEL, {"Barrier", NULL}},
    {"locks", PM_OPENMP_LEVEL, {"Acquire", NULL}},
    {"tasks", PM_OPENMP_LEVEL, {"TaskWait", NULL}},
    {"collective operations", PM_OPENMP_LEVEL, {"Reduce", NULL}},
};

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(word, *words))
            return true;
    return false;
}

/* The first of that name, for nodes are told apart by its address. */
static const char *class_named(const char *name)
{
    for (size_t i = 0; i < sizeof lock_classes / sizeof *lock_classes; i++)
        if (!strcmp(lock_classes[i].name, name))
            return lock_classes[i].name;
    for (size_t i = 0; i < sizeof verb_classes / sizeof *verb_classes; i++)
        if (!strcmp(verb_classes[i].name, name))
            return verb_classes[i].name;
    return NULL;
}

static const char *class_of_verb(const struct pm_view *view, pm_index sentence)
{
    const char *verb = view->data->graph->verbs[view->data->graph->sentences[sentence].verb].name;
    for (size_t i = 0; i < sizeof verb_classes / sizeof *verb_classes; i++)
        if (is_of_level(view, sentence, verb_classes[i].level) &&
            is_one_of(verb, verb_classes[i].verbs))
            return class_named(verb_classes[i].name);
    return NULL;
}

static const char *class_of_noun(const struct pm_view *view, pm_index noun)
{
    const struct pm_graph_noun *n = &view->data->graph->nouns[noun];
    if (strcmp(view->data->graph->levels[n->level].name, PM_BASE_LEVEL) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof lock_classes / sizeof *lock_classes; i++)
        if (is_kind(view, noun, lock_classes[i].kinds))
            return lock_classes[i].name;
    return NULL;
}

/* Who makes a taskloop's tasks waits for them there; who makes one task does not. */
static const char *class_of_tasks(const struct pm_view *view, pm_index sentence, pm_index noun)
{
    static const char taskloop[] = "taskloop ";
    const struct pm_graph *graph = view->data->graph;
    bool waits = is_of_level(view, sentence, PM_OPENMP_LEVEL) &&
                 !strcmp(graph->verbs[graph->sentences[sentence].verb].name, "Create") &&
                 !strncmp(graph->nouns[noun].name, taskloop, sizeof taskloop - 1);
    return waits ? class_named("tasks") : NULL;
}

/* A lock below those of its function. */
static uint32_t lock_node(struct making *m, uint32_t top, pm_index noun)
{
    pm_index up = m->view->data->graph->nouns[noun].parent;
    uint32_t node = up == PM_NONE ? top : part_of(m, top, up, NULL);
    return part_of(m, node, noun, NULL);
}

/* While a lock is held nobody waits for it there. */
static uint32_t sync_node(struct making *m, pm_index sentence)
{
    const struct pm_view *view = m->view;
    const struct pm_graph *graph = view->data->graph;
    pm_index noun = pm_graph_first_noun(graph, sentence);
    if (noun == PM_NONE || !strcmp(graph->verbs[graph->sentences[sentence].verb].name, "Hold"))
        return PM_NONE;
    const char *class = class_of_verb(view, sentence);
    if (!class)
        class = class_of_tasks(view, sentence, noun);
    if (class)
        return message_node(m, part_of(m, PM_NONE, PM_NONE, class), sentence);
    class = class_of_noun(view, noun);
    return class ? lock_node(m, part_of(m, PM_NONE, PM_NONE, class), noun) : PM_NONE;
}

/* Calls there are not the place's, for it was entered further out. */
static void take_out_calls(struct pm_view *view, const bool *inherits)
{
    struct pm_graph *graph = view->data->graph;
    for (uint32_t i = 0; i < graph->n_costs; i++)
        if (graph->costs[i].metric == view->calls_metric && inherits[graph->costs[i].context])
            graph->costs[i].value = 0;
}

/* node_of_sentence, inherits: room. */
static bool fill_innermost(struct making *m, uint32_t *node_of_sentence, bool *inherits)
{
    const struct pm_graph *graph = m->view->data->graph;
    bool is_mpi = pm_view_grouping(m->view)->where == PM_VIEW_WHERE_MPI;
    const char *outside = is_mpi ? "(outside MPI)" : "(outside synchronisation)";
    uint32_t *node_of = m->where->node_of;
    for (pm_index s = 0; s < graph->n_sentences; s++)
        node_of_sentence[s] = is_mpi ? mpi_node(m, s) : sync_node(m, s);
    bool any = m->where->n_nodes > 0;
    for (pm_index c = 0; c < graph->n_contexts && any && !m->failed; c++) {
        pm_index parent = graph->contexts[c].parent;
        node_of[c] = node_of_sentence[graph->contexts[c].sentence];
        inherits[c] = node_of[c] == PM_NONE;
        if (inherits[c])
            node_of[c] =
                parent != PM_NONE ? node_of[parent] : part_of(m, PM_NONE, PM_NONE, outside);
    }
    take_out_calls(m->view, inherits);
    return any;
}

static enum pm_status make_of_paths(struct making *m, struct pm_error *err)
{
    const struct pm_graph *graph = m->view->data->graph;
    uint32_t *of_sentence = pm_alloc_array(graph->n_sentences, sizeof *of_sentence);
    bool *inherits = pm_alloc_array(graph->n_contexts, sizeof *inherits);
    m->failed |= !of_sentence || !inherits;
    bool any = m->failed || fill_innermost(m, of_sentence, inherits);
    free(of_sentence);
    free(inherits);
    if (any)
        return PM_OK;
    return pm_error_set(
        err, PM_ERR_NOT_FOUND,
        "this archive has no locks, barriers and messages: 'perfmap run --adapter "
        "locks' follows those of threads, and OpenMP, MPI and coarrays are followed by "
        "themselves");
}

/* --- the machine --- */

/* Threads of a process lie one after the other, and a process with one thread is that thread. */
static bool make_of_machine(struct making *m)
{
    const struct pm_archive_data *data = m->view->data;
    struct pm_view_where *where = m->where;
    uint32_t *n_threads = pm_alloc_array(data->n_processes, sizeof *n_threads);
    m->failed |= !n_threads;
    for (uint32_t t = 0; !m->failed && t < data->n_threads; t++)
        n_threads[data->threads[t].process]++;
    for (uint32_t t = 0; !m->failed && t < data->n_threads; t++) {
        uint32_t process = data->threads[t].process, kinds[3], n = 0;
        static const enum pm_runner runners[] = {PM_RUNNER_NODE, PM_RUNNER_PROCESS,
                                                 PM_RUNNER_THREAD};
        kinds[n++] = data->processes[process].node_no;
        kinds[n++] = process;
        if (n_threads[process] > 1)
            kinds[n++] = t;
        uint32_t node = PM_NONE;
        for (uint32_t i = 0; i < n && !m->failed; i++) {
            uint64_t key = part_key(node, (uint64_t)kinds[i] << 2 | i);
            uint32_t found = pm_index_map_get(&m->parts, (int64_t)key);
            if (found == PM_NONE) {
                struct pm_view_where_node runner = empty;
                runner.parent = node;
                runner.runner = runners[i];
                runner.thread = t;
                found = add_node(m, runner);
                m->failed |= !pm_index_map_add(&m->parts, (int64_t)key, found);
            }
            node = found;
        }
        where->node_of[t] = node;
    }
    free(n_threads);
    return !m->failed;
}

/* --- all of it --- */

/* Fills in depths; a way up that comes back to itself, as damaged archives may have, is cut.
 * path: room for all nodes. */
static void find_depths(struct pm_view_where *where, uint32_t *path)
{
    struct pm_view_where_node *nodes = where->nodes;
    enum { UNKNOWN = UINT32_MAX, ON_PATH = UINT32_MAX - 1 };
    for (uint32_t i = 0; i < where->n_nodes; i++)
        nodes[i].depth = UNKNOWN;
    for (uint32_t i = 0; i < where->n_nodes; i++) {
        uint32_t n = 0, up = i;
        for (; up != PM_NONE && nodes[up].depth == UNKNOWN; up = nodes[up].parent) {
            nodes[up].depth = ON_PATH;
            path[n++] = up;
        }
        if (up != PM_NONE && nodes[up].depth == ON_PATH)
            nodes[path[n - 1]].parent = PM_NONE;
        while (n-- > 0) {
            uint32_t parent = nodes[path[n]].parent;
            nodes[path[n]].depth = parent == PM_NONE ? 0 : nodes[parent].depth + 1;
        }
    }
}

static int compare_depths(const void *a_pointer, const void *b_pointer, void *context)
{
    const struct pm_view_where_node *nodes = context;
    uint32_t a = *(const uint32_t *)a_pointer, b = *(const uint32_t *)b_pointer;
    if (nodes[a].depth != nodes[b].depth)
        return nodes[a].depth < nodes[b].depth ? -1 : 1;
    return (a > b) - (a < b);
}

/* Parents before their parts. */
static bool order_nodes(struct pm_view_where *where, uint32_t n_cells)
{
    uint32_t n = where->n_nodes;
    uint32_t *position = pm_alloc_array(n, sizeof *position),
             *order = pm_alloc_array(n, sizeof *order);
    struct pm_view_where_node *ordered = pm_alloc_array(n, sizeof *ordered);
    bool good = position && order && ordered;
    if (good) {
        find_depths(where, order);
        for (uint32_t i = 0; i < n; i++)
            order[i] = i;
        if (n)
            qsort_r(order, n, sizeof *order, compare_depths, where->nodes);
    }
    for (uint32_t i = 0; good && i < n; i++)
        position[order[i]] = i;
    for (uint32_t i = 0; good && i < n; i++) {
        ordered[i] = where->nodes[order[i]];
        if (ordered[i].parent != PM_NONE)
            ordered[i].parent = position[ordered[i].parent];
    }
    for (uint32_t c = 0; good && c < n_cells; c++)
        where->node_of[c] = position[where->node_of[c]];
    free(position);
    free(order);
    free(where->nodes);
    where->nodes = ordered;
    return good;
}

static enum pm_status make_nodes(struct making *m, struct pm_error *err)
{
    switch (pm_view_grouping(m->view)->where) {
    case PM_VIEW_WHERE_MACHINE:
        return make_of_machine(m) ? PM_OK : no_memory(err);
    case PM_VIEW_WHERE_MPI:
    case PM_VIEW_WHERE_SYNC:
        return make_of_paths(m, err);
    default:
        return make_of_lift(m) ? PM_OK : no_memory(err);
    }
}

enum pm_status pm_view_where_make(struct pm_view *view, struct pm_error *err,
                                  struct pm_view_where *ret_where)
{
    bool is_machine = pm_view_grouping(view)->where == PM_VIEW_WHERE_MACHINE;
    uint32_t n_cells = is_machine ? view->data->n_threads : view->data->graph->n_contexts;
    struct pm_view_where where = {.node_of = pm_alloc_array(n_cells, sizeof *where.node_of)};
    struct making m = {.view = view, .where = &where, .failed = !where.node_of};
    enum pm_status status = m.failed ? no_memory(err) : make_nodes(&m, err);
    pm_index_map_release(&m.nouns);
    pm_index_map_release(&m.parts);
    pm_index_map_release(&m.same.nouns);
    if (status != PM_OK)
        goto out;
    status = !m.failed && order_nodes(&where, n_cells) ? PM_OK : no_memory(err);
    if (status != PM_OK)
        goto out;
    *ret_where = where;
    return PM_OK;
out:
    pm_view_where_release(&where);
    return status;
}
