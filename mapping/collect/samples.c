/* Samples: each becomes a leaf below its context. */
#include "internal.h"

#include <math.h>

/* CPU times of a thread's samples, as they are and as they count. */
struct sampled {
    double located, known, lost,
        /* known: of the runtime's own start, no sample; rest: less than one sample, at its end */
        rest;
};
struct scale {
    struct sampled before, after;
    double seen, given; /* of located */
};

static struct sampled add_up(const struct pm_run_file_thread *thread)
{
    struct sampled sum = {0};
    for (size_t i = 0; i < thread->n_samples; i++) {
        const struct pm_run_file_sample *sample = &thread->samples[i];
        if (sample->kind == PM_RUN_SAMPLE_LOST)
            *(sample->n_samples ? &sum.lost : &sum.rest) += (double)sample->time_ns;
        else if (sample->kind == PM_RUN_SAMPLE_USER || sample->kind == PM_RUN_SAMPLE_KERNEL)
            *(sample->n_samples ? &sum.located : &sum.known) += (double)sample->time_ns;
    }
    return sum;
}

static void take(double *from, double *excess)
{
    double taken = *excess < *from ? *excess : *from;
    *from -= taken;
    *excess -= taken;
}

/* Samples stand for all of the thread's CPU time and no more. On a busy host they may be of more
 * than its clock counted: others had the processor meanwhile. The rest at its end belongs to all
 * samples alike; where there are none, or there were many ends, it has no place. */
static struct scale find_scale(const struct pm_run_file_thread *thread)
{
    enum { MOST_REST = 10 }; /* one of so many of what is located, where there were many ends */
    struct sampled sum = add_up(thread);
    struct scale scale = {.before = sum};
    double excess = sum.located + sum.known + sum.lost + sum.rest - (double)thread->cpu_ns;
    if (thread->cpu_ns != 0 && excess > 0) {
        take(&sum.lost, &excess);
        take(&sum.rest, &excess);
        take(&sum.located, &excess);
        take(&sum.known, &excess);
    }
    if (sum.located > 0 && (thread->n_threads <= 1 || sum.rest * MOST_REST <= sum.located)) {
        sum.located += sum.rest;
        sum.rest = 0;
    }
    scale.after = sum;
    return scale;
}

static double part(double ns, double after, double before)
{
    return before > 0 ? ns * (after / before) : 0;
}

/* Rounded so that sums stay what they are. */
static uint64_t scaled_ns(struct scale *scale, const struct pm_run_file_sample *sample)
{
    const struct sampled *before = &scale->before, *after = &scale->after;
    double ns = (double)sample->time_ns;
    switch (sample->kind) {
    case PM_RUN_SAMPLE_LOST:
        return (uint64_t)(sample->n_samples ? part(ns, after->lost, before->lost)
                                            : part(ns, after->rest, before->rest));
    case PM_RUN_SAMPLE_USER:
    case PM_RUN_SAMPLE_KERNEL:
        if (!sample->n_samples)
            return (uint64_t)part(ns, after->known, before->known);
        if (after->located == before->located)
            return sample->time_ns;
        scale->seen += ns;
        ns = round(scale->seen * (after->located / before->located)) - scale->given;
        scale->given += ns;
        return (uint64_t)ns;
    default:
        return sample->time_ns;
    }
}

/* One thread while its samples are placed. */
struct sampler {
    struct collector *c;
    const struct pm_run_file *file;
    const struct pm_run_file_thread *thread;
    uint32_t thread_row;
    const struct collect_names *names;
    const struct collect_node *nodes;
    bool has_gaps; /* callers may be missing in all contexts */
};

/* A place is where a sample goes while it is led down. */
static enum pm_status step_down(struct sampler *s, struct collect_node *place, uint32_t sentence,
                                unsigned flags)
{
    return collect_context(s->c, place->row, sentence, flags | collect_stack_flag(*place),
                           &place->row);
}

/* The innermost code with sleds that was active: a function's node, and a loop's within it. */
struct innermost {
    const struct pm_run_file_node *function, *loop; /* NULL: none */
};

static struct innermost find_innermost(const struct sampler *s, uint32_t node)
{
    struct innermost found = {NULL, NULL};
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

/* Down to what the active function's calls of the code's symbol lie in. */
static enum pm_status to_call(struct sampler *s, const struct innermost *innermost,
                              const struct collect_code *code, struct collect_node *place)
{
    const struct pm_run_file_noun *function, *loop = NULL;
    struct collect_binary *binary;
    if (!innermost->function)
        return PM_OK;
    function = pm_run_file_noun(s->file, innermost->function->noun);
    binary =
        function->object == PM_RUN_FILE_NO_OBJECT ? NULL : s->names->binaries[function->object];
    if (innermost->loop)
        loop = pm_run_file_noun(s->file, innermost->loop->noun);
    return binary ? collect_call_path(s->c, binary, function->id, loop ? loop->id : 0,
                                      code->binary == binary ? code->symbol_id : 0,
                                      collect_stack_flag(*place), &place->row)
                  : PM_OK;
}

/* Whether the code is that of the active function, or of the one whose loop is active. */
static bool is_active_symbol(const struct sampler *s, const struct innermost *innermost,
                             const struct collect_code *code)
{
    if (innermost->loop && code->binary && code->symbol_id) {
        pm_id loop = pm_run_file_noun(s->file, innermost->loop->noun)->id;
        if (collect_symbol_around(code->binary, 0, loop) == code->symbol_id)
            return true;
    }
    return innermost->function && s->names->nouns[innermost->function->noun] == code->symbol;
}

/* Down to the symbol that holds the code, when it is not the context's. */
static enum pm_status to_symbol(struct sampler *s, const struct innermost *innermost,
                                const struct collect_code *code, struct collect_node *place,
                                bool *ret_is_same)
{
    struct collector *c = s->c;
    uint32_t sentence;
    *ret_is_same = is_active_symbol(s, innermost, code);
    if (*ret_is_same || !code->symbol)
        return PM_OK;
    enum pm_status status = collect_short_sentence(c, c->executes, code->symbol, &sentence);
    if (status == PM_OK)
        status = to_call(s, innermost, code, place);
    if (status != PM_OK)
        return status;
    /* Before its entry sled and behind its exit sled a function is not active yet, or any more. */
    uint32_t known =
        s->has_gaps ? 0
                    : collect_find_context(c, place->row, sentence, collect_stack_flag(*place));
    if (known) {
        place->row = known;
        return PM_OK;
    }
    return step_down(s, place, sentence, CONTEXT_SAMPLED);
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

/* Down from the context to what holds the code: its symbol, and the functions inlined there. */
static enum pm_status to_code(struct sampler *s, const struct innermost *innermost,
                              const struct collect_code *code, struct collect_node *place)
{
    bool is_same;
    enum pm_status status = to_symbol(s, innermost, code, place, &is_same);
    uint32_t first = is_same ? n_around_loop(s, innermost, code) : 0;
    for (uint32_t i = first; i < code->n_inlines && status == PM_OK; i++)
        status = step_down(s, place, code->inlines[i], CONTEXT_INLINED);
    return status;
}

/* 0: it had a CPU. */
static uint32_t off_cpu_metric(const struct pm_run_file_sample *sample)
{
    return sample->kind == PM_RUN_SAMPLE_OFF_CPU     ? METRIC_OFF_CPU_NS
           : sample->kind == PM_RUN_SAMPLE_WAITING   ? METRIC_WAITING_NS
           : sample->kind == PM_RUN_SAMPLE_PREEMPTED ? METRIC_PREEMPTED_NS
                                                     : 0;
}

/* Wall time is CPU time and the time without a CPU. */
static enum pm_status add_costs(struct sampler *s, uint32_t context,
                                const struct pm_run_file_sample *sample)
{
    const struct pm_run_file_sampling *sampling = pm_run_file_sampling(s->file);
    uint32_t off_cpu = off_cpu_metric(sample);
    bool is_wall = sampling && sampling->is_wall;
    enum pm_status status = PM_OK;
    if (off_cpu)
        status = collect_cost(s->c, context, s->thread_row, off_cpu, sample->time_ns);
    if (status == PM_OK && (is_wall || !off_cpu))
        status = collect_cost(s->c, context, s->thread_row,
                              is_wall ? METRIC_SAMPLED_WALL_NS : METRIC_CPU_NS, sample->time_ns);
    if (off_cpu || sample->kind == PM_RUN_SAMPLE_LOST) /* no sample, but its time */
        return status;
    return status == PM_OK
               ? collect_cost(s->c, context, s->thread_row, METRIC_N_SAMPLES, sample->n_samples)
               : status;
}

/* Code that knows its place in the source. */
static enum pm_status add_own(struct sampler *s, const struct innermost *innermost,
                              const struct collect_code *code, struct collect_node place,
                              const struct pm_run_file_sample *sample)
{
    enum pm_status status = to_code(s, innermost, code, &place);
    if (status == PM_OK)
        status = step_down(s, &place, code->sentence, 0);
    return status == PM_OK ? add_costs(s, place.row, sample) : status;
}

/* Code of C++'s library that the compiler made in this binary, without sleds: below who called
 * it. */
static enum pm_status add_library(struct sampler *s, const struct innermost *innermost,
                                  const struct collect_code *code,
                                  const struct collect_code *caller, struct collect_node place,
                                  const struct pm_run_file_sample *sample)
{
    uint32_t sentence;
    enum pm_status status = to_code(s, innermost, caller, &place);
    if (status == PM_OK)
        status = collect_short_sentence(s->c, s->c->executes, code->symbol, &sentence);
    if (status == PM_OK)
        status = step_down(s, &place, sentence, CONTEXT_SAMPLED);
    for (uint32_t i = 0; i < code->n_inlines && status == PM_OK; i++)
        status = step_down(s, &place, code->inlines[i], CONTEXT_INLINED);
    if (status == PM_OK)
        status = collect_library_sentence(s->c, code, caller, &sentence);
    if (status == PM_OK)
        status = step_down(s, &place, sentence, 0);
    return status == PM_OK ? add_costs(s, place.row, sample) : status;
}

/* {a statement without a line Executes} of the function or loop; where there is none, the
 * function's or loop's own sentence. */
static enum pm_status unknown_line(struct sampler *s, uint32_t active, uint32_t *ret_sentence)
{
    const struct pm_run_file_noun *noun = pm_run_file_noun(s->file, active);
    uint32_t row = 0;
    *ret_sentence = s->names->sentences[active];
    enum pm_status status =
        collect_map_unknown_line(s->c, s->names->binaries[noun->object], noun->id, &row);
    return status == PM_OK && row
               ? collect_short_sentence(s->c, s->c->source_executes, row, ret_sentence)
               : status;
}

static enum pm_status kernel_noun(struct collector *c)
{
    return c->kernel_noun
               ? PM_OK
               : collect_add_noun(c, pm_pif_name_id("Base", "kernel"), "kernel", "kernel",
                                  "the operating system's kernel", 0, &c->kernel_noun);
}

/* CPU time that no sample stands for: its context is known, and is above all that it may have
 * been spent in. */
static enum pm_status place_lost(struct sampler *s, const struct pm_run_file_sample *sample,
                                 struct collect_node place)
{
    struct collector *c = s->c;
    uint32_t sentence;
    enum pm_status status = PM_OK;
    if (sample->time_ns == 0)
        return PM_OK;
    if (!c->lost_noun)
        status = collect_add_noun(c, pm_pif_name_id("Base", "(not located)"), "(not located)",
                                  "lost", "CPU time that no sample stands for", 0, &c->lost_noun);
    if (status == PM_OK)
        status = collect_short_sentence(c, c->executes, c->lost_noun, &sentence);
    if (status == PM_OK)
        status = step_down(s, &place, sentence, 0);
    return status == PM_OK ? add_costs(s, place.row, sample) : status;
}

/* The codes that are there may move: what is returned is a copy. interrupted: the address is
 * where a timer's interrupt left the program, not what called. */
static enum pm_status find_code(struct sampler *s, uint32_t object, uint64_t address,
                                bool interrupted, struct collect_code *ret_code,
                                bool *ret_has_facts)
{
    const struct collect_code *code;
    struct collect_binary *binary =
        object == PM_RUN_FILE_NO_OBJECT ? NULL : s->names->binaries[object];
    enum pm_status status = interrupted ? collect_blamed(s->c, binary, address, &address) : PM_OK;
    if (status == PM_OK)
        status = collect_code_at(s->c, binary, address, &code);
    if (status != PM_OK)
        return status;
    *ret_code = *code;
    *ret_has_facts = code->symbol != 0 && !code->is_perfmap;
    return PM_OK;
}

/* The code that jumps from the symbol to what has no late map, likely: the one place where that
 * is done. */
static enum pm_status find_jump(struct sampler *s, uint32_t object, pm_id symbol,
                                struct collect_code *ret_code, bool *ret_found)
{
    uint64_t address = 0;
    struct collect_binary *binary =
        object == PM_RUN_FILE_NO_OBJECT ? NULL : s->names->binaries[object];
    enum pm_status status = binary ? collect_jump_out(s->c, binary, symbol, &address) : PM_OK;
    *ret_found = false;
    return status == PM_OK && address ? find_code(s, object, address, false, ret_code, ret_found)
                                      : status;
}

/* Code of a library whose caller is not on the stack was jumped to, by the function that is
 * active. */
static enum pm_status find_active_jump(struct sampler *s, const struct innermost *innermost,
                                       const struct pm_run_file_sample *sample,
                                       struct collect_code *ret_code, bool *ret_found)
{
    *ret_found = false;
    if (!sample->address || !innermost->function || innermost->loop)
        return PM_OK;
    const struct pm_run_file_noun *function = pm_run_file_noun(s->file, innermost->function->noun);
    return find_jump(s, function->object, function->id, ret_code, ret_found);
}

/* What the caller called is not on the stack, so that it has jumped there. */
static enum pm_status find_called_jump(struct sampler *s, const struct pm_run_file_sample *sample,
                                       const struct collect_code *caller,
                                       struct collect_code *ret_code, bool *ret_found)
{
    pm_id callee = 0;
    *ret_found = false;
    enum pm_status status =
        sample->address && caller->binary && caller->symbol_id
            ? collect_called_at(s->c, caller->binary, caller->symbol_id, sample->caller, &callee)
            : PM_OK;
    return status == PM_OK && callee
               ? find_jump(s, sample->caller_object, callee, ret_code, ret_found)
               : status;
}

/* Code that somebody with facts called: the caller is the second noun. */
static enum pm_status add_called(struct sampler *s, const struct innermost *innermost,
                                 uint32_t called_noun, const struct collect_code *caller,
                                 bool is_sure, struct collect_node place,
                                 const struct pm_run_file_sample *sample)
{
    struct collector *c = s->c;
    uint32_t sentence = 0;
    enum pm_status status = PM_OK;
    const struct pm_run_file_node *active = innermost->loop ? innermost->loop : innermost->function;
    if (caller) {
        status = to_code(s, innermost, caller, &place);
        if (status == PM_OK)
            status = collect_called_sentence(c, called_noun, caller, is_sure, &sentence);
    } else if (active) {
        uint32_t line;
        status = unknown_line(s, active->noun, &line);
        if (status == PM_OK)
            status =
                collect_called_from(c, called_noun, s->names->nouns[active->noun], line, &sentence);
    } else {
        status = collect_short_sentence(c, c->executes, called_noun, &sentence);
    }
    if (status == PM_OK)
        status = step_down(s, &place, sentence, 0);
    return status == PM_OK ? add_costs(s, place.row, sample) : status;
}

/* Code of a file that is not the one that ran any more, while code with sleds of that same file
 * was active: all that is known is that it is in its context. */
static bool is_of_context(const struct sampler *s, const struct innermost *innermost,
                          const struct collect_code *code, const struct pm_run_file_sample *sample)
{
    const struct pm_run_file_node *active = innermost->loop ? innermost->loop : innermost->function;
    return active && sample->kind != PM_RUN_SAMPLE_KERNEL && code->binary && !code->binary->same &&
           !code->is_perfmap && pm_run_file_noun(s->file, active->noun)->object == sample->object;
}

/* In a process without sleds: code that debug information or symbols tell of. A caller is in no
 * library of a language. */
static bool is_plain_code(const struct innermost *innermost, const struct collect_code *code)
{
    return !innermost->function && !innermost->loop && code->binary && code->binary->same &&
           !code->is_perfmap && code->n_mappings;
}

/* Innermost first: the node of the noun, or what is called from the node and is of the noun. */
static uint32_t find_probed(const struct sampler *s, uint32_t node, uint32_t noun)
{
    const struct pm_run_file_node *nodes = s->thread->nodes;
    if (nodes[node].noun == noun)
        return node;
    for (uint32_t i = node + 1; i < s->thread->n_nodes; i++)
        if (nodes[i].parent == node && nodes[i].noun == noun)
            return i;
    return PM_RUN_FILE_NO_PARENT;
}

/* The context whose measured time holds what a trampoline took: between the clock reads its
 * noun's, else that around it. The sample's own is that of before or after the event, as it
 * came. */
static uint32_t probed_node(const struct sampler *s, const struct pm_run_file_sample *sample)
{
    if (sample->probe_noun == PM_RUN_NOUN_ROOT)
        return sample->node;
    uint32_t probed = find_probed(s, sample->node, sample->probe_noun);
    if (probed == PM_RUN_FILE_NO_PARENT)
        return sample->node;
    uint32_t around = s->thread->nodes[probed].parent;
    return sample->probe_inner || around == PM_RUN_FILE_NO_PARENT ? probed : around;
}

static enum pm_status place_sample(struct sampler *s, const struct pm_run_file_sample *sample,
                                   struct collect_node place)
{
    struct innermost innermost = find_innermost(s, sample->node);
    struct collect_code code = {0}, caller = {0}, jump;
    bool has_facts = false, caller_has_facts = false;
    bool is_kernel = sample->kind == PM_RUN_SAMPLE_KERNEL;
    /* One that waits entered the kernel by a call. */
    bool is_call = is_kernel || sample->kind == PM_RUN_SAMPLE_WAITING;
    enum pm_status status = is_kernel ? kernel_noun(s->c) : PM_OK;
    if (status == PM_OK && (sample->address || !is_kernel))
        status = find_code(s, sample->object, sample->address, !is_call, &code, &has_facts);
    if (status == PM_OK && sample->caller_object != PM_RUN_FILE_NO_OBJECT)
        status =
            find_code(s, sample->caller_object, sample->caller, false, &caller, &caller_has_facts);
    if (status != PM_OK)
        return status;
    caller_has_facts |= is_plain_code(&innermost, &caller);
    if (is_of_context(s, &innermost, &code, sample))
        return add_costs(s, place.row, sample);
    bool is_library = has_facts && caller_has_facts && caller.symbol && caller.range &&
                      collect_is_library(&code) && !collect_is_library(&caller);
    if (!is_kernel && is_library)
        return add_library(s, &innermost, &code, &caller, place, sample);
    if (!is_kernel && has_facts)
        return add_own(s, &innermost, &code, place, sample);
    if (code.is_perfmap) {
        /* Down to nothing: it is in whose context it was, and a row of its own. */
        s->c->own_code_ns += off_cpu_metric(sample) ? 0 : sample->time_ns;
        status = step_down(s, &place, code.sentence, 0);
        return status == PM_OK ? add_costs(s, place.row, sample) : status;
    }
    /* Without sleds, too, the kernel works for the code that called it, or whose memory it had
     * to find. */
    bool is_plain = is_kernel && is_plain_code(&innermost, &code);
    const struct collect_code *from = has_facts && !is_library ? &code
                                      : caller_has_facts       ? &caller
                                      : is_plain               ? &code
                                                               : NULL;
    if (!is_kernel && !from && !innermost.function && !innermost.loop)
        return add_own(s, &innermost, &code, place, sample);
    bool has_jumped = false;
    if (!from)
        status = find_active_jump(s, &innermost, sample, &jump, &has_jumped);
    else if (from == &caller)
        status = find_called_jump(s, sample, &caller, &jump, &has_jumped);
    return status == PM_OK
               ? add_called(s, &innermost, is_kernel ? s->c->kernel_noun : code.whole,
                            has_jumped ? &jump : from,
                            !has_jumped && (sample->caller_sure || is_kernel), place, sample)
               : status;
}

/* The bell and the end of a time slice come at the same tick, so threads are preempted in our
 * handler more often than elsewhere. That is no work of PerfMap's: it is time of what the bell
 * interrupted. */
static bool is_preempted_by_bell(const struct sampler *s, const struct pm_run_file_sample *sample)
{
    return sample->kind == PM_RUN_SAMPLE_PREEMPTED && sample->object != PM_RUN_FILE_NO_OBJECT &&
           s->names->binaries[sample->object] && s->names->binaries[sample->object]->is_runtime;
}

enum pm_status collect_samples(struct collector *c, const struct pm_run_file *file,
                               const struct pm_run_file_thread *thread, uint32_t thread_row,
                               const struct collect_names *names, const struct collect_node *nodes)
{
    struct sampler s = {c, file, thread, thread_row, names, nodes, collect_has_gaps(file)};
    struct scale scale = find_scale(thread);
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < thread->n_samples && status == PM_OK; i++) {
        struct pm_run_file_sample scaled = thread->samples[i];
        const struct pm_run_file_sample *sample = &scaled;
        scaled.time_ns = scaled_ns(&scale, sample);
        /* Folded contexts have calls and no time: it is in the context above. */
        uint32_t at = probed_node(&s, sample);
        while (thread->nodes[at].flags & PM_RUN_NODE_FOLDED &&
               thread->nodes[at].parent != PM_RUN_FILE_NO_PARENT)
            at = thread->nodes[at].parent;
        struct collect_node place = {nodes[at].row, nodes[sample->node].is_foreign};
        bool is_said = sample->kind == PM_RUN_SAMPLE_COST;
        bool is_own = is_said || (off_cpu_metric(sample) && !sample->address) ||
                      is_preempted_by_bell(&s, sample);
        if (is_own)
            status = collect_own_context(c, file, thread, at, names,
                                         collect_stack_flag(place), &place.row);
        if (status != PM_OK)
            break;
        uint32_t metric =
            is_said && sample->address > 0 && sample->address <= pm_run_file_n_words(file)
                ? names->metrics[sample->address - 1]
                : 0;
        if (metric && c->kernel)
            status = collect_kernel_cost(c, file, thread, sample, names, nodes, place.row,
                                         thread_row);
        if (status != PM_OK)
            break;
        if (is_said)
            status = metric ? collect_cost(c, place.row, thread_row, metric, sample->time_ns)
                            : PM_OK;
        else if (is_own)
            status = add_costs(&s, place.row, sample);
        else if (sample->kind == PM_RUN_SAMPLE_LOST)
            status = place_lost(&s, sample, place);
        else
            status = place_sample(&s, sample, place);
    }
    return status;
}

enum pm_status collect_code_context(struct collector *c, const struct collect_where *where,
                                    const struct collect_code *code, uint32_t sentence,
                                    uint32_t *ret_context)
{
    struct sampler s = {.c = c,
                        .file = where->file,
                        .thread = where->thread,
                        .thread_row = where->thread_row,
                        .names = where->names,
                        .has_gaps = collect_has_gaps(where->file)};
    struct innermost innermost = find_innermost(&s, where->node);
    struct collect_node place = where->context;
    enum pm_status status = to_code(&s, &innermost, code, &place);
    if (status == PM_OK)
        status = step_down(&s, &place, sentence, 0);
    *ret_context = place.row;
    return status;
}
