/* Calls that processes take part in together. A chunk's n_items says which place is free: it is
 * taken by one instruction, and the kind is written last. */
#include "runtime/words/meetings.h"
#include "runtime/base/file.h"
#include "runtime/base/upward.h"
#include "runtime/tree/tree.h"
#include "runtime/words/causes.h"
#include "runtime/words/words.h"

#include <string.h>

enum {
    CHUNK_BYTES = 1 << 18,
    DATA = 64,
    PER_CHUNK = (CHUNK_BYTES - DATA) / sizeof(struct pm_run_meeting),
    MAX_CHUNKS = 256,
};

static struct {
    struct pm_run_chunk *chunk;
    uint32_t n_chunks;
    bool is_full; /* for good, and said */
} meetings;

static void close_meetings(void)
{
    if (__atomic_exchange_n(&meetings.is_full, true, __ATOMIC_RELAXED))
        return;
    pm_file_message(
        PM_RUN_MSG_LIMIT,
        "MPI calls after the first million are not matched, so their waiting is not known", "");
}

/* Another one than that, which is full; NULL: there is no room. */
static struct pm_run_chunk *next_chunk(const struct pm_run_chunk *full)
{
    uint64_t mask = pm_words_lock(), offset;
    if (meetings.chunk == full && meetings.n_chunks < MAX_CHUNKS) {
        struct pm_run_chunk *chunk = pm_file_chunk(PM_RUN_CHUNK_MEETINGS, CHUNK_BYTES, 0, &offset);
        meetings.n_chunks++;
        if (chunk != NULL)
            __atomic_store_n(&meetings.chunk, chunk, __ATOMIC_RELEASE);
    }
    struct pm_run_chunk *chunk = meetings.chunk != full ? meetings.chunk : NULL;
    pm_words_unlock(mask);
    return chunk;
}

static struct pm_run_meeting *take_place(void)
{
    struct pm_run_chunk *chunk = __atomic_load_n(&meetings.chunk, __ATOMIC_ACQUIRE);
    for (;;) {
        uint64_t i = chunk == NULL ? (uint64_t)PER_CHUNK
                                   : __atomic_fetch_add(&chunk->n_items, 1, __ATOMIC_RELAXED);
        if (i < PER_CHUNK)
            return (struct pm_run_meeting *)((char *)chunk + DATA) + i;
        chunk = next_chunk(chunk);
        if (chunk == NULL)
            return NULL;
    }
}

void pm_meet(const struct pm_run_meeting *meeting, uint64_t cause)
{
    if (!pm_causes_are_on() || pm_load(meetings.is_full))
        return;
    struct pm_run_meeting *at = take_place();
    if (at == NULL) {
        close_meetings();
        return;
    }
    struct pm_run_meeting copy = *meeting;
    copy.place = pm_cause_own_place(cause);
    copy.kind = 0;
    *at = copy;
    __atomic_store_n(&at->kind, meeting->kind, __ATOMIC_RELEASE);
}

void pm_meetings_fork_child(void)
{
    meetings.chunk = NULL;
    meetings.n_chunks = 0;
    meetings.is_full = false;
}
