/* Blocks of the heap as nouns. A place that allocates is a noun of kind heap, called by the
 * variable that its statement writes and by its line; what was allocated there is the cost of
 * {code Allocates} below the context that allocated. Large blocks are nouns of their own, below
 * it. */
#include "heap.h"

#include "accesses.h"
#include "active.h"
#include "binaries.h"
#include "code.h"
#include "collector.h"
#include "costs.h"
#include "model.h"
#include "places.h"
#include "process.h"
#include "run_names.h"
#include "touches.h"

#include "format/pm_id.h"
#include "mapping/base/map.h"
#include "mapping/code/code_map.h"
#include "mapping/pif/pif.h"
#include "mapping/run/run_file.h"

#include <stdlib.h>

enum { MAX_VARIABLES = 4 }; /* of one statement: more are not told */

struct collect_heap {
    struct collect_binary *binary;
    char *name; /* owned */
    pm_id id;
    uint32_t noun, sentence; /* rows; sentence: {noun Allocates} */
    uint32_t n_variables;
    pm_id variables[MAX_VARIABLES];
    uint64_t n_allocations, n_freed, live_bytes, life_ns, least_bytes, most_bytes;
    uint32_t n_blocks;
};

static const struct collect_metric heap_metrics[] = {
    {"n_allocations", "allocations", "count", "blocks of the heap that were allocated", false},
    {"allocated_bytes", "bytes", "bytes", "bytes of the heap that were allocated", false},
    {"peak_bytes", "bytes", "bytes",
     "most bytes alive at a time of one place, call path and thread", false, "maximum"},
    {"live_bytes", "bytes", "bytes", "bytes of the heap that were alive at the end", false},
};

/* --- what the block is known by --- */

enum wanted { WANTED_FIELD, WANTED_POINTER, WANTED_WRITTEN, WANTED_CLASS, N_WANTED };

/* A number leads to no block. */
static bool is_number(const char *type)
{
    static const char *const words[] = {
        "int",   "long",   "short",  "char", "signed",  "unsigned", "bool",    "_Bool",
        "float", "double", "size_t", "real", "integer", "logical",  "complex", "enum"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);
        if (strncmp(type, words[i], len) == 0 && (!type[len] || strchr(" (", type[len])))
            return true;
    }
    return false;
}

static bool is_wanted(const struct pm_pif_noun *noun, bool is_read, enum wanted wanted)
{
    const char *type = noun->type ? noun->type : "";
    bool points = strpbrk(type, "*[") || strstr(type, "allocatable") || strstr(type, "pointer") ||
                  strcmp(noun->kind, "array") == 0;
    switch (wanted) {
    case WANTED_FIELD:
        return !is_read && strcmp(noun->kind, "field") == 0 && points;
    case WANTED_POINTER:
        return !is_read && points;
    case WANTED_WRITTEN:
        return !is_read && !is_number(type);
    default: /* what allocates in its own functions: a vector, a map */
        return strchr(type, '<') != NULL;
    }
}

/* What the statement's block is (probably) known by: the field at the end of b->items =
 * malloc(n), else pointers and allocatable arrays that it writes, else the one variable that it
 * writes; in code of a header that was inlined (of a vector) the one variable of such a type. */
static void find_variables(struct collect_heap *heap, uint32_t statement, bool in_header)
{
    const struct collect_binary *binary = heap->binary;
    size_t first = collect_first_access(binary, statement);
    for (enum wanted wanted = 0; wanted < N_WANTED; wanted++) {
        uint32_t n = 0;
        for (size_t i = first;
             i < binary->accesses->n && binary->accesses->list[i].statement == statement; i++) {
            const struct collect_access *access = &binary->accesses->list[i];
            struct pm_pif_noun noun;
            if (!pm_pif_find_noun(binary->pif, access->variable, &noun) ||
                !is_wanted(&noun, access->is_read, wanted) ||
                (n && heap->variables[n - 1] == access->variable))
                continue;
            if (n < MAX_VARIABLES)
                heap->variables[n] = access->variable;
            n++;
        }
        bool must_be_one = wanted >= WANTED_WRITTEN;
        if (n && n <= (must_be_one ? 1 : MAX_VARIABLES) && (wanted != WANTED_CLASS || in_header)) {
            heap->n_variables = n;
            return;
        }
    }
}

/* --- the place --- */

static const char *file_of(const struct collect_binary *binary, const struct pm_code_place *place)
{
    struct pm_pif_noun noun;
    return pm_pif_find_noun(binary->pif, place->file, &noun) ? noun.name : NULL;
}

static const char *short_name(const struct pm_pif_noun *noun)
{
    const char *name = noun->name ? noun->name : "", *last = name;
    if (strcmp(noun->kind, "field") == 0)
        return name;
    for (const char *p = name; (p = strstr(p, "::"));)
        last = p += 2;
    return last;
}

static void add_name(struct pm_buf *name, const struct collect_heap *heap,
                     const struct collect_code *code, const struct pm_code_place *place)
{
    struct pm_pif_noun noun;
    for (uint32_t i = 0; i < heap->n_variables; i++)
        if (pm_pif_find_noun(heap->binary->pif, heap->variables[i], &noun))
            pm_buf_printf(name, "%s%s", i ? "," : "", short_name(&noun));
    const char *file = code->range ? file_of(heap->binary, place) : NULL;
    if (file && place->line_no)
        pm_buf_printf(name, "%s%s:%u", name->len ? "@" : "", collect_base_name(file),
                      place->line_no);
    else if (pm_pif_find_noun(heap->binary->pif, code->symbol_id, &noun) && noun.name)
        pm_buf_printf(name, "heap of %s", noun.name);
    else
        pm_buf_printf(name, "heap of %s", collect_base_name(heap->binary->path));
}

/* Where the variable is declared, else the function that allocates. */
static enum pm_status find_parent(struct collector *c, const struct collect_heap *heap,
                                  const struct collect_code *code,
                                  const struct pm_code_place *place, uint32_t *ret_row)
{
    struct pm_pif_noun noun;
    *ret_row = 0;
    if (heap->n_variables && pm_pif_find_noun(heap->binary->pif, heap->variables[0], &noun) &&
        noun.parent)
        *ret_row = pm_map_get(&heap->binary->nouns, noun.parent);
    if (*ret_row || !code->range || !place->function)
        return PM_OK;
    return collect_map_noun(c, heap->binary, place->function, "function", NULL, ret_row);
}

static enum pm_status write_heap(struct collector *c, struct collect_heap *heap,
                                 const struct collect_code *code, const struct pm_code_place *place)
{
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    struct pm_pif_noun variable;
    uint32_t parent;
    add_name(&name, heap, code, place);
    bool has_type = heap->n_variables == 1 &&
                    pm_pif_find_noun(heap->binary->pif, heap->variables[0], &variable);
    struct pm_pif_noun noun = {
        .id = heap->id,
        .name = name.data,
        .kind = "heap",
        .description = "blocks of the heap that were allocated here",
        .type = has_type ? variable.type : NULL,
        .file = code->range ? file_of(heap->binary, place) : NULL,
        .line = place->line_no,
        .column = place->column_no,
    };
    enum pm_status status =
        name.failed ? collect_no_memory(c) : find_parent(c, heap, code, place, &parent);
    heap->noun = ++c->model->n_nouns;
    if (status == PM_OK)
        status = collect_write_noun(c, heap->noun, &noun, c->model->source_level, heap->binary->row,
                                    parent);
    if (status == PM_OK)
        status = collect_short_sentence(c, c->model->source_allocates, heap->noun, &heap->sentence);
    heap->name = pm_buf_take(&name);
    return status;
}

static enum pm_status need_verbs(struct collector *c)
{
    enum pm_status status = collect_need_source(c);
    if (c->model->source_allocates || status != PM_OK)
        return status;
    status = collect_verb_row(c, "Base", "Allocates", "units are bytes of the heap",
                              &c->model->allocates);
    return status == PM_OK
               ? collect_verb_row(c, "Source", "Allocates", "units are bytes of the heap",
                                  &c->model->source_allocates)
               : status;
}

static pm_id heap_id(const struct collect_code *code, const struct pm_code_place *place)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "heap");
    pm_id_hash_id(&hash, code->range ? place->function : code->symbol_id);
    pm_id_hash_id(&hash, place->file);
    pm_id_hash_number(&hash, place->line_no);
    pm_id_hash_number(&hash, place->column_no);
    return pm_id_hash_done(&hash);
}

/* Position of the place's noun. */
static enum pm_status find_heap(struct collector *c, const struct collect_code *code,
                                const struct pm_code_place *place, uint32_t statement,
                                bool in_header, uint32_t *ret_heap)
{
    struct collect_heap heap = {.binary = code->binary, .id = heap_id(code, place)};
    *ret_heap = pm_map_get(&heap.binary->heaps, heap.id);
    if (*ret_heap) {
        --*ret_heap;
        return PM_OK;
    }
    enum pm_status status = collect_accesses_make(c, heap.binary);
    struct collect_heap *heaps =
        pm_grow_array(c->heaps->list, c->heaps->n, &c->heaps->cap, 1024, sizeof *heaps);
    if (!heaps)
        return collect_no_memory(c);
    c->heaps->list = heaps;
    if (status == PM_OK && statement)
        find_variables(&heap, statement, in_header);
    if (status == PM_OK)
        status = write_heap(c, &heap, code, place);
    heaps[c->heaps->n++] = heap;
    *ret_heap = (uint32_t)c->heaps->n - 1;
    if (status == PM_OK && !pm_map_put(&heap.binary->heaps, heap.id, (uint32_t)c->heaps->n))
        return collect_no_memory(c);
    return status;
}

/* --- {code Allocates} --- */

static enum pm_status map_to(struct collector *c, uint32_t source, uint32_t destination,
                             const char *origin)
{
    return collect_add_mapping(
        c,
        &(struct collect_mapping){.source = source, .destination = destination, .origin = origin});
}

/* To its statement, and its loop or function. */
static enum pm_status map_to_place(struct collector *c, const struct collect_code *code,
                                   const struct pm_code_place *place, uint32_t statement,
                                   uint32_t sentence, const char *origin)
{
    pm_id loop = code->range->tuple->loop;
    uint32_t destination, row = 0;
    enum pm_status status = PM_OK;
    if (statement)
        status = collect_short_sentence(c, c->model->source_executes, statement, &destination);
    if (status == PM_OK && statement)
        status = map_to(c, sentence, destination, origin);
    if (status == PM_OK)
        status = collect_map_noun(c, code->binary, loop ? loop : place->function,
                                  loop ? "loop" : "function", NULL, &row);
    if (status == PM_OK)
        status = collect_short_sentence(c, c->model->source_executes, row, &destination);
    return status == PM_OK ? map_to(c, sentence, destination, origin) : status;
}

/* Sentence and noun of the code that called, made when they are not there yet. */
static enum pm_status allocating_code(struct collector *c, const struct collect_code *code,
                                      bool is_sure, uint32_t *ret_sentence, uint32_t *ret_heap)
{
    struct pm_code_place place = {0};
    bool in_header = false;
    uint32_t statement = 0;
    enum pm_status status = need_verbs(c);
    if (code->range)
        place = collect_user_place(code->binary, code->range->tuple, &in_header);
    if (status == PM_OK && code->range)
        status = collect_map_statement(c, code->binary, &place, code->region, &statement);
    if (status == PM_OK)
        status = find_heap(c, code, &place, statement, in_header, ret_heap);
    if (status == PM_OK)
        status = collect_short_sentence(c, c->model->allocates, code->noun, ret_sentence);
    if (status != PM_OK || pm_map_get(&c->codes->calls, *ret_sentence))
        return status;
    const char *origin = is_sure ? "compiler" : "inferred";
    if (!pm_map_put(&c->codes->calls, *ret_sentence, 1))
        return collect_no_memory(c);
    status =
        map_to(c, *ret_sentence, c->heaps->list[*ret_heap].sentence, is_sure ? "run" : "inferred");
    if (status == PM_OK && code->range)
        status = map_to_place(c, code, &place, statement, *ret_sentence, origin);
    for (size_t i = 0; status == PM_OK && !code->range && i < code->n_mappings; i++)
        status = map_to(c, *ret_sentence, c->model->mappings[code->first_mapping + i].destination,
                        origin);
    return status;
}

/* --- costs --- */

static enum pm_status add_costs(struct collector *c, uint32_t context, uint32_t thread,
                                const struct pm_run_file_heap_site *site)
{
    const uint64_t values[] = {site->n_allocations, site->allocated_bytes, site->peak_bytes,
                               site->allocated_bytes - site->freed_bytes};
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < sizeof values / sizeof *values && status == PM_OK; i++) {
        uint32_t metric;
        status = collect_metric(c, &heap_metrics[i], &metric);
        if (status == PM_OK)
            status = collect_cost(c, context, thread, metric, values[i]);
    }
    return status;
}

static void add_up(struct collect_heap *heap, const struct pm_run_file_heap_site *site)
{
    if (site->n_allocations && (heap->n_allocations == 0 || site->least_bytes < heap->least_bytes))
        heap->least_bytes = site->least_bytes;
    if (site->most_bytes > heap->most_bytes)
        heap->most_bytes = site->most_bytes;
    heap->n_allocations += site->n_allocations;
    heap->n_freed += site->n_freed;
    heap->live_bytes += site->allocated_bytes - site->freed_bytes;
    heap->life_ns += site->life_ns;
}

enum pm_status collect_locate_heap(struct collector *c, const struct pm_run_file *file,
                                   struct collect_names *names)
{
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < pm_run_file_n_heap_sites(file) && status == PM_OK; i++) {
        const struct pm_run_file_heap_site *site = pm_run_file_heap_site(file, i);
        struct collect_where where = {.file = file, .names = names};
        if (site->thread < pm_run_file_n_threads(file))
            where.thread = pm_run_file_thread(file, site->thread);
        if (!where.thread || !where.thread->n_nodes || site->object == PM_RUN_FILE_NO_OBJECT)
            continue;
        where.node = collect_unfolded(where.thread, site->node);
        status =
            collect_code_at(c, names->binaries[site->object], site->caller, &names->heap_codes[i]);
        if (status == PM_OK)
            status = collect_locate_context(c, &where, collect_code(c, names->heap_codes[i]));
    }
    return status;
}

enum pm_status collect_heap_site(struct collector *c, uint32_t number,
                                 const struct pm_run_file_heap_site *site,
                                 const struct collect_where *where, uint32_t *ret_heap)
{
    const struct collect_code *code = collect_code(c, number);
    uint32_t context = where->context.row, sentence, heap = COLLECT_NO_HEAP;
    enum pm_status status = PM_OK;
    if (code->symbol && code->binary && code->binary->pif && !code->is_perfmap) {
        status = allocating_code(c, code, site->caller_sure, &sentence, &heap);
        if (status == PM_OK)
            status = collect_code_context(c, where, code, sentence, &context);
        if (status == PM_OK)
            add_up(&c->heaps->list[heap], site);
    }
    *ret_heap = heap;
    return status == PM_OK ? add_costs(c, context, where->thread_row, site) : status;
}

/* --- large blocks --- */

static enum pm_status write_number(struct collector *c, uint32_t row, const char *key,
                                   uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return collect_write_attribute(c, row, key, text);
}

static enum pm_status write_address(struct collector *c, uint32_t row, uint64_t address)
{
    char text[32];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    return collect_write_attribute(c, row, "address", text);
}

static enum pm_status write_block(struct collector *c, struct collect_heap *heap,
                                  const struct pm_run_file_heap_block *block, uint64_t start_ns,
                                  uint32_t pid)
{
    struct pm_id_hash hash;
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    uint32_t row = ++c->model->n_nouns, number = ++heap->n_blocks;
    pm_id_hash_init(&hash, "heap block");
    pm_id_hash_id(&hash, heap->id);
    pm_id_hash_number(&hash, number);
    pm_buf_printf(&name, "%s#%u", heap->name, number);
    struct pm_pif_noun noun = {.id = pm_id_hash_done(&hash), .name = name.data, .kind = "heap"};
    enum pm_status status = name.failed ? collect_no_memory(c)
                                        : collect_write_noun(c, row, &noun, c->model->source_level,
                                                             heap->binary->row, heap->noun);
    pm_buf_release(&name);
    if (status == PM_OK)
        status = write_address(c, row, block->address);
    if (status == PM_OK)
        status = write_number(c, row, "size_bytes", block->size_bytes);
    if (status == PM_OK)
        status = write_number(c, row, "allocated_ns", start_ns + block->allocated_ns);
    if (status == PM_OK && block->is_freed)
        status = write_number(c, row, "freed_ns", start_ns + block->freed_ns);
    return status == PM_OK ? write_number(c, row, "pid", pid) : status;
}

enum pm_status collect_heap_blocks(struct collector *c, uint64_t start_tsc,
                                   const struct pm_run_file *file, const uint32_t *heaps)
{
    uint64_t start_ns = collect_start_ns(start_tsc, file);
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < pm_run_file_n_heap_blocks(file) && status == PM_OK; i++) {
        const struct pm_run_file_heap_block *block = pm_run_file_heap_block(file, i);
        if (heaps[block->site] != COLLECT_NO_HEAP)
            status = write_block(c, &c->heaps->list[heaps[block->site]], block, start_ns,
                                 pm_run_file_process(file)->pid);
    }
    return status;
}

/* --- the end --- */

static enum pm_status write_attributes(struct collector *c, const struct collect_heap *heap)
{
    uint64_t n_live = heap->n_allocations - heap->n_freed;
    enum pm_status status = write_number(c, heap->noun, "n_allocations", heap->n_allocations);
    if (status == PM_OK)
        status = write_number(c, heap->noun, "least_bytes", heap->least_bytes);
    if (status == PM_OK)
        status = write_number(c, heap->noun, "most_bytes", heap->most_bytes);
    if (status == PM_OK)
        status = write_number(c, heap->noun, "n_live", n_live);
    if (status == PM_OK)
        status = write_number(c, heap->noun, "live_bytes", heap->live_bytes);
    if (status == PM_OK && heap->n_freed)
        status = write_number(c, heap->noun, "mean_life_ns", heap->life_ns / heap->n_freed);
    return status;
}

/* The object behind a pointer: certain when nothing else writes the pointer (or through it,
 * which the facts do not tell apart). */
static enum pm_status map_pointer(struct collector *c, const struct collect_heap *heap,
                                  pm_id variable, const struct pm_map *n_heaps)
{
    const struct collect_binary *binary = heap->binary;
    uint32_t row = pm_map_get(&binary->nouns, variable), from, to;
    bool is_only = heap->n_variables == 1 && pm_map_get(&binary->accesses->n_writers, variable) <=
                                                 pm_map_get(n_heaps, variable);
    const uint32_t verbs[] = {c->model->source_reads, c->model->source_writes};
    enum pm_status status = PM_OK;
    for (int i = 0; i < 2 && row && status == PM_OK; i++) {
        status = collect_short_sentence(c, verbs[i], row, &from);
        if (status == PM_OK)
            status = collect_short_sentence(c, verbs[i], heap->noun, &to);
        if (status == PM_OK)
            status = map_to(c, from, to, is_only ? "run" : "inferred");
    }
    return status;
}

enum pm_status collect_heap_end(struct collector *c)
{
    struct pm_map n_heaps = {0}; /* by variable */
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < c->heaps->n; i++)
        for (uint32_t k = 0; k < c->heaps->list[i].n_variables && status == PM_OK; k++) {
            pm_id variable = c->heaps->list[i].variables[k];
            if (!pm_map_put(&n_heaps, variable, pm_map_get(&n_heaps, variable) + 1))
                status = collect_no_memory(c);
        }
    for (size_t i = 0; i < c->heaps->n && status == PM_OK; i++) {
        const struct collect_heap *heap = &c->heaps->list[i];
        status = write_attributes(c, heap);
        for (uint32_t k = 0; k < heap->n_variables && status == PM_OK; k++)
            status = map_pointer(c, heap, heap->variables[k], &n_heaps);
    }
    pm_map_release(&n_heaps);
    return status;
}

void collect_heap_release(struct collector *c)
{
    for (size_t i = 0; i < c->heaps->n; i++)
        free(c->heaps->list[i].name);
    free(c->heaps->list);
}

void collect_heap_binary_release(struct collect_binary *binary)
{
    free(binary->accesses->list);
    pm_map_release(&binary->accesses->n_writers);
    pm_map_release(&binary->heaps);
}
