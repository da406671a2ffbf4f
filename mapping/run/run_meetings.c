/* Calls that processes take part in together, as one run file has them. */
#include "run_internal.h"

#include <stdlib.h>

enum { DATA = 64 };

static bool is_whole(const struct pm_run_meeting *m)
{
    static const uint64_t latest_ns = INT64_MAX / 4; /* of any clock; differences stay numbers */
    return m->kind >= PM_RUN_MEETING_SENT && m->kind <= PM_RUN_MEETING_MEMBER &&
           m->begin_ns <= m->end_ns && m->asked_ns <= m->end_ns && m->end_ns <= latest_ns;
}

static enum pm_status load_chunk(struct pm_run_file *file, const struct run_source *source,
                                 const struct run_chunk *chunk, struct pm_error *err)
{
    uint64_t room =
        chunk->size_bytes > DATA ? (chunk->size_bytes - DATA) / sizeof(struct pm_run_meeting) : 0;
    uint64_t n = chunk->n_items < room ? chunk->n_items : room; /* the writer counts beyond it */
    struct pm_run_meeting *raw = pm_alloc_array(n, sizeof *raw);
    struct pm_run_meeting *all =
        raw ? pm_realloc_array(file->meetings, file->n_meetings + n, sizeof *all) : NULL;
    if (!all) {
        free(raw);
        return run_no_memory(file, err);
    }
    file->meetings = all;
    if (n && !run_read_at(source, chunk->offset + DATA, raw, n * sizeof *raw)) {
        run_complain(file, chunk->offset, "%llu calls of MPI cannot be read",
                     (unsigned long long)n);
        n = 0;
    }
    for (uint64_t i = 0; i < n; i++)
        if (is_whole(&raw[i])) /* others were being written when the process died */
            all[file->n_meetings++] = raw[i];
    free(raw);
    return PM_OK;
}

enum pm_status run_load_meetings(struct pm_run_file *file, const struct run_source *source,
                                 const struct run_chunks *list, struct pm_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->chunks[i].kind != PM_RUN_CHUNK_MEETINGS)
            continue;
        enum pm_status status = load_chunk(file, source, &list->chunks[i], err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

size_t pm_run_file_n_meetings(const struct pm_run_file *file)
{
    return file->n_meetings;
}

const struct pm_run_meeting *pm_run_file_meeting(const struct pm_run_file *file, size_t index)
{
    PM_ASSERT(index < file->n_meetings);
    return &file->meetings[index];
}
