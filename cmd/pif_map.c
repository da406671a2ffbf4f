/* perfmap pif --map: the late map, for people and as JSON. */
#include "pif.h"

#include "mapping/base/json.h"

#include <stdlib.h>

/* --- which part --- */

struct choice {
    const struct pm_code_map *map;
    const struct pm_pif *pif;
    const char *symbol; /* NULL: not by name */
    bool by_address;
    uint64_t address;
};

/* "0x1140"; a name cannot begin with a digit. */
static bool parse_address(const char *text, uint64_t *ret_address)
{
    static const char digits[] = "0123456789abcdef";
    size_t len = strlen(text);
    uint64_t address = 0;
    if (len < 3 || len > 18 || text[0] != '0' || text[1] != 'x')
        return false;
    for (size_t i = 2; i < len; i++) {
        const char *digit = memchr(digits, text[i] | 32, 16);
        if (!digit)
            return false;
        address = address << 4 | (uint64_t)(digit - digits);
    }
    *ret_address = address;
    return true;
}

static bool is_named(const struct pm_pif *pif, pm_id id, const char *name)
{
    struct pm_pif_noun noun;
    return pm_pif_find_noun(pif, id, &noun) &&
           (!strcmp(noun.name, name) || (noun.linkage && !strcmp(noun.linkage, name)));
}

static bool has_block(const struct choice *choice, const struct pm_code_block *block)
{
    if (choice->by_address)
        return choice->address >= block->address &&
               choice->address - block->address < block->size_bytes;
    return !choice->symbol || is_named(choice->pif, block->symbol, choice->symbol) ||
           is_named(choice->pif, block->function, choice->symbol);
}

static bool has_range(const struct choice *choice, const struct pm_code_range *range)
{
    return !choice->by_address || (choice->address >= range->address &&
                                   choice->address - range->address < range->size_bytes);
}

static enum pm_status choose(const char *path, const char *at, struct choice *choice,
                             struct pm_error *err)
{
    size_t n;
    const struct pm_code_block *blocks = pm_code_map_blocks(choice->map, &n);
    if (!at)
        return PM_OK;
    choice->by_address = parse_address(at, &choice->address);
    choice->symbol = choice->by_address ? NULL : at;
    for (size_t i = 0; i < n; i++)
        if (has_block(choice, &blocks[i]))
            return PM_OK;
    if (choice->by_address)
        return pm_error_set(err, PM_ERR_NOT_FOUND, "the late map of '%s' has no code at %s", path,
                            at);
    return pm_error_set(err, PM_ERR_NOT_FOUND,
                        "the late map of '%s' has no symbol or function '%s' (an address is "
                        "written 0x...)",
                        path, at);
}

/* --- as text --- */

struct text {
    const struct pm_pif *pif;
    struct pm_buf line;
};

/* The noun's name with control bytes as \xNN; its id when the facts do not have it. */
static void add_name(struct text *text, pm_id id)
{
    struct pm_pif_noun noun;
    if (!pm_pif_find_noun(text->pif, id, &noun)) {
        pm_buf_printf(&text->line, "#%016llx", (unsigned long long)id);
        return;
    }
    for (const char *p = noun.name; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            pm_buf_printf(&text->line, "\\x%02X", (unsigned)*p);
        else
            pm_buf_add_byte(&text->line, (unsigned char)*p);
}

static void add_point(struct text *text, const struct pm_code_place *place)
{
    add_name(text, place->file);
    pm_buf_printf(&text->line, ":%u", place->line_no);
    if (place->column_no)
        pm_buf_printf(&text->line, ":%u", place->column_no);
}

static const char *kind_text(enum pm_map_kind kind)
{
    static const char *const texts[] = {
        [PM_MAP_ORDINARY] = "ordinary", [PM_MAP_FRAME] = "frame", [PM_MAP_SPILL] = "spill",
        [PM_MAP_SLED] = "sled",         [PM_MAP_CALL] = "call",   [PM_MAP_PADDING] = "padding",
    };
    return texts[kind];
}

/* "inlined f at a.c:3 in g at a.c:9" */
static void add_sites(struct text *text, const struct pm_code_tuple *tuple)
{
    for (const struct pm_code_site *site = tuple->site; site; site = site->parent) {
        pm_buf_add_str(&text->line, site == tuple->site ? "  inlined " : " in ");
        add_name(text, site->function);
        if (site->call.line_no) {
            pm_buf_add_str(&text->line, " at ");
            add_point(text, &site->call);
        }
    }
}

/* "reads u, *p": what is touched in that way; access 0: in neither. */
static void add_objects(struct text *text, const struct pm_code_tuple *tuple, unsigned access,
                        const char *word)
{
    bool any = false;
    for (uint32_t i = 0; i < tuple->n_objects; i++) {
        unsigned ways = tuple->objects[i].access & (PM_MAP_READS | PM_MAP_WRITES);
        if (access ? !(ways & access) : ways != 0)
            continue;
        pm_buf_add_str(&text->line, any ? ", " : word);
        if (tuple->objects[i].access & PM_MAP_THROUGH)
            pm_buf_add_byte(&text->line, '*');
        add_name(text, tuple->objects[i].noun);
        any = true;
    }
}

static void add_also(struct text *text, const struct pm_code_tuple *tuple)
{
    for (uint32_t i = 0; i < tuple->n_also; i++) {
        pm_buf_add_str(&text->line, i ? ", " : "  also ");
        add_point(text, &tuple->also[i].place);
        pm_buf_printf(&text->line, " (%s%s)", pm_map_reason_text(tuple->also[i].reason),
                      tuple->also[i].inferred ? ", inferred" : "");
    }
}

static void add_range(struct text *text, const struct pm_code_range *range)
{
    const struct pm_code_tuple *tuple = range->tuple;
    pm_buf_printf(&text->line, "  0x%llx-0x%llx  ", (unsigned long long)range->address,
                  (unsigned long long)(range->address + range->size_bytes));
    if (tuple->place.line_no)
        add_point(text, &tuple->place);
    else
        pm_buf_add_str(&text->line, "no statement");
    if (tuple->kind != PM_MAP_ORDINARY)
        pm_buf_printf(&text->line, "  %s", kind_text(tuple->kind));
    add_sites(text, tuple);
    if (tuple->loop) {
        pm_buf_add_str(&text->line, "  loop ");
        add_name(text, tuple->loop);
    }
    add_objects(text, tuple, PM_MAP_READS, "  reads ");
    add_objects(text, tuple, PM_MAP_WRITES, "  writes ");
    add_objects(text, tuple, 0, tuple->kind == PM_MAP_CALL ? "  passes " : "  finds ");
    if (tuple->unnamed)
        pm_buf_add_str(&text->line, "  touches memory without a name");
    add_also(text, tuple);
    pm_buf_add_byte(&text->line, '\n');
}

static void add_block(struct text *text, const struct pm_code_block *block)
{
    add_name(text, block->symbol);
    pm_buf_printf(&text->line, "%s  0x%llx-0x%llx", block->is_cold ? " (cold part)" : "",
                  (unsigned long long)block->address,
                  (unsigned long long)(block->address + block->size_bytes));
    if (block->function) {
        pm_buf_add_str(&text->line, "  function ");
        add_name(text, block->function);
    }
    pm_buf_add_byte(&text->line, '\n');
}

static enum pm_status print_text(const struct choice *choice, FILE *out, struct pm_error *err)
{
    size_t n_blocks, n_ranges;
    const struct pm_code_block *blocks = pm_code_map_blocks(choice->map, &n_blocks);
    const struct pm_code_range *ranges = pm_code_map_ranges(choice->map, &n_ranges);
    struct text text = {choice->pif, PM_BUF_INIT((size_t)1 << 30)};
    bool failed = false;
    for (size_t i = 0; i < n_blocks && !failed; i++) {
        if (!has_block(choice, &blocks[i]))
            continue;
        pm_buf_clear(&text.line);
        add_block(&text, &blocks[i]);
        for (uint32_t k = 0; k < blocks[i].n_ranges; k++)
            if (has_range(choice, &ranges[blocks[i].first_range + k]))
                add_range(&text, &ranges[blocks[i].first_range + k]);
        failed = text.line.failed;
        if (!failed)
            fwrite(text.line.data, 1, text.line.len, out);
    }
    pm_buf_release(&text.line);
    return failed ? pm_error_set(err, PM_ERR_MEMORY, "out of memory") : PM_OK;
}

/* --- as JSON --- */

static void json_noun(struct pm_json *json, const struct pm_pif *pif, const char *key, pm_id id)
{
    struct pm_pif_noun noun;
    char text[17];
    if (!id)
        return;
    snprintf(text, sizeof text, "%016llx", (unsigned long long)id);
    pm_json_object(json, key);
    pm_json_string(json, "id", text);
    if (pm_pif_find_noun(pif, id, &noun))
        pm_json_string(json, "name", noun.name);
    pm_json_end(json);
}

static void json_address(struct pm_json *json, const char *key, uint64_t address)
{
    char text[20];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    pm_json_string(json, key, text);
}

static void json_place(struct pm_json *json, const struct pm_pif *pif, const char *key,
                       const struct pm_code_place *place)
{
    if (!place->line_no)
        return;
    if (key)
        pm_json_object(json, key);
    json_noun(json, pif, "function", place->function);
    json_noun(json, pif, "file", place->file);
    pm_json_u64(json, "line", place->line_no);
    if (place->column_no)
        pm_json_u64(json, "column", place->column_no);
    if (key)
        pm_json_end(json);
}

static void json_sites(struct pm_json *json, const struct pm_pif *pif,
                       const struct pm_code_tuple *tuple)
{
    if (!tuple->site)
        return;
    pm_json_array(json, "inlined"); /* innermost first */
    for (const struct pm_code_site *site = tuple->site; site; site = site->parent) {
        pm_json_object(json, NULL);
        json_noun(json, pif, "function", site->function);
        json_place(json, pif, "call", &site->call);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_objects(struct pm_json *json, const struct pm_pif *pif,
                         const struct pm_code_tuple *tuple)
{
    if (!tuple->n_objects)
        return;
    pm_json_array(json, "objects");
    for (uint32_t i = 0; i < tuple->n_objects; i++) {
        unsigned access = tuple->objects[i].access;
        pm_json_object(json, NULL);
        json_noun(json, pif, "noun", tuple->objects[i].noun);
        pm_json_bool(json, "reads", access & PM_MAP_READS);
        pm_json_bool(json, "writes", access & PM_MAP_WRITES);
        pm_json_bool(json, "through", access & PM_MAP_THROUGH);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_also(struct pm_json *json, const struct pm_pif *pif,
                      const struct pm_code_tuple *tuple)
{
    if (!tuple->n_also)
        return;
    pm_json_array(json, "also");
    for (uint32_t i = 0; i < tuple->n_also; i++) {
        pm_json_object(json, NULL);
        json_place(json, pif, NULL, &tuple->also[i].place);
        pm_json_string(json, "reason", pm_map_reason_text(tuple->also[i].reason));
        pm_json_bool(json, "inferred", tuple->also[i].inferred);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_range(struct pm_json *json, const struct pm_pif *pif,
                       const struct pm_code_range *range)
{
    const struct pm_code_tuple *tuple = range->tuple;
    pm_json_object(json, NULL);
    json_address(json, "address", range->address);
    pm_json_u64(json, "size_bytes", range->size_bytes);
    pm_json_u64(json, "tuple", tuple->number);
    pm_json_string(json, "kind", kind_text(tuple->kind));
    json_place(json, pif, "place", &tuple->place);
    json_sites(json, pif, tuple);
    json_noun(json, pif, "loop", tuple->loop);
    json_objects(json, pif, tuple);
    pm_json_bool(json, "unnamed", tuple->unnamed);
    json_also(json, pif, tuple);
    pm_json_end(json);
}

static void print_json(const struct choice *choice, FILE *out)
{
    size_t n_blocks, n_ranges, n_damaged;
    const struct pm_code_block *blocks = pm_code_map_blocks(choice->map, &n_blocks);
    const struct pm_code_range *ranges = pm_code_map_ranges(choice->map, &n_ranges);
    const char *problem = pm_code_map_problem(choice->map, &n_damaged);
    struct pm_json json;
    pm_json_init(&json, out);
    pm_json_object(&json, NULL);
    pm_json_u64(&json, "n_damaged_blocks", n_damaged);
    if (problem)
        pm_json_string(&json, "problem", problem);
    pm_json_array(&json, "blocks");
    for (size_t i = 0; i < n_blocks; i++) {
        if (!has_block(choice, &blocks[i]))
            continue;
        pm_json_object(&json, NULL);
        json_noun(&json, choice->pif, "symbol", blocks[i].symbol);
        json_noun(&json, choice->pif, "function", blocks[i].function);
        json_address(&json, "address", blocks[i].address);
        pm_json_u64(&json, "size_bytes", blocks[i].size_bytes);
        pm_json_bool(&json, "is_cold", blocks[i].is_cold);
        pm_json_array(&json, "ranges");
        for (uint32_t k = 0; k < blocks[i].n_ranges; k++)
            if (has_range(choice, &ranges[blocks[i].first_range + k]))
                json_range(&json, choice->pif, &ranges[blocks[i].first_range + k]);
        pm_json_end(&json);
        pm_json_end(&json);
    }
    pm_json_end(&json);
    pm_json_end(&json);
    (void)pm_json_done(&json); /* a failed write shows on the stream */
}

enum pm_status pif_map_print(const char *path, const struct pm_code_map *map,
                             const struct pm_pif *pif, const char *at, bool json, FILE *out,
                             struct pm_error *err)
{
    struct choice choice = {.map = map, .pif = pif};
    enum pm_status status = choose(path, at, &choice, err);
    if (status != PM_OK)
        return status;
    if (!json)
        return print_text(&choice, out, err);
    print_json(&choice, out);
    return PM_OK;
}
