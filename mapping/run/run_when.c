/* When samples were taken: chunks TIMES of a run file. Of those of a thread the newest that is
 * finished counts. What does not fit is left out: those samples have no time. */
#include "run_internal.h"

#include <stdlib.h>

enum { NUMBER_MASK = (1 << PM_RUN_TIMES_NUMBER_BITS) - 1, MOST_SHIFT = 62 };

struct when_damage {
    size_t n_numbers, n_buckets, n_values;
};

/* --- which chunk --- */

/* Where a chunk has times; serial 0: it has none. */
static uint32_t find_times(struct pm_run_file *file, const struct run_source *source,
                           const struct run_chunk *chunk, struct run_chunk *ret_part)
{
    struct pm_run_times raw;
    struct pm_run_chunk header;
    *ret_part = *chunk;
    if (chunk->kind != PM_RUN_CHUNK_TIMES && chunk->kind != PM_RUN_CHUNK_SAMPLES)
        return 0;
    if (chunk->kind == PM_RUN_CHUNK_SAMPLES) {
        if (!run_read_at(source, chunk->offset, &header, sizeof header) ||
            header.times_offset == 0 || header.times_offset >= chunk->size_bytes)
            return 0;
        ret_part->offset += header.times_offset;
        ret_part->size_bytes -= header.times_offset;
    }
    if (ret_part->size_bytes < sizeof raw ||
        !run_read_at(source, ret_part->offset, &raw, sizeof raw)) {
        run_complain(file, chunk->offset, "times of samples are cut");
        return 0;
    }
    ret_part->n_items = raw.chunk.n_items;
    return raw.serial;
}

static void choose_chunks(struct pm_run_file *file, const struct run_source *source,
                          const struct run_chunks *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct run_chunk *chunk = &list->chunks[i];
        struct run_chunk part;
        uint32_t thread, serial = find_times(file, source, chunk, &part);
        if (serial == 0)
            continue;
        if (!run_find_thread(file, chunk->owner, &thread)) {
            run_complain(file, chunk->offset, "times of a thread that is not in the file");
            continue;
        }
        struct run_thread_load *load = &file->loads[thread];
        if (serial <= load->when_serial)
            continue;
        load->when_serial = serial;
        load->when = part;
    }
}

/* --- entries --- */

static bool begins_at_or_before(const void *item, const void *number)
{
    return ((const struct run_numbered *)item)->first_number <= *(const uint64_t *)number;
}

static int compare_numbered(const void *a, const void *b)
{
    const struct run_numbered *x = a, *y = b;
    if (x->first_number != y->first_number)
        return x->first_number < y->first_number ? -1 : 1;
    return x->first_sample < y->first_sample ? -1 : x->first_sample > y->first_sample;
}

static bool find_sample(const struct run_thread_load *load, uint64_t number, uint32_t *ret_sample)
{
    size_t at = pm_lower_bound(load->numbered, load->n_numbered, sizeof *load->numbered, &number,
                               begins_at_or_before);
    if (at == 0)
        return false;
    const struct run_numbered *of = &load->numbered[at - 1];
    uint64_t offset = number - of->first_number;
    *ret_sample = (uint32_t)(of->first_sample + offset);
    return offset < of->n;
}

static bool take_entry(const struct pm_run_file_thread *thread, const struct run_thread_load *load,
                       const struct pm_run_time *raw, struct when_damage *damage,
                       struct pm_run_file_time *ret)
{
    uint32_t first = raw->place >> PM_RUN_TIMES_NUMBER_BITS;
    *ret = (struct pm_run_file_time){.first = (uint16_t)first,
                                     .n_more = raw->n_more,
                                     .n_samples = raw->n_samples,
                                     .value = raw->value};
    bool has_sample = find_sample(load, raw->place & NUMBER_MASK, &ret->sample) &&
                      ret->sample < thread->n_samples;
    bool has_buckets = first + raw->n_more < PM_RUN_TIMES_BUCKETS;
    damage->n_numbers += !has_sample;
    damage->n_buckets += has_sample && !has_buckets;
    return has_sample && has_buckets;
}

static int compare_times(const void *a, const void *b)
{
    const struct pm_run_file_time *x = a, *y = b;
    if (x->sample != y->sample)
        return x->sample < y->sample ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (int)x->n_more - (int)y->n_more;
}

/* A sample grows before its times do, so they are never more. */
static void limit_values(struct pm_run_file_thread *thread, struct pm_run_file_time *times,
                         struct when_damage *damage)
{
    uint64_t left_ns = 0, left_samples = 0;
    for (size_t i = 0; i < thread->n_times; i++) {
        struct pm_run_file_time *time = &times[i];
        if (i == 0 || time->sample != times[i - 1].sample) {
            left_ns = thread->samples[time->sample].time_ns;
            left_samples = thread->samples[time->sample].n_samples;
        }
        damage->n_values += time->value > left_ns || time->n_samples > left_samples;
        time->value = time->value < left_ns ? time->value : left_ns;
        if (time->n_samples > left_samples)
            time->n_samples = (uint32_t)left_samples;
        left_ns -= time->value;
        left_samples -= time->n_samples;
    }
}

static void complain(struct pm_run_file *file, const struct run_chunk *chunk,
                     const struct when_damage *damage)
{
    if (damage->n_numbers)
        run_complain(file, chunk->offset, "%zu times are of samples that are not there",
                     damage->n_numbers);
    if (damage->n_buckets)
        run_complain(file, chunk->offset, "%zu times of samples are impossible, and not used",
                     damage->n_buckets);
    if (damage->n_values)
        run_complain(file, chunk->offset, "%zu times are of more than their samples have",
                     damage->n_values);
}

static bool is_good(const struct pm_run_times *raw)
{
    return raw->shift <= MOST_SHIFT && raw->first >> (63 - raw->shift) == 0;
}

static enum pm_status load_thread(struct pm_run_file *file, const struct run_source *source,
                                  size_t index, struct pm_error *err)
{
    struct run_thread_load *load = &file->loads[index];
    const struct run_chunk *chunk = &load->when;
    struct pm_run_file_thread *thread = &file->threads[index];
    struct when_damage damage = {0};
    struct pm_run_times header;
    uint64_t n = run_fit_items(file, chunk, PM_RUN_TIMES_DATA, sizeof(struct pm_run_time),
                               "times of samples");
    if (!run_read_at(source, chunk->offset, &header, sizeof header) || !is_good(&header)) {
        run_complain(file, chunk->offset, "times of samples have an impossible clock");
        return PM_OK;
    }
    struct pm_run_time *raw = pm_alloc_array(n + 1, sizeof *raw);
    load->times = pm_alloc_array(n + 1, sizeof *load->times);
    if (!raw || !load->times) {
        free(raw);
        return run_no_memory(file, err);
    }
    if (!run_read_at(source, chunk->offset + PM_RUN_TIMES_DATA, raw, n * sizeof *raw)) {
        run_complain(file, chunk->offset, "times of samples cannot be read");
        n = 0;
    }
    if (load->n_numbered)
        qsort(load->numbered, load->n_numbered, sizeof *load->numbered, compare_numbered);
    for (uint64_t i = 0; i < n; i++)
        thread->n_times +=
            take_entry(thread, load, &raw[i], &damage, &load->times[thread->n_times]);
    free(raw);
    if (thread->n_times)
        qsort(load->times, thread->n_times, sizeof *load->times, compare_times);
    limit_values(thread, load->times, &damage);
    thread->times = load->times;
    thread->bucket_ns = (uint64_t)1 << header.shift;
    thread->bucket_start_ns = header.first << header.shift;
    complain(file, chunk, &damage);
    return PM_OK;
}

enum pm_status run_load_when(struct pm_run_file *file, const struct run_source *source,
                             const struct run_chunks *list, struct pm_error *err)
{
    enum pm_status status = PM_OK;
    choose_chunks(file, source, list);
    for (size_t i = 0; i < file->n_threads && status == PM_OK; i++)
        if (file->loads[i].when_serial)
            status = load_thread(file, source, i, err);
    return status;
}
