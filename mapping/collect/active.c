/* Which code was active, and the way down from its context to code that ran in it: the symbol that
 * holds that, and the functions that were inlined there. */
#include "active.h"

#include "binaries.h"
#include "call_paths.h"
#include "code.h"
#include "collector.h"
#include "contexts.h"
#include "model.h"
#include "places.h"
#include "run_names.h"
#include "samples_internal.h"
#include "words.h"

#include "format/pm_id.h"
#include "format/pm_sled.h"
#include "mapping/code/code_map.h"
#include "mapping/run/run_file.h"

/* A place is where a sample goes while it is led down. */
enum pm_status sampler_step_down(struct sampler *s, struct collect_node *place, uint32_t sentence,
                                 unsigned flags)
{
    return collect_context(s->c, place->row, sentence, flags | collect_stack_flag(*place),
                           &place->row);
}

struct innermost sampler_active(const struct sampler *s, uint32_t node)
{
    struct innermost found = {NULL, NULL, NULL};
    for (; node != PM_RUN_FILE_NO_PARENT; node = s->thread->nodes[node].parent) {
        const struct pm_run_file_node *at = &s->thread->nodes[node];
        if (at->noun == PM_RUN_NOUN_ROOT)
            break;
        if (collect_is_spoken(s->file, pm_run_file_noun(s->file, at->noun)))
            continue;
        if (pm_run_file_noun(s->file, at->noun)->kind != PM_SLED_LOOP_ENTER) {
            found.function = at;
            break;
        }
        if (!found.loop)
            found.loop = at;
    }
    return found;
}

bool sampler_has_facts(const struct collect_code *code)
{
    return code->symbol != 0 && !code->is_perfmap;
}

/* In a process without sleds: code that debug information or symbols tell of. A caller is in no
 * library of a language. */
bool sampler_is_plain(const struct innermost *innermost, const struct collect_code *code)
{
    return !innermost->function && !innermost->loop && code->binary && code->binary->same &&
           !code->is_perfmap && code->n_mappings;
}

/* Whether the code is that of the active function, or of the one whose loop is active, or lies
 * around the word that is active there. */
bool sampler_is_active(const struct sampler *s, const struct innermost *innermost,
                       const struct collect_code *code)
{
    const struct collect_code *said = innermost->said;
    if (said && code->symbol && said->symbol == code->symbol)
        return true;
    if (innermost->loop && code->binary && code->symbol_id) {
        pm_id loop = pm_run_file_noun(s->file, innermost->loop->noun)->id;
        if (collect_symbol_around(code->binary, 0, loop) == code->symbol_id)
            return true;
    }
    return innermost->function && s->names->nouns[innermost->function->noun] == code->symbol;
}

struct innermost sampler_innermost(const struct sampler *s, uint32_t node)
{
    struct innermost found = sampler_active(s, node);
    found.said = sampler_said(s, &found, node);
    return found;
}

/* Of the function that is active; NULL: none is, or of no file. */
static struct collect_binary *caller_binary(const struct sampler *s,
                                            const struct innermost *innermost)
{
    uint32_t object = innermost->function
                          ? pm_run_file_noun(s->file, innermost->function->noun)->object
                          : PM_RUN_FILE_NO_OBJECT;
    return object == PM_RUN_FILE_NO_OBJECT ? NULL : s->names->binaries[object];
}

/* Down to what the active function's calls of the code's symbol lie in. */
static enum pm_status to_call(struct sampler *s, const struct innermost *innermost,
                              const struct collect_code *code, struct collect_node *place)
{
    const struct pm_run_file_noun *function, *loop = NULL;
    struct collect_binary *binary = caller_binary(s, innermost);
    if (!binary)
        return PM_OK;
    function = pm_run_file_noun(s->file, innermost->function->noun);
    if (innermost->loop)
        loop = pm_run_file_noun(s->file, innermost->loop->noun);
    return collect_call_path(s->c, binary, function->id, loop ? loop->id : 0,
                             code->binary == binary ? code->symbol_id : 0,
                             collect_stack_flag(*place), &place->row);
}

/* Down to the symbol that holds the code, when it is not the context's. */
static enum pm_status to_symbol(struct sampler *s, const struct innermost *innermost,
                                const struct collect_code *code, struct collect_node *place,
                                bool *ret_is_same)
{
    struct collector *c = s->c;
    uint32_t sentence;
    *ret_is_same = sampler_is_active(s, innermost, code);
    if (*ret_is_same || !code->symbol)
        return PM_OK;
    enum pm_status status = collect_short_sentence(c, c->model->executes, code->symbol, &sentence);
    if (status == PM_OK)
        status = to_call(s, innermost, code, place);
    if (status != PM_OK)
        return status;
    /* Before its entry sled and behind its exit sled a function is not active yet, or any more. */
    uint32_t known = s->names->has_gaps ? 0
                                        : collect_find_context(c, place->row, sentence,
                                                               collect_stack_flag(*place));
    if (known) {
        place->row = known;
        return PM_OK;
    }
    return sampler_step_down(s, place, sentence, CONTEXT_SAMPLED);
}

/* How many of the code's inlined functions lie around the loop that is active: they are above
 * it. */
static uint32_t n_around_loop(const struct sampler *s, const struct innermost *innermost,
                              const struct collect_code *code)
{
    if (!innermost->loop || !code->n_inlines || !code->sites)
        return 0;
    const struct pm_run_file_noun *loop = pm_run_file_noun(s->file, innermost->loop->noun);
    pm_id function = collect_loop_function(code->binary, loop->id);
    for (uint32_t i = code->n_inlines; i-- > 0;)
        if (code->sites[i]->function == function)
            return i + 1;
    return 0;
}

/* How many of them lie around the word that was said there. */
static uint32_t n_around_said(const struct collect_code *said, const struct collect_code *code)
{
    uint32_t n = 0;
    if (!said || said->symbol != code->symbol || said->function != code->function)
        return 0;
    while (n < said->n_inlines && n < code->n_inlines && said->inlines[n] == code->inlines[n])
        n++;
    return n;
}

/* Down from the context to what holds the code: its symbol, and the functions inlined there. */
enum pm_status sampler_to_code(struct sampler *s, const struct innermost *innermost,
                               const struct collect_code *code, struct collect_node *place)
{
    const struct collect_code *said = innermost->said;
    bool is_same;
    enum pm_status status = to_symbol(s, innermost, code, place, &is_same);
    uint32_t first = is_same ? n_around_loop(s, innermost, code) : 0,
             n_said = n_around_said(said, code);
    first = n_said > first ? n_said : first;
    bool is_there = !code->function || (said && said->function == code->function);
    if (status == PM_OK && !is_there)
        status = sampler_step_down(s, place, code->function, CONTEXT_SAMPLED);
    for (uint32_t i = first; i < code->n_inlines && status == PM_OK; i++)
        status = sampler_step_down(s, place, code->inlines[i], CONTEXT_INLINED);
    return status;
}

/* interrupted: the address is where a timer's interrupt left the program, not what called. */
enum pm_status sampler_code_at(const struct sampler *s, uint32_t object, uint64_t address,
                               bool interrupted, uint32_t *ret_code)
{
    struct collect_binary *binary =
        object == PM_RUN_FILE_NO_OBJECT ? NULL : s->names->binaries[object];
    enum pm_status status = interrupted ? collect_blamed(s->c, binary, address, &address) : PM_OK;
    return status == PM_OK ? collect_code_at(s->c, binary, address, ret_code) : status;
}

/* The code that jumps from the symbol to what has no late map, likely: a place where that is done.
 * 0: none. */
static enum pm_status find_jump(const struct sampler *s, uint32_t object, pm_id symbol,
                                uint32_t *ret_code)
{
    uint64_t address = 0;
    struct collect_binary *binary =
        object == PM_RUN_FILE_NO_OBJECT ? NULL : s->names->binaries[object];
    enum pm_status status = binary ? collect_need_calls(s->c, binary) : PM_OK;
    if (status == PM_OK && binary)
        status = collect_jump_out(s->c, binary, symbol, &address);
    if (status == PM_OK && address)
        status = sampler_code_at(s, object, address, false, ret_code);
    if (status == PM_OK && !sampler_has_facts(collect_code(s->c, *ret_code)))
        *ret_code = 0;
    return status;
}

/* Code of a library whose caller is not on the stack was jumped to, by the function that is
 * active. */
enum pm_status sampler_active_jump(const struct sampler *s, const struct innermost *innermost,
                                   uint32_t *ret_code)
{
    if (!innermost->function || innermost->loop)
        return PM_OK;
    const struct pm_run_file_noun *function = pm_run_file_noun(s->file, innermost->function->noun);
    return find_jump(s, function->object, function->id, ret_code);
}

/* What the caller called is not on the stack, so that it has jumped there. */
enum pm_status sampler_called_jump(const struct sampler *s, uint32_t object, uint64_t address,
                                   const struct collect_code *caller, uint32_t *ret_code)
{
    pm_id callee = 0;
    if (!caller->binary || !caller->symbol_id)
        return PM_OK;
    enum pm_status status = collect_need_calls(s->c, caller->binary);
    if (status == PM_OK)
        status = collect_called_at(s->c, caller->binary, caller->symbol_id, address, &callee);
    return status == PM_OK && callee ? find_jump(s, object, callee, ret_code) : status;
}

/* What to_code will look up. */
enum pm_status sampler_open_around(const struct sampler *s, const struct innermost *innermost,
                                   const struct collect_code *code)
{
    struct collect_binary *binary;
    if (!code || !code->symbol || sampler_is_active(s, innermost, code))
        return PM_OK;
    binary = caller_binary(s, innermost);
    return binary ? collect_need_calls(s->c, binary) : PM_OK;
}

struct sampler sampler_of(struct collector *c, const struct collect_where *where)
{
    return (struct sampler){.c = c,
                            .file = where->file,
                            .thread = where->thread,
                            .thread_row = where->thread_row,
                            .names = where->names};
}

enum pm_status collect_locate_context(struct collector *c, const struct collect_where *where,
                                      const struct collect_code *code)
{
    struct sampler s = sampler_of(c, where);
    struct innermost innermost = sampler_innermost(&s, where->node);
    return sampler_open_around(&s, &innermost, code);
}

enum pm_status collect_code_context(struct collector *c, const struct collect_where *where,
                                    const struct collect_code *code, uint32_t sentence,
                                    uint32_t *ret_context)
{
    struct sampler s = sampler_of(c, where);
    struct innermost innermost = sampler_innermost(&s, where->node);
    struct collect_node place = where->context;
    enum pm_status status = sampler_to_code(&s, &innermost, code, &place);
    if (status == PM_OK)
        status = sampler_step_down(&s, &place, sentence, 0);
    *ret_context = place.row;
    return status;
}
