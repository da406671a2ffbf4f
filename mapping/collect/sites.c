/* Where functions were called from, and inlined: attributes `called at` and `inlined at` of
 * machine code, as rows of sentences of the source's statements. What a call instruction calls
 * is as if it were inlined where that stands, so its own place comes first. Calls of functions
 * that were entered in the run are taken from call_paths.c, and those of what may lead
 * to one from routes.c; those through pointers and through the linker's tables are not
 * known. */
#include "sites.h"

#include "binaries.h"
#include "call_paths.h"
#include "code.h"
#include "collector.h"
#include "contexts.h"
#include "model.h"
#include "places.h"
#include "routes.h"

#include "format/pm_id.h"
#include "format/pm_map.h"
#include "mapping/base/arena.h"
#include "mapping/base/map.h"
#include "mapping/code/code_map.h"

enum { MAX_SITES = 4096 };

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
    status = collect_short_sentence(c, c->model->source_executes, row, &sentence);
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
    const struct pm_code_tuple *tuple = code->range->tuple;
    struct pm_buf text = PM_BUF_INIT(1 << 16);
    enum pm_status status =
        tuple->kind == PM_MAP_CALL ? add_place(c, code->binary, &tuple->place, &text) : PM_OK;
    if (status == PM_OK)
        status = add_sites(c, code->binary, tuple->site, &text);
    if (status == PM_OK && text.failed)
        status = collect_no_memory(c);
    if (status == PM_OK && text.len)
        status = collect_write_attribute(c, code->noun, "inlined at", text.data);
    pm_buf_release(&text);
    return status;
}

/* --- calls --- */

struct call {
    uint32_t callee; /* row of its symbol */
    uint64_t address;
    const char *text; /* "CALLER ROW ROW ...": row of its symbol, then the statements */
};

struct calls {
    struct call *items;
    uint32_t n, cap;
};

/* Row of a symbol, if it was entered in the run; 0. */
static uint32_t entered_symbol(const struct collector *c, const struct collect_binary *binary,
                               pm_id symbol)
{
    uint32_t row = symbol ? pm_map_get(&binary->nouns, symbol) : 0;
    uint32_t sentence =
        row ? pm_map_get(&c->model->sentences, (uint64_t)c->model->executes << 32 | row) : 0;
    return sentence && pm_map_get(&c->contexts->of_sentence, sentence) ? row : 0;
}

static enum pm_status add_call(struct collector *c, struct collect_binary *binary,
                               struct calls *calls, uint32_t caller, uint32_t callee,
                               const struct collect_call *call)
{
    const struct pm_code_range *range = call->range;
    struct pm_buf text = PM_BUF_INIT(1 << 16), at = PM_BUF_INIT(1 << 16);
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
        items[calls->n] = (struct call){callee, call->address, copy};
    calls->n += copy != NULL;
    pm_buf_release(&text);
    pm_buf_release(&at);
    return status == PM_OK && !copy ? collect_no_memory(c) : status;
}

static int compare_calls(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
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

static bool is_same_place(const struct collect_call *a, const struct collect_call *b)
{
    const struct pm_code_tuple *x = a->range->tuple, *y = b->range->tuple;
    return x->site == y->site && x->place.file == y->place.file &&
           x->place.line_no == y->place.line_no && x->place.column_no == y->place.column_no;
}

/* A call of something else, elsewhere in the caller, that may lead to the same function: then it
 * is not known where it was called. */
static enum pm_status add_route(struct collector *c, struct collect_binary *binary,
                                struct calls *calls, uint32_t caller, uint32_t callee,
                                const struct collect_call *call, const struct collect_call *first,
                                const struct collect_call *end)
{
    const struct collect_route *route;
    enum pm_status status = collect_route(c, binary, call->callee, &route);
    for (; status == PM_OK && first < end && first->caller == call->caller; first++)
        if (first->callee != call->callee && collect_leads(route, first->callee) &&
            !is_same_place(first, call) && collect_is_call(binary, first))
            return add_call(c, binary, calls, caller, callee, first);
    return status;
}

static enum pm_status find_calls(struct collector *c, struct collect_binary *binary)
{
    struct calls calls = {0};
    const struct collect_call *list;
    size_t n, first = 0; /* of the caller's */
    enum pm_status status = collect_list_calls(c, binary, &list, &n);
    for (size_t i = 0; i < n && status == PM_OK; i++) {
        first = list[i].caller == list[first].caller ? first : i;
        uint32_t caller = entered_symbol(c, binary, list[i].caller),
                 callee = caller ? entered_symbol(c, binary, list[i].callee) : 0;
        if (!callee)
            continue;
        bool is_last = i + 1 == n || list[i + 1].caller != list[i].caller ||
                       list[i + 1].callee != list[i].callee;
        status = add_call(c, binary, &calls, caller, callee, &list[i]);
        if (status == PM_OK && is_last)
            status = add_route(c, binary, &calls, caller, callee, &list[i], list + first, list + n);
    }
    if (status == PM_OK)
        status = write_calls(c, &calls);
    free(calls.items);
    return status;
}

enum pm_status collect_calls_end(struct collector *c)
{
    enum pm_status status = collect_routes_join(c);
    for (struct collect_binary *binary = c->binaries->first; binary && status == PM_OK;
         binary = binary->next)
        if (binary->row && binary->same && !binary->is_runtime && binary->map && binary->blame)
            status = find_calls(c, binary);
    return status;
}
