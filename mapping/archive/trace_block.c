#include "trace_block_internal.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

struct pm_trace_block *pm_trace_block_new(void)
{
    return pm_alloc(sizeof(struct pm_trace_block));
}

void pm_trace_block_free(struct pm_trace_block *block)
{
    if (!block)
        return;
    for (int i = 0; i < TRACE_N_STACKS; i++)
        free(block->stacks[i].frames);
    trace_writing_release(&block->writing);
    free(block->sentences);
    ZSTD_freeDCtx(block->unpacker);
    free(block->bytes);
    free(block);
}

bool trace_grow(void *array_pointer, size_t n, size_t *cap, size_t item_bytes)
{
    void **array = array_pointer;
    if (n < *cap)
        return true;
    size_t larger = *cap ? *cap * 2 : 64;
    void *items = pm_realloc_array(*array, larger, item_bytes);
    if (!items)
        return false;
    *array = items;
    *cap = larger;
    return true;
}

uint64_t trace_away_now(const struct pm_trace_block *block)
{
    return block->away +
           (block->left && block->clock >= block->left ? block->clock - (block->left - 1) : 0);
}

void trace_change_stack(struct pm_trace_block *block, int to)
{
    if ((to == TRACE_FOREIGN) == (block->left != 0))
        return;
    if (to == TRACE_OWN)
        block->away = trace_away_now(block);
    block->left = to == TRACE_OWN ? 0 : block->clock + 1;
}

/* --- reading --- */

/* All of n bytes. */
static enum pm_status unpack_zlib(struct pm_trace_block *block, const unsigned char *data,
                                  size_t len, size_t n, struct pm_error *err)
{
    uLongf got = n;
    int result = uncompress(block->bytes, &got, data, len);
    if (result == Z_MEM_ERROR)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    return result == Z_OK && got == n ? PM_OK : trace_damaged(err, "it cannot be unpacked");
}

static enum pm_status unpack_zstd(struct pm_trace_block *block, const unsigned char *data,
                                  size_t len, size_t n, struct pm_error *err)
{
    if (!block->unpacker)
        block->unpacker = ZSTD_createDCtx();
    if (!block->unpacker)
        return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    size_t got = ZSTD_decompressDCtx(block->unpacker, block->bytes, n, data, len);
    return !ZSTD_isError(got) && got == n ? PM_OK : trace_damaged(err, "it cannot be unpacked");
}

static enum pm_status unpack(struct pm_trace_block *block, const unsigned char *data, size_t len,
                             struct pm_error *err, size_t *ret_n)
{
    static const unsigned char zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    if (len < 4)
        return trace_damaged(err, "it is cut");
    size_t n = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16 | (size_t)data[3] << 24;
    if (n == 0 || n > TRACE_LARGEST_BLOCK)
        return trace_damaged(err, "its length cannot be");
    if (block->bytes_cap < n) {
        free(block->bytes);
        block->bytes = pm_alloc_array(n, 1);
        block->bytes_cap = block->bytes ? n : 0;
        if (!block->bytes)
            return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
    }
    bool is_zstd = len >= 4 + sizeof zstd && memcmp(data + 4, zstd, sizeof zstd) == 0;
    enum pm_status status = is_zstd ? unpack_zstd(block, data + 4, len - 4, n, err)
                                    : unpack_zlib(block, data + 4, len - 4, n, err);
    *ret_n = n;
    return status;
}

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory");
}

static enum pm_status read_dictionary(struct pm_trace_block *block, struct pm_error *err)
{
    enum pm_status status = trace_read_n_sentences(&block->cursor, err);
    for (size_t i = 0; status == PM_OK && i < block->cursor.n_sentences; i++) {
        if (!trace_grow(&block->sentences, i, &block->sentences_cap, sizeof *block->sentences))
            return no_memory(err);
        status = trace_read_sentence(&block->cursor, err, &block->sentences[i]);
    }
    return status;
}

static enum pm_status read_frames(struct pm_trace_block *block, struct pm_error *err)
{
    uint64_t n;
    enum pm_status status = trace_read_n_frames(&block->cursor, err, &n);
    block->stacks[TRACE_OWN].n = block->stacks[TRACE_FOREIGN].n = 0;
    for (uint64_t i = 0; status == PM_OK && i < n; i++) {
        struct trace_open open;
        status = trace_read_frame(&block->cursor, err, &open);
        if (status != PM_OK)
            return status;
        struct trace_frame frame = {block->sentences[open.number], open.flags, open.ticks,
                                    open.away};
        if (!trace_push(&block->stacks[open.stack], &frame))
            return no_memory(err);
    }
    return status;
}

static enum pm_status read_head(struct pm_trace_block *block, size_t len, struct pm_error *err)
{
    enum pm_status status =
        trace_read_start(&block->cursor, block->bytes, len, err, &block->away, &block->left);
    if (status != PM_OK)
        return status;
    status = read_dictionary(block, err);
    if (status != PM_OK)
        return status;
    status = read_frames(block, err);
    if (status != PM_OK)
        return status;
    block->clock = block->cursor.clock;
    return trace_read_n_tags(&block->cursor, err);
}

enum pm_status pm_trace_block_read(struct pm_trace_block *block, const void *data, size_t len,
                                   struct pm_error *err)
{
    size_t n = 0;
    enum pm_status status = unpack(block, data, len, err, &n);
    if (status == PM_OK)
        status = read_head(block, n, err);
    if (status != PM_OK)
        block->cursor.tag = block->cursor.tags_end = NULL;
    return status;
}

void pm_trace_block_bytes(const struct pm_trace_block *block, const void **ret_bytes,
                          size_t *ret_len)
{
    *ret_bytes = block->bytes;
    *ret_len = (size_t)(block->cursor.end - block->bytes);
}

bool pm_trace_block_peek(const struct pm_trace_block *block, uint64_t *ret_ticks)
{
    struct trace_cursor ahead = block->cursor;
    uint64_t tag = 0;
    unsigned flags = 0;
    struct pm_error ignored = {0};
    bool good =
        ahead.tag < ahead.tags_end && trace_take_event(&ahead, &ignored, &tag, &flags) == PM_OK;
    if (good)
        *ret_ticks = ahead.clock;
    return good;
}

static enum pm_status leave(struct pm_trace_block *block, int which, struct pm_error *err,
                            struct pm_trace_tick *event)
{
    struct trace_stack *stack = &block->stacks[which];
    if (stack->n == 0)
        return trace_damaged(err, "a leave has no enter");
    const struct trace_frame *frame = &stack->frames[--stack->n];
    uint64_t away = which == TRACE_OWN ? trace_away_now(block) - frame->away : 0;
    event->is_leave = true;
    event->sentence = frame->sentence;
    event->enter_ticks = frame->ticks;
    event->spent_ticks = event->ticks > frame->ticks ? event->ticks - frame->ticks : 0;
    event->spent_ticks = event->spent_ticks > away ? event->spent_ticks - away : 0;
    return PM_OK;
}

enum pm_status pm_trace_block_next(struct pm_trace_block *block, struct pm_error *err,
                                   struct pm_trace_tick *ret_event, bool *ret_has_event)
{
    uint64_t tag = 0;
    unsigned flags = 0;
    *ret_has_event = block->cursor.tag < block->cursor.tags_end;
    if (!*ret_has_event)
        return PM_OK;
    enum pm_status status = trace_take_event(&block->cursor, err, &tag, &flags);
    if (status != PM_OK)
        return status;
    block->clock = block->cursor.clock;
    int which = flags & PM_TRACE_FOREIGN ? TRACE_FOREIGN : TRACE_OWN;
    trace_change_stack(block, which);
    struct trace_stack *stack = &block->stacks[which];
    *ret_event = (struct pm_trace_tick){.flags = flags & TRACE_KEPT_FLAGS, .ticks = block->clock};
    if (tag == TRACE_TAG_LEAVE) {
        status = leave(block, which, err, ret_event);
        ret_event->depth = (uint32_t)stack->n;
        return status;
    }
    ret_event->sentence = block->sentences[tag - TRACE_TAG_ENTER];
    ret_event->depth = (uint32_t)stack->n;
    struct trace_frame frame = {ret_event->sentence, ret_event->flags, block->clock,
                                trace_away_now(block)};
    return trace_push(stack, &frame) ? PM_OK : no_memory(err);
}

bool pm_trace_block_open_frame(const struct pm_trace_block *block, size_t i,
                               struct pm_trace_tick *ret_enter)
{
    int which = i < block->stacks[TRACE_OWN].n ? TRACE_OWN : TRACE_FOREIGN;
    size_t at = which == TRACE_OWN ? i : i - block->stacks[TRACE_OWN].n;
    if (at >= block->stacks[which].n)
        return false;
    const struct trace_frame *frame = &block->stacks[which].frames[at];
    *ret_enter =
        (struct pm_trace_tick){.flags = (frame->flags & (PM_TRACE_CUT | PM_TRACE_SWITCHED)) |
                                        (which == TRACE_FOREIGN ? (unsigned)PM_TRACE_FOREIGN : 0u),
                               .sentence = frame->sentence,
                               .depth = (uint32_t)at,
                               .ticks = frame->ticks};
    return true;
}
