/* Samples: each becomes a leaf below its context. First the code of all samples of a file is
 * found, which opens binaries and makes nouns; then each thread's are placed.
 *
 *     sample at                                leaf                          below
 *     code with facts                          {code Executes}               its function
 *     the same, of C++'s library               {code caller Executes}        the caller's function
 *     code without, and the kernel             {called caller Executes}      the caller's function
 *     PerfMap's own code                       {PerfMap itself Executes}     the context
 *     a file that is not what ran any more     none                          the context
 *     the kernel, which may not be sampled     {(not located) Executes}      the context, unless
 *                                                                            it called nothing
 */
#include "samples.h"

#include "binaries.h"
#include "code.h"
#include "collector.h"
#include "contexts.h"
#include "costs.h"
#include "counters.h"
#include "kernel.h"
#include "model.h"
#include "places.h"
#include "process.h"
#include "run_names.h"
#include "samples_internal.h"
#include "times.h"
#include "touches.h"
#include "words.h"

#include "format/pm_counters.h"
#include "format/pm_id.h"
#include "format/pm_sled.h"
#include "mapping/pif/pif.h"
#include "mapping/run/run_file.h"

#include <math.h>
#include <stdlib.h>

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
        if (sample->counter)
            continue;
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
 * than its clock counted: others had the processor meanwhile. The clock of a process's first thread
 * also has what was before the runtime began, which no sample stands for. The rest at its end
 * belongs to all samples alike; where there are none, or there were many ends, it has no place. */
static struct scale find_scale(const struct pm_run_file_thread *thread)
{
    enum { MOST_REST = 10 }; /* one of so many of what is located, where there were many ends */
    struct sampled sum = add_up(thread);
    struct scale scale = {.before = sum};
    double excess = sum.located + sum.known + sum.lost + sum.rest -
                    (double)(thread->cpu_ns - thread->start_cpu_ns);
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

/* 0: it had a CPU. */
static uint32_t off_cpu_metric(const struct pm_run_file_sample *sample)
{
    return sample->kind == PM_RUN_SAMPLE_OFF_CPU     ? METRIC_OFF_CPU_NS
           : sample->kind == PM_RUN_SAMPLE_WAITING   ? METRIC_WAITING_NS
           : sample->kind == PM_RUN_SAMPLE_PREEMPTED ? METRIC_PREEMPTED_NS
                                                     : 0;
}

static enum pm_status add_cost(struct sampler *s, uint32_t context, uint32_t metric, uint64_t value)
{
    enum pm_status status = collect_cost(s->c, context, s->thread_row, metric, value);
    if (status != PM_OK || !s->times)
        return status;
    return collect_times_add(s->c, s->times, context, metric, s->sample, value);
}

/* Wall time is CPU time and the time without a CPU. */
static enum pm_status add_costs(struct sampler *s, uint32_t context,
                                const struct pm_run_file_sample *sample)
{
    const struct pm_run_file_sampling *sampling = pm_run_file_sampling(s->file);
    uint32_t off_cpu = off_cpu_metric(sample);
    bool is_wall = sampling && sampling->is_wall;
    enum pm_status status = PM_OK;
    uint32_t counted = sample->counter ? s->names->counters[sample->counter - 1] : 0;
    if (sample->counter) /* one that was left out has no metric */
        return counted ? add_cost(s, context, counted, sample->time_ns) : PM_OK;
    if (off_cpu)
        status = add_cost(s, context, off_cpu, sample->time_ns);
    if (status == PM_OK && (is_wall || !off_cpu))
        status =
            add_cost(s, context, is_wall ? METRIC_SAMPLED_WALL_NS : METRIC_CPU_NS, sample->time_ns);
    if (off_cpu || sample->kind == PM_RUN_SAMPLE_LOST) /* no sample, but its time */
        return status;
    return status == PM_OK ? add_cost(s, context, METRIC_N_SAMPLES, sample->n_samples) : status;
}

/* Is it code of C++'s library for which no more is known than what was active? */
static bool is_for_active(const struct sampler *s, const struct innermost *innermost,
                          const struct collect_code *code, struct collect_active *ret)
{
    const struct pm_run_file_node *active = innermost->loop ? innermost->loop : innermost->function;
    if (!active || !collect_is_library(code))
        return false;
    const struct pm_run_file_noun *noun = pm_run_file_noun(s->file, active->noun);
    *ret = (struct collect_active){s->names->nouns[active->noun], s->names->binaries[noun->object],
                                   noun->id};
    return true;
}

/* Code that knows its place in the source. Of C++'s library, where the stack did not reach the
 * place that called it (arrays on the stack), it may be for all data of what is active. */
static enum pm_status add_own(struct sampler *s, const struct innermost *innermost,
                              const struct collect_code *code, struct collect_node place,
                              const struct pm_run_file_sample *sample)
{
    struct collect_active active;
    uint32_t sentence = code->sentence;
    enum pm_status status = sampler_to_code(s, innermost, code, &place);
    if (status != PM_OK)
        return status;
    if (is_for_active(s, innermost, code, &active))
        status = collect_library_within(s->c, code, &active, &sentence);
    else if (!innermost->function && collect_is_library(code))
        status = collect_library_of_task(s->c, code, &sentence);
    if (status != PM_OK)
        return status;
    status = sampler_step_down(s, &place, sentence, 0);
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
    enum pm_status status = sampler_to_code(s, innermost, caller, &place);
    if (status == PM_OK)
        status = collect_short_sentence(s->c, s->c->model->executes, code->symbol, &sentence);
    if (status == PM_OK)
        status = sampler_step_down(s, &place, sentence, CONTEXT_SAMPLED);
    for (uint32_t i = 0; i < code->n_inlines && status == PM_OK; i++)
        status = sampler_step_down(s, &place, code->inlines[i], CONTEXT_INLINED);
    if (status == PM_OK)
        status = collect_library_sentence(s->c, code, caller, &sentence);
    if (status == PM_OK)
        status = sampler_step_down(s, &place, sentence, 0);
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
               ? collect_short_sentence(s->c, s->c->model->source_executes, row, ret_sentence)
               : status;
}

static enum pm_status kernel_noun(struct collector *c)
{
    return c->model->kernel_noun
               ? PM_OK
               : collect_add_noun(c, pm_pif_name_id("Base", "kernel"), "kernel", "kernel",
                                  "the operating system's kernel", 0, &c->model->kernel_noun);
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
    if (!c->model->lost_noun)
        status =
            collect_add_noun(c, pm_pif_name_id("Base", "(not located)"), "(not located)", "lost",
                             "CPU time that no sample stands for", 0, &c->model->lost_noun);
    if (status == PM_OK)
        status = collect_short_sentence(c, c->model->executes, c->model->lost_noun, &sentence);
    if (status == PM_OK)
        status = sampler_step_down(s, &place, sentence, 0);
    return status == PM_OK ? add_costs(s, place.row, sample) : status;
}

/* Code that somebody with facts called: the caller is the second noun. called NULL: the kernel. */
static enum pm_status add_called(struct sampler *s, const struct innermost *innermost,
                                 const struct collect_code *called,
                                 const struct collect_code *caller, bool is_sure,
                                 struct collect_node place, const struct pm_run_file_sample *sample)
{
    struct collector *c = s->c;
    uint32_t sentence = 0, called_noun = called ? called->whole : c->model->kernel_noun;
    enum pm_status status = PM_OK;
    const struct pm_run_file_node *active = innermost->loop ? innermost->loop : innermost->function;
    if (caller) {
        struct collect_active within;
        bool is_within = is_for_active(s, innermost, caller, &within);
        status = sampler_to_code(s, innermost, caller, &place);
        if (status == PM_OK)
            status = collect_called_sentence(c, called_noun, caller, is_within ? &within : NULL,
                                             is_sure, &sentence);
    } else if (active) {
        uint32_t line;
        status = unknown_line(s, active->noun, &line);
        if (status == PM_OK)
            status =
                collect_called_from(c, called_noun, s->names->nouns[active->noun], line, &sentence);
    } else {
        status = collect_short_sentence(c, c->model->executes, called_noun, &sentence);
    }
    if (status != PM_OK)
        return status;
    if (called)
        status = collect_map_called(c, called, sentence);
    if (status != PM_OK)
        return status;
    status = sampler_step_down(s, &place, sentence, 0);
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

/* Which code a sample's time is of, and how it gets there. */
enum way {
    WAY_CONTEXT, /* of what is active, and no more is known */
    WAY_OWN,     /* the code itself, below its function */
    WAY_LIBRARY, /* C++'s library, below who called it */
    WAY_PERFMAP,
    WAY_CALLED, /* something without facts, by the code `from` */
};

struct judged {
    enum way way;
    struct innermost innermost;
    const struct collect_code *code, *caller;
    const struct collect_code *from; /* WAY_CALLED; NULL: by whatever is active */
    bool is_from_caller;
};

static struct judged judge(const struct sampler *s, const struct pm_run_file_sample *sample,
                           const struct collect_located *located)
{
    struct judged j = {.way = WAY_CALLED,
                       .innermost = sampler_innermost(s, sample->node),
                       .code = collect_code(s->c, located->code),
                       .caller = collect_code(s->c, located->caller)};
    bool is_kernel = sample->kind == PM_RUN_SAMPLE_KERNEL;
    bool caller_has_facts = sampler_has_facts(j.caller) || sampler_is_plain(&j.innermost, j.caller);
    bool is_library = sampler_has_facts(j.code) && caller_has_facts && j.caller->symbol &&
                      j.caller->range && collect_is_library(j.code) &&
                      !collect_is_library(j.caller);
    /* Without sleds, too, the kernel works for the code that called it, or whose memory it had
     * to find. */
    if (sampler_has_facts(j.code) && !is_library)
        j.from = j.code;
    else if ((j.is_from_caller = caller_has_facts))
        j.from = j.caller;
    else if (is_kernel && sampler_is_plain(&j.innermost, j.code))
        j.from = j.code;
    if (is_of_context(s, &j.innermost, j.code, sample))
        j.way = WAY_CONTEXT;
    else if (!is_kernel && is_library)
        j.way = WAY_LIBRARY;
    else if (!is_kernel && sampler_has_facts(j.code))
        j.way = WAY_OWN;
    else if (j.code->is_perfmap)
        j.way = WAY_PERFMAP;
    else if (!is_kernel && !j.from && !j.innermost.function && !j.innermost.loop)
        j.way = WAY_OWN;
    return j;
}

/* --- the first pass: which code --- */

/* The bell and the end of a time slice come at the same tick, so threads are preempted in our
 * handler more often than elsewhere. That is no work of PerfMap's: it is time of what the bell
 * interrupted. */
static bool is_preempted_by_bell(const struct sampler *s, const struct pm_run_file_sample *sample)
{
    return sample->kind == PM_RUN_SAMPLE_PREEMPTED && !sample->is_beginning &&
           sample->object != PM_RUN_FILE_NO_OBJECT && s->names->binaries[sample->object] &&
           s->names->binaries[sample->object]->is_runtime;
}

/* What the program said itself, and what has no code. */
static bool is_located(const struct sampler *s, const struct pm_run_file_sample *sample)
{
    return sample->kind != PM_RUN_SAMPLE_COST && sample->kind != PM_RUN_SAMPLE_LOST &&
           sample->kind != PM_RUN_FILE_SAMPLE_COUNTED &&
           !(off_cpu_metric(sample) && !sample->address) && !is_preempted_by_bell(s, sample);
}

static enum pm_status locate(const struct sampler *s, const struct pm_run_file_sample *sample,
                             struct collect_located *ret)
{
    bool is_kernel = sample->kind == PM_RUN_SAMPLE_KERNEL;
    /* One that waits entered the kernel by a call. What counters are precise in is done by the
     * instruction itself. */
    bool is_call =
        is_kernel || sample->kind == PM_RUN_SAMPLE_WAITING ||
        (sample->counter && pm_run_file_counter(s->file, sample->counter - 1)->is_precise);
    enum pm_status status = PM_OK;
    if (sample->address || !is_kernel)
        status = sampler_code_at(s, sample->object, sample->address, !is_call, &ret->code);
    if (status == PM_OK && sample->caller_object != PM_RUN_FILE_NO_OBJECT)
        status = sampler_code_at(s, sample->caller_object, sample->caller, false, &ret->caller);
    if (status != PM_OK)
        return status;
    struct judged j = judge(s, sample, ret);
    if (j.way == WAY_CALLED && sample->address && !j.from)
        status = sampler_active_jump(s, &j.innermost, &ret->jump);
    else if (j.way == WAY_CALLED && sample->address && j.is_from_caller)
        status =
            sampler_called_jump(s, sample->caller_object, sample->caller, j.caller, &ret->jump);
    if (status != PM_OK)
        return status;
    j = judge(s, sample, ret); /* codes may have moved */
    if (j.way == WAY_CALLED)
        return sampler_open_around(s, &j.innermost,
                                   ret->jump ? collect_code(s->c, ret->jump) : j.from);
    if (j.way == WAY_OWN || j.way == WAY_LIBRARY)
        return sampler_open_around(s, &j.innermost, j.way == WAY_OWN ? j.code : j.caller);
    return PM_OK;
}

enum pm_status collect_locate_samples(struct collector *c, const struct pm_run_file *file,
                                      struct collect_names *names)
{
    size_t n = 0, n_threads = pm_run_file_n_threads(file);
    for (size_t i = 0; i < n_threads; i++)
        n += pm_run_file_thread(file, i)->n_samples;
    names->located = pm_alloc_array(n + 1, sizeof *names->located);
    if (!names->located)
        return collect_no_memory(c);
    struct collect_located *at = names->located;
    for (size_t t = 0; t < n_threads; t++) {
        struct sampler s = {
            .c = c, .file = file, .thread = pm_run_file_thread(file, t), .names = names};
        for (size_t i = 0; i < s.thread->n_samples; i++, at++) {
            const struct pm_run_file_sample *sample = &s.thread->samples[i];
            enum pm_status status = is_located(&s, sample) ? locate(&s, sample, at) : PM_OK;
            if (status != PM_OK)
                return status;
        }
    }
    return PM_OK;
}

/* --- the second pass: where it goes --- */

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

/* A sample of code. */
static enum pm_status place_code(struct sampler *s, const struct pm_run_file_sample *sample,
                                 const struct collect_located *located, struct collect_node place)
{
    struct judged j = judge(s, sample, located);
    bool is_kernel = sample->kind == PM_RUN_SAMPLE_KERNEL;
    enum pm_status status = is_kernel ? kernel_noun(s->c) : PM_OK;
    if (status != PM_OK)
        return status;
    switch (j.way) {
    case WAY_CONTEXT:
        return add_costs(s, place.row, sample);
    case WAY_LIBRARY:
        return add_library(s, &j.innermost, j.code, j.caller, place, sample);
    case WAY_OWN:
        return add_own(s, &j.innermost, j.code, place, sample);
    case WAY_PERFMAP:
        /* Down to nothing: it is in whose context it was, and a row of its own. */
        s->c->processes->own_code_ns +=
            off_cpu_metric(sample) || sample->counter ? 0 : sample->time_ns;
        status = sampler_step_down(s, &place, j.code->sentence, 0);
        return status == PM_OK ? add_costs(s, place.row, sample) : status;
    case WAY_CALLED:
        return add_called(s, &j.innermost, is_kernel ? NULL : j.code,
                          located->jump ? collect_code(s->c, located->jump) : j.from,
                          !located->jump && (sample->caller_sure || is_kernel), place, sample);
    }
    return status;
}

/* The kernel where it may not be sampled: time of the innermost context that was active between
 * two samples, or of what was called there meanwhile. */
static bool is_somewhere_below(const struct sampler *s, const struct pm_run_file_sample *sample)
{
    return sample->kind == PM_RUN_SAMPLE_KERNEL && !sample->address &&
           (s->has_below[sample->node] || !sampler_innermost(s, sample->node).function);
}

/* A cost that the program said itself. Those of words that are no metric have no row. */
static enum pm_status place_said(struct sampler *s, const struct pm_run_file_sample *sample,
                                 uint32_t context)
{
    uint32_t metric = sample->address > 0 && sample->address <= pm_run_file_n_words(s->file)
                          ? s->names->metrics[sample->address - 1]
                          : 0;
    enum pm_status status = PM_OK;
    if (metric && s->c->kernel)
        status = collect_kernel_cost(s->c, s->file, s->thread, sample, s->names, s->nodes, context,
                                     s->thread_row);
    return status == PM_OK && metric
               ? collect_cost(s->c, context, s->thread_row, metric, sample->time_ns)
               : status;
}

static enum pm_status place_sample(struct sampler *s, const struct pm_run_file_sample *sample,
                                   const struct collect_located *located)
{
    /* Folded contexts have calls and no time: it is in the context above. */
    uint32_t at = collect_unfolded(s->thread, probed_node(s, sample));
    struct collect_node place = {s->nodes[at].row, s->nodes[sample->node].is_foreign};
    if (sample->kind == PM_RUN_SAMPLE_LOST || is_somewhere_below(s, sample))
        return place_lost(s, sample, place);
    if (is_located(s, sample))
        return place_code(s, sample, located, place);
    enum pm_status status = collect_own_context(s->c, s->file, s->thread, at, s->names,
                                                collect_stack_flag(place), &place.row);
    if (status != PM_OK)
        return status;
    return sample->kind == PM_RUN_SAMPLE_COST ? place_said(s, sample, place.row)
                                              : add_costs(s, place.row, sample);
}

/* What is known of the whole process only: below its root. */
static enum pm_status place_sources(struct sampler *s)
{
    s->times = NULL; /* nobody knows when */
    for (size_t i = 0; i < pm_run_file_n_counters(s->file); i++) {
        const struct pm_run_file_counter *counter = pm_run_file_counter(s->file, i);
        struct pm_run_file_sample all = {.kind = PM_RUN_SAMPLE_LOST,
                                         .object = PM_RUN_FILE_NO_OBJECT,
                                         .caller_object = PM_RUN_FILE_NO_OBJECT,
                                         .probe_noun = PM_RUN_NOUN_ROOT,
                                         .counter = (uint32_t)i + 1,
                                         .time_ns = counter->count};
        if (!counter->is_source)
            continue;
        enum pm_status status = place_sample(s, &all, NULL);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

/* To be freed; NULL: memory. */
static bool *find_below(const struct pm_run_file_thread *thread)
{
    bool *has_below = pm_alloc_array(thread->n_nodes + 1, sizeof *has_below);
    for (size_t i = 0; has_below && i < thread->n_nodes; i++)
        if (thread->nodes[i].parent != PM_RUN_FILE_NO_PARENT)
            has_below[thread->nodes[i].parent] = true;
    return has_below;
}

enum pm_status collect_samples(struct collector *c, const struct pm_run_file *file,
                               const struct pm_run_file_thread *thread, uint32_t thread_row,
                               const struct collect_names *names,
                               const struct collect_located *located,
                               const struct collect_node *nodes)
{
    struct collect_times times = {0};
    struct sampler s = {.c = c,
                        .file = file,
                        .thread = thread,
                        .thread_row = thread_row,
                        .names = names,
                        .nodes = nodes,
                        .has_below = find_below(thread),
                        .times = thread->n_times ? &times : NULL};
    struct scale scale = find_scale(thread);
    struct collect_scaled counted[2 * PM_COUNTERS_MAX] = {0};
    enum pm_status status = s.has_below ? PM_OK : collect_no_memory(c);
    for (size_t i = 0; i < thread->n_samples && status == PM_OK; i++) {
        struct pm_run_file_sample scaled = thread->samples[i];
        if (scaled.counter)
            scaled.time_ns = collect_scaled_count(pm_run_file_counter(file, scaled.counter - 1),
                                                  &counted[scaled.counter - 1], scaled.time_ns);
        else
            scaled.time_ns = scaled_ns(&scale, &thread->samples[i]);
        s.sample = (uint32_t)i;
        status = place_sample(&s, &scaled, &located[i]);
    }
    if (status != PM_OK)
        goto out;
    status = collect_times_write(c, &times, file, thread, thread_row, names->start_ns);
    if (status != PM_OK)
        goto out;
    if (thread == pm_run_file_thread(file, 0))
        status = place_sources(&s);
out:
    free(s.has_below);
    collect_times_release(&times);
    return status;
}
