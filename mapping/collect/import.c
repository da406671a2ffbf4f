/* Costs that were measured elsewhere (mapping/costs): of code by address or line, and of
 * sentences by name. */
#include "import.h"

#include "binaries.h"
#include "code.h"
#include "collector.h"
#include "contexts.h"
#include "costs.h"
#include "debug.h"
#include "model.h"
#include "pif.h"
#include "process.h"
#include "writer.h"

#include "format/pm_id.h"
#include "mapping/archive/archive.h"
#include "mapping/base/map.h"
#include "mapping/costs/costs.h"
#include "mapping/debuginfo/debuginfo.h"
#include "mapping/pif/pif.h"
#include "mapping/run/run_file.h"

#include <ctype.h>
#include <stdlib.h>

struct import {
    struct collector *c;
    const char *path;
    const struct pm_costs *costs;
    uint32_t root, thread; /* rows: context, thread */
    uint32_t *metrics;     /* row of each */
    uint32_t *codes;       /* number of each cost's code; 0: it has no address */
    sqlite3_stmt *by_name;
    size_t n_without_address, n_unknown;
    const char *first_unknown; /* name of a noun; lent */
};

/* --- where the costs are hung up --- */

/* An archive of costs alone has an execution and a process all the same. */
static enum pm_status make_execution(struct import *import, const char *name)
{
    struct collector *c = import->c;
    sqlite3_stmt *insert = c->writer->statements[INSERT_EXECUTION];
    sqlite3_clear_bindings(insert);
    bind_number(insert, 1, ++c->processes->n_executions);
    bind_text(insert, 2, name ? name : collect_base_name(import->path));
    bind_text(insert, 3, "");
    bind_text(insert, 6, "costs");
    enum pm_status status = collect_insert(c, INSERT_EXECUTION);
    insert = c->writer->statements[INSERT_PROCESS];
    sqlite3_clear_bindings(insert);
    bind_number(insert, 1, ++c->processes->n);
    bind_number(insert, 2, c->processes->n_executions);
    bind_number(insert, 3, 0);
    bind_number(insert, 5, 0);
    bind_text(insert, 10, "exit");
    bind_number(insert, 14, 0);
    return status == PM_OK ? collect_insert(c, INSERT_PROCESS) : status;
}

static enum pm_status make_thread(struct import *import)
{
    struct collector *c = import->c;
    sqlite3_stmt *insert = c->writer->statements[INSERT_THREAD];
    sqlite3_clear_bindings(insert);
    bind_number(insert, 1, ++c->processes->n_threads);
    bind_number(insert, 2, 1);
    bind_number(insert, 4, 1);
    bind_text(insert, 5, collect_base_name(import->path));
    import->thread = c->processes->n_threads;
    return collect_insert(c, INSERT_THREAD);
}

static enum pm_status hang_up(struct import *import, const char *name)
{
    struct collector *c = import->c;
    uint32_t sentence = c->model->first_program;
    enum pm_status status = c->processes->n_executions ? PM_OK : make_execution(import, name);
    if (status == PM_OK)
        status = make_thread(import);
    if (status == PM_OK && !sentence)
        status = collect_process_sentence(c, pm_str_of(import->path), &sentence);
    return status == PM_OK ? collect_context(c, 0, sentence, 0, &import->root) : status;
}

/* Events of callgrind by our names: Ir is instructions, others as they are in small letters. */
static const char *metric_name(struct import *import, const char *name)
{
    if (strncmp(pm_costs_producer(import->costs), "callgrind", 9) != 0)
        return collect_intern(import->c, name);
    char small[64];
    size_t len = 0;
    for (; name[len] && len < sizeof small - 1; len++)
        small[len] = (char)tolower((unsigned char)name[len]);
    small[len] = 0;
    return strcmp(name, "Ir") == 0 ? "instructions" : collect_intern(import->c, small);
}

static enum pm_status make_metrics(struct import *import)
{
    struct collector *c = import->c;
    size_t n = pm_costs_n_metrics(import->costs);
    import->metrics = pm_alloc_array(n, sizeof *import->metrics);
    if (!import->metrics)
        return collect_no_memory(c);
    for (size_t i = 0; i < n; i++) {
        const struct pm_cost_metric *from = pm_costs_metric(import->costs, i);
        struct collect_metric metric = {
            .name = metric_name(import, from->name),
            .unit = collect_intern(c, from->unit ? from->unit : ""),
            .kind = collect_intern(c, from->kind ? from->kind : "count"),
            .description = collect_intern(c, from->description ? from->description : ""),
            .aggregation = collect_intern(c, from->aggregation ? from->aggregation : "sum"),
        };
        if (!metric.name || !metric.unit || !metric.kind || !metric.description ||
            !metric.aggregation)
            return collect_no_memory(c);
        enum pm_status status = collect_metric(c, &metric, &import->metrics[i]);
        const struct collect_metric *known = &c->costs->metrics[import->metrics[i] - 1];
        if (status == PM_OK &&
            (strcmp(known->unit, metric.unit) != 0 ||
             strcmp(known->aggregation ? known->aggregation : "sum", metric.aggregation) != 0))
            return pm_error_set(c->err, PM_ERR_FORMAT,
                                "cost file '%s': metric '%s' has the unit '%s' (%s) in the "
                                "archive, and '%s' (%s) here",
                                import->path, metric.name, known->unit,
                                known->aggregation ? known->aggregation : "sum", metric.unit,
                                metric.aggregation);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- code --- */

/* The binary that the run had under that path, else the file that is there now. */
static enum pm_status find_binary(struct import *import, const char *object,
                                  struct collect_binary **ret_binary)
{
    *ret_binary = NULL;
    if (!object)
        return PM_OK;
    for (struct collect_binary *at = import->c->binaries->first; at; at = at->next)
        if (strcmp(at->path, object) == 0) {
            *ret_binary = at;
            return PM_OK;
        }
    struct pm_run_file_object made = {.path = pm_str_of(object), .build_id = PM_STR("")};
    return collect_binary(import->c, &made, ret_binary);
}

/* Opens the binaries of all costs of code, and makes nouns of what has an address. */
static enum pm_status locate_codes(struct import *import)
{
    size_t n = pm_costs_n(import->costs);
    import->codes = pm_alloc_array(n + 1, sizeof *import->codes);
    if (!import->codes)
        return collect_no_memory(import->c);
    for (size_t i = 0; i < n; i++) {
        const struct pm_imported_cost *cost = pm_costs_get(import->costs, i);
        struct collect_binary *binary;
        if (cost->n_references)
            continue;
        enum pm_status status = find_binary(import, cost->object, &binary);
        if (status == PM_OK && binary && !cost->has_address && cost->function)
            status = collect_binary_read(import->c, binary);
        else if (status == PM_OK)
            status = collect_code_at(import->c, binary, cost->address, &import->codes[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status code_by_name(struct import *import, const struct pm_imported_cost *cost,
                                   struct collect_code *ret_code)
{
    struct collect_binary *binary;
    enum pm_status status = find_binary(import, cost->object, &binary);
    if (status != PM_OK)
        return status;
    struct pm_debug_frame frame = {
        .source = PM_DEBUG_DWARF,
        .function = collect_intern(import->c, cost->function),
        .linkage = collect_intern(import->c, cost->function),
        .file = cost->file ? collect_intern(import->c, cost->file) : NULL,
        .line_no = cost->line_no,
    };
    import->n_without_address++;
    return frame.function && frame.linkage && (!cost->file || frame.file)
               ? collect_named_code(import->c, binary, &frame, ret_code)
               : collect_no_memory(import->c);
}

static enum pm_status add_code_cost(struct import *import, const struct pm_imported_cost *cost,
                                    uint32_t number)
{
    struct collector *c = import->c;
    struct collect_code code = *collect_code(c, number);
    uint32_t context = import->root, sentence;
    enum pm_status status = number ? PM_OK : code_by_name(import, cost, &code);
    if (status == PM_OK && code.symbol) {
        status = collect_short_sentence(c, c->model->executes, code.symbol, &sentence);
        if (status == PM_OK)
            status = collect_context(c, context, sentence, CONTEXT_SAMPLED, &context);
    }
    if (status == PM_OK && code.function)
        status = collect_context(c, context, code.function, CONTEXT_SAMPLED, &context);
    for (uint32_t i = 0; i < code.n_inlines && status == PM_OK; i++)
        status = collect_context(c, context, code.inlines[i], CONTEXT_INLINED, &context);
    if (status == PM_OK)
        status = collect_context(c, context, code.sentence, 0, &context);
    return status == PM_OK ? collect_cost(c, context, import->thread, import->metrics[cost->metric],
                                          (uint64_t)cost->value)
                           : status;
}

/* --- sentences --- */

static uint32_t noun_by_id(const struct collector *c, pm_id id)
{
    uint32_t row = pm_map_get(&c->model->user, id);
    for (const struct collect_binary *at = c->binaries->first; at && !row; at = at->next)
        row = pm_map_get(&at->nouns, id);
    return row;
}

/* A noun that nobody declared is made, so that its cost is not lost. */
static enum pm_status find_noun(struct import *import, const struct pm_pif_reference *reference,
                                uint32_t *ret_row)
{
    struct collector *c = import->c;
    *ret_row = reference->id ? noun_by_id(c, reference->id) : 0;
    if (*ret_row)
        return PM_OK;
    enum pm_status status = collect_noun_named(c, import->by_name, import->path, reference->level,
                                               reference->name, ret_row);
    if (status != PM_OK || *ret_row)
        return status;
    uint32_t level = c->model->base_level;
    struct pm_pif_noun noun = {
        .id = reference->id ? reference->id : pm_pif_name_id(reference->level, reference->name),
        .name = reference->name,
        .description = "named by a cost only"};
    if (reference->level)
        status = collect_level_row(c, reference->level, &level);
    if (import->n_unknown++ == 0)
        import->first_unknown = reference->name ? reference->name : "(an id)";
    *ret_row = ++c->model->n_nouns;
    if (status == PM_OK && !pm_map_put(&c->model->user, noun.id, *ret_row))
        return collect_no_memory(c);
    return status == PM_OK ? collect_write_noun(c, *ret_row, &noun, level, 0, 0) : status;
}

static enum pm_status level_of(struct import *import, uint32_t noun, uint32_t *ret_level)
{
    struct collector *c = import->c;
    sqlite3_stmt *query;
    bool has_row = false;
    enum pm_status status = pm_archive_prepare(
        c->writer->archive, "SELECT level FROM nouns WHERE id = ?", c->err, &query);
    if (status != PM_OK)
        return status;
    bind_number(query, 1, noun);
    status = pm_archive_step(c->writer->archive, query, c->err, &has_row);
    *ret_level = has_row ? (uint32_t)sqlite3_column_int64(query, 0) : c->model->base_level;
    sqlite3_finalize(query);
    return status;
}

/* The verb of that level, which is the first noun's when none is stated; else the only one of
 * that name. */
static enum pm_status find_verb(struct import *import, const struct pm_pif_reference *reference,
                                uint32_t noun, uint32_t *ret_verb)
{
    struct collector *c = import->c;
    uint32_t level = c->model->base_level, n_named = 0, named = 0;
    enum pm_status status = PM_OK;
    const char *name = reference->name ? reference->name : "";
    if (reference->level)
        status = collect_level_row(c, reference->level, &level);
    else if (noun)
        status = level_of(import, noun, &level);
    for (size_t i = 0; i < c->model->n_verbs && status == PM_OK; i++) {
        if (strcmp(c->model->verbs[i].name, name) != 0)
            continue;
        named = (uint32_t)i + 1;
        n_named++;
        if (c->model->verbs[i].level == level) {
            *ret_verb = named;
            return PM_OK;
        }
    }
    if (status == PM_OK && n_named == 1 && !reference->level) {
        *ret_verb = named;
        return PM_OK;
    }
    return status == PM_OK
               ? collect_verb_row(c, c->model->levels[level - 1].name, name, NULL, ret_verb)
               : status;
}

static enum pm_status add_sentence_cost(struct import *import, const struct pm_imported_cost *cost)
{
    struct collector *c = import->c;
    uint32_t nouns[PM_PIF_MAX_NOUNS] = {0}, verb = 0, sentence, context;
    unsigned n = cost->n_references - 1;
    enum pm_status status = PM_OK;
    if (n == 0)
        return pm_error_set(c->err, PM_ERR_FORMAT,
                            "cost file '%s' line %u: a cost needs a sentence with a noun",
                            import->path, cost->text_line_no);
    for (unsigned i = 0; i < n && status == PM_OK; i++)
        status = find_noun(import, &cost->references[i], &nouns[i]);
    if (status == PM_OK)
        status = find_verb(import, &cost->references[n], nouns[0], &verb);
    if (status == PM_OK)
        status = n == 1 ? collect_short_sentence(c, verb, nouns[0], &sentence)
                        : collect_long_sentence(c, verb, nouns, n, &sentence);
    if (status == PM_OK)
        status = collect_context(c, import->root, sentence, 0, &context);
    return status == PM_OK ? collect_cost(c, context, import->thread, import->metrics[cost->metric],
                                          (uint64_t)cost->value)
                           : status;
}

/* --- the file --- */

static enum pm_status add_costs(struct import *import, const char *name)
{
    enum pm_status status = hang_up(import, name);
    if (status == PM_OK)
        status = make_metrics(import);
    if (status == PM_OK)
        status = collect_prepare_names(import->c, &import->by_name);
    if (status == PM_OK)
        status = locate_codes(import);
    for (size_t i = 0; i < pm_costs_n(import->costs) && status == PM_OK; i++) {
        const struct pm_imported_cost *cost = pm_costs_get(import->costs, i);
        status = cost->n_references ? add_sentence_cost(import, cost)
                                    : add_code_cost(import, cost, import->codes[i]);
    }
    if (status == PM_OK && import->n_unknown)
        collect_warn(import->c,
                     "cost file '%s': %zu nouns are declared nowhere, the first is '%s': their "
                     "costs map to nothing (--pif FILE declares nouns)",
                     import->path, import->n_unknown, import->first_unknown);
    if (status == PM_OK && import->n_without_address)
        collect_warn(
            import->c,
            "cost file '%s' has costs of lines, not of instructions: they map to lines and "
            "functions only (callgrind's --dump-instr=yes gives instructions)",
            import->path);
    return status;
}

enum pm_status collect_cost_file(struct collector *c, const char *path, const char *name)
{
    struct pm_costs *costs;
    enum pm_status status = pm_costs_read_file(path, c->err, &costs);
    if (status != PM_OK)
        return status;
    struct import import = {.c = c, .path = path, .costs = costs};
    status = add_costs(&import, name);
    sqlite3_finalize(import.by_name);
    free(import.metrics);
    free(import.codes);
    pm_costs_free(costs);
    return status;
}
