/* Samples of a run file: to which object, context and caller each belongs. Every index is checked
 * here; what cannot be resolved keeps its time. */
#include "run_internal.h"

#include <stdlib.h>

/* --- which object has an address --- */

struct order_item {
    uint64_t low;
    uint32_t object;
};

struct place_key {
    const struct pm_run_file *file;
    uint64_t address;
};

static bool begins_at_or_before(const void *object, const void *key)
{
    const struct place_key *place = key;
    return place->file->objects[*(const uint32_t *)object].low <= place->address;
}

static int compare_items(const void *a, const void *b)
{
    const struct order_item *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

bool run_order_objects(const struct pm_run_file *file, struct run_object_order *ret_order)
{
    struct order_item *items = pm_alloc_array(file->n_objects, sizeof *items);
    *ret_order = (struct run_object_order){
        pm_alloc_array(file->n_objects, sizeof *ret_order->objects),
        pm_alloc_array(file->n_objects, sizeof *ret_order->max_high), file->n_objects};
    bool ok = items && ret_order->objects && ret_order->max_high;
    for (size_t i = 0; ok && i < file->n_objects; i++)
        items[i] = (struct order_item){file->objects[i].low, (uint32_t)i};
    if (ok)
        qsort(items, file->n_objects, sizeof *items, compare_items);
    uint64_t max = 0;
    for (size_t i = 0; ok && i < file->n_objects; i++) {
        uint64_t high = file->objects[items[i].object].high;
        max = high > max ? high : max;
        ret_order->objects[i] = items[i].object;
        ret_order->max_high[i] = max;
    }
    free(items);
    return ok;
}

void run_order_release(struct run_object_order *order)
{
    free(order->objects);
    free(order->max_high);
}

/* A sample's generation has 16 bits, and stays at the largest. */
static uint32_t short_generation(uint32_t generation)
{
    return generation < UINT16_MAX ? generation : UINT16_MAX;
}

static bool was_loaded(const struct pm_run_file_object *object, uint32_t generation)
{
    return short_generation(object->loaded_generation) <= generation &&
           (object->unloaded_generation == 0 ||
            generation <= short_generation(object->unloaded_generation));
}

enum { MAX_OBJECTS_AT_ONE_ADDRESS = 256 }; /* a hostile file may have them all there */

/* PM_RUN_FILE_NO_OBJECT: none. Where generations leave several, the one that was loaded last. */
static uint32_t object_at(const struct pm_run_file *file, const struct run_object_order *order,
                          uint64_t address, uint32_t generation)
{
    const struct place_key key = {file, address};
    size_t low = pm_lower_bound(order->objects, order->n, sizeof *order->objects, &key,
                                begins_at_or_before); /* the first that begins behind address */
    uint32_t best = PM_RUN_FILE_NO_OBJECT;
    for (size_t n = 0; low > 0 && n < MAX_OBJECTS_AT_ONE_ADDRESS; n++) {
        low--;
        if (order->max_high[low] <= address)
            break;
        uint32_t at = order->objects[low];
        const struct pm_run_file_object *object = &file->objects[at];
        if (address >= object->high || !was_loaded(object, generation))
            continue;
        if (best == PM_RUN_FILE_NO_OBJECT ||
            object->loaded_generation > file->objects[best].loaded_generation)
            best = at;
    }
    return best;
}

/* --- samples --- */

/* What went wrong in a chunk: one complaint for each sort. */
struct sample_damage {
    size_t n_kinds, n_nodes, n_times;
};

void run_take_place(const struct pm_run_file *file, const struct run_object_order *order,
                    uint64_t address, uint32_t generation, uint32_t *ret_object,
                    uint64_t *ret_address)
{
    *ret_object = PM_RUN_FILE_NO_OBJECT;
    *ret_address = address;
    if (address == 0)
        return;
    *ret_object = object_at(file, order, address, generation);
    if (*ret_object != PM_RUN_FILE_NO_OBJECT)
        *ret_address = address - file->objects[*ret_object].load_bias;
}

/* Without samples it was read in a context, or is PerfMap's own, which has a place. */
static uint32_t kind_of_counted(const struct pm_run_sample *raw)
{
    if (raw->flags & PM_RUN_SAMPLE_NOT_LOCATED)
        return PM_RUN_SAMPLE_LOST;
    if (raw->n_samples == 0 && raw->address == 0)
        return PM_RUN_FILE_SAMPLE_COUNTED;
    return raw->flags & PM_RUN_SAMPLE_IN_KERNEL ? PM_RUN_SAMPLE_KERNEL : PM_RUN_SAMPLE_USER;
}

static void take_sample(const struct pm_run_file *file, const struct run_thread_load *load,
                        const struct run_object_order *order, const struct pm_run_sample *raw,
                        struct sample_damage *damage, struct pm_run_file_sample *ret_sample)
{
    *ret_sample = (struct pm_run_file_sample){
        .kind = raw->kind,
        .caller_sure = raw->flags & PM_RUN_SAMPLE_CALLER_SURE,
        .is_beginning =
            raw->kind == PM_RUN_SAMPLE_PREEMPTED && raw->flags & PM_RUN_SAMPLE_BEGINNING,
        .probe_noun = PM_RUN_NOUN_ROOT,
        .n_samples = raw->n_samples,
        .time_ns = raw->time_ns,
    };
    uint32_t node = 0;
    if (raw->node != 0 && !run_find_node(load, (uint64_t)raw->node * 64, &node)) {
        damage->n_nodes++;
        node = 0;
    }
    ret_sample->node = node;
    if (ret_sample->time_ns > INT64_MAX || ret_sample->n_samples > INT64_MAX) {
        damage->n_times++;
        ret_sample->time_ns = ret_sample->n_samples = 0;
    }
    if (raw->kind >= PM_RUN_SAMPLE_COUNTER &&
        raw->kind < PM_RUN_SAMPLE_COUNTER + file->n_counters) {
        ret_sample->counter = 1u + raw->kind - PM_RUN_SAMPLE_COUNTER;
        ret_sample->kind = kind_of_counted(raw);
    } else if (raw->kind < PM_RUN_SAMPLE_USER || raw->kind > PM_RUN_SAMPLE_COST) {
        damage->n_kinds++;
        ret_sample->kind = PM_RUN_SAMPLE_LOST;
    }
    if (raw->kind == PM_RUN_SAMPLE_COST) {
        ret_sample->object = ret_sample->caller_object = PM_RUN_FILE_NO_OBJECT;
        ret_sample->address = raw->address; /* looked at with the words */
        return;
    }
    bool has_place = ret_sample->kind != PM_RUN_SAMPLE_LOST &&
                     ret_sample->kind != PM_RUN_SAMPLE_OFF_CPU &&
                     ret_sample->kind != PM_RUN_FILE_SAMPLE_COUNTED;
    run_take_place(file, order, has_place ? raw->address : 0, raw->generation, &ret_sample->object,
                   &ret_sample->address);
    bool is_probe = has_place && raw->flags & PM_RUN_SAMPLE_PROBE;
    if (is_probe && raw->caller != 0 && raw->caller - 1 < PM_RUN_NOUN_ROOT &&
        run_find_noun(file, (uint32_t)(raw->caller - 1), &ret_sample->probe_noun))
        ret_sample->probe_inner = raw->flags & PM_RUN_SAMPLE_PROBE_INNER;
    bool has_caller = has_place && !is_probe && raw->caller != 0;
    run_take_place(file, order, has_caller ? raw->caller - 1 : 0, raw->generation,
                   &ret_sample->caller_object, &ret_sample->caller);
}

static void complain_samples(struct pm_run_file *file, const struct run_chunk *chunk,
                             const struct sample_damage *damage)
{
    if (damage->n_kinds)
        run_complain(file, chunk->offset, "%zu samples of unknown kind count as lost ones",
                     damage->n_kinds);
    if (damage->n_nodes)
        run_complain(file, chunk->offset,
                     "%zu samples have a context that is not there; they count to the thread",
                     damage->n_nodes);
    if (damage->n_times)
        run_complain(file, chunk->offset, "%zu samples have impossible times, which are not used",
                     damage->n_times);
}

/* The newest item of a process that was killed, or whose machine was: it was being written,
 * which is no damage. Its time is kept when it has a kind. */
static bool may_be_torn(const struct pm_run_file *file, uint64_t at, uint64_t n)
{
    return !(file->header.flags & PM_RUN_FLAG_ENDED) && at + 1 == n;
}

/* Room for n more samples of the thread. */
static struct pm_run_file_sample *more_samples(struct pm_run_file_thread *thread,
                                               struct run_thread_load *load, uint64_t n)
{
    size_t needed = thread->n_samples + (size_t)n, cap = load->samples_cap;
    if (needed > cap) {
        cap = needed + needed / 2;
        struct pm_run_file_sample *more = pm_realloc_array(load->samples, cap, sizeof *more);
        if (!more)
            return NULL;
        load->samples = more;
        load->samples_cap = cap;
        thread->samples = more;
    }
    return load->samples + thread->n_samples;
}

/* Before they are counted in thread->n_samples. False: memory ended. */
static bool note_numbers(const struct pm_run_file_thread *thread, struct run_thread_load *load,
                         uint64_t first_number, uint64_t n)
{
    if (load->n_numbered == load->cap_numbered) {
        size_t cap = load->cap_numbered ? 2 * load->cap_numbered : 8;
        struct run_numbered *more = pm_realloc_array(load->numbered, cap, sizeof *more);
        if (!more)
            return false;
        load->numbered = more;
        load->cap_numbered = cap;
    }
    load->numbered[load->n_numbered++] =
        (struct run_numbered){first_number, thread->n_samples, (size_t)n};
    return true;
}

static enum pm_status load_samples(struct pm_run_file *file, const struct run_source *source,
                                   const struct run_object_order *order,
                                   const struct run_chunk *chunk, struct pm_error *err)
{
    uint32_t index;
    if (!run_find_thread(file, chunk->owner, &index)) {
        run_complain(file, chunk->offset, "samples of a thread that is not in the file");
        return PM_OK;
    }
    struct run_thread_load *load = &file->loads[index];
    struct pm_run_file_thread *thread = &file->threads[index];
    struct pm_run_chunk header = {0};
    struct run_chunk part = *chunk;
    bool has_header = run_read_at(source, chunk->offset, &header, sizeof header);
    if (has_header && header.times_offset != 0 && header.times_offset < part.size_bytes)
        part.size_bytes = header.times_offset;
    uint64_t n =
        run_fit_items(file, &part, PM_RUN_SAMPLES_DATA, sizeof(struct pm_run_sample), "samples");
    if (n == 0)
        return PM_OK;
    struct pm_run_sample *raw = pm_alloc_array(n, sizeof *raw);
    struct pm_run_file_sample *samples = raw ? more_samples(thread, load, n) : NULL;
    if (!samples) {
        free(raw);
        return run_no_memory(file, err);
    }
    if (!run_read_at(source, chunk->offset + PM_RUN_SAMPLES_DATA, raw, n * sizeof *raw)) {
        run_complain(file, chunk->offset, "%llu samples cannot be read", (unsigned long long)n);
        n = 0;
    }
    if (has_header && header.first_number_plus_1 &&
        !note_numbers(thread, load, header.first_number_plus_1 - 1, n)) {
        free(raw);
        return run_no_memory(file, err);
    }
    struct sample_damage damage = {0}, torn = {0};
    for (uint64_t i = 0; i < n; i++)
        take_sample(file, load, order, &raw[i], may_be_torn(file, i, n) ? &torn : &damage,
                    &samples[i]);
    if (torn.n_kinds)
        n--;
    thread->n_samples += n;
    free(raw);
    complain_samples(file, chunk, &damage);
    return PM_OK;
}

/* --- how they were taken, which nouns changed their mode --- */

static void load_sampling(struct pm_run_file *file, const struct run_source *source,
                          const struct run_chunk *chunk)
{
    struct pm_run_sampling raw;
    if (chunk->size_bytes < sizeof raw || !run_read_at(source, chunk->offset, &raw, sizeof raw)) {
        run_complain(file, chunk->offset, "sampling chunk is cut");
        return;
    }
    if (file->has_sampling) {
        run_complain(file, chunk->offset, "a second sampling chunk");
        return;
    }
    file->has_sampling = true;
    file->sampling = (struct pm_run_file_sampling){
        .source = raw.source,
        .is_wall = raw.clock != 0,
        .has_kernel = raw.has_kernel != 0,
        .has_switches = raw.has_switches != 0,
        .period_ns = raw.period_ns,
        .n_samples = raw.n_samples,
        .n_lost = raw.n_lost,
        .n_threads = raw.n_threads,
        .n_threads_failed = raw.n_threads_failed,
        .n_switches = raw.n_switches,
        .error_no = raw.error_no,
        .active_pair_ps = raw.active_pair_ps,
        .start_cpu_ns = raw.start_cpu_ns < INT64_MAX ? raw.start_cpu_ns : 0,
    };
}

static uint64_t at_most_i64(uint64_t number)
{
    return number < INT64_MAX ? number : INT64_MAX;
}

static void load_overhead(struct pm_run_file *file, const struct run_source *source,
                          const struct run_chunk *chunk)
{
    struct pm_run_overhead raw;
    if (chunk->size_bytes < sizeof raw || !run_read_at(source, chunk->offset, &raw, sizeof raw)) {
        run_complain(file, chunk->offset, "overhead chunk is cut");
        return;
    }
    if (file->has_overhead) {
        run_complain(file, chunk->offset, "a second overhead chunk");
        return;
    }
    file->has_overhead = true;
    file->overhead = (struct pm_run_file_overhead){
        .budget_ppm = at_most_i64(raw.budget_ppm),
        .count_pair_ps = at_most_i64(raw.count_pair_ps),
        .active_pair_ps = at_most_i64(raw.active_pair_ps),
        .exact_pair_ps = at_most_i64(raw.exact_pair_ps),
        .exact_inner_ps = at_most_i64(raw.exact_inner_ps),
        .cpu_ns = at_most_i64(raw.cpu_ns),
        .events_ns = at_most_i64(raw.events_ns),
        .samples_ns = at_most_i64(raw.samples_ns),
        .looks_ns = at_most_i64(raw.looks_ns),
        .sample_ns = at_most_i64(raw.sample_ns),
        .fixed_ns = at_most_i64(raw.fixed_ns),
        .starts_ns = at_most_i64(raw.starts_ns),
    };
}

/* A mode that is not known is taken as off: nothing is known of the noun then. */
static struct pm_run_file_adapted take_adapted(const struct pm_run_file *file,
                                               const struct pm_run_adapted *raw, uint32_t noun)
{
    bool has_before = raw->mode_before != 0 && raw->mode_before <= 1 + PM_RUN_MODE_TRACE;
    struct pm_run_file_adapted adapted = {
        .noun = noun,
        .mode = PM_RUN_MODE_OFF,
        .mode_before = file->nouns[noun].mode,
        .is_asked = raw->reason == PM_RUN_ADAPTED_ASKED,
        .n_events = raw->n_events,
    };
    if (raw->mode <= PM_RUN_MODE_TRACE)
        adapted.mode = (enum pm_run_mode)raw->mode;
    if (has_before)
        adapted.mode_before = (enum pm_run_mode)(raw->mode_before - 1);
    return adapted;
}

static enum pm_status load_adapted(struct pm_run_file *file, const struct run_source *source,
                                   const struct run_chunk *chunk, struct pm_error *err)
{
    struct pm_run_adapted raw;
    uint64_t n = run_fit_items(file, chunk, sizeof(struct pm_run_chunk), sizeof raw, "nouns");
    size_t n_before = file->n_adapted, n_unknown = 0, n_bad_modes = 0;
    struct pm_run_file_adapted *adapted =
        pm_realloc_array(file->adapted, n_before + n, sizeof *adapted);
    if (adapted)
        file->adapted = adapted;
    struct run_raw_adapted *times =
        pm_realloc_array(file->raw_adapted, n_before + n, sizeof *times);
    if (times)
        file->raw_adapted = times;
    if (!adapted || !times)
        return run_no_memory(file, err);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t noun;
        if (!run_read_at(source, chunk->offset + sizeof(struct pm_run_chunk) + i * sizeof raw, &raw,
                         sizeof raw) ||
            !run_find_noun(file, raw.noun, &noun)) {
            n_unknown++;
            continue;
        }
        run_note_tsc(file, raw.disarmed_tsc);
        run_note_tsc(file, raw.armed_tsc);
        times[file->n_adapted] = (struct run_raw_adapted){raw.disarmed_tsc, raw.armed_tsc};
        n_bad_modes += raw.mode > PM_RUN_MODE_TRACE || raw.mode_before > 1 + PM_RUN_MODE_TRACE;
        adapted[file->n_adapted++] = take_adapted(file, &raw, noun);
    }
    if (n_bad_modes)
        run_complain(file, chunk->offset, "%zu nouns were put to a mode that is not known",
                     n_bad_modes);
    if (n_unknown)
        run_complain(file, chunk->offset, "%zu disarmed nouns are of no object", n_unknown);
    return PM_OK;
}

uint64_t run_since_start(const struct pm_run_file *file, uint64_t tsc)
{
    uint64_t start = file->process.start_tsc;
    uint64_t ns = tsc > start ? pm_run_file_to_ns(file, tsc - start) : 0;
    return ns < file->process.end_ns ? ns : file->process.end_ns;
}

void run_make_adapted_times(struct pm_run_file *file)
{
    for (size_t i = 0; i < file->n_adapted; i++) {
        const struct run_raw_adapted *raw = &file->raw_adapted[i];
        struct pm_run_file_adapted *adapted = &file->adapted[i];
        adapted->disarmed_ns = run_since_start(file, raw->disarmed_tsc);
        adapted->is_armed_again = raw->armed_tsc != 0;
        adapted->armed_ns = adapted->is_armed_again ? run_since_start(file, raw->armed_tsc) : 0;
    }
}

enum pm_status run_load_samples(struct pm_run_file *file, const struct run_source *source,
                                const struct run_chunks *list, struct pm_error *err)
{
    struct run_object_order order = {0};
    enum pm_status status = PM_OK;
    if (run_count_kind(list, PM_RUN_CHUNK_SAMPLES) && !run_order_objects(file, &order)) {
        status = run_no_memory(file, err);
        goto out;
    }
    for (size_t i = 0; i < list->n; i++) {
        const struct run_chunk *chunk = &list->chunks[i];
        if (chunk->kind == PM_RUN_CHUNK_SAMPLES)
            status = load_samples(file, source, &order, chunk, err);
        else if (chunk->kind == PM_RUN_CHUNK_SAMPLING)
            load_sampling(file, source, chunk);
        else if (chunk->kind == PM_RUN_CHUNK_OVERHEAD)
            load_overhead(file, source, chunk);
        else if (chunk->kind == PM_RUN_CHUNK_ADAPTED)
            status = load_adapted(file, source, chunk, err);
        if (status != PM_OK)
            goto out;
    }
out:
    run_order_release(&order);
    return status;
}
