/* The sink of mapping/import: what other tools measured becomes contexts and costs. Code that has
 * an address is looked up as that of our own samples is (samples.c): a binary with facts is
 * explained by statement and array, one without by its debug information and symbols. What has
 * only a name is a function of that name. */
#include "import_sink.h"
#include "import_times.h"
#include "import_trace.h"

#include "binaries.h"
#include "call_paths.h"
#include "code.h"
#include "collector.h"
#include "contexts.h"
#include "costs.h"
#include "debug.h"
#include "model.h"
#include "places.h"
#include "process.h"
#include "touches.h"
#include "writer.h"

#include "mapping/base/arena.h"
#include "mapping/base/map.h"
#include "mapping/code/binary.h"
#include "mapping/code/code_map.h"
#include "mapping/debuginfo/debuginfo.h"
#include "mapping/import/import.h"
#include "mapping/pif/pif.h"
#include "mapping/run/run_file.h"

#include <stdlib.h>

enum { MAX_PARTS = 8, MOST_MISSING_NAMES = 3 };

struct sink_object {
    struct collect_binary *binary;
    struct pm_binary_part parts[MAX_PARTS];
    size_t n_parts;
};

struct sink_frame {
    uint32_t code;  /* number: what its cost is of */
    uint32_t steps; /* number: what lies around that */
    uint32_t loop;  /* sentence of the loop that its call lies in; 0: none is known */
    unsigned flags; /* of contexts */
    bool is_whole;  /* only its function is known */
};

/* Costs of equal keys are added up before they are written. */
struct sink_cost {
    uint32_t thread, context, metric; /* thread 0: free */
    uint64_t value;
};

struct sink {
    struct pm_import_sink calls; /* first: a sink is one of these */
    struct collector *c;
    uint32_t execution;
    struct sink_object *objects;
    struct sink_frame *frames;
    uint32_t *roots; /* contexts, by row of the process, from first_process */
    uint32_t n_objects, objects_cap, n_frames, frames_cap, n_roots, roots_cap, first_process;
    struct pm_map images;    /* pid -> how many programs it has run */
    struct pm_map labels;    /* id of the noun -> its row */
    struct sink_cost *costs; /* by hash; at most half full */
    uint32_t n_costs, costs_size;
    struct import_times *times; /* NULL: nothing has a time */
    uint64_t now_ns;            /* of the costs that come; 0: not known */
    struct import_trace *trace; /* NULL: there are no events */
    enum pm_status status;      /* of notes */
    uint64_t start_ns, end_ns;  /* of all files; the same: not known */
    uint32_t n_missing;         /* binaries that are not those that ran */
    struct pm_buf missing;
};

static struct sink *sink_of(struct pm_import_sink *calls)
{
    return (struct sink *)calls;
}

/* --- objects --- */

static enum pm_status open_binary(struct sink *s, struct pm_str path, struct pm_str build_id,
                                  struct collect_binary **ret_binary)
{
    struct pm_run_file_object made = {.path = path, .build_id = build_id};
    enum pm_status status = collect_binary(s->c, &made, ret_binary);
    if (status != PM_OK)
        return status;
    return collect_binary_read(s->c, *ret_binary);
}

/* "[libm.so.6]": what the producer names is all that is known of its code. */
static enum pm_status open_missing(struct sink *s, const char *path,
                                   struct collect_binary **ret_binary)
{
    struct pm_buf name = PM_BUF_INIT(8192);
    if (s->n_missing++ < MOST_MISSING_NAMES)
        pm_buf_printf(&s->missing, "%s'%s'", s->n_missing > 1 ? ", " : "", path);
    pm_buf_printf(&name, "[%s]", collect_base_name(path));
    enum pm_status status =
        name.failed ? collect_no_memory(s->c)
                    : open_binary(s, (struct pm_str){name.data, name.len}, PM_STR(""), ret_binary);
    pm_buf_release(&name);
    return status;
}

/* Does it have facts, or debug information? */
static enum pm_status is_explained(struct sink *s, struct collect_binary *binary, bool *ret)
{
    const char *name;
    uint64_t offset;
    *ret = binary->map != NULL;
    if (*ret || !binary->same)
        return PM_OK;
    enum pm_status status = collect_symbol_at(s->c, binary, 0, &name, &offset); /* opens it */
    if (status != PM_OK)
        return status;
    *ret = binary->debug && pm_debug_file(binary->debug);
    return PM_OK;
}

static enum pm_status sink_object(struct pm_import_sink *calls,
                                  const struct pm_import_object *object, uint32_t *ret_object,
                                  bool *ret_is_known)
{
    struct sink *s = sink_of(calls);
    struct pm_binary_identity identity = {object->build_id, 0, 0};
    char why[200];
    struct sink_object *objects =
        pm_grow_array(s->objects, s->n_objects, &s->objects_cap, 16, sizeof *objects);
    const char *path = pm_intern_add(s->c->strings, object->path.p, object->path.len);
    if (objects)
        s->objects = objects;
    if (!objects || !path)
        return collect_no_memory(s->c);
    struct sink_object *made = &objects[s->n_objects];
    *made = (struct sink_object){0};
    bool is_there =
        path[0] == '[' || pm_binary_check(path, &identity, why, sizeof why) == PM_BINARY_SAME;
    enum pm_status status = is_there ? open_binary(s, object->path, object->build_id, &made->binary)
                                     : open_missing(s, path, &made->binary);
    if (is_there && path[0] != '[')
        made->n_parts = pm_binary_code_parts(path, made->parts, MAX_PARTS);
    *ret_object = ++s->n_objects;
    if (status != PM_OK)
        return status;
    return is_explained(s, made->binary, ret_is_known);
}

/* The ELF address; false: it is in no code of the file. */
static bool address_of(const struct sink_object *object, const struct pm_import_frame *frame,
                       uint64_t *ret_address)
{
    *ret_address = frame->address;
    if (frame->kind == PM_IMPORT_ELF)
        return true;
    for (size_t i = 0; i < object->n_parts; i++) {
        const struct pm_binary_part *part = &object->parts[i];
        if (frame->address < part->file_offset ||
            frame->address - part->file_offset >= part->size_bytes)
            continue;
        *ret_address = part->address + (frame->address - part->file_offset);
        return true;
    }
    return false;
}

/* --- frames --- */

/* Is the guess right: does the function that the producer names begin where it says? */
static enum pm_status check_guess(struct sink *s, struct collect_binary *binary,
                                  const struct pm_import_frame *frame, uint64_t address,
                                  bool *ret_is_right)
{
    const char *name;
    uint64_t offset;
    enum pm_status status = collect_symbol_at(s->c, binary, address, &name, &offset);
    if (status != PM_OK)
        return status;
    *ret_is_right = name && offset == frame->function_offset;
    return PM_OK;
}

/* *ret_code 0: its address says nothing. */
static enum pm_status code_by_address(struct sink *s, const struct pm_import_frame *frame,
                                      uint32_t *ret_code)
{
    const struct sink_object *object = frame->object ? &s->objects[frame->object - 1] : NULL;
    struct collect_binary *binary = object ? object->binary : NULL;
    uint64_t address;
    bool is_right = true;
    *ret_code = 0;
    if (frame->kind == PM_IMPORT_NO_ADDRESS || !binary || !binary->same ||
        !address_of(object, frame, &address))
        return PM_OK;
    enum pm_status status =
        frame->is_checked ? check_guess(s, binary, frame, address, &is_right) : PM_OK;
    if (status != PM_OK || !is_right)
        return status;
    if (!frame->is_caller && !frame->is_exact && !frame->is_whole)
        status = collect_blamed(s->c, binary, address, &address);
    address -= frame->is_caller && address;
    if (status != PM_OK)
        return status;
    return collect_code_at(s->c, binary, address, ret_code);
}

/* Binary of frames that have none: they are told by name alone. */
static enum pm_status binary_of(struct sink *s, const struct pm_import_frame *frame,
                                struct collect_binary **ret_binary)
{
    if (frame->object) {
        *ret_binary = s->objects[frame->object - 1].binary;
        return PM_OK;
    }
    return open_binary(s, PM_STR("[imported]"), PM_STR(""), ret_binary);
}

static enum pm_status code_by_name(struct sink *s, const struct pm_import_frame *frame,
                                   const char *linkage, uint32_t *ret_code)
{
    struct collector *c = s->c;
    struct collect_binary *binary;
    struct collect_code code;
    char *shown = pm_debug_demangle(linkage);
    struct pm_debug_frame named = {.source = PM_DEBUG_DWARF,
                                   .linkage = linkage,
                                   .function = shown ? collect_intern(c, shown) : NULL,
                                   .line_no = frame->line_no};
    free(shown);
    if (frame->is_entered)
        named.declared_line_no = frame->line_no;
    if (frame->file.len)
        named.file = pm_intern_add(c->strings, frame->file.p, frame->file.len);
    if (!named.function || (frame->file.len && !named.file))
        return collect_no_memory(c);
    enum pm_status status = binary_of(s, frame, &binary);
    if (status != PM_OK)
        return status;
    status = collect_named_code(c, binary, &named, &code);
    if (status != PM_OK)
        return status;
    return collect_add_code(c, &code, ret_code);
}

/* The symbol at the frame's address; *ret_name NULL: none is known. */
static enum pm_status symbol_of(struct sink *s, const struct pm_import_frame *frame,
                                const char **ret_name)
{
    uint64_t address, offset;
    const struct sink_object *object = frame->object ? &s->objects[frame->object - 1] : NULL;
    *ret_name = NULL;
    if (!object || !object->binary->same || frame->kind == PM_IMPORT_NO_ADDRESS ||
        frame->is_checked || !address_of(object, frame, &address))
        return PM_OK;
    address -= frame->is_caller && address;
    return collect_symbol_at(s->c, object->binary, address, ret_name, &offset);
}

/* The producer's name; without one that of the symbol. */
static enum pm_status name_of(struct sink *s, const struct pm_import_frame *frame,
                              const char **ret_name)
{
    if (frame->function.len) {
        *ret_name = pm_intern_add(s->c->strings, frame->function.p, frame->function.len);
        return *ret_name ? PM_OK : collect_no_memory(s->c);
    }
    enum pm_status status = symbol_of(s, frame, ret_name);
    if (status != PM_OK || *ret_name)
        return status;
    *ret_name = collect_intern(s->c, "[unknown]");
    return *ret_name ? PM_OK : collect_no_memory(s->c);
}

/* Code of functions that only the symbol table knows has no context of its own in our samples.
 * The producer's stack has it. */
static bool has_steps(const struct collect_code *code)
{
    return code->symbol || code->function || code->is_perfmap;
}

static enum pm_status find_loop(struct sink *s, const struct collect_code *code,
                                uint32_t *ret_sentence)
{
    enum pm_status status = PM_OK;
    if (!code->range)
        return PM_OK;
    pm_id loop = collect_loop_of(s->c, code->binary, code->range, &status);
    if (status != PM_OK || !loop)
        return status;
    return collect_inline_sentence(s->c, code->binary, code->range->block, loop, "loop",
                                   ret_sentence);
}

static enum pm_status find_steps(struct sink *s, const struct pm_import_frame *frame,
                                 struct sink_frame *made)
{
    const char *name;
    made->steps = made->code;
    if (has_steps(collect_code(s->c, made->code)))
        return PM_OK;
    enum pm_status status = name_of(s, frame, &name);
    if (status != PM_OK)
        return status;
    status = code_by_name(s, frame, name, &made->steps);
    if (!collect_code(s->c, made->code)->n_mappings)
        made->code = made->steps;
    return status;
}

static unsigned flags_of(const struct pm_import_frame *frame)
{
    if (frame->is_inlined)
        return CONTEXT_INLINED;
    return frame->is_entered ? 0 : CONTEXT_SAMPLED;
}

/* Of a function with a name only nobody can say whether it calls anything. */
static enum pm_status mark_flat(struct sink *s, const struct collect_code *code)
{
    enum pm_status status = collect_mark_lacking(s->c, code->whole);
    for (uint32_t i = 0; i < code->n_functions; i++) {
        if (status != PM_OK)
            return status;
        status = collect_mark_lacking(s->c, code->functions[i]);
    }
    return status;
}

static enum pm_status sink_frame(struct pm_import_sink *calls, const struct pm_import_frame *frame,
                                 uint32_t *ret_frame)
{
    struct sink *s = sink_of(calls);
    struct sink_frame made = {.flags = flags_of(frame), .is_whole = frame->is_whole};
    struct sink_frame *frames =
        pm_grow_array(s->frames, s->n_frames, &s->frames_cap, 256, sizeof *frames);
    if (!frames)
        return collect_no_memory(s->c);
    s->frames = frames;
    s->c->has_stacks = !frame->is_flat;
    enum pm_status status = code_by_address(s, frame, &made.code);
    if (status != PM_OK)
        return status;
    status = find_steps(s, frame, &made);
    if (status != PM_OK)
        return status;
    struct collect_code code = *collect_code(s->c, made.code);
    if (frame->is_flat && frame->kind == PM_IMPORT_NO_ADDRESS)
        status = mark_flat(s, collect_code(s->c, made.steps));
    if (status != PM_OK)
        return status;
    if (frame->is_caller)
        status = find_loop(s, &code, &made.loop);
    frames[s->n_frames] = made;
    *ret_frame = ++s->n_frames;
    return status;
}

/* --- contexts --- */

/* Down to the frame's function, what was inlined there, and the loop that the call lies in. */
static enum pm_status step_down(struct sink *s, const struct sink_frame *frame, uint32_t *context)
{
    struct collector *c = s->c;
    struct collect_code code = *collect_code(c, frame->steps);
    uint32_t sentence = code.function;
    enum pm_status status = PM_OK;
    if (code.symbol)
        status = collect_short_sentence(c, c->model->executes, code.symbol, &sentence);
    if (status != PM_OK)
        return status;
    if (sentence)
        status = collect_context(c, *context, sentence, frame->flags, context);
    for (uint32_t i = 0; i < code.n_inlines; i++) {
        if (status != PM_OK)
            return status;
        status = collect_context(c, *context, code.inlines[i], CONTEXT_INLINED, context);
    }
    if (status != PM_OK || !frame->loop)
        return status;
    return collect_context(c, *context, frame->loop, CONTEXT_INLINED, context);
}

static bool has_facts(const struct collect_code *code)
{
    return code->symbol && !code->is_perfmap;
}

/* The innermost frame with facts that calls the last one; a library of the language calls for
 * others. */
static const struct collect_code *caller_of(const struct sink *s, const uint32_t *frames, size_t n)
{
    for (size_t i = n - 1; i-- > 0;) {
        const struct collect_code *code = collect_code(s->c, s->frames[frames[i] - 1].code);
        if (has_facts(code) && !collect_is_library(code))
            return code;
    }
    return NULL;
}

/* What the exclusive cost is of, as in samples.c: code with facts itself; code of C++'s library
 * for who called it; what has no facts was called by what has. */
static enum pm_status own_sentence(struct sink *s, const uint32_t *frames, size_t n,
                                   uint32_t *ret_sentence)
{
    const struct collect_code *code = collect_code(s->c, s->frames[frames[n - 1] - 1].code);
    const struct collect_code *caller = caller_of(s, frames, n);
    *ret_sentence = code->sentence;
    if (!caller || code->is_perfmap)
        return PM_OK;
    if (has_facts(code))
        return collect_is_library(code) && caller->range
                   ? collect_library_sentence(s->c, code, caller, ret_sentence)
                   : PM_OK;
    enum pm_status status =
        collect_called_sentence(s->c, code->whole, caller, NULL, true, ret_sentence);
    if (status != PM_OK)
        return status;
    return collect_map_called(s->c, code, *ret_sentence);
}

static enum pm_status label_noun(struct sink *s, uint32_t level_row, const char *level,
                                 const char *name, uint32_t *ret_noun)
{
    struct collector *c = s->c;
    struct pm_pif_noun noun = {.id = pm_pif_name_id(level, name), .name = name, .kind = "label"};
    uint32_t *at = pm_map_at(&s->labels, noun.id);
    if (!at)
        return collect_no_memory(c);
    *ret_noun = *at;
    if (*at)
        return PM_OK;
    *ret_noun = *at = ++c->model->n_nouns;
    return collect_write_noun(c, *ret_noun, &noun, level_row, 0, 0);
}

static uint32_t context_above(const struct sink *s, uint32_t process, uint32_t above)
{
    return above ? above : s->roots[process - s->first_process];
}

static enum pm_status sink_label(struct pm_import_sink *calls, uint32_t process, uint32_t above,
                                 struct pm_str key, struct pm_str value, uint32_t *ret_context)
{
    struct sink *s = sink_of(calls);
    struct collector *c = s->c;
    const char *level = pm_intern_add(c->strings, key.p, key.len);
    const char *name = pm_intern_add(c->strings, value.p, value.len);
    uint32_t level_row, verb, noun = 0, sentence;
    if (!level || !name)
        return collect_no_memory(c);
    enum pm_status status = collect_level_row(c, level, &level_row);
    if (status != PM_OK)
        return status;
    status = collect_verb_row(c, level, "Executes", NULL, &verb);
    if (status != PM_OK)
        return status;
    status = label_noun(s, level_row, level, name, &noun);
    if (status != PM_OK)
        return status;
    status = collect_short_sentence(c, verb, noun, &sentence);
    if (status != PM_OK)
        return status;
    return collect_context(c, context_above(s, process, above), sentence, CONTEXT_AMBIENT,
                           ret_context);
}

static enum pm_status sink_place(struct pm_import_sink *calls, uint32_t process, uint32_t above,
                                 const uint32_t *frames, size_t n, uint32_t *ret_place)
{
    struct sink *s = sink_of(calls);
    uint32_t sentence;
    *ret_place = context_above(s, process, above);
    for (size_t i = 0; i < n; i++) {
        enum pm_status status = step_down(s, &s->frames[frames[i] - 1], ret_place);
        if (status != PM_OK)
            return status;
    }
    if (!n)
        return PM_OK;
    enum pm_status status = own_sentence(s, frames, n, &sentence);
    if (status != PM_OK)
        return status;
    return collect_context(s->c, *ret_place, sentence, 0, ret_place);
}

static enum pm_status sink_path(struct pm_import_sink *calls, uint32_t process, uint32_t parent,
                                uint32_t frame, uint32_t *ret_path)
{
    struct sink *s = sink_of(calls);
    *ret_path = context_above(s, process, parent);
    return frame ? step_down(s, &s->frames[frame - 1], ret_path) : PM_OK;
}

/* --- costs --- */

static struct sink_cost *find_cost(struct sink_cost *costs, uint32_t size,
                                   const struct sink_cost *key)
{
    uint64_t hash = ((uint64_t)key->context << 32 | key->thread) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ key->metric) * 0xbf58476d1ce4e5b9u;
    for (uint32_t at = (uint32_t)(hash >> 32) & (size - 1);; at = (at + 1) & (size - 1)) {
        struct sink_cost *cost = &costs[at];
        if (!cost->thread || (cost->thread == key->thread && cost->context == key->context &&
                              cost->metric == key->metric))
            return cost;
    }
}

static bool grow_costs(struct sink *s)
{
    uint32_t size = s->costs_size ? s->costs_size * 2 : 1024;
    struct sink_cost *costs = size ? pm_alloc_array(size, sizeof *costs) : NULL;
    if (!costs)
        return false;
    for (uint32_t i = 0; i < s->costs_size; i++)
        if (s->costs[i].thread)
            *find_cost(costs, size, &s->costs[i]) = s->costs[i];
    free(s->costs);
    s->costs = costs;
    s->costs_size = size;
    return true;
}

static enum pm_status add_time(struct sink *s, const struct sink_cost *of, uint64_t value)
{
    if (!s->times)
        s->times = import_times_new(s->c);
    bool added = s->times &&
                 import_times_add(s->times, s->now_ns, of->thread, of->context, of->metric, value);
    return added ? PM_OK : collect_no_memory(s->c);
}

static enum pm_status sink_cost(struct pm_import_sink *calls, uint32_t thread, uint32_t place,
                                uint32_t metric, uint64_t value)
{
    struct sink *s = sink_of(calls);
    struct sink_cost key = {thread, place, metric, 0};
    if (s->n_costs >= s->costs_size / 2 && !grow_costs(s))
        return collect_no_memory(s->c);
    struct sink_cost *cost = find_cost(s->costs, s->costs_size, &key);
    if (!cost->thread) {
        *cost = key;
        s->n_costs++;
    }
    if (__builtin_add_overflow(cost->value, value, &cost->value) || cost->value > INT64_MAX)
        return pm_error_set(s->c->err, PM_ERR_LIMIT, "costs of one place add up to more than %lld",
                            (long long)INT64_MAX);
    return s->now_ns ? add_time(s, &key, value) : PM_OK;
}

/* In the order of threads and contexts, which lists need. */
static int by_key(const void *a, const void *b)
{
    const struct sink_cost *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->metric != y->metric)
        return x->metric < y->metric ? -1 : 1;
    return x->context < y->context ? -1 : x->context > y->context;
}

static enum pm_status write_costs(struct sink *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->costs_size; i++)
        if (s->costs[i].thread)
            s->costs[n++] = s->costs[i];
    if (n)
        qsort(s->costs, n, sizeof *s->costs, by_key);
    for (uint32_t i = 0; i < n; i++) {
        const struct sink_cost *cost = &s->costs[i];
        enum pm_status status =
            collect_cost(s->c, cost->context, cost->thread, cost->metric, cost->value);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status sink_metric(struct pm_import_sink *calls,
                                  const struct pm_import_metric *metric, uint32_t *ret_metric)
{
    struct collector *c = sink_of(calls)->c;
    struct collect_metric made = {.name = collect_intern(c, metric->name),
                                  .unit = collect_intern(c, metric->unit),
                                  .kind = collect_intern(c, metric->kind),
                                  .description = collect_intern(c, metric->description)};
    if (!made.name || !made.unit || !made.kind || !made.description)
        return collect_no_memory(c);
    return collect_metric(c, &made, ret_metric);
}

/* The code that calls, where its address is known; else the whole function. */
static struct collect_code caller_code(const struct sink *s, uint32_t frame)
{
    const struct sink_frame *of = &s->frames[frame - 1];
    struct collect_code code = *collect_code(s->c, of->code);
    if (of->is_whole || (of->code == of->steps && !code.range))
        code.noun = code.symbol ? code.symbol : code.whole;
    return code;
}

static uint32_t callee_noun(const struct sink *s, uint32_t frame)
{
    const struct collect_code *code = collect_code(s->c, s->frames[frame - 1].steps);
    return code->symbol ? code->symbol : code->whole;
}

/* Of the whole function. */
static enum pm_status map_to_function(struct sink *s, const struct collect_code *caller,
                                      uint32_t sentence)
{
    struct collector *c = s->c;
    struct collect_mapping mapping = {.source = sentence, .origin = "debug"};
    enum pm_status status = PM_OK;
    if (caller->symbol)
        status =
            collect_short_sentence(c, c->model->executes, caller->symbol, &mapping.destination);
    else
        status = collect_short_sentence(c, c->model->source_executes,
                                        caller->functions[caller->n_functions - 1],
                                        &mapping.destination);
    return status != PM_OK ? status : collect_add_mapping(c, &mapping);
}

/* A call is where the code is that calls. */
static enum pm_status map_arc(struct sink *s, const struct collect_code *caller, bool is_whole,
                              uint32_t sentence)
{
    struct collector *c = s->c;
    if (pm_map_get(&c->codes->calls, sentence))
        return PM_OK;
    if (!pm_map_put(&c->codes->calls, sentence, 2))
        return collect_no_memory(c);
    if (is_whole && (caller->symbol || caller->n_functions))
        return map_to_function(s, caller, sentence);
    for (size_t i = 0; i < caller->n_mappings; i++) {
        struct collect_mapping mapping = c->model->mappings[caller->first_mapping + i];
        mapping.source = sentence;
        enum pm_status status = collect_add_mapping(c, &mapping);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* {caller callee Calls}, beside all paths; how often it was called, without its callers. */
static enum pm_status sink_arc(struct pm_import_sink *calls, const struct pm_import_arc *arc,
                               uint32_t metric, uint64_t value)
{
    struct sink *s = sink_of(calls);
    struct collector *c = s->c;
    struct sink_frame callee = s->frames[arc->callee - 1];
    struct collect_code caller = caller_code(s, arc->caller);
    uint32_t nouns[] = {caller.noun, callee_noun(s, arc->callee)}, sentence;
    uint32_t root = context_above(s, arc->process, 0), context = root;
    enum pm_status status = collect_need_calls_verb(c);
    if (status != PM_OK)
        return status;
    status = collect_long_sentence(c, c->model->calls, nouns, 2, &sentence);
    if (status != PM_OK)
        return status;
    status = map_arc(s, &caller, s->frames[arc->caller - 1].is_whole, sentence);
    if (status != PM_OK)
        return status;
    status = collect_context(c, root, sentence, 0, &context);
    if (status != PM_OK)
        return status;
    status = sink_cost(calls, arc->thread, context, metric, value);
    if (status != PM_OK || !arc->n_calls)
        return status;
    callee.flags = CONTEXT_COUNTED;
    status = step_down(s, &callee, &root);
    if (status != PM_OK)
        return status;
    return sink_cost(calls, arc->thread, root, METRIC_N_CALLS, arc->n_calls);
}

static enum pm_status sink_event(struct pm_import_sink *calls, uint32_t thread, uint64_t time_ns,
                                 uint32_t path)
{
    struct sink *s = sink_of(calls);
    if (!s->trace)
        s->trace = import_trace_new(s->c);
    if (!s->trace)
        return collect_no_memory(s->c);
    uint32_t sentence = path ? s->c->contexts->keys[path - 1].sentence : 0;
    return import_trace_add(s->trace, thread, time_ns, sentence);
}

/* --- who ran --- */

/* Its rank and its machine. */
static enum pm_status write_where(struct collector *c, const struct pm_import_process *process)
{
    enum pm_status status = PM_OK;
    if (process->rank >= 0) {
        bind_number(c->writer->statements[INSERT_RANK], 1, c->processes->n);
        bind_number(c->writer->statements[INSERT_RANK], 2, (uint64_t)process->rank);
        status = collect_insert(c, INSERT_RANK);
    }
    if (status != PM_OK || !process->host.len)
        return status;
    bind_number(c->writer->statements[INSERT_NODE], 1, c->processes->n);
    bind_str(c->writer->statements[INSERT_NODE], 2, process->host);
    return collect_insert(c, INSERT_NODE);
}

static enum pm_status sink_process(struct pm_import_sink *calls,
                                   const struct pm_import_process *process, uint32_t *ret_process)
{
    struct sink *s = sink_of(calls);
    struct collector *c = s->c;
    uint32_t sentence;
    uint32_t *roots = pm_grow_array(s->roots, s->n_roots, &s->roots_cap, 16, sizeof *roots);
    if (!roots)
        return collect_no_memory(c);
    s->roots = roots;
    uint32_t pid = process->pid ? process->pid : c->processes->n + 1;
    uint32_t *n_images = pm_map_at(&s->images, pid);
    if (!n_images)
        return collect_no_memory(c);
    sqlite3_stmt *insert = c->writer->statements[INSERT_PROCESS];
    sqlite3_clear_bindings(insert);
    bind_number(insert, 1, ++c->processes->n);
    bind_number(insert, 2, s->execution);
    /* that without a number is what was not sampled, in archives of ours */
    bind_number(insert, 3, pid);
    bind_number_or_null(insert, 4, process->parent_pid);
    bind_number(insert, 5, (*n_images)++);
    bind_str(insert, 6, process->name);
    bind_text(insert, 10, "exit");
    bind_number(insert, 14, 0);
    enum pm_status status = collect_insert(c, INSERT_PROCESS);
    if (status != PM_OK)
        return status;
    status = write_where(c, process);
    if (status != PM_OK)
        return status;
    status = collect_process_sentence(c, process->name, &sentence);
    if (status != PM_OK)
        return status;
    status = collect_context(c, 0, sentence, 0, &roots[s->n_roots]);
    s->n_roots++;
    *ret_process = c->processes->n;
    return status;
}

static enum pm_status sink_thread(struct pm_import_sink *calls,
                                  const struct pm_import_thread *thread, uint32_t *ret_thread)
{
    struct collector *c = sink_of(calls)->c;
    sqlite3_stmt *insert = c->writer->statements[INSERT_THREAD];
    sqlite3_clear_bindings(insert);
    bind_number(insert, 1, ++c->processes->n_threads);
    bind_number(insert, 2, thread->process);
    /* those without a number have to be told apart */
    bind_number(insert, 3, thread->tid ? thread->tid : c->processes->n_threads);
    bind_number(insert, 4, 1);
    bind_str(insert, 5, thread->name);
    if (thread->has_times) {
        bind_number(insert, 6, thread->start_ns);
        bind_number(insert, 7, thread->end_ns);
    }
    *ret_thread = c->processes->n_threads;
    return collect_insert(c, INSERT_THREAD);
}

static void sink_now(struct pm_import_sink *calls, uint64_t time_ns)
{
    sink_of(calls)->now_ns = time_ns;
}

static void sink_span(struct pm_import_sink *calls, uint64_t start_ns, uint64_t end_ns)
{
    struct sink *s = sink_of(calls);
    bool is_first = s->start_ns == s->end_ns;
    if (is_first || start_ns < s->start_ns)
        s->start_ns = start_ns;
    if (is_first || end_ns > s->end_ns)
        s->end_ns = end_ns;
}

/* The first error counts. */
static void keep_status(struct sink *s, enum pm_status status)
{
    s->status = s->status != PM_OK ? s->status : status;
}

static void sink_attribute(struct pm_import_sink *calls, const char *key, struct pm_str value)
{
    struct sink *s = sink_of(calls);
    sqlite3_stmt *insert = s->c->writer->statements[INSERT_ATTRIBUTE];
    bind_number(insert, 1, s->execution);
    bind_text(insert, 2, key);
    bind_str(insert, 3, value);
    keep_status(s, collect_insert(s->c, INSERT_ATTRIBUTE));
}

static void sink_note(struct pm_import_sink *calls, const char *text)
{
    struct sink *s = sink_of(calls);
    keep_status(s, collect_mark(s->c, "%s", text));
}

/* --- the whole --- */

/* What it was called with is not known: the report's head names the files. */
static enum pm_status write_execution(struct sink *s, const char *const *paths, size_t n,
                                      const char *name)
{
    struct pm_buf text = PM_BUF_INIT(1 << 20);
    uint64_t cpu_ns = 0;
    for (size_t i = 0; i < n; i++)
        pm_buf_printf(&text, "%s%s", i ? " " : "imported ", collect_base_name(paths[i]));
    for (uint32_t i = 0; i < s->costs_size; i++)
        if (s->costs[i].thread && s->costs[i].metric == METRIC_CPU_NS)
            cpu_ns += s->costs[i].value;
    sqlite3_stmt *insert = s->c->writer->statements[INSERT_EXECUTION];
    sqlite3_clear_bindings(insert);
    bind_number(insert, 1, s->execution);
    bind_text(insert, 2, name ? name : collect_base_name(paths[0]));
    bind_text(insert, 3, text.data ? text.data : "");
    bind_text(insert, 6, "import");
    if (s->end_ns > s->start_ns)
        bind_number(insert, 8, s->end_ns - s->start_ns);
    if (cpu_ns) {
        bind_number(insert, 9, cpu_ns);
        bind_number(insert, 10, 0);
    }
    enum pm_status status = collect_insert(s->c, INSERT_EXECUTION);
    pm_buf_release(&text);
    return status;
}

static enum pm_status tell_missing(struct sink *s)
{
    if (!s->n_missing)
        return PM_OK;
    if (s->n_missing > MOST_MISSING_NAMES)
        pm_buf_add_str(&s->missing, ", ...");
    return collect_mark(s->c,
                        "%u binaries are not here, or not those that ran (%s): their code has the "
                        "names that the profile has, and no lines",
                        s->n_missing, s->missing.data ? s->missing.data : "");
}

static void release(struct sink *s)
{
    free(s->objects);
    free(s->frames);
    free(s->roots);
    free(s->costs);
    import_trace_free(s->trace);
    import_times_free(s->times);
    pm_map_release(&s->labels);
    pm_map_release(&s->images);
    pm_buf_release(&s->missing);
}

static enum pm_status read_files(struct sink *s, const char *const *paths, size_t n,
                                 const char *name, const struct pm_import_options *options)
{
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < n; i++) {
        s->now_ns = 0;
        status = pm_import_file(paths[i], options, &s->calls, s->c->err);
        if (status != PM_OK)
            return status;
    }
    if (s->status != PM_OK)
        return s->status;
    if (s->trace)
        status = import_trace_end(s->trace);
    if (status != PM_OK)
        return status;
    status = write_execution(s, paths, n, name);
    if (status != PM_OK)
        return status;
    if (s->times)
        status = import_times_write(s->times, s->start_ns);
    if (status != PM_OK)
        return status;
    status = tell_missing(s);
    return status != PM_OK ? status : write_costs(s);
}

enum pm_status collect_profiles(struct collector *c, const char *const *paths, size_t n,
                                const char *name, const struct pm_import_options *options)
{
    struct sink s = {.calls = {.object = sink_object,
                               .process = sink_process,
                               .thread = sink_thread,
                               .metric = sink_metric,
                               .frame = sink_frame,
                               .path = sink_path,
                               .label = sink_label,
                               .place = sink_place,
                               .cost = sink_cost,
                               .arc = sink_arc,
                               .event = sink_event,
                               .now = sink_now,
                               .span = sink_span,
                               .attribute = sink_attribute,
                               .note = sink_note},
                     .c = c,
                     .execution = ++c->processes->n_executions,
                     .first_process = c->processes->n + 1,
                     .missing = PM_BUF_INIT(16384)};
    enum pm_status status = read_files(&s, paths, n, name, options);
    c->has_stacks = false;
    release(&s);
    return status;
}
