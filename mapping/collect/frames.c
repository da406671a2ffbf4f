/* Where functions were called from, around the calls that say words.
 *
 * Contexts are paths of functions and loops: two calls of sum, in one function, have one context.
 * Words that calls say have the frames of the functions around them, so that what they cost is
 * below the very calls:
 *
 *     main, loop, {code sum Calls}, sum, loop, {Send}
 *
 * {code sum Calls} maps to the statement of the call, and to the data that it passes. Functions
 * that were inlined have one above them, too.
 */
#include "frames.h"

#include "arguments.h"
#include "binaries.h"
#include "call_paths.h"
#include "code.h"
#include "collector.h"
#include "model.h"
#include "run_names.h"
#include "said.h"
#include "samples_internal.h"
#include "touched.h"
#include "words.h"

#include "format/pm_sled.h"
#include "mapping/code/code_map.h"
#include "mapping/run/run_file.h"

#include <stdlib.h>

static const struct pm_run_file_word *frame_at(const struct pm_run_file *file, uint32_t number)
{
    return number ? pm_run_file_word(file, number - 1) : NULL;
}

/* The function's noun, if it is code of a file; NULL. */
static const struct pm_run_file_noun *function_at(const struct pm_run_file *file,
                                                  const struct pm_run_file_word *frame)
{
    const struct pm_run_file_noun *noun =
        frame && frame->line_no != PM_RUN_NOUN_ROOT ? pm_run_file_noun(file, frame->line_no) : NULL;
    return noun && noun->object != PM_RUN_FILE_NO_OBJECT ? noun : NULL;
}

/* A function that nobody has called was jumped to, by the next one outside. */
static enum pm_status locate_jump(const struct sampler *s, const struct pm_run_file_word *frame,
                                  uint32_t *ret_code)
{
    const struct pm_run_file_noun *function = function_at(s->file, frame),
                                  *outer = function_at(s->file, frame_at(s->file, frame->a));
    struct collect_binary *binary = function && outer && function->object == outer->object
                                        ? s->names->binaries[function->object]
                                        : NULL;
    uint64_t address = 0;
    if (!binary)
        return PM_OK;
    enum pm_status status = collect_need_calls(s->c, binary);
    if (status != PM_OK)
        return status;
    status = collect_jump_to(s->c, binary, outer->id, function->id, &address);
    if (status != PM_OK || !address)
        return status;
    return sampler_code_at(s, function->object, address, false, ret_code);
}

enum pm_status collect_locate_frames(struct collector *c, const struct pm_run_file *file,
                                     struct collect_names *names)
{
    struct sampler s = {.c = c, .file = file, .names = names};
    size_t n = pm_run_file_n_words(file);
    for (size_t i = 0; i < n; i++) {
        const struct pm_run_file_word *word = pm_run_file_word(file, i);
        if (word->kind != PM_WORD_FRAME)
            continue;
        if (!names->frames && !(names->frames = pm_alloc_array(n, sizeof *names->frames)))
            return collect_no_memory(c);
        enum pm_status status = PM_OK;
        if (word->object != PM_RUN_FILE_NO_OBJECT)
            status = sampler_code_at(&s, word->object, word->address, false, &names->frames[i]);
        else if (word->address == 0)
            status = locate_jump(&s, word, &names->frames[i]);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* The function at level Source that the code of a symbol with sleds is; 0: not known. */
static pm_id source_function(const struct collect_where *where, uint32_t noun)
{
    const struct pm_run_file_noun *symbol = pm_run_file_noun(where->file, noun);
    const struct collect_binary *binary =
        symbol->object == PM_RUN_FILE_NO_OBJECT ? NULL : where->names->binaries[symbol->object];
    const struct pm_code_range *range =
        binary && binary->map ? pm_code_map_find(binary->map, symbol->address) : NULL;
    return range && range->block->symbol == symbol->id ? range->block->function : 0;
}

/* --- the way to a word --- */

/* A function that was called, as one of the run. */
struct called {
    uint32_t context, noun;
    uint32_t first;    /* its step in the way */
    bool is_in_caller; /* the call is in code of the function that is active around it */
};

enum { MOST_FUNCTIONS = 256 };

struct calls {
    struct called list[MOST_FUNCTIONS]; /* innermost first */
    uint32_t n;
    const struct collect_code *said; /* that says the word; NULL: not known */
    struct collect_way way;          /* to that */
    uint32_t n_inlined;              /* its first steps: what was inlined around it */
};

/* Function nodes around a word, innermost first, and for each its FRAME's number: 0: none. */
struct around {
    uint32_t nodes[MOST_FUNCTIONS], frames[MOST_FUNCTIONS], n;
};

static bool is_function(const struct collect_where *where, const struct pm_run_file_node *node)
{
    const struct pm_run_file_noun *noun = pm_run_file_noun(where->file, node->noun);
    return !node->is_set && !where->names->causes[node->noun] &&
           !collect_is_spoken(where->file, noun) && noun->kind != PM_SLED_LOOP_ENTER;
}

/* Up to where a thread or a task begins. */
static void find_functions(const struct collect_where *where, struct around *around)
{
    const struct pm_run_file_node *list = where->thread->nodes;
    around->n = 0;
    for (uint32_t node = list[where->node].parent;
         list[node].parent != PM_RUN_FILE_NO_PARENT && !where->names->causes[list[node].noun];
         node = list[node].parent) {
        if (!is_function(where, &list[node]))
            continue;
        if (around->n == MOST_FUNCTIONS) {
            around->n = 0; /* too deep */
            return;
        }
        around->frames[around->n] = 0;
        around->nodes[around->n++] = node;
    }
}

/* FRAMEs of functions that call themselves are there once for each call of them, outermost
 * first: they belong to the first nodes from outside. */
static void find_frames(const struct collect_where *where, struct around *around)
{
    const struct pm_run_file_node *list = where->thread->nodes;
    uint32_t numbers[PM_WORDS_MAX_DEPTH], n = 0;
    const struct pm_run_file_word *call =
        collect_said_call(where->file, pm_run_file_noun(where->file, list[where->node].noun));
    for (uint32_t number = call ? call->line_no : 0; number && n < PM_WORDS_MAX_DEPTH;
         number = frame_at(where->file, number)->a)
        numbers[n++] = number;
    for (uint32_t i = around->n; i-- > 0 && n > 0;)
        if (list[around->nodes[i]].noun == frame_at(where->file, numbers[n - 1])->line_no)
            around->frames[i] = numbers[--n];
}

/* Is it in there further out, too: it has called itself. */
static bool is_again(const struct collect_where *where, const struct around *around, uint32_t i)
{
    const struct pm_run_file_node *list = where->thread->nodes;
    for (uint32_t k = i + 1; k < around->n; k++)
        if (list[around->nodes[k]].noun == list[around->nodes[i]].noun)
            return true;
    return false;
}

static void add_unknown(struct calls *calls)
{
    collect_way_add(&calls->way, 0, &(struct pm_code_place){.line_no = 0}, NULL);
}

/* The call that the FRAME is of; NULL: it is not known. */
static const struct collect_code *code_of(struct collector *c, const struct collect_where *where,
                                          uint32_t frame)
{
    const struct collect_code *code =
        frame ? collect_code(c, where->names->frames[frame - 1]) : NULL;
    return code && sampler_has_facts(code) && code->range && code->binary->pif ? code : NULL;
}

static void add_call(struct calls *calls, const struct collect_where *where,
                     const struct collect_node *nodes, const struct around *around, uint32_t i,
                     const struct collect_code *code)
{
    const struct pm_run_file_node *list = where->thread->nodes;
    uint32_t node = around->nodes[i], noun = list[node].noun;
    bool is_in_caller =
        i + 1 < around->n && where->names->nouns[list[around->nodes[i + 1]].noun] == code->symbol;
    if (calls->n < MOST_FUNCTIONS && calls->way.n < COLLECT_MAX_WAY)
        calls->list[calls->n++] =
            (struct called){nodes ? nodes[node].row : 0, noun, calls->way.n, is_in_caller};
    struct pm_code_place place = collect_user_statement(code->binary, code->range->tuple).place;
    collect_way_add(&calls->way, source_function(where, noun), &place, code);
    collect_way_add_inlined(&calls->way, code);
}

static void find_calls(struct collector *c, const struct collect_where *where,
                       const struct collect_node *nodes, struct calls *calls)
{
    struct around around;
    const struct pm_run_file_node *list = where->thread->nodes;
    find_functions(where, &around);
    if (where->names->frames)
        find_frames(where, &around);
    calls->n = calls->way.n = 0;
    calls->said = collect_said_code(c, where);
    if (calls->said && (!sampler_has_facts(calls->said) || !calls->said->range))
        calls->said = NULL;
    if (calls->said)
        collect_way_add_inlined(&calls->way, calls->said);
    calls->n_inlined = calls->way.n;
    if (calls->said && around.n &&
        where->names->nouns[list[around.nodes[0]].noun] != calls->said->symbol)
        add_unknown(calls);
    for (uint32_t i = 0; i < around.n; i++) {
        const struct collect_code *code = code_of(c, where, around.frames[i]);
        if (code)
            add_call(calls, where, nodes, &around, i, code);
        else if (!is_again(where, &around, i))
            add_unknown(calls);
    }
}

/* The path of a context, again, below the calls that led to it. */
struct copy {
    struct collector *c;
    const struct collect_where *where;
    const struct calls *calls;
    uint32_t next;    /* calls that are still to come, in calls->list */
    uint32_t n_there; /* of the functions that were inlined around code_of_next() */
    uint32_t context; /* so far */
    unsigned flags;
};

/* What calls next, or says the word; NULL: it is not known. *ret_first: its first inlined step. */
static const struct collect_code *code_of_next(const struct copy *copy, uint32_t *ret_first)
{
    const struct calls *calls = copy->calls;
    *ret_first = 0;
    if (copy->next == 0)
        return calls->said;
    *ret_first = calls->list[copy->next - 1].first + 1;
    return calls->list[copy->next - 1].is_in_caller
               ? calls->way.steps[calls->list[copy->next - 1].first].code
               : NULL;
}

static enum pm_status add_calls(struct copy *copy, uint32_t step, uint32_t called)
{
    uint32_t sentence;
    enum pm_status status =
        collect_calls_sentence(copy->c, &copy->calls->way, step, called, &sentence);
    return status != PM_OK
               ? status
               : collect_context(copy->c, copy->context, sentence, copy->flags, &copy->context);
}

/* The i-th function that was inlined around the code was called there. */
static enum pm_status add_inlined_call(struct copy *copy, const struct collect_code *code,
                                       uint32_t first, uint32_t i)
{
    uint32_t step = first + code->n_inlines - 1 - i;
    if (!code->sites || step >= copy->calls->way.n || copy->calls->way.steps[step].code != code)
        return PM_OK;
    uint32_t called = pm_map_get(&code->binary->nouns, code->sites[i]->function);
    return called ? add_calls(copy, step, called) : PM_OK;
}

/* What was inlined is there already, or is added. */
static enum pm_status note_inlined(struct copy *copy, uint32_t sentence)
{
    uint32_t first, i = copy->n_there;
    const struct collect_code *code = code_of_next(copy, &first);
    while (code && i < code->n_inlines && code->inlines[i] != sentence)
        i++;
    if (!code || i >= code->n_inlines)
        return PM_OK;
    copy->n_there = i + 1;
    return add_inlined_call(copy, code, first, i);
}

static enum pm_status add_call_of(struct copy *copy)
{
    const struct called *called = &copy->calls->list[copy->next - 1];
    uint32_t first;
    const struct collect_code *code = code_of_next(copy, &first);
    for (uint32_t i = copy->n_there; code && i < code->n_inlines; i++) {
        enum pm_status status = add_inlined_call(copy, code, first, i);
        if (status != PM_OK)
            return status;
        status = collect_context(copy->c, copy->context, code->inlines[i],
                                 copy->flags | CONTEXT_INLINED, &copy->context);
        if (status != PM_OK)
            return status;
    }
    copy->next--;
    copy->n_there = 0;
    return add_calls(copy, called->first, copy->where->names->nouns[called->noun]);
}

/* What others find by themselves is not there twice. */
static bool is_special(const struct collect_context_key *key)
{
    return (key->flags & (CONTEXT_CAUSE | CONTEXT_TOLD | CONTEXT_CAUSE_ALONE)) != 0;
}

/* The same context below what is there so far, and the calls that led to it. */
static enum pm_status copy_context(struct copy *copy, uint32_t row, bool is_below)
{
    struct collector *c = copy->c;
    const struct collect_context_key key = c->contexts->keys[row - 1];
    enum pm_status status = PM_OK;
    bool is_called = copy->next > 0 && copy->calls->list[copy->next - 1].context == row;
    copy->flags = key.flags & CONTEXT_FOREIGN_STACK;
    if (!is_below || copy->context == 0)
        copy->next -= is_called;
    else if (is_called)
        status = add_call_of(copy);
    else if (key.flags & CONTEXT_INLINED)
        status = note_inlined(copy, key.sentence);
    if (status != PM_OK)
        return status;
    if (copy->context != key.parent)
        return collect_context(c, copy->context, key.sentence, key.flags, &copy->context);
    copy->context = row;
    return PM_OK;
}

/* path: innermost first. Only what is below the last special context is below other calls. */
static enum pm_status copy_path(struct copy *copy, const uint32_t *path, uint32_t n)
{
    uint32_t n_below = 0;
    while (n_below < n && !is_special(&copy->c->contexts->keys[path[n_below] - 1]))
        n_below++;
    for (uint32_t i = n; i-- > 0;) {
        enum pm_status status = copy_context(copy, path[i], i < n_below);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* Rows from the context upwards, up to what is special; 0: too many. */
static uint32_t find_path(const struct collector *c, uint32_t context, uint32_t *path, uint32_t max)
{
    uint32_t n = 0;
    for (; context && n < max; context = c->contexts->keys[context - 1].parent)
        path[n++] = context;
    return context ? 0 : n;
}

enum pm_status collect_frames_context(struct collector *c, const struct collect_where *where,
                                      const struct collect_node *nodes, uint32_t *ret_context)
{
    enum { MOST_STEPS = 1024 };
    struct calls calls;
    uint32_t path[MOST_STEPS];
    find_calls(c, where, nodes, &calls);
    uint32_t n = find_path(c, where->context.row, path, MOST_STEPS);
    struct copy copy = {.c = c, .where = where, .calls = &calls, .next = calls.n};
    *ret_context = where->context.row;
    if (n == 0 || (calls.n == 0 && calls.n_inlined == 0))
        return PM_OK;
    enum pm_status status = copy_path(&copy, path, n);
    *ret_context = copy.context;
    return status;
}

enum pm_status collect_said_sentence(struct collector *c, const struct collect_where *where,
                                     const struct collect_code *code, uint32_t *ret_sentence)
{
    struct calls calls;
    find_calls(c, where, NULL, &calls);
    *ret_sentence = code->sentence;
    return calls.said == code ? collect_resolved_sentence(c, &calls.way, code, ret_sentence)
                              : PM_OK;
}
