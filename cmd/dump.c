/* perfmap dump: a run file as it is */
#include "cmd/core/cmd.h"
#include "dump.h"

#include "mapping/base/json.h"
#include "format/pm_mode.h"
#include "format/pm_sled.h"
#include "mapping/run/run_file.h"

enum { OPT_SUMMARY = CMD_KEY_FIRST, OPT_TRACE };

static const char *mode_word(uint32_t mode)
{
    return mode < PM_N_RUN_MODES ? pm_mode_name(mode) : "?";
}

static const char *end_word(enum pm_run_file_end end)
{
    return end == PM_RUN_FILE_EXIT ? "exit" : end == PM_RUN_FILE_EXEC ? "exec" : "killed";
}

static const char *message_word(uint32_t code)
{
    static const char *const words[] = {"note", "object without sleds", "bad sleds", "limit",
                                        "disarmed"};
    return code < sizeof words / sizeof *words ? words[code] : "unknown";
}

static const char *sample_word(uint32_t kind)
{
    static const char *const words[] = {
        [PM_RUN_SAMPLE_USER] = "user",       [PM_RUN_SAMPLE_KERNEL] = "kernel",
        [PM_RUN_SAMPLE_OFF_CPU] = "off-cpu", [PM_RUN_SAMPLE_LOST] = "lost",
        [PM_RUN_SAMPLE_WAITING] = "waiting", [PM_RUN_SAMPLE_PREEMPTED] = "preempted",
    };
    if (kind == PM_RUN_FILE_SAMPLE_COUNTED)
        return "counted";
    return kind < sizeof words / sizeof *words && words[kind] ? words[kind] : "unknown";
}

static const char *source_word(uint32_t source)
{
    static const char *const words[] = {"none", "perf", "timer"};
    return source < sizeof words / sizeof *words ? words[source] : "unknown";
}

/* Bytes of an argument vector, each ended by a zero, as words of a shell's command line. */
static void add_command(struct pm_buf *line, struct pm_str argv)
{
    for (size_t start = 0; start < argv.len;) {
        size_t len = strnlen(argv.p + start, argv.len - start);
        char *word = pm_strndup(argv.p + start, len);
        char *quoted = word ? cmd_shell_quote(word) : NULL;
        pm_buf_printf(line, "%s%s", start ? " " : "", quoted ? quoted : "");
        line->failed |= !quoted;
        free(quoted);
        free(word);
        start += len + 1;
    }
}

enum { HEX_BYTES = 2 * 64 + 1 }; /* build-ids have 16 to 32 bytes; a longer one is cut */

static const char *to_hex(struct pm_str bytes, char hex[HEX_BYTES])
{
    size_t n = bytes.len < HEX_BYTES / 2 ? bytes.len : HEX_BYTES / 2;
    for (size_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)bytes.p[i]);
    hex[2 * n] = 0;
    return hex;
}

/* --- text --- */

/* A name from a file on one line. */
static void print_name(const char *label, struct pm_str name)
{
    struct pm_buf text = PM_BUF_INIT(1 << 24);
    pm_buf_add_printable(&text, name.p, name.len);
    fputs(label, stdout);
    if (text.data && !text.failed)
        fputs(text.data, stdout);
    for (size_t i = 0; text.failed && i < name.len; i++) /* without memory: ASCII */
        if (name.p[i] >= 0x20 && name.p[i] < 0x7f)
            putchar(name.p[i]);
        else
            printf("\\x%02x", (unsigned char)name.p[i]);
    pm_buf_release(&text);
}

#define U64(value) ((unsigned long long)(value))

static void print_process(const struct pm_run_file *file, const char *command)
{
    const struct pm_run_file_process *process = pm_run_file_process(file);
    char rank[32] = "";
    if (process->rank >= 0)
        snprintf(rank, sizeof rank, ", rank %lld", (long long)process->rank);
    printf("process %u, parent %u%s, mode %s, end %s%s%s\n", process->pid, process->parent_pid,
           rank, mode_word(process->mode), end_word(process->end_kind),
           process->flags & PM_RUN_FLAG_FORKED ? ", forked" : "",
           process->flags & PM_RUN_FLAG_PORTABLE ? ", portable hooks" : "");
    print_name("exe ", process->exe);
    print_name("\ncwd ", process->cwd);
    printf("\ncommand %s\n", command);
    printf("start_realtime_ns %llu\ntsc_hz %llu\nend_ns %llu\n", U64(process->start_realtime_ns),
           U64(process->tsc_hz), U64(process->end_ns));
    if (process->has_usage)
        printf("user_cpu_ns %llu\nsystem_cpu_ns %llu\nmax_rss_bytes %llu\n",
               U64(process->user_cpu_ns), U64(process->system_cpu_ns), U64(process->max_rss_bytes));
    printf("exact_pair_ps %llu\ncount_event_ps %llu\n", U64(process->exact_pair_ps),
           U64(process->count_event_ps));
    printf("n_sleds %llu\nn_calls %llu\nn_lost_contexts %llu\nn_unmatched %llu\nn_healed "
           "%llu\nn_foreign_stack %llu\n",
           U64(process->n_sleds), U64(process->n_calls), U64(process->n_lost_contexts),
           U64(process->n_unmatched), U64(process->n_healed), U64(process->n_foreign_stack));
}

static void print_objects(const struct pm_run_file *file)
{
    for (size_t i = 0; i < pm_run_file_n_objects(file); i++) {
        const struct pm_run_file_object *object = pm_run_file_object(file, i);
        char hex[HEX_BYTES];
        printf("object %zu: ", i);
        print_name("", object->path);
        printf("\n  build_id %s, load_bias 0x%llx, n_sleds %u, n_bad_sleds %u, nouns %u from %u\n",
               object->build_id.len ? to_hex(object->build_id, hex) : "none",
               U64(object->load_bias), object->n_sleds, object->n_bad_sleds, object->n_nouns,
               object->first_noun);
        printf("  at 0x%llx to 0x%llx, generations %u to ", U64(object->low), U64(object->high),
               object->loaded_generation);
        if (object->unloaded_generation)
            printf("%u", object->unloaded_generation);
        else
            fputs("the end", stdout);
        puts(object->kind == PM_RUN_OBJECT_RUNTIME ? ", PerfMap's own" : "");
    }
}

static void print_sampling(const struct pm_run_file *file)
{
    const struct pm_run_file_sampling *sampling = pm_run_file_sampling(file);
    if (sampling)
        printf("sampling: source %s, clock %s, period_ns %llu, kernel %s, off-cpu %s\n  n_samples "
               "%llu, n_lost %llu, n_switches %llu, n_threads %llu, n_threads_failed %llu%s%s\n",
               source_word(sampling->source), sampling->is_wall ? "wall" : "cpu",
               U64(sampling->period_ns), sampling->has_kernel ? "yes" : "no",
               sampling->has_switches ? "yes" : "no", U64(sampling->n_samples),
               U64(sampling->n_lost), U64(sampling->n_switches), U64(sampling->n_threads),
               U64(sampling->n_threads_failed), sampling->error_no ? ", no perf: " : "",
               sampling->error_no ? strerror(sampling->error_no) : "");
    for (size_t i = 0; i < pm_run_file_n_adapted(file); i++) {
        const struct pm_run_file_adapted *adapted = pm_run_file_adapted(file, i);
        printf("disarmed: %016llx at_ns %llu, n_events %llu",
               U64(pm_run_file_noun(file, adapted->noun)->id), U64(adapted->disarmed_ns),
               U64(adapted->n_events));
        if (adapted->is_armed_again)
            printf(", armed again at_ns %llu", U64(adapted->armed_ns));
        putchar('\n');
    }
}

static void print_place(const char *label, uint32_t object, uint64_t address)
{
    if (address == 0)
        return;
    printf("%s 0x%llx", label, U64(address));
    if (object != PM_RUN_FILE_NO_OBJECT)
        printf(" in object %u", object);
}

const char *dump_noun_kind(const struct pm_run_file_noun *noun)
{
    switch (noun->kind) {
    case PM_SLED_LOOP_ENTER:
        return "loop";
    case PM_RUN_SENTENCE_ENTER:
        return "sentence";
    case PM_RUN_AMBIENT_SET:
        return "set of sentences";
    case PM_RUN_CAUSE_ENTER:
    case PM_RUN_CAUSE_START:
        return "cause";
    default:
        return "function";
    }
}

static void print_counters(const struct pm_run_file *file)
{
    for (size_t i = 0; i < pm_run_file_n_counters(file); i++) {
        const struct pm_run_file_counter *counter = pm_run_file_counter(file, i);
        printf("counter %.*s: period %llu, count %llu, type %u, config 0x%llx, enabled_ns %llu, "
               "running_ns %llu, n_threads %llu, n_threads_failed %llu, n_closed %llu",
               (int)counter->name.len, counter->name.p, U64(counter->period), U64(counter->count),
               counter->type, U64(counter->config), U64(counter->enabled_ns),
               U64(counter->running_ns), U64(counter->n_threads), U64(counter->n_threads_failed),
               U64(counter->n_closed));
        if (counter->is_user_only)
            fputs(", in the program's code only", stdout);
        if (counter->error_no)
            printf(", missing: %s", strerror(counter->error_no));
        putchar('\n');
    }
}

/* "n_samples 2, time_ns 7", "n_samples 2, page_faults 7" */
static void print_worth(const struct pm_run_file *file, const struct pm_run_file_sample *sample)
{
    struct pm_str unit = PM_STR("time_ns");
    if (sample->counter)
        unit = pm_run_file_counter(file, sample->counter - 1)->name;
    printf(": n_samples %llu, %.*s %llu\n", U64(sample->n_samples), (int)unit.len, unit.p,
           U64(sample->time_ns));
}

static void print_samples(const struct pm_run_file *file, const struct pm_run_file_thread *thread)
{
    for (size_t i = 0; i < thread->n_samples; i++) {
        const struct pm_run_file_sample *sample = &thread->samples[i];
        printf("  sample (%s) context %u", sample_word(sample->kind), sample->node);
        print_place(" at", sample->object, sample->address);
        print_place(sample->caller_sure ? " called at" : " probably called at",
                    sample->caller_object, sample->caller);
        if (sample->probe_noun != PM_RUN_NOUN_ROOT)
            printf(" in the trampoline of noun %u, %s its time", sample->probe_noun,
                   sample->probe_inner ? "in" : "outside");
        print_worth(file, sample);
    }
}

static void print_node(const struct pm_run_file *file, const struct pm_run_file_node *node,
                       int depth)
{
    printf("  %*s", depth < 100 ? 2 * depth : 200, "");
    if (node->noun == PM_RUN_NOUN_ROOT) {
        fputs(node->flags & PM_RUN_NODE_FOREIGN_STACK ? "root (foreign stack)" : "root", stdout);
    } else {
        const struct pm_run_file_noun *noun = pm_run_file_noun(file, node->noun);
        printf("%s %016llx", dump_noun_kind(noun), U64(noun->id));
        if (noun->object != PM_RUN_FILE_NO_OBJECT)
            printf(" object %u at 0x%llx", noun->object, U64(noun->address));
    }
    printf(": n_calls %llu, inclusive_ns %llu, own_ns %llu%s%s\n", U64(node->n_calls),
           U64(node->inclusive_ns), U64(node->own_ns),
           node->open && node->noun != PM_RUN_NOUN_ROOT ? ", open" : "",
           node->flags & PM_RUN_NODE_BEGUN    ? ", begun"
           : node->flags & PM_RUN_NODE_FOLDED ? ", folded"
                                              : "");
}

/* Children after their parent, siblings in the order of the file. Nodes come with parents before
 * children. */
struct tree {
    uint32_t *first_child, *next_sibling; /* position + 1; 0 none */
};

static bool tree_make(const struct pm_run_file_thread *thread, struct tree *ret_tree)
{
    *ret_tree = (struct tree){pm_alloc_array(thread->n_nodes + 1, sizeof(uint32_t)),
                              pm_alloc_array(thread->n_nodes + 1, sizeof(uint32_t))};
    if (!ret_tree->first_child || !ret_tree->next_sibling)
        return false;
    for (size_t i = thread->n_nodes; i-- > 0;) {
        uint32_t parent = thread->nodes[i].parent;
        if (parent == PM_RUN_FILE_NO_PARENT)
            continue;
        ret_tree->next_sibling[i] = ret_tree->first_child[parent];
        ret_tree->first_child[parent] = (uint32_t)i + 1;
    }
    return true;
}

/* Walks without recursion: a hostile file may be a million deep. */
static void print_tree(const struct pm_run_file *file, const struct pm_run_file_thread *thread,
                       const struct tree *tree, uint32_t root)
{
    int depth = 0;
    for (uint32_t at = root;;) {
        print_node(file, &thread->nodes[at], depth);
        if (tree->first_child[at]) {
            at = tree->first_child[at] - 1;
            depth++;
            continue;
        }
        while (at != root && !tree->next_sibling[at]) {
            at = thread->nodes[at].parent;
            depth--;
        }
        if (at == root)
            return;
        at = tree->next_sibling[at] - 1;
    }
}

static bool print_threads(const struct pm_run_file *file, bool summary)
{
    bool ok = true;
    for (size_t i = 0; ok && i < pm_run_file_n_threads(file); i++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
        printf("thread %zu: tid %u, n_threads %u, name ", i, thread->tid, thread->n_threads);
        print_name("", thread->name);
        printf("\n  start_ns %llu, end_ns %llu, wall_ns %llu, cpu_ns %llu, n_contexts %zu\n",
               U64(thread->start_ns), U64(thread->end_ns), U64(thread->wall_ns),
               U64(thread->cpu_ns), thread->n_nodes);
        if (summary)
            continue;
        struct tree tree;
        ok = tree_make(thread, &tree);
        for (size_t k = 0; ok && k < thread->n_nodes; k++)
            if (thread->nodes[k].parent == PM_RUN_FILE_NO_PARENT)
                print_tree(file, thread, &tree, (uint32_t)k);
        free(tree.first_child);
        free(tree.next_sibling);
        print_samples(file, thread);
    }
    return ok;
}

static void print_counts(const struct pm_run_file *file)
{
    for (size_t i = 0; i < pm_run_file_n_counts(file); i++) {
        const struct pm_run_file_counts *counts = pm_run_file_counts(file, i);
        uint32_t first = pm_run_file_object(file, counts->object)->first_noun;
        printf("counts of thread %u in object %u:\n", counts->thread, counts->object);
        for (size_t k = 0; k < counts->n_counts; k++) {
            if (!counts->counts[k])
                continue;
            const struct pm_run_file_noun *noun = pm_run_file_noun(file, first + k);
            printf("  %s %016llx: n_calls %llu\n", dump_noun_kind(noun), U64(noun->id),
                   U64(counts->counts[k]));
        }
    }
}

static void print_heap(const struct pm_run_file *file)
{
    for (size_t i = 0; i < pm_run_file_n_heap_sites(file); i++) {
        const struct pm_run_file_heap_site *site = pm_run_file_heap_site(file, i);
        printf("heap %zu: thread %u, context %u", i, site->thread, site->node);
        print_place(site->caller_sure ? ", called at" : ", probably called at", site->object,
                    site->caller);
        printf(": n_allocations %llu, allocated_bytes %llu (blocks of %llu to %llu), n_freed %llu, "
               "freed_bytes %llu, peak_bytes %llu, life_ns %llu\n",
               U64(site->n_allocations), U64(site->allocated_bytes), U64(site->least_bytes),
               U64(site->most_bytes), U64(site->n_freed), U64(site->freed_bytes),
               U64(site->peak_bytes), U64(site->life_ns));
    }
    for (size_t i = 0; i < pm_run_file_n_heap_blocks(file); i++) {
        const struct pm_run_file_heap_block *block = pm_run_file_heap_block(file, i);
        printf("block of heap %u: address 0x%llx, size_bytes %llu, allocated_ns %llu", block->site,
               U64(block->address), U64(block->size_bytes), U64(block->allocated_ns));
        if (block->is_freed)
            printf(", freed_ns %llu", U64(block->freed_ns));
        putchar('\n');
    }
}

static void print_messages(const struct pm_run_file *file)
{
    for (size_t i = 0; i < pm_run_file_n_messages(file); i++) {
        const struct pm_run_file_message *message = pm_run_file_message(file, i);
        printf("message (%s) ", message_word(message->code));
        print_name("", message->text);
        putchar('\n');
    }
    for (size_t i = 0; i < pm_run_file_n_complaints(file); i++)
        if (pm_run_file_complaint(file, i))
            printf("damage: %s\n", pm_run_file_complaint(file, i));
}

static bool print_text(const struct pm_run_file *file, const char *command, bool summary)
{
    print_process(file, command);
    print_objects(file);
    print_sampling(file);
    print_counters(file);
    bool ok = print_threads(file, summary);
    if (!summary)
        print_counts(file);
    print_heap(file);
    print_messages(file);
    return ok;
}

/* --- JSON --- */

static void json_process(struct pm_json *json, const struct pm_run_file *file, const char *command)
{
    const struct pm_run_file_process *process = pm_run_file_process(file);
    pm_json_object(json, "process");
    pm_json_u64(json, "pid", process->pid);
    pm_json_u64(json, "parent_pid", process->parent_pid);
    if (process->rank >= 0)
        pm_json_u64(json, "rank", (uint64_t)process->rank);
    pm_json_string(json, "mode", mode_word(process->mode));
    pm_json_string(json, "end_kind", end_word(process->end_kind));
    pm_json_bool(json, "forked", process->flags & PM_RUN_FLAG_FORKED);
    pm_json_bool(json, "portable", process->flags & PM_RUN_FLAG_PORTABLE);
    pm_json_string_n(json, "exe", process->exe.p, process->exe.len);
    pm_json_string_n(json, "cwd", process->cwd.p, process->cwd.len);
    pm_json_string(json, "command", command);
    pm_json_u64(json, "start_realtime_ns", process->start_realtime_ns);
    pm_json_u64(json, "tsc_hz", process->tsc_hz);
    pm_json_u64(json, "end_ns", process->end_ns);
    if (process->has_usage) {
        pm_json_u64(json, "user_cpu_ns", process->user_cpu_ns);
        pm_json_u64(json, "system_cpu_ns", process->system_cpu_ns);
        pm_json_u64(json, "max_rss_bytes", process->max_rss_bytes);
    }
    pm_json_u64(json, "exact_pair_ps", process->exact_pair_ps);
    pm_json_u64(json, "count_event_ps", process->count_event_ps);
    pm_json_u64(json, "n_sleds", process->n_sleds);
    pm_json_u64(json, "n_calls", process->n_calls);
    pm_json_u64(json, "n_lost_contexts", process->n_lost_contexts);
    pm_json_u64(json, "n_unmatched", process->n_unmatched);
    pm_json_u64(json, "n_healed", process->n_healed);
    pm_json_u64(json, "n_foreign_stack", process->n_foreign_stack);
    pm_json_end(json);
}

static void json_objects(struct pm_json *json, const struct pm_run_file *file)
{
    pm_json_array(json, "objects");
    for (size_t i = 0; i < pm_run_file_n_objects(file); i++) {
        const struct pm_run_file_object *object = pm_run_file_object(file, i);
        char hex[HEX_BYTES];
        pm_json_object(json, NULL);
        pm_json_string_n(json, "path", object->path.p, object->path.len);
        pm_json_string(json, "build_id",
                       object->build_id.len ? to_hex(object->build_id, hex) : NULL);
        pm_json_u64(json, "load_bias", object->load_bias);
        pm_json_u64(json, "n_sleds", object->n_sleds);
        pm_json_u64(json, "n_bad_sleds", object->n_bad_sleds);
        pm_json_u64(json, "first_noun", object->first_noun);
        pm_json_u64(json, "n_nouns", object->n_nouns);
        pm_json_string(json, "kind", object->kind == PM_RUN_OBJECT_RUNTIME ? "perfmap" : "elf");
        pm_json_u64(json, "low", object->low);
        pm_json_u64(json, "high", object->high);
        pm_json_u64(json, "loaded_generation", object->loaded_generation);
        if (object->unloaded_generation)
            pm_json_u64(json, "unloaded_generation", object->unloaded_generation);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_nouns(struct pm_json *json, const struct pm_run_file *file)
{
    pm_json_array(json, "nouns");
    for (size_t i = 0; i < pm_run_file_n_nouns(file); i++) {
        const struct pm_run_file_noun *noun = pm_run_file_noun(file, i);
        char id[17];
        snprintf(id, sizeof id, "%016llx", U64(noun->id));
        pm_json_object(json, NULL);
        pm_json_string(json, "id", id);
        pm_json_string(json, "kind", dump_noun_kind(noun));
        if (noun->object != PM_RUN_FILE_NO_OBJECT)
            pm_json_u64(json, "object", noun->object);
        pm_json_u64(json, "n_sleds", noun->n_sleds);
        pm_json_u64(json, "address", noun->address);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_contexts(struct pm_json *json, const struct pm_run_file_thread *thread)
{
    pm_json_array(json, "contexts");
    for (size_t i = 0; i < thread->n_nodes; i++) {
        const struct pm_run_file_node *node = &thread->nodes[i];
        pm_json_object(json, NULL);
        if (node->noun != PM_RUN_NOUN_ROOT)
            pm_json_u64(json, "noun", node->noun);
        if (node->parent != PM_RUN_FILE_NO_PARENT)
            pm_json_u64(json, "parent", node->parent);
        pm_json_u64(json, "n_calls", node->n_calls);
        pm_json_u64(json, "inclusive_ns", node->inclusive_ns);
        pm_json_u64(json, "own_ns", node->own_ns);
        if (node->open && node->noun != PM_RUN_NOUN_ROOT)
            pm_json_bool(json, "open", true);
        if (node->flags & PM_RUN_NODE_FOLDED)
            pm_json_bool(json, "folded", true);
        if (node->flags & PM_RUN_NODE_FOREIGN_STACK)
            pm_json_bool(json, "foreign_stack", true);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_sampling(struct pm_json *json, const struct pm_run_file *file)
{
    const struct pm_run_file_sampling *sampling = pm_run_file_sampling(file);
    if (sampling) {
        pm_json_object(json, "sampling");
        pm_json_string(json, "source", source_word(sampling->source));
        pm_json_string(json, "clock", sampling->is_wall ? "wall" : "cpu");
        pm_json_u64(json, "period_ns", sampling->period_ns);
        pm_json_bool(json, "has_kernel", sampling->has_kernel);
        pm_json_bool(json, "has_switches", sampling->has_switches);
        pm_json_u64(json, "n_samples", sampling->n_samples);
        pm_json_u64(json, "n_lost", sampling->n_lost);
        pm_json_u64(json, "n_switches", sampling->n_switches);
        pm_json_u64(json, "start_cpu_ns", sampling->start_cpu_ns);
        pm_json_u64(json, "n_threads", sampling->n_threads);
        pm_json_u64(json, "n_threads_failed", sampling->n_threads_failed);
        pm_json_string(json, "problem", sampling->error_no ? strerror(sampling->error_no) : NULL);
        pm_json_end(json);
    }
    pm_json_array(json, "disarmed");
    for (size_t i = 0; i < pm_run_file_n_adapted(file); i++) {
        const struct pm_run_file_adapted *adapted = pm_run_file_adapted(file, i);
        pm_json_object(json, NULL);
        pm_json_u64(json, "noun", adapted->noun);
        pm_json_u64(json, "at_ns", adapted->disarmed_ns);
        if (adapted->is_armed_again)
            pm_json_u64(json, "until_ns", adapted->armed_ns);
        pm_json_u64(json, "n_events", adapted->n_events);
        pm_json_end(json);
    }
    pm_json_end(json);
}

/* Only of runs that counted some. */
static void json_counters(struct pm_json *json, const struct pm_run_file *file)
{
    if (!pm_run_file_n_counters(file))
        return;
    pm_json_array(json, "counters");
    for (size_t i = 0; i < pm_run_file_n_counters(file); i++) {
        const struct pm_run_file_counter *counter = pm_run_file_counter(file, i);
        pm_json_object(json, NULL);
        pm_json_string_n(json, "name", counter->name.p, counter->name.len);
        pm_json_u64(json, "period", counter->period);
        pm_json_u64(json, "count", counter->count);
        pm_json_u64(json, "type", counter->type);
        pm_json_u64(json, "config", counter->config);
        pm_json_u64(json, "enabled_ns", counter->enabled_ns);
        pm_json_u64(json, "running_ns", counter->running_ns);
        pm_json_u64(json, "n_threads", counter->n_threads);
        pm_json_u64(json, "n_threads_failed", counter->n_threads_failed);
        pm_json_u64(json, "n_closed", counter->n_closed);
        pm_json_bool(json, "is_user_only", counter->is_user_only);
        pm_json_string(json, "problem", counter->error_no ? strerror(counter->error_no) : NULL);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_samples(struct pm_json *json, const struct pm_run_file *file,
                         const struct pm_run_file_thread *thread)
{
    pm_json_array(json, "samples");
    for (size_t i = 0; i < thread->n_samples; i++) {
        const struct pm_run_file_sample *sample = &thread->samples[i];
        pm_json_object(json, NULL);
        pm_json_string(json, "kind", sample_word(sample->kind));
        pm_json_u64(json, "context", sample->node);
        if (sample->object != PM_RUN_FILE_NO_OBJECT)
            pm_json_u64(json, "object", sample->object);
        if (sample->address)
            pm_json_u64(json, "address", sample->address);
        if (sample->caller_object != PM_RUN_FILE_NO_OBJECT)
            pm_json_u64(json, "caller_object", sample->caller_object);
        if (sample->caller) {
            pm_json_u64(json, "caller_address", sample->caller);
            pm_json_bool(json, "caller_sure", sample->caller_sure);
        }
        pm_json_u64(json, "n_samples", sample->n_samples);
        if (sample->counter) {
            struct pm_str name = pm_run_file_counter(file, sample->counter - 1)->name;
            pm_json_string_n(json, "counter", name.p, name.len);
            pm_json_u64(json, "n_events", sample->time_ns);
        } else {
            pm_json_u64(json, "time_ns", sample->time_ns);
        }
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_threads(struct pm_json *json, const struct pm_run_file *file, bool summary)
{
    pm_json_array(json, "threads");
    for (size_t i = 0; i < pm_run_file_n_threads(file); i++) {
        const struct pm_run_file_thread *thread = pm_run_file_thread(file, i);
        pm_json_object(json, NULL);
        pm_json_u64(json, "tid", thread->tid);
        pm_json_u64(json, "n_threads", thread->n_threads);
        pm_json_string_n(json, "name", thread->name.p, thread->name.len);
        pm_json_u64(json, "start_ns", thread->start_ns);
        pm_json_u64(json, "end_ns", thread->end_ns);
        pm_json_u64(json, "wall_ns", thread->wall_ns);
        pm_json_u64(json, "cpu_ns", thread->cpu_ns);
        pm_json_u64(json, "start_cpu_ns", thread->start_cpu_ns);
        pm_json_u64(json, "n_contexts", thread->n_nodes);
        if (!summary) {
            json_contexts(json, thread);
            json_samples(json, file, thread);
        }
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_counts(struct pm_json *json, const struct pm_run_file *file)
{
    pm_json_array(json, "counts");
    for (size_t i = 0; i < pm_run_file_n_counts(file); i++) {
        const struct pm_run_file_counts *counts = pm_run_file_counts(file, i);
        pm_json_object(json, NULL);
        pm_json_u64(json, "thread", counts->thread);
        pm_json_u64(json, "object", counts->object);
        pm_json_array(json, "n_calls"); /* of noun first_noun + position */
        for (size_t k = 0; k < counts->n_counts; k++)
            pm_json_u64(json, NULL, counts->counts[k]);
        pm_json_end(json);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_heap_site(struct pm_json *json, const struct pm_run_file_heap_site *site)
{
    pm_json_object(json, NULL);
    pm_json_u64(json, "thread", site->thread);
    pm_json_u64(json, "context", site->node);
    if (site->object != PM_RUN_FILE_NO_OBJECT)
        pm_json_u64(json, "caller_object", site->object);
    if (site->caller) {
        pm_json_u64(json, "caller_address", site->caller);
        pm_json_bool(json, "caller_sure", site->caller_sure);
    }
    pm_json_u64(json, "n_allocations", site->n_allocations);
    pm_json_u64(json, "allocated_bytes", site->allocated_bytes);
    pm_json_u64(json, "least_bytes", site->least_bytes);
    pm_json_u64(json, "most_bytes", site->most_bytes);
    pm_json_u64(json, "n_freed", site->n_freed);
    pm_json_u64(json, "freed_bytes", site->freed_bytes);
    pm_json_u64(json, "peak_bytes", site->peak_bytes);
    pm_json_u64(json, "life_ns", site->life_ns);
    pm_json_end(json);
}

/* Only of runs that followed the heap. */
static void json_heap(struct pm_json *json, const struct pm_run_file *file)
{
    if (!pm_run_file_n_heap_sites(file))
        return;
    pm_json_array(json, "heap");
    for (size_t i = 0; i < pm_run_file_n_heap_sites(file); i++)
        json_heap_site(json, pm_run_file_heap_site(file, i));
    pm_json_end(json);
    pm_json_array(json, "heap_blocks");
    for (size_t i = 0; i < pm_run_file_n_heap_blocks(file); i++) {
        const struct pm_run_file_heap_block *block = pm_run_file_heap_block(file, i);
        pm_json_object(json, NULL);
        pm_json_u64(json, "heap", block->site);
        pm_json_u64(json, "address", block->address);
        pm_json_u64(json, "size_bytes", block->size_bytes);
        pm_json_u64(json, "allocated_ns", block->allocated_ns);
        if (block->is_freed)
            pm_json_u64(json, "freed_ns", block->freed_ns);
        pm_json_end(json);
    }
    pm_json_end(json);
}

static void json_messages(struct pm_json *json, const struct pm_run_file *file)
{
    pm_json_array(json, "messages");
    for (size_t i = 0; i < pm_run_file_n_messages(file); i++) {
        const struct pm_run_file_message *message = pm_run_file_message(file, i);
        pm_json_object(json, NULL);
        pm_json_string(json, "kind", message_word(message->code));
        pm_json_u64(json, "code", message->code);
        pm_json_string_n(json, "text", message->text.p, message->text.len);
        pm_json_end(json);
    }
    pm_json_end(json);
    pm_json_array(json, "damage");
    for (size_t i = 0; i < pm_run_file_n_complaints(file); i++)
        if (pm_run_file_complaint(file, i))
            pm_json_string(json, NULL, pm_run_file_complaint(file, i));
    pm_json_end(json);
}

static void print_json(const struct pm_run_file *file, const char *command, bool summary)
{
    struct pm_json json;
    pm_json_init(&json, stdout);
    pm_json_object(&json, NULL);
    json_process(&json, file, command);
    json_objects(&json, file);
    json_sampling(&json, file);
    json_counters(&json, file);
    if (!summary)
        json_nouns(&json, file);
    json_threads(&json, file, summary);
    if (!summary)
        json_counts(&json, file);
    json_heap(&json, file);
    json_messages(&json, file);
    pm_json_end(&json);
    (void)pm_json_done(&json);
}

/* --- the command --- */

/* With what the manifest beside the file says about the clock; nothing when there is none, or none
 * that can be read. */
static enum pm_status open_file(const char *path, struct pm_error *err,
                                struct pm_run_file **ret_file)
{
    struct pm_manifest manifest; /* the clock lends its machine's name */
    struct pm_run_clock clock = {0};
    const char *slash = strrchr(path, '/');
    char *folder = slash ? pm_strndup(path, (size_t)(slash - path) + 1) : pm_strndup(".", 1);
    pm_manifest_init(&manifest);
    enum pm_status status = folder ? pm_manifest_read(folder, &manifest, NULL) : PM_ERR_MEMORY;
    if (status == PM_OK)
        clock = pm_run_clock_of(&manifest);
    if (status == PM_ERR_MEMORY)
        pm_error_set(err, status, "out of memory for the manifest beside '%s'", path);
    else
        status = pm_run_file_open(path, &clock, err, ret_file);
    pm_manifest_release(&manifest);
    free(folder);
    return status;
}

static enum pm_status dump(const struct pm_run_file *file, bool json, bool summary,
                           struct pm_error *err)
{
    struct pm_buf command = PM_BUF_INIT(1 << 20);
    add_command(&command, pm_run_file_process(file)->argv);
    bool ok = !command.failed;
    if (ok && json)
        print_json(file, command.data ? command.data : "", summary);
    else if (ok)
        ok = print_text(file, command.data ? command.data : "", summary);
    pm_buf_release(&command);
    return ok ? PM_OK : pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

static int dump_main(struct cmd_parse *parse)
{
    bool summary = false, trace = false;
    for (int key; (key = cmd_next(parse)) != CMD_END;) {
        summary |= key == OPT_SUMMARY;
        trace |= key == OPT_TRACE;
    }
    if (parse->failed)
        return CMD_USAGE;
    if (parse->n_operands != 1)
        return cmd_usage_error(parse, "expected one run file, not %d arguments", parse->n_operands);

    const char *path = parse->operands[0];
    struct pm_error err = PM_ERROR_INIT;
    struct pm_run_file *file = NULL;
    if (open_file(path, &err, &file) != PM_OK) {
        cmd_add_file_hint(path, CMD_FILE_PROCESS, &err);
        return cmd_fail(parse, &err);
    }
    bool damaged = pm_run_file_n_complaints(file) > 0;
    enum pm_status status = trace ? dump_traces(path, file, parse->json, summary, &err)
                                  : dump(file, parse->json, summary, &err);
    pm_run_file_free(file);
    return status == PM_OK ? cmd_stdout_done(parse, damaged ? CMD_FAILED : CMD_DONE)
                           : cmd_fail(parse, &err);
}

static const struct cmd_option dump_options[] = {
    {OPT_SUMMARY, "summary", NULL, "leave out contexts, nouns, counters and samples"},
    {OPT_TRACE, "trace", NULL,
     "print the events of each thread instead (perfmap run --mode trace), in order, nested. With "
     "--summary: how many there are, and how many contexts have other calls or times than their "
     "events add up to"},
    {CMD_KEY_JSON, "json", NULL, "as JSON"},
    {0}};

static const struct cmd_example dump_examples[] = {
    {"perfmap dump heat.run/4711.0.pmr", "everything that one process left"},
    {"perfmap dump --json --summary heat.run/4711.0.pmr",
     "the process, its objects and threads for a script"},
    {NULL, NULL}};

static const struct cmd_exit dump_exits[] = {
    {0, "done"},
    {1, "the file cannot be read, or parts of it are damaged (the others are printed)"},
    {2, "wrong usage"},
    {0, NULL}};

const struct cmd cmd_dump = {
    .name = "dump",
    .summary = "print a run file as it is",
    .usage = (const char *const[]){"dump [--trace] [--summary] [--json] FILE.pmr", NULL},
    .description =
        "Prints what one process image left in a run folder: the process, loaded objects, "
        "sampling, threads with their context trees (ids of nouns as in `perfmap pif`) and "
        "samples, counters, messages, and damage. It serves bug reports and readers of the format "
        "(docs/formats/run-file.md). Control bytes in names are shown as \\xNN. Times are in "
        "nanoseconds, by the manifest beside the file or by the file's own clock pairs.",
    .options = dump_options,
    .examples = dump_examples,
    .exits = dump_exits,
    .main = dump_main};
