/* Where functions were called from, and inlined: attributes `called at` and `inlined at` of machine code, as rows of sentences of the source's
 * statements. A call is found by its instruction: call or jmp with a distance that leads to the beginning of a function that was entered in the
 * run. Bytes that only look so are 1 in 2^32 for each function. Calls through pointers and through the linker's tables are not found. */
#include "collect_internal.h"

enum { MAX_SITES = 4096, CALL_BYTES = 5 };

/* Adds " ROW" for a place that a statement stands at. */
static enum pm_status add_place(struct collector *c, struct collect_binary *binary,
                                const struct pm_code_place *place, struct pm_buf *out)
{
    uint32_t row = 0, sentence;
    enum pm_status status = collect_need_source(c);
    if (status == PM_OK)
        status = collect_map_statement(c, binary, place, 0, &row);
    if (status != PM_OK || !row)
        return status;
    status = collect_short_sentence(c, c->source_executes, row, &sentence);
    pm_buf_printf(out, "%s%u", out->len ? " " : "", sentence);
    return status;
}

static enum pm_status add_sites(struct collector *c, struct collect_binary *binary,
                                const struct pm_code_site *site, struct pm_buf *out)
{
    enum pm_status status = PM_OK;
    for (; site && status == PM_OK; site = site->parent)
        status = add_place(c, binary, &site->call, out);
    return status;
}

enum pm_status collect_inlined_at(struct collector *c, const struct collect_code *code)
{
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    enum pm_status status = add_sites(c, code->binary, code->range->tuple->site, &text);
    if (status == PM_OK && text.failed)
        status = collect_no_memory(c);
    if (status == PM_OK && text.len)
        status = collect_write_attribute(c, code->noun, "inlined at", text.data);
    pm_buf_release(&text);
    return status;
}

/* --- calls --- */

struct call {
    uint32_t callee, number; /* callee: row of its symbol; number: order of finding */
    const char *text;        /* "CALLER ROW ROW ...": row of its symbol, then the statements */
};

struct calls {
    struct call *items;
    uint32_t n, cap;
};

/* Row of the block's symbol, if it was entered in the run; 0. */
static uint32_t entered_symbol(const struct collector *c, const struct collect_binary *binary,
                               const struct pm_code_block *block)
{
    uint32_t row = pm_map_get(&binary->nouns, block->symbol);
    uint32_t sentence = row ? pm_map_get(&c->sentences, (uint64_t)c->executes << 32 | row) : 0;
    return sentence && pm_map_get(&c->entered, sentence) ? row : 0;
}

static enum pm_status add_call(struct collector *c, struct collect_binary *binary,
                               struct calls *calls, uint32_t caller, uint32_t callee,
                               uint64_t address)
{
    const struct pm_code_range *range = pm_code_map_find(binary->map, address);
    struct pm_buf text = PM_BUF_INIT(1 << 16), at = PM_BUF_INIT(1 << 16);
    if (!range || range->tuple->kind == PM_MAP_SLED)
        return PM_OK;
    enum pm_status status = add_place(c, binary, &range->tuple->place, &at);
    if (status == PM_OK)
        status = add_sites(c, binary, range->tuple->site, &at);
    pm_buf_printf(&text, "%u%s%s", caller, at.len ? " " : "", at.len ? at.data : "");
    struct call *items =
        text.failed || at.failed
            ? NULL
            : pm_grow_array(calls->items, calls->n, &calls->cap, 256, sizeof *calls->items);
    const char *copy = items ? pm_arena_strndup(&c->arena, text.data, text.len) : NULL;
    if (items)
        calls->items = items;
    if (copy)
        items[calls->n] = (struct call){callee, calls->n, copy};
    calls->n += copy != NULL;
    pm_buf_release(&text);
    pm_buf_release(&at);
    return status == PM_OK && !copy ? collect_no_memory(c) : status;
}

static int32_t distance_at(const unsigned char *p)
{
    int32_t distance;
    memcpy(&distance, p, sizeof distance);
    return distance;
}

/* Calls in one block, of functions in `targets` (address -> row). */
static enum pm_status scan_block(struct collector *c, struct collect_binary *binary,
                                 const struct pm_code_block *block, const struct pm_map *targets,
                                 struct calls *calls)
{
    uint32_t caller = entered_symbol(c, binary, block);
    const unsigned char *code =
        caller ? pm_blame_code(binary->blame, block->address, block->size_bytes) : NULL;
    enum pm_status status = PM_OK;
    for (uint64_t i = 0; code && i + CALL_BYTES <= block->size_bytes && status == PM_OK; i++) {
        if (code[i] != 0xe8 && code[i] != 0xe9)
            continue;
        uint64_t next = block->address + i + CALL_BYTES;
        uint32_t callee = pm_map_get(targets, next + (uint64_t)(int64_t)distance_at(code + i + 1));
        bool is_own = callee == caller && code[i] == 0xe9; /* a jump to the own beginning: a loop */
        if (callee && !is_own)
            status = add_call(c, binary, calls, caller, callee, next - CALL_BYTES);
    }
    return status;
}

static int compare_calls(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static enum pm_status write_calls(struct collector *c, struct calls *calls)
{
    enum pm_status status = PM_OK;
    if (calls->n)
        qsort(calls->items, calls->n, sizeof *calls->items, compare_calls);
    for (size_t i = 0, end; i < calls->n && status == PM_OK; i = end) {
        struct pm_buf text = PM_BUF_INIT(1 << 24);
        for (end = i; end < calls->n && calls->items[end].callee == calls->items[i].callee; end++)
            if (end - i < MAX_SITES)
                pm_buf_printf(&text, "%s%s", end > i ? "\n" : "", calls->items[end].text);
        if (end - i <= MAX_SITES) /* else they are not known */
            status = text.failed ? collect_no_memory(c)
                                 : collect_write_attribute(c, calls->items[i].callee, "called at",
                                                           text.data);
        pm_buf_release(&text);
    }
    return status;
}

static enum pm_status find_calls(struct collector *c, struct collect_binary *binary)
{
    struct pm_map targets = {0};
    struct calls calls = {0};
    size_t n;
    const struct pm_code_block *blocks = pm_code_map_blocks(binary->map, &n);
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < n && status == PM_OK; i++) {
        uint32_t row = blocks[i].is_cold ? 0 : entered_symbol(c, binary, &blocks[i]);
        if (row && !pm_map_put(&targets, blocks[i].address, row))
            status = collect_no_memory(c);
    }
    for (size_t i = 0; i < n && status == PM_OK && targets.n; i++)
        status = scan_block(c, binary, &blocks[i], &targets, &calls);
    if (status == PM_OK)
        status = write_calls(c, &calls);
    pm_map_release(&targets);
    free(calls.items);
    return status;
}

enum pm_status collect_calls_end(struct collector *c)
{
    enum pm_status status = PM_OK;
    for (struct collect_binary *binary = c->binaries; binary && status == PM_OK;
         binary = binary->next)
        if (binary->row && binary->same && !binary->is_runtime && binary->map && binary->blame)
            status = find_calls(c, binary);
    return status;
}
