/* In what other ways a function may be entered below a caller's context than by the caller's own
 * calls of it: through functions that were not followed (they have no context, so it stands
 * below who called them), and through pointers, by libraries or by code without facts, when its
 * address is to be had. A call that may be such a way counts as one of the function
 * (call_paths.c).
 *
 *     F calls G within an inlined H, and qsort with G              {G, unknown}
 *     F calls G within H, and X, which is not followed and calls G {G, X}
 *
 * The address of a function is to be had where it is loaded (lea), stands in data (tables,
 * vtables, relocations, dynamic symbols) or code without facts calls it. x86-64 only, as calls
 * are.
 */
#include "routes.h"

#include "binaries.h"
#include "call_paths.h"
#include "collector.h"
#include "run_names.h"

#include "format/pm_id.h"
#include "format/pm_sled.h"
#include "mapping/base/map.h"
#include "mapping/code/blame.h"
#include "mapping/code/code_map.h"
#include "mapping/run/run_file.h"

#include <stdlib.h>

enum { NO_CALLEE = 0 }; /* a call of what is not known, in sets and lists */

/* Whom an unfollowed function calls. */
struct collect_way {
    pm_id callee, caller;
};

/* What leads to a function, itself included; NO_CALLEE: calls of what is not known do. */
struct collect_route {
    struct pm_map functions;
};

/* --- whose address is to be had --- */

struct search {
    struct collector *c;
    struct collect_binary *binary;
    struct pm_map starts; /* address of a block -> its position + 1 */
    const struct pm_code_block *blocks;
    uint64_t low, high; /* of all starts */
    bool is_fixed;
};

static bool add_hidden(struct search *s, uint64_t address)
{
    uint32_t at = address >= s->low && address < s->high ? pm_map_get(&s->starts, address) : 0;
    return !at || pm_map_put(&s->binary->routes->hidden, s->blocks[at - 1].symbol, 1);
}

static int32_t distance_at(const unsigned char *p)
{
    int32_t distance;
    memcpy(&distance, p, sizeof distance);
    return distance;
}

/* Bytes of code at an address; what is in the middle of an instruction may look like one, too. */
static bool look_at_code(struct search *s, const unsigned char *p, uint64_t left, uint64_t address)
{
    bool is_call = p[0] == 0xe8 || p[0] == 0xe9, is_lea = p[0] == 0x8d && (p[1] & 0xc7) == 0x05,
         is_branch = p[0] == 0x0f && (p[1] & 0xf0) == 0x80;
    unsigned at = is_call ? 1 : 2;
    bool ok = true;
    if ((is_call || is_branch || is_lea) && left >= at + sizeof(int32_t)) {
        uint64_t to = address + at + 4 + (uint64_t)(int64_t)distance_at(p + at);
        bool has_target = to >= s->low && to < s->high && pm_map_get(&s->starts, to);
        if (has_target && (is_lea || !pm_code_map_find(s->binary->map, address)))
            ok = add_hidden(s, to);
    }
    if (ok && s->is_fixed && left >= sizeof(int32_t))
        ok = add_hidden(s, (uint32_t)distance_at(p));
    return ok;
}

static bool look_at_segment(struct search *s, const struct pm_blame_segment *segment)
{
    bool ok = true;
    enum { WORD = sizeof(uint64_t), LEAST = 2 };
    if (segment->is_code)
        for (uint64_t i = 0; ok && i + LEAST <= segment->size_bytes; i++)
            ok = look_at_code(s, segment->bytes + i, segment->size_bytes - i, segment->address + i);
    else
        for (uint64_t i = -segment->address % WORD; ok && i + WORD <= segment->size_bytes;
             i += WORD) {
            uint64_t word;
            memcpy(&word, segment->bytes + i, sizeof word);
            ok = add_hidden(s, word);
        }
    return ok;
}

static enum pm_status find_hidden(struct collector *c, struct collect_binary *binary)
{
    struct search s = {.c = c, .binary = binary, .low = UINT64_MAX};
    size_t n;
    bool ok = true;
    s.blocks = pm_code_map_blocks(binary->map, &n);
    s.is_fixed = pm_blame_is_fixed(binary->blame);
    for (size_t i = 0; ok && i < n; i++) {
        if (s.blocks[i].is_cold)
            continue;
        ok = pm_map_put(&s.starts, s.blocks[i].address, (uint32_t)i + 1);
        s.low = s.blocks[i].address < s.low ? s.blocks[i].address : s.low;
        s.high = s.blocks[i].address >= s.high ? s.blocks[i].address + 1 : s.high;
    }
    struct pm_blame_segment segment;
    for (size_t i = 0; ok && pm_blame_segment(binary->blame, i, &segment); i++)
        ok = look_at_segment(&s, &segment);
    pm_map_release(&s.starts);
    return ok ? PM_OK : collect_no_memory(c);
}

/* --- who is followed --- */

static void forget(struct collect_binary *binary)
{
    for (uint32_t i = 0; i < binary->routes->n; i++)
        pm_map_release(&binary->routes->list[i].functions);
    binary->routes->n = 0;
    binary->routes->n_ways = 0;
    binary->routes->has_ways = false;
    pm_map_release(&binary->routes->by_callee);
    pm_map_release(&binary->calls->by_call); /* what they are made from has changed */
}

static bool has_contexts(enum pm_run_mode mode)
{
    return mode >= PM_RUN_MODE_ACTIVE;
}

/* The sum of a set is the same in any order. */
static uint64_t part_of_sum(pm_id id)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "followed");
    pm_id_hash_id(&hash, id);
    return pm_id_hash_done(&hash);
}

enum pm_status collect_routes_begin(struct collector *c, const struct pm_run_file *file,
                                    const struct collect_names *names)
{
    size_t n = pm_run_file_n_nouns(file);
    bool *is_left = pm_alloc_array(n + 1, sizeof *is_left), ok = is_left != NULL;
    for (size_t i = 0; ok && i < pm_run_file_n_adapted(file); i++) {
        const struct pm_run_file_adapted *adapted = pm_run_file_adapted(file, i);
        is_left[adapted->noun] |= !has_contexts(adapted->mode);
    }
    for (struct collect_binary *binary = c->binaries->first; ok && binary; binary = binary->next)
        binary->routes->next_followed_sum = 1;
    for (int turn = 0; ok && turn < 2; turn++) {
        for (size_t i = 0; ok && i < n; i++) {
            const struct pm_run_file_noun *noun = pm_run_file_noun(file, i);
            struct collect_binary *binary =
                noun->object == PM_RUN_FILE_NO_OBJECT ? NULL : names->binaries[noun->object];
            if (!binary || noun->kind == PM_SLED_LOOP_ENTER)
                continue;
            bool is_followed = !is_left[i] && has_contexts(noun->mode);
            if (turn == 0) {
                binary->routes->next_followed_sum += is_followed ? part_of_sum(noun->id) : 0;
                ok = pm_map_put(is_followed ? &binary->routes->ever_followed
                                            : &binary->routes->ever_left,
                                noun->id, 1);
            } else if (is_followed &&
                       binary->routes->next_followed_sum != binary->routes->followed_sum)
                ok = pm_map_put(&binary->routes->followed, noun->id, 1);
        }
        for (struct collect_binary *binary = c->binaries->first; binary; binary = binary->next)
            if (turn == 0 && binary->routes->next_followed_sum != binary->routes->followed_sum) {
                pm_map_release(&binary->routes->followed);
                forget(binary);
            } else if (turn == 1)
                binary->routes->followed_sum = binary->routes->next_followed_sum;
    }
    free(is_left);
    return ok ? PM_OK : collect_no_memory(c);
}

enum pm_status collect_routes_join(struct collector *c)
{
    bool ok = true;
    for (struct collect_binary *binary = c->binaries->first; ok && binary; binary = binary->next) {
        pm_map_release(&binary->routes->followed);
        forget(binary);
        for (size_t i = 0; ok && i < binary->routes->ever_followed.size; i++) {
            const struct pm_map_slot *slot = &binary->routes->ever_followed.slots[i];
            if (slot->row && !pm_map_get(&binary->routes->ever_left, slot->key))
                ok = pm_map_put(&binary->routes->followed, slot->key, 1);
        }
    }
    return ok ? PM_OK : collect_no_memory(c);
}

/* --- what leads to a function --- */

static int compare_ways(const void *a, const void *b)
{
    const struct collect_way *x = a, *y = b;
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    return x->caller < y->caller ? -1 : x->caller > y->caller;
}

static enum pm_status find_ways(struct collector *c, struct collect_binary *binary,
                                const struct collect_call *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool is_repeated = i > 0 && calls[i].caller == calls[i - 1].caller &&
                           calls[i].callee == calls[i - 1].callee;
        if (is_repeated || pm_map_get(&binary->routes->followed, calls[i].caller))
            continue;
        struct collect_way *ways = pm_grow_array(binary->routes->ways, binary->routes->n_ways,
                                                 &binary->routes->ways_cap, 256, sizeof *ways);
        if (!ways)
            return collect_no_memory(c);
        binary->routes->ways = ways;
        ways[binary->routes->n_ways++] = (struct collect_way){calls[i].callee, calls[i].caller};
    }
    if (binary->routes->n_ways)
        qsort(binary->routes->ways, binary->routes->n_ways, sizeof *binary->routes->ways,
              compare_ways);
    binary->routes->has_ways = true;
    return PM_OK;
}

static bool is_before(const void *way, const void *key)
{
    return ((const struct collect_way *)way)->callee < ((const struct collect_way *)key)->callee;
}

struct queue {
    pm_id *items;
    uint32_t n, cap;
};

static bool add_function(struct collect_route *route, struct queue *queue, pm_id function)
{
    if (pm_map_get(&route->functions, function))
        return true;
    pm_id *items = pm_grow_array(queue->items, queue->n, &queue->cap, 64, sizeof *items);
    if (!items || !pm_map_put(&route->functions, function, 1))
        return false;
    queue->items = items;
    items[queue->n++] = function;
    return true;
}

static bool find_route(const struct collect_binary *binary, pm_id callee,
                       struct collect_route *route)
{
    struct queue queue = {0};
    bool ok = add_function(route, &queue, callee);
    for (uint32_t at = 0; ok && at < queue.n; at++) {
        const struct collect_way key = {.callee = queue.items[at]};
        size_t i = pm_lower_bound(binary->routes->ways, binary->routes->n_ways, sizeof key, &key,
                                  is_before);
        for (; ok && i < binary->routes->n_ways && binary->routes->ways[i].callee == key.callee;
             i++)
            ok = add_function(route, &queue, binary->routes->ways[i].caller);
        if (ok && key.callee != NO_CALLEE && pm_map_get(&binary->routes->hidden, key.callee))
            ok = add_function(route, &queue, NO_CALLEE);
    }
    free(queue.items);
    return ok;
}

enum pm_status collect_route(struct collector *c, struct collect_binary *binary, pm_id callee,
                             const struct collect_route **ret_route)
{
    const struct collect_call *calls;
    size_t n;
    enum pm_status status = collect_list_calls(c, binary, &calls, &n);
    if (status == PM_OK && !binary->routes->has_hidden && binary->blame) {
        status = find_hidden(c, binary);
        binary->routes->has_hidden = true;
    }
    if (status == PM_OK && !binary->routes->has_ways)
        status = find_ways(c, binary, calls, n);
    uint32_t at = status == PM_OK ? pm_map_get(&binary->routes->by_callee, callee) : 0;
    if (status == PM_OK && !at) {
        struct collect_route *list = pm_grow_array(binary->routes->list, binary->routes->n,
                                                   &binary->routes->cap, 64, sizeof *list);
        if (!list)
            return collect_no_memory(c);
        binary->routes->list = list;
        at = ++binary->routes->n;
        list[at - 1] = (struct collect_route){{0}};
        if (!find_route(binary, callee, &list[at - 1]) ||
            !pm_map_put(&binary->routes->by_callee, callee, at))
            return collect_no_memory(c);
    }
    if (status == PM_OK)
        *ret_route = &binary->routes->list[at - 1];
    return status;
}

bool collect_leads(const struct collect_route *route, pm_id callee)
{
    return pm_map_get(&route->functions, callee) != 0;
}

void collect_routes_release(struct collect_binary *binary)
{
    forget(binary);
    free(binary->routes->list);
    free(binary->routes->ways);
    pm_map_release(&binary->routes->followed);
    pm_map_release(&binary->routes->ever_followed);
    pm_map_release(&binary->routes->ever_left);
    pm_map_release(&binary->routes->hidden);
}
