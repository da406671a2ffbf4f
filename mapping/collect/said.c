/* Words that calls say (format/pm_words.h): the code of the call, and what lies around it. */
#include "said.h"

#include "active.h"
#include "code.h"
#include "collector.h"
#include "run_names.h"
#include "samples_internal.h"
#include "touches.h"
#include "words.h"

#include "format/pm_sled.h"
#include "mapping/run/run_file.h"

/* A function that has ended by a jump stays active until something shows that what it jumped to
 * has returned. A call of the code of a function further out does. Where that is, as a node;
 * PM_RUN_FILE_NO_PARENT: there is no such function. */
static uint32_t find_outer(const struct sampler *s, const struct innermost *active,
                           const struct collect_code *code)
{
    enum { MOST_STEPS = 64 };
    const struct pm_run_file_node *dead = active->function;
    if (!dead || s->names->has_gaps) /* it may be active further in, and have no context there */
        return PM_RUN_FILE_NO_PARENT;
    const struct pm_run_file_node *at = &s->thread->nodes[dead->parent];
    for (int i = 0; i < MOST_STEPS && at->noun != PM_RUN_NOUN_ROOT; i++) {
        const struct pm_run_file_noun *noun = pm_run_file_noun(s->file, at->noun);
        if (at->parent == PM_RUN_FILE_NO_PARENT || collect_is_spoken(s->file, noun))
            break;
        if (s->names->nouns[at->noun] == code->symbol)
            return dead->parent;
        if (noun->kind != PM_SLED_LOOP_ENTER)
            dead = at;
        at = &s->thread->nodes[at->parent];
    }
    return PM_RUN_FILE_NO_PARENT;
}

/* The code that says the word of a node in this code, by a call. Not where that has ended by a jump
 * to who calls: the call is its caller's. */
static const struct collect_code *code_that_says(const struct sampler *s,
                                                 const struct innermost *active, uint32_t noun)
{
    uint32_t number = noun == PM_RUN_NOUN_ROOT ? 0 : s->names->calls[noun];
    if (!number)
        return NULL;
    const struct collect_code *code = collect_code(s->c, number);
    if (!sampler_has_facts(code))
        return sampler_is_plain(active, code) ? code : NULL;
    if (sampler_is_active(s, active, code) || find_outer(s, active, code) != PM_RUN_FILE_NO_PARENT)
        return code;
    bool has_jumped = active->function && active->function->flags & PM_RUN_NODE_JUMPED;
    return has_jumped || collect_is_library(code) ? NULL : code;
}

/* What was said first, of the words between the node and the code that is active. */
const struct collect_code *sampler_said(const struct sampler *s, const struct innermost *active,
                                        uint32_t node)
{
    const struct collect_code *said = NULL;
    for (; node != PM_RUN_FILE_NO_PARENT; node = s->thread->nodes[node].parent) {
        const struct pm_run_file_node *at = &s->thread->nodes[node];
        if (at == active->function || at == active->loop || at->noun == PM_RUN_NOUN_ROOT)
            break;
        const struct collect_code *code = code_that_says(s, active, at->noun);
        said = code ? code : said;
    }
    return said;
}

/* The code that calls, or that was called and has jumped to who says the word. */
static enum pm_status find_said_code(const struct sampler *s, const struct pm_run_file_word *call,
                                     uint32_t *ret_code)
{
    uint32_t jump = 0;
    enum pm_status status = sampler_code_at(s, call->object, call->address, false, ret_code);
    if (status != PM_OK || !sampler_has_facts(collect_code(s->c, *ret_code)))
        return status;
    status =
        sampler_called_jump(s, call->object, call->address, collect_code(s->c, *ret_code), &jump);
    *ret_code = jump ? jump : *ret_code;
    return status;
}

/* What collect_said_context will look up. */
static enum pm_status open_around_said(const struct sampler *s)
{
    for (uint32_t i = 0; i < s->thread->n_nodes; i++) {
        const struct pm_run_file_node *node = &s->thread->nodes[i];
        if (node->noun == PM_RUN_NOUN_ROOT || !s->names->calls[node->noun] ||
            node->parent == PM_RUN_FILE_NO_PARENT)
            continue;
        struct innermost innermost = sampler_innermost(s, node->parent);
        enum pm_status status =
            sampler_open_around(s, &innermost, code_that_says(s, &innermost, node->noun));
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status find_said_codes(const struct sampler *s, bool *ret_any)
{
    for (size_t i = 0; i < pm_run_file_n_nouns(s->file); i++) {
        const struct pm_run_file_word *call =
            collect_said_call(s->file, pm_run_file_noun(s->file, i));
        enum pm_status status = call ? find_said_code(s, call, &s->names->calls[i]) : PM_OK;
        if (status != PM_OK)
            return status;
        *ret_any |= call != NULL;
    }
    return PM_OK;
}

enum pm_status collect_locate_said(struct collector *c, const struct pm_run_file *file,
                                   const struct collect_names *names)
{
    struct sampler s = {.c = c, .file = file, .names = names};
    bool any = false;
    enum pm_status status = find_said_codes(&s, &any);
    size_t n = any ? pm_run_file_n_threads(file) : 0;
    for (size_t t = 0; t < n; t++) {
        s.thread = pm_run_file_thread(file, t);
        if (status != PM_OK)
            return status;
        status = open_around_said(&s);
    }
    return status;
}

const struct collect_code *collect_said_code(struct collector *c, const struct collect_where *where)
{
    struct sampler s = sampler_of(c, where);
    const struct pm_run_file_node *node = &where->thread->nodes[where->node];
    if (node->noun == PM_RUN_NOUN_ROOT || !where->names->calls[node->noun])
        return NULL;
    struct innermost active = sampler_active(&s, where->node);
    return code_that_says(&s, &active, node->noun);
}

enum pm_status collect_said_context(struct collector *c, const struct collect_where *where,
                                    const struct collect_node *nodes, bool *ret_is_known,
                                    uint32_t *ret_context)
{
    struct sampler s = sampler_of(c, where);
    const struct pm_run_file_node *node = &where->thread->nodes[where->node];
    struct innermost innermost = sampler_innermost(&s, node->parent);
    const struct collect_code *code =
        innermost.said ? NULL : code_that_says(&s, &innermost, node->noun);
    struct collect_node place = where->context;
    uint32_t outer = code && sampler_has_facts(code) && !sampler_is_active(&s, &innermost, code)
                         ? find_outer(&s, &innermost, code)
                         : PM_RUN_FILE_NO_PARENT;
    if (outer != PM_RUN_FILE_NO_PARENT) {
        innermost = sampler_innermost(&s, outer);
        place = nodes[outer];
    }
    enum pm_status status = code ? sampler_to_code(&s, &innermost, code, &place) : PM_OK;
    *ret_is_known = innermost.said || code;
    *ret_context = place.row;
    return status;
}
