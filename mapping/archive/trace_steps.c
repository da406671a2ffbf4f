/* Reading coarser steps of traces. */
#include "trace_steps.h"

#include <stdlib.h>
#include <zstd.h>

enum { LARGEST_ROW = 64 << 20 };

static enum pm_status damaged(struct pm_error *err, const char *what)
{
    return pm_error_set(err, PM_ERR_FORMAT, "steps of a trace: %s", what);
}

static enum pm_status no_memory(struct pm_error *err)
{
    return pm_error_set(err, PM_ERR_MEMORY, "out of memory for steps of a trace");
}

void pm_trace_steps_row_release(struct pm_trace_steps_row *row)
{
    free(row->pieces);
    free(row->sentences);
    free(row->bytes);
    pm_trace_shares_release(&row->shares);
    *row = (struct pm_trace_steps_row){0};
}

static enum pm_status unpack(struct pm_trace_steps_row *row, const unsigned char *data, size_t len,
                             struct pm_error *err, size_t *ret_n)
{
    if (len < 4)
        return damaged(err, "they are cut");
    size_t n = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16 | (size_t)data[3] << 24;
    if (n == 0 || n > LARGEST_ROW)
        return damaged(err, "their length cannot be");
    if (n > row->bytes_cap) {
        unsigned char *bytes = pm_realloc_array(row->bytes, n, 1);
        if (!bytes)
            return no_memory(err);
        row->bytes = bytes;
        row->bytes_cap = n;
    }
    size_t got = ZSTD_decompress(row->bytes, n, data + 4, len - 4);
    if (ZSTD_isError(got) || got != n)
        return damaged(err, "they cannot be unpacked");
    *ret_n = n;
    return PM_OK;
}

/* n things of at least one byte each. */
static bool take_n(struct pm_cursor *at, uint64_t *ret_n)
{
    return pm_cursor_uleb(at, ret_n) && *ret_n <= (uint64_t)(at->end - at->p);
}

static enum pm_status read_sentences(struct pm_trace_steps_row *row, struct pm_cursor *at,
                                     struct pm_error *err, uint32_t *ret_n)
{
    uint64_t n, gap, sentence = 0;
    if (!take_n(at, &n))
        return damaged(err, "more sentences than fit");
    if (n > row->sentences_cap) {
        uint32_t *sentences = pm_realloc_array(row->sentences, n, sizeof *sentences);
        if (!sentences)
            return no_memory(err);
        row->sentences = sentences;
        row->sentences_cap = (uint32_t)n;
    }
    for (uint64_t i = 0; i < n; i++) {
        if (!pm_cursor_uleb(at, &gap) || gap == 0 || gap > UINT32_MAX - sentence)
            return damaged(err, "a sentence's row cannot be");
        row->sentences[i] = (uint32_t)(sentence += gap);
    }
    *ret_n = (uint32_t)n;
    return PM_OK;
}

static enum pm_status read_step(struct pm_trace_steps_row *row, struct pm_cursor *at,
                                uint32_t n_sentences, uint64_t number, struct pm_error *err)
{
    uint64_t n, gap, ticks, position = 0;
    if (!take_n(at, &n) || n == 0)
        return damaged(err, "a step cannot be");
    if (!pm_trace_shares_add_step(&row->shares, number))
        return no_memory(err);
    for (uint64_t i = 0; i < n; i++) {
        if (!pm_cursor_uleb(at, &gap) || !pm_cursor_uleb(at, &ticks) || ticks == 0 ||
            (i && gap == 0) || gap >= n_sentences || (position += gap) >= n_sentences)
            return damaged(err, "a share cannot be");
        if (!pm_trace_shares_add(&row->shares, row->sentences[position], ticks))
            return no_memory(err);
    }
    return PM_OK;
}

static enum pm_status read_steps(struct pm_trace_steps_row *row, struct pm_cursor *at,
                                 uint32_t n_sentences, uint64_t n, struct pm_error *err)
{
    uint64_t gap, number = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!pm_cursor_uleb(at, &gap) || (i && gap == 0) || gap > UINT64_MAX - number)
            return damaged(err, "a step's number cannot be");
        number += gap;
        enum pm_status status = read_step(row, at, n_sentences, number, err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}

static enum pm_status read_piece(struct pm_trace_steps_row *row, struct pm_cursor *at,
                                 uint32_t n_sentences, uint64_t *clock, struct pm_error *err)
{
    uint64_t level, gap, length, n_events, n_steps;
    if (!pm_cursor_uleb(at, &level) || !pm_cursor_uleb(at, &gap) || !pm_cursor_uleb(at, &length) ||
        !pm_cursor_uleb(at, &n_events) || !take_n(at, &n_steps) || level > PM_TRACE_MAX_LEVEL ||
        gap > UINT64_MAX - *clock || length > UINT64_MAX - *clock - gap)
        return damaged(err, "a piece cannot be");
    struct pm_trace_piece *pieces =
        pm_grow_array(row->pieces, row->n_pieces, &row->pieces_cap, 16, sizeof *pieces);
    if (!pieces)
        return no_memory(err);
    row->pieces = pieces;
    pieces[row->n_pieces++] = (struct pm_trace_piece){.level = (unsigned)level,
                                                      .begin_ticks = *clock + gap,
                                                      .end_ticks = *clock + gap + length,
                                                      .n_events = n_events,
                                                      .first_step = row->shares.n_steps,
                                                      .n_steps = (uint32_t)n_steps};
    *clock += gap + length;
    return read_steps(row, at, n_sentences, n_steps, err);
}

enum pm_status pm_trace_steps_read(struct pm_trace_steps_row *row, const void *data, size_t len,
                                   struct pm_error *err)
{
    struct pm_cursor at;
    size_t n = 0;
    uint32_t n_sentences = 0;
    uint64_t n_pieces, clock = 0;
    row->n_pieces = 0;
    pm_trace_shares_clear(&row->shares);
    enum pm_status status = unpack(row, data, len, err, &n);
    if (status != PM_OK)
        return status;
    pm_cursor_init(&at, row->bytes, n);
    status = read_sentences(row, &at, err, &n_sentences);
    if (status != PM_OK)
        return status;
    if (!take_n(&at, &n_pieces))
        return damaged(err, "more pieces than fit");
    for (uint64_t i = 0; i < n_pieces; i++) {
        status = read_piece(row, &at, n_sentences, &clock, err);
        if (status != PM_OK)
            return status;
    }
    return PM_OK;
}
