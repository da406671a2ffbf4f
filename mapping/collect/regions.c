/* OpenMP: the compiler makes the body of a parallel region or a task a symbol of its own,
 * `work._omp_fn.0` (GCC) or `.omp_outlined.` (Clang), which the run-time library calls in each
 * thread. It is code of the function in whose text the region stands, but no call of that function:
 * it implements the region. Which region, no fact tells. Its code has places in the text, and of
 * all regions that begin before one of them its own is the first. */
#include "regions.h"

#include "binaries.h"
#include "collector.h"
#include "model.h"
#include "places.h"

#include "format/pm_id.h"
#include "format/pm_map.h"
#include "mapping/base/map.h"
#include "mapping/code/code_map.h"
#include "mapping/pif/pif.h"

#include <stdlib.h>

static bool is_outlined_name(const char *name)
{
    return name && (strstr(name, "._omp_fn.") || strstr(name, "omp_outlined") ||
                    strstr(name, ".omp_task_entry."));
}

/* Of a region whose body becomes a symbol. Names end with the construct: "heat.c:8 omp
 * parallel". */
static bool is_outlined_construct(const char *name)
{
    static const char *const constructs[] = {" omp parallel", " omp task", " omp target",
                                             " omp teams"};
    size_t len = name ? strlen(name) : 0;
    for (size_t i = 0; i < sizeof constructs / sizeof *constructs; i++) {
        size_t n = strlen(constructs[i]);
        if (len > n && strcmp(name + len - n, constructs[i]) == 0)
            return true;
    }
    return false;
}

/* --- regions by place --- */

static int compare(const struct collect_region *a, const struct collect_region *b)
{
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->file != b->file)
        return (uintptr_t)a->file < (uintptr_t)b->file ? -1 : 1;
    if (a->line_no != b->line_no)
        return a->line_no < b->line_no ? -1 : 1;
    return (a->column_no > b->column_no) - (a->column_no < b->column_no);
}

static int compare_regions(const void *a, const void *b)
{
    return compare(a, b);
}

static bool is_before(const void *region, const void *key)
{
    return compare(region, key) < 0;
}

static enum pm_status list_regions(struct collector *c, struct collect_binary *binary)
{
    size_t n = pm_pif_n_nouns(binary->pif);
    uint32_t cap = 0;
    for (size_t i = 0; i < n; i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(binary->pif, i, &noun);
        if (!noun.kind || strcmp(noun.kind, "region") != 0 || !noun.file)
            continue;
        const char *file = collect_intern(c, noun.file);
        struct collect_region *regions =
            pm_grow_array(binary->regions->list, binary->regions->n, &cap, 16, sizeof *regions);
        if (!file || !regions)
            return collect_no_memory(c);
        binary->regions->list = regions;
        regions[binary->regions->n++] =
            (struct collect_region){.function = collect_function_around(binary->pif, &noun),
                                    .file = file,
                                    .line_no = noun.line,
                                    .column_no = noun.column,
                                    .row = pm_map_get(&binary->nouns, noun.id),
                                    .is_outlined = is_outlined_construct(noun.name)};
    }
    if (binary->regions->n)
        qsort(binary->regions->list, binary->regions->n, sizeof *binary->regions->list,
              compare_regions);
    return PM_OK;
}

static struct collect_region *region_at(const struct collect_binary *binary,
                                        const struct pm_code_place *place, const char *file,
                                        bool outlined)
{
    struct collect_region key = {place->function, file, place->line_no, place->column_no, 0, false};
    size_t at =
        pm_lower_bound(binary->regions->list, binary->regions->n, sizeof key, &key, is_before);
    for (; at < binary->regions->n && compare(&binary->regions->list[at], &key) == 0; at++)
        if (!outlined || binary->regions->list[at].is_outlined)
            return &binary->regions->list[at];
    return NULL;
}

uint32_t collect_region_at(const struct collect_binary *binary, const struct pm_code_place *place,
                           const char *file, bool outlined)
{
    const struct collect_region *region = region_at(binary, place, file, outlined);
    return region ? region->row : 0;
}

/* The last region that begins at or before the place and has a symbol of its own; NULL: none. */
static struct collect_region *region_before(const struct collect_binary *binary,
                                            const struct pm_code_place *place, const char *file)
{
    struct collect_region key = {place->function, file, place->line_no, place->column_no, 0, false};
    size_t at =
        pm_lower_bound(binary->regions->list, binary->regions->n, sizeof key, &key, is_before);
    while (at < binary->regions->n && compare(&binary->regions->list[at], &key) == 0)
        at++;
    while (at-- > 0) {
        struct collect_region *region = &binary->regions->list[at];
        if (region->function != place->function || region->file != file)
            return NULL;
        if (region->is_outlined)
            return region;
    }
    return NULL;
}

/* --- symbols of regions --- */

/* A part of a symbol; of several parts (hot and cold) the first region counts. */
static enum pm_status add_block(struct collector *c, struct collect_binary *binary,
                                const struct pm_code_block *block)
{
    uint32_t known = pm_map_get(&binary->regions->outlined, block->symbol);
    struct collect_region *first = known > 1 ? &binary->regions->list[known - 2] : NULL;
    for (uint32_t i = 0; i < block->n_tuples; i++) {
        const struct pm_code_tuple *tuple = &block->tuples[i];
        enum pm_status status = PM_OK;
        if (tuple->kind == PM_MAP_SLED || tuple->kind == PM_MAP_PADDING || tuple->site ||
            !tuple->place.line_no)
            continue;
        const char *file = collect_place_file(c, binary, tuple->place.file, &status);
        if (status != PM_OK)
            return status;
        /* Clang's frames are at the directive, GCC's at the function. */
        struct collect_region *region = tuple->kind == PM_MAP_FRAME
                                            ? region_at(binary, &tuple->place, file, true)
                                            : region_before(binary, &tuple->place, file);
        if (region && (!first || region < first))
            first = region;
    }
    if (first)
        first->is_taken = true;
    /* 1: it has none (yet) */
    return pm_map_put(&binary->regions->outlined, block->symbol,
                      first ? (uint32_t)(first - binary->regions->list) + 2 : 1)
               ? PM_OK
               : collect_no_memory(c);
}

/* What is left when all its code has lost its places (it does nothing but call another region):
 * the function's only region that no other symbol implements. */
static enum pm_status guess_region(struct collector *c, struct collect_binary *binary,
                                   const struct pm_code_block *block)
{
    struct collect_region *only = NULL;
    for (size_t i = 0; i < binary->regions->n; i++) {
        struct collect_region *region = &binary->regions->list[i];
        if (region->function != block->function || !region->is_outlined || region->is_taken)
            continue;
        if (only)
            return PM_OK;
        only = region;
    }
    if (!only)
        return PM_OK;
    only->is_taken = true;
    return pm_map_put(&binary->regions->outlined, block->symbol,
                      (uint32_t)(only - binary->regions->list) + 2)
               ? PM_OK
               : collect_no_memory(c);
}

uint32_t collect_region_of(const struct collect_binary *binary, pm_id symbol)
{
    uint32_t position = pm_map_get(&binary->regions->outlined, symbol);
    return position > 1 ? binary->regions->list[position - 2].row : 0;
}

/* {symbol Executes} -> {region Executes} in place of {function Executes}. */
static enum pm_status lead_to_regions(struct collector *c, struct collect_binary *binary,
                                      size_t first_mapping)
{
    size_t n_blocks;
    const struct pm_code_block *blocks = pm_code_map_blocks(binary->map, &n_blocks);
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < n_blocks && status == PM_OK; i++) {
        uint32_t region = collect_region_of(binary, blocks[i].symbol), from, to, function;
        uint32_t symbol = pm_map_get(&binary->nouns, blocks[i].symbol),
                 row = pm_map_get(&binary->nouns, blocks[i].function);
        if (!region || !symbol || !row)
            continue;
        status = collect_short_sentence(c, c->model->executes, symbol, &from);
        if (status == PM_OK)
            status = collect_short_sentence(c, c->model->source_executes, row, &function);
        if (status == PM_OK)
            status = collect_short_sentence(c, c->model->source_executes, region, &to);
        for (size_t m = first_mapping; m < c->model->n_mappings && status == PM_OK; m++)
            if (c->model->mappings[m].source == from &&
                c->model->mappings[m].destination == function)
                c->model->mappings[m].destination = to;
    }
    return status;
}

enum pm_status collect_regions_make(struct collector *c, struct collect_binary *binary,
                                    size_t first_mapping)
{
    size_t n_blocks;
    const struct pm_code_block *blocks = pm_code_map_blocks(binary->map, &n_blocks);
    struct pm_pif_noun noun;
    enum pm_status status = list_regions(c, binary);
    if (status != PM_OK || !binary->regions->n)
        return status;
    status = collect_need_source(c);
    for (size_t i = 0; i < n_blocks && status == PM_OK; i++)
        if (pm_pif_find_noun(binary->pif, blocks[i].symbol, &noun) && is_outlined_name(noun.name))
            status = add_block(c, binary, &blocks[i]);
    for (size_t i = 0; i < n_blocks && status == PM_OK; i++)
        if (pm_map_get(&binary->regions->outlined, blocks[i].symbol) == 1)
            status = guess_region(c, binary, &blocks[i]);
    return status == PM_OK ? lead_to_regions(c, binary, first_mapping) : status;
}
