/* What a run file says of its process: rows of processes, threads, messages, sampling. */
#include "process.h"

#include "collector.h"
#include "contexts.h"
#include "costs.h"
#include "writer.h"

#include "format/pm_mode.h"
#include "format/pm_words.h"
#include "mapping/archive/archive.h"
#include "mapping/base/map.h"
#include "mapping/run/probe_cost.h"
#include "mapping/run/run_file.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_COMPLAINTS_SHOWN = 3 };

static const char *end_kind_name(enum pm_run_file_end end)
{
    static const char *const names[] = {
        [PM_RUN_FILE_EXIT] = "exit", [PM_RUN_FILE_EXEC] = "exec", [PM_RUN_FILE_KILLED] = "killed"};
    return names[end];
}

static enum pm_status quote_argv(struct collector *c, struct pm_str argv, struct pm_buf *out)
{
    for (size_t at = 0; at < argv.len;) {
        size_t len = strnlen(argv.p + at, argv.len - at);
        if (at)
            pm_buf_add_byte(out, ' ');
        collect_add_quoted(out, argv.p + at, len);
        at += len + 1;
    }
    return out->failed ? collect_no_memory(c) : PM_OK;
}

/* What a sample costs with all that follows it: 12 us in a loop, 15 with callers, more where
 * caches are full (docs/PERFORMANCE.md). */
enum {
    SAMPLE_NS = 15000,
    HEAP_PAIR_NS = 100,   /* perfmap run --heap: 60 for malloc and free, 120 for new and delete */
    TRACE_PAIR_PS = 4000, /* mode trace: full heads are written, which no pair alone shows */
};

/* What the process says of one pair in each mode, picoseconds; 0: not known. */
struct pair_costs {
    uint64_t count_ps, active_ps, exact_ps, inner_ps;
};

static struct pair_costs pair_costs_of(const struct pm_run_file *file)
{
    const struct pm_run_file_process *process = pm_run_file_process(file);
    const struct pm_run_file_sampling *sampling = pm_run_file_sampling(file);
    const struct pm_run_file_overhead *overhead = pm_run_file_overhead(file);
    struct pair_costs costs = {process->count_event_ps, sampling ? sampling->active_pair_ps : 0,
                               process->exact_pair_ps, process->exact_inner_ps};
    if (overhead)
        costs = (struct pair_costs){
            overhead->count_pair_ps ? overhead->count_pair_ps : costs.count_ps,
            overhead->active_pair_ps ? overhead->active_pair_ps : costs.active_ps,
            overhead->exact_pair_ps ? overhead->exact_pair_ps : costs.exact_ps,
            overhead->exact_pair_ps ? overhead->exact_inner_ps : costs.inner_ps};
    return costs;
}

static uint64_t at_most_i64(unsigned __int128 number)
{
    return number > INT64_MAX ? INT64_MAX : (uint64_t)number;
}

static bool is_traced(const struct pm_run_file *file, uint32_t noun)
{
    return noun != PM_RUN_NOUN_ROOT && pm_run_file_noun(file, noun)->mode == PM_RUN_MODE_TRACE;
}

static uint64_t heap_ns(const struct pm_run_file *file)
{
    unsigned __int128 n = 0;
    for (size_t i = 0; i < pm_run_file_n_heap_sites(file); i++) {
        const struct pm_run_file_heap_site *site = pm_run_file_heap_site(file, i);
        n += (unsigned __int128)site->n_allocations + site->n_freed;
    }
    return at_most_i64(n * HEAP_PAIR_NS / 2);
}

static uint64_t count_ps_of(const struct pm_run_file *file, uint32_t object,
                            const struct pair_costs *costs)
{
    bool is_words = pm_run_file_object(file, object)->kind == PM_RUN_OBJECT_WORDS;
    return is_words && costs->count_ps < PM_WORDS_COUNTED_PS ? PM_WORDS_COUNTED_PS
                                                             : costs->count_ps;
}

/* Warm pairs of all calls that are in the file. */
static uint64_t warm_events_ns(const struct pm_run_file *file, const struct pair_costs *costs)
{
    unsigned __int128 ps = 0;
    for (size_t i = 0; i < pm_run_file_n_threads(file); i++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
        for (size_t k = 0; k < thread->n_nodes; k++) {
            const struct pm_run_file_node *node = &thread->nodes[k];
            bool is_timed = node->flags & PM_RUN_NODE_FOLDED && node->noun != PM_RUN_NOUN_ROOT
                                ? pm_run_file_noun(file, node->noun)->mode >= PM_RUN_MODE_EXACT
                                : node->timing != PM_RUN_FILE_UNTIMED;
            if (node->noun != PM_RUN_NOUN_ROOT)
                ps += (unsigned __int128)node->n_calls *
                      ((is_timed ? costs->exact_ps : costs->active_ps) +
                       (is_traced(file, node->noun) ? TRACE_PAIR_PS : 0));
        }
    }
    for (size_t i = 0; i < pm_run_file_n_counts(file); i++) {
        const struct pm_run_file_counts *counts = pm_run_file_counts(file, i);
        uint64_t count_ps = count_ps_of(file, counts->object, costs);
        for (size_t k = 0; k < counts->n_counts; k++)
            ps += (unsigned __int128)counts->counts[k] * count_ps;
    }
    return at_most_i64(ps / 1000);
}

/* Time that the measurement added. */
struct added {
    uint64_t events_ns, samples_ns;
    uint64_t fixed_ns; /* of events_ns, as far as reckoned: what the budget leaves alone */
    uint64_t starts_ns;
    bool by_samples; /* events_ns */
    bool at_most;    /* the same */
};

/* What samples found in PerfMap's own code is a measurement, of all but the interrupts of the
 * samples themselves. own_work_ns: on samples, which is in samples_ns already. It holds work of
 * the program, too (probe_cost.h), and a few samples may be chance: twice their deviation less
 * has to be more than what was reckoned. */
static void raise_to_samples(struct added *added, double own_ns, uint64_t period_ns)
{
    double least_ns = own_ns - 2 * sqrt(own_ns * (double)period_ns);
    added->by_samples = least_ns > (double)added->events_ns;
    if (added->by_samples)
        added->events_ns = at_most_i64(
            (unsigned __int128)llround(pm_probe_cost((double)added->events_ns, own_ns)));
}

/* How much of a probe the processor does beside the program no figure of the run says: gzip and
 * bzip2 in mode exact are slowed down by half of what is reckoned and sampled, scanner.c
 * (tests/system/truth) by all of it. So where events take more than a little, their cost is
 * given as a bound: samples in PerfMap's code, with their deviation (binomial) for chance; what
 * was reckoned and PM_PROBE_MOST_BESIDE, where that is less and samples do not contradict it.
 * What the kernel does at starts is in neither. */
static void bound_events(struct added *added, double own_ns, uint64_t cpu_ns, uint64_t period_ns)
{
    enum { LITTLE_PCT = 5, LITTLE_NS = 100000 };
    double reckoned_ns = (double)added->events_ns, cpu = (double)cpu_ns;
    raise_to_samples(added, own_ns, period_ns);
    if (added->starts_ns > reckoned_ns / 2 || added->events_ns <= LITTLE_NS ||
        100 * (double)added->events_ns <= LITTLE_PCT * cpu)
        return;
    double most_ns = PM_PROBE_MOST_BESIDE * reckoned_ns;
    double share = own_ns < cpu ? own_ns / cpu : 1;
    double sigma_ns = sqrt((own_ns * (1 - share) + (double)period_ns) * (double)period_ns);
    double sampled_ns = own_ns + 2 * sigma_ns;
    added->at_most = true;
    added->events_ns = at_most_i64((unsigned __int128)llround(
        period_ns && (added->by_samples || sampled_ns < most_ns) ? sampled_ns : most_ns));
}

/* The process itself knows which events were seldom, and so dear; what it reckoned may end
 * before it did. */
static struct added added_of(const struct pm_run_file *file, const struct pair_costs *costs,
                             uint64_t own_code_ns)
{
    const struct pm_run_file_process *process = pm_run_file_process(file);
    const struct pm_run_file_sampling *sampling = pm_run_file_sampling(file);
    const struct pm_run_file_overhead *overhead = pm_run_file_overhead(file);
    uint64_t n_samples = sampling ? sampling->n_samples : 0, own_work_ns = 0;
    struct added added = {.events_ns = warm_events_ns(file, costs),
                          .samples_ns = at_most_i64((unsigned __int128)n_samples * SAMPLE_NS)};
    uint64_t cpu_ns = process->user_cpu_ns + process->system_cpu_ns;
    if (overhead && overhead->cpu_ns != 0) {
        if (!process->has_usage || cpu_ns < overhead->cpu_ns)
            cpu_ns = overhead->cpu_ns;
        uint64_t events_ns =
            at_most_i64(((unsigned __int128)overhead->events_ns + overhead->looks_ns) * cpu_ns /
                        overhead->cpu_ns);
        uint64_t samples_ns =
            at_most_i64((unsigned __int128)overhead->samples_ns * cpu_ns / overhead->cpu_ns);
        uint64_t interrupts_ns = at_most_i64((unsigned __int128)overhead->sample_ns * n_samples);
        added.events_ns = events_ns > added.events_ns ? events_ns : added.events_ns;
        added.samples_ns = overhead->samples_ns ? samples_ns : added.samples_ns;
        added.fixed_ns =
            at_most_i64((unsigned __int128)overhead->fixed_ns * cpu_ns / overhead->cpu_ns);
        own_work_ns =
            overhead->sample_ns && samples_ns > interrupts_ns ? samples_ns - interrupts_ns : 0;
        added.starts_ns = overhead->starts_ns;
        added.events_ns = at_most_i64((unsigned __int128)added.events_ns + added.starts_ns);
    }
    added.events_ns = at_most_i64((unsigned __int128)added.events_ns + heap_ns(file));
    bound_events(&added, own_code_ns > own_work_ns ? (double)(own_code_ns - own_work_ns) : 0,
                 cpu_ns, sampling ? sampling->period_ns : 0);
    return added;
}

uint64_t collect_start_ns(uint64_t start_tsc, const struct pm_run_file *file)
{
    const struct pm_run_file_process *process = pm_run_file_process(file);
    uint64_t start = process->start_tsc;
    if (process->is_elsewhere)
        return process->elsewhere_start_ns;
    return start > start_tsc ? pm_run_file_to_ns(file, start - start_tsc) : 0;
}

static enum pm_status write_overhead(struct collector *c, const struct pm_run_file *file,
                                     const struct pair_costs *costs, const struct added *added)
{
    const struct pm_run_file_overhead *overhead = pm_run_file_overhead(file);
    sqlite3_stmt *insert = c->writer->statements[INSERT_OVERHEAD];
    bind_number(insert, 1, c->processes->n);
    bind_number_or_null(insert, 2, overhead ? overhead->budget_ppm : 0);
    bind_number(insert, 3, added->events_ns);
    bind_number(insert, 4, added->samples_ns);
    bind_number_or_null(insert, 5, costs->active_ps);
    bind_number_or_null(insert, 6, costs->count_ps);
    return collect_insert(c, INSERT_OVERHEAD);
}

static enum pm_status write_probe_costs(struct collector *c, const struct pair_costs *costs)
{
    if (costs->inner_ps == 0 || costs->inner_ps > costs->exact_ps)
        return PM_OK;
    sqlite3_stmt *insert = c->writer->statements[INSERT_PROBE_COSTS];
    bind_number(insert, 1, c->processes->n);
    bind_number(insert, 2, costs->exact_ps);
    bind_number(insert, 3, costs->inner_ps);
    return collect_insert(c, INSERT_PROBE_COSTS);
}

static enum pm_status write_attribute(struct collector *c, enum collect_statement statement,
                                      uint32_t execution, const char *key, uint64_t number)
{
    char value[32];
    snprintf(value, sizeof value, "%llu", (unsigned long long)number);
    sqlite3_stmt *insert = c->writer->statements[statement];
    bind_number(insert, 1, execution);
    bind_text(insert, 2, key);
    bind_text(insert, 3, value);
    return collect_insert(c, statement);
}

enum pm_status collect_overhead(struct collector *c, uint32_t execution,
                                const struct pm_run_file *file)
{
    struct pair_costs costs = pair_costs_of(file);
    struct added added = added_of(file, &costs, c->processes->own_code_ns);
    enum pm_status status = write_overhead(c, file, &costs, &added);
    if (status == PM_OK)
        status = write_probe_costs(c, &costs);
    if (status != PM_OK)
        return status;
    bind_number(c->writer->statements[UPDATE_ADDED], 1, c->processes->n);
    bind_number(c->writer->statements[UPDATE_ADDED], 2, added.events_ns + added.samples_ns);
    status = collect_insert(c, UPDATE_ADDED);
    if (status == PM_OK && added.by_samples)
        status = write_attribute(c, INSERT_ATTRIBUTE, execution, "events_by_samples", 1);
    if (status == PM_OK && added.at_most)
        status = write_attribute(c, INSERT_ATTRIBUTE, execution, "events_at_most", 1);
    if (status == PM_OK && added.fixed_ns)
        status = write_attribute(c, ADD_ATTRIBUTE, execution, "fixed_ns", added.fixed_ns);
    if (status == PM_OK && added.starts_ns)
        status = write_attribute(c, ADD_ATTRIBUTE, execution, "starts_ns", added.starts_ns);
    return status;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The kernel's times go on over an exec. */
struct collect_cpu collect_own_cpu(const struct collector *c,
                                   const struct pm_run_file_process *process)
{
    return (struct collect_cpu){less(process->user_cpu_ns, c->processes->before.user_ns),
                                less(process->system_cpu_ns, c->processes->before.system_ns)};
}

/* Two machines may have processes of one number. */
static uint64_t process_key(const struct pm_run_file_process *process)
{
    uint64_t key = 0xcbf29ce484222325u;
    for (size_t i = 0; process->is_elsewhere && i < process->node.len; i++)
        key = (key ^ (unsigned char)process->node.p[i]) * 0x100000001b3u;
    return key ^ process->pid;
}

enum pm_status collect_image_begins(struct collector *c, const struct pm_run_file_process *process)
{
    uint64_t key = process_key(process);
    uint32_t at = pm_map_get(&c->processes->execs, key);
    bool goes_on = at && !(process->flags & PM_RUN_FLAG_FORKED);
    c->processes->before = goes_on ? c->processes->exec_cpu[at - 1] : (struct collect_cpu){0, 0};
    if (!at && !(process->flags & PM_RUN_FLAG_EXEC))
        return PM_OK;
    if (!at) {
        struct collect_cpu *more = pm_grow_array(c->processes->exec_cpu, c->processes->n_execs,
                                                 &c->processes->execs_cap, 256, sizeof *more);
        if (!more)
            return collect_no_memory(c);
        c->processes->exec_cpu = more;
        at = ++c->processes->n_execs;
        if (!pm_map_put(&c->processes->execs, key, at))
            return collect_no_memory(c);
    }
    bool is_known = process->flags & PM_RUN_FLAG_EXEC && process->has_usage;
    c->processes->exec_cpu[at - 1] =
        is_known ? (struct collect_cpu){process->user_cpu_ns, process->system_cpu_ns}
                 : (struct collect_cpu){0, 0};
    return PM_OK;
}

uint64_t collect_start_cpu_ns(const struct collector *c, const struct pm_run_file *file)
{
    const struct pm_run_file_sampling *sampling = pm_run_file_sampling(file);
    if (!sampling || sampling->is_wall || sampling->source == PM_RUN_SAMPLES_NONE)
        return 0;
    uint64_t before_ns = c->processes->before.user_ns + c->processes->before.system_ns;
    uint64_t cpu_ns = less(sampling->start_cpu_ns, before_ns);
    if (before_ns && pm_run_file_n_threads(file)) {
        const struct pm_run_file_thread *first = pm_run_file_thread(file, 0);
        uint64_t thread_ns =
            first->start_cpu_ns ? first->start_cpu_ns : less(first->cpu_ns, before_ns);
        cpu_ns = cpu_ns < thread_ns ? cpu_ns : thread_ns;
    }
    return cpu_ns;
}

/* Of what its clock says, what is this image's: the clock goes on over an exec. */
static uint64_t thread_cpu_ns(const struct collector *c, const struct pm_run_file *file,
                              const struct pm_run_file_thread *thread)
{
    uint64_t before_ns = c->processes->before.user_ns + c->processes->before.system_ns;
    if (!before_ns || thread->tid != pm_run_file_process(file)->pid)
        return thread->cpu_ns;
    if (!thread->start_cpu_ns)
        return less(thread->cpu_ns, before_ns);
    return thread->cpu_ns - thread->start_cpu_ns + collect_start_cpu_ns(c, file);
}

enum { MUCH_BEFORE_NS = 20000000 }; /* the loader takes less of most programs */

/* Resolvers of ifuncs run while the loader relocates, and have no calls. */
static enum pm_status mark_before(struct collector *c, const struct pm_run_file *file,
                                  uint64_t cpu_ns)
{
    const struct pm_run_file_process *process = pm_run_file_process(file);
    uint64_t all_ns = process->has_usage ? process->user_cpu_ns + process->system_cpu_ns : 0;
    if (cpu_ns < MUCH_BEFORE_NS || cpu_ns < all_ns / 50)
        return PM_OK;
    return collect_mark(c,
                        "%.1f ms CPU time of process %u were before PerfMap began, outside "
                        "instrumented code: the loader took them, or what it calls (resolvers of "
                        "ifuncs, which have no calls here)",
                        (double)cpu_ns / 1e6, process->pid);
}

enum pm_status collect_start_cpu(struct collector *c, const struct pm_run_file *file,
                                 uint32_t thread, uint32_t root_sentence)
{
    uint64_t cpu_ns = collect_start_cpu_ns(c, file);
    uint32_t root;
    if (cpu_ns == 0)
        return PM_OK;
    enum pm_status status = collect_context(c, 0, root_sentence, 0, &root);
    if (status != PM_OK)
        return status;
    status = collect_cost(c, root, thread, METRIC_CPU_NS, cpu_ns);
    return status == PM_OK ? mark_before(c, file, cpu_ns) : status;
}

static enum pm_status write_process(struct collector *c, uint32_t execution, uint64_t start_tsc,
                                    uint32_t image, const struct pm_run_file *file)
{
    const struct pm_run_file_process *process = pm_run_file_process(file);
    struct pm_buf argv = PM_BUF_INIT(1 << 20);
    enum pm_status status = quote_argv(c, process->argv, &argv);
    if (status != PM_OK) {
        pm_buf_release(&argv);
        return status;
    }
    sqlite3_stmt *insert = c->writer->statements[INSERT_PROCESS];
    uint64_t start_ns = collect_start_ns(start_tsc, file);
    c->processes->own_code_ns = 0;
    sqlite3_clear_bindings(insert);
    bind_number(insert, 1, c->processes->n);
    bind_number(insert, 2, execution);
    bind_number(insert, 3, process->pid);
    bind_number(insert, 4, process->parent_pid);
    bind_number(insert, 5, image);
    bind_str(insert, 6, process->exe);
    bind_text(insert, 7, argv.data);
    bind_number(insert, 8, start_ns);
    bind_number(insert, 9, start_ns + process->end_ns);
    bind_text(insert, 10, end_kind_name(process->end_kind));
    if (process->has_usage) {
        struct collect_cpu own = collect_own_cpu(c, process);
        bind_number(insert, 11, own.user_ns);
        bind_number(insert, 12, own.system_ns);
        bind_number(insert, 13, process->max_rss_bytes);
    }
    bind_number(insert, 14, process->n_sleds);
    bind_number(insert, 15, process->n_calls);
    bind_number(insert, 17, process->n_lost_contexts);
    bind_number(insert, 18, process->n_unmatched);
    bind_number(insert, 19, process->n_healed);
    status = collect_insert(c, INSERT_PROCESS);
    pm_buf_release(&argv);
    return status;
}

static enum pm_status write_rank(struct collector *c, const struct pm_run_file *file)
{
    int64_t rank = pm_run_file_process(file)->rank;
    if (rank < 0)
        return PM_OK;
    bind_number(c->writer->statements[INSERT_RANK], 1, c->processes->n);
    bind_number(c->writer->statements[INSERT_RANK], 2, (uint64_t)rank);
    return collect_insert(c, INSERT_RANK);
}

/* Only what the execution does not say of all its processes. */
static enum pm_status write_node(struct collector *c, const struct pm_run_file *file)
{
    const struct pm_run_file_process *process = pm_run_file_process(file);
    const char *host = c->processes->host;
    if (!process->node.len || (host && pm_str_is(process->node, host)))
        return PM_OK;
    bind_number(c->writer->statements[INSERT_NODE], 1, c->processes->n);
    bind_str(c->writer->statements[INSERT_NODE], 2, process->node);
    return collect_insert(c, INSERT_NODE);
}

/* Of its first process that has one. */
static enum pm_status write_job(struct collector *c, uint32_t execution,
                                const struct pm_run_file *file)
{
    const struct pm_run_file_process *process = pm_run_file_process(file);
    if (!process->job.len || c->processes->job_of == execution)
        return PM_OK;
    c->processes->job_of = execution;
    sqlite3_stmt *insert = c->writer->statements[INSERT_ATTRIBUTE];
    bind_number(insert, 1, execution);
    bind_text(insert, 2, "job");
    bind_str(insert, 3, process->job);
    return collect_insert(c, INSERT_ATTRIBUTE);
}

/* A process in which nothing was measured has one thread all the same, whose root has its time. */
enum pm_status collect_only_thread(struct collector *c, uint32_t tid, uint64_t start_ns,
                                   uint64_t end_ns, uint64_t cpu_ns)
{
    sqlite3_stmt *insert = c->writer->statements[INSERT_THREAD];
    sqlite3_clear_bindings(insert);
    bind_number(insert, 1, ++c->processes->n_threads);
    bind_number(insert, 2, c->processes->n);
    bind_number(insert, 3, tid);
    bind_number(insert, 4, 1);
    bind_number(insert, 6, start_ns);
    bind_number(insert, 7, end_ns);
    bind_number_or_null(insert, 8, cpu_ns);
    return collect_insert(c, INSERT_THREAD);
}

static enum pm_status write_threads(struct collector *c, uint64_t start_tsc,
                                    const struct pm_run_file *file)
{
    const struct pm_run_file_process *process = pm_run_file_process(file);
    uint64_t start_ns = collect_start_ns(start_tsc, file);
    if (pm_run_file_n_threads(file) == 0)
        return collect_only_thread(c, process->pid, start_ns, start_ns + process->end_ns,
                                   process->user_cpu_ns + process->system_cpu_ns);
    for (size_t i = 0; i < pm_run_file_n_threads(file); i++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
        sqlite3_stmt *insert = c->writer->statements[INSERT_THREAD];
        bind_number(insert, 1, ++c->processes->n_threads);
        bind_number(insert, 2, c->processes->n);
        bind_number(insert, 3, thread->tid);
        bind_number(insert, 4, thread->n_threads);
        bind_str(insert, 5, thread->name);
        bind_number(insert, 6, start_ns + thread->start_ns);
        bind_number(insert, 7, start_ns + thread->end_ns);
        bind_number_or_null(insert, 8, thread_cpu_ns(c, file, thread));
        enum pm_status status = collect_insert(c, INSERT_THREAD);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

enum { CODE_DAMAGE = -1 }; /* in table messages: what the reader found damaged */

static enum pm_status write_message(struct collector *c, int64_t code, struct pm_str text)
{
    sqlite3_stmt *insert = c->writer->statements[INSERT_MESSAGE];
    bind_number(insert, 1, c->processes->n);
    sqlite3_bind_int64(insert, 2, code);
    bind_str(insert, 3, text);
    return collect_insert(c, INSERT_MESSAGE);
}

enum pm_status collect_message(struct collector *c, int64_t code, const char *text)
{
    return write_message(c, code, (struct pm_str){text, strlen(text)});
}

enum pm_status collect_mark(struct collector *c, const char *format, ...)
{
    char text[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    collect_warn(c, "%s", text);
    sqlite3_stmt *insert = c->writer->statements[INSERT_MESSAGE];
    sqlite3_bind_null(insert, 1);
    sqlite3_bind_int64(insert, 2, PM_RUN_MSG_NOTE);
    bind_str(insert, 3, pm_str_of(text));
    return collect_insert(c, INSERT_MESSAGE);
}

static enum pm_status write_messages(struct collector *c, const struct pm_run_file *file)
{
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < pm_run_file_n_messages(file) && status == PM_OK; i++) {
        const struct pm_run_file_message *message = pm_run_file_message(file, i);
        status = write_message(c, message->code, message->text);
    }
    const char *complaint;
    size_t n = pm_run_file_n_complaints(file);
    for (size_t i = 0; status == PM_OK && (complaint = pm_run_file_complaint(file, i)); i++) {
        status = write_message(c, CODE_DAMAGE, pm_str_of(complaint));
        if (i < MAX_COMPLAINTS_SHOWN)
            collect_warn(c, "%s", complaint);
    }
    if (n > MAX_COMPLAINTS_SHOWN)
        collect_warn(c, "... and %zu more places like that in the run file of process %u",
                     n - MAX_COMPLAINTS_SHOWN, pm_run_file_process(file)->pid);
    return status;
}

/* --- samples --- */

static enum pm_status write_sampling(struct collector *c, const struct pm_run_file *file)
{
    static const char *const sources[] = {"none", "perf", "timer"};
    const struct pm_run_file_sampling *sampling = pm_run_file_sampling(file);
    if (!sampling)
        return PM_OK;
    char problem[200] = "";
    if (sampling->error_no)
        snprintf(problem, sizeof problem, "perf_event_open: %s", strerror(sampling->error_no));
    sqlite3_stmt *insert = c->writer->statements[INSERT_SAMPLING];
    sqlite3_clear_bindings(insert);
    bind_number(insert, 1, c->processes->n);
    bind_text(insert, 2, sampling->source < 3 ? sources[sampling->source] : "unknown");
    bind_text(insert, 3, sampling->is_wall ? "wall" : "cpu");
    bind_number(insert, 4, sampling->period_ns);
    bind_number(insert, 5, sampling->has_kernel);
    bind_number(insert, 6, sampling->has_switches);
    bind_number(insert, 7, sampling->n_samples);
    bind_number(insert, 8, sampling->n_lost);
    if (*problem)
        bind_text(insert, 9, problem);
    enum pm_status status = collect_insert(c, INSERT_SAMPLING);
    if (!sampling->n_threads_failed || status != PM_OK)
        return status;
    return collect_mark(c,
                        "%llu of %llu threads of process %u could not be sampled: their CPU time "
                        "is not known%s%s",
                        (unsigned long long)sampling->n_threads_failed,
                        (unsigned long long)(sampling->n_threads + sampling->n_threads_failed),
                        pm_run_file_process(file)->pid, *problem ? ": " : "", problem);
}

/* --- modes of nouns --- */

bool collect_has_gaps(const struct pm_run_file *file)
{
    for (size_t i = 0; i < pm_run_file_n_nouns(file); i++)
        if (pm_run_file_noun(file, i)->object != PM_RUN_FILE_NO_OBJECT &&
            pm_run_file_noun(file, i)->mode < PM_RUN_MODE_ACTIVE)
            return true;
    return pm_run_file_n_adapted(file) != 0;
}

/* until_ns 0: to the end. */
static enum pm_status write_noun_mode(struct collector *c, uint32_t noun, enum pm_run_mode mode,
                                      bool is_asked, uint64_t from_ns, uint64_t until_ns,
                                      uint64_t n_events)
{
    sqlite3_stmt *insert = c->writer->statements[INSERT_NOUN_MODE];
    bind_number(insert, 1, c->processes->n);
    bind_number(insert, 2, noun);
    bind_text(insert, 3, pm_mode_name(mode));
    bind_text(insert, 4, is_asked ? "asked" : "budget");
    bind_number(insert, 5, from_ns);
    bind_number_or_null(insert, 6, until_ns);
    bind_number(insert, 7, n_events);
    return collect_insert(c, INSERT_NOUN_MODE);
}

enum pm_status collect_noun_modes(struct collector *c, uint64_t start_tsc,
                                  const struct pm_run_file *file, const uint32_t *nouns)
{
    enum pm_run_mode mode = pm_run_file_mode(file);
    uint64_t start_ns = collect_start_ns(start_tsc, file);
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < pm_run_file_n_nouns(file) && status == PM_OK; i++) {
        const struct pm_run_file_noun *noun = pm_run_file_noun(file, i);
        if (noun->object != PM_RUN_FILE_NO_OBJECT && noun->mode != mode)
            status = write_noun_mode(c, nouns[i], noun->mode, true, start_ns, 0, 0);
    }
    for (size_t i = 0; i < pm_run_file_n_adapted(file) && status == PM_OK; i++) {
        const struct pm_run_file_adapted *adapted = pm_run_file_adapted(file, i);
        uint64_t until_ns = adapted->is_armed_again ? start_ns + adapted->armed_ns : 0;
        status = write_noun_mode(c, nouns[adapted->noun], adapted->mode, adapted->is_asked,
                                 start_ns + adapted->disarmed_ns, until_ns, adapted->n_events);
    }
    return status;
}

void collect_processes_release(struct collector *c)
{
    pm_map_release(&c->processes->execs);
    free(c->processes->exec_cpu);
}

/* --- all of it --- */

enum pm_status collect_process_rows(struct collector *c, uint32_t execution, uint64_t start_tsc,
                                    uint32_t image, const struct pm_run_file *file)
{
    static enum pm_status (*const rows[])(struct collector *, const struct pm_run_file *) = {
        write_rank, write_node, write_messages, write_sampling};
    enum pm_status status = write_process(c, execution, start_tsc, image, file);
    if (status != PM_OK)
        return status;
    status = write_job(c, execution, file);
    if (status != PM_OK)
        return status;
    status = write_threads(c, start_tsc, file);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == PM_OK; i++)
        status = rows[i](c, file);
    return status;
}
