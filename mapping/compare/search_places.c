/* The axis of places: rank or program > process > thread. */
#include "search_cells.h"

#include "format/pm_id.h"

#include <stdlib.h>

struct placing {
    struct search_cells *cells;
    struct search_axis *axis;
    int side;
    const struct pm_archive_data *data;
    const char *program;   /* pm_view_program_of */
    struct pm_map numbers; /* of several with one name below one node: how many up to now */
    uint32_t *top_of;      /* per process, 1 + node; 0: not yet */
    uint32_t *process_of;
    bool failed;
};

/* The program itself may have another name in another build. */
static const char *program_key(const struct placing *p, const struct pm_process *process)
{
    return *p->program && !strcmp(process->exe, p->program) ? "" : pm_view_base_name(process->exe);
}

static uint64_t key_of(const char *kind, uint32_t parent, const char *name, uint32_t number)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, kind);
    pm_id_hash_number(&hash, parent);
    pm_id_hash_string(&hash, name);
    pm_id_hash_number(&hash, number);
    return pm_id_hash_done(&hash);
}

/* 1 for the first of that name below the node, 2 for the next. */
static uint32_t next_number(struct placing *p, const char *kind, uint32_t parent, const char *name)
{
    uint32_t *n = pm_map_at(&p->numbers, key_of(kind, parent, name, 0));
    p->failed |= !n;
    return n ? ++*n : 1;
}

static void name_node(struct placing *p, uint32_t node, const char *what, uint32_t number)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    if (p->failed || p->axis->nodes[node].places[p->side])
        return;
    pm_buf_add_printable(&text, what, strlen(what));
    if (number > 1)
        pm_buf_printf(&text, " #%u", number);
    const char *kept = text.failed ? NULL : pm_arena_strndup(&p->cells->arena, text.data, text.len);
    pm_buf_release(&text);
    p->failed |= !kept;
    p->axis->nodes[node].what = kept;
    p->axis->nodes[node].places[p->side] = "";
}

static uint32_t node_at(struct placing *p, uint64_t key, uint32_t parent)
{
    uint32_t node = search_node_at(p->axis, key, parent);
    p->failed |= node == PM_NONE;
    return node;
}

static uint32_t top_node(struct placing *p, uint32_t process)
{
    const struct pm_process *of = &p->data->processes[process];
    char rank[40] = "";
    if (p->top_of[process])
        return p->top_of[process] - 1;
    bool has_rank = of->rank != PM_UNKNOWN;
    if (has_rank)
        snprintf(rank, sizeof rank, "rank %lld", (long long)of->rank);
    const char *name = has_rank ? rank : program_key(p, of);
    uint32_t node = node_at(p, key_of(has_rank ? "rank" : "program", PM_NONE, name, 0), PM_NONE);
    name_node(p, node, has_rank ? rank : pm_view_base_name(of->exe), 1);
    p->top_of[process] = node + 1;
    return node;
}

static uint32_t process_node(struct placing *p, uint32_t process)
{
    const struct pm_process *of = &p->data->processes[process];
    if (p->process_of[process])
        return p->process_of[process] - 1;
    uint32_t top = top_node(p, process);
    const char *name = program_key(p, of);
    uint32_t number = next_number(p, "process", top, name);
    uint32_t node = node_at(p, key_of("process", top, name, number), top);
    name_node(p, node, pm_view_base_name(of->exe), number);
    p->process_of[process] = node + 1;
    return node;
}

/* Below its process, or, where threads are compared, at the top. */
static uint32_t thread_node(struct placing *p, uint32_t thread, bool at_top)
{
    const struct pm_thread *of = &p->data->threads[thread];
    bool is_main = of->tid == p->data->processes[of->process].pid;
    uint32_t process = process_node(p, of->process);
    const char *name = is_main ? "main" : of->name;
    uint32_t number = next_number(p, "thread", process, name);
    char text[200];
    if (is_main)
        snprintf(text, sizeof text, "thread main");
    else
        snprintf(text, sizeof text, "thread %.150s #%u", *name ? name : "?", number);
    uint64_t key = key_of("thread", process, name, number);
    uint32_t node = node_at(p, key, at_top ? (uint32_t)PM_NONE : process);
    name_node(p, node, text, 1);
    return node;
}

static void make_runner(struct placing *p, uint32_t node)
{
    if (!p->failed && p->axis->nodes[node].runner == PM_NONE)
        p->axis->nodes[node].runner = p->cells->n_runners++;
}

static uint32_t place_thread(struct placing *p, uint32_t thread)
{
    enum pm_runner over = p->cells->options->over;
    uint32_t process = p->data->threads[thread].process, node;
    if (over == PM_RUNNER_NONE)
        return thread_node(p, thread, false);
    if (over == PM_RUNNER_RANK && p->data->processes[process].rank == PM_UNKNOWN)
        return top_node(p, process);
    node = over == PM_RUNNER_RANK ? top_node(p, process) : thread_node(p, thread, true);
    make_runner(p, node);
    return node;
}

bool search_places_find(struct search_cells *cells, int side, const struct pm_archive_data *data,
                        uint32_t *ret_node_of)
{
    struct placing p = {.cells = cells,
                        .axis = &cells->axes[PM_SEARCH_PLACE],
                        .side = side,
                        .data = data,
                        .program = pm_view_program_of(data),
                        .top_of = pm_alloc_array((size_t)data->n_processes + 1, sizeof(uint32_t)),
                        .process_of =
                            pm_alloc_array((size_t)data->n_processes + 1, sizeof(uint32_t))};
    p.failed = !p.top_of || !p.process_of;
    for (uint32_t t = 0; t < data->n_threads && !p.failed; t++)
        ret_node_of[t] = place_thread(&p, t);
    pm_map_release(&p.numbers);
    free(p.top_of);
    free(p.process_of);
    return !p.failed;
}
