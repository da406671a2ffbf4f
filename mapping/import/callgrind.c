/* Callgrind's output (../costs): exclusive costs of instructions or lines, and calls with their
 * inclusive costs. No paths: a call is known by its two ends alone. */
#include "reader.h"

#include "../base/map.h"
#include "../costs/costs.h"

#include <ctype.h>
#include <stdlib.h>

struct callgrind {
    struct import *im;
    const struct pm_costs *costs;
    uint32_t process, thread;
    uint32_t *metrics, *inclusive;       /* of each: the metric, and the one of calls; 0: not yet */
    struct pm_map objects;               /* name (its address) -> object */
    struct pm_map functions;             /* object, file, name -> frame */
    const struct pm_imported_cost *last; /* its place is last_place */
    uint32_t last_place;
};

static bool is_callgrind(struct pm_str head, const char *path)
{
    (void)path;
    return import_begins(head, "# callgrind format") || import_begins(head, "version: 1\n") ||
           import_begins(head, "creator: callgrind");
}

/* Ir is instructions, others as they are in small letters. */
static void name_of(const char *event, const char *before, char *out, size_t max)
{
    size_t len = (size_t)snprintf(out, max, "%s%s", before,
                                  strcmp(event, "Ir") == 0 ? "instructions" : event);
    for (size_t i = 0; i < len && i < max; i++)
        out[i] = (char)tolower((unsigned char)out[i]);
}

static enum pm_status make_metrics(struct callgrind *c)
{
    size_t n = pm_costs_n_metrics(c->costs);
    c->metrics = pm_alloc_array(n, sizeof *c->metrics);
    c->inclusive = pm_alloc_array(n, sizeof *c->inclusive);
    if (!c->metrics || !c->inclusive)
        return import_no_memory(c->im);
    for (size_t i = 0; i < n; i++) {
        const struct pm_cost_metric *from = pm_costs_metric(c->costs, i);
        char name[200];
        struct pm_import_metric metric = {name, from->unit, "count", from->description};
        name_of(from->name, "", name, sizeof name);
        enum pm_status status = pm_sink_metric(c->im->sink, &metric, &c->metrics[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status inclusive_metric(struct callgrind *c, uint32_t metric)
{
    const struct pm_cost_metric *from = pm_costs_metric(c->costs, metric);
    char name[200], description[400];
    struct pm_import_metric made = {name, from->unit, "count", description};
    if (c->inclusive[metric])
        return PM_OK;
    name_of(from->name, "incl_", name, sizeof name);
    snprintf(description, sizeof description, "inclusive, of calls by two functions: %s",
             from->description);
    return pm_sink_metric(c->im->sink, &made, &c->inclusive[metric]);
}

static enum pm_status object_of(struct callgrind *c, const char *name, uint32_t *ret_object)
{
    struct pm_import_object object = {.path = pm_str_of(name)};
    bool is_known;
    *ret_object = 0;
    if (!name || !*name)
        return PM_OK;
    uint32_t *at = pm_map_at(&c->objects, (uintptr_t)name);
    if (!at)
        return import_no_memory(c->im);
    enum pm_status status = *at ? PM_OK : pm_sink_object(c->im->sink, &object, at, &is_known);
    *ret_object = *at;
    return status;
}

/* --- exclusive costs --- */

static enum pm_status place_of(struct callgrind *c, const struct pm_imported_cost *cost)
{
    struct pm_import_frame frame = {.function = pm_str_of(cost->function),
                                    .file = pm_str_of(cost->file),
                                    .line_no = cost->line_no,
                                    .kind =
                                        cost->has_address ? PM_IMPORT_ELF : PM_IMPORT_NO_ADDRESS,
                                    .address = cost->address,
                                    .is_exact = true,
                                    .is_flat = true};
    const struct pm_imported_cost *last = c->last;
    bool is_same = last && last->object == cost->object && last->has_address == cost->has_address &&
                   last->address == cost->address && last->function == cost->function &&
                   last->file == cost->file && last->line_no == cost->line_no;
    uint32_t made;
    c->last = cost;
    if (is_same)
        return PM_OK;
    enum pm_status status = object_of(c, cost->object, &frame.object);
    if (status != PM_OK)
        return status;
    status = pm_sink_frame(c->im->sink, &frame, &made);
    if (status != PM_OK)
        return status;
    return pm_sink_place(c->im->sink, c->process, &made, 1, &c->last_place);
}

static enum pm_status add_costs(struct callgrind *c)
{
    for (size_t i = 0; i < pm_costs_n(c->costs); i++) {
        const struct pm_imported_cost *cost = pm_costs_get(c->costs, i);
        enum pm_status status = place_of(c, cost);
        if (status != PM_OK)
            return status;
        status = pm_sink_cost(c->im->sink, c->thread, c->last_place, c->metrics[cost->metric],
                              (uint64_t)cost->value);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- calls --- */

static enum pm_status function_of(struct callgrind *c, const char *object, const char *file,
                                  const char *name, uint32_t *ret_frame)
{
    const char *const key[] = {object, file, name};
    struct pm_import_frame frame = {
        .function = pm_str_of(name), .file = pm_str_of(file), .is_flat = true};
    uint32_t *at = pm_map_at(&c->functions, import_hash(key, sizeof key, 0));
    if (!at)
        return import_no_memory(c->im);
    if (!*at) {
        enum pm_status status = object_of(c, object, &frame.object);
        if (status != PM_OK)
            return status;
        status = pm_sink_frame(c->im->sink, &frame, at);
        if (status != PM_OK)
            return status;
    }
    *ret_frame = *at;
    return PM_OK;
}

static enum pm_status add_arc(struct callgrind *c, const struct pm_imported_arc *from)
{
    const char *called_object = from->called_object ? from->called_object : from->object;
    const char *called_file = from->called_file ? from->called_file : from->file;
    struct pm_import_arc arc = {
        .process = c->process, .thread = c->thread, .n_calls = from->n_calls};
    enum pm_status status = function_of(c, from->object, from->file, from->function, &arc.caller);
    if (status != PM_OK)
        return status;
    status = function_of(c, called_object, called_file, from->called_function, &arc.callee);
    if (status != PM_OK)
        return status;
    status = inclusive_metric(c, from->metric);
    if (status != PM_OK)
        return status;
    return pm_sink_arc(c->im->sink, &arc, c->inclusive[from->metric], (uint64_t)from->value);
}

static enum pm_status add_arcs(struct callgrind *c)
{
    for (size_t i = 0; i < pm_costs_n_arcs(c->costs); i++) {
        enum pm_status status = add_arc(c, pm_costs_arc(c->costs, i));
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* --- the whole --- */

static enum pm_status make_process(struct callgrind *c)
{
    struct import *im = c->im;
    struct pm_import_process process = {.name = pm_str_of(import_base_name(im->path)), .rank = -1};
    enum pm_status status = pm_sink_process(im->sink, &process, &c->process);
    if (status != PM_OK)
        return status;
    struct pm_import_thread thread = {.process = c->process};
    pm_sink_attribute(im->sink, "producer", pm_str_of(pm_costs_producer(c->costs)));
    return pm_sink_thread(im->sink, &thread, &c->thread);
}

static enum pm_status add_all(struct callgrind *c)
{
    static enum pm_status (*const steps[])(struct callgrind *) = {make_process, make_metrics,
                                                                  add_costs, add_arcs};
    if (!pm_costs_n(c->costs))
        return pm_error_set(c->im->err, PM_ERR_FORMAT,
                            "profile '%s' has no costs: with --separate-threads=yes callgrind "
                            "writes them to files beside it, with -01, -02 at their ends",
                            c->im->path);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        enum pm_status status = steps[i](c);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status read_callgrind(struct import *im)
{
    struct callgrind c = {.im = im};
    struct pm_costs *costs;
    struct pm_str text;
    if (!import_rest(im->in, &text)) {
        enum pm_status status = import_input_status(im->in, im->err);
        return status != PM_OK ? status
                               : import_refuse_byte(im->in, im->err, PM_ERR_LIMIT,
                                                    "callgrind's file is larger than 64 MiB");
    }
    enum pm_status status = pm_costs_read(im->path, text.p, text.len, im->err, &costs);
    if (status != PM_OK)
        return status;
    c.costs = costs;
    status = add_all(&c);
    pm_costs_free(costs);
    pm_map_release(&c.objects);
    pm_map_release(&c.functions);
    free(c.metrics);
    free(c.inclusive);
    return status;
}

const struct import_format import_format_callgrind = {.is = is_callgrind, .read = read_callgrind};
