/* The contexts of run files and their costs. */
#include "costs.h"

#include "binaries.h"
#include "bodies.h"
#include "call_paths.h"
#include "causes.h"
#include "code.h"
#include "collector.h"
#include "contexts.h"
#include "heap.h"
#include "meetings.h"
#include "model.h"
#include "routes.h"
#include "run_names.h"
#include "frames.h"
#include "said.h"
#include "samples.h"
#include "words.h"
#include "writer.h"

#include "format/pm_id.h"
#include "format/pm_sled.h"
#include "mapping/archive/archive.h"
#include "mapping/run/run_file.h"

#include <stdlib.h>

enum { FLUSH_COSTS = 1 << 20 }; /* costs in memory, 24 bytes each */

static const struct collect_metric own_metrics[] = {
    {"n_calls", "calls", "count", "calls of functions and entries of loops", false},
    {"wall_ns", "ns", "time", "wall-clock time", false},
    {"cpu_ns", "ns", "time", "CPU time, sampled", false},
    {"n_samples", "samples", "count", "samples that the sampled times are made of", false},
    {"off_cpu_ns", "ns", "time",
     "wall-clock time without a CPU, waiting or preempted: which is not known", false},
    {"sampled_wall_ns", "ns", "time", "wall-clock time, sampled", false},
    {"waiting_ns", "ns", "time",
     "wall-clock time asleep: waiting for data, a lock, a time, another process", false},
    {"preempted_ns", "ns", "time", "wall-clock time ready to run while others had the CPU", false},
};
_Static_assert(sizeof own_metrics / sizeof *own_metrics == N_OWN_METRICS, "a number for each");

enum pm_status collect_costs_start(struct collector *c)
{
    c->costs->metrics = pm_alloc_array(N_OWN_METRICS, sizeof *c->costs->metrics);
    if (!c->costs->metrics)
        return collect_no_memory(c);
    memcpy(c->costs->metrics, own_metrics, sizeof own_metrics);
    c->costs->n_metrics = N_OWN_METRICS;
    return PM_OK;
}

enum pm_status collect_metric(struct collector *c, const struct collect_metric *metric,
                              uint32_t *ret_metric)
{
    for (size_t i = 0; i < c->costs->n_metrics; i++)
        if (strcmp(c->costs->metrics[i].name, metric->name) == 0) {
            *ret_metric = (uint32_t)i + 1;
            return PM_OK;
        }
    struct collect_metric *metrics =
        pm_realloc_array(c->costs->metrics, c->costs->n_metrics + 1, sizeof *metrics);
    if (!metrics)
        return collect_no_memory(c);
    c->costs->metrics = metrics;
    metrics[c->costs->n_metrics++] = *metric;
    *ret_metric = (uint32_t)c->costs->n_metrics;
    return PM_OK;
}

static enum pm_status write_metrics(struct collector *c)
{
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < c->costs->n_metrics && status == PM_OK; i++) {
        const struct collect_metric *metric = &c->costs->metrics[i];
        sqlite3_stmt *insert = c->writer->statements[INSERT_METRIC];
        if (!metric->is_used)
            continue;
        bind_number(insert, 1, i + 1);
        bind_text(insert, 2, metric->name);
        bind_text(insert, 3, metric->unit);
        bind_text(insert, 4, metric->kind);
        bind_text(insert, 5, metric->aggregation ? metric->aggregation : "sum");
        bind_text(insert, 6, metric->description);
        status = collect_insert(c, INSERT_METRIC);
    }
    return status;
}

void collect_costs_release(struct collector *c)
{
    free(c->costs->metrics);
    free(c->costs->list);
}

enum pm_status collect_cost(struct collector *c, uint32_t context, uint32_t thread, uint32_t metric,
                            uint64_t value)
{
    if (value == 0)
        return PM_OK;
    struct collect_cost *costs =
        pm_grow_array(c->costs->list, c->costs->n, &c->costs->cap, 1024, sizeof *costs);
    if (!costs)
        return collect_no_memory(c);
    c->costs->list = costs;
    c->costs->metrics[metric - 1].is_used = true;
    c->costs->sampled_cpu_ns += metric == METRIC_CPU_NS ? value : 0;
    costs[c->costs->n++] = (struct collect_cost){context, thread, metric, value};
    return PM_OK;
}

/* The sentence of the innermost code on the path of a context: of that which calls, where it says a
 * word so. */
static enum pm_status code_around(struct collector *c, const struct pm_run_file *file,
                                  const struct pm_run_file_thread *thread, size_t node,
                                  const struct collect_names *names, uint32_t *ret_sentence)
{
    struct collect_where where = {
        .file = file, .thread = thread, .node = (uint32_t)node, .names = names};
    const struct pm_run_file_node *at = &thread->nodes[node];
    while (at->parent != PM_RUN_FILE_NO_PARENT &&
           collect_is_spoken(file, pm_run_file_noun(file, at->noun))) {
        const struct collect_code *said = collect_said_code(c, &where);
        if (said)
            return collect_said_sentence(c, &where, said, ret_sentence);
        where.node = at->parent;
        at = &thread->nodes[at->parent];
    }
    *ret_sentence = at->parent == PM_RUN_FILE_NO_PARENT ? names->root : names->sentences[at->noun];
    return PM_OK;
}

/* Is a word active around the node, and no code between? */
static bool is_within_word(const struct pm_run_file *file, const struct pm_run_file_thread *thread,
                           size_t node, const struct collect_names *names)
{
    const struct pm_run_file_node *at = &thread->nodes[thread->nodes[node].parent];
    while (at->parent != PM_RUN_FILE_NO_PARENT && names->causes[at->noun])
        at = &thread->nodes[at->parent];
    return at->parent != PM_RUN_FILE_NO_PARENT &&
           collect_is_spoken(file, pm_run_file_noun(file, at->noun));
}

/* What is its own time is that of the code around it, which has a context of its own for that
 * within the sentence's. A cause in a sentence has one as well: without causes its costs are the
 * sentence's. */
enum pm_status collect_own_context(struct collector *c, const struct pm_run_file *file,
                                   const struct pm_run_file_thread *thread, size_t node,
                                   const struct collect_names *names, unsigned flags,
                                   uint32_t *context)
{
    const struct pm_run_file_node *at = &thread->nodes[node];
    if (at->parent == PM_RUN_FILE_NO_PARENT ||
        !collect_is_spoken(file, pm_run_file_noun(file, at->noun)) ||
        (names->causes[at->noun] && !is_within_word(file, thread, node, names)))
        return PM_OK;
    uint32_t sentence;
    enum pm_status status = code_around(c, file, thread, node, names, &sentence);
    return status != PM_OK ? status : collect_context(c, *context, sentence, flags, context);
}

/* The innermost code with sleds that is active at a node. */
static void find_caller(const struct pm_run_file *file, const struct pm_run_file_thread *thread,
                        uint32_t node, const struct pm_run_file_noun **ret_function,
                        const struct pm_run_file_noun **ret_loop)
{
    *ret_function = *ret_loop = NULL;
    for (; thread->nodes[node].parent != PM_RUN_FILE_NO_PARENT; node = thread->nodes[node].parent) {
        const struct pm_run_file_noun *noun = pm_run_file_noun(file, thread->nodes[node].noun);
        if (collect_is_spoken(file, noun))
            continue;
        if (noun->kind != PM_SLED_LOOP_ENTER) {
            *ret_function = noun;
            return;
        }
        *ret_loop = *ret_loop ? *ret_loop : noun;
    }
}

/* The symbol that was called, when a node is a call of the function; else it is a loop of its
 * own. A loop that is followed where its function is not stands for that. 0: not known. */
static pm_id called_symbol(const struct pm_run_file_noun *callee,
                           const struct pm_run_file_noun *function,
                           const struct pm_run_file_noun *loop, const struct collect_names *names,
                           bool *ret_is_call)
{
    const struct collect_binary *binary = names->binaries[function->object];
    bool is_loop = callee->kind == PM_SLED_LOOP_ENTER, is_here = callee->object == function->object;
    pm_id symbol = !is_here  ? 0
                   : is_loop ? collect_symbol_around(binary, 0, callee->id)
                             : callee->id;
    pm_id active = collect_symbol_around(binary, function->id, loop ? loop->id : 0);
    *ret_is_call = !is_loop || (symbol && symbol != active);
    return symbol;
}

/* Whether the node is of code, and lies in other code. */
static bool is_code_within(const struct pm_run_file *file, const struct pm_run_file_node *node,
                           const struct collect_names *names)
{
    return node->parent != PM_RUN_FILE_NO_PARENT && !names->causes[node->noun] && !node->is_set &&
           !(node->flags & PM_RUN_NODE_FOLDED) &&
           !collect_is_spoken(file, pm_run_file_noun(file, node->noun));
}

/* Whether the node is of a word, said in code: what was begun is below none. */
static bool is_word_within(const struct pm_run_file *file, const struct pm_run_file_node *node,
                           const struct collect_names *names)
{
    return node->parent != PM_RUN_FILE_NO_PARENT && !names->causes[node->noun] && !node->is_set &&
           !(node->flags & (PM_RUN_NODE_FOLDED | PM_RUN_NODE_BEGUN)) &&
           collect_is_spoken(file, pm_run_file_noun(file, node->noun));
}

/* A call of code from code with sleds, or of what said a word: that is not known. */
struct call {
    struct collect_binary *binary; /* of the caller; NULL: it is none */
    pm_id function, loop, callee;  /* loop 0: none is active; callee 0: of another binary */
};

static struct call find_call(const struct pm_run_file *file,
                             const struct pm_run_file_thread *thread, size_t at,
                             const struct collect_names *names)
{
    const struct call none = {0};
    const struct pm_run_file_node *node = &thread->nodes[at];
    bool is_word = is_word_within(file, node, names), is_call = is_word;
    if (!is_word && !is_code_within(file, node, names))
        return none;
    const struct pm_run_file_noun *callee = pm_run_file_noun(file, node->noun), *function, *loop;
    find_caller(file, thread, node->parent, &function, &loop);
    if (!function || function->object == PM_RUN_FILE_NO_OBJECT)
        return none;
    struct collect_binary *binary = names->binaries[function->object];
    pm_id symbol = binary && !is_word ? called_symbol(callee, function, loop, names, &is_call) : 0;
    return binary && is_call ? (struct call){binary, function->id, loop ? loop->id : 0, symbol}
                             : none;
}

/* Down from a loop's or function's context to what a loop of the same code lies in. */
static enum pm_status step_to_loop(struct collector *c, const struct pm_run_file *file,
                                   const struct pm_run_file_thread *thread, size_t at,
                                   const struct collect_names *names, unsigned flags,
                                   uint32_t *context)
{
    const struct pm_run_file_node *node = &thread->nodes[at];
    const struct pm_run_file_noun *noun = pm_run_file_noun(file, node->noun), *function, *loop;
    if (noun->kind != PM_SLED_LOOP_ENTER || noun->object == PM_RUN_FILE_NO_OBJECT ||
        !names->binaries[noun->object])
        return PM_OK;
    find_caller(file, thread, node->parent, &function, &loop);
    bool is_here = loop && loop->object == noun->object;
    return collect_loop_path(c, names->binaries[noun->object], is_here ? loop->id : 0, noun->id,
                             flags, context);
}

/* Down from a function's context to what its call of another one, or a loop, or one that says a
 * word, lies in. */
static enum pm_status step_down(struct collector *c, const struct pm_run_file *file,
                                const struct pm_run_file_thread *thread, size_t at,
                                const struct collect_names *names, const struct collect_node *nodes,
                                unsigned flags, uint32_t *context)
{
    struct call call = find_call(file, thread, at, names);
    if (is_word_within(file, &thread->nodes[at], names)) {
        const struct collect_where where = {.file = file,
                                            .thread = thread,
                                            .node = (uint32_t)at,
                                            .context = {*context, flags != 0},
                                            .names = names};
        bool is_known;
        enum pm_status status = collect_said_context(c, &where, nodes, &is_known, context);
        if (status != PM_OK || is_known)
            return status;
    }
    if (call.binary) {
        enum pm_status status = collect_call_path(c, call.binary, call.function, call.loop,
                                                  call.callee, flags, context);
        if (status != PM_OK)
            return status;
    }
    return is_code_within(file, &thread->nodes[at], names)
               ? step_to_loop(c, file, thread, at, names, flags, context)
               : PM_OK;
}

/* The context of a word, as below the calls that led there. */
static enum pm_status below_calls(struct collector *c, const struct pm_run_file *file,
                                  const struct pm_run_file_thread *thread, size_t at,
                                  const struct collect_names *names,
                                  const struct collect_node *nodes, uint32_t *context)
{
    const struct collect_where where = {.file = file,
                                        .thread = thread,
                                        .node = (uint32_t)at,
                                        .context = {*context, false},
                                        .names = names};
    return collect_frames_context(c, &where, nodes, context);
}

/* Of another process of the same program, most is open. */
static bool is_all_open(const struct pm_run_file *file, const struct collect_names *names)
{
    for (size_t i = 0; i < pm_run_file_n_objects(file); i++)
        if (names->binaries[i] && collect_lacks_calls(names->binaries[i]))
            return false;
    return true;
}

enum pm_status collect_locate_calls(struct collector *c, const struct pm_run_file *file,
                                    const struct collect_names *names)
{
    enum pm_status status = collect_locate_said(c, file, names);
    size_t n = is_all_open(file, names) ? 0 : pm_run_file_n_threads(file);
    for (size_t t = 0; t < n && status == PM_OK; t++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, t);
        for (size_t i = 0; i < thread->n_nodes && status == PM_OK; i++) {
            struct call call = find_call(file, thread, i, names);
            if (call.binary)
                status = collect_need_calls(c, call.binary);
        }
    }
    return status;
}

/* What a node becomes, below that of the node above. */
static enum pm_status add_context(struct collector *c, const struct pm_run_file *file,
                                  const struct pm_run_file_thread *thread, size_t at,
                                  const struct collect_names *names,
                                  const struct collect_node *nodes, unsigned foreign,
                                  uint32_t *context)
{
    const struct pm_run_file_node *node = &thread->nodes[at];
    bool is_root = node->parent == PM_RUN_FILE_NO_PARENT;
    unsigned begun = node->flags & PM_RUN_NODE_BEGUN ? CONTEXT_AMBIENT : 0;
    unsigned flags = foreign | begun | (node->flags & PM_RUN_NODE_FOLDED);
    uint32_t cause = is_root ? 0 : names->causes[node->noun], code;
    enum pm_status status = step_down(c, file, thread, at, names, nodes, foreign, context);
    if (status != PM_OK)
        return status;
    if (is_word_within(file, node, names))
        status = below_calls(c, file, thread, at, names, nodes, context);
    if (status != PM_OK)
        return status;
    if (node->is_set && !cause)
        return collect_ambient_context(c, file, node->noun, names, foreign, context);
    if (!cause)
        return collect_context(c, *context, is_root ? names->root : names->sentences[node->noun],
                               flags, context);
    status = code_around(c, file, thread, at, names, &code);
    return status != PM_OK ? status
                           : collect_cause_context(c, *context, cause, code, flags, context);
}

static enum pm_status add_own_time(struct collector *c, const struct pm_run_file *file,
                                   const struct pm_run_file_thread *thread, size_t at, uint32_t row,
                                   const struct collect_names *names, struct collect_node node)
{
    uint64_t own_ns = thread->nodes[at].own_ns;
    if (own_ns == 0)
        return PM_OK;
    enum pm_status status =
        collect_own_context(c, file, thread, at, names, collect_stack_flag(node), &node.row);
    return status != PM_OK ? status : collect_cost(c, node.row, row, METRIC_WALL_NS, own_ns);
}

static enum pm_status add_node(struct collector *c, const struct pm_run_file *file,
                               const struct pm_run_file_thread *thread, size_t at, uint32_t row,
                               const struct collect_names *names, struct collect_node *nodes)
{
    const struct pm_run_file_node *node = &thread->nodes[at];
    bool is_root = node->parent == PM_RUN_FILE_NO_PARENT;
    /* Below a root on a foreign stack all is on it. */
    struct collect_node above = {0, (node->flags & PM_RUN_NODE_FOREIGN_STACK) != 0};
    if (!is_root)
        above = nodes[node->parent];
    uint32_t context = above.row;
    enum pm_status status =
        add_context(c, file, thread, at, names, nodes, collect_stack_flag(above), &context);
    if (status != PM_OK)
        return status;
    bool is_call = !is_root && !node->is_set && !names->causes[node->noun];
    if (is_call && node->flags & PM_RUN_NODE_JUMPED)
        status = collect_write_attribute(c, names->nouns[node->noun], "jumps", "yes");
    if (status != PM_OK)
        return status;
    nodes[at] = (struct collect_node){context, above.is_foreign};
    status = collect_cost(c, context, row, METRIC_N_CALLS, is_call ? node->n_calls : 0);
    return status != PM_OK ? status : add_own_time(c, file, thread, at, row, names, nodes[at]);
}

static enum pm_status add_tree(struct collector *c, const struct pm_run_file *file,
                               const struct pm_run_file_thread *thread, uint32_t row,
                               const struct collect_names *names, struct collect_node *nodes)
{
    for (size_t i = 0; i < thread->n_nodes; i++) {
        enum pm_status status = add_node(c, file, thread, i, row, names, nodes);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* Whether contexts may stand beside counters; where there are counters only, none needs a mark. */
static bool has_trees(const struct pm_run_file *file)
{
    if (pm_run_file_mode(file) != PM_RUN_MODE_COUNT)
        return true;
    for (size_t i = 0; i < pm_run_file_n_threads(file); i++)
        if (pm_run_file_thread(file, i)->n_nodes > 1)
            return true;
    return false;
}

/* Counters have no path: they stand directly below the thread's root, beside contexts as such. */
static enum pm_status add_counter(struct collector *c, uint32_t root, uint32_t sentence,
                                  unsigned flags, uint32_t thread, uint64_t n_calls)
{
    uint32_t context;
    if (n_calls == 0)
        return PM_OK;
    enum pm_status status = collect_context(c, root, sentence, flags, &context);
    if (status != PM_OK)
        return status;
    return collect_cost(c, context, thread, METRIC_N_CALLS, n_calls);
}

/* Of one counter: calls of their own, and those that continue others. */
static enum pm_status split_counter(struct collector *c, uint32_t root, uint32_t sentence,
                                    unsigned flags, uint32_t thread, uint64_t n, uint64_t continued)
{
    enum pm_status status = add_counter(c, root, sentence, flags, thread, n - continued);
    if (status != PM_OK)
        return status;
    return add_counter(c, root, sentence, flags | CONTEXT_CONTINUED, thread, continued);
}

static enum pm_status add_counters(struct collector *c, const struct pm_run_file *file,
                                   uint32_t first_thread, const struct collect_names *names,
                                   const struct collect_bodies *bodies)
{
    uint32_t root = 0;
    unsigned flags = has_trees(file) ? CONTEXT_COUNTED : 0;
    enum pm_status status = PM_OK;
    if (pm_run_file_n_counts(file))
        status = collect_context(c, 0, names->root, 0, &root);
    for (size_t i = 0; i < pm_run_file_n_counts(file) && status == PM_OK; i++) {
        const struct pm_run_file_counts *counts = pm_run_file_counts(file, i);
        uint32_t first_noun = pm_run_file_object(file, counts->object)->first_noun;
        for (size_t k = 0; k < counts->n_counts && status == PM_OK; k++) {
            uint32_t noun = first_noun + (uint32_t)k;
            if (counts->counts[k] != 0)
                status = split_counter(c, root, names->sentences[noun], flags,
                                       first_thread + counts->thread, counts->counts[k],
                                       collect_bodies_continued(bodies, counts->thread, noun));
        }
    }
    return status;
}

static enum pm_status add_counts(struct collector *c, const struct pm_run_file *file,
                                 uint32_t first_thread, const struct collect_names *names)
{
    struct collect_bodies bodies = {0};
    enum pm_status status = collect_bodies_find(c, file, names, &bodies);
    if (status != PM_OK)
        return status;
    status = add_counters(c, file, first_thread, names, &bodies);
    collect_bodies_release(&bodies);
    return status;
}

uint32_t collect_unfolded(const struct pm_run_file_thread *thread, uint32_t node)
{
    const struct pm_run_file_node *nodes = thread->nodes;
    while (nodes[node].flags & PM_RUN_NODE_FOLDED && nodes[node].parent != PM_RUN_FILE_NO_PARENT)
        node = nodes[node].parent;
    return node;
}

/* What the thread allocated. */
static enum pm_status add_heap(struct collector *c, const struct pm_run_file *file, size_t thread,
                               uint32_t row, const struct collect_names *names,
                               const struct collect_node *contexts)
{
    struct collect_where where = {.file = file,
                                  .thread = pm_run_file_thread(file, thread),
                                  .thread_row = row,
                                  .names = names};
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < pm_run_file_n_heap_sites(file) && status == PM_OK; i++) {
        const struct pm_run_file_heap_site *site = pm_run_file_heap_site(file, i);
        if (site->thread != thread || !where.thread->n_nodes)
            continue;
        where.node = collect_unfolded(where.thread, site->node);
        where.context = contexts[where.node];
        status = collect_heap_site(c, names->heap_codes[i], site, &where, &names->heaps[i]);
    }
    return status;
}

/* Contexts that causes, and calls that others take part in, name by their places. */
static enum pm_status add_places(struct collector *c, const struct pm_run_file *file,
                                 const struct pm_run_file_thread *thread, uint32_t row,
                                 const struct collect_names *names,
                                 const struct collect_node *nodes)
{
    enum pm_status status = collect_cause_places(c, file, thread, nodes);
    return status != PM_OK ? status : collect_meetings_add(c, file, thread, row, names, nodes);
}

enum pm_status collect_costs_add(struct collector *c, const struct pm_run_file *file,
                                 uint32_t first_thread, const struct collect_names *names)
{
    enum pm_status status = collect_routes_begin(c, file, names);
    if (status != PM_OK)
        return status;
    status = collect_members(c, file, names);
    if (status != PM_OK)
        return status;
    status = collect_meetings_begin(c, file);
    enum pm_run_mode mode = pm_run_file_mode(file);
    const struct collect_located *located = names->located;
    c->costs->has_all_calls |= mode >= PM_RUN_MODE_EXACT || mode == PM_RUN_MODE_COUNT;
    for (size_t i = 0; i < pm_run_file_n_threads(file) && status == PM_OK; i++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
        uint32_t row = first_thread + (uint32_t)i;
        struct collect_node *nodes = pm_alloc_array(thread->n_nodes, sizeof *nodes);
        if (!nodes)
            return collect_no_memory(c);
        status = add_tree(c, file, thread, row, names, nodes);
        if (status == PM_OK)
            status = collect_samples(c, file, thread, row, names, located, nodes);
        located += thread->n_samples;
        if (status == PM_OK)
            status = add_heap(c, file, i, row, names, nodes);
        if (status == PM_OK)
            status = add_places(c, file, thread, row, names, nodes);
        free(nodes);
    }
    if (status == PM_OK)
        status = add_counts(c, file, first_thread, names);
    if (status == PM_OK && c->costs->n >= FLUSH_COSTS)
        status = collect_write_costs(c);
    return status;
}

enum pm_status collect_costs_add_time(struct collector *c, uint32_t thread, uint32_t root_sentence,
                                      uint64_t wall_ns)
{
    uint32_t root;
    enum pm_status status = collect_context(c, 0, root_sentence, 0, &root);
    return status == PM_OK ? collect_cost(c, root, thread, METRIC_WALL_NS, wall_ns) : status;
}

enum pm_status collect_costs_add_whole(struct collector *c, const struct pm_run_file *file,
                                       uint32_t thread, const struct collect_names *names)
{
    uint32_t root;
    uint64_t wall_ns = pm_run_file_process(file)->end_ns;
    enum pm_status status = collect_costs_add_time(c, thread, names->root, wall_ns);
    if (status != PM_OK)
        return status;
    status = collect_context(c, 0, names->root, 0, &root);
    if (status != PM_OK)
        return status;
    for (size_t i = 0; i < pm_run_file_n_counters(file); i++) {
        const struct pm_run_file_counter *counter = pm_run_file_counter(file, i);
        if (!counter->is_source || !names->counters[i])
            continue;
        status = collect_cost(c, root, thread, names->counters[i], counter->count);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

enum pm_status collect_costs_end(struct collector *c)
{
    enum pm_status status = collect_write_costs(c);
    return status == PM_OK ? write_metrics(c) : status;
}
