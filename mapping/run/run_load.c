/* What the chunks of a run file hold: objects with their nouns, threads with their contexts,
 * counters, messages. Every index and length is checked here. */
#include "run_internal.h"

#include <stdlib.h>

/* A checked part of a chunk in the arena; NULL: it lies outside, or memory ended (*ret_memory). */
static const char *chunk_bytes(struct pm_run_file *file, const struct run_source *source,
                               const struct run_chunk *chunk, uint64_t offset, uint64_t len,
                               bool *ret_memory)
{
    if (offset > chunk->size_bytes || len > chunk->size_bytes - offset)
        return NULL;
    char *bytes = pm_arena_alloc(&file->arena, len + 1);
    if (!bytes) {
        *ret_memory = true;
        return NULL;
    }
    return run_read_at(source, chunk->offset + offset, bytes, len) ? bytes : NULL;
}

uint64_t run_fit_items(struct pm_run_file *file, const struct run_chunk *chunk, uint64_t start,
                       size_t item_bytes, const char *what)
{
    uint64_t room = chunk->size_bytes > start ? (chunk->size_bytes - start) / item_bytes : 0;
    if (chunk->n_items <= room)
        return chunk->n_items;
    run_complain(file, chunk->offset, "%llu %s, %llu fit in the chunk",
                 (unsigned long long)chunk->n_items, what, (unsigned long long)room);
    return room;
}

size_t run_count_kind(const struct run_chunks *list, uint32_t kind)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += list->chunks[i].kind == kind;
    return n;
}

void run_note_tsc(struct pm_run_file *file, uint64_t tsc)
{
    if (tsc > file->last_tsc)
        file->last_tsc = tsc;
}

/* --- objects and nouns --- */

/* own: 1 + a mode, or 0. */
static enum pm_run_mode own_mode(const struct pm_run_file *file, uint8_t own, size_t *n_bad)
{
    if (own == 0 || own - 1 > PM_RUN_MODE_TRACE) {
        *n_bad += own != 0;
        return pm_run_file_mode(file);
    }
    return (enum pm_run_mode)(own - 1);
}

static enum pm_status load_nouns(struct pm_run_file *file, const struct run_source *source,
                                 const struct run_chunk *chunk, uint32_t nouns_offset,
                                 struct pm_run_file_object *object, struct pm_error *err)
{
    size_t n = object->n_nouns, n_before = file->n_nouns, n_bad_modes = 0;
    object->first_noun = (uint32_t)n_before;
    if (n == 0)
        return PM_OK;
    struct pm_run_file_noun *nouns = pm_realloc_array(file->nouns, n_before + n, sizeof *nouns);
    if (!nouns)
        return run_no_memory(file, err);
    file->nouns = nouns;
    struct pm_run_noun *raw = pm_alloc_array(n, sizeof *raw);
    if (!raw)
        return run_no_memory(file, err);
    if (!run_read_at(source, chunk->offset + nouns_offset, raw, n * sizeof *raw)) {
        run_complain(file, chunk->offset, "%zu nouns cannot be read", n);
        object->n_nouns = 0;
        n = 0;
    }
    for (size_t i = 0; i < n; i++)
        nouns[n_before + i] = (struct pm_run_file_noun){
            .id = raw[i].id,
            .object = (uint32_t)file->n_objects,
            .kind = raw[i].kind,
            .n_sleds = raw[i].n_sleds,
            .mode = own_mode(file, raw[i].own_mode, &n_bad_modes),
            .address = raw[i].address,
        };
    free(raw);
    if (n_bad_modes)
        run_complain(file, chunk->offset, "%zu nouns have a mode that is not known", n_bad_modes);
    file->n_nouns = n_before + n;
    return PM_OK;
}

static enum pm_status load_object(struct pm_run_file *file, const struct run_source *source,
                                  const struct run_chunk *chunk, struct pm_error *err)
{
    struct pm_run_object raw;
    if (chunk->size_bytes < sizeof raw || !run_read_at(source, chunk->offset, &raw, sizeof raw)) {
        run_complain(file, chunk->offset, "object chunk is cut");
        return PM_OK;
    }
    uint64_t n_nouns =
        run_fit_items(file, chunk, raw.nouns_offset, sizeof(struct pm_run_noun), "nouns");
    if (n_nouns >= PM_RUN_NOUN_ROOT - raw.first_noun ||
        n_nouns >= PM_RUN_NOUN_ROOT - file->n_nouns) {
        run_complain(file, chunk->offset, "noun index %u + %llu is too large", raw.first_noun,
                     (unsigned long long)n_nouns);
        return PM_OK;
    }
    struct pm_run_file_object object = {
        .path = PM_STR(""),
        .build_id = PM_STR(""),
        .n_nouns = (uint32_t)n_nouns,
        .most_nouns =
            raw.nouns_offset < chunk->size_bytes
                ? (uint32_t)((chunk->size_bytes - raw.nouns_offset) / sizeof(struct pm_run_noun))
                : 0,
        .load_bias = raw.load_bias,
        .inode = raw.inode,
        .device = raw.device,
        .file_bytes = raw.file_bytes,
        .mtime_ns = raw.mtime_ns,
        .n_sleds = raw.n_sleds,
        .n_bad_sleds = raw.n_bad_sleds,
        .low = raw.low,
        .high = raw.high,
    };
    if (file->header.version_minor >= 1) {
        object.kind = raw.kind;
        object.loaded_generation = raw.loaded_generation;
        object.unloaded_generation = raw.unloaded_generation;
    }
    bool memory = false;
    const char *text = chunk_bytes(file, source, chunk, raw.strings_offset,
                                   (uint64_t)raw.path_bytes + raw.build_id_bytes, &memory);
    if (memory)
        return run_no_memory(file, err);
    if (text) {
        object.path = (struct pm_str){text, raw.path_bytes};
        object.build_id = (struct pm_str){text + raw.path_bytes, raw.build_id_bytes};
    } else {
        run_complain(file, chunk->offset, "path and build-id of object %u lie outside its chunk",
                     raw.index);
    }
    enum pm_status status = load_nouns(file, source, chunk, raw.nouns_offset, &object, err);
    if (status != PM_OK)
        return status;
    run_note_tsc(file, raw.loaded_tsc);
    run_note_tsc(file, raw.unloaded_tsc);
    /* Empty ranges may say any first noun: they come last, where none is looked for. */
    file->ranges[file->n_objects] = (struct run_noun_range){
        object.n_nouns ? raw.first_noun : UINT32_MAX, object.n_nouns, object.first_noun};
    file->indices[file->n_objects] =
        (struct run_object_index){raw.index, (uint32_t)file->n_objects};
    file->objects[file->n_objects++] = object;
    return PM_OK;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct run_noun_range *x = a, *y = b;
    if (x->first_raw != y->first_raw)
        return x->first_raw < y->first_raw ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int compare_indices(const void *a, const void *b)
{
    const struct run_object_index *x = a, *y = b;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

enum pm_status run_load_objects(struct pm_run_file *file, const struct run_source *source,
                                const struct run_chunks *list, struct pm_error *err)
{
    size_t n = run_count_kind(list, PM_RUN_CHUNK_OBJECT);
    file->objects = pm_alloc_array(n, sizeof *file->objects);
    file->ranges = pm_alloc_array(n, sizeof *file->ranges);
    file->indices = pm_alloc_array(n, sizeof *file->indices);
    if (!file->objects || !file->ranges || !file->indices)
        return run_no_memory(file, err);
    for (size_t i = 0; i < list->n; i++) {
        if (list->chunks[i].kind != PM_RUN_CHUNK_OBJECT)
            continue;
        enum pm_status status = load_object(file, source, &list->chunks[i], err);
        if (status != PM_OK)
            return status;
    }
    qsort(file->indices, file->n_objects, sizeof *file->indices, compare_indices);
    qsort(file->ranges, file->n_objects, sizeof *file->ranges, compare_ranges);
    uint64_t end = 0;
    for (size_t i = 0; i < file->n_objects; i++) {
        struct run_noun_range *range = &file->ranges[i];
        if (range->n && range->first_raw < end) {
            run_complain(file, 0, "nouns from %u belong to two objects", range->first_raw);
            range->n = 0;
        }
        if (range->n)
            end = (uint64_t)range->first_raw + range->n;
    }
    return PM_OK;
}

/* The noun that stands for all that nothing describes, made when first needed. */
static bool unknown_noun(struct pm_run_file *file, uint32_t *ret_noun)
{
    if (!file->has_unknown) {
        struct pm_run_file_noun *nouns =
            pm_realloc_array(file->nouns, file->n_nouns + 1, sizeof *nouns);
        if (!nouns)
            return false;
        file->nouns = nouns;
        nouns[file->n_nouns] = (struct pm_run_file_noun){.object = PM_RUN_FILE_NO_OBJECT};
        file->unknown = (uint32_t)file->n_nouns++;
        file->has_unknown = true;
    }
    *ret_noun = file->unknown;
    return true;
}

static bool range_begins(const void *range, const void *raw)
{
    return ((const struct run_noun_range *)range)->first_raw <= *(const uint32_t *)raw;
}

bool run_find_noun(const struct pm_run_file *file, uint32_t raw, uint32_t *ret_noun)
{
    size_t n =
        pm_lower_bound(file->ranges, file->n_objects, sizeof *file->ranges, &raw, range_begins);
    const struct run_noun_range *range = n ? &file->ranges[n - 1] : NULL;
    if (!range || raw - range->first_raw >= range->n)
        return false;
    *ret_noun = range->first + (raw - range->first_raw);
    return true;
}

/* --- threads and contexts --- */

static int compare_stretches(const void *a, const void *b)
{
    const struct run_stretch *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Where nodes lie, sorted by thread and place. */
static enum pm_status find_stretches(struct pm_run_file *file, struct run_chunks *list,
                                     struct pm_error *err)
{
    size_t n = run_count_kind(list, PM_RUN_CHUNK_THREAD) + run_count_kind(list, PM_RUN_CHUNK_NODES);
    list->stretches = pm_alloc_array(n, sizeof *list->stretches);
    if (!list->stretches)
        return run_no_memory(file, err);
    for (size_t i = 0; i < list->n; i++) {
        const struct run_chunk *chunk = &list->chunks[i];
        bool is_thread = chunk->kind == PM_RUN_CHUNK_THREAD;
        if (!is_thread && chunk->kind != PM_RUN_CHUNK_NODES)
            continue;
        uint64_t start = is_thread ? PM_RUN_THREAD_NODES : PM_RUN_NODES_DATA;
        list->stretches[list->n_stretches++] = (struct run_stretch){
            .owner = is_thread ? chunk->offset : chunk->owner,
            .offset = chunk->offset + start,
            .n_nodes = run_fit_items(file, chunk, start, sizeof(struct pm_run_node), "contexts"),
        };
    }
    qsort(list->stretches, list->n_stretches, sizeof *list->stretches, compare_stretches);
    return PM_OK;
}

static bool stretch_begins(const void *stretch, const void *offset)
{
    return ((const struct run_stretch *)stretch)->offset <= *(const uint64_t *)offset;
}

/* Position in the thread of the node at a file offset; false: there is none. */
static bool find_node(const struct run_thread_load *load, uint64_t offset, uint32_t *ret_index)
{
    size_t n = pm_lower_bound(load->stretches, load->n_stretches, sizeof *load->stretches, &offset,
                              stretch_begins);
    const struct run_stretch *stretch = n ? &load->stretches[n - 1] : NULL;
    uint64_t within = stretch ? offset - stretch->offset : 0;
    if (!stretch || within / sizeof(struct pm_run_node) >= stretch->n_nodes)
        return false;
    *ret_index = (uint32_t)(stretch->first_index + within / sizeof(struct pm_run_node));
    return within % sizeof(struct pm_run_node) == 0;
}

enum { NOUN_UNMADE = 0xfffffffe }; /* a node that was claimed and never filled */

/* What went wrong in a thread's nodes: one complaint for each sort. */
struct node_damage {
    bool out_of_order; /* a parent lies behind its child, or a node was never filled */
    size_t n_parents, n_nouns, n_roots;
    uint64_t first_parent, first_noun, first_root; /* offsets */
};

static void count_damage(size_t *n, uint64_t *first, uint64_t offset)
{
    if ((*n)++ == 0)
        *first = offset;
}

/* A node whose parent is damaged hangs below the root as a folded one: its calls are right, and its
 * time stays with whichever context it belongs to. */
static void cut_off(struct pm_run_file_node *node, struct node_damage *damage, uint64_t offset)
{
    count_damage(&damage->n_parents, &damage->first_parent, offset);
    node->parent = 0;
    node->flags |= PM_RUN_NODE_FOLDED;
    node->timing = PM_RUN_FILE_UNTIMED;
    node->open = false;
}

/* An activation that is open is timed when it has a start. Before version 1.2 modes were those
 * of whole files. */
static enum pm_run_file_timing timing_of(const struct pm_run_file *file,
                                         const struct pm_run_node *raw)
{
    if (raw->flags & PM_RUN_NODE_FOLDED)
        return PM_RUN_FILE_UNTIMED;
    if (file->header.version_minor < 2)
        return file->header.mode == PM_RUN_MODE_ACTIVE ? PM_RUN_FILE_UNTIMED : PM_RUN_FILE_TIMED;
    bool open = raw->sp != 0;
    if (raw->flags & PM_RUN_NODE_TIMED && (!open || raw->start_tsc != 0))
        return PM_RUN_FILE_TIMED;
    return raw->inclusive_tsc != 0 || (open && raw->start_tsc != 0) ? PM_RUN_FILE_PARTLY_TIMED
                                                                    : PM_RUN_FILE_UNTIMED;
}

/* Checks one node and sets it. */
static bool take_node(struct pm_run_file *file, const struct run_thread_load *load,
                      const struct pm_run_node *raw, size_t index, uint64_t offset,
                      struct node_damage *damage)
{
    struct pm_run_file_node *node = &load->nodes[index];
    load->raw[index] = (struct run_raw_node){raw->start_tsc, raw->inclusive_tsc};
    *node = (struct pm_run_file_node){
        .noun = PM_RUN_NOUN_ROOT,
        .parent = PM_RUN_FILE_NO_PARENT,
        .open = raw->sp != 0,
        .n_calls = raw->n_calls,
        .place = (uint32_t)(offset / 64),
    };
    if (raw->noun == PM_RUN_NOUN_ROOT && raw->parent == 0) {
        node->timing = PM_RUN_FILE_TIMED;
        if (index == 0)
            return true;
        if (!(raw->flags & PM_RUN_NODE_FOREIGN_STACK))
            count_damage(&damage->n_roots, &damage->first_root, offset);
        node->flags = PM_RUN_NODE_FOREIGN_STACK | (raw->flags & PM_RUN_NODE_COROUTINE);
        return true;
    }
    if (raw->kind == 0) {
        node->noun = NOUN_UNMADE;
        damage->out_of_order = true;
        return true;
    }
    node->flags = raw->flags & (PM_RUN_NODE_FOLDED | PM_RUN_NODE_BEGUN | PM_RUN_NODE_JUMPED);
    node->timing = timing_of(file, raw);
    if (!find_node(load, (uint64_t)raw->parent * 64, &node->parent))
        cut_off(node, damage, offset);
    damage->out_of_order |= node->parent >= index;
    if (run_find_noun(file, raw->noun, &node->noun))
        return true;
    count_damage(&damage->n_nouns, &damage->first_noun, offset);
    return unknown_noun(file, &node->noun);
}

/* Depths of all nodes, those in circles and below what was never filled cut off. chain: room for n.
 */
static void find_depths(struct run_thread_load *load, size_t n, uint32_t *depths, uint32_t *chain,
                        struct node_damage *damage)
{
    enum { VISITING = UINT32_MAX };
    struct pm_run_file_node *nodes = load->nodes;
    for (size_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)i;
        size_t n_chain = 0;
        while (depths[at] == 0 && nodes[at].parent != PM_RUN_FILE_NO_PARENT) {
            depths[at] = VISITING;
            chain[n_chain++] = at;
            uint32_t parent = nodes[at].parent;
            if (depths[parent] == VISITING || nodes[parent].noun == NOUN_UNMADE) {
                cut_off(&nodes[at], damage, load->chunk_offset);
                parent = 0;
            }
            at = parent;
        }
        uint32_t depth = depths[at];
        while (n_chain)
            depths[chain[--n_chain]] = ++depth;
    }
}

/* Sorts the nodes of a thread by depth, parents so before children, and leaves out what was never
 * filled. Rare: a process killed while a context was made, a signal while a chunk was. */
static enum pm_status order_nodes(struct pm_run_file *file, struct pm_run_file_thread *thread,
                                  struct run_thread_load *load, struct node_damage *damage,
                                  struct pm_error *err)
{
    size_t n = thread->n_nodes, n_made = 0;
    uint32_t *depths = pm_alloc_array(n + 1, 2 * sizeof *depths);
    struct pm_run_file_node *nodes = pm_alloc_array(n, sizeof *nodes);
    struct run_raw_node *raw = pm_alloc_array(n, sizeof *raw);
    uint32_t *places = pm_alloc_array(n, sizeof *places);
    if (!depths || !nodes || !raw || !places) {
        free(depths);
        free(nodes);
        free(raw);
        free(places);
        return run_no_memory(file, err);
    }
    uint32_t *starts = depths + n; /* of each depth, n + 1 */
    find_depths(load, n, depths, places, damage);
    for (size_t i = 0; i < n; i++)
        if (load->nodes[i].noun != NOUN_UNMADE)
            starts[depths[i] + 1]++;
    for (size_t depth = 0; depth < n; depth++)
        starts[depth + 1] += starts[depth];
    for (size_t i = 0; i < n; i++) {
        if (load->nodes[i].noun == NOUN_UNMADE)
            continue;
        places[i] = starts[depths[i]]++;
        nodes[places[i]] = load->nodes[i];
        raw[places[i]] = load->raw[i];
        n_made++;
    }
    for (size_t i = 0; i < n_made; i++)
        if (nodes[i].parent != PM_RUN_FILE_NO_PARENT)
            nodes[i].parent = places[nodes[i].parent];
    free(depths);
    free(load->nodes);
    free(load->raw);
    thread->nodes = load->nodes = nodes;
    thread->n_nodes = n_made;
    load->raw = raw;
    load->places = places;
    return PM_OK;
}

bool run_find_node(const struct run_thread_load *load, uint64_t offset, uint32_t *ret_index)
{
    if (!find_node(load, offset, ret_index))
        return false;
    if (load->places)
        *ret_index = load->places[*ret_index];
    return true;
}

static void complain_damage(struct pm_run_file *file, uint32_t tid,
                            const struct node_damage *damage)
{
    if (damage->n_parents)
        run_complain(file, damage->first_parent,
                     "%zu contexts of thread %u have no valid parent; only their calls count",
                     damage->n_parents, tid);
    if (damage->n_nouns)
        run_complain(file, damage->first_noun,
                     "%zu contexts of thread %u have a noun that no object has", damage->n_nouns,
                     tid);
    if (damage->n_roots)
        run_complain(file, damage->first_root, "thread %u has %zu roots too many", tid,
                     damage->n_roots);
}

/* Reads the nodes of one thread, whose stretches are set. */
static enum pm_status load_nodes(struct pm_run_file *file, const struct run_source *source,
                                 size_t index, struct pm_error *err)
{
    enum { BATCH = 512 };
    struct run_thread_load *load = &file->loads[index];
    struct pm_run_file_thread *thread = &file->threads[index];
    struct pm_run_node *batch = pm_alloc_array(BATCH, sizeof *batch);
    struct node_damage damage = {0};
    bool ok = batch != NULL;
    for (size_t s = 0; ok && s < load->n_stretches; s++) {
        const struct run_stretch *stretch = &load->stretches[s];
        for (uint64_t done = 0; ok && done < stretch->n_nodes;) {
            uint64_t n = stretch->n_nodes - done < BATCH ? stretch->n_nodes - done : BATCH;
            uint64_t offset = stretch->offset + done * sizeof *batch;
            if (!run_read_at(source, offset, batch, n * sizeof *batch)) {
                run_complain(file, offset, "%llu contexts cannot be read", (unsigned long long)n);
                memset(batch, 0, n * sizeof *batch);
            }
            for (uint64_t i = 0; ok && i < n; i++)
                ok = take_node(file, load, &batch[i], stretch->first_index + done + i,
                               offset + i * sizeof *batch, &damage);
            done += n;
        }
    }
    free(batch);
    if (!ok)
        return run_no_memory(file, err);
    if (damage.out_of_order) {
        enum pm_status status = order_nodes(file, thread, load, &damage, err);
        if (status != PM_OK)
            return status;
    }
    complain_damage(file, thread->tid, &damage);
    return PM_OK;
}

/* Is the first node of the thread the root that it must be? */
static bool has_root(const struct run_source *source, const struct run_thread_load *load)
{
    struct pm_run_node node;
    return load->n_stretches && load->stretches[0].n_nodes &&
           load->stretches[0].offset == load->chunk_offset + PM_RUN_THREAD_NODES &&
           run_read_at(source, load->stretches[0].offset, &node, sizeof node) &&
           node.noun == PM_RUN_NOUN_ROOT && node.parent == 0;
}

static enum pm_status load_thread(struct pm_run_file *file, const struct run_source *source,
                                  const struct run_chunk *chunk, struct run_stretch *stretches,
                                  size_t n_stretches, struct pm_error *err)
{
    struct pm_run_thread raw;
    if (chunk->size_bytes < sizeof raw || !run_read_at(source, chunk->offset, &raw, sizeof raw)) {
        run_complain(file, chunk->offset, "thread chunk is cut");
        return PM_OK;
    }
    size_t index = file->n_threads++;
    struct pm_run_file_thread *thread = &file->threads[index];
    struct run_thread_load *load = &file->loads[index];
    char *name = pm_arena_strndup(&file->arena, raw.name, strnlen(raw.name, sizeof raw.name));
    if (!name)
        return run_no_memory(file, err);
    if (raw.start_cpu_ns > raw.cpu_ns)
        raw.start_cpu_ns = 0;
    *thread = (struct pm_run_file_thread){
        .tid = raw.tid,
        .n_threads = raw.n_threads ? raw.n_threads : 1,
        .cpu_ns = raw.cpu_ns,
        .start_cpu_ns = raw.start_cpu_ns,
        .name = pm_str_of(name),
    };
    *load = (struct run_thread_load){
        .chunk_offset = chunk->offset,
        .start_tsc = raw.start_tsc,
        .end_tsc = raw.end_tsc,
        .ambient_set = raw.ambient_set,
        .own_set = raw.own_set,
        .n_ambient = raw.n_ambient,
        .stretches = stretches,
        .n_stretches = n_stretches,
    };
    run_note_tsc(file, raw.start_tsc);
    run_note_tsc(file, raw.end_tsc);
    bool rooted = has_root(source, load);
    if (!rooted && n_stretches && stretches[n_stretches - 1].n_nodes)
        run_complain(file, chunk->offset + PM_RUN_THREAD_NODES, "thread %u has no root context",
                     raw.tid);
    size_t n = !rooted;
    for (size_t i = 0; i < n_stretches; i++) {
        stretches[i].first_index = n;
        n += stretches[i].n_nodes;
    }
    if (n >= PM_RUN_FILE_NO_PARENT)
        return pm_error_set(err, PM_ERR_LIMIT, "run file '%s': %zu contexts in thread %u",
                            file->name, n, raw.tid);
    load->nodes = pm_alloc_array(n, sizeof *load->nodes);
    load->raw = pm_alloc_array(n, sizeof *load->raw);
    if (!load->nodes || !load->raw)
        return run_no_memory(file, err);
    load->nodes[0] = (struct pm_run_file_node){
        .noun = PM_RUN_NOUN_ROOT, .parent = PM_RUN_FILE_NO_PARENT, .timing = PM_RUN_FILE_TIMED};
    thread->nodes = load->nodes;
    thread->n_nodes = n;
    return load_nodes(file, source, index, err);
}

enum pm_status run_load_threads(struct pm_run_file *file, const struct run_source *source,
                                struct run_chunks *list, struct pm_error *err)
{
    size_t n = run_count_kind(list, PM_RUN_CHUNK_THREAD), s = 0;
    file->threads = pm_alloc_array(n, sizeof *file->threads);
    file->loads = pm_alloc_array(n, sizeof *file->loads);
    enum pm_status status = find_stretches(file, list, err);
    if (status != PM_OK || !file->threads || !file->loads)
        return status != PM_OK ? status : run_no_memory(file, err);
    for (size_t i = 0; i < list->n; i++) {
        const struct run_chunk *chunk = &list->chunks[i];
        if (chunk->kind != PM_RUN_CHUNK_THREAD)
            continue;
        for (; s < list->n_stretches && list->stretches[s].owner < chunk->offset; s++)
            run_complain(file, list->stretches[s].offset,
                         "contexts of a thread that is not in the file");
        size_t first = s;
        while (s < list->n_stretches && list->stretches[s].owner == chunk->offset)
            s++;
        status = load_thread(file, source, chunk, list->stretches + first, s - first, err);
        if (status != PM_OK)
            return status;
    }
    for (; s < list->n_stretches; s++)
        run_complain(file, list->stretches[s].offset,
                     "contexts of a thread that is not in the file");
    return PM_OK;
}

/* --- counters and messages --- */

static bool thread_is_before(const void *load, const void *offset)
{
    return ((const struct run_thread_load *)load)->chunk_offset < *(const uint64_t *)offset;
}

bool run_find_thread(const struct pm_run_file *file, uint64_t chunk_offset, uint32_t *ret_thread)
{
    size_t at = pm_lower_bound(file->loads, file->n_threads, sizeof *file->loads, &chunk_offset,
                               thread_is_before); /* in file order */
    *ret_thread = (uint32_t)at;
    return at < file->n_threads && file->loads[at].chunk_offset == chunk_offset;
}

static bool index_is_before(const void *item, const void *index)
{
    return ((const struct run_object_index *)item)->index < *(const uint32_t *)index;
}

static bool find_object(const struct pm_run_file *file, uint32_t index, uint32_t *ret_object)
{
    size_t at = pm_lower_bound(file->indices, file->n_objects, sizeof *file->indices, &index,
                               index_is_before);
    if (at == file->n_objects || file->indices[at].index != index)
        return false;
    *ret_object = file->indices[at].object;
    return true;
}

static enum pm_status load_counts(struct pm_run_file *file, const struct run_source *source,
                                  const struct run_chunk *chunk, struct pm_error *err)
{
    struct pm_run_counts raw;
    struct pm_run_file_counts counts = {0};
    if (chunk->size_bytes < sizeof raw || !run_read_at(source, chunk->offset, &raw, sizeof raw)) {
        run_complain(file, chunk->offset, "counter chunk is cut");
        return PM_OK;
    }
    if (!run_find_thread(file, chunk->owner, &counts.thread)) {
        run_complain(file, chunk->offset, "counters of a thread that is not in the file");
        return PM_OK;
    }
    if (!find_object(file, raw.object, &counts.object)) {
        run_complain(file, chunk->offset, "counters of object %u, which is not in the file",
                     raw.object);
        return PM_OK;
    }
    uint64_t n = run_fit_items(file, chunk, PM_RUN_COUNTS_DATA, sizeof(uint64_t), "counters");
    const struct pm_run_file_object *object = &file->objects[counts.object];
    uint32_t n_nouns = object->n_nouns;
    bool portable = object->n_sleds == 0 && n <= object->most_nouns;
    bool grows = object->kind == PM_RUN_OBJECT_WORDS || portable; /* has room for more */
    if (n > n_nouns && !grows)
        run_complain(file, chunk->offset, "%llu counters for an object of %u nouns",
                     (unsigned long long)n, n_nouns);
    n = n < n_nouns ? n : n_nouns;
    bool memory = false;
    const char *bytes =
        chunk_bytes(file, source, chunk, PM_RUN_COUNTS_DATA, n * sizeof(uint64_t), &memory);
    if (memory)
        return run_no_memory(file, err);
    if (!bytes) {
        run_complain(file, chunk->offset, "counters cannot be read");
        return PM_OK;
    }
    counts.counts = (const uint64_t *)(const void *)bytes;
    counts.n_counts = n;
    file->counts[file->n_counts++] = counts;
    return PM_OK;
}

static enum pm_status load_message(struct pm_run_file *file, const struct run_source *source,
                                   const struct run_chunk *chunk, struct pm_error *err)
{
    struct pm_run_message raw;
    bool memory = false;
    const char *text = NULL;
    if (chunk->size_bytes >= sizeof raw && run_read_at(source, chunk->offset, &raw, sizeof raw))
        text = chunk_bytes(file, source, chunk, offsetof(struct pm_run_message, text),
                           raw.text_bytes, &memory);
    if (memory)
        return run_no_memory(file, err);
    if (!text) {
        run_complain(file, chunk->offset, "message is cut");
        return PM_OK;
    }
    run_note_tsc(file, raw.tsc);
    file->messages[file->n_messages++] = (struct pm_run_file_message){
        .code = raw.code, .tsc = raw.tsc, .text = {text, raw.text_bytes}};
    return PM_OK;
}

static bool is_call(const struct pm_run_file *file, const struct pm_run_file_node *node)
{
    uint32_t kind = node->noun == PM_RUN_NOUN_ROOT ? 0 : file->nouns[node->noun].kind;
    return node->noun != PM_RUN_NOUN_ROOT && kind != PM_RUN_AMBIENT_SET &&
           kind != PM_RUN_CAUSE_ENTER;
}

static void count_calls(struct pm_run_file *file)
{
    uint64_t n = 0;
    for (size_t i = 0; i < file->n_threads; i++)
        for (size_t k = 0; k < file->threads[i].n_nodes; k++)
            if (is_call(file, &file->threads[i].nodes[k]))
                n += file->threads[i].nodes[k].n_calls;
    for (size_t i = 0; i < file->n_counts; i++)
        for (size_t k = 0; k < file->counts[i].n_counts; k++)
            n += file->counts[i].counts[k];
    file->process.n_calls = n;
}

enum pm_status run_load_rest(struct pm_run_file *file, const struct run_source *source,
                             const struct run_chunks *list, struct pm_error *err)
{
    file->counts = pm_alloc_array(run_count_kind(list, PM_RUN_CHUNK_COUNTS), sizeof *file->counts);
    file->messages =
        pm_alloc_array(run_count_kind(list, PM_RUN_CHUNK_MESSAGE), sizeof *file->messages);
    if (!file->counts || !file->messages)
        return run_no_memory(file, err);
    enum pm_status status = PM_OK;
    for (size_t i = 0; i < list->n; i++) {
        if (list->chunks[i].kind == PM_RUN_CHUNK_COUNTS)
            status = load_counts(file, source, &list->chunks[i], err);
        else if (list->chunks[i].kind == PM_RUN_CHUNK_MESSAGE)
            status = load_message(file, source, &list->chunks[i], err);
        if (status != PM_OK)
            return status;
    }
    count_calls(file);
    return PM_OK;
}
