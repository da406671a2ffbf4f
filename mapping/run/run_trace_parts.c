/* Traces: which parts a file has of each thread. */
#include "run_internal.h"
#include "run_trace.h"

#include <stdlib.h>

enum { LARGEST_PART = 16 << 20 };

static bool add_piece(struct pm_run_file *file, size_t *cap, const struct run_piece *piece)
{
    if (file->n_pieces == *cap) {
        size_t larger = *cap ? *cap * 2 : 64;
        struct run_piece *pieces = pm_realloc_array(file->pieces, larger, sizeof *pieces);
        if (!pieces)
            return false;
        file->pieces = pieces;
        *cap = larger;
    }
    file->pieces[file->n_pieces++] = *piece;
    return true;
}

static uint32_t node_at(const struct run_thread_load *load, uint32_t place)
{
    uint32_t node;
    return place && run_find_node(load, (uint64_t)place * 64, &node) ? node : PM_RUN_TRACE_NONE;
}

/* room: bytes for events. False: memory. */
static bool take_piece(struct pm_run_file *file, size_t *cap, const struct pm_run_trace *raw,
                       uint64_t offset, uint64_t room, bool is_head)
{
    struct run_piece piece = {
        .offset = offset, .number = raw->number, .first_tsc = raw->first_tsc, .is_head = is_head};
    if (!run_find_thread(file, raw->chunk.owner, &piece.thread)) {
        run_complain(file, offset, "events of a thread that is not in the file");
        return true;
    }
    uint64_t n = raw->chunk.n_items, most = room / 8;
    if (n > most)
        run_complain(file, offset, "%llu events, %llu fit in the part", (unsigned long long)n,
                     (unsigned long long)most);
    piece.n_places = (uint32_t)(n < most ? n : most);
    piece.node = node_at(&file->loads[piece.thread], raw->node);
    piece.foreign_node = node_at(&file->loads[piece.thread], raw->foreign_node);
    piece.flags = raw->flags;
    run_note_tsc(file, raw->first_tsc);
    return add_piece(file, cap, &piece);
}

/* A part that was being written when the process died has the trailer of what was there before. */
static bool load_space(struct pm_run_file *file, const struct run_source *source,
                       const struct run_chunk *chunk, size_t *cap)
{
    uint64_t n = chunk->n_items, part = n && chunk->size_bytes > PM_RUN_PAGE
                                            ? (chunk->size_bytes - PM_RUN_PAGE) / n
                                            : 0;
    if (part < PM_RUN_TRACE_DATA + 16 || part > LARGEST_PART || part % 8) {
        run_complain(file, chunk->offset, "%llu parts of a trace in %llu bytes",
                     (unsigned long long)n, (unsigned long long)chunk->size_bytes);
        return true;
    }
    for (uint64_t i = 0; i < n; i++) {
        struct pm_run_trace raw;
        uint64_t offset = chunk->offset + PM_RUN_PAGE + i * part, trailer;
        if (!run_read_at(source, offset, &raw, sizeof raw) ||
            !run_read_at(source, offset + part - 8, &trailer, 8))
            return true; /* the rest was never written */
        if (raw.chunk.magic != PM_RUN_CHUNK_MAGIC || trailer != raw.serial + 1)
            continue;
        if (!take_piece(file, cap, &raw, offset, part - PM_RUN_TRACE_DATA - 8, false))
            return false;
    }
    return true;
}

static bool load_head(struct pm_run_file *file, const struct run_source *source,
                      const struct run_chunk *chunk, size_t *cap)
{
    struct pm_run_trace raw;
    if (chunk->size_bytes < sizeof raw + 8 || chunk->size_bytes > LARGEST_PART ||
        !run_read_at(source, chunk->offset, &raw, sizeof raw)) {
        run_complain(file, chunk->offset, "events of a thread are cut");
        return true;
    }
    if (raw.chunk.n_items == 0)
        return true; /* was being made */
    return take_piece(file, cap, &raw, chunk->offset, chunk->size_bytes - sizeof raw - 8, true);
}

static int compare_pieces(const void *a, const void *b)
{
    const struct run_piece *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->is_head != y->is_head)
        return x->is_head ? 1 : -1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* A head whose part is there was just being emptied. */
static void drop_duplicates(struct pm_run_file *file)
{
    size_t n = 0;
    for (size_t i = 0; i < file->n_pieces; i++) {
        const struct run_piece *piece = &file->pieces[i];
        if (n && file->pieces[n - 1].thread == piece->thread &&
            file->pieces[n - 1].number == piece->number) {
            if (!piece->is_head)
                run_complain(file, piece->offset, "part %llu of a thread's trace is there twice",
                             (unsigned long long)piece->number);
            continue;
        }
        file->pieces[n++] = *piece;
    }
    file->n_pieces = n;
}

/* Each event has a code, so it is not searched for. Where ranges overlap, which they do in damaged
 * files only, the later one has it (run_find_noun). */
static bool index_nouns(struct pm_run_file *file)
{
    uint32_t n = 0;
    for (size_t i = 0; i < file->n_objects; i++) {
        uint64_t end = (uint64_t)file->ranges[i].first_raw + file->ranges[i].n;
        if (end > n)
            n = end < PM_RUN_TRACE_MARK_FIRST ? (uint32_t)end : PM_RUN_TRACE_MARK_FIRST;
    }
    file->trace_nouns = pm_alloc_array(n, sizeof *file->trace_nouns);
    if (!file->trace_nouns)
        return false;
    file->n_trace_nouns = n;
    for (size_t i = 0; i < file->n_objects; i++) {
        const struct run_noun_range *range = &file->ranges[i];
        uint64_t end = (uint64_t)range->first_raw + range->n;
        uint64_t limit = i + 1 < file->n_objects && range[1].first_raw < n ? range[1].first_raw : n;
        for (uint64_t code = range->first_raw; code < end && code < limit; code++) {
            uint32_t noun = range->first + (uint32_t)(code - range->first_raw);
            if (file->nouns[noun].kind != PM_RUN_AMBIENT_SET)
                file->trace_nouns[code] = noun + 1;
        }
    }
    return true;
}

enum pm_status run_load_trace(struct pm_run_file *file, const struct run_source *source,
                              const struct run_chunks *list, struct pm_error *err)
{
    size_t cap = 0;
    bool ok = true;
    for (size_t i = 0; i < list->n && ok; i++) {
        const struct run_chunk *chunk = &list->chunks[i];
        if (file->is_packed) { /* events are read from the file itself, later */
            if (chunk->kind == PM_RUN_CHUNK_TRACE_SPACE || chunk->kind == PM_RUN_CHUNK_TRACE_HEAD)
                run_complain(file, chunk->offset, "a packed file has a trace, which is left out");
            continue;
        }
        if (chunk->kind == PM_RUN_CHUNK_TRACE_SPACE)
            ok = load_space(file, source, chunk, &cap);
        else if (chunk->kind == PM_RUN_CHUNK_TRACE_HEAD)
            ok = load_head(file, source, chunk, &cap);
    }
    if (!ok || (file->n_pieces && !index_nouns(file)))
        return run_no_memory(file, err);
    if (file->n_pieces)
        qsort(file->pieces, file->n_pieces, sizeof *file->pieces, compare_pieces);
    drop_duplicates(file);
    return PM_OK;
}

static bool is_before(const void *piece, const void *thread)
{
    return ((const struct run_piece *)piece)->thread < *(const size_t *)thread;
}

const struct run_piece *run_trace_pieces(const struct pm_run_file *file, size_t thread,
                                         size_t *ret_n)
{
    size_t next = thread + 1;
    size_t first =
        pm_lower_bound(file->pieces, file->n_pieces, sizeof *file->pieces, &thread, is_before);
    *ret_n = pm_lower_bound(file->pieces, file->n_pieces, sizeof *file->pieces, &next, is_before) -
             first;
    return *ret_n ? file->pieces + first : NULL;
}

size_t pm_run_trace_n_parts(const struct pm_run_file *file, size_t thread)
{
    size_t n;
    (void)run_trace_pieces(file, thread, &n);
    return n;
}

struct pm_run_trace_size pm_run_trace_size(const struct pm_run_file *file, size_t thread)
{
    struct pm_run_trace_size size = {0};
    const struct run_piece *pieces = run_trace_pieces(file, thread, &size.n_parts);
    if (size.n_parts == 0)
        return size;
    for (size_t i = 0; i < size.n_parts; i++)
        size.n_places += pieces[i].n_places;
    size.n_bytes = size.n_places * 8 + size.n_parts * (PM_RUN_TRACE_DATA + 8);
    size.has_begin = pieces[0].number == 0;
    size.has_end = !(pieces[size.n_parts - 1].flags & PM_RUN_TRACE_STOPPED);
    return size;
}

uint64_t pm_run_trace_ns(const struct pm_run_file *file, uint64_t tsc)
{
    uint64_t start = file->process.start_tsc;
    return tsc > start ? pm_run_file_to_ns(file, tsc - start) : 0;
}
