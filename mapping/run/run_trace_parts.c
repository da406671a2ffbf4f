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
    if (!ok)
        return run_no_memory(file, err);
    if (file->n_pieces)
        qsort(file->pieces, file->n_pieces, sizeof *file->pieces, compare_pieces);
    drop_duplicates(file);
    return PM_OK;
}

const struct run_piece *run_trace_pieces(const struct pm_run_file *file, size_t thread,
                                         size_t *ret_n)
{
    size_t low = 0, high = file->n_pieces, n = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->pieces[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + n < file->n_pieces && file->pieces[low + n].thread == thread)
        n++;
    *ret_n = n;
    return n ? file->pieces + low : NULL;
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
