/* Which noun of a binary's facts stands for a place that its late map names. */
#include "places.h"

#include "binaries.h"
#include "collector.h"
#include "model.h"
#include "regions.h"
#include "touches.h"

#include "format/pm_id.h"
#include "format/pm_map.h"
#include "mapping/base/map.h"
#include "mapping/base/statement_names.h"
#include "mapping/code/code_map.h"
#include "mapping/pif/pif.h"

#include <stdlib.h>

enum { SEVERAL = UINT32_MAX };

/* --- statements by place --- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_statements(const void *a, const void *b)
{
    const struct collect_source_statement *x = a, *y = b;
    int order = compare_numbers(x->function, y->function);
    if (order == 0)
        order = compare_numbers((uintptr_t)x->file, (uintptr_t)y->file);
    if (order == 0)
        order = compare_numbers(x->line_no, y->line_no);
    if (order == 0)
        order = compare_numbers(x->column_no, y->column_no);
    return order ? order : compare_numbers(x->row, y->row);
}

pm_id collect_function_around(const struct pm_pif *pif, const struct pm_pif_noun *noun)
{
    enum { MAX_DEPTH = 1000 };
    struct pm_pif_noun at = *noun;
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        if (at.kind && strcmp(at.kind, "function") == 0)
            return at.id;
        if (!at.parent || !pm_pif_find_noun(pif, at.parent, &at))
            return 0;
    }
    return 0;
}

static enum pm_status add_statement(struct collector *c, struct collect_binary *binary,
                                    const struct pm_pif_noun *noun)
{
    const char *file = noun->file ? collect_intern(c, noun->file) : NULL;
    if (noun->file && !file)
        return collect_no_memory(c);
    binary->places->statements[binary->places->n_statements++] = (struct collect_source_statement){
        .function = collect_function_around(binary->pif, noun),
        .parent = noun->parent,
        .file = file,
        .line_no = noun->line,
        .column_no = noun->column,
        .end_line_no = noun->end_line,
        .row = pm_map_get(&binary->nouns, noun->id),
    };
    return PM_OK;
}

const char *collect_place_file(struct collector *c, const struct collect_binary *binary, pm_id file,
                               enum pm_status *status)
{
    struct pm_pif_noun noun;
    if (!binary->pif || !pm_pif_find_noun(binary->pif, file, &noun) || !noun.name)
        return NULL;
    const char *name = collect_intern(c, noun.name);
    if (!name)
        *status = collect_no_memory(c);
    return name;
}

static bool is_before(const void *statement, const void *key)
{
    return compare_statements(statement, key) < 0;
}

/* Position of the first statement that is not before the key. */
static size_t lower_bound(const struct collect_binary *binary,
                          const struct collect_source_statement *key)
{
    return pm_lower_bound(binary->places->statements, binary->places->n_statements, sizeof *key,
                          key, is_before);
}

static bool is_of(const struct collect_source_statement *statement,
                  const struct collect_source_statement *key)
{
    return statement->function == key->function && statement->file == key->file;
}

/* Facts state where a statement ends only when that is another line. */
static bool is_over(const struct collect_source_statement *statement,
                    const struct pm_code_place *place)
{
    uint32_t end = statement->end_line_no ? statement->end_line_no : statement->line_no;
    return end < place->line_no;
}

enum { MAX_PARENTHESES = 1 };

/* What stands at a place of a function's text. */
enum place_kind {
    PLACE_STATEMENT, /* of the facts */
    /* before the first statement or in the last line: where the function is entered and left */
    PLACE_FRAME,
    /* none that the facts have: `} catch`, the end of a block that destroys its variables */
    PLACE_UNKNOWN
};

/* The statement that begins at the place, else the last one that begins before and is not over. */
static enum place_kind find_place(const struct collect_binary *binary,
                                  const struct pm_code_place *place, const char *file,
                                  struct collect_source_statement **ret_statement)
{
    struct collect_source_statement key = {.function = place->function, .file = file};
    struct pm_pif_noun function = {0};
    size_t first = lower_bound(binary, &key);
    key.line_no = place->line_no;
    key.column_no = place->column_no;
    size_t at = lower_bound(binary, &key);
    struct collect_source_statement *after =
        at < binary->places->n_statements && is_of(&binary->places->statements[at], &key) &&
                binary->places->statements[at].line_no == place->line_no
            ? &binary->places->statements[at]
            : NULL;
    struct collect_source_statement *before =
        at == first ? NULL : &binary->places->statements[at - 1];
    /* A condition's place may be the parenthesis before it. */
    bool first_of_line = !before || before->line_no != place->line_no;
    bool is_after =
        after && (place->column_no == 0 || after->column_no == place->column_no ||
                  (first_of_line && after->column_no - place->column_no <= MAX_PARENTHESES));
    *ret_statement = is_after ? after : before;
    if (is_after || (before && !is_over(before, place)))
        return PLACE_STATEMENT;
    bool is_own = binary->pif && pm_pif_find_noun(binary->pif, place->function, &function) &&
                  file && function.file && strcmp(function.file, file) == 0;
    bool is_last =
        at == binary->places->n_statements || !is_of(&binary->places->statements[at], &key);
    if (!is_own || (!before && is_last)) /* of system headers no statements are known */
        return PLACE_UNKNOWN;
    bool is_frame = !before             ? function.line <= place->line_no
                    : function.end_line ? function.end_line == place->line_no
                                        : is_last;
    return is_frame ? PLACE_FRAME : PLACE_UNKNOWN;
}

/* --- made once per binary --- */

static uint64_t hash_of(const char *name)
{
    return XXH64(name, strlen(name), 0);
}

static enum pm_status add_name(struct collector *c, struct pm_map *names, const char *name,
                               uint32_t value)
{
    uint64_t key = hash_of(name);
    uint32_t known = pm_map_get(names, key);
    return known == value || pm_map_put(names, key, known ? (uint32_t)SEVERAL : value)
               ? PM_OK
               : collect_no_memory(c);
}

static enum pm_status add_names(struct collector *c, struct collect_binary *binary, size_t index,
                                const struct pm_pif_noun *noun)
{
    const char *linkage = noun->linkage ? noun->linkage : noun->name;
    if (!linkage || !noun->kind)
        return PM_OK;
    if (strcmp(noun->kind, "function") == 0)
        return add_name(c, &binary->places->functions, linkage,
                        pm_map_get(&binary->nouns, noun->id));
    if (strcmp(noun->kind, "symbol") == 0)
        return add_name(c, &binary->places->symbol_names, linkage, (uint32_t)index + 1);
    return PM_OK;
}

static size_t count_kind(const struct pm_pif *pif, const char *kind)
{
    size_t n = 0;
    for (size_t i = 0; i < pm_pif_n_nouns(pif); i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(pif, i, &noun);
        n += noun.kind && strcmp(noun.kind, kind) == 0;
    }
    return n;
}

/* Of functions with equal code, which are one symbol, nobody knows which was called. */
static enum pm_status note_implements(struct collector *c, struct collect_binary *binary,
                                      pm_id code, size_t mapping)
{
    uint32_t known = pm_map_get(&binary->places->implements, code);
    return pm_map_put(&binary->places->implements, code,
                      known ? (uint32_t)SEVERAL : (uint32_t)mapping + 1)
               ? PM_OK
               : collect_no_memory(c);
}

/* From {symbol Executes} -> {function Executes} and {loopcode Executes} -> {loop Executes}. */
static enum pm_status find_implements(struct collector *c, struct collect_binary *binary)
{
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < pm_pif_n_mappings(binary->pif) && status == PM_OK; i++) {
        struct pm_pif_mapping mapping;
        struct pm_pif_noun from, to;
        pm_pif_get_mapping(binary->pif, i, &mapping);
        if (mapping.source.n_nouns != 1 || mapping.destination.n_nouns != 1 ||
            !pm_pif_find_noun(binary->pif, mapping.source.nouns[0], &from) || !from.kind ||
            !pm_pif_find_noun(binary->pif, mapping.destination.nouns[0], &to) || !to.kind)
            continue;
        bool is_function = !strcmp(from.kind, "symbol") && !strcmp(to.kind, "function");
        bool is_loop = !strcmp(from.kind, "loopcode") && !strcmp(to.kind, "loop");
        if (is_function || is_loop)
            status = note_implements(c, binary, from.id, i);
    }
    return status;
}

/* Which function's loop a loopcode is, from {loopcode Executes} -> {loop Executes}. */
static enum pm_status find_loop_functions(struct collector *c, struct collect_binary *binary)
{
    size_t n = 0;
    binary->places->loop_functions =
        pm_alloc_array(count_kind(binary->pif, "loopcode"), sizeof *binary->places->loop_functions);
    binary->places->loops =
        pm_alloc_array(count_kind(binary->pif, "loopcode"), sizeof *binary->places->loops);
    if (!binary->places->loop_functions || !binary->places->loops)
        return collect_no_memory(c);
    for (size_t i = 0; i < pm_pif_n_mappings(binary->pif); i++) {
        struct pm_pif_mapping mapping;
        struct pm_pif_noun from, to;
        pm_pif_get_mapping(binary->pif, i, &mapping);
        pm_id loopcode = mapping.source.nouns[0];
        if (mapping.source.n_nouns != 1 || mapping.destination.n_nouns != 1 ||
            !pm_pif_find_noun(binary->pif, loopcode, &from) || !from.kind ||
            strcmp(from.kind, "loopcode") != 0 ||
            pm_map_get(&binary->places->loopcodes, loopcode) ||
            !pm_pif_find_noun(binary->pif, mapping.destination.nouns[0], &to))
            continue;
        binary->places->loops[n] = to.id;
        binary->places->loop_functions[n++] = collect_function_around(binary->pif, &to);
        if (!pm_map_put(&binary->places->loopcodes, loopcode, (uint32_t)n) ||
            !pm_map_put(&binary->places->loops_with_sleds, to.id, 1))
            return collect_no_memory(c);
    }
    return PM_OK;
}

enum pm_status collect_places_make(struct collector *c, struct collect_binary *binary)
{
    binary->places->statements =
        pm_alloc_array(count_kind(binary->pif, "statement"), sizeof *binary->places->statements);
    if (!binary->places->statements)
        return collect_no_memory(c);
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < pm_pif_n_nouns(binary->pif) && status == PM_OK; i++) {
        struct pm_pif_noun noun;
        pm_pif_get_noun(binary->pif, i, &noun);
        if (noun.kind && strcmp(noun.kind, "statement") == 0)
            status = add_statement(c, binary, &noun);
        else
            status = add_names(c, binary, i, &noun);
    }
    if (binary->places->n_statements)
        qsort(binary->places->statements, binary->places->n_statements,
              sizeof *binary->places->statements, compare_statements);
    if (status == PM_OK)
        status = find_implements(c, binary);
    return status == PM_OK ? find_loop_functions(c, binary) : status;
}

void collect_places_release(struct collect_binary *binary)
{
    free(binary->places->statements);
    free(binary->places->loop_functions);
    free(binary->places->loops);
    pm_map_release(&binary->places->loops_with_sleds);
    free(binary->regions->list);
    pm_map_release(&binary->regions->outlined);
    pm_map_release(&binary->places->loopcodes);
    pm_map_release(&binary->places->implements);
    pm_map_release(&binary->places->functions);
    pm_map_release(&binary->places->symbol_names);
}

/* --- looking up --- */

pm_id collect_loop_function(const struct collect_binary *binary, pm_id loopcode)
{
    uint32_t position = pm_map_get(&binary->places->loopcodes, loopcode);
    return position ? binary->places->loop_functions[position - 1] : 0;
}

pm_id collect_loop_of_code(const struct collect_binary *binary, pm_id loopcode)
{
    uint32_t position = pm_map_get(&binary->places->loopcodes, loopcode);
    return position ? binary->places->loops[position - 1] : 0;
}

uint32_t collect_function_named(const struct collect_binary *binary, const char *linkage)
{
    uint32_t row = pm_map_get(&binary->places->functions, hash_of(linkage));
    return row == (uint32_t)SEVERAL ? 0 : row;
}

bool collect_symbol_named(const struct collect_binary *binary, const char *name,
                          struct pm_pif_noun *ret_noun)
{
    uint32_t position = pm_map_get(&binary->places->symbol_names, hash_of(name));
    if (!position || position == (uint32_t)SEVERAL)
        return false;
    pm_pif_get_noun(binary->pif, position - 1, ret_noun);
    return true;
}

enum pm_status collect_map_noun(struct collector *c, struct collect_binary *binary, pm_id id,
                                const char *kind, const char *name, uint32_t *ret_row)
{
    *ret_row = pm_map_get(&binary->nouns, id);
    if (*ret_row)
        return PM_OK;
    bool is_symbol = strcmp(kind, "symbol") == 0;
    struct pm_pif_noun noun = {
        .id = id, .name = name, .kind = kind, .description = "named by the late map only"};
    enum pm_status status = collect_need_source(c);
    if (status != PM_OK)
        return status;
    *ret_row = ++c->model->n_nouns;
    if (!pm_map_put(&binary->nouns, id, *ret_row))
        return collect_no_memory(c);
    return collect_write_noun(c, *ret_row, &noun,
                              is_symbol ? c->model->base_level : c->model->source_level,
                              binary->row, 0);
}

/* A noun of level Source that is made here, once for an id. */
static enum pm_status make_noun(struct collector *c, struct collect_binary *binary,
                                const struct pm_pif_noun *noun, uint32_t parent, uint32_t *ret_row)
{
    *ret_row = ++c->model->n_nouns;
    if (!pm_map_put(&binary->nouns, noun->id, *ret_row))
        return collect_no_memory(c);
    return collect_write_noun(c, *ret_row, noun, c->model->source_level, binary->row, parent);
}

/* A statement that the facts do not have: what the map tells of it. */
static enum pm_status make_statement(struct collector *c, struct collect_binary *binary,
                                     const struct pm_code_place *place, const char *file,
                                     uint32_t *ret_row)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "map statement");
    pm_id_hash_id(&hash, place->function);
    pm_id_hash_id(&hash, place->file);
    pm_id_hash_number(&hash, place->line_no);
    pm_id_hash_number(&hash, place->column_no);
    pm_id id = pm_id_hash_done(&hash);
    *ret_row = pm_map_get(&binary->nouns, id);
    if (*ret_row)
        return PM_OK;
    uint32_t function;
    enum pm_status status =
        collect_map_noun(c, binary, place->function, "function", NULL, &function);
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    pm_buf_printf(&name, "%s:%u:%u", file ? file : "unknown file", place->line_no,
                  place->column_no);
    struct pm_pif_noun noun = {.id = id,
                               .name = name.data,
                               .kind = "statement",
                               .description = file ? "named by the late map only"
                                                   : "named by the late map only, in a file that "
                                                     "the facts do not name",
                               .file = file,
                               .line = place->line_no,
                               .column = place->column_no};
    if (status == PM_OK)
        status =
            name.failed ? collect_no_memory(c) : make_noun(c, binary, &noun, function, ret_row);
    pm_buf_release(&name);
    return status;
}

enum pm_status collect_map_frame(struct collector *c, struct collect_binary *binary, pm_id function,
                                 uint32_t *ret_row)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, "frame");
    pm_id_hash_id(&hash, function);
    struct pm_pif_noun of = {0}, noun = {.id = pm_id_hash_done(&hash)};
    uint32_t function_row;
    *ret_row = pm_map_get(&binary->nouns, noun.id);
    if (*ret_row)
        return PM_OK;
    enum pm_status status = collect_map_noun(c, binary, function, "function", NULL, &function_row);
    bool is_known = binary->pif && pm_pif_find_noun(binary->pif, function, &of) && of.name;
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    pm_buf_printf(&name, PM_FRAME_STATEMENT "%s", is_known ? of.name : "unknown function");
    noun.name = name.data;
    noun.kind = "statement";
    noun.description = "saving and restoring registers, taking parameters, returning";
    noun.file = of.file;
    noun.line = of.line;
    noun.column = of.column;
    if (status == PM_OK)
        status =
            name.failed ? collect_no_memory(c) : make_noun(c, binary, &noun, function_row, ret_row);
    pm_buf_release(&name);
    return status;
}

/* The one function or loop that a symbol or loopcode implements; 0: none, or several. */
static pm_id implemented_by(const struct collect_binary *binary, pm_id code)
{
    struct pm_pif_mapping mapping;
    uint32_t position = pm_map_get(&binary->places->implements, code);
    if (!position || position == (uint32_t)SEVERAL)
        return 0;
    pm_pif_get_mapping(binary->pif, position - 1, &mapping);
    return mapping.destination.nouns[0];
}

enum pm_status collect_map_any_of_code(struct collector *c, struct collect_binary *binary,
                                       pm_id code, uint32_t sentence)
{
    pm_id of = binary && binary->pif ? implemented_by(binary, code) : 0;
    return of ? collect_map_any_of(c, binary, of, sentence) : PM_OK;
}

enum pm_status collect_map_unknown_line(struct collector *c, struct collect_binary *binary,
                                        pm_id code, uint32_t *ret_row)
{
    struct pm_id_hash hash;
    struct pm_pif_noun of;
    pm_id implemented = implemented_by(binary, code);
    *ret_row = 0;
    if (!implemented)
        return PM_OK;
    pm_id_hash_init(&hash, "unknown line");
    pm_id_hash_id(&hash, code);
    struct pm_pif_noun noun = {.id = pm_id_hash_done(&hash)};
    *ret_row = pm_map_get(&binary->nouns, noun.id);
    if (*ret_row)
        return PM_OK;
    uint32_t parent = pm_map_get(&binary->nouns, implemented);
    if (!parent || !pm_pif_find_noun(binary->pif, implemented, &of))
        return PM_OK;
    struct pm_buf name = PM_BUF_INIT(1 << 16);
    pm_buf_printf(&name, PM_UNKNOWN_LINE_STATEMENT "%s", of.name ? of.name : "unknown function");
    noun.name = name.data;
    noun.kind = "statement";
    noun.description = "code without facts that it called, or jumped to as its last act";
    noun.file = of.file;
    enum pm_status status = collect_need_source(c);
    if (status == PM_OK)
        status = name.failed ? collect_no_memory(c) : make_noun(c, binary, &noun, parent, ret_row);
    pm_buf_release(&name);
    uint32_t sentence;
    if (status == PM_OK)
        status = collect_short_sentence(c, c->model->source_executes, *ret_row, &sentence);
    return status == PM_OK ? collect_map_any_of(c, binary, implemented, sentence) : status;
}

enum pm_status collect_map_statement(struct collector *c, struct collect_binary *binary,
                                     const struct pm_code_place *place, uint32_t frame,
                                     uint32_t *ret_row)
{
    enum pm_status status = PM_OK;
    struct collect_source_statement *found;
    *ret_row = 0;
    if (place->line_no == 0)
        return PM_OK;
    const char *file = collect_place_file(c, binary, place->file, &status);
    if (status != PM_OK)
        return status;
    enum place_kind kind = find_place(binary, place, file, &found);
    bool is_exact = kind == PLACE_STATEMENT && found->line_no == place->line_no &&
                    found->column_no == place->column_no;
    if (!is_exact && (*ret_row = collect_region_at(binary, place, file, false)))
        return PM_OK;
    switch (kind) {
    case PLACE_STATEMENT:
        *ret_row = found->row;
        return PM_OK;
    case PLACE_FRAME:
        *ret_row = frame;
        return frame ? PM_OK : collect_map_frame(c, binary, place->function, ret_row);
    default:
        return make_statement(c, binary, place, file, ret_row);
    }
}

static bool begins_at(const struct collect_source_statement *statement,
                      const struct pm_code_place *place)
{
    return statement->line_no == place->line_no && statement->column_no == place->column_no;
}

const struct collect_source_statement *collect_statement_around(struct collector *c,
                                                                const struct collect_binary *binary,
                                                                const struct pm_code_place *place,
                                                                enum pm_status *status)
{
    struct collect_source_statement *found;
    const char *file = collect_place_file(c, binary, place->file, status);
    bool is_one =
        file && place->line_no && find_place(binary, place, file, &found) == PLACE_STATEMENT;
    return is_one && !begins_at(found, place) ? found : NULL;
}

bool collect_is_within(const struct collect_binary *binary,
                       const struct collect_source_statement *statement,
                       const struct pm_code_place *place)
{
    struct collect_source_statement *found;
    return place->line_no &&
           find_place(binary, place, statement->file, &found) == PLACE_STATEMENT &&
           found == statement && !begins_at(found, place);
}

pm_id collect_statement_loop(struct collector *c, const struct collect_binary *binary,
                             const struct pm_code_place *place, enum pm_status *status)
{
    struct collect_source_statement *found;
    struct pm_pif_noun parent;
    const char *file = collect_place_file(c, binary, place->file, status);
    bool is_one = *status == PM_OK && place->line_no && place->column_no &&
                  find_place(binary, place, file, &found) == PLACE_STATEMENT &&
                  found->line_no == place->line_no && found->column_no == place->column_no &&
                  pm_pif_find_noun(binary->pif, found->parent, &parent) && parent.kind &&
                  strcmp(parent.kind, "loop") == 0;
    return is_one ? found->parent : 0;
}

/* --- what is not there any more --- */

static enum pm_status mark_place(struct collector *c, struct collect_binary *binary,
                                 const struct pm_code_place *place, struct pm_map *functions)
{
    enum pm_status status = PM_OK;
    struct collect_source_statement *found;
    if (!pm_map_put(functions, place->function, 1))
        return collect_no_memory(c);
    if (place->line_no == 0)
        return PM_OK;
    const char *file = collect_place_file(c, binary, place->file, &status);
    if (status == PM_OK && find_place(binary, place, file, &found) == PLACE_STATEMENT)
        found->is_there = true;
    return status;
}

static enum pm_status mark_block(struct collector *c, struct collect_binary *binary,
                                 const struct pm_code_block *block, struct pm_map *functions)
{
    enum pm_status status = PM_OK;
    for (uint32_t i = 0; i < block->n_tuples && status == PM_OK; i++) {
        const struct pm_code_tuple *tuple = &block->tuples[i];
        if (tuple->kind == PM_MAP_SLED || tuple->kind == PM_MAP_PADDING)
            continue;
        status = mark_place(c, binary, &tuple->place, functions);
        for (uint32_t k = 0; k < tuple->n_also && status == PM_OK; k++)
            status = mark_place(c, binary, &tuple->also[k].place, functions);
    }
    return status;
}

enum pm_status collect_mark_removed(struct collector *c, struct collect_binary *binary)
{
    struct pm_map functions = {0};
    size_t n_blocks;
    const struct pm_code_block *blocks = pm_code_map_blocks(binary->map, &n_blocks);
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < n_blocks && status == PM_OK; i++)
        status = mark_block(c, binary, &blocks[i], &functions);
    for (size_t i = 0; i < binary->places->n_statements && status == PM_OK; i++) {
        const struct collect_source_statement *statement = &binary->places->statements[i];
        if (!statement->is_there && statement->row && pm_map_get(&functions, statement->function))
            status = collect_write_attribute(c, statement->row, "removed", "yes");
    }
    pm_map_release(&functions);
    return status;
}
