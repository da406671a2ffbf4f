#include "loops.h"

#include "../base/str.h"

#include <stdlib.h>
#include <string.h>

enum { NO_BLOCK = 0xffffffff, MAX_EDGES = 1 << 22, MAX_VISITS = 1 << 27, MAX_PASSES = 64 };

/* Blocks of instructions, and the ways between them: lists of neighbours behind each other. */
struct flow {
    uint32_t n;                  /* blocks */
    uint32_t *first;             /* [n + 1]: instructions */
    uint32_t *block_of;          /* by instruction */
    struct pm_loops_jump *edges; /* between blocks */
    uint32_t n_edges, edges_cap;
    uint32_t *out_first, *out, *in_first, *in;
    uint32_t *order,
        *number; /* reverse postorder, and each block's place in it; NO_BLOCK: not reached */
    uint32_t n_reached;
    uint32_t *dominator;    /* immediate; by block */
    uint32_t *seen, *queue; /* of the loop that is being made: its number + 1 */
};

static bool make_blocks(struct flow *flow, uint32_t n, const unsigned char *ends,
                        const struct pm_loops_jump *jumps, uint32_t n_jumps)
{
    bool *leads = pm_alloc_array((size_t)n + 1, sizeof *leads);
    flow->block_of = pm_alloc_array(n, sizeof *flow->block_of);
    if (!leads || !flow->block_of) {
        free(leads);
        return false;
    }
    leads[0] = true;
    for (uint32_t i = 0; i < n_jumps; i++)
        leads[jumps[i].to] = leads[jumps[i].from + 1] = true;
    for (uint32_t i = 0; i < n; i++) {
        leads[i + 1] |= ends[i] != PM_LOOPS_GOES_ON;
        flow->n += leads[i];
        flow->block_of[i] = flow->n - 1;
    }
    flow->first = pm_alloc_array((size_t)flow->n + 1, sizeof *flow->first);
    for (uint32_t i = n; flow->first && i-- > 0;)
        flow->first[flow->block_of[i]] = i;
    if (flow->first)
        flow->first[flow->n] = n;
    free(leads);
    return flow->first != NULL;
}

static bool add_edge(struct flow *flow, uint32_t from, uint32_t to)
{
    if (flow->n_edges == MAX_EDGES)
        return false;
    struct pm_loops_jump *edges =
        pm_grow_array(flow->edges, flow->n_edges, &flow->edges_cap, 256, sizeof *edges);
    if (!edges)
        return false;
    flow->edges = edges;
    flow->edges[flow->n_edges++] = (struct pm_loops_jump){from, to};
    return true;
}

/* What no known way leads to. */
static bool reach_orphans(struct flow *flow, const unsigned char *ends)
{
    bool *is_reached = pm_alloc_array(flow->n, sizeof *is_reached), good = is_reached != NULL;
    bool has_tables = false;
    for (uint32_t i = 0; good && i < flow->n_edges; i++)
        is_reached[flow->edges[i].to] = true;
    for (uint32_t b = 0; good && b < flow->n; b++)
        has_tables |= ends[flow->first[b + 1] - 1] == PM_LOOPS_JUMPS_ANYWHERE;
    for (uint32_t to = 1; good && to < flow->n; to++) {
        if (is_reached[to])
            continue;
        if (!has_tables)
            good = add_edge(flow, 0, to);
        for (uint32_t b = 0; good && has_tables && b < flow->n; b++)
            if (ends[flow->first[b + 1] - 1] == PM_LOOPS_JUMPS_ANYWHERE)
                good = add_edge(flow, b, to);
    }
    free(is_reached);
    return good;
}

/* Counted, then filled in. */
static bool list_edges(const struct flow *flow, bool out, uint32_t **ret_first, uint32_t **ret_list)
{
    uint32_t *first = *ret_first = pm_alloc_array((size_t)flow->n + 2, sizeof *first);
    uint32_t *list = *ret_list = pm_alloc_array(flow->n_edges, sizeof *list);
    if (!first || !list)
        return false;
    for (uint32_t i = 0; i < flow->n_edges; i++)
        first[(out ? flow->edges[i].from : flow->edges[i].to) + 2]++;
    for (uint32_t b = 2; b < flow->n + 2; b++)
        first[b] += first[b - 1];
    for (uint32_t i = 0; i < flow->n_edges; i++) {
        uint32_t of = out ? flow->edges[i].from : flow->edges[i].to;
        list[first[of + 1]++] = out ? flow->edges[i].to : flow->edges[i].from;
    }
    return true;
}

static bool make_edges(struct flow *flow, const unsigned char *ends,
                       const struct pm_loops_jump *jumps, uint32_t n_jumps)
{
    bool good = true;
    for (uint32_t b = 0; b + 1 < flow->n && good; b++)
        if (ends[flow->first[b + 1] - 1] == PM_LOOPS_GOES_ON)
            good = add_edge(flow, b, b + 1);
    for (uint32_t i = 0; i < n_jumps && good; i++)
        good = add_edge(flow, flow->block_of[jumps[i].from], flow->block_of[jumps[i].to]);
    return good && reach_orphans(flow, ends) &&
           list_edges(flow, true, &flow->out_first, &flow->out) &&
           list_edges(flow, false, &flow->in_first, &flow->in);
}

/* Depth first from block 0, without recursion: a block's place on the stack, and how many of its
 * neighbours have been looked at. */
static bool make_order(struct flow *flow)
{
    uint32_t *next = pm_alloc_array(flow->n, sizeof *next), n_done = 0, depth = 1;
    uint32_t *stack = pm_alloc_array(flow->n, sizeof *stack);
    flow->order = pm_alloc_array(flow->n, sizeof *flow->order);
    flow->number = pm_alloc_array(flow->n, sizeof *flow->number);
    bool good = next && stack && flow->order && flow->number;
    for (uint32_t b = 0; good && b < flow->n; b++) {
        flow->number[b] = NO_BLOCK;
        next[b] = flow->out_first[b];
    }
    if (good) {
        stack[0] = 0;
        flow->number[0] = 0;
    }
    while (good && depth) {
        uint32_t b = stack[depth - 1];
        if (next[b] == flow->out_first[b + 1]) {
            flow->order[n_done++] = b;
            depth--;
            continue;
        }
        uint32_t to = flow->out[next[b]++];
        if (flow->number[to] == NO_BLOCK) {
            flow->number[to] = 0;
            stack[depth++] = to;
        }
    }
    for (uint32_t i = 0; good && i < n_done / 2; i++) {
        uint32_t other = flow->order[i];
        flow->order[i] = flow->order[n_done - 1 - i];
        flow->order[n_done - 1 - i] = other;
    }
    for (uint32_t i = 0; good && i < n_done; i++)
        flow->number[flow->order[i]] = i;
    flow->n_reached = n_done;
    free(next);
    free(stack);
    return good;
}

static uint32_t common_dominator(const struct flow *flow, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (flow->number[a] > flow->number[b])
            a = flow->dominator[a];
        while (flow->number[b] > flow->number[a])
            b = flow->dominator[b];
    }
    return a;
}

static bool find_dominators(struct flow *flow)
{
    flow->dominator = pm_alloc_array(flow->n, sizeof *flow->dominator);
    if (!flow->dominator)
        return false;
    for (uint32_t b = 1; b < flow->n; b++)
        flow->dominator[b] = NO_BLOCK;
    bool changed = true;
    for (unsigned pass = 0; changed && pass < MAX_PASSES; pass++) {
        changed = false;
        for (uint32_t i = 1; i < flow->n_reached; i++) {
            uint32_t b = flow->order[i], dominator = NO_BLOCK;
            for (uint32_t e = flow->in_first[b]; e < flow->in_first[b + 1]; e++) {
                uint32_t from = flow->in[e];
                if (flow->number[from] == NO_BLOCK || flow->dominator[from] == NO_BLOCK)
                    continue;
                dominator = dominator == NO_BLOCK ? from : common_dominator(flow, from, dominator);
            }
            changed |= flow->dominator[b] != dominator;
            flow->dominator[b] = dominator;
        }
    }
    return !changed;
}

static bool dominates(const struct flow *flow, uint32_t outer, uint32_t b)
{
    while (flow->number[b] > flow->number[outer])
        b = flow->dominator[b];
    return b == outer;
}

/* --- loops --- */

/* The blocks of a loop into flow->queue: all that reach its jumps back without its head. Their
 * number; 0: it is none. */
static uint32_t body_of(struct flow *flow, uint32_t head, uint32_t stamp, uint32_t *ret_last)
{
    uint32_t n = 0;
    for (uint32_t e = flow->in_first[head]; e < flow->in_first[head + 1]; e++) {
        uint32_t from = flow->in[e];
        if (flow->number[from] == NO_BLOCK || !dominates(flow, head, from))
            continue;
        if (n == 0) {
            flow->queue[n++] = head;
            flow->seen[head] = stamp;
            *ret_last = 0;
        }
        uint32_t last = flow->first[from + 1] - 1;
        *ret_last = last > *ret_last ? last : *ret_last;
        if (flow->seen[from] != stamp) {
            flow->seen[from] = stamp;
            flow->queue[n++] = from;
        }
    }
    for (uint32_t at = 1; at < n; at++)
        for (uint32_t e = flow->in_first[flow->queue[at]]; e < flow->in_first[flow->queue[at] + 1];
             e++) {
            uint32_t from = flow->in[e];
            if (flow->number[from] == NO_BLOCK || flow->seen[from] == stamp)
                continue;
            flow->seen[from] = stamp;
            flow->queue[n++] = from;
        }
    return n;
}

static int larger_first(const void *a_pointer, const void *b_pointer)
{
    const struct pm_loop *a = a_pointer, *b = b_pointer;
    return a->n_blocks != b->n_blocks ? (a->n_blocks < b->n_blocks) - (a->n_blocks > b->n_blocks)
                                      : (a->head > b->head) - (a->head < b->head);
}

/* Heads of loops, the largest loop first. */
static bool find_heads(struct flow *flow, struct pm_loops *loops)
{
    uint32_t cap = 0, last;
    uint64_t n_visits = 0;
    for (uint32_t i = 0; i < flow->n_reached; i++) {
        uint32_t n_blocks = body_of(flow, flow->order[i], i + 1, &last);
        n_visits += n_blocks;
        if (n_visits > MAX_VISITS)
            return false;
        if (!n_blocks)
            continue;
        struct pm_loop *grown = pm_grow_array(loops->loops, loops->n, &cap, 16, sizeof *grown);
        if (!grown)
            return false;
        loops->loops = grown;
        loops->loops[loops->n++] = (struct pm_loop){flow->first[flow->order[i]], last, 0, n_blocks};
    }
    if (loops->n)
        qsort(loops->loops, loops->n, sizeof *loops->loops, larger_first);
    return true;
}

/* Smaller ones last, so that the innermost one stays. */
static bool place_loops(struct flow *flow, uint32_t n, struct pm_loops *loops)
{
    uint32_t *of_block = pm_alloc_array(flow->n, sizeof *of_block), last;
    loops->innermost = pm_alloc_array(n, sizeof *loops->innermost);
    if (!of_block || !loops->innermost) {
        free(of_block);
        return false;
    }
    memset(flow->seen, 0, flow->n * sizeof *flow->seen);
    for (uint32_t k = 0; k < loops->n; k++) {
        uint32_t head = flow->block_of[loops->loops[k].head];
        uint32_t n_blocks = body_of(flow, head, k + 1, &last);
        loops->loops[k].parent = of_block[head];
        for (uint32_t i = 0; i < n_blocks; i++)
            of_block[flow->queue[i]] = k + 1;
    }
    for (uint32_t i = 0; i < n; i++)
        loops->innermost[i] = of_block[flow->block_of[i]];
    free(of_block);
    return true;
}

static void release_flow(struct flow *flow)
{
    void *arrays[] = {flow->first,  flow->block_of,  flow->edges, flow->out_first,
                      flow->out,    flow->in_first,  flow->in,    flow->order,
                      flow->number, flow->dominator, flow->seen,  flow->queue};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

bool pm_loops_find(uint32_t n, const unsigned char *ends, const struct pm_loops_jump *jumps,
                   uint32_t n_jumps, struct pm_loops *ret_loops)
{
    struct flow flow = {0};
    struct pm_loops loops = {0};
    bool goes_back = false;
    *ret_loops = loops;
    for (uint32_t i = 0; i < n_jumps; i++)
        goes_back |= jumps[i].to <= jumps[i].from;
    if (!goes_back)
        return true;
    bool good = make_blocks(&flow, n, ends, jumps, n_jumps);
    flow.seen = good ? pm_alloc_array(flow.n, sizeof *flow.seen) : NULL;
    flow.queue = good ? pm_alloc_array(flow.n, sizeof *flow.queue) : NULL;
    good = good && flow.seen && flow.queue && make_edges(&flow, ends, jumps, n_jumps) &&
           make_order(&flow) && find_dominators(&flow) && find_heads(&flow, &loops) &&
           (loops.n == 0 || place_loops(&flow, n, &loops));
    release_flow(&flow);
    if (good)
        *ret_loops = loops;
    else
        pm_loops_release(&loops);
    return good;
}

void pm_loops_release(struct pm_loops *loops)
{
    free(loops->loops);
    free(loops->innermost);
    *loops = (struct pm_loops){0};
}
