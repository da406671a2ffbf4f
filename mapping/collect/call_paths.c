/* What lies between a function and one that it calls: functions that were inlined around the
 * call, and an inner loop without sleds. The run knows F -> G only. The machine code knows where
 * F calls G: where all of these places lie in code of an inlined H, G was called by H, and
 * stands below it.
 *
 *     calls of G in F's code lie in            contexts            marked (`lacks callees`)
 *     H, inlined                               F -> H -> G
 *     H, and elsewhere in F                    F -> G              H
 *     loop L of H, and elsewhere in H          F -> H -> G         L, and loops around it
 *     nowhere: G is called through a pointer,  F -> G              functions and loops of F
 *     by a library, by the kernel                                  that call what is not known
 *
 * A call of what may lead to G without a context of its own is a call of G (routes.c).
 *
 * A call is found by its instruction (call or jmp with a distance that leads to the beginning of
 * a symbol), on x86-64 only. Where the active loop of F is known, calls in F's other loops do
 * not count.
 */
#include "call_paths.h"

#include "binaries.h"
#include "code.h"
#include "collector.h"
#include "contexts.h"
#include "costs.h"
#include "model.h"
#include "places.h"
#include "routes.h"

#include "format/pm_id.h"
#include "format/pm_map.h"
#include "mapping/base/arena.h"
#include "mapping/base/map.h"
#include "mapping/code/blame.h"
#include "mapping/code/code_map.h"
#include "mapping/pif/pif.h"

#include <stdlib.h>

enum { CALL_BYTES = 5, MAX_STEPS = 64, MAX_LOOPS = 64 };

/* Sentences from the function to what it calls, outermost first. */
struct collect_call_path {
    uint32_t n, sentences[];
};

static int compare_calls(const void *a, const void *b)
{
    const struct collect_call *x = a, *y = b;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

static int32_t distance_at(const unsigned char *p)
{
    int32_t distance;
    memcpy(&distance, p, sizeof distance);
    return distance;
}

/* Of `call *...`; the byte may be a part of something else. */
static bool looks_indirect(const unsigned char *code, uint64_t left)
{
    return left >= 2 && code[0] == 0xff && (code[1] >> 3 & 7) == 2;
}

/* Of `jmp *...`, likewise. */
static bool looks_like_jump(const unsigned char *code)
{
    return code[0] == 0xff && (code[1] >> 3 & 7) == 4;
}

/* A tail call through a pointer: other such jumps (of a switch) have no sled before them. */
static bool is_jump_out(const struct collect_binary *binary, const struct pm_code_block *block,
                        const unsigned char *code, uint64_t at)
{
    enum { MAX_PREFIXES = 2 }; /* notrack, a register from r8 on */
    if (at + 2 > block->size_bytes || !looks_like_jump(code + at))
        return false;
    for (uint64_t n = 0; n <= MAX_PREFIXES && n < at; n++) {
        const struct pm_code_range *before =
            pm_code_map_find(binary->map, block->address + at - n - 1);
        if (before && before->tuple->kind == PM_MAP_SLED)
            return true;
    }
    return false;
}

static enum pm_status add_call(struct collector *c, struct collect_binary *binary, pm_id caller,
                               pm_id callee, uint64_t address)
{
    const struct pm_code_range *range = pm_code_map_find(binary->map, address);
    struct collect_call *items = pm_grow_array(binary->calls->list, binary->calls->n,
                                               &binary->calls->cap, 256, sizeof *items);
    if (!items)
        return collect_no_memory(c);
    binary->calls->list = items;
    if (!range || range->tuple->kind == PM_MAP_SLED)
        return PM_OK;
    enum pm_status status = PM_OK;
    pm_id loop = collect_loop_of(c, binary, range, &status);
    items[binary->calls->n++] = (struct collect_call){caller, callee, range, loop, address};
    return status;
}

/* A jump to the own beginning is a loop, too. */
static bool is_within(const struct collect_binary *binary, const struct pm_code_block *block,
                      uint64_t address)
{
    const struct pm_code_range *range = address - block->address < block->size_bytes
                                            ? NULL
                                            : pm_code_map_find(binary->map, address);
    return address - block->address < block->size_bytes ||
           (range && range->block->symbol == block->symbol);
}

static enum pm_status scan_block(struct collector *c, struct collect_binary *binary,
                                 const struct pm_code_block *blocks, size_t at,
                                 const struct pm_map *targets)
{
    const struct pm_code_block *block = &blocks[at];
    const unsigned char *code = pm_blame_code(binary->blame, block->address, block->size_bytes);
    enum pm_status status = PM_OK;
    for (uint64_t i = 0; code && i < block->size_bytes && status == PM_OK; i++) {
        uint64_t address = block->address + i, left = block->size_bytes - i;
        bool is_call = code[i] == 0xe8, is_jump = code[i] == 0xe9;
        if (looks_indirect(code + i, left) || is_jump_out(binary, block, code, i))
            status = add_call(c, binary, block->symbol, 0, address);
        if ((!is_call && !is_jump) || left < CALL_BYTES)
            continue;
        uint64_t to = address + CALL_BYTES + (uint64_t)(int64_t)distance_at(code + i + 1);
        uint32_t target = pm_map_get(targets, to);
        pm_id callee = target ? blocks[target - 1].symbol : 0;
        bool stays = is_jump && is_within(binary, block, to);
        if (!stays)
            status = add_call(c, binary, block->symbol, callee, address);
    }
    return status;
}

static bool can_list(const struct collect_binary *binary)
{
    return binary->same && !binary->is_runtime && binary->map && binary->pif;
}

bool collect_lacks_calls(const struct collect_binary *binary)
{
    return can_list(binary) && !binary->blame_tried;
}

enum pm_status collect_need_calls(struct collector *c, struct collect_binary *binary)
{
    return collect_lacks_calls(binary) ? collect_need_blame(c, binary) : PM_OK;
}

static enum pm_status make_list(struct collector *c, struct collect_binary *binary)
{
    enum pm_status status = PM_OK;
    struct pm_map targets = {0};
    size_t n;
    const struct pm_code_block *blocks = pm_code_map_blocks(binary->map, &n);
    for (size_t i = 0; status == PM_OK && i < n; i++)
        if (!blocks[i].is_cold && !pm_map_put(&targets, blocks[i].address, (uint32_t)i + 1))
            status = collect_no_memory(c);
    for (size_t i = 0; status == PM_OK && i < n; i++)
        status = scan_block(c, binary, blocks, i, &targets);
    if (status == PM_OK && binary->calls->n)
        qsort(binary->calls->list, binary->calls->n, sizeof *binary->calls->list, compare_calls);
    pm_map_release(&targets);
    return status;
}

enum pm_status collect_list_calls(struct collector *c, struct collect_binary *binary,
                                  const struct collect_call **ret_calls, size_t *ret_n)
{
    bool is_missing = !binary->calls->is_listed && can_list(binary) && binary->blame;
    enum pm_status status = is_missing ? make_list(c, binary) : PM_OK;
    binary->calls->is_listed |= is_missing;
    *ret_calls = binary->calls->list;
    *ret_n = binary->calls->n;
    return status;
}

static bool is_before(const void *call, const void *key)
{
    const struct collect_call *x = call, *y = key;
    return x->caller != y->caller ? x->caller < y->caller : x->callee < y->callee;
}

static const struct collect_call *calls_of(const struct collect_binary *binary, pm_id caller,
                                           pm_id callee, size_t *ret_n)
{
    const struct collect_call key = {.caller = caller, .callee = callee};
    size_t first =
        pm_lower_bound(binary->calls->list, binary->calls->n, sizeof key, &key, is_before);
    size_t end = first;
    while (end < binary->calls->n && binary->calls->list[end].caller == caller &&
           binary->calls->list[end].callee == callee)
        end++;
    *ret_n = end - first;
    return binary->calls->list + first;
}

/* --- what lies around a call --- */

/* Inlined functions, then loops of the innermost text, each outermost first. */
struct around {
    const struct pm_code_site *sites[MAX_STEPS];
    pm_id loops[MAX_LOOPS];
    uint32_t n_sites, n_loops;
};

static pm_id loop_above(const struct collect_binary *binary, pm_id loop)
{
    struct pm_pif_noun noun, above;
    bool is_one = pm_pif_find_noun(binary->pif, loop, &noun) && noun.parent &&
                  pm_pif_find_noun(binary->pif, noun.parent, &above) && above.kind &&
                  strcmp(above.kind, "loop") == 0;
    return is_one ? noun.parent : 0;
}

static pm_id function_of_loop(const struct collect_binary *binary, pm_id loop)
{
    struct pm_pif_noun noun;
    return pm_pif_find_noun(binary->pif, loop, &noun) ? collect_function_around(binary->pif, &noun)
                                                      : 0;
}

pm_id collect_symbol_around(const struct collect_binary *binary, pm_id symbol, pm_id loopcode)
{
    struct pm_pif_noun noun;
    bool is_known =
        loopcode && binary->pif && pm_pif_find_noun(binary->pif, loopcode, &noun) && noun.parent;
    return is_known ? noun.parent : symbol;
}

static struct around sites_around(const struct pm_code_tuple *tuple)
{
    struct around around = {.n_sites = 0};
    uint32_t n = 0;
    for (const struct pm_code_site *site = tuple->site; site && n < MAX_STEPS; site = site->parent)
        n++;
    around.n_sites = n;
    for (const struct pm_code_site *site = tuple->site; n > 0; site = site->parent)
        around.sites[--n] = site;
    return around;
}

/* The loop may be of a function that the call's own was inlined into: it is left out then. */
static struct around look_around(const struct collect_binary *binary,
                                 const struct collect_call *call)
{
    const struct pm_code_tuple *tuple = call->range->tuple;
    struct around around = sites_around(tuple);
    uint32_t n = 0;
    pm_id text = tuple->site ? tuple->site->function : call->range->block->function;
    pm_id loops[MAX_LOOPS];
    if (!call->loop || function_of_loop(binary, call->loop) != text)
        return around;
    for (pm_id loop = call->loop; loop && n < MAX_LOOPS; loop = loop_above(binary, loop))
        loops[n++] = loop;
    around.n_loops = n;
    for (uint32_t i = 0; i < n; i++)
        around.loops[i] = loops[n - 1 - i];
    return around;
}

static bool has_loop(const struct around *around, pm_id loop)
{
    for (uint32_t i = 0; i < around->n_loops; i++)
        if (around->loops[i] == loop)
            return true;
    return false;
}

/* While a loop is active, nothing else of its function's text is, but what was inlined there. */
static bool is_elsewhere(const struct collect_binary *binary, const struct collect_call *call,
                         const struct around *around, pm_id active)
{
    if (!active || has_loop(around, active))
        return false;
    const struct pm_code_tuple *tuple = call->range->tuple;
    pm_id text = tuple->site ? tuple->site->function : call->range->block->function;
    return text == function_of_loop(binary, active) &&
           (!call->loop || function_of_loop(binary, call->loop) == text);
}

static void keep_common(struct around *common, const struct around *other)
{
    uint32_t n = 0;
    while (n < common->n_sites && n < other->n_sites &&
           common->sites[n]->function == other->sites[n]->function)
        n++;
    bool same_text = n == common->n_sites && n == other->n_sites;
    common->n_sites = n;
    n = 0;
    while (same_text && n < common->n_loops && n < other->n_loops &&
           common->loops[n] == other->loops[n])
        n++;
    common->n_loops = n;
}

/* --- marks --- */

static enum pm_status mark(struct collector *c, struct collect_binary *binary, pm_id id)
{
    if (pm_map_get(&binary->calls->lacking, id))
        return PM_OK;
    return pm_map_put(&binary->calls->lacking, id, 1) ? PM_OK : collect_no_memory(c);
}

/* All that lies around a call and is not on the path. */
static enum pm_status mark_around(struct collector *c, struct collect_binary *binary,
                                  const struct around *around, const struct around *path,
                                  pm_id active)
{
    enum pm_status status = PM_OK;
    for (uint32_t i = path->n_sites; i < around->n_sites && status == PM_OK; i++)
        status = mark(c, binary, around->sites[i]->function);
    bool same_text = around->n_sites == path->n_sites;
    for (uint32_t i = same_text ? path->n_loops : 0; i < around->n_loops && status == PM_OK; i++)
        if (around->loops[i] != active &&
            !pm_map_get(&binary->places->loops_with_sleds, around->loops[i]))
            status = mark(c, binary, around->loops[i]);
    return status;
}

enum pm_status collect_mark_lacking(struct collector *c, uint32_t noun)
{
    if (c->has_stacks || pm_map_get(&c->binaries->lacking, noun))
        return PM_OK;
    return pm_map_put(&c->binaries->lacking, noun, 1)
               ? collect_write_attribute(c, noun, "lacks callees", "yes")
               : collect_no_memory(c);
}

/* Binaries may share nouns. Each has a sentence, so that a question about it is met, though none
 * of its own code may have had a sample. */
static enum pm_status write_lacking(struct collector *c, const struct collect_binary *binary)
{
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < binary->calls->lacking.size && status == PM_OK; i++) {
        const struct pm_map_slot *slot = &binary->calls->lacking.slots[i];
        uint32_t row = slot->row ? pm_map_get(&binary->nouns, slot->key) : 0, sentence;
        if (!row || pm_map_get(&c->binaries->lacking, row))
            continue;
        status = collect_mark_lacking(c, row);
        if (status == PM_OK)
            status = collect_short_sentence(c, c->model->source_executes, row, &sentence);
    }
    return status;
}

enum pm_status collect_lacking_end(struct collector *c)
{
    enum pm_status status = PM_OK;
    for (struct collect_binary *binary = c->binaries->first; binary && status == PM_OK;
         binary = binary->next)
        status = write_lacking(c, binary);
    return status;
}

/* --- the path --- */

/* Without what is around the active loop: that is above it. */
static enum pm_status make_path(struct collector *c, struct collect_binary *binary,
                                const struct pm_code_block *block, const struct around *path,
                                pm_id active, struct collect_call_path *ret_path)
{
    enum pm_status status = PM_OK;
    uint32_t first = 0;
    pm_id function = active ? function_of_loop(binary, active) : 0;
    for (uint32_t i = 0; i < path->n_sites; i++)
        if (path->sites[i]->function == function)
            first = i + 1;
    for (uint32_t i = first; i < path->n_sites && status == PM_OK; i++)
        status = collect_inline_sentence(c, binary, block, path->sites[i]->function, "function",
                                         &ret_path->sentences[ret_path->n++]);
    pm_id loop = path->n_loops ? path->loops[path->n_loops - 1] : 0;
    if (status == PM_OK && loop && loop != active)
        status = collect_inline_sentence(c, binary, block, loop, "loop",
                                         &ret_path->sentences[ret_path->n++]);
    return status;
}

/* What leads to a symbol is a call; other bytes are one if an instruction begins there, or
 * before with prefixes. */
bool collect_is_call(const struct collect_binary *binary, const struct collect_call *call)
{
    enum { MAX_PREFIXES = 3 };
    const struct pm_code_block *block = call->range->block;
    const unsigned char *code = pm_blame_code(binary->blame, block->address, block->size_bytes);
    uint64_t start =
        pm_blame_instruction(binary->blame, block->address, block->size_bytes, call->address);
    if (call->callee || start == call->address)
        return true;
    bool has_prefixes = start != 0 && code && call->address - start <= MAX_PREFIXES;
    for (uint64_t at = start; has_prefixes && at < call->address; at++) {
        unsigned char byte = code[at - block->address];
        has_prefixes = (byte & 0xf0) == 0x40 || byte == 0x3e || byte == 0x67 || byte == 0xf2;
    }
    return has_prefixes;
}

/* All that the symbol calls. */
static const struct collect_call *calls_in(const struct collect_binary *binary, pm_id caller,
                                           size_t *ret_n)
{
    const struct collect_call *first = calls_of(binary, caller, 0, ret_n),
                              *end = binary->calls->list + binary->calls->n;
    while (first + *ret_n < end && first[*ret_n].caller == caller)
        ++*ret_n;
    return first;
}

enum pm_status collect_jump_out(struct collector *c, struct collect_binary *binary, pm_id symbol,
                                uint64_t *ret_address)
{
    const struct collect_call *calls;
    size_t n;
    *ret_address = 0;
    enum pm_status status = collect_list_calls(c, binary, &calls, &n);
    if (status != PM_OK || !n)
        return status;
    calls = calls_of(binary, symbol, 0, &n);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *code = pm_blame_code(binary->blame, calls[i].address, CALL_BYTES);
        bool jumps = code && (*code == 0xe9 || looks_like_jump(code));
        if (jumps && collect_is_call(binary, &calls[i]))
            *ret_address = calls[i].address;
    }
    return PM_OK;
}

enum pm_status collect_jump_to(struct collector *c, struct collect_binary *binary, pm_id symbol,
                               pm_id callee, uint64_t *ret_address)
{
    const struct collect_call *calls, *found = NULL;
    size_t n;
    bool is_one = true;
    *ret_address = 0;
    enum pm_status status = collect_list_calls(c, binary, &calls, &n);
    if (status != PM_OK || !n)
        return status;
    calls = calls_of(binary, symbol, callee, &n);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *code = pm_blame_code(binary->blame, calls[i].address, CALL_BYTES);
        if (!code || *code != 0xe9)
            continue;
        is_one &= !found || calls[i].range->tuple == found->range->tuple;
        found = found ? found : &calls[i];
    }
    *ret_address = found && is_one ? found->address : 0;
    return PM_OK;
}

enum pm_status collect_called_at(struct collector *c, struct collect_binary *binary, pm_id symbol,
                                 uint64_t address, pm_id *ret_callee)
{
    const struct collect_call *calls;
    size_t n;
    *ret_callee = 0;
    enum pm_status status = collect_list_calls(c, binary, &calls, &n);
    if (status != PM_OK || !n)
        return status;
    calls = calls_in(binary, symbol, &n);
    for (size_t i = 0; i < n && !*ret_callee; i++)
        if (calls[i].address == address + 1 - CALL_BYTES)
            *ret_callee = calls[i].callee;
    return PM_OK;
}

/* Of the calls of a symbol, those that may be, or lead to, one of a callee. */
struct candidates {
    const struct collect_call *calls;
    size_t n;
    pm_id callee;
    const struct collect_route *route;
    bool is_known; /* the callee is called there */
    bool all;      /* nothing is known of how it comes to be called */
};

static bool is_candidate(const struct collect_binary *binary, const struct candidates *all,
                         const struct collect_call *call)
{
    bool may_be = all->all || collect_leads(all->route, call->callee) ||
                  (!all->is_known && call->callee == 0);
    return may_be && collect_is_call(binary, call);
}

static enum pm_status find_candidates(struct collector *c, struct collect_binary *binary,
                                      pm_id caller, pm_id callee, struct candidates *ret)
{
    *ret = (struct candidates){.callee = callee};
    enum pm_status status = collect_route(c, binary, callee, &ret->route);
    ret->calls = calls_in(binary, caller, &ret->n);
    bool any = false;
    for (size_t i = 0; status == PM_OK && i < ret->n; i++)
        ret->is_known |= callee && ret->calls[i].callee == callee;
    for (size_t i = 0; status == PM_OK && i < ret->n && !any; i++)
        any = is_candidate(binary, ret, &ret->calls[i]);
    ret->all = !any;
    return status;
}

static enum pm_status new_path(struct collector *c, struct collect_call_path **ret_path)
{
    *ret_path = pm_arena_alloc(&c->arena, sizeof **ret_path +
                                              (MAX_STEPS + 1) * sizeof *(*ret_path)->sentences);
    if (!*ret_path)
        return collect_no_memory(c);
    (*ret_path)->n = 0;
    return PM_OK;
}

static enum pm_status find_path(struct collector *c, struct collect_binary *binary, pm_id caller,
                                pm_id active, pm_id callee, struct collect_call_path **ret_path)
{
    struct around path = {0};
    const struct pm_code_block *block = NULL;
    struct candidates all;
    enum pm_status status = new_path(c, ret_path);
    if (status != PM_OK)
        return status;
    status = find_candidates(c, binary, caller, callee, &all);
    for (size_t i = 0; status == PM_OK && all.is_known && i < all.n; i++) {
        const struct collect_call *call = &all.calls[i];
        struct around around = look_around(binary, call);
        if (is_elsewhere(binary, call, &around, active) || !is_candidate(binary, &all, call))
            continue;
        if (block)
            keep_common(&path, &around);
        else
            path = around;
        block = call->range->block;
    }
    for (size_t i = 0; status == PM_OK && i < all.n; i++) {
        const struct collect_call *call = &all.calls[i];
        struct around around = look_around(binary, call);
        if (!is_elsewhere(binary, call, &around, active) && is_candidate(binary, &all, call))
            status = mark_around(c, binary, &around, &path, active);
    }
    return status == PM_OK && block ? make_path(c, binary, block, &path, active, *ret_path)
                                    : status;
}

static uint64_t key_of(const char *kind, pm_id caller, pm_id active, pm_id callee)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, kind);
    pm_id_hash_id(&hash, caller);
    pm_id_hash_id(&hash, active);
    pm_id_hash_id(&hash, callee);
    return pm_id_hash_done(&hash);
}

static enum pm_status keep_path(struct collector *c, struct collect_binary *binary, uint64_t key,
                                struct collect_call_path *path, uint32_t *ret_at)
{
    struct collect_call_path **paths = pm_grow_array(binary->calls->paths, binary->calls->n_paths,
                                                     &binary->calls->paths_cap, 256, sizeof *paths);
    if (!paths)
        return collect_no_memory(c);
    binary->calls->paths = paths;
    paths[binary->calls->n_paths] = path;
    *ret_at = ++binary->calls->n_paths;
    return pm_map_put(&binary->calls->by_call, key, *ret_at) ? PM_OK : collect_no_memory(c);
}

static enum pm_status step_along(struct collector *c, const struct collect_call_path *path,
                                 unsigned flags, uint32_t *context)
{
    for (uint32_t i = 0; i < path->n; i++) {
        enum pm_status status =
            collect_context(c, *context, path->sentences[i], flags | CONTEXT_INLINED, context);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* As collect_context does it: another process of the program calls in mostly the same order. */
enum { N_NEXT_PATHS = 1 << 12 };
struct collect_next_path {
    pm_id caller, active, callee;
    uint32_t at; /* position in path_list + 1; 0: none */
};

enum pm_status collect_call_path(struct collector *c, struct collect_binary *binary, pm_id caller,
                                 pm_id loopcode, pm_id callee, unsigned flags, uint32_t *context)
{
    const struct collect_call *calls;
    size_t n;
    caller = collect_symbol_around(binary, caller, loopcode);
    enum pm_status status = collect_list_calls(c, binary, &calls, &n);
    if (status != PM_OK || n == 0)
        return status;
    pm_id active = loopcode ? collect_loop_of_code(binary, loopcode) : 0;
    if (!binary->calls->next &&
        !(binary->calls->next = pm_alloc_array(N_NEXT_PATHS, sizeof *binary->calls->next)))
        return collect_no_memory(c);
    struct collect_next_path *next = &binary->calls->next[binary->calls->last % N_NEXT_PATHS];
    bool is_next =
        next->at && next->caller == caller && next->active == active && next->callee == callee;
    uint64_t key = is_next ? 0 : key_of("call path", caller, active, callee);
    uint32_t at = is_next ? next->at : pm_map_get(&binary->calls->by_call, key);
    if (!at) {
        struct collect_call_path *path;
        status = find_path(c, binary, caller, active, callee, &path);
        if (status != PM_OK)
            return status;
        status = keep_path(c, binary, key, path, &at);
        if (status != PM_OK)
            return status;
    }
    *next = (struct collect_next_path){caller, active, callee, at};
    binary->calls->last = at;
    return step_along(c, binary->calls->paths[at - 1], flags, context);
}

/* --- loops of inlined functions --- */

/* The inlined functions around code of a loop, down to the loop's own; none: it is not of the
 * loop. */
static enum pm_status sites_of_loop(struct collector *c, const struct collect_binary *binary,
                                    const struct pm_code_range *range, pm_id loop, pm_id function,
                                    struct around *ret)
{
    enum pm_status status = PM_OK;
    *ret = (struct around){.n_sites = 0};
    if (!range->tuple->site || collect_loop_of(c, binary, range, &status) != loop)
        return status;
    *ret = sites_around(range->tuple);
    while (ret->n_sites > 0 && ret->sites[ret->n_sites - 1]->function != function)
        ret->n_sites--;
    return status;
}

/* All code of a loop in a symbol that its function was inlined into. */
struct loop_code {
    struct collect_binary *binary;
    pm_id loop, function;
    struct around path;                /* what is around all of it */
    const struct pm_code_block *block; /* NULL: there is none */
};

static enum pm_status add_to_path(struct collector *c, struct loop_code *code,
                                  const struct pm_code_range *range)
{
    struct around around;
    enum pm_status status =
        sites_of_loop(c, code->binary, range, code->loop, code->function, &around);
    if (around.n_sites == 0)
        return status;
    if (code->block)
        keep_common(&code->path, &around);
    else
        code->path = around;
    code->block = range->block;
    return status;
}

/* Copies of the loop lie in several inlined functions: those are not around all of them. */
static enum pm_status mark_beside_path(struct collector *c, struct loop_code *code,
                                       const struct pm_code_range *range)
{
    struct around around;
    enum pm_status status =
        sites_of_loop(c, code->binary, range, code->loop, code->function, &around);
    if (around.n_sites != 0)
        around.n_sites--; /* the loop is below its own function however that is called */
    return status != PM_OK || around.n_sites <= code->path.n_sites
               ? status
               : mark_around(c, code->binary, &around, &code->path, 0);
}

static enum pm_status walk_loop(struct collector *c, struct loop_code *code, pm_id symbol,
                                enum pm_status (*visit)(struct collector *, struct loop_code *,
                                                        const struct pm_code_range *))
{
    size_t n;
    const struct pm_code_range *ranges = pm_code_map_ranges(code->binary->map, &n);
    const struct pm_code_block *blocks = pm_code_map_blocks(code->binary->map, &n);
    for (size_t i = 0; i < n; i++) {
        if (blocks[i].symbol != symbol || blocks[i].function == code->function)
            continue;
        for (uint32_t k = 0; k < blocks[i].n_ranges; k++) {
            enum pm_status status = visit(c, code, &ranges[blocks[i].first_range + k]);
            if (status != PM_OK)
                return status;
        }
    }
    return PM_OK;
}

static enum pm_status find_loop_path(struct collector *c, struct collect_binary *binary,
                                     pm_id loopcode, pm_id active,
                                     struct collect_call_path **ret_path)
{
    struct loop_code code = {.binary = binary,
                             .loop = collect_loop_of_code(binary, loopcode),
                             .function = collect_loop_function(binary, loopcode)};
    pm_id symbol = collect_symbol_around(binary, 0, loopcode);
    enum pm_status status = new_path(c, ret_path);
    if (status != PM_OK)
        return status;
    status = walk_loop(c, &code, symbol, add_to_path);
    if (status != PM_OK || !code.block)
        return status;
    status = walk_loop(c, &code, symbol, mark_beside_path);
    return status != PM_OK ? status
                           : make_path(c, binary, code.block, &code.path, active, *ret_path);
}

enum pm_status collect_loop_path(struct collector *c, struct collect_binary *binary, pm_id around,
                                 pm_id loopcode, unsigned flags, uint32_t *context)
{
    pm_id symbol = collect_symbol_around(binary, 0, loopcode);
    if (!symbol || !binary->map || !binary->pif)
        return PM_OK;
    bool is_within = around && collect_symbol_around(binary, 0, around) == symbol;
    pm_id active = is_within ? collect_loop_of_code(binary, around) : 0;
    uint64_t key = key_of("loop path", symbol, active, loopcode);
    uint32_t at = pm_map_get(&binary->calls->by_call, key);
    if (!at) {
        struct collect_call_path *path;
        enum pm_status status = find_loop_path(c, binary, loopcode, active, &path);
        if (status != PM_OK)
            return status;
        status = keep_path(c, binary, key, path, &at);
        if (status != PM_OK)
            return status;
    }
    return step_along(c, binary->calls->paths[at - 1], flags, context);
}

/* --- functions without code of their own --- */

/* Row of a context of the block's symbol; 0: it was not entered. */
static uint32_t entered_context(const struct collector *c, const struct collect_binary *binary,
                                const struct pm_code_block *block)
{
    uint32_t row = pm_map_get(&binary->nouns, block->symbol);
    uint32_t sentence =
        row ? pm_map_get(&c->model->sentences, (uint64_t)c->model->executes << 32 | row) : 0;
    return sentence ? pm_map_get(&c->contexts->of_sentence, sentence) : 0;
}

static bool is_entered(const struct collector *c, const struct collect_binary *binary,
                       const struct pm_code_block *block, pm_id inlined)
{
    uint32_t sentence = collect_known_inline(binary, block, inlined);
    return sentence && pm_map_get(&c->contexts->of_sentence, sentence);
}

/* Down from `context` to the site's function, through those that it was inlined into. */
static enum pm_status add_inlined(struct collector *c, struct collect_binary *binary,
                                  const struct pm_code_block *block,
                                  const struct pm_code_site *site, uint32_t context,
                                  struct pm_map *known)
{
    const struct pm_code_site *sites[MAX_STEPS];
    uint32_t n = 0, sentence;
    enum pm_status status = PM_OK;
    for (; site && n < MAX_STEPS; site = site->parent)
        sites[n++] = site;
    while (n-- > 0 && status == PM_OK) {
        status =
            collect_inline_sentence(c, binary, block, sites[n]->function, "function", &sentence);
        if (status == PM_OK)
            status = collect_context(c, context, sentence, CONTEXT_INLINED, &context);
        if (status == PM_OK && !pm_map_put(known, sites[n]->function, 1))
            status = collect_no_memory(c);
    }
    return status;
}

/* first: notes what has contexts; else adds what has none. */
static enum pm_status walk_inlined(struct collector *c, struct collect_binary *binary, bool first,
                                   struct pm_map *known)
{
    size_t n;
    const struct pm_code_block *blocks = pm_code_map_blocks(binary->map, &n);
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < n && status == PM_OK; i++) {
        uint32_t context = entered_context(c, binary, &blocks[i]);
        if (context && first && !pm_map_put(known, blocks[i].function, 1))
            status = collect_no_memory(c);
        for (uint32_t t = 0; context && t < blocks[i].n_tuples && status == PM_OK; t++) {
            const struct pm_code_site *site = blocks[i].tuples[t].site;
            if (!site || pm_map_get(known, site->function))
                continue;
            if (!first && !c->costs->has_all_calls &&
                !pm_map_get(&binary->calls->lacking, site->function))
                continue;
            if (!first)
                status = add_inlined(c, binary, &blocks[i], site, context, known);
            else if (is_entered(c, binary, &blocks[i], site->function) &&
                     !pm_map_put(known, site->function, 1))
                status = collect_no_memory(c);
        }
    }
    return status;
}

enum pm_status collect_inlined_end(struct collector *c)
{
    enum pm_status status = PM_OK;
    for (struct collect_binary *binary = c->binaries->first; binary && status == PM_OK;
         binary = binary->next) {
        struct pm_map known = {0};
        if (!binary->row || !binary->same || binary->is_runtime || !binary->map || !binary->pif)
            continue;
        status = walk_inlined(c, binary, true, &known);
        if (status == PM_OK)
            status = walk_inlined(c, binary, false, &known);
        pm_map_release(&known);
    }
    return status;
}

void collect_call_paths_release(struct collect_binary *binary)
{
    free(binary->calls->list);
    free(binary->calls->paths);
    pm_map_release(&binary->calls->by_call);
    pm_map_release(&binary->calls->lacking);
    free(binary->calls->next);
}
