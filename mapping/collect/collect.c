#include "collect.h"

#include "ahead.h"
#include "binaries.h"
#include "call_paths.h"
#include "causes.h"
#include "code.h"
#include "collector.h"
#include "contexts.h"
#include "costs.h"
#include "counters.h"
#include "frames.h"
#include "heap.h"
#include "import.h"
#include "import_sink.h"
#include "kernel.h"
#include "meetings.h"
#include "model.h"
#include "pif.h"
#include "process.h"
#include "producers.h"
#include "references.h"
#include "run_names.h"
#include "samples.h"
#include "sites.h"
#include "trace.h"
#include "words.h"
#include "writer.h"

#include "format/pm_mode.h"
#include "mapping/archive/archive.h"
#include "mapping/base/arena.h"
#include "mapping/base/map.h"
#include "mapping/import/import.h"
#include "mapping/pif/pif.h"
#include "mapping/run/run_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LATE_NS = 10000000,        /* a process that ends so much after the run was not waited for */
    WARNED_REST_NS = 20000000, /* less has its row only: a start and an end on a busy machine */
};

/* --- a run folder --- */

struct run_entry {
    char *path;
    uint32_t pid, image;
    uint64_t start_tsc;  /* as the header says, unchecked; for the order */
    uint64_t size_bytes; /* unpacked, likewise */
};

struct run {
    const char *dir;
    struct pm_manifest manifest;
    bool has_manifest;
    struct run_entry *entries;
    uint32_t n_entries, entries_cap;
    struct pm_run_clock clock;
    uint64_t start_tsc; /* of the execution */
    uint32_t execution; /* row */
    /* gathered over the processes, for what the manifest does not say */
    uint64_t last_end_ns, user_cpu_ns, system_cpu_ns, max_rss_bytes, start_realtime_ns;
    uint32_t mode;
    size_t n_read;
    bool all_usage;
    uint64_t files_cpu_ns, late_cpu_ns; /* of all processes; of those that ended after the run */
};

static void run_release(struct run *run)
{
    pm_manifest_release(&run->manifest);
    for (size_t i = 0; i < run->n_entries; i++)
        free(run->entries[i].path);
    free(run->entries);
}

/* PID.N.pmr; anything else that ends so is taken with PID and N unknown. */
static bool parse_name(const char *name, uint32_t *ret_pid, uint32_t *ret_image)
{
    size_t len = strlen(name);
    if (len < 5 || strcmp(name + len - 4, ".pmr") != 0)
        return false;
    *ret_pid = *ret_image = 0;
    const char *dot = memchr(name, '.', len);
    uint64_t pid, image;
    if (dot < name + len - 4 &&
        pm_str_to_u64((struct pm_str){name, (size_t)(dot - name)}, UINT32_MAX, &pid) &&
        pm_str_to_u64((struct pm_str){dot + 1, (size_t)(name + len - 4 - (dot + 1))}, UINT32_MAX,
                      &image)) {
        *ret_pid = (uint32_t)pid;
        *ret_image = (uint32_t)image;
    }
    return true;
}

static void peek(struct run_entry *entry)
{
    struct pm_run_header header;
    int fd;
    if (pm_file_open(entry->path, INT64_MAX, NULL, &fd, &entry->size_bytes) != PM_OK)
        return;
    struct pm_run_packed packed;
    bool good = pm_file_read_at(fd, &header, sizeof header, 0) &&
                memcmp(header.magic, PM_RUN_MAGIC, sizeof header.magic) == 0;
    bool is_packed = good && header.version_major == PM_RUN_VERSION_PACKED;
    if (is_packed && pm_file_read_at(fd, &packed, sizeof packed, PM_RUN_PAGE))
        entry->size_bytes = packed.unpacked_bytes;
    if (is_packed || (good && header.version_major == PM_RUN_VERSION_MAJOR))
        entry->start_tsc = header.start_tsc;
    close(fd);
}

static int compare_entries(const void *a, const void *b)
{
    const struct run_entry *x = a, *y = b;
    if (x->start_tsc != y->start_tsc)
        return x->start_tsc < y->start_tsc ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    return strcmp(x->path, y->path);
}

static enum pm_status add_entry(struct collector *c, struct run *run, const char *name)
{
    struct run_entry entry = {0};
    if (!parse_name(name, &entry.pid, &entry.image))
        return PM_OK;
    struct run_entry *entries =
        pm_grow_array(run->entries, run->n_entries, &run->entries_cap, 1024, sizeof *entries);
    if (entries)
        run->entries = entries;
    struct pm_buf path = PM_BUF_INIT(PATH_MAX + NAME_MAX);
    pm_buf_printf(&path, "%s/%s", run->dir, name);
    if (!entries || path.failed) {
        pm_buf_release(&path);
        return collect_no_memory(c);
    }
    entry.path = pm_buf_take(&path);
    peek(&entry);
    entries[run->n_entries++] = entry;
    return PM_OK;
}

static enum pm_status list_run(struct collector *c, struct run *run)
{
    DIR *dir = opendir(run->dir);
    if (!dir && errno == ENOENT)
        return pm_error_set(c->err, PM_ERR_NOT_FOUND, "there is no run folder '%s'", run->dir);
    if (!dir && errno == ENOTDIR)
        return pm_error_set(c->err, PM_ERR_USAGE, "'%s' is not a run folder", run->dir);
    if (!dir)
        return pm_error_system(c->err, errno, "cannot open run folder '%s'", run->dir);
    enum pm_status status = PM_OK;
    struct dirent *entry;
    while (status == PM_OK && (errno = 0, entry = readdir(dir)))
        status = add_entry(c, run, entry->d_name);
    if (status == PM_OK && errno)
        status = pm_error_system(c->err, errno, "cannot read run folder '%s'", run->dir);
    closedir(dir);
    if (run->n_entries)
        qsort(run->entries, run->n_entries, sizeof *run->entries, compare_entries);
    return status;
}

static enum pm_status open_run(struct collector *c, struct run *run)
{
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = list_run(c, run);
    if (status != PM_OK)
        return status;
    status = pm_manifest_read(run->dir, &run->manifest, &err);
    if (status == PM_ERR_MEMORY) {
        pm_error_release(&err);
        return collect_no_memory(c);
    }
    run->has_manifest = status == PM_OK;
    if (!run->has_manifest) {
        if (run->n_entries == 0) {
            pm_error_release(&err);
            return pm_error_set(c->err, PM_ERR_NOT_FOUND,
                                "there is no run in '%s': neither a manifest nor run files",
                                run->dir);
        }
        collect_warn(c, "%s; command and times are taken from the run files", pm_error_text(&err));
        pm_manifest_release(&run->manifest); /* what was read before the damage */
    }
    pm_error_release(&err);
    run->clock = pm_run_clock_of(&run->manifest);
    run->start_tsc = run->manifest.start_tsc;
    for (size_t i = 0; i < run->n_entries && !run->start_tsc; i++)
        run->start_tsc = run->entries[i].start_tsc; /* sorted: the earliest that is known */
    run->all_usage = true;
    return PM_OK;
}

/* --- processes --- */

/* --- the first pass: opens binaries, and makes nouns of what a run file names --- */

static enum pm_status open_objects(struct collector *c, const struct pm_run_file *file,
                                   struct collect_names *names)
{
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < pm_run_file_n_objects(file) && status == PM_OK; i++) {
        const struct pm_run_file_object *object = pm_run_file_object(file, i);
        if (object->kind == PM_RUN_OBJECT_WORDS)
            continue;
        status = collect_binary(c, object, &names->binaries[i]);
        if (status == PM_OK && (object->n_nouns || object->n_sleds || object->n_bad_sleds))
            status = collect_binary_read(c, names->binaries[i]);
    }
    return status;
}

static enum pm_status name_nouns(struct collector *c, const struct pm_run_file *file,
                                 struct collect_names *names)
{
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < pm_run_file_n_nouns(file) && status == PM_OK; i++) {
        const struct pm_run_file_noun *noun = pm_run_file_noun(file, i);
        if (collect_is_spoken(file, noun))
            continue;
        status = collect_code_noun(
            c, noun->object == PM_RUN_FILE_NO_OBJECT ? NULL : names->binaries[noun->object], noun,
            &names->nouns[i]);
        if (status == PM_OK)
            status = collect_short_sentence(c, c->model->executes, names->nouns[i],
                                            &names->sentences[i]);
    }
    return status == PM_OK ? collect_words(c, file, names) : status;
}

static enum pm_status locate(struct collector *c, const struct pm_run_file *file,
                             struct collect_names *names)
{
    enum pm_status status =
        collect_process_sentence(c, pm_run_file_process(file)->exe, &names->root);
    if (status == PM_OK)
        status = open_objects(c, file, names);
    if (status == PM_OK)
        status = name_nouns(c, file, names);
    if (status == PM_OK)
        status = collect_locate_calls(c, file, names);
    if (status == PM_OK)
        status = collect_locate_frames(c, file, names);
    if (status == PM_OK)
        status = collect_locate_samples(c, file, names);
    return status == PM_OK ? collect_locate_heap(c, file, names) : status;
}

/* --- the second pass: contexts and costs --- */

static enum pm_status place(struct collector *c, const struct run *run, const char *path,
                            const struct pm_run_file *file, uint32_t first_thread,
                            struct collect_names *names)
{
    enum pm_status status = collect_noun_modes(c, run->start_tsc, file, names->nouns);
    if (status == PM_OK)
        status = collect_costs_add(c, file, first_thread, names);
    if (status == PM_OK)
        status = collect_start_cpu(c, file, first_thread, names->root);
    if (status == PM_OK && pm_run_file_n_threads(file) == 0)
        status = collect_costs_add_whole(c, file, first_thread, names);
    else if (status == PM_OK)
        status = collect_heap_blocks(c, run->start_tsc, file, names->heaps);
    return status == PM_OK ? collect_trace(c, run->start_tsc, path, file, first_thread, names)
                           : status;
}

/* Arrays by position in the run file; all but those that the first pass makes itself. */
static enum pm_status names_init(struct collector *c, const struct pm_run_file *file,
                                 struct collect_names *names)
{
    size_t n_nouns = pm_run_file_n_nouns(file), n_objects = pm_run_file_n_objects(file),
           n_sites = pm_run_file_n_heap_sites(file);
    *names = (struct collect_names){
        .has_gaps = collect_has_gaps(file),
        .binaries = pm_alloc_array(n_objects, sizeof *names->binaries),
        .nouns = pm_alloc_array(n_nouns, sizeof *names->nouns),
        .sentences = pm_alloc_array(n_nouns, sizeof *names->sentences),
        .causes = pm_alloc_array(n_nouns, sizeof *names->causes),
        .calls = pm_alloc_array(n_nouns, sizeof *names->calls),
        .heaps = pm_alloc_array(n_sites, sizeof *names->heaps),
        .heap_codes = pm_alloc_array(n_sites, sizeof *names->heap_codes),
        .counters = pm_alloc_array(pm_run_file_n_counters(file) + 1, sizeof *names->counters),
    };
    if (!names->binaries || !names->nouns || !names->sentences || !names->causes || !names->calls ||
        !names->heaps || !names->heap_codes || !names->counters)
        return collect_no_memory(c);
    for (size_t i = 0; i < n_sites; i++)
        names->heaps[i] = COLLECT_NO_HEAP;
    return collect_counters(c, file, names);
}

static void names_release(struct collect_names *names)
{
    free(names->binaries);
    free(names->nouns);
    free(names->sentences);
    free(names->causes);
    free(names->calls);
    free(names->frames);
    free(names->heaps);
    free(names->heap_codes);
    free(names->counters);
    free(names->metrics);
    free(names->words);
    free(names->located);
}

static enum pm_status write_costs(struct collector *c, const struct run *run, const char *path,
                                  const struct pm_run_file *file, uint32_t first_thread)
{
    struct collect_names names;
    enum pm_status status = names_init(c, file, &names);
    names.start_ns = collect_start_ns(run->start_tsc, file);
    c->n_sampled_threads = run->n_entries * (uint32_t)pm_run_file_n_threads(file);
    if (status == PM_OK)
        status = locate(c, file, &names);
    if (status == PM_OK)
        status = place(c, run, path, file, first_thread, &names);
    names_release(&names);
    return status;
}

static void gather(struct collector *c, struct run *run, const struct pm_run_file *file)
{
    const struct pm_run_file_process *process = pm_run_file_process(file);
    uint64_t end_ns = collect_start_ns(run->start_tsc, file) + process->end_ns;
    if (end_ns > run->last_end_ns)
        run->last_end_ns = end_ns;
    if (!run->n_read) {
        run->mode = process->mode;
        run->start_realtime_ns = process->start_realtime_ns;
    }
    run->all_usage &= process->has_usage;
    struct collect_cpu own = collect_own_cpu(c, process);
    run->user_cpu_ns += own.user_ns;
    run->system_cpu_ns += own.system_ns;
    if (process->max_rss_bytes > run->max_rss_bytes)
        run->max_rss_bytes = process->max_rss_bytes;
    run->n_read++;
    c->result->n_calls += process->n_calls;
    const struct pm_run_file_sampling *sampling = pm_run_file_sampling(file);
    c->result->n_sampled += sampling && sampling->source != PM_RUN_SAMPLES_NONE;
    c->result->n_sleds += process->n_sleds + (process->flags & PM_RUN_FLAG_PORTABLE ? 1 : 0) +
                          (pm_run_file_n_words(file) ? 1 : 0);
}

/* false: the program was still running, or nobody saw its end. */
static bool wall_of_manifest(const struct pm_manifest *manifest, uint64_t *ret_ns)
{
    if (!manifest->start_monotonic_ns || manifest->end_monotonic_ns < manifest->start_monotonic_ns)
        return false;
    *ret_ns = manifest->end_monotonic_ns - manifest->start_monotonic_ns;
    return true;
}

/* What the run files say of CPU time. A process that was killed tells what was sampled. */
static void add_cpu(const struct collector *c, struct run *run, const struct pm_run_file *file,
                    uint64_t sampled_ns)
{
    const struct pm_run_file_process *process = pm_run_file_process(file);
    struct collect_cpu own = collect_own_cpu(c, process);
    uint64_t cpu_ns = process->has_usage ? own.user_ns + own.system_ns : sampled_ns, wall_ns;
    run->files_cpu_ns += cpu_ns;
    if (wall_of_manifest(&run->manifest, &wall_ns) &&
        collect_start_ns(run->start_tsc, file) + process->end_ns > wall_ns + LATE_NS)
        run->late_cpu_ns += cpu_ns;
}

static enum pm_status collect_process(struct collector *c, struct run *run, struct run_ahead *ahead,
                                      size_t i)
{
    const struct run_entry *entry = &run->entries[i];
    struct pm_run_file *file;
    struct pm_error err = PM_ERROR_INIT;
    enum pm_status status = run_ahead_take(ahead, i, &err, &file);
    if (status == PM_ERR_MEMORY) {
        pm_error_release(&err);
        return collect_no_memory(c);
    }
    if (status != PM_OK) {
        status = collect_mark(c, "%s: this process is left out", pm_error_text(&err));
        pm_error_release(&err);
        return status;
    }
    uint32_t first_thread = c->processes->n_threads + 1;
    uint64_t sampled_before_ns = c->costs->sampled_cpu_ns;
    c->processes->n++;
    status = collect_image_begins(c, pm_run_file_process(file));
    gather(c, run, file);
    if (status == PM_OK)
        status = collect_process_rows(c, run->execution, run->start_tsc, entry->image, file);
    if (status == PM_OK)
        status = write_costs(c, run, entry->path, file, first_thread);
    if (status == PM_OK)
        status = collect_overhead(c, run->execution, file);
    add_cpu(c, run, file, c->costs->sampled_cpu_ns - sampled_before_ns);
    pm_run_file_free(file);
    return status;
}

static enum pm_status collect_processes(struct collector *c, struct run *run)
{
    struct run_ahead_file *files = pm_alloc_array(run->n_entries, sizeof *files);
    for (size_t i = 0; files && i < run->n_entries; i++)
        files[i] = (struct run_ahead_file){run->entries[i].path, run->entries[i].size_bytes};
    struct run_ahead *ahead =
        files ? run_ahead_new(files, run->n_entries, &run->clock, c->n_threads) : NULL;
    enum pm_status status = ahead ? PM_OK : collect_no_memory(c);
    for (size_t i = 0; ahead && i < run->n_entries; i++) {
        status = collect_process(c, run, ahead, i);
        if (status != PM_OK)
            break;
    }
    run_ahead_free(ahead);
    free(files);
    return status;
}

/* --- executions --- */

static void bind_exit(sqlite3_stmt *insert, int at, int value)
{
    if (value >= 0)
        sqlite3_bind_int(insert, at, value);
}

static enum pm_status quote_command(struct collector *c, const struct pm_manifest *manifest,
                                    struct pm_buf *out)
{
    for (size_t i = 0; i < manifest->n_args; i++) {
        if (i)
            pm_buf_add_byte(out, ' ');
        collect_add_quoted(out, manifest->argv[i], strlen(manifest->argv[i]));
    }
    return out->failed ? collect_no_memory(c) : PM_OK;
}

/* A run of which no process left a file, for none had sleds: its first process, as `perfmap run`
 * saw it, from the manifest. Usage is then that of all processes of the run. */
static enum pm_status write_unmeasured_process(struct collector *c, const struct run *run)
{
    const struct pm_manifest *manifest = &run->manifest;
    const char *exe = manifest->n_args ? manifest->argv[0] : "";
    uint64_t wall_ns = 0, cpu_ns = manifest->user_cpu_ns + manifest->system_cpu_ns;
    bool has_wall = wall_of_manifest(manifest, &wall_ns);
    struct pm_buf command = PM_BUF_INIT(64 << 20);
    enum pm_status status = quote_command(c, manifest, &command);
    sqlite3_stmt *insert = c->writer->statements[INSERT_PROCESS];
    sqlite3_clear_bindings(insert);
    bind_number(insert, 1, ++c->processes->n);
    bind_number(insert, 2, run->execution);
    bind_number(insert, 3, manifest->pid);
    bind_number(insert, 5, 0);
    bind_text(insert, 6, exe);
    bind_text(insert, 7, command.data ? command.data : "");
    bind_number(insert, 8, 0);
    if (has_wall)
        bind_number(insert, 9, wall_ns);
    bind_text(insert, 10, has_wall && manifest->exit_signal < 0 ? "exit" : "killed");
    if (manifest->has_usage) {
        bind_number(insert, 11, manifest->user_cpu_ns);
        bind_number(insert, 12, manifest->system_cpu_ns);
        bind_number_or_null(insert, 13, manifest->max_rss_bytes);
    }
    bind_number(insert, 14, 0);
    bind_number(insert, 15, 0);
    bind_number(insert, 16, 0);
    if (status == PM_OK)
        status = collect_insert(c, INSERT_PROCESS);
    pm_buf_release(&command);
    if (status != PM_OK || !has_wall)
        return status;
    uint32_t sentence;
    status = collect_only_thread(c, manifest->pid, 0, wall_ns, manifest->has_usage ? cpu_ns : 0);
    if (status == PM_OK)
        status = collect_process_sentence(c, pm_str_of(exe), &sentence);
    return status == PM_OK ? collect_costs_add_time(c, c->processes->n_threads, sentence, wall_ns)
                           : status;
}

/* What the kernel told of the processes that were waited for, and the run files of the others.
 * Where that is less than all run files say (a parent that lets the kernel wait for its children
 * loses their times), these. False: not known. */
static bool cpu_of(const struct run *run, struct collect_cpu *ret_cpu)
{
    const struct pm_manifest *manifest = &run->manifest;
    if (!manifest->has_usage && !(run->n_read && run->all_usage))
        return false;
    struct collect_cpu cpu = {run->user_cpu_ns, run->system_cpu_ns};
    if (manifest->has_usage)
        cpu =
            (struct collect_cpu){manifest->user_cpu_ns + run->late_cpu_ns, manifest->system_cpu_ns};
    uint64_t known_ns = cpu.user_ns + cpu.system_ns;
    if (known_ns < run->files_cpu_ns)
        cpu.user_ns += run->files_cpu_ns - known_ns;
    *ret_cpu = cpu;
    return true;
}

/* CPU time of the run that no sample stands for: a process of its own in the archive. */
static enum pm_status write_rest(struct collector *c, const struct run *run)
{
    static const char *const name = "(not sampled)";
    struct collect_cpu cpu;
    uint64_t sampled_ns = c->costs->sampled_cpu_ns;
    if (sampled_ns == 0 || !run->manifest.has_usage || !cpu_of(run, &cpu))
        return PM_OK;
    uint64_t all_ns = cpu.user_ns + cpu.system_ns;
    uint64_t rest_ns = all_ns > sampled_ns ? all_ns - sampled_ns : 0;
    if (rest_ns == 0 || rest_ns < all_ns / 50)
        return PM_OK;
    if (rest_ns >= WARNED_REST_NS)
        collect_warn(c,
                     "%.1f ms of %.1f ms CPU time were not sampled: starts and ends of %zu "
                     "process%s, processes that were killed, and those that the runtime cannot be "
                     "loaded into (statically linked, other privileges)",
                     (double)rest_ns / 1e6, (double)all_ns / 1e6, run->n_read,
                     run->n_read == 1 ? "" : "es");
    sqlite3_stmt *insert = c->writer->statements[INSERT_PROCESS];
    sqlite3_clear_bindings(insert);
    c->processes->n_rests++;
    bind_number(insert, 1, ++c->processes->n);
    bind_number(insert, 2, run->execution);
    bind_number(insert, 3, 0);
    bind_number(insert, 5, 0);
    bind_text(insert, 6, "(not sampled)");
    bind_text(insert, 7, "(not sampled)");
    bind_number(insert, 8, 0);
    bind_text(insert, 10, "exit");
    for (int i = 14; i <= 19; i++)
        bind_number(insert, i, 0);
    uint32_t noun = 0, process, sentence, root, context;
    enum pm_status status = collect_insert(c, INSERT_PROCESS);
    if (status == PM_OK)
        status = collect_only_thread(c, 0, 0, 0, rest_ns);
    if (status == PM_OK)
        status = collect_process_sentence(c, PM_STR("(not sampled)"), &process);
    if (status == PM_OK)
        status = collect_add_noun(c, pm_pif_name_id("Base", name), name, "unsampled",
                                  "ends of processes, and processes that the runtime cannot be "
                                  "loaded into",
                                  0, &noun);
    if (status == PM_OK)
        status = collect_short_sentence(c, c->model->executes, noun, &sentence);
    if (status == PM_OK)
        status = collect_context(c, 0, process, 0, &root);
    if (status == PM_OK)
        status = collect_context(c, root, sentence, 0, &context);
    return status == PM_OK
               ? collect_cost(c, context, c->processes->n_threads, METRIC_CPU_NS, rest_ns)
               : status;
}

static enum pm_status write_execution(struct collector *c, const struct run *run, const char *name)
{
    const struct pm_manifest *manifest = &run->manifest;
    struct pm_buf command = PM_BUF_INIT(64 << 20);
    enum pm_status status = quote_command(c, manifest, &command);
    if (status != PM_OK) {
        pm_buf_release(&command);
        return status;
    }
    sqlite3_stmt *insert = c->writer->statements[INSERT_EXECUTION];
    sqlite3_clear_bindings(insert);
    bind_number(insert, 1, run->execution);
    bind_text(insert, 2, name);
    bind_text(insert, 3, command.data ? command.data : "");
    bind_text(insert, 4, manifest->cwd);
    bind_text(insert, 5, manifest->host);
    bind_text(insert, 6, manifest->mode ? manifest->mode : pm_mode_name(run->mode));
    bind_number_or_null(insert, 7,
                        manifest->start_realtime_ns ? manifest->start_realtime_ns
                                                    : run->start_realtime_ns);
    uint64_t wall_ns = run->last_end_ns;
    bool has_wall = wall_of_manifest(manifest, &wall_ns);
    if (has_wall || run->n_read)
        bind_number(insert, 8, wall_ns);
    struct collect_cpu cpu;
    if (cpu_of(run, &cpu)) {
        bind_number(insert, 9, cpu.user_ns);
        bind_number(insert, 10, cpu.system_ns);
        bind_number_or_null(insert, 11,
                            manifest->has_usage ? manifest->max_rss_bytes : run->max_rss_bytes);
    }
    bind_exit(insert, 12, manifest->exit_status);
    bind_exit(insert, 13, manifest->exit_signal);
    status = collect_insert(c, INSERT_EXECUTION);
    pm_buf_release(&command);
    return status;
}

static enum pm_status write_attribute(struct collector *c, const struct run *run, struct pm_str key,
                                      struct pm_str value)
{
    sqlite3_stmt *insert = c->writer->statements[INSERT_ATTRIBUTE];
    bind_number(insert, 1, run->execution);
    bind_str(insert, 2, key);
    bind_str(insert, 3, value);
    return collect_insert(c, INSERT_ATTRIBUTE);
}

static enum pm_status write_number(struct collector *c, const struct run *run, struct pm_str key,
                                   uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return write_attribute(c, run, key, pm_str_of(text));
}

/* That the run was made for (perfmap run --ask). */
static enum pm_status write_question(struct collector *c, const struct run *run)
{
    const struct pm_manifest *manifest = &run->manifest;
    enum pm_status status =
        write_attribute(c, run, PM_STR("question"), pm_str_of(manifest->question));
    if (status == PM_OK)
        status = write_number(c, run, PM_STR("n_question_sleds"), manifest->n_question_sleds);
    return status == PM_OK ? write_number(c, run, PM_STR("n_all_sleds"), manifest->n_all_sleds)
                           : status;
}

static enum pm_status write_attributes(struct collector *c, const struct run *run)
{
    const struct pm_manifest *manifest = &run->manifest;
    enum pm_status status = manifest->question ? write_question(c, run) : PM_OK;
    if (manifest->perfmap && status == PM_OK)
        status = write_attribute(c, run, PM_STR("perfmap"), pm_str_of(manifest->perfmap));
    for (size_t i = 0; i < manifest->n_other && status == PM_OK; i++) {
        struct pm_str line = pm_str_of(manifest->other[i]);
        size_t key = strcspn(line.p, "=");
        status = write_attribute(c, run, (struct pm_str){line.p, key},
                                 (struct pm_str){line.p + key + 1, line.len - key - 1});
    }
    return status;
}

/* The folder's name without its path and slashes at its end. */
static char *run_name(const char *dir)
{
    size_t len = strlen(dir);
    while (len > 1 && dir[len - 1] == '/')
        len--;
    size_t start = len;
    while (start > 0 && (dir[start - 1] != '/' || start == len))
        start--;
    return pm_strndup(dir + start, len - start);
}

static enum pm_status collect_run(struct collector *c, const char *dir, const char *name)
{
    struct run run = {.dir = dir, .execution = ++c->processes->n_executions};
    c->costs->metrics[METRIC_N_CALLS - 1].is_used = c->costs->metrics[METRIC_WALL_NS - 1].is_used =
        true;
    pm_manifest_init(&run.manifest);
    char *own_name = name ? NULL : run_name(dir);
    c->costs->sampled_cpu_ns = 0;
    pm_map_release(&c->processes->execs);
    c->processes->n_execs = 0;
    enum pm_status status = name || own_name ? open_run(c, &run) : collect_no_memory(c);
    c->processes->host = run.manifest.host;
    c->joins |= run.n_entries > 1;
    if (status == PM_OK)
        status = collect_kernel_start(c, dir);
    if (status == PM_OK)
        status = collect_processes(c, &run);
    if (status == PM_OK)
        status = collect_kernel_end(c);
    if (status == PM_OK && run.n_entries && run.n_read == 0)
        status = pm_error_set(c->err, PM_ERR_FORMAT, "no run file in '%s' can be read: %s", dir,
                              c->result->n_warnings ? c->result->warnings[c->result->n_warnings - 1]
                                                    : "");
    if (status == PM_OK && run.n_entries == 0)
        status = write_unmeasured_process(c, &run);
    if (status == PM_OK && run.n_read)
        status = write_rest(c, &run);
    if (status == PM_OK)
        status = write_execution(c, &run, name ? name : own_name);
    if (status == PM_OK)
        status = write_attributes(c, &run);
    free(own_name);
    run_release(&run);
    return status;
}

/* A folder without a run is left out where there are others: it is what remains of a rank whose
 * files another one had taken when it was killed. */
static enum pm_status collect_runs(struct collector *c, const char *const *run_dirs, size_t n,
                                   const char *name)
{
    size_t n_empty = 0;
    for (size_t i = 0; i < n; i++) {
        enum pm_status status = collect_run(c, run_dirs[i], name);
        bool is_left_out =
            status == PM_ERR_NOT_FOUND && access(run_dirs[i], F_OK) == 0 && ++n_empty < n;
        if (status != PM_OK && !is_left_out)
            return status;
        if (!is_left_out)
            continue;
        collect_warn(c, "%s: it is left out", pm_error_text(c->err));
        pm_error_release(c->err);
        c->processes->n_executions--;
    }
    return PM_OK;
}

/* --- the whole --- */

/* An archive has one, of which nothing is known here. */
static enum pm_status write_no_execution(struct collector *c, const char *name)
{
    struct run run = {.execution = ++c->processes->n_executions};
    pm_manifest_init(&run.manifest);
    enum pm_status status = write_execution(c, &run, name ? name : "facts");
    run_release(&run);
    return status;
}

static enum pm_status start(struct collector *c, const char *archive_path)
{
    enum pm_status status = collect_writer_open(c, archive_path);
    if (status == PM_OK && !(c->strings = pm_intern_new()))
        status = collect_no_memory(c);
    if (status == PM_OK)
        status = collect_model_start(c);
    return status == PM_OK ? collect_costs_start(c) : status;
}

/* Causes are words. Without any, nobody asks what a context of one process is in the others. What
 * cannot be read is told when its turn comes. */
static void find_words(struct collector *c, const char *dir)
{
    struct pm_error unused = PM_ERROR_INIT, *err = c->err;
    struct run run = {.dir = dir};
    pm_manifest_init(&run.manifest);
    c->err = &unused;
    if (list_run(c, &run) != PM_OK)
        c->has_words = true;
    for (size_t i = 0; i < run.n_entries && !c->has_words; i++)
        c->has_words = pm_run_file_has_words(run.entries[i].path);
    run_release(&run);
    c->err = err;
    pm_error_release(&unused);
}

static enum pm_status collect_all(struct collector *c, const char *const *run_dirs,
                                  size_t n_run_dirs, const struct pm_collect_options *options)
{
    /* in this order: each adds to what those after it write */
    static enum pm_status (*const ends[])(struct collector *) = {
        collect_causes_end,    collect_inlined_end, collect_costs_end,      collect_heap_end,
        collect_calls_end,     collect_lacking_end, collect_references_end, collect_binaries_end,
        collect_producers_end, collect_model_end,   collect_rows_end};
    enum pm_status status = PM_OK;
    c->joins = n_run_dirs > 1;
    for (size_t i = 0; i < n_run_dirs && !c->has_words; i++)
        find_words(c, run_dirs[i]);
    status = collect_runs(c, run_dirs, n_run_dirs, options->name);
    if (status == PM_OK)
        status = collect_meetings_end(c); /* ranks may have folders of their own */
    for (size_t i = 0; i < options->n_pif_paths && status == PM_OK; i++)
        status = collect_user_pif(c, options->pif_paths[i]);
    for (size_t i = 0; i < options->n_costs_paths && status == PM_OK; i++)
        status = collect_cost_file(c, options->costs_paths[i], options->name);
    struct pm_import_options import = {.size = sizeof import,
                                       .format = options->profile_format,
                                       .unit = options->profile_unit,
                                       .exe = options->profile_exe};
    if (status != PM_OK)
        return status;
    if (options->n_profile_paths)
        status = collect_profiles(c, options->profile_paths, options->n_profile_paths,
                                  options->name, &import);
    for (size_t i = 0; i < options->n_binary_paths && status == PM_OK; i++)
        status = collect_binary_file(c, options->binary_paths[i]);
    if (status == PM_OK && options->binary_paths && c->processes->n_executions == 0)
        status = write_no_execution(c, options->name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends && status == PM_OK; i++)
        status = ends[i](c);
    return status;
}

static void release(struct collector *c)
{
    collect_writer_release(c);
    collect_costs_release(c);
    collect_contexts_release(c);
    collect_references_release(c);
    collect_binaries_release(c);
    collect_heap_release(c);
    collect_causes_release(c);
    collect_kernel_release(c);
    collect_meetings_release(c);
    collect_model_release(c);
    collect_processes_release(c);
    pm_intern_free(c->strings);
    pm_arena_release(&c->arena);
}

void pm_collect_result_release(struct pm_collect_result *result)
{
    for (size_t i = 0; i < result->n_warnings; i++)
        free(result->warnings[i]);
    free(result->warnings);
    *result = (struct pm_collect_result){0};
}

/* Options of any caller's age: what it does not know is 0. */
static struct pm_collect_options known_options(const struct pm_collect_options *options)
{
    struct pm_collect_options known = {0};
    if (options)
        memcpy(&known, options, options->size < sizeof known ? options->size : sizeof known);
    return known;
}

struct whole {
    struct collector collector;
    struct collect_writer writer;
    struct collect_model model;
    struct collect_binaries binaries;
    struct collect_codes codes;
    struct collect_references references;
    struct collect_processes processes;
    struct collect_contexts contexts;
    struct collect_costs costs;
    struct collect_heaps heaps;
};

static struct collector *put_together(struct whole *whole)
{
    whole->collector = (struct collector){.writer = &whole->writer,
                                          .model = &whole->model,
                                          .binaries = &whole->binaries,
                                          .codes = &whole->codes,
                                          .references = &whole->references,
                                          .processes = &whole->processes,
                                          .contexts = &whole->contexts,
                                          .costs = &whole->costs,
                                          .heaps = &whole->heaps};
    return &whole->collector;
}

enum pm_status pm_collect(const char *const *run_dirs, size_t n_run_dirs, const char *archive_path,
                          const struct pm_collect_options *options, struct pm_error *err,
                          struct pm_collect_result *ret_result)
{
    struct pm_collect_options known = known_options(options);
    struct pm_collect_result result = {0};
    bool has_other = known.n_costs_paths != 0 || known.n_profile_paths != 0 || known.binary_paths;
    if ((n_run_dirs == 0 && !has_other) || (known.name && n_run_dirs > 1))
        return pm_error_set(err, PM_ERR_USAGE, "%zu run folders were given%s", n_run_dirs,
                            known.name ? " for one name" : "");
    struct whole *whole = pm_alloc(sizeof *whole);
    if (!whole)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory / cannot make archive '%s'",
                            archive_path);
    struct collector *c = put_together(whole);
    c->err = err;
    c->result = &result;
    c->n_threads = known.n_threads;
    enum pm_status status = start(c, archive_path);
    if (status == PM_OK)
        status = collect_all(c, run_dirs, n_run_dirs, &known);
    if (known.is_repeatable)
        pm_archive_is_repeatable(c->writer->archive);
    result.n_executions = c->processes->n_executions;
    result.n_processes = c->processes->n - c->processes->n_rests;
    result.n_threads = c->processes->n_threads;
    result.n_contexts = c->contexts->n;
    result.n_nouns = c->model->n_nouns;
    release(c);
    if (status == PM_OK)
        status = pm_archive_finish(c->writer->archive, err);
    else
        pm_archive_discard(c->writer->archive);
    free(whole);
    if (status != PM_OK)
        pm_error_add(err, "cannot make archive '%s'", archive_path);
    if (status == PM_OK && ret_result)
        *ret_result = result;
    else
        pm_collect_result_release(&result);
    return status;
}
