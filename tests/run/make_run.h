/* Makes run files for tests, as the runtime would leave them.
 *
 *     struct make_run run;
 *     make_run_init(&run, 100);                         // one tick is one nanosecond, start at
 * 1000 make_run_object(&run, "/bin/heat", "\1\2", 2, ids, n_ids); make_run_thread(&run, 100, 1000,
 * 0, 64); uint64_t root = make_run_node(&run, 0, PM_RUN_NOUN_ROOT, 1, 1000, 0, 0);
 *     make_run_write(&run, "x.run/100.0.pmr");
 *     make_run_release(&run);
 *
 * Offsets stay valid while the file grows; pointers do not.
 */
#ifndef MAKE_RUN_H
#define MAKE_RUN_H

#include "format/pm_run.h"
#include "format/pm_sled.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct make_run {
    unsigned char *data;
    size_t len, cap;
    uint32_t n_objects, n_nouns;
    /* where the next node of the thread goes that was added to last */
    uint64_t thread, chunk, next, end;
};

static inline void *make_run_at(struct make_run *run, uint64_t offset)
{
    return run->data + offset;
}

static inline struct pm_run_header *make_run_header(struct make_run *run)
{
    return make_run_at(run, 0);
}

/* Zeroed space at the end, a whole number of pages. */
static inline uint64_t make_run_space(struct make_run *run, size_t len)
{
    len = (len + PM_RUN_PAGE - 1) / PM_RUN_PAGE * PM_RUN_PAGE;
    if (run->len + len > run->cap) {
        run->cap = (run->len + len) * 2;
        run->data = realloc(run->data, run->cap);
        if (!run->data)
            abort();
    }
    memset(run->data + run->len, 0, len);
    run->len += len;
    make_run_header(run)->used_bytes = run->len;
    return run->len - len;
}

static inline uint64_t make_run_chunk(struct make_run *run, uint32_t kind, size_t len,
                                      uint64_t owner)
{
    uint64_t offset = make_run_space(run, len);
    struct pm_run_chunk *chunk = make_run_at(run, offset);
    chunk->magic = PM_RUN_CHUNK_MAGIC;
    chunk->kind = kind;
    chunk->size_bytes = run->len - offset;
    chunk->owner = owner;
    return offset;
}

static inline void make_run_text(struct make_run *run, const char *exe, const char *cwd,
                                 const char *argv, size_t argv_len)
{
    struct pm_run_header *header = make_run_header(run);
    header->exe_bytes = (uint32_t)strlen(exe);
    header->cwd_bytes = (uint32_t)strlen(cwd);
    header->argv_bytes = (uint32_t)argv_len;
    memcpy(header->text, exe, header->exe_bytes);
    memcpy(header->text + header->exe_bytes, cwd, header->cwd_bytes);
    memcpy(header->text + header->exe_bytes + header->cwd_bytes, argv, argv_len);
}

static inline void make_run_init(struct make_run *run, uint32_t pid)
{
    memset(run, 0, sizeof *run);
    make_run_space(run, PM_RUN_PAGE);
    struct pm_run_header *header = make_run_header(run);
    memcpy(header->magic, PM_RUN_MAGIC, sizeof header->magic);
    header->version_major = PM_RUN_VERSION_MAJOR;
    header->version_minor = PM_RUN_VERSION_MINOR;
    header->header_bytes = sizeof *header;
    header->mode = PM_RUN_MODE_EXACT;
    header->pid = pid;
    header->parent_pid = 1;
    header->start_tsc = 1000;
    header->start_monotonic_ns = 500000;
    header->start_realtime_ns = 1700000000000000000;
    header->tsc_hz = 1000000000;
    make_run_text(run, "/bin/heat", "/tmp",
                  "heat\0-n\0"
                  "5",
                  10);
}

/* Where it ran, and for which job. */
static inline void make_run_place(struct make_run *run, const char *node, const char *job)
{
    struct pm_run_header *header = make_run_header(run);
    memcpy(header->node, node, strlen(node));
    memcpy(header->job, job, strlen(job));
}

/* As a runtime of that minor version writes it. */
static inline void make_run_version(struct make_run *run, uint16_t minor)
{
    struct pm_run_header *header = make_run_header(run);
    header->version_minor = minor;
    header->header_bytes =
        minor < 3 ? (uint32_t)offsetof(struct pm_run_header, node) : (uint32_t)sizeof *header;
}

static inline void make_run_end(struct make_run *run, uint64_t end_tsc)
{
    struct pm_run_header *header = make_run_header(run);
    header->flags |= PM_RUN_FLAG_ENDED;
    header->end_tsc = end_tsc;
    header->end_monotonic_ns = header->start_monotonic_ns + (end_tsc - header->start_tsc);
    header->end_user_cpu_ns = 7;
    header->end_system_cpu_ns = 3;
    header->end_max_rss_bytes = 4096;
}

static inline uint64_t make_run_object(struct make_run *run, const char *path, const void *build_id,
                                       uint32_t build_id_bytes, const struct pm_run_noun *nouns,
                                       uint32_t n_nouns)
{
    size_t path_bytes = strlen(path);
    size_t strings = sizeof(struct pm_run_object);
    size_t first = (strings + path_bytes + build_id_bytes + 15) / 16 * 16;
    uint64_t offset = make_run_chunk(run, PM_RUN_CHUNK_OBJECT, first + n_nouns * sizeof *nouns, 0);
    struct pm_run_object *object = make_run_at(run, offset);
    object->chunk.n_items = n_nouns;
    object->index = run->n_objects++;
    object->first_noun = run->n_nouns;
    object->load_bias = 0x400000;
    object->n_sleds = n_nouns * 2;
    object->strings_offset = (uint32_t)strings;
    object->path_bytes = (uint32_t)path_bytes;
    object->build_id_bytes = build_id_bytes;
    object->nouns_offset = (uint32_t)first;
    memcpy((char *)object + strings, path, path_bytes);
    if (build_id_bytes)
        memcpy((char *)object + strings + path_bytes, build_id, build_id_bytes);
    if (n_nouns)
        memcpy((char *)object + first, nouns, n_nouns * sizeof *nouns);
    run->n_nouns += n_nouns;
    return offset;
}

static inline uint64_t make_run_thread(struct make_run *run, uint32_t tid, uint64_t start_tsc,
                                       uint64_t end_tsc, size_t n_nodes)
{
    uint64_t offset = make_run_chunk(run, PM_RUN_CHUNK_THREAD,
                                     PM_RUN_THREAD_NODES + n_nodes * sizeof(struct pm_run_node), 0);
    struct pm_run_thread *thread = make_run_at(run, offset);
    thread->tid = tid;
    thread->n_threads = 1;
    thread->start_tsc = start_tsc;
    thread->end_tsc = end_tsc;
    memcpy(thread->name, "worker", 6);
    run->thread = run->chunk = offset;
    run->next = offset + PM_RUN_THREAD_NODES;
    run->end = run->len;
    return offset;
}

/* A node of the thread added last; a full chunk is followed by a NODES chunk. Returns its offset.
 */
static inline uint64_t make_run_node(struct make_run *run, uint64_t parent, uint32_t noun,
                                     uint64_t sp, uint64_t start_tsc, uint64_t n_calls,
                                     uint64_t inclusive_tsc)
{
    if (run->next + sizeof(struct pm_run_node) > run->end) {
        run->chunk = make_run_chunk(run, PM_RUN_CHUNK_NODES, 16 * PM_RUN_PAGE, run->thread);
        run->next = run->chunk + PM_RUN_NODES_DATA;
        run->end = run->len;
    }
    uint64_t offset = run->next;
    run->next += sizeof(struct pm_run_node);
    struct pm_run_node *node = make_run_at(run, offset);
    node->noun = noun;
    node->parent = (uint32_t)(parent / 64);
    node->sp = sp;
    node->start_tsc = start_tsc;
    node->n_calls = n_calls;
    node->inclusive_tsc = inclusive_tsc;
    node->kind = noun == PM_RUN_NOUN_ROOT ? 0 : PM_SLED_ENTRY;
    if (noun != PM_RUN_NOUN_ROOT && make_run_header(run)->mode == PM_RUN_MODE_EXACT &&
        make_run_header(run)->version_minor >= 2)
        node->flags = PM_RUN_NODE_TIMED;
    ((struct pm_run_chunk *)make_run_at(run, run->chunk))->n_items++;
    return offset;
}

static inline struct pm_run_node *make_run_node_at(struct make_run *run, uint64_t offset)
{
    return make_run_at(run, offset);
}

static inline uint64_t make_run_counts(struct make_run *run, uint64_t thread, uint32_t object,
                                       const uint64_t *counts, size_t n)
{
    uint64_t offset =
        make_run_chunk(run, PM_RUN_CHUNK_COUNTS, PM_RUN_COUNTS_DATA + n * sizeof *counts, thread);
    struct pm_run_counts *chunk = make_run_at(run, offset);
    chunk->chunk.n_items = n;
    chunk->object = object;
    memcpy((char *)chunk + PM_RUN_COUNTS_DATA, counts, n * sizeof *counts);
    return offset;
}

static inline uint64_t make_run_message(struct make_run *run, uint32_t code, uint64_t tsc,
                                        const char *text)
{
    uint64_t offset =
        make_run_chunk(run, PM_RUN_CHUNK_MESSAGE, sizeof(struct pm_run_message) + strlen(text), 0);
    struct pm_run_message *message = make_run_at(run, offset);
    message->code = code;
    message->tsc = tsc;
    message->text_bytes = (uint32_t)strlen(text);
    memcpy(message->text, text, strlen(text));
    return offset;
}

static inline uint64_t make_run_samples(struct make_run *run, uint64_t thread,
                                        const struct pm_run_sample *samples, size_t n)
{
    uint64_t offset = make_run_chunk(run, PM_RUN_CHUNK_SAMPLES,
                                     PM_RUN_SAMPLES_DATA + n * sizeof *samples, thread);
    ((struct pm_run_chunk *)make_run_at(run, offset))->n_items = n;
    if (n)
        memcpy(make_run_at(run, offset + PM_RUN_SAMPLES_DATA), samples, n * sizeof *samples);
    return offset;
}

/* The samples of the chunk before, the thread's only one, by number. */
static inline void make_run_times(struct make_run *run, uint64_t thread, uint64_t samples,
                                  const struct pm_run_times *header,
                                  const struct pm_run_time *times, size_t n)
{
    ((struct pm_run_chunk *)make_run_at(run, samples))->first_number_plus_1 = 1;
    uint64_t offset =
        make_run_chunk(run, PM_RUN_CHUNK_TIMES, PM_RUN_TIMES_DATA + n * sizeof *times, thread);
    struct pm_run_times *chunk = make_run_at(run, offset);
    chunk->chunk.n_items = n;
    chunk->first = header->first;
    chunk->shift = header->shift;
    chunk->serial = header->serial;
    memcpy(make_run_at(run, offset + PM_RUN_TIMES_DATA), times, n * sizeof *times);
}

/* values: all but its chunk header. */
static inline uint64_t make_run_sampling(struct make_run *run, const struct pm_run_sampling *values)
{
    uint64_t offset = make_run_chunk(run, PM_RUN_CHUNK_SAMPLING, sizeof *values, 0);
    struct pm_run_sampling *sampling = make_run_at(run, offset);
    struct pm_run_chunk chunk = sampling->chunk;
    *sampling = *values;
    sampling->chunk = chunk;
    return offset;
}

/* values: all but its chunk header. */
static inline uint64_t make_run_overhead(struct make_run *run, const struct pm_run_overhead *values)
{
    uint64_t offset = make_run_chunk(run, PM_RUN_CHUNK_OVERHEAD, sizeof *values, 0);
    struct pm_run_overhead *overhead = make_run_at(run, offset);
    struct pm_run_chunk chunk = overhead->chunk;
    *overhead = *values;
    overhead->chunk = chunk;
    return offset;
}

static inline void make_run_adapted(struct make_run *run, const struct pm_run_adapted *adapted,
                                    size_t n)
{
    uint64_t offset = make_run_chunk(run, PM_RUN_CHUNK_ADAPTED,
                                     sizeof(struct pm_run_chunk) + n * sizeof *adapted, 0);
    ((struct pm_run_chunk *)make_run_at(run, offset))->n_items = n;
    memcpy(make_run_at(run, offset + sizeof(struct pm_run_chunk)), adapted, n * sizeof *adapted);
}

static inline void make_run_items(struct make_run *run, uint32_t kind, const void *items,
                                  size_t item_bytes, size_t n)
{
    uint64_t offset = make_run_chunk(run, kind, PM_RUN_HEAP_DATA + n * item_bytes, 0);
    ((struct pm_run_chunk *)make_run_at(run, offset))->n_items = n;
    if (n)
        memcpy(make_run_at(run, offset + PM_RUN_HEAP_DATA), items, n * item_bytes);
}

static inline void make_run_heap(struct make_run *run, const struct pm_run_heap_site *sites,
                                 size_t n_sites, const struct pm_run_heap_block *blocks,
                                 size_t n_blocks)
{
    make_run_items(run, PM_RUN_CHUNK_HEAP_SITES, sites, sizeof *sites, n_sites);
    make_run_items(run, PM_RUN_CHUNK_HEAP_BLOCKS, blocks, sizeof *blocks, n_blocks);
}

/* Where an object lies, from generation to generation (0: still there). */
static inline void make_run_loaded(struct make_run *run, uint64_t object, uint64_t load_bias,
                                   uint64_t size_bytes, uint32_t from, uint32_t to)
{
    struct pm_run_object *chunk = make_run_at(run, object);
    chunk->load_bias = chunk->low = load_bias;
    chunk->high = load_bias + size_bytes;
    chunk->loaded_generation = from;
    chunk->unloaded_generation = to;
}

static inline bool make_run_write(const struct make_run *run, const char *path)
{
    FILE *out = fopen(path, "wb");
    if (!out)
        return false;
    bool ok = fwrite(run->data, 1, run->len, out) == run->len;
    return fclose(out) == 0 && ok;
}

static inline void make_run_release(struct make_run *run)
{
    free(run->data);
    memset(run, 0, sizeof *run);
}

#endif
