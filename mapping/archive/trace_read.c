/* The head of a block of events: what is known before the first one (trace_block.h). */
#include "trace_block_internal.h"

enum pm_status trace_damaged(struct pm_error *err, const char *what)
{
    return pm_error_set(err, PM_ERR_FORMAT, "block of a trace: %s", what);
}

static bool take(struct trace_cursor *cursor, uint64_t *ret_number)
{
    return trace_take_number(&cursor->tag, cursor->end, ret_number);
}

/* A number of things of a byte or more each, which follow. */
static bool take_count(struct trace_cursor *cursor, uint64_t *ret_n)
{
    return take(cursor, ret_n) && *ret_n <= (uint64_t)(cursor->end - cursor->tag);
}

enum pm_status trace_read_start(struct trace_cursor *cursor, const void *bytes, size_t len,
                                struct pm_error *err, uint64_t *ret_away, uint64_t *ret_left)
{
    *cursor = (struct trace_cursor){.tag = bytes, .end = (const unsigned char *)bytes + len};
    bool good = take(cursor, &cursor->clock) && take(cursor, ret_away) && take(cursor, ret_left);
    return good ? PM_OK : trace_damaged(err, "it is cut");
}

enum pm_status trace_read_n_sentences(struct trace_cursor *cursor, struct pm_error *err)
{
    uint64_t n;
    if (!take_count(cursor, &n))
        return trace_damaged(err, "more sentences than fit");
    cursor->n_sentences = n;
    return PM_OK;
}

enum pm_status trace_read_sentence(struct trace_cursor *cursor, struct pm_error *err,
                                   uint32_t *ret_row)
{
    uint64_t row;
    if (!take(cursor, &row) || row == 0 || row > UINT32_MAX)
        return trace_damaged(err, "a sentence's row cannot be");
    *ret_row = (uint32_t)row;
    return PM_OK;
}

enum pm_status trace_read_n_frames(struct trace_cursor *cursor, struct pm_error *err,
                                   uint64_t *ret_n)
{
    return take_count(cursor, ret_n) ? PM_OK : trace_damaged(err, "more open frames than fit");
}

enum pm_status trace_read_frame(struct trace_cursor *cursor, struct pm_error *err,
                                struct trace_open *ret_frame)
{
    uint64_t word, ticks, away;
    if (!take(cursor, &word) || !take(cursor, &ticks) || !take(cursor, &away) ||
        word >> 2 >= cursor->n_sentences)
        return trace_damaged(err, "an open frame cannot be");
    *ret_frame = (struct trace_open){.number = word >> 2,
                                     .stack = word >> 1 & 1 ? TRACE_FOREIGN : TRACE_OWN,
                                     .flags = word & 3,
                                     .ticks = ticks,
                                     .away = away};
    return PM_OK;
}

enum pm_status trace_read_n_tags(struct trace_cursor *cursor, struct pm_error *err)
{
    uint64_t n;
    if (!take_count(cursor, &n))
        return trace_damaged(err, "more tags than fit");
    cursor->tags_end = cursor->time = cursor->tag + n;
    return PM_OK;
}
