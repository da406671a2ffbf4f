/* Loading a run file: the walk over its chunks, and the checks after which everything may be used
 * as it stands. */
#include "run_internal.h"
#include "run_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void run_complain(struct pm_run_file *file, uint64_t offset, const char *format, ...)
{
    size_t index = file->n_complaints++;
    if (index >= RUN_MAX_COMPLAINTS)
        return;
    struct pm_buf text = PM_BUF_INIT(8192);
    pm_buf_printf(&text, "run file '%s' byte %llu: ", file->name, (unsigned long long)offset);
    va_list args;
    va_start(args, format);
    char line[4096];
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pm_buf_add_str(&text, line);
    file->complaints[index] =
        text.failed ? NULL : pm_arena_strndup(&file->arena, text.data, text.len);
    pm_buf_release(&text);
    if (!file->complaints[index])
        file->n_complaints--; /* no memory to complain with: the load is about to fail for the same
                                 reason */
}

enum pm_status run_no_memory(const struct pm_run_file *file, struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "no memory for run file '%s'", file->name);
}

/* --- bytes --- */

bool run_read_at(const struct run_source *source, uint64_t offset, void *buf, size_t len)
{
    if (offset > source->size_bytes || len > source->size_bytes - offset)
        return false;
    if (source->fd < 0) {
        memcpy(buf, source->bytes + offset, len);
        return true;
    }
    return pm_file_read_at(source->fd, buf, len, offset);
}

/* The first page at or after offset that may hold anything, so that a large hole costs nothing. */
static uint64_t next_data(const struct run_source *source, uint64_t offset)
{
    if (source->fd < 0)
        return offset;
    off_t at = lseek(source->fd, (off_t)offset, SEEK_DATA);
    if (at < 0)
        return errno == ENXIO ? source->size_bytes : offset;
    return (uint64_t)at / PM_RUN_PAGE * PM_RUN_PAGE;
}

/* --- header --- */

static enum pm_status check_header(struct pm_run_file *file, const struct run_source *source,
                                   struct pm_error *err)
{
    struct pm_run_header *header = &file->header;
    if (source->size_bytes < sizeof header->magic ||
        !run_read_at(source, 0, header, sizeof header->magic) ||
        memcmp(header->magic, PM_RUN_MAGIC, sizeof header->magic) != 0)
        return pm_error_set(err, PM_ERR_FORMAT, "'%s' is not a run file", file->name);
    if (!run_read_at(source, 0, header, sizeof *header))
        return pm_error_set(err, PM_ERR_FORMAT,
                            "run file '%s' is cut within its header (%llu of %zu bytes)",
                            file->name, (unsigned long long)source->size_bytes, sizeof *header);
    if (header->version_major != PM_RUN_VERSION_MAJOR)
        return pm_error_set(
            err, PM_ERR_VERSION, "run file '%s' has version %u.%u, this perfmap reads version %u",
            file->name, header->version_major, header->version_minor, PM_RUN_VERSION_MAJOR);
    size_t least = offsetof(struct pm_run_header, node); /* what is behind it is newer */
    if (header->header_bytes < least || header->header_bytes > PM_RUN_PAGE)
        return pm_error_set(err, PM_ERR_FORMAT,
                            "run file '%s' byte %zu: header of %u bytes (expected %zu to %u)",
                            file->name, offsetof(struct pm_run_header, header_bytes),
                            header->header_bytes, least, PM_RUN_PAGE);
    return PM_OK;
}

static struct pm_str text_part(struct pm_run_file *file, uint32_t *at, uint32_t len,
                               const char *what)
{
    uint32_t room = (uint32_t)sizeof file->header.text - *at;
    if (len > room) {
        run_complain(file, offsetof(struct pm_run_header, exe_bytes),
                     "%s of %u bytes, %u are left in the header", what, len, room);
        len = room;
    }
    struct pm_str part = {file->header.text + *at, len};
    *at += len;
    return part;
}

/* Do the ticks of the process's start fit the run's clock, to 0.1 ms and 20 ppm? Those of another
 * machine do not, for it was started at another time. */
static bool fits_clock(const struct pm_run_header *header, const struct pm_run_clock *clock)
{
    uint64_t hz = header->tsc_hz ? header->tsc_hz : clock->tsc_hz;
    if (!hz || !clock->start_tsc || !clock->start_monotonic_ns)
        return false;
    double ns = (double)header->start_monotonic_ns - (double)clock->start_monotonic_ns;
    double by_ticks = ((double)header->start_tsc - (double)clock->start_tsc) * 1e9 / (double)hz;
    return fabs(ns - by_ticks) <= 1e5 + 2e-5 * fabs(ns);
}

/* Ticks and numbers of processes of two machines have nothing to do with each other. A container
 * may have a name of its own, and is on the same machine. */
static void leave_clock(struct pm_run_file *file)
{
    const struct pm_run_clock *clock = &file->clock;
    struct pm_run_file_process *process = &file->process;
    if (!process->node.len || !clock->node || !*clock->node ||
        pm_str_is(process->node, clock->node) || fits_clock(&file->header, clock))
        return;
    uint64_t start_ns = clock->start_realtime_ns;
    process->is_elsewhere = true;
    if (start_ns && process->start_realtime_ns > start_ns)
        process->elsewhere_start_ns = process->start_realtime_ns - start_ns;
    file->clock = (struct pm_run_clock){0};
}

static void take_header(struct pm_run_file *file)
{
    const struct pm_run_header *header = &file->header;
    struct pm_run_file_process *process = &file->process;
    bool ended = header->flags & PM_RUN_FLAG_ENDED;
    *process = (struct pm_run_file_process){
        .pid = header->pid,
        .parent_pid = header->parent_pid,
        .rank = header->version_minor >= 2 && header->rank_plus_1 <= 1u << 30
                    ? (int64_t)header->rank_plus_1 - 1
                    : -1,
        .flags = header->flags,
        .mode = header->mode,
        .start_tsc = header->start_tsc,
        .start_realtime_ns = header->start_realtime_ns,
        .start_monotonic_ns = header->start_monotonic_ns,
        .identity = pm_run_identity(header->pid, header->start_tsc, header->start_realtime_ns),
        .has_usage = ended,
        .user_cpu_ns = ended ? header->end_user_cpu_ns : 0,
        .system_cpu_ns = ended ? header->end_system_cpu_ns : 0,
        .max_rss_bytes = ended ? header->end_max_rss_bytes : 0,
        .exact_pair_ps = header->exact_pair_ps,
        .exact_inner_ps = header->exact_inner_ps,
        .count_event_ps = header->count_event_ps,
        .n_sleds = header->n_sleds,
        .n_lost_contexts = header->n_lost_contexts,
        .n_unmatched = header->n_unmatched,
        .n_healed = header->n_healed,
        .n_foreign_stack = header->n_foreign_stack,
    };
    uint32_t at = 0;
    process->exe = text_part(file, &at, header->exe_bytes, "program name");
    process->cwd = text_part(file, &at, header->cwd_bytes, "working directory");
    process->argv = text_part(file, &at, header->argv_bytes, "arguments");
    if (header->header_bytes >= sizeof *header) {
        process->node = (struct pm_str){header->node, strnlen(header->node, sizeof header->node)};
        process->job = (struct pm_str){header->job, strnlen(header->job, sizeof header->job)};
    }
    if (header->mode > PM_RUN_MODE_TRACE)
        run_complain(file, offsetof(struct pm_run_header, mode), "mode %u is not known",
                     header->mode);
}

/* --- the walk over chunks --- */

static bool add_chunk(struct run_chunks *list, const struct run_chunk *chunk)
{
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 64;
        struct run_chunk *more = pm_realloc_array(list->chunks, cap, sizeof *more);
        if (!more)
            return false;
        list->chunks = more;
        list->cap = cap;
    }
    list->chunks[list->n++] = *chunk;
    return true;
}

static enum pm_status walk_chunks(struct pm_run_file *file, const struct run_source *source,
                                  struct run_chunks *list, struct pm_error *err)
{
    uint64_t end = source->size_bytes;
    bool in_damage = false; /* one complaint for a run of damaged pages */
    for (uint64_t offset = next_data(source, PM_RUN_PAGE); offset < end;
         offset = next_data(source, offset)) {
        struct pm_run_chunk chunk;
        if (!run_read_at(source, offset, &chunk, sizeof chunk)) {
            run_complain(file, offset, "is cut within a chunk's header");
            return PM_OK;
        }
        if (chunk.magic == 0) { /* was being made; its magic is written last */
            offset += PM_RUN_PAGE;
            in_damage = false;
            continue;
        }
        if (chunk.magic != PM_RUN_CHUNK_MAGIC || chunk.size_bytes % PM_RUN_PAGE ||
            chunk.size_bytes == 0) {
            if (!in_damage && chunk.magic != PM_RUN_CHUNK_MAGIC)
                run_complain(file, offset, "no chunk starts here (0x%08x)", chunk.magic);
            else if (!in_damage)
                run_complain(file, offset, "chunk of %llu bytes (not a multiple of %u)",
                             (unsigned long long)chunk.size_bytes, PM_RUN_PAGE);
            in_damage = true;
            offset += PM_RUN_PAGE;
            continue;
        }
        in_damage = false;
        struct run_chunk ref = {offset, chunk.size_bytes, chunk.kind, chunk.owner, chunk.n_items};
        if (chunk.size_bytes > end - offset) {
            run_complain(file, offset, "chunk of %llu bytes is cut, %llu are there",
                         (unsigned long long)chunk.size_bytes, (unsigned long long)(end - offset));
            ref.size_bytes = end - offset;
        }
        if (!add_chunk(list, &ref))
            return run_no_memory(file, err);
        offset += ref.size_bytes;
    }
    return PM_OK;
}

/* --- the file --- */

typedef enum pm_status load_step(struct pm_run_file *file, const struct run_source *source,
                                 const struct run_chunks *list, struct pm_error *err);

static enum pm_status load_file(struct pm_run_file *file, const struct run_source *source,
                                struct pm_error *err)
{
    /* Each may use what those before it have loaded. */
    static load_step *const steps[] = {
        run_load_rest,  run_load_counters, run_load_samples, run_load_when,     run_load_heap,
        run_load_words, run_load_ambient,  run_load_trace,   run_load_meetings,
    };
    enum pm_status status = check_header(file, source, err);
    if (status != PM_OK)
        return status;
    struct run_chunks list = {0};
    take_header(file);
    leave_clock(file);
    status = walk_chunks(file, source, &list, err);
    if (status != PM_OK)
        goto out;
    status = run_load_objects(file, source, &list, err);
    if (status != PM_OK)
        goto out;
    status = run_load_threads(file, source, &list, err);
    if (status != PM_OK)
        goto out;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        status = steps[i](file, source, &list, err);
        if (status != PM_OK)
            goto out;
    }
    status = run_make_times(file, err);
    if (status != PM_OK)
        goto out;
    run_make_adapted_times(file);
    run_make_heap_times(file);
out:
    for (size_t i = 0; i < file->n_threads; i++) {
        free(file->loads[i].raw);
        free(file->loads[i].places);
        file->loads[i].raw = NULL;
        file->loads[i].places = NULL;
    }
    free(file->raw_adapted);
    file->raw_adapted = NULL;
    free(list.chunks);
    free(list.stretches);
    return status;
}

static bool is_packed(const struct run_source *source)
{
    struct pm_run_header header;
    return run_read_at(source, 0, &header, sizeof header) &&
           memcmp(header.magic, PM_RUN_MAGIC, sizeof header.magic) == 0 &&
           header.version_major == PM_RUN_VERSION_PACKED;
}

/* A packed file as it was. *ret_bytes is to be freed. */
static enum pm_status unpack(const char *name, const struct run_source *packed,
                             struct pm_error *err, void **ret_bytes, struct run_source *ret_source)
{
    /* What was packed is larger, but for a few bytes of each that is not. */
    const uint64_t most = PM_RUN_MOST_PACKED + PM_RUN_MOST_PACKED / 64;
    void *bytes = packed->size_bytes <= most ? pm_alloc((size_t)packed->size_bytes) : NULL;
    size_t len = 0;
    enum pm_status status = PM_ERR_FORMAT;
    if (packed->size_bytes > most)
        pm_error_set(err, status, "packed run file '%s' is too large (%llu bytes)", name,
                     (unsigned long long)packed->size_bytes);
    else if (!bytes)
        status = pm_error_set(err, PM_ERR_MEMORY, "no memory for run file '%s'", name);
    else if (!run_read_at(packed, 0, bytes, (size_t)packed->size_bytes))
        status = pm_error_set(err, PM_ERR_SYSTEM, "run file '%s' cannot be read", name);
    else
        status = pm_run_unpack(name, bytes, (size_t)packed->size_bytes, err, ret_bytes, &len);
    free(bytes);
    if (status != PM_OK)
        return status;
    *ret_source = (struct run_source){-1, *ret_bytes, len};
    return PM_OK;
}

static enum pm_status load_file_of(struct pm_run_file *file, const struct run_source *source,
                                   struct pm_error *err)
{
    void *bytes = NULL;
    struct run_source unpacked;
    file->is_packed = is_packed(source);
    if (!file->is_packed)
        return load_file(file, source, err);
    enum pm_status status = unpack(file->name, source, err, &bytes, &unpacked);
    if (status != PM_OK)
        goto out;
    status = load_file(file, &unpacked, err);
out:
    free(bytes);
    return status;
}

static enum pm_status load_source(const char *name, const struct run_source *source,
                                  const struct pm_run_clock *clock, struct pm_error *err,
                                  struct pm_run_file **ret_file)
{
    struct pm_run_file *file = pm_alloc(sizeof *file);
    if (!file)
        return pm_error_set(err, PM_ERR_MEMORY, "no memory for run file '%s'", name);
    if (clock)
        file->clock = *clock;
    file->name = pm_strndup(name, strlen(name));
    enum pm_status status = PM_ERR_MEMORY;
    if (!file->name)
        pm_error_set(err, status, "no memory for run file '%s'", name);
    else
        status = load_file_of(file, source, err);
    if (status != PM_OK) {
        pm_run_file_free(file);
        return status;
    }
    *ret_file = file;
    return PM_OK;
}

enum pm_status pm_run_file_parse(const char *name, const void *bytes, size_t len,
                                 const struct pm_run_clock *clock, struct pm_error *err,
                                 struct pm_run_file **ret_file)
{
    struct run_source source = {-1, bytes, len};
    return load_source(name, &source, clock, err, ret_file);
}

enum pm_status pm_run_file_open(const char *path, const struct pm_run_clock *clock,
                                struct pm_error *err, struct pm_run_file **ret_file)
{
    struct run_source source = {-1, NULL, 0};
    enum pm_status status = pm_file_open(path, INT64_MAX, err, &source.fd, &source.size_bytes);
    if (status != PM_OK)
        return pm_error_add(err, "cannot read run file '%s'", path);
    status = load_source(path, &source, clock, err, ret_file);
    close(source.fd);
    return status;
}

bool pm_run_file_has_words(const char *path)
{
    struct run_source source = {-1, NULL, 0};
    struct run_chunks list = {0};
    struct pm_run_file *file = pm_alloc(sizeof *file);
    bool has_words = true; /* not known */
    if (file && (file->name = pm_strndup(path, strlen(path))) &&
        pm_file_open(path, INT64_MAX, NULL, &source.fd, &source.size_bytes) == PM_OK) {
        struct pm_run_packed packed = {0};
        if (is_packed(&source))
            has_words = !run_read_at(&source, PM_RUN_PAGE, &packed, sizeof packed) ||
                        packed.flags & PM_RUN_PACKED_WORDS;
        else
            has_words = walk_chunks(file, &source, &list, NULL) != PM_OK;
        for (size_t i = 0; i < list.n; i++)
            has_words |= list.chunks[i].kind == PM_RUN_CHUNK_WORDS;
        close(source.fd);
    }
    free(list.chunks);
    pm_run_file_free(file);
    return has_words;
}

void pm_run_file_free(struct pm_run_file *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->n_threads; i++) {
        free(file->loads[i].nodes);
        free(file->loads[i].raw);
        free(file->loads[i].places);
        free(file->loads[i].samples);
        free(file->loads[i].numbered);
        free(file->loads[i].times);
    }
    free(file->threads);
    free(file->loads);
    free(file->objects);
    free(file->ranges);
    free(file->indices);
    free(file->nouns);
    free(file->counts);
    free(file->adapted);
    free(file->heap_sites);
    free(file->meetings);
    free(file->counters);
    free(file->words);
    free(file->heap_numbers);
    free(file->heap_blocks);
    free(file->raw_adapted);
    free(file->pieces);
    free(file->trace_nouns);
    free(file->messages);
    pm_arena_release(&file->arena);
    free(file->name);
    free(file);
}

/* --- looking at it --- */

const struct pm_run_file_process *pm_run_file_process(const struct pm_run_file *file)
{
    return &file->process;
}

enum pm_run_mode pm_run_file_mode(const struct pm_run_file *file)
{
    return file->process.mode <= PM_RUN_MODE_TRACE ? (enum pm_run_mode)file->process.mode
                                                   : PM_RUN_MODE_OFF;
}

size_t pm_run_file_n_objects(const struct pm_run_file *file)
{
    return file->n_objects;
}

const struct pm_run_file_object *pm_run_file_object(const struct pm_run_file *file, size_t index)
{
    return &file->objects[index];
}

size_t pm_run_file_n_nouns(const struct pm_run_file *file)
{
    return file->n_nouns;
}

const struct pm_run_file_noun *pm_run_file_noun(const struct pm_run_file *file, size_t index)
{
    return &file->nouns[index];
}

size_t pm_run_file_n_threads(const struct pm_run_file *file)
{
    return file->n_threads;
}

const struct pm_run_file_thread *pm_run_file_thread(const struct pm_run_file *file, size_t index)
{
    return &file->threads[index];
}

size_t pm_run_file_n_counts(const struct pm_run_file *file)
{
    return file->n_counts;
}

const struct pm_run_file_counts *pm_run_file_counts(const struct pm_run_file *file, size_t index)
{
    return &file->counts[index];
}

const struct pm_run_file_sampling *pm_run_file_sampling(const struct pm_run_file *file)
{
    return file->has_sampling ? &file->sampling : NULL;
}

const struct pm_run_file_overhead *pm_run_file_overhead(const struct pm_run_file *file)
{
    return file->has_overhead ? &file->overhead : NULL;
}

size_t pm_run_file_n_adapted(const struct pm_run_file *file)
{
    return file->n_adapted;
}

const struct pm_run_file_adapted *pm_run_file_adapted(const struct pm_run_file *file, size_t index)
{
    return &file->adapted[index];
}

size_t pm_run_file_n_messages(const struct pm_run_file *file)
{
    return file->n_messages;
}

const struct pm_run_file_message *pm_run_file_message(const struct pm_run_file *file, size_t index)
{
    return &file->messages[index];
}

size_t pm_run_file_n_complaints(const struct pm_run_file *file)
{
    return file->n_complaints;
}

const char *pm_run_file_complaint(const struct pm_run_file *file, size_t index)
{
    return index < file->n_complaints && index < RUN_MAX_COMPLAINTS ? file->complaints[index]
                                                                    : NULL;
}
