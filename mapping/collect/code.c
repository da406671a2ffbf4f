/* Machine code as nouns, and what it maps to by the late map. */
#include "code.h"

#include "binaries.h"
#include "collector.h"
#include "debug.h"
#include "model.h"
#include "places.h"
#include "regions.h"
#include "sites.h"
#include "touches.h"

#include "format/pm_id.h"
#include "format/pm_map.h"
#include "mapping/base/arena.h"
#include "mapping/base/map.h"
#include "mapping/base/reasons.h"
#include "mapping/code/blame.h"
#include "mapping/code/code_map.h"
#include "mapping/pif/pif.h"

/* --- mappings of one code --- */

enum pm_status collect_map_code(struct collector *c, struct collect_code *code, uint32_t verb,
                                uint32_t noun, const char *origin, const char *reason)
{
    struct collect_mapping mapping = {.source = code->sentence, .origin = origin, .reason = reason};
    enum pm_status status = collect_short_sentence(c, verb, noun, &mapping.destination);
    if (status == PM_OK)
        status = collect_add_mapping(c, &mapping);
    code->n_mappings += status == PM_OK;
    return status;
}

static enum pm_status map_to_place(struct collector *c, struct collect_code *code,
                                   const struct pm_code_place *place, const char *origin,
                                   const char *reason)
{
    uint32_t row;
    enum pm_status status = collect_map_statement(c, code->binary, place, code->region, &row);
    if (status == PM_OK && !row && reason) /* folded functions: all of the other one */
        status = collect_map_noun(c, code->binary, place->function, "function", NULL, &row);
    return status == PM_OK && row
               ? collect_map_code(c, code, c->model->source_executes, row, origin, reason)
               : status;
}

static enum pm_status map_to_noun(struct collector *c, struct collect_code *code, pm_id id,
                                  const char *kind, const char *reason)
{
    uint32_t row;
    enum pm_status status = collect_map_noun(c, code->binary, id, kind, NULL, &row);
    return status == PM_OK
               ? collect_map_code(c, code, c->model->source_executes, row, "compiler", reason)
               : status;
}

static enum pm_status map_to_frame(struct collector *c, struct collect_code *code, pm_id function,
                                   const char *reason)
{
    uint32_t row;
    enum pm_status status = collect_map_frame(c, code->binary, function, &row);
    return status == PM_OK
               ? collect_map_code(c, code, c->model->source_executes, row, "compiler", reason)
               : status;
}

/* Code of a function as a whole (its frame) is that of the functions, too, that the compiler
 * found equal and folded into it: the block's statements name them. *ret_reason is left alone
 * when there are none. */
static enum pm_status map_to_folded(struct collector *c, struct collect_code *code,
                                    const struct pm_code_range *range, const char **ret_reason)
{
    const struct pm_code_block *block = range->block;
    enum pm_status status = PM_OK;
    pm_id last = 0;
    for (uint32_t i = 0; i < block->n_tuples; i++)
        for (uint32_t k = 0; k < block->tuples[i].n_also && status == PM_OK; k++) {
            const struct pm_code_also *also = &block->tuples[i].also[k];
            if (also->reason != PM_MAP_FOLDED || also->place.function == last)
                continue;
            last = also->place.function;
            *ret_reason = pm_map_reason_text(PM_MAP_FOLDED);
            status = map_to_noun(c, code, last, "function", *ret_reason);
            if (status == PM_OK && range->tuple->kind == PM_MAP_FRAME)
                status = map_to_frame(c, code, last, *ret_reason);
        }
    return status;
}

/* What is around the code's statement: the innermost loop, else the OpenMP region, else the
 * function. Code outside of a region that starts it or waits for it is the region's, too.
 * *ret_row 0: none but the function. */
static enum pm_status region_around(struct collector *c, const struct collect_code *code,
                                    const struct pm_code_range *range, uint32_t *ret_row)
{
    const struct pm_code_tuple *tuple = range->tuple;
    enum pm_status status = PM_OK;
    *ret_row = !tuple->site && !tuple->loop ? code->region : 0;
    if (tuple->site || !tuple->place.line_no || tuple->kind == PM_MAP_FRAME ||
        tuple->kind == PM_MAP_PADDING)
        return PM_OK;
    const char *file = collect_place_file(c, code->binary, tuple->place.file, &status);
    uint32_t at = collect_region_at(code->binary, &tuple->place, file, true);
    if (at && at != code->region)
        *ret_row = at;
    return status;
}

static bool is_around(const struct collect_binary *binary, pm_id loop, pm_id inner)
{
    struct pm_pif_noun noun;
    while (inner && inner != loop)
        inner = pm_pif_find_noun(binary->pif, inner, &noun) ? noun.parent : 0;
    return inner != 0;
}

static bool has_code_in(const struct pm_code_block *block, const struct pm_code_tuple *tuple,
                        pm_id loop)
{
    for (uint32_t i = 0; i < block->n_tuples; i++) {
        const struct pm_code_tuple *other = &block->tuples[i];
        if (other->loop == loop && other->site == tuple->site &&
            memcmp(&other->place, &tuple->place, sizeof other->place) == 0)
            return true;
    }
    return false;
}

pm_id collect_loop_of(struct collector *c, const struct collect_binary *binary,
                      const struct pm_code_range *range, enum pm_status *status)
{
    const struct pm_code_tuple *tuple = range->tuple;
    if (tuple->n_also || tuple->kind == PM_MAP_FRAME || tuple->kind == PM_MAP_PADDING)
        return tuple->loop;
    pm_id loop = collect_statement_loop(c, binary, &tuple->place, status);
    bool is_inner = loop && loop != tuple->loop &&
                    is_around(binary, tuple->loop ? tuple->loop : tuple->place.function, loop);
    return is_inner && has_code_in(range->block, tuple, loop) ? loop : tuple->loop;
}

/* All that one range says. reason: why it is not alone; NULL. */
static enum pm_status map_range(struct collector *c, struct collect_code *code,
                                const struct pm_code_range *range, const char *reason)
{
    const struct pm_code_tuple *tuple = range->tuple;
    enum pm_status status = PM_OK;
    size_t n_before = code->n_mappings;
    uint32_t region;
    if (tuple->kind != PM_MAP_FRAME && tuple->kind != PM_MAP_PADDING && tuple->place.line_no)
        status = map_to_place(c, code, &tuple->place, "compiler", reason);
    for (uint32_t i = 0; i < tuple->n_also && status == PM_OK; i++)
        status = map_to_place(c, code, &tuple->also[i].place,
                              tuple->also[i].inferred ? "inferred" : "compiler",
                              pm_map_reason_text(tuple->also[i].reason));
    if (status == PM_OK && code->n_mappings == n_before && !tuple->loop && !tuple->site)
        status = map_to_folded(c, code, range, &reason);
    if (status == PM_OK)
        status = region_around(c, code, range, &region);
    if (status == PM_OK && tuple->kind == PM_MAP_FRAME && !region)
        status = map_to_frame(c, code, tuple->place.function, reason);
    if (status == PM_OK && region)
        status = collect_map_code(c, code, c->model->source_executes, region, "compiler", reason);
    else if (status == PM_OK) {
        pm_id loop = reason ? tuple->loop : collect_loop_of(c, code->binary, range, &status);
        if (status == PM_OK)
            status = loop ? map_to_noun(c, code, loop, "loop", reason)
                          : map_to_noun(c, code, tuple->place.function, "function", reason);
    }
    return status == PM_OK ? collect_map_objects(c, code, range, reason) : status;
}

/* --- nouns by the late map --- */

static enum pm_status write_addresses(struct collector *c, const struct collect_code *code)
{
    const struct pm_code_block *block = code->range->block;
    const struct pm_code_range *ranges = pm_code_map_ranges(code->binary->map, &(size_t){0});
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    uint64_t low = 0, high = 0;
    for (uint32_t i = 0; i <= block->n_ranges; i++) {
        const struct pm_code_range *range =
            i < block->n_ranges ? &ranges[block->first_range + i] : NULL;
        if (range && range->tuple != code->range->tuple)
            continue;
        if (range && range->address == high) {
            high += range->size_bytes;
            continue;
        }
        if (high)
            pm_buf_printf(&text, "%s0x%llx-0x%llx", text.len ? " " : "", (unsigned long long)low,
                          (unsigned long long)high);
        if (range) {
            low = range->address;
            high = low + range->size_bytes;
        }
    }
    enum pm_status status = text.failed
                                ? collect_no_memory(c)
                                : collect_write_attribute(c, code->noun, "address", text.data);
    pm_buf_release(&text);
    return status;
}

/* First range of the tuple in its block: its number is the least there, so it comes early. */
static uint64_t first_address(const struct collect_code *code)
{
    const struct pm_code_block *block = code->range->block;
    const struct pm_code_range *ranges = pm_code_map_ranges(code->binary->map, &(size_t){0});
    for (uint32_t i = 0; i < block->n_ranges; i++)
        if (ranges[block->first_range + i].tuple == code->range->tuple)
            return ranges[block->first_range + i].address;
    return code->range->address;
}

static pm_id code_id(const char *kind, pm_id a, uint64_t b)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, kind);
    pm_id_hash_id(&hash, a);
    pm_id_hash_id(&hash, b);
    return pm_id_hash_done(&hash);
}

/* Name of the symbol that a block is of; lent. NULL: not known. */
static enum pm_status symbol_name(struct collector *c, struct collect_binary *binary,
                                  const struct pm_code_block *block, const char **ret_name)
{
    struct pm_pif_noun noun;
    uint64_t offset;
    if (!pm_pif_find_noun(binary->pif, block->symbol, &noun) || !noun.name || !*noun.name)
        return collect_symbol_at(c, binary, block->address, ret_name, &offset);
    *ret_name = noun.name;
    return PM_OK;
}

static enum pm_status write_code_noun(struct collector *c, struct collect_code *code,
                                      const char *symbol)
{
    const struct pm_code_block *block = code->range->block;
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    uint64_t address = first_address(code);
    if (symbol)
        pm_buf_printf(&name, "%s%s+0x%llx", symbol, block->is_cold ? ".cold" : "",
                      (unsigned long long)(address - block->address));
    else
        pm_buf_printf(&name, "0x%llx in %s", (unsigned long long)address,
                      collect_base_name(code->binary->path));
    struct pm_pif_noun noun = {
        .id = code_id("code", block->symbol, address), .name = name.data, .kind = "code"};
    code->noun = ++c->model->n_nouns;
    enum pm_status status = name.failed
                                ? collect_no_memory(c)
                                : collect_write_noun(c, code->noun, &noun, c->model->base_level,
                                                     code->binary->row, code->symbol);
    pm_buf_release(&name);
    return status == PM_OK ? write_addresses(c, code) : status;
}

uint32_t collect_known_inline(const struct collect_binary *binary,
                              const struct pm_code_block *block, pm_id inlined)
{
    return pm_map_get(&binary->codes->inlines, code_id("inline", block->symbol, inlined));
}

enum pm_status collect_inline_sentence(struct collector *c, struct collect_binary *binary,
                                       const struct pm_code_block *block, pm_id inlined,
                                       const char *kind, uint32_t *ret_sentence)
{
    pm_id id = code_id("inline", block->symbol, inlined);
    uint32_t noun_row, symbol_row, row;
    const char *symbol = NULL;
    *ret_sentence = pm_map_get(&binary->codes->inlines, id);
    if (*ret_sentence)
        return PM_OK;
    struct pm_pif_noun source = {0};
    enum pm_status status = collect_need_source(c);
    if (status == PM_OK)
        status = collect_map_noun(c, binary, inlined, kind, NULL, &row);
    if (status == PM_OK)
        status = symbol_name(c, binary, block, &symbol);
    if (status == PM_OK)
        status = collect_map_noun(c, binary, block->symbol, "symbol", symbol, &symbol_row);
    if (!pm_pif_find_noun(binary->pif, inlined, &source) || !source.name)
        source.name = !strcmp(kind, "loop") ? "unknown loop" : "unknown function";
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    pm_buf_printf(&name, "%s/%s", symbol ? symbol : "unknown symbol", source.name);
    struct pm_pif_noun noun = {.id = id, .name = name.data, .kind = "inline"};
    noun_row = ++c->model->n_nouns;
    if (status == PM_OK)
        status = name.failed ? collect_no_memory(c)
                             : collect_write_noun(c, noun_row, &noun, c->model->base_level,
                                                  binary->row, symbol_row);
    pm_buf_release(&name);
    struct collect_mapping mapping = {.origin = "compiler"};
    if (status == PM_OK)
        status = collect_short_sentence(c, c->model->executes, noun_row, ret_sentence);
    if (status == PM_OK)
        status = collect_short_sentence(c, c->model->source_executes, row, &mapping.destination);
    if (status != PM_OK)
        return status;
    mapping.source = *ret_sentence;
    if (!pm_map_put(&binary->codes->inlines, id, *ret_sentence))
        return collect_no_memory(c);
    return collect_add_mapping(c, &mapping);
}

static enum pm_status make_inlines(struct collector *c, struct collect_code *code)
{
    uint32_t n = 0;
    for (const struct pm_code_site *site = code->range->tuple->site; site; site = site->parent)
        n++;
    code->inlines = pm_arena_alloc(&c->arena, (n + 1) * sizeof *code->inlines);
    code->sites = pm_arena_alloc(&c->arena, (n + 1) * sizeof *code->sites);
    if (!code->inlines || !code->sites)
        return collect_no_memory(c);
    code->n_inlines = n;
    enum pm_status status = PM_OK;
    for (const struct pm_code_site *site = code->range->tuple->site; site && status == PM_OK;
         site = site->parent) {
        code->sites[--n] = site;
        status = collect_inline_sentence(c, code->binary, code->range->block, site->function,
                                         "function", &code->inlines[n]);
    }
    return status;
}

static enum pm_status make_map_code(struct collector *c, struct collect_binary *binary,
                                    const struct pm_code_range *range, uint64_t address,
                                    struct collect_code *ret_code)
{
    struct collect_code code = {.binary = binary, .range = range};
    const char *symbol = NULL;
    code.symbol_id = range->block->symbol;
    code.region = collect_region_of(binary, code.symbol_id);
    enum pm_status status = collect_need_source(c);
    if (status == PM_OK)
        status = symbol_name(c, binary, range->block, &symbol);
    if (status == PM_OK)
        status = collect_map_noun(c, binary, code.symbol_id, "symbol", symbol, &code.symbol);
    if (status == PM_OK)
        status = write_code_noun(c, &code, symbol);
    if (status == PM_OK)
        status = collect_short_sentence(c, c->model->executes, code.noun, &code.sentence);
    if (status == PM_OK)
        status = make_inlines(c, &code);
    if (status == PM_OK)
        status = collect_inlined_at(c, &code);
    code.first_mapping = c->model->n_mappings;
    if (status == PM_OK)
        status = map_range(c, &code, range, NULL);
    /* Functions that the linker made one: the code is all of theirs. */
    while (status == PM_OK && (range = pm_code_map_next_same(binary->map, range, address)))
        status = map_range(c, &code, range, pm_map_reason_text(PM_MAP_FOLDED));
    *ret_code = code;
    return status;
}

/* --- code of other sorts --- */

static enum pm_status make_whole(struct collector *c, uint32_t *row, const char *name,
                                 const char *kind, const char *description, uint32_t binary,
                                 struct collect_code *ret_code)
{
    enum pm_status status = PM_OK;
    if (!*row)
        status =
            collect_add_noun(c, pm_pif_name_id("Base", name), name, kind, description, binary, row);
    ret_code->noun = ret_code->whole = *row;
    ret_code->is_perfmap = strcmp(kind, "perfmap") == 0;
    return status == PM_OK
               ? collect_short_sentence(c, c->model->executes, ret_code->noun, &ret_code->sentence)
               : status;
}

static enum pm_status make_perfmap(struct collector *c, struct collect_code *ret_code)
{
    return make_whole(c, &c->model->perfmap_noun, "PerfMap itself", "perfmap",
                      "sleds, trampolines and run-time library of PerfMap", 0, ret_code);
}

/* A file that is not what ran, or none: one noun for all of its code. */
static enum pm_status make_unknown(struct collector *c, struct collect_binary *binary,
                                   struct collect_code *ret_code)
{
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    uint32_t row = 0;
    bool is_file = binary->path[0] != '[';
    pm_buf_printf(&name, "%s%s", is_file ? "code of " : "", collect_base_name(binary->path));
    enum pm_status status =
        name.failed ? collect_no_memory(c)
                    : make_whole(c, &row, name.data, "code",
                                 is_file ? "the file is gone or is not the one that ran" : NULL,
                                 binary->row, ret_code);
    pm_buf_release(&name);
    return status;
}

enum pm_status collect_add_code(struct collector *c, const struct collect_code *code,
                                uint32_t *ret_position)
{
    struct collect_code *codes =
        pm_grow_array(c->codes->list, c->codes->n, &c->codes->cap, 1024, sizeof *codes);
    if (!codes)
        return collect_no_memory(c);
    c->codes->list = codes;
    codes[c->codes->n++] = *code;
    *ret_position = (uint32_t)c->codes->n;
    return PM_OK;
}

/* --- by address --- */

static enum pm_status make_code(struct collector *c, struct collect_binary *binary,
                                uint64_t address, uint32_t *ret_position)
{
    struct collect_code code = {.binary = binary};
    const struct pm_code_range *range = binary->map ? pm_code_map_find(binary->map, address) : NULL;
    uint64_t key = (uintptr_t)(range ? range->tuple : NULL);
    enum pm_status status;
    if (!binary->same || binary->is_runtime)
        key = (uintptr_t)binary;
    if (key && (*ret_position = pm_map_get(&binary->codes->by_tuple, key)))
        return PM_OK;
    if (binary->is_runtime || (range && range->tuple->kind == PM_MAP_SLED))
        status = make_perfmap(c, &code);
    else if (!binary->same)
        status = make_unknown(c, binary, &code);
    else if (range)
        status = make_map_code(c, binary, range, address, &code);
    else
        status = collect_debug_code(c, binary, address, &code);
    if (status == PM_OK)
        status = collect_add_code(c, &code, ret_position);
    if (status == PM_OK && key && !pm_map_put(&binary->codes->by_tuple, key, *ret_position))
        return collect_no_memory(c);
    return status;
}

/* Code outside of all files: made by the program, or from a file that nothing tells of. */
static enum pm_status stray_code(struct collector *c, uint32_t *ret_code)
{
    struct collect_code code = {0};
    for (uint32_t i = 0; i < c->codes->n && c->model->stray_noun; i++)
        if (c->codes->list[i].noun == c->model->stray_noun) {
            *ret_code = i + 1;
            return PM_OK;
        }
    enum pm_status status = make_whole(c, &c->model->stray_noun, "code outside of files", "code",
                                       "code that no loaded file holds", 0, &code);
    return status == PM_OK ? collect_add_code(c, &code, ret_code) : status;
}

enum pm_status collect_code_at(struct collector *c, struct collect_binary *binary, uint64_t address,
                               uint32_t *ret_code)
{
    if (!binary)
        return stray_code(c, ret_code);
    enum pm_status status = collect_binary_read(c, binary);
    uint32_t position = status == PM_OK ? pm_map_get(&binary->codes->by_address, address) : 0;
    if (status == PM_OK && !position) {
        status = make_code(c, binary, address, &position);
        if (status == PM_OK && !pm_map_put(&binary->codes->by_address, address, position))
            return collect_no_memory(c);
    }
    *ret_code = position;
    return status;
}

const struct collect_code *collect_code(const struct collector *c, uint32_t code)
{
    static const struct collect_code none = {0};
    return code ? &c->codes->list[code - 1] : &none;
}

/* Code beside a sled: a sample at the sled is of an instruction that has not run, and unless it
 * is armed takes no time. What an armed one costs is sampled in its trampoline. */
static uint64_t beside_sled(const struct pm_code_map *map, const struct pm_code_range *range)
{
    const struct pm_code_range *ranges = pm_code_map_ranges(map, &(size_t){0});
    const struct pm_code_block *block = range->block;
    uint32_t at = (uint32_t)(range - ranges) - block->first_range;
    for (uint32_t i = 1; i < block->n_ranges; i++) { /* behind it, then before it */
        uint32_t other = at + i < block->n_ranges ? at + i : block->n_ranges - 1 - i;
        const struct pm_code_range *beside = &ranges[block->first_range + other];
        if (beside->size_bytes && beside->tuple->kind != PM_MAP_SLED &&
            beside->tuple->kind != PM_MAP_PADDING)
            return beside->address;
    }
    return range->address;
}

/* Opens what names the symbols of the late map: these are in the facts, unless they are damaged. */
static enum pm_status need_symbols(struct collector *c, struct collect_binary *binary)
{
    size_t n;
    const struct pm_code_block *blocks = pm_code_map_blocks(binary->map, &n);
    const char *name = "";
    struct pm_pif_noun noun;
    for (size_t i = 0; i < n; i++)
        if (!pm_pif_find_noun(binary->pif, blocks[i].symbol, &noun) || !noun.name || !*noun.name)
            return symbol_name(c, binary, &blocks[i], &name);
    return PM_OK;
}

enum pm_status collect_need_blame(struct collector *c, struct collect_binary *binary)
{
    if (binary->blame_tried)
        return PM_OK;
    struct pm_error err = PM_ERROR_INIT; /* samples then stay where they are */
    binary->blame_tried = true;
    enum pm_status status = pm_blame_open(binary->path, &err, &binary->blame);
    pm_error_release(&err);
    if (status == PM_ERR_MEMORY)
        return collect_no_memory(c);
    return binary->map && binary->pif ? need_symbols(c, binary) : PM_OK;
}

enum pm_status collect_blamed(struct collector *c, struct collect_binary *binary, uint64_t address,
                              uint64_t *ret_address)
{
    *ret_address = address;
    enum pm_status status = binary ? collect_binary_read(c, binary) : PM_OK;
    if (!binary || status != PM_OK || !binary->same || binary->is_runtime || !binary->map)
        return status;
    const struct pm_code_range *range = pm_code_map_find(binary->map, address);
    if (!range)
        return PM_OK;
    status = collect_need_blame(c, binary);
    if (status != PM_OK)
        return status;
    if (binary->blame)
        address = pm_blame_address(binary->blame, range->block->address, range->block->size_bytes,
                                   address);
    const struct pm_code_range *blamed = pm_code_map_find(binary->map, address);
    if (blamed && blamed->tuple->kind != PM_MAP_SLED)
        *ret_address = address;
    else if (range->tuple->kind == PM_MAP_SLED)
        *ret_address = beside_sled(binary->map, range);
    return PM_OK;
}

/* --- code that was called from code with facts --- */

static enum pm_status map_function(struct collector *c, uint32_t sentence, uint32_t function,
                                   bool is_inlined)
{
    struct collect_mapping mapping = {
        .source = sentence, .origin = "debug", .reason = PM_REASON_CALLED};
    uint64_t key = (uint64_t)function << 32 | sentence;
    if (pm_map_get(&c->codes->calls, key))
        return PM_OK;
    if (is_inlined) {
        mapping.origin = "possible";
        mapping.reason = PM_REASON_MAY_SERVE;
    }
    if (!pm_map_put(&c->codes->calls, key, 1))
        return collect_no_memory(c);
    enum pm_status status =
        collect_short_sentence(c, c->model->source_executes, function, &mapping.destination);
    if (status != PM_OK)
        return status;
    return collect_add_mapping(c, &mapping);
}

/* The sentence is of the whole function, so what was inlined there may have been active. */
enum pm_status collect_map_called(struct collector *c, const struct collect_code *called,
                                  uint32_t sentence)
{
    for (uint32_t i = 0; i < called->n_functions; i++) {
        bool is_inlined = i + 1 < called->n_functions;
        enum pm_status status = map_function(c, sentence, called->functions[i], is_inlined);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* What is active may have called it for any of its data. */
static enum pm_status map_to_active(struct collector *c, const struct collect_active *active,
                                    uint32_t sentence)
{
    return active ? collect_map_any_of_code(c, active->binary, active->id, sentence) : PM_OK;
}

enum pm_status collect_called_sentence(struct collector *c, uint32_t called_noun,
                                       const struct collect_code *caller,
                                       const struct collect_active *active, bool is_sure,
                                       uint32_t *ret_sentence)
{
    uint32_t nouns[] = {called_noun, caller->noun, active ? active->noun : 0};
    enum pm_status status =
        collect_long_sentence(c, c->model->executes, nouns, active ? 3 : 2, ret_sentence);
    uint32_t known = status == PM_OK ? pm_map_get(&c->codes->calls, *ret_sentence) : 0;
    if (status != PM_OK || known >= 1u + is_sure)
        return status;
    if (!pm_map_put(&c->codes->calls, *ret_sentence, 1u + is_sure))
        return collect_no_memory(c);
    for (size_t i = 0; i < caller->n_mappings; i++) {
        struct collect_mapping mapping = c->model->mappings[caller->first_mapping + i];
        mapping.source = *ret_sentence;
        mapping.origin = is_sure ? mapping.origin : "inferred";
        status = collect_add_mapping(c, &mapping);
        if (status != PM_OK)
            return status;
    }
    return known ? PM_OK : map_to_active(c, active, *ret_sentence);
}

/* {first second Executes}, which maps to what the code is. */
static enum pm_status make_library_sentence(struct collector *c, const struct collect_code *code,
                                            uint32_t first, uint32_t second, bool *ret_is_new,
                                            uint32_t *ret_sentence)
{
    uint32_t nouns[] = {first, second};
    enum pm_status status = collect_long_sentence(c, c->model->executes, nouns, 2, ret_sentence);
    if (status != PM_OK)
        return status;
    *ret_is_new = !pm_map_get(&c->codes->calls, *ret_sentence);
    if (!*ret_is_new)
        return PM_OK;
    if (!pm_map_put(&c->codes->calls, *ret_sentence, 2))
        return collect_no_memory(c);
    for (size_t i = 0; i < code->n_mappings; i++) {
        struct collect_mapping mapping = c->model->mappings[code->first_mapping + i];
        mapping.source = *ret_sentence;
        status = collect_add_mapping(c, &mapping);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

enum pm_status collect_library_sentence(struct collector *c, const struct collect_code *code,
                                        const struct collect_code *caller, uint32_t *ret_sentence)
{
    bool is_new = false;
    enum pm_status status =
        make_library_sentence(c, code, code->noun, caller->noun, &is_new, ret_sentence);
    if (status != PM_OK || !is_new)
        return status;
    return collect_map_passed(c, caller, *ret_sentence);
}

enum pm_status collect_library_within(struct collector *c, const struct collect_code *code,
                                      const struct collect_active *active, uint32_t *ret_sentence)
{
    bool is_new = false;
    enum pm_status status =
        make_library_sentence(c, code, code->noun, active->noun, &is_new, ret_sentence);
    if (status != PM_OK || !is_new)
        return status;
    return map_to_active(c, active, *ret_sentence);
}

static enum pm_status make_task_noun(struct collector *c)
{
    struct pm_pif_noun noun = {.id = pm_pif_name_id("Base", PM_TASK_OF_LIBRARY),
                               .name = PM_TASK_OF_LIBRARY,
                               .kind = "code",
                               .type = PM_CODE_OF_UNKNOWN_DATA};
    if (c->model->task_noun)
        return PM_OK;
    c->model->task_noun = ++c->model->n_nouns;
    return collect_write_noun(c, c->model->task_noun, &noun, c->model->base_level, 0, 0);
}

enum pm_status collect_library_of_task(struct collector *c, const struct collect_code *code,
                                       uint32_t *ret_sentence)
{
    bool is_new;
    enum pm_status status = make_task_noun(c);
    if (status != PM_OK)
        return status;
    return make_library_sentence(c, code, c->model->task_noun, code->noun, &is_new, ret_sentence);
}

enum pm_status collect_called_from(struct collector *c, uint32_t called_noun, uint32_t noun,
                                   uint32_t sentence, uint32_t *ret_sentence)
{
    uint32_t nouns[] = {called_noun, noun};
    enum pm_status status = collect_long_sentence(c, c->model->executes, nouns, 2, ret_sentence);
    if (status != PM_OK || pm_map_get(&c->codes->calls, *ret_sentence))
        return status;
    if (!pm_map_put(&c->codes->calls, *ret_sentence, 2))
        return collect_no_memory(c);
    return collect_add_mapping(c, &(struct collect_mapping){.source = *ret_sentence,
                                                            .destination = sentence,
                                                            .origin = "run"});
}
